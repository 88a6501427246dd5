"""Whose code and objects are whose: Python's, JAX's, NumPy's and jaxaot's own, of other libraries, and the user's.

Python, JAX, NumPy and jaxaot are not looked into at all. The code of other libraries is trusted not to change; their
objects are state like any other.
"""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
import types

import jaxaot.settings
from jaxaot.facade.cells.cells import OPEN, members_of

_CORE = frozenset({"jax", "jaxlib", "numpy", "ml_dtypes", "jaxaot"})
_OWN = os.path.dirname(jaxaot.settings.__file__)
_OUTSIDE = tuple(
    f"{folder}{os.sep}" for folder in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), _OWN}
)
_DEMO = f"{_OWN}{os.sep}demo{os.sep}"
_INSTALLED = ("site-packages", "dist-packages")


def package_of(module: str | None) -> str:
    """Returns the name of the package that a module is in."""
    return (module or "").partition(".")[0]


@functools.lru_cache(maxsize=8192)
def is_foreign(module: str | None) -> bool:
    """Returns whether a module is of Python, JAX, NumPy or jaxaot, and nothing that users make and change."""
    if not isinstance(module, str):
        return False
    root = package_of(module)
    if root in _CORE:
        return not module.startswith(OPEN)
    return root in sys.stdlib_module_names and root != "__main__" and _is_of_python(root)


def _is_of_python(name: str) -> bool:
    """Returns whether a module by the name of one of Python's is that one: a script may be called `statistics.py`."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or os.path.dirname(os.__file__) in file


def module_of(cls: type) -> str | None:
    """Returns the module that a class says it is of; None if it says that in a way of its own."""
    found = type.__getattribute__(cls, "__module__")
    return found if isinstance(found, str) else None


def is_foreign_class(cls: type) -> bool:
    """Returns whether a class is of such a module.

    One that is made by `exec` in a scope without `__name__` says that it is built in.
    """
    return is_foreign(module_of(cls)) and members_of(cls).get("__module__") != "builtins"


def is_pythons(cls: type) -> bool:
    """Returns whether a class is of Python's library, but none that is built in."""
    package = package_of(module_of(cls))
    return package in sys.stdlib_module_names and package != "builtins"


def is_librarys(fn: types.FunctionType) -> bool:
    """Returns whether a function is of such a module, whatever module `functools.wraps` says that it is of."""
    return is_foreign(fn.__globals__.get("__name__"))


@functools.lru_cache(maxsize=8192)
def is_installed(module: str | None) -> bool:
    """Returns whether a module was installed, rather than written where it stands."""
    file = getattr(sys.modules.get(module or ""), "__file__", None) or ""
    return any(part in file for part in _INSTALLED)


@functools.lru_cache(maxsize=8192)
def is_users(filename: str) -> bool:
    """Returns whether a file holds code of the user's, rather than of a library."""
    if filename.startswith(_DEMO):
        return True
    is_others = filename.startswith(("<frozen", "<jaxaot", *_OUTSIDE))
    return not is_others and not any(part in filename for part in _INSTALLED)


def is_core(filename: str) -> bool:
    """Returns whether a file holds code of Python's or jaxaot's."""
    return filename.startswith(_OUTSIDE) and not is_users(filename)


@functools.lru_cache(maxsize=8192)
def is_looked_at(filename: str) -> bool:
    """Returns whether a file holds code of the user's, or of a library beside Python, JAX, NumPy and jaxaot."""
    if is_users(filename):
        return True
    parts = filename.split(os.sep)
    folder = next((i for i, part in enumerate(parts) if part in _INSTALLED), None)
    return folder is not None and folder + 1 < len(parts) and parts[folder + 1] not in _CORE


def users_line(frame: types.FrameType | None) -> tuple[str, int] | None:
    """Returns the file and line of the innermost frame that runs code of the user's; None if none does."""
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
