"""`ja.func.vmap` and what `ja.func` refuses: each case by PyTorch."""

from __future__ import annotations

import importlib
import itertools

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from tests.cases import each
from tests.seeds import one_in, some

WAYS = ["eager", "compiled", pytest.param("torch", marks=pytest.mark.oracle)]
BOTH = ["eager", pytest.param("torch", marks=pytest.mark.oracle)]


def run(way, fn):
    """Returns what a program makes, as lists; it takes a library."""
    m = importlib.import_module("torch") if way == "torch" else ja
    made = (ja.compile(lambda: fn(ja)) if way == "compiled" else lambda: fn(m))()
    return [x.tolist() for x in made] if isinstance(made, tuple) else made.tolist()


def write_rows(m):
    x = m.zeros(3, 2)
    return m.func.vmap(lambda t: t[0].add_(1))(x), x


def write_columns(m):
    x = m.zeros(3, 2)
    m.func.vmap(lambda t: t.add_(m.arange(3.0)), in_dims=1)(x)
    return x


def write_through_a_view(m):
    base = m.zeros(4, 2)
    m.func.vmap(lambda t: t.mul_(2).add_(1))(base[1:3])
    return base


def write_one_of_several(m):
    pair = [m.zeros(2), m.ones(2)]
    m.func.vmap(lambda t: t[0].add_(t[1]))(pair)
    return tuple(pair)


def write_in_the_inner_of_two(m):
    x = m.zeros(2, 3)
    m.func.vmap(m.func.vmap(lambda t: t.add_(1)))(x)
    return x


def write_by_jvp(m):
    x = m.zeros(2)
    value, slope = m.func.jvp(lambda t: t.add_(1), (x,), (m.ones(2),))
    return value, slope, x


def write_in_chunks(m):
    x = m.zeros(5)
    return m.func.vmap(lambda t: t.add_(1), chunk_size=2)(x), x


WRITES = {
    write_rows: [[1, 1, 1], [[1, 0]] * 3],
    write_columns: [[0, 0], [1, 1], [2, 2]],
    write_through_a_view: [[0, 0], [1, 1], [1, 1], [0, 0]],
    write_one_of_several: [[1, 1], [1, 1]],
    write_in_the_inner_of_two: [[1, 1, 1]] * 2,
    write_by_jvp: [[1, 1], [1, 1], [1, 1]],
    write_in_chunks: [[1] * 5, [1] * 5],
}


@pytest.mark.few(10)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fn", one_in(2, WRITES), ids=lambda fn: fn.__name__)
def test_writes_to_arguments_arrive(fn, way):
    assert run(way, fn) == WRITES[fn]


def test_what_is_the_same_for_all_is_not_written_by_each():
    with pytest.raises(errors.TensorError, match="the same for all"):
        ja.func.vmap(lambda a, b: b.add_(a), in_dims=(0, None))(ja.zeros(3), ja.zeros(2))


def test_gradients_flow_through_what_vmap_wrote():
    w = ja.ones(3, requires_grad=True)
    x = w * 2
    ja.func.vmap(lambda t: t.mul_(3))(x)
    x.sum().backward()
    assert w.grad.tolist() == [6, 6, 6]


VIEWS = {
    "a slice": (lambda t: t[1:], {}, (3, 3), (4, 1)),
    "a row of a column": (lambda t: t[:2], {"in_dims": 1}, (4, 2), (1, 4)),
    "itself": (lambda t: t, {}, (3, 4), (4, 1)),
    "a new dim": (lambda t: t.unsqueeze(0), {"out_dims": 1}, (1, 3, 4), (4, 4, 1)),
    "another shape": (lambda t: t.view(2, 2).t(), {}, (3, 2, 2), (4, 1, 2)),
    "an expanded one": (lambda t: t.expand(2, 4)[0], {}, (3, 4), (4, 1)),
    "after a write": (lambda t: t.add_(0)[2:], {}, (3, 2), (4, 1)),
}


@pytest.mark.parametrize("way", BOTH)
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_arguments_are_views(name, way):
    fn, options, size, stride = VIEWS[name]
    m = importlib.import_module("torch") if way == "torch" else ja
    x = m.arange(12.0).reshape(3, 4)
    y = m.func.vmap(fn, **options)(x)
    assert (tuple(y.shape), y.stride()) == (size, stride)
    y.fill_(-1.0)
    assert (x == -1).sum().item() == y.numel()


