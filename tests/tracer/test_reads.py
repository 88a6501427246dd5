"""What a compiled function reads of Python is what is there at each call: each kind of thing that may be read."""

import array
import collections
import contextvars
import datetime
import decimal
import fractions
import functools
import importlib
import math
import operator
import os
import sys
import threading
import types
import weakref

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import UnguardedError

pytestmark = pytest.mark.usefixtures("interpreted")


class Bag:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def follows(body, *changes, n_programs=None):
    """Asserts that a compiled function returns what `body` does, before and after each change, and at a second call.

    Returns:
      The compiled function.
    """
    fn, x = ja.compile(body), ja.ones(2)
    for change in (lambda: None, *changes):
        change()
        expected = body(x).tolist()
        for _ in range(2):
            assert fn(x).tolist() == expected
    n_expected = len(changes) + 1 if n_programs is None else n_programs
    assert fn.cache_info().misses == n_expected, fn.explain_recompiles()
    return fn


# -- classes -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def layer():
    class Base:
        def inherited(self, x):
            return x * 2

    class Layer(Base):
        def method(self, x, k=3):
            return x * k

        def __call__(self, x):
            return x * 5

        @property
        def scale(self):
            return 7

        @staticmethod
        def fixed(x):
            return x * 11

        @classmethod
        def made(cls, x):
            return x * 13

    return Layer()


REPLACED = {
    "method": (lambda layer, x: layer.method(x), lambda self, x: x * 100),
    "__call__": (lambda layer, x: layer(x), lambda self, x: x * 100),
    "scale": (lambda layer, x: x * layer.scale, property(lambda self: 100)),
    "fixed": (lambda layer, x: layer.fixed(x), staticmethod(lambda x: x * 100)),
    "made": (lambda layer, x: layer.made(x), classmethod(lambda cls, x: x * 100)),
    "inherited": (lambda layer, x: layer.inherited(x), lambda self, x: x * 100),  # comes before that of the base
}


@pytest.mark.parametrize("name", REPLACED)
def test_what_is_replaced_in_a_class(name, layer):
    body, other = REPLACED[name]
    follows(lambda x: body(layer, x), lambda: setattr(type(layer), name, other))
    compiled = ja.compile(body)  # the object is an argument
    setattr(type(layer), name, vars(type(layer)).get(name))
    assert compiled(layer, ja.ones(1)).item() == 100


def test_what_is_replaced_in_the_class_of_an_argument(layer):
    fn = ja.compile(lambda layer, x: layer.inherited(x) + layer(x))
    assert fn(layer, ja.ones(1)).item() == 7
    type(layer).inherited = lambda self, x: x * 100
    assert fn(layer, ja.ones(1)).item() == 105
    type(layer).__call__ = lambda self, x: x
    assert fn(layer, ja.ones(1)).item() == 101
    layer.inherited = lambda x: x * 9
    assert fn(layer, ja.ones(1)).item() == 10


def test_defaults_of_a_method(layer):
    def change():
        type(layer).method.__defaults__ = (4,)

    follows(lambda x: layer.method(x), change)


def test_what_a_default_of_a_method_holds():
    class Layer:
        def forward(self, x, cfg={"k": 2}):  # noqa: B006
            return x * cfg["k"]

    layer = Layer()
    follows(lambda x: layer.forward(x), lambda: Layer.forward.__defaults__[0].update(k=5))


def test_containers_and_objects_of_a_class():
    class Layer:
        sizes = [1, 2]
        cfg = Bag(k=3)

        def forward(self, x):
            return x * sum(self.sizes) * self.cfg.k

    layer = Layer()
    follows(
        lambda x: layer.forward(x),
        lambda: Layer.sizes.append(3),
        lambda: setattr(Layer.cfg, "k", 5),
        lambda: setattr(Layer, "sizes", [4]),
    )


