"""How a graph is run, as a process before this one found it, or as it is found now and kept for those that follow.

What is kept are the graphs after all passes and cuts, as StableHLO by `jax.export`. Where they are found and where they
are made, the same bytes are what XLA compiles, so that JAX's cache of executables finds these too.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import jax

from jaxaot import settings as config
from jaxaot._jax import as_one_call, call_stored, with_type_of
from jaxaot._typing import ClosedJaxpr
from jaxaot.backend.cpu.batch.sharded import ShardedExecutable
from jaxaot.backend.cpu.batch.shards import Shards
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.memory.sequential import SequentialExecutable
from jaxaot.backend.cpu.memory.subprograms import Schedule, Subprogram
from jaxaot.backend.cpu.options import keeping_barriers, with_eigen_convolutions
from jaxaot.backend.cpu.run import How, Way, choose_way
from jaxaot.backend.cpu.tune import Tuned
from jaxaot.errors import CacheBypassError
from jaxaot.lower.cache_key import Component, cache_key_of_digest
from jaxaot.lower.warm.digest import NotCacheable, graph_digest, surroundings
from jaxaot.lower.warm.entry import Entry, decode, encode
from jaxaot.lower.warm.events import CacheEvent
from jaxaot.lower.warm.folder import SUFFIX, Folder, folder_of
from jaxaot.lower.warm.kept import KeptGraph, made, worth_tuning
from jaxaot.passes.pipeline import foreign_passes
from jaxaot.settings import Config

FORMAT = 3
T = TypeVar("T")


def warm_way(
    closed: ClosedJaxpr,
    passes: Sequence[str],
    settings: Config,
    *,
    platform: str | None = None,
    is_one_program: bool = False,
    donated: Sequence[int] = (),
    name: str = "graph",
    note: Callable[[CacheEvent], None] = lambda event: None,
) -> Way:
    """Returns how a graph is run, from the directory of the settings if it is there.

    Args:
      closed: The ClosedJaxpr, its calls inlined.
      passes: The names of the passes and switches for such graphs, see `lowered_passes`.
      settings: Those in force when the graph was made.
      platform: Where it will run; by default on the default backend.
      is_one_program: Whether it has to be one.
      donated: The positions of the inputs whose buffers may be reused.
      name: What profiles call it.
      note: Is told what became of it.

    Raises:
      CacheFolderError: If the directory is refused.
      CacheBypassError: If the graph cannot be kept, and that is an error.
    """
    choose = lambda: choose_way(
        made(closed), passes, settings.check_graphs, settings.exact_rounding, platform, is_one_program
    )
    settings = with_cache_of_now(settings)
    if settings.cache_dir is None or not passes or not worth_tuning(closed):
        return choose()
    folder = folder_of(os.fspath(settings.cache_dir), settings.cache_bytes)
    try:
        key = _key(closed, passes, settings, platform, is_one_program, donated, name)
    except NotCacheable as reason:
        return bypassed(choose, note, name, str(reason), settings)
    place = Place(folder, name, [str(aval) for aval in closed.in_avals], key)
    found, why = place.look(lambda entry: _read(entry, closed, choose))
    if found is not None:
        note(CacheEvent(name, "hit"))
        return found
    try:
        way = _recorded(choose(), name, place.keep)
    except NotCacheable as reason:
        return bypassed(choose, note, name, str(reason), settings)
    note(CacheEvent(name, "miss", why))
    return way


class Place:
    """Where the entry of one key is, or will be."""

    def __init__(self, folder: Folder, name: str, types: Sequence[str], key: Sequence[Component]):
        """Names the place: the label and the types tell which entries are compared if there is none of the key."""
        self._folder, self._key = folder, key
        self._kind = hashlib.sha256(repr((name, list(types))).encode()).hexdigest()[:12]
        self._file = f"{self._kind}-{hashlib.sha256(repr(key).encode()).hexdigest()[:40]}{SUFFIX}"

    def look(self, read: Callable[[Entry], T]) -> tuple[T | None, str]:
        """Returns what an entry holds, or None and why there is nothing; an entry that cannot be read is removed."""
        content = self._folder.read(self._file)
        if content is None:
            return None, _explained(self._folder, self._kind, self._key)
        entry, why = decode(content), "its entry is damaged"
        if entry is not None:
            try:
                if entry.manifest["format"] != FORMAT or list(map(tuple, entry.manifest["key"])) != _pairs(self._key):
                    raise ValueError("an entry of another graph")
                return read(entry), ""
            except Exception as error:  # whatever is wrong with it, the graph is compiled
                why = f"its entry cannot be read: {type(error).__name__}"
        self._folder.remove(self._file)
        return None, why

    def keep(self, manifest: dict[str, Any], blobs: Sequence[bytes]) -> None:
        """Writes the entry."""
        told = {**manifest, "format": FORMAT, "key": [list(pair) for pair in _pairs(self._key)]}
        self._folder.write(self._file, encode(told, blobs))


def with_cache_of_now(settings: Config) -> Config:
    """Returns settings with what is said now of the cache: where to keep graphs may be said later than how."""
    now = config.get()
    return settings.replace(cache_dir=now.cache_dir, cache_bytes=now.cache_bytes, strict_cache=now.strict_cache)


def bypassed(make: Callable[[], T], note: Any, name: str, reason: str, settings: Config) -> T:
    """Returns what is made without the directory, and notes why.

    Raises:
      CacheBypassError: If that is an error.
    """
    if settings.strict_cache:
        raise CacheBypassError(
            f"The graph of `{name}` cannot be kept for the next process: {reason}. Take that out of the function, or "
            "leave `strict_cache` off: it is then tuned and compiled in each process."
        )
    note(CacheEvent(name, "bypass", reason))
    return make()


# -- keys --------------------------------------------------------------------------------------------------------------


def _key(
    closed: ClosedJaxpr,
    passes: Sequence[str],
    settings: Config,
    platform: str | None,
    is_one_program: bool,
    donated: Sequence[int],
    name: str,
) -> tuple[Component, ...]:
    theirs: list[Any] = []
    for label, function in foreign_passes(passes):
        if not isinstance(getattr(function, "cache_key", None), str):
            raise NotCacheable(f"the pass `{label}` is not jaxaot's own and has no `cache_key`, a text that names it")
        theirs.append((label, function.cache_key))  # type: ignore[attr-defined]
    chosen = {"exact_rounding": settings.exact_rounding, "is_one_program": is_one_program}
    others = [("name", name), ("passes", [*passes, *theirs]), ("config", sorted(chosen.items()))]
    return key_of(closed, others, platform, donated)


def key_of(
    closed: Any, others: Sequence[tuple[str, Any]], platform: str | None = None, donated: Sequence[int] = ()
) -> tuple[Component, ...]:
    """Returns the key of a graph in this process, on this machine.

    Args:
      closed: The graph, be it kept or a ClosedJaxpr.
      others: What else decides what becomes of it, as (name, value with a stable `repr`).
      platform: Where it will run; by default on the default backend.
      donated: The positions of the inputs whose buffers may be reused.

    Raises:
      NotCacheable: If no other process could tell it from a similar one.
    """
    if jax.device_count() > 1:
        raise NotCacheable("the process has several devices")
    text: str = getattr(closed, "digest", "") or _digest(closed)
    here = [("machine", repr(machine())), ("format", FORMAT), *surroundings()]
    return cache_key_of_digest(closed, text, platform or jax.default_backend(), donated, [*others, *here])


def _digest(closed: ClosedJaxpr) -> str:
    if closed.jaxpr.effects:
        raise NotCacheable(f"it has side effects ({', '.join(sorted(map(str, closed.jaxpr.effects)))})")
    return graph_digest(closed)


def _pairs(key: Sequence[Component]) -> list[tuple[str, str]]:
    return [(component.name, component.digest) for component in key]


def _explained(folder: Folder, kind: str, key: Sequence[Component]) -> str:
    """Returns why there is no entry: in what the most similar one differs."""
    now = dict(_pairs(key))
    found: list[list[str]] = []
    for file in folder.entries():
        if file.startswith(kind):
            entry = decode(folder.read(file) or b"")
            if entry is not None:
                before = dict(map(tuple, entry.manifest.get("key", ())))
                found.append([name for name in now if before.get(name) != now[name]])
    if not found:
        return "no graph of this name and of these types was kept"
    names = min(found, key=len)
    return f"the most similar graph that was kept differs in: {', '.join(names)}"


# -- graphs as bytes ---------------------------------------------------------------------------------------------------


class _NotExported(NotCacheable):
    """A graph that `jax.export` refuses; the message says why."""


def _exported(closed: ClosedJaxpr, name: str) -> bytes:
    from jax import export  # which nothing else needs, and which takes a while to import

    specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in closed.in_avals]
    run = as_one_call(closed, name)
    run.__name__ = run.__qualname__ = name
    try:
        return bytes(export.export(jax.jit(run, keep_unused=True))(*specs).serialize())
    except Exception as error:
        raise _NotExported(f"`jax.export` refuses its graph: {str(error).splitlines()[0]}") from error


def imported(blob: bytes, like: ClosedJaxpr | KeptGraph | None = None) -> ClosedJaxpr:
    """Returns the graph of a blob, with the types of the graph that it stands for.

    Raises:
      ValueError: If it takes or returns something else.
    """
    from jax import export

    exported = export.deserialize(bytearray(blob))
    in_avals, out_avals = (exported.in_avals, exported.out_avals) if like is None else (like.in_avals, like.out_avals)
    for ours, theirs in ((in_avals, exported.in_avals), (out_avals, exported.out_avals)):
        if [(a.shape, a.dtype) for a in ours] != [(a.shape, a.dtype) for a in theirs]:
            raise ValueError("other types")
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in in_avals]
    run = lambda *args: [with_type_of(x, a) for x, a in zip(call_stored(exported, *args), out_avals, strict=True)]
    return jax.make_jaxpr(run)(*specs)


class Blobs:
    """Graphs as bytes, each once."""

    def __init__(self, name: str):
        self.found: list[bytes] = []
        self._name = name
        self._numbers: dict[int, tuple[ClosedJaxpr, int]] = {}

    def through(self, closed: ClosedJaxpr) -> ClosedJaxpr:
        """Returns a graph as the next process will read it."""
        blob = _exported(closed, self._name)
        graph = imported(blob, closed)
        self._numbers[id(graph)] = graph, len(self.found)
        self.found.append(blob)
        return graph

    def number(self, graph: ClosedJaxpr) -> int:
        """Returns which blob a graph is."""
        return self._numbers[id(graph)][1]


# -- kept --------------------------------------------------------------------------------------------------------------

Keep = Callable[[dict[str, Any], Sequence[bytes]], None]


def _recorded(way: Way, name: str, keep: Keep) -> Way:
    """Returns a way that is run through the bytes that are kept of it; they are kept as soon as they are known."""
    match way.how:
        case How.SUBPROGRAMS:
            return _RecordedSubprograms(way, name, keep)
        case How.SHARDS:
            assert way.sharded is not None, "shards are there"
            return Way(way.how, way.graph, lambda: way.tuned, _RecordedShards(way.sharded, name, keep))
        case _:
            tuned, blobs = way.tuned, Blobs(name)
            graph = blobs.through(tuned.jaxpr)
            keep({"how": way.how.name, **_flags(tuned)}, blobs.found)
            made = Tuned(
                graph, tuned.results, False, False, tuned.n_by_eigen, tuned.is_exact, tuned.needs_barriers,
                tuned.optimizes_fully,
            )  # fmt: skip
            return Way(way.how, way.graph, lambda: made)


def _flags(tuned: Tuned) -> dict[str, Any]:
    return {
        "keeps_barriers": tuned.needs_barriers,
        "n_by_eigen": tuned.n_by_eigen,
        "is_exact": tuned.is_exact,
        "keeps_freed_memory": tuned.keeps_freed_memory,
        "optimizes_fully": tuned.optimizes_fully,
    }


def _schedule_text(made: SequentialExecutable, blobs: Blobs) -> dict[str, Any]:
    """Returns the subprograms of a graph as JSON."""
    schedule = made.schedule
    parts = [
        {
            "reads": list(part.reads),
            "donated": list(part.donated),
            "last_read": list(part.last_read),
            "blob": blobs.number(made.graphs[run]),
        }
        for part, run in zip(schedule.subprograms, made.runs, strict=True)
    ]
    return {"subprograms": parts, "outputs": list(schedule.outputs), "n_inputs": schedule.n_inputs}


class _RecordedSubprograms(Way):
    """Subprograms that are kept once they are cut."""

    def __init__(self, way: Way, name: str, keep: Keep):
        super().__init__(way.how, way.graph, lambda: way.tuned)
        self._name, self._keep = name, keep

    def sequential(
        self, donated: Sequence[int], name: str, compiler_options: Any, before_tracing: Any = lambda: None,
        places: Sequence[Any] = (),
    ) -> SequentialExecutable:  # fmt: skip
        tuned, blobs = self.tuned, Blobs(self._name)
        made = SequentialExecutable(
            tuned.jaxpr, donated, name, tuned.compiler_options(compiler_options), before_tracing,
            limit=tuned.limit_bytes, keeps_freed_memory=tuned.keeps_freed_memory, through=blobs.through, places=places,
        )  # fmt: skip
        self._keep({"how": self.how.name, **_flags(tuned), **_schedule_text(made, blobs)}, blobs.found)
        return made


class _RecordedShards(ShardedExecutable):
    """Shards that are kept once they are compiled."""

    def __init__(self, sharded: ShardedExecutable, name: str, keep: Keep):
        super().__init__(sharded.shards, (), False)
        self._sharded, self._blobs, self._keep = sharded, Blobs(name), keep
        self._begun: list[SequentialExecutable] = []

    @property
    def part(self) -> Tuned:  # type: ignore[override]
        return self._sharded.part

    @property
    def rest(self) -> Tuned:  # type: ignore[override]
        return self._sharded.rest

    def begin_rest(self, *args: Any, **more: Any) -> Any:
        self._begun.append(super().begin_rest(*args, through=self._blobs.through, **more))
        return self._begun[-1]

    def begin_part(self, *args: Any, **more: Any) -> Any:
        self._begun.append(super().begin_part(*args, through=self._blobs.through, **more))
        return self._begun[-1]

    def compiled(self, *args: Any, **more: Any) -> Any:
        run = super().compiled(*args, **more)
        rest, part = (_schedule_text(made, self._blobs) for made in self._begun[-2:])
        shards = self.shards
        self._keep(
            {
                "how": How.SHARDS.name, **_flags(self.rest), "n": shards.n, "part_reads": list(shards.part_reads),
                "rest_reads": list(shards.rest_reads), "rest": rest, "part": part,
            },
            self._blobs.found,
        )  # fmt: skip
        return run


# -- found -------------------------------------------------------------------------------------------------------------


def _read(entry: Entry, closed: Any, choose: Callable[[], Way]) -> Way:
    """Returns the way that an entry says.

    Raises:
      Exception: Whatever is wrong with the entry.
    """
    manifest = entry.manifest
    how = How[manifest["how"]]
    if how is How.SUBPROGRAMS:
        return _FoundSubprograms(closed, choose, manifest, _schedule(manifest, entry.blobs))
    if how is How.SHARDS:
        return Way(how, closed, lambda: choose().tuned, _FoundShards(manifest, entry.blobs))
    flags = tuple(manifest[name] for name in ("n_by_eigen", "is_exact", "keeps_barriers", "optimizes_fully"))
    tuned = Tuned(imported(entry.blobs[0], closed), (), False, False, *flags)
    return Way(how, closed, lambda: tuned)


def _schedule(text: Mapping[str, Any], blobs: Sequence[bytes]) -> Schedule:
    """Returns the subprograms of a graph."""
    graphs: dict[int, ClosedJaxpr] = {}
    parts = []
    for part in text["subprograms"]:
        number = part["blob"]
        if number not in graphs:
            graphs[number] = imported(blobs[number])
        parts.append(Subprogram(graphs[number], *(tuple(part[name]) for name in ("reads", "donated", "last_read"))))
    return Schedule(tuple(parts), tuple(text["outputs"]), text["n_inputs"])


def _options(flags: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    options = keeping_barriers(given) if flags["keeps_barriers"] else dict(given or {})
    return (with_eigen_convolutions(options) if flags["n_by_eigen"] else options) or None


class _FoundSubprograms(Way):
    """Subprograms as a process before this one cut them."""

    def __init__(self, graph: ClosedJaxpr, choose: Callable[[], Way], manifest: Mapping[str, Any], schedule: Schedule):
        super().__init__(How.SUBPROGRAMS, graph, lambda: choose().tuned)
        self._manifest, self._schedule = manifest, schedule

    def sequential(
        self, donated: Sequence[int], name: str, compiler_options: Any, before_tracing: Any = lambda: None,
        places: Sequence[Any] = (),
    ) -> SequentialExecutable:  # fmt: skip
        return SequentialExecutable(
            None, donated, name, _options(self._manifest, compiler_options), before_tracing, limit=None,
            keeps_freed_memory=self._manifest["keeps_freed_memory"], schedule=self._schedule, places=places,
        )  # fmt: skip

    def explain(self) -> list[str]:
        return [f"{len(self._schedule.subprograms)} subprograms, found in `cache_dir`"]


class _FoundShards(ShardedExecutable):
    """Shards as a process before this one cut and tuned them."""

    def __init__(self, manifest: Any, blobs: Sequence[bytes]):
        self._manifest = manifest
        self._rest, self._part = (_schedule(manifest[name], blobs) for name in ("rest", "part"))
        reads = tuple(manifest["part_reads"]), tuple(manifest["rest_reads"])
        super().__init__(Shards(None, reads[0], None, reads[1], manifest["n"]), (), False)

    def begin_rest(self, donated: Any, name: str, options: Any, before_tracing: Any, **more: Any) -> Any:
        chosen = with_eigen_convolutions(options) if self._manifest["n_by_eigen"] else options
        return self._begin(self._rest, donated, name, chosen, before_tracing, **more)

    def begin_part(self, name: str, options: object, before_tracing: object, **more: Any) -> Any:
        return self._begin(self._part, (), name, options, before_tracing, is_ahead=True, **more)

    def _begin(self, schedule: Schedule, donated: Any, name: str, options: Any, before: Any, **more: Any) -> Any:
        keeps = self._manifest["keeps_freed_memory"]
        return SequentialExecutable(
            None, donated, name, options, before, limit=None, keeps_freed_memory=keeps, schedule=schedule, **more
        )

    def explain(self) -> list[str]:
        return [f"shards: {self.shards.n} of a batch, found in `cache_dir`"]
