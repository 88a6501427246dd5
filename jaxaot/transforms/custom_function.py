"""`ja.autograd.Function`: a forward with a backward of one's own, eager and in graphs.

In a trace the forward runs as any code does, without gradients, and its results are *attached*: they get the gradients
of the user's backward, as a rule of `jax.custom_vjp`. The backward is traced then and there, as a body that captures
what it reaches: saved tensors, attributes of the ctx, globals. So JAX differentiates it as often as is wanted.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap

from jaxaot._jax import is_tracer
from jaxaot._typing import Array
from jaxaot.errors import AutogradError, EagerOnlyError, FunctionResultError
from jaxaot.facade.custom_function import FunctionNode, call_function, jvp_missing, no_backward, no_forward, no_jvp
from jaxaot.facade.dispatch import call
from jaxaot.facade.grad import recording
from jaxaot.facade.history import History
from jaxaot.facade.kernels import conjugate
from jaxaot.facade.tensor import Tensor, wrap_array
from jaxaot.facade.trees import to_tensors
from jaxaot.ops.promotion import strong
from jaxaot.ops.table import op_of
from jaxaot.tape.modes import state
from jaxaot.tape.node import Node
from jaxaot.tape.saved_hooks import without_saved_hooks
from jaxaot.tracer.body import trace_body
from jaxaot.tracer.effects import Keys
from jaxaot.tracer.leaves import LeafSpec
from jaxaot.tracer.pure import is_mapped, run_pure
from jaxaot.tracer.push_pull import push_pull


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
    Instead of taking `ctx` in `forward`, a Function may have a `setup_context(ctx, inputs, output)`. Forward mode needs
    a `jvp(ctx, *tangents)`, and `ja.func.vmap` a `vmap(info, in_dims, *args)`, which returns (output, out_dims), or
    `generate_vmap_rule = True` where the other methods can be mapped as they are.
    """

    forward: Any = staticmethod(no_forward)
    backward: Any = staticmethod(no_backward)
    vjp: Any = staticmethod(no_backward)
    jvp: Any = staticmethod(no_jvp)
    setup_context: Any = None
    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: object) -> Any:
        """Returns (output, out_dims) for arguments that are mapped over some of their dims."""
        raise AutogradError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    def __init__(self, *_: object, **__: object):
        raise AutogradError(
            f"{type(self).__name__} should not be instantiated. Methods on autograd functions are all static, so you "
            f"should invoke them on the class itself: `{type(self).__name__}.apply(x)`."
        )

    @classmethod
    def apply(cls, /, *args: object, **kwargs: Any) -> Any:
        """Returns the result of `forward`, recorded; its gradients are those of `backward`."""
        has_setup = cls.setup_context is not None
        if kwargs or has_setup:
            bound = inspect.signature(cls.forward).bind(*(() if has_setup else (None,)), *args, **kwargs)
            bound.apply_defaults()
            args = bound.args if has_setup else bound.args[1:]

        def run(ctx: Any) -> Any:
            maps = is_mapped()
            if not has_setup:
                if maps and not cls.generate_vmap_rule:
                    raise AutogradError(
                        "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
                        "...), it must override the setup_context staticmethod. Here that is so for `ja.func.vmap`."
                    )
                return cls.forward(ctx, *args)
            returned = _run_mapped(cls, args) if maps else cls.forward(*args)
            cls.setup_context(ctx, args, returned)
            return returned

        def jvp_of_nobody(*_: object) -> Any:
            raise jvp_missing(cls.__name__)

        has_jvp = cls.jvp is not Function.jvp
        own = "vjp" if cls.vjp is not Function.vjp else "backward"
        has_backward = own == "vjp" or cls.backward is not Function.backward
        if own == "vjp" and cls.backward is not Function.backward:
            raise AutogradError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                f"implement one of them: they are two names of one method, and {cls.__name__} has both."
            )
        attach = functools.partial(_attach, cls.jvp if has_jvp else None, has_backward)
        push = cls.jvp if has_jvp else jvp_of_nobody
        return call_function(f"{cls.__name__}Backward", run, getattr(cls, own), push, args, attach)


class InplaceFunction(Function):
    """A Function that may write its argument; PyTorch's older base class, which adds nothing."""


