"""`ja.config(validate_guards=True)`: guards are proved sound, and one that is not is found with a counter-example."""

import dataclasses
import sys
import warnings

import pytest

import jaxaot as ja
from jaxaot.errors import MissingExtraError, UnprovedGuardsWarning, UnsoundGuardsError
from jaxaot.facade.indexing.symbolic_numbers import Numbers
from jaxaot.plan.guards import EqualTo, HasLength, IsAlsoAt, IsTensor
from jaxaot.plan.members import AreDistinct
from jaxaot.plan.number_program import ComputedNumber
from jaxaot.tracer import trace
from jaxaot.tracer.observe import containers, guards
from jaxaot.tracer.observe.side_effects import SideEffects
from jaxaot.validate import prove, terms


@pytest.fixture(autouse=True)
def validated():
    pytest.importorskip("z3")
    with ja.config(validate_guards=True), warnings.catch_warnings():
        warnings.simplefilter("error", UnprovedGuardsWarning)
        yield


class Box:
    scale = 2

    def __init__(self, **attributes):
        vars(self).update(attributes)


def calls(fn, n=4, *args):
    """Calls a compiled function some times, and returns how many programs that took."""
    compiled = ja.compile(fn)
    for _ in range(n):
        compiled(*(args or (ja.ones(2),)))
    return compiled.cache_info().misses


# -- programs whose guards are sound -----------------------------------------------------------------------------------


def counter(o, x):
    o.n += 1
    return x * o.n


def schedule(o, x):
    o.n += 1
    rate = min(1.0, o.n / 3) * 0.5 ** (o.n // 2)
    if o.n % 3 == 0:
        o.rate = o.rate * 0.9
    return x * rate if o.rate > 0.5 else x


def bias_correction(o, x):
    o.n += 1
    o.h.mul_(0.9).add_(x)
    return o.h / (1 - 0.9**o.n)


def toggle(o, x):
    o.flag = not o.flag
    o.mode = "b" if o.mode == "a" else "a"
    return x if o.flag else -x


def lists(o, x):
    for item in o.items:
        x = x + item
    o.log.append(x.sum())
    return x * len(o.items)


def shared(o, x):
    o.view.add_(x[:1])
    return o.h + o.same


def dicts(o, x):
    o.cfg["n"] += 1
    return x * o.cfg["n"] * o.cfg["deep"]["k"] * o.scale + o.pair[1]


def caught(o, x):
    try:
        y = x / (1 / o.zero)
    except ZeroDivisionError:
        y = x
    o.zero += 1
    return y


def two_boxes(o, x):
    o.a.h = x * 2
    o.a.n += 1
    return o.b.h * o.b.n


def numbers_of_all_kinds(o, x):
    o.n = (o.n * 5 + 2) % 7 - (o.n >> 1)
    o.rate = abs(-o.rate) / 2 + o.n * 1e-3
    return x * round(o.rate, 2) * (o.n & 3) if o.rate < 1.5 and o.n != 3 else x


class Base:
    def method(self, x):
        return x * self.k

    def other(self, x):
        return x + limit


class Derived(Base):
    def method(self, x):
        return super().method(x) * limit


class Sibling(Base):
    pass


limit = 3


def methods(o, x):
    return o.one.other(o.two.method(o.one.method(x)))


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "body",
    [
        counter,
        schedule,
        bias_correction,
        toggle,
        lists,
        shared,
        dicts,
        caught,
        two_boxes,
        numbers_of_all_kinds,
        methods,
    ],
)
def test_programs_prove_sound(body):
    h = ja.ones(2)
    o = Box(
        n=0, rate=1.0, zero=0, h=h, same=h, view=h[:1], flag=False, mode="a", items=[1, 2], log=[], pair=(1, 2.5),
        cfg={"n": 1, "deep": {"k": 2}}, a=Box(h=ja.ones(2), n=1), b=Box(h=ja.ones(2), n=1),
        one=Derived(), two=Sibling(),
    )  # fmt: skip
    o.one.k, o.two.k = 1, 2
    assert calls(lambda x: body(o, x), 5) <= 5


def test_variables_and_arguments_prove_sound():
    n, table = 0, [1, 2, 3]

    def fn(x, k, *, mode):
        nonlocal n
        n += k
        return x * n + table[0] if mode == "a" else x

    compiled = ja.compile(fn)
    for k in (1, 1, 2):
        compiled(ja.ones(2), k, mode="a")
    assert n == 4


def test_segments_prove_sound():
    o = Box(n=0)

    @ja.compile()
    def fn(x):
        o.n += 1
        if x.sum() > 1:
            x = x * o.n
        return x

    assert [fn(ja.ones(2)).tolist()[0] for _ in range(3)] == [1.0, 2.0, 3.0]