@pytest.mark.parametrize("way", WAYS)
def test_a_view_by_expanding(way):
    fn = lambda m: m.func.vmap(lambda t: t.expand(2, 3))(m.arange(9.0).reshape(3, 3))
    assert run(way, fn) == [[row, row] for row in ([0, 1, 2], [3, 4, 5], [6, 7, 8])]


@pytest.mark.few(16)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "fn, expected",
    [
        (lambda m: m.func.vmap(lambda x, y: x * y)(m.ones(2), y=m.tensor([1.0, 2.0])), [[1, 2], [1, 2]]),
        (lambda m: m.func.vmap(lambda x, y: x + y, in_dims=1)(m.zeros(1, 2), y=m.ones(1)), [[1], [1]]),
        (lambda m: m.func.vmap(lambda x: x * 2, chunk_size=2)(m.arange(5.0)), [0, 2, 4, 6, 8]),
        (
            lambda m: m.func.vmap(lambda x: (x * 2, x), chunk_size=2, out_dims=(1, 0))(m.arange(6.0).view(3, 2)),
            [[[0, 4, 8], [2, 6, 10]], [[0, 1], [2, 3], [4, 5]]],
        ),
        (lambda m: m.func.vmap(func=lambda d: d["a"], in_dims=({"a": -1},))({"a": m.ones(1, 2)}), [[1], [1]]),
        (lambda m: m.func.jacrev(func=lambda x: x**2, chunk_size=1)(m.arange(2.0)), [[0, 0], [0, 2]]),
        (lambda m: m.func.jacfwd(func=lambda x: x**2, randomness="error")(m.arange(2.0)), [[0, 0], [0, 2]]),
    ],
)
def test_arguments_as_in_pytorch(fn, expected, way):
    assert run(way, fn) == expected


@pytest.mark.few(1)
@pytest.mark.parametrize("way", WAYS)
def test_random_numbers_are_refused_or_the_same_or_different(way):
    def rows(m, **options):
        x = m.zeros(3, 4)
        return m.func.vmap(lambda t: t + m.rand(4), **options)(x)

    same = run(way, lambda m: rows(m, randomness="same"))
    different = run(way, lambda m: rows(m, randomness="different"))
    in_chunks = run(way, lambda m: m.func.vmap(lambda t: m.rand(4), randomness="different")(m.zeros(3)))
    assert same[0] == same[1] == same[2]
    for found in (different, in_chunks):
        assert found[0] != found[1] != found[2] != found[0]
    with pytest.raises(RuntimeError, match="randomness error mode"):
        run(way, rows)


@pytest.mark.parametrize("way", BOTH)
@each(
    "fn, error",
    [
        (lambda f, x: f.vmap(lambda x: x, randomness="all")(x), RuntimeError),
        (lambda f, x: f.vmap(lambda x: x, chunk_size=0)(x), ValueError),
        (lambda f, x: f.vmap(lambda x: x)(x=x), ValueError),
        (lambda f, x: f.vmap(lambda x: x, in_dims=None)(x), ValueError),
        (lambda f, x: f.vmap(lambda x: x, in_dims="a")(x), ValueError),
        (lambda f, x: f.vmap(lambda x: x, in_dims=(0.5,))(x), ValueError),
        (lambda f, x: f.vmap(lambda x: x, in_dims=2)(x), ValueError),
        (lambda f, x: f.vmap(lambda x, y: x)(x, 3), ValueError),
        (lambda f, x: f.vmap(lambda x, y: x + y)(x, x[:1]), ValueError),
        (lambda f, x: f.vmap(lambda x: 3)(x), ValueError),
        (lambda f, x: f.vmap(lambda x: None)(x), ValueError),
        (lambda f, x: f.vmap(lambda x: x, out_dims=0.5)(x), ValueError),
        (lambda f, x: f.vmap(lambda x: x, out_dims=3)(x), IndexError),
        (lambda f, x: f.vmap(lambda x: (x, x), out_dims=(0, 0, 0))(x), ValueError),
        (lambda f, x: f.grad(lambda x: x.sum(), argnums=1)(x), RuntimeError),
        (lambda f, x: f.grad(lambda x: x.sum(), argnums=(0, 0))(x), RuntimeError),
        (lambda f, x: f.grad(lambda x: x.sum(), argnums=())(x), RuntimeError),
        (lambda f, x: f.grad(lambda x: x.sum(), argnums=0.0)(x), RuntimeError),
        (lambda f, x: f.grad(lambda x: x)(x), RuntimeError),
        (lambda f, x: f.grad(lambda x: 3)(x), RuntimeError),
        (lambda f, x: f.grad(lambda x: x.sum(), has_aux=True)(x), RuntimeError),
        (lambda f, x: f.grad(lambda x: x.sum() * 1j)(x), RuntimeError),
        (lambda f, x: f.grad(lambda x: x.sum())(x.int()), RuntimeError),
        (lambda f, x: f.vjp(lambda x: 3, x), RuntimeError),
        (lambda f, x: f.vjp(lambda x: (), x), RuntimeError),
        (lambda f, x: f.vjp(lambda x: (x, x), x)[1](x), RuntimeError),
        (lambda f, x: f.vjp(lambda x: x, x)[1](x[0]), RuntimeError),
        (lambda f, x: f.jacrev(lambda x: None)(x), RuntimeError),
        (lambda f, x: f.jacrev(lambda x: 3.0)(x), RuntimeError),
        (lambda f, x: f.jacrev(lambda x: x, argnums=2)(x), RuntimeError),
        (lambda f, x: f.jacfwd(lambda x: 3.0)(x), RuntimeError),
        (lambda f, x: f.jvp(lambda x: x, x, x), RuntimeError),
        (lambda f, x: f.jvp(lambda x: x, (x,), (x, x)), RuntimeError),
        (lambda f, x: f.jvp(lambda x: x, (x,), (x[0],)), RuntimeError),
        (lambda f, x: f.jvp(lambda x: x.new_ones(2), (x,), (x,), strict=True), RuntimeError),
    ],
)  # fmt: skip
def test_refusals(fn, error, way):
    m = importlib.import_module("torch") if way == "torch" else ja
    with pytest.raises(error) as caught:
        fn(m.func, m.ones(2, 2))
    assert way == "torch" or isinstance(caught.value, errors.JaxaotError)


