"""Derivatives by formula, for functions whose derivative in JAX is another than PyTorch's, or that have none there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._typing import Array
from jaxaot.errors import NoDerivativeError


def with_derivatives(fn: Callable[..., Array], *partials: Callable[..., Any] | None) -> Callable[..., Array]:
    """Returns `fn` with given partial derivatives.

    Args:
      fn: A function of single elements of one or several arrays.
      *partials: For each operand its derivative: a function of the operands and then the result; None where PyTorch
        has none, so that backward is an error.
    """

    @jax.custom_jvp
    def elementwise(*operands: Array) -> Array:
        return fn(*operands)

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        result = elementwise(*primals)
        total = jnp.zeros_like(result)
        for partial, tangent in zip(partials, tangents, strict=True):
            if not isinstance(tangent, jax.custom_derivatives.SymbolicZero):
                total = total + (0 if partial is None else partial(*primals, result)) * tangent
        return result, total.astype(result.dtype)

    elementwise.defjvp(jvp, symbolic_zeros=True)
    if all(partials):
        return elementwise
    barrier = _barrier(fn.__name__.strip("_"))
    return lambda *operands: elementwise(
        *[x if partial else barrier(x) for x, partial in zip(operands, partials, strict=True)]
    )


@jax.custom_jvp
def divide(x: Array, y: Array) -> Array:
    """Returns `x / y`; its derivative has no square of the divisor, which would leave the range."""
    return x / y


def _divide_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    x, y = primals
    result = divide(x, y)
    total = jnp.zeros_like(result)
    if not isinstance(tangents[0], jax.custom_derivatives.SymbolicZero):
        total = total + tangents[0] / y
    if not isinstance(tangents[1], jax.custom_derivatives.SymbolicZero):
        total = total + tangents[1] * -(x / y * (1 / y))  # XLA computes (x / y) / y as x / (y * y)
    return result, total.astype(result.dtype)


divide.defjvp(_divide_jvp, symbolic_zeros=True)


def _barrier(name: str) -> Callable[[Array], Array]:
    """Returns the identity, through which no gradient flows: backward raises."""

    @jax.custom_vjp
    def identity(x: Array) -> Array:
        return x

    def forward(x: Array) -> Any:
        return x, None

    def backward(_: object, cotangent: Array) -> Any:
        raise NoDerivativeError(
            f"the derivative for '{name}' is not implemented, as it is not in PyTorch. Detach the operand, "
            "`x.detach()`, if it is to count as a constant."
        )

    identity.defvjp(forward, backward)
    return identity
