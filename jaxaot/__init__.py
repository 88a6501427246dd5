"""Mutable tensors, joint forward/backward graphs and automatic rematerialization for JAX.

    import jaxaot as ja

    w = ja.randn(3, 3, requires_grad=True)

    @ja.compile
    def step(x, cache):
        y = (x @ w).relu()
        cache[1:].add_(y[:-1])  # a write through a view of an argument
        return y.sum()

    step(ja.randn(4, 3), ja.zeros(4, 3)).backward()

This file is the contract: every public name. The functions of the op table (`ja.add`, `ja.matmul`, …) are derived from
its rows and bound at the end.
"""

import builtins as _builtins
import importlib as _importlib
import os as _os
from typing import TYPE_CHECKING as _TYPE_CHECKING

import jax as _jax_itself
import jax.numpy as _jnp
import numpy as _np

from jaxaot._versions import JAXAOT as _VERSION
from jaxaot._versions import check_versions as _check_versions

_check_versions(_jax_itself.__version__)  # before anything that another version may lack

# ruff: noqa: E402
if _TYPE_CHECKING:
    from jaxaot import distributed as distributed
    from jaxaot import optim as optim
    from jaxaot import subclasses as subclasses
    from jaxaot.archive.dims import Dim as Dim
    from jaxaot.archive.exported import export as export
    from jaxaot.archive.loaded import load as load

from jaxaot import amp as amp
from jaxaot import aot as aot
from jaxaot import autograd as autograd
from jaxaot import compiler as compiler
from jaxaot import errors as errors
from jaxaot import fft as fft
from jaxaot import func as func
from jaxaot import linalg as linalg
from jaxaot import masked as masked
from jaxaot import nn as nn
from jaxaot import policies as policies
from jaxaot import random as random
from jaxaot import signal as signal
from jaxaot import special as special
from jaxaot._absent import missing_name as _missing_name
from jaxaot._logs import set_up_logs as _set_up_logs
from jaxaot._util import public_names as _public_names
from jaxaot.api import compile as compile
from jaxaot.api import explain as explain
from jaxaot.api import functionalize as functionalize
from jaxaot.api import pareto as pareto
from jaxaot.api import trace as trace
from jaxaot.autograd._compiled_tape import compiled_autograd as compiled_autograd
from jaxaot.errors import JaxaotError as JaxaotError
from jaxaot.facade.assumed import assume_constant as assume_constant
from jaxaot.facade.create import as_tensor as as_tensor
from jaxaot.facade.create import from_dlpack as from_dlpack
from jaxaot.facade.create import from_jax as from_jax
from jaxaot.facade.create import from_numpy as from_numpy
from jaxaot.facade.create import tensor as tensor
from jaxaot.facade.devices import device as device
from jaxaot.facade.foreach import FOREACH as _FOREACH
from jaxaot.facade.generator import Generator as Generator
from jaxaot.facade.generator import default_generator as default_generator
from jaxaot.facade.generator import fork_rng as fork_rng
from jaxaot.facade.generator import get_rng_state as get_rng_state
from jaxaot.facade.generator import initial_seed as initial_seed
from jaxaot.facade.generator import manual_seed as manual_seed
from jaxaot.facade.generator import set_rng_state as set_rng_state
from jaxaot.facade.markers import checkpoint_name as checkpoint_name
from jaxaot.facade.markers import must_recompute as must_recompute
from jaxaot.facade.markers import must_save as must_save
from jaxaot.facade.methods import FUNCTIONS as _FUNCTIONS
from jaxaot.facade.printed import print as print
from jaxaot.facade.sizes import check as check
from jaxaot.facade.sizes import mark_dynamic as mark_dynamic
from jaxaot.facade.sizes import mark_static as mark_static
from jaxaot.facade.storage import Storage as Storage
from jaxaot.facade.tensor import Size as Size
from jaxaot.facade.tensor import Tensor as Tensor
from jaxaot.facade.trees import to_arrays as to_arrays
from jaxaot.facade.trees import to_tensors as to_tensors
from jaxaot.freezing.frozen import freeze as freeze
from jaxaot.ir.roofline import Target as Target
from jaxaot.jitted import jit as jit
from jaxaot.plan.stages import Compiled as Compiled
from jaxaot.plan.stages import JointGraph as JointGraph
from jaxaot.plan.stages import Partition as Partition
from jaxaot.plan.stages import Traced as Traced
from jaxaot.profiling.batch import largest_batch as largest_batch
from jaxaot.profiling.planned import DevicePlan as DevicePlan
from jaxaot.profiling.planned import plan as plan
from jaxaot.profiling.profile import profile as profile
from jaxaot.profiling.record import Profile as Profile
from jaxaot.rematerialize.grad import grad as grad
from jaxaot.rematerialize.grad import value_and_grad as value_and_grad
from jaxaot.rematerialize.remat import remat as remat
from jaxaot.report.record import Report as Report
from jaxaot.saving import load_state as load_state
from jaxaot.saving import save as save
from jaxaot.settings import Config as Config
from jaxaot.settings import get as _get_config
from jaxaot.settings import scoped as _scoped
from jaxaot.settings import set_globally as _set_globally
from jaxaot.tape.autocast import autocast as autocast
from jaxaot.tape.autocast import clear_autocast_cache as clear_autocast_cache
from jaxaot.tape.autocast import get_autocast_dtype as get_autocast_dtype
from jaxaot.tape.autocast import is_autocast_cache_enabled as is_autocast_cache_enabled
from jaxaot.tape.autocast import is_autocast_enabled as is_autocast_enabled
from jaxaot.tape.modes import enable_grad as enable_grad
from jaxaot.tape.modes import inference_mode as inference_mode
from jaxaot.tape.modes import is_grad_enabled as is_grad_enabled
from jaxaot.tape.modes import is_inference_mode_enabled as is_inference_mode_enabled
from jaxaot.tape.modes import no_grad as no_grad
from jaxaot.tape.modes import set_grad_enabled as set_grad_enabled
from jaxaot.transforms.checkpoint import checkpoint as checkpoint
from jaxaot.transforms.checkpoint import checkpoint_sequential as checkpoint_sequential
from jaxaot.transforms.checkpoint import memory_budget as memory_budget
from jaxaot.transforms.checkpoint import set_checkpoint_early_stop as set_checkpoint_early_stop
from jaxaot.transforms.control_flow import cond as cond
from jaxaot.transforms.control_flow import map as map
from jaxaot.transforms.control_flow import scan as scan
from jaxaot.transforms.control_flow import while_loop as while_loop
from jaxaot.views.memory_format import MemoryFormat as memory_format

