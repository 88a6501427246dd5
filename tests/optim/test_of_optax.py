"""optax's transformations on tensors: its numbers, eager and compiled; saved and loaded."""

import numpy as np
import optax
import pytest

import jaxaot as ja
from tests.seeds import some

TRANSFORMATIONS = {
    "adamw": optax.adamw(0.1),
    "schedule": optax.sgd(optax.cosine_decay_schedule(0.5, 5), momentum=0.9),
    "chain": optax.chain(optax.clip_by_global_norm(0.5), optax.lion(0.05)),
    "injected": optax.inject_hyperparams(optax.rmsprop)(learning_rate=0.1),
}


def by_optax(tx, start, gradients):
    params, state = dict(start), tx.init(start)
    for gradient in gradients:
        updates, state = tx.update(gradient, state, params)
        params = optax.apply_updates(params, updates)
    return params


def case():
    rng = np.random.default_rng(0)
    draw = lambda: {"a": rng.normal(size=(2, 3)).astype(np.float32), "b": rng.normal(size=4).astype(np.float32)}
    return draw(), [draw() for _ in range(4)]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("is_compiled", some([True, False], 1))
@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_steps_are_those_of_optax(name, is_compiled):
    tx, (start, gradients) = TRANSFORMATIONS[name], case()
    params = {key: ja.tensor(value).requires_grad_() for key, value in start.items()}
    optimizer = ja.optim.from_optax(tx, params)
    memory = {key: p.untyped_storage() for key, p in params.items()}

    def step(factors):
        optimizer.zero_grad()
        sum((p * f).sum() for p, f in zip(params.values(), factors, strict=True)).backward()
        optimizer.step()

    call = ja.compile(step) if is_compiled else step
    for gradient in gradients:
        call([ja.tensor(g) for g in gradient.values()])
    for key, value in by_optax(tx, start, gradients).items():
        np.testing.assert_allclose(params[key].detach().numpy(), value, rtol=1e-5, atol=1e-6)
        assert params[key].untyped_storage() is memory[key] and params[key].is_leaf
    if is_compiled:
        assert call.cache_info().misses == 1, call.explain_recompiles()


def test_a_run_is_resumed_and_another_transformation_is_refused():
    start, gradients = case()
    make = lambda tx=TRANSFORMATIONS["adamw"]: (
        params := [ja.tensor(value).requires_grad_() for value in start.values()],
        ja.optim.from_optax(tx, params),
    )

    def step(params, optimizer, gradient):
        for p, g in zip(params, gradient.values(), strict=True):
            p.grad = ja.tensor(g)
        optimizer.step()

    params, optimizer = make()
    for gradient in gradients[:2]:
        step(params, optimizer, gradient)
    others, other = make()
    with ja.no_grad():
        for p, q in zip(others, params, strict=True):
            p.copy_(q)
    other.load_state_dict(optimizer.state_dict())
    step(params, optimizer, gradients[2])
    step(others, other, gradients[2])
    assert [p.tolist() for p in params] == [p.tolist() for p in others]
    with pytest.raises(ja.errors.StateDictError, match="another transformation"):
        make(optax.sgd(0.1, momentum=0.5))[1].load_state_dict(optimizer.state_dict())
