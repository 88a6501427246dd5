"""Distributions against PyTorch's: shapes, densities, moments, gradients, checks; eager and compiled."""

import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each

A, B = np.array([[0.5], [1.5]], np.float32), np.array([0.7, 2.0, 3.0], np.float32)
P = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], np.float32)
L = np.array([[1.0, 0.0], [0.5, 0.8]], np.float32)
IN, UP, WHOLE = np.float32([0.1, 0.4, 0.8]), np.float32([0.3, 1.0, 2.5]), np.float32([0, 1, 3])

CASES = {
    "Normal": (("Normal", A, B), UP),
    "Normal-numbers": (("Normal", 0, 2.5), UP),
    "LogNormal": (("LogNormal", A, B), UP),
    "Laplace": (("Laplace", A, B), UP),
    "Cauchy": (("Cauchy", A, B), UP),
    "Gumbel": (("Gumbel", A, B), UP),
    "HalfNormal": (("HalfNormal", B), UP),
    "Uniform": (("Uniform", A - 2, B + 2), UP),
    "Exponential": (("Exponential", B), UP),
    "Gamma": (("Gamma", A, B), UP),
    "Chi2": (("Chi2", B), UP),
    "Beta": (("Beta", A, B), IN),
    "StudentT": (("StudentT", B, A), UP),
    "Dirichlet": (("Dirichlet", A * B), P),
    "Poisson": (("Poisson", B), WHOLE),
    "Bernoulli": (("Bernoulli", P), np.float32([0, 1, 1])),
    "Bernoulli-logits": (("Bernoulli", None, A), np.float32([[0], [1]])),
    "Geometric": (("Geometric", P), WHOLE),
    "Categorical": (("Categorical", P), np.array([2, 0])),
    "Categorical-logits": (("Categorical", None, A * B), np.array([[2, 0], [1, 1]])),
    "OneHotCategorical": (("OneHotCategorical", None, A * B), np.float32([[0, 1, 0], [1, 0, 0]])),
    "MultivariateNormal": (("MultivariateNormal", A * [1, 2], L @ L.T), np.float32([0.3, -1])),
    "MultivariateNormal-precision": (("MultivariateNormal", A[0] * [1, 2], None, L @ L.T), A * [1, 3]),
    "MultivariateNormal-tril": (("MultivariateNormal", A * [1, 2], None, None, L), np.float32([0.3, -1])),
}


def make(library, name, *args):
    """Returns a distribution and its parameters."""
    tensors = [library.tensor(np.float32(x)).requires_grad_() if isinstance(x, np.ndarray) else x for x in args]
    return getattr(library.distributions, name)(*tensors), [x for x in tensors if hasattr(x, "detach")]


def described(library, case):
    """Returns what a distribution is, and the gradients of what it computes."""
    (name, *args), value = CASES[case]
    made, parameters = make(library, name, *args)
    value = library.tensor(value)
    found = [made.log_prob(value), made.mean, made.variance, made.stddev, made.mode]
    for method, given in (("entropy", ()), ("cdf", (value,)), ("icdf", (library.tensor(IN),))):
        try:
            computed = getattr(made, method)(*given)
            found.append(computed.detach() if name in ("Gamma", "Chi2") and method == "cdf" else computed)
        except NotImplementedError:
            if library is ja:
                found.append(None)
            continue
    wide = made.expand((4, 2, 3) if name in ("Normal", "Beta") else (4, *made.batch_shape))
    shapes = [made.batch_shape, made.event_shape, wide.batch_shape, wide.sample((5,)).shape, made.sample().shape]
    shapes += [made.sample().dtype == library.tensor(1.0).dtype, made.has_rsample, made.has_enumerate_support]
    found = [x for x in found if x is not None]
    loss = sum(library.where(library.isfinite(x), x, library.zeros(())).sum() for x in found if x.requires_grad)
    if parameters:
        loss.backward()
    gradients = [p.grad for p in parameters]
    return [x.detach().numpy() for x in (*found, *gradients)], [
        tuple(s) if s not in (True, False) else s for s in shapes
    ]


@pytest.mark.oracle
@each("case", CASES)
def test_a_distribution_is_that_of_pytorch(case):
    torch = pytest.importorskip("torch")
    found, shapes = described(ja, case)
    expected, as_shapes = described(torch, case)
    assert shapes == as_shapes and len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)


