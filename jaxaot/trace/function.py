"""`ja.autograd.Function`: a forward with a backward of one's own, eager and in graphs.

In a trace the forward runs as any code does, without gradients, and its results are *attached*: they get the gradients
of the user's backward, as a rule of `jax.custom_vjp`. The backward is traced then and there, as a body that captures
what it reaches: saved tensors, attributes of the ctx, globals. So JAX differentiates it as often as is wanted.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_tracer
from jaxaot._typing import Array
from jaxaot.autograd.modes import state
from jaxaot.autograd.node import Node
from jaxaot.autograd.saved_hooks import without_saved_hooks
from jaxaot.errors import AutogradError, FunctionResultError
from jaxaot.ops.promotion import strong
from jaxaot.ops.table import op_of
from jaxaot.tensor.dispatch import call
from jaxaot.tensor.function import FunctionNode, call_function, no_rule
from jaxaot.tensor.grad import recording
from jaxaot.tensor.history import History
from jaxaot.tensor.kernels import conjugate
from jaxaot.tensor.tensor import Tensor, wrap_array
from jaxaot.trace.body import Body, trace_body
from jaxaot.trace.effects import Keys
from jaxaot.trace.leaves import LeafSpec


class Function:
    """A function of tensors with a backward of one's own (`torch.autograd.Function`).

        class Double(ja.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return grad * 2 * x

        y = Double.apply(x)

    The gradient is the user's wherever the call stands: eagerly, in `ja.compile`, `ja.functionalize`, `ja.checkpoint`.
    Instead of taking `ctx` in `forward`, a Function may have a `setup_context(ctx, inputs, output)`.
    """

    forward: Any = staticmethod(no_rule("forward"))
    backward: Any = staticmethod(no_rule("backward"))
    vjp: Any = staticmethod(no_rule("backward"))
    setup_context: Any = None

    def __init__(self, *_: Any, **__: Any):
        raise AutogradError(
            f"{type(self).__name__} should not be instantiated. Methods on autograd functions are all static, so you "
            f"should invoke them on the class itself: `{type(self).__name__}.apply(x)`."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Returns what `forward` returns, recorded; its gradients are those of `backward`."""
        has_setup = cls.setup_context is not None
        if kwargs:
            bound = inspect.signature(cls.forward).bind(*(() if has_setup else (None,)), *args, **kwargs)
            bound.apply_defaults()
            args = bound.args if has_setup else bound.args[1:]

        def run(ctx: Any) -> Any:
            if not has_setup:
                return cls.forward(ctx, *args)
            returned = cls.forward(*args)
            cls.setup_context(ctx, args, returned)
            return returned

        own = "vjp" if cls.vjp is not Function.vjp else "backward"
        return call_function(f"{cls.__name__}Backward", run, getattr(cls, own), args, _attach)


def _attach(node: FunctionNode, inputs: Sequence[Any], results: Sequence[Any], wanted: list[int]) -> Sequence[Array]:
    """Returns the values of some results, with the gradients of the user's backward.

    Args:
      node: The call.
      inputs: Of the arguments that have an edge, the values that carry their gradients.
      results: What was returned.
      wanted: Positions of the results that gradients flow to.
    """
    trace = state.trace
    saved = node.ctx._saved
    saved.tensors()
    places = [k for k, edge in enumerate(node.edges) if edge is not None]
    with recording(False):
        raw = [strong(value := results[i]._read(), value.dtype) for i in wanted]
    specs = [LeafSpec(tuple(r.shape), np.dtype(r.dtype), True, True) for r in raw]

    def run(cotangents: list[Any]) -> list[Any]:
        given: list[Any] = [None] * len(results)
        for i, cotangent in zip(wanted, cotangents, strict=True):
            given[i] = cotangent
        found = node.gradients(given)
        return [found[k] if found[k] is not None else wrap_array(jnp.zeros(*node.argument_types[k])) for k in places]

    try:
        body = trace_body(run, specs)
    except Exception as error:
        if state.anomaly is not None:
            state.anomaly.explain(error, node)
        raise
    if body.writes or body.moves or body.counts:
        raise FunctionResultError(
            f"The backward of {node.name()} writes in place to a tensor that it did not make: one that was saved, or "
            "one from outside. It is part of a graph here, and may run at any time or never. Write out of place, "
            "or to a clone."
        )
    outputs, captured = {}, []
    keys = Keys(trace) if body.generators else None
    for position, origin in enumerate(body.captured):
        match origin:
            case ("stream", generator):
                assert keys is not None
                captured.append(keys.of(generator))
            case ("storage", storage):
                owner = body.owners.get(id(storage))
                records = owner is not None and owner.requires_grad
                captured.append(trace.read(storage, owner if records else None, records))
                output = saved.output_of(storage)
                if output in wanted:
                    outputs[position] = wanted.index(output)
            case (_, history, storage):
                captured.append(trace.read(storage, history, True))
    rule = _rule(body, outputs, len(places))
    attached = rule(tuple(raw), tuple(strong(x, x.dtype) for x in inputs), tuple(captured))
    saved.carry(dict(zip(wanted, attached, strict=True)))
    return attached


def _rule(body: Body, outputs: dict[int, int], n_inputs: int) -> Callable[..., tuple[Array, ...]]:
    """Returns the identity on results, with the gradients of a traced backward.

    Args:
      body: From cotangents and captured values to gradients.
      outputs: Captured values that are results, by their positions: as such they are to be differentiated again.
      n_inputs: The number of gradients.
    """

    @jax.custom_vjp
    def attached(results: Any, inputs: Any, captured: Any) -> Any:
        return results

    def forward(results: Any, inputs: Any, captured: Any) -> Any:
        shown = attached(results, inputs, captured)
        return shown, (shown, captured)

    def backward(kept: Any, cotangents: Any) -> Any:
        shown, captured = kept
        values = [shown[outputs[i]] if i in outputs else value for i, value in enumerate(captured)]
        found = body(*map(conjugate, cotangents), *values)[:n_inputs]
        return None, tuple(map(conjugate, found)), None

    attached.defvjp(forward, backward)
    return attached


# -- derivatives that end there ----------------------------------------------------------------------------------------

_TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


class _EndNode(Node):
    """What a backward that is differentiated once leaves on the tape."""

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        raise AutogradError(_TWICE)


@jax.custom_vjp
def _ended(value: Array, carriers: Any) -> Array:
    """Returns the value, whose derivative with respect to anything else is an error."""
    return value


def _refuse(*_: Any) -> Any:
    raise AutogradError(_TWICE)


_ended.defvjp(lambda value, carriers: (value, None), _refuse)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a `backward` that is not recorded; to differentiate what it returns is an error."""

    @functools.wraps(backward)
    def once(ctx: Any, *args: Any) -> Any:
        with recording(False):
            returned = backward(ctx, *args)
        carriers = [x for x in (*args, *ctx.saved_tensors) if isinstance(x, Tensor) and x.requires_grad]
        if not state.grad_enabled or not carriers:
            return returned
        found = [
            _end(x, carriers) if isinstance(x, Tensor) else x
            for x in (returned if isinstance(returned, tuple) else (returned,))
        ]
        return tuple(found) if isinstance(returned, tuple) else found[0]

    return once


def _end(tensor: Tensor, carriers: Sequence[Tensor]) -> Tensor:
    with recording(False):
        value = tensor._read()
    if is_tracer(value):
        value = _ended(value, [x._read() for x in carriers])
    made = wrap_array(value)
    made._storage.is_shared = True
    edges = [x._gradient_edge() for x in carriers]
    history = made._history = History(made._layout, 0, True, _EndNode("DelayedErrorBackward", edges), 0, state.trace)
    if state.trace is not None:
        state.trace.carry(made, history, value)
    return made


# -- functions of JAX --------------------------------------------------------------------------------------------------


def jax_function(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function of jax values as one of tensors, recorded as a single operation.

        attention = ja.autograd.jax_function(flash_attention)      # a jax.custom_vjp, a Pallas kernel, anything
        y = attention(q, k, v, causal=True)

    Its gradients are those of JAX, so those of its `custom_vjp` or `custom_jvp`, of any order. Eagerly it is compiled.

    Args:
      fn: A pure function of arrays, in any pytrees, to arrays; arguments that are no tensors or arrays are static.
    """
    rows: dict[Any, Any] = {}

    @functools.wraps(fn)
    def on_tensors(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree.flatten((args, kwargs))
        is_value = [isinstance(leaf, (Tensor, jax.Array, np.ndarray)) for leaf in leaves]
        static = tuple((type(x), x) for x, wanted in zip(leaves, is_value, strict=True) if not wanted)
        key = (tree, tuple(is_value), static)
        if key not in rows:
            rows[key] = _row(fn, leaves, tree, is_value)
        row, result_tree = rows[key]
        results = call(row, ([x for x, wanted in zip(leaves, is_value, strict=True) if wanted],), ())
        return jax.tree.unflatten(result_tree[0], results)

    return on_tensors


def _row(fn: Callable[..., Any], leaves: Sequence[Any], tree: Any, is_value: Sequence[bool]) -> tuple[Any, list[Any]]:
    """Returns a function as an op on a list of values, and where the tree of its result will be."""
    fixed = [None if wanted else leaf for leaf, wanted in zip(leaves, is_value, strict=True)]
    result_tree: list[Any] = [None]

    def run(values: Sequence[Any]) -> list[Any]:
        given = iter(values)
        filled = [next(given) if wanted else leaf for leaf, wanted in zip(fixed, is_value, strict=True)]
        args, kwargs = jax.tree.unflatten(tree, filled)
        with without_saved_hooks():  # the tape packs what the op saves
            found, result_tree[0] = jax.tree.flatten(fn(*args, **kwargs))
        return found

    name = getattr(fn, "__name__", "jax_function")
    return op_of(run, f"{name if name.isidentifier() else 'jax_function'}(Tensor[] values) -> Tensor[]"), result_tree
