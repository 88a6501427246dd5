"""Subclasses that say nothing of the protocol: a plain tensor under another class, with attributes of its own.

Such a tensor is made of one, its `plain`. Ops are carried out on that, and what comes out is of the class, as
PyTorch's are. So all that holds of tensors which are made of inner tensors holds of these, compiled as well.
"""

from __future__ import annotations

import copy
import enum
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jaxaot import _trees as pytree
from jaxaot.errors import AutogradError
from jaxaot.facade.dispatch.create import tensor
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import Op, carry_out_without_functions
from jaxaot.facade.view_ops import views
from jaxaot.ops.dtypes import dtype


def _made(cls: type, *args: object, **kwargs: object) -> Any:
    """Returns a new tensor of a class; of a subclass that says no more, one on the memory of what it is given."""
    made = object.__new__(cls)
    if hasattr(cls, "__tensor_is_plain__") and args:
        given = args[0] if isinstance(args[0], Tensor) else tensor(args[0])
        made.__dict__["plain"] = plain_of(given.detach())
    return made


def plain_of(value: Any) -> Any:
    """Returns the plain tensor of which one is made that is of a plain subclass; anything else as it is."""
    return value.plain if hasattr(type(value), "__tensor_is_plain__") else value


def as_subclass(self: Tensor, cls: type) -> Any:
    """Returns this tensor as one of a subclass: the same memory, and the same gradient.

    Args:
      cls: A class that derives from `ja.Tensor`, and says nothing of how ops are carried out.
    """
    made = object.__new__(cls)
    if not hasattr(cls, "__tensor_is_plain__"):
        raise AutogradError(
            f"`as_subclass({cls.__qualname__})`: a `{cls.__qualname__}` is made by its own `__new__`. Write "
            f"`{cls.__qualname__}(…)`."
        )
    made.__dict__["plain"] = views.alias(plain_of(self))
    return made


class _Aside:
    """What an attribute holds that is not compared as a value: programs look at it as at attributes of any object."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is _Aside

    def __hash__(self) -> int:
        return hash(_Aside)

    def __repr__(self) -> str:
        return repr(self.value)


_VALUES = (bool, int, float, complex, str, bytes, type(None), range, type, enum.Enum, np.dtype, dtype, np.generic)


def _is_value(held: object) -> bool:
    return all(map(_is_value, held)) if type(held) is tuple else isinstance(held, _VALUES)


def attributes_aside(wrapper: Any) -> Iterator[tuple[str, Any]]:
    """Yields the attributes of a tensor of a plain subclass that are no part of its context."""
    for name, held in vars(wrapper).items() if hasattr(wrapper, "__tensor_is_plain__") else ():
        if name != "plain" and not _is_value(held):
            yield name, held


def _flatten(self: Tensor) -> tuple[list[str], Any]:
    attributes = ((name, held) for name, held in self.__dict__.items() if name != "plain")
    return ["plain"], tuple((name, held if _is_value(held) else _Aside(held)) for name, held in attributes)


def _unflatten(cls: type, inner: dict[str, Any], context: Any, size: object, stride: object) -> Any:
    made = object.__new__(cls)
    made.__dict__.update({name: held.value if type(held) is _Aside else held for name, held in context})
    made.__dict__["plain"] = inner["plain"]
    return made


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    if id(self) not in memo:
        made = memo[id(self)] = object.__new__(type(self))
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        if hasattr(self, "_mark"):
            made._mark = self._mark
    return memo[id(self)]


def _wrapped(cls: type, value: object) -> Any:
    if type(value) is not Tensor:
        return value
    made = object.__new__(cls)
    made.__dict__["plain"] = value
    return made


def _dispatch(cls: type, op: Op, types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    is_tensor = lambda value: isinstance(value, Tensor)
    opened, named = pytree.mapped(plain_of, (args, kwargs), is_leaf=is_tensor)
    return pytree.mapped(lambda value: _wrapped(cls, value), op(*opened, **named), is_leaf=is_tensor)


def _function(cls: type, op: Op, types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Carries an op out as if no class had a `__tensor_function__`."""
    return carry_out_without_functions(op, args, kwargs)


def _coerce_tangent(gradient: Tensor, output: Any) -> Any:
    """Returns a gradient as one of the output's class, or as a plain tensor where the output is one."""
    if type(output) is Tensor or type(plain_of(gradient)) is not Tensor:
        return plain_of(gradient)
    made = object.__new__(type(output))
    made.__dict__.update(output.__dict__)
    made.__dict__["plain"] = plain_of(gradient)
    return made


def _of_plain(name: str) -> property:
    return property(
        lambda self: getattr(self.plain, name),
        lambda self, value: setattr(self.plain, name, plain_of(value)),
        lambda self: delattr(self.plain, name),
    )


def _call_plain(name: str) -> Any:
    def call(self: Any, *args: object, **kwargs: object) -> Any:
        return getattr(self.plain, name)(*args, **kwargs)

    call.__name__ = name
    call.__doc__ = f"Does what `{name}` of the plain tensor does."
    return call


def _requires_grad_(self: Any, requires_grad: bool = True) -> Any:
    """Says whether gradients of this leaf are wanted, in place."""
    self.plain.requires_grad_(requires_grad)
    return self


_FIELDS = (
    "_storage", "_layout", "_offset", "_history", "_base_tensor", "_chain", "_counter", "_creation", "_grad", "_hooks",
    "_trace", "_view_node", "_view_parent",
)  # fmt: skip
_CALLED = (
    "_read", "_concrete", "register_hook", "register_post_accumulate_grad_hook", "retain_grad", "_touch",
    "_gradient_edge", "_is_view",
)  # fmt: skip
_ASKED = ("grad", "grad_fn", "is_leaf", "data", "device", "_version", "_is_without_values", "_base")

MEMBERS: dict[str, Any] = {
    "__tensor_is_plain__": True, "__tensor_flatten__": _flatten, "__tensor_unflatten__": classmethod(_unflatten),
    "__tensor_dispatch__": classmethod(_dispatch), "__coerce_tangent__": staticmethod(_coerce_tangent),
    "__repr__": lambda self: f"{type(self).__qualname__}({self.plain!r})", "__deepcopy__": _deepcopy,
    "requires_grad_": _requires_grad_,
    "requires_grad": property(lambda self: self.plain.requires_grad, _requires_grad_),
    **{name: _of_plain(name) for name in (*_FIELDS, *_ASKED)}, **{name: _call_plain(name) for name in _CALLED},
}  # fmt: skip
"""What classes have besides that say nothing of the protocol."""

METHODS = {"as_subclass": as_subclass, "__tensor_function__": classmethod(_function), "__new__": staticmethod(_made)}
"""What every tensor has besides."""
