"""View ops: new handles on the same storage. No values move."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxaot._typing import DTypeLike, Sizes
from jaxaot.errors import (
    ArgumentError,
    DimError,
    DtypeError,
    ShapeMismatchError,
    StorageSizeError,
    TensorTypeError,
    TensorValueError,
    ViewError,
)
from jaxaot.facade.dispatch.autocast_operands import cast
from jaxaot.facade.dispatch.create import as_dtype
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.memory.counter import counter_of
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.tensor import INFERENCE, UNRECORDED_IN, Tensor, wrap
from jaxaot.facade.nodes.nodes import ViewNode
from jaxaot.facade.subclass.subclass import SUBCLASSES, asks_classes, carry_out, is_wrapper, named_op
from jaxaot.facade.subclass.wrapper_views import through_wrapper
from jaxaot.ops.dims import as_int, inferred_sizes, normalize_dim, sizes_of
from jaxaot.ops.table import lookup
from jaxaot.tape.modes import state
from jaxaot.views.chain import (
    AbstractViewOp,
    AsComplex,
    AsDtype,
    AsReal,
    AsStrided,
    Conjugate,
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
    ViewChain,
    chain_dtype,
)
from jaxaot.views.layout import layout_of
from jaxaot.views.memory_format import MemoryFormat, check_format, has_format


def make_view(parent: Tensor, step: AbstractViewOp, name: str | None = None, creation: str | None = None) -> Tensor:
    """Returns the view of `parent` one step further.

    Args:
      parent: The tensor to look at; the view's base is its base.
      step: The step.
      name: Of the node on the tape; by default that of the step.
      creation: `"several"` for one of several views that one function returns.
    """
    return view_through(parent, (step,), step.geometry(parent._geometry), name, creation)


def view_through(
    parent: Tensor, steps: ViewChain, geometry: Geometry, name: str | None = None, creation: str | None = None
) -> Tensor:
    """Returns the view of `parent` some steps further, which lead to `geometry`, made at once; see `make_view`."""
    if SUBCLASSES and is_wrapper(parent):
        return through_wrapper(make_view, parent, steps)
    size, stride, offset = geometry
    trace = state.trace
    if trace is not None:
        trace.note(parent)
    dtype = chain_dtype(steps, parent._layout.dtype)
    is_conj = parent._layout.is_conj
    for step in steps:
        is_conj ^= step.conjugates
    view = wrap(parent._storage, layout_of(size, stride, dtype, is_conj), offset, trace)
    if parent._creation == INFERENCE:  # nothing is recorded of it, not even what it is a view of
        view._creation, view._counter = INFERENCE, counter_of(parent)
    else:
        view._base_tensor = parent if parent._base_tensor is None else parent._base_tensor
        view._counter = counter_of(parent)
    if state.dual is not None:
        state.dual.note_view(view, parent, steps)
    if parent._creation == INFERENCE:
        return view
    if not state.grad_enabled:
        # no gradient flows through a view made here: it has a history of its own
        view._creation, view._view_parent = UNRECORDED_IN[state.infers], counter_of(parent).n
        if state.infers and trace is None and parent.requires_grad:
            _lead_nowhere(view)
        return view
    view._creation = creation or parent._creation
    last = steps[-1]
    if isinstance(last, AsDtype):  # the same bytes, but not a function that has a gradient
        return view
    history = parent._history
    if history is None:
        parent._touch()
        history = parent._history = History(parent._layout, parent._offset, trace=trace)
    view._history = history
    if isinstance(last, AsStrided) and dtype == history.layout.dtype:
        # it shows the storage, whatever the parent shows of it: gradients go to the base
        base_geometry = Geometry(history.layout.size, history.layout.stride, history.offset)
        view._chain = (AsStrided(last.size, last.stride, last.offset, base_geometry),)
        return view
    view._chain = (*parent._chain, *steps)
    if history.requires_grad:
        view._view_node = ViewNode(steps, parent._layout, parent._gradient_edge(), name)
        view._view_parent = (history.node, history.index)
    return view


def _lead_nowhere(view: Tensor) -> None:
    """Makes a view a leaf that requires grad, as its base does: what is computed of it does, and no one gets it."""
    leaf = wrap(view._storage, view._layout, view._offset)
    view._history = History(view._layout, view._offset, True)
    view._history.leaf = lambda: leaf  # held here alone: the history of a leaf refers weakly to what lives elsewhere


def detached(tensor: Tensor) -> Tensor:
    """Returns a tensor on the same memory through which no gradient flows."""
    if SUBCLASSES and is_wrapper(tensor):
        return carry_out(named_op("detach", detached), (tensor,), {})
    if state.trace is not None:
        state.trace.note(tensor)
    made = wrap(tensor._storage, tensor._layout, tensor._offset, state.trace)
    made._counter = counter_of(tensor)
    if tensor._creation == INFERENCE:
        made._creation = INFERENCE
    return made


# -- the ops -----------------------------------------------------------------------------------------------------------


def _axis(tensor: Tensor, dim: int, extra: int = 0) -> int:
    return normalize_dim(dim, tensor.ndim + extra)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Returns the view at one index of a dim."""
    if input.ndim == 0:
        raise DimError("select() cannot be applied to a 0-dim tensor.")
    axis = _axis(input, dim)
    index = as_int(index, "index")
    n = input._layout.size[axis]
    if not -n <= index < n:
        raise DimError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
        )
    return make_view(input, Select(axis, index % n))


