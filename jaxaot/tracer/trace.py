"""trace(fn, args): runs a function on symbols, and reads the storages afterwards."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import Var, canonical_dtype, close_jaxpr, is_tracer, make_jaxpr_object, trace_level
from jaxaot._signals import finish
from jaxaot._typing import ClosedJaxpr, PyTreeDef, Shape
from jaxaot.errors import LeakedTensorError, StaticArgumentError, TraceError, UnreachableTensorError
from jaxaot.facade.anomaly import watch_outside_of_the_mode
from jaxaot.facade.cells import cell_kinds, is_cell, is_leaf, is_object
from jaxaot.facade.create import scalar_tensor
from jaxaot.facade.generator import Generator, default_generator
from jaxaot.facade.history import History
from jaxaot.facade.iterated import Iterated, is_iterator
from jaxaot.facade.tensor import Tensor
from jaxaot.facade.tracing import RUNNING, TRACING, GraphBreak, TraceState, lift_p
from jaxaot.facade.trees import refuse_cycles
from jaxaot.ir.rewrite import drop_inputs
from jaxaot.ir.walk import variables
from jaxaot.passes.dce import dce
from jaxaot.plan.alias import AliasPlan, ConstantOutput
from jaxaot.plan.breaks import BreakValue
from jaxaot.plan.call import CallPlan, GhostInput, Lineage, StorageInput, TensorInput, ValueInput
from jaxaot.plan.guards import EqualTo, GradGuard, HasType, IsHeldWeakly, IsTensor, PythonGuard, StaticInput
from jaxaot.plan.paths import Path, follow, path_text
from jaxaot.plan.places import ArrayInput, OutsideObject, PlacePlan, PlaceWrite
from jaxaot.plan.rng import GeneratorUse, RngPlan
from jaxaot.plan.stages import Traced
from jaxaot.tape.modes import state
from jaxaot.tracer.alias import Escapes, collect_escapes, no_aliases, plan_aliases
from jaxaot.tracer.apart import HandlersApart
from jaxaot.tracer.forward_mode import check_forward_mode
from jaxaot.tracer.grad_hooks import refuse_lasting_hooks
from jaxaot.tracer.guards import PLAIN, Reached, python_guards
from jaxaot.tracer.paths import find_paths
from jaxaot.tracer.places import Places, Survey, leaf_input
from jaxaot.tracer.snapshot import snapshot


def is_number_argument(leaf: object) -> bool:
    """Whether an argument is a traced scalar."""
    return type(leaf) is float or type(leaf) is complex


def is_array_argument(leaf: object) -> bool:
    """Whether an argument is a bare array."""
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic, jax.ShapeDtypeStruct))


def flatten_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
    """Returns the leaves of a call's arguments and their tree; None is a leaf, and so are flax's objects."""
    cell_kinds()
    refuse_cycles((args, kwargs), "The arguments")
    return jax.tree.flatten((args, kwargs), is_leaf=lambda x: is_leaf(x) or is_iterator(x))


def is_static_argument(leaf: object) -> bool:
    """Whether an argument is part of the program as a whole."""
    return not (
        isinstance(leaf, (Tensor, _Count)) or is_number_argument(leaf) or is_array_argument(leaf) or is_object(leaf)
    )


class _Count(NamedTuple):
    """An int or bool that a class of the user's declared to be data, such as the step of a training state."""

    value: int | bool


def _mark_counts(leaves: Sequence[Any], tree: Any) -> list[Any]:
    """Returns leaves with the ints and bools in fields of registered classes as counts; they are traced."""
    return [
        _Count(leaf) if is_declared and type(leaf) in (int, bool) else leaf
        for leaf, is_declared in zip(leaves, _declared(tree, False), strict=True)
    ]


def _declared(tree: Any, is_inside: bool) -> Iterator[bool]:
    """Yields for each leaf of a tree whether it belongs to a registered class, rather than a tuple, list or dict."""
    node = tree.node_data()
    if node is None:
        yield from [is_inside] * tree.num_leaves
        return
    is_registered = not issubclass(node[0], (tuple, list, dict, type(None), Iterated))
    for child in tree.children():
        yield from _declared(child, is_inside or is_registered)


