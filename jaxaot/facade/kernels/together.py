"""Many tensors written, or looked at, by one program: updates of parameters, bounds on gradients and their scales.

A function runs on symbols once, and becomes a program whose buffers are donated. What such a program cannot see is left
to the operations themselves: views, memory that several tensors share, what a trace, a checkpoint, autocast or forward
mode looks at.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from itertools import chain, repeat, starmap
from typing import Any

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

MAX_TENSORS, MAX_KINDS, MAX_PROGRAMS = 512, 8, 64
"""So many tensors go through one program, a function has programs for so many lists of them; so many are kept."""

_programs: dict[Any, InPlace | EagerKernel] = {}
_n_kinds: Counter[Any] = Counter()


def may_run_programs() -> bool:
    """Returns whether nobody looks at single operations now, and arrays are on one device."""
    looks = state.trace, state.dual, state.region, state.recorder, state.autocast, state.may_write_saved
    is_seen = any(one is not None for one in looks)
    return not is_seen and not state.makes_abstract and is_outermost() and not are_several()


def is_whole(tensor: object) -> bool:
    """Returns whether something is a tensor that shows all of a storage that has values."""
    if type(tensor) is not Tensor:
        return False
    storage = tensor._storage
    if tensor._layout is not storage.layout or tensor._creation == INFERENCE or storage.trace is not None:
        return False
    return storage.n_written is None and storage.array is not None and type(storage.array) is not AbstractArray


class InPlace:
    """A function of arrays that takes (what is written, whatever else) to what is written, as a program.

    Attributes:
      donating: The kernel that writes into the memory that it is given.
      copying: The same, which leaves what it is given.
    """

    def __init__(self, fn: Callable[..., list[Any]]):
        """Makes the kernels; nothing is traced yet."""
        self.donating, self.copying = EagerKernel(fn, donate_argnums=0), EagerKernel(fn)

    def __call__(self, tensors: Sequence[Tensor], *others: Any) -> None:
        """Writes tensors that show whole storages, each another one."""
        storages = [tensor._storage for tensor in tensors]
        held = Held() if threads.are_several else None
        try:
            if held is None:
                donates = all(storage.may_donate() for storage in storages)
            else:
                for storage in sorted(storages, key=id):
                    hold_alive(storage, held)
                donates = take(storages)
            _run_into(storages, self.donating if donates else self.copying, others)
        finally:
            if held is not None:
                try:
                    if held:
                        put_back(storages)
                finally:
                    held.free()
        for tensor in tensors:
            count_write(tensor)


def _run_into(storages: Sequence[Storage], kernel: EagerKernel, others: tuple[Any, ...]) -> None:
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
    make = lambda run: InPlace(lambda *args: [tensor._storage.array for tensor in run(*args)[0]])
    program, given = _program(fn, tensors, others, make, is_writing=True)
    if program is None:
        fn(tensors, *others)
    else:
        program(tensors, *given)


def compute_together(fn: Callable[..., Tensor], tensors: Sequence[Tensor], *others: Any) -> Tensor:
    """Returns the tensor that a function makes of tensors and numbers, by one program where that sees all."""
    make = lambda run: EagerKernel(lambda *args: run(*args)[1]._storage.array)
    program, given = _program(fn, tensors, others, make, is_writing=False)
    if program is None:
        return fn(tensors, *others)
    return wrap_array(program([tensor._storage.array for tensor in tensors], *given))


def _program(
    fn: Callable[..., Any], tensors: Sequence[Tensor], others: tuple[Any, ...], make: Callable[..., Any],
    is_writing: bool,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """Returns the program of a function for tensors of some layouts, and the arrays that it takes; None if none may."""
    inputs = [other for other in others if isinstance(other, Tensor)]
    if not all(isinstance(other, Tensor) or type(other) in (int, float) for other in others):
        return None, []
    if not 1 < len(tensors) <= MAX_TENSORS or not may_run_programs() or not all(map(is_whole, (*tensors, *inputs))):
        return None, []
    storages = {tensor._storage for tensor in tensors}
    if is_writing and (len(storages) < len(tensors) or any(tensor._history is not None for tensor in tensors)):
        return None, []
    if not storages.isdisjoint(tensor._storage for tensor in inputs):
        return None, []
    layouts = [tensor._layout for tensor in tensors]
    shown = [other._layout if isinstance(other, Tensor) else (type(other), other) for other in others]
    key = fn, tuple(layouts), tuple(shown)
    program = _programs.get(key)
    if program is None:
        if _n_kinds[fn] >= MAX_KINDS:
            return None, []
        _n_kinds[fn] += 1

        def run(arrays: Sequence[Any], *given: Any) -> tuple[list[Tensor], Any]:
            made, symbols = list(map(wrap_array, arrays, layouts)), iter(given)
            filled = [other[1] if isinstance(other, tuple) else wrap_array(next(symbols), other) for other in shown]
            return made, fn(made, *filled)

        program = make(run)
        remember(_programs, key, program, MAX_PROGRAMS)
    return program, [tensor._storage.array for tensor in inputs]
