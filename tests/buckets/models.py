"""Steps of models in plain JAX, whose batch and length change."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RNG = np.random.default_rng(7)


def weights(*shape):
    return jnp.asarray(RNG.normal(size=shape).astype(np.float32) * 0.2)


def adamw(params, grads, state, lr=1e-2):
    """Returns parameters and state after a step of AdamW."""
    m, v, t = state
    t = t + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, grads)
    step = lambda p, m, v: p - lr * (m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.99**t)) + 1e-4) + 0.01 * p)
    return jax.tree.map(step, params, m, v), (m, v, t)


def zero_state(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return zeros, jax.tree.map(jnp.zeros_like, params), jnp.float32(0)


class GPT:
    """One layer, a learnt table of 16 places, dropout if a key is given."""

    width, heads, places, words = 16, 2, 16, 11

    @classmethod
    def params(cls):
        d = cls.width
        shapes = {"qkv": (d, 3 * d), "out": (d, d), "up": (d, 2 * d), "down": (2 * d, d)}
        layers = [{name: weights(*shape) for name, shape in shapes.items()} for _ in range(1)]
        return {"words": weights(cls.words, d), "places": weights(cls.places, d), "layers": layers}

    @classmethod
    def loss(cls, params, ids, key=None):
        b, t = ids.shape
        norm = lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        x = params["words"][ids] + params["places"][:t]
        for i, layer in enumerate(params["layers"]):
            q, k, v = jnp.split(norm(x) @ layer["qkv"], 3, -1)
            heads = lambda y: y.reshape(b, t, cls.heads, -1).transpose(0, 2, 1, 3)
            scores = heads(q) @ heads(k).transpose(0, 1, 3, 2) / np.sqrt(cls.width // cls.heads)
            scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -jnp.inf)
            y = (jax.nn.softmax(scores, -1) @ heads(v)).transpose(0, 2, 1, 3).reshape(b, t, -1)
            x = x + y @ layer["out"]
            if key is not None:
                x = x * jax.random.bernoulli(jax.random.fold_in(key, i), 0.9, x.shape) / 0.9
            x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
        logits = (norm(x) @ params["words"].T)[:, :-1].reshape(-1, cls.words)
        labels = ids[:, 1:].reshape(-1)
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()

    @classmethod
    def step(cls, params, state, ids, key=None):
        loss, grads = jax.value_and_grad(cls.loss)(params, ids, key)
        return loss, *adamw(params, grads, state)

    @classmethod
    def ids(cls, b, t):
        return jnp.asarray(RNG.integers(0, cls.words, (b, t)))


def cnn_params():
    return {"conv": weights(8, 3, 3, 3), "scale": jnp.ones(8), "bias": jnp.zeros(8), "out": weights(8, 5)}


def cnn_step(params, running, images, labels):
    """Returns the loss, the share of right ones, parameters, and the running statistics of a BatchNorm."""

    def loss(params):
        x = lax.conv_general_dilated(images, params["conv"], (1, 1), "SAME")
        mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
        shaped = lambda v: v[None, :, None, None]
        x = (x - shaped(mean)) / jnp.sqrt(shaped(var) + 1e-5) * shaped(params["scale"]) + shaped(params["bias"])
        x = lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        logits = x.mean((2, 3)) @ params["out"]
        right = (logits.argmax(-1) == labels).mean()
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        return -picked.mean(), (right, mean, var)

    (value, (right, mean, var)), grads = jax.value_and_grad(loss, has_aux=True)(params)
    n = images.shape[0] * images.shape[2] * images.shape[3]
    running = (0.9 * running[0] + 0.1 * mean, 0.9 * running[1] + 0.1 * var * n / (n - 1))
    return value, right, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), running


def images(b):
    return jax.device_put(RNG.normal(size=(b, 3, 8, 8)).astype(np.float32)), jnp.asarray(RNG.integers(0, 5, b))


def lstm_params():
    return {"in": weights(6, 32), "rec": weights(8, 32), "out": weights(8, 6)}


def lstm_step(params, xs):
    """Returns the loss of predicting the next row, what was predicted, and parameters after a step."""

    def loss(params):
        def cell(state, x):
            h, c = state
            i, f, o, g = jnp.split(x @ params["in"] + h @ params["rec"], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h @ params["out"]

        start = jnp.zeros((xs.shape[1], 8)), jnp.zeros((xs.shape[1], 8))
        _, ys = lax.scan(cell, start, xs[:-1])
        return ((ys - xs[1:]) ** 2).mean(), ys

    (value, ys), grads = jax.value_and_grad(loss, has_aux=True)(params)
    return value, ys, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def rows_of_time(t, b):
    return jax.device_put(RNG.normal(size=(t, b, 6)).astype(np.float32))


def prefill(cache, w, xs):
    """Returns what attends to rows, and the cache with these in its first places."""
    keys = lax.dynamic_update_slice(cache, xs @ w, (0, 0))
    scores = xs @ keys.T
    here, there = jnp.arange(xs.shape[0])[:, None], jnp.arange(keys.shape[0])
    return jax.nn.softmax(jnp.where(there <= here, scores, -jnp.inf)) @ keys, keys


def decode(cache, w, x, at):
    """Returns what attends to all places of a cache up to one, which is written, and the cache."""
    cache = lax.dynamic_update_slice(cache, (x @ w)[None], (at, 0))
    scores = jnp.where(jnp.arange(cache.shape[0]) <= at, cache @ x, -jnp.inf)
    return jax.nn.softmax(scores) @ cache, cache


def grow(cache, x):
    """Returns what attends to a cache with one row more, and that cache."""
    cache = jnp.concatenate([cache, x[None]])
    return jax.nn.softmax(cache @ x) @ cache, cache
