"""Finds the user's line: the innermost frame outside jaxaot and jax."""

from __future__ import annotations

import contextlib
import functools
import linecache
import os
import sys
import warnings

from jaxaot._jax import OWN_PATHS

_PROMPTS = ("<stdin>", "<string>", "<console>", "<input>", "<python-input-", "<ipython-input-", "<doctest ")
"""How the names of what is typed at a prompt, or given to `python -c`, begin."""

_LIBRARY = (contextlib.__file__, functools.__file__)
"""What stands between a user's line and a decorated function of jaxaot's."""

_SKIPPED = (*OWN_PATHS, os.sep + "jax" + os.sep, os.sep + "jaxlib" + os.sep, *_LIBRARY)


def with_source(place: str) -> str:
    """Returns `file:line` with what is written there."""
    path, _, number = place.rpartition(":")
    return f"{place}  {linecache.getline(path, int(number)).strip()}".rstrip() if number.isdigit() else place


def user_line() -> str:
    """Returns `file:line  source` of the user's code that is running."""
    frame = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if is_users_file(path):
            source = linecache.getline(path, frame.f_lineno).strip()
            return f"{path}:{frame.f_lineno}  {source}".rstrip()
        frame = frame.f_back
    return "<unknown line>"


def raising_line(error: BaseException) -> str:
    """Returns `file:line  source` of the innermost line of the user's that an exception came through; "" for none."""
    traceback, found = error.__traceback__, ""
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        if is_users_file(path):
            found = with_source(f"{path}:{traceback.tb_lineno}")
        traceback = traceback.tb_next
    return found


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns, as of the user's line that is running."""
    frame, level = sys._getframe(1), 2
    while frame is not None and not is_users_file(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def is_users_file(path: str) -> bool:
    """Returns whether a file, by the name that code has of it, is none of jaxaot's and JAX's."""
    if path.startswith("<"):  # generated code, or a prompt
        return path.startswith(_PROMPTS)
    return not any(part in path for part in _SKIPPED)
