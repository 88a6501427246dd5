"""Half precision: an op casts halves to float32, computes, and rounds its results once, as PyTorch's kernels do.

Numbers and 0-d operands that belong to halves are then never rounded to them, and no inner step leaves their range.
What the results' dtypes are follows from the row with halves: it is evaluated abstractly. `AS_THEY_ARE` names the rows
that get halves themselves: those that round nothing, those that draw random numbers in a dtype, and products of
matrices, which accelerators compute from halves and sum in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array
from jaxaot.ops.promotion import is_floating, strong

HALVES = frozenset({jnp.dtype(jnp.float16), jnp.dtype(jnp.bfloat16)})

_MOVING = """
    cast copy_of contiguous_copy_of marked named redistributed gathered channels_last_copy_of reshape_copy
    strided_scatter index
    read_window write_window
    gather take_along_dim take index_select nonzero_static unravel_index scatter scatter_value scatter_add
    scatter_reduce index_add index_copy index_fill index_reduce index_put put select_scatter slice_scatter
    diagonal_scatter fill zero copy fill_diagonal
    cat stack hstack vstack dstack column_stack block_diag cartesian_prod combinations repeat tile repeat_interleave
    repeat_interleave_each roll flip fliplr flipud rot90 tril triu diag diag_embed diagflat pad constant_pad_nd
    pixel_shuffle pixel_unshuffle channel_shuffle unfold_patches embedding masked_scatter
    fft_fftshift fft_ifftshift complex isreal chalf cfloat cdouble one_hot
"""
_FACTORIES = """
    zeros ones empty full zeros_like ones_like empty_like full_like new_zeros new_ones new_empty new_full scalar_tensor
    empty_permuted arange linspace linspace_between logspace logspace_between eye tril_indices triu_indices
"""
_COMPARING = """
    eq ne lt le gt ge logical_and logical_or logical_xor logical_not isclose isnan isinf isfinite isposinf isneginf
    signbit sort argsort msort topk kthvalue median nanmedian median_dim nanmedian_dim mode searchsorted bucketize isin
    amax amin aminmax max min max_dim min_dim argmax argmin all any cummax cummin max_other min_other count_nonzero
    hash_tensor maximum minimum fmax fmin clamp clamp_min clamp_max max_pool1d max_pool1d_with_indices max_pool2d
    max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_pool2d_with_indices_backward adaptive_max_pool1d
    adaptive_max_pool1d_with_indices adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool3d
    adaptive_max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d histc histogram histogram_uniform
    histogramdd histogramdd_uniform masked_amax masked_amin masked_argmax masked_argmin masked_median
"""
_EXACT = """
    neg positive sign ceil floor trunc frexp nextafter copysign heaviside nan_to_num relu hardtanh relu6 threshold
    hardshrink
"""
_PRODUCTS = """
    matmul mm bmm mv dot vdot inner chain_matmul multi_dot einsum tensordot linear addmm addmv addbmm baddbmm
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d scaled_dot_product_attention
    multi_head_attention_forward linear_cross_entropy
"""
AS_THEY_ARE = frozenset(f"{_MOVING} {_FACTORIES} {_COMPARING} {_EXACT} {_PRODUCTS}".split())
"""Rows that get halves as they are."""

_DROPOUTS = """
    dropout alpha_dropout feature_alpha_dropout feature_dropout dropout1d dropout2d dropout3d native_dropout
