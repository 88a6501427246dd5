"""What the devices of a program exchange, read from its HLO."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Sequence

from jaxaot._util import format_bytes

_KINDS = ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast")
_LINE = re.compile(rf"= (?P<type>.*?) (?P<kind>{'|'.join(_KINDS)})(?P<start>-start)?\(")
_SHAPE = re.compile(r"([a-z]+\d*[a-z0-9]*)\[([\d,]*)\]")
_NAME = re.compile(r'op_name="([^"]*)"')
_BITS = {"pred": 8}


@dataclasses.dataclass(frozen=True)
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
    for line in hlo.splitlines():
        match = _LINE.search(line)
        if match is None:
            continue
        sizes = [_nbytes(kind, dims) for kind, dims in _SHAPE.findall(match["type"])]
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
