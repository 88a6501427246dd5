"""Products in float8, as functions of jax arrays: what the tensors, and flax modules, compute with.

A value is `data / scale`: `data` in `float8_e4m3fn`, or for gradients in `float8_e5m2`, whose range is wider. The
gradient of a product is two products in float8; rounding and clipping have the gradient of the identity.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array

E4M3, E5M2 = np.dtype(jnp.float8_e4m3fn), np.dtype(jnp.float8_e5m2)


def largest(dtype: object) -> float:
    """Returns the largest number of a float dtype."""
    return float(jnp.finfo(dtype).max)


def scale_of(amax: Array, dtype: object) -> Array:
    """Returns the scale, float32, that takes numbers up to `amax` to the range of a float8 dtype; 1 for zeros."""
    amax = amax.astype(jnp.float32)
    return jnp.where((amax > 0) & jnp.isfinite(amax), largest(dtype) / amax, 1.0)


def amax_of(x: Array) -> Array:
    """Returns the greatest magnitude in an array, float32; 0 of an empty one."""
    return jnp.max(jnp.abs(x), initial=0).astype(jnp.float32)


def round_to(x: Array, scale: Array, dtype: Any) -> Array:
    """Returns `x * scale` in a float8 dtype; what is beyond its range becomes its largest number."""
    limit = largest(dtype)
    return jnp.clip(x.astype(jnp.float32) * scale, -limit, limit).astype(dtype)


def _dot(a: Array, b: Array, a_dims: tuple[int, ...], b_dims: tuple[int, ...]) -> Array:
    return jax.lax.dot_general(a, b, ((a_dims, b_dims), ((), ())), preferred_element_type=jnp.float32)


@functools.partial(jax.custom_vjp, nondiff_argnums=(6,))
def product(a8: Array, a_scale: Array, b8: Array, b_scale: Array, a: Array, b: Array, dtype: Any) -> Array:
    """Returns the product of the last dim of one array with the first of a matrix, computed in float8.

    Args:
      a8: The first array times its scale, float8, (..., n).
      a_scale: Its scale, float32, 0-d.
      b8: The matrix times its scale, float8, (n, m).
      b_scale: Its scale, float32, 0-d.
      a: What `a8` was made of: its gradients go there.
      b: What `b8` was made of.
      dtype: Of the result, (..., m).
    """
    return (_dot(a8, b8, (a8.ndim - 1,), (0,)) / (a_scale * b_scale)).astype(dtype)


def _product_forward(a8, a_scale, b8, b_scale, a, b, dtype):  # type: ignore[no-untyped-def]
    of_result = jnp.zeros((0,), a.dtype), jnp.zeros((0,), b.dtype)
    return product(a8, a_scale, b8, b_scale, a, b, dtype), (a8, a_scale, b8, b_scale, *of_result)


def _product_backward(dtype, held, g):  # type: ignore[no-untyped-def]
    a8, a_scale, b8, b_scale, like_a, like_b = held
    g_scale = scale_of(amax_of(g), E5M2)
    g8 = round_to(g, g_scale, E5M2)
    a_gradient = _dot(g8, b8, (g8.ndim - 1,), (1,)) / (g_scale * b_scale)
    rest = tuple(range(g8.ndim - 1))
    b_gradient = _dot(a8, g8, rest, rest) / (a_scale * g_scale)
    return None, None, None, None, a_gradient.astype(like_a.dtype), b_gradient.astype(like_b.dtype)


product.defvjp(_product_forward, _product_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def value_of(data: Array, scale: Array, origin: Array, dtype: Any) -> Array:
    """Returns `data / scale` in a dtype; its gradients go to `origin`, of which the data were made."""
    return (data.astype(jnp.float32) / scale).astype(dtype)


value_of.defvjp(
    lambda data, scale, origin, dtype: (value_of(data, scale, origin, dtype), jnp.zeros((0,), origin.dtype)),
    lambda dtype, like, g: (None, None, g.astype(like.dtype)),
)


def float8_dot_general(
    lhs: Array, rhs: Array, dimension_numbers: Any, precision: Any = None, preferred_element_type: Any = None,
    **options: Any,
) -> Array:  # fmt: skip
    """Does what `jax.lax.dot_general` does for a linear layer, in float8 with dynamic scales.

    For flax: `nnx.Linear(n_in, n_out, dot_general=float8_dot_general, rngs=rngs)`.

    Args:
      lhs: The activations, (..., n).
      rhs: The weights, (n, m).
      dimension_numbers: Contracts the last dim of `lhs` with the first of `rhs`; there are no batch dims.
      precision: Not used.
      preferred_element_type: Dtype of the result; by default that of `lhs`.
      **options: Not used.

    Returns:
      The product, (..., m).

    Raises:
      ValueError: If other dims are contracted.
    """
    (left, right), batch = dimension_numbers
    if (tuple(left), tuple(right)) != ((lhs.ndim - 1,), (0,)) or rhs.ndim != 2 or any(map(len, batch)):
        raise ValueError(
            f"float8_dot_general contracts the last dim of the activations with the first of a matrix, and was given "
            f"{dimension_numbers} for shapes {lhs.shape} and {rhs.shape}. Leave other products as they are."
        )
    stop = jax.lax.stop_gradient
    scales = [scale_of(amax_of(stop(x)), E4M3) for x in (lhs, rhs)]
    held = [round_to(stop(x), scale, E4M3) for x, scale in zip((lhs, rhs), scales, strict=True)]
    dtype = lhs.dtype if preferred_element_type is None else preferred_element_type
    return product(held[0], scales[0], held[1], scales[1], lhs, rhs, np.dtype(dtype))
