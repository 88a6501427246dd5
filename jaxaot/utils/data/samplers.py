"""Samplers: the order in which samples are taken.

What is random is drawn by NumPy from a seed that is the next draw of a jaxaot generator. So orders are reproducible by
`ja.manual_seed` or `generator=`, they go on from one epoch to the next, and no program is compiled for them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import numpy as np

from jaxaot.errors import TensorTypeError, TensorValueError, VolatileError
from jaxaot.facade.memory.generator import Generator, default_generator
from jaxaot.tape.modes import state

T_co = TypeVar("T_co", covariant=True)


def refuse_in_trace(what: str) -> None:
    """Raises where a function is being traced, whose program would have the same samples at every call."""
    if state.trace is not None:
        state.trace.stop(what)
        raise VolatileError(
            f"{what} inside of a compiled function, whose program would have the samples of its trace at every call",
            "Take batches outside: `for x, y in loader: step(x, y)`.",
        )


def drawn_from(generator: Generator | None) -> np.random.Generator:
    """Returns NumPy's generator for one order, seeded by the next draw of one of ours."""
    refuse_in_trace("An order of samples is drawn")
    if generator is not None and not isinstance(generator, Generator):
        raise TensorTypeError(
            f"`generator` is a `ja.Generator`, and a {type(generator).__name__} was given. Write "
            "`generator=ja.Generator().manual_seed(0)`."
        )
    return np.random.default_rng(np.asarray((default_generator if generator is None else generator).draw()))


def _require_positive(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise TensorValueError(f"{name} should be a positive integer value, but got {name}={value}")


def _require_bool(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise TensorTypeError(f"{name} should be a boolean value, but got {name}={value}")


class Sampler(Generic[T_co]):
    """An order of indices: a class with `__iter__`, and with `__len__` where the number is known."""

    def __init__(self, data_source: Sized | None = None) -> None: ...

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} has no `__iter__`. Write one that yields indices.")


class SequentialSampler(Sampler[int]):
    """All samples in their order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Samples in a random order, which is another one each time.

    Args:
      data_source: The dataset.
      replacement: Whether a sample may come several times.
      num_samples: How many come; by default as many as there are.
      generator: What draws; the default one if it is None.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        _require_bool("replacement", replacement)
        if num_samples is not None or not len(data_source):
            _require_positive("num_samples", num_samples if num_samples is not None else len(data_source))
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator

    @property
    def num_samples(self) -> int:
        """How many samples come."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, rng = len(self.data_source), drawn_from(self.generator)
        if self.replacement:
            return iter(rng.integers(n, size=self.num_samples).tolist())
        rounds = (rng.permutation(n).tolist() for _ in itertools.count())
        return itertools.islice(itertools.chain.from_iterable(rounds), self.num_samples)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Some indices in a random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        return (self.indices[i] for i in drawn_from(self.generator).permutation(len(self.indices)).tolist())

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices from 0 on, each as likely as its weight says.

    Args:
      weights: The weights, which need not add up to 1.
      num_samples: How many come.
      replacement: Whether an index may come several times.
      generator: What draws; the default one if it is None.
    """

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        _require_positive("num_samples", num_samples)
        _require_bool("replacement", replacement)
        self.weights = np.asarray(weights, np.float64)
        if self.weights.ndim != 1:
            raise TensorValueError(f"weights should be a 1d sequence but given weights have shape {self.weights.shape}")
        if not replacement and num_samples > np.count_nonzero(self.weights):
            raise TensorValueError(f"{num_samples} samples without replacement need as many weights that are not zero.")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        weights = self.weights / self.weights.sum()
        drawn = drawn_from(self.generator).choice(len(weights), self.num_samples, self.replacement, weights)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """What another sampler gives, in lists.

    Args:
      sampler: The other one.
      batch_size: How many indices a list has.
      drop_last: Whether a last list that is shorter is left out.
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        _require_positive("batch_size", batch_size)
        _require_bool("drop_last", drop_last)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        n = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
