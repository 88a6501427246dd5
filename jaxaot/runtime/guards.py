"""Writes the guards of a call: whether it fits a program, in lines that return `MISS` where it does not.

The cheapest and likeliest to differ come first. What the lines assign is used by the rest of the call: `leaves`, and
`t0 s0 h0` for the tensors, their storages and histories.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, assert_never

import numpy as np

from jaxaot import _trees as pytree
from jaxaot import settings as config
from jaxaot._jax import canonical_dtype
from jaxaot.facade.cells.cells import array_content, is_leaf
from jaxaot.facade.indexing.symbolic_numbers import FUNCTIONS
from jaxaot.facade.memory.generator import Generator, default_generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.plan.call import CallPlan, TensorInput, ValueInput
from jaxaot.plan.difference import CallKey
from jaxaot.plan.guards import differs, shown
from jaxaot.plan.number_program import (
    SIGNS,
    AskedNumber,
    ComputedNumber,
    NumberFact,
    NumberPlan,
    NumberStep,
    ReadNumber,
)
from jaxaot.plan.paths import Path, follow
from jaxaot.plan.rng import RngPlan
from jaxaot.plan.source import MISS, SOURCE_NAME, Source, test_of
from jaxaot.plan.stages import Traced
from jaxaot.runtime.bucket_plan import may_be_padded
from jaxaot.runtime.cell_reads import PlaceWriter
from jaxaot.settings import Config
from jaxaot.tape.modes import state

_PAIRWISE = 4
"""Up to so many things are told apart in pairs, which is faster; more by the size of a set."""


def write_guards(source: Source, traced: Traced, places: PlaceWriter) -> None:
    """Writes the guards of a traced function."""
    call = traced.call
    source.scope.update(
        differs=differs, ndarray=np.ndarray, content=array_content, Generator=Generator, canonical=canonical_dtype
    )
    _arguments(source, traced)
    _tensors(source, call)
    _sharing(source, call)
    written = {write.storage for write in traced.alias.writes}  # a part is read as it was before the call
    source.miss_if(*(f"s{i} is {source.storage(k)}" for i in call.parts for k in sorted(written)))
    for number, t in enumerate(call.tensors):
        source.miss_if(*_lineage(source, number, t))
    for guard in (*call.grads, *call.python):
        source.miss_if(*guard.misses(source))
    _numbers(source, call.numbers)
    places.guards()
    for path in traced.outside_paths:  # what they lead to may change in the call
        source.path(path)
    _generators(source, traced.rng)


def first_miss(key: CallKey, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Returns which guard on Python's objects does not hold for a call, what it saw and what is there; None if all do.

    Args:
      key: What the program's guards look at.
      fn: The function.
      args: The arguments of the call.
      kwargs: Its keyword arguments.
    """
    roots = [((("root", "args"),), args), ((("root", "kwargs"),), kwargs), ((("root", "fn"),), fn)]
    scope: dict[str, Any] = {"ndarray": np.ndarray, "content": array_content}
    for guard in key.call.python:
        try:
            if test_of([guard], dict(scope))(fn, args, kwargs) is True:
                continue
        except NameError:  # it is about tensors, whose differences are told apart
            continue
        try:
            now = shown(follow(roots, guard.path))
        except (AttributeError, LookupError, TypeError, ValueError):
            now = "not there"
        line = "" if guard.line is None else f", read at {guard.line[0].rpartition('/')[2]}:{guard.line[1]}"
        return f"{key.name(guard.path)} is {now} where {guard.condition.words(key)} was seen{line}"
    return None


def scope_of_tests(traced: Traced, settings: Config | None, hooks: Any, watches: bool | None = None) -> dict[str, Any]:
    """Returns what the lines of `write_tests` read.

    Args:
      traced: The trace.
      settings: Those that were in force; None if no graph was made under them.
      hooks: Those on saved tensors that were in force.
      watches: Whether anomaly mode looks for NaNs; None if nothing is looked at.
    """
    return {
        "MISS": MISS, "state": state, "Tensor": Tensor, "default_generator": default_generator, "config": config,
        "scoped": config.scoped_value, "SETTINGS": settings, "HOOKS": hooks, "AUTOCAST": traced.call.autocast,
        "WATCHES": watches,
    }  # fmt: skip


