"""Sizes that change of arrays on several devices: one program of a bucket, values and placements of the exact ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import jaxaot as ja

KINDS = [AxisType.Auto, AxisType.Explicit]


def over(kind, *axes):
    return NamedSharding(jax.make_mesh((4,), ("d",), axis_types=(kind,)), PartitionSpec(*axes))


def rows(n):
    return np.random.default_rng(n).normal(size=(n, 2)).astype(np.float32)


def step(w, x, y):
    def loss(w):
        z = jax.nn.softmax(x @ w)
        return ((z - z.mean(0)) * jnp.sin(x)).sum() + ((y[:, None] - z) ** 2).mean()

    return jax.value_and_grad(loss)(w), x * y[:, None], x.T


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_sharded_batch_runs_in_a_bucket(kind):
    sized, exact = ja.jit(step, dynamic={"x": 0, "y": 0}), jax.jit(step)
    w = jax.device_put(jnp.eye(2), over(kind))
    for n in (24, 20):
        x, y = jax.device_put((rows(n), rows(n)[:, 0]), over(kind, "d"))
        found = sized(w, x, y)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(exact(w, x, y)), strict=True):
        np.testing.assert_allclose(a, b, 1e-5, 1e-5)
        assert a.sharding.is_equivalent_to(b.sharding, a.ndim)
        assert jax.typeof(a) == jax.typeof(b)
    assert sized.n_programs == 1, "\n".join(sized.explain().programs)


def test_buckets_are_multiples_of_the_number_of_parts_and_constraints_are_kept():
    by_rows = over(AxisType.Auto, "d")

    def fn(x):
        y = jax.lax.with_sharding_constraint(x * 2, by_rows)
        return y / y.sum(0)

    sized, exact = ja.jit(fn, dynamic={"x": 0}, buckets=[10, 18]), jax.jit(fn)
    for n, sharding in ((8, by_rows), (4, by_rows), (9, None), (8, over(AxisType.Auto))):
        x = jax.device_put(rows(n), sharding)
        np.testing.assert_allclose(sized(x), exact(x), 1e-5)
        assert sized(x).sharding.is_equivalent_to(exact(x).sharding, 2)
    said = "\n".join(sized.explain().programs)
    assert "bucket (12, 2): 2 sizes" in said and "bucket (10, 2)" in said, said


def test_a_bucket_of_a_batch_that_lies_elsewhere_later():
    sized = ja.jit(lambda x: x / x.sum(0), dynamic={"x": 0}, buckets=[10, 30])
    for sharding in (None, over(AxisType.Auto, "d"), None):  # 10 rows lie on one device, and not on four
        x = jax.device_put(rows(8), sharding)
        np.testing.assert_allclose(sized(x), x / x.sum(0), 1e-5)


def test_what_is_longer_than_no_row_of_a_device_is_placed_along_fewer_axes():
    by_rows = over(AxisType.Auto, "d")
    sized = ja.jit(lambda x: (x[1:], jnp.cumsum(x, 0)), dynamic={"x": 0})
    x = jax.device_put(rows(12 + 8), by_rows)
    shorter, sums = sized(x)
    np.testing.assert_allclose(shorter, rows(20)[1:])
    np.testing.assert_allclose(sums, np.cumsum(rows(20), 0), 1e-5, 1e-5)
    assert shorter.sharding.mesh == by_rows.mesh and sums.sharding.is_equivalent_to(by_rows, 2)


@pytest.mark.slow
def test_tensors_on_several_devices_train_in_a_bucket():
    def train(w, x):
        z = (x @ w).softmax(-1)
        loss = ((z - z.mean(0)) * x.sin()).sum()
        loss.backward()
        return loss.detach(), x.detach() * 2

    sized, exact = ja.compile(train, dynamic={"x": 0}), ja.compile(train, dynamic=False)
    for n in (20, 24):
        found = []
        for how in (sized, exact):
            w = ja.tensor(np.eye(2, dtype=np.float32), requires_grad=True)
            x = ja.interop.from_jax(jax.device_put(rows(n), over(AxisType.Auto, "d"))).requires_grad_()
            found.append([t.jax() for t in (*how(w, x), w.grad, x.grad)])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, 1e-5, 1e-5)
            assert a.sharding.is_equivalent_to(b.sharding, a.ndim)
    assert sized.n_programs == 1, "\n".join(sized.explain().programs)


def test_tensors_of_a_mesh_that_is_part_of_types_have_programs_of_their_own():
    sized = ja.compile(lambda x: x / x.sum(0), dynamic={"x": 0})
    for n in (12, 16):
        x = jax.device_put(rows(n), over(AxisType.Explicit, "d"))
        np.testing.assert_allclose(sized(ja.interop.from_jax(x)).jax(), x / x.sum(0), 1e-5)
    assert sized.n_programs == 2
    assert "axes are part of its type" in "\n".join(sized.explain().programs)
