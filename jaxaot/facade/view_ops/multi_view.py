"""Views of several tensors at once: `atleast_1d`, `broadcast_tensors`, `meshgrid`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxaot.errors import ArgumentError, DtypeError, ShapeMismatchError, TensorTypeError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.view_ops import views
from jaxaot.ops.dims import broadcast_shapes


def atleast_1d(*tensors: Any) -> Any:
    """Returns tensors with at least one dim; views of those with fewer."""
    return _each(tensors, lambda x: views.reshape(x, 1) if x.ndim == 0 else x)


def atleast_2d(*tensors: Any) -> Any:
    """Returns tensors with at least two dims, new ones in front; views of those with fewer."""
    return _each(
        tensors, lambda x: views.reshape(x, 1, 1) if x.ndim == 0 else views.unsqueeze(x, 0) if x.ndim == 1 else x
    )


def atleast_3d(*tensors: Any) -> Any:
    """Returns tensors with at least three dims, views of those with fewer: (n,) becomes (1, n, 1), (m, n) (m, n, 1)."""

    def widened(x: Tensor) -> Tensor:
        if x.ndim == 0:
            return views.reshape(x, 1, 1, 1)
        if x.ndim == 1:
            return views.unsqueeze(views.unsqueeze(x, 0), -1)
        return views.unsqueeze(x, -1) if x.ndim == 2 else x

    return _each(tensors, widened)


def _each(tensors: tuple[Any, ...], fn: Callable[[Tensor], Tensor]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return fn(tensors[0])
    if len(tensors) == 1:
        tensors = tuple(tensors[0])
    return tuple(fn(x) for x in tensors)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Returns tensors expanded to their common shape, as views."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    size = broadcast_shapes(*(tuple(x.shape) for x in tensors))
    return tuple(views.expand(x, size) for x in tensors)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Returns each vector expanded along the dims of the others, as views.

    Args:
      *tensors: 1-D or 0-D tensors of one dtype, or a list of them.
      indexing: `"ij"`, the default: dim i belongs to tensor i; `"xy"`: the first two dims change places.
    """
    lines = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else list(tensors)
    if not lines:
        raise ArgumentError("meshgrid expects a non-empty TensorList")
    for i, line in enumerate(lines):
        if not isinstance(line, Tensor):
            raise TensorTypeError(f"meshgrid(): expected Tensor as element {i}, but got {type(line).__name__}")
    if indexing not in (None, "ij", "xy"):
        raise ArgumentError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if any(x.ndim > 1 for x in lines):
        shown = [list(x.shape) for x in lines]
        raise ShapeMismatchError(f"torch.meshgrid: Expect 0D or 1D tensors in the tensor list but got sizes {shown}")
    if any(x.dtype != lines[0].dtype for x in lines):
        raise DtypeError("torch.meshgrid expects all tensors to have the same dtype")
    swaps = indexing == "xy" and len(lines) >= 2
    if swaps:
        lines[:2] = lines[1::-1]
    size = tuple(x.numel() for x in lines)
    around = [tuple(-1 if i == dim else 1 for i in range(len(size))) for dim in range(len(size))]
    grids = [views.expand(views.view(x, shape), size) for x, shape in zip(lines, around, strict=True)]
    if swaps:
        grids[:2] = grids[1::-1]
    return tuple(grids)


FUNCTIONS = {fn.__name__: fn for fn in (atleast_1d, atleast_2d, atleast_3d, broadcast_tensors, meshgrid)}
"""View ops that are functions only."""
