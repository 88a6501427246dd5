"""What holds where nothing else is said: the device and dtype of new tensors, the precision of products, threads."""

from __future__ import annotations

import os
import warnings
from typing import Any

import jax
import numpy as np

from jaxaot._typing import DTypeLike
from jaxaot.errors import ArgumentError, TensorTypeError, UsageError
from jaxaot.facade.deferred.recorder import clear_pulls
from jaxaot.facade.dispatch.create import as_dtype
from jaxaot.facade.dispatch.operands import clear_kernels
from jaxaot.facade.kernels.kernels import DTYPE_NAMES
from jaxaot.facade.memory.devices import META, device, device_of, find_device, is_meta
from jaxaot.ops.promotion import default_float, is_floating, set_default_float
from jaxaot.runtime.compiled import clear_all
from jaxaot.tape.modes import state

_PRECISIONS = {"highest": "highest", "high": "high", "medium": "bfloat16"}
"""PyTorch's word for the precision of products of float32 → JAX's."""

_WORDS = {"high": "high", "tensorfloat32": "high", "bfloat16_3x": "high", "bfloat16": "medium", "default": "medium"}
"""JAX's word → PyTorch's; anything else is the highest."""

_KINDS = {kind: name for name, kind in DTYPE_NAMES.items()}
_threads: dict[str, int] = {}
_deterministic = {"mode": False, "warn_only": False}


def _refuse_traced(name: str) -> None:
    if state.trace is not None:
        raise UsageError(
            f"`ja.{name}` was called in a function that is being compiled, and it decides what that becomes. Call it "
            "before, outside of the function."
        )


def set_default_device(device: object) -> None:
    """Sets where tensors are made that say no device of their own.

    Args:
      device: A device or its name, `"cpu"`, `"meta"`; None for that of JAX, the first accelerator if there is one.

    Raises:
      TensorTypeError: If there is no such device here.
    """
    _refuse_traced("set_default_device")
    makes_abstract = device is not None and is_meta(device)
    if not makes_abstract:
        jax.config.update("jax_default_device", None if device is None else find_device(device))
    state.makes_abstract = makes_abstract


def get_default_device() -> device:
    """Returns where tensors are made that say no device of their own."""
    if state.makes_abstract:
        return META
    found: Any = jax.config.jax_default_device or jax.local_devices()[0]
    return device_of(jax.devices(found)[0] if isinstance(found, str) else found)


def set_default_dtype(d: DTypeLike) -> None:
    """Sets the dtype of floats that name none: of factories, of numbers, and of what ops make of integers.

    All that was compiled is compiled again afterwards, as it depends on this: write it where a program begins.

    Args:
      d: A dtype of floats. `ja.float64` needs JAX's x64.

    Raises:
      TensorTypeError: If it is none.
    """
    _refuse_traced("set_default_dtype")
    wanted = as_dtype(d)
    if wanted is None or not is_floating(wanted) or wanted.itemsize < 2:
        raise TensorTypeError(
            f"only floating-point types are supported as the default type, and {d!r} was given. Write for instance "
            "`ja.set_default_dtype(ja.bfloat16)`."
        )
    if wanted != default_float():
        set_default_float(wanted)
        clear_kernels()
        clear_pulls()
        clear_all()
        jax.clear_caches()


def set_default_tensor_type(t: Any) -> None:
    """Sets the dtype of floats that name none, by the class of its tensors (deprecated): see `set_default_dtype`.

    Args:
      t: `ja.DoubleTensor`, or its name of PyTorch, `"torch.DoubleTensor"`.
    """
    if isinstance(t, str):
        kind = t.rpartition(".")[2].removesuffix("Tensor")
        if kind not in _KINDS or ".cuda." in t:
            raise TensorTypeError(f"invalid type: {t!r}. Write a dtype: `ja.set_default_dtype(ja.float32)`.")
        t = _KINDS[kind]
    set_default_dtype(t.dtype if isinstance(t, type) and not issubclass(t, np.generic) else t)


def set_float32_matmul_precision(precision: str) -> None:
    """Sets how products of float32 are computed, JAX's setting `jax_default_matmul_precision`; CPUs are exact anyway.

    Args:
      precision: `"highest"`, `"high"` (tf32, or three products of bfloat16) or `"medium"` (bfloat16).

    Raises:
      ArgumentError: If it is none of these.
    """
    if precision not in _PRECISIONS:
        raise ArgumentError(
            f"{precision!r} is not one of 'highest', 'high', or 'medium'. Write "
            "`ja.set_float32_matmul_precision('high')`."
        )
    _refuse_traced("set_float32_matmul_precision")
    jax.config.update("jax_default_matmul_precision", _PRECISIONS[precision])


def get_float32_matmul_precision() -> str:
    """Returns how products of float32 are computed: `"highest"`, `"high"` or `"medium"`."""
    return _WORDS.get(str(jax.config.jax_default_matmul_precision).lower(), "highest")


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Says that equal calls have to give equal bits, as they do on CPU and TPU; on GPUs a flag of XLA's says it.

    Args:
      mode: Whether it has to be so.
      warn_only: Only noted.
    """
    if mode and jax.default_backend() == "gpu" and "xla_gpu_deterministic_ops" not in os.environ.get("XLA_FLAGS", ""):
        warnings.warn(
            "XLA is deterministic on GPUs only with `XLA_FLAGS=--xla_gpu_deterministic_ops=true` in the environment "
            "of the process.",
            stacklevel=2,
        )
    _deterministic.update(mode=bool(mode), warn_only=bool(mode and warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    """Returns what `use_deterministic_algorithms` said."""
    return _deterministic["mode"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Returns what `use_deterministic_algorithms` said of `warn_only`."""
    return _deterministic["warn_only"]


def _set_threads(name: str, n: object) -> None:
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise ArgumentError(f"{name} expects a positive integer, and {n!r} was given.")
    _threads[name] = int(n)


def set_num_threads(num: int) -> None:
    """Notes a number of threads. XLA uses all cores that the process may use: `taskset` says which.

    Args:
      num: The number.
    """
    _set_threads("set_num_threads", num)


def set_num_interop_threads(num: int) -> None:
    """Notes a number of threads; see `set_num_threads`."""
    _set_threads("set_num_interop_threads", num)


def get_num_threads() -> int:
    """Returns what `set_num_threads` said, or how many cores the process may use."""
    return _threads.get("set_num_threads") or _n_cores()


def get_num_interop_threads() -> int:
    """Returns what `set_num_interop_threads` said, or how many cores the process may use."""
    return _threads.get("set_num_interop_threads") or _n_cores()


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
