"""Random numbers: a generator is a seed and an offset; each draw takes the key of the next offset.

Eager and compiled programs draw the same keys in the same order, so they give the same numbers. In a graph, seed and
offset are inputs, and the runtime advances the offset afterwards.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np

from jaxaot.autograd.modes import state


class Generator:
    """A stream of random keys (`torch.Generator`)."""

    def __init__(self, device: Any = None):
        self.device = device
        self.seed_value = 0
        self.offset = 0
        self._words = np.zeros(2, np.uint32)
        self.manual_seed(67280421310721)  # PyTorch's default seed

    def manual_seed(self, seed: int) -> Generator:
        """Starts the stream of `seed` from its beginning."""
        seed = int(seed) & 0xFFFFFFFFFFFFFFFF
        self.seed_value = seed
        self.offset = 0
        self._words = np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32)
        return self

    def initial_seed(self) -> int:
        """Returns the seed."""
        return self.seed_value

    def seed(self) -> int:
        """Starts the stream of a seed from the operating system, and returns the seed."""
        return self.manual_seed(secrets.randbits(63)).seed_value

    def get_state(self) -> tuple[int, int]:
        """Returns what `set_state` takes to continue from here."""
        return self.seed_value, self.offset

    def set_state(self, state: tuple[int, int]) -> None:
        """Continues from a state that `get_state` returned."""
        self.manual_seed(state[0])
        self.offset = state[1]

    def offset_word(self) -> np.uint32:
        """Returns the offset as a graph takes it."""
        return np.uint32(self.offset & 0xFFFFFFFF)

    def draw(self) -> Any:
        """Returns the next key: in a trace a symbol, eagerly the words (seed, seed, offset) that a kernel folds."""
        if state.trace is not None:
            return state.trace.draw(self)
        offset = self.offset
        self.offset = offset + 1
        return np.array([self._words[0], self._words[1], offset], np.uint32)


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Starts the default generator's stream of `seed`."""
    return default_generator.manual_seed(seed)


def initial_seed() -> int:
    """Returns the default generator's seed."""
    return default_generator.initial_seed()


def get_rng_state() -> tuple[int, int]:
    """Returns the default generator's state."""
    return default_generator.get_state()


def set_rng_state(state: tuple[int, int]) -> None:
    """Sets the default generator's state."""
    default_generator.set_state(state)


@contextlib.contextmanager
def fork_rng() -> Iterator[None]:
    """Restores the default generator's state after the block."""
    before = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(before)
