"""Joins of more tensors than one program takes: values, gradients, layouts and nodes are those of a short list."""

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.facade.dispatch.joined import MANY, PART, _join_part

N = MANY + PART // 2 + 1


def pieces(n, shape, **options):
    values = np.random.default_rng(0).normal(size=(n, *shape)).astype(np.float32)
    return [ja.tensor(v, **options) for v in values]


SLOW = [pytest.param(*join, marks=pytest.mark.slow) for join in (("stack", 0), ("stack", -1), ("cat", 0))]
JOINS = [("stack", 1), ("cat", -1), *SLOW]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("name, dim", JOINS)
def test_many_are_joined_as_few_are(name, dim):
    join, by_numpy = getattr(ja, name), {"stack": np.stack, "cat": np.concatenate}[name]
    tensors = pieces(N, (2, 3), requires_grad=True)
    tensors[3].requires_grad_(False)
    tensors[5] = tensors[5].t().contiguous().t()  # of other strides
    made = join(tensors, dim)
    right = by_numpy([x.detach().numpy() for x in tensors], dim)
    np.testing.assert_array_equal(made.detach().numpy(), right)
    few = join(tensors[:2], dim)
    assert made.is_contiguous() and made.dtype == few.dtype
    node = made.grad_fn
    assert node.name() == few.grad_fn.name() and len(node.next_functions) == N
    assert node.next_functions[3][0] is None and node.next_functions[5][0] is not None
    weight = ja.arange(made.numel(), dtype=ja.float32).view(made.shape)
    found = ja.autograd.grad((made * weight).sum(), tensors[:3] + tensors[4:], create_graph=True)
    parts = weight.unbind(dim) if name == "stack" else weight.chunk(N, dim)
    for gradient, part in zip(found, (*parts[:3], *parts[4:]), strict=True):
        np.testing.assert_array_equal(gradient.numpy(), part.numpy())


@pytest.mark.slow
def test_gradients_of_gradients_of_many():
    tensors = pieces(N, (2,), requires_grad=True)
    loss = (ja.stack([x * x for x in tensors]) ** 2).sum()
    (first,) = ja.autograd.grad(loss, tensors[7], create_graph=True)
    (second,) = ja.autograd.grad(first.sum(), tensors[7])
    np.testing.assert_allclose(second.numpy(), 12 * tensors[7].detach().numpy() ** 2, rtol=1e-5)


def test_parts_share_a_program():
    before = _join_part._cache_size()
    made = ja.stack(pieces(4 * PART, (1, 2, 1)))
    assert made.shape == (4 * PART, 1, 2, 1) and _join_part._cache_size() == before + 2


def test_what_is_not_alike_is_joined_as_ever():
    tensors = pieces(N, (2,))
    assert ja.cat([*tensors, ja.ones(3)]).shape == (2 * N + 3,)
    assert ja.stack([*tensors, ja.ones(2, dtype=ja.int32)]).dtype == ja.float32
    with pytest.raises(RuntimeError, match="zero-dimensional tensor"):
        ja.cat([ja.ones(())] * N)
    with pytest.raises(IndexError, match="Dimension out of range"):
        ja.cat(tensors, 2)
    assert ja.compile(lambda *xs: ja.stack(xs).sum(0))(*tensors[:3]).shape == (2,)
    with ja.inference_mode():
        assert ja.is_inference(ja.cat(tensors))
    assert ja.stack([x.to("meta") for x in tensors]).shape == (N, 2)
