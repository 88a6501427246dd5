"""Iterators among the arguments of a compiled function.

An iterator can be read once, and a call has to look at its items before it knows whether a program fits. So it is read
when the call begins, and the function is given an iterator over the same items: `fn(p for p in params)` works, and each
item is an argument of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any

import jax

from jaxaot.errors import StaticArgumentError

MAX_ITEMS = 100_000


class Iterated:
    """The items of an iterator that was read; a pytree of them, which is put together again as an iterator."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Any, ...]):
        self.items = items


def _open(_: None, items: Any) -> Any:
    return iter(items)


jax.tree_util.register_pytree_node(Iterated, lambda read: (read.items, None), _open)


def opened(value: Any) -> Any:
    """Returns an iterator over the items of one that was read; anything else as it is."""
    return iter(value.items) if isinstance(value, Iterated) else value


def is_iterator(value: object) -> bool:
    """Returns whether an argument has to be read before it can be looked at: a generator, or the view of a dict."""
    return isinstance(value, (Iterator, ValuesView, KeysView, ItemsView))


def has_iterators(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Returns whether any argument is an iterator."""
    return any(map(is_iterator, args)) or any(map(is_iterator, kwargs.values()))


def read_iterators(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns the arguments with iterators read to their end.

    Raises:
      StaticArgumentError: If one has no end in sight.
    """
    return tuple(map(_read, args)), {name: _read(value) for name, value in kwargs.items()}


def _read(value: Any) -> Any:
    if not is_iterator(value):
        return value
    items = tuple(itertools.islice(value, MAX_ITEMS + 1))
    if len(items) > MAX_ITEMS:
        raise StaticArgumentError(
            f"An argument is an iterator of more than {MAX_ITEMS} items; all of them are read when a compiled "
            "function is called. Pass a list of those that it needs."
        )
    return Iterated(items)
