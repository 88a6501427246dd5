"""What is done to a graph right before it is lowered, in this order:

1. `inline`: nothing is differentiated any more, so custom rules have done their work;
2. `drop_inputs`: inputs without bytes go, and a forward in which Python asks for values is cut into segments;
3. barriers: `hold_gathers` and `pin_writes` in a forward, `gate` in a backward. They come last, because they refer to
   the order of the equations, and because the passes of the pipeline would move equations across them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot._placement import are_several
from jaxaot.ir.gate import hold_gathers
from jaxaot.ir.rewrite import drop_inputs, inline
from jaxaot.passes.gate import gate
from jaxaot.passes.pin_writes import pin_writes


def prepare_forward(jaxpr: Any) -> Any:
    """Returns a forward, or the last segment of one, as it is lowered."""
    opened = inline(jaxpr, also_custom=True)
    return pin_writes(hold_gathers(opened) if are_several() else opened)


def prepare_backward(jaxpr: Any, n_early: int, dropped: Sequence[int] = (), saved: Sequence[int] = ()) -> Any:
    """Returns a backward as it is lowered.

    Args:
      jaxpr: The graph, a ClosedJaxpr.
      n_early: How many inputs come first that are known before the cotangents, the dropped ones included.
      dropped: The positions of inputs that nothing reads.
      saved: The positions of the inputs that the forward computes, if it is part of the same program; none is dropped.
    """
    opened, n_kept = drop_inputs(inline(jaxpr, also_custom=True), dropped), n_early - sum(i < n_early for i in dropped)
    return gate(opened, n_kept, saved=[i - sum(k < i for k in dropped) for i in saved])
