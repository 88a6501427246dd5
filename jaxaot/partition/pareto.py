"""Bytes against time: what each budget costs.

A *point* is a partition of least time within some bytes. The frontier runs from the fastest, which recomputes nothing
that takes time, to the leanest, which saves nothing that can be computed again.
"""

from __future__ import annotations

import dataclasses
import io
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._progress import working
from jaxaot._util import format_bytes, format_seconds
from jaxaot.errors import BudgetError, MissingExtraError, PolicyError
from jaxaot.ir.roofline import Target, eqn_picoseconds
from jaxaot.partition.partition import Cutter
from jaxaot.partition.policies import Policy, policy_label
from jaxaot.partition.timeline import memory_timeline
from jaxaot.plan.pictures import as_html, as_image, new_axes
from jaxaot.plan.stages import JointGraph

SHOWN_POLICIES = ("save_all", "min_cut", "save_matmuls", "save_nothing")


@immutable
class Point:
    """One way to spend memory and time.

    Attributes:
      label: The policy it comes from, or `""` for the best within a budget.
      saved_bytes: What is kept between forward and backward beyond primals and outputs, in bytes.
      recompute_seconds: How long the backward takes to compute the rest again, in seconds, by the costs in force.
      least_seconds: How long that takes at least within these bytes, in seconds.
      peak_bytes: The memory in use at most, everything counted, estimated from shapes, in bytes.
        These and `saved_bytes` are of one device, if what is computed lies over several as the batch does.
      n_saved: How many values are saved.
    """

    label: str
    saved_bytes: int
    recompute_seconds: float
    least_seconds: float
    peak_bytes: int
    n_saved: int


