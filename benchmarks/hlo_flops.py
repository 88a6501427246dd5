"""FLOPs of the products of a compiled program, with the rounds of its loops counted, read from its HLO.

`cost_analysis` counts the body of a loop once. How often a loop runs is what its condition compares with. On TPUs a
product is a convolution, some of whose places are padding: those are not counted.
"""

from __future__ import annotations

import functools
import math
import re
from typing import NamedTuple

from jaxaot.ir.cost import taps

_HEAD = re.compile(r"(?P<entry>ENTRY )?%?(?P<name>[\w.\-]+) \(.*\{$")
_LINE = re.compile(r"\s*(?:ROOT )?%?(?P<name>[\w.\-]+) = (?P<type>.*?) (?P<op>[\w\-]+)\((?P<rest>.*)$")
_SHAPE = re.compile(r"[a-z]+\d*[a-z0-9]*\[([\d,]*)\]")
_CALLED = re.compile(r"(?:calls|to_apply|body|called_computations)=\{?%?([\w.\-]+)")
_NUMBER = re.compile(r"= [su]32\[\][^ ]* constant\((\d+)\)")


class _Instruction(NamedTuple):
    name: str
    shape: list[int]
    op: str
    rest: str

    @property
    def operands(self) -> list[str]:
        return re.findall(r"%([\w.\-]+)", self.rest.split("), ")[0])


def hlo_flops(hlo: str) -> int:
    """Returns the FLOPs of the products of a program for one device.

    Args:
      hlo: The text of the program after XLA's optimization.
    """
    bodies: dict[str, list[str]] = {}
    entry, lines = "", None
    for line in hlo.splitlines():
        head = _HEAD.match(line) if lines is None else None
        if head is not None:
            lines = bodies.setdefault(head["name"], [])
            entry = head["name"] if head["entry"] else entry
        elif line.startswith("}"):
            lines = None
        elif lines is not None:
            lines.append(line)

    @functools.cache
    def flops(name: str) -> int:
        shapes: dict[str, list[int]] = {}
        total = 0
        for found in map(_LINE.match, bodies.get(name, ())):
            if found is None:
                continue
            eqn = _Instruction(found["name"], _shape(found["type"]), found["op"], found["rest"])
            shapes[eqn.name] = eqn.shape
            if eqn.op == "dot":
                total += _dot(eqn, shapes)
            elif eqn.op == "convolution":
                total += _convolution(eqn, shapes)
            else:
                n_rounds = _n_rounds(eqn, bodies) if eqn.op == "while" else 1
                total += n_rounds * sum(map(flops, _CALLED.findall(eqn.rest)))
        return total

    return flops(entry)


def _shape(text: str) -> list[int]:
    found = _SHAPE.search(text)
    return [int(n) for n in found[1].split(",") if n] if found else []


def _n_rounds(eqn: _Instruction, bodies: dict[str, list[str]]) -> int:
    """Returns how often a loop runs: as often as its counter goes by its step up to what the condition names."""
    known = re.search(r'known_trip_count"?:\{"n":"?(\d+)', eqn.rest)
    condition = re.search(r"condition=%?([\w.\-]+)", eqn.rest)
    if known is not None or condition is None:
        return int(known[1]) if known else 1
    lines = bodies.get(condition[1], ())
    end = max((int(n) for line in lines for n in _NUMBER.findall(line)), default=1)
    counter = re.search(r"index=(\d+)", "".join(line for line in lines if " get-tuple-element(" in line))
    body = {found["name"]: found for found in map(_LINE.match, bodies.get(_CALLED.findall(eqn.rest)[0], ())) if found}
    results = next((found for found in reversed(body.values()) if found["op"] == "tuple"), None)
    if counter is None or results is None:
        return end
    name = re.findall(r"%([\w.\-]+)", results["rest"])[int(counter[1])]
    added = body[name]["rest"].split("), ")[0] if name in body and body[name]["op"] == "add" else ""
    steps = (_NUMBER.search(body[part].string) for part in re.findall(r"%([\w.\-]+)", added) if part in body)
    return -(-end // max([int(step[1]) for step in steps if step] or [1]))


def _dot(eqn: _Instruction, shapes: dict[str, list[int]]) -> int:
    contracted = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", eqn.rest)
    left = shapes.get(eqn.operands[0], [])
    sizes = [left[int(i)] for i in contracted[1].split(",") if i] if contracted and left else []
    return 2 * math.prod(eqn.shape) * math.prod(sizes)


def _convolution(eqn: _Instruction, shapes: dict[str, list[int]]) -> int:
    labels = re.search(r"dim_labels=(\w+)_(\w+)->(\w+)", eqn.rest)
    image, kernel = (shapes.get(name, []) for name in eqn.operands[:2])
    if labels is None or not image or not kernel:
        return 0
    of_image, of_kernel, of_result = labels.groups()
    window = dict(part.split("=") for part in re.findall(r"\w+=[\dx_\-]+", _window(eqn.rest)))
    n_axes = len(of_image) - 2
    read = lambda name, default: window.get(name, "x".join([default] * n_axes)).split("x")
    strides, spreads = read("stride", "1"), read("lhs_dilate", "1")
    dilations, paddings = read("rhs_dilate", "1"), read("pad", "0_0")
    total = eqn.shape[of_result.index("b")] * eqn.shape[of_result.index("f")] * kernel[of_kernel.index("i")]
    for axis in range(n_axes):
        places = (labelled.index(str(axis)) for labelled in (of_image, of_kernel, of_result))
        size, taken, made = (of[i] for of, i in zip((image, kernel, eqn.shape), places, strict=True))
        padding = int(paddings[axis].split("_")[0])
        total *= taps(size, taken, made, int(strides[axis]), padding, int(spreads[axis]), int(dilations[axis]))
    return 2 * total


def _window(rest: str) -> str:
    found = re.search(r"window=\{([^}]*)\}", rest)
    return found[1] if found else ""
