"""Hooks on saved tensors: which pair packs what the tape saves, in this thread.

`pack_hook` is called with each tensor that an operation saves for its backward and may return anything; `unpack_hook`
is called with that when the backward needs the tensor, and has to return a tensor like the one that was packed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax

from jaxaot._immutable import immutable
from jaxaot._scopes import Annotation
from jaxaot.errors import ArgumentError, SavedHooksDisabledError, UsageError
from jaxaot.ir.regions import HOOKS_SCOPE
from jaxaot.tape.modes import state

Hook = Callable[[Any], Any]
"""A function of one value: what a pack hook is, and an unpack hook."""


@immutable(eq=False)
class HookPair:
    """A pack hook and its unpack hook.

    Two pairs are equal if their functions are, or if these carry equal `user_cache_hash` attributes: a compiled call
    under equal pairs is the same program.

    Attributes:
      pack: Takes a tensor to anything.
      unpack: Takes that to a tensor like the first.
      inputs: Whether compiled calls pack their inputs too, which live anyway. Eager operations pack all they save.
    """

    pack: Hook
    unpack: Hook
    inputs: bool = False

    def __post_init__(self) -> None:
        for name, hook in (("pack_hook", self.pack), ("unpack_hook", self.unpack)):
            if not callable(hook):
                raise ArgumentError(
                    f"incompatible function arguments: {name} must be a function of one argument, not "
                    f"{type(hook).__name__}. Write `(lambda x: x, lambda x: x)` for hooks that change nothing."
                )

    @property
    def identity(self) -> tuple[Any, ...]:
        """What tells it apart from other pairs."""
        pack, unpack = (getattr(hook, "user_cache_hash", hook) for hook in (self.pack, self.unpack))
        return pack, unpack, self.inputs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HookPair) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __str__(self) -> str:
        names = [getattr(hook, "__name__", type(hook).__name__) for hook in (self.pack, self.unpack)]
        return f"({', '.join(names)}{', inputs=True' if self.inputs else ''})"


class saved_tensors_hooks:
    """Inside, what operations save for their backward is packed, and unpacked when the backward needs it.

    The innermost pair is the one that is called. Around a compiled call, or around a part of a compiled function, the
    hooks become part of its graphs: what is saved of what is computed inside is packed right after its last use in the
    forward, and unpacked right before its first use in the backward.

    Args:
      pack_hook: Takes a tensor to anything. It must not write to the tensor.
      unpack_hook: Takes what `pack_hook` returned to a tensor of the same shape.
      inputs: Whether compiled calls pack their inputs and parameters too, which live anyway.
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any], *, inputs: bool = False):
        self._pair = HookPair(pack_hook, unpack_hook, inputs)
        self._scopes: list[contextlib.AbstractContextManager[Any]] = []

    def __enter__(self) -> None:
        if state.hooks_disabled is not None:
            raise SavedHooksDisabledError(state.hooks_disabled)
        is_traced = state.trace is not None
        scope = (
            jax.named_scope(Annotation(HOOKS_SCOPE, self._pair, stays=True)) if is_traced else contextlib.nullcontext()
        )
        scope.__enter__()
        self._scopes.append(scope)
        state.hooks_outside = (state.saved_hooks, state.hooks_outside)
        _set_hooks(self._pair)

    def __exit__(self, *error: Any) -> None:
        # a backward puts back what was entered before it: a hook that leaves in it has left nothing
        if state.hooks_outside is None:
            raise UsageError("No `saved_tensors_hooks` are entered in this thread, so there are none to leave.")
        before, state.hooks_outside = state.hooks_outside
        _set_hooks(before)
        if self._scopes:
            self._scopes.pop().__exit__(*error)


@contextlib.contextmanager
def without_saved_hooks() -> Iterator[None]:
    """Inside, nothing is packed."""
    before = state.saved_hooks
    _set_hooks(None)
    try:
        yield
    finally:
        _set_hooks(before)


def _set_hooks(pair: HookPair | None) -> None:
    state.saved_hooks = pair
    state.note_saving()


class disable_saved_tensors_hooks:
    """Inside, `saved_tensors_hooks` cannot be used.

    Args:
      error_message: What the error says.
    """

    def __init__(self, error_message: str):
        self._message = error_message
        self._before: list[str | None] = []

    def __enter__(self) -> None:
        if state.saved_hooks is not None:
            raise SavedHooksDisabledError(self._message)
        self._before.append(state.hooks_disabled)
        state.hooks_disabled = self._message

    def __exit__(self, *_: object) -> None:
        state.hooks_disabled = self._before.pop()
