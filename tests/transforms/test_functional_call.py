"""`ja.func.functional_call` and `stack_module_state` against `torch.func`, and on flax nnx modules."""

import functools
import re

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors


class Module:
    """What a user writes whose modules list their parameters."""

    def named_parameters(self, prefix="", remove_duplicate=True):
        yield from self._named(prefix, True, remove_duplicate, set())

    def named_buffers(self, prefix="", remove_duplicate=True):
        yield from self._named(prefix, False, remove_duplicate, set())

    def _named(self, prefix, required, remove_duplicate, seen):
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield from value._named(f"{prefix}{name}.", required, remove_duplicate, seen)
            elif isinstance(value, ja.Tensor) and value.requires_grad == required and id(value) not in seen:
                if remove_duplicate:
                    seen.add(id(value))
                yield prefix + name, value

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)


class Plain:
    """What a user writes whose modules only hold tensors."""

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)


def modules(lib, base):
    """Returns the classes of a layer and of a network with tied weights and buffers that it writes."""
    is_torch = lib is not ja
    parameter = lib.nn.Parameter if is_torch else lambda x: x.requires_grad_()

    class Linear(base):
        def __init__(self, value):
            super().__init__()
            self.weight = parameter(lib.tensor([[value, 1.0], [0.5, -value]]))

        def forward(self, x):
            return x @ self.weight.t()

    class Network(base):
        def __init__(self, seed=0.0):
            super().__init__()
            self.one = Linear(2.0 + seed)
            self.two = Linear(3.0 + seed)
            self.two.weight = self.one.weight
            self.bias = parameter(lib.tensor([0.1, 0.2 + seed]))
            if is_torch:
                self.register_buffer("count", lib.zeros(1))
                self.register_buffer("total", lib.zeros(2))
            else:
                self.count, self.total = lib.zeros(1), lib.zeros(2)

        def forward(self, x, scale=1.0):
            y = self.two(self.one(x).sin()) * scale + self.bias
            self.count.add_(1)
            self.total = self.total + y.detach().sum(0)
            return y

    return Network


CALLS = {
    "one name": lambda lib, m, x: lib.func.functional_call(m, {"bias": x[0]}, x),
    "a tied name": lambda lib, m, x: lib.func.functional_call(m, {"one.weight": x * 2}, (x,), {"scale": 2.0}),
    "the other tied name": lambda lib, m, x: lib.func.functional_call(m, {"two.weight": x * 2}, (x,)),
    "not tied": lambda lib, m, x: lib.func.functional_call(m, {"two.weight": x * 2}, (x,), tie_weights=False),
    "several dicts": lambda lib, m, x: lib.func.functional_call(m, ({"bias": x[0]}, {"total": x[1]}), x),
    "a name that is new": lambda lib, m, x: lib.func.functional_call(m, {"more": x}, x),
    "grad": lambda lib, m, x: lib.func.grad(lambda s: lib.func.functional_call(m, (s, state(m)), x).sum())(
        {"one.weight": x * 2, "bias": x[1]}
    )["one.weight"],
    "jacrev": lambda lib, m, x: lib.func.jacrev(lambda w: lib.func.functional_call(m, ({"bias": w}, state(m)), x))(
        x[0]
    ),
    "vmap": lambda lib, m, x: lib.func.vmap(lambda b: lib.func.functional_call(m, (state(m, b), {"bias": b}), x))(x),
    "the tape": lambda lib, m, x: lib.autograd.grad(
        lib.func.functional_call(m, {"one.weight": m.one.weight * 2}, x).sum(), m.one.weight
    )[0],
}


def state(module, like=None):
    """Returns buffers for a call that writes to them; under `vmap` as its argument is."""
    zero = module.bias.detach()[:1] * 0 if like is None else like[:1] * 0
    return {"count": zero.clone(), "total": (zero + module.total.detach() * 0).clone()}


