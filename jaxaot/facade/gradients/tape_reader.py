"""One backward as data: the nodes that gradients go to, what they hold, and what hooks on the way reach.

A backward that is compiled as a whole is a function of the arrays that its nodes hold. `read_tape` takes these apart
from the structure of the tape, by which programs are told apart; `Tape.holding` puts others, such as symbols of a
trace, in their place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import types
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot.facade.gradients.custom_function import FunctionNode
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.nodes.saved import Packed, SavedValues
from jaxaot.ops.dtypes import dtype
from jaxaot.tape.engine import nodes_in_order
from jaxaot.tape.joint_hooks import Together
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge, Node

Roots = Sequence[tuple[Edge, Any]]
_NUMBERS = (int, float, complex, np.number)
_CONSTANTS = (bool, str, bytes, type(None), np.bool_, np.dtype, dtype)
_LARGEST_EXPONENT = 4
"""Programs are specialised on whole numbers up to this one, which are mostly exponents; others are inputs."""


class NotCompilable(Exception):
    """A tape has a part that cannot be part of a program; says which."""


class _Place(NamedTuple):
    """Where a value that a node holds is found.

    Attributes:
      kind: "array", "packed" or "same".
      value: The position among the arrays or packed values; what is the same at each call.
      layout: Of what was packed.
    """

    kind: str
    value: Any
    layout: Any = None


@dataclasses.dataclass(eq=False)
class Tape:
    """What one backward goes through.

    Attributes:
      roots: Edges to start from, each with its cotangent.
      inputs: Edges at which gradients are wanted; None for all leaves.
      accumulates: Whether leaves add their gradients up.
      nodes: Those that gradients go to, in the order in which they run.
      cache_key: What tells programs apart besides the types of arrays; hashable.
      arrays: What is held, each array once, then the cotangents.
      tensors: The leaves, and what keeps its gradient.
      held: The nodes that hold something, and where each value of it is found.
      recomputed: Nodes whose values were dropped and computed again for this backward, with what stood for them.
      world: What hooks, custom Functions and unpacking may reach: `functions`, `contexts` and `packed`.
    """

    roots: Roots
    inputs: Sequence[Edge] | None
    accumulates: bool
    nodes: list[Node] = dataclasses.field(default_factory=list)
    cache_key: Hashable = None
    arrays: list[Any] = dataclasses.field(default_factory=list)
    tensors: list[Tensor] = dataclasses.field(default_factory=list)
    world: Any = None
    held: list[tuple[Node, list[_Place]]] = dataclasses.field(default_factory=list)
    recomputed: list[tuple[Node, Any]] = dataclasses.field(default_factory=list)

    @classmethod
    def of(cls, roots: Roots, inputs: Sequence[Edge] | None, accumulates: bool) -> Tape:
        """Returns the tape of a backward, which is yet to be read."""
        return cls(roots, inputs, accumulates, nodes_in_order(roots, inputs))

    @property
    def has_code(self) -> bool:
        """Whether code of the user runs in it."""
        return bool(self.world.functions)

    @contextlib.contextmanager
    def holding(self, arrays: Sequence[Any], packed: Sequence[Any]) -> Iterator[Roots]:
        """Inside, nodes hold other values of the same types; yields the roots with their cotangents among these."""
        with contextlib.ExitStack() as stack:
            for node, places in self.held:
                values = SavedValues([])
                for place in places:
                    match place:
                        case _Place("array", k):
                            values.items.append(arrays[k])
                        case _Place("packed", k, layout):
                            old = self.world.packed[k]
                            values.items.append(Packed(old.hooks, packed[k], layout))
                        case _:
                            values.items.append(place.value)
                is_packed = any(place.kind == "packed" for place in places)
                before = node.swap_held(values if is_packed else values.items, True)
                stack.callback(node.swap_held, before, True)
            n = len(arrays) - len(self.roots)
            if state.trace is not None:
                state.trace.own_nodes = frozenset(self.nodes)
            yield [(edge, cotangent) for (edge, _), cotangent in zip(self.roots, arrays[n:], strict=True)]

    def release(self) -> None:
        """Frees what the nodes hold."""
        for node in self.nodes:
            node.release()

    def drop_again(self) -> None:
        """Drops what was computed again for this backward."""
        while self.recomputed:
            node, dropped = self.recomputed.pop()
            node.swap_held(dropped, True)


def read_tape(tape: Tape) -> None:
    """Fills a tape; what was dropped is computed again, and then held by its node.

    Raises:
      NotCompilable: If a part of it cannot be part of a program.
    """
    _Reader(tape).read()


class _Reader:
    """Fills a tape."""

    def __init__(self, tape: Tape):
        self.tape = tape
        self.world = tape.world = types.SimpleNamespace(functions=[], contexts=[], packed=[])
        self._number = {node: i for i, node in enumerate(tape.nodes)}
        self._places: dict[int, int] = {}
        self._groups: dict[int, int] = {}

    def read(self) -> None:
        tape = self.tape
        cache_keys = [self._node(node) for node in tape.nodes]
        n_held = len(tape.arrays)
        tape.arrays += [cotangent for _, cotangent in tape.roots]
        tape.cache_key = (
            tuple(cache_keys),
            tuple(self._edge(edge) for edge, _ in tape.roots),
            None if tape.inputs is None else tuple(self._edge(edge) for edge in tape.inputs),
            tape.accumulates,
            n_held,
        )

    def _edge(self, edge: Edge | None) -> Any:
        return None if edge is None else (self._number.get(edge.node, -1), edge.index)

    def _node(self, node: Node) -> Any:
        cache_key = node.cache_key
        if cache_key is None:
            raise NotCompilable(f"{node.name()} cannot be part of a program")
        if node.is_sink:
            self.tape.tensors.append(node.variable)
            hooks = self._leaf_hooks(node.variable)
        else:
            hooks = self._hooks(node)
        kind = type(node)
        if isinstance(node, FunctionNode):
            kind = FunctionNode  # each Function has a class of its own; what counts is its code
            backward, context = node.code
            self.world.functions.append(backward)
            self.world.contexts.append(context)
        held = self._held(node) if node.holds_residuals else ()
        together = tuple(self._together(group) for group in node.together if group)
        return kind, cache_key, node.n_outputs, tuple(map(self._edge, node.edges)), hooks, together, held

    def _functions(self, functions: Iterable[Any]) -> int:
        before = len(self.world.functions)
        self.world.functions += functions
        return len(self.world.functions) - before

    def _leaf_hooks(self, leaf: Any) -> Any:
        hooks = leaf._hooks
        if not hooks:
            return None
        node = None if hooks.node is None else hooks.node()
        own = [] if node is None else [node.own_hooks.pre, node.own_hooks.post]
        return tuple(self._functions(group.values()) for group in (hooks.tensor, hooks.accumulated, *own))

    def _hooks(self, node: Node) -> Any:
        hooks = node.hooks
        if hooks is None:
            return None
        kept = []
        for index, keep in hooks.retained.items():
            tensor = keep.tensor()
            if tensor is not None:
                self.tape.tensors.append(tensor)
                kept.append(index)
        counts = tuple((index, self._functions(group.values())) for index, group in hooks.tensor.items())
        return tuple(kept), counts, self._functions(hooks.pre.values()), self._functions(hooks.post.values())

    def _together(self, group: Together) -> Any:
        """Notes hooks on the gradients of several tensors, and returns their form; the second time, their number."""
        if id(group) in self._groups:
            return self._groups[id(group)]
        self._groups[id(group)] = len(self._groups)
        self.world.contexts.append({"owner": group.owner if group.accumulated else None, "kept": group.pack.kept})
        counts = self._functions(group.hooks.values()), self._functions(group.accumulated.values())
        return tuple(map(self._edge, group.edges())), group.pack.form, *counts

    def _held(self, node: Node) -> Any:
        """Takes what a node holds apart, and returns its form."""
        held = node.held
        if held is None:
            raise NotCompilable(f"{node.name()} was freed")
        for version in getattr(node, "versions", None) or ():
            version.check()
        while not isinstance(held, (list, tuple, SavedValues)):
            held = held.again()
        if held is not node.held:
            self.tape.recomputed.append((node, node.swap_held(held, True)))
        places = [self._place(value) for value in (held.items if isinstance(held, SavedValues) else held)]
        if places:
            self.tape.held.append((node, places))
        return tuple((place.kind, type(place.value), place.value, place.layout) for place in places)

    def _place(self, value: object) -> _Place:
        if isinstance(value, jax.Array):
            if id(value) not in self._places:
                self._places[id(value)] = len(self.tape.arrays)
                self.tape.arrays.append(value)
            return _Place("array", self._places[id(value)])
        if isinstance(value, Packed):
            self.world.functions.append(value.hooks.unpack)
            self.world.packed.append(value)
            return _Place("packed", len(self.world.packed) - 1, value.layout)
        if isinstance(value, _CONSTANTS) or (isinstance(value, int) and abs(value) <= _LARGEST_EXPONENT):
            return _Place("same", value)
        if isinstance(value, _NUMBERS):
            self.tape.arrays.append(jnp.asarray(value))
            return _Place("array", len(self.tape.arrays) - 1)
        raise NotCompilable(f"a node holds a {type(value).__name__}")
