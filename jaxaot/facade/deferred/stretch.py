"""Stretches: operations that wait, and run together as one program.

A *stretch* is what a function computes from one place where values are needed to the next. Its operations are noted in
order; each result is *pending*, which has a shape and a dtype and no values yet. When somebody needs a value, all that
is still held is computed by one executable. That is found again by the operations, and how they are joined.
"""

from __future__ import annotations

import contextlib
import operator
import warnings
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax

from jaxaot import settings as config
from jaxaot._jax import is_outermost
from jaxaot._typing import Array
from jaxaot._util import collector, set_together
from jaxaot.errors import RecompileWarning
from jaxaot.facade.memory.storage import Storage
from jaxaot.lower.cache_key import jax_settings
from jaxaot.lower.eager_kernel import EagerKernel
from jaxaot.passes.dce import dce
from jaxaot.passes.prepare import prepare_forward
from jaxaot.tape.node import Node

MAX_CALLS = 1000
"""After so many operations a stretch runs, as compiling a graph takes longer than in proportion to its length."""


_NUMBERS = frozenset({bool, int, float, complex})
"""Of these, equal ones may be one object in one call and not in another."""


class Pending:
    """The value of an operation that has not run yet; whoever asks it for more than its type has it computed.

    Attributes:
      stretch: Which it is of.
      number: Its place among the results there.
      aval: The array's type.
      value: The array, once it is computed.
    """

    __slots__ = ("__weakref__", "aval", "number", "stretch", "value")

    def __init__(self, stretch: Stretch, number: int, aval: jax.ShapeDtypeStruct):
        self.stretch = stretch
        self.number = number
        self.aval = aval
        self.value: Array | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def weak_type(self) -> bool:
        return self.aval.weak_type

    def array(self) -> Array:
        """Returns the values."""
        if self.value is None:
            self.stretch.run()
        assert self.value is not None, "it was held, so it was computed"
        return self.value

    def __jax_array__(self) -> Array:
        return self.array()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self.array().__array__(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array(), name)


def _forwarding(name: str) -> Callable[..., Any]:
    return lambda self, *args: getattr(operator, name)(self.array(), *args)


for _name in ("add", "sub", "mul", "truediv", "neg", "getitem", "eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Pending, f"__{_name}__", _forwarding(_name))
Pending.__hash__ = object.__hash__  # type: ignore[method-assign]


def values_of(items: Sequence[Any]) -> list[Any]:
    """Returns what may be pending as values."""
    return [item.array() if type(item) is Pending else item for item in items]


class PendingLeaves:
    """What a node of the tape holds while some of it is pending; stands in place of the values.

    Attributes:
      items: The values.
    """

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Any]):
        self.items = items

    def again(self) -> Sequence[Any]:
        """Returns the arrays."""
        return tuple(values_of(self.items))


class Stretch:
    """Operations that wait.

    Attributes:
      is_done: Whether they have run.
      n_calls: How many there are.
    """

    def __init__(self, programs: StretchPrograms, owner: object, lock: contextlib.AbstractContextManager[Any]):
        """Begins a stretch.

        Args:
          programs: What runs it.
          owner: What storages name as their trace as long as their values are pending.
          lock: Held while it runs.
        """
        self.is_done = False
        self._owner, self._lock = owner, lock
        self._programs = programs
        self._calls: list[tuple[Any, ...]] = []
        self._inputs: list[Any] = []
        self._places: dict[int, int] = {}
        self._made: list[weakref.ref[Pending]] = []
        self._storages: list[weakref.ref[Storage]] = []
        self._nodes: list[weakref.ref[Any]] = []

    @property
    def n_calls(self) -> int:
        return len(self._calls)

    def add(self, kernel: EagerKernel, operands: Sequence[Any], avals: Sequence[Any], kind: Hashable) -> list[Pending]:
        """Notes an operation, and returns its results.

        Args:
          kernel: What computes it.
          operands: Arrays, pending values and numbers.
          avals: The types of the results.
          kind: With the kernel it says of which types the operands are.
        """
        places = self._places
        given = []
        for value in operands:
            if type(value) is Pending:
                if value.stretch is self and value.value is None:
                    given.append(value.number)
                    continue
                value = value.array()
            place = None if type(value) in _NUMBERS else places.get(id(value))
            if place is None:
                self._inputs.append(value)  # which keeps its id its own
                place = places[id(value)] = -len(self._inputs)
            given.append(place)
        self._calls.append((kernel, kind, *given))
        first = len(self._made)
        results = [Pending(self, first + i, aval) for i, aval in enumerate(avals)]
        self._made += map(weakref.ref, results)
        return results

    def hold(self, storage: Storage) -> None:
        """Notes a storage whose value is pending."""
        self._storages.append(weakref.ref(storage))

    def hold_leaves(self, node: Node) -> None:
        """Notes a node of the tape that holds pending values."""
        self._nodes.append(weakref.ref(node))

    def run(self) -> None:
        """Computes what is still held, and puts it where it is held."""
        with self._lock:
            if not self.is_done:
                self._run()

    def _run(self) -> None:
        made = [pending for ref in self._made if (pending := ref()) is not None and pending.value is None]
        values = self._compute(tuple(pending.number for pending in made))
        for pending, value in zip(made, values, strict=True):
            pending.value = value
        del made, values
        for ref in self._storages:
            storage = ref()
            if storage is None or storage.trace is not self._owner:
                continue
            array = storage.array
            if type(array) is Pending:
                if array.stretch is not self:
                    continue
                array = array.value
            # others may hold it, such as the tape: it is counted before it is given away
            set_together([(storage, "is_shared", True), (storage, "array", array), (storage, "trace", None)])
        for ref in self._nodes:
            node = ref()
            if node is not None and type(node.leaves) is PendingLeaves:
                node.leaves = node.leaves.again()
        self.is_done = True
        self._calls, self._inputs, self._places = [], [], {}

    def _compute(self, wanted: tuple[int, ...]) -> Sequence[Array]:
        if not wanted:
            return ()
        if is_outermost():
            return self._programs.run(tuple(self._calls), self._inputs, wanted)
        with jax.ensure_compile_time_eval():  # a trace of JAX has begun since, of which this is no part
            return self._programs.run(tuple(self._calls), self._inputs, wanted)


