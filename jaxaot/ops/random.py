"""Random ops. Each takes a PRNG key first; the facade draws it from a generator.

The distributions are PyTorch's, the streams of numbers are JAX's.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array
from jaxaot.errors import DtypeError, TensorError
from jaxaot.ops.factories import dtype_or, static_size
from jaxaot.ops.promotion import default_float, default_int, is_bool, is_floating, strong
from jaxaot.ops.table import register_op

FACTORY: dict[str, Any] = {"random": True, "method": False, "differentiable": False}
SAMPLED: dict[str, Any] = {"random": True, "differentiable": False}
FILL: dict[str, Any] = {"random": True, "inplace_only": True, "differentiable": False}


def _need_floating(name: str, dtype: Any) -> Any:
    if not is_floating(dtype):
        raise DtypeError(f"{name} needs a floating point dtype, but got {dtype}")
    return dtype


def _integers(key: Array, size: tuple[int, ...], low: int, high: int, dtype: Any) -> Array:
    if low >= high:
        raise TensorError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return jax.random.randint(key, size, low, high, default_int()).astype(dtype)


@register_op("rand(int[] size, *, Generator? generator=None, Dtype? dtype=None) -> Tensor", **FACTORY)
def rand(key, size, generator, dtype):
    return jax.random.uniform(key, static_size(size), _need_floating("rand", dtype_or(dtype, default_float())))


@register_op("randn(int[] size, *, Generator? generator=None, Dtype? dtype=None) -> Tensor", **FACTORY)
def randn(key, size, generator, dtype):
    return jax.random.normal(key, static_size(size), _need_floating("randn", dtype_or(dtype, default_float())))


@register_op(
    "randint(Any low=0, Any high=None, Any size=None, *, Generator? generator=None, Dtype? dtype=None) -> Tensor",
    **FACTORY,
)
def randint(key, low, high, size, generator, dtype):
    """`randint(high, size)` and `randint(low, high, size)`."""
    if isinstance(high, (tuple, list)):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if size is None:
        raise TensorError("randint() needs a size: randint(high, size) or randint(low, high, size)")
    return _integers(key, static_size(size), low, high, dtype_or(dtype, default_int()))


@register_op("randperm(int n, *, Generator? generator=None, Dtype? dtype=None) -> Tensor", **FACTORY)
def randperm(key, n, generator, dtype):
    return jax.random.permutation(key, n).astype(dtype_or(dtype, default_int()))


@register_op("rand_like(Tensor self, *, Generator? generator=None, Dtype? dtype=None) -> Tensor", **FACTORY)
def rand_like(key, self, generator, dtype):
    return jax.random.uniform(key, self.shape, _need_floating("rand_like", dtype_or(dtype, self.dtype)))


@register_op("randn_like(Tensor self, *, Generator? generator=None, Dtype? dtype=None) -> Tensor", **FACTORY)
def randn_like(key, self, generator, dtype):
    return jax.random.normal(key, self.shape, _need_floating("randn_like", dtype_or(dtype, self.dtype)))


@register_op(
    "randint_like(Tensor self, int low, int? high=None, *, Generator? generator=None, Dtype? dtype=None) -> Tensor",
    **FACTORY,
)
def randint_like(key, self, low, high, generator, dtype):
    low, high = (0, low) if high is None else (low, high)
    return _integers(key, self.shape, low, high, dtype_or(dtype, self.dtype))


@register_op("normal(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor", random=True, method=False)
def normal(key, mean, std, generator):
    dtype = default_float() if not hasattr(mean, "dtype") and not hasattr(std, "dtype") else jnp.result_type(mean, std)
    noise = jax.random.normal(key, jnp.broadcast_shapes(jnp.shape(mean), jnp.shape(std)), dtype)
    return mean + std * noise


@register_op(
    "normal_size(Scalar mean, Scalar std, int[] size, *, Generator? generator=None, Dtype? dtype=None) -> Tensor",
    overload_of="normal",
    **SAMPLED,
)
def normal_size(key, mean, std, size, generator, dtype):
    noise = jax.random.normal(key, static_size(size), dtype_or(dtype, default_float()))
    return noise * strong(std, noise.dtype) + strong(mean, noise.dtype)


@register_op("bernoulli(Tensor self, Any p=None, *, Generator? generator=None) -> Tensor", **SAMPLED)
def bernoulli(key, self, p, generator):
    probability = self if p is None else p
    return jax.random.bernoulli(key, probability, self.shape).astype(self.dtype)


@register_op("poisson(Tensor self, *, Generator? generator=None) -> Tensor", method=False, **SAMPLED)
def poisson(key, self, generator):
    return jax.random.poisson(_threefry(key), self, self.shape).astype(self.dtype)


def _threefry(key: Array) -> Array:
    """Returns a raw key as one of the generator that `jax.random.poisson` insists on."""
    return jax.random.wrap_key_data(key, impl="threefry2x32") if key.dtype == jnp.uint32 else key


@register_op(
    "multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
    **SAMPLED,
)
def multinomial(key, self, num_samples, replacement, generator):
    logits = jnp.log(self)
    if replacement:
        drawn = jax.random.categorical(key, logits, axis=-1, shape=(num_samples, *self.shape[:-1]))
        return jnp.moveaxis(drawn, 0, -1).astype(default_int())
    if num_samples > self.shape[-1]:
        raise TensorError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    # the order of logits under Gumbel noise is a draw without replacement
    noisy = logits + jax.random.gumbel(key, self.shape, logits.dtype)
    return lax.top_k(noisy, num_samples)[1].astype(default_int())


# In place only


@register_op("uniform(Tensor self, float low=0, float to=1, *, Generator? generator=None) -> Tensor", **FILL)
def uniform_(key, self, low, to, generator):
    return jax.random.uniform(key, self.shape, _need_floating("uniform_", self.dtype)) * (to - low) + low


@register_op(
    "normal_fill(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor",
    inplace="normal_",
    **FILL,
)
def normal_(key, self, mean, std, generator):
    return jax.random.normal(key, self.shape, _need_floating("normal_", self.dtype)) * std + mean


@register_op(
    "bernoulli_fill(Tensor self, Tensor p=0.5, *, Generator? generator=None) -> Tensor", inplace="bernoulli_", **FILL
)
def bernoulli_(key, self, p, generator):
    return jax.random.bernoulli(key, jnp.asarray(p, jnp.float32), self.shape).astype(self.dtype)


def _uniform_inside(key: Array, self: Array, name: str) -> Array:
    """Returns uniform numbers in the open interval from 0 to 1, in float32 at least."""
    dtype = jnp.promote_types(_need_floating(name, self.dtype), jnp.float32)
    return jax.random.uniform(key, self.shape, dtype, minval=jnp.finfo(dtype).tiny)


@register_op("exponential(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor", **FILL)
def exponential_(key, self, lambd, generator):
    return (jax.random.exponential(key, self.shape, _need_floating("exponential_", self.dtype)) / lambd).astype(
        self.dtype
    )


@register_op("cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor", **FILL)
def cauchy_(key, self, median, sigma, generator):
    return (jnp.tan(math.pi * (_uniform_inside(key, self, "cauchy_") - 0.5)) * sigma + median).astype(self.dtype)


@register_op("log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor", **FILL)
def log_normal_(key, self, mean, std, generator):
    return jnp.exp(jax.random.normal(key, self.shape, _need_floating("log_normal_", self.dtype)) * std + mean)


@register_op("geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor", **FILL)
def geometric_(key, self, p, generator):
    uniform = jax.random.uniform(key, self.shape, jnp.float32, minval=jnp.finfo(jnp.float32).tiny)
    return jnp.ceil(jnp.log(uniform) / math.log1p(-p)).astype(self.dtype)


@register_op("random(Tensor self, Any low=None, Any to=None, *, Generator? generator=None) -> Tensor", **FILL)
def random_(key, self, low, to, generator):
    """`random_()`, `random_(to)` and `random_(low, to)`."""
    if to is None:
        low, to = 0, _first_beyond(self.dtype) if low is None else low
    return _integers(key, self.shape, low or 0, to, self.dtype)


def _first_beyond(dtype: Any) -> int:
    """Returns the end of the range of integers that every element of `dtype` can hold exactly."""
    if is_bool(dtype):
        return 2
    limit = int(jnp.iinfo(default_int()).max)
    exact = int(jnp.iinfo(dtype).max) if not is_floating(dtype) else 2 ** (jnp.finfo(dtype).nmant + 1)
    return min(exact, limit)