DIVERGENCES = {
    "Normal": ((A, B), (B, A)),
    "Laplace": ((A, B), (B, A)),
    "Uniform": ((A - 1, A + 1), (A - 2, B + 2)),
    "Exponential": ((A,), (B,)),
    "Gamma": ((A, B), (B, A)),
    "Beta": ((A, B), (B, A)),
    "Dirichlet": ((A * B,), (B,)),
    "Poisson": ((A,), (B,)),
    "Bernoulli": ((P,), (P[::-1].copy(),)),
    "Categorical": ((P,), (None, A * B)),
    "MultivariateNormal": ((A * [1, 2], L @ L.T), (A[0] * [1, 1], None, L @ L.T)),
}


@pytest.mark.oracle
@each("name", DIVERGENCES)
def test_divergences_are_those_of_pytorch(name):
    torch = pytest.importorskip("torch")
    results = []
    for library in (ja, torch):
        (p, of_p), (q, of_q) = (make(library, name, *args) for args in DIVERGENCES[name])
        found = library.distributions.kl_divergence(p, q)
        found.sum().backward()
        results.append([found.detach().numpy(), *(x.grad.numpy() for x in (*of_p, *of_q))])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.oracle
def test_independent_dims_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    results = []
    for library in (ja, torch):
        d = library.distributions
        p, q = (d.Independent(make(library, "Normal", x + np.zeros_like(P), B)[0], 1) for x in (A[:, :1], 1 - A))
        results.append([p.log_prob(library.tensor(P)), p.entropy(), d.kl_divergence(p, q), p.mean, p.variance])
        shapes = (p.batch_shape, p.event_shape, p.sample((4,)).shape, p.expand((3, 2)).sample().shape)
        assert [tuple(s) for s in shapes] == [(2,), (3,), (4, 2, 3), (3, 2, 3)]
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-5)


@pytest.mark.slow
@each("name", ["Normal", "Laplace", "Gumbel", "Uniform", "Exponential", "Gamma", "Beta", "Bernoulli", "Categorical"])
def test_draws_have_the_moments_that_are_said(name):
    args = {"Uniform": (A[1] - 2, B + 2), "Exponential": (B,), "Bernoulli": (P[0],), "Categorical": (P[0],)}
    made, _ = make(ja, name, *args.get(name, (A[1] + 2, B + 1)))
    ja.manual_seed(0)
    drawn = made.sample((4000,)).numpy().astype(np.float32)
    assert made.sample().requires_grad is False
    mean, variance = (made.mean, made.variance) if name != "Categorical" else (ja.tensor(1.3), ja.tensor(0.61))
    mean, variance = mean.detach().numpy(), variance.detach().numpy()
    assert (abs(drawn.mean(0) - mean) < 5 * np.sqrt(variance / 4000)).all()
    np.testing.assert_allclose(drawn.var(0), variance, rtol=0.25)


def flow(name):
    made, parameters = make(ja, name, *CASES[name][0][1:])
    made.rsample((3,)).square().sum().backward()
    assert all(np.isfinite(p.grad.numpy()).all() and (p.grad != 0).all() for p in parameters)


@pytest.mark.slow
def test_gradients_flow_through_draws():
    flow("Normal")
    with pytest.raises(NotImplementedError, match="Write `sample`"):
        make(ja, "Categorical", P)[0].rsample()


@pytest.mark.slow
@each("name", ["Laplace", "Gumbel", "Gamma", "Beta", "Dirichlet", "StudentT", "MultivariateNormal"])
def test_gradients_flow_through_all_draws(name):
    flow(name)


REFUSED = {
    "scale": (lambda d: d.Normal(0.0, -1.0), "Expected parameter scale .* GreaterThan"),
    "nan": (lambda d: d.Categorical(logits=ja.tensor([0.0, float("nan")])), "parameter logits"),
    "support": (lambda d: d.Exponential(1.0).log_prob(ja.tensor(-1.0)), "within the support"),
    "category": (lambda d: d.Categorical(ja.ones(3)).log_prob(ja.tensor(3)), "IntegerInterval.lower_bound=0, upper"),
    "shape": (lambda d: d.Normal(ja.zeros(3), 1.0).log_prob(ja.zeros(2)), "not broadcastable"),
    "both": (lambda d: d.Bernoulli(0.5, 0.5), "Either `probs` or `logits`"),
    "bounds": (lambda d: d.Uniform(1.0, 1.0), "low>= high"),
    "none": (lambda d: d.MultivariateNormal(ja.zeros(2)), "Exactly one of"),
    "number": (lambda d: d.Normal(0.0, 1.0).log_prob(1.0), "must be a Tensor"),
}


