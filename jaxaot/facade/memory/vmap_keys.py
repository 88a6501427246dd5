"""Keys of one index of a mapped function: what it draws is its part of what all indices draw at once.

Threefry numbers the elements that it draws, so the part of an index is the same hash with later numbers: n indices
that draw m elements each draw what the key alone gives for n times m.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import define_prng_impl, threefry_2x32
from jaxaot._typing import Array

_WORD = np.uint32(0xFFFF)


def key_of_index(words: Array, index: Array) -> Array:
    """Returns the key of an index, made of the two words of the key of all indices."""
    return jax.random.wrap_key_data(jnp.stack([words[0], words[1], index.astype(jnp.uint32)]), impl=_INDEXED)


def _random_bits(key: Array, bit_width: int, shape: Sequence[int]) -> Array:
    n = math.prod(shape)
    within = jnp.arange(n, dtype=jnp.uint32).reshape(shape)
    high, first = _product(key[2], np.uint32(n))
    low = first + within
    high = high + (low < first).astype(jnp.uint32)
    hashed = threefry_2x32(key[:2], jnp.stack([high, low]).reshape(-1)).reshape(2, *shape)
    if bit_width == 64:
        return hashed[0].astype(jnp.uint64) << np.uint64(32) | hashed[1].astype(jnp.uint64)
    return (hashed[0] ^ hashed[1]).astype({8: jnp.uint8, 16: jnp.uint16, 32: jnp.uint32}[bit_width])


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """Returns the two words of a product of two words."""
    a_high, a_low, b_high, b_low = a >> np.uint32(16), a & _WORD, b >> np.uint32(16), b & _WORD
    middle = a_high * b_low + (a_low * b_low >> np.uint32(16))
    cross = a_low * b_high + (middle & _WORD)
    return a_high * b_high + (middle >> np.uint32(16)) + (cross >> np.uint32(16)), a * b


def _split(key: Array, shape: Sequence[int]) -> Array:
    words = jax.random.split(key[:2], tuple(shape))
    return jnp.concatenate([words, jnp.broadcast_to(key[2:], (*shape, 1))], -1)


def _fold_in(key: Array, data: Any) -> Array:
    return jnp.concatenate([jax.random.fold_in(key[:2], data), key[2:]])


def _seed(seed: Array) -> Array:
    return jnp.concatenate([jax.random.key_data(jax.random.key(seed, impl="threefry2x32")), jnp.zeros(1, jnp.uint32)])


_INDEXED = define_prng_impl(
    key_shape=(3,),
    seed=_seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
    name="threefry2x32_of_index",
    tag="index",
)