def trace_call(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    known: Sequence[np.ndarray] | None = None,
) -> Traced:
    """Returns the functional graph of `fn(*args, **kwargs)` and its plans; nothing is changed by it.

    Args:
      fn: The function.
      args: Its arguments.
      kwargs: Its keyword arguments.
      known: The values that Python asks for, in order; None if it may not ask. Where one is not among them the trace
        stops, and its only output is that value.

    Raises:
      UnreachableTensorError: If the function reached a tensor that no path leads to.
      LeakedTensorError: If a tensor made inside was kept outside.
      StaticArgumentError: If an argument that is no tensor cannot be compared.
    """
    leaves, in_tree = flatten_arguments(args, kwargs)
    leaves = _mark_counts(leaves, in_tree)
    for leaf in leaves:
        if is_static_argument(leaf):
            _check_static(leaf)
    with TRACING:
        return _trace(fn, args, kwargs, leaves, in_tree, known)


def _check_static(leaf: object) -> None:
    if is_iterator(leaf):
        raise StaticArgumentError(
            f"A {type(leaf).__name__} is part of an argument. It can be read only once, and a call has to look at its "
            "items before the function does. Pass a list or a tuple of them, or the iterator as an argument of its own."
        )
    try:
        hash(leaf)
    except TypeError as error:
        raise StaticArgumentError(
            f"An argument of type {type(leaf).__name__} is not hashable, so the compiled program cannot be kept for "
            "it. Pass tensors, arrays, numbers, strings, or containers of them; or make it hashable."
        ) from error


def _trace(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    leaves: Sequence[Any],
    in_tree: PyTreeDef,
    known: Any,
) -> Traced:
    trace = TraceState(known)
    places = Places(roots(fn, args, kwargs), leaves)
    put_back = None if known is None else snapshot(roots(fn, args, kwargs))
    grad_enabled, autocast, n_contexts = state.grad_enabled, state.autocast, len(state.autocast_before)
    plans: list[Any] = []

    def staged() -> Any:
        trace.level = trace_level()
        places.open(trace)
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
            elif isinstance(leaf, _Count):
                aval = jax.typeof(leaf.value)
                given.append(trace.lift((), aval.dtype, ("value", position), weak_type=aval.weak_type))
            elif is_array_argument(leaf):
                given.append(trace.lift(tuple(leaf.shape), canonical_dtype(leaf.dtype), ("value", position)))
            else:
                given.append(leaf)
        call_args, call_kwargs = jax.tree.unflatten(in_tree, given)
        del given
        escapes = Escapes([], jax.tree.structure(0))
        with contextlib.suppress(GraphBreak):
            result = fn(*call_args, **call_kwargs)
            if not trace.is_broken:  # by a question whose exception the function caught
                escapes = collect_escapes(trace, result, places.outside)
                refuse_lasting_hooks(trace, escapes.leaves)
            del result
        del call_args, call_kwargs
        if trace.is_broken:
            plans.append((no_aliases(escapes), escapes, ()))
            return [trace.break_values[len(trace.known or ())][0]]
        alias, outputs, writes = plan_aliases(trace, escapes, places.changes)
        plans.append((alias, escapes, writes))
        return outputs

    before = state.trace
    if before is not None:
        raise TraceError("A trace is already running in this thread; call the function itself inside it.")
    # what a checkpointed function around it does is the call, not the trace
    region, anomaly, is_restored = state.region, state.anomaly, False

    def restore() -> None:
        nonlocal is_restored
        if is_restored:
            return
        state.grad_enabled, state.autocast = grad_enabled, autocast
        del state.autocast_before[n_contexts:]
        places.close()
        trace.restore()
        if trace in RUNNING:
            RUNNING.remove(trace)
        state.region, state.trace, state.anomaly = region, None, anomaly
        is_restored = True

    handlers = HandlersApart(trace)
    trace.entry = staged.__code__
    try:
        state.region, state.trace = None, trace
        state.anomaly = anomaly or watch_outside_of_the_mode()
        RUNNING.append(trace)
        closed = jax.make_jaxpr(staged)()
    finally:
        try:
            finish(restore)
        finally:
            restore()  # if an interrupt came before it was done
            handlers.put_back()
        if put_back is not None and trace.is_broken:  # the function will run again
            put_back()
    check_forward_mode(closed)
    unfinished, escapes, writes = plans.pop()
    modes = (grad_enabled, autocast)
    return _finish(fn, args, kwargs, leaves, in_tree, trace, closed, unfinished, escapes, places, writes, modes)


