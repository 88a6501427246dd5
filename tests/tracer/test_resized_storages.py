"""Storages that are resized in compiled functions: what is in the graph, what happens after it, and what is kept."""

import gc

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors


def shrunk(*size, requires_grad=False):
    """Returns a tensor whose storage holds no bytes."""
    x = ja.ones(*size, requires_grad=requires_grad)
    x.untyped_storage().resize_(0)
    return x


def refill(p, values):
    with ja.no_grad():
        p.untyped_storage().resize_(p.nbytes)
        p.copy_(values)


def primitives(traced):
    return [eqn.primitive.name for eqn in traced.jaxpr.jaxpr.eqns]


# -- the graph ---------------------------------------------------------------------------------------------------------


def test_a_resize_is_no_equation_and_what_it_holds_is_refused_until_it_is_filled():
    def fn(p, source):
        p.untyped_storage().resize_(16)
        for use in (lambda: p + 1, lambda: p.clone(), lambda: p[1:] * 2, lambda: ja.cat([p, p]), lambda: p.mul_(2)):
            with pytest.raises(RuntimeError, match="Fill it first"):
                use()
        p.copy_(source)
        return p + 1

    traced = ja.trace(fn, shrunk(4), ja.ones(4))
    assert set(primitives(traced)) == {"optimization_barrier", "add"}, "what was filled, and the sum"
    (write,) = traced.alias.writes
    assert write.is_resized and write.is_written


@pytest.mark.parametrize("fill", ["copy_", "fill_", "foreach", "out", "slices"])
def test_everything_that_writes_all_of_a_storage_fills_it(fill):
    def fn(p, source):
        p.untyped_storage().resize_(16)
        match fill:
            case "copy_":
                p.copy_(source)
            case "fill_":
                p.fill_(3.0)
            case "foreach":
                ja._foreach_copy_([p], [source])
            case "out":
                ja.mul(source, 1, out=p)
            case _:
                p[:2].copy_(source[:2])
                p[2:].copy_(source[2:])
        return p + 1

    p = shrunk(4)
    assert ja.compile(fn)(p, ja.full((4,), 3.0)).tolist() == [4] * 4 and p.tolist() == [3] * 4


@pytest.mark.parametrize("n_rounds", [1, 2, 5])
@pytest.mark.parametrize("begins_full", [False, True])
def test_sizes_that_end_where_they_began_cancel(n_rounds, begins_full):
    def fn(p, source):
        total = source * 0
        for i in range(n_rounds):
            if begins_full:
                p.untyped_storage().resize_(0)
            p.untyped_storage().resize_(16)
            p.copy_(source + i)
            total = total + p
            if not begins_full:
                p.untyped_storage().resize_(0)
        return total

    p = ja.zeros(4) if begins_full else shrunk(4)
    traced = ja.trace(fn, p, ja.ones(4))
    assert not any(write.is_resized for write in traced.alias.writes) and len(traced.alias.writes) == begins_full
    total = ja.compile(fn)(p, ja.ones(4))
    assert total.tolist() == [sum(range(1, n_rounds + 1))] * 4
    assert p.untyped_storage().nbytes() == (16 if begins_full else 0)
    if begins_full:
        assert p.tolist() == [n_rounds] * 4


def test_the_size_of_a_storage_is_part_of_the_signature():
    def fn(p, source):
        p.untyped_storage().resize_(16)
        p.copy_(source)
        return p * 2

    step, source = ja.compile(fn), ja.ones(4)
    step(shrunk(4), source)
    step(ja.zeros(4), source)
    assert step.cache_info()[:2] == (0, 2)
    step(shrunk(4), source)
    step(ja.zeros(4), source)
    assert step.cache_info()[:2] == (2, 2)
    empty, full = (ja.trace(fn, p, source).call.storages[0] for p in (shrunk(4), ja.zeros(4)))
    assert (empty.nbytes, full.nbytes) == (0, 16) and empty.graph_input is None
    (record,) = step.explain_recompiles()
    assert "the storage of argument `p` holds 16 bytes instead of 0" in str(record)


# -- after the graph ---------------------------------------------------------------------------------------------------


