"""The subclasses that are there to be used: float8, int8 and two-of-four sparse tensors."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from jaxaot.demo.model import GPT, AdamW, Linear, Shape
from jaxaot.subclasses import (
    AmaxHistory,
    Float8Linear,
    Float8Tensor,
    Int8Weight,
    SemiStructuredSparse,
    float8_dot_general,
    float8_linear,
)
from tests.seeds import some


def error(found, expected):
    """Returns the relative error, in the 2-norm."""
    return float((found.detach() - expected.detach()).norm() / expected.detach().norm())


# -- float8 ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_float8_holds_values_within_its_precision():
    x = ja.randn(64, 32) * 300
    x8 = Float8Tensor.quantize(x)
    assert (x8.shape, x8.dtype, x8.float8_data.dtype) == (x.shape, x.dtype, ja.float8_e4m3fn)
    assert x8.float8_data.nbytes == x.numel()
    assert error(x8.dequantize(), x) < 0.03
    assert error(Float8Tensor.quantize(x, ja.float8_e5m2).dequantize(), x) < 0.06
    assert Float8Tensor.quantize(ja.zeros(3)).dequantize().tolist() == [0.0] * 3
    assert Float8Tensor.quantize(ja.tensor([1e6, 1.0]), scale=ja.tensor(1.0)).dequantize().tolist() == [448.0, 1.0]
    assert error(x8.t()[3:5].dequantize(), x.t()[3:5]) < 0.04
    assert x8.to(ja.bfloat16).dtype == ja.bfloat16
    with pytest.raises(errors.SubclassError, match="`add` was found for `Float8Tensor`"):
        x8 + 1
    for bad in (lambda: Float8Tensor.quantize(x, ja.float16), lambda: Float8Tensor.quantize(ja.arange(3))):
        with pytest.raises(errors.DtypeError, match=r"Float8Tensor\.quantize"):
            bad()


@pytest.mark.slow
@pytest.mark.parametrize("run", some([ja.compile, lambda fn: fn], 1), ids=["compiled", "eager"])
def test_a_float8_product_and_its_gradients(run):
    x, w, b = (ja.randn(*size, requires_grad=True) for size in ((4, 6, 32), (8, 32), (8,)))
    plain = [t.detach().requires_grad_() for t in (x, w, b)]
    y = run(float8_linear)(x, w, b)
    expected = ja.nn.functional.linear(*plain)
    assert error(y, expected) < 0.06
    assert y.dtype == ja.float32
    g = ja.randn(*y.shape)
    y.backward(g)
    expected.backward(g)
    for t, other in zip((x, w, b), plain, strict=True):
        assert t.grad.dtype == ja.float32
        assert error(t.grad, other.grad) < 0.08


def test_what_float8_saves_is_in_float8():
    x, w = ja.randn(64, 256), ja.randn(32, 256, requires_grad=True)
    joint = ja.trace(lambda x, w: float8_linear(x, w).sum(), x, w).joint()
    saved = [v.aval for v in joint.partition().forward.jaxpr.outvars[1:]]
    assert not [a for a in saved if a.size >= x.numel() and a.dtype.itemsize > 1]


def test_gradients_flow_through_a_float8_tensor_to_what_it_was_made_of():
    x = ja.randn(3, 4, requires_grad=True)
    (Float8Tensor.quantize(x).dequantize() * 3).sum().backward()
    assert x.grad.tolist() == [[3.0] * 4] * 3


def test_delayed_scaling_uses_the_calls_before():
    history = AmaxHistory(2)
    scales = [float(history.quantize(ja.tensor([amax, 0.5])).scale) for amax in (2.0, 4.0, 1.0, 1.0)]
    assert scales == [1.0, 224.0, 112.0, 112.0]
    assert history.values.tolist() == [1.0, 1.0]


@pytest.mark.slow
def test_a_float8_layer_writes_its_history_when_compiled():
    layer = Float8Linear(16, 8, scaling="delayed", history=3)
    fn, x = ja.compile(lambda layer, x: layer(x)), ja.randn(4, 16)
    for _ in range(2):
        fn(layer, x).sum().backward()
    amax = float(x.abs().max())
    np.testing.assert_allclose(layer.x_amax.tolist(), [amax, amax, 0.0], rtol=1e-6)
    assert fn.cache_info()[:2] == (1, 1)
    assert set(layer.state_dict()) == {"weight", "bias", "x_amax", "weight_amax"}
    assert layer.weight.grad.shape == (8, 16)
    with pytest.raises(errors.TensorValueError, match="'dynamic' or 'delayed'"):
        Float8Linear(2, 2, scaling="static")
    half = layer.to(ja.bfloat16)  # which makes other buffers
    fn(half, 2 * x.bfloat16())
    assert half.x_amax.float().tolist()[0] == pytest.approx(2 * amax, rel=0.01)
    assert half.x_amax.float().tolist()[1:] == pytest.approx([amax, amax], rel=0.01)


@pytest.mark.slow
def test_a_network_trains_in_float8():
    def losses(linear):
        ja.manual_seed(0)
        weights = [(ja.randn(32, 16) / 4).requires_grad_(), (ja.randn(4, 32) / 6).requires_grad_()]
        x, target = ja.randn(64, 16), ja.randn(64, 4)

        @ja.compile
        def step():
            loss = (linear(linear(x, weights[0]).tanh(), weights[1]) - target).square().mean()
            loss.backward()
            with ja.no_grad():
                for w in weights:
                    w.sub_(0.2 * w.grad)
                    w.grad = None
            return loss.detach()

        return [float(step()) for _ in range(30)]

    expected, found = losses(ja.nn.functional.linear), losses(float8_linear)
    assert expected[-1] < 0.8 * expected[0]
    np.testing.assert_allclose(found, expected, rtol=0.01)


class Float8Demo(Linear):
    """The layer of the demo, in float8."""

    def forward(self, x):
        return float8_linear(x, self.weight.t()) + self.bias


class Bfloat16Demo(Linear):
    """The layer of the demo, in bfloat16."""

    def forward(self, x):
        return (x.to(ja.bfloat16) @ self.weight.to(ja.bfloat16)).float() + self.bias


@pytest.mark.slow
def test_the_demo_trains_in_float8_as_in_bfloat16():
    shape = Shape(n_characters=64, n_layers=2, n_heads=2, width=64, context=32, dropout=0.0)

    def losses(layer):
        ja.manual_seed(0)
        model = GPT(shape)
        for block in model.blocks:
            for linear in (block.attention.qkv, block.attention.out, block.up, block.down):
                linear.__class__ = layer
        optimizer = AdamW(list(model.parameters()))

        @ja.compile
        def step(steps):
            loss = model.loss(steps[:, :-1], steps[:, 1:].contiguous())
            loss.backward()
            optimizer.step(3e-3)
            optimizer.zero_grad()
            return loss.detach()

        walks = lambda: ja.randint(0, 5, (16, shape.context + 1)).cumsum(1) % shape.n_characters
        return [float(step(walks())) for _ in range(150)]

    expected, found = losses(Bfloat16Demo), losses(Float8Demo)
    assert np.mean(expected[-20:]) < 0.6 * expected[0]  # each batch is new, and nothing is learnt by heart
    np.testing.assert_allclose(np.mean(found[-20:]), np.mean(expected[-20:]), rtol=0.01)


def test_what_is_no_float_tensor_is_refused():
    ints, matrix = ja.arange(8).view(1, 8), ja.ones(2, 8)
    for make in (Float8Tensor.quantize, Int8Weight.quantize, SemiStructuredSparse.prune):
        with pytest.raises(errors.DtypeError, match="a float tensor is expected"):
            make(ints)
        with pytest.raises(errors.TensorTypeError, match="a tensor is expected, not list"):
            make([1.0])
    with pytest.raises(errors.ShapeMismatchError, match="has to be the first of the second, 4"):
        float8_linear(matrix, ja.ones(2, 4))
    assert Float8Tensor.quantize(matrix, scale=2.0).float8_data.tolist() == [[2.0] * 8] * 2


@pytest.mark.slow
def test_flax_layers_multiply_in_float8():
    nnx = pytest.importorskip("flax.nnx")
    layers = [nnx.Linear(16, 8, rngs=nnx.Rngs(0), **options) for options in ({}, {"dot_general": float8_dot_general})]
    x = np.random.default_rng(0).normal(size=(4, 16)).astype(np.float32)
    grads = []
    for layer in layers:
        value, grad = ja.value_and_grad(lambda layer: (layer(x) ** 2).sum())(layer)
        grads.append((np.asarray(value), *map(np.asarray, jax.tree.leaves(grad))))
    for found, expected in zip(grads[1], grads[0], strict=True):
        assert np.linalg.norm(found - expected) < 0.1 * np.linalg.norm(expected)
    with pytest.raises(ValueError, match="contracts the last dim"):
        float8_dot_general(x, x, (((0,), (0,)), ((), ())))


# -- int8 --------------------------------------------------------------------------------------------------------------


def test_int8_weights():
    w, x = ja.randn(16, 32), ja.randn(3, 32, requires_grad=True)
    w[5] = 0.0
    w8 = Int8Weight.quantize(w)
    assert (w8.int8_data.nbytes, w8.shape, w8.requires_grad) == (w.numel(), w.shape, False)
    assert error(w8.dequantize(), w) < 0.01
    bias = ja.randn(16)
    linear = ja.nn.functional.linear
    for fn in (
        lambda w: (linear(x, w, bias), x @ w.t(), ja.nn.functional.embedding(ja.tensor([2, 5]), w)),
        lambda w: (x[:, :16] @ w, linear(x[:, :16], w.t())),
    ):
        found, expected = ja.compile(fn)(w8), ja.compile(fn)(w)
        slopes = [ja.autograd.grad([y.sum() for y in ys[:2]], [x])[0] for ys in (found, expected)]
        assert all(error(*pair) < 0.02 for pair in [*zip(found, expected, strict=True), slopes])
    assert error(linear(x, w8, bias), linear(x, w, bias)) < 0.02
    with pytest.raises(errors.DtypeError, match="cannot require grad"):
        w8.requires_grad_()
    with pytest.raises(errors.DtypeError, match="a float matrix is expected"):
        Int8Weight.quantize(ja.ones(3))
    assert w8.to(ja.bfloat16).dequantize().dtype == ja.bfloat16


def test_a_layer_holds_an_int8_weight():
    layer = ja.nn.Linear(32, 16)
    x = ja.randn(3, 32)
    expected = layer(x)
    layer.weight = ja.nn.Parameter(Int8Weight.quantize(layer.weight), requires_grad=False)
    fn = ja.compile(lambda x: layer(x))
    for _ in range(2):
        assert error(fn(x), expected) < 0.02
    assert fn.cache_info()[:2] == (1, 1)


# -- two of four -------------------------------------------------------------------------------------------------------


def pruned(w):
    """Returns a matrix without the two smallest magnitudes of each four."""
    values = w.detach().numpy().reshape(-1, 4)
    kept = np.argsort(-np.abs(values), axis=1, kind="stable")[:, :2]
    mask = np.zeros_like(values)
    np.put_along_axis(mask, kept, 1, axis=1)
    return ja.from_numpy((values * mask).reshape(w.shape)), ja.from_numpy(mask.reshape(w.shape))


def test_two_of_four_are_kept_in_nine_sixteenths_of_the_memory():
    w = ja.randn(8, 32).to(ja.bfloat16)
    sparse = SemiStructuredSparse.prune(w)
    assert (sparse.values.nbytes + sparse.places.nbytes) * 16 == w.nbytes * 9
    dense, _ = pruned(w.float())
    assert sparse.to_dense().float().tolist() == dense.tolist()
    assert sparse.t().to_dense().shape == (32, 8)
    with pytest.raises(errors.ShapeMismatchError, match="multiple of 8"):
        SemiStructuredSparse.prune(ja.ones(4, 6))


@pytest.mark.slow
@pytest.mark.parametrize("run", some([ja.compile, lambda fn: fn], 1), ids=["compiled", "eager"])
def test_sparse_products_and_their_gradients(run):
    w, x = ja.randn(8, 16), ja.randn(3, 16, requires_grad=True)
    dense, mask = pruned(w)
    dense.requires_grad_()
    for fn in (lambda x, w: ja.nn.functional.linear(x, w), lambda x, w: x @ w.t()):
        sparse = SemiStructuredSparse.prune(w).requires_grad_()
        found, expected = run(fn)(x, sparse), fn(x, dense)
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-5)
        g = ja.randn(*found.shape)
        of = [ja.autograd.grad(y, [x, v], g) for y, v in ((found, sparse), (expected, dense))]
        np.testing.assert_allclose(of[0][0].numpy(), of[1][0].numpy(), rtol=1e-5, atol=1e-5)
        assert type(of[0][1]) is SemiStructuredSparse
        np.testing.assert_allclose(of[0][1].to_dense().numpy(), (of[1][1] * mask).numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_a_sparse_weight_is_trained():
    w, x = ja.randn(8, 16), ja.randn(3, 16)
    sparse = SemiStructuredSparse.prune(w).requires_grad_()
    dense, mask = pruned(w)
    dense.requires_grad_()

    @ja.compile
    def step(x, w):
        (x @ w.t()).sin().sum().backward()
        with ja.no_grad():
            w.sub_(w.grad * 0.1)
        w.grad = None

    for _ in range(2):
        step(x, sparse)
        (x @ dense.t()).sin().sum().backward()
        with ja.no_grad():
            dense.sub_(dense.grad * mask * 0.1)
        dense.grad = None
    np.testing.assert_allclose(sparse.to_dense().detach().numpy(), dense.detach().numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(errors.SubclassError, match="`exp` was found for `SemiStructuredSparse`"):
        sparse.exp()
    with pytest.raises(errors.SubclassError, match="`add`"):
        sparse + SemiStructuredSparse.prune(w)  # the places may be others


@pytest.mark.slow
def test_pruning_has_a_gradient():
    w = ja.randn(4, 8, requires_grad=True)
    SemiStructuredSparse.prune(w).to_dense().sum().backward()
    assert w.grad.tolist() == pruned(w)[1].tolist()
