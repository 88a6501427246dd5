"""Hooks on saved tensors as graphs: what a pair does to an array of some type.

A hook can be *traced* if it is a function of the tensor alone that gives tensors, arrays and plain Python values. The
arrays are what is kept; the plain values are decided once, such as the dtype in `return x.dtype, x.half()`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._immutable import immutable
from jaxaot._typing import DTypeLike
from jaxaot.errors import PackHookWroteError
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap
from jaxaot.facade.nodes.saved import check_unpacked, check_unwritten
from jaxaot.tape.modes import state
from jaxaot.tape.saved_hooks import HookPair
from jaxaot.tracer.bodies.pure import inline_trace
from jaxaot.views.layout import contiguous


@immutable(eq=False)
class HookGraphs:
    """A pair of hooks on an array of one type, as graphs.

    Attributes:
      pack: A ClosedJaxpr from the array to what is kept.
      unpack: A ClosedJaxpr from what is kept to an array of the first type.
    """

    pack: Any
    unpack: Any


class _Kept(enum.Enum):
    """What stands in the result of a pack hook for an array that is kept."""

    TENSOR = "tensor"
    ARRAY = "array"


class _Untraceable(Exception):
    """A hook does what no graph of its argument can do."""


def trace_hooks(hooks: HookPair, shape: tuple[int, ...], dtype: DTypeLike | None) -> HookGraphs | None:
    """Returns the graphs of a pair of hooks for an array type; None if they must run on values.

    They must if they ask for values, keep them elsewhere, draw random numbers, or read or write other tensors.

    Raises:
      PackHookWroteError: If the pack hook writes to the tensor that it gets.
    """
    layout = contiguous(tuple(shape), np.dtype(dtype))
    tree: Any = None
    marked: list[Any] = []  # what the pack hook returned, with marks in place of the arrays

    def pack(array: Any) -> list[Any]:
        nonlocal tree
        arrays: list[Any] = []

        def mark(leaf: object) -> Any:
            if isinstance(leaf, (Tensor, jax.Array, np.ndarray)):
                arrays.append(leaf._read() if isinstance(leaf, Tensor) else leaf)
                return _Kept.TENSOR if isinstance(leaf, Tensor) else _Kept.ARRAY
            return leaf

        def run(show: Callable[[Any], Tensor]) -> None:
            nonlocal tree
            tensor = show(array)
            leaves, tree = pytree.flatten(hooks.pack(tensor))
            marked[:] = map(mark, leaves)
            check_unwritten(tensor)

        _run(run)
        return arrays

    def unpack(*arrays: object) -> Any:
        def run(show: Callable[[Any], Tensor]) -> Any:
            values = iter(arrays)

            def fill(leaf: object) -> Any:
                if leaf is _Kept.TENSOR:
                    return show(next(values))
                return next(values) if leaf is _Kept.ARRAY else leaf

            value = pytree.unflatten(tree, list(map(fill, marked)))
            return check_unpacked(hooks.unpack(value), layout).to(layout.dtype)._read()

        return _run(run)

    try:
        packed, types = jax.make_jaxpr(pack, return_shape=True)(jax.ShapeDtypeStruct(shape, dtype))
        if not types:
            return None
        unpacked = jax.make_jaxpr(unpack)(*types)
    except PackHookWroteError:
        raise
    except Exception:  # whatever is wrong with it shows when it is run on values
        return None
    return None if packed.consts or unpacked.consts else HookGraphs(packed, unpacked)


def _run(body: Callable[[Callable[[Any], Tensor]], Any]) -> Any:
    """Returns the result of `body` as part of the graph that JAX is tracing.

    Raises:
      _Untraceable: If it reaches tensors from outside, changes any, or draws random numbers.
    """
    with inline_trace() as trace:
        state.grad_enabled = False

        def show(array: Any) -> Tensor:
            layout = contiguous(tuple(array.shape), np.dtype(array.dtype))
            return wrap(Storage(array, layout, trace), layout, 0, trace)

        result = body(show)
        if trace.storages or trace.draws or trace.changed():
            raise _Untraceable
    return result
