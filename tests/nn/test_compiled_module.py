"""`ja.compile(module)` is a module: with the parameters, state, hooks, attributes and methods of the module itself."""

import abc
import copy
import io
import pickle

import numpy as np
import pytest

import jaxaot as ja
from jaxaot import nn


class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.linear, self.norm = nn.Linear(n, n), nn.BatchNorm1d(n)
        self.scale, self.n_calls = 1.0, 0

    def forward(self, x):
        self.n_calls += 1
        return self.norm(self.linear(x)) * self.scale

    def generate(self, x):
        return self(x).argmax(1)

    def clone(self):
        return type(self)(4)


def given():
    return ja.from_numpy(np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4))


def compiled_net():
    ja.manual_seed(0)
    return ja.compile(Net())


def same(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_it_has_parameters_state_and_types_of_the_module():
    net = Net()
    f = ja.compile(net)
    assert isinstance(f, nn.Module) and isinstance(f, Net) and type(f) is not Net
    assert [id(p) for p in f.parameters()] == [id(p) for p in net.parameters()]
    assert list(f.state_dict()) == list(net.state_dict()) and repr(f) == repr(net)
    assert [m for _, m in f.named_modules()] == [m for _, m in net.named_modules()]
    assert f._orig_mod is net and type(f.clone()) is Net


@pytest.mark.slow
def test_attributes_are_those_of_the_module():
    f = compiled_net()
    x, net = given(), f._orig_mod
    first = f(x)
    f.scale = 3.0
    same(f(x), first * 3)
    assert net.scale == 3.0 and net.n_calls == f.n_calls == 2
    del f.scale
    assert not hasattr(net, "scale")
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nothing'"):
        _ = f.nothing


@pytest.mark.slow
def test_modes_and_moves_are_those_of_the_module():
    f, x = compiled_net(), given()
    assert f.eval() is f and not f._orig_mod.norm.training
    same(f(x), f._orig_mod(x))
    assert f.train() is f and f.bfloat16().to(ja.float32) is f
    assert f.norm.training and f.linear.weight.dtype == ja.float32
    assert f.generate(x).shape == (3,)


@pytest.mark.slow
def test_hooks_run_whenever_they_were_registered():
    net, x, seen = Net().eval(), given(), []
    expected = net(x)
    net.register_forward_pre_hook(lambda module, args: seen.append(module))
    f = ja.compile(net)
    same(f(x), expected)
    handle = f.register_forward_hook(lambda module, args, output: output * 2)
    same(f(x), expected * 2)
    handle.remove()
    same(f(x), expected)
    assert seen == [net] * 3 and dict(f.named_modules())[""] is net


def test_states_are_loaded_with_and_without_pytorchs_prefix():
    f, g, x = compiled_net().eval(), ja.compile(Net()).eval(), given()
    g.load_state_dict({f"_orig_mod.{name}": value for name, value in f.state_dict().items()})
    same(f(x), g(x))
    plain = Net().eval()
    plain.load_state_dict(f.state_dict())
    same(f(x), plain(x))


@pytest.mark.slow
def test_an_optimizer_trains_it():
    x, found = given(), []
    for of in (lambda net: net, ja.compile):
        ja.manual_seed(0)
        f = of(Net())
        optimizer = ja.optim.SGD(f.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (f(x) ** 2).mean().backward()
            optimizer.step()
        found.append(f)
    same(found[0].linear.weight, found[1].linear.weight)
    assert found[1].cache_info()[:2] == (2, 1)


@pytest.mark.slow
def test_compiled_children_are_children():
    class Model(nn.Module):
        def __init__(self, of):
            super().__init__()
            self.encoder, self.layers = of(Net()), nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
            for i in range(2):
                self.layers[i] = of(self.layers[i])

        def forward(self, x):
            self.encoder.scale = self.encoder.scale * 0.5
            for layer in self.layers:
                x = layer(x)
            return self.encoder(x) + self.encoder.n_calls

    x, results = given(), []
    for outer, inner in [(None, None), (None, ja.compile), (ja.compile, None), (ja.compile, ja.compile)]:
        ja.manual_seed(0)
        plain = Model(inner or (lambda module: module))
        model = plain if outer is None else outer(plain)
        outputs = [model(x) for _ in range(3)]
        results.append((outputs, list(model.state_dict()), [n for n, _ in model.named_modules()], model.encoder.scale))
    for outputs, *names in results[1:]:
        assert names == list(results[0][1:])
        for a, b in zip(outputs, results[0][0], strict=True):
            same(a, b)
    assert model.cache_info().currsize == 1  # numbers that both faces of a child show are one number


def test_another_child_is_another_program():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.plain = nn.Linear(4, 4)
            self.fast = ja.compile(self.plain)

        def forward(self, x):
            return self.plain(x) - self.fast(x)

    f, x = ja.compile(Model()), given()
    same(f(x), x * 0)
    f.fast = ja.compile(nn.Linear(4, 4))
    same(f(x), f.plain(x) - f.fast(x))
    same(nn.Sequential(f.fast, nn.ReLU())(x), f.fast(x).relu())


@pytest.mark.slow
def test_copies_and_pickles_are_compiled_modules():
    f, x = compiled_net().eval(), given()
    for g in (copy.deepcopy(f), pickle.load(io.BytesIO(pickle.dumps(f)))):
        assert type(g) is type(f) and g.linear.weight is not f.linear.weight
        same(g(x), f(x))
        assert g.cache_info().misses == 1
    assert copy.copy(f).linear is f.linear and ja.compile(f)._orig_mod is f._orig_mod


@pytest.mark.slow
def test_what_compiled_functions_have_is_there():
    f, x = compiled_net().eval(), given()
    f(x)
    assert f.cache_info().currsize == 1 and f.fn is f._orig_mod
    assert "Net" in str(ja.explain(f, x)) and len(ja.trace(f, x).jaxpr.eqns) == len(f.trace(x).jaxpr.eqns)
    f.clear_cache()
    assert f.cache_info().currsize == 0 and list(f.explain_recompiles()) == []
    f.cache_info = 3  # an attribute of the module from now on
    assert f.cache_info == 3


def test_registries_of_classes_do_not_see_it():
    made = []

    class Base(nn.Module, abc.ABC):
        def __init_subclass__(cls):
            made.append(cls)

        def __call__(self, x):
            return super().__call__(x) + 1

        @abc.abstractmethod
        def forward(self, x): ...

    class Double(Base):
        def forward(self, x):
            return x * 2

    f, g, x = ja.compile(Double()), ja.compile(Double()), given()
    assert made == [Double] and type(f) is type(g) and isinstance(f, Base)
    same(f(x), x * 2 + 1)


def test_a_module_is_compiled_in_place():
    net, x = Net().eval(), given()
    expected = net(x)
    net.compile(mode="reduce-overhead")
    net.register_forward_hook(lambda module, args, output: output * 2)
    same(net(x), expected * 2)
    assert type(net(x).grad_fn).__name__ == "CompiledNode"
    for again in (copy.deepcopy(net), pickle.loads(pickle.dumps(Net().eval()))):
        assert type(again(x).grad_fn).__name__ != "CompiledNode"
    same(ja.compile(net)(x), expected * 2)
