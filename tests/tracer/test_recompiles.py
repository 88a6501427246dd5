"""How many programs are kept, what keeps them or is kept by them, and the warning about a reason that returns."""

from __future__ import annotations

import gc
import re
import warnings
import weakref

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import RecompileWarning

pytestmark = pytest.mark.usefixtures("interpreted")


def recompile_warnings(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [str(w.message) for w in caught if issubclass(w.category, RecompileWarning)]


def test_explain_recompiles_prints_a_line_for_each_program_after_the_first():
    fn = ja.compile(lambda x: x + 1, dynamic=False)
    assert repr(fn.explain_recompiles()) == "There was no recompilation."
    for n in (2, 3, 4):
        fn(ja.ones(n))
    records = fn.explain_recompiles()
    assert [record.number for record in records] == [1, 2]
    assert repr(records) == (
        "program 1: argument `x` has shape [3] instead of [2]\nprogram 2: argument `x` has shape [4] instead of [3]"
    )


def test_the_most_similar_call_is_compared_with():
    fn = ja.compile(lambda x, y, n: x * n)
    fn(ja.ones(2), ja.ones(2), 1)
    fn(ja.ones(3, dtype=ja.int32), ja.ones(3), 2)
    fn(ja.ones(2), ja.ones(2), 5)
    assert [str(r) for r in fn.explain_recompiles()[-1].reasons] == [
        "argument `n` is another int than 1, and an input from here on"
    ]


@pytest.mark.slow
def test_a_shape_that_keeps_changing_is_named_once():
    fn = ja.compile(lambda x: x + 1, dynamic=False)
    words = recompile_warnings(lambda: [fn(ja.ones(n)) for n in range(1, 30)])
    assert len(words) == 1
    assert "8 of them because of argument `x`" in words[0] and "leave `dynamic=False` out" in words[0]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("arguments", "about", "advice"),
    [
        (lambda n: (ja.ones(2), str(n)), "static argument 1 (`n`)", "Pass it as a tensor, an array or a float"),
        (lambda n: (ja.ones(40)[n : n + 2], 0), "argument `x`", "a copy: `.clone()`"),
        (lambda n: ([ja.ones(1)] * (n + 1), 0), "argument `x`", "Pass one tensor or array in place of containers"),
    ],
)
def test_the_warning_says_what_to_write_instead(arguments, about, advice):
    fn = ja.compile(lambda x, n: ja.ones(1) * (int(n) + getattr(x, "storage_offset", int)()))
    (words,) = recompile_warnings(lambda: [fn(*arguments(n)) for n in range(20)])
    assert about in words and advice in words and "explain_recompiles()" in words


@pytest.mark.slow
def test_an_attribute_that_keeps_changing_is_named():
    class Model:
        def __init__(self):
            self.w, self.epoch = ja.ones(2), 0

        def forward(self, x):
            return x * self.w * [self.epoch][0] + len(range(self.epoch))

    model = Model()
    fn = ja.compile(model.forward)

    def run():
        for model.epoch in range(20):
            fn(ja.ones(2))

    (words,) = recompile_warnings(run)
    assert "because of `self.epoch`" in words and "Keep it in a tensor" in words


@pytest.mark.slow
def test_several_reasons_are_warned_about_one_by_one_and_modes_never():
    fn = ja.compile(lambda x, n: x + len(n), dynamic=False)

    def run():
        for n in range(12):
            fn(ja.ones(n + 1), "")
            fn(ja.ones(1), "a" * n)
            with ja.no_grad():
                fn(ja.ones(1), "")

    words = recompile_warnings(run)
    assert len(words) == 2


# -- a bounded number of programs --------------------------------------------------------------------------------------


def test_the_least_recently_used_program_is_dropped():
    fn = ja.compile(lambda x: x + 1, max_programs=2, dynamic=False)
    a, b, c = ja.ones(1), ja.ones(2), ja.ones(3)
    fn(a), fn(b), fn(a), fn(c)  # b was used least recently
    assert fn.cache_info() == (1, 3, 2)
    fn(a), fn(c)
    assert fn.cache_info() == (3, 3, 2)
    fn(b)
    assert fn.cache_info() == (3, 4, 2)
    assert "max_programs" in str(fn.explain_recompiles()[-1])


def test_max_programs_has_to_be_positive():
    with pytest.raises(ja.errors.UsageError, match="write 1 or more"):
        ja.compile(lambda x: x, max_programs=0)
    fn = ja.compile(max_programs=1, dynamic=False)(lambda x: x + 1)
    for n in (1, 2, 1):
        fn(ja.ones(n))
    assert fn.cache_info() == (0, 3, 1)


def test_clear_cache_forgets_everything():
    fn = ja.compile(lambda x: x + 1)
    fn(ja.ones(1)), fn(ja.ones(2))
    fn.clear_cache()
    assert fn.cache_info() == (0, 0, 0) and not fn.explain_recompiles()
    fn(ja.ones(1))
    assert fn.cache_info() == (0, 1, 1)


# -- what the cache keeps alive ----------------------------------------------------------------------------------------


class Thing:
    """An object with a tensor."""

    def __init__(self):
        self.w = ja.ones(2)
        self.scale = 2


def gone(make):
    """Returns whether what `make()` returns weak references to dies without the garbage collector's cycles."""
    gc.collect()
    gc.disable()
    try:
        return [reference() is None for reference in make()]
    finally:
        gc.enable()


def test_nothing_keeps_arguments_alive():
    fn = ja.compile(lambda x, y: x.add_(1).sum() + y.view(-1).sum())

    def make():
        leaf = ja.ones(2, requires_grad=True)
        x, y = leaf * 1, ja.ones(2, 2)
        fn(x, y).backward()
        return [weakref.ref(t) for t in (leaf, x, y, x._storage, y._storage, y._storage.array)]

    assert all(gone(make)) and fn.cache_info().currsize == 1


