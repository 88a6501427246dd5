"""Joint graphs as a process before this one cut them: what is saved, and the digests of forward and backward.

The equations are not kept: `ways.py` keeps what became of each graph, by its digest. Only graphs that are too small to
be tuned are kept here, as programs.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxaot._jax import ShapedArray, is_key_dtype
from jaxaot.ir.roles import Cotangent, Gradient, Output, Primal
from jaxaot.lower.warm.digest import NotCacheable, content_digest, graph_digest
from jaxaot.lower.warm.entry import Entry
from jaxaot.lower.warm.events import CacheEvent
from jaxaot.lower.warm.folder import folder_of
from jaxaot.lower.warm.kept import Cut, KeptGraph, worth_tuning
from jaxaot.lower.warm.ways import Blobs, Place, bypassed, imported, key_of, with_cache_of_now
from jaxaot.partition.policies import get_policy
from jaxaot.passes.pipeline import foreign_passes, joint_passes
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
    label = f"{name}, cut"
    folder = folder_of(os.fspath(settings.cache_dir), settings.cache_bytes)
    try:
        if why_not:
            raise NotCacheable(why_not)
        passes = joint_passes(settings.passes, settings.exact_rounding)
        names = [one for one in passes if isinstance(one, str)]
        theirs = [*foreign_passes(names), *(("", one) for one in passes if not isinstance(one, str))]
        chosen = {
            "policy": _named(policy, "the policy"), "memory_budget": memory_budget, "offload": settings.offload,
            "costs": settings.costs, "recompute_collectives": settings.recompute_collectives,
            "exact_rounding": settings.exact_rounding, "check_graphs": settings.check_graphs,
        }  # fmt: skip
        others = [
            ("name", label),
            ("passes", [names, *(_named(one, "the pass") for _, one in theirs)]),
            ("config", sorted(chosen.items())),
            ("hooks", _hooks(hooks)),
        ]
        key = key_of(closed, [*others, *facts])
    except NotCacheable as reason:
        return bypassed(cut, note, label, str(reason), settings)
    place = Place(folder, label, [str(aval) for aval in closed.in_avals], key)
    found, why = place.look(lambda entry: _read(entry, cut))
    if found is not None:
        note(CacheEvent(label, "hit"))
        return found
    result = cut()
    try:
        result = _kept(result, place, label)
    except NotCacheable as reason:
        return bypassed(lambda: result, note, label, str(reason), settings)
    note(CacheEvent(label, "miss", why))
    return result


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


def _kept(cut: Cut, place: Place, name: str) -> Cut:
    """Keeps a cut, and returns it with the graphs that the next process will have as well.

    Raises:
      NotCacheable: If it cannot be kept.
    """
    joint, plan = cut.partition.joint, cut.partition.plan
    blobs, graphs, texts = Blobs(name), {}, {}
    for role, graph in (("forward", cut.forward), ("backward", cut.backward)):
        if graph.jaxpr.effects:
            raise NotCacheable(f"its {role} has side effects")
        graphs[role], texts[role] = graph, {"in": _types(graph.in_avals), "out": _types(graph.out_avals)}
        if worth_tuning(graph):
            texts[role]["digest"] = graph_digest(graph)
        else:
            graphs[role] = blobs.through(graph)
            texts[role]["blob"] = blobs.number(graphs[role])
    manifest = {
        "graphs": texts, "joint": {"in": _types(joint.jaxpr.in_avals), "out": _types(joint.jaxpr.out_avals)},
        "in_roles": _text(joint.in_roles), "out_roles": _text(joint.out_roles),
        "zero_gradients": list(joint.zero_gradients), "plan": _text(plan), "tape": _text(cut.tape),
    }  # fmt: skip
    place.keep(manifest, blobs.found)
    return cut._replace(**graphs)


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
    manifest, again = entry.manifest, _Once(cut)

    def graph(role: str) -> Any:
        text = manifest["graphs"][role]
        avals = _avals(text["in"]), _avals(text["out"])
        if "blob" in text:
            return imported(entry.blobs[text["blob"]], KeptGraph(*avals, "", lambda: None))
        return KeptGraph(*avals, text["digest"], lambda: getattr(again(), role))

    forward, backward, joint = graph("forward"), graph("backward"), manifest["joint"]
    whole = KeptGraph(_avals(joint["in"]), _avals(joint["out"]), "", lambda: again().partition.joint.jaxpr)
    roles = _value(manifest["in_roles"]), _value(manifest["out_roles"])
    stages = JointGraph(whole, *roles, tuple(manifest["zero_gradients"]))
    plan, tape = _value(manifest["plan"]), _value(manifest["tape"])
    if not (isinstance(plan, SavePlan) and isinstance(tape, TapePlan)):
        raise ValueError("other plans")
    return Cut(Partition(stages, forward, backward, plan), forward, backward, tape, lambda: again().partition)


class _Once:
    """Makes a cut the first time that it is asked for."""

    def __init__(self, cut: Callable[[], Cut]):
        self._cut, self._made = cut, None

    def __call__(self) -> Cut:
        if self._made is None:
            self._made = self._cut()
        return self._made


def _avals(types: Sequence[Any]) -> list[Any]:
    return [ShapedArray(tuple(shape), np.dtype(dtype), weak_type=is_weak) for shape, dtype, is_weak in types]


def _value(text: Any) -> Any:
    """Returns the plan that JSON holds."""
    if isinstance(text, dict):
        ((name, content),) = text.items()
        return frozenset(content) if name == "set" else _CLASSES[name](*map(_value, content))
    return tuple(map(_value, text)) if isinstance(text, list) else text
