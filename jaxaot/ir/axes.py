"""Along which axes an equation can be computed in parts.

A *split* of an equation says: if these operands are cut along these axes into parts of one size, and the others are
whole, then the results of the parts, side by side along an axis, are the result; or added up, where the axis is summed
over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from jax import lax

from jaxaot._typing import Eqn, Primitive
from jaxaot.ir.primitives import KINDS, Kind, is_pure
from jaxaot.ir.walk import is_rewritable


class AxisSplit(NamedTuple):
    """One split: how to compute an equation in parts.

    Attributes:
      operands: For each operand the axis along which it is cut, or None if each part takes the whole.
      result: The axis along which the results lie side by side, or None if they are combined.
      combine: The primitive that combines two results.
    """

    operands: tuple[int | None, ...]
    result: int | None
    combine: Any = None


def splits(eqn: Eqn) -> list[AxisSplit]:
    """Returns the splits of an equation; none if it is not known what it does to axes."""
    if len(eqn.outvars) != 1 or not is_pure(eqn) or not is_rewritable(eqn):
        return []
    rule = _RULES.get(eqn.primitive.name)
    if rule is not None:
        return list(rule(eqn))
    return list(_of_elements(eqn)) if eqn.primitive.name in ELEMENTWISE else []


def splits_together(eqn: Eqn) -> list[AxisSplit]:
    """Returns the splits of an equation of one result, or of several that are all cut along the axis `result`."""
    rule = _RULES_OF_SEVERAL.get(eqn.primitive.name)
    if rule is None:
        return splits(eqn)
    return list(rule(eqn)) if is_pure(eqn) and is_rewritable(eqn) else []


def params_of_part(eqn: Eqn, sizes: Mapping[int, int]) -> dict[str, Any]:
    """Returns the parameters of an equation that computes a part.

    Args:
      eqn: The equation.
      sizes: The axes along which the result of the part has another size, and that size.
    """
    if eqn.primitive is lax.gather_p:
        taken = {operand: sizes[result] for operand, result in _taken(eqn).items() if result in sizes}
        sizes_taken = tuple(taken.get(axis, size) for axis, size in enumerate(eqn.params["slice_sizes"]))
        return {**eqn.params, "slice_sizes": sizes_taken}
    name = _SIZES.get(eqn.primitive.name)
    if name is None:
        return eqn.params
    return {**eqn.params, name: tuple(sizes.get(axis, size) for axis, size in enumerate(eqn.params[name]))}


_SIZES = {
    "broadcast_in_dim": "shape",
    "iota": "shape",
    "reshape": "new_sizes",
    "slice": "limit_indices",
    "dynamic_slice": "slice_sizes",
}
"""The parameters that say how large a result is."""

_NOT_ELEMENTWISE = {"concatenate", "stack", "pad", "tile", "iota", "empty", "empty2", "axis_index"}
ELEMENTWISE = {
    name
    for name, kind in KINDS.items()
    if kind in (Kind.CAST, Kind.POINTWISE, Kind.TRANSCENDENTAL) and name not in _NOT_ELEMENTWISE
} | {"copy", "copy_p", "real", "imag", "stop_gradient", "name"}
"""Primitives that compute each element of a result from one element of each operand."""


def _of_elements(eqn: Eqn) -> Iterator[AxisSplit]:
    """Yields all axes; an operand with one element along an axis, or without axes, is taken whole by each part."""
    shape = eqn.outvars[0].aval.shape
    shapes = [atom.aval.shape for atom in eqn.invars]
    if all(len(s) in (len(shape), 0) for s in shapes):
        for axis, size in enumerate(shape):
            yield AxisSplit(tuple(axis if s and s[axis] == size else None for s in shapes), axis)


def _of_bits(eqn: Eqn) -> Iterator[AxisSplit]:
    """Yields all axes where an element becomes one, which takes the other's bits."""
    shapes = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    yield from _of_elements(eqn) if shapes[0] == shapes[1] else ()


def _of_transpose(eqn: Eqn) -> Iterator[AxisSplit]:
    for result, operand in enumerate(eqn.params["permutation"]):
        yield AxisSplit((operand,), result)


def _of_reshape(eqn: Eqn) -> Iterator[AxisSplit]:
    """Yields pairs of axes with as much before them, which then lie in the same order in memory."""
    before, after = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    if len(eqn.invars) > 1 or eqn.params["dimensions"] is not None or 0 in before:
        return
    for operand in range(len(before)):
        for result in range(len(after)):
            if math.prod(before[:operand]) == math.prod(after[:result]) and before[operand] > 1 < after[result]:
                yield AxisSplit((operand,), result)


