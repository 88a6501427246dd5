"""Ops that join tensors, repeat, flip or pad them, or cut out triangles."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._typing import Array, Shape
from jaxaot.errors import (
    ArgumentError,
    DimError,
    DtypeError,
    ShapeMismatchError,
    TensorError,
    TensorTypeError,
    TensorValueError,
)
from jaxaot.ops.dims import normalize_dim, normalize_dims
from jaxaot.ops.promotion import default_float, is_integral, result_dtype
from jaxaot.ops.table import FUNCTIONAL, register_op
from jaxaot.views.layout import Layout, channels_last, contiguous, layout_of, view_stride


def _common(tensors: Sequence[Array], name: str) -> list[Array]:
    if not tensors:
        raise TensorValueError(f"{name} expects a non-empty TensorList")
    for i, tensor in enumerate(tensors):
        if tensor is None:
            raise TensorTypeError(f"{name}(): expected Tensor as element {i} in argument 0, but got NoneType")
    dtype = result_dtype(*tensors)
    return [jnp.asarray(tensor).astype(dtype) for tensor in tensors]


def _joined(operands: Sequence[Layout], size: Shape, dtype: np.dtype, static: tuple[Any, ...]) -> Layout:
    """Channels innermost if all operands suggest it: ATen's `cat_compute_output_memory_format`."""
    if len(size) in (4, 5) and all(o.suggests_channels_last and len(o.size) == len(size) for o in operands):
        return channels_last(size, dtype)
    return contiguous(size, dtype)


def _stacked(operands: Sequence[Layout], size: Shape, dtype: np.dtype, static: tuple[Any, ...]) -> Layout:
    """That of `cat`, whose result shows the new dim as a view: ATen's `stack`."""
    dim = normalize_dim(static[0], len(size))
    first = operands[0]
    if dim < len(first.size):
        joined = (*first.size[:dim], first.size[dim] * len(operands), *first.size[dim + 1 :])
        stride = view_stride(joined, _joined(operands, joined, dtype, static).stride, size)
        return contiguous(size, dtype) if stride is None else layout_of(size, stride, dtype)
    widened = [layout_of((*o.size, 1), (*o.stride, 1), dtype) for o in operands]
    return _joined(widened, size, dtype, static)


@register_op(
    "cat(Tensor[] tensors, int dim=0) -> Tensor", method=False, layout=_joined, aliases=("concat", "concatenate")
)
def cat(tensors, dim):
    tensors = _common(tensors, "cat")
    for i, tensor in enumerate(tensors):
        if tensor.ndim == 0:
            raise TensorError(
                f"zero-dimensional tensor (at position {i}) cannot be concatenated, nor can a number; write `ja.stack`"
            )
    kept = [tensor for tensor in tensors if tensor.shape != (0,)] or tensors[:1]  # an old habit of PyTorch's
    axis = normalize_dim(dim, kept[0].ndim)
    for i, tensor in enumerate(kept):
        if tensor.ndim != kept[0].ndim:
            raise ShapeMismatchError(
                f"Tensors must have same number of dimensions: got {kept[0].ndim} and {tensor.ndim}"
            )
        for other in range(tensor.ndim):
            if other != axis and tensor.shape[other] != kept[0].shape[other]:
                raise ShapeMismatchError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size {kept[0].shape[other]} "
                    f"but got size {tensor.shape[other]} for tensor number {i} in the list.{_other_dim(kept)}"
                )
    return jnp.concatenate(kept, axis)


def _other_dim(tensors):
    """Returns the sentence for tensors that can be joined, though not along the dim that was said."""
    shapes = [tensor.shape for tensor in tensors]
    for dim in range(len(shapes[0])):
        if len({shape[:dim] + shape[dim + 1 :] for shape in shapes}) == 1:
            return f" They fit along another one: `ja.cat(tensors, {dim})`."
    return " Pad the shorter ones before, `ja.nn.functional.pad(x, (0, n))`."


@register_op("stack(Tensor[] tensors, int dim=0) -> Tensor", method=False, layout=_stacked)
def stack(tensors, dim):
    tensors = _common(tensors, "stack")
    for i, tensor in enumerate(tensors):
        if tensor.shape != tensors[0].shape:
            raise ShapeMismatchError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                f"{list(tensor.shape)} at entry {i}"
            )
    return jnp.stack(tensors, normalize_dim(dim, tensors[0].ndim + 1))


@register_op("hstack(Tensor[] tensors) -> Tensor", method=False, layout=_joined)
def hstack(tensors):
    tensors = [jnp.atleast_1d(tensor) for tensor in _common(tensors, "hstack")]
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


@register_op("vstack(Tensor[] tensors) -> Tensor", method=False, layout=_joined, aliases=("row_stack",))
def vstack(tensors):
    return cat([jnp.atleast_2d(tensor) for tensor in _common(tensors, "vstack")], 0)


@register_op("dstack(Tensor[] tensors) -> Tensor", method=False, layout=_joined)
def dstack(tensors):
    return cat([jnp.atleast_3d(tensor) for tensor in _common(tensors, "dstack")], 2)


