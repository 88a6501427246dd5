"""What a compiled call costs beyond its computation: `ja.compile` of one op against `jax.jit` of the same op.

    python -m benchmarks.dispatch

With 1, 10 and 100 tensor arguments of 8 elements, of which one is computed with, or written in place. `jax.jit` returns
the new value where `ja.compile` writes it; it donates the argument where the baseline's name says so. With flax nnx
modules of 24 and 144 parameters the same for `model(x)`, without and with a statistic that each call writes: against
`jax.jit` of the same layers on a plain tree of arrays, and `nnx.jit` of the same module.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import nnx

import jaxaot as ja
from benchmarks.runner import Result, arguments, measure, report


def reading(n_arguments: int, n_rounds: int) -> Result:
    """Times `x + 1` of the first of several arguments."""
    arrays = [jnp.full(8, float(i)) for i in range(n_arguments)]
    tensors = [ja.from_jax(array) for array in arrays]

    def fn(first, *rest):
        return first + 1.0

    ours, theirs = ja.compile(fn), jax.jit(fn, keep_unused=True)
    contestants = {"jax.jit": lambda: theirs(*arrays), "ja.compile": lambda: ours(*tensors)}
    return measure(f"x + 1, {n_arguments} arguments", contestants, "jax.jit", n_rounds=n_rounds)


def writing(n_arguments: int, n_rounds: int) -> Result:
    """Times `x.add_(1)` of the first of several arguments."""
    arrays = [jnp.full(8, float(i)) for i in range(n_arguments)]
    tensors = [ja.tensor([float(i)] * 8) for i in range(n_arguments)]

    def write(first, *rest):
        first.add_(1.0)

    ours = ja.compile(write)
    kept = jax.jit(lambda first, *rest: first + 1.0, keep_unused=True)
    donated = jax.jit(lambda first, *rest: first + 1.0, keep_unused=True, donate_argnums=0)
    held = [jnp.zeros(8), jnp.zeros(8)]

    def call_kept():
        held[0] = kept(held[0], *arrays[1:])
        return held[0]

    def call_donated():
        held[1] = donated(held[1], *arrays[1:])
        return held[1]

    def call_ours():
        ours(*tensors)
        return tensors[0]

    contestants = {"jax.jit": call_kept, "jax.jit, donated": call_donated, "ja.compile": call_ours}
    return measure(f"x.add_(1), {n_arguments} arguments", contestants, "jax.jit", n_rounds=n_rounds)


def training(n_rounds: int) -> Result:
    """Times `(x * w).sum()` and its gradient: a compiled call with a backward, against one `jax.jit` of both."""
    x, w = jnp.ones(8), jnp.ones(8)
    theirs = jax.jit(jax.value_and_grad(lambda w, x: (x * w).sum()))
    ours = ja.compile(lambda x, w: (x * w).sum())
    x_tensor, w_tensor = ja.from_jax(x), ja.tensor([1.0] * 8, requires_grad=True)

    def call_ours():
        w_tensor.grad = None
        ours(x_tensor, w_tensor).backward()
        return w_tensor.grad

    contestants = {"jax.jit": lambda: theirs(w, x)[1], "ja.compile + backward()": call_ours}
    return measure("forward and backward, 2 arguments", contestants, "jax.jit", n_rounds=n_rounds)


class Layers(nnx.Module):
    """Linear layers of 8 features, and how often they were called."""

    def __init__(self, n_layers: int, counts: bool):
        self.layers = nnx.List([nnx.Linear(8, 8, rngs=nnx.Rngs(i)) for i in range(n_layers)])
        self.n_calls = nnx.BatchStat(jnp.zeros(()))
        self.counts = counts

    def __call__(self, x: jax.Array) -> jax.Array:
        if self.counts:
            self.n_calls[...] += 1
        for layer in self.layers:
            x = layer(x)
        return x


def module(n_parameters: int, counts: bool, n_rounds: int) -> Result:
    """Times a module of linear layers, each with two parameters."""
    ours, theirs = (Layers(n_parameters // 2, counts) for _ in range(2))
    tree = [{"kernel": layer.kernel[...], "bias": layer.bias[...]} for layer in ours.layers]
    held = [jnp.zeros(())]
    x = jnp.ones((1, 8))

    def apply(tree, x):
        for layer in tree:
            x = x @ layer["kernel"] + layer["bias"]
        return x

    plain = jax.jit(apply)
    counting = jax.jit(lambda tree, n_calls, x: (apply(tree, x), n_calls + 1))

    def call_counting():
        out, held[0] = counting(tree, held[0], x)
        return out

    compiled, nnx_jit = ja.compile(lambda model, x: model(x)), nnx.jit(lambda model, x: model(x))
    contestants = {
        "jax.jit, plain tree": call_counting if counts else lambda: plain(tree, x),
        "ja.compile": lambda: compiled(ours, x),
        "nnx.jit": lambda: nnx_jit(theirs, x),
    }
    name = f"nnx module, {n_parameters} parameters" + (", one statistic written" if counts else "")
    return measure(name, contestants, "jax.jit, plain tree", n_rounds=n_rounds)


def main() -> None:
    """Prints the table."""
    options = arguments(__doc__).parse_args()
    results = [case(n, options.rounds) for case in (reading, writing) for n in (1, 10, 100)]
    modules = [module(n, counts, options.rounds) for counts in (False, True) for n in (24, 144)]
    report("Overhead of a compiled call", [*results, training(options.rounds), *modules], options)


if __name__ == "__main__":
    main()
