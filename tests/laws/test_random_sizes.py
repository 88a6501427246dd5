"""Random programs of tensors whose sizes change compute in a bucket what they compute eagerly, writes too.

A program has tensors (n, 4), (n,) and (n, n) and numbers, writes to its arguments through views, and draws at random.
Padding is filled with what shows wherever it leaks.
"""

import random

import numpy as np
import pytest

import jaxaot as ja
import jaxaot.nn.functional as F
from jaxaot.runtime import bucket_plan
from tests.runtime.sized import Both, padding_with, rows
from tests.seeds import seeds, some

ROWS = {
    "tanh": lambda x, y, w: x.tanh(),
    "matmul": lambda x, y, w: x @ w,
    "softmax": lambda x, y, w: x.softmax(0),
    "normed": lambda x, y, w: (x - x.mean(0)) / (x.var(0) + 1),
    "cumsum": lambda x, y, w: x.cumsum(0) / x.shape[0],
    "gram": lambda x, y, w: (x @ x.t()).softmax(-1) @ x,
    "tril": lambda x, y, w: ((x @ x.t()).tril() @ x / x.shape[0]).tanh(),
    "scaled": lambda x, y, w: x * y[:, None],
    "flip": lambda x, y, w: x.flip(0) + x,
    "roll": lambda x, y, w: x.roll(1, 0) - x,
    "shifted": lambda x, y, w: ja.cat([x[1:], x[:1]]),
    "where": lambda x, y, w: ja.where(x > x.mean(), x, w[0]),
    "sort": lambda x, y, w: x.sort(0)[0],
    "gathered": lambda x, y, w: x[y.argsort()],
    "scattered": lambda x, y, w: ja.zeros_like(x).index_add(0, y.argsort(), x),
    "merged": lambda x, y, w: (x.reshape(-1) * 2).reshape(x.shape[0], 2, 2).transpose(1, 2).flatten(1),
    "dropped": lambda x, y, w: ja.nn.functional.dropout(x, 0.4),
    "looped": lambda x, y, w: ja.stack([x[0], x[-1], x.max(0)[0]]).sum(0) + x,
    "padded": lambda x, y, w: ja.nn.functional.pad(x, (0, 0, 1, 0))[:-1],
    "casts": lambda x, y, w: x.double().exp().log1p().float(),
    "grown": lambda x, y, w: ja.cat([x, x[-2:] * 0.5]).cumsum(0)[2:] / x.shape[0],
    "statistics": lambda x, y, w: F.batch_norm(x, None, None, training=True),
    "norm of rows": lambda x, y, w: F.layer_norm(x, (4,)),
    "attention": lambda x, y, w: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True)[0],
    "convolved": lambda x, y, w: F.conv1d(x.t()[None], w[:, :, None].expand(4, 4, 3), padding=1)[0].t(),
    "pooled": lambda x, y, w: F.max_pool1d(x.t()[None], 3, 1, 1)[0].t(),
    "looked up": lambda x, y, w: F.embedding(y.argsort() % 4, w) + x,
    "one of each": lambda x, y, w: x * F.one_hot(y.argsort() % 4, 4).float(),
    "largest": lambda x, y, w: x * x.topk(3, 0)[0].sum(0).tanh(),
    "extremes": lambda x, y, w: x.cummax(0)[0] - x.cummin(0)[0],
    "centered": lambda x, y, w: x - x.detach().mean(0),
    "places": lambda x, y, w: x + ja.arange(x.shape[0])[:, None] / x.shape[0],
    "checkpointed": lambda x, y, w: ja.utils.checkpoint.checkpoint(lambda h: (h @ w).tanh() + h.mean(0), x),
    "branches": lambda x, y, w: ja.cond(y[0] > 0, lambda h: h * 2, lambda h: h.cumsum(0) - 1, x),
    "scanned": lambda x, y, w: ja.scan(lambda c, r: (c * 0.5 + r, c.tanh()), ja.zeros(4), x)[1],
    "hooked": lambda x, y, w: hooked(x),
    "inner gradient": lambda x, y, w: inner_gradient(x),
    "halves": lambda x, y, w: (x.bfloat16() @ w.bfloat16()).float().softmax(0),
    "by columns": lambda x, y, w: x @ (ja.einsum("ni,nj->ij", x, x) / x.shape[0]).tanh(),
}


def hooked(x):
    leaf = x.detach().requires_grad_()
    h = leaf.tanh()
    h.register_hook(lambda g: g * 2 - g.mean(0))
    return ja.autograd.grad((h * h).sum(), leaf)[0] + x


def inner_gradient(x):
    h = x.detach().requires_grad_()
    return ja.autograd.grad((h.softmax(0) * h).sum(), h, create_graph=True)[0] + x


WRITES = {
    "add_": lambda x, y: x.add_(1),
    "mul_ of a part": lambda x, y: x[1:].mul_(0.5),
    "by a mask": lambda x, y: x.masked_fill_(x > 1, 0.5),
    "rows of a view": lambda x, y: x.t()[0].add_(y),
    "copy_": lambda x, y: y.copy_(x[:, 1]),
    "of a view of a view": lambda x, y: x[:, 1:][:-1].sub_(y[1:, None]),
    "index_fill_": lambda x, y: x.index_fill_(0, ja.tensor([0, 2]), 0.25),
}


def make_program(seed):
    draw = random.Random(seed)
    steps = [draw.choice([*ROWS] * 2 + [*WRITES]) for _ in range(draw.randint(3, 6))]

    def fn(x, y, w):
        h = x.detach() if seed % 3 == 0 else x
        z = x.clone()
        for name in steps:
            if name in ROWS:
                h = ROWS[name](h, y, w)
            else:
                WRITES[name](z if seed % 2 else h if h is not x else z, y)
        return h, z[1:], (h * z).sum(), y.mean()

    return fn, steps


def tolerances(steps):
    """Returns how far two programs may be apart: further where numbers of few bits are rounded.

    Padding that leaks is NaN or 1e8, and a mean over a bucket in place of a size is a sixth off.
    """
    return {"rtol": 0.05, "atol": 0.02} if "halves" in steps else {"rtol": 5e-3, "atol": 2e-3}


@pytest.mark.parametrize("seed", some(range(1, 240), 1))
def test_random_programs(seed, monkeypatch):
    monkeypatch.setattr(bucket_plan, "padded", padding_with(np.nan if seed % 2 else 1e8))
    fn, steps = make_program(seed)
    both = Both(fn, dynamic={"x": 0, "y": 0} if seed % 3 else None)
    needs_grad, is_part = bool(seed % 4), seed % 4 == 0 and bool(seed % 3)
    w = ja.tensor(rows(4, 4), requires_grad=True)
    for n in (13, 15) if seed % 3 else (20, 13, 15):
        make = lambda n=n: (
            ja.tensor(rows(n + 9, 4))[5 : n + 5] if is_part else ja.tensor(rows(n, 4), requires_grad=needs_grad),
            ja.tensor(rows(n)), w,
        )  # fmt: skip
        both(make, [w], **tolerances(steps))
    assert both.compiled.n_programs <= 2, (steps, list(both.compiled._sizes.buckets.described()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(6, 2))
def test_random_lengths_under_the_default(seed):
    fn, steps = make_program(100 + seed)
    both, w = Both(fn), ja.tensor(rows(4, 4), requires_grad=True)
    for n in np.random.default_rng(seed).integers(3, 13, 4):
        both(lambda n=n: (ja.tensor(rows(int(n), 4)), ja.tensor(rows(int(n))), w), [w], **tolerances(steps))
