"""Gradients of several batches: those of one device, with one exchange of the devices at the end."""

import contextlib
import functools
import pathlib
import sys

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.distributed import (
    MixedPrecisionPolicy,
    Replicate,
    Shard,
    collectives,
    distribute_tensor,
    fully_shard,
    init_device_mesh,
    no_sync,
    per_device,
)
from jaxaot.errors import PlacementError, TensorTypeError

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from gpt import GPT, Net, batches, loss_of

MESH = init_device_mesh("cpu", (4,), mesh_dim_names=("d",))
SQUARE = init_device_mesh("cpu", (2, 2), mesh_dim_names=("outer", "inner"))
BATCHES = batches(3)


def made(kind=Net, n_layers=1):
    ja.manual_seed(0)
    return kind(n_layers=n_layers)


def sharded(model, mesh=MESH):
    for block in model.blocks:
        fully_shard(block, mesh)
    return fully_shard(model, mesh)


def replicated(model, mesh=MESH):
    for p in model.parameters():
        p.data = distribute_tensor(p.detach(), mesh)
    return model


def spread(ids, mesh=MESH):
    rows = [Shard(0)] * len(mesh.axis_names)
    return distribute_tensor(ja.tensor(ids), mesh, rows)


def accumulated(model, place, around=contextlib.nullcontext, forward=loss_of):
    with around():
        for ids in BATCHES:
            forward(model, place(ids)).backward()
    return {name: p.grad for name, p in model.named_parameters()}


@functools.cache
def right_of(kind=Net):
    """Returns the gradients of one device."""
    return accumulated(made(kind), ja.tensor, forward=ja.compile(loss_of))


def check(model, gradients, right):
    for name, p in model.named_parameters():
        assert gradients[name].placements == p.placements, name
        np.testing.assert_allclose(gradients[name].numpy(), right[name].numpy(), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "lay", "mesh"),
    [
        (Net, replicated, SQUARE),
        pytest.param(Net, sharded, SQUARE, marks=pytest.mark.slow),
        pytest.param(GPT, sharded, MESH, marks=pytest.mark.slow),
    ],
)
def test_gradients_are_those_of_one_device(kind, lay, mesh):
    right, forward = right_of(kind), ja.compile(loss_of)
    model = lay(made(kind), mesh)
    before = [p.placements for p in model.parameters()]
    check(model, accumulated(model, lambda ids: spread(ids, mesh), lambda: no_sync(model), forward), right)
    assert [p.placements for p in model.parameters()] == before
    for ids in BATCHES:
        forward(model, spread(ids, mesh)).backward()  # as before, and added
    gradients = {name: p.grad for name, p in model.named_parameters()}
    check(model, gradients, {name: 2 * gradient for name, gradient in right.items()})


def kinds(program):
    return [c.kind for c in program.collectives if c.nbytes > 64]  # more than losses


@pytest.mark.slow
@pytest.mark.parametrize("lay", [sharded, pytest.param(replicated, marks=pytest.mark.slow)])
def test_devices_exchange_nothing_meanwhile(lay):
    model, right = lay(made()), right_of()
    forward = ja.compile(loss_of)
    found = per_device(forward, model, spread(BATCHES[0]))
    assert "all-reduce" in kinds(found["backward"])
    with no_sync(model):
        found = per_device(forward, model, spread(BATCHES[0]))
        assert kinds(found["forward"]) == kinds(found["backward"]) == []
    for compiled_before in (False, True):
        model.zero_grad()
        check(model, accumulated(model, spread, lambda: no_sync(model), forward), right)
        if not compiled_before:
            forward(model, spread(BATCHES[0])).backward()  # of parameters that are parts, by its own program
    assert all(p.grad is not None for p in model.parameters())


@pytest.mark.slow
def test_a_step_of_several_batches_exchanges_as_much_as_one_of_one():
    counted = {}
    for n in (1, 3):
        model = sharded(made())
        optimizer = ja.optim.SGD(model.parameters(), lr=0.1)

        @ja.compile
        def step(parts, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            with no_sync(model):
                for ids in parts:
                    loss_of(model, ids).backward()
            optimizer.step()

        parts = [spread(ids) for ids in BATCHES[:n]]
        step(parts)
        (program,) = per_device(step, parts).values()
        counted[n] = sorted(kinds(program))
    assert counted[1] == counted[3] and counted[1]
    alone = made()
    optimizer = ja.optim.SGD(alone.parameters(), lr=0.1)
    accumulated(alone, ja.tensor)
    optimizer.step()
    for p, q in zip(model.parameters(), alone.parameters(), strict=True):
        assert p.placements == p.grad.placements
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-3, atol=1e-5)


