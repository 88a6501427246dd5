"""The table of rules: by primitive, how it is written at a bucket. What has no rule is not written."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from jaxaot.buckets.writer import Padded, Rule, Writer
from jaxaot.ir.alignment import AlignedEqn


class Row(NamedTuple):
    """A rule.

    Attributes:
      names: The primitives that it is for.
      does: What it does about invalid elements, for the page of them.
      rule: The function.
    """

    names: tuple[str, ...]
    does: str
    rule: Rule


ROWS: list[Row] = []
RULES: dict[str, Rule] = {}


def declare(names: str, does: str, sizes: str = "") -> Callable[[Rule], Rule]:
    """Returns a decorator that puts a rule into the table.

    A number in a parameter may depend on a size: an axis, an exponent, a fill value. A rule would take that of the
    bucket for all sizes. So it is refused but for the parameters that the rule reads at both sizes.

    Args:
      names: The primitives that it is for.
      does: What it does about invalid elements.
      sizes: The parameters whose numbers may depend on a size.
    """
    read = frozenset(sizes.split())

    def add(rule: Rule) -> Rule:
        @functools.wraps(rule)
        def checked(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
            others = [name for name in e.moving_params if name not in read]
            if others:
                raise w.refuse(f"what it says of {' and '.join(others)} depends on a size")
            return rule(w, e, values)

        row = Row(tuple(names.split()), does, checked)
        assert RULES.keys().isdisjoint(row.names), "a primitive has two rules"
        ROWS.append(row)
        RULES.update(dict.fromkeys(row.names, checked))
        return checked

    return add
