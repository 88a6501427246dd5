"""Gradients against finite differences: `gradcheck` and `gradgradcheck`.

Both see a function as one of real numbers: a complex element is two. Its Jacobian by differences is compared with that
of the tape, whose rows are the gradients for each real direction of the outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot.errors import GradientMismatchError, UsageError
from jaxaot.facade.create import from_numpy
from jaxaot.facade.grad import grad
from jaxaot.facade.tensor import Tensor
from jaxaot.ops.promotion import is_inexact
from jaxaot.tape.modes import enable_grad, no_grad

_STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))
"""Steps and weights of a difference whose error is of fourth order: steps may be large where numbers are short."""

_DEFAULTS = {8: (1e-3, 1e-6, 1e-5), 4: (3e-2, 2e-3, 2e-3), 2: (3e-1, 1e-1, 1e-1)}
"""By the bytes of a real number: step, absolute and relative tolerance."""


def gradcheck(
    fn: Callable[..., Any],
    inputs: Any,
    *,
    eps: float | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    fast_mode: bool = False,
) -> bool:
    """Returns whether the gradients of a function agree with finite differences (`torch.autograd.gradcheck`).

    Args:
      fn: Takes tensors to a tensor or several.
      inputs: A tensor or several; those that require grad are varied, in place, and put back.
      eps: The step; by default as the dtype allows, in float32 about 0.03.
      atol: How far values may be apart; by default as the dtype allows.
      rtol: The same, in proportion.
      raise_exception: Whether to raise rather than return False.
      nondet_tol: How far two backwards of the same call may be apart.
      fast_mode: Whether to compare in one random direction rather than in all.

    Raises:
      GradientMismatchError: If they do not agree, unless `raise_exception` is false.
      UsageError: If no input requires grad.
    """
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    varied = [x for x in given if isinstance(x, Tensor) and x.requires_grad]
    if not varied:
        raise UsageError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True. Make one with `ja.tensor(…, requires_grad=True)`, best of float64 under "
            '`jax.config.update("jax_enable_x64", True)`.'
        )
    width = min(x.dtype.itemsize // (2 if x.is_complex() else 1) for x in varied)
    step, absolute, relative = _DEFAULTS[max(width, 2)]
    step = step if eps is None else eps
    tolerances = (absolute if atol is None else atol, relative if rtol is None else rtol)
    with enable_grad():
        problem = _compare(lambda: _outputs(fn, given), varied, step, tolerances, nondet_tol, fast_mode)
    if problem and raise_exception:
        raise GradientMismatchError(problem)
    return not problem


def gradgradcheck(
    fn: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, raise_exception: bool = True, **options: Any
) -> bool:
    """Returns whether second derivatives agree with differences of first ones (`torch.autograd.gradgradcheck`).

    Args:
      fn: As for `gradcheck`.
      inputs: As for `gradcheck`.
      grad_outputs: Cotangents of the outputs; by default random ones.
      raise_exception: As for `gradcheck`.
      **options: The others of `gradcheck`.

    Raises:
      GradientMismatchError: If they do not agree, unless `raise_exception` is false.
    """
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    with enable_grad():
        outputs = _outputs(fn, given)
    if grad_outputs is None:
        random = np.random.default_rng(0)
        cotangents = [_tensor(_draw(random, out), out) for out in outputs]
    else:
        cotangents = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    for cotangent in cotangents:
        cotangent.requires_grad_()
    n = len(given)

    def first(*args: Any) -> Any:
        varied = [x for x in args[:n] if isinstance(x, Tensor) and x.requires_grad]
        found = grad(_outputs(fn, args[:n]), varied, list(args[n:]), create_graph=True, allow_unused=True)
        return [g for g in found if g is not None]

    return gradcheck(first, (*given, *cotangents), raise_exception=raise_exception, **options)


def _outputs(fn: Callable[..., Any], inputs: Sequence[Any]) -> list[Tensor]:
    """Returns the results that gradients flow to."""
    found = [x for x in jax.tree.leaves(fn(*inputs)) if isinstance(x, Tensor)]
    return [x for x in found if x.requires_grad and is_inexact(x.dtype)]


def _compare(
    run: Callable[[], list[Tensor]],
    varied: Sequence[Tensor],
    step: float,
    tolerances: tuple[float, float],
    nondet_tol: float,
    fast: bool,
) -> str:
    """Returns what does not agree, or an empty string."""
    random = np.random.default_rng(0)
    directions = [_draws(random, x) if fast else _units(x) for x in varied]
    differences = [[_difference(run, x, d, step) for d in of_x] for x, of_x in zip(varied, directions, strict=True)]
    for position, out in enumerate(run()):
        for row, cotangent in enumerate(_draws(random, out) if fast else _units(out)):
            first, second = (_gradients(run()[position], varied, cotangent) for _ in range(2))
            for number, (gradient, again) in enumerate(zip(first, second, strict=True)):
                if np.abs(gradient - again).max(initial=0) > nondet_tol:
                    return (
                        f"Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                        f"times gives different values: output {position}, input {number}. Draw the same random "
                        "numbers at each call, or pass `nondet_tol`."
                    )
                for column, direction in enumerate(directions[number]):
                    ours = float(np.vdot(gradient, direction).real)
                    theirs = float(np.vdot(cotangent, differences[number][column][position]).real)
                    if not np.isclose(ours, theirs, tolerances[1], tolerances[0], equal_nan=True):
                        where = "in a random direction" if fast else f"of element {row} by element {column}"
                        return (
                            f"Jacobian mismatch for output {position} with respect to input {number}, {where}: the "
                            f"backward says {ours:.6g}, finite differences say {theirs:.6g} (step {step:g}, "
                            f"tolerances {tolerances[0]:g} and {tolerances[1]:g} times the value). If the function is "
                            "smooth there, its backward is wrong."
                        )
    return ""


def _gradients(output: Tensor, varied: Sequence[Tensor], cotangent: np.ndarray) -> list[np.ndarray]:
    found = grad(output, list(varied), _tensor(cotangent, output), allow_unused=True)
    pairs = zip(found, varied, strict=True)
    return [np.zeros(x.shape) if g is None else _wide(g.detach().numpy()) for g, x in pairs]


def _difference(run: Callable[[], list[Tensor]], x: Tensor, direction: np.ndarray, step: float) -> list[np.ndarray]:
    """Returns the derivative of all outputs in a direction of one input."""
    start = x.detach().clone()
    total: list[Any] = []
    try:
        for n, weight in _STENCIL:
            with no_grad():
                x.copy_(_tensor(_wide(start.numpy()) + n * step * direction, x))
            values = [weight / step * _wide(out.detach().numpy()) for out in run()]
            total = values if not total else [a + b for a, b in zip(total, values, strict=True)]
    finally:
        with no_grad():
            x.copy_(start)
    return total


def _wide(values: np.ndarray) -> np.ndarray:
    return values.astype(np.complex128 if np.iscomplexobj(values) else np.float64)


def _tensor(values: np.ndarray, like: Tensor) -> Tensor:
    return from_numpy(np.asarray(values, like.dtype))


def _draw(random: np.random.Generator, x: Tensor) -> np.ndarray:
    values = random.normal(size=tuple(x.shape))
    return values + 1j * random.normal(size=tuple(x.shape)) if x.is_complex() else values


def _draws(random: np.random.Generator, x: Tensor) -> list[np.ndarray]:
    values = _draw(random, x)
    return [values / max(float(np.linalg.norm(values)), 1e-12)]


def _units(x: Tensor) -> list[np.ndarray]:
    """Returns a direction for each real number in a tensor."""
    units = [unit.reshape(tuple(x.shape)) for unit in np.eye(x.numel())]
    return [*units, *(1j * unit for unit in units)] if x.is_complex() else units
