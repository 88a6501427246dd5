"""Subclasses that say nothing of the protocol, and `__tensor_function__`: as PyTorch's."""

from __future__ import annotations

import copy
import pickle

import pytest

import jaxaot as ja
from jaxaot import errors
from jaxaot.subclasses import TwoTensor


class Labelled(ja.Tensor):
    """A tensor with a name."""

    label = "none"


class More(Labelled):
    """One that derives from it."""


class Other(ja.Tensor):
    """One that has nothing to do with it."""


class Counted(ja.Tensor):
    """Notes the ops that are asked of it."""

    asked: list[str] = []

    @classmethod
    def __tensor_function__(cls, op, types, args, kwargs):
        cls.asked.append(op.name)
        return super().__tensor_function__(op, types, args, kwargs)


def test_results_are_of_the_class():
    x = Labelled([1.0, 2.0, 3.0])
    x.label = "x"
    for y in (x + 1, 1 - x, x.sin(), x[1:], x.view(3, 1), ja.cat([x, ja.ones(2)]), x.sum(), x.max(0).values, x.clone()):
        assert type(y) is Labelled
        assert y.label == "none"
    assert (x * 2).tolist() == [2.0, 4.0, 6.0]
    assert (x + 1).sum().item() == 9.0
    assert type(x * More([1.0, 1.0, 1.0])) is More
    assert isinstance(x.shape, ja.Size)
    assert repr(x) == "Labelled(tensor([1., 2., 3.]))"
    assert type(ja.zeros_like(x)) is Labelled
    with pytest.raises(errors.SubclassError, match="`Labelled` and `Other`"):
        x + Other([1.0, 1.0, 1.0])


def test_it_shares_memory_and_gradients():
    base = ja.ones(3, requires_grad=True)
    x = (base * 2).as_subclass(Labelled)
    assert type(x) is Labelled
    (x * x).sum().backward()
    assert base.grad.tolist() == [8.0] * 3
    leaf = Labelled(ja.ones(3)).requires_grad_()
    (leaf * 3).sum().backward()
    assert type(leaf.grad) is ja.Tensor
    assert leaf.grad.tolist() == [3.0] * 3
    leaf.grad = None
    (gradient,) = ja.autograd.grad((leaf * 5).sum(), [leaf])
    assert gradient.tolist() == [5.0] * 3
    plain = ja.zeros(3)
    shown = Labelled(plain)
    assert shown.add_(1) is shown
    shown[0] = 5.0
    plain.add_(shown)
    assert plain.tolist() == [10.0, 2.0, 2.0]
    assert shown.untyped_storage() is plain.untyped_storage()
    assert shown.data_ptr() == plain.data_ptr()


def test_copies():
    x = Labelled([1.0, 2.0]).requires_grad_()
    x.label = "x"
    for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert (type(made), made.label, made.tolist(), made.requires_grad) == (Labelled, "x", [1.0, 2.0], True)
    assert float(Labelled(2.5)) == 2.5
    with pytest.raises(errors.AutogradError, match="made by its own"):
        ja.ones(3).as_subclass(TwoTensor)


def test_compiled():
    @ja.compile
    def fn(x, y):
        x.mul_(2)
        return x.sin() * (2 if x.label == "x" else 3), y + 1, x

    x, y = Labelled(ja.ones(3)), ja.ones(3)
    x.label = "x"
    for n in (1, 2):
        first, second, same = fn(x, y)
        assert (type(first), type(second), same is x, x._version) == (Labelled, ja.Tensor, True, n)
        assert x.tolist() == [2.0**n] * 3
        assert first.tolist() == (ja.full((3,), 2.0**n).sin() * 2).tolist()
    x.label = "other"
    assert fn(x, y)[0].tolist() == pytest.approx((ja.full((3,), 8.0).sin() * 3).tolist())
    assert fn.cache_info()[:2] == (1, 2)
    w = Labelled(ja.ones(3)).requires_grad_()
    ja.compile(lambda t: (t * t).sum())(w).backward()
    assert w.grad.tolist() == [2.0] * 3


