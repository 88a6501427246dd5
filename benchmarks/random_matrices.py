"""Random programs of matrix products, transposes and chains that several equations read, with their gradients."""

import random

import jax
import jax.numpy as jnp

_EINSUMS = ("btd,de->bte", "btd,ed->bte", "btd,bte->de", "btd,bsd->bts", "btd,dt->bt", "btd,bte->bde", "tbd,de->bte")


def matrix_program(seed, dtype=jnp.float32, batch=2, size=8):
    """Returns a function of two arrays that returns a loss and its gradients, and arguments for it."""
    rng = random.Random(seed)
    steps = [
        (rng.choice(("dot", "chain", "norm", "swap", "softmax", "heads", "scale")), rng.random()) for _ in range(8)
    ]

    def loss(x, w):
        kept = [x]
        for name, number in steps:
            x = kept[int(number * len(kept))]
            match name:
                case "dot":
                    kept.append(jnp.tanh(_product(_EINSUMS[int(number * len(_EINSUMS))], x, w)))
                case "chain":
                    kept.append(kept[-1] + 0.5 * x - kept[0])
                case "norm":
                    kept.append((x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 0.1))
                case "swap":
                    kept.append(jnp.swapaxes(x, 1, 2) @ w)
                case "softmax":
                    kept.append(jax.nn.softmax(x @ w, -1))
                case "heads":
                    heads = (x @ w).reshape(batch, size, 2, size // 2).transpose(0, 2, 1, 3)
                    scores = heads @ heads.swapaxes(-1, -2)
                    kept.append((scores @ heads).transpose(0, 2, 1, 3).reshape(batch, size, size) * 0.1)
                case "scale":
                    kept.append(x * 2.0 + jnp.sin(kept[-1]))
        return sum(jnp.sum(value * value) for value in kept[-3:]).astype(jnp.float32) / size

    k1, k2 = jax.random.split(jax.random.key(seed))
    args = jax.random.normal(k1, (batch, size, size), dtype), jax.random.normal(k2, (size, size), dtype) * 0.3
    return jax.value_and_grad(loss, (0, 1)), args


def _product(subscripts, x, w):
    first, second = subscripts.split("->")[0].split(",")
    result = jnp.einsum(subscripts, x.transpose(1, 0, 2) if first == "tbd" else x, w if len(second) == 2 else x)
    return result if result.ndim == 3 else x + (result[..., None] if "->bt" in subscripts else result)