def _finish(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any],
    in_tree: PyTreeDef, trace: TraceState, closed: ClosedJaxpr, unfinished: Any,
    escapes: Escapes, places: Places, writes: tuple[PlaceWrite, ...], modes: tuple[bool, Any],
) -> Traced:  # fmt: skip
    # the function may have moved what the paths lead through, so places are looked at again, after the trace
    survey = places.look_again()
    constants = _constant_arrays(closed)
    targets: dict[int, Any] = {id(value): value for value in (*survey.roots.values(), *(a for _, a in constants))}
    targets |= {i: tensor for i, (tensor, _) in trace.noted.items()}
    starts = roots(fn, args, kwargs)
    paths = find_paths(starts, targets)
    inputs = _tensor_inputs(leaves, trace, paths)
    if not trace.is_broken:  # stopped at a value, the function's frames still hold what it made
        _check_leaks(fn, args, kwargs, trace, escapes)
    number = {id(tensor): i for i, tensor in enumerate(inputs)}
    storage_ids = list(trace.storages)
    # storages are numbered by the first input that shows them, whatever the order in which they were read
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
    order += [k for k, _ in ghosts] + [k for k, _ in values]
    # an array that a path leads to becomes an input: as a constant it would be that of the first call for ever
    arrays = [(var, paths[id(array)], array) for var, array in constants if id(array) in paths]
    _check_reached([array for _, array in constants if id(array) not in paths])
    jaxpr, position, place_plan = _graph(trace, closed, order, randoms, arrays, places, survey)

    history_number: dict[int, int] = {}
    counter_number: dict[int, int] = {}

    def tensor_with(history: History) -> int:
        for tensor in inputs:
            if trace.noted[id(tensor)][1]["_history"] is history:
                return number[id(tensor)]
        raise UnreachableTensorError("Gradients flow to a tensor that no path leads to.")

    reached = []
    for history, storage, ghost in trace.reached.values():
        place = position[of_storage[id(storage)]] if ghost is None else position[ghost]
        reached.append((place, tensor_with(history)))
    alias: AliasPlan = unfinished(number, storage_number, tensor_with, tuple(reached))
    shown = {spec.storage for spec in (*alias.made, *(change.spec for change in alias.changes))}
    written = {write.storage for write in alias.writes}

    # a guard on what a tensor is a view of costs at each call, so only where it decided something: views were made
    # of the tensor, or it was written
    def lineage(was: dict[str, Any], storage: int, requires_grad: bool) -> Lineage | None:
        if storage not in shown and not (storage in written and (requires_grad or was["_creation"] is not None)):
            return None
        history = was["_history"] if requires_grad else None
        base = was["_base_tensor"]
        return Lineage(
            None if base is None else number.get(id(base), -1) if storage in shown else -1,
            was["_chain"],
            was["_creation"],
            None if history is None else history.layout,
            0 if history is None else history.offset,
        )

    def tensor_input(tensor: Tensor) -> TensorInput:
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
            lineage=lineage(was, storage_number.get(id(was["_storage"]), -1), requires),
            hooks=trace.hook_reads.get(id(tensor)),
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

    guarded = Reached(
        tensors=number,
        tensor_paths=frozenset(paths[id(t)] for t in inputs),
        arrays={id(follow(starts, array.path)): array.path for array in reversed(place_plan.arrays)},
        places=survey.first,
        objects=[(path, value) for path, value, _ in survey.objects],
        values=survey.values,
    )
    call = CallPlan(
        tensors=tuple(tensor_input(t) for t in inputs),
        storages=storages,
        ghosts=tuple(
            GhostInput(storage_number[id(s)], tensor_with(history), trace.storages[id(s)][1]["array"] is None)
            for _, (_, history, s) in ghosts
        ),
        values=tuple(ValueInput(o[1], *_value_type(leaves[o[1]])) for _, o in values),
        n_leaves=len(leaves),
        statics=tuple(_static_input(i, leaf) for i, leaf in enumerate(leaves) if is_static_argument(leaf)),
        repeats=_repeats(leaves, number, paths),
        grads=tuple(GradGuard(number[i], was is None) for i, (_, was) in trace.grad_reads.items() if i in number),
        python=(*survey.guards, *python_guards(starts, guarded), *_grad_guards(trace, number, paths)),
        grad_enabled=modes[0],
        autocast=modes[1],
    )
    alias = _without_arguments(alias, starts, leaves)
    rng = RngPlan(
        tuple(
            GeneratorUse(_generator_path(fn, args, kwargs, generator), trace.draws[generator], generator in trace.seeds)
            for generator in dict.fromkeys([*trace.seeds, *trace.draws])
        )
    )
    place_plan = dataclasses.replace(place_plan, writes=writes)
    break_values = _break_values(trace, escapes, jaxpr)
    return Traced(jaxpr, call, alias, rng, in_tree, escapes.out_tree, place_plan, break_values)


