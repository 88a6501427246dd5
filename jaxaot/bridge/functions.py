"""`torch.autograd.Function` on jaxaot's tape.

C++ runs the forward with handles, keeps what it saves, and gives each result a node, which is the `ctx` of the call. To
C++ all shells may have gradients, so there is one wherever gradients are recorded. It is *adopted* when a result is
first used: a function of jaxaot's with the same backward stands on the tape in its place, and C++ forgets the node.
Nothing of PyTorch is patched.
"""

from __future__ import annotations

import weakref
from typing import Any

from jaxaot.bridge.exchange import unwrapped, wrapped
from jaxaot.bridge.library import TO_JAX, torch
from jaxaot.bridge.modes import called_back
from jaxaot.bridge.tensor import ADOPT, Tensor, forget_node, handles_of, held_by, with_held
from jaxaot.errors import NoCounterpartError
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor as Held
from jaxaot.tape.modes import state
from jaxaot.transforms.custom_function import Function

_adopted: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
"""Node of C++ that was adopted → its results on the tape."""


def adopt(handle: Any, node: Any) -> None:
    """Puts what C++ noted of a custom Function onto jaxaot's tape; other functions are there already.

    Args:
      handle: One of its results.
      node: That of C++.
    """
    if not _is_custom(node):
        return
    before, state.grad_enabled = state.grad_enabled, True
    try:
        if node not in _adopted:
            _adopt(node)
        elif _adopted[node]:  # what the backward unpacked
            with_held(handle, _adopted[node][handles_of(node, [handle])[0][0]])
            forget_node(handle)
    finally:
        state.grad_enabled = before


def _is_custom(node: Any) -> bool:
    return isinstance(node, torch.autograd.function.BackwardCFunction)


ADOPT.append(adopt)


def _adopt(node: Any) -> None:
    there = dict(handles_of(node))
    for handle in there.values():
        forget_node(handle)
        if handle.__dict__.pop("_may_be_result", False):  # an argument that the forward returned as it is
            with_held(handle, handle.__wrapped__.detach())
    edges = [_input(*edge) for edge in node.next_functions if edge[0] is not None]
    places = [i for i, may_be in enumerate(node.needs_input_grad) if may_be]
    if not any(x is not None and x.requires_grad for x in edges):
        _adopted[node] = []
        return
    wanted = {i for i, x in zip(places, edges, strict=True) if x is not None and x.requires_grad}
    node.needs_input_grad = tuple(i in wanted for i in range(len(node.needs_input_grad)))
    results = [there[i].__wrapped__ if i in there else _blank(m) for i, m in enumerate(node._input_metadata)]
    made = _function(node, results, places).apply(*edges)
    for i, handle in there.items():
        with_held(handle, made[i])
    _adopted[node] = list(made)


def _input(of: Any, nr: int) -> Any:
    """Returns the tensor that an edge of C++ comes from; None where no gradient goes."""
    if hasattr(of, "variable"):
        return held_by(of.variable) if isinstance(of.variable, Tensor) else None
    if not _is_custom(of):
        alive = dict(handles_of(of))
        if nr not in alive:
            raise NoCounterpartError(
                f"C++ recorded `{of.name()}` on a tensor that is on JAX, before a custom Function, and nothing keeps "
                "its result. Give it a name."
            )
        return alive[nr].__wrapped__
    if of not in _adopted:
        _adopt(of)
    return _adopted[of][nr] if _adopted[of] else None


def _blank(metadata: Any) -> Held:
    """Returns what stands for a result that nobody keeps, and that another Function may have taken."""
    return FUNCTIONS[""]["zeros"](tuple(metadata.shape), dtype=TO_JAX[metadata.dtype])


def _function(node: Any, results: list[Held], places: list[int]) -> type[Function]:
    """Returns a function of jaxaot's with the results of a call that C++ made, and its backward."""

    def forward(ctx: Any, *inputs: Any) -> Any:
        return tuple(results)

    def backward(ctx: Any, *gradients: Any) -> Any:
        found = called_back(node._forward_cls.backward, node, *map(wrapped, gradients))
        found = found if isinstance(found, tuple) else (found,)
        return tuple(unwrapped(found[i]) for i in places)

    name, methods = type(node).__name__.removesuffix("Backward"), {"forward": forward, "backward": backward}
    return type(name, (Function,), {name: staticmethod(method) for name, method in methods.items()})
