"""Many tensors written, or looked at, by one program: updates of parameters, bounds on gradients and their scales.

A function runs on symbols once, and becomes a program whose buffers are donated; where operations wait, it is one of
them. What such a program cannot see is left to the operations themselves: views, memory that several tensors share,
what a trace, a checkpoint, autocast or forward mode looks at.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from itertools import chain, repeat, starmap
from typing import Any

import jax

from jaxaot._jax import is_outermost
from jaxaot._placement import are_several
from jaxaot.facade.kernels.kernels import remember
from jaxaot.facade.memory.counter import count_write
from jaxaot.facade.memory.locks import Held, hold_alive, put_back, take
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import INFERENCE, Tensor, wrap_array
from jaxaot.lower.abstract import AbstractArray
from jaxaot.lower.eager_kernel import EagerKernel
from jaxaot.tape.modes import state
from jaxaot.tape.threads import threads
from jaxaot.views.layout import contiguous

MAX_TENSORS, MAX_KINDS, MAX_PROGRAMS = 512, 8, 64
"""So many tensors go through one program, a function has programs for so many lists of them; so many are kept."""

_programs: dict[Any, Any] = {}
_n_kinds: Counter[Any] = Counter()


def may_run_programs() -> bool:
    """Returns whether nobody looks at single operations now, and arrays are on one device."""
    looks = state.trace, state.dual, state.region, state.autocast, state.may_write_saved
    is_seen = any(one is not None for one in looks)
    if state.recorder is not None:
        is_seen = is_seen or threads.are_several or not state.recorder.records()
    return not is_seen and not state.makes_abstract and is_outermost() and not are_several()


def is_whole(tensor: object) -> bool:
    """Returns whether something is a tensor that shows all of a storage that has values."""
    if type(tensor) is not Tensor:
        return False
    storage = tensor._storage
    if tensor._layout is not storage.layout or tensor._creation == INFERENCE:
        return False
    if storage.trace is not None and storage.trace is not state.recorder:
        return False
    return storage.n_written is None and storage.array is not None and type(storage.array) is not AbstractArray


def _array(value: Any) -> Any:
    return value._storage.array if isinstance(value, Tensor) else value


class InPlace:
    """A function of arrays that takes (what is written, whatever else) to what is written, as a program.

    Attributes:
      donating: The kernel that writes into the memory that it is given.
      copying: The same, which leaves what it is given.
    """

    def __init__(self, fn: Callable[..., list[Any]]):
        """Makes the kernels; nothing is traced yet."""
        self.donating, self.copying = EagerKernel(fn, donate_argnums=0), EagerKernel(fn)
        self._waiting: dict[Any, EagerKernel] = {}
        self._fn = fn

    def __call__(self, tensors: Sequence[Tensor], *others: Any) -> None:
        """Writes tensors that show whole storages, each another one.

        Args:
          tensors: What is written.
          *others: Tensors, numbers, and lists of them.
        """
        if state.recorder is not None:
            run_waiting(state.recorder, self._waiting, self._fn, tensors, others, is_writing=True)
            return
        storages = [tensor._storage for tensor in tensors]
        given = [list(map(_array, other)) if isinstance(other, list) else _array(other) for other in others]
        held = Held() if threads.are_several else None
        try:
            if held is None:
                donates = all(storage.may_donate() for storage in storages)
            else:
                for storage in sorted(storages, key=id):
                    hold_alive(storage, held)
                donates = take(storages)
            _run_into(storages, self.donating if donates else self.copying, given)
        finally:
            if held is not None:
                try:
                    if held:
                        put_back(storages)
                finally:
                    held.free()
        for tensor in tensors:
            count_write(tensor)


def run_waiting(
    recorder: Any, kernels: dict[Any, EagerKernel], fn: Callable[..., Any], tensors: Sequence[Tensor],
    others: Sequence[Any], is_writing: bool,
) -> list[Any]:  # fmt: skip
    """Has a function of arrays wait, as one operation; returns its results, which are pending.

    Args:
      recorder: What has operations wait.
      kernels: Keeps those of the function.
      fn: Takes a list of arrays, and all else, to a list of arrays.
      tensors: The tensors of that list.
      others: All else: tensors, numbers, and lists of them.
      is_writing: Whether the results are put into the tensors.
    """
    leaves, tree = jax.tree.flatten((list(tensors), *others), is_leaf=lambda x: isinstance(x, Tensor))
    kernel = kernels.get(tree)
    if kernel is None:
        kernel = kernels[tree] = EagerKernel(lambda *flat: tuple(fn(*jax.tree.unflatten(tree, flat))))
    results = recorder.run(kernel, list(map(_array, leaves)))
    recorder.share(leaves)
    for tensor, result in zip(tensors, results, strict=True) if is_writing else ():
        recorder.put(tensor, result, ())
    return results


def _run_into(storages: Sequence[Storage], kernel: EagerKernel, others: Sequence[Any]) -> None:
    entry, signals = kernel.entry, None
    args = [storage.array for storage in storages], *others
    run = entry.ready
    if run is None:
        signals, _, found = entry.begin(args, waits=True)
    else:
        found = starmap(run, iter((args,)))
    try:
        # one call into C runs the program and stores its results: no handler of a signal comes between
        deque(map(setattr, storages, repeat("array"), chain.from_iterable(found)), 0)
    finally:
        if signals is not None:
            signals.release()
    for storage in storages:
        storage.is_shared = False


def write_together(fn: Callable[..., None], tensors: Sequence[Tensor], *others: Any) -> None:
    """Does what a function does in place to tensors, by one program where that sees all.

    Args:
      fn: Takes the tensors, in a list, and all else, and changes nothing but the values of the tensors.
      tensors: What it writes.
      *others: Tensors and plain numbers.
    """
    make = lambda run: InPlace(lambda *args: list(map(_array, run(*args)[0])))
    program = _program(fn, tensors, others, make, is_writing=True)
    if program is None:
        fn(tensors, *others)
    else:
        program(tensors, *(other for other in others if isinstance(other, Tensor)))


class _Computed:
    """A function of arrays that takes a list of them, and whatever else, to an array, as a program."""

    def __init__(self, fn: Callable[..., Any]):
        self._kernel = EagerKernel(fn)
        self._waiting: dict[Any, EagerKernel] = {}
        self._fn = fn

    def __call__(self, tensors: Sequence[Tensor], *others: Tensor) -> Tensor:
        if state.recorder is None:
            return wrap_array(self._kernel(list(map(_array, tensors)), *map(_array, others)))
        fn = lambda *args: [self._fn(*args)]
        (result,) = run_waiting(state.recorder, self._waiting, fn, tensors, others, is_writing=False)
        return state.recorder.tensor(result, contiguous(result.shape, result.dtype))


def compute_together(fn: Callable[..., Tensor], tensors: Sequence[Tensor], *others: Any) -> Tensor:
    """Returns the tensor that a function makes of tensors and numbers, by one program where that sees all."""
    make = lambda run: _Computed(lambda *args: _array(run(*args)[1]))
    program = _program(fn, tensors, others, make, is_writing=False)
    if program is None:
        return fn(tensors, *others)
    return program(tensors, *(other for other in others if isinstance(other, Tensor)))


def _program(
    fn: Callable[..., Any], tensors: Sequence[Tensor], others: tuple[Any, ...], make: Callable[..., Any],
    is_writing: bool,
) -> Any:  # fmt: skip
    """Returns the program of a function for tensors of some layouts; None if none may run."""
    inputs = [other for other in others if isinstance(other, Tensor)]
    if not all(isinstance(other, Tensor) or type(other) in (int, float) for other in others):
        return None
    if not 1 < len(tensors) <= MAX_TENSORS or not may_run_programs() or not all(map(is_whole, (*tensors, *inputs))):
        return None
    storages = {tensor._storage for tensor in tensors}
    if is_writing and (len(storages) < len(tensors) or any(tensor._history is not None for tensor in tensors)):
        return None
    if not storages.isdisjoint(tensor._storage for tensor in inputs):
        return None
    layouts = [tensor._layout for tensor in tensors]
    shown = [other._layout if isinstance(other, Tensor) else (type(other), other) for other in others]
    key = fn, tuple(layouts), tuple(shown)
    program = _programs.get(key)
    if program is None:
        if _n_kinds[fn] >= MAX_KINDS:
            return None
        _n_kinds[fn] += 1

        def run(arrays: Sequence[Any], *given: Any) -> tuple[list[Tensor], Any]:
            made, symbols = list(map(wrap_array, arrays, layouts)), iter(given)
            filled = [other[1] if isinstance(other, tuple) else wrap_array(next(symbols), other) for other in shown]
            return made, fn(made, *filled)

        program = make(run)
        remember(_programs, key, program, MAX_PROGRAMS)
    return program
