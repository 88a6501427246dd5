"""What a gradient takes on devices that are not there: compiled for a TPU and a GPU, by their compilers alone.

    pip install "jaxaot[tpu-plan]" "jaxaot[gpu-plan]"                         the compilers
    python -m benchmarks.topologies

A GPT of 8 layers, 384 wide, batch 8, in bfloat16: loss and gradient in one program, and forward and backward apart.
The bytes are those of `memory_analysis`; nothing is run, so there are no times.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import jaxpr_as_fun
from rich.console import Console
from rich.table import Table

import jaxaot as ja
from benchmarks import models
from benchmarks.models import Model
from jaxaot._util import format_bytes
from jaxaot.errors import MissingExtraError
from jaxaot.passes.prepare import prepare_backward
from jaxaot.profiling.devices import absent_device
from jaxaot.profiling.planned import placed_on

DEVICES = ("v5e", "h100")


def device(kind: str) -> Any:
    """Returns a device of a kind, `"v5e"` or `"h100"`, to compile for; None where its compiler is not installed."""
    try:
        return absent_device(kind)
    except MissingExtraError:
        return None


def placed(tree: Any, on: Any) -> Any:
    """Returns the types of a tree of arrays, as if the arrays lay on a device."""
    return placed_on(on, tree)


def halved(tree: Any) -> Any:
    """Returns the types of a tree of arrays with floats in bfloat16."""
    half = lambda x: jnp.bfloat16 if jnp.issubdtype(x.dtype, jnp.floating) else x.dtype
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, half(x)), tree)


def compiled(fn: Any, args: Any) -> Any:
    """Returns a function of types, compiled for where these lie."""
    return jax.jit(fn).lower(*args).compile()


def temporary_bytes(fn: Any, args: Any) -> int:
    """Returns the temporary memory of a function of types."""
    return compiled(fn, args).memory_analysis().temp_size_in_bytes


def gradients(model: Model, checkpointed: Model) -> dict[str, Any]:
    """Returns functions for loss and gradient in one program, by name."""
    found = {
        "jax.value_and_grad": jax.value_and_grad(model.loss),
        "jax.checkpoint of each block, dots_saveable": jax.value_and_grad(checkpointed.loss),
    }
    budgets = {"min_cut": None, "within 0.3": 0.3, "within 0.1": 0.1, "fit:640MiB": "fit:640MiB"}
    for name, budget in budgets.items():
        found[f"jaxaot, {name}"] = ja.value_and_grad(model.loss, memory_budget=budget)
    return found


def apart(model: Model, types: Any, on: Any) -> dict[str, tuple[int, int]]:
    """Returns what is kept between forward and backward, and the temporary memory of the latter, in bytes, by name."""
    joint = ja.trace(model.loss, *types).joint()
    found = {}
    for name, options in (
        ("save_all", {"policy": "save_all"}),
        ("min_cut", {"policy": "min_cut"}),
        ("within 0.1", {"memory_budget": 0.1}),
    ):
        parts = joint.partition(**options)
        backward = prepare_backward(parts.backward, len(parts.plan.residuals))
        found[name] = parts.plan.extra_bytes, temporary_bytes(jaxpr_as_fun(backward), placed(backward.in_avals, on))
    return found


def main() -> None:
    """Prints a table for each device whose compiler is installed."""
    size = {"n_layers": 8, "width": 384, "n_heads": 6, "length": 512, "batch": 8, "vocabulary": 4096}
    model = models.gpt(**size)
    dots = jax.checkpoint_policies.dots_saveable
    checkpointed = models.gpt(**size, wrap=lambda block: jax.checkpoint(block, policy=dots))
    types = halved((model.parameters, *model.data))
    for kind in DEVICES:
        on = device(kind)
        if on is None:
            print(f"The compiler for {kind} is not installed.")
            continue
        with ja.config(costs=kind):
            table = Table(title=f"{model.name}, 384 wide, compiled for a {on.device_kind}", title_justify="left")
            for column in ("one program", "temporary memory"):
                table.add_column(column, justify="left" if column == "one program" else "right")
            for name, fn in gradients(model, checkpointed).items():
                table.add_row(name, format_bytes(temporary_bytes(fn, placed(types, on))))
            Console(width=120).print(table)
            table = Table("forward and backward apart", "kept between", "temporary memory of the backward")
            for name, sizes in apart(model, types, on).items():
                table.add_row(f"jaxaot, {name}", *map(format_bytes, sizes))
            Console(width=120).print(table)
            print(ja.estimate.plan(model.loss, *types, target=kind))


if __name__ == "__main__":
    main()
