"""Arguments that are no tensors: objects, dataclasses, dicts, iterators; bare arrays that are reached, not passed."""

from __future__ import annotations

import array
import collections
import dataclasses
import functools
import types
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors


def values(t):
    return np.asarray(t.detach().numpy() if isinstance(t, ja.Tensor) else t).tolist()


# -- objects -----------------------------------------------------------------------------------------------------------


class Layer:
    """Holds a tensor and plain values."""

    def __init__(self, w, scale=1, training=True):
        self.w = ja.tensor([float(w)] * 2, requires_grad=True)
        self.scale = scale
        self.training = training

    def apply(self, x):
        return x * self.w * self.scale + (100 if self.training else 0)


def test_objects_of_the_same_structure_share_a_program():
    fn = ja.compile(lambda layer, x: layer.apply(x))
    x = ja.ones(2)
    assert values(fn(Layer(2), x)) == [102, 102]
    assert values(fn(Layer(3), x)) == [103, 103]
    assert fn.cache_info() == (1, 1, 1)
    assert values(fn(Layer(3, scale=2), x)) == [106, 106]
    assert values(fn(Layer(3, training=False), x)) == [3, 3]
    assert fn.cache_info().misses == 3


def test_a_method_compiled_in_the_class_serves_every_instance():
    class Model:
        def __init__(self, w, use_bias=False):
            self.w, self.use_bias = ja.tensor([w], requires_grad=True), use_bias

        @ja.compile
        def __call__(self, x):
            return x * self.w + (10 if self.use_bias else 0)

    first, second, biased = Model(2.0), Model(3.0), Model(3.0, True)
    assert [values(m(ja.ones(1))) for m in (first, second, biased, first)] == [[2], [3], [13], [2]]
    assert Model.__call__.cache_info().misses == 2
    out = second(ja.ones(1))
    out.backward()
    assert values(second.w.grad) == [1] and first.w.grad is None


def test_writes_to_the_tensors_of_an_object():
    def fn(layer):
        with ja.no_grad():
            layer.w.mul_(2)

    compiled = ja.compile(fn)
    first, second = Layer(1), Layer(5)
    compiled(first), compiled(second)
    assert (values(first.w), values(second.w)) == ([2, 2], [10, 10])
    assert compiled.cache_info().misses == 1


def test_sharing_within_and_between_objects_is_guarded():
    def fn(a, b):
        a.w.add_(1)
        return b.w * 2

    compiled = ja.compile(fn)
    a, b, c = (types.SimpleNamespace(w=ja.zeros(1)) for _ in range(3))
    assert values(compiled(a, b)) == [0]
    assert values(compiled(a, a)) == [4]
    c.w = a.w
    assert values(compiled(a, c)) == [6]
    assert values(compiled(b, a)) == [6] and compiled.cache_info().misses == 3


def test_nested_objects_and_containers_are_walked():
    class Config:
        def __init__(self, factor):
            self.factor = factor

    def make(factor, n=2):
        return types.SimpleNamespace(config=Config(factor), layers=[{"w": ja.full((1,), i + 1.0)} for i in range(n)])

    def fn(model, x):
        for layer in model.layers:
            x = x * layer["w"]
        return x * model.config.factor

    compiled = ja.compile(fn)
    assert [values(compiled(make(*a), ja.ones(1))) for a in ((1,), (1,), (3,), (1, 3))] == [[2], [2], [6], [6]]
    assert compiled.cache_info().misses == 3


def test_an_attribute_that_becomes_none_or_another_type_is_noticed():
    class Linear:
        def __init__(self, bias):
            self.w, self.bias = ja.full((1,), 2.0), bias

    fn = ja.compile(lambda m, x: x * m.w + (0 if m.bias is None else m.bias))
    assert values(fn(Linear(ja.ones(1)), ja.ones(1))) == [3]
    assert values(fn(Linear(None), ja.ones(1))) == [2]
    assert values(fn(Linear(5.0), ja.ones(1))) == [7]
    assert values(fn(Linear(5), ja.ones(1, dtype=ja.int32))) == [7]
    assert values(fn(Linear(ja.ones(1)), ja.ones(1))) == [3] and fn.cache_info().misses == 4


def test_one_and_one_point_zero_and_true_are_different_values():
    fn = ja.compile(lambda m, x: x * m.factor)
    x = ja.ones(1, dtype=ja.int32)
    dtypes = [fn(types.SimpleNamespace(factor=factor), x).dtype for factor in (1, 1.0, True)]
    assert dtypes == [ja.int32, ja.float32, ja.int32] and fn.cache_info().misses == 3


