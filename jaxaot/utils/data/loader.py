"""`DataLoader`: batches of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np

from jaxaot.errors import TensorValueError
from jaxaot.facade.dispatch.create import from_numpy, on_host
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.utils.data.collate import default_collate, default_convert
from jaxaot.utils.data.datasets import IterableDataset, Subset, TensorDataset
from jaxaot.utils.data.samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    drawn_from,
    refuse_in_trace,
)
from jaxaot.utils.data.workers import Pool, Work, process_context

T_co = TypeVar("T_co", covariant=True)


class _Endless(Sampler[None]):
    """The indices of an iterable dataset, which needs none."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class _Fetcher:
    """Makes of a dataset what returns the batch of some indices.

    Args:
      is_iterable: Whether samples come one after the other.
      is_batched: Whether indices come in lists.
      collate: Makes a batch of samples.
      drop_last: Whether a last batch that is shorter is left out.
    """

    def __init__(self, is_iterable: bool, is_batched: bool, collate: Callable[[Any], Any], drop_last: bool) -> None:
        self.is_iterable = is_iterable
        self.is_batched = is_batched
        self.collate = collate
        self.drop_last = drop_last

    def __call__(self, dataset: Any) -> Callable[[Any], Any]:
        """Returns a function of an index, or of a list of them; it raises `StopIteration` at the end."""
        if not self.is_iterable:
            return lambda index: self._fetch(dataset, index)
        samples = iter(dataset)
        return lambda indices: self._next(samples, indices)

    def _next(self, samples: Iterator[Any], indices: Any) -> Any:
        if not self.is_batched:
            return self.collate(next(samples))
        batch = [sample for _, sample in zip(indices, samples, strict=False)]
        if not batch or (self.drop_last and len(batch) < len(indices)):
            raise StopIteration
        return self.collate(batch)

    def _fetch(self, dataset: Any, index: Any) -> Any:
        if not self.is_batched:
            return self.collate(dataset[index])
        if self.collate is default_collate:
            rows = _rows(dataset, index)
            if rows is not None:
                return rows
        if callable(fetch := getattr(dataset, "__getitems__", None)):
            return self.collate(fetch(index))
        return self.collate([dataset[i] for i in index])


def _rows(dataset: Any, indices: list[int]) -> list[Tensor] | None:
    """Returns the batch of a dataset of tensors without taking samples apart; None of another dataset."""
    if type(dataset) is Subset:
        return _rows(dataset.dataset, [dataset.indices[i] for i in indices])
    if type(dataset) is not TensorDataset:
        return None
    arrays = [on_host(tensor) for tensor in dataset.tensors]
    if any(array is None for array in arrays):
        return None
    return [from_numpy(array[np.asarray(indices)]) for array in arrays if array is not None]


def _refuse(found: dict[str, bool]) -> None:
    wrong = [words for words, holds in found.items() if holds]
    if wrong:
        raise TensorValueError("DataLoader: " + "; ".join(wrong) + ".")


def _check_order(
    is_iterable: bool, batch_size: int | None, shuffle: object, sampler: object, batch_sampler: object, drop_last: bool
) -> None:
    is_own = sampler is not None or batch_sampler is not None
    is_batched = batch_size != 1 or bool(shuffle) or sampler is not None or drop_last
    _refuse(
        {
            "an IterableDataset has its own order, and takes no shuffle, sampler or batch_sampler": is_iterable
            and (bool(shuffle) or is_own),
            "sampler option is mutually exclusive with shuffle": sampler is not None and bool(shuffle),
            "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last": is_batched
            and batch_sampler is not None,
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last": drop_last
            and batch_size is None,
        }
    )