@register_op("column_stack(Tensor[] tensors) -> Tensor", method=False)
def column_stack(tensors):
    tensors = _common(tensors, "column_stack")
    return hstack([tensor.reshape(-1, 1) if tensor.ndim <= 1 else tensor for tensor in tensors])


@register_op("block_diag(Tensor[] tensors) -> Tensor", method=False)
def block_diag(tensors):
    for i, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise ShapeMismatchError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {tensor.ndim} "
                "dimensions"
            )
    if not tensors:
        return jnp.zeros((1, 0), default_float())
    blocks = [jnp.atleast_2d(tensor) for tensor in _common(tensors, "block_diag")]
    rows, columns = sum(block.shape[0] for block in blocks), sum(block.shape[1] for block in blocks)
    result, row, column = jnp.zeros((rows, columns), blocks[0].dtype), 0, 0
    for block in blocks:
        result = lax.dynamic_update_slice(result, block, (row, column))
        row, column = row + block.shape[0], column + block.shape[1]
    return result


@register_op("cartesian_prod(Tensor[] tensors) -> Tensor", method=False)
def cartesian_prod(tensors):
    for tensor in tensors:
        if tensor.ndim != 1:
            raise ShapeMismatchError(f"Expect a 1D vector, but got shape {list(tensor.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return jnp.stack([grid.reshape(-1) for grid in jnp.meshgrid(*tensors, indexing="ij")], 1)


@register_op("combinations(Tensor input, int r=2, bool with_replacement=False) -> Tensor", method=False)
def combinations(input, r, with_replacement):
    if input.ndim != 1:
        raise ShapeMismatchError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise ArgumentError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return jnp.zeros((0,), input.dtype)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.asarray(list(choose(range(input.size), r)), np.int32).reshape(-1, r)
    return input[places]


# Repeating and reordering


@register_op("repeat(Tensor self, int[] repeats) -> Tensor")
def repeat(self, repeats):
    repeats = repeats if isinstance(repeats, (tuple, list)) else (repeats,)
    if len(repeats) < self.ndim:
        raise ShapeMismatchError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    _check_counts(repeats)
    return jnp.tile(self, tuple(repeats))


def _check_counts(counts: Sequence[int]) -> None:
    if any(n < 0 for n in counts):
        raise TensorError(f"Trying to create tensor with negative dimension {min(counts)}: {list(counts)}")


@register_op("tile(Tensor self, int[] dims) -> Tensor")
def tile(self, dims):
    dims = dims if isinstance(dims, tuple) else (dims,)
    _check_counts(dims)
    return jnp.tile(self, dims)


@register_op("repeat_interleave(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor")
def repeat_interleave(self, repeats, dim, output_size):
    if repeats < 0:
        raise TensorError("Repeats must be non-negative")
    value = self.reshape(-1) if dim is None else _shown_1d(self)
    axis = 0 if dim is None else normalize_dim(dim, self.ndim)
    n = value.shape[axis] * repeats
    if output_size not in (None, n):
        raise ShapeMismatchError(f"repeat_interleave: Invalid output_size, expected {n} but got {output_size}")
    return jnp.repeat(value, repeats, axis)


@register_op(
    "repeat_interleave_each(Tensor self, Tensor repeats, int? dim=None, *, int output_size) -> Tensor",
    overload_of="repeat_interleave",
)
def repeat_interleave_each(self, repeats, dim, output_size):
    """A count for each element, or one for all; the total is given, for it is a shape."""
    if not is_integral(repeats.dtype):
        raise DtypeError("repeats has to be Long or Int tensor")
    value = self.reshape(-1) if dim is None else _shown_1d(self)
    axis = 0 if dim is None else normalize_dim(dim, self.ndim)
    n = value.shape[axis]
    if repeats.ndim > 1:
        raise ShapeMismatchError("repeats must be 0-dim or 1-dim tensor")
    if repeats.size not in (1, n):
        raise ShapeMismatchError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats.size} and "
            f"input.size({axis}) = {n}"
        )
    return jnp.repeat(value, jnp.broadcast_to(repeats, (n,)), axis, total_repeat_length=output_size)


def _shown_1d(value: Array) -> Array:
    return value.reshape(1) if value.ndim == 0 else value


@register_op("roll(Tensor self, int[] shifts, int[] dims=()) -> Tensor")
def roll(self, shifts, dims):
    shifts = shifts if isinstance(shifts, tuple) else (shifts,)
    dims = dims if isinstance(dims, tuple) else (dims,)
    if not dims:
        if len(shifts) != 1:
            raise ArgumentError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:0")
        return jnp.roll(self.reshape(-1), shifts[0]).reshape(self.shape)
    if len(shifts) != len(dims):
        raise ArgumentError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not self.ndim:
        raise DimError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return jnp.roll(self, shifts, tuple(normalize_dim(dim, self.ndim) for dim in dims))


@register_op("flip(Tensor self, int[] dims) -> Tensor", layout="same")
def flip(self, dims):
    return jnp.flip(self, normalize_dims(dims, self.ndim)) if dims != () else self


