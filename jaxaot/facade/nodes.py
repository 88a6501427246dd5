"""The nodes of the tape that tensors make: operations, views, writes through views, and leaves."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_tracer
from jaxaot._typing import Array
from jaxaot.errors import AutogradError, BackwardTwiceError
from jaxaot.facade.hooks import call_hooks, call_on_leaf, call_post_hooks, call_prehooks
from jaxaot.facade.kernels import (
    GradKernel,
    add_kernel,
    backward_name,
    conjugate,
    pull_row,
    pull_view,
    pull_view_kernel,
    read_through,
    split_write,
    split_write_kernel,
)
from jaxaot.facade.saved import FREED, SavedTensor, Version, saved_tensor
from jaxaot.facade.storage import Storage
from jaxaot.facade.tensor import wrap, wrap_array
from jaxaot.ir.reach import Apart, outputs_apart, reached_inputs, without_unreached
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import OpSpec
from jaxaot.tape.hooks import LeafHooks, NodeHooks
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge, Node, next_number
from jaxaot.tape.threads import threads
from jaxaot.views.chain import ViewChain, chain_dtype, chain_form, chain_starts
from jaxaot.views.layout import Layout
from jaxaot.views.window import find_window

_SAVED = (list, tuple)


class OpNode(Node):
    """An operation that was run by a kernel.

    Attributes:
      kernel: What ran it.
      leaves: What its backward needs; None once released, a stand-in if it is to be computed again or unpacked.
      originals: The tensors that were saved, as long as they live: arguments as the kernel orders them, then a result.
      versions: How each saved tensor was; None where that is not checked.
    """

    __slots__ = ("kernel", "leaves", "originals", "versions")

    holds_residuals = True

    def __init__(self, kernel: GradKernel, edges: Sequence[Edge | None], leaves: Sequence[Any]):
        # as `Node.__init__`, which there are too many of to call
        self._name = kernel.node_name
        self.edges = tuple(edges)
        self.n_outputs = kernel.n_outputs
        self.sequence_number = next_number()
        self.hooks = self._metadata = None
        self.kernel = kernel
        self.leaves: Any = leaves
        self.originals: list[weakref.ref[Any]] | None = None
        self.versions: list[Version] | None = None
        if state.region is not None:
            state.region.add(self)
        if state.anomaly is not None:
            state.anomaly.note(self)

    @property
    def link(self) -> GradKernel | None:
        kernel = self.kernel
        return kernel if kernel.is_link and type(self.leaves) in _SAVED and self.versions is None else None

    @property
    def edge_places(self) -> Sequence[int | None]:
        own = self.kernel.places
        return [own.index(i) if i in own else None for i in self.kernel.tensor_parameters]

    def __getattr__(self, name: str) -> Any:
        for prefix, shown in (("_saved_", SavedTensor.unpack), ("_raw_saved_", lambda saved: saved)):
            if name.startswith(prefix):
                return shown(saved_tensor(self, name.removeprefix(prefix)))
        raise AttributeError(f"{self!r} has no attribute `{name}`")

    def __dir__(self) -> list[str]:
        names = self.kernel.saved_names
        return [*super().__dir__(), *(f"{prefix}{name}" for prefix in ("_saved_", "_raw_saved_") for name in names)]

    def original(self, place: int) -> Any:
        """Returns the tensor that a saved value was, if it still exists."""
        sources, kernel = self.kernel.sources, self.kernel
        origin, index = sources[place]
        if origin == "kept" or not self.originals or (origin == "argument" and index not in kernel.tensor_arguments):
            return None
        if origin == "argument":
            return self.originals[kernel.tensor_arguments.index(index)]()
        return None if len(self.originals) == len(kernel.tensor_arguments) else self.originals[-1]()

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        leaves = self.leaves
        if leaves is None:
            raise BackwardTwiceError(FREED)
        while type(leaves) not in _SAVED:
            leaves = leaves.again()
        for version in self.versions or ():
            version.check()
        kernel = self.kernel
        if len(cotangents) > 1:
            cotangents = [ct for ct, d in zip(cotangents, kernel.differentiable, strict=True) if d]
        return self._recorded(leaves, cotangents) if create_graph else kernel.backward(leaves, cotangents)

    def _recorded(self, leaves: Sequence[Any], cotangents: Sequence[Any]) -> Sequence[Any]:
        from jaxaot.facade.pulls import pull_by

        if state.dual is not None and (found := state.dual.pull(self, cotangents)) is not None:
            return found
        kernel = self.kernel
        if kernel.relays and cotangents[0].dtype == kernel.relays:
            return [cotangents[0]] * len(kernel.places)
        gradients = pull_by(kernel.pull_row, leaves, [self._edge_of(*source) for source in kernel.sources], cotangents)
        return without_unreached(gradients, cotangents, kernel.apart)

    def _edge_of(self, origin: str, index: int) -> Edge | None:
        """Returns where gradients of a saved value go."""
        kernel = self.kernel
        if origin == "argument":
            return self.edges[kernel.places.index(index)] if index in kernel.places else None
        return Edge(self, index) if origin == "result" and kernel.recorded[index] else None

    def release(self) -> None:
        if self.leaves:  # what saved nothing can run again
            self.leaves = self.originals = self.versions = None

    @property
    def tape_form(self) -> Any:
        return self.kernel

    @property
    def held(self) -> Any:
        return self.leaves

    def swap_held(self, held: Any, is_same: bool = False) -> Any:
        before, self.leaves = self.leaves, held
        if not is_same:
            self.originals = self.versions = None
        return before


class TracedOpNode(Node):
    """An operation of a trace; its gradient is only derived if a backward runs inside the trace.

    Attributes:
      differentiable: Which results are float, so that gradients flow to them.
      recorded: Which of them require grad.
      mask: Which arguments have gradients.
    """

    __slots__ = ("__dict__", "differentiable", "key", "mask", "nest", "recorded", "spec", "static", "values")

    def __init__(
        self,
        spec: OpSpec,
        edges: Sequence[Edge | None],
        values: Sequence[Any],
        nest: Any,
        static: tuple[Any, ...],
        key: Any,
        mask: Sequence[bool],
        results: Sequence[Any],
    ):
        super().__init__(backward_name(spec.name), edges, len(results))
        self.spec = spec
        self.values: Sequence[Any] | None = values
        self.nest = nest
        self.static = static
        self.key = key
        self.mask = mask
        self.differentiable = [r is not None and is_inexact(r.dtype) for r in results]
        self.recorded = self.differentiable
        if spec.is_backward:
            reached = iter(self._reached)
            places = {i for i, is_wanted in enumerate(mask) if is_wanted}
            self.recorded = [d and not next(reached).isdisjoint(places) for d in self.differentiable]

    @functools.cached_property
    def _reached(self) -> list[frozenset[int]]:
        """For each float result, the arguments that it depends on."""
        values = self.values or ()
        arrays = [i for i, value in enumerate(values) if hasattr(value, "dtype")]

        def smooth(*given: Any) -> list[Any]:
            filled = list(values)
            for place, value in zip(arrays, given, strict=True):
                filled[place] = value
            return self._smooth(filled)

        found = reached_inputs(jax.make_jaxpr(smooth)(*[values[i] for i in arrays]))
        return [frozenset(arrays[i] for i in sources) for sources in found]

    def _apart(self, cotangents: Sequence[Any]) -> Apart:
        """Returns which gradients come from which results, where some of these have no cotangent."""
        if all(cotangent is not None for cotangent in cotangents):
            return None
        return outputs_apart(self._reached, [i for i, is_wanted in enumerate(self.mask) if is_wanted])

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        values = self.values
        if values is None:
            raise BackwardTwiceError(FREED)
        wanted = [ct for ct, d in zip(cotangents, self.differentiable, strict=True) if d]
        apart = self._apart(wanted)
        if not create_graph:
            return without_unreached(self._pull(values, wanted), wanted, apart)
        if state.dual is not None and (found := state.dual.pull(self, wanted)) is not None:
            return found
        from jaxaot.facade.pulls import pull_by

        edges = iter(self.edges)
        own = [next(edges) if is_wanted else None for is_wanted in self.mask]
        return without_unreached(pull_by(pull_row(self._name, self._pull), values, own, wanted), wanted, apart)

    def _pull(self, values: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Returns the gradients as a function of the op's arguments and of the cotangents of its float results."""
        with jax.named_scope(f"backward/{self.spec.name}"):
            return pull_op(self._smooth, values, self.mask, cotangents)

    def _smooth(self, values: Sequence[Any]) -> list[Any]:
        """Returns the float results as a function of the arguments."""
        results = self.spec.evaluate(self.nest(values), self.static, self.key)
        return [r for r, d in zip(results, self.differentiable, strict=False) if d]

    def release(self) -> None:
        self.values = None


