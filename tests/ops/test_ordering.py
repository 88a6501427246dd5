"""The first elements in order, among ties, NaN, infinities and zeros of both signs, as PyTorch has them."""

import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import seeds

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.oracle

SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]


@pytest.mark.parametrize("seed", seeds(40, 4))
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_random_order_statistics(seed, dtype):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 9, rng.integers(1, 4)))
    x = rng.normal(size=shape) if seed % 2 else np.round(rng.normal(size=shape) * 2) / 2
    x = np.where(rng.random(shape) < 0.15, rng.choice(SPECIAL, shape), x)
    dim = int(rng.integers(len(shape)))
    k, largest = int(rng.integers(shape[dim] + 1)), bool(rng.integers(2))
    theirs = torch.tensor(x, dtype=getattr(torch, dtype))
    ours = ja.tensor(theirs.float().numpy()).to(getattr(ja, dtype))

    def same(mine, wanted):
        np.testing.assert_array_equal(mine.to(ja.float32).numpy(), wanted.float().numpy())

    values, places = ours.topk(k, dim, largest)
    same(values, theirs.topk(k, dim, largest)[0])
    order = torch.sort(theirs, stable=True, dim=dim, descending=largest)[1].numpy()
    np.testing.assert_array_equal(places.numpy(), np.take(order, range(k), dim))
    if k:
        same(ours.kthvalue(k, dim)[0], theirs.kthvalue(k, dim)[0])
    same(ours.median(dim)[0], theirs.median(dim)[0])
    same(ours.nanmedian(dim)[0], theirs.nanmedian(dim)[0])


def test_gradients_of_the_first_in_order():
    x = np.random.default_rng(0).normal(size=(4, 9)).astype("float32")
    theirs, ours = torch.tensor(x, requires_grad=True), ja.tensor(x, requires_grad=True)
    (theirs.topk(3)[0] ** 2).sum().backward()
    (ours.topk(3)[0] ** 2).sum().backward()
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy())
