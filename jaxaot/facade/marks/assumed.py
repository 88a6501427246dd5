"""What the user vouches for: objects that no call looks at again, functions that no graph contains."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from jaxaot.errors import TensorTypeError, VolatileError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.tape.modes import state

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_assumed: dict[int, Any] = {}
"""Id of each object that is assumed to be constant → itself, or a weak reference to it."""


def assume_constant(obj: T) -> T:
    """Returns an object, and has compiled functions take for granted that what it holds never changes.

    A call of a compiled function looks whether all that the function read of Python is as it was. What is reached
    through this object is left out: its attributes and items, those of the objects in it, and the code of its class.
    That it is this object is still looked at. Tensors in it may change; they are found anew at each call.

    Args:
      obj: A container, an object, a function or a class.

    Raises:
      TensorTypeError: If it is a tensor or a plain value, which is compared in no time.
    """

    if isinstance(obj, (Tensor, bool, int, float, complex, str, bytes, type(None))):
        raise TensorTypeError(
            f"`ja.compiler.assume_constant` takes a container, an object, a function or a class, and was given "
            f"{obj!r}. To make a number part of the program for good, write it into the function."
        )
    key = id(obj)
    try:
        _assumed[key] = weakref.ref(obj, lambda _: _assumed.pop(key, None))
    except TypeError:  # what cannot be referred to weakly, such as a list, is kept
        _assumed[key] = lambda: obj
    return obj


def is_assumed_constant(value: object) -> bool:
    """Returns whether the user vouches for an object."""
    held = _assumed.get(id(value))
    return held is not None and held() is value


@overload
def disable(fn: Callable[P, R], recursive: bool = True, *, reason: str | None = None) -> Callable[P, R]: ...
@overload
def disable(
    fn: None = None, recursive: bool = True, *, reason: str | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Returns `fn`, which no compiled function contains: it runs eagerly, once at each call.

    In a compiled function it is a break. Python runs the caller too, and what that does with tensors before, between
    and after such calls is compiled: operations wait until a value is needed, and run as one program. With
    `fullgraph=True` it is refused.

    Args:
      fn: The function; left out, a decorator is returned.
      recursive: Whether the functions that it calls are left out too; they are in either case, and compiled functions
        among them run their programs.
      reason: Why, for the warning.
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    name = getattr(fn, "__qualname__", type(fn).__name__)

    @functools.wraps(fn)
    def disabled(*args: Any, **kwargs: Any) -> Any:
        if state.trace is not None:
            because = f": {reason}" if reason else ""
            state.trace.stop("")  # as the user said
            raise VolatileError(
                f"`{name}` is called, which `ja.compiler.disable` keeps out of graphs{because}",
                "Leave out `fullgraph=True`, or compile the parts before and after it as functions of their own.",
            )
        recorder = state.recorder
        if recorder is None:
            return fn(*args, **kwargs)
        with recorder.paused():
            return fn(*args, **kwargs)

    return disabled


@disable
def graph_break(msg: str = "") -> None:
    """Ends the part of a compiled function that is one graph here; outside of one it does nothing.

    Args:
      msg: Why, for who reads it.
    """
