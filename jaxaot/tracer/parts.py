"""Arguments that show parts of larger storages, such as `data[:n]`, and are passed as values.

A storage is an input of the graph as a whole, since a call may write to it or return a view of it. A function that only
reads what an argument shows needs neither the storage nor the place: its values are the input, and one program serves
all places. That shows when the function was traced; if it did more, it is traced again with the storage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from jaxaot import settings
from jaxaot._jax import is_tracer
from jaxaot._placement import is_spread
from jaxaot.facade.tensor import Tensor
from jaxaot.facade.tracing import TraceState
from jaxaot.tracer.alias import Escapes
from jaxaot.views.inside import dims_of_part


def parts_among(leaves: Sequence[Any]) -> tuple[int, ...]:
    """Returns the positions of the arguments that show a part of their storage, and may be passed as values.

    Where the guards of a program are proved there are none, as the proof knows of storages.
    """
    if settings.get().validate_guards:
        return ()
    found = {id(leaf): i for i, leaf in reversed(list(enumerate(leaves))) if type(leaf) is Tensor and _is_part(leaf)}
    return tuple(sorted(found.values()))


def _is_part(tensor: Tensor) -> bool:
    storage, layout, history = tensor._storage, tensor._layout, tensor._history
    array = storage.array
    return (
        0 < layout.numel < storage.layout.numel
        and tensor._offset + layout.reach <= storage.layout.numel
        and layout.dtype == storage.layout.dtype
        and not layout.is_conj
        and storage.n_written is None
        and isinstance(array, jax.Array)
        and not is_tracer(array)
        and not is_spread(array)
        and (history is None or not history.requires_grad)
        and dims_of_part(layout) is not None
    )


def parts_alone(
    trace: TraceState, leaves: Sequence[Any], positions: Sequence[int], escapes: Escapes
) -> tuple[int, ...]:
    """Returns which of the arguments that were passed as values a traced function read, and did no more to.

    Args:
      trace: Its trace.
      leaves: The arguments.
      positions: Which of them were passed as values.
      escapes: What outlives the function.
    """
    shown = {id(tensor._storage) for tensor in (*escapes.made, *escapes.changed)}
    used = shown | trace.reads | trace.written | trace.freed.keys()
    resized = {i for i, (storage, was) in trace.storages.items() if storage.layout is not was["layout"]}
    return tuple(i for i in positions if id(leaves[i]._storage) not in used | resized)
