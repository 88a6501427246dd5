"""Distributions of numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jaxaot.distributions import constraints
from jaxaot.distributions.distribution import TOP, Distribution, Shape
from jaxaot.errors import TensorValueError
from jaxaot.facade.memory.tensor import Tensor

_xlogy, _where = TOP["xlogy"], TOP["where"]
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
_EULER = 0.57721566490153286060
_LOCATED = {"loc": constraints.real, "scale": constraints.positive}


def _info(tensor: Tensor) -> Any:
    return np.finfo(np.float32 if tensor.dtype.itemsize < 4 else tensor.detach().dtype.name)


class _Drawn(Distribution):
    has_rsample = True

    def _blank(self, like: Tensor, sample_shape: Shape) -> Tensor:
        return like.detach().new_empty(self._extended_shape(sample_shape))

    def _uniform(self, like: Tensor, sample_shape: Shape) -> Tensor:
        """Returns draws between 0 and 1, and neither of them."""
        return self._blank(like, sample_shape).uniform_(float(np.finfo(np.float32).tiny), 1.0)


class _Located(_Drawn):
    loc: Tensor
    scale: Tensor
    arg_constraints = _LOCATED
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._keep(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    def _standard(self, value: Tensor) -> Tensor:
        return (value - self.loc) / self.scale


class Normal(_Located):
    """The normal distribution of a mean `loc` and a standard deviation `scale`."""

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale**2

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.loc + self._blank(self.loc, sample_shape).normal_() * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - _HALF_LOG_TAU

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 0.5 * (1 + (self._standard(value) / math.sqrt(2)).erf())

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + _HALF_LOG_TAU + self.scale.log()


class LogNormal(Normal):
    """The distribution of the exponential of a normal one."""

    support = constraints.positive

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale**2 / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale**2).exp()

    @property
    def variance(self) -> Tensor:
        return (self.scale**2).expm1() * (2 * self.loc + self.scale**2).exp()

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return super().rsample(sample_shape).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        log = value.log()
        return -((log - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - _HALF_LOG_TAU - log

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 0.5 * (1 + (self._standard(value.log()) / math.sqrt(2)).erf())

    def icdf(self, value: Tensor) -> Tensor:
        return super().icdf(value).exp()

    def entropy(self) -> Tensor:
        return super().entropy() + self.loc


class Laplace(_Located):
    """The distribution whose density falls exponentially on both sides of `loc`."""

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale**2

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        drawn = 2 * self._uniform(self.loc, sample_shape) - 1
        return self.loc - self.scale * drawn.sign() * (-drawn.abs().clamp(max=1 - 2.0**-24)).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 0.5 - 0.5 * (value - self.loc).sign() * (-(value - self.loc).abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (value - 0.5).sign() * (-2 * (value - 0.5).abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Cauchy(_Located):
    """The distribution of the ratio of two normal numbers, shifted and scaled; it has no mean."""

    @property
    def mean(self) -> Tensor:
        return TOP["full_like"](self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        return TOP["full_like"](self.loc, math.inf)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.loc + self._blank(self.loc, sample_shape).cauchy_() * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return -math.log(math.pi) - self.scale.log() - (self._standard(value) ** 2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self._standard(value).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class Gumbel(_Located):
    """The distribution of the largest of many draws."""

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * _EULER

    @property
    def variance(self) -> Tensor:
        return (math.pi * self.scale) ** 2 / 6

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        drawn = self._uniform(self.loc, sample_shape)
        return self.loc - self.scale * (-drawn.clamp(max=1 - 2.0**-24).log()).log()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        y = -self._standard(value)
        return y - y.exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return (-(-self._standard(value)).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + _EULER)


class Uniform(_Drawn):
    """The distribution of all numbers from `low` on that are less than `high`."""

    low: Tensor
    high: Tensor
    arg_constraints = {"low": constraints.real, "high": constraints.real}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self._keep(validate_args, low=low, high=high)
        if self._is_validated() and not self._holds(self.high - self.low, constraints.positive):
            raise TensorValueError("Uniform is not defined when low>= high")

    @property
    def support(self) -> Any:  # type: ignore[override]
        return constraints.interval(self.low, self.high)

    def _holds(self, value: Tensor, constraint: constraints.Constraint) -> bool:
        return bool(constraint.check(value).all())  # as bounds are tensors

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return math.nan * self.high

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.low + self._blank(self.low, sample_shape).uniform_() * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        is_inside = ((self.low <= value) & (self.high > value)).to(self.low.dtype)
        return is_inside.log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


class Exponential(_Drawn):
    """The distribution of waiting times, of which there are `rate` in one unit of time."""

    rate: Tensor
    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._keep(validate_args, rate=rate)

    @property
    def mean(self) -> Tensor:
        return 1 / self.rate

    @property
    def mode(self) -> Tensor:
        return TOP["zeros_like"](self.rate)

    @property
    def stddev(self) -> Tensor:
        return 1 / self.rate

    @property
    def variance(self) -> Tensor:
        return self.rate**-2

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._blank(self.rate, sample_shape).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1 - self.rate.log()


class HalfNormal(_Drawn):
    """The distribution of the absolute value of a normal number whose mean is 0."""

    scale: Tensor
    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        self._keep(validate_args, scale=scale)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return TOP["zeros_like"](self.scale)

    @property
    def variance(self) -> Tensor:
        return self.scale**2 * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return (self._blank(self.scale, sample_shape).normal_() * self.scale).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        inside = math.log(2) - value**2 / (2 * self.scale**2) - self.scale.log() - _HALF_LOG_TAU
        return _where(value >= 0, inside, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return (value / (self.scale * math.sqrt(2))).erf()

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * math.sqrt(2) * value.erfinv()

    def entropy(self) -> Tensor:
        return 0.5 + _HALF_LOG_TAU + self.scale.log() - math.log(2)


class Gamma(_Drawn):
    """The gamma distribution of a shape `concentration` and a `rate`."""

    concentration: Tensor
    rate: Tensor
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._keep(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate**2

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        drawn = TOP["_standard_gamma"](self.concentration.expand(self._extended_shape(sample_shape))) / self.rate
        return drawn.clamp(min=float(_info(drawn).tiny))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        shape, rate = self.concentration, self.rate
        return _xlogy(shape, rate) + _xlogy(shape - 1, value) - rate * value - shape.lgamma()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return TOP["igamma"](self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape - self.rate.log() + shape.lgamma() + (1 - shape) * shape.digamma()


class Chi2(Gamma):
    """The distribution of the sum of `df` squares of normal numbers."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        self._keep(validate_args, df=df)

    df: Tensor

    @property
    def concentration(self) -> Tensor:  # type: ignore[override]
        return self.df * 0.5

    @property
    def rate(self) -> Tensor:  # type: ignore[override]
        return TOP["full_like"](self.df, 0.5)


