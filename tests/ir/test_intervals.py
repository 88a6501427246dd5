"""Intervals hold what they are said to hold, and tell the masks that attention has."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot._jax import jaxpr_as_fun
from jaxaot.ir.blocks import Regions
from jaxaot.ir.intervals import Intervals
from jaxaot.ir.rewrite import extract, inline
from tests.seeds import seeds

ROWS, COLUMNS, TILE = 12, 32, 8


def drawn(draw, i, j, depth):
    """Returns a random integer for each row and column."""
    if depth == 0:
        return draw.choice([i, j, jnp.full_like(i, draw.randint(-5, 40))])
    one, other = (drawn(draw, i, j, depth - 1) for _ in range(2))
    number = draw.randint(1, 7)
    return draw.choice(
        [
            lambda: one + other,
            lambda: one - other,
            lambda: one * draw.randint(-3, 3),
            lambda: one // number,
            lambda: one % number,
            lambda: jax.lax.rem(one, jnp.full_like(one, number)),
            lambda: jnp.maximum(one, other),
            lambda: -jnp.minimum(one, other),
            lambda: jnp.where(one >= other, one, number),
            lambda: abs(one),
        ]
    )()


def mask(draw):
    def made():
        i, j = (jax.lax.broadcasted_iota(jnp.int32, (ROWS, COLUMNS), axis) for axis in (0, 1))
        a, b, c, d = (drawn(draw, i, j, draw.randint(0, 2)) for _ in range(4))
        compared = draw.choice([jnp.less, jnp.less_equal, jnp.greater, jnp.greater_equal, jnp.equal, jnp.not_equal])
        return draw.choice([lambda x, y: x & y, lambda x, y: x | ~y])(compared(a, b), c < d)

    return inline(jax.make_jaxpr(made)(), also_custom=True)


@pytest.mark.parametrize("seed", seeds(200, 20))
def test_all_elements_lie_in_their_interval(seed):
    closed = mask(random.Random(seed))
    makers = Regions(closed).makers
    found = Intervals(makers, {}, lambda var: 1 if var.aval.shape == (ROWS, COLUMNS) else None, TILE)
    for eqn in closed.jaxpr.eqns:
        bounds = found.of(eqn.outvars[0])
        if bounds is None or eqn.outvars[0].aval.shape != (ROWS, COLUMNS):
            continue
        (value,) = jaxpr_as_fun(extract(closed.jaxpr.eqns, [], [eqn.outvars[0]]))()
        parts = np.asarray(value).reshape(ROWS, -1, TILE)
        assert (bounds.low <= parts.min((0, 2))).all() and (parts.max((0, 2)) <= bounds.high).all(), eqn


def test_a_causal_mask_is_told_by_tile():
    closed = inline(jax.make_jaxpr(lambda: jnp.tril(jnp.ones((8, COLUMNS), bool), 3))())
    (result,) = closed.jaxpr.outvars
    bounds = Intervals(Regions(closed).makers, {}, lambda var: 1, TILE).of(result)
    assert bounds.high.tolist() == [[1, 1, 0, 0]] and bounds.low.tolist() == [[0, 0, 0, 0]]
