"""The report on a function under `ja.jit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax

from jaxaot._placement import placement_of
from jaxaot._typing import ClosedJaxpr
from jaxaot.ir.rewrite import inline
from jaxaot.lower.executable import Executable
from jaxaot.lower.on_devices import device_program, lines_of
from jaxaot.report.build import Sources, collectives_of, part_of_graph, parts_inside
from jaxaot.report.contents import Section
from jaxaot.report.record import Report

_MAX_LOWERED, _MAX_COLUMNS = 5_000, 400
"""Of how many equations StableHLO is shown, and how long its lines may be."""
_HINTS = ("`jax.config.update('jax_explain_cache_misses', True)` logs why JAX compiles again.",)


class OfCall(NamedTuple):
    """The graph of a call, and what goes with it.

    Attributes:
      graph: From the arrays of arguments and objects to results and what is written.
      types: The types of the results; None where nobody asks.
      changes: What the call changes, one line each.
      on_devices: What each device holds and exchanges, if arguments lie over several; one line each.
      notes: What is said of programs that were measured before.
    """

    graph: ClosedJaxpr
    types: Any = None
    changes: tuple[str, ...] = ()
    on_devices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def on_devices(lower: Callable[[], Any], args: object, kwargs: object) -> tuple[str, ...]:
    """Returns what each device holds and exchanges in a call; nothing if its arguments lie on one device.

    Args:
      lower: Returns the program of the call, a `jax.stages.Lowered`.
      args: Its arguments.
      kwargs: Its keyword arguments.
    """
    if all(placement_of(leaf) is None for leaf in jax.tree.leaves((args, kwargs))):
        return ()
    return lines_of({"program": device_program(lower().compile())})


def jitted_report(name: str, call: OfCall, options: Mapping[str, Any]) -> Report:
    """Returns the report on a call of a jitted function.

    Args:
      name: What the function is called.
      call: The graph of the call, and what it changes.
      options: Those of `jax.jit`.
    """
    graph, changed = call.graph, call.changes
    for option in ("donate_argnums", "donate_argnames"):
        if options.get(option) is not None:
            changed += (f"the arrays of {option}={options[option]!r} are donated: a call deletes them",)
    sources = Sources()
    parts = (part_of_graph("graph", graph, sources, name=name), *parts_inside(graph, sources))
    executable = Executable(inline(graph, also_custom=True), name=name)
    passes = tuple(executable.explain().split("\n"))
    lowered = () if call.on_devices else lowered_section("graph", executable)
    platform, exchanges = jax.default_backend(), call.on_devices or collectives_of(name, graph)
    return Report(
        name,
        "ja.jit",
        platform,
        changed,
        passes,
        exchanges,
        (),
        parts,
        (),
        sources.read(),
        (*call.notes, *_HINTS),
        (),
        lowered,
    )


def lowered_section(title: str, executable: Executable) -> tuple[Section, ...]:
    """Returns what XLA gets of a graph, long lines cut; nothing of a graph whose text nobody reads.

    Args:
      title: The name of the graph.
      executable: The graph; it is lowered, and not compiled.
    """
    if len(executable.jaxpr.eqns) > _MAX_LOWERED:
        return ()
    lines = executable.as_text().splitlines()
    shown = (line if len(line) <= _MAX_COLUMNS else f"{line[:_MAX_COLUMNS]} …" for line in lines)
    return (Section(title, "\n".join(shown)),)
