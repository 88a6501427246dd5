"""How much memory a partition uses as it runs, estimated from shapes alone.

The forward runs, then the backward. Inputs and outputs are in use all the time, a residual from where it is made to its
last use, any other value from where it is made to its last use. Views take no memory but keep what they show; what is
computed pointwise and read once is taken to be fused into its reader. A compiler may do better, by running equations in
another order, or worse.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from jaxaot._jax import DropVar
from jaxaot._typing import Jaxpr
from jaxaot._util import format_bytes
from jaxaot.errors import MissingExtraError
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.walk import aval_bytes, is_on_host, source_line, sub_jaxprs, variables
from jaxaot.partition.pictures import as_image, new_axes
from jaxaot.plan.saved import FromForward
from jaxaot.plan.stages import Partition


@dataclasses.dataclass(frozen=True)
class Moment:
    """The memory in use while one equation runs.

    Attributes:
      side: `"forward"` or `"backward"`.
      name: The primitive.
      source: The user's line, or `""`.
      bytes: All that is in use.
      residual_bytes: What of it is kept for the backward.
    """

    side: str
    name: str
    source: str
    bytes: int
    residual_bytes: int


@dataclasses.dataclass(frozen=True, repr=False)
class Timeline:
    """The memory in use over the forward and the backward, equation by equation.

    Attributes:
      moments: One for each equation, in order.
      held_bytes: What inputs and outputs take, which are in use throughout and counted in every moment.
    """

    moments: tuple[Moment, ...]
    held_bytes: int

    @property
    def peak(self) -> Moment | None:
        """The moment at which most is in use."""
        return max(self.moments, key=lambda moment: moment.bytes, default=None)

    @property
    def peak_bytes(self) -> int:
        """The most that is in use at any time."""
        return self.peak.bytes if self.peak is not None else self.held_bytes

    def plot(self, axes: Any = None) -> Any:
        """Draws the memory in use with matplotlib and returns the axes.

        Args:
          axes: The axes to draw on; a new figure if left out.

        Raises:
          MissingExtraError: If matplotlib is not installed.
        """
        axes = new_axes("print(partition.timeline)") if axes is None else axes
        mib, x = 2**20, range(len(self.moments))
        axes.fill_between(x, [moment.bytes / mib for moment in self.moments], label="temporaries", step="mid")
        kept = [(self.held_bytes + moment.residual_bytes) / mib for moment in self.moments]
        axes.fill_between(x, kept, label="residuals", step="mid")
        axes.fill_between(x, self.held_bytes / mib, label="inputs and outputs", step="mid")
        axes.axvline(sum(moment.side == "forward" for moment in self.moments), color="black", linewidth=0.8)
        axes.set_xlabel("equation, forward then backward")
        axes.set_ylabel("in use (MiB)")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return f"<Timeline: {len(self.moments)} equations, at most {format_bytes(self.peak_bytes)} in use>"

    def _repr_html_(self) -> str:
        """Returns the picture and a line of text, for notebooks."""
        try:
            return f"{as_image(self.plot())}<pre>{self}</pre>"
        except MissingExtraError:
            return f"<pre>{self}</pre>"

    def __str__(self) -> str:
        if self.peak is None:
            return f"peak {format_bytes(self.held_bytes)}: inputs and outputs"
        place = f", {self.peak.source}" if self.peak.source else ""
        return (
            f"peak {format_bytes(self.peak_bytes)} at {self.peak.name} in the {self.peak.side}{place}, of which "
            f"{format_bytes(self.held_bytes)} inputs and outputs, {format_bytes(self.peak.residual_bytes)} residuals"
        )


def memory_timeline(partition: Partition) -> Timeline:
    """Returns the memory that a partition uses over its forward and its backward."""
    forward, backward = partition.forward.jaxpr, partition.backward.jaxpr
    n_outputs = partition.joint.n_outputs
    outputs = {var for var in variables(forward.outvars[:n_outputs]) if var not in set(forward.invars)}
    gradients = set(variables(backward.outvars)) - set(backward.invars)
    constants = [*partition.forward.consts, *partition.backward.consts]
    held = sum(aval_bytes(var.aval) for var in (*forward.invars, *outputs, *gradients))
    held += sum(aval_bytes(aval) for aval in {id(c): c for c in constants}.values())
    kept = {var for var in variables(forward.outvars[n_outputs:]) if not is_on_host(var.aval)}
    moments = _moments(forward, "forward", held, kept, frozenset(outputs), 0, frozenset())
    residuals = {}
    for place, source in enumerate(partition.plan.residuals):
        var = backward.invars[place]
        if isinstance(source, FromForward) and not is_on_host(var.aval):
            residuals[var] = aval_bytes(var.aval)
    moments += _moments(
        backward, "backward", held, set(), frozenset(gradients), sum(residuals.values()), frozenset(residuals)
    )
    return Timeline(tuple(moments), held)


def _moments(
    jaxpr: Jaxpr,
    side: str,
    held: int,
    kept: set[Any],
    counted: frozenset[Any],
    residual_bytes: int,
    residuals: frozenset[Any],
) -> list[Moment]:
    """Returns the moments of one graph.

    Args:
      jaxpr: The graph.
      side: Its name.
      held: What is in use throughout.
      kept: Values that stay in use to the end, and are residuals from then on.
      counted: Values that are part of `held`.
      residual_bytes: What the residuals take at the start.
      residuals: Inputs that are released after their last use.
    """
    shown = _shown_by(jaxpr)
    last: dict[Any, int] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        for var in variables(eqn.invars):
            for owner in shown(var):
                last[owner] = i
    for var in variables(jaxpr.outvars):
        for owner in shown(var):
            last[owner] = len(jaxpr.eqns)
    ends: dict[int, list[Any]] = {}
    for var, i in last.items():
        ends.setdefault(i, []).append(var)
    inputs = set(jaxpr.invars) | set(jaxpr.constvars)
    live: dict[Any, int] = {}
    moments = []
    kept_bytes = 0
    kept_owners = {owner for var in kept for owner in shown(var)}
    current = held + residual_bytes
    for i, eqn in enumerate(jaxpr.eqns):
        for var in eqn.outvars:
            if isinstance(var, DropVar) or var in counted or shown(var) != (var,) or is_on_host(var.aval):
                continue
            live[var] = aval_bytes(var.aval)
            current += live[var]
            kept_bytes += live[var] if var in kept_owners else 0
        inside = max((_inside(body) for body in sub_jaxprs(eqn)), default=0) if kind(eqn) >= Kind.CONTROL else 0
        place = source_line(eqn) or ""
        moments.append(Moment(side, eqn.primitive.name, place, current + inside, kept_bytes + residual_bytes))
        for var in ends.get(i, ()):
            if var in residuals:
                current -= aval_bytes(var.aval)
                residual_bytes -= aval_bytes(var.aval)
            elif var in live and var not in inputs:
                current -= live.pop(var)
        for var in eqn.outvars:  # what nobody reads
            if var in live and var not in last:
                current -= live.pop(var)
    return moments


def _inside(body: Any) -> int:
    """Returns the most that the values of a body take at a time, its inputs not counted."""
    moments = _moments(body, "body", 0, set(), frozenset(), 0, frozenset())
    return max((moment.bytes for moment in moments), default=0)


def _shown_by(jaxpr: Jaxpr) -> Callable[[Any], Sequence[Any]]:
    """Returns a map from a variable to those whose memory it needs: itself, or those it is a view or fusion of."""
    readers: dict[Any, int] = {}
    for eqn in jaxpr.eqns:
        for var in variables(eqn.invars):
            readers[var] = readers.get(var, 0) + 1
    for var in variables(jaxpr.outvars):
        readers[var] = readers.get(var, 0) + 2
    owners: dict[Any, Sequence[Any]] = {}
    for eqn in jaxpr.eqns:
        which = kind(eqn)
        is_fused = which <= Kind.TRANSCENDENTAL and all(readers.get(var, 0) <= 1 for var in eqn.outvars)
        if which is Kind.VIEW or is_fused:
            found = dict.fromkeys(o for var in variables(eqn.invars) for o in owners.get(var, (var,)))
            for var in eqn.outvars:
                if not isinstance(var, DropVar):
                    owners[var] = tuple(found)
    return lambda var: owners.get(var, (var,))
