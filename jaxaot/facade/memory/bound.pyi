"""What is bound to `Tensor` from the op table, and the named tuples that ops return."""

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
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.members.typed_storage import TypedStorage
from jaxaot.tape.hooks import RemovableHandle
from jaxaot.views.memory_format import MemoryFormat
from jaxaot.views.memory_format import MemoryLayout
from jax.sharding import Mesh
from jaxaot.facade.members.placements import Placement

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
    def _backward_hooks(self) -> Any:
        """Returns the hooks on the gradient of a tensor, by their numbers; None where there never was one."""
    @_backward_hooks.setter
    def _backward_hooks(self, value: Any) -> None: ...

    @property
    def _grad_fn(self) -> Any: ...

    @property
    def data(self) -> Tensor:
        """Returns a tensor on the same memory through which no gradient flows."""
    @data.setter
    def data(self, value: TensorLike) -> None: ...

    @property
    def device_mesh(self) -> Mesh:
        """The mesh of a distributed tensor."""

    @property
    def imag(self) -> Tensor:
        """Returns the imaginary parts, a view; of a conjugate one that shows the negatives of memory."""
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
    def layout(self) -> MemoryLayout:
        """How elements are found in memory: by strides, `ja.strided`."""

    @property
    def mH(self) -> Tensor:
        """Returns the last two dims exchanged, complex numbers conjugated, a view: `x.mH`."""

    @property
    def mT(self) -> Tensor:
        """Returns the last two dims exchanged, a view: `x.mT`."""

    @property
    def placements(self) -> tuple[Placement, ...]:
        """The placement of a distributed tensor along each axis of its mesh."""

    @property
    def real(self) -> Tensor:
        """Returns the real parts, a view; a tensor that is not complex as it is."""
    @real.setter
    def real(self, value: TensorLike) -> None: ...

    @property
    def retains_grad(self) -> _bool: ...

    @property
    def volatile(self) -> _bool:
        """Whether the tensor is what PyTorch had before `no_grad`: it never is."""

    def __abs__(self) -> Tensor: ...

    def __add__(self, other: Operand) -> Tensor: ...

    def __and__(self, other: Operand) -> Tensor: ...

    def __bool__(self) -> _bool: ...

    def __complex__(self) -> _complex: ...

    def __contains__(self, item: Any) -> _bool: ...

    def __copy__(self) -> Tensor: ...

    def __delitem__(self, index: object) -> None: ...

    def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]

    def __float__(self) -> _float: ...

    def __floordiv__(self, other: Operand) -> Tensor: ...

    def __format__(self, spec: _str) -> _str: ...

    def __ge__(self, other: Operand) -> Tensor: ...

    def __getattr__(self, other: Operand) -> Tensor: ...

    def __getitem__(self, index: object) -> Tensor: ...

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

    def __reversed__(self) -> Tensor: ...

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

    def __setitem__(self, index: object, value: Any) -> None: ...

    def __sub__(self, other: Operand) -> Tensor: ...

    def __truediv__(self, other: Operand) -> Tensor: ...

    def __xor__(self, other: Operand) -> Tensor: ...

    def _repr_html_(self) -> _str: ...

    def abs(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the absolute value of each element; of a complex one its magnitude, a real number."""

    def abs_(self) -> Tensor:
        """Writes to the tensor what `abs` returns: the absolute value of each element; of a complex one its magnitude, a real number."""

    def absolute(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the absolute value of each element; of a complex one its magnitude, a real number."""

    def absolute_(self) -> Tensor:
        """Writes to the tensor what `abs` returns: the absolute value of each element; of a complex one its magnitude, a real number."""

    def acos(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the angle in radians whose cosine is each element."""

    def acos_(self) -> Tensor:
        """Writes to the tensor what `acos` returns: the angle in radians whose cosine is each element."""

    def acosh(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the inverse hyperbolic cosine of each element."""

    def acosh_(self) -> Tensor:
        """Writes to the tensor what `acosh` returns: the inverse hyperbolic cosine of each element."""

    def add(self, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
        """Returns `input + alpha * other`, element by element."""

    def add_(self, other: Operand, *, alpha: Operand = 1) -> Tensor:
        """Writes to the tensor what `add` returns: `input + alpha * other`, element by element."""

    def addbmm(
        self,
        batch1: Operand,
        batch2: Operand,
        *,
        beta: Operand = 1,
        alpha: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns `beta * input` plus `alpha` times the sum of the products of the matrices of two batches."""

    def addbmm_(self, batch1: Operand, batch2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
        """Writes to the tensor what `addbmm` returns: `beta * input` plus `alpha` times the sum of the products of the matrices of two batches."""

    def addcdiv(
        self,
        tensor1: Operand,
        tensor2: Operand,
        *,
        value: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns `input + value * tensor1 / tensor2`, element by element."""

    def addcdiv_(self, tensor1: Operand, tensor2: Operand, *, value: Operand = 1) -> Tensor:
        """Writes to the tensor what `addcdiv` returns: `input + value * tensor1 / tensor2`, element by element."""

    def addcmul(
        self,
        tensor1: Operand,
        tensor2: Operand,
        *,
        value: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns `input + value * tensor1 * tensor2`, element by element."""

    def addcmul_(self, tensor1: Operand, tensor2: Operand, *, value: Operand = 1) -> Tensor:
        """Writes to the tensor what `addcmul` returns: `input + value * tensor1 * tensor2`, element by element."""

    def addmm(
        self,
        mat1: Operand,
        mat2: Operand,
        *,
        beta: Operand = 1,
        alpha: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns `beta * input + alpha * (mat1 @ mat2)`."""

    def addmm_(self, mat1: Operand, mat2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
        """Writes to the tensor what `addmm` returns: `beta * input + alpha * (mat1 @ mat2)`."""

    def addmv(
        self,
        mat: Operand,
        vec: Operand,
        *,
        beta: Operand = 1,
        alpha: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns `beta * input + alpha * (mat @ vec)`."""

    def addmv_(self, mat: Operand, vec: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
        """Writes to the tensor what `addmv` returns: `beta * input + alpha * (mat @ vec)`."""

    def addr(
        self,
        vec1: Operand,
        vec2: Operand,
        *,
        beta: Operand = 1,
        alpha: Operand = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns `beta * input + alpha * outer(vec1, vec2)`."""

    def addr_(self, vec1: Operand, vec2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
        """Writes to the tensor what `addr` returns: `beta * input + alpha * outer(vec1, vec2)`."""

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
        """Returns whether all elements are true, over all dims or those of `dim`."""

    def allclose(
        self,
        other: Tensor,
        rtol: _float = 1e-05,
        atol: _float = 1e-08,
        equal_nan: _bool = False,
    ) -> _bool:
        """Returns whether all elements are close."""

    def alpha_dropout_(self, p: _float = 0.5, training: _bool = False, *, train: _bool = ...) -> Tensor:
        """Writes to the tensor what `alpha_dropout` returns: the elements, in training some set so that mean and variance stay, as `selu` needs."""

    def amax(
        self,
        dim: Ints = ...,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: Ints = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """Returns the greatest element over `dim`; equal ones share the gradient."""

    def amin(
        self,
        dim: Ints = ...,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: Ints = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """Returns the least element over `dim`; equal ones share the gradient."""

    def aminmax(
        self,
        *,
        dim: _int | None = None,
        keepdim: _bool = False,
        out: Sequence[Tensor] | None = None,
        axis: _int | None = ...,
        keepdims: _bool = ...,
    ) -> AminmaxResult:
        """Returns the least and the greatest element, over all dims or along `dim`."""

    def angle(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the angle of each complex element in radians; of a real one 0 or π."""

    def any(
        self,
        dim: Ints | None = None,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: Ints | None = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """Returns whether an element is true, over all dims or those of `dim`."""

    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replaces each element by what a function of Python makes of it: slowly, one after the other."""

    def arccos(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the angle in radians whose cosine is each element."""

    def arccos_(self) -> Tensor:
        """Writes to the tensor what `acos` returns: the angle in radians whose cosine is each element."""

    def arccosh(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the inverse hyperbolic cosine of each element."""

    def arccosh_(self) -> Tensor:
        """Writes to the tensor what `acosh` returns: the inverse hyperbolic cosine of each element."""

    def arcsin(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the angle in radians whose sine is each element."""

    def arcsin_(self) -> Tensor:
        """Writes to the tensor what `asin` returns: the angle in radians whose sine is each element."""

    def arcsinh(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the inverse hyperbolic sine of each element."""

    def arcsinh_(self) -> Tensor:
        """Writes to the tensor what `asinh` returns: the inverse hyperbolic sine of each element."""

    def arctan(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the angle in radians whose tangent is each element."""

    def arctan2(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the angle in radians of the point (`other`, `input`), in all four quadrants."""

    def arctan2_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `atan2` returns: the angle in radians of the point (`other`, `input`), in all four quadrants."""

    def arctan_(self) -> Tensor:
        """Writes to the tensor what `atan` returns: the angle in radians whose tangent is each element."""

    def arctanh(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the inverse hyperbolic tangent of each element."""

    def arctanh_(self) -> Tensor:
        """Writes to the tensor what `atanh` returns: the inverse hyperbolic tangent of each element."""

    def argmax(
        self,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: _int | None = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """Returns the index of the greatest element, of all in order or along `dim`."""

    def argmin(
        self,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: _int | None = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """Returns the index of the least element, of all in order or along `dim`."""

    def argsort(
        self,
        dim: _int = -1,
        descending: _bool = False,
        *,
        stable: _bool = False,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns the indices that put the elements in order along `dim`."""

    def argwhere(self) -> Tensor:
        """Returns where elements are not zero: (n, dims)."""

    def as_strided(
        self,
        size: Sequence[_int],
        stride: Sequence[_int],
        storage_offset: _int | None = None,
    ) -> Tensor:
        """Returns any strided view of the storage."""

    def as_strided_(
        self,
        size: Sequence[_int] = ...,
        stride: Sequence[_int] = ...,
        storage_offset: _int | None = None,
        *,
        input: Tensor = ...,
    ) -> Tensor:
        """Shows another strided view of the storage, in place."""

    def as_strided_scatter(
        self,
        src: Tensor,
        size: Sequence[_int],
        stride: Sequence[_int],
        storage_offset: _int | None = None,
    ) -> Tensor:
        """Returns a copy of `input` in which the view `input.as_strided(size, stride, storage_offset)` holds `src`."""

    def as_subclass(self, cls: type) -> Any:
        """Returns this tensor as one of a subclass: the same memory, and the same gradient."""

    def asin(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the angle in radians whose sine is each element."""

    def asin_(self) -> Tensor:
        """Writes to the tensor what `asin` returns: the angle in radians whose sine is each element."""

    def asinh(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the inverse hyperbolic sine of each element."""

    def asinh_(self) -> Tensor:
        """Writes to the tensor what `asinh` returns: the inverse hyperbolic sine of each element."""

    def atan(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the angle in radians whose tangent is each element."""

    def atan2(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the angle in radians of the point (`other`, `input`), in all four quadrants."""

    def atan2_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `atan2` returns: the angle in radians of the point (`other`, `input`), in all four quadrants."""

    def atan_(self) -> Tensor:
        """Writes to the tensor what `atan` returns: the angle in radians whose tangent is each element."""

    def atanh(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the inverse hyperbolic tangent of each element."""

    def atanh_(self) -> Tensor:
        """Writes to the tensor what `atanh` returns: the inverse hyperbolic tangent of each element."""

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
        """Returns `beta * input + alpha * (batch1 @ batch2)`, for each matrix of the batches."""

    def baddbmm_(self, batch1: Operand, batch2: Operand, *, beta: Operand = 1, alpha: Operand = 1) -> Tensor:
        """Writes to the tensor what `baddbmm` returns: `beta * input + alpha * (batch1 @ batch2)`, for each matrix of the batches."""

    def bernoulli(
        self,
        p: _float | _str | Tensor | None = None,
        *,
        generator: Generator | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns random zeros and ones, a one with the probability that the element, or `p`, says."""

    @overload
    def bernoulli_(self, p: _float | _str | Tensor = 0.5, *, generator: Generator | None = None) -> Tensor:
        """Fills the tensor with random zeros and ones, a one with the probability `p`."""
    @overload
    def bernoulli_(self, p: Operand, *, generator: Generator | None = None) -> Tensor: ...

    def bfloat16(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as bfloat16."""

    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """Returns how often each number from 0 on occurs, or the sums of the weights of its places."""

    def bitwise_and(self, other: Operand = ..., *, out: Tensor | None = None) -> Tensor:
        """Returns the bits that `input` and `other` have in common; of bools the logical and."""

    def bitwise_and_(self, other: Operand = ...) -> Tensor:
        """Writes to the tensor what `bitwise_and` returns: the bits that `input` and `other` have in common; of bools the logical and."""

    def bitwise_left_shift(self, other: Operand = ..., *, out: Tensor | None = None) -> Tensor:
        """Returns the bits of `input` moved left by `other` places."""

    def bitwise_left_shift_(self, other: Operand = ...) -> Tensor:
        """Writes to the tensor what `bitwise_left_shift` returns: the bits of `input` moved left by `other` places."""

    def bitwise_not(self, *, out: Tensor | None = None) -> Tensor:
        """Returns each element with all its bits flipped; of bools the logical not."""

    def bitwise_not_(self) -> Tensor:
        """Writes to the tensor what `bitwise_not` returns: each element with all its bits flipped; of bools the logical not."""

    def bitwise_or(self, other: Operand = ..., *, out: Tensor | None = None) -> Tensor:
        """Returns the bits that `input` or `other` has; of bools the logical or."""

    def bitwise_or_(self, other: Operand = ...) -> Tensor:
        """Writes to the tensor what `bitwise_or` returns: the bits that `input` or `other` has; of bools the logical or."""

    def bitwise_right_shift(self, other: Operand = ..., *, out: Tensor | None = None) -> Tensor:
        """Returns the bits of `input` moved right by `other` places, copies of the sign following."""

    def bitwise_right_shift_(self, other: Operand = ...) -> Tensor:
        """Writes to the tensor what `bitwise_right_shift` returns: the bits of `input` moved right by `other` places, copies of the sign following."""

    def bitwise_xor(self, other: Operand = ..., *, out: Tensor | None = None) -> Tensor:
        """Returns the bits in which `input` and `other` differ; of bools the exclusive or."""

    def bitwise_xor_(self, other: Operand = ...) -> Tensor:
        """Writes to the tensor what `bitwise_xor` returns: the bits in which `input` and `other` differ; of bools the exclusive or."""

    def bmm(self, mat2: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the products of the matrices of two batches, pair by pair."""

    def bool(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as bool."""

    def broadcast_to(self, size: Sequence[_int]) -> Tensor:
        """Returns `input.expand(size)`."""

    def bucketize(
        self,
        boundaries: Operand = ...,
        *,
        out_int32: _bool = False,
        right: _bool = False,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns the index of the bucket between `boundaries` into which each element falls."""

    def byte(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as uint8."""

    def cauchy_(self, median: _float = 0, sigma: _float = 1, *, generator: Generator | None = None) -> Tensor:
        """Fills the tensor with random numbers of a Cauchy distribution."""

    def cdouble(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as complex128."""

    def ceil(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the smallest integer that is not less than each element."""

    def ceil_(self) -> Tensor:
        """Writes to the tensor what `ceil` returns: the smallest integer that is not less than each element."""

    def celu(self, alpha: _float = 1.0) -> Tensor:
        """Returns the elements, negative ones replaced by `alpha * (exp(x / alpha) - 1)`."""

    def celu_(self, alpha: _float = 1.0) -> Tensor:
        """Writes to the tensor what `celu` returns: the elements, negative ones replaced by `alpha * (exp(x / alpha) - 1)`."""

    def cfloat(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as complex64."""

    def chalf(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as complex64."""

    def char(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as int8."""

    def cholesky(self, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """Returns the Cholesky factor of a positive definite matrix (`ja.linalg.cholesky`)."""

    def cholesky_inverse(self, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """Returns the inverse of a matrix by its Cholesky factor."""

    def cholesky_solve(self, input2: Operand, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """Returns the solution of a system by the Cholesky factor of its matrix."""

    def chunk(self, chunks: _int, dim: _int = 0, *, axis: _int = ...) -> tuple[Tensor, ...]:
        """Returns views of at most `chunks` equal pieces of a dim."""

    def clamp(self, min: Operand | None = None, max: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
        """Returns the elements, those below `min` raised to it and those above `max` lowered to it."""

    def clamp_(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """Writes to the tensor what `clamp` returns: the elements, those below `min` raised to it and those above `max` lowered to it."""

    def clamp_max(self, max: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the elements, those above `max` lowered to it."""

    def clamp_max_(self, max: Operand) -> Tensor:
        """Writes to the tensor what `clamp_max` returns: the elements, those above `max` lowered to it."""

    def clamp_min(self, min: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the elements, those below `min` raised to it."""

    def clamp_min_(self, min: Operand) -> Tensor:
        """Writes to the tensor what `clamp_min` returns: the elements, those below `min` raised to it."""

    def clip(self, min: Operand | None = None, max: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
        """Returns the elements, those below `min` raised to it and those above `max` lowered to it."""

    def clip_(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """Writes to the tensor what `clamp` returns: the elements, those below `min` raised to it and those above `max` lowered to it."""

    def clone(self, *, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns a copy with storage of its own, by default in the operand's order of dims."""

    def conj(self) -> Tensor:
        """Returns the conjugates of complex numbers, a view; a tensor that is not complex as it is."""

    def conj_physical(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the complex conjugate of each element, computed at once rather than shown as a view."""

    def conj_physical_(self) -> Tensor:
        """Writes to the tensor what `conj_physical` returns: the complex conjugate of each element, computed at once rather than shown as a view."""

    def constant_pad_nd(self, pad: Ints, value: Operand = 0, *, out: Tensor | None = None) -> Tensor:
        """Returns the tensor with `value` added at both ends of its last dims: `nn.functional.pad`."""

    def contiguous(self, memory_format: MemoryFormat = ...) -> Tensor:
        """Returns the tensor if it lies in memory so, by default in row-major order, else a copy that does."""

    def copy_(self, other: Operand, non_blocking: _bool = False) -> Tensor:
        """Copies the values of `src`, converted and broadcast, into the tensor."""

    def copysign(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the magnitude of `input` with the sign of `other`, element by element."""

    def copysign_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `copysign` returns: the magnitude of `input` with the sign of `other`, element by element."""

    def corrcoef(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the matrix of the correlation coefficients of variables, one a row."""

    def cos(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the cosine of each element, in radians."""

    def cos_(self) -> Tensor:
        """Writes to the tensor what `cos` returns: the cosine of each element, in radians."""

    def cosh(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the hyperbolic cosine of each element."""

    def cosh_(self) -> Tensor:
        """Writes to the tensor what `cosh` returns: the hyperbolic cosine of each element."""

    def count_nonzero(
        self,
        dim: Ints | None = None,
        *,
        out: Tensor | None = None,
        axis: Ints | None = ...,
    ) -> Tensor:
        """Returns how many elements are not zero, over all dims or those of `dim`."""

    def cov(
        self,
        *,
        correction: _int = 1,
        fweights: Operand | None = None,
        aweights: Operand | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns the covariance matrix of variables, one a row."""

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
        """Returns the cross products of vectors of three elements, by default along the first dim of size 3."""

    def cummax(self, dim: _int = ..., *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> CummaxResult:
        """Returns the greatest element up to each one along `dim`, and where it lies."""

    def cummin(self, dim: _int = ..., *, out: Sequence[Tensor] | None = None, axis: _int = ...) -> CumminResult:
        """Returns the least element up to each one along `dim`, and where it lies."""

    def cumprod(
        self,
        dim: _int = ...,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns the products of the elements up to each one, along `dim`."""

    def cumprod_(self, dim: _int = ..., *, dtype: DTypeLike | None = None, axis: _int = ...) -> Tensor:
        """Writes to the tensor what `cumprod` returns: the products of the elements up to each one, along `dim`."""

    def cumsum(
        self,
        dim: _int = ...,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns the sums of the elements up to each one, along `dim`."""

    def cumsum_(self, dim: _int = ..., *, dtype: DTypeLike | None = None, axis: _int = ...) -> Tensor:
        """Writes to the tensor what `cumsum` returns: the sums of the elements up to each one, along `dim`."""

    def deg2rad(self, *, out: Tensor | None = None) -> Tensor:
        """Returns each angle in degrees as radians."""

    def deg2rad_(self) -> Tensor:
        """Writes to the tensor what `deg2rad` returns: each angle in degrees as radians."""

    def det(self, *, out: Tensor | None = None, A: Operand = ...) -> Tensor:
        """Returns the determinant of a square matrix."""

    def detach(self) -> Tensor:
        """Returns a tensor on the same memory through which no gradient flows."""

    def detach_(self, *, input: Tensor = ...) -> Tensor:
        """Cuts this tensor off from its history, in place."""

    def diag(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """Returns the diagonal of a matrix as a copy, or a matrix with a vector on its diagonal."""

    def diag_embed(
        self,
        offset: _int = 0,
        dim1: _int = -2,
        dim2: _int = -1,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns matrices with the vectors of the last dim on their diagonals."""

    def diagflat(self, offset: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """Returns a matrix with all elements, as one long vector, on its diagonal."""

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
        """Returns a copy of `input` in which the diagonal of two dims holds `src`."""

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
        """Returns the differences of neighbours along `dim`, taken `n` times."""

    def digamma(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the derivative of the logarithm of the gamma function of each element."""

    def digamma_(self) -> Tensor:
        """Writes to the tensor what `digamma` returns: the derivative of the logarithm of the gamma function of each element."""

    def dist(self, other: Operand, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
        """Returns the `p`-norm of `input - other`."""

    def div(self, other: Operand, *, rounding_mode: _str | None = None, out: Tensor | None = None) -> Tensor:
        """Returns `input / other`, element by element; rounded to integers if `rounding_mode` says so."""

    def div_(self, other: Operand, *, rounding_mode: _str | None = None) -> Tensor:
        """Writes to the tensor what `div` returns: `input / other`, element by element; rounded to integers if `rounding_mode` says so."""

    def divide(self, other: Operand, *, rounding_mode: _str | None = None, out: Tensor | None = None) -> Tensor:
        """Returns `input / other`, element by element; rounded to integers if `rounding_mode` says so."""

    def divide_(self, other: Operand, *, rounding_mode: _str | None = None) -> Tensor:
        """Writes to the tensor what `div` returns: `input / other`, element by element; rounded to integers if `rounding_mode` says so."""

    def dot(self, tensor: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the sum of the products of the elements of two vectors."""

    def double(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as float64."""

    def dropout1d_(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """Writes to the tensor what `dropout1d` returns: signals, in training each channel replaced by zeros with probability `p`."""

    def dropout2d_(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """Writes to the tensor what `dropout2d` returns: images, in training each channel replaced by zeros with probability `p`."""

    def dropout3d_(self, p: _float = 0.5, training: _bool = True) -> Tensor:
        """Writes to the tensor what `dropout3d` returns: volumes, in training each channel replaced by zeros with probability `p`."""

    def dropout_(self, p: _float = 0.5, training: _bool = True, *, train: _bool = ...) -> Tensor:
        """Writes to the tensor what `dropout` returns: the elements, in training each replaced by zero with probability `p`, the others scaled up."""

    def dsplit(
        self,
        indices_or_sections: Ints | Tensor | None = None,
        *,
        indices: Ints | Tensor | None = None,
        sections: _int | None = None,
    ) -> tuple[Tensor, ...]:
        """Returns views of equal pieces of a dim, or of the pieces between indices."""

    def elu_(self, alpha: _float = 1.0) -> Tensor:
        """Writes to the tensor what `elu` returns: the elements, negative ones replaced by `alpha * (exp(x) - 1)`."""

    def eq(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether `input` equals `other`, element by element."""

    def eq_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `eq` returns: whether `input` equals `other`, element by element."""

    def equal(self, other: Tensor) -> _bool:
        """Returns whether two tensors have the same shape and elements."""

    def erf(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the error function of each element."""

    def erf_(self) -> Tensor:
        """Writes to the tensor what `erf` returns: the error function of each element."""

    def erfc(self, *, out: Tensor | None = None) -> Tensor:
        """Returns one minus the error function of each element."""

    def erfc_(self) -> Tensor:
        """Writes to the tensor what `erfc` returns: one minus the error function of each element."""

    def erfinv(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the inverse of the error function of each element."""

    def erfinv_(self) -> Tensor:
        """Writes to the tensor what `erfinv` returns: the inverse of the error function of each element."""

    def exp(self, *, out: Tensor | None = None) -> Tensor:
        """Returns e to the power of each element."""

    def exp2(self, *, out: Tensor | None = None) -> Tensor:
        """Returns 2 to the power of each element."""

    def exp2_(self) -> Tensor:
        """Writes to the tensor what `exp2` returns: 2 to the power of each element."""

    def exp_(self) -> Tensor:
        """Writes to the tensor what `exp` returns: e to the power of each element."""

    def expand(self, *sizes: Ints, size: Ints | None = None, implicit: _bool = False) -> Tensor:
        """Returns dims of size 1 repeated, without memory; -1 leaves a dim as it is."""

    def expand_as(self, other: Tensor) -> Tensor:
        """Returns `input.expand(other.size())`."""

    def expm1(self, *, out: Tensor | None = None) -> Tensor:
        """Returns e to the power of each element, minus one, exact for small elements."""

    def expm1_(self) -> Tensor:
        """Writes to the tensor what `expm1` returns: e to the power of each element, minus one, exact for small elements."""

    def exponential_(self, lambd: _float = 1, *, generator: Generator | None = None) -> Tensor:
        """Fills the tensor with random numbers of the exponential distribution of rate `lambd`."""

    def feature_alpha_dropout_(self, p: _float = 0.5, training: _bool = False, *, train: _bool = ...) -> Tensor:
        """Writes to the tensor what `feature_alpha_dropout` returns: the channels, in training some set as by `alpha_dropout`, each as a whole."""

    def feature_dropout_(self, p: _float = 0.5, training: _bool = True, *, train: _bool = ...) -> Tensor:
        """Writes to the tensor what `feature_dropout` returns: the channels, in training each replaced by zeros as a whole with probability `p`."""

    def fill_(self, value: Operand) -> Tensor:
        """Writes to the tensor what `fill` returns: a tensor of the shape and dtype of `input` filled with `value`."""

    def fill_diagonal_(self, fill_value: Operand, wrap: _bool = False) -> Tensor:
        """Fills the diagonal with `fill_value`."""

    def fix(self, *, out: Tensor | None = None) -> Tensor:
        """Returns each element without its part after the decimal point."""

    def fix_(self) -> Tensor:
        """Writes to the tensor what `trunc` returns: each element without its part after the decimal point."""

    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Returns the dims from `start_dim` to `end_dim` as one."""

    def flip(self, *sizes: Ints, dims: Ints | None = None) -> Tensor:
        """Returns the elements in reverse order along `dims`, copied."""

    def fliplr(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the columns in reverse order, copied: the second dim."""

    def flipud(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the rows in reverse order, copied: the first dim."""

    def float(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as float32."""

    def float_power(self, exponent: Operand = ..., *, out: Tensor | None = None) -> Tensor:
        """Returns each element to the power of `exponent`, computed in double precision."""

    def float_power_(self, exponent: Operand) -> Tensor:
        """Raises each element to the power of `exponent`; the result is in double precision."""

    def floor(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the largest integer that is not greater than each element."""

    def floor_(self) -> Tensor:
        """Writes to the tensor what `floor` returns: the largest integer that is not greater than each element."""

    def floor_divide(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns `input / other` rounded down, element by element."""

    def floor_divide_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `floor_divide` returns: `input / other` rounded down, element by element."""

    def fmax(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the greater element of each pair; of a number and NaN the number."""

    def fmin(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the smaller element of each pair; of a number and NaN the number."""

    def fmod(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns what is left of `input` after division by `other`, with the sign of `input`: C's `fmod`."""

    def fmod_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `fmod` returns: what is left of `input` after division by `other`, with the sign of `input`: C's `fmod`."""

    def frac(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the part of each element after the decimal point, with its sign."""

    def frac_(self) -> Tensor:
        """Writes to the tensor what `frac` returns: the part of each element after the decimal point, with its sign."""

    def frexp(self, *, out: Sequence[Tensor] | None = None) -> FrexpResult:
        """Returns the mantissa, of a size from 1/2 to 1, and the exponent of 2 that make up each element."""

    def full_tensor(self) -> Tensor:
        """Returns the tensor with all of it on each device."""

    def gather(
        self,
        dim: _int = ...,
        index: Operand = ...,
        *,
        sparse_grad: _bool = False,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns, at each place of `index`, the element of `input` that it names along `dim`."""

    def gcd(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the greatest common divisor of each pair of integers."""

    def gcd_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `gcd` returns: the greatest common divisor of each pair of integers."""

    def ge(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether `input` is at least `other`, element by element."""

    def ge_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `ge` returns: whether `input` is at least `other`, element by element."""

    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Tensor:
        """Fills the tensor with random counts of trials until the first success, of probability `p`."""

    def geqrf(self, *, out: Sequence[Tensor] | None = None) -> GeqrfResult:
        """Returns the QR factorization of a matrix in compact form: reflections and their scales."""

    def ger(self, vec2: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the matrix of the products of each element of one vector with each of another."""

    def get_device(self) -> _int:
        """Returns the number of the accelerator that holds the tensor, or -1 on the CPU."""

    def greater(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether `input` is greater than `other`, element by element."""

    def greater_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `gt` returns: whether `input` is greater than `other`, element by element."""

    def greater_equal(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether `input` is at least `other`, element by element."""

    def greater_equal_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `ge` returns: whether `input` is at least `other`, element by element."""

    def gt(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether `input` is greater than `other`, element by element."""

    def gt_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `gt` returns: whether `input` is greater than `other`, element by element."""

    def half(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as float16."""

    def hardshrink(self, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
        """Returns the elements, those of magnitude up to `lambd` replaced by zero."""

    def hardtanh_(self, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor:
        """Writes to the tensor what `hardtanh` returns: the elements, clamped to the range from `min_val` to `max_val`."""

    def hash_tensor(
        self,
        dim: Ints = ...,
        *,
        keepdim: _bool = False,
        mode: _int = 0,
        out: Tensor | None = None,
        axis: Ints = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """Returns the exclusive or of the elements' 64-bit patterns."""

    def heaviside(self, values: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns 0 for negative elements, 1 for positive ones, and `values` where they are zero."""

    def heaviside_(self, values: Operand) -> Tensor:
        """Writes to the tensor what `heaviside` returns: 0 for negative elements, 1 for positive ones, and `values` where they are zero."""

    def histc(self, bins: _int = 100, min: _float = 0, max: _float = 0, *, out: Tensor | None = None) -> Tensor:
        """Returns how many elements fall into each of `bins` equal intervals from `min` to `max`."""

    @overload
    def histogram(
        self,
        bins: Operand,
        *,
        weight: Operand | None = None,
        density: _bool = False,
        out: Sequence[Tensor] | None = None,
    ) -> HistogramResult:
        """Returns how many elements fall into each bin, and the edges of the bins."""
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
        """Returns how many points of several coordinates fall into each bin, and the edges along each dim."""
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
        """Returns the length of the hypotenuse of right triangles with the legs `input` and `other`."""

    def hypot_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `hypot` returns: the length of the hypotenuse of right triangles with the legs `input` and `other`."""

    def i0(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the modified Bessel function of the first kind of order 0 (`modified_bessel_i0`)."""

    def i0_(self) -> Tensor:
        """Writes to the tensor what `i0` returns: the modified Bessel function of the first kind of order 0 (`modified_bessel_i0`)."""

    def igamma(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the regularized lower incomplete gamma function P(input, other)."""

    def igamma_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `igamma` returns: the regularized lower incomplete gamma function P(input, other)."""

    def igammac(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the regularized upper incomplete gamma function Q(input, other)."""

    def igammac_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `igammac` returns: the regularized upper incomplete gamma function Q(input, other)."""

    def index_add(
        self,
        dim: _int = ...,
        index: Operand = ...,
        source: Operand = ...,
        *,
        alpha: Operand = 1,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns `input` with `alpha` times the slices of `source` added to those that `index` lists."""

    def index_add_(
        self,
        dim: _int = ...,
        index: Operand = ...,
        source: Operand = ...,
        *,
        alpha: Operand = 1,
        axis: _int = ...,
    ) -> Tensor:
        """Writes to the tensor what `index_add` returns: `input` with `alpha` times the slices of `source` added to those that `index` lists."""

    def index_copy(
        self,
        dim: _int = ...,
        index: Operand = ...,
        source: Operand = ...,
        *,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns `input` with the slices of `source` in place of those that `index` lists."""

    def index_copy_(
        self,
        dim: _int = ...,
        index: Operand = ...,
        source: Operand = ...,
        *,
        axis: _int = ...,
    ) -> Tensor:
        """Writes to the tensor what `index_copy` returns: `input` with the slices of `source` in place of those that `index` lists."""

    def index_fill(
        self,
        dim: _int = ...,
        index: Operand = ...,
        value: Operand = ...,
        *,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns `input` with the slices along `dim` that `index` lists filled with `value`."""

    def index_fill_(
        self,
        dim: _int = ...,
        index: Operand = ...,
        value: Operand = ...,
        *,
        axis: _int = ...,
    ) -> Tensor:
        """Writes to the tensor what `index_fill` returns: `input` with the slices along `dim` that `index` lists filled with `value`."""

    def index_put(
        self,
        indices: Sequence[TensorLike | None],
        values: Operand,
        accumulate: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns `input` with `values` at the places that the tensors of `indices` name together."""

    def index_put_(
        self,
        indices: Sequence[TensorLike | None],
        values: Operand,
        accumulate: _bool = False,
    ) -> Tensor:
        """Writes to the tensor what `index_put` returns: `input` with `values` at the places that the tensors of `indices` name together."""

    def index_reduce(
        self,
        dim: _int = ...,
        index: Operand = ...,
        source: Operand = ...,
        reduce: _str = ...,
        *,
        include_self: _bool = True,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns `input` united, by `reduce`, with the slices of `source` at those that `index` lists."""

    def index_reduce_(
        self,
        dim: _int = ...,
        index: Operand = ...,
        source: Operand = ...,
        reduce: _str = ...,
        *,
        include_self: _bool = True,
        axis: _int = ...,
    ) -> Tensor:
        """Writes to the tensor what `index_reduce` returns: `input` united, by `reduce`, with the slices of `source` at those that `index` lists."""

    def index_select(
        self,
        dim: _int = ...,
        index: Operand = ...,
        *,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns the slices along `dim` that `index` lists."""

    def inner(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the sums of products along the last dim of both tensors."""

    def int(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as int32."""

    def inverse(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the inverse of a square matrix (`ja.linalg.inv`)."""

    def is_conj(self) -> _bool:
        """Returns whether the tensor shows the conjugates of what its memory holds."""

    def is_inference(self) -> _bool:
        """Returns whether the tensor was made in `inference_mode`, so that it cannot be saved for a backward."""

    def is_neg(self) -> _bool:
        """Returns whether the tensor shows the negatives of what its memory holds, as `x.conj().imag` does."""

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
        """Returns whether |input - other| is at most `atol + rtol * |other|`, element by element."""

    def isfinite(self, *, out: Tensor | None = None) -> Tensor:
        """Returns whether each element is neither infinite nor NaN."""

    def isinf(self, *, out: Tensor | None = None) -> Tensor:
        """Returns whether each element is infinite, of either sign."""

    def isnan(self, *, out: Tensor | None = None) -> Tensor:
        """Returns whether each element is NaN."""

    def isneginf(self, *, out: Tensor | None = None) -> Tensor:
        """Returns whether each element is negative infinity."""

    def isposinf(self, *, out: Tensor | None = None) -> Tensor:
        """Returns whether each element is positive infinity."""

    def isreal(self, *, out: Tensor | None = None) -> Tensor:
        """Returns whether the imaginary part of each element is zero."""

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
        """Returns the signal whose short-time transforms are nearest to `input`."""

    def kron(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the Kronecker product: each element of `input` times the whole of `other`."""

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
        """Returns the `k`-th smallest element along `dim`, and where it lies."""

    def lcm(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the least common multiple of each pair of integers."""

    def lcm_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `lcm` returns: the least common multiple of each pair of integers."""

    def ldexp(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns `input * 2**other`, element by element."""

    def ldexp_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `ldexp` returns: `input * 2**other`, element by element."""

    def le(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether `input` is at most `other`, element by element."""

    def le_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `le` returns: whether `input` is at most `other`, element by element."""

    def leaky_relu_(self, negative_slope: _float = 0.01) -> Tensor:
        """Writes to the tensor what `leaky_relu` returns: the elements, negative ones times `negative_slope`."""

    def lerp(self, end: Operand, weight: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns `input + weight * (end - input)`: a point between `input` and `end`."""

    def lerp_(self, end: Operand, weight: Operand) -> Tensor:
        """Writes to the tensor what `lerp` returns: `input + weight * (end - input)`: a point between `input` and `end`."""

    def less(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether `input` is less than `other`, element by element."""

    def less_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `lt` returns: whether `input` is less than `other`, element by element."""

    def less_equal(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether `input` is at most `other`, element by element."""

    def less_equal_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `le` returns: whether `input` is at most `other`, element by element."""

    def lgamma(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the logarithm of the magnitude of the gamma function of each element."""

    def lgamma_(self) -> Tensor:
        """Writes to the tensor what `lgamma` returns: the logarithm of the magnitude of the gamma function of each element."""

    def log(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the natural logarithm of each element."""

    def log10(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the logarithm to base 10 of each element."""

    def log10_(self) -> Tensor:
        """Writes to the tensor what `log10` returns: the logarithm to base 10 of each element."""

    def log1p(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the natural logarithm of one plus each element, exact for small elements."""

    def log1p_(self) -> Tensor:
        """Writes to the tensor what `log1p` returns: the natural logarithm of one plus each element, exact for small elements."""

    def log2(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the logarithm to base 2 of each element."""

    def log2_(self) -> Tensor:
        """Writes to the tensor what `log2` returns: the logarithm to base 2 of each element."""

    def log_(self) -> Tensor:
        """Writes to the tensor what `log` returns: the natural logarithm of each element."""

    def log_normal_(self, mean: _float = 1, std: _float = 2, *, generator: Generator | None = None) -> Tensor:
        """Fills the tensor with random numbers whose logarithms are normally distributed."""

    def log_softmax(
        self,
        dim: _int | None = None,
        dtype: DTypeLike | None = None,
        *,
        out: Tensor | None = None,
        axis: _int | None = ...,
    ) -> Tensor:
        """Returns the logarithm of the softmax along `dim`, without overflow."""

    def logaddexp(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns log(exp(input) + exp(other)), without overflow."""

    def logaddexp2(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns log2(2**input + 2**other), without overflow."""

    def logcumsumexp(self, dim: _int = ..., *, out: Tensor | None = None, axis: _int = ...) -> Tensor:
        """Returns the logarithms of the sums of exponentials up to each element, along `dim`."""

    def logdet(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the logarithm of the determinant of a square matrix; NaN if it is negative."""

    def logical_and(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether both elements of each pair are not zero."""

    def logical_and_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `logical_and` returns: whether both elements of each pair are not zero."""

    def logical_not(self, *, out: Tensor | None = None) -> Tensor:
        """Returns whether each element is zero."""

    def logical_not_(self) -> Tensor:
        """Writes to the tensor what `logical_not` returns: whether each element is zero."""

    def logical_or(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether an element of each pair is not zero."""

    def logical_or_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `logical_or` returns: whether an element of each pair is not zero."""

    def logical_xor(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether exactly one element of each pair is not zero."""

    def logical_xor_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `logical_xor` returns: whether exactly one element of each pair is not zero."""

    def logit(self, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
        """Returns log(x / (1 - x)), the inverse of the sigmoid; elements are clamped to [eps, 1 - eps] if given."""

    def logit_(self, eps: _float | None = None) -> Tensor:
        """Writes to the tensor what `logit` returns: log(x / (1 - x)), the inverse of the sigmoid; elements are clamped to [eps, 1 - eps] if given."""

    def logsumexp(
        self,
        dim: Ints = ...,
        keepdim: _bool = False,
        *,
        out: Tensor | None = None,
        axis: Ints = ...,
        keepdims: _bool = ...,
    ) -> Tensor:
        """Returns the logarithm of the sum of the exponentials over `dim`, without overflow."""

    def long(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as int64."""

    def lt(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether `input` is less than `other`, element by element."""

    def lt_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `lt` returns: whether `input` is less than `other`, element by element."""

    def lu(
        self,
        pivot: _bool = True,
        get_infos: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
    ) -> tuple[Tensor, ...]:
        """Returns the LU factorization of a matrix in compact form, with `get_infos` also where it failed."""

    def lu_solve(self, LU_data: Operand, LU_pivots: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the solution of a system by a compact LU factorization (`ja.linalg.lu_solve`)."""

    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replaces each element by what a function of Python makes of it and of those of `x` and `y`: one by one."""

    def map_(self, other: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replaces each element by what a function of Python makes of it and of that of `other`: one after the other."""

    def masked_fill(self, mask: Operand, value: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the elements, those where `mask` is true replaced by `value`."""

    def masked_fill_(self, mask: Operand, value: Operand) -> Tensor:
        """Writes to the tensor what `masked_fill` returns: the elements, those where `mask` is true replaced by `value`."""

    def masked_scatter(self, mask: Operand, source: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the elements, those where `mask` is true replaced by those of `source` in their order."""

    def masked_scatter_(self, mask: Operand, source: Operand) -> Tensor:
        """Writes to the tensor what `masked_scatter` returns: the elements, those where `mask` is true replaced by those of `source` in their order."""

    def masked_select(self, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Returns the elements where a mask that broadcasts with them is true, as one dim."""

    def matmul(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the matrix product of two tensors; batches of matrices broadcast, vectors count as matrices."""

    def matrix_exp(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the exponential of a square matrix."""

    def matrix_power(self, n: _int, *, out: Tensor | None = None) -> Tensor:
        """Returns a square matrix to an integer power; a negative one is that of its inverse."""

    @overload
    def max(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the greatest element; with `dim` also where it lies; with `other` the greater of each pair."""
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
        """Returns the greater element of each pair; NaN if either is."""

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
        """Returns the mean of the elements, over all dims or those of `dim`."""

    @overload
    def median(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the median, the lower of two; with `dim` along it, and where it lies."""
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
        """Returns the least element; with `dim` also where it lies; with `other` the smaller of each pair."""
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
        """Returns the smaller element of each pair; NaN if either is."""

    def mm(self, mat2: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the product of two matrices."""

    def mode(
        self,
        dim: _int = -1,
        keepdim: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
        axis: _int = ...,
        keepdims: _bool = ...,
    ) -> ModeResult:
        """Returns the most frequent element along `dim`, the least of several, and where it lies."""

    def moveaxis(self, source: Ints, destination: Ints) -> Tensor:
        """Returns dims moved to other places; the others keep their order."""

    def movedim(self, source: Ints, destination: Ints) -> Tensor:
        """Returns dims moved to other places; the others keep their order."""

    def msort(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the elements in ascending order along the first dim."""

    def mul(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns `input * other`, element by element."""

    def mul_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `mul` returns: `input * other`, element by element."""

    def multinomial(
        self,
        num_samples: _int,
        replacement: _bool = False,
        *,
        generator: Generator | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns `num_samples` random indices of each row, with its elements as probabilities."""

    def multiply(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns `input * other`, element by element."""

    def multiply_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `mul` returns: `input * other`, element by element."""

    def mv(self, vec: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the product of a matrix and a vector."""

    def mvlgamma(self, p: _int, *, out: Tensor | None = None) -> Tensor:
        """Returns the logarithm of the multivariate gamma function of dimension `p` (`multigammaln`)."""

    def mvlgamma_(self, p: _int) -> Tensor:
        """Writes to the tensor what `mvlgamma` returns: the logarithm of the multivariate gamma function of dimension `p` (`multigammaln`)."""

    def nan_to_num(
        self,
        nan: _float | None = None,
        posinf: _float | None = None,
        neginf: _float | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns the elements with NaN and the infinities replaced by finite numbers."""

    def nan_to_num_(
        self,
        nan: _float | None = None,
        posinf: _float | None = None,
        neginf: _float | None = None,
    ) -> Tensor:
        """Writes to the tensor what `nan_to_num` returns: the elements with NaN and the infinities replaced by finite numbers."""

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
        """Returns the mean of the elements that are not NaN."""

    @overload
    def nanmedian(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the median of the elements that are not NaN; with `dim` along it, and where it lies."""
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
        """Returns the `q`-th quantiles of the elements that are not NaN."""

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
        """Returns the sum of the elements that are not NaN."""

    def narrow(self, dim: _int = ..., start: _int = ..., length: _int = ..., *, axis: _int = ...) -> Tensor:
        """Returns the view of `length` elements of a dim from `start` on."""

    def narrow_copy(
        self,
        dim: _int = ...,
        start: _int = ...,
        length: _int = ...,
        *,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns a copy of what `narrow` shows."""

    def ne(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether `input` differs from `other`, element by element."""

    def ne_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `ne` returns: whether `input` differs from `other`, element by element."""

    def neg(self, *, out: Tensor | None = None) -> Tensor:
        """Returns each element with the opposite sign."""

    def neg_(self) -> Tensor:
        """Writes to the tensor what `neg` returns: each element with the opposite sign."""

    def negative(self, *, out: Tensor | None = None) -> Tensor:
        """Returns each element with the opposite sign."""

    def negative_(self) -> Tensor:
        """Writes to the tensor what `neg` returns: each element with the opposite sign."""

    def new(self, *args: Any, size: Sequence[_int] | None = None) -> Tensor:
        """Returns a tensor of this dtype: of sizes, `x.new(2, 3)`, or with the values of a sequence, `x.new([1, 2])`."""

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
        """Returns a tensor of another shape whose values do not matter yet, by default of this one's dtype."""

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
        """Returns a tensor of another shape filled with `fill_value`, by default of this one's dtype."""

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
        """Returns ones of another shape, by default of this tensor's dtype and device."""

    def new_tensor(
        self,
        data: object,
        dtype: DTypeLike | None = None,
        device: Device | None = None,
        requires_grad: _bool = False,
        layout: Any = None,
        pin_memory: _bool = False,
    ) -> Tensor:
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
        """Returns zeros of another shape, by default of this tensor's dtype and device."""

    def nextafter(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the next representable float after `input` towards `other`."""

    def nextafter_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `nextafter` returns: the next representable float after `input` towards `other`."""

    def nonzero(self, *, out: Tensor | None = None, as_tuple: _bool = False) -> Any:
        """Returns where elements are not zero: (n, dims), or a tensor for each dim if `as_tuple`."""

    def nonzero_static(self, *, size: _int, fill_value: _int = -1, out: Tensor | None = None) -> Tensor:
        """Returns where elements are not zero, for a given number of them, so that the shape is known."""

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
        """Returns the norm of a tensor, as one long vector, or of its vectors or matrices along `dim`."""

    def normal_(self, mean: _float = 0, std: _float = 1, *, generator: Generator | None = None) -> Tensor:
        """Fills the tensor with random numbers of a normal distribution."""

    def not_equal(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns whether `input` differs from `other`, element by element."""

    def not_equal_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `ne` returns: whether `input` differs from `other`, element by element."""

    def orgqr(self, input2: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the matrix Q of a compact QR factorization."""

    def ormqr(
        self,
        input2: Operand,
        input3: Operand,
        left: _bool = True,
        transpose: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns the product of the Q of a compact QR factorization with another matrix."""

    def outer(self, vec2: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the matrix of the products of each element of one vector with each of another."""

    def permute(self, *order: Any, dims: Ints | None = None) -> Tensor:
        """Returns the dims in another order."""

    def pinverse(self, rcond: _float = 1e-15, *, out: Tensor | None = None) -> Tensor:
        """Returns the pseudo-inverse of a matrix (`ja.linalg.pinv`)."""

    def polygamma(self, n: _int) -> Tensor:
        """Returns the n-th derivative of the digamma function of each element."""

    def polygamma_(self, n: _int) -> Tensor:
        """Replaces each element by the n-th derivative of the digamma function of it."""

    def positive(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the elements as they are, as Python's unary `+` does; bools are refused."""

    def positive_(self) -> Tensor:
        """Writes to the tensor what `positive` returns: the elements as they are, as Python's unary `+` does; bools are refused."""

    def pow(self, exponent: Operand = ..., *, out: Tensor | None = None) -> Tensor:
        """Returns each element to the power of `exponent`."""

    def pow_(self, exponent: Operand = ...) -> Tensor:
        """Writes to the tensor what `pow` returns: each element to the power of `exponent`."""

    def prelu(self, weight: Operand) -> Tensor:
        """Returns the elements, negative ones times `weight`, which is learned, one for all or for each channel."""

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
        """Returns the product of the elements, over all dims or along `dim`."""

    def put(
        self,
        index: Operand,
        source: Operand,
        accumulate: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Returns `input` with the elements of `source` at `index`, the tensor seen as one long vector."""

    def put_(self, index: Operand, source: Operand, accumulate: _bool = False) -> Tensor:
        """Writes to the tensor what `put` returns: `input` with the elements of `source` at `index`, the tensor seen as one long vector."""

    def qr(self, some: _bool = True, *, out: Sequence[Tensor] | None = None) -> QrResult:
        """Returns Q and R with `input = Q R` (`ja.linalg.qr`)."""

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
        """Returns the `q`-th quantiles of the elements, over all dims or along `dim`."""

    def rad2deg(self, *, out: Tensor | None = None) -> Tensor:
        """Returns each angle in radians as degrees."""

    def rad2deg_(self) -> Tensor:
        """Writes to the tensor what `rad2deg` returns: each angle in radians as degrees."""

    def random_(
        self,
        low: _int | None = None,
        to: _int | None = None,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """Fills the tensor with random integers from `low` up to `to`, by default over all that the dtype holds."""

    def ravel(self) -> Tensor:
        """Returns the elements as one dim: a view of a contiguous tensor, else a copy."""

    def reciprocal(self, *, out: Tensor | None = None) -> Tensor:
        """Returns one over each element."""

    def reciprocal_(self) -> Tensor:
        """Writes to the tensor what `reciprocal` returns: one over each element."""

    def redistribute(
        self,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> Tensor:
        """Returns the tensor, placed otherwise; XLA says what the devices have to exchange. Gradients are placed back."""

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Calls `hook(gradient)` whenever a gradient of `tensor` is computed; what it returns replaces the gradient."""

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Calls `hook(tensor)` whenever the `.grad` of this leaf has been added to."""

    def relu(self) -> Tensor:
        """Returns the elements, negative ones replaced by zero."""

    def relu_(self) -> Tensor:
        """Writes to the tensor what `relu` returns: the elements, negative ones replaced by zero."""

    def remainder(self, other: Operand = ..., *, out: Tensor | None = None) -> Tensor:
        """Returns what is left of `input` after division by `other`, with the sign of `other`: Python's `%`."""

    def remainder_(self, other: Operand = ...) -> Tensor:
        """Writes to the tensor what `remainder` returns: what is left of `input` after division by `other`, with the sign of `other`: Python's `%`."""

    def renorm(
        self,
        p: _float,
        dim: _int = ...,
        maxnorm: _float = ...,
        *,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns the tensor, each slice along `dim` scaled down so that its `p`-norm is at most `maxnorm`."""

    def renorm_(self, p: _float, dim: _int = ..., maxnorm: _float = ..., *, axis: _int = ...) -> Tensor:
        """Writes to the tensor what `renorm` returns: the tensor, each slice along `dim` scaled down so that its `p`-norm is at most `maxnorm`."""

    def repeat(self, *sizes: Ints, repeats: Ints | Tensor | None = None) -> Tensor:
        """Returns copies of the tensor laid side by side along each dim."""

    def repeat_interleave(
        self,
        repeats: Ints | Tensor | None = None,
        dim: _int | None = None,
        *,
        output_size: _int | None = None,
        axis: _int | None = ...,
    ) -> Tensor:
        """Returns each element repeated, along `dim` if given: `repeats` times, or as often as its entry in `repeats` says."""

    def reshape(self, *sizes: Ints, shape: Ints | None = None) -> Tensor:
        """Returns the elements under another shape: a view where strides allow it, else a copy."""

    def reshape_as(self, other: Tensor) -> Tensor:
        """Returns `input.reshape(other.size())`."""

    def resize_(self, *sizes: Ints, size: Ints | None = None, memory_format: MemoryFormat = ...) -> Tensor:
        """Changes the shape in place, growing the storage where needed; what is new must be written before it is read."""

    def resize_as_(self, the_template: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
        """Resizes to the shape of another tensor, in place."""

    def resolve_conj(self) -> Tensor:
        """Returns the tensor, or a copy with its values in memory if it shows conjugates."""

    def resolve_neg(self) -> Tensor:
        """Returns the tensor, or a copy with its values in memory if it shows the negatives of memory."""

    def retain_grad(self) -> None:
        """Makes a tensor that is not a leaf keep its gradient in `.grad`, also after it was written in place."""

    def roll(self, shifts: Ints, dims: Ints = ..., *, out: Tensor | None = None) -> Tensor:
        """Returns the elements moved by `shifts` along `dims`; those pushed out come back at the other end."""

    def rot90(self, k: _int = 1, dims: Ints = ..., *, out: Tensor | None = None) -> Tensor:
        """Returns the tensor turned by 90 degrees, `k` times, in the plane of two dims."""

    def round(self, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
        """Returns each element rounded to the nearest number of `decimals` places, halves to even."""

    def round_(self, *, decimals: _int = 0) -> Tensor:
        """Writes to the tensor what `round` returns: each element rounded to the nearest number of `decimals` places, halves to even."""

    def rrelu_(
        self,
        lower: _float = 0.125,
        upper: _float = 0.3333333333333333,
        training: _bool = False,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """Writes to the tensor what `rrelu` returns: the elements, negative ones times a slope that is random in training."""

    def rsqrt(self, *, out: Tensor | None = None) -> Tensor:
        """Returns one over the square root of each element."""

    def rsqrt_(self) -> Tensor:
        """Writes to the tensor what `rsqrt` returns: one over the square root of each element."""

    def rsub(self, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
        """Returns `other - alpha * input`, element by element: `sub` the other way round."""

    @overload
    def scatter(
        self,
        dim: _int = ...,
        index: Operand = ...,
        src: Operand = ...,
        *,
        reduce: _str | None = None,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns `input` with the elements of `src` written, along `dim`, to the places that `index` names."""
    @overload
    def scatter(
        self,
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
        self,
        dim: _int = ...,
        index: Operand = ...,
        src: Operand = ...,
        *,
        reduce: _str | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Writes to the tensor what `scatter` returns: `input` with the elements of `src` written, along `dim`, to the places that `index` names."""
    @overload
    def scatter_(
        self,
        dim: _int = ...,
        index: Operand = ...,
        value: Operand = ...,
        *,
        reduce: _str | None = None,
        axis: _int = ...,
    ) -> Tensor: ...

    def scatter_add(
        self,
        dim: _int = ...,
        index: Operand = ...,
        src: Operand = ...,
        *,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns `input` with the elements of `src` added, along `dim`, to the places that `index` names."""

    def scatter_add_(
        self,
        dim: _int = ...,
        index: Operand = ...,
        src: Operand = ...,
        *,
        axis: _int = ...,
    ) -> Tensor:
        """Writes to the tensor what `scatter_add` returns: `input` with the elements of `src` added, along `dim`, to the places that `index` names."""

    def scatter_reduce(
        self,
        dim: _int = ...,
        index: Operand = ...,
        src: Operand = ...,
        reduce: _str = ...,
        *,
        include_self: _bool = True,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns `input` united, by `reduce`, with the elements of `src` at the places of `index`."""

    def scatter_reduce_(
        self,
        dim: _int = ...,
        index: Operand = ...,
        src: Operand = ...,
        reduce: _str = ...,
        *,
        include_self: _bool = True,
        axis: _int = ...,
    ) -> Tensor:
        """Writes to the tensor what `scatter_reduce` returns: `input` united, by `reduce`, with the elements of `src` at the places of `index`."""

    def select(self, dim: _int = ..., index: _int = ..., *, axis: _int = ...) -> Tensor:
        """Returns the view at one index of a dim."""

    def select_scatter(
        self,
        src: Operand,
        dim: _int = ...,
        index: _int = ...,
        *,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> Tensor:
        """Returns a copy of `input` in which the view `input.select(dim, index)` holds `src`."""

    def selu(self) -> Tensor:
        """Returns `elu` with the scales that keep mean and variance through layers."""

    def selu_(self) -> Tensor:
        """Writes to the tensor what `selu` returns: `elu` with the scales that keep mean and variance through layers."""

    def set_(
        self,
        source: Ints | None = None,
        storage_offset: _int = 0,
        size: Ints | None = None,
        stride: Ints | None = None,
    ) -> Tensor:
        """Makes this tensor show another storage: that of a tensor, or a part of a storage."""

    def sgn(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the sign of each element; of a complex one the number of magnitude one in its direction."""

    def sgn_(self) -> Tensor:
        """Writes to the tensor what `sgn` returns: the sign of each element; of a complex one the number of magnitude one in its direction."""

    def short(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Returns the tensor as int16."""

    def sigmoid(self, *, out: Tensor | None = None) -> Tensor:
        """Returns 1 / (1 + exp(-x)) for each element."""

    def sigmoid_(self) -> Tensor:
        """Writes to the tensor what `sigmoid` returns: 1 / (1 + exp(-x)) for each element."""

    def sign(self, *, out: Tensor | None = None) -> Tensor:
        """Returns -1, 0 or 1 for each element, by its sign."""

    def sign_(self) -> Tensor:
        """Writes to the tensor what `sign` returns: -1, 0 or 1 for each element, by its sign."""

    def signbit(self, *, out: Tensor | None = None) -> Tensor:
        """Returns whether the sign bit of each element is set, as it is of -0.0."""

    def sin(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the sine of each element, in radians."""

    def sin_(self) -> Tensor:
        """Writes to the tensor what `sin` returns: the sine of each element, in radians."""

    def sinc(self, *, out: Tensor | None = None) -> Tensor:
        """Returns sin(πx) / (πx) for each element, 1 at zero."""

    def sinc_(self) -> Tensor:
        """Writes to the tensor what `sinc` returns: sin(πx) / (πx) for each element, 1 at zero."""

    def sinh(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the hyperbolic sine of each element."""

    def sinh_(self) -> Tensor:
        """Writes to the tensor what `sinh` returns: the hyperbolic sine of each element."""

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
        """Returns a copy of `input` in which a range of `dim` holds `src`."""

    def slogdet(self, *, out: Sequence[Tensor] | None = None, A: Operand = ...) -> SlogdetResult:
        """Returns the sign and the logarithm of the magnitude of the determinant of a square matrix."""

    def softmax(
        self,
        dim: _int | None = None,
        dtype: DTypeLike | None = None,
        *,
        out: Tensor | None = None,
        axis: _int | None = ...,
    ) -> Tensor:
        """Returns the softmax along `dim`: exponentials, divided by their sum."""

    def sort(
        self,
        dim: _int = -1,
        descending: _bool = False,
        *,
        stable: _bool = False,
        out: Sequence[Tensor] | None = None,
        axis: _int = ...,
    ) -> SortResult:
        """Returns the elements in order along `dim`, and where each of them was."""

    def split(
        self,
        split_size_or_sections: Ints = ...,
        dim: _int = 0,
        *,
        axis: _int = ...,
        tensor: Tensor = ...,
        split_size: Ints = ...,
    ) -> tuple[Tensor, ...]:
        """Returns views of equal pieces of a dim, the last one smaller, or of pieces of given sizes."""

    def split_with_sizes(
        self,
        split_sizes: Sequence[_int],
        dim: _int = 0,
        *,
        axis: _int = ...,
    ) -> tuple[Tensor, ...]:
        """Returns views of pieces of a dim of given sizes."""

    def sqrt(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the square root of each element."""

    def sqrt_(self) -> Tensor:
        """Writes to the tensor what `sqrt` returns: the square root of each element."""

    def square(self, *, out: Tensor | None = None) -> Tensor:
        """Returns each element times itself."""

    def square_(self) -> Tensor:
        """Writes to the tensor what `square` returns: each element times itself."""

    def squeeze(self, dim: Ints | None = None, *, axis: Ints | None = ...) -> Tensor:
        """Returns the tensor without its dims of size 1, or without those of `dim` that have size 1."""

    def squeeze_(self, dim: Ints | None = None, *, axis: Ints | None = ...) -> Tensor:
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
        """Returns the standard deviation of the elements, over all dims or those of `dim`."""
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
        """Returns the Fourier transforms of short windows of a signal, one a column."""

    def storage(self) -> TypedStorage:
        """Returns the storage as a row of numbers of the tensor's dtype; `untyped_storage()` is that of bytes."""

    def sub(self, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
        """Returns `input - alpha * other`, element by element."""

    def sub_(self, other: Operand, *, alpha: Operand = 1) -> Tensor:
        """Writes to the tensor what `sub` returns: `input - alpha * other`, element by element."""

    def subtract(self, other: Operand, *, alpha: Operand = 1, out: Tensor | None = None) -> Tensor:
        """Returns `input - alpha * other`, element by element."""

    def subtract_(self, other: Operand, *, alpha: Operand = 1) -> Tensor:
        """Writes to the tensor what `sub` returns: `input - alpha * other`, element by element."""

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
        """Returns the sum of the elements, over all dims or those of `dim`."""

    def sum_to_size(self, *sizes: Ints, size: Ints | None = None) -> Tensor:
        """Returns sums over the dims along which a tensor of shape `size` would be broadcast to this one."""

    def svd(
        self,
        some: _bool = True,
        compute_uv: _bool = True,
        *,
        out: Sequence[Tensor] | None = None,
    ) -> SvdResult:
        """Returns U, S and V with `input = U diag(S) Vᴴ` (`ja.linalg.svd` returns Vᴴ)."""

    def swapaxes(self, dim0: _int = ..., dim1: _int = ..., *, axis0: _int = ..., axis1: _int = ...) -> Tensor:
        """Returns two dims exchanged."""

    def swapaxes_(self, dim0: _int = ..., dim1: _int = ..., *, axis0: _int = ..., axis1: _int = ...) -> Tensor:
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
        """Returns the elements at `index`, the tensor seen as one long vector."""

    def take_along_dim(
        self,
        indices: Operand,
        dim: _int | None = None,
        *,
        out: Tensor | None = None,
        axis: _int | None = ...,
    ) -> Tensor:
        """Returns the elements that `indices` names along `dim`; other dims broadcast."""

    def tan(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the tangent of each element, in radians."""

    def tan_(self) -> Tensor:
        """Writes to the tensor what `tan` returns: the tangent of each element, in radians."""

    def tanh(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the hyperbolic tangent of each element."""

    def tanh_(self) -> Tensor:
        """Writes to the tensor what `tanh` returns: the hyperbolic tangent of each element."""

    def tensor_split(
        self,
        indices_or_sections: Ints | Tensor | None = None,
        dim: _int = 0,
        *,
        indices: Ints | Tensor | None = None,
        sections: _int | None = None,
        axis: _int = ...,
        tensor_indices_or_sections: Ints | Tensor | None = ...,
    ) -> tuple[Tensor, ...]:
        """Returns views of a given number of pieces of a dim, as equal as possible, or of the pieces between indices."""

    def threshold_(self, threshold: _float, value: _float) -> Tensor:
        """Writes to the tensor what `threshold` returns: the elements, those not above `threshold` replaced by `value`."""

    def tile(self, *sizes: Ints, dims: Ints | None = None) -> Tensor:
        """Returns copies of the tensor laid side by side; dims that are not named stay as they are."""

    def to(
        self,
        *args: Any,
        dtype: DTypeLike | None = None,
        device: Device | None = None,
        non_blocking: _bool = False,
        copy: _bool = False,
        memory_format: MemoryFormat | None = None,
        other: Tensor | None = None,
        layout: Any = None,
        pin_memory: _bool | None = None,
    ) -> Tensor:
        """Returns the tensor with another dtype, device or memory format: itself if nothing changes and `copy` is not set."""

    def to_local(self, device: Device | None = None) -> Tensor:
        """Returns the part of a distributed tensor that one device holds, as a tensor of that device."""

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
        """Returns the `k` greatest elements along `dim`, and where they lie; the least if not `largest`."""

    def trace(self, *, out: Tensor | None = None) -> Tensor:
        """Returns the sum of the diagonal of a matrix; a method only, for `ja.trace` traces functions."""

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
        """Returns the solution of a system whose matrix is a triangle, and a copy of that."""

    def tril(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """Returns the lower triangle of each matrix, zeros above the diagonal."""

    def tril_(self, diagonal: _int = 0) -> Tensor:
        """Writes to the tensor what `tril` returns: the lower triangle of each matrix, zeros above the diagonal."""

    def triu(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """Returns the upper triangle of each matrix, zeros below the diagonal."""

    def triu_(self, diagonal: _int = 0) -> Tensor:
        """Writes to the tensor what `triu` returns: the upper triangle of each matrix, zeros below the diagonal."""

    def true_divide(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns `input / other` as floats, element by element."""

    def true_divide_(self, other: Operand) -> Tensor:
        """Writes to the tensor what `true_divide` returns: `input / other` as floats, element by element."""

    def trunc(self, *, out: Tensor | None = None) -> Tensor:
        """Returns each element without its part after the decimal point."""

    def trunc_(self) -> Tensor:
        """Writes to the tensor what `trunc` returns: each element without its part after the decimal point."""

    def type(self, dtype: DTypeLike | None = None, non_blocking: _bool = False) -> Any:
        """Returns the name of PyTorch's class for the dtype, as `"torch.FloatTensor"`, or the tensor as another dtype."""

    def type_as(self, other: Tensor) -> Tensor:
        """Returns the tensor with the dtype of another."""

    def unbind(self, dim: _int = 0, *, axis: _int = ...) -> tuple[Tensor, ...]:
        """Returns the views at each index of a dim."""

    def unflatten(self, dim: _int = ..., sizes: Sequence[_int] = ..., *, axis: _int = ...) -> Tensor:
        """Returns one dim as several."""

    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """Returns windows of `size` elements every `step` along a dim, as a new last dim."""

    def uniform_(self, low: _float = 0, to: _float = 1, *, generator: Generator | None = None) -> Tensor:
        """Fills the tensor with random numbers, uniform from `low` to `to`."""

    def unique(
        self,
        sorted: _bool = True,
        return_inverse: _bool = False,
        return_counts: _bool = False,
        dim: _int | None = None,
        *,
        axis: _int | None = ...,
    ) -> Any:
        """Returns the distinct elements, or slices along `dim`, in ascending order; with where and how often if asked."""

    def unique_consecutive(
        self,
        return_inverse: _bool = False,
        return_counts: _bool = False,
        dim: _int | None = None,
        *,
        axis: _int | None = ...,
    ) -> Any:
        """Returns the elements, or slices along `dim`, that differ from those before; with where and how often if asked."""

    def unsafe_chunk(
        self,
        chunks: _int,
        dim: _int = 0,
        *,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> tuple[Tensor, ...]:
        """Returns a copy of what `unsafe_chunk` shows."""

    def unsafe_split(
        self,
        split_size_or_sections: Ints = ...,
        dim: _int = 0,
        *,
        out: Tensor | None = None,
        axis: _int = ...,
        split_size: Ints = ...,
    ) -> tuple[Tensor, ...]:
        """Returns a copy of what `unsafe_split` shows."""

    def unsafe_split_with_sizes(
        self,
        split_sizes: Sequence[_int],
        dim: _int = 0,
        *,
        out: Tensor | None = None,
        axis: _int = ...,
    ) -> tuple[Tensor, ...]:
        """Returns a copy of what `unsafe_split_with_sizes` shows."""

    def unsqueeze(self, dim: _int = ..., *, axis: _int = ...) -> Tensor:
        """Returns a new dim of size 1 at `dim`."""

    def unsqueeze_(self, dim: _int = ..., *, axis: _int = ...) -> Tensor:
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
        """Returns the variance of the elements, over all dims or those of `dim`."""
    @overload
    def var(self, unbiased: _bool, *, out: Tensor | None = None) -> Tensor: ...

    def vdot(self, other: Operand, *, out: Tensor | None = None) -> Tensor:
        """Returns the dot product of two vectors, the first one conjugated."""

    def view(self, *sizes: Ints, size: Ints | None = None, dtype: DTypeLike | None = None) -> Tensor:
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

    def where(self, condition: Tensor, other: Operand) -> Tensor:
        """Returns the elements of this tensor where a condition holds, and those of another elsewhere."""

    def xlogy(self, other: Operand = ..., *, out: Tensor | None = None) -> Tensor:
        """Returns `input * log(other)`, 0 where `input` is zero."""

    def xlogy_(self, other: Operand = ...) -> Tensor:
        """Writes to the tensor what `xlogy` returns: `input * log(other)`, 0 where `input` is zero."""

    def zero_(self) -> Tensor:
        """Fills the tensor with zeros."""
