"""Each rule: the program of a bucket computes what the exact program of each size computes, gradients too."""

import functools
import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import SingleDeviceSharding

from jaxaot.buckets.rules import ROWS, RULES
from jaxaot.buckets.writer import RefusedError
from jaxaot.ir.alignment import NotAlikeError
from tests.buckets.exact import At, Tried
from tests.seeds import some

BUCKET, REFERENCE, SIZES = 12, 9, (5, 11)
RNG = np.random.default_rng(0)
X = RNG.uniform(0.1, 0.9, (BUCKET, 6)).astype(np.float32)
NUMBERS = RNG.integers(-4, 9, (BUCKET, 6)).astype(np.int32)
K = jax.device_put(RNG.normal(size=(4, 6, 3)).astype(np.float32))
KEY = jax.random.key(3)


def rows(x):
    return x.shape[0]


UNARY = """
    abs acos asin asinh atan atanh cbrt ceil conj cos cosh erf erf_inv erfc exp exp2 expm1
    floor integer_pow is_finite log log1p logistic neg round rsqrt sign sin sinh sqrt square tan tanh
    reduce_precision real_imag acosh log2
"""
SPECIAL = {
    "integer_pow": lambda x: lax.integer_pow(x, 3),
    "reduce_precision": lambda x: lax.reduce_precision(x, 8, 10),
    "real_imag": lambda x: lax.real(lax.conj(lax.complex(x, x))) + lax.imag(lax.complex(x, x)),
    "conj": lambda x: lax.conj(x),
    "acosh": lambda x: lax.acosh(x + 1),
    "log2": lambda x: jnp.log2(x),
}
ELEMENTS = {name: SPECIAL.get(name) or getattr(lax, name) for name in UNARY.split()}
ELEMENTS |= {
    "binary": lambda x: lax.atan2(x, x[::-1]) + lax.pow(x, x) - lax.max(x, x * 0.5) * lax.min(x, x[::-1]) / (x + 1),
    "nextafter": lambda x: lax.nextafter(lax.stop_gradient(x), lax.stop_gradient(x[::-1])),
    "rem": lambda x: lax.rem(x, x[::-1] + 0.5) + lax.clamp(0.3, x, 0.6) + jnp.copysign(x, x - 0.5),
    "select": lambda x: jnp.where((x < 0.5) | (x >= 0.7) & ~(x <= 0.6) ^ (x == 0.3), x, 2 * x) + (x != 0.2) * (x > 0.3),
    "copy": lambda x: jnp.array(x, copy=True),
}
FUNCTIONS = {
    "igamma": lambda x: lax.igamma(x, lax.stop_gradient(x)) + lax.igammac(x, x * 2),
    "beta": lambda x: lax.betainc(lax.stop_gradient(x), lax.stop_gradient(x), x),
    "gamma": lambda x: lax.lgamma(x) + lax.digamma(x) + lax.polygamma(jnp.float32(1), x),
    "zeta": lambda x: lax.zeta(jnp.float32(2.5), lax.stop_gradient(x * x + 1)),
    "bessel": lambda x: lax.bessel_i0e(x) + lax.bessel_i1e(x),
}
INTEGERS = {
    "bits": lambda i: (i & 3) | (i ^ 5) + ~i + lax.population_count(i) + lax.clz(i),
    "shifts": lambda i: (i << 1) + (i >> 2) + lax.shift_right_logical(i, jnp.full_like(i, 1)) + lax.rem(i, i * 0 + 3),
    "cast": lambda i: lax.bitcast_convert_type(i.astype(jnp.float32), jnp.int32) + lax.sign(i) + abs(i),
    "orders": lambda i: (jnp.sort(i, 0), jnp.argsort(i, 0), jnp.argmax(i, 0), jnp.argmin(i, 0), lax.top_k(i.T, 2)),
    "reductions": lambda i: (i.max(0), i.min(0), i.sum(0), i.prod(0), (i > 0).any(0), (i > -3).all(0)),
    "bitwise": lambda i: (
        lax.reduce_and(i, (0,)),
        lax.reduce_or(i, (0,)),
        lax.reduce_xor(i, (0,)),
        jnp.sort(i > 2, 0),
        lax.reduce_or(i > 3, (0,)),
    ),
    "unsigned": lambda i: (i.astype(jnp.uint8).max(0), i.astype(jnp.uint32).min(0), jnp.sort(i.astype(jnp.uint32), 0)),
    "counts": lambda i: jax.ops.segment_sum(jnp.ones(rows(i)), i[:, 0], 8),
}
REDUCTIONS = {
    "sums": lambda x: (x.sum(), x.mean(0), x.var(0), x.std(), jnp.linalg.norm(x), jax.nn.logsumexp(x, 0)),
    "products": lambda x: (x.max(0), x.min(0), jnp.ptp(x, 0), jnp.median(x, 0), jnp.prod(lax.stop_gradient(x), 0)),
    "softmax": lambda x: jax.nn.softmax(x, 0) @ x.T,
    "cumulative": lambda x: (
        jnp.cumsum(x, 0),
        lax.cumsum(x, 0, reverse=True),
        lax.stop_gradient(lax.cumprod(x, 0, reverse=True)),
        lax.stop_gradient(lax.cummax(x, 0, reverse=True) + lax.cummin(x, 0)),
        lax.stop_gradient(lax.cumlogsumexp(x, 0, reverse=True)),
    ),
    "orders": lambda x: (
        jnp.sort(x, 0),
        jnp.sort(x, 0, descending=True),
        lax.top_k(x.T, 3)[0],
        lax.top_k(x.T, rows(x) // 2 + 1)[0],
        x[jnp.argsort(x[:, 0])],
    ),
    "places": lambda x: lax.stop_gradient((jnp.argmax(x, 0) + jnp.argmin(x, 0)).astype(jnp.float32)),
    "windows": lambda x: (
        lax.reduce_window(x, 0.0, lax.add, (3, 1), (1, 1), "VALID"),
        lax.reduce_window(x, 0.0, lax.add, (3, 1), (2, 1), ((1, 1), (0, 0))),
        lax.reduce_window(x, -jnp.inf, lax.max, (2, 1), (1, 1), "SAME"),
        lax.reduce_window(x, jnp.inf, lax.min, (2, 1), (2, 1), "VALID"),
        lax.reduce_window(x, -jnp.inf, lax.max, (3, 2), (2, 1), ((1, 2), (0, 0))),
    ),
    "pool rows": lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3), (1, 3), "VALID"),
    "merged": lambda x: (x[:, None, :] * x[None, :, :]).reshape(-1, 6).cumsum(0)[-1],
}
SHAPES = {
    "ends": lambda x: (x[-1], x[:-1], x[1:] * x[:-1], x[2:-1], x[-3:], x[::-1], x[-1:0:-1]),
    "joined": lambda x: (jnp.concatenate([x, x[:2], x * 2]), jnp.stack([x, x]), jnp.roll(x, 2, 0), jnp.tile(x, (2, 1))),
    "apart": lambda x: jnp.unstack(jnp.stack([x, 2 * x], 1), axis=1),
    "margins": lambda x: (
        jnp.pad(x, ((2, 3), (0, 0)), constant_values=1.0),
        jnp.pad(x, ((0, 0), (1, 1))),
        lax.pad(x, 0.5, ((1, 2, 1), (0, 0, 0))),
        lax.pad(x, x[0, 0], ((0, 2, 0), (0, 0, 0))),
        jnp.pad(x, ((0, BUCKET + 1 - rows(x)), (0, 0))),
        jnp.pad(x, ((BUCKET + 1 - rows(x), 0), (0, 0))),
    ),
    "merged and split": lambda x: (
        (x.reshape(-1)[:, None] * jnp.ones((1, 2))).reshape(-1, 6, 2),
        (x[:, None] * x).reshape(-1, 6).reshape(rows(x), -1, 6).sum(0),
        x.T.reshape(-1) * jnp.arange(6 * rows(x)),
        x.T.reshape(-1).reshape(6, -1),
    ),
    "transposed": lambda x: (x.T, jnp.swapaxes(x[:, None], 0, 2), jnp.expand_dims(x, 1).squeeze(1)),
    "counted": lambda x: jnp.arange(rows(x))[:, None] * x / rows(x) + jnp.eye(rows(x), 6),
    "table": lambda x: np.tril(np.ones((rows(x), rows(x)), np.float32)) @ x,
    "rows of a table": lambda x: jnp.arange(100.0)[: rows(x)] + x[:, 0],
    "windows": lambda x: (
        lax.dynamic_slice(x, (2, 1), (3, 4)),
        lax.dynamic_slice(x, (jnp.int32(90), 1), (3, 4)),
        lax.dynamic_slice(jnp.arange(40.0), (35,), (rows(x),)),
        lax.dynamic_update_slice(x, x[:2], (90, 0)),
        lax.dynamic_update_slice(jnp.ones((20, 6)), x, (2, 0)),
        lax.dynamic_update_slice(jnp.ones((20, 6)), x, (17, 0)),
    ),
    "split": lambda x: lax.split(jnp.concatenate([x, x * 2]), (rows(x), rows(x))),
}
STRIDES = {"every other": lambda x: x[::2], "from the second": lambda x: x[1::2]}
PLACES = {
    "rows": lambda x: (x[jnp.array([0, 2, -1])], x[jnp.array([0, 99])], x[jnp.arange(rows(x)) // 2]),
    "modes": lambda x: (
        x.at[jnp.array([0, 90, -2])].get(mode="clip"),
        x.at[jnp.array([0, 90, -2])].get(mode="fill", fill_value=7),
        jnp.take_along_axis(x, jnp.argsort(x, 1), 1),
        jnp.take_along_axis(x, jnp.argsort(x, 0), 0),
    ),
    "writes": lambda x: (
        jnp.zeros((rows(x), 6)).at[jnp.arange(rows(x))].add(x),
        jnp.zeros((4, 6)).at[jnp.arange(rows(x)) % 4].add(x),
        jnp.zeros((4, 6)).at[jnp.arange(rows(x)) % 5].max(lax.stop_gradient(x)),
        jnp.ones((4, 6)).at[jnp.arange(rows(x)) % 5].mul(lax.stop_gradient(x)),
        jnp.ones((4, 6)).at[jnp.arange(rows(x)) % 5].min(lax.stop_gradient(x)),
        x.at[jnp.array([0, 90])].set(5.0),
        x.at[jnp.array([0, 90])].set(5.0, mode="clip"),
        x.at[-1].set(0.0),
        x.at[1:3].set(0.0),
    ),
    "labels": lambda x: -jax.nn.log_softmax(x)[jnp.arange(rows(x)), jnp.arange(rows(x)) % 6].mean(),
}
PRODUCTS = {
    "matrices": lambda x: (x.T @ x, x @ x.T, jnp.einsum("ti,tj->ij", x, x), x @ x[0]),
    "convolutions": lambda x: (
        lax.conv_general_dilated(x.T[None], K, (1,), "SAME"),
        lax.conv_general_dilated(x.T[None], K, (2,), ((1, 1),)),
        lax.conv_general_dilated(x[:, :, None] * jnp.ones(7), K, (1,), "VALID"),
        lax.conv_general_dilated(x.T[None], K, (1,), ((2, 2),), lhs_dilation=(2,)),
        lax.conv_general_dilated(x.T[None], jnp.ones((6, 1, 3)), (1,), "SAME", feature_group_count=6),
    ),
    "batches": lambda x: (
        jnp.linalg.cholesky(jnp.einsum("bi,bj->bij", x, x) + jnp.eye(6)),
        lax.linalg.triangular_solve(jnp.einsum("bi,bj->bij", x, x) + jnp.eye(6), x[..., None], left_side=True),
        lax.linalg.lu(jnp.einsum("bi,bj->bij", x, x) + jnp.eye(6))[0],
        jnp.abs(jnp.fft.fft(x, axis=1)),
    ),
    "factors": lambda x: lax.stop_gradient(
        (
            jnp.linalg.qr(jnp.einsum("bi,bj->bij", x, x) + jnp.eye(6))[1] ** 2,
            jnp.linalg.eigvalsh(jnp.einsum("bi,bj->bij", x, x) + jnp.eye(6)),
            jnp.linalg.svd(jnp.einsum("bi,bj->bij", x, x) + jnp.eye(6), compute_uv=False),
            lax.linalg.tridiagonal_solve(x * 0.1, x + 2, x * 0.1, x[..., None]),
        )
    ),
}
RANDOM = {
    "first": lambda x: (x * jax.random.bernoulli(KEY, 0.5, x.shape), jax.random.normal(KEY, x.shape, jnp.bfloat16) * 1),
    "last": lambda x: jax.random.normal(KEY, (6, rows(x))) + x.T,
    "both": lambda x: jax.random.uniform(KEY, (rows(x), 2, rows(x))),
    "keys": lambda x: jax.vmap(lambda k, r: jax.random.normal(k, (6,)) * r)(jax.random.split(KEY, rows(x)), x),
    "folded": lambda x: jax.vmap(lambda i: jax.random.bits(jax.random.fold_in(KEY, i)))(jnp.arange(rows(x))),
    "seeds": lambda x: jax.vmap(lambda i: jax.random.key_data(jax.random.key(i)))(jnp.arange(rows(x))),
    "wrapped": lambda x: jax.random.key_data(jax.random.clone(jax.random.split(KEY, rows(x)))),
}


def turns(x):
    return lax.scan(lambda c, y: (jnp.tanh(c + y), c * y), jnp.zeros(6), x)


CONTROL = {
    "scan": turns,
    "backwards": lambda x: lax.scan(lambda c, y: (c * 0.9 + y, c), jnp.ones(6), x, reverse=True),
    "layers": lambda x: lax.scan(lambda h, w: (jnp.tanh(h * w + h.mean(0)), h[-1]), x, jnp.arange(3.0))[0],
    "while": lambda x: lax.stop_gradient(
        lax.while_loop(lambda s: s[1] < 3, lambda s: (s[0] * 1.1, s[1] + 1), (x, 0))[0]
    ),
    "each its turns": lambda x: lax.stop_gradient(
        jax.vmap(lambda r: lax.while_loop(lambda s: s < 10, lambda s: s + abs(s) + 1, r))(x[:, 0])
    ),
    "cond": lambda x: lax.cond(x[0, 0] > 0.5, lambda x: x * 2, lambda x: x[::-1], x),
    "turns by size": lambda x: lax.fori_loop(0, rows(x), lambda i, s: s + i, jnp.float32(0)) + x[0, 0],
    "checkpoint": lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())(x),
    "barrier": lambda x: lax.optimization_barrier((x, x * 2))[1].sum(0),
    "constraint": lambda x: lax.with_sharding_constraint(x * 2, SingleDeviceSharding(jax.devices()[0])).sum(0),
}
GROUPS = {
    "elements": (ELEMENTS, X, True),
    "functions": (FUNCTIONS, X, True),
    "integers": (INTEGERS, NUMBERS, False),
    "reductions": (REDUCTIONS, X, True),
    "shapes": (SHAPES, X, True),
    "strides": (STRIDES, X, True),
    "places": (PLACES, X, True),
    "products": (PRODUCTS, X, True),
    "random": (RANDOM, X, False),
    "control": (CONTROL, X, True),
}


def total(result):
    """Returns one number of some results, in which each element has its own weight; infinities and NaN do not count."""
    parts = []
    for leaf in jax.tree.leaves(result):
        if jnp.issubdtype(leaf.dtype, jnp.floating):
            leaf = jnp.where(jnp.isfinite(leaf), leaf, 0.0)
            parts.append((leaf * jnp.cos(jnp.arange(leaf.size, dtype=jnp.float32).reshape(leaf.shape))).sum())
    return sum(parts)


def together(cases, has_gradients):
    """Returns a function with the results of several, and their gradients."""

    def fn(x):
        results = {name: case(x) for name, case in cases.items()}
        if has_gradients:
            for name, case in cases.items():
                results[f"gradient of {name}"] = jax.grad(lambda x, case=case: total(case(x)) + 0.0 * x.sum())(x)
        return results

    return fn


@pytest.fixture(scope="module")
def at_of():
    """Returns the program of a group at its bucket, made once, and the rules that were asked for."""

    @functools.cache
    def made(group):
        cases, array, has_gradients = GROUPS[group]
        tried = Tried()
        return At(together(cases, has_gradients), lambda n: (array[:n],), REFERENCE, BUCKET, tried), tried

    return made


QUICK = ("control", "integers", "random")


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("group", some([*QUICK, *(group for group in GROUPS if group not in QUICK)], len(QUICK)))
def test_values_and_gradients_are_those_of_the_exact_size(group, at_of):
    at, _ = at_of(group)
    for size in SIZES:
        at.check(size, 5e-5, 5e-5)


def test_each_case_pads_something():
    """A case whose program is of one size alone would show nothing."""
    for cases, array, _ in GROUPS.values():
        for name, case in cases.items():
            small, large = (jax.make_jaxpr(case)(array[:n]) for n in (REFERENCE, BUCKET))
            assert str(small) != str(large), name


NAMES = "checkpoint remat place_as scatter_add scatter_mul scatter_min scatter_max copy_p expand_dims"
MARKERS = "add_any mark name pvary eq_to lt_to le_to"
OF_SOME_VERSION = """
    mulhi polynomial one_minus_square stop_gradient real copysign tile conj random_clone random_wrap qr asin acos acosh
    asinh atan atanh log2 ceil floor sign bessel_i0e stack unstack random_gamma_grad igamma_grad_a select_and_gather_add
    eig schur geqrf householder_product lu_pivots_to_permutation
"""
NOT_REACHED = {*NAMES.split(), *MARKERS.split(), *OF_SOME_VERSION.split()}
"""Rules that no case has to reach: other names of a primitive, and what a version of JAX writes otherwise."""


@pytest.mark.slow
def test_every_rule_is_tried(at_of):
    names = set()
    for group, (_, array, _) in GROUPS.items():
        at, tried = at_of(group)
        specs = [jax.ShapeDtypeStruct((len(at.program.pairs),), jnp.int32)]
        specs += [[jax.ShapeDtypeStruct((), key[0]) for key in at.program.numbers]]
        specs += [[jax.ShapeDtypeStruct(t.bucket.shape, t.bucket.dtype) for t in at.graph.tables if not t.is_static]]
        jax.eval_shape(at.program, *specs, [jax.ShapeDtypeStruct(array.shape, array.dtype)])
        names |= tried.names
    assert RULES.keys() - names <= NOT_REACHED
    assert names <= RULES.keys()


REFUSED = {
    "fft": (lambda x: jnp.abs(jnp.fft.fft(x, axis=0)), "`fft` at"),
    "stride": (lambda x: lax.conv_general_dilated(x.T[None], K, (2,), "SAME"), "low margin"),
    "axis": (lambda x: (x @ x.T).sum(rows(x) == BUCKET), "what it says of axes depends on a size"),
    "axis of sort": (lambda x: lax.sort(x @ x.T, dimension=int(rows(x) == BUCKET)), "dimension depends"),
    "power": (lambda x: lax.integer_pow(x, rows(x)), "what it says of y depends"),
    "fill value": (lambda x: x.at[jnp.arange(20)].get(mode="fill", fill_value=rows(x)), "fill_value depends"),
    "bits": (lambda x: lax.reduce_precision(x, 8, rows(x) // 2), "mantissa_bits depends"),
    "matrix": (lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(rows(x))), "changes its size"),
    "print": (lambda x: (jax.debug.print("{}", x), x)[1], "more than compute"),
    "callback": (lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x), "pure_callback"),
    "keys of another kind": (lambda x: jax.random.uniform(jax.random.key(0, impl="rbg"), x.shape), "threefry"),
    "how many": (lambda x: lax.top_k(x.T, min(5, 13 - rows(x))), "more are taken"),
    "another program": (lambda x: x * 2 if rows(x) < 10 else jnp.sin(x), "where one has `mul`"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused_with_a_reason(name):
    fn, words = REFUSED[name]
    with pytest.raises((RefusedError, NotAlikeError)) as caught:
        At(fn, lambda n: (X[:n],), REFERENCE, BUCKET).outputs(5)
    assert words in str(caught.value)


OTHER_SIZES = {
    "another branch": (lambda x: x * 2 if rows(x) > 6 else x * 3, 5, "a number is 3.0 in it, and 2.0"),
    "two sizes that part": (lambda x: x[: min(rows(x), 9)].sum() + x[:9].sum(), 5, ""),
    "a size that is gone": (lambda x: x[: rows(x) - 3].mean(), 3, ""),
}


@pytest.mark.parametrize("name", OTHER_SIZES)
def test_a_size_that_is_not_like_the_bucket_is_found_out(name):
    fn, size, words = OTHER_SIZES[name]
    at = At(fn, lambda n: (X[:n],), REFERENCE + 1, BUCKET)
    with pytest.raises((NotAlikeError, AssertionError)) as caught:
        at.outputs(size)
    assert words in str(caught.value)


PAGE = pathlib.Path(__file__).parents[2] / "jaxaot" / "buckets" / "README.md"


def test_the_page_lists_the_rules_that_there_are():
    lines = re.findall(r"^\| (`.*`) \| (.+) \|$", PAGE.read_text().partition("## The rules")[2], re.M)
    assert [(" ".join(re.findall(r"`([^`]+)`", names)), does) for names, does in lines] == [
        (" ".join(row.names), row.does) for row in ROWS
    ]
