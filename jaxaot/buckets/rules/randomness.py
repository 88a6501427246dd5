"""Rules of random bits: those of the exact size, to the bit."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxaot._jax import threefry2x32_p
from jaxaot.buckets.table import declare
from jaxaot.buckets.writer import Padded, Writer
from jaxaot.ir.alignment import AlignedEqn
from jaxaot.ir.extents import size_of


def _require_counters(w: Writer, e: AlignedEqn, key: Padded) -> None:
    """Raises unless the bits at a place depend on the key and on how many places come before it, and on nothing else.

    Raises:
      RefusedError: If they do not.
    """
    if "fry" not in str(key.array.dtype) or not jax.config.jax_threefry_partitionable:
        raise w.refuse("only keys of threefry, with `jax_threefry_partitionable`, make the bits of another size")
    if math.prod(e.bucket_shapes[0]) >= 2**32:
        raise w.refuse("there are too many bits")


@declare("random_bits", "The counters are those of the exact size.", "shape")
def random_bits(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Draws the bits of the exact size."""
    (key,), shape, exact = values, e.bucket["shape"], e.exact["shape"]
    if shape == exact:  # of each key of a batch
        rest = tuple(w.results(e)[len(key.extents) :])
        return [Padded(w.bind(e, key.array)[0], (*key.extents, *rest))]
    if key.extents:
        raise w.refuse("how many bits are drawn of each key of a batch depends on a size")
    _require_counters(w, e, key)
    extents = tuple(w.results(e))
    if all(n == b for n, b in zip(exact[1:], shape[1:], strict=True)):  # then those of the exact size come first
        return [Padded(w.bind(e, key.array)[0], extents)]
    if e.bucket["bit_width"] != 32:
        raise w.refuse("numbers are not of 32 bits, and not the first axis alone changes its size")
    counters, stride = jnp.zeros(shape, jnp.uint32), jnp.uint32(1)
    for axis in reversed(range(len(shape))):
        counters = counters + lax.broadcasted_iota(jnp.uint32, shape, axis) * stride
        stride = stride * jnp.asarray(w.value(size_of(exact[axis], shape[axis]))).astype(jnp.uint32)
    first, second = (jnp.broadcast_to(word, shape) for word in jax.random.key_data(key.array))
    drawn: Any = threefry2x32_p.bind(first, second, jnp.zeros(shape, jnp.uint32), counters)
    w.note("bits")
    return [Padded(drawn[0] ^ drawn[1], extents)]


@declare("random_split", "The first keys are those of the exact size.", "shape")
def random_split(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Makes the keys of the exact size, and some more."""
    (key,), shape, exact = values, e.bucket["shape"], e.exact["shape"]
    if shape != exact:
        if key.extents or any(n != b for n, b in zip(exact[1:], shape[1:], strict=True)):
            raise w.refuse("it is not the first axis of the new keys that changes its size")
        _require_counters(w, e, key)
    extents = (*key.extents, *w.results(e)[len(key.extents) :])
    return [Padded(w.bind(e, key.array)[0], extents)]
