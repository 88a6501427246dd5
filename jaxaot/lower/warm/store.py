"""Where graphs are kept for other processes: what tells their entries apart, and graphs as bytes, by `jax.export`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax

from jaxaot import settings as config
from jaxaot._jax import as_one_call, call_stored, with_type_of
from jaxaot._typing import ClosedJaxpr
from jaxaot.backend.cpu.machine import machine
from jaxaot.errors import CacheBypassError
from jaxaot.lower.cache_key import Component, cache_key
from jaxaot.lower.warm.digest import NotCacheable, graph_digest, surroundings
from jaxaot.lower.warm.entry import Entry, decode, encode
from jaxaot.lower.warm.events import CacheEvent
from jaxaot.lower.warm.folder import SUFFIX, Folder
from jaxaot.settings import Config

FORMAT = 4
T = TypeVar("T")


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


def bypassed(note: Callable[[CacheEvent], None], name: str, reason: str, settings: Config) -> None:
    """Notes why a graph is not kept.

    Raises:
      CacheBypassError: If that is an error.
    """
    if settings.strict_cache:
        raise CacheBypassError(
            f"The graph of `{name}` cannot be kept for the next process: {reason}. Take that out of the function, or "
            "leave `strict_cache` off: it is then cut and tuned in each process."
        )
    note(CacheEvent(name, "bypass", reason))


def key_of(closed: ClosedJaxpr, others: Sequence[tuple[str, Any]]) -> tuple[Component, ...]:
    """Returns the key of a graph in this process, on this machine.

    Args:
      closed: The graph.
      others: What else decides what becomes of it, as (name, value with a stable `repr`).

    Raises:
      NotCacheable: If no other process could tell it from a similar one.
    """
    if jax.device_count() > 1:
        raise NotCacheable("the process has several devices")
    if closed.jaxpr.effects:
        raise NotCacheable(f"it has side effects ({', '.join(sorted(map(str, closed.jaxpr.effects)))})")
    here = [("machine", repr(machine())), ("format", FORMAT), *surroundings()]
    return cache_key(closed, graph_digest(closed), jax.default_backend(), [*others, *here])


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


def exported(closed: ClosedJaxpr, name: str) -> bytes:
    """Returns a graph as bytes.

    Raises:
      NotCacheable: If `jax.export` refuses it.
    """
    from jax import export  # which nothing else needs, and which takes a while to import

    specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in closed.in_avals]
    run = as_one_call(closed, name)
    run.__name__ = run.__qualname__ = name
    try:
        return bytes(export.export(jax.jit(run, keep_unused=True))(*specs).serialize())
    except Exception as error:
        raise NotCacheable(f"`jax.export` refuses its graph: {str(error).splitlines()[0]}") from error


def imported(blob: bytes, in_avals: Sequence[Any], out_avals: Sequence[Any]) -> ClosedJaxpr:
    """Returns the graph of a blob, with the types of the graph that it stands for.

    Raises:
      ValueError: If it takes or returns something else.
    """
    from jax import export

    exported = export.deserialize(bytearray(blob))
    for ours, theirs in ((in_avals, exported.in_avals), (out_avals, exported.out_avals)):
        if [(a.shape, a.dtype) for a in ours] != [(a.shape, a.dtype) for a in theirs]:
            raise ValueError("other types")
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in in_avals]
    run = lambda *args: [with_type_of(x, a) for x, a in zip(call_stored(exported, *args), out_avals, strict=True)]
    return jax.make_jaxpr(run)(*specs)
