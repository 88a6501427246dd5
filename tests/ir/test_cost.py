"""FLOPs and bytes of equations are those that XLA counts, and exact at any size."""

import random

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from benchmarks.hlo_flops import hlo_flops
from jaxaot.errors import ArgumentError
from jaxaot.ir.cost import eqn_bytes, eqn_flops, graph_flops
from jaxaot.ir.primitives import KINDS, Kind
from jaxaot.ir.rewrite import inline
from jaxaot.ir.roofline import TARGETS, Target, again_picoseconds, eqn_picoseconds, find_target
from jaxaot.passes.dce import dce
from tests.cases import each

TRANSCENDENTAL = 10
"""What one counts as."""


def typed(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def graph(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args)).jaxpr


def xla(fn, *args):
    """Returns FLOPs, transcendental functions and bytes as XLA counts them before it optimizes."""
    found = jax.jit(fn).lower(*args).cost_analysis()
    return found.get("flops", 0), found.get("transcendentals", 0), found.get("bytes accessed", 0)


X, POSITIVE, INTS = typed(64, 128), typed(7, 9), typed(64, 128, dtype=jnp.int32)

POINTWISE = {
    "abs": lax.abs, "neg": lax.neg, "sign": lax.sign, "floor": lax.floor, "ceil": lax.ceil, "round": lax.round,
    "is_finite": lax.is_finite, "square": lax.square, "add": lambda x: lax.add(x, x), "sub": lambda x: lax.sub(x, x),
    "mul": lambda x: lax.mul(x, x), "div": lambda x: lax.div(x, x), "rem": lambda x: lax.rem(x, x),
    "max": lambda x: lax.max(x, x), "min": lambda x: lax.min(x, x), "gt": lambda x: lax.gt(x, x),
    "eq": lambda x: lax.eq(x, x), "integer_pow": lambda x: lax.integer_pow(x, 5),
    "reciprocal": lambda x: lax.integer_pow(x, -1), "select_n": lambda x: lax.select_n(x > 1, x, -x),
}  # fmt: skip
TRANSCENDENTALS = {
    "exp": lax.exp, "log": lax.log, "tanh": lax.tanh, "sin": lax.sin, "cos": lax.cos, "expm1": lax.expm1,
    "log1p": lax.log1p, "erf": lax.erf, "cbrt": lax.cbrt, "tan": lax.tan, "exp2": lax.exp2,
    "atan2": lambda x: lax.atan2(x, x), "pow": lambda x: lax.pow(x, x),
}  # fmt: skip
MOVES = {
    "reshape": lambda x: lax.reshape(x, (x.size,)), "rev": lambda x: lax.rev(x, (0,)),
    "broadcast_in_dim": lambda x: lax.broadcast(x, (3,)), "slice": lambda x: x[:5],
    "concatenate": lambda x: lax.concatenate([x, x], 0), "iota": lambda x: lax.iota(jnp.int32, 100),
    "pad": lambda x: lax.pad(x, 0.0, ((1, 1, 0), (0, 0, 0))),
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (0, 0), (3, 4)),
    "dynamic_update_slice": lambda x: lax.dynamic_update_slice(x, x[:3], (0, 0)),
    "copy": lambda x: lax.copy_p.bind(x),
}  # fmt: skip


@each("name", POINTWISE)
def test_pointwise(name):
    found = graph_flops(graph(POINTWISE[name], X))
    assert found == xla(POINTWISE[name], X)[0]


@each("name", ["and", "or", "xor", "shift_left", "population_count", "clz", "not"])
def test_of_integers(name):
    fn = {
        "and": lambda x: x & x, "or": lambda x: x | x, "xor": lambda x: x ^ (x + 1), "not": lambda x: ~x,
        "shift_left": lambda x: lax.shift_left(x, x), "population_count": lax.population_count, "clz": lax.clz,
    }[name]  # fmt: skip
    assert graph_flops(graph(fn, INTS)) == xla(fn, INTS)[0]


@each("name", TRANSCENDENTALS)
def test_transcendental(name):
    flops, transcendentals, _ = xla(TRANSCENDENTALS[name], X)
    found = graph_flops(graph(TRANSCENDENTALS[name], X))
    assert found == TRANSCENDENTAL * X.size
    assert transcendentals == X.size or flops > X.size  # XLA has no operation for some, and writes them out


@each("name", MOVES)
def test_what_moves_elements_computes_nothing(name):
    assert graph_flops(graph(MOVES[name], X)) == 0 == xla(MOVES[name], X)[0]


@pytest.mark.parametrize(
    "fn", [jnp.sum, jnp.max, lambda x: jnp.sum(x, 0), lambda x: jnp.prod(x, 1), lambda x: x.min(1)]
)
def test_reductions(fn):
    assert graph_flops(graph(fn, X)) == pytest.approx(xla(fn, X)[0], rel=0.02)


