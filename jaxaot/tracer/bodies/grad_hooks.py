"""Hooks that a traced function registers on gradients: those that would be called after the call are refused.

A backward inside of the function calls its hooks on symbols, so that they become part of the graph. A later backward
sees one node for the whole call; what was registered inside of that would never be called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jaxaot.errors import LastingHookError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.trace_state import TraceState
from jaxaot.tape.node import Node


def refuse_lasting_hooks(trace: TraceState, results: Iterable[Any]) -> None:
    """Raises if a hook that the traced function registered could be called after it.

    Args:
      trace: Its trace.
      results: What it returns.

    Raises:
      LastingHookError: If there is one, on a tensor from outside or on what its results depend on.
    """
    if not trace.hooked:
        return
    tensors = [*(x for x in results if isinstance(x, Tensor)), *(tensor for tensor, _ in trace.noted.values())]
    lasting = {token for tensor in tensors for token in _hooks_of(trace, tensor) if token in trace.hooked}
    lines = [line for token, line in trace.hooked.items() if token in lasting]
    if lines:
        raise LastingHookError(
            "A hook on a gradient, or `Tensor.retain_grad()`, is registered inside of a traced function and still "
            "there when that returns:\n\n"
            + "\n".join(f"    {line}" for line in lines)
            + "\n\nA compiled call leaves one node on the tape, so a backward outside of the function would never call "
            "it. Register it on what the function takes or returns, outside:\n\n"
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
