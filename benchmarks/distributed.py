"""Fully sharded training over 4 devices of the CPU, beside the same model under `jax.jit` with shardings by hand.

    python -m benchmarks.distributed [--width 128] [--layers 4]

All train one GPT by SGD with momentum: `ja.compile` of a step over a module under `fully_shard`, and `jax.jit` of
`jax.value_and_grad` with parameters and momenta sharded by `NamedSharding`, parameters constrained to be whole and
gradients to be sharded. By hand there are two programs. *By hand* does what `fully_shard` does: each block is under
`jax.checkpoint`, whose policy saves all but gathered parameters, so that the backward gathers again; XLA's options are
ours. The other is a plain `jax.jit`, which keeps gathered parameters and sums all gradients at once, where they fit.
Shown are the processor time and the time of a step, what a device holds at the peak, and what devices exchange; and
what the passes for speed gain: in that step, and in a `shard_map`, in which each device has a program of its own.
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
from jaxaot.passes.pipeline import joint_passes

F = ja.nn.functional
N_CHARACTERS, CONTEXT, RATE, MOMENTUM = 64, 64, 0.01, 0.9
TITLE = "A GPT over four devices of the CPU"
KEPT, OURS, PLAIN = "by hand, kept whole", "fully_shard", "fully_shard, without the passes for speed"
HELD = ("arguments", "results", "temporary")
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
        loss = loss_of(model, ids)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()  # no gradient outlives the step, as by hand
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
            return ja.func.functionalize(lambda params, x: ja.func.functional_call(block, params, (x,)))(
                gather(params), x
            )

        return run if keeps else jax.checkpoint(run, policy=saves)

    blocks, cross_entropy = [block_of(block) for block in model.blocks], ja.func.functionalize(F.cross_entropy)

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

    @ja.func.functionalize
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


def called(run: Any, x: Any, settings: Any) -> Any:
    """Returns a step as a function without arguments, under some settings."""

    def call() -> Any:
        with ja.config(**settings):
            return run(x)

    return call if settings else lambda: run(x)


def record_of(name: str, program: DeviceProgram) -> dict[str, Any]:
    """Returns what one device holds and exchanges in a program, in bytes; exchanges of a kind with their number."""
    exchanged: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for c in program.collectives:
        exchanged[c.kind][0] += 1
        exchanged[c.kind][1] += c.nbytes
    held = {"arguments": program.argument_bytes, "results": program.output_bytes, "temporary": program.temporary_bytes}
    return {"program": name, **held, "collectives": dict(exchanged)}


def show_devices(rows: list[dict[str, Any]]) -> None:
    """Prints what one device holds and exchanges in each program."""
    table = Table(title="per device", title_justify="left")
    for column in ("program", "arguments", "results", "temporary", "collectives"):
        table.add_column(column)
    for row in rows:
        shown = ", ".join(f"{n} {kind} {format_bytes(size)}" for kind, (n, size) in row["collectives"].items())
        table.add_row(row["program"], *(format_bytes(row[column]) for column in HELD), shown)
    Console().print(table)


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
    makers = {"by hand": by_hand, KEPT: functools.partial(by_hand, keeps=True), OURS: ours, PLAIN: ours}
    for name, make in makers.items():
        ja.manual_seed(0)
        passes = {"passes": joint_passes(None)} if name is PLAIN else {}
        with ja.config(**passes):
            run, x, programs[name] = make(GPT(options.width, options.layers), ids, mesh)
        steps[name] = called(run, x, passes)
    model = GPT(options.width, options.layers)
    mapped = {name: in_parallel(model, ids, mesh, jit) for name, jit in (("jax.jit", jax.jit), ("ja.jit", ja.jit))}
    both = {name: steps[name] for name in (PLAIN, OURS)}
    results = []
    for what, clock in ((", processor time", time.process_time), ("", time.perf_counter)):
        timed = functools.partial(measure, n_rounds=options.rounds, clock=clock)
        results.append(timed(f"a step{what}", {name: steps[name] for name in ("by hand", KEPT, OURS)}, "by hand"))
        results.append(timed(f"the passes in a step{what}", both, PLAIN))
        results.append(timed(f"the passes on gradients in a shard_map{what}", mapped, "jax.jit"))
    devices = [record_of(name, program) for name, program in programs.items()]
    show_devices(devices)
    show(TITLE, results)
    write_json(options.json, title=TITLE, results=results, devices=devices)


if __name__ == "__main__":
    main()