@pytest.mark.parametrize("fn", [lax.sort, lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (3, 2), (2, 1), "VALID")])
def test_sorts_and_windows(fn):
    assert graph_flops(graph(fn, X)) == pytest.approx(xla(fn, X)[0], rel=0.1)


def test_gathers_and_scatters_move_what_they_address():
    table, places = typed(1000, 64), typed(10, dtype=jnp.int32)
    take = lambda x, i: jnp.take(x, i, axis=0, mode="clip")
    add = lambda x, i: x.at[i].add(1.0, mode="promise_in_bounds")
    for fn in (take, add):
        whole = graph(fn, table, places)
        chosen = [eqn for eqn in whole.eqns if eqn.primitive.name.startswith(("gather", "scatter"))]
        assert sum(map(eqn_bytes, chosen)) == pytest.approx(xla(fn, table, places)[2], rel=0.5)
    assert graph_flops(graph(add, table, places)) == pytest.approx(10 * 64, rel=0.1)


@each("seed", range(30))
def test_random_dots_are_as_xla_counts(seed):
    choose = random.Random(seed)
    batch = [choose.randint(1, 4) for _ in range(choose.randint(0, 2))]
    contracted = [choose.randint(1, 9) for _ in range(choose.randint(0, 2))]
    left = [choose.randint(1, 9) for _ in range(choose.randint(0, 2))]
    right = [choose.randint(1, 9) for _ in range(choose.randint(0, 2))]
    places = tuple(range(len(batch)))
    inner = tuple(range(len(batch), len(batch) + len(contracted)))
    fn = lambda x, y: lax.dot_general(x, y, ((inner, inner), (places, places)))
    args = typed(*batch, *contracted, *left), typed(*batch, *contracted, *right)
    assert graph_flops(graph(fn, *args)) == pytest.approx(xla(fn, *args)[0], rel=0.01)


@pytest.mark.slow
@each("seed", range(60))
def test_random_convolutions_are_as_xla_counts(seed):
    choose = random.Random(seed)
    n_axes = choose.choice([1, 2, 2, 3])
    groups = choose.choice([1, 1, 2, 3])
    batch_groups = choose.choice([1, 2]) if groups == 1 else 1
    spatial = [choose.randint(3, 12) for _ in range(n_axes)]
    window = [choose.randint(1, 4) for _ in range(n_axes)]
    options = {
        "window_strides": [choose.randint(1, 3) for _ in range(n_axes)],
        "padding": [(choose.randint(0, 4), choose.randint(0, 4)) for _ in range(n_axes)],
        "lhs_dilation": [choose.choice([1, 1, 2, 3]) for _ in range(n_axes)],
        "rhs_dilation": [choose.choice([1, 1, 2]) for _ in range(n_axes)],
        "feature_group_count": groups,
        "batch_group_count": batch_groups,
    }
    image = typed(2 * batch_groups, 2 * groups, *spatial)
    kernel = typed(6 * groups * batch_groups, 2, *window)
    fn = lambda x, k: lax.conv_general_dilated(x, k, **options)
    whole = graph(fn, image, kernel)
    if not whole.outvars[0].aval.size:
        assert graph_flops(whole) == 0
        return
    assert graph_flops(whole) == pytest.approx(xla(fn, image, kernel)[0], rel=0.01)


def test_gradients_of_convolutions():
    fn = lambda x, k: lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")).sum()
    args = typed(4, 15, 15, 8), typed(3, 3, 8, 16)
    for argnum in (0, 1):
        backward = jax.grad(fn, argnum)
        whole = dce(inline(jax.make_jaxpr(backward)(*args))).jaxpr
        convolved = [eqn for eqn in whole.eqns if eqn.primitive.name == "conv_general_dilated"]
        assert sum(map(eqn_flops, convolved)) == pytest.approx(xla(backward, *args)[0], rel=0.01)


def test_ragged_dots():
    m, k, n, groups = 32, 8, 6, 4
    fn = lambda x, w, sizes: lax.ragged_dot(x, w, sizes)
    args = typed(m, k), typed(groups, k, n), typed(groups, dtype=jnp.int32)
    assert graph_flops(graph(fn, *args)) == 2 * m * k * n
    numbers = lax.RaggedDotDimensionNumbers(
        (((0,), (0,)), ((), ())), lhs_ragged_dimensions=[0], rhs_group_dimensions=[]
    )
    cut = lambda x, y, sizes: lax.ragged_dot_general(x, y, sizes, numbers)
    whole = graph(cut, typed(m, k), typed(m, n), typed(groups, dtype=jnp.int32))
    assert graph_flops(whole) == 2 * m * k * n


def test_loops_count_as_often_as_they_run():
    body = lambda c, _: (c @ c, None)
    fn = lambda x: lax.scan(body, x, None, length=7)[0]
    assert graph_flops(graph(fn, typed(4, 4))) == 7 * 2 * 4**3
    both = lambda p, x: lax.cond(p, lambda x: x @ x, lambda x: x + x, x)
    assert graph_flops(graph(both, typed(dtype=jnp.bool_), typed(4, 4))) == 2 * 4**3 + graph_flops(
        graph(lambda p: lax.convert_element_type(p, jnp.int32), typed(dtype=jnp.bool_))
    )


