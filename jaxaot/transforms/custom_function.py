"""`ja.autograd.Function`: a forward with a backward of one's own, eager and in graphs.

In a trace the forward runs as any code does, without gradients, and its results are *attached*: they get the gradients
of the user's backward, as a rule of `jax.custom_vjp`. The backward is traced then and there, as a body that captures
what it reaches: saved tensors, attributes of the ctx, globals. So JAX differentiates it as often as is wanted.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap
from jax.custom_derivatives import SymbolicZero

from jaxaot import _trees as pytree
from jaxaot._jax import InnermostMap, is_tracer
from jaxaot._typing import Array
from jaxaot.errors import AutogradError, EagerOnlyError, FunctionResultError, NoDerivativeError
from jaxaot.facade.gradients.custom_function import (
    FunctionNode,
    call_function,
    jvp_missing,
    no_backward,
    no_forward,
    no_jvp,
    node_class,
)
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.kernels.grad_kernels import conjugate
from jaxaot.facade.marks.trees import to_tensors
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.facade.subclass.subclass import SUBCLASSES
from jaxaot.facade.wrappers.wrapper_function import OpenedCall
from jaxaot.ops.promotion import strong
from jaxaot.tape.modes import state
from jaxaot.tape.node import Node
from jaxaot.tracer.bodies.body import trace_body
from jaxaot.tracer.bodies.effects import Keys
from jaxaot.tracer.bodies.leaves import LeafSpec
from jaxaot.tracer.bodies.pure import is_mapped, is_transformed, run_pure
from jaxaot.tracer.bodies.push_pull import push_pull

_OF_NODES = ("metadata", "name", "next_functions", "register_hook", "_register_hook_dict")


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

    The gradient is the user's wherever the call stands: eagerly, in `ja.compile`, in `ja.func.functionalize`,
    under `checkpoint`. Instead of taking `ctx` in `forward`, a Function may have a `setup_context(ctx, inputs,
    output)`. Forward mode needs a `jvp(ctx, *tangents)`, and `ja.func.vmap` a `vmap(info, in_dims, *args)`, which
    returns (output, out_dims), or `generate_vmap_rule = True` where the other methods can be mapped as they are.
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

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._backward_cls = node_class(f"{cls.__name__}Backward")

    def __init__(self, *_: object, **__: object):
        warn_user(
            f"{type(self).__name__} should not be instantiated. Methods on autograd functions are all static, so you "
            f"should invoke them on the class itself: `{type(self).__name__}.apply(x)`.",
            DeprecationWarning,
        )

    def __getattr__(self, name: str) -> Any:
        if name in _OF_NODES:
            raise AutogradError(
                f"Attribute '{name}' is invalid for this instance of {type(self).__name__}: it belongs to nodes, and "
                "the underlying PyNode has already been deallocated, or there never was one. Write "
                f"`{type(self).__name__}.apply(x).grad_fn.{name}`."
            )
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __call__(self, *_: object, **__: object) -> Any:
        raise AutogradError(
            "Legacy autograd function with non-static forward method is deprecated. Write static methods, and "
            f"`{type(self).__name__}.apply(x)` in place of `{type(self).__name__}()(x)`."
        )

    @classmethod
    def apply(cls, /, *args: object, **kwargs: Any) -> Any:
        """Returns the result of `forward`, recorded; its gradients are those of `backward`."""
        has_setup = cls.setup_context is not None
        named: dict[str, Any] = {}
        if kwargs or has_setup:
            bound = inspect.signature(cls.forward).bind(*(() if has_setup else (None,)), *args, **kwargs)
            bound.apply_defaults()
            args, named = bound.args if has_setup else bound.args[1:], bound.kwargs
            _check_named(cls.__name__, named)

        def run(ctx: Any) -> Any:
            if not has_setup:
                if is_transformed():
                    raise AutogradError(
                        "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
                        f"...), it must override the setup_context staticmethod. Split `{cls.__name__}.forward(ctx, "
                        "...)` into `forward(...)` and `setup_context(ctx, inputs, output)`."
                    )
                return cls.forward(ctx, *args, **named)
            returned = _run_mapped(cls, args, named) if is_mapped() else cls.forward(*args, **named)
            cls.setup_context(ctx, args, returned)
            _check_returned(ctx, args, returned)
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
        push, pull = cls.jvp if has_jvp else jvp_of_nobody, getattr(cls, own)
        opened, forward, given = OpenedCall(cls.__name__, args) if SUBCLASSES else None, run, args
        if opened is not None:
            forward, push, pull = opened.run(run), opened.push(push), opened.backward(pull)
            given = tuple(opened.arguments.flat)
        attach = functools.partial(_attach, push if has_jvp else None, has_backward)
        name = f"{cls.__name__}{'Generated' * is_transformed()}Backward"
        returned = call_function(name, forward, pull, push, given, attach)
        return returned if opened is None else opened.finish(returned)


def _check_named(name: str, named: dict[str, Any]) -> None:
    """Raises if a tensor is among the arguments that `forward` takes by name alone."""
    tensors = [key for key, value in named.items() if any(isinstance(x, Tensor) for x in pytree.leaves(value))]
    if tensors:
        raise NoDerivativeError(
            f"{name}.apply: kwarg-only Tensor args are not supported, and {', '.join(tensors)} of `forward` is one. "
            "`backward` returns a gradient for each positional argument and has none to return for it. Remove the `*` "
            "before it in the signature of `forward`."
        )


def _check_returned(ctx: Any, args: Sequence[Any], returned: Any) -> None:
    """Raises if a `setup_context` saves an argument that the forward returned: that would not be the result."""
    results = returned if isinstance(returned, (tuple, list)) else (returned,)
    for tensor in (*ctx._to_save, *ctx._for_forward):
        if tensor is None or any(tensor is dirty for dirty in ctx._dirty):
            continue
        if any(tensor is x for x in args) and any(tensor is x for x in results):
            raise FunctionResultError(
                "A input that has been returned as-is as output is being saved for backward. This is not supported if "
                "you override setup_context. You should return and save a view of the input instead, e.g. with "
                "x.view_as(x) or setup ctx inside the forward function itself."
            )


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

    def pull(cotangents: list[Any], places_given: Sequence[int] = tuple(wanted)) -> list[Any]:
        given: list[Any] = [None] * len(results)
        for i, cotangent in zip(places_given, cotangents, strict=True):
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

    types = [(r.shape, r.dtype) for r in raw]
    if has_backward and push is None and not node.ctx._materializes_grads and 1 < len(wanted) <= _MAX_WITHOUT_ZEROS:
        backs = {}
        for some in _subsets(len(wanted)):
            pulled = functools.partial(pull, places_given=[wanted[k] for k in some])
            try:
                backs[some] = _Direction(node, pulled, [types[k] for k in some], wanted)
            except Exception as error:  # it matters only where these are the cotangents that there are
                backs[some] = error
        return _finish(saved, wanted, _rule_without_zeros(node.name(), backs, len(places))(tuple(raw), inputs))
    back = _Direction(node, pull, types, wanted) if has_backward else None
    there = None if push is None else _Direction(node, pushed, [node.argument_types[k] for k in places], wanted)
    carried = tuple(strong(x, x.dtype) for x in inputs)
    if there is None:
        captured = () if back is None else back.captured
        attached = _rule(node.name(), back, len(places))(tuple(raw), carried, captured)
    else:
        captured = there.captured, () if back is None else back.captured
        attached = _push_pull_rule(there, back)(tuple(raw), carried, captured)
    return _finish(saved, wanted, attached)


_MAX_WITHOUT_ZEROS = 4
"""Results of a Function up to which its backward is traced for each choice of cotangents that are not zero."""


def _finish(saved: Any, wanted: Sequence[int], attached: Sequence[Array]) -> Sequence[Array]:
    saved.carry(dict(zip(wanted, attached, strict=True)))
    return attached


def _subsets(n: int) -> list[tuple[int, ...]]:
    """Returns the choices of some of `n` places, the most first."""
    return [some for size in range(n, 0, -1) for some in itertools.combinations(range(n), size)]


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
            specs = [LeafSpec(tuple(shape), np.dtype(dtype), True, True) for shape, dtype in types]
            body = trace_body(run, specs, what=f"The backward or `jvp` of {node.name()}")
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


def _rule(name: str, back: _Direction | None, n_inputs: int) -> Callable[..., tuple[Array, ...]]:
    """Returns the identity on results, with the gradients of a traced backward.

    Args:
      name: Of the node.
      back: The backward; None if there is none, which only a gradient finds out.
      n_inputs: The number of gradients.
    """

    @jax.custom_vjp
    def attached(results: Any, inputs: object, captured: Any) -> Any:
        return results

    def forward(results: Any, inputs: object, captured: Any) -> Any:
        shown = attached(results, inputs, captured)
        return shown, (shown, captured)

    def backward(kept: Any, cotangents: Sequence[Any]) -> Any:
        if back is None:
            return no_backward()
        found = back(back.values(*kept), [conjugate(ct) for ct in cotangents], n_inputs)
        return None, tuple(map(conjugate, found)), None

    backward.__name__ = name
    attached.defvjp(forward, backward)
    return attached


def _rule_without_zeros(name: str, backs: dict[tuple[int, ...], Any], n_inputs: int) -> Callable[..., Any]:
    """Returns what `_rule` does, with a backward for each choice of cotangents that are not zero.

    Args:
      name: Of the node.
      backs: For each choice the traced backward, or the exception that tracing it raised.
      n_inputs: The number of gradients.
    """
    captured = {some: back.captured for some, back in backs.items() if isinstance(back, _Direction)}

    @jax.custom_vjp
    def attached(results: Any, inputs: object, captured: Any) -> Any:
        return results

    def forward(results: Any, inputs: object, captured: Any) -> Any:
        plain = pytree.mapped(lambda primal: primal.value, (results, inputs, captured))
        shown = attached(*plain)
        return shown, (shown, plain[2])

    def backward(kept: Any, cotangents: Sequence[Any]) -> Any:
        shown, values = kept
        some = tuple(k for k, ct in enumerate(cotangents) if not isinstance(ct, SymbolicZero))
        back = backs[some]
        if not isinstance(back, _Direction):
            raise back
        found = back(back.values(shown, values[some]), [conjugate(cotangents[k]) for k in some], n_inputs)
        return None, tuple(map(conjugate, found)), None

    backward.__name__ = name
    attached.defvjp(forward, backward, symbolic_zeros=True)
    return lambda results, inputs: attached(results, tuple(strong(x, x.dtype) for x in inputs), captured)


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


def _run_mapped(cls: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Returns the result of a Function's forward inside of `ja.func.vmap`.

    Raises:
      AutogradError: If it is mapped and does not say how.
    """
    if cls.generate_vmap_rule and cls.vmap is Function.vmap:
        return cls.forward(*args, **named)
    leaves, tree = pytree.flatten(args, is_leaf=lambda x: x is None)
    places = [i for i, x in enumerate(leaves) if isinstance(x, Tensor)]
    randomness = state.trace.randomness

    def filled(given: Sequence[Any], others: Sequence[Any] = leaves) -> Any:
        full = list(others)
        for place, value in zip(places, given, strict=True):
            full[place] = value
        return pytree.unflatten(tree, full)

    def by_rule(size: int, axes: Sequence[int | None], values: Sequence[Any]) -> Any:
        _check_rule(cls)
        info, in_dims = VmapInfo(size, randomness), filled(axes, [None] * len(leaves))
        returned = run_pure(lambda *given: cls.vmap(info, in_dims, *filled(given), **named), tuple(values), {})
        if not isinstance(returned, tuple) or len(returned) != 2:
            kind = Tensor if isinstance(returned, jax.Array) else type(returned)
            raise FunctionResultError(
                "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
                f"compatible with the output. Got a {kind} instead"
            )
        return returned

    def run(values: Sequence[Any]) -> Any:
        mapping = InnermostMap.running()
        if mapping is None:  # another transformation takes the derivatives that the Function says
            return within(*map(jax.lax.stop_gradient, values))
        wholes, axes = zip(*map(mapping.whole, values), strict=True) if values else ((), ())
        with mapping.outside():
            if all(axis is None for axis in axes):
                return run(values)
            output, out_dims = _spread_dims(*by_rule(mapping.size, axes, wholes))
        parts = map(mapping.part, pytree.leaves(output), out_dims)
        return pytree.unflatten(pytree.structure(output), list(parts))

    @custom_vmap
    def within(*values: object) -> Any:
        return run_pure(lambda *given: cls.forward(*filled(given), **named), values, {})

    @within.def_vmap
    def _(axis_size: int, in_batched: Sequence[bool], *values: object) -> Any:
        axes = [0 if is_batched else None for is_batched in in_batched]
        output, out_dims = _spread_dims(*by_rule(axis_size, axes, values))
        leaves, structure = pytree.flatten(output)
        moved = [x if dim is None else jnp.moveaxis(x, dim, 0) for x, dim in zip(leaves, out_dims, strict=True)]
        return structure.unflatten(moved), structure.unflatten([dim is not None for dim in out_dims])

    return to_tensors(run([leaves[i]._read() for i in places]))


def _check_rule(cls: Any) -> None:
    """Raises unless a Function says how it is mapped, in one way."""
    if cls.generate_vmap_rule:
        raise AutogradError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden "
            "vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to "
            f"avoid ambiguity. {_HELP}"
        )
    if cls.vmap is Function.vmap:
        raise AutogradError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and "
            f"implement the vmap staticmethod or set generate_vmap_rule=True. {_HELP}"
        )


def _spread_dims(output: Any, out_dims: Any) -> tuple[Any, list[int | None]]:
    """Returns the output of a `vmap` staticmethod, and the mapped dim of each of its leaves.

    Raises:
      FunctionResultError: If there is no dim for each result.
    """
    leaves, tree = pytree.flatten(output)
    dims, dims_tree = pytree.flatten(out_dims, is_leaf=lambda x: x is None)
    if dims_tree != tree and not (len(dims) == 1 and not isinstance(out_dims, (tuple, list))):
        raise FunctionResultError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. {_HELP}"
        )
    dims = dims * len(leaves) if len(dims) != len(leaves) else dims
    return output, [dim if dim is None else dim % leaf.ndim for dim, leaf in zip(dims, leaves, strict=True)]


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
