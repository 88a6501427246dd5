"""A functionalized function on tensors: it runs as a pure one, and what it wrote to its arguments is copied back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxaot.tracer.pure import run_pure
from jaxaot.transforms.call_as_op import call_on_tensors
from jaxaot.transforms.writes import Writes


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

    def finish(arguments: Sequence[Any], result: object) -> Any:
        return result, writes.note(arguments)

    def pure(*args: object, **kwargs: Any) -> Any:
        return run_pure(fn, args, kwargs, transforms=True, is_functionalized=True, finish=finish)

    result, after = call_on_tensors(pure, args, kwargs)
    writes.carry_out(jax.tree.leaves((args, kwargs), is_leaf=lambda leaf: leaf is None), after)
    return result
