"""trace(fn, args): runs a function on symbols, and reads the storages afterwards."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot import settings
from jaxaot._immutable import immutable
from jaxaot._jax import canonical_dtype, is_tracer, trace_level
from jaxaot._placement import placement_of
from jaxaot._signals import finish
from jaxaot._typing import ClosedJaxpr, PyTreeDef
from jaxaot.errors import EagerOnlyError, TraceError, UnreachableTensorError
from jaxaot.facade.cells.cell_tensors import NeedsTensors, tensor_of
from jaxaot.facade.gradients.anomaly import watch_outside_of_the_mode
from jaxaot.facade.indexing.symbolic_numbers import Numbers, SymbolicNumber
from jaxaot.facade.marks.raised import run_traced
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.trace_state import RUNNING, TRACING, GraphBreak, TraceState
from jaxaot.plan.alias import AliasPlan, ConstantOutput
from jaxaot.plan.breaks import BreakValue
from jaxaot.plan.call import CallPlan, GhostInput, Lineage, StorageInput, TensorInput, ValueInput
from jaxaot.plan.facts import LoadsValue
from jaxaot.plan.guards import GradGuard, HasType, StaticInput
from jaxaot.plan.paths import Path, follow
from jaxaot.plan.stages import Traced
from jaxaot.plan.world import OutsideObject, WorldWrite
from jaxaot.tape.modes import state
from jaxaot.tracer.alias import Escapes, collect_escapes, no_aliases, plan_aliases
from jaxaot.tracer.apart import HandlersApart
from jaxaot.tracer.arguments import (
    check_static,
    flatten_arguments,
    is_array_argument,
    is_moving,
    is_static_argument,
    leaf_paths,
    names_its_keywords,
    static_input,
    value_type,
    with_leaves,
)
from jaxaot.tracer.bodies.grad_hooks import refuse_lasting_hooks, registered_again
from jaxaot.tracer.forward_mode import check_forward_mode
from jaxaot.tracer.generators import generator_plan
from jaxaot.tracer.hoist import inputs_of
from jaxaot.tracer.leaks import check_leaks, check_reached, empty_caches
from jaxaot.tracer.numbers.predictions import (
    can_be_replaced,
    changing_numbers,
    declared_numbers,
    growing_lists,
    is_inside,
    log_values,
    predicts,
    refuse_keys,
    shared_tuples,
    with_passed,
    without_numbers,
)
from jaxaot.tracer.numbers.recipes import Recipes
from jaxaot.tracer.observe.asked import add_bases, asked_guards, held_guards
from jaxaot.tracer.observe.cells import Places
from jaxaot.tracer.observe.containers import PLAIN, is_plain
from jaxaot.tracer.observe.guards import Inputs, python_guards
from jaxaot.tracer.observe.loads import Facts, Loads
from jaxaot.tracer.observe.observer import Observer
from jaxaot.tracer.observe.watched import Reads, watched
from jaxaot.tracer.order import in_order, put_in_order
from jaxaot.tracer.parts import parts_alone, parts_among
from jaxaot.views.layout import Layout

AROUND_TRACES: list[Callable[[], contextlib.AbstractContextManager[Any]]] = []
"""What is entered around each run of a function that is traced; who has code of a library run in traces adds it."""


@immutable
class _How:
    """What the function is given for its arguments.

    Attributes:
      is_shared: Whether dicts and lists are the caller's own: one to which another path leads too is written to.
      numbers: Paths of the numbers that are symbolic.
      is_again: Whether a trace before this one has shown what the function prints.
      lists: Paths of the lists that are added to and not read.
      sizes: Tensors that are reached, each with the layout that it is to have in the trace; None for its own.
      parts: The tensors that are passed as values; see `parts.py`.
      has_strides: Whether these have their own strides.
      stops: Whether the trace ends where Python needs a value, rather than raises.
      has_scalars: Whether NumPy's scalars are themselves, so that code can tell their types, rather than symbols.
      records: Whether `float` and `int` make numbers of tensors that Python may keep; None until code calls one.
    """

    is_shared: bool = False
    numbers: tuple[Path, ...] = ()
    is_again: bool = False
    lists: tuple[Path, ...] = ()
    sizes: tuple[tuple[Tensor, Layout | None], ...] = ()
    parts: tuple[Tensor, ...] = ()
    has_strides: bool = False
    stops: bool = False
    has_scalars: bool = False
    records: bool | None = None

    def is_static(self, leaf: object) -> bool:
        """Whether an argument is part of the program as a whole."""
        return is_static_argument(leaf) or (self.has_scalars and isinstance(leaf, np.generic))


class _TraceAgain(Exception):
    """The function has to be given something else."""

    def __init__(self, how: _How):
        super().__init__(how)
        self.how = how


def trace_call(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    known: Sequence[np.ndarray] | None = None,
    numbers: Iterable[Path] | None = None,
    sizes: Sequence[tuple[Tensor, Layout | None]] = (),
    symbolic: Sequence[Path] = (),
    by_value: Sequence[Path] | None = None,
    stops: bool = False,
) -> Traced:
    """Returns the functional graph of `fn(*args, **kwargs)` and its plans; nothing is changed by it.

    Args:
      fn: The function.
      args: Its arguments.
      kwargs: Its keyword arguments.
      known: The values that Python asks for, in order; None if it may not ask. Where one is not among them the trace
        stops, and its only output is that value.
      numbers: Paths of numbers that change from call to call; such numbers, and those that the function replaces, are
        symbolic. None if none is but floats of arguments.
      sizes: The tensors that an earlier trace of the call reached, in order, each with the layout that it is to have in
        this one; None for its own. One that gets another layout shows all of its storage.
      symbolic: Paths of numbers that are symbolic at once, without a trace of the numbers themselves: whoever says so
        compares the trace with one of another call that predicted the plain one. If more is symbolic, both are made.
      by_value: Paths of tensors that are passed as values if they are read alone, as are arguments that show parts of
        their storages; None if none are.
      stops: Whether the trace ends at a value that Python asks for, and where it does what no graph can.

    Raises:
      UnreachableTensorError: If the function reached a tensor that no path leads to.
      LeakedTensorError: If a tensor made inside was kept outside.
      StaticArgumentError: If an argument that is no tensor cannot be compared.
    """
    leaves, in_tree = flatten_arguments(args, kwargs)
    of_leaves = leaf_paths((args, kwargs), in_tree)
    passed = tuple(path for path, leaf in zip(of_leaves, leaves, strict=True) if is_moving(leaf, path))
    for leaf in leaves:
        if is_static_argument(leaf):
            check_static(leaf)
    with TRACING:
        paths = by_value if known is None else None
        parts = () if paths is None else parts_among(leaves, roots(fn, args, kwargs), paths)
        how = _How(sizes=tuple(sizes), parts=parts, stops=stops or known is not None)
        if symbolic and known is None and numbers is not None:
            first = dataclasses.replace(how, numbers=tuple(dict.fromkeys((*passed, *symbolic))))
            at_once = _symbolic_at_once(fn, args, kwargs, leaves, in_tree, first)
            if at_once is not None:
                return at_once
        run = functools.partial(_settled_trace, fn, args, kwargs, leaves, in_tree, known)
        starts = roots(fn, args, kwargs)
        plain, how = with_passed(run, fn, passed, how, starts)
        changing: tuple[Path, ...] = ()
        if numbers is not None:
            changing = (*changing_numbers(plain, starts, of_leaves), *declared_numbers(plain, starts))
        wanted = [path for path in dict.fromkeys((*changing, *(numbers or ()))) if path not in how.numbers]
        chosen = [path for path in wanted if path in of_leaves or can_be_replaced(path, starts)]
        if chosen:
            shared = shared_tuples(plain, starts)
            chosen = [path for path in chosen if not is_inside(path, shared)]
        lists = () if numbers is None else dict.fromkeys(growing_lists(plain, starts))
        if not (chosen or lists) or not plain.is_whole:
            return plain
        how = dataclasses.replace(how, numbers=(*how.numbers, *chosen), lists=tuple(lists), is_again=True)
        try:
            found, _ = run(how)
        except Exception as error:  # code that takes none but Python's own numbers
            log_values(fn, chosen, f"{type(error).__name__}: {error}")
            return plain
        if predicts(found, plain, starts):
            return found
        log_values(fn, chosen, "with a symbol in its place the function does something else")
        return plain


def _settled_trace(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any], in_tree: PyTreeDef,
    known: Any, how: _How,
) -> tuple[Traced, _How]:  # fmt: skip
    """Returns a trace, and what the function had to be given for it."""
    while True:
        try:
            return _trace(fn, args, kwargs, leaves, in_tree, known, how), how
        except _TraceAgain as again:
            how = again.how
        except NeedsTensors as needs:
            for cell in needs.cells:
                tensor_of(cell)


def _symbolic_at_once(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any], in_tree: PyTreeDef,
    how: _How,
) -> Traced | None:  # fmt: skip
    """Returns the trace of a call with symbols for some numbers; None if more than these are to be symbolic."""
    starts, symbolic = roots(fn, args, kwargs), how.numbers
    try:
        is_there = all(type(follow(starts, p)) in (int, float) and can_be_replaced(p, starts) for p in symbolic)
    except (AttributeError, LookupError, TypeError, ValueError):  # this call has no such object
        return None
    while is_there:
        try:
            traced = _trace(fn, args, kwargs, leaves, in_tree, None, how)
        except _TraceAgain as again:
            how = again.how
            continue
        except Exception:  # which the plain trace raises too, or it was the symbol
            return None
        of_leaves = leaf_paths((args, kwargs), in_tree)
        further = (
            *changing_numbers(traced, starts, of_leaves), *declared_numbers(traced, starts),
            *growing_lists(traced, starts),
        )  # fmt: skip
        shared = shared_tuples(traced, starts)
        if any(is_inside(path, shared) for path in symbolic):
            return None
        return None if further or how.numbers != symbolic else traced
    return None


def _trace(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any], in_tree: PyTreeDef,
    known: Any, how: _How,
) -> Traced:  # fmt: skip
    trace = TraceState(known, how.stops)
    trace.events = [] if settings.get().validate_guards else None
    trace.numbers, trace.records = Numbers(trace), how.records
    starts, of_leaves = roots(fn, args, kwargs), leaf_paths((args, kwargs), in_tree)
    # classes note reads from here on, so whatever ends the trace has to end the observer
    observer = Observer(frozenset(id(follow(starts, path)) for path in how.lists))
    world, places = observer.world, Places(observer.world, observer.unread)
    observer.on_cells = places.adopt
    observer.calls.on_effect = trace.stop if how.stops else None
    observer.reach_call(fn, args, kwargs, of_leaves, leaves)
    grad_enabled, autocast, n_contexts = state.grad_enabled, state.autocast, len(state.autocast_before)
    plans: list[Any] = []

    def staged() -> Any:
        trace.level = trace_level()
        places.open(trace)
        trace.take(how.sizes, {*map(id, how.parts)})
        for tensor in how.parts:
            trace.pass_part(tensor, how.has_strides)
        given: list[Any] = []
        for position, leaf in enumerate(leaves):
            if isinstance(leaf, Tensor):
                trace.note(leaf)
                trace.adopt(leaf._storage)
                given.append(leaf)
            elif is_array_argument(leaf) and not how.is_static(leaf):
                dtype = canonical_dtype(leaf.dtype)
                given.append(trace.lift(tuple(leaf.shape), dtype, ("value", position)))
                if dtype != leaf.dtype and not isinstance(leaf, jax.ShapeDtypeStruct):
                    trace.wide[id(given[-1])] = position, leaf
            else:
                given.append(leaf)
        for path in how.numbers:
            value = follow(starts, path)
            if type(value) is SymbolicNumber:  # another path leads there too
                continue
            symbol = trace.numbers.read(path, value)
            if path in of_leaves:
                given[of_leaves.index(path)] = symbol
            else:
                world.put_number(starts, path, symbol)
        if trace.events is not None:
            for path, leaf, was in zip(of_leaves, given, leaves, strict=True):
                if leaf is was and is_plain(leaf):
                    trace.events.append((LoadsValue(path, leaf), ""))
        reads: dict[Path, Reads] = {}
        for path in how.lists:
            original = follow(starts, path)
            stand_in = watched(original)
            reads[path] = stand_in.reads
            world.put_number(starts, path, stand_in)
            world.stand_in(path, stand_in, original)
        moved = frozenset(id(tensor) for tensor, layout in how.sizes if layout is not None)
        if how.numbers or how.records:
            observer.on_arithmetic = functools.partial(world.put_recording, is_silent=how.is_again)
        call_args, call_kwargs = with_leaves((args, kwargs), in_tree, leaves, given, world, how.is_shared, (), moved)
        recipes = Recipes(trace, world.paths, given, observer.codes)
        escapes, writes = Escapes([], pytree.structure(0)), list[WorldWrite]()
        with contextlib.suppress(GraphBreak):
            for of_one in reads.values():
                of_one.is_on = True
            loads = contextlib.nullcontext() if trace.events is None else Loads(observer, trace.events)
            with contextlib.ExitStack() as stack:
                for around in (*AROUND_TRACES, lambda: observer, lambda: loads):
                    stack.enter_context(around())
                result = run_traced(fn, call_args, call_kwargs, world.context)
            if how.records and observer.named.tells_types:
                if known is not None:  # what was asked so far would be asked otherwise
                    raise TraceError("The function may tell a symbol from a number.")
                raise _TraceAgain(dataclasses.replace(how, records=False))
            trace.numbers.asks_for_types = bool(how.numbers) and observer.named.tells_types
            for of_one in reads.values():
                of_one.is_on = False
            tells_classes = observer.named.tells_types or "isinstance" in observer.named.read
            if tells_classes and not how.has_scalars and any(isinstance(leaf, np.generic) for leaf in leaves):
                raise _TraceAgain(dataclasses.replace(how, has_scalars=True))
            if trace.numbers.asked and observer.named.tells_types:  # a symbol from a number
                trace.numbers.give_up()
            if any(of_one.is_read for of_one in reads.values()):
                unread = tuple(path for path, of_one in reads.items() if not of_one.is_read)
                raise _TraceAgain(dataclasses.replace(how, lists=unread))
            if not trace.is_broken:  # by a question whose exception the function caught
                writes = [*places.changes(recipes.give), *world.writes(recipes.give)]
                if not how.is_shared and not world.written.isdisjoint(world.repeats):
                    raise _TraceAgain(dataclasses.replace(how, is_shared=True))
                writes += registered_again(trace, result, recipes)
                put_in_order(trace, leaves)
                own = recipes.tensors, recipes.numbers
                containers, objects = world.single()
                outside = objects | places.outside | world.wrappers
                escapes = collect_escapes(trace, result, outside, *own, world.paths, containers)
                refuse_keys(trace, escapes.out_tree)
                refuse_lasting_hooks(trace, escapes.leaves)
                if how.parts:
                    kept, has_strides = parts_alone(trace, how.parts, escapes), trace.asks_for_strides
                    if kept != how.parts or has_strides > how.has_strides:
                        raise _TraceAgain(dataclasses.replace(how, parts=kept, has_strides=has_strides))
            del result
        del call_args, call_kwargs, given
        if trace.records != how.records:
            raise _TraceAgain(dataclasses.replace(how, records=not observer.named.tells_types))
        if trace.is_broken:
            escapes = Escapes([], pytree.structure(0))  # it may have stopped at its end
            plans.append((no_aliases(escapes), escapes))
            asked = trace.break_values[-1][0]
            return [np.zeros(0, bool) if asked is None else asked]
        unfinished, outputs = plan_aliases(trace, escapes, lambda output: recipes.plan(writes, output))
        plans.append((unfinished, escapes))
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
        observer.end()
        try:
            world.put_back()
        finally:
            places.close()  # on objects that are as they were
            empty_caches(observer.caches, trace)
            trace.restore()
            if trace in RUNNING:
                RUNNING.remove(trace)
            state.region, state.trace, state.anomaly = region, None, anomaly
            is_restored = True

    handlers, is_traced = HandlersApart(trace), False
    trace.entry = staged.__code__
    try:
        state.region, state.trace = None, trace
        state.anomaly = anomaly or watch_outside_of_the_mode()
        RUNNING.append(trace)
        closed = jax.make_jaxpr(staged)()
        is_traced = True
    finally:
        try:
            finish(restore)
        finally:
            restore()  # if an interrupt came before it was done
            handlers.put_back()
        observer.calls.finish(fn, is_traced or trace.is_broken)
    try:
        check_forward_mode(closed)
        unfinished, escapes = plans.pop()
        modes = (grad_enabled, autocast)
        return _finish(
            fn, args, kwargs, leaves, in_tree, trace, closed, unfinished, escapes, places, observer, modes, how
        )  # fmt: skip
    finally:
        observer.forget()


def _finish(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any],
    in_tree: PyTreeDef, trace: TraceState, closed: ClosedJaxpr, unfinished: Any,
    escapes: Escapes, places: Places, observer: Observer, modes: tuple[bool, Any],
    how: _How,
) -> Traced:  # fmt: skip
    constants, world = _constant_arrays(closed), observer.world
    starts, paths = roots(fn, args, kwargs), dict(observer.world.paths)
    for number, others in observer.world.repeats.items():
        if number in trace.noted:
            paths[number] = min(paths[number], *others, key=_plainness)
    add_bases(trace, paths)
    inputs = _tensor_inputs(leaves, trace, paths)
    if not trace.is_broken:  # stopped at a value, the function's frames still hold what it made
        check_leaks(world.paths, trace, escapes)
    number = {id(tensor): i for i, tensor in enumerate(inputs)}
    storage_ids = [s for s in trace.storages if s not in trace.parts]
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
    parts = sorted((number[id(o[1])], k) for k, o in lifted if o[0] == "part")
    order += [k for k, _ in (*ghosts, *values)] + [k for _, k in parts] + [k for k, o in lifted if o[0] == "number"]
    # an array that a path leads to becomes an input: as a constant it would be that of the first call for ever
    arrays = [(var, paths[id(array)], array) for var, array in constants if id(array) in paths]
    check_reached([array for _, array in constants if id(array) not in paths])
    jaxpr, position, place_plan = inputs_of(trace, closed, order, randoms, arrays, places)

    history_number: dict[int, int] = {}
    counter_number: dict[int, int] = {}

    def tensor_with(history: History) -> int:
        for tensor in inputs:
            if trace.noted[id(tensor)][1]["_history"] is history:
                return number[id(tensor)]
        raise EagerOnlyError(
            "Gradients flow to a tensor that no path leads to: one that requires grad was joined to other memory by "
            "`set_`, so that what it was is not there any more",
            "Write into the tensor, `x.copy_(y)`, or return a new one.",
        )

    reached = []
    for history, storage, ghost in trace.reached.values():
        place = position[of_storage[id(storage)]] if ghost is None else position[ghost]
        reached.append((place, tensor_with(history)))
    reached += [(position[k], i) for i, k in parts if inputs[i].requires_grad]
    alias, done = unfinished(number, storage_number, tensor_with, tuple(reached))
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
            None if history is None else history.layout.plain,
            0 if history is None else history.offset,
        )

    def tensor_input(tensor: Tensor) -> TensorInput:
        was = trace.noted[id(tensor)][1]
        history = was["_history"]
        before = trace.histories.get(id(history))
        requires = history is not None and (before[1]["requires_grad"] if before else history.requires_grad)
        node = None if history is None else (before[1]["node"] if before else history.node)
        is_value = id(was["_storage"]) in trace.parts
        return TensorInput(
            path=paths[id(tensor)],
            storage=storage_number.get(id(was["_storage"]), -1),
            layout=was["_layout"].tight if is_value and not how.has_strides else was["_layout"].plain,
            offset=0 if is_value else was["_offset"],
            requires_grad=requires,
            is_leaf=not requires or (node is None and not was["_chain"]),
            history=None if history is None else history_number.setdefault(id(history), len(history_number)),
            counter=None
            if tensor._counter is None
            else counter_number.setdefault(id(tensor._counter), len(counter_number)),
            is_argument=paths[id(tensor)][0][1] != "fn" and len(paths[id(tensor)]) > 1,
            lineage=lineage(was, storage_number.get(id(was["_storage"]), -1), requires),
            hooks=trace.hook_reads.get(id(tensor)),
            is_value=is_value,
            has_strides=is_value and how.has_strides,
        )

    storages = tuple(
        StorageInput(
            trace.storages[s][1]["layout"].plain,
            first[s],
            position[of_storage[s]] if s in of_storage else None,
            trace.storages[s][1]["n_written"],
        )
        for s in storage_ids
    )

    inputs_of_call = Inputs(
        tensors=number,
        tensor_paths=frozenset(paths[id(t)] for t in inputs),
        arrays={id(follow(starts, array.path)): array.path for array in reversed(place_plan.arrays)},
        places=places.outside,
        values=places.values,
    )
    python = (*places.all_guards(), *python_guards(starts, observer, inputs_of_call))
    python = (*python, *asked_guards(trace, number, paths))
    python = (*python, *held_guards(trace, (args, kwargs), in_tree))
    python = without_numbers(python, how.numbers, starts)
    of_leaves = leaf_paths((args, kwargs), in_tree)
    read = (*(paths[id(t)] for t in inputs), *(array.path for array in place_plan.arrays))
    call = CallPlan(
        tensors=tuple(tensor_input(t) for t in inputs),
        storages=storages,
        ghosts=tuple(
            GhostInput(storage_number[id(s)], tensor_with(history), trace.storages[id(s)][1]["array"] is None)
            for _, (_, history, s) in ghosts
        ),
        values=tuple(ValueInput(o[1], *value_type(leaves[o[1]])) for _, o in values),
        parts=tuple(i for i, _ in parts),
        n_leaves=len(leaves),
        statics=tuple(
            StaticInput(i, HasType(type(leaf)), of_leaves[i])
            if of_leaves[i] in how.numbers
            else dataclasses.replace(static_input(i, leaf), path=of_leaves[i])
            for i, leaf in enumerate(leaves)
            if how.is_static(leaf)
        ),
        repeats=_repeats(leaves, number, paths),
        grads=tuple(GradGuard(number[i], was is None) for i, (_, was) in trace.grad_reads.items() if i in number),
        python=(*python, *world.guards(starts, done, python, read)),
        grad_enabled=modes[0],
        autocast=modes[1],
        numbers=trace.numbers.plan(),
    )
    events = Facts(starts, observer.unread).events(trace, paths, storage_number, done)
    alias = _without_arguments(alias, paths, leaves)
    rng, seeded = generator_plan(trace, paths)
    if not trace.is_broken:  # what stopped has done nothing yet
        done = dataclasses.replace(done, writes=(*done.writes, *seeded))
    break_values = _break_values(trace, escapes, jaxpr)
    without_values = {was["layout"].is_abstract for _, was in trace.storages.values()}
    lain: list[Any] = [None] * len(jaxpr.in_avals)
    given = [(s.graph_input, trace.storages[i][1]["array"]) for s, i in zip(storages, storage_ids, strict=True)]
    given += [(position[k], trace.storages[id(inputs[i]._storage)][1]["array"]) for i, k in parts]
    for place, array in (*given, *((position[k], leaves[o[1]]) for k, o in values)):
        if place is not None:
            lain[place] = placement_of(array)
    return Traced(
        jaxpr, call, alias, rng, in_tree, escapes.out_tree, place_plan, break_values, done, events,
        True in without_values, tuple(lain), escapes.own, escapes.view_names,
        "arguments" if names_its_keywords(fn) else "all", len(without_values) > 1,
    )  # fmt: skip


def _plainness(path: Path) -> tuple[int, int, int]:
    """Returns how far a path is from one by names alone, `model.weight` rather than `optimizer.groups[0][1]`."""
    n_positions = sum(kind == "item" and type(key) is int for kind, key in path)
    return sum(kind in ("member", "key") for kind, _ in path), len(path), n_positions


def _break_values(trace: TraceState, escapes: Escapes, jaxpr: ClosedJaxpr) -> tuple[BreakValue, ...]:
    known = trace.known or ()
    lines = [line for _, line, _ in trace.break_values]
    if trace.is_broken:  # the graph's only output is the value that is not known
        aval = jaxpr.out_avals[0]
        pairs = zip(known, lines, strict=False)
        before = (BreakValue(-1, value.shape, value.dtype, value.tobytes(), line) for value, line in pairs)
        return (*before, BreakValue(0, tuple(aval.shape), aval.dtype, None, lines[-1], trace.break_values[-1][2]))
    return tuple(
        BreakValue(output, value.shape, value.dtype, value.tobytes(), line)
        for output, value, line in zip(escapes.break_values, known, lines, strict=False)
    )


def _without_arguments(alias: AliasPlan, paths: Mapping[int, Path], leaves: Sequence[Any]) -> AliasPlan:
    """Returns the plan with outputs that are objects among the arguments taken from there, not kept."""
    passed = {id(leaf): leaf for leaf in leaves if not isinstance(leaf, PLAIN)}
    outputs = tuple(
        OutsideObject(paths[id(o.value)])
        if isinstance(o, ConstantOutput) and id(o.value) in passed and id(o.value) in paths
        else o
        for o in alias.outputs
    )
    return dataclasses.replace(alias, outputs=outputs)


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


def _constant_arrays(closed: ClosedJaxpr) -> list[tuple[Any, Any]]:
    """Returns the constants of a graph that are jax arrays: variable and array."""
    pairs = zip(closed.jaxpr.constvars, closed.consts, strict=True)
    return [(var, array) for var, array in pairs if isinstance(array, jax.Array) and not is_tracer(array)]


def roots(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Path, Any]]:
    """Returns where the paths of a call start."""
    return [((("root", "args"),), args), ((("root", "kwargs"),), kwargs), ((("root", "fn"),), fn)]


def _tensor_inputs(leaves: Sequence[Any], trace: TraceState, paths: dict[int, Path]) -> list[Tensor]:
    """Returns the tensors from outside in order."""
    missing = [tensor for i, (tensor, _) in trace.noted.items() if i not in paths]
    if missing:
        shown = ", ".join(f"{t.dtype}{list(t.shape)}" for t in missing[:5])
        raise UnreachableTensorError(
            f"The function reached {len(missing)} tensor(s) that are neither arguments nor reachable from its closure, "
            f"the globals it names, or attributes of its objects: {shown}. A later call could not find them again. "
            "Pass them as arguments, or keep them in an attribute, a list or a dict that the function reads."
        )
    return [tensor for tensor, _ in in_order(leaves, trace)]
