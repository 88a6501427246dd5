"""Layers of `ja.nn.functional` that are neither convolutions, norms, pools nor losses: linear maps and tables."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from jaxaot.errors import ArgumentError, DtypeError, ShapeMismatchError
from jaxaot.ops.linalg import check_same_dtype
from jaxaot.ops.promotion import default_int, is_integral
from jaxaot.ops.table import register_op

FUNCTIONAL: dict[str, Any] = {"method": False, "namespaces": ("nn.functional",)}


@register_op("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", **FUNCTIONAL)
def linear(input, weight, bias):
    check_same_dtype("linear", input, weight)
    if input.ndim == 0 or input.shape[-1] != weight.shape[-1]:
        rows = input.size // input.shape[-1] if input.ndim and input.shape[-1] else 0
        raise ShapeMismatchError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input.shape[-1] if input.ndim else 0} and "
            f"{'x'.join(str(size) for size in weight.shape[::-1])})"
        )
    value = jnp.matmul(input, weight.T)
    return value if bias is None else value + bias


@register_op("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    method=False, namespaces=("", "nn.functional"))  # fmt: skip
def bilinear(input1, input2, weight, bias):
    value = jnp.einsum("...i,oij,...j->...o", input1, weight, input2)
    return value if bias is None else value + bias


@register_op(
    "embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, "
    "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    **FUNCTIONAL,
)
def embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse):
    if not is_integral(input.dtype):
        raise DtypeError(f"Expected tensor for argument #1 'indices' to have integers, but got {input.dtype}")
    if weight.ndim != 2:
        raise ShapeMismatchError("'weight' must be 2-D")
    if max_norm is not None or scale_grad_by_freq:
        raise ArgumentError(
            "embedding takes neither max_norm nor scale_grad_by_freq; renormalize `weight` with `renorm`"
        )
    rows = jnp.take(weight, input, axis=0, mode="clip")
    if padding_idx is not None:
        # the row is read, but receives no gradient
        padding = (input == padding_idx % weight.shape[0])[..., None]
        rows = jnp.where(padding, lax.stop_gradient(rows), rows)
    return rows


@register_op("one_hot(Tensor input, int num_classes=-1) -> Tensor", differentiable=False, **FUNCTIONAL)
def one_hot(input, num_classes):
    if num_classes < 0:
        raise ArgumentError("one_hot needs num_classes here: shapes may not depend on values")
    return (input[..., None] == jnp.arange(num_classes, dtype=input.dtype)).astype(default_int())
