"""Eager kernels: which are compiled quickly, and that transformations of JAX take them all."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
import jaxaot.backend.cpu.options as options_module
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.options import compiling_quickly
from jaxaot.facade.dispatch.operands import clear_kernels
from jaxaot.lower.eager_kernel import EagerKernel, is_small
from tests.seeds import some

EMITTERS = "xla_cpu_use_fusion_emitters"
HAS_OLDER_EMITTERS = jax.__version_info__ < (0, 11)


def test_small_programs_are_compiled_with_options():
    small, large = (EagerKernel(lambda x: jnp.exp(x) * 2) for _ in range(2))
    n = machine().quick_kernel_bytes // 4
    np.testing.assert_allclose(small(jnp.ones(n)), np.full(n, 2 * np.e), rtol=1e-6)
    np.testing.assert_allclose(large(jnp.ones(n + 1)), np.full(n + 1, 2 * np.e), rtol=1e-6)
    assert (small.alone is not small.inside) == HAS_OLDER_EMITTERS
    assert large.alone is large.inside
    assert small.inside._cache_size() == (not HAS_OLDER_EMITTERS)


@pytest.mark.parametrize("length, want", [(4, True), (65, False)])
def test_what_is_made_on_the_way_counts_too(length, want):
    def outer(x):  # small to small
        return (x[:, None] * x[None]).sum(0)

    def looped(x):
        return jax.lax.fori_loop(0, 3, lambda i, x: outer(x), x)

    for fn in (outer, looped):
        assert is_small(jax.make_jaxpr(fn)(jnp.ones(length)).jaxpr) == want


def test_a_call_that_fails_decides_nothing():
    program = EagerKernel(lambda x, y: x @ y)
    with pytest.raises(TypeError):
        program(jnp.ones((2, 3)), jnp.ones((2, 3)))
    assert program(jnp.ones((2, 3)), jnp.ones((3, 2))).shape == (2, 2)
    assert (program.alone is not program.inside) == HAS_OLDER_EMITTERS


def test_donated_arrays_are_given_away():
    program = EagerKernel(lambda x, y: x.at[0].add(y), donate_argnums=0)
    x = jnp.zeros(8)
    assert program(x, 1.0)[0] == 1.0 and x.is_deleted()


def ops(x):
    """Reads, views, writes and gradients, of one float tensor of at least four elements."""
    x = x.clone()
    x[1:3].mul_(2.0)
    y = x.softmax(-1)
    y[0] = x.sum()
    return (y * x.flip(0)).cumsum(0)


def by_jax(array):
    return ops(ja.interop.from_jax(array)).jax()


def gradient(array):
    x = ja.interop.from_jax(array).requires_grad_()
    ops(x).sum().backward()
    return x.grad.jax()


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("fn", "first"),
    [
        (by_jax, "eager"),
        (gradient, "traced"),
        *(pytest.param(*way, marks=pytest.mark.slow) for way in ((by_jax, "traced"), (gradient, "eager"))),
    ],
)
def test_kernels_run_in_and_out_of_transformations(fn, first, own_kernels):
    array = jnp.linspace(0.1, 0.9, 5)
    calls = [lambda: fn(array), lambda: jax.jit(fn)(array), lambda: jax.vmap(fn)(array[None])[0]]
    results = [call() for call in (calls if first == "eager" else calls[::-1])]
    for result in results:
        np.testing.assert_allclose(result, results[0], rtol=1e-6)


F = ja.nn.functional
LARGE = {
    "convolution": (lambda x, w: F.conv2d(x, w, padding=1), (2, 3, 7, 8), (4, 3, 3, 3)),
    "depthwise": (lambda x, w: F.conv2d(x, w, groups=3), (2, 3, 7, 8), (3, 1, 3, 3)),
    "of volumes": (lambda x, w: F.conv3d(x, w, stride=2), (2, 3, 5, 6, 4), (4, 3, 2, 3, 2)),
    "max_pool2d": (lambda x, w: F.max_pool2d(x, 3, 2) * w, (2, 3, 7, 9), (1,)),
    "avg_pool1d": (lambda x, w: F.avg_pool1d(x, 2) * w, (2, 3, 8), (1,)),
    "sort": (lambda x, w: x.sort(-1)[0] * w, (5, 9), (9,)),
    "cumsum": (lambda x, w: (x * w).cumsum(0), (5, 9), (9,)),
    "cross_entropy": (lambda x, w: F.cross_entropy(x * w, ja.arange(5)), (5, 9), (9,)),
    "layer_norm": (lambda x, w: F.layer_norm(x, (9,), w), (5, 9), (9,)),
    "bmm": (lambda x, w: x @ w.transpose(1, 2), (4, 5, 3), (4, 6, 3)),
    "embedding": (lambda x, w: F.embedding(ja.arange(5) % 3, x) * w, (6, 9), (9,)),
    "var": (lambda x, w: (x * w).var(-1), (5, 9), (9,)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", some(LARGE, 1))
def test_large_kernels_go_through_the_passes_and_change_nothing_but_speed(name, everything_is_large, own_kernels):
    fn, *shapes = LARGE[name]
    arrays = [ja.randn(*shape).jax() for shape in shapes]

    def run():
        clear_kernels()
        x, w = (ja.interop.from_jax(array).requires_grad_() for array in arrays)
        y = fn(x, w)
        (y * y).sum().backward()
        return [t.detach().numpy() for t in (y, x.grad, w.grad)]

    results = run()
    with ja.config(passes=()):
        plain = run()
    for got, want in zip(results, plain, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_the_graph_of_a_large_kernel_is_that_after_the_passes():
    program = EagerKernel(lambda x, k: jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", feature_group_count=64))
    x, k = jnp.ones((4, 64, 32, 32)), jnp.ones((64, 1, 3, 3))
    want = program.inside(x, k)
    np.testing.assert_allclose(program(x, k), want, rtol=1e-5)
    assert "feature_group_count = 64" in program.inside.lower(x, k).as_text()
    assert "feature_group_count = 64" not in program.alone.lower(x, k).as_text()
    np.testing.assert_allclose(program(x[:1], k), want[:1], rtol=1e-5)
    with jax.enable_x64(True):
        assert program(x.astype("float64"), k.astype("float64")).dtype == np.float64
        np.testing.assert_allclose(program(x, k), want, rtol=1e-5)


def test_what_the_user_says_of_emitters_stays(monkeypatch):
    assert compiling_quickly() == ({EMITTERS: False} if HAS_OLDER_EMITTERS else {})
    assert compiling_quickly({EMITTERS: True, "a": 1}) == {EMITTERS: True, "a": 1}
    with monkeypatch.context() as patch:
        patch.setenv("XLA_FLAGS", f"--{EMITTERS}=true")
        assert compiling_quickly() == {}
    with monkeypatch.context() as patch:
        patch.setattr(jax, "default_backend", lambda: "gpu")
        assert compiling_quickly({"a": 1}) == {"a": 1}
    monkeypatch.setattr(options_module, "_is_known", lambda *option: False)
    assert compiling_quickly() == {}
    program = EagerKernel(jnp.sin)
    program(jnp.ones(3))
    assert program.alone is program.inside
