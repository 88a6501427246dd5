"""What takes more than two seconds says on the last line of the terminal what is done, and for how long already.

It is silent where stderr is no terminal, as in logs and notebooks, and under `ja.config(progress=False)`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

from jaxaot.settings import get

_AFTER, _EVERY = 2.0, 0.5
"""Seconds until the line appears, and between two of it."""
_CLEAR = "\x1b[2K"


class _Steps(threading.local):
    """What a thread is doing, the largest first."""

    def __init__(self) -> None:
        self.names: list[str] = []


_steps = _Steps()


@contextlib.contextmanager
def working(on: str) -> Iterator[None]:
    """Says that something is done, as a part of what is done around it.

    Args:
      on: What, such as `` "tracing `step`" ``.
    """
    names, stream = _steps.names, sys.stderr
    is_first, done, line = not names, threading.Event(), None
    if is_first and not (get().progress and _is_terminal(stream)):
        yield
        return
    names.append(on)
    if is_first:
        line = threading.Thread(target=_show, args=(names, stream, done), name="jaxaot progress", daemon=True)
        line.start()
    try:
        yield
    finally:
        names.pop()
        if line is not None:
            done.set()
            line.join()


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty() and os.environ.get("TERM") != "dumb"


def _show(names: list[str], stream: TextIO, done: threading.Event) -> None:
    """Writes the line again and again until all is done, and then clears it; the cursor stays at its beginning."""
    start, pause = time.monotonic(), _AFTER
    with contextlib.suppress(OSError, ValueError):  # the terminal may go away
        while not done.wait(pause):
            pause = _EVERY
            line = f"jaxaot, {time.monotonic() - start:.0f} s: {', '.join(names)}"
            stream.write(f"{_CLEAR}{line[: shutil.get_terminal_size().columns - 1]}\r")
            stream.flush()
        if pause != _AFTER:
            stream.write(_CLEAR)
            stream.flush()
