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
class _Numbered:
    """A slot with a number, and perhaps a name."""

    index: int
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"{type(self).__name__.lower()}{self.index}"


class Primal(_Numbered):
    """Input `index` of the user's function."""


class Output(_Numbered):
    """Output `index` of the user's function."""


class Residual(_Numbered):
    """Value `index` of those that the forward hands to the backward."""


class Refill(_Numbered):
    """Content `index` of those that storages lose in the forward and have again when the backward runs."""


@immutable
class Cotangent:
    """The cotangent of output `output` of the user's function."""

    output: int

    def __str__(self) -> str:
        return f"ct{self.output}"


@immutable
class Gradient:
    """The gradient with respect to input `primal` of the user's function."""

    primal: int

    def __str__(self) -> str:
        return f"grad{self.primal}"


InRole: TypeAlias = Primal | Cotangent | Residual | Refill
OutRole: TypeAlias = Output | Gradient | Residual | Refill
Role: TypeAlias = Primal | Cotangent | Output | Gradient | Residual | Refill
