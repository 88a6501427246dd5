"""nnx modules called with tensors: Params get gradients, and their cells and tensors stay one place in memory."""

from __future__ import annotations

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import jaxaot as ja
from jaxaot import errors
from tests.nn.test_from_nnx import CASES, TRAINED, Dense, Images, arrays, batch, by_nnx


def stepper(model, optimizer, compiled):
    def step(x, y):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        ja.nn.utils.clip_grad_norm_(model, 1e6)
        optimizer.step()
        return loss

    return ja.compile(step) if compiled else step


def gradients(model):
    return {path: p.grad for path, p in nnx.to_flat_state(nnx.state(model, nnx.Param))}


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(("cls", "compiled"), TRAINED)
def test_training_gives_the_numbers_of_nnx(cls, compiled):
    x, y = batch(CASES[cls])
    wanted, theirs = by_nnx(cls(nnx.Rngs(0)), x, y)
    model = cls(nnx.Rngs(0))
    given = model if compiled else nnx.state(model, nnx.Param)
    step = stepper(model, ja.optim.SGD(given, lr=0.1, momentum=0.9), compiled)
    if not compiled:
        ja.optim.SGD(model, lr=0.1)  # a state says nothing of classes
    losses = [step(ja.from_numpy(x), ja.from_numpy(y)).item() for _ in range(3)]
    np.testing.assert_allclose(losses, wanted, rtol=1e-5)
    for ours, their in zip(arrays(model), arrays(theirs), strict=True):
        np.testing.assert_allclose(ours, their, rtol=1e-4, atol=1e-6)
    assert all(isinstance(g, ja.Tensor) for g in gradients(model).values())
    if compiled:
        assert step.cache_info().misses == 1


@pytest.mark.slow
def test_gradients_add_up_as_in_pytorch_and_are_taken_away():
    model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
    assert model.kernel.grad is None

    @ja.compile
    def backward(model, x):
        loss = (model(x) ** 2).sum()
        loss.backward()
        return loss

    x = ja.ones(1, 3)
    wanted = jax.grad(lambda k: ((x.jax() @ k + model.bias[...]) ** 2).sum())(model.kernel[...])
    for n in (1, 2, 3):
        backward(model, x)
        np.testing.assert_allclose(model.kernel.grad.numpy(), n * wanted, rtol=1e-6)
    model.kernel.grad = None
    backward(model, x)
    np.testing.assert_allclose(model.kernel.grad.numpy(), wanted, rtol=1e-6)

    @ja.compile
    def by_hand(x):
        model.kernel.grad = None
        model(x).sum().backward()
        model.kernel[...] -= 0.5 * model.kernel.grad.jax()

    before = model.kernel[...]
    by_hand(x)
    by_hand(x)
    np.testing.assert_allclose(model.kernel[...], before - 1, rtol=1e-5)


def test_tied_weights_get_one_gradient():
    class Tied(nnx.Module):
        def __init__(self, rngs):
            self.inner = nnx.Linear(3, 3, rngs=rngs)
            self.outer = nnx.Linear(3, 3, rngs=rngs)
            self.outer.kernel = self.inner.kernel

        def __call__(self, x):
            return self.outer(self.inner(x))

    model = Tied(nnx.Rngs(0))
    optimizer = ja.optim.SGD(model, lr=0.1)
    assert len(optimizer.param_groups[0]["params"]) == 3
    ja.compile(lambda x: model(x).sum().backward())(ja.ones(1, 3))
    kernel, x = model.inner.kernel[...], jnp.ones((1, 3))
    loss = lambda k: ((x @ k + model.inner.bias[...]) @ k + model.outer.bias[...]).sum()
    np.testing.assert_allclose(model.outer.kernel.grad.numpy(), jax.grad(loss)(kernel), rtol=1e-5)


