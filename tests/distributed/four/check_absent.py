"""Fully sharded programs compiled for chips that are not there: what each holds, and reduce-scatters."""

import pathlib
import sys

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

import jaxaot as ja
from jaxaot.distributed import Shard, distribute_tensor, fully_shard, gathered, init_device_mesh
from jaxaot.errors import ArgumentError, CompilerError, MissingExtraError
from jaxaot.profiling.devices import absent_device

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from gpt import GPT, batches, loss_of

WIDTH, N_LAYERS = 1024, 4
WORKSPACE_BYTES = 33 * 2**20
"""What cuBLAS takes beside everything."""


@pytest.fixture(params=["v5e", "h100"])
def kind(request):
    try:
        absent_device(request.param)
    except (MissingExtraError, CompilerError) as error:
        pytest.skip(str(error))
    return request.param


def nbytes(program, kind):
    return sum(c.nbytes for c in program.collectives if c.kind == kind)


def check(plan, n, layer, total, saved):
    forward, backward = plan.programs
    assert plan.n_devices == n and f"compiled for {n} of" in str(plan) and "reduce-scatter" in str(plan)
    assert forward.argument_bytes < 1.1 * total / n and backward.output_bytes < 1.1 * total / n
    assert nbytes(backward, "reduce-scatter") == pytest.approx(total / n, rel=0.1)
    assert nbytes(backward, "all-reduce") < 0.05 * total
    assert all(0.4 * total < nbytes(p, "all-gather") < 1.1 * total for p in plan.programs)  # TPUs gather halves
    room = WORKSPACE_BYTES if plan.target.name == "h100" else 0
    assert plan.saved_bytes < saved and all(p.temporary_bytes < 2 * layer + room for p in plan.programs)
    assert plan.peak_bytes < (2 * total / n + 2 * layer + saved) * 1.15 + room


@pytest.mark.compile_only
@pytest.mark.parametrize("n", [4, 8])
def test_types_on_an_abstract_mesh(kind, n):
    mesh = AbstractMesh((n,), ("d",), axis_types=(AxisType.Auto,))
    rows = NamedSharding(mesh, PartitionSpec("d"))
    typed = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=rows)
    params = [(typed(WIDTH, 2 * WIDTH), typed(2 * WIDTH, WIDTH)) for _ in range(N_LAYERS)]

    def loss(params, x):
        for layer in params:
            up, down = gathered(layer, mesh)
            x = x + jnp.tanh(x @ up) @ down
        return jnp.mean(x * x)

    layer = 4 * 4 * WIDTH**2
    plan = ja.estimate.plan(loss, params, typed(64 * n, WIDTH), target=kind)
    check(plan, n, layer, N_LAYERS * layer, N_LAYERS * 64 * 4 * 4 * WIDTH)


@pytest.mark.compile_only
def test_a_gpt(kind):
    if kind == "v5e":  # its compiler takes minutes for one, and what it says of layers is above
        return
    mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("d",))
    model = GPT(n_layers=4, width=512)
    layer, total = (sum(4 * p.numel() for p in m.parameters()) for m in (model.blocks[0], model))
    for block in model.blocks:
        fully_shard(block, mesh)
    fully_shard(model, mesh)
    ids = distribute_tensor(ja.tensor(batches(1)[0]), mesh, [Shard(0)])
    check(ja.estimate.plan(lambda ids: loss_of(model, ids), ids, target=kind), 4, layer, total, 2**20 * 6)


@pytest.mark.compile_only
def test_as_many_as_there_are(kind):
    if kind == "h100":
        return
    rows = NamedSharding(AbstractMesh((3,), ("d",), axis_types=(AxisType.Auto,)), PartitionSpec("d"))
    x = jax.ShapeDtypeStruct((3, 4), jnp.float32, sharding=rows)
    with pytest.raises(ArgumentError, match="in groups of 4, 8, 16, and the mesh of the arguments has 3"):
        ja.estimate.plan(lambda x: x.sum(), x, target=kind)
