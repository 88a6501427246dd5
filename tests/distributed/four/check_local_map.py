"""Functions of the parts that one device holds: what they reach, draw and loop over."""

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.distributed import Partial, Replicate, Shard, distribute_tensor, init_device_mesh, local_map
from jaxaot.errors import MissingMemoryError, PlacementError, TensorTypeError, TraceError
from jaxaot.subclasses import TwoTensor

MESH = init_device_mesh("cpu", (4,), mesh_dim_names=("d",))
F = ja.nn.functional


def values(*shape, seed=0):
    return ja.interop.from_jax(jax.device_put(np.random.default_rng(seed).normal(size=shape).astype(np.float32)))


def rows(seed=0):
    return distribute_tensor(values(8, 4, seed=seed).requires_grad_(), MESH, [Shard(0)])


def by_rows(fn):
    return local_map(fn, [Shard(0)], ([Shard(0)],), MESH)


def dropped(x):
    return F.dropout(x, 0.5, True)


def branch(x):
    return ja.cond(x.sum() > 0, dropped, lambda x: ja.zeros(x.shape), x)


def loop(x):
    return ja.scan(lambda n, row: (n + 1, dropped(row)), ja.zeros(()), x)[1]


def until(x):
    return ja.while_loop(lambda n, y: n < 2, lambda n, y: (n + 1, dropped(y)), (ja.zeros(()), x.detach()))[1] + 0 * x


def region(x):
    return ja.utils.checkpoint.checkpoint(dropped, x)


def from_generator(x):
    return x * (ja.rand(x.shape, generator=GENERATOR) > 0.5)


GENERATOR = ja.Generator()


SLOW = (pytest.param(fn, marks=pytest.mark.slow) for fn in (dropped, loop, until, region, from_generator))


@pytest.mark.slow
@pytest.mark.parametrize("fn", [branch, *SLOW])
def test_random_numbers_are_those_of_the_surroundings(fn):
    run, x = by_rows(fn), rows()
    results = []
    whole = [lambda x: run(x), ja.compile(lambda x: run(x)), lambda x: ja.func.vjp(run, x)[0]]
    for f in whole:
        ja.manual_seed(3)
        GENERATOR.manual_seed(3)
        first, second = f(x).detach(), f(x).detach()
        assert first.placements == (Shard(0),) and np.any(first.numpy() != second.numpy())
        results.append((first.numpy(), second.numpy()))
        if fn is not until:
            x.grad = None
            ja.manual_seed(3)
            GENERATOR.manual_seed(3)
            f(x).sum().backward()
            assert x.grad.placements == (Shard(0),)
            np.testing.assert_allclose((x.grad * x).detach().numpy(), first.numpy(), rtol=1e-5)
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


def test_gradients_reach_what_the_function_reaches():
    weight = values(4, 3, seed=1).requires_grad_()
    x = rows()
    run = local_map(lambda x: (x @ weight).tanh(), [Shard(0)], ([Shard(0)],), MESH)
    right = ja.autograd.grad((values(8, 4) @ weight).tanh().sum(), weight)[0]
    for f in (run, ja.compile(lambda x: run(x))):
        weight.grad = None
        f(x).sum().backward()
        np.testing.assert_allclose(weight.grad.numpy(), right.numpy(), rtol=1e-4, atol=1e-5)
        assert x.grad.placements == (Shard(0),)
    with ja.no_grad():
        weight.mul_(2)
    np.testing.assert_allclose(run(x).detach().numpy(), (x @ weight).tanh().detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_branches_and_loops_with_collectives_and_gradients():
    def fn(x, w):
        _, sums = ja.scan(lambda total, row: (total + row @ w, total.sum()), ja.zeros(2), x)
        return ja.cond(sums[-1] > 0, lambda: (x @ w).sin(), lambda: x @ w * 2)

    run = local_map(fn, [Partial()], ([Shard(0)], None), MESH)
    x, w = rows(), values(4, 2, seed=2).requires_grad_()
    found = []
    for part in values(8, 4).chunk(4):
        found.append(fn(part, w))
    right = ja.stack(found).sum(0)
    (slope,) = ja.autograd.grad(right.sum(), w)
    for f in (run, ja.compile(lambda x, w: run(x, w).redistribute(MESH, [Replicate()]))):
        total = f(x, w)
        total = total if isinstance(total, ja.Tensor) else total.redistribute(MESH, [Replicate()])
        w.grad = None
        total.sum().backward()
        np.testing.assert_allclose(total.detach().numpy(), right.detach().numpy(), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(w.grad.numpy(), slope.numpy(), rtol=1e-4, atol=1e-4)


def test_writes_to_what_is_outside_are_refused():
    mean = ja.zeros(4)
    run = by_rows(lambda x: F.batch_norm(x, mean, ja.ones(4), training=True))
    for f in (run, ja.compile(lambda x: run(x))):
        with pytest.raises(TraceError) as caught:
            f(rows())
        assert "each device would write something else there" in " ".join(str(caught.value).split())
    assert mean.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("fn", "out", "given", "error", "words"),
    [
        (lambda x: x, [Replicate()], rows, PlacementError, "Result 0 of `<lambda>` may differ from device to device"),
        (lambda x: 3, [Shard(0)], rows, TensorTypeError, "returned something of type int"),
        (lambda x: None, [[Shard(0)], [Shard(0)]], rows, PlacementError, "returned 1 results"),
        (lambda x: x, [Shard(0)], lambda: 3, TensorTypeError, "Only tensors have placements; write None there"),
        (lambda x: x, [Shard(0)], lambda: values(6, 4), PlacementError, "dim 0 has 6 elements, for 4 devices"),
        (lambda x: x.sum(), [Shard(0)], rows, PlacementError, "the tensor has 0 dims"),
        (lambda x: TwoTensor(x, x), [Shard(0)], rows, MissingMemoryError, "Ask these"),
    ],
)
def test_what_does_not_fit_is_refused(fn, out, given, error, words):
    run, x = local_map(fn, out, ([Shard(0)],), MESH), given()
    for f in (run, ja.compile(lambda x: run(x))):
        with pytest.raises(error) as caught:
            f(x)
        assert words in " ".join(str(caught.value).split())