def test_a_new_attribute_is_noticed():
    model = types.SimpleNamespace(w=ja.ones(1))
    fn = ja.compile(lambda m: m.w * getattr(m, "scale", 1))
    assert values(fn(model)) == [1]
    model.scale = 3
    assert values(fn(model)) == [3]


def test_objects_with_slots():
    class Slotted:
        __slots__ = ("n", "w")

        def __init__(self, w, n):
            self.w, self.n = ja.full((1,), w), n

    fn = ja.compile(lambda m: m.w * m.n)
    assert [values(fn(Slotted(*a))) for a in ((2.0, 1), (3.0, 1), (3.0, 2))] == [[2], [3], [6]]
    assert fn.cache_info().misses == 2


def test_objects_that_refer_to_one_another():
    class Node:
        def __init__(self, w):
            self.w, self.parent, self.child = ja.full((1,), w), None, None

    def make(w):
        node, child = Node(w), Node(w + 1)
        node.child, child.parent = child, node
        return node

    fn = ja.compile(lambda n: n.w * n.child.w * n.child.parent.w)
    assert values(fn(make(1.0))) == [2] and values(fn(make(2.0))) == [12] and fn.cache_info().misses == 1
    crossed = make(1.0)
    crossed.child.parent = Node(5.0)
    assert values(fn(crossed)) == [10]


def test_a_bare_array_put_into_an_object_is_there_after_every_call():
    def fn(holder, x):
        holder.state = holder.state + x
        return holder.state * 1

    compiled = ja.compile(fn)
    holder = types.SimpleNamespace(state=jnp.zeros(2))
    for n in (1, 2, 3):
        out = compiled(holder, jnp.ones(2))
        assert values(holder.state) == values(out) == [n, n]
    assert compiled.cache_info().misses == 1


def test_an_object_in_a_failing_call_is_as_eagerly():
    def fn(holder, x):
        holder.state = holder.state + x
        raise ValueError("no")

    holder = types.SimpleNamespace(state=jnp.zeros(2))
    compiled = ja.compile(fn)
    with pytest.raises(ValueError, match="no"):
        compiled(holder, jnp.ones(2))
    assert values(holder.state) == [1, 1] and compiled.cache_info() == (0, 0, 0)


def test_a_python_counter_in_an_object_does_not_compile_again():
    class Counting:
        def __init__(self):
            self.w, self.n = ja.ones(1), 0

    def fn(model):
        model.n += 1
        return model.w * 2

    compiled, model = ja.compile(fn), Counting()
    for _ in range(3):
        compiled(model)
    assert compiled.cache_info().misses == 1


def test_functions_and_values_that_say_when_they_are_equal_are_compared():
    class Mode:
        def __init__(self, name):
            self.name = name

        def __eq__(self, other):
            return isinstance(other, Mode) and self.name == other.name

        def __hash__(self):
            return hash(self.name)

    fn = ja.compile(lambda x, mode, act: act(x) if mode.name == "act" else x)
    for mode, act in (("act", jnp.negative), ("act", jnp.negative), ("none", jnp.negative), ("act", jnp.abs)):
        fn(jnp.ones(1), Mode(mode), act)
    assert fn.cache_info() == (1, 3, 3)


# -- dataclasses and other pytrees -------------------------------------------------------------------------------------


@functools.partial(jax.tree_util.register_dataclass, data_fields=["w", "b"], meta_fields=["factor"])
@dataclasses.dataclass
class Registered:
    w: Any
    b: Any
    factor: int = 1


@dataclasses.dataclass
class Unregistered:
    w: Any
    factor: int = 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: Any
    factor: int = 1


class Pair(NamedTuple):
    w: Any
    factor: Any


def test_registered_dataclasses_are_trees():
    fn = ja.compile(lambda p, x: (x * p.w + p.b) * p.factor)
    assert values(fn(Registered(ja.full((1,), 2.0), ja.ones(1)), ja.ones(1))) == [3]
    assert values(fn(Registered(ja.full((1,), 3.0), ja.ones(1)), ja.ones(1))) == [4]
    assert values(fn(Registered(jnp.full((1,), 3.0), jnp.ones(1)), jnp.ones(1))) == [4]
    assert values(fn(Registered(ja.full((1,), 3.0), ja.ones(1), 2), ja.ones(1))) == [8]
    assert fn.cache_info().misses == 3
    out = ja.compile(lambda p: Registered(p.w * 2, p.b, 5))(Registered(ja.ones(1), ja.ones(1)))
    assert isinstance(out, Registered) and values(out.w) == [2] and out.factor == 5