@each(("use", "words"), list(REFUSED.values()))
def test_what_is_no_parameter_and_no_value_says_so(use, words):
    with pytest.raises((ValueError, TypeError), match=words):
        use(ja.distributions)


def test_checks_can_be_left_out():
    d = ja.distributions
    assert not d.Exponential(1.0, validate_args=False).log_prob(ja.tensor(-1.0)).isnan()
    d.Distribution.set_default_validate_args(False)
    try:
        d.Normal(0.0, -1.0)
    finally:
        d.Distribution.set_default_validate_args(True)


def test_a_distribution_shows_its_parameters():
    assert repr(ja.distributions.Normal(0, 1)) == "Normal(loc: 0.0, scale: 1.0)"
    assert repr(ja.distributions.Categorical(ja.ones(2, 3))) == "Categorical(probs: [2, 3])"


# -- compiled ----------------------------------------------------------------------------------------------------------


def ppo(policy, value_of, optimizer):
    """Returns a step of PPO, as CleanRL writes it."""
    Categorical = ja.distributions.Categorical

    def step(seen, actions, before, advantages, returns):
        choice = Categorical(logits=policy(seen))
        ratio = (choice.log_prob(actions) - before).exp()
        surrogate = ja.max(-advantages * ratio, -advantages * ratio.clamp(0.8, 1.2)).mean()
        loss = surrogate - 0.01 * choice.entropy().mean() + 0.5 * (value_of(seen).squeeze(-1) - returns).square().mean()
        optimizer.zero_grad()
        loss.backward()
        ja.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
        drawn = Categorical(logits=policy(seen)).sample()
        return loss.detach(), drawn

    return step


def run_ppo(how):
    ja.manual_seed(1)
    policy, value_of = ja.nn.Linear(4, 3), ja.nn.Linear(4, 1)
    optimizer = ja.optim.SGD([*policy.parameters(), *value_of.parameters()], lr=0.1)
    given = [ja.randn(8, 4), ja.arange(8) % 3, *ja.randn(3, 8)]
    before = [x.detach().numpy().copy() for x in (policy.weight, policy.bias, value_of.weight, value_of.bias, *given)]
    step = how(ppo(policy, value_of, optimizer))
    return [x.numpy() for _ in range(2) for x in step(*given)], before


def test_a_step_of_ppo_is_compiled():
    found, (w, b, v, c, seen, actions, old, advantages, returns) = run_ppo(
        lambda step: ja.compile(step, fullgraph=True)
    )
    logits = seen @ w.T + b
    logits -= np.log(np.exp(logits).sum(-1, keepdims=True))
    ratio = np.exp(logits[np.arange(8), actions] - old)
    surrogate = np.maximum(-advantages * ratio, -advantages * ratio.clip(0.8, 1.2)).mean()
    entropy = -(np.exp(logits) * logits).sum(-1).mean()
    expected = surrogate - 0.01 * entropy + 0.5 * (((seen @ v.T + c)[:, 0] - returns) ** 2).mean()
    assert found[0] == pytest.approx(expected, rel=1e-4) and found[2] < found[0]
    assert found[1].shape == (8,) and set(found[1]) <= {0, 1, 2}


@pytest.mark.slow
def test_a_step_of_ppo_is_the_same_eagerly():
    for one, other in zip(run_ppo(lambda step: step)[0], run_ppo(ja.compile)[0], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_a_distribution_outside_of_a_compiled_function_is_read():
    prior = ja.distributions.Normal(ja.zeros(2), ja.ones(2))

    @ja.compile(fullgraph=True)
    def divergence(mean, of):
        return ja.distributions.kl_divergence(ja.distributions.Normal(mean, 1.0), of).sum()

    shifted = ja.distributions.Normal(ja.ones(2), ja.ones(2))
    mean = ja.tensor([1.0, 3.0])
    assert [divergence(mean, d).item() for d in (prior, shifted)] == [5.0, 2.0]
    prior.loc.add_(1.0)
    assert divergence(mean, prior).item() == 2.0
    prior.loc = ja.tensor([3.0, 3.0])
    assert divergence(mean, prior).item() == 2.0
    prior.scale = ja.tensor([2.0, 2.0])
    assert divergence(mean, prior).item() == pytest.approx(2 * (np.log(2) + 0.125 - 0.5) + 4 / 8)
