"""Tracebacks as users read them: the last line is theirs, and then comes the message.

Public calls drop jaxaot's and JAX's frames between those of the user (`without_own_frames`). What is left of them goes
where an uncaught error is shown (`only_users_frames`): by Python in a terminal, by IPython in a notebook. The error
itself keeps it, for debuggers. `JAXAOT_TRACEBACK=full` in the environment shows all frames, as does JAX's own setting,
`jax.config.update("jax_traceback_filtering", "off")`.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import traceback as tracebacks
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax

_ROOT = f"{Path(__file__).parent}{os.sep}"
_SHOWN = tuple(f"{_ROOT}{room}{os.sep}" for room in (f"nn{os.sep}modules", "demo"))
"""What users call by layers, where the frames say which one it was."""
_HIDDEN = (_ROOT, f"{Path(jax.__file__).parent}{os.sep}", f"{Path(contextlib.__file__)}")
_WRITE = re.compile(r"Tracer has no attribute ([a-z]\w*_)$")
"""What JAX says of a write in place to an array, such as `x.add_(1)`."""
_TAKES_WRITES = "`ja.compile(fn)(ja.interop.from_jax(x))`"
_OTHER_DEVICES = re.compile("Received incompatible devices for jitted computation|is incompatible with mesh_shape=")
"""What JAX says of operands over other devices, and of some results of operands on two meshes."""
_ONE_MESH = "What meets in one operation or program lies on one mesh"
_NOTE = "For simplicity, JAX has removed its internal frames"


def _shows_all() -> bool:
    return os.environ.get("JAXAOT_TRACEBACK") == "full" or jax.config.jax_traceback_filtering == "off"


def without_own_frames(error: Exception) -> Exception:
    """Returns an exception whose traceback has no frames of jaxaot, to be raised by the outermost call.

    If there are none but such, those of an error that jaxaot raised on purpose go, and those of any other stay. The
    frames of jaxaot that called are marked as IPython and pytest have it: they leave them out.
    """
    _explain_write(error)
    explain_devices(error)
    if _shows_all():
        return error
    caller: types.FrameType | None = sys._getframe(1)
    while caller is not None and _is_own(caller.f_code.co_filename):
        caller.f_locals["__tracebackhide__"] = True
        caller = caller.f_back
    frames = [one for one in _entries(error) if not _is_own(one.tb_frame.f_code.co_filename)]
    if not frames and not _is_on_purpose(error):
        return error
    _drop_note(error)
    return error.with_traceback(_chained(frames))


@contextlib.contextmanager
def only_users_frames(error: BaseException) -> Iterator[None]:
    """While it lasts, an exception and what it came from have tracebacks that end where the user's code does.

    What lies behind the user's last frame stays in an error that was not raised on purpose: it may be a defect of ours.
    """
    before: dict[int, tuple[BaseException, types.TracebackType | None]] = {}
    pending: list[BaseException | None] = [] if _shows_all() else [error]
    while pending:
        one = pending.pop()
        if one is None or id(one) in before:
            continue
        before[id(one)] = one, one.__traceback__
        pending += one.__cause__, one.__context__
        entries = _entries(one)
        is_own = [_is_own(entry.tb_frame.f_code.co_filename) for entry in entries]
        last = max((i for i, own in enumerate(is_own) if not own), default=-1)
        n_left = len(entries) if _is_on_purpose(one) else last
        kept = [entry for i, entry in enumerate(entries) if i > n_left or not is_own[i]]
        if kept:
            one.__traceback__ = _chained(kept)
            _drop_note(one)
    try:
        yield
    finally:
        for one, traceback in before.values():
            one.__traceback__ = traceback


def show_users_frames() -> None:
    """Has Python show uncaught errors by `only_users_frames`, and then as it would have."""
    show, show_of_thread = sys.excepthook, threading.excepthook

    def shown(kind: type[BaseException], error: BaseException, traceback: types.TracebackType | None) -> None:
        with only_users_frames(error):
            show(kind, error, error.__traceback__)

    def shown_of_thread(args: threading.ExceptHookArgs) -> None:
        with only_users_frames(args.exc_value) if args.exc_value else contextlib.nullcontext():
            show_of_thread(args)

    sys.excepthook, threading.excepthook = shown, shown_of_thread


def rendered(error: BaseException) -> list[str]:
    """Returns the lines that IPython shows of an error: as it would, with the user's frames alone."""
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    with only_users_frames(error):
        if shell is None:
            return tracebacks.format_exception(error)
        return shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__)


def _entries(error: BaseException) -> list[types.TracebackType]:
    found, traceback = [], error.__traceback__
    while traceback is not None:
        found.append(traceback)
        traceback = traceback.tb_next
    return found


def _chained(entries: list[types.TracebackType]) -> types.TracebackType | None:
    made: types.TracebackType | None = None
    for entry in reversed(entries):
        made = types.TracebackType(made, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return made


def _is_on_purpose(error: BaseException) -> bool:
    return type(error).__module__.startswith("jaxaot.")


def _drop_note(error: BaseException) -> None:
    """Takes out what JAX says of the frames that it removed."""
    notes = getattr(error, "__notes__", [])
    if any(_NOTE in note for note in notes):
        error.__notes__ = [note for note in notes if _NOTE not in note and set(note) != {"-"}]


def _explain_write(error: Exception) -> None:
    """Adds what to write to the error of an array that was written in place, as only tensors are."""
    found = _WRITE.search(str(error)) if isinstance(error, AttributeError) else None
    if found and not any(_TAKES_WRITES in note for note in getattr(error, "__notes__", [])):
        error.add_note(
            f"Arrays of JAX have no `{found[1]}`: they are not written in place. A function that writes takes tensors, "
            f"{_TAKES_WRITES}; `ja.func.functionalize(fn)` is one of arrays."
        )


def explain_devices(error: Exception) -> None:
    """Adds what to write to the error of values that lie over different devices, or on meshes that differ."""
    is_meant = isinstance(error, ValueError) and _OTHER_DEVICES.search(str(error))
    if is_meant and not any(_ONE_MESH in note for note in getattr(error, "__notes__", [])):
        error.add_note(
            f"{_ONE_MESH}, or on one device. Move a tensor by `x.redistribute(mesh, placements)` with the mesh of the "
            "others; an array by `jax.device_put(x, sharding)`."
        )


def _is_own(file: str) -> bool:
    return file.startswith("<jaxaot") or (
        file.startswith(_HIDDEN) and (not file.startswith(_SHOWN) or file.endswith("module.py"))
    )
