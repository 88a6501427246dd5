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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import ClosedJaxpr, DropVar, Jaxpr, Literal, bind_params
from jaxaot._versions import JAXAOT
from jaxaot.lower.cache_key import array_digest

_ADDRESS = re.compile(r"0x[0-9a-f]{4,}")


class NotCacheable(Exception):
    """A graph that another process could not tell from a similar one; the message says why."""


def graph_digest(closed: Any) -> str:
    """Returns a text that is equal for graphs of different processes that compute the same.

    Scopes count, as passes look at them; source lines do not. Of a function with a rule of its own, the derivative is
    part of what it computes.

    Raises:
      NotCacheable: If a parameter of an equation is a function of Python or another object without content.
    """
    return hashlib.sha256("\0".join(_graph(closed.jaxpr, closed.consts, _Texts())).encode()).hexdigest()


def content_digest(value: Any, what: str) -> str:
    """Returns a text that is equal for values of different processes with the same content.

    Args:
      value: A value such as a parameter of an equation.
      what: What it is, for the error.

    Raises:
      NotCacheable: If it holds a function of Python or another object without content.
    """
    return hashlib.sha256("\0".join(_value(value, what, _Texts())).encode()).hexdigest()


class _Texts:
    """Texts of what many equations share, each made once.

    Attributes:
      looks_at_rules: Whether the derivatives of functions that have rules of their own are part of the content.
    """

    def __init__(self, looks_at_rules: bool = True) -> None:
        self.looks_at_rules = looks_at_rules
        self._found: dict[Any, tuple[Any, str]] = {}

    def of(self, thing: Any, text: Callable[[Any], str] = str) -> str:
        found = self._found.get(id(thing))
        if found is None:
            found = self._found[id(thing)] = thing, text(thing)  # which keeps it, so that no other has its number
        return found[1]


def _graph(jaxpr: Any, consts: Any, texts: _Texts) -> Iterator[str]:
    number: dict[Any, str] = {}
    for var in (*jaxpr.constvars, *jaxpr.invars):
        number[var] = str(len(number))
        yield texts.of(var.aval)
    for value in consts:
        yield array_digest(value)
    for eqn in jaxpr.eqns:
        yield eqn.primitive.name
        yield texts.of(eqn.source_info.name_stack)
        yield texts.of(eqn.ctx, repr)
        for atom in eqn.invars:
            yield f"{atom.val!r}: {atom.aval}" if isinstance(atom, Literal) else number[atom]
        params = eqn.params
        if eqn.primitive.name in _WITH_RULES:
            params = {name: value for name, value in params.items() if name not in _RULES}
            if texts.looks_at_rules:
                yield from _graph(_derivative(eqn).jaxpr, (), _Texts(looks_at_rules=False))
        for name, value in sorted(params.items()):
            yield name
            if isinstance(value, _PLAIN):
                yield repr(value)
            else:
                yield from _value(value, f"`{name}` of `{eqn.primitive.name}`", texts)
        for var in eqn.outvars:
            number[var] = str(len(number))
            yield "*" if isinstance(var, DropVar) else "="
            yield texts.of(var.aval)
        yield str(sorted(map(str, eqn.effects))) if eqn.effects else ""
    for atom in jaxpr.outvars:
        yield f"{atom.val!r}: {atom.aval}" if isinstance(atom, Literal) else number[atom]


_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.dtype, enum.Enum)


_WITH_RULES = ("custom_jvp_call", "custom_vjp_call")
_RULES = ("jvp_jaxpr_fun", "fwd_jaxpr_thunk", "bwd", "out_trees")
"""Parameters that are functions of Python; what they compute is in the derivative."""


def _derivative(eqn: Any) -> Any:
    """Returns the graph of the derivative of an equation, which shows what its own rule does.

    A rule may call the function itself, so rules inside of it are not followed again.

    Raises:
      NotCacheable: If it cannot be traced by itself.
    """
    params, avals = bind_params(eqn), [atom.aval for atom in eqn.invars]
    moving = [i for i, aval in enumerate(avals) if jnp.issubdtype(aval.dtype, jnp.inexact)]
    pulled = [i for i, var in enumerate(eqn.outvars) if jnp.issubdtype(var.aval.dtype, jnp.inexact)]

    def derivative(operands: list[Any], cotangents: list[Any]) -> Any:
        def function(*values: Any) -> list[Any]:
            given = dict(zip(moving, values, strict=True))
            results = eqn.primitive.bind(*(given.get(i, x) for i, x in enumerate(operands)), **params)
            return [results[i] for i in pulled]

        return jax.vjp(function, *(operands[i] for i in moving))[1](cotangents)

    try:
        return jax.make_jaxpr(derivative)(avals, [eqn.outvars[i].aval for i in pulled])
    except Exception as error:
        problem = f"{type(error).__name__}: {error}".splitlines()[0]
        raise NotCacheable(f"the rule of a `{eqn.primitive.name}` cannot be traced by itself ({problem})") from error


def _value(value: Any, what: str, texts: _Texts) -> Iterator[str]:
    """Yields the content of a parameter."""
    if isinstance(value, ClosedJaxpr):
        yield from _graph(value.jaxpr, value.consts, texts)
    elif isinstance(value, Jaxpr):
        yield from _graph(value, (), texts)
    elif isinstance(value, _PLAIN):
        yield repr(value)
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__}"
    elif isinstance(value, (np.ndarray, np.generic, jax.Array)):
        yield array_digest(value)
    elif isinstance(value, dict):
        for key in sorted(value, key=repr):
            yield repr(key)
            yield from _value(value[key], what, texts)
    elif isinstance(value, (frozenset, set)):
        yield repr(sorted(map(repr, value)))
    elif isinstance(value, (tuple, list)):
        yield f"{type(value).__name__} {len(value)}"
        for item in value:
            yield from _value(item, what, texts)
    elif dataclasses.is_dataclass(value):
        yield type(value).__qualname__
        for field in dataclasses.fields(value):
            yield field.name
            yield from _value(getattr(value, field.name), what, texts)
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
        ("processor", processor()),
        ("python", platform.python_implementation()),
    )


def _source_digest() -> str:
    """Returns a text that is another one after any change of jaxaot's source."""
    root, digest = str(Path(__file__).parents[2]), hashlib.sha256()
    found = [os.path.join(place, name) for place, _, names in os.walk(root) for name in names if name.endswith(".py")]
    for path in sorted(found):
        with open(path, "rb", buffering=0) as file:
            digest.update(path[len(root) :].encode() + b"\0" + file.read())
    return digest.hexdigest()[:16]


@functools.cache
def processor() -> str:
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