__version__ = _VERSION

_set_up_logs(_os.environ)

config, get_config, set_config = _scoped, _get_config, _set_globally

bool = _np.bool_
uint8, int8, int16, int32, int64 = _np.uint8, _np.int8, _np.int16, _np.int32, _np.int64
float16, bfloat16, float32, float64 = _np.float16, _jnp.bfloat16, _np.float32, _np.float64
half, float, double, short, int, long = float16, float32, float64, int16, int32, int64
complex64, complex128 = _np.complex64, _np.complex128
float8_e4m3fn, float8_e5m2 = _jnp.float8_e4m3fn, _jnp.float8_e5m2
inf, nan, pi, e = _np.inf, _np.nan, _np.pi, _np.e
newaxis = None
contiguous_format, preserve_format = memory_format.contiguous_format, memory_format.preserve_format
channels_last, channels_last_3d = memory_format.channels_last, memory_format.channels_last_3d

globals().update({name: fn for name, fn in {**_FUNCTIONS[""], **_FOREACH}.items() if name not in ("trace", "compile")})

_PACKAGES = (
    "amp", "aot", "autograd", "compiler", "errors", "fft", "func", "linalg", "masked", "nn", "policies", "random",
    "signal", "special",
)  # fmt: skip
_LATER = {
    "distributed": "jaxaot.distributed", "optim": "jaxaot.optim", "subclasses": "jaxaot.subclasses",
    "Dim": "jaxaot.archive.dims", "export": "jaxaot.archive.exported", "load": "jaxaot.archive.loaded",
}  # fmt: skip
"""Packages and functions that are loaded when they are first asked for, so that the import does not wait for them."""
_PUBLIC = sorted(["__version__", *_FOREACH, *_LATER, *_public_names(globals(), _PACKAGES)])
# `from jaxaot import *` leaves Python's own `int`, `sum`, `map`, … alone
globals()["__all__"] = [name for name in _PUBLIC if not (name.startswith("_") or hasattr(_builtins, name))]


def __dir__() -> list[str]:
    return list(_PUBLIC)


def __getattr__(name: str) -> object:
    if name in _LATER:
        found = _importlib.import_module(_LATER[name])
        return getattr(found, name, found)
    raise _missing_name("jaxaot", name, _PUBLIC)
