"""What is bound to `Tensor` from the op table, and the named tuples that ops return."""

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
from jaxaot.facade.generator import Generator
from jaxaot.facade.tensor import Tensor
from jaxaot.tape.hooks import RemovableHandle
from jaxaot.views.memory_format import MemoryFormat

class FrexpResult(NamedTuple):
    mantissa: Tensor
    exponent: Tensor

class AminmaxResult(NamedTuple):
    min: Tensor
    max: Tensor

class MaxDimResult(NamedTuple):
    values: Tensor
    indices: Tensor

class MinDimResult(NamedTuple):
    values: Tensor
    indices: Tensor

class CummaxResult(NamedTuple):
    values: Tensor
    indices: Tensor

class CumminResult(NamedTuple):
    values: Tensor
    indices: Tensor

class CholeskyExResult(NamedTuple):
    L: Tensor
    info: Tensor

class LuFactorResult(NamedTuple):
    LU: Tensor
    pivots: Tensor

class LuFactorExResult(NamedTuple):
    LU: Tensor
    pivots: Tensor
    info: Tensor

class LuUnpackResult(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor

class LinalgLuResult(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor

class LinalgQrResult(NamedTuple):
    Q: Tensor
    R: Tensor

class QrResult(NamedTuple):
    Q: Tensor
    R: Tensor

class GeqrfResult(NamedTuple):
    a: Tensor
    tau: Tensor

class EigResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class EighResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class LinalgSvdResult(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor

class SvdResult(NamedTuple):
    U: Tensor
    S: Tensor
    V: Tensor

class HistogramResult(NamedTuple):
    hist: Tensor
    bin_edges: Tensor

class LdlFactorResult(NamedTuple):
    LD: Tensor
    pivots: Tensor

class LdlFactorExResult(NamedTuple):
    LD: Tensor
    pivots: Tensor
    info: Tensor

class SortResult(NamedTuple):
    values: Tensor
    indices: Tensor

class TopkResult(NamedTuple):
    values: Tensor
    indices: Tensor

class KthvalueResult(NamedTuple):
    values: Tensor
    indices: Tensor

class MedianDimResult(NamedTuple):
    values: Tensor
    indices: Tensor

class NanmedianDimResult(NamedTuple):
    values: Tensor
    indices: Tensor

class ModeResult(NamedTuple):
    values: Tensor
    indices: Tensor

class SlogdetResult(NamedTuple):
    sign: Tensor
    logabsdet: Tensor

class SolveExResult(NamedTuple):
    result: Tensor
    info: Tensor

class InvExResult(NamedTuple):
    inverse: Tensor
    info: Tensor

class TriangularSolveResult(NamedTuple):
    solution: Tensor
    cloned_coefficient: Tensor

class LstsqResult(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor

class Bound:
    """The methods of `Tensor` that are bound from the op table."""

    @property
    def H(self) -> Tensor:
        """Returns the conjugate transpose of a matrix: `x.H`."""

    @property
    def T(self) -> Tensor: ...

    @property
    def data(self) -> Tensor:
        """Returns a tensor on the same memory through which no gradient flows."""
    @data.setter
    def data(self, value: TensorLike) -> None: ...

    @property
    def imag(self) -> Tensor:
        """Returns the imaginary parts, a view; of a conjugate a copy."""
    @imag.setter
    def imag(self, value: TensorLike) -> None: ...

    @property
    def is_cpu(self) -> _bool: ...

    @property
    def is_cuda(self) -> _bool: ...

    @property
    def is_meta(self) -> _bool: ...

    @property
    def is_nested(self) -> _bool: ...

    @property
    def is_quantized(self) -> _bool: ...

    @property
    def is_sparse(self) -> _bool: ...

    @property
    def mH(self) -> Tensor:
        """Returns the last two dims exchanged, complex numbers conjugated, a view: `x.mH`."""

    @property
    def mT(self) -> Tensor:
        """Returns the last two dims exchanged, a view: `x.mT`."""

    @property
    def real(self) -> Tensor:
        """Returns the real parts, a view; a tensor that is not complex as it is."""
    @real.setter
    def real(self, value: TensorLike) -> None: ...

    @property
    def retains_grad(self) -> _bool: ...

    def __abs__(self) -> Tensor: ...

    def __add__(self, other: Operand) -> Tensor: ...

    def __and__(self, other: Operand) -> Tensor: ...

    def __bool__(self) -> _bool: ...

    def __complex__(self) -> _complex: ...

    def __contains__(self, item: Any) -> _bool: ...

    def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]

    def __float__(self) -> _float: ...

    def __floordiv__(self, other: Operand) -> Tensor: ...

    def __format__(self, spec: _str) -> _str: ...

    def __ge__(self, other: Operand) -> Tensor: ...

    def __getitem__(self, index: Any) -> Tensor: ...

    def __gt__(self, other: Operand) -> Tensor: ...

    def __iadd__(self, other: Operand) -> Tensor: ...

    def __iand__(self, other: Operand) -> Tensor: ...

    def __ifloordiv__(self, other: Operand) -> Tensor: ...

    def __ilshift__(self, other: Operand) -> Tensor: ...

    def __imod__(self, other: Operand) -> Tensor: ...

    def __imul__(self, other: Operand) -> Tensor: ...

    def __index__(self) -> _int: ...

    def __int__(self) -> _int: ...

    def __invert__(self) -> Tensor: ...

    def __ior__(self, other: Operand) -> Tensor: ...

    def __ipow__(self, other: Operand) -> Tensor: ...

    def __irshift__(self, other: Operand) -> Tensor: ...

    def __isub__(self, other: Operand) -> Tensor: ...

    def __iter__(self) -> Iterator[Tensor]: ...

    def __itruediv__(self, other: Operand) -> Tensor: ...

    def __ixor__(self, other: Operand) -> Tensor: ...

    def __le__(self, other: Operand) -> Tensor: ...

    def __lshift__(self, other: Operand) -> Tensor: ...

    def __lt__(self, other: Operand) -> Tensor: ...

    def __matmul__(self, other: Operand) -> Tensor: ...

    def __mod__(self, other: Operand) -> Tensor: ...

    def __mul__(self, other: Operand) -> Tensor: ...

    def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]

    def __neg__(self) -> Tensor: ...

    def __or__(self, other: Operand) -> Tensor: ...

    def __pos__(self) -> Tensor: ...

    def __pow__(self, other: Operand) -> Tensor: ...

    def __radd__(self, other: Operand) -> Tensor: ...

    def __rand__(self, other: Operand) -> Tensor: ...

    def __rdiv__(self, other: Operand) -> Tensor: ...

    def __rfloordiv__(self, other: Operand) -> Tensor: ...

    def __rlshift__(self, other: Operand) -> Tensor: ...

    def __rmatmul__(self, other: Operand) -> Tensor: ...

    def __rmod__(self, other: Operand) -> Tensor: ...

    def __rmul__(self, other: Operand) -> Tensor: ...

    def __ror__(self, other: Operand) -> Tensor: ...

    def __rpow__(self, other: Operand) -> Tensor: ...

    def __rrshift__(self, other: Operand) -> Tensor: ...

    def __rshift__(self, other: Operand) -> Tensor: ...

    def __rsub__(self, other: Operand) -> Tensor: ...

    def __rtruediv__(self, other: Operand) -> Tensor: ...

    def __rxor__(self, other: Operand) -> Tensor: ...

    def __setitem__(self, index: Any, value: Any) -> None: ...

    def __sub__(self, other: Operand) -> Tensor: ...

    def __truediv__(self, other: Operand) -> Tensor: ...

    def __xor__(self, other: Operand) -> Tensor: ...

    def abs(self, *, out: Tensor | None = None) -> Tensor:
        """abs(Tensor self) -> Tensor"""

    def abs_(self) -> Tensor:
        """In-place form of `abs(Tensor self) -> Tensor`."""

    def absolute(self, *, out: Tensor | None = None) -> Tensor:
        """abs(Tensor self) -> Tensor"""

    def absolute_(self) -> Tensor:
        """In-place form of `abs(Tensor self) -> Tensor`."""

    def acos(self, *, out: Tensor | None = None) -> Tensor:
        """acos(Tensor self) -> Tensor"""

    def acos_(self) -> Tensor:
        """In-place form of `acos(Tensor self) -> Tensor`."""

    def acosh(self, *, out: Tensor | None = None) -> Tensor:
        """acosh(Tensor self) -> Tensor"""

    def acosh_(self) -> Tensor:
        """In-place form of `acosh(Tensor self) -> Tensor`."""

    def add(self, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
        """add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

    def add_(self, other: Operand, *, alpha: Operand = 1) -> Tensor:
        """In-place form of `add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`."""

    def addbmm(
        self,
        batch1: Operand,
        batch2: Operand,
        *,
        beta: Operand = 1,
        alpha: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

    def addbmm_(self, batch1: Operand, batch2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
        """In-place form of `addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor`."""

    def addcdiv(
        self,
        tensor1: Operand,
        tensor2: Operand,
        *,
        value: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor"""

    def addcdiv_(self, tensor1: Operand, tensor2: Operand, *, value: Operand = 1) -> Tensor:
        """In-place form of `addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor`."""

    def addcmul(
        self,
        tensor1: Operand,
        tensor2: Operand,
        *,
        value: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor"""

    def addcmul_(self, tensor1: Operand, tensor2: Operand, *, value: Operand = 1) -> Tensor:
        """In-place form of `addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor`."""

    def addmm(
        self,
        mat1: Operand,
        mat2: Operand,
        *,
        beta: Operand = 1,
        alpha: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

    def addmm_(self, mat1: Operand, mat2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
        """In-place form of `addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor`."""

    def addmv(
        self,
        mat: Operand,
        vec: Operand,
        *,
        beta: Operand = 1,
        alpha: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

    def addmv_(self, mat: Operand, vec: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
        """In-place form of `addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor`."""

    def addr(
        self,
        vec1: Operand,
        vec2: Operand,
        *,
        beta: Operand = 1,
        alpha: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

    def addr_(self, vec1: Operand, vec2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
        """In-place form of `addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor`."""

    def adjoint(self) -> Tensor:
        """Returns the last two dims exchanged, complex numbers conjugated, a view: `x.mH`."""

    def all(
        self,
        dim: Ints | None = None,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: Ints | None = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """all(Tensor self, Any dim=None, bool keepdim=False) -> Tensor"""

    def allclose(
        self,
        other: Tensor,
        rtol: _float = 1e-05,
        atol: _float = 1e-08,
        equal_nan: _bool = False,
    ) -> _bool:
        """Returns whether all elements are close."""

    def alpha_dropout_(self, p: _float = 0.5, training: _bool = False) -> Tensor:
        """In-place form of `alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor`."""

    def amax(
        self,
        dim: Ints = ...,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: Ints = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """amax(Tensor self, Any dim=(), bool keepdim=False) -> Tensor"""

    def amin(
        self,
        dim: Ints = ...,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: Ints = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """amin(Tensor self, Any dim=(), bool keepdim=False) -> Tensor"""

    def aminmax(
        self,
        *,
        dim: _int | None = None,
        keepdim: _bool = False,
        out: Sequence[Tensor] | None = None,
    ) -> AminmaxResult:
        """aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)"""

    def angle(self, *, out: Tensor | None = None) -> Tensor:
        """angle(Tensor self) -> Tensor"""

    def any(
        self,
        dim: Ints | None = None,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: Ints | None = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """any(Tensor self, Any dim=None, bool keepdim=False) -> Tensor"""

    def arccos(self, *, out: Tensor | None = None) -> Tensor:
        """acos(Tensor self) -> Tensor"""

    def arccos_(self) -> Tensor:
        """In-place form of `acos(Tensor self) -> Tensor`."""

    def arccosh(self, *, out: Tensor | None = None) -> Tensor:
        """acosh(Tensor self) -> Tensor"""

    def arccosh_(self) -> Tensor:
        """In-place form of `acosh(Tensor self) -> Tensor`."""

    def arcsin(self, *, out: Tensor | None = None) -> Tensor:
        """asin(Tensor self) -> Tensor"""

    def arcsin_(self) -> Tensor:
        """In-place form of `asin(Tensor self) -> Tensor`."""

    def arcsinh(self, *, out: Tensor | None = None) -> Tensor:
        """asinh(Tensor self) -> Tensor"""

    def arcsinh_(self) -> Tensor:
        """In-place form of `asinh(Tensor self) -> Tensor`."""

    def arctan(self, *, out: Tensor | None = None) -> Tensor:
        """atan(Tensor self) -> Tensor"""

    def arctan2(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """atan2(Tensor self, Tensor other) -> Tensor"""

    def arctan2_(self, other: Operand) -> Tensor:
        """In-place form of `atan2(Tensor self, Tensor other) -> Tensor`."""

    def arctan_(self) -> Tensor:
        """In-place form of `atan(Tensor self) -> Tensor`."""

    def arctanh(self, *, out: Tensor | None = None) -> Tensor:
        """atanh(Tensor self) -> Tensor"""

    def arctanh_(self) -> Tensor:
        """In-place form of `atanh(Tensor self) -> Tensor`."""

    def argmax(
        self,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: _int | None = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"""

    def argmin(
        self,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: _int | None = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"""

    def argsort(
        self,
        dim: _int = -1,
        descending: _bool = False,
        *,
        stable: _bool = False,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """argsort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False) -> Tensor"""

    def argwhere(self) -> Tensor:
        """Returns where elements are not zero: (n, dims)."""

    def as_strided(
        self,
        size: Sequence[_int],
        stride: Sequence[_int],
        storage_offset: _int | None = None,
    ) -> Tensor:
        """Returns any strided view of the storage."""

    def as_strided_(self, size: Ints, stride: Ints, storage_offset: _int | None = None) -> Tensor:
        """Shows another strided view of the storage, in place."""

    def as_strided_scatter(
        self,
        src: Tensor,
        size: Sequence[_int],
        stride: Sequence[_int],
        storage_offset: _int | None = None,
    ) -> Tensor:
        """Returns a copy of `input` in which the view `input.as_strided(size, stride, storage_offset)` holds `src`."""

    def asin(self, *, out: Tensor | None = None) -> Tensor:
        """asin(Tensor self) -> Tensor"""

    def asin_(self) -> Tensor:
        """In-place form of `asin(Tensor self) -> Tensor`."""

    def asinh(self, *, out: Tensor | None = None) -> Tensor:
        """asinh(Tensor self) -> Tensor"""

    def asinh_(self) -> Tensor:
        """In-place form of `asinh(Tensor self) -> Tensor`."""

    def atan(self, *, out: Tensor | None = None) -> Tensor:
        """atan(Tensor self) -> Tensor"""

    def atan2(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """atan2(Tensor self, Tensor other) -> Tensor"""

    def atan2_(self, other: Operand) -> Tensor:
        """In-place form of `atan2(Tensor self, Tensor other) -> Tensor`."""

    def atan_(self) -> Tensor:
        """In-place form of `atan(Tensor self) -> Tensor`."""

    def atanh(self, *, out: Tensor | None = None) -> Tensor:
        """atanh(Tensor self) -> Tensor"""

    def atanh_(self) -> Tensor:
        """In-place form of `atanh(Tensor self) -> Tensor`."""

    def backward(
        self,
        gradient: TensorLike | None = None,
        retain_graph: _bool | None = None,
        create_graph: _bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Adds the gradients of this tensor to the `.grad` of the leaves it depends on."""

    def baddbmm(
        self,
        batch1: Operand,
        batch2: Operand,
        *,
        beta: Operand = 1,
        alpha: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

    def baddbmm_(self, batch1: Operand, batch2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
        """In-place form of `baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor`."""

    def bernoulli(
        self,
        p: _float | _str | Tensor | None = None,
        *,
        generator: Generator | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """bernoulli(Tensor self, Any p=None, *, Generator? generator=None) -> Tensor"""

    @overload
    def bernoulli_(self, p: _float | _str | Tensor = 0.5, *, generator: Generator | None = None) -> Tensor:
        """bernoulli_fill(Tensor self, Any p=0.5, *, Generator? generator=None) -> Tensor
        bernoulli_fill_each(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor
        """
    @overload
    def bernoulli_(self, p: Operand, *, generator: Generator | None = None) -> Tensor: ...

    def bfloat16(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as bfloat16."""

    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """Returns how often each number from 0 on occurs, or the sums of the weights of its places."""

    def bitwise_and(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """bitwise_and(Tensor self, Tensor other) -> Tensor"""

    def bitwise_and_(self, other: Operand) -> Tensor:
        """In-place form of `bitwise_and(Tensor self, Tensor other) -> Tensor`."""

    def bitwise_left_shift(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """bitwise_left_shift(Tensor self, Tensor other) -> Tensor"""

    def bitwise_left_shift_(self, other: Operand) -> Tensor:
        """In-place form of `bitwise_left_shift(Tensor self, Tensor other) -> Tensor`."""

    def bitwise_not(self, *, out: Tensor | None = None) -> Tensor:
        """bitwise_not(Tensor self) -> Tensor"""

    def bitwise_not_(self) -> Tensor:
        """In-place form of `bitwise_not(Tensor self) -> Tensor`."""

    def bitwise_or(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """bitwise_or(Tensor self, Tensor other) -> Tensor"""

    def bitwise_or_(self, other: Operand) -> Tensor:
        """In-place form of `bitwise_or(Tensor self, Tensor other) -> Tensor`."""

    def bitwise_right_shift(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """bitwise_right_shift(Tensor self, Tensor other) -> Tensor"""

    def bitwise_right_shift_(self, other: Operand) -> Tensor:
        """In-place form of `bitwise_right_shift(Tensor self, Tensor other) -> Tensor`."""

    def bitwise_xor(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """bitwise_xor(Tensor self, Tensor other) -> Tensor"""

    def bitwise_xor_(self, other: Operand) -> Tensor:
        """In-place form of `bitwise_xor(Tensor self, Tensor other) -> Tensor`."""

    def bmm(self, mat2: Operand, *, out: Tensor | None = None) -> Tensor:
        """bmm(Tensor self, Tensor mat2) -> Tensor"""

    def bool(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as bool."""

    def broadcast_to(self, size: Sequence[_int]) -> Tensor:
        """Returns `input.expand(size)`."""

    def bucketize(
        self,
        boundaries: Operand,
        *,
        out_int32: _bool = False,
        right: _bool = False,
        out: Tensor | None = None,
    ) -> Tensor:
        """bucketize(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"""

    def byte(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as uint8."""

    def cauchy_(self, median: _float = 0, sigma: _float = 1, *, generator: Generator | None = None) -> Tensor:
        """In-place form of `cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor`."""

    def cdouble(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as complex128."""

    def ceil(self, *, out: Tensor | None = None) -> Tensor:
        """ceil(Tensor self) -> Tensor"""

    def ceil_(self) -> Tensor:
        """In-place form of `ceil(Tensor self) -> Tensor`."""

    def celu(self, alpha: _float = 1.0) -> Tensor:
        """celu(Tensor input, float alpha=1.0) -> Tensor"""

    def celu_(self, alpha: _float = 1.0) -> Tensor:
        """In-place form of `celu(Tensor input, float alpha=1.0) -> Tensor`."""

    def cfloat(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as complex64."""

    def chalf(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as complex64."""

    def char(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as int8."""

    def cholesky(self, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """cholesky(Tensor self, bool upper=False) -> Tensor"""

    def cholesky_inverse(self, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """cholesky_inverse(Tensor self, bool upper=False) -> Tensor"""

    def cholesky_solve(self, input2: Operand, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor"""

    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """Returns views of at most `chunks` equal pieces of a dim."""

    def clamp(self, min: Operand | None = None, max: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
        """clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"""

    def clamp_(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """In-place form of `clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor`."""

    def clamp_max(self, max: Operand, *, out: Tensor | None = None) -> Tensor:
        """clamp_max(Tensor self, Tensor max) -> Tensor"""

    def clamp_max_(self, max: Operand) -> Tensor:
        """In-place form of `clamp_max(Tensor self, Tensor max) -> Tensor`."""

    def clamp_min(self, min: Operand, *, out: Tensor | None = None) -> Tensor:
        """clamp_min(Tensor self, Tensor min) -> Tensor"""

    def clamp_min_(self, min: Operand) -> Tensor:
        """In-place form of `clamp_min(Tensor self, Tensor min) -> Tensor`."""

    def clip(self, min: Operand | None = None, max: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
        """clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"""

    def clip_(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """In-place form of `clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor`."""

    def clone(self, *, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns a copy with storage of its own, by default in the operand's order of dims."""

    def conj(self) -> Tensor:
        """Returns the conjugates of complex numbers, a view; a tensor that is not complex as it is."""

    def conj_physical(self, *, out: Tensor | None = None) -> Tensor:
        """conj_physical(Tensor self) -> Tensor"""

    def conj_physical_(self) -> Tensor:
        """In-place form of `conj_physical(Tensor self) -> Tensor`."""

    def constant_pad_nd(self, pad: Ints, value: Operand = 0, *, out: Tensor | None = None) -> Tensor:
        """constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor"""

    def contiguous(self, memory_format: MemoryFormat = ...) -> Tensor:
        """Returns the tensor if it lies in memory so, by default in row-major order, else a copy that does."""

    def copy_(self, src: Operand, non_blocking: _bool = False) -> Tensor:
        """In-place form of `copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor`."""

    def copysign(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """copysign(Tensor self, Tensor other) -> Tensor"""

    def copysign_(self, other: Operand) -> Tensor:
        """In-place form of `copysign(Tensor self, Tensor other) -> Tensor`."""

    def corrcoef(self, *, out: Tensor | None = None) -> Tensor:
        """corrcoef(Tensor self) -> Tensor"""

    def cos(self, *, out: Tensor | None = None) -> Tensor:
        """cos(Tensor self) -> Tensor"""

    def cos_(self) -> Tensor:
        """In-place form of `cos(Tensor self) -> Tensor`."""

    def cosh(self, *, out: Tensor | None = None) -> Tensor:
        """cosh(Tensor self) -> Tensor"""

    def cosh_(self) -> Tensor:
        """In-place form of `cosh(Tensor self) -> Tensor`."""

    def count_nonzero(
        self,
        dim: Ints | None = None,
        *,
        out: Tensor | None = None,
        axis: Ints | None = ...,
    ) -> Tensor:
        """count_nonzero(Tensor self, Any dim=None) -> Tensor"""

    def cov(
        self,
        *,
        correction: _int = 1,
        fweights: Operand | None = None,
        aweights: Operand | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor"""

    def cpu(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor on the CPU."""

    def cross(
        self,
        other: Operand,
        dim: _int | None = None,
        *,
        out: Tensor | None = None,
        axis: _int | None = ...,
    ) -> Tensor:
        """cross(Tensor self, Tensor other, int? dim=None) -> Tensor"""

    def cummax(self, dim: _int = ..., *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> CummaxResult:
        """cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)"""

    def cummin(self, dim: _int = ..., *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> CumminResult:
        """cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)"""

    def cumprod(
        self,
        dim: _int = ...,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """cumprod(Tensor self, int dim, *, Dtype? dtype=None) -> Tensor"""

    def cumprod_(self, dim: _int = ..., *, dtype: DTypeLike | None = None, axis: _int = ...) -> Tensor:
        """In-place form of `cumprod(Tensor self, int dim, *, Dtype? dtype=None) -> Tensor`."""

    def cumsum(
        self,
        dim: _int = ...,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """cumsum(Tensor self, int dim, *, Dtype? dtype=None) -> Tensor"""

    def cumsum_(self, dim: _int = ..., *, dtype: DTypeLike | None = None, axis: _int = ...) -> Tensor:
        """In-place form of `cumsum(Tensor self, int dim, *, Dtype? dtype=None) -> Tensor`."""

    def deg2rad(self, *, out: Tensor | None = None) -> Tensor:
        """deg2rad(Tensor self) -> Tensor"""

    def deg2rad_(self) -> Tensor:
        """In-place form of `deg2rad(Tensor self) -> Tensor`."""

    def det(self, *, out: Tensor | None = None) -> Tensor:
        """det(Tensor self) -> Tensor"""

    def detach(self) -> Tensor:
        """Returns a tensor on the same memory through which no gradient flows."""

    def detach_(self) -> Tensor:
        """Cuts this tensor off from its history, in place."""

    def diag(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """diag(Tensor self, int diagonal=0) -> Tensor"""

    def diag_embed(
        self,
        offset: _int = 0,
        dim1: _int = -2,
        dim2: _int = -1,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor"""

    def diagflat(self, offset: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """diagflat(Tensor self, int offset=0) -> Tensor"""

    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """Returns the diagonal of two dims as a new last dim."""

    def diagonal_scatter(
        self,
        src: Operand,
        offset: _int = 0,
        dim1: _int = 0,
        dim2: _int = 1,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor"""

    def diff(
        self,
        n: _int = 1,
        dim: _int = -1,
        prepend: Operand | None = None,
        append: Operand | None = None,
        *,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor"""

    def digamma(self, *, out: Tensor | None = None) -> Tensor:
        """digamma(Tensor self) -> Tensor"""

    def digamma_(self) -> Tensor:
        """In-place form of `digamma(Tensor self) -> Tensor`."""

    def dist(self, other: Operand, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
        """dist(Tensor self, Tensor other, float p=2) -> Tensor"""

    def div(self, other: Operand, *, rounding_mode: _str | None = None, out: Tensor | None = None) -> Tensor:
        """div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor"""

    def div_(self, other: Operand, *, rounding_mode: _str | None = None) -> Tensor:
        """In-place form of `div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor`."""

    def divide(self, other: Operand, *, rounding_mode: _str | None = None, out: Tensor | None = None) -> Tensor:
        """div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor"""

    def divide_(self, other: Operand, *, rounding_mode: _str | None = None) -> Tensor:
        """In-place form of `div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor`."""

    def dot(self, tensor: Operand, *, out: Tensor | None = None) -> Tensor:
        """dot(Tensor self, Tensor tensor) -> Tensor"""

    def double(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as float64."""

    def dropout1d_(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """In-place form of `dropout1d(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

    def dropout2d_(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """In-place form of `dropout2d(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

    def dropout3d_(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """In-place form of `dropout3d(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

    def dropout_(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """In-place form of `dropout(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

    def dsplit(
        self,
        indices_or_sections: Ints | Tensor | None = None,
        *,
        indices: Ints | Tensor | None = None,
        sections: _int | None = None,
    ) -> tuple[Tensor, ...]:
        """Returns views of equal pieces of a dim, or of the pieces between indices."""

    def elu_(self, alpha: _float = 1.0) -> Tensor:
        """In-place form of `elu(Tensor input, float alpha=1.0) -> Tensor`."""

    def eq(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """eq(Tensor self, Tensor other) -> Tensor"""

    def eq_(self, other: Operand) -> Tensor:
        """In-place form of `eq(Tensor self, Tensor other) -> Tensor`."""

    def equal(self, other: Tensor) -> _bool:
        """Returns whether two tensors have the same shape and elements."""

    def erf(self, *, out: Tensor | None = None) -> Tensor:
        """erf(Tensor self) -> Tensor"""

    def erf_(self) -> Tensor:
        """In-place form of `erf(Tensor self) -> Tensor`."""

    def erfc(self, *, out: Tensor | None = None) -> Tensor:
        """erfc(Tensor self) -> Tensor"""

    def erfc_(self) -> Tensor:
        """In-place form of `erfc(Tensor self) -> Tensor`."""

    def erfinv(self, *, out: Tensor | None = None) -> Tensor:
        """erfinv(Tensor self) -> Tensor"""

    def erfinv_(self) -> Tensor:
        """In-place form of `erfinv(Tensor self) -> Tensor`."""

    def exp(self, *, out: Tensor | None = None) -> Tensor:
        """exp(Tensor self) -> Tensor"""

    def exp2(self, *, out: Tensor | None = None) -> Tensor:
        """exp2(Tensor self) -> Tensor"""

    def exp2_(self) -> Tensor:
        """In-place form of `exp2(Tensor self) -> Tensor`."""

    def exp_(self) -> Tensor:
        """In-place form of `exp(Tensor self) -> Tensor`."""

    def expand(self, *size: Ints) -> Tensor:
        """Returns dims of size 1 repeated, without memory; -1 leaves a dim as it is."""

    def expand_as(self, other: Tensor) -> Tensor:
        """Returns `input.expand(other.size())`."""

    def expm1(self, *, out: Tensor | None = None) -> Tensor:
        """expm1(Tensor self) -> Tensor"""

    def expm1_(self) -> Tensor:
        """In-place form of `expm1(Tensor self) -> Tensor`."""

    def exponential_(self, lambd: _float = 1, *, generator: Generator | None = None) -> Tensor:
        """In-place form of `exponential(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor`."""

    def feature_alpha_dropout_(self, p: _float = 0.5, training: _bool = False) -> Tensor:
        """In-place form of `feature_alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor`."""

    def feature_dropout_(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """In-place form of `feature_dropout(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

    def fill_(self, value: Operand) -> Tensor:
        """In-place form of `fill(Tensor self, Tensor value) -> Tensor`."""

    def fill_diagonal_(self, fill_value: Operand, wrap: _bool = False) -> Tensor:
        """In-place form of `fill_diagonal(Tensor self, Scalar fill_value, bool wrap=False) -> Tensor`."""

    def fix(self, *, out: Tensor | None = None) -> Tensor:
        """trunc(Tensor self) -> Tensor"""

    def fix_(self) -> Tensor:
        """In-place form of `trunc(Tensor self) -> Tensor`."""

    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Returns the dims from `start_dim` to `end_dim` as one."""

    def flip(self, *dims: Ints) -> Tensor:
        """flip(Tensor self, int[] dims) -> Tensor"""

    def fliplr(self, *, out: Tensor | None = None) -> Tensor:
        """fliplr(Tensor self) -> Tensor"""

    def flipud(self, *, out: Tensor | None = None) -> Tensor:
        """flipud(Tensor self) -> Tensor"""

    def float(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as float32."""

    def float_power(self, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
        """float_power(Tensor self, Tensor exponent) -> Tensor"""

    def float_power_(self, exponent: Operand) -> Tensor:
        """In-place form of `float_power_write(Tensor self, Tensor exponent) -> Tensor`."""

    def floor(self, *, out: Tensor | None = None) -> Tensor:
        """floor(Tensor self) -> Tensor"""

    def floor_(self) -> Tensor:
        """In-place form of `floor(Tensor self) -> Tensor`."""

    def floor_divide(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """floor_divide(Tensor self, Tensor other) -> Tensor"""

    def floor_divide_(self, other: Operand) -> Tensor:
        """In-place form of `floor_divide(Tensor self, Tensor other) -> Tensor`."""

    def fmax(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """fmax(Tensor self, Tensor other) -> Tensor"""

    def fmin(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """fmin(Tensor self, Tensor other) -> Tensor"""

    def fmod(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """fmod(Tensor self, Tensor other) -> Tensor"""

    def fmod_(self, other: Operand) -> Tensor:
        """In-place form of `fmod(Tensor self, Tensor other) -> Tensor`."""

    def frac(self, *, out: Tensor | None = None) -> Tensor:
        """frac(Tensor self) -> Tensor"""

    def frac_(self) -> Tensor:
        """In-place form of `frac(Tensor self) -> Tensor`."""

    def frexp(self, *, out: Sequence[Tensor] | None = None) -> FrexpResult:
        """frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)"""

    def gather(self, dim: _int, index: Operand, *, sparse_grad: _bool = False, out: Tensor | None = None) -> Tensor:
        """gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor"""

    def gcd(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """gcd(Tensor self, Tensor other) -> Tensor"""

    def gcd_(self, other: Operand) -> Tensor:
        """In-place form of `gcd(Tensor self, Tensor other) -> Tensor`."""

    def ge(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """ge(Tensor self, Tensor other) -> Tensor"""

    def ge_(self, other: Operand) -> Tensor:
        """In-place form of `ge(Tensor self, Tensor other) -> Tensor`."""

    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Tensor:
        """In-place form of `geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor`."""

    def geqrf(self, *, out: Sequence[Tensor] | None = None) -> GeqrfResult:
        """geqrf(Tensor self) -> (Tensor a, Tensor tau)"""

    def ger(self, vec2: Operand, *, out: Tensor | None = None) -> Tensor:
        """outer(Tensor self, Tensor vec2) -> Tensor"""

    def get_device(self) -> _int:
        """Returns the number of the accelerator that holds the tensor, or -1 on the CPU."""

    def greater(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """gt(Tensor self, Tensor other) -> Tensor"""

    def greater_(self, other: Operand) -> Tensor:
        """In-place form of `gt(Tensor self, Tensor other) -> Tensor`."""

    def greater_equal(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """ge(Tensor self, Tensor other) -> Tensor"""

    def greater_equal_(self, other: Operand) -> Tensor:
        """In-place form of `ge(Tensor self, Tensor other) -> Tensor`."""

    def gt(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """gt(Tensor self, Tensor other) -> Tensor"""

    def gt_(self, other: Operand) -> Tensor:
        """In-place form of `gt(Tensor self, Tensor other) -> Tensor`."""

    def half(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as float16."""

    def hardshrink(self, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
        """hardshrink(Tensor input, float lambd=0.5) -> Tensor"""

    def hardtanh_(self, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor:
        """In-place form of `hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0) -> Tensor`."""

    def hash_tensor(
        self,
        dim: Ints = ...,
        *,
        keepdim: _bool = False,
        mode: _int = 0,
        out: Tensor | None = None,
        axis: Ints = ...,
    ) -> Tensor:
        """hash_tensor(Tensor self, Any dim=(), *, bool keepdim=False, int mode=0) -> Tensor"""

    def heaviside(self, values: Operand, *, out: Tensor | None = None) -> Tensor:
        """heaviside(Tensor self, Tensor values) -> Tensor"""

    def heaviside_(self, values: Operand) -> Tensor:
        """In-place form of `heaviside(Tensor self, Tensor values) -> Tensor`."""

    def histc(self, bins: _int = 100, min: _float = 0, max: _float = 0, *, out: Tensor | None = None) -> Tensor:
        """histc(Tensor self, int bins=100, Any min=0, Any max=0) -> Tensor"""

    @overload
    def histogram(
        self,
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
        self,
        bins: _int = 100,
        *,
        range: Floats | None = None,
        weight: Operand | None = None,
        density: _bool = False,
        out: Sequence[Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]: ...

    @overload
    def histogramdd(
        self,
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
        self,
        bins: Ints,
        *,
        range: Floats | None = None,
        weight: Operand | None = None,
        density: _bool = False,
        out: Sequence[Tensor] | None = None,
    ) -> tuple[Tensor, tuple[Tensor, ...]]: ...

    def hsplit(
        self,
        indices_or_sections: Ints | Tensor | None = None,
        *,
        indices: Ints | Tensor | None = None,
        sections: _int | None = None,
    ) -> tuple[Tensor, ...]:
        """Returns views of equal pieces of a dim, or of the pieces between indices."""

    def hypot(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """hypot(Tensor self, Tensor other) -> Tensor"""

    def hypot_(self, other: Operand) -> Tensor:
        """In-place form of `hypot(Tensor self, Tensor other) -> Tensor`."""

    def i0(self, *, out: Tensor | None = None) -> Tensor:
        """i0(Tensor self) -> Tensor"""

    def i0_(self) -> Tensor:
        """In-place form of `i0(Tensor self) -> Tensor`."""

    def igamma(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """igamma(Tensor self, Tensor other) -> Tensor"""

    def igamma_(self, other: Operand) -> Tensor:
        """In-place form of `igamma(Tensor self, Tensor other) -> Tensor`."""

    def igammac(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """igammac(Tensor self, Tensor other) -> Tensor"""

    def igammac_(self, other: Operand) -> Tensor:
        """In-place form of `igammac(Tensor self, Tensor other) -> Tensor`."""

    def index_add(
        self,
        dim: _int,
        index: Operand,
        source: Operand,
        *,
        alpha: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor"""

    def index_add_(self, dim: _int, index: Operand, source: Operand, *, alpha: Operand = 1) -> Tensor:
        """In-place form of `index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor`."""

    def index_copy(self, dim: _int, index: Operand, source: Operand, *, out: Tensor | None = None) -> Tensor:
        """index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor"""

    def index_copy_(self, dim: _int, index: Operand, source: Operand) -> Tensor:
        """In-place form of `index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor`."""

    def index_fill(self, dim: _int, index: Operand, value: Operand, *, out: Tensor | None = None) -> Tensor:
        """index_fill(Tensor self, int dim, Tensor index, Tensor value) -> Tensor"""

    def index_fill_(self, dim: _int, index: Operand, value: Operand) -> Tensor:
        """In-place form of `index_fill(Tensor self, int dim, Tensor index, Tensor value) -> Tensor`."""

    def index_put(
        self,
        indices: Sequence[TensorLike | None],
        values: Operand,
        accumulate: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor"""

    def index_put_(
        self,
        indices: Sequence[TensorLike | None],
        values: Operand,
        accumulate: _bool = False,
    ) -> Tensor:
        """In-place form of `index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor`."""

    def index_reduce(
        self,
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
        self,
        dim: _int,
        index: Operand,
        source: Operand,
        reduce: _str,
        *,
        include_self: _bool = True,
    ) -> Tensor:
        """In-place form of `index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor`."""

    def index_select(self, dim: _int, index: Operand, *, out: Tensor | None = None) -> Tensor:
        """index_select(Tensor self, int dim, Tensor index) -> Tensor"""

    def inner(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """inner(Tensor self, Tensor other) -> Tensor"""

    def int(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as int32."""

    def inverse(self, *, out: Tensor | None = None) -> Tensor:
        """inverse(Tensor self) -> Tensor"""

    def is_conj(self) -> _bool:
        """Returns whether the tensor shows the conjugates of what its memory holds."""

    def is_inference(self) -> _bool:
        """Returns whether the tensor was made in `inference_mode`, so that it cannot be saved for a backward."""

    def is_neg(self) -> _bool:
        """Returns False: negation is computed at once here, not kept as a mark on the tensor."""

    def is_nonzero(self) -> _bool:
        """Returns whether the only element is not zero."""

    def is_same_size(self, other: Tensor) -> _bool:
        """Returns whether two tensors have the same shape."""

    def is_set_to(self, tensor: Tensor) -> _bool:
        """Returns whether two tensors show the same elements of the same storage in the same way."""

    def is_signed(self) -> _bool:
        """Returns whether the elements can be negative."""

    def isclose(
        self,
        other: Operand,
        rtol: _float = 1e-05,
        atol: _float = 1e-08,
        equal_nan: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor"""

    def isfinite(self, *, out: Tensor | None = None) -> Tensor:
        """isfinite(Tensor self) -> Tensor"""

    def isinf(self, *, out: Tensor | None = None) -> Tensor:
        """isinf(Tensor self) -> Tensor"""

    def isnan(self, *, out: Tensor | None = None) -> Tensor:
        """isnan(Tensor self) -> Tensor"""

    def isneginf(self, *, out: Tensor | None = None) -> Tensor:
        """isneginf(Tensor self) -> Tensor"""

    def isposinf(self, *, out: Tensor | None = None) -> Tensor:
        """isposinf(Tensor self) -> Tensor"""

    def isreal(self, *, out: Tensor | None = None) -> Tensor:
        """isreal(Tensor self) -> Tensor"""

    def istft(
        self,
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
        """istft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor"""

    def kron(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """kron(Tensor self, Tensor other) -> Tensor"""

    def kthvalue(
        self,
        k: _int,
        dim: _int = -1,
        keepdim: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
        axis: _int = ...,
        keepdims: _bool = ...,
    ) -> KthvalueResult:
        """kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)"""

    def lcm(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """lcm(Tensor self, Tensor other) -> Tensor"""

    def lcm_(self, other: Operand) -> Tensor:
        """In-place form of `lcm(Tensor self, Tensor other) -> Tensor`."""

    def ldexp(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """ldexp(Tensor self, Tensor other) -> Tensor"""

    def ldexp_(self, other: Operand) -> Tensor:
        """In-place form of `ldexp(Tensor self, Tensor other) -> Tensor`."""

    def le(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """le(Tensor self, Tensor other) -> Tensor"""

    def le_(self, other: Operand) -> Tensor:
        """In-place form of `le(Tensor self, Tensor other) -> Tensor`."""

    def leaky_relu_(self, negative_slope: _float = 0.01) -> Tensor:
        """In-place form of `leaky_relu(Tensor input, float negative_slope=0.01) -> Tensor`."""

    def lerp(self, end: Operand, weight: Operand, *, out: Tensor | None = None) -> Tensor:
        """lerp(Tensor self, Tensor end, Tensor weight) -> Tensor"""

    def lerp_(self, end: Operand, weight: Operand) -> Tensor:
        """In-place form of `lerp(Tensor self, Tensor end, Tensor weight) -> Tensor`."""

    def less(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """lt(Tensor self, Tensor other) -> Tensor"""

    def less_(self, other: Operand) -> Tensor:
        """In-place form of `lt(Tensor self, Tensor other) -> Tensor`."""

    def less_equal(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """le(Tensor self, Tensor other) -> Tensor"""

    def less_equal_(self, other: Operand) -> Tensor:
        """In-place form of `le(Tensor self, Tensor other) -> Tensor`."""

    def lgamma(self, *, out: Tensor | None = None) -> Tensor:
        """lgamma(Tensor self) -> Tensor"""

    def lgamma_(self) -> Tensor:
        """In-place form of `lgamma(Tensor self) -> Tensor`."""

    def log(self, *, out: Tensor | None = None) -> Tensor:
        """log(Tensor self) -> Tensor"""

    def log10(self, *, out: Tensor | None = None) -> Tensor:
        """log10(Tensor self) -> Tensor"""

    def log10_(self) -> Tensor:
        """In-place form of `log10(Tensor self) -> Tensor`."""

    def log1p(self, *, out: Tensor | None = None) -> Tensor:
        """log1p(Tensor self) -> Tensor"""

    def log1p_(self) -> Tensor:
        """In-place form of `log1p(Tensor self) -> Tensor`."""

    def log2(self, *, out: Tensor | None = None) -> Tensor:
        """log2(Tensor self) -> Tensor"""

    def log2_(self) -> Tensor:
        """In-place form of `log2(Tensor self) -> Tensor`."""

    def log_(self) -> Tensor:
        """In-place form of `log(Tensor self) -> Tensor`."""

    def log_normal_(self, mean: _float = 1, std: _float = 2, *, generator: Generator | None = None) -> Tensor:
        """In-place form of `log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor`."""

    def log_softmax(
        self,
        dim: _int | None = None,
        dtype: DTypeLike | None = None,
        *,
        out: Tensor | None = None,
        axis: _int | None = ...,
    ) -> Tensor:
        """log_softmax(Tensor input, int? dim=None, Dtype? dtype=None) -> Tensor"""

    def logaddexp(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """logaddexp(Tensor self, Tensor other) -> Tensor"""

    def logaddexp2(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """logaddexp2(Tensor self, Tensor other) -> Tensor"""

    def logcumsumexp(self, dim: _int = ..., *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
        """logcumsumexp(Tensor self, int dim) -> Tensor"""

    def logdet(self, *, out: Tensor | None = None) -> Tensor:
        """logdet(Tensor self) -> Tensor"""

    def logical_and(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """logical_and(Tensor self, Tensor other) -> Tensor"""

    def logical_and_(self, other: Operand) -> Tensor:
        """In-place form of `logical_and(Tensor self, Tensor other) -> Tensor`."""

    def logical_not(self, *, out: Tensor | None = None) -> Tensor:
        """logical_not(Tensor self) -> Tensor"""

    def logical_not_(self) -> Tensor:
        """In-place form of `logical_not(Tensor self) -> Tensor`."""

    def logical_or(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """logical_or(Tensor self, Tensor other) -> Tensor"""

    def logical_or_(self, other: Operand) -> Tensor:
        """In-place form of `logical_or(Tensor self, Tensor other) -> Tensor`."""

    def logical_xor(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """logical_xor(Tensor self, Tensor other) -> Tensor"""

    def logical_xor_(self, other: Operand) -> Tensor:
        """In-place form of `logical_xor(Tensor self, Tensor other) -> Tensor`."""

    def logit(self, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
        """logit(Tensor self, float? eps=None) -> Tensor"""

    def logit_(self, eps: _float | None = None) -> Tensor:
        """In-place form of `logit(Tensor self, float? eps=None) -> Tensor`."""

    def logsumexp(
        self,
        dim: Ints = ...,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: Ints = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """logsumexp(Tensor self, Any dim, bool keepdim=False) -> Tensor"""

    def long(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as int64."""

    def lt(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """lt(Tensor self, Tensor other) -> Tensor"""

    def lt_(self, other: Operand) -> Tensor:
        """In-place form of `lt(Tensor self, Tensor other) -> Tensor`."""

    def lu(
        self,
        pivot: _bool = True,
        get_infos: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
    ) -> tuple[Tensor, ...]:
        """lu(Tensor self, bool pivot=True, bool get_infos=False) -> Tensor[]"""

    def lu_solve(self, LU_data: Operand, LU_pivots: Operand, *, out: Tensor | None = None) -> Tensor:
        """lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor"""

    def masked_fill(self, mask: Operand, value: Operand, *, out: Tensor | None = None) -> Tensor:
        """masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor"""

    def masked_fill_(self, mask: Operand, value: Operand) -> Tensor:
        """In-place form of `masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor`."""

    def masked_scatter(self, mask: Operand, source: Operand, *, out: Tensor | None = None) -> Tensor:
        """masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor"""

    def masked_scatter_(self, mask: Operand, source: Operand) -> Tensor:
        """In-place form of `masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor`."""

    def masked_select(self, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Returns the elements where a mask that broadcasts with them is true, as one dim."""

    def matmul(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """matmul(Tensor self, Tensor other) -> Tensor"""

    def matrix_exp(self, *, out: Tensor | None = None) -> Tensor:
        """matrix_exp(Tensor self) -> Tensor"""

    def matrix_power(self, n: _int, *, out: Tensor | None = None) -> Tensor:
        """matrix_power(Tensor self, int n) -> Tensor"""

    @overload
    def max(self, *, out: Tensor | None = None) -> Tensor:
        """max(Tensor self) -> Tensor
        max_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
        max_other(Tensor self, Tensor other) -> Tensor
        """
    @overload
    def max(
        self,
        dim: _int = ...,
        keepdim: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
        axis: _int = ...,
        keepdims: _bool = ...,
    ) -> MaxDimResult: ...
    @overload
    def max(self, other: Operand, *, out: Tensor | None = None) -> Tensor: ...

    def maximum(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """maximum(Tensor self, Tensor other) -> Tensor"""

    def mean(
        self,
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
    def median(self, *, out: Tensor | None = None) -> Tensor:
        """median(Tensor self) -> Tensor
        median_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
        """
    @overload
    def median(
        self,
        dim: _int = ...,
        keepdim: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
        axis: _int = ...,
        keepdims: _bool = ...,
    ) -> MedianDimResult: ...

    @overload
    def min(self, *, out: Tensor | None = None) -> Tensor:
        """min(Tensor self) -> Tensor
        min_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
        min_other(Tensor self, Tensor other) -> Tensor
        """
    @overload
    def min(
        self,
        dim: _int = ...,
        keepdim: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
        axis: _int = ...,
        keepdims: _bool = ...,
    ) -> MinDimResult: ...
    @overload
    def min(self, other: Operand, *, out: Tensor | None = None) -> Tensor: ...

    def minimum(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """minimum(Tensor self, Tensor other) -> Tensor"""

    def mm(self, mat2: Operand, *, out: Tensor | None = None) -> Tensor:
        """mm(Tensor self, Tensor mat2) -> Tensor"""

    def mode(
        self,
        dim: _int = -1,
        keepdim: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
        axis: _int = ...,
        keepdims: _bool = ...,
    ) -> ModeResult:
        """mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)"""

    def moveaxis(self, source: Ints, destination: Ints) -> Tensor:
        """Returns dims moved to other places; the others keep their order."""

    def movedim(self, source: Ints, destination: Ints) -> Tensor:
        """Returns dims moved to other places; the others keep their order."""

    def msort(self, *, out: Tensor | None = None) -> Tensor:
        """msort(Tensor self) -> Tensor"""

    def mul(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """mul(Tensor self, Tensor other) -> Tensor"""

    def mul_(self, other: Operand) -> Tensor:
        """In-place form of `mul(Tensor self, Tensor other) -> Tensor`."""

    def multinomial(
        self,
        num_samples: _int,
        replacement: _bool = False,
        *,
        generator: Generator | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor"""

    def multiply(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """mul(Tensor self, Tensor other) -> Tensor"""

    def multiply_(self, other: Operand) -> Tensor:
        """In-place form of `mul(Tensor self, Tensor other) -> Tensor`."""

    def mv(self, vec: Operand, *, out: Tensor | None = None) -> Tensor:
        """mv(Tensor self, Tensor vec) -> Tensor"""

    def mvlgamma(self, p: _int, *, out: Tensor | None = None) -> Tensor:
        """mvlgamma(Tensor self, int p) -> Tensor"""

    def mvlgamma_(self, p: _int) -> Tensor:
        """In-place form of `mvlgamma(Tensor self, int p) -> Tensor`."""

    def nan_to_num(
        self,
        nan: _float | None = None,
        posinf: _float | None = None,
        neginf: _float | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor"""

    def nan_to_num_(
        self,
        nan: _float | None = None,
        posinf: _float | None = None,
        neginf: _float | None = None,
    ) -> Tensor:
        """In-place form of `nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor`."""

    def nanmean(
        self,
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
    def nanmedian(self, *, out: Tensor | None = None) -> Tensor:
        """nanmedian(Tensor self) -> Tensor
        nanmedian_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
        """
    @overload
    def nanmedian(
        self,
        dim: _int = ...,
        keepdim: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
        axis: _int = ...,
        keepdims: _bool = ...,
    ) -> NanmedianDimResult: ...

    def nanquantile(
        self,
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
        self,
        dim: Ints | None = None,
        keepdim: _bool = False,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
        axis: Ints | None = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """nansum(Tensor self, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""

    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor:
        """Returns the view of `length` elements of a dim from `start` on."""

    def narrow_copy(self, dim: _int, start: _int, length: _int, *, out: Tensor | None = None) -> Tensor:
        """Returns a copy of what `narrow` shows."""

    def ne(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """ne(Tensor self, Tensor other) -> Tensor"""

    def ne_(self, other: Operand) -> Tensor:
        """In-place form of `ne(Tensor self, Tensor other) -> Tensor`."""

    def neg(self, *, out: Tensor | None = None) -> Tensor:
        """neg(Tensor self) -> Tensor"""

    def neg_(self) -> Tensor:
        """In-place form of `neg(Tensor self) -> Tensor`."""

    def negative(self, *, out: Tensor | None = None) -> Tensor:
        """neg(Tensor self) -> Tensor"""

    def negative_(self) -> Tensor:
        """In-place form of `neg(Tensor self) -> Tensor`."""

    def new_empty(
        self,
        *sizes: Ints,
        size: Ints | None = None,
        dtype: DTypeLike | None = None,
        device: Device | None = None,
        requires_grad: _bool = False,
        layout: Any = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """new_empty(Tensor self, int[] size, *, Dtype? dtype=None) -> Tensor"""

    def new_empty_strided(
        self,
        size: Sequence[_int],
        stride: Sequence[_int],
        dtype: DTypeLike | None = None,
        *,
        device: Device | None = None,
        requires_grad: _bool = False,
        layout: Any = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """Returns a tensor of any strides, by default of this one's dtype."""

    def new_full(
        self,
        size: Ints,
        fill_value: Operand,
        *,
        dtype: DTypeLike | None = None,
        device: Device | None = None,
        requires_grad: _bool = False,
        layout: Any = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """new_full(Tensor self, int[] size, Scalar fill_value, *, Dtype? dtype=None) -> Tensor"""

    def new_ones(
        self,
        *sizes: Ints,
        size: Ints | None = None,
        dtype: DTypeLike | None = None,
        device: Device | None = None,
        requires_grad: _bool = False,
        layout: Any = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """new_ones(Tensor self, int[] size, *, Dtype? dtype=None) -> Tensor"""

    def new_tensor(self, data: Any, dtype: DTypeLike | None = None, requires_grad: _bool = False) -> Tensor:
        """Returns a leaf with a copy of `data`, by default of this tensor's dtype."""

    def new_zeros(
        self,
        *sizes: Ints,
        size: Ints | None = None,
        dtype: DTypeLike | None = None,
        device: Device | None = None,
        requires_grad: _bool = False,
        layout: Any = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """new_zeros(Tensor self, int[] size, *, Dtype? dtype=None) -> Tensor"""

    def nextafter(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """nextafter(Tensor self, Tensor other) -> Tensor"""

    def nextafter_(self, other: Operand) -> Tensor:
        """In-place form of `nextafter(Tensor self, Tensor other) -> Tensor`."""

    def nonzero(self, *, out: Tensor | None = None, as_tuple: _bool = False) -> Any:
        """Returns where elements are not zero: (n, dims), or a tensor for each dim if `as_tuple`."""

    def nonzero_static(self, *, size: _int, fill_value: _int = -1, out: Tensor | None = None) -> Tensor:
        """nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor"""

    def norm(
        self,
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

    def normal_(self, mean: _float = 0, std: _float = 1, *, generator: Generator | None = None) -> Tensor:
        """In-place form of `normal_fill(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor`."""

    def not_equal(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """ne(Tensor self, Tensor other) -> Tensor"""

    def not_equal_(self, other: Operand) -> Tensor:
        """In-place form of `ne(Tensor self, Tensor other) -> Tensor`."""

    def orgqr(self, input2: Operand, *, out: Tensor | None = None) -> Tensor:
        """orgqr(Tensor self, Tensor input2) -> Tensor"""

    def ormqr(
        self,
        input2: Operand,
        input3: Operand,
        left: _bool = True,
        transpose: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor"""

    def outer(self, vec2: Operand, *, out: Tensor | None = None) -> Tensor:
        """outer(Tensor self, Tensor vec2) -> Tensor"""

    def permute(self, *dims: Ints) -> Tensor:
        """Returns the dims in another order."""

    def pinverse(self, rcond: _float = 1e-15, *, out: Tensor | None = None) -> Tensor:
        """pinverse(Tensor self, float rcond=1e-15) -> Tensor"""

    def polygamma(self, n: Any) -> Any: ...

    def polygamma_(self, n: _int) -> Tensor:
        """In-place form of `polygamma_write(Tensor self, int n) -> Tensor`."""

    def positive(self, *, out: Tensor | None = None) -> Tensor:
        """positive(Tensor self) -> Tensor"""

    def positive_(self) -> Tensor:
        """In-place form of `positive(Tensor self) -> Tensor`."""

    def pow(self, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
        """pow(Tensor self, Tensor exponent) -> Tensor"""

    def pow_(self, exponent: Operand) -> Tensor:
        """In-place form of `pow(Tensor self, Tensor exponent) -> Tensor`."""

    def prelu(self, weight: Operand) -> Tensor:
        """prelu(Tensor input, Tensor weight) -> Tensor"""

    def prod(
        self,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
        axis: _int | None = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """prod(Tensor self, int? dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""

    def put(
        self,
        index: Operand,
        source: Operand,
        accumulate: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor"""

    def put_(self, index: Operand, source: Operand, accumulate: _bool = False) -> Tensor:
        """In-place form of `put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor`."""

    def qr(self, some: _bool = True, *, out: Sequence[Tensor] | None = None) -> QrResult:
        """qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)"""

    def quantile(
        self,
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

    def rad2deg(self, *, out: Tensor | None = None) -> Tensor:
        """rad2deg(Tensor self) -> Tensor"""

    def rad2deg_(self) -> Tensor:
        """In-place form of `rad2deg(Tensor self) -> Tensor`."""

    def random_(
        self,
        low: _int | None = None,
        to: _int | None = None,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """In-place form of `random(Tensor self, Any low=None, Any to=None, *, Generator? generator=None) -> Tensor`."""

    def ravel(self) -> Tensor:
        """Returns the elements as one dim: a view of a contiguous tensor, else a copy."""

    def reciprocal(self, *, out: Tensor | None = None) -> Tensor:
        """reciprocal(Tensor self) -> Tensor"""

    def reciprocal_(self) -> Tensor:
        """In-place form of `reciprocal(Tensor self) -> Tensor`."""

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Calls `hook(gradient)` whenever a gradient of `tensor` is computed; what it returns replaces the gradient."""

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Calls `hook(tensor)` whenever the `.grad` of this leaf has been added to."""

    def relu(self) -> Tensor:
        """relu(Tensor input) -> Tensor"""

    def relu_(self) -> Tensor:
        """In-place form of `relu(Tensor input) -> Tensor`."""

    def remainder(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """remainder(Tensor self, Tensor other) -> Tensor"""

    def remainder_(self, other: Operand) -> Tensor:
        """In-place form of `remainder(Tensor self, Tensor other) -> Tensor`."""

    def renorm(self, p: _float, dim: _int, maxnorm: _float, *, out: Tensor | None = None) -> Tensor:
        """renorm(Tensor self, float p, int dim, float maxnorm) -> Tensor"""

    def renorm_(self, p: _float, dim: _int, maxnorm: _float) -> Tensor:
        """In-place form of `renorm(Tensor self, float p, int dim, float maxnorm) -> Tensor`."""

    def repeat(self, *sizes: Ints) -> Tensor:
        """Returns copies of the tensor laid side by side along each dim."""

    def repeat_interleave(
        self,
        repeats: Ints | Tensor | None = None,
        dim: _int | None = None,
        *,
        output_size: _int | None = None,
    ) -> Tensor:
        """Returns each element repeated, along `dim` if given: `repeats` times, or as often as its entry in `repeats` says."""

    def reshape(self, *shape: Ints) -> Tensor:
        """Returns the elements under another shape: a view where strides allow it, else a copy."""

    def reshape_as(self, other: Tensor) -> Tensor:
        """Returns `input.reshape(other.size())`."""

    def resize_(self, *size: Ints) -> Tensor:
        """Changes the shape in place, growing the storage where needed; what is new must be written before it is read."""

    def resize_as_(self, other: Tensor) -> Tensor:
        """Resizes to the shape of another tensor, in place."""

    def resolve_conj(self) -> Tensor:
        """Returns the tensor, or a copy with its values in memory if it shows conjugates."""

    def resolve_neg(self) -> Tensor:
        """Returns the tensor: negation is computed at once here, not kept as a mark on it."""

    def retain_grad(self) -> None:
        """Makes a tensor that is not a leaf keep its gradient in `.grad`, also after it was written in place."""

    def roll(self, shifts: Ints, dims: Ints = ..., *, out: Tensor | None = None) -> Tensor:
        """roll(Tensor self, int[] shifts, int[] dims=()) -> Tensor"""

    def rot90(self, k: _int = 1, dims: Ints = ..., *, out: Tensor | None = None) -> Tensor:
        """rot90(Tensor self, int k=1, int[] dims=(0, 1)) -> Tensor"""

    def round(self, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
        """round(Tensor self, *, int decimals=0) -> Tensor"""

    def round_(self, *, decimals: _int = 0) -> Tensor:
        """In-place form of `round(Tensor self, *, int decimals=0) -> Tensor`."""

    def rsqrt(self, *, out: Tensor | None = None) -> Tensor:
        """rsqrt(Tensor self) -> Tensor"""

    def rsqrt_(self) -> Tensor:
        """In-place form of `rsqrt(Tensor self) -> Tensor`."""

    def rsub(self, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
        """rsub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

    @overload
    def scatter(
        self,
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
        self,
        dim: _int,
        index: Operand,
        value: Operand,
        *,
        reduce: _str | None = None,
        out: Tensor | None = None,
    ) -> Tensor: ...

    @overload
    def scatter_(self, dim: _int, index: Operand, src: Operand, *, reduce: _str | None = None) -> Tensor:
        """scatter(Tensor self, int dim, Tensor index, Tensor src, *, str? reduce=None) -> Tensor
        scatter_value(Tensor self, int dim, Tensor index, Scalar value, *, str? reduce=None) -> Tensor
        """
    @overload
    def scatter_(self, dim: _int, index: Operand, value: Operand, *, reduce: _str | None = None) -> Tensor: ...

    def scatter_add(self, dim: _int, index: Operand, src: Operand, *, out: Tensor | None = None) -> Tensor:
        """scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor"""

    def scatter_add_(self, dim: _int, index: Operand, src: Operand) -> Tensor:
        """In-place form of `scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor`."""

    def scatter_reduce(
        self,
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
        self,
        dim: _int,
        index: Operand,
        src: Operand,
        reduce: _str,
        *,
        include_self: _bool = True,
    ) -> Tensor:
        """In-place form of `scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor`."""

    def select(self, dim: _int, index: _int) -> Tensor:
        """Returns the view at one index of a dim."""

    def select_scatter(self, src: Operand, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
        """select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor"""

    def selu(self) -> Tensor:
        """selu(Tensor input) -> Tensor"""

    def selu_(self) -> Tensor:
        """In-place form of `selu(Tensor input) -> Tensor`."""

    def set_(
        self,
        source: Ints | None = None,
        storage_offset: _int = 0,
        size: Ints | None = None,
        stride: Ints | None = None,
    ) -> Tensor:
        """Makes this tensor show another storage: that of a tensor, or a part of a storage."""

    def sgn(self, *, out: Tensor | None = None) -> Tensor:
        """sgn(Tensor self) -> Tensor"""

    def sgn_(self) -> Tensor:
        """In-place form of `sgn(Tensor self) -> Tensor`."""

    def short(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as int16."""

    def sigmoid(self, *, out: Tensor | None = None) -> Tensor:
        """sigmoid(Tensor self) -> Tensor"""

    def sigmoid_(self) -> Tensor:
        """In-place form of `sigmoid(Tensor self) -> Tensor`."""

    def sign(self, *, out: Tensor | None = None) -> Tensor:
        """sign(Tensor self) -> Tensor"""

    def sign_(self) -> Tensor:
        """In-place form of `sign(Tensor self) -> Tensor`."""

    def signbit(self, *, out: Tensor | None = None) -> Tensor:
        """signbit(Tensor self) -> Tensor"""

    def sin(self, *, out: Tensor | None = None) -> Tensor:
        """sin(Tensor self) -> Tensor"""

    def sin_(self) -> Tensor:
        """In-place form of `sin(Tensor self) -> Tensor`."""

    def sinc(self, *, out: Tensor | None = None) -> Tensor:
        """sinc(Tensor self) -> Tensor"""

    def sinc_(self) -> Tensor:
        """In-place form of `sinc(Tensor self) -> Tensor`."""

    def sinh(self, *, out: Tensor | None = None) -> Tensor:
        """sinh(Tensor self) -> Tensor"""

    def sinh_(self) -> Tensor:
        """In-place form of `sinh(Tensor self) -> Tensor`."""

    def slice_scatter(
        self,
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

    def slogdet(self, *, out: Sequence[Tensor] | None = None) -> SlogdetResult:
        """slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)"""

    def softmax(
        self,
        dim: _int | None = None,
        dtype: DTypeLike | None = None,
        *,
        out: Tensor | None = None,
        axis: _int | None = ...,
    ) -> Tensor:
        """softmax(Tensor input, int? dim=None, Dtype? dtype=None) -> Tensor"""

    def sort(
        self,
        dim: _int = -1,
        descending: _bool = False,
        *,
        stable: _bool = False,
        out: Sequence[Tensor] | None = None,
        axis: _int = ...,
    ) -> SortResult:
        """sort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False) -> (Tensor values, Tensor indices)"""

    def split(self, split_size_or_sections: Ints, dim: _int = 0) -> tuple[Tensor, ...]:
        """Returns views of equal pieces of a dim, the last one smaller, or of pieces of given sizes."""

    def split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Returns views of pieces of a dim of given sizes."""

    def sqrt(self, *, out: Tensor | None = None) -> Tensor:
        """sqrt(Tensor self) -> Tensor"""

    def sqrt_(self) -> Tensor:
        """In-place form of `sqrt(Tensor self) -> Tensor`."""

    def square(self, *, out: Tensor | None = None) -> Tensor:
        """square(Tensor self) -> Tensor"""

    def square_(self) -> Tensor:
        """In-place form of `square(Tensor self) -> Tensor`."""

    def squeeze(self, dim: Ints | None = None) -> Tensor:
        """Returns the tensor without its dims of size 1, or without those of `dim` that have size 1."""

    def squeeze_(self, dim: Ints | None = None) -> Tensor:
        """Does `squeeze` in place: changes what this tensor shows, and no values."""

    @overload
    def std(
        self,
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
    def std(self, unbiased: _bool, *, out: Tensor | None = None) -> Tensor: ...

    def stft(
        self,
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

    def sub(self, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
        """sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

    def sub_(self, other: Operand, *, alpha: Operand = 1) -> Tensor:
        """In-place form of `sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`."""

    def subtract(self, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
        """sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

    def subtract_(self, other: Operand, *, alpha: Operand = 1) -> Tensor:
        """In-place form of `sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`."""

    def sum(
        self,
        dim: Ints | None = None,
        keepdim: _bool = False,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
        axis: Ints | None = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """sum(Tensor self, Any dim=None, bool keepdim=False, *, Dtype? dtype=None) -> Tensor"""

    def sum_to_size(self, *dims: Ints) -> Tensor:
        """sum_to_size(Tensor self, int[] size) -> Tensor"""

    def svd(
        self,
        some: _bool = True,
        compute_uv: _bool = True,
        *,
        out: Sequence[Tensor] | None = None,
    ) -> SvdResult:
        """svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)"""

    def swapaxes(self, dim0: _int, dim1: _int) -> Tensor:
        """Returns two dims exchanged."""

    def swapaxes_(self, dim0: _int, dim1: _int) -> Tensor:
        """Does `swapaxes` in place: changes what this tensor shows, and no values."""

    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """Returns two dims exchanged."""

    def swapdims_(self, dim0: _int, dim1: _int) -> Tensor:
        """Does `swapdims` in place: changes what this tensor shows, and no values."""

    def t(self) -> Tensor:
        """Returns a matrix transposed; a tensor of fewer dims as it is."""

    def t_(self) -> Tensor:
        """Does `t` in place: changes what this tensor shows, and no values."""

    def take(self, index: Operand, *, out: Tensor | None = None) -> Tensor:
        """take(Tensor self, Tensor index) -> Tensor"""

    def take_along_dim(
        self,
        indices: Operand,
        dim: _int | None = None,
        *,
        out: Tensor | None = None,
        axis: _int | None = ...,
    ) -> Tensor:
        """take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor"""

    def tan(self, *, out: Tensor | None = None) -> Tensor:
        """tan(Tensor self) -> Tensor"""

    def tan_(self) -> Tensor:
        """In-place form of `tan(Tensor self) -> Tensor`."""

    def tanh(self, *, out: Tensor | None = None) -> Tensor:
        """tanh(Tensor self) -> Tensor"""

    def tanh_(self) -> Tensor:
        """In-place form of `tanh(Tensor self) -> Tensor`."""

    def tensor_split(
        self,
        indices_or_sections: Ints | Tensor | None = None,
        dim: _int = 0,
        *,
        indices: Ints | Tensor | None = None,
        sections: _int | None = None,
    ) -> tuple[Tensor, ...]:
        """Returns views of a given number of pieces of a dim, as equal as possible, or of the pieces between indices."""

    def threshold_(self, threshold: _float, value: _float) -> Tensor:
        """In-place form of `threshold(Tensor input, float threshold, float value) -> Tensor`."""

    def tile(self, *dims: Ints) -> Tensor:
        """tile(Tensor self, int[] dims) -> Tensor"""

    def to(
        self,
        *args: Any,
        dtype: DTypeLike | None = None,
        device: Device | None = None,
        non_blocking: _bool = False,
        copy: _bool = False,
        memory_format: MemoryFormat | None = None,
    ) -> Tensor:
        """Returns the tensor with another dtype, device or memory format: itself if nothing changes and `copy` is not set."""

    def topk(
        self,
        k: _int,
        dim: _int = -1,
        largest: _bool = True,
        sorted: _bool = True,
        *,
        out: Sequence[Tensor] | None = None,
        axis: _int = ...,
    ) -> TopkResult:
        """topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)"""

    def trace(self, *, out: Tensor | None = None) -> Tensor:
        """trace(Tensor self) -> Tensor"""

    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Returns two dims exchanged."""

    def transpose_(self, dim0: _int, dim1: _int) -> Tensor:
        """Does `transpose` in place: changes what this tensor shows, and no values."""

    def triangular_solve(
        self,
        A: Operand,
        upper: _bool = True,
        transpose: _bool = False,
        unitriangular: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
    ) -> TriangularSolveResult:
        """triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)"""

    def tril(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """tril(Tensor self, int diagonal=0) -> Tensor"""

    def tril_(self, diagonal: _int = 0) -> Tensor:
        """In-place form of `tril(Tensor self, int diagonal=0) -> Tensor`."""

    def triu(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """triu(Tensor self, int diagonal=0) -> Tensor"""

    def triu_(self, diagonal: _int = 0) -> Tensor:
        """In-place form of `triu(Tensor self, int diagonal=0) -> Tensor`."""

    def true_divide(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """true_divide(Tensor self, Tensor other) -> Tensor"""

    def true_divide_(self, other: Operand) -> Tensor:
        """In-place form of `true_divide(Tensor self, Tensor other) -> Tensor`."""

    def trunc(self, *, out: Tensor | None = None) -> Tensor:
        """trunc(Tensor self) -> Tensor"""

    def trunc_(self) -> Tensor:
        """In-place form of `trunc(Tensor self) -> Tensor`."""

    def type_as(self, other: Tensor) -> Tensor:
        """Returns the tensor with the dtype of another."""

    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """Returns the views at each index of a dim."""

    def unflatten(self, dim: _int, sizes: Sequence[_int]) -> Tensor:
        """Returns one dim as several."""

    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """Returns windows of `size` elements every `step` along a dim, as a new last dim."""

    def uniform_(self, low: _float = 0, to: _float = 1, *, generator: Generator | None = None) -> Tensor:
        """In-place form of `uniform(Tensor self, float low=0, float to=1, *, Generator? generator=None) -> Tensor`."""

    def unique(
        self,
        sorted: _bool = True,
        return_inverse: _bool = False,
        return_counts: _bool = False,
        dim: _int | None = None,
    ) -> Any:
        """Returns the distinct elements, or slices along `dim`, in ascending order; with where and how often if asked."""

    def unique_consecutive(
        self,
        return_inverse: _bool = False,
        return_counts: _bool = False,
        dim: _int | None = None,
    ) -> Any:
        """Returns the elements, or slices along `dim`, that differ from those before; with where and how often if asked."""

    def unsafe_chunk(self, chunks: _int, dim: _int = 0, *, out: Tensor | None = None) -> tuple[Tensor, ...]:
        """Returns a copy of what `unsafe_chunk` shows."""

    def unsafe_split(
        self,
        split_size_or_sections: Ints,
        dim: _int = 0,
        *,
        out: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Returns a copy of what `unsafe_split` shows."""

    def unsafe_split_with_sizes(
        self,
        split_sizes: Sequence[_int],
        dim: _int = 0,
        *,
        out: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Returns a copy of what `unsafe_split_with_sizes` shows."""

    def unsqueeze(self, dim: _int) -> Tensor:
        """Returns a new dim of size 1 at `dim`."""

    def unsqueeze_(self, dim: _int) -> Tensor:
        """Does `unsqueeze` in place: changes what this tensor shows, and no values."""

    @overload
    def var(
        self,
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
    def var(self, unbiased: _bool, *, out: Tensor | None = None) -> Tensor: ...

    def vdot(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """vdot(Tensor self, Tensor other) -> Tensor"""

    def view(self, *size: Ints, dtype: DTypeLike | None = None) -> Tensor:
        """Returns the same memory under another shape, or its bytes read as another dtype."""

    def view_as(self, other: Tensor) -> Tensor:
        """Returns `input.view(other.size())`."""

    def view_as_complex(self) -> Tensor:
        """Returns pairs of floats, along the last dim, as complex numbers on the same memory."""

    def view_as_real(self) -> Tensor:
        """Returns complex numbers as pairs of floats, in a new last dim on the same memory."""

    def vsplit(
        self,
        indices_or_sections: Ints | Tensor | None = None,
        *,
        indices: Ints | Tensor | None = None,
        sections: _int | None = None,
    ) -> tuple[Tensor, ...]:
        """Returns views of equal pieces of a dim, or of the pieces between indices."""

    def where(self, input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """where(Tensor condition, Tensor self, Tensor other) -> Tensor"""

    def xlogy(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """xlogy(Tensor self, Tensor other) -> Tensor"""

    def xlogy_(self, other: Operand) -> Tensor:
        """In-place form of `xlogy(Tensor self, Tensor other) -> Tensor`."""

    def zero_(self) -> Tensor:
        """In-place form of `zero(Tensor self) -> Tensor`."""
