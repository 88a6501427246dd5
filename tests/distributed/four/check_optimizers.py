"""Optimizers of distributed parameters, and of parameters that are wrappers: values, placements, saved states."""

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.distributed import Partial, Shard, distribute_tensor, init_device_mesh, local_map
from jaxaot.errors import UnfinishedSumError
from jaxaot.subclasses import TwoTensor
from tests.seeds import some

MESH = init_device_mesh("cpu", (4,), mesh_dim_names=("d",))
OTHERS = ["Adadelta", "Adagrad", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop"]


def values(*shape, seed=0):
    return ja.interop.from_jax(jax.device_put(np.random.default_rng(seed).normal(size=shape).astype(np.float32)))


def trained(name, parameter, is_compiled):
    optimizer = getattr(ja.optim, name)([parameter], lr=1e-2)

    def step():
        optimizer.zero_grad()
        loss = (parameter**3).sum()
        (loss.a + loss.b if isinstance(loss, TwoTensor) else loss).backward()
        optimizer.step()

    step = ja.compile(step) if is_compiled else step
    step()
    step()
    return optimizer


def states_of(optimizer):
    return [value for state in optimizer.state.values() for value in state.values() if isinstance(value, ja.Tensor)]


@pytest.mark.parametrize("is_compiled", some([True, False], 1))
@pytest.mark.parametrize("name", ["AdamW", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_optimizers_of_distributed_and_of_wrapped_parameters(name, is_compiled):
    right = values(8, 4).requires_grad_()
    trained(name, right, False)
    spread = distribute_tensor(values(8, 4).requires_grad_(), MESH, [Shard(0)])
    pair = TwoTensor(*(distribute_tensor(values(8, 4), MESH, [Shard(i)]) for i in (0, 1))).requires_grad_()
    for parameter, shown, places in ((spread, spread, [0]), (pair, pair.a, [0, 1])):
        optimizer = trained(name, parameter, is_compiled)
        np.testing.assert_allclose(shown.detach().numpy(), right.detach().numpy(), rtol=1e-4, atol=1e-5)
        assert shown.placements == (Shard(0),)
        other = getattr(ja.optim, name)([parameter], lr=1e-2)
        other.load_state_dict(optimizer.state_dict())
        for states in (states_of(optimizer), states_of(other)):
            found = [state for state in states if state.ndim]
            assert {state.placements for state in found} == {(Shard(i),) for i in places}
        for state, loaded in zip(states_of(optimizer), states_of(other), strict=True):
            np.testing.assert_array_equal(state.numpy(), loaded.numpy())


def test_parameters_of_one_shape_keep_placements_of_their_own():
    parameters = [distribute_tensor(values(8, 4), MESH, [Shard(i)]).requires_grad_() for i in (0, 1)]
    optimizer = ja.optim.AdamW(parameters, lr=1e-2)

    @ja.compile
    def step():
        optimizer.zero_grad()
        sum((p**3).sum() for p in parameters).backward()
        optimizer.step()

    step()
    for i, parameter in enumerate(parameters):
        states = [value for value in optimizer.state[parameter].values() if value.ndim]
        assert {value.placements for value in (parameter, parameter.grad, *states)} == {(Shard(i),)}


def test_derivatives_by_a_sum_that_is_not_finished_are_refused():
    x = distribute_tensor(values(8, 4), MESH, [Shard(0)])
    terms = local_map(lambda x: x.sum(0), [Partial()], ([Shard(0)],), MESH)(x)
    total = lambda p: p.full_tensor().sum()
    for run in (
        lambda: ja.func.grad(total)(terms),
        lambda: ja.func.jacrev(total)(terms),
        lambda: ja.func.hessian(total)(terms),
        lambda: ja.func.vjp(total, terms),
    ):
        with pytest.raises(UnfinishedSumError) as caught:
            run()
        assert "Finish the sum first" in " ".join(str(caught.value).split())
