"""`x[index]` and `x[index] = value`: views where PyTorch makes views, copies by index tensors elsewhere."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_tracer
from jaxaot._typing import Shape
from jaxaot.errors import DimError, ShapeMismatchError, TensorTypeError
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.dispatch.create import check_number
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.dispatch.in_place import call_inplace
from jaxaot.facade.dispatch.signatures import with_parameters
from jaxaot.facade.indexing import selection
from jaxaot.facade.indexing.moving_index import moving_window
from jaxaot.facade.indexing.nonzero import true_places
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.facade.subclass.subclass import carry_out, is_wrapper, named_op
from jaxaot.facade.view_ops.views import alias, slice_step, view_through
from jaxaot.ops.promotion import canonical_dtype, is_bool, is_integral, overflows
from jaxaot.ops.table import lookup
from jaxaot.tape.modes import state
from jaxaot.views.chain import AbstractViewOp, Geometry, Select, Unsqueeze, ViewChain
from jaxaot.views.index_dtype import MAX_INT32
from jaxaot.views.layout import broadcast_size

MAX_TUPLE_LENGTH = 32
"""A list of fewer items can stand for a tuple, as in old NumPy."""


def _parts(index: object) -> list[Any]:
    """Returns the parts of an index: numbers, slices, None, Ellipsis, Python bools and index tensors."""
    if isinstance(index, tuple):
        parts = list(index)
    elif isinstance(index, list) and _stands_for_tuple(index):
        warn_user(
            "Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead of "
            "x[seq], or x[ja.tensor(seq)] for elements by their places."
        )
        parts = list(index)
    else:
        parts = [index]
    for position, part in enumerate(parts):
        if isinstance(part, (list, tuple, np.ndarray, jax.Array, range)):
            parts[position] = part = _index_tensor(part)
        if isinstance(part, Tensor) and part._layout.dtype == np.uint8:
            parts[position] = _mask_of_bytes(part)
    return parts


def _stands_for_tuple(index: list[Any]) -> bool:
    """Returns whether a list is an index for each dim: if an item is more than a number."""
    several = (slice, list, tuple, range, Tensor, np.ndarray, jax.Array)
    return len(index) < MAX_TUPLE_LENGTH and any(
        part is None or part is Ellipsis or isinstance(part, several) for part in index
    )


def _index_tensor(part: Any) -> Tensor:
    array: Any = part if is_tracer(part) else np.asarray(_plain(part))
    if array.size == 0 and not isinstance(part, (np.ndarray, jax.Array)):
        array = array.astype(np.int32)
    if not is_tracer(part):  # in a trace it stays a NumPy array, so that its values are known
        array = array.astype(canonical_dtype(array.dtype), copy=False)
    return wrap_array(array if state.trace is not None else jnp.asarray(array))


def _mask_of_bytes(part: Tensor) -> Tensor:
    """Returns a tensor of uint8 as the mask that it is as an index."""
    if part.ndim:
        warn_user(
            "indexing with dtype uint8 is now deprecated, please use a dtype bool instead: `x[mask.bool()]`. For "
            "places write `x[index.long()]`."
        )
    array = part._read()
    if is_tracer(array):
        return call(lookup("cast"), (part,), (np.dtype(bool),))
    return wrap_array(array.astype(bool))


def _plain(part: Any) -> Any:
    if isinstance(part, (list, tuple, range)):
        return [_plain(p) for p in part]
    return part.numpy() if isinstance(part, Tensor) else part


def _consumed(part: Any) -> int:
    """Returns how many dims a part of an index takes."""
    if part is None or part is Ellipsis or isinstance(part, (bool, np.bool_)):
        return 0
    if isinstance(part, Tensor) and is_bool(part.dtype):
        return part.ndim
    return 1


def _basic(tensor: Tensor, parts: Sequence[Any]) -> tuple[Tensor, list[Tensor | None]]:
    """Returns the view that the ints, slices, None and Ellipsis of an index make, and the index tensors left over.

    The index tensors stand at the dims of the view that they take; None elsewhere.
    """
    n_dims = 0
    for part in parts:
        n_dims += _consumed(part)
    if n_dims > tensor.ndim:
        if not tensor.ndim:
            raise DimError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number, or "
                "`tensor[None]` for one of a dim."
            )
        raise DimError(f"too many indices for tensor of dimension {tensor.ndim} (got {n_dims})")
    geometry, steps = tensor._geometry, []
    dim = source_dim = 0  # of the view, and of `tensor`, which errors speak of
    seen_ellipsis = False
    indices: list[Tensor | None] = []

    def take(step: AbstractViewOp) -> None:
        nonlocal geometry
        geometry = step.geometry(geometry)
        steps.append(step)

    def place(part: Tensor) -> None:
        indices.extend([None] * (dim - len(indices)))
        indices.append(part)

    for part in parts:
        if isinstance(part, slice):
            if part.start is not None or part.stop is not None or part.step is not None:
                take(slice_step(dim, _plain_slice(part), geometry.size[dim]))
            dim += 1
            source_dim += 1
        elif part is None:
            take(Unsqueeze(dim))
            dim += 1
        elif part is Ellipsis:
            if seen_ellipsis:
                raise DimError("an index can only have a single ellipsis ('...')")
            seen_ellipsis = True
            dim += tensor.ndim - n_dims
            source_dim += tensor.ndim - n_dims
        elif isinstance(part, (bool, np.bool_)):
            take(Unsqueeze(dim))  # True takes all of this dim of one element, False none
            place(_index_tensor(np.zeros(int(part), np.int32)))
            dim += 1
        elif isinstance(part, Tensor):
            if not (is_bool(part.dtype) or is_integral(part.dtype)) or (part.ndim and _is_narrow(part._layout.dtype)):
                raise DimError("tensors used as indices must be long, int, byte or bool tensors")
            if part.ndim == 0 and is_integral(part.dtype) and not is_tracer(part._read()):
                take(_select(geometry, dim, int(part.item()), source_dim))
                source_dim += 1
                continue
            source_dim += _consumed(part)
            if is_bool(part.dtype):
                _check_mask(part, geometry.size, dim)
                if part.ndim == 0:
                    take(Unsqueeze(dim))
                    part = wrap_array(part._read().reshape((1,)))
                for piece in _nonzero(part):
                    place(piece)
                    dim += 1
            else:
                place(part)
                dim += 1
        else:
            try:
                number = operator.index(part)
            except TypeError:
                if hasattr(part, "__index__"):
                    raise  # what its own method says
                kind = TensorTypeError if isinstance(part, str) else DimError
                raise kind(
                    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                    f"(got {type(part).__name__})"
                ) from None
            take(_select(geometry, dim, number, source_dim))
            source_dim += 1
    return (view_through(tensor, tuple(steps), geometry) if steps else tensor), indices


def _is_narrow(dtype: np.dtype) -> bool:
    return is_integral(dtype) and dtype.itemsize < 4


def _plain_slice(part: slice) -> slice:
    """Returns a slice whose bounds are Python numbers."""
    plain = lambda bound: bound if bound is None or type(bound) is int else operator.index(bound)
    try:
        return slice(plain(part.start), plain(part.stop), plain(part.step))
    except TypeError as error:
        raise TensorTypeError(f"slice indices must be integers or None or have an __index__ method: {error}") from error


def _select(geometry: Geometry, dim: int, index: int, source_dim: int) -> Select:
    n = geometry.size[dim]
    if not -n <= index < n:
        raise DimError(f"index {index} is out of bounds for dimension {source_dim} with size {n}")
    return Select(dim, index % n)


def _check_mask(mask: Tensor, size: Shape, dim: int) -> None:
    for axis, n in enumerate(mask.shape):
        if size[dim + axis] != n:
            raise DimError(
                f"The shape of the mask {list(mask.shape)} at index {axis} does not match the shape of the indexed "
                f"tensor {list(size)} at index {dim + axis}"
            )


def _nonzero(mask: Tensor) -> list[Tensor]:
    if is_wrapper(mask):
        return list(carry_out(named_op("nonzero", _indices), (mask,), {"as_tuple": True}))
    places = true_places(mask, "Indexing with a boolean mask (how many elements it selects)")
    dtype = np.int32 if mask.numel() <= MAX_INT32 else np.int64
    return [wrap_array(jnp.asarray(place.astype(dtype))) for place in places]


def _indices(mask: Tensor, *, as_tuple: bool) -> tuple[Tensor, ...]:
    return tuple(_nonzero(mask))


def _check_bounds(view: Tensor, indices: list[Tensor | None]) -> None:
    for dim, index in enumerate(indices):
        if index is None or is_wrapper(index) or index._is_without_values or index.numel() == 0:
            continue
        held = index._read()
        if is_tracer(held):  # what a trace reaches is a symbol from its first use on
            continue
        values, n = np.asarray(held), view._layout.size[dim]
        if values.min() < -n or values.max() >= n:
            if n == 0:
                raise DimError(f"index is out of bounds for dimension with size 0 (dimension {dim})")
            worst = int(values.min()) if values.min() < -n else int(values.max())
            raise DimError(f"index {worst} is out of bounds for dimension {dim} with size {n}")
    sizes = [tuple(i.shape) for i in indices if i is not None]
    if broadcast_size(sizes) is None:
        shapes = ", ".join(str(list(s)) for s in sizes)
        raise DimError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")


_MAX_RANGES = 1 << 12
_ranges: dict[tuple[Any, ...], tuple[ViewChain, Geometry]] = {}
_BOUNDS = (int, type(None))


def _range(tensor: Tensor, part: slice) -> Tensor:
    """Returns the view of a range of plain numbers; how it is made is kept, as loops ask for the same ones."""
    key = tensor._layout, tensor._offset, part.start, part.stop, part.step
    found = _ranges.get(key)
    if found is None:
        step = slice_step(0, part, tensor._layout.size[0])
        if len(_ranges) >= _MAX_RANGES:
            _ranges.clear()
        found = _ranges[key] = (step,), step.geometry(tensor._geometry)
    return view_through(tensor, *found)


def getitem(tensor: Tensor, index: object) -> Any:
    """Returns `tensor[index]`: a view for ints, slices, None and Ellipsis, a copy where index tensors take part."""
    if (
        type(index) is slice
        and type(index.stop) is int
        and type(index.start) in _BOUNDS
        and type(index.step) in _BOUNDS
        and state.trace is None
        and tensor._layout.size
    ):
        return _range(tensor, index)
    parts = _parts(index)
    if state.trace is not None:
        moving = moving_window(tensor, index)
        if moving is not None:
            return call(lookup("read_window"), (tensor[moving.index], moving.starts), (moving.where,))
        masked = _by_mask(tensor, parts)
        if masked is not None and masked[2] == 0:
            return selection.select(*masked[:2])
    view, indices = _basic(tensor, parts)
    if not indices:
        # an index always makes a new handle, even `x[...]`
        return alias(tensor) if view is tensor else view
    _check_bounds(view, indices)
    return call(lookup("index"), (view, indices), ())


def setitem(tensor: Tensor, index: object, value: Any) -> None:
    """Carries out `tensor[index] = value`."""
    if type(value) in (int, float) and not 0 <= value < 128:
        check_number(tensor._layout.dtype, value)
        if overflows(tensor._layout.dtype, value):  # a half
            value = math.copysign(math.inf, value)
    moving = None if state.trace is None else moving_window(tensor, index)
    if moving is not None:
        view, value = tensor[moving.index], _value(value)
        if value.ndim > view.ndim - sum(is_dropped for *_, is_dropped in moving.where):
            value = _without_leading_ones(value)
        value = value if value.dtype == view.dtype else call(lookup("cast"), (value,), (view.dtype,))
        call_inplace(lookup("write_window"), (view, moving.starts, value), (moving.where,))
        return
    parts = _parts(index)
    masked = None if isinstance(index, (int, slice)) else _by_mask(tensor, parts)
    if masked is not None and _set_by_mask(*masked, value):
        return
    view, indices = _basic(tensor, parts)
    if not indices:
        if not isinstance(value, Tensor) and _fills(value):
            call_inplace(lookup("fill"), (view, value), ())
            return
        value = _value(value)
        call_inplace(lookup("copy"), (view, _fitted(value, view)), (False,))
        return
    _check_bounds(view, indices)
    value = _value(value)
    if value.ndim and value._layout.size[0] == 1:
        value = _without_leading_ones(value)
    if value.dtype != tensor.dtype:
        value = call(lookup("cast"), (value,), (tensor.dtype,))
    call_inplace(lookup("index_put"), (view, indices, value), (False,))


def taking_masks(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `index_put` that takes masks at any place, and several, as an index in brackets may hold."""

    @functools.wraps(function)
    def put(input: Tensor, indices: Sequence[Any], *more: Any, **kwargs: Any) -> Any:
        return function(input, _as_places(input, indices), *more, **kwargs)

    return with_parameters(put, function)