def _attach(
    push: Callable[..., Any] | None,
    has_backward: bool,
    node: FunctionNode,
    inputs: Sequence[Any],
    results: Sequence[Any],
    wanted: list[int],
) -> Sequence[Array]:
    """Returns the values of some results, with the gradients of the user's backward, and the tangents of the `jvp`.

    Args:
      push: The user's `jvp`; None if there is none.
      has_backward: Whether there is a `backward`.
      node: The call.
      inputs: Of the arguments that have an edge, the values that carry their gradients.
      results: What was returned.
      wanted: Positions of the results that gradients flow to.
    """
    saved = node.ctx._saved
    saved.tensors()
    places = [k for k, edge in enumerate(node.edges) if edge is not None]
    with recording(False):
        raw = [strong(value := results[i]._read(), value.dtype) for i in wanted]

    def pull(cotangents: list[Any]) -> list[Any]:
        given: list[Any] = [None] * len(results)
        for i, cotangent in zip(wanted, cotangents, strict=True):
            given[i] = cotangent
        found = node.gradients(given)
        return [found[k] if found[k] is not None else wrap_array(jnp.zeros(*node.argument_types[k])) for k in places]

    def pushed(tangents: list[Any]) -> list[Any]:
        given: list[Any] = [None] * len(node.argument_types)
        for k, tangent in zip(places, tangents, strict=True):
            given[k] = tangent
        node.ctx._pushing = saved.for_forward()
        try:
            found = node.tangents(push, given, results)  # type: ignore[arg-type]
        finally:
            node.ctx._pushing = None
        zeros = lambda i: wrap_array(jnp.zeros(results[i]._layout.size, results[i].dtype))
        return [zeros(i) if (made := found[i]) is None else made for i in wanted]

    back = _Direction(node, pull, [(r.shape, r.dtype) for r in raw], wanted) if has_backward or push is None else None
    there = None if push is None else _Direction(node, pushed, [node.argument_types[k] for k in places], wanted)
    carried = tuple(strong(x, x.dtype) for x in inputs)
    if there is None:
        assert back is not None, "one way there is"
        attached = _rule(node.name(), back, len(places))(tuple(raw), carried, back.captured)
    else:
        captured = there.captured, () if back is None else back.captured
        attached = _push_pull_rule(there, back)(tuple(raw), carried, captured)
    saved.carry(dict(zip(wanted, attached, strict=True)))
    return attached


class _Direction:
    """A derivative of the user's, traced: its body, and what that captured.

    Attributes:
      captured: The values that it captured.
    """

    def __init__(self, node: FunctionNode, run: Callable[[list[Any]], list[Any]], types: Any, wanted: list[int]):
        """Traces it.

        Args:
          node: The call.
          run: Takes cotangents or tangents to what the user's method makes of them.
          types: Shapes and dtypes of what it takes.
          wanted: Positions of the results that gradients flow to.
        """
        try:
            body = trace_body(run, [LeafSpec(tuple(shape), np.dtype(dtype), True, True) for shape, dtype in types])
        except Exception as error:
            if state.anomaly is not None:
                state.anomaly.explain(error, node)
            raise
        trace = state.trace
        self._body = body
        self._refusal: EagerOnlyError | None = None
        if body.writes or body.moves or body.counts:
            # a backward inside of the trace runs the user's own; only one outside of it would run this
            self.captured: tuple[Any, ...] = ()
            self._refusal = EagerOnlyError(
                f"The backward or jvp of {node.name()} writes in place to a tensor that it did not make: one that was "
                "saved, or one from outside, and a compiled backward writes nothing",
                "Write out of place, or to a clone.",
            )
            return
        self._outputs: dict[int, int] = {}  # captured values that are results: to be differentiated again as such
        captured = []
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
                    output = node.ctx._saved.output_of(storage)
                    if output in wanted:
                        self._outputs[position] = wanted.index(output)
                case (_, history, storage):
                    captured.append(trace.read(storage, history, True))
        self.captured = tuple(captured)

    def values(self, shown: Sequence[Any], captured: Sequence[Any]) -> list[Any]:
        """Returns the captured values, with results in place of those that they are."""
        return [shown[self._outputs[i]] if i in self._outputs else value for i, value in enumerate(captured)]

    def __call__(self, values: Sequence[Any], given: Sequence[Any], n: int) -> list[Any]:
        """Returns the first `n` results for what it captured and what it is given.

        Raises:
          EagerOnlyError: If it writes.
        """
        if self._refusal is not None:
            raise self._refusal
        return list(self._body(*given, *values)[:n])


def _rule(name: str, back: _Direction, n_inputs: int) -> Callable[..., tuple[Array, ...]]:
    """Returns the identity on results, with the gradients of a traced backward.

    Args:
      name: Of the node.
      back: The backward.
      n_inputs: The number of gradients.
    """

    @jax.custom_vjp
    def attached(results: Any, inputs: object, captured: Any) -> Any:
        return results

    def forward(results: Any, inputs: object, captured: Any) -> Any:
        shown = attached(results, inputs, captured)
        return shown, (shown, captured)

    def backward(kept: Any, cotangents: Sequence[Any]) -> Any:
        found = back(back.values(*kept), [conjugate(ct) for ct in cotangents], n_inputs)
        return None, tuple(map(conjugate, found)), None

    backward.__name__ = name
    attached.defvjp(forward, backward)
    return attached


