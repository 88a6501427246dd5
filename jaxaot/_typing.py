"""Type aliases, named once.

A *graph* is a `ClosedJaxpr`: a `Jaxpr` with the values of its constants. Its equations (`Eqn`) read atoms (`Atom`),
which are variables or literals, and define variables (`Var`); each has a type (`Aval`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

import jax
from jax.typing import ArrayLike, DTypeLike

from jaxaot._jax import Atom, Aval, ClosedJaxpr, Eqn, Jaxpr, Literal, Primitive, Var

__all__ = [
    "Array", "ArrayLike", "Atom", "Aval", "ClosedJaxpr", "DTypeLike", "Eqn", "Jaxpr", "Literal", "Primitive",
    "PyTreeDef", "Shape", "Sizes", "Var",
]  # fmt: skip

Array: TypeAlias = jax.Array
"""A jax array or a tracer standing for one."""

Shape: TypeAlias = tuple[int, ...]

Sizes: TypeAlias = int | tuple[int, ...] | list[int]
"""What PyTorch takes for sizes or dims: one number for all, or one for each."""


class PyTreeDef(Protocol):
    """The structure of a tree, as `jax.tree.structure` returns it."""

    num_leaves: int

    def unflatten(self, leaves: Iterable[Any], /) -> Any:
        """Returns the tree with some leaves."""
