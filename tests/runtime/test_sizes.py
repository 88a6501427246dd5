"""Sizes that change under `ja.compile`: values of the exact program, few programs, and reasons where there are more."""

import contextlib
import functools
import gc
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import nn
from jaxaot.errors import CheckError, DimError, RecompileWarning, TensorTypeError, UsageError
from jaxaot.runtime.double_backward import DoubleBackward
from jaxaot.runtime.recompiles import MAX_FOR_ONE_REASON
from jaxaot.tracer import trace as tracing
from tests.laws.test_random_sizes import make_program
from tests.runtime.sized import Both, garbage, nans, rows, same

__all__ = ["garbage", "nans"]


def explained(fn):
    return "\n".join(fn.explain().programs)


def softmax_of_gram(x):
    return (x @ x.t()).softmax(-1) @ x, x.mean(0)


# values


@pytest.mark.few(1)
def test_forward_and_backward_at_two_sizes(garbage):
    w = ja.tensor(rows(4, 4), requires_grad=True)

    def fn(x, y):
        h = (x @ w).tanh()
        return (h.softmax(0) * y.mean()).sum(), h[1:], h.max(0)[0], h.std(0)

    both = Both(fn, dynamic={"x": 0, "y": 0})
    for n in (13, 15):
        both(lambda n=n: (ja.tensor(rows(n, 4), requires_grad=True), ja.tensor(rows(n))), [w])
    assert both.compiled.n_programs == 1


def test_writes_through_views_of_arguments_are_written_back(nans):
    def fn(x, y):
        x[1:].add_(y[:-1])
        x.t().mul_(2)
        y.clamp_(min=0)
        return x[:2], x.sum()

    both = Both(fn, dynamic={"x": 0, "y": 0})
    for n in (13, 15):
        both(lambda n=n: (ja.tensor(rows(n, 3)), ja.tensor(rows(n, 3))))
    assert both.compiled.n_programs == 1


@pytest.mark.slow
def test_a_view_that_is_returned_shows_its_argument():
    fn = ja.compile(lambda x: (x.mul_(2), x[1:])[1], dynamic={"x": 0})
    for n in (13, 15):
        x = ja.tensor(rows(n, 3))
        view = fn(x)
        view.zero_()
        assert view._base is x
        assert float(x[1:].abs().sum()) == 0.0


