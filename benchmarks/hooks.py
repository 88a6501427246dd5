"""Hooks on saved tensors inside the graphs: bytes between forward and backward, memory of both, and what is lost.

    python -m benchmarks.hooks

For a chain of dense layers and a 4-layer GPT, forward and backward compiled apart: without hooks, with each ready-made
pair inside the graphs, and with float8 hooks that all run at the same time, behind the forward and before the backward.
`kept` are the bytes of residuals that are neither inputs nor outputs. The peaks are what `memory_analysis` says of each
program: temporaries, results and, of the backward, residuals; hooks that run apart add what they read and make. The
error is that of all gradients together, relative to those without hooks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table

import jaxaot as ja
from benchmarks import models
from benchmarks.models import Model
from benchmarks.runner import arguments, measure, show, show_machine, write_json
from jaxaot._util import format_bytes, format_seconds
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal

graph = ja.autograd.graph

PAIRS = {
    "no hooks": None,
    "to_dtype(bfloat16)": graph.to_dtype(ja.bfloat16),
    "quantize_float8()": graph.quantize_float8(),
    "quantize_int8()": graph.quantize_int8(),
    "offload_to_host()": graph.offload_to_host(),
}
APART = "quantize_float8(), all at once"


@dataclasses.dataclass(frozen=True)
class Contestant:
    """A forward and a backward, each compiled.

    Attributes:
      run: Returns the gradients.
      kept_bytes: Residuals that are neither inputs nor outputs.
      forward_bytes: The peak of the forward.
      backward_bytes: The peak of the backward.
    """

    run: Callable[[], Sequence[Any]]
    kept_bytes: int
    forward_bytes: int
    backward_bytes: int


def dense_layers(n_layers: int = 16, width: int = 256, batch: int = 2048) -> Model:
    """Returns a chain of dense layers, each followed by `tanh`."""
    keys = jax.random.split(jax.random.key(0), n_layers + 1)
    weights = [jax.random.normal(key, (width, width)) / np.float32(np.sqrt(width)) for key in keys[1:]]

    def loss(weights: Any, x: Any) -> Any:
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return (x * x).mean()

    return Model(f"{n_layers} dense layers", loss, weights, (jax.random.normal(keys[0], (batch, width)),))


def contestant(parts: Any, model: Model, pair: Any = None) -> Contestant:
    """Returns a partition as a contestant.

    Args:
      parts: The partition.
      model: What it is of.
      pair: Hooks that run apart, for all residuals at the same time.
    """
    primals, n_outputs = jax.tree.leaves((model.parameters, model.data)), parts.joint.n_outputs
    compiled = parts.compile()
    forward, backward = compiled.forward.call, compiled.backward.call
    n_kept = parts.plan.extra_bytes
    memory = compiled.memory_analysis()
    before, after = memory["forward"], memory["backward"]
    forward_bytes = before.temp_size_in_bytes + before.output_size_in_bytes
    backward_bytes = after.temp_size_in_bytes + after.output_size_in_bytes + n_kept
    pack = unpack = lambda values: values
    if pair is not None:
        packed = jax.tree.leaves(pack_all(pair, forward(*primals)[n_outputs:]))
        packed_bytes = sum(x.nbytes for x in packed if hasattr(x, "nbytes"))
        pack, unpack = (lambda values: pack_all(pair, values)), (lambda values: unpack_all(pair, values))
        forward_bytes, backward_bytes = forward_bytes + packed_bytes, backward_bytes + packed_bytes
        n_kept = packed_bytes

    def run() -> Sequence[Any]:
        results = forward(*primals)
        held = {FromPrimal: primals, FromOutput: results[:n_outputs], FromForward: unpack(pack(results[n_outputs:]))}
        return backward(*(held[type(s)][s.index] for s in parts.plan.residuals), jnp.float32(1.0))

    return Contestant(run, n_kept, forward_bytes, backward_bytes)


def pack_all(pair: Any, arrays: Sequence[Any]) -> list[Any]:
    """Returns what eager hooks make of residuals."""
    return [pair.pack(ja.interop.from_jax(x)) for x in arrays]


def unpack_all(pair: Any, packed: Sequence[Any]) -> list[Any]:
    """Returns the residuals."""
    return [pair.unpack(value).jax() for value in packed]


def error(found: Sequence[Any], exact: Sequence[Any]) -> float:
    """Returns how far gradients are off, relative to their size."""
    pairs = [(np.asarray(a, np.float64), np.asarray(b, np.float64)) for a, b in zip(found, exact, strict=True)]
    return float(np.sqrt(sum(((a - b) ** 2).sum() for a, b in pairs) / sum((b**2).sum() for _, b in pairs)))


def compare(model: Model, policy: str, n_rounds: int) -> Any:
    """Prints the table of a model, and returns the timings."""
    joint = ja.trace(model.loss, model.parameters, *model.data).joint()
    made = {}
    for name, pair in PAIRS.items():
        if pair is None:
            made[name] = contestant(joint.partition(policy), model)
        else:
            with graph.saved_tensors_hooks(*pair):
                made[name] = contestant(joint.partition(policy), model)
    made[APART] = contestant(joint.partition(policy), model, graph.quantize_float8())
    plain = made["no hooks"]
    exact = plain.run()
    result = measure(f"{model.name}, {policy}", {n: c.run for n, c in made.items()}, "no hooks", n_rounds=n_rounds)
    table = Table(title=f"Hooks on saved tensors: {model.name}, {policy}", title_justify="left")
    for column in ("hooks", "kept", "share", "peak of forward", "peak of backward", "error of gradients", "min time"):
        table.add_column(column, justify="left" if column == "hooks" else "right")
    for name, one in made.items():
        table.add_row(
            name,
            format_bytes(one.kept_bytes),
            f"1/{plain.kept_bytes / one.kept_bytes:.2f}" if one.kept_bytes else "on the host",
            format_bytes(one.forward_bytes),
            format_bytes(one.backward_bytes),
            f"{error(one.run(), exact):.2g}",
            format_seconds(min(result.find(name).rounds)),
        )
    Console(width=140).print(table)
    return result


def main() -> None:
    """Prints the tables."""
    options = arguments(__doc__).parse_args()
    cases = [(dense_layers(), "save_all"), (models.gpt(4), "save_all"), (models.gpt(4), "min_cut")]
    results = [compare(model, policy, options.rounds) for model, policy in cases]
    show_machine(Console())
    if options.json is not None:
        show("Hooks on saved tensors", results)
        write_json(options.json, title="hooks", results=results)


if __name__ == "__main__":
    main()