def _register_flip(name: str, flip: Callable[..., Array], least: int) -> None:
    @register_op(f"{name}(Tensor self) -> Tensor")
    def row(self):
        if self.ndim < least:
            raise TensorError(f"Input must be >= {least}-d.")
        return flip(self)


_register_flip("fliplr", jnp.fliplr, 2)
_register_flip("flipud", jnp.flipud, 1)


@register_op("rot90(Tensor self, int k=1, int[] dims=(0, 1)) -> Tensor")
def rot90(self, k, dims):
    if len(dims) != 2:
        raise ArgumentError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise ShapeMismatchError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    first, second = (normalize_dim(dim, self.ndim) for dim in dims)
    if first == second:
        raise ArgumentError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return jnp.rot90(self, k, (first, second))


def _register_triangle(name: str, cut: Callable[..., Array]) -> None:
    @register_op(f"{name}(Tensor self, int diagonal=0) -> Tensor", inplace=True)
    def row(self, diagonal):
        if self.ndim < 2:
            raise TensorError(f"{name}: input tensor must have at least 2 dimensions")
        return cut(self, diagonal)


_register_triangle("tril", jnp.tril)
_register_triangle("triu", jnp.triu)


@register_op("diag(Tensor self, int diagonal=0) -> Tensor")
def diag(self, diagonal):
    if self.ndim not in (1, 2):
        raise TensorError(f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D")
    return jnp.diag(self, diagonal)


@register_op("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor")
def diag_embed(self, offset, dim1, dim2):
    axis1, axis2 = normalize_dim(dim1, self.ndim + 1), normalize_dim(dim2, self.ndim + 1)
    if axis1 == axis2:
        raise ArgumentError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if axis1 > axis2:
        axis1, axis2, offset = axis2, axis1, -offset
    size = self.shape[-1] + abs(offset)
    line = jnp.arange(self.shape[-1])
    rows, columns = line + max(-offset, 0), line + max(offset, 0)
    result = jnp.zeros((*self.shape[:-1], size, size), self.dtype).at[..., rows, columns].set(self)
    return jnp.moveaxis(result, (-2, -1), (axis1, axis2))


register_op("diagflat(Tensor self, int offset=0) -> Tensor")(lambda self, offset: jnp.diag(self.reshape(-1), offset))


@register_op("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", method=False)
def vander(x, N, increasing):
    if x.ndim != 1:
        raise ShapeMismatchError("x must be a one-dimensional tensor.")
    if N is not None and N < 0:
        raise ArgumentError("N must be non-negative.")
    return jnp.vander(x, N, increasing)


# Padding

PAD_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _padded(operands: Sequence[Layout], size: Shape, dtype: np.dtype, static: tuple[Any, ...]) -> Layout:
    """Channels innermost if those of the input are; circular padding copies into rows."""
    return contiguous(size, dtype) if static[1] == "circular" else _joined(operands[:1], size, dtype, static)


@register_op(
    "pad(Tensor input, int[] pad, str mode='constant', Scalar? value=None) -> Tensor",
    layout=_padded,
    fitting=["value"],
    **FUNCTIONAL,
)
def pad_(input, pad, mode, value):
    return pad_values(input, pad, mode, value)


def pad_values(value: Array, pad: Sequence[int], mode: str, fill: Any = None) -> Array:
    """Returns `value` padded; `pad` names amounts before and after from the last dim backwards, negative ones crop."""
    if len(pad) % 2:
        raise ArgumentError(f"Padding length must be divisible by 2, but got {len(pad)}")
    if len(pad) // 2 > value.ndim:
        raise ArgumentError(
            f"Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {value.ndim}"
        )
    widths = [(0, 0)] * value.ndim
    for i in range(len(pad) // 2):
        widths[value.ndim - 1 - i] = (pad[2 * i], pad[2 * i + 1])
    if mode == "constant":
        fill = jnp.asarray(0 if fill is None else fill).astype(value.dtype)
        return lax.pad(value, fill, [(before, after, 0) for before, after in widths])
    if mode not in PAD_MODES:
        raise ArgumentError(f"Unrecognised padding mode {mode!r}: it is one of constant, {', '.join(PAD_MODES)}")
    for axis, (before, after) in enumerate(widths):
        if mode == "reflect" and max(before, after) >= value.shape[axis] and (before or after):
            raise ShapeMismatchError(
                f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({before}, {after}) at dimension {axis} of input {list(value.shape)}"
            )
        if mode == "circular" and max(before, after) > value.shape[axis]:
            raise ShapeMismatchError("Padding value causes wrapping around more than once.")
    if mode == "circular":  # what is cropped on one side is not wrapped to the other
        for axis, (before, after) in enumerate(widths):
            value = lax.slice_in_dim(value, max(-before, 0), value.shape[axis] - max(-after, 0), axis=axis)
        widths = [(max(before, 0), max(after, 0)) for before, after in widths]
    grown = [(max(before, 0), max(after, 0)) for before, after in widths]
    padded = jnp.pad(value, grown, mode=PAD_MODES[mode])
    crops = [(min(before, 0), min(after, 0), 0) for before, after in widths]
    return lax.pad(padded, jnp.zeros((), value.dtype), crops) if any(a or b for a, b, _ in crops) else padded