def _as_places(tensor: Tensor, indices: Sequence[Any]) -> Sequence[Any]:
    """Returns index tensors in which masks are replaced by where they are true, unless one stands first and alone."""
    if not isinstance(indices, (list, tuple)):
        return indices
    parts = [part if part is None else _parts((part,))[0] for part in indices]
    is_mask = lambda part: isinstance(part, Tensor) and is_bool(part.dtype)
    is_alone = any(map(is_mask, parts[:1])) and sum(part is not None for part in parts) == 1
    places: list[Any] = []
    for part in parts:
        if isinstance(part, Tensor) and is_mask(part):
            if len(places) + part.ndim > tensor.ndim:
                raise DimError(f"too many indices for tensor of dimension {tensor.ndim}")
            _check_mask(part, tuple(tensor.shape), len(places))
            places.extend([part] if is_alone else _nonzero(part))
        else:
            places.append(part)
    return places


def _by_mask(tensor: Tensor, parts: Sequence[Any]) -> tuple[Tensor, Tensor, int] | None:
    """Returns (view, mask, first dim of the mask) if an index is one mask beside ints and slices, else None.

    Eagerly only a mask that stands alone counts; the others go by the places where they are true.
    """
    masks = [part for part in parts if isinstance(part, Tensor) and is_bool(part.dtype)]
    if len(masks) != 1:
        return None
    (mask,) = masks
    if not selection.is_needed(mask):
        alone = len(parts) == 1 and mask.ndim and tuple(mask.shape) == tuple(tensor.shape)[: mask.ndim]
        return (tensor, mask, -1) if alone else None
    if any(isinstance(part, (Tensor, bool, np.bool_)) and part is not mask for part in parts):
        return None
    dim = 0
    for part in parts:  # the mask's dims are taken whole, and come after those of the parts before it
        if part is mask:
            break
        if part is Ellipsis:
            dim += tensor.ndim - sum(_consumed(p) for p in parts)
        else:
            dim += part is None or isinstance(part, slice)
    taken = [slice(None)] * mask.ndim if mask.ndim else [None]  # a mask without dims selects all or nothing
    whole = [part for p in parts for part in (taken if p is mask else [p])]
    view, _ = _basic(tensor, whole)
    if not mask.ndim:
        return view, mask.reshape(1), dim
    _check_mask(mask, tuple(view.shape), dim)
    return view, mask, dim


