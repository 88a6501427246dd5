"""Joint graphs as a process before this one cut them: what is saved, and forward and backward as they are compiled.

These are kept after all passes, as StableHLO by `jax.export`. Where they are found and where they are made, the same
bytes are what XLA compiles, so that JAX's cache of executables finds these too.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot._jax import ShapedArray, is_key_dtype
from jaxaot.backend.cpu.run import Lowering, LoweringChoice, choose_way
from jaxaot.backend.cpu.tune import Tuned
from jaxaot.ir.roles import Cotangent, Gradient, Output, Primal
from jaxaot.lower.warm.digest import NotCacheable, content_digest
from jaxaot.lower.warm.entry import Entry
from jaxaot.lower.warm.events import CacheEvent
from jaxaot.lower.warm.folder import folder_of
from jaxaot.lower.warm.kept import Cut, KeptGraph
from jaxaot.lower.warm.store import Place, bypassed, exported, imported, key_of, with_cache_of_now
from jaxaot.partition.policies import get_policy
from jaxaot.passes.pipeline import foreign_passes, joint_passes, lowered_passes
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal, RecomputedValue, SavedValue, SavePlan, TapePlan
from jaxaot.plan.stages import JointGraph, Partition
from jaxaot.settings import Config

_CLASSES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        Primal, Cotangent, Output, Gradient, FromPrimal, FromOutput, FromForward, SavedValue, RecomputedValue, SavePlan,
        TapePlan,
    )
}  # fmt: skip
_FLAGS = {
    "n_by_eigen": "n_by_eigen", "is_exact": "is_exact", "keeps_barriers": "needs_barriers",
    "gains_by_optimizing": "optimizes_fully",
}  # fmt: skip
"""What is kept of a tuned graph besides its equations: by field, the property that says it."""


def warm_cut(
    closed: Any,
    facts: Sequence[tuple[str, Any]],
    cut: Callable[[], Cut],
    settings: Config,
    *,
    policy: Any,
    memory_budget: Any,
    hooks: Any = None,
    why_not: str = "",
    name: str = "graph",
    note: Callable[[CacheEvent], None] = lambda event: None,
) -> Cut:
    """Returns the cut of a function, from the directory of the settings if it is there.

    Args:
      closed: The graph of the function, before the joint graph is made of it.
      facts: What else the joint graph depends on, as (name, value with a stable `repr`).
      cut: Makes it.
      settings: Those in force.
      policy: What the forward saves.
      memory_budget: How much it may save.
      hooks: The pair of hooks on saved tensors that is in force.
      why_not: Why it cannot be kept, in words, if that is known.
      name: What the function is called.
      note: Is told what became of it.

    Raises:
      CacheFolderError: If the directory is refused.
      CacheBypassError: If the cut cannot be kept, and that is an error.
    """
    settings = with_cache_of_now(settings)
    if settings.cache_dir is None:
        return cut()
    folder = folder_of(os.fspath(settings.cache_dir), settings.cache_bytes)
    result: Cut | None = None
    try:
        if why_not:
            raise NotCacheable(why_not)
        key = key_of(closed, [("name", name), *_key(settings, policy, memory_budget, hooks), *facts])
        place = Place(folder, name, [str(aval) for aval in closed.in_avals], key)
        found, why = place.look(lambda entry: _read(entry, cut))
        if found is not None:
            note(CacheEvent(name, "hit"))
            return found
        result = cut()
        result = _kept(result, place, name, settings)
    except NotCacheable as reason:
        bypassed(note, name, str(reason), settings)
        return cut() if result is None else result
    note(CacheEvent(name, "miss", why))
    return result


def _key(settings: Config, policy: Any, memory_budget: Any, hooks: Any) -> list[tuple[str, Any]]:
    """Returns what decides besides the graph what becomes of it, on any machine.

    Raises:
      NotCacheable: If another process could not tell something of it from something similar.
    """
    passes = joint_passes(settings.passes, settings.exact_rounding)
    names = [one for one in passes if isinstance(one, str)] + list(_lowered_passes(settings))
    theirs = [*foreign_passes(names), *(("", one) for one in passes if not isinstance(one, str))]
    chosen = {
        "policy": _named(policy, "the policy"), "memory_budget": memory_budget, "offload": settings.offload,
        "costs": settings.costs, "recompute_collectives": settings.recompute_collectives,
        "exact_rounding": settings.exact_rounding, "check_graphs": settings.check_graphs,
    }  # fmt: skip
    return [
        ("passes", [names, *(_named(one, "the pass") for _, one in theirs)]),
        ("config", sorted(chosen.items())),
        ("hooks", _hooks(hooks)),
    ]


def _lowered_passes(settings: Config) -> tuple[str, ...]:
    return lowered_passes(settings.passes, jax.default_backend(), settings.exact_rounding, blocks=settings.blocks)


def _named(thing: Any, what: str) -> str:
    """Returns what tells a policy or pass apart across processes.

    Raises:
      NotCacheable: If nothing does.
    """
    function = get_policy(thing) if isinstance(thing, str) else thing
    text = getattr(function, "cache_key", None)
    if isinstance(text, str):
        return text
    module, label = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    if module.partition(".")[0] in ("jaxaot", "jax") and label and "<locals>" not in label:
        return f"{module}.{label}"
    if dataclasses.is_dataclass(function) and type(function).__module__.startswith("jaxaot."):
        return content_digest(function, what)
    raise NotCacheable(
        f"{what} `{label or repr(thing)}` is not jaxaot's own and has no `cache_key`, a text that names it"
    )


def _hooks(pair: Any) -> Any:
    if pair is None:
        return None
    if not all(isinstance(part, (str, int)) for part in pair.identity):
        raise NotCacheable("the hooks on saved tensors have no `user_cache_hash`, a text that names them")
    return pair.identity


# -- kept --------------------------------------------------------------------------------------------------------------


def _kept(cut: Cut, place: Place, name: str, settings: Config) -> Cut:
    """Keeps a cut, and returns it with the graphs that the next process will have as well.

    Raises:
      NotCacheable: If it cannot be kept.
    """
    joint, plan = cut.partition.joint, cut.partition.plan
    blobs: list[bytes] = []
    graphs: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    for role, graph in (("forward", cut.forward), ("backward", cut.backward)):
        if graph.jaxpr.effects:
            raise NotCacheable(f"its {role} has side effects")
        way = choose_way(graph, _lowered_passes(settings), settings.check_graphs, settings.exact_rounding)
        if way.how in (Lowering.SUBPROGRAMS, Lowering.SHARDS):
            raise NotCacheable(f"its {role} runs as several programs")
        flags = {field: getattr(way.tuned, said) for field, said in _FLAGS.items()}
        blobs.append(exported(way.tuned.jaxpr, role))
        texts[role] = {"in": _types(graph.in_avals), "out": _types(graph.out_avals), "how": way.how.name, **flags}
        graphs[role] = _graph(texts[role], blobs[-1], lambda graph=graph: graph)
    manifest = {
        "graphs": texts, "joint": {"in": _types(joint.jaxpr.in_avals), "out": _types(joint.jaxpr.out_avals)},
        "in_roles": _text(joint.in_roles), "out_roles": _text(joint.out_roles),
        "zero_gradients": list(joint.zero_gradients), "plan": _text(plan), "tape": _text(cut.tape),
    }  # fmt: skip
    place.keep(manifest, blobs)
    return cut._replace(**graphs)


def _graph(text: dict[str, Any], blob: bytes, make: Callable[[], Any]) -> KeptGraph:
    """Returns a graph that runs as the program that is kept of it; `make` returns itself."""
    avals = _avals(text["in"]), _avals(text["out"])
    tuned = Tuned(imported(blob, *avals), (), False, False, **{field: text[field] for field in _FLAGS})
    kept: Any = KeptGraph(*avals, None, make)
    kept.way = LoweringChoice(Lowering[text["how"]], kept, lambda: tuned)
    return kept


def _types(avals: Sequence[Any]) -> list[Any]:
    if any(is_key_dtype(aval.dtype) for aval in avals):
        raise NotCacheable("a value that it hands over is a typed key")
    return [[list(aval.shape), str(aval.dtype), aval.weak_type] for aval in avals]


def _text(value: Any) -> Any:
    """Returns a plan as JSON holds it."""
    name = type(value).__name__
    if name in _CLASSES:
        return {name: [_text(getattr(value, field.name)) for field in dataclasses.fields(value)]}
    if isinstance(value, frozenset):
        return {"set": sorted(value)}
    if isinstance(value, (tuple, list)):
        return [_text(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise NotCacheable(f"a plan of it holds a {name}")


# -- found -------------------------------------------------------------------------------------------------------------


def _read(entry: Entry, cut: Callable[[], Cut]) -> Cut:
    """Returns the cut that an entry holds.

    Raises:
      Exception: Whatever is wrong with the entry.
    """
    manifest, again = entry.manifest, functools.cache(cut)
    forward, backward = (
        _graph(manifest["graphs"][role], blob, lambda role=role: getattr(again(), role))
        for role, blob in zip(("forward", "backward"), entry.blobs, strict=True)
    )
    joint = manifest["joint"]
    whole = KeptGraph(_avals(joint["in"]), _avals(joint["out"]), None, lambda: again().partition.joint.jaxpr)
    roles = _value(manifest["in_roles"]), _value(manifest["out_roles"])
    stages = JointGraph(whole, *roles, tuple(manifest["zero_gradients"]))
    plan, tape = _value(manifest["plan"]), _value(manifest["tape"])
    if not (isinstance(plan, SavePlan) and isinstance(tape, TapePlan)):
        raise ValueError("other plans")
    return Cut(Partition(stages, forward, backward, plan), forward, backward, tape, lambda: again().partition)


def _avals(types: Sequence[Any]) -> list[Any]:
    return [ShapedArray(tuple(shape), np.dtype(dtype), weak_type=is_weak) for shape, dtype, is_weak in types]


def _value(text: Any) -> Any:
    """Returns the plan that JSON holds."""
    if isinstance(text, dict):
        ((name, content),) = text.items()
        return frozenset(content) if name == "set" else _CLASSES[name](*map(_value, content))
    return tuple(map(_value, text)) if isinstance(text, list) else text