def test_nothing_keeps_objects_alive():
    fn = ja.compile(lambda x, thing: x * thing.w * thing.scale)

    def make():
        thing = Thing()
        fn(ja.ones(2), thing)
        return [weakref.ref(thing), weakref.ref(thing.w)]

    assert all(gone(make))
    other = Thing()
    fn(ja.ones(2), other)
    assert fn.cache_info().currsize == 1  # the program of an object that is gone was dropped


def test_nothing_keeps_what_is_replaced_alive():
    thing = Thing()
    act = lambda x, k=Thing(): x * k.w  # noqa: B008
    thing.act = act
    thing.rows = [ja.ones(2), np.ones(2)]
    fn = ja.compile(lambda x: thing.act(x) + thing.w + thing.rows[0] + float(thing.rows[1][0]))
    fn(ja.ones(2))

    def make():
        references = [weakref.ref(t) for t in (thing.w, thing.act, thing.act.__defaults__[0], *thing.rows)]
        thing.w = thing.act = thing.rows = None
        return references

    del act
    assert all(gone(make))


def test_an_object_that_is_returned_is_not_kept_alive():
    fn = ja.compile(lambda thing: (thing, thing.w * 2))

    def make():
        thing = Thing()
        same, _ = fn(thing)
        assert same is thing
        return [weakref.ref(thing)]

    assert all(gone(make))


def test_a_bound_method_as_an_argument():
    thing = Thing()
    Thing.double = lambda self, x: x * self.w * 2
    fn = ja.compile(lambda method, x: method(x))
    assert [fn(thing.double, ja.ones(2)).tolist() for _ in range(2)] == [[2, 2]] * 2
    assert fn.cache_info() == (1, 1, 1)


# -- functions that change what they depend on -------------------------------------------------------------------------


def test_a_function_that_settles_after_one_trace():
    class Lazy:
        def __init__(self):
            self.w, self.is_ready = ja.ones(2), False

        def __call__(self, x):
            if not self.is_ready:
                self.is_ready = True
                return x * self.w * 0
            return x * self.w

    lazy = Lazy()
    fn = ja.compile(lambda x: lazy(x))
    assert [fn(ja.ones(2)).tolist() for _ in range(3)] == [[0, 0], [1, 1], [1, 1]]
    assert lazy.is_ready and fn.cache_info().misses == 2


def test_a_recursive_function_is_inlined():
    @ja.compile
    def power(x, n):
        return x if n == 0 else x * power(x, n - 1)

    assert power(ja.full((1,), 2.0), 3).item() == 16
    assert power.cache_info() == (0, 1, 1)

    @ja.compile
    def endless(x):
        return endless(x + 1)

    with pytest.raises(RecursionError):
        endless(ja.ones(1))
    assert endless.cache_info().currsize == 0 and power(ja.ones(1), 3).item() == 1


def test_a_call_that_raises_leaves_no_program():
    fn = ja.compile(lambda x: x.no_such_attribute)
    for _ in range(2):
        with pytest.raises(AttributeError):
            fn(ja.ones(1))
    assert fn.cache_info() == (0, 0, 0)


def test_the_generated_source_names_what_it_looks_at():
    fn = ja.compile(lambda x: x.add_(1))
    fn(ja.ones(2))
    lines = fn.programs[0].source.splitlines()
    assert len(lines) < 55 and max(map(len, lines)) < 160
    assert re.search(r"t0 = args\[0\]; s0 = t0\._storage", fn.programs[0].source)


# -- where it was read -------------------------------------------------------------------------------------------------


def test_the_line_that_reads_what_changed_is_quoted(caplog):
    thing = Thing()

    def body(x):
        y = x * thing.scale
        return y + 1

    fn = ja.compile(body)
    fn(ja.ones(2))
    thing.scale = 7
    with caplog.at_level("INFO", logger="jaxaot.recompiles"):
        fn(ja.ones(2))
    number = body.__code__.co_firstlineno + 1
    reason = f"`thing.scale` is 7 instead of 2, read at test_recompiles.py:{number}: `y = x * thing.scale`"
    assert str(fn.explain_recompiles()) == f"program 1: {reason}"
    assert caplog.messages == [f"`body` is compiled again: program 1: {reason}"]


@pytest.mark.slow
def test_the_warning_quotes_the_line_too():
    thing = Thing()
    fn = ja.compile(lambda x: x * len(thing.mode))
    with pytest.warns(RecompileWarning, match=r"read at test_recompiles.py:\d+: `fn = ja.compile.*Keep it in a tensor"):
        for thing.mode in map(str, range(9)):
            fn(ja.ones(2))


def test_a_default_that_is_passed_makes_no_program():
    def fn(x, mask=None, scale=2):
        return x * scale if mask is None else x * mask

    forms = (((), {}), ((None,), {}), ((None, 2), {}), ((), {"mask": None}), ((), {"scale": 2}))
    for first in forms:
        call, x = ja.compile(fn), ja.ones(2)
        for args, kwargs in (first, *forms):
            assert call(x, *args, **kwargs).tolist() == [2, 2]
        assert call.cache_info().misses <= 2 and call(x=x).tolist() == [2, 2]
        n = call.cache_info().misses
        assert call(x, None, 3).tolist() == [3, 3] and call(x, x * 5).tolist() == [5, 5]
        assert call.cache_info().misses == n + 2
        fn.__defaults__ = None, 7
        assert call(x).tolist() == [7, 7] and call(x, None).tolist() == [7, 7]
        fn.__defaults__ = None, 2
