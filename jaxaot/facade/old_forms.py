"""PyTorch's old spellings that programs still use: `ja.Tensor(2, 3)`, `x.new(…)`, `ja.batch_norm`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxaot._typing import DTypeLike
from jaxaot.errors import TensorTypeError
from jaxaot.facade.create import as_dtype, tensor
from jaxaot.facade.dispatch import call
from jaxaot.facade.tensor import Size, Tensor
from jaxaot.facade.views import alias
from jaxaot.ops.promotion import default_float
from jaxaot.ops.table import lookup


def construct(args: tuple[Any, ...], dtype: DTypeLike | None = None) -> Tensor:
    """Returns what PyTorch's old constructors make: of numbers a tensor of that shape, of a sequence one of its values.

    Args:
      args: What the constructor is given.
      dtype: The dtype; by default that of floats, whatever the values are.

    Raises:
      TensorTypeError: If it is neither.
    """
    wanted = default_float() if dtype is None else as_dtype(dtype)
    if not args:
        return tensor([], dtype=wanted)
    first = args[0]
    if len(args) == 1 and not isinstance(first, Size):
        if isinstance(first, Tensor):
            if first.dtype != wanted:
                raise TensorTypeError(
                    f"expected a tensor of {wanted} and got one of {first.dtype}. Write `x.to(dtype)`, or "
                    "`x.detach().clone()` for a copy."
                )
            return alias(first.detach())
        if isinstance(first, (list, tuple, range, np.ndarray, jax.Array)) and np.ndim(first) != 0:
            return tensor(list(first) if isinstance(first, range) else first, dtype=wanted)
    sizes = tuple(first) if isinstance(first, Size) else args
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in sizes):
        raise TensorTypeError(
            f"`ja.Tensor(…)` takes sizes or a sequence, not {type(sizes[0]).__name__}; write `ja.tensor(value)` for a "
            "tensor of a number."
        )
    return call(lookup("empty"), (), (tuple(int(n) for n in sizes), wanted))


def made_alike(self: Tensor, *args: Any) -> Tensor:
    """Returns a tensor of this dtype: of sizes, `x.new(2, 3)`, or with the values of a sequence, `x.new([1, 2])`."""
    return construct(args, self.dtype)


def batch_norm_of(functional: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `torch.batch_norm`, which takes the arguments of that of `nn.functional` in another order."""

    def batch_norm(
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        training: bool,
        momentum: float,
        eps: float,
        cudnn_enabled: bool = False,
    ) -> Tensor:
        """Normalizes each channel over the batch, and updates the running statistics; see `nn.functional`."""
        del cudnn_enabled
        return functional(input, running_mean, running_var, weight, bias, training, momentum, eps)

    return batch_norm


def instance_norm_of(functional: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `torch.instance_norm`, which takes the arguments of that of `nn.functional` in another order."""

    def instance_norm(
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        use_input_stats: bool,
        momentum: float,
        eps: float,
        cudnn_enabled: bool = False,
    ) -> Tensor:
        """Normalizes each channel of each sample, and updates the running statistics; see `nn.functional`."""
        del cudnn_enabled
        return functional(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)

    return instance_norm
