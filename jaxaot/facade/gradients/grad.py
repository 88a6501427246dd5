"""Backward: from tensors to their gradients, and hooks on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, overload

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import settings as config
from jaxaot._frames import explain_devices
from jaxaot._jax import is_outermost, is_tracer
from jaxaot._typing import Array
from jaxaot.errors import (
    ArgumentError,
    AutogradError,
    DtypeError,
    NoInputsError,
    ShapeMismatchError,
    TensorTypeError,
    TensorValueError,
    UnusedInputError,
)
from jaxaot.facade.deferred.stretch import values_of
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.kernels.fused_backward import run_fused
from jaxaot.facade.kernels.view_gradients import add_arrays
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.facade.memory.tensor import Size, Tensor
from jaxaot.facade.nodes.hooks import (
    GradientEdge,
    call_node_hooks,
    call_post_hooks,
    call_prehooks,
    edge_layout,
    edge_of,
    retain_grad,
    wrap_gradient,
)
from jaxaot.facade.nodes.nodes import materialize
from jaxaot.facade.nodes.vjps import standing
from jaxaot.facade.subclass.subclass import SUBCLASSES, holds_subclass, is_wrapper
from jaxaot.facade.subclass.wrapper_gradients import (
    NOT_DIFFERENTIATED,
    gradient_of,
    no_path,
    opened_inputs,
    opened_roots,
)
from jaxaot.facade.wrappers.wrapper_hooks import call_together
from jaxaot.lower.abstract import AbstractArray
from jaxaot.ops.promotion import is_complex
from jaxaot.ops.table import lookup
from jaxaot.tape.deep import in_thread_of_its_own
from jaxaot.tape.engine import Calls, nodes_in_order, run_backward
from jaxaot.tape.modes import state
from jaxaot.tape.node import NODE_CALLS, Edge, Node
from jaxaot.views.layout import Layout


class recording:
    """Inside, operations are recorded or not; cheaper than `no_grad`."""

    def __init__(self, enabled: bool):
        self._enabled = enabled

    def __enter__(self) -> None:
        self._before = state.grad_enabled
        state.grad_enabled = self._enabled

    def __exit__(self, *_: object) -> None:
        state.grad_enabled = self._before


def _add(a: Array, b: Array) -> Any:
    if is_tracer(a) or is_tracer(b) or isinstance(a, Tensor):
        return a + b
    return add_arrays(a, b)


_ONE_BY_ONE = Calls(_add, call_node_hooks, call_prehooks, call_post_hooks, call_together)
_FUSED = _ONE_BY_ONE._replace(run_fused=run_fused)


def _calls(create_graph: bool) -> Calls:
    """Returns the callbacks of the engine; straight chains run as one kernel where nothing is recorded or traced."""
    if state.recorder is not None and state.recorder.records():
        return state.recorder.calls(_ONE_BY_ONE)
    if state.trace is None and not create_graph and config.get().fuse_backward:
        return _FUSED
    return _ONE_BY_ONE


def _run(
    roots: Sequence[tuple[Edge, Any]],
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Edge] | None,
    accumulates: bool,
) -> dict[Edge, Any]:
    """Runs the tape backward as `run_backward` does, or as a program where that is asked for."""
    if state.trace is not None:
        _check_own(roots, inputs, create_graph)
    elif state.recorder is not None and (create_graph or not state.recorder.records() or state.compiles_tape):
        with state.recorder.paused():
            return _run(roots, keep_graph, create_graph, inputs, accumulates)
    elif state.compiles_tape is not None and state.anomaly is None and not create_graph:
        return state.compiles_tape.run(roots, keep_graph, inputs, accumulates)
    found = run_engine(roots, keep_graph, create_graph, inputs, accumulates)
    return found if state.recorder is None else dict(zip(found, values_of(list(found.values())), strict=True))


def _check_own(roots: Sequence[tuple[Edge, Any]], inputs: Sequence[Edge] | None, create_graph: bool) -> None:
    """Raises if a traced function runs operations backward that were recorded before it: their values are no inputs."""
    trace = state.trace
    first = trace.first_node if create_graph else trace.first_run_backward
    if not first:
        return
    for node in nodes_in_order(roots, inputs):
        if node.sequence_number < first and node not in trace.own_nodes:
            raise AutogradError(
                f"A backward inside a traced function reached {node.name()}, which was recorded before the function "
                "was called: what it saved is another value at each call, and no input of the graph. Run the forward "
                "inside of the function as well; or the backward outside of it, where "
                "`with ja.compiler.compiled_autograd():` compiles it."
            )


def run_engine(
    roots: Sequence[tuple[Edge, Any]],
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Edge] | None,
    accumulates: bool,
) -> dict[Edge, Any]:
    """Runs the tape backward node by node, see `run_backward`."""
    hooks, outside, depth = state.saved_hooks, state.hooks_outside, state.depth
    state.depth = depth + 1
    try:
        if depth and depth % _MAX_DEPTH == 0 and state.trace is None and is_outermost():
            return in_thread_of_its_own(
                lambda: run_backward(roots, _calls(create_graph), keep_graph, create_graph, inputs, accumulates)
            )
        return run_backward(roots, _calls(create_graph), keep_graph, create_graph, inputs, accumulates)
    except ValueError as error:
        explain_devices(error)
        raise
    finally:
        state.depth = depth
        if state.saved_hooks is not hooks or state.hooks_outside is not outside:
            # an unpack hook entered others, or left these
            state.saved_hooks, state.hooks_outside = hooks, outside
            state.note_saving()


_MAX_DEPTH = 24
"""How many backwards in backwards of the user's run in one thread: Python's stack is short, and each takes some."""


def call_node(node: Node, gradients: tuple[Any, ...]) -> Any:
    """Returns what a node's backward makes of gradients of its outputs: a tensor, or a tuple of tensors and Nones.

    Raises:
      ArgumentError: If it is not given one for each output, or something that is no tensor.
    """
    if len(gradients) != node.n_outputs:
        raise ArgumentError(
            f"expected {node.n_outputs} arguments, got {len(gradients)} instead: {node.name()} takes a gradient, or "
            "None, for each output of its operation."
        )
    for position, gradient in enumerate(gradients):
        if gradient is not None and not isinstance(gradient, Tensor):
            raise ArgumentError(f"argument {position} is not a Variable, but {type(gradient).__name__}: pass a tensor.")
    records = state.grad_enabled
    with recording(False):
        given = [ct if ct is None or records else materialize(ct) for ct in gradients]
    with recording(records):
        found = node.backward(given, records)
    places = [None if place is None else found[place] for place in node.edge_places] if found else []
    shown = tuple(None if gradient is None else wrap_gradient(gradient) for gradient in places)
    return shown[0] if len(shown) == 1 else shown


NODE_CALLS.append(call_node)

_ones_of: dict[Layout, Array] = {}


def _ones(layout: Layout) -> Array:
    """Returns ones, which as an immutable array may be shared by all backward passes."""
    if state.trace is not None:
        return jnp.ones(layout.size, layout.dtype)
    if layout.is_abstract:
        return AbstractArray(layout.size, layout.dtype)  # type: ignore[return-value]
    ones = _ones_of.get(layout)
    if ones is None:
        ones = jnp.ones(layout.size, layout.dtype)
        if not is_tracer(ones):  # inside `jax.jit` it is a symbol, which must not outlive the trace
            _ones_of[layout] = ones
    return ones


def _of_one_number(edge: Edge, layout: Layout | None) -> Layout:
    """Returns the layout of what a backward may begin at without a gradient: one real number."""
    if layout is None:
        raise AutogradError(
            f"grad can be implicitly created only for scalar outputs, and {edge.node.name()} does not know the "
            "shapes of its own. Pass the gradient: `grad_outputs=(gradient,)`."
        )
    if layout.numel != 1:
        raise AutogradError(
            f"grad can be implicitly created only for scalar outputs, and this has shape {list(layout.size)}. "
            "Differentiate a number, `y.sum().backward()`, or pass the gradient, "
            "`y.backward(ja.ones_like(y))`."
        )
    if is_complex(layout.dtype):
        raise AutogradError(
            f"grad can be implicitly created only for real scalar outputs but got {layout.dtype}. "
            "Differentiate a real number of it, such as `x.abs()`, or pass the gradient."
        )
    return layout


def _roots(
    tensors: Sequence[Tensor], gradients: Sequence[Tensor | None] | None, create_graph: bool
) -> list[tuple[Edge, Any]]:
    """Returns where to start, each with its cotangent: an array, or a tensor if the backward is recorded."""
    gradients = [None] * len(tensors) if gradients is None else list(gradients)
    if len(gradients) != len(tensors):
        raise AutogradError(f"got {len(tensors)} tensors and {len(gradients)} gradients")
    roots = []
    for index, (tensor, gradient) in enumerate(zip(tensors, gradients, strict=True)):
        edge = edge_of(tensor)
        if edge is None:
            raise no_path(index)
        layout = edge_layout(tensor)
        if gradient is None:
            value: Any = _ones(_of_one_number(edge, layout))
            if create_graph:
                value = standing(value, None)
        else:
            if not isinstance(gradient, (Tensor, jax.Array, np.ndarray)) and not hasattr(gradient, "_gradient_edge"):
                raise TensorTypeError(
                    f"gradients can be either Tensors or None, but got {type(gradient).__name__} for element {index}. "
                    "Pass a tensor of the shape of the output, `y.backward(ja.ones_like(y))`."
                )
            if layout is not None and tuple(gradient.shape) != layout.size:
                raise ShapeMismatchError(
                    f"Mismatch in shape: grad_output[{index}] has a shape of {Size(gradient.shape)} and "
                    f"output[{index}] has a shape of {Size(layout.size)}."
                )
            if layout is not None and is_complex(gradient.dtype) != is_complex(layout.dtype):
                raise DtypeError(
                    "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch "
                    f"in dtype: grad_output[{index}] has a dtype of {gradient.dtype} and output[{index}] has a dtype "
                    f"of {layout.dtype}. Write `.real`, or `.to({layout.dtype})`."
                )
            if create_graph:
                roots.append((edge, gradient))
                continue
            with recording(False):
                value = materialize(gradient)
            if gradient._layout is gradient._storage.layout:
                gradient._storage.is_shared = True
        roots.append((edge, value))
    return roots


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: object = None,
) -> None:
    """Adds the gradients of `tensors` to the `.grad` of the leaves they depend on.

    Args:
      tensors: Where to start.
      grad_tensors: Cotangent of each; ones for a tensor of one element by default.
      retain_graph: Whether the graph can be run backward again; by default as `create_graph`.
      create_graph: Whether the backward is recorded, so that the gradients can be differentiated again.
      inputs: If given, only these tensors get gradients.

    Raises:
      NoGradPathError: If a tensor does not require grad.
    """
    tensors = _listed(tensors)
    if grad_tensors is not None and isinstance(grad_tensors, Tensor):
        grad_tensors = [grad_tensors]
    if SUBCLASSES:
        tensors, grad_tensors = opened_roots(tensors, grad_tensors)
        inputs = None if inputs is None else opened_inputs(_listed(inputs))
    edges = None if inputs is None else _target_edges(_listed(inputs))
    if create_graph and state.trace is None:
        warn_user(_CYCLE)
    carries = create_graph or state.dual is not None
    roots = _roots(tensors, grad_tensors, carries)
    before = state.grad_enabled
    state.grad_enabled = create_graph
    try:
        keep_graph = create_graph if retain_graph is None else retain_graph
        _run(roots, keep_graph, carries, edges, True)
    finally:
        state.grad_enabled = before


_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak: it is freed by Python's garbage collector alone. We recommend using autograd.grad "
    "when creating the graph to avoid this. If you have to use this function, make sure to reset the .grad fields of "
    "your parameters to None after use to break the cycle and avoid the leak."
)


def _listed(tensors: Any) -> list[Any]:
    if isinstance(tensors, (Tensor, GradientEdge)):
        return [tensors]
    listed = tensors
    if not isinstance(listed, Iterable) or isinstance(listed, str | bytes | Mapping):
        raise TensorTypeError(
            f"A gradient is of a tensor and with respect to tensors, or lists of them, and this is {tensors!r}. Write "
            "for instance `ja.autograd.grad(loss, [w, b])`."
        )
    listed = list(listed)
    for tensor in listed:
        if not isinstance(tensor, (Tensor, GradientEdge)) and not hasattr(tensor, "_gradient_edge"):
            raise TensorTypeError(
                f"A gradient is of a tensor and with respect to tensors, and {tensor!r} is none. Pass the tensors "
                "themselves: `ja.autograd.grad(loss, [w, b])`."
            )
    return listed


def _target_edges(inputs: Sequence[Any]) -> list[Edge]:
    """Returns where `backward(inputs=…)` adds gradients up; tensors that are not leaves keep theirs from then on.

    Raises:
      AutogradError: If there are none, or if one does not require grad.
    """
    if not inputs:
        raise AutogradError("`inputs` argument to `backward()` cannot be empty. Leave it out to reach all leaves.")
    for tensor in inputs:
        if isinstance(tensor, Tensor):
            retain_grad(tensor)
    return [edge for edge in map(edge_of, inputs) if edge is not None]


Several = Sequence[Tensor | GradientEdge]
"""What gradients are of, or with respect to."""


# fmt: off
@overload
def grad(
    outputs: Tensor | GradientEdge | Several, inputs: Tensor | GradientEdge | Several, grad_outputs: Any = None,
    retain_graph: bool | None = None, create_graph: bool = False, only_inputs: bool = True,
    allow_unused: Literal[False] | None = None, is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple[Tensor, ...]: ...
@overload
def grad(
    outputs: Tensor | GradientEdge | Several, inputs: Tensor | GradientEdge | Several, grad_outputs: Any = None,
    retain_graph: bool | None = None, create_graph: bool = False, only_inputs: bool = True,
    allow_unused: bool | None = None, is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]: ...
@overload
def grad(
    outputs: Tensor | GradientEdge | Several, inputs: Mapping[str, Tensor], grad_outputs: Any = None,
    retain_graph: bool | None = None, create_graph: bool = False, only_inputs: bool = True,
    allow_unused: bool | None = None, is_grads_batched: bool = False, materialize_grads: bool = False,
) -> dict[str, Any]: ...
# fmt: on
def grad(
    outputs: Tensor | GradientEdge | Several,
    inputs: Tensor | GradientEdge | Several | Mapping[str, Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...] | dict[str, Tensor | None]:
    """Returns the gradients of `outputs` with respect to `inputs`, without touching any `.grad`.

    Args:
      outputs: What is differentiated.
      inputs: With respect to what; of a dict, such as `dict(model.named_parameters())`, gradients come as a dict.
      grad_outputs: Cotangent of each output; ones for one of one element by default.
      retain_graph: Whether the graph can be run backward again; by default as `create_graph`.
      create_graph: Whether the backward is recorded, so that the gradients can be differentiated again.
      only_inputs: True; it stands here because PyTorch has it. `backward` adds to other `.grad`s.
      allow_unused: Whether the gradient of an input that is not used may be None.
      is_grads_batched: Whether `grad_outputs` have a first dim more, for each index of which there is a backward; so
        have the gradients then.
      materialize_grads: Whether the gradient of an input that is not used is zeros.

    Raises:
      UnusedInputError: If an input is not used and neither `allow_unused` nor `materialize_grads` is set.
      NoInputsError: If there are no inputs.
    """
    if isinstance(inputs, Mapping):
        options = only_inputs, allow_unused, is_grads_batched, materialize_grads
        found = grad(outputs, list(inputs.values()), grad_outputs, retain_graph, create_graph, *options)
        return dict(zip(inputs, found, strict=True))
    if not only_inputs:
        warn_user("only_inputs argument is deprecated and is ignored now (defaults to True)", FutureWarning)
    outputs, inputs = _listed(outputs), _listed(inputs)
    if not inputs:
        raise NoInputsError("`inputs` argument to `grad()` cannot be empty: grad requires non-empty inputs.")
    if materialize_grads and allow_unused is False:
        raise TensorValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False. "
            "Zeros are the gradients of inputs that are not used."
        )
    if grad_outputs is not None and isinstance(grad_outputs, Tensor):
        grad_outputs = [grad_outputs]
    if SUBCLASSES and holds_subclass((*outputs, *inputs, *(grad_outputs or ()))):
        return _of_wrappers(
            outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads, is_grads_batched
        )
    if is_grads_batched:
        return _batched(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads)
    edges = []
    for tensor in inputs:
        edge = edge_of(tensor)
        if edge is None:
            raise AutogradError(NOT_DIFFERENTIATED)
        edges.append(edge)
    carries = create_graph or state.dual is not None  # tensors, whose tangents are computed on the way
    roots = _roots(outputs, grad_outputs, carries)
    with recording(create_graph):
        found = _run(roots, create_graph if retain_graph is None else retain_graph, carries, edges, False)
        results: list[Tensor | None] = []
        for tensor, edge in zip(inputs, edges, strict=True):
            gradient = found.get(edge)
            if gradient is None and materialize_grads:
                if not isinstance(tensor, Tensor):
                    raise AutogradError(
                        "materialize_grads cannot be used when the given input is a GradientEdge, which has no shape, "
                        "and is not used in the graph. Pass the tensor itself."
                    )
                zeros = wrap_gradient(jnp.zeros(tensor._layout.size, tensor.dtype), tensor)
                results.append(zeros.requires_grad_() if create_graph else zeros)
                continue
            if gradient is None and not allow_unused:
                raise UnusedInputError(
                    "One of the differentiated Tensors appears to not have been used in the graph. Set "
                    "allow_unused=True if this is the desired behavior."
                )
            results.append(
                None if gradient is None else wrap_gradient(gradient, tensor if isinstance(tensor, Tensor) else None)
            )
    return tuple(results)


def _of_wrappers(
    outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Any, retain_graph: Any, create_graph: bool,
    allow_unused: Any, materialize_grads: bool, is_batched: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Returns gradients where wrappers are among the tensors: those of inner tensors, put together again."""
    if is_batched:
        options = allow_unused, materialize_grads
        return _batched(outputs, inputs, cotangents, retain_graph, create_graph, *options)
    roots, given = opened_roots(outputs, cotangents)
    leaves = opened_inputs(inputs)
    gradients = grad(roots, leaves, given, retain_graph, create_graph, allow_unused=True)
    found = {id(leaf): gradient for leaf, gradient in zip(leaves, gradients, strict=True)}
    results = [gradient_of(x, lambda leaf: found.get(id(leaf))) for x in inputs]
    if materialize_grads:
        zeros = lambda leaf: wrap_gradient(jnp.zeros(leaf._layout.size, leaf.dtype), leaf)
        results = [gradient_of(x, zeros) if g is None else g for x, g in zip(inputs, results, strict=True)]
    elif not allow_unused and any(gradient is None for gradient in results):
        raise UnusedInputError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
            "this is the desired behavior."
        )
    return tuple(results)