def slice_step(axis: int, part: slice, n: int) -> Slice:
    """Returns the step of `x[..., part, ...]` along a dim of `n` elements, with Python's rules for ranges.

    Raises:
      TensorValueError: If the range goes backward.
    """
    start, stop, step = part.indices(n)
    if step <= 0:
        raise TensorValueError("slice step must be positive")
    return Slice(axis, start, max(0, -(-(stop - start) // step)), step)


def slice_view(input: Tensor, dim: int, start: int | None, stop: int | None, step: int | None = 1) -> Tensor:
    """Returns the view of a range of a dim, with Python's rules for ranges."""
    axis = _axis(input, dim)
    return make_view(input, slice_step(axis, slice(start, stop, step), input._layout.size[axis]))


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Returns the view of `length` elements of a dim from `start` on."""
    if input.ndim == 0:
        raise DimError("narrow() cannot be applied to a 0-dim tensor.")
    axis = _axis(input, dim)
    n = input._layout.size[axis]
    if isinstance(start, Tensor) and start.ndim:
        raise TensorTypeError(f"narrow(): start is a number or a 0-dim tensor, not one of shape {list(start.shape)}")
    start, length = as_int(start, "start"), as_int(length, "length")
    if length < 0:
        raise ShapeMismatchError("narrow(): length must be non-negative.")
    if not -n <= start <= n:
        raise DimError(f"start out of range (expected to be in range of [-{n}, {n}], but got {start})")
    start = start + n if start < 0 else start
    if start + length > n:
        raise ShapeMismatchError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return make_view(input, Slice(axis, start, length))


def view(input: Tensor, *sizes: Any, size: object = None, dtype: DTypeLike | None = None) -> Tensor:
    """Returns the same memory under another shape, or its bytes read as another dtype."""
    if dtype is None and len(sizes) == 1 and not isinstance(sizes[0], (int, tuple, list, np.integer)):
        dtype, sizes = sizes[0], ()
    if dtype is not None:
        if sizes or size is not None:
            raise ArgumentError("view() takes a shape or a dtype, not both; write `x.view(dtype).view(shape)`.")
        wanted = as_dtype(dtype)
        if wanted is None:
            return alias(input)
        if wanted == input.dtype:
            return detached(input)  # no gradient flows through a view of another dtype, nor through this one
        _refuse_conjugated(input, "view(dtype)")
        return make_view(input, AsDtype(input._layout.dtype, wanted))
    sizes = inferred_sizes(sizes_of(sizes, size), input.numel())
    return make_view(input, Reshape(sizes), "ViewBackward0")


def _refuse_conjugated(input: Tensor, name: str) -> None:
    if input._layout.is_conj and not input.is_complex():
        raise DtypeError(
            f"{name} is not supported for a tensor that shows the negatives of its memory, as `x.conj().imag` does. "
            "Copy it first: `x.resolve_neg()`."
        )
    if input._layout.is_conj:
        raise DtypeError(
            f"{name} doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view "
            "it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the "
            "original."
        )


def conj(input: Tensor) -> Tensor:
    """Returns the conjugates of complex numbers, a view; a tensor that is not complex as it is."""
    return make_view(input, Conjugate(), "ConjBackward0") if input.is_complex() else input


def resolve_conj(input: Tensor) -> Tensor:
    """Returns the tensor, or a copy with its values in memory if it shows conjugates."""
    return call(lookup("copy_of"), (input,), ()) if input.is_complex() and input._layout.is_conj else input


def resolve_neg(input: Tensor) -> Tensor:
    """Returns the tensor, or a copy with its values in memory if it shows the negatives of memory."""
    return call(lookup("copy_of"), (input,), ()) if input._layout.is_conj and not input.is_complex() else input


def flipped(input: Tensor) -> Tensor:
    """Returns the conjugates of complex numbers, the negatives of real ones: a view."""
    return make_view(input, Conjugate(), "ConjBackward0" if input.is_complex() else "NegViewBackward0")


def view_as_real(input: Tensor) -> Tensor:
    """Returns complex numbers as pairs of floats, in a new last dim on the same memory."""
    if not input.is_complex():
        raise DtypeError("view_as_real is only supported for complex tensors")
    _refuse_conjugated(input, "view_as_real")
    return make_view(input, AsReal())


def view_as_complex(input: Tensor) -> Tensor:
    """Returns pairs of floats, along the last dim, as complex numbers on the same memory."""
    _refuse_conjugated(input, "view_as_complex")
    if state.autocast is not None and state.autocast.dtype == input.dtype:  # its lists have one view: this
        input = cast(call, input, np.dtype(np.float32))
    if not (input.is_floating_point() and input.itemsize >= 4):
        raise DtypeError(
            f"view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{input.dtype}"
        )
    return make_view(input, AsComplex())


def real(input: Tensor) -> Tensor:
    """Returns the real parts, a view; a tensor that is not complex as it is."""
    if not input.is_complex():
        return input
    return select(view_as_real(conj(input) if input._layout.is_conj else input), -1, 0)


def imag(input: Tensor) -> Tensor:
    """Returns the imaginary parts, a view; of a conjugate one that shows the negatives of memory."""
    if not input.is_complex():
        raise DtypeError("imag is not implemented for tensors with non-complex dtypes.")
    if input._layout.is_conj:
        return flipped(imag(conj(input)))
    return select(view_as_real(input), -1, 1)


def alias(input: Tensor) -> Tensor:
    """Returns a view of all of a tensor, with its strides."""
    return make_view(input, Permute(tuple(range(input.ndim))), "AliasBackward0")


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Returns `input.view(other.size())`."""
    return view(input, tuple(other.shape))


def reshape(input: Tensor, *sizes: Any, shape: object = None) -> Tensor:
    """Returns the elements under another shape: a view where strides allow it, else a copy."""
    sizes = inferred_sizes(sizes_of(sizes, shape), input.numel())
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
    return view(input, (*size[:axis], *inferred_sizes(sizes_of(tuple(sizes)), size[axis]), *size[axis + 1 :]))


def permute(input: Tensor, *order: Any, dims: object = None) -> Tensor:
    """Returns the dims in another order."""
    order = tuple(_axis(input, d) for d in sizes_of(order, dims))
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


def squeeze(input: Tensor, dim: Sizes | None = None) -> Tensor:
    """Returns the tensor without its dims of size 1, or without those of `dim` that have size 1."""
    size = input._layout.size
    if dim is None:
        axes = tuple(axis for axis, n in enumerate(size) if n == 1)
    else:
        dims = dim if isinstance(dim, (tuple, list)) else (dim,)
        axes = tuple(sorted({a for a in (_axis(input, d) for d in dims) if size and size[a] == 1}))
    return make_view(input, Squeeze(axes))


def expand(input: Tensor, *sizes: Any, size: object = None, implicit: bool = False) -> Tensor:
    """Returns dims of size 1 repeated, without memory; -1 leaves a dim as it is."""
    wanted = sizes_of(sizes, size)
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


def broadcast_to(input: Tensor, *sizes: Any, size: object = None) -> Tensor:
    """Returns `input.expand(size)`."""
    return expand(input, *sizes, size=size)


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Returns the diagonal of two dims as a new last dim."""
    axis1, axis2 = _axis(input, dim1), _axis(input, dim2)
    if axis1 == axis2:
        raise ShapeMismatchError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return make_view(input, Diagonal(as_int(offset, "offset"), axis1, axis2))


def matrix_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Returns the diagonals of a batch of matrices, a view: `ja.linalg.diagonal`."""
    return diagonal(A, offset, dim1, dim2)


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Returns windows of `size` elements every `step` along a dim, as a new last dim."""
    if input.ndim == 0:
        _axis(input, dimension)
        if size > 1:
            raise ShapeMismatchError(f"maximum size for tensor at dimension 0 is 1 but size is {size}")
        return make_view(input, Reshape((size,)) if size else AsStrided((0,), (1,), input._offset, input._geometry))
    axis = _axis(input, dimension)
    n = input._layout.size[axis]
    if size > n:
        raise ShapeMismatchError(f"maximum size for tensor at dimension {axis} is {n} but size is {size}")
    if step <= 0:
        raise ShapeMismatchError(f"step is {step} but must be > 0")
    return make_view(input, Unfold(axis, size, step))


def check_strided(size: Sequence[int], offset: int) -> None:
    """Raises if a tensor cannot be of this size or begin there.

    Raises:
      StorageSizeError: If a number is negative.
    """
    if any(n < 0 for n in size):
        raise StorageSizeError(f"A tensor has no negative sizes, but sizes={list(size)} were given.")
    if offset < 0:
        raise StorageSizeError(f"Tensor: invalid storage offset {offset}; memory begins at element 0.")


@asks_classes
def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """Returns any strided view of the storage."""
    input._ask()
    offset = input._offset if storage_offset is None else operator.index(storage_offset)
    step = AsStrided(sizes_of((size,)), sizes_of((stride,)), offset, Geometry(*input._geometry))
    if len(step.size) != len(step.stride):
        raise ShapeMismatchError("mismatch in length of strides and shape")
    check_strided(step.size, offset)
    if any(s < 0 for s in step.stride):
        raise ShapeMismatchError(
            f"as_strided: Negative strides are not supported at the moment, got {list(step.stride)}"
        )
    layout = layout_of(step.size, step.stride, input._layout.dtype, input._layout.is_conj)
    input._storage.check_reach(layout, offset, is_write=True)
    return make_view(input, step)


def matrix_transpose(input: Tensor) -> Tensor:
    """Returns the last two dims exchanged, a view: `x.mT`."""
    if input.ndim < 2:
        raise ShapeMismatchError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {input.ndim}-D tensor."
        )
    return transpose(input, -2, -1)


def adjoint(input: Tensor) -> Tensor:
    """Returns the last two dims exchanged, complex numbers conjugated, a view: `x.mH`."""
    return conj(matrix_transpose(input))


def matrix_adjoint(input: Tensor) -> Tensor:
    """Returns the conjugate transpose of a matrix: `x.H`."""
    if input.ndim not in (0, 2):
        raise ShapeMismatchError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {input.ndim}-D tensor. For batches of "
            "matrices, consider using tensor.mH"
        )
    return adjoint(input) if input.ndim else input


def detach(input: Tensor) -> Tensor:
    """Returns a tensor on the same memory through which no gradient flows."""
    return detached(input)


def contiguous(input: Tensor, memory_format: MemoryFormat = MemoryFormat.contiguous_format) -> Tensor:
    """Returns the tensor if it lies in memory so, by default in row-major order, else a copy that does."""
    if memory_format is MemoryFormat.preserve_format:
        raise ArgumentError("preserve memory format is unsupported by the contiguous operator")
    return input if has_format(input._layout, memory_format) else clone(input, memory_format=memory_format)


def clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """Returns a copy with storage of its own, by default in the operand's order of dims."""
    if memory_format in (None, MemoryFormat.preserve_format):
        return call(lookup("copy_of"), (input,), ())
    if check_format(memory_format, input.ndim) is MemoryFormat.contiguous_format:
        return call(lookup("contiguous_copy_of"), (input,), ())
    return call(lookup("channels_last_copy_of"), (input,), ())


VIEWS = {
    fn.__name__: fn
    for fn in (
        select, narrow, reshape, flatten, ravel, unflatten, permute, transpose, t, movedim, unsqueeze, squeeze,
        broadcast_to, diagonal, as_strided, detach, clone, view_as_real, view_as_complex, real, imag, adjoint, conj,
        resolve_conj, resolve_neg,
    )
}  # fmt: skip
VIEWS |= {"swapaxes": transpose, "swapdims": transpose, "moveaxis": movedim}
"""View ops that are functions of `ja` as well as methods."""

METHODS = {fn.__name__: fn for fn in (view, view_as, reshape_as, expand, expand_as, unfold, contiguous)}
"""View ops that are methods only."""