def test_what_the_user_vouches_for_is_no_fact():
    cfg = ja.compiler.assume_constant(Box(k=3))
    o = Box(cfg=cfg)
    fn = ja.compile(lambda x: x * o.cfg.k)
    fn(ja.ones(1))
    cfg.k = 4
    assert fn(ja.ones(1)).tolist() == [3.0]


def test_a_long_list_proves_sound():
    o = Box(items=list(range(1000)))
    assert calls(lambda x: x * o.items[-1] + len(o.items)) == 1


@pytest.mark.slow
def test_many_tensors_prove_sound_in_time():
    o = Box(weights=[ja.ones(1) for _ in range(150)])

    def fn(x):
        for w in o.weights:
            w.add_(x)

    assert calls(fn, 2, ja.ones(1)) == 1


def test_events_are_noted_in_the_order_in_which_the_trace_met_them():
    o = Box(n=4, mode="a")
    n = 1

    def fn(x):
        if o.n > 3 and o.mode == "a":
            x = x * n
        return x

    lines = [type(event.fact).__name__ for event in ja.trace(fn, ja.ones(1)).events]
    assert lines == ["LoadsValue", "LoadsValue", "LoadsValue"]
    assert [event.fact.value for event in ja.trace(fn, ja.ones(1)).events] == [4, "a", 1]
    with ja.config(validate_guards=False):
        assert ja.trace(fn, ja.ones(1)).events == ()


# -- seeded faults -----------------------------------------------------------------------------------------------------


def fault(fn, *args):
    """Returns the error for a function whose guards are not sound."""
    with pytest.raises(UnsoundGuardsError) as caught_error:
        calls(fn, 2, *args)
    return caught_error.value


def test_a_lost_predicate_is_found(monkeypatch):
    plan = Numbers.plan
    monkeypatch.setattr(Numbers, "plan", lambda self: dataclasses.replace(plan(self), facts=()))
    o = Box(step=0)

    def fn(x):
        o.step += 1
        if o.step > 10:
            x = x * 2
        return x

    error = fault(fn)
    assert "`((o.step + 1) > 10)` is False" in str(error) and "if o.step > 10" in error.line
    assert error.counterexample["o.step"] >= 10 and error.counterexample["((o.step + 1) > 10)"] is True


def test_a_weakened_predicate_is_found(monkeypatch):
    plan = Numbers.plan

    def weaker(self):
        found = plan(self)
        numbers = [
            ComputedNumber(n.how, (n.operands[0], 20)) if isinstance(n, ComputedNumber) and n.how == "gt" else n
            for n in found.numbers
        ]
        return dataclasses.replace(found, numbers=tuple(numbers))

    monkeypatch.setattr(Numbers, "plan", weaker)
    o = Box(step=0)

    def fn(x):
        o.step += 1
        return x * 2 if o.step > 10 else x

    error = fault(fn)
    assert error.counterexample["(o.step + 1) > 10"] is True
    assert error.counterexample["((o.step + 1) > 20)"] is False


def test_a_lost_predicate_on_floats_is_found_though_the_solver_knows_no_powers(monkeypatch):
    plan = Numbers.plan
    keep = lambda facts: tuple(fact for fact in facts if fact.is_of_type)
    monkeypatch.setattr(Numbers, "plan", lambda self: dataclasses.replace(plan(self), facts=keep(plan(self).facts)))
    o = Box(step=0)

    def fn(x):
        o.step += 1
        return x * 2 if 0.9**o.step < 0.5 else x

    error = fault(fn)
    step = error.counterexample["o.step"]
    assert 0.9 ** (step + 1) < 0.5 and "`((0.9 ** (o.step + 1)) < 0.5)` is False" in str(error)


def test_a_number_that_does_not_fit_into_the_graph_is_found(monkeypatch):
    plan = Numbers.plan
    monkeypatch.setattr(Numbers, "plan", lambda self: dataclasses.replace(plan(self), facts=()))
    o = Box(step=0)

    def fn(x):
        o.step += 1
        return x * o.step

    error = fault(fn)
    assert "`(o.step + 1)` fits into 32 bits" in str(error) and error.counterexample["o.step"] >= 2**31 - 1


def test_an_error_that_is_caught_and_not_guarded_is_found(monkeypatch):
    plan = Numbers.plan
    monkeypatch.setattr(Numbers, "plan", lambda self: dataclasses.replace(plan(self), facts=()))
    o = Box(zero=0)
    error = fault(lambda x: caught(o, x))
    assert "`1 / o.zero` raises an error" in str(error) and error.counterexample["o.zero"] != 0


def drop(monkeypatch, is_dropped):
    """Has the guards that the walk makes dropped where a predicate says so."""
    made = guards._Walk._guard

    def guard(self, path, condition):
        if not is_dropped(path, condition):
            made(self, path, condition)

    monkeypatch.setattr(guards._Walk, "_guard", guard)


