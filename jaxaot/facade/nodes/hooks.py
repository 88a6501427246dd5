"""Hooks on gradients: registering them, and calling them with tensors in the middle of a backward.

A gradient is an array, or a tensor where the backward is itself recorded. Hooks see tensors, may write them in place,
and may return others.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from jaxaot._jax import is_tracer
from jaxaot._placement import placed_like
from jaxaot._typing import Array
from jaxaot.errors import AutogradError, HookResultError, TensorTypeError, TensorValueError
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.facade.subclass.wrapper_gradients import carried
from jaxaot.tape.hooks import Hooks, LeafHooks, RemovableHandle
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge, Node
from jaxaot.views.layout import Layout, contiguous, dense_like


def wrap_gradient(array: Any, like: Tensor | None = None) -> Tensor:
    """Returns a gradient as a tensor; other holders of the array are expected."""
    if isinstance(array, Tensor):
        return array
    layout = None if like is None else dense_like(like._layout, array.dtype)
    if is_tracer(array):
        array = jax.lax.stop_gradient(array)
    if like is not None and like._layout is like._storage.layout:
        array = placed_like(array, like._storage.array, leads=False)
    made = wrap_array(array, layout)
    made._storage.is_shared = True
    return made


# -- calling them ------------------------------------------------------------------------------------------------------


def call_hooks(hooks: Hooks, gradient: Array) -> Any:
    """Returns the gradient that tensor hooks let through."""
    for hook in list(hooks.values()):
        shown = None if gradient is None else wrap_gradient(gradient)
        result = hook(shown)
        gradient = let_through(hook, shown if result is None else result, gradient, shown)
    return gradient


def call_prehooks(hooks: Hooks, cotangents: Sequence[Any]) -> list[Any]:
    """Returns the cotangents that the prehooks of a node let through."""
    taken = list(cotangents)
    for hook in list(hooks.values()):
        shown = tuple(None if ct is None else wrap_gradient(ct) for ct in taken)
        taken = _all_taken(hook, hook(shown), taken, shown)
    return taken


def call_post_hooks(
    hooks: Hooks, gradients: Sequence[Any], cotangents: Sequence[Any], places: Sequence[int | None]
) -> list[Any]:
    """Returns the gradients that the post hooks of a node let through.

    Args:
      hooks: Its hooks.
      gradients: What its backward computed, for each edge.
      cotangents: What that was given.
      places: For each operand that hooks see, which edge is its own, or None.
    """
    taken = list(gradients)
    for hook in list(hooks.values()):
        before = [None if place is None else taken[place] for place in places]
        shown = tuple(None if g is None else wrap_gradient(g) for g in before)
        given = tuple(None if ct is None else wrap_gradient(ct) for ct in cotangents)
        after = _all_taken(hook, hook(shown, given), before, shown)
        for place, gradient in zip(places, after, strict=True):
            if place is not None:
                taken[place] = gradient
    return taken


def call_on_leaf(hook: Callable[[Tensor], Any], leaf: Tensor) -> None:
    """Calls a hook that sees a leaf once its `.grad` has been added to.

    Raises:
      TensorTypeError: If it returns something.
    """
    result = hook(leaf)
    if result is not None:
        raise TensorTypeError(
            f"Tensor post accumulate grad hooks should return None. '{_name(hook)}' returned "
            f"{type(result).__name__}, which would not be used: write to the tensor or to its `.grad`."
        )


def call_node_hooks(node: Node, cotangents: list[Any]) -> list[Any]:
    """Returns the cotangents of a node that the hooks on its outputs let through; `retain_grad` keeps those."""
    hooks = node.hooks
    if hooks is not None:
        for index, on_output in list(hooks.tensor.items()):
            if cotangents[index] is not None or not node.is_joined:
                cotangents[index] = call_hooks(on_output, cotangents[index])
        for index, keep in list(hooks.retained.items()):
            if cotangents[index] is not None:
                keep(cotangents[index])
    return cotangents


def _all_taken(hook: Callable[..., Any], results: Any, before: Sequence[Any], shown: Sequence[Any]) -> list[Any]:
    if results is None:
        results = shown
    elif not isinstance(results, tuple):
        raise TensorTypeError(f"expected tuple, but hook returned '{type(results).__name__}'")
    if len(results) != len(before):
        raise HookResultError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(results)}, but expected "
            f"{len(before)}). Return a tuple with a tensor or None for each value that the hook got, or None to "
            "leave them as they are."
        )
    return [let_through(hook, *values) for values in zip(results, before, shown, strict=True)]


def let_through(hook: Callable[..., Any], result: object, before: Any, shown: Tensor | None) -> Any:
    """Returns the gradient to go on with: what a hook returned, or wrote into what it was shown."""
    if result is None:
        return None
    if shown is None:
        raise HookResultError(
            f"hook '{_name(hook)}' can't replace a None gradient with a non-None value. Nothing that is differentiated "
            "depends on the tensor: return None where the hook gets None."
        )
    if not isinstance(result, Tensor):
        raise TensorTypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
    if result is shown and shown is not None:
        return before if isinstance(before, Tensor) or shown._storage.array is before else result._read()
    if shown is not None and tuple(result.shape) != tuple(shown.shape):
        raise HookResultError(
            f"hook '{_name(hook)}' has changed the size of value: it returned {list(result.shape)} for a gradient of "
            f"{list(shown.shape)}. Return a tensor of the gradient's shape, or None to leave it as it is."
        )
    if shown is not None and result.dtype != shown.dtype:
        raise HookResultError(
            f"hook '{_name(hook)}' has changed the type of value (was {shown.dtype} got {result.dtype}). Return "
            "`result.to(grad.dtype)`."
        )
    if isinstance(before, Tensor):
        return result
    array = result._read()
    result._storage.is_shared = True
    return array


def _name(hook: Callable[..., Any]) -> str:
    return getattr(hook, "__name__", type(hook).__name__)


# -- registering them --------------------------------------------------------------------------------------------------

NEEDS_GRADIENT = "cannot register a hook on a tensor that doesn't require gradient"


def register_hook(tensor: Tensor, hook: Callable[[Tensor], Any]) -> RemovableHandle:
    """Calls `hook(gradient)` whenever a gradient of `tensor` is computed; what it returns replaces the gradient.

    Raises:
      AutogradError: If the tensor does not require grad.
    """
    edge = tensor._gradient_edge()
    if edge is None:
        raise AutogradError(NEEDS_GRADIENT)
    if tensor.is_leaf:
        return RemovableHandle(leaf_hooks(tensor).tensor, hook)
    handle = RemovableHandle(edge.node._own_hooks().tensor.setdefault(edge.index, {}), hook)
    if state.trace is not None:
        state.trace.hooks_on[handle.id] = HookOn(tensor, edge, hook, weakref.ref(handle))
    return handle


def register_post_accumulate_grad_hook(tensor: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Calls `hook(tensor)` whenever the `.grad` of this leaf has been added to.

    Raises:
      AutogradError: If the tensor does not require grad, or is no leaf.
    """
    if not tensor.requires_grad:
        raise AutogradError(NEEDS_GRADIENT)
    if not tensor.is_leaf:
        raise AutogradError(
            "post accumulate grad hooks cannot be registered on non-leaf tensors: they have no `.grad`. Register it on "
            "a leaf, or use `tensor.register_hook`, which sees the gradient itself."
        )
    return RemovableHandle(leaf_hooks(tensor).accumulated, hook)


