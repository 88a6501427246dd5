"""`ja.jit` of functions of flax nnx objects does what `nnx.jit` does: changes are written back."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

import jaxaot as ja
from jaxaot.errors import ArgumentError, UnsupportedVariableError, UsageError
from tests.seeds import some


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(4, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.dropout = nnx.Dropout(0.3, rngs=rngs)
        self.last = nnx.Linear(8, 1, rngs=rngs)
        self.calls = nnx.Variable(jnp.array(0))

    def __call__(self, x):
        self.calls[...] += 1
        return self.last(self.dropout(nnx.relu(self.norm(self.first(x)))))

    @ja.jit
    def predict(self, x):
        return self(x)


def made():
    model = Net(nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adamw(1e-2), wrt=nnx.Param)


def data(n=6):
    values = np.random.default_rng(0).standard_normal((n, 5)).astype(np.float32)
    return values[:, :4], values[:, 4:]


def step(model, optimizer, x, y):
    loss, gradients = nnx.value_and_grad(lambda model: ((model(x) - y) ** 2).mean())(model)
    optimizer.update(model, gradients)
    return loss


def state_of(*objects):
    return [np.asarray(jax.random.key_data(x) if jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key) else x)
            for x in jax.tree.leaves(nnx.state(objects))]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("arrange", some(["arguments", "nested", "keywords"], 1))
def test_a_train_step_is_that_of_nnx(arrange):
    found = []
    for jit in (nnx.jit, ja.jit):
        model, optimizer = made()
        x, y = data()
        if arrange == "arguments":
            fn, call = jit(step), lambda fn: fn(model, optimizer, x, y)
        elif arrange == "nested":
            fn = jit(lambda all_of, batch: step(*all_of["objects"], *batch))
            call = lambda fn: fn({"objects": (model, optimizer)}, (x, y))
        else:
            fn, call = jit(lambda **given: step(**given)), lambda fn: fn(model=model, optimizer=optimizer, x=x, y=y)
        losses = [float(call(fn)) for _ in range(4)]
        found.append((losses, state_of(model, optimizer)))
    (expected, theirs), (losses, ours) = found
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    assert losses[0] != losses[-1]
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
def test_some_arguments_by_position_and_some_by_name():
    x, y = data()
    found = []
    for fn, call in (
        (nnx.jit(step), lambda fn, model, optimizer: fn(model, optimizer, x=x, y=y)),
        (ja.jit(step), lambda fn, model, optimizer: fn(model, optimizer, x=x, y=y)),
        (ja.jit(step), lambda fn, model, optimizer: fn(model, y=y, x=x, optimizer=optimizer)),
    ):
        model, optimizer = made()
        losses = [float(call(fn, model, optimizer)) for _ in range(2)]
        found.append((losses, state_of(model, optimizer)))
    (expected, theirs), *others = found
    for losses, ours in others:
        np.testing.assert_allclose(losses, expected, rtol=1e-4)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_a_method_and_evaluation():
    model, _ = made()
    x, _ = data()
    model.eval()
    expected = model(x)
    np.testing.assert_allclose(model.predict(x), expected, rtol=1e-5, atol=1e-6)
    assert int(model.calls[...]) == 2


def test_numbers_are_inputs_and_static_arguments_are_not():
    traces = []

    @functools.partial(ja.jit, static_argnames="power", donate_argnums=0)
    def scale(model, factor, power):
        traces.append(power)
        model.first.kernel[...] = model.first.kernel[...] * factor**power
        return model.first.kernel[...].sum()

    model, _ = made()
    before = np.asarray(model.first.kernel[...])
    for factor in (2.0, 0.5, 3.0):
        total = scale(model, factor, power=2)
    np.testing.assert_allclose(model.first.kernel[...], before * 9.0, rtol=1e-5)
    np.testing.assert_allclose(total, before.sum() * 9.0, rtol=1e-4)
    assert traces == [2, 2, 2]  # what is done to Python's objects is done at each call
    scale(model, 1.0, power=3)
    assert traces == [2, 2, 2, 3]


def test_without_objects_it_is_the_other_kind():
    @ja.jit
    def double(tree):
        return jax.tree.map(lambda x: x * 2 if jnp.issubdtype(x.dtype, jnp.floating) else x, tree)

    model, _ = made()
    assert float(double({"x": jnp.array(3.0)})["x"]) == 6
    graph, state = nnx.split(model)
    doubled = nnx.merge(graph, double(state))
    np.testing.assert_allclose(doubled.first.kernel[...], model.first.kernel[...] * 2)
    assert double.lower({"x": jnp.ones(2)}).compile() is not None


@pytest.mark.slow
def test_a_bad_call():
    model, optimizer = made()
    x, y = data()
    before = state_of(model, optimizer)
    fn = ja.jit(step)
    with pytest.raises(TypeError):
        fn(model, optimizer, x, jnp.ones((3, 7)))
    placed = ja.jit(step, in_shardings=None, out_shardings=jax.sharding.SingleDeviceSharding(jax.devices()[0]))
    with pytest.raises(UsageError, match="out_shardings, and its arguments hold flax nnx objects"):
        placed(model, optimizer, x, y)
    for a, b in zip(state_of(model, optimizer), before, strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(TypeError, match="Error interpreting argument to <function step"):
        fn("a", "b", "c", "d")


@pytest.mark.slow
def test_a_compiled_stage_takes_what_the_call_takes():
    model, optimizer = made()
    x, y = data()
    before = state_of(model, optimizer)
    fn = ja.jit(step)
    compiled = fn.trace(model, optimizer, x, y).lower().compile()
    assert "dot" in compiled.as_text()
    assert float(compiled(model, optimizer, x, y)) > 0  # which writes, as a call of `fn` does
    assert any(not np.array_equal(a, b) for a, b in zip(state_of(model, optimizer), before, strict=True))
    with pytest.raises(ArgumentError, match=r"was compiled for .*float32\[6, 4\].* is called with .*float32\[2, 4\]"):
        compiled(model, optimizer, x[:2], y[:2])
    with pytest.raises(UsageError, match=r"lower\(\*args\)\.compile\(\)"):
        fn.lower(model, optimizer, x, y)(model, optimizer, x, y)
    linear = nnx.Linear(4, 3, rngs=nnx.Rngs(0))
    graph, state = nnx.split(linear)
    of_state = ja.jit(lambda state, x: nnx.merge(graph, state)(x))
    np.testing.assert_allclose(of_state.lower(state, x).compile()(state, x), linear(x), rtol=1e-6)


@pytest.mark.slow
def test_stages_are_of_the_graph_of_a_call():
    model, optimizer = made()
    x, y = data()
    before = state_of(model, optimizer)
    fn = ja.jit(step)
    text = fn.lower(model, optimizer, x, y).as_text()
    assert "@step" in text
    assert text.count("dot_general") >= 4
    jaxpr = fn.trace(model, optimizer, x, y).jaxpr
    assert len(jaxpr.in_avals) == len(ja.trace(step, model, optimizer, x, y).jaxpr.in_avals)
    assert fn.lower(model, optimizer, x=x, y=y).compile().memory_analysis() is not None
    assert fn.eval_shape(model, optimizer, x, y).shape == ()
    report = fn.explain(model, optimizer, x, y)
    assert report.name == "step" and any(line.startswith("model.") for line in report.changed)
    types = ja.jit(lambda model, x: {"out": model(x), "n": 3}).eval_shape(model, x)
    assert types["out"].shape == (6, 1)
    assert types["n"] == 3
    state = nnx.state(model, nnx.Param)
    assert "tanh" in ja.jit(lambda state: jnp.tanh(jax.tree.leaves(state)[0])).lower(state).as_text()
    for a, b in zip(state_of(model, optimizer), before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_inside_another_transformation_changes_are_kept():
    inner = ja.jit(lambda model, x: model(x))
    model, _ = made()
    x, y = data()
    nnx.jit(lambda model, x: inner(model, x))(model, x)
    assert int(model.calls[...]) == 1
    nnx.grad(lambda model: ((inner(model, x) - y) ** 2).mean())(model)
    assert int(model.calls[...]) == 2


def test_variables_with_mutable_arrays_are_jitted_as_by_nnx():
    class Counted(nnx.Module):
        def __init__(self):
            self.scale = nnx.Param(jnp.full((3,), 2.0), ref=True)
            self.calls = nnx.BatchStat(jnp.zeros(()), ref=True)

        def __call__(self, x):
            self.calls[...] = self.calls[...] + 1
            return (self.scale[...] * x).sum()

    found = []
    for jit in (nnx.jit, ja.jit):
        model = Counted()
        fn = jit(lambda model, x: model(x))
        found.append([float(fn(model, jnp.arange(3.0))), float(fn(model, x=jnp.ones(3))), float(model.calls[...])])
    assert found[0] == found[1] == [6.0, 6.0, 2.0]
    for refuse in (ja.compile, ja.remat):
        with pytest.raises(UnsupportedVariableError, match=r"ja.jit\(f\)\(model\)"):
            refuse(lambda model, x: model(x))(Counted(), jnp.ones(3))
