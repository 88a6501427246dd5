"""remat(fn): a plain JAX function whose gradient saves what a policy says."""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import config
from jaxaot._jax import close_jaxpr, make_jaxpr_object, trace_context
from jaxaot.errors import ArgumentError
from jaxaot.partition.budget import check_budget
from jaxaot.partition.policies import get_policy
from jaxaot.remat.call import RematCall
from jaxaot.tensor.tensor import Tensor

MAX_GRAPHS = 64
"""How many graphs are kept for each function; the least recently used one is dropped."""

_graphs: weakref.WeakKeyDictionary[Any, OrderedDict[Any, Graph]] = weakref.WeakKeyDictionary()


class Graph:
    """A function traced for some arguments.

    Attributes:
      call: The graph and how it is cut.
      closed_over: Arrays that the function uses without being passed; the first inputs of the graph.
      out_tree: Tree of the result.
    """

    def __init__(self, call: RematCall, closed_over: Sequence[Any], out_tree: Any):
        self.call, self.closed_over, self.out_tree = call, tuple(closed_over), out_tree


def remat(fn: Callable[..., Any] | None = None, *, policy: Any = None, memory_budget: Any = None) -> Any:
    """Returns `fn`, whose gradient keeps between forward and backward only what a policy chooses; else recomputes.

        @ja.jit
        def step(params, batch):
            return jax.value_and_grad(ja.remat(loss, memory_budget=0.2))(params, batch)

    Where it is differentiated, the joint graph of forward and backward is cut in two, and what the backward computes
    again waits for the cotangents, so that XLA cannot compute it early. It works under every transformation of JAX,
    forward mode and derivatives of any order included.

    On CPU XLA drops the barriers of a plain `jax.jit`, and with them the recomputation: jit the outermost function by
    `ja.jit`. On GPU and TPU any `jax.jit` will do.

    Arrays, Python floats and complex numbers among the arguments are traced; ints, strings, None, functions and other
    objects are part of the program. As under `jax.jit`, `fn` has to be pure: its graph is kept and used again for
    arguments of the same types.

    Args:
      fn: A function of pytrees of arrays; left out, a decorator is returned.
      policy: What may be saved: the name of a policy or one itself; by default the setting in force.
      memory_budget: The most that may be saved: a fraction of what `save_all` would save, bytes such as `"512MiB"`, or
        what everything has to fit in, such as `"fit:16GiB"`; by default the setting in force.

    Raises:
      PolicyError: If there is no such policy.
      BudgetError: If the budget cannot be read.
    """
    if fn is None:
        return functools.partial(remat, policy=policy, memory_budget=memory_budget)
    if policy is not None:
        get_policy(policy)
    check_budget(memory_budget)
    given: Callable[..., Any] = fn

    @functools.wraps(fn)
    def rematerialized(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree.flatten((args, kwargs))
        refuse_tensors(leaves, given)
        is_traced = tuple(map(_is_array, leaves))
        values = [x for x, traced in zip(leaves, is_traced, strict=True) if traced]
        statics = [x for x, traced in zip(leaves, is_traced, strict=True) if not traced]

        def flat(values: Sequence[Any]) -> Any:
            moving, fixed = iter(values), iter(statics)
            call_args, call_kwargs = jax.tree.unflatten(tree, [next(moving if t else fixed) for t in is_traced])
            return given(*call_args, **call_kwargs)

        settings = config.get()
        chosen = settings.policy if policy is None else policy
        budget = settings.memory_budget if memory_budget is None else memory_budget
        key = tree, is_traced, tuple((type(x), x) for x in statics), chosen, budget, settings
        graph = graph_of(given, flat, values, key)
        if not graph.call.is_differentiable:
            return given(*args, **kwargs)
        return jax.tree.unflatten(graph.out_tree, graph.call(*graph.closed_over, *values))

    return rematerialized


def graph_of(fn: Callable[..., Any], flat: Callable[[Sequence[Any]], Any], values: Sequence[Any], key: Any) -> Graph:
    """Returns the graph of a function, traced now or before.

    Args:
      fn: The function, for which graphs are kept.
      flat: The same, of a list of arrays.
      values: The arrays.
      key: All that the graph depends on besides `fn` and the types of the arrays; its policy, budget and settings last.
    """
    kept: OrderedDict[Any, Graph] = OrderedDict()
    cache_key = (key, tuple(map(jax.typeof, values)), trace_context())
    try:
        kept = _graphs.setdefault(fn, kept)
        hash(cache_key)
    except TypeError:  # a bound method has no place in a weak dictionary, and a list as an argument is not hashable
        cache_key = None
    if cache_key in kept:
        kept.move_to_end(cache_key)
        return kept[cache_key]
    out_tree = None

    def run(*values: Any) -> Any:
        nonlocal out_tree
        leaves, out_tree = jax.tree.flatten(flat(values))
        return leaves

    run.__name__ = run.__qualname__ = getattr(fn, "__name__", "fn")
    closed = jax.make_jaxpr(run)(*values)
    held = [(v, c) for v, c in zip(closed.jaxpr.constvars, closed.consts, strict=True) if isinstance(c, jax.Array)]
    fixed = [(v, c) for v, c in zip(closed.jaxpr.constvars, closed.consts, strict=True) if not isinstance(c, jax.Array)]
    jaxpr = closed.jaxpr
    invars = [*(var for var, _ in held), *jaxpr.invars]
    open_jaxpr = make_jaxpr_object(invars, jaxpr.outvars, jaxpr.eqns, [var for var, _ in fixed], jaxpr.effects)
    *_, policy, budget, settings = key
    call = RematCall(close_jaxpr(open_jaxpr, [c for _, c in fixed]), policy, budget, settings)
    graph = Graph(call, [c for _, c in held], out_tree)
    if cache_key is not None and not held:  # what is closed over may be another array, or a tracer, the next time
        kept[cache_key] = graph
        if len(kept) > MAX_GRAPHS:
            kept.popitem(last=False)
    return graph


def refuse_tensors(leaves: Sequence[Any], fn: Callable[..., Any]) -> None:
    """Raises if an argument is a tensor.

    Raises:
      ArgumentError: If one is.
    """
    if any(isinstance(leaf, Tensor) for leaf in leaves):
        name = getattr(fn, "__name__", "fn")
        raise ArgumentError(
            f"`{name}` was called with a `ja.Tensor`, and JAX's gradients are those of functions of arrays. Use "
            f"`ja.compile({name})`, which chooses what to save as well, or make it a function of arrays: "
            f"`ja.remat(ja.functionalize({name}))(*arrays)`."
        )


def _is_array(leaf: Any) -> bool:
    """Returns whether a leaf of the arguments is traced rather than part of the program."""
    if isinstance(leaf, (jax.Array, np.ndarray, np.generic, float, complex)):
        return True
    return hasattr(leaf, "__jax_array__") or isinstance(leaf, jnp.ndarray)
