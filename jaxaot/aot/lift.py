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
        self.refresh()

    def refresh(self) -> Hashable:
        found, structure = _collect(self.module)
        self.parameters, self.buffers = {}, {}
        for name, tensor in found:
            is_parameter = tensor.requires_grad and tensor.is_leaf
            (self.parameters if is_parameter else self.buffers)[name] = tensor
        return structure

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        run = self.module if callable(self.module) else self.module.forward
        return run(*args, **kwargs)

    def store(self) -> None:
        """Does nothing: the tensors are the module's own."""

    def gradients(self) -> dict[str, Tensor | None]:
        return {name: tensor.grad for name, tensor in self.parameters.items()}

    @property
    def forward(self) -> Callable[..., Any]:
        named = getattr(self.module, "forward", None)
        return named if callable(named) else self.module


def _collect(module: object) -> tuple[list[tuple[str, Tensor]], tuple[Any, ...]]:
    """Returns the tensors that an object holds, by name and each once, and how many children each object in it has.

    An object's own tensors come before those of the objects that it holds, as in PyTorch.
    """
    tensors: list[tuple[str, Tensor]] = []
    structure: list[tuple[str, int]] = []
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
        structure.append((prefix, len(children)))
        for name, child in children:
            if not isinstance(child, Tensor):
                visit(child, prefix if name in _HIDDEN else f"{prefix}{name}.")

    if not isinstance(module, CODE):
        visit(module, "")
    return tensors, tuple(structure)


def holds_tensors(value: object) -> bool:
    """Returns whether an object, other than a function, has tensors among its attributes or below."""
    return bool(_collect(value)[0])
