"""The state of an archive: names, sharing, gradients, generators, arrays, numbers, and weights apart."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from tests.archive.roundtrip import archived


def same(one, other):
    np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-6)


def test_a_module_has_the_names_of_its_state_dict():
    model = ja.nn.Sequential(ja.nn.Linear(3, 4), ja.nn.BatchNorm1d(4))
    loaded = archived(model, ja.ones(2, 3))
    assert set(loaded.state_dict()) == set(model.state_dict())
    assert {name for name, _ in loaded.named_parameters()} == {name for name, _ in model.named_parameters()}
    for name, value in model.state_dict().items():
        same(loaded.state_dict()[name], value)


def test_gradients_of_parameters_and_a_later_step():
    model = ja.nn.Linear(3, 2)
    loaded, x = archived(model, ja.ones(4, 3)), ja.randn(4, 3)
    optimizer = ja.optim.SGD(loaded.parameters(), lr=0.1)
    loaded(x).sum().backward()
    model(x).sum().backward()
    same(dict(loaded.named_parameters())["weight"].grad, model.weight.grad)
    optimizer.step()
    same(loaded.state_dict()["weight"], model.weight - 0.1 * model.weight.grad)


def test_tied_weights_stay_tied_and_views_are_views():
    table = ja.randn(5, 3, requires_grad=True)
    buffer = ja.zeros(4)
    row = buffer[1:]

    def fn(x):
        row.add_(1)
        return x @ table.t() @ table, buffer.sum()

    loaded = archived(fn, ja.ones(2, 3))
    x = ja.ones(2, 3)
    result, total = loaded(x)
    assert total.item() == 3
    same(result, x @ table.t() @ table)
    names = loaded.state_dict()
    assert names["row"].untyped_storage() is names["buffer"].untyped_storage()
    same(names["buffer"], ja.tensor([0.0, 1, 1, 1]))
    assert len(list(loaded.parameters())) == 1


def test_a_transposed_parameter_keeps_its_strides():
    weight = ja.randn(3, 5).t()
    loaded = archived(lambda x: x @ weight, ja.ones(2, 5))
    assert loaded.state_dict()["weight"].stride() == weight.stride()
    same(loaded(ja.ones(2, 5)), ja.ones(2, 5) @ weight)


def test_two_loads_share_nothing(tmp_path):
    count = ja.zeros(())
    ja.export(lambda: count.add_(1).clone()).save(tmp_path / "count.jaxaot")
    one, other = ja.load(tmp_path / "count.jaxaot"), ja.load(tmp_path / "count.jaxaot")
    assert [one().item(), one().item(), other().item(), count.item()] == [1, 2, 1, 0]


@pytest.mark.slow
def test_dropout_draws_as_the_function_does():
    fn = lambda x: ja.nn.functional.dropout(x, 0.5)
    loaded, compiled = archived(fn, ja.ones(100)), ja.compile(fn)
    results = []
    for call in (loaded, compiled):
        ja.manual_seed(5)
        results.append([call(ja.ones(100)).numpy() for _ in range(2)])
    np.testing.assert_array_equal(results[0], results[1])
    assert (results[0][0] != results[0][1]).any()


@pytest.mark.slow
def test_a_generator_of_the_function_goes_on_where_it_was():
    generator = ja.Generator().manual_seed(7)
    ja.rand(2, generator=generator)
    loaded = archived(lambda: ja.rand(3, generator=generator))
    same(loaded(), ja.rand(3, generator=generator))
    same(loaded(), ja.rand(3, generator=generator))


def test_bare_arrays_and_keys():
    table, key = jnp.arange(3.0), jax.random.key(1)
    fn = lambda x: x * ja.interop.from_jax(table) + ja.interop.from_jax(jax.random.normal(key, (3,)))
    same(archived(fn, ja.ones(3))(ja.ones(3)), fn(ja.ones(3)))


class Counter:
    def __init__(self):
        self.calls, self.scale, self.last = 0, 2.0, ja.zeros(3)

    def __call__(self, x):
        self.calls += 1
        self.scale = self.scale * 2
        self.last = x * self.scale
        return self.last + self.calls


def test_numbers_and_tensors_that_the_function_replaces():
    counter = Counter()
    loaded = archived(counter, ja.ones(3))
    for _ in range(3):
        same(loaded(ja.ones(3)), counter(ja.ones(3)))
    state = loaded.state_dict()
    assert (state["calls"], state["scale"]) == (3, 16.0)
    same(state["last"], counter.last)


def test_weights_apart(tmp_path):
    model = ja.nn.Linear(3, 2)
    exported = ja.export(model, ja.ones(1, 3))
    exported.save(tmp_path / "model.jaxaot", weights=False)
    exported.save(tmp_path / "whole.jaxaot")
    with pytest.raises(ja.errors.ArchiveError, match="was saved without weights"):
        ja.load(tmp_path / "model.jaxaot")
    ja.save(model.state_dict(), tmp_path / "weights.safetensors")
    x = ja.randn(1, 3)
    for weights in (model.state_dict(), tmp_path / "weights.safetensors", exported.state_dict()):
        same(ja.load(tmp_path / "model.jaxaot", weights=weights)(x), model(x))
    other = ja.nn.Linear(3, 2)
    same(ja.load(tmp_path / "whole.jaxaot", weights=other.state_dict())(x), other(x))


def test_weights_that_do_not_fit(tmp_path):
    ja.export(ja.nn.Linear(3, 2), ja.ones(1, 3)).save(tmp_path / "model.jaxaot", weights=False)
    with pytest.raises(ja.errors.ArchiveError) as caught:
        ja.load(tmp_path / "model.jaxaot", weights={"weight": ja.ones(3, 3)})
    assert "`bias` is missing" in str(caught.value)
    assert "`weight` is float32[3, 3] instead of float32[2, 3]" in str(caught.value)


def test_a_state_dict_is_loaded_whole_or_not_at_all():
    loaded, other = archived(ja.nn.Linear(3, 2), ja.ones(1, 3)), ja.nn.Linear(3, 2)
    with pytest.raises(ja.errors.StateDictError, match="`bias` is missing"):
        loaded.load_state_dict({"weight": other.weight})
    with pytest.raises(ja.errors.StateDictError, match="`more` is not part of it"):
        loaded.load_state_dict({**other.state_dict(), "more": ja.ones(1)})
    loaded.load_state_dict(other.state_dict())
    same(loaded(ja.ones(1, 3)), other(ja.ones(1, 3)))


def test_bfloat16_and_ints():
    weight, index = ja.randn(4, 3).to(ja.bfloat16), ja.tensor([2, 0])
    fn = lambda: weight[index].to(ja.float32)
    same(archived(fn)(), fn())


@pytest.mark.slow
def test_a_flax_module_without_flax():
    nnx = pytest.importorskip("flax.nnx")

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.linear = nnx.Linear(3, 4, rngs=rngs)
            self.norm = nnx.BatchNorm(4, rngs=rngs)
            self.count = nnx.Variable(jnp.zeros(()))

        def __call__(self, x):
            self.count.value = self.count.value + 1
            return self.norm(self.linear(x)) * self.count.value

    model, x = Model(nnx.Rngs(0)), jnp.ones((2, 3))
    loaded = archived(lambda x: model(x), x)
    for _ in range(2):
        np.testing.assert_allclose(loaded(x), model(x), rtol=1e-5)
    np.testing.assert_allclose(loaded.state_dict()["model.norm.mean"], model.norm.mean.value, rtol=1e-6)
    assert not {type(value).__module__.split(".")[0] for value in loaded.state_dict().values()} & {"flax"}


def test_what_is_saved_are_the_values_at_the_export(tmp_path):
    model = ja.nn.Linear(3, 2)
    exported, before = ja.export(model, ja.ones(2, 3)), model.weight.detach().clone()
    with ja.no_grad():
        model.weight.mul_(5)
    np.testing.assert_array_equal(exported.state_dict()["weight"], before.numpy())
    exported.save(tmp_path / "f.jaxaot")
    same(ja.load(tmp_path / "f.jaxaot").state_dict()["weight"], before)


def test_buffers_that_do_not_persist_are_in_the_archive_and_in_no_state_dict(tmp_path):
    model = ja.nn.Linear(3, 2)
    model.register_buffer("mask", ja.tensor([1.0, 0.0]), persistent=False)
    model.register_buffer("scale", ja.tensor(2.0))
    model.forward = lambda x: ja.nn.functional.linear(x, model.weight, model.bias) * model.mask * model.scale
    exported, x = ja.export(model, ja.ones(2, 3)), ja.ones(2, 3)
    assert set(exported.state_dict()) == set(model.state_dict()) == {"weight", "bias", "scale"}
    for weights, given in ((True, None), (False, model.state_dict())):
        exported.save(tmp_path / "f.jaxaot", weights=weights)
        loaded = ja.load(tmp_path / "f.jaxaot", weights=given)
        assert set(loaded.state_dict()) == set(model.state_dict())
        loaded.load_state_dict(model.state_dict())
        same(loaded(x), model(x))
    with pytest.raises(ja.errors.ArchiveError, match="was saved without weights"):
        ja.load(tmp_path / "f.jaxaot")
    with pytest.raises(ja.errors.StateDictError, match="`mask` is not part of it"):
        loaded.load_state_dict({**model.state_dict(), "mask": ja.ones(2)})
