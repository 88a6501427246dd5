"""What the partitioner saves: bytes between forward and backward, memory of compiled programs, and the time it costs.

    python -m benchmarks.partition                  all tables
    python -m benchmarks.partition apart one scale  some of them

`apart`: forward and backward compiled apart, for a 4-layer GPT: jaxaot's policies and budgets beside `jax.vjp` and each
policy of `jax.checkpoint`. `one`: one program for the gradient (`jax.value_and_grad` under `jax.jit` beside
`ja.value_and_grad` under `ja.jit`), its temporary memory and time, for a 12-layer GPT, one as a scan over layers, a
ResNet with batch norm, a transformer in flax nnx and a vision transformer in flax linen. `blocks`: each block of a
transformer under `ja.remat`, under `jax.checkpoint` and under neither, in one program: memory and processor time.
`scale`: how long the partitioner itself takes. Bytes follow from shapes and are the same on every machine; temporary
memory is what `memory_analysis` of the compiled program says.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

import jaxaot as ja
from benchmarks import models
from benchmarks.models import Model
from benchmarks.runner import Result, arguments, measure, show, show_machine, write_json
from jaxaot._util import format_bytes, format_seconds
from jaxaot.partition.partition import Cutter
from jaxaot.passes.pipeline import run_passes
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal

POLICIES = ("save_all", "min_cut", "save_matmuls", "save_nothing")
BUDGETS = (0.5, 0.3, 0.2, 0.1, 0.05)
CHECKPOINTS = {
    "dots_saveable": jax.checkpoint_policies.dots_saveable,
    "dots_with_no_batch_dims_saveable": jax.checkpoint_policies.dots_with_no_batch_dims_saveable,
    "nothing_saveable": jax.checkpoint_policies.nothing_saveable,
}


def vjp_bytes(model: Model) -> int:
    """Returns the bytes of what the pullback of `jax.vjp` holds besides parameters and data."""
    output, pull_back = jax.vjp(lambda parameters: model.loss(parameters, *model.data), model.parameters)
    held = {id(x): x for x in jax.tree.leaves(pull_back)}
    for x in (output, *jax.tree.leaves((model.parameters, model.data))):
        held.pop(id(x), None)
    return sum(x.nbytes for x in held.values() if hasattr(x, "nbytes"))


def vjp_apart(model: Model) -> Callable[[], Any]:
    """Returns a function that runs what `jax.vjp` makes as two programs."""
    forward = jax.jit(lambda parameters, *data: jax.vjp(lambda p: model.loss(p, *data), parameters))
    backward = jax.jit(lambda pull_back, ct: pull_back(ct))
    return lambda: jax.tree.leaves(backward(forward(model.parameters, *model.data)[1], jnp.float32(1.0)))


def parts_apart(parts: Any, model: Model) -> Callable[[], Any]:
    """Returns a function that runs the forward and the backward of a partition, each compiled on its own."""
    primals, n_outputs = jax.tree.leaves((model.parameters, model.data)), parts.joint.n_outputs
    compiled = parts.compile()
    forward, backward = compiled.forward.call, compiled.backward.call

    def run() -> Any:
        results = forward(*primals)
        held = {FromPrimal: primals, FromOutput: results[:n_outputs], FromForward: results[n_outputs:]}
        return backward(*(held[type(s)][s.index] for s in parts.plan.residuals), jnp.float32(1.0))

    return run


def apart(n_rounds: int) -> list[Result]:
    """Prints what a 4-layer GPT keeps between forward and backward, and how long both take."""
    model = models.gpt(4)
    contestants: dict[str, Callable[[], Any]] = {"jax.vjp": vjp_apart(model)}
    sizes = {"jax.vjp": vjp_bytes(model)}
    for name, policy in CHECKPOINTS.items():
        each = models.gpt(4, wrap=lambda block, policy=policy: jax.checkpoint(block, policy=policy))
        whole = dataclasses.replace(model, loss=jax.checkpoint(model.loss, policy=policy))
        for label, checkpointed in (("each block", each), ("the loss", whole)):
            label = f"jax.checkpoint of {label}, {name}"
            contestants[label], sizes[label] = vjp_apart(checkpointed), vjp_bytes(checkpointed)
    joint = ja.trace(model.loss, model.parameters, *model.data).joint()
    for policy in POLICIES:
        parts = joint.partition(policy)
        contestants[f"jaxaot, {policy}"], sizes[f"jaxaot, {policy}"] = parts_apart(parts, model), parts.plan.extra_bytes
    budgets: list[Any] = [*BUDGETS]
    budgets += [f"{sizes[name]}B" for name in sizes if name.startswith("jax.checkpoint")]
    for budget in dict.fromkeys(budgets):
        label = f"jaxaot, within {budget if isinstance(budget, float) else format_bytes(int(budget[:-1]))}"
        parts = joint.partition(memory_budget=budget)
        contestants[label], sizes[label] = parts_apart(parts, model), parts.plan.extra_bytes
    results = [measure(model.name, contestants, "jax.vjp", n_rounds=n_rounds, round_seconds=0.3)]
    table = Table(title="Kept between forward and backward, compiled apart: a 4-layer GPT", title_justify="left")
    for column in ("kept by", "bytes", "of jax.vjp", "min time", "ratio of times"):
        table.add_column(column, justify="left" if column == "kept by" else "right")
    baseline = results[0].find("jax.vjp")
    for timing in sorted(results[0].timings, key=lambda t: -sizes[t.name]):
        low, middle, high = timing.ratios_to(baseline)
        table.add_row(
            timing.name,
            format_bytes(sizes[timing.name]),
            f"{sizes[timing.name] / sizes['jax.vjp']:.3f}",
            format_seconds(min(timing.rounds)),
            f"{middle:.2f} ({low:.2f}–{high:.2f})",
        )
    Console(width=120).print(table)
    return results


def gradient_contestants(model: Model, more: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Returns jitted gradients of a model by name, each with what it takes."""
    given = (model.parameters, *model.data)
    found = {"jax.jit": (jax.jit(jax.value_and_grad(model.loss)), given)}
    for name, options in more.items():
        found[name] = (ja.jit(ja.value_and_grad(model.loss, **options)), given)
    return found


