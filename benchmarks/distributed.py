"""Fully sharded training over 4 devices of the CPU, beside the same model under `jax.jit` with shardings by hand.

    python -m benchmarks.distributed [--width 128] [--layers 4]

Both train one GPT by SGD with momentum: `ja.compile` of a step over a module under `fully_shard`, and `jax.jit` of
`jax.value_and_grad` with parameters and momenta sharded by `NamedSharding`, parameters constrained to be whole and
gradients to be sharded. Shown are the time of a step, what a device holds at the peak, and what devices exchange.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from rich.console import Console
from rich.table import Table

import jaxaot as ja
from benchmarks.runner import arguments, measure, show, write_json
from jaxaot._util import format_bytes
from jaxaot.distributed import DeviceProgram, Shard, distribute_tensor, fully_shard, init_device_mesh, per_device

F = ja.nn.functional
N_CHARACTERS, CONTEXT, RATE, MOMENTUM = 64, 64, 0.01, 0.9


class Block(ja.nn.Module):
    """A layer of a GPT."""

    def __init__(self, width: int):
        super().__init__()
        self.norm1, self.norm2 = ja.nn.LayerNorm(width), ja.nn.LayerNorm(width)
        self.qkv, self.out = ja.nn.Linear(width, 3 * width), ja.nn.Linear(width, width)
        self.up, self.down = ja.nn.Linear(width, 4 * width), ja.nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, 4, d // 4).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(ja.nn.Module):
    """A GPT without positions."""

    def __init__(self, width: int, n_layers: int):
        super().__init__()
        self.characters = ja.nn.Embedding(N_CHARACTERS, width)
        self.blocks = ja.nn.ModuleList([Block(width) for _ in range(n_layers)])
        self.head = ja.nn.Linear(width, N_CHARACTERS)

    def forward(self, ids: Any) -> Any:
        x = self.characters(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def loss_of(model: Any, ids: Any) -> Any:
    """Returns the loss of predicting each character from those before it."""
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def ours(model: GPT, ids: np.ndarray, mesh: Any) -> tuple[Any, Any, DeviceProgram]:
    """Returns a compiled step, its argument, and what a device does in it."""
    for block in model.blocks:
        fully_shard(block, mesh)
    fully_shard(model, mesh)
    optimizer = ja.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)

    @ja.compile
    def step(ids: Any) -> Any:
        optimizer.zero_grad(set_to_none=False)
        loss = loss_of(model, ids)
        loss.backward()
        optimizer.step()
        return loss.detach()

    x = distribute_tensor(ja.tensor(ids), mesh, [Shard(0)])
    step(x)
    step(x)
    (program,) = per_device(step, x).values()
    return step, x, program


def by_hand(model: GPT, ids: np.ndarray, mesh: Any) -> tuple[Any, Any, DeviceProgram]:
    """Returns a step of JAX that keeps its state, its argument, and what a device does in it."""
    whole, rows = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("d"))
    params = {name: jax.device_put(p.detach().jax(), rows) for name, p in model.named_parameters()}
    place = jax.lax.with_sharding_constraint

    @ja.functionalize
    def loss(params: Any, ids: Any) -> Any:
        return F.cross_entropy(
            ja.func.functional_call(model, params, (ids[:, :-1],)).flatten(0, 1), ids[:, 1:].flatten()
        )

    def gathered(params: Any, ids: Any) -> Any:
        return loss(jax.tree.map(lambda p: place(p, whole), params), ids)

    def step(state: Any, ids: Any) -> Any:
        params, momenta = state
        value, gradients = jax.value_and_grad(gathered)(params, ids)
        gradients = jax.tree.map(lambda g: place(g, rows), gradients)
        momenta = jax.tree.map(lambda m, g: MOMENTUM * m + g, momenta, gradients)
        return (jax.tree.map(lambda p, m: p - RATE * m, params, momenta), momenta), value

    state = params, jax.tree.map(jnp.zeros_like, params)
    x = jax.device_put(jnp.asarray(ids), rows)
    jitted = jax.jit(step, donate_argnums=0)
    (program,) = per_device(jitted, state, x).values()
    held = [state]

    def run(ids: Any) -> Any:
        held[0], value = jitted(held[0], ids)
        return value

    return run, x, program


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    options = parser.parse_args()
    jax.config.update("jax_num_cpu_devices", 4)
    mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("d",))
    rng = np.random.default_rng(0)
    ids = np.cumsum(rng.integers(0, 3, (8, CONTEXT + 1)), 1).astype(np.int32) % N_CHARACTERS
    steps, programs = {}, {}
    for name, make in (("by hand", by_hand), ("fully_shard", ours)):
        ja.manual_seed(0)
        run, x, programs[name] = make(GPT(options.width, options.layers), ids, mesh)
        steps[name] = lambda run=run, x=x: run(x)
    console = Console()
    table = Table(title="per device", title_justify="left")
    for column in ("program", "arguments", "results", "temporary", "collectives"):
        table.add_column(column)
    for name, program in programs.items():
        sizes: Counter[str] = Counter()
        for c in program.collectives:
            sizes[c.kind] += c.nbytes
        shown = ", ".join(f"{kind} {format_bytes(n)}" for kind, n in sizes.items())
        held = (program.argument_bytes, program.output_bytes, program.temporary_bytes)
        table.add_row(name, *map(format_bytes, held), shown)
    console.print(table)
    result = measure("step", steps, "by hand", n_rounds=options.rounds)
    show("fully sharded GPT", [result])
    write_json(options.json, results=[result])


if __name__ == "__main__":
    main()
