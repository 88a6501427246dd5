"""Mutable tensors, joint forward/backward graphs and automatic rematerialization for JAX.

    import jaxaot as ja

    w = ja.randn(3, 3, requires_grad=True)

    @ja.compile
    def step(x, cache):
        y = (x @ w).relu()
        cache[1:].add_(y[:-1])  # a write through a view of an argument
        return y.sum()

    step(ja.randn(4, 3), ja.zeros(4, 3)).backward()

This file is the contract: every public name, in tables of those that are PyTorch's and of our own. The functions of
the op table (`ja.add`, `ja.matmul`, …) are derived from its rows.
"""

import builtins as _builtins
import importlib as _importlib
import os as _os
import sys as _sys
from collections.abc import Mapping as _Mapping
from importlib.util import find_spec as _find_spec

import jax as _jax_itself
import jax.numpy as _jnp
import numpy as _np

from jaxaot._versions import JAXAOT as _VERSION
from jaxaot._versions import check_versions as _check_versions

_check_versions(_jax_itself.__version__)  # before anything that another version may lack

# ruff: noqa: E402
import jaxaot.plan as _plan  # noqa: F401  the room, before its name is taken away, which is an old one of users
from jaxaot._frames import show_users_frames as _show_users_frames
from jaxaot._logs import set_up_logs as _set_up_logs
from jaxaot._util import public_names as _public_names
from jaxaot.errors.absent import HINTS as _HINTS
from jaxaot.errors.absent import Finder as _Finder
from jaxaot.errors.absent import missing_name as _missing_name
from jaxaot.ops.dtypes import dtype as dtype
from jaxaot.views.memory_format import MemoryFormat as memory_format
from jaxaot.views.memory_format import MemoryLayout as layout

globals().pop("plan")

_PYTORCH = {
    "jaxaot.api": ("compile",),
    "jaxaot.archive.files": ("load",),
    "jaxaot.defaults": (
        "are_deterministic_algorithms_enabled",
        "get_default_device",
        "get_float32_matmul_precision",
        "get_num_interop_threads",
        "get_num_threads",
        "is_deterministic_algorithms_warn_only_enabled",
        "set_default_device",
        "set_default_dtype",
        "set_default_tensor_type",
        "set_float32_matmul_precision",
        "set_num_interop_threads",
        "set_num_threads",
        "use_deterministic_algorithms",
    ),
    "jaxaot.facade.dispatch.create": ("as_tensor", "from_dlpack", "from_numpy", "tensor"),
    "jaxaot.facade.memory.devices": ("device",),
    "jaxaot.facade.memory.generator": (
        "Generator",
        "default_generator",
        "get_rng_state",
        "initial_seed",
        "manual_seed",
        "set_rng_state",
    ),
    "jaxaot.facade.memory.storage": ("Storage",),
    "jaxaot.facade.memory.tensor": ("Size", "Tensor"),
    "jaxaot.nn.recurrence": ("gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell"),
    "jaxaot.saving": ("save",),
    "jaxaot.tape.autocast": (
        "autocast",
        "clear_autocast_cache",
        "get_autocast_dtype",
        "is_autocast_cache_enabled",
        "is_autocast_enabled",
    ),
    "jaxaot.tape.modes": (
        "enable_grad",
        "inference_mode",
        "is_grad_enabled",
        "is_inference_mode_enabled",
        "no_grad",
        "set_grad_enabled",
    ),
    "jaxaot.tensor_types": (
        "BFloat16Tensor",
        "BoolTensor",
        "ByteTensor",
        "CharTensor",
        "DoubleTensor",
        "FloatTensor",
        "HalfTensor",
        "IntTensor",
        "LongTensor",
        "ShortTensor",
    ),
    "jaxaot.transforms.control_flow": ("cond", "while_loop"),
}
"""Module → what it has of the names that are PyTorch's; constants and the functions of the op table are PyTorch's too.

A module is loaded when one of its names is first asked for: a process that jits functions of arrays needs no tensors,
and one of tensors no profiler.
"""

