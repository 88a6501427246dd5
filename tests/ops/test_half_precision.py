"""Half precision: computed in float32 and rounded once; values near the ends of the range. Gradients at the edges."""

import math

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.ops.half_precision import AS_THEY_ARE, RANDOM_AND_WIDENED
from jaxaot.ops.table import rows
from tests.seeds import some

F = ja.nn.functional
HALF = ja.float16
NAN, INF = math.nan, math.inf


def half(*values):
    return ja.tensor(list(values), dtype=HALF)


def test_the_lists_name_rows():
    names = {row.name for row in rows()}
    assert names >= AS_THEY_ARE | RANDOM_AND_WIDENED


FAR = half(300, -300, 300, -299)
LARGE = ja.full((1, 1, 2, 4), 200.0, dtype=HALF)
ENDS = {
    "times a large number": (lambda: half(0.5) * 65536.0, [32768]),
    "by a large number": (lambda: half(60000) / 1e5, [0.6]),
    "times a small number": (lambda: half(50000) * 1e-8, [0.0005]),
    "a number is not rounded first": (lambda: ja.tensor([5000.0], dtype=ja.bfloat16) * 1.01, [5056]),
    "foreach": (lambda: ja._foreach_mul([half(0.5)], 65536.0)[0], [32768]),
    "out": (lambda: ja.mul(half(0.5), 65536.0, out=ja.empty(1, dtype=HALF)), [32768]),
    "norm": (lambda: FAR.norm(), 599.5),
    "normalize": (lambda: F.normalize(FAR, dim=0), [0.5005, -0.5005, 0.5005, -0.4988]),
    "cosine": (lambda: F.cosine_similarity(FAR, FAR, dim=0), 1),
    "std": (lambda: FAR.std(), 346),
    "cumsum": (lambda: half(60000, 30000, -30000, -50000).cumsum(0), [60000, INF, 60000, 10016]),
    "cumsum to a half": (lambda: ja.tensor([0.1] * 3).cumsum(0, dtype=HALF), [0.1, 0.2, 0.3]),
    "pooling": (lambda: F.avg_pool1d(half(60000, 60000)[None], 2), [[60000]]),
    "lerp": (lambda: half(60000).lerp(half(-60000), 0.25), [30000]),
    "addcmul": (lambda: half(-60000).addcmul(half(300), half(300)), [30000]),
    "linear": (lambda: F.linear(half(300, 300), half(300, 300)[None], half(-60000)), [INF]),
    "attention": (lambda: F.scaled_dot_product_attention(*[LARGE] * 3)[0, 0, 0, :1], [200]),
}  # fmt: skip


@pytest.mark.few(5)
@pytest.mark.parametrize("name", ENDS)
def test_near_the_ends_of_the_range(name):
    fn, right = ENDS[name]
    for result in (fn(), ja.compile(fn)()):
        assert result.dtype in (ja.float16, ja.bfloat16)
        np.testing.assert_allclose(np.asarray(result.float().jax()), right, rtol=1e-3)


def test_gradients_of_far_norms():
    x = ja.tensor([300.0, -300, 300, -299], dtype=HALF, requires_grad=True)
    x.norm().backward()
    np.testing.assert_allclose(np.asarray(x.grad.float().jax()), [0.5005, -0.5005, 0.5005, -0.4988], rtol=1e-3)


