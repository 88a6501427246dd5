"""Which arguments of a jitted function are static, by position and by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from jaxaot._util import signature_of
from jaxaot.errors import ArgumentError


class Static:
    """Which arguments of a function are static: positions and names, one said by the other as in `jax.jit`."""

    def __init__(self, fn: Callable[..., Any], options: dict[str, Any]):
        given = options.get("static_argnums"), options.get("static_argnames")
        self._numbers, self._names = (set(_several(values)) for values in given)
        if None not in given:  # one may be said of fewer arguments than the other
            return
        signature = signature_of(fn)
        parameters = [] if signature is None else list(signature.parameters.values())
        for i, parameter in enumerate(parameters):
            is_static = parameter.name in self._names or not self._numbers.isdisjoint((i, i - len(parameters)))
            if is_static and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                self._numbers.add(i)
                self._names.add(parameter.name)

    @property
    def numbers(self) -> frozenset[int]:
        """The positions, some of which may be counted from the end."""
        return frozenset(self._numbers)

    @property
    def names(self) -> frozenset[str]:
        """The names."""
        return frozenset(self._names)

    def split(self, args: Any, kwargs: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Returns the arguments that hold arrays, and the static ones, by position or name."""
        moving: dict[Any, Any] = {}
        static: dict[Any, Any] = {}
        for i, value in enumerate(args):
            (moving if self._numbers.isdisjoint((i, i - len(args))) else static)[i] = value
        for name in sorted(kwargs):
            (static if name in self._names else moving)[name] = kwargs[name]
        return moving, static


def counted_from_first(fn: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """Returns options of `jax.jit` whose static positions are not negative, if static names are given besides.

    Of those, versions of JAX differ in where they count from if a call passes arguments by name.
    """
    numbers, names, signature = options.get("static_argnums"), options.get("static_argnames"), signature_of(fn)
    if numbers is None or names is None or signature is None:
        return options
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    n = sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)
    if not n or inspect.Parameter.VAR_POSITIONAL in kinds:
        return options
    return {**options, "static_argnums": tuple(i + n if -n <= i < 0 else i for i in _several(numbers))}


def _several(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, int | str) else tuple(value)


def refuse_cycles(tree: object, what: str) -> None:
    """Raises if a list, tuple or dict is inside of itself: JAX flattens no such tree, and fails in the thread since.

    Args:
      tree: The tree.
      what: What it is.

    Raises:
      ArgumentError: If one is.
    """
    within: set[int] = set()

    def visit(value: Any) -> None:
        if type(value) not in (list, tuple, dict):
            return
        if id(value) in within:
            raise ArgumentError(
                f"{what} hold a {type(value).__name__} that contains itself, directly or by others. Trees of arrays "
                "have an end: pass the parts, or an object of a class of yours with them as attributes."
            )
        within.add(id(value))
        for item in value.values() if type(value) is dict else value:
            visit(item)
        within.discard(id(value))

    visit(tree)
