"""No pass fails, nor what decides of shards, subprograms and delays: on ops, models and random graphs."""

import functools
import operator
import random

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax import lax

from benchmarks import models
from benchmarks.op_table import SLOW, functions_of
from jaxaot.backend.cpu.batch.shards import plan_shards
from jaxaot.backend.cpu.memory.delay import delay
from jaxaot.backend.cpu.memory.sequential import can_be_cut
from jaxaot.backend.cpu.tune import is_worth_tuning, tune
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.ops.table import rows
from tests.declared import IN_ORDER
from tests.seeds import seeds, some


def goes_through_all(fn, *args):
    """Has the graph of a function go through every pass, each checked; nothing is compiled or run."""
    opened = inline(jax.make_jaxpr(fn)(*args), also_custom=True)
    if not is_worth_tuning(opened):
        return False
    tuned = tune(opened, IN_ORDER, check=True).jaxpr
    can_be_cut(tuned)
    check_graph(delay(tuned))
    shards = plan_shards(opened, 2)
    for graph in () if shards is None else (shards.part, shards.rest):
        tune(graph, IN_ORDER, check=True)
    return True


SPECS = sorted((spec for spec in rows() if spec.name not in SLOW), key=lambda spec: spec.name)
N_PARTS = 32


@pytest.mark.parametrize("part", some(range(N_PARTS), 1))
def test_on_ops(part):
    is_quick = part == 0
    specs = SPECS[part :: N_PARTS * (8 if is_quick else 1)]
    went = [goes_through_all(fn, *arrays) for spec in specs for _, fn, arrays in functions_of(spec)]
    assert any(went), "all graphs are too small for the passes"


MODELS = ("linen_gpt", "nnx_transformer", "linen_vit", "resnet", "gpt")


@pytest.mark.parametrize("name", some(MODELS, 0))
def test_on_models(name):
    model = getattr(models, name)()
    optimizer = optax.adamw(1e-3)

    def step(params, state, *data):
        loss, gradients = jax.value_and_grad(lambda params: model.loss(params, *data))(params)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    assert goes_through_all(step, model.parameters, optimizer.init(model.parameters), *model.data)


# -- random graphs -----------------------------------------------------------------------------------------------------

SHAPES = [(256, 512), (8, 64, 256), (512, 256), (4, 4, 64, 128), (131072,)]
NUMBERS = [0.0, 1.0, -2.0, 0.5, float("inf")]
BINARY = [jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum, lambda a, b: a / (b * b + 1), jnp.arctan2]
COMPARE = [operator.eq, operator.ne, operator.lt, operator.ge]
UNARY = [
    jnp.sin, jnp.exp, jnp.abs, jnp.negative, jnp.square, jnp.tanh, jnp.sign, jnp.floor, jax.nn.relu, jax.nn.gelu,
    lambda x: x**3, lambda x: x.astype(jnp.bfloat16).astype(x.dtype), lax.stop_gradient, lax.optimization_barrier,
    lambda x: 1 / (1 + x * x), lambda x: jnp.nan_to_num(x), lambda x: jnp.where(x > 0, x, 0.0),
]  # fmt: skip
REDUCE = [jnp.sum, jnp.max, jnp.min, jnp.mean, jnp.prod, jnp.var, jax.nn.logsumexp]
ALONG = [
    jax.nn.softmax, jax.nn.log_softmax, jnp.cumsum, jnp.sort, jnp.flip, lambda x, axis: jnp.roll(x, 3, axis),
    lambda x, axis: jnp.argsort(x, axis).astype(x.dtype), lambda x, axis: lax.cummax(x, axis % x.ndim),
    lambda x, axis: x - jnp.max(x, axis, keepdims=True), lambda x, axis: x / jnp.sum(x, axis, keepdims=True),
    lambda x, axis: (x == jnp.max(x, axis, keepdims=True)).astype(x.dtype),
    lambda x, axis: jnp.concatenate([x, x[..., :1] * x], -1)[..., : x.shape[-1]],
    lambda x, axis: jnp.take(x, jnp.zeros(x.shape[axis], int) + 2, axis=axis),
    lambda x, axis: x.at[1:].set(x[:-1]), lambda x, axis: x.at[..., ::2].add(1.0),
]  # fmt: skip


def _drawn(rng, x, values):
    """Returns a value made of another one and of those before it, by a random operation."""
    axis = rng.randrange(-x.ndim, x.ndim)
    kin = [value for value in values if value.shape == x.shape]
    other = rng.choice([*kin, rng.choice(NUMBERS), x.reshape(-1)[0]])
    match rng.randrange(12):
        case 0:
            return rng.choice(BINARY)(x, other)
        case 1:
            return rng.choice(COMPARE)(x, other).astype(x.dtype) * rng.choice([x, *kin])
        case 2:
            return jnp.where(rng.choice(COMPARE)(x, other), x, rng.choice(NUMBERS))
        case 3:
            return jnp.broadcast_to(rng.choice(REDUCE)(x, axis, keepdims=True), x.shape)
        case 4:
            return x * rng.choice(REDUCE)(x, axis, keepdims=True)
        case 5 | 6:
            return rng.choice(ALONG)(x, axis=axis)
        case 7:
            return x.reshape(rng.choice(SHAPES))
        case 8:
            return jnp.moveaxis(x, axis, 0)
        case 9 if x.ndim > 1:
            return jnp.einsum("...ij,...kj,...kl->...il", x, x, x) / 1e4
        case 10:
            return lax.scan(
                lambda c, row: (c + row, c * row),
                x[0],
                x,
                unroll=rng.choice([1, 2, x.shape[0] if x.shape[0] <= 16 else 1]),
            )[1]
        case _:
            return rng.choice(UNARY)(x)


def random_graph(seed):
    """Returns a function of two arrays, all of whose values are large."""

    def fn(x, y):
        draws = random.Random(seed)
        values = [x, y.reshape(draws.choice(SHAPES))]
        for _ in range(draws.randrange(4, 16)):
            values.append(_drawn(draws, draws.choice(values[-3:]), values))
        return functools.reduce(operator.add, (value.sum() for value in values[-3:])), values[-1]

    return fn


@pytest.mark.parametrize("seed", seeds(20, 1))
def test_on_random_graphs(seed):
    x, y = (jax.ShapeDtypeStruct(SHAPES[0], np.float32) for _ in range(2))
    n = 5 if seed == 0 else 50
    for number in range(n):
        fn = random_graph(1000 * seed + number)
        assert goes_through_all(fn, x, y)
        assert goes_through_all(jax.grad(lambda *args: fn(*args)[0], (0, 1)), x, y)