def test_resizes_and_writes_of_a_call_happen_together_or_not_at_all(monkeypatch):
    def fn(p, q, source):
        p.untyped_storage().resize_(16)
        p.copy_(source)
        q.add_(1)
        q.untyped_storage().resize_(0)

    step, p, q = ja.compile(fn), shrunk(4), ja.ones(4)
    step(shrunk(4), ja.ones(4), ja.ones(4))
    values = ja.ones(4)
    values.jax().delete()
    with pytest.raises(errors.DeletedArrayError):
        step(p, q, values)
    assert p.untyped_storage().nbytes() == 0 and q.tolist() == [1] * 4 and (p._version, q._version) == (0, 0)
    step(p, q, ja.full((4,), 5.0))
    assert p.tolist() == [5] * 4 and q.untyped_storage().nbytes() == 0


def test_a_copy_into_no_bytes_is_refused_and_one_of_the_values_alone_is_not():
    p, values = shrunk(4), ja.arange(4.0)
    for run in (lambda fn: fn(p, values), lambda fn: ja.compile(fn)(p, values)):
        with pytest.raises(errors.StorageSizeError, match="out of bounds for storage of size 0"):
            run(lambda p, values: p.copy_(values))
        with pytest.raises(errors.StorageSizeError, match="out of bounds for storage of size 0"):
            run(lambda p, values: ja._foreach_copy_([p], [values]))
        copied = run(lambda p, values: ja.empty_like(p).copy_(values))
        assert copied.tolist() == [0, 1, 2, 3] and p.untyped_storage().nbytes() == 0


@pytest.mark.slow
def test_what_is_made_like_a_tensor_reads_none_of_its_values():
    makers = {
        "zeros": ja.zeros_like, "ones": ja.ones_like, "full": lambda p: ja.full_like(p, 3), "random": ja.rand_like,
        "normal": ja.randn_like, "integers": lambda p: ja.randint_like(p, 5), "new": lambda p: p.new_zeros(4),
        "new_full": lambda p: p.new_full((4,), 2.0),
    }  # fmt: skip
    p = shrunk(4)
    for name, make in makers.items():
        assert make(p).shape == ja.compile(make)(p).shape == (4,), name
        assert ja.trace(make, ja.ones(4)).alias.read == (), name


# -- gathered layers ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_layers_that_are_calls_of_their_own_are_gathered_one_at_a_time():
    """Gathering, use and freeing, in the forward and in the backward: one layer's full weight lives at any time."""
    n, n_shards, n_layers = 64, 4, 3
    gathered, held = n * n * 4, []
    gc.collect()
    before = {id(a): a for a in jax.live_arrays()}  # those of other tests

    def note():
        gc.collect()
        held.append(sum(a.nbytes for a in jax.live_arrays() if a.size == n * n and id(a) not in before) // gathered)

    @ja.compile
    def layer(x, p, parts):
        with ja.no_grad():
            p.untyped_storage().resize_(gathered)
            p.copy_(ja.cat(parts))
        out = (x @ p).tanh()
        p.untyped_storage().resize_(0)
        return out

    pieces = [[ja.randn(n // n_shards, n) * 0.2 for _ in range(n_shards)] for _ in range(n_layers)]
    weights = [shrunk(n, n, requires_grad=True) for _ in range(n_layers)]
    gradients = {}

    def scatter(p, i):  # as a reduce-scatter leaves it: of the gradient its shards alone stay
        gradients[i] = [part.clone().numpy() for part in p.grad.split(n // n_shards)]
        p.grad = None
        p.untyped_storage().resize_(0)
        note()

    def gather_again(p, parts):
        refill(p, ja.cat(parts))
        note()

    for i, p in enumerate(weights):
        p.register_post_accumulate_grad_hook(lambda p, i=i: scatter(p, i))
    h = x = ja.randn(8, n)
    for p, parts in zip(weights, pieces, strict=True):
        h = layer(h, p, parts)
        note()
        h.register_hook(lambda _, p=p, parts=parts: gather_again(p, parts))
    assert held == [0] * n_layers, "nothing that was gathered stays for the backward"
    h.sum().backward()
    assert held[n_layers:] == [1] * (2 * n_layers), "its weight, then its gradient"
    exact = [ja.cat(parts).requires_grad_() for parts in pieces]
    for w in exact:
        x = (x @ w).tanh()
    x.sum().backward()
    for i, w in enumerate(exact):
        np.testing.assert_allclose(np.concatenate(gradients[i]), w.grad.numpy(), rtol=1e-4, atol=1e-5)
