"""Kullback-Leibler divergences between two distributions of one kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jaxaot.distributions.continuous import Beta, Dirichlet, Exponential, Gamma, Laplace, Normal, Uniform
from jaxaot.distributions.discrete import Bernoulli, Categorical, Poisson
from jaxaot.distributions.distribution import TOP, Distribution, Independent, summed
from jaxaot.distributions.multivariate_normal import MultivariateNormal
from jaxaot.errors import TensorValueError
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional

Divergence = Callable[[Any, Any], Tensor]

_PAIRS: dict[tuple[type, type], Divergence] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """Returns a decorator for the function that computes the divergence of two classes of distributions."""

    def register(fn: Divergence) -> Divergence:
        _PAIRS[type_p, type_q] = fn
        return fn

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Returns the Kullback-Leibler divergence KL(p ‖ q), of the shape of the batch.

    Raises:
      NotImplementedError: If there is no formula for the two classes. `register_kl` adds one.
    """
    found = [_PAIRS.get((one, other)) for one in type(p).__mro__ for other in type(q).__mro__]
    formula = next((fn for fn in found if fn is not None), None)
    if formula is None:
        names = f"{type(p).__name__}, {type(q).__name__}"
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}. Write one: "
            f"`@ja.distributions.register_kl({names})`."
        )
    return formula(p, q)


@register_kl(Normal, Normal)
def _of_normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ratio.log())


@register_kl(Laplace, Laplace)
def _of_laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Exponential, Exponential)
def _of_exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Uniform, Uniform)
def _of_uniform(p: Uniform, q: Uniform) -> Tensor:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return TOP["where"]((q.low > p.low) | (q.high < p.high), math.inf, found)


@register_kl(Gamma, Gamma)
def _of_gamma(p: Gamma, q: Gamma) -> Tensor:
    shift = q.concentration * (p.rate / q.rate).log() + q.concentration.lgamma() - p.concentration.lgamma()
    spread = (p.concentration - q.concentration) * p.concentration.digamma()
    return shift + spread + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Dirichlet, Dirichlet)
def _of_dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    one, other, total = p.concentration, q.concentration, p.concentration.sum(-1)
    shift = total.lgamma() - other.sum(-1).lgamma() - (one.lgamma() - other.lgamma()).sum(-1)
    return shift + ((one - other) * (one.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _of_beta(p: Beta, q: Beta) -> Tensor:
    return _of_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Bernoulli, Bernoulli)
def _of_bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    p_logits, q_logits, probs = p.logits, q.logits, p.probs
    first = probs * (functional.softplus(-q_logits) - functional.softplus(-p_logits))
    second = (1 - probs) * (functional.softplus(q_logits) - functional.softplus(p_logits))
    first = TOP["where"](q.probs == 0, math.inf, first)
    first = TOP["where"](probs == 0, 0.0, first)
    second = TOP["where"](q.probs == 1, math.inf, second)
    return first + TOP["where"](probs == 1, 0.0, second)


@register_kl(Categorical, Categorical)
def _of_categorical(p: Categorical, q: Categorical) -> Tensor:
    found = p.probs * (p.logits - q.logits)
    found = TOP["where"]((q.probs == 0).expand(found.shape), math.inf, found)
    return TOP["where"]((p.probs == 0).expand(found.shape), 0.0, found).sum(-1)


@register_kl(Poisson, Poisson)
def _of_poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(MultivariateNormal, MultivariateNormal)
def _of_vectors(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise TensorValueError("KL-divergence between two MultivariateNormals with different event shapes")
    solve, n = FUNCTIONS["linalg"]["solve_triangular"], p.event_shape[0]
    shape = TOP["broadcast_shapes"](p.batch_shape, q.batch_shape)
    p, q = p.expand(shape), q.expand(shape)
    trace = (solve(q.scale_tril, p.scale_tril, upper=False) ** 2).sum((-2, -1))
    apart = (solve(q.scale_tril, (q.loc - p.loc).unsqueeze(-1), upper=False) ** 2).sum((-2, -1))
    return q._half_log_det - p._half_log_det + 0.5 * (trace + apart - n)


@register_kl(Independent, Independent)
def _of_independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL(p || q) of two Independents needs one `reinterpreted_batch_ndims`.")
    return summed(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
