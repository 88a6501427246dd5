"""The state of an archive: what the function reached without being passed, by name.

In the process that exports, a function finds parameters, buffers and generators by paths through its closure and its
objects. In an archive there are neither, so all of it is in one dict, the *state*: `fn['layers.0.weight']`. Tensors
that shared memory, gradients or write counters share them again.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import canonical_dtype, is_key_dtype
from jaxaot._typing import Shape
from jaxaot.errors import ArchiveError, ExportError
from jaxaot.facade.memory.counter import WriteCounter
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap, wrap_array
from jaxaot.plan.alias import HistoryOfLeaf, TensorSpec
from jaxaot.views.layout import Layout


@dataclasses.dataclass(frozen=True)
class StateStorage:
    """A storage.

    Attributes:
      layout: How its array lies in memory.
      n_written: How much of it holds values; None for all.
      array: Name of its values among the weights; None if it holds no bytes.
    """

    layout: Layout
    n_written: int | None
    array: str | None


@dataclasses.dataclass(frozen=True)
class StateTensor:
    """A tensor.

    Attributes:
      name: What it is called.
      spec: What it shows of which storage, and its history, base and counter, if it has such.
      grad: Name of its `.grad`; `""` for zeros, None for none.
    """

    name: str
    spec: TensorSpec
    grad: str | None


@dataclasses.dataclass(frozen=True)
class StateArray:
    """A bare array; the values of keys are their words.

    Attributes:
      name: What it is called, also among the weights.
      kind: A jax array, an array of keys, or a NumPy array.
      shape: Of the words, if it holds keys.
      dtype: Of the words, if it holds keys.
      weak_type: Whether its dtype gives way in promotions.
      implementation: How keys are drawn by; `""` if it holds none.
    """

    name: str
    kind: str
    shape: Shape
    dtype: Any
    weak_type: bool
    implementation: str


@dataclasses.dataclass(frozen=True)
class StateNumber:
    """A number or other constant of Python."""

    name: str
    value: Any


@dataclasses.dataclass(frozen=True)
class StateGenerator:
    """A generator, by its seed and how many keys were taken."""

    name: str
    seed: int
    offset: int


@dataclasses.dataclass(frozen=True)
class StatePlan:
    """The state without its values; numbers stand for places in these tuples."""

    storages: tuple[StateStorage, ...] = ()
    histories: tuple[HistoryOfLeaf, ...] = ()
    tensors: tuple[StateTensor, ...] = ()
    arrays: tuple[StateArray, ...] = ()
    numbers: tuple[StateNumber, ...] = ()
    generators: tuple[StateGenerator, ...] = ()

    @property
    def gradients(self) -> frozenset[str]:
        """The names of the tensors that are the `.grad` of others."""
        return frozenset(tensor.grad for tensor in self.tensors if tensor.grad)

    @property
    def weights(self) -> tuple[str, ...]:
        """The names of the arrays that have to be there."""
        return (*(s.array for s in self.storages if s.array is not None), *(array.name for array in self.arrays))


class State(dict[str, Any]):
    """The state of a loaded function, by name; it stands where the function was."""

    __slots__ = ("__weakref__",)
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Refuses to be traced."""
        raise ExportError(
            "A function from an archive was called inside of one that is traced. It is compiled already, and no graph "
            "can hold it: call it outside of `ja.compile`."
        )


# -- from objects to a plan --------------------------------------------------------------------------------------------