@pytest.mark.parametrize("cls", [Unregistered, Frozen])
@pytest.mark.parametrize("make", [ja.full, jnp.full])
def test_unregistered_dataclasses_are_walked(cls, make):
    fn = ja.compile(lambda p, x: x * p.w * p.factor)
    x = make((2,), 1.0)
    calls = [cls(make((2,), 2.0)), cls(make((2,), 3.0)), cls(make((2,), 3.0), 2), cls(make((2,), 4.0))]
    assert [values(fn(p, x)) for p in calls] == [[2, 2], [3, 3], [6, 6], [4, 4]]
    assert fn.cache_info() == (2, 2, 2)


def test_a_frozen_dataclass_of_plain_values_is_compared():
    fn = ja.compile(lambda x, p: x * p.factor)
    assert [values(fn(jnp.ones(1), Frozen(None, n))) for n in (2, 2, 3)] == [[2], [2], [3]]
    assert fn.cache_info().misses == 2


def test_named_tuples():
    fn = ja.compile(lambda p: p.w * p.factor)
    assert [values(fn(Pair(ja.ones(1), n))) for n in (2, 2, 3)] == [[2], [2], [3]] and fn.cache_info().misses == 2


def test_objects_inside_containers():
    fn = ja.compile(lambda parts, *, more: parts[0].w + parts[1]["m"].w + more.w)
    for n in (1.0, 2.0):
        a, b, c = (types.SimpleNamespace(w=ja.full((1,), n)) for _ in range(3))
        assert values(fn([a, {"m": b}], more=c)) == [3 * n]
    assert fn.cache_info().misses == 1


# -- dicts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [ja.full, jnp.full, np.full])
def test_each_order_of_a_dict_has_its_program(make):
    fn = ja.compile(lambda d: d["a"] - 2 * d["b"])
    for order in ("ab", "ba", "ab", "ba"):
        assert values(fn({k: make((1,), 1.0 + "ab".index(k)) for k in order})) == [-3]
    assert fn.cache_info().misses == 2
    fn({"a": make((1,), 1.0), "b": make((1,), 1.0), "c": make((1,), 1.0)})
    assert fn.cache_info().misses == 3


def test_the_order_of_keyword_arguments_that_have_names_does_not_matter():
    fn = ja.compile(lambda *, a, b: a - 2 * b)
    assert values(fn(a=ja.ones(1), b=ja.ones(1))) == values(fn(b=ja.ones(1), a=ja.ones(1))) == [-1]
    assert fn.cache_info().misses == 1


# -- iterators ---------------------------------------------------------------------------------------------------------


def test_a_generator_of_parameters_is_read_when_the_call_begins():
    def fn(params, x):
        for p in params:
            x = x * p
        return x

    compiled = ja.compile(fn)
    layers = [Layer(2), Layer(3)]
    for _ in range(3):
        out = compiled((layer.w for layer in layers), ja.ones(2))
        assert values(out) == [6, 6]
    out.sum().backward()
    assert values(layers[0].w.grad) == [3, 3]
    assert compiled.cache_info() == (2, 1, 1)
    compiled((layer.w for layer in [*layers, Layer(1)]), ja.ones(2))
    assert compiled.cache_info().misses == 2


@pytest.mark.parametrize(
    "view", [iter, dict.values, dict.items, lambda d: map(d.get, d), lambda d: zip(d, d.values(), strict=True)]
)
def test_other_iterators_and_views_of_dicts(view):
    def fn(items):
        return [item[1] * 2 if isinstance(item, tuple) else item for item in items]

    d = {"a": jnp.ones(1), "b": jnp.full(1, 2.0)}
    compiled = ja.compile(fn)
    first, second = compiled(view(d)), compiled(view(d))
    assert jax.tree.map(values, first) == jax.tree.map(values, second) == jax.tree.map(values, fn(view(d)))
    assert compiled.cache_info().misses == 1


def test_a_function_may_call_next_and_be_traced_with_an_iterator():
    fn = ja.compile(lambda it: next(it) - next(it))
    assert values(fn(iter([ja.full((1,), 3.0), ja.ones(1)]))) == [2]
    assert len(ja.trace(lambda it: sum(it), iter([jnp.ones(1), jnp.ones(1)])).jaxpr.in_avals) == 2


