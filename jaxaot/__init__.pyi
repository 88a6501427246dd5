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
its rows."""

# Written by tools/stubs.py from the op table. Edit that, or the rows, and run it again.

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, overload

import jax
import numpy as _np

from jaxaot.facade.dispatch.operands import (
    Device,
    DTypeLike,
    Floats,
    Ints,
    Operand,
    TensorLike,
    _bool,
    _complex,
    _float,
    _int,
    _str,
)
from jaxaot.facade.memory.bound import AminmaxResult
from jaxaot.facade.memory.bound import CummaxResult
from jaxaot.facade.memory.bound import CumminResult
from jaxaot.facade.memory.bound import FrexpResult
from jaxaot.facade.memory.bound import GeqrfResult
from jaxaot.facade.memory.bound import HistogramResult
from jaxaot.facade.memory.bound import KthvalueResult
from jaxaot.facade.memory.bound import LuUnpackResult
from jaxaot.facade.memory.bound import MaxDimResult
from jaxaot.facade.memory.bound import MedianDimResult
from jaxaot.facade.memory.bound import MinDimResult
from jaxaot.facade.memory.bound import ModeResult
from jaxaot.facade.memory.bound import NanmedianDimResult
from jaxaot.facade.memory.bound import QrResult
from jaxaot.facade.memory.bound import SlogdetResult
from jaxaot.facade.memory.bound import SortResult
from jaxaot.facade.memory.bound import SvdResult
from jaxaot.facade.memory.bound import TopkResult
from jaxaot.facade.memory.bound import TriangularSolveResult
from jaxaot.views.memory_format import MemoryFormat, MemoryLayout
from jaxaot import amp as amp
from jaxaot import aot as aot
from jaxaot import autograd as autograd
from jaxaot import compiler as compiler
from jaxaot import distributed as distributed
from jaxaot import errors as errors
from jaxaot import fft as fft
from jaxaot import func as func
from jaxaot import linalg as linalg
from jaxaot import masked as masked
from jaxaot import nn as nn
from jaxaot import optim as optim
from jaxaot import policies as policies
from jaxaot import random as random
from jaxaot import signal as signal
from jaxaot import special as special
from jaxaot import subclasses as subclasses
from jaxaot.api import compile as compile
from jaxaot.api import explain as explain
from jaxaot.api import functionalize as functionalize
from jaxaot.api import pareto as pareto
from jaxaot.api import trace as trace
from jaxaot.archive.dims import Dim as Dim
from jaxaot.archive.exported import export as export
from jaxaot.archive.loaded import load as load
from jaxaot.autograd._compiled_tape import compiled_autograd as compiled_autograd
from jaxaot.errors import JaxaotError as JaxaotError
from jaxaot.facade.dispatch.create import as_tensor as as_tensor
from jaxaot.facade.dispatch.create import from_dlpack as from_dlpack
from jaxaot.facade.dispatch.create import from_jax as from_jax
from jaxaot.facade.dispatch.create import from_numpy as from_numpy
from jaxaot.facade.dispatch.create import tensor as tensor
from jaxaot.facade.marks.assumed import assume_constant as assume_constant
from jaxaot.facade.marks.markers import checkpoint_name as checkpoint_name
from jaxaot.facade.marks.markers import must_recompute as must_recompute
from jaxaot.facade.marks.markers import must_save as must_save
from jaxaot.facade.marks.printed import print as print
from jaxaot.facade.marks.sizes import check as check
from jaxaot.facade.marks.sizes import mark_dynamic as mark_dynamic
from jaxaot.facade.marks.sizes import mark_static as mark_static
from jaxaot.facade.marks.trees import to_arrays as to_arrays
from jaxaot.facade.marks.trees import to_tensors as to_tensors
from jaxaot.facade.memory.devices import device as device
from jaxaot.facade.memory.generator import Generator as Generator
from jaxaot.facade.memory.generator import default_generator as default_generator
from jaxaot.facade.memory.generator import fork_rng as fork_rng
from jaxaot.facade.memory.generator import get_rng_state as get_rng_state
from jaxaot.facade.memory.generator import initial_seed as initial_seed
from jaxaot.facade.memory.generator import manual_seed as manual_seed
from jaxaot.facade.memory.generator import set_rng_state as set_rng_state
from jaxaot.facade.memory.storage import Storage as Storage
from jaxaot.facade.memory.tensor import Size as Size
from jaxaot.facade.memory.tensor import Tensor as Tensor
from jaxaot.freezing.frozen import freeze as freeze
from jaxaot.ir.roofline import Target as Target
from jaxaot.jitted import jit as jit
from jaxaot.ops.dtypes import dtype as dtype
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
from jaxaot.transforms.checkpoint import set_checkpoint_debug_enabled as set_checkpoint_debug_enabled
from jaxaot.transforms.checkpoint import set_checkpoint_early_stop as set_checkpoint_early_stop
from jaxaot.transforms.control_flow import cond as cond
from jaxaot.transforms.control_flow import map as map
from jaxaot.transforms.control_flow import scan as scan
from jaxaot.transforms.control_flow import while_loop as while_loop
from jaxaot.views.memory_format import MemoryFormat as memory_format
from jaxaot.views.memory_format import MemoryLayout as layout
from jaxaot.settings import scoped as _scoped
from jaxaot.settings import get as _get
from jaxaot.settings import set_globally as _set_globally

__version__: _str

config = _scoped
get_config = _get
set_config = _set_globally
bool: dtype
uint8: dtype
int8: dtype
int16: dtype
int32: dtype
int64: dtype
float16: dtype
bfloat16: dtype
float32: dtype
float64: dtype
half: dtype
float: dtype
double: dtype
short: dtype
int: dtype
long: dtype
complex64: dtype
complex128: dtype
cfloat: dtype
cdouble: dtype
float8_e4m3fn: dtype
float8_e5m2: dtype
inf: _float
nan: _float
pi: _float
e: _float
newaxis: None
contiguous_format: MemoryFormat
preserve_format: MemoryFormat
channels_last: MemoryFormat
channels_last_3d: MemoryFormat
strided: MemoryLayout

def abs(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the absolute value of each element; of a complex one its magnitude, a real number.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.abs_` writes it to `input`.

    See `torch.abs`; also called `absolute`.
    """

def abs_(input: Operand) -> Tensor:
    """Writes to the tensor what `abs` returns: the absolute value of each element; of a complex one its magnitude, a real number.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.abs_`.
    """

