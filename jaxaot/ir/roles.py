"""The meaning of each slot of a graph.

A *slot* is a position among the inputs or outputs of a jaxpr. *Primals* are what the forward receives, *outputs* what
it returns to the user, *residuals* what it hands to the backward; *cotangents* come into the backward, one for each
differentiable output, and *gradients* leave it, one for each differentiable primal. A *refill* is the content of a
storage that holds no bytes after the forward: whoever runs the backward fills that storage again first.
"""

from __future__ import annotations

from typing import TypeAlias

from jaxaot._immutable import immutable


@immutable
class Primal:
    """Input `index` of the user's function."""

    index: int
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"primal{self.index}"


@immutable
class Cotangent:
    """The cotangent of output `output` of the user's function."""

    output: int

    def __str__(self) -> str:
        return f"ct{self.output}"


@immutable
class Output:
    """Output `index` of the user's function."""

    index: int
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"output{self.index}"


@immutable
class Gradient:
    """The gradient with respect to input `primal` of the user's function."""

    primal: int

    def __str__(self) -> str:
        return f"grad{self.primal}"


@immutable
class Residual:
    """Value `index` of those that the forward hands to the backward."""

    index: int
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"residual{self.index}"


@immutable
class Refill:
    """Content `index` of those that storages lose in the forward and have again when the backward runs."""

    index: int
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"refill{self.index}"


InRole: TypeAlias = Primal | Cotangent | Residual | Refill
OutRole: TypeAlias = Output | Gradient | Residual | Refill
Role: TypeAlias = Primal | Cotangent | Output | Gradient | Residual | Refill
