"""The decomposition of symmetric indefinite matrices by Bunch and Kaufman, and what it solves.

`A = P₁ L₁ P₂ L₂ … D … L₂ᴴ P₂ L₁ᴴ P₁`, where each Pₖ swaps two rows and D has *blocks* of size 1 or 2 on its diagonal.
LAPACK's `sytrf` and `hetrf` store it in one matrix and a vector of *pivots*: `p > 0` for a block of size 1 whose row
was swapped with row `p`, and `-p` twice for one of size 2 whose second row was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array
from jaxaot.errors import ShapeMismatchError
from jaxaot.ops.dims import broadcast_shapes
from jaxaot.ops.linalg import check_square
from jaxaot.ops.table import LINALG, register_op

GROWTH = (1 + math.sqrt(17)) / 8


def _swapped(n: int, i: Array, j: Array) -> Array:
    """Returns the order of `n` rows with two of them swapped."""
    rows = jnp.arange(n)
    return jnp.where(rows == i, j, jnp.where(rows == j, i, rows))


def _factor(A: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    """Returns the compact factors, the pivots and info of one matrix, after LAPACK's `sytf2` on the lower triangle."""
    n = A.shape[-1]
    rows = jnp.arange(n)
    flip = jnp.conj if hermitian else lambda x: x
    lower = jnp.tril(A)
    if hermitian:
        lower = lower - 1j * jnp.diag(jnp.diagonal(lower).imag) if jnp.iscomplexobj(lower) else lower
    whole = lower + flip(jnp.tril(A, -1).T)

    def choose(rest: Array, k: Array) -> tuple[Any, Any]:
        """Returns which row to swap and whether the block has size 2."""
        size = jnp.abs(rest.real) + jnp.abs(rest.imag)  # as LAPACK measures complex numbers
        column = jnp.where(rows > k, size[:, k], 0)
        largest, at = jnp.max(column), jnp.argmax(column)
        diagonal = size[k, k]
        across = jnp.max(jnp.where((rows >= k) & (rows != at), size[at], 0))
        stay = diagonal >= GROWTH * largest
        stay |= diagonal * across >= GROWTH * largest * largest
        single = size[at, at] >= GROWTH * across
        return jnp.where(stay, k, at), ~stay & ~single

    def step(carry: Sequence[Any]) -> Any:
        k, rest, factors, pivots, info = carry
        row, is_double = choose(rest, k)
        second = k + is_double
        order = _swapped(n, second, row)
        rest = rest[order][:, order]
        is_zero = ~is_double & (rest[k, k] == 0)
        next_row = jnp.minimum(k + 1, n - 1)
        # a block of size 1
        pivot = jnp.where(is_zero, 1, rest[k, k])
        single = jnp.where(rows > k, rest[:, k] / pivot, 0)
        from_single = jnp.outer(single, flip(single)) * pivot
        # a block of size 2
        pair = jnp.stack([rest[:, k], rest[:, next_row]], 1)
        block = jnp.stack([pair[k], pair[next_row]])
        block = jnp.where(is_double, block, jnp.eye(2, dtype=A.dtype))
        double = jnp.where((rows > k + 1)[:, None], pair @ jnp.linalg.inv(block), 0)
        from_double = double @ block @ flip(double.T)
        column = jnp.where(rows == k, rest[k, k], jnp.where(is_double, double[:, 0], single))
        column = jnp.where(is_double & (rows == k + 1), rest[next_row, k], column)
        other = jnp.where(rows == k + 1, rest[next_row, next_row], double[:, 1])
        factors = factors.at[:, k].set(column)
        factors = jnp.where(is_double, factors.at[:, next_row].set(other), factors)
        sign = jnp.where(is_double, -1, 1) * (row.astype(jnp.int32) + 1)
        pivots = jnp.where((rows >= k) & (rows <= second), sign, pivots)
        info = jnp.where(is_zero & (info == 0), k + 1, info)
        rest = rest - jnp.where(is_double, from_double, jnp.where(is_zero, 0, from_single))
        return (second + 1).astype(jnp.int32), rest, factors, pivots, info

    zero = jnp.int32(0)
    start = (zero, whole, jnp.zeros_like(A), jnp.zeros(n, jnp.int32), zero)
    _, _, factors, pivots, info = lax.while_loop(lambda carry: carry[0] < n, step, start)
    return factors, pivots, info


