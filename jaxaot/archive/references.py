"""Numbers in plans that refer to something: each is in range, and what it refers to is of the type that is said.

Readers see to it that each field is of its type. What a number means only shows beside the other plans: `TensorSpec`
says number 3 of the histories, and there are two. The generated code of a call would find out in the middle of it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_type_hints

from jaxaot._typing import Aval
from jaxaot.archive.readers import Damaged, shown
from jaxaot.archive.state import StatePlan
from jaxaot.ir.roles import Gradient, Output, Primal
from jaxaot.plan import alias, call, guards, saved, world
from jaxaot.plan import number_program as numbers
from jaxaot.plan.inputs import in_order
from jaxaot.plan.stages import Partition, Traced
from jaxaot.views.chain import AbstractViewOp
from jaxaot.views.layout import Layout

_OR_NONE = " or -1"
_ANY = "any"
_MADE, _HISTORY = "tensor of inputs and made", "history"

_BY_NAME = {name: name for name in ("tensor", "storage", "leaf", "step", "output", _HISTORY, "counter")}
"""What a field of this name refers to, if the table below does not say otherwise."""
_REFERENCES: dict[type, dict[str, str | tuple[str, ...]]] = {
    call.Lineage: {"base": f"tensor{_OR_NONE}"},
    call.TensorInput: {"storage": f"storage{_OR_NONE}", "history": _ANY, "counter": _ANY},
    call.CallPlan: {"repeats": ("leaf", "tensor")},
    guards.IsTensor: {"number": "tensor"},
    alias.FreedStorage: {"content": "output"},
    alias.HistoryOfNode: {"output": "result of the node"},
    alias.HistoryOfLeaf: {"leaf": _MADE},
    alias.TensorSpec: {"storage": "storage of inputs and made", "base": _MADE},
    alias.GradChange: {"grad": _MADE},
    alias.TensorOutput: {"tensor": _MADE},
    alias.AliasPlan: {
        "bumps": ("tensor", _ANY), "differentiable": "output", "reached": ("input", "tensor"), "read": "storage",
    },
    world.BuiltTensor: {"tensor": _MADE},
    world.BuiltObject: {"number": "object"},
    saved.FromPrimal: {"index": "input"},
    saved.FromOutput: {"index": "output"},
    saved.FromForward: {"index": "residual"},
    saved.TapePlan: {"primals": "input"},
    Primal: {"index": "input"},
    Output: {"index": "output"},
    Gradient: {"primal": "input"},
}  # fmt: skip
"""Plan → its fields that are numbers of something else, or tuples of them, and of what; for pairs, of what each is."""


@functools.cache
def references_of(cls: type) -> dict[str, str | tuple[str, ...]]:
    """Returns the fields of a plan that refer to something, and to what."""
    if issubclass(cls, AbstractViewOp):  # whose numbers are dims and sizes
        return {}
    hints, held = get_type_hints(cls), dataclasses.fields(cls)
    named = {f.name: _BY_NAME[f.name] for f in held if f.name in _BY_NAME and hints[f.name] in (int, int | None)}
    return named | _REFERENCES.get(cls, {})


def require_references(traced: Traced, in_types: Sequence[Any], out_types: Sequence[Any]) -> None:
    """Raises unless what the plans of a call refer to is there, and of the types of its graph."""
    plan, made = traced.call, traced.alias
    n_tensors, n_storages = len(plan.tensors), len(plan.storages)
    limits = {
        "tensor": n_tensors, "storage": n_storages, "tensor of inputs and made": n_tensors + len(made.made),
        "storage of inputs and made": n_storages + len(made.fresh), "history": len(made.histories),
        "counter": len(made.counters), "leaf": plan.n_leaves, "step": len(plan.numbers.numbers),
        "object": len(traced.world.made), "input": len(in_types), "output": len(out_types),
        "result of the node": len(made.differentiable),
    }  # fmt: skip
    _require_in_range((plan, made, traced.world), limits)
    _require_order(traced)
    for number, storage in enumerate(plan.storages):
        _require(plan.tensors[storage.tensor].storage == number, f"storage {number} is not that of its tensor")
    _require(plan.n_leaves == traced.in_tree.num_leaves, "the arguments have not as many leaves as their tree")
    _require(len(made.outputs) == traced.out_tree.num_leaves, "the results have not as many leaves as their tree")
    _require_inputs(traced, in_types)
    for item in (*made.writes, *made.fresh):
        if item.output is not None:
            _require_fits(item.layout, out_types[item.output], f"output {item.output}")


def require_partition(
    traced: Traced, partition: Partition, tape: saved.TapePlan, in_types: Sequence[Any], out_types: Sequence[Any]
) -> None:
    """Raises unless the plans of a backward refer to what is there, and fit its graph."""
    joint, residuals = partition.joint, partition.plan.residuals
    extra = list(partition.forward.out_avals)[len(out_types) :]
    limits = {"input": len(in_types), "output": len(out_types), "residual": len(extra)}
    _require_in_range((joint.in_roles, joint.out_roles, residuals, tape), limits)
    given, taken = {saved.FromPrimal: in_types, saved.FromOutput: out_types, saved.FromForward: extra}, []
    for residual in residuals:
        taken.append(given[type(residual)][residual.index])
    taken += [out_types[k] for k in traced.alias.differentiable]
    found = [(tuple(a.shape), a.dtype) for a in partition.backward.in_avals]
    _require([(tuple(a.shape), a.dtype) for a in taken] == found, "the backward takes other arrays than there are")
    wanted = [in_types[i] for i in joint.differentiable_inputs]
    found = [(tuple(a.shape), a.dtype) for a in partition.backward.out_avals]
    _require([(tuple(a.shape), a.dtype) for a in wanted] == found, "the backward returns other arrays than gradients")
    _require(len(joint.zero_gradients) in (0, len(wanted)), "not each gradient is said to be zero or not")
    _require(tuple(joint.differentiable_outputs) == traced.alias.differentiable, "it has cotangents of other outputs")
    _require({*joint.differentiable_inputs} <= {i for i, _ in traced.alias.reached}, "gradients flow to no tensor")
    _require(tape.apart is None or len(tape.apart) == len(wanted), "not each gradient is said to be apart or not")


def require_state(plan: StatePlan) -> None:
    """Raises unless what the parts of a state refer to is there."""
    n_tensors, made = len(plan.tensors), "of inputs and made"
    limits = {
        f"storage {made}": len(plan.storages), "history": len(plan.histories), f"tensor {made}": n_tensors,
        "counter": n_tensors,
    }  # fmt: skip
    _require_in_range(plan, limits)
    names = {tensor.name for tensor in plan.tensors}
    for tensor in plan.tensors:
        _require(not tensor.grad or tensor.grad in names, f"`{tensor.name}` has no .grad {tensor.grad!r}")
    every = [thing.name for thing in (*plan.tensors, *plan.arrays, *plan.numbers, *plan.generators)]
    _require(len({*every}) == len(every), "two things in it have one name")


# -- how it is checked -------------------------------------------------------------------------------------------------


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Damaged(otherwise)


def _require_in_range(plans: object, limits: Mapping[str, int]) -> None:
    for plan in _parts(plans):
        for field, kinds in references_of(type(plan)).items():
            for number, kind in _numbers(getattr(plan, field), kinds):
                what = kind.removesuffix(_OR_NONE)
                if number is None or what == _ANY or (number == -1 and what != kind):
                    continue
                if not 0 <= number < limits[what]:
                    raise Damaged(f"a {type(plan).__name__} refers to {what} {number}, and there are {limits[what]}")


def _numbers(value: Any, kinds: str | tuple[str, ...]) -> Iterator[tuple[Any, str]]:
    """Yields the numbers in a field, each with what it is the number of."""
    if isinstance(kinds, tuple):
        yield from ((number, kind) for item in value for number, kind in zip(item, kinds, strict=True))
    else:
        yield from ((number, kinds) for number in (value if isinstance(value, tuple) else (value,)))


def _parts(value: Any) -> Iterator[Any]:
    """Yields the plans in a plan, itself too."""
    if isinstance(value, tuple):
        for item in value:
            yield from _parts(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield value
        for field in dataclasses.fields(value):
            yield from _parts(getattr(value, field.name))


def _require_order(traced: Traced) -> None:
    """Raises unless what is made one after the other is made of what comes before it."""
    n_tensors = len(traced.call.tensors)
    for number, spec in enumerate(traced.alias.made, n_tensors):
        _require(spec.base is None or spec.base < number, f"tensor {number} is a view of one that is made later")
    for number, made in enumerate(traced.call.numbers.numbers):
        for operand in made.operands if isinstance(made, numbers.ComputedNumber) else ():
            is_later = isinstance(operand, numbers.NumberStep) and operand.step >= number
            _require(not is_later, f"number {number} is computed of one that comes later")


def _require_inputs(traced: Traced, in_types: Sequence[Any]) -> None:
    """Raises unless the plans say of each input of the graph what it is, and the graph takes that."""
    plan, held = traced.call, traced.places
    stored = [s for s in plan.storages if s.graph_input is not None]
    leaves = [leaf for _, leaf in held.graph_inputs]
    positions = [s.graph_input for s in stored] + [leaf.graph_input for leaf in leaves]
    _require({*positions} <= {*range(len(in_types))}, "there are inputs that the graph has not")
    _require(len({*positions}) == len(positions), "one input is said to be two things")
    others: list[Any] = [None if g.is_empty else _said(plan.storages[g.storage].layout) for g in plan.ghosts]
    others += [(tuple(v.shape), v.dtype) for v in plan.values]
    others += [((), number.dtype) for number in plan.numbers.inputs]
    others += [None] * (2 * sum(use.is_input for use in traced.rng.generators))  # seeds and offsets
    of_places = [(tuple(leaf.shape), leaf.dtype) for leaf in leaves]
    said = in_order(plan, held, [_said(s.layout) for s in stored], of_places, others)
    _require(len(said) == len(in_types) == len(positions) + len(others), "the graph has another number of inputs")
    for i, (one, aval) in enumerate(zip(said, in_types, strict=True)):
        _require(one is None or one == (tuple(aval.shape), aval.dtype), f"input {i} is {shown(aval)}, and not {one}")


def _said(layout: Layout) -> tuple[Any, Any]:
    return tuple(layout.size), layout.dtype


def _require_fits(layout: Layout, aval: Aval, what: str) -> None:
    _require(_said(layout) == (tuple(aval.shape), aval.dtype), f"{what} is {shown(aval)}, and not {_said(layout)}")
