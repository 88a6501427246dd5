"""Fully sharded training over 4 devices of the CPU, beside the same model under `jax.jit` with shardings by hand.

    python -m benchmarks.distributed [--width 128] [--layers 4]

All train one GPT by SGD with momentum: `ja.compile` of a step over a module under `fully_shard`, and `jax.jit` of
`jax.value_and_grad` with parameters and momenta sharded by `NamedSharding`, parameters constrained to be whole and
gradients to be sharded. By hand there are two programs. *By hand* does what `fully_shard` does: each block is under
`jax.checkpoint`, whose policy saves all but gathered parameters, so that the backward gathers again; XLA's options are
ours. The other is a plain `jax.jit`, which keeps gathered parameters and sums all gradients at once, where they fit.
Shown are the processor time and the time of a step, what a device holds at the peak, and what devices exchange.
"""

from __future__ import annotations

import functools
import time
from collections import defaultdict
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
OPTIONS = {"xla_disable_hlo_passes": "cse_barrier_expander,cpu-all-reduce-combiner"}
"""Else XLA on CPU drops the barriers of `jax.checkpoint`, and sums all gradients at once, each whole until then."""


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


def by_hand(model: GPT, ids: np.ndarray, mesh: Any, keeps: bool = False) -> tuple[Any, Any, DeviceProgram]:
    """Returns a step of JAX that keeps its state, its argument, and what a device does in it.

    Args:
      model: The model.
      ids: The batch.
      mesh: The mesh.
      keeps: Whether gathered parameters are kept until the backward.
    """
    whole, rows = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("d"))
    place = jax.lax.with_sharding_constraint

    def placed(parameters: Any) -> Any:
        return {name: jax.device_put(p.detach().jax(), rows) for name, p in parameters}

    def gather(params: Any) -> Any:
        return {name: place(p, whole) for name, p in params.items()}

    def saves(primitive: Any, *_: object, **__: object) -> bool:
        return primitive.name not in ("sharding_constraint", "transpose")  # parameters are transposed too

    def block_of(block: ja.nn.Module) -> Any:
        def run(params: Any, x: Any) -> Any:
            return ja.functionalize(lambda params, x: ja.func.functional_call(block, params, (x,)))(gather(params), x)

        return run if keeps else jax.checkpoint(run, policy=saves)

    blocks, cross_entropy = [block_of(block) for block in model.blocks], ja.functionalize(F.cross_entropy)

    def loss(params: Any, ids: Any) -> Any:
        ends, layers = gather(params[0]), params[1:]
        x = ends["characters.weight"][ids[:, :-1]]
        for block, layer in zip(blocks, layers, strict=True):
            x = block(layer, x)
        logits = x @ ends["head.weight"].T + ends["head.bias"]
        return cross_entropy(logits.reshape(-1, N_CHARACTERS), ids[:, 1:].reshape(-1))

    @functools.partial(jax.jit, donate_argnums=0, compiler_options={} if keeps else OPTIONS)
    def step(state: Any, ids: Any) -> Any:
        params, momenta = state
        value, gradients = jax.value_and_grad(loss)(params, ids)
        gradients = jax.tree.map(lambda g: place(g, rows), gradients)
        momenta = jax.tree.map(lambda m, g: MOMENTUM * m + g, momenta, gradients)
        return (jax.tree.map(lambda p, m: p - RATE * m, params, momenta), momenta), value

    ends = ((name, p) for name, p in model.named_parameters() if not name.startswith("blocks"))
    params = [placed(ends), *(placed(block.named_parameters()) for block in model.blocks)]
    held = [(params, jax.tree.map(jnp.zeros_like, params))]
    x = jax.device_put(jnp.asarray(ids), rows)
    (program,) = per_device(step, held[0], x).values()

    def run(ids: Any) -> Any:
        held[0], value = step(held[0], ids)
        return value

    return run, x, program


def in_parallel(model: GPT, ids: np.ndarray, mesh: Any, jit: Any) -> Any:
    """Returns a call of the gradients of a batch whose rows lie on the devices, which each computes in a `shard_map`.

    Args:
      model: The model.
      ids: The batch.
      mesh: The mesh.
      jit: `jax.jit` or `ja.jit`.
    """

    @ja.functionalize
    def loss(params: Any, ids: Any) -> Any:
        logits = ja.func.functional_call(model, params, (ids[:, :-1],))
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())

    def of_rows(params: Any, ids: Any) -> Any:
        return jax.tree.map(lambda x: jax.lax.psum(x, "d"), jax.grad(loss)(params, ids))

    specs = PartitionSpec(), PartitionSpec("d")
    mapped = jax.shard_map(of_rows, mesh=mesh, in_specs=specs, out_specs=PartitionSpec(), check_vma=False)
    params = {
        name: jax.device_put(p.detach().jax(), NamedSharding(mesh, specs[0])) for name, p in model.named_parameters()
    }
    x = jax.device_put(jnp.asarray(ids), NamedSharding(mesh, specs[1]))
    jitted = jit(mapped)
    return lambda: jitted(params, x)["head.bias"]


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
    makers = {"by hand": by_hand, "by hand, kept whole": functools.partial(by_hand, keeps=True), "fully_shard": ours}
    for name, make in makers.items():
        ja.manual_seed(0)
        run, x, programs[name] = make(GPT(options.width, options.layers), ids, mesh)
        steps[name] = lambda run=run, x=x: run(x)
    console = Console()
    table = Table(title="per device", title_justify="left")
    for column in ("program", "arguments", "results", "temporary", "collectives"):
        table.add_column(column)
    for name, program in programs.items():
        sizes: defaultdict[str, list[int]] = defaultdict(list)
        for c in program.collectives:
            sizes[c.kind].append(c.nbytes)
        shown = ", ".join(f"{len(n)} {kind} {format_bytes(sum(n))}" for kind, n in sizes.items())
        held = (program.argument_bytes, program.output_bytes, program.temporary_bytes)
        table.add_row(name, *map(format_bytes, held), shown)
    console.print(table)
    clocks = {"step, processor time": time.process_time, "step": time.perf_counter}
    results = [measure(case, steps, "by hand", n_rounds=options.rounds, clock=c) for case, c in clocks.items()]
    model = GPT(options.width, options.layers)
    mapped = {name: in_parallel(model, ids, mesh, jit) for name, jit in (("jax.jit", jax.jit), ("ja.jit", ja.jit))}
    cases = {
        f"gradients in a shard_map{what}": c
        for what, c in ((", processor time", time.process_time), ("", time.perf_counter))
    }
    results += [measure(case, mapped, "jax.jit", n_rounds=options.rounds, clock=c) for case, c in cases.items()]
    show("GPT on 4 devices", results)
    write_json(options.json, results=results)


if __name__ == "__main__":
    main()
