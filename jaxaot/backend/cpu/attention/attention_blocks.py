"""Attention in blocks, of a graph as late division and the order of operands leave it."""

from __future__ import annotations

import jaxaot.passes.attention_blocks
from jaxaot._typing import ClosedJaxpr
from jaxaot.backend.cpu.attention.divide_late import divide_late
from jaxaot.backend.cpu.kernels.drop_axes import drop_axes
from jaxaot.backend.cpu.products.order_operands import order_operands


def attention_blocks(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with attention in blocks, see `jaxaot.passes.attention_blocks`.

    A block divides behind the product, needs no second loop for the sum of its gradients, and adds to the transpose of
    the gradients of keys and values, which XLA computes with fewer rows than columns in less time.
    """
    return jaxaot.passes.attention_blocks.attention_blocks(closed, _simpler)


def _simpler(closed: ClosedJaxpr) -> ClosedJaxpr:
    return order_operands(divide_late(drop_axes(closed)))
