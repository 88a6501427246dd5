"""What a server of HTTP costs that answers from an archive, beside plain JAX behind the same server.

The server is `examples/http_server.py`, in a process for each contestant; both stay up, and clients ask one after the
other, round by round. Plain JAX is `jax.jit` of the same network, padded by hand to the same buckets.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxaot as ja
from benchmarks.runner import Result, Timing, arguments, report

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "examples"))

MOST_ROWS = 32
BUCKETS = 8, 12, 16, 24, 32
PLAIN, OURS = "jax.jit", "archive"
MEASURED = "time for each request", "99th percentile", "processor time for each request"


def network(n_features: int, width: int, n_layers: int) -> Any:
    """Returns a network whose input is small, so that JSON is not what is measured."""
    ja.manual_seed(0)
    layers = [ja.nn.Linear(n_features if i == 0 else width, width) for i in range(n_layers)]
    return ja.nn.Sequential(*(part for layer in layers for part in (layer, ja.nn.GELU())), ja.nn.Linear(width, 10))


def plain(weights: Sequence[np.ndarray]) -> Any:
    """Returns the same network by `jax.jit`, padded by hand: rows of NumPy to rows of NumPy."""
    params = [jnp.asarray(w) for w in weights]

    @jax.jit
    def forward(params: Any, x: Any) -> Any:
        for i, (weight, bias) in enumerate(zip(params[::2], params[1::2], strict=True)):
            x = x @ weight.T + bias
            x = jax.nn.gelu(x, approximate=False) if 2 * i + 2 < len(params) else x
        return x

    def run(rows: np.ndarray) -> np.ndarray:
        padded = np.zeros((next(n for n in BUCKETS if n >= len(rows)), *rows.shape[1:]), rows.dtype)
        padded[: len(rows)] = rows
        return np.asarray(forward(params, padded))[: len(rows)]

    return run


def _serve(name: str, path: str, pipe: Any) -> None:
    """Serves a contestant in a process of its own until it is told to end."""
    from http_server import app_of, app_of_archive, serving

    if name == OURS:
        app = app_of_archive(path)
    else:
        model = ja.load(path)
        weights = [np.array(value.numpy()) for value in model.state_dict().values()]
        app = app_of(plain(weights), weights[0].shape[1:], "float32", MOST_ROWS)
    with serving(app) as url:
        pipe.send(int(url.rpartition(":")[2]))
        pipe.recv()


async def _ask(port: int, bodies: Sequence[bytes], seconds: list[float], answers: list[Any]) -> None:
    """Sends one request after the other on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for body in bodies:
        start = time.perf_counter()
        head = f"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        answer = await reader.readexactly(int(length[1]) if length else 0)
        seconds.append(time.perf_counter() - start)
        assert head.startswith(b"HTTP/1.1 200"), answer
        answers.append(json.loads(answer))
    writer.close()


def _round(port: int, bodies: Sequence[Sequence[bytes]]) -> tuple[float, float, list[Any]]:
    """Returns seconds for each request, the 99th percentile of how long one took, and the answers."""
    seconds: list[float] = []
    answers: list[list[Any]] = [[] for _ in bodies]

    async def run() -> None:
        await asyncio.gather(*(_ask(port, part, seconds, said) for part, said in zip(bodies, answers, strict=True)))

    start = time.perf_counter()
    asyncio.run(run())
    each = (time.perf_counter() - start) / len(seconds)
    return each, float(np.percentile(seconds, 99)), [one for part in answers for one in part]


def _cpu_seconds(pid: int) -> float:
    """Returns the processor time that a process took so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def served(title: str, model: Any, n_features: int, n_clients: int, n_rounds: int) -> Iterator[Result]:
    """Yields the time for each request, the 99th percentile, and the server's processor time for each request."""
    rng, n_each = np.random.default_rng(0), max(1, 640 // n_clients)
    rows = [
        [rng.normal(size=(1 + i % 3, n_features)).round(4).tolist() for i in range(n_each)] for _ in range(n_clients)
    ]
    bodies = [[json.dumps(one).encode() for one in part] for part in rows]
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/network.jaxaot"
        batch = ja.sizes.Dim("batch", max=MOST_ROWS)
        example = ja.zeros(1, n_features)
        ja.export(model.eval(), example, dynamic_shapes=({0: batch},), with_gradients=False).save(path)
        held = {}
        for name in (PLAIN, OURS):
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(name, path, there))
            process.start()
            held[name] = process, here
        ports = {name: pipe.recv() for name, (_, pipe) in held.items()}
    first = {name: _round(port, bodies)[2] for name, port in ports.items()}
    for one, other in zip(first[PLAIN], first[OURS], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
    took: dict[str, dict[str, list[float]]] = {what: {name: [] for name in ports} for what in MEASURED}
    for turn in range(n_rounds):
        for name in list(ports)[:: 1 if turn % 2 == 0 else -1]:
            before = _cpu_seconds(held[name][0].pid)
            each, late, answers = _round(ports[name], bodies)
            cpu = (_cpu_seconds(held[name][0].pid) - before) / len(answers)
            for what, seconds in zip(MEASURED, (each, late, cpu), strict=True):
                took[what][name].append(seconds)
    for process, pipe in held.values():
        pipe.send("end")
        process.join()
    for what, found in took.items():
        timings = tuple(Timing(name, tuple(seconds)) for name, seconds in found.items())
        yield Result(f"{title}, {n_clients} clients: {what}", PLAIN, timings)


CASES = {
    "small": lambda n: served("two layers of 64", network(64, 64, 2), 64, 32, n),
    "large": lambda n: served("four layers of 1,024", network(64, 1024, 4), 64, 32, n),
    "alone": lambda n: served("four layers of 1,024", network(64, 1024, 4), 64, 1, n),
}


def main() -> None:
    """Prints the table."""
    parser = arguments(__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    options = parser.parse_args()
    report("A server", [result for name in options.cases for result in CASES[name](options.rounds)], options)


if __name__ == "__main__":
    main()
