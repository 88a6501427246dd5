"""The default is never worse than nothing: where a cut gains nothing, JAX has the function."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from tests.drawn import drawn
from tests.seeds import seeds

JITS = {"ja": ja.jit, "jax": jax.jit}
MOST = 1.02 if jax.__version_info__ >= (0, 12) else 1.25
"""Older JAX writes other graphs and has an older XLA, for which the estimates of temporaries are less exact."""

FEW = 2**16
"""Bytes by which programs may differ for reasons of alignment."""


def attention(q, k, v):
    length = q.shape[1]
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / 4
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    return (jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, -1), v) ** 2).mean()


def convolve(x, kernel):
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def network(kernels, images):
    x = jax.nn.gelu(convolve(jax.nn.gelu(convolve(images, kernels[0])), kernels[1]))
    logits = x.mean((1, 2))
    return (logits**2).mean(), logits


def perceptron(weights, x):
    for w in weights:
        x = jax.nn.gelu(x @ w)
    return (x**2).mean()


def placed(*shapes):
    return [jax.device_put(drawn(i, *shape) / np.float32(8)) for i, shape in enumerate(shapes)]


HEADS = placed(*[(2, 256, 16)] * 3)
KERNELS, (IMAGES,) = placed((3, 3, 3, 16), (3, 3, 16, 16)), placed((4, 32, 32, 3))
WEIGHTS, (X,) = placed(*[(64, 64)] * 4), placed((1024, 64))


def taken(jit, fn, given):
    compiled = jit(fn).lower(*given).compile()
    return compiled.memory_analysis().temp_size_in_bytes, compiled.cost_analysis()["flops"]


@pytest.mark.parametrize("name", JITS)
def test_a_causal_attention_takes_no_more_than_without_a_cut(name, optimized):
    nothing = taken(JITS[name], jax.value_and_grad(attention), HEADS)
    assert taken(JITS[name], ja.value_and_grad(attention), HEADS) <= nothing


@pytest.mark.parametrize("name", JITS)
def test_two_convolutions_take_no_more_than_without_a_cut(name, optimized):
    alone = lambda kernels, images: network(kernels, images)[0]
    nothing = taken(JITS[name], jax.value_and_grad(alone), (KERNELS, IMAGES))
    assert taken(JITS[name], ja.value_and_grad(alone), (KERNELS, IMAGES)) <= nothing


def test_a_loss_with_logits_repeats_no_convolution(optimized):
    _, nothing = taken(ja.jit, jax.value_and_grad(network, has_aux=True), (KERNELS, IMAGES))
    for gradient in (ja.value_and_grad(network, has_aux=True), jax.value_and_grad(ja.remat(network), has_aux=True)):
        assert taken(ja.jit, gradient, (KERNELS, IMAGES))[1] <= 1.03 * nothing


def test_layers_whose_activations_are_recomputed_take_less(optimized):
    nothing, _ = taken(ja.jit, jax.value_and_grad(perceptron), (WEIGHTS, X))
    assert taken(ja.jit, ja.value_and_grad(perceptron), (WEIGHTS, X))[0] < 0.7 * nothing


def test_a_network_with_batch_norm_takes_less(optimized):
    def normalised(kernels, images):
        x = images
        for kernel in kernels:
            y = convolve(x, kernel)
            x = jax.nn.relu((y - y.mean((0, 1, 2))) * jax.lax.rsqrt(y.var((0, 1, 2)) + 1e-5))
        return (x.mean((1, 2)) ** 2).mean()

    given = placed((3, 3, 3, 32), *[(3, 3, 32, 32)] * 3), IMAGES
    nothing, _ = taken(ja.jit, jax.value_and_grad(normalised), given)
    assert taken(ja.jit, ja.value_and_grad(normalised), given)[0] < 0.8 * nothing


def test_a_policy_that_is_asked_for_is_kept():
    recomputed = lambda fn: fn.partition(*HEADS).plan.recomputed
    assert recomputed(ja.remat(attention, policy="min_cut"))
    assert not any(value.bytes >= 2**18 for value in recomputed(ja.remat(attention)))


def test_what_a_mask_discards_is_not_saved():
    saved = ja.remat(attention, policy="min_cut").partition(*placed(*[(2, 1024, 16)] * 3)).plan.extra_bytes
    assert saved < 0.8 * 2 * 1024 * 1024 * 4


def random_model(seed):
    rng = np.random.default_rng(seed)
    length, width = int(rng.choice([64, 128])), int(rng.choice([32, 64]))
    steps = rng.choice(["gelu", "tanh", "norm", "residual", "attend", "silu"], size=rng.integers(2, 6)).tolist()
    weights = placed(*[(width, width)] * len(steps))

    def loss(weights, x):
        for step, w in zip(steps, weights, strict=True):
            y = x @ w
            match step:
                case "norm":
                    x = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
                case "residual":
                    x = x + jnp.tanh(y)
                case "attend":
                    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), y @ x.swapaxes(1, 2), -1e9)
                    x = x + jax.nn.softmax(scores, -1) @ y
                case _:
                    x = getattr(jax.nn, step)(y)
        value = (x**2).mean()
        return (value, x) if seed % 2 else value

    return loss, (weights, *placed((16, length, width))), bool(seed % 2)


@pytest.mark.parametrize("seed", seeds(24, 4))
def test_random_models_take_no_more_than_without_a_cut(seed, optimized):
    loss, given, has_aux = random_model(seed)
    gradients = [take(loss, has_aux=has_aux) for take in (jax.value_and_grad, ja.value_and_grad)]
    for jit in JITS.values():
        (nothing, before), (default, after) = (taken(jit, gradient, given) for gradient in gradients)
        assert default <= MOST * nothing + FEW
        assert after <= 1.05 * before
    for want, got in zip(*(jax.tree.leaves(jax.jit(gradient)(*given)) for gradient in gradients), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-5)
