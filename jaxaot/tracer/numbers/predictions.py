"""Which numbers of Python are to be symbolic, and whether a trace with symbols is that of the numbers themselves.

A trace with a symbol in the place of a number is used only if it predicts the plain one: with the numbers of this call
in the place of its symbols, graph and plans are the same.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, assert_never

from jaxaot._logs import logger_of
from jaxaot.facade.cells.cells import attributes_of
from jaxaot.facade.indexing.symbolic_numbers import FUNCTIONS, SymbolicNumber
from jaxaot.facade.trace_state import TraceState
from jaxaot.ir.tokens import Tokens
from jaxaot.plan.alias import ConstantOutput
from jaxaot.plan.guards import EqualTo, HasLength, HasType, IsAlsoAt, PythonGuard
from jaxaot.plan.inputs import positions_of_numbers
from jaxaot.plan.members import HasItems
from jaxaot.plan.number_program import AskedNumber, ComputedNumber, NumberPlan, NumberStep, ReadNumber, is_declared
from jaxaot.plan.paths import Path, follow, path_text
from jaxaot.plan.stages import Traced
from jaxaot.plan.world import (
    AttributeWrite,
    BuiltConstant,
    BuiltObject,
    CellWrite,
    ComputedValue,
    ContentWrite,
    ContextWrite,
    DequeWrite,
    HookWrite,
    ItemWrite,
    Made,
    MadeCall,
    MadeCopy,
    MadeInstance,
    MadeMapping,
    MadeSequence,
    MadeTree,
    MembersWrite,
    MetadataWrite,
    OutsideObject,
    RefillWrite,
    SliceWrite,
    Value,
    WorldPlan,
    WorldWrite,
    is_growth,
    with_values,
)
from jaxaot.tracer.observe.boundary import is_foreign
from jaxaot.tracer.observe.containers import is_a
from jaxaot.tracer.observe.side_effects import is_same

_LOGGER = logger_of("recompiles")


def changing_numbers(traced: Traced, roots: Sequence[tuple[Path, Any]], of_leaves: Sequence[Path]) -> Iterator[Path]:
    """Yields the paths of the numbers that a function replaced by numbers, if their values are guarded.

    Args:
      traced: The plain trace.
      roots: Where the paths of the call start.
      of_leaves: The path to each leaf of the arguments.
    """
    guarded = {
        place_of(guard.path, roots)
        for guard in traced.call.python
        if isinstance(guard.condition, EqualTo) and type(guard.condition.value) in (int, float)
    }
    containers = {
        id(follow(roots, guard.path)) for guard in traced.call.python if isinstance(guard.condition, HasItems)
    }
    for write in traced.world.writes:
        for path, value in _inner_places(write, traced.world.made):
            try:
                place, before = place_of(path, roots), held_at(path, roots)
            except (AttributeError, LookupError, TypeError, ValueError):  # there was none
                continue
            if type(before) not in (int, float):
                continue
            if path not in of_leaves and place not in guarded and place[0] not in containers:
                continue
            is_number = isinstance(value, BuiltConstant) and type(value.value) in (int, float)
            if is_number or isinstance(value, ComputedValue):
                yield path


def declared_numbers(traced: Traced, roots: Sequence[tuple[Path, Any]]) -> Iterator[Path]:
    """Yields the paths of the guarded numbers that change by what their holder says in `moving_numbers`.

    Such are the learning rates of optimizers. That they are symbolic from the start saves the programs by which their
    changes would be found out.
    """
    for guard in traced.call.python:
        is_number = isinstance(guard.condition, EqualTo) and type(guard.condition.value) in (int, float)
        if is_number and is_declared(guard.path, roots):
            yield guard.path


def shared_tuples(traced: Traced, roots: Sequence[tuple[Path, Any]]) -> set[Path]:
    """Returns the paths of tuples that are in several places, of which one alone would get another tuple."""
    found = set[Path]()
    for guard in traced.call.python:
        if isinstance(guard.condition, IsAlsoAt) and isinstance(follow(roots, guard.path), tuple):
            found |= {guard.path, guard.condition.path}
    return found


def is_inside(path: Path, holders: Container[Path]) -> bool:
    """Returns whether a path leads through one of some others."""
    return any(path[:n] in holders for n in range(2, len(path)))


def can_be_replaced(path: Path, roots: Sequence[tuple[Path, Any]]) -> bool:
    """Returns whether a symbol can stand where a path leads: not in a library, whose own code would meet it."""
    try:
        holder, value = follow(roots, path[:-1]), held_at(path, roots)
    except (AttributeError, LookupError, TypeError, ValueError):
        return False
    if type(value) not in (int, float, complex, tuple):
        return False
    if is_a(holder, (types.ModuleType, type)):
        return not is_foreign(holder.__name__ if is_a(holder, types.ModuleType) else holder.__module__)
    if is_a(holder, tuple):  # another takes its place
        return type(holder) is tuple and path[-1][0] == "item" and can_be_replaced(path[:-1], roots)
    return path[-1][0] in ("closure", "global", "attr", "item", "key")


def growing_lists(traced: Traced, roots: Sequence[tuple[Path, Any]]) -> Iterator[Path]:
    """Yields the paths of the lists and deques that a function added to and whose length is guarded."""
    guarded = {guard.path for guard in traced.call.python if isinstance(guard.condition, HasLength)}
    shared = {guard.condition.path for guard in traced.call.python if isinstance(guard.condition, IsAlsoAt)}
    for write in traced.world.writes:
        if not is_growth(write) or write.path not in guarded - shared or not _is_variable(write.path):
            continue
        if type(follow(roots, write.path)) in (list, deque):
            yield write.path


def _is_variable(path: Path) -> bool:
    """Returns whether something else can be put where a path leads."""
    return (
        len(path) > 1 and path[-1][0] in ("attr", "item", "closure", "global") and path[-2][1] not in ("args", "kwargs")
    )


def _places(write: WorldWrite) -> Iterator[tuple[Path, Value | None]]:
    """Yields the places of a write, each as the path by which it is read, and what is put there."""
    match write:
        case AttributeWrite(path, "cell_contents", value) if path[-2:-1] == (("attr", "__closure__"),):
            yield (*path[:-2], ("closure", (path[-1][1], ""))), value
        case AttributeWrite(path, name, value) if path[-1] != ("root", "default_generator"):
            yield (*path, ("attr", name)), value
        case ItemWrite(path, BuiltConstant(key), value) if path[-1][0] == "attr" and path[-1][1] == "__globals__":
            yield (*path[:-1], ("global", key)), value
        case ItemWrite(path, BuiltConstant(key), value) if path[-1][0] == "attr" and path[-1][1] == "__dict__":
            yield (*path[:-1], ("attr", key)), value
        case ItemWrite(path, BuiltConstant(key), value):
            yield (*path, ("item", key)), value
        case SliceWrite(path, start, _, items) if start is not None:
            yield from (((*path, ("item", start + i)), item) for i, item in enumerate(items))
        case (
            CellWrite() | MetadataWrite() | AttributeWrite() | ItemWrite() | RefillWrite() | SliceWrite() | DequeWrite()
            | MembersWrite() | ContentWrite() | ContextWrite() | HookWrite()
        ):  # fmt: skip
            return
        case _:
            assert_never(write)


def _inner_places(write: WorldWrite, made: Sequence[Made]) -> Iterator[tuple[Path, Value | None]]:
    """Yields the places of a write, and those of the items of a container that takes the place of another."""
    for path, value in _places(write):
        if not isinstance(value, BuiltObject):
            yield from _constants(path, value)
            continue
        container = made[value.number]
        match container:
            case MadeSequence(_, items):
                found = [(("item", i), item) for i, item in enumerate(items)]
            case MadeMapping(_, keys, items):
                pairs = zip(keys, items, strict=True)
                found = [(("item", key.value), item) for key, item in pairs if isinstance(key, BuiltConstant)]
            case MadeInstance(_, names, items):
                found = [(("attr", name), item) for name, item in zip(names, items, strict=True)]
            case MadeTree() | MadeCopy() | MadeCall():
                found = []
            case _:
                assert_never(container)
        for step, item in found:
            yield from _constants((*path, step), item)


def _constants(path: Path, value: Value | None) -> Iterator[tuple[Path, Value | None]]:
    """Yields a value at a place, or those inside of it if it is a tuple of plain values."""
    if isinstance(value, BuiltConstant) and type(value.value) is tuple:
        for i, item in enumerate(value.value):
            yield from _constants((*path, ("item", i)), BuiltConstant(item))
    else:
        yield path, value


def without_numbers(
    guards: Sequence[PythonGuard], numbers: Sequence[Path], roots: Sequence[tuple[Path, Any]]
) -> tuple[PythonGuard, ...]:
    """Returns guards of which those on the values of symbolic numbers are on their types alone."""
    if not numbers:
        return tuple(guards)
    places = {place_of(path, roots) for path in numbers}
    return tuple(found for guard in guards for found in _without(guard, places, roots))


def _without(
    guard: PythonGuard, places: Container[tuple[int, Any]], roots: Sequence[tuple[Path, Any]]
) -> Iterator[PythonGuard]:
    """Yields the guards on the rest where one is on the values of places too."""
    condition, path = guard.condition, guard.path
    if isinstance(condition, EqualTo) and type(condition.value) in (int, float) and place_of(path, roots) in places:
        yield dataclasses.replace(guard, condition=HasType(type(condition.value)))
    elif isinstance(condition, HasItems):
        container = follow(roots, path)
        steps = enumerate(container) if condition.is_dict else ((i, i) for i in range(len(container)))
        found = {i: key for i, key in steps if (id(container), key) in places}
        yield dataclasses.replace(guard, condition=condition.without(found)) if found else guard
        for key in found.values():
            yield PythonGuard((*path, ("item", key)), HasType(type(container[key])), guard.line)
    else:
        yield guard


def _changes_length(write: WorldWrite, roots: Sequence[tuple[Path, Any]]) -> bool:
    """Returns whether a write puts more or fewer items into a list than it takes away."""
    if not isinstance(write, SliceWrite) or write.start is None:
        return False
    n_after = 0 if write.stop is None else -write.stop
    return len(follow(roots, write.path)) != write.start + len(write.items) + n_after


def _is_there(path: Path, value: Value | None, roots: Sequence[tuple[Path, Any]]) -> bool:
    """Returns whether a place holds a plain value already."""
    try:
        return isinstance(value, BuiltConstant) and is_same(held_at(path, roots), value.value)
    except (AttributeError, LookupError, TypeError, ValueError):
        return False


def place_of(path: Path, roots: Sequence[tuple[Path, Any]]) -> tuple[int, Any]:
    """Returns what tells a place apart, whichever path leads to it."""
    kind, key = path[-1]
    holder: Any = follow(roots, path[:-1]) if len(path) > 1 else None
    if kind == "closure":
        return id(holder.__closure__[key[0]]), None
    if kind == "global":
        return id(holder.__globals__), key
    if kind == "attr" and is_a(holder, types.ModuleType):
        return id(vars(holder)), key
    return id(holder), key


def held_at(path: Path, roots: Sequence[tuple[Path, Any]]) -> Any:
    """Returns what a place holds; an attribute is not computed.

    Raises:
      LookupError: If it holds nothing, as far as that is known.
    """
    kind, key = path[-1]
    if kind != "attr":
        return follow(roots, path)
    holder = follow(roots, path[:-1])
    attributes = attributes_of(holder)
    found = attributes[key] if key in attributes else inspect.getattr_static(holder, key, None)
    if key not in attributes and (found is None or hasattr(type(found), "__get__")):
        raise LookupError(key)
    return found


def numbers_of(plan: NumberPlan, roots: Sequence[tuple[Path, Any]]) -> list[Any]:
    """Returns what each of the numbers of a plan is in a call."""
    found: list[Any] = []
    for number in plan.numbers:
        match number:
            case ReadNumber(path):
                found.append(follow(roots, path))
            case ComputedNumber(how, operands):
                values = [found[v.step] if isinstance(v, NumberStep) else v for v in operands]
                is_late = any(isinstance(v, tuple) for v in values)  # what it is made of stands for it
                found.append((how, *values) if is_late else FUNCTIONS[how](*values))
            case AskedNumber(output):
                found.append((AskedNumber, output))
            case _:
                assert_never(number)
    return found


def predicts(symbolic: Traced, plain: Traced, roots: Sequence[tuple[Path, Any]]) -> bool:
    """Returns whether a trace with symbols is one with fewer of them, for the numbers of this call.

    Args:
      symbolic: The trace with symbols.
      plain: The trace of the same call without, or with fewer of them.
      roots: Where the paths of the call start.
    """
    call, other = symbolic.call, plain.call
    if (call.storages, call.ghosts, call.values) != (other.storages, other.ghosts, other.values):
        return False
    pathless = lambda call: [dataclasses.replace(tensor, path=()) for tensor in call.tensors]
    if pathless(call) != pathless(other) or symbolic.out_tree != plain.out_tree:
        return False
    if (symbolic.rng, len(symbolic.break_values)) != (plain.rng, len(plain.break_values)):
        return False
    tokens = Tokens()
    one, two = (_settled(traced, roots, tokens) for traced in (symbolic, plain))
    return one == two


def _settled(traced: Traced, roots: Sequence[tuple[Path, Any]], tokens: Tokens) -> tuple[Any, ...]:
    """Returns what a trace does, with the numbers of this call in the place of symbols."""
    call = traced.call
    values = numbers_of(call.numbers, roots)
    results = [
        ConstantOutput(values[output.value.step])
        if isinstance(output, ConstantOutput) and isinstance(output.value, ComputedValue)
        else output
        for output in traced.alias.outputs
    ]
    positions = positions_of_numbers(call, traced.places)
    numbers = {i: (values[n.step], n.dtype) for i, n in zip(positions, call.numbers.inputs, strict=True)}
    return repr(_settled_world(traced.world, values, roots)), repr(results), tokens.of(traced.jaxpr, numbers)


def _settled_world(plan: WorldPlan, values: Sequence[Any], roots: Sequence[tuple[Path, Any]]) -> list[Any]:
    tuples: dict[int, BuiltConstant] = {}  # a tuple of plain values is a constant, the others are numbered anew

    def settle(value: Value) -> Value:
        if isinstance(value, OutsideObject):  # several paths may lead to it
            return OutsideObject((("object", id(follow(roots, value.path))),))
        if isinstance(value, BuiltObject):
            return tuples.get(value.number) or BuiltObject(value.number - sum(n < value.number for n in tuples))
        return BuiltConstant(values[value.step]) if isinstance(value, ComputedValue) else value

    for i, made in reversed(list(enumerate(plan.made))):  # what is inside has a later number
        if isinstance(made, MadeSequence) and made.cls is tuple:
            constants = [v.value for v in map(settle, made.items) if isinstance(v, BuiltConstant)]
            if len(constants) == len(made.items):
                tuples[i] = BuiltConstant(tuple(constants))
    found: list[Any] = [with_values(made, settle) for i, made in enumerate(plan.made) if i not in tuples]
    for write in plan.writes:
        places = [] if _changes_length(write, roots) else list(_places(with_values(write, settle)))
        found += [(*place_of(path, roots), value) for path, value in places if not _is_there(path, value, roots)]
        found += [] if places else [with_values(write, settle)]
    return found


def with_passed(
    run: Callable[[Any], tuple[Traced, Any]], fn: Callable[..., Any], passed: tuple[Path, ...], how: Any,
    starts: Sequence[tuple[Path, Any]],
) -> tuple[Traced, Any]:  # fmt: skip
    """Returns the trace with symbols for the numbers that are passed, or that of the numbers themselves.

    The first is enough, as what stands for a number does what the number does, or raises an error. Only code that names
    `type` may tell them apart: then both are made, and compared.

    Args:
      run: Traces.
      fn: The function.
      passed: Paths of the numbers that are passed.
      how: What the function is given.
      starts: Where paths start.
    """
    if not passed:
        return run(how)
    try:
        found, given = run(dataclasses.replace(how, numbers=passed))
    except Exception as error:  # the function's own, or one of code that takes none but Python's own numbers
        traced = run(how)
        log_values(fn, passed, f"{type(error).__name__}: {error}")
        return traced
    if not found.call.numbers.asks_for_types:
        return found, given
    plain, how = run(dataclasses.replace(how, is_again=True))
    if predicts(found, plain, starts):
        return found, given
    log_values(fn, passed, "with a symbol in its place the function does something else")
    return plain, how


def holds_symbols(tree: Any) -> bool:
    """Returns whether a key of a dict in a tree stands for a number: of a later call it would be another one."""
    node = tree.node_data()
    keys: Any = node[1] if node is not None and issubclass(node[0], dict) else ()
    keys = keys[1] if node is not None and issubclass(node[0], defaultdict) else keys
    return any(type(key) is SymbolicNumber for key in keys) or any(map(holds_symbols, tree.children()))


def refuse_keys(trace: TraceState, out_tree: Any) -> None:
    """Raises if a key of a result stands for a number.

    Raises:
      GraphBreak: If so, if tensors gave some, and the trace may stop there.
      TypeError: Else, if so.
    """
    if trace.numbers.are_keys and holds_symbols(out_tree):
        if trace.numbers.asked:
            trace.stop("a value of a tensor is a key of the result")
        raise TypeError("the result has a symbol for a key")


def log_values(fn: Callable[..., Any], numbers: Sequence[Path], why: str) -> None:
    """Logs that numbers which change are guarded by their values."""
    if numbers:
        name, places = getattr(fn, "__name__", type(fn).__name__), ", ".join(f"`{path_text(path)}`" for path in numbers)
        _LOGGER.info("`%s` has a program for each value of %s: %s", name, places, why)
