"""Random programs made of loops and branches inside one another."""

import random

import jax
import jax.numpy as jnp

SIZE = 3


def random_nested_program(seed, depth=2):
    """Returns a function of two 3x3 matrices, an index vector and a key, returning a scalar, a matrix and integers."""
    choose = random.Random(seed)

    def block(level):
        """Returns a function from (values, key) to a new value, made of a few random steps."""
        steps = [step(level) for _ in range(choose.randint(1, 3))]

        def run(values, key):
            values = list(values)
            for i, one in enumerate(steps):
                values.append(one(values, jax.random.fold_in(key, i)))
            return values[-1]

        return run

    def pick():
        place = choose.random()
        return lambda values: values[int(place * len(values))]

    def step(level):
        which = choose.randrange(8 if level == 0 else 16)
        a, b, c = pick(), pick(), pick()
        number = choose.randint(0, 99)
        match which:
            case 0:
                return lambda v, key: jnp.tanh(a(v) @ b(v))
            case 1:
                return lambda v, key: jnp.sin(a(v)) * b(v)
            case 2:
                return lambda v, key: a(v) + 0.5 * b(v)
            case 3:
                return lambda v, key: jnp.where(jax.random.bernoulli(key, 0.7, a(v).shape), a(v), 0.0)
            case 4:
                return lambda v, key: jax.nn.softmax(a(v)) + b(v).sum()
            case 5:
                return lambda v, key: jnp.exp(-(a(v) ** 2)).astype(jnp.bfloat16).astype(jnp.float32) * b(v)
            case 6:
                return lambda v, key: jnp.sort(a(v), axis=0) - b(v).T
            case 7:
                return lambda v, key: jax.lax.stop_gradient(jnp.cos(a(v))) * b(v)
            case 8 | 9:
                return cond(block(level - 1), block(level - 1), a, b, c)
            case 10:
                return switch([block(level - 1) for _ in range(3)], a, b)
            case 11:
                return mapped(block(level - 1), a, b)
            case 12:
                return checkpointed(block(level - 1), a, b)
            case _:
                return scan(block(level - 1), block(level - 1), number, a, b, c)

    def cond(then, other, a, b, c):
        def run(v, key):
            def first(x, y):
                return then([x, y, c(v)], key)

            return jax.lax.cond(a(v).sum() > 0.1, first, lambda x, y: other([y, x], key), a(v), b(v))

        return run

    def switch(branches, a, b):
        def run(v, key):
            index = (jnp.abs(a(v)).sum() * 3).astype(jnp.int32) % 3
            functions = [lambda x, y, branch=branch: branch([x, y], key) for branch in branches]
            return jax.lax.switch(index, functions, a(v), b(v))

        return run

    def mapped(body, a, b):
        def run(v, key):
            return jax.lax.map(
                lambda row: body([a(v), row[0] * b(v)], row[1]).sum(0), (b(v), jax.random.split(key, SIZE))
            )

        return run

    def checkpointed(body, a, b):
        return lambda v, key: jax.checkpoint(lambda x, y: body([x, y], key))(a(v), b(v))

    def scan(body, out, number, a, b, c):
        length, reverse, unroll = (0, 1, 2, 3)[number % 4] or number // 50, bool(number & 4), (1, 2)[number // 8 % 2]

        def run(v, key):
            def iteration(carry, row):
                x, count, half, own_key = carry
                y, iteration_key = row
                own_key, sub = jax.random.split(own_key)
                z = jnp.tanh(body([x, y, c(v), x * count], jax.random.fold_in(sub, count)))
                w = out([z, y, x], iteration_key)
                return (z, count + 1, (half * 2 + z[0]).astype(jnp.bfloat16), own_key), (w, z[:1] + half, count, x)

            rows = jnp.broadcast_to(b(v), (length, SIZE, SIZE)) * jnp.arange(1.0, length + 1)[:, None, None]
            start = (a(v), jnp.int32(1), jnp.zeros(SIZE, jnp.bfloat16), key)
            (x, count, half, _), (w, z, counts, xs) = jax.lax.scan(
                iteration, start, (rows, jax.random.split(key, length)), reverse=reverse, unroll=unroll
            )
            result = x + half.astype(jnp.float32) * count
            if number % 3 == 0:
                result = result + w.sum(0) + jnp.tanh(z.sum(0))
            if number % 3 == 1:
                result = result * (1 + jnp.sin(xs).sum(0)) + counts.sum()
            return result * 0.1

        return run

    main = [step(depth) for _ in range(choose.randint(2, 4))]

    def program(x, w, index, key):
        values = [x, w, x[index[:SIZE]]]
        for i, one in enumerate(main):
            y = one(values, jax.random.fold_in(key, i))
            values.append(y / (1 + jax.lax.stop_gradient(jnp.abs(y).max())))  # so that rounding stays small
        return (values[-1] * values[len(values) // 2]).sum(), values[-2], jnp.argmax(values[-1])

    return program


def nested_arguments(seed):
    x, w = jax.random.normal(jax.random.key(seed), (2, SIZE, SIZE))
    return x, w, jnp.array([2, 0, 0]), jax.random.key(seed + 1)