def _push_pull_rule(there: _Direction, back: _Direction | None) -> Callable[..., tuple[Array, ...]]:
    """Returns the identity on results, with the tangents of a traced `jvp` and the gradients of a traced backward."""

    @jax.custom_jvp
    def attached(results: Any, inputs: object, captured: Any) -> Any:
        return results

    @attached.defjvp
    def _(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        shown = attached(*primals)
        pushing = there.values(shown, primals[2][0])
        pulling = [] if back is None else back.values(shown, primals[2][1])
        n, n_inputs = len(pushing), len(primals[1])

        def push(*operands: object) -> Sequence[Any]:
            return there(operands[:n], operands[n + len(pulling) :], len(shown))

        def pull(*operands: object) -> Sequence[Any]:
            cotangents = [conjugate(ct) for ct in operands[n + len(pulling) :]]
            assert back is not None, "there is a way back"
            return [conjugate(g) for g in back(operands[n : n + len(pulling)], cotangents, n_inputs)]

        way_back = None if back is None else pull
        return shown, tuple(push_pull(push, way_back, [*pushing, *pulling], tangents[1]))

    return attached


# -- under vmap --------------------------------------------------------------------------------------------------------

_HELP = "See `ja.autograd.Function`."


class VmapInfo(NamedTuple):
    """What a `vmap` staticmethod is told: the size of the mapped dim, and what random numbers do there."""

    batch_size: int
    randomness: str


def _run_mapped(cls: Any, args: tuple[Any, ...]) -> Any:
    """Returns the result of a Function's forward inside of `ja.func.vmap`.

    Raises:
      AutogradError: If it is mapped and does not say how.
    """
    places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
    values = [args[i]._read() for i in places]
    has_rule = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule and not has_rule:
        return cls.forward(*args)

    def filled(given: Sequence[Any]) -> list[Any]:
        full = list(args)
        for place, value in zip(places, given, strict=True):
            full[place] = value
        return full

    @custom_vmap
    def forward(*values: object) -> Any:
        return run_pure(lambda *given: cls.forward(*filled(given)), values, {})

    @forward.def_vmap
    def _(axis_size: int, in_batched: Sequence[bool], *values: object) -> Any:
        if cls.generate_vmap_rule:
            raise AutogradError(
                f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden "
                "vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to "
                f"avoid ambiguity. {_HELP}"
            )
        if not has_rule:
            raise AutogradError(
                f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and "
                f"implement the vmap staticmethod or set generate_vmap_rule=True. {_HELP}"
            )
        in_dims: list[int | None] = [None] * len(args)
        for place, is_batched in zip(places, in_batched, strict=True):
            in_dims[place] = 0 if is_batched else None
        info = VmapInfo(axis_size, "error")
        returned = run_pure(lambda *given: cls.vmap(info, tuple(in_dims), *filled(given)), values, {})
        if not isinstance(returned, tuple) or len(returned) != 2:
            kind = Tensor if isinstance(returned, jax.Array) else type(returned)
            raise FunctionResultError(
                "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
                f"compatible with the output. Got a {kind} instead"
            )
        return _with_dims_first(*returned)

    return to_tensors(forward(*values))


def _with_dims_first(output: object, out_dims: Any) -> tuple[Any, Any]:
    """Returns the output of a `vmap` staticmethod with the mapped dims first, and which results have one.

    Raises:
      FunctionResultError: If there is no dim for each result.
    """
    leaves, tree = jax.tree.flatten(output)
    dims, dims_tree = jax.tree.flatten(out_dims, is_leaf=lambda x: x is None)
    if dims_tree != tree and not (len(dims) == 1 and not isinstance(out_dims, (tuple, list))):
        raise FunctionResultError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. {_HELP}"
        )
    dims = dims * len(leaves) if len(dims) != len(leaves) else dims
    moved = [x if dim is None else jnp.moveaxis(x, dim, 0) for x, dim in zip(leaves, dims, strict=True)]
    return jax.tree.unflatten(tree, moved), jax.tree.unflatten(tree, [dim is not None for dim in dims])


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


def _refuse(*_: object) -> Any:
    raise AutogradError(_TWICE)


_ended.defvjp(lambda value, carriers: (value, None), _refuse)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a `backward` that is not recorded; to differentiate what it returns is an error."""

    @functools.wraps(backward)
    def once(ctx: Any, *args: object) -> Any:
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
    def on_tensors(*args: object, **kwargs: Any) -> Any:
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
