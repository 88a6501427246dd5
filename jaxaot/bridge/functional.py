"""A module of PyTorch as a pure function of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxaot.bridge.exchange import to_jax, unwrapped, wrapped
from jaxaot.bridge.library import torch
from jaxaot.bridge.modules import move
from jaxaot.bridge.scope import around_trace
from jaxaot.bridge.tensor import Tensor, held_by
from jaxaot.errors import TraceError
from jaxaot.tracer.bodies.pure import run_pure

_trees = torch.utils._pytree
_ARRAYS = (jax.Array, np.ndarray, np.generic)


def functional(module: Any, *, buffers: bool = False) -> tuple[Any, ...]:
    """Returns a module as a pure function of arrays, and the arrays of its parameters.

        fn, params = ja.torch.functional(model)
        loss = lambda params, x: fn(params, x).mean()
        gradients = jax.jit(jax.grad(loss))(params, x)

    The function goes through `jax.grad`, `jax.jit`, `jax.vmap`, optax and shardings. The module is moved to JAX, and
    calls of the function leave its parameters and buffers as they are. Its mode, `train()` or `eval()`, is that of the
    call. In a graph of JAX, dropout draws once for all calls.

    Args:
      module: A `torch.nn.Module`.
      buffers: Whether buffers are arrays too. Then this returns `fn, params, buffers`, and `fn(params, buffers, …)`
        returns the result and the buffers afterwards, by name: the running statistics of BatchNorm, which it writes
        in training. Otherwise they are constants, which no forward may write.

    Returns:
      `fn(params, *args, **kwargs)`, and a dict of name → array, with those that are tied under one name. Arguments are
      arrays, tensors or other objects; tensors in the result are arrays, in the containers that the module returns.

    Raises:
      DtypeError: If JAX has no dtypes of 64 bits.
    """
    move(module)
    of_parameters = _arrays(module.named_parameters())
    if buffers:
        return _function(module, True), of_parameters, _arrays(module.named_buffers())
    inner = _function(module, False)
    return (lambda params, *args, **kwargs: inner(params, {}, *args, **kwargs)[0]), of_parameters


def _arrays(named: Any) -> dict[str, Any]:
    return {name: held_by(tensor).detach().clone().jax() for name, tensor in named}


def _function(module: Any, has_buffers: bool) -> Callable[..., Any]:
    def fn(params: dict[str, Any], buffers: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        leaves, tree = _trees.tree_flatten((args, kwargs))
        leaves = [held_by(x).detach().jax() if isinstance(x, Tensor) else x for x in to_jax(leaves)]
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, _ARRAYS)]
        found: list[Any] = []

        def on_tensors(params: Any, buffers: Any, given: Any) -> Any:
            state, all_args = wrapped({**params, **buffers}), list(leaves)
            for i, tensor in zip(places, given, strict=True):
                all_args[i] = wrapped(tensor)
            given_args, given_kwargs = _trees.tree_unflatten(all_args, tree)
            with around_trace():
                result = torch.func.functional_call(module, state, given_args, given_kwargs)
            parts, of_result = _trees.tree_flatten(result)
            found[:] = [of_result, [None if isinstance(part, torch.Tensor) else part for part in parts]]
            tensors = [unwrapped(part) for part in parts if isinstance(part, torch.Tensor)]
            return tensors, {name: unwrapped(state[name]) for name in buffers}

        arrays = ({**params}, {**buffers}, [leaves[i] for i in places])
        try:
            tensors, after = run_pure(on_tensors, arrays, {}, is_functionalized=True)
        except TraceError as error:
            if has_buffers:
                raise
            error.add_note("To have the buffers that a forward writes: `ja.torch.functional(module, buffers=True)`.")
            raise
        of_result, rest = found
        made = iter(tensors)
        result = _trees.tree_unflatten([next(made) if part is None else part for part in rest], of_result)
        _known_to_jax(result)
        return result, after

    return fn


class _Context:
    """What a class of results says of its instances besides their parts."""

    def __init__(self, context: Any):
        self.context = context

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Context) and self.context == other.context

    def __hash__(self) -> int:
        return 0


def _known_to_jax(result: Any) -> None:
    """Has JAX take classes of results apart, such as those of transformers, as PyTorch does."""
    of_class = _trees.SUPPORTED_NODES.get(type(result))
    if of_class is None or not jax.tree_util.all_leaves([result]):
        return

    def flatten(value: Any) -> Any:
        parts, context = of_class.flatten_fn(value)
        return parts, _Context(context)

    jax.tree_util.register_pytree_node(
        type(result), flatten, lambda of, parts: of_class.unflatten_fn(list(parts), of.context)
    )
