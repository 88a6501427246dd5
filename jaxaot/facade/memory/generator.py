"""Random numbers: a generator is a seed and an offset; each draw takes the key of the next offset.

Eager and compiled programs draw the same keys in the same order, so they give the same numbers. In a graph, seed and
offset are inputs, and the runtime advances the offset afterwards.

How much a branch or a loop draws may depend on values. So `cond`, `while_loop`, `scan` and `map` take one key each, and
what they run draws from *streams of its own*: a branch or an iteration begins a stream whose seed is that key folded
with the number of the iteration. Afterwards the generator goes on where it was.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, TensorTypeError, TensorValueError, TraceError
from jaxaot.tape.modes import state


class Position(NamedTuple):
    """Where a generator stands while a function is traced.

    Attributes:
      seed: The seed that the function gave it; None for the stream that it had before.
      words: That seed as a graph takes it.
      n: How many keys were taken since, or since before the function.
    """

    seed: int | None
    words: np.ndarray | None
    n: int

    @property
    def key(self) -> Array:
        """The key that is taken here, of a seed of the function's own."""
        assert self.words is not None, "the stream from before is an input of the graph"
        return jax.random.fold_in(jnp.asarray(self.words), jnp.uint32(self.n & 0xFFFFFFFF))


class TracedState(tuple[Any, ...]):
    """The state of a generator in a trace, as `get_state` returns it: the stream from before the function goes on.

    Attributes:
      generator: Whose it is.
      position: Where that stands.
    """

    generator: Generator
    position: Position


DRAWING = threading.RLock()
"""Held while draws are taken, so that two threads never take the same."""


class Generator:
    """A stream of random keys (`torch.Generator`)."""

    def __init__(self, device: object = None):
        self.device = device
        self._begin(*_stream_of(67280421310721))  # PyTorch's default seed
        if state.trace is not None:
            state.trace.move(self, Position(*_stream_of(67280421310721)))

    def manual_seed(self, seed: int) -> Generator:
        """Starts the stream of `seed` from its beginning."""
        if state.trace is not None:
            state.trace.move(self, Position(*_stream_of(seed)))
            return self
        if state.streams is not None:
            state.streams.enter(self)
        self._begin(*_stream_of(seed))
        return self

    @property
    def position(self) -> tuple[int, np.ndarray, int]:
        """Seed, its words and offset of the stream, whichever streams are in force."""
        return self.seed_value, self._stream_words, self._stream_offset

    @position.setter
    def position(self, position: tuple[int, np.ndarray, int]) -> None:
        self._begin(*position)

    def _begin(self, seed_value: int, words: np.ndarray, offset: int) -> None:
        self.seed_value = seed_value
        self._stream_words = words
        self._stream_offset = offset

    @property
    def _words(self) -> np.ndarray:
        """The seed as a graph takes it: that of the stream that numbers come from now."""
        if state.streams is not None:
            state.streams.enter(self)
        return self._stream_words

    @property
    def offset(self) -> int:
        """How many keys were taken."""
        if state.streams is not None:
            state.streams.enter(self)
        return self._stream_offset

    @offset.setter
    def offset(self, offset: int) -> None:
        if state.streams is not None:
            state.streams.enter(self)
        self._stream_offset = offset

    def initial_seed(self) -> int:
        """Returns the seed."""
        seed = None if state.trace is None else state.trace.position(self).seed
        return self.seed_value if seed is None else seed

    def seed(self) -> int:
        """Starts the stream of a seed from the operating system, and returns the seed.

        Raises:
          TraceError: If a function is being traced, which would take the same seed at each call.
        """
        if state.trace is not None:
            raise TraceError(
                "A traced function takes a seed from the operating system, which would be the same at each call. "
                "Call `seed()` outside of it, or pass a seed to `manual_seed`."
            )
        return self.manual_seed(secrets.randbits(63)).seed_value

    def get_state(self) -> tuple[int, int]:
        """Returns the state, to be passed to `set_state`."""
        if state.trace is not None:
            position = state.trace.position(self)
            if position.seed is not None:
                return position.seed, position.n
            token = TracedState((self.seed_value, self.offset + position.n))
            token.generator, token.position = self, position
            return token  # type: ignore[return-value]
        return self.seed_value, self.offset

    def set_state(self, saved: tuple[int, int]) -> Generator:
        """Continues from a state that `get_state` returned, and returns the generator.

        Raises:
          ArgumentError: If it is none.
          TraceError: If a function is being traced, and the state is that of another generator before it.
        """
        if not (isinstance(saved, tuple) and len(saved) == 2):
            raise ArgumentError(
                f"A state of a generator is what `get_state()` or `ja.get_rng_state()` returned, a pair of ints, and "
                f"this is a {type(saved).__name__}. To begin a stream write `ja.manual_seed(0)`."
            )
        if state.trace is None:
            self.manual_seed(saved[0])
            self.offset = saved[1]
        elif not isinstance(saved, TracedState):
            seed, words, _ = _stream_of(saved[0])
            state.trace.move(self, Position(seed, words, saved[1]))
        elif saved.generator is self:
            state.trace.move(self, saved.position)
        else:
            raise TraceError(
                "A traced function gives a generator the state of another one. Pass that state to the function: "
                "`fn(x, other.get_state())`."
            )
        return self

    def offset_word(self) -> np.uint32:
        """Returns the offset of the next draw as a graph takes it."""
        return np.uint32(self.offset & 0xFFFFFFFF)

    def take(self, n_draws: int) -> np.uint32:
        """Returns the offset of the next draw as a graph takes it, and moves on by a number of draws."""
        with DRAWING:
            offset = self.offset
            self.offset = offset + n_draws
        return np.uint32(offset & 0xFFFFFFFF)

    def give_back(self, offset: np.uint32, n_draws: int) -> None:
        """Undoes a `take` whose draws did not happen, unless others were made since."""
        with DRAWING:
            if (self.offset - n_draws) & 0xFFFFFFFF == int(offset):
                self.offset -= n_draws

    def draw(self) -> Any:
        """Returns the next key: in a trace a symbol, eagerly the words (seed, seed, offset) that a kernel folds."""
        if state.trace is not None:
            return state.trace.draw(self)
        words = self._words
        return np.array([words[0], words[1], self.take(1)], np.uint32)


