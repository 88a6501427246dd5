"""Pooling, and its gradients, with the windows written out: sums, largest and smallest elements of small windows.

XLA on CPU computes each element of such a result in a loop over its window, on its own. Written out, elements of
windows are slices of the image, over which a core computes several results at once: gradients of largest elements are
ten to twenty times faster, the rest two to six times.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot._jax import Literal
from jaxaot._typing import Array, ClosedJaxpr, DTypeLike, Eqn
from jaxaot.backend.cpu.analysis.convolution_windows import n_windows, pad, windows
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import Makers, is_rewritable
from jaxaot.passes.dce import dce


def unroll_windows(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with pooling, and the gradients of pooling, as operations on slices of the image.

        y: f32[8,30,30,16] = reduce_window_max[         →      a = slice x;  b = slice x;  …;  i = slice x
          window_dimensions=(1,3,3,1)] x                       c = max a b;  …;  y = max h i

    for x: f32[8,32,32,16], in short; what is read, and the result, stand behind barriers: computed again for each
    slice, equal elements might differ. The gradient of a largest element goes to the first of them, as before: which
    one that is in each window is computed, and then, for each element of the image, the sum over the windows that it is
    in. Half precision is added up in single precision.
    """
    makers, rewriter = Makers(closed.jaxpr), Rewriter(closed)
    for eqn in rewriter.equations():
        written = _written(eqn, makers) if is_rewritable(eqn) else None
        if written is None:
            rewriter.keep(eqn)
        else:
            fn, atoms = written
            rewriter.instead(eqn, _behind_barriers(fn), *atoms)
    return dce(rewriter.graph()) if rewriter.has_replaced else closed


_FOLDS: dict[str, Callable[..., Any]] = {
    "reduce_window_sum": lax.add,
    "reduce_window_max": lax.max,
    "reduce_window_min": lax.min,
}


def _behind_barriers(fn: Callable[..., Any]) -> Callable[..., Any]:
    def run(*operands: Array) -> Any:
        return lax.optimization_barrier(fn(*(lax.optimization_barrier(operand) for operand in operands)))

    return run


def _written(eqn: Eqn, makers: Makers) -> tuple[Callable[..., Any], list[Any]] | None:
    """Returns a function that computes what an equation does, and what it is called with; None if that is no gain."""
    name, params = eqn.primitive.name, eqn.params
    if name not in (*_FOLDS, "select_and_scatter_add") or 0 in eqn.outvars[0].aval.shape:
        return None
    if any(0 in atom.aval.shape or atom.aval.dtype.kind not in "iufV" for atom in eqn.invars):
        return None
    if not 1 < math.prod(params["window_dimensions"]) <= machine().max_taps:
        return None
    if any(low < 0 or high < 0 for low, high in params["padding"]):
        return None
    if name == "select_and_scatter_add":
        if params["select_prim"] not in (lax.ge_p, lax.le_p):
            return None
        return lambda source, image: _scattered(source, image, params), list(eqn.invars)
    if max(params["base_dilation"]) > 1:
        return None
    if name == "reduce_window_sum":
        holes = _with_holes(eqn, makers)
        if holes is not None:
            return holes
    return lambda image: _folded(_FOLDS[name], image, params), list(eqn.invars)


def _folded(fold: Callable[..., Any], image: Array, params: dict[str, Any]) -> Any:
    """Returns the windows of an image, each folded to one element."""
    dtype = image.dtype
    fill, wide = (0, _wide(dtype)) if fold is lax.add else (_worst(dtype, fold), dtype)
    dilations = {"lhs_dilation": params["base_dilation"], "rhs_dilation": params["window_dilation"]}
    sizes = n_windows(image.shape, params["window_dimensions"], {**params, **dilations})
    image = pad(image, [(*amounts, 0) for amounts in params["padding"]], fill)
    result: Any = None
    for _, window in windows(params["window_dimensions"], params["window_dilation"], sizes, params["window_strides"]):
        part = lax.slice(image, *zip(*window, strict=True)).astype(wide)
        result = part if result is None else fold(result, part)
    return result.astype(dtype)


def _with_holes(eqn: Eqn, makers: Makers) -> tuple[Callable[..., Any], list[Any]] | None:
    """Returns the same as `_written`, for windows of a dilated image: the gradient of a sum with strides."""
    padding = makers.of(eqn.invars[0], lax.pad_p)
    if padding is None:
        return None
    config, dimensions = padding.params["padding_config"], eqn.params["window_dimensions"]
    if max(inner for _, _, inner in config) < 1:
        return None
    fill, params = padding.invars[1], eqn.params
    if not isinstance(fill, Literal) or float(fill.val) != 0:
        return None
    if any(n != 1 for n in (*params["window_strides"], *params["window_dilation"])):
        return None
    strides = [inner + 1 for _, _, inner in config]
    starts = [
        size - 1 - low - before
        for size, (low, _, _), (before, _) in zip(dimensions, config, params["padding"], strict=True)
    ]
    if min(starts) < 0:
        return None
    shape, dtype = eqn.outvars[0].aval.shape, eqn.outvars[0].aval.dtype

    def sums(source: Array) -> Any:
        wide = source.astype(_wide(dtype))
        values = dict.fromkeys(itertools.product(*map(range, dimensions)), wide)
        return _spread(values, strides, starts, shape).astype(dtype)

    return sums, [padding.invars[0]]


