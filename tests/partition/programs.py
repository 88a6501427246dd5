"""Programs to cut: a GPT in plain jnp, and random expressions."""

import random

import jax
import jax.numpy as jnp

from benchmarks import models
from jaxaot.joint import build_joint
from jaxaot.passes.pipeline import run_passes


def gpt_of_one_loop(**sizes):
    """Returns what `gpt` does, for a model whose layers are the iterations of one loop."""
    return gpt(**sizes, is_scanned=True)


def gpt(**sizes):
    """Returns a loss of flat arguments, the arguments, and how many of them are parameters."""
    model = models.gpt(**sizes)
    flat, tree = jax.tree.flatten(model.parameters)

    def loss(*args):
        return model.loss(jax.tree.unflatten(tree, args[:-2]), *args[-2:])

    return loss, (*flat, *model.data), len(flat)


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
