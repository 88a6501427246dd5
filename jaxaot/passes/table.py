"""Which passes run where, by name.

Passes run at two places. On the *joint* graph, before it is cut: what they leave is what the cut sees the costs of. And
on each graph that is *lowered*, after `finish.py`: these change nothing but speed, so which ones run depends on what
XLA does on the platform. In order:

1. joint: `cse`, `dce`, `fold`, and those that users register;
2. the partitioner cuts;
3. `finish.py`: custom rules are opened, barriers hold recomputation and writes in place;
4. lowered: `share`, `fold_transposes`, `spread`, `flatten_dots`, `order_operands`, `hold`, which comes last of these
   because the others rewrite what it puts barriers behind;
5. `legs`: the graph becomes several executables, where one would need too much memory at once (`lower/legs.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxaot.passes.flatten_dots import flatten_dots
from jaxaot.passes.fold_transposes import fold_transposes
from jaxaot.passes.hold import hold
from jaxaot.passes.order_operands import order_operands
from jaxaot.passes.share import share
from jaxaot.passes.spread import spread

JOINT: tuple[str, ...] = ("cse", "dce")
"""What runs on a joint graph by default."""

LOWERED: dict[str, Callable[[Any], Any]] = {
    "share": share,
    "fold_transposes": fold_transposes,
    "spread": spread,
    "flatten_dots": flatten_dots,
    "order_operands": order_operands,
    "hold": hold,
}
"""The passes on a graph that is lowered, in the order in which they run."""

LEGS = "legs"
"""Switches on that a graph may become several executables."""

DEFAULTS: dict[str, tuple[str, ...]] = {"cpu": (*LOWERED, LEGS)}
"""What runs on a lowered graph by default, by platform; nothing on those that are not listed: nothing was measured."""