def generate_test(traced: Traced, settings: Config | None, hooks: Any) -> Callable[..., Any]:
    """Returns the guards alone: a function of (fn, args, kwargs) that returns True, or `MISS` for what does not fit."""
    source = Source(traced.call, scope_of_tests(traced, settings, hooks))
    with source.block("def fits(fn, args, kwargs):"):
        write_tests(source, traced, PlaceWriter(source, traced.places))
        source.add("return True")
    exec(compile(str(source), SOURCE_NAME, "exec"), source.scope)
    return source.scope["fits"]


def write_tests(source: Source, traced: Traced, places: PlaceWriter, is_padded: bool = False) -> None:
    """Writes whether a call fits; `is_padded` says whether it runs on padded arrays."""
    source.miss_if(f"state.grad_enabled is not {traced.call.grad_enabled}")
    if source.scope["SETTINGS"] is not None:  # else its graphs were made under what was in force then
        source.miss_if("(scoped() or config._default) is not SETTINGS and config.get() != SETTINGS")
        source.miss_if("state.autocast is not AUTOCAST and state.autocast != AUTOCAST")
    if traced.needs_backward:  # else nothing is saved
        source.miss_if("state.saved_hooks is not HOOKS and state.saved_hooks != HOOKS")
    if source.scope["WATCHES"] is not None:  # else there is nothing to look at
        source.miss_if("(state.anomaly is not None and state.anomaly.check_nan) is not WATCHES")
    with source.block("try:"):
        write_guards(source, traced, places)
    with source.block("except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):"):
        source.add("return MISS")
    if is_padded:  # last, as calls of another size end before
        source.scope["may_be_padded"] = may_be_padded
        source.miss_if("not may_be_padded()")


# -- arguments ---------------------------------------------------------------------------------------------------------


def _arguments(source: Source, traced: Traced) -> None:
    call = traced.call
    positional, keywords = traced.in_tree.children()
    n, words = len(positional.children()), keywords.node_data()[1]
    is_ordered = traced.order != "none"
    if traced.order == "all" or not words:
        source.miss_if(f"len(args) != {n}", f"(*kwargs,) != {words!r}" if words else "kwargs")
    else:
        source.miss_if(f"len(args) != {n}", f"kwargs.keys() != {source.constant(dict.fromkeys(words).keys())}")
    if not keywords.num_leaves and positional.num_leaves == positional.num_nodes - 1 == n:
        source.add("leaves = args")
    else:
        texts = [f"args[{i}]" for i in range(n)] + [f"kwargs[{word!r}]" for word in words]
        trees = (*positional.children(), *keywords.children())
        found = [
            leaf for text, tree in zip(texts, trees, strict=True) for leaf in _leaves(source, text, tree, is_ordered)
        ]
        source.add(f"leaves = ({''.join(f'{leaf}, ' for leaf in found)})")
    numbers = {number.path for number in call.numbers.numbers if isinstance(number, ReadNumber)}
    for static in call.statics:
        if static.path in numbers:
            source.name(static.path, f"leaves[{static.leaf}]")
        else:
            source.miss_if(*static.misses(source))
    for value in call.values:
        _value(source, value)


def _leaves(source: Source, text: str, tree: Any, is_ordered: bool) -> list[str]:
    """Writes the guard that what an expression gives has a structure; returns the expressions of its leaves.

    Args:
      source: Where they are written.
      text: The expression.
      tree: The structure.
      is_ordered: Whether the order of dicts counts.
    """
    node = tree.node_data()
    if node is None:
        return [text]
    if not text.isidentifier():
        name = source.fresh()
        source.add(f"{name} = {text}")
        text = name
    (cls, aux), children = node, tree.children()
    names = [source.fresh() for _ in children]
    if cls is dict and not is_ordered:
        keys = [source.constant(key) for key in aux]
        tests = [f"{text}.keys() != {source.constant(dict.fromkeys(aux).keys())}"]
        items = f"({''.join(f'{text}[{key}], ' for key in keys)})"
    elif cls is dict or cls is OrderedDict:
        tests, items = [f"(*{text},) != {source.constant(aux)}"], f"{text}.values()"
    elif issubclass(cls, (list, tuple)):
        tests, items = [f"len({text}) != {len(names)}"], text
    else:
        source.scope.update(flatten=pytree.REGISTRY.flatten, is_leaf=is_leaf)
        held = source.fresh()
        source.add(f"{held}, tree = flatten({text}, is_leaf)")
        source.miss_if(f"tree != {source.constant(tree)}")
        return [f"{held}[{i}]" for i in range(tree.num_leaves)]
    source.miss_if(f"type({text}) is not {source.constant(cls)}", *tests)
    if names:
        source.add(f"{', '.join(names)}, = {items}")
    return [
        leaf for name, child in zip(names, children, strict=True) for leaf in _leaves(source, name, child, is_ordered)
    ]


