"""Hooks of modules: before and after `forward`, and on the gradients that go out of a module and into it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from jaxaot.errors import HookResultError
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.tape.hooks import RemovableHandle
from jaxaot.tape.modes import state
from jaxaot.transforms.custom_function import Function

_NONE: dict[int, Any] = {}
_zeros = FUNCTIONS[""]["zeros"]


def add_hook(module: Any, kind: str, hook: Callable[..., Any], prepend: bool = False, **flags: bool) -> RemovableHandle:
    """Registers a hook of a module.

    Args:
      module: The module.
      kind: When it is called.
      hook: The function.
      prepend: Whether it is called before those that are there.
      **flags: Name → whether the hook is one of that sort.
    """
    if module._hooks is None:
        module._hooks = {}
    hooks = module._hooks.setdefault(kind, {})
    before = dict(hooks)
    handle = RemovableHandle(hooks, hook)
    if prepend:
        hooks.clear()
        hooks.update({handle.id: hook, **before})
    for name, is_set in flags.items():
        if is_set:
            module._hooks.setdefault(name, {})[handle.id] = True
    return handle


def hooks_of(module: Any, kind: str) -> list[Callable[..., Any]]:
    """Returns the hooks of one kind, in the order in which they are called."""
    return list((module._hooks or {}).get(kind, _NONE).values())


def call_with_hooks(
    module: Any, hooks: dict[str, dict[int, Any]], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Returns the result of a module whose hooks run too."""
    if "compiled" in hooks:
        return hooks["compiled"](*args, **kwargs)  # type: ignore[operator]
    called: set[int] = set()
    result: Any = None
    try:
        for number, hook in list(hooks.get("forward_pre", _NONE).items()):
            if number in hooks.get("pre_with_kwargs", _NONE):
                given = hook(module, args, kwargs)
                if given is not None:
                    if not isinstance(given, tuple) or len(given) != 2:
                        raise HookResultError(
                            f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {given}."
                        )
                    args, kwargs = given
            else:
                given = hook(module, args)
                if given is not None:
                    args = given if isinstance(given, tuple) else (given,)
        backward = None
        if hooks.get("backward") or hooks.get("backward_pre"):
            backward = _Gradients(module, hooks)
            args = backward.watch_inputs(args)
        result = module.forward(*args, **kwargs)
        for number, hook in list(hooks.get("forward", _NONE).items()):
            called.add(number)
            changed = _after(module, hooks, number, hook, args, kwargs, result)
            result = result if changed is None else changed
        return result if backward is None else backward.watch_outputs(result)
    except Exception:
        for number, hook in list(hooks.get("forward", _NONE).items()):
            if number in hooks.get("always_call", _NONE) and number not in called:
                try:
                    _after(module, hooks, number, hook, args, kwargs, result)
                except Exception as error:
                    warnings.warn(
                        "module forward hook with ``always_call=True`` raised an exception that was silenced as "
                        f"another error was raised in forward: {error}",
                        stacklevel=3,
                    )
        raise


def _after(
    module: object,
    hooks: dict[str, dict[int, Any]],
    number: int,
    hook: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: object,
) -> Any:
    if number in hooks.get("with_kwargs", _NONE):
        return hook(module, args, kwargs, result)
    return hook(module, args, result)


