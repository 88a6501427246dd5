"""Random chains of ops along an axis whose size changes: value, output and gradient are those of the exact size."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxaot.buckets.writer import RefusedError
from jaxaot.ir.alignment import NotAlikeError
from tests.buckets.exact import At
from tests.seeds import seeds

BUCKET, REFERENCE, SIZES = 16, 11, (6, 15)
X = np.random.default_rng(5).uniform(-1, 1, (BUCKET, 4)).astype(np.float32)
W = jnp.asarray(np.random.default_rng(6).normal(size=(4, 4)).astype(np.float32) * 0.5)
KEY = jax.random.key(1)


def pairs(x):
    """Returns (n * n, 4): an axis of two digits."""
    return (x[:, None] * jnp.cos(x)[None]).reshape(-1, 4)


OPS = {
    "product": lambda x: jnp.tanh(x @ W),
    "gram": lambda x: x @ x.T @ x / x.shape[0],
    "attention": lambda x: jax.nn.softmax(x @ x.T) @ x,
    "causal": lambda x: jax.nn.softmax(jnp.where(np.tril(np.ones((x.shape[0],) * 2, bool)), x @ x.T, -jnp.inf)) @ x,
    "norm": lambda x: (x - x.mean(0)) / (x.std(0) + 0.5),
    "relative": lambda x: x / (1 + jnp.abs(x).sum(0)),
    "softmax": lambda x: jax.nn.softmax(x, 0),
    "shift": lambda x: jnp.concatenate([x[1:], x[:1]]),
    "drop last": lambda x: jnp.pad(x[:-1], ((0, 1), (0, 0))),
    "drop first": lambda x: jnp.pad(x[1:], ((1, 0), (0, 0)), constant_values=0.3),
    "last": lambda x: x * x[-1],
    "two last": lambda x: x + x[-2:].sum(0),
    "reverse": lambda x: x[::-1] * 0.9,
    "roll": lambda x: jnp.roll(x, 2, 0),
    "cumulate": lambda x: jnp.cumsum(x, 0) / (1 + jnp.arange(x.shape[0]))[:, None],
    "from the end": lambda x: lax.cumsum(x, 0, reverse=True) / x.shape[0],
    "sort": lambda x: jnp.sort(x, 0),
    "by order": lambda x: x[jnp.argsort(lax.stop_gradient(x[:, 0]))],
    "gather": lambda x: x[jnp.arange(x.shape[0]) // 2],
    "along": lambda x: jnp.take_along_axis(x, jnp.argsort(lax.stop_gradient(x), 0), 0),
    "write": lambda x: jnp.zeros_like(x).at[jnp.arange(x.shape[0])[::-1]].add(x),
    "groups": lambda x: jax.ops.segment_sum(x, jnp.arange(x.shape[0]) % 3, 3)[jnp.arange(x.shape[0]) % 3],
    "set row": lambda x: x.at[-1].mul(0.5),
    "scan": lambda x: lax.scan(lambda c, y: (jnp.tanh(c * 0.5 + y), c + y), jnp.zeros(4), x)[1],
    "scan back": lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c), jnp.ones(4), x, reverse=True)[1],
    "layers": lambda x: lax.scan(lambda h, w: (jnp.tanh(h * w + h.mean(0)), None), x, jnp.arange(1.0, 3.0))[0],
    "dropout": lambda x: x * jax.random.bernoulli(KEY, 0.7, x.shape),
    "noise of columns": lambda x: x + 0.1 * jax.random.normal(KEY, x.shape[::-1]).T,
    "pairs": lambda x: pairs(x).reshape(x.shape[0], -1, 4).mean(1),
    "labels of pairs": lambda x: jax.nn.log_softmax(pairs(x))[jnp.arange(x.shape[0] ** 2), 1].mean() * x,
    "along pairs": lambda x: x * jnp.take_along_axis(pairs(x), jnp.argmax(pairs(x), 1)[:, None], 1).sum(),
    "number pairs": lambda x: x + (pairs(x) * jnp.arange(x.shape[0] ** 2)[:, None]).mean(),
    "cumulate pairs": lambda x: jnp.cumsum(pairs(x), 0).reshape(x.shape[0], -1, 4)[:, -1] / x.shape[0],
    "sort pairs": lambda x: jnp.sort(pairs(x), 0).reshape(x.shape[0], -1, 4)[:, 0],
    "transpose pairs": lambda x: pairs(x).reshape(x.shape[0], -1, 4).swapaxes(0, 1).reshape(-1, 4)[: x.shape[0]] + x,
    "convolve": lambda x: lax.conv_general_dilated(x.T[None], W[:, :, None] * jnp.ones(3), (1,), "SAME")[0].T,
    "pool": lambda x: lax.reduce_window(x, 0.0, lax.add, (3, 1), (1, 1), "SAME") / 3,
    "branch": lambda x: lax.cond(x[0, 0] > 0, lambda x: x * 2, lambda x: x[::-1], x),
    "checkpoint": jax.checkpoint(lambda x: jnp.sin(x) @ W),
    "tile": lambda x: jnp.tile(x, (2, 1))[x.shape[0] // 2 :][: x.shape[0]],
}

MAY_BE_REFUSED = {"tile"}
"""Half of a size is the same for two sizes, and then another one."""


@pytest.mark.parametrize("seed", seeds(120, 1))
def test_a_chain_is_exact(seed):
    draw = random.Random(seed)
    names = [draw.choice(sorted(OPS)) for _ in range(4)]

    def chain(x):
        for name in names:
            x = OPS[name](x)
        return x

    def fn(x):
        weights = jnp.cos(jnp.arange(x.size, dtype=jnp.float32)).reshape(x.shape)
        return chain(x), jax.value_and_grad(lambda x: (chain(x) * weights).sum())(x)

    try:
        at = At(fn, lambda n: (X[:n],), REFERENCE, BUCKET)
        for size in SIZES:
            at.check(size, 2e-4, 2e-4)
    except (NotAlikeError, RefusedError):
        assert MAY_BE_REFUSED & set(names), names


@pytest.mark.slow
def test_each_op_is_exact_alone():
    def fn(x):
        return {name: op(x) for name, op in OPS.items() if name not in MAY_BE_REFUSED}

    at = At(fn, lambda n: (X[:n],), REFERENCE, BUCKET)
    for size in SIZES:
        at.check(size, 1e-4, 1e-4)
