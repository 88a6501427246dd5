"""The table of rules: by primitive, how it is written at a bucket. What has no rule is not written."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from jaxaot.buckets.writer import Rule


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


def declare(names: str, does: str) -> Callable[[Rule], Rule]:
    """Returns a decorator that puts a rule into the table.

    Args:
      names: The primitives that it is for.
      does: What it does about invalid elements.
    """

    def add(rule: Rule) -> Rule:
        row = Row(tuple(names.split()), does, rule)
        assert RULES.keys().isdisjoint(row.names), "a primitive has two rules"
        ROWS.append(row)
        RULES.update(dict.fromkeys(row.names, rule))
        return rule

    return add