def test_an_iterator_within_an_argument_and_one_without_end_are_errors():
    import itertools

    with pytest.raises(errors.StaticArgumentError, match="read only once"):
        ja.compile(lambda d: 0, fullgraph=True)({"params": iter([ja.ones(1)])})
    with pytest.warns(errors.RecompileWarning, match="read only once"):
        assert values(ja.compile(lambda d: next(d["params"]) * 2)({"params": iter([ja.ones(1)])})) == [2]
    with pytest.raises(errors.StaticArgumentError, match="more than 100000 items"):
        ja.compile(lambda it: 0)(itertools.count())


CONTAINERS = {
    "set": lambda values: set(values), "deque": lambda values: collections.deque(values, maxlen=4),
    "bytearray": bytearray, "array": lambda values: array.array("d", values), "UserList": collections.UserList,
    "a subclass": lambda values: Rows(values), "Counter": collections.Counter,
}  # fmt: skip
"""Containers that have no hash, of some numbers."""


class Rows(collections.deque):
    scale = 1


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_among_the_arguments_is_guarded_by_what_it_holds(name):
    fn = lambda x, held, **named: x * sum(sorted(held)) + len(held) * getattr(held, "scale", 1) + len(named)
    compiled, x, kept = ja.compile(fn, fullgraph=True), ja.ones(2), CONTAINERS[name]([1, 2])
    calls = [kept, CONTAINERS[name]([1, 2]), CONTAINERS[name]([1, 2, 3]), kept]
    for held in calls:
        assert values(compiled(x, held)) == values(fn(x, held))
    assert compiled.cache_info().misses == 2
    for add in ("append", "add", "update"):
        if hasattr(kept, add):
            getattr(kept, add)([9] if add == "update" else 9)
            break
    assert values(compiled(x, kept)) == values(fn(x, kept))
    if name == "a subclass":
        kept.scale = 7
        assert values(compiled(x, kept)) == values(fn(x, kept))
    assert values(compiled(x, kept, more={"in": kept})) == values(fn(x, kept, more={"in": kept}))


@pytest.mark.parametrize("compiles", [False, True])
def test_what_is_done_to_a_container_among_the_arguments_is_done_at_each_call(compiles):
    def step(x, queue, seen):
        queue.append(x * 2)
        seen.add(len(queue))
        return queue.popleft() + len(seen), queue

    run, queue, seen = ja.compile(step, fullgraph=True) if compiles else step, collections.deque([ja.ones(2)]), set()
    found = [run(ja.ones(2) * n, queue, seen) for n in range(3)]
    assert [values(value) for value, _ in found] == [[2, 2], [1, 1], [3, 3]]
    assert all(result is queue for _, result in found) and values(queue[0]) == [4, 4] and seen == {2}


# -- one thing in two places -------------------------------------------------------------------------------------------


def test_one_tensor_in_two_places():
    a, b = ja.ones(1), ja.full((1,), 5.0)
    fn = ja.compile(lambda x, y: x + 10 * y)
    assert [values(fn(*args)) for args in ((a, a), (a, b), (b, b), (b, a))] == [[11], [51], [55], [15]]
    assert fn.cache_info() == (2, 2, 2)
    u = v = a
    reached = ja.compile(lambda: u + 10 * v)
    assert values(reached()) == [11]
    v = b
    assert values(reached()) == [51]
    u = b
    assert values(reached()) == [55]


def test_one_object_in_two_places():
    u = v = types.SimpleNamespace(w=ja.ones(1))
    fn = ja.compile(lambda: u.w + 10 * v.w)
    assert values(fn()) == [11]
    v = types.SimpleNamespace(w=ja.full((1,), 5.0))
    assert values(fn()) == [51]


def test_one_list_in_two_objects():
    shared = [ja.ones(1)]
    first, second = types.SimpleNamespace(parts=shared), types.SimpleNamespace(parts=shared)
    fn = ja.compile(lambda: first.parts[0] + 10 * second.parts[0])
    assert values(fn()) == [11]
    second.parts = [ja.full((1,), 5.0)]
    assert values(fn()) == [51]


# -- NumPy and jax arrays that are passed ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, bool])
def test_numpy_arguments(dtype):
    fn = ja.compile(lambda x, y: x * y)
    array = np.array([1, 0, 1], dtype)
    assert values(fn(array, jnp.full(3, 2.0))) == [2, 0, 2]
    assert values(fn(np.zeros_like(array), jnp.full(3, 2.0))) == [0, 0, 0] and fn.cache_info().misses == 1


