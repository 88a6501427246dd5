"""Functions that return several views of one tensor."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from jaxaot._typing import Sizes
from jaxaot.errors import ArgumentError, DimError, ShapeMismatchError
from jaxaot.facade.kernels.kernels import dtype_name
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.nodes.nodes import SeveralViewsNode, ViewNode
from jaxaot.facade.view_ops import views
from jaxaot.ops.dims import as_int
from jaxaot.ops.promotion import is_integral
from jaxaot.tape.modes import state
from jaxaot.views.chain import Select, Slice


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns the views at each index of a dim."""
    axis = views._axis(input, dim)
    if input.ndim == 0:
        raise DimError("unbind() expects a tensor with at least one dimension")
    return _several(input, [Select(axis, i) for i in range(input._layout.size[axis])], "UnbindBackward0")


def _several(input: Tensor, steps: Sequence[Any], name: str) -> tuple[Tensor, ...]:
    """Returns the views that one function makes, which know of each other that they must not be written."""
    made = tuple(views.make_view(input, step, name, "several") for step in steps)
    nodes = [getattr(view, "_view_node", None) for view in made]  # wrappers have no memory
    own = [node for node in nodes if isinstance(node, ViewNode)]
    if len(own) == len(made) > 1 and state.recorder is None:  # what waits knows the views one by one
        shared = SeveralViewsNode([node.chain for node in own], own[0].parent, own[0].edges[0], name)
        for view in made:
            view._view_node = shared
    else:
        for place, node in enumerate(own):
            node.place = place
    return made


def split(input: Tensor, split_size_or_sections: Sizes, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns views of equal pieces of a dim, the last one smaller, or of pieces of given sizes."""
    axis = views._axis(input, dim)
    n = input._layout.size[axis] if input.ndim else 1
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes = [as_int(s, "split_size_or_sections") for s in split_size_or_sections]
        if sum(sizes) != n or any(s < 0 for s in sizes):
            raise ShapeMismatchError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension "
                f"{axis}), but got split_sizes={sizes}"
            )
    else:
        size = as_int(split_size_or_sections, "split_size_or_sections")
        if size < 0 or (size == 0 and n != 0):
            raise ShapeMismatchError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
        sizes = [min(size, n - start) for start in range(0, n, size)] if n else [0]
    starts = itertools.accumulate(sizes, initial=0)
    return _several(
        input, [Slice(axis, start, size) for start, size in zip(starts, sizes, strict=False)], "SplitBackward0"
    )


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Returns views of pieces of a dim of given sizes."""
    return split(input, tuple(split_sizes), dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns views of at most `chunks` equal pieces of a dim."""
    if chunks <= 0:
        raise ShapeMismatchError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    axis = views._axis(input, dim)
    n = input._layout.size[axis]
    size = -(-n // chunks)
    if size == 0:
        return split(input, (0,) * (chunks - 1) + (n,), dim)
    return split(input, size, dim)


def _at(input: Tensor, bounds: Sequence[int], axis: int) -> tuple[Tensor, ...]:
    """Returns views of the pieces between bounds, each by the rules of a Python slice."""
    n = input._layout.size[axis]
    pieces = []
    for start, stop in zip((0, *bounds), (*bounds, n), strict=True):
        first, last, _ = slice(start, stop).indices(n)
        step = Slice(axis, first, max(0, last - first))
        pieces.append(views.make_view(input, step, "SliceBackward0"))
    return tuple(pieces)


def tensor_split(
    input: Tensor,
    indices_or_sections: Sizes | None = None,
    dim: int = 0,
    *,
    indices: Sizes | None = None,
    sections: Sizes | None = None,
) -> tuple[Tensor, ...]:
    """Returns views of a given number of pieces of a dim, as equal as possible, or of the pieces between indices."""
    given = next((v for v in (indices_or_sections, indices, sections) if v is not None), None)
    if input.ndim == 0:
        raise DimError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    axis = views._axis(input, dim)
    if isinstance(given, Tensor):
        if not is_integral(given.dtype):
            raise ArgumentError(
                "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                f"{dtype_name(given.dtype)}"
            )
        if given.ndim > 1:
            raise ArgumentError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
                f"but got a tensor with {given.ndim} dims"
            )
        given = given.tolist()
    if isinstance(given, (tuple, list)):
        return _at(input, [as_int(i, "indices_or_sections") for i in given], axis)
    if given is None:
        raise ArgumentError("tensor_split() needs the number of pieces, or the indices between them.")
    pieces = as_int(given, "indices_or_sections")
    if pieces <= 0:
        raise ArgumentError(f"number of sections must be larger than 0, got {pieces}")
    size, more = divmod(input._layout.size[axis], pieces)
    bounds = [i * size + min(i, more) for i in range(1, pieces)]
    return _at(input, bounds, axis)


def _named_split(name: str, axis_of: Callable[..., Any], least: int) -> Any:
    def split_along(
        input: Tensor,
        indices_or_sections: Sizes | None = None,
        *,
        indices: Sizes | None = None,
        sections: Sizes | None = None,
    ) -> Any:
        given = next((v for v in (indices_or_sections, indices, sections) if v is not None), None)
        if input.ndim < least:
            raise ArgumentError(
                f"torch.{name} requires a tensor with at least {least} dimension{'s' * (least > 1)}, but got a tensor "
                f"with {input.ndim} dimensions!"
            )
        axis = axis_of(input)
        if isinstance(given, int) and (given <= 0 or input._layout.size[axis] % given):
            raise ArgumentError(
                f"torch.{name} attempted to split along dimension {axis}, but the size of the dimension "
                f"{input._layout.size[axis]} is not divisible by the split_size {given}!"
            )
        return tensor_split(input, given, axis)

    split_along.__name__ = split_along.__qualname__ = name
    split_along.__doc__ = "Returns views of equal pieces of a dim, or of the pieces between indices."
    return split_along


hsplit = _named_split("hsplit", lambda x: 0 if x.ndim == 1 else 1, 1)
vsplit = _named_split("vsplit", lambda x: 0, 2)
dsplit = _named_split("dsplit", lambda x: 2, 3)

SPLITS = {fn.__name__: fn for fn in (unbind, split, split_with_sizes, chunk, tensor_split, hsplit, vsplit, dsplit)} | {
    "unsafe_split": split,
    "unsafe_chunk": chunk,
    "unsafe_split_with_sizes": split_with_sizes,
}
"""Functions of `ja` and methods."""