def test_a_jvp_that_need_not_depend_on_its_argument():
    value, slope = ja.func.jvp(lambda x: ja.ones(2), (ja.ones(2),), (ja.ones(2),))
    assert value.tolist() == [1, 1] and slope.tolist() == [0, 0]
    value, slope = ja.func.jvp(lambda x: x * x, (ja.ones(2),), (ja.ones(2),), strict=True)
    assert slope.tolist() == [2, 2]


def test_arrays_of_jax_are_mapped_too():
    y = ja.func.vmap(lambda x: x + 1)(jax.numpy.arange(3.0))
    assert isinstance(y, ja.Tensor) and y.tolist() == [1, 2, 3]


def test_what_is_no_tensor_is_returned_where_it_has_no_dim():
    out, said, none = ja.func.vmap(lambda x: (x, "said", None), out_dims=(0, None, None))(ja.ones(2))
    assert out.tolist() == [1, 1] and (said, none) == ("said", None)


@pytest.mark.parametrize("way", BOTH)
def test_an_argument_comes_back_as_itself(way):
    m = importlib.import_module("torch") if way == "torch" else ja
    x = m.ones(2, 3)
    assert m.func.vmap(lambda t: t.mul_(2))(x) is x
    assert m.func.vmap(lambda t: t, in_dims=1, out_dims=1)(x) is x
    assert m.func.vmap(lambda t: t, out_dims=1)(x) is not x


@pytest.mark.parametrize("way", WAYS)
def test_dims_in_lists(way):
    added = lambda m: m.func.vmap(lambda z: z[0] + z[1], in_dims=([0, None],))([m.ones(2), m.ones(1)])
    assert run(way, added) == [[2], [2]]


WHOLE_DRAWS = {
    "rand_like": lambda t: ja.rand_like(t),
    "by a map": lambda t: ja.func.vmap(lambda u: ja.randn_like(u), randomness="different")(t),
    "dropout": lambda t: ja.nn.functional.dropout(t + 1),
    "normal in float16": lambda t: ja.randn_like(t, dtype=ja.float16),
    "integers": lambda t: ja.randint_like(t, 20),
    "bernoulli": lambda t: ja.bernoulli(t + 0.4),
    "binomial": lambda t: ja.binomial(t + 10, t + 0.5),
    "in place": lambda t: t.clone().exponential_(),
    "by a gradient": lambda t: ja.func.grad(lambda u: ja.nn.functional.dropout(u).sum())(t),
}


def drawn_from_seed_5(fn, x):
    ja.manual_seed(5)
    return fn(x).tolist()


@pytest.mark.few(1)
@pytest.mark.parametrize("chunk_size", some([2, 3, None], 1))
@pytest.mark.parametrize("name", some(WHOLE_DRAWS, 3))
def test_different_indices_draw_their_parts_of_what_the_whole_draws(name, chunk_size):
    draw, x = WHOLE_DRAWS[name], ja.zeros(4, 3, 5)
    by_index = ja.func.vmap(draw, randomness="different", chunk_size=chunk_size)
    assert drawn_from_seed_5(by_index, x) == drawn_from_seed_5(draw, x)


