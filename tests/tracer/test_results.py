"""Results in containers that JAX does not know are usable, or refused by their name."""

import collections
import dataclasses
import functools
import types

import jax
import pytest

import jaxaot as ja
from jaxaot.errors import LeakedTensorError
from tests.seeds import one_in

pytestmark = pytest.mark.usefixtures("interpreted")


@dataclasses.dataclass
class Pair:
    value: object
    name: str = "pair"


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: object


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Ordered(collections.OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        object.__setattr__(self, key, value)


class Plain:
    def __init__(self, value, more):
        self.value, self.more = value, more


class Items(list):
    pass


class Pairs(tuple):
    pass


def _defaults(y):
    held = collections.defaultdict(list)
    held["a"].append(y)
    return held


RESULTS = {
    "dataclass": (lambda y: Pair(y), lambda r: r.value),
    "frozen dataclass": (lambda y: Frozen(y), lambda r: r.value),
    "slots": (lambda y: Slotted(y), lambda r: r.value),
    "plain object": (lambda y: Plain(y, {"k": [y, 1]}), lambda r: r.more["k"][0]),
    "nested": (lambda y: {"a": Pair([Plain(1, y)])}, lambda r: r["a"].value[0].more),
    "OrderedDict": (lambda y: collections.OrderedDict(b=y, a=1), lambda r: r["b"]),
    "subclass of OrderedDict": (lambda y: Ordered(value=y), lambda r: r["value"] + r.value),
    "defaultdict": (_defaults, lambda r: r["a"][0]),
    "UserDict": (lambda y: collections.UserDict(a=y), lambda r: r["a"]),
    "deque": (lambda y: collections.deque([y, y * 2], maxlen=2), lambda r: r[1] * r.maxlen),
    "namespace": (lambda y: types.SimpleNamespace(a=y), lambda r: r.a),
    "subclass of list": (lambda y: Items([y]), lambda r: r[0]),
    "subclass of tuple": (lambda y: Pairs([y]), lambda r: r[0]),
    "set": (lambda y: {y}, lambda r: next(iter(r))),
    "partial": (lambda y: functools.partial(ja.add, y, other=y), lambda r: r()),
}


@pytest.mark.parametrize("name", one_in(2, RESULTS))
def test_a_result_is_usable(name):
    make, read = RESULTS[name]
    fn = ja.compile(lambda x: make(x * 2))
    w = ja.tensor([3.0], requires_grad=True)
    for _ in range(2):
        expected, found = make(w * 2), fn(w)
        assert type(found) is type(expected)
        assert read(found).tolist() == read(expected).tolist()
        read(found).sum().backward()
        gradient, w.grad = w.grad.clone(), None
        read(expected).sum().backward()
        assert gradient.tolist() == w.grad.tolist()
        w.grad = None
    assert fn(w) is not fn(w)


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_holds_the_arguments_of_its_own_call(name):
    make, read = RESULTS[name]
    fn = ja.compile(lambda x: make(x))
    for i in range(3):
        x = ja.tensor([float(i)])
        assert read(fn(x)).tolist() == read(make(x)).tolist()


def test_a_result_without_tensors_is_new_at_each_call():
    held = types.SimpleNamespace(n=0)
    outside = Pair(3)

    @ja.compile
    def fn(x):
        held.n += 1
        return x * 2, Pair(held.n), {1, 2}, collections.deque([1]), outside

    results = [fn(ja.ones(1)) for _ in range(3)]
    assert [r[1].value for r in results] == [1, 2, 3]
    results[0][2].add(3)
    results[0][3].append(2)
    assert results[1][2] == {1, 2} and list(results[1][3]) == [1]
    assert all(r[4] is outside for r in results)


def test_an_object_from_outside_is_returned_itself():
    held = Plain(ja.ones(1), 2)
    fn = ja.compile(lambda x: (held, x * held.value))
    assert fn(ja.ones(1))[0] is held and fn(ja.ones(1))[0] is held


def test_lists_and_dicts_from_outside_are_returned_themselves():
    held = Plain(ja.ones(1), 2)
    held.cache = first = [ja.ones(1)]

    def fn(state, x):
        state["n"] = state["n"] + 1
        state["x"] = x * state["n"]
        before, held.cache = held.cache, [x * 3]
        return state, (before, held.cache, [before]), x * 2

    call, state = ja.compile(fn), {"n": 0}
    got, (before, now, (again,)), double = call(state, ja.ones(1))
    assert got is state and before is first and again is first and now is held.cache and double.tolist() == [2]
    for n in (2, 3):
        got, (before, _, _), _ = call(state, ja.ones(1))
        assert got is state and before is now and before is not held.cache and state["x"].tolist() == [n]
        now = held.cache
    assert call.cache_info().misses <= 2


def test_of_containers_that_two_arguments_share_the_right_one_is_returned():
    one, other = [ja.ones(1)], [ja.zeros(1)]
    for fn, place in ((lambda a, b: a, 0), (lambda a, b: b, 1)):
        call = ja.compile(fn)
        for given in ((one, one), (one, other), (other, one)):
            assert call(*given)[0].tolist() == given[place][0].tolist()


REFUSED = {
    "dict_values": lambda y: {"a": y}.values(),
    "function": lambda y: lambda: y,
    "generator": lambda y: (a + y for a in [1]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_result_that_cannot_be_made_again_is_refused_by_its_name(name):
    with pytest.raises(LeakedTensorError, match=rf"returned a `{name}` that holds a tensor"):
        ja.compile(lambda x: REFUSED[name](x * 2), fullgraph=True)(ja.ones(1))


def test_a_result_that_leads_to_itself():
    def fn(x):
        plain = Plain(x * 2, None)
        plain.more = plain
        return plain

    with pytest.raises(LeakedTensorError, match="returned a `Plain` that leads to itself"):
        ja.compile(fn, fullgraph=True)(ja.ones(1))


@pytest.mark.filterwarnings("ignore::jaxaot.errors.RecompileWarning")
def test_a_generator_that_is_returned_is_that_of_an_eager_call():
    fn = ja.compile(lambda x: (x * i for i in (2, 3)))
    for _ in range(2):
        assert [y.item() for y in fn(ja.ones(()))] == [2, 3]


def test_nodes_of_returned_views_are_named_as_eagerly():
    x = ja.ones(4, 4, requires_grad=True) * 1
    for fn in (lambda a: (*a.unbind(0), a.view(2, 8)), lambda a: a.chunk(2), lambda a: [a.t(), a[1:], a[0]]):
        names = [view.grad_fn.name() for view in ja.compile(fn)(x)]
        assert names == [view.grad_fn.name() for view in fn(x)]


def test_memory_of_a_parameter_that_nothing_read():
    layer = ja.nn.Linear(2, 2)
    for fn in (layer.state_dict, lambda: [layer.weight.detach(), layer.bias]):
        compiled = ja.compile(fn)
        for _ in range(2):
            result = compiled()
            weight = next(iter(result.values())) if isinstance(result, dict) else result[0]
            assert weight.data_ptr() == layer.weight.data_ptr() and not weight.requires_grad


class Holder:
    def __init__(self, value, inner=None):
        self.value, self.inner = value, inner


def grown(a, b, x):
    b.value = b.value + x
    return b


def grown_inside(a, b, x):
    b.inner.value = x * 3
    return {"outer": b, "inner": b.inner}["outer"]


@pytest.mark.parametrize("fn", (grown, grown_inside))
@pytest.mark.filterwarnings("error")
def test_an_object_that_is_changed_is_returned_itself(fn):
    call, eager = ja.compile(fn), [Holder(ja.ones(1), Holder(ja.ones(1))) for _ in range(2)]
    one, other = [Holder(ja.ones(1), Holder(ja.ones(1))) for _ in range(2)]
    pairs = ((one, other), (one, other), (one, one), (other, one), (other, other))
    for a, b in pairs:
        assert call(a, b, ja.ones(1)) is b
        fn(*(eager[(one, other).index(x)] for x in (a, b)), ja.ones(1))
        for ours, theirs in zip((one, other), eager, strict=True):
            assert ours.value.tolist() == theirs.value.tolist()
            assert ours.inner.value.tolist() == theirs.inner.value.tolist()


def test_a_set_that_is_changed_is_returned_itself():
    held = Holder(set())

    def fn(x):
        held.value.add(x * 2)
        return held.value

    call = ja.compile(fn)
    assert call(ja.ones(1)) is held.value and call(ja.ones(1)) is held.value and len(held.value) == 2


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Registered:
    value: object


@pytest.mark.filterwarnings("error")
def test_an_object_with_leaves_that_is_changed_is_returned_itself():
    def fn(holder, x):
        holder.value = holder.value + x
        return holder

    call, held = ja.compile(fn), Registered(ja.ones(1))
    assert call(held, ja.ones(1)) is held and call(held, ja.ones(1)) is held and held.value.tolist() == [3]
