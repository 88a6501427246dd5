"""What takes a function says so when it is given something else; what is called has the name that the user wrote."""

from __future__ import annotations

import types

from jaxaot.errors import TensorTypeError


def require_function(fn: object, name: str, usage: str) -> None:
    """Raises unless something can be called.

    Args:
      fn: What was given as a function.
      name: What it was given to, for the message.
      usage: A call of that with a function `f`.

    Raises:
      TensorTypeError: If it cannot.
    """
    if not callable(fn):
        raise TensorTypeError(
            f"`{name}` takes a function, and was given {fn!r}. Write `{usage}` with the function itself, not what it "
            "returned."
        )


def name_init(cls: type) -> None:
    """Gives a class that has the `__init__` of a hidden one a copy of it: Python's errors name whose it is."""
    owner = next(base for base in cls.__mro__ if "__init__" in vars(base))
    init = vars(owner)["__init__"]
    if owner is cls or not owner.__name__.startswith("_") or not isinstance(init, types.FunctionType):
        return
    made = types.FunctionType(init.__code__, init.__globals__, "__init__", init.__defaults__, init.__closure__)
    made.__kwdefaults__, made.__doc__, made.__annotations__ = init.__kwdefaults__, init.__doc__, init.__annotations__
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    cls.__init__ = made  # type: ignore[misc]
