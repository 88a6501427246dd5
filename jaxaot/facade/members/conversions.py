"""Tensors of another dtype, device or memory format: `to`, `float`, `half` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._typing import DTypeLike
from jaxaot.facade.dispatch.create import as_dtype, tensor
from jaxaot.facade.dispatch.dispatch import call, call_on_meta
from jaxaot.facade.memory.devices import device as Device
from jaxaot.facade.memory.devices import find_device, is_meta
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import is_wrapper, like, take_apart
from jaxaot.facade.view_ops import views
from jaxaot.lower.abstract import refuse_value
from jaxaot.ops.table import lookup
from jaxaot.tape.modes import state
from jaxaot.views.memory_format import MemoryFormat


def to(
    self: Tensor,
    *args: Any,
    dtype: DTypeLike | None = None,
    device: object = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: MemoryFormat | None = None,
    other: Tensor | None = None,
    layout: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """Returns the tensor with another dtype, device or memory format: itself if nothing changes and `copy` is not set.

    Positional arguments are a dtype, a device or a tensor that has both, then `non_blocking` and `copy`.
    """
    args = args if other is None else (other, *args)
    flags = [arg for arg in args if isinstance(arg, bool)]
    copy = copy or flags[1:] == [True]
    for arg in args:
        if isinstance(arg, bool) or arg is None:
            continue
        if isinstance(arg, Tensor):
            dtype = arg.dtype
        elif isinstance(arg, (jax.Device, Device, int)):
            device = arg
        elif isinstance(arg, str):
            try:
                dtype = np.dtype(arg)
            except TypeError:
                device = arg
        else:
            dtype = arg
    result = self
    wanted = as_dtype(dtype)
    if wanted is not None and wanted != self.dtype:
        result = laid_out(call(lookup("cast"), (self,), (wanted,)), memory_format)
    elif copy:
        result = views.clone(self, memory_format=memory_format)
    else:
        result = laid_out(self, memory_format)
    if is_wrapper(result):
        return result if device is None else like(result, [to(x, device) for x in take_apart(result)[0]])
    is_abstract = result._storage.layout.is_abstract
    if device is not None and is_meta(device):
        return result if is_abstract or state.trace is not None else call_on_meta(lookup("copy_of"), (result,), ())
    if device is not None:
        if is_abstract:
            refuse_value(f"`.to({str(device)!r})`", result._layout.size, result._layout.dtype)
        target = find_device(device)
        if state.trace is None and target != result.device:
            result = views.clone(result) if result is self else result
            result._storage.array = jax.device_put(result._storage.settled(), target)
    return result


def laid_out(given: Tensor, memory_format: MemoryFormat | None) -> Tensor:
    """Returns the tensor, or a copy of it if it does not lie in memory so; None and `preserve_format` take any."""
    if memory_format in (None, MemoryFormat.preserve_format):
        return given
    return views.contiguous(given, memory_format)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Returns the tensor with the dtype of another."""
    return to(self, dtype=other.dtype)


def cpu(self: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
    """Returns the tensor on the CPU."""
    return to(self, device="cpu", memory_format=memory_format)


def cuda(
    self: Tensor,
    device: Any = None,
    non_blocking: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Returns the tensor on a GPU; where JAX has none it raises, as PyTorch does without CUDA."""
    name = "cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device
    return to(self, device=name, memory_format=memory_format)


def _caster(dtype: DTypeLike | None) -> Callable[..., Tensor]:
    def cast(self: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
        return to(self, dtype=dtype, memory_format=memory_format)

    cast.__doc__ = f"Returns the tensor as {np.dtype(dtype).name}."
    return cast


def new_tensor(
    self: Tensor, data: object, dtype: DTypeLike | None = None, device: object = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Returns a leaf with a copy of `data`, by default of this tensor's dtype."""
    return tensor(data, self.dtype if dtype is None else dtype, device, requires_grad)


_DTYPES = {
    "float": np.float32, "double": np.float64, "half": np.float16, "bfloat16": jnp.bfloat16, "int": np.int32,
    "long": np.int64, "short": np.int16, "char": np.int8, "byte": np.uint8, "bool": np.bool_, "cfloat": np.complex64,
    "cdouble": np.complex128, "chalf": np.complex64,
}  # fmt: skip
"""Method → the dtype it casts to. There is no half-precision complex dtype in jax: `chalf` takes the next."""

METHODS: dict[str, Callable[..., Any]] = {
    "to": to,
    "type_as": type_as,
    "cpu": cpu,
    "cuda": cuda,
    "new_tensor": new_tensor,
} | {name: _caster(dtype) for name, dtype in _DTYPES.items()}
