"""Writes of a few elements through a view: does each in-place op cost the view, or the whole base?

    python -m benchmarks.small_writes [--only OP …]

Each in-place op of the op table writes a view of 10 elements, or of 4 by 4, of a base of 16 KB and of one of 256 MB,
compiled and eagerly. Least times in microseconds; a ratio far above 1 says that the base is gone through.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

import jaxaot as ja
from benchmarks.op_table import operands
from benchmarks.runner import settle
from jaxaot.errors import JaxaotError
from jaxaot.facade.dispatch.in_place import call_inplace
from jaxaot.ops.table import rows

SIZES = (16 << 10, 256 << 20)
"""Bytes of the bases."""

VIEWS: dict[tuple[int, ...], Callable[[Any], Any]] = {
    (10,): lambda base: base[100:110],
    (4, 4): lambda base: base[96:112].view(4, 4),
}

MAX_RATIO = 10
"""Ops that take so many times as long on the large base are named at the end."""


def writes_of(spec: Any) -> Iterator[tuple[str, Any, Callable[..., Any], list[Any]]]:
    """Yields a name, a dtype, and an in-place op as a function of a base and further tensors; nothing if none fits."""
    for dtype in (np.float32, np.int32, np.bool_):
        for shape, view in VIEWS.items():
            found = operands(spec, (shape,), dtype)
            if found is None:
                return
            (_, *dynamic), static = found
            leaves, tree = jax.tree.flatten(dynamic)
            given = [ja.interop.from_jax(leaf) for leaf in leaves if isinstance(leaf, jax.Array)]

            def write(base: Any, *others: Any, leaves: Any = leaves, tree: Any = tree, view: Any = view) -> None:
                left = iter(others)
                filled = [next(left) if isinstance(leaf, jax.Array) else leaf for leaf in leaves]
                call_inplace(spec, [view(base), *jax.tree.unflatten(tree, filled)], tuple(static))

            try:
                write(ja.zeros(4096, dtype=dtype), *given)
            except (JaxaotError, TypeError, ValueError, IndexError, NotImplementedError, RuntimeError):
                continue  # it does not take these
            yield f"{spec.inplace_name} {np.dtype(dtype).name} {'×'.join(map(str, shape))}", dtype, write, given
            return


def least_us(run: Callable[..., Any], base: Any, others: list[Any], n_rounds: int) -> float:
    """Returns the least microseconds of a call, with what it computes."""
    found = []
    for _ in range(n_rounds):
        start = time.perf_counter()
        run(base, *others)
        settle(base)
        found.append(time.perf_counter() - start)
    return 1e6 * min(found)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="OP", help="ops that are timed; all if left out")
    parser.add_argument("--rounds", type=int, default=20, help="calls of which the least time is taken")
    options = parser.parse_args()
    print(f"{'µs':42}{'compiled 16 KB':>14}{'256 MB':>10}{'ratio':>8}{'eager 16 KB':>14}{'256 MB':>10}{'ratio':>8}")
    above = []
    n_timed = 0
    for spec in rows():
        if not spec.has_inplace or (options.only and spec.name not in options.only):
            continue
        for name, dtype, write, others in writes_of(spec):
            took = []
            for run in (ja.compile(write), write):
                for n_bytes in SIZES:
                    base = ja.zeros(n_bytes // np.dtype(dtype).itemsize, dtype=dtype)
                    for _ in range(2):  # the first call compiles
                        run(base, *others)
                    took.append(least_us(run, base, others, options.rounds))
                    del base
            ratios = {"compiled": took[1] / took[0], "eager": took[3] / took[2]}
            n_timed += 1
            cells = [f"{small:14.1f}{large:10.1f}{large / small:8.2f}" for small, large in (took[:2], took[2:])]
            print(f"{name:42}{''.join(cells)}", flush=True)
            above += [f"{name} {how} {ratio:.0f}×" for how, ratio in ratios.items() if ratio > MAX_RATIO]
    print(f"{n_timed} ops; more than {MAX_RATIO} times as long on the large base: {', '.join(above) or 'none'}")


if __name__ == "__main__":
    main()
