"""Distributions of whole numbers and of choices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jaxaot.distributions import constraints
from jaxaot.distributions.distribution import TOP, Distribution, Shape, as_parameters
from jaxaot.errors import TensorValueError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.ops.promotion import default_int


class _OfProbabilities(Distribution):
    """A distribution that is given by probabilities or by their logits, one of which is kept."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    _is_binary = True

    def _keep_one(self, probs: Any, logits: Any, validate_args: bool | None) -> None:
        if (probs is None) == (logits is None):
            raise TensorValueError("Either `probs` or `logits` must be specified, but not both.")
        self._name = "logits" if probs is None else "probs"
        self._keep(validate_args, **{self._name: logits if probs is None else probs})

    def __getattr__(self, name: str) -> Any:
        if name == "_name" or name not in ("probs", "logits"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
        kept = self._param
        if name == "probs":
            return kept.sigmoid() if self._is_binary else functional.softmax(kept, -1)
        eps = float(np.finfo(kept.dtype.name if kept.dtype.itemsize > 2 else np.float32).eps)
        inside = kept.clamp(eps, 1 - eps)
        return inside.log() - (-inside).log1p() if self._is_binary else inside.log()

    @property
    def _param(self) -> Tensor:
        return vars(self)[self._name]

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no `rsample`. Write `sample`, and weigh by `log_prob`.")


class Bernoulli(_OfProbabilities):
    """The distribution of 1 with a probability `probs`, else 0."""

    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._keep_one(probs, logits, validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        probs = self.probs
        return TOP["where"](probs == 0.5, math.nan, (probs >= 0.5).to(probs.dtype))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with recording(False):
            return self.probs.expand(self._extended_shape(sample_shape)).bernoulli()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = TOP["broadcast_tensors"](self.logits, value)
        return -functional.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = TOP["arange"](2, dtype=self._param.dtype).reshape(-1, *[1] * len(self.batch_shape))
        return values.expand(-1, *self.batch_shape) if expand else values


class Geometric(_OfProbabilities):
    """The distribution of how often a trial fails before it succeeds."""

    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._keep_one(probs, logits, validate_args)
        if probs is not None and self._is_validated():
            self._check_parameter("probs", self.probs, constraints.positive)

    @property
    def mean(self) -> Tensor:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        return TOP["zeros_like"](self.probs)

    @property
    def variance(self) -> Tensor:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with recording(False):
            drawn = self.probs.new_empty(self._extended_shape(sample_shape))
            drawn.uniform_(float(np.finfo(np.float32).tiny), 1.0)
            return (drawn.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        value, probs = TOP["broadcast_tensors"](value, self.probs)
        probs = TOP["where"]((probs == 1) & (value == 0), 0.0, probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Categorical(_OfProbabilities):
    """The distribution of a choice, an index into the last dim of `probs` or `logits`."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _event_dims = {"probs": 1, "logits": 1}
    _is_binary = False

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = logits if probs is None else probs
        if given is not None:
            given = as_parameters({"given": given})["given"]
            if given.ndim < 1:
                name = "logits" if probs is None else "probs"
                raise TensorValueError(f"`{name}` parameter must be at least one-dimensional.")
            if logits is None:
                probs = given / given.sum(-1, keepdim=True)
            elif probs is None:
                logits = given - given.logsumexp(-1, keepdim=True)
        self._keep_one(probs, logits, validate_args)

    @property
    def _num_events(self) -> int:
        return self._param.shape[-1]

    @property
    def support(self) -> Any:  # type: ignore[override]
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> Any:
        """The shape of `probs` and `logits`."""
        return self._param.shape

    @property
    def mean(self) -> Tensor:
        return self._param.new_full(tuple(self.batch_shape), math.nan)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self.mean

    def _indices(self, sample_shape: Shape) -> Tensor:
        with recording(False):
            rows = self.probs.reshape(-1, self._num_events)
            drawn = TOP["multinomial"](rows, math.prod(sample_shape), True)
            return drawn.t().reshape((*sample_shape, *self.batch_shape))

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return self._indices(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        value, logits = TOP["broadcast_tensors"](value.to(dtype=default_int()).unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits
        least = float(np.finfo(logits.dtype.name if logits.dtype.itemsize > 2 else np.float16).min)
        return -(logits.clamp(min=least) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = TOP["arange"](self._num_events).reshape(-1, *[1] * len(self.batch_shape))
        return values.expand(-1, *self.batch_shape) if expand else values


class OneHotCategorical(Categorical):
    """The distribution of a choice, as a vector that is 1 at its place."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        self.event_shape = self._param.shape[-1:]

    @property
    def support(self) -> Any:  # type: ignore[override]
        return constraints.one_hot

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def _hot(self, indices: Tensor) -> Tensor:
        return functional.one_hot(indices, self._num_events).to(self._param.dtype)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return self._hot(self._indices(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        value, logits = TOP["broadcast_tensors"](value, self.logits)
        return logits.gather(-1, value.argmax(-1, keepdim=True)).squeeze(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._num_events
        values = TOP["eye"](n, dtype=self._param.dtype).reshape(n, *[1] * len(self.batch_shape), n)
        return values.expand(n, *self.batch_shape, n) if expand else values


class Poisson(Distribution):
    """The distribution of how often something happens that happens `rate` times on average."""

    rate: Tensor
    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._keep(validate_args, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with recording(False):
            return TOP["poisson"](self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return TOP["xlogy"](value, self.rate) - self.rate - (value + 1).lgamma()
