"""Products of matrices and vectors. Decompositions are in `decompositions.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import ArgumentError, DtypeError, ShapeMismatchError, TensorError, TensorTypeError
from jaxaot.ops.derivatives import divide
from jaxaot.ops.dims import broadcast_shapes, normalize_dim, normalize_dims
from jaxaot.ops.elementwise import _scaled, absolute
from jaxaot.ops.half_precision import HALVES, product_before_rounding
from jaxaot.ops.promotion import default_float, is_bool, is_complex, is_floating, is_inexact, promote, result_dtype
from jaxaot.ops.reductions import vector_norm_values
from jaxaot.ops.table import LINALG, SHARED, register_op, register_ops


def check_same_dtype(name: str, *tensors: Array) -> None:
    """Checks that products are not asked across dtypes, which PyTorch refuses.

    Raises:
      DtypeError: If they are.
    """
    dtypes = [tensor.dtype for tensor in tensors]
    if any(dtype != dtypes[0] for dtype in dtypes):
        raise DtypeError(
            f"{name}: expected operands of the same dtype, but got: {' != '.join(str(dtype) for dtype in dtypes)}. "
            f"Convert one, `x.to(ja.{dtypes[-1]})`, or compute in `ja.autocast`."
        )


def _need_ndim(name: str, argument: str, tensor: Array, ndim: int) -> None:
    if tensor.ndim != ndim:
        raise ShapeMismatchError(f"{name}: expected {argument} to be a {ndim}-D tensor, but got {tensor.ndim}-D")


def _text(shape: Sequence[int]) -> str:
    return "x".join(str(size) for size in shape)


def matmul_values(self: Array, other: Array, alpha: Any = None) -> Array:
    """Returns the product with PyTorch's checks; with `alpha` a multiple of it, that of halves in float32."""
    if self.ndim == 0 or other.ndim == 0:
        raise ShapeMismatchError(
            f"both arguments to matmul need to be at least 1D, but they are {self.ndim}D and {other.ndim}D"
        )
    check_same_dtype("matmul", self, other)
    inner = other.shape[-2] if other.ndim > 1 else other.shape[0]
    if self.shape[-1] != inner:
        if self.ndim == 1 and other.ndim == 1:
            raise ShapeMismatchError(
                f"inconsistent tensor size, expected tensor [{self.shape[0]}] and src [{other.shape[0]}] to have the "
                "same number of elements"
            )
        if other.ndim == 1:
            raise ShapeMismatchError(f"size mismatch, got input ({_text(self.shape)}), vec ({other.shape[0]})")
        left = self.shape[-2:] if self.ndim > 1 else (1, *self.shape)
        raise ShapeMismatchError(
            f"mat1 and mat2 shapes cannot be multiplied ({_text(left)} and {_text(other.shape[-2:])}). The last size "
            f"of the first, {self.shape[-1]}, has to be the size before the last of the second, {inner}"
            + (": `a @ b.mT`." if other.shape[-1] == self.shape[-1] else ".")
        )
    broadcast_shapes(self.shape[:-2], other.shape[:-2])
    if alpha is None:
        return jnp.matmul(self, other)
    product = product_before_rounding(jnp.matmul, self, other, alpha)
    return product if self.dtype in HALVES else _scaled(product, alpha)


def _mm(self: Array, mat2: Array, alpha: Any = None) -> Array:
    _need_ndim("mm", "self", self, 2)
    _need_ndim("mm", "mat2", mat2, 2)
    return matmul_values(self, mat2, alpha)


def _bmm(self: Array, mat2: Array, alpha: Any = None) -> Array:
    _need_ndim("bmm", "batch1", self, 3)
    _need_ndim("bmm", "batch2", mat2, 3)
    if self.shape[0] != mat2.shape[0] or self.shape[2] != mat2.shape[1]:
        expected = [self.shape[0], self.shape[2]]
        raise ShapeMismatchError(
            f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: "
            f"{list(mat2.shape[:2])}."
        )
    return matmul_values(self, mat2, alpha)


def _mv(self: Array, vec: Array, alpha: Any = None) -> Array:
    _need_ndim("mv", "self", self, 2)
    _need_ndim("mv", "vec", vec, 1)
    return matmul_values(self, vec, alpha)


