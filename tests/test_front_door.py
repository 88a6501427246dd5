"""The front door: what users type imports, and what `dir()` and editors show is public."""

import builtins
import importlib
import pkgutil
import subprocess
import sys
import types

import pytest

import jaxaot as ja
from tests.cases import each

IMPORTS = """
import jaxaot as ja
import jaxaot.amp
import jaxaot.aot
import jaxaot.autograd
import jaxaot.autograd.forward_ad as fwAD
import jaxaot.autograd.functional
import jaxaot.autograd.graph
import jaxaot.errors
import jaxaot.fft
import jaxaot.func
import jaxaot.linalg
import jaxaot.masked
import jaxaot.nn
import jaxaot.nn.functional as F
import jaxaot.nn.init
import jaxaot.nn.utils.parametrizations
import jaxaot.optim
import jaxaot.optim.lr_scheduler
import jaxaot.policies
import jaxaot.random
import jaxaot.signal.windows
import jaxaot.utils.checkpoint
import jaxaot.special
from jaxaot import Tensor, no_grad, float32, zeros
from jaxaot import autograd, fft, func, linalg, nn, special
from jaxaot.amp import GradScaler, autocast, custom_bwd, custom_fwd
from jaxaot.aot import aot_function, aot_module, min_cut_rematerialization_partition
from jaxaot.autograd import Function, backward, detect_anomaly, forward_ad, grad, gradcheck, graph
from jaxaot.autograd.forward_ad import dual_level, make_dual, unpack_dual
from jaxaot.autograd.function import Function, once_differentiable
from jaxaot.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
from jaxaot.autograd.graph import Node, save_on_cpu, saved_tensors_hooks
from jaxaot.distributions import Categorical, Normal, kl_divergence
from jaxaot.errors import JaxaotError
from jaxaot.func import functional_call, grad, jacfwd, jacrev, stack_module_state, vmap
from jaxaot.linalg import LinAlgError, inv, norm, solve
from jaxaot import load, optim, save
from jaxaot.compiler import assume_constant, compiled_autograd, disable, freeze
from jaxaot.estimate import Target, largest_batch, pareto, plan, profile
from jaxaot.interop import from_jax, to_arrays, to_tensors
from jaxaot.nn import Linear, Module, Parameter, Sequential, init, utils
from jaxaot.nn import functional as F
from jaxaot.nn.functional import cross_entropy, one_hot, relu, scaled_dot_product_attention
from jaxaot.nn.utils import clip_grad_norm_, parametrize, spectral_norm, weight_norm
from jaxaot.nn.utils.rnn import PackedSequence, pad_sequence
from jaxaot.nn.utils.parametrizations import spectral_norm, weight_norm
from jaxaot.optim import SGD, AdamW, Optimizer, from_optax
from jaxaot.optim.lr_scheduler import CosineAnnealingLR, LRScheduler
from jaxaot.optim.swa_utils import AveragedModel
from jaxaot.policies import from_jax, memory_budget, min_cut, must_save, register_policy
from jaxaot.random import fork_rng, manual_seed
from jaxaot.signal import windows
from jaxaot.signal.windows import hann
from jaxaot.sizes import Dim, check, mark_dynamic, mark_static
from jaxaot.special import expit, logsumexp
from jaxaot.stages import Compiled, JointGraph, Partition, Report, Traced
from jaxaot.subclasses import Float8Linear, TwoTensor
from jaxaot.testing import assert_close
from jaxaot.utils import checkpoint
from jaxaot.utils.data import DataLoader, Dataset, get_worker_info, random_split
from jaxaot.utils.checkpoint import checkpoint, checkpoint_sequential
import jaxaot.backends.cudnn as cudnn
import jaxaot._dynamo.config
import jaxaot._inductor.config
from jaxaot.autograd import Variable
from jaxaot.cuda.amp import GradScaler, autocast
from jaxaot.nn.attention import SDPBackend, sdpa_kernel
from jaxaot.nn.parallel import DataParallel
from jaxaot.optim.optimizer import Optimizer
from jaxaot.profiler import record_function
"""

