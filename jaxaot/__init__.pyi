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
its rows and bound at the end."""

# Written by tools/stubs.py from the op table. Edit that, or the rows, and run it again.

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, overload

import jax
import numpy as _np

from jaxaot.facade.arguments import (
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
from jaxaot.facade.bound import AminmaxResult
from jaxaot.facade.bound import CummaxResult
from jaxaot.facade.bound import CumminResult
from jaxaot.facade.bound import FrexpResult
from jaxaot.facade.bound import GeqrfResult
from jaxaot.facade.bound import HistogramResult
from jaxaot.facade.bound import KthvalueResult
from jaxaot.facade.bound import LuUnpackResult
from jaxaot.facade.bound import MaxDimResult
from jaxaot.facade.bound import MedianDimResult
from jaxaot.facade.bound import MinDimResult
from jaxaot.facade.bound import ModeResult
from jaxaot.facade.bound import NanmedianDimResult
from jaxaot.facade.bound import QrResult
from jaxaot.facade.bound import SlogdetResult
from jaxaot.facade.bound import SortResult
from jaxaot.facade.bound import SvdResult
from jaxaot.facade.bound import TopkResult
from jaxaot.facade.bound import TriangularSolveResult
from jaxaot.views.memory_format import MemoryFormat
from jaxaot import amp as amp
from jaxaot import aot as aot
from jaxaot import autograd as autograd
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
from jaxaot.api import Compiled as Compiled
from jaxaot.api import JointGraph as JointGraph
from jaxaot.api import Partition as Partition
from jaxaot.api import Traced as Traced
from jaxaot.api import compile as compile
from jaxaot.api import explain as explain
from jaxaot.api import functionalize as functionalize
from jaxaot.api import pareto as pareto
from jaxaot.api import trace as trace
from jaxaot.autograd._compiled_tape import compiled_autograd as compiled_autograd
from jaxaot.errors import JaxaotError as JaxaotError
from jaxaot.facade.create import as_tensor as as_tensor
from jaxaot.facade.create import from_dlpack as from_dlpack
from jaxaot.facade.create import from_jax as from_jax
from jaxaot.facade.create import from_numpy as from_numpy
from jaxaot.facade.create import tensor as tensor
from jaxaot.facade.generator import Generator as Generator
from jaxaot.facade.generator import default_generator as default_generator
from jaxaot.facade.generator import fork_rng as fork_rng
from jaxaot.facade.generator import get_rng_state as get_rng_state
from jaxaot.facade.generator import initial_seed as initial_seed
from jaxaot.facade.generator import manual_seed as manual_seed
from jaxaot.facade.generator import set_rng_state as set_rng_state
from jaxaot.facade.notes import checkpoint_name as checkpoint_name
from jaxaot.facade.notes import must_recompute as must_recompute
from jaxaot.facade.notes import must_save as must_save
from jaxaot.facade.storage import Storage as Storage
from jaxaot.facade.tensor import Size as Size
from jaxaot.facade.tensor import Tensor as Tensor
from jaxaot.facade.trees import to_arrays as to_arrays
from jaxaot.facade.trees import to_tensors as to_tensors
from jaxaot.jitted import jit as jit
from jaxaot.rematerialize.grad import grad as grad
from jaxaot.rematerialize.grad import value_and_grad as value_and_grad
from jaxaot.rematerialize.remat import remat as remat
from jaxaot.settings import Config as Config
from jaxaot.tape.autocast import autocast as autocast
from jaxaot.tape.autocast import clear_autocast_cache as clear_autocast_cache
from jaxaot.tape.autocast import get_autocast_dtype as get_autocast_dtype
from jaxaot.tape.autocast import is_autocast_cache_enabled as is_autocast_cache_enabled
from jaxaot.tape.autocast import is_autocast_enabled as is_autocast_enabled
from jaxaot.tape.modes import enable_grad as enable_grad
from jaxaot.tape.modes import inference_mode as inference_mode
from jaxaot.tape.modes import is_grad_enabled as is_grad_enabled
from jaxaot.tape.modes import no_grad as no_grad
from jaxaot.tape.modes import set_grad_enabled as set_grad_enabled
from jaxaot.tracer.checkpoint import checkpoint as checkpoint
from jaxaot.tracer.checkpoint import memory_budget as memory_budget
from jaxaot.tracer.control_flow import cond as cond
from jaxaot.tracer.control_flow import map as map
from jaxaot.tracer.control_flow import scan as scan
from jaxaot.tracer.control_flow import while_loop as while_loop
from jaxaot.views.memory_format import MemoryFormat as memory_format
from jaxaot.settings import scoped as _scoped
from jaxaot.settings import get as _get
from jaxaot.settings import set_globally as _set_globally

__version__: _str

config = _scoped
get_config = _get
set_config = _set_globally
bool = _np.bool
uint8 = _np.uint8
int8 = _np.int8
int16 = _np.int16
int32 = _np.int32
int64 = _np.int64
float16 = _np.float16
bfloat16: Any
float32 = _np.float32
float64 = _np.float64
half = _np.float16
float = _np.float32
double = _np.float64
short = _np.int16
int = _np.int32
long = _np.int64
complex64 = _np.complex64
complex128 = _np.complex128
float8_e4m3fn: Any
float8_e5m2: Any
inf: _float
nan: _float
pi: _float
e: _float
newaxis: None
contiguous_format: MemoryFormat
preserve_format: MemoryFormat
channels_last: MemoryFormat
channels_last_3d: MemoryFormat

def abs(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """abs(Tensor self) -> Tensor"""

def abs_(input: Operand) -> Tensor:
    """In-place form of `abs(Tensor self) -> Tensor`."""

def absolute(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """abs(Tensor self) -> Tensor"""

def absolute_(input: Operand) -> Tensor:
    """In-place form of `abs(Tensor self) -> Tensor`."""

def acos(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """acos(Tensor self) -> Tensor"""

def acos_(input: Operand) -> Tensor:
    """In-place form of `acos(Tensor self) -> Tensor`."""

def acosh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """acosh(Tensor self) -> Tensor"""

def acosh_(input: Operand) -> Tensor:
    """In-place form of `acosh(Tensor self) -> Tensor`."""

def add(input: Operand, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
    """add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

def add_(input: Operand, other: Operand, *, alpha: Operand = 1) -> Tensor:
    """In-place form of `add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`."""

