"""Distributed tensors: meshes, placements, parts and sums."""

import copy
import functools

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.distributed import (
    Partial,
    PartialTensor,
    Replicate,
    Shard,
    collectives,
    distribute_tensor,
    from_local,
    init_device_mesh,
    local_map,
)
from jaxaot.errors import PlacementError, TensorTypeError, TracedPlacementError, UnfinishedSumError

MESH = init_device_mesh("cpu", (4,), mesh_dim_names=("d",))
SQUARE = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
WHOLE = [Replicate()]


def values(*shape, seed=0):
    return ja.interop.from_jax(jax.device_put(np.random.default_rng(seed).normal(size=shape).astype(np.float32)))


def said(error, fn, *args, **kwargs):
    with pytest.raises(error) as caught:
        fn(*args, **kwargs)
    return " ".join(str(caught.value).split())


@pytest.mark.parametrize(
    ("mesh", "placements", "local"),
    [
        (MESH, [Shard(0)], (2, 12)),
        (MESH, [Shard(-1)], (8, 3)),
        (MESH, [Replicate()], (8, 12)),
        (SQUARE, [Shard(0), Shard(1)], (4, 6)),
        (SQUARE, [Shard(1), Shard(1)], (8, 3)),
        (SQUARE, [Replicate(), Shard(0)], (4, 12)),
    ],
)
def test_a_tensor_on_a_mesh(mesh, placements, local):
    x = values(8, 12).requires_grad_()
    d = distribute_tensor(x, mesh, placements)
    shown = tuple(Shard(p.dim % 2) if isinstance(p, Shard) else p for p in placements)
    assert d.placements == shown and d.device_mesh == mesh and d.requires_grad and d.is_leaf
    assert tuple(d.detach().to_local().shape) == local and d.shape == (8, 12)
    assert d.tolist() == x.tolist() and d.full_tensor().tolist() == x.tolist()
    assert all(p == Replicate() for p in d.full_tensor().placements)
    for other in ([Shard(0)], [Shard(1)], [Replicate()]):
        other = other * len(mesh.axis_names)
        if mesh is MESH or other != [Shard(1)] * 2:
            moved = d.redistribute(mesh, other)
            assert moved.placements == tuple(other) and moved.tolist() == x.tolist()


def test_a_gradient_through_a_redistribution_is_placed_back():
    x = distribute_tensor(values(8, 4).requires_grad_(), MESH, [Shard(0)])
    for run in (lambda x: (x.redistribute(MESH, [Shard(1)]) ** 2).sum(), lambda x: (x.full_tensor() ** 2).sum()):
        x.grad = None
        run(x).backward()
        assert x.grad.placements == (Shard(0),)
        np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy(), rtol=1e-6)
    compiled = ja.compile(lambda x: (x.redistribute(MESH, [Shard(1)]) ** 2).sum())
    x.grad = None
    compiled(x).backward()
    assert x.grad.placements == (Shard(0),)
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy(), rtol=1e-6)


def test_views_and_writes_show_their_placement():
    x = distribute_tensor(values(8, 4), MESH, [Shard(0)])
    assert x.t().placements == (Shard(1),)
    x[2:4].mul_(2)
    x.t()[0].zero_()
    x.copy_(ja.ones(8, 4))
    assert x.placements == (Shard(0),) and x.tolist() == [[1] * 4] * 8
    y = ja.compile(lambda x: x.add_(1) * 2)(x)
    assert x.placements == y.placements == (Shard(0),) and y.tolist() == [[4] * 4] * 8


def test_sums_of_terms():
    x, w = values(8, 12), values(12, 4, seed=1)
    x, w = (
        t.requires_grad_() for t in (distribute_tensor(x, MESH, [Shard(1)]), distribute_tensor(w, MESH, [Shard(0)]))
    )
    product = local_map(lambda x, w: x @ w, [Partial()], ([Shard(1)], [Shard(0)]), MESH)
    y = product(x, w)
    assert isinstance(y, PartialTensor) and y.shape == (8, 4) and y.placements == (Partial(),) and y.requires_grad
    right = (x.detach() @ w.detach()).numpy()
    for placements in (WHOLE, [Shard(0)], [Shard(1)]):
        total = y.redistribute(MESH, placements)
        assert total.placements == tuple(placements)
        np.testing.assert_allclose(total.detach().numpy(), right, rtol=1e-4, atol=1e-5)
    (y.redistribute(MESH, [Shard(0)]) ** 2).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), x.detach().numpy().T @ (2 * right), rtol=1e-4, atol=1e-4)
    assert w.grad.placements == (Shard(0),) and x.grad.placements == (Shard(1),)
    compiled = ja.compile(lambda x, w: (product(x, w).redistribute(MESH, WHOLE) ** 2).sum())
    np.testing.assert_allclose(float(compiled(x, w)), np.sum(right**2), rtol=1e-4)
    for use in (lambda: y.add_(1), lambda: y + 1, lambda: y[0], lambda: y.tolist(), lambda: bool(y), lambda: y.mul_):
        assert "one term of their sum" in said(UnfinishedSumError, use)
    assert "no attribute 'nonsense'" in said(AttributeError, lambda: y.nonsense)
    assert "are sums that are not finished" in said(UnfinishedSumError, product, y, w)


