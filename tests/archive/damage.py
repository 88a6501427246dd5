"""Damaged archives: files whose bytes changed, and files that somebody wrote with right checksums who means harm.

    python -m tests.archive.damage manifest 0 500     # a kind of damage, and seeds; prints those that are not refused

Whatever is in a file, `ja.load` and the calls after it return, or raise an error of jaxaot's own.
"""

from __future__ import annotations

import copy
import io
import json
import pathlib
import random
import signal
import struct
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import jaxaot as ja
from jaxaot.archive.container import Archive, write_archive

NONSENSE = [None, True, -1, 2**70, 1.5, "__import__('os').abort()", [], {}, [[[]]], {"is": "CallPlan"}, "x" * 1000]
"""What JSON can hold and no plan does, in most places."""


# -- archives to be damaged, and how what comes out of them is called --------------------------------------------------


def _views(x: Any, cache: Any) -> Any:
    cache[1:].add_(x[0, 1:])
    return x.sum(), cache[0]


def write_small(path: pathlib.Path) -> None:
    """Writes an archive with state, gradients, randomness, a view among its results and a number."""
    model = ja.nn.Sequential(ja.nn.Linear(3, 2), ja.nn.Dropout(0.5))
    ja.export(lambda x, cache, n: (model(x) * n, *_views(x, cache)), ja.ones(2, 3), ja.zeros(3), 2.0).save(path)


def call_small(fn: Any) -> None:
    """Calls it with gradients and without."""
    fn(ja.ones(2, 3), ja.zeros(3), 2.0)[0].sum().backward()
    with ja.no_grad():
        fn(ja.ones(2, 3), ja.zeros(3), 2.0)


def write_step(path: pathlib.Path) -> None:
    """Writes an archive of a training step: a dict of results, momenta, tied weights, an index, a counter."""
    w, seen = ja.ones(3, 3, requires_grad=True), [0]
    optimizer, table = ja.optim.SGD([w], lr=0.1, momentum=0.9), ja.zeros(4, 3)

    class Step:
        def __init__(self) -> None:
            self.calls = 0

        def __call__(self, x: Any, *, rows: Any) -> Any:
            self.calls += 1
            optimizer.zero_grad()
            loss = ((x @ w @ w.t()).tanh() ** 2).mean()
            loss.backward()
            optimizer.step()
            table.index_add_(0, rows, x.detach())
            return {"loss": loss.detach(), "calls": self.calls, "table": table[1:], "turned": x.t()}

    step = Step()
    given = ja.ones(2, 3), ja.tensor([1, 0])
    step(given[0], rows=given[1])
    del seen
    ja.export(step, given[0], rows=given[1]).save(path)


def call_step(fn: Any) -> None:
    """Calls it twice."""
    for _ in range(2):
        fn(ja.ones(2, 3), rows=ja.tensor([1, 0]))


def write_sizes(path: pathlib.Path) -> None:
    """Writes an archive of a function whose sizes change."""
    w, seen, dim = ja.ones(3, 2, requires_grad=True), ja.zeros(2), ja.sizes.Dim("n", min=7, max=10)

    def fn(x: Any, y: Any) -> Any:
        seen.add_(y.sum(0))
        return (((x @ w) - y) ** 2).mean(), x[0], x.shape[0]

    given = ja.ones(9, 3), ja.ones(9, 2)
    ja.export(fn, *given, dynamic_shapes=({0: dim}, {0: dim}), buckets=[8, 16]).save(path)


def call_sizes(fn: Any) -> None:
    """Calls it at sizes of two buckets."""
    for n in (8, 9):
        fn(ja.ones(n, 3), ja.ones(n, 2))[0].backward()


def write_graph(path: pathlib.Path) -> None:
    """Writes a graph of `ja.aot` with its signature."""
    model = ja.nn.Sequential(ja.nn.Linear(3, 4), ja.nn.BatchNorm1d(4), ja.nn.Dropout(0.5))
    graph, signature = ja.aot.aot_export_module(model, (ja.ones(5, 3),), trace_joint=False)
    graph.save(path, signature)


def call_graph(found: Any) -> None:
    """Calls the graph with its example."""
    graph, signature = found
    str(signature)
    graph(*graph.example_inputs)