def test_attributes_of_a_descriptor():
    class Scaled:
        def __init__(self, by):
            self.by = by

        def __get__(self, instance, owner):
            return self.by

    class Layer:
        scale = Scaled(2)

    layer = Layer()
    follows(lambda x: x * layer.scale, lambda: setattr(vars(Layer)["scale"], "by", 3))


def test_attributes_of_a_metaclass():
    class Meta(type):
        scale = 2

        def twice(cls, x):
            return x * 2

    class Layer(metaclass=Meta):
        pass

    follows(
        lambda x: Layer.twice(x) * Layer.scale,
        lambda: setattr(Meta, "scale", 3),
        lambda: setattr(Meta, "twice", lambda cls, x: x * 5),
    )


# -- identity ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Bag, lambda: ja.ones(2), lambda: [1], lambda: lambda x: x])
def test_which_object_it_is(make):
    a, b = make(), make()
    s = Bag(cur=a)
    follows(
        lambda x: x * (1 if s.cur is a else 2 if s.cur is b else 3),
        lambda: setattr(s, "cur", b),
        lambda: setattr(s, "cur", make()),
        lambda: setattr(s, "cur", a),
        n_programs=3,
    )


@pytest.mark.parametrize("holds", [lambda s, x: x is s.cur, lambda s, x: any(x is y for y in s.known)])
def test_whether_an_argument_is_a_tensor_that_is_held(holds):
    a, b = ja.ones(2), ja.ones(2)
    s = Bag(cur=a, known=[a])
    fn = lambda x: x * (2 if holds(s, x) else 3)
    compiled = ja.compile(fn)

    def change(tensor):
        s.cur, s.known = tensor, [tensor]

    for held in (a, b, None, b, a):
        change(held)
        for x in (a, b, a):
            np.testing.assert_array_equal(compiled(x), fn(x))
    assert compiled.cache_info().currsize <= 4


def test_a_parameter_that_is_passed_and_reached_as_well():
    layer, other = ja.nn.Linear(2, 2), ja.ones(2, 2)
    fn = ja.compile(lambda p: p * 0 + (1 if p is layer.weight else 2))
    assert [fn(p).sum().item() for p in (layer.weight, other, layer.weight, other)] == [4, 8, 4, 8]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python says of what `id` is called since 3.12")
def test_the_id_of_an_argument_is_guarded_where_code_asks_for_it():
    a, layer = ja.ones(2), ja.nn.Linear(2, 2)
    known = {id(a), *map(id, layer.parameters())}
    asks = ja.compile(lambda x: x * (2 if id(x) in known else 3))
    assert [asks(x).sum().item() for x in (a, ja.ones(2), a)] == [4, 6, 4]
    others = ja.compile(lambda x: x * sum(id(p) in known for p in layer.parameters()))
    for _ in range(3):
        others(ja.ones(2))
    assert others.cache_info().misses == 1


def test_which_object_of_a_list_it_is():
    rows = [Bag(), Bag(), Bag()]
    s = Bag(cur=rows[2])
    follows(lambda x: x * rows.index(s.cur), lambda: setattr(s, "cur", rows[1]), lambda: rows.reverse(), n_programs=2)


def test_whether_an_object_is_in_a_set():
    a, b = Bag(), Bag()
    s = Bag(on={a}, cur=b)
    follows(lambda x: x * (s.cur in s.on), lambda: s.on.add(b), lambda: setattr(s, "on", {b}))


def test_attributes_of_objects_in_a_set():
    held = {Bag(k=2, w=ja.ones(2))}
    (bag,) = held
    follows(
        lambda x: sum(x * b.k * b.w for b in held),
        lambda: setattr(bag, "k", 3),
        lambda: bag.w.add_(1),
        lambda: held.add(Bag(k=1, w=ja.ones(2))),
        n_programs=3,
    )