class Dirichlet(_Drawn):
    """The Dirichlet distribution, of probabilities that add up to 1."""

    concentration: Tensor
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    _event_dims = {"concentration": 1}

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise TensorValueError("`concentration` parameter must be at least one-dimensional.")
        self._keep(validate_args, concentration.shape[-1:], concentration=concentration)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        mode = above / above.sum(-1, keepdim=True)
        n = self.concentration.shape[-1]
        corner = (TOP["arange"](n) == mode.argmax(-1, keepdim=True)).to(mode.dtype)
        return _where((self.concentration < 1).all(-1, keepdim=True), corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        drawn = TOP["_standard_gamma"](self.concentration.expand(self._extended_shape(sample_shape)))
        drawn = drawn.clamp(min=float(_info(drawn).tiny))
        return drawn / drawn.sum(-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        shape = self.concentration
        return _xlogy(shape - 1, value).sum(-1) + shape.sum(-1).lgamma() - shape.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        shape, total, n = self.concentration, self.concentration.sum(-1), self.concentration.shape[-1]
        spread = ((shape - 1) * shape.digamma()).sum(-1)
        return shape.lgamma().sum(-1) - total.lgamma() - (n - total) * total.digamma() - spread


class Beta(_Drawn):
    """The beta distribution, of numbers between 0 and 1."""

    concentration1: Tensor
    concentration0: Tensor
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self._keep(validate_args, concentration1=concentration1, concentration0=concentration0)

    @property
    def _dirichlet(self) -> Dirichlet:
        return Dirichlet(TOP["stack"]([self.concentration1, self.concentration0], -1), validate_args=False)

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total**2 * (total + 1))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self._dirichlet.log_prob(TOP["stack"]([value, 1 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()


class StudentT(_Drawn):
    """Student's t distribution of `df` degrees of freedom, shifted and scaled."""

    df: Tensor
    loc: Tensor
    scale: Tensor
    arg_constraints = {"df": constraints.positive, **_LOCATED}
    support = constraints.real

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._keep(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return _where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        df = _where(self.df > 2, self.df, 3.0)  # whose gradient is finite
        finite = self.scale**2 * df / (df - 2)
        return _where(self.df > 2, finite, _where(self.df > 1, math.inf, math.nan))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        normal = self._blank(self.df, sample_shape).normal_()
        return self.loc + self.scale * normal * (Chi2(self.df, False).rsample(sample_shape) / self.df).rsqrt()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        y, df = (value - self.loc) / self.scale, self.df
        norm = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi) + (0.5 * df).lgamma()
        return -0.5 * (df + 1) * (y**2 / df).log1p() - norm + (0.5 * (df + 1)).lgamma()

    def entropy(self) -> Tensor:
        half, above = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = half.lgamma() + math.lgamma(0.5) - (half + 0.5).lgamma()
        return self.scale.log() + above * (above.digamma() - half.digamma()) + 0.5 * self.df.log() + log_beta