@pytest.mark.oracle
@pytest.mark.parametrize("base", [Module, Plain])
@pytest.mark.parametrize("name", CALLS)
def test_calls_as_torch(name, base):
    torch = pytest.importorskip("torch")
    results = []
    for lib, owner in ((torch, torch.nn.Module), (ja, base)):
        module = modules(lib, owner)()
        before = module.one.weight
        found = CALLS[name](lib, module, lib.tensor([[0.3, -1.0], [0.7, 0.4]]))
        assert module.one.weight is before and module.two.weight is before and not hasattr(module, "more")
        shown = [found, module.count, module.total]
        results.append([x.detach().numpy() for x in shown])
    for theirs, ours in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.oracle
@pytest.mark.parametrize("base", [Module, Plain])
def test_what_the_call_writes_is_found_in_the_state(base):
    torch = pytest.importorskip("torch")
    shown = []
    for lib, owner in ((torch, torch.nn.Module), (ja, base)):
        module = modules(lib, owner)()
        count, total = lib.zeros(1), lib.zeros(2)
        given = {"count": count, "total": total}
        lib.func.functional_call(module, given, lib.ones(1, 2))
        assert given["count"] is count and given["total"] is not total
        shown.append(np.concatenate([x.numpy() for x in (count, total, given["total"], module.count, module.total)]))
    np.testing.assert_allclose(*shown, rtol=1e-5)


BAD = {
    "two values": lambda lib, m, x: lib.func.functional_call(m, {"one.weight": x, "two.weight": x * 2}, x),
    "a name twice": lambda lib, m, x: lib.func.functional_call(m, [{"bias": x[0]}, {"bias": x[0]}], x),
    "no dict": lambda lib, m, x: lib.func.functional_call(m, 3, x),
    "no dict inside": lambda lib, m, x: lib.func.functional_call(m, [3], x),
    "strict": lambda lib, m, x: lib.func.functional_call(m, {"more": x, "bias": x[0]}, x, strict=True),
    "a number": lambda lib, m, x: lib.func.functional_call(m, {"bias": 3}, x),
    "a module": lambda lib, m, x: lib.func.functional_call(m, {"one": x}, x),
    "fails inside": lambda lib, m, x: lib.func.functional_call(m, {"bias": x[0]}, x[0, :1]),
    "no models": lambda lib, m, x: lib.func.stack_module_state([]),
    "other classes": lambda lib, m, x: lib.func.stack_module_state([m, m.one]),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", BAD)
def test_bad_calls_as_torch_leave_everything_as_it_was(name):
    torch = pytest.importorskip("torch")
    said = []
    for lib, owner in ((torch, torch.nn.Module), (ja, Module)):
        module = modules(lib, owner)()
        before = {n: id(t) for n, t in [*module.named_parameters(), *module.named_buffers()]}
        with pytest.raises((RuntimeError, ValueError, TypeError)) as caught:
            BAD[name](lib, module, lib.tensor([[0.3, -1.0], [0.7, 0.4]]))
        said.append((caught.type, " ".join(str(caught.value).replace("torch.Tensor", "ja.Tensor").split())))
        assert before == {n: id(t) for n, t in [*module.named_parameters(), *module.named_buffers()]}
    (theirs, their_words), (ours, our_words) = said
    assert issubclass(ours, theirs)
    if name not in ("fails inside", "no dict", "a module"):
        assert our_words.startswith(re.sub(r"\.$", "", their_words)), (our_words, their_words)


def test_a_name_that_leads_nowhere():
    module = modules(ja, Plain)()
    with pytest.raises(errors.ModuleLiftError, match=r"no attribute `three`.*The names are: .*one.weight"):
        ja.func.functional_call(module, {"three.weight": ja.ones(2)}, ja.ones(2))


@pytest.mark.oracle
@pytest.mark.parametrize("base", [Module, Plain])
def test_a_stack_of_modules_as_torch(base):
    torch = pytest.importorskip("torch")
    found = []
    for lib, owner in ((torch, torch.nn.Module), (ja, base)):
        Network = modules(lib, owner)
        models = [Network(float(i)) for i in range(3)]
        params, buffers = lib.func.stack_module_state(models)
        if base is Plain and lib is ja:
            del params["two.weight"]  # the attributes lead to it twice
        assert all(p.requires_grad and p.is_leaf for p in params.values())
        call = lambda p, b, x, m=models[0], lib=lib: lib.func.functional_call(m, (p, b), x)
        y = lib.func.vmap(call, in_dims=(0, 0, None))(params, buffers, lib.ones(4, 2))
        y.sum().backward()
        grads = {name: p.grad for name, p in params.items()}
        found.append((sorted(params), sorted(buffers), y.detach().numpy(), grads))
    (p, b, y, g), (own_p, own_b, own_y, own_g) = found
    assert p == own_p and b == own_b
    np.testing.assert_allclose(own_y, y, rtol=1e-5)
    for name in p:
        np.testing.assert_allclose(own_g[name].numpy(), g[name].numpy(), rtol=1e-5)


@pytest.mark.slow
def test_compiled():
    module = modules(ja, Plain)()
    x, weight = ja.tensor([[0.3, -1.0]]), ja.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    run = lambda w, x: ja.func.functional_call(module, {"one.weight": w, "total": x[0] * 0}, x)
    step = ja.compile(run)
    for scale in (1.0, 2.0):
        given = (weight.detach() * scale).requires_grad_()
        expected, got = run(given, x), step(given, x)
        np.testing.assert_allclose(got.detach().numpy(), expected.detach().numpy(), rtol=1e-5)
        (ours,), (theirs,) = ja.autograd.grad(got.sum(), given), ja.autograd.grad(expected.sum(), given)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5)
    assert module.count.tolist() == [4.0]