def test_a_model_with_dropout_and_statistics_trains(nans):
    def made():
        ja.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 2, bias=False), nn.BatchNorm1d(2), nn.Dropout(0.3))
        return model, ja.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(model, optimizer, x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    outcomes = []
    for call in (ja.compile(step, dynamic={"x": 0, "y": 0}), step):
        model, optimizer = made()
        ja.manual_seed(1)
        losses = []
        for n in (16, 13):
            rng = np.random.default_rng(n)
            x = ja.tensor(rng.normal(size=(n, 3)).astype(np.float32))
            losses.append(call(model, optimizer, x, ja.tensor(rng.integers(0, 2, n))))
        outcomes.append((losses, list(model.state_dict().values())))
        if call is not step:
            assert call.n_programs <= 3  # the state of the optimizer is made in the first call
    same(*outcomes, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_parameters_are_read_in_another_order_than_the_optimizer_has_them():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.second, self.first = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            return self.second(self.first(x).relu())

    def step(model, optimizer, x):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()

    models = [Block(), Block()]
    models[1].load_state_dict(models[0].state_dict())
    fn = ja.compile(step, dynamic={"x": 0})
    for call, model in zip((fn, step), models, strict=True):
        optimizer = ja.optim.SGD(model.parameters(), lr=0.1)
        for n in (13, 15):
            call(model, optimizer, ja.tensor(rows(n, 3)))
    same(*(list(model.state_dict().values()) for model in models))
    assert fn.n_programs == 1, explained(fn)


@pytest.mark.slow
def test_dropout_draws_the_bits_of_the_exact_size():
    both = Both(lambda x: nn.functional.dropout(x, 0.5) + ja.randn(x.shape), dynamic={"x": (0, 1)})
    for shape in ((13, 5), (14, 7)):
        both(lambda shape=shape: (ja.ones(shape),))
    assert both.compiled.n_programs == 1


class Cache:
    """A cache with a capacity and a length."""

    def __init__(self, capacity):
        self.rows, self.n = ja.zeros(capacity, 3), ja.tensor(0)

    def add(self, x):
        places = ja.arange(x.shape[0]) + self.n
        self.rows.index_copy_(0, places, x)
        self.n += x.shape[0]
        scores = (x @ self.rows.t()).masked_fill(ja.arange(self.rows.shape[0]) >= self.n, -ja.inf)
        return scores.softmax(-1) @ self.rows


@pytest.mark.slow
def test_a_cache_with_a_capacity_and_a_length(nans):
    compiled, exact = Cache(48), Cache(48)
    add = ja.compile(compiled.add, dynamic={"x": 0})
    for n in (13, 15, 9):
        x = rows(n, 3)
        same((add(ja.tensor(x)), compiled.rows, compiled.n), (exact.add(ja.tensor(x)), exact.rows, exact.n))
    assert add.n_programs == 2  # of 12 rows, and of 16


@pytest.mark.slow
def test_a_function_that_tells_types_of_rates_apart_at_one_size():
    def step(model, optimizer, x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        if type(optimizer.param_groups[0]["lr"]) is float and x.shape[0] == 14:
            loss = loss * 3
        loss.backward()
        optimizer.step()
        return loss.detach()

    outcomes = []
    for call in (ja.compile(step, dynamic={"x": 0}), step):
        ja.manual_seed(0)
        model = nn.Linear(3, 2)
        optimizer = ja.optim.SGD(model.parameters(), lr=0.1)
        outcomes.append([call(model, optimizer, ja.tensor(rows(n, 3))) for n in (13, 14)])
    same(*outcomes)


@pytest.mark.slow
def test_a_tensor_that_is_first_read_without_its_gradient(nans):
    both = Both(lambda x: (x - x.detach().mean(0)).softmax(0), dynamic={"x": 0})
    for n in (13, 15):
        both(lambda n=n: (ja.tensor(rows(n, 2), requires_grad=True),))
    assert both.compiled.n_programs == 1


@pytest.mark.slow
def test_a_cache_that_grows(nans):
    def grow(cache, x):
        cache = ja.cat([cache, x])
        return cache, (x @ cache.t()).softmax(-1) @ cache

    both = Both(grow, dynamic={"cache": 0})
    for n in (13, 15):
        both(lambda n=n: (ja.tensor(rows(n, 3), requires_grad=True), ja.tensor(rows(1, 3))))
    assert both.compiled.n_programs == 1


@pytest.mark.slow
def test_arguments_in_containers_and_bare_arrays(nans):
    def fn(batch, scale):
        return {"y": batch["x"].sum(0) * scale.sum(), "ids": batch["ids"][-1]}

    both = Both(fn, dynamic={"batch": 0, "scale": 0})
    for n in (13, 15):
        both(lambda n=n: ({"x": ja.tensor(rows(n, 2), requires_grad=True), "ids": ja.arange(n)}, jnp.arange(n) * 0.5))
    assert both.compiled.n_programs == 1


@pytest.mark.slow
def test_channels_last_stays_so(nans):
    conv = nn.Conv2d(3, 4, 3, padding=1)
    both = Both(lambda x: conv(x).relu().mean((2, 3)), dynamic={"x": 0})
    for n in (13, 15):
        x = ja.tensor(rows(n, 3, 5, 5)).to(memory_format=ja.channels_last)
        both(lambda x=x: (x,), list(conv.parameters()))
    assert both.compiled.n_programs == 1


@pytest.mark.slow
@pytest.mark.parametrize("has_third", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_second_and_third_derivatives(has_third, nans, monkeypatch):
    n_exact = []
    row = DoubleBackward.__dict__["row"].func
    counted = functools.cached_property(lambda self: (n_exact.append(1), row(self))[1])
    counted.__set_name__(DoubleBackward, "row")
    monkeypatch.setattr(DoubleBackward, "row", counted)
    w = ja.tensor(rows(3, 3), requires_grad=True)
    fn = ja.compile(lambda x: ((x @ w).tanh().cumsum(0), x.sum()), dynamic={"x": 0})
    for n in (13, 15):
        x = ja.tensor(rows(n, 3), requires_grad=True)
        found = []
        for call in (fn, fn.fn):
            a, b = call(x)
            (g,) = ja.autograd.grad((a * b).sum(), x, create_graph=True)
            h, k = ja.autograd.grad(g.pow(2).sum(), [x, w], create_graph=has_third)
            third = ja.autograd.grad(h.pow(2).sum() + k.sum(), [x, w]) if has_third else ()
            found.append((g, h, k, *third))
        same(*found, rtol=1e-3, atol=1e-4)
    assert not n_exact


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_second_derivatives_of_random_programs(seed, nans):
    fn, _ = make_program(40 + seed)
    both, w = Both(lambda x, y: fn(x, y, w)[2], dynamic={"x": 0, "y": 0}), ja.tensor(rows(4, 4), requires_grad=True)
    for n in (13, 15):
        found = []
        for call in (both.compiled, both.fn):
            ja.manual_seed(3)
            x = ja.tensor(rows(n, 4), requires_grad=True)
            (g,) = ja.autograd.grad(call(x, ja.tensor(rows(n))), x, create_graph=True)
            found.append((g, *ja.autograd.grad((g.sin() * x).sum(), [x])))  # also where g is constant
        same(*found, rtol=1e-2, atol=1e-3)


@pytest.mark.slow
def test_checkpoint_and_budgets(nans):
    w = ja.tensor(rows(4, 4), requires_grad=True)

    def fn(x):
        for _ in range(3):
            x = ja.utils.checkpoint.checkpoint(lambda x: (x @ w).tanh(), x)
        return x.sin()

    for budget in (0.3, "fit:64MiB"):
        both = Both(fn, dynamic={"x": 0}, memory_budget=budget)
        for n in (13, 15):
            both(lambda n=n: (ja.tensor(rows(n, 4), requires_grad=True),), [w])
        assert both.compiled.n_programs == 1


@pytest.mark.slow
def test_an_output_that_the_backward_reads_is_saved_as_it_is_in_the_bucket(nans):
    both = Both(lambda x: x.masked_fill(x < 0, -ja.inf).softmax(0), dynamic={"x": 0})
    for n in (13, 15):
        both(lambda n=n: (ja.tensor(rows(n, 2).cumsum(0) + 4, requires_grad=True),))
    assert both.compiled.n_programs == 1


# hooks on saved tensors

GRAPH = ja.autograd.graph


class Seen:
    """Hooks that run on values, and note what they are given."""

    def __init__(self):
        self.given = []

    def pack(self, x):
        self.given.append(x.numpy())
        return self.given[-1] * 2

    def unpack(self, kept):
        return ja.tensor(kept / 2)


def of_hooks(x, w):
    h = ((x @ w).exp() + 0.5).log()
    return (h.softmax(0) * h).reshape(-1).cumsum(0).tanh()


@pytest.mark.slow
def test_hooks_on_saved_tensors_see_the_exact_size(garbage):
    seen, w = Seen(), ja.tensor(rows(4, 4), requires_grad=True)

    def under_hooks(fn):
        def call(x, w):
            with GRAPH.saved_tensors_hooks(seen.pack, seen.unpack, inputs=True):
                return fn(x, w)

        return call

    both = Both(of_hooks, dynamic={"x": 0})
    compiled, both.compiled, both.fn = both.compiled, under_hooks(both.compiled), under_hooks(both.fn)
    for n in (13, 15):
        both(lambda n=n: (ja.tensor(rows(n, 4), requires_grad=True), w), [w], rtol=1e-3, atol=1e-4)
    assert compiled.n_programs == 1, explained(compiled)
    assert len(seen.given) > 4
    assert all(np.isfinite(x).all() and np.abs(x).max() < 1e3 for x in seen.given)
    assert {n for x in seen.given for n in x.shape} <= {13, 15, 4, 1, 13 * 4, 15 * 4}


@pytest.mark.slow
@pytest.mark.parametrize("inside", [False, True])
def test_hooks_that_share_a_scale_do_not_see_padding(inside, garbage):
    w = ja.tensor(rows(4, 4), requires_grad=True)
    hooks = GRAPH.quantize_int8(dim=None)

    def fn(x):
        with GRAPH.saved_tensors_hooks(*hooks) if inside else contextlib.nullcontext():
            h = (x @ w).exp()
        return h.square().sum(1).log()

    compiled = ja.compile(fn, dynamic={"x": 0})
    for n in (19, 22):
        found = []
        for call in (compiled, fn):
            x, w.grad = ja.tensor(rows(n, 4) / 4, requires_grad=True), None
            with contextlib.nullcontext() if inside else GRAPH.saved_tensors_hooks(*hooks):
                loss = call(x).sum()
            loss.backward()
            found.append((loss, x.grad, w.grad))
        same(*found, rtol=0.1, atol=0.1)
    assert compiled.n_programs == 1, explained(compiled)


@pytest.mark.slow
def test_other_hooks_inside_at_one_size_are_a_program_of_their_own():
    def fn(x):
        with GRAPH.saved_tensors_hooks(*(GRAPH.to_dtype(ja.bfloat16) if x.shape[0] == 14 else GRAPH.quantize_int8())):
            return x.exp().sin()

    compiled = ja.compile(fn, dynamic={"x": 0})
    for n in (13, 14):
        compiled(ja.tensor(rows(n, 8), requires_grad=True)).sum().backward()
    assert "other hooks on saved tensors" in explained(compiled)


# which dims change, and when


@pytest.mark.slow
def test_batches_that_are_parts_of_the_data(nans):
    w, data, labels = ja.tensor(rows(3, 3), requires_grad=True), ja.tensor(rows(31, 3)), ja.tensor(rows(31, 5))
    both = Both(lambda x, y: ((x @ w).softmax(0)[1:] * y[:-1, 2:]).cumsum(0), dynamic={"x": 0, "y": 0})
    for begin, end in ((0, 13), (16, 31)):
        both(lambda i=begin, j=end: (data[i:j], labels[i:j]), [w])
    assert both.compiled.n_programs == 1, explained(both.compiled)


@pytest.mark.slow
def test_columns_that_are_parts_of_the_data(nans):
    table = ja.tensor(rows(7, 3), requires_grad=True)

    def fn(ids, targets):
        scores = table[ids].cumsum(1) @ table.t()
        return nn.functional.cross_entropy(scores.flatten(0, 1), targets.reshape(-1)), ids.stride(), ids[:, -1] + 1

    both = Both(fn, dynamic={"ids": 1, "targets": 1})
    for n in (14, 16):
        ids = ja.tensor(np.random.default_rng(n).integers(0, 7, (4, n)))
        both(lambda ids=ids: (ids[:, :-1], ids[:, 1:]), [table])
    assert both.compiled.n_programs == 1, explained(both.compiled)


def test_by_default_the_first_size_is_exact_and_what_changes_gets_buckets():
    both = Both(softmax_of_gram)
    for n in (20, 13, 15):
        both(lambda n=n: (ja.tensor(rows(n, 3)),))
    assert both.compiled.n_programs == 2
    said = explained(both.compiled)
    assert "exactly (20, 3): no size of it has changed so far" in said
    assert "bucket (16, 3): 2 sizes" in said
    assert "needs 1 <= s0 <= 16" in said
    assert "(13, 3): computes 1." in said
    assert "masks: " in said


@pytest.mark.slow
def test_without_dynamic_each_size_is_a_program():
    fn = ja.compile(softmax_of_gram, dynamic=False)
    for n in (5, 6, 7, 6):
        fn(ja.tensor(rows(n, 3)))
    assert fn.n_programs == fn.cache_info().misses == 3


def test_dynamic_at_once():
    w = ja.tensor(rows(3, 3), requires_grad=True)
    both = Both(lambda x, y: (x @ w * y[:, None]).sum(1), dynamic=True)
    for n in (13, 15):
        both(lambda n=n: (ja.tensor(rows(n, 3)), ja.tensor(rows(n))), [w])
    assert both.compiled.n_programs == 1


@pytest.mark.slow
def test_dynamic_at_once_learns_where_not_all_changes():
    both = Both(lambda x: x.reshape(x.shape[0], 2, -1).sum(1) @ ja.eye(3), dynamic=True)
    for n in (13, 15, 16):
        both(lambda n=n: (ja.tensor(rows(n, 6)),))
    assert both.compiled.n_programs == 2  # the first one is exact, as six columns are no matter of choice


@pytest.mark.slow
def test_dims_by_name_and_their_buckets():
    fn = ja.compile(lambda x: x.cumsum(0), dynamic={"x": {0: [10, 20]}})
    for n in (3, 9, 10, 19, 30):
        x = ja.tensor(rows(n, 2))
        same(fn(x), x.cumsum(0))
    assert fn.n_programs == 3  # of 10, of 20, and that of 30 rows


@pytest.mark.slow
def test_marks_say_what_changes_from_the_first_call_on():
    fn = ja.compile(lambda x: x.cumsum(0))
    x = ja.tensor(rows(9, 2))
    ja.sizes.mark_dynamic(x, 0, min=4, max=14)
    same(fn(x), x.cumsum(0))
    for n in (12, 14, 3, 15):
        x = ja.tensor(rows(n, 2))
        same(fn(x), x.cumsum(0))
    assert fn.n_programs == 4  # of 12, and of 14 as no bucket is larger; 3 and 15 rows are compiled exactly
    for n in (13, 10):
        fn(ja.tensor(rows(n, 2)))
    assert fn.n_programs == 4


@pytest.mark.slow
def test_a_dim_that_is_marked_static_has_a_program_for_each_size():
    fn = ja.compile(lambda x: x.cumsum(0))
    for n in (9, 10, 11):
        x = ja.tensor(rows(n, 2))
        ja.sizes.mark_static(x, 0)
        fn(x)
    assert fn.n_programs == 3


def test_what_cannot_be_marked():
    with pytest.raises(DimError, match="dim 2 of a tensor of shape"):
        ja.sizes.mark_dynamic(ja.zeros(2, 3), 2)
    with pytest.raises(DimError, match="without dims"):
        ja.sizes.mark_static(ja.tensor(1.0), 0)
    with pytest.raises(TensorTypeError, match="takes a tensor or array"):
        ja.sizes.mark_dynamic(3, 0)
    with pytest.raises(UsageError, match="says no sizes"):
        ja.sizes.mark_dynamic(ja.zeros(2), 0, buckets="all")
    with pytest.raises(UsageError, match="names `z`"):
        ja.compile(lambda x: x, dynamic={"z": 0})
    with pytest.raises(UsageError, match="dim 3 of `x` changes"):
        ja.compile(lambda x: x + 1, dynamic={"x": 3})(ja.zeros(2))


def test_check_holds_at_each_size_and_not_at_the_bucket():
    def fn(x):
        ja.sizes.check(x.shape[0] <= 14, lambda: f"{x.shape[0]} rows")
        return x.cumsum(0)

    fn = ja.compile(fn, dynamic={"x": 0})
    for n in (13, 14):
        fn(ja.zeros(n, 2))
    assert fn.n_programs == 1
    with pytest.raises(CheckError, match="15 rows"):
        fn(ja.zeros(15, 2))
    with pytest.raises(CheckError, match="to be true"):
        ja.sizes.check(False)
    ja.sizes.check(True)


# sizes that depend on data


def selected(x, mask):
    chosen = x[mask]
    return (chosen @ chosen.t()).softmax(-1) @ chosen, chosen.mean(0)


@pytest.mark.slow
def test_what_follows_a_mask_runs_in_the_program_of_a_bucket(nans):
    w = ja.tensor(rows(3, 3), requires_grad=True)

    def fn(x, mask):
        out, mean = selected(x @ w, mask)
        return out.tanh(), mean

    both = Both(fn, dynamic=True)
    for n in (13, 15):
        mask = np.random.default_rng(n).permutation(np.arange(20) < n)
        both(lambda mask=mask: (ja.tensor(rows(20, 3), requires_grad=True), ja.tensor(mask)), [w])
    assert both.compiled.n_programs == 1
    assert both.compiled.cache_info().misses == 2  # each count is traced, and not compiled


@pytest.mark.slow
def test_nonzero_and_numbers_that_python_takes():
    def fn(x, lengths):
        n = int(lengths.max())
        places = (x[:, 0] > 0).nonzero()
        return x[:n].softmax(0), x[places[:, 0]].sum(0)

    both = Both(fn, dynamic=True)
    for n in (13, 15, 9):
        x = np.roll(rows(20, 3), n, 0) + (n - 13) * 0.01
        both(lambda x=x, n=n: (ja.tensor(x), ja.tensor([3, n])))
    assert both.compiled.n_programs <= 3


def distinct(x):
    values, where, how_often = x.round().unique(return_inverse=True, return_counts=True)
    first = (x > 0).unique_consecutive(return_counts=True)[1]
    return values.cumsum(0), values[where].flip(0), how_often / x.shape[0], first


def distinct_rows(x):
    values, where, how_often = x.clamp(0, 0.5).ceil().unique(return_inverse=True, return_counts=True, dim=0)
    return values.cumsum(0), where, how_often


def repeated(x, counts):
    rows = x.repeat_interleave(counts, 0)
    return rows.softmax(0), rows.sum(0), (counts > 1).argwhere().sum()


def counted(x, labels):
    return x.masked_select(x > 0.3).cumsum(0), labels.bincount(x), labels.bincount(minlength=3).float().softmax(0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fn",
    [distinct, *(pytest.param(fn, marks=pytest.mark.slow) for fn in (distinct_rows, repeated, counted))],
)
def test_counts_of_distinct_and_repeated_elements_are_asked_for_alone(fn, nans):
    def arguments(n):
        rng = np.random.default_rng(n)
        if fn is repeated:
            return ja.tensor(rows(6, 2), requires_grad=True), ja.tensor(rng.permutation([0, 1, 2, 3, 1, n]))
        x = ja.tensor(rng.normal(size=(40, 2) if fn is distinct_rows else 40).astype(np.float32) * 3)
        return (x, ja.tensor(rng.integers(0, 4 + n, 40))) if fn is counted else (x,)

    both = Both(fn, dynamic=True)
    for n in (4, 5, 8):
        both(lambda n=n: arguments(n), rtol=1e-4, atol=1e-5)
    asked = [v for p in both.compiled.programs for v in p.traced.break_values]
    assert all(not v.shape for v in asked)
    assert any(p.bucket is not None for p in both.compiled.programs), explained(both.compiled)


@pytest.mark.slow
def test_counts_without_buckets_are_compiled_exactly():
    both = Both(lambda x, n: x * 2 if int(n) > 3 else x - 1, dynamic=True)
    for n in (3, 4, 9):
        both(lambda n=n: (ja.tensor(rows(3)), ja.tensor(n)))


# what is compiled exactly


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fn", "why"),
    [
        (lambda x: sum(x[i] * i for i in range(x.shape[0])), "has"),
        (lambda x: x.sin() if x.shape[0] % 2 else x.cos(), "where one has `sin` at test_sizes.py"),
        (lambda x: x + ja.zeros(7, 1)[: x.shape[0]], "at the bucket 8 it raises"),
    ],
    ids=["loop", "branch", "table"],
)
def test_what_depends_on_sizes_otherwise_is_exact(fn, why):
    both = Both(fn, dynamic={"x": 0})
    for n in (5, 6, 7):
        both(lambda n=n: (ja.tensor(rows(n, 2), requires_grad=True),))
    assert both.compiled.n_programs > 1
    assert why in explained(both.compiled)


@pytest.mark.slow
def test_sizes_without_buckets():
    both = Both(lambda x: x.sum(0), dynamic={"x": 0})
    for n in (0, 1, 2, 3):
        both(lambda n=n: (ja.tensor(rows(n, 2), requires_grad=True),))
    assert "an axis has no elements" in explained(both.compiled) or both.compiled.n_programs > 1


@pytest.mark.slow
def test_parts_of_larger_storages_that_are_written_are_compiled_exactly():
    fn, tables = ja.compile(lambda x: x.mul_(2), dynamic={"x": 0}), [ja.tensor(rows(20, 2)) for _ in range(2)]
    for n in (13, 15):
        same((fn(tables[0][:n]), tables[0]), (tables[1][:n].mul_(2), tables[1]))
    assert fn.n_programs == 2
    assert "pass clones" in explained(fn)


@pytest.mark.parametrize("mode", [lambda: ja.autograd.detect_anomaly(), lambda: jax.debug_nans(True)])
def test_what_looks_for_nans_sees_none_that_is_padding(mode):
    fn = ja.compile(lambda x: (x / x).sum(), dynamic={"x": 0})  # 0 / 0 where padded
    for n in (13, 15):
        with mode() if n == 15 else contextlib.nullcontext():
            x = ja.tensor(rows(n, 2), requires_grad=True)
            fn(x).backward()
            assert float(x.grad.abs().sum()) < 1e-3


@pytest.mark.slow
def test_transformations_of_jax_see_the_exact_program():
    fn = ja.compile(lambda x: (x / x).sum() + x.pow(2).sum(), dynamic={"x": 0})
    pure = ja.func.functionalize(fn)
    for n in (13, 15):
        x = jnp.asarray(rows(n, 2))
        fn(ja.interop.from_jax(x))
        same(jax.grad(pure)(x), 2 * x, atol=1e-4)
        same(jax.jit(pure)(x), fn(ja.interop.from_jax(x)))


# views


VIEWS = {
    "x[None]": lambda n: ja.tensor(rows(n, 4))[None],
    "reshape": lambda n: ja.tensor(rows(n * 4)).reshape(n, 4),
    "t": lambda n: ja.tensor(rows(4, n)).t(),
    "permute": lambda n: ja.tensor(rows(n, 2, 4)).permute(1, 0, 2),
    "expand": lambda n: ja.tensor(rows(n, 1)).expand(n, 4),
    "windows": lambda n: ja.tensor(rows(n + 3)).as_strided((n, 4), (1, 1)),
    "the last": lambda n: ja.tensor(rows(4, n))[:, -9:].t(),
    "joined": lambda n: ja.cat([ja.tensor(rows(4, n - 1)), ja.tensor(rows(4, 1))], 1).t(),
    "trained": lambda n: ja.tensor(rows(4, n), requires_grad=True).t(),
    "a trained leaf": lambda n: ja.tensor(rows(4, n)).t().detach().requires_grad_(),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_views_have_buckets_once_their_sizes_change(make, nans):
    both = Both(lambda x: x * x)
    for n in (5, 7, 8):  # at the border of a bucket
        both(lambda n=n: (make(n),))
    assert both.compiled.n_programs == 2, explained(both.compiled)


@pytest.mark.slow
def test_views_that_are_kept_elsewhere_or_beside_their_base_have_buckets(nans):
    held = {}
    both = Both(lambda x: (x["a"][0] @ held["y"]).softmax(0).sum(-1) + (held["y"] * x["base"]).sum())
    for n in (5, 7, 8, 6):
        base = ja.tensor(rows(4, n))
        held["y"] = ja.tensor(rows(n, 4)).t()
        both(lambda base=base: ({"a": [base.t()], "base": base},))
    assert both.compiled.n_programs == 2, explained(both.compiled)


def test_an_expanded_leaf_has_a_gradient_for_each_element():
    both = Both(lambda x: (x[1:] * ja.arange(4.0)).sum())
    both(lambda: (ja.tensor(rows(3, 1)).expand(3, 4).detach().requires_grad_(),))


@pytest.mark.slow
def test_why_a_view_that_is_written_or_returned_has_no_buckets():
    for fn, why in ((lambda x: x.mul_(2), "that is written"), (lambda x: x[1:], "that is returned")):
        compiled = ja.compile(fn)
        for n in (5, 6):
            x = ja.tensor(rows(4, n))
            found = compiled(x.t())
            assert found._base is x
        assert f"argument `x` changes its size, and is a view {why}" in explained(compiled)


@pytest.mark.slow
def test_what_was_said_of_one_argument_leaves_others_their_buckets():
    compiled = ja.compile(lambda x, y: x.sum() + y.cumsum(0).sum())
    for n in (9, 10, 11, 12):
        x = ja.ones(3 if n % 2 else 40, 2)  # inside and beyond what was said
        ja.sizes.mark_dynamic(x, 0, min=2, max=32)
        same(compiled(x, ja.ones(n)), x.sum() + ja.ones(n).cumsum(0).sum())
    assert compiled.n_programs <= 4, explained(compiled)


@pytest.mark.parametrize("n_tokens", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_generating_makes_few_programs(n_tokens):
    table, w = ja.tensor(rows(7, 4)), ja.tensor(rows(4, 7))
    compiled = ja.compile(scores := lambda ids: table[ids].cumsum(1).tanh() @ w)

    def generated(fn):
        ids = ja.zeros(1, 1, dtype=ja.int64)
        for _ in range(n_tokens):
            ids = ja.cat((ids, fn(ids[:, -9:])[:, -1].argmax(-1, keepdim=True)), dim=1)
        return ids.tolist()

    assert generated(compiled) == generated(scores)
    assert compiled.n_programs <= 8 and compiled.cache_info().misses <= 12, explained(compiled)


# programs


@pytest.mark.slow
def test_a_size_seen_before_is_not_traced_again():
    n_traces = []

    def fn(x):
        n_traces.append(1)
        return x.cumsum(0)

    fn = ja.compile(fn, dynamic={"x": 0})
    calls = [ja.tensor(rows(n, 2)) for n in (9, 10, 11, 12, 13, 14)]
    for x in calls:
        fn(x)
    before = fn.cache_info()
    for x in calls[::-1] * 2:
        same(fn(x), x.cumsum(0))
    after = fn.cache_info()
    assert (after.misses, after.hits) == (before.misses, before.hits + 12)
    assert fn.n_programs == 2


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("has_count", [False, True], ids=["rates alone", "a count of the user's too"])
def test_a_size_in_a_known_bucket_is_traced_once_where_rates_are_numbers(has_count, monkeypatch):
    n_traces = []
    trace = tracing._trace
    monkeypatch.setattr(tracing, "_trace", lambda *args: (n_traces.append(1), trace(*args))[1])

    class Trainer:
        n_steps = 0

    def step(trainer, model, optimizer, x):
        optimizer.zero_grad()
        model(x).cumsum(0).mean().backward()
        optimizer.step()
        if has_count:
            trainer.n_steps += 1

    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(3, 3)])  # whose own code names `type`

        def forward(self, x):
            return self.layers[0](x)

    models, trainers = [Layers(), Layers()], [Trainer(), Trainer()]
    models[1].load_state_dict(models[0].state_dict())
    fn = ja.compile(step, dynamic={"x": 0}, buckets=[16])
    for call, model, trainer in zip((fn, step), models, trainers, strict=True):
        optimizer = ja.optim.AdamW(model.parameters(), lr=0.1)
        for n in (13, 15, 14):
            n_traces.clear()
            optimizer.param_groups[0]["lr"] = n / 100
            call(trainer, model, optimizer, ja.tensor(rows(n, 3)))
            if n == 14 and call is fn:
                assert len(n_traces) == (2 if has_count else 1)
    same(*(list(model.state_dict().values()) for model in models))
    assert trainers[0].n_steps == trainers[1].n_steps
    assert fn.n_programs == 1, explained(fn)


@pytest.mark.slow
def test_a_symbol_that_is_taken_for_no_number_at_some_sizes_is_found_out():
    def step(x):
        rate = optimizer.param_groups[0]["lr"]
        return x.cumsum(0) * (rate if x.shape[0] < 14 else float(rate))

    optimizer = ja.optim.SGD([ja.zeros(1, requires_grad=True)], lr=0.1)
    fn = ja.compile(step, dynamic={"x": 0}, buckets=[16])
    for n in (13, 12, 15, 11, 14, 15):
        optimizer.param_groups[0]["lr"] = n / 10
        x = ja.tensor(rows(n, 3))
        same(fn(x), step(x))


@pytest.mark.few(1)
@pytest.mark.parametrize("what", ["argument", "mask"])
def test_a_new_size_in_a_known_bucket_compiles_nothing(what, caplog):
    w = ja.tensor(rows(3, 3), requires_grad=True)
    if what == "mask":
        fn = ja.compile(lambda x, mask: (x[mask] @ w).softmax(0).cumsum(0).mean(), dynamic=True)
    else:
        fn = ja.compile(lambda x: (x @ w).softmax(0).cumsum(0).mean(), dynamic={"x": 0})
    of_mask = lambda n: (ja.tensor(rows(20, 3)), ja.tensor(np.arange(20) < n))
    calls = [of_mask(n) if what == "mask" else (ja.tensor(rows(n, 3)),) for n in (16, 13, 15, 14)]
    for args in calls[:2]:
        fn(*args).backward()
    with jax.log_compiles():
        for args in calls[2:]:
            fn(*args).backward()
    compiled = [record.getMessage() for record in caplog.records if "XLA compilation" in record.getMessage()]
    assert not compiled
    assert fn.n_programs == 1
    with jax.log_compiles():
        jax.jit(lambda x: x * 19)(1.0)
    assert any("XLA compilation" in record.getMessage() for record in caplog.records)  # that it would be seen


@pytest.mark.slow
def test_as_many_programs_are_kept_as_is_said():
    fn = ja.compile(lambda x: x.cumsum(0), dynamic={"x": 0}, max_programs=2)
    for n in (7, 12, 16, 8, 15, 6):
        x = ja.tensor(rows(n, 2))
        same(fn(x), x.cumsum(0))
        assert fn.n_programs <= 2
    assert fn.n_programs_made == 4  # that of 8 twice


@pytest.mark.slow
def test_programs_of_many_buckets_hold_no_arrays_between_calls(nans):
    w = ja.tensor(rows(32, 32), requires_grad=True)
    fn = ja.compile(lambda x: (x @ w).softmax(0).square().sum(), dynamic={"x": 0})

    def live_bytes():
        gc.collect()
        return sum(array.nbytes for array in jax.live_arrays())

    fn(ja.tensor(rows(7, 32))).backward()
    before = live_bytes()
    for n in (13, 20):
        fn(ja.tensor(rows(n, 32))).backward()
    assert fn.n_programs == 3
    assert live_bytes() - before < 1000  # the numbers of sizes; a row of the input is 128 bytes


def test_sixty_steps_of_random_lengths_take_few_programs():
    fn = ja.compile(softmax_of_gram, dynamic={"x": 0})
    for n in np.random.default_rng(1).integers(3, 13, 60):
        fn(ja.tensor(rows(n, 3)))
    assert fn.n_programs <= 2


@pytest.mark.slow
def test_programs_of_many_buckets_are_no_reason_to_warn():
    fn = ja.compile(lambda x: x / x.sum(), dynamic={"x": 0}, buckets=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RecompileWarning)
        for n in range(4, 28):
            fn(ja.ones(n))
    assert fn.n_programs > MAX_FOR_ONE_REASON + 1


def test_warm_up_compiles_all_buckets():
    w = ja.tensor(rows(3, 3), requires_grad=True)
    fn = ja.compile(lambda x: (x @ w).relu().sum(), dynamic={"x": 0})
    assert fn.warm_up(ja.zeros(20, 3)) == 4  # 8, 12, 16 and 24
    for n in (7, 20):
        fn(ja.tensor(rows(n, 3))).backward()
    assert fn.n_programs == 4
    with pytest.raises(UsageError, match="no dim is known to change"):
        ja.compile(lambda x: x + 1).warm_up(ja.zeros(3))
    with pytest.raises(UsageError, match="There are 4 buckets"):
        ja.compile(lambda x: x + 1, dynamic={"x": 0}, max_programs=3).warm_up(ja.zeros(20))
    with pytest.raises(UsageError, match="there are none"):
        ja.compile(lambda x: x + 1, dynamic=False).warm_up(ja.zeros(20))


@pytest.mark.slow
def test_training_and_evaluation_have_buckets_of_their_own():
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    fn = ja.compile(model, dynamic={"input": 0})
    for is_training in (True, False):
        model.train(is_training)
        for n in (13, 15):
            ja.manual_seed(0)
            got = fn(ja.ones(n, 3))
            ja.manual_seed(0)
            same(got, model(ja.ones(n, 3)))
    assert fn.n_programs == 2


@pytest.mark.slow
def test_clearing_forgets_sizes():
    fn = ja.compile(lambda x: x.cumsum(0), dynamic={"x": 0})
    fn(ja.zeros(5, 2))
    fn.clear_cache()
    assert fn.n_programs == 0
    fn(ja.zeros(6, 2))
    assert fn.n_programs == 1


@pytest.mark.slow
def test_guards_of_each_size_imply_what_its_trace_relied_on():
    def fn(x, y):
        return (x.softmax(0) @ w) * y.sum() if x.shape[0] > 4 else x

    w = ja.tensor(rows(3, 3), requires_grad=True)
    with ja.config(validate_guards=True):
        both = Both(fn, dynamic={"x": 0, "y": 0})
        for n in (13, 15, 13):
            both(lambda n=n: (ja.tensor(rows(n, 3)), ja.tensor(rows(n))), [w])
    assert both.compiled.n_programs == 1


@pytest.mark.slow
def test_conditions_of_a_bucket_keep_a_size_from_it_that_they_do_not_hold_for():
    fn = ja.compile(lambda x, y: x[1:].sum(0) + y[:-1].cumsum(0)[-1], dynamic={"x": 0, "y": 0})
    for n, m in ((13, 13), (15, 15), (15, 13), (9, 16), (2, 2)):
        x, y = ja.tensor(rows(n, 3)), ja.tensor(rows(m, 3))
        same(fn(x, y), fn.fn(x, y))
    assert 1 < fn.n_programs <= 5
