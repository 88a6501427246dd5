"""Bodies of loops and branches go through the passes as well."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from benchmarks.random_matrices import matrix_program
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.tune import tune
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from tests.declared import EVERY
from tests.seeds import seeds


def looped(seed):
    """Returns a function with a scan, a while loop and a branch, and its arguments."""
    step, (x, w) = matrix_program(seed)

    def fn(x, w):
        def body(carry, scale):
            loss, (gx, gw) = step(carry, w * scale)
            return carry - 0.1 * jnp.tanh(gx), (loss, jnp.tanh(gw))

        def loss_of(x):
            x, (losses, slopes) = lax.scan(body, x, jnp.linspace(0.5, 1.0, 3))
            return losses.sum() + slopes.sum(), x

        (loss, x), slope = jax.value_and_grad(loss_of, has_aux=True)(x)
        x = lax.fori_loop(0, 2, lambda i, x: jnp.tanh(x @ w.T) - 0.1 * x, x)
        branch = lax.cond(loss > 0, lambda x: (x @ w.T).swapaxes(1, 2) + x, lambda x: x * 2.0, x)
        return loss, slope, branch

    return fn, (x, w)


def eqns_of(closed, name):
    return [eqn for eqn in closed.jaxpr.eqns if eqn.primitive.name == name]


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(3, 1))
def test_values_and_gradients_are_kept(seed, everything_is_large):
    fn, args = looped(seed)
    closed = inline(jax.make_jaxpr(fn)(*args), also_custom=True)
    tuned = tune(closed, EVERY, check=True).jaxpr
    check_graph(tuned)
    assert [(a.shape, a.dtype, a.weak_type) for a in tuned.out_avals] == [
        (a.shape, a.dtype, a.weak_type) for a in closed.out_avals
    ]
    for got, want in zip(jax.jit(jaxpr_as_fun(tuned))(*args), jax.jit(jaxpr_as_fun(closed))(*args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * float(np.abs(want).max()))


def test_bodies_are_rewritten_and_said(everything_is_large):
    fn, args = looped(1)
    closed = inline(jax.make_jaxpr(fn)(*args), also_custom=True)
    tuned = tune(closed, ("fold_transposes",))
    (loop,), (branch,) = (
        eqns_of(tuned.jaxpr, "while") or eqns_of(tuned.jaxpr, "scan")[-1:],
        eqns_of(tuned.jaxpr, "cond"),
    )
    body = loop.params.get("body_jaxpr") or loop.params["jaxpr"]
    assert not eqns_of(body, "transpose")
    assert any(len(eqns_of(body, "transpose")) == 1 for body in branch.params["branches"])  # that of the result
    assert any("fold_transposes in a body of cond" in str(result) for result in tuned.results)


@pytest.mark.slow
def test_small_bodies_are_left_alone():
    fn, args = looped(0)
    closed = inline(jax.make_jaxpr(fn)(*args), also_custom=True)
    tuned = tune(closed, ("fold_transposes",))
    for name in ("scan", "cond"):
        for before, after in zip(eqns_of(closed, name), eqns_of(tuned.jaxpr, name), strict=True):
            assert str(before) == str(after)
    np.testing.assert_allclose(ja.jit(fn)(*args)[0], fn(*args)[0], rtol=1e-5)