def test_an_unfinished_sum_is_no_operand_and_no_target():
    x, part = distribute_tensor(values(8, 4), MESH, [Shard(0)]), from_local(np.ones((8, 4), "f"), MESH, [Partial()])
    before = x.tolist()
    uses = (
        lambda: ja.add(x, part), lambda: x + part, lambda: ja.cat([x, part]), lambda: ja.add(x, x, out=part),
        lambda: x.copy_(part), lambda: x.add_(part), lambda: x.__setitem__(0, part), lambda: x.where(x > 0, part),
        lambda: part.copy_(x), lambda: part.__setitem__(0, x), lambda: part.add_(1), lambda: part == x,
        lambda: x < part, lambda: setattr(x, "data", part), lambda: setattr(x, "grad", part), lambda: ja.tensor(part),
        lambda: setattr(part, "placements", (Replicate(),)), lambda: distribute_tensor(part, MESH, [Shard(0)]),
        lambda: ja.compile(lambda p: p.full_tensor())(part), lambda: ja.compile(lambda x: x.copy_(part))(x),
        lambda: ja.compile(lambda x: ja.cat([x, part]))(x), lambda: ja.compile(lambda x: x + part)(x),
    )  # fmt: skip
    for use in uses:
        assert "x.redistribute(mesh, [Replicate()])" in said(UnfinishedSumError, use)
    assert x.tolist() == before and part.placements == (Partial(),) and x.grad is None
    assert copy.deepcopy(part).full_tensor().tolist() == part.full_tensor().tolist() == [[1] * 4] * 8


@pytest.mark.slow
def test_two_meshes_and_one_device_meet():
    a, b = values(8, 4), values(8, 4, seed=1)
    right = (a * b).tolist()
    others = (b, distribute_tensor(b, SQUARE, [Shard(0), Shard(1)]), distribute_tensor(b, MESH, [Shard(1)]))
    for run in (lambda x, y: x * y, ja.compile(lambda x, y: x * y)):
        for other in others:
            x = distribute_tensor(a.clone(), MESH, [Shard(0)]).requires_grad_()
            y = other.detach().requires_grad_()
            z = run(x, y)
            assert z.tolist() == run(y, x).tolist() == right
            if other is not others[1]:
                z.sum().backward()
                assert x.grad.placements == (Shard(0),) and x.grad.tolist() == b.tolist()
                assert y.grad.tolist() == a.tolist()
            else:  # JAX finds no name on the first mesh for where the gradient of the second lies
                with pytest.raises(ValueError, match="incompatible with mesh_shape") as caught:
                    z.sum().backward()
                assert "by `x.redistribute(mesh, placements)`" in "".join(caught.value.__notes__)
            with ja.no_grad():
                x.mul_(y)
            assert x.placements == (Shard(0),) and x.tolist() == right
    half = distribute_tensor(b, init_device_mesh("cpu", (2,), devices=jax.devices()[:2]), [Shard(0)])
    for use in (lambda: a.requires_grad_() * half + x * half, lambda: ja.compile(lambda: x * half)(), lambda: x * half):
        with pytest.raises(ValueError, match="incompatible devices") as caught:
            use()
        assert "by `x.redistribute(mesh, placements)`" in "".join(caught.value.__notes__)


def test_local_map_with_collectives_and_several_results():
    x = values(8, 4)

    @functools.partial(
        local_map, out_placements=([Shard(0)], [Replicate()]), in_placements=([Shard(0)], None), device_mesh=MESH
    )
    def parts(x, scale):
        x = x * scale
        return x, ja.interop.from_jax(jax.lax.psum(x.sum(0).jax(), "d"))

    doubled, total = parts(x, 2)
    assert doubled.placements == (Shard(0),) and total.placements == (Replicate(),)
    np.testing.assert_allclose(doubled.numpy(), 2 * x.numpy())
    np.testing.assert_allclose(total.numpy(), 2 * x.numpy().sum(0), rtol=1e-4, atol=1e-5)


def test_local_parts_of_one_process():
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    assert from_local(x, MESH, [Shard(0)]).tolist() == x.tolist()
    y = from_local(x, MESH, [Partial()])
    assert isinstance(y, PartialTensor) and y.full_tensor().tolist() == x.tolist()


