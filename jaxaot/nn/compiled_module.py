"""What `ja.compile` makes of a module: a module with the same attributes, whose call is compiled.

    model = ja.compile(Net())
    optimizer = ja.optim.Adam(model.parameters())
    model.train()(x)

It shares the `__dict__` of the module, and its class derives from the module's own. So parameters, buffers, children,
hooks, modes and attributes are the same, whichever of both they are reached by, and names in state dicts have no
prefix. Methods are the module's, and run eagerly.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jaxaot.nn.modules.module import Module
from jaxaot.nn.state import IncompatibleKeys
from jaxaot.pipeline import compiled

_PREFIX = "_orig_mod."
"""In front of each name in state dicts of PyTorch's compiled modules."""


class CompiledModule(Module):
    """A module whose call is compiled.

    Attributes:
      _compiled_call: The compiled function; its public names are found here too, where the module has none such.
      _orig_mod: The module itself, by PyTorch's name for it.
    """

    __slots__ = ()
    _compiled_call: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Keeps from the user's class that one derives from it."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Returns a plain module, for a method that writes `type(self)(…)`."""
        return cls.__bases__[1](*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled_call(*args, **kwargs)

    @property
    def _orig_mod(self) -> Any:
        return self._compiled_call.fn

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            holder = (
                self._orig_mod if hasattr(type(self._orig_mod), name) else self._compiled_call
            )  # a class that changed
            if holder is self._compiled_call and (name.startswith("_") or not hasattr(holder, name)):
                raise
            return getattr(holder, name)

    def _compiled_by(self, compile: Callable[..., Any]) -> Any:
        return self._orig_mod._compiled_by(compile)

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _compiled_again, (self._orig_mod, self._compiled_call._options)

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        return self._orig_mod.named_modules(memo, prefix, remove_duplicate)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        if state_dict and all(name.startswith(_PREFIX) for name in state_dict):
            state_dict = {name.removeprefix(_PREFIX): value for name, value in state_dict.items()}
        return super().load_state_dict(state_dict, strict, assign)


def _class_of(cls: type) -> type:
    """Returns the class of compiled modules of a class; it has the same name."""
    for known in cls.__subclasses__():
        if known.__bases__[0] is CompiledModule:
            return known
    make = abc.ABCMeta.__new__ if issubclass(type(cls), abc.ABCMeta) else type.__new__
    space = {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    return make(type(cls), cls.__name__, (CompiledModule, cls), {**space, "__slots__": ("_compiled_call",)})


def with_compiled_call(call: Any) -> Any:
    """Returns the module of a compiled function of one, as a module with that call."""
    made = object.__new__(_class_of(type(call.fn)))
    object.__setattr__(made, "__dict__", vars(call.fn))
    object.__setattr__(made, "_compiled_call", call)
    return made


def _compiled_again(module: Any, options: Any) -> Any:
    return with_compiled_call(compiled(module, options))