def test_complex_numbers_are_traced():
    fn = ja.compile(lambda x, s: x * s)
    assert [fn(ja.ones(1), s).item() for s in (2j, 3j)] == [2j, 3j] and fn.cache_info().misses == 1


@pytest.mark.slow
def test_arrays_of_keys_are_arguments_and_results():
    fn = ja.compile(lambda key: (jax.random.normal(key, (2,)), jax.random.split(key)))
    for seed in (0, 1):
        key = jax.random.key(seed)
        drawn, split = fn(key)
        assert values(drawn) == values(jax.random.normal(key, (2,)))
        assert (jax.random.key_data(split) == jax.random.key_data(jax.random.split(key))).all()
    assert fn.cache_info().misses == 1
    fn(jax.random.key(0, impl="rbg"))
    assert fn.cache_info().misses == 2
    assert values(ja.compile(lambda keys: jax.vmap(jax.random.uniform)(keys))(jax.random.split(key, 3)))


# -- bare arrays that are reached --------------------------------------------------------------------------------------


def test_an_array_in_a_closure_is_an_input():
    w = jnp.full(2, 2.0)
    fn = ja.compile(lambda x: x * w)
    assert values(fn(jnp.ones(2))) == [2, 2]
    w = jnp.full(2, 3.0)
    assert values(fn(jnp.ones(2))) == [3, 3] and fn.cache_info().misses == 1
    w = jnp.full(1, 4.0)
    assert values(fn(jnp.ones(2))) == [4, 4]
    w = 5.0
    assert values(fn(jnp.ones(2))) == [5, 5] and fn.cache_info().misses == 3
    assert len(ja.trace(lambda x: x * jnp.ones(2), jnp.ones(2)).jaxpr.in_avals) == 1


TABLE = jnp.arange(3.0)


def lookup(i):
    return TABLE[i]


def test_an_array_in_a_global_of_a_function_that_is_called(monkeypatch):
    fn = ja.compile(lambda i: lookup(i) * 2)
    assert values(fn(jnp.array(2))) == 4
    monkeypatch.setitem(globals(), "TABLE", jnp.arange(3.0) * 5)
    assert values(fn(jnp.array(2))) == 20 and fn.cache_info().misses == 1


def test_an_array_in_an_attribute_that_is_rebound():
    class Model:
        def __init__(self):
            self.w = jnp.ones(2)
            self.parts = {"b": [jnp.zeros(2)]}

        def __call__(self, x):
            return x * self.w + self.parts["b"][0]

    model = Model()
    forms = ((ja.compile(model), ()), (ja.compile(lambda x: model(x)), ()), (ja.compile(Model.__call__), (model,)))
    for fn, args in forms:
        model.w, model.parts["b"][0] = jnp.ones(2), jnp.zeros(2)
        assert values(fn(*args, jnp.ones(2))) == [1, 1]
        model.w = jnp.ones(2) * 5
        assert values(fn(*args, jnp.ones(2))) == [5, 5]
        model.parts["b"][0] = jnp.ones(2)
        assert values(fn(*args, jnp.ones(2))) == [6, 6] and fn.cache_info().misses == 1


def test_a_key_in_a_closure_is_an_input():
    key = jax.random.key(0)
    fn = ja.compile(lambda: jax.random.normal(key, (2,)))
    assert values(fn()) == values(jax.random.normal(key, (2,)))
    key = jax.random.key(1)
    assert values(fn()) == values(jax.random.normal(key, (2,))) and fn.cache_info().misses == 1


def test_an_array_reached_in_two_ways_is_rebound_in_one():
    w = jnp.ones(1)
    holder = types.SimpleNamespace(w=w)
    fn = ja.compile(lambda h: h.w * 10 + w)
    assert values(fn(holder)) == [11]
    holder.w = jnp.ones(1) * 2
    assert values(fn(holder)) == [21]
    w = jnp.ones(1) * 3
    assert values(fn(holder)) == [23] and fn.cache_info().misses == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_a_numpy_array_that_is_reached_is_part_of_the_program_until_it_changes(dtype):
    table = np.arange(3).astype(dtype)
    holder = types.SimpleNamespace(table=table)

    def in_closure(x):
        return x * table if table[0] == 0 else x

    def in_object(h, x):
        return x * h.table if h.table[0] == 0 else x

    for fn, args in ((ja.compile(in_closure), ()), (ja.compile(in_object), (holder,))):
        table[:] = [0, 1, 2]
        assert values(fn(*args, jnp.ones(3))) == [0, 1, 2]
        assert values(fn(*args, jnp.ones(3))) == [0, 1, 2] and fn.cache_info().misses == 1
        table[1] = 9
        assert values(fn(*args, jnp.ones(3))) == [0, 9, 2]
        table[0] = 1
        assert values(fn(*args, jnp.ones(3))) == [1, 1, 1] and fn.cache_info().misses == 3


