"""aot_module and export of flax modules: parameters, buffers and gradients are those of the library."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors

flax = pytest.importorskip("flax")
from flax import linen, nnx  # noqa: E402

from tests.seeds import some  # noqa: E402

X = jax.device_put(np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32))


class Nnx(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(4, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.blocks = nnx.List([nnx.Linear(8, 8, rngs=rngs)])
        self.tied = self.blocks[0]

    def __call__(self, x):
        x = self.drop(nnx.relu(self.norm(self.first(x))))
        return self.tied(self.blocks[0](x))


class Linen(linen.Module):
    @linen.compact
    def __call__(self, x, train=True):
        x = linen.Dense(8)(x)
        x = linen.BatchNorm(use_running_average=not train)(x)
        x = linen.Dropout(0.5, deterministic=not train)(x)
        return linen.Dense(2)(linen.relu(x))


def assert_close(got, wanted):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), got, wanted)


def without_keys(module):
    return nnx.state(module, nnx.Not(nnx.RngKey))


def descend(module, gradients):
    """One step of plain gradient descent, as an optimizer of nnx does it."""
    parameters = nnx.state(module, nnx.Param)
    nnx.update(module, jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients))


# -- nnx ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("compiler", some(["xla", "interpret"], 1))
def test_an_nnx_module_trains_as_with_nnx(compiler):
    ours, theirs = Nnx(nnx.Rngs(0)), Nnx(nnx.Rngs(0))
    module = ja.aot.aot_module(ours, compiler)
    derivative = nnx.jit(nnx.value_and_grad(lambda m: (m(X) ** 2).mean()))
    for _ in range(3):
        loss = module(X).square().mean()
        loss.backward()
        descend(ours, module.gradients())
        module.zero_grad()
        wanted, gradients = derivative(theirs)
        descend(theirs, gradients)
        assert_close(loss.item(), wanted)
    assert_close(without_keys(ours), without_keys(theirs))
    assert ours.drop.rngs.count[...] == 3
    assert module.cache_info() == (2, 1, 1)


def test_what_an_nnx_module_consists_of():
    module = ja.aot.aot_module(Nnx(nnx.Rngs(0)), "xla")
    names = ["blocks.0.bias", "blocks.0.kernel", "first.bias", "first.kernel", "norm.bias", "norm.scale"]
    assert sorted(module.parameters) == names  # what is tied is there once
    assert sorted(module.buffers) == ["drop.rngs.count", "drop.rngs.key", "norm.mean", "norm.var"]
    avals = module.trace(X).jaxpr.in_avals
    parameters = [tuple(t.shape) for t in module.parameters.values()]
    assert [a.shape for a in avals[:6]] == parameters and avals[-1].shape == (5, 4)


@pytest.mark.slow
def test_modes_of_an_nnx_module_are_programs_of_their_own():
    ours = Nnx(nnx.Rngs(0))
    module = ja.aot.aot_module(ours, "xla")
    module(X)
    ours.eval()
    assert_close(module(X).jax(), ours(X))
    mean = ours.norm.mean[...]
    module(X)
    assert_close(ours.norm.mean[...], mean)
    ours.train()
    module(X)
    assert module.cache_info().misses == 2
    ours.first.kernel[...] = jnp.zeros((4, 8))
    ours.eval()
    assert_close(module(X).jax(), ours(X))


@pytest.mark.slow
def test_gradients_reach_the_inputs_of_an_nnx_module():
    ours = Nnx(nnx.Rngs(0))
    ours.eval()
    module = ja.aot.aot_module(ours, "xla", partition_fn=ja.aot.min_cut_rematerialization_partition)
    x = ja.interop.from_jax(X).requires_grad_()
    module(x).sum().backward()
    assert_close(x.grad.jax(), jax.grad(lambda x: ours(x).sum())(X))
    module(x).sum().backward()
    assert_close(x.grad.jax(), 2 * jax.grad(lambda x: ours(x).sum())(X))


def test_nnx_gradients_before_any_backward_are_zeros():
    module = ja.aot.aot_module(Nnx(nnx.Rngs(0)), "xla")
    assert_close(module.gradients(), jax.tree.map(jnp.zeros_like, nnx.state(module.module, nnx.Param)))


def test_an_nnx_module_that_changes_its_structure():
    class Sows(nnx.Module):
        def __init__(self):
            self.w = nnx.Param(jnp.ones(2))

        def __call__(self, x):
            self.sow(nnx.Intermediate, "seen", x)
            return x * self.w

    class Counts(nnx.Module):
        def __init__(self):
            self.w, self.n = nnx.Param(jnp.ones(2)), 0

        def __call__(self, x):
            self.n += 1
            return x * self.w

    with pytest.raises(errors.ModuleLiftError, match="`seen` is new or another"):
        ja.aot.aot_module(Sows(), "xla")(jnp.ones(2))
    with pytest.raises(errors.ModuleLiftError, match="keep counters in Variables"):
        ja.aot.aot_module(Counts(), "xla")(jnp.ones(2))


def test_an_nnx_module_inside_another_trace():
    module = ja.aot.aot_module(Nnx(nnx.Rngs(0)), "xla")
    with pytest.raises(errors.ModuleLiftError, match="inside a function that is being traced"):
        ja.compile(lambda x: module(x) * 2)(ja.interop.from_jax(X))
    assert_close(module(X).shape, (5, 8))


@pytest.mark.slow
def test_export_of_an_nnx_module():
    class Loss(nnx.Module):
        def __init__(self, rngs):
            self.net = Nnx(rngs)

        def __call__(self, x):
            y = self.net(x)
            return (y**2).mean(), jax.lax.stop_gradient(y)

    model = Loss(nnx.Rngs(0))
    graph, signature = ja.aot.aot_export_module(model, (X,), trace_joint=True, output_loss_index=0)
    assert signature.user_inputs == ["x"] and len(signature.parameters) == 6
    written = ["net.norm.mean", "net.norm.var", "net.drop.rngs.count"]
    assert sorted(signature.buffers_to_mutate.values()) == sorted(written)
    results = dict(zip(graph.output_names, graph(*graph.example_inputs), strict=True))
    loss, gradients = nnx.value_and_grad(lambda m: m(X)[0])(model)  # moves the statistics of `model` on
    assert_close(results[signature.backward_signature.loss_output], loss)
    assert_close(results["grad(net.first.kernel)"], gradients["net"]["first"]["kernel"][...])
    assert_close(results["new(net.norm.mean)"], model.net.norm.mean[...])


# -- linen -------------------------------------------------------------------------------------------------------------


def variables_of(module):
    keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
    return module.init(keys, X)


@pytest.mark.slow
def test_a_linen_module_trains_as_with_linen():
    linen_module = Linen()
    variables = variables_of(linen_module)
    module = ja.aot.aot_module(linen_module, "xla", variables=variables)
    theirs = variables

    @jax.jit
    @functools.partial(jax.grad, has_aux=True)
    def derivative(params, statistics, rngs):
        given = {"params": params, "batch_stats": statistics}
        out, updates = linen_module.apply(given, X, rngs=rngs, mutable=["batch_stats"])
        return (out**2).mean(), updates

    for i in range(3):
        rngs = {"dropout": jax.random.key(i)}
        module(X, rngs=rngs).square().mean().backward()
        params = jax.tree.map(lambda p, g: p - 0.1 * g, module.variables["params"], module.gradients())
        module.variables = {**module.variables, "params": params}
        module.zero_grad()
        gradients, updates = derivative(theirs["params"], theirs["batch_stats"], rngs)
        theirs = {**updates, "params": jax.tree.map(lambda p, g: p - 0.1 * g, theirs["params"], gradients)}
    assert_close(module.variables, theirs)
    assert module.cache_info() == (2, 1, 1)


def test_what_a_linen_module_consists_of():
    module = ja.aot.aot_module(Linen(), "xla", variables=variables_of(Linen()))
    assert "Dense_0.kernel" in module.parameters and len(module.parameters) == 6
    assert sorted(module.buffers) == ["batch_stats.BatchNorm_0.mean", "batch_stats.BatchNorm_0.var"]
    bound = ja.aot.aot_module(Linen().bind(variables_of(Linen())), "xla")
    assert_close(bound(X, train=False).jax(), module(X, train=False).jax())
    assert_close(module.variables, variables_of(Linen()))
    with pytest.raises(errors.ModuleLiftError, match=r"Pass its variables: `variables=module.init\(key, x\)`"):
        ja.aot.aot_module(Linen(), "xla")


@pytest.mark.slow
def test_export_of_a_linen_module():
    class Loss(linen.Module):
        @linen.compact
        def __call__(self, x):
            return Linen()(x).mean()

    variables = variables_of(Loss())
    rngs = {"dropout": jax.random.key(3)}
    graph, signature = ja.aot.aot_export_module(
        Loss(), (X,), kwargs={"rngs": rngs}, variables=variables, trace_joint=True, output_loss_index=0
    )
    assert len(signature.user_inputs) == 2 and len(signature.buffers_to_mutate) == 2
    results = dict(zip(graph.output_names, graph(*graph.example_inputs), strict=True))

    def loss(params):
        return Loss().apply({**variables, "params": params}, X, rngs=rngs, mutable=["batch_stats"])[0]

    gradients = jax.grad(loss)(variables["params"])
    assert_close(results["grad(Linen_0.Dense_0.kernel)"], gradients["Linen_0"]["Dense_0"]["kernel"])