def test_ffts_and_factorizations():
    assert graph_flops(graph(jnp.fft.fft, typed(64, 128, dtype=jnp.complex64))) == 5 * 64 * 128 * 7
    (cholesky,) = [e for e in graph(jnp.linalg.cholesky, typed(60, 60)).eqns if e.primitive.name == "cholesky"]
    assert eqn_flops(cholesky) == 60**3 // 3
    solve = lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True)
    assert graph_flops(graph(solve, typed(30, 30), typed(30, 5))) == 30 * 30 * 5


def test_counts_are_exact_beyond_64_bits():
    batch = 10**10
    dot = graph(lambda x, w: jnp.einsum("bsi,io->bso", x, w), typed(batch, 197, 768), typed(768, 3072))
    assert graph_flops(dot) == 2 * batch * 197 * 768 * 3072
    wide = graph(lambda x, y: x @ y, typed(10**8, 10**8), typed(10**8, 10**8))
    assert graph_flops(wide) == 2 * 10**24
    conv = lambda x, k: lax.conv_general_dilated(x, k, (16, 16), "VALID")
    assert graph_flops(graph(conv, typed(batch, 3, 224, 224), typed(768, 3, 16, 16))) == (
        2 * batch * 14 * 14 * 768 * 3 * 16 * 16
    )
    assert eqn_bytes(wide.eqns[0]) == 3 * 4 * 10**16
    assert eqn_picoseconds(wide.eqns[0], TARGETS["cpu"]) > 2**63


def test_each_matrix_primitive_has_a_count_of_its_own():
    from jaxaot.ir.cost import _COUNTS

    named = {name for name, kind in KINDS.items() if kind in (Kind.MATMUL, Kind.CONVOLUTION)}
    assert named - {"ragged_dot"} <= set(_COUNTS)


@pytest.mark.parametrize(("wrong", "words"), [({"flops": 0.0}, "flops=0.0"), ({"bandwidth": -1}, "bandwidth=-1")])
def test_a_target_needs_rates_above_zero(wrong, words):
    rates = {"flops": 1e12, "half_flops": 2e12, "vector_flops": 1e11, "bandwidth": 1e11}
    with pytest.raises(ArgumentError, match=words):
        Target("mine", **{**rates, **wrong})


def test_peaks_of_dtypes():
    (eqn,) = graph(
        lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32), *[typed(512, 512, dtype=jnp.int8)] * 2
    ).eqns
    plain = Target("mine", 1e12, 2e12, 1e11, 1e15)
    quick = Target("mine", 1e12, 2e12, 1e11, 1e15, peaks={"int8": 8e12})
    assert eqn_picoseconds(eqn, plain) == pytest.approx(4 * eqn_picoseconds(eqn, quick), rel=1e-3)
    assert hash(quick) == hash(plain) and quick != plain


def test_an_unknown_target_is_named():
    with pytest.raises(ArgumentError, match=r"no target 'h1000'.*h100.*ja\.estimate\.Target"):
        find_target("h1000")
    assert find_target("v5e") is TARGETS["v5e"]


def test_flops_of_a_compiled_program_count_the_rounds_of_loops():
    def turns(w, x):
        return jax.lax.scan(lambda c, _: (jnp.tanh(c @ w), None), x, length=5)[0]

    text = jax.jit(turns).lower(jnp.ones((32, 32)), jnp.ones((8, 32))).compile().as_text()
    assert hlo_flops(text) == 5 * 2 * 8 * 32 * 32


def test_padding_of_a_convolution_of_a_tpu_is_not_counted():
    text = """ENTRY %main (a: bf16[8,64,32], b: bf16[8,32,16]) -> bf16[8,64,16] {
  %a = bf16[8,64,32] parameter(0)
  %b = bf16[8,32,16] parameter(1)
  ROOT %c = bf16[8,64,16] convolution(%a, %b), window={size=8 stride=7 lhs_dilate=8}, dim_labels=0bf_0io->0bf
}"""
    assert hlo_flops(text) == 2 * 8 * 64 * 16 * 32


def test_what_is_computed_again_in_kernels_of_products_counts_by_its_arithmetic():
    x = jax.ShapeDtypeStruct((1024, 1024), "float32")
    tanh, product = jax.make_jaxpr(lambda x: jnp.tanh(x) @ x)(x).jaxpr.eqns
    for name in ("v5e", "h100"):
        assert again_picoseconds(tanh, TARGETS[name]) < again_picoseconds(product, TARGETS[name])
        assert again_picoseconds(tanh, TARGETS[name]) < eqn_picoseconds(tanh, TARGETS[name])
    assert again_picoseconds(tanh, TARGETS["cpu"]) == eqn_picoseconds(tanh, TARGETS["cpu"])
