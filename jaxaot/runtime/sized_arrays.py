"""The inputs of a call whose sizes may change: what they are, and what the user calls them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._jax import is_tracer
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import is_wrapper, leaves_of
from jaxaot.facade.trace_state import TRACING
from jaxaot.lower.bucket_sharding import typed_mesh
from jaxaot.plan.inputs import positions_of_ghosts, positions_of_parts, positions_of_values
from jaxaot.plan.paths import Path
from jaxaot.runtime.bucket_plan import may_be_padded
from jaxaot.runtime.traced_call import TracedCall


@immutable
class SizedArray:
    """An input of a graph whose sizes may change.

    Attributes:
      position: Among the inputs.
      value: The tensor or array that it is.
      name: The argument that it belongs to; None if it was reached otherwise.
      tensors: The tensors that show it, by number; none of an array.
      leaf: Which leaf of the arguments it is, of an array.
      within: Of an inner tensor whose shape is another than that of the argument: the argument.
    """

    position: int
    value: Any
    name: str | None
    tensors: tuple[int, ...] = ()
    leaf: int | None = None
    within: Any = None


def sized_arrays(call: TracedCall) -> Iterator[SizedArray]:
    """Yields the inputs of a graph whose sizes may change."""
    if call.traced.break_values:  # the segments before run on what is passed as it is
        return
    plan, names = call.traced.call, _leaf_owners(call)
    again: dict[int, list[int]] = {}  # the same array once more, for another history
    for position, ghost in zip(positions_of_ghosts(plan, call.traced.places), plan.ghosts, strict=True):
        again.setdefault(ghost.storage, []).append(position)
    shown: dict[int, list[int]] = {}
    for i, tensor in enumerate(plan.tensors):
        shown.setdefault(tensor.storage, []).append(i)
    for number, storage in enumerate(plan.storages):
        tensors = [plan.tensors[i] for i in shown[number]]
        values = [call.found(tensor.path) for tensor in tensors]
        if (
            storage.graph_input is not None
            and storage.n_written is None
            and storage.layout.is_dense
            and storage.layout.numel
            and all(t.layout is storage.layout and t.offset == 0 for t in tensors)
            and all(_is_whole(value) for value in values)
            and not any(t.requires_grad and t.is_leaf and not t.is_argument for t in tensors)  # parameters
        ):
            owners = [owner_of(call.names, tensor.path) for tensor in tensors if tensor.is_argument]
            owner, value = owners[0] if owners else None, values[0]
            wrapper = _wrapper_around(call, tensors[0].path)
            if wrapper is not None:
                if not owners or all(x._layout.size != wrapper._layout.size for x in leaves_of(wrapper)):
                    continue  # then it is not known what becomes of its size
                is_like = value._layout.size == wrapper._layout.size
                value, wrapper = (wrapper, None) if is_like else (value, wrapper)
            for position in (storage.graph_input, *again.get(number, ())):
                yield SizedArray(position, value, owner, tuple(shown[number]), within=wrapper)
    leaves = call.key.in_tree.flatten_up_to((call.args, call.kwargs)) if plan.values else []
    for i, number in zip(positions_of_parts(plan, call.traced.places), plan.parts, strict=True):
        tensor = plan.tensors[number]
        owner = owner_of(call.names, tensor.path) if tensor.is_argument else None
        yield SizedArray(i, call.found(tensor.path), owner, (number,))
    for i, value in zip(positions_of_values(plan, call.traced.places), plan.values, strict=True):
        if value.shape:
            yield SizedArray(i, leaves[value.leaf], names[value.leaf], leaf=value.leaf)


def _wrapper_around(call: TracedCall, path: Path) -> Any:
    """Returns the outermost tensor of a subclass that a tensor is an inner one of; None if it is of none."""
    if path[-1][0] != "attr":
        return None
    around = (call.found(path[:n]) for n in range(1, len(path)))
    return next((value for value in around if is_wrapper(value)), None)


def why_apart(call: TracedCall) -> str | None:
    """Returns why a call cannot run in the program of a bucket whatever its sizes are; None if it may."""
    traced, key = call.traced, call.key
    if key.watches or not may_be_padded():
        return "anomaly mode, a search for NaNs or a transformation of JAX is on, which would see what is padded"
    if traced.alias.freed or any(ghost.is_empty for ghost in traced.call.ghosts):
        return "storages without bytes are among its tensors"
    arrays = [_array_of(call.found(traced.call.tensors[s.tensor].path)) for s in traced.call.storages]
    if any(map(is_tracer, arrays)):
        return "tensors of it hold symbols of a transformation of JAX"
    if typed_mesh(arrays) is not None:
        return "a tensor of it lies on several devices of a mesh whose axes are part of its type"
    return None


def array_of(value: Any) -> Any:
    """Returns the array of a tensor, of a wrapper that of an inner tensor of its shape; of an array, itself."""
    if is_wrapper(value):
        value = next(leaf for leaf in leaves_of(value) if leaf._layout.size == value._layout.size)
    return _array_of(value) if isinstance(value, Tensor) else value


def _array_of(tensor: Tensor) -> Any:
    """Returns the array of a tensor, which may hold the symbols of another thread's trace until that ends."""
    with TRACING:
        return tensor._storage.array


def _is_whole(value: Tensor) -> bool:
    """Returns whether a tensor is no view, and what its history began with."""
    history = value._history
    is_of_history = history is None or (history.layout is value._layout and history.offset == 0)
    return value._base_tensor is None and not value._chain and is_of_history


def owner_of(names: Sequence[str], path: Path) -> str:
    """Returns the name of the argument where a path begins."""
    root, (_, which), *_rest = path
    if root[1] == "kwargs":
        return str(which)
    return str(names[which]) if which < len(names) else f"args[{which}]"


def _leaf_owners(call: TracedCall) -> list[str]:
    """Returns the name of the argument that each leaf belongs to."""
    positional, keywords = call.traced.in_tree.children()
    names = call.names
    found = []
    for i, tree in enumerate(positional.children()):
        found += [names[i] if i < len(names) else f"args[{i}]"] * tree.num_leaves
    node = keywords.node_data()
    for name, tree in zip(node[1] if node else (), keywords.children(), strict=True):
        found += [str(name)] * tree.num_leaves
    return found