# -- containers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [257, 5000])
def test_an_item_of_a_long_list(n):
    items = [0] * n
    fn = follows(lambda x: x * items[-1], lambda: items.__setitem__(-1, 2), lambda: items.__setitem__(-1, 2.0))
    assert "`items` holds other items" in str(fn.explain_recompiles())
    items[:] = [0] * (n - 1) + [int("2000") // 1000]  # other objects of the same values
    assert fn(ja.ones(2)).tolist() == [2, 2] and fn.cache_info().misses == 3


def test_an_item_of_a_long_dict():
    items = dict.fromkeys(range(300), 0)
    follows(lambda x: x * items[299], lambda: items.update({299: 4}))


def test_an_object_and_a_tensor_in_a_long_list():
    rows = [Bag(k=1) for _ in range(300)]
    tensors = [ja.ones(2) for _ in range(300)]
    rows[3].t = tensors[7]
    follows(
        lambda x: x * rows[299].k * tensors[299],
        lambda: setattr(rows[299], "k", 2),
        lambda: tensors[299].mul_(3),
        n_programs=2,
    )
    follows(
        lambda x: x * (rows[3].t is tensors[7]),
        lambda: tensors.__setitem__(7, ja.ones(2)),
    )


def test_a_tensor_in_a_long_list_that_is_compared_with_another():
    tensors = [ja.ones(2) for _ in range(300)]
    row = Bag(t=tensors[7])
    follows(lambda x: x * (row.t is tensors[7]), lambda: setattr(row, "t", ja.ones(2)))


def test_an_attribute_of_an_object_that_hides_one_of_its_class():
    class Layer:
        cfg, sizes, w = Bag(k=3), [1, 2], ja.ones(2)

        def forward(self, x):
            return x * self.cfg.k * len(self.sizes) * self.w

    layer = Layer()
    follows(
        lambda x: layer.forward(x),
        lambda: setattr(layer, "cfg", Bag(k=9)),
        lambda: setattr(layer, "sizes", [1]),
        lambda: setattr(layer, "w", ja.ones(2) * 5),
    )


def test_a_container_of_too_many_items_is_refused_unless_it_is_trusted():
    items = list(range(100_001))
    fn = ja.compile(lambda x: x * items[5])
    with pytest.raises(UnguardedError, match=r"`items`, which has 100,001 items.*trust_large_containers"):
        fn(ja.ones(1))
    with ja.config(trust_large_containers=True):
        assert fn(ja.ones(1)).item() == 5
        items.append(0)
        items[5] = 6
        assert fn(ja.ones(1)).item() == 6


def _function():
    pass


KEYS = [_function, Bag, None, b"a", Bag(), range(3), np.int64(3), frozenset({1}), 1.5, (1, None), fractions.Fraction(1)]


@pytest.mark.few(6)
@pytest.mark.parametrize("key", KEYS, ids=lambda key: type(key).__name__)
def test_keys_of_a_dict(key):
    items = {"a": 1, key: 2}
    other = {Bag(): 7}
    follows(lambda x: x * items[key], lambda: items.update({key: 3}))
    follows(lambda x: x * len(items) * sum(other.values()), lambda: items.update({Bag(): 3}), lambda: other.clear())


def test_a_dict_keyed_by_tensors():
    w = ja.ones(2)
    held = {w: {"step": 2, "m": ja.ones(2)}}
    follows(
        lambda x: x * held[w]["step"] + held[w]["m"],
        lambda: held[w].update(step=3),
        lambda: held[w]["m"].add_(1),
        n_programs=2,
    )


def test_a_key_of_a_dict_is_not_kept_alive():
    items = {Bag(): 2}
    fn = ja.compile(lambda x: x * len(items))
    fn(ja.ones(1))
    (key,) = items
    reference = weakref.ref(key)
    del key
    items.clear()
    assert reference() is None


# -- values of the standard library ------------------------------------------------------------------------------------

VALUES = {
    "timedelta": (datetime.timedelta(seconds=1), datetime.timedelta(seconds=2), lambda v: v.total_seconds()),
    "date": (datetime.date(2026, 1, 1), datetime.date(2026, 1, 2), lambda v: v.day),
    "Fraction": (fractions.Fraction(1, 2), fractions.Fraction(1, 4), float),
    "Decimal": (decimal.Decimal("1.5"), decimal.Decimal("2.5"), float),
    "Decimal of one value": (decimal.Decimal("1.0"), decimal.Decimal("1.00"), lambda v: len(str(v))),
    "bytearray": (bytearray(b"ab"), bytearray(b"abc"), len),
    "array": (array.array("d", [1.0]), array.array("d", [2.0]), lambda v: v[0]),
    "memoryview": (memoryview(bytearray(b"ab")), memoryview(b"cb"), lambda v: v[0]),
    "UserDict": (collections.UserDict(k=1), collections.UserDict(k=2), lambda v: v["k"]),
    "UserList": (collections.UserList([1]), collections.UserList([2]), lambda v: v[0]),
    "ChainMap": (collections.ChainMap({"k": 1}), collections.ChainMap({}, {"k": 2}), lambda v: v["k"]),
    "mapping proxy": (types.MappingProxyType({"k": 1}), types.MappingProxyType({"k": 2}), lambda v: v["k"]),
    "attrgetter": (operator.attrgetter("real"), operator.attrgetter("imag"), lambda v: v(2 + 3j)),
    "itemgetter": (operator.itemgetter(0), operator.itemgetter(1), lambda v: v([2, 3])),
    "negative zero": (0.0, -0.0, lambda v: math.copysign(1, v)),
    "negative zero of NumPy": (np.float32(0), -np.float32(0), lambda v: math.copysign(1, v)),
    "deque": (collections.deque([1]), collections.deque([2]), lambda v: v[0]),
}


@pytest.mark.few(13)
@pytest.mark.parametrize("name", VALUES)
def test_values_of_the_standard_library(name):
    first, second, read = VALUES[name]
    h = Bag(value=first)
    follows(lambda x: x * read(h.value), lambda: setattr(h, "value", second))


def test_a_number_that_is_none_is_no_reason():
    h = Bag(value=math.nan)
    fn = ja.compile(lambda x: x * 2 if h.value != h.value else x)
    for _ in range(3):
        h.value = float("nan")
        assert fn(ja.ones(1)).item() == 2
    assert fn.cache_info().misses == 1


CHANGED_IN_PLACE = {
    "bytearray": (bytearray(b"ab"), lambda v: v.append(1), len),
    "array": (array.array("d", [1.0]), lambda v: v.append(2.0), len),
    "memoryview": (memoryview(bytearray(b"ab")), lambda v: v.__setitem__(0, 1), lambda v: v[0]),
    "UserDict": (collections.UserDict(k=1), lambda v: v.update(k=2), lambda v: v["k"]),
    "ChainMap": (collections.ChainMap({}, {"k": 1}), lambda v: v.update(k=2), lambda v: v["k"]),
    "deque": (collections.deque([1, 2]), lambda v: v.rotate(), lambda v: v[0]),
    "Counter": (collections.Counter("aab"), lambda v: v.update("a"), lambda v: v["a"]),
}


@pytest.mark.parametrize("name", CHANGED_IN_PLACE)
def test_values_that_change_in_place(name):
    value, change, read = CHANGED_IN_PLACE[name]
    follows(lambda x: x * read(value), lambda: change(value))


def test_a_mapping_proxy_shows_a_dict():
    held = {"k": 1, "w": ja.ones(2)}
    view = types.MappingProxyType(held)
    follows(lambda x: x * view["k"] + view["w"], lambda: held.update(k=2), lambda: held["w"].add_(1), n_programs=2)


def test_a_weak_reference():
    target = Bag(k=2, w=ja.ones(2))
    reference = weakref.ref(target)
    follows(lambda x: x * reference().k, lambda: setattr(target, "k", 3))


@pytest.mark.few(6)
@pytest.mark.parametrize("kind", [list, dict, collections.OrderedDict, collections.UserDict])
@pytest.mark.parametrize("is_argument", [False, True])
def test_attributes_of_a_subclass_of_a_container(kind, is_argument):
    class Own(kind):
        factor = 2

    held = Own()
    held.k = 3
    body = lambda held, x: x * held.k * held.factor * (len(held) + 1)
    fn = ja.compile(body if is_argument else lambda x: body(held, x))
    given = (held,) if is_argument else ()
    for change in (
        lambda: None,
        lambda: setattr(held, "k", 4),
        lambda: setattr(Own, "factor", 5),
        lambda: held.append(1) if kind is list else held.update(a=1),
    ):
        change()
        expected = body(held, ja.ones(1)).item()
        assert [fn(*given, ja.ones(1)).item() for _ in range(2)] == [expected] * 2
    assert fn.cache_info().misses == 4


# -- what is around ----------------------------------------------------------------------------------------------------


def test_variables_of_the_environment(monkeypatch):
    monkeypatch.setenv("JAXAOT_TEST_SCALE", "2")
    set_to = lambda text: lambda: monkeypatch.setenv("JAXAOT_TEST_SCALE", text)
    follows(lambda x: x * float(os.environ["JAXAOT_TEST_SCALE"]), set_to("3"), set_to("4"))
    follows(lambda x: x * float(os.getenv("JAXAOT_TEST_SCALE", "1")), lambda: monkeypatch.delenv("JAXAOT_TEST_SCALE"))
    name = "JAXAOT_TEST_" + "OTHER"
    follows(lambda x: x * (name in os.environ), lambda: monkeypatch.setenv(name, "1"))


def test_a_thread_local():
    local = threading.local()
    local.k, local.w = 2, ja.ones(2)
    follows(lambda x: x * local.k + local.w, lambda: setattr(local, "k", 3), lambda: local.w.add_(1), n_programs=2)
    fn, found = ja.compile(lambda x: x * local.k), []
    assert fn(ja.ones(1)).item() == 3

    def other_thread():
        local.k = 7
        found.append(fn(ja.ones(1)).item())

    thread = threading.Thread(target=other_thread)
    thread.start()
    thread.join()
    assert found == [7] and fn(ja.ones(1)).item() == 3


def test_a_context_variable():
    scale = contextvars.ContextVar("scale", default=1)
    unset = contextvars.ContextVar("unset")
    follows(lambda x: x * scale.get(), lambda: scale.set(2), lambda: scale.set(3))
    follows(lambda x: x * unset.get(5), lambda: unset.set(2))
    held = contextvars.ContextVar("held")
    held.set(Bag(w=ja.ones(2), k=2))
    follows(
        lambda x: x * held.get().w * held.get().k, lambda: held.get().w.add_(1), lambda: setattr(held.get(), "k", 3),
        n_programs=2,
    )  # fmt: skip


def test_attributes_of_modules_of_libraries(monkeypatch):
    monkeypatch.setattr(math, "jaxaot_scale", 2, raising=False)
    monkeypatch.setattr(np, "jaxaot_scale", 2, raising=False)
    follows(
        lambda x: x * math.jaxaot_scale * np.jaxaot_scale,
        lambda: monkeypatch.setattr(math, "jaxaot_scale", 3),
        lambda: monkeypatch.setattr(np, "jaxaot_scale", 5),
    )
    follows(lambda x: x * math.sqrt(4), lambda: monkeypatch.setattr(math, "sqrt", lambda x: x))


def test_attributes_of_a_module_that_the_function_imports(monkeypatch):
    monkeypatch.setattr(math, "jaxaot_scale", 2, raising=False)

    def body(x):
        import math
        from math import jaxaot_scale

        return x * math.jaxaot_scale * jaxaot_scale

    follows(body, lambda: monkeypatch.setattr(math, "jaxaot_scale", 3))


IMPORTED = """
import time
K, BEGAN = 2, time.time()
print("once")
exec("def made(): return 1", space := {})
def count():
    global N
    N = 3
count()
class Scale:
    k = K
def f(x): return x * K
"""


@pytest.mark.parametrize("folder", [".", "site-packages"])
def test_a_module_that_a_trace_is_the_first_to_import_stays_and_is_read_as_any_other(folder, tmp_path, monkeypatch):
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "imported_in_a_trace.py").write_text(IMPORTED)
    monkeypatch.syspath_prepend(tmp_path / folder)

    def body(x):
        import imported_in_a_trace as module

        return module.f(x) * module.Scale.k * module.N

    fn = ja.compile(body, fullgraph=True)
    try:
        assert fn(ja.ones(1)).item() == 12
        module = sys.modules["imported_in_a_trace"]
        began = module.BEGAN
        assert fn(ja.ones(1)).item() == 12 and fn.n_programs == 1 and began == module.BEGAN
        module.K, module.N = 5, 1
        assert fn(ja.ones(1)).item() == 10 and (module.K, module.N) == (5, 1)
    finally:
        sys.modules.pop("imported_in_a_trace", None)


