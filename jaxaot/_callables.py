"""What takes a function says so when it is given something else."""

from __future__ import annotations

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
