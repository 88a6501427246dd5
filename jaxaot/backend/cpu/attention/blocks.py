"""Losses over many classes and attention in blocks, of graphs as late division and the order of operands leave them."""

from __future__ import annotations

import jaxaot.passes.blocks
from jaxaot._typing import ClosedJaxpr
from jaxaot.backend.cpu.attention.divide_late import divide_late
from jaxaot.backend.cpu.kernels.drop_axes import drop_axes
from jaxaot.backend.cpu.products.order_operands import order_operands


def blocks(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph in blocks, see `jaxaot.passes.blocks`.

    A block divides behind the product, needs no second loop for the sum of its gradients, and adds to the transpose of
    the gradients of keys and values, which XLA computes with fewer rows than columns in less time.
    """
    return jaxaot.passes.blocks.blocks(closed, _simpler)


def _simpler(closed: ClosedJaxpr) -> ClosedJaxpr:
    return order_operands(divide_late(drop_axes(closed)))
