"""Tensors that are passed as their values: parts of larger storages, such as `data[:n]`, and views whose size changes.

A storage is an input of the graph as a whole, since a call may write to it or return a view of it. A function that only
reads what a tensor shows needs neither the storage nor the place: its values are the input, and one program serves all
places. That shows when the function was traced; if it did more, it is traced again with the storage.

A part that is an argument is always passed so, as is a leaf that shows places of memory twice: each of its elements has
a gradient of its own. A view of a whole storage costs a copy then, where the graph may read it
as it is. So `runtime/sizes.py` says which ones are, by their paths, once their sizes change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot import settings
from jaxaot.facade.marks.sizes import may_be_values
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.trace_state import TraceState
from jaxaot.plan.paths import Path, follow
from jaxaot.tracer.alias import Escapes


def parts_among(leaves: Sequence[Any], starts: Sequence[tuple[Path, Any]], paths: Sequence[Path]) -> tuple[Tensor, ...]:
    """Returns the tensors that may be passed as values.

    Where the guards of a program are proved there are none, as the proof knows of storages.

    Args:
      leaves: The arguments, of which those do that show a part of their storage, and leaves that overlap.
      starts: Where paths begin.
      paths: Paths of others.
    """
    if settings.get().validate_guards:
        return ()
    found = [leaf for leaf in leaves if type(leaf) is Tensor and _is_part(leaf)]
    for path in paths:
        try:
            tensor = follow(starts, path)
        except (AttributeError, LookupError, TypeError, ValueError):  # this call has no such tensor
            continue
        if may_be_values(tensor):
            tensor._gradient_edge()  # the trace then finds the node of a view that is there
            found.append(tensor)
    return tuple({id(tensor): tensor for tensor in found}.values())


def _is_part(tensor: Tensor) -> bool:
    layout, held = tensor._layout, tensor._storage.layout
    if tensor.requires_grad:
        return tensor.is_leaf and layout.is_overlapping and may_be_values(tensor)
    is_alike = layout.dtype == held.dtype and not layout.is_conj and not layout.is_overlapping
    return layout.numel < held.numel and is_alike and may_be_values(tensor)


def parts_alone(trace: TraceState, parts: Sequence[Tensor], escapes: Escapes) -> tuple[Tensor, ...]:
    """Returns which of the tensors that were passed as values a traced function read, and did no more to.

    Args:
      trace: Its trace.
      parts: The tensors that were passed as values.
      escapes: What outlives the function.
    """
    shown = {id(tensor._storage) for tensor in (*escapes.made, *escapes.changed)}
    used = shown | trace.reads | trace.written | trace.freed.keys()
    resized = {i for i, (storage, was) in trace.storages.items() if storage.layout is not was["layout"]}
    return tuple(tensor for tensor in parts if id(tensor._storage) not in used | resized)
