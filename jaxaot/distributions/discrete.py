"""Distributions of whole numbers and of choices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import jaxaot.distributions.constraints as constraints
from jaxaot.distributions.distribution import TOP, Distribution, Shape, Value, as_parameters
from jaxaot.errors import TensorValueError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.ops.promotion import default_int

_Given = Value | None
_where = TOP["where"]


def _info(tensor: Tensor, least: type = np.float32) -> Any:
    return np.finfo(least if tensor.dtype.itemsize <= 2 else tensor.dtype.name)


class _OfProbabilities(Distribution):
    """A distribution that is given by probabilities or by their logits, one of which is kept."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    _is_binary = True

    def __init__(self, probs: _Given = None, logits: _Given = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise TensorValueError("Either `probs` or `logits` must be specified, but not both.")
        given: dict[str, Any] = {"logits": logits} if probs is None else {"probs": probs}
        self._keep(validate_args, **given)

    def __getattr__(self, name: str) -> Any:
        if name not in ("probs", "logits") or self._kept == ():
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
        kept = self._param
        if name == "probs":
            return kept.sigmoid() if self._is_binary else functional.softmax(kept, -1)
        eps = float(_info(kept).eps)
        inside = kept.clamp(eps, 1 - eps)
        return inside.log() - (-inside).log1p() if self._is_binary else inside.log()

    @property
    def _param(self) -> Tensor:
        return vars(self)[self._kept[0]]

    def _cross_entropy(self) -> Tensor:
        return functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Bernoulli(_OfProbabilities):
    """The distribution of 1 with a probability `probs`, else 0."""

    support, has_enumerate_support = constraints.boolean, True
    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))
    _draw = lambda self, shape: self.probs.expand(tuple(shape)).bernoulli()
    _entropy = lambda self: self._cross_entropy()

    @property
    def mode(self) -> Tensor:
        probs = self.probs
        return _where(probs == 0.5, math.nan, (probs >= 0.5).to(probs.dtype))

    def _density(self, v: Tensor) -> Tensor:
        logits, v = TOP["broadcast_tensors"](self.logits, v)
        return -functional.binary_cross_entropy_with_logits(logits, v, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = TOP["arange"](2, dtype=self._param.dtype).reshape(-1, *[1] * len(self.batch_shape))
        return values.expand(-1, *self.batch_shape) if expand else values


class Geometric(_OfProbabilities):
    """The distribution of how often a trial fails before it succeeds."""

    support = constraints.nonnegative_integer
    mean = property(lambda self: 1 / self.probs - 1)
    mode = property(lambda self: TOP["zeros_like"](self.probs))
    variance = property(lambda self: (1 / self.probs - 1) / self.probs)
    _draw = lambda self, shape: (self._uniform(shape).log() / (-self.probs).log1p()).floor()
    _entropy = lambda self: self._cross_entropy() / self.probs

    def __init__(self, probs: _Given = None, logits: _Given = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        if logits is None and self._is_validated():
            self._check_parameter("probs", self.probs, constraints.positive)

    def _density(self, v: Tensor) -> Tensor:
        v, probs = TOP["broadcast_tensors"](v, self.probs)
        return v * (-_where((probs == 1) & (v == 0), 0.0, probs)).log1p() + self.probs.log()


class Categorical(_OfProbabilities):
    """The distribution of a choice, an index into the last dim of `probs` or `logits`."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support, _is_binary, _event_dims = True, False, {"probs": 1, "logits": 1}
    support = property(lambda self: constraints.integer_interval(0, self._num_events - 1))
    param_shape: Any = property(lambda self: self._param.shape)
    mean = variance = property(lambda self: self._param.new_full(tuple(self.batch_shape), math.nan))
    mode = property(lambda self: self.probs.argmax(-1))
    _num_events: Any = property(lambda self: self._param.shape[-1])

    def __init__(self, probs: _Given = None, logits: _Given = None, validate_args: bool | None = None) -> None:
        given = {name: x for name, x in (("probs", probs), ("logits", logits)) if x is not None}
        for name, x in as_parameters(given).items():
            if x.ndim < 1:
                raise TensorValueError(f"`{name}` parameter must be at least one-dimensional.")
            given[name] = x / x.sum(-1, keepdim=True) if name == "probs" else x - x.logsumexp(-1, keepdim=True)
        super().__init__(given.get("probs"), given.get("logits"), validate_args)

    def _draw(self, shape: Shape) -> Tensor:
        n = math.prod(shape[: len(shape) - len(self.batch_shape)])
        drawn = TOP["multinomial"](self.probs.reshape(-1, self._num_events), n, True)
        return drawn.t().reshape(tuple(shape))

    def _density(self, v: Tensor) -> Tensor:
        v, logits = TOP["broadcast_tensors"](v.to(dtype=default_int()).unsqueeze(-1), self.logits)
        return logits.gather(-1, v[..., :1]).squeeze(-1)

    def _entropy(self) -> Tensor:
        logits = self.logits
        return -(logits.clamp(min=float(_info(logits, np.float16).min)) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = TOP["arange"](self._num_events).reshape(-1, *[1] * len(self.batch_shape))
        return values.expand(-1, *self.batch_shape) if expand else values


class OneHotCategorical(Categorical):
    """The distribution of a choice, as a vector that is 1 at its place."""

    support = property(lambda self: constraints.one_hot)
    mean = property(lambda self: self.probs)
    mode = property(lambda self: self._hot(self.probs.argmax(-1)))
    variance = property(lambda self: self.probs * (1 - self.probs))
    _draw = lambda self, shape: self._hot(Categorical._draw(self, shape[:-1]))

    def __init__(self, probs: _Given = None, logits: _Given = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        self.event_shape = self._param.shape[-1:]

    def _hot(self, indices: Tensor) -> Tensor:
        return functional.one_hot(indices, self._num_events).to(self._param.dtype)

    def _density(self, v: Tensor) -> Tensor:
        v, logits = TOP["broadcast_tensors"](v, self.logits)
        return logits.gather(-1, v.argmax(-1, keepdim=True)).squeeze(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._num_events
        values = TOP["eye"](n, dtype=self._param.dtype).reshape(n, *[1] * len(self.batch_shape), n)
        return values.expand(n, *self.batch_shape, n) if expand else values


class Poisson(Distribution):
    """The distribution of how often something happens that happens `rate` times on average."""

    rate: Tensor
    arg_constraints, support = {"rate": constraints.nonnegative}, constraints.nonnegative_integer
    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())
    _draw = lambda self, shape: TOP["poisson"](self.rate.expand(tuple(shape)))
    _density = lambda self, v: TOP["xlogy"](v, self.rate) - self.rate - (v + 1).lgamma()

    def __init__(self, rate: Value, validate_args: bool | None = None) -> None:
        self._keep(validate_args, rate=rate)