def one(n_rounds: int) -> list[Result]:
    """Prints the temporary memory and the time of one program for loss and gradient."""
    budgets = {"jaxaot, min_cut": {}} | {f"jaxaot, within {b}": {"memory_budget": b} for b in (0.2, 0.1)}
    cases: list[tuple[Model, dict[str, tuple[Any, Any]]]] = []
    for model in (
        models.gpt(4),
        models.gpt(12),
        models.gpt(12, is_scanned=True),
        models.resnet(),
        models.nnx_transformer(),
        models.linen_vit(),
    ):
        cases.append((model, gradient_contestants(model, budgets)))
    for scanned in (False, True):
        for name, policy in CHECKPOINTS.items():
            wrapped = models.gpt(12, is_scanned=scanned, wrap=lambda b, p=policy: jax.checkpoint(b, policy=p))
            case = next(contestants for model, contestants in cases if model.name == wrapped.name)
            case[f"jax.jit, jax.checkpoint of each block, {name}"] = (
                jax.jit(jax.value_and_grad(wrapped.loss)),
                (wrapped.parameters, *wrapped.data),
            )
    table = Table(title="Loss and gradient in one program", title_justify="left")
    for column in ("model", "contestant", "temporary memory", "min time", "ratio of times"):
        table.add_column(column, justify="left" if column in ("model", "contestant") else "right")
    results = []
    for model, contestants in cases:
        compiled = {name: fn.lower(*args).compile() for name, (fn, args) in contestants.items()}
        runs = {name: _caller(program, *contestants[name]) for name, program in compiled.items()}
        result = measure(model.name, runs, "jax.jit", n_rounds=n_rounds, round_seconds=0.3)
        results.append(result)
        for i, timing in enumerate(result.timings):
            low, middle, high = timing.ratios_to(result.find("jax.jit"))
            table.add_row(
                model.name if i == 0 else "",
                timing.name,
                format_bytes(compiled[timing.name].memory_analysis().temp_size_in_bytes),
                format_seconds(min(timing.rounds)),
                f"{middle:.2f} ({low:.2f}–{high:.2f})",
                end_section=i == len(result.timings) - 1,
            )
    Console(width=140).print(table)
    return results


def _remat_of_nnx(block: Any) -> Any:
    from flax import nnx

    return lambda x: nnx.remat(lambda block, x: block(x))(block, x)


def _remat_of_linen(block: Any) -> Any:
    from flax import linen

    return linen.remat(block)


def _equinox_vit(wrap: Callable[..., Any]) -> Model:
    from benchmarks.client_models import equinox_vit

    found = equinox_vit(lambda block: wrap(lambda x: block(x))).model
    assert found is not None
    return found