def _batched(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    cotangents: Sequence[Tensor] | None,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
    materialize_grads: bool,
) -> tuple[Tensor | None, ...]:
    """Returns the gradients for each index of the cotangents' first dim, stacked."""
    sizes = {g.shape[0] if g.ndim else 0 for g in cotangents or () if g is not None}
    if len(sizes) != 1 or 0 in sizes:
        raise ShapeMismatchError(
            "`is_grads_batched=True` needs `grad_outputs` whose first dim, the same for all and not 0, counts the "
            "backwards: for an output of shape [3] and 5 of them a tensor of shape [5, 3]."
        )
    (n,) = sizes
    for index, (output, gradient) in enumerate(zip(outputs, cotangents or (), strict=False)):
        layout = None if is_wrapper(output) else edge_layout(output)
        if gradient is not None and layout is not None and tuple(gradient.shape[1:]) != layout.size:
            raise ShapeMismatchError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{index}] has a shape of {list(gradient.shape)} and "
                f"output[{index}] has a shape of {list(layout.size)}."
            )
    keeps = create_graph if retain_graph is None else retain_graph
    options: dict[str, Any] = {"allow_unused": allow_unused, "materialize_grads": materialize_grads}
    mapped = None if create_graph else _mapped(outputs, inputs, cotangents or (), keeps, **options)
    if mapped is not None:
        return mapped
    rows = []
    for i in range(n):
        chosen = [None if g is None else g[i] for g in cotangents or ()]
        rows.append(grad(outputs, inputs, chosen, keeps or i + 1 < n, create_graph, **options))
    with recording(create_graph):
        stack = lambda found: None if found[0] is None else call(lookup("stack"), (list(found),), (0,))
        return tuple(map(stack, zip(*rows, strict=True)))


