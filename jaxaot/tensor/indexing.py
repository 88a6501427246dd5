"""`x[index]` and `x[index] = value`: views where PyTorch makes views, copies by index tensors elsewhere."""

from __future__ import annotations

import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_tracer
from jaxaot.errors import DimError, ShapeMismatchError, TensorTypeError
from jaxaot.ops.promotion import is_bool, is_integral
from jaxaot.ops.table import lookup
from jaxaot.tensor.dispatch import call, call_inplace
from jaxaot.tensor.tensor import Tensor, wrap_array
from jaxaot.tensor.views import make_view, select, slice_view, unsqueeze
from jaxaot.views.chain import Reshape
from jaxaot.views.layout import broadcast_size


def _parts(index: Any) -> list[Any]:
    parts = list(index) if isinstance(index, tuple) else [index]
    made = []
    for part in parts:
        if isinstance(part, (list, np.ndarray, jax.Array, range)):
            array: Any = part if is_tracer(part) else jnp.asarray(np.asarray(_plain(part)))
            if array.size == 0 and not isinstance(part, (np.ndarray, jax.Array)):
                array = array.astype(np.int32)
            part = wrap_array(array)
        made.append(part)
    return made


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


def _basic(tensor: Tensor, index: Any) -> tuple[Tensor, list[Tensor | None]]:
    """Returns the view that the ints, slices, None and Ellipsis of an index make, and the index tensors left over.

    The index tensors stand at the dims of the view that they take; None elsewhere.
    """
    parts = _parts(index)
    n_dims = sum(_consumed(part) for part in parts)
    if n_dims > tensor.ndim:
        raise DimError(f"too many indices for tensor of dimension {tensor.ndim} (got {n_dims})")
    if sum(part is Ellipsis for part in parts) > 1:
        raise DimError("an index can only have a single ellipsis ('...')")
    view, dim = tensor, 0
    source_dim = 0  # of `tensor`, which errors speak of
    indices: list[Tensor | None] = []

    def place(part: Tensor) -> None:
        indices.extend([None] * (dim - len(indices)))
        indices.append(part)

    for part in parts:
        if part is None:
            view = unsqueeze(view, dim)
            dim += 1
        elif part is Ellipsis:
            dim += tensor.ndim - n_dims
            source_dim += tensor.ndim - n_dims
        elif isinstance(part, slice):
            if part.start is not None or part.stop is not None or part.step not in (None, 1):
                view = slice_view(view, dim, _index(part.start), _index(part.stop), _index(part.step))
            dim += 1
            source_dim += 1
        elif isinstance(part, (bool, np.bool_)):
            view = unsqueeze(view, dim)
            place(wrap_array(jnp.asarray(np.array([bool(part)]))))
            dim += 1
        elif isinstance(part, Tensor):
            if not (is_bool(part.dtype) or is_integral(part.dtype)):
                raise DimError("tensors used as indices must be long, int, byte or bool tensors")
            if part.ndim == 0 and is_integral(part.dtype) and not is_tracer(part._read()):
                view = _select(view, dim, int(part.item()), source_dim)
                source_dim += 1
                continue
            source_dim += _consumed(part)
            if is_bool(part.dtype):
                _check_mask(part, view, dim)
                if part.ndim == 0:
                    view = unsqueeze(view, dim)
                    part = wrap_array(part._read().reshape(1))
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
                raise TensorTypeError(
                    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                    f"(got {type(part).__name__})"
                ) from None
            view = _select(view, dim, number, source_dim)
            source_dim += 1
    return view, indices


def _index(value: Any) -> int | None:
    return None if value is None else operator.index(value)


def _select(view: Tensor, dim: int, index: int, source_dim: int) -> Tensor:
    n = view._layout.size[dim]
    if not -n <= index < n:
        raise DimError(f"index {index} is out of bounds for dimension {source_dim} with size {n}")
    return select(view, dim, index)


def _check_mask(mask: Tensor, view: Tensor, dim: int) -> None:
    for axis, n in enumerate(mask.shape):
        if view._layout.size[dim + axis] != n:
            raise DimError(
                f"The shape of the mask {list(mask.shape)} at index {axis} does not match the shape of the indexed "
                f"tensor {list(view.shape)} at index {dim + axis}"
            )


