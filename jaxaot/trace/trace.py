"""trace(fn, args): runs a function on symbols, and reads the storages afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import Var, close_jaxpr, make_jaxpr_object
from jaxaot.autograd.modes import state
from jaxaot.errors import LeakedTensorError, StaticArgumentError, TraceError, UnreachableTensorError
from jaxaot.passes.dce import dce
from jaxaot.plan.alias import AliasPlan
from jaxaot.plan.call import CallPlan, GhostInput, GradGuard, Path, StorageInput, TensorInput, ValueInput, path_text
from jaxaot.plan.rng import GeneratorUse, RngPlan
from jaxaot.plan.stages import Traced
from jaxaot.tensor.create import scalar_tensor
from jaxaot.tensor.generator import default_generator
from jaxaot.tensor.tensor import Tensor
from jaxaot.tensor.tracing import TraceState, lift_p
from jaxaot.trace.alias import Escapes, collect_escapes, plan_aliases
from jaxaot.trace.paths import find_paths, plain_values

_lock = threading.RLock()


def is_number_argument(leaf: Any) -> bool:
    """Whether an argument is a traced scalar."""
    return type(leaf) is float or type(leaf) is complex


def is_array_argument(leaf: Any) -> bool:
    """Whether an argument is a bare array."""
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic, jax.ShapeDtypeStruct))


def flatten_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
    """Returns the leaves of a call's arguments and their tree; None is a leaf."""
    return jax.tree.flatten((args, kwargs), is_leaf=lambda x: x is None)


def trace_call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
    """Returns the functional graph of `fn(*args, **kwargs)` and its plans; nothing is changed by it.

    Raises:
      UnreachableTensorError: If the function reached a tensor that no path leads to.
      LeakedTensorError: If a tensor made inside was kept outside.
      StaticArgumentError: If an argument that is no tensor cannot be compared.
    """
    leaves, in_tree = flatten_arguments(args, kwargs)
    for leaf in leaves:
        if not isinstance(leaf, Tensor) and not is_array_argument(leaf) and not is_number_argument(leaf):
            _check_static(leaf)
    with _lock:
        return _trace(fn, args, kwargs, leaves, in_tree)


def _check_static(leaf: Any) -> None:
    try:
        hash(leaf)
    except TypeError as error:
        raise StaticArgumentError(
            f"An argument of type {type(leaf).__name__} is not hashable, so the compiled program cannot be kept for "
            "it. Pass tensors, arrays, numbers, strings, or containers of them; or make it hashable."
        ) from error


def _trace(fn: Any, args: Any, kwargs: Any, leaves: Sequence[Any], in_tree: Any) -> Traced:
    trace = TraceState()
    grad_enabled = state.grad_enabled
    plans: list[Any] = []

    def staged() -> Any:
        given = []
        for position, leaf in enumerate(leaves):
            if isinstance(leaf, Tensor):
                trace.note(leaf)
                trace.adopt(leaf._storage)
                given.append(leaf)
            elif is_number_argument(leaf):
                dtype = jnp.result_type(leaf)
                symbol = trace.lift((), dtype, ("value", position), weak_type=True)
                given.append(scalar_tensor(symbol))
            elif is_array_argument(leaf):
                dtype = jax.dtypes.canonicalize_dtype(leaf.dtype)
                given.append(trace.lift(tuple(leaf.shape), dtype, ("value", position)))
            else:
                given.append(leaf)
        call_args, call_kwargs = jax.tree.unflatten(in_tree, given)
        del given
        result = fn(*call_args, **call_kwargs)
        del call_args, call_kwargs
        escapes = collect_escapes(trace, result)
        del result
        alias, outputs = plan_aliases(trace, escapes)
        plans.append((alias, escapes))
        return outputs

    before = state.trace
    if before is not None:
        raise TraceError("A trace is already running in this thread; call the function itself inside it.")
    state.trace = trace
    try:
        closed = jax.make_jaxpr(staged)()
    finally:
        state.trace = None
        state.grad_enabled = grad_enabled
        trace.restore()
    unfinished, escapes = plans.pop()
    return _finish(fn, args, kwargs, leaves, in_tree, trace, closed, unfinished, escapes, grad_enabled)