def _of_broadcast(eqn: Eqn) -> Iterator[AxisSplit]:
    if len(eqn.invars) > 1:
        return
    sizes, dims = eqn.invars[0].aval.shape, eqn.params["broadcast_dimensions"]
    for result, size in enumerate(eqn.params["shape"]):
        operand = dims.index(result) if result in dims else None
        yield AxisSplit((None if operand is None or sizes[operand] != size else operand,), result)


def _of_slice(eqn: Eqn) -> Iterator[AxisSplit]:
    shape = eqn.invars[0].aval.shape
    strides = eqn.params["strides"] or (1,) * len(shape)
    bounds = zip(eqn.params["start_indices"], eqn.params["limit_indices"], strides, shape, strict=True)
    for axis, (start, limit, stride, size) in enumerate(bounds):
        if (start, limit, stride) == (0, size, 1):
            yield AxisSplit((axis,), axis)


def _beside(param: str, also_operands: bool = False, is_removed: bool = False) -> Callable[[Any], Iterator[AxisSplit]]:
    """Returns the rule of what is done along one axis, or some, that a parameter names: all others are splits.

    Args:
      also_operands: Whether all operands are cut; else the first one alone, there being no others.
      is_removed: Whether results do not have the axis.
    """

    def rule(eqn: Eqn) -> Iterator[AxisSplit]:
        ndim = eqn.invars[0].aval.ndim
        said = eqn.params.get(param, ndim - 1)
        named = tuple(axis % ndim for axis in (said if isinstance(said, tuple) else (said,)))
        for axis in range(ndim):
            if axis not in named:
                result = axis - sum(other < axis for other in named) if is_removed else axis
                yield AxisSplit((axis,) * (len(eqn.invars) if also_operands else 1), result)

    return rule


def _of_stack(eqn: Eqn) -> Iterator[AxisSplit]:
    added = eqn.params["axis"]
    for axis in range(eqn.invars[0].aval.ndim):
        yield AxisSplit((axis,) * len(eqn.invars), axis + (axis >= added))


def _of_pad(eqn: Eqn) -> Iterator[AxisSplit]:
    for axis, amounts in enumerate(eqn.params["padding_config"]):
        if tuple(amounts) == (0, 0, 0):
            yield AxisSplit((axis, None), axis)


def _of_reduction(combine: Primitive) -> Callable[[Any], Iterator[AxisSplit]]:
    def rule(eqn: Eqn) -> Iterator[AxisSplit]:
        axes = eqn.params["axes"]
        for operand in range(eqn.invars[0].aval.ndim):
            if operand in axes:
                yield AxisSplit((operand,), None, combine)
            else:
                yield AxisSplit((operand,), operand - sum(axis < operand for axis in axes))

    return rule


def _of_window(eqn: Eqn) -> Iterator[AxisSplit]:
    """Yields the axes along which windows have one element, of windows over one operand or two."""
    ndim = eqn.outvars[0].aval.ndim
    ones = (1,) * ndim
    steps = [eqn.params.get(name) or ones for name in ("window_strides", "base_dilation", "window_dilation")]
    for axis, (size, padding) in enumerate(zip(eqn.params["window_dimensions"], eqn.params["padding"], strict=True)):
        if size == 1 and tuple(padding) == (0, 0) and all(step[axis] == 1 for step in steps):
            yield AxisSplit((axis,) * len(eqn.invars), axis)


def _of_dot(eqn: Eqn) -> Iterator[AxisSplit]:
    (contract_left, contract_right), (batch_left, batch_right) = eqn.params["dimension_numbers"]
    left, right = (atom.aval.ndim for atom in eqn.invars)
    for result, axes in enumerate(zip(batch_left, batch_right, strict=True)):
        yield AxisSplit(axes, result)
    for axes in zip(contract_left, contract_right, strict=True):
        yield AxisSplit(axes, None, lax.add_p)
    result = len(batch_left)
    for axis in range(left):
        if axis not in (*contract_left, *batch_left):
            yield AxisSplit((axis, None), result)
            result += 1
    for axis in range(right):
        if axis not in (*contract_right, *batch_right):
            yield AxisSplit((None, axis), result)
            result += 1


def _of_iota(eqn: Eqn) -> Iterator[AxisSplit]:
    for axis in range(eqn.outvars[0].aval.ndim):
        if axis != eqn.params["dimension"] and len(eqn.invars) == 0:
            yield AxisSplit((), axis)


def _of_moving_slice(eqn: Eqn) -> Iterator[AxisSplit]:
    """Yields the axes along which a slice at a computed place is the whole: there is one place for it."""
    for axis, size in enumerate(eqn.invars[0].aval.shape):
        if size == eqn.outvars[0].aval.shape[axis]:
            yield AxisSplit((axis, *(None,) * (len(eqn.invars) - 1)), axis)


