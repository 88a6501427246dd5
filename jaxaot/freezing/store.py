"""Packed values, shared by the programs of a frozen function, and what they were made of.

Arrays of JAX never change: whoever writes a parameter puts another array in its place. So a packed value is *stale*
if, and only if, the arrays that a call brings are other objects than those that it was made of.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import jax

from jaxaot._jax import Literal, jaxpr_as_fun
from jaxaot._typing import ClosedJaxpr
from jaxaot.errors import StaleWeightsError
from jaxaot.facade.memory.discarded import Discarded
from jaxaot.ir.rewrite import extract
from jaxaot.ir.walk import aval_bytes, backward_slice, equation_content
from jaxaot.lower.cache_key import array_digest


class Kept(NamedTuple):
    """A packed value.

    Attributes:
      sources: What it was made of.
      array: Itself.
    """

    sources: tuple[Any, ...]
    array: Any


class Recipe:
    """How the packed values of one program are made.

    Attributes:
      graph: From the frozen inputs to the packed values.
      names: Of the frozen inputs, as users call them.
    """

    def __init__(self, graph: ClosedJaxpr, names: Sequence[str]):
        self.graph, self.names = graph, tuple(names)
        jaxpr = graph.jaxpr
        self.position = {var: i for i, var in enumerate(jaxpr.invars)}
        self.read: list[tuple[int, ...]] = []  # for each packed value, the frozen inputs that it is made of
        for var in jaxpr.outvars:
            equations = [jaxpr.eqns[i] for i in backward_slice(jaxpr, [var])]
            read = {atom for eqn in equations for atom in eqn.invars if not isinstance(atom, Literal)} | {var}
            self.read.append(tuple(sorted(self.position[v] for v in read if v in self.position)))
        self._makers: dict[tuple[int, ...], Any] = {}

    def make(self, chosen: tuple[int, ...], sources: Sequence[Any]) -> list[Any]:
        """Returns some of the packed values.

        Args:
          chosen: Which.
          sources: The frozen inputs that they are made of, in order, each once.
        """
        if chosen not in self._makers:
            jaxpr = self.graph.jaxpr
            targets = [jaxpr.outvars[i] for i in chosen]
            eqns = [jaxpr.eqns[i] for i in sorted(backward_slice(jaxpr, targets))]
            constants = dict(zip(jaxpr.constvars, self.graph.consts, strict=True))
            inputs = [jaxpr.invars[k] for k in self.read_by(chosen)]
            self._makers[chosen] = jax.jit(jaxpr_as_fun(extract(eqns, inputs, targets, constants)))
        return self._makers[chosen](*sources)

    def read_by(self, chosen: Sequence[int]) -> list[int]:
        """Returns the frozen inputs that some packed values are made of."""
        return sorted({k for i in chosen for k in self.read[i]})


class Store:
    """The packed values of a frozen function.

    Attributes:
      lock: Held while values are packed.
      refuses: Whether a parameter that changed is an error.
    """

    def __init__(self, refuses: bool):
        self.lock = threading.RLock()
        self.refuses = refuses
        self._kept: dict[Hashable, Kept] = {}
        self._seen: dict[str, Any] = {}  # by name, the arrays that calls brought last
        self._source_bytes: dict[str, int] = {}
        self._numbers: dict[Hashable, int] = {}

    @property
    def packed_bytes(self) -> int:
        """Bytes of the packed values that are no parameters themselves, and of those that are."""
        return sum({id(kept.array): kept.array.nbytes for kept in self._kept.values()}.values())

    @property
    def source_bytes(self) -> int:
        """Bytes of the parameters that were packed."""
        return sum(self._source_bytes.values())

    def keys(self, recipe: Recipe) -> list[Hashable]:
        """Returns for each packed value of a program what it is equal by to one of another program."""
        jaxpr = recipe.graph.jaxpr
        number: dict[Any, int] = {}
        for var, value in zip(jaxpr.constvars, recipe.graph.consts, strict=True):
            number[var] = self._number(("constant", array_digest(value)))
        for var, name in zip(jaxpr.invars, recipe.names, strict=True):
            number[var] = self._number(("input", name))
        for eqn in jaxpr.eqns:
            content = equation_content(eqn, number.__getitem__)
            for i, var in enumerate(eqn.outvars):
                number[var] = self._number((content, str(eqn.outvars[i].aval), i))
        return [number[var] for var in jaxpr.outvars]

    def _number(self, content: Hashable) -> int:
        return self._numbers.setdefault(content, len(self._numbers))

    def packed(self, recipe: Recipe, keys: Sequence[Hashable], sources: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the packed values of a program for some arrays, computing those that are stale or not there.

        Raises:
          StaleWeightsError: If a parameter changed, and that is refused.
          DiscardedParameterError: If a value has to be computed of a parameter that was let go.
        """
        with self.lock:
            self._look(recipe, sources)
            found: list[Any] = []
            missing: list[int] = []
            for i, (key, read) in enumerate(zip(keys, recipe.read, strict=True)):
                kept, made_of = self._kept.get(key), tuple(sources[k] for k in read)
                is_fresh = kept is not None and all(a is b for a, b in zip(kept.sources, made_of, strict=True))
                outvar = recipe.graph.jaxpr.outvars[i]
                if kept is not None and is_fresh:
                    found.append(kept.array)
                elif outvar in recipe.position:
                    found.append(self._value(recipe.names[recipe.position[outvar]], made_of[0]))
                    self._kept[key] = Kept(made_of, found[-1])
                else:
                    found.append(None)
                    missing.append(i)
            if missing:
                self._make(recipe, keys, sources, missing, found)
            self._seen.update(zip(recipe.names, sources, strict=True))
            self._source_bytes.update(zip(recipe.names, map(aval_bytes, recipe.graph.in_avals), strict=True))
            return tuple(found)

    def _make(
        self, recipe: Recipe, keys: Sequence[Hashable], sources: tuple[Any, ...], missing: list[int], found: list[Any]
    ) -> None:
        values = [self._value(recipe.names[k], sources[k]) for k in recipe.read_by(missing)]
        for i, array in zip(missing, recipe.make(tuple(missing), values), strict=True):
            found[i] = array
            self._kept[keys[i]] = Kept(tuple(sources[k] for k in recipe.read[i]), array)

    def _value(self, name: str, source: Any) -> Any:
        """Returns the array that a frozen input is, which may be kept though its parameter was let go."""
        if type(source) is not Discarded:
            return source
        kept = self._kept.get(self._number(("input", name)))
        return kept.array if kept is not None and kept.sources[0] is source else source.refuse()

    def _look(self, recipe: Recipe, sources: Sequence[Any]) -> None:
        if not self.refuses:
            return
        changed = [
            name
            for name, source in zip(recipe.names, sources, strict=True)
            if name in self._seen and self._seen[name] is not source
        ]
        if changed:
            raise StaleWeightsError(
                f"What the frozen function was made of has changed: {', '.join(f'`{name}`' for name in changed)}. It "
                'was frozen with `stale="refuse"`. Call `ja.compiler.freeze` again, or write `stale="repack"` to have '
                "it compute anew what depends on that."
            )

    def discard(self, gone: dict[int, Discarded]) -> None:
        """Lets arrays go: by identity, each with what stands in its place from now on."""

        def instead(source: Any) -> Any:
            return gone.get(id(source), source)

        with self.lock:
            self._kept = {key: Kept(tuple(map(instead, kept.sources)), kept.array) for key, kept in self._kept.items()}
            self._seen = {name: instead(source) for name, source in self._seen.items()}
