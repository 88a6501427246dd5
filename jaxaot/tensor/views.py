"""View ops: new handles on the same storage. No values move."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from jaxaot.autograd.modes import state
from jaxaot.errors import DimError, ShapeMismatchError, TensorTypeError, ViewError
from jaxaot.ops.dims import normalize_dim
from jaxaot.ops.table import lookup
from jaxaot.tensor.dispatch import call
from jaxaot.tensor.history import History
from jaxaot.tensor.nodes import ViewNode
from jaxaot.tensor.tensor import Tensor, wrap
from jaxaot.views.chain import (
    AbstractViewOp,
    AsStrided,
    Diagonal,
    Expand,
    Geometry,
    Permute,
    Reshape,
    Select,
    Slice,
    Squeeze,
    Unfold,
    Unsqueeze,
)
from jaxaot.views.layout import layout_of


def make_view(parent: Tensor, step: AbstractViewOp, name: str | None = None, creation: str | None = None) -> Tensor:
    """Returns the view of `parent` one step further.

    Args:
      parent: The tensor to look at; the view's base is its base.
      step: The step.
      name: Of the node on the tape; by default that of the step.
      creation: `"several"` for one of several views that one function returns.
    """
    size, stride, offset = step.geometry(parent._geometry)
    trace = state.trace
    if trace is not None:
        trace.note(parent)
    view = wrap(parent._storage, layout_of(size, stride, parent._layout.dtype), offset, trace)
    base = parent._base_tensor
    view._base_tensor = parent if base is None else base
    if not state.grad_enabled:
        # no gradient flows through a view made here: it has a history of its own
        view._creation = "no_grad"
        return view
    view._creation = creation or parent._creation
    history = parent._history
    if history is None:
        parent._touch()
        history = parent._history = History(parent._layout, parent._offset, trace=trace)
    view._history = history
    if isinstance(step, AsStrided):
        # it shows the storage, whatever the parent shows of it: gradients go to the base
        base_geometry = Geometry(history.layout.size, history.layout.stride, history.offset)
        view._chain = (AsStrided(step.size, step.stride, step.offset, base_geometry),)
        return view
    view._chain = (*parent._chain, step)
    if history.requires_grad:
        view._view_node = ViewNode((step,), parent._layout, parent._gradient_edge(), name)
        view._view_parent = (history.node, history.index)
    return view


def detached(tensor: Tensor) -> Tensor:
    """Returns a tensor on the same memory through which no gradient flows."""
    if state.trace is not None:
        state.trace.note(tensor)
    return wrap(tensor._storage, tensor._layout, tensor._offset, state.trace)


# -- the ops -----------------------------------------------------------------------------------------------------------


def _axis(tensor: Tensor, dim: int, extra: int = 0) -> int:
    return normalize_dim(dim, tensor.ndim + extra)


def _sizes(size: tuple[Any, ...]) -> tuple[int, ...]:
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    return tuple(operator.index(n) for n in size)


def _inferred(size: tuple[int, ...], numel: int) -> tuple[int, ...]:
    """Returns `size` with its -1 replaced."""
    if size.count(-1) > 1:
        raise ShapeMismatchError("only one dimension can be inferred")
    known = 1
    for n in size:
        if n < -1:
            raise ShapeMismatchError(f"invalid shape dimension {n}")
        known *= 1 if n == -1 else n
    if -1 in size:
        if known == 0:
            raise ShapeMismatchError(
                f"cannot reshape tensor of {numel} elements into shape {list(size)} because the unspecified dimension "
                "size -1 can be any value and is ambiguous"
            )
        if numel % known:
            raise ShapeMismatchError(f"shape '{list(size)}' is invalid for input of size {numel}")
        return tuple(numel // known if n == -1 else n for n in size)
    if known != numel:
        raise ShapeMismatchError(f"shape '{list(size)}' is invalid for input of size {numel}")
    return size


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Returns the view at one index of a dim."""
    if input.ndim == 0:
        raise DimError("select() cannot be applied to a 0-dim tensor.")
    axis = _axis(input, dim)
    index = operator.index(index)
    n = input._layout.size[axis]
    if not -n <= index < n:
        raise DimError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
        )
    return make_view(input, Select(axis, index % n))


