"""Backwards in backwards, any number deep: each few run in a thread of their own, whose stack is empty.

A Function's backward may run a backward, whose Functions run others. Python's stack would end after some dozens.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import jax

from jaxaot.tape.modes import state
from jaxaot.tape.threads import threads

_Result = TypeVar("_Result")


def in_thread_of_its_own(run: Callable[[], _Result]) -> _Result:
    """Returns what a function does in a new thread, with the modes of this one, which waits.

    Of settings of JAX that hold in a thread only the width of numbers is taken along.
    """
    own, is_wide = vars(state), jax.config.jax_enable_x64
    returned: list[Any] = []
    raised: list[BaseException] = []

    def inner() -> None:
        with threads.standing_in():
            modes = vars(state)
            modes.update(own)
            try:
                with jax.enable_x64(is_wide):
                    returned.append(run())
            except BaseException as error:
                raised.append(error)
            own.update(modes)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(inner,))
    thread.start()
    try:
        thread.join()
    except BaseException:  # interrupted: it uses the same tensors, so it has to end first
        thread.join()
        raise
    if raised:
        raise raised[0]
    return returned[0]