def evaluate(calls: Sequence[tuple[Any, ...]], inputs: Sequence[Any], run: Callable[[EagerKernel], Any]) -> list[Any]:
    """Returns all results of operations.

    Args:
      calls: Each a kernel, the kind of its operands, and these: numbers of results, or places of inputs below zero.
      inputs: The inputs.
      run: Takes a kernel to the function that runs it.
    """
    values: list[Any] = []
    for kernel, _, *given in calls:
        operands = [values[place] if place >= 0 else inputs[-1 - place] for place in given]
        values += jax.tree.leaves(run(kernel)(*operands))
    return values


class StretchPrograms:
    """The executables of a function's stretches, by their operations.

    Attributes:
      n_made: How many were made.
    """

    def __init__(self, make: Callable[..., Any], most: int, name: str):
        """Makes none yet.

        Args:
          make: A backend.
          most: How many there may be; further stretches run one operation at a time, after a warning.
          name: What the function is called.
        """
        self.n_made = 0
        self._make = make
        self._most = most
        self._name = name
        self._found: dict[Any, tuple[dict[int, int], Callable[..., Any]]] = {}
        self._is_full = False

    def __len__(self) -> int:
        return len(self._found)

    def clear(self) -> None:
        """Forgets all of them."""
        self._found.clear()
        self._is_full = False

    def run(self, calls: tuple[Any, ...], inputs: Sequence[Any], wanted: tuple[int, ...]) -> Sequence[Array]:
        """Returns some results of operations, for which `evaluate` says what the arguments are."""
        if len(calls) == 1:
            (kernel, _, *given) = calls[0]
            results = jax.tree.leaves(kernel(*[inputs[-1 - place] for place in given]))
            return [results[number] for number in wanted]
        cache_key = (calls, config.get(), jax_settings())
        places, run = self._found.get(cache_key, ({}, None))
        if run is None or not all(number in places for number in wanted):
            if run is None and len(self._found) >= self._most:
                self._warn()
                results = evaluate(calls, inputs, lambda kernel: kernel)
                return [results[number] for number in wanted]
            # what is held may differ from call to call; a program that computes more serves both
            numbers = sorted({*places, *wanted})
            places, run = {number: i for i, number in enumerate(numbers)}, self._made(calls, inputs, numbers)
            self._found[cache_key] = places, run
        results = run(*inputs)
        return [results[places[number]] for number in wanted]

    @collector.waits()
    def _made(self, calls: Sequence[Any], inputs: Sequence[Any], numbers: Sequence[int]) -> Callable[..., Any]:
        def stretch(*inputs: Any) -> list[Any]:
            values = evaluate(calls, inputs, lambda kernel: kernel.inside)
            return [values[number] for number in numbers]

        graph = prepare_forward(dce(jax.make_jaxpr(stretch)(*inputs)))
        executable = self._make(graph, (), "stretch")
        self.n_made += 1
        return executable.call

    def _warn(self) -> None:
        if not self._is_full:
            self._is_full = True
            warnings.warn(
                f"What `{self._name}` does between the functions under `ja.compiler.disable` was compiled in "
                f"{len(self._found)} ways, and differs still. From now on further ones run one operation at a time: "
                "the results are the same. Raise `max_programs`, or compile the parts as functions of their own.",
                RecompileWarning,
                stacklevel=2,
            )
