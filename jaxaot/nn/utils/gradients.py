"""Bounds on gradients (`torch.nn.utils.clip_grad_norm_` and its kin)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, SupportsFloat

from jaxaot.errors import AutogradError, TensorTypeError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.kernels.together import compute_together, write_together
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.on_tensors import parameters_of

_TOP: Mapping[str, Callable[..., Any]] = FUNCTIONS[""]
_norm: Callable[..., Tensor] = FUNCTIONS["linalg"]["vector_norm"]

Parameters = Tensor | Iterable[Tensor]


def _gradients(parameters: Parameters) -> list[Tensor]:
    return [p.grad for p in _listed(parameters) if p.grad is not None]


def _listed(parameters: Parameters) -> list[Tensor]:
    if isinstance(parameters, Tensor):
        return [parameters]
    of_module = parameters_of(parameters)  # of flax
    if of_module is None and not isinstance(parameters, Iterable):
        raise TensorTypeError(
            f"parameters of which gradients are clipped were wanted, and a {type(parameters).__name__} was given. Pass "
            "`model.parameters()`."
        )
    return list(parameters) if of_module is None else of_module


def _require_number(name: str, value: object) -> None:
    """Raises unless a bound is a number or a tensor of one."""
    # code that calls `hasattr` may read any name of any object, so a function that does is compiled with more guards
    if not isinstance(value, SupportsFloat):
        raise TensorTypeError(f"`{name}` is a number, and {value!r} was given. Write for instance `{name}=1.0`.")


def get_total_norm(
    tensors: Parameters, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """Returns the norm of all tensors as one vector.

    Args:
      tensors: The tensors.
      norm_type: Of which p-norm; `inf` for the largest absolute value.
      error_if_nonfinite: Whether a norm that is not finite is an error; reads its value.
      foreach: Taken for PyTorch's sake.

    Raises:
      AutogradError: If the norm is not finite, and that is an error.
    """
    with recording(False):
        found = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        if not found:
            return _TOP["zeros"](())
        total = compute_together(_norm_of_all, found, norm_type)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise AutogradError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


def _norm_of_all(tensors: Sequence[Tensor], norm_type: float) -> Tensor:
    return _norm(_TOP["stack"]([_norm(t, norm_type) for t in tensors]), norm_type)


def _scale(gradients: Sequence[Tensor], total_norm: Tensor, max_norm: float) -> None:
    factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factor)


def _clamp(gradients: Sequence[Tensor], bound: float) -> None:
    for gradient in gradients:
        gradient.clamp_(-bound, bound)


def clip_grads_with_norm_(
    parameters: Parameters, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales gradients in place so that a norm of `total_norm` becomes at most `max_norm`."""
    with recording(False):
        write_together(_scale, _gradients(parameters), total_norm, max_norm)


def clip_grad_norm_(
    parameters: Parameters,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales gradients in place so that their norm, as one vector, is at most `max_norm`.

    Args:
      parameters: What has the gradients.
      max_norm: The most that the norm may be.
      norm_type: Of which p-norm; `inf` for the largest absolute value.
      error_if_nonfinite: Whether a norm that is not finite is an error; reads its value.
      foreach: Taken for PyTorch's sake.

    Returns:
      The norm before.

    Raises:
      AutogradError: If the norm is not finite, and that is an error.
      TensorTypeError: If a bound is no number, or there are no parameters to look at.
    """
    _require_number("max_norm", max_norm)
    _require_number("norm_type", norm_type)
    found = _listed(parameters)
    total = get_total_norm(_gradients(found), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(found, max_norm, total)
    return total


def clip_grad_value_(parameters: Parameters, clip_value: float, foreach: bool | None = None) -> None:
    """Limits each element of the gradients to [-clip_value, clip_value], in place.

    Raises:
      TensorTypeError: If the bound is no number.
    """
    _require_number("clip_value", clip_value)
    with recording(False):
        write_together(_clamp, _gradients(parameters), clip_value)
