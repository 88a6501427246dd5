"""einops over tensors: functions and layers, eagerly, compiled and in gradients, whichever library comes first."""

import subprocess
import sys

import numpy as np
import pytest

import jaxaot as ja

einops = pytest.importorskip("einops")

FUNCTIONS = {
    "split": lambda e, x: e.rearrange(x, "b c (h d) -> b h c d", h=2),
    "several": lambda e, x: e.rearrange([x, x + 1], "n b c d -> b (n c) d"),
    "repeat": lambda e, x: e.repeat(x, "b c d -> b (c n) d m", n=2, m=3),
    **{way: lambda e, x, way=way: e.reduce(x, "b c d -> b", way) for way in ("mean", "max", "min", "sum", "prod")},
    "einsum": lambda e, x: e.einsum(x, x, "b c d, b k d -> b c k"),
    "pack": lambda e, x: e.pack([x, x[:, 0]], "b * d")[0],
    "unpack": lambda e, x: e.unpack(x, [[2], [1]], "b * d")[1],
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_give_what_they_give_for_arrays(name):
    array = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    fn, wanted = lambda x: FUNCTIONS[name](einops, x), FUNCTIONS[name](einops, array)
    compiled, found = ja.compile(fn), []
    for run in (fn, compiled, compiled):
        x = ja.from_numpy(array).requires_grad_()
        y = run(x)
        np.testing.assert_allclose(y.detach().numpy(), wanted, rtol=1e-5)
        (y * y).sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(found[1:], found[:1] * 2, rtol=1e-5)
    assert compiled.cache_info().misses == 1


def test_layers_are_modules():
    from jaxaot.nn.einops import EinMix, Rearrange, Reduce

    model = ja.nn.Sequential(
        Rearrange("b c (h d) -> b h c d", h=2),
        EinMix("b h c d -> b h (c e)", weight_shape="d e", bias_shape="e", d=2, e=5),
        Reduce("b h n -> b n", "max"),
    )
    x = ja.ones(2, 3, 4)
    assert [p.numel() for p in model.parameters()] == [10, 5]
    assert model(x).shape == (2, 15) and "Rearrange" in repr(model)
    np.testing.assert_allclose(ja.compile(model)(x).tolist(), model(x).tolist(), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["einops", "jaxaot"])
def test_either_library_may_be_imported_first(first):
    code = f"""
import sys, {first}
assert {first == "einops"} or "einops" not in sys.modules
import jaxaot as ja, einops, gc
gc.collect()
print(einops.rearrange(ja.ones(2, 3), "a b -> (a b)").shape)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "ja.Size([6])" in found.stdout
