"""Whether a symbolic number is formatted only to be printed or logged: a program is not one for that text alone.

`print` and logging run when a function is traced, so what they show does not depend on later calls. Text that goes
anywhere else is that of one value.
"""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import itertools
import linecache
import logging
import sys
import types
from collections.abc import Iterator
from typing import Any

from jaxaot.facade.memory.source_line import is_users_file

_FORMATTING = ("FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "FORMAT_VALUE", "CONVERT_VALUE")
_LOGGING = ("debug", "info", "warning", "error", "critical", "exception", "log")


def is_logged() -> bool:
    """Returns whether logging asks for a number, to put it into a message."""
    return any(map(_is_of_logging, _library_frames()))


def is_only_shown() -> bool:
    """Returns whether a number is formatted for `print` or logging, as in `print(f"step {n}")`."""
    frames = list(_library_frames())
    user = frames[-1].f_back
    return any(map(_is_of_logging, frames)) or (user is not None and _is_part_of_a_message(user))


def _library_frames() -> Iterator[types.FrameType]:
    """Yields the frames between the caller's caller and the user's that is running."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and (not is_users_file(frame.f_code.co_filename) or _is_of_logging(frame)):
        yield frame
        frame = frame.f_back


def _is_of_logging(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename == logging.__file__


def _is_part_of_a_message(frame: types.FrameType) -> bool:
    """Returns whether what a frame does now is to fill a field of an f-string that is an argument of such a call."""
    instruction = next((line for line in dis.get_instructions(frame.f_code) if line.offset == frame.f_lasti), None)
    if instruction is None or instruction.opname not in _FORMATTING:
        return False
    place = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    path = frame.f_code.co_filename
    tree = _tree(path, "".join(linecache.getlines(path, frame.f_globals)))
    if tree is None or place is None or None in place:
        return False
    start, end = (place[0], place[2]), (place[1], place[3])
    around = list(_around(tree, start, end))
    for call, text in itertools.pairwise(around):
        if isinstance(call, ast.Call) and isinstance(text, ast.JoinedStr) and text in call.args:
            fields = (field.value for field in text.values if isinstance(field, ast.FormattedValue))
            is_nested = any(isinstance(node, ast.JoinedStr) for field in fields for node in ast.walk(field))
            return not is_nested and _shows(call.func, frame)
    return False


@functools.lru_cache(maxsize=64)
def _tree(path: str, source: str) -> ast.Module | None:
    try:
        return ast.parse(source, path)
    except (SyntaxError, ValueError):
        return None


def _around(node: ast.AST, start: tuple[object, object], end: tuple[object, object]) -> Iterator[ast.AST]:
    """Yields the nodes that contain a part of the source, the outermost first."""
    found: ast.AST | None = node
    while found is not None:
        yield found
        found = next((child for child in ast.iter_child_nodes(found) if _covers(child, start, end)), None)


def _covers(node: Any, start: tuple[object, object], end: tuple[object, object]) -> bool:
    if hasattr(node, "lineno"):
        return (node.lineno, node.col_offset) <= start and end <= (node.end_lineno, node.end_col_offset)
    return any(_covers(child, start, end) for child in ast.iter_child_nodes(node))


def _shows(fn: ast.expr, frame: types.FrameType) -> bool:
    """Returns whether a function that is called is `print`, or a method that logs."""
    if isinstance(fn, ast.Name):
        return fn.id == "print" and "print" not in frame.f_locals and _global(frame, "print") is print
    if not isinstance(fn, ast.Attribute) or fn.attr not in _LOGGING:
        return False
    names, value = [], fn.value
    while isinstance(value, ast.Attribute):
        names.append(value.attr)
        value = value.value
    if not isinstance(value, ast.Name):
        return False
    held = frame.f_locals[value.id] if value.id in frame.f_locals else _global(frame, value.id)
    for name in reversed(names):
        held = getattr(held, "__dict__", {}).get(name)
    return held is logging or isinstance(held, logging.Logger)


def _global(frame: types.FrameType, name: str) -> object:
    found = frame.f_globals.get(name, getattr(builtins, name, None))
    return print if found is not None and getattr(found, "stands_for", None) is print else found