@register_op("dot(Tensor self, Tensor tensor) -> Tensor")
def dot(self, tensor):
    _need_ndim("dot", "self", self, 1)
    _need_ndim("dot", "tensor", tensor, 1)
    return matmul_values(self, tensor)


register_ops({
    "matmul(Tensor self, Tensor other) -> Tensor": matmul_values, "mm(Tensor self, Tensor mat2) -> Tensor": _mm,
    "bmm(Tensor self, Tensor mat2) -> Tensor": _bmm, "mv(Tensor self, Tensor vec) -> Tensor": _mv,
    "vdot(Tensor self, Tensor other) -> Tensor": lambda self, other: matmul_values(jnp.conj(self), other),
})  # fmt: skip


@register_op("inner(Tensor self, Tensor other) -> Tensor")
def inner(self, other):
    check_same_dtype("inner", self, other)
    if self.ndim == 0 or other.ndim == 0:
        return self * other
    if self.shape[-1] != other.shape[-1]:
        raise ShapeMismatchError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(self.shape)} and "
            f"{list(other.shape)}"
        )
    return jnp.inner(self, other)


@register_op("outer(Tensor self, Tensor vec2) -> Tensor", aliases=("ger",))
def outer(self, vec2):
    _need_ndim("outer", "self", self, 1)
    _need_ndim("outer", "vec2", vec2, 1)
    self, vec2 = promote(self, vec2)
    return self[:, None] * vec2[None, :]


@register_op("kron(Tensor self, Tensor other) -> Tensor", promote="common", layout="contiguous")
def kron(self, other):
    if is_bool(self.dtype):
        return jnp.kron(self.astype(jnp.int8), other.astype(jnp.int8)).astype(bool)
    return jnp.kron(self, other)


@register_op("vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", **LINALG)
def vecdot(x, y, dim):
    return jnp.sum(jnp.conj(x) * y, axis=dim)


# beta * self + alpha * product. A beta of 0 as a Python number drops self, NaN or not.


def _combined(self: Array, product: Array, beta: Any, dtype: DTypeLike | None = None) -> Array:
    """Returns the sum in `dtype`, by default that of the product, which `alpha` is in already."""
    dtype = product.dtype if dtype is None else dtype
    self = jnp.asarray(self).astype(product.dtype)
    shape = broadcast_shapes(self.shape, product.shape)
    if shape != product.shape:
        raise ShapeMismatchError(
            f"The expanded size of the tensor must match: {list(self.shape)} does not expand to {list(product.shape)}"
        )
    return jnp.where(jnp.asarray(beta) == 0, product, _scaled(self, beta) + product).astype(dtype)


@register_op("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", inplace=True)
def addr(self, vec1, vec2, beta, alpha):
    product = outer(vec1, vec2)
    return _combined(self, _scaled(product.astype(result_dtype(self, product)), alpha), beta)


def _register_sum(name: str, operands: str, product: Callable[..., Array]) -> None:
    """Adds the row of beta * self + alpha * product."""
    first, second = operands.split()
    schema = f"{name}(Tensor self, Tensor {first}, Tensor {second}, *, Scalar beta=1, Scalar alpha=1) -> Tensor"

    @register_op(schema, inplace=True)
    def row(self, beta, alpha, **factors):
        left, right = factors[first], factors[second]
        return _combined(self, product(left, right, alpha), beta, left.dtype)


_register_sum("addmm", "mat1 mat2", _mm)
_register_sum("addmv", "mat vec", _mv)
_register_sum("baddbmm", "batch1 batch2", _bmm)
_register_sum("addbmm", "batch1 batch2", lambda *factors: jnp.sum(_bmm(*factors), axis=0))


@register_op("chain_matmul(Tensor[] matrices) -> Tensor", method=False)
def chain_matmul(matrices):
    return jnp.linalg.multi_dot(matrices) if len(matrices) > 1 else matrices[0]


register_op("multi_dot(Tensor[] tensors) -> Tensor", **LINALG)(lambda tensors: chain_matmul(tensors))