def _scattered(source: Array, image: Array, params: dict[str, Any]) -> Any:
    """Returns an image of zeros to which elements are added where each window of another image is largest."""
    dimensions, strides, padding = (params[name] for name in ("window_dimensions", "window_strides", "padding"))
    is_better = params["select_prim"].bind
    worst = _worst(image.dtype, lax.max if params["select_prim"] is lax.ge_p else lax.min)
    around = pad(image, [(*amounts, 0) for amounts in padding], worst)
    best, place = None, lax.full(source.shape, 0, jnp.int32)
    for i, (_, window) in enumerate(windows(dimensions, [1] * image.ndim, source.shape, strides)):
        candidate = lax.slice(around, *zip(*window, strict=True))
        if best is None:
            best = candidate
            continue
        stays = is_better(best, candidate)
        best = lax.select_n(stays, candidate, best)
        place = lax.select_n(stays, lax.full_like(place, i), place)
    place = lax.optimization_barrier(place)
    wide = source.astype(_wide(source.dtype))
    places = itertools.product(*map(range, dimensions))
    values = {p: lax.select_n(place == i, lax.full_like(wide, 0), wide) for i, p in enumerate(places)}
    return _spread(values, strides, [low for low, _ in padding], image.shape).astype(source.dtype)


def _spread(
    values: Mapping[tuple[int, ...], Any], strides: Sequence[int], starts: Sequence[int], shape: Sequence[int]
) -> Any:
    """Returns an image to which windows are added.

    Args:
      values: For each place in a window, what all windows add there.
      strides: How far windows are apart.
      starts: Where in the sum of all windows the image starts.
      shape: The shape of the image; where no window is, it is zero.
    """
    counts = next(iter(values.values())).shape
    ends = [start + size for start, size in zip(starts, shape, strict=True)]
    furthest = [max(p) for p in zip(*values, strict=True)]
    cells = [
        -(-max(end, (n - 1) * step + far + 1) // step)
        for end, n, step, far in zip(ends, counts, strides, furthest, strict=True)
    ]
    is_one_value = all(value is next(iter(values.values())) for value in values.values())
    if is_one_value and len(values) == math.prod(strides) and all(map(operator.lt, furthest, strides)):
        whole = _repeated(next(iter(values.values())), cells, strides)
    else:
        whole = _woven(values, cells, strides, ())
    return whole if list(whole.shape) == list(shape) else lax.slice(whole, starts, ends)


def _repeated(value: Array, cells: Sequence[int], strides: Sequence[int]) -> Any:
    """Returns what `_woven` does for one value at each place of windows that lie side by side, in one kernel."""
    moved = pad(value, [(0, n - size, 0) for n, size in zip(cells, value.shape, strict=True)])
    apart = [n for pair in zip(cells, strides, strict=True) for n in pair]
    places = range(0, 2 * len(cells), 2)
    return lax.reshape(lax.broadcast_in_dim(moved, apart, places), [a * b for a, b in zip(cells, strides, strict=True)])


def _woven(values: Mapping[Any, Any], cells: Sequence[int], strides: Sequence[int], phase: tuple[int, ...]) -> Any:
    """Returns the sum of windows at the elements whose place in a cell, along the first axes, is `phase`."""
    axis = len(phase)
    if axis < len(strides):
        parts = [_woven(values, cells, strides, (*phase, i)) for i in range(strides[axis])]
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].shape)
        shape[axis] *= len(parts)
        apart = [lax.expand_dims(part, (axis + 1,)) for part in parts]
        return lax.reshape(lax.concatenate(apart, axis + 1), shape)
    total: Any = None
    for place, value in values.items():
        if all((p - own) % step == 0 for p, own, step in zip(place, phase, strides, strict=True)):
            skipped = [(p - own) // step for p, own, step in zip(place, phase, strides, strict=True)]
            config = [(skip, n - skip - size, 0) for skip, n, size in zip(skipped, cells, value.shape, strict=True)]
            moved = pad(value, config)
            total = moved if total is None else total + moved
    return jnp.zeros(cells, next(iter(values.values())).dtype) if total is None else total


def _wide(dtype: DTypeLike) -> Any:
    return jnp.promote_types(dtype, jnp.float32) if jnp.issubdtype(dtype, jnp.floating) else dtype


def _worst(dtype: DTypeLike, fold: Callable[..., Any]) -> Any:
    """Returns the identity of a maximum or minimum: the dtype's lowest or highest value."""
    if jnp.issubdtype(dtype, jnp.floating):
        return -jnp.inf if fold is lax.max else jnp.inf
    return jnp.iinfo(dtype).min if fold is lax.max else jnp.iinfo(dtype).max
