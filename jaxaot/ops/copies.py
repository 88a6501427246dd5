"""Rows that copy: casts, clones, copies with a part replaced, and reading by index."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name

from jaxaot._jax import mark_p
from jaxaot._placement import placed_at
from jaxaot._typing import Shape
from jaxaot.errors import DimError, ShapeMismatchError
from jaxaot.ops.promotion import default_int, is_complex, is_floating, is_inexact, is_integral, strong
from jaxaot.ops.table import INTERNAL, register_op, register_ops
from jaxaot.views.layout import Layout, channels_last, memory_places


@register_op("cast(Tensor self, Dtype dtype) -> Tensor", layout="same", **INTERNAL)
def cast(self, dtype):
    if is_complex(self.dtype) and not is_complex(dtype):
        self = jnp.real(self)
    if is_floating(self.dtype) and is_integral(dtype) and np.dtype(dtype).itemsize < 4:
        self = strong(self, np.int32)  # so that -1.0 as a byte is 255, as in C; XLA's bytes end at 0
    return strong(self, dtype)


def _channels_last(operands: Any, size: Shape, dtype: np.dtype, static: Any) -> Layout:
    return channels_last(size, dtype)


register_ops({
    "copy_of(Tensor self) -> Tensor": lambda self: jnp.asarray(self),
    "marked(Tensor self, str word) -> Tensor": lambda self, word: mark_p.bind(self, word=word),
    "named(Tensor self, str name) -> Tensor": lambda self, name: checkpoint_name(self, name),
    "redistributed(Tensor self, Any sharding, Any source) -> Tensor":
        lambda self, sharding, source: placed_at(self, sharding, source),
    "gathered(Tensor self, Any sharding, Any source, str word) -> Tensor":
        lambda self, sharding, source, word: mark_p.bind(placed_at(self, sharding, source), word=word),
}, layout="same", **INTERNAL)  # fmt: skip
register_ops({
    "contiguous_copy_of(Tensor self) -> Tensor": lambda self: jnp.asarray(self),
    "reshape_copy(Tensor self, int[] size) -> Tensor": lambda self, size: jnp.reshape(self, size),
}, **INTERNAL)  # fmt: skip
register_op("channels_last_copy_of(Tensor self) -> Tensor", layout=_channels_last, **INTERNAL)(
    lambda self: jnp.asarray(self)
)


@register_op("strided_scatter(Tensor self, Tensor src, Any own, Any part) -> Tensor", layout="same", **INTERNAL)
def strided_scatter(self, src, own, part):
    """`as_strided_scatter`; `own` and `part` are (size, stride, offset) of `self` and of what is written."""
    shown, written = memory_places(*own).ravel(), memory_places(*part).ravel()
    if not shown.size or not written.size:
        return self
    order = np.argsort(shown)
    source = order[np.minimum(np.searchsorted(shown[order], written), shown.size - 1)]
    places = np.where(shown[source] == written, source, shown.size)  # what lies outside of `self` is dropped
    return self.reshape(-1).at[places].set(src.reshape(-1).astype(self.dtype), mode="drop").reshape(self.shape)


@register_op("sum_to_size(Tensor self, int[] size) -> Tensor", function=False)
def sum_to_size(self, size):
    """Sums over the dims along which a tensor of shape `size` would be broadcast to this one."""
    if not can_expand(size, self.shape):
        raise ShapeMismatchError(f"size {{{list(size)}}} is not expandable to size {{{list(self.shape)}}}.")
    missing = self.ndim - len(size)
    axes = tuple(axis for axis, n in enumerate(self.shape) if axis < missing or (size[axis - missing] == 1 and n != 1))
    if size and not axes:
        return self
    dtype = self.dtype if is_inexact(self.dtype) else default_int()
    return jnp.sum(self, axes, dtype, keepdims=True).reshape(size)


def can_expand(size: Shape, target: Shape) -> bool:
    """Whether a tensor of shape `size` can be expanded to `target`."""
    aligned = target[len(target) - len(size) :]
    return len(size) <= len(target) and all(n in (1, m) for n, m in zip(size, aligned, strict=True))


@register_op("index(Tensor self, Tensor?[] indices) -> Tensor", layout="indexed", **INTERNAL)
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
