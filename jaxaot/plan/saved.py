"""Which values the forward hands to the backward, and which the backward computes again.

A *residual* is an input of the backward that is no cotangent. It comes from one of four places: a primal of the
forward, an output that the user's function returns anyway, an extra output of the forward, or a storage that is filled
again before the backward. Nothing that is a primal
or an output already is returned a second time, because `jit` would copy it.
"""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

from jaxaot._typing import Shape
from jaxaot._util import format_bytes


@dataclasses.dataclass(frozen=True)
class FromPrimal:
    """The residual is input `index` of the forward; the caller holds it."""

    index: int


@dataclasses.dataclass(frozen=True)
class FromOutput:
    """The residual is output `index` of the user's function."""

    index: int


@dataclasses.dataclass(frozen=True)
class FromForward:
    """The residual is extra output `index` of the forward, counted after the user's outputs."""

    index: int


@dataclasses.dataclass(frozen=True)
class FromRefill:
    """The residual is what a storage holds when the backward runs; it held refill `index` in the forward."""

    index: int


ResidualSource: TypeAlias = FromPrimal | FromOutput | FromForward | FromRefill


@dataclasses.dataclass(frozen=True)
class SavedValue:
    """A value that is kept for the backward.

    Attributes:
      name: The primitive that made it, and its position in the forward, such as `tanh_12`.
      shape: Its shape.
      dtype: The name of its dtype.
      bytes: What it weighs.
      source: The user's line that made it, or `""`.
      why: Why it is kept rather than recomputed.
    """

    name: str
    shape: Shape
    dtype: str
    bytes: int
    source: str
    why: str


@dataclasses.dataclass(frozen=True)
class RecomputedValue:
    """A value of the forward that the backward computes again; fields as of `SavedValue`."""

    name: str
    shape: Shape
    dtype: str
    bytes: int
    source: str


@dataclasses.dataclass(frozen=True)
class SavePlan:
    """What crosses from the forward to the backward.

    Attributes:
      residuals: Where each residual comes from, in the order in which the backward takes them.
      saved: The values among them that are neither primals nor refills, in the same order.
      recomputed: The values that both graphs compute.
      save_all_bytes: What `saved_bytes` would be if the backward recomputed nothing but views.
    """

    residuals: tuple[ResidualSource, ...]
    saved: tuple[SavedValue, ...]
    recomputed: tuple[RecomputedValue, ...]
    save_all_bytes: int

    @property
    def saved_bytes(self) -> int:
        """Bytes of all residuals that are not primals."""
        return sum(value.bytes for value in self.saved)

    @property
    def extra_bytes(self) -> int:
        """Bytes of the residuals that are neither primals nor outputs: what saving costs beyond what lives anyway."""
        sources = [source for source in self.residuals if not isinstance(source, (FromPrimal, FromRefill))]
        pairs = zip(sources, self.saved, strict=True)
        return sum(value.bytes for source, value in pairs if isinstance(source, FromForward))

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
        for value in self.saved:
            shape = ",".join(map(str, value.shape))
            place = f"  # {value.source}" if value.source else ""
            lines.append(f"  {value.name}: {value.dtype}[{shape}] {format_bytes(value.bytes)}, {value.why}{place}")
        return "\n".join(lines)
