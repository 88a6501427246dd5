"""The bytes that training steps read and write, by `jax.jit` and after the passes, as XLA counts them.

    python -m benchmarks.traffic

XLA counts what each kernel reads and writes, from the compiled program; nothing is run. A value that several kernels
read counts for each of them, whether it is in a cache or not.
"""

from __future__ import annotations

import argparse
from typing import Any

import jax

from benchmarks.runner import show_machine
from benchmarks.steps import STEPS
from jaxaot.ir.rewrite import inline
from jaxaot.lower.executable import Executable


def traffic(name: str) -> tuple[float, float, int] | None:
    """Returns the bytes of a step by `jax.jit` and after the passes, and the number of subprograms; None of objects."""
    step = STEPS[name]()
    if step.has_objects:
        return None
    plain: Any = jax.jit(step.fn, donate_argnums=0).lower(step.state, *step.data).compile().cost_analysis()
    closed = inline(jax.make_jaxpr(step.fn)(step.state, *step.data), also_custom=True)
    ours = Executable(closed, donated=range(len(jax.tree.leaves(step.state))))
    n_subprograms = 1 if ours.sequential is None else len(ours.sequential.schedule.subprograms)
    return plain["bytes accessed"], ours.cost_analysis()["bytes accessed"], n_subprograms


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"which of {', '.join(STEPS)}; all if left out")
    options = parser.parse_args()
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Bytes read and written by a training step", title_justify="left")
    for column in ("model", "jax.jit", "ja.jit", "ratio", "subprograms"):
        table.add_column(column, justify="left" if column == "model" else "right")
    for name in options.models or STEPS:
        found = traffic(name)
        if found is not None:
            plain, ours, n_subprograms = found
            table.add_row(
                name, f"{plain / 1e6:.0f} MB", f"{ours / 1e6:.0f} MB", f"{ours / plain:.2f}", str(n_subprograms)
            )
        jax.clear_caches()
    console = Console(width=110)
    console.print(table)
    show_machine(console)


if __name__ == "__main__":
    main()
