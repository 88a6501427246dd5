"""Workers: threads or processes that make batches ahead of the one that takes them.

Each worker has a copy of the dataset, an inbox and an outbox. Batches are asked for in turns and taken in the same
turns, so their order is that of the sampler whatever takes how long. A worker whose samples have come to an end is left
out of the turns.
"""

from __future__ import annotations

import contextlib
import copy
import multiprocessing
import os
import pickle
import queue
import random
import threading
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from jaxaot.errors import TensorValueError
from jaxaot.facade.memory.generator import default_generator

_STARTING = threading.Lock()


class WorkerInfo(NamedTuple):
    """What a worker is.

    Attributes:
      id: Its number, from 0 on.
      num_workers: How many there are.
      seed: A number that is another one for each worker, and in each epoch.
      dataset: Its copy of the dataset.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


class Work(NamedTuple):
    """What all workers are told when they are made.

    Attributes:
      dataset: The dataset.
      fetcher: Makes of a dataset what returns a batch for indices.
      init: The user's `worker_init_fn`.
      n_workers: How many workers there are.
    """

    dataset: Any
    fetcher: Callable[[Any], Callable[[Any], Any]]
    init: Callable[[int], object] | None
    n_workers: int


class _Lines(str):
    """A text that is shown as it is, as that of a KeyError is not."""

    __repr__ = str.__str__


class _Failure(NamedTuple):
    error: type[BaseException]
    words: str

    def throw(self) -> None:
        try:
            error = self.error(_Lines(self.words))
        except Exception:  # a class that takes other arguments
            error = RuntimeError(self.words)
        raise error


class _Local(threading.local):
    info: WorkerInfo | None = None


_local = _Local()


def get_worker_info() -> WorkerInfo | None:
    """Returns what the running worker is; None outside of workers."""
    return _local.info


def _work(work: Work, number: int, is_process: bool, inbox: Any, outbox: Any) -> None:
    """Does what the inbox asks for: an epoch's seed or indices, each with the number of the epoch; None ends it."""
    what = f"DataLoader worker {'process' if is_process else 'thread'} {number}"
    dataset = fetch = None
    broken: _Failure | None = None
    while (message := inbox.get()) is not None:
        epoch, kind, value = message
        try:
            if kind == "begin":
                is_first, broken = dataset is None, None
                if dataset is None:
                    dataset = work.dataset if is_process else copy.copy(work.dataset)
                _local.info = WorkerInfo(number, work.n_workers, value + number, dataset)
                if is_process:
                    _seed(value + number)
                if is_first and work.init is not None:
                    work.init(number)
                fetch = work.fetcher(dataset)
                continue
            found: Any = broken
            if broken is None:
                assert fetch is not None, "an epoch has begun"
                batch = fetch(value)
                found = pickle.dumps(batch) if is_process else (batch,)  # what cannot be pickled is told here
        except StopIteration:
            found = None
        except BaseException as error:
            found = _Failure(type(error), f"Caught {type(error).__name__} in {what}.\n{traceback.format_exc()}")
            if kind == "begin":
                broken = found
                continue
        outbox.put((epoch, found))


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)
    default_generator.manual_seed(seed)


def process_context(given: object) -> Any:
    """Returns what starts processes; None where workers are threads.

    Raises:
      TensorValueError: If processes would be forked.
    """
    if given is None:
        return None
    context = multiprocessing.get_context(given) if isinstance(given, str) else given
    if context.get_start_method() == "fork":  # type: ignore[attr-defined]
        raise TensorValueError(
            "multiprocessing_context='fork' copies a process without the threads that JAX has in it, and the copy "
            "hangs. Write multiprocessing_context='spawn', or leave it out: workers are threads then."
        )
    return context


def _start(context: Any, work: Work) -> list[tuple[Any, Any, Any]]:
    workers = []
    for number in range(work.n_workers):
        if context is None:
            boxes: tuple[Any, Any] = queue.SimpleQueue(), queue.SimpleQueue()
            made: Any = threading.Thread(target=_work, args=(work, number, False, *boxes), daemon=True)
            made.start()
        else:
            boxes = context.Queue(), context.Queue()
            made = context.Process(target=_work, args=(work, number, True, *boxes), daemon=True)
            with _STARTING, _on_cpu():
                made.start()
        workers.append((made, *boxes))
    return workers


@contextlib.contextmanager
def _on_cpu() -> Iterator[None]:
    """Processes that start inside compute on the CPU: an accelerator may be open only once."""
    before = os.environ.get("JAX_PLATFORMS")
    os.environ["JAX_PLATFORMS"] = "cpu"
    try:
        yield
    finally:
        if before is None:
            del os.environ["JAX_PLATFORMS"]
        else:
            os.environ["JAX_PLATFORMS"] = before


def _end(workers: list[tuple[Any, Any, Any]]) -> None:
    for made, inbox, _ in workers:
        with contextlib.suppress(Exception):
            inbox.put(None)
        if not isinstance(made, threading.Thread):
            made.join(2)
            if made.is_alive():
                made.terminate()


class Pool:
    """Workers that were started; they end with this object."""

    def __init__(self, work: Work, context: Any, n_ahead: int, timeout: float) -> None:
        self._workers = _start(context, work)
        self._n_ahead = n_ahead
        self._timeout = timeout
        self._epoch = 0
        self.end = weakref.finalize(self, _end, self._workers)

    def run(self, indices: Iterable[Any], seed: int) -> Iterator[Any]:
        """Yields the batches of an epoch, in the order of the indices."""
        self._epoch += 1
        epoch, pending, asked = self._epoch, iter(indices), deque[int]()
        for _, inbox, _ in self._workers:
            inbox.put((epoch, "begin", seed))
        turns = deque(range(len(self._workers)))

        def ask() -> None:
            for value in pending:
                number = turns[0]
                turns.rotate(-1)
                self._workers[number][1].put((epoch, "fetch", value))
                asked.append(number)
                return

        for _ in range(self._n_ahead * len(self._workers)):
            ask()
        ended: set[int] = set()
        while asked:
            number = asked.popleft()
            if number in ended:
                continue
            found = self._take(number, epoch)
            if found is None:
                ended.add(number)
                turns.remove(number)
            if turns:
                ask()
            if isinstance(found, _Failure):
                found.throw()
            elif found is not None:
                yield pickle.loads(found) if isinstance(found, bytes) else found[0]

    def _take(self, number: int, epoch: int) -> Any:
        made, _, outbox = self._workers[number]
        waited = 0.0
        while True:
            step = min(self._timeout - waited, 5.0) if self._timeout else 5.0
            try:
                of_epoch, found = outbox.get(timeout=step)
            except queue.Empty:
                waited += step
                if self._timeout and waited >= self._timeout:
                    raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds") from None
                if not made.is_alive():
                    raise RuntimeError(
                        f"DataLoader worker (pid {getattr(made, 'pid', None)}) exited unexpectedly. Workers that are "
                        "processes import the main script again: put what it runs under `if __name__ == '__main__':`."
                    ) from None
                continue
            if of_epoch == epoch:
                return found