ARCHIVES: dict[str, tuple[Callable[[pathlib.Path], None], Callable[[Any], None]]] = {
    "small": (write_small, call_small),
    "step": (write_step, call_step),
    "sizes": (write_sizes, call_sizes),
    "graph": (write_graph, call_graph),
}
"""Name → what writes an archive, and what calls what it holds."""


# -- kinds of damage ---------------------------------------------------------------------------------------------------


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Returns a file with one to four changes: bytes changed, cut, doubled, put in, or moved."""
    held = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        place, length = rng.randrange(len(held)), rng.choice([1, 1, 2, 7, 100, 4096])
        kind = rng.randrange(7)
        if kind <= 2:
            for i in range(place, min(place + length, len(held))):
                held[i] = rng.randrange(256)
        elif kind == 3:
            del held[place : place + length]
        elif kind == 4:
            del held[place:]
        elif kind == 5:
            held[place:place] = held[place : place + length]
        else:
            held[place : place + length] = bytes(length)
        if not held:
            return b""
    return bytes(held)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the place of everything in nested lists and dicts."""
    yield path
    if isinstance(value, (list, dict)):
        for key in range(len(value)) if isinstance(value, list) else value:
            yield from places(value[key], (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """Returns what is at a place."""
    for key in path:
        value = value[key]
    return value


def change_json(held: Any, rng: random.Random, nonsense: list[Any] = NONSENSE) -> None:
    """Changes one place: another kind of value, one from elsewhere, a number beside, an item more or fewer."""
    found = [place for place in places(held) if place]
    if not found:
        return
    where = rng.choice(found)
    holder, key = at(held, where[:-1]), where[-1]
    now, kind = holder[key], rng.randrange(6)
    if kind == 0 and type(now) is int:
        holder[key] = now + rng.choice([1, -1, 7, -100, 2**31, 2**63])
    elif kind == 1:
        holder[key] = copy.deepcopy(at(held, rng.choice(found)))
    elif kind == 2:
        del holder[key]
    elif kind == 3 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(now))
    elif kind == 4 and isinstance(now, list):
        rng.shuffle(now)
    else:
        holder[key] = rng.choice(nonsense)


def of_manifest(manifest: dict[str, Any], parts: dict[str, bytes], rng: random.Random) -> None:
    """Changes up to three places of a manifest, mostly of its plans."""
    tops = [manifest, *(manifest[name] for name in ("state", "dims", "signature") if name in manifest)]
    for program in manifest.get("programs", ()):
        tops += [program[name] for name in ("plans", "columns", "sizes") if name in program]
    for _ in range(rng.choice([1, 1, 2, 3])):
        change_json(rng.choice(tops), rng)


def of_programs(manifest: dict[str, Any], parts: dict[str, bytes], rng: random.Random) -> None:
    """Changes bytes of a program, or puts another one in its place."""
    names = sorted(name for name in parts if name.startswith("graphs/"))
    name = rng.choice(names)
    parts[name] = parts[rng.choice(names)] if rng.randrange(8) == 0 else damaged(parts[name], rng)


def of_tables(manifest: dict[str, Any], parts: dict[str, bytes], rng: random.Random) -> None:
    """Changes the header of a file of arrays, or its bytes."""
    name = rng.choice(sorted(name for name in parts if name.endswith(".safetensors")) or [""])
    if not name:
        return
    content = parts[name]
    if rng.randrange(3) == 0:
        parts[name] = damaged(content, rng)
        return
    (length,) = struct.unpack("<Q", content[:8])
    header, values = json.loads(content[8 : 8 + length]), content[8 + length :]
    for _ in range(rng.choice([1, 1, 2])):
        change_json(header, rng, [*NONSENSE, "F64", "I4", "F32", [0, 4], [4, 0], [0, 2**63], [2**40, 2**40], [0]])
    text = json.dumps(header).encode()
    said = len(text) if rng.randrange(4) else rng.choice([0, 2**63, 2**64 - 1, len(text) - 1, len(text) + 9])
    parts[name] = struct.pack("<Q", said) + text + values


def of_zip(content: bytes, rng: random.Random) -> bytes:
    """Returns a zip with other parts: twice, under foreign names, compressed, or with other sizes in its list."""
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        parts = [(entry.filename, source.read(entry)) for entry in source.infolist()]
    written, kind = io.BytesIO(), rng.randrange(6)
    with zipfile.ZipFile(written, "w") as other:
        for place, (name, part) in enumerate(parts):
            is_chosen = rng.randrange(len(parts)) == place
            how = zipfile.ZIP_DEFLATED if kind == 0 and is_chosen else zipfile.ZIP_STORED
            if kind == 1 and is_chosen:
                name = rng.choice(["../", "/", "C:\\", "./", "\0", "graphs/../", ""]) + name
            entry = zipfile.ZipInfo(name)
            entry.compress_type = how
            if kind == 2 and is_chosen:
                entry.external_attr = 0o120777 << 16  # a link
            other.writestr(entry, part)
            if kind == 3 and is_chosen:
                other.writestr(zipfile.ZipInfo(name), rng.choice([part, b"", b"{}", b"x" * 100]))
        if kind == 4:
            other.writestr(rng.choice(["../../etc/passwd", "graphs/", "more", "weights.safetensors/x"]), b"of another")
    held = bytearray(written.getvalue())
    if kind == 5:
        starts = [i for i in range(len(held) - 46) if held[i : i + 4] == b"PK\x01\x02"]
        start = rng.choice(starts)
        field, width = rng.choice([(8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4)])
        number = rng.choice([0, 1, 0xFFFF, 2**31, 2**32 - 1, len(held), rng.randrange(2 ** (8 * width))])
        held[start + field : start + field + width] = (number % 2 ** (8 * width)).to_bytes(width, "little")
    return bytes(held)


WITH_RIGHT_SUMS = {"manifest": of_manifest, "programs": of_programs, "tables": of_tables}
"""Kinds of damage after which the checksums are written anew."""
KINDS = ("bytes", "zip", *WITH_RIGHT_SUMS)


def rewritten(source: pathlib.Path, path: pathlib.Path, change: Callable[..., Any]) -> None:
    """Writes an archive with other parts and right checksums.

    Args:
      source: The archive.
      path: Where the other one is written.
      change: Takes the manifest and the parts, and changes them.
    """
    archive = Archive(source)
    parts = {name: archive.part(name) for name in archive.manifest["parts"]}
    manifest = {name: value for name, value in archive.manifest.items() if name != "parts"}
    change(manifest, parts)
    write_archive(path, manifest, parts)


def write_damaged(source: pathlib.Path, path: pathlib.Path, kind: str, seed: int) -> None:
    """Writes an archive with one kind of damage."""
    rng = random.Random(f"{kind} {seed}")
    if kind in WITH_RIGHT_SUMS:
        rewritten(source, path, lambda manifest, parts: WITH_RIGHT_SUMS[kind](manifest, parts, rng))
    else:
        path.write_bytes((damaged if kind == "bytes" else of_zip)(source.read_bytes(), rng))


def check(folder: pathlib.Path, kind: str, seeds: range) -> Iterator[str]:
    """Yields the seeds of damaged archives whose load or call raises what is no error of jaxaot's own, and says what.

    Args:
      folder: Where files are written.
      kind: Of `KINDS`.
      seeds: Each damages one of `ARCHIVES`.
    """
    for name, (write, _) in ARCHIVES.items():
        if not (folder / f"{name}.jaxaot").exists():
            write(folder / f"{name}.jaxaot")
    names = sorted(ARCHIVES)
    for seed in seeds:
        name = names[seed % len(names)]
        _, call = ARCHIVES[name]
        path = folder / "damaged.jaxaot"
        write_damaged(folder / f"{name}.jaxaot", path, kind, seed)
        step = "load"
        try:
            loaded = ja.load(path)
            step = "call"
            call(loaded)
        except ja.errors.JaxaotError:
            pass
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{pathlib.Path(where.filename).name}:{where.lineno}"
            yield f"{name} {kind} {seed}, {step}: {type(error).__name__}: {str(error)[:150]} ({place})"


def main() -> None:
    kind, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            print(seed, end=" ", flush=True)
            signal.alarm(120)
            for said in check(pathlib.Path(folder), kind, range(seed, seed + 1)):
                print(f"\n{said}", flush=True)
    print("\nfinished")


if __name__ == "__main__":
    main()