def absolute(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the absolute value of each element; of a complex one its magnitude, a real number.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.abs_` writes it to `input`.

    See `torch.abs`; also called `absolute`.
    """

def absolute_(input: Operand) -> Tensor:
    """Writes to the tensor what `abs` returns: the absolute value of each element; of a complex one its magnitude, a real number.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.abs_`.
    """

def acos(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the angle in radians whose cosine is each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.acos_` writes it to `input`.

    See `torch.acos`; also called `arccos`.
    """

def acos_(input: Operand) -> Tensor:
    """Writes to the tensor what `acos` returns: the angle in radians whose cosine is each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.acos_`.
    """

def acosh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse hyperbolic cosine of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.acosh_` writes it to `input`.

    See `torch.acosh`; also called `arccosh`.
    """

def acosh_(input: Operand) -> Tensor:
    """Writes to the tensor what `acosh` returns: the inverse hyperbolic cosine of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.acosh_`.
    """

def add(input: Operand, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
    """Returns `input + alpha * other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      alpha: A number that the second operand is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.add_` writes it to `input`.

    See `torch.add`.
    """

def add_(input: Operand, other: Operand, *, alpha: Operand = 1) -> Tensor:
    """Writes to the tensor what `add` returns: `input + alpha * other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      alpha: A number that the second operand is multiplied with.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.add_`.
    """

def addbmm(
    input: Operand,
    batch1: Operand,
    batch2: Operand,
    *,
    beta: Operand = 1,
    alpha: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `beta * input` plus `alpha` times the sum of the products of the matrices of two batches.

    Args:
      input: The tensor.
      batch1: The first batch of matrices.
      batch2: The second batch of matrices.
      beta: A number that `input` is multiplied with.
      alpha: A number that the second operand is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.addbmm_` writes it to `input`.

    See `torch.addbmm`.
    """

def addbmm_(input: Operand, batch1: Operand, batch2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    """Writes to the tensor what `addbmm` returns: `beta * input` plus `alpha` times the sum of the products of the matrices of two batches.

    Args:
      input: The tensor.
      batch1: The first batch of matrices.
      batch2: The second batch of matrices.
      beta: A number that `input` is multiplied with.
      alpha: A number that the second operand is multiplied with.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.addbmm_`.
    """

def addcdiv(
    input: Operand,
    tensor1: Operand,
    tensor2: Operand,
    *,
    value: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `input + value * tensor1 / tensor2`, element by element.

    Args:
      input: The tensor.
      tensor1: The first factor, or the numerator.
      tensor2: The second factor, or the denominator.
      value: A number: what is filled in, or what the product is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.addcdiv_` writes it to `input`.

    See `torch.addcdiv`.
    """

def addcdiv_(input: Operand, tensor1: Operand, tensor2: Operand, *, value: Operand = 1) -> Tensor:
    """Writes to the tensor what `addcdiv` returns: `input + value * tensor1 / tensor2`, element by element.

    Args:
      input: The tensor.
      tensor1: The first factor, or the numerator.
      tensor2: The second factor, or the denominator.
      value: A number: what is filled in, or what the product is multiplied with.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.addcdiv_`.
    """

def addcmul(
    input: Operand,
    tensor1: Operand,
    tensor2: Operand,
    *,
    value: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `input + value * tensor1 * tensor2`, element by element.

    Args:
      input: The tensor.
      tensor1: The first factor, or the numerator.
      tensor2: The second factor, or the denominator.
      value: A number: what is filled in, or what the product is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.addcmul_` writes it to `input`.

    See `torch.addcmul`.
    """

def addcmul_(input: Operand, tensor1: Operand, tensor2: Operand, *, value: Operand = 1) -> Tensor:
    """Writes to the tensor what `addcmul` returns: `input + value * tensor1 * tensor2`, element by element.

    Args:
      input: The tensor.
      tensor1: The first factor, or the numerator.
      tensor2: The second factor, or the denominator.
      value: A number: what is filled in, or what the product is multiplied with.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.addcmul_`.
    """

def addmm(
    input: Operand,
    mat1: Operand,
    mat2: Operand,
    *,
    beta: Operand = 1,
    alpha: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `beta * input + alpha * (mat1 @ mat2)`.

    Args:
      input: The tensor.
      mat1: The first matrix.
      mat2: The second matrix.
      beta: A number that `input` is multiplied with.
      alpha: A number that the second operand is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.addmm_` writes it to `input`.

    See `torch.addmm`.
    """

def addmm_(input: Operand, mat1: Operand, mat2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    """Writes to the tensor what `addmm` returns: `beta * input + alpha * (mat1 @ mat2)`.

    Args:
      input: The tensor.
      mat1: The first matrix.
      mat2: The second matrix.
      beta: A number that `input` is multiplied with.
      alpha: A number that the second operand is multiplied with.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.addmm_`.
    """

def addmv(
    input: Operand,
    mat: Operand,
    vec: Operand,
    *,
    beta: Operand = 1,
    alpha: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `beta * input + alpha * (mat @ vec)`.

    Args:
      input: The tensor.
      mat: The matrix.
      vec: The vector.
      beta: A number that `input` is multiplied with.
      alpha: A number that the second operand is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.addmv_` writes it to `input`.

    See `torch.addmv`.
    """

def addmv_(input: Operand, mat: Operand, vec: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    """Writes to the tensor what `addmv` returns: `beta * input + alpha * (mat @ vec)`.

    Args:
      input: The tensor.
      mat: The matrix.
      vec: The vector.
      beta: A number that `input` is multiplied with.
      alpha: A number that the second operand is multiplied with.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.addmv_`.
    """

def addr(
    input: Operand,
    vec1: Operand,
    vec2: Operand,
    *,
    beta: Operand = 1,
    alpha: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `beta * input + alpha * outer(vec1, vec2)`.

    Args:
      input: The tensor.
      vec1: The first vector.
      vec2: The second vector.
      beta: A number that `input` is multiplied with.
      alpha: A number that the second operand is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.addr_` writes it to `input`.

    See `torch.addr`.
    """

def addr_(input: Operand, vec1: Operand, vec2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    """Writes to the tensor what `addr` returns: `beta * input + alpha * outer(vec1, vec2)`.

    Args:
      input: The tensor.
      vec1: The first vector.
      vec2: The second vector.
      beta: A number that `input` is multiplied with.
      alpha: A number that the second operand is multiplied with.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.addr_`.
    """

def adjoint(input: Tensor) -> Tensor:
    """Returns the last two dims exchanged, complex numbers conjugated, a view: `x.mH`.

    Args:
      input: The tensor.

    The result is a view: it shares memory with `input`.

    See `torch.adjoint`.
    """

def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `alias` shows.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.alias_copy`.
    """

def all(
    input: Operand,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns whether all elements are true, over all dims or those of `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.all`.
    """

def allclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
) -> _bool:
    """Returns whether all elements are close.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      rtol: The tolerance as a fraction.
      atol: The tolerance as a number.
      equal_nan: Whether NaN equals NaN.

    See `torch.allclose`.
    """

def alpha_dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = False,
    *,
    out: Tensor | None = None,
    train: _bool = ...,
) -> Tensor:
    """Returns the elements, in training some set so that mean and variance stay, as `selu` needs.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      train: Whether it behaves as in training.

    The result has memory of its own; `Tensor.alpha_dropout_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.alpha_dropout`.
    """

def alpha_dropout_(input: Operand, p: _float = 0.5, training: _bool = False, *, train: _bool = ...) -> Tensor:
    """Writes to the tensor what `alpha_dropout` returns: the elements, in training some set so that mean and variance stay, as `selu` needs.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      train: Whether it behaves as in training.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.alpha_dropout_`.
    """

def amax(
    input: Operand,
    dim: Ints = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: Ints = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the greatest element over `dim`; equal ones share the gradient.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.amax`.
    """

def amin(
    input: Operand,
    dim: Ints = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: Ints = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the least element over `dim`; equal ones share the gradient.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.amin`.
    """

def aminmax(
    input: Operand,
    *,
    dim: _int | None = None,
    keepdim: _bool = False,
    out: Sequence[Tensor] | None = None,
    axis: _int | None = ...,
    keepdims: _bool = ...,
) -> AminmaxResult:
    """Returns the least and the greatest element, over all dims or along `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.aminmax`.
    """

def angle(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the angle of each complex element in radians; of a real one 0 or π.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.angle`.
    """

def any(
    input: Operand,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns whether an element is true, over all dims or those of `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.any`.
    """

def arange(
    start: Operand = 0,
    end: Operand | None = None,
    step: Operand = 1,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the numbers from `start` up to `end`, without it, every `step`.

    Args:
      start: The first value, or index.
      end: The last value, or index, or the tensor at weight 1.
      step: The distance from each value, or index, to the next.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.arange`.
    """

def arccos(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the angle in radians whose cosine is each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.acos_` writes it to `input`.

    See `torch.acos`; also called `arccos`.
    """

def arccos_(input: Operand) -> Tensor:
    """Writes to the tensor what `acos` returns: the angle in radians whose cosine is each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.acos_`.
    """

def arccosh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse hyperbolic cosine of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.acosh_` writes it to `input`.

    See `torch.acosh`; also called `arccosh`.
    """

def arccosh_(input: Operand) -> Tensor:
    """Writes to the tensor what `acosh` returns: the inverse hyperbolic cosine of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.acosh_`.
    """

def arcsin(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the angle in radians whose sine is each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.asin_` writes it to `input`.

    See `torch.asin`; also called `arcsin`.
    """

def arcsin_(input: Operand) -> Tensor:
    """Writes to the tensor what `asin` returns: the angle in radians whose sine is each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.asin_`.
    """

def arcsinh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse hyperbolic sine of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.asinh_` writes it to `input`.

    See `torch.asinh`; also called `arcsinh`.
    """

def arcsinh_(input: Operand) -> Tensor:
    """Writes to the tensor what `asinh` returns: the inverse hyperbolic sine of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.asinh_`.
    """

def arctan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the angle in radians whose tangent is each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.atan_` writes it to `input`.

    See `torch.atan`; also called `arctan`.
    """

def arctan2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the angle in radians of the point (`other`, `input`), in all four quadrants.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.atan2_` writes it to `input`.

    See `torch.atan2`; also called `arctan2`.
    """

def arctan2_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `atan2` returns: the angle in radians of the point (`other`, `input`), in all four quadrants.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.atan2_`.
    """

def arctan_(input: Operand) -> Tensor:
    """Writes to the tensor what `atan` returns: the angle in radians whose tangent is each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.atan_`.
    """

def arctanh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse hyperbolic tangent of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.atanh_` writes it to `input`.

    See `torch.atanh`; also called `arctanh`.
    """

def arctanh_(input: Operand) -> Tensor:
    """Writes to the tensor what `atanh` returns: the inverse hyperbolic tangent of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.atanh_`.
    """

def argmax(
    input: Operand,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the index of the greatest element, of all in order or along `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.argmax`.
    """

def argmin(
    input: Operand,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the index of the least element, of all in order or along `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.argmin`.
    """

def argsort(
    input: Operand,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool = False,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the indices that put the elements in order along `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      descending: Whether the greatest comes first.
      stable: Whether equal elements keep their order; they do in any case.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.argsort`.
    """

def argwhere(input: Tensor) -> Tensor:
    """Returns where elements are not zero: (n, dims).

    Args:
      input: The tensor.

    See `torch.argwhere`.
    """

def as_strided(
    input: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor:
    """Returns any strided view of the storage.

    Args:
      input: The tensor.
      size: The shape of the result, as integers or a tuple; or how many.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      storage_offset: The element of the storage at which the view begins; by default as this tensor's.

    The result is a view: it shares memory with `input`.

    See `torch.as_strided`.
    """

def as_strided_(
    self: Tensor = ...,
    size: Sequence[_int] = ...,
    stride: Sequence[_int] = ...,
    storage_offset: _int | None = None,
    *,
    input: Tensor = ...,
) -> Tensor:
    """Shows another strided view of the storage, in place.

    Args:
      self: The tensor.
      size: The shape of the result, as integers or a tuple; or how many.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      storage_offset: The element of the storage at which the view begins; by default as this tensor's.
      input: The tensor.

    See `torch.as_strided_`.
    """

def as_strided_copy(
    input: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a copy of what `as_strided` shows.

    Args:
      input: The tensor.
      size: The shape of the result, as integers or a tuple; or how many.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      storage_offset: The element of the storage at which the view begins; by default as this tensor's.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.as_strided_copy`.
    """

def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor:
    """Returns a copy of `input` in which the view `input.as_strided(size, stride, storage_offset)` holds `src`.

    Args:
      input: The tensor.
      src: What is written.
      size: The shape of the result, as integers or a tuple; or how many.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      storage_offset: The element of the storage at which the view begins; by default as this tensor's.

    See `torch.as_strided_scatter`.
    """

def asarray(
    obj: object,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    copy: _bool | None = None,
    requires_grad: _bool | None = None,
) -> Tensor:
    """Returns `obj` as a tensor: a tensor itself, a jax array without a copy, anything else copied.

    By default it requires grad if `obj` does.

    Raises:
      ArgumentError: If `copy=False` and the data has to be copied.

    Args:
      obj: Any object.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      copy: Whether to copy in any case; None copies where it has to.
      requires_grad: Whether gradients of the new tensor are wanted.

    See `torch.asarray`.
    """

def asin(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the angle in radians whose sine is each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.asin_` writes it to `input`.

    See `torch.asin`; also called `arcsin`.
    """

def asin_(input: Operand) -> Tensor:
    """Writes to the tensor what `asin` returns: the angle in radians whose sine is each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.asin_`.
    """

def asinh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse hyperbolic sine of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.asinh_` writes it to `input`.

    See `torch.asinh`; also called `arcsinh`.
    """

def asinh_(input: Operand) -> Tensor:
    """Writes to the tensor what `asinh` returns: the inverse hyperbolic sine of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.asinh_`.
    """

def atan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the angle in radians whose tangent is each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.atan_` writes it to `input`.

    See `torch.atan`; also called `arctan`.
    """

def atan2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the angle in radians of the point (`other`, `input`), in all four quadrants.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.atan2_` writes it to `input`.

    See `torch.atan2`; also called `arctan2`.
    """

def atan2_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `atan2` returns: the angle in radians of the point (`other`, `input`), in all four quadrants.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.atan2_`.
    """

def atan_(input: Operand) -> Tensor:
    """Writes to the tensor what `atan` returns: the angle in radians whose tangent is each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.atan_`.
    """

def atanh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse hyperbolic tangent of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.atanh_` writes it to `input`.

    See `torch.atanh`; also called `arctanh`.
    """

def atanh_(input: Operand) -> Tensor:
    """Writes to the tensor what `atanh` returns: the inverse hyperbolic tangent of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.atanh_`.
    """

def atleast_1d(*tensors: TensorLike | Sequence[TensorLike]) -> Any:
    """Returns tensors with at least one dim; views of those with fewer.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.

    See `torch.atleast_1d`.
    """

def atleast_2d(*tensors: TensorLike | Sequence[TensorLike]) -> Any:
    """Returns tensors with at least two dims, new ones in front; views of those with fewer.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.

    See `torch.atleast_2d`.
    """

def atleast_3d(*tensors: TensorLike | Sequence[TensorLike]) -> Any:
    """Returns tensors with at least three dims, views of those with fewer: (n,) becomes (1, n, 1), (m, n) (m, n, 1).

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.

    See `torch.atleast_3d`.
    """

def baddbmm(
    input: Operand,
    batch1: Operand,
    batch2: Operand,
    *,
    beta: Operand = 1,
    alpha: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `beta * input + alpha * (batch1 @ batch2)`, for each matrix of the batches.

    Args:
      input: The tensor.
      batch1: The first batch of matrices.
      batch2: The second batch of matrices.
      beta: A number that `input` is multiplied with.
      alpha: A number that the second operand is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.baddbmm_` writes it to `input`.

    See `torch.baddbmm`.
    """

def baddbmm_(input: Operand, batch1: Operand, batch2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    """Writes to the tensor what `baddbmm` returns: `beta * input + alpha * (batch1 @ batch2)`, for each matrix of the batches.

    Args:
      input: The tensor.
      batch1: The first batch of matrices.
      batch2: The second batch of matrices.
      beta: A number that `input` is multiplied with.
      alpha: A number that the second operand is multiplied with.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.baddbmm_`.
    """

def bartlett_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Bartlett window of `window_length` samples, periodic by default.

    Args:
      window_length: How many samples.
      periodic: Whether the window is meant to be repeated, rather than symmetric.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.bartlett_window`.
    """

def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool = False,
) -> Tensor:
    """Normalizes each channel over the batch, and updates the running statistics; see `nn.functional`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      running_mean: The running means, written in training.
      running_var: The running variances, written in training.
      training: Whether it behaves as in training.
      momentum: How much of a new batch goes into the running statistics.
      eps: A small number that keeps from dividing by zero.
      cudnn_enabled: Accepted and ignored: XLA chooses its kernels itself.

    See `torch.batch_norm`.
    """

def bernoulli(
    input: Operand,
    p: _float | _str | Tensor | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns random zeros and ones, a one with the probability that the element, or `p`, says.

    Args:
      input: The tensor.
      p: The probability of a one; by default each element of `input` is one.
      generator: Where random numbers come from; by default `ja.default_generator`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.bernoulli`.
    """

def bilinear(
    input1: Operand,
    input2: Operand,
    weight: Operand,
    bias: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns, for each matrix of `weight`, the product input1 · W · input2, plus `bias`.

    Args:
      input1: The first operand.
      input2: The second operand.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.bilinear`.
    """

def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
    """Returns how often each number from 0 on occurs, or the sums of the weights of its places.

    Raises:
      DtypeError: If `input` does not hold integers.
      ShapeMismatchError: If it is not of one dim, or `weights` has another shape.
      TensorValueError: If a number or `minlength` is negative.

    Args:
      input: The tensor.
      weights: The weight of each element.
      minlength: The least length of the result.

    In a trace its shape depends on values: use `segments=True`.

    See `torch.bincount`.
    """

def binomial(
    count: Operand,
    prob: Operand,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns random numbers of successes in `count` trials, each with the probability `prob`.

    Args:
      count: How many trials, for each element.
      prob: The probability that a trial succeeds.
      generator: Where random numbers come from; by default `ja.default_generator`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.binomial`.
    """

def bitwise_and(
    input: Operand = ...,
    other: Operand = ...,
    *,
    out: Tensor | None = None,
    self: Operand = ...,
) -> Tensor:
    """Returns the bits that `input` and `other` have in common; of bools the logical and.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own; `Tensor.bitwise_and_` writes it to `input`.

    See `torch.bitwise_and`.
    """

def bitwise_and_(input: Operand = ..., other: Operand = ..., *, self: Operand = ...) -> Tensor:
    """Writes to the tensor what `bitwise_and` returns: the bits that `input` and `other` have in common; of bools the logical and.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      self: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.bitwise_and_`.
    """

def bitwise_left_shift(
    input: Operand = ...,
    other: Operand = ...,
    *,
    out: Tensor | None = None,
    self: Operand = ...,
) -> Tensor:
    """Returns the bits of `input` moved left by `other` places.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own; `Tensor.bitwise_left_shift_` writes it to `input`.

    See `torch.bitwise_left_shift`.
    """

def bitwise_left_shift_(input: Operand = ..., other: Operand = ..., *, self: Operand = ...) -> Tensor:
    """Writes to the tensor what `bitwise_left_shift` returns: the bits of `input` moved left by `other` places.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      self: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.bitwise_left_shift_`.
    """

def bitwise_not(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns each element with all its bits flipped; of bools the logical not.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.bitwise_not_` writes it to `input`.

    See `torch.bitwise_not`.
    """

def bitwise_not_(input: Operand) -> Tensor:
    """Writes to the tensor what `bitwise_not` returns: each element with all its bits flipped; of bools the logical not.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.bitwise_not_`.
    """

def bitwise_or(
    input: Operand = ...,
    other: Operand = ...,
    *,
    out: Tensor | None = None,
    self: Operand = ...,
) -> Tensor:
    """Returns the bits that `input` or `other` has; of bools the logical or.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own; `Tensor.bitwise_or_` writes it to `input`.

    See `torch.bitwise_or`.
    """

def bitwise_or_(input: Operand = ..., other: Operand = ..., *, self: Operand = ...) -> Tensor:
    """Writes to the tensor what `bitwise_or` returns: the bits that `input` or `other` has; of bools the logical or.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      self: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.bitwise_or_`.
    """

def bitwise_right_shift(
    input: Operand = ...,
    other: Operand = ...,
    *,
    out: Tensor | None = None,
    self: Operand = ...,
) -> Tensor:
    """Returns the bits of `input` moved right by `other` places, copies of the sign following.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own; `Tensor.bitwise_right_shift_` writes it to `input`.

    See `torch.bitwise_right_shift`.
    """

def bitwise_right_shift_(input: Operand = ..., other: Operand = ..., *, self: Operand = ...) -> Tensor:
    """Writes to the tensor what `bitwise_right_shift` returns: the bits of `input` moved right by `other` places, copies of the sign following.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      self: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.bitwise_right_shift_`.
    """

def bitwise_xor(
    input: Operand = ...,
    other: Operand = ...,
    *,
    out: Tensor | None = None,
    self: Operand = ...,
) -> Tensor:
    """Returns the bits in which `input` and `other` differ; of bools the exclusive or.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own; `Tensor.bitwise_xor_` writes it to `input`.

    See `torch.bitwise_xor`.
    """

def bitwise_xor_(input: Operand = ..., other: Operand = ..., *, self: Operand = ...) -> Tensor:
    """Writes to the tensor what `bitwise_xor` returns: the bits in which `input` and `other` differ; of bools the exclusive or.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      self: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.bitwise_xor_`.
    """

def blackman_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Blackman window of `window_length` samples, periodic by default.

    Args:
      window_length: How many samples.
      periodic: Whether the window is meant to be repeated, rather than symmetric.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.blackman_window`.
    """

def block_diag(*tensors: TensorLike | Sequence[TensorLike], out: Tensor | None = None) -> Tensor:
    """Returns a matrix with the given ones along its diagonal, and zeros elsewhere.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.block_diag`.
    """

def bmm(input: Operand, mat2: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the products of the matrices of two batches, pair by pair.

    Args:
      input: The tensor.
      mat2: The second matrix.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.bmm`.
    """

def broadcast_shapes(*shapes: Ints) -> Size:
    """Returns the shape to which tensors of these shapes broadcast; a number stands for a shape of one dim.

    Raises:
      ShapeMismatchError: If they do not.
      ArgumentError: If one is no shape.

    Args:
      shapes: The shapes.

    See `torch.broadcast_shapes`.
    """

def broadcast_tensors(*tensors: TensorLike | Sequence[TensorLike]) -> tuple[Tensor, ...]:
    """Returns tensors expanded to their common shape, as views.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.

    See `torch.broadcast_tensors`.
    """

def broadcast_to(input: Tensor, size: Sequence[_int]) -> Tensor:
    """Returns `input.expand(size)`.

    Args:
      input: The tensor.
      size: The shape of the result, as integers or a tuple; or how many.

    The result is a view: it shares memory with `input`.

    See `torch.broadcast_to`.
    """

def bucketize(
    input: Operand = ...,
    boundaries: Operand = ...,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    out: Tensor | None = None,
    self: Operand = ...,
) -> Tensor:
    """Returns the index of the bucket between `boundaries` into which each element falls.

    Args:
      input: The tensor.
      boundaries: Ascending bounds of the buckets.
      out_int32: Whether indices are int32.
      right: Whether equal values go to the right of one another.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own.

    See `torch.bucketize`.
    """

def can_cast(from_: DTypeLike, to: DTypeLike) -> _bool:
    """Returns whether an in-place op may store results of one dtype in a tensor of another.

    Args:
      from_: The dtype of the result.
      to: The value below which all lie.

    See `torch.can_cast`.
    """

def cartesian_prod(*tensors: TensorLike | Sequence[TensorLike], out: Tensor | None = None) -> Tensor:
    """Returns all combinations of an element of each vector, one a row.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.cartesian_prod`.
    """

def cat(tensors: Sequence[TensorLike], dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Returns tensors one after the other along an existing dim.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      dim: The dim along which they are joined; the sizes of all other dims have to be equal.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.cat`; also called `concat`, `concatenate`.
    """

def cdist(
    x1: Operand,
    x2: Operand,
    p: _float = 2.0,
    compute_mode: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the distances of all pairs of rows of `x1` and `x2`.

    Args:
      x1: The first vectors.
      x2: The second vectors.
      p: The order of the norm, or the probability.
      compute_mode: PyTorch's choice between two ways; each computes by differences here.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.cdist`.
    """

def ceil(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the smallest integer that is not less than each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.ceil_` writes it to `input`.

    See `torch.ceil`.
    """

def ceil_(input: Operand) -> Tensor:
    """Writes to the tensor what `ceil` returns: the smallest integer that is not less than each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.ceil_`.
    """

def celu(input: Operand, alpha: _float = 1.0) -> Tensor:
    """Returns the elements, negative ones replaced by `alpha * (exp(x / alpha) - 1)`.

    Args:
      input: The tensor.
      alpha: How far below zero results may lie.

    The result has memory of its own; `Tensor.celu_` writes it to `input`.

    See `torch.celu`.
    """

def celu_(input: Operand, alpha: _float = 1.0) -> Tensor:
    """Writes to the tensor what `celu` returns: the elements, negative ones replaced by `alpha * (exp(x / alpha) - 1)`.

    Args:
      input: The tensor.
      alpha: How far below zero results may lie.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.celu_`.
    """

def chain_matmul(*tensors: TensorLike | Sequence[TensorLike], out: Tensor | None = None) -> Tensor:
    """Returns the product of several matrices, in the order of fewest operations.

    Args:
      matrices: The matrices.
      tensors: The tensors, as a list, or one by one where that is possible.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.chain_matmul`.
    """

def channel_shuffle(input: Operand, groups: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns the channels, taken in turn from each of `groups` groups.

    Args:
      input: The tensor.
      groups: Into how many groups channels are split; each sees its own input channels.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.channel_shuffle`.
    """

def cholesky(input: Operand, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Returns the Cholesky factor of a positive definite matrix (`ja.linalg.cholesky`).

    Args:
      input: The tensor.
      upper: Whether the upper triangle is meant; of `rrelu` the greatest slope.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.cholesky`.
    """

def cholesky_inverse(input: Operand, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse of a matrix by its Cholesky factor.

    Args:
      input: The tensor.
      upper: Whether the upper triangle is meant; of `rrelu` the greatest slope.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.cholesky_inverse`.
    """

def cholesky_solve(input: Operand, input2: Operand, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Returns the solution of a system by the Cholesky factor of its matrix.

    Args:
      input: The tensor.
      input2: The second operand.
      upper: Whether the upper triangle is meant; of `rrelu` the greatest slope.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.cholesky_solve`.
    """

def chunk(input: Tensor, chunks: _int, dim: _int = 0, *, axis: _int = ...) -> tuple[Tensor, ...]:
    """Returns views of at most `chunks` equal pieces of a dim.

    Args:
      input: The tensor.
      chunks: How many pieces.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.

    The result is a view: it shares memory with `input`.

    See `torch.chunk`.
    """

def clamp(
    input: Operand,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements, those below `min` raised to it and those above `max` lowered to it.

    Args:
      input: The tensor.
      min: The least value; None for no bound. Of histograms where the first bin begins.
      max: The greatest value; None for no bound. Of histograms where the last bin ends.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.clamp_` writes it to `input`.

    See `torch.clamp`; also called `clip`.
    """

def clamp_(input: Operand, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """Writes to the tensor what `clamp` returns: the elements, those below `min` raised to it and those above `max` lowered to it.

    Args:
      input: The tensor.
      min: The least value; None for no bound. Of histograms where the first bin begins.
      max: The greatest value; None for no bound. Of histograms where the last bin ends.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.clamp_`.
    """

def clamp_max(input: Operand, max: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements, those above `max` lowered to it.

    Args:
      input: The tensor.
      max: The greatest value; None for no bound. Of histograms where the last bin ends.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.clamp_max_` writes it to `input`.

    See `torch.clamp_max`.
    """

def clamp_max_(input: Operand, max: Operand) -> Tensor:
    """Writes to the tensor what `clamp_max` returns: the elements, those above `max` lowered to it.

    Args:
      input: The tensor.
      max: The greatest value; None for no bound. Of histograms where the last bin ends.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.clamp_max_`.
    """

def clamp_min(input: Operand, min: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements, those below `min` raised to it.

    Args:
      input: The tensor.
      min: The least value; None for no bound. Of histograms where the first bin begins.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.clamp_min_` writes it to `input`.

    See `torch.clamp_min`.
    """

def clamp_min_(input: Operand, min: Operand) -> Tensor:
    """Writes to the tensor what `clamp_min` returns: the elements, those below `min` raised to it.

    Args:
      input: The tensor.
      min: The least value; None for no bound. Of histograms where the first bin begins.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.clamp_min_`.
    """

def clip(
    input: Operand,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements, those below `min` raised to it and those above `max` lowered to it.

    Args:
      input: The tensor.
      min: The least value; None for no bound. Of histograms where the first bin begins.
      max: The greatest value; None for no bound. Of histograms where the last bin ends.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.clamp_` writes it to `input`.

    See `torch.clamp`; also called `clip`.
    """

def clip_(input: Operand, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """Writes to the tensor what `clamp` returns: the elements, those below `min` raised to it and those above `max` lowered to it.

    Args:
      input: The tensor.
      min: The least value; None for no bound. Of histograms where the first bin begins.
      max: The greatest value; None for no bound. Of histograms where the last bin ends.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.clamp_`.
    """

def clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """Returns a copy with storage of its own, by default in the operand's order of dims.

    Args:
      input: The tensor.
      memory_format: The order of the dims in memory, such as `ja.channels_last`; by default as the operand's.

    See `torch.clone`.
    """

def column_stack(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """Returns tensors side by side as columns of a matrix; vectors become columns.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.column_stack`.
    """

def combinations(
    input: Operand,
    r: _int = 2,
    with_replacement: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns all combinations of `r` elements of a vector, one a row.

    Args:
      input: The tensor.
      r: How many elements in each combination.
      with_replacement: Whether an element may occur more than once in a combination.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.combinations`.
    """

def complex(real: Operand, imag: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns complex numbers with the real parts `real` and the imaginary parts `imag`.

    Args:
      real: The real parts.
      imag: The imaginary parts.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.complex`.
    """

def concat(tensors: Sequence[TensorLike], dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Returns tensors one after the other along an existing dim.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      dim: The dim along which they are joined; the sizes of all other dims have to be equal.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.cat`; also called `concat`, `concatenate`.
    """

def concatenate(
    tensors: Sequence[TensorLike],
    dim: _int = 0,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns tensors one after the other along an existing dim.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      dim: The dim along which they are joined; the sizes of all other dims have to be equal.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.cat`; also called `concat`, `concatenate`.
    """

def conj(input: Tensor) -> Tensor:
    """Returns the conjugates of complex numbers, a view; a tensor that is not complex as it is.

    Args:
      input: The tensor.

    The result is a view: it shares memory with `input`.

    See `torch.conj`.
    """

def conj_physical(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the complex conjugate of each element, computed at once rather than shown as a view.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.conj_physical_` writes it to `input`.

    See `torch.conj_physical`.
    """

def conj_physical_(input: Operand) -> Tensor:
    """Writes to the tensor what `conj_physical` returns: the complex conjugate of each element, computed at once rather than shown as a view.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.conj_physical_`.
    """

def constant_pad_nd(input: Operand, pad: Ints, value: Operand = 0, *, out: Tensor | None = None) -> Tensor:
    """Returns the tensor with `value` added at both ends of its last dims: `nn.functional.pad`.

    Args:
      input: The tensor.
      pad: How many elements are added before and after each dim, the last dim first.
      value: A number: what is filled in, or what the product is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.constant_pad_nd`.
    """

def conv1d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    groups: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns signals convolved with the kernels of `weight`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      groups: Into how many groups channels are split; each sees its own input channels.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv1d`.
    """

def conv2d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    groups: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns images convolved with the kernels of `weight`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      groups: Into how many groups channels are split; each sees its own input channels.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv2d`.
    """

def conv3d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    groups: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns volumes convolved with the kernels of `weight`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      groups: Into how many groups channels are split; each sees its own input channels.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv3d`.
    """

def conv_transpose1d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    output_padding: Ints = 0,
    groups: _int = 1,
    dilation: Ints = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns signals spread out by the kernels of `weight`: the transpose of `conv1d`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      output_padding: How many elements are added at one side of the result.
      groups: Into how many groups channels are split; each sees its own input channels.
      dilation: The step from element to element in a window.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv_transpose1d`.
    """

def conv_transpose2d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    output_padding: Ints = 0,
    groups: _int = 1,
    dilation: Ints = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns images spread out by the kernels of `weight`: the transpose of `conv2d`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      output_padding: How many elements are added at one side of the result.
      groups: Into how many groups channels are split; each sees its own input channels.
      dilation: The step from element to element in a window.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv_transpose2d`.
    """

def conv_transpose3d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    output_padding: Ints = 0,
    groups: _int = 1,
    dilation: Ints = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns volumes spread out by the kernels of `weight`: the transpose of `conv3d`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      output_padding: How many elements are added at one side of the result.
      groups: Into how many groups channels are split; each sees its own input channels.
      dilation: The step from element to element in a window.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv_transpose3d`.
    """

def copysign(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the magnitude of `input` with the sign of `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.copysign_` writes it to `input`.

    See `torch.copysign`.
    """

def copysign_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `copysign` returns: the magnitude of `input` with the sign of `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.copysign_`.
    """

def corrcoef(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the matrix of the correlation coefficients of variables, one a row.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.corrcoef`.
    """

def cos(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the cosine of each element, in radians.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.cos_` writes it to `input`.

    See `torch.cos`.
    """

def cos_(input: Operand) -> Tensor:
    """Writes to the tensor what `cos` returns: the cosine of each element, in radians.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.cos_`.
    """

def cosh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the hyperbolic cosine of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.cosh_` writes it to `input`.

    See `torch.cosh`.
    """

def cosh_(input: Operand) -> Tensor:
    """Writes to the tensor what `cosh` returns: the hyperbolic cosine of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.cosh_`.
    """

def cosine_similarity(
    x1: Operand,
    x2: Operand,
    dim: _int = 1,
    eps: _float = 1e-08,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the cosines of the angles of vectors along `dim`.

    Args:
      x1: The first vectors.
      x2: The second vectors.
      dim: The dim of the vectors.
      eps: A small number that keeps from dividing by zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.cosine_similarity`.
    """

def count_nonzero(
    input: Operand,
    dim: Ints | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns how many elements are not zero, over all dims or those of `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.count_nonzero`.
    """

def cov(
    input: Operand,
    *,
    correction: _int = 1,
    fweights: Operand | None = None,
    aweights: Operand | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the covariance matrix of variables, one a row.

    Args:
      input: The tensor.
      correction: The sum of squares is divided by n minus this number; 1 by default.
      fweights: How often each observation occurred.
      aweights: How much each observation weighs.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.cov`.
    """

def cross(
    input: Operand,
    other: Operand,
    dim: _int | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """Returns the cross products of vectors of three elements, by default along the first dim of size 3.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.cross`.
    """

def cummax(
    input: Operand,
    dim: _int = ...,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
) -> CummaxResult:
    """Returns the greatest element up to each one along `dim`, and where it lies.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.cummax`.
    """

def cummin(
    input: Operand,
    dim: _int = ...,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
) -> CumminResult:
    """Returns the least element up to each one along `dim`, and where it lies.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.cummin`.
    """

def cumprod(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the products of the elements up to each one, along `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own; `Tensor.cumprod_` writes it to `input`.

    See `torch.cumprod`.
    """

def cumprod_(input: Operand, dim: _int = ..., *, dtype: DTypeLike | None = None, axis: _int = ...) -> Tensor:
    """Writes to the tensor what `cumprod` returns: the products of the elements up to each one, along `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      axis: NumPy's name of `dim`.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.cumprod_`.
    """

def cumsum(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the sums of the elements up to each one, along `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own; `Tensor.cumsum_` writes it to `input`.

    See `torch.cumsum`.
    """

def cumsum_(input: Operand, dim: _int = ..., *, dtype: DTypeLike | None = None, axis: _int = ...) -> Tensor:
    """Writes to the tensor what `cumsum` returns: the sums of the elements up to each one, along `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      axis: NumPy's name of `dim`.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.cumsum_`.
    """

def cumulative_trapezoid(
    y: Operand,
    x: Operand | None = None,
    *,
    dx: _float = 1.0,
    dim: _int = -1,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the integrals of `y` from the first point to each later one, by trapezoids.

    Args:
      y: The values, or the second operand.
      x: The elements, or the points along the dim.
      dx: The distance of neighbouring points, where `x` is not given.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.cumulative_trapezoid`.
    """

def deg2rad(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns each angle in degrees as radians.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.deg2rad_` writes it to `input`.

    See `torch.deg2rad`.
    """

def deg2rad_(input: Operand) -> Tensor:
    """Writes to the tensor what `deg2rad` returns: each angle in degrees as radians.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.deg2rad_`.
    """

def det(input: Operand = ..., *, out: Tensor | None = None, A: Operand = ...) -> Tensor:
    """Returns the determinant of a square matrix.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      A: A matrix or a batch of matrices.

    The result has memory of its own.

    See `torch.det`.
    """

def detach(input: Tensor) -> Tensor:
    """Returns a tensor on the same memory through which no gradient flows.

    Args:
      input: The tensor.

    The result is a view: it shares memory with `input`.

    See `torch.detach`.
    """

def detach_(self: Tensor = ..., *, input: Tensor = ...) -> Tensor:
    """Cuts this tensor off from its history, in place.

    Args:
      self: The tensor.
      input: The tensor.

    See `torch.detach_`.
    """

def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `detach` shows.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.detach_copy`.
    """

def diag(input: Operand, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Returns the diagonal of a matrix as a copy, or a matrix with a vector on its diagonal.

    Args:
      input: The tensor.
      diagonal: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.diag`.
    """

def diag_embed(
    input: Operand,
    offset: _int = 0,
    dim1: _int = -2,
    dim2: _int = -1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns matrices with the vectors of the last dim on their diagonals.

    Args:
      input: The tensor.
      offset: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      dim1: The first of two dims.
      dim2: The second of two dims.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.diag_embed`.
    """

def diagflat(input: Operand, offset: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Returns a matrix with all elements, as one long vector, on its diagonal.

    Args:
      input: The tensor.
      offset: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.diagflat`.
    """

def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """Returns the diagonal of two dims as a new last dim.

    Args:
      input: The tensor.
      offset: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      dim1: The first of two dims.
      dim2: The second of two dims.

    The result is a view: it shares memory with `input`.

    See `torch.diagonal`.
    """

def diagonal_copy(
    input: Tensor,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a copy of what `diagonal` shows.

    Args:
      input: The tensor.
      offset: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      dim1: The first of two dims.
      dim2: The second of two dims.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.diagonal_copy`.
    """

def diagonal_scatter(
    input: Operand,
    src: Operand,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a copy of `input` in which the diagonal of two dims holds `src`.

    Args:
      input: The tensor.
      src: What is written.
      offset: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      dim1: The first of two dims.
      dim2: The second of two dims.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.diagonal_scatter`.
    """

def diff(
    input: Operand,
    n: _int = 1,
    dim: _int = -1,
    prepend: Operand | None = None,
    append: Operand | None = None,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the differences of neighbours along `dim`, taken `n` times.

    Args:
      input: The tensor.
      n: A number: how often, which power, or which degree.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      prepend: What is put before the elements first.
      append: What is put after the elements first.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.diff`.
    """

def digamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the derivative of the logarithm of the gamma function of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.digamma_` writes it to `input`.

    See `torch.digamma`.
    """

def digamma_(input: Operand) -> Tensor:
    """Writes to the tensor what `digamma` returns: the derivative of the logarithm of the gamma function of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.digamma_`.
    """

def dist(input: Operand, other: Operand, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
    """Returns the `p`-norm of `input - other`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      p: The order of the norm, or the probability.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.dist`.
    """

def div(input: Operand, other: Operand, *, rounding_mode: _str | None = None, out: Tensor | None = None) -> Tensor:
    """Returns `input / other`, element by element; rounded to integers if `rounding_mode` says so.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      rounding_mode: `None`, `'trunc'` towards zero, or `'floor'` downwards.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.div_` writes it to `input`.

    See `torch.div`; also called `divide`.
    """

def div_(input: Operand, other: Operand, *, rounding_mode: _str | None = None) -> Tensor:
    """Writes to the tensor what `div` returns: `input / other`, element by element; rounded to integers if `rounding_mode` says so.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      rounding_mode: `None`, `'trunc'` towards zero, or `'floor'` downwards.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.div_`.
    """

def divide(
    input: Operand,
    other: Operand,
    *,
    rounding_mode: _str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `input / other`, element by element; rounded to integers if `rounding_mode` says so.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      rounding_mode: `None`, `'trunc'` towards zero, or `'floor'` downwards.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.div_` writes it to `input`.

    See `torch.div`; also called `divide`.
    """

def divide_(input: Operand, other: Operand, *, rounding_mode: _str | None = None) -> Tensor:
    """Writes to the tensor what `div` returns: `input / other`, element by element; rounded to integers if `rounding_mode` says so.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      rounding_mode: `None`, `'trunc'` towards zero, or `'floor'` downwards.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.div_`.
    """

def dot(input: Operand, tensor: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the sum of the products of the elements of two vectors.

    Args:
      input: The tensor.
      tensor: The second vector.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.dot`.
    """

def dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = True,
    *,
    out: Tensor | None = None,
    train: _bool = ...,
) -> Tensor:
    """Returns the elements, in training each replaced by zero with probability `p`, the others scaled up.

    Args:
      input: The tensor.
      p: The probability with which an element becomes zero.
      training: Whether it behaves as in training.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      train: Whether it behaves as in training.

    The result has memory of its own; `Tensor.dropout_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.dropout`.
    """

def dropout_(input: Operand, p: _float = 0.5, training: _bool = True, *, train: _bool = ...) -> Tensor:
    """Writes to the tensor what `dropout` returns: the elements, in training each replaced by zero with probability `p`, the others scaled up.

    Args:
      input: The tensor.
      p: The probability with which an element becomes zero.
      training: Whether it behaves as in training.
      train: Whether it behaves as in training.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.dropout_`.
    """

def dsplit(
    input: Tensor,
    indices_or_sections: Ints | Tensor | None = None,
    *,
    indices: Ints | Tensor | None = None,
    sections: _int | None = None,
) -> tuple[Tensor, ...]:
    """Returns views of equal pieces of a dim, or of the pieces between indices.

    Args:
      input: The tensor.
      indices_or_sections: How many pieces, or the indices between them.
      indices: Indices, of an integer dtype.
      sections: How many pieces.

    The result is a view: it shares memory with `input`.

    See `torch.dsplit`.
    """

def dstack(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """Returns tensors one behind the other: along the third dim.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.dstack`.
    """

def einsum(equation: _str, *operands: TensorLike | Sequence[TensorLike]) -> Tensor:
    """Returns the sum of products that `equation` writes in Einstein's notation, such as `ij,jk->ik`.

    Args:
      equation: Letters for the dims of each operand, and after `->` those of the result.
      operands: The tensors, one by one or as a list.

    The result has memory of its own.

    See `torch.einsum`.
    """

def empty(
    *sizes: Ints,
    size: Ints | None = None,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    memory_format: MemoryFormat | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a tensor whose values do not matter yet; here they are zeros.

    Args:
      size: The shape of the result, as integers or a tuple; or how many.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      memory_format: The order of the dims in memory, such as `ja.channels_last`; by default as the operand's.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      sizes: The shape of the result, as integers or a tuple.

    The result has memory of its own.

    Other than PyTorch's, the values are zeros.

    See `torch.empty`.
    """

def empty_like(
    input: Operand,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Returns a tensor of the shape, dtype and device of `input` whose values do not matter yet.

    Args:
      input: The tensor.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      memory_format: The order of the dims in memory, such as `ja.channels_last`; by default as the operand's.

    The result has memory of its own.

    Other than PyTorch's, the values are zeros.

    See `torch.empty_like`.
    """

def empty_permuted(
    size: Ints,
    physical_layout: Ints,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a tensor of `size` whose dims lie in memory in the order `physical_layout`.

    Args:
      size: The shape of the result, as integers or a tuple; or how many.
      physical_layout: The dims in the order in which they lie in memory, the outermost first.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.empty_permuted`.
    """

def empty_strided(
    size: Sequence[_int],
    stride: Sequence[_int],
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
) -> Tensor:
    """Returns a tensor of any strides, as `as_strided` takes them, on memory of its own.

    Args:
      size: The shape of the result, as integers or a tuple; or how many.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.

    See `torch.empty_strided`.
    """

def eq(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether `input` equals `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.eq_` writes it to `input`.

    See `torch.eq`.
    """

def eq_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `eq` returns: whether `input` equals `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.eq_`.
    """

def equal(input: Tensor, other: Tensor) -> _bool:
    """Returns whether two tensors have the same shape and elements.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    See `torch.equal`.
    """

def erf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the error function of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.erf_` writes it to `input`.

    See `torch.erf`.
    """

def erf_(input: Operand) -> Tensor:
    """Writes to the tensor what `erf` returns: the error function of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.erf_`.
    """

def erfc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns one minus the error function of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.erfc_` writes it to `input`.

    See `torch.erfc`.
    """

def erfc_(input: Operand) -> Tensor:
    """Writes to the tensor what `erfc` returns: one minus the error function of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.erfc_`.
    """

def erfinv(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse of the error function of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.erfinv_` writes it to `input`.

    See `torch.erfinv`.
    """

def erfinv_(input: Operand) -> Tensor:
    """Writes to the tensor what `erfinv` returns: the inverse of the error function of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.erfinv_`.
    """

def exp(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns e to the power of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.exp_` writes it to `input`.

    See `torch.exp`.
    """

def exp2(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns 2 to the power of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.exp2_` writes it to `input`.

    See `torch.exp2`.
    """

def exp2_(input: Operand) -> Tensor:
    """Writes to the tensor what `exp2` returns: 2 to the power of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.exp2_`.
    """

def exp_(input: Operand) -> Tensor:
    """Writes to the tensor what `exp` returns: e to the power of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.exp_`.
    """

def expand_copy(
    input: Tensor,
    *sizes: Ints,
    size: Ints | None = None,
    implicit: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a copy of what `expand` shows.

    Args:
      input: The tensor.
      sizes: The shape of the result, as integers or a tuple.
      size: The shape of the result, as integers or a tuple; or how many.
      implicit: Accepted and ignored.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.expand_copy`.
    """

def expm1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns e to the power of each element, minus one, exact for small elements.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.expm1_` writes it to `input`.

    See `torch.expm1`.
    """

def expm1_(input: Operand) -> Tensor:
    """Writes to the tensor what `expm1` returns: e to the power of each element, minus one, exact for small elements.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.expm1_`.
    """

def eye(
    n: _int,
    m: _int | None = None,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a matrix with ones on the diagonal and zeros elsewhere.

    Args:
      n: A number: how often, which power, or which degree.
      m: How many columns; by default as many as rows.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.eye`.
    """

def feature_alpha_dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = False,
    *,
    out: Tensor | None = None,
    train: _bool = ...,
) -> Tensor:
    """Returns the channels, in training some set as by `alpha_dropout`, each as a whole.

    One decision for each channel.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      train: Whether it behaves as in training.

    The result has memory of its own; `Tensor.feature_alpha_dropout_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.feature_alpha_dropout`.
    """

def feature_alpha_dropout_(
    input: Operand,
    p: _float = 0.5,
    training: _bool = False,
    *,
    train: _bool = ...,
) -> Tensor:
    """Writes to the tensor what `feature_alpha_dropout` returns: the channels, in training some set as by `alpha_dropout`, each as a whole.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      train: Whether it behaves as in training.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.feature_alpha_dropout_`.
    """

def feature_dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = True,
    *,
    out: Tensor | None = None,
    train: _bool = ...,
) -> Tensor:
    """Returns the channels, in training each replaced by zeros as a whole with probability `p`.

    One decision for each channel.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      train: Whether it behaves as in training.

    The result has memory of its own; `Tensor.feature_dropout_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.feature_dropout`.
    """

def feature_dropout_(input: Operand, p: _float = 0.5, training: _bool = True, *, train: _bool = ...) -> Tensor:
    """Writes to the tensor what `feature_dropout` returns: the channels, in training each replaced by zeros as a whole with probability `p`.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      train: Whether it behaves as in training.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.feature_dropout_`.
    """

def fill(input: Operand, value: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns a tensor of the shape and dtype of `input` filled with `value`.

    Args:
      input: The tensor.
      value: A number: what is filled in, or what the product is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.fill_` writes it to `input`.

    See `torch.fill`.
    """

def fill_(input: Operand, value: Operand) -> Tensor:
    """Writes to the tensor what `fill` returns: a tensor of the shape and dtype of `input` filled with `value`.

    Args:
      input: The tensor.
      value: A number: what is filled in, or what the product is multiplied with.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.fill_`.
    """

def finfo(dtype: DTypeLike | None = None) -> Any:
    """Returns the limits of a float dtype: `bits`, `eps`, `max`, `min`, `tiny`, …

    Args:
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.

    See `torch.finfo`.
    """

def fix(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns each element without its part after the decimal point.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.trunc_` writes it to `input`.

    See `torch.trunc`; also called `fix`.
    """

def fix_(input: Operand) -> Tensor:
    """Writes to the tensor what `trunc` returns: each element without its part after the decimal point.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.trunc_`.
    """

def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Returns the dims from `start_dim` to `end_dim` as one.

    Args:
      input: The tensor.
      start_dim: The first dim.
      end_dim: The last dim.

    See `torch.flatten`.
    """

def flip(input: Operand, dims: Ints, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements in reverse order along `dims`, copied.

    Args:
      input: The tensor.
      dims: The dims; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.flip`.
    """

def fliplr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the columns in reverse order, copied: the second dim.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.fliplr`.
    """

def flipud(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the rows in reverse order, copied: the first dim.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.flipud`.
    """

def float_power(
    input: Operand = ...,
    exponent: Operand = ...,
    *,
    out: Tensor | None = None,
    self: Operand = ...,
) -> Tensor:
    """Returns each element to the power of `exponent`, computed in double precision.

    Args:
      input: The tensor.
      exponent: The power, a tensor or a number.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own.

    See `torch.float_power`.
    """

def floor(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the largest integer that is not greater than each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.floor_` writes it to `input`.

    See `torch.floor`.
    """

def floor_(input: Operand) -> Tensor:
    """Writes to the tensor what `floor` returns: the largest integer that is not greater than each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.floor_`.
    """

def floor_divide(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns `input / other` rounded down, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.floor_divide_` writes it to `input`.

    See `torch.floor_divide`.
    """

def floor_divide_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `floor_divide` returns: `input / other` rounded down, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.floor_divide_`.
    """

def fmax(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the greater element of each pair; of a number and NaN the number.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.fmax`.
    """

def fmin(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the smaller element of each pair; of a number and NaN the number.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.fmin`.
    """

def fmod(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns what is left of `input` after division by `other`, with the sign of `input`: C's `fmod`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.fmod_` writes it to `input`.

    See `torch.fmod`.
    """

def fmod_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `fmod` returns: what is left of `input` after division by `other`, with the sign of `input`: C's `fmod`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.fmod_`.
    """

def frac(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the part of each element after the decimal point, with its sign.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.frac_` writes it to `input`.

    See `torch.frac`.
    """

def frac_(input: Operand) -> Tensor:
    """Writes to the tensor what `frac` returns: the part of each element after the decimal point, with its sign.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.frac_`.
    """

def frexp(input: Operand, *, out: Sequence[Tensor] | None = None) -> FrexpResult:
    """Returns the mantissa, of a size from 1/2 to 1, and the exponent of 2 that make up each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.frexp`.
    """

def frombuffer(
    buffer: Any,
    *,
    dtype: DTypeLike | None,
    count: _int = -1,
    offset: _int = 0,
    requires_grad: _bool = False,
) -> Tensor:
    """Returns a tensor with a copy of the bytes of a buffer.

    Args:
      buffer: What holds the bytes.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      count: How many elements; -1 for all.
      offset: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      requires_grad: Whether gradients of the new tensor are wanted.

    See `torch.frombuffer`.
    """

def full(
    size: Ints,
    fill_value: Operand,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a tensor whose elements are all `fill_value`.

    Args:
      size: The shape of the result, as integers or a tuple; or how many.
      fill_value: What all elements are.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.full`.
    """

def full_like(
    input: Operand,
    fill_value: Operand,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Returns a tensor of the shape, dtype and device of `input` whose elements are all `fill_value`.

    Args:
      input: The tensor.
      fill_value: A number: what is filled in.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      memory_format: The order of the dims in memory, such as `ja.channels_last`; by default as the operand's.

    The result has memory of its own.

    See `torch.full_like`.
    """

def gather(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    *,
    sparse_grad: _bool = False,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns, at each place of `index`, the element of `input` that it names along `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      sparse_grad: PyTorch's choice of a sparse gradient; ignored: gradients are dense.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.gather`.
    """

def gcd(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the greatest common divisor of each pair of integers.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.gcd_` writes it to `input`.

    See `torch.gcd`.
    """

def gcd_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `gcd` returns: the greatest common divisor of each pair of integers.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.gcd_`.
    """

def ge(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether `input` is at least `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.ge_` writes it to `input`.

    See `torch.ge`; also called `greater_equal`.
    """

def ge_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `ge` returns: whether `input` is at least `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.ge_`.
    """

def geqrf(input: Operand, *, out: Sequence[Tensor] | None = None) -> GeqrfResult:
    """Returns the QR factorization of a matrix in compact form: reflections and their scales.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.geqrf`.
    """

def ger(input: Operand, vec2: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the matrix of the products of each element of one vector with each of another.

    Args:
      input: The tensor.
      vec2: The second vector.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.outer`; also called `ger`.
    """

def get_default_dtype() -> dtype:
    """Returns the dtype of floats that name none: float32.

    See `torch.get_default_dtype`.
    """

def get_device(input: Tensor) -> _int:
    """Returns the number of the accelerator that holds the tensor, or -1 on the CPU.

    Args:
      input: The tensor.

    See `torch.get_device`.
    """

@overload
def gradient(
    input: Operand,
    *,
    spacing: Floats | None = None,
    dim: Ints | None = None,
    edge_order: _int = 1,
    out: Sequence[Tensor] | None = None,
    axis: Ints | None = ...,
) -> tuple[Tensor, ...]:
    """Returns the derivative along each dim, estimated by central differences.

    A number is the distance of neighbours, by default 1, along all dims or each.

    The coordinates of the points along each dim.

    Args:
      input: The tensor.
      spacing: The distance of neighbours, one number or one for each dim; or the coordinates.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      edge_order: The order of the differences at the ends: 1 or 2.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.gradient`.
    """
@overload
def gradient(
    input: Operand,
    *,
    spacing: Sequence[TensorLike],
    dim: Ints | None = None,
    edge_order: _int = 1,
    out: Sequence[Tensor] | None = None,
    axis: Ints | None = ...,
) -> tuple[Tensor, ...]: ...

def greater(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether `input` is greater than `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.gt_` writes it to `input`.

    See `torch.gt`; also called `greater`.
    """

def greater_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `gt` returns: whether `input` is greater than `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.gt_`.
    """

def greater_equal(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether `input` is at least `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.ge_` writes it to `input`.

    See `torch.ge`; also called `greater_equal`.
    """

def greater_equal_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `ge` returns: whether `input` is at least `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.ge_`.
    """

def grid_sampler(
    input: Operand,
    grid: Operand,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns values of `input` at the points of `grid`, the modes given by number.

    `nn.functional.grid_sample` with its modes by number.

    Args:
      input: The tensor.
      grid: The points, each from -1 to 1 along every dim of the input.
      interpolation_mode: A number: 0 bilinear, 1 nearest, 2 bicubic.
      padding_mode: What lies outside: `'zeros'`, `'border'` or `'reflection'`; of samplers a number.
      align_corners: Whether -1 and 1 are the centres of the corner elements rather than their edges.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.grid_sampler`.
    """

def grid_sampler_2d(
    input: Operand,
    grid: Operand,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns values of images at the points of `grid`, the modes given by number.

    `nn.functional.grid_sample` with its modes by number.

    Args:
      input: The tensor.
      grid: The points, each from -1 to 1 along every dim of the input.
      interpolation_mode: A number: 0 bilinear, 1 nearest, 2 bicubic.
      padding_mode: What lies outside: `'zeros'`, `'border'` or `'reflection'`; of samplers a number.
      align_corners: Whether -1 and 1 are the centres of the corner elements rather than their edges.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.grid_sampler_2d`.
    """

def grid_sampler_3d(
    input: Operand,
    grid: Operand,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns values of volumes at the points of `grid`, the modes given by number.

    `nn.functional.grid_sample` with its modes by number.

    Args:
      input: The tensor.
      grid: The points, each from -1 to 1 along every dim of the input.
      interpolation_mode: A number: 0 bilinear, 1 nearest, 2 bicubic.
      padding_mode: What lies outside: `'zeros'`, `'border'` or `'reflection'`; of samplers a number.
      align_corners: Whether -1 and 1 are the centres of the corner elements rather than their edges.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.grid_sampler_3d`.
    """

def group_norm(
    input: Operand,
    num_groups: _int,
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: _float = 1e-05,
    cudnn_enabled: Any = True,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements, normalized over each of `num_groups` groups of channels.

    Args:
      input: The tensor.
      num_groups: How many groups of channels.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      eps: A small number that keeps from dividing by zero.
      cudnn_enabled: Accepted and ignored: XLA chooses its kernels itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.group_norm`.
    """

def gt(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether `input` is greater than `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.gt_` writes it to `input`.

    See `torch.gt`; also called `greater`.
    """

def gt_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `gt` returns: whether `input` is greater than `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.gt_`.
    """

def hamming_window(
    window_length: _int,
    periodic: _bool = True,
    alpha: _float = 0.54,
    beta: _float = 0.46,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Hamming window `alpha - beta cos` of `window_length` samples, periodic by default.

    Args:
      window_length: How many samples.
      periodic: Whether the window is meant to be repeated, rather than symmetric.
      alpha: A number that the second operand is multiplied with.
      beta: A number that `input` is multiplied with.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.hamming_window`.
    """

def hann_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Hann window of `window_length` samples, periodic by default.

    Args:
      window_length: How many samples.
      periodic: Whether the window is meant to be repeated, rather than symmetric.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.hann_window`.
    """

def hardshrink(input: Operand, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements, those of magnitude up to `lambd` replaced by zero.

    Args:
      input: The tensor.
      lambd: The rate of the distribution, or the bound below which elements become zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.hardshrink`.
    """

def hash_tensor(
    input: Operand,
    dim: Ints = ...,
    *,
    keepdim: _bool = False,
    mode: _int = 0,
    out: Tensor | None = None,
    axis: Ints = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the exclusive or of the elements' 64-bit patterns.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      mode: The way it is done, by PyTorch's names.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.hash_tensor`.
    """

def heaviside(input: Operand, values: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns 0 for negative elements, 1 for positive ones, and `values` where they are zero.

    Args:
      input: The tensor.
      values: The values.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.heaviside_` writes it to `input`.

    See `torch.heaviside`.
    """

def heaviside_(input: Operand, values: Operand) -> Tensor:
    """Writes to the tensor what `heaviside` returns: 0 for negative elements, 1 for positive ones, and `values` where they are zero.

    Args:
      input: The tensor.
      values: The values.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.heaviside_`.
    """

def histc(
    input: Operand,
    bins: _int = 100,
    min: _float = 0,
    max: _float = 0,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns how many elements fall into each of `bins` equal intervals from `min` to `max`.

    Args:
      input: The tensor.
      bins: How many bins, or their edges.
      min: The least value; None for no bound. Of histograms where the first bin begins.
      max: The greatest value; None for no bound. Of histograms where the last bin ends.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.histc`.
    """

@overload
def histogram(
    input: Operand,
    bins: Operand,
    *,
    weight: Operand | None = None,
    density: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> HistogramResult:
    """Returns how many elements fall into each bin, and the edges of the bins.

    Args:
      input: The tensor.
      bins: How many bins, or their edges.
      weight: The weights: of the layer, of each class, or of each element.
      density: Whether counts are divided so that their integral is 1.
      range: Where the first bin begins and the last one ends.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.histogram`.
    """
@overload
def histogram(
    input: Operand,
    bins: _int = 100,
    *,
    range: Floats | None = None,
    weight: Operand | None = None,
    density: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]: ...

@overload
def histogramdd(
    input: Operand,
    bins: Sequence[TensorLike],
    *,
    weight: Operand | None = None,
    density: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Returns how many points of several coordinates fall into each bin, and the edges along each dim.

    Args:
      input: The tensor.
      bins: How many bins, or their edges.
      weight: The weights: of the layer, of each class, or of each element.
      density: Whether counts are divided so that their integral is 1.
      range: Where the first bin begins and the last one ends.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.histogramdd`.
    """
@overload
def histogramdd(
    input: Operand,
    bins: Ints,
    *,
    range: Floats | None = None,
    weight: Operand | None = None,
    density: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, tuple[Tensor, ...]]: ...

def hsplit(
    input: Tensor,
    indices_or_sections: Ints | Tensor | None = None,
    *,
    indices: Ints | Tensor | None = None,
    sections: _int | None = None,
) -> tuple[Tensor, ...]:
    """Returns views of equal pieces of a dim, or of the pieces between indices.

    Args:
      input: The tensor.
      indices_or_sections: How many pieces, or the indices between them.
      indices: Indices, of an integer dtype.
      sections: How many pieces.

    The result is a view: it shares memory with `input`.

    See `torch.hsplit`.
    """

def hstack(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """Returns tensors side by side: along the second dim, or the first of vectors.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.hstack`.
    """

def hypot(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the length of the hypotenuse of right triangles with the legs `input` and `other`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.hypot_` writes it to `input`.

    See `torch.hypot`.
    """

def hypot_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `hypot` returns: the length of the hypotenuse of right triangles with the legs `input` and `other`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.hypot_`.
    """

def i0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the modified Bessel function of the first kind of order 0 (`modified_bessel_i0`).

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.i0_` writes it to `input`.

    See `torch.i0`.
    """

def i0_(input: Operand) -> Tensor:
    """Writes to the tensor what `i0` returns: the modified Bessel function of the first kind of order 0 (`modified_bessel_i0`).

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.i0_`.
    """

def igamma(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the regularized lower incomplete gamma function P(input, other).

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.igamma_` writes it to `input`.

    See `torch.igamma`.
    """

def igamma_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `igamma` returns: the regularized lower incomplete gamma function P(input, other).

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.igamma_`.
    """

def igammac(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the regularized upper incomplete gamma function Q(input, other).

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.igammac_` writes it to `input`.

    See `torch.igammac`.
    """

def igammac_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `igammac` returns: the regularized upper incomplete gamma function Q(input, other).

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.igammac_`.
    """

def iinfo(dtype: DTypeLike | None) -> Any:
    """Returns the limits of an integer dtype: `bits`, `max`, `min`.

    Args:
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.

    See `torch.iinfo`.
    """

def imag(input: Tensor) -> Tensor:
    """Returns the imaginary parts, a view; of a conjugate one that shows the negatives of memory.

    Args:
      input: The tensor.

    See `torch.imag`.
    """

def index_add(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    source: Operand = ...,
    *,
    alpha: Operand = 1,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns `input` with `alpha` times the slices of `source` added to those that `index` lists.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      source: What is written.
      alpha: A number that the second operand is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own; `Tensor.index_add_` writes it to `input`.

    See `torch.index_add`.
    """

def index_add_(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    source: Operand = ...,
    *,
    alpha: Operand = 1,
    axis: _int = ...,
) -> Tensor:
    """Writes to the tensor what `index_add` returns: `input` with `alpha` times the slices of `source` added to those that `index` lists.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      source: What is written.
      alpha: A number that the second operand is multiplied with.
      axis: NumPy's name of `dim`.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.index_add_`.
    """

def index_copy(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    source: Operand = ...,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns `input` with the slices of `source` in place of those that `index` lists.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      source: What is written.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own; `Tensor.index_copy_` writes it to `input`.

    See `torch.index_copy`.
    """

def index_copy_(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    source: Operand = ...,
    *,
    axis: _int = ...,
) -> Tensor:
    """Writes to the tensor what `index_copy` returns: `input` with the slices of `source` in place of those that `index` lists.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      source: What is written.
      axis: NumPy's name of `dim`.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.index_copy_`.
    """

def index_fill(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    value: Operand = ...,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns `input` with the slices along `dim` that `index` lists filled with `value`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      value: A number: what is filled in, or what the product is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own; `Tensor.index_fill_` writes it to `input`.

    See `torch.index_fill`.
    """

def index_fill_(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    value: Operand = ...,
    *,
    axis: _int = ...,
) -> Tensor:
    """Writes to the tensor what `index_fill` returns: `input` with the slices along `dim` that `index` lists filled with `value`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      value: A number: what is filled in, or what the product is multiplied with.
      axis: NumPy's name of `dim`.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.index_fill_`.
    """

def index_put(
    input: Operand,
    indices: Sequence[TensorLike | None],
    values: Operand,
    accumulate: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `input` with `values` at the places that the tensors of `indices` name together.

    Args:
      input: The tensor.
      indices: Indices, of an integer dtype.
      values: The values.
      accumulate: Whether values are added to what is there rather than put in its place.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.index_put_` writes it to `input`.

    See `torch.index_put`.
    """

def index_put_(
    input: Operand,
    indices: Sequence[TensorLike | None],
    values: Operand,
    accumulate: _bool = False,
) -> Tensor:
    """Writes to the tensor what `index_put` returns: `input` with `values` at the places that the tensors of `indices` name together.

    Args:
      input: The tensor.
      indices: Indices, of an integer dtype.
      values: The values.
      accumulate: Whether values are added to what is there rather than put in its place.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.index_put_`.
    """

def index_reduce(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    source: Operand = ...,
    reduce: _str = ...,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns `input` united, by `reduce`, with the slices of `source` at those that `index` lists.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      source: What is written.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      include_self: Whether the elements of `input` take part.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own; `Tensor.index_reduce_` writes it to `input`.

    See `torch.index_reduce`.
    """

def index_reduce_(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    source: Operand = ...,
    reduce: _str = ...,
    *,
    include_self: _bool = True,
    axis: _int = ...,
) -> Tensor:
    """Writes to the tensor what `index_reduce` returns: `input` united, by `reduce`, with the slices of `source` at those that `index` lists.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      source: What is written.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      include_self: Whether the elements of `input` take part.
      axis: NumPy's name of `dim`.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.index_reduce_`.
    """

def index_select(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the slices along `dim` that `index` lists.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.index_select`.
    """

def inner(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the sums of products along the last dim of both tensors.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.inner`.
    """

def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool = False,
) -> Tensor:
    """Normalizes each channel of each sample, and updates the running statistics; see `nn.functional`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      running_mean: The running means, written in training.
      running_var: The running variances, written in training.
      use_input_stats: Whether statistics are those of the input rather than the running ones.
      momentum: How much of a new batch goes into the running statistics.
      eps: A small number that keeps from dividing by zero.
      cudnn_enabled: Accepted and ignored: XLA chooses its kernels itself.

    See `torch.instance_norm`.
    """

def inverse(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the inverse of a square matrix (`ja.linalg.inv`).

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.inverse`.
    """

def is_complex(input: Tensor) -> _bool:
    """Returns whether the elements are complex numbers.

    Args:
      input: The tensor.

    See `torch.is_complex`.
    """

def is_conj(input: Tensor) -> _bool:
    """Returns whether the tensor shows the conjugates of what its memory holds.

    Args:
      input: The tensor.

    See `torch.is_conj`.
    """

def is_floating_point(input: Tensor) -> _bool:
    """Returns whether the elements are floats.

    Args:
      input: The tensor.

    See `torch.is_floating_point`.
    """

def is_inference(input: Tensor) -> _bool:
    """Returns whether the tensor was made in `inference_mode`, so that it cannot be saved for a backward.

    Args:
      input: The tensor.

    See `torch.is_inference`.
    """

def is_neg(input: Tensor) -> _bool:
    """Returns whether the tensor shows the negatives of what its memory holds, as `x.conj().imag` does.

    Args:
      input: The tensor.

    See `torch.is_neg`.
    """

def is_nonzero(input: Tensor) -> _bool:
    """Returns whether the only element is not zero.

    Raises:
      TensorValueError: If there is not exactly one element.

    Args:
      input: The tensor.

    See `torch.is_nonzero`.
    """

def is_same_size(input: Tensor, other: Tensor) -> _bool:
    """Returns whether two tensors have the same shape.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    See `torch.is_same_size`.
    """

def is_set_to(input: Tensor, tensor: Tensor) -> _bool:
    """Returns whether two tensors show the same elements of the same storage in the same way.

    Args:
      input: The tensor.
      tensor: The second vector.

    See `torch.is_set_to`.
    """

def is_signed(input: Tensor) -> _bool:
    """Returns whether the elements can be negative.

    Args:
      input: The tensor.

    See `torch.is_signed`.
    """

def is_storage(obj: object) -> _bool:
    """Returns whether `obj` is a storage of jaxaot.

    Args:
      obj: Any object.

    See `torch.is_storage`.
    """

def is_tensor(obj: object) -> _bool:
    """Returns whether `obj` is a tensor of jaxaot.

    Args:
      obj: Any object.

    See `torch.is_tensor`.
    """

def isclose(
    input: Operand,
    other: Operand,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns whether |input - other| is at most `atol + rtol * |other|`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      rtol: The tolerance as a fraction.
      atol: The tolerance as a number.
      equal_nan: Whether NaN equals NaN.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.isclose`.
    """

def isfinite(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether each element is neither infinite nor NaN.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.isfinite`.
    """

def isin(
    elements: Operand = ...,
    test_elements: Operand = ...,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Tensor | None = None,
    element: Operand = ...,
    test_element: Operand = ...,
) -> Tensor:
    """Returns whether each of `elements` is among `test_elements`.

    Args:
      elements: The elements that are looked for.
      test_elements: The elements among which they are looked for.
      assume_unique: PyTorch's hint that no element occurs twice; the result is the same.
      invert: Whether the answers are negated.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      element: The same as `elements`, for a number.
      test_element: The same as `test_elements`, for a number.

    The result has memory of its own.

    See `torch.isin`.
    """

def isinf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether each element is infinite, of either sign.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.isinf`.
    """

def isnan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether each element is NaN.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.isnan`.
    """

def isneginf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether each element is negative infinity.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.isneginf`.
    """

def isposinf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether each element is positive infinity.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.isposinf`.
    """

def isreal(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether the imaginary part of each element is zero.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.isreal`.
    """

def istft(
    input: Operand,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Operand | None = None,
    center: _bool = True,
    normalized: _bool = False,
    onesided: _bool | None = None,
    length: _int | None = None,
    return_complex: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the signal whose short-time transforms are nearest to `input`.

    Args:
      input: The tensor.
      n_fft: How many samples a transform has.
      hop_length: How many samples from window to window; by default a quarter of `n_fft`.
      win_length: How many samples the window has; by default `n_fft`.
      window: The window; ones by default.
      center: Whether the data, or each window, is centred; of windows where their middle is.
      normalized: Whether results are divided by the square root of their number.
      onesided: Whether only the half that is not redundant is returned.
      length: The length of the signal.
      return_complex: Whether the result is complex, rather than pairs of floats.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.istft`.
    """

def kaiser_window(
    window_length: _int,
    periodic: _bool = True,
    beta: _float = 12.0,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Kaiser window of `window_length` samples, periodic by default.

    Args:
      window_length: How many samples.
      periodic: Whether the window is meant to be repeated, rather than symmetric.
      beta: A number that `input` is multiplied with.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.kaiser_window`.
    """

def kron(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the Kronecker product: each element of `input` times the whole of `other`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.kron`.
    """

def kthvalue(
    input: Operand,
    k: _int,
    dim: _int = -1,
    keepdim: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
    keepdims: _bool = ...,
) -> KthvalueResult:
    """Returns the `k`-th smallest element along `dim`, and where it lies.

    Args:
      input: The tensor.
      k: How many; or which one, counted from 1.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    Which of several equal elements is meant may differ from PyTorch.

    See `torch.kthvalue`.
    """

def layer_norm(
    input: Operand,
    normalized_shape: Ints,
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: _float = 1e-05,
    cudnn_enable: Any = True,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements, normalized over the last dims, `normalized_shape`, scaled and shifted.

    Args:
      input: The tensor.
      normalized_shape: The shape of the last dims, over which it is normalized.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      eps: A small number that keeps from dividing by zero.
      cudnn_enable: Accepted and ignored: XLA chooses its kernels itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.layer_norm`.
    """

def lcm(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the least common multiple of each pair of integers.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.lcm_` writes it to `input`.

    See `torch.lcm`.
    """

def lcm_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `lcm` returns: the least common multiple of each pair of integers.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.lcm_`.
    """

def ldexp(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns `input * 2**other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.ldexp_` writes it to `input`.

    See `torch.ldexp`.
    """

def ldexp_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `ldexp` returns: `input * 2**other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.ldexp_`.
    """

def le(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether `input` is at most `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.le_` writes it to `input`.

    See `torch.le`; also called `less_equal`.
    """

def le_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `le` returns: whether `input` is at most `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.le_`.
    """

def lerp(input: Operand, end: Operand, weight: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns `input + weight * (end - input)`: a point between `input` and `end`.

    Args:
      input: The tensor.
      end: The last value, or index, or the tensor at weight 1.
      weight: How far from `input` to `end`: 0 is `input`, 1 is `end`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.lerp_` writes it to `input`.

    See `torch.lerp`.
    """

def lerp_(input: Operand, end: Operand, weight: Operand) -> Tensor:
    """Writes to the tensor what `lerp` returns: `input + weight * (end - input)`: a point between `input` and `end`.

    Args:
      input: The tensor.
      end: The last value, or index, or the tensor at weight 1.
      weight: How far from `input` to `end`: 0 is `input`, 1 is `end`.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.lerp_`.
    """

def less(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether `input` is less than `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.lt_` writes it to `input`.

    See `torch.lt`; also called `less`.
    """

def less_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `lt` returns: whether `input` is less than `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.lt_`.
    """

def less_equal(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether `input` is at most `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.le_` writes it to `input`.

    See `torch.le`; also called `less_equal`.
    """

def less_equal_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `le` returns: whether `input` is at most `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.le_`.
    """

def lgamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm of the magnitude of the gamma function of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.lgamma_` writes it to `input`.

    See `torch.lgamma`.
    """

def lgamma_(input: Operand) -> Tensor:
    """Writes to the tensor what `lgamma` returns: the logarithm of the magnitude of the gamma function of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.lgamma_`.
    """

def linspace(
    start: Operand,
    end: Operand,
    steps: _int,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `steps` numbers from `start` to `end`, both included, at equal distances.

    Bounds that are 0-d tensors.

    Args:
      start: The first value, or index.
      end: The last value, or index, or the tensor at weight 1.
      steps: How many values.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.linspace`.
    """

def lobpcg(
    A: Operand,
    k: _int | None = None,
    B: Operand | None = None,
    X: Operand | None = None,
    n: _int | None = None,
    iK: Operand | None = None,
    niter: _int | None = None,
    tol: _float | None = None,
    largest: _bool | None = None,
    method: _str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """Returns the `k` largest or smallest eigenvalues of a symmetric matrix, and their vectors, by `eigh`.

    Args:
      A: A matrix or a batch of matrices.
      k: How many eigenvalues.
      B: The matrix of the generalized problem, positive definite; the identity if left out.
      X: Where PyTorch begins, whose columns say how many eigenvalues there are if `k` does not.
      n: How many columns PyTorch iterates on; it has no effect.
      iK: A preconditioner of PyTorch's iteration; it has no effect.
      niter: How many rounds PyTorch iterates; it has no effect.
      tol: Where PyTorch's iteration ends; it has no effect.
      largest: Whether the greatest are meant rather than the least.
      method: Which iteration PyTorch runs; it has no effect.
      tracker: None: nothing is iterated.
      ortho_iparams: How PyTorch makes columns orthogonal; it has no effect.
      ortho_fparams: How PyTorch makes columns orthogonal; it has no effect.
      ortho_bparams: How PyTorch makes columns orthogonal; it has no effect.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.lobpcg`.
    """

def log(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the natural logarithm of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.log_` writes it to `input`.

    See `torch.log`.
    """

def log10(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm to base 10 of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.log10_` writes it to `input`.

    See `torch.log10`.
    """

def log10_(input: Operand) -> Tensor:
    """Writes to the tensor what `log10` returns: the logarithm to base 10 of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.log10_`.
    """

def log1p(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the natural logarithm of one plus each element, exact for small elements.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.log1p_` writes it to `input`.

    See `torch.log1p`.
    """

def log1p_(input: Operand) -> Tensor:
    """Writes to the tensor what `log1p` returns: the natural logarithm of one plus each element, exact for small elements.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.log1p_`.
    """

def log2(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm to base 2 of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.log2_` writes it to `input`.

    See `torch.log2`.
    """

def log2_(input: Operand) -> Tensor:
    """Writes to the tensor what `log2` returns: the logarithm to base 2 of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.log2_`.
    """

def log_(input: Operand) -> Tensor:
    """Writes to the tensor what `log` returns: the natural logarithm of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.log_`.
    """

def log_softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """Returns the logarithm of the softmax along `dim`, without overflow.

    Args:
      input: The tensor.
      dim: The dim along which the exponentials of the results add up to 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.log_softmax`.
    """

def logaddexp(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns log(exp(input) + exp(other)), without overflow.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.logaddexp`.
    """

def logaddexp2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns log2(2**input + 2**other), without overflow.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.logaddexp2`.
    """

def logcumsumexp(input: Operand, dim: _int = ..., *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Returns the logarithms of the sums of exponentials up to each element, along `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    Its gradient is more exact than PyTorch's in float32.

    See `torch.logcumsumexp`.
    """

def logdet(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm of the determinant of a square matrix; NaN if it is negative.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.logdet`.
    """

def logical_and(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether both elements of each pair are not zero.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.logical_and_` writes it to `input`.

    See `torch.logical_and`.
    """

def logical_and_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `logical_and` returns: whether both elements of each pair are not zero.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.logical_and_`.
    """

def logical_not(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether each element is zero.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.logical_not_` writes it to `input`.

    See `torch.logical_not`.
    """

def logical_not_(input: Operand) -> Tensor:
    """Writes to the tensor what `logical_not` returns: whether each element is zero.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.logical_not_`.
    """

def logical_or(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether an element of each pair is not zero.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.logical_or_` writes it to `input`.

    See `torch.logical_or`.
    """

def logical_or_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `logical_or` returns: whether an element of each pair is not zero.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.logical_or_`.
    """

def logical_xor(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether exactly one element of each pair is not zero.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.logical_xor_` writes it to `input`.

    See `torch.logical_xor`.
    """

def logical_xor_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `logical_xor` returns: whether exactly one element of each pair is not zero.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.logical_xor_`.
    """

def logit(input: Operand, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Returns log(x / (1 - x)), the inverse of the sigmoid; elements are clamped to [eps, 1 - eps] if given.

    Args:
      input: The tensor.
      eps: Elements are clamped to [eps, 1 - eps] first; None for not.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.logit_` writes it to `input`.

    See `torch.logit`.
    """

def logit_(input: Operand, eps: _float | None = None) -> Tensor:
    """Writes to the tensor what `logit` returns: log(x / (1 - x)), the inverse of the sigmoid; elements are clamped to [eps, 1 - eps] if given.

    Args:
      input: The tensor.
      eps: Elements are clamped to [eps, 1 - eps] first; None for not.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.logit_`.
    """

def logspace(
    start: Operand,
    end: Operand,
    steps: _int,
    base: _float = 10.0,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `base` to the powers of `steps` equally spaced numbers from `start` to `end`.

    Bounds that are 0-d tensors.

    Args:
      start: The first value, or index.
      end: The last value, or index, or the tensor at weight 1.
      steps: How many values.
      base: The number whose powers are taken.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.logspace`.
    """

def logsumexp(
    input: Operand,
    dim: Ints = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: Ints = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the logarithm of the sum of the exponentials over `dim`, without overflow.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.logsumexp`.
    """

def lt(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether `input` is less than `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.lt_` writes it to `input`.

    See `torch.lt`; also called `less`.
    """

def lt_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `lt` returns: whether `input` is less than `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.lt_`.
    """

def lu(
    input: Operand,
    pivot: _bool = True,
    get_infos: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    """Returns the LU factorization of a matrix in compact form, with `get_infos` also where it failed.

    Args:
      input: The tensor.
      pivot: Whether rows are exchanged.
      get_infos: Whether to return where it failed.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.lu`.
    """

def lu_solve(input: Operand, LU_data: Operand, LU_pivots: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the solution of a system by a compact LU factorization (`ja.linalg.lu_solve`).

    Args:
      input: The tensor.
      LU_data: The compact factors.
      LU_pivots: Which rows were exchanged.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.lu_solve`.
    """

def lu_unpack(
    LU_data: Operand,
    LU_pivots: Operand,
    unpack_data: _bool = True,
    unpack_pivots: _bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> LuUnpackResult:
    """Returns the matrices P, L and U of a compact LU factorization.

    Args:
      LU_data: The compact factors.
      LU_pivots: Which rows were exchanged.
      unpack_data: Whether to return L and U.
      unpack_pivots: Whether to return P.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.lu_unpack`.
    """

def masked_fill(input: Operand, mask: Operand, value: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements, those where `mask` is true replaced by `value`.

    Args:
      input: The tensor.
      mask: A tensor of bools, True where elements count; it broadcasts.
      value: What replaces the elements.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.masked_fill_` writes it to `input`.

    See `torch.masked_fill`.
    """

def masked_fill_(input: Operand, mask: Operand, value: Operand) -> Tensor:
    """Writes to the tensor what `masked_fill` returns: the elements, those where `mask` is true replaced by `value`.

    Args:
      input: The tensor.
      mask: A tensor of bools, True where elements count; it broadcasts.
      value: What replaces the elements.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.masked_fill_`.
    """

def masked_scatter(input: Operand, mask: Operand, source: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements, those where `mask` is true replaced by those of `source` in their order.

    Args:
      input: The tensor.
      mask: A tensor of bools, True where elements count; it broadcasts.
      source: What is written.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.masked_scatter_` writes it to `input`.

    See `torch.masked_scatter`.
    """

def masked_scatter_(input: Operand, mask: Operand, source: Operand) -> Tensor:
    """Writes to the tensor what `masked_scatter` returns: the elements, those where `mask` is true replaced by those of `source` in their order.

    Args:
      input: The tensor.
      mask: A tensor of bools, True where elements count; it broadcasts.
      source: What is written.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.masked_scatter_`.
    """

def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements where a mask that broadcasts with them is true, as one dim.

    Args:
      input: The tensor.
      mask: A tensor of bools, True where elements count; it broadcasts.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    In a trace its shape depends on values: use `segments=True`, or `ja.where`.

    See `torch.masked_select`.
    """

def matmul(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the matrix product of two tensors; batches of matrices broadcast, vectors count as matrices.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.matmul`.
    """

def matrix_exp(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the exponential of a square matrix.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.matrix_exp`.
    """

def matrix_power(input: Operand, n: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns a square matrix to an integer power; a negative one is that of its inverse.

    Args:
      input: The tensor.
      n: A number: how often, which power, or which degree.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.matrix_power`.
    """

@overload
def max(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the greatest element; with `dim` also where it lies; with `other` the greater of each pair.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.max`.
    """
@overload
def max(
    input: Operand,
    dim: _int = ...,
    keepdim: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
    keepdims: _bool = ...,
) -> MaxDimResult: ...
@overload
def max(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor: ...

def max_pool1d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the greatest element of each window of signals.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      ceil_mode: Whether windows that reach over the end count too.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.max_pool1d`.
    """

def max_pool2d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the greatest element of each window of images.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      ceil_mode: Whether windows that reach over the end count too.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.max_pool2d`.
    """

def max_pool2d_with_indices_backward(
    grad_output: Operand,
    input: Operand,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints | _str,
    dilation: Ints,
    ceil_mode: _bool,
    indices: Operand,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the gradient of the input of `max_pool2d`.

    Args:
      grad_output: The gradient of the result.
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      ceil_mode: Whether windows that reach over the end count too.
      indices: Indices, of an integer dtype.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.max_pool2d_with_indices_backward`.
    """

def max_pool3d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the greatest element of each window of volumes.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      ceil_mode: Whether windows that reach over the end count too.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.max_pool3d`.
    """

def maximum(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the greater element of each pair; NaN if either is.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.maximum`.
    """

def mean(
    input: Operand,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the mean of the elements, over all dims or those of `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.mean`.
    """

@overload
def median(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the median, the lower of two; with `dim` along it, and where it lies.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    Which of several equal elements is meant may differ from PyTorch.

    See `torch.median`.
    """
@overload
def median(
    input: Operand,
    dim: _int = ...,
    keepdim: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
    keepdims: _bool = ...,
) -> MedianDimResult: ...

def meshgrid(*tensors: TensorLike | Sequence[TensorLike], indexing: _str | None = None) -> tuple[Tensor, ...]:
    """Returns each vector expanded along the dims of the others, as views.

    Args:
      *tensors: 1-D or 0-D tensors of one dtype, or a list of them.
      indexing: `"ij"`, the default: dim i belongs to tensor i; `"xy"`: the first two dims change places.

    See `torch.meshgrid`.
    """

@overload
def min(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the least element; with `dim` also where it lies; with `other` the smaller of each pair.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.min`.
    """
@overload
def min(
    input: Operand,
    dim: _int = ...,
    keepdim: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
    keepdims: _bool = ...,
) -> MinDimResult: ...
@overload
def min(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor: ...

def minimum(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the smaller element of each pair; NaN if either is.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.minimum`.
    """

def mm(input: Operand, mat2: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the product of two matrices.

    Args:
      input: The tensor.
      mat2: The second matrix.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.mm`.
    """

def mode(
    input: Operand,
    dim: _int = -1,
    keepdim: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
    keepdims: _bool = ...,
) -> ModeResult:
    """Returns the most frequent element along `dim`, the least of several, and where it lies.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    Which of several equal elements is meant may differ from PyTorch.

    See `torch.mode`.
    """

def moveaxis(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Returns dims moved to other places; the others keep their order.

    Args:
      input: The tensor.
      source: What is written.
      destination: Where the dims go.

    The result is a view: it shares memory with `input`.

    See `torch.movedim`.
    """

def movedim(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Returns dims moved to other places; the others keep their order.

    Args:
      input: The tensor.
      source: What is written.
      destination: Where the dims go.

    The result is a view: it shares memory with `input`.

    See `torch.movedim`.
    """

def msort(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements in ascending order along the first dim.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.msort`.
    """

def mul(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns `input * other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.mul_` writes it to `input`.

    See `torch.mul`; also called `multiply`.
    """

def mul_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `mul` returns: `input * other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.mul_`.
    """

def multinomial(
    input: Operand,
    num_samples: _int,
    replacement: _bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `num_samples` random indices of each row, with its elements as probabilities.

    Args:
      input: The tensor.
      num_samples: How many indices are drawn of each row.
      replacement: Whether an index may be drawn more than once.
      generator: Where random numbers come from; by default `ja.default_generator`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.multinomial`.
    """

def multiply(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns `input * other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.mul_` writes it to `input`.

    See `torch.mul`; also called `multiply`.
    """

def multiply_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `mul` returns: `input * other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.mul_`.
    """

def mv(input: Operand, vec: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the product of a matrix and a vector.

    Args:
      input: The tensor.
      vec: The vector.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.mv`.
    """

def mvlgamma(input: Operand, p: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm of the multivariate gamma function of dimension `p` (`multigammaln`).

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.mvlgamma_` writes it to `input`.

    See `torch.mvlgamma`.
    """

def mvlgamma_(input: Operand, p: _int) -> Tensor:
    """Writes to the tensor what `mvlgamma` returns: the logarithm of the multivariate gamma function of dimension `p` (`multigammaln`).

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.mvlgamma_`.
    """

def nan_to_num(
    input: Operand,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements with NaN and the infinities replaced by finite numbers.

    Args:
      input: The tensor.
      nan: What replaces NaN; 0 by default.
      posinf: What replaces infinity; by default the greatest number of the dtype.
      neginf: What replaces negative infinity; by default the least number of the dtype.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.nan_to_num_` writes it to `input`.

    See `torch.nan_to_num`.
    """

def nan_to_num_(
    input: Operand,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
) -> Tensor:
    """Writes to the tensor what `nan_to_num` returns: the elements with NaN and the infinities replaced by finite numbers.

    Args:
      input: The tensor.
      nan: What replaces NaN; 0 by default.
      posinf: What replaces infinity; by default the greatest number of the dtype.
      neginf: What replaces negative infinity; by default the least number of the dtype.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.nan_to_num_`.
    """

def nanmean(
    input: Operand,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the mean of the elements that are not NaN.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.nanmean`.
    """

@overload
def nanmedian(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the median of the elements that are not NaN; with `dim` along it, and where it lies.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.nanmedian`.
    """
@overload
def nanmedian(
    input: Operand,
    dim: _int = ...,
    keepdim: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
    keepdims: _bool = ...,
) -> NanmedianDimResult: ...

def nanquantile(
    input: Operand,
    q: Operand,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = 'linear',
    out: Tensor | None = None,
    axis: _int | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the `q`-th quantiles of the elements that are not NaN.

    Args:
      input: The tensor.
      q: The rank; of quantiles the fractions, from 0 to 1.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      interpolation: What lies between two elements: `'linear'`, `'lower'`, `'higher'`, `'midpoint'`, `'nearest'`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.nanquantile`.
    """

def nansum(
    input: Operand,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the sum of the elements that are not NaN.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.nansum`.
    """

def narrow(input: Tensor, dim: _int = ..., start: _int = ..., length: _int = ..., *, axis: _int = ...) -> Tensor:
    """Returns the view of `length` elements of a dim from `start` on.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      start: The first value, or index.
      length: The length of the signal.
      axis: NumPy's name of `dim`.

    The result is a view: it shares memory with `input`.

    See `torch.narrow`.
    """

def narrow_copy(
    input: Tensor,
    dim: _int = ...,
    start: _int = ...,
    length: _int = ...,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns a copy of what `narrow` shows.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      start: The first value, or index.
      length: The length of the signal.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    See `torch.narrow_copy`.
    """

def native_batch_norm(
    input: Operand,
    weight: Operand | None,
    bias: Operand | None,
    running_mean: Operand | None,
    running_var: Operand | None,
    training: _bool,
    momentum: _float,
    eps: _float,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the batch norm, with the means and one over the deviations of the batch.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      running_mean: The running means, written in training.
      running_var: The running variances, written in training.
      training: Whether it behaves as in training.
      momentum: How much of a new batch goes into the running statistics.
      eps: A small number that keeps from dividing by zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.native_batch_norm`.
    """

def native_dropout(
    input: Operand,
    p: _float,
    train: _bool | None,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """Returns the result of dropout, and the mask of what was kept.

    The result and the mask of what was kept.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      train: Whether it behaves as in training.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.native_dropout`.
    """

def native_dropout_backward(
    grad_output: Operand,
    mask: Operand,
    scale: _float,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the gradient of dropout's input, by the mask of what was kept.

    Args:
      grad_output: The gradient of the result.
      mask: A tensor of bools, True where elements count; it broadcasts.
      scale: What scores are multiplied with; by default 1 / √width. Of dropout the factor of what is kept.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.native_dropout_backward`.
    """

def native_group_norm(
    input: Operand,
    weight: Operand | None,
    bias: Operand | None,
    N: _int,
    C: _int,
    HxW: _int,
    group: _int,
    eps: _float,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the group norm, with the means and one over the deviations of the groups.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      N: How many columns, or samples in the batch.
      C: How many channels.
      HxW: How many elements a channel has.
      group: How many groups of channels.
      eps: A small number that keeps from dividing by zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.native_group_norm`.
    """

def native_layer_norm(
    input: Operand,
    normalized_shape: Ints,
    weight: Operand | None,
    bias: Operand | None,
    eps: _float,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the layer norm, with the means and one over the deviations.

    Args:
      input: The tensor.
      normalized_shape: The shape of the last dims, over which it is normalized.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      eps: A small number that keeps from dividing by zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.native_layer_norm`.
    """

def ne(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether `input` differs from `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.ne_` writes it to `input`.

    See `torch.ne`; also called `not_equal`.
    """

def ne_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `ne` returns: whether `input` differs from `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.ne_`.
    """

def neg(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns each element with the opposite sign.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.neg_` writes it to `input`.

    See `torch.neg`; also called `negative`.
    """

def neg_(input: Operand) -> Tensor:
    """Writes to the tensor what `neg` returns: each element with the opposite sign.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.neg_`.
    """

def negative(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns each element with the opposite sign.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.neg_` writes it to `input`.

    See `torch.neg`; also called `negative`.
    """

def negative_(input: Operand) -> Tensor:
    """Writes to the tensor what `neg` returns: each element with the opposite sign.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.neg_`.
    """

def nextafter(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the next representable float after `input` towards `other`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.nextafter_` writes it to `input`.

    See `torch.nextafter`.
    """

def nextafter_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `nextafter` returns: the next representable float after `input` towards `other`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.nextafter_`.
    """

def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: _bool = False) -> Any:
    """Returns where elements are not zero: (n, dims), or a tensor for each dim if `as_tuple`.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      as_tuple: Whether to return a tensor for each dim.

    In a trace its shape depends on values: use `segments=True`, or `nonzero_static`.

    See `torch.nonzero`.
    """

def nonzero_static(input: Operand, *, size: _int, fill_value: _int = -1, out: Tensor | None = None) -> Tensor:
    """Returns where elements are not zero, for a given number of them, so that the shape is known.

    `nonzero` for a given number of elements: more are left out, and what is missing is `fill_value`.

    Args:
      input: The tensor.
      size: The shape of the result, as integers or a tuple; or how many.
      fill_value: A number: what is filled in.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.nonzero_static`.
    """

def norm(
    input: Operand,
    p: _float | _str | Tensor = 'fro',
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the norm of a tensor, as one long vector, or of its vectors or matrices along `dim`.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.norm`.
    """

@overload
def normal(mean: Operand, std: Operand, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Returns random numbers of normal distributions with given means and deviations.

    Args:
      mean: The mean of the distribution.
      std: The standard deviation.
      generator: Where random numbers come from; by default `ja.default_generator`.
      size: The shape of the result, as integers or a tuple; or how many.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.normal`.
    """
@overload
def normal(
    mean: Operand,
    std: _float = 1,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def normal(
    mean: _float,
    std: _float,
    size: Ints,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor: ...

def not_equal(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether `input` differs from `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.ne_` writes it to `input`.

    See `torch.ne`; also called `not_equal`.
    """

def not_equal_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `ne` returns: whether `input` differs from `other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.ne_`.
    """

def numel(input: Tensor) -> _int:
    """Returns the number of elements.

    Args:
      input: The tensor.

    See `torch.numel`.
    """

def ones(
    *sizes: Ints,
    size: Ints | None = None,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a tensor of ones.

    Args:
      size: The shape of the result, as integers or a tuple; or how many.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      sizes: The shape of the result, as integers or a tuple.

    The result has memory of its own.

    See `torch.ones`.
    """

def ones_like(
    input: Operand,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Returns ones of the shape, dtype and device of `input`.

    Args:
      input: The tensor.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      memory_format: The order of the dims in memory, such as `ja.channels_last`; by default as the operand's.

    The result has memory of its own.

    See `torch.ones_like`.
    """

def orgqr(input: Operand, input2: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the matrix Q of a compact QR factorization.

    Args:
      input: The tensor.
      input2: The second operand.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.orgqr`.
    """

def ormqr(
    input: Operand,
    input2: Operand,
    input3: Operand,
    left: _bool = True,
    transpose: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the product of the Q of a compact QR factorization with another matrix.

    Args:
      input: The tensor.
      input2: The second operand.
      input3: The matrix to multiply.
      left: Whether the matrix stands on the left of the unknown.
      transpose: Whether the transpose of the matrix is meant.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.ormqr`.
    """

def outer(input: Operand, vec2: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the matrix of the products of each element of one vector with each of another.

    Args:
      input: The tensor.
      vec2: The second vector.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.outer`; also called `ger`.
    """

def pairwise_distance(
    x1: Operand,
    x2: Operand,
    p: _float = 2.0,
    eps: _float = 1e-06,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the `p`-norms of the differences of vectors along the last dim.

    Args:
      x1: The first vectors.
      x2: The second vectors.
      p: The order of the norm, or the probability.
      eps: A small number that keeps from dividing by zero.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.pairwise_distance`.
    """

def pca_lowrank(
    A: Operand,
    q: _int | None = None,
    center: _bool = True,
    niter: _int = 2,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the principal components of a matrix, of low rank, by random projections.

    Args:
      A: A matrix or a batch of matrices.
      q: The rank; of quantiles the fractions, from 0 to 1.
      center: Whether the data, or each window, is centred; of windows where their middle is.
      niter: How many rounds of iteration.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.pca_lowrank`.
    """

def pdist(input: Operand, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
    """Returns the distances of all pairs of rows of a matrix, each pair once.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.pdist`.
    """

def permute(input: Tensor, *order: Any, dims: Ints | None = None) -> Tensor:
    """Returns the dims in another order.

    Args:
      input: The tensor.
      dims: The dims; negative ones count from the end.
      order: The dims in their new order, as integers or a tuple.

    The result is a view: it shares memory with `input`.

    See `torch.permute`.
    """

def permute_copy(input: Tensor, *order: Any, dims: Ints | None = None, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `permute` shows.

    Args:
      input: The tensor.
      order: The dims in their new order, as integers or a tuple.
      dims: The dims; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.permute_copy`.
    """

def pinverse(input: Operand, rcond: _float = 1e-15, *, out: Tensor | None = None) -> Tensor:
    """Returns the pseudo-inverse of a matrix (`ja.linalg.pinv`).

    Args:
      input: The tensor.
      rcond: The least singular value that counts, as a fraction of the greatest.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.pinverse`.
    """

def pixel_shuffle(input: Operand, upscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns images of more pixels and fewer channels: channels become blocks of pixels.

    Args:
      input: The tensor.
      upscale_factor: How many times larger each side becomes.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.pixel_shuffle`.
    """

def pixel_unshuffle(input: Operand, downscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns images of fewer pixels and more channels: the inverse of `pixel_shuffle`.

    Args:
      input: The tensor.
      downscale_factor: How many times smaller each side becomes.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.pixel_unshuffle`.
    """

def poisson(input: Operand, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Returns random numbers of Poisson distributions whose rates are the elements.

    Args:
      input: The tensor.
      generator: Where random numbers come from; by default `ja.default_generator`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.poisson`.
    """

def polar(abs: Operand, angle: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns complex numbers with the magnitudes `abs` and the angles `angle`.

    Args:
      abs: The magnitudes.
      angle: The angles, in radians.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.polar`.
    """

def polygamma(n: _int, input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the n-th derivative of the digamma function of each element.

    Args:
      n: A number: how often, which power, or which degree.
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.polygamma`.
    """

def positive(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements as they are, as Python's unary `+` does; bools are refused.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.positive_` writes it to `input`.

    See `torch.positive`.
    """

def positive_(input: Operand) -> Tensor:
    """Writes to the tensor what `positive` returns: the elements as they are, as Python's unary `+` does; bools are refused.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.positive_`.
    """

def pow(input: Operand = ..., exponent: Operand = ..., *, out: Tensor | None = None, self: Operand = ...) -> Tensor:
    """Returns each element to the power of `exponent`.

    Args:
      input: The tensor.
      exponent: The power, a tensor or a number.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own; `Tensor.pow_` writes it to `input`.

    See `torch.pow`.
    """

def pow_(input: Operand = ..., exponent: Operand = ..., *, self: Operand = ...) -> Tensor:
    """Writes to the tensor what `pow` returns: each element to the power of `exponent`.

    Args:
      input: The tensor.
      exponent: The power, a tensor or a number.
      self: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.pow_`.
    """

def prelu(input: Operand, weight: Operand) -> Tensor:
    """Returns the elements, negative ones times `weight`, which is learned, one for all or for each channel.

    Args:
      input: The tensor.
      weight: The slopes of negative elements, one or one for each channel.

    The result has memory of its own.

    See `torch.prelu`.
    """

def prod(
    input: Operand,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: _int | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the product of the elements, over all dims or along `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.prod`.
    """

def promote_types(type1: DTypeLike, type2: DTypeLike) -> dtype:
    """Returns the smallest dtype to which both can be converted.

    Args:
      type1: A dtype.
      type2: Another dtype.

    See `torch.promote_types`.
    """

def put(
    input: Operand,
    index: Operand,
    source: Operand,
    accumulate: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns `input` with the elements of `source` at `index`, the tensor seen as one long vector.

    Args:
      input: The tensor.
      index: Indices along the dim, of an integer dtype; or one index.
      source: What is written.
      accumulate: Whether values are added to what is there rather than put in its place.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.put_` writes it to `input`.

    See `torch.put`.
    """

def put_(input: Operand, index: Operand, source: Operand, accumulate: _bool = False) -> Tensor:
    """Writes to the tensor what `put` returns: `input` with the elements of `source` at `index`, the tensor seen as one long vector.

    Args:
      input: The tensor.
      index: Indices along the dim, of an integer dtype; or one index.
      source: What is written.
      accumulate: Whether values are added to what is there rather than put in its place.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.put_`.
    """

def qr(input: Operand, some: _bool = True, *, out: Sequence[Tensor] | None = None) -> QrResult:
    """Returns Q and R with `input = Q R` (`ja.linalg.qr`).

    Args:
      input: The tensor.
      some: Whether the reduced form is returned.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.qr`.
    """

def quantile(
    input: Operand,
    q: Operand,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = 'linear',
    out: Tensor | None = None,
    axis: _int | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the `q`-th quantiles of the elements, over all dims or along `dim`.

    Args:
      input: The tensor.
      q: The rank; of quantiles the fractions, from 0 to 1.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      interpolation: What lies between two elements: `'linear'`, `'lower'`, `'higher'`, `'midpoint'`, `'nearest'`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.quantile`.
    """

def rad2deg(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns each angle in radians as degrees.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.rad2deg_` writes it to `input`.

    See `torch.rad2deg`.
    """

def rad2deg_(input: Operand) -> Tensor:
    """Writes to the tensor what `rad2deg` returns: each angle in radians as degrees.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.rad2deg_`.
    """

def rand(
    *sizes: Ints,
    size: Ints | None = None,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns random numbers, uniform from 0 to 1, without 1.

    Args:
      size: The shape of the result, as integers or a tuple; or how many.
      generator: Where random numbers come from; by default `ja.default_generator`.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      sizes: The shape of the result, as integers or a tuple.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.rand`.
    """

def rand_like(
    input: Operand,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Returns uniform random numbers in the shape of `input`.

    Args:
      input: The tensor.
      generator: Where random numbers come from; by default `ja.default_generator`.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      memory_format: The order of the dims in memory, such as `ja.channels_last`; by default as the operand's.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.rand_like`.
    """

def randint(
    low: _int = 0,
    high: _int | None = None,
    size: Ints | None = None,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns random integers from `low` up to `high`, without it.

    `randint(high, size)` and `randint(low, high, size)`.

    Args:
      low: The least value.
      high: The value below which all lie.
      size: The shape of the result, as integers or a tuple; or how many.
      generator: Where random numbers come from; by default `ja.default_generator`.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.randint`.
    """

def randint_like(
    input: Operand,
    low: _int = 0,
    high: _int | None = None,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Returns random integers from `low` up to `high` in the shape of `input`.

    `randint_like(x, high)` and `randint_like(x, low, high)`.

    Args:
      input: The tensor.
      low: The least value.
      high: The value below which all lie.
      generator: Where random numbers come from; by default `ja.default_generator`.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      memory_format: The order of the dims in memory, such as `ja.channels_last`; by default as the operand's.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.randint_like`.
    """

def randn(
    *sizes: Ints,
    size: Ints | None = None,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns random numbers of the normal distribution with mean 0 and deviation 1.

    Args:
      size: The shape of the result, as integers or a tuple; or how many.
      generator: Where random numbers come from; by default `ja.default_generator`.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      sizes: The shape of the result, as integers or a tuple.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.randn`.
    """

def randn_like(
    input: Operand,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Returns normal random numbers in the shape of `input`.

    Args:
      input: The tensor.
      generator: Where random numbers come from; by default `ja.default_generator`.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      memory_format: The order of the dims in memory, such as `ja.channels_last`; by default as the operand's.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.randn_like`.
    """

def randperm(
    n: _int,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the numbers from 0 to n - 1 in random order.

    Args:
      n: A number: how often, which power, or which degree.
      generator: Where random numbers come from; by default `ja.default_generator`.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.randperm`.
    """

def ravel(input: Tensor) -> Tensor:
    """Returns the elements as one dim: a view of a contiguous tensor, else a copy.

    Args:
      input: The tensor.

    See `torch.ravel`.
    """

def real(input: Tensor) -> Tensor:
    """Returns the real parts, a view; a tensor that is not complex as it is.

    Args:
      input: The tensor.

    The result is a view: it shares memory with `input`.

    See `torch.real`.
    """

def reciprocal(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns one over each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.reciprocal_` writes it to `input`.

    See `torch.reciprocal`.
    """

def reciprocal_(input: Operand) -> Tensor:
    """Writes to the tensor what `reciprocal` returns: one over each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.reciprocal_`.
    """

def relu(input: Operand) -> Tensor:
    """Returns the elements, negative ones replaced by zero.

    Args:
      input: The tensor.

    The result has memory of its own; `Tensor.relu_` writes it to `input`.

    See `torch.relu`.
    """

def relu_(input: Operand) -> Tensor:
    """Writes to the tensor what `relu` returns: the elements, negative ones replaced by zero.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.relu_`.
    """

def remainder(
    input: Operand = ...,
    other: Operand = ...,
    *,
    out: Tensor | None = None,
    self: Operand = ...,
) -> Tensor:
    """Returns what is left of `input` after division by `other`, with the sign of `other`: Python's `%`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own; `Tensor.remainder_` writes it to `input`.

    See `torch.remainder`.
    """

def remainder_(input: Operand = ..., other: Operand = ..., *, self: Operand = ...) -> Tensor:
    """Writes to the tensor what `remainder` returns: what is left of `input` after division by `other`, with the sign of `other`: Python's `%`.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      self: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.remainder_`.
    """

def renorm(
    input: Operand,
    p: _float,
    dim: _int = ...,
    maxnorm: _float = ...,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the tensor, each slice along `dim` scaled down so that its `p`-norm is at most `maxnorm`.

    Args:
      input: The tensor.
      p: The order of the norm.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      maxnorm: The greatest norm that a slice may have.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own; `Tensor.renorm_` writes it to `input`.

    See `torch.renorm`.
    """

def renorm_(input: Operand, p: _float, dim: _int = ..., maxnorm: _float = ..., *, axis: _int = ...) -> Tensor:
    """Writes to the tensor what `renorm` returns: the tensor, each slice along `dim` scaled down so that its `p`-norm is at most `maxnorm`.

    Args:
      input: The tensor.
      p: The order of the norm.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      maxnorm: The greatest norm that a slice may have.
      axis: NumPy's name of `dim`.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.renorm_`.
    """

def repeat(input: Operand, repeats: Ints, *, out: Tensor | None = None) -> Tensor:
    """Returns copies of the tensor laid side by side, as many along each dim as `repeats` says.

    Args:
      input: The tensor.
      repeats: How often, for each dim or for each element.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.repeat`.
    """

def repeat_interleave(
    input: Tensor | None = None,
    repeats: Ints | Tensor | None = None,
    dim: _int | None = None,
    *,
    output_size: _int | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """Returns each element repeated, along `dim` if given: `repeats` times, or as often as its entry in `repeats` says.

    Given counts alone, it returns indices: i as often as the i-th count says. With counts in a tensor, a trace needs
    `output_size`, their sum.

    Args:
      input: The tensor.
      repeats: How often, for each dim or for each element.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      axis: NumPy's name of `dim`.

    See `torch.repeat_interleave`.
    """

def reshape(input: Tensor, *sizes: Ints, shape: Ints | None = None) -> Tensor:
    """Returns the elements under another shape: a view where strides allow it, else a copy.

    Args:
      input: The tensor.
      shape: The shape.
      sizes: The shape of the result, as integers or a tuple.

    See `torch.reshape`.
    """

def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """Resizes to the shape of another tensor, in place.

    Args:
      input: The tensor to be resized.
      the_template: The tensor.
      memory_format: How the elements lie in memory afterwards; `preserve_format` is that of `the_template`.

    See `torch.resize_as_`.
    """

def resolve_conj(input: Tensor) -> Tensor:
    """Returns the tensor, or a copy with its values in memory if it shows conjugates.

    Args:
      input: The tensor.

    See `torch.resolve_conj`.
    """

def resolve_neg(input: Tensor) -> Tensor:
    """Returns the tensor, or a copy with its values in memory if it shows the negatives of memory.

    Args:
      input: The tensor.

    See `torch.resolve_neg`.
    """

def result_type(
    *both: Any,
    tensor: Any = None,
    other: Operand | None = None,
    scalar: Any = None,
    scalar1: Any = None,
    scalar2: Any = None,
) -> dtype:
    """Returns the dtype in which an op on two tensors or numbers is computed.

    Args:
      *both: The two.
      tensor: A tensor, by PyTorch's name; with `other` or `scalar`.
      other: The second operand.
      scalar: A number, with `tensor`.
      scalar1: A number, with `scalar2`.
      scalar2: A number.

    Raises:
      ArgumentError: If there are not two of them.

    See `torch.result_type`.
    """

def rms_norm(
    input: Operand,
    normalized_shape: Ints,
    weight: Operand | None = None,
    eps: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements divided by their root mean square over the last dims, and scaled.

    Args:
      input: The tensor.
      normalized_shape: The shape of the last dims, over which it is normalized.
      weight: The weights: of the layer, of each class, or of each element.
      eps: A small number that keeps from dividing by zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.rms_norm`.
    """

def roll(input: Operand, shifts: Ints, dims: Ints = ..., *, out: Tensor | None = None) -> Tensor:
    """Returns the elements moved by `shifts` along `dims`; those pushed out come back at the other end.

    Args:
      input: The tensor.
      shifts: How many places, one number for each dim.
      dims: The dims; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.roll`.
    """

def rot90(input: Operand, k: _int = 1, dims: Ints = ..., *, out: Tensor | None = None) -> Tensor:
    """Returns the tensor turned by 90 degrees, `k` times, in the plane of two dims.

    Args:
      input: The tensor.
      k: How many; or which one, counted from 1.
      dims: The dims; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.rot90`.
    """

def round(input: Operand, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """Returns each element rounded to the nearest number of `decimals` places, halves to even.

    Args:
      input: The tensor.
      decimals: To how many places after the point; negative ones stand before it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.round_` writes it to `input`.

    See `torch.round`.
    """

def round_(input: Operand, *, decimals: _int = 0) -> Tensor:
    """Writes to the tensor what `round` returns: each element rounded to the nearest number of `decimals` places, halves to even.

    Args:
      input: The tensor.
      decimals: To how many places after the point; negative ones stand before it.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.round_`.
    """

def row_stack(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """Returns tensors one below the other: along the first dim; vectors become rows.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.vstack`; also called `row_stack`.
    """

def rrelu(
    input: Operand,
    lower: _float = 0.125,
    upper: _float = 0.3333333333333333,
    training: _bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements, negative ones times a slope that is random in training.

    Args:
      input: The tensor.
      lower: The least slope.
      upper: Whether the upper triangle is meant; of `rrelu` the greatest slope.
      training: Whether it behaves as in training.
      generator: Where random numbers come from; by default `ja.default_generator`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.rrelu_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.rrelu`.
    """

def rrelu_(
    input: Operand,
    lower: _float = 0.125,
    upper: _float = 0.3333333333333333,
    training: _bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Writes to the tensor what `rrelu` returns: the elements, negative ones times a slope that is random in training.

    Args:
      input: The tensor.
      lower: The least slope.
      upper: Whether the upper triangle is meant; of `rrelu` the greatest slope.
      training: Whether it behaves as in training.
      generator: Where random numbers come from; by default `ja.default_generator`.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.rrelu_`.
    """

def rsqrt(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns one over the square root of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.rsqrt_` writes it to `input`.

    See `torch.rsqrt`.
    """

def rsqrt_(input: Operand) -> Tensor:
    """Writes to the tensor what `rsqrt` returns: one over the square root of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.rsqrt_`.
    """

def rsub(input: Operand, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
    """Returns `other - alpha * input`, element by element: `sub` the other way round.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      alpha: A number that the second operand is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.rsub`.
    """

def scalar_tensor(
    s: Operand,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a tensor of no dims with the value `s`.

    Args:
      s: The sizes of the transformed dims; longer ones are padded with zeros. Of `scalar_tensor` the value.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.scalar_tensor`.
    """

@overload
def scatter(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    src: Operand = ...,
    *,
    reduce: _str | None = None,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns `input` with the elements of `src` written, along `dim`, to the places that `index` names.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      src: What is written.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      value: A number: what is filled in, or what the product is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own; `Tensor.scatter_` writes it to `input`.

    See `torch.scatter`.
    """
@overload
def scatter(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    value: Operand = ...,
    *,
    reduce: _str | None = None,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor: ...

@overload
def scatter_(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    src: Operand = ...,
    *,
    reduce: _str | None = None,
    axis: _int = ...,
) -> Tensor:
    """Writes to the tensor what `scatter` returns: `input` with the elements of `src` written, along `dim`, to the places that `index` names.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      src: What is written.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      value: A number: what is filled in, or what the product is multiplied with.
      axis: NumPy's name of `dim`.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.scatter_`.
    """
@overload
def scatter_(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    value: Operand = ...,
    *,
    reduce: _str | None = None,
    axis: _int = ...,
) -> Tensor: ...

def scatter_add(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    src: Operand = ...,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns `input` with the elements of `src` added, along `dim`, to the places that `index` names.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      src: What is written.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own; `Tensor.scatter_add_` writes it to `input`.

    See `torch.scatter_add`.
    """

def scatter_add_(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    src: Operand = ...,
    *,
    axis: _int = ...,
) -> Tensor:
    """Writes to the tensor what `scatter_add` returns: `input` with the elements of `src` added, along `dim`, to the places that `index` names.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      src: What is written.
      axis: NumPy's name of `dim`.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.scatter_add_`.
    """

def scatter_reduce(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    src: Operand = ...,
    reduce: _str = ...,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns `input` united, by `reduce`, with the elements of `src` at the places of `index`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      src: What is written.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      include_self: Whether the elements of `input` take part.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own; `Tensor.scatter_reduce_` writes it to `input`.

    See `torch.scatter_reduce`.
    """

def scatter_reduce_(
    input: Operand,
    dim: _int = ...,
    index: Operand = ...,
    src: Operand = ...,
    reduce: _str = ...,
    *,
    include_self: _bool = True,
    axis: _int = ...,
) -> Tensor:
    """Writes to the tensor what `scatter_reduce` returns: `input` united, by `reduce`, with the elements of `src` at the places of `index`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      src: What is written.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      include_self: Whether the elements of `input` take part.
      axis: NumPy's name of `dim`.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.scatter_reduce_`.
    """

def searchsorted(
    sorted_sequence: Operand,
    values: Operand = ...,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: _str | None = None,
    sorter: Operand | None = None,
    out: Tensor | None = None,
    input: Operand = ...,
    self: Operand = ...,
) -> Tensor:
    """Returns where `values` would have to be inserted in `sorted_sequence` to keep it in order.

    Args:
      sorted_sequence: Ascending values along the last dim.
      values: The values.
      out_int32: Whether indices are int32.
      right: Whether equal values go to the right of one another.
      side: `'left'` or `'right'`, the same as `right`.
      sorter: Indices that put `sorted_sequence` in order.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      input: The tensor.
      self: The tensor.

    The result has memory of its own.

    See `torch.searchsorted`.
    """

def select(input: Tensor, dim: _int = ..., index: _int = ..., *, axis: _int = ...) -> Tensor:
    """Returns the view at one index of a dim.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      axis: NumPy's name of `dim`.

    The result is a view: it shares memory with `input`.

    See `torch.select`.
    """

def select_copy(
    input: Tensor,
    dim: _int = ...,
    index: _int = ...,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns a copy of what `select` shows.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    See `torch.select_copy`.
    """

def select_scatter(
    input: Operand,
    src: Operand,
    dim: _int = ...,
    index: _int = ...,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns a copy of `input` in which the view `input.select(dim, index)` holds `src`.

    Args:
      input: The tensor.
      src: What is written.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      index: Indices along the dim, of an integer dtype; or one index.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.select_scatter`.
    """

def selu(input: Operand) -> Tensor:
    """Returns `elu` with the scales that keep mean and variance through layers.

    Args:
      input: The tensor.

    The result has memory of its own; `Tensor.selu_` writes it to `input`.

    See `torch.selu`.
    """

def selu_(input: Operand) -> Tensor:
    """Writes to the tensor what `selu` returns: `elu` with the scales that keep mean and variance through layers.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.selu_`.
    """

def set_printoptions(
    precision: _int | None = None,
    threshold: _float | None = None,
    edgeitems: _int | None = None,
    linewidth: _int | None = None,
    profile: _str | None = None,
    sci_mode: _bool | None = None,
) -> None:
    """Sets how tensors print (`torch.set_printoptions`).

    Args:
      precision: Digits after the point.
      threshold: Tensors of more elements are shown in part.
      edgeitems: How many elements of each end are shown then.
      linewidth: Characters of a line.
      profile: `"default"`, `"short"` or `"full"`, which the other arguments then change.
      sci_mode: Whether numbers are written with an exponent; None decides by their size.

    Raises:
      TensorValueError: If there is no such profile.

    See `torch.set_printoptions`.
    """

def sgn(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the sign of each element; of a complex one the number of magnitude one in its direction.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sgn_` writes it to `input`.

    See `torch.sgn`.
    """

def sgn_(input: Operand) -> Tensor:
    """Writes to the tensor what `sgn` returns: the sign of each element; of a complex one the number of magnitude one in its direction.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.sgn_`.
    """

def sigmoid(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns 1 / (1 + exp(-x)) for each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sigmoid_` writes it to `input`.

    See `torch.sigmoid`.
    """

def sigmoid_(input: Operand) -> Tensor:
    """Writes to the tensor what `sigmoid` returns: 1 / (1 + exp(-x)) for each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.sigmoid_`.
    """

def sign(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns -1, 0 or 1 for each element, by its sign.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sign_` writes it to `input`.

    See `torch.sign`.
    """

def sign_(input: Operand) -> Tensor:
    """Writes to the tensor what `sign` returns: -1, 0 or 1 for each element, by its sign.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.sign_`.
    """

def signbit(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns whether the sign bit of each element is set, as it is of -0.0.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.signbit`.
    """

def sin(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the sine of each element, in radians.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sin_` writes it to `input`.

    See `torch.sin`.
    """

def sin_(input: Operand) -> Tensor:
    """Writes to the tensor what `sin` returns: the sine of each element, in radians.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.sin_`.
    """

def sinc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns sin(πx) / (πx) for each element, 1 at zero.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sinc_` writes it to `input`.

    See `torch.sinc`.
    """

def sinc_(input: Operand) -> Tensor:
    """Writes to the tensor what `sinc` returns: sin(πx) / (πx) for each element, 1 at zero.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.sinc_`.
    """

def sinh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the hyperbolic sine of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sinh_` writes it to `input`.

    See `torch.sinh`.
    """

def sinh_(input: Operand) -> Tensor:
    """Writes to the tensor what `sinh` returns: the hyperbolic sine of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.sinh_`.
    """

def slice_copy(
    input: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns a copy of what `slice` shows.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      start: The first value, or index.
      end: The last value, or index, or the tensor at weight 1.
      step: The distance from each value, or index, to the next.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    See `torch.slice_copy`.
    """

def slice_scatter(
    input: Operand,
    src: Operand,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns a copy of `input` in which a range of `dim` holds `src`.

    Args:
      input: The tensor.
      src: What is written.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      start: The first value, or index.
      end: The last value, or index, or the tensor at weight 1.
      step: The distance from each value, or index, to the next.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.slice_scatter`.
    """

def slogdet(input: Operand = ..., *, out: Sequence[Tensor] | None = None, A: Operand = ...) -> SlogdetResult:
    """Returns the sign and the logarithm of the magnitude of the determinant of a square matrix.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      A: A matrix or a batch of matrices.

    The result has memory of its own.

    See `torch.slogdet`.
    """

def softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """Returns the softmax along `dim`: exponentials, divided by their sum.

    Args:
      input: The tensor.
      dim: The dim along which the results add up to 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.softmax`.
    """

def sort(
    input: Operand,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool = False,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
) -> SortResult:
    """Returns the elements in order along `dim`, and where each of them was.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      descending: Whether the greatest comes first.
      stable: Whether equal elements keep their order; they do in any case.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.sort`.
    """

def split(
    input: Tensor = ...,
    split_size_or_sections: Ints = ...,
    dim: _int = 0,
    *,
    axis: _int = ...,
    tensor: Tensor = ...,
    split_size: Ints = ...,
) -> tuple[Tensor, ...]:
    """Returns views of equal pieces of a dim, the last one smaller, or of pieces of given sizes.

    Args:
      input: The tensor.
      split_size_or_sections: The size of each piece, or the sizes of all.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.
      tensor: The second vector.
      split_size: The same as `split_size_or_sections`.

    The result is a view: it shares memory with `input`.

    See `torch.split`.
    """

def split_copy(
    input: Tensor,
    split_size_or_sections: Ints = ...,
    dim: _int = 0,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
    split_size: Ints = ...,
) -> tuple[Tensor, ...]:
    """Returns a copy of what `split` shows.

    Args:
      input: The tensor.
      split_size_or_sections: The size of each piece, or the sizes of all.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      split_size: The same as `split_size_or_sections`.

    See `torch.split_copy`.
    """

def split_with_sizes(
    input: Tensor,
    split_sizes: Sequence[_int],
    dim: _int = 0,
    *,
    axis: _int = ...,
) -> tuple[Tensor, ...]:
    """Returns views of pieces of a dim of given sizes.

    Args:
      input: The tensor.
      split_sizes: The sizes of the pieces.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.

    The result is a view: it shares memory with `input`.

    See `torch.split_with_sizes`.
    """

def split_with_sizes_copy(
    input: Tensor,
    split_sizes: Sequence[_int],
    dim: _int = 0,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> tuple[Tensor, ...]:
    """Returns a copy of what `split_with_sizes` shows.

    Args:
      input: The tensor.
      split_sizes: The sizes of the pieces.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    See `torch.split_with_sizes_copy`.
    """

def sqrt(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the square root of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sqrt_` writes it to `input`.

    See `torch.sqrt`.
    """

def sqrt_(input: Operand) -> Tensor:
    """Writes to the tensor what `sqrt` returns: the square root of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.sqrt_`.
    """

def square(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns each element times itself.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.square_` writes it to `input`.

    See `torch.square`.
    """

def square_(input: Operand) -> Tensor:
    """Writes to the tensor what `square` returns: each element times itself.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.square_`.
    """

def squeeze(input: Tensor, dim: Ints | None = None, *, axis: Ints | None = ...) -> Tensor:
    """Returns the tensor without its dims of size 1, or without those of `dim` that have size 1.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.

    The result is a view: it shares memory with `input`.

    See `torch.squeeze`.
    """

def squeeze_copy(
    input: Tensor,
    dim: Ints | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """Returns a copy of what `squeeze` shows.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    See `torch.squeeze_copy`.
    """

def stack(tensors: Sequence[TensorLike], dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Returns tensors of one shape one after the other along a new dim.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      dim: Where the new dim stands in the result.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.stack`.
    """

@overload
def std(
    input: Operand,
    dim: Ints | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _float | None = None,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the standard deviation of the elements, over all dims or those of `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      unbiased: Whether the sum of squares is divided by n - 1 rather than n; `correction` says it in general.
      keepdim: Whether reduced dims stay, with size 1.
      correction: The sum of squares is divided by n minus this number; 1 by default.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.std`.
    """
@overload
def std(input: Operand, unbiased: _bool, *, out: Tensor | None = None) -> Tensor: ...

@overload
def std_mean(
    input: Operand,
    dim: Ints | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _float | None = None,
    out: Sequence[Tensor] | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> tuple[Tensor, Tensor]:
    """Returns the standard deviation and the mean of the elements, computed together.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      unbiased: Whether the sum of squares is divided by n - 1 rather than n; `correction` says it in general.
      keepdim: Whether reduced dims stay, with size 1.
      correction: The sum of squares is divided by n minus this number; 1 by default.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.std_mean`.
    """
@overload
def std_mean(input: Operand, unbiased: _bool) -> tuple[Tensor, Tensor]: ...

def stft(
    input: Operand,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Operand | None = None,
    center: _bool = True,
    pad_mode: _str = 'reflect',
    normalized: _bool = False,
    onesided: _bool | None = None,
    return_complex: _bool | None = None,
    align_to_window: _bool | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the Fourier transforms of short windows of a signal, one a column.

    Args:
      input: The tensor.
      n_fft: How many samples a transform has.
      hop_length: How many samples from window to window; by default a quarter of `n_fft`.
      win_length: How many samples the window has; by default `n_fft`.
      window: The window; ones by default.
      center: Whether the data, or each window, is centred; of windows where their middle is.
      pad_mode: How the ends are padded, see `ja.nn.functional.pad`.
      normalized: Whether results are divided by the square root of their number.
      onesided: Whether only the half that is not redundant is returned.
      return_complex: Whether the result is complex, rather than pairs of floats.
      align_to_window: Whether frames are aligned to the window rather than to the transform.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.stft`.
    """

def sub(input: Operand, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
    """Returns `input - alpha * other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      alpha: A number that the second operand is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sub_` writes it to `input`.

    See `torch.sub`; also called `subtract`.
    """

def sub_(input: Operand, other: Operand, *, alpha: Operand = 1) -> Tensor:
    """Writes to the tensor what `sub` returns: `input - alpha * other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      alpha: A number that the second operand is multiplied with.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.sub_`.
    """

def subtract(input: Operand, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
    """Returns `input - alpha * other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      alpha: A number that the second operand is multiplied with.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sub_` writes it to `input`.

    See `torch.sub`; also called `subtract`.
    """

def subtract_(input: Operand, other: Operand, *, alpha: Operand = 1) -> Tensor:
    """Writes to the tensor what `sub` returns: `input - alpha * other`, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      alpha: A number that the second operand is multiplied with.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.sub_`.
    """

def sum(
    input: Operand,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the sum of the elements, over all dims or those of `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      keepdim: Whether reduced dims stay, with size 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.sum`.
    """

def svd(
    input: Operand,
    some: _bool = True,
    compute_uv: _bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> SvdResult:
    """Returns U, S and V with `input = U diag(S) Vᴴ` (`ja.linalg.svd` returns Vᴴ).

    Args:
      input: The tensor.
      some: Whether the reduced form is returned.
      compute_uv: Whether U and V are computed; if not they are zeros.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.svd`.
    """

def svd_lowrank(
    A: Operand,
    q: _int | None = 6,
    niter: _int | None = 2,
    M: Operand | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns an approximate singular value decomposition of low rank, by random projections.

    Args:
      A: A matrix or a batch of matrices.
      q: The rank; of quantiles the fractions, from 0 to 1.
      niter: How many rounds of iteration.
      M: How many samples; of matrices the mean that is subtracted.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.svd_lowrank`.
    """

def swapaxes(input: Tensor, dim0: _int = ..., dim1: _int = ..., *, axis0: _int = ..., axis1: _int = ...) -> Tensor:
    """Returns two dims exchanged.

    Args:
      input: The tensor.
      dim0: The first of two dims.
      dim1: The first of two dims.
      axis0: The same as `dim0`.
      axis1: The same as `dim1`.

    The result is a view: it shares memory with `input`.

    See `torch.swapaxes`.
    """

def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Returns two dims exchanged.

    Args:
      input: The tensor.
      dim0: The first of two dims.
      dim1: The first of two dims.

    The result is a view: it shares memory with `input`.

    See `torch.transpose`.
    """

def t(input: Tensor) -> Tensor:
    """Returns a matrix transposed; a tensor of fewer dims as it is.

    Args:
      input: The tensor.

    The result is a view: it shares memory with `input`.

    See `torch.t`.
    """

def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `t` shows.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.t_copy`.
    """

def take(input: Operand, index: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements at `index`, the tensor seen as one long vector.

    Args:
      input: The tensor.
      index: Indices along the dim, of an integer dtype; or one index.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.take`.
    """

def take_along_dim(
    input: Operand,
    indices: Operand,
    dim: _int | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """Returns the elements that `indices` names along `dim`; other dims broadcast.

    Args:
      input: The tensor.
      indices: Indices, of an integer dtype.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.take_along_dim`.
    """

def tan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the tangent of each element, in radians.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.tan_` writes it to `input`.

    See `torch.tan`.
    """

def tan_(input: Operand) -> Tensor:
    """Writes to the tensor what `tan` returns: the tangent of each element, in radians.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.tan_`.
    """

def tanh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the hyperbolic tangent of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.tanh_` writes it to `input`.

    See `torch.tanh`.
    """

def tanh_(input: Operand) -> Tensor:
    """Writes to the tensor what `tanh` returns: the hyperbolic tangent of each element.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.tanh_`.
    """

def tensor_split(
    input: Tensor,
    indices_or_sections: Ints | Tensor | None = None,
    dim: _int = 0,
    *,
    indices: Ints | Tensor | None = None,
    sections: _int | None = None,
    axis: _int = ...,
    tensor_indices_or_sections: Ints | Tensor | None = ...,
) -> tuple[Tensor, ...]:
    """Returns views of a given number of pieces of a dim, as equal as possible, or of the pieces between indices.

    Args:
      input: The tensor.
      indices_or_sections: How many pieces, or the indices between them.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      indices: Indices, of an integer dtype.
      sections: How many pieces.
      axis: NumPy's name of `dim`.
      tensor_indices_or_sections: The same as `indices_or_sections`.

    The result is a view: it shares memory with `input`.

    See `torch.tensor_split`.
    """

def tensordot(a: Operand, b: Operand, dims: Ints = 2, *, out: Tensor | None = None) -> Tensor:
    """Returns the sums of products over dims of `a` and `b`: their last and first, or those named.

    Args:
      a: The first operand, or weights.
      b: The second operand: right-hand sides, or the second tensor.
      dims: The dims; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.tensordot`.
    """

def threshold(input: Operand, threshold: _float, value: _float, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements, those not above `threshold` replaced by `value`.

    Args:
      input: The tensor.
      threshold: The bound that elements are compared with; of `softplus` where it becomes linear.
      value: What replaces the others.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.threshold_` writes it to `input`.

    See `torch.threshold`.
    """

def threshold_(input: Operand, threshold: _float, value: _float) -> Tensor:
    """Writes to the tensor what `threshold` returns: the elements, those not above `threshold` replaced by `value`.

    Args:
      input: The tensor.
      threshold: The bound that elements are compared with; of `softplus` where it becomes linear.
      value: What replaces the others.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.threshold_`.
    """

def tile(input: Operand, dims: Ints, *, out: Tensor | None = None) -> Tensor:
    """Returns copies of the tensor laid side by side; dims that are not named stay as they are.

    Args:
      input: The tensor.
      dims: The dims; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.tile`.
    """

def topk(
    input: Operand,
    k: _int,
    dim: _int = -1,
    largest: _bool = True,
    sorted: _bool = True,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
) -> TopkResult:
    """Returns the `k` greatest elements along `dim`, and where they lie; the least if not `largest`.

    Args:
      input: The tensor.
      k: How many; or which one, counted from 1.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      largest: Whether the greatest are meant rather than the least.
      sorted: Whether they are returned in order; they are in any case.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.topk`.
    """

def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Returns two dims exchanged.

    Args:
      input: The tensor.
      dim0: The first of two dims.
      dim1: The first of two dims.

    The result is a view: it shares memory with `input`.

    See `torch.transpose`.
    """

def transpose_copy(input: Tensor, dim0: _int, dim1: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `transpose` shows.

    Args:
      input: The tensor.
      dim0: The first of two dims.
      dim1: The first of two dims.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.transpose_copy`.
    """

def trapezoid(
    y: Operand,
    x: Operand | None = None,
    *,
    dx: _float = 1.0,
    dim: _int = -1,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the integral of `y` along `dim` by the trapezoidal rule.

    Args:
      y: The values, or the second operand.
      x: The elements, or the points along the dim.
      dx: The distance of neighbouring points, where `x` is not given.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.trapezoid`; also called `trapz`.
    """

def trapz(
    y: Operand,
    x: Operand | None = None,
    *,
    dx: _float = 1.0,
    dim: _int = -1,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the integral of `y` along `dim` by the trapezoidal rule.

    Args:
      y: The values, or the second operand.
      x: The elements, or the points along the dim.
      dx: The distance of neighbouring points, where `x` is not given.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.trapezoid`; also called `trapz`.
    """

def triangular_solve(
    input: Operand,
    A: Operand,
    upper: _bool = True,
    transpose: _bool = False,
    unitriangular: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> TriangularSolveResult:
    """Returns the solution of a system whose matrix is a triangle, and a copy of that.

    Args:
      input: The tensor.
      A: A matrix or a batch of matrices.
      upper: Whether the upper triangle is meant; of `rrelu` the greatest slope.
      transpose: Whether the transpose of the matrix is meant.
      unitriangular: Whether the diagonal is taken for ones.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.triangular_solve`.
    """

def tril(input: Operand, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Returns the lower triangle of each matrix, zeros above the diagonal.

    Args:
      input: The tensor.
      diagonal: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.tril_` writes it to `input`.

    See `torch.tril`.
    """

def tril_(input: Operand, diagonal: _int = 0) -> Tensor:
    """Writes to the tensor what `tril` returns: the lower triangle of each matrix, zeros above the diagonal.

    Args:
      input: The tensor.
      diagonal: Which diagonal: 0 the main one, positive ones above it, negative ones below.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.tril_`.
    """

def tril_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the indices of the lower triangle of a matrix: a row of rows and a row of columns.

    Args:
      row: How many rows.
      col: How many columns.
      offset: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.tril_indices`.
    """

def triu(input: Operand, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Returns the upper triangle of each matrix, zeros below the diagonal.

    Args:
      input: The tensor.
      diagonal: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.triu_` writes it to `input`.

    See `torch.triu`.
    """

def triu_(input: Operand, diagonal: _int = 0) -> Tensor:
    """Writes to the tensor what `triu` returns: the upper triangle of each matrix, zeros below the diagonal.

    Args:
      input: The tensor.
      diagonal: Which diagonal: 0 the main one, positive ones above it, negative ones below.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.triu_`.
    """

def triu_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the indices of the upper triangle of a matrix: a row of rows and a row of columns.

    Args:
      row: How many rows.
      col: How many columns.
      offset: Which diagonal: 0 the main one, positive ones above it, negative ones below.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.triu_indices`.
    """

def true_divide(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns `input / other` as floats, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.true_divide_` writes it to `input`.

    See `torch.true_divide`.
    """

def true_divide_(input: Operand, other: Operand) -> Tensor:
    """Writes to the tensor what `true_divide` returns: `input / other` as floats, element by element.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.true_divide_`.
    """

def trunc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns each element without its part after the decimal point.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.trunc_` writes it to `input`.

    See `torch.trunc`; also called `fix`.
    """

def trunc_(input: Operand) -> Tensor:
    """Writes to the tensor what `trunc` returns: each element without its part after the decimal point.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.trunc_`.
    """

def typename(obj: object) -> _str:
    """Returns the name of the type of `obj`, with that of its module.

    Args:
      obj: Any object.

    See `torch.typename`.
    """

def unbind(input: Tensor, dim: _int = 0, *, axis: _int = ...) -> tuple[Tensor, ...]:
    """Returns the views at each index of a dim.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.

    The result is a view: it shares memory with `input`.

    See `torch.unbind`.
    """

def unbind_copy(input: Tensor, dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> tuple[Tensor, ...]:
    """Returns a copy of what `unbind` shows.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    See `torch.unbind_copy`.
    """

def unflatten(input: Tensor, dim: _int = ..., sizes: Sequence[_int] = ..., *, axis: _int = ...) -> Tensor:
    """Returns one dim as several.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      sizes: The shape of the result, as integers or a tuple.
      axis: NumPy's name of `dim`.

    The result is a view: it shares memory with `input`.

    See `torch.unflatten`.
    """

def unfold_copy(input: Tensor, dimension: _int, size: _int, step: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `unfold` shows.

    Args:
      input: The tensor.
      dimension: The dim.
      size: The shape of the result, as integers or a tuple; or how many.
      step: The distance from each value, or index, to the next.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.unfold_copy`.
    """

def unique(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
    *,
    axis: _int | None = ...,
) -> Any:
    """Returns the distinct elements, or slices along `dim`, in ascending order; with where and how often if asked.

    Args:
      input: The tensor.
      sorted: Whether they are returned in order; they are in any case.
      return_inverse: Whether to return where each element went.
      return_counts: Whether to return how often each occurs.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.

    In a trace its shape depends on values: use `segments=True`.

    See `torch.unique`.
    """

def unique_consecutive(
    input: Tensor,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
    *,
    axis: _int | None = ...,
) -> Any:
    """Returns the elements, or slices along `dim`, that differ from those before; with where and how often if asked.

    Args:
      input: The tensor.
      return_inverse: Whether to return where each element went.
      return_counts: Whether to return how often each occurs.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.

    In a trace its shape depends on values: use `segments=True`.

    See `torch.unique_consecutive`.
    """

def unravel_index(indices: Operand, shape: Ints, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Returns the coordinates, in a tensor of a shape, of positions in it seen as one long vector.

    Args:
      indices: Indices, of an integer dtype.
      shape: The shape.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.unravel_index`.
    """

def unsafe_chunk(
    input: Tensor,
    chunks: _int,
    dim: _int = 0,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> tuple[Tensor, ...]:
    """Returns a copy of what `unsafe_chunk` shows.

    Args:
      input: The tensor.
      chunks: How many pieces.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result is a view: it shares memory with `input`.

    See `torch.unsafe_chunk`.
    """

def unsafe_split(
    input: Tensor,
    split_size_or_sections: Ints = ...,
    dim: _int = 0,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
    split_size: Ints = ...,
) -> tuple[Tensor, ...]:
    """Returns a copy of what `unsafe_split` shows.

    Args:
      input: The tensor.
      split_size_or_sections: The size of each piece, or the sizes of all.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      split_size: The same as `split_size_or_sections`.

    The result is a view: it shares memory with `input`.

    See `torch.unsafe_split`.
    """

def unsafe_split_with_sizes(
    input: Tensor,
    split_sizes: Sequence[_int],
    dim: _int = 0,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> tuple[Tensor, ...]:
    """Returns a copy of what `unsafe_split_with_sizes` shows.

    Args:
      input: The tensor.
      split_sizes: The sizes of the pieces.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result is a view: it shares memory with `input`.

    See `torch.unsafe_split_with_sizes`.
    """

def unsqueeze(input: Tensor, dim: _int = ..., *, axis: _int = ...) -> Tensor:
    """Returns a new dim of size 1 at `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.

    The result is a view: it shares memory with `input`.

    See `torch.unsqueeze`.
    """

def unsqueeze_copy(input: Tensor, dim: _int = ..., *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """Returns a copy of what `unsqueeze` shows.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    See `torch.unsqueeze_copy`.
    """

def vander(x: Operand, N: _int | None = None, increasing: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Returns the Vandermonde matrix of `x`: its columns are powers of `x`, falling by default.

    Args:
      x: The elements, or the points along the dim.
      N: How many columns, or samples in the batch.
      increasing: Whether powers rise from the first column on.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.vander`.
    """

@overload
def var(
    input: Operand,
    dim: Ints | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _float | None = None,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """Returns the variance of the elements, over all dims or those of `dim`.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      unbiased: Whether the sum of squares is divided by n - 1 rather than n; `correction` says it in general.
      keepdim: Whether reduced dims stay, with size 1.
      correction: The sum of squares is divided by n minus this number; 1 by default.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.var`.
    """
@overload
def var(input: Operand, unbiased: _bool, *, out: Tensor | None = None) -> Tensor: ...

@overload
def var_mean(
    input: Operand,
    dim: Ints | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _float | None = None,
    out: Sequence[Tensor] | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> tuple[Tensor, Tensor]:
    """Returns the variance and the mean of the elements, computed together.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      unbiased: Whether the sum of squares is divided by n - 1 rather than n; `correction` says it in general.
      keepdim: Whether reduced dims stay, with size 1.
      correction: The sum of squares is divided by n minus this number; 1 by default.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.var_mean`.
    """
@overload
def var_mean(input: Operand, unbiased: _bool) -> tuple[Tensor, Tensor]: ...

def vdot(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the dot product of two vectors, the first one conjugated.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.vdot`.
    """

def view_as_complex(input: Tensor) -> Tensor:
    """Returns pairs of floats, along the last dim, as complex numbers on the same memory.

    Args:
      input: The tensor.

    The result is a view: it shares memory with `input`.

    See `torch.view_as_complex`.
    """

def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `view_as_complex` shows.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.view_as_complex_copy`.
    """

def view_as_real(input: Tensor) -> Tensor:
    """Returns complex numbers as pairs of floats, in a new last dim on the same memory.

    Args:
      input: The tensor.

    The result is a view: it shares memory with `input`.

    See `torch.view_as_real`.
    """

def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `view_as_real` shows.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.view_as_real_copy`.
    """

def view_copy(
    input: Tensor,
    *sizes: Ints,
    size: Ints | None = None,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a copy of what `view` shows.

    Args:
      input: The tensor.
      sizes: The shape of the result, as integers or a tuple.
      size: The shape of the result, as integers or a tuple; or how many.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    See `torch.view_copy`.
    """

def vsplit(
    input: Tensor,
    indices_or_sections: Ints | Tensor | None = None,
    *,
    indices: Ints | Tensor | None = None,
    sections: _int | None = None,
) -> tuple[Tensor, ...]:
    """Returns views of equal pieces of a dim, or of the pieces between indices.

    Args:
      input: The tensor.
      indices_or_sections: How many pieces, or the indices between them.
      indices: Indices, of an integer dtype.
      sections: How many pieces.

    The result is a view: it shares memory with `input`.

    See `torch.vsplit`.
    """

def vstack(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """Returns tensors one below the other: along the first dim; vectors become rows.

    Args:
      tensors: The tensors, as a list, or one by one where that is possible.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.vstack`; also called `row_stack`.
    """

def where(
    condition: Operand,
    input: Operand = ...,
    other: Operand = ...,
    *,
    out: Tensor | None = None,
    self: Operand = ...,
) -> Tensor:
    """Returns the elements of `input` where `condition` holds, and those of `other` elsewhere.

    Args:
      condition: A tensor of bools.
      input: What is taken where the condition holds; a tensor or a number.
      other: What is taken elsewhere; a tensor or a number.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own.

    See `torch.where`.
    """

def xlogy(input: Operand = ..., other: Operand = ..., *, out: Tensor | None = None, self: Operand = ...) -> Tensor:
    """Returns `input * log(other)`, 0 where `input` is zero.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      self: The tensor.

    The result has memory of its own; `Tensor.xlogy_` writes it to `input`.

    See `torch.xlogy`.
    """

def xlogy_(input: Operand = ..., other: Operand = ..., *, self: Operand = ...) -> Tensor:
    """Writes to the tensor what `xlogy` returns: `input * log(other)`, 0 where `input` is zero.

    Args:
      input: The tensor.
      other: The second operand, a tensor or a number; shapes broadcast.
      self: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.xlogy_`.
    """

def zero_(input: Operand) -> Tensor:
    """Fills the tensor with zeros.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.zero_`.
    """

def zeros(
    *sizes: Ints,
    size: Ints | None = None,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a tensor of zeros.

    Args:
      size: The shape of the result, as integers or a tuple; or how many.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      sizes: The shape of the result, as integers or a tuple.

    The result has memory of its own.

    See `torch.zeros`.
    """

def zeros_like(
    input: Operand,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    requires_grad: _bool = False,
    layout: Any = None,
    pin_memory: _bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Returns zeros of the shape, dtype and device of `input`.

    Args:
      input: The tensor.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      device: Where the tensor is made: a jax device or a name such as `'cpu'`.
      requires_grad: Whether gradients of the new tensor are wanted.
      layout: PyTorch's memory layout; accepted, and dense in any case.
      pin_memory: Accepted and ignored: JAX moves memory itself.
      memory_format: The order of the dims in memory, such as `ja.channels_last`; by default as the operand's.

    The result has memory of its own.

    See `torch.zeros_like`.
    """

def _foreach_abs(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `abs` on each tensor."""

def _foreach_abs_(self: Sequence[Tensor]) -> None:
    """Carries out `abs_` on each tensor."""

def _foreach_acos(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `acos` on each tensor."""

def _foreach_acos_(self: Sequence[Tensor]) -> None:
    """Carries out `acos_` on each tensor."""

def _foreach_add(
    self: Sequence[Tensor],
    other: Operand | Sequence[Operand],
    *,
    alpha: Operand = 1,
) -> tuple[Tensor, ...]:
    """Carries out `add` on each tensor."""

def _foreach_add_(self: Sequence[Tensor], other: Operand | Sequence[Operand], *, alpha: Operand = 1) -> None:
    """Carries out `add_` on each tensor."""

def _foreach_addcdiv(
    self: Sequence[Tensor],
    tensor1: Operand | Sequence[Operand],
    tensor2: Operand | Sequence[Operand],
    value: Operand | Sequence[Operand] = 1,
    *,
    scalars: Sequence[Operand] | Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Carries out `addcdiv` on each tensor."""

def _foreach_addcdiv_(
    self: Sequence[Tensor],
    tensor1: Operand | Sequence[Operand],
    tensor2: Operand | Sequence[Operand],
    value: Operand | Sequence[Operand] = 1,
    *,
    scalars: Sequence[Operand] | Tensor | None = None,
) -> None:
    """Carries out `addcdiv_` on each tensor."""

def _foreach_addcmul(
    self: Sequence[Tensor],
    tensor1: Operand | Sequence[Operand],
    tensor2: Operand | Sequence[Operand],
    value: Operand | Sequence[Operand] = 1,
    *,
    scalars: Sequence[Operand] | Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Carries out `addcmul` on each tensor."""

def _foreach_addcmul_(
    self: Sequence[Tensor],
    tensor1: Operand | Sequence[Operand],
    tensor2: Operand | Sequence[Operand],
    value: Operand | Sequence[Operand] = 1,
    *,
    scalars: Sequence[Operand] | Tensor | None = None,
) -> None:
    """Carries out `addcmul_` on each tensor."""

def _foreach_asin(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `asin` on each tensor."""

def _foreach_asin_(self: Sequence[Tensor]) -> None:
    """Carries out `asin_` on each tensor."""

def _foreach_atan(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `atan` on each tensor."""

def _foreach_atan_(self: Sequence[Tensor]) -> None:
    """Carries out `atan_` on each tensor."""

def _foreach_ceil(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `ceil` on each tensor."""

def _foreach_ceil_(self: Sequence[Tensor]) -> None:
    """Carries out `ceil_` on each tensor."""

def _foreach_clamp_max(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> tuple[Tensor, ...]:
    """Carries out `clamp_max` on each tensor."""

def _foreach_clamp_max_(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> None:
    """Carries out `clamp_max_` on each tensor."""

def _foreach_clamp_min(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> tuple[Tensor, ...]:
    """Carries out `clamp_min` on each tensor."""

def _foreach_clamp_min_(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> None:
    """Carries out `clamp_min_` on each tensor."""

def _foreach_clone(self: Sequence[Tensor], *, memory_format: MemoryFormat | None = None) -> tuple[Tensor, ...]:
    """Returns a copy of each tensor."""

def _foreach_copy_(self: Sequence[Tensor], src: Sequence[Tensor], non_blocking: _bool = False) -> None:
    """Copies each source into each tensor."""

def _foreach_cos(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `cos` on each tensor."""

def _foreach_cos_(self: Sequence[Tensor]) -> None:
    """Carries out `cos_` on each tensor."""

def _foreach_cosh(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `cosh` on each tensor."""

def _foreach_cosh_(self: Sequence[Tensor]) -> None:
    """Carries out `cosh_` on each tensor."""

def _foreach_div(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> tuple[Tensor, ...]:
    """Carries out `div` on each tensor."""

def _foreach_div_(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> None:
    """Carries out `div_` on each tensor."""

def _foreach_erf(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `erf` on each tensor."""

def _foreach_erf_(self: Sequence[Tensor]) -> None:
    """Carries out `erf_` on each tensor."""

def _foreach_erfc(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `erfc` on each tensor."""

def _foreach_erfc_(self: Sequence[Tensor]) -> None:
    """Carries out `erfc_` on each tensor."""

def _foreach_exp(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `exp` on each tensor."""

def _foreach_exp_(self: Sequence[Tensor]) -> None:
    """Carries out `exp_` on each tensor."""

def _foreach_expm1(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `expm1` on each tensor."""

def _foreach_expm1_(self: Sequence[Tensor]) -> None:
    """Carries out `expm1_` on each tensor."""

def _foreach_floor(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `floor` on each tensor."""

def _foreach_floor_(self: Sequence[Tensor]) -> None:
    """Carries out `floor_` on each tensor."""

def _foreach_frac(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `frac` on each tensor."""

def _foreach_frac_(self: Sequence[Tensor]) -> None:
    """Carries out `frac_` on each tensor."""

def _foreach_lerp(
    self: Sequence[Tensor],
    tensors1: Sequence[Tensor],
    weight: Operand | Sequence[Operand] | None = None,
    *,
    weights: Operand | Sequence[Operand] | None = None,
) -> tuple[Tensor, ...]:
    """Carries out `lerp` on each tensor."""

def _foreach_lerp_(
    self: Sequence[Tensor],
    tensors1: Sequence[Tensor],
    weight: Operand | Sequence[Operand] | None = None,
    *,
    weights: Operand | Sequence[Operand] | None = None,
) -> None:
    """Carries out `lerp_` on each tensor."""

def _foreach_lgamma(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `lgamma` on each tensor."""

def _foreach_lgamma_(self: Sequence[Tensor]) -> None:
    """Carries out `lgamma_` on each tensor."""

def _foreach_log(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `log` on each tensor."""

def _foreach_log10(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `log10` on each tensor."""

def _foreach_log10_(self: Sequence[Tensor]) -> None:
    """Carries out `log10_` on each tensor."""

def _foreach_log1p(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `log1p` on each tensor."""

def _foreach_log1p_(self: Sequence[Tensor]) -> None:
    """Carries out `log1p_` on each tensor."""

def _foreach_log2(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `log2` on each tensor."""

def _foreach_log2_(self: Sequence[Tensor]) -> None:
    """Carries out `log2_` on each tensor."""

def _foreach_log_(self: Sequence[Tensor]) -> None:
    """Carries out `log_` on each tensor."""

def _foreach_max(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Returns the greatest element of each tensor."""

def _foreach_maximum(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> tuple[Tensor, ...]:
    """Carries out `maximum` on each tensor."""

def _foreach_maximum_(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> None:
    """Carries out `maximum_` on each tensor."""

def _foreach_minimum(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> tuple[Tensor, ...]:
    """Carries out `minimum` on each tensor."""

def _foreach_minimum_(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> None:
    """Carries out `minimum_` on each tensor."""

def _foreach_mm(self: Sequence[Tensor], mat2: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Returns the matrix product of each pair."""

def _foreach_mul(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> tuple[Tensor, ...]:
    """Carries out `mul` on each tensor."""

def _foreach_mul_(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> None:
    """Carries out `mul_` on each tensor."""

def _foreach_neg(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `neg` on each tensor."""

def _foreach_neg_(self: Sequence[Tensor]) -> None:
    """Carries out `neg_` on each tensor."""

def _foreach_norm(self: Sequence[Tensor], ord: _float = 2, dtype: DTypeLike | None = None) -> tuple[Tensor, ...]:
    """Returns the vector norm of each tensor."""

def _foreach_pow(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> tuple[Tensor, ...]:
    """Carries out `pow` on each tensor."""

def _foreach_pow_(self: Sequence[Tensor], other: Operand | Sequence[Operand]) -> None:
    """Carries out `pow_` on each tensor."""

def _foreach_powsum(self: Sequence[Tensor], ord: _float = 2, dtype: DTypeLike | None = None) -> tuple[Tensor, ...]:
    """Returns the sum of the powers of the magnitudes of each tensor: its norm without the root."""

def _foreach_reciprocal(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `reciprocal` on each tensor."""

def _foreach_reciprocal_(self: Sequence[Tensor]) -> None:
    """Carries out `reciprocal_` on each tensor."""

def _foreach_round(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `round` on each tensor."""

def _foreach_round_(self: Sequence[Tensor]) -> None:
    """Carries out `round_` on each tensor."""

def _foreach_rsqrt(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `rsqrt` on each tensor."""

def _foreach_rsqrt_(self: Sequence[Tensor]) -> None:
    """Carries out `rsqrt_` on each tensor."""

def _foreach_sigmoid(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `sigmoid` on each tensor."""

def _foreach_sigmoid_(self: Sequence[Tensor]) -> None:
    """Carries out `sigmoid_` on each tensor."""

def _foreach_sign(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `sign` on each tensor."""

def _foreach_sign_(self: Sequence[Tensor]) -> None:
    """Carries out `sign_` on each tensor."""

def _foreach_sin(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `sin` on each tensor."""

def _foreach_sin_(self: Sequence[Tensor]) -> None:
    """Carries out `sin_` on each tensor."""

def _foreach_sinh(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `sinh` on each tensor."""

def _foreach_sinh_(self: Sequence[Tensor]) -> None:
    """Carries out `sinh_` on each tensor."""

def _foreach_sqrt(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `sqrt` on each tensor."""

def _foreach_sqrt_(self: Sequence[Tensor]) -> None:
    """Carries out `sqrt_` on each tensor."""

def _foreach_sub(
    self: Sequence[Tensor],
    other: Operand | Sequence[Operand],
    *,
    alpha: Operand = 1,
) -> tuple[Tensor, ...]:
    """Carries out `sub` on each tensor."""

def _foreach_sub_(self: Sequence[Tensor], other: Operand | Sequence[Operand], *, alpha: Operand = 1) -> None:
    """Carries out `sub_` on each tensor."""

def _foreach_tan(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `tan` on each tensor."""

def _foreach_tan_(self: Sequence[Tensor]) -> None:
    """Carries out `tan_` on each tensor."""

def _foreach_tanh(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `tanh` on each tensor."""

def _foreach_tanh_(self: Sequence[Tensor]) -> None:
    """Carries out `tanh_` on each tensor."""

def _foreach_trunc(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Carries out `trunc` on each tensor."""

def _foreach_trunc_(self: Sequence[Tensor]) -> None:
    """Carries out `trunc_` on each tensor."""

def _foreach_zero_(self: Sequence[Tensor]) -> None:
    """Fills each tensor with zeros."""