@immutable
class Pareto:
    """Bytes against time over all budgets.

    Attributes:
      points: The best for each budget, from the leanest to the fastest.
      policies: What the policies give, for comparison.
      seconds: How long forward and backward take without any recomputation, in seconds, by the costs in force.
      n_devices: Among how many devices what is computed is divided; seconds are those of all together.
    """

    points: tuple[Point, ...]
    policies: tuple[Point, ...]
    seconds: float
    n_devices: int = 1

    def at(self, saved_bytes: int) -> Point:
        """Returns the fastest point that saves at most so many bytes.

        Raises:
          BudgetError: If none does.
        """
        fitting = [point for point in self.points if point.saved_bytes <= saved_bytes]
        if not fitting:
            least = min(point.saved_bytes for point in self.points)
            raise BudgetError(f"Nothing saves at most {format_bytes(saved_bytes)}; the least is {format_bytes(least)}.")
        return min(fitting, key=lambda point: point.recompute_seconds)

    def table(self, max_points: int = 24) -> str:
        """Returns the points as a table.

        Args:
          max_points: How many points to show at most, besides those of policies: of more, some at even distances.
        """
        from rich.console import Console  # takes long to import
        from rich.table import Table

        n = min(max_points, len(self.points))
        chosen = [self.points[i * (len(self.points) - 1) // max(1, n - 1)] for i in range(n)]
        cells = lambda p: (p.saved_bytes, p.recompute_seconds, p.peak_bytes, p.n_saved)
        of_policies = set(map(cells, self.policies))
        shown = [point for point in chosen if cells(point) not in of_policies]
        each = f" of each of {self.n_devices} devices" if self.n_devices > 1 else ""
        table = Table(f"saved{each}", "recomputing", "of a step", f"peak memory{each}", "values", "policy")
        for column in table.columns[:-1]:
            column.justify = "right"
        for point in sorted((*shown, *self.policies), key=lambda p: (p.saved_bytes, p.recompute_seconds)):
            share = f"{100 * point.recompute_seconds / self.seconds:.1f} %" if self.seconds else "-"
            sizes = (format_bytes(point.peak_bytes), str(point.n_saved), point.label)
            table.add_row(format_bytes(point.saved_bytes), format_seconds(point.recompute_seconds), share, *sizes)
        text = io.StringIO()
        Console(file=text, width=100, color_system=None, force_jupyter=False).print(table)
        return text.getvalue().rstrip()

    def plot(self, axes: Any = None) -> Any:
        """Draws the points with matplotlib and returns the axes.

        Args:
          axes: The axes to draw on; a new figure if left out.

        Raises:
          MissingExtraError: If matplotlib is not installed.
        """
        axes = new_axes("print(pareto.table())") if axes is None else axes
        mib = 2**20
        x = [point.saved_bytes / mib for point in self.points]
        axes.plot(x, [1e3 * p.recompute_seconds for p in self.points], marker="o", markersize=3, label="best in budget")
        axes.plot(x, [1e3 * p.least_seconds for p in self.points], linestyle=":", color="gray", label="lower bound")
        for point in self.policies:
            axes.plot([point.saved_bytes / mib], [1e3 * point.recompute_seconds], marker="*", linestyle="none")
            axes.annotate(point.label, (point.saved_bytes / mib, 1e3 * point.recompute_seconds))
        axes.margins(x=0.15)  # room for the names of policies at the right
        axes.set_xlabel("saved between forward and backward (MiB)")
        axes.set_ylabel("time to recompute (ms)")
        axes.legend()
        return axes

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        ends = (
            f"{format_bytes(p.saved_bytes)} in {format_seconds(p.recompute_seconds)}"
            for p in self.points[:: len(self.points) - 1 or 1]
        )
        return f"<Pareto: {len(self.points)} points, from {' to '.join(ends)}>"

    def _repr_html_(self) -> str:
        """Returns the picture and the table, for notebooks."""
        text = as_html(self.table())
        try:
            return as_image(self.plot()) + text
        except MissingExtraError:
            return text


def trade_offs(
    joint: JointGraph,
    policy: str | Policy = "min_cut",
    *,
    cost: Any = None,
    may_offload: bool = False,
    recompute_collectives: bool = False,
    for_target: Target | None = None,
    n: int = 24,
) -> Pareto:
    """Returns bytes against time for a joint graph, over all budgets.

    Args:
      joint: The joint graph.
      policy: The policy whose word holds at every budget.
      cost: How long an equation takes, in picoseconds; by default a roofline of the device in use.
      may_offload: Whether values may be moved to the host's memory.
      recompute_collectives: Whether the backward may repeat exchanges between devices.
      for_target: The device that memory and times are estimated for; by default the one in use.
      n: How many budgets to try besides the corners of the frontier's hull.

    Raises:
      PolicyError: If there is no such policy, or if what it says cannot be done.
    """
    cutter = Cutter(joint, policy, cost, may_offload, recompute_collectives, for_target)
    seconds = cost or (lambda eqn: eqn_picoseconds(eqn, cutter.target))
    budgets = cutter.budgets
    least, most = budgets.leanest.weight, budgets.fastest.weight
    names = dict.fromkeys((*SHOWN_POLICIES, policy))
    policies = [_policy_point(joint, name, seconds, recompute_collectives, cutter.target) for name in names]
    shown = tuple(point for point in policies if point is not None)
    limits = {corner.weight for corner in budgets.corners()} | {least + (most - least) * i // n for i in range(n + 1)}
    limits |= {point.saved_bytes for point in shown if least <= point.saved_bytes <= most}
    found: dict[int, Point] = {}
    for i, limit in enumerate(sorted(limits), 1):
        with working(f"budget {i} of {len(limits)}"):
            parts = cutter.within(limit)
        plan = parts.plan
        found[plan.extra_bytes] = Point(
            "",
            plan.extra_bytes,
            plan.recompute_seconds or 0.0,
            plan.least_seconds or 0.0,
            memory_timeline(parts).peak_bytes,
            len(parts.saved),
        )
    points = [found[size] for size in sorted(found)]
    points = [p for i, p in enumerate(points) if all(p.recompute_seconds < q.recompute_seconds for q in points[:i])]
    total = sum(map(seconds, joint.jaxpr.eqns)) / 1e12
    spread = joint.spread
    of_one = lambda point: dataclasses.replace(
        point, saved_bytes=-(-point.saved_bytes // spread.n_devices), peak_bytes=spread.of_one(point.peak_bytes)
    )
    return Pareto(tuple(map(of_one, points)), tuple(map(of_one, shown)), total, spread.n_devices)


def _policy_point(
    joint: JointGraph, policy: str | Policy, cost: Any, recompute_collectives: bool, target: Target
) -> Point | None:
    try:
        cutter = Cutter(joint, policy, recompute_collectives=recompute_collectives, for_target=target)
        parts = cutter.cut()
    except PolicyError:  # one of the policies shown for comparison that this graph does not allow
        return None
    inside = sum(cost(eqn) * n_times for eqn, n_times in cutter.unlimited.bodies.inside.repeated)
    taken = (recompute_picoseconds(parts, cost) + inside) / 1e12
    return Point(
        policy_label(policy),
        parts.plan.extra_bytes,
        taken,
        taken,
        memory_timeline(parts).peak_bytes,
        len(parts.saved),
    )


def recompute_picoseconds(partition: Any, cost: Any) -> int:
    """Returns how long the backward of a partition takes for what does not depend on a cotangent.

    Equations that are done again rather than kept (see `ir/schedule.py`) count once, as in a solution for a budget.
    """
    jaxpr = partition.backward.jaxpr
    behind = set(jaxpr.invars[len(partition.plan.residuals) :])
    early: dict[tuple[int, int], Any] = {}  # an equation that is done again is the same but for its variables
    for eqn in jaxpr.eqns:
        if any(not hasattr(atom, "val") and atom in behind for atom in eqn.invars):
            behind.update(eqn.outvars)
        else:
            early[id(eqn.params), id(eqn.source_info)] = eqn
    return sum(map(cost, early.values()))
