"""How first calls, joint graphs and cuts grow with the program, and how long the import takes.

    python -m benchmarks.growth [tape] [row] [joint] [cut] [views] [start] [--most N]

Each line is a size and the seconds of CPU time that this process spends, of all its threads: a busy machine disturbs
them less than wall time. `start` is the best of ten processes, in wall time too. Everything is compiled anew, so unset
`JAX_COMPILATION_CACHE_DIR`.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import jaxaot as ja
from jaxaot.joint import build_joint
from jaxaot.partition.partition import partition


def seconds(fn: Callable[[], Any]) -> float:
    """Returns the CPU time of one call."""
    before = time.process_time()
    jax.block_until_ready(fn())
    return time.process_time() - before


def line(what: str, n: int, **times: float) -> None:
    print(
        f"{what:8}{n:8,d}   " + "   ".join(f"{name.replace('_', ' ')} {t:7.2f}" for name, t in times.items()),
        flush=True,
    )


def waves(x: Any, n: int, sin: Callable[[Any], Any]) -> Any:
    for i in range(n):
        x = sin(x) if i % 2 else x * 1.01
    return x.sum()


def tape(most: int) -> None:
    """A backward under `ja.compiler.compiled_autograd` over a chain of n nodes; `jax.jit` of the same gradient."""
    for n in (300, 1_000, 3_000):
        if n <= most:
            loss = waves(ja.ones(4, requires_grad=True), n, ja.sin)
            with ja.compiler.compiled_autograd():
                ours = seconds(lambda: loss.backward())
            plain = seconds(lambda: jax.jit(jax.grad(lambda x: waves(x, n, jnp.sin)))(jnp.ones(4)))
            line("tape", n, compiled_autograd=ours, jax_jit=plain)


def row(most: int) -> None:
    """The gradients of `x * w1 * … * wn`."""

    def product(x: Any, *ws: Any) -> Any:
        for w in ws:
            x = x * w
        return x.sum()

    for n in (10, 30, 100):
        if n <= most:
            args = [jnp.full(1_000, 1 + i / 1_000) for i in range(n + 1)]
            positions = tuple(range(n + 1))
            tensors = [ja.interop.from_jax(x + 0).requires_grad_() for x in args]
            loss = ja.compile(product)(*tensors)
            eager = product(*(ja.interop.from_jax(x + 0).requires_grad_() for x in args))
            line(
                "row",
                n,
                eager_backward=seconds(lambda eager=eager: eager.backward()),
                jit=seconds(lambda: ja.jit(jax.grad(product, positions))(*args)),
                remat=seconds(lambda: ja.jit(jax.grad(ja.remat(product), positions))(*args)),
                compile_backward=seconds(lambda loss=loss: loss.backward()),
                jax_jit=seconds(lambda: jax.jit(jax.grad(product, positions))(*args)),
            )


def layers(x: Any, w: Any, n: int) -> Any:
    for _ in range(n // 4):  # four equations each
        x = jnp.tanh(x @ w) * 1.5 + x
    return x.sum()


def joint_of(n: int) -> tuple[Any, float]:
    args = jnp.ones((4, 4)), jnp.ones((4, 4))
    traced = jax.make_jaxpr(lambda x, w: layers(x, w, n))(*args)
    found: list[Any] = []
    spent = seconds(lambda: found.append(build_joint(traced, (0, 1), (0,))))
    return found[0], spent


def joint(most: int) -> None:
    """The joint graph of n equations; `jax.make_jaxpr` of the vjp."""
    args = jnp.ones((4, 4)), jnp.ones((4, 4))
    for n in (1_000, 10_000, 30_000):
        if n <= most:
            pulled = lambda ct, *a, n=n: jax.vjp(lambda x, w: layers(x, w, n), *a)[1](ct)
            line("joint", n, joint=joint_of(n)[1], vjp=seconds(lambda: jax.make_jaxpr(pulled)(1.0, *args) and None))


def cut(most: int) -> None:
    """The cut of the joint graph of n equations."""
    for n in (1_000, 10_000, 30_000):
        if n <= most:
            graph, _ = joint_of(n)
            line("cut", n, min_cut=seconds(lambda: partition(graph) and None))


def views(most: int) -> None:
    """The first call with n views of one base; `jax.jit` of the same on the base."""

    def total(rows: Any) -> Any:
        return sum(r.sum() for r in rows)

    for n in (10, 100, 300):
        if n <= most:
            base = ja.ones(1_000, 4)
            plain = jax.jit(lambda b, n=n: total([b[i] for i in range(n)]))
            ours = seconds(lambda: ja.compile(total)([base[i] for i in range(n)]).jax())
            line("views", n, compile=ours, jax_jit=seconds(lambda: plain(base.jax())))


def start(_: int) -> None:
    """`import jaxaot` beyond `import jax`: the best of ten processes each."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    best: dict[str, list[float]] = {}
    for _ in range(10):
        for text in ("import jax", "import jax, jaxaot"):
            before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run([sys.executable, "-c", text], check=True, env=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            known = best.setdefault(text, [spent, time.perf_counter() - wall])
            known[:] = min(known[0], spent), min(known[1], time.perf_counter() - wall)
    for text, (cpu, wall) in best.items():
        print(f"{text:20} CPU {cpu:.3f} s   wall {wall:.3f} s")


def main() -> None:
    cases = {fn.__name__: fn for fn in (tape, row, joint, cut, views, start)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=[*cases, []], default=list(cases))
    parser.add_argument("--most", type=int, default=30_000, help="leave larger sizes out")
    given = parser.parse_args()
    for name in given.cases:
        cases[name](given.most)


if __name__ == "__main__":
    main()