class StateWriter:
    """Collects what the programs of a function reach, each thing once.

    Attributes:
      arrays: Name → values of storages and bare arrays.
      transient: The names of buffers that are in no `state_dict()`.
    """

    def __init__(self) -> None:
        self.transient: set[str] = set()
        self.arrays: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._taken: dict[str, Any] = {}
        self._with_grads: set[int] = set()

    def name(self, value: object, wanted: str) -> str:
        """Returns the name of a tensor, array or generator."""
        if id(value) in self._names:
            return self._names[id(value)]
        name, n = wanted, 1
        while name in self._taken:
            n += 1
            name = f"{wanted}#{n}"
        self._names[id(value)], self._taken[name] = name, value
        return name

    def has(self, value: object) -> bool:
        """Returns whether something has a name."""
        return id(value) in self._names

    def put(self, name: str, value: object) -> None:
        """Notes a number under a name; later ones of that name are the same place."""
        self._taken.setdefault(name, value)

    def replace(self, name: str, value: object) -> None:
        """Puts the value of a cell under the cell's name."""
        self._taken[name] = value

    def note_grad(self, tensor: Tensor) -> None:
        """Notes that it matters that a tensor has a `.grad`."""
        self._with_grads.add(id(tensor))

    def plan(self) -> StatePlan:
        """Returns the state without its values, which are in `arrays` then.

        Raises:
          ExportError: If a tensor that requires grad was computed, or an array is on several devices.
        """
        tensors = {name: value for name, value in self._taken.items() if isinstance(value, Tensor)}
        number = {id(tensor): i for i, tensor in enumerate(tensors.values())}
        storages: dict[int, tuple[int, StateStorage]] = {}
        histories: dict[int, tuple[int, HistoryOfLeaf]] = {}
        counters: dict[int, int] = {}
        found = []
        for name, tensor in tensors.items():
            storage, history, counter = tensor._storage, tensor._history, tensor._counter
            if history is not None and history.requires_grad and (history.node is not None or tensor._chain):
                raise ExportError(
                    f"`{name}` requires grad and was computed of other tensors, whose history no archive holds. Keep "
                    f"`{name}.detach()`, or compute it in the function."
                )
            if id(storage) not in storages:
                array = storage.settled()
                self._require_one_device(name, array)
                held = StateStorage(storage.layout.plain, storage.n_written, None if array is None else name)
                storages[id(storage)] = len(storages), held
                if array is not None:
                    storage.is_shared = True  # no later write gives it away
                    self.arrays[name] = array
            if history is not None and id(history) not in histories:
                held = HistoryOfLeaf(history.requires_grad, history.layout.plain, history.offset, None)
                histories[id(history)] = len(histories), held
            spec = TensorSpec(
                storages[id(storage)][0],
                tensor._layout.plain,
                tensor._offset,
                None if history is None else histories[id(history)][0],
                number.get(id(tensor._base_tensor)),
                tensor._chain,
                tensor._creation,
                None if counter is None else counters.setdefault(id(counter), len(counters)),
            )
            grad = self._names.get(id(tensor._grad), "") if id(tensor) in self._with_grads else None
            found.append(StateTensor(name, spec, grad))
        others = {name: value for name, value in self._taken.items() if name not in tensors}
        return StatePlan(
            tuple(storage for _, storage in storages.values()),
            tuple(history for _, history in histories.values()),
            tuple(found),
            tuple(self._array(name, v) for name, v in others.items() if isinstance(v, (jax.Array, np.ndarray))),
            tuple(
                StateNumber(n, v) for n, v in others.items() if v is None or type(v) in (bool, int, float, complex, str)
            ),
            tuple(StateGenerator(n, *v.get_state()) for n, v in others.items() if isinstance(v, Generator)),
        )

    def _array(self, name: str, value: Any) -> StateArray:
        if isinstance(value, np.ndarray):
            self.arrays[name] = value.copy()
            return StateArray(name, "numpy", value.shape, value.dtype, False, "")
        self._require_one_device(name, value)
        is_key = is_key_dtype(value.dtype)
        words = jax.random.key_data(value) if is_key else value
        self.arrays[name] = words
        implementation = str(jax.random.key_impl(value)) if is_key else ""
        return StateArray(
            name,
            "key" if is_key else "array",
            words.shape,
            np.dtype(words.dtype),
            bool(getattr(value, "weak_type", False)),
            implementation,
        )

    def _require_one_device(self, name: str, array: object) -> None:
        if isinstance(array, jax.Array) and len(array.devices()) > 1:
            raise ExportError(
                f"`{name}` lies on {len(array.devices())} devices, and archives are for one. Put it on one first, "
                "`x.to(jax.devices()[0])`."
            )


# -- from a plan to objects --------------------------------------------------------------------------------------------


def make_state(plan: StatePlan, weights: Mapping[str, Any]) -> State:
    """Returns a state with values.

    Raises:
      ArchiveError: If values are missing, or of another shape or dtype.
    """
    problems = [f"`{name}` is missing" for name in plan.weights if name not in weights]
    storages = []
    for held in plan.storages:
        array = None
        if held.array is not None and held.array in weights:
            array = _fitting(held.array, weights[held.array], held.layout.size, held.layout.dtype, problems)
        storage = Storage(array, held.layout)
        storage.n_written = held.n_written
        storages.append(storage)
    bare = {a.name: _bare(a, weights[a.name], problems) for a in plan.arrays if a.name in weights}
    if problems:
        raise ArchiveError(
            f"The weights do not fit the archive: {'; '.join(problems)}. Give those that were exported, "
            "`ja.load(path, weights=state_dict)`; `exported.state_dict()` has them."
        )
    histories = [History(h.layout, h.offset, h.requires_grad) for h in plan.histories]
    counters = {t.spec.counter: WriteCounter() for t in plan.tensors}
    tensors = []
    for spec in (held.spec for held in plan.tensors):
        tensor = wrap(storages[spec.storage], spec.layout, spec.offset)
        tensor._history = None if spec.history is None else histories[spec.history]
        tensor._chain, tensor._creation = spec.chain, spec.creation
        tensor._counter = None if spec.counter is None else counters[spec.counter]
        if tensor._history is not None and tensor._history.requires_grad:
            tensor._history.leaf = weakref.ref(tensor)
        tensors.append(tensor)
    state = State({held.name: tensor for held, tensor in zip(plan.tensors, tensors, strict=True)})
    for held, tensor in zip(plan.tensors, tensors, strict=True):
        tensor._base_tensor = None if held.spec.base is None else tensors[held.spec.base]
        if held.grad is not None:
            dense = held.spec.layout.dense
            tensor._grad = state[held.grad] if held.grad else wrap_array(jnp.zeros(dense.size, dense.dtype), dense)
    state.update(bare)
    state.update({number.name: number.value for number in plan.numbers})
    state.update({g.name: Generator().set_state((g.seed, g.offset)) for g in plan.generators})
    return state


def _fitting(name: str, value: Any, size: Shape, dtype: Any, problems: list[str]) -> Any:
    """Returns an array, or notes that it is not what is wanted."""
    value = value.detach().jax() if isinstance(value, Tensor) else value
    shape, found = tuple(value.shape), np.dtype(value.dtype)
    if shape != tuple(size) or (found != dtype and canonical_dtype(found) != dtype):
        problems.append(f"`{name}` is {found}{list(shape)} instead of {dtype}{list(size)}")
        return None
    return jnp.array(value, dtype=dtype)  # a copy: calls write to it and reuse its buffer


def _bare(held: StateArray, value: object, problems: list[str]) -> Any:
    array = _fitting(held.name, value, held.shape, held.dtype, problems)
    if array is None or held.kind == "array":
        return array
    if held.kind == "numpy":
        return np.asarray(array)
    return jax.random.wrap_key_data(array, impl=held.implementation)
