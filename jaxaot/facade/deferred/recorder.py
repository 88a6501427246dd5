"""Recorder: has the operations of a thread wait, and those of its backwards.

The engine goes from node to node as ever, and the arrays come later. The pulls of ops, views and writes wait, sums of
gradients, and what is added to the `.grad` of leaves. Hooks, custom Functions and all other nodes get values.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax

from jaxaot._typing import Array
from jaxaot.facade.deferred.recorded_ops import OpRecorder, shown
from jaxaot.facade.deferred.stretch import Pending, PendingLeaves, values_of
from jaxaot.facade.gradients.leaves import ADDING, AccumulateGrad
from jaxaot.facade.kernels.kernels import remember
from jaxaot.facade.kernels.view_gradients import pull_view, split_write
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.nodes.nodes import OpNode, ViewNode, WriteNode
from jaxaot.ir.reach import without_unreached
from jaxaot.lower.eager_kernel import EagerKernel
from jaxaot.tape.engine import Calls
from jaxaot.tape.node import Node
from jaxaot.tape.threads import threads
from jaxaot.views.chain import chain_dtype, chain_starts, chain_template
from jaxaot.views.layout import Layout

_MAX = 2048

_kernels: dict[Any, EagerKernel] = {}
"""Kernels of what is done to cotangents, by what they do and the types of their operands."""

_pulls: weakref.WeakKeyDictionary[EagerKernel, dict[Any, EagerKernel]] = weakref.WeakKeyDictionary()
"""For each pull, kernels that take its operands one after the other, by how many there are and of which types."""


clear_pulls = _kernels.clear
"""Forgets these kernels, where what they compute has become another thing."""


def _kernel(key: Hashable, fn: Callable[..., Any]) -> EagerKernel:
    kernel = _kernels.get(key)
    if kernel is None:
        kernel = EagerKernel(fn)
        remember(_kernels, key, kernel, _MAX)
    return kernel


def _add(recorder: OpRecorder, add: Callable[[Any, Any], Any], a: Array | Pending, b: Array | Pending) -> Any:
    if type(a) is not Pending and type(b) is not Pending:
        return add(a, b)
    (total,) = recorder.run(_kernel(("add", a.shape, a.dtype, b.shape, b.dtype), lambda a, b: (a + b,)), (a, b))
    return total


def _run(recorder: OpRecorder, node: Node, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
    """Returns the gradients of a node, pending where that can be; `create_graph` is False."""
    if recorder.records():
        gradients = None
        if isinstance(node, OpNode):
            gradients = _pull(recorder, node, cotangents)
        elif isinstance(node, ViewNode):
            gradients = _pull_view(recorder, node, cotangents)
        elif isinstance(node, WriteNode):
            gradients = _split_write(recorder, node, cotangents)
        elif isinstance(node, AccumulateGrad):
            gradients = _accumulate(recorder, node.variable, cotangents)
        if gradients is not None:
            return gradients
    with recorder.paused():  # which may be code of the user's
        return node.backward(values_of(cotangents), create_graph)


def _pull(recorder: OpRecorder, node: OpNode, cotangents: list[Any]) -> Sequence[Any] | None:
    leaves, kernel = node.leaves, node.kernel
    if type(leaves) is PendingLeaves:
        leaves = leaves.items
    if type(leaves) not in (list, tuple) or node.versions is not None:
        return None
    if len(cotangents) > 1:
        cotangents = [ct for ct, d in zip(cotangents, kernel.differentiable, strict=True) if d]
    if kernel.passes_through is None:
        types = [shown(x) for x in leaves], [shown(ct) for ct in cotangents]
        kernel.passes_through = kernel._find_pass_through(*types)
    if kernel.passes_through and cotangents[0].dtype == kernel.passes_through:
        return [cotangents[0]] * len(kernel.places)
    n, given = len(leaves), [ct for ct in cotangents if ct is not None]
    pattern = (n, tuple(None if ct is None else ct.dtype for ct in cotangents))
    kernels = _pulls.setdefault(kernel.pull, {})
    flat = kernels.get(pattern)
    if flat is None:
        inside, places = kernel.pull.inside, [ct is not None for ct in cotangents]

        def pull(*operands: Any) -> tuple[Any, ...]:
            rest = iter(operands[n:])
            return tuple(inside(list(operands[:n]), [next(rest) if is_given else None for is_given in places]))

        flat = kernels[pattern] = EagerKernel(pull)
    return without_unreached(recorder.run(flat, (*leaves, *given)), cotangents, kernel.apart)


def _pull_view(recorder: OpRecorder, node: ViewNode, cotangents: list[Any]) -> Sequence[Any] | None:
    (cotangent,) = cotangents
    dtype = node.parent.dtype
    if cotangent.dtype != chain_dtype(node.chain, dtype):
        return None
    if node.template is None:
        node.template, node.starts = chain_template(node.chain), chain_starts(node.chain)
    template, size, starts = node.template, node.parent.size, node.starts
    run = lambda cotangent, starts: (pull_view(template, size, dtype, cotangent, starts),)
    kernel = _kernel(("view", template, size, dtype, cotangent.shape), run)
    return recorder.run(kernel, (cotangent, starts))


def _split_write(recorder: OpRecorder, node: WriteNode, cotangents: list[Any]) -> Sequence[Any]:
    (cotangent,) = cotangents
    template = chain_template(node.chain)
    run = lambda cotangent, starts: split_write(template, cotangent, starts)
    kernel = _kernel(("write", template, cotangent.shape, cotangent.dtype), run)
    return recorder.run(kernel, (cotangent, chain_starts(node.chain)))


def _accumulate(recorder: OpRecorder, leaf: Tensor, cotangents: list[Any]) -> Sequence[Any] | None:
    (gradient,) = cotangents
    layout = leaf._layout.dense
    if leaf._hooks or type(gradient) is not Pending or gradient.dtype != layout.dtype:
        return None
    with ADDING if threads.are_several else contextlib.nullcontext():
        return _add_to(recorder, leaf, gradient, layout)


def _add_to(recorder: OpRecorder, leaf: Tensor, gradient: Pending, layout: Layout) -> Sequence[Any] | None:
    """Adds a gradient to `.grad`, and returns no gradients; None if somebody else has to."""
    grad = leaf._grad
    if grad is None:
        leaf._grad = recorder.tensor(gradient, layout)
        return ()
    if grad._layout is not grad._storage.layout or grad.dtype != layout.dtype or grad.shape != leaf.shape:
        return None
    present = recorder.pending_operand(grad._storage)
    if not isinstance(present, (jax.Array, Pending)):
        return None
    recorder.store(grad, _add(recorder, lambda a, b: a + b, present, gradient))
    return ()


class Recorder(OpRecorder):
    """Inside, operations of this thread wait. Its end, or an error, has all of them run.

    with Recorder(programs):
        y = (x @ w).relu()     # waits
        print(y)               # runs both
    """

    def calls(self, calls: Calls) -> Calls:
        """Returns callbacks of the engine by which a backward waits; some of these are given values by `calls`."""
        return Calls(
            functools.partial(_add, self, calls.add),
            lambda node, cotangents: calls.on_outputs(node, values_of(cotangents)),
            lambda hooks, cotangents: calls.before(hooks, values_of(cotangents)),
            lambda hooks, gradients, cotangents, places: calls.after(
                hooks, values_of(gradients), values_of(cotangents), places
            ),
            lambda group, gradients: calls.together(group, None if gradients is None else values_of(gradients)),
            None,
            functools.partial(_run, self),
        )