class DataLoader(Generic[T_co]):
    """The batches of a dataset, anew each time it is iterated.

        loader = ja.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, num_workers=4)
        for x, y in loader:
            step(x, y)

    Workers are threads, each with a shallow copy of the dataset: what reads files and computes with NumPy runs beside
    the training step, and what workers draw from the global generators comes in no fixed order. With
    `multiprocessing_context="spawn"` they are processes as PyTorch's, each seeded; the script is then under
    `if __name__ == "__main__":`, and the dataset is one that can be pickled.

    Args:
      dataset: What has `__getitem__` and `__len__`, or an `IterableDataset`.
      batch_size: How many samples a batch has; None for samples that are no batches.
      shuffle: Whether the order is random.
      sampler: Gives the indices; instead of `shuffle`.
      batch_sampler: Gives lists of indices; instead of `batch_size`, `shuffle`, `sampler` and `drop_last`.
      num_workers: How many workers make batches; 0 for none.
      collate_fn: Makes a batch of a list of samples.
      pin_memory: Taken for PyTorch's sake; JAX copies without blocking.
      drop_last: Whether a last batch that is shorter is left out.
      timeout: For how many seconds a worker is waited for; 0 for ever.
      worker_init_fn: Is called in each worker with its number, before the first batch.
      multiprocessing_context: `"spawn"` or `"forkserver"` for processes, or a context; None for threads.
      generator: What orders and seeds are drawn by; the default one if it is None.
      prefetch_factor: How many batches each worker is ahead, 2 by default.
      persistent_workers: Whether workers go on from one epoch to the next.
      pin_memory_device: Taken for PyTorch's sake.
      in_order: Taken for PyTorch's sake; batches come in the order of the sampler.

    Raises:
      TensorValueError: If arguments do not go together.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], object] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        is_iterable = isinstance(dataset, IterableDataset)
        _check_order(is_iterable, batch_size, shuffle, sampler, batch_sampler, drop_last)
        _refuse(
            {
                "num_workers option should be non-negative; use 0 for no workers": num_workers < 0,
                "timeout option should be non-negative": timeout < 0,
                "prefetch_factor option could only be specified with num_workers > 0": prefetch_factor is not None
                and not num_workers,
                "prefetch_factor option should be positive": prefetch_factor is not None and prefetch_factor <= 0,
                "persistent_workers option needs num_workers > 0": persistent_workers and not num_workers,
                "multiprocessing_context needs num_workers > 0": multiprocessing_context is not None
                and not num_workers,
            }
        )
        if sampler is None:
            ordered = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
            sampler = _Endless() if is_iterable else ordered
        if batch_sampler is not None:
            batch_size = None
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        self.dataset = dataset
        self.batch_size = batch_size
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.collate_fn: Any = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.pin_memory, self.pin_memory_device, self.in_order = pin_memory, pin_memory_device, in_order
        self.drop_last = drop_last
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = process_context(multiprocessing_context)
        self.generator = generator
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self.persistent_workers = persistent_workers
        self._pool: Pool | None = None

    def __iter__(self) -> Iterator[Any]:
        refuse_in_trace("A `DataLoader` is iterated")
        seed = int(drawn_from(self.generator).integers(2**62))
        return self._batches(iter(self.sampler if self.batch_sampler is None else self.batch_sampler), seed)  # type: ignore[arg-type]

    def _batches(self, indices: Iterator[Any], seed: int) -> Iterator[Any]:
        is_iterable, is_batched = isinstance(self.dataset, IterableDataset), self.batch_sampler is not None
        fetcher = _Fetcher(is_iterable, is_batched, self.collate_fn, self.drop_last)
        if self.num_workers:
            yield from self._of_workers(fetcher, indices, seed)
            return
        fetch = fetcher(self.dataset)
        for index in indices:
            try:
                batch = fetch(index)
            except StopIteration:
                if is_iterable:
                    return
                raise
            yield batch

    def _of_workers(self, fetcher: _Fetcher, indices: Iterator[Any], seed: int) -> Iterator[Any]:
        pool = self._pool
        if pool is None:
            work = Work(self.dataset, fetcher, self.worker_init_fn, self.num_workers)
            pool = Pool(work, self.multiprocessing_context, self.prefetch_factor or 2, self.timeout)
            self._pool = pool if self.persistent_workers else None
        try:
            yield from pool.run(indices, seed)
        finally:
            if not self.persistent_workers:
                pool.end()

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
        n, size = len(self.dataset), self.batch_size  # type: ignore[arg-type]
        if size is None:
            return n
        return n // size if self.drop_last else -(-n // size)
