"""Backwards inside a graph: which of its equations belong to which node of the tape.

Where a trace runs a backward, the equations of each node are traced in a scope that names it, with the line at which
the node was made, that of the forward. So a graph says of its gradients whose they are, through all passes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import jax

from jaxaot._immutable import immutable
from jaxaot._scopes import Annotation, annotations_of, made_at
from jaxaot._typing import Eqn, Jaxpr
from jaxaot.ir.walk import sub_jaxprs, variables

TAPE_SCOPE = "tape"


@immutable
class TapeNode:
    """A node that ran backward in a trace.

    Attributes:
      name: What it is called, such as `SinBackward0`.
      number: Its sequence number.
    """

    name: str
    number: int


@contextlib.contextmanager
def run_by(node: TapeNode, traceback: Any) -> Iterator[None]:
    """Inside, equations are traced as those of a node.

    Args:
      node: The node.
      traceback: The place that they get; None for that of the code that runs.
    """
    with jax.named_scope(Annotation(TAPE_SCOPE, node, stays=True)), made_at(traceback):
        yield


def node_of(eqn: Eqn) -> TapeNode | None:
    """Returns the node that an equation belongs to, the innermost; None for one of the forward."""
    found = [annotation.value for annotation in annotations_of(eqn) if annotation == TAPE_SCOPE]
    return found[-1] if found else None


def runs_backward(jaxpr: Jaxpr) -> bool:
    """Returns whether a backward is part of an open jaxpr, or of the body of one of its equations."""
    return any(node_of(eqn) is not None or any(map(runs_backward, sub_jaxprs(eqn))) for eqn in jaxpr.eqns)


def gradient_variables(jaxpr: Jaxpr) -> set[Any]:
    """Returns the variables of an open jaxpr that nodes computed for others: what their backwards returned."""
    made = {var: node for eqn in jaxpr.eqns if (node := node_of(eqn)) is not None for var in eqn.outvars}
    found = {var for var in variables(jaxpr.outvars) if var in made}
    for eqn in jaxpr.eqns:
        here = node_of(eqn)
        found.update(var for var in variables(eqn.invars) if made.get(var, here) != here)
    return found
