"""Moves and converts what modules hold, in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from jaxaot.errors import TensorTypeError
from jaxaot.facade.dispatch.create import as_dtype
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.devices import device as device_type
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.promotion import is_inexact


def target_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Tensor], Tensor]:
    """Returns what `Module.to` does to each tensor: `to(device, dtype)`, `to(dtype)` or `to(tensor)`."""
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    for value in args:
        if isinstance(value, Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, (bool, type(None))):
            continue  # `non_blocking`
        elif isinstance(value, (jax.Device, device_type, int)) or (isinstance(value, str) and not _is_dtype(value)):
            device = value
        else:
            dtype = value
    dtype = as_dtype(dtype)
    if dtype is not None and not is_inexact(dtype):
        raise TensorTypeError(f"Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")

    def moved(tensor: Tensor) -> Tensor:
        given: dict[str, Any] = {} if device is None else {"device": device}
        if dtype is not None and is_inexact(tensor.dtype):
            given["dtype"] = dtype
        return tensor.to(**given) if given else tensor

    return moved


def _is_dtype(text: str) -> bool:
    return text.startswith(("float", "bfloat", "complex", "int", "uint", "bool"))


def applied(module: Any, fn: Callable[[Tensor], Tensor]) -> None:
    """Puts what `fn` makes of the values of a module's own tensors in their place, and of their gradients."""
    with recording(False):
        for parameter in module._parameters.values():
            if parameter is not None:
                parameter.data = fn(parameter.data)
                if parameter.grad is not None:
                    gradient = fn(parameter.grad.data)
                    parameter.grad = None
                    parameter.grad = gradient
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = fn(buffer)
