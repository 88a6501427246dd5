"""flax modules in compiled functions: nnx Variables are inputs and outputs of the graph; linen is pure already."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import linen, nnx, struct
from flax.core import freeze as frozen
from flax.errors import TraceContextError
from flax.nnx import graphlib
from flax.training import train_state

import jaxaot as ja
from jaxaot import errors
from jaxaot.facade.cells import cells
from tests.seeds import some


def leaves(tree):
    """The arrays of modules, states or trees as NumPy arrays; of keys, what they are made of."""
    found = jax.tree.leaves(nnx.state(tree) if isinstance(tree, (nnx.Module, nnx.Optimizer)) else tree)
    is_key = lambda x: jnp.issubdtype(jnp.result_type(x), jax.dtypes.prng_key)
    return [np.asarray(jax.random.key_data(x) if is_key(x) else x) for x in found]


def assert_equal(tree, other, rtol=0.0):
    ours, theirs = leaves(tree), leaves(other)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=rtol)


class Block(nnx.Module):
    """Everything that changes: statistics, dropout counters, containers."""

    def __init__(self, rngs, n_features=8):
        self.first = nnx.Linear(4, n_features, use_bias=False, rngs=rngs)  # the gradient of a bias would be noise
        self.norm = nnx.BatchNorm(n_features, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.layers = nnx.List([nnx.Linear(n_features, n_features, rngs=rngs) for _ in range(2)])
        self.heads = nnx.Dict(out=nnx.Linear(n_features, 1, rngs=rngs))

    def __call__(self, x):
        x = self.drop(nnx.relu(self.norm(self.first(x))))
        for layer in self.layers:
            x = nnx.relu(layer(x))
        return self.heads["out"](x)


def step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(lambda m: ((m(x) - y) ** 2).mean())(model)
    optimizer.update(model, grads)
    return loss


def batch(seed=1):
    return jax.random.normal(jax.random.key(seed), (16, 4)), jnp.ones((16, 1))


# -- nnx: a training step ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "transform",
    [
        pytest.param(lambda: optax.sgd(0.1, momentum=0.9), marks=pytest.mark.slow),
        pytest.param(lambda: optax.adam(1e-2), marks=pytest.mark.slow),
        lambda: optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-2, 10))),
    ],
    ids=["sgd", "adam", "chain"],
)
def test_training_steps_equal_those_of_nnx_jit(transform):
    pairs = []
    for compiler in (ja.compile, nnx.jit):
        model = Block(nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, transform(), wrt=nnx.Param)
        run = compiler(step)
        losses = [run(model, optimizer, *batch(seed)) for seed in range(5)]
        pairs.append((model, optimizer, losses, run))
    (ours, our_optimizer, our_losses, run), (theirs, their_optimizer, their_losses, _) = pairs
    assert_equal(our_losses, their_losses, rtol=1e-6)
    assert_equal(ours, theirs, rtol=1e-6)
    assert_equal(our_optimizer, their_optimizer, rtol=1e-6)
    assert run.cache_info() == (4, 1, 1)


@pytest.mark.slow
def test_a_training_step_on_a_model_in_a_closure():
    model, other = Block(nnx.Rngs(0)), Block(nnx.Rngs(0))
    optimizer, other_optimizer = (nnx.Optimizer(m, optax.adam(1e-2), wrt=nnx.Param) for m in (model, other))
    run = ja.compile(lambda x, y: step(model, optimizer, x, y))
    theirs = nnx.jit(step)
    for seed in range(3):
        np.testing.assert_allclose(run(*batch(seed)), theirs(other, other_optimizer, *batch(seed)), rtol=1e-6)
    assert_equal(model, other, rtol=1e-6)
    assert run.cache_info() == (2, 1, 1)


@pytest.mark.slow
def test_another_model_of_the_same_structure_hits():
    run = ja.compile(step)
    for seed in range(3):
        model, other = Block(nnx.Rngs(seed)), Block(nnx.Rngs(seed))
        transform = optax.sgd(0.1)
        optimizer = nnx.Optimizer(model, transform, wrt=nnx.Param)
        run(model, optimizer, *batch())
        nnx.jit(step)(other, nnx.Optimizer(other, transform, wrt=nnx.Param), *batch())
        assert_equal(model, other, rtol=1e-6)
    assert run.cache_info().misses == 1  # each has functions of its own, that hold the same
    model = Block(nnx.Rngs(9))
    run(model, nnx.Optimizer(model, transform, wrt=nnx.Param), *batch())
    assert run.cache_info().misses == 1
    wide = Block(nnx.Rngs(0), 16)
    run(wide, nnx.Optimizer(wide, transform, wrt=nnx.Param), *batch())
    assert run.cache_info().misses == 2


def test_metrics_are_objects_as_well():
    metrics, other = (nnx.MultiMetric(loss=nnx.metrics.Average("loss"), n=nnx.metrics.Average("n")) for _ in range(2))
    run, theirs = ja.compile(lambda m, v: m.update(loss=v, n=v * 2)), nnx.jit(lambda m, v: m.update(loss=v, n=v * 2))
    for n in range(3):
        run(metrics, jnp.full(3, float(n)))
        theirs(other, jnp.full(3, float(n)))
    assert_equal(list(metrics.compute().values()), list(other.compute().values()))
    assert run.cache_info().misses == 1


# -- nnx: what is noticed ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_train_and_eval_are_two_programs():
    model, other = Block(nnx.Rngs(0)), Block(nnx.Rngs(0))
    ours, theirs = ja.compile(lambda m, x: m(x)), nnx.jit(lambda m, x: m(x))
    x, _ = batch()
    for mode in ("train", "eval", "eval", "train"):
        getattr(model, mode)()
        getattr(other, mode)()
        assert_equal(ours(model, x), theirs(other, x), rtol=1e-6)
        assert_equal(model, other, rtol=1e-6)
    assert ours.cache_info() == (2, 2, 2)


@pytest.mark.slow
@pytest.mark.parametrize("rate", some([0.1, 0.0], 1))
def test_a_rate_of_a_dropout_that_is_not_used_is_noticed(rate):
    drop = nnx.Dropout(0.9, deterministic=True, rngs=nnx.Rngs(0))
    fn = ja.compile(lambda m, x: m(x))
    x = jnp.ones((100,))
    assert (fn(drop, x) == 1).all() and drop.rngs.count[...] == 0
    drop.rate, drop.deterministic = rate, False
    assert (fn(drop, x) != 0).mean() > 0.7 and fn.cache_info().misses == 2


def test_a_function_in_an_attribute_is_noticed():
    class Model(nnx.Module):
        def __init__(self, act):
            self.act, self.w = act, nnx.Param(jnp.full(1, 2.0))

        def __call__(self, x):
            return self.act(x * self.w)

    model = Model(jnp.negative)
    fn = ja.compile(lambda x: model(x))
    assert fn(jnp.ones(1)) == -2
    model.act = jnp.square
    assert fn(jnp.ones(1)) == 4
    assert fn(jnp.ones(1)) == 4 and fn.cache_info() == (1, 2, 2)


@pytest.mark.slow
def test_sharing_of_variables_and_modules_is_part_of_the_program():
    class Two(nnx.Module):
        def __init__(self, tied):
            self.a = nnx.Linear(2, 2, use_bias=False, rngs=nnx.Rngs(0))
            self.b = self.a if tied else nnx.Linear(2, 2, use_bias=False, rngs=nnx.Rngs(1))

        def __call__(self, x):
            return self.b(self.a(x))

    def gradients(model, x):
        grads = nnx.grad(lambda m: m(x).sum())(model)
        nnx.update(model, jax.tree.map(lambda p, g: p - g, nnx.state(model, nnx.Param), grads))

    ours, theirs = ja.compile(gradients), nnx.jit(gradients)
    for tied in (True, False, True, False):
        model, other = Two(tied), Two(tied)
        for _ in range(2):
            ours(model, jnp.ones((1, 2)))
            theirs(other, jnp.ones((1, 2)))
        assert_equal(model, other, rtol=1e-6)
        assert (model.a is model.b) is tied
    assert ours.cache_info().misses == 2
    model = Two(False)
    model.b.kernel = model.a.kernel  # one Variable in two modules
    ours(model, jnp.ones((1, 2)))
    assert ours.cache_info().misses == 3


def test_one_model_in_two_arguments():
    def fn(a, b):
        a.kernel[...] += 1
        return b.kernel[...] * 1

    ours = ja.compile(fn)
    a, b = (nnx.Linear(2, 2, rngs=nnx.Rngs(i)) for i in range(2))
    before = np.asarray(b.kernel[...])
    np.testing.assert_array_equal(ours(a, b), before)
    np.testing.assert_array_equal(ours(b, b), before + 1)
    np.testing.assert_array_equal(ours(a, b), before + 1)
    assert ours.cache_info() == (1, 2, 2)


@pytest.mark.slow
def test_other_shapes_dtypes_and_metadata_compile_again():
    fn = ja.compile(lambda v, x: v[...] * x.sum())
    variable = nnx.Param(jnp.ones(2))
    for value in (jnp.ones(2), jnp.zeros(2), jnp.ones(3), jnp.ones(3, jnp.int32), np.ones(3, np.int32), 3.0, 4.0, 3):
        variable.set_value(value)
        np.testing.assert_array_equal(fn(variable, jnp.ones(2)), np.asarray(value) * 2)
    assert fn.cache_info() == (2, 6, 6)
    variable.set_metadata("name", "w")
    fn(variable, jnp.ones(2))
    assert fn.cache_info().misses == 7
    fn(nnx.BatchStat(3, name="w"), jnp.ones(2))
    assert fn.cache_info().misses == 8


def test_the_shape_of_a_variable_whose_value_is_not_used_is_guarded():
    fn = ja.compile(lambda v, x: x * v.shape[0])
    assert [fn(nnx.Variable(jnp.ones(n)), jnp.ones(())) for n in (2, 3)] == [2, 3]
    assert len(ja.trace(fn, nnx.Variable(jnp.ones(2)), jnp.ones(())).jaxpr.in_avals) == 1


def test_a_module_that_is_merely_reachable_costs_no_input():
    model, unused = nnx.Linear(2, 2, rngs=nnx.Rngs(0)), nnx.Linear(50, 50, rngs=nnx.Rngs(0))
    both = types.SimpleNamespace(model=model, unused=unused)
    traced = ja.trace(lambda x: both.model(x), jnp.ones((1, 2)))
    assert set(traced.input_names) == {"argument 0", "both.model.kernel", "both.model.bias"}


def test_nothing_is_split_or_merged_at_a_call(monkeypatch):
    model = Block(nnx.Rngs(0))
    fn = ja.compile(lambda m, x: m(x))
    fn(model, batch()[0])
    for name in ("flatten", "unflatten", "split", "merge", "update"):
        monkeypatch.setattr(graphlib, name, lambda *args, **kwargs: pytest.fail("a module was taken apart"))
    fn(model, batch()[0])
    assert fn.cache_info() == (1, 1, 1)


# -- nnx: what Python does to modules ----------------------------------------------------------------------------------


class Changing(nnx.Module):
    """Counts in Python, and replaces, adds and removes attributes."""

    def __init__(self):
        self.n = 0
        self.total = nnx.Variable(jnp.zeros(()))
        self.cache = jnp.zeros(2)

    def __call__(self, x):
        self.n += 1
        self.total[...] += x.sum()
        self.cache = self.cache + x
        self.last = nnx.Cache(x * self.n)
        if hasattr(self, "begun"):
            del self.begun
        return x * self.n


@pytest.mark.slow
def test_attributes_are_carried_out_at_every_call():
    ours, theirs = Changing(), Changing()
    ours.begun = theirs.begun = True
    fn, other = ja.compile(lambda m, x: m(x)), nnx.jit(lambda m, x: m(x))
    x = jnp.arange(2.0)
    for n in (1, 2):
        np.testing.assert_array_equal(fn(ours, x), other(theirs, x))
        assert (ours.n, hasattr(ours, "begun"), type(ours.last)) == (n, False, nnx.Cache)
        np.testing.assert_array_equal(ours.cache, theirs.cache)
        assert_equal(ours, theirs)
    ours.n = 1
    assert (fn(ours, x) == 2 * x).all() and fn.cache_info().misses == 2
    ours.last[...] = jnp.zeros(2)  # belongs to no trace


def test_a_stable_attribute_does_not_compile_again():
    class Model(nnx.Module):
        def __init__(self):
            self.hidden = jnp.zeros(2)

        def __call__(self, x):
            self.hidden = self.hidden + x
            self.seen = nnx.Intermediate(x)
            return self.hidden * 1

    model, fn = Model(), ja.compile(lambda m, x: m(x))
    for n in range(1, 5):
        assert (fn(model, jnp.ones(2)) == n).all() and (model.hidden == n).all() and (model.seen[...] == 1).all()
    assert fn.cache_info() == (2, 2, 2)  # `seen` was new at the first call


def test_modes_are_set_inside():
    model = nnx.Dropout(0.5, rngs=nnx.Rngs(0))

    def fn(m, x):
        m.eval()
        return m(x)

    compiled = ja.compile(fn)
    assert (compiled(model, jnp.ones(4)) == 1).all() and model.deterministic
    model.train()
    assert (compiled(model, jnp.ones(4)) == 1).all() and model.deterministic


def test_intermediates_are_sown_and_popped():
    class Model(nnx.Module):
        def __init__(self):
            self.w = nnx.Param(jnp.full(2, 3.0))

        def __call__(self, x):
            y = x * self.w
            self.sow(nnx.Intermediate, "hidden", y)
            return y.sum()

    def popped(model, x):
        return model(x), nnx.pop(model, nnx.Intermediate)

    with pytest.warns(DeprecationWarning, match="sow"):
        model, fn = Model(), ja.compile(popped)
        for n in (1.0, 2.0):
            out, sown = fn(model, jnp.full(2, n))
            assert out == 6 * n and (sown["hidden"].get_value()[0] == 3 * n).all() and not hasattr(model, "hidden")
        assert fn.cache_info() == (1, 1, 1)
        kept = ja.compile(lambda m, x: m(x))
        kept(model, jnp.ones(2))
        kept(model, jnp.full(2, 2.0))
        assert [v.tolist() for v in model.hidden.get_value()] == [[3, 3], [6, 6]]
    captured = ja.compile(nnx.capture(lambda m, x: m(x), nnx.Intermediate))
    for _ in range(2):
        nnx.pop(model, nnx.Intermediate) if hasattr(model, "hidden") else None
        out, sown = captured(model, jnp.ones(2))
        assert (jax.tree.leaves(sown)[0] == 3).all()


@pytest.mark.slow
def test_a_module_made_inside_is_attached():
    class Lazy(nnx.Module):
        def __init__(self):
            self.layer = nnx.data(None)

        def __call__(self, x):
            if self.layer is None:
                self.layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
            return self.layer(x)

    model, fn = Lazy(), ja.compile(lambda m, x: m(x))
    first, second = fn(model, jnp.ones((1, 2))), fn(model, jnp.ones((1, 2)))
    np.testing.assert_allclose(first, second, rtol=1e-6)
    assert isinstance(model.layer, nnx.Linear) and fn.cache_info().misses == 2
    np.testing.assert_allclose(model(jnp.ones((1, 2))), first, rtol=1e-6)
    model.layer.kernel[...] *= 2  # belongs to no trace
    nnx.grad(lambda m: m(jnp.ones((1, 2))).sum())(model)


def test_variables_and_modules_are_swapped_and_moved():
    class Pair(nnx.Module):
        def __init__(self):
            self.a, self.b = nnx.Param(jnp.zeros(1)), nnx.Param(jnp.ones(1))
            self.parts = nnx.List([nnx.Param(jnp.full(1, 2.0))])

        def __call__(self):
            self.a, self.b = self.b, self.a
            self.parts.append(self.a)

    model, fn = Pair(), ja.compile(lambda m: m())
    a, b = model.a, model.b
    fn(model)
    assert model.a is b and model.b is a and model.parts[1] is b and len(model.parts) == 2


def test_lists_and_dicts_in_modules():
    class Holder(nnx.Module):
        def __init__(self):
            self.items = nnx.data([jnp.zeros(1), nnx.Variable(jnp.zeros(1))])
            self.table = nnx.data({"a": jnp.ones(1)})

        def __call__(self, x):
            self.items[0] = self.items[0] + x
            self.items[1][...] += x
            self.table["b"] = x * self.table["a"]
            return self.items[0] * 1

    holder, fn = Holder(), ja.compile(lambda h, x: h(x))
    for n in (1, 2, 3):
        assert fn(holder, jnp.ones(1)) == n
        assert (holder.items[0], holder.items[1][...], holder.table["b"]) == (n, n, 1)
    assert fn.cache_info().misses == 2


def test_what_cannot_be_carried_out_is_an_error_that_names_the_attribute():
    class Model(nnx.Module):
        def __init__(self):
            self.w = nnx.Param(jnp.ones(1))

    class Inner(nnx.Module):
        def __init__(self, v):
            self.v = v

    def generator(m):
        m.inner = nnx.static(i for i in range(3))

    def twice(m):
        variable = nnx.Variable(jnp.ones(1))
        m.inner, m.other = Inner(variable), Inner(variable)

    for fn, words in ((generator, "put a generator into"), (twice, "would make two of it")):
        model = Model()
        before = dict(vars(model))
        with pytest.raises(errors.AttributeChangeError, match=words) as caught:
            ja.compile(fn, fullgraph=True)(model)
        assert "`args[0].inner`" in str(caught.value) or "`args[0].other`" in str(caught.value)
        assert vars(model) == before


def test_tensors_objects_and_variables_may_be_kept():
    class Model(nnx.Module):
        def __init__(self):
            self.w = nnx.Param(jnp.ones(1))

    class Opaque:
        pass

    def fn(m, holder, x):
        m.inner, m.opaque = nnx.static(x * 2), nnx.static(Opaque())
        holder.first = holder.second = nnx.Variable(m.w[...] + 1)
        m.opaque.x = x + 1

    model, holder, compiled = Model(), types.SimpleNamespace(), ja.compile(fn)
    for n in (1, 2, 3):
        before = getattr(model, "opaque", None)
        compiled(model, holder, ja.ones(1) * n)
        assert (model.inner.item(), model.opaque.x.item()) == (2 * n, n + 1) and model.opaque is not before
        assert holder.first is holder.second and holder.first[...].tolist() == [2]


@pytest.mark.slow
def test_an_error_inside_leaves_what_the_function_did():
    def fail(m, x):
        m(x)
        m.extra, m.drop.rate = nnx.Param(x), 0.7
        m.first.kernel.set_metadata("mark", 1)
        del m.heads
        raise ValueError("no")

    model, other = Block(nnx.Rngs(0)), Block(nnx.Rngs(0))
    with pytest.raises(ValueError, match="no"):
        fail(other, batch()[0])
    compiled = ja.compile(fail)
    with pytest.raises(ValueError, match="no"):
        compiled(model, batch()[0])
    assert_equal(nnx.state(model), nnx.state(other))
    assert (model.drop.rate, hasattr(model, "heads"), model.first.kernel.get_metadata("mark")) == (0.7, False, 1)
    model.first.kernel[...] += 1  # can be written again
    assert compiled.cache_info() == (0, 0, 0)


def test_tracing_changes_nothing():
    model = Changing()
    before, total = dict(vars(model)), model.total[...]
    traced = ja.trace(lambda m, x: m(x), model, jnp.ones(2))
    assert vars(model) == before and model.total[...] is total
    assert set(traced.input_names) == {"argument 1", "args[0].total", "args[0].cache"}
    cells = {cell.name: (cell.arrays, cell.is_read, cell.is_written) for cell in traced.signature.cells}
    assert cells == {
        "args[0].total": ((((), jnp.float32),), True, True),
        "args[0].cache": ((((2,), jnp.float32),), True, True),
    }
    assert "args[0].total: float32[], read, written" in str(traced.signature)


def test_metadata_set_inside():
    variable, fn = nnx.Param(jnp.ones(1)), ja.compile(lambda v: v.set_metadata("mark", "seen"))
    fn(variable)
    assert variable.mark == "seen"


# -- nnx: values of Variables ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_variables_of_trees_numbers_and_keys():
    class Model(nnx.Module):
        def __init__(self):
            self.tree = nnx.Variable({"a": jnp.zeros(2), "b": (jnp.ones(()), 2.0)})
            self.n = nnx.Variable(0)
            self.key = nnx.Variable(jax.random.key(0))
            self.tag = nnx.Variable("plain")

        def __call__(self, x):
            tree = self.tree.get_value()
            self.tree.set_value({"a": tree["a"] + x, "b": (tree["b"][0] * 2, tree["b"][1])})
            self.n.set_value(self.n.get_value() + 1)
            self.key.set_value(jax.random.fold_in(self.key.get_value(), 1))
            return tree["a"] * tree["b"][0] + jax.random.normal(self.key.get_value(), (2,)) * len(self.tag.get_value())

    ours, plain = Model(), Model()
    fn = ja.compile(lambda m, x: m(x))
    for _ in range(4):
        np.testing.assert_allclose(fn(ours, jnp.ones(2)), plain(jnp.ones(2)), rtol=1e-5)
    assert fn.cache_info().misses == 2  # the number has become an array
    assert ours.n.get_value() == 4
    np.testing.assert_array_equal(*(jax.random.key_data(m.key.get_value()) for m in (ours, plain)))
    ours.tag.set_value("other!")
    fn(ours, jnp.ones(2))
    assert fn.cache_info().misses == 3


def test_one_array_in_two_variables():
    class Model(nnx.Module):
        def __init__(self):
            self.w = nnx.Param(jnp.ones(1000))
            self.average = nnx.Variable(self.w[...])

        def __call__(self):
            self.w[...] = self.w[...] * 2
            self.average[...] = self.w[...]

    model, fn = Model(), ja.compile(lambda m: m())
    for n in range(1, 4):
        fn(model)
        assert (model.w[...] == 2**n).all() and (model.average[...] == 2**n).all()


def test_variables_with_mutable_arrays_are_refused():
    with pytest.raises(errors.UnsupportedVariableError, match=r"`ref=False, hijax=False`"):
        ja.compile(lambda v: v[...])(nnx.Param(jnp.ones(1), ref=True))
    with pytest.raises(errors.UnsupportedVariableError, match=r"nnx.Param\(t.jax\(\)\)"):
        ja.compile(lambda v: v.get_value())(nnx.Param(ja.ones(1)))


def test_a_variable_that_no_path_leads_to_is_an_error():
    hidden = logging.Filter()  # objects of such a library are not followed
    hidden.param = nnx.Param(jnp.full(1, 2.0))
    with pytest.raises(errors.UnreachableTensorError, match="read a Param that is neither among the arguments"):
        ja.compile(lambda x: x * hidden.param, fullgraph=True)(jnp.ones(1))


def test_variables_in_a_dict_keyed_by_classes_are_found():
    held = {nnx.Param: [nnx.Param(jnp.full(1, 2.0))]}
    fn = ja.compile(lambda x: x * held[nnx.Param][0])
    assert fn(jnp.ones(1)).tolist() == [2]
    held[nnx.Param][0][...] = jnp.full(1, 3.0)
    assert fn(jnp.ones(1)).tolist() == [3] and fn.cache_info().misses == 1


# -- nnx: donation -----------------------------------------------------------------------------------------------------


def double(model):
    for _, variable in nnx.iter_graph(model):
        if isinstance(variable, nnx.Param):
            variable[...] = variable[...] * 2


def test_written_arrays_are_donated_where_nobody_holds_them():
    model, fn = nnx.Linear(64, 64, rngs=nnx.Rngs(0)), ja.compile(double)
    fn(model)
    fn(model)
    pointer = model.kernel.get_raw_value().unsafe_buffer_pointer()
    fn(model)
    assert model.kernel.get_raw_value().unsafe_buffer_pointer() == pointer


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    "take",
    some(
        [
            lambda m: m.kernel[...],
            lambda m: m.kernel.get_raw_value(),
            lambda m: jax.tree.map(lambda x: x, nnx.state(m)),
            lambda m: jax.tree.leaves(nnx.split(m)[1]),
            lambda m: nnx.clone(m),
            lambda m: [m.kernel[...]],
            lambda m: ja.interop.from_jax(m.kernel[...]),
            lambda m: np.asarray(m.kernel[...]),
            lambda m: memoryview(np.asarray(m.kernel[...])),
            lambda m: np.from_dlpack(m.kernel[...]),
        ],
        2,
    ),
)
def test_an_array_that_the_user_holds_is_never_deleted(take):
    model, fn = nnx.Linear(64, 64, rngs=nnx.Rngs(0)), ja.compile(double)
    for _ in range(2):
        fn(model)
        held = take(model)
        before = np.array(model.kernel[...])
        fn(model)
        fn(model)
        gc.collect()
        values = [
            np.asarray(leaf.numpy() if isinstance(leaf, ja.Tensor) else leaf)
            for leaf in jax.tree.leaves(held)
            if np.shape(leaf) == (64, 64)
        ]
        assert all((value == before).all() for value in values)
        np.testing.assert_array_equal(model.kernel[...], before * 4)


def test_a_value_that_is_passed_and_returned_is_kept():
    def fn(model, w):
        old = model.kernel[...]
        model.kernel[...] = old + w
        return old

    model, compiled = nnx.Linear(8, 8, rngs=nnx.Rngs(0)), ja.compile(fn)
    for _ in range(3):
        before = np.array(model.kernel[...])
        w = model.kernel[...]
        old = compiled(model, w)
        np.testing.assert_array_equal(old, before)
        np.testing.assert_array_equal(w, before)
        np.testing.assert_array_equal(model.kernel[...], before * 2)
        del w, old
        old = compiled(model, jnp.ones((8, 8)))
        np.testing.assert_array_equal(old, before * 2)


# -- nnx: forms of calls -----------------------------------------------------------------------------------------------


def test_modules_in_containers_keywords_and_states():
    def fn(models, *, other, state):
        return models[0](other["m"](jnp.ones((1, 2)))) + state["bias"][...]

    models = [nnx.Linear(2, 2, rngs=nnx.Rngs(i)) for i in range(3)]
    state = nnx.state(models[2])
    compiled = ja.compile(fn)
    for _ in range(2):
        expected = fn([models[0]], other={"m": models[1]}, state=state)
        np.testing.assert_allclose(compiled([models[0]], other={"m": models[1]}, state=state), expected, rtol=1e-6)
        models[0], models[1] = models[1], models[0]
    assert compiled.cache_info() == (1, 1, 1)


@pytest.mark.slow
def test_split_and_merge_inside():
    model = Block(nnx.Rngs(0))

    def fn(graphdef, state, x):
        merged = nnx.merge(graphdef, state)
        y = merged(x)
        return y, nnx.state(merged)

    compiled = ja.compile(fn)
    graphdef, state = nnx.split(model)
    _, other = nnx.split(nnx.clone(model))
    for _ in range(2):  # a state and what is merged from it share their Variables
        (y, ours), (expected, other) = compiled(graphdef, state, batch()[0]), fn(graphdef, other, batch()[0])
        assert_equal(y, expected, rtol=1e-5)
        assert_equal(ours, other, rtol=1e-5)
        assert_equal(model, other, rtol=1e-5)
        assert ours.norm.mean is model.norm.mean
        state = ours
    assert compiled.cache_info().misses == 1


def test_methods_of_modules():
    class Model(nnx.Module):
        def __init__(self, n):
            self.n = nnx.Variable(jnp.full((), n))

        @ja.compile
        def add(self, x):
            self.n[...] += x
            return self.n[...] * 2

        def plain(self, x):
            self.n[...] -= x
            return self.n[...]

    first, second = Model(1.0), Model(5.0)
    assert (first.add(1.0), second.add(1.0), first.add(1.0)) == (4, 12, 6) and Model.add.cache_info().misses == 1
    minus = ja.compile(first.plain)
    assert (minus(1.0), minus(1.0), first.n[...]) == (2, 1, 1) and minus.cache_info() == (1, 1, 1)
    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    whole = ja.compile(model)
    np.testing.assert_allclose(whole(jnp.ones((1, 2))), model(jnp.ones((1, 2))), rtol=1e-6)


def test_modules_as_results():
    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    same, y = ja.compile(lambda m: (m, m.kernel))(model)
    assert same is model and y is model.kernel
    made = ja.compile(lambda seed: nnx.Linear(2, 2, rngs=nnx.Rngs(seed)))(0)
    assert_equal(made, model)
    made.kernel[...] += 1


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(lambda m, x: nnx.jit(lambda m, x: m(x))(m, x), marks=pytest.mark.slow),
        pytest.param(lambda m, x: nnx.remat(lambda m, x: m(x))(m, x), marks=pytest.mark.slow),
        lambda m, x: nnx.cond(x.sum() > 0, lambda m, x: m(x), lambda m, x: m(x) * 2, m, x),
        lambda m, x: nnx.scan(lambda c, m: (m(c)[:, :1] * c, None), in_axes=(nnx.Carry, None), length=2)(x, m)[0],
        lambda m, x: nnx.vmap(lambda m, x: m(x), in_axes=(None, 0))(m, x[:, None]),
        lambda m, x: nnx.fori_loop(0, 3, lambda _, pair: (pair[0], pair[1] + pair[0](x).sum()), (m, jnp.zeros(())))[1],
    ],
    ids=["jit", "remat", "cond", "scan", "vmap", "fori_loop"],
)
def test_transformations_of_nnx_inside(body):
    def make():
        return nnx.Sequential(nnx.Linear(4, 8, rngs=nnx.Rngs(0)), nnx.relu, nnx.Linear(8, 1, rngs=nnx.Rngs(1)))

    ours, theirs = ja.compile(body), nnx.jit(body)
    model, other = make(), make()
    for seed in (1, 2):
        x = batch(seed)[0]
        assert_equal(ours(model, x), theirs(other, x), rtol=1e-5)
    assert_equal(model, other, rtol=1e-6)
    assert ours.cache_info() == (1, 1, 1)


@pytest.mark.slow
def test_a_loop_over_layers_with_statistics():
    def body(model, x):
        return nnx.remat(lambda m, x: m(x))(model, x).sum()

    def train(model, x):
        loss, grads = nnx.value_and_grad(body)(model, x)
        return loss, grads

    ours, theirs = ja.compile(train), nnx.jit(train)
    model, other = Block(nnx.Rngs(0)), Block(nnx.Rngs(0))
    for seed in (1, 2):
        assert_equal(ours(model, batch(seed)[0]), theirs(other, batch(seed)[0]), rtol=1e-5)
    assert_equal(model, other, rtol=1e-6)


@pytest.mark.slow
def test_tensors_and_modules_together():
    model = nnx.Linear(4, 2, rngs=nnx.Rngs(0))
    x = ja.interop.from_jax(batch()[0])
    expected = model(batch()[0])
    np.testing.assert_allclose(ja.compile(lambda m, x: m(x))(model, x), expected, rtol=1e-6)
    np.testing.assert_allclose(ja.compile(lambda m, x: m(x.jax()))(model, x), expected, rtol=1e-6)

    def fn(m, x, total):
        y = m(x.jax())
        total.add_(ja.interop.from_jax(y).sum())
        m.bias[...] = m.bias[...] + 1
        return (x * 2).sum()

    total, x = ja.zeros(()), ja.interop.from_jax(batch()[0]).requires_grad_()
    compiled = ja.compile(fn)
    for n in range(1, 3):
        x.grad = None
        compiled(model, x, total).backward()
        assert (x.grad.numpy() == 2).all() and (model.bias[...] == n).all()
    np.testing.assert_allclose(total.item(), 2 * expected.sum() + 16 * 2 * 1, rtol=1e-5)
    assert compiled.cache_info() == (1, 1, 1)


def test_an_array_that_a_tensor_and_a_variable_hold():
    variable = nnx.Variable(jnp.zeros(1000))

    def fn(t):
        t.add_(1)
        variable[...] = t.jax()
        made = t * 2
        return made, made.jax()

    compiled, t = ja.compile(fn), ja.zeros(1000)
    for n in range(1, 5):
        made, array = compiled(t)
        made.add_(5)
        t.add_(0)
        held = variable[...]
        assert (variable[...] == n).all() and (array == 2 * n).all() and (held == n).all()
        assert (made.numpy() == 2 * n + 5).all()


def test_a_module_may_be_described_by_shapes():
    model = nnx.eval_shape(lambda: nnx.Linear(4, 2, rngs=nnx.Rngs(0)))
    traced = ja.trace(lambda m, x: m(x), model, jax.ShapeDtypeStruct((3, 4), jnp.float32))
    assert [aval.shape for aval in traced.jaxpr.out_avals] == [(3, 2)] and len(traced.jaxpr.in_avals) == 3


def test_plain_objects_that_hold_modules():
    class Trainer:
        def __init__(self, seed, factor=1):
            self.model, self.factor, self.history = nnx.Linear(2, 2, rngs=nnx.Rngs(seed)), factor, []
            self.stats = {"n": nnx.Variable(jnp.zeros(()))}

        @ja.compile
        def run(self, x):
            self.stats["n"][...] += 1
            return self.model(x) * self.factor

    trainers = [Trainer(0), Trainer(1), Trainer(1, 2)]
    for trainer in trainers:
        for _ in range(2):
            np.testing.assert_allclose(
                trainer.run(jnp.ones((1, 2))), trainer.model(jnp.ones((1, 2))) * trainer.factor, rtol=1e-6
            )
        assert trainer.stats["n"][...] == 2
    assert Trainer.run.cache_info().misses == 2


def test_a_write_from_another_trace_level_is_the_error_of_nnx():
    model, fn = nnx.Linear(2, 2, rngs=nnx.Rngs(0)), ja.compile(double)
    fn(model)
    with pytest.raises(TraceContextError):
        jax.jit(lambda: fn(model))()
    fn(model)


@pytest.mark.slow
def test_flax_is_not_imported_for_its_own_sake():
    code = "import jaxaot as ja, sys; ja.compile(lambda x: x + 1)(ja.ones(1)); print('flax' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_a_function_of_arrays_is_jitted_without_the_facade(monkeypatch):
    monkeypatch.setattr(cells, "cell_kinds", lambda: pytest.fail("the facade was loaded, which takes long"))
    ja.jit(lambda params, x: params["w"] * x)({"w": jnp.ones(3), "none": None}, 2.0)
    with pytest.raises(pytest.fail.Exception):
        ja.jit(lambda model: model.kernel * 2)(nnx.Linear(2, 2, rngs=nnx.Rngs(0)))


# -- linen -------------------------------------------------------------------------------------------------------------


class Linen(linen.Module):
    """Dropout, statistics and a cache of its own."""

    @linen.compact
    def __call__(self, x, train):
        x = linen.Dense(8)(x)
        x = linen.BatchNorm(use_running_average=not train)(x)
        x = linen.Dropout(0.5, deterministic=not train)(x)
        n = self.variable("counts", "n", lambda: jnp.zeros((), jnp.int32))
        n.value = n.value + 1
        return linen.Dense(1)(linen.relu(x))


@pytest.mark.slow
def test_linen_init_and_apply():
    model = Linen()
    x, key = batch()[0], jax.random.key(0)
    init = ja.compile(lambda key, x: model.init(key, x, train=False))
    variables, expected = init(key, x), jax.jit(lambda key, x: model.init(key, x, train=False))(key, x)
    assert_equal(variables, expected)
    fn = ja.compile(lambda v, x, train: model.apply(v, x, train=train, mutable=["counts"]))
    for train in (False, False):
        assert_equal(fn(variables, x, train), model.apply(variables, x, train=train, mutable=["counts"]), rtol=1e-5)
    assert fn.cache_info() == (1, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("freeze", some([True, False], 1))
def test_linen_mutable_collections_and_dropout_keys(freeze):
    model = Linen()
    x, key = batch()[0], jax.random.key(0)
    variables = model.init(key, x, train=False)
    variables = frozen(variables) if freeze else variables

    def fn(variables, x, key):
        y, changed = model.apply(variables, x, train=True, mutable=["batch_stats", "counts"], rngs={"dropout": key})
        return y, {**variables, **changed}

    ours, theirs = ja.compile(fn), jax.jit(fn)
    for seed in range(3):
        dropout = jax.random.key(seed)
        (y, after), (expected, other) = ours(variables, x, dropout), theirs(variables, x, dropout)
        assert_equal(y, expected, rtol=1e-5)
        assert_equal(after, other, rtol=1e-5)
        variables = frozen(after) if freeze else after
    assert ours.cache_info().misses <= 2  # JAX sorts the dicts that it returns


def test_linen_modules_are_compared_as_arguments():
    x = jnp.ones((1, 2))
    fn = ja.compile(lambda model, v, x: model.apply(v, x))
    for width in (2, 2, 3):
        model = linen.Dense(width)
        variables = model.init(jax.random.key(0), x)
        np.testing.assert_allclose(fn(model, variables, x), model.apply(variables, x), rtol=1e-6)
    assert fn.cache_info() == (1, 2, 2)


@pytest.mark.slow
def test_linen_train_state():
    model = linen.Sequential([linen.Dense(8), linen.relu, linen.Dense(1)])
    x, y = batch()
    transform = optax.adam(1e-2)
    params = model.init(jax.random.key(0), x)["params"]

    def fn(state, x, y):
        def loss(params):
            return ((state.apply_fn({"params": params}, x) - y) ** 2).mean()

        value, grads = jax.value_and_grad(loss)(state.params)
        return state.apply_gradients(grads=grads), value

    ours, theirs = ja.compile(fn), jax.jit(fn)
    apply = model.apply
    state = other = train_state.TrainState.create(apply_fn=apply, params=params, tx=transform)
    for _ in range(4):
        (state, loss), (other, expected) = ours(state, x, y), theirs(other, x, y)
        assert_equal(loss, expected, rtol=1e-6)
    assert isinstance(state, train_state.TrainState) and type(state.step) is int  # as eagerly
    assert_equal(state.replace(step=other.step), other, rtol=1e-6)
    assert state.step == 4 and ours.cache_info().misses <= 2  # JAX sorts the dicts that it returns


def test_optax_states_are_trees():
    transform = optax.adamw(1e-2)
    params = {"b": jnp.zeros(1), "w": jnp.ones(3)}  # the order in which JAX returns them

    def fn(params, opt_state, grads):
        updates, opt_state = transform.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    ours, theirs = ja.compile(fn), jax.jit(fn)
    first = second = (params, transform.init(params))
    for _ in range(3):
        first, second = ours(*first, params), theirs(*second, params)
    assert_equal(first, second, rtol=1e-6)
    assert type(first[1]) is type(second[1]) and ours.cache_info() == (2, 1, 1)


def test_dataclasses_of_flax():
    @struct.dataclass
    class State:
        w: jax.Array
        rate: float = struct.field(pytree_node=False, default=0.5)

    fn = ja.compile(lambda s: s.replace(w=s.w * s.rate))
    assert [float(fn(State(jnp.ones(()), rate)).w) for rate in (0.5, 0.5, 2.0)] == [0.5, 0.5, 2.0]
    assert fn.cache_info() == (1, 2, 2)


class Cell(linen.Module):
    @linen.compact
    def __call__(self, x):
        return linen.Dense(2)(x)


class Derived(linen.Module):
    @linen.compact
    def __call__(self, x):
        cell = linen.remat(Cell)  # takes fields out of the class, and puts them back
        return cell()(cell()(x))


def test_linen_classes_that_are_derived_inside_of_a_compact_call():
    model, x = Derived(), np.ones((1, 2), np.float32)
    params = model.init(jax.random.key(0), x)
    apply = ja.compile(lambda params, x: model.apply(params, x))
    for _ in range(2):
        assert_equal(apply(params, x), model.apply(params, x), rtol=1e-6)
    assert apply.n_programs == 1
