"""Modules and optimizers of PyTorch on JAX: their tensors are exchanged for ones on JAX, in place."""

from __future__ import annotations

import importlib
from typing import Any

from jaxaot.archive.readers import TRANSPARENT
from jaxaot.bridge import functions  # noqa: F401  custom Functions are adopted
from jaxaot.bridge.exchange import copied_from_torch
from jaxaot.bridge.library import need_wide_dtypes, optimizers, torch
from jaxaot.bridge.scope import ENTERED, after_step, before_step, begin, end, move_state
from jaxaot.bridge.tensor import Tensor, handle_of
from jaxaot.errors import NoCounterpartError

_hooked: list[Any] = []
TRANSPARENT.add(Tensor)


def move(module: Any) -> Any:
    """Puts the parameters and buffers of a module, or the state of an optimizer, on JAX, in place; returns it.

    The module stays what it is: its class, its names, its hooks, its mode. Parameters that are one stay one. An
    optimizer that is made afterwards, from `module.parameters()`, needs no move. One that was made before does, after
    its module: it gets the parameters that are in their place now.

    Args:
      module: A `torch.nn.Module`, or a `torch.optim.Optimizer`.

    Raises:
      DtypeError: If JAX has no dtypes of 64 bits.
      NoCounterpartError: If a parameter has no shape yet, or is sparse or quantized.
    """
    need_wide_dtypes()
    if not _hooked:
        # optimizers would import it in traces, and others would load what `record_function` and `vmap` need
        importlib.import_module("torch._dynamo")
        with torch.autograd.profiler.record_function("move"):
            torch.vmap(torch.neg)(torch.zeros(1, device="cpu"))
        _hooked.append(optimizers.register_optimizer_step_pre_hook(before_step))
        _hooked.append(optimizers.register_optimizer_step_post_hook(after_step))
    if isinstance(module, torch.optim.Optimizer):
        return _move_optimizer(module)
    for inner in module.modules():
        for name, value in [*inner._parameters.items(), *inner._buffers.items()]:
            if isinstance(value, torch.nn.parameter.UninitializedTensorMixin):
                raise NoCounterpartError(
                    f"`{name}` of {type(inner).__name__} has no shape yet. Call the module once before `move`."
                )
        for tensors in (inner._parameters, inner._buffers, inner.__dict__):
            for name, value in list(tensors.items()):
                if isinstance(value, torch.Tensor) and not isinstance(value, Tensor):
                    tensors[name] = _moved(value)
    if not any(hook is enter for hook in module._forward_pre_hooks.values()):
        module.register_forward_pre_hook(enter)
        module.register_forward_hook(leave, always_call=True)
    return module


def _moved(value: Any) -> Any:
    """Returns the tensor on JAX in the place of one of PyTorch: always the same one."""
    found = value.__dict__.get("_on_jax")
    if found is None:
        found = handle_of(copied_from_torch(value).requires_grad_(value.requires_grad))
        if value.grad is not None:
            found.grad = handle_of(copied_from_torch(value.grad))
        more = {name: item for name, item in value.__dict__.items() if name != "_on_jax"}
        found.__dict__.update(more)
        if isinstance(value, torch.nn.Parameter):
            found.__dict__["_is_param"] = True
        value._on_jax = found
    return found


def _move_optimizer(optimizer: Any) -> Any:
    old = dict(optimizer.state)
    optimizer.state.clear()
    for group in optimizer.param_groups:
        for i, parameter in enumerate(group["params"]):
            of_one = old.get(parameter)
            if not isinstance(parameter, Tensor):
                group["params"][i] = _moved(parameter)
            if of_one is not None:
                move_state(of_one)
                optimizer.state[group["params"][i]] = of_one
    return optimizer


def enter(module: Any, args: Any) -> None:
    """Begins the forward of a moved module: what it makes is on JAX."""
    begin()


def leave(module: Any, args: Any, result: Any) -> None:
    """Ends it."""
    end(max(0, len(ENTERED.forwards) - 1))
