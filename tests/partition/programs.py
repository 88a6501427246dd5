"""Programs to cut: a GPT in plain jnp, and random expressions."""

import random

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot.joint import build_joint
from jaxaot.passes.pipeline import run_passes


def gpt_parameters(n_layers, width, vocabulary, length, key):
    keys = iter(jax.random.split(key, 4 * n_layers + 2))

    def normal(*shape):
        return jax.random.normal(next(keys), shape) * 0.02

    def block():
        return {
            "qkv": normal(width, 3 * width),
            "proj": normal(width, width),
            "up": normal(width, 4 * width),
            "down": normal(4 * width, width),
            "norms": (jnp.ones(width), jnp.zeros(width), jnp.ones(width), jnp.zeros(width)),
        }

    blocks = [block() for _ in range(n_layers)]
    return {"tokens": normal(vocabulary, width), "positions": normal(length, width), "blocks": blocks}


def gpt_block(x, block, n_heads):
    """Returns the residual stream behind a layer."""
    batch, length, width = x.shape

    def heads(a):
        return a.reshape(batch, length, n_heads, width // n_heads).transpose(0, 2, 1, 3)

    scale1, shift1, scale2, shift2 = block["norms"]
    q, k, v = map(heads, jnp.split(layer_norm(x, scale1, shift1) @ block["qkv"], 3, -1))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32(np.sqrt(width // n_heads))
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)
    x = x + mixed.transpose(0, 2, 1, 3).reshape(batch, length, width) @ block["proj"]
    return x + jax.nn.gelu(layer_norm(x, scale2, shift2) @ block["up"]) @ block["down"]


def layer_norm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def gpt_loss(parameters, tokens, targets, n_heads):
    x = parameters["tokens"][tokens] + parameters["positions"][: tokens.shape[1]]
    if isinstance(parameters["blocks"], list):
        for block in parameters["blocks"]:
            x = gpt_block(x, block, n_heads)
    else:
        x, _ = jax.lax.scan(lambda x, block: (gpt_block(x, block, n_heads), None), x, parameters["blocks"])
    logits = jax.nn.log_softmax(layer_norm(x, 1.0, 0.0) @ parameters["tokens"].T)
    return -jnp.take_along_axis(logits, targets[..., None], -1).mean()


def gpt_of_one_loop(**sizes):
    """Returns what `gpt` does, for a model whose layers are the turns of one loop."""
    return gpt(**sizes, is_one_loop=True)


def gpt(n_layers=4, width=128, n_heads=4, length=128, batch=8, vocabulary=256, is_one_loop=False):
    """Returns a loss of flat arguments, the arguments, and how many of them are parameters."""
    parameters = gpt_parameters(n_layers, width, vocabulary, length, jax.random.key(0))
    if is_one_loop:
        parameters["blocks"] = jax.tree.map(lambda *layers: jnp.stack(layers), *parameters["blocks"])
    tokens = jax.random.randint(jax.random.key(1), (batch, length), 0, vocabulary)
    targets = jax.random.randint(jax.random.key(2), (batch, length), 0, vocabulary)
    flat, tree = jax.tree.flatten(parameters)

    def loss(*args):
        return gpt_loss(jax.tree.unflatten(tree, args[:-2]), args[-2], args[-1], n_heads)

    return loss, (*flat, tokens, targets), len(flat)


def joint_of(fn, args, inputs, outputs=(0,), passes=("cse", "dce")):
    return run_passes(build_joint(jax.make_jaxpr(fn)(*args), inputs, outputs), passes, check=True)


@jax.custom_jvp
def scaled(x):
    return 2.0 * x


@scaled.defjvp
def _(primals, tangents):
    return scaled(*primals), 3.0 * tangents[0]  # wrong on purpose: whoever ignores the rule is found out


@jax.custom_vjp
def clipped(x):
    return jnp.sin(x)


clipped.defvjp(lambda x: (jnp.sin(x), x), lambda x, ct: (ct * jnp.clip(x, -1.0, 1.0),))


def random_program(seed):
    """Returns a function of two 4x4 matrices, an index vector and a key, returning a scalar, a matrix and integers."""
    choose = random.Random(seed)
    steps = [(choose.randrange(16), choose.random(), choose.random()) for _ in range(choose.randint(4, 10))]

    def program(x, w, index, key):
        values = [x, w]
        for step, first, second in steps:
            a, b = values[int(first * len(values))], values[int(second * len(values))]
            match step:
                case 0:
                    y = a @ b * 0.5
                case 1:
                    y = jnp.tanh(a)
                case 2:
                    y = a + b
                case 3:
                    y = a * b
                case 4:
                    y = jnp.where(a > b, a, jnp.sin(b))
                case 5:
                    y = a[index]
                case 6:
                    key, sub = jax.random.split(key)
                    y = jnp.where(jax.random.bernoulli(sub, 0.5, a.shape), a / 0.5, 0.0)
                case 7:
                    y, _ = jax.lax.scan(lambda carry, row: (jnp.cos(carry) + row, None), a[0], b)
                    y = y + a
                case 8:
                    y = jax.nn.softmax(a, axis=-1)
                case 9:
                    y = a.T.reshape(2, 8).reshape(4, 4)
                case 10:
                    y = scaled(a)
                case 11:
                    y = clipped(a) + b
                case 12:
                    y = jax.lax.cond(a.sum() > 0, jnp.sin, lambda v: v * b, a)
                case 13:
                    y = jax.checkpoint(lambda v: jnp.sin(jnp.sin(v) @ b))(a)
                case 14:
                    y = (a.astype(jnp.bfloat16) * 0.5).astype(jnp.float32)
                case _:
                    y = jax.lax.stop_gradient(a) * b + jnp.sort(a, axis=0)
            values.append(y)
        return (values[-1] * values[len(values) // 2]).sum(), values[-2], jnp.argmax(values[-1])

    return program


def small_program(seed):
    """Returns a function of a 4x4 matrix whose graph has few values, of many sizes, with a matrix and a scalar out."""
    choose = random.Random(seed)
    steps = [(choose.randrange(8), choose.random(), choose.random()) for _ in range(choose.randint(3, 5))]

    def program(x):
        values = [x, x @ x]
        for step, first, second in steps:
            a, b = values[int(first * len(values))], values[int(second * len(values))]
            values.append(
                [
                    lambda: a * b,
                    lambda: jnp.sin(a),
                    lambda: jnp.exp(a.sum(0)) * b,
                    lambda: a @ b,
                    lambda: jnp.tanh(a),
                    lambda: a.astype(jnp.bfloat16).astype(jnp.float32) * b,
                    lambda: a.max() * b,
                    lambda: a + b,
                ][step]()
            )
        return (values[-1] * values[-2]).sum(), values[1 + seed % 3]

    return program


def random_arguments(seed):
    x, w = jax.random.normal(jax.random.key(seed), (2, 4, 4))
    return x, w, jnp.array([2, 0, 0, 1]), jax.random.key(seed + 1)
