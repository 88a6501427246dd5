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


WITHOUT_SOURCE = """
import sys
class Blocked:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("flax", "torch", "tests"):
            raise ImportError(name)
sys.meta_path.insert(0, Blocked())
import jaxaot as ja
"""
"""Begins a program that finds neither the tests, which hold the source, nor flax."""