def _of_moving_update(eqn: Eqn) -> Iterator[AxisSplit]:
    """Yields the axes along which what is written at a computed place is as large as the whole."""
    for axis, size in enumerate(eqn.invars[0].aval.shape):
        if size == eqn.invars[1].aval.shape[axis]:
            yield AxisSplit((axis, axis, *(None,) * (len(eqn.invars) - 2)), axis)


def _of_gather(eqn: Eqn) -> Iterator[AxisSplit]:
    """Yields the axes of indices, each with that of the operand that goes along with it, if one does, and the axes
    along which each index takes all."""
    numbers, shape = eqn.params["dimension_numbers"], eqn.invars[0].aval.shape
    along = dict(zip(numbers.start_indices_batching_dims, numbers.operand_batching_dims, strict=True))
    others = [axis for axis in range(eqn.outvars[0].aval.ndim) if axis not in numbers.offset_dims]
    for axis, result in enumerate(others):
        yield AxisSplit((along.get(axis), axis), result)
    for operand, result in _taken(eqn).items():
        if eqn.params["slice_sizes"][operand] == shape[operand]:
            yield AxisSplit((operand, None), result)


def _taken(gather: Any) -> dict[int, int]:
    """Returns the axis of the result for each of the operand along which an index takes several elements."""
    numbers = gather.params["dimension_numbers"]
    single = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    taken = [axis for axis in range(gather.invars[0].aval.ndim) if axis not in single]
    return dict(zip(taken, sorted(numbers.offset_dims), strict=True))


def _of_scatter(eqn: Eqn) -> Iterator[AxisSplit]:
    """Yields the axes of indices that go along with one of the operand, and those along which each index writes all."""
    numbers, (shape, _, written) = eqn.params["dimension_numbers"], (atom.aval.shape for atom in eqn.invars)
    others = [axis for axis in range(len(written)) if axis not in numbers.update_window_dims]
    for operand, axis in zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
        yield AxisSplit((operand, axis, others[axis]), operand)
    single = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    several = [axis for axis in range(len(shape)) if axis not in single]
    for operand, axis in zip(several, sorted(numbers.update_window_dims), strict=True):
        if written[axis] == shape[operand]:
            yield AxisSplit((operand, None, axis), operand)


def _of_convolution(eqn: Eqn) -> Iterator[AxisSplit]:
    """Yields the batch, the features that a kernel makes, and those that it reads."""
    numbers = eqn.params["dimension_numbers"]
    is_one, is_one_batch = eqn.params["feature_group_count"] == 1, eqn.params["batch_group_count"] == 1
    if is_one_batch:
        yield AxisSplit((numbers.lhs_spec[0], None), numbers.out_spec[0])
    if is_one:
        yield AxisSplit((numbers.lhs_spec[1], numbers.rhs_spec[1]), None, lax.add_p)
    if is_one and is_one_batch:
        yield AxisSplit((None, numbers.rhs_spec[0]), numbers.out_spec[1])


_RULES: dict[str, Callable[[Any], Iterator[AxisSplit]]] = {
    "bitcast_convert_type": _of_bits,
    "transpose": _of_transpose,
    "reshape": _of_reshape,
    "broadcast_in_dim": _of_broadcast,
    "squeeze": _beside("dimensions", is_removed=True),
    "slice": _of_slice,
    "concatenate": _beside("dimension", also_operands=True),
    "stack": _of_stack,
    "pad": _of_pad,
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), _beside("axis")),
    "reduce_sum": _of_reduction(lax.add_p),
    "reduce_max": _of_reduction(lax.max_p),
    "reduce_min": _of_reduction(lax.min_p),
    "reduce_prod": _of_reduction(lax.mul_p),
    "reduce_and": _of_reduction(lax.and_p),
    "reduce_or": _of_reduction(lax.or_p),
    **dict.fromkeys(("reduce_window_sum", "reduce_window_max", "reduce_window_min"), _of_window),
    "select_and_scatter_add": _of_window,
    "dot_general": _of_dot,
    "iota": _of_iota,
    "rev": _beside("dimensions"),
    **dict.fromkeys(("argmax", "argmin"), _beside("axes", is_removed=True)),
    "dynamic_slice": _of_moving_slice,
    "dynamic_update_slice": _of_moving_update,
    "gather": _of_gather,
    **dict.fromkeys(("scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max"), _of_scatter),
    "conv_general_dilated": _of_convolution,
}


_RULES_OF_SEVERAL: dict[str, Callable[[Any], Iterator[AxisSplit]]] = {
    "split": _beside("axis"),
    "unstack": _beside("axis", is_removed=True),
    "sort": _beside("dimension", also_operands=True),
    "top_k": _beside("axis"),
}
