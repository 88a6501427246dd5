"""Random graphs of plain JAX: views, shifts, scatters, reductions, sorts, casts; floats, halves, integers and bools.

A graph is grown while it is traced: each step picks values that fit from those there are. There are few shapes and few
parameters, so that evaluations by equations, which compile each kind of equation once, find most of them compiled.
"""

from __future__ import annotations

import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SHAPES = ((16,), (4, 4), (2, 2, 4), (6,))
FLOATS = ("float32", "float32", "float32", "bfloat16", "float16")
INTEGERS = ("int32", "int32", "int8")
DTYPES = (*FLOATS, *INTEGERS, "bool")

BLOCK = 50
"""How many seeds one after the other have inputs of the same types, so that they share equations."""


def is_float(x):
    return jnp.issubdtype(x.dtype, jnp.floating)


def is_integer(x):
    return jnp.issubdtype(x.dtype, jnp.integer)


def _same_size(shape):
    return [s for s in SHAPES if np.prod(s) == np.prod(shape) and s != shape]


# each step takes (rng, x, pick), where `pick(like)` is a value of the shape and type of x, to a value or None
def _unary(rng, x, pick):
    if is_float(x):
        ops = (
            jnp.sin, jnp.tanh, jnp.abs, lax.neg, lax.square, lax.logistic, lax.sign, lambda x: jnp.sqrt(jnp.abs(x) + 1),
            lambda x: jnp.exp(jnp.tanh(x)), lambda x: jnp.log1p(jnp.abs(x)), lambda x: lax.integer_pow(x, 3),
            lambda x: lax.rsqrt(jnp.abs(x) + 1), jax.nn.relu, jax.nn.gelu, lambda x: jnp.clip(x, -1, 2), lax.cbrt,
            lambda x: x / 3, lambda x: x * 0.5 + 1, lambda x: 1 / (jnp.abs(x) + 1),
        )  # fmt: skip
    elif is_integer(x):
        ops = (
            lax.neg, jnp.abs, lax.bitwise_not, lambda x: x * x, lax.sign, lax.population_count, lambda x: x + 3,
            lambda x: jnp.clip(x, 1, 50), lambda x: x * 5, lambda x: x // 3, lambda x: x % 4, lambda x: x << 1,
            lambda x: x >> 1, lambda x: abs(x * x),
        )  # fmt: skip
    else:
        ops = (lax.bitwise_not, lambda x: x.astype("int32").astype(bool), lambda x: jnp.roll(x, 1))
    return rng.choice(ops)(x)


def _binary(rng, x, pick):
    y = pick(x)
    if is_float(x):
        ops = (lax.add, lax.sub, lax.mul, lax.max, lax.min, lambda x, y: x / (jnp.abs(y) + 1), jnp.arctan2, lax.add)
    elif is_integer(x):
        ops = (
            lax.add, lax.sub, lax.mul, lax.max, lax.min, lax.bitwise_and, lax.bitwise_xor,
            lambda x, y: x // (y * y + 1),
        )  # fmt: skip
    else:
        ops = (lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor)
    return rng.choice(ops)(x, y)


def _compare(rng, x, pick):
    return rng.choice((lax.lt, lax.eq, lax.ge, lax.ne))(x, pick(x))


def _select(rng, x, pick):
    y = pick(x)
    return jnp.where(x < y if x.dtype != bool else x, x, y * 2 if x.dtype != bool else ~y)


def _cast(rng, x, pick):
    dtype = rng.choice(("float32", "bool", pick.dtypes[0], pick.dtypes[2]))
    if is_float(x) and dtype in INTEGERS:  # other values have no defined result
        x = jnp.clip(x, 0, 100)
    return lax.convert_element_type(x, dtype)


def _reshape(rng, x, pick):
    shapes = _same_size(x.shape)
    return x.reshape(rng.choice(shapes)) if shapes else None


def _move(rng, x, pick):
    moves = [lambda x: jnp.flip(x, 0), lambda x: jnp.roll(x, 1), lambda x: jnp.roll(x, 1, -1)]
    if x.shape == (4, 4):
        moves += [jnp.transpose, lambda x: x.T + x]
    if x.shape == (2, 2, 4):
        moves += [lambda x: jnp.swapaxes(x, 0, 1)]
    return rng.choice(moves)(x)


def _parts(x, axis, start, size):
    return lax.slice_in_dim(x, start, start + size, axis=axis)