@register_op("einsum(str equation, Tensor[] operands) -> Tensor", method=False)
def einsum(equation, operands):
    try:
        return jnp.einsum(equation.replace(" ", ""), *operands)
    except (ValueError, TypeError) as error:
        shapes = ", ".join(str(list(operand.shape)) for operand in operands)
        raise ShapeMismatchError(f"einsum({equation!r}) does not fit operands of shapes {shapes}: {error}") from error


@register_op("tensordot(Tensor a, Tensor b, Any dims=2) -> Tensor", method=False)
def tensordot(a, b, dims):
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise ShapeMismatchError(
                f"tensordot expects dims >= 0 and dims <= ndim_a or ndim_b, but got dims={dims} for tensors of "
                f"{a.ndim} and {b.ndim} dims"
            )
        left, right = tuple(range(a.ndim - dims, a.ndim)), tuple(range(dims))
    else:
        if not isinstance(dims, (tuple, list)) or len(dims) != 2:
            raise TensorTypeError(f"tensordot: `dims` is an int or a pair of lists of dims, and {dims!r} was given.")
        left, right = (normalize_dims(part, t.ndim) if part else () for part, t in zip(dims, (a, b), strict=True))
    if len(left) != len(right):
        raise ShapeMismatchError("both dimension lists should have same length")
    for i, j in zip(left, right, strict=True):
        n, m = a.shape[i], b.shape[j]
        if n != m and 1 not in (n, m):
            raise ShapeMismatchError(
                f"contracted dimensions need to match, but first has size {n} in dim {i} and second has size {m} in "
                f"dim {j}"
            )
        if n != m:  # a dim of size 1 stands for as many as the other has
            a, b = (a, jnp.sum(b, j, keepdims=True)) if n == 1 else (jnp.sum(a, i, keepdims=True), b)
    return jnp.tensordot(a, b, (left, right))


@register_op("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", promote="common", promoted=("self", "other"))
def cross(self, other, dim):
    shape = broadcast_shapes(self.shape, other.shape)
    if dim is None:
        threes = [axis for axis, size in enumerate(shape) if size == 3]
        if not threes:
            raise ShapeMismatchError("no dimension of size 3 in input")
        dim = threes[0]
    return _cross("cross", self, other, dim)


def _cross(name: str, self: Array, other: Array, dim: int) -> Array:
    shape = broadcast_shapes(self.shape, other.shape)
    axis = normalize_dim(dim, len(shape))
    if not shape or shape[axis] != 3:
        raise ShapeMismatchError(
            f"{name}: inputs dimension {dim} must have length 3. Got {list(self.shape)} and {list(other.shape)}"
        )
    return jnp.cross(jnp.broadcast_to(self, shape), jnp.broadcast_to(other, shape), axis=axis)


@register_op(
    "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", promote="common", layout="contiguous", **LINALG
)
def linalg_cross(self, other, dim):
    if self.ndim != other.ndim:
        raise ShapeMismatchError(
            f"linalg.cross: inputs must have the same number of dimensions, but got {self.ndim} and {other.ndim}"
        )
    return _cross("linalg.cross", self, other, dim)


@register_op("linalg_vander(Tensor x, *, int? N=None) -> Tensor", **LINALG)
def linalg_vander(x, N):
    x = jnp.atleast_1d(x)
    n = x.shape[-1] if N is None else N
    powers = [jnp.ones_like(x) if power == 0 else x**power for power in range(n)]
    return jnp.stack(powers, -1) if powers else jnp.zeros((*x.shape, 0), x.dtype)