def _break_values(trace: TraceState, escapes: Escapes, jaxpr: ClosedJaxpr) -> tuple[BreakValue, ...]:
    known = trace.known or ()
    lines = [line for _, line in trace.break_values]
    if trace.is_broken:  # the graph's only output is the value that is not known
        aval = jaxpr.out_avals[0]
        pairs = zip(known, lines, strict=False)
        before = (BreakValue(-1, value.shape, value.dtype, value.tobytes(), line) for value, line in pairs)
        return (*before, BreakValue(0, tuple(aval.shape), aval.dtype, None, lines[len(known)]))
    return tuple(
        BreakValue(output, value.shape, value.dtype, value.tobytes(), line)
        for output, value, line in zip(escapes.break_values, known, lines, strict=False)
    )


def _graph(
    trace: TraceState, closed: ClosedJaxpr, order: list[int], randoms: list[int], arrays: list[tuple[Any, Path, Any]],
    places: Places, survey: Survey,
) -> tuple[Any, dict[int, int], PlacePlan]:  # fmt: skip
    """Returns the graph, the position of each lifted symbol among its inputs, and what it takes from places.

    Args:
      trace: The trace.
      closed: The staged graph.
      order: Symbols that become inputs, used or not.
      randoms: Symbols that become the last inputs.
      arrays: Constants to which a path leads: variable, path, array. Those that are used become inputs.
      places: Cells and objects. Of their arrays, too, those that are used become inputs.
      survey: Taken after the trace.
    """
    of_places = [k for k, o in enumerate(trace.lifted) if o[0] in ("cell", "slot")]
    jaxpr = hoist(closed, len(trace.lifted), [*order, *of_places], [var for var, _, _ in arrays], randoms)
    used = {var for eqn in jaxpr.jaxpr.eqns for var in variables(eqn.invars)} | set(variables(jaxpr.jaxpr.outvars))
    optional = range(len(order), len(jaxpr.jaxpr.invars) - len(randoms))
    unused = [i for i in optional if jaxpr.jaxpr.invars[i] not in used]
    kept = [i for i in optional if i not in set(unused)]
    place_of = {i: len(order) + n for n, i in enumerate(kept)}
    jaxpr = drop_inputs(jaxpr, unused)
    position = {k: i for i, k in enumerate(order)}
    position |= {k: len(jaxpr.jaxpr.invars) - len(randoms) + i for i, k in enumerate(randoms)}
    at = {}
    for i, k in enumerate(of_places):
        if len(order) + i in place_of:
            position[k] = at[trace.lifted[k]] = place_of[len(order) + i]
    inputs = [ArrayInput(path, leaf) for path, leaf in places.slot_inputs(at)]
    for i, (_, path, array) in enumerate(arrays, len(order) + len(of_places)):
        if i in place_of:
            inputs.append(ArrayInput(path, dataclasses.replace(leaf_input(array), graph_input=place_of[i])))
    return jaxpr, position, PlacePlan(cells=places.cell_inputs(survey, at), arrays=tuple(inputs))