def _value(source: Source, value: ValueInput) -> None:
    name = f"leaves[{value.leaf}]"
    dtype = source.constant(value.dtype)
    source.miss_if(
        f"{name}.shape != {tuple(value.shape)!r}",
        f"isinstance({name}, Tensor)",
        f"{name}.dtype is not {dtype} and canonical({name}.dtype) != {dtype}",
    )


# -- numbers -----------------------------------------------------------------------------------------------------------


def _numbers(source: Source, plan: NumberPlan) -> None:
    """Writes what computes the numbers, `z0 z1 …`, and tests what the trace relied on as soon as it is known."""
    facts: dict[int, list[NumberFact]] = {}
    for fact in plan.facts:
        facts.setdefault(fact.step, []).append(fact)
    for step, number in enumerate(plan.numbers):
        if step in plan.late:
            continue
        match number:
            case ReadNumber(path, cls):
                source.add(f"z{step} = {source.step(path)}")
                source.miss_if(f"type(z{step}) is not {cls.__name__}")
            case ComputedNumber() as computed:
                _compute(source, step, computed)
            case AskedNumber():
                raise AssertionError("it is late")
            case _:
                assert_never(number)
        for fact in facts.get(step, ()):
            value = source.constant(fact.value)
            if fact.is_of_type:
                source.miss_if(f"type(z{step}) is not {value}")
            elif isinstance(fact.value, bool):
                source.miss_if(f"z{step} is not {fact.value}")
            else:
                source.miss_if(f"differs(z{step}, {value})")


def _compute(source: Source, step: int, number: ComputedNumber) -> None:
    texts = [f"z{v.step}" if isinstance(v, NumberStep) else source.constant(v) for v in number.operands]
    how, is_binary = number.how, number.how in SIGNS
    text = f" {SIGNS[how]} ".join(texts) if is_binary else f"{_function(source, how)}({', '.join(texts)})"
    source.add(f"z{step} = {text}")


def late_numbers(source: Source, plan: NumberPlan) -> None:
    """Writes what computes the numbers that graph outputs hold, and others from them, once the graph has run."""
    for step in sorted(plan.late):
        number = plan.numbers[step]
        if isinstance(number, AskedNumber):
            source.add(f"z{step} = asarray(out[{number.output}]).reshape(()).item()")
        elif isinstance(number, ComputedNumber):
            _compute(source, step, number)


def _function(source: Source, how: str) -> str:
    return source.constant(FUNCTIONS[how])


# -- tensors -----------------------------------------------------------------------------------------------------------


def _tensors(source: Source, call: CallPlan) -> None:
    storages = call.storages
    for i, t in enumerate(call.tensors):
        source.add(f"t{i} = {source.step(t.path)}; s{i} = t{i}._storage; h{i} = t{i}._history")
        layout = source.constant(t.layout)
        tests = [f"t{i}._layout is not {layout}"]
        if t.is_value and not t.has_strides:
            tests = [f"{tests[0]} and t{i}._layout.tight is not {layout}"]
        if t.storage >= 0:
            held = storages[t.storage]
            if held.tensor == i:
                tests.append(
                    f"s{i}.layout is not {layout if held.layout is t.layout else source.constant(held.layout)}"
                )
            else:
                tests.append(f"s{i} is not s{held.tensor}")
        if not t.is_value and (t.storage < 0 or t.layout is not storages[t.storage].layout):
            tests.append(f"t{i}._offset != {t.offset}")
        if not t.requires_grad:
            tests.append(f"h{i} is not None and h{i}.requires_grad")
        else:
            tests += [f"h{i} is None", f"not h{i}.requires_grad"]
            tests += (
                [f"h{i}.node is not None", f"t{i}._chain"] if t.is_leaf else [f"h{i}.node is None and not t{i}._chain"]
            )
        source.miss_if(*tests)
    _told_apart(source, [f"s{s.tensor}" for s in storages])