PRODUCTS = {
    "addmm": ((4, 5), (4, 64), (64, 5)), "addmv": ((4,), (4, 64), (64,)),
    "baddbmm": ((2, 4, 5), (2, 4, 64), (2, 64, 5)), "addbmm": ((4, 5), (2, 4, 64), (2, 64, 5)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", some([ja.float16, ja.bfloat16], 1))
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_gradient_of_a_product_is_multiplied_after_its_sum(name, dtype):
    """Rounded before, sums of large terms that cancel are many units in the last place off."""
    draw = np.random.default_rng(0)
    values = [ja.tensor(draw.normal(size=size).astype(np.float32)).to(dtype) for size in PRODUCTS[name]]
    ct = ja.tensor(draw.normal(size=getattr(ja, name)(*values).shape).astype(np.float32)).to(dtype)
    exact_values, exact_ct = [np.float64(np.asarray(x.float().jax())) for x in values], np.asarray(ct.float().jax())
    *_, x, y = exact_values
    g = np.float64(exact_ct)
    ones = [g @ np.swapaxes(y, -2, -1), np.swapaxes(x, -2, -1) @ g] if name != "addmv" else [np.outer(g, y), x.T @ g]
    for run in (getattr(ja, name), ja.compile(getattr(ja, name))):
        leaves = [x.detach().requires_grad_() for x in values]
        run(*leaves, beta=0.7, alpha=1.3).backward(ct)
        for leaf, before in zip(leaves[1:], ones, strict=True):
            right = ja.tensor(before.astype(np.float32)).to(dtype).float() * 1.3  # each rounded, as PyTorch does
            right = np.asarray(right.to(dtype).float().jax())
            got = np.asarray(leaf.grad.float().jax())
            unit = float(ja.finfo(dtype).eps) * 2.0 ** np.floor(np.log2(np.abs(right)))
            assert (np.abs(got - right) <= 1.01 * unit).all()


@pytest.mark.slow
@pytest.mark.parametrize("is_causal", some([True, False], 1))
@pytest.mark.parametrize("dtype", some([ja.bfloat16, ja.float16], 1))
def test_attention_is_as_exact_as_a_fused_kernel(dtype, is_causal):
    ja.manual_seed(0)
    query, key, value, ct = (ja.randn(2, 4, 32, 16).to(dtype) for _ in range(4))

    def results(of):
        leaves = [of(x.detach()).requires_grad_() for x in (query, key, value)]
        out = F.scaled_dot_product_attention(*leaves, is_causal=is_causal)
        out.backward(of(ct))
        return [np.asarray(x.detach().float().jax()) for x in (out, *(leaf.grad for leaf in leaves))]

    for got, right in zip(results(lambda x: x), results(lambda x: x.float()), strict=True):
        error = np.sqrt(((got - right) ** 2).mean() / (right**2).mean())
        assert error < 0.45 * float(ja.finfo(dtype).eps)


@pytest.mark.parametrize("op", ["exp", "tanh", "sigmoid", "sqrt"])
def test_what_is_saved_is_the_rounded_result(op):
    x = ja.rand(4, 4, dtype=HALF, requires_grad=True)
    y = getattr(x, op)()
    saved = [name for name in dir(y.grad_fn) if name.startswith("_saved")]
    assert saved == ["_saved_result"] and y.grad_fn._saved_result.dtype == HALF


def test_sums_in_gradients_of_views_are_rounded_once():
    x = ja.ones(1, dtype=HALF, requires_grad=True)
    x.as_strided((10000,), (0,)).sum().backward()
    assert x.grad.tolist() == [10000]


EDGES = {
    "a quotient far in": (lambda x: (x / x.sum())[0], [1e-25] * 3, [2.2222e24, -1.1111e24, -1.1111e24]),
    "a quotient far out": (lambda x: (x / x.sum())[0], [1e25] * 3, [2.2222e-26, -1.1111e-26, -1.1111e-26]),
    "softsign": (F.softsign, [3e25, -1e25], [0, 0]),
    "std far out": (lambda x: x.std(), [3e25, -1e25, 2e25], [0.40032, -0.56045, 0.16013]),
    "std far in": (lambda x: x.std(), [3e-25, -1e-25, 2e-25], [0.40032, -0.56045, 0.16013]),
    "cosine": (lambda x: F.cosine_similarity(x, x, dim=0), [3e25, -1e25], [0, 0]),
    "abs of NaN": (lambda x: x.abs(), [NAN, 0, -2], [0, 0, -1]),
    "amax with NaN": (lambda x: x.amax(0), [NAN, 1, 2], [NAN] * 3),
    "amax of equals": (lambda x: x.amax(0), [2, 1, 2], [0.5, 0, 0.5]),
    "max of two": (lambda x: ja.max(x, x.detach()), [NAN, 1], [1, 0.5]),
    "hardswish": (F.hardswish, [NAN, INF, -4], [1, 1, 0]),
    "hardsigmoid": (F.hardsigmoid, [NAN, 0], [0, 1 / 6]),
    "softshrink": (F.softshrink, [NAN, 0.2], [1, 0]),
    "elu": (F.elu, [NAN, 1], [1, 1]),
    "huber": (lambda x: F.huber_loss(x, ja.zeros(2), "sum"), [INF, -INF], [1, -1]),
    "logcumsumexp": (lambda x: x.logcumsumexp(0), [INF, 1, INF], [NAN, 0, NAN]),
    "logcumsumexp before infinity": (lambda x: x.logcumsumexp(0), [-INF, 1, INF], [NAN, 1, NAN]),
    "prod with NaN": (lambda x: x.prod(), [NAN, 2, 3], [NAN] * 3),
    "prod with infinity": (lambda x: x.prod(), [INF, 2, 3], [NAN, INF, INF]),
    "prod with infinity and 0": (lambda x: x[None].prod(1), [INF, 0, 3], [0, INF, NAN]),
    "prod with infinity and zeros": (lambda x: x.prod(), [0, -INF, 0], [0, 0, 0]),
    "prod of small numbers": (lambda x: x.prod(), [1e-25, 1e-25], [1e-25, 1e-25]),
    "prod with 0": (lambda x: x.prod(), [0, 2, 3], [6, 0, 0]),
    "cumprod with NaN": (lambda x: x.cumprod(0), [NAN, 2, 3], [NAN] * 3),
    "cumprod with infinity": (lambda x: x.cumprod(0), [INF, 2, 3], [NAN, INF, INF]),
    "cumprod with zeros": (lambda x: x.cumprod(0), [2, 0, 3, 0], [1, 8, 0, 0]),
    "max_pool1d": (lambda x: F.max_pool1d(x[None], 2, 1), [NAN, 2, 3], [1, 0, 1]),
    "max_pool2d, dilated": (lambda x: F.max_pool2d(x[None, None], (1, 2), 1, 0, 2), [NAN, 2, NAN, 3], [0, 0, 1, 1]),
    "renorm of NaN": (lambda x: x[None].renorm(2, 0, 1.0), [NAN, 2, 3], [1, 1, 1]),
    "renorm of infinity": (lambda x: x[None].renorm(2, 0, 1.0), [INF, 2, 3], [NAN] * 3),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", EDGES)
def test_gradients_at_the_edges(name):
    fn, values, right = EDGES[name]
    for run in (fn, ja.compile(fn)):
        x = ja.tensor([float(v) for v in values], requires_grad=True)
        run(x).sum().backward()
        np.testing.assert_allclose(np.asarray(x.grad.jax()), np.float32(right), rtol=1e-4, atol=1e-37)


EMPTY = {
    "prod": (lambda x: x.prod(), (0,)),
    "cat": (lambda x: ja.cat([x, ja.ones(3)]), (0,)),
    "amax": (lambda x: x.amax(1), (0, 3)),
    "gather": (lambda x: x.gather(0, ja.zeros(0, 3, dtype=ja.int32)), (0, 3)),
    "index": (lambda x: x[ja.zeros(0, dtype=ja.int32)], (0, 3)),
    "std": (lambda x: x.std(1), (0, 3)),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", EMPTY)
def test_tensors_without_elements_have_gradients_without_elements(name):
    fn, size = EMPTY[name]
    for run in (fn, ja.compile(fn)):
        x, unused = ja.zeros(*size, requires_grad=True), ja.zeros(0, requires_grad=True)
        run(x).sum().backward()
        assert tuple(x.grad.shape) == size and unused.grad is None


def test_out_decides_in_which_dtype_sums_are_computed():
    x = ja.tensor([1.5, 2.5])
    assert ja.cumsum(x, 0, out=ja.empty(0, dtype=ja.int16)).tolist() == [1, 3]
    assert ja.sum(x, 0, out=ja.empty(0, dtype=ja.int16)).item() == 3
    assert x.sum(dtype=ja.int8).dtype == ja.int8


def test_nearest_of_an_image_goes_by_the_sizes():
    x = ja.tensor([[[[1.0, 2.0]]]])
    assert F.interpolate(x, scale_factor=1.3).tolist() == [[[[1, 2]]]]
    assert F.interpolate(x[0], scale_factor=1.3).tolist() == [[[1, 1]]]


QUERY = ja.ones(1, 2, 4)
REFUSED = {
    "attention of several dtypes": lambda: F.scaled_dot_product_attention(QUERY, QUERY.half(), QUERY),
    "a mask of another dtype": lambda: F.scaled_dot_product_attention(*[QUERY] * 3, ja.zeros(2, 2, dtype=HALF)),
    "backward of a complex number": lambda: ja.ones((), dtype=ja.complex64, requires_grad=True).mul(2).backward(),
    "a bound out of range": lambda: ja.ones(2).clamp(max=3.4e39),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(ja.errors.JaxaotError, match=r"same dtype|attn_mask dtype|real scalar outputs|without overflow"):
        REFUSED[name]()


def test_numbers_out_of_range_are_infinite_elsewhere():
    assert (ja.ones(2) * 3.4e39).tolist() == [INF, INF]


@pytest.mark.slow
def test_negative_floats_as_bytes():
    assert ja.tensor([-1.0, 300.0]).to(ja.uint8).tolist() == [255, 44]
