"""The nodes of the tape that tensors make: operations, views and writes through views; leaves are in `leaves.py`."""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._jax import is_tracer
from jaxaot._typing import Array
from jaxaot.errors import AutogradError, BackwardTwiceError, NoDerivativeError
from jaxaot.facade.kernels.grad_kernels import GradKernel, conjugate, pull_row
from jaxaot.facade.kernels.kernels import backward_name
from jaxaot.facade.kernels.view_gradients import (
    add_arrays,
    pull_view,
    pull_view_kernel,
    read_through,
    split_write,
    split_write_kernel,
)
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.tensor import Tensor, history_edge
from jaxaot.facade.nodes.saved import FREED, SavedTensor, Version, saved_tensor
from jaxaot.facade.nodes.vjps import pull_by, pull_view_by, split_write_by
from jaxaot.ir.reach import Apart, outputs_apart, reached_inputs, without_unreached
from jaxaot.lower.abstract import AbstractArray
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import OpSpec
from jaxaot.tape.hooks import carry_retained
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge, Node, OutputType, edge_of, next_number
from jaxaot.views.chain import ViewChain, chain_dtype, chain_size, chain_starts, chain_template
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
      is_on_view: Whether its result was written in place to a view.
    """

    __slots__ = ("is_on_view", "kernel", "leaves", "originals", "versions")

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
        self.is_on_view = False
        if state.region is not None:
            state.region.add(self)
        if state.anomaly is not None:
            state.anomaly.note(self)

    @property
    def link(self) -> GradKernel | None:
        kernel = self.kernel
        return kernel if kernel.is_link and type(self.leaves) in _SAVED and self.versions is None else None

    def output_type(self, index: int) -> OutputType | None:
        layout = self.kernel.layouts[index]
        return None if layout is None else OutputType(layout.size, layout.dtype)

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
        if state.dual is not None and (found := state.dual.pull(self, cotangents)) is not None:
            return found
        kernel = self.kernel
        if kernel.passes_through and cotangents[0].dtype == kernel.passes_through:
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
    def cache_key(self) -> Any:
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

    __slots__ = ("__dict__", "differentiable", "key", "mask", "nest", "recorded", "spec", "static", "types", "values")

    def __init__(
        self,
        spec: OpSpec,
        edges: Sequence[Edge | None],
        values: Sequence[Any],
        nest: Any,
        static: tuple[Any, ...],
        key: Array | None,
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
        self.types = [None if r is None else OutputType(tuple(r.shape), r.dtype) for r in results]
        self.differentiable = [r is not None and is_inexact(r.dtype) for r in results]
        self.recorded = self.differentiable
        if spec.is_backward:
            reached = iter(self._reached)
            places = {i for i, is_wanted in enumerate(mask) if is_wanted}
            self.recorded = [d and not next(reached).isdisjoint(places) for d in self.differentiable]

    def output_type(self, index: int) -> OutputType | None:
        return self.types[index]

    @functools.cached_property
    def _reached(self) -> list[frozenset[int]]:
        """For each float result, the arguments that it depends on."""
        values = self.values or ()
        arrays = [i for i, value in enumerate(values) if hasattr(value, "dtype")]

        def smooth(*given: object) -> list[Any]:
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
            if state.trace is not None and state.trace.gathered:
                values = _gathered_again(state.trace, values, wanted)
            return without_unreached(self._pull(values, wanted), wanted, apart)
        if state.dual is not None and (found := state.dual.pull(self, wanted)) is not None:
            return found
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

    def op(*differentiated: object) -> list[Any]:
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


def _gathered_again(trace: Any, values: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """Returns what an operation used, what was gathered from several devices gathered anew.

    That waits for the cotangents, so that XLA does not keep what it gathered in the forward. Where the backward
    begins nothing is gathered anew: what computed last is still whole. Vectors stay whole, as they are small, and
    an exchange of few bytes takes as long as one of many.
    """
    known = next((ct for ct in cotangents if ct is not None), None)
    again = []
    for value in values:
        symbol, parts, sharding = trace.gathered.get(id(value), (None, None, None))
        if symbol is not None and known is not None and symbol.ndim > 1 and id(symbol) not in trace.still_whole:
            trace.still_whole = frozenset()  # those that computed before
            parts, _ = jax.lax.optimization_barrier((parts, known))
            value = jax.lax.with_sharding_constraint(parts, sharding)
        again.append(value)
    return again


class ViewNode(Node):
    """A view: its parent's gradient is zero but for the shown elements.

    Attributes:
      chain: How it looks at its parent.
      parent: How that lies.
      place: Which of the views that one function returned it is.
    """

    __slots__ = ("chain", "parent", "place", "starts", "template")

    def __init__(self, chain: ViewChain, parent: Layout, edge: Edge | None, name: str | None = None):
        super().__init__(name or backward_name(type(chain[-1]).__name__), (edge,))
        self.chain = chain
        self.place = 0
        self.template: ViewChain | None = None
        self.parent = parent
        self.starts: Any = None

    def output_type(self, index: int) -> OutputType | None:
        return OutputType(chain_size(self.chain, self.parent.size), chain_dtype(self.chain, self.parent.dtype))

    @property
    def cache_key(self) -> Any:
        return self.chain, self.parent

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        (cotangent,) = cotangents
        dtype = self.parent.dtype
        shown = chain_dtype(self.chain, dtype)
        if create_graph:
            cotangent = cotangent if cotangent.dtype == shown else cotangent.to(shown)
            return (pull_view_by(self.chain, self.parent.size, dtype, cotangent),)
        if cotangent.dtype != shown:
            cotangent = cotangent.astype(shown)
        if type(cotangent) is AbstractArray:
            return (AbstractArray(self.parent.size, dtype),)
        if is_tracer(cotangent):
            return (pull_view(self.chain, self.parent.size, dtype, cotangent, None),)
        if self.template is None:
            self.template = chain_template(self.chain)
            self.starts = chain_starts(self.chain)
        return (pull_view_kernel(self.template, self.parent.size, dtype, cotangent, self.starts),)


def view_edge(self: Tensor, history: History) -> Edge:
    """Returns the edge of a view, made anew after a recorded write moved the history on."""
    parent = (history.node, history.index)
    if self._view_node is None or self._view_parent != parent:
        self._touch()
        name = self._view_parent if type(self._view_parent) is str else None  # what a compiled call says of it
        node = ViewNode(self._chain, history.layout, history_edge(history), name)
        before, self._view_node = self._view_node, node
        self._view_parent = parent
        if before is not None and before.hooks is not None:
            carry_retained(before, _place_in(before, self), node, 0, self._trace is state.trace)
    return edge_of((self._view_node, _place_in(self._view_node, self)))


def _place_in(node: Any, view: Tensor) -> int:
    """Returns which output of the node of a view this view is."""
    return 0 if node.n_outputs == 1 else node.place_of(view._chain)


class SeveralViewsNode(Node):
    """Several views that one function returned: their parent's gradient is that of all of them.

    Attributes:
      chains: How each looks at its parent.
      parent: How that lies.
    """

    __slots__ = ("_places", "chains", "parent")

    def __init__(self, chains: Sequence[ViewChain], parent: Layout, edge: Edge | None, name: str):
        super().__init__(name, (edge,), len(chains))
        self.chains, self.parent = tuple(chains), parent
        self._places = {chain[-1]: place for place, chain in enumerate(chains)}

    def place_of(self, chain: ViewChain) -> int:
        """Returns which of the views a chain leads to."""
        return self._places[chain[-1]]

    def output_type(self, index: int) -> OutputType | None:
        chain = self.chains[index]
        return OutputType(chain_size(chain, self.parent.size), chain_dtype(chain, self.parent.dtype))

    @property
    def cache_key(self) -> Any:
        return self.chains, self.parent

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        size, dtype = self.parent.size, self.parent.dtype
        chains = [chain for chain, ct in zip(self.chains, cotangents, strict=True) if ct is not None]
        given = [ct for ct in cotangents if ct is not None]
        if create_graph:
            given = [ct if ct.dtype == dtype else ct.to(dtype) for ct in given]
            parts = [pull_view_by(chain, size, dtype, ct) for chain, ct in zip(chains, given, strict=True)]
            return (functools.reduce(operator.add, parts),)
        given = [ct if ct.dtype == dtype else ct.astype(dtype) for ct in given]
        if any(type(ct) is AbstractArray for ct in given):
            return (AbstractArray(size, dtype),)
        if any(map(is_tracer, given)):
            return (_pull_views(tuple(chains), size, dtype, given, [None] * len(given)),)
        parts = []
        for i in range(0, len(given), _TOGETHER):
            some = chains[i : i + _TOGETHER]
            templates, starts = tuple(map(chain_template, some)), [chain_starts(chain) for chain in some]
            parts.append(_pull_views_kernel(templates, size, dtype, given[i : i + _TOGETHER], starts))
        return (functools.reduce(add_arrays, parts),)


_TOGETHER = 16
"""How many gradients of views one kernel adds up."""


def _pull_views(
    chains: Sequence[ViewChain], size: tuple[int, ...], dtype: Any, cotangents: Sequence[Any], starts: Sequence[Any]
) -> Any:
    """Returns the gradient of what several views show."""
    pulled = (pull_view(chain, size, dtype, *rest) for chain, *rest in zip(chains, cotangents, starts, strict=True))
    return functools.reduce(operator.add, pulled)


_pull_views_kernel = jax.jit(_pull_views, static_argnums=(0, 1, 2))


class WriteNode(Node):
    """A write through a view: edges to the value before, and to what was written.

    Attributes:
      chain: How the view looks at its base.
      base: How that lies.
    """

    __slots__ = ("base", "chain")

    def __init__(self, chain: ViewChain, base: Layout, before: Edge | None, written: Edge | None):
        super().__init__("CopySlices", (before, written))
        self.chain = chain
        self.base = base

    def output_type(self, index: int) -> OutputType | None:
        return OutputType(self.base.size, self.base.dtype)

    @property
    def cache_key(self) -> Any:
        return ("write", self.chain)

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        (cotangent,) = cotangents
        if create_graph:
            return split_write_by(self.chain, cotangent)
        if type(cotangent) is AbstractArray:
            return cotangent, AbstractArray(chain_size(self.chain, cotangent.shape), cotangent.dtype)
        if is_tracer(cotangent):
            return split_write(self.chain, cotangent, None)
        starts = chain_starts(self.chain)
        return split_write_kernel(chain_template(self.chain), cotangent, starts)


class UnderivedNode(Node):
    """An operation without a derivative, of what requires grad: a backward through it is refused.

    Attributes:
      op: What the operation is called.
    """

    __slots__ = ("op",)

    def __init__(self, op: str, edge: Edge | None):
        super().__init__(backward_name(op), (edge,))
        self.op = op

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        raise NoDerivativeError(
            f"the derivative for '{self.op}' is not implemented, as it is not in PyTorch. Detach the operand, "
            "`x.detach()`, if it is to count as a constant."
        )


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
            "A backward inside a traced function (of `ja.func.functionalize`, or the body of a `ja.scan` or "
            "`ja.while_loop`) reached a tensor that came from outside, and its gradient belongs to what surrounds the "
            "function. Begin a tape inside, `x = x.detach().requires_grad_()`, or ask for the gradient itself: "
            "`ja.autograd.grad(loss, x)`."
        )


def materialize(tensor: Tensor) -> Array:
    """Returns the values of a tensor as an array, through one cached kernel."""
    storage = tensor._storage
    if storage.trace is not None and state.trace is None:
        storage.check_alive()
    if tensor._layout is storage.layout and storage.array is not None:
        return tensor._read()
    if is_tracer(storage.array) or storage.array is None or storage.layout.is_abstract:
        return tensor._read()
    storage.check_reach(tensor._layout, tensor._offset, is_write=False)
    window, starts = find_window(storage.layout, tensor._layout, tensor._offset)
    return read_through(storage.array, window, starts)
