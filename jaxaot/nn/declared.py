"""Layers that are declared: their options as annotated fields, and the function of `nn.functional` that they call.

    @options()
    class RReLU(Layer, op=functional.rrelu, shown="lower upper inplace?"):
        lower: float = 1.0 / 8
        upper: float = 1.0 / 3
        inplace: bool = False

What such a class says anyway is written for it: `__init__`, `forward` and `extra_repr`, as Python that names the
attributes, as compiled functions guard those attributes of a module that its code names. As in a dataclass, options of
a base come first, in its order.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from jaxaot.nn import functional
from jaxaot.nn.modules.module import Module

L = TypeVar("L", bound="Layer")
_MISSING: Any = inspect.Parameter.empty


class _Field(NamedTuple):
    kind: str
    default: Any

    @property
    def is_passed_on(self) -> bool:
        return self.kind.startswith("InitVar")


class _Buffer(NamedTuple):
    default: Any


def buffer(*, default: Any) -> Any:
    """Returns what stands for the default of a field that is registered as a buffer."""
    return _Buffer(default)


class Layer(Module):
    """A module whose `forward` calls one function.

    Class Args:
      op: The function of `nn.functional`. Its parameters are read from the fields, and from `training`; what it has to
        be given besides is what `forward` takes.
      shown: The fields in the text of the layer: `*size` without its name, `inplace?` where it is set, and of `bias!`
        whether there is one.
      n_dims: Where there is a class for rows, one for images and one for volumes: of how many dims these are.
    """

    _n_dims: Any
    _fields: dict[str, _Field] = {}

    def __init_subclass__(
        cls, op: Callable[..., Any] | None = None, shown: str = "", n_dims: Any = None, **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        if n_dims is not None:
            cls._n_dims = n_dims
        if shown:
            cls.extra_repr = lambda self: ", ".join(_shown(self, shown))
        if op is not None:
            _write(cls, _forward_of(op, {**cls._fields, **_fields_of(cls)}))


@dataclass_transform(eq_default=False, field_specifiers=(buffer,))
def options(*, kw_only: bool = False) -> Callable[[type[L]], type[L]]:
    """Returns a decorator for layers, whose annotated fields become the parameters of `__init__`.

    Fields of type `InitVar` are handed to the method `__post_init__` of the class, which checks and completes.

    Args:
      kw_only: Whether they are given by name.
    """

    def declare(cls: type[L]) -> type[L]:
        own = _fields_of(cls)
        for name in own.keys() & vars(cls).keys():  # attributes of a module are those of its instance
            delattr(cls, name)
        cls._fields = {**cls._fields, **own}
        _write(cls, _init_of(cls, kw_only))
        return cls

    return declare


def _fields_of(cls: type) -> dict[str, _Field]:
    """Returns the fields that a class declares itself."""
    return {n: _Field(kind, vars(cls).get(n, _MISSING)) for n, kind in inspect.get_annotations(cls).items()}


def _init_of(cls: type[Layer], kw_only: bool) -> list[str]:
    takes, lines, passed_on = ["self", *"*"[:kw_only]], [], []
    for name, field in cls._fields.items():
        annotation = field.kind.removeprefix("InitVar[").removesuffix("]") if field.is_passed_on else field.kind
        takes.append(f"{name}: {annotation}" + ("" if field.default is _MISSING else f" = defaults[{name!r}]"))
        if field.is_passed_on:
            passed_on.append(f"{name}={name}")
        elif isinstance(field.default, _Buffer):
            lines.append(f"self.register_buffer({name!r}, {name})")
        else:
            lines.append(f"self.{name} = {name}")
    if hasattr(cls, "__post_init__"):
        lines.append(f"self.__post_init__({', '.join(passed_on)})")
    return [f"def __init__({', '.join(takes)}) -> None:", "super(layer, self).__init__()", *lines]


def _forward_of(op: Callable[..., Any], fields: dict[str, _Field]) -> list[str]:
    kept = {"training", *(name for name, field in fields.items() if not field.is_passed_on)}
    takes, call, is_in_order = ["self"], [], True
    for name, parameter in inspect.signature(op).parameters.items():
        is_in_order = is_in_order and parameter.kind is not parameter.KEYWORD_ONLY
        if name in kept:
            call.append(f"self.{name}" if is_in_order else f"{name}=self.{name}")
        elif parameter.default is _MISSING:
            takes.append(f"{name}: Tensor")
            call.append(name)
        else:
            is_in_order = False
    returns = "Any" if "return_indices" in kept else "Tensor"
    called = next(name for name, value in vars(functional).items() if value is op)
    return [f"def forward({', '.join(takes)}) -> {returns}:", f"return functional.{called}({', '.join(call)})"]


def _write(cls: type[Layer], lines: list[str]) -> None:
    """Gives a class a method of some lines, as if it stood in the module of the class."""
    module, made = sys.modules[cls.__module__], {}
    name = lines[0].removeprefix("def ").partition("(")[0]
    source = f"def write(layer, defaults):\n {lines[0]}\n  " + "\n  ".join(lines[1:]) + f"\n return {name}"
    exec(compile(source, str(module.__file__), "exec"), vars(module), made)
    given = {name: field.default for name, field in cls._fields.items()}
    defaults = {name: value.default if isinstance(value, _Buffer) else value for name, value in given.items()}
    method = made["write"](Layer, defaults)
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    setattr(cls, name, method)


def _shown(module: Module, shown: str) -> Iterator[str]:
    for word in shown.split():
        name = word.strip("*?!")
        value = getattr(module, name)
        if word.startswith("*"):
            yield str(value)
        elif not word.endswith("?") or value:
            yield f"{name}={value is not None if word.endswith('!') else value!r}"
