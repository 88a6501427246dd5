"""Barriers stand where XLA can compile them: not in reductions, nor in loops that it makes kernels of."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot.backend.cpu.repair.barriers import has_barriers, without_misplaced_barriers
from jaxaot.ir.rewrite import inline

X = jnp.ones((64, 64)) * 0.01
ROUNDS = jnp.ones((5, 64, 64)) * 0.01
held = lax.optimization_barrier


def checkpointed(step):
    return jax.grad(lambda x: lax.scan(jax.checkpoint(lambda c, v: (step(c, v), None)), x, ROUNDS)[0].sum())


STAY = {
    "in the program": lambda x: held(x) + 1,
    "in a branch": lambda x: lax.cond(x[0, 0] > 1, lambda x: held(x) * 2, lambda x: x, x),
    "with a product that is carried": lambda x: lax.fori_loop(0, 5, lambda _, c: held(jnp.tanh(c @ c)) * 2, x),
    "with a product that is stacked": lambda x: lax.scan(lambda c, v: (held(c + v), c @ v), x, ROUNDS),
    "of a checkpoint with a product": checkpointed(lambda c, v: jnp.sin(c @ v)),
}
GO = {
    "in a loop": lambda x: lax.fori_loop(0, 5, lambda _, c: held(c + 1) * 2, x),
    "in a map": lambda x: lax.map(lambda v: held(v) * 2, x),
    "in a branch in a loop": lambda x: lax.fori_loop(
        0, 5, lambda i, c: lax.cond(i > 2, lambda c: held(c) * 2, lambda c: c, c), x
    ),
    "in a condition": lambda x: lax.while_loop(lambda c: held(c)[0, 0] < 5, lambda c: c + 1, x),
    "with a product that stays the same": lambda x: lax.fori_loop(0, 5, lambda _, c: held(c + x @ x), x),
    "with a product that nothing reads": lambda x: lax.scan(lambda c, v: (held(c + v), c @ v), x, ROUNDS)[0],
    "in a reduction": lambda x: lax.reduce(x, 0.0, lambda a, b: held(a) + b, (0,)),
    "in a window": lambda x: lax.reduce_window(x, 0.0, lambda a, b: held(a) + b, (3, 3), (1, 1), "SAME"),
    "of a checkpoint without a product": checkpointed(lambda c, v: jnp.sin(c * v)),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", [*STAY, *GO])
def test_programs_with_barriers_compile_and_are_right(name):
    fn = {**STAY, **GO}[name]
    closed = inline(jax.make_jaxpr(fn)(X), also_custom=True)
    assert has_barriers(closed.jaxpr)
    mended = without_misplaced_barriers(closed)
    assert has_barriers(mended.jaxpr) == (name in STAY)
    assert (mended is closed) == (name in STAY)
    for got, want in zip(jax.tree.leaves(ja.jit(fn)(X)), jax.tree.leaves(jax.jit(fn)(X)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
