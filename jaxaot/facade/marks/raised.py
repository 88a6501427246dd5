"""What a traced function raises: whether it is the function that does, or the trace of it."""

from __future__ import annotations

import contextvars
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from jaxaot.errors import AutogradError, CompilerError, TraceError


def run_traced(
    fn: Callable[..., Any], args: Sequence[object], kwargs: Mapping[str, object], context: contextvars.Context | None
) -> Any:
    """Returns `fn(*args, **kwargs)`, run in a context if there is one; for `is_of_function`."""
    return fn(*args, **kwargs) if context is None else context.run(fn, *args, **kwargs)


def run_handler(handler: Callable[[int, Any], Any], number: int, frame: types.FrameType | None) -> Any:
    """Returns what a handler of a signal returns; for `is_of_function`."""
    return handler(number, frame)


def is_of_function(error: BaseException) -> bool:
    """Returns whether a traced function raised an exception: one of its own, or of JAX where it asks for a value."""
    if isinstance(error, (TraceError, CompilerError, AutogradError, jax.errors.UnexpectedTracerError)):
        return False
    traceback, is_found = error.__traceback__, False
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code is run_handler.__code__:  # a handler raised, which comes at any time and only once
            return False
        is_found = is_found or code is run_traced.__code__
        traceback = traceback.tb_next
    return is_found


class OnMeta(Exception):
    """A call reaches tensors without values: there is nothing to compile for it, and the function itself is run.

    Attributes:
      traced: The call.
    """

    def __init__(self, traced: Any):
        super().__init__("tensors on the device `meta` have no values: there is nothing to compile for them")
        self.traced = traced


def require_values(traced: Any) -> Any:
    """Returns a traced call, all of whose tensors have values.

    Raises:
      OnMeta: If some have none.
    """
    if traced.is_abstract:
        raise OnMeta(traced)
    return traced