def slice_view(input: Tensor, dim: int, start: int | None, stop: int | None, step: int | None = 1) -> Tensor:
    """Returns the view of a range of a dim, with Python's rules for ranges."""
    axis = _axis(input, dim)
    step = 1 if step is None else operator.index(step)
    if step <= 0:
        raise TensorTypeError("slice step must be positive")
    start, stop, step = slice(
        None if start is None else operator.index(start), None if stop is None else operator.index(stop), step
    ).indices(input._layout.size[axis])
    n = max(0, -(-(stop - start) // step))
    return make_view(input, Slice(axis, start, n, step))


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Returns the view of `length` elements of a dim from `start` on."""
    axis = _axis(input, dim)
    n = input._layout.size[axis]
    start, length = operator.index(start), operator.index(length)
    if length < 0:
        raise ShapeMismatchError("narrow(): length must be non-negative.")
    if not -n <= start <= n:
        raise DimError(f"start out of range (expected to be in range of [-{n}, {n}], but got {start})")
    start = start + n if start < 0 else start
    if start + length > n:
        raise ShapeMismatchError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return make_view(input, Slice(axis, start, length))


def view(input: Tensor, *size: Any) -> Tensor:
    """Returns the same memory under another shape."""
    sizes = _inferred(_sizes(size), input.numel())
    return make_view(input, Reshape(sizes), "ViewBackward0")


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Returns `input.view(other.size())`."""
    return view(input, tuple(other.shape))


def reshape(input: Tensor, *shape: Any) -> Tensor:
    """Returns the elements under another shape: a view where strides allow it, else a copy."""
    sizes = _inferred(_sizes(shape), input.numel())
    try:
        return make_view(input, Reshape(sizes), "ViewBackward0")
    except ViewError:
        return call(lookup("reshape_copy"), (input,), (sizes,))


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """Returns `input.reshape(other.size())`."""
    return reshape(input, tuple(other.shape))


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Returns the dims from `start_dim` to `end_dim` as one."""
    if input.ndim == 0:
        return reshape(input, 1)
    start, end = _axis(input, start_dim), _axis(input, end_dim)
    if start > end:
        raise ShapeMismatchError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return input
    size = input._layout.size
    merged = 1
    for n in size[start : end + 1]:
        merged *= n
    return reshape(input, (*size[:start], merged, *size[end + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """Returns the elements as one dim: a view of a contiguous tensor, else a copy."""
    return view(contiguous(input), input.numel())


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Returns one dim as several."""
    axis = _axis(input, dim)
    size = input._layout.size
    return view(input, (*size[:axis], *_inferred(tuple(sizes), size[axis]), *size[axis + 1 :]))


def permute(input: Tensor, *dims: Any) -> Tensor:
    """Returns the dims in another order."""
    order = tuple(_axis(input, d) for d in _sizes(dims))
    if len(order) != input.ndim:
        raise ShapeMismatchError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(order)}"
        )
    if len(set(order)) != len(order):
        raise ShapeMismatchError("permute(): duplicate dims are not allowed.")
    return make_view(input, Permute(order))


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Returns two dims exchanged."""
    axis0, axis1 = _axis(input, dim0), _axis(input, dim1)
    order = list(range(input.ndim))
    if order:
        order[axis0], order[axis1] = order[axis1], order[axis0]
    return make_view(input, Permute(tuple(order)), "TransposeBackward0")


def t(input: Tensor) -> Tensor:
    """Returns a matrix transposed; a tensor of fewer dims as it is."""
    if input.ndim > 2:
        raise ShapeMismatchError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return make_view(input, Permute(tuple(reversed(range(input.ndim)))), "TBackward0")


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Returns dims moved to other places; the others keep their order."""
    sources = [_axis(input, d) for d in (source if isinstance(source, (tuple, list)) else (source,))]
    targets = [_axis(input, d) for d in (destination if isinstance(destination, (tuple, list)) else (destination,))]
    if len(sources) != len(targets):
        raise ShapeMismatchError(
            f"movedim: Invalid source or destination dims: source ({len(sources)} dims) should contain the same number "
            f"of dims as destination ({len(targets)} dims)"
        )
    if len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        raise ShapeMismatchError("movedim: repeated dim in `source` or `destination`")
    order: list[int] = [-1] * input.ndim
    for s, d in zip(sources, targets, strict=True):
        order[d] = s
    rest = iter(axis for axis in range(input.ndim) if axis not in sources)
    return make_view(input, Permute(tuple(next(rest) if axis < 0 else axis for axis in order)))


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Returns a new dim of size 1 at `dim`."""
    return make_view(input, Unsqueeze(_axis(input, dim, 1)))


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Returns the tensor without its dims of size 1, or without those of `dim` that have size 1."""
    size = input._layout.size
    if dim is None:
        axes = tuple(axis for axis, n in enumerate(size) if n == 1)
    else:
        dims = dim if isinstance(dim, (tuple, list)) else (dim,)
        axes = tuple(sorted({a for a in (_axis(input, d) for d in dims) if size and size[a] == 1}))
    return make_view(input, Squeeze(axes))


