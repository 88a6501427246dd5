"""What changes nothing but speed may fail: then a graph stays as it was, and a log says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from jaxaot._logs import logger_of

T = TypeVar("T")

_log = logger_of("passes")
_said: set[tuple[str, type[Exception]]] = set()


def attempt(name: str, make: Callable[[], T], otherwise: T, must_succeed: bool = False) -> T:
    """Returns the result of a function, or a substitute if it raises; the error is logged.

    A warning of `jaxaot.passes` says what failed, once for each kind of failure; level debug has the traceback.

    Args:
      name: What failed then, in the words of the log.
      make: The function.
      otherwise: The result if it raises.
      must_succeed: Whether to raise as well: what `ja.config(check_graphs=True)` is for.
    """
    try:
        return make()
    except Exception as error:
        if must_succeed:
            raise
        if (name, type(error)) not in _said:
            _said.add((name, type(error)))
            _log.warning(
                "%s failed with %s: %s. The graph stays as it was: results are the same, the program may be slower. "
                "This is a defect of jaxaot; `ja.config(check_graphs=True)` raises the error.",
                name,
                type(error).__name__,
                error,
            )
        _log.debug("%s failed", name, exc_info=True)
        return otherwise