def parallel(model, shards):
    """Returns a model whose matrices lie along "inner" by columns and rows, and perhaps along "outer" by parts."""
    for block in model.blocks:
        for p, dim in ((block.up.weight, 0), (block.up.bias, 0), (block.down.weight, 1)):
            p.data = distribute_tensor(p.detach(), SQUARE, [Replicate(), Shard(dim)])
    if shards:
        for block in model.blocks:
            fully_shard(block, SQUARE, shard_axis="outer")
        return fully_shard(model, SQUARE, shard_axis="outer")
    for p in (model.characters.weight, *model.head.parameters(), *(block.down.bias for block in model.blocks)):
        p.data = distribute_tensor(p.detach(), SQUARE)
    return model


def crossing(program):
    """Returns the exchanges of a program, larger than losses, in which devices of several "outer" places take part."""
    lines = [line for line in program.hlo.splitlines() if "replica_groups=" in line]
    along_inner = ("replica_groups=[2,2]<=[4]", "replica_groups={{0,1},{2,3}}")
    others = [line for line in lines if not any(groups in line for groups in along_inner)]
    return [line for line in others if any(c.nbytes > 64 for c in collectives(line))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shards", "how"),
    [(True, "forward"), *(pytest.param(a, b, marks=pytest.mark.slow) for a, b in ((True, "step"), (False, "eager")))],
)
def test_beside_tensor_parallelism(shards, how):
    right = right_of()
    model = parallel(made(), shards)
    before = [p.placements for p in model.parameters()]
    place = lambda ids: distribute_tensor(ja.tensor(ids), SQUARE, [Shard(0), Replicate()])
    if how == "step":

        @ja.compile
        def step(parts):
            with no_sync(model):
                for ids in parts:
                    loss_of(model, ids).backward()

        parts = list(map(place, BATCHES))
        step(parts)
        check(model, {name: p.grad for name, p in model.named_parameters()}, right)
        (program,) = per_device(step, parts).values()
        assert len(crossing(program)) <= 3 * len(before)  # each is gathered, and its gradient summed, once
    else:
        forward = ja.compile(loss_of) if how == "forward" else loss_of
        if how == "forward":
            with no_sync(model):
                found = per_device(forward, model, place(BATCHES[0]))
            assert kinds(found["forward"]) and not any(map(crossing, found.values()))
        check(model, accumulated(model, place, lambda: no_sync(model), forward), right)
    assert [p.placements for p in model.parameters()] == before


class WithLoss(ja.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.frozen = ja.nn.Linear(4, 4), ja.nn.Parameter(ja.ones(4), requires_grad=False)

    def forward(self, x, *, scale):
        y = self.layer(x) * self.frozen
        return y, (y.float().square().mean() * scale)


@pytest.mark.slow
def test_scalars_keywords_frozen_parameters_and_halves():
    x = ja.randn(8, 4)
    right = WithLoss()
    model = WithLoss()
    model.load_state_dict(right.state_dict())
    fully_shard(model, MESH, mp_policy=MixedPrecisionPolicy(ja.bfloat16))
    with no_sync(model):
        y, loss = model(x.bfloat16(), scale=ja.tensor(2.0))
        loss.backward()
    expected, of_one = right(x, scale=2.0)
    of_one.backward()
    assert y.shape == expected.shape and y.dtype == ja.bfloat16 and model.layer.weight.grad.dtype == ja.float32
    np.testing.assert_allclose(float(loss), float(of_one), rtol=0.05)
    np.testing.assert_allclose(model.layer.weight.grad.numpy(), right.layer.weight.grad.numpy(), rtol=0.1, atol=0.02)
    assert model.frozen.grad is None


@pytest.mark.slow
def test_what_cannot_be_is_refused_and_changes_nothing():
    model, forward = sharded(made()), ja.compile(loss_of)
    with pytest.raises(TensorTypeError, match=r"takes a `ja\.nn\.Module`"), no_sync(lambda x: x):
        pass
    with pytest.raises(PlacementError, match="needs to know the mesh"), no_sync(made()):
        pass
    with pytest.raises(PlacementError, match=r"\[32, 32\] lies on one device"), no_sync(made(), MESH):
        pass
    for inner in (model, model.blocks[0]):
        with no_sync(model), pytest.raises(PlacementError, match="in a `no_sync` already"), no_sync(inner):
            pass
    with pytest.raises(PlacementError, match="has 6 rows, for 4 devices"), no_sync(model):
        forward(model, spread(BATCHES[0])).backward()
        forward(model, ja.tensor(BATCHES[0][:6]))
    assert all(p.grad is None for p in model.parameters()) and "forward" not in vars(model)
    parallel = ja.nn.Linear(8, 8)
    for p in parallel.parameters():
        p.data = distribute_tensor(p.detach(), MESH, [Shard(0)])
    with pytest.raises(PlacementError, match="all axes of the mesh, and not by `fully_shard`"), no_sync(parallel):
        pass
    with pytest.raises(PlacementError, match="and `no_sync` is of"), no_sync(parallel, SQUARE):
        pass
    normed = fully_shard(ja.nn.BatchNorm1d(4), MESH)
    with pytest.raises(ja.errors.JaxaotError), no_sync(normed):
        normed(ja.randn(8, 4))
    forward(model, spread(BATCHES[0])).backward()