@pytest.mark.slow
def test_what_nnx_writes_and_reads_is_what_the_optimizer_does():
    x, y = batch(CASES[Images])
    model = Images(nnx.Rngs(0))
    step = stepper(model, ja.optim.Adam(model, lr=0.05), True)
    tensors = ja.from_numpy(x), ja.from_numpy(y)
    kept = jax.tree.map(jnp.copy, nnx.state(model))
    losses = [step(*tensors).item() for _ in range(2)]
    assert not np.allclose(model.head.kernel[...], kept["head"]["kernel"][...])
    nnx.update(model, kept)  # a checkpoint
    assert step(*tensors).item() == losses[0]
    assert step.cache_info().misses == 1
    _, grads = nnx.jit(nnx.value_and_grad(lambda m: ((m(x) - y) ** 2).mean()))(model)
    assert isinstance(grads["head"]["kernel"][...], jax.Array)
    compiled = ja.compile(lambda model: nnx.value_and_grad(lambda m: ((m(x) - y) ** 2).mean())(model)[0])
    nnx.update(model, kept)
    np.testing.assert_allclose(compiled(model), losses[0], rtol=1e-6)
    model.head.kernel.set_metadata("note", "new")  # flax may give a Variable another dict
    assert model.head.kernel.grad is not None


def test_copies_have_no_gradients_and_stand_alone():
    model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
    ja.compile(lambda x: model(x).sum().backward())(ja.ones(1, 3))
    copies = copy.deepcopy(model), nnx.clone(model), pickle.loads(pickle.dumps(model))
    for other in copies:
        assert other.kernel.grad is None
    with ja.no_grad():
        ja.optim.SGD(model, lr=1.0).step()
    for other in copies:
        assert not np.allclose(other.kernel[...], model.kernel[...])


@pytest.mark.slow
def test_modes_are_followed():
    x, _ = batch(CASES[Dense])
    model = Dense(nnx.Rngs(0))
    call = ja.compile(lambda x: model(x))
    tensor = ja.from_numpy(x)
    assert (call(tensor) != call(tensor)).any()
    model.eval()
    assert (call(tensor) == call(tensor)).all()
    np.testing.assert_allclose(call(tensor).detach().numpy(), model(x), rtol=1e-5)


def test_an_array_of_another_shape_is_refused():
    model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
    step = ja.compile(lambda x: model(x).sum().backward())
    step(ja.ones(1, 3))
    model.kernel.set_value(jnp.ones((3, 5)))
    with pytest.raises(errors.UnsupportedVariableError, match=r"was given an array of shape \[3, 5\]"):
        step(ja.ones(1, 3))


def test_a_param_of_several_arrays_is_refused():
    model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
    model.pair = nnx.Param((jnp.ones(2), jnp.ones(2)))
    with pytest.raises(errors.UnsupportedVariableError, match="a parameter is one array"):
        ja.optim.SGD(model, lr=0.1)


def test_a_method_that_returns_arrays_is_explained():
    class Coder(nnx.Module):
        def __init__(self, rngs):
            self.linear = nnx.Linear(3, 2, rngs=rngs)

        def encode(self, x):
            return jnp.asarray(x) * 2

    model = Coder(nnx.Rngs(0))
    with pytest.raises(AttributeError) as caught:
        ja.compile(lambda x: model.encode(x).sum().backward())(ja.ones(1, 3))
    assert "Call the nnx module itself, `model(x)`" in "".join(caught.value.__notes__)


def test_calls_with_arrays_are_those_of_flax():
    model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
    wanted = model(jnp.ones((1, 3)))
    ja.optim.SGD(model, lr=0.1)
    for call in (model, jax.jit(lambda x: model(x)), nnx.jit(lambda x: model(x)), ja.jit(lambda x: model(x))):
        found = call(jnp.ones((1, 3)))
        assert isinstance(found, jax.Array)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    given = ja.compile(lambda x: model(x.jax()))(ja.ones(1, 3))
    np.testing.assert_allclose(given, wanted, rtol=1e-6)
