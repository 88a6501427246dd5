"""Fully sharded parameters: the losses of one device, and no more than two layers whole at a time."""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

import jaxaot as ja
from jaxaot.distributed import (
    MixedPrecisionPolicy,
    Replicate,
    Shard,
    distribute_tensor,
    fully_shard,
    gathered,
    init_device_mesh,
    per_device,
)
from jaxaot.errors import PlacementError, TensorTypeError

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from gpt import GPT, Net, batches, loss_of, train

MESH = init_device_mesh("cpu", (4,), mesh_dim_names=("d",))


def sharded(model, mesh=MESH, **options):
    for block in model.blocks:
        fully_shard(block, mesh, **options)
    return fully_shard(model, mesh, **options)


def made(kind=Net, **sizes):
    ja.manual_seed(0)
    return kind(**sizes)


def over_devices(ids):
    return distribute_tensor(ja.tensor(ids), MESH, [Shard(0)])


def nbytes(parameters):
    return sum(p.numel() * 4 for p in parameters)


@pytest.mark.parametrize("how", [pytest.param("forward", marks=pytest.mark.slow), "step"])
def test_losses_are_those_of_one_device(how):
    model, options = sharded(made(n_layers=1)), {"kind": "SGD", "lr": 0.1, "momentum": 0.9}
    losses = train(model, over_devices, 4, how, **options)
    np.testing.assert_allclose(losses, train(made(n_layers=1), ja.tensor, 4, "step", **options), rtol=1e-5)
    assert model.blocks[0].up.weight.placements == (Shard(0),) and losses[-1] < losses[0]
    assert all(p.grad.placements == p.placements for p in model.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("how", ["eager", "forward", "step"])
def test_a_longer_training(how):
    sizes = {"n_layers": 4, "width": 64}
    right = train(made(GPT, **sizes), ja.tensor, 20, "step", lr=3e-3)
    np.testing.assert_allclose(train(sharded(made(GPT, **sizes)), over_devices, 20, how, lr=3e-3), right, rtol=1e-5)


def test_the_tape_keeps_parts_in_place_of_whole_parameters():
    model, ids = sharded(made(n_layers=1)), over_devices(batches(1)[0])
    loss = loss_of(model, ids)
    shapes = {tuple(p.shape) for p in model.parameters() if p.ndim == 2}
    live = [x for x in jax.live_arrays() if x.shape in shapes and len(x.devices()) > 1]
    kept = [x for x in live if x.sharding.is_fully_replicated]
    assert loss.requires_grad and not kept
    loss.backward()
    right = made(n_layers=1)
    loss_of(right, ja.tensor(batches(1)[0])).backward()
    for p, q in zip(model.parameters(), right.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-3, atol=1e-5)
        assert p.grad.placements == p.placements


@pytest.mark.slow
def test_two_layers_are_whole_at_a_time():
    model = made(n_layers=5, width=64, n_characters=8)
    layer, total = nbytes(model.blocks[0].parameters()), nbytes(model.parameters())
    sharded(model)
    ids = distribute_tensor(ja.tensor(batches(1, 4, 5, 8)[0]), MESH, [Shard(0)])
    found = per_device(ja.compile(lambda ids: loss_of(model, ids)), ids)
    forward, backward = found["forward"], found["backward"]
    assert forward.argument_bytes < 1.1 * total / 4  # each device has its part
    assert forward.temporary_bytes < 2.6 * layer < 0.6 * total  # the two, and one matrix that XLA transposes
    assert backward.temporary_bytes < 2.6 * layer
    assert forward.output_bytes < layer / 2, "a gathered parameter was saved"
    assert backward.output_bytes < 1.1 * total / 4  # gradients are scattered
    gathers = [c.nbytes for c in forward.collectives if c.kind == "all-gather"]
    assert sum(gathers) <= 1.05 * total
    reduces = [c.nbytes for c in backward.collectives if c.kind == "all-reduce"]
    assert sum(reduces) <= 1.05 * total
    partition = ja.trace(lambda ids: loss_of(model, ids), ids).joint().partition("save_all")
    shapes = {tuple(p.shape) for p in model.parameters() if p.ndim == 2}
    made_for_backward = [aval.shape for aval in partition.forward.out_avals]
    assert not shapes & set(made_for_backward)


def test_explain_shows_what_devices_exchange():
    model = fully_shard(ja.nn.Linear(8, 8), MESH)
    report = ja.compile(lambda x: model(x).sum()).explain(distribute_tensor(ja.ones(4, 8), MESH, [Shard(0)]))
    devices = "\n".join(report.collectives)
    assert "forward: " in devices and "backward: " in devices and "exchanges between devices" in str(report)
    assert "all-gather" in devices and "all-reduce" in devices and "held by a device" in devices


class Storages:
    """Parameters of which a device has a part, and whole ones whose storages have bytes while they are used."""

    def __init__(self, wholes):
        self.parts = [distribute_tensor(w.detach(), MESH, [Shard(0)]) for w in wholes]
        self.wholes = wholes
        for whole in wholes:
            whole.data = distribute_tensor(whole.detach(), MESH)
            self.free(whole)

    def gather(self, wholes):
        with ja.no_grad():
            for whole in wholes:
                part = next(p for p, w in zip(self.parts, self.wholes, strict=True) if w is whole)
                whole.untyped_storage().resize_(4 * part.numel())
                whole.copy_(part.redistribute(MESH, [Replicate()]))

    def free(self, *wholes):
        for whole in wholes:
            whole.untyped_storage().resize_(0)


def check_freed(storages, fn, args, right):
    """Checks a forward that frees what it gathers, and a backward for which the caller gathers it."""
    loss = ja.compile(fn)(*args)
    assert all(w.untyped_storage().nbytes() == 0 for w in storages.wholes)
    storages.gather(storages.wholes)
    loss.backward()
    for whole, gradient in zip(storages.wholes, right, strict=True):
        np.testing.assert_allclose(whole.grad.numpy(), gradient.numpy(), rtol=1e-3, atol=1e-5)
    storages.free(*storages.wholes)
    kept = ja.trace(fn, *args).joint().partition()
    shapes = {tuple(w.shape) for w in storages.wholes if w.ndim == 2}
    assert all(aval.shape not in shapes for aval in kept.forward.out_avals), "a gathered parameter was saved"


@pytest.mark.slow
def test_the_program_of_the_seed_runs_as_written():
    layers = [(ja.randn(32, 32) * 0.1).requires_grad_() for _ in range(2)]
    x = distribute_tensor(ja.randn(8, 32), MESH, [Shard(0)])
    first, second = (w.detach().clone().requires_grad_() for w in layers)
    ((x @ first).tanh() @ second).tanh().square().sum().backward()
    storages = Storages(layers)

    def fn(x):
        for layer in layers:
            storages.gather([layer])
            x = (x @ layer).tanh()
            storages.free(layer)
        return x.square().sum()

    check_freed(storages, fn, (x,), (first.grad, second.grad))


@pytest.mark.slow
def test_the_program_of_the_seed_is_a_gpt():
    right, model = (made(GPT, n_layers=4) for _ in range(2))
    ids = batches(1, n_rows=4)[0]  # no activation has the shape of a parameter
    loss_of(right, ja.tensor(ids)).backward()
    storages = Storages([p for block in model.blocks for p in block.parameters()])
    for p in (*model.characters.parameters(), *model.places.parameters(), *model.norm.parameters()):
        p.data = distribute_tensor(p.detach(), MESH)
    for p in model.head.parameters():
        p.data = distribute_tensor(p.detach(), MESH)
    for block in model.blocks:
        block.register_forward_pre_hook(lambda block, args: storages.gather(list(block.parameters())))
        block.register_forward_hook(lambda block, args, y: storages.free(*block.parameters()))
    gradients = [p.grad for block in right.blocks for p in block.parameters()]
    check_freed(storages, lambda ids: loss_of(model, ids), (over_devices(ids),), gradients)


@pytest.mark.slow
def test_what_a_device_holds_of_a_gpt_at_the_peak():
    model = made(GPT, n_layers=4, width=128)
    layer, total = nbytes(model.blocks[0].parameters()), nbytes(model.parameters())
    sharded(model)
    ids = over_devices(batches(1)[0])
    programs = per_device(ja.compile(loss_of), model, ids).values()
    saved = next(iter(programs)).output_bytes  # what the minimum cut keeps
    held = max(p.argument_bytes + p.output_bytes + p.temporary_bytes for p in programs)
    assert held <= (2 * total / 4 + 2 * layer + saved) * 1.15  # parameters and gradients
    optimizer = ja.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    @ja.compile
    def step(ids):
        optimizer.zero_grad(set_to_none=False)
        loss = loss_of(model, ids)
        loss.backward()
        optimizer.step()
        return loss.detach()

    step(ids)
    (program,) = per_device(step, ids).values()
    assert program.argument_bytes <= 3 * total / 4 * 1.02  # momenta too; all of them are written in place
    assert program.argument_bytes + program.temporary_bytes <= (3 * total / 4 + 2 * layer + saved) * 1.15


@pytest.mark.slow
def test_functions_of_arrays():
    params = [{"w": jnp.full((16, 16), 0.1) * (i + 1), "b": jnp.ones(16)} for i in range(3)]
    x = jax.device_put(np.random.default_rng(0).normal(size=(8, 16)).astype(np.float32))

    def formula(params, x):
        for layer in params:
            x = jnp.tanh(x @ layer["w"] + layer["b"])
        return jnp.sum(x * x)

    def loss(params, x):
        return formula([gathered(layer, MESH) for layer in params], x)

    spread = fully_shard(params, MESH)
    ids = jax.device_put(x, NamedSharding(MESH, PartitionSpec("d")))
    step = ja.jit(ja.value_and_grad(loss))
    value, gradients = step(spread, ids)
    right, of_one = jax.value_and_grad(formula)(params, x)
    np.testing.assert_allclose(value, right, rtol=1e-5)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), gradients, of_one)
    assert jax.tree.all(jax.tree.map(lambda g, p: g.sharding.is_equivalent_to(p.sharding, g.ndim), gradients, spread))
    (program,) = per_device(step, spread, ids).values()
    assert "all-gather" in {c.kind for c in program.collectives}