PACKAGES = (
    "accelerator", "amp", "aot", "autograd", "autograd.forward_ad", "autograd.function", "autograd.functional",
    "autograd.graph", "backends", "backends.cuda", "backends.cudnn", "backends.mkl", "backends.mkldnn", "backends.mps",
    "backends.openmp", "backends.opt_einsum", "backends.xnnpack", "compiler", "cuda", "cuda.amp", "distributed",
    "distributions", "distributions.constraints", "errors", "estimate", "fft", "func", "interop", "linalg", "masked",
    "mps", "nn", "nn.attention", "nn.functional", "nn.init", "nn.parallel", "nn.utils", "nn.utils.parametrizations",
    "nn.utils.parametrize", "nn.utils.rnn", "optim", "optim.lr_scheduler", "optim.optimizer", "optim.swa_utils",
    "policies", "profiler", "random", "signal", "signal.windows", "sizes", "special", "stages", "subclasses",
    "testing", "torch", "utils", "utils.checkpoint", "utils.data", "version", "xpu",
)  # fmt: skip


@each("line", IMPORTS.strip().splitlines())
def test_what_users_type_imports(line):
    scope = {}
    exec(line, scope)
    assert not [name for name, value in scope.items() if value is None]


def test_what_users_type_imports_in_a_fresh_interpreter():
    """Nothing has to be imported before it; the order is that of the alphabet, backwards."""
    lines = sorted(IMPORTS.strip().splitlines(), reverse=True)
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


@each("name", PACKAGES)
def test_a_public_package_is_an_attribute_and_shows_itself_alone(name):
    module = importlib.import_module(f"jaxaot.{name}")
    value = ja
    for part in name.split("."):
        value = getattr(value, part)
    assert value is module and isinstance(module, types.ModuleType)
    children = {other.rpartition(".")[2] for other in PACKAGES if other.rpartition(".")[0] == name}
    shown = {n for n in dir(module) if not n.startswith("__")}
    assert {n for n in shown if isinstance(getattr(module, n), types.ModuleType)} == children
    if name != "errors":
        assert sorted(module.__all__) == dir(module)
        assert not shown & {"Any", "Callable", "annotations", "FUNCTIONS", "functools"}


HIDDEN = {"plan"}
"""Rooms whose name was that of a public function, of which a hint tells: no attribute of `jaxaot` is their module."""


def test_no_public_function_hides_a_module():
    modules = {info.name for info in pkgutil.iter_modules(ja.__path__)}
    assert not {n for n in modules & set(dir(ja)) if not isinstance(getattr(ja, n), types.ModuleType)}
    assert not {name for name in HIDDEN if hasattr(ja, name)}
    for name in modules - {"__main__"} - HIDDEN:
        assert importlib.import_module(f"jaxaot.{name}") is getattr(ja, name), f"`ja.{name}` hides a module"


def test_dir_shows_what_is_public_and_nothing_else():
    shown = dir(ja)
    assert {"zeros", "matmul", "Tensor", "compile", "nn", "linalg", "float32", "int", "sum"} <= set(shown)
    assert all(hasattr(ja, name) for name in shown)
    modules = {name for name in shown if isinstance(getattr(ja, name), types.ModuleType)}
    own = {"__version__", "_standard_gamma"}
    assert modules == {name for name in PACKAGES if "." not in name}
    assert {name for name in shown if name.startswith("_") and not name.startswith("_foreach_")} == own


def test_a_star_import_leaves_the_names_of_python_alone():
    scope = {}
    exec("from jaxaot import *", scope)
    assert "zeros" in scope and "Tensor" in scope
    taken = {name for name in scope if hasattr(builtins, name)} - {"__builtins__"}
    assert not taken


FIRST = (
    "jax.jit(jax.grad(ja.remat(f)))(w, x)",
    "ja.jit(ja.value_and_grad(f))(w, x)",
    "str(ja.remat(f).explain(w, x))",
)


@pytest.mark.few(1)
@pytest.mark.parametrize("call", FIRST)
def test_a_name_works_that_is_the_first_one_used(call):
    """What it needs is loaded with it; here a policy looks at the memory of a cut, which is a later stage."""
    code = (
        "import jax, jax.numpy as jnp, jaxaot as ja\n"
        "f = lambda w, x: (jnp.tanh(x @ w) * jax.nn.softmax(jnp.tanh(x @ w))).sum()\n"
        f"w, x = jnp.ones((8, 8)), jnp.ones((8, 8))\n{call}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not done.returncode, done.stderr
