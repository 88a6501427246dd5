"""Parameters that are computed from others (`torch.nn.utils.parametrize`).

A parametrized attribute is a property of a class that is made for the one module. What it is computed from are the
parameters of `module.parametrizations.weight`.
"""

from __future__ import annotations

import copy
from typing import Any

from jaxaot._util import show_only_own as _show_only_own
from jaxaot.errors import TensorValueError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.modules.containers import ModuleDict
from jaxaot.nn.modules.module import Module
from jaxaot.nn.parameter import Parameter
from jaxaot.nn.utils.originals import ParametrizationList, parametrized_property


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Has a parameter or buffer of a module computed by another module; returns the first.

    Args:
      module: What has the parameter.
      tensor_name: Its name.
      parametrization: Computes it from one tensor, or from those that its method `right_inverse` returns.
      unsafe: Whether shape and dtype may change.

    Raises:
      TensorValueError: If there is no such parameter, or shape or dtype change.
    """
    if is_parametrized(module, tensor_name):
        rows = module.parametrizations[tensor_name]
        assert isinstance(rows, ParametrizationList), "that is what a parametrized name has"
        rows.add(parametrization)
        return module
    kept = next((k for k in (module._parameters, module._buffers) if tensor_name in k), None)
    if kept is None:
        raise TensorValueError(
            f"Module '{type(module).__name__}' does not have a parameter, a buffer, or a parametrized element with "
            f"name '{tensor_name}'"
        )
    rows = ParametrizationList(parametrization, kept[tensor_name], unsafe)
    del kept[tensor_name]
    if "parametrizations" not in module._modules:
        _own_class(module)
        module.add_module("parametrizations", ModuleDict())
    module.parametrizations[tensor_name] = rows
    setattr(type(module), tensor_name, parametrized_property(tensor_name))
    return module


def _own_class(module: Module) -> None:
    """Gives a module a class of its own, which may have properties."""
    cls = type(module)

    def deep_copied(self: Module, memo: dict[int, Any]) -> Module:
        made = object.__new__(type(self))
        memo[id(self)] = made
        vars(made).update(copy.deepcopy(vars(self), memo))
        return made

    namespace = {"__deepcopy__": deep_copied, "__module__": cls.__module__, "__doc__": cls.__doc__}
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), namespace)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Returns whether a module has computed parameters, or whether one by that name is."""
    rows = module._modules.get("parametrizations")
    if not isinstance(rows, ModuleDict):
        return False
    return len(rows) > 0 if tensor_name is None else tensor_name in rows


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Has a module hold a parameter itself again; returns it.

    Args:
      module: What has the parameter.
      tensor_name: Its name.
      leave_parametrized: Whether its value is the computed one, rather than the one that it was computed from.

    Raises:
      TensorValueError: If it is not computed, or has several originals and the computed value is not to be left.
    """
    if not is_parametrized(module, tensor_name):
        raise TensorValueError(f"Module {type(module).__name__} does not have a parametrization on {tensor_name}")
    rows = module.parametrizations[tensor_name]
    assert isinstance(rows, ParametrizationList), "that is what a parametrized name has"
    if leave_parametrized:
        with recording(False):
            value: Tensor = rows().detach().clone()
        kept = Parameter(value, rows.requires_grad) if rows.is_parameter else value
    elif rows.n_originals:
        raise TensorValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    else:
        kept = rows.original
    del module.parametrizations[tensor_name]
    delattr(type(module), tensor_name)
    if not len(module.parametrizations):
        del module._modules["parametrizations"]
        module.__class__ = type(module).__bases__[0]
    if rows.is_parameter:
        module.register_parameter(tensor_name, kept)  # type: ignore[arg-type]
    else:
        module.register_buffer(tensor_name, kept)
    return module


_show_only_own(globals())
