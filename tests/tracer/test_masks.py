"""`x[mask]` in a compiled function: what works without knowing how many elements there are, as it does eagerly."""

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import ConcretizationError
from tests.seeds import some

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(3, 4)).astype(np.float32), RNG.normal(size=4).astype(np.float32)
MASK = RNG.random((3, 4)) < 0.6
MASK[:2, 0] = True


def fill(x, mask, y):
    x[mask] = 3.0
    x[:, mask[0]] = y[0]
    x[0, mask[1]] = -1.0
    return x


def augment(x, mask, y):
    x[mask] *= 2
    x[x > 1] += y[1]
    x[1, mask[1]] -= 3
    return x


def reduce_all(x, mask, y):
    chosen = x[mask]
    return (
        chosen.sum(), chosen.mean(), chosen.max(), chosen.min(), chosen.std(), chosen.norm(), chosen.prod(),
        chosen.amin(), (chosen > 0).any(), (chosen > -9).all(), (chosen > 0).count_nonzero(), chosen.logsumexp(0),
        (chosen * 2 + 1).exp().sum(), ((1 - chosen) / 2).abs().mean(), x.masked_select(mask).sum(),
    )  # fmt: skip


def only_defined_on_the_selected(x, mask, y):
    return x[x > 0].log().sum(), x[x > 0].sqrt().mean()


def rows(x, mask, y):
    chosen = x[mask[:, 0]]
    return chosen.sum(0), chosen.mean(0), chosen.sum(1).max(), chosen.amax(0, True), (chosen * y).sum(), chosen.var(0)


def assign_a_selection(x, mask, y):
    z = x * 1
    z[mask] = x[mask] * 2
    z[x > 0] = x[x > 0].sqrt()
    w = ja.zeros(3, 4)
    w[mask.flip(1)] = x[mask]
    return z, w


def assign_rows(x, mask, y):
    z = x.clone()
    z[mask[:, 0]] = y
    z[mask[:, 0]] += 1
    z[mask[:, 0], 1:] = 0.5
    return z


def assign_as_many_as_there_are(x, mask, y):
    z = x * 1
    z[x > x.max() - 1e-6] = y[:1]
    return z


PROGRAMS = [
    fill, augment, reduce_all, only_defined_on_the_selected, rows, assign_a_selection, assign_rows,
    assign_as_many_as_there_are,
]  # fmt: skip


def outcome(program, run, needs_grad):
    x, y = ja.tensor(X, requires_grad=needs_grad), ja.tensor(Y, requires_grad=needs_grad)
    results = run(program)(x * 1, ja.tensor(MASK), y)
    results = results if isinstance(results, tuple) else (results,)
    values = [np.asarray(r.detach().jax()) for r in results]
    if needs_grad:
        sum(r.sum() for r in results if r.requires_grad).backward()
        values += [np.zeros(1) if leaf.grad is None else leaf.grad.numpy() for leaf in (x, y)]
    return values


@pytest.mark.few(1)
@pytest.mark.parametrize("needs_grad", some([True, False], 1))
@pytest.mark.parametrize("program", some(PROGRAMS, 3), ids=lambda p: p.__name__)
def test_compiled_is_eager(program, needs_grad):
    eager, compiled = (outcome(program, run, needs_grad) for run in (lambda fn: fn, ja.compile))
    for a, b in zip(eager, compiled, strict=True):
        np.testing.assert_allclose(b, np.broadcast_to(a, b.shape) if a.shape == (1,) else a, rtol=1e-5, atol=1e-6)


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "program",
    [
        lambda x, mask: x[mask],
        lambda x, mask: len(x[mask]),
        lambda x, mask: x[mask].shape,
        lambda x, mask: x[mask].sort(),
        lambda x, mask: ja.stack([x[mask]]),
        lambda x, mask: x.add_(x[mask]),
        lambda x, mask: x[mask] + x[~mask],
        lambda x, mask: x[mask] + ja.ones(2),
    ],
)
def test_what_needs_the_number_says_so(program):
    x = ja.ones(3)
    with pytest.raises(ConcretizationError, match=r"how many elements the mask selects[\s\S]*ja.where"):
        ja.compile(program, fullgraph=True)(x, ja.tensor([True, False, True]))
    assert x.tolist() == [1, 1, 1]
