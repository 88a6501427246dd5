"""What other budgets and policies make of the graph that a partition cuts, those of `jax.checkpoint` among them."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import jax

from jaxaot.errors import BudgetError, OffloadError, PolicyError
from jaxaot.ir.roofline import eqn_picoseconds, target_now
from jaxaot.ir.walk import sub_jaxprs
from jaxaot.partition.pareto import recompute_picoseconds
from jaxaot.partition.partition import Cutter
from jaxaot.partition.solve import NoCut
from jaxaot.plan.stages import Partition
from jaxaot.report.contents import Way

_MAX_EQUATIONS = 20_000
"""Larger graphs are not cut again, since that takes long."""
_COLUMNS = 100


def _asked() -> tuple[tuple[str, Any, Any], ...]:
    of_jax = jax.checkpoint_policies
    return (
        ("policy='save_all'", "save_all", None),
        ("memory_budget=1.0", "min_cut", 1.0),
        ("policy='min_cut'", "min_cut", None),
        ("memory_budget=0.5", "min_cut", 0.5),
        ("memory_budget=0.2", "min_cut", 0.2),
        ("policy=jax.checkpoint_policies.dots_saveable", of_jax.dots_saveable, None),
        ("policy=jax.checkpoint_policies.nothing_saveable", of_jax.nothing_saveable, None),
    )


def ways_of(partition: Partition) -> tuple[Way, ...]:
    """Returns what budgets and policies make of a joint graph; the one that is in force is marked.

    Times are by the roofline of the device that the partition was cut for. Ways that the graph does not allow are
    left out.
    """
    joint = partition.joint
    if len(joint.jaxpr.eqns) > _MAX_EQUATIONS:
        return ()
    cutters: dict[int, Cutter] = {}
    found = []
    for code, policy, budget in _asked():
        try:
            cutter = cutters.setdefault(id(policy), Cutter(joint, policy, for_target=partition.target))
            found.append(_way(code, cutter.cut(budget), cutter))
        except (BudgetError, NoCut, OffloadError, PolicyError):  # what the graph does not allow is not compared
            continue
    own = _way("", partition, None)
    same = [way for way in found if _measures(way) == _measures(own)]
    preferred = next((way for way in same if way.code == "policy='min_cut'"), same[0] if same else None)
    if preferred is None:
        return (dataclasses.replace(own, code="this cut", is_this=True), *found)
    return tuple(dataclasses.replace(way, is_this=way is preferred) for way in found)


def _measures(way: Way) -> tuple[Any, ...]:
    return way.peak_bytes, way.saved_bytes, way.n_saved, way.n_recomputed


def _way(code: str, parts: Partition, cutter: Cutter | None) -> Way:
    plan, timeline = parts.plan, parts.timeline
    seconds = plan.recompute_seconds
    has_bodies = any(map(sub_jaxprs, parts.joint.jaxpr.eqns))
    if seconds is None and (cutter is not None or not has_bodies):  # who cut the bodies alone knows what they repeat
        target = parts.target or target_now()
        inside = () if cutter is None else cutter.unlimited.bodies.inside.repeated
        repeated = sum(eqn_picoseconds(eqn, target) * n for eqn, n in inside)
        seconds = (recompute_picoseconds(parts, lambda eqn: eqn_picoseconds(eqn, target)) + repeated) / 1e12
    total = [moment.bytes for moment in timeline.moments]
    n = min(_COLUMNS, len(total))
    bounds = [k * len(total) // n for k in range(n + 1)] if n else []
    curve = tuple(max(total[a:b]) for a, b in itertools.pairwise(bounds))
    return Way(
        code, timeline.peak_bytes, plan.saved_bytes, len(plan.saved), len(plan.recomputed), seconds, curve,
    )  # fmt: skip