"""
RANDOM_AND_WIDENED = frozenset(_DROPOUTS.split())
"""Random rows that draw the same in any dtype, and round what they compute of it."""


def is_half(value: Any) -> bool:
    """Returns whether a value is a dtype of half precision."""
    return isinstance(value, np.dtype) and value in HALVES


def has_half(values: Sequence[Any]) -> bool:
    """Returns whether there is an array of halves among values, or in lists among them."""
    for value in values:
        if isinstance(value, (list, tuple)):
            if has_half(value):
                return True
        elif getattr(value, "dtype", None) in HALVES:
            return True
    return False


def widened(value: Any) -> Any:
    """Returns an array of halves in float32, and anything else as it is."""
    if isinstance(value, (list, tuple)):
        return [widened(v) for v in value]
    return strong(value, jnp.float32) if getattr(value, "dtype", None) in HALVES else value


def computed_wide(
    evaluate: Callable[[Sequence[Any], Sequence[Any]], tuple[Any, ...]], values: Sequence[Any], static: Sequence[Any]
) -> tuple[Any, ...]:
    """Returns what `evaluate` makes of its arguments, computed in float32 and rounded once.

    Args:
      evaluate: Takes values and static arguments to results.
      values: Arrays, numbers, None, and lists of them.
      static: The static arguments. A half among them, as in `x.sum(dtype=ja.float16)`, is what floats are rounded to
        first.
    """
    leaves, tree = jax.tree.flatten(list(values), is_leaf=lambda x: x is None)
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]

    def filled(arrays: Sequence[Array]) -> list[Any]:
        full = list(leaves)
        for place, array in zip(places, arrays, strict=True):
            full[place] = array
        return jax.tree.unflatten(tree, full)

    with np.errstate(over="ignore"):  # a number that no half can hold
        declared = jax.eval_shape(lambda arrays: evaluate(filled(arrays), static), [leaves[i] for i in places])
    asked = [value for value in static if is_half(value)]
    for dtype in asked:
        leaves = [
            strong(leaf, dtype) if i in places and is_floating(leaf.dtype) else leaf for i, leaf in enumerate(leaves)
        ]
    wide = [np.dtype(np.float32) if is_half(value) else value for value in static]
    results = evaluate(widened(jax.tree.unflatten(tree, leaves)), wide)
    return tuple(
        result if result is None or result.dtype == shape.dtype else strong(result, shape.dtype)
        for result, shape in zip(results, declared, strict=True)
    )


def product_before_rounding(product: Callable[..., Array], x: Array, y: Array, alpha: Any = 1) -> Array:
    """Returns `alpha` times a product of halves in float32, as it is summed; of other dtypes the product as it is.

    The derivatives are products of halves, too: those of float32 and halves would be computed in float32. A gradient
    is multiplied by `alpha` after its product, as PyTorch does: rounded before, small sums of large terms would be
    far off.

    Args:
      product: A bilinear function of two arrays, with JAX's parameter `preferred_element_type`.
      x: First operand.
      y: Second operand, of the same dtype.
      alpha: A number; for halves alone.
    """
    if x.dtype not in HALVES:
        return product(x, y)
    return _float32_product(product, x, y, *(() if isinstance(alpha, int) and alpha == 1 else (alpha,)))


def _times(x: Array, alpha: Sequence[Any], dtype: Any) -> Array:
    """Returns an array in a dtype, multiplied by a number in float32 if there is one."""
    return strong(strong(x, jnp.float32) * strong(alpha[0], jnp.float32) if alpha else x, dtype)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _float32_product(product: Callable[..., Array], x: Array, y: Array, *alpha: Any) -> Array:
    return _times(product(x, y, preferred_element_type=jnp.float32), alpha, jnp.float32)


def _product_jvp(product: Callable[..., Array], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    x, y, *alpha = primals
    result = _float32_product(product, x, y, *alpha)
    moved = [
        lambda dx: product(_times(dx, alpha, dx.dtype), y),
        lambda dy: product(x, _times(dy, alpha, dy.dtype)),
        lambda dalpha: _times(product(x, y, preferred_element_type=jnp.float32), (dalpha,), jnp.float32),
    ]  # a tangent is multiplied before its product, and so a gradient after it
    changes = [
        strong(move(tangent), result.dtype)
        for move, tangent in zip(moved, tangents, strict=False)
        if not isinstance(tangent, jax.custom_derivatives.SymbolicZero)
    ]
    return result, sum(changes[1:], start=changes[0]) if changes else jnp.zeros_like(result)


_float32_product.defjvp(_product_jvp, symbolic_zeros=True)
