"""Avoiding faults of XLA on CPU: graphs that it compiles into programs that compute something else.

Each function here writes one kind of equation so that the fault cannot arise, at no cost. `docs/xla_faults.md` has a
reproduction of each fault, and says which versions have it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._typing import Array, ClosedJaxpr, Eqn
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import Makers, is_rewritable, variables

_WINDOWS = {"reduce_window_sum": 0, "reduce_window_max": -1, "reduce_window_min": 1}
"""What fills the holes of a dilated image: zeros, or what is not larger, or not smaller, than anything."""

_SHOWN = frozenset(["reshape", "squeeze", "expand_dims", "convert_element_type", "copy"])
"""What XLA moves a slice across, so that one behind it meets one before it."""

Rewrite = Callable[[Any], "Callable[..., list[Any]] | None"]
"""Takes an equation to the function that is computed in its place, of the same operands; None if it stays."""


def avoid_faults(closed: ClosedJaxpr) -> Any:
    """Returns the graph without what XLA on CPU is known to compile wrongly and what can be said otherwise for free."""
    nested, rewriter = _nested_slices(closed), Rewriter(closed)
    for i, eqn in enumerate(rewriter.equations()):
        rewrite = _slice_within if i in nested else _REWRITES.get(eqn.primitive.name)
        fn = rewrite(eqn) if rewrite is not None and is_rewritable(eqn) else None
        if fn is None:
            rewriter.keep(eqn)
        else:
            rewriter.replace(eqn.outvars[0], rewriter.call(fn, *eqn.invars))
    return rewriter.graph()


def _square(eqn: Eqn) -> Callable[..., Any] | None:
    """A square of integers, which may overflow, is taken for a number that is not negative: `abs(x * x)` is `x * x`."""
    is_square = len(variables(eqn.invars)) == 2 and eqn.invars[0] is eqn.invars[1]
    if not jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.signedinteger):
        return None
    if eqn.primitive.name == "mul" and not is_square:
        return None
    return (lambda x, *_: [lax.neg(lax.mul(x, lax.neg(x)))]) if eqn.params.get("y", 2) == 2 else None


def _nested_slices(closed: ClosedJaxpr) -> set[int]:
    """Returns the positions of slices at places known at run time that are sliced so again, and of the latter."""
    makers, found = Makers(closed.jaxpr), set[int]()
    for i, eqn in enumerate(closed.jaxpr.eqns):
        if eqn.primitive.name == "dynamic_slice":
            source = makers.behind(eqn.invars[0], _SHOWN)
            if makers.of(source, lax.dynamic_slice_p) is not None:
                found |= {makers.position[source], i}
    return found


def _slice_within(eqn: Eqn) -> Callable[..., Any]:
    """Of a slice of a slice the sum of the starts is clamped, instead of each, as is done here (openxla/xla#49121)."""
    sizes = eqn.params["slice_sizes"]

    def run(operand: Array, *starts: Any) -> list[Any]:
        most = [n - size for n, size in zip(operand.shape, sizes, strict=True)]
        within = [
            lax.clamp(np.zeros((), s.dtype), s, np.asarray(m, s.dtype)) for s, m in zip(starts, most, strict=True)
        ]
        return [lax.dynamic_slice_p.bind(operand, *within, slice_sizes=sizes)]

    return run


def _pad(eqn: Eqn) -> Callable[..., Any] | None:
    """Padding by less than nothing is added to that of a window that reads it (openxla/xla#48715)."""
    config = eqn.params["padding_config"]
    if not any(low < 0 or high < 0 for low, high, _ in config):
        return None
    grown = tuple((max(low, 0), max(high, 0), inner) for low, high, inner in config)

    def run(operand: Array, value: Any) -> list[Any]:
        full = lax.pad(operand, value, grown)
        starts = [max(-low, 0) for low, _, _ in config]
        limits = [n - max(-high, 0) for n, (_, high, _) in zip(full.shape, config, strict=True)]
        return [lax.slice(full, starts, limits)]

    return run


def _convolution(eqn: Eqn) -> Callable[..., Any] | None:
    """An image that a convolution crops at its low end and pads at the other is read beyond it (openxla/xla#48713)."""
    params = eqn.params
    padding, dilation = params["padding"], params["lhs_dilation"]
    crops = [low < 0 for low, _ in padding]
    if not any(crops) or any(crop and inner != 1 for crop, inner in zip(crops, dilation, strict=True)):
        return None
    axes = params["dimension_numbers"].lhs_spec[2:]

    def run(image: Array, kernel: Array) -> list[Any]:
        starts = [0] * image.ndim
        for axis, (low, _) in zip(axes, padding, strict=True):
            starts[axis] = min(max(-low, 0), image.shape[axis])
        cropped = lax.slice(image, starts, image.shape)
        rest = [(low + starts[axis], high) for axis, (low, high) in zip(axes, padding, strict=True)]
        return [eqn.primitive.bind(cropped, kernel, **{**params, "padding": tuple(rest)})]

    return run


def _window(eqn: Eqn) -> Callable[..., Any] | None:
    """Of an axis without windows the dilation of the image is forgotten (openxla/xla#48714): the result is dilated."""
    params = eqn.params
    per_axis = zip(params["base_dilation"], params["window_dimensions"], params["window_strides"], strict=True)
    is_late = [dilation > 1 and size == stride == 1 for dilation, size, stride in per_axis]
    if not any(is_late):
        return None
    dtype, side = eqn.outvars[0].aval.dtype, _WINDOWS[eqn.primitive.name]
    fill = _extreme(dtype, side) if side else np.zeros((), dtype)
    now, later = dict(params), [(0, 0, 0)] * len(is_late)
    now["base_dilation"] = tuple(1 if late else d for late, d in zip(is_late, params["base_dilation"], strict=True))
    now["padding"] = tuple((0, 0) if late else p for late, p in zip(is_late, params["padding"], strict=True))
    for axis, late in enumerate(is_late):
        if late:
            later[axis] = (*params["padding"][axis], params["base_dilation"][axis] - 1)
    return lambda image: [lax.pad(eqn.primitive.bind(image, **now), fill, later)]


def _extreme(dtype: Any, side: int) -> Any:
    if jnp.issubdtype(dtype, jnp.floating):
        return np.asarray(side * np.inf, dtype)
    limits = jnp.iinfo(dtype)
    return np.asarray(limits.max if side > 0 else limits.min, dtype)


def _scatter(eqn: Eqn) -> Callable[..., Any] | None:
    """Of updates at a place that no index says only the last arrives (openxla/xla#48716)."""
    numbers = eqn.params["dimension_numbers"]
    operand, indices = (atom.aval for atom in eqn.invars[:2])
    if numbers.scatter_dims_to_operand_dims or not operand.shape:
        return None
    said = numbers._replace(scatter_dims_to_operand_dims=(0,))
    shape = (*indices.shape[:-1], 1)

    def run(operand: Array, indices: Array, updates: Array) -> list[Any]:
        places = jnp.zeros(shape, indices.dtype)
        return [eqn.primitive.bind(operand, places, updates, **{**eqn.params, "dimension_numbers": said})]

    return run


_REWRITES: dict[str, Rewrite] = {
    "mul": _square,
    "square": _square,
    "integer_pow": _square,
    "pad": _pad,
    "conv_general_dilated": _convolution,
    **dict.fromkeys(_WINDOWS, _window),
    **dict.fromkeys(("scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max", "scatter-sub"), _scatter),
    **dict.fromkeys(("scatter_add", "scatter_mul", "scatter_min", "scatter_max", "scatter_sub"), _scatter),
}
