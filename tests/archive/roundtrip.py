"""A function through an archive and back."""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import jaxaot as ja


def archived(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Returns the function that comes out of an archive of `fn`."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "f.jaxaot"
        ja.export(fn, *args, **kwargs).save(path)
        return ja.load(path)
