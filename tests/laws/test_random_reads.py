"""Programs that read Python's world, which is changed from outside between calls: eager is the oracle.

A world has objects, dicts, lists, classes, globals, closures and defaults. A program reads some of them; between calls
one place is changed, read or not. The compiled function returns what the function returns, and there are no more
programs than there were distinct states of what it reads.
"""

import random
import types

import pytest

import jaxaot as ja
from tests.seeds import seeds


class World:
    """What a program may read: each place has a way to read it and a way to change it."""

    def __init__(self, rng):
        self.rng = rng

        class Base:
            shared = 1

            def inherited(self, x):
                return x + 1

        class Layer(Base):
            scale = 2

            def method(self, x, k=2):
                return x * k

            @property
            def prop(self):
                return 3

            @staticmethod
            def fixed(x):
                return x - 1

        self.cls, self.base = Layer, Base
        self.a, self.b = Layer(), Layer()
        for layer in (self.a, self.b):
            layer.k, layer.flag, layer.unread = 1, True, 0
            layer.items, layer.cfg = [1, 2, 3], {"n": 1, None: 2, "deep": {"m": 1}}
            layer.w = ja.ones(2)
            layer.space = types.SimpleNamespace(v=1)
        self.holder = types.SimpleNamespace(cur=self.a, rows=[self.a, self.b])
        self.long = [0] * 300
        self.scope = {"ja": ja, "world": self, "g": 1, "step": 0, "h": self.holder, "a": self.a, "b": self.b}

    READS = (
        "x * a.k", "x * (2 if a.flag else 3)", "x * len(a.items)", "x * a.items[0]", "x * a.cfg['n']",
        "x * a.cfg[None]", "x * a.cfg['deep']['m']", "x + a.w", "x * a.space.v", "x * a.scale", "x * a.shared",
        "a.method(x)", "a.inherited(x)", "x * a.prop", "a.fixed(x)", "x * g", "x * (1 if h.cur is a else 2)",
        "x * h.rows.index(h.cur)", "x * h.cur.k", "x * world.long[-1]", "x * sum(a.items)", "x * d", "x * c",
    )  # fmt: skip

    def program(self):
        """Returns a random function of a tensor: its body is some of the reads, one after the other."""
        lines = self.rng.sample(self.READS, self.rng.randint(2, 6))
        code = "\n".join([
            "def make():", "    c = 1", "    def fn(x, d=1):", *(f"        x = {line}" for line in lines),
            "        return x", "    def set_c(value):", "        nonlocal c", "        c = value",
            "    return fn, set_c",
        ])  # fmt: skip
        exec(code, self.scope)
        fn, self.set_c = self.scope["make"]()
        self.fn = fn
        return fn

    def change(self):
        """Changes one place, to one of a few values; `rng` says which."""
        n = self.rng.choice((1, 2, 3))
        a, cls = self.rng.choice((self.a, self.b)), self.cls
        changes = [
            lambda: setattr(a, "k", n), lambda: setattr(a, "flag", n > 1), lambda: setattr(a, "unread", n),
            lambda: a.items.__setitem__(0, n), lambda: setattr(a, "items", [n, 2]), lambda: a.cfg.update(n=n),
            lambda: a.cfg.update({None: n}), lambda: a.cfg["deep"].update(m=n), lambda: a.w.fill_(n),
            lambda: setattr(a, "w", ja.full((2,), n)), lambda: setattr(a.space, "v", n),
            lambda: setattr(cls, "scale", n), lambda: setattr(self.base, "shared", n), lambda: setattr(a, "scale", n),
            lambda: setattr(cls, "method", lambda self, x, k=n: x * k + 1),
            lambda: setattr(cls, "inherited", lambda self, x: x * n),
            lambda: setattr(cls, "prop", property(lambda self: n)),
            lambda: setattr(cls, "fixed", staticmethod(lambda x: x * n)),
            lambda: self.scope.update(g=n), lambda: self.scope.update(step=n, k=n, items=n),
            lambda: setattr(self.holder, "cur", a), lambda: self.holder.rows.reverse(),
            lambda: self.long.__setitem__(-1, n), lambda: self.set_c(n),
            lambda: setattr(self.fn, "__defaults__", (n,)), lambda: setattr(a, "method", lambda x: x * n),
            lambda: vars(a).pop("method", None), lambda: vars(a).pop("scale", None),
        ]  # fmt: skip
        self.rng.choice(changes)()


def check(seed, n_calls):
    world = World(random.Random(seed))
    fn = world.program()
    compiled = ja.compile(fn)
    n_changes = 0
    for _ in range(n_calls):
        x = ja.tensor([1.0, 2.0])
        expected = fn(x).tolist()
        assert compiled(x).tolist() == expected
        assert compiled(x).tolist() == expected
        if world.rng.random() < 0.8:
            n_changes += 1
            world.change()
    assert compiled.cache_info().misses <= n_changes + 1


@pytest.mark.parametrize("seed", seeds(6, 2))
def test_a_compiled_function_follows_the_world(seed):
    check(seed, 8)


@pytest.mark.parametrize("seed", seeds(300, 2))
def test_guards_are_sound(seed):
    pytest.importorskip("z3")
    with ja.config(validate_guards=True):
        check(seed, 12)


def test_in_segments():
    check(1, 6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1150))
def test_many_worlds(seed):
    check(seed, 25)