@register_op("cdist(Tensor x1, Tensor x2, float p=2.0, Any compute_mode=None) -> Tensor", method=False)
def cdist(x1, x2, p, compute_mode):
    """Returns the distances of all pairs of rows; every `compute_mode` computes them by differences."""
    for name, value in (("X1", x1), ("X2", x2)):
        if value.ndim < 2:
            raise ShapeMismatchError(f"cdist only supports at least 2D tensors, {name} got: {value.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise ShapeMismatchError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    return _distances("cdist", x1[..., :, None, :] - x2[..., None, :, :], p)


@jax.custom_jvp
def _largest(size: Array) -> Array:
    """Returns the greatest along the last dim, whose gradient each of several equal ones gets in full."""
    return jnp.max(size, axis=-1, initial=0)


@_largest.defjvp
def _largest_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    found = _largest(*primals)
    return found, jnp.sum(jnp.where(primals[0] == found[..., None], tangents[0], 0), axis=-1)


def _distances(name: str, differences: Array, p: float) -> Array:
    if p < 0:
        raise ArgumentError(f"{name} only supports non-negative p values, but got {p}")
    if not is_floating(differences.dtype):
        raise DtypeError(
            f"{name} only supports floating-point dtypes, got: {differences.dtype}. Convert by `.float()`."
        )
    if p == math.inf:
        return _largest(absolute(differences))
    return vector_norm_values(differences, float(p), (-1,), False)


@register_op("pdist(Tensor self, float p=2) -> Tensor", **SHARED)
def pdist(self, p):
    _need_ndim("pdist", "self", self, 2)
    i, j = (jnp.asarray(places) for places in np.triu_indices(self.shape[0], 1))
    return _distances("pdist", self[i] - self[j], p)


@register_op("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor")
def cov(self, correction, fweights, aweights):
    if self.ndim > 2:
        raise TensorError(f"cov(): expected input to have two or fewer dimensions but got an input with {self.ndim}")
    value = self if self.ndim == 2 else self.reshape(1, -1)
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None and given.shape != value.shape[1:]:
            raise ShapeMismatchError(
                f"cov(): expected {name} to have one weight for each of {value.shape[1]} observations, but got shape "
                f"{list(given.shape)}"
            )
    if not is_inexact(value.dtype):
        value = value.astype(default_float())
    weights = jnp.ones(value.shape[1], value.real.dtype)
    weights = weights if fweights is None else weights * fweights
    weights = weights if aweights is None else weights * aweights
    total = jnp.sum(weights)
    center = value - jnp.sum(value * weights, 1, keepdims=True) / total
    lost = correction if aweights is None else correction * jnp.sum(weights * aweights) / total
    result = (center * weights) @ jnp.conj(center.T) / jnp.maximum(total - lost, 0)
    return result.reshape(()) if value.shape[0] == 1 else result


@register_op("corrcoef(Tensor self) -> Tensor")
def corrcoef(self):
    if self.ndim > 2:
        raise TensorError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {self.ndim} dimensions"
        )
    covariance = cov(self, 1, None, None)
    if covariance.ndim == 0:
        return divide(covariance, covariance)
    size = jnp.sqrt(jnp.diagonal(covariance).real)
    result = divide(divide(covariance, size[:, None]), size[None, :])
    if is_complex(result.dtype):
        return lax.complex(jnp.clip(result.real, -1, 1), jnp.clip(result.imag, -1, 1))
    return jnp.clip(result, -1, 1)


def symmetric(value: Array, upper: bool) -> Array:
    """Returns the symmetric matrices that one triangle of `value` stands for.

    The other triangle and imaginary parts of the diagonal are not read, yet the gradient is that of a symmetric matrix:
    half to each, as in PyTorch.
    """
    constant = lax.stop_gradient(value)
    half = jnp.triu(constant, 1) if upper else jnp.tril(constant, -1)
    diagonal = jnp.where(jnp.eye(value.shape[-1], dtype=bool), constant.real, 0)
    linear = (value + jnp.conj(value.mT)) / 2
    return half + diagonal + jnp.conj(half.mT) + (linear - lax.stop_gradient(linear))


def check_matrices(name: str, value: Array) -> None:
    """Checks that `value` holds matrices.

    Raises:
      ShapeMismatchError: If not.
    """
    if value.ndim < 2:
        raise ShapeMismatchError(
            f"{name}: The input tensor A must have at least 2 dimensions, but it has shape {list(value.shape)}."
        )


def check_square(name: str, value: Array) -> None:
    """Checks that `value` holds square matrices.

    Raises:
      ShapeMismatchError: If not.
    """
    check_matrices(name, value)
    if value.shape[-1] != value.shape[-2]:
        raise ShapeMismatchError(
            f"{name}: A must be batches of square matrices, but they are {value.shape[-2]} by {value.shape[-1]} "
            "matrices"
        )