class _Same(Function):
    """The identity of several tensors: one node, which all their gradients pass."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        passed = tuple(tensor.view_as(tensor) for tensor in tensors)
        plain = [after for before, after in zip(tensors, passed, strict=True) if not before.requires_grad]
        ctx.mark_non_differentiable(*plain)
        return passed

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients


class _Gradients:
    """The backward hooks of one call of a module."""

    is_made_again = True
    """Whether later calls of a compiled function make it again by its attributes."""

    def __init__(self, module: object, hooks: dict[str, dict[int, Any]]):
        self._module = module
        self._before = list(hooks.get("backward_pre", _NONE).values())
        self._after = list(hooks.get("backward", _NONE).values())
        self._of_outputs: tuple[Any, ...] | None = None
        self._inputs: list[int] | None = None
        self._outputs: list[int] = []
        self._sizes: list[Any] = []
        self._output_sizes: list[Any] = []
        self._n_inputs = self._n_outputs = 0

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the arguments of the module, with the hooks on their gradients set."""
        self._n_inputs = len(args)
        watched, places = _watched(args, self._at_input, lambda node: node.register_hook(self._at_inputs))
        if places is None:
            return args
        self._inputs, self._sizes = places, [(tuple(args[i].shape), args[i].dtype) for i in places]
        return watched

    def watch_outputs(self, result: Any) -> Any:
        """Returns the result of the module, with the hooks on its gradients set."""
        given = result if isinstance(result, tuple) else (result,)
        watched, places = _watched(given, self._at_output, lambda node: node.register_prehook(self._at_outputs))
        if places is None:
            return result
        self._n_outputs, self._outputs = len(given), places
        self._output_sizes = [(tuple(given[i].shape), given[i].dtype) for i in places]
        return watched if isinstance(result, tuple) else watched[0]

    def _at_outputs(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        full = _spread(gradients, self._outputs, self._n_outputs, self._output_sizes)
        for hook in self._before:
            changed = hook(self._module, full)
            if changed is not None:
                changed = changed if isinstance(changed, tuple) else (changed,)
                if len(changed) != self._n_outputs:
                    raise HookResultError(
                        "Backward pre hook returned an invalid number of grad_output, got "
                        f"{len(changed)}, but expected {self._n_outputs}"
                    )
                full = changed
        self._of_outputs = full
        if self._inputs is None:
            for hook in self._after:
                hook(self._module, (None,) * self._n_inputs, full)
            self._of_outputs = None
        return tuple(full[i] for i in self._outputs)

    def _at_inputs(self, gradients: tuple[Any, ...], _: object = None) -> tuple[Any, ...] | None:
        if self._of_outputs is None or self._inputs is None:
            return None  # a gradient of the inputs that did not come through the outputs
        full = _spread(gradients, self._inputs, self._n_inputs, self._sizes)
        for hook in self._after:
            changed = hook(self._module, full, self._of_outputs)
            if changed is not None:
                changed = changed if isinstance(changed, tuple) else (changed,)
                if len(changed) != len(full):
                    raise HookResultError(
                        f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but expected "
                        f"{len(full)}"
                    )
                full = changed
        self._of_outputs = None
        # what flows nowhere stays away, whatever a hook makes of the zeros in its place
        return tuple(None if g is None else full[i] for i, g in zip(self._inputs, gradients, strict=True))

    def _at_output(self, gradient: Tensor) -> Any:
        return self._at_outputs((gradient,))[0]

    def _at_input(self, gradient: Tensor) -> Any:
        found = self._at_inputs((gradient,))
        return None if found is None else found[0]


def _watched(
    values: tuple[Any, ...], on_tensor: Callable[[Tensor], Any], on_node: Callable[[Any], Any]
) -> tuple[tuple[Any, ...], list[int] | None]:
    """Returns values with their tensors behind one node of the tape, hooked, and their places; None without gradients.

    Args:
      values: The values.
      on_tensor: The hook for a tensor that is alone in a trace, whose nodes do not outlive it.
      on_node: Registers the hook of a node.
    """
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not state.grad_enabled or not any(values[i].requires_grad for i in places):
        return values, None
    made = list(values)
    if state.trace is not None and len(places) == 1:
        made[places[0]] = passed = values[places[0]] * 1  # another value of the graph, unlike a clone
        passed.register_hook(on_tensor)
        return tuple(made), places
    several = _Same.apply(*(values[i] for i in places))
    several = several if isinstance(several, tuple) else (several,)
    for i, value in zip(places, several, strict=True):
        made[i] = value
    on_node(next(value.grad_fn for value in several if value.grad_fn is not None))
    return tuple(made), places


def _spread(values: tuple[Any, ...], places: list[int], n: int, sizes: list[Any]) -> tuple[Any, ...]:
    """Returns gradients at their places among `n` values; zeros, as in PyTorch, where a tensor has none."""
    full: list[Any] = [None] * n
    for i, value, (shape, dtype) in zip(places, values, sizes, strict=True):
        full[i] = _zeros(tuple(shape), dtype=dtype) if value is None else value
    return tuple(full)
