"""What a traced function asks of tensors from outside, beside what the guards on its inputs compare anyway.

Sizes, strides, dtypes, offsets, memory that is shared, and whether a tensor is a leaf that requires grad are part of
every call plan. The rest is guarded where the function asks for it: `x._version` says another number after each write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from jaxaot._jax import is_tracer
from jaxaot.facade.memory import devices
from jaxaot.facade.memory.counter import writes_of
from jaxaot.tape.modes import state

_MAX_NODES = 64


def _version(tensor: Any) -> Any:
    return None if tensor._creation == "inference" else writes_of(tensor)


def _hooks(tensor: Any) -> tuple[int, ...] | None:
    hooks = tensor._backward_hooks
    return None if hooks is None else tuple(hooks)


def _node(tensor: Any) -> tuple[Any, ...]:
    """Returns the output that a tensor is, and the names of the nodes behind it with where their edges lead."""
    node = tensor._producer()
    if node is None:
        return (tensor.output_nr,)
    numbers, rows = {node: 0}, []
    for found in (waiting := [node]):
        edges: list[Any] = []
        for following, index in found.next_functions:
            if following is not None and following not in numbers and len(numbers) < _MAX_NODES:
                numbers[following] = len(numbers)
                waiting.append(following)
            edges.append((numbers.get(following), index))
        rows.append((found.name(), *edges))
    return tensor.output_nr, *rows


FACTS: dict[str, Callable[[Any], Any]] = {
    "_version": _version,
    "_is_view": lambda tensor: tensor._base_tensor is not None,
    "grad_fn": _node,
    "_backward_hooks": _hooks,
    "mark": lambda tensor: getattr(tensor, "_mark", None),
    "is_inference": lambda tensor: tensor._creation == "inference",
    "retains_grad": lambda tensor: tensor.retains_grad,
    "device": lambda tensor: tensor.device,
    "data_ptr": lambda tensor: tensor.data_ptr(),
}
"""By name, what is asked and compared; a mark says whether a tensor is a parameter."""


def answer_to(name: str) -> Callable[[Any], Any]:
    """Returns what answers what is asked of a tensor; of an attribute that it did not have, whether it has it now."""
    return FACTS.get(name) or (lambda tensor: name in vars(tensor))


def note_absence(tensor: Any, name: str) -> None:
    """Notes that a traced function looked for an attribute that a tensor does not have, and none has by itself."""
    if state.trace is not None and not hasattr(type(tensor), name) and name[:2] != "__" and name not in _OF_ANYTHING:
        state.trace.note_fact(tensor, name)


_OF_ANYTHING = ("_fields", "aval")
"""Attributes that jaxaot and JAX look for at any object."""


class Place(int):
    """Where the memory of a tensor lies, in a trace.

    To ask whether it is that of another tensor is answered by what all calls of a program share. Whatever else is done
    with it is done with the number, which is then guarded.
    """

    storage: Any

    def __new__(cls, number: int, storage: Any) -> Place:
        made = int.__new__(cls, number)
        made.storage = storage
        return made

    def settled(self, what: str = "") -> int:
        """Returns the number, noting that it decides what is traced, whatever it is used for."""
        del what
        if state.trace is not None:
            state.trace.note_place(self.storage)
        return int.__int__(self)

    def __eq__(self, other: object) -> bool:
        return int.__eq__(self, other if isinstance(other, Place) else self._seen_by(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return int.__hash__(self)

    def _seen_by(self, other: object) -> object:
        if other != 0:  # which no memory has but that of no elements
            self.settled()
        return other

    def __reduce__(self) -> Any:
        return int, (self.settled(),)


def device_of(tensor: Any) -> Any:
    """Returns what `device` says: in a trace, of a tensor from outside where it lay before."""
    storage, trace = tensor._storage, state.trace
    if storage.layout.is_abstract:
        return devices.META
    array = storage.array
    if trace is not None and jax.device_count() > 1:
        trace.note_fact(tensor, "device")
        array = trace.outside_array(storage)
    if array is None or is_tracer(array):
        return devices.device_of(jax.devices()[0])
    return devices.device_of(next(iter(array.devices())))


def place_of(storage: Any, n_bytes: int = 0) -> int:
    """Returns what `data_ptr` says of where some bytes of a storage end."""
    number = (id(storage) if storage.nbytes() else 0) + n_bytes
    return number if state.trace is None else Place(number, storage)


def _on_number(name: str) -> Callable[..., Any]:
    method = getattr(int, name)
    return lambda self, *args: method(self.settled(), *args)


for _name in dir(int):
    if callable(getattr(int, _name)) and _name not in vars(Place) and _name not in dir(object):
        setattr(Place, _name, _on_number(_name))
for _name in ("__repr__", "__str__", "__format__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Place, _name, _on_number(_name))
