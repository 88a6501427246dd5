"""The passes on lowered graphs change nothing but speed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from benchmarks.random_convolutions import convolution_program
from benchmarks.random_matrices import matrix_program
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu.kernels.hold import hold
from jaxaot.backend.cpu.kernels.lowered_cse import lowered_cse
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.options import keeping_barriers
from jaxaot.backend.cpu.pipeline import SUBPROGRAMS
from jaxaot.backend.cpu.products.flatten_dots import flatten_dots
from jaxaot.backend.cpu.products.fold_transposes import fold_transposes
from jaxaot.backend.cpu.products.order_operands import order_operands
from jaxaot.errors import CompilerError
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.passes.pipeline import joint_passes, lowered_passes, run_passes
from tests.declared import EVERY, IN_ORDER
from tests.drawn import drawn
from tests.seeds import seeds, some


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args), also_custom=True)


def ones(shape):
    return jax.device_put(np.ones(shape, np.float32))  # which compiles nothing


def names(closed):
    return [eqn.primitive.name for eqn in closed.jaxpr.eqns]


def dots(closed):
    return [eqn for eqn in closed.jaxpr.eqns if eqn.primitive.name == "dot_general"]


def run(closed, args):
    # without barriers, equal elements that are computed again may differ, and another one be the largest
    return jax.jit(jaxpr_as_fun(closed), compiler_options=keeping_barriers())(*args)


def types(closed):
    return [(aval.shape, aval.dtype, aval.weak_type) for aval in closed.out_avals]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", some(EVERY, 3))
@pytest.mark.parametrize("seed", seeds(2, 1))
def test_gradients_are_kept_by_each(name, seed, everything_is_large):
    assert_kept(name, seed)


@pytest.mark.parametrize("seed", seeds(6, 1))
def test_gradients_are_kept_by_all(seed, everything_is_large):
    assert_kept("all", seed)


def assert_kept(name, seed):
    fn, args = matrix_program(seed)
    closed = graph_of(fn, *args)
    passed = run_passes(closed, EVERY if name == "all" else [name], check=True)
    assert types(passed) == types(closed)
    for got, want in zip(run(passed, args), run(closed, args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * float(np.abs(want).max()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"),
    [("all", 0), *(pytest.param(name, i, marks=pytest.mark.slow) for name, i in (("hold", 0), ("all", 1), ("all", 2)))],
)
def test_gradients_of_convolutions_are_kept(name, seed, everything_is_large):
    fn, args = convolution_program(seed)
    closed = graph_of(fn, *args)
    passed = run_passes(closed, EVERY if name == "all" else [name], check=True)
    assert types(passed) == types(closed)
    assert str(passed) != str(closed)
    for got, want in zip(run(passed, args), run(closed, args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * float(np.abs(want).max()))


@pytest.mark.slow
def test_half_precision_stays_what_it_is(everything_is_large):
    fn, args = matrix_program(3, jnp.bfloat16)
    closed = graph_of(fn, *args)
    passed = run_passes(closed, EVERY, check=True)
    assert types(passed) == types(closed)
    for got, want in zip(run(passed, args), run(closed, args), strict=True):
        np.testing.assert_allclose(np.float32(got), np.float32(want), rtol=0.1, atol=0.1 * float(np.abs(want).max()))


def test_transposes_of_operands_and_results_are_folded():
    def fn(x, a, y):
        return x @ a.T, (y.T @ x).T

    closed = graph_of(fn, ones((2, 3)), ones((4, 3)), ones((2, 5)))
    assert names(closed).count("transpose") == 3
    assert names(fold_transposes(closed)) == ["dot_general", "dot_general"]


def test_a_transpose_stays_where_its_source_is_read_too():
    def fn(x, y):
        product = x @ y
        return product, product.T

    closed = graph_of(fn, ones((2, 3)), ones((3, 4)))
    assert names(fold_transposes(closed)) == ["dot_general", "transpose"]


def test_the_precision_of_each_operand_goes_with_it():
    def fn(x, y):
        return jax.lax.dot(x, y, precision=("high", "default")).T

    (dot,) = dots(fold_transposes(graph_of(fn, ones((2, 3)), ones((3, 4)))))
    assert dot.params["precision"] == (jax.lax.Precision.DEFAULT, jax.lax.Precision.HIGH)


def test_products_become_products_of_plain_matrices():
    closed = graph_of(
        lambda x, w, g: (x @ w, jnp.einsum("btd,bte->de", x, g)), *map(ones, ((2, 3, 4), (4, 5), (2, 3, 6)))
    )
    forward, gradient = dots(flatten_dots(closed))
    assert [atom.aval.shape for atom in (*forward.invars, *forward.outvars)] == [(6, 4), (4, 5), (6, 5)]
    assert [atom.aval.shape for atom in (*gradient.invars, *gradient.outvars)] == [(6, 4), (6, 6), (4, 6)]
    check_graph(flatten_dots(closed))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("atb,ctd->abcd", ((2, 3, 4), (5, 3, 6))),
        ("bhtd,hdo->bto", ((2, 3, 5, 4), (3, 4, 6))),
        ("bhdt,btc->hdc", ((2, 3, 4, 5), (2, 5, 6))),
        ("sbt,tcs->bc", ((2, 3, 4), (4, 5, 2))),
        ("sbt,ctds->bcd", ((2, 3, 4), (5, 4, 6, 2))),
        ("bst,tcs->bc", ((3, 2, 4), (4, 5, 2))),
    ],
)
def test_axes_that_do_not_lie_side_by_side_are_moved_there(equation, shapes):
    graph = graph_of(lambda x, y: jnp.einsum(equation, x, y), *map(ones, shapes))
    (dot,) = dots(flatten_dots(graph))
    assert [atom.aval.ndim for atom in (*dot.invars, *dot.outvars)] == [2, 2, 2]
    check_graph(flatten_dots(graph))
    values = [drawn(i, *shape) for i, shape in enumerate(shapes)]
    np.testing.assert_allclose(run(flatten_dots(graph), values)[0], run(graph, values)[0], rtol=1e-5, atol=1e-5)


def test_what_several_products_read_is_moved_once():
    def fn(y, w, x):  # heads apart from positions, as attention returns them
        return jnp.einsum("bhtd,hdo->bto", y, w), jnp.einsum("bhtd,bto->hdo", y, x)

    graph = flatten_dots(graph_of(fn, *map(ones, ((2, 3, 5, 4), (3, 4, 6), (2, 5, 6)))))
    assert names(graph).count("transpose") == 1
    assert [dot.invars[0].aval.shape for dot in dots(graph)] == [(10, 12), (10, 12)]


def test_rows_are_copied_whole_where_no_product_wants_another_order():
    def fn(w, x):  # of images, whose channels are not last
        return jnp.tensordot(w, x, ((1,), (1,)))

    graph = flatten_dots(graph_of(fn, ones((6, 3)), ones((2, 3, 4, 5))))
    (moved,) = (eqn for eqn in graph.eqns if eqn.primitive.name == "transpose")
    assert moved.params["permutation"] == (1, 0, 2, 3)


def test_empty_products_are_left_alone():
    closed = graph_of(lambda x, w: x @ w, ones((2, 0, 4)), ones((4, 5)))
    assert run(run_passes(closed, EVERY, check=True), [ones((2, 0, 4)), ones((4, 5))])[0].shape == (
        2,
        0,
        5,
    )


def test_gradients_of_weights_have_fewer_rows_than_columns():
    def ordered(*shapes):
        closed = graph_of(
            lambda x, g: jnp.einsum("...kr,...kc->...rc", x, g),
            *map(ones, shapes),
        )
        return order_operands(fold_transposes(closed))

    thin = ordered((32, 8), (32, 4))
    assert dots(thin)[0].outvars[0].aval.shape == (4, 8)
    assert names(thin) == ["dot_general", "optimization_barrier", "transpose"]
    assert names(ordered((32, 80), (32, machine().max_thin_columns + 1))) == ["dot_general", "transpose"]
    assert names(ordered((5, 32, 8), (5, 32, 4))) == ["dot_general", "transpose"]
    wide = fold_transposes(graph_of(lambda x, g: x.T @ g, ones((32, 4)), ones((32, 8))))
    assert names(order_operands(wide)) == ["dot_general"]


ATTENDED = {  # axes by letters, and whether operands are swapped
    "what is weighed first, as flax writes it": ("bkhd,bhqk", "bh", True),
    "the weights first": ("bhqk,bkhd", "bh", False),
    "the gradient of keys": ("bhqk,bqhd", "bh", True),
    "the gradient of values": ("bhdq,bhqk", "bh", False),
    "scores": ("bqhd,bkhd", "bh", False),
    "two axes summed up": ("bgqhk,bgqd", "b", True),
    "two axes summed up, in another order": ("bgqhk,bqgd", "b", True),
    "one matrix": ("qk,dq", "", False),
}


@pytest.mark.parametrize("name", some(ATTENDED, 4))
def test_of_several_matrices_the_large_one_is_not_copied(name):
    """A GPT of flax linen took a sixteenth longer with copies of the weights of its attention."""
    spec, batch, is_swapped = ATTENDED[name]
    parts = spec.split(",")
    sizes = {"b": 2, "h": 3, "q": 16, "k": 18, "d": 4, "g": 5}
    args = [drawn(i, *(sizes[c] for c in part)) for i, part in enumerate(parts)]
    summed = [c for c in parts[0] if c in parts[1] and c not in batch]
    numbers = tuple(tuple(tuple(part.index(c) for c in letters) for part in parts) for letters in (summed, batch))
    closed = graph_of(lambda x, y: jax.lax.dot_general(x, y, numbers), *args)
    passed = order_operands(closed)
    check_graph(passed)
    (dot,) = dots(passed)
    assert (dot.invars[0] is passed.jaxpr.invars[1]) == is_swapped
    np.testing.assert_allclose(run(passed, args)[0], run(closed, args)[0], rtol=1e-5, atol=1e-5)


def test_a_vector_times_arrays_of_three_axes_is_no_product_of_matrices():
    """Clipped gradients of examples, summed: their result has two axes, both of one operand."""
    for spec, shapes in (("n,nrc->rc", [(8,), (8, 6, 4)]), ("nrc,n->rc", [(8, 6, 4), (8,)])):
        closed = graph_of(
            lambda x, g, spec=spec: jnp.einsum(spec, x, g),
            *map(ones, shapes),
        )
        passed = order_operands(fold_transposes(closed))
        check_graph(passed)
        assert names(passed) == names(closed)


def held_by(fn, *args):
    """Returns what the barriers of a graph are behind, in which there is a product as well."""
    two = ones((2, 2))
    closed = hold(graph_of(lambda *args: (fn(*args), two @ two), *args))
    check_graph(closed)
    producer = {var: eqn.primitive.name for eqn in closed.jaxpr.eqns for var in eqn.outvars}
    barriers = (eqn for eqn in closed.jaxpr.eqns if eqn.primitive.name == "optimization_barrier")
    return [producer[atom] for eqn in barriers for atom in eqn.invars]


def test_what_several_read_is_held(everything_is_large):
    x = ones(3)

    def of(fn, *readers):
        return held_by(lambda a, b: [read(value) for value in [fn(a, b)] for read in readers], x, x)

    total, wave, double, half = jnp.sum, jnp.sin, lambda c: c * 2.0, lambda c: c * 0.5
    assert of(lambda a, b: a + b, total, jnp.max, double, half) == ["add"]
    assert of(lambda a, b: a + b, total, wave) == []  # two additions are less than an array more
    assert of(lambda a, b: a + b, total, wave, double) == []  # and three not enough more for a barrier
    assert of(lambda a, b: a, total, double) == []
    assert of(lambda a, b: a + b, double) == []
    assert of(lambda a, b: a * (a * b + a) - b * 3.0 + a * 2.0 - b * 4.0, total, double) == ["sub"]  # of nine it is


def test_what_one_other_equation_reads_is_not_held(everything_is_large):
    """A barrier would only keep XLA from simplifying: it took a tenth longer for a Cholesky factor and its gradient."""
    factor = lambda a, b: jax.lax.linalg.cholesky(a + b, symmetrize_input=False)
    assert held_by(factor, jnp.eye(3), jnp.eye(3)) == []


def test_a_graph_of_few_kernels_is_left_alone(everything_is_large):
    def chain(x, y):
        shared = jnp.sin(x) * y
        return shared * x, shared * y, shared + 1.0

    def loss(x, y):
        return jax.grad(lambda x, y: ((x - y) ** 2).mean() ** 2, (0, 1))(x, y)

    for fn in (chain, loss):
        closed = graph_of(fn, ones((8, 8)), ones((8, 8)))
        assert hold(closed) is closed


def test_what_one_kernel_reads_twice_is_not_held(everything_is_large):
    def gelu_gradient(x, g):
        inner = jnp.tanh(0.8 * (x + 0.04 * x**3))
        slope = g * x * 0.5 * (1 - inner)
        return (slope + slope * inner) * (0.8 + 0.1 * x * x) + 0.5 * g * (1 + inner)

    assert held_by(gelu_gradient, ones(3), ones(3)) == []


def test_what_a_product_reads_is_in_memory_for_others_too(everything_is_large):
    def fn(a, b, w):
        c = a * 2.0 + b * 3.0
        return c @ w, jnp.sin(c)

    assert held_by(fn, ones((3, 3)), ones((3, 3)), ones((3, 3))) == ["add"]


@pytest.mark.parametrize("name", ["gather", "dynamic_slice"])
def test_what_is_looked_up_is_not_looked_up_by_each_reader(name, everything_is_large):
    """The embeddings of tokens begin the residual stream: XLA would look them up, and check each, in every reader."""

    def of_sum(rows, x):
        c = rows + x
        return c.sum(), jnp.sin(c), c * 2.0

    def fn(table, i, x):
        return of_sum(table[i] if name == "gather" else jax.lax.dynamic_slice(table, (i[0], 0), (2, 3)), x)

    assert held_by(fn, ones((40, 3)), jnp.arange(2), ones((2, 3))) == ["add"]
    assert held_by(of_sum, ones((2, 3)), ones((2, 3))) == []


def test_a_number_may_be_looked_up(everything_is_large):
    fn = lambda x, w: (x @ w + jax.lax.dynamic_slice(np.float32(2), (), ()), jax.lax.dynamic_slice(x[0, 0], (), ()))
    assert held_by(fn, ones((3, 3)), ones((3, 3))) == []


def test_products_are_held_where_their_results_are_reshaped(everything_is_large):
    a = ones((4, 6))
    assert held_by(lambda a, b: (a @ b).reshape(2, 8) * 2.0, a, a.T) == ["dot_general"]
    assert held_by(lambda a, b: (a @ b) * 2.0, a, a.T) == []


def test_small_values_are_not_held():
    closed = graph_of(lambda a, b: ((a + b).sum(), (a + b) * 2.0, a @ b), ones(3), ones(3))
    assert names(hold(closed)) == names(closed)


def test_no_chain_is_computed_twice(everything_is_large):
    """XLA would copy the residual stream into each of its readers: eight layers are 8 + 7 + … additions."""

    def stream(x, *ws):
        for w in ws:
            x = x + jnp.tanh((x - x.mean(-1, keepdims=True)) @ w)
        return x.sum()

    args = (ones((512, 64)), *(jnp.eye(64) for _ in range(8)))
    gradient = jax.grad(stream, tuple(range(1, 9)))

    def n_additions(fn):
        return fn.lower(*args).compile().as_text().count(" add(")

    with ja.config(passes=("hold",)):
        held = n_additions(ja.jit(gradient))
    plain = n_additions(jax.jit(gradient))
    assert held < 0.7 * plain


def test_effects_callbacks_and_custom_calls_stay_in_order(everything_is_large):
    seen = []

    def fn(x, w):
        y = x @ w
        jax.debug.callback(lambda v: seen.append(("first", float(v))), y.sum(), ordered=True)
        z = jnp.linalg.cholesky(y.T @ y + 3.0 * jnp.eye(4)) + y.T.sum()
        jax.debug.callback(lambda v: seen.append(("second", float(v))), z.sum(), ordered=True)
        return z, jax.pure_callback(lambda v: v * 2, jax.ShapeDtypeStruct((4, 4), jnp.float32), z)

    args = ones((4, 4)), jnp.eye(4)
    closed = graph_of(fn, *args)
    passed = run_passes(closed, EVERY, check=True)
    effects = [name for name in names(closed) if "callback" in name or name == "cholesky"]
    assert [name for name in names(passed) if name in effects] == effects
    np.testing.assert_allclose(run(passed, args)[1], run(closed, args)[1], rtol=1e-5)
    jax.effects_barrier()
    assert [name for name, _ in seen] == ["first", "second"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("poison", some([np.nan, np.inf, -np.inf], 1))
def test_nan_and_infinities_propagate(poison, everything_is_large):
    fn, args = matrix_program(5)
    args = args[0].at[0, 1, 2].set(poison), args[1]
    closed = graph_of(fn, *args)
    passed = run_passes(closed, EVERY, check=True)
    for got, want in zip(run(passed, args), run(closed, args), strict=True):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        np.testing.assert_array_equal(np.isinf(got), np.isinf(want))


def test_passes_are_switched_by_name():
    assert lowered_passes(None, "cpu", blocks=True) == IN_ORDER
    assert lowered_passes(None, "gpu") == lowered_passes(None, "tpu") == ()
    assert lowered_passes((SUBPROGRAMS, "cse", "flatten_dots"), "gpu") == ("flatten_dots", SUBPROGRAMS)
    assert joint_passes(None) == ("cse", "dce", "drop_zero_sums") and joint_passes(("dce", "hold", SUBPROGRAMS)) == (
        "dce",
    )
    both = ("drop_zero_sums", "lowered_cse")
    assert joint_passes(both) == ("drop_zero_sums",) and lowered_passes(both, "cpu") == both[::-1]
    x, w = ones((512, 128)), ones((64, 128))
    with ja.config(passes=("cse",)):
        assert "transpose" in ja.jit(lambda x, w: x @ w.T).lower(x, w).as_text()
    with ja.config(passes=("fold_transposes",)):
        assert "transpose" not in ja.jit(lambda x, w: x @ w.T).lower(x, w).as_text()


def test_a_pass_that_does_not_exist():
    with (
        ja.config(passes=("faster",)),
        pytest.raises(CompilerError, match=r"no pass `faster`\. The passes are: cse"),
    ):
        ja.jit(lambda x: x + 1.0)(ones(3))
    with ja.config(passes=("faster",)), pytest.raises(CompilerError, match=r"fold_transposes, .*subprograms"):
        ja.compile(lambda x: x + 1.0)(ja.ones(3))


def test_what_only_derivatives_look_at_is_dropped():
    def fn(a):
        return jnp.sin(a), jnp.sin(jax.lax.stop_gradient(a)), jax.lax.stop_gradient(a)

    shared = lowered_cse(graph_of(fn, ones(3)))
    assert names(shared) == ["sin", "stop_gradient"]
    first, second, third = run(shared, [ones(3)])
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(third, ones(3))
