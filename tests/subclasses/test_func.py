"""`ja.func` of functions of wrappers: right values, or a refusal that says what to write."""

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import AutogradError, MissingMethodError, ShapeMismatchError, TensorValueError
from jaxaot.subclasses import Float8Tensor, Int8Weight, SemiStructuredSparse, TwoTensor
from tests.seeds import some

F = ja.nn.functional


def values(*shape, seed=0):
    return ja.interop.from_jax(jax.device_put(np.random.default_rng(seed).normal(size=shape).astype(np.float32)))


def same(got, right):
    np.testing.assert_allclose(got.numpy(), right.numpy(), rtol=1e-5, atol=1e-6)


A, B = values(3), values(3, seed=1)
CUBE = lambda x: x**3 + x.sin()
TOTAL = lambda x: (x**3).sum()


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["jacrev", "jacfwd"])
def test_jacobians_of_wrappers(name):
    found = getattr(ja.func, name)(CUBE)(TwoTensor(A, B))
    for which, other, plain in (("a", "b", A), ("b", "a", B)):
        row = getattr(found, which)  # the outer wrapper is of results, the inner one of arguments
        assert type(row) is TwoTensor and row.shape == (3, 3)
        same(getattr(row, which), getattr(ja.func, name)(CUBE)(plain))
        assert not np.any(getattr(row, other).numpy())


@pytest.mark.slow
def test_hessians_of_wrappers():
    found = ja.func.hessian(TOTAL)(TwoTensor(A, B))
    same(found.a.a.a, ja.func.hessian(TOTAL)(A))
    same(found.b.b.b, ja.func.hessian(TOTAL)(B))
    assert not np.any(found.a.a.b.numpy()) and not np.any(found.b.a.b.numpy())


@pytest.mark.few(2)
@pytest.mark.parametrize(("fn", "dim"), [(CUBE, 0), (CUBE, 1), (TOTAL, 0), (ja.func.grad(TOTAL), 0), (TOTAL, -1)])
def test_maps_of_wrappers(fn, dim):
    a, b = values(4, 3), values(4, 3, seed=1)
    for map in (ja.func.vmap(fn, in_dims=dim), ja.compile(ja.func.vmap(fn, in_dims=dim))):
        found = map(TwoTensor(a, b))
        assert type(found) is TwoTensor and found.shape == found.a.shape
        same(found.a, ja.func.vmap(fn, in_dims=dim)(a))
        same(found.b, ja.func.vmap(fn, in_dims=dim)(b))


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("make", some([Int8Weight.quantize, SemiStructuredSparse.prune, Float8Tensor.quantize], 2))
def test_what_multiplies_by_a_packed_weight_is_differentiated_and_mapped(make):
    x, w = values(4, 8), make(values(2, 8, seed=1))
    dense = {Float8Tensor: "dequantize", Int8Weight: "dequantize", SemiStructuredSparse: "to_dense"}[type(w)]
    jacobian = ja.func.jacrev(lambda x: F.linear(x, w))(x)
    is_float8 = type(w) is Float8Tensor
    right = ja.func.jacrev(lambda x: F.linear(x, getattr(w, dense)()))(x)
    np.testing.assert_allclose(jacobian.numpy(), right.numpy(), rtol=1e-4, atol=0.2 if is_float8 else 1e-5)
    mapped = ja.func.vmap(lambda x, w: F.linear(x, w), in_dims=(0, None))(x, w).numpy()
    np.testing.assert_allclose(mapped, F.linear(x, w).numpy(), rtol=1e-4, atol=0.5 if is_float8 else 1e-5)


def refusals():
    x, w = values(4, 8), values(2, 8, seed=1)
    eight, quantized, sparse = Float8Tensor.quantize(w), Int8Weight.quantize(w), SemiStructuredSparse.prune(w)
    product = lambda x, w: F.linear(x, w)
    total = lambda x, w: F.linear(x, w).sum()
    of_weight = {"argnums": 1}
    yield lambda: ja.func.grad(total, **of_weight)(x, eight), AutogradError, "['float8_data', 'scale'] carry no"
    yield lambda: ja.func.jacrev(product, **of_weight)(x, quantized), AutogradError, "`make` returns the `Int8Weight`"
    yield lambda: ja.func.hessian(total, **of_weight)(x, sparse), AutogradError, "On the tape ['values'] carry them"
    yield lambda: ja.func.vjp(product, x, sparse), AutogradError, "Primal 1 is a `SemiStructuredSparse`"
    yield lambda: ja.func.jvp(product, (x, eight), (x, eight)), AutogradError, "Primal 1 is a `Float8Tensor`"
    yield lambda: ja.func.linearize(product, x, eight), AutogradError, "Primal 1 is a `Float8Tensor`"
    nested = TwoTensor(eight, eight)
    yield lambda: ja.func.grad(lambda t: t.a.dequantize().sum())(nested), AutogradError, "['a', 'b'] carry no gradients"
    yield lambda: ja.func.jacfwd(product)(x, eight), MissingMethodError, "`ja.func.jacrev(f)` in place of `jacfwd`"
    yield lambda: ja.func.hessian(total)(x, eight), MissingMethodError, "`ja.func.jacrev(ja.func.grad(f))`"
    each = lambda w, dim=0: ja.func.vmap(lambda w: w.clone(), in_dims=dim)(w)
    yield lambda: each(eight), TensorValueError, "its inner tensors {'scale': []} have no such dim of 2 elements"
    yield lambda: each(quantized, 1), TensorValueError, "{'scale': [2, 1]} have no such dim of 8 elements"
    yield lambda: each(sparse), ShapeMismatchError, "Take rows of `w.to_dense()`"
    yield lambda: each(quantized), ShapeMismatchError, "Take rows of `w.dequantize()`"


@pytest.mark.slow
def test_what_has_no_derivative_or_no_dim_is_refused():
    for run, error, words in refusals():
        with pytest.raises(error) as caught:
            run()
        assert words in " ".join(str(caught.value).split())


@pytest.mark.slow
def test_float8_in_reverse_mode_twice():
    x, w = values(2, 4), Float8Tensor.quantize(values(3, 4, seed=1))
    fn = lambda x: (F.linear(x, w) ** 2).sum()
    found = ja.func.jacrev(ja.func.grad(fn))(x)
    assert found.shape == (2, 4, 2, 4) and np.all(np.isfinite(found.numpy())) and np.any(found.numpy())