def _set_by_mask(view: Tensor, mask: Tensor, dim: int, value: object) -> bool:
    """Carries out `view[mask] = value` if that can be done whatever the number of elements selected."""
    first = max(dim, 0)
    rest = view.ndim - first - mask.ndim
    wide = mask.reshape((*mask.shape, *(1,) * rest)) if rest else mask
    if _fills(value):
        call_inplace(lookup("masked_fill"), (view, wide, value), ())
        return True
    if not isinstance(value, (Tensor, selection.MaskedSelection)):
        value = _value(value)
    if isinstance(value, selection.MaskedSelection) or value.ndim > rest:
        value = selection.spread(value, mask, view.shape) if dim == 0 else None
        if value is None:
            return False
    value = value if value.dtype == view.dtype else call(lookup("cast"), (value,), (view.dtype,))
    call_inplace(lookup("copy"), (view, call(lookup("where"), (wide, value, view), ())), (False,))
    return True


def _fills(value: object) -> bool:
    return isinstance(value, (bool, int, float, complex)) or (isinstance(value, Tensor) and value.ndim == 0)


def _value(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (jax.Array, np.ndarray, np.generic, bool, int, float, complex)):
        return wrap_array(jnp.asarray(value))
    if type(value) in STAND_INS:
        return value.settled("`x[…] = value`")
    raise TensorTypeError(f"can't assign a {type(value).__name__} to a tensor")


def _without_leading_ones(value: Tensor) -> Tensor:
    """Returns `value` without leading dims of size 1, of which PyTorch's assignment may have too many."""
    size = value._layout.size
    first = 0
    while first < len(size) and size[first] == 1:
        first += 1
    return value.reshape(size[first:]) if first else value


def _fitted(value: Tensor, view: Tensor) -> Tensor:
    """Returns `value` without the leading dims that the target does not have."""
    if value.ndim > view.ndim:
        value = _without_leading_ones(value)
    if value.ndim > view.ndim:
        raise ShapeMismatchError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of "
            f"shape {list(view.shape)}"
        )
    return value
