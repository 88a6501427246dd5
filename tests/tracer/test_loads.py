"""What code loads while it is traced is noted as facts, apart from guards: `ja.config(validate_guards=True)`."""

import types

import jaxaot as ja
from jaxaot.plan.facts import AreApart, AreOne, CountsItems, LoadsValue, ShareMemory, ShareNoMemory
from jaxaot.plan.paths import path_text

top = 5


class Box:
    scale = 2

    def __init__(self, **attributes):
        vars(self).update(attributes)

    def method(self, x):
        return x * self.k

    @property
    def computed(self):
        raise AssertionError("no code of the user's runs to see what is loaded")


def facts(fn, *args):
    """Returns the facts of a trace, with paths in words."""
    with ja.config(validate_guards=True):
        return [event.fact for event in ja.trace(fn, *args).events]


def values(fn, *args):
    return {path_text(f.path): f.value for f in facts(fn, *args) if isinstance(f, LoadsValue)}


def test_values_are_seen_where_code_loads_them():
    o, n = Box(k=1, unread=0, deep=Box(k="a"), cfg={"n": 2, "m": 3}, items=[4, 5]), 6

    def fn(x):
        if o.deep.k == "a":
            x = x * o.k + o.cfg["n"] + o.items[-1] + n + top + o.scale
        else:
            x = x * o.unread
        return x

    assert values(fn, ja.ones(1)) == {
        "o.deep.k": "a", "o.k": 1, "o.cfg['n']": 2, "o.items[1]": 5, "n": 6, "top": 5, "o.scale": 2,
    }  # fmt: skip


def test_values_are_seen_in_methods_and_functions_that_are_called():
    o, space = Box(k=3), types.SimpleNamespace(v=7)
    inner = lambda x: x + space.v
    assert values(lambda x: inner(o.method(x)), ja.ones(1)) == {"o.k": 3, "space.v": 7}


def test_arguments_are_seen_and_what_the_function_itself_put_there_is_not():
    o = Box(k=1, n=2)

    def fn(x, flag):
        o.k = 10
        return x * o.k * o.n if flag else x

    assert values(fn, ja.ones(1), True) == {"args[1]": True, "o.n": 2}


def test_no_code_of_the_users_runs():
    o = Box(k=1)
    fn = lambda x: x * o.k if isinstance(Box.computed, property) else x
    assert values(fn, ja.ones(1)) == {"o.k": 1}


def test_lengths_are_seen_where_they_are_asked_for_and_not_where_a_list_is_added_to():
    o = Box(items=[1, 2], log=[], rows=[3])

    def fn(x):
        o.log.append(x.sum())
        for item in o.items:
            x = x + item
        return x * len(o.rows)

    found = {path_text(f.path): f.n for f in facts(fn, ja.ones(1)) if isinstance(f, CountsItems)}
    assert found == {"o.items": 2, "o.rows": 1}


def test_objects_that_are_one_and_what_is_written_to():
    a = Box(k=1)
    o = types.SimpleNamespace(a=a, also=a, b=Box(k=2))

    def fn(x):
        o.a.k = x
        return x * o.also.k + o.b.k

    found = facts(fn, ja.ones(1))
    one = [(path_text(f.path), path_text(f.other)) for f in found if isinstance(f, AreOne)]
    apart = [(path_text(f.path), *map(path_text, f.others)) for f in found if isinstance(f, AreApart)]
    assert one == [("o.also", "o.a")] and ("o.b", "o.a") in apart


def test_tensors_that_share_memory():
    h = ja.ones(4)
    o = Box(h=h, part=h[:2], other=ja.ones(2))
    found = facts(lambda x: o.h.sum() + o.part + o.other, ja.ones(2))
    share = [(path_text(f.path), path_text(f.other)) for f in found if isinstance(f, ShareMemory)]
    apart = [path_text(f.path) for f in found if isinstance(f, ShareNoMemory)]
    assert share == [("o.part", "o.h")] and apart[-1] == "o.other"


def test_without_the_setting_nothing_is_noted():
    o = Box(k=1)
    assert ja.trace(lambda x: x * o.k, ja.ones(1)).events == ()


def test_a_load_is_noted_once():
    o = Box(k=1)

    def fn(x):
        for _ in (1, 2, 3):
            x = x * o.k
        return x

    assert len(facts(fn, ja.ones(1))) == 1