def test_a_parameter_of_a_class():
    layer = ja.nn.Linear(3, 2)
    layer.weight = ja.nn.Parameter(Labelled(ja.ones(2, 3)))
    optimizer = ja.optim.SGD(layer.parameters(), lr=1.0)
    y = layer(ja.ones(1, 3))
    assert type(y) is Labelled
    y.sum().backward()
    optimizer.step()
    assert layer.weight.tolist() == [[0.0] * 3] * 2


def test_a_function_is_asked_first():
    Counted.asked.clear()
    x = Counted([1.0, 2.0])
    y = (x + 1).sin().view(2, 1)
    y.mul_(2)
    assert type(y) is Counted
    assert Counted.asked == ["add", "sin", "view", "mul_"]

    class Above(TwoTensor):
        @classmethod
        def __tensor_function__(cls, op, types, args, kwargs):
            if op.name == "sin":
                return "sinned"
            return super().__tensor_function__(op, types, args, kwargs)

    pair = Above(ja.ones(2), ja.zeros(2))
    assert pair.sin() == "sinned"
    assert type(pair * 2) is Above
    assert (pair.cos() + pair).b.tolist() == [1.0, 1.0]


class Config:
    """Holds a number."""

    def __init__(self, k):
        self.k = k


def test_attributes_hold_anything():
    fn = ja.compile(lambda x: x * x.meta["k"] + x.config.k + x.other)

    def make(k, config):
        x = Labelled([1.0, 2.0])
        x.meta, x.config, x.other = {"k": k}, config, ja.full((2,), 10 * k)
        return x

    config = Config(1)
    for k in (1.0, 2.0, 1.0):
        assert fn(make(k, config)).tolist() == [11 * k + 1, 12 * k + 1]
    assert fn.cache_info()[:2] == (1, 2)
    config.k = 5
    x = make(1.0, config)
    assert fn(x).tolist() == [16.0, 17.0]
    x.meta["k"] = 3.0
    assert fn(x).tolist() == [18.0, 21.0]
    x.requires_grad_()
    (x * x).sum().backward()
    x.register_hook(lambda g: g)
    assert x.grad.tolist() == [2.0, 4.0]
    made = copy.deepcopy(x)
    made.meta["k"] = 7.0
    made.other.zero_()
    assert (x.meta["k"], x.other.tolist()) == (3.0, [10.0, 10.0])
    assert pickle.loads(pickle.dumps(x)).meta == {"k": 3.0}


class Tagged(ja.nn.Parameter):
    """A parameter with a tag."""

    def __new__(cls, data, tag="none"):
        made = super().__new__(cls, data)
        made.tag = tag
        return made


class Bare(ja.nn.Parameter):
    """Another one."""


def test_a_class_of_parameters():
    layer = ja.nn.Linear(3, 2)
    layer.weight = Tagged(ja.ones(2, 3), tag="x")
    assert isinstance(layer.weight, ja.nn.Parameter) and not isinstance(Bare(ja.ones(1)), Tagged)
    assert [type(t) for t in (layer.weight * 2, layer.weight[0], layer.weight.detach())] == [ja.Tensor] * 3
    optimizer = ja.optim.SGD(layer.parameters(), lr=1.0)

    @ja.compile
    def step(x):
        optimizer.zero_grad()
        layer(x).sum().backward()
        optimizer.step()

    step(ja.ones(1, 3)), step(ja.ones(1, 3))
    for weight in (layer.weight, copy.deepcopy(layer).weight, pickle.loads(pickle.dumps(layer.weight))):
        assert (type(weight), weight.tag, weight.requires_grad) == (Tagged, "x", True)
        assert isinstance(weight, ja.nn.Parameter)
        assert weight.tolist() == [[-1.0] * 3] * 2
