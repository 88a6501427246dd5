"""What was cut in the bodies of equations, told to those who only see the equations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxaot._immutable import immutable
from jaxaot.plan.saved import RecomputedValue


@immutable
class InnerValue:
    """A value that an equation hands out from one of its bodies.

    Attributes:
      name: What it goes by, such as `scan_3/tanh_7`.
      source: The user's line that made it, or `""`.
      why: Why it is saved rather than recomputed.
    """

    name: str
    source: str
    why: str


@immutable(eq=False)
class BodyPlan:
    """What bodies save and recompute.

    Attributes:
      saved: What is known of each variable that holds values of a body.
      recomputed: The values of bodies that the backward computes again.
      repeated: The equations that make them, and how often each runs in all.
    """

    saved: Mapping[Any, InnerValue]
    recomputed: tuple[RecomputedValue, ...]
    repeated: tuple[tuple[Any, int], ...]
