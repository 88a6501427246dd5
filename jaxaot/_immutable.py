"""Frozen dataclasses that cost nothing to import.

`dataclasses.dataclass(frozen=True)` compiles five methods for each class, which was a third of what `import jaxaot`
took: there are hundreds of small plans, and a process uses a few. Here all classes share these methods. The fields are
read, and an `__init__` is compiled, when the first object is made or somebody asks for them.
"""

from __future__ import annotations

import dataclasses
import inspect
import operator
import reprlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform, overload

C = TypeVar("C", bound=type)


@overload
def immutable(cls: C, /) -> C: ...
@overload
def immutable(cls: None = None, /, *, eq: bool = True) -> Callable[[C], C]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def immutable(cls: Any = None, /, *, eq: bool = True) -> Any:
    """Returns a class as a frozen dataclass, for classes of our own whose signature nobody reads.

    Methods that the class has stay. A dataclass under it has to be immutable by this as well.

    Args:
      cls: The class; without it, a decorator is returned.
      eq: Whether objects with equal fields are equal; otherwise each is equal to itself alone.
    """
    if cls is None:
        return lambda cls: _made(cls, eq)
    return _made(cls, True)


def _made(cls: Any, eq: bool) -> Any:
    own = {name for name, value in vars(cls).items() if value is not None}  # `__hash__` is None beside an `__eq__`
    methods: dict[str, Any] = {"__repr__": _repr, "__setattr__": _refuse_to_write, "__delattr__": _refuse_to_delete}
    methods |= {name: _Later(cls, name) for name in ("__dataclass_fields__", "__match_args__")}
    if "__init__" not in own:
        methods |= {"__init__": _first_call(cls), "__signature__": _Signature(cls)}
    if eq:
        methods |= _comparisons(cls)
    for name, method in methods.items():
        if name not in own:
            setattr(cls, name, method)
    return cls


_lock = threading.RLock()


class _Later:
    """Stands for what `dataclasses` reads in a class; that replaces it when somebody asks for it."""

    def __init__(self, cls: type, name: str):
        self._cls: Any = cls
        self._name = name

    def __get__(self, instance: object, owner: object = None) -> Any:
        with _lock:
            if isinstance(vars(self._cls)["__dataclass_fields__"], _Later):
                dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False)(self._cls)
            if isinstance(vars(self._cls)["__match_args__"], _Later):
                fields = dataclasses.fields(self._cls)
                self._cls.__match_args__ = tuple(field.name for field in fields if field.init and not field.kw_only)
        return getattr(self._cls, self._name)


class _Signature:
    """The signature of a class, which `inspect` asks for; its objects, if they can be called, have another."""

    def __init__(self, cls: type):
        self._cls: Any = cls

    def __get__(self, instance: object, owner: object = None) -> inspect.Signature:
        if instance is not None or owner is not self._cls:
            raise AttributeError("__signature__")
        signature = inspect.signature(_initializer(self._cls))
        return signature.replace(parameters=list(signature.parameters.values())[1:], return_annotation=signature.empty)


def _first_call(cls: Any) -> Any:
    """Returns an `__init__` that makes way for the one of the fields when it is called."""

    def __init__(self: object, /, *args: object, **kwargs: Any) -> None:
        cls.__init__ = _initializer(cls)
        cls.__init__(self, *args, **kwargs)

    return __init__


def _initializer(cls: Any) -> Any:
    """Returns the `__init__` of a frozen dataclass with the fields of this one."""
    like = lambda field: dataclasses.field(
        default=field.default, default_factory=field.default_factory, kw_only=field.kw_only
    )
    fields = [(field.name, field.type, like(field)) for field in dataclasses.fields(cls)]
    after = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
    made: Any = dataclasses.make_dataclass(cls.__name__, fields, namespace=after, repr=False, eq=False, frozen=True)
    made.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return made.__init__


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    fields = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(fields)})"


def _refuse_to_write(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _comparisons(cls: type) -> dict[str, Any]:
    def compared_at_first(self: object) -> Any:
        nonlocal compared
        compared = _reader(cls, lambda field: field.compare)
        return compared(self)

    def hashed_at_first(self: object) -> Any:
        nonlocal hashed
        hashed = _reader(cls, lambda field: field.compare if field.hash is None else bool(field.hash))
        return hashed(self)

    compared: Callable[[Any], Any] = compared_at_first
    hashed: Callable[[Any], Any] = hashed_at_first

    def __eq__(self: object, other: object) -> Any:
        if self is other:
            return True
        return compared(self) == compared(other) if type(self) is type(other) else NotImplemented

    def __hash__(self: object) -> int:
        return hash(hashed(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _reader(cls: Any, is_read: Callable[[dataclasses.Field[Any]], bool]) -> Callable[[Any], Any]:
    """Returns what reads some fields of an object."""
    names = [field.name for field in dataclasses.fields(cls) if is_read(field)]
    return operator.attrgetter(*names) if names else lambda self: ()