# -- flax nnx ----------------------------------------------------------------------------------------------------------


@functools.cache
def nnx_class():
    nnx = pytest.importorskip("flax.nnx")

    class Network(nnx.Module):
        def __init__(self, rngs):
            self.layer = nnx.Linear(2, 3, rngs=rngs)
            self.norm = nnx.BatchNorm(3, rngs=rngs)
            self.drop = nnx.Dropout(0.5, rngs=rngs)

        def __call__(self, x):
            return self.drop(self.norm(self.layer(x)))

    return nnx, Network


def network(seed=0):
    nnx, Network = nnx_class()
    return nnx, Network(nnx.Rngs(seed))


def test_nnx_by_state_and_by_name():
    nnx, model = network()
    model.eval()
    x = ja.tensor([[1.0, 2.0], [0.5, -1.0]])
    _, params, rest = nnx.split(model, nnx.Param, ...)
    doubled = jax.tree.map(lambda value: value * 2, params)
    expected = nnx.merge(nnx.graphdef(model), doubled, rest)(x.jax())
    names = {
        "layer.kernel": ja.interop.from_jax(doubled["layer"]["kernel"][...]),
        "layer.bias": doubled["layer"]["bias"][...],
    }
    names |= {"norm.scale": doubled["norm"]["scale"][...], "norm": {"bias": doubled["norm"]["bias"][...]}}
    for given in (doubled, (doubled, rest), names):
        np.testing.assert_allclose(ja.func.functional_call(model, given, x).numpy(), expected, rtol=1e-5)


@pytest.mark.slow
def test_nnx_gradients_are_those_of_flax():
    nnx, model = network()
    model.eval()
    x = ja.tensor([[1.0, 2.0], [0.5, -1.0]])
    _, params, _ = nnx.split(model, nnx.Param, ...)
    expected = jax.tree.leaves(nnx.grad(lambda m: (m(x.jax()) ** 2).sum())(model))
    loss = lambda p: (ja.func.functional_call(model, p, x) ** 2).sum()
    for slopes in (ja.func.grad(loss), ja.func.jacrev(loss), ja.compile(ja.func.grad(loss))):
        for ours, theirs in zip(jax.tree.leaves(slopes(params)), expected, strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-4)
    kernel = ja.interop.from_jax(params["layer"]["kernel"][...]).requires_grad_()
    loss({"layer.kernel": kernel}).backward()
    np.testing.assert_allclose(kernel.grad.numpy(), expected[1], rtol=1e-4)


