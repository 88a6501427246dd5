"""A frozen graph as a backend makes it: packed values go in where the graph takes parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from operator import is_not, itemgetter
from typing import Any, NamedTuple

import jax

from jaxaot._jax import is_outermost
from jaxaot._typing import Array, ClosedJaxpr
from jaxaot.errors import FrozenGradientError
from jaxaot.freezing.fold_scales import fold_scales
from jaxaot.freezing.identities import drop_identities
from jaxaot.freezing.products import join_products, orient_products
from jaxaot.freezing.split import Split, fixed_first, split
from jaxaot.freezing.store import Recipe, Store
from jaxaot.lower.executable import Executable


def prepack(closed: ClosedJaxpr, frozen: Collection[int]) -> Split:
    """Returns a graph in two: what parameters alone decide, as the kernels want it, and the rest."""
    graph = fold_scales(drop_identities(closed), frozen)
    joined = join_products(graph, frozen)
    oriented = orient_products(joined.graph, frozen, joined.wanted)
    return split(fixed_first(oriented.graph, frozen), frozen, oriented.wanted)


class Frozen(NamedTuple):
    """What the executables of one program share.

    Attributes:
      inputs: The frozen graph inputs, each with its name.
      store: The packed values of the function.
      plans: By identity of a graph, the graph, its split, and its recipe.
    """

    inputs: Mapping[int, str]
    store: Store
    plans: dict[int, tuple[ClosedJaxpr, Split, Recipe]]

    def plan(self, closed: ClosedJaxpr) -> tuple[Split, Recipe]:
        """Returns a graph in two, and how its packed values are made."""
        if id(closed) not in self.plans:
            parts = prepack(closed, tuple(self.inputs))
            self.plans[id(closed)] = closed, parts, Recipe(parts.pack, tuple(self.inputs.values()))
        return self.plans[id(closed)][1:]


class FrozenExecutable:
    """An executable that takes what the graph takes, and hands packed values to the program.

    Attributes:
      donated: The positions of the inputs whose buffers a call may reuse.
      makes_fresh_outputs: Always true, as of the executable inside.
    """

    makes_fresh_outputs = True

    is_anywhere = False

    def __init__(
        self, closed: ClosedJaxpr, donated: Sequence[int] = (), name: str = "graph", *, frozen: Frozen
    ):  # fmt: skip
        """Splits a graph; nothing is packed or compiled yet."""
        self.donated = tuple(sorted(set(donated)))
        self._split, self._recipe = frozen.plan(closed)
        self._store = frozen.store
        n_packed, others = len(self._recipe.read), self._split.others
        moved = {position: n_packed + i for i, position in enumerate(others)}
        self.inner = Executable(self._split.run, [moved[i] for i in self.donated], name)
        self._pick, self._rest = _picker(self._split.frozen), _picker(others)
        self._held: tuple[tuple[Any, ...], tuple[Any, ...]] | None = None
        self._is_prepared = False

    @property
    def settings(self) -> Any:
        return self.inner.settings

    @settings.setter
    def settings(self, value: Any) -> None:
        self.inner.settings = value

    @property
    def name_of(self) -> Callable[[int], str]:
        return self.inner.name_of

    @name_of.setter
    def name_of(self, value: Callable[[int], str]) -> None:
        self.inner.name_of = value

    @cached_property
    def _keys(self) -> list[Any]:
        return self._store.keys(self._recipe)

    def call(self, *args: Array) -> list[Array]:
        """Returns the outputs of the graph."""
        if not is_outermost():
            raise FrozenGradientError(
                "A frozen function is called inside of a transformation of JAX, such as `jax.grad`, `jax.vmap` or "
                "`jax.jit`, where its packed weights would be constants. Call the function that was frozen there."
            )
        return self.inner.call(*self._current(args), *self._rest(args))

    def prepare(self, args: Sequence[Array]) -> Callable[..., list[Array]]:
        """Compiles the graph for some arrays, and returns what runs it."""
        if not self._is_prepared:
            self.inner.prepare([*self._current(tuple(args)), *self._rest(tuple(args))])
            self._is_prepared = True
        return self.call

    def prepare_for(self, sources: Mapping[int, Any]) -> None:
        """Packs what frozen inputs are, and compiles the graph."""
        made = self._packed(tuple(sources[i] for i in self.frozen_inputs))
        avals = self._split.run.in_avals[len(made) :]
        types: list[Any] = [jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type) for aval in avals]
        self.inner.prepare([*made, *types])
        self._is_prepared = True

    @property
    def frozen_inputs(self) -> tuple[int, ...]:
        """The positions of the inputs that hold parameters."""
        return self._split.frozen

    def _current(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the packed values for what a call brings."""
        sources, held = self._pick(args), self._held
        if held is None or any(map(is_not, sources, held[0])):
            return self._packed(sources)
        return held[1]

    def _packed(self, sources: tuple[Any, ...]) -> tuple[Any, ...]:
        # arrays of NumPy change in place: what is made of them holds for one call
        kept = tuple(object() if _may_change(x) else x for x in sources)
        made = tuple(jax.numpy.array(x) if _may_change(x) else x for x in sources)
        self._held = kept, self._store.packed(self._recipe, self._keys, made)
        return self._held[1]

    def forget(self) -> None:
        """Has the next call ask the store again."""
        self._held = None

    def explain(self) -> str:
        """Returns one line for each packed value, and what the passes for the platform did."""
        return self.inner.explain()


def _may_change(value: Any) -> bool:
    return not isinstance(value, jax.Array) and hasattr(type(value), "__array__")


def _picker(positions: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Returns a function that takes some items of a tuple."""
    if not positions:
        return lambda args: ()
    if len(positions) == 1:
        (only,) = positions
        return lambda args: (args[only],)
    return itemgetter(*positions)