def pull_op(
    smooth: Callable[[Sequence[Any]], list[Any]],
    values: Sequence[Any],
    mask: Sequence[bool],
    cotangents: Sequence[Any],
) -> list[Any]:
    """Returns gradients of some arguments of an op.

    Args:
      smooth: Takes its arguments to its float results.
      values: The arguments.
      mask: For each, whether its gradient is wanted.
      cotangents: Of the float results; None for zeros.
    """
    places = [i for i, wanted in enumerate(mask) if wanted]

    def op(*differentiated: Any) -> list[Any]:
        filled = list(values)
        for place, value in zip(places, differentiated, strict=True):
            filled[place] = value
        return smooth(filled)

    outputs, pullback = jax.vjp(op, *[values[i] for i in places])
    full = [
        jnp.zeros_like(out) if ct is None else conjugate(ct.astype(out.dtype))
        for ct, out in zip(cotangents, outputs, strict=True)
    ]
    return [conjugate(gradient) for gradient in pullback(full)]


class ViewNode(Node):
    """A view: its parent's gradient is zero but for the shown elements."""

    __slots__ = ("chain", "form", "parent", "starts")

    def __init__(self, chain: ViewChain, parent: Layout, edge: Edge | None, name: str | None = None):
        super().__init__(name or backward_name(type(chain[-1]).__name__), (edge,))
        self.chain = chain
        self.form: ViewChain | None = None
        self.parent = parent
        self.starts: Any = None

    @property
    def tape_form(self) -> Any:
        return self.chain, self.parent

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        (cotangent,) = cotangents
        dtype = self.parent.dtype
        shown = chain_dtype(self.chain, dtype)
        if create_graph:
            from jaxaot.facade.pulls import pull_view_by

            cotangent = cotangent if cotangent.dtype == shown else cotangent.to(shown)
            return (pull_view_by(self.chain, self.parent.size, dtype, cotangent),)
        if cotangent.dtype != shown:
            cotangent = cotangent.astype(shown)
        if is_tracer(cotangent):
            return (pull_view(self.chain, self.parent.size, dtype, cotangent, None),)
        if self.form is None:
            self.form = chain_form(self.chain)
            self.starts = np.array(chain_starts(self.chain), np.int32)
        return (pull_view_kernel(self.form, self.parent.size, dtype, cotangent, self.starts),)


