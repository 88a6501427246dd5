"""Nodes: the functions of the tape.

A *node* is the backward function of one recorded operation. Its *edges* say where the gradient of each differentiable
input goes: to output `index` of another node. Leaves end in an `AccumulateGrad` node. The tape is generic in the values
that flow through it: jax arrays, or tensors when the backward pass is itself recorded.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jaxaot.autograd.modes import state

next_number = itertools.count().__next__
"""Returns a number larger than those of the nodes that there are, and smaller than those of later ones."""


class Node:
    """The backward function of one recorded operation.

    Attributes:
      edges: Where the gradient of each differentiable input goes; None where it is not wanted.
      n_outputs: Number of outputs of the operation, whose cotangents `backward` takes.
      sequence_number: Grows with time, so no two nodes have the same; the engine runs later nodes first.
      pre_hooks: Output index → hooks on its cotangent, called before the node.
      retained: Output index → tensors that keep their gradient (`retain_grad`).
      holds_residuals: Whether it saves values of the forward, which a checkpointed function does not keep.
    """

    __slots__ = ("__weakref__", "edges", "n_outputs", "name", "pre_hooks", "retained", "sequence_number")

    holds_residuals = False

    is_sink = False
    """Whether gradients end here: the engine then runs the node as soon as they are all there."""

    is_watched = False
    """Whether a sink calls hooks."""

    link: Any = None
    """What computes the node's gradients from its one cotangent, if the node may be part of a straight chain."""

    def __init__(self, name: str, edges: Sequence[Edge | None], n_outputs: int = 1):
        self.name = name
        self.edges = tuple(edges)
        self.n_outputs = n_outputs
        self.sequence_number = next_number()
        self.pre_hooks: dict[int, dict[int, Callable[[Any], Any]]] | None = None
        self.retained: dict[int, Any] | None = None
        if self.holds_residuals and state.region is not None:
            state.region.add(self)

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        """Returns a gradient, or None, for each edge.

        Args:
          cotangents: One for each output; None where nothing depends on the output.
          create_graph: Whether values are tensors, and what is done with them is recorded.
        """
        raise NotImplementedError  # every node of the tape is a subclass

    def release(self) -> None:
        """Frees what the node saved; a later `backward` raises BackwardTwiceError."""

    def swap_held(self, held: Any) -> Any:
        """Puts something in place of what the node saved, and returns that; for nodes that hold residuals."""
        raise NotImplementedError

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """PyTorch's name for the edges."""
        return tuple((None, 0) if edge is None else (edge.node, edge.index) for edge in self.edges)

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Edge(NamedTuple):
    """Output `index` of `node`, as the place where a gradient arrives."""

    node: Node
    index: int


edge_of: Callable[[tuple[Node, int]], Edge] = functools.partial(tuple.__new__, Edge)  # type: ignore[assignment]
"""Returns the edge (node, index); faster than the constructor."""
