"""Random chains of views whose sizes change, as arguments and held elsewhere: a compiled function does what eager does.

A view is of a whole storage or of a part of it, contiguous or not, expanded, trained or not, alone or beside others of
the same storage. The function reads it through further views.
"""

import random

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.runtime import bucket_plan
from tests.runtime.sized import padding_with, rows, same
from tests.seeds import some

CHAINS = {  # from memory that holds enough to a view of (n, 4)
    "transposed": lambda base, n: base(4, n).t(),
    "reshaped": lambda base, n: base(n * 4).reshape(n, 4),
    "squeezed": lambda base, n: base(1, n, 4)[0],
    "permuted": lambda base, n: base(2, n, 2).permute(1, 0, 2).flatten(1),
    "exchanged": lambda base, n: base(2, n, 2).permute(1, 2, 0)[:, :, 0].repeat(1, 2).t().contiguous().t(),
    "a part": lambda base, n: base(n + 3, 4)[3:],
    "columns": lambda base, n: base(n, 9)[:, 2:6],
    "columns of a transposed": lambda base, n: base(6, n).t()[:, 1:5],
    "expanded rows": lambda base, n: base(1, 4).expand(n, 4),
    "expanded columns": lambda base, n: base(n, 1).expand(n, 4),
    "every second": lambda base, n: base(2 * n, 4)[::2],
    "the last ones": lambda base, n: base(4, n + 9)[:, -n:].t(),
    "windows": lambda base, n: base(n + 3).unfold(0, 4, 1),
    "strided": lambda base, n: base(n + 12).as_strided((n, 4), (1, 3)),
    "joined": lambda base, n: ja.cat([base(4, n - 1), base(4, 1)], 1).t(),
}
READS = {
    "all": lambda x, w: x @ w,
    "mean": lambda x, w: x - x.mean(0),
    "rows of it": lambda x, w: (x[1:] * 2).cumsum(0),
    "transposed again": lambda x, w: (w @ x.t()).softmax(-1),
    "with an axis more": lambda x, w: x[None].expand(2, x.shape[0], 4).sum(0),
    "flat": lambda x, w: x.reshape(-1).cumsum(0),
    "chunks": lambda x, w: ja.cat([part.tanh() for part in x.chunk(2, -1)], -1),
    "detached": lambda x, w: x * x.detach().max(),
    "without recording": lambda x, w: x + without_recording(x),
    "by its size": lambda x, w: x.sum(0) / x.shape[0],
    "of its last row": lambda x, w: x[-1] * 3,
    "heads": lambda x, w: x.unflatten(-1, (2, 2)).transpose(0, 1).exp(),
}


def without_recording(x):
    with ja.no_grad():
        return x.cos()


class Holder:
    """Keeps tensors where a function reaches them."""


def make_case(seed):
    """Returns a function of what `place` says, and how its views are made for a size."""
    draw = random.Random(seed)
    chains = [draw.choice([*CHAINS]) for _ in range(2)]
    reads = [draw.choice([*READS]) for _ in range(3)]
    place = draw.choice(("argument", "argument", "argument", "dict", "attribute", "list"))
    kind = draw.choice(("plain", "plain", "trained base", "trained leaf", "one storage"))
    holder = Holder()

    def fn(given, w):
        x, y = {
            "argument": lambda: given,
            "dict": lambda: (given["a"][0], given["b"]),
            "attribute": lambda: (holder.x, holder.y),
            "list": lambda: holder.kept,
        }[place]()
        return [READS[name](x, w) for name in reads], (y * 2).mean(0), (x * y).sum()

    def make(n):
        bases = []

        def base(*shape):
            bases.append(ja.tensor(rows(*shape), requires_grad=kind == "trained base"))
            return bases[-1]

        views = [CHAINS[name](base, n) for name in chains]
        if kind == "one storage":
            whole = ja.tensor(rows(n, 4))
            views = [
                whole.t().t(),
                draw.choice((whole, whole.view(n, 2, 2).flatten(1), whole.as_strided((n, 4), (4, 1)))),
            ]
        if kind == "trained leaf":
            views = [view.detach().requires_grad_() for view in views]
        if place == "attribute":
            holder.x, holder.y = views
        elif place == "list":
            holder.kept = views
        given = {"argument": views, "dict": {"a": [views[0]], "b": views[1]}}.get(place, ())
        return given, views if kind == "trained leaf" else bases

    return fn, make, (chains, reads, place, kind)


@pytest.mark.parametrize("seed", some(range(1, 400), 1))
def test_random_views(seed, monkeypatch):
    monkeypatch.setattr(bucket_plan, "padded", padding_with(np.nan if seed % 2 else 1e8))
    fn, make, shown = make_case(seed)
    *_, place, kind = shown
    compiled = ja.compile(fn)
    w = ja.tensor(rows(4, 4), requires_grad=True)
    for n in (5, 11, 12, 9, 13, 16, 10, 15)[: 3 if seed == 1 else 8]:  # 9 to 12 are in one bucket
        outcomes = []
        for call in (compiled, fn):
            w.grad = None
            given, trained = make(n)
            outs, mean, total = call(given, w)
            loss = sum((x * x.detach().cos()).sum() for x in (*outs, mean, total))
            if loss.requires_grad:
                loss.backward()
            outcomes.append(([*outs, mean, total], [x.grad for x in trained if x.grad is not None], w.grad))
        same(*outcomes, rtol=2e-3, atol=2e-3)
    is_parameter = kind == "trained leaf" and place in ("attribute", "list")
    most = 8 if is_parameter else 3
    assert compiled.n_programs <= most, (shown, list(compiled._sizes.buckets.described()))
