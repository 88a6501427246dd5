"""nnx modules on tensors: a loop in PyTorch's style gives the numbers of nnx and optax."""

from __future__ import annotations

import copy

import jax
import numpy as np
import optax
import pytest
from flax import linen, nnx

import jaxaot as ja
from jaxaot import errors


class Dense(nnx.Module):
    """A linear layer, and dropout with random numbers of its own."""

    def __init__(self, rngs):
        self.first = nnx.Linear(6, 8, rngs=rngs)
        self.drop = nnx.Dropout(0.4, rngs=rngs)
        self.layers = nnx.List([nnx.Linear(8, 8, rngs=rngs), nnx.Linear(8, 2, rngs=rngs)])

    def __call__(self, x):
        x = self.drop(nnx.tanh(self.first(x)))
        for layer in self.layers:
            x = layer(x)
        return x


class Images(nnx.Module):
    """A convolution, and statistics that a call writes."""

    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 4, (3, 3), use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.head = nnx.Linear(4, 2, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.relu(self.norm(self.conv(x))).mean((1, 2)))


class Words(nnx.Module):
    """An LSTM, whose loop is one of `nnx.scan`."""

    def __init__(self, rngs):
        self.lstm = nnx.RNN(nnx.OptimizedLSTMCell(3, 5, rngs=rngs))
        self.head = nnx.Linear(5, 2, rngs=rngs)

    def __call__(self, x):
        return self.head(self.lstm(x)[:, -1])


CASES = {Dense: (5, 6), Images: (3, 6, 6, 1), Words: (3, 4, 3)}
TRAINED = [
    (Dense, False), (Images, True), (Words, True),
    *(pytest.param(*way, marks=pytest.mark.slow) for way in ((Dense, True), (Images, False), (Words, False))),
]  # fmt: skip
"""Each class and way; by default the small one eagerly, and the others compiled."""


def batch(shape):
    draws = np.random.default_rng(0)
    return draws.normal(size=shape).astype(np.float32), draws.normal(size=(shape[0], 2)).astype(np.float32)


def by_nnx(model, x, y, n=3):
    """The losses and the state after steps of nnx and optax."""
    optimizer = nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer):
        loss, grads = nnx.value_and_grad(lambda m: ((m(x) - y) ** 2).mean())(model)
        optimizer.update(model, grads)
        return loss

    return [float(step(model, optimizer)) for _ in range(n)], model


def stepper(net, compiled):
    optimizer = ja.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(x, y):
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return ja.compile(step) if compiled else step


def arrays(model):
    found = jax.tree.leaves(nnx.state(model))
    is_key = lambda x: jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)
    return [np.asarray(jax.random.key_data(x) if is_key(x) else x) for x in found]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(("cls", "compiled"), TRAINED)
def test_training_gives_the_numbers_of_nnx(cls, compiled):
    x, y = batch(CASES[cls])
    wanted, theirs = by_nnx(cls(nnx.Rngs(0)), x, y)
    net = ja.nn.from_nnx(cls(nnx.Rngs(0)))
    step = stepper(net, compiled)
    losses = [step(ja.from_numpy(x), ja.from_numpy(y)).item() for _ in range(3)]
    np.testing.assert_allclose(losses, wanted, rtol=1e-5)
    for ours, their in zip(arrays(net.to_nnx()), arrays(theirs), strict=True):
        np.testing.assert_allclose(ours, their, rtol=1e-4, atol=1e-6)
    assert all(p.grad is not None for p in net.parameters())
    if compiled:
        assert step.cache_info().misses == 1


@pytest.mark.slow
def test_a_run_is_saved_and_resumed():
    x, y = (ja.from_numpy(a) for a in batch(CASES[Dense]))
    net = ja.nn.from_nnx(Dense(nnx.Rngs(0)))
    step = stepper(net, compiled=True)
    step(x, y)
    kept = copy.deepcopy(net.state_dict())
    after = net(x)
    assert {"first.kernel", "layers.1.bias", "drop.rngs.count", "drop.rngs.key"} <= set(kept)
    again = ja.nn.from_nnx(Dense(nnx.Rngs(7)))  # other weights, and another key
    again.load_state_dict(kept)
    assert (again(x) == after).all()


@pytest.mark.slow
def test_modes_are_those_of_nnx():
    x, _ = batch(CASES[Images])
    net = ja.nn.from_nnx(Images(nnx.Rngs(0)))
    call = ja.compile(lambda x: net(x))
    call(ja.from_numpy(x))
    mean = net.norm.mean.clone()
    assert (mean != 0).any()
    net.eval()
    result = call(ja.from_numpy(x))
    assert (net.norm.mean == mean).all()
    np.testing.assert_allclose(result.detach().numpy(), net.to_nnx()(x), rtol=1e-5, atol=1e-6)
    net.train()
    call(ja.from_numpy(x))
    assert (net.norm.mean != mean).any()
    assert call.cache_info().misses == 2


def test_parts_are_called_alone_and_frozen():
    net = ja.nn.from_nnx(Dense(nnx.Rngs(0)))
    net.layers.requires_grad_(False)
    x = ja.ones(2, 6)
    by_hand = net.layers[1](net.layers[0](net.first(x).tanh()))
    net.eval()
    assert ja.allclose(by_hand, net(x))
    net(x).sum().backward()
    assert net.first.kernel.grad is not None
    assert net.layers[0].kernel.grad is None


def test_tied_weights_are_one_parameter():
    class Tied(nnx.Module):
        def __init__(self, rngs):
            self.inner = nnx.Linear(3, 3, rngs=rngs)
            self.outer = nnx.Linear(3, 3, rngs=rngs)
            self.outer.kernel = self.inner.kernel

        def __call__(self, x):
            return self.outer(self.inner(x))

    net = ja.nn.from_nnx(Tied(nnx.Rngs(0)))
    assert len(list(net.parameters())) == 3
    with ja.no_grad():
        net.inner.kernel.copy_(ja.eye(3))
    assert (net.outer(ja.ones(1, 3)) == 1).all()


def test_what_is_no_nnx_module_is_refused():
    for wrong in (linen.Dense(3), ja.nn.Linear(2, 2), lambda x: x, nnx.Param(np.ones(2))):
        with pytest.raises(errors.ModuleLiftError, match="takes a flax nnx module, and was given a"):
            ja.nn.from_nnx(wrong)
