"""Hooks of the tape: what is called when a gradient has been computed, and the handles that take hooks away again.

A node calls, in this order: the *tensor hooks* of its outputs, those that retain gradients, its *prehooks*, and after
its backward its *post hooks*. A leaf calls its tensor hooks, then its node's prehooks, then those that look at it once
its `.grad` has been added to, then its node's post hooks.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from jaxaot.errors import TensorTypeError
from jaxaot.tape.modes import state

hook_numbers = itertools.count()
"""Numbers of hooks, in the order of their registration."""

Hooks = dict[int, Callable[..., Any]]
"""Hooks by their numbers."""


class RemovableHandle:
    """Takes a hook away again, at the latest when a `with` block on it ends.

    Attributes:
      id: The number of the hook.
    """

    __slots__ = ("__weakref__", "_hooks", "id")

    def __init__(self, hooks: Hooks, hook: Callable[..., Any]):
        if not callable(hook):
            raise _no_hook(hook)
        self._hooks = hooks
        self.id = next(hook_numbers)
        hooks[self.id] = hook
        if state.trace is not None:
            state.trace.note_hook(self.id, functools.partial(hooks.pop, self.id, None))  # which does not keep it

    def remove(self) -> None:
        """Takes the hook away."""
        if state.trace is not None:
            state.trace.refuse_removal(self.id)
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def _no_hook(hook: object) -> TensorTypeError:
    return TensorTypeError(
        f"A hook is a function, and {hook!r} is none. Write for instance `x.register_hook(lambda grad: grad * 2)`."
    )


class _NoHook:
    """What cannot be called, in the place of a hook of a node: PyTorch takes it, and refuses in the backward."""

    __slots__ = ("_held",)

    def __init__(self, held: object):
        self._held = held

    def __call__(self, *_: object) -> None:
        raise _no_hook(self._held)


def node_hook(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a hook of a node; where it is none, what says so once it is called.

    A node that nothing calls may so hold any object, which lives as long as it does.
    """
    return hook if callable(hook) else _NoHook(hook)


class NodeHooks:
    """The hooks of a node.

    Attributes:
      tensor: Output index → hooks on its cotangent.
      retained: Output index → what keeps its gradient (`retain_grad`); called after all other hooks on it.
      pre: Hooks on all cotangents.
      post: Hooks on gradients and cotangents.
      together: Hooks on several gradients at once, of which one is of an output of this node.
    """

    __slots__ = ("post", "pre", "retained", "tensor", "together")

    def __init__(self) -> None:
        self.tensor: dict[int, Hooks] = {}
        self.retained: dict[int, Callable[[Any], None]] = {}
        self.pre: Hooks = {}
        self.post: Hooks = {}
        self.together: tuple[Any, ...] = ()


class LeafHooks:
    """The hooks of a leaf, which live as long as it does.

    Attributes:
      tensor: Hooks on its gradient.
      accumulated: Hooks on the leaf, called when its `.grad` has been added to.
      node: Weak reference to its node, if that has hooks of its own.
      together: Hooks on several gradients at once, of which one is the leaf's.
    """

    __slots__ = ("accumulated", "node", "tensor", "together")

    def __init__(self) -> None:
        self.tensor: Hooks = {}
        self.accumulated: Hooks = {}
        self.node: weakref.ref[Any] | None = None
        self.together: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[int]:
        """Yields the numbers of all hooks that a backward calls at the leaf."""
        yield from self.tensor
        yield from self.accumulated
        node = None if self.node is None else self.node()
        if node is not None:
            yield from node._own_hooks().pre
            yield from node._own_hooks().post
        for group in self.together:
            yield from group.hooks
            yield from group.accumulated

    def __bool__(self) -> bool:
        return any(True for _ in self)


def carry_retained(before: Any, index: int, after: Any, after_index: int, is_moved: bool) -> None:
    """Has the output of one node keep its gradient if that of another one does: the tensor is now produced by it.

    Args:
      before: The node that produced the tensor, with hooks.
      index: Which output of it.
      after: The node that produces it from now on.
      after_index: Which output of that.
      is_moved: Whether the first one keeps no gradient any more.
    """
    retained = before.hooks.retained
    if index not in retained:
        return
    if after.hooks is None:
        after.hooks = NodeHooks()
    after.hooks.retained[after_index] = retained.pop(index) if is_moved else retained[index]
