"""Passes for speed on several devices: those that keep axes on whole graphs, all on what one device computes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

import jaxaot as ja
from benchmarks.distributed import GPT, by_hand, ours
from jaxaot._jax import close_jaxpr
from jaxaot.backend.cpu.machine import using
from jaxaot.distributed import Shard, distribute_tensor, init_device_mesh, local_map, per_device
from jaxaot.ir.device_program import device_program, with_device_program
from tests.seeds import seeds

MESH = init_device_mesh("cpu", (4,), mesh_dim_names=("d",))
ROWS, WHOLE = PartitionSpec("d"), PartitionSpec()


def summed(x):
    return jax.lax.psum(x, "d")


STEPS = [
    lambda x, w: jnp.tanh(x @ w),
    lambda x, w: jnp.sort(x, -1),
    lambda x, w: jax.nn.softmax(x[None])[0] * jnp.sin(x),
    lambda x, w: x * jax.random.bernoulli(jax.random.key(3), 0.8, x.shape),
    lambda x, w: x - summed(x).mean(0),
    lambda x, w: jnp.einsum("ij,kj->ik", x, x) @ x / 64,
    lambda x, w: x * jax.lax.scan(lambda c, row: (c + row, None), jnp.zeros_like(x[0]), x)[0],
    lambda x, w: x + jnp.take_along_axis(x, jnp.argmax(x, -1, keepdims=True), -1),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(12, 3))
def test_random_programs_of_one_device(seed):
    rng = np.random.default_rng(seed)
    steps = [STEPS[i] for i in rng.permutation(len(STEPS))[: rng.integers(2, 6)]]

    def on_rows(x, w):
        for step in steps:
            x = step(x, w)
        return summed((x * x).sum()), x

    checked = bool(rng.integers(2))
    mapped = jax.shard_map(on_rows, mesh=MESH, in_specs=(ROWS, WHOLE), out_specs=(WHOLE, ROWS), check_vma=checked)
    step = jax.value_and_grad(mapped, argnums=1, has_aux=True)
    x = jax.device_put(rng.normal(size=(64, 16)).astype(np.float32), NamedSharding(MESH, ROWS))
    w = jax.device_put(rng.normal(size=(16, 16)).astype(np.float32), NamedSharding(MESH, WHOLE))
    right = jax.tree.leaves(jax.jit(step)(x, w))
    with using(cached_bytes=0), ja.config(check_graphs=True):
        found = jax.tree.leaves(ja.jit(step)(x, w))
    for a, b in zip(found, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4)


@pytest.mark.slow
def test_a_local_map_is_tuned_as_one_device_would_be():
    mapped = local_map(lambda x: ja.sort(x.sin(), -1)[0].view(1, -1, 8)[0], [Shard(0)], ([Shard(0)],), MESH)
    x = distribute_tensor(ja.randn(32, 8), MESH, [Shard(0)])
    right = mapped(x)
    with using(cached_bytes=0), ja.config(check_graphs=True):
        compiled = ja.compile(mapped)
        np.testing.assert_allclose(compiled(x).numpy(), right.numpy(), rtol=1e-5, atol=1e-6)
        said = str(compiled.explain(x))
    assert "sort_integers in what a device computes" in said


def test_whole_graphs_go_through_passes_that_keep_axes():
    def fn(x):
        return jnp.einsum("abc,abd->cd", jnp.sort(x), x)  # a product that `flatten_dots` would give other axes

    x = jax.device_put(np.ones((8, 4, 8), np.float32), NamedSharding(MESH, PartitionSpec(None, "d")))
    with using(cached_bytes=0):
        text = ja.jit(fn).lower(x).as_text()
        found = per_device(ja.jit(fn), x)
    assert "contracting_dims = [0, 1] x [0, 1]" in text and "bitcast_convert" in text, text
    assert [c.kind for program in found.values() for c in program.collectives] == ["all-reduce"]


def test_a_body_is_traced_again_with_the_types_of_its_mesh():
    mapped = jax.shard_map(lambda x: summed(x * 2), mesh=MESH, in_specs=ROWS, out_specs=WHOLE)
    graph = jax.make_jaxpr(mapped)(jnp.ones(8))
    (eqn,) = graph.jaxpr.eqns
    (made,), _ = with_device_program(eqn, device_program(eqn))
    assert made.params["out_specs"] == eqn.params["out_specs"]
    assert str(close_jaxpr(made.params["jaxpr"])) == str(close_jaxpr(eqn.params["jaxpr"]))


@pytest.mark.slow
def test_a_sharded_step_exchanges_no_more_than_by_hand():
    ids = np.zeros((4, 9), np.int32)
    found = {}
    for make in (by_hand, ours):
        with using(cached_bytes=0):  # as for a larger one
            _, _, program = make(GPT(32, 1), ids, MESH)
        for kind in ("all-gather", "all-reduce"):
            sizes = [c.nbytes for c in program.collectives if c.kind == kind]
            found.setdefault(kind, []).append((len(sizes), sum(sizes)))
    for hand, own in found.values():
        assert own[0] <= hand[0] and own[1] <= hand[1], found
