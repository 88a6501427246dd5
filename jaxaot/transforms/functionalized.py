"""A functionalized function on tensors: it runs as a pure one, and what it wrote to its arguments is copied back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxaot import _trees as pytree
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.view_ops.strided import empty_strided
from jaxaot.tracer.bodies.pure import run_pure
from jaxaot.transforms.call_as_op import call_on_tensors
from jaxaot.transforms.writes import Writes
from jaxaot.views.layout import Layout


def call_functionalized(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns the result of a function of tensors, as tensors; its arguments are written as if it had been called.

    Args:
      fn: The function.
      args: Its arguments.
      kwargs: Its keyword arguments.

    Raises:
      TraceError: If it changes a tensor that it was not passed.
    """
    writes = Writes()
    layouts: list[Layout | None] = []

    def finish(arguments: Sequence[Any], result: object) -> Any:
        layouts[:] = [x._layout if isinstance(x, Tensor) else None for x in pytree.leaves(result)]
        return result, writes.note(arguments)

    def pure(*args: object, **kwargs: Any) -> Any:
        return run_pure(fn, args, kwargs, transforms=True, is_functionalized=True, finish=finish)

    result, after = call_on_tensors(pure, args, kwargs)
    writes.carry_out(pytree.leaves((args, kwargs), is_leaf=lambda leaf: leaf is None), after)
    leaves, tree = pytree.flatten(result)
    return pytree.unflatten(tree, [_laid_out(x, layout) for x, layout in zip(leaves, layouts, strict=True)])


def _laid_out(value: Any, layout: Layout | None) -> Any:
    """Returns a result with the strides that the function gave it; values alone came back, which have none.

    What shows a place of memory several times, as `x.expand(3, 4)` does, stays as it is: dense.
    """
    if layout is None or not isinstance(value, Tensor) or layout.is_contiguous or layout.is_overlapping:
        return value
    return empty_strided(layout.size, layout.stride, dtype=layout.dtype).copy_(value)
