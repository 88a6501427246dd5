"""Memory of arguments, laid out as a program of an archive takes it.

`base.view(8, 3)` shows all of its memory, and a program that was exported for a tensor of shape (8, 3) does the same
with it as with any other. The array in the storage has the shape of `base`, though. What shape it has is seen by nobody
but programs: tensors say themselves what they show of the memory. So the array is given the shape that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._jax import is_tracer
from jaxaot._placement import is_spread
from jaxaot._typing import Array
from jaxaot._util import set_together
from jaxaot.archive.relocate import is_of_arguments
from jaxaot.facade.memory.locks import Held, hold_alive
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.plan.call import CallPlan
from jaxaot.plan.paths import Path, follow
from jaxaot.tape.threads import threads
from jaxaot.views.layout import Layout


def lay_out(call: CallPlan, starts: Sequence[tuple[Path, Any]]) -> bool:
    """Gives the storages of arguments the layouts that a program wants, and returns whether any was another one."""
    has_changed = False
    for plan in call.tensors:
        if plan.storage < 0 or not is_of_arguments(plan.path):
            continue
        try:
            tensor = follow(starts, plan.path)
        except (AttributeError, LookupError, TypeError):
            continue
        if isinstance(tensor, Tensor) and tensor._layout is plan.layout and tensor._offset == plan.offset:
            has_changed |= _lay_out(tensor._storage, call.storages[plan.storage].layout)
    return has_changed


def _lay_out(storage: Storage, wanted: Layout) -> bool:
    held = Held()
    try:
        if threads.are_several:
            hold_alive(storage, held)
        array, layout = storage.array, storage.layout
        is_plain = type(layout) is type(wanted) is Layout and storage.n_written is None and storage.trace is None
        if layout is wanted or not is_plain or (layout.numel, layout.dtype) != (wanted.numel, wanted.dtype):
            return False
        if not isinstance(array, jax.Array) or is_tracer(array) or is_spread(array):
            return False
        set_together([(storage, "array", _array_of(storage.flat(), wanted)), (storage, "layout", wanted)])
        return True
    finally:
        held.free()


def _array_of(flat: Array, layout: Layout) -> Array:
    """Returns an array with the elements that lie in memory in this order."""
    order = layout.memory_order
    array = jnp.reshape(flat, [layout.size[d] for d in order])
    return jnp.transpose(array, [order.index(d) for d in range(len(order))])