BLOCKS: dict[str, tuple[Callable[..., Model], Callable[..., Any]]] = {
    "GPT, 4 layers": (lambda wrap: models.gpt(4, wrap=wrap), jax.checkpoint),
    "GPT as a scan, 4 layers": (lambda wrap: models.gpt(4, is_scanned=True, wrap=wrap), jax.checkpoint),
    "flax nnx transformer, 4 layers": (lambda wrap: models.nnx_transformer(wrap=wrap), _remat_of_nnx),
    "flax linen GPT, 4 layers": (lambda wrap: models.linen_gpt(wrap=wrap), _remat_of_linen),
    "equinox ViT, 4 layers": (_equinox_vit, jax.checkpoint),
}
"""By name, what makes a model whose blocks are wrapped, and how JAX or the library checkpoints a block."""


def blocks(n_rounds: int) -> list[Result]:
    """Prints memory and time of programs that wrap each block of a model."""
    table = Table(title="Each block wrapped, loss and gradient in one program", title_justify="left")
    for column in ("model", "each block under", "temporary memory", "ratio of times"):
        table.add_column(column, justify="left" if column in ("model", "each block under") else "right")
    results = []
    for title, (make, checkpoint) in BLOCKS.items():
        by_policy = functools.partial(ja.remat, policy="min_cut")
        programs = {
            "jax.checkpoint, jax.jit": (jax.jit, checkpoint),
            "ja.remat, ja.jit": (ja.jit, ja.remat),
            "ja.remat of min_cut, ja.jit": (ja.jit, by_policy),
            "nothing, jax.jit": (jax.jit, lambda block: block),
            "nothing, ja.jit": (ja.jit, lambda block: block),
        }
        runs, sizes = {}, {}
        for name, (jit, wrap) in programs.items():
            model = make(wrap)
            given = (model.parameters, *model.data)
            compiled = jit(jax.value_and_grad(model.loss)).lower(*given).compile()
            sizes[name] = compiled.memory_analysis().temp_size_in_bytes
            runs[name] = lambda compiled=compiled, given=given: jax.tree.leaves(compiled(*given))
        result = measure(
            title, runs, "jax.checkpoint, jax.jit", n_rounds=n_rounds, round_seconds=0.3, clock=time.process_time
        )
        results.append(result)
        for i, timing in enumerate(result.timings):
            low, middle, high = timing.ratios_to(result.find("jax.checkpoint, jax.jit"))
            table.add_row(
                title if i == 0 else "",
                timing.name,
                format_bytes(sizes[timing.name]),
                f"{middle:.2f} ({low:.2f}–{high:.2f})",
                end_section=i == len(result.timings) - 1,
            )
    Console(width=140).print(table)
    return results


def _caller(compiled: Any, fn: Callable[..., Any], args: Any) -> Callable[[], Any]:
    """Returns what runs a compiled program; the function itself where that is one of the arrays in objects of flax."""
    run = compiled if compiled.in_tree == jax.tree.structure((args, {})) else fn
    return lambda: jax.tree.leaves(run(*args))


def scale(n_rounds: int) -> list[Result]:
    """Prints how long the steps of the partitioner take on deep models."""
    table = Table(title="Time of the partitioner", title_justify="left")
    for column in ("model", "equations", "trace and joint", "network and solve", "min_cut in all", "budget 0.3 in all"):
        table.add_column(column, justify="left" if column == "model" else "right")
    for n_layers, width, length in ((24, 128, 128), (540, 8, 8)):
        model = models.gpt(n_layers, width=width, n_heads=2, length=length, batch=2)
        specs = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), (model.parameters, *model.data))
        start = time.perf_counter()
        joint = run_passes(ja.trace(model.loss, *specs).joint(), ("cse", "dce"))
        traced = time.perf_counter() - start
        least, whole, budget = [], [], []
        for _ in range(max(1, n_rounds // 5)):
            cutter = Cutter(joint)
            _ = cutter.graph.needed, cutter.choices
            start = time.perf_counter()
            _ = cutter.budgets.leanest
            least.append(time.perf_counter() - start)
            start = time.perf_counter()
            Cutter(joint).cut()
            whole.append(time.perf_counter() - start)
            start = time.perf_counter()
            Cutter(joint).cut(0.3)
            budget.append(time.perf_counter() - start)
        times = [traced, min(least), min(whole), min(budget)]
        table.add_row(model.name, f"{len(joint.jaxpr.eqns):,}", *map(format_seconds, times))
    Console(width=120).print(table)
    return []


TABLES = {"apart": apart, "one": one, "blocks": blocks, "scale": scale}


def main() -> None:
    """Prints the tables."""
    parser = arguments(__doc__)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="which tables; all if left out")
    options = parser.parse_args()
    results = [result for name in options.tables or TABLES for result in TABLES[name](options.rounds)]
    show_machine(Console())
    if options.json is not None:
        show("Partition", results)
        write_json(options.json, title="partition", results=results)


if __name__ == "__main__":
    main()