# -- what is no reason -------------------------------------------------------------------------------------------------


def test_an_attribute_of_the_class_that_the_object_has_too():
    class Layer:
        scale = 2

    layer = Layer()
    follows(lambda x: x * layer.scale, lambda: setattr(layer, "scale", 2), n_programs=1)


@pytest.mark.parametrize("is_argument", [False, True])
def test_an_attribute_that_is_set_and_never_read(is_argument):
    h = Bag(k=2)
    fn = ja.compile((lambda h, x: x * h.k) if is_argument else (lambda x: x * h.k))
    given = (h,) if is_argument else ()
    for n in range(3):
        assert fn(*given, ja.ones(1)).item() == 2
        h.unread = n
        setattr(h, f"unread_{n}", Bag(k=n))
    assert fn.cache_info().misses == 1


def test_a_class_that_is_made_in_a_scope_without_a_name():
    scope = {"ja": ja}
    exec(
        "class Own:\n    n = 1\n    def scaled(self, x): return x * self.n\no = Own()\ndef fn(x): return o.scaled(x)",
        scope,
    )
    compiled, o = ja.compile(scope["fn"]), scope["o"]
    found = [float(compiled(ja.tensor(1.0)))]
    o.n = 3
    found.append(float(compiled(ja.tensor(1.0))))
    type(o).scaled = lambda self, x: x * 7
    found.append(float(compiled(ja.tensor(1.0))))
    assert found == [1, 3, 7]