def _told_apart(source: Source, names: list[str]) -> None:
    """Writes the guard that some things are all distinct."""
    if len(names) > _PAIRWISE:
        source.miss_if(f"len({{{', '.join(names)}}}) != {len(names)}")
    else:
        source.miss_if(*(f"{a} is {b}" for i, b in enumerate(names) for a in names[:i]))


def _sharing(source: Source, call: CallPlan) -> None:
    """Writes which arguments are one tensor, which tensors share a history, and which storages hold no array."""
    for leaf, tensor in call.repeats:
        source.miss_if(f"leaves[{leaf}] is not {source.tensor(tensor)}")
    on_storage: dict[Any, list[int]] = {}
    for i, t in enumerate(call.tensors):
        on_storage.setdefault("part" if t.is_value else t.storage, []).append(i)
    alike = (
        (i, j)
        for numbers in on_storage.values()
        for k, j in enumerate(numbers)
        for i in numbers[:k]
        if call.tensors[i].layout is call.tensors[j].layout and call.tensors[i].offset == call.tensors[j].offset
    )
    source.miss_if(*(f"{source.tensor(i)} is {source.tensor(j)}" for i, j in alike))
    _shared_histories(source, call, on_storage)
    for k, s in enumerate(call.storages):
        if not s.layout.numel:
            holds = "is" if s.graph_input is not None else "is not"
            source.miss_if(f"{source.storage(k)}.array {holds} None")


def _shared_histories(source: Source, call: CallPlan, on_storage: dict[Any, list[int]]) -> None:
    """Writes which tensors share a history, and a write counter; a leaf without views among the inputs shares none."""
    tensors = call.tensors
    among = [i for held, numbers in on_storage.items() if len(numbers) > 1 and held != "part" for i in numbers]
    _same_pattern(source, [(source.tensor(i) + "._counter", tensors[i].counter) for i in among])
    among += [i for i, t in enumerate(tensors) if t.requires_grad and not t.is_leaf and i not in among]
    _same_pattern(source, [(source.history(i), tensors[i].history) for i in among])


def _same_pattern(source: Source, labelled: list[tuple[str, int | None]]) -> None:
    """Writes the guard that expressions are one object where they have one label; None is no object."""
    first: dict[int, str] = {}
    apart = []
    for name, label in labelled:
        if label is None or first.setdefault(label, name) == name:
            apart.append(name)
        else:
            source.miss_if(f"{first[label]} is None", f"{name} is not {first[label]}")
    if len(apart) > _PAIRWISE:
        source.scope["are_distinct"] = are_distinct
        source.miss_if(f"not are_distinct([{', '.join(apart)}])")
    else:
        source.miss_if(*(f"{a} is {b} is not None" for i, b in enumerate(apart) for a in apart[:i]))


def are_distinct(objects: list[Any]) -> bool:
    """Returns whether no two of them are the same object; None is none."""
    found = [held for held in objects if held is not None]
    return len({*found}) == len(found)


def _lineage(source: Source, number: int, t: TensorInput) -> list[str]:
    tensor, tests = source.tensor(number), []
    if t.hooks is not None:
        tests.append(f"tuple({tensor}._hooks or ()) != {t.hooks!r}")
    if t.lineage is None:
        return tests
    line = t.lineage
    if line.base is None:
        tests.append(f"{tensor}._base_tensor is not None")
    elif line.base >= 0:
        tests.append(f"{tensor}._base_tensor is not {source.tensor(line.base)}")
    tests.append(f"{tensor}._chain != {source.constant(line.chain)}" if line.chain else f"{tensor}._chain")
    tests.append(f"{tensor}._creation != {line.creation!r}" if line.creation else f"{tensor}._creation")
    if line.layout is not None:
        history = source.history(number)
        tests += [f"{history}.layout is not {source.constant(line.layout)}", f"{history}.offset != {line.offset}"]
    return tests


# -- generators --------------------------------------------------------------------------------------------------------


def _generators(source: Source, rng: RngPlan) -> None:
    found = [generator_name(source, use.path) for use in rng.generators]
    for use, name in zip(rng.generators, found, strict=True):
        if use.path is not None:
            source.miss_if(f"type({name}) is not Generator")
    _told_apart(source, found)


def generator_name(source: Source, path: Path | None) -> str:
    """Returns the variable of a generator; the default one has no path."""
    return "default_generator" if path is None else source.path(path)
