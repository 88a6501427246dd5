"""What a second call may change: each kind of guard lets it through or compiles again, and says why."""

from __future__ import annotations

import dataclasses
import functools
import random
import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import jaxaot as ja
from jaxaot.plan.difference import differences
from jaxaot.plan.guards import Condition
from tests.seeds import seeds
from tests.subclasses.test_protocol import Scaled

pytestmark = pytest.mark.usefixtures("interpreted")


def reasons(fn):
    return [str(reason) for record in fn.explain_recompiles() for reason in record.reasons]


class Holder:
    """An object with whatever attributes are given."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


class Scaling(Holder):
    offset = 1

    def __call__(self, x):
        return x * self.w * self.scale + self.offset


class Doubling(Scaling):
    def __call__(self, x):
        return super().__call__(x) * 2


SCALE = 2


def helper(x):
    return x * SCALE


def again(fn, *args, **kwargs):
    """Returns the values of a call of a compiled function, which are those of the function itself."""
    expected = fn.fn(*args, **kwargs)
    actual = fn(*args, **kwargs)
    np.testing.assert_allclose(actual.detach().numpy(), expected.detach().numpy(), rtol=1e-6)
    return actual.detach().tolist()


# -- arguments ---------------------------------------------------------------------------------------------------------

ARGUMENTS = {
    "shape": (lambda: ja.ones(2, 4), lambda: ja.ones(3, 4), "argument `x` has shape [3, 4] instead of [2, 4]"),
    "dtype": (
        lambda: ja.ones(2),
        lambda: ja.ones(2, dtype=ja.int32),
        "argument `x` has dtype int32 instead of float32",
    ),
    "stride": (
        lambda: ja.ones(4, 4),
        lambda: ja.ones(4, 4).t(),
        "the layout (stride) of argument `x` is (1, 4) instead of (4, 1)",
    ),
    "offset": (
        lambda: ja.ones(4)[:2],
        lambda: ja.ones(4)[1:3],
        "argument `x` begins at element 1 of its memory instead of 0",
    ),
    "storage": (
        lambda: ja.ones(4)[:2],
        lambda: ja.ones(6)[:2],
        "the storage of argument `x` holds 24 bytes instead of 16",
    ),
    "order of the storage": (
        lambda: ja.ones(2, 3).as_strided((2,), (1,)),
        lambda: ja.ones(3, 2).as_strided((2,), (1,)),
        "the storage of argument `x` is laid out as float32[3, 2], stride (2, 1) "
        "instead of float32[2, 3], stride (3, 1)",
    ),
    "requires grad": (
        lambda: ja.ones(2, requires_grad=True),
        lambda: ja.ones(2),
        "argument `x` no longer requires grad",
    ),
    "leaf": (
        lambda: ja.ones(2, requires_grad=True),
        lambda: ja.ones(2, requires_grad=True) * 1,
        "argument `x` is no leaf of the gradient's graph",
    ),
    "conjugated": (
        lambda: ja.ones(2, dtype=ja.complex64),
        lambda: ja.ones(2, dtype=ja.complex64).conj(),
        "argument `x` shows the conjugates of its memory",
    ),
    "tensor or array": (lambda: ja.ones(2), lambda: jnp.ones(2), "argument `x` is an array instead of a tensor"),
    "float or complex": (lambda: 1.0, lambda: 1j, "argument `x` is a complex number instead of a float"),
    "float or int": (lambda: 1.0, lambda: 1, "argument `x` is 1 instead of a float"),
    "static": (lambda: "a", lambda: "b", "static argument 0 (`x`) is 'b' instead of 'a'"),
    "another int": (lambda: 1, lambda: 2, "argument `x` is another int than 1, and an input from here on"),
    "static type": (lambda: 1, lambda: True, "static argument 0 (`x`) is True instead of 1"),
    "array shape": (lambda: jnp.ones(2), lambda: jnp.ones(3), "argument `x` has shape [3] instead of [2]"),
    "array dtype": (
        lambda: np.ones(2, np.float32),
        lambda: np.ones(2, np.int32),
        "argument `x` has dtype int32 instead of float32",
    ),
    "structure": (
        lambda: [ja.ones(1)],
        lambda: [ja.ones(1)] * 2,
        "argument `x` has the structure [*, *] instead of [*]",
    ),
}


OF_STORAGES = ("offset", "storage", "order of the storage")
"""What a function sees that asks where in its storage a tensor lies."""


@pytest.mark.few(14)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_argument_that_differs(name):
    first, second, reason = ARGUMENTS[name]
    fn = ja.compile((lambda x: ja.zeros(1) * x.storage_offset()) if name in OF_STORAGES else lambda x: ja.zeros(1))
    fn(first())
    fn(first())
    assert fn.cache_info() == (1, 1, 1)
    fn(second())
    assert fn.cache_info() == (1, 2, 2)
    assert reasons(fn) == [reason]
    fn(first()), fn(second())
    assert fn.cache_info() == (3, 2, 2)


def test_the_number_and_the_names_of_arguments():
    fn = ja.compile(lambda *xs, **named: sum(xs, ja.zeros(1)))
    one = ja.ones(1)
    fn(one, one)
    fn(one, one, one)
    fn(one, one, scale=one)
    assert reasons(fn) == [
        "the number of arguments is 3 instead of 2",
        "the keyword arguments are `scale` instead of none",
    ]


def test_an_object_argument_is_known_by_what_it_holds_and_a_value_by_equality():
    @dataclasses.dataclass(frozen=True)
    class Shift:
        by: int

    fn = ja.compile(lambda x, how: x + how.by)
    x = ja.ones(1)
    assert again(fn, x, Shift(1)) == [2] and again(fn, x, Shift(1)) == [2]
    assert fn.cache_info().misses == 1
    assert again(fn, x, Shift(2)) == [3]
    assert "static argument 1 (`how`) is" in reasons(fn)[0]
    holder = Holder(by=5)
    assert again(fn, x, holder) == [6] and again(fn, x, holder) == [6]
    holder.by = 7
    assert again(fn, x, holder) == [8]
    assert reasons(fn)[-1] == "`how.by` is 7 instead of 5"
    assert again(fn, x, Holder(by=7)) == [8] and fn.cache_info().misses == 4
    again(fn, x, Holder(by=7, scale=1))
    assert fn.cache_info().misses == 4  # nobody reads it
    with pytest.raises(AttributeError):
        fn(x, ja.ones(1))


@pytest.mark.slow
def test_a_generator_is_found_by_its_path():
    fn = ja.compile(lambda g: ja.rand(2, generator=g))
    first, second = ja.Generator().manual_seed(1), ja.Generator().manual_seed(2)
    values = fn(first).tolist(), fn(second).tolist(), fn(first).tolist()
    assert fn.cache_info().misses == 1 and len({tuple(v) for v in values}) == 3
    again_first = ja.Generator().manual_seed(1)
    assert [ja.rand(2, generator=again_first).tolist() for _ in range(2)] == [values[0], values[2]]
    both = ja.compile(lambda g, h: (ja.rand(1, generator=g), ja.rand(1, generator=h)))
    both(first, second)
    a, b = both(first, first)
    assert both.cache_info().misses == 2 and a.tolist() != b.tolist()
    assert "generators" in reasons(both)[0]


# -- sharing -----------------------------------------------------------------------------------------------------------


def add_and_read(x, y):
    x.add_(1)
    return y * 2


def shared_slices():
    base = ja.zeros(4)
    return base[:2], base[1:3]


SHARING = {
    "apart": lambda: (ja.zeros(2), ja.zeros(2)),
    "one tensor": lambda: (lambda x: (x, x))(ja.zeros(2)),
    "one memory": lambda: (lambda x: (x, x.detach()))(ja.zeros(2)),
    "a view": lambda: (lambda x: (x, x[:]))(ja.zeros(2)),
    "slices": shared_slices,
}


@pytest.mark.few(16)
@pytest.mark.parametrize("first", SHARING)
@pytest.mark.parametrize("second", SHARING)
def test_which_arguments_share_memory(first, second):
    fn = ja.compile(add_and_read)
    for name in (first, second, first, second):
        expected = add_and_read(*SHARING[name]())
        assert fn(*SHARING[name]()).tolist() == expected.tolist()
    assert fn.cache_info().misses == (1 if first == second else 2)
    assert bool(reasons(fn)) == (first != second)


def test_reasons_of_sharing():
    fn = ja.compile(add_and_read)
    a, b = ja.zeros(2), ja.zeros(2)
    fn(a, b), fn(a, a.detach()), fn(a, a)
    assert reasons(fn)[0] == "argument `y` shares memory with argument `x`"
    assert "argument `y` is the same tensor as argument `x`" in reasons(fn)


def test_a_tensor_of_the_closure_that_is_an_argument():
    model = Holder(cache=ja.zeros(2))

    def write(x):
        x.add_(1)
        return model.cache * 1

    fn = ja.compile(write)
    assert fn(ja.zeros(2)).tolist() == [0, 0]
    assert fn(model.cache).tolist() == [1, 1]
    assert fn(model.cache.detach()).tolist() == [2, 2]
    assert fn(ja.zeros(2)).tolist() == [2, 2]
    assert fn.cache_info().misses == 3
    assert "`model.cache` is the same tensor as argument `x`" in reasons(fn)


def test_tied_attributes():
    model = Holder(a=ja.ones(2), head=Holder())
    model.head.b = model.a
    fn = ja.compile(lambda x: x * model.a + model.head.b)
    assert again(fn, ja.ones(2)) == [2, 2]
    model.head.b = ja.zeros(2)
    assert again(fn, ja.ones(2)) == [1, 1]
    assert fn.cache_info().misses == 2 and reasons(fn)
    model.head.b = model.a
    assert again(fn, ja.ones(2)) == [2, 2] and fn.cache_info().misses == 2


def test_which_tensors_share_a_gradient():
    def write(base, view, other):
        view.mul_(2)
        return base * 1, other * 1

    def inputs(is_shared):
        leaf = ja.ones(2, requires_grad=True)
        base = leaf * 1
        return leaf, base, base[:], base[:] if is_shared else base.detach().requires_grad_()[:] * 1

    fn = ja.compile(write)
    for is_shared in (True, False, True):
        gradients = []
        for run in (write, fn):
            leaf, *given = inputs(is_shared)
            sum(t.sum() for t in run(*given)).backward()
            gradients.append(leaf.grad.tolist())
        assert gradients[0] == gradients[1]
    assert fn.cache_info().misses == 2


def test_a_view_where_a_view_is_made():
    fn = ja.compile(lambda x: x.view(-1))
    for make in (lambda: ja.zeros(2, 2), lambda: ja.zeros(2, 2).view(2, 2)):
        for _ in range(2):
            x = make()
            y = fn(x)
            assert y._base is (x if x._base is None else x._base)
    assert fn.cache_info().misses == 2
    assert reasons(fn) == ["argument `x` is a view of another tensor"]


def test_a_view_where_none_is_made_is_no_reason():
    fn = ja.compile(lambda x: x + 1)
    fn(ja.zeros(2, 2)), fn(ja.zeros(2, 2).view(2, 2)), fn(ja.zeros(4).set_(ja.zeros(2, 2)))
    assert fn.cache_info().misses == 1


def test_the_first_view_of_a_tensor_is_no_reason():
    fn = ja.compile(lambda x: x.view(-1))
    x, w = ja.ones(2), ja.ones(2, requires_grad=True)
    before = x[:]
    views = [fn(x), fn(x)]
    assert fn.cache_info().misses == 1
    before.mul_(w)  # all of them are views of what is written
    assert all(v.requires_grad for v in (x, *views))


def test_one_of_several_views_is_refused_as_eagerly():
    fn = ja.compile(lambda x: x.add_(1))
    leaf = ja.ones(2, 2, requires_grad=True)
    fn((leaf * 1)[0])
    with pytest.raises(ja.errors.AutogradError, match="multiple views"):
        fn((leaf * 1).unbind(0)[0])


def test_an_empty_storage_that_was_given_up():
    fn = ja.compile(lambda x: x.numel() + (x + 1).sum())
    x = ja.ones(2)
    x.untyped_storage().resize_(0)
    gone = ja.zeros(0).set_(x.untyped_storage(), 0, (0,), (1,))
    assert fn(ja.zeros(0)).item() == fn(gone).item() == fn(ja.zeros(0)).item() == 0
    assert reasons(fn) == ["the storage of argument `x` was given up"]


def test_a_trimmed_storage():
    fn = ja.compile(lambda x: x.add_(1))
    x = ja.arange(6.0)
    x.untyped_storage().resize_(8)
    assert fn(ja.zeros(2)).tolist() == [1, 1] and fn(x[:2]).tolist() == [1, 2]
    assert reasons(fn) == ["the storage of argument `x` was trimmed from 6 elements"]


def test_a_fact_that_is_asked():
    fn = ja.compile(lambda x: x * x._version)
    x = ja.ones(2)
    assert fn(x).tolist() == [0, 0] and fn(x.add_(1)).tolist() == [2, 2]
    assert reasons(fn) == ["argument `x` is a tensor with the _version 1 instead of a tensor with the _version 0"]


def test_numbers_of_numpy_that_fewer_bits_hold():
    fn = ja.compile(lambda a: ja.from_numpy(a) + 1)
    assert fn(np.array([1, 2])).tolist() == [2, 3]
    with pytest.raises(ja.errors.TensorValueError):
        fn(np.array([2**40, 1]))
    assert fn(np.array([3, 4])).tolist() == [4, 5] and not reasons(fn)


def test_bytes_of_a_storage():
    fn = ja.compile(lambda p: p.untyped_storage().nbytes())
    p = ja.ones(4)
    assert fn(p) == 16
    p.untyped_storage().resize_(0)
    assert fn(p) == 0
    assert reasons(fn) == ["the storage of argument `p` holds 0 bytes instead of 16"]
    p.untyped_storage().resize_(16)
    fn(p)
    assert reasons(fn)[1] == "the storage of argument `p` holds 16 bytes instead of 0"


# -- gradients ---------------------------------------------------------------------------------------------------------


def test_a_grad_that_is_read():
    w = ja.ones(2, requires_grad=True)
    fn = ja.compile(lambda x: x * (1 if w.grad is None else 2))
    assert again(fn, ja.ones(1)) == [1]
    w.sum().backward()
    assert again(fn, ja.ones(1)) == [2]
    w.grad = None
    assert again(fn, ja.ones(1)) == [1]
    assert reasons(fn) == ["`w.grad` is no longer None"]


def test_a_backward_inside_adds_to_what_is_there():
    w = ja.ones(2, requires_grad=True)

    @ja.compile
    def step(x):
        (x * w).sum().backward()

    for n in (1, 2, 3):
        step(ja.ones(2))
        assert w.grad.tolist() == [n, n]
    assert step.cache_info().misses == 2
    handle = w.register_hook(lambda g: g * 10)
    step(ja.ones(2))
    assert w.grad.tolist() == [13, 13] and reasons(step)[-1] == "the hooks of `w` are others"
    handle.remove()
    step(ja.ones(2))
    assert w.grad.tolist() == [14, 14] and step.cache_info().misses == 3


# -- the Python world --------------------------------------------------------------------------------------------------


def plus_one(x):
    return x + 1


def times_ten(x):
    return x * 10


def changed(holder, name, value):
    setattr(holder, name, value)


WORLD = {
    "flag": (
        lambda h: x_of(h) if h.training else x_of(h) * 5,
        "training",
        True,
        False,
        "`h.training` is False instead of True",
    ),
    "number": (lambda h: x_of(h) * h.scale, "scale", 2, 3, "`h.scale` is 3 instead of 2"),
    "kind of number": (lambda h: x_of(h) * h.scale, "scale", 1, 1.0, "`h.scale` is 1.0 instead of 1"),
    "None": (
        lambda h: x_of(h) if h.bias is None else x_of(h) + 1,
        "bias",
        None,
        "b",
        "`h.bias` is 'b' instead of None",
    ),
    "length": (lambda h: x_of(h) * len(h.layers), "layers", [1], [1, 2], "`h.layers` has 2 items instead of 1"),
    "item": (lambda h: x_of(h) * h.layers[0], "layers", [1], [2], "`h.layers[0]` is 2 instead of 1"),
    "keys": (
        lambda h: x_of(h) * len(h.cfg),
        "cfg",
        {"a": 1},
        {"b": 1},
        "`h.cfg` has the keys ('b',) instead of ('a',)",
    ),
    "value of a key": (lambda h: x_of(h) * h.cfg["a"], "cfg", {"a": 1}, {"a": 2}, "`h.cfg['a']` is 2 instead of 1"),
    "set": (lambda h: x_of(h) * len(h.on), "on", {1}, {1, 2}, "`h.on` is frozenset({1, 2}) instead of frozenset({1})"),
    "function": (lambda h: h.act(x_of(h)), "act", plus_one, times_ten, "`h.act` is another function"),
    "library function": (lambda h: h.act(x_of(h)), "act", ja.relu, ja.neg, "`h.act` is neg instead of relu"),
    "partial": (
        lambda h: h.act(x_of(h)),
        "act",
        functools.partial(ja.mul, other=2),
        functools.partial(ja.mul, other=3),
        "`h.act.keywords['other']` is 3 instead of 2",
    ),
    "dtype": (
        lambda h: x_of(h).to(h.dtype),
        "dtype",
        ja.float32,
        ja.int32,
        "`h.dtype` is ja.int32 instead of ja.float32",
    ),
    "shape of an array": (
        lambda h: x_of(h) * h.array,
        "array",
        jnp.ones(2),
        jnp.ones(1),
        "`h.array` has shape [1] instead of [2]",
    ),
    "an array whose values Python reads": (
        lambda h: x_of(h) * int(h.array),
        "array",
        jnp.array(2),
        jnp.array(3),
        "`h.array` is another object",
    ),
    "NumPy array": (
        lambda h: x_of(h) * h.table,
        "table",
        np.ones(2, np.float32),
        np.zeros(2, np.float32),
        "`h.table` holds other values",
    ),
    "a tensor that is only looked at": (
        lambda h: x_of(h) * h.like.shape[0],
        "like",
        ja.ones(2),
        ja.ones(3),
        "`h.like` is a tensor of another shape",
    ),
    "whether there is a tensor": (
        lambda h: x_of(h) if h.like is None else x_of(h) * 2,
        "like",
        ja.ones(2),
        None,
        "`h.like` is None instead of ",
    ),
    "a number in a tuple": (lambda h: x_of(h) * h.pair[0], "pair", (1,), (1.0,), "`h.pair[0]` is 1.0 instead of 1"),
    "namespace": (
        lambda h: x_of(h) * h.ns.k,
        "ns",
        types.SimpleNamespace(k=1),
        types.SimpleNamespace(k=2),
        "`h.ns.k` is 2 instead of 1",
    ),
    "class": (
        lambda h: h.layer(x_of(h)),
        "layer",
        Scaling(w=1, scale=1),
        Doubling(w=1, scale=1),
        "`h.layer` is an object of type Doubling instead of an object of type Scaling",
    ),
    "deep": (lambda h: h.layer(x_of(h)), "layer", Scaling(w=1, scale=1), Scaling(w=1, scale=4), "`h.layer.scale` is 4"),
    "a tensor in place of None": (
        lambda h: x_of(h) if h.extra is None else x_of(h) + h.extra,
        "extra",
        None,
        ja.ones(2),
        "`h.extra` is a tensor instead of None",
    ),
}


def x_of(h):
    return h.x


@pytest.mark.few(13)
@pytest.mark.parametrize("name", WORLD)
def test_what_the_function_reads_of_the_python_world(name):
    body, attribute, first, second, reason = WORLD[name]
    h = Holder(x=ja.tensor([1.0, -2.0]))
    fn = ja.compile((lambda body: lambda h: body(h))(body))
    for value in (first, second, first, second):
        setattr(h, attribute, value)
        again(fn, h)
    assert fn.cache_info() == (2, 2, 2), reasons(fn)
    assert any(reason in text for text in reasons(fn)), reasons(fn)


@pytest.mark.slow
def test_globals_defaults_closures_and_class_attributes(monkeypatch):
    act, layer = plus_one, Scaling(w=1, scale=1)

    def body(x, k=3):
        return act(helper(x)) * k + layer(x)

    fn = ja.compile(body)
    again(fn, ja.ones(1))
    monkeypatch.setitem(globals(), "SCALE", 7)
    again(fn, ja.ones(1))
    monkeypatch.setattr(Scaling, "offset", 9)
    again(fn, ja.ones(1))
    act = times_ten
    again(fn, ja.ones(1))
    body.__defaults__ = (4,)
    again(fn, ja.ones(1))
    again(fn, ja.ones(1))
    assert fn.cache_info().misses == 5
    said = " ".join(reasons(fn))
    assert "`SCALE` is 7 instead of 2" in said and "`layer.offset` is 9 instead of 1" in said
    assert "`act` is another function" in said


def test_what_nobody_reads_is_no_reason():
    class Trainer:
        def __init__(self):
            self.w, self.epoch, self.name, self.losses = ja.ones(2), 0, "first", []

        def report(self):
            return f"{self.name}: {self.epoch} {self.losses}"

        def step(self, x):
            return x * self.w

    trainer = Trainer()
    fn = ja.compile(trainer.step)
    for epoch in range(5):
        trainer.epoch, trainer.name = epoch, f"run {epoch}"
        trainer.losses.append(fn(ja.ones(2)).sum().item())
    assert fn.cache_info().misses == 1


def test_an_attribute_read_by_a_name_made_at_run_time():
    h = Holder(x=ja.ones(1), scale_1=2)
    fn = ja.compile(lambda h, i: h.x * getattr(h, f"scale_{i}"))
    assert again(fn, h, 1) == [2]
    h.scale_1 = 3
    assert again(fn, h, 1) == [3]


def test_the_same_code_made_anew_is_no_reason():
    def make():
        return lambda x: x * 2

    h = Holder(act=make(), x=ja.ones(1))
    fn = ja.compile(lambda h: h.act(h.x))
    for _ in range(3):
        again(fn, h)
        h.act = make()
    assert fn.cache_info().misses == 1


# -- settings ----------------------------------------------------------------------------------------------------------


def test_modes_and_settings():
    fn = ja.compile(lambda x: x @ x)
    x = ja.ones(2, 2)
    fn(x)
    with ja.no_grad():
        fn(x)
    with ja.config(policy="save_all", passes=("dce",)):
        fn(x)
    with jax.enable_x64(True):
        fn(x)
    with jax.default_matmul_precision("highest"):
        fn(x)
    fn(x)
    assert fn.cache_info().misses == 5
    said = reasons(fn)
    assert said[0] == "grad mode is off"
    assert "config policy changed: 'save_all' instead of 'min_cut'" in said
    assert "config passes changed: ('dce',) instead of None" in said
    assert "the setting jax_enable_x64 of JAX is True instead of False" in said
    assert "the setting jax_default_matmul_precision of JAX is 'highest' instead of None" in said


def test_what_a_tensor_is_made_of():
    world = Holder()
    world.cache = Scaled(ja.ones(3), 2.0)
    fn = ja.compile(lambda x: world.cache.sum() + x)
    assert fn(ja.zeros(())).item() == 6
    world.cache = Scaled(ja.ones(3), 4.0)
    assert fn(ja.zeros(())).item() == 12
    (said,) = reasons(fn)
    assert said == (
        "`world.cache` is made of values with context 4.0 and shape [3] instead of made of values with context 2.0 and "
        "shape [3]"
    )


def test_a_program_under_other_settings_gives_what_eager_gives():
    fn = ja.compile(lambda: ja.arange(3) * 0.5)
    dtypes = []
    for is_on in (False, True, False, True):
        with jax.enable_x64(is_on):
            dtypes.append(fn().dtype)
            assert dtypes[-1] == fn.fn().dtype
    assert fn.cache_info().misses == 2


# -- the law -----------------------------------------------------------------------------------------------------------


def random_call(rng: random.Random, world: Holder):
    """Returns the arguments of a call, and changes the world that the function reads."""
    base = ja.ones(6, requires_grad=rng.random() < 0.3)
    if rng.random() < 0.3:
        base = base * 1
    pieces = [lambda: base[:3], lambda: base[3:], lambda: base[:3].detach(), lambda: ja.ones(3), lambda: base]
    x, y = rng.choice(pieces)(), rng.choice(pieces)()
    if rng.random() < 0.2:
        y = x
    world.flag = rng.choice((True, False, 1))
    world.items = [1] * rng.choice((1, 1, 2))
    world.cache = rng.choice((x, ja.zeros(3), None))
    world.act = rng.choice((plus_one, times_ten))
    return x, y, rng.choice((1, 2, 2.0, "a", None))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(12, 2))
def test_the_first_program_fits_the_second_call_or_there_is_a_difference(seed):
    rng = random.Random(seed)
    world = Holder()

    def body(x, y, how):
        out = world.act(x) if world.flag else y * 2
        with ja.no_grad():
            y.detach().add_(len(world.items))
        if world.cache is not None:
            out = out.sum() + world.cache.sum()
        return out * (how if isinstance(how, (int, float)) else 1), x[:1]

    for _ in range(6):
        fn = ja.compile(body)
        fn(*random_call(rng, world))
        n = fn.cache_info().misses
        fn(*random_call(rng, world))
        fits = fn.cache_info().misses == n
        if not fits:
            later, earlier = fn.programs[0].key, fn.programs[1].key
            assert differences(earlier, later)
        else:
            assert not fn.explain_recompiles()


def test_every_kind_of_guard_on_python_is_tested_above():
    assert {kind.__name__ for kind in Condition.__subclasses__()} == {
        "EqualTo", "IsObject", "IsHeldWeakly", "HasCode", "HasType", "HasLength", "HasAttributes", "HasContent",
        "HasLayout", "HasKeys", "HasMembers", "IsAlsoAt", "IsTensor", "IsAbsent",
        "AreDistinct", "HasItems", "HasMethods", "HasReading", "Lacks", "IsMadeAs", "Answers", "IsHeld",
        "IsThere", "IsEmpty", "HasVariables",
    }  # fmt: skip


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    w: ja.Tensor
    scaled: Any = dataclasses.field(metadata={"static": True})


def test_a_method_that_an_argument_holds():
    class Scale:
        k = 2.0

        def scaled(self, x):
            return x * self.k

    scale, fn = Scale(), ja.compile(lambda state, x: state.scaled(x) * state.w)
    for k in (2, 2, 3, 3):
        scale.k = k
        assert fn(State(ja.ones(()), scale.scaled), ja.ones(())).item() == k
    assert fn.cache_info().misses == 2  # another state with the same method is not another program


def _scaled_by_default(x, h):
    return x * getattr(h, "k", 2.0)


def _scaled_if_there(x, h):
    return x * (h.k if hasattr(h, "k") else 2.0)


def _scaled_or_not(x, h):
    try:
        return x * h.k
    except AttributeError:
        return x * 2.0


def _scaled_by_item(x, h):
    return x * vars(h).get("k", 2.0)


@pytest.mark.parametrize("scale", [_scaled_by_default, _scaled_if_there, _scaled_or_not, _scaled_by_item])
@pytest.mark.parametrize("is_argument", [False, True])
def test_an_attribute_that_comes_later(scale, is_argument):
    h = Holder()
    fn = ja.compile(scale if is_argument else lambda x: scale(x, h))
    x, rest = ja.ones(1), (h,) if is_argument else ()
    assert again(fn, x, *rest) == [2]
    h.k = 5.0
    assert again(fn, x, *rest) == [5]
    assert any("`h.k` is 5.0 instead of absent" in text for text in reasons(fn))
    del h.k
    assert again(fn, x, *rest) == [2]


class Lazy(Holder):
    """What it lacks is computed."""

    __slots__ = ("kept",)

    def __getattr__(self, name):
        return 2.0


@pytest.mark.parametrize("name", ["k", "kept"])
def test_what_was_computed_in_the_place_of_an_attribute(name):
    h = Lazy()
    fn = ja.compile(lambda x: x * getattr(h, name))
    assert again(fn, ja.ones(1)) == [2]
    setattr(h, name, 5.0)
    assert again(fn, ja.ones(1)) == [5]
    delattr(h, name)
    assert again(fn, ja.ones(1)) == [2] and fn.cache_info().misses == 2


def test_an_attribute_that_the_function_takes_away():
    h = Holder(k=2.0)

    def body(x):
        k = h.__dict__.pop("k", 1.0)
        return x * k

    fn = ja.compile(body)
    assert fn(ja.ones(1)).tolist() == [2] and vars(h) == {}
    assert fn(ja.ones(1)).tolist() == [1]
    h.k = 2.0
    assert fn(ja.ones(1)).tolist() == [2] and vars(h) == {}


def test_a_variable_of_a_closure_that_is_not_filled_yet():
    def make():
        def body(x):
            try:
                return x * k
            except NameError:
                return x

        def fill():
            nonlocal k
            k = 3.0

        k = 1.0
        del k
        return body, fill

    body, fill = make()
    fn = ja.compile(body)
    assert again(fn, ja.ones(1)) == [1]
    fill()
    assert again(fn, ja.ones(1)) == [3]


def test_a_variable_that_comes_to_hide_one_of_pythons(monkeypatch):
    fn = ja.compile(lambda x: x * abs(-2))
    assert again(fn, ja.ones(1)) == [2]
    monkeypatch.setitem(globals(), "abs", lambda n: 5)
    assert again(fn, ja.ones(1)) == [5]
    assert any("abs" in text for text in reasons(fn))


def test_an_attribute_of_the_class_that_comes_later():
    class Own(Holder):
        pass

    h = Own()
    fn = ja.compile(lambda x: _scaled_if_there(x, h))
    assert again(fn, ja.ones(1)) == [2]
    Own.k = 3.0
    assert again(fn, ja.ones(1)) == [3]


def test_a_method_that_an_attribute_hides_later():
    class Layer:
        def act(self, x):
            return x * 2

    layer = Layer()
    fn = ja.compile(lambda x: layer.act(x))
    assert again(fn, ja.ones(1)) == [2]
    layer.act = lambda x: x * 7
    assert again(fn, ja.ones(1)) == [7]


def test_a_global_variable_that_comes_later(monkeypatch):
    fn = ja.compile(lambda x: x * globals().get("LATER", 2.0))
    assert again(fn, ja.ones(1)) == [2]
    monkeypatch.setitem(globals(), "LATER", 5.0)
    assert again(fn, ja.ones(1)) == [5]


def test_objects_of_libraries_are_not_searched_for_a_name():
    h = Holder(mark=pytest.mark, k=2)  # it leads to all of pytest
    fn = ja.compile(lambda x: x * getattr(h, "k"))  # noqa: B009
    assert again(fn, ja.ones(1)) == [2]
    assert len(fn.programs[0].key.call.python) < 30
    h.k = 3
    assert again(fn, ja.ones(1)) == [3]


def test_one_object_at_two_places():
    shared = Holder(k=2)
    h = Holder(a=shared, b=shared, x=ja.ones(1))
    fn = ja.compile(lambda h: h.x * h.a.k * h.b.k)
    assert again(fn, h) == [4]
    h.b = Holder(k=5)
    assert again(fn, h) == [10]
    assert any("`h.b` is" in text for text in reasons(fn))


def test_what_is_only_added_to_is_no_reason():
    losses = []

    class Trainer:
        def __init__(self):
            self.w, self.history = ja.ones(1), []

        def step(self, x):
            losses.append(1)
            self.history.append(2)
            return x * self.w

    trainer = Trainer()
    fn = ja.compile(trainer.step)
    for _ in range(4):
        fn(ja.ones(1))
        losses.append(3), trainer.history.append(4)
    assert fn.cache_info() == (3, 1, 1) and losses == [1, 3] * 4 and trainer.history == [2, 4] * 4


def test_what_is_added_to_is_read_unless_it_is_a_container():
    class Average:
        def __init__(self, decay):
            self.decay = decay

        def update(self, x):
            return x * self.decay

    class Trainer:
        def __init__(self):
            self.average = Average(0.5)

        def step(self, x):
            return self.average.update(x)

    trainer, average = Trainer(), Average(0.5)
    step, update = ja.compile(trainer.step), ja.compile(lambda x: average.update(x))
    assert again(step, ja.ones(1)) == again(update, ja.ones(1)) == [0.5]
    trainer.average.decay = average.decay = 0.25
    assert again(step, ja.ones(1)) == again(update, ja.ones(1)) == [0.25]
    trainer.average = Average(3.0)
    assert again(step, ja.ones(1)) == [3.0]


def test_a_list_that_is_added_to_and_read():
    names = []

    def fn(x):
        names.append("n")
        n = len(names)
        names.pop()
        return x * n

    fn = ja.compile(fn)
    assert fn(ja.ones(1)).item() == 1
    names.append("m")
    assert fn(ja.ones(1)).item() == 2


NORMALIZED = [("ﬁ", "fi"), ("ª", "a"), ("𝐱", "x"), ("e\u0301", "\u00e9"), ("a b", "ab"), ("class", "class_")]
"""Names, and others that Python reads in their place where they stand in code, or that look like them."""


@pytest.mark.few(9)
@pytest.mark.parametrize("name, other", NORMALIZED)
@pytest.mark.parametrize("has_other", [False, True])
def test_names_of_attributes_are_those_of_the_object(name, other, has_other):
    class Model:
        pass

    model, kind = Model(), Model
    for owner, value in ((model, 2.0), (kind, 5.0)):
        setattr(owner, name, ja.ones(2) * value)
        setattr(owner, name + "_number", 3)
        if has_other:
            setattr(owner, other, ja.ones(2) * 7)
            setattr(owner, other + "_number", 4)

    @ja.compile
    def fn(x):
        return x * getattr(model, name) * getattr(model, name + "_number") + getattr(kind, name)

    assert fn(ja.ones(2)).tolist() == fn(ja.ones(2)).tolist() == [11.0, 11.0]
    getattr(model, name).mul_(2)
    assert fn(ja.ones(2)).tolist() == [17.0, 17.0]
    setattr(model, name + "_number", 1)
    setattr(model, name, ja.ones(2))
    assert fn(ja.ones(2)).tolist() == [6.0, 6.0]


def test_names_that_are_of_a_class_of_strings():
    class Name(str):
        def __repr__(self):
            raise AssertionError("the text of a name is not asked for")

    class Model:
        pass

    model = Model()
    model.__dict__[Name("weight")] = ja.ones(2) * 2
    fn = ja.compile(lambda x: x * model.weight)
    assert fn(ja.ones(2)).tolist() == fn(ja.ones(2)).tolist() == [2.0, 2.0]


def test_names_of_arguments_that_python_normalizes():
    fn = ja.compile(lambda **named: named["ﬁ"] * 2 + named["fi"])
    given = {"ﬁ": ja.ones(2), "fi": ja.ones(2) * 3}
    assert fn(**given).tolist() == fn(**dict(reversed(given.items()))).tolist() == [5.0, 5.0]


# -- only what the code loads ------------------------------------------------------------------------------------------


def test_a_loop_variable_of_the_module_that_is_named_as_an_attribute(monkeypatch):
    class Optimizer:
        def step(self, x):
            return x.sum() * 2

    optimizer = Optimizer()
    train = ja.compile(lambda x: optimizer.step(x))
    for step in range(4):
        monkeypatch.setitem(globals(), "step", step)
        monkeypatch.setitem(globals(), "sum", step)
        assert train(ja.ones(2)).item() == 4
    assert train.cache_info() == (3, 1, 1)


def test_a_global_that_is_looked_for_by_an_attribute_of_that_name(monkeypatch):
    def body(x, h):
        try:
            return x * h.later
        except AttributeError:
            return x

    fn = ja.compile(body)
    h = Holder()
    assert again(fn, ja.ones(1), h) == [1]
    monkeypatch.setitem(globals(), "later", 3)  # not the attribute
    assert again(fn, ja.ones(1), h) == [1]
    assert fn.cache_info().misses == 1


def test_a_global_that_inner_functions_and_names_made_at_run_time_read(monkeypatch):
    monkeypatch.setitem(globals(), "inner_scale", 2)
    monkeypatch.setitem(globals(), "named_scale", 2)
    fn = ja.compile(lambda x: (lambda y: y * inner_scale)(x) * globals()["named_scale"])  # noqa: F821
    assert again(fn, ja.ones(1)) == [4]
    monkeypatch.setitem(globals(), "inner_scale", 3)
    assert again(fn, ja.ones(1)) == [6]
    monkeypatch.setitem(globals(), "named_scale", 3)
    assert again(fn, ja.ones(1)) == [9]


FACTOR = {"value": 2.0}


def scaled(x):
    return x * FACTOR["value"]


class ByFactor(nnx.Module):
    """A module whose code, and a function that it holds, read a global."""

    def __init__(self):
        self.weight, self.scaled = nnx.Param(jnp.ones(3)), scaled

    def __call__(self, x):
        return self.scaled(x * self.weight[...]) * FACTOR["value"]


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Held:
    weight: Any
    fn: Any = dataclasses.field(metadata={"static": True})


@pytest.mark.few(3)
@pytest.mark.parametrize("where", ["graph", "graph of the closure", "static field", "partial"])
def test_code_that_an_argument_holds_may_read_something_else(where, monkeypatch):
    graph, state = nnx.split(ByFactor())
    fn, args = {
        "graph": (lambda graph, state, x: nnx.merge(graph, state)(x), (graph, state)),
        "graph of the closure": (lambda state, x: nnx.merge(graph, state)(x), (state,)),
        "static field": (lambda held, x: held.fn(x * held.weight), (Held(jnp.ones(3), scaled),)),
        "partial": (lambda fn, x: fn(x), (jax.tree_util.Partial(scaled),)),
    }[where]
    compiled, x = ja.compile(fn), jnp.ones(3)
    for factor, n_programs in [(2.0, 1), (5.0, 2), (2.0, 2)]:
        monkeypatch.setitem(FACTOR, "value", factor)
        np.testing.assert_array_equal(compiled(*args, x), fn(*args, x))
        assert compiled.n_programs == n_programs