def test_a_script_by_the_name_of_a_module_of_python(tmp_path, monkeypatch):
    (tmp_path / "this.py").write_text("class Own:\n    n = 1\no = Own()\ndef fn(x):\n    return x * o.n\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("this")
    try:
        compiled = ja.compile(module.fn)
        found = [float(compiled(ja.tensor(1.0)))]
        module.o.n = 3
        found.append(float(compiled(ja.tensor(1.0))))
    finally:
        del sys.modules["this"]
    assert found == [1, 3]


def test_a_cache_keeps_no_tensor_of_a_trace():
    @functools.cache
    def positions(n):
        return ja.arange(n, dtype=ja.float32)

    class Masks:
        @functools.lru_cache(maxsize=4)  # noqa: B019
        def of(self, n):
            return {"mask": ja.ones(n) * 2}

    masks = Masks()

    def fn(x):
        if x.sum().item() > 0:  # the trace that stops here is given up
            return x + positions(len(x)) * masks.of(len(x))["mask"]
        return x - positions(len(x))

    compiled = ja.compile(fn)
    for sign in (1.0, -1.0, 1.0):
        x = ja.ones(3) * sign
        assert compiled(x).tolist() == fn(x).tolist()
    assert positions(3).tolist() == [0, 1, 2]
    assert masks.of(3)["mask"].tolist() == [2, 2, 2]
