"""Parts: tensors that are passed to a graph as their values, so that the rest of their storage need not be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import jax

from jaxaot._typing import Array
from jaxaot.tape.modes import state
from jaxaot.views.chain import apply_chain
from jaxaot.views.inside import within
from jaxaot.views.layout import Layout
from jaxaot.views.window import window_in_graph

if TYPE_CHECKING:
    from jaxaot.facade.memory.tensor import Tensor

Part = tuple["Tensor", Layout, int, Array]
"""A tensor that is passed as values, its layout and offset, and the symbol of its values."""


def shown_of(parts: Iterable[Part], tensor: Tensor) -> Array | None:
    """Returns the values of a tensor that shows what a part of its storage shows; None if none does."""
    layout, history, chain, is_trained = tensor._layout, tensor._history, tensor._chain, tensor.requires_grad
    for shown, of_part, begin, symbol in parts:
        if is_trained and shown._history is not history:
            continue
        value, n, found = None, len(shown._chain), None
        is_view = history is not None and shown._history is history and chain[:n] == shown._chain
        if layout is of_part and tensor._offset == begin:
            value = symbol
        elif is_view and of_part.is_overlapping:  # each element has a gradient of its own
            value = apply_chain(chain[n:], symbol)
        elif (found := within(of_part, layout, tensor._offset - begin)) is not None:
            window, starts = window_in_graph(of_part.dense, *found)
            value = window.apply(symbol, starts)
        elif is_view:
            value = apply_chain(chain[n:], symbol)
        if value is not None:
            is_recorded = not shown.requires_grad or (is_trained and state.grad_enabled)
            return value if is_recorded else jax.lax.stop_gradient(value)
    return None