def _nonzero(mask: Tensor) -> list[Tensor]:
    values = mask._concrete("Indexing with a boolean mask (how many elements it selects)")
    return [wrap_array(jnp.asarray(places.astype(np.int32))) for places in np.nonzero(values)]


def _check_bounds(view: Tensor, indices: list[Tensor | None]) -> None:
    for dim, index in enumerate(indices):
        if index is None or is_tracer(index._storage.array) or index.numel() == 0:
            continue
        values = np.asarray(index._read())
        n = view._layout.size[dim]
        if values.min() < -n or values.max() >= n:
            worst = int(values.min()) if values.min() < -n else int(values.max())
            raise DimError(f"index {worst} is out of bounds for dimension {dim} with size {n}")
    sizes = [tuple(i.shape) for i in indices if i is not None]
    if broadcast_size(sizes) is None:
        shapes = ", ".join(str(list(s)) for s in sizes)
        raise DimError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")


def getitem(tensor: Tensor, index: Any) -> Tensor:
    """Returns `tensor[index]`: a view for ints, slices, None and Ellipsis, a copy where index tensors take part."""
    view, indices = _basic(tensor, index)
    if not indices:
        # an index always makes a new handle, even `x[...]`
        return make_view(tensor, Reshape(tensor._layout.size), "AliasBackward0") if view is tensor else view
    _check_bounds(view, indices)
    return call(lookup("index"), (view, indices), ())


def setitem(tensor: Tensor, index: Any, value: Any) -> None:
    """Carries out `tensor[index] = value`."""
    mask = _leading_mask(tensor, index)
    if mask is not None:
        # how many elements are selected does not matter where every one gets the same
        if _fills(value):
            call_inplace(lookup("masked_fill"), (tensor, mask, value), ())
            return
        if isinstance(value, Tensor) and value.ndim <= tensor.ndim - index.ndim:
            value = value if value.dtype == tensor.dtype else call(lookup("cast"), (value,), (tensor.dtype,))
            call_inplace(lookup("copy"), (tensor, call(lookup("where"), (mask, value, tensor), ())), (False,))
            return
    view, indices = _basic(tensor, index)
    if not indices:
        if not isinstance(value, Tensor) and _fills(value):
            call_inplace(lookup("fill"), (view, value), ())
            return
        value = _value(value)
        call_inplace(lookup("copy"), (view, _without_leading_ones(value, view)), (False,))
        return
    _check_bounds(view, indices)
    value = _value(value)
    if value.dtype != tensor.dtype:
        value = call(lookup("cast"), (value,), (tensor.dtype,))
    call_inplace(lookup("index_put"), (view, indices, value), (False,))


def _leading_mask(tensor: Tensor, index: Any) -> Tensor | None:
    """Returns an index that is one mask over leading dims as a mask that broadcasts with the tensor, else None."""
    if not isinstance(index, Tensor) or not is_bool(index.dtype) or index.ndim > tensor.ndim:
        return None
    if tuple(index.shape) != tuple(tensor.shape)[: index.ndim]:
        return None
    extra = tensor.ndim - index.ndim
    return index if not extra else index.reshape((*index.shape, *(1,) * extra))


def _fills(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex)) or (isinstance(value, Tensor) and value.ndim == 0)


def _value(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (jax.Array, np.ndarray, np.generic, bool, int, float, complex)):
        return wrap_array(jnp.asarray(value))
    raise TensorTypeError(f"can't assign a {type(value).__name__} to a tensor")


def _without_leading_ones(value: Tensor, view: Tensor) -> Tensor:
    """Returns `value` without leading dims of size 1 that the target does not have, as PyTorch's assignment does."""
    extra = value.ndim - view.ndim
    if extra <= 0:
        return value
    size = tuple(value.shape)
    if any(n != 1 for n in size[:extra]):
        raise ShapeMismatchError(
            f"shape mismatch: value tensor of shape {list(size)} cannot be broadcast to indexing result of shape "
            f"{list(view.shape)}"
        )
    return value.reshape(size[extra:])
