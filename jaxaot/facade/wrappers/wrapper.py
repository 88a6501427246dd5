"""What wrappers have otherwise than plain tensors: their gradients, copies and text are those of inner tensors."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from jaxaot.errors import AutogradError, DtypeError, MissingMemoryError, SubclassError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import Frame, Op, ask, carrying, leaves_of, like, put_together, take_apart
from jaxaot.facade.subclass.wrapper_gradients import carried, gradient_of, pairs_with
from jaxaot.facade.wrappers.wrapper_hooks import register_hook, register_post_accumulate_grad_hook


def _asks(value: Tensor) -> str:
    names = take_apart(value)[1].names
    return f"its inner tensors, {', '.join(f'`.{name}`' for name in names)}"


_ITEM = Op("item", lambda self: self.item())


def _concrete(self: Tensor, what: str) -> Any:
    if self._layout.numel == 1:
        number = ask(_ITEM, (self,), {})
        if number is not NotImplemented:
            return np.asarray(number).reshape(self._layout.size)
    raise MissingMemoryError(
        f"{what} needs values, and a `{type(self).__qualname__}` has none but those of {_asks(self)}. Ask these, or "
        "first make a plain tensor of it."
    )


# -- gradients ---------------------------------------------------------------------------------------------------------


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Any:
    """Says whether gradients of this leaf are wanted, in place: of its inner tensors that carry gradients.

    These become handles of its own on the same memory, so that whoever else holds them sees no change.
    """
    names = carrying(self)
    if requires_grad and not names:
        raise DtypeError(
            f"A `{type(self).__qualname__}` cannot require grad: none of {_asks(self)} carries gradients. Keep the "
            "trained values in a float tensor, and make this of it where it is used."
        )
    if not self.is_leaf:
        raise AutogradError(
            "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
            "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
        )
    for name in names:
        inner = getattr(self, name)
        if inner.requires_grad != bool(requires_grad):
            setattr(self, name, inner.detach().requires_grad_(requires_grad))
    return self


def _set_grad(self: Tensor, value: Tensor | None) -> None:
    if value is None:
        for leaf in carried(self):
            leaf.grad = None
        return
    if not isinstance(value, Tensor):
        raise SubclassError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
        )
    for leaf, gradient in list(pairs_with(self, value)):
        leaf.grad = gradient


def retain_grad(self: Tensor) -> None:
    """Keeps the gradients of this tensor in its `.grad`, although it was computed."""
    for leaf in carried(self):
        if leaf.requires_grad:
            leaf.retain_grad()


def detach_(self: Tensor) -> Any:
    """Cuts this tensor off from its history, in place."""
    for leaf in carried(self):
        leaf.detach_()
    return self


# -- what it is --------------------------------------------------------------------------------------------------------


def _set_data(self: Tensor, value: Tensor) -> None:
    inner, frame = take_apart(self)
    if type(value) is not type(self) or take_apart(value)[1].kind != frame.kind:
        raise SubclassError(
            f"`.data` of a `{type(self).__qualname__}` was set to a tensor of another kind. Set it to one of the same "
            f"class and context, or set the data of {_asks(self)}."
        )
    for old, new in zip(inner, take_apart(value)[0], strict=True):
        old.data = new
    self._layout = value._layout


def _repr(self: Tensor) -> str:
    inner, frame = take_apart(self)
    parts = [f"{name}={value!r}" for name, value in zip(frame.names, inner, strict=True)]
    if frame.context is not None:
        parts.append(f"context={frame.context!r}")
    return f"{type(self).__qualname__}({', '.join(parts)})"


# -- copies ------------------------------------------------------------------------------------------------------------


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Any:
    if id(self) not in memo:
        made = like(self, [copy.deepcopy(value, memo) for value in take_apart(self)[0]])
        if hasattr(self, "_mark"):
            made._mark = self._mark
        memo[id(self)] = made
    return memo[id(self)]


def _reduce(self: Tensor) -> Any:
    inner, frame = take_apart(self)
    return rebuild_wrapper, (type(self), frame, inner, getattr(self, "_mark", None))


def rebuild_wrapper(cls: type, frame: Frame, inner: list[Any], mark: str | None) -> Any:
    """Returns an unpickled wrapper."""
    made = put_together(cls, frame, inner)
    if mark is not None:
        made._mark = mark
    return made


MEMBERS: dict[str, Any] = {
    "__init__": lambda self, *args, **kwargs: None,  # `__new__` has made it
    "_read": lambda self: _concrete(self, "What was called"), "_concrete": _concrete,
    "requires_grad": property(
        lambda self: any(leaf.requires_grad for leaf in carried(self)),
        lambda self, value: self.requires_grad_(value),
    ),
    "requires_grad_": requires_grad_,
    "is_leaf": property(lambda self: all(leaf.is_leaf for leaf in carried(self))),
    "grad_fn": property(lambda self: next((leaf.grad_fn for leaf in carried(self) if leaf.grad_fn is not None), None)),
    "grad": property(
        lambda self: gradient_of(self, lambda leaf: leaf.grad), _set_grad, lambda self: _set_grad(self, None)
    ),
    "retain_grad": retain_grad, "register_hook": register_hook,
    "register_post_accumulate_grad_hook": register_post_accumulate_grad_hook, "detach_": detach_,
    "_version": property(lambda self: sum(leaf._version for leaf in leaves_of(self))),
    "device": property(lambda self: next(leaves_of(self)).device),
    "data": property(lambda self: self.detach(), _set_data),
    "_base": property(lambda self: None), "_is_view": lambda self: False,
    "_is_without_values": property(lambda self: any(leaf._is_without_values for leaf in leaves_of(self))),
    "__repr__": _repr, "__format__": lambda self, spec: format(repr(self), spec), "__deepcopy__": _deepcopy,
    "__reduce__": _reduce, "__reduce_ex__": lambda self, protocol: _reduce(self),
}  # fmt: skip
"""What Tensor has and wrappers have otherwise."""
