"""What the devices of a program exchange, read from its HLO.

On TPUs a reduce-scatter is a fusion of an all-reduce and a slice, and an exchange beside which something is computed
stands in several fusions that share a channel.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import starmap
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._util import format_bytes

_KINDS = ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast")
_LINE = re.compile(rf"= (?P<type>.*?) (?P<kind>{'|'.join(_KINDS)})(?P<start>-start)?\(")
_SHAPE = re.compile(r"([a-z]+\d*[a-z0-9]*)\[([\d,]*)\]")
_NAME = re.compile(r'op_name="([^"]*)"')
_CHANNEL = re.compile(r"channel_id=(\d+)")
_HEAD = re.compile(r"(?:ENTRY )?%(?P<name>[\w.-]+) \(.*\) -> (?P<type>.*) \{$")
_BITS = {"pred": 8}


@immutable
class Collective:
    """One exchange of a program.

    Attributes:
      kind: `"all-gather"`, `"all-reduce"`, `"reduce-scatter"`, `"all-to-all"`, `"collective-permute"`.
      nbytes: Bytes of its result on one device.
      source: What it belongs to, as JAX names it.
    """

    kind: str
    nbytes: int
    source: str = ""


def collectives(hlo: str) -> tuple[Collective, ...]:
    """Returns what the devices of a compiled program exchange, in the order of its text.

        collectives(jax.jit(step).lower(params, batch).compile().as_text())

    Args:
      hlo: The text of the program after XLA's optimization.
    """
    found = []
    name_of_body, type_of_body = "", ""
    known: set[Any] = set()
    for line in hlo.splitlines():
        head = _HEAD.match(line)
        if head is not None:
            name_of_body, type_of_body = head["name"], head["type"]
        match = _LINE.search(line)
        if match is None:
            continue
        if name_of_body.startswith("all-reduce-scatter"):  # how TPUs write a reduce-scatter
            found.append(Collective("reduce-scatter", sum(starmap(_nbytes, _SHAPE.findall(type_of_body)))))
            continue
        if name_of_body.startswith(("fused_computation", "async_collective_fusion")):  # a TPU's, cut into several parts
            channel = _CHANNEL.search(line)
            part = match["kind"], channel and channel[1]
            if part in known:
                continue
            known.add(part)
        sizes = list(starmap(_nbytes, _SHAPE.findall(match["type"])))
        is_pair = match["start"] is not None and len(sizes) > 1  # of operands and results
        name = _NAME.search(line)
        total = sum(sizes[len(sizes) // 2 :]) if is_pair else sum(sizes)
        found.append(Collective(match["kind"], total, "" if name is None else name[1]))
    return tuple(found)


def _nbytes(kind: str, dims: str) -> int:
    digits = re.search(r"\d+", kind)
    bits = _BITS.get(kind) or (int(digits[0]) if digits else 8)
    return math.prod(int(n) for n in dims.split(",") if n) * bits // 8


def collectives_text(found: Sequence[Collective]) -> str:
    """Returns collectives as text: a line for each kind, with how many there are and their bytes on one device."""
    if not found:
        return "no collectives"
    counts = Counter(c.kind for c in found)
    sizes = {kind: sum(c.nbytes for c in found if c.kind == kind) for kind in counts}
    return "\n".join(f"{counts[kind]} {kind}: {format_bytes(sizes[kind])} per device" for kind in counts)
