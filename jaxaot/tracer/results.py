"""Results in containers that JAX does not know: dataclasses, subclasses of dict, deques, plain objects.

Such a container that the function made is taken apart like any other, and put together again at every call: it is made
without `__init__`, and given the items and attributes that the function gave it. So are those that hold arguments, or
no tensor at all: eagerly each call returns a new one.
"""

from __future__ import annotations

import functools
import gc
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Container, ItemsView, Iterator, KeysView, ValuesView
from typing import Any

import jax

from jaxaot import _trees as pytree
from jaxaot._jax import is_tracer
from jaxaot.errors import LeakedTensorError
from jaxaot.facade.cells.cells import CODE, attributes_of, is_leaf
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.trace_state import TraceState
from jaxaot.tracer.numbers.recipes import is_plain_object

_MAX_SEARCHED = 10_000


class Rebuilt:
    """A container taken apart: what `jax.tree` flattens, and unflattens to another such container.

    Attributes:
      cls: Its class.
      keys: Of a dict, its keys; of a sequence or set, the numbers of its items; None without items.
      names: The names of its attributes.
      extra: Further arguments: the length that a deque may have, the factory of a `defaultdict`.
      children: Items, then attributes.
    """

    def __init__(self, cls: type, keys: tuple[Any, ...] | None, names: tuple[str, ...], extra: Any, children: Any):
        self.cls, self.keys, self.names, self.extra, self.children = cls, keys, names, extra, tuple(children)

    def put_together(self) -> Any:
        """Returns a new container."""
        n = len(self.keys or ())
        cls: Any = self.cls
        made: Any
        items, attributes = self.children[:n], dict(zip(self.names, self.children[n:], strict=True))
        if cls is Storage:
            return self.children[0]._storage
        if issubclass(cls, functools.partial):
            made = cls(self.extra, *items, **attributes)
            attributes = {}
        elif issubclass(cls, (tuple, frozenset)):
            make: Any = cls.__new__
            made = make(cls, items)
        else:
            made = cls.__new__(cls)
        if issubclass(cls, dict):
            base = OrderedDict if issubclass(cls, OrderedDict) else dict
            for key, item in zip(self.keys or (), items, strict=True):
                base.__setitem__(made, key, item)
            if issubclass(cls, defaultdict):
                made.default_factory = self.extra
        elif issubclass(cls, list):
            list.extend(made, items)
        elif issubclass(cls, deque):
            deque.__init__(made, items, self.extra)
        elif issubclass(cls, set):
            set.update(made, items)
        for name, value in attributes.items():
            object.__setattr__(made, name, value)
        return made

    def flatten_with_keys(self) -> Any:
        """Returns keys and children, and the rest."""
        items = [jax.tree_util.DictKey(key) for key in self.keys or ()]
        keys = [*items, *map(jax.tree_util.GetAttrKey, self.names)]
        return tuple(zip(keys, self.children, strict=True)), (self.cls, self.keys, self.names, self.extra)


jax.tree_util.register_pytree_with_keys(
    Rebuilt,
    Rebuilt.flatten_with_keys,
    lambda aux, children: Rebuilt(aux[0], aux[1], aux[2], aux[3], children).put_together(),
    lambda rebuilt: (rebuilt.children, (rebuilt.cls, rebuilt.keys, rebuilt.names, rebuilt.extra)),
)


def take_apart(trace: TraceState, result: object, outside: Container[int], reached: Container[int]) -> Any:
    """Returns a result with `Rebuilt` in place of the containers that JAX does not know and that the function made.

    Args:
      trace: The trace.
      result: What the function returned.
      outside: Ids of the objects from outside, which are returned as they are.
      reached: Ids of all that the function could reach before it ran: what is among it is no new object.

    Raises:
      LeakedTensorError: If it is a container that cannot be put together again.
    """

    return _apart(trace, outside, reached, result, ())