def test_what_does_not_fit_is_refused():
    x = values(6, 4)
    assert "dim 0 has 6 elements, for 4 devices along ['d']" in said(
        PlacementError, distribute_tensor, x, MESH, [Shard(0)]
    )
    words = said(PlacementError, distribute_tensor, values(6, 5), SQUARE, [Shard(1), Shard(1)])
    assert "dim 1 has 5 elements, for 4 devices along ['dp', 'tp']" in words
    assert "dims are from -2 to 1" in said(PlacementError, distribute_tensor, x, MESH, [Shard(2)])
    assert "takes 2 placements, and 1 were given" in said(PlacementError, distribute_tensor, x, SQUARE, [Shard(0)])
    assert "Placements are a list" in said(PlacementError, distribute_tensor, x, MESH, Shard(0))
    assert "comes from `local_map`" in said(PlacementError, distribute_tensor, x, MESH, [Partial()])
    assert "has 6 places, and there are 4 devices" in said(PlacementError, init_device_mesh, "cpu", (2, 3))
    assert "shape of a mesh is a tuple" in said(PlacementError, init_device_mesh, "cpu", 4)
    assert "shape of a mesh is a tuple" in said(PlacementError, init_device_mesh, "cpu", (-1, 4))
    assert "no devices of the kind 'tpu'" in said(PlacementError, init_device_mesh, "tpu")
    assert "no devices of the kind 'cud'" in said(PlacementError, init_device_mesh, "cud")
    assert "made of different devices" in said(PlacementError, init_device_mesh, devices=jax.devices()[:1] * 2)
    assert "tuple, and 'ab' is one" in said(PlacementError, init_device_mesh, "cpu", (2, 2), mesh_dim_names="ab")
    assert "number of a dim" in said(PlacementError, Shard, "0")
    assert "A mesh is expected" in said(TensorTypeError, distribute_tensor, x, None)
    assert "list was given" in said(TensorTypeError, distribute_tensor, [1.0], MESH)
    assert "its devices hold 4 equal parts" in said(PlacementError, from_local, np.ones((6, 4)), MESH, [Shard(0)])
    assert "different names" in said(PlacementError, init_device_mesh, "cpu", (2, 2), mesh_dim_names=("a", "a"))
    assert "lies on one device" in said(PlacementError, lambda: x.placements)
    assert "`Partial` stands for sums" in said(PlacementError, Partial, "max")
    d = distribute_tensor(x, MESH, [Shard(1)])
    assert "would lose the gradient" in said(PlacementError, d.requires_grad_().to_local)
    assert "has no placement yet" in said(TracedPlacementError, ja.compile(lambda d: d.placements), d)
    assert "has no placement yet" in said(
        TracedPlacementError, ja.compile(lambda d: d.redistribute(placements=WHOLE)), d
    )
    assert "was computed from leaves" in said(PlacementError, distribute_tensor, d * 2, MESH, [Shard(1)])
    assert d.placements == (Shard(1),) and d.tolist() == x.tolist()


def test_collectives_of_a_program():
    x = distribute_tensor(values(8, 4), MESH, [Shard(0)]).jax()
    whole = jax.sharding.NamedSharding(MESH, jax.sharding.PartitionSpec())
    text = jax.jit(lambda x: x * 2, out_shardings=whole).lower(x).compile().as_text()
    (found,) = collectives(text)
    assert found.kind == "all-gather" and found.nbytes == 8 * 4 * 4
    (found,) = collectives(jax.jit(lambda x: x.sum()).lower(x).compile().as_text())
    assert found.kind == "all-reduce" and found.nbytes == 4
    assert collectives(jax.jit(lambda x: x * 2).lower(x).compile().as_text()) == ()


def random_program(seed):
    """Returns a random program of views, writes and sums on tensors of (8, 8)."""
    rng = np.random.default_rng(seed)
    steps = [
        lambda x, y: x.mul_(y.sum()), lambda x, y: x[2:5].add_(y[2:5]), lambda x, y: x.t().copy_(y),
        lambda x, y: y[:, 1].zero_(), lambda x, y: x.add_(y.t() * 0.5), lambda x, y: y.view(4, 16)[1].fill_(0.5),
        lambda x, y: x.tanh_(), lambda x, y: y.sub_(x @ y / 8),
    ]  # fmt: skip
    chosen = [steps[i] for i in rng.integers(len(steps), size=5)]

    def run(x, y):
        for step in chosen:
            step(x, y)
        return (x * y).sum()

    return run


@pytest.mark.parametrize("seed", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 9))])
def test_random_programs_are_those_of_one_device(seed):
    run, rng = random_program(seed), np.random.default_rng(seed)
    choices = [
        (MESH, [Shard(0)]),
        (MESH, [Shard(1)]),
        (SQUARE, [Shard(1), Shard(0)]),
        (SQUARE, [Replicate(), Shard(0)]),
    ]
    mesh, placements = choices[rng.integers(len(choices))]
    plain = [values(8, 8, seed=i) for i in range(2)]
    right = run(*plain)
    for fn in (run, ja.compile(run)):
        spread = [distribute_tensor(values(8, 8, seed=i), mesh, placements) for i in range(2)]
        before = spread[0].placements
        np.testing.assert_allclose(float(fn(*spread)), float(right), rtol=1e-3, atol=1e-4)
        for x, y in zip(spread, plain, strict=True):
            assert x.placements == before
            np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-3, atol=1e-4)
