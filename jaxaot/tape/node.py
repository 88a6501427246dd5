"""Nodes: the functions of the tape.

A *node* is the backward function of one recorded operation. Its *edges* say where the gradient of each differentiable
input goes: to output `index` of another node. Leaves end in an `AccumulateGrad` node. The tape is generic in the values
that flow through it: jax arrays, or tensors when the backward pass is itself recorded.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxaot.tape.hooks import NodeHooks, RemovableHandle, node_hook
from jaxaot.tape.modes import state

next_number = itertools.count().__next__
"""Returns a number larger than those of the nodes that there are, and smaller than those of later ones."""


NODE_CALLS: list[Callable[[Any, tuple[Any, ...]], Any]] = []
"""What runs a node that is called with tensors; the layer whose values the tape carries adds it."""


class OutputType(NamedTuple):
    """What the gradient of an output of a node has to be like.

    Attributes:
      shape: Its shape.
      dtype: Its dtype.
    """

    shape: tuple[int, ...]
    dtype: Any


class Node:
    """The backward function of one recorded operation.

    Attributes:
      edges: Where the gradient of each differentiable input goes; None where it is not wanted.
      n_outputs: Number of outputs of the operation, whose cotangents `backward` takes.
      sequence_number: Grows with time, so no two nodes have the same; the engine runs later nodes first.
      hooks: What is called before and after it; None if nothing is.
      holds_residuals: Whether it saves values of the forward, which a checkpointed function does not keep.
    """

    __slots__ = ("__weakref__", "_metadata", "_name", "edges", "hooks", "n_outputs", "sequence_number")

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # what an operation saved: `_saved_self`, …

    holds_residuals = False

    is_sink = False
    """Whether gradients end here: the engine then runs the node as soon as they are all there."""

    is_watched = False
    """Whether a sink calls hooks."""

    is_joined = False
    """Whether its outputs are those of several operations: hooks on one that got no gradient are then not called."""

    has_inner_flow = False
    """Whether outputs may have been computed from other outputs: then `inner_pass` is asked."""

    runs_user_code = False
    """Whether its backward is a function of the user's."""

    link: Any = None
    """What computes the node's gradients from its one cotangent, if the node may be part of a straight chain."""

    def __init__(self, name: str, edges: Sequence[Edge | None], n_outputs: int = 1):
        self._name = name
        self.edges = tuple(edges)
        self.n_outputs = n_outputs
        self.sequence_number = next_number()
        self.hooks: NodeHooks | None = None
        self._metadata: dict[str, Any] | None = None
        if self.holds_residuals and state.region is not None:
            state.region.add(self)
        if state.anomaly is not None:
            state.anomaly.note(self)

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        """Returns a gradient, or None, for each edge.

        Args:
          cotangents: One for each output; None where nothing depends on the output.
          create_graph: Whether values are tensors, and what is done with them is recorded.
        """
        raise NotImplementedError  # every node of the tape is a subclass

    def find_nan(self, cotangents: Sequence[Any]) -> str | None:
        """Returns which operation of the forward a NaN comes from, where the node stands for many of them."""
        return None

    def inner_pass(self, looked_at: frozenset[int], create_graph: bool) -> Any:
        """Returns the backward that goes through some outputs one after the other; None if nothing flows to these.

        Args:
          looked_at: Outputs with hooks, and those whose gradients are wanted.
          create_graph: See `backward`.
        """
        return None

    def release(self) -> None:
        """Frees what the node saved; a later `backward` raises BackwardTwiceError."""

    @property
    def cache_key(self) -> Any:
        """What its backward computes, apart from the values that it holds: hashable; None if that cannot be said."""
        return None

    @property
    def held(self) -> Any:
        """What the node saved: a list of values, a stand-in for one, or None once released."""
        return ()

    def swap_held(self, held: Any, is_same: bool = False) -> Any:
        """Puts something in place of what the node saved, and returns that; for nodes that hold residuals.

        Args:
          held: What to put.
          is_same: Whether it stands for the same tensors, so that what was noted of them still holds.
        """
        raise NotImplementedError

    def filter(self, gradient: Any) -> Any:
        """Returns the gradient of a leaf after the hooks on it; for sinks."""
        return gradient

    @property
    def together(self) -> Sequence[Any]:
        """Hooks on several gradients at once, of which one is of an output of this node."""
        return () if self.hooks is None else self.hooks.together

    @property
    def edge_places(self) -> Sequence[int | None]:
        """For each operand that PyTorch counts, which edge is its own; None for one whose gradient is not wanted."""
        return range(len(self.edges))

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each tensor operand the node that its gradient goes to, and which output of that it was."""
        edges = [None if place is None else self.edges[place] for place in self.edge_places]
        return tuple((None, 0) if edge is None else (edge.node, edge.index) for edge in edges)

    def output_type(self, index: int) -> OutputType | None:
        """Returns the type of an output of the operation; None where the node cannot say, or it is no tensor."""
        return None

    @property
    def _input_metadata(self) -> tuple[OutputType | None, ...]:
        """The types of what its backward takes: of the outputs of the operation."""
        return tuple(map(self.output_type, range(self.n_outputs)))

    @property
    def metadata(self) -> dict[str, Any]:
        """A dict for whatever the user wants to note of the node."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    def name(self) -> str:
        """Returns PyTorch's name for the node, such as `MulBackward0`."""
        return self._name

    def __call__(self, *gradients: Any) -> Any:
        """Returns the gradients of its inputs for those of its outputs, without hooks; what it saved is kept."""
        return NODE_CALLS[0](self, gradients)

    def _sequence_nr(self) -> int:
        return self.sequence_number

    def _own_hooks(self) -> NodeHooks:
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls `hook(grad_outputs)` before the node runs; a tuple that it returns replaces them."""
        return RemovableHandle(self._own_hooks().pre, node_hook(hook))

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls `hook(grad_inputs, grad_outputs)` after the node ran; a tuple that it returns replaces the first."""
        return RemovableHandle(self._own_hooks().post, node_hook(hook))

    def __repr__(self) -> str:
        return f"<{self._name}>"


class Edge(NamedTuple):
    """Output `index` of `node`, as the place where a gradient arrives."""

    node: Node
    index: int


edge_of: Callable[[tuple[Node, int]], Edge] = functools.partial(tuple.__new__, Edge)  # type: ignore[assignment]
"""Returns the edge (node, index); faster than the constructor."""
