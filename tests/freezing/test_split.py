"""Graphs in two: the parts compute what the whole does, and what is packed is no larger than what is frozen."""

from __future__ import annotations

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.machine import using
from jaxaot.freezing.executable import prepack
from jaxaot.freezing.fold_scales import fold_scales
from jaxaot.freezing.split import split
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import aval_bytes
from tests.laws import graphs
from tests.seeds import seeds


def in_two(parts, args):
    """The outputs of a graph in two."""
    packed = jaxpr_as_fun(parts.pack)(*(args[i] for i in parts.frozen))
    return jaxpr_as_fun(parts.run)(*packed, *(args[i] for i in parts.others))


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args), also_custom=True)


def names(closed):
    return [eqn.primitive.name for eqn in closed.jaxpr.eqns]


def packed_types(parts):
    return [(aval.shape, aval.dtype.name) for aval in parts.pack.out_avals]


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", seeds(2000, 3))
def test_random_graphs_in_two(seed):
    rng, args = random.Random(seed), graphs.inputs(seed)
    closed = graph_of(graphs.program(seed, 8), *args)
    frozen = [i for i in range(len(args)) if rng.random() < 0.6]
    expected = jaxpr_as_fun(closed)(*args)
    for parts in (split(closed, frozen), prepack(closed, frozen)):
        check_graph(parts.pack)
        check_graph(parts.run)
        for ours, theirs in zip(in_two(parts, args), expected, strict=True):
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
    parts = split(closed, frozen)
    assert sum(map(aval_bytes, parts.pack.out_avals)) <= sum(map(aval_bytes, parts.pack.in_avals))


def random_network(rng):
    """A chain of products with weights that are transposed, scaled, normalized, halved or joined; and its arguments."""
    n, weights = 6, []

    def weight(*shape):
        values = np.random.default_rng(rng.randrange(1 << 30)).normal(size=shape) / 2
        weights.append(jnp.asarray(values, "float32"))
        return len(weights) - 1

    layers = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.choice(["plain", "turned", "normed", "einsum", "joined", "halves", "quantized"])
        affine = [(rng.choice(["add", "mul", "sub", "div"]), weight(n)) for _ in range(rng.randint(0, 4))]
        layers.append((kind, [weight(n, n) for _ in range(3)], affine, rng.random() < 0.5))

    def run(x, *weights):
        for kind, places, affine, bends in layers:
            a, b, c = (weights[i] for i in places)
            match kind:
                case "plain":
                    y = x @ a
                case "turned":
                    y = x @ a.T
                case "normed":
                    y = x @ (a / jnp.linalg.norm(a, axis=0, keepdims=True)).T
                case "einsum":
                    y = jnp.einsum("bi,oi->bo", x, a)
                case "joined":
                    y = jnp.tanh(x @ a) * (x @ b.T) + x @ c
                case "halves":
                    y = (x.astype("bfloat16") @ a.astype("bfloat16")).astype("float32")
                case "quantized":
                    y = x @ ((a * 9).astype("int8").astype("float32") * b[0])
            for how, place in affine:
                v = weights[place]
                y = {"add": y + v, "mul": y * v, "sub": y - v, "div": y / (1 + v * v)}[how]
            x = jnp.tanh(y) if bends else y
        return x

    return run, [jnp.asarray(np.random.default_rng(rng.randrange(99)).normal(size=(3, n)), "float32"), *weights]


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", seeds(1000, 3))
def test_random_networks_in_two(seed):
    rng = random.Random(seed)
    run, args = random_network(rng)
    closed = graph_of(run, *args)
    frozen = [i for i in range(1, len(args)) if rng.random() < 0.9]
    with using(ordered_bytes=rng.choice([0, 1 << 30])):
        parts = prepack(closed, frozen)
    check_graph(parts.pack)
    check_graph(parts.run)
    (ours,), (theirs,) = in_two(parts, args), jaxpr_as_fun(closed)(*args)
    tolerance = 3e-2 if "bf16" in str(closed) else 2e-5
    scale = max(1.0, float(np.abs(theirs).max()))
    np.testing.assert_allclose(ours / scale, theirs / scale, atol=tolerance)


W, X = jnp.ones((4, 3)), jnp.ones((2, 3))


def test_transposes_and_casts_are_packed():
    parts = split(graph_of(lambda w, x: x @ w.T, W, X), [0])
    assert packed_types(parts) == [((3, 4), "float32")] and names(parts.run) == ["dot_general"]
    parts = split(graph_of(lambda w, x: x.astype("bfloat16") @ w.astype("bfloat16").T, W, X), [0])
    assert packed_types(parts) == [((3, 4), "bfloat16")]


