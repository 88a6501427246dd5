"""Sizes that change of arrays on several devices: each is compiled exactly, and says so."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja

MESH = jax.make_mesh((4,), ("d",))
ROWS = jax.sharding.NamedSharding(MESH, jax.sharding.PartitionSpec("d"))


def fn(x):
    return (x / x.sum(0)).mean(0), x * 2


@pytest.mark.parametrize("how", [ja.jit, ja.compile])
def test_a_sharded_batch_has_a_program_of_its_own(how):
    step = how(fn, dynamic={"x": 0})
    as_given = (lambda x: x) if how is ja.jit else ja.from_jax
    for n in (12, 16, 12):
        x = jax.device_put(jnp.arange(1.0, 2 * n + 1).reshape(n, 2), ROWS)
        mean, double = step(as_given(x))
        double = double if how is ja.jit else double.jax()
        np.testing.assert_allclose(np.asarray(mean), (x / x.sum(0)).mean(0), 1e-6)
        assert double.sharding.is_equivalent_to(x.sharding, 2)
    assert step.n_programs == 2
    assert "several devices" in "\n".join(step.explain().programs)