def expand(input: Tensor, *size: Any) -> Tensor:
    """Returns dims of size 1 repeated, without memory; -1 leaves a dim as it is."""
    wanted = _sizes(size)
    have = input._layout.size
    missing = len(wanted) - len(have)
    if missing < 0:
        raise ShapeMismatchError(
            f"expand: the number of sizes provided ({len(wanted)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(have)})"
        )
    result = []
    for axis, n in enumerate(wanted):
        if axis < missing:
            if n < 0:
                raise ShapeMismatchError(
                    f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {axis}"
                )
            result.append(n)
            continue
        present = have[axis - missing]
        if n not in (-1, present) and present != 1:
            raise ShapeMismatchError(
                f"The expanded size of the tensor ({n}) must match the existing size ({present}) at non-singleton "
                f"dimension {axis}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(have)}"
            )
        result.append(present if n == -1 else n)
    return make_view(input, Expand(tuple(result)))


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Returns `input.expand(other.size())`."""
    return expand(input, tuple(other.shape))


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """Returns `input.expand(size)`."""
    return expand(input, tuple(size))


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Returns the diagonal of two dims as a new last dim."""
    axis1, axis2 = _axis(input, dim1), _axis(input, dim2)
    if axis1 == axis2:
        raise ShapeMismatchError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return make_view(input, Diagonal(operator.index(offset), axis1, axis2))


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Returns windows of `size` elements every `step` along a dim, as a new last dim."""
    if input.ndim == 0:
        input = unsqueeze(input, 0)
        dimension = 0
    axis = _axis(input, dimension)
    n = input._layout.size[axis]
    if size > n:
        raise ShapeMismatchError(f"maximum size for tensor at dimension {axis} is {n} but size is {size}")
    if step <= 0:
        raise ShapeMismatchError(f"step is {step} but must be > 0")
    return make_view(input, Unfold(axis, size, step))


def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """Returns any strided view of the storage."""
    offset = input._offset if storage_offset is None else operator.index(storage_offset)
    step = AsStrided(_sizes((size,)), _sizes((stride,)), offset, Geometry(*input._geometry))
    if len(step.size) != len(step.stride):
        raise ShapeMismatchError("mismatch in length of strides and shape")
    if any(s < 0 for s in step.stride):
        raise ShapeMismatchError(
            f"as_strided: Negative strides are not supported at the moment, got {list(step.stride)}"
        )
    layout = layout_of(step.size, step.stride, input.dtype)
    input._storage.check_reach(layout, offset, is_write=True)
    return make_view(input, step)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns the views at each index of a dim."""
    axis = _axis(input, dim)
    if input.ndim == 0:
        raise DimError("unbind() expects a tensor with at least one dimension")
    several = lambda i: make_view(input, Select(axis, i), "UnbindBackward0", "several")
    return tuple(several(i) for i in range(input._layout.size[axis]))


def split(input: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns views of equal pieces of a dim, the last one smaller, or of pieces of given sizes."""
    axis = _axis(input, dim)
    n = input._layout.size[axis] if input.ndim else 1
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes = [operator.index(s) for s in split_size_or_sections]
        if sum(sizes) != n or any(s < 0 for s in sizes):
            raise ShapeMismatchError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension "
                f"{axis}), but got split_sizes={sizes}"
            )
    else:
        size = operator.index(split_size_or_sections)
        if size < 0 or (size == 0 and n != 0):
            raise ShapeMismatchError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
        sizes = [min(size, n - start) for start in range(0, n, size)] if n else [0]
    pieces, start = [], 0
    for size in sizes:
        pieces.append(make_view(input, Slice(axis, start, size), "SplitBackward0", "several"))
        start += size
    return tuple(pieces)


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Returns views of pieces of a dim of given sizes."""
    return split(input, tuple(split_sizes), dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns views of at most `chunks` equal pieces of a dim."""
    if chunks <= 0:
        raise ShapeMismatchError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    axis = _axis(input, dim)
    n = input._layout.size[axis]
    size = -(-n // chunks)
    if size == 0:
        return split(input, (0,) * (chunks - 1) + (n,), dim)
    return split(input, size, dim)


def detach(input: Tensor) -> Tensor:
    """Returns a tensor on the same memory through which no gradient flows."""
    return detached(input)


def contiguous(input: Tensor) -> Tensor:
    """Returns the tensor if it is contiguous, else a contiguous copy."""
    return input if input.is_contiguous() else call(lookup("contiguous_copy_of"), (input,), ())


def clone(input: Tensor) -> Tensor:
    """Returns a copy with storage of its own."""
    return call(lookup("copy_of"), (input,), ())


VIEWS = {
    fn.__name__: fn
    for fn in (
        select, narrow, reshape, flatten, ravel, unflatten, permute, transpose, t, movedim, unsqueeze, squeeze,
        broadcast_to, diagonal, as_strided, unbind, split, split_with_sizes, chunk, detach, clone,
    )
}  # fmt: skip
VIEWS |= {"swapaxes": transpose, "swapdims": transpose, "moveaxis": movedim}
"""View ops that are functions of `ja` as well as methods."""

METHODS = {fn.__name__: fn for fn in (view, view_as, reshape_as, expand, expand_as, unfold, contiguous)}
"""View ops that are methods only."""