@pytest.mark.slow
def test_compiled_maps_in_maps_draw_as_eagerly():
    def rows(x):
        inner = ja.func.vmap(lambda t: t + ja.rand(()), randomness="different")
        return ja.func.vmap(inner, randomness="different")(x)

    x = ja.zeros(2, 3)
    assert drawn_from_seed_5(ja.compile(rows), x) == drawn_from_seed_5(rows, x) == drawn_from_seed_5(ja.rand_like, x)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "draw",
    some(
        [
            lambda t: ja.randperm(20),
            lambda t: ja.cond(t.sum() < 1, lambda u: u + ja.rand(5), lambda u: u, (t,)),
            lambda t: ja.poisson(t + 3),
            lambda t: ja.multinomial(t + 1, 4),
            lambda t: ja.utils.checkpoint.checkpoint(lambda u: ja.nn.functional.dropout(u + 1), t),
        ],
        2,
    ),
)
def test_different_indices_draw_different_numbers_of_every_kind(draw):
    ja.manual_seed(0)
    first, *others = ja.func.vmap(draw, randomness="different")(ja.zeros(4, 5)).tolist()
    assert all(first != other for other in others)


@pytest.mark.parametrize("way", BOTH)
def test_views_of_what_is_the_same_for_all_are_views_of_it(way):
    m = importlib.import_module("torch") if way == "torch" else ja
    shared, x = m.arange(5.0)[None], m.zeros(4, 3, 5)
    wide = m.func.vmap(lambda a, b: a.expand_as(b), in_dims=(None, 0))(shared, x)
    row = m.func.vmap(lambda a, b: a[0], in_dims=(None, 0))(shared, x)
    shared.mul_(2)
    assert wide[3, 2].tolist() == row[1].tolist() == [0, 2, 4, 6, 8]


def test_numbers_whose_dims_change_places_are_the_argument_itself():
    x = ja.zeros(3)
    assert ja.func.vmap(lambda t: t.transpose(0, 0))(x) is x


FEW = [("different", True, True), ("same", False, True)]
OTHERS = sorted({*itertools.product(("different", "same"), (False, True), (False, True))} - {*FEW})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("randomness", "is_compiled", "requires_grad"),
    [*FEW, *(pytest.param(*way, marks=pytest.mark.slow) for way in OTHERS)],
)
def test_chunks_draw_from_every_generator_what_all_indices_draw(randomness, is_compiled, requires_grad):
    def draws(chunk_size):
        ja.manual_seed(1)
        own, other = ja.Generator().manual_seed(3), ja.Generator().manual_seed(4)

        def one(t):
            return t + ja.rand(3, generator=own) + 10 * ja.rand(3) + 100 * ja.rand(3, generator=other)

        def fn(x):
            before = ja.rand(3, generator=own)
            mapped = ja.func.vmap(one, randomness=randomness, chunk_size=chunk_size)(x)
            return before, mapped, ja.rand(3, generator=own)

        x = ja.zeros(5, 3, requires_grad=requires_grad)
        drawn = (ja.compile(fn) if is_compiled else fn)(x)
        states = [own.get_state(), other.get_state(), ja.get_rng_state()]
        return [t.detach().numpy() for t in drawn], states

    (ours, states), (wanted, wanted_states) = draws(2), draws(None)
    assert states == wanted_states
    for a, b in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.few(3)
@pytest.mark.parametrize("way", ["ours", pytest.param("torch", marks=pytest.mark.oracle)])
@pytest.mark.parametrize("is_differentiated", [False, True])
def test_python_has_no_value_of_an_index(is_differentiated, way):
    m = pytest.importorskip("torch") if way == "torch" else ja
    reads = {
        r"calling .item\(\) on a Tensor": lambda x: x.sin().item() * x,
        "control flow": lambda x: x if x > 0 else -x,
        r"dynamic shape. Attempted to vmap over aten::(where|nonzero)\.": lambda x: m.where(x)[0] * x,
        r"dynamic shape. Attempted to vmap over aten::nonzero\.": lambda x: m.nonzero(x) * x,
    }
    for words, read in reads.items():
        with pytest.raises(RuntimeError, match=rf"vmap: (?s:.*){words}"):
            m.func.vmap(m.func.grad(read) if is_differentiated else read)(m.ones(3))
    with pytest.raises(ValueError, match="at least one Tensor"):
        m.func.vmap(lambda x: x, (None,))(1)