def draw_from(generator: Generator | None) -> Any:
    """Returns the next key of a generator; of the default one if it is None.

    Raises:
      ArgumentError: If it is no generator.
    """
    try:
        return (default_generator if generator is None else generator).draw()
    except AttributeError:
        if isinstance(generator, Generator):
            raise
        raise ArgumentError(
            f"argument 'generator' must be Generator, not {type(generator).__name__}: write "
            "`ja.rand(2, generator=ja.Generator().manual_seed(0))`."
        ) from None


def _stream_of(seed: int) -> tuple[int, np.ndarray, int]:
    """Returns the beginning of the stream of a seed: the seed, its words, the offset.

    Raises:
      TensorValueError: If it does not fit in 64 bits.
    """
    if not isinstance(seed, (int, float)) and not hasattr(seed, "__index__") and not hasattr(seed, "__int__"):
        raise TensorTypeError(f"a seed is an int, and {seed!r} was given. Write for instance `ja.manual_seed(0)`.")
    given, seed = int(seed), int(seed) & 0xFFFFFFFFFFFFFFFF
    if not -(2**63) <= given < 2**64:
        raise TensorValueError(
            f"Overflow: a seed is an int of 64 bits, from -2**63 to 2**64 - 1, and this is {given}. Take it modulo "
            "2**64 to have one that fits."
        )
    return seed, np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32), 0


class Streams:
    """The streams that the branch or the iterations of one eager control flow call draw from.

    What an iteration does to a generator, such as a `manual_seed`, ends with the iteration.
    """

    def __init__(self) -> None:
        self._outer = state.streams
        self._iteration = -1
        self._keys = {default_generator: default_generator.draw()}  # taken whether or not it is used
        self._before: dict[Generator, tuple[int, np.ndarray, int]] = {}

    @contextlib.contextmanager
    def iteration(self) -> Iterator[None]:
        """Inside, generators draw from the streams of the next iteration."""
        self._iteration += 1
        state.streams = self
        try:
            yield
        finally:
            state.streams = self._outer
            for generator, before in self._before.items():
                generator._begin(*before)
            self._before.clear()

    def enter(self, generator: Generator) -> None:
        """Makes a generator draw from its stream of this iteration."""
        if generator in self._before:
            return
        if generator not in self._keys:
            state.streams = self._outer
            self._keys[generator] = generator.draw()
            state.streams = self
        before = (generator.seed_value, generator._stream_words, generator._stream_offset)
        with jax.ensure_compile_time_eval():
            words = np.asarray(_fold(self._keys[generator], np.uint32(self._iteration)))
        self._before[generator] = before
        generator._begin(generator.seed_value, words, 0)


@jax.jit
def _fold(words: Any, iteration: Any) -> Any:
    return fold_iteration(jax.random.fold_in(words[:2], words[2]), iteration)


def fold_iteration(key: Array, iteration: Any) -> Any:
    """Returns the seed of the stream of an iteration, counted from 0, which a branch is too."""
    return jax.random.fold_in(key, iteration)


default_generator = Generator()


manual_seed, initial_seed = default_generator.manual_seed, default_generator.initial_seed
get_rng_state = default_generator.get_state


def set_rng_state(state: tuple[int, int]) -> None:
    """Sets the default generator's state."""
    default_generator.set_state(state)


@contextlib.contextmanager
def fork_rng() -> Iterator[None]:
    """Restores the default generator's state after the block."""
    generator = default_generator
    if state.trace is not None:
        before = generator.get_state()
        try:
            yield
        finally:
            generator.set_state(before)
        return
    position = (generator.seed_value, generator._words, generator.offset)
    try:
        yield
    finally:
        generator._begin(*position)