def test_what_grows_is_not_packed():
    parts = split(graph_of(lambda w, x: x @ w.astype("float32").T, W.astype("int8"), X), [0])
    assert packed_types(parts) == [((4, 3), "int8")]
    parts = split(graph_of(lambda b, x: x + jnp.broadcast_to(b, (2, 3)), jnp.ones(3), X), [0])
    assert sum(map(aval_bytes, parts.pack.out_avals)) == 12
    scaled = lambda q, s, x: x @ (q * jnp.broadcast_to(s[:, None], (4, 3))).T
    parts = split(graph_of(scaled, W, jnp.ones(4), X), [0, 1])
    assert packed_types(parts) == [((3, 4), "float32")]


def test_what_is_read_as_it_is_too_is_not_packed_twice():
    parts = split(graph_of(lambda w, i: w[i] @ w.T, W, jnp.int32(1)), [0])
    assert packed_types(parts) == [((4, 3), "float32")]


@pytest.mark.slow
def test_random_numbers_of_a_frozen_key_and_constants_stay_right():
    mask = np.tril(np.ones((3, 3), np.float32))
    fn = lambda key, x: x * mask + jax.random.uniform(key, (2, 3))[:1]
    args = [jax.random.key_data(jax.random.key(0)), jnp.ones((3, 3))]
    run = lambda data, x: fn(jax.random.wrap_key_data(data), x)
    parts = split(graph_of(run, *args), [0])
    np.testing.assert_array_equal(in_two(parts, args)[0], run(*args))


def test_effects_stay():
    shown = []

    def fn(w, x):
        jax.debug.callback(lambda v: shown.append(float(v)), w.sum())
        return x + w

    closed = jax.make_jaxpr(fn)(jnp.ones(3), jnp.ones(3))
    in_two(split(closed, [0]), [jnp.ones(3), jnp.ones(3)])
    jax.effects_barrier()
    assert shown == [3.0]


def test_large_weights_lie_with_the_summed_axes_last():
    flax_like = graph_of(lambda w, x: x @ w, jnp.ones((3, 4)), X)
    with using(ordered_bytes=0):
        parts = prepack(flax_like, [0])
        assert packed_types(parts) == [((4, 3), "float32")]
        (eqn,) = parts.run.jaxpr.eqns
        assert eqn.params["dimension_numbers"] == (((1,), (1,)), ((), ()))
        parts = prepack(graph_of(lambda w, x: x @ w.T, W, X), [0])  # as PyTorch keeps them
        assert names(parts.pack) == [] and names(parts.run) == ["dot_general"]
    assert packed_types(prepack(flax_like, [0])) == [((3, 4), "float32")]


def test_a_sum_alone_is_not_folded():
    fn = lambda w, b, x: x @ w.T + b
    closed = graph_of(fn, W, jnp.ones(4), X)
    assert names(fold_scales(closed, [0, 1])).count("mul") == 0
    assert names(prepack(closed, [0, 1]).run) == ["dot_general", "add"]


@pytest.mark.few(1)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_batch_norm_goes_into_a_convolution(layout):
    kernel = jax.device_put(np.random.default_rng(0).normal(size=(5, 3, 3, 3)).astype(np.float32))
    x = jax.device_put(np.random.default_rng(1).normal(size=(2, 3, 6, 6)).astype(np.float32))
    statistics = [jnp.linspace(0.5, 2, 5) + i for i in range(4)]
    shape = (5, 1, 1) if layout == "NCHW" else (5,)

    def fn(kernel, mean, var, scale, bias, x):
        dims = (layout, "OIHW", layout)
        x = x if layout == "NCHW" else x.transpose(0, 2, 3, 1)
        y = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=dims)
        mean, var, scale, bias = (v.reshape(shape) for v in (mean, var, scale, bias))
        return jax.nn.relu((y - mean) * jax.lax.rsqrt(var + 1e-5) * scale + bias)

    args = [kernel, *statistics, x]
    parts = prepack(graph_of(fn, *args), range(5))
    assert names(parts.run).count("mul") == names(parts.run).count("sub") == 0
    assert len(parts.pack.out_avals) == 2
    np.testing.assert_allclose(in_two(parts, args)[0], fn(*args), rtol=1e-5, atol=1e-5)


def test_a_result_that_is_read_besides_is_not_folded():
    def fn(w, s, x):
        y = x @ w.T
        return y * s, y

    closed = graph_of(fn, W, jnp.ones(4), X)
    assert names(prepack(closed, [0, 1]).run).count("dot_general") == 1


def test_products_of_another_precision_are_not_joined():
    def fn(a, b, x):
        return jnp.dot(x, a, precision="highest"), x @ b

    closed = graph_of(fn, jnp.ones((3, 4)), jnp.ones((3, 4)), X)
    assert names(prepack(closed, [0, 1]).run).count("dot_general") == 2
    both = graph_of(lambda a, b, x: (x @ a, x @ b), jnp.ones((3, 4)), jnp.ones((3, 4)), X)
    assert names(prepack(both, [0, 1]).run).count("dot_general") == 1