def _static_input(position: int, leaf: object) -> StaticInput:
    """Returns the guard on an argument that is no tensor, array or float; it does not keep an object alive."""
    if isinstance(leaf, Generator) and leaf is not default_generator:
        return StaticInput(position, HasType(Generator))
    if not isinstance(leaf, (type, np.dtype, *PLAIN)):
        try:
            if isinstance(leaf, types.MethodType):
                return StaticInput(position, IsHeldWeakly(weakref.WeakMethod(leaf)))
            if type(leaf).__eq__ is object.__eq__ or _holds_tensors(leaf):
                return StaticInput(position, IsHeldWeakly(weakref.ref(leaf)))
        except TypeError:  # an object that cannot be referred to weakly
            pass
    return StaticInput(position, EqualTo(leaf))


def _without_arguments(alias: AliasPlan, starts: Sequence[tuple[Path, Any]], leaves: Sequence[Any]) -> AliasPlan:
    """Returns the plan with outputs that are objects among the arguments taken from there, not kept."""
    passed = {id(leaf) for leaf in leaves if not isinstance(leaf, PLAIN)}
    returned = {id(o.value): o.value for o in alias.outputs if isinstance(o, ConstantOutput) and id(o.value) in passed}
    paths = find_paths(starts[:2], returned)
    outputs = tuple(
        OutsideObject(paths[id(o.value)]) if isinstance(o, ConstantOutput) and id(o.value) in paths else o
        for o in alias.outputs
    )
    return dataclasses.replace(alias, outputs=outputs)


def _grad_guards(trace: TraceState, number: dict[int, int], paths: dict[int, Path]) -> Iterator[PythonGuard]:
    """Yields the guards that the `.grad` of a tensor is a tensor that another path leads to."""
    for i, (_, gradient) in trace.grad_reads.items():
        path = (*paths[i], ("attr", "_grad"))
        if id(gradient) in number and paths[id(gradient)] != path:
            yield PythonGuard(path, IsTensor(number[id(gradient)]))


def _holds_tensors(value: object) -> bool:
    """Returns whether an object that compares by value leads to tensors, at most a few steps away."""
    pending, seen = [value], set()
    while pending and len(seen) < 1000:
        item = pending.pop()
        if isinstance(item, Tensor):
            return True
        if id(item) not in seen and not isinstance(item, (type, types.ModuleType, types.FunctionType)):
            seen.add(id(item))
            pending.extend(gc.get_referents(item))
    return False


def _repeats(leaves: Sequence[Any], number: dict[int, int], paths: dict[int, Path]) -> tuple[tuple[int, int], ...]:
    """Returns `(leaf, tensor)` for the arguments that are not what the tensor's own path leads to."""
    places: dict[int, list[int]] = {}
    for position, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor):
            places.setdefault(id(leaf), []).append(position)
    return tuple(
        (position, number[i])
        for i, positions in places.items()
        for position in positions
        if len(positions) > 1 or any(kind not in ("root", "item") for kind, _ in paths[i]) or paths[i][0][1] == "fn"
    )


def _value_type(leaf: object) -> tuple[Shape, Any, type | None]:
    """Returns shape and dtype of a traced argument, and the type of one that is a number."""
    if isinstance(leaf, _Count):
        return (), jax.typeof(leaf.value).dtype, type(leaf.value)
    if is_number_argument(leaf):
        return (), canonical_dtype(jnp.result_type(leaf)), type(leaf)
    return tuple(leaf.shape), canonical_dtype(leaf.dtype), None