def get_backward_hooks(tensor: Tensor) -> Hooks | None:
    """Returns the hooks on the gradient of a tensor, by their numbers; None where there never was one."""
    tensor._ask("_backward_hooks")
    edge = None if tensor.is_leaf else tensor._gradient_edge()
    if edge is None:
        return None if tensor._hooks is None else tensor._hooks.tensor
    return None if edge.node.hooks is None else edge.node.hooks.tensor.get(edge.index)


def set_backward_hooks(tensor: Tensor, hooks: Hooks | None) -> None:
    """Makes the functions of a dict the hooks on the gradient of a tensor."""
    hooks = {} if hooks is None else hooks
    edge = None if tensor.is_leaf else tensor._gradient_edge()
    if edge is None:
        leaf_hooks(tensor).tensor = hooks
    else:
        edge.node._own_hooks().tensor[edge.index] = hooks


def _undeletable(name: str) -> Callable[[Tensor], None]:
    def refuse(self: Tensor) -> None:
        raise AutogradError(f"Deletion of {name} not allowed! Write `x.detach()` for a tensor without it.")

    return refuse


PROPERTIES = {
    "_backward_hooks": property(get_backward_hooks, set_backward_hooks, _undeletable("_backward_hooks")),
    "_grad_fn": property(lambda self: self.grad_fn, None, _undeletable("_grad_fn")),
}
"""What code of PyTorch's that looks behind the scenes asks of a tensor."""


