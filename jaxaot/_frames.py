"""Tracebacks as users read them: without the frames of jaxaot and JAX between their own.

`jax.config.update("jax_traceback_filtering", "off")`, or `JAX_TRACEBACK_FILTERING=off` in the environment, shows all
frames, as it does for JAX's own.
"""

from __future__ import annotations

import contextlib
import os
import re
import types
from pathlib import Path

import jax

_ROOT = f"{Path(__file__).parent}{os.sep}"
_SHOWN = tuple(f"{_ROOT}{room}{os.sep}" for room in (f"nn{os.sep}modules", "optim", "demo"))
"""What users call by layers, where the frames say which one it was."""
_HIDDEN = (_ROOT, f"{Path(jax.__file__).parent}{os.sep}", f"{Path(contextlib.__file__)}")
_WRITE = re.compile(r"Tracer has no attribute ([a-z]\w*_)$")
"""What JAX says of a write in place to an array, such as `x.add_(1)`."""
_TAKES_WRITES = "`ja.compile(fn)(ja.interop.from_jax(x))`"
_OTHER_DEVICES = re.compile("Received incompatible devices for jitted computation|is incompatible with mesh_shape=")
"""What JAX says of operands over other devices, and of some results of operands on two meshes."""
_ONE_MESH = "What meets in one operation or program lies on one mesh"
_NOTE = "For simplicity, JAX has removed its internal frames"


def without_own_frames(error: Exception) -> Exception:
    """Returns an exception whose traceback has no frames of jaxaot, to be raised by the outermost call.

    If there are none but such, those of an error that jaxaot raised on purpose go, and those of any other stay.
    """
    _explain_write(error)
    explain_devices(error)
    if jax.config.jax_traceback_filtering == "off":
        return error
    frames, traceback = [], error.__traceback__
    while traceback is not None:
        if not _is_own(traceback.tb_frame.f_code.co_filename):
            frames.append(traceback)
        traceback = traceback.tb_next
    if not frames and not type(error).__module__.startswith("jaxaot."):
        return error
    kept: types.TracebackType | None = None
    for traceback in reversed(frames):
        kept = types.TracebackType(kept, traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno)
    notes = getattr(error, "__notes__", [])
    if any(_NOTE in note for note in notes):
        error.__notes__ = [note for note in notes if _NOTE not in note and set(note) != {"-"}]
    return error.with_traceback(kept)


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
    return file.startswith("<jaxaot") or (file.startswith(_HIDDEN) and not file.startswith(_SHOWN))
