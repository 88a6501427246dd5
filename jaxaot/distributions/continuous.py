"""Distributions of numbers: each class is a row of formulas of its parameters and of values `v`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import jaxaot.distributions.constraints as constraints
from jaxaot.distributions.distribution import TOP, Distribution, Shape, Value
from jaxaot.errors import TensorValueError
from jaxaot.facade.memory.tensor import Tensor

_xlogy, _where = TOP["xlogy"], TOP["where"]
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
_EULER = 0.57721566490153286060
_LOCATED = {"loc": constraints.real, "scale": constraints.positive}


def _standard_gamma(concentration: Tensor, shape: Shape) -> Tensor:
    least = np.finfo(np.float32 if concentration.dtype.itemsize < 8 else np.float64).tiny
    return TOP["_standard_gamma"](concentration.expand(tuple(shape))).clamp(min=float(least))


class _Located(Distribution):
    loc: Tensor
    scale: Tensor
    arg_constraints, support, has_rsample = _LOCATED, constraints.real, True
    mean = mode = property(lambda self: self.loc)

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        self._keep(validate_args, loc=loc, scale=scale)

    def _standard(self, v: Tensor) -> Tensor:
        return (v - self.loc) / self.scale


class Normal(_Located):
    """The normal distribution of a mean `loc` and a standard deviation `scale`."""

    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale**2)
    _draw = lambda self, shape: self.loc + self._blank(shape).normal_() * self.scale
    _density = lambda self, v: -((v - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - _HALF_LOG_TAU
    _below = lambda self, v: 0.5 * (1 + (self._standard(v) / math.sqrt(2)).erf())
    _entropy = lambda self: 0.5 + _HALF_LOG_TAU + self.scale.log()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)


class LogNormal(Normal):
    """The distribution of the exponential of a normal number."""

    stddev = Distribution.stddev
    support = constraints.positive
    mean = property(lambda self: (self.loc + self.scale**2 / 2).exp())
    mode = property(lambda self: (self.loc - self.scale**2).exp())
    variance = property(lambda self: (self.scale**2).expm1() * (2 * self.loc + self.scale**2).exp())

    def _draw(self, shape: Shape) -> Tensor:
        return super()._draw(shape).exp()  # type: ignore[arg-type]

    def _density(self, v: Tensor) -> Tensor:
        return super()._density(v.log()) - v.log()

    def _below(self, v: Tensor) -> Tensor:
        return super()._below(v.log())

    def _entropy(self) -> Tensor:
        return super()._entropy() + self.loc

    def icdf(self, value: Tensor) -> Tensor:
        return super().icdf(value).exp()


class Laplace(_Located):
    """The distribution whose density falls exponentially on both sides of `loc`."""

    variance = property(lambda self: 2 * self.scale**2)
    _draw = lambda self, shape: self.icdf(self._uniform(shape))
    _density = lambda self, v: -(2 * self.scale).log() - (v - self.loc).abs() / self.scale
    _below = lambda self, v: 0.5 - 0.5 * (v - self.loc).sign() * (-self._standard(v).abs()).expm1()
    _entropy = lambda self: 1 + (2 * self.scale).log()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (value - 0.5).sign() * (-2 * (value - 0.5).abs()).log1p()


class Cauchy(_Located):
    """The distribution of the ratio of two normal numbers, shifted and scaled; it has no mean."""

    mean = property(lambda self: TOP["full_like"](self.loc, math.nan))
    variance = property(lambda self: TOP["full_like"](self.loc, math.inf))
    _draw = lambda self, shape: self.loc + self._blank(shape).cauchy_() * self.scale
    _density = lambda self, v: -math.log(math.pi) - self.scale.log() - (self._standard(v) ** 2).log1p()
    _below = lambda self, v: self._standard(v).atan() / math.pi + 0.5
    _entropy = lambda self: math.log(4 * math.pi) + self.scale.log()

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc


class Gumbel(_Located):
    """The distribution of the largest of many draws."""

    mean = property(lambda self: self.loc + self.scale * _EULER)
    variance = property(lambda self: (math.pi * self.scale) ** 2 / 6)
    _draw = lambda self, shape: self.icdf(self._uniform(shape))
    _density = lambda self, v: -self._standard(v) - (-self._standard(v)).exp() - self.scale.log()
    _below = lambda self, v: (-(-self._standard(v)).exp()).exp()
    _entropy = lambda self: self.scale.log() + (1 + _EULER)

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (-value.log()).log()


class Uniform(Distribution):
    """The distribution of all numbers from `low` on that are less than `high`."""

    low: Tensor
    high: Tensor
    arg_constraints, has_rsample = {"low": constraints.real, "high": constraints.real}, True
    support = property(lambda self: constraints.interval(self.low, self.high))
    mean = property(lambda self: (self.high + self.low) / 2)
    mode = property(lambda self: math.nan * self.high)
    variance = property(lambda self: (self.high - self.low) ** 2 / 12)
    _draw = lambda self, shape: self.low + self._blank(shape).uniform_() * (self.high - self.low)
    _below = lambda self, v: ((v - self.low) / (self.high - self.low)).clamp(0, 1)
    _entropy = lambda self: (self.high - self.low).log()

    def __init__(self, low: Value, high: Value, validate_args: bool | None = None) -> None:
        self._keep(validate_args, low=low, high=high)
        if self._is_validated() and not (self.low < self.high).all():
            raise TensorValueError("Uniform is not defined when low>= high")

    def _holds(self, value: Tensor, constraint: constraints.Constraint) -> bool:
        return bool(constraint.check(value).all())  # as the bounds are tensors

    def _density(self, v: Tensor) -> Tensor:
        return ((self.low <= v) & (self.high > v)).to(self.low.dtype).log() - (self.high - self.low).log()

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low


class Exponential(Distribution):
    """The distribution of waiting times for what happens `rate` times in one unit of time."""

    rate: Tensor
    arg_constraints, support, has_rsample = {"rate": constraints.positive}, constraints.nonnegative, True
    mean = stddev = property(lambda self: 1 / self.rate)
    mode = property(lambda self: TOP["zeros_like"](self.rate))
    variance = property(lambda self: self.rate**-2)
    _draw = lambda self, shape: self._blank(shape).exponential_() / self.rate
    _density = lambda self, v: self.rate.log() - self.rate * v
    _below = lambda self, v: 1 - (-self.rate * v).exp()
    _entropy = lambda self: 1 - self.rate.log()

    def __init__(self, rate: Value, validate_args: bool | None = None) -> None:
        self._keep(validate_args, rate=rate)

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate


class HalfNormal(Distribution):
    """The distribution of the absolute value of a normal number whose mean is 0."""

    scale: Tensor
    arg_constraints, support, has_rsample = {"scale": constraints.positive}, constraints.nonnegative, True
    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    mode = property(lambda self: TOP["zeros_like"](self.scale))
    variance = property(lambda self: self.scale**2 * (1 - 2 / math.pi))
    _draw = lambda self, shape: (self._blank(shape).normal_() * self.scale).abs()
    _below = lambda self, v: (v / (self.scale * math.sqrt(2))).erf()
    _entropy = lambda self: 0.5 + _HALF_LOG_TAU + self.scale.log() - math.log(2)

    def __init__(self, scale: Value, validate_args: bool | None = None) -> None:
        self._keep(validate_args, scale=scale)

    def _density(self, v: Tensor) -> Tensor:
        inside = math.log(2) - v**2 / (2 * self.scale**2) - self.scale.log() - _HALF_LOG_TAU
        return _where(v >= 0, inside, -math.inf)

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * math.sqrt(2) * value.erfinv()


class Gamma(Distribution):
    """The gamma distribution of a shape `concentration` and a `rate`."""

    concentration: Any
    rate: Any
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support, has_rsample = constraints.nonnegative, True
    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate**2)
    _draw = lambda self, shape: _standard_gamma(self.concentration, shape) / self.rate
    _below = lambda self, v: TOP["igamma"](self.concentration, self.rate * v)

    def __init__(self, concentration: Value, rate: Value, validate_args: bool | None = None) -> None:
        self._keep(validate_args, concentration=concentration, rate=rate)

    def _density(self, v: Tensor) -> Tensor:
        n, rate = self.concentration, self.rate
        return _xlogy(n, rate) + _xlogy(n - 1, v) - rate * v - n.lgamma()

    def _entropy(self) -> Tensor:
        n = self.concentration
        return n - self.rate.log() + n.lgamma() + (1 - n) * n.digamma()


class Chi2(Gamma):
    """The distribution of the sum of `df` squares of normal numbers."""

    df: Tensor
    arg_constraints = {"df": constraints.positive}
    concentration = property(lambda self: self.df * 0.5)
    rate = property(lambda self: TOP["full_like"](self.df, 0.5))

    def __init__(self, df: Value, validate_args: bool | None = None) -> None:
        self._keep(validate_args, df=df)


class Dirichlet(Distribution):
    """The Dirichlet distribution, of probabilities that add up to 1."""

    concentration: Tensor
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support, has_rsample, _event_dims = constraints.simplex, True, {"concentration": 1}
    _total: Any = property(lambda self: self.concentration.sum(-1, keepdim=True))
    mean = property(lambda self: self.concentration / self._total)
    variance = property(lambda self: self.mean * (1 - self.mean) / (self._total + 1))

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise TensorValueError("`concentration` parameter must be at least one-dimensional.")
        self._keep(validate_args, concentration.shape[-1:], concentration=concentration)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        mode = above / above.sum(-1, keepdim=True)
        corner = (TOP["arange"](self.event_shape[0]) == mode.argmax(-1, keepdim=True)).to(mode.dtype)
        return _where((self.concentration < 1).all(-1, keepdim=True), corner, mode)

    def _draw(self, shape: Shape) -> Tensor:
        drawn = _standard_gamma(self.concentration, shape)
        return drawn / drawn.sum(-1, keepdim=True)

    def _density(self, v: Tensor) -> Tensor:
        n = self.concentration
        return _xlogy(n - 1, v).sum(-1) + n.sum(-1).lgamma() - n.lgamma().sum(-1)

    def _entropy(self) -> Tensor:
        n, total, size = self.concentration, self.concentration.sum(-1), self.event_shape[0]
        spread = (size - total) * total.digamma() + ((n - 1) * n.digamma()).sum(-1)
        return n.lgamma().sum(-1) - total.lgamma() - spread


class Beta(Distribution):
    """The beta distribution, of numbers between 0 and 1."""

    concentration1: Tensor
    concentration0: Tensor
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support, has_rsample = constraints.unit_interval, True
    mean = property(lambda self: self.concentration1 / (self.concentration1 + self.concentration0))
    mode = property(lambda self: self._dirichlet.mode[..., 0])
    variance = property(lambda self: self._dirichlet.variance[..., 0])
    _draw = lambda self, shape: self._dirichlet._draw((*shape, 2))[..., 0]
    _density = lambda self, v: self._dirichlet._density(TOP["stack"]([v, 1 - v], -1))
    _entropy = lambda self: self._dirichlet._entropy()

    def __init__(self, concentration1: Value, concentration0: Value, validate_args: bool | None = None) -> None:
        self._keep(validate_args, concentration1=concentration1, concentration0=concentration0)

    @property
    def _dirichlet(self) -> Dirichlet:
        return Dirichlet(TOP["stack"]([self.concentration1, self.concentration0], -1), validate_args=False)


class StudentT(Distribution):
    """Student's t distribution of `df` degrees of freedom, shifted and scaled."""

    df: Tensor
    loc: Tensor
    scale: Tensor
    arg_constraints = {"df": constraints.positive, **_LOCATED}
    support, has_rsample = constraints.real, True
    mean = property(lambda self: _where(self.df > 1, self.loc, math.nan))
    mode = property(lambda self: self.loc)

    def __init__(self, df: Value, loc: Value = 0.0, scale: Value = 1.0, validate_args: bool | None = None) -> None:
        self._keep(validate_args, df=df, loc=loc, scale=scale)

    @property
    def variance(self) -> Tensor:
        df = _where(self.df > 2, self.df, 3.0)  # whose gradient is finite
        return _where(self.df > 2, self.scale**2 * df / (df - 2), _where(self.df > 1, math.inf, math.nan))

    def _draw(self, shape: Shape) -> Tensor:
        squares = 2 * _standard_gamma(0.5 * self.df, shape)
        return self.loc + self.scale * self._blank(shape).normal_() * (squares / self.df).rsqrt()

    def _density(self, v: Tensor) -> Tensor:
        y, df = (v - self.loc) / self.scale, self.df
        norm = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi) + (0.5 * df).lgamma()
        return -0.5 * (df + 1) * (y**2 / df).log1p() - norm + (0.5 * (df + 1)).lgamma()

    def _entropy(self) -> Tensor:
        half, above = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = half.lgamma() + math.lgamma(0.5) - (half + 0.5).lgamma()
        return self.scale.log() + above * (above.digamma() - half.digamma()) + 0.5 * self.df.log() + log_beta
