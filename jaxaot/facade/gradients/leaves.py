"""Leaves of the tape: what arrives at one is added to its `.grad`."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

from jaxaot._jax import is_tracer
from jaxaot._placement import are_several, placed_like
from jaxaot._typing import Array
from jaxaot.facade.dispatch.write import write_value
from jaxaot.facade.kernels.view_gradients import add_arrays
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap, wrap_array
from jaxaot.facade.nodes.hooks import call_hooks, call_on_leaf, call_post_hooks, call_prehooks
from jaxaot.lower.abstract import AbstractArray
from jaxaot.tape.hooks import LeafHooks, NodeHooks
from jaxaot.tape.modes import state
from jaxaot.tape.node import Node, OutputType, next_number
from jaxaot.tape.threads import threads

_SOON = 1 << 62
"""Where the sequence numbers of leaves begin: as soon as they are ready, so that gradients are not kept waiting."""


ADDING = threading.RLock()
"""Held while a leaf's `.grad` is added to, where several threads use tensors."""


class AccumulateGrad(Node):
    """A leaf: adds what arrives to its `.grad`."""

    __slots__ = ("own_hooks", "variable")

    is_sink = True

    @property
    def is_watched(self) -> bool:
        return bool(self.variable._hooks)

    @property
    def together(self) -> Sequence[Any]:
        hooks = self.variable._hooks
        return () if hooks is None else hooks.together

    @property
    def cache_key(self) -> Any:
        return "leaf"

    def __init__(self, variable: Tensor):
        self._name = "AccumulateGrad"
        self.edges = ()
        self.n_outputs = 1
        self.sequence_number = _SOON + next_number()
        self.hooks = self._metadata = None
        self.own_hooks: NodeHooks | None = None
        self.variable = variable

    def _own_hooks(self) -> NodeHooks:
        leaf = self.variable
        if leaf._hooks is None:
            leaf._hooks = LeafHooks()
        if self.own_hooks is None:
            self.own_hooks = NodeHooks()
        leaf._hooks.node = weakref.ref(self)
        return self.own_hooks

    def output_type(self, index: int) -> OutputType | None:
        layout = self.variable._layout
        return OutputType(layout.size, layout.dtype)

    def filter(self, gradient: Array) -> Any:
        leaf, trace = self.variable, state.trace
        if trace is not None:
            trace.read_hooks(leaf)
        return call_hooks(leaf._hooks.tensor, gradient) if leaf._hooks else gradient

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        (gradient,) = cotangents
        leaf = self.variable
        trace = state.trace
        if trace is not None:
            trace.read_grad(leaf)
            trace.read_hooks(leaf)
        if leaf._hooks:
            gradient = call_hooks(leaf._hooks.tensor, gradient)
            own = self.own_hooks
            (gradient,) = arrived = [gradient] if own is None else call_prehooks(own.pre, [gradient])
            is_first = leaf._grad is None
            if gradient is not None:
                self._add_alone(gradient, create_graph)
            accumulated = leaf._grad
            for hook in list(leaf._hooks.accumulated.values()):
                call_on_leaf(hook, leaf)
            if own is not None and own.post:
                if is_first and accumulated is not None and not create_graph:
                    arrived = [accumulated._read()]  # what arrived has become the gradient, and shows writes to that
                call_post_hooks(own.post, (), arrived, ())
        else:
            self._add_alone(gradient, create_graph)
        return ()

    def _add_alone(self, gradient: Array, create_graph: bool) -> None:
        """Adds to `.grad`; of several threads one after the other, so that none of their gradients is lost."""
        if threads.are_several and state.trace is None:  # only one thread traces
            with ADDING:
                self._add(gradient, create_graph)
        else:
            self._add(gradient, create_graph)

    def _add(self, gradient: Array, create_graph: bool) -> None:
        leaf = self.variable
        layout = leaf._layout.dense
        if create_graph:
            gradient = gradient.to(layout.dtype)
            if state.grad_enabled:
                leaf.grad = gradient.clone() if leaf.grad is None else leaf.grad + gradient
            elif leaf.grad is None:
                leaf.grad = gradient.detach().clone()
            else:
                leaf.grad.add_(gradient)
            return
        if gradient.dtype is not layout.dtype and gradient.dtype != layout.dtype:
            gradient = gradient.astype(layout.dtype)
        if are_several() and leaf._layout is leaf._storage.layout:
            gradient = placed_like(gradient, leaf._storage.array, leads=False)
        if leaf._grad is not None:
            accumulate(leaf.grad, gradient)
            return
        if state.trace is not None:
            leaf.grad = wrap_array(gradient, layout)
            leaf.grad._storage.is_shared = not is_tracer(gradient)
            return
        if type(gradient) is AbstractArray:
            layout = layout.abstract
        elif layout.is_abstract:
            layout = layout.plain
        storage = Storage(gradient, layout)
        storage.is_shared = not is_tracer(gradient)
        leaf._grad = wrap(storage, layout)


def accumulate(grad: Any, gradient: Array) -> None:
    """Adds an array to a gradient in place."""
    present = grad._read()
    total = present + gradient if is_tracer(present) or is_tracer(gradient) else add_arrays(present, gradient)
    write_value(grad, total)
