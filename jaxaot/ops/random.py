"""Random ops. Each takes a PRNG key first; the facade draws it from a generator.

The distributions are PyTorch's, the streams of numbers are JAX's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import DtypeError, ShapeMismatchError, TensorError
from jaxaot.ops import factories
from jaxaot.ops.dims import broadcast_shapes
from jaxaot.ops.factories import dtype_or, static_size
from jaxaot.ops.promotion import (
    default_float,
    default_int,
    is_bool,
    is_complex,
    is_floating,
    is_inexact,
    is_number,
    operand,
    strong,
)
from jaxaot.ops.table import register_op

FACTORY: dict[str, Any] = {"random": True, **factories.FACTORY}
LIKE: dict[str, Any] = {"random": True, **factories.LIKE}
SAMPLED: dict[str, Any] = {"random": True, "out": True}
FILL: dict[str, Any] = {"random": True, "inplace_only": True}


def _need_floating(name: str, dtype: DTypeLike) -> Any:
    if not is_floating(dtype):
        raise DtypeError(f"{name} needs a floating point dtype, but got {dtype}")
    return dtype


def _need_inexact(name: str, dtype: DTypeLike) -> Any:
    if not is_inexact(dtype):
        raise DtypeError(f"{name} needs a floating point or complex dtype, but got {dtype}")
    return dtype


def _integers(key: Array, size: tuple[int, ...], low: int, high: int, dtype: DTypeLike) -> Array:
    low, high = int(low), int(high)
    if low >= high:
        raise TensorError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    least, most = _range_of(dtype)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= most:
            raise TensorError(f"{name} is out of bounds for {dtype}")
    limits = jnp.iinfo(default_int())
    if low < limits.min or high - 1 > limits.max:
        raise TensorError(
            f"random integers from {low} to {high - 1} need 64 bits; call `jax.config.update('jax_enable_x64', True)`"
        )
    if high > limits.max:  # the end is excluded, but must be an integer too
        return (jax.random.randint(key, size, low - 1, high - 1, default_int()) + 1).astype(dtype)
    return jax.random.randint(key, size, low, high, default_int()).astype(dtype)


def _range_of(dtype: DTypeLike) -> tuple[float, float]:
    """Returns the least and greatest number of a dtype."""
    if is_bool(dtype):
        return 0, 1
    if is_floating(dtype):
        return float(jnp.finfo(dtype).min), float(jnp.finfo(dtype).max)
    return int(jnp.iinfo(dtype).min), int(jnp.iinfo(dtype).max)


def _noise(key: Array, size: tuple[int, ...], dtype: DTypeLike) -> Array:
    """Returns normal numbers, drawn in float32 at least: the few bits of a half would cut off the tails."""
    return jax.random.normal(key, size, jnp.promote_types(dtype, jnp.float32)).astype(dtype)


def _uniform(key: Array, size: tuple[int, ...], dtype: DTypeLike) -> Array:
    if not is_complex(dtype):
        return jax.random.uniform(key, size, dtype)
    parts = jax.random.uniform(key, (2, *size), jnp.zeros((), dtype).real.dtype)
    return lax.complex(parts[0], parts[1])


def _register_drawn(name: str, draw: Callable[..., Array]) -> None:
    """Adds the rows of random numbers: of a size, and like another tensor."""
    options = "*, Generator? generator=None, Dtype? dtype=None) -> Tensor"

    @register_op(f"{name}(int[] size, {options}", **FACTORY)
    def of_size(key, size, generator, dtype):
        return draw(key, static_size(size), _need_inexact(name, dtype_or(dtype, default_float())))

    @register_op(f"{name}_like(Tensor self, {options}", **LIKE)
    def like(key, self, generator, dtype):
        return draw(key, self.shape, _need_inexact(f"{name}_like", dtype_or(dtype, self.dtype)))


_register_drawn("rand", _uniform)
_register_drawn("randn", _noise)


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
    static_size(n)
    dtype = dtype_or(dtype, default_int())
    if n - 1 > _range_of(dtype)[1]:
        raise TensorError(f"value cannot be converted to type {dtype} without overflow")
    return jax.random.permutation(key, n).astype(dtype)


@register_op(
    "randint_like(Tensor self, Any low=0, Any high=None, *, Generator? generator=None, Dtype? dtype=None) -> Tensor",
    **LIKE,
)
def randint_like(key, self, low, high, generator, dtype):
    """`randint_like(x, high)` and `randint_like(x, low, high)`."""
    low, high = (0, low) if high is None else (low, high)
    return _integers(key, self.shape, low, high, dtype_or(dtype, self.dtype))


# The gradients of what is drawn with respect to the parameters are zeros, as in PyTorch: no reparametrization.


def _normal(key: Array, mean: Any, std: Any, dtype: DTypeLike) -> Array:
    _need_inexact("normal", dtype)
    noise = _noise(key, broadcast_shapes(jnp.shape(mean), jnp.shape(std)), dtype)
    return lax.stop_gradient(noise * strong(std, dtype) + strong(mean, dtype))


def _check_std(std: Any) -> None:
    if std < 0:
        raise TensorError(f"normal expects std >= 0.0, but found std {std}")


@register_op("normal(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor", method=False, **SAMPLED)
def normal(key, mean, std, generator):
    dtype = default_float() if is_number(mean) and is_number(std) else mean.dtype
    return _normal(key, mean, std, dtype)


@register_op(
    "normal_around(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor", overload_of="normal", **SAMPLED
)
def normal_around(key, mean, std, generator):
    _check_std(std)
    return _normal(key, mean, std, mean.dtype)


@register_op(
    "normal_spread(float mean, Tensor std, *, Generator? generator=None) -> Tensor", overload_of="normal", **SAMPLED
)
def normal_spread(key, mean, std, generator):
    return _normal(key, mean, std, std.dtype)


@register_op(
    "normal_size(float mean, float std, int[] size, *, Generator? generator=None, Dtype? dtype=None) -> Tensor",
    overload_of="normal",
    **FACTORY,
)
def normal_size(key, mean, std, size, generator, dtype):
    _check_std(std)
    noise = _noise(key, static_size(size), _need_inexact("normal", dtype_or(dtype, default_float())))
    return noise * strong(std, noise.dtype) + strong(mean, noise.dtype)


@register_op("bernoulli(Tensor self, Any p=None, *, Generator? generator=None) -> Tensor", **SAMPLED)
def bernoulli(key, self, p, generator):
    if p is None:
        _need_floating("bernoulli without a probability", self.dtype)
    elif not 0 <= p <= 1:
        raise TensorError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    probability = self if p is None else p
    return jax.random.bernoulli(key, lax.stop_gradient(operand(probability)), self.shape).astype(self.dtype)


@register_op("poisson(Tensor self, *, Generator? generator=None) -> Tensor", method=False, random=True)
def poisson(key, self, generator):
    drawn = jax.random.poisson(_threefry(key), lax.stop_gradient(self), self.shape)
    return drawn.astype(_need_floating("poisson", self.dtype))


@register_op("binomial(Tensor count, Tensor prob, *, Generator? generator=None) -> Tensor", method=False, random=True)
def binomial(key, count, prob, generator):
    dtype = _need_floating("binomial", count.dtype)
    if prob.dtype != dtype:
        raise DtypeError(f"binomial expects count and prob of one dtype, and got {dtype} and {prob.dtype}")
    count, prob = lax.stop_gradient(count), lax.stop_gradient(prob)
    wide = jnp.promote_types(dtype, jnp.float32)
    size = broadcast_shapes(count.shape, prob.shape)
    return jax.random.binomial(key, count.astype(wide), prob.astype(wide), size, wide).astype(dtype)


@register_op("_standard_gamma(Tensor self, *, Generator? generator=None) -> Tensor", method=False, random=True)
def standard_gamma(key, self, generator):
    """With the gradient of the draw by the shape parameter, the implicit one of Figurnov et al. (2018)."""
    wide = jnp.promote_types(_need_floating("_standard_gamma", self.dtype), jnp.float32)
    drawn = jax.random.gamma(_threefry(key), self.astype(wide), dtype=wide)
    return drawn.astype(self.dtype)


def _threefry(key: Array) -> Array:
    """Returns a key as one of the generator that `jax.random.poisson` insists on."""
    if key.dtype == jnp.uint32:
        return jax.random.wrap_key_data(key, impl="threefry2x32")
    words = jax.random.key_data(key)
    if words.shape[-1] == 2:
        return key
    return jax.random.wrap_key_data(jax.random.fold_in(words[:2], words[2]), impl="threefry2x32")


@register_op(
    "multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
    differentiable=False,
    **SAMPLED,
)
def multinomial(key, self, num_samples, replacement, generator):
    if not 0 < self.ndim <= 2:
        raise ShapeMismatchError("prob_dist must be 1 or 2 dim")
    if not is_floating(self.dtype):
        raise DtypeError(f"multinomial only supports floating-point dtypes for input, got: {self.dtype}")
    if num_samples <= 0:
        raise TensorError("cannot sample n_sample <= 0 samples")
    if self.shape[-1] > 2**24:
        raise TensorError("number of categories cannot exceed 2^24")
    logits = jnp.log(self)
    if replacement:
        drawn = jax.random.categorical(key, logits, axis=-1, shape=(num_samples, *self.shape[:-1]))
        return jnp.moveaxis(drawn, 0, -1).astype(default_int())
    if num_samples > self.shape[-1]:
        raise TensorError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    # the order of logits under Gumbel noise is a draw without replacement
    noisy = logits + jax.random.gumbel(key, self.shape, logits.dtype)
    return lax.top_k(noisy, num_samples)[1].astype(default_int())


# In place only. `low` is PyTorch's `from`, a word of Python.


@register_op("uniform(Tensor self, float low=0, float to=1, *, Generator? generator=None) -> Tensor", **FILL)
def uniform_(key, self, low, to, generator):
    """Of complex numbers, both parts."""
    dtype = jnp.zeros((), _need_inexact("uniform_", self.dtype)).real.dtype
    least, most = _range_of(dtype)
    for name, bound in (("from", low), ("to", to)):
        if not least <= bound <= most:
            raise TensorError(f"{name} is out of bounds for {self.dtype}")
    if low > to:
        raise TensorError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={to}")
    if is_complex(self.dtype):
        parts = jax.random.uniform(key, (2, *self.shape), dtype) * (to - low) + low
        return lax.complex(parts[0], parts[1])
    return uniform_between(key, self.shape, dtype, to - low, low)


def uniform_between(key: Array, size: tuple[int, ...], dtype: DTypeLike, span: Any, low: Any) -> Array:
    """Returns uniform numbers of a range, by its length and its beginning."""
    return jax.random.uniform(key, size, dtype) * span + low


@register_op(
    "normal_fill(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor",
    inplace="normal_",
    **FILL,
)
def normal_(key, self, mean, std, generator):
    _check_std(std)
    return _noise(key, self.shape, _need_inexact("normal_", self.dtype)) * std + mean


@register_op(
    "bernoulli_fill(Tensor self, Any p=0.5, *, Generator? generator=None) -> Tensor", inplace="bernoulli_", **FILL
)
def bernoulli_(key, self, p, generator):
    if not 0 <= p <= 1:
        raise TensorError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return jax.random.bernoulli(key, operand(p), self.shape).astype(self.dtype)


@register_op(
    "bernoulli_fill_each(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
    overload_of="bernoulli_fill",
    inplace="bernoulli_",
    function=False,
    overwrites=True,
    random=True,
)
def bernoulli_each_(key, self, p, generator):
    _need_floating("bernoulli_ with a tensor of probabilities", p.dtype)
    return jax.random.bernoulli(key, lax.stop_gradient(p), self.shape).astype(self.dtype)


def _uniform_inside(key: Array, size: tuple[int, ...], dtype: DTypeLike) -> Array:
    """Returns uniform numbers in the open interval from 0 to 1, in float32 at least."""
    dtype = jnp.promote_types(dtype, jnp.float32)
    return jax.random.uniform(key, size, dtype, minval=jnp.finfo(dtype).tiny)


@register_op("exponential(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor", **FILL)
def exponential_(key, self, lambd, generator):
    if not lambd > 0:
        raise TensorError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    _need_floating("Exponential distribution is a continuous probability distribution:", self.dtype)
    return (-jnp.log(_uniform_inside(key, self.shape, self.dtype)) / lambd).astype(self.dtype)


@register_op("cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor", **FILL)
def cauchy_(key, self, median, sigma, generator):
    if not sigma > 0:
        raise TensorError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    _need_floating("Cauchy distribution is a continuous probability distribution:", self.dtype)
    turned = jnp.tan(math.pi * (_uniform_inside(key, self.shape, self.dtype) - 0.5))
    return (turned * sigma + median).astype(self.dtype)


@register_op("log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor", **FILL)
def log_normal_(key, self, mean, std, generator):
    if not std > 0:
        raise TensorError(f"log_normal_ expects std > 0.0, but found std={std}")
    return jnp.exp(_noise(key, self.shape, _need_floating("log_normal_", self.dtype)) * std + mean)


@register_op("geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor", **FILL)
def geometric_(key, self, p, generator):
    if not 0 < p < 1:
        raise TensorError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return jnp.ceil(jnp.log(_uniform_inside(key, self.shape, jnp.float32)) / math.log1p(-p)).astype(self.dtype)


@register_op("random(Tensor self, Any low=None, Any to=None, *, Generator? generator=None) -> Tensor", **FILL)
def random_(key, self, low, to, generator):
    """`random_()`, `random_(to)` and `random_(low, to)`."""
    if to is None:
        low, to = 0, _first_beyond(self.dtype) if low is None else low
    return _integers(key, self.shape, low or 0, to, self.dtype)


def _first_beyond(dtype: DTypeLike) -> int:
    """Returns the end of the range of integers that every element of `dtype` can hold exactly."""
    if is_bool(dtype):
        return 2
    limit = int(jnp.iinfo(default_int()).max)
    exact = int(jnp.iinfo(dtype).max) if not is_floating(dtype) else 2 ** (jnp.finfo(dtype).nmant + 1)
    return min(exact, limit)
