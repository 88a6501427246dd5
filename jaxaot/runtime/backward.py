"""The one node that a compiled call leaves on the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot.autograd.node import Edge, Node
from jaxaot.errors import BackwardTwiceError
from jaxaot.tensor.kernels import conjugate, read_through
from jaxaot.views.layout import Layout
from jaxaot.views.window import find_window

_zeros: dict[Any, Any] = {}


class CompiledNode(Node):
    """The backward of a compiled call, by its own executable.

    Attributes:
      run: Takes residuals and cotangents to the gradients of the reached graph inputs.
      residuals: What the forward handed over; None once released.
      avals: (shape, dtype) of each cotangent.
      bases: For each gradient None, or how to cut the gradient of a base out of that of its storage.
      has_complex: Whether a value of the graph is complex: gradients then cross from one convention to the other.
    """

    __slots__ = ("avals", "bases", "has_complex", "residuals", "run")

    def __init__(
        self,
        edges: Sequence[Edge | None],
        run: Callable[..., Sequence[Any]],
        residuals: list[Any],
        avals: Sequence[tuple[Any, Any]],
        bases: Sequence[tuple[Layout, Layout, int] | None],
        has_complex: bool = False,
    ):
        super().__init__("CompiledBackward", edges, len(avals))
        self.run = run
        self.residuals: list[Any] | None = residuals
        self.avals = avals
        self.bases = bases
        self.has_complex = has_complex

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        if self.residuals is None:
            raise BackwardTwiceError(
                "Trying to backward through the graph a second time (or directly access saved tensors after they have "
                "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
                "if you need to access saved tensors after calling backward."
            )
        for i, (cotangent, aval) in enumerate(zip(cotangents, self.avals, strict=True)):
            if cotangent is None:
                zeros = _zeros.get(aval)
                if zeros is None:
                    zeros = _zeros[aval] = jnp.zeros(*aval)
                cotangents[i] = zeros
        if self.has_complex:
            cotangents = [conjugate(cotangent) for cotangent in cotangents]
        gradients = self.run(*self.residuals, *cotangents)
        if self.has_complex:
            gradients = [conjugate(gradient) for gradient in gradients]
        return [
            gradient if base is None else read_through(gradient, *find_window(*base))
            for gradient, base in zip(gradients, self.bases, strict=True)
        ]

    def release(self) -> None:
        self.residuals = None
