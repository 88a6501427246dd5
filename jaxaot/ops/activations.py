"""Activation functions and softmaxes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import ArgumentError, DtypeError, ShapeMismatchError
from jaxaot.ops.derivatives import divide, with_derivatives
from jaxaot.ops.dims import along, normalize_dim
from jaxaot.ops.elementwise import absolute
from jaxaot.ops.promotion import is_complex, is_floating, is_integral, operand
from jaxaot.ops.reductions import cast
from jaxaot.ops.table import register_op

FUNCTIONAL: dict[str, Any] = {"promote": "common", "out": False, "method": False, "namespaces": ("nn.functional",)}
WRITABLE: dict[str, Any] = {**FUNCTIONAL, "out": True}
EVERYWHERE: dict[str, Any] = {"promote": "common", "out": False, "namespaces": ("", "nn.functional"), "inplace": True}


def activation(schema: str, *, takes: str = "f", **settings: Any) -> Callable[[Any], Any]:
    """Returns a decorator that adds a row, with a check of the dtype of its first operand.

    Args:
      schema: See `ops/schema.py`.
      takes: Which dtypes beside floats: `"i"` for integers, `"c"` for complex numbers.
      settings: Of `register_op`.
    """
    name = schema.partition("(")[0]

    def add(fn: Callable[..., Any]) -> Any:
        @functools.wraps(fn)
        def checked(input: Array, *args: object, **rest: Any) -> Array:
            dtype = input.dtype
            if (
                not is_floating(dtype)
                and not ("i" in takes and is_integral(dtype))
                and not ("c" in takes and is_complex(dtype))
            ):
                raise DtypeError(f"\"{name}\" not implemented for '{dtype}'. Convert the input with `.float()`.")
            return fn(input, *args, **rest)

        register_op(schema, **settings)(checked)
        return fn

    return add


def held(value: Array, low: Any, high: Any) -> Array:
    """Returns `value` held between the bounds, with the gradient 0 at and beyond them."""
    return jnp.where(value <= low, low, jnp.where(value >= high, high, value)).astype(value.dtype)


# PyTorch takes these derivatives from the result, so that nothing else is saved for them
_relu = with_derivatives(jax.nn.relu, lambda _, result: ~(result <= 0))


@activation("relu(Tensor input) -> Tensor", takes="fi", **EVERYWHERE)
def relu(input):
    return _relu(input) if is_floating(input.dtype) else jax.nn.relu(input)


@activation(
    "hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0) -> Tensor", takes="fi", **FUNCTIONAL, inplace=True
)
def hardtanh(input, min_val, max_val):
    if min_val > max_val:
        raise ArgumentError(f"min_val cannot be greater than max_val, and they are {min_val} and {max_val}")
    return held(input, operand(min_val), operand(max_val))


@activation("leaky_relu(Tensor input, float negative_slope=0.01) -> Tensor", **FUNCTIONAL, inplace=True)
def leaky_relu(input, negative_slope):
    return jnp.where(input > 0, input, input * negative_slope)


@register_op("prelu(Tensor input, Tensor weight) -> Tensor", out=False, namespaces=("", "nn.functional"))
def prelu(input, weight):
    if weight.ndim > 1:
        raise ShapeMismatchError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}. Write "
            "`weight.flatten()`."
        )
    if input.dtype != weight.dtype:
        raise DtypeError(
            f"prelu: Type promoting not supported. Got {input.dtype} and {weight.dtype}. Write "
            "`weight.to(input.dtype)`."
        )
    if weight.size == 1:
        weight = weight.reshape(())
    else:
        if input.ndim == 0:
            raise ShapeMismatchError("Not allow zero-dim input tensor with more than one weight.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.size != channels:
            raise ShapeMismatchError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.size} and "
                f"channel size = {channels}."
            )
        weight = weight.reshape((-1,) + (1,) * (input.ndim - 2))
    return jnp.where(input > 0, input, input * weight)


def _exponential_unit(input: Array, alpha: float, scale: float, input_scale: float) -> Array:
    positive = ~(input <= 0)  # NaN counts as positive
    negative = jnp.where(positive, 0, input)
    return jnp.where(positive, scale * input, scale * alpha * jnp.expm1(negative * input_scale)).astype(input.dtype)


@activation("elu(Tensor input, float alpha=1.0) -> Tensor", **FUNCTIONAL, inplace=True)
def elu(input, alpha):
    return _exponential_unit(input, alpha, 1.0, 1.0)


@activation("celu(Tensor input, float alpha=1.0) -> Tensor", **EVERYWHERE)
def celu(input, alpha):
    if alpha == 0:
        raise ArgumentError("alpha cannot be 0 for CELU")
    return _exponential_unit(input, alpha, 1.0, 1.0 / alpha)


@activation("selu(Tensor input) -> Tensor", **EVERYWHERE)
def selu(input):
    # constants of Klambauer et al., Self-Normalizing Neural Networks, https://arxiv.org/abs/1706.02515
    return _exponential_unit(input, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0)


@activation("gelu(Tensor input, str approximate='none') -> Tensor", **WRITABLE)
def gelu(input, approximate):
    if approximate not in ("none", "tanh"):
        raise ArgumentError(f"approximate argument must be either none or tanh, got {approximate!r}")
    return jax.nn.gelu(input, approximate=approximate == "tanh")


@activation("softplus(Tensor input, float beta=1.0, float threshold=20.0) -> Tensor", **WRITABLE)
def softplus(input, beta, threshold):
    scaled = input * beta
    return jnp.where(scaled > threshold, input, jnp.logaddexp(scaled, 0.0) / beta)


_hardsigmoid = with_derivatives(
    lambda x: held(x + 3, 0, 6) / 6, lambda x, _: jnp.where((x > -3) & (x < 3), jnp.asarray(1 / 6, x.dtype), 0)
)
_hardswish = with_derivatives(
    lambda x: x * held(x + 3, 0, 6) / 6, lambda x, _: jnp.where(x <= -3, 0, jnp.where(x < 3, x / 3 + 0.5, 1))
)


activation("logsigmoid(Tensor input) -> Tensor", **WRITABLE)(lambda input: -jnp.logaddexp(-input, 0.0))


for _takes, _units in {
    "f": {"mish": lambda x: x * jnp.tanh(jnp.logaddexp(x, 0.0)), "hardsigmoid": _hardsigmoid, "hardswish": _hardswish},
    "fc": {"silu": lambda x: x * jax.nn.sigmoid(x)},
    "fic": {"softsign": lambda x: divide(x, absolute(x) + 1), "tanhshrink": lambda x: x - jnp.tanh(x)},
    "fi": {"relu6": lambda x: held(x, 0, 6)},
}.items():
    for _name, _unit in _units.items():
        activation(f"{_name}(Tensor input) -> Tensor", takes=_takes, **FUNCTIONAL)(_unit)


@activation("hardshrink(Tensor input, float lambd=0.5) -> Tensor", **{**EVERYWHERE, "inplace": False, "out": True})
def hardshrink(input, lambd):
    return jnp.where((input >= -lambd) & (input <= lambd), 0, input)


@activation("softshrink(Tensor input, float lambd=0.5) -> Tensor", **WRITABLE)
def softshrink(input, lambd):
    if lambd < 0:
        raise ArgumentError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    values = lambda x: jnp.where(x > lambd, x - lambd, jnp.where(x < -lambd, x + lambd, x * 0))
    return with_derivatives(values, lambda x, _: ~((x >= -lambd) & (x <= lambd)))(input)


@activation(
    "threshold(Tensor input, float threshold, float value) -> Tensor",
    takes="fi",
    **{**EVERYWHERE, "method": False, "out": True},
)
def threshold(input, threshold, value):
    return jnp.where(input <= threshold, value, input).astype(input.dtype)


@register_op("glu(Tensor input, int dim=-1) -> Tensor", method=False, namespaces=("nn.functional",))
def glu(input, dim):
    axis = normalize_dim(dim, input.ndim)
    if input.shape[axis] % 2:
        raise ShapeMismatchError(f"Halving dimension must be even, but dimension {axis} is size {input.shape[axis]}")
    left, right = jnp.split(input, 2, axis)
    return left * jax.nn.sigmoid(right)


@register_op(
    "rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False, *, "
    "Generator? generator=None) -> Tensor",
    random=lambda training, **_: training,
    method=False,
    inplace=True,
    namespaces=("", "nn.functional"),
)
def rrelu(key, input, lower, upper, training, generator):
    if lower > upper:
        raise ArgumentError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return leaky_relu(input, (lower + upper) / 2)
    slope = jax.random.uniform(key, input.shape, input.dtype, lower, upper)
    return jnp.where(input > 0, input, input * slope)


def _implicit_dim(ndim: int) -> int:
    """Returns the dim PyTorch takes for softmax where none is given."""
    return 0 if ndim in (0, 1, 3) else 1


def _softmax(fn: Callable[..., Any], input: Array, dim: int | None, dtype: DTypeLike | None) -> Array:
    input = cast(input, dtype)
    if not is_floating(input.dtype):
        raise DtypeError(f"softmax is not implemented for '{input.dtype}'. Pass `dtype=ja.float32`.")
    return along(fn, input, _implicit_dim(input.ndim) if dim is None else dim)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def softmax_along(value: Array, axis: int) -> Array:
    """Returns the softmax along an axis; its derivative is taken from the result."""
    return jax.nn.softmax(value, axis=axis)


@softmax_along.defjvp
def _softmax_jvp(axis: int, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    result, (tangent,) = softmax_along(*primals, axis), tangents
    return result, result * (tangent - (result * tangent).sum(axis, keepdims=True))


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def log_softmax_along(value: Array, axis: int) -> Array:
    """Returns the logarithm of the softmax along an axis; its derivative is taken from the result."""
    return jax.nn.log_softmax(value, axis=axis)


@log_softmax_along.defjvp
def _log_softmax_jvp(axis: int, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    result, (tangent,) = log_softmax_along(*primals, axis), tangents
    return result, tangent - (jnp.exp(result) * tangent).sum(axis, keepdims=True)


SOFTMAX = "(Tensor input, int? dim=None, Dtype? dtype=None) -> Tensor"


@register_op("softmax" + SOFTMAX, namespaces=("", "nn.functional", "special"))
def softmax(input, dim, dtype):
    return _softmax(softmax_along, input, dim, dtype)


@register_op("log_softmax" + SOFTMAX, namespaces=("", "nn.functional", "special"))
def log_softmax(input, dim, dtype):
    return _softmax(log_softmax_along, input, dim, dtype)


@register_op("softmin" + SOFTMAX, method=False, namespaces=("nn.functional",))
def softmin(input, dim, dtype):
    return softmax(-input, dim, dtype)


@register_op("gumbel_softmax(Tensor logits, float tau=1, bool hard=False, float eps=1e-10, int dim=-1) -> Tensor",
    random=True, method=False, namespaces=("nn.functional",))  # fmt: skip
def gumbel_softmax(key, logits, tau, hard, eps, dim):
    soft = jax.nn.softmax((logits + jax.random.gumbel(key, logits.shape, logits.dtype)) / tau, axis=dim)
    if not hard:
        return soft
    chosen = jax.nn.one_hot(jnp.argmax(soft, axis=dim), logits.shape[dim], dtype=logits.dtype, axis=dim)
    return chosen + (soft - lax.stop_gradient(soft))
