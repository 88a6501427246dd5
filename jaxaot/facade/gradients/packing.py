"""Ready-made pairs of hooks on saved tensors: what saves memory between forward and backward, and at what loss.

    with ja.autograd.graph.saved_tensors_hooks(*ja.autograd.graph.quantize_float8()):
        loss = step(batch)

Each function returns a pair `(pack, unpack)`, the same one for the same arguments, so that a compiled function is
compiled once for it. All of them can be traced. What a pair does not concern, such as integers for `to_dtype`, it keeps
as it is; a pair that rounds also keeps tensors of fewer than `KEPT_WHOLE` elements, which weigh nothing and may be sums
of much.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_tracer
from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import DtypeError
from jaxaot.facade.dispatch.create import as_dtype
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.ops.promotion import is_complex, is_floating, is_inexact
from jaxaot.tape.saved_hooks import saved_tensors_hooks

KEPT_WHOLE = 64
"""Tensors of fewer elements are not rounded."""


class Hooks(NamedTuple):
    """A pack hook and its unpack hook."""

    pack: Callable[[Tensor], Any]
    unpack: Callable[[Any], Tensor]


class _Rounded(NamedTuple):
    """A tensor in fewer bits: `values * scale`, in `dtype` again."""

    values: Array
    scale: Array | None
    dtype: Any


def _hooks(is_packed: Callable[[Tensor], bool], pack: Callable[[Array], Any], unpack: Callable[[Any], Array]) -> Hooks:
    """Returns the pair that packs some tensors, by functions of arrays, and keeps the others."""

    def pack_hook(tensor: Tensor) -> Any:
        return (True, pack(tensor.jax())) if is_packed(tensor) else (False, tensor)

    def unpack_hook(kept: Any) -> Tensor:
        was_packed, value = kept
        return wrap_array(unpack(value)) if was_packed else value

    return Hooks(pack_hook, unpack_hook)


def _named(hooks: Hooks, name: str) -> Hooks:
    """Returns the pair with names that say where it comes from."""
    hooks.pack.__name__, hooks.unpack.__name__ = f"{name}.pack", f"{name}.unpack"
    return hooks


@functools.cache
def _to_dtype(dtype: np.dtype) -> Hooks:
    def is_packed(tensor: Tensor) -> bool:
        same_kind = is_floating(tensor.dtype) if is_floating(dtype) else is_complex(tensor.dtype)
        return same_kind and tensor.dtype.itemsize > dtype.itemsize and tensor.numel() >= KEPT_WHOLE

    hooks = _hooks(
        is_packed,
        lambda x: _Rounded(x.astype(dtype), None, x.dtype),
        lambda kept: kept.values.astype(kept.dtype),
    )
    return _named(hooks, f"to_dtype({dtype.name})")


def to_dtype(dtype: DTypeLike | None) -> Hooks:
    """Returns the pair that keeps floats in a narrower dtype, as they are cast: `bfloat16` loses 3 digits of 7.

    Args:
      dtype: A float dtype, or a complex one for complex tensors. Float8 has so little range that it should be scaled:
        see `quantize_float8`.

    Raises:
      DtypeError: If it is neither.
    """
    held = as_dtype(dtype)
    if held is None or not is_inexact(held):
        raise DtypeError(f"to_dtype keeps floats in another float dtype, not in {dtype!r}; see also `quantize_int8`.")
    return _to_dtype(held)


@functools.cache
def quantize_float8(dtype: DTypeLike | None = jnp.float8_e4m3fn, dim: int | None = None) -> Hooks:
    """Returns the pair that keeps floats in eight bits with a common scale: about 2 % off, and a quarter of float32.

    The largest finite element becomes the largest number of `dtype`, and infinities are clipped to it, because a cast
    to `float8_e4m3fn` makes NaN of what is too large.

    Args:
      dtype: A float dtype of eight bits.
      dim: The dim along which elements share a scale; by default all do.
    """
    largest = float(jnp.finfo(dtype).max)

    def pack(x: Array) -> _Rounded:
        scale = _scale(x, dim, largest)
        return _Rounded(jnp.clip(x.astype(scale.dtype) / scale, -largest, largest).astype(dtype), scale, x.dtype)

    return _named(_hooks(_is_float, pack, _rescaled), f"quantize_float8({np.dtype(dtype).name}, dim={dim})")


@functools.cache
def quantize_int8(dim: int | None = -1) -> Hooks:
    """Returns the pair that keeps floats as 255 even steps of a common scale: under 1 % off, a quarter of float32.

    Better than `quantize_float8` where the elements that share a scale are of one size, worse where they are not.
    NaN becomes 0.

    Args:
      dim: The dim along which elements share a scale, by default the last; None if all do.
    """

    def pack(x: Array) -> _Rounded:
        scale = _scale(x, dim, 127.0)
        steps = jnp.clip(jnp.round(x.astype(scale.dtype) / scale), -127, 127)
        return _Rounded(jnp.where(jnp.isnan(steps), 0, steps).astype(jnp.int8), scale, x.dtype)

    return _named(_hooks(_is_float, pack, _rescaled), f"quantize_int8(dim={dim})")


def _is_float(tensor: Tensor) -> bool:
    return is_floating(tensor.dtype) and tensor.dtype.itemsize > 1 and tensor.numel() >= KEPT_WHOLE


def _scale(x: Array, dim: int | None, largest: float) -> Array:
    """Returns the divisor, in at least float32, that takes the largest finite element to `largest`."""
    x = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    sizes = jnp.where(jnp.isfinite(x), jnp.abs(x), 0)
    scale = sizes.max(axis=None if dim is None else (dim,), keepdims=True) / largest
    return jnp.maximum(scale, jnp.finfo(scale.dtype).tiny)


def _rescaled(kept: _Rounded) -> Array:
    assert kept.scale is not None, "what is quantized has a scale"
    return (kept.values.astype(kept.scale.dtype) * kept.scale).astype(kept.dtype)


@functools.cache
def offload_to_host() -> Hooks:
    """Returns the pair that keeps tensors in the memory of the host, exactly, and moves them back for the backward."""
    hooks = _hooks(
        lambda tensor: tensor.numel() >= KEPT_WHOLE,
        lambda x: _moved(x, jax.memory.Space.Host, "pinned_host"),
        lambda kept: _moved(kept, jax.memory.Space.Device, "device"),
    )
    return _named(hooks, "offload_to_host()")


def _moved(x: Array, space: Any, kind: str) -> Array:
    return jax.device_put(x, space if is_tracer(x) else x.sharding.with_memory_kind(kind))


@functools.cache
def pack_mask_bits() -> Hooks:
    """Returns the pair that keeps eight bools in a byte, exactly: masks of dropout and of attention."""

    def unpack(kept: tuple[Array, tuple[int, ...]]) -> Array:
        bits, shape = kept
        return jnp.unpackbits(bits, count=int(np.prod(shape))).astype(bool).reshape(shape)

    hooks = _hooks(
        lambda tensor: tensor.dtype == np.bool_ and tensor.numel() >= KEPT_WHOLE,
        lambda x: (jnp.packbits(x.reshape(-1)), tuple(x.shape)),
        unpack,
    )
    return _named(hooks, "pack_mask_bits()")


@functools.cache
def first_that_fits(*pairs: Hooks) -> Hooks:
    """Returns the pair that packs a tensor by the first pair that does not keep it as it is.

    `first_that_fits(pack_mask_bits(), quantize_float8())` is for a network with dropout.

    Args:
      *pairs: Pairs of this module.
    """

    def pack_hook(tensor: Tensor) -> Any:
        for number, pair in enumerate(pairs):
            was_packed, value = pair.pack(tensor)
            if was_packed:
                return number, (True, value)
        return -1, tensor

    def unpack_hook(kept: Any) -> Tensor:
        number, value = kept
        return value if number < 0 else pairs[number].unpack(value)

    return _named(Hooks(pack_hook, unpack_hook), f"first_that_fits({', '.join(p.pack.__name__ for p in pairs)})")


class save_on_cpu(saved_tensors_hooks):
    """Inside, what operations save is kept in the memory of the host (`torch.autograd.graph.save_on_cpu`).

    Args:
      pin_memory: Says nothing here: JAX moves arrays between a device and pinned memory of the host.
      device_type: Says nothing here: an array goes back to the device that it came from.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):
        super().__init__(*offload_to_host())