def _apart(
    trace: TraceState, outside: Container[int], reached: Container[int], value: Any, around: tuple[int, ...]
) -> Any:
    # a function of its own, rather than one that refers to itself from inside: that would keep the trace alive
    def is_whole(child: object) -> bool:
        if isinstance(child, dict) and any(isinstance(key, Tensor) and key._trace is trace for key in child):
            raise LeakedTensorError(
                f"The function returned {_named(child)} with a tensor that it made as a key. A compiled call makes "
                "another tensor each time. Return a list of pairs, or take names, parameters or numbers for keys."
            )
        return child is None or id(child) in outside or isinstance(child, _LEAVES)

    def leaf(child: Any) -> Any:
        if isinstance(child, Tensor) or type(child) in STAND_INS or child is None or id(child) in outside:
            return child
        if is_leaf(child) or is_tracer(child) or (isinstance(child, CODE) and not isinstance(child, _OPAQUE)):
            return child
        is_new = id(child) not in reached
        holds_tensor = _holds_tensor(child, outside, None if is_new else trace)
        is_mutable = is_new and (isinstance(child, (set, deque)) or is_plain_object(child))
        if not holds_tensor and not is_mutable:
            return child
        if isinstance(child, _OPAQUE):
            return _refused(child)
        if id(child) in around:
            raise LeakedTensorError(
                f"The function returned {_named(child)} that leads to itself. Return the tensors in it, in a tuple or "
                "a dict."
            )
        try:
            return _rebuilt(child, lambda inner: _apart(trace, outside, reached, inner, (*around, id(child))))
        except LeakedTensorError:
            if holds_tensor:
                raise
            return child  # without a tensor it is good as it is

    return pytree.mapped(leaf, value, is_leaf=is_whole)


_LEAVES = (Iterator, KeysView, ItemsView, ValuesView)
"""What JAX takes for leaves and warns of."""
_OPAQUE = (types.FunctionType, types.MethodType, *_LEAVES)
"""What cannot be made again."""


def _named(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} `{name}`"


def _refused(value: object) -> Any:
    raise LeakedTensorError(
        f"The function returned {_named(value)} that holds a tensor which it made. A compiled call cannot make such a "
        "thing again. Return the tensors in a tuple, list, dict, dataclass or object of a class of your own."
    )


def _rebuilt(value: Any, apart: Callable[[Any], Any]) -> Rebuilt:
    cls, keys, extra = type(value), None, None
    items: list[Any] = []
    if isinstance(value, Storage):
        shown = next((other for other in gc.get_referrers(value) if isinstance(other, Tensor)), None)
        return _refused(value) if shown is None else Rebuilt(cls, (0,), (), None, (shown,))
    attributes = attributes_of(value)
    if isinstance(value, dict):
        keys, items = tuple(value.keys()), list(value.values())
        extra = getattr(value, "default_factory", None)
    elif isinstance(value, (list, tuple, set, frozenset, deque)):
        keys, items = tuple(range(len(value))), list(value)
        extra = getattr(value, "maxlen", None)
    elif isinstance(value, functools.partial):
        keys, items = tuple(range(len(value.args))), list(value.args)
        attributes, extra = dict(value.keywords), value.func
    elif not attributes:
        return _refused(value)
    rebuilt = Rebuilt(cls, keys, tuple(attributes), extra, [apart(c) for c in (*items, *attributes.values())])
    try:
        rebuilt.put_together()
    except Exception as error:
        raise LeakedTensorError(
            f"The function returned {_named(value)}, which cannot be made again without `__init__`: {error}. Return "
            "the tensors in it, in a tuple or a dict."
        ) from error
    return rebuilt


def _holds_tensor(value: object, outside: Container[int], trace: TraceState | None) -> bool:
    """Returns whether an object leads to a tensor, of a trace if one is given, or to what is symbolic."""
    pending, seen = [value], set[int]()
    while pending and len(seen) < _MAX_SEARCHED:
        item = pending.pop()
        if is_tracer(item) or type(item) in STAND_INS:
            return True
        if isinstance(item, Tensor):
            if trace is None or item._trace is trace:
                return True
            continue
        if id(item) in seen or id(item) in outside or isinstance(item, (type, types.ModuleType)):
            continue
        seen.add(id(item))
        if isinstance(item, types.FunctionType):
            pending += [*(item.__closure__ or ()), item.__defaults__, item.__kwdefaults__]
        else:
            pending += gc.get_referents(item)
    return False
