"""Rows that copy: casts, clones, and reading by index."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from jaxaot.errors import DimError
from jaxaot.ops.promotion import is_complex, strong
from jaxaot.ops.table import register_op


@register_op("cast(Tensor self, Dtype dtype) -> Tensor", method=False, function=False, layout="same")
def cast(self, dtype):
    if is_complex(self.dtype) and not is_complex(dtype):
        self = jnp.real(self)
    return strong(self, dtype)


@register_op("copy_of(Tensor self) -> Tensor", method=False, function=False, layout="same")
def copy_of(self):
    return jnp.asarray(self)


@register_op("contiguous_copy_of(Tensor self) -> Tensor", method=False, function=False)
def contiguous_copy_of(self):
    return jnp.asarray(self)


@register_op("reshape_copy(Tensor self, int[] size) -> Tensor", method=False, function=False)
def reshape_copy(self, size):
    return jnp.reshape(self, size)


@register_op("index(Tensor self, Tensor?[] indices) -> Tensor", method=False, function=False, layout="indexed")
def index(self, indices):
    return self[index_tuple(self, indices)]


def index_tuple(value: Any, indices: Any) -> tuple[Any, ...]:
    """Returns index tensors as an index of a jax array; negative ones count from the end, None is a full slice.

    Raises:
      DimError: If there are more indices than dims.
    """
    if len(indices) > value.ndim:
        raise DimError(f"too many indices for tensor of dimension {value.ndim} (got {len(indices)})")
    return tuple(slice(None) if i is None else i for i in indices)