def leaf_hooks(tensor: Tensor) -> LeafHooks:
    """Returns the hooks of a leaf, which has none yet at first."""
    if state.trace is not None:
        state.trace.note(tensor)
    if tensor._hooks is None:
        tensor._hooks = LeafHooks()
    return tensor._hooks


def retain_grad(tensor: Tensor) -> None:
    """Makes a tensor that is not a leaf keep its gradient in `.grad`, also after it was written in place.

    Raises:
      AutogradError: If the tensor does not require grad.
    """
    edge = tensor._gradient_edge()
    if edge is None:
        raise AutogradError("can't retain_grad on Tensor that has requires_grad=False")
    if tensor.is_leaf:
        return
    keep = Keep(weakref.ref(tensor))
    retained = edge.node._own_hooks().retained
    if edge.index not in retained:
        retained[edge.index] = keep
        if state.trace is not None:
            state.trace.note_hook(keep, lambda: retained.pop(edge.index, None))
            state.trace.hooks_on[keep] = HookOn(tensor, edge, None, lambda: None)


class HookOn(NamedTuple):
    """A hook that a traced function registered on a tensor that is no leaf.

    Attributes:
      tensor: The tensor.
      edge: Where its gradient went then.
      hook: The hook; None if the tensor retains its gradient.
      handle: Returns what takes the hook away, if somebody still has that.
    """

    tensor: Tensor
    edge: Edge
    hook: Callable[..., Any] | None
    handle: Callable[[], Any]


class Keep(NamedTuple):
    """Adds what arrives to the `.grad` of a tensor that is not a leaf, as long as that lives."""

    tensor: weakref.ref[Tensor]

    def __call__(self, gradient: Array) -> None:
        kept = self.tensor()
        if kept is not None:
            arrived = wrap_gradient(gradient, kept)
            kept.grad = arrived if kept.grad is None else kept.grad + arrived


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor goes; may stand for the tensor in `ja.autograd.grad` and `backward`."""

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Returns where the gradient of a tensor goes.

    Raises:
      AutogradError: If it does not require grad.
    """
    edge = tensor._gradient_edge()
    if edge is None:
        raise AutogradError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*edge)


class MultiHandle(tuple[RemovableHandle, ...]):
    """Takes the hooks on several tensors away again."""

    __slots__ = ()

    def remove(self) -> None:
        """Takes the hooks away."""
        for handle in self:
            handle.remove()

    def __enter__(self) -> MultiHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[[Any], None], *, mode: str = "all") -> MultiHandle:
    """Calls a function once for each backward, with the gradients of several tensors.

    Args:
      tensors: The tensors.
      fn: With mode "all" it is called with a list when all gradients that the backward computes are there, None for
        the tensors that it does not reach; with "any", with the first gradient as soon as it is there.
      mode: "all" or "any".

    Raises:
      TensorValueError: If there is no such mode.
      AutogradError: If a tensor does not require grad.
    """
    if mode not in ("all", "any"):
        raise TensorValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if not all(tensor.requires_grad for tensor in tensors):
        raise AutogradError(f"{NEEDS_GRADIENT}, and each tensor of a multi-grad hook gets one")
    nodes = [[get_gradient_edge(x).node for x in carried(tensor) if x.requires_grad] for tensor in tensors]
    seen: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()  # running pass → [count, gradients]
    lock = threading.Lock()

    def hook_of(index: int) -> Callable[[Any], None]:
        def hook(gradient: Array) -> None:
            running = state.backward_pass
            with lock:
                entry = seen.setdefault(running, [0, [None] * len(nodes)])
                entry[0] += 1
                entry[1][index] = gradient
                n_awaited = 1 if mode == "any" else sum(any(map(running.runs, of_one)) for of_one in nodes)
                is_complete = entry[0] == n_awaited
            if is_complete:
                fn(gradient if mode == "any" else entry[1])

        return hook

    return MultiHandle(tensor.register_hook(hook_of(i)) for i, tensor in enumerate(tensors))


def edge_layout(what: Tensor | GradientEdge) -> Layout | None:
    """Returns how the gradient of a tensor or of a `GradientEdge` lies in memory; None if its node cannot say."""
    if not isinstance(what, GradientEdge):
        return what._layout
    found = what.node.output_type(what.output_nr)
    return None if found is None else contiguous(*found)


def edge_of(what: object) -> Edge | None:
    """Returns the edge of a tensor or of a `GradientEdge`; None if it does not require grad."""
    return Edge(what.node, what.output_nr) if isinstance(what, GradientEdge) else what._gradient_edge()
