"""The ready-made pairs of hooks: what they keep, what they lose, eagerly and in graphs."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import some

graph = ja.autograd.graph


def there_and_back(pair, values):
    tensor = ja.interop.from_jax(jax.numpy.asarray(values))
    packed = pair.pack(tensor)
    kept = [leaf for leaf in jax.tree.leaves(packed) if hasattr(leaf, "nbytes")]
    back = pair.unpack(packed)
    assert back.dtype == tensor.dtype and back.shape == tensor.shape
    return np.asarray(back.numpy(), np.float64), sum(leaf.nbytes for leaf in kept)


RANDOM = np.random.RandomState(0).randn(64, 96).astype(np.float32)
LOSSES = {
    "bfloat16": (graph.to_dtype(ja.bfloat16), 0.005, 2),
    "float16": (graph.to_dtype(ja.float16), 0.001, 2),
    "float8": (graph.quantize_float8(), 0.07, 4),
    "float8 by row": (graph.quantize_float8(dim=-1), 0.07, 3.8),
    "float8_e5m2": (graph.quantize_float8(ja.float8_e5m2), 0.15, 4),
    "int8": (graph.quantize_int8(), 0.02, 3.8),
    "host": (graph.offload_to_host(), 0, 1),
}


@pytest.mark.few(6)
@pytest.mark.parametrize("name", LOSSES)
def test_what_a_pair_loses_and_saves(name):
    pair, loss, share = LOSSES[name]
    for scale in (1.0, 1e-6, 1e6) if name not in ("float16",) else (1.0,):
        values = RANDOM * np.float32(scale)
        back, n_bytes = there_and_back(pair, values)
        assert np.linalg.norm(back - values) <= loss * np.linalg.norm(values)
        assert n_bytes * share <= values.nbytes * 1.001


PAIRS = [graph.quantize_float8(), graph.quantize_float8(ja.float8_e5m2), graph.quantize_int8()]


@pytest.mark.slow
@pytest.mark.parametrize("pair", some(PAIRS, 1))
def test_nothing_becomes_nan_or_infinite_that_was_not(pair):
    extremes = np.float32([3e38, -3e38, 1e-38, 0.0] * 32).reshape(2, 64)
    back, _ = there_and_back(pair, extremes)
    assert np.isfinite(back).all() and np.allclose(back, extremes, rtol=0.1, atol=1e34)
    assert there_and_back(pair, np.zeros((8, 16), np.float32))[0].tolist() == np.zeros((8, 16)).tolist()
    infinite = np.where(np.arange(128).reshape(2, 64) == 3, np.inf, RANDOM[:2, :64]).astype(np.float32)
    back, _ = there_and_back(pair, infinite)
    finite = np.isfinite(infinite)
    assert np.isfinite(back).all() and np.allclose(back[finite], infinite[finite], rtol=0.15, atol=0.05)
    half = ja.interop.from_jax(jax.numpy.asarray(RANDOM * 1e4, np.float16))
    assert np.isfinite(np.asarray(pair.unpack(pair.pack(half)).numpy(), np.float32)).all()


def test_a_plain_cast_to_float8_would_overflow():
    back, _ = there_and_back(graph.to_dtype(ja.float8_e4m3fn), RANDOM * 1000)
    assert np.isnan(back).any()


def test_masks_take_a_bit_each():
    mask = RANDOM > 0.3
    back, n_bytes = there_and_back(graph.pack_mask_bits(), mask[:, :95])
    assert np.array_equal(back.astype(bool), mask[:, :95]) and n_bytes == -(-64 * 95 // 8)


def test_what_a_pair_does_not_concern_is_kept_as_it_is():
    for pair in (graph.to_dtype(ja.bfloat16), graph.quantize_float8(), graph.quantize_int8(), graph.pack_mask_bits()):
        for tensor in (ja.arange(100), ja.tensor(2.5), ja.rand(3)):
            assert pair.pack(tensor) == (False, tensor) or pair.pack(tensor)[1] is tensor
    assert graph.to_dtype(ja.float32).pack(ja.rand(100).to(ja.bfloat16))[0] is False
    with pytest.raises(ja.errors.DtypeError, match="quantize_int8"):
        graph.to_dtype(ja.int8)


def test_pairs_are_the_same_for_the_same_arguments():
    assert graph.to_dtype(ja.bfloat16) is graph.to_dtype("bfloat16") is not graph.to_dtype(ja.float16)
    assert graph.quantize_float8() is graph.quantize_float8() and graph.pack_mask_bits() is graph.pack_mask_bits()


def network():
    weights = [(ja.randn(64, 64) * 0.15).requires_grad_() for _ in range(4)]

    def run(x):
        for w in weights:
            x = ja.nn.functional.dropout((x @ w).tanh(), 0.1)
        return (x * x).sum()

    return run, weights


def gradients(fn, weights, x):
    ja.manual_seed(1)
    for w in weights:
        w.grad = None
    fn(x).backward()
    return [w.grad.numpy().copy() for w in weights]


BOTH = graph.first_that_fits(graph.pack_mask_bits(), graph.quantize_float8())


@pytest.mark.slow
@pytest.mark.parametrize("name", some(["masks", "both", *LOSSES], 1))
def test_every_pair_eagerly_and_in_graphs(name):
    pair, loss, _ = {**LOSSES, "masks": (graph.pack_mask_bits(), 0, 1), "both": (BOTH, 0.07, 1)}[name]
    run, weights = network()
    x = ja.randn(32, 64)
    fn = ja.compile(run, policy="save_all")
    plain, plain_compiled = gradients(run, weights, x), gradients(fn, weights, x)
    joint = ja.trace(run, x).joint()
    with graph.saved_tensors_hooks(*pair):
        eager, compiled = gradients(run, weights, x), gradients(fn, weights, x)
        gradients(fn, weights, x)
        packed = joint.partition("save_all")
    assert fn.cache_info().misses == 2 and not packed.plan.packed_between, "every pair can be traced"
    for expected, found in ((plain, eager), (plain_compiled, compiled)):
        for a, b in zip(expected, found, strict=True):
            assert np.linalg.norm(a - b) <= max(3 * loss, 1e-5) * np.linalg.norm(a)
    if name == "host":
        assert packed.plan.offloaded_bytes > 0 and packed.saved_bytes == 0
    elif name == "both":
        assert {value.dtype for value in packed.saved} >= {"uint8", "float8_e4m3fn"}


@pytest.mark.slow
def test_saving_on_the_host():
    w = ja.rand(32, 32, requires_grad=True)
    with graph.save_on_cpu():
        y = (w * w).exp()
    y.sum().backward()
    values = w.detach().numpy()
    assert np.allclose(w.grad.numpy(), 2 * values * np.exp(values**2), rtol=1e-5)