def _shift(rng, x, pick):
    """The rows of a value, or of another, written to other rows."""
    axis = rng.randrange(x.ndim)
    n = x.shape[axis]
    size = rng.choice((1, n - 1, n // 2))
    source, to = rng.randint(0, n - size), rng.randint(0, n - size)
    part = _parts(rng.choice((x, x, pick(x))), axis, source, size)
    change = rng.random()
    if change < 0.4 and x.dtype != bool:
        part = lax.neg(part) if change < 0.2 else part + part
    start = [0] * x.ndim
    start[axis] = to
    if rng.random() < 0.3:
        return x.at[(slice(None),) * axis + (slice(to, to + size),)].set(part)
    return lax.dynamic_update_slice(x, part, [jnp.int32(s) for s in start])


def _concatenate(rng, x, pick):
    axis = rng.randrange(x.ndim)
    n = x.shape[axis]
    k = rng.randint(1, n - 1)
    return jnp.concatenate([_parts(x, axis, k, n - k), _parts(pick(x), axis, 0, k)], axis)


def _pad(rng, x, pick):
    axis = rng.randrange(x.ndim)
    low = rng.choice((-1, 1, 2))
    config = [(low, -low, 0) if i == axis else (0, 0, 0) for i in range(x.ndim)]
    return lax.pad(x, jnp.zeros((), x.dtype), config)


def _dynamic(rng, x, pick, numbers):
    """Windows at places that are known only when the program runs, some of them beyond the ends."""
    axis, sizes = rng.randrange(x.ndim), list(x.shape)
    sizes[axis] = max(1, x.shape[axis] // 2)

    def starts():
        return [rng.choice(numbers) if i == axis else jnp.int32(0) for i in range(x.ndim)]

    window = lax.dynamic_slice(x, starts(), sizes)
    if rng.random() < 0.3 and sizes[axis] > 1:
        smaller = list(sizes)
        smaller[axis] -= 1
        inner = lax.dynamic_slice(window, starts(), smaller)
        return lax.dynamic_update_slice(pick(x), inner, starts())
    return lax.dynamic_update_slice(rng.choice((x, pick(x))), window, starts())


def _scatter(rng, x, pick, numbers):
    index = jnp.stack([rng.choice(numbers), rng.choice(numbers)])
    y = pick(x)
    ref = x.at[index]
    if x.dtype == bool:
        return ref.set(y[:2], unique_indices=False) if x.shape[0] == 2 else ref.set(y[0])
    kind = rng.choice(("add", "max", "min", "set"))
    mode = rng.choice(("drop", "clip"))
    if kind == "set":  # of two writes to one place either may be the last
        return x.at[index[0]].set(y[0], mode=mode)
    return getattr(ref, kind)(y[0], mode=mode)


def _gather(rng, x, pick, numbers):
    index = jnp.stack([rng.choice(numbers) for _ in range(x.shape[0])]) if x.shape[0] <= 4 else None
    if index is None:
        return x[lax.iota("int32", x.shape[0])[::-1]]
    return x.at[index].get(mode=rng.choice(("clip", "fill")))


def _reduce(rng, x, pick):
    axis = rng.choice((None, 0, x.ndim - 1))
    if x.dtype == bool:
        return jnp.broadcast_to(rng.choice((jnp.any, jnp.all))(x, axis, keepdims=True), x.shape)
    ops = [jnp.sum, jnp.max, jnp.min, jnp.max, jnp.sum]
    ops += (
        [jnp.mean, lambda x, axis, keepdims: jnp.linalg.norm(x.ravel()).reshape((1,) * x.ndim)] if is_float(x) else []
    )
    ops += [jnp.prod, jnp.argmax] if is_integer(x) else []
    made = rng.choice(ops)(x, axis, keepdims=True).astype(x.dtype)
    return jnp.broadcast_to(made, x.shape) if rng.random() < 0.5 else _mixed(rng, x, made)


def _mixed(rng, x, y):
    if x.dtype == bool:
        return x ^ y
    if is_float(x):
        return rng.choice((lambda: x - y, lambda: x / (1 + jnp.abs(y)), lambda: x * y))()
    return x - y


def _cumulative(rng, x, pick):
    if x.dtype == bool:
        return None
    axis, reverse = rng.randrange(x.ndim), rng.random() < 0.3
    ops = (lax.cumsum, lax.cummax, lax.cummin, lax.cumsum) if is_float(x) else (lax.cumsum, lax.cummax, lax.cumprod)
    return rng.choice(ops)(x, axis, reverse=reverse)


def _sort(rng, x, pick):
    if x.dtype == bool:
        return None
    kind = rng.random()
    if kind < 0.5:
        return lax.sort(x, dimension=rng.randrange(x.ndim))
    if kind < 0.75:
        y = pick(x)
        return lax.sort((x, y), dimension=x.ndim - 1, num_keys=2)[1]
    return lax.top_k(x, x.shape[-1])[0]


def _window(rng, x, pick):
    if x.ndim != 2 or not is_float(x):
        return None
    op, init = rng.choice(((lax.add, 0.0), (lax.max, -jnp.inf)))
    return lax.reduce_window(x, np.asarray(init, x.dtype), op, (2, 2), (1, 1), "SAME")


def _dot(rng, x, pick):
    if x.shape == (4, 4):
        return jnp.matmul(x, pick(x)) if x.dtype != bool else None
    return None


def _loop(rng, x, pick):
    if not is_float(x):
        return None
    y = pick(x)
    if rng.random() < 0.5:
        return lax.scan(lambda c, row: (c * 0.5 + row, c - row), x[0] * 0, y)[1]
    return lax.cond(x.ravel()[0] < y.ravel()[0], lambda x, y: x - y, lambda x, y: x * y, x, y)


STEPS = (
    (_unary, 4), (_binary, 4), (_compare, 1), (_select, 1), (_cast, 2), (_reshape, 4), (_move, 2), (_shift, 4),
    (_concatenate, 1), (_pad, 1), (_reduce, 3), (_cumulative, 1), (_sort, 1), (_window, 1), (_dot, 1), (_loop, 1),
)  # fmt: skip
WITH_NUMBERS = ((_dynamic, 2), (_scatter, 2), (_gather, 1))
_CHOICES = [step for step, n in (*STEPS, *WITH_NUMBERS) for _ in range(n)]
_NUMBERED = {step for step, _ in WITH_NUMBERS}


def types(seed):
    """Returns the shape and the dtypes of the arrays that the graph of a seed takes, alike for `BLOCK` seeds."""
    rng = random.Random(seed // BLOCK)
    return rng.choice(SHAPES), (rng.choice(FLOATS), rng.choice(DTYPES), rng.choice(INTEGERS))


def inputs(seed):
    """Returns the arrays that the graph of a seed takes: three of them, and three numbers."""
    rng, values = random.Random(seed), np.random.default_rng(seed)
    shape, dtypes = types(seed)
    made = []
    for dtype in dtypes:
        if dtype == "bool":
            value = values.integers(0, 2, shape)
        elif dtype in INTEGERS:
            value = values.integers(-100, 100, shape)
        else:
            value = values.integers(-8, 9, shape) / 4 if rng.random() < 0.5 else values.normal(size=shape)
        made.append(jnp.asarray(value).astype(dtype))
    return [*made, *map(jnp.int32, values.integers(-2, 6, 3))]


def program(seed, n_steps=7):
    """Returns the function of a seed: arrays and numbers in, a list of arrays out."""

    def run(*args):
        rng = random.Random(seed + 1_000_000)
        *values, a, b, c = args
        numbers = (a, b, c)

        def pick(like):
            fitting = [v for v in values if v.shape == like.shape and v.dtype == like.dtype]
            return rng.choice(fitting[-4:])

        pick.dtypes = types(seed)[1]
        for _ in range(n_steps):
            step, x = rng.choice(_CHOICES), values[-rng.randint(1, min(3, len(values)))]
            made = step(rng, x, pick, numbers) if step in _NUMBERED else step(rng, x, pick)
            if made is not None:
                values.append(made)
        return values[3:][-3:] or values

    return run


def gradients(run, args):
    """Returns the function that takes the inputs and cotangents of the floats that `run` returns to its gradients."""
    floats = [i for i, x in enumerate(args) if is_float(x)]

    def backward(*args):
        args = list(args)

        def of_floats(*xs):
            for i, x in zip(floats, xs, strict=True):
                args[i] = x
            return [y for y in run(*args) if is_float(y)]

        made, pull = jax.vjp(of_floats, *[args[i] for i in floats])
        return pull([jnp.cos(jnp.arange(y.size, dtype="float32")).reshape(y.shape).astype(y.dtype) for y in made])

    return backward
