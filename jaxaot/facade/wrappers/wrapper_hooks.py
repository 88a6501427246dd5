"""Hooks on the gradients of wrappers: called when those of all inner tensors are there, with these put together."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot.errors import AutogradError, SubclassError
from jaxaot.facade.memory.counter import writes_of
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.facade.nodes.hooks import (
    NEEDS_GRADIENT,
    call_on_leaf,
    get_gradient_edge,
    leaf_hooks,
    let_through,
    wrap_gradient,
)
from jaxaot.facade.subclass.subclass import carrying, form_of, is_wrapper, put_together, take_apart
from jaxaot.facade.subclass.wrapper_gradients import carried, pairs_with
from jaxaot.tape.hooks import RemovableHandle
from jaxaot.tape.joint_hooks import Together
from jaxaot.tape.node import Edge, Node


def register_hook(self: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Calls `hook(gradient)` whenever a gradient of this tensor is computed; what it returns replaces the gradient.

    The gradient is of the tensor's kind, with zeros for inner tensors that none arrives at.

    Raises:
      AutogradError: If the tensor does not require grad.
      SubclassError: If an inner tensor is computed from another one.
    """
    return RemovableHandle(_group_of(self).hooks, hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Any], None]) -> RemovableHandle:
    """Calls `hook(tensor)` whenever the `.grad` of this leaf has been added to.

    Raises:
      AutogradError: If the tensor does not require grad, or is no leaf.
    """
    if self.requires_grad and not self.is_leaf:
        raise AutogradError(
            "post accumulate grad hooks cannot be registered on non-leaf tensors: they have no `.grad`. Register it on "
            "a leaf, or use `tensor.register_hook`, which sees the gradient itself."
        )
    return RemovableHandle(_group_of(self).accumulated, hook)


def _group_of(wrapper: Tensor) -> Together:
    """Returns a new place for hooks, known to all nodes that gradients of a wrapper arrive at."""
    leaves = list(carried(wrapper))
    tensors = [leaf for leaf in leaves if leaf.requires_grad]
    if not tensors:
        raise AutogradError(NEEDS_GRADIENT)
    _check_apart(wrapper, [get_gradient_edge(leaf).node for leaf in tensors])
    group = Together([_edge_of(leaf) for leaf in leaves], Packing(wrapper), wrapper)
    for leaf in tensors:
        holder: Any = leaf_hooks(leaf) if leaf.is_leaf else get_gradient_edge(leaf).node._own_hooks()
        if group not in holder.together:  # several inner tensors may come from one node
            holder.together = (*(other for other in holder.together if other), group)
    return group


def _edge_of(leaf: Tensor) -> Callable[[], Edge | None]:
    """Returns what finds where the gradient of a tensor arrives, without keeping its graph."""
    if not leaf.requires_grad:
        return lambda: None
    if leaf.is_leaf:
        found = weakref.ref(leaf)
        return lambda: None if (tensor := found()) is None else tensor._gradient_edge()
    edge = get_gradient_edge(leaf)
    node, index = weakref.ref(edge.node), edge.output_nr
    return lambda: None if (held := node()) is None else Edge(held, index)


def _check_apart(wrapper: Tensor, nodes: Sequence[Node]) -> None:
    first = min(node.sequence_number for node in nodes)
    ends, seen, pending = set(nodes), set[Node](), list(nodes)
    while pending:
        for edge in pending.pop().edges:
            if edge is None or edge.node in seen:
                continue
            if edge.node in ends:
                raise SubclassError(
                    f"A hook on a `{type(wrapper).__qualname__}`: one of its inner tensors is computed from another, "
                    "so there is no moment at which the gradients of all are there. Register hooks on "
                    f"{', '.join(f'`.{name}`' for name in carrying(wrapper))}."
                )
            seen.add(edge.node)
            if edge.node.sequence_number > first:
                pending.append(edge.node)


class Packing:
    """Makes a gradient of a wrapper's kind of those of its inner tensors, and keeps no values of these.

    Attributes:
      form: What tells it from that of another wrapper; hashable.
      kept: The inner tensors that carry no gradients: each gradient holds them.
    """

    __slots__ = ("_fill", "form", "kept")

    def __init__(self, wrapper: Tensor):
        """Takes note of what a wrapper is made of."""
        self.form = form_of(wrapper)
        self.kept: list[Tensor] = []
        self._fill = self._filling(wrapper)

    def __call__(self, gradients: Sequence[Any]) -> Any:
        return self._fill(iter(gradients))

    def _filling(self, value: Any) -> Callable[[Iterator[Any]], Any]:
        if not is_wrapper(value):
            layout = value._layout

            def fill(gradients: Iterator[Any]) -> Any:
                gradient = next(gradients)
                return wrap_array(jnp.zeros(layout.size, layout.dtype)) if gradient is None else wrap_gradient(gradient)

            return fill
        inner, frame = take_apart(value)
        names, cls = carrying(value), type(value)
        if hasattr(cls, "__tensor_is_plain__"):
            return self._filling(inner[0])  # a gradient is a plain tensor, as the `.grad` of such a tensor is
        parts = [
            self._filling(x) if name in names else self._keeping(x) for name, x in zip(frame.names, inner, strict=True)
        ]
        return lambda gradients: put_together(cls, frame, [part(gradients) for part in parts])

    def _keeping(self, value: Tensor) -> Callable[[Iterator[Any]], Any]:
        held = value.detach()
        self.kept.append(held)
        return lambda gradients: held


def call_together(group: Together, gradients: list[Any] | None) -> Any:
    """Returns the gradients of inner tensors that the hooks of a wrapper let through.

    Args:
      group: The hooks.
      gradients: Of each inner tensor that carries them, None where there is none; None to call those that look at
        leaves.
    """
    if gradients is None:
        for hook in list(group.accumulated.values()):
            call_on_leaf(hook, group.owner)
        return None
    for hook in list(group.hooks.values()):
        shown = group.pack(gradients)
        leaves = list(carried(shown))
        result = hook(shown)
        pairs = pairs_with(shown, shown if result is None else result)
        gradients = [
            before if before is None and new is old and not writes_of(old) else let_through(hook, new, before, old)
            for before, old, (_, new) in zip(gradients, leaves, pairs, strict=True)
        ]
    return gradients