def _constant_arrays(closed: ClosedJaxpr) -> list[tuple[Any, Any]]:
    """Returns the constants of a graph that are jax arrays: variable and array."""
    pairs = zip(closed.jaxpr.constvars, closed.consts, strict=True)
    return [(var, array) for var, array in pairs if isinstance(array, jax.Array) and not is_tracer(array)]


def _check_reached(arrays: Sequence[Any]) -> None:
    """Raises if one of some arrays is held by a cell.

    No path leads to them, so a later call would miss what that cell holds then.
    """
    if arrays and cell_kinds():
        for holder in gc.get_referrers(*arrays):
            if is_cell(holder):
                raise UnreachableTensorError(
                    f"The function read a {type(holder).__name__} that is neither among the arguments nor reachable "
                    "from its closure, the globals it names, or attributes of its objects. A later call could not "
                    "find it again. Pass the module that holds it as an argument."
                )


def roots(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Path, Any]]:
    """Returns where the paths of a call start."""
    return [((("root", "args"),), args), ((("root", "kwargs"),), kwargs), ((("root", "fn"),), fn)]


def _tensor_inputs(leaves: Sequence[Any], trace: TraceState, paths: dict[int, Path]) -> list[Tensor]:
    """Returns the tensors from outside in order, arguments first."""
    targets = {i: tensor for i, (tensor, _) in trace.noted.items()}
    grads = {id(t._grad) for t, _ in trace.noted.values() if t._grad is not None}
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
    return inputs


def _generator_path(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], generator: Generator
) -> Path | None:
    if generator is default_generator:
        return None
    found = find_paths(roots(fn, args, kwargs), {id(generator): generator})
    if id(generator) not in found:
        raise UnreachableTensorError(
            "The function drew from a generator that no path leads to. Pass it as an argument."
        )
    return found[id(generator)]


def _check_leaks(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], trace: TraceState, escapes: Escapes
) -> None:
    """Raises if a tensor made in the trace is still held by an object that outlives it."""
    alive = [s for s in (ref() for ref in trace.created) if s is not None and id(s) not in escapes.storage_ids]
    if not alive:
        return
    holders: dict[int, Any] = {}
    alive_ids = {id(s) for s in alive}
    for referrer in gc.get_referrers(*alive):
        if isinstance(referrer, Tensor) and id(referrer._storage) in alive_ids:
            holders[id(referrer)] = referrer
    del alive
    paths = find_paths(roots(fn, args, kwargs), holders)
    if paths:
        names = ", ".join(f"`{path_text(path)}`" for path in sorted(paths.values(), key=len)[:5])
        raise LeakedTensorError(
            f"The function made a tensor and kept it in {names}, where it would outlive the traced call "
            "without a value. Return it from the function, or write it into a tensor that is there before: "
            "`self.cache.copy_(new)`."
        )


def hoist(
    closed: ClosedJaxpr, n_lifted: int, order: Sequence[int], constants: Sequence[Any] = (), randoms: Sequence[int] = ()
) -> Any:
    """Returns a staged graph, without what is unused, with new inputs.

    Args:
      closed: The graph.
      n_lifted: Number of its `lift` equations.
      order: Indices of those that become the first inputs.
      constants: Constants that become the next inputs.
      randoms: Indices of the `lift` equations that become the last inputs.

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
    invars = [*closed.jaxpr.invars, *(symbols[k] for k in order), *constants, *(symbols[k] for k in randoms)]
    lifted = set(constants)
    # copies of NumPy arrays: JAX takes one that is alive for what the array holds now
    rest = [
        (v, c.copy() if isinstance(c, np.ndarray) else c)
        for v, c in zip(closed.jaxpr.constvars, closed.consts, strict=True)
        if v not in lifted
    ]
    jaxpr = make_jaxpr_object(invars, closed.jaxpr.outvars, eqns, [v for v, _ in rest])
    return dce(close_jaxpr(jaxpr, [c for _, c in rest]))