def test_a_lost_value_is_found_and_the_first_of_several_is_named(monkeypatch):
    drop(monkeypatch, lambda path, condition: isinstance(condition, EqualTo) and path[-1][1] in ("mode", "late"))
    o = Box(k=3, mode="a", late=1, n=2)

    def fn(x):
        x = x * o.k
        if o.mode == "a":
            x = x + o.n
        return x * o.late

    error = fault(fn)
    assert "`o.mode` is 'a'" in str(error) and "number 2" in str(error)
    assert str(error.counterexample["o.mode"]) != "a" and error.line.rpartition(":")[2].isdigit()


@pytest.mark.parametrize("asks", [lambda items: len(items), lambda items: sum(1 for _ in items)])
def test_a_lost_length_is_found(monkeypatch, asks):
    made = containers.guard_items

    def guard_items(*args):
        found = made(*args)
        kept = [guard for guard in found.guards if not isinstance(guard.condition, HasLength)]
        return dataclasses.replace(found, guards=kept)

    monkeypatch.setattr(guards, "guard_items", guard_items)
    o = Box(items=[1, 2, 3])
    error = fault(lambda x: x * len(o.items) + asks([1]))
    assert "`o.items` has 3 items" in str(error) and error.counterexample["len(o.items)"] != 3


def test_a_lost_identity_is_found(monkeypatch):
    drop(monkeypatch, lambda path, condition: isinstance(condition, IsAlsoAt))
    a = Box(k=1)
    o = Box(a=a, b=a)
    error = fault(lambda x: x * o.a.k + o.b.k)
    assert error.counterexample == {"o.b is o.a": False}


def test_a_lost_tensor_that_is_another_is_found(monkeypatch):
    drop(monkeypatch, lambda path, condition: isinstance(condition, IsTensor))
    h = ja.ones(2)
    o = Box(a=h, b=h)
    error = fault(lambda x: o.a.add_(x) + o.b)
    assert error.counterexample == {"o.b is o.a": False}


def test_a_write_to_what_may_be_read_elsewhere_is_found(monkeypatch):
    made = SideEffects.guards
    monkeypatch.setattr(
        SideEffects, "guards", lambda *args: (g for g in made(*args) if not isinstance(g.condition, AreDistinct))
    )
    a, b = Box(h=ja.ones(2)), Box(h=ja.ones(2))

    def fn(x):
        a.h = x * 2
        return b.h + 1

    error = fault(fn)
    assert error.counterexample == {"b is a": True}


def without_storages(**fields):
    plan = CALL_PLAN(**fields)
    tensors = tuple(dataclasses.replace(t, storage=-1) for t in plan.tensors)
    return dataclasses.replace(plan, tensors=tensors, storages=())


CALL_PLAN = trace.CallPlan


def test_lost_guards_on_shared_memory_are_found(monkeypatch):
    monkeypatch.setattr(trace, "CallPlan", without_storages)
    x = ja.ones(4)
    error = fault(lambda a, b: a.add_(b), x, ja.ones(4))
    assert error.counterexample == {"b shares memory with a": True}
    error = fault(lambda a, b: a.add_(b[0]), x, x[:2])
    assert error.counterexample == {"b shares memory with a": False}


def test_the_error_names_the_function_and_what_to_do(monkeypatch):
    drop(monkeypatch, lambda path, condition: isinstance(condition, EqualTo))
    o = Box(k=3)

    def train(x):
        return x * o.k

    error = fault(train)
    assert "The guards of `train` let calls in" in str(error) and "`ja.compiler.disable(train)`" in str(error)
    assert "test_prove.py" in error.line and error.fact == "`o.k` is 3"


# -- without an answer -------------------------------------------------------------------------------------------------


def test_without_time_there_is_a_warning_and_the_program_runs(monkeypatch):
    monkeypatch.setattr(prove, "_SECONDS", 0.0)
    o = Box(n=0)
    fn = ja.compile(lambda x: counter(o, x))
    with pytest.warns(UnprovedGuardsWarning, match="is not known"):
        assert fn(ja.ones(1)).tolist() == [1.0]


def test_without_the_solver_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    terms.load_solver.cache_clear()
    try:
        with pytest.raises(MissingExtraError, match=r"jaxaot\[validate\]"):
            ja.compile(lambda x: x + 1)(ja.ones(1))
    finally:
        terms.load_solver.cache_clear()


def test_a_number_that_the_function_put_back_is_its_own():
    o = Box(n=1, c=[1, 2])

    def fn(x):
        o.n, o.c[0] = o.c[0], o.n
        return x * o.n if o.n == 1 else x

    assert calls(fn, 3) <= 2
