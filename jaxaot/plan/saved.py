"""Which values the forward hands to the backward, and which the backward computes again.

A *residual* is an input of the backward that is no cotangent. It comes from one of four places: a primal of the
forward, an output that the user's function returns anyway, an extra output of the forward, or a storage that is filled
again before the backward. Nothing that is a primal
or an output already is returned a second time, because `jit` would copy it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

from jaxaot._immutable import immutable
from jaxaot._typing import Shape
from jaxaot._util import format_bytes, format_seconds
from jaxaot.plan.pictures import Printed


@immutable
class FromPrimal:
    """The residual is input `index` of the forward; the caller holds it."""

    index: int


@immutable
class FromOutput:
    """The residual is output `index` of the user's function."""

    index: int


@immutable
class FromForward:
    """The residual is extra output `index` of the forward, counted after the user's outputs."""

    index: int


@immutable
class FromRefill:
    """The residual is what a storage holds when the backward runs; it held refill `index` in the forward."""

    index: int


ResidualSource: TypeAlias = FromPrimal | FromOutput | FromForward | FromRefill


def is_saved(source: ResidualSource) -> bool:
    """Returns whether a residual is a value that is saved, one of `SavePlan.saved`, rather than there anyway."""
    match source:
        case FromOutput() | FromForward():
            return True
        case FromPrimal() | FromRefill():
            return False
        case _:
            assert_never(source)


def picked(source: ResidualSource, primals: Sequence[Any], results: Sequence[Any], n_outputs: int) -> Any:
    """Returns which of what the forward takes and returns a residual is; None if it is a refill.

    Args:
      source: Where the residual comes from.
      primals: What the forward takes, or what is known of each.
      results: The same of what it returns.
      n_outputs: How many of its results the user's function returns.
    """
    match source:
        case FromPrimal(index):
            return primals[index]
        case FromOutput(index):
            return results[index]
        case FromForward(index):
            return results[n_outputs + index]
        case FromRefill():
            return None
        case _:
            assert_never(source)


@immutable
class SavedValue:
    """A value that is kept for the backward.

    Attributes:
      name: The primitive that made it, and its position in the forward, such as `tanh_12`.
      shape: Its shape.
      dtype: The name of its dtype.
      bytes: What it weighs.
      source: The user's line that made it, or `""`.
      why: Why it is kept rather than recomputed.
      is_offloaded: Whether it is kept in the memory of the host.
      packed_from: The type of the value that a hook packed into this one; None if none did.
    """

    name: str
    shape: Shape
    dtype: str
    bytes: int
    source: str
    why: str
    is_offloaded: bool = False
    packed_from: str | None = None


@immutable
class RecomputedValue:
    """A value of the forward that the backward computes again; fields as of `SavedValue`."""

    name: str
    shape: Shape
    dtype: str
    bytes: int
    source: str


@immutable
class SavePlan(Printed):
    """What crosses from the forward to the backward.

    Attributes:
      residuals: Where each residual comes from, in the order in which the backward takes them.
      saved: The values among them that are neither primals nor refills, in the same order.
      recomputed: The values that both graphs compute.
      save_all_bytes: What `saved_bytes` would be if the backward recomputed nothing but views.
      recompute_seconds: How long recomputing and moving takes, by the costs that a budget was met with; None without.
      least_seconds: How long it takes at least within that budget, whatever is chosen; None without a budget.
      packed_between: Positions of the residuals that hooks pack and unpack between the two graphs, as they cannot be
        traced.
      repeats_work: Whether the backward computes again what takes time, more than views and casts.
    """

    residuals: tuple[ResidualSource, ...]
    saved: tuple[SavedValue, ...]
    recomputed: tuple[RecomputedValue, ...]
    save_all_bytes: int
    recompute_seconds: float | None = None
    least_seconds: float | None = None
    packed_between: tuple[int, ...] = ()
    repeats_work: bool = True

    @property
    def saved_bytes(self) -> int:
        """Bytes of all residuals that are not primals, in the memory of the device."""
        return sum(value.bytes for value in self.saved if not value.is_offloaded)

    @property
    def offloaded_bytes(self) -> int:
        """Bytes of the residuals that are kept in the memory of the host."""
        return sum(value.bytes for value in self.saved if value.is_offloaded)

    @property
    def gap(self) -> float | None:
        """By how much recomputing may take longer than the best choice would, as a share; None without a budget."""
        if self.recompute_seconds is None or self.least_seconds is None:
            return None
        return 1 - self.least_seconds / self.recompute_seconds if self.recompute_seconds else 0.0

    @property
    def extra_bytes(self) -> int:
        """Bytes of the residuals that are neither primals nor outputs: what saving costs beyond what lives anyway."""
        sources = filter(is_saved, self.residuals)
        pairs = zip(sources, self.saved, strict=True)
        return sum(v.bytes for source, v in pairs if isinstance(source, FromForward) and not v.is_offloaded)

    @property
    def recomputed_bytes(self) -> int:
        """Bytes of all values that the backward computes again."""
        return sum(value.bytes for value in self.recomputed)

    @property
    def n_extra_outputs(self) -> int:
        """How many outputs the forward has after those of the user's function."""
        return sum(isinstance(source, FromForward) for source in self.residuals)

    def __str__(self) -> str:
        lines = [
            f"saves {format_bytes(self.saved_bytes)} in {len(self.saved)} values "
            f"(of {format_bytes(self.save_all_bytes)}), recomputes {len(self.recomputed)} values"
        ]
        if self.recompute_seconds is not None and self.gap is not None:
            best = "the least there is" if self.gap < 1e-9 else f"at most {100 * self.gap:.1f} % above the least"
            lines.append(f"recomputing takes {format_seconds(self.recompute_seconds)}, {best}")
        if self.offloaded_bytes:
            lines.append(f"keeps {format_bytes(self.offloaded_bytes)} in the memory of the host")
        for value in self.saved:
            shape = ",".join(map(str, value.shape))
            place = f"  # {value.source}" if value.source else ""
            why = value.why if value.packed_from is None else f"packed from {value.packed_from}, {value.why}"
            lines.append(f"  {value.name}: {value.dtype}[{shape}] {format_bytes(value.bytes)}, {why}{place}")
        if self.packed_between:
            lines.append(f"  hooks that cannot be traced pack {len(self.packed_between)} residuals after the forward")
        return "\n".join(lines)


@immutable
class TapePlan:
    """What the node of a call needs to know of the joint graph's equations.

    Attributes:
      primals: The inputs of the forward that gradients depend on, which a derivative of the backward takes.
      apart: For each gradient the outputs that its input leads to; None if each leads to all of them.
      is_differentiable: Whether there is a derivative of the backward.
    """

    primals: tuple[int, ...]
    apart: tuple[frozenset[int], ...] | None
    is_differentiable: bool = True
