"""What the tests of sizes share: padding that shows wherever it leaks, and functions compared with themselves."""

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.runtime import bucket_plan


@pytest.fixture(params=[np.nan, 1e8], ids=["nan", "1e8"])
def garbage(request, monkeypatch):
    """Fills padding with what shows wherever it leaks."""
    monkeypatch.setattr(bucket_plan, "padded", padding_with(request.param))


@pytest.fixture
def nans(monkeypatch):
    """Fills padding with NaN."""
    monkeypatch.setattr(bucket_plan, "padded", padding_with(np.nan))


def padding_with(filler):
    def padded(value, shape):
        there = np.asarray(value)
        fill = filler if there.dtype.kind in "fc" else 1 if there.dtype.kind == "b" else 10**8
        full = np.full(shape, fill).astype(there.dtype)
        full[tuple(map(slice, there.shape))] = there
        return full

    return padded


def rows(*shape):
    """Returns the same values for the same shape."""
    return np.random.default_rng(shape).normal(size=shape).astype(np.float32)


def leaves_of(result):
    values = jax.tree.leaves(result, is_leaf=lambda x: isinstance(x, Tensor))
    return [np.asarray(x.detach()) if isinstance(x, Tensor) else np.asarray(x) for x in values]


def same(got, right, rtol=2e-5, atol=2e-6):
    got, right = leaves_of(got), leaves_of(right)
    assert len(got) == len(right)
    for a, b in zip(got, right, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol, atol)


class Both:
    """A function compiled with sizes that change, and itself: both called alike, what they did compared.

    Attributes:
      compiled: The compiled function.
    """

    def __init__(self, fn, **options):
        self.fn, self.compiled = fn, ja.compile(fn, **options)

    def __call__(self, make, weights=(), **tolerances):
        """Calls both on what `make()` returns; compares results, arguments, and gradients of these and of weights."""
        outcomes = []
        for call in (self.compiled, self.fn):
            for w in weights:
                w.grad = None
            ja.manual_seed(3)
            args = make()
            result = call(*args)
            outs = [x for x in jax.tree.leaves(result, is_leaf=lambda x: isinstance(x, Tensor)) if is_open(x)]
            if outs:
                sum((x * x.detach().cos()).sum() for x in outs).backward()
            inputs = [
                x for x in jax.tree.leaves(args, is_leaf=lambda x: isinstance(x, Tensor)) if isinstance(x, Tensor)
            ]
            grads = [x.grad for x in (*inputs, *weights) if x.is_leaf and x.grad is not None]
            outcomes.append((result, inputs, grads, [w.detach().clone() for w in weights]))
        same(*outcomes, **tolerances)


def is_open(x):
    return isinstance(x, Tensor) and x.requires_grad and x.grad_fn is not None
