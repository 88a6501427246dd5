"""What tells graphs apart across processes, and all else that the passes depend on."""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import os
import platform
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxaot._jax import ClosedJaxpr, Jaxpr, Literal, name_stack
from jaxaot._versions import JAXAOT
from jaxaot.lower.cache_key import array_digest

_ADDRESS = re.compile(r"0x[0-9a-f]{4,}")


class NotCacheable(Exception):
    """A graph that another process could not tell from a similar one; the message says why."""


def graph_digest(closed: Any) -> str:
    """Returns a text that is equal for graphs of different processes that compute the same.

    Scopes count, as passes look at them; source lines do not.

    Raises:
      NotCacheable: If a parameter of an equation is a function of Python or another object without content.
    """
    digest = hashlib.sha256()
    for part in _graph(closed.jaxpr, closed.consts):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def _graph(jaxpr: Any, consts: Any) -> Iterator[str]:
    number: dict[Any, int] = {}
    for var in (*jaxpr.constvars, *jaxpr.invars):
        number[var] = len(number)
        yield str(var.aval)
    for value in consts:
        yield array_digest(value)
    for eqn in jaxpr.eqns:
        yield f"{eqn.primitive.name} {name_stack(eqn)} {eqn.ctx!r}"
        yield from (_atom(atom, number) for atom in eqn.invars)
        for name, value in sorted(eqn.params.items()):
            yield name
            yield from _value(value, f"`{name}` of `{eqn.primitive.name}`")
        for var in eqn.outvars:
            number[var] = len(number)
            yield f"{type(var).__name__} {var.aval}"
        yield str(sorted(map(str, eqn.effects)))
    yield from (_atom(atom, number) for atom in jaxpr.outvars)


def _atom(atom: Any, number: dict[Any, int]) -> str:
    return f"{atom.val!r}: {atom.aval}" if isinstance(atom, Literal) else str(number[atom])


def _value(value: Any, what: str) -> Iterator[str]:
    """Yields the content of a parameter."""
    if isinstance(value, ClosedJaxpr):
        yield from _graph(value.jaxpr, value.consts)
    elif isinstance(value, Jaxpr):
        yield from _graph(value, ())
    elif value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.dtype, enum.Enum)):
        yield repr(value)
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__}"
    elif isinstance(value, (np.ndarray, np.generic, jax.Array)):
        yield array_digest(value)
    elif isinstance(value, dict):
        for key in sorted(value, key=repr):
            yield repr(key)
            yield from _value(value[key], what)
    elif isinstance(value, (frozenset, set)):
        yield repr(sorted(map(repr, value)))
    elif isinstance(value, (tuple, list)):
        yield f"{type(value).__name__} {len(value)}"
        for item in value:
            yield from _value(item, what)
    elif dataclasses.is_dataclass(value):
        yield type(value).__qualname__
        for field in dataclasses.fields(value):
            yield field.name
            yield from _value(getattr(value, field.name), what)
    elif isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
        raise NotCacheable(f"{what} is a function of Python, whose code another process cannot compare")
    else:
        text = repr(value)
        if _ADDRESS.search(text):
            raise NotCacheable(f"{what} is {type(value).__name__}, an object without content")
        yield text


@functools.cache
def surroundings() -> tuple[tuple[str, str], ...]:
    """Returns (name, value) of what programs depend on in this process and machine, apart from settings."""
    return (
        ("jaxaot", f"{JAXAOT} {_source_digest()}"),
        ("processor", _processor()),
        ("python", platform.python_implementation()),
    )


def _source_digest() -> str:
    """Returns a text that is another one after any change of jaxaot's source."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """Returns the name and the features of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    wanted = ("model name", "flags", "Features", "CPU part")
    found = dict(line.split(":", 1) for line in lines if line.startswith(wanted) and ":" in line)
    text = " ".join(" ".join(sorted(value.split())) for _, value in sorted(found.items()))
    name = next((value.strip() for key, value in found.items() if key.startswith("model name")), platform.machine())
    return f"{name} {hashlib.sha256(text.encode()).hexdigest()[:12]} of {os.uname().machine}"
