"""The modes that PyTorch's code sets, read where they count: gradients, autocast, hooks on saved tensors, seeds.

They are PyTorch's own, so `torch.no_grad()` around PyTorch's code is what it is anywhere. A function runs in them; one
that a compiled call traced guards what they were.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jaxaot.bridge.exchange import unwrapped
from jaxaot.bridge.library import DEVICE_TYPE, TO_JAX, torch
from jaxaot.bridge.tensor import IN_MODES, handle_of
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.generator import Generator, default_generator
from jaxaot.plan.members import READINGS
from jaxaot.tape.autocast import autocast
from jaxaot.tape.modes import state
from jaxaot.tape.saved_hooks import saved_tensors_hooks
from jaxaot.tracer.observe.noting import readers

_C = torch._C
_records = torch.is_grad_enabled
_casts = torch.is_autocast_enabled
_hooks: Callable[..., Any] = getattr(_C._autograd, "_top_saved_tensors_default_hooks", lambda _: None)
_seen_state: list[bytes] = [b""]


class _Hidden(threading.local):
    """Whether hooks on saved tensors are left to somebody else in this thread."""

    hooks = False


_hidden = _Hidden()


def _hooks_now() -> Any:
    return None if _hidden.hooks else _hooks(False)


@contextlib.contextmanager
def without_hooks() -> Iterator[None]:
    """Inside, jaxaot's tape is under no hooks on saved tensors: PyTorch's tape calls them."""
    before, _hidden.hooks = _hidden.hooks, True
    try:
        yield
    finally:
        _hidden.hooks = before


class Modes:
    """What stands in guards for the modes that PyTorch is in."""


MODES = Modes()
_PATH = (("root", "fn"), ("module", MODES))


def modes_now(_: object = None) -> tuple[Any, ...]:
    """Returns the modes that decide what a program is; looks at the seed of PyTorch's generator besides."""
    take_seed()
    dtype = torch.get_autocast_dtype(DEVICE_TYPE) if _casts(DEVICE_TYPE) else None
    return _records(), dtype, _hooks_now()


READINGS[Modes] = modes_now


def take_seed() -> None:
    """Begins the stream of a traced function's random numbers anew, if PyTorch's generator was used or seeded since."""
    with _C.DisableTorchFunction():
        now = torch.default_generator.get_state().numpy().tobytes()
        if now != _seen_state[0]:
            default_generator.position = _beginning(drawn_seed(None))
            _seen_state[0] = torch.default_generator.get_state().numpy().tobytes()


def _beginning(seed: int) -> tuple[int, np.ndarray, int]:
    """Returns where the stream of a seed begins."""
    trace, state.trace = state.trace, None
    try:
        return Generator().manual_seed(seed).position
    finally:
        state.trace = trace


def drawn_seed(generator: Any) -> int:
    """Returns a number that a generator of PyTorch's draws: all that is done to it decides what is drawn here."""
    with _C.DisableTorchFunction():
        return int(torch.empty((), dtype=torch.int64, device="cpu").random_(generator=generator))


def in_modes(handler: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns what a handler returns in the modes that PyTorch is in."""
    if state.trace is not None:
        for observer in readers():
            observer.reach((_PATH, MODES))  # type: ignore[attr-defined]
            observer.asked_of(MODES)  # type: ignore[attr-defined]
    hooks = _hooks_now()
    if _records() and hooks is None and not _casts(DEVICE_TYPE):
        return handler(*args, **kwargs)
    with contextlib.ExitStack() as stack:
        if not _records():
            stack.enter_context(recording(False))
        if _casts(DEVICE_TYPE):
            stack.enter_context(autocast(dtype=TO_JAX[torch.get_autocast_dtype(DEVICE_TYPE)]))
        if hooks is not None and state.grad_enabled:
            stack.enter_context(_hooks_of(*hooks))
        return handler(*args, **kwargs)


IN_MODES.append(in_modes)


def called_back(function: Callable[..., Any], *args: Any) -> Any:
    """Returns what a function of the user's returns in a backward: PyTorch's mode is jaxaot's, until it sets it."""
    with torch.set_grad_enabled(state.grad_enabled), recording(True):
        return function(*args)


def _hooks_of(pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Any:
    def packed(tensor: Any) -> Any:
        with torch.no_grad():  # what a pack hook computes is not packed
            return pack(handle_of(tensor))

    return saved_tensors_hooks(packed, lambda found: unwrapped(called_back(unpack, found)))
