"""Bodies of `jax.checkpoint` are opened where nothing is differentiated any more."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.run import choose_way
from jaxaot.ir.checkpoints import open_checkpoints
from jaxaot.ir.rewrite import inline
from tests.declared import BY_DEFAULT
from tests.drawn import drawn

X = drawn(0, 256, 128)


def inner(x):
    return jnp.sin(jax.nn.relu(x @ x.T)).sum()


@pytest.mark.few(7)
@pytest.mark.parametrize("differentiated", [True, False])
@pytest.mark.parametrize(
    "checkpointed",
    [
        jax.checkpoint(inner),
        jax.checkpoint(inner, prevent_cse=False),
        jax.checkpoint(lambda x: jax.checkpoint(inner)(x * 2)),
        jax.checkpoint(inner, policy=jax.checkpoint_policies.dots_saveable),
    ],
    ids=["plain", "prevent_cse=False", "nested", "policy"],
)
def test_the_graph_computes_the_same_without_checkpoints(checkpointed, differentiated, request):
    fn = jax.value_and_grad(checkpointed) if differentiated else checkpointed
    closed = inline(jax.make_jaxpr(fn)(X), also_custom=True)
    opened = open_checkpoints(closed)
    names = [eqn.primitive.name for eqn in opened.jaxpr.eqns]
    assert any("remat" in str(eqn.primitive) or "checkpoint" in str(eqn.primitive) for eqn in closed.jaxpr.eqns)
    assert not {"remat2", "checkpoint", "remat", "jit", "pjit", "custom_jvp_call"} & set(names)
    waits = differentiated and "prevent_cse=False" not in request.node.name
    assert ("optimization_barrier" in names) == waits
    for got, want in zip(jaxpr_as_fun(opened)(X), jaxpr_as_fun(closed)(X), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.slow
def test_passes_reach_what_a_checkpoint_computes_again():
    def loss(x):
        return (jnp.sort(jnp.sin(x), axis=-1) * x).sum()

    closed = inline(jax.make_jaxpr(jax.grad(jax.checkpoint(loss)))(X), also_custom=True)
    tuned = choose_way(closed, BY_DEFAULT, is_one_program=True).tuned
    done = {result.name for result in tuned.results if result.n_before != result.n_after}
    assert "sort_integers" in done, done
    np.testing.assert_allclose(ja.jit(jax.grad(jax.checkpoint(loss)))(X), jax.grad(loss)(X), rtol=1e-5, atol=1e-6)