def _mapped(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    cotangents: Sequence[Tensor | None],
    keeps: bool,
    allow_unused: bool | None,
    materialize_grads: bool,
) -> tuple[Tensor | None, ...] | None:
    """Returns stacked gradients by one backward that JAX maps; None where that cannot be.

    Hooks may keep what they see, and a custom backward may ask for values, so these run once for each index; and so
    does what is not plainly eager, and what is wrong, so that the error is that of a single backward.
    """
    if SUBCLASSES and holds_subclass((*outputs, *inputs, *cotangents)):
        return None
    is_plain = state.trace is None and state.dual is None and state.anomaly is None and state.compiles_tape is None
    roots = [edge_of(y) for y in outputs]
    edges = [edge_of(x) for x in inputs]
    pairs = list(zip(outputs, cotangents, strict=False))
    if not is_plain or len(pairs) < len(roots) or any(edge is None for edge in (*roots, *edges)):
        return None
    if any(ct is None or not isinstance(y, Tensor) or ct.shape[1:] != y.shape for y, ct in pairs):
        return None
    targets = [edge for edge in edges if edge is not None]
    starts = [(edge, None) for edge in roots if edge is not None]
    nodes = nodes_in_order(starts, targets)
    if any(node.hooks is not None or getattr(node, "is_watched", False) for node in nodes):
        return None

    def run(rows: Sequence[Any]) -> list[Any]:
        begun = [(edge, row) for (edge, _), row in zip(starts, rows, strict=True)]
        found = run_engine(begun, True, False, targets, False)
        return [found.get(edge) for edge in targets]

    try:
        with recording(False):
            found = jax.vmap(run)([materialize(ct) for _, ct in pairs if ct is not None])
    except Exception:  # what cannot be mapped, such as a hook that asks for values; an error comes again one by one
        return None
    if any(gradient is None for gradient in found) and (materialize_grads or not allow_unused):
        return None
    for node in () if keeps else nodes:
        node.release()
    return tuple(None if gradient is None else wrap_gradient(gradient) for gradient in found)
