"""Layers of `ja.nn.functional` that are neither convolutions, norms, pools nor losses: linear maps and tables."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array
from jaxaot.errors import ArgumentError, DtypeError, ShapeMismatchError
from jaxaot.ops.dims import broadcast_shapes
from jaxaot.ops.half_precision import product_before_rounding
from jaxaot.ops.linalg import check_same_dtype
from jaxaot.ops.promotion import default_int, is_integral
from jaxaot.ops.reductions import vector_norm_values
from jaxaot.ops.slopes import with_slope
from jaxaot.ops.table import FUNCTIONAL, SHARED, register_op


def _features(input, wanted):
    """Returns the sentence for an input with another last size than the weight takes."""
    if input.ndim > 2 and input.size == input.shape[0] * wanted:
        return f"The weight takes {wanted} features, which are all sizes after the first: `x.flatten(1)`."
    has = input.shape[-1] if input.ndim else 0
    return f"The last size of the input is {has}, and the weight takes {wanted}: a layer for it has in_features={has}."


@register_op("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", out=True, **FUNCTIONAL)
def linear(input, weight, bias):
    check_same_dtype("linear", input, weight)
    if input.ndim == 0 or input.shape[-1] != weight.shape[-1]:
        rows = input.size // input.shape[-1] if input.ndim and input.shape[-1] else 0
        raise ShapeMismatchError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input.shape[-1] if input.ndim else 0} and "
            f"{'x'.join(str(size) for size in weight.shape[::-1])}). {_features(input, weight.shape[-1])}"
        )
    if bias is None:
        return jnp.matmul(input, weight.T)
    value = product_before_rounding(jnp.matmul, input, weight.T)
    if broadcast_shapes(value.shape, bias.shape) != value.shape:
        raise ShapeMismatchError(f"linear: bias {list(bias.shape)} does not fit a result of {list(value.shape)}")
    return (value + bias).astype(jnp.promote_types(input.dtype, bias.dtype))


@register_op(
    "grouped_mm(Tensor mat_a, Tensor mat_b, *, Tensor? offs=None, Tensor? bias=None, Dtype? out_dtype=None) -> Tensor",
    **FUNCTIONAL,
)
def grouped_mm(mat_a, mat_b, offs, bias, out_dtype):
    check_same_dtype("grouped_mm", mat_a, mat_b)
    if (mat_a.ndim, mat_b.ndim) not in ((2, 3), (3, 3)) or (offs is None) == (mat_a.ndim == 2):
        raise ShapeMismatchError(
            "grouped_mm(): mat_a is (rows, in) with the ends of its groups in offs, or (groups, rows, in) without, and "
            f"mat_b is (groups, in, out); got {list(mat_a.shape)} and {list(mat_b.shape)}, "
            f"offs {'None' if offs is None else list(offs.shape)}"
        )
    if offs is None:
        value = jnp.matmul(mat_a, mat_b)
    else:
        value = lax.ragged_dot(mat_a, mat_b, jnp.diff(offs.astype(jnp.int32), prepend=0))
    value = value if bias is None else value + bias
    return value if out_dtype is None else value.astype(out_dtype)


@register_op("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", **SHARED)
def bilinear(input1, input2, weight, bias):
    if input1.shape[:-1] != input2.shape[:-1] or weight.ndim != 3:
        raise ShapeMismatchError(
            "bilinear(): inputs agree in all but the last dim, and weight is 3-D; got input1 "
            f"{list(input1.shape)}, input2 {list(input2.shape)} and weight {list(weight.shape)}"
        )
    if weight.shape[1:] != (input1.shape[-1], input2.shape[-1]):
        raise ShapeMismatchError(
            f"bilinear(): weight {list(weight.shape)} does not fit input1 {list(input1.shape)} and input2 "
            f"{list(input2.shape)}: it is (out, {input1.shape[-1]}, {input2.shape[-1]})"
        )
    value = jnp.einsum("...i,oij,...j->...o", input1, weight, input2)
    return value if bias is None else value + bias


# Tables of rows that are looked up


def _need_table(indices: Array, weight: Array, padding_idx: int | None) -> int | None:
    """Returns `padding_idx` from the start of the table, all checked."""
    if not is_integral(indices.dtype):
        raise DtypeError(
            f"Expected tensor for argument #1 'indices' to have integers, but got {indices.dtype}. Write `x.long()`."
        )
    if weight.ndim != 2:
        raise ShapeMismatchError(f"'weight' must be 2-D, but got {weight.ndim}-D")
    if padding_idx is None:
        return None
    if not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise ArgumentError(f"Padding_idx must be within num_embeddings {weight.shape[0]}, but got {padding_idx}")
    return padding_idx % weight.shape[0]


def _held(weight: Array, indices: Array, max_norm: float | None, norm_type: float) -> tuple[Array, Array | None]:
    """Returns a table whose rows that `indices` name are no longer than `max_norm`, and that as its new value.

    The gradient flows to the table as if it had not changed: ATen's `embedding_renorm_`.
    """
    if max_norm is None:
        return weight, None
    named = jnp.zeros((weight.shape[0], 1), bool).at[indices.reshape(-1)].set(True)
    value = lax.stop_gradient(weight)
    size = vector_norm_values(value, float(norm_type), (1,), True)
    value = jnp.where(named & (size > max_norm), value * (max_norm / (size + 1e-7)), value)
    return with_slope(value, weight), value


def _rows(weight: Array, indices: Array, padding_idx: int | None, by_frequency: bool) -> Array:
    """Returns the rows that `indices` name; `padding_idx` receives no gradient, and frequent rows a mean of theirs."""
    rows = jnp.take(weight, indices, axis=0, mode="clip")
    if by_frequency:
        counts = jnp.zeros(weight.shape[0], weight.dtype).at[indices.reshape(-1)].add(1)
        rows = with_slope(rows, rows / jnp.take(counts, indices, mode="clip")[..., None])
    if padding_idx is not None:
        rows = jnp.where((indices == padding_idx)[..., None], lax.stop_gradient(rows), rows)
    return rows


@register_op(
    "embedding(Tensor input, Tensor(a!) weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, "
    "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    **FUNCTIONAL,
)
def embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse):
    """Returns rows of `weight`, of which those used are shortened in place to `max_norm` where that is given.

    Gradients are dense, whatever `sparse` says.
    """
    padding_idx = _need_table(input, weight, padding_idx)
    table, written = _held(weight, input, max_norm, norm_type)
    return _rows(table, input, padding_idx, scale_grad_by_freq), written


BAG_MODES = ("sum", "mean", "max")


def _bags(input: Array, offsets: Array | None, include_last_offset: bool) -> tuple[Array, int]:
    """Returns the bag of each element of the flattened input, and how many bags there are."""
    if input.ndim == 2:
        if offsets is not None:
            raise ArgumentError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                "sequences"
            )
        return jnp.repeat(jnp.arange(input.shape[0]), input.shape[1]), input.shape[0]
    if input.ndim != 1:
        raise ShapeMismatchError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if offsets is None or offsets.ndim != 1:
        raise ArgumentError(f"offsets has to be a 1D Tensor{' but got None' if offsets is None else ''}")
    bags = jnp.searchsorted(offsets, jnp.arange(input.size, dtype=offsets.dtype), side="right") - 1
    n = offsets.shape[0] - 1 if include_last_offset else offsets.shape[0]
    return jnp.minimum(bags, n - 1), n


def _largest_of_bags(rows: Array, counted: Array, bags: Array, n: int) -> Array:
    """Returns the largest elements of each bag, the first of equals; zeros for an empty one."""
    if not rows.shape[0]:
        return jnp.zeros((n, rows.shape[1]), rows.dtype)
    value = jnp.where(counted, lax.stop_gradient(rows), -jnp.inf)
    largest = jax.ops.segment_max(value, bags, n)
    place = jnp.where(counted & (value == largest[bags]), jnp.arange(rows.shape[0])[:, None], rows.shape[0])
    first = jax.ops.segment_min(place, bags, n)
    picked = jnp.take_along_axis(rows, jnp.minimum(first, rows.shape[0] - 1), axis=0)
    return jnp.where(first < rows.shape[0], picked, 0)


@register_op(
    "embedding_bag(Tensor input, Tensor(a!) weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2, "
    "bool scale_grad_by_freq=False, str mode='mean', bool sparse=False, Tensor? per_sample_weights=None, "
    "bool include_last_offset=False, int? padding_idx=None) -> Tensor",
    **FUNCTIONAL,
)
def embedding_bag(
    input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights,
    include_last_offset, padding_idx,
):  # fmt: skip
    """Returns sums, means or largest elements of bags of rows of `weight`; rows at `padding_idx` do not count."""
    if mode not in BAG_MODES:
        raise ArgumentError(f"mode has to be one of sum, mean or max, but got {mode!r}")
    if per_sample_weights is not None and (mode != "sum" or per_sample_weights.shape != input.shape):
        raise ArgumentError(
            "embedding_bag: per_sample_weights is only supported for mode='sum', with the shape of input "
            f"{list(input.shape)}; got mode={mode!r} and {list(per_sample_weights.shape)}"
        )
    if mode == "max" and scale_grad_by_freq:
        raise ArgumentError("max mode does not support scaling the gradient by the frequency")
    padding_idx = _need_table(input, weight, padding_idx)
    bags, n = _bags(input, offsets, include_last_offset)
    table, written = _held(weight, input, max_norm, norm_type)
    indices = input.reshape(-1)
    rows = _rows(table, indices, padding_idx, scale_grad_by_freq)
    counted = jnp.ones((indices.size, 1), bool) if padding_idx is None else (indices != padding_idx)[:, None]
    if mode == "max":
        return _largest_of_bags(rows, counted, bags, n), written
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    total = jax.ops.segment_sum(jnp.where(counted, rows, 0), bags, n)
    if mode == "mean":
        total = total / jnp.maximum(jax.ops.segment_sum(counted.astype(rows.dtype), bags, n), 1)
    return total, written


@register_op("one_hot(Tensor input, int num_classes=-1) -> Tensor", differentiable=False, **FUNCTIONAL)
def one_hot(input, num_classes):
    if not is_integral(input.dtype):
        raise DtypeError(f"one_hot is only applicable to index tensor of integers, but got {input.dtype}")
    if num_classes < 1:
        raise ArgumentError(f"num_classes should be positive, but got {num_classes}")
    return (input[..., None] == jnp.arange(num_classes, dtype=input.dtype)).astype(default_int())
