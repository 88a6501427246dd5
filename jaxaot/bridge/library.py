"""PyTorch, which the bridge alone imports, and what it calls the same things: dtypes, memory formats, the device."""

from __future__ import annotations

import importlib
import importlib.util
import types
from typing import Any

import jax
import numpy as np

from jaxaot.errors import DtypeError, MissingExtraError
from jaxaot.ops.dtypes import dtype
from jaxaot.views.memory_format import MemoryFormat

if importlib.util.find_spec("torch") is None:
    raise MissingExtraError(
        "PyTorch's modules run on JAX where PyTorch is installed, and it is not. Install it with "
        '`pip install "jaxaot[torch]"`, which takes its build for CPUs where pip is told to: '
        "`--index-url https://download.pytorch.org/whl/cpu`."
    )

torch: Any = importlib.import_module("torch")
overrides: Any = importlib.import_module("torch.overrides")
optimizers: Any = importlib.import_module("torch.optim.optimizer")

_NAMES = (
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16",
    "uint8", "bool", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip
TO_JAX: dict[Any, Any] = {
    getattr(torch, name): dtype(np.dtype(getattr(jax.numpy, f"{name}_" if name == "bool" else name))) for name in _NAMES
}
"""dtype of PyTorch → the same here."""
TO_TORCH = {np.dtype(here): there for there, here in TO_JAX.items()}
RESULTS = {name: cls for name, cls in vars(torch.return_types).items() if isinstance(cls, type)}
"""Name of a function that returns several results → the class of them."""
for _cls in set(RESULTS.values()):
    jax.tree_util.register_pytree_node(
        _cls, lambda result: (tuple(result), None), lambda _, parts, cls=_cls: cls(parts)
    )
FORMATS = {getattr(torch, form.name): form for form in MemoryFormat}
DEVICE_TYPE = "xla"
"""What tensors of the bridge say that they are on: the one kind of device that PyTorch names for XLA."""
DEVICE = torch.device(DEVICE_TYPE, 0)
SHELL = torch.device("meta", 9)
"""Where C++ sees shells, by a number that no other tensor has: what groups tensors by device in C++ returns it."""


def _device_module() -> Any:
    """Returns what `torch.utils.checkpoint` and its like look up of a kind of device: `torch.xla`."""
    module = types.ModuleType(f"torch.{DEVICE_TYPE}", "The device of tensors on JAX.")
    module.is_available = lambda: True  # type: ignore[attr-defined]
    module.device_count = lambda: 1  # type: ignore[attr-defined]
    module.current_device = lambda: 0  # type: ignore[attr-defined]
    return module


if not hasattr(torch, DEVICE_TYPE):
    torch._register_device_module(DEVICE_TYPE, _device_module())


def is_here(device: object) -> bool:
    """Returns whether a device, or its name, is that of the bridge's tensors."""
    if not isinstance(device, (str, torch.device)):
        return False
    device = torch.device(device)
    return device.type == DEVICE_TYPE or device == SHELL


def need_wide_dtypes() -> None:
    """Raises where JAX would make PyTorch's int64 and float64 narrower.

    Raises:
      DtypeError: If JAX has no dtypes of 64 bits.
    """
    if jax.dtypes.canonicalize_dtype(np.int64) != np.int64:
        raise DtypeError(
            "Modules of PyTorch compute with int64, and ask for it, and JAX has no dtypes of 64 bits as long as its "
            "x64 mode is off. Write `jax.config.update('jax_enable_x64', True)` before the first tensor is made. "
            "Parameters keep their dtypes: float32 stays float32."
        )
