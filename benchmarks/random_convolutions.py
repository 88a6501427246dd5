"""Random convolutional networks with batch norm, pooling and residuals, with their gradients."""

import random

import jax
import jax.numpy as jnp
from jax import lax

_NUMBERS = ("NHWC", "HWIO", "NHWC")


def convolution_program(seed, batch=4, size=6, width=4):
    """Returns a function of two arrays that returns a loss and its gradients, and arguments for it."""
    rng = random.Random(seed)
    steps = [rng.choice(("conv", "group", "norm", "relu", "pool", "mean", "residual", "mix")) for _ in range(8)]

    def convolve(x, kernel, **options):
        return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=_NUMBERS, **options)

    def loss(x, kernel):
        first = x = convolve(x, kernel)
        for name in steps:
            match name:
                case "conv":
                    x = convolve(x, kernel) * 0.3
                case "group":
                    x = convolve(x, kernel[:, :, : width // 2], feature_group_count=2)
                case "norm":
                    centred = x - x.mean((0, 1, 2))
                    x = centred * lax.rsqrt((centred**2).mean((0, 1, 2)) + 0.1)
                case "relu":
                    x = jax.nn.softplus(x)
                case "pool":
                    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "SAME")
                case "mean":
                    x = x + jax.nn.softmax(x.mean((1, 2)), -1)[:, None, None, :] - x.max(0)
                case "residual":
                    x = x + 0.5 * first
                case "mix":
                    x = jnp.concatenate([x[..., ::2], x[..., 1::2]], -1)
        return (x * x).sum() / size

    k1, k2 = jax.random.split(jax.random.key(seed))
    args = jax.random.normal(k1, (batch, size, size, width)), jax.random.normal(k2, (3, 3, width, width)) * 0.3
    return jax.value_and_grad(loss, (0, 1)), args
