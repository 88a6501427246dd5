"""The order of a graph's inputs: what stays from call to call, then what is passed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.trace_state import TraceState


def put_in_order(trace: TraceState, leaves: Sequence[Any]) -> None:
    """Puts what a trace reached into the order of the inputs, which then is that of outputs too."""
    noted = in_order(leaves, trace)
    trace.noted = {id(tensor): (tensor, was) for tensor, was in noted}
    first = {id(was["_storage"]): i for i, (_, was) in reversed(list(enumerate(noted)))}
    known = sorted(trace.storages.items(), key=lambda item: first.get(item[0], len(noted)))
    trace.storages = dict(known)


def in_order(leaves: Sequence[Any], trace: TraceState) -> list[tuple[Tensor, dict[str, Any]]]:
    """Returns the tensors from outside with how they were, those that are not passed first.

    What stays from call to call comes first, so that whoever runs graphs can keep the first inputs as they are. A
    tensor that is the `.grad` of another comes after it. The order does not depend on who was reached first, so that
    traces of other sizes have it too.
    """
    noted = trace.noted.values()
    grad_of = {id(tensor): was["_grad"] for tensor, was in noted}
    grads = {id(grad) for grad in grad_of.values() if grad is not None}
    passed = {id(leaf): i for i, leaf in enumerate(leaves)}
    given = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    given += [grad for leaf in given if (grad := grad_of.get(id(leaf), leaf._grad)) is not None]
    storage_of = {id(tensor): id(was["_storage"]) for tensor, was in noted}
    storages = {storage_of.get(id(tensor), id(tensor._storage)) for tensor in given}
    place = lambda item: (
        id(item[1]["_storage"]) in storages, id(item[0]) in grads, passed.get(id(item[0]), len(leaves)),
    )  # fmt: skip
    return sorted(noted, key=place)