def test_a_numpy_array_of_a_function_that_is_called_by_name():
    scale = np.array([2.0])

    def helper(x):
        return x * scale

    fn = ja.compile(lambda x: helper(x))
    assert values(fn(jnp.ones(1))) == [2]
    scale = np.array([3.0])
    assert values(fn(jnp.ones(1))) == [3]
    scale[0] = 4
    assert values(fn(jnp.ones(1))) == [4]


def test_a_large_numpy_array_is_looked_at_by_a_sample():
    big = np.zeros((1000, 1000), np.float32)
    fn = ja.compile(lambda x: x + big[0, 0])
    assert values(fn(jnp.zeros(1))) == [0]
    big = np.ones((1000, 1000), np.float32)
    assert values(fn(jnp.zeros(1))) == [1]
    big[...] = 2
    assert values(fn(jnp.zeros(1))) == [2]


def test_a_function_in_a_closure_that_is_rebound():
    act = jnp.negative
    inner = lambda x: x * 2
    fn = ja.compile(lambda x: act(inner(x)))
    assert values(fn(jnp.ones(1))) == [-2]
    act = jnp.abs
    assert values(fn(jnp.ones(1))) == [2]
    inner = lambda x: x * 3
    assert values(fn(jnp.ones(1))) == [3]
    assert values(fn(jnp.ones(1))) == [3] and fn.cache_info().misses == 3


def test_plain_values_of_functions_that_are_called_by_name():
    factor = 2

    def helper(x):
        return x * factor

    fn = ja.compile(lambda x: helper(x))
    assert values(fn(ja.ones(1))) == [2]
    factor = 3
    assert values(fn(ja.ones(1))) == [3]


def test_arrays_and_tensors_reached_together_have_gradients():
    mean = jnp.full(2, 1.0)
    w = ja.ones(2, requires_grad=True)
    fn = ja.compile(lambda x: ((x - mean) * w).sum())
    for n in (1.0, 2.0):
        mean = jnp.full(2, n)
        w.grad = None
        fn(ja.full((2,), 3.0)).backward()
        assert values(w.grad) == [3 - n, 3 - n]
    assert fn.cache_info().misses == 1


def test_what_persists_comes_first():
    weight, moment = ja.ones(3, requires_grad=True), ja.zeros(3)

    def fn(x, scale):
        moment.add_(x.detach())
        return (ja.nn.functional.dropout(x * weight.tanh() * scale, 0.5) + moment).sum()

    traced = ja.trace(fn, ja.ones(3, requires_grad=True), 2.0)
    assert {*traced.input_names[:2]} == {"weight", "moment"} and traced.input_names[2] == "args[0]"
    assert traced.input_names[-2:] == ("seed 0", "offset 0")
    primals = [s.index for s in traced.joint().partition().plan.residuals if hasattr(s, "index") and "Primal" in str(s)]
    assert primals == sorted(primals) and primals[0] < 2


def test_the_gradient_of_an_argument_comes_after_it():
    weight, x = ja.ones(3, requires_grad=True), ja.ones(3, requires_grad=True)
    (weight * x).sum().backward()
    traced = ja.trace(lambda x: (x.grad + weight.grad).sum(), x)
    assert traced.input_names == ("weight._grad", "args[0]", "args[0]._grad")


@pytest.mark.parametrize("make", (np.float64, np.float32, np.int64, np.bool_))
def test_the_type_of_a_scalar_of_numpy_is_told_as_eagerly(make):
    def fn(x, s):
        factor = 2 if isinstance(s, float) else 3 if isinstance(s, np.floating) else 5 if isinstance(s, np.bool_) else 7
        return x * factor

    call = ja.compile(fn, fullgraph=True)
    for value in (make(1), make(0), 1.0, make(1)):
        assert call(ja.ones(2), value).tolist() == fn(ja.ones(2), value).tolist()
    assert call.cache_info().misses == 3
