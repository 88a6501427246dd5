"""Names of subclasses in files: a class is found among those that a process has, and no file has a module imported."""

from __future__ import annotations

import importlib
from typing import Any

from jaxaot.errors import JaxaotError
from jaxaot.facade.subclass.subclass import SUBCLASSES

_OURS = "jaxaot.subclasses"


def place_of(cls: type) -> str:
    """Returns the name of a class in files."""
    return f"{cls.__module__}:{cls.__qualname__}"


def is_found_elsewhere(cls: type) -> bool:
    """Returns whether another process can have a class: it is not defined inside of a function."""
    return "<" not in place_of(cls)


def class_named(place: str, error: type[JaxaotError]) -> Any:
    """Returns the subclass of a name, which an import of the user's has defined, or which is one of our own."""
    module, _, name = place.partition(":")
    if module == _OURS or module.startswith(f"{_OURS}."):
        importlib.import_module(_OURS)
    found = next((cls for cls in SUBCLASSES if place_of(cls) == place), None)
    if found is None:
        raise error(
            f"The file holds a `{name}`, a subclass of `ja.Tensor` that this process does not have. Import it first: "
            f"`from {module} import {name.partition('.')[0]}`."
        )
    return found