def _finish(
    fn: Any, args: Any, kwargs: Any, leaves: Any, in_tree: Any, trace: TraceState, closed: Any, unfinished: Any,
    escapes: Escapes, grad_enabled: bool,
) -> Traced:  # fmt: skip
    inputs, paths = _tensor_inputs(fn, args, kwargs, leaves, trace)
    _check_leaks(fn, args, kwargs, trace, escapes)
    number = {id(tensor): i for i, tensor in enumerate(inputs)}
    storage_ids = list(trace.storages)
    first = {}
    for i, tensor in enumerate(inputs):
        first.setdefault(id(trace.noted[id(tensor)][1]["_storage"]), i)
    storage_ids.sort(key=lambda s: first.get(s, len(inputs)))
    for s in storage_ids:
        if s not in first:
            raise UnreachableTensorError("A storage was reached that no tensor shows. Keep a tensor that shows it.")
    storage_number = {s: i for i, s in enumerate(storage_ids)}
    # the order of the graph's inputs
    lifted = list(enumerate(trace.lifted))
    of_storage = {id(o[1]): k for k, o in lifted if o[0] == "storage"}
    order = [of_storage[s] for s in storage_ids if s in of_storage]
    ghosts = [(k, o) for k, o in lifted if o[0] == "ghost"]
    values = sorted(((k, o) for k, o in lifted if o[0] == "value"), key=lambda item: item[1][1])
    randoms = [k for k, o in lifted if o[0] in ("seed", "offset")]
    order += [k for k, _ in ghosts] + [k for k, _ in values] + randoms
    position = {k: i for i, k in enumerate(order)}
    jaxpr = hoist(closed, len(trace.lifted), order)

    history_number: dict[int, int] = {}
    counter_number: dict[int, int] = {}

    def tensor_input(tensor: Any) -> TensorInput:
        was = trace.noted[id(tensor)][1]
        history = was["_history"]
        before = trace.histories.get(id(history))
        requires = history is not None and (before[1]["requires_grad"] if before else history.requires_grad)
        node = None if history is None else (before[1]["node"] if before else history.node)
        return TensorInput(
            path=paths[id(tensor)],
            storage=storage_number.get(id(was["_storage"]), -1),
            layout=was["_layout"],
            offset=was["_offset"],
            requires_grad=requires,
            is_leaf=not requires or (node is None and not was["_chain"]),
            history=None if history is None else history_number.setdefault(id(history), len(history_number)),
            counter=None
            if tensor._counter is None
            else counter_number.setdefault(id(tensor._counter), len(counter_number)),
            is_argument=paths[id(tensor)][0][1] != "fn" and len(paths[id(tensor)]) > 1,
        )

    storages = tuple(
        StorageInput(
            trace.storages[s][1]["layout"],
            first[s],
            position[of_storage[s]] if s in of_storage else None,
            trace.storages[s][1]["n_written"],
        )
        for s in storage_ids
    )

    def tensor_with(history: Any) -> int:
        for tensor in inputs:
            if trace.noted[id(tensor)][1]["_history"] is history:
                return number[id(tensor)]
        raise UnreachableTensorError("Gradients flow to a tensor that no path leads to.")

    call = CallPlan(
        tensors=tuple(tensor_input(t) for t in inputs),
        storages=storages,
        ghosts=tuple(
            GhostInput(storage_number[id(s)], tensor_with(history), trace.storages[id(s)][1]["array"] is None)
            for _, (_, history, s) in ghosts
        ),
        values=tuple(
            ValueInput(
                o[1],
                tuple(getattr(leaves[o[1]], "shape", ())),
                np.dtype(jax.dtypes.canonicalize_dtype(jnp.result_type(leaves[o[1]]))),
                is_number_argument(leaves[o[1]]),
            )
            for _, o in values
        ),
        n_leaves=len(leaves),
        statics=tuple(
            (i, leaf)
            for i, leaf in enumerate(leaves)
            if not isinstance(leaf, Tensor) and not is_number_argument(leaf) and not is_array_argument(leaf)
        ),
        grads=tuple(GradGuard(number[i], was is None) for i, (_, was) in trace.grad_reads.items() if i in number),
        attributes=tuple(plain_values(_roots(fn, args, kwargs), (paths[id(t)] for t in inputs))),
        grad_enabled=grad_enabled,
    )
    reached = []
    for history, storage, ghost in trace.reached.values():
        place = position[of_storage[id(storage)]] if ghost is None else position[ghost]
        reached.append((place, tensor_with(history)))
    alias: AliasPlan = unfinished(number, storage_number, tensor_with, tuple(reached))
    rng = RngPlan(
        tuple(
            GeneratorUse(_generator_path(fn, args, kwargs, generator), trace.draws[generator], generator in trace.seeds)
            for generator in dict.fromkeys([*trace.seeds, *trace.draws])
        )
    )
    return Traced(jaxpr, call, alias, rng, in_tree, escapes.out_tree)


