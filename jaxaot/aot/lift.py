"""Lifting: the parameters and buffers of an object become inputs.

To *lift* a module is to list its parameters and buffers as tensors, each once and by name, and to be able to run the
module on them. What a parameter is depends on the library: of an object that holds tensors the leaves that require
grad, of a flax nnx module its `nnx.Param`s, of a linen module the collection `params`. Everything else is a buffer.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Hashable
from typing import Any

from jaxaot.errors import ModuleLiftError
from jaxaot.facade.cells.cells import CODE, children_of
from jaxaot.facade.memory.tensor import Tensor

_HIDDEN = ("_parameters", "_buffers", "_modules")
"""Where a module of `ja.nn` keeps what its users know as its own attributes, and PyTorch's state dicts name so."""
_PLAIN = (bool, int, float, complex, str, type(None))


class AbstractLifted(abc.ABC):
    """A module whose parameters and buffers are inputs.

    Attributes:
      module: The module itself.
      parameters: By name, in the order of the inputs, each tensor once.
      buffers: Likewise.
    """

    module: Any
    parameters: dict[str, Tensor]
    buffers: dict[str, Tensor]

    @abc.abstractmethod
    def refresh(self) -> Hashable:
        """Brings the tensors up to date with the module, and returns what else a program depends on."""

    @abc.abstractmethod
    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the module's result, computed from the tensors; may write to the buffers."""

    @abc.abstractmethod
    def store(self) -> None:
        """Puts the values of the buffers back into the module, after a call that may have changed them."""

    @abc.abstractmethod
    def gradients(self) -> Any:
        """Returns the gradients of the parameters, in the container in which the module's library holds parameters."""

    def inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments of a call as what a trace takes."""
        return args, kwargs

    @property
    def forward(self) -> Callable[..., Any]:
        """The function whose signature names the arguments of a call."""
        return self.module


class PlainValues:
    """The plain Python values of the objects of a module, which may decide what it computes.

    A trace runs the module's Python code, and a counter moves on in it. So what later calls are compared with is what
    the values are after the trace, and `values` is set then.
    """

    def __init__(self, values: tuple[Any, ...]):
        self.values = values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlainValues) and self.values == other.values

    def __hash__(self) -> int:
        return hash(PlainValues)


class LiftedObject(AbstractLifted):
    """Any callable Python object: tensors among its attributes, and in the objects, lists and dicts that these hold."""

    def __init__(self, module: object):
        if not callable(module) and not callable(getattr(module, "forward", None)):
            raise ModuleLiftError(
                f"An object of type {type(module).__name__} cannot be called, so it is no module. Give its class a "
                "method `__call__` or `forward`; a linen module comes with its variables: "
                "`ja.aot.aot_module(module, compiler, variables=variables)`."
            )
        self.module = module
        self.parameters, self.buffers = {}, {}
        self._latest = PlainValues(())
        self._ran = False
        self.refresh()

    def refresh(self) -> Hashable:
        found, plain = _collect(self.module)
        self.parameters, self.buffers = {}, {}
        for name, tensor in found:
            is_parameter = tensor.requires_grad and tensor.is_leaf
            (self.parameters if is_parameter else self.buffers)[name] = tensor
        self._latest = PlainValues(plain)
        return self._latest

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._ran = True
        run = self.module if callable(self.module) else self.module.forward
        return run(*args, **kwargs)

    def store(self) -> None:
        if self._ran:  # the tensors are the module's own, but its Python code ran, so that plain values may have moved
            self._latest.values = _collect(self.module)[1]
            self._ran = False

    def gradients(self) -> dict[str, Tensor | None]:
        return {name: tensor.grad for name, tensor in self.parameters.items()}

    @property
    def forward(self) -> Callable[..., Any]:
        named = getattr(self.module, "forward", None)
        return named if callable(named) else self.module


def _collect(module: object) -> tuple[list[tuple[str, Tensor]], tuple[Any, ...]]:
    """Returns the tensors that an object holds, by name and each once, and its plain values.

    An object's own tensors come before those of the objects that it holds, as in PyTorch.
    """
    tensors: list[tuple[str, Tensor]] = []
    plain: list[Any] = []
    seen: set[int] = set()

    def visit(value: object, prefix: str) -> None:
        if id(value) in seen or isinstance(value, CODE):
            return
        seen.add(id(value))
        children = list(children_of(value))
        for name, child in children:
            if isinstance(child, Tensor) and id(child) not in seen:
                seen.add(id(child))
                tensors.append((prefix + name, child))
            elif type(child) in _PLAIN:
                plain.append((prefix + name, child))
        plain.append((prefix, len(children)))
        for name, child in children:
            if not isinstance(child, Tensor):
                visit(child, prefix if name in _HIDDEN else f"{prefix}{name}.")

    if not isinstance(module, CODE):
        visit(module, "")
    return tensors, tuple(plain)


def holds_tensors(value: object) -> bool:
    """Returns whether an object, other than a function, has tensors among its attributes or below."""
    return bool(_collect(value)[0])
