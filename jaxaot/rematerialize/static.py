"""The options of `remat`, and the arguments that they say are part of the program.

A *static* argument is a leaf of its call, whatever it holds. All ints besides are traced: one whose value Python asks
for is named in an error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax

from jaxaot._util import signature_of
from jaxaot.errors import ArgumentError, ConcretizationError, UsageError
from jaxaot.lower.static import Static

_KINDS = {int: "positions, which are ints", str: "names, which are strings"}


@dataclasses.dataclass(frozen=True)
class Options:
    """What `remat` was asked for.

    Attributes:
      policy: What may be saved; None is the setting in force.
      memory_budget: The most that may be saved; None is the setting in force.
      static_argnums: The positions of arguments that are part of the program.
      static_argnames: The names of such arguments.
      waits: Whether what is recomputed waits for the cotangents.
      traces_ints: Whether Python's ints are traced.
      is_whole: Whether it is all that is differentiated, and shares no memory with others.
    """

    policy: str | Callable[..., Any] | None = None
    memory_budget: float | str | None = None
    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    waits: bool = True
    traces_ints: bool = True
    is_whole: bool = False

    def moved(self, n: int) -> Options:
        """Returns the same of a function that takes `n` more arguments first."""
        return dataclasses.replace(self, static_argnums=tuple(i if i < 0 else i + n for i in self.static_argnums))


def several(values: Any, kind: type, option: str) -> tuple[Any, ...]:
    """Returns positions or names as a tuple, of which one may be given alone."""
    found = (values,) if isinstance(values, int | str) or not isinstance(values, Iterable) else tuple(values)
    if any(not isinstance(value, kind) for value in found):
        raise ArgumentError(
            f"`ja.remat({option}={values!r})`: what is static is said by {_KINDS[kind]}. Write for instance "
            "`ja.remat(fn, static_argnums=(1,))` or `ja.remat(fn, static_argnames=('n',))`."
        )
    return found


@dataclasses.dataclass(frozen=True)
class _Fixed:
    """A static argument."""

    value: Any


class StaticArguments:
    """Which arguments of a function are static."""

    def __init__(self, fn: Callable[..., Any], options: Options):
        """Reads the positions and names that are static."""
        self._fn, self._numbers, self._names = fn, options.static_argnums, options.static_argnames
        given = {"static_argnums": self._numbers or None, "static_argnames": self._names or None}
        self._static = Static(fn, given) if self._numbers or self._names else None
        if self._static is not None:
            self._check()

    @property
    def _name(self) -> str:
        return getattr(self._fn, "__name__", "fn")

    def _check(self) -> None:
        signature = signature_of(self._fn)
        if signature is None:
            return
        parameters = list(signature.parameters.values())
        kinds = {parameter.kind for parameter in parameters}
        by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        n = len(by_position)
        wrong: list[Any] = []
        if not any(kind.name == "VAR_POSITIONAL" for kind in kinds):
            wrong += [i for i in self._numbers if not -n <= i < n]
        if not any(kind.name == "VAR_KEYWORD" for kind in kinds):
            wrong += [name for name in self._names if name not in signature.parameters]
        if wrong:
            raise UsageError(
                f"`ja.remat` was told that {', '.join(map(repr, wrong))} of `{self._name}` is static, and there is no "
                f"such argument: its signature is `{signature}`."
            )

    def mark(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns arguments with the static ones marked."""
        if self._static is None:
            return args, kwargs
        moving, static = self._static.split(args, kwargs)
        marked = moving | {place: _Fixed(value) for place, value in static.items()}
        return tuple(marked[i] for i in range(len(args))), {name: marked[name] for name in kwargs}

    def explain(self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raises an error that names the ints of a call, if the function can be traced with these, and only so."""
        moving = dict(enumerate(args)) | kwargs if self._static is None else self._static.split(args, kwargs)[0]
        ints = [place for place, value in moving.items() if any(type(leaf) is int for leaf in jax.tree.leaves(value))]
        if not ints:
            return
        values = {place: value for place, value in moving.items() if place not in ints}
        leaves, tree = jax.tree.flatten(list(values.values()))
        arrays = [i for i, leaf in enumerate(leaves) if isinstance(leaf, float | complex) or hasattr(leaf, "dtype")]

        def run(*traced: object) -> None:
            given = list(leaves)
            for i, value in zip(arrays, traced, strict=True):
                given[i] = value
            found = dict(enumerate(args)) | kwargs | dict(zip(values, jax.tree.unflatten(tree, given), strict=True))
            self._fn(*(found[i] for i in range(len(args))), **{name: found[name] for name in kwargs})

        try:
            jax.eval_shape(run, *(leaves[i] for i in arrays))
        except Exception:
            return
        numbers = tuple(sorted({*self._numbers, *(place for place in ints if isinstance(place, int))}))
        names = tuple(sorted({*self._names, *(place for place in ints if isinstance(place, str))}))
        chosen = [f"static_argnums={numbers}"] * bool(numbers) + [f"static_argnames={names}"] * bool(names)
        raise ConcretizationError(
            f"`{self._name}` needs the value of an int in Python, and `ja.remat` traces the ints among the arguments, "
            f"as `jax.checkpoint` does: {', '.join(self._described(place) for place in ints)}. Say that it is part of "
            f"the program: `ja.remat({self._name}, {', '.join(chosen)})`, and there is one graph for each value. "
            f"JAX says: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        ) from error

    def _described(self, place: int | str) -> str:
        if isinstance(place, str):
            return f"`{place}`"
        signature = signature_of(self._fn)
        names = [] if signature is None else list(signature.parameters)
        return f"`{names[place]}`" if place < len(names) else f"argument {place}"


def unmark(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Returns arguments whose static ones are no longer marked."""
    bare: Callable[[Any], Any] = lambda x: x.value if isinstance(x, _Fixed) else x
    return [bare(x) for x in args], {name: bare(x) for name, x in kwargs.items()}