def _roots(fn: Any, args: Any, kwargs: Any) -> list[tuple[Path, Any]]:
    return [((("root", "args"),), args), ((("root", "kwargs"),), kwargs), ((("root", "fn"),), fn)]


def _tensor_inputs(
    fn: Any, args: Any, kwargs: Any, leaves: Sequence[Any], trace: TraceState
) -> tuple[list[Tensor], dict[int, Path]]:
    """Returns the tensors from outside in order, arguments first, and the path to each."""
    targets = {i: tensor for i, (tensor, _) in trace.noted.items()}
    grads = {id(t._grad) for t, _ in trace.noted.values() if t._grad is not None}
    paths = find_paths(_roots(fn, args, kwargs), targets)
    missing = [tensor for i, tensor in targets.items() if i not in paths]
    if missing:
        shown = ", ".join(f"{t.dtype}{list(t.shape)}" for t in missing[:5])
        raise UnreachableTensorError(
            f"The function reached {len(missing)} tensor(s) that are neither arguments nor reachable from its closure, "
            f"the globals it names, or attributes of its objects: {shown}. A later call could not find them again. "
            "Pass them as arguments, or keep them in an attribute, a list or a dict that the function reads."
        )
    passed = {id(leaf): i for i, leaf in enumerate(leaves)}
    inputs = sorted(targets.values(), key=lambda t: passed.get(id(t), len(leaves)))
    # a tensor that is the `.grad` of another comes after it
    inputs.sort(key=lambda t: id(t) in grads)
    return inputs, paths


def _generator_path(fn: Any, args: Any, kwargs: Any, generator: Any) -> Path | None:
    if generator is default_generator:
        return None
    found = find_paths(_roots(fn, args, kwargs), {id(generator): generator})
    if id(generator) not in found:
        raise UnreachableTensorError(
            "The function drew from a generator that no path leads to. Pass it as an argument."
        )
    return found[id(generator)]


def _check_leaks(fn: Any, args: Any, kwargs: Any, trace: TraceState, escapes: Escapes) -> None:
    """Raises if a tensor made in the trace is still held by an object that outlives it."""
    alive = [s for s in (ref() for ref in trace.created) if s is not None and id(s) not in escapes.storage_ids]
    if not alive:
        return
    holders: dict[int, Any] = {}
    alive_ids = {id(s) for s in alive}
    import gc

    for referrer in gc.get_referrers(*alive):
        if isinstance(referrer, Tensor) and id(referrer._storage) in alive_ids:
            holders[id(referrer)] = referrer
    del alive
    paths = find_paths(_roots(fn, args, kwargs), holders)
    if paths:
        names = ", ".join(f"`{path_text(path)}`" for path in sorted(paths.values(), key=len)[:5])
        raise LeakedTensorError(
            f"The function made a tensor and kept it in {names}, where it would outlive the traced call "
            "without a value. Return it from the function, or write it into a tensor that is there before: "
            "`self.cache.copy_(new)`."
        )


def hoist(closed: Any, n_lifted: int, order: Sequence[int]) -> Any:
    """Returns a staged graph with its `lift` equations as further invars, and without what is unused.

    Args:
      closed: The graph.
      n_lifted: Number of `lift` equations.
      order: Their indices in the order in which they become invars.

    Raises:
      TraceError: If one of them was made within a nested JAX trace.
    """
    symbols: dict[int, Var] = {}
    eqns = []
    for eqn in closed.jaxpr.eqns:
        if eqn.primitive is lift_p:
            symbols[eqn.params["index"]] = eqn.outvars[0]
        else:
            eqns.append(eqn)
    if len(symbols) < n_lifted:
        raise TraceError(
            "A tensor from outside was first used inside a nested JAX trace (such as the body of `jax.lax.scan`). "
            "Write the loop with `ja.scan`, `ja.while_loop`, `ja.map` or `ja.cond`, which know of tensors, pass the "
            "tensor to that function as an argument, or read it once before: `w = w + 0`."
        )
    invars = [*closed.jaxpr.invars, *(symbols[k] for k in order)]
    jaxpr = make_jaxpr_object(invars, closed.jaxpr.outvars, eqns, closed.jaxpr.constvars)
    return dce(close_jaxpr(jaxpr, closed.consts))
