"""One revision of jaxaot against another: what a change costs where it should cost nothing.

    python -m benchmarks.revisions v0.1.0 HEAD [--only WORDS …]

Each revision is checked out and runs in a process of its own. The processes take turns, a few milliseconds each, so
that a busy machine slows them alike; ratios are formed within a round. The cases are calls whose time is mostly
jaxaot's own: dispatch, eager writes, a step of decoding that writes a KV cache, and steps of optimizers. Then training
steps under `ja.jit`.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUND_SECONDS = 0.01
STEPS = ("gpt-2", "mlp", "decode")


def cases() -> dict[str, Callable[[], Any]]:
    """Returns what is timed: name → a function that makes the call. Only names that all revisions have are used."""
    import jax.numpy as jnp
    import numpy as np

    import jaxaot as ja

    made: dict[str, Callable[[], Any]] = {}
    x = ja.ones(64)
    made["eager: x + y"] = lambda: x + x
    made["eager: x.add_(1)"] = lambda: x.add_(1)
    base = ja.zeros(64, 64)
    made["eager: base[3].add_(1)"] = lambda: base[3].add_(1)
    weight = ja.ones(64).requires_grad_()

    def recorded() -> Any:
        y = weight * 2
        return y.add_(1)

    made["eager: a recorded write"] = recorded

    def backward() -> Any:
        (weight * 2).sum().backward()
        weight.grad = None

    made["eager: backward of one op"] = backward

    def read(*args: Any) -> Any:
        return args[0] + 1

    def write(*args: Any) -> Any:
        return args[0].add_(1)

    for n in (1, 10, 100):
        tensors = [ja.ones(8) for _ in range(n)]
        reads, writes = ja.compile(read), ja.compile(write)
        made[f"compiled: {n} arguments, read"] = lambda reads=reads, tensors=tensors: reads(*tensors)
        made[f"compiled: {n} arguments, one written"] = lambda writes=writes, tensors=tensors: writes(*tensors)
    keys, values, new = ja.zeros(4, 128, 32), ja.zeros(4, 128, 32), ja.ones(4, 1, 32)

    @ja.compile
    def decode(position: Any, query: Any) -> Any:
        keys.index_copy_(1, position, new)
        values.index_copy_(1, position, new)
        return (query @ keys.transpose(1, 2)).softmax(-1) @ values

    place, query = ja.tensor([5]), ja.ones(4, 1, 32)
    made["compiled: a step that writes a KV cache"] = lambda: decode(place, query)
    weights = [ja.ones(64, 64).requires_grad_() for _ in range(8)]
    gradients = [ja.ones(64, 64) for _ in weights]
    moments = [(ja.zeros(64, 64), ja.zeros(64, 64)) for _ in weights]

    @ja.compile
    def adam() -> None:
        with ja.no_grad():
            for p, g, (m, v) in zip(weights, gradients, moments, strict=True):
                m.mul_(0.9).add_(g, alpha=0.1)
                v.mul_(0.999).addcmul_(g, g, value=0.001)
                p.addcdiv_(m, v.sqrt().add_(1e-8), value=-1e-3)

    made["compiled: a step of Adam, 8 weights"] = adam
    layers = [SimpleNamespace(weight=ja.ones(8, 8), bias=ja.zeros(8), scale=0.5) for _ in range(12)]

    @ja.compile
    def forward(x: Any) -> Any:
        for layer in layers:
            x = (x @ layer.weight + layer.bias) * layer.scale
        return x

    row = ja.ones(1, 8)
    made["compiled: 12 layers, reached through a closure"] = lambda: forward(row)
    array = jnp.ones((64, 64))
    product = ja.jit(lambda a: a @ a + 1)
    made["ja.jit: a product"] = lambda: product(array)
    for name in STEPS:
        made[f"ja.jit: a step of {name}"] = jitted_step(name)
    shift = np.ones(4, np.float32)
    made["eager: from NumPy and back"] = lambda: ja.from_numpy(shift).numpy()
    return made


def jitted_step(name: str) -> Callable[[], Any]:
    """Returns a call of a training step of `benchmarks.steps`, as the revision has it."""
    import jax

    import jaxaot as ja
    from benchmarks import steps

    step = steps.STEPS[name]()
    run, state = ja.jit(step.fn, donate_argnums=0), [step.state]

    def call() -> Any:
        state[0], result = run(state[0], *step.data)
        return jax.block_until_ready(result)

    return call


def work() -> None:
    """Times what standard input asks for, a case and a number of calls in each line."""
    made = cases()
    for fn in made.values():
        for _ in range(3):
            fn()
    print(json.dumps(list(made)), flush=True)
    for line in sys.stdin:
        name, n_calls = json.loads(line)
        fn = made[name]
        start = time.perf_counter()
        for _ in range(n_calls):
            fn()
        print((time.perf_counter() - start) / n_calls, flush=True)


class Worker:
    """A process that has imported one revision."""

    def __init__(self, tree: pathlib.Path, python: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        self.process = subprocess.Popen(
            [python, str(ROOT / "benchmarks" / "revisions.py"), "--work"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tree,
            env=environment,
        )
        self.names: list[str] = json.loads(self._line())

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of a revision ended with code {self.process.wait()}; see its error above")
        return line

    def seconds(self, name: str, n_calls: int) -> float:
        """Returns seconds per call."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, n_calls]) + "\n")
        self.process.stdin.flush()
        return float(self._line())

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()


@contextmanager
def checked_out(revision: str) -> Iterator[pathlib.Path]:
    """Gives a folder with a revision, for the time of a with statement."""
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def main() -> None:
    """Prints the table."""
    from benchmarks.runner import Result, Timing, arguments, report

    parser = arguments(__doc__)
    parser.set_defaults(rounds=100)
    parser.add_argument("before", help="the revision that is the baseline, by a name that git knows")
    parser.add_argument("after", help="the revision that is compared with it")
    parser.add_argument("--only", nargs="*", metavar="WORDS", help="cases whose names hold one of these")
    options = parser.parse_args()
    with ExitStack() as stack:
        workers = []
        for revision in (options.before, options.after):
            workers.append(Worker(stack.enter_context(checked_out(revision)), sys.executable))
            stack.callback(workers[-1].close)
        results = []
        for name in workers[0].names:
            if options.only and not any(words in name for words in options.only):
                continue
            once = min(worker.seconds(name, 3) for worker in workers)
            n_calls = max(1, int(ROUND_SECONDS / once))
            rounds: list[list[float]] = [[], []]
            for turn in range(options.rounds):
                for i in (0, 1) if turn % 2 == 0 else (1, 0):
                    rounds[i].append(workers[i].seconds(name, n_calls))
            timings = tuple(Timing(r, tuple(s)) for r, s in zip((options.before, options.after), rounds, strict=True))
            results.append(Result(name, options.before, timings))
    report(f"{options.after} against {options.before}", results, options)


if __name__ == "__main__":
    if sys.argv[1:] == ["--work"]:
        work()
    else:
        main()
