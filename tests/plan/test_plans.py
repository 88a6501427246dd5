"""Plans are compared strictly: by class and by every field, and equal traces have equal plans."""

import dataclasses

import pytest

import jaxaot as ja
from jaxaot.plan.alias import FreshCounter, HistoryOfInput, TensorOutput
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal, FromRefill


def test_members_of_a_union_with_equal_fields_are_not_equal():
    sources = [FromPrimal(1), FromOutput(1), FromForward(1), FromRefill(1)]
    others = [HistoryOfInput(1), TensorOutput(1), FreshCounter(1), 1, (1,)]
    for i, source in enumerate(sources):
        assert [other == source for other in (*sources, *others)] == [j == i for j in range(len(sources) + len(others))]
    assert len({*sources}) == len(sources) and FromPrimal(True) != FromPrimal(2)


def written(x, y):
    x.mul_(2)
    y.t_()
    return x + y, x[0], y.detach()


def test_equal_traces_have_equal_plans():
    make = lambda: (ja.ones(3, 3).clone(), ja.ones(3, 3, requires_grad=True).clone())
    first, second = ja.trace(written, *make()), ja.trace(written, *make())
    assert first.alias == second.alias and first.signature == second.signature
    assert str(first.jaxpr) == str(second.jaxpr)


@pytest.mark.parametrize("change", ["view", "write", "gradient", "order"])
def test_what_differs_makes_plans_differ(change):
    x, y = ja.ones(3, 3).clone(), ja.ones(3, 3, requires_grad=True).clone()
    fn = written
    match change:
        case "view":
            fn = lambda x, y: (*written(x, y)[:1], x[1], y.detach())
        case "write":
            fn = lambda x, y: written(x, y) if y.add_(1) is y else None
        case "gradient":
            y = y.detach()
        case _:
            fn = lambda x, y: written(x, y)[::-1]
    assert (
        ja.trace(fn, x, y).alias
        != ja.trace(written, ja.ones(3, 3).clone(), ja.ones(3, 3, requires_grad=True).clone()).alias
    )


def test_every_field_of_a_plan_counts():
    alias = ja.trace(written, ja.ones(3, 3).clone(), ja.ones(3, 3, requires_grad=True).clone()).alias
    for field in dataclasses.fields(alias):
        changed = (*getattr(alias, field.name), None)
        assert dataclasses.replace(alias, **{field.name: changed}) != alias, field.name


def test_stages_say_in_one_line_what_they_are():
    w = ja.ones(3, requires_grad=True)
    traced = ja.trace(lambda x: (x * w).sin().sum(), ja.ones(3))
    joint = traced.joint()
    assert repr(traced) == "<Traced: 2 inputs, 3 equations, 1 output; `print` shows the graph>"
    assert repr(joint).startswith("<JointGraph: 3 inputs, 7 equations, 2 outputs")
    assert repr(joint.partition()).startswith("<Partition: saved values: 0 (0 B), recomputed: 1;")
