"""Objects that stand for work of this process: they are copied, and never pickled."""

from __future__ import annotations

import sys
from typing import Any, ClassVar, NoReturn, TypeVar

from jaxaot.errors import UnpicklableError

S = TypeVar("S")


def name_in_module(fn: Any) -> str | None:
    """Returns the name under which a module has something, by which pickle writes it; None if none has."""
    name: str = getattr(fn, "__qualname__", "")
    found: Any = sys.modules.get(fn.__module__)
    for part in name.split("."):
        found = getattr(found, part, None)
    return name if found is fn else None


def refuse_to_pickle(what: str, instead: str) -> NoReturn:
    """Raises the error for what holds graphs or executables, which are no data."""
    raise UnpicklableError(
        f"{what} cannot be pickled: its graphs and executables belong to this process. {instead} "
        "An object that holds one drops it in its `__getstate__`."
    )


class OfOneProcess:
    """A frozen stage: its copy is itself, as for a function, and pickling it says what to save in its place."""

    saved_by: ClassVar[str]
    """The advice of the error: a sentence or two."""

    def __copy__(self: S) -> S:
        return self

    def __deepcopy__(self: S, memo: Any) -> S:
        return self

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        refuse_to_pickle(f"{'An' if name[0] in 'AEIOU' else 'A'} `{name}`", self.saved_by)
