"""Axes of one element are dropped from arrays of many axes: the same values, and fewer axes."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot.backend.cpu.kernels.drop_axes import MAX_AXES, drop_axes
from jaxaot.backend.cpu.kernels.lowered_cse import lowered_cse
from jaxaot.backend.cpu.machine import machine
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import Makers
from tests.rewritten import assert_rewritten
from tests.seeds import seeds, some


def normal(seed, *shape):
    return jax.device_put(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def widest(fn, *args):
    """Returns how many axes arrays have at most that are computed after the pass, reshaped ones not counted.

    Checks that the pass changes no value and no type.
    """
    _, passed = assert_rewritten(lambda closed: drop_axes(lowered_cse(closed)), fn, *args, rtol=1e-5)
    return max(eqn.outvars[0].aval.ndim for eqn in passed.eqns if eqn.primitive.name != "reshape")


def attention(q, k, v, mask):
    """flax's: heads behind positions, and an axis of groups."""
    scores = jnp.einsum("bqgrd,bkgd->bgrqk", q, k) / np.float32(np.sqrt(q.shape[-1]))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return jnp.einsum("bgrqk,bkgd->bqgrd", weights, v)


@pytest.mark.slow
def test_an_attention_with_groups_of_one_and_its_gradients():
    q, k, v = normal(0, 2, 5, 3, 1, 4), normal(1, 2, 5, 3, 4), normal(2, 2, 5, 3, 4)
    mask = jnp.tril(jnp.ones((5, 5), bool))[None, None, None]
    loss = lambda *args: (attention(*args, mask) ** 2).sum()
    assert widest(jax.grad(loss, (0, 1, 2)), q, k, v) == MAX_AXES
    assert widest(jax.value_and_grad(jax.checkpoint(loss)), q, k, v) >= MAX_AXES


STEPS = (
    lambda x, rng: jnp.sin(x) * 2,
    lambda x, rng: x + x.mean(rng.randrange(x.ndim), keepdims=True),
    lambda x, rng: jnp.where(x > 0, x, -0.5 * x),
    lambda x, rng: x.transpose(rng.sample(range(x.ndim), x.ndim)),
    lambda x, rng: jnp.expand_dims(x, rng.randrange(x.ndim + 1)) if x.ndim < 7 else x,
    lambda x, rng: x.sum(rng.sample(range(x.ndim), 1), keepdims=True),
    lambda x, rng: x.max(rng.randrange(x.ndim)) if x.ndim > 5 else x,
    lambda x, rng: jax.nn.softmax(x, rng.randrange(x.ndim)),
    lambda x, rng: jnp.broadcast_to(x, [2 if n == 1 and rng.random() < 0.3 else n for n in x.shape]),
    lambda x, rng: jnp.flip(x, rng.randrange(x.ndim)),
    lambda x, rng: jnp.concatenate([x, x], next((i for i, n in enumerate(x.shape) if n == 1), 0))[..., :4],
    lambda x, rng: x.reshape(1, *x.shape[:-1], -1) if x.ndim < 7 else x.reshape(-1, *x.shape[2:]),
    lambda x, rng: jnp.matmul(x, jnp.swapaxes(x, -1, -2)) / x.shape[-1],
    lambda x, rng: jnp.cumsum(x, rng.randrange(x.ndim)) * 0.5,
    lambda x, rng: jnp.einsum("...i,...i->...", x, x)[..., None],
)  # fmt: skip


@pytest.mark.parametrize("seed", seeds(10, 1))
def test_random_programs_keep_their_values_and_gradients(seed, using_machine):
    rng = random.Random(seed)
    shape = [rng.choice((1, 1, 2, 3)) for _ in range(rng.randint(4, 6))]
    using_machine(min_reduced_elements=rng.choice((0, machine().min_reduced_elements)))
    chosen = [(rng.choice(STEPS), rng.random()) for _ in range(8)]

    def fn(x):
        for step, own in chosen:
            y = step(x, random.Random(own))
            x = y if y.size <= 4096 else x
        return x

    loss = lambda x: (fn(x) ** 2).sum()
    with_gradient = lambda x: (fn(x), jax.grad(loss)(x))
    x = normal(seed, *shape)
    before = inline(jax.make_jaxpr(with_gradient)(x), also_custom=True)
    assert widest(with_gradient, x) <= max(eqn.outvars[0].aval.ndim for eqn in before.eqns)


@pytest.mark.parametrize("shape", some([(1, 16, 512), (16, 512, 1), (16, 1, 512), (1, 4, 4, 512)], 2))
@pytest.mark.parametrize("name", some(["softmax", "products", "norm"], 1))
def test_what_is_computed_and_reduced_at_once_has_no_axis_of_one_element(name, shape):
    axis = shape.index(512)
    fn = {
        "softmax": lambda x, y: (jax.nn.softmax(x, axis) * y).sum(),
        "norm": lambda x, y: ((x - x.mean(axis, keepdims=True)) / x.std(axis, keepdims=True) * y).sum(),
        "products": lambda x, y: ((x * y).sum(axis) ** 2).sum(),
    }[name]
    _, passed = assert_rewritten(drop_axes, jax.value_and_grad(fn), normal(0, *shape), normal(1, *shape), rtol=1e-5)
    producer, fused = Makers(passed.jaxpr).position, 0
    for eqn in passed.eqns:
        made = producer.get(eqn.invars[0]) if eqn.primitive.name.startswith("reduce_") else None
        if made is not None and eqn.invars[0].aval.size >= machine().min_reduced_elements:
            fused += passed.eqns[made].primitive.name != "reshape"
            assert 1 not in eqn.invars[0].aval.shape
    assert fused


def test_what_stays():
    x = normal(0, 2, 3, 1, 4)  # too small to matter
    closed = inline(jax.make_jaxpr(lambda x: jax.nn.softmax(x))(x), also_custom=True)
    assert drop_axes(closed) is closed
    assert widest(lambda x: jnp.sin(x).sum(-1), normal(0, 2, 2, 2, 2, 2)) == 5
    moved = inline(
        jax.make_jaxpr(lambda x: x.reshape(1, 8, 16, 2, 16, 2).transpose(0, 1, 3, 5, 2, 4))(normal(0, 8, 32, 32))
    )
    assert drop_axes(moved) is moved  # neither reduced nor multiplied
    y = normal(0, 1, 2, 1, 2, 3)
    assert widest(lambda y: (jnp.sin(y), jnp.sin(y).sum(2), y), y) == 3