def addbmm(
    input: Operand,
    batch1: Operand,
    batch2: Operand,
    *,
    beta: Operand = 1,
    alpha: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

def addbmm_(input: Operand, batch1: Operand, batch2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    """In-place form of `addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor`."""

def addcdiv(
    input: Operand,
    tensor1: Operand,
    tensor2: Operand,
    *,
    value: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor"""

def addcdiv_(input: Operand, tensor1: Operand, tensor2: Operand, *, value: Operand = 1) -> Tensor:
    """In-place form of `addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor`."""

def addcmul(
    input: Operand,
    tensor1: Operand,
    tensor2: Operand,
    *,
    value: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor"""

def addcmul_(input: Operand, tensor1: Operand, tensor2: Operand, *, value: Operand = 1) -> Tensor:
    """In-place form of `addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor`."""

def addmm(
    input: Operand,
    mat1: Operand,
    mat2: Operand,
    *,
    beta: Operand = 1,
    alpha: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

def addmm_(input: Operand, mat1: Operand, mat2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    """In-place form of `addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor`."""

def addmv(
    input: Operand,
    mat: Operand,
    vec: Operand,
    *,
    beta: Operand = 1,
    alpha: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

def addmv_(input: Operand, mat: Operand, vec: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    """In-place form of `addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor`."""

def addr(
    input: Operand,
    vec1: Operand,
    vec2: Operand,
    *,
    beta: Operand = 1,
    alpha: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

def addr_(input: Operand, vec1: Operand, vec2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    """In-place form of `addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor`."""

def adjoint(input: Tensor) -> Tensor:
    """Returns the last two dims exchanged, complex numbers conjugated, a view: `x.mH`."""

def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `alias` shows."""

def all(
    input: Operand,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """all(Tensor self, Any dim=None, bool keepdim=False) -> Tensor"""

def allclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
) -> _bool:
    """Returns whether all elements are close."""

def alpha_dropout(input: Operand, p: _float = 0.5, training: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor"""

def alpha_dropout_(input: Operand, p: _float = 0.5, training: _bool = False) -> Tensor:
    """In-place form of `alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor`."""

def amax(
    input: Operand,
    dim: Ints = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: Ints = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """amax(Tensor self, Any dim=(), bool keepdim=False) -> Tensor"""

def amin(
    input: Operand,
    dim: Ints = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: Ints = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """amin(Tensor self, Any dim=(), bool keepdim=False) -> Tensor"""

def aminmax(
    input: Operand,
    *,
    dim: _int | None = None,
    keepdim: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> AminmaxResult:
    """aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)"""

def angle(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """angle(Tensor self) -> Tensor"""

def any(
    input: Operand,
    dim: Ints | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """any(Tensor self, Any dim=None, bool keepdim=False) -> Tensor"""

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
    """arange(Any start=0, Any end=None, Any step=1, *, Dtype? dtype=None) -> Tensor"""

def arccos(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """acos(Tensor self) -> Tensor"""

def arccos_(input: Operand) -> Tensor:
    """In-place form of `acos(Tensor self) -> Tensor`."""

def arccosh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """acosh(Tensor self) -> Tensor"""

def arccosh_(input: Operand) -> Tensor:
    """In-place form of `acosh(Tensor self) -> Tensor`."""

def arcsin(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """asin(Tensor self) -> Tensor"""

def arcsin_(input: Operand) -> Tensor:
    """In-place form of `asin(Tensor self) -> Tensor`."""

def arcsinh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """asinh(Tensor self) -> Tensor"""

def arcsinh_(input: Operand) -> Tensor:
    """In-place form of `asinh(Tensor self) -> Tensor`."""

def arctan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """atan(Tensor self) -> Tensor"""

def arctan2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """atan2(Tensor self, Tensor other) -> Tensor"""

def arctan2_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `atan2(Tensor self, Tensor other) -> Tensor`."""

def arctan_(input: Operand) -> Tensor:
    """In-place form of `atan(Tensor self) -> Tensor`."""

def arctanh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """atanh(Tensor self) -> Tensor"""

def arctanh_(input: Operand) -> Tensor:
    """In-place form of `atanh(Tensor self) -> Tensor`."""

def argmax(
    input: Operand,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"""

def argmin(
    input: Operand,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
    keepdims: _bool = ...,
) -> Tensor:
    """argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"""

def argsort(
    input: Operand,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool = False,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """argsort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False) -> Tensor"""

def argwhere(input: Tensor) -> Tensor:
    """Returns where elements are not zero: (n, dims)."""

def as_strided(
    input: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor:
    """Returns any strided view of the storage."""

def as_strided_(self: Tensor, size: Ints, stride: Ints, storage_offset: _int | None = None) -> Tensor:
    """Shows another strided view of the storage, in place."""

def as_strided_copy(
    input: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a copy of what `as_strided` shows."""

def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor:
    """Returns a copy of `input` in which the view `input.as_strided(size, stride, storage_offset)` holds `src`."""

def asarray(
    obj: Any,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    copy: _bool | None = None,
) -> Tensor:
    """Returns `obj` as a tensor: a tensor itself, a jax array without a copy, anything else copied.

    Raises:
      ArgumentError: If `copy=False` and the data has to be copied.
    """

def asin(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """asin(Tensor self) -> Tensor"""

def asin_(input: Operand) -> Tensor:
    """In-place form of `asin(Tensor self) -> Tensor`."""

def asinh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """asinh(Tensor self) -> Tensor"""

def asinh_(input: Operand) -> Tensor:
    """In-place form of `asinh(Tensor self) -> Tensor`."""

def atan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """atan(Tensor self) -> Tensor"""

def atan2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """atan2(Tensor self, Tensor other) -> Tensor"""

def atan2_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `atan2(Tensor self, Tensor other) -> Tensor`."""

def atan_(input: Operand) -> Tensor:
    """In-place form of `atan(Tensor self) -> Tensor`."""

def atanh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """atanh(Tensor self) -> Tensor"""

def atanh_(input: Operand) -> Tensor:
    """In-place form of `atanh(Tensor self) -> Tensor`."""

def atleast_1d(*tensors: TensorLike | Sequence[TensorLike]) -> Any:
    """Returns tensors with at least one dim; views of those with fewer."""

def atleast_2d(*tensors: TensorLike | Sequence[TensorLike]) -> Any:
    """Returns tensors with at least two dims, new ones in front; views of those with fewer."""

def atleast_3d(*tensors: TensorLike | Sequence[TensorLike]) -> Any:
    """Returns tensors with at least three dims, views of those with fewer: (n,) becomes (1, n, 1), (m, n) (m, n, 1)."""

def baddbmm(
    input: Operand,
    batch1: Operand,
    batch2: Operand,
    *,
    beta: Operand = 1,
    alpha: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

def baddbmm_(input: Operand, batch1: Operand, batch2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
    """In-place form of `baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor`."""

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
    """bartlett_window(int window_length, bool periodic=True, *, Dtype? dtype=None) -> Tensor"""

def bernoulli(
    input: Operand,
    p: _float | _str | Tensor | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """bernoulli(Tensor self, Any p=None, *, Generator? generator=None) -> Tensor"""

def bilinear(
    input1: Operand,
    input2: Operand,
    weight: Operand,
    bias: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor"""

def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
    """Returns how often each number from 0 on occurs, or the sums of the weights of its places.

    Raises:
      DtypeError: If `input` does not hold integers.
      ShapeMismatchError: If it is not of one dim, or `weights` has another shape.
      TensorValueError: If a number or `minlength` is negative.
    """

def bitwise_and(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """bitwise_and(Tensor self, Tensor other) -> Tensor"""

def bitwise_and_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `bitwise_and(Tensor self, Tensor other) -> Tensor`."""

def bitwise_left_shift(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """bitwise_left_shift(Tensor self, Tensor other) -> Tensor"""

def bitwise_left_shift_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `bitwise_left_shift(Tensor self, Tensor other) -> Tensor`."""

def bitwise_not(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """bitwise_not(Tensor self) -> Tensor"""

def bitwise_not_(input: Operand) -> Tensor:
    """In-place form of `bitwise_not(Tensor self) -> Tensor`."""

def bitwise_or(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """bitwise_or(Tensor self, Tensor other) -> Tensor"""

def bitwise_or_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `bitwise_or(Tensor self, Tensor other) -> Tensor`."""

def bitwise_right_shift(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """bitwise_right_shift(Tensor self, Tensor other) -> Tensor"""

def bitwise_right_shift_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `bitwise_right_shift(Tensor self, Tensor other) -> Tensor`."""

def bitwise_xor(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """bitwise_xor(Tensor self, Tensor other) -> Tensor"""

def bitwise_xor_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `bitwise_xor(Tensor self, Tensor other) -> Tensor`."""

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
    """blackman_window(int window_length, bool periodic=True, *, Dtype? dtype=None) -> Tensor"""

def block_diag(*tensors: TensorLike | Sequence[TensorLike], out: Tensor | None = None) -> Tensor:
    """block_diag(Tensor[] tensors) -> Tensor"""

def bmm(input: Operand, mat2: Operand, *, out: Tensor | None = None) -> Tensor:
    """bmm(Tensor self, Tensor mat2) -> Tensor"""

def broadcast_shapes(*shapes: Ints) -> Size:
    """Returns the shape to which tensors of these shapes broadcast; a number stands for a shape of one dim.

    Raises:
      ShapeMismatchError: If they do not.
    """

def broadcast_tensors(*tensors: TensorLike | Sequence[TensorLike]) -> tuple[Tensor, ...]:
    """Returns tensors expanded to their common shape, as views."""

def broadcast_to(input: Tensor, size: Sequence[_int]) -> Tensor:
    """Returns `input.expand(size)`."""

def bucketize(
    input: Operand,
    boundaries: Operand,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """bucketize(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"""

def can_cast(from_: DTypeLike, to: _int) -> _bool:
    """Returns whether an in-place op may store results of one dtype in a tensor of another."""

def cartesian_prod(*tensors: TensorLike | Sequence[TensorLike], out: Tensor | None = None) -> Tensor:
    """cartesian_prod(Tensor[] tensors) -> Tensor"""

def cat(tensors: Sequence[TensorLike], dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """cat(Tensor[] tensors, int dim=0) -> Tensor"""

def cdist(
    x1: Operand,
    x2: Operand,
    p: _float = 2.0,
    compute_mode: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """cdist(Tensor x1, Tensor x2, float p=2.0, Any compute_mode=None) -> Tensor

    Returns the distances of all pairs of rows; every `compute_mode` computes them by differences.
    """

def ceil(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """ceil(Tensor self) -> Tensor"""

def ceil_(input: Operand) -> Tensor:
    """In-place form of `ceil(Tensor self) -> Tensor`."""

def celu(input: Operand, alpha: _float = 1.0) -> Tensor:
    """celu(Tensor input, float alpha=1.0) -> Tensor"""

def celu_(input: Operand, alpha: _float = 1.0) -> Tensor:
    """In-place form of `celu(Tensor input, float alpha=1.0) -> Tensor`."""

def chain_matmul(*tensors: TensorLike | Sequence[TensorLike], out: Tensor | None = None) -> Tensor:
    """chain_matmul(Tensor[] matrices) -> Tensor"""

def channel_shuffle(input: Operand, groups: _int, *, out: Tensor | None = None) -> Tensor:
    """channel_shuffle(Tensor input, int groups) -> Tensor"""

def cholesky(input: Operand, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """cholesky(Tensor self, bool upper=False) -> Tensor"""

def cholesky_inverse(input: Operand, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """cholesky_inverse(Tensor self, bool upper=False) -> Tensor"""

def cholesky_solve(input: Operand, input2: Operand, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor"""

def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """Returns views of at most `chunks` equal pieces of a dim."""

def clamp(
    input: Operand,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"""

def clamp_(input: Operand, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """In-place form of `clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor`."""

def clamp_max(input: Operand, max: Operand, *, out: Tensor | None = None) -> Tensor:
    """clamp_max(Tensor self, Tensor max) -> Tensor"""

def clamp_max_(input: Operand, max: Operand) -> Tensor:
    """In-place form of `clamp_max(Tensor self, Tensor max) -> Tensor`."""

def clamp_min(input: Operand, min: Operand, *, out: Tensor | None = None) -> Tensor:
    """clamp_min(Tensor self, Tensor min) -> Tensor"""

def clamp_min_(input: Operand, min: Operand) -> Tensor:
    """In-place form of `clamp_min(Tensor self, Tensor min) -> Tensor`."""

def clip(
    input: Operand,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"""

def clip_(input: Operand, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """In-place form of `clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor`."""

def clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """Returns a copy with storage of its own, by default in the operand's order of dims."""

def column_stack(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """column_stack(Tensor[] tensors) -> Tensor"""

def combinations(
    input: Operand,
    r: _int = 2,
    with_replacement: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """combinations(Tensor input, int r=2, bool with_replacement=False) -> Tensor"""

def complex(real: Operand, imag: Operand, *, out: Tensor | None = None) -> Tensor:
    """complex(Tensor real, Tensor imag) -> Tensor"""

def concat(tensors: Sequence[TensorLike], dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """cat(Tensor[] tensors, int dim=0) -> Tensor"""

def concatenate(
    tensors: Sequence[TensorLike],
    dim: _int = 0,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """cat(Tensor[] tensors, int dim=0) -> Tensor"""

def conj(input: Tensor) -> Tensor:
    """Returns the conjugates of complex numbers, a view; a tensor that is not complex as it is."""

def conj_physical(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """conj_physical(Tensor self) -> Tensor"""

def conj_physical_(input: Operand) -> Tensor:
    """In-place form of `conj_physical(Tensor self) -> Tensor`."""

def constant_pad_nd(input: Operand, pad: Ints, value: Operand = 0, *, out: Tensor | None = None) -> Tensor:
    """constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor"""

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
    """conv1d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any dilation=1, int groups=1) -> Tensor"""

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
    """conv2d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any dilation=1, int groups=1) -> Tensor"""

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
    """conv3d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any dilation=1, int groups=1) -> Tensor"""

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
    """conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any output_padding=0, int groups=1, Any dilation=1) -> Tensor"""

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
    """conv_transpose2d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any output_padding=0, int groups=1, Any dilation=1) -> Tensor"""

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
    """conv_transpose3d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any output_padding=0, int groups=1, Any dilation=1) -> Tensor"""

def copysign(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """copysign(Tensor self, Tensor other) -> Tensor"""

def copysign_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `copysign(Tensor self, Tensor other) -> Tensor`."""

def corrcoef(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """corrcoef(Tensor self) -> Tensor"""

def cos(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """cos(Tensor self) -> Tensor"""

def cos_(input: Operand) -> Tensor:
    """In-place form of `cos(Tensor self) -> Tensor`."""

def cosh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """cosh(Tensor self) -> Tensor"""

def cosh_(input: Operand) -> Tensor:
    """In-place form of `cosh(Tensor self) -> Tensor`."""

def cosine_similarity(
    x1: Operand,
    x2: Operand,
    dim: _int = 1,
    eps: _float = 1e-08,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor"""

def count_nonzero(
    input: Operand,
    dim: Ints | None = None,
    *,
    out: Tensor | None = None,
    axis: Ints | None = ...,
) -> Tensor:
    """count_nonzero(Tensor self, Any dim=None) -> Tensor"""

def cov(
    input: Operand,
    *,
    correction: _int = 1,
    fweights: Operand | None = None,
    aweights: Operand | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor"""

def cross(
    input: Operand,
    other: Operand,
    dim: _int | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """cross(Tensor self, Tensor other, int? dim=None) -> Tensor"""

def cummax(
    input: Operand,
    dim: _int = ...,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
) -> CummaxResult:
    """cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)"""

def cummin(
    input: Operand,
    dim: _int = ...,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
) -> CumminResult:
    """cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)"""

def cumprod(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """cumprod(Tensor self, int dim, *, Dtype? dtype=None) -> Tensor"""

def cumprod_(input: Operand, dim: _int = ..., *, dtype: DTypeLike | None = None, axis: _int = ...) -> Tensor:
    """In-place form of `cumprod(Tensor self, int dim, *, Dtype? dtype=None) -> Tensor`."""

def cumsum(
    input: Operand,
    dim: _int = ...,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """cumsum(Tensor self, int dim, *, Dtype? dtype=None) -> Tensor"""

def cumsum_(input: Operand, dim: _int = ..., *, dtype: DTypeLike | None = None, axis: _int = ...) -> Tensor:
    """In-place form of `cumsum(Tensor self, int dim, *, Dtype? dtype=None) -> Tensor`."""

def cumulative_trapezoid(
    y: Operand,
    x: Operand | None = None,
    *,
    dx: _float = 1.0,
    dim: _int = -1,
    out: Tensor | None = None,
) -> Tensor:
    """cumulative_trapezoid(Tensor y, Tensor? x=None, *, float dx=1.0, int dim=-1) -> Tensor"""

def deg2rad(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """deg2rad(Tensor self) -> Tensor"""

def deg2rad_(input: Operand) -> Tensor:
    """In-place form of `deg2rad(Tensor self) -> Tensor`."""

def det(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """det(Tensor self) -> Tensor"""

def detach(input: Tensor) -> Tensor:
    """Returns a tensor on the same memory through which no gradient flows."""

def detach_(self: Tensor) -> Tensor:
    """Cuts this tensor off from its history, in place."""

def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `detach` shows."""

def diag(input: Operand, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """diag(Tensor self, int diagonal=0) -> Tensor"""

def diag_embed(
    input: Operand,
    offset: _int = 0,
    dim1: _int = -2,
    dim2: _int = -1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor"""

def diagflat(input: Operand, offset: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """diagflat(Tensor self, int offset=0) -> Tensor"""

def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """Returns the diagonal of two dims as a new last dim."""

def diagonal_copy(
    input: Tensor,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a copy of what `diagonal` shows."""

def diagonal_scatter(
    input: Operand,
    src: Operand,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor"""

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
    """diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor"""

def digamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """digamma(Tensor self) -> Tensor"""

def digamma_(input: Operand) -> Tensor:
    """In-place form of `digamma(Tensor self) -> Tensor`."""

def dist(input: Operand, other: Operand, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
    """dist(Tensor self, Tensor other, float p=2) -> Tensor"""

def div(input: Operand, other: Operand, *, rounding_mode: _str | None = None, out: Tensor | None = None) -> Tensor:
    """div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor"""

def div_(input: Operand, other: Operand, *, rounding_mode: _str | None = None) -> Tensor:
    """In-place form of `div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor`."""

def divide(
    input: Operand,
    other: Operand,
    *,
    rounding_mode: _str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor"""

def divide_(input: Operand, other: Operand, *, rounding_mode: _str | None = None) -> Tensor:
    """In-place form of `div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor`."""

def dot(input: Operand, tensor: Operand, *, out: Tensor | None = None) -> Tensor:
    """dot(Tensor self, Tensor tensor) -> Tensor"""

def dropout(input: Operand, p: _float = 0.5, training: _bool = True, *, out: Tensor | None = None) -> Tensor:
    """dropout(Tensor input, float p=0.5, bool training=True) -> Tensor"""

def dropout_(input: Operand, p: _float = 0.5, training: _bool = True) -> Tensor:
    """In-place form of `dropout(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

def dsplit(
    x: Tensor,
    indices_or_sections: Ints | Tensor | None = None,
    *,
    indices: Ints | Tensor | None = None,
    sections: _int | None = None,
) -> tuple[Tensor, ...]:
    """Returns views of equal pieces of a dim, or of the pieces between indices."""

def dstack(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """dstack(Tensor[] tensors) -> Tensor"""

def einsum(equation: _str, *operands: TensorLike | Sequence[TensorLike]) -> Tensor:
    """einsum(str equation, Tensor[] operands) -> Tensor"""

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
    """empty(int[] size, *, Dtype? dtype=None) -> Tensor"""

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
    """empty_like(Tensor self, *, Dtype? dtype=None) -> Tensor"""

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
    """empty_permuted(int[] size, int[] physical_layout, *, Dtype? dtype=None) -> Tensor"""

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
    """Returns a tensor of any strides, as `as_strided` takes them, on memory of its own."""

def eq(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """eq(Tensor self, Tensor other) -> Tensor"""

def eq_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `eq(Tensor self, Tensor other) -> Tensor`."""

def equal(input: Tensor, other: Tensor) -> _bool:
    """Returns whether two tensors have the same shape and elements."""

def erf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """erf(Tensor self) -> Tensor"""

def erf_(input: Operand) -> Tensor:
    """In-place form of `erf(Tensor self) -> Tensor`."""

def erfc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """erfc(Tensor self) -> Tensor"""

def erfc_(input: Operand) -> Tensor:
    """In-place form of `erfc(Tensor self) -> Tensor`."""

def erfinv(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """erfinv(Tensor self) -> Tensor"""

def erfinv_(input: Operand) -> Tensor:
    """In-place form of `erfinv(Tensor self) -> Tensor`."""

def exp(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """exp(Tensor self) -> Tensor"""

def exp2(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """exp2(Tensor self) -> Tensor"""

def exp2_(input: Operand) -> Tensor:
    """In-place form of `exp2(Tensor self) -> Tensor`."""

def exp_(input: Operand) -> Tensor:
    """In-place form of `exp(Tensor self) -> Tensor`."""

def expand_copy(input: Tensor, *size: Ints, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `expand` shows."""

def expm1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """expm1(Tensor self) -> Tensor"""

def expm1_(input: Operand) -> Tensor:
    """In-place form of `expm1(Tensor self) -> Tensor`."""

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
    """eye(int n, int? m=None, *, Dtype? dtype=None) -> Tensor"""

def feature_alpha_dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """feature_alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor

    One decision for each channel.
    """

def feature_alpha_dropout_(input: Operand, p: _float = 0.5, training: _bool = False) -> Tensor:
    """In-place form of `feature_alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor`."""

def feature_dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = True,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """feature_dropout(Tensor input, float p=0.5, bool training=True) -> Tensor

    One decision for each channel.
    """

def feature_dropout_(input: Operand, p: _float = 0.5, training: _bool = True) -> Tensor:
    """In-place form of `feature_dropout(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

def fill(input: Operand, value: Operand, *, out: Tensor | None = None) -> Tensor:
    """fill(Tensor self, Tensor value) -> Tensor"""

def fill_(input: Operand, value: Operand) -> Tensor:
    """In-place form of `fill(Tensor self, Tensor value) -> Tensor`."""

def finfo(dtype: DTypeLike | None = None) -> Any:
    """Returns the limits of a float dtype: `bits`, `eps`, `max`, `min`, `tiny`, …"""

def fix(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """trunc(Tensor self) -> Tensor"""

def fix_(input: Operand) -> Tensor:
    """In-place form of `trunc(Tensor self) -> Tensor`."""

def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Returns the dims from `start_dim` to `end_dim` as one."""

def flip(input: Operand, dims: Ints, *, out: Tensor | None = None) -> Tensor:
    """flip(Tensor self, int[] dims) -> Tensor"""

def fliplr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """fliplr(Tensor self) -> Tensor"""

def flipud(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """flipud(Tensor self) -> Tensor"""

def float_power(input: Operand, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
    """float_power(Tensor self, Tensor exponent) -> Tensor"""

def floor(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """floor(Tensor self) -> Tensor"""

def floor_(input: Operand) -> Tensor:
    """In-place form of `floor(Tensor self) -> Tensor`."""

def floor_divide(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """floor_divide(Tensor self, Tensor other) -> Tensor"""

def floor_divide_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `floor_divide(Tensor self, Tensor other) -> Tensor`."""

def fmax(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """fmax(Tensor self, Tensor other) -> Tensor"""

def fmin(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """fmin(Tensor self, Tensor other) -> Tensor"""

def fmod(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """fmod(Tensor self, Tensor other) -> Tensor"""

def fmod_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `fmod(Tensor self, Tensor other) -> Tensor`."""

def frac(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """frac(Tensor self) -> Tensor"""

def frac_(input: Operand) -> Tensor:
    """In-place form of `frac(Tensor self) -> Tensor`."""

def frexp(input: Operand, *, out: Sequence[Tensor] | None = None) -> FrexpResult:
    """frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)

    Returns the mantissa, of a size from 1/2 to 1, and the exponent of 2 that make up each element.
    """

def frombuffer(
    buffer: Any,
    *,
    dtype: DTypeLike,
    count: _int = -1,
    offset: _int = 0,
    requires_grad: _bool = False,
) -> Tensor:
    """Returns a tensor with a copy of the bytes of a buffer."""

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
    """full(int[] size, Scalar fill_value, *, Dtype? dtype=None) -> Tensor"""

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
    """full_like(Tensor self, Scalar fill_value, *, Dtype? dtype=None) -> Tensor"""

def gather(
    input: Operand,
    dim: _int,
    index: Operand,
    *,
    sparse_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor"""

def gcd(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """gcd(Tensor self, Tensor other) -> Tensor"""

def gcd_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `gcd(Tensor self, Tensor other) -> Tensor`."""

def ge(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """ge(Tensor self, Tensor other) -> Tensor"""

def ge_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `ge(Tensor self, Tensor other) -> Tensor`."""

def geqrf(input: Operand, *, out: Sequence[Tensor] | None = None) -> GeqrfResult:
    """geqrf(Tensor self) -> (Tensor a, Tensor tau)"""

def ger(input: Operand, vec2: Operand, *, out: Tensor | None = None) -> Tensor:
    """outer(Tensor self, Tensor vec2) -> Tensor"""

def get_default_dtype() -> _np.dtype:
    """Returns the dtype of floats that name none: float32."""

def get_device(input: Tensor) -> _int:
    """Returns the number of the accelerator that holds the tensor, or -1 on the CPU."""

@overload
def gradient(
    input: Operand,
    *,
    spacing: Floats | None = None,
    dim: Ints | None = None,
    edge_order: _int = 1,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    """gradient(Tensor input, *, Any spacing=None, Any dim=None, int edge_order=1) -> Tensor[]
    gradient_at(Tensor input, *, Tensor[] spacing, Any dim=None, int edge_order=1) -> Tensor[]
    """
@overload
def gradient(
    input: Operand,
    *,
    spacing: Sequence[TensorLike],
    dim: Ints | None = None,
    edge_order: _int = 1,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]: ...

def greater(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """gt(Tensor self, Tensor other) -> Tensor"""

def greater_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `gt(Tensor self, Tensor other) -> Tensor`."""

def greater_equal(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """ge(Tensor self, Tensor other) -> Tensor"""

def greater_equal_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `ge(Tensor self, Tensor other) -> Tensor`."""

def grid_sampler(
    input: Operand,
    grid: Operand,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor

    `nn.functional.grid_sample` with its modes by number.
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
    """grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor

    `nn.functional.grid_sample` with its modes by number.
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
    """grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor

    `nn.functional.grid_sample` with its modes by number.
    """

def group_norm(
    input: Operand,
    num_groups: _int,
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: _float = 1e-05,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor"""

def gt(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """gt(Tensor self, Tensor other) -> Tensor"""

def gt_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `gt(Tensor self, Tensor other) -> Tensor`."""

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
    """hamming_window(int window_length, bool periodic=True, float alpha=0.54, float beta=0.46, *, Dtype? dtype=None) -> Tensor"""

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
    """hann_window(int window_length, bool periodic=True, *, Dtype? dtype=None) -> Tensor"""

def hardshrink(input: Operand, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """hardshrink(Tensor input, float lambd=0.5) -> Tensor"""

def hash_tensor(
    input: Operand,
    dim: Ints = ...,
    *,
    keepdim: _bool = False,
    mode: _int = 0,
    out: Tensor | None = None,
    axis: Ints = ...,
) -> Tensor:
    """hash_tensor(Tensor self, Any dim=(), *, bool keepdim=False, int mode=0) -> Tensor

    Returns the exclusive or of the elements' 64-bit patterns.
    """

def heaviside(input: Operand, values: Operand, *, out: Tensor | None = None) -> Tensor:
    """heaviside(Tensor self, Tensor values) -> Tensor"""

def heaviside_(input: Operand, values: Operand) -> Tensor:
    """In-place form of `heaviside(Tensor self, Tensor values) -> Tensor`."""

def histc(
    input: Operand,
    bins: _int = 100,
    min: _float = 0,
    max: _float = 0,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """histc(Tensor self, int bins=100, Any min=0, Any max=0) -> Tensor"""

@overload
def histogram(
    input: Operand,
    bins: Operand,
    *,
    weight: Operand | None = None,
    density: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> HistogramResult:
    """histogram(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)
    histogram_uniform(Tensor self, int bins=100, *, Any range=None, Tensor? weight=None, bool density=False) -> (Tensor, Tensor)
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
    """histogramdd(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> Tensor[]
    histogramdd_uniform(Tensor self, Any bins, *, Any range=None, Tensor? weight=None, bool density=False) -> Tensor[]
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
    x: Tensor,
    indices_or_sections: Ints | Tensor | None = None,
    *,
    indices: Ints | Tensor | None = None,
    sections: _int | None = None,
) -> tuple[Tensor, ...]:
    """Returns views of equal pieces of a dim, or of the pieces between indices."""

def hstack(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """hstack(Tensor[] tensors) -> Tensor"""

def hypot(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """hypot(Tensor self, Tensor other) -> Tensor"""

def hypot_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `hypot(Tensor self, Tensor other) -> Tensor`."""

def i0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """i0(Tensor self) -> Tensor"""

def i0_(input: Operand) -> Tensor:
    """In-place form of `i0(Tensor self) -> Tensor`."""

def igamma(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """igamma(Tensor self, Tensor other) -> Tensor"""

def igamma_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `igamma(Tensor self, Tensor other) -> Tensor`."""

def igammac(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """igammac(Tensor self, Tensor other) -> Tensor"""

def igammac_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `igammac(Tensor self, Tensor other) -> Tensor`."""

def iinfo(dtype: DTypeLike) -> Any:
    """Returns the limits of an integer dtype: `bits`, `max`, `min`."""

def imag(input: Tensor) -> Tensor:
    """Returns the imaginary parts, a view; of a conjugate a copy."""

def index_add(
    input: Operand,
    dim: _int,
    index: Operand,
    source: Operand,
    *,
    alpha: Operand = 1,
    out: Tensor | None = None,
) -> Tensor:
    """index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor"""

def index_add_(input: Operand, dim: _int, index: Operand, source: Operand, *, alpha: Operand = 1) -> Tensor:
    """In-place form of `index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor`."""

def index_copy(input: Operand, dim: _int, index: Operand, source: Operand, *, out: Tensor | None = None) -> Tensor:
    """index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor"""

def index_copy_(input: Operand, dim: _int, index: Operand, source: Operand) -> Tensor:
    """In-place form of `index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor`."""

def index_fill(input: Operand, dim: _int, index: Operand, value: Operand, *, out: Tensor | None = None) -> Tensor:
    """index_fill(Tensor self, int dim, Tensor index, Tensor value) -> Tensor"""

def index_fill_(input: Operand, dim: _int, index: Operand, value: Operand) -> Tensor:
    """In-place form of `index_fill(Tensor self, int dim, Tensor index, Tensor value) -> Tensor`."""

def index_put(
    input: Operand,
    indices: Sequence[TensorLike | None],
    values: Operand,
    accumulate: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor"""

def index_put_(
    input: Operand,
    indices: Sequence[TensorLike | None],
    values: Operand,
    accumulate: _bool = False,
) -> Tensor:
    """In-place form of `index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor`."""

def index_reduce(
    input: Operand,
    dim: _int,
    index: Operand,
    source: Operand,
    reduce: _str,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor"""

def index_reduce_(
    input: Operand,
    dim: _int,
    index: Operand,
    source: Operand,
    reduce: _str,
    *,
    include_self: _bool = True,
) -> Tensor:
    """In-place form of `index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor`."""

def index_select(input: Operand, dim: _int, index: Operand, *, out: Tensor | None = None) -> Tensor:
    """index_select(Tensor self, int dim, Tensor index) -> Tensor"""

def inner(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """inner(Tensor self, Tensor other) -> Tensor"""

def inverse(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """inverse(Tensor self) -> Tensor"""

def is_complex(input: Tensor) -> _bool:
    """Returns whether the elements are complex numbers."""

def is_conj(input: Tensor) -> _bool:
    """Returns whether the tensor shows the conjugates of what its memory holds."""

def is_floating_point(input: Tensor) -> _bool:
    """Returns whether the elements are floats."""

def is_inference(input: Tensor) -> _bool:
    """Returns whether the tensor was made in `inference_mode`, so that it cannot be saved for a backward."""

def is_neg(input: Tensor) -> _bool:
    """Returns False: negation is computed at once here, not kept as a mark on the tensor."""

def is_nonzero(input: Tensor) -> _bool:
    """Returns whether the only element is not zero.

    Raises:
      TensorValueError: If there is not exactly one element.
    """

def is_same_size(input: Tensor, other: Tensor) -> _bool:
    """Returns whether two tensors have the same shape."""

def is_set_to(input: Tensor, tensor: Tensor) -> _bool:
    """Returns whether two tensors show the same elements of the same storage in the same way."""

def is_signed(input: Tensor) -> _bool:
    """Returns whether the elements can be negative."""

def is_storage(obj: Any) -> _bool:
    """Returns whether `obj` is a storage of jaxaot."""

def is_tensor(obj: Any) -> _bool:
    """Returns whether `obj` is a tensor of jaxaot."""

def isclose(
    input: Operand,
    other: Operand,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor"""

def isfinite(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """isfinite(Tensor self) -> Tensor"""

def isin(
    elements: Operand,
    test_elements: Operand,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """isin(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor"""

def isinf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """isinf(Tensor self) -> Tensor"""

def isnan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """isnan(Tensor self) -> Tensor"""

def isneginf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """isneginf(Tensor self) -> Tensor"""

def isposinf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """isposinf(Tensor self) -> Tensor"""

def isreal(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """isreal(Tensor self) -> Tensor"""

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
    """istft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor

    Returns the signal whose short-time transforms are nearest to `input`: overlapping frames are added and divided
    by the sum of their squared windows (Griffin and Lim, 1984).
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
    """kaiser_window(int window_length, bool periodic=True, float beta=12.0, *, Dtype? dtype=None) -> Tensor"""

def kron(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """kron(Tensor self, Tensor other) -> Tensor"""

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
    """kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)"""

def layer_norm(
    input: Operand,
    normalized_shape: Ints,
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: _float = 1e-05,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor"""

def lcm(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """lcm(Tensor self, Tensor other) -> Tensor"""

def lcm_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `lcm(Tensor self, Tensor other) -> Tensor`."""

def ldexp(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """ldexp(Tensor self, Tensor other) -> Tensor"""

def ldexp_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `ldexp(Tensor self, Tensor other) -> Tensor`."""

def le(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """le(Tensor self, Tensor other) -> Tensor"""

def le_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `le(Tensor self, Tensor other) -> Tensor`."""

def lerp(input: Operand, end: Operand, weight: Operand, *, out: Tensor | None = None) -> Tensor:
    """lerp(Tensor self, Tensor end, Tensor weight) -> Tensor"""

def lerp_(input: Operand, end: Operand, weight: Operand) -> Tensor:
    """In-place form of `lerp(Tensor self, Tensor end, Tensor weight) -> Tensor`."""

def less(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """lt(Tensor self, Tensor other) -> Tensor"""

def less_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `lt(Tensor self, Tensor other) -> Tensor`."""

def less_equal(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """le(Tensor self, Tensor other) -> Tensor"""

def less_equal_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `le(Tensor self, Tensor other) -> Tensor`."""

def lgamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """lgamma(Tensor self) -> Tensor"""

def lgamma_(input: Operand) -> Tensor:
    """In-place form of `lgamma(Tensor self) -> Tensor`."""

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
    """linspace(Any start, Any end, int steps, *, Dtype? dtype=None) -> Tensor
    linspace_between(Scalar start, Scalar end, int steps, *, Dtype? dtype=None) -> Tensor
    """

def log(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log(Tensor self) -> Tensor"""

def log10(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log10(Tensor self) -> Tensor"""

def log10_(input: Operand) -> Tensor:
    """In-place form of `log10(Tensor self) -> Tensor`."""

def log1p(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log1p(Tensor self) -> Tensor"""

def log1p_(input: Operand) -> Tensor:
    """In-place form of `log1p(Tensor self) -> Tensor`."""

def log2(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log2(Tensor self) -> Tensor"""

def log2_(input: Operand) -> Tensor:
    """In-place form of `log2(Tensor self) -> Tensor`."""

def log_(input: Operand) -> Tensor:
    """In-place form of `log(Tensor self) -> Tensor`."""

def log_softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """log_softmax(Tensor input, int? dim=None, Dtype? dtype=None) -> Tensor"""

def logaddexp(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """logaddexp(Tensor self, Tensor other) -> Tensor"""

def logaddexp2(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """logaddexp2(Tensor self, Tensor other) -> Tensor"""

def logcumsumexp(input: Operand, dim: _int = ..., *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """logcumsumexp(Tensor self, int dim) -> Tensor"""

def logdet(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """logdet(Tensor self) -> Tensor"""

def logical_and(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """logical_and(Tensor self, Tensor other) -> Tensor"""

def logical_and_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `logical_and(Tensor self, Tensor other) -> Tensor`."""

def logical_not(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """logical_not(Tensor self) -> Tensor"""

def logical_not_(input: Operand) -> Tensor:
    """In-place form of `logical_not(Tensor self) -> Tensor`."""

def logical_or(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """logical_or(Tensor self, Tensor other) -> Tensor"""

def logical_or_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `logical_or(Tensor self, Tensor other) -> Tensor`."""

def logical_xor(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """logical_xor(Tensor self, Tensor other) -> Tensor"""

def logical_xor_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `logical_xor(Tensor self, Tensor other) -> Tensor`."""

def logit(input: Operand, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """logit(Tensor self, float? eps=None) -> Tensor"""

def logit_(input: Operand, eps: _float | None = None) -> Tensor:
    """In-place form of `logit(Tensor self, float? eps=None) -> Tensor`."""

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
    """logspace(Any start, Any end, int steps, float base=10.0, *, Dtype? dtype=None) -> Tensor
    logspace_between(Scalar start, Scalar end, int steps, float base=10.0, *, Dtype? dtype=None) -> Tensor
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
    """logsumexp(Tensor self, Any dim, bool keepdim=False) -> Tensor"""

def lt(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """lt(Tensor self, Tensor other) -> Tensor"""

def lt_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `lt(Tensor self, Tensor other) -> Tensor`."""

def lu(
    input: Operand,
    pivot: _bool = True,
    get_infos: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    """lu(Tensor self, bool pivot=True, bool get_infos=False) -> Tensor[]"""

def lu_solve(input: Operand, LU_data: Operand, LU_pivots: Operand, *, out: Tensor | None = None) -> Tensor:
    """lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor"""

def lu_unpack(
    LU_data: Operand,
    LU_pivots: Operand,
    unpack_data: _bool = True,
    unpack_pivots: _bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> LuUnpackResult:
    """lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)"""

def masked_fill(input: Operand, mask: Operand, value: Operand, *, out: Tensor | None = None) -> Tensor:
    """masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor"""

def masked_fill_(input: Operand, mask: Operand, value: Operand) -> Tensor:
    """In-place form of `masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor`."""

def masked_scatter(input: Operand, mask: Operand, source: Operand, *, out: Tensor | None = None) -> Tensor:
    """masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor"""

def masked_scatter_(input: Operand, mask: Operand, source: Operand) -> Tensor:
    """In-place form of `masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor`."""

def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements where a mask that broadcasts with them is true, as one dim."""

def matmul(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """matmul(Tensor self, Tensor other) -> Tensor"""

def matrix_exp(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """matrix_exp(Tensor self) -> Tensor"""

def matrix_power(input: Operand, n: _int, *, out: Tensor | None = None) -> Tensor:
    """matrix_power(Tensor self, int n) -> Tensor"""

@overload
def max(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """max(Tensor self) -> Tensor
    max_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
    max_other(Tensor self, Tensor other) -> Tensor
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
    """max_pool1d(Tensor input, Any kernel_size, Any stride=None, Any padding=0, Any dilation=1, bool ceil_mode=False) -> Tensor"""

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
    """max_pool2d(Tensor input, Any kernel_size, Any stride=None, Any padding=0, Any dilation=1, bool ceil_mode=False) -> Tensor"""

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
    """max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, Any kernel_size, Any stride, Any padding, Any dilation, bool ceil_mode, Tensor indices) -> Tensor

    Returns the gradient of the pool's input: that of each window, at the place it picked.
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
    """max_pool3d(Tensor input, Any kernel_size, Any stride=None, Any padding=0, Any dilation=1, bool ceil_mode=False) -> Tensor"""

def maximum(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """maximum(Tensor self, Tensor other) -> Tensor"""

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
    """mean(Tensor self, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""

@overload
def median(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """median(Tensor self) -> Tensor
    median_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
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
    """

@overload
def min(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """min(Tensor self) -> Tensor
    min_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
    min_other(Tensor self, Tensor other) -> Tensor
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
    """minimum(Tensor self, Tensor other) -> Tensor"""

def mm(input: Operand, mat2: Operand, *, out: Tensor | None = None) -> Tensor:
    """mm(Tensor self, Tensor mat2) -> Tensor"""

def mode(
    input: Operand,
    dim: _int = -1,
    keepdim: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
    keepdims: _bool = ...,
) -> ModeResult:
    """mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)"""

def moveaxis(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Returns dims moved to other places; the others keep their order."""

def movedim(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Returns dims moved to other places; the others keep their order."""

def msort(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """msort(Tensor self) -> Tensor"""

def mul(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """mul(Tensor self, Tensor other) -> Tensor"""

def mul_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `mul(Tensor self, Tensor other) -> Tensor`."""

def multinomial(
    input: Operand,
    num_samples: _int,
    replacement: _bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor"""

def multiply(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """mul(Tensor self, Tensor other) -> Tensor"""

def multiply_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `mul(Tensor self, Tensor other) -> Tensor`."""

def mv(input: Operand, vec: Operand, *, out: Tensor | None = None) -> Tensor:
    """mv(Tensor self, Tensor vec) -> Tensor"""

def mvlgamma(input: Operand, p: _int, *, out: Tensor | None = None) -> Tensor:
    """mvlgamma(Tensor self, int p) -> Tensor"""

def mvlgamma_(input: Operand, p: _int) -> Tensor:
    """In-place form of `mvlgamma(Tensor self, int p) -> Tensor`."""

def nan_to_num(
    input: Operand,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor"""

def nan_to_num_(
    input: Operand,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
) -> Tensor:
    """In-place form of `nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor`."""

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
    """nanmean(Tensor self, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""

@overload
def nanmedian(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """nanmedian(Tensor self) -> Tensor
    nanmedian_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
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
    """nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor"""

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
    """nansum(Tensor self, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""

def narrow(input: Tensor, dim: _int, start: _int, length: _int) -> Tensor:
    """Returns the view of `length` elements of a dim from `start` on."""

def narrow_copy(input: Tensor, dim: _int, start: _int, length: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `narrow` shows."""

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
    """native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!)? running_mean, Tensor(a!)? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)

    Returns the batch norm; in training also means and one over deviations, through which no gradient flows.
    """

def native_dropout(
    input: Operand,
    p: _float,
    train: _bool | None,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)

    The result and the mask of what was kept.
    """

def native_dropout_backward(
    grad_output: Operand,
    mask: Operand,
    scale: _float,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor"""

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
    """native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) -> (Tensor, Tensor, Tensor)

    Returns the group norm, the means and one over the deviations of the groups.
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
    """native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)

    Returns the layer norm, the means and one over the deviations; no gradient flows through the last two.
    """

def ne(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """ne(Tensor self, Tensor other) -> Tensor"""

def ne_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `ne(Tensor self, Tensor other) -> Tensor`."""

def neg(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """neg(Tensor self) -> Tensor"""

def neg_(input: Operand) -> Tensor:
    """In-place form of `neg(Tensor self) -> Tensor`."""

def negative(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """neg(Tensor self) -> Tensor"""

def negative_(input: Operand) -> Tensor:
    """In-place form of `neg(Tensor self) -> Tensor`."""

def nextafter(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """nextafter(Tensor self, Tensor other) -> Tensor"""

def nextafter_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `nextafter(Tensor self, Tensor other) -> Tensor`."""

def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: _bool = False) -> Any:
    """Returns where elements are not zero: (n, dims), or a tensor for each dim if `as_tuple`."""

def nonzero_static(input: Operand, *, size: _int, fill_value: _int = -1, out: Tensor | None = None) -> Tensor:
    """nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor

    `nonzero` for a given number of elements: more are left out, and what is missing is `fill_value`.
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
    """norm(Tensor self, Any p='fro', Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""

@overload
def normal(mean: Operand, std: Operand, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """normal(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor
    normal_around(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor
    normal_spread(float mean, Tensor std, *, Generator? generator=None) -> Tensor
    normal_size(float mean, float std, int[] size, *, Generator? generator=None, Dtype? dtype=None) -> Tensor
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
    """ne(Tensor self, Tensor other) -> Tensor"""

def not_equal_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `ne(Tensor self, Tensor other) -> Tensor`."""

def numel(input: Tensor) -> _int:
    """Returns the number of elements."""

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
    """ones(int[] size, *, Dtype? dtype=None) -> Tensor"""

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
    """ones_like(Tensor self, *, Dtype? dtype=None) -> Tensor"""

def orgqr(input: Operand, input2: Operand, *, out: Tensor | None = None) -> Tensor:
    """orgqr(Tensor self, Tensor input2) -> Tensor"""

def ormqr(
    input: Operand,
    input2: Operand,
    input3: Operand,
    left: _bool = True,
    transpose: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor

    Returns the product of Q, given by its reflections, with another matrix.
    """

def outer(input: Operand, vec2: Operand, *, out: Tensor | None = None) -> Tensor:
    """outer(Tensor self, Tensor vec2) -> Tensor"""

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
    """pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor"""

def pca_lowrank(
    A: Operand,
    q: _int | None = None,
    center: _bool = True,
    niter: _int = 2,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """pca_lowrank(Tensor A, int? q=None, bool center=True, int niter=2) -> (Tensor, Tensor, Tensor)"""

def pdist(input: Operand, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
    """pdist(Tensor self, float p=2) -> Tensor"""

def permute(input: Tensor, *dims: Ints) -> Tensor:
    """Returns the dims in another order."""

def permute_copy(input: Tensor, *dims: Ints, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `permute` shows."""

def pinverse(input: Operand, rcond: _float = 1e-15, *, out: Tensor | None = None) -> Tensor:
    """pinverse(Tensor self, float rcond=1e-15) -> Tensor"""

def pixel_shuffle(input: Operand, upscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """pixel_shuffle(Tensor input, int upscale_factor) -> Tensor"""

def pixel_unshuffle(input: Operand, downscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor"""

def poisson(input: Operand, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """poisson(Tensor self, *, Generator? generator=None) -> Tensor"""

def polar(abs: Operand, angle: Operand, *, out: Tensor | None = None) -> Tensor:
    """polar(Tensor abs, Tensor angle) -> Tensor"""

def polygamma(n: _int, input: Operand, *, out: Tensor | None = None) -> Tensor:
    """polygamma(int n, Tensor self) -> Tensor"""

def positive(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """positive(Tensor self) -> Tensor"""

def positive_(input: Operand) -> Tensor:
    """In-place form of `positive(Tensor self) -> Tensor`."""

def pow(input: Operand, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
    """pow(Tensor self, Tensor exponent) -> Tensor"""

def pow_(input: Operand, exponent: Operand) -> Tensor:
    """In-place form of `pow(Tensor self, Tensor exponent) -> Tensor`."""

def prelu(input: Operand, weight: Operand) -> Tensor:
    """prelu(Tensor input, Tensor weight) -> Tensor"""

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
    """prod(Tensor self, int? dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""

def promote_types(type1: DTypeLike, type2: DTypeLike) -> _np.dtype:
    """Returns the smallest dtype to which both can be converted."""

def put(
    input: Operand,
    index: Operand,
    source: Operand,
    accumulate: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor"""

def put_(input: Operand, index: Operand, source: Operand, accumulate: _bool = False) -> Tensor:
    """In-place form of `put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor`."""

def qr(input: Operand, some: _bool = True, *, out: Sequence[Tensor] | None = None) -> QrResult:
    """qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)"""

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
    """quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor"""

def rad2deg(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """rad2deg(Tensor self) -> Tensor"""

def rad2deg_(input: Operand) -> Tensor:
    """In-place form of `rad2deg(Tensor self) -> Tensor`."""

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
    """rand(int[] size, *, Generator? generator=None, Dtype? dtype=None) -> Tensor"""

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
    """rand_like(Tensor self, *, Generator? generator=None, Dtype? dtype=None) -> Tensor"""

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
    """randint(Any low=0, Any high=None, Any size=None, *, Generator? generator=None, Dtype? dtype=None) -> Tensor

    `randint(high, size)` and `randint(low, high, size)`.
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
    """randint_like(Tensor self, Any low=0, Any high=None, *, Generator? generator=None, Dtype? dtype=None) -> Tensor

    `randint_like(x, high)` and `randint_like(x, low, high)`.
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
    """randn(int[] size, *, Generator? generator=None, Dtype? dtype=None) -> Tensor"""

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
    """randn_like(Tensor self, *, Generator? generator=None, Dtype? dtype=None) -> Tensor"""

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
    """randperm(int n, *, Generator? generator=None, Dtype? dtype=None) -> Tensor"""

def ravel(input: Tensor) -> Tensor:
    """Returns the elements as one dim: a view of a contiguous tensor, else a copy."""

def real(input: Tensor) -> Tensor:
    """Returns the real parts, a view; a tensor that is not complex as it is."""

def reciprocal(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """reciprocal(Tensor self) -> Tensor"""

def reciprocal_(input: Operand) -> Tensor:
    """In-place form of `reciprocal(Tensor self) -> Tensor`."""

def relu(input: Operand) -> Tensor:
    """relu(Tensor input) -> Tensor"""

def relu_(input: Operand) -> Tensor:
    """In-place form of `relu(Tensor input) -> Tensor`."""

def remainder(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """remainder(Tensor self, Tensor other) -> Tensor"""

def remainder_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `remainder(Tensor self, Tensor other) -> Tensor`."""

def renorm(input: Operand, p: _float, dim: _int, maxnorm: _float, *, out: Tensor | None = None) -> Tensor:
    """renorm(Tensor self, float p, int dim, float maxnorm) -> Tensor"""

def renorm_(input: Operand, p: _float, dim: _int, maxnorm: _float) -> Tensor:
    """In-place form of `renorm(Tensor self, float p, int dim, float maxnorm) -> Tensor`."""

def repeat(input: Operand, repeats: Ints, *, out: Tensor | None = None) -> Tensor:
    """repeat(Tensor self, int[] repeats) -> Tensor"""

def repeat_interleave(
    input: Tensor,
    repeats: Ints | Tensor | None = None,
    dim: _int | None = None,
    *,
    output_size: _int | None = None,
) -> Tensor:
    """Returns each element repeated, along `dim` if given: `repeats` times, or as often as its entry in `repeats` says.

    Given counts alone, it returns indices: i as often as the i-th count says. With counts in a tensor, a trace needs
    `output_size`, their sum.
    """

def reshape(input: Tensor, *shape: Ints) -> Tensor:
    """Returns the elements under another shape: a view where strides allow it, else a copy."""

def resize_as_(self: Tensor, other: Tensor) -> Tensor:
    """Resizes to the shape of another tensor, in place."""

def resolve_conj(input: Tensor) -> Tensor:
    """Returns the tensor, or a copy with its values in memory if it shows conjugates."""

def resolve_neg(input: Tensor) -> Tensor:
    """Returns the tensor: negation is computed at once here, not kept as a mark on it."""

def result_type(tensor1: Operand, tensor2: Operand) -> _np.dtype:
    """Returns the dtype in which an op on two tensors or numbers is computed."""

def rms_norm(
    input: Operand,
    normalized_shape: Ints,
    weight: Operand | None = None,
    eps: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor"""

def roll(input: Operand, shifts: Ints, dims: Ints = ..., *, out: Tensor | None = None) -> Tensor:
    """roll(Tensor self, int[] shifts, int[] dims=()) -> Tensor"""

def rot90(input: Operand, k: _int = 1, dims: Ints = ..., *, out: Tensor | None = None) -> Tensor:
    """rot90(Tensor self, int k=1, int[] dims=(0, 1)) -> Tensor"""

def round(input: Operand, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """round(Tensor self, *, int decimals=0) -> Tensor"""

def round_(input: Operand, *, decimals: _int = 0) -> Tensor:
    """In-place form of `round(Tensor self, *, int decimals=0) -> Tensor`."""

def row_stack(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """vstack(Tensor[] tensors) -> Tensor"""

def rsqrt(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """rsqrt(Tensor self) -> Tensor"""

def rsqrt_(input: Operand) -> Tensor:
    """In-place form of `rsqrt(Tensor self) -> Tensor`."""

def rsub(input: Operand, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
    """rsub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

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
    """scalar_tensor(Scalar s, *, Dtype? dtype=None) -> Tensor"""

@overload
def scatter(
    input: Operand,
    dim: _int,
    index: Operand,
    src: Operand,
    *,
    reduce: _str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """scatter(Tensor self, int dim, Tensor index, Tensor src, *, str? reduce=None) -> Tensor
    scatter_value(Tensor self, int dim, Tensor index, Scalar value, *, str? reduce=None) -> Tensor
    """
@overload
def scatter(
    input: Operand,
    dim: _int,
    index: Operand,
    value: Operand,
    *,
    reduce: _str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...

@overload
def scatter_(input: Operand, dim: _int, index: Operand, src: Operand, *, reduce: _str | None = None) -> Tensor:
    """scatter(Tensor self, int dim, Tensor index, Tensor src, *, str? reduce=None) -> Tensor
    scatter_value(Tensor self, int dim, Tensor index, Scalar value, *, str? reduce=None) -> Tensor
    """
@overload
def scatter_(input: Operand, dim: _int, index: Operand, value: Operand, *, reduce: _str | None = None) -> Tensor: ...

def scatter_add(input: Operand, dim: _int, index: Operand, src: Operand, *, out: Tensor | None = None) -> Tensor:
    """scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor"""

def scatter_add_(input: Operand, dim: _int, index: Operand, src: Operand) -> Tensor:
    """In-place form of `scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor`."""

def scatter_reduce(
    input: Operand,
    dim: _int,
    index: Operand,
    src: Operand,
    reduce: _str,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor"""

def scatter_reduce_(
    input: Operand,
    dim: _int,
    index: Operand,
    src: Operand,
    reduce: _str,
    *,
    include_self: _bool = True,
) -> Tensor:
    """In-place form of `scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor`."""

def searchsorted(
    sorted_sequence: Operand,
    values: Operand,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: _str | None = None,
    sorter: Operand | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """searchsorted(Tensor sorted_sequence, Tensor values, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor"""

def select(input: Tensor, dim: _int, index: _int) -> Tensor:
    """Returns the view at one index of a dim."""

def select_copy(input: Tensor, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `select` shows."""

def select_scatter(input: Operand, src: Operand, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
    """select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor"""

def selu(input: Operand) -> Tensor:
    """selu(Tensor input) -> Tensor"""

def selu_(input: Operand) -> Tensor:
    """In-place form of `selu(Tensor input) -> Tensor`."""

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
    """

def sgn(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sgn(Tensor self) -> Tensor"""

def sgn_(input: Operand) -> Tensor:
    """In-place form of `sgn(Tensor self) -> Tensor`."""

def sigmoid(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sigmoid(Tensor self) -> Tensor"""

def sigmoid_(input: Operand) -> Tensor:
    """In-place form of `sigmoid(Tensor self) -> Tensor`."""

def sign(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sign(Tensor self) -> Tensor"""

def sign_(input: Operand) -> Tensor:
    """In-place form of `sign(Tensor self) -> Tensor`."""

def signbit(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """signbit(Tensor self) -> Tensor"""

def sin(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sin(Tensor self) -> Tensor"""

def sin_(input: Operand) -> Tensor:
    """In-place form of `sin(Tensor self) -> Tensor`."""

def sinc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sinc(Tensor self) -> Tensor"""

def sinc_(input: Operand) -> Tensor:
    """In-place form of `sinc(Tensor self) -> Tensor`."""

def sinh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sinh(Tensor self) -> Tensor"""

def sinh_(input: Operand) -> Tensor:
    """In-place form of `sinh(Tensor self) -> Tensor`."""

def slice_copy(
    input: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a copy of what `slice` shows."""

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
    """slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor"""

def slogdet(input: Operand, *, out: Sequence[Tensor] | None = None) -> SlogdetResult:
    """slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)"""

def softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """softmax(Tensor input, int? dim=None, Dtype? dtype=None) -> Tensor"""

def sort(
    input: Operand,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool = False,
    out: Sequence[Tensor] | None = None,
    axis: _int = ...,
) -> SortResult:
    """sort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False) -> (Tensor values, Tensor indices)"""

def split(input: Tensor, split_size_or_sections: Ints, dim: _int = 0) -> tuple[Tensor, ...]:
    """Returns views of equal pieces of a dim, the last one smaller, or of pieces of given sizes."""

def split_copy(
    input: Tensor,
    split_size_or_sections: Ints,
    dim: _int = 0,
    *,
    out: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Returns a copy of what `split` shows."""

def split_with_sizes(input: Tensor, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
    """Returns views of pieces of a dim of given sizes."""

def split_with_sizes_copy(
    input: Tensor,
    split_sizes: Sequence[_int],
    dim: _int = 0,
    *,
    out: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Returns a copy of what `split_with_sizes` shows."""

def sqrt(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sqrt(Tensor self) -> Tensor"""

def sqrt_(input: Operand) -> Tensor:
    """In-place form of `sqrt(Tensor self) -> Tensor`."""

def square(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """square(Tensor self) -> Tensor"""

def square_(input: Operand) -> Tensor:
    """In-place form of `square(Tensor self) -> Tensor`."""

def squeeze(input: Tensor, dim: Ints | None = None) -> Tensor:
    """Returns the tensor without its dims of size 1, or without those of `dim` that have size 1."""

def squeeze_copy(input: Tensor, dim: Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `squeeze` shows."""

def stack(tensors: Sequence[TensorLike], dim: _int = 0, *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
    """stack(Tensor[] tensors, int dim=0) -> Tensor"""

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
    """std(Tensor self, int[]? dim=None, bool? unbiased=None, bool keepdim=False, *, Any correction=None) -> Tensor
    std_unbiased(Tensor self, bool unbiased) -> Tensor
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
    """std_mean(Tensor self, int[]? dim=None, bool? unbiased=None, bool keepdim=False, *, Any correction=None) -> (Tensor, Tensor)
    std_mean_unbiased(Tensor self, bool unbiased) -> (Tensor, Tensor)
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
    """stft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, str pad_mode='reflect', bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor"""

def sub(input: Operand, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
    """sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

def sub_(input: Operand, other: Operand, *, alpha: Operand = 1) -> Tensor:
    """In-place form of `sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`."""

def subtract(input: Operand, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
    """sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

def subtract_(input: Operand, other: Operand, *, alpha: Operand = 1) -> Tensor:
    """In-place form of `sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`."""

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
    """sum(Tensor self, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""

def svd(
    input: Operand,
    some: _bool = True,
    compute_uv: _bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> SvdResult:
    """svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)"""

def svd_lowrank(
    A: Operand,
    q: _int | None = 6,
    niter: _int | None = 2,
    M: Operand | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """svd_lowrank(Tensor A, int? q=6, int? niter=2, Tensor? M=None) -> (Tensor, Tensor, Tensor)"""

def swapaxes(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Returns two dims exchanged."""

def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Returns two dims exchanged."""

def t(input: Tensor) -> Tensor:
    """Returns a matrix transposed; a tensor of fewer dims as it is."""

def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `t` shows."""

def take(input: Operand, index: Operand, *, out: Tensor | None = None) -> Tensor:
    """take(Tensor self, Tensor index) -> Tensor"""

def take_along_dim(
    input: Operand,
    indices: Operand,
    dim: _int | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor"""

def tan(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """tan(Tensor self) -> Tensor"""

def tan_(input: Operand) -> Tensor:
    """In-place form of `tan(Tensor self) -> Tensor`."""

def tanh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """tanh(Tensor self) -> Tensor"""

def tanh_(input: Operand) -> Tensor:
    """In-place form of `tanh(Tensor self) -> Tensor`."""

def tensor_split(
    input: Tensor,
    indices_or_sections: Ints | Tensor | None = None,
    dim: _int = 0,
    *,
    indices: Ints | Tensor | None = None,
    sections: _int | None = None,
) -> tuple[Tensor, ...]:
    """Returns views of a given number of pieces of a dim, as equal as possible, or of the pieces between indices."""

def tensordot(a: Operand, b: Operand, dims: Ints = 2, *, out: Tensor | None = None) -> Tensor:
    """tensordot(Tensor a, Tensor b, Any dims=2) -> Tensor"""

def threshold(input: Operand, threshold: _float, value: _float) -> Tensor:
    """threshold(Tensor input, float threshold, float value) -> Tensor"""

def threshold_(input: Operand, threshold: _float, value: _float) -> Tensor:
    """In-place form of `threshold(Tensor input, float threshold, float value) -> Tensor`."""

def tile(input: Operand, dims: Ints, *, out: Tensor | None = None) -> Tensor:
    """tile(Tensor self, int[] dims) -> Tensor"""

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
    """topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)"""

def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Returns two dims exchanged."""

def transpose_copy(input: Tensor, dim0: _int, dim1: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `transpose` shows."""

def trapezoid(
    y: Operand,
    x: Operand | None = None,
    *,
    dx: _float = 1.0,
    dim: _int = -1,
    out: Tensor | None = None,
) -> Tensor:
    """trapezoid(Tensor y, Tensor? x=None, *, float dx=1.0, int dim=-1) -> Tensor"""

def trapz(
    y: Operand,
    x: Operand | None = None,
    *,
    dx: _float = 1.0,
    dim: _int = -1,
    out: Tensor | None = None,
) -> Tensor:
    """trapezoid(Tensor y, Tensor? x=None, *, float dx=1.0, int dim=-1) -> Tensor"""

def triangular_solve(
    input: Operand,
    A: Operand,
    upper: _bool = True,
    transpose: _bool = False,
    unitriangular: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> TriangularSolveResult:
    """triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)"""

def tril(input: Operand, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """tril(Tensor self, int diagonal=0) -> Tensor"""

def tril_(input: Operand, diagonal: _int = 0) -> Tensor:
    """In-place form of `tril(Tensor self, int diagonal=0) -> Tensor`."""

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
    """tril_indices(int row, int col, int offset=0, *, Dtype? dtype=None) -> Tensor"""

def triu(input: Operand, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """triu(Tensor self, int diagonal=0) -> Tensor"""

def triu_(input: Operand, diagonal: _int = 0) -> Tensor:
    """In-place form of `triu(Tensor self, int diagonal=0) -> Tensor`."""

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
    """triu_indices(int row, int col, int offset=0, *, Dtype? dtype=None) -> Tensor"""

def true_divide(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """true_divide(Tensor self, Tensor other) -> Tensor"""

def true_divide_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `true_divide(Tensor self, Tensor other) -> Tensor`."""

def trunc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """trunc(Tensor self) -> Tensor"""

def trunc_(input: Operand) -> Tensor:
    """In-place form of `trunc(Tensor self) -> Tensor`."""

def typename(obj: Any) -> _str:
    """Returns the name of the type of `obj`, with that of its module."""

def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
    """Returns the views at each index of a dim."""

def unbind_copy(input: Tensor, dim: _int = 0, *, out: Tensor | None = None) -> tuple[Tensor, ...]:
    """Returns a copy of what `unbind` shows."""

def unflatten(input: Tensor, dim: _int, sizes: Sequence[_int]) -> Tensor:
    """Returns one dim as several."""

def unfold_copy(input: Tensor, dimension: _int, size: _int, step: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `unfold` shows."""

def unique(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Any:
    """Returns the distinct elements, or slices along `dim`, in ascending order; with where and how often if asked."""

def unique_consecutive(
    input: Tensor,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Any:
    """Returns the elements, or slices along `dim`, that differ from those before; with where and how often if asked."""

def unravel_index(indices: Operand, shape: Ints, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """unravel_index(Tensor indices, Any shape) -> Tensor[]"""

def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0, *, out: Tensor | None = None) -> tuple[Tensor, ...]:
    """Returns a copy of what `unsafe_chunk` shows."""

def unsafe_split(
    input: Tensor,
    split_size_or_sections: Ints,
    dim: _int = 0,
    *,
    out: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Returns a copy of what `unsafe_split` shows."""

def unsafe_split_with_sizes(
    input: Tensor,
    split_sizes: Sequence[_int],
    dim: _int = 0,
    *,
    out: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Returns a copy of what `unsafe_split_with_sizes` shows."""

def unsqueeze(input: Tensor, dim: _int) -> Tensor:
    """Returns a new dim of size 1 at `dim`."""

def unsqueeze_copy(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `unsqueeze` shows."""

def vander(x: Operand, N: _int | None = None, increasing: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """vander(Tensor x, int? N=None, bool increasing=False) -> Tensor"""

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
    """var(Tensor self, int[]? dim=None, bool? unbiased=None, bool keepdim=False, *, Any correction=None) -> Tensor
    var_unbiased(Tensor self, bool unbiased) -> Tensor
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
    """var_mean(Tensor self, int[]? dim=None, bool? unbiased=None, bool keepdim=False, *, Any correction=None) -> (Tensor, Tensor)
    var_mean_unbiased(Tensor self, bool unbiased) -> (Tensor, Tensor)
    """
@overload
def var_mean(input: Operand, unbiased: _bool) -> tuple[Tensor, Tensor]: ...

def vdot(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """vdot(Tensor self, Tensor other) -> Tensor"""

def view_as_complex(input: Tensor) -> Tensor:
    """Returns pairs of floats, along the last dim, as complex numbers on the same memory."""

def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `view_as_complex` shows."""

def view_as_real(input: Tensor) -> Tensor:
    """Returns complex numbers as pairs of floats, in a new last dim on the same memory."""

def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `view_as_real` shows."""

def view_copy(input: Tensor, *size: Ints, dtype: DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
    """Returns a copy of what `view` shows."""

def vsplit(
    x: Tensor,
    indices_or_sections: Ints | Tensor | None = None,
    *,
    indices: Ints | Tensor | None = None,
    sections: _int | None = None,
) -> tuple[Tensor, ...]:
    """Returns views of equal pieces of a dim, or of the pieces between indices."""

def vstack(tensors: Sequence[TensorLike], *, out: Tensor | None = None) -> Tensor:
    """vstack(Tensor[] tensors) -> Tensor"""

def where(condition: Operand, input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """where(Tensor condition, Tensor self, Tensor other) -> Tensor"""

def xlogy(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """xlogy(Tensor self, Tensor other) -> Tensor"""

def xlogy_(input: Operand, other: Operand) -> Tensor:
    """In-place form of `xlogy(Tensor self, Tensor other) -> Tensor`."""

def zero_(input: Operand) -> Tensor:
    """In-place form of `zero(Tensor self) -> Tensor`."""

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
    """zeros(int[] size, *, Dtype? dtype=None) -> Tensor"""

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
    """zeros_like(Tensor self, *, Dtype? dtype=None) -> Tensor"""

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