@pytest.mark.slow
def test_nnx_writes_go_to_the_state_or_else_to_the_module():
    nnx, model = network()
    _, params, rest = nnx.split(nnx.clone(model), nnx.Param, ...)
    x, mean = ja.ones(4, 2) + 1, model.norm.mean[...]
    first = ja.func.functional_call(model, (params, rest), x)
    assert (model.norm.mean[...] == mean).all() and not (rest["norm"]["mean"][...] == mean).all()
    assert model.drop.rngs.count[...] == 0 and rest["drop"]["rngs"]["count"][...] == 1
    second = ja.func.functional_call(model, params, x)
    assert model.drop.rngs.count[...] == 1 and (model.norm.mean[...] == rest["norm"]["mean"][...]).all()
    np.testing.assert_array_equal(first.numpy(), second.numpy())
    with pytest.raises(Exception, match="trace level"):
        ja.func.grad(lambda p: ja.func.functional_call(model, p, x).sum())(params)
    assert model.drop.rngs.count[...] == 1


def test_nnx_names_that_are_none():
    _, model = network()
    with pytest.raises(errors.ModuleLiftError, match=r"Unexpected key\(s\): 'layer.weight'"):
        ja.func.functional_call(model, {"layer.weight": ja.ones(2, 3)}, ja.ones(1, 2))
    with pytest.raises(errors.ModuleLiftError, match=r"Missing key\(s\): 'drop.rngs.count', .*'layer.kernel'"):
        ja.func.functional_call(model, {"layer.bias": ja.ones(3)}, ja.ones(1, 2), strict=True)


@pytest.mark.slow
def test_a_stack_of_nnx_modules():
    models = [network(seed)[1] for seed in range(3)]
    params, buffers = ja.func.stack_module_state(models)
    assert sorted(params) == ["layer.bias", "layer.kernel", "norm.bias", "norm.scale"] and "drop.rngs.key" in buffers

    def call(params, buffers, x):
        return ja.func.functional_call(models[0], (params, buffers), x), buffers["norm.mean"]

    x = ja.tensor([[1.0, 2.0], [0.5, -1.0]])
    y, means = ja.func.vmap(call, in_dims=(0, 0, None))(params, buffers, x)
    for i, model in enumerate(models):
        np.testing.assert_allclose(y[i].numpy(), model(x.jax()), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(means[i].numpy(), model.norm.mean[...], rtol=1e-5, atol=1e-7)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("way", ["ours", pytest.param("torch", marks=pytest.mark.oracle)])
def test_batch_norms_forget_their_statistics(way):
    m = pytest.importorskip("torch") if way == "torch" else ja
    model = m.nn.Sequential(
        m.nn.Linear(2, 3), m.nn.Sequential(m.nn.BatchNorm1d(3)), m.nn.InstanceNorm1d(3, track_running_stats=True)
    )
    assert m.func.replace_all_batch_norm_modules_(model) is model
    assert [name for name, _ in model.named_buffers()] == ["2.running_mean", "2.running_var", "2.num_batches_tracked"]
    norm = model[1][0]
    assert not norm.track_running_stats and norm.running_mean is None
    params, x = dict(model[:2].named_parameters()), m.ones(4, 5, 2)
    slopes = m.func.vmap(m.func.grad(lambda p, x: m.func.functional_call(model[:2], p, (x,)).sum()), (None, 0))
    assert slopes(params, x)["1.0.bias"].tolist() == [[5.0] * 3] * 4
    model.eval()
    assert norm(m.tensor([[1.0, 0.0, 0.0], [3.0, 0.0, 0.0]]))[:, 0].tolist() == pytest.approx([-1, 1], abs=1e-4)