_OWN = {
    "jaxaot.api": ("explain", "trace"),
    "jaxaot.archive.exported": ("export",),
    "jaxaot.facade.marks.printed": ("print",),
    "jaxaot.jitted": ("jit",),
    "jaxaot.rematerialize.grad": ("grad", "value_and_grad"),
    "jaxaot.rematerialize.remat": ("remat",),
    "jaxaot.settings": ("config",),
    "jaxaot.transforms.control_flow": ("map", "scan"),
}
"""The same of names that are not, or that mean something else here: a name costs, and has to be worth it."""

_PYTORCH_PACKAGES = (
    "accelerator", "amp", "autograd", "backends", "compiler", "cuda", "distributed", "distributions", "fft", "func",
    "linalg", "masked", "mps", "nn", "optim", "profiler", "random", "signal", "special", "testing", "utils", "version",
    "xpu",
)  # fmt: skip
_OWN_PACKAGES = ("aot", "errors", "estimate", "interop", "policies", "sizes", "stages", "subclasses")

__version__ = _VERSION

_set_up_logs(_os.environ)
_show_users_frames()
_sys.meta_path.append(_Finder)  # type: ignore[arg-type]

bool = dtype("bool")
uint8, int8, int16, int32, int64 = map(dtype, ("uint8", "int8", "int16", "int32", "int64"))
float16, bfloat16, float32, float64 = map(dtype, ("float16", _jnp.bfloat16, "float32", "float64"))
half, float, double, short, int, long = float16, float32, float64, int16, int32, int64
complex64, complex128 = map(dtype, ("complex64", "complex128"))
cfloat, cdouble = complex64, complex128
float8_e4m3fn, float8_e5m2 = map(dtype, (_jnp.float8_e4m3fn, _jnp.float8_e5m2))
inf, nan, pi, e = _np.inf, _np.nan, _np.pi, _np.e
newaxis = None
contiguous_format, preserve_format = memory_format.contiguous_format, memory_format.preserve_format
channels_last, channels_last_3d = memory_format.channels_last, memory_format.channels_last_3d
strided = layout.strided

_PACKAGES = (*_PYTORCH_PACKAGES, *_OWN_PACKAGES)
_MODULE_OF = {name: module for table in (_PYTORCH, _OWN) for module, names in table.items() for name in names}
_CONSTANTS = _public_names(globals())


def _functions() -> tuple[_Mapping[str, object], ...]:
    """Returns the functions of the op table by name, those of one tensor and those of lists."""
    from jaxaot.facade.members.foreach import FOREACH
    from jaxaot.facade.members.methods import FUNCTIONS

    return FUNCTIONS[""], FOREACH


def __dir__() -> list[str]:
    return _builtins.sorted(
        {"__version__", *_CONSTANTS, *_MODULE_OF, *_PACKAGES, *(n for found in _functions() for n in found)}
    )


def __getattr__(name: str) -> object:
    if name == "__all__":  # `from jaxaot import *` leaves Python's own `int`, `sum`, `map`, … alone
        return [n for n in __dir__() if not (n.startswith("_") or hasattr(_builtins, n))]
    with _jax_itself.ensure_compile_time_eval():  # what a module computes is part of no trace that is running
        if name in _PACKAGES:
            return _importlib.import_module(f"jaxaot.{name}")
        if name in _MODULE_OF:
            found = getattr(_importlib.import_module(_MODULE_OF[name]), name)
        elif name.startswith("__") or name in _HINTS["jaxaot"]:
            raise _missing_name("jaxaot", name, ())
        elif _find_spec(f"jaxaot.{name}") is not None:
            return _importlib.import_module(f"jaxaot.{name}")
        else:
            functions = next((found for found in _functions() if name in found), None)
            if functions is None:
                raise _missing_name("jaxaot", name, __dir__())
            found = functions[name]
    globals()[name] = found
    return found
