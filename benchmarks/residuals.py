"""What a small GPT keeps between forward and backward: `jax.vjp` against the policies of jaxaot.

    python -m benchmarks.residuals

4 layers, width 128, 4 heads, length 128, batch 8, 256 tokens; plain jnp, differentiated with respect to its parameters.
Bytes are those of values that are neither arguments nor outputs; they follow from shapes and are the same on every
machine. `--time` also times forward and backward of each.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.runner import arguments, machine, measure, show, write_json
from jaxaot._jax import jaxpr_as_fun
from jaxaot._util import format_bytes
from jaxaot.joint import build_joint
from jaxaot.partition.partition import partition
from jaxaot.passes.pipeline import run_passes
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal

LAYERS, WIDTH, HEADS, LENGTH, BATCH, VOCABULARY = 4, 128, 4, 128, 8, 256

CUTS: dict[str, dict[str, Any]] = {
    "save_all": {"policy": "save_all"},
    "min_cut": {"policy": "min_cut"},
    "min_cut, half of save_all": {"policy": "min_cut", "memory_budget": 0.5},
    "min_cut, 0.2 of save_all": {"policy": "min_cut", "memory_budget": 0.2},
    "min_cut, 0.1 of save_all": {"policy": "min_cut", "memory_budget": 0.1},
    "min_cut, 0.05 of save_all": {"policy": "min_cut", "memory_budget": 0.05},
    "save_nothing": {"policy": "save_nothing"},
}


def make_parameters(key: Any) -> dict[str, Any]:
    """Returns the parameters of the model."""
    keys = iter(jax.random.split(key, 4 * LAYERS + 2))
    normal = lambda *shape: jax.random.normal(next(keys), shape) * 0.02
    block = lambda: {
        "qkv": normal(WIDTH, 3 * WIDTH),
        "proj": normal(WIDTH, WIDTH),
        "up": normal(WIDTH, 4 * WIDTH),
        "down": normal(4 * WIDTH, WIDTH),
        "norms": (jnp.ones(WIDTH), jnp.zeros(WIDTH), jnp.ones(WIDTH), jnp.zeros(WIDTH)),
    }
    blocks = [block() for _ in range(LAYERS)]
    return {"tokens": normal(VOCABULARY, WIDTH), "positions": normal(LENGTH, WIDTH), "blocks": blocks}


def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    """Returns the last axis with mean 0 and variance 1, scaled and shifted."""
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def loss(parameters: dict[str, Any], tokens: Any, targets: Any) -> Any:
    """Returns the mean cross entropy of the next token."""
    x = parameters["tokens"][tokens] + parameters["positions"]
    heads = lambda a: a.reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    for block in parameters["blocks"]:
        scale1, shift1, scale2, shift2 = block["norms"]
        q, k, v = map(heads, jnp.split(layer_norm(x, scale1, shift1) @ block["qkv"], 3, -1))
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32(np.sqrt(WIDTH // HEADS))
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), -1)
        mixed = jnp.einsum("bhqk,bhkd->bhqd", weights, v).transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH)
        x = x + mixed @ block["proj"]
        x = x + jax.nn.gelu(layer_norm(x, scale2, shift2) @ block["up"]) @ block["down"]
    logits = jax.nn.log_softmax(layer_norm(x, 1.0, 0.0) @ parameters["tokens"].T)
    return -jnp.take_along_axis(logits, targets[..., None], -1).mean()


def vjp_bytes(fn: Any, primals: list[Any]) -> int:
    """Returns the bytes of what the pullback of `jax.vjp` holds besides the primals themselves."""
    output, pull_back = jax.vjp(fn, *primals)
    held = {id(x): x for x in jax.tree.leaves(pull_back)}
    for x in (output, *primals):
        held.pop(id(x), None)
    return sum(x.nbytes for x in held.values() if hasattr(x, "nbytes"))


def runner_of(parts: Any, primals: list[Any]) -> Any:
    """Returns a function that runs the forward and the backward of a partition, each compiled on its own."""
    forward, backward = jax.jit(jaxpr_as_fun(parts.forward)), jax.jit(jaxpr_as_fun(parts.backward))
    n_outputs = parts.joint.n_outputs

    def run() -> Any:
        results = forward(*primals)
        held = {FromPrimal: primals, FromOutput: results[:n_outputs], FromForward: results[n_outputs:]}
        return backward(*(held[type(s)][s.index] for s in parts.plan.residuals), jnp.float32(1.0))

    return run


def main() -> None:
    """Prints the tables."""
    parser = arguments(__doc__)
    parser.add_argument("--time", action="store_true", help="also time forward and backward")
    options = parser.parse_args()
    flat, tree = jax.tree.flatten(make_parameters(jax.random.key(0)))
    tokens = jax.random.randint(jax.random.key(1), (BATCH, LENGTH), 0, VOCABULARY)
    targets = jax.random.randint(jax.random.key(2), (BATCH, LENGTH), 0, VOCABULARY)
    primals = [*flat, tokens, targets]

    def fn(*args: Any) -> Any:
        return loss(jax.tree.unflatten(tree, args[:-2]), *args[-2:])

    joint = run_passes(build_joint(jax.make_jaxpr(fn)(*primals), range(len(flat)), (0,)), ("cse", "dce"))
    baseline = vjp_bytes(lambda *parameters: fn(*parameters, tokens, targets), flat)
    table = Table(title="Residuals of a 4-layer GPT", title_justify="left")
    table.add_column("kept by")
    for column in ("values", "bytes", "of jax.vjp", "computed again"):
        table.add_column(column, justify="right")
    table.add_row("jax.vjp", "", format_bytes(baseline), "1.000", "0 B")
    cuts = {}
    for name, how in CUTS.items():
        cuts[name] = parts = partition(joint, **how)
        table.add_row(
            name,
            str(len(parts.saved)),
            format_bytes(parts.plan.extra_bytes),
            f"{parts.plan.extra_bytes / baseline:.3f}",
            format_bytes(parts.plan.recomputed_bytes),
        )
    Console(width=100).print(table)
    results = []
    if options.time:
        vjp = jax.jit(lambda *args: jax.vjp(lambda *p: fn(*p, *args[len(flat) :]), *args[: len(flat)]))
        pull = jax.jit(lambda pull_back, ct: pull_back(ct))
        contestants: dict[str, Any] = {"jax.vjp, jitted in two": lambda: pull(vjp(*primals)[1], jnp.float32(1.0))}
        contestants |= {name: runner_of(parts, primals) for name, parts in cuts.items()}
        results = [measure("forward and backward", contestants, "jax.vjp, jitted in two", n_rounds=options.rounds)]
        show("Forward and backward, compiled apart", results)
    else:
        Console().print(", ".join(f"{k} {v}" for k, v in machine().items()), style="dim")
    if options.json is not None:
        n_bytes = {"jax.vjp": baseline, **{name: parts.plan.extra_bytes for name, parts in cuts.items()}}
        write_json(options.json, "residuals", results, n_bytes=n_bytes)


if __name__ == "__main__":
    main()