class WriteNode(Node):
    """A write through a view: edges to the value before, and to what was written."""

    __slots__ = ("chain",)

    def __init__(self, chain: ViewChain, before: Edge | None, written: Edge | None):
        super().__init__("CopySlices", (before, written))
        self.chain = chain

    @property
    def tape_form(self) -> Any:
        return ("write", self.chain)

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        (cotangent,) = cotangents
        if create_graph:
            from jaxaot.facade.pulls import split_write_by

            return split_write_by(self.chain, cotangent)
        if is_tracer(cotangent):
            return split_write(self.chain, cotangent, None)
        starts = np.array(chain_starts(self.chain), np.int32)
        return split_write_kernel(chain_form(self.chain), cotangent, starts)


class GraphInput(Node):
    """What came into a function that is traced on its own: where gradients go from here, the function cannot say.

    Attributes:
      is_argument: Whether it was passed as an array, whose gradients by the tape nobody waits for.
    """

    __slots__ = ("is_argument",)

    def __init__(self, is_argument: bool = False) -> None:
        super().__init__("GraphInput", ())
        self.is_argument = is_argument

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        if self.is_argument:
            return ()
        raise AutogradError(
            "A backward inside a traced function (of `ja.functionalize`, or the body of a `ja.scan` or "
            "`ja.while_loop`) reached a tensor that came from outside, and its gradient belongs to what surrounds the "
            "function. Begin a tape inside, `x = x.detach().requires_grad_()`, or ask for the gradient itself: "
            "`ja.autograd.grad(loss, x)`."
        )


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
    def tape_form(self) -> Any:
        return "leaf"

    def __init__(self, variable: Any):
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

    def filter(self, gradient: Any) -> Any:
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
            if gradient is not None:
                self._add_alone(gradient, create_graph)
            for hook in list(leaf._hooks.accumulated.values()):
                call_on_leaf(hook, leaf)
            if own is not None:
                call_post_hooks(own.post, (), arrived, ())
        else:
            self._add_alone(gradient, create_graph)
        return ()

    def _add_alone(self, gradient: Any, create_graph: bool) -> None:
        """Adds to `.grad`; of several threads one after the other, so that none of their gradients is lost."""
        if threads.are_several and state.trace is None:  # only one thread traces
            with ADDING:
                self._add(gradient, create_graph)
        else:
            self._add(gradient, create_graph)

    def _add(self, gradient: Any, create_graph: bool) -> None:
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
        if leaf._grad is not None:
            accumulate(leaf.grad, gradient)
            return
        if state.trace is not None:
            leaf.grad = wrap_array(gradient, layout)
            leaf.grad._storage.is_shared = not is_tracer(gradient)
            return
        storage = Storage(gradient, layout)
        storage.is_shared = not is_tracer(gradient)
        leaf._grad = wrap(storage, layout)


def accumulate(grad: Any, gradient: Array) -> None:
    """Adds an array to a gradient in place."""
    from jaxaot.facade.write import write_value

    present = grad._read()
    total = present + gradient if is_tracer(present) or is_tracer(gradient) else add_kernel(present, gradient)
    write_value(grad, total)


def materialize(tensor: Any) -> Array:
    """Returns the values of a tensor as an array, through one cached kernel."""
    storage = tensor._storage
    if tensor._layout is storage.layout and storage.array is not None:
        return tensor._read()
    if is_tracer(storage.array) or storage.array is None:
        return tensor._read()
    storage.check_reach(tensor._layout, tensor._offset, is_write=False)
    window, starts = find_window(storage.layout, tensor._layout, tensor._offset)
    return read_through(storage.array, window, starts)