@pytest.mark.slow
def test_hybrid_sharding_tensor_parallelism_and_halves():
    square = init_device_mesh("cpu", (2, 2), mesh_dim_names=("outer", "inner"))
    x = distribute_tensor(ja.randn(8, 16), square, [Shard(0), Shard(0)])
    layer = ja.nn.Linear(16, 8)
    right = layer(x.full_tensor()).detach().numpy()
    w = layer.weight.detach().clone()
    fully_shard(layer, square)
    assert layer.weight.placements == (Replicate(), Shard(0))
    np.testing.assert_allclose(layer(x).detach().numpy(), right, rtol=1e-5, atol=1e-5)

    parallel = ja.nn.Linear(16, 8, bias=False)
    parallel.weight.data = distribute_tensor(w, square, [Replicate(), Shard(0)])  # columns of the result
    fully_shard(parallel, square, shard_axis="outer")
    assert parallel.weight.placements == (Shard(1), Shard(0))
    out = ja.compile(lambda x: parallel(x))(distribute_tensor(x, square, [Shard(0), Replicate()]))
    np.testing.assert_allclose(out.detach().numpy(), x.numpy() @ w.numpy().T, rtol=1e-5, atol=1e-5)
    out.sum().backward()
    assert parallel.weight.grad.placements == (Shard(1), Shard(0))

    halves = fully_shard(ja.nn.Linear(16, 8), MESH, mp_policy=MixedPrecisionPolicy(param_dtype=ja.bfloat16))
    y = halves(distribute_tensor(ja.ones(4, 16, dtype=ja.bfloat16), MESH, [Shard(0)]))
    y.sum().backward()
    assert y.dtype == ja.bfloat16 and halves.weight.dtype == halves.weight.grad.dtype == ja.float32


def test_bad_calls_change_nothing():
    model = ja.nn.Linear(8, 8)
    for error, call in (
        (PlacementError, lambda: fully_shard(model, MESH, shard_axis="x")),
        (TensorTypeError, lambda: fully_shard(lambda x: x, MESH)),
        (TensorTypeError, lambda: fully_shard([], MESH)),
    ):
        with pytest.raises(error):
            call()
    with pytest.raises(PlacementError, match="lies on one device"):
        model.weight.placements  # noqa: B018
    fully_shard(model, MESH)
    with pytest.raises(PlacementError, match="sharded over 'd' already"):
        fully_shard(model, MESH)

    class Failing(ja.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = ja.nn.Parameter(ja.ones(4))

        def forward(self, x):
            raise ZeroDivisionError

    failing = fully_shard(Failing(), MESH)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            failing(ja.ones(4))
    assert failing.weight.placements == (Shard(0),) and isinstance(failing.weight, ja.nn.Parameter)
