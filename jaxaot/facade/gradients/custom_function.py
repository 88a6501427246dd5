"""Functions with a backward of the user's own, on the tape: what `ja.autograd.Function` records.

A call leaves a `FunctionNode`, whose backward calls the user's. What `ctx.save_for_backward` saves are values: they are
those of the end of the forward, whatever is written later, and come back as tensors that stand where the values came
from, so that a recorded backward can be differentiated again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot._typing import Array
from jaxaot.errors import FunctionResultError, MissingMethodError
from jaxaot.facade.dispatch.write import apart_from_hooks, check_writable, record_write
from jaxaot.facade.gradients.function_saved import FunctionSaved, FunctionSavedTensor, is_in
from jaxaot.facade.gradients.grad import recording, wrap_gradient
from jaxaot.facade.memory.counter import count_write, writes_of
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.facade.memory.tensor import UNRECORDED, Tensor, wrap_array
from jaxaot.facade.nodes.nodes import materialize
from jaxaot.facade.nodes.saved import Version
from jaxaot.facade.subclass.subclass import SUBCLASSES, is_wrapper
from jaxaot.facade.view_ops.views import detached
from jaxaot.facade.wrappers.wrapper_function import Opened, OpenedBackward
from jaxaot.ops.promotion import is_inexact
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge, Node, OutputType


class FunctionCtx:
    """What the forward of a custom Function leaves for its backward; any other attribute may be set.

    Attributes:
      needs_input_grad: For each argument, whether its gradient is wanted.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]):
        self.needs_input_grad = needs_input_grad
        self._to_save: tuple[Tensor | None, ...] = ()
        self._for_forward: tuple[Tensor | None, ...] = ()
        self._refill: Opened | None = None
        self._refill_forward: Opened | None = None
        self._pushing: tuple[Tensor | None, ...] | None = None
        self._saved: FunctionSaved | None = None
        self._dirty: tuple[Tensor, ...] = ()
        self._non_differentiable: tuple[Tensor, ...] = ()
        self._materializes_grads = True
        self._materialize_non_diff_grads = True

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Saves tensors, or None, for the `saved_tensors` of `backward`."""
        self._to_save, self._refill = _opened(_saveable("save_for_backward", tensors))

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Saves tensors, or None, for the `saved_tensors` of `jvp`."""
        self._for_forward, self._refill_forward = _opened(_saveable("save_for_forward", tensors))

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Says which arguments the forward wrote in place; they have to be returned."""
        self._dirty = _opened(tensors)[0]

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Says which results have no gradient."""
        self._non_differentiable = _opened(tensors)[0]

    def set_materialize_grads(self, value: bool) -> None:
        """Says whether the backward gets zeros for results that nothing depends on, rather than None."""
        self._materializes_grads = value

    @property
    def _raw_saved_tensors(self) -> tuple[FunctionSavedTensor, ...]:
        """What stands for each of them, and takes hooks."""
        return () if self._saved is None else self._saved.raw()

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors that were saved.

        Raises:
          BackwardTwiceError: If they were freed by an earlier backward.
          AutogradError: If they were computed again for this backward, which read them already.
        """
        if self._pushing is not None:
            refill = self._refill_forward
            if not self._pushing and (self._to_save or (self._saved is not None and self._saved.n_saved)):
                warn_user(_NOTHING_FOR_FORWARD)
            return self._pushing if refill is None else tuple(refill.filled(self._pushing))
        if self._saved is None:
            return ()
        saved = self._saved.once()
        return saved if self._refill is None else tuple(self._refill.filled(saved))

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The same, by an older name."""
        warn_user("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors


_NOTHING_FOR_FORWARD = (
    "The `jvp` of a custom Function reads `ctx.saved_tensors`, and there are none: they are those of "
    "`ctx.save_for_forward(...)`, which was not called. What `save_for_backward` saves is for `backward`. Call both."
)


def _opened(tensors: tuple[Any, ...]) -> tuple[tuple[Any, ...], Opened | None]:
    """Returns inner tensors in the place of wrappers, and what makes wrappers of them; None where there are none."""
    if not SUBCLASSES or not any(map(is_wrapper, tensors)):
        return tensors, None
    opened = Opened(tensors)
    flat = tuple(opened.flat)
    opened.let_go()
    return flat, opened


def _saveable(method: str, tensors: tuple[Any, ...]) -> tuple[Tensor | None, ...]:
    for tensor in tensors:
        if tensor is not None and not isinstance(tensor, Tensor):
            raise FunctionResultError(
                f"{method} can only save variables, but argument is of type {type(tensor).__name__}. Set anything else "
                "as an attribute: `ctx.size = 3`."
            )
    return tensors


@functools.lru_cache(maxsize=1024)
def node_class(name: str) -> type[FunctionNode]:
    """Returns the class of the nodes of a Function, which has its name."""
    return type(name, (FunctionNode,), {"__slots__": ()})


class FunctionNode(Node):
    """A call of a custom Function.

    Attributes:
      ctx: What its forward left.
      argument_types: Shape and dtype of each argument; None for what is no tensor.
    """

    holds_residuals = True
    runs_user_code = True

    def __init__(
        self, name: str, backward: Callable[..., Any], ctx: Any, inputs: Sequence[Any], edges: Sequence[Edge | None]
    ):
        self.ctx = ctx
        self._backward = backward
        self.argument_types: list[Any] = [
            (x._layout.size, x._layout.dtype) if isinstance(x, Tensor) else None for x in inputs
        ]
        self._result_types: list[Any] = []
        self._constant: list[int] = []
        super().__init__(name, edges, 0)

    def __getattr__(self, name: str) -> Any:
        if name == "ctx":  # not set yet
            raise AttributeError(name)
        return getattr(self.ctx, name)

    def output_type(self, index: int) -> OutputType | None:
        found = self._result_types[index]
        return None if found is None else OutputType(*found)

    def finish(self, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        """Notes what the forward returned, and takes what it saved."""
        self.n_outputs = len(results)
        self._result_types = [(r._layout.size, r._layout.dtype) if isinstance(r, Tensor) else None for r in results]
        self._constant = [i for i, r in enumerate(results) if is_in(r, self.ctx._non_differentiable)]
        self.ctx._saved = FunctionSaved(self.ctx, self, inputs, results)
        self.ctx._to_save = ()

    def gradients(self, cotangents: Sequence[Tensor | None]) -> list[Tensor | None]:
        """Returns the gradients of the user's backward: for each argument a tensor of its shape and dtype, or None."""
        given = list(cotangents)
        if self.ctx._materializes_grads:
            kept = [] if self.ctx._materialize_non_diff_grads else self._constant
            for i, wanted in enumerate(self._result_types):
                if given[i] is None and wanted is not None and i not in kept:
                    given[i] = wrap_gradient(jnp.zeros(*wanted))
        found = self._backward(self.ctx, *given)
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        n = len(self.argument_types)
        if len(found) < n or any(g is not None for g in found[n:]):
            raise FunctionResultError(
                f"function {self.name()} returned an incorrect number of gradients (expected {n}, got {len(found)}). "
                "Return one for each argument of `forward`, None for those that have none."
            )
        return [self._fitted(g, i) for i, g in enumerate(found[:n])]

    def tangents(self, push: Callable[..., Any], given: Sequence[Any], results: Sequence[Any]) -> list[Tensor | None]:
        """Returns the tangents of the user's `jvp`: one for each result, or None.

        Args:
          push: The user's `jvp`.
          given: For each argument its tangent; None for what is no tensor.
          results: What the forward returned.
        """
        given = list(given)
        if self.ctx._materializes_grads:
            for i, wanted in enumerate(self.argument_types):
                if given[i] is None and wanted is not None and is_inexact(wanted[1]):
                    given[i] = wrap_array(jnp.zeros(*wanted))
        found = push(self.ctx, *given)
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(found) != len(results):
            raise FunctionResultError(
                f"Function's jvp returned an invalid number of forward gradients (expected {len(results)} but got "
                f"{len(found)}). Return one for each result of {self.name()}, None for those that have none."
            )
        for i, (tangent, result) in enumerate(zip(found, results, strict=True)):
            if tangent is None:
                continue
            if not isinstance(tangent, Tensor):
                raise FunctionResultError(
                    f"expected Variable or None (got {type(tangent).__name__}) for grad output {i}: `jvp` of "
                    f"{self.name()} has to return tensors."
                )
            if (
                not isinstance(result, Tensor)
                or not is_inexact(result.dtype)
                or is_in(result, self.ctx._non_differentiable)
            ):
                raise FunctionResultError(
                    f"Function's jvp returned a gradient at position {i}, but  the corresponding forward output is not "
                    "a differentiable Tensor.You should return None at that position instead."
                )
            if tangent.shape != result.shape:
                raise FunctionResultError(
                    "Trying to set a forward gradient that has a different size than that of the original Tensor, this "
                    f"is not supported. Tensor is of size {list(result.shape)} while the given forward gradient is of "
                    f"size {list(tangent.shape)}."
                )
        return [t if t is None or t.dtype == r.dtype else t.to(r.dtype) for t, r in zip(found, results, strict=True)]

    def _fitted(self, gradient: Any, position: int) -> Any:
        """Returns a gradient as a tensor of its argument's shape and dtype; None if it is not wanted."""
        wanted = self.argument_types[position]
        if gradient is None or self.edges[position] is None or wanted is None:
            return None
        if not isinstance(gradient, Tensor):
            raise FunctionResultError(
                f"expected Variable or None (got {type(gradient).__name__}): `backward` of {self.name()} has to return "
                f"tensors; that for argument {position} is none."
            )
        size, dtype = wanted
        if gradient._layout.size != size:
            if not _broadcasts_to(size, gradient._layout.size):
                raise FunctionResultError(
                    f"Function {self.name()} returned an invalid gradient at index {position} - got "
                    f"{list(gradient.shape)} but expected shape compatible with {list(size)}."
                )
            gradient = gradient.sum_to_size(size)
        return gradient if gradient.dtype == dtype else gradient.to(dtype)

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        saved = self.ctx._saved
        stand_in = saved.held
        given = [ct if ct is None or isinstance(ct, Tensor) else wrap_gradient(ct) for ct in cotangents]
        before, saved.runs = saved.runs, True
        try:
            with recording(create_graph):
                found = self.gradients(given)
                return found if create_graph else [None if g is None else materialize(g) for g in found]
        finally:
            saved.runs = before
            if saved.held is not None:
                saved.held = stand_in

    def release(self) -> None:
        if self.ctx._saved.held:  # what saved nothing can run again
            self.ctx._saved.held = None

    @property
    def cache_key(self) -> Any:
        ctx, backward = self.ctx, self._backward
        types = tuple(self.argument_types), tuple(self._result_types), tuple(ctx._saved._layouts)
        form = backward.form if isinstance(backward, OpenedBackward) else None
        saved = None if ctx._refill is None else ctx._refill.form
        lives = tuple(tensor is not None for tensor in ctx._saved.living())
        return "function", types, ctx.needs_input_grad, ctx._materializes_grads, form, saved, lives

    @property
    def held(self) -> Any:
        return self.ctx._saved.held

    @property
    def versions(self) -> Sequence[Version]:
        """How each saved tensor was, where that is checked."""
        return self.ctx._saved._versions

    @property
    def code(self) -> tuple[Callable[..., Any], dict[str, Any]]:
        """The user's backward, and what the forward left for it besides what it saved."""
        left = {name: value for name, value in vars(self.ctx).items() if not name.startswith("_")}
        left["saved_tensors"] = self.ctx._saved.living()
        backward = self._backward
        if isinstance(backward, OpenedBackward):
            left["inner_tensors"], backward = backward.kept, backward.users
        return backward, left

    def swap_held(self, held: Any, is_same: bool = False) -> Any:
        saved = self.ctx._saved
        before, saved.held, saved._shown = saved.held, held, None
        return before


def _broadcasts_to(size: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Returns whether a shape expands to another one."""
    pairs = zip(reversed(size), reversed(other), strict=False)
    return len(size) <= len(other) and all(a in (1, b) for a, b in pairs)


Attach = Callable[[FunctionNode, Sequence[Array], Sequence[Any], list[int]], Sequence[Array]]


def call_function(
    name: str,
    run: Callable[[FunctionCtx], Any],
    backward: Callable[..., Any],
    push: Callable[..., Any],
    args: tuple[Any, ...],
    attach: Attach,
) -> Any:
    """Returns the results of a custom Function, recorded, and with tangents where an argument has one.

    Args:
      name: Of the node.
      run: Takes the ctx to what the forward returns.
      backward: The user's.
      push: The user's `jvp`.
      args: The arguments of the forward.
      attach: In a trace, returns the values of some results with the gradients of the user's backward.

    Raises:
      FunctionResultError: If what is marked does not fit what is returned.
    """
    level = state.dual
    if level is None or not level.has_tangents(args):
        return _call_recorded(name, run, backward, args, attach)[0]
    with level.paused():
        returned, node, results, to_save = _call_recorded(name, run, backward, args, attach)
        ctx = node.ctx
        ctx._pushing = ctx._for_forward
        moved = level.tangents(args)
        versions = [None if t is None else writes_of(t) for t in moved]
        try:
            found = node.tangents(push, moved, results)
        finally:
            ctx._pushing = None
        _check_shares(level, node, args, list(zip(moved, versions, strict=True)), results, found)
    shown = returned if isinstance(returned, (tuple, list)) else (returned,)
    for result, tangent in zip(shown, found, strict=True):
        if isinstance(result, Tensor) and is_in(result, ctx._dirty):
            zeros = lambda x=result: wrap_array(jnp.zeros(x._layout.size, x.dtype))
            level.store(result, zeros() if tangent is None else tangent)
        elif tangent is not None:
            level.own(result)
            level.hold(result, tangent)
    if ctx._saved is not None:
        ctx._saved.dual = (level, level.frozen_tangents(to_save))
    return returned


def _check_shares(
    level: Any,
    node: FunctionNode,
    args: Sequence[Any],
    moved: Sequence[Any],
    results: Sequence[Any],
    found: Sequence[Any],
) -> None:
    """Raises if tangents do not share memory as what they are tangents of does.

    Raises:
      FunctionResultError: If a `jvp` does not write the tangent of what the forward writes, or returns no view of the
        tangent of what it returns a view of.
    """
    for result, made in zip(results, found, strict=True):
        for arg, (tangent, version) in zip(args, moved, strict=True):
            shares = isinstance(arg, Tensor) and isinstance(result, Tensor) and arg._storage is result._storage
            if not shares or made is None or tangent is None:
                continue
            if is_in(result, node.ctx._dirty):
                if made is not tangent or writes_of(made) == version:
                    raise FunctionResultError(
                        "An inplace custom Function is not modifying the forward mode gradients inplace. If the "
                        "forward is modifying an input inplace, then the jvp function must modify the corresponding "
                        f"gradient inplace, and return it: so has that of {node.name()}."
                    )
            elif made._base_tensor is None or made is tangent:
                raise FunctionResultError(
                    "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning "
                    f"a view. Return one of the tangent, such as `t.view_as(t)`, from that of {node.name()}."
                )
            elif made._storage is not tangent._storage:
                of_what = "the same base as the given grad input" if level.shows_base(arg) else "the given grad input"
                raise FunctionResultError(
                    f"A custom Function is returning a view but the jvp is not returning a view of {of_what}. Take "
                    f"the same part of the tangent in that of {node.name()}."
                )


def _call_recorded(
    name: str, run: Callable[[FunctionCtx], Any], backward: Callable[..., Any], args: tuple[Any, ...], attach: Attach
) -> tuple[Any, FunctionNode, list[Any], tuple[Tensor | None, ...]]:
    """Returns the results for the caller, the node, the results of the forward, and the values saved for `backward`."""
    ctx = FunctionCtx(tuple(isinstance(x, Tensor) and x.requires_grad for x in args))
    edges = [x._gradient_edge() if isinstance(x, Tensor) and state.grad_enabled else None for x in args]
    if_dirty = [
        None if edge is None else apart_from_hooks(x)._gradient_edge() for x, edge in zip(args, edges, strict=True)
    ]
    records = any(edge is not None for edge in edges)
    region, state.region = state.region, None  # the node is added to it when it holds what it saves
    try:
        node = node_class(name)(name, backward, ctx, args, edges)
    finally:
        state.region = region
    # what carries the gradients of the arguments in a trace, before the forward writes them
    carried = [x._read() for x, edge in zip(args, edges, strict=True) if edge is not None] if state.trace else []
    with recording(False):
        returned = run(ctx)
    saved = ctx._to_save
    results = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    _check_dirty(name, ctx, args, results)
    for written in ctx._dirty:
        count_write(written)  # once more than the writes themselves, as in PyTorch
    is_differentiable = [
        records and isinstance(r, Tensor) and is_inexact(r.dtype) and not is_in(r, ctx._non_differentiable)
        for r in results
    ]
    shown = [_as_result(r, args, ctx) for r in results]
    if not records:
        for made in shown if state.grad_enabled else ():  # else they are views as any that are made there
            if isinstance(made, Tensor) and made._base_tensor is not None and made._creation in UNRECORDED:
                made._creation = "custom"
        return _like(returned, shown), node, results, saved
    if ctx._dirty:
        node.edges = tuple(if_dirty[i] if is_in(x, ctx._dirty) else edges[i] for i, x in enumerate(args))
    node.finish(args, results)
    if region is not None:
        region.add(node)
    wanted = [i for i, d in enumerate(is_differentiable) if d]
    values = attach(node, carried, shown, wanted) if state.trace and wanted else [None] * len(wanted)
    for i, value in zip(wanted, values, strict=True):
        if is_in(results[i], ctx._dirty):
            record_write(shown[i], value, Edge(node, i))
            shown[i].grad = None  # a retained gradient was that of what it showed before
        else:
            _give_history(shown[i], node, i, value)
            if shown[i]._base_tensor is not None or any(
                isinstance(x, Tensor) and x._storage is shown[i]._storage for x in args
            ):
                shown[i]._creation = "custom" if len(wanted) == 1 else "several"
    return _like(returned, shown), node, results, saved


def _like(returned: object, results: list[Any]) -> Any:
    return tuple(results) if isinstance(returned, (tuple, list)) else results[0]


def _check_dirty(name: str, ctx: FunctionCtx, args: tuple[Any, ...], results: Sequence[Any]) -> None:
    for tensor in ctx._dirty:
        if not is_in(tensor, results):
            raise FunctionResultError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                f"are modified inplace must all be outputs of the Function, here of {name}."
            )
        if is_in(tensor, args):
            check_writable(tensor, True)
        else:
            warn_user(
                f"ctx.mark_dirty() received a tensor that was not an input of {name}. Only input Tensors that have "
                "been mutated should be passed to ctx.mark_dirty()."
            )
    if any(x._chain for x in ctx._dirty) and sum(isinstance(r, Tensor) for r in results) > 1:
        raise FunctionResultError(
            f"If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
            f"more than one Tensor. {name} does. Write out of place there, or pass a clone."
        )


def _as_result(result: object, args: tuple[Any, ...], ctx: FunctionCtx) -> Any:
    """Returns the caller's tensor for a result: an argument that was not written comes back as an alias."""
    if not isinstance(result, Tensor) or is_in(result, ctx._dirty):
        return result
    if is_in(result, args):
        alias = detached(result)
        alias._base_tensor = result if result._base_tensor is None else result._base_tensor
        return alias
    if result._history is not None and not result.requires_grad:
        result._history, result._chain = None, ()
    return result


def _give_history(tensor: Tensor, node: Node, index: int, value: object) -> None:
    """Makes a result one of a node, whatever it was before; in a trace its value carries the gradients."""
    trace = state.trace
    history = History(tensor._layout, tensor._offset, True, node, index, trace)
    tensor._history, tensor._chain, tensor._view_node = history, (), None
    if trace is not None:
        trace.carry(tensor, history, value)


def no_forward(*_: object, **__: object) -> Any:
    """Raises the error that a Function has no `forward`: what stands for one."""
    raise MissingMethodError(
        "You must implement the forward function for custom autograd.Function. Write `forward(ctx, *args)`, a static "
        "method."
    )


def no_backward(*_: object, **__: object) -> Any:
    """Raises the error that a Function has no `backward`: what stands for one."""
    raise MissingMethodError(
        "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
        "backward mode AD. Write `backward(ctx, *gradients)`, a static method."
    )


def jvp_missing(name: str | None = None) -> MissingMethodError:
    """Returns the error that a Function has no `jvp`, and forward mode needs it."""
    which = "" if name is None else f" `{name}` has none: write `{name}.jvp(ctx, *tangents)`."
    return MissingMethodError(
        f"You must implement the jvp function for custom autograd.Function to use it with forward mode AD.{which}"
    )


def no_jvp(*_: object, **__: object) -> Any:
    """Raises `jvp_missing`: what stands for a `jvp` that there is not."""
    raise jvp_missing()