def _factor_all(name: str, A: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    check_square(name, A)
    if A.size == 0:
        return A, jnp.zeros(A.shape[:-1], jnp.int32), jnp.zeros(A.shape[:-2], jnp.int32)
    flat = A.reshape(-1, *A.shape[-2:])
    factors, pivots, info = jax.vmap(lambda matrix: _factor(matrix, hermitian))(flat)
    return factors.reshape(A.shape), pivots.reshape(A.shape[:-1]), info.reshape(A.shape[:-2])


@register_op(
    "ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)", differentiable=False, **LINALG
)
def ldl_factor(self, hermitian):
    return _factor_all("linalg.ldl_factor", self, hermitian)[:2]


@register_op(
    "ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) "
    "-> (Tensor LD, Tensor pivots, Tensor info)",
    differentiable=False,
    **LINALG,
)
def ldl_factor_ex(self, hermitian, check_errors):
    """Returns factors, pivots and info; `check_errors` raises where values are at hand: see `value_checks.py`."""
    return _factor_all("linalg.ldl_factor_ex", self, hermitian)


def _solve(factors: Array, pivots: Array, B: Array, hermitian: bool) -> Array:
    """Returns the solution for one matrix, after LAPACK's `sytrs`."""
    n = pivots.shape[0]
    rows = jnp.arange(n)
    flip = jnp.conj if hermitian else lambda x: x
    swaps = jnp.abs(pivots) - 1

    def is_second(before: Array, pivot: Array) -> Any:
        second = (pivot < 0) & ~before
        return second, (pivot < 0) & before

    # the first row of a block of size 2 is a negative pivot that does not follow such a first row
    _, seconds = lax.scan(is_second, jnp.bool_(False), pivots)
    firsts = (pivots < 0) & ~seconds
    columns = jnp.tril(factors, -1)
    beside = jnp.where(firsts, jnp.concatenate([jnp.diagonal(factors, -1), jnp.zeros(1, factors.dtype)]), 0)
    columns = jnp.where((rows[:, None] == rows + 1) & firsts, 0, columns)
    D = jnp.diag(jnp.diagonal(factors)) + jnp.diag(beside[: n - 1], -1) + jnp.diag(flip(beside[: n - 1]), 1)

    def swap(k: Array, value: Array) -> Array:
        """Swaps the rows of the block that begins at `k`."""
        order = jnp.where(seconds[k], rows, _swapped(n, jnp.minimum(k + firsts[k], n - 1), swaps[k]))
        return value[order]

    def down(k: Array, value: Array) -> Array:
        value = swap(k, value)
        return value - jnp.outer(columns[:, k], value[k])

    def up(i: Array, value: Array) -> Array:
        k = n - 1 - i
        value = value.at[k].add(-(flip(columns[:, k]) @ value))
        return swap(k, value)

    return lax.fori_loop(0, n, up, jnp.linalg.solve(D, lax.fori_loop(0, n, down, B)))


@register_op(
    "ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor", differentiable=False, **LINALG
)
def ldl_solve(LD, pivots, B, hermitian):
    check_square("linalg.ldl_solve", LD)
    if B.ndim < 2 or B.shape[-2] != LD.shape[-1]:
        raise ShapeMismatchError(
            f"linalg.ldl_solve: Expected LD and B to have the same number of rows, but got {LD.shape} and {B.shape}"
        )
    batch = broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    shape = batch + B.shape[-2:]
    if 0 in (*shape, LD.shape[-1]):
        return jnp.zeros(shape, B.dtype)
    flat = [
        jnp.broadcast_to(value, batch + value.shape[value.ndim - n :]).reshape(-1, *value.shape[value.ndim - n :])
        for value, n in ((LD, 2), (pivots, 1), (B, 2))
    ]
    return jax.vmap(lambda factors, pivots, B: _solve(factors, pivots, B, hermitian))(*flat).reshape(shape)
