"""What a function writes of Python and what it reads, together: which guards a write makes needless, which it needs."""

import types
from contextvars import ContextVar

import pytest

import jaxaot as ja


class Box:
    def __init__(self, **attributes):
        vars(self).update(attributes)


class Key:
    """A key of a dict that is known by its identity."""


def runs_as_eagerly(make, poke=lambda world, i: None, n=6):
    """Returns how many programs a function makes that does to its world what it does eagerly.

    Args:
      make: Returns a function, its world, and what shows the world.
      poke: Changes the world from outside before each call.
      n: How many calls there are.
    """
    (fn, world, show), (body, other, show_other) = make(), make()
    compiled = ja.compile(body)
    for i in range(n):
        poke(world, i)
        poke(other, i)
        assert fn(ja.ones(2) * i).tolist() == compiled(ja.ones(2) * i).tolist()
        assert repr(show()) == repr(show_other())
    return compiled.cache_info().misses


def of_an_attribute():
    box = Box(done=True)

    def fn(x):
        box.done = True
        return x * 2

    return fn, box, lambda: box.done


def of_a_variable():
    space = {}
    exec("flag = True\ndef fn(x):\n    global flag\n    flag = True\n    return x * 2", space)
    return space["fn"], types.SimpleNamespace(space=space), lambda: space["flag"]


def of_an_object():
    box = Box(a=Box(), b=Box())
    box.cur = box.a

    def fn(x):
        box.cur = box.a
        return x * 2

    return fn, box, lambda: box.cur is box.a


def of_a_tensor():
    box = Box(a=ja.ones(2), b=ja.ones(2))
    box.cur = box.a

    def fn(x):
        box.cur = box.a
        return x * 2

    return fn, box, lambda: box.cur is box.a


@pytest.mark.parametrize(
    "make, poke",
    [
        (of_an_attribute, lambda box, i: setattr(box, "done", i % 2 == 0)),
        (of_a_variable, lambda world, i: world.space.update(flag=i % 2 == 0)),
        (of_an_object, lambda box, i: setattr(box, "cur", box.b if i % 2 else box.a)),
        (of_a_tensor, lambda box, i: setattr(box, "cur", box.b if i % 2 else box.a)),
    ],
)
def test_what_is_set_to_what_it_was_is_set_at_later_calls(make, poke):
    assert runs_as_eagerly(make, poke) == 2


@pytest.mark.parametrize("kind", [list, dict])
def test_a_counter_in_a_large_container_compiles_once(kind):
    def make():
        box = Box(seen=[0] * 300 if kind is list else dict.fromkeys(range(300), 0))

        def fn(x):
            box.seen[7] += 1
            return x * box.seen[7] + box.seen[0]

        return fn, box, lambda: box.seen

    assert runs_as_eagerly(make) == 1
    assert runs_as_eagerly(make, lambda box, i: box.seen.__setitem__(0, i // 3)) == 2


def test_items_whose_keys_are_objects_are_replaced():
    def make():
        key = Key()
        held = {key: ja.ones(2)}

        def fn(x):
            for key in held:
                held[key] = held[key] + x
            return x * 1

        return fn, held, lambda: [value.tolist() for value in held.values()]

    assert runs_as_eagerly(make) == 1


def test_a_set_that_is_added_to_is_read():
    def make():
        seen = set()

        def fn(x):
            seen.add("a")
            return x + 1

        return fn, seen, lambda: seen

    assert runs_as_eagerly(make, lambda seen, i: seen.clear() if i % 2 else None) == 2


def test_a_context_variable_that_counts():
    def make():
        variable = ContextVar("variable")

        def fn(x):
            variable.set(variable.get(0) + 1)
            return x * variable.get()

        return fn, variable, lambda: variable.get(None)

    runs_as_eagerly(make)


def test_a_function_that_draws_does_what_it_does_once():
    import random

    box = Box(n=0)

    def fn(x):
        box.n += 1
        return x * random.random()

    compiled = ja.compile(fn)
    with pytest.warns(ja.errors.RecompileWarning, match="draws from"):
        compiled(ja.ones(2))
    compiled(ja.ones(2))
    assert box.n == 2
