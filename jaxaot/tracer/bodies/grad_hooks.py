"""Hooks that a traced function registers on gradients, and that would be called after the call.

A backward inside of the function calls its hooks on symbols, so that they become part of the graph. A later backward
sees one node for the whole call. So a tensor with such a hook becomes an output of the graph, and each call registers
the hook on it: `runtime/inner_gradients.py` says what flows to it. Where a call cannot do so, the function runs in
parts, or is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jaxaot import _trees as pytree
from jaxaot.errors import AttributeChangeError, LastingHookError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.nodes.hooks import HookOn
from jaxaot.facade.trace_state import TraceState
from jaxaot.plan.world import HookWrite
from jaxaot.tape.node import Node
from jaxaot.tracer.numbers.recipes import Recipes

_PLACE = (("root", "fn"),)


def registered_again(trace: TraceState, result: Any, recipes: Recipes) -> list[HookWrite]:
    """Returns the hooks that each call registers again; they last no longer in the trace.

    Args:
      trace: The trace.
      result: What the function returned.
      recipes: Says how a hook is made again.
    """
    writes: list[HookWrite] = []
    if not trace.hooks_on:
        return writes
    lasting = _lasting(trace, [*pytree.leaves(result), *recipes.tensors])
    for token, on in list(trace.hooks_on.items()):
        is_own = id(on.tensor) not in trace.noted and not on.tensor._is_view()  # the storage is then an output
        is_at_output = is_own and on.tensor._gradient_edge() == on.edge and not _is_shared(trace, on)
        if token not in lasting or not is_at_output or on.handle() is not None:
            continue
        try:
            hook = None if on.hook is None else recipes.give_function(on.hook, _PLACE)
        except AttributeChangeError:
            continue
        writes.append(HookWrite(recipes.give(on.tensor, _PLACE), hook))
        del trace.hooked[token]
    return writes


_SAME = {"CloneBackward0", "ToCopyBackward0", "NativeDropoutBackward0", "DropoutBackward0", "AliasBackward0"}
"""Operations whose result may be the value that they were given."""


def _is_shared(trace: TraceState, on: HookOn) -> bool:
    """Returns whether another tensor may have the same value of the graph, so that its gradient is not told apart."""
    storage = on.tensor._storage
    others = (*(reference() for reference in trace.created), *(storage for storage, _ in trace.storages.values()))
    is_held = any(other is not None and other is not storage and other.array is storage.array for other in others)
    return is_held or on.edge.node.name() in _SAME


def _lasting(trace: TraceState, results: Iterable[Any]) -> set[Any]:
    """Returns the hooks of the function that a backward after it could call."""
    tensors = [*(x for x in results if isinstance(x, Tensor)), *(tensor for tensor, _ in trace.noted.values())]
    return {token for tensor in tensors for token in _hooks_of(trace, tensor) if token in trace.hooked}


def refuse_lasting_hooks(trace: TraceState, results: Iterable[Any]) -> None:
    """Raises if a hook that the traced function registered could be called after it.

    Args:
      trace: Its trace.
      results: What it returns.

    Raises:
      GraphBreak: If so, and the trace may stop there.
      LastingHookError: Else, if there is one, on a tensor from outside or on what its results depend on.
    """
    if not trace.hooked:
        return
    lasting = _lasting(trace, results)
    lines = [line for token, line in trace.hooked.items() if token in lasting]
    if lines:
        trace.stop("a hook on a gradient is registered that no graph can have", lines[0])
        raise LastingHookError(
            "A hook on a gradient, or `Tensor.retain_grad()`, is registered inside of a traced function and still "
            "there when that returns:\n\n"
            + "\n".join(f"    {line}" for line in lines)
            + "\n\nA compiled call registers hooks again on what it computes itself, but not inside of `scan` or "
            "`cond`, on views, on what is written later, on what was there before, on nodes, or where the handle is "
            "kept. Register it outside:\n\n"
            "    x.register_hook(hook)          # before the call\n"
            "    out = fn(x)\n"
            "    out.register_hook(hook)        # or `out.retain_grad()`\n\n"
            "A backward that is run inside of the function does call its hooks; take them away before it returns, with "
            "`handle.remove()`."
        )


def _hooks_of(trace: TraceState, tensor: Tensor) -> Iterator[Any]:
    """Yields the hooks that a backward from a tensor could call, as far as the trace made its graph."""
    if tensor._hooks:
        yield from tensor._hooks
    edge = tensor._gradient_edge() if tensor.requires_grad and not tensor.is_leaf else None
    pending: list[Node] = [] if edge is None else [edge.node]
    seen: set[Node] = set(pending)
    while pending:
        node = pending.pop()
        if node.held is None:  # a backward inside ran it, and another one is refused
            continue
        if node.is_sink:
            yield from node.variable._hooks or ()
        if node.hooks is not None:
            for on_output in node.hooks.tensor.values():
                yield from on_output
            yield from node.hooks.pre
            yield from node.hooks.post
            yield from node.hooks.retained.values()
            for group in node.hooks.together:
                yield from group.hooks
        if node.sequence_number < trace.first_node:
            continue
        for following in node.edges:
            if following is not None and following.node not in seen:
                seen.add(following.node)
                pending.append(following.node)
