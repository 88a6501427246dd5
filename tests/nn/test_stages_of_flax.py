"""Joint graphs, partitions and explanations of functions of flax nnx modules, states and linen variables."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen, nnx

import jaxaot as ja
from jaxaot.errors import NotDifferentiableError, UsageError
from jaxaot.ir.roles import Gradient

X = jnp.linspace(-1.0, 1.0, 32).reshape(8, 4)


class Model(nnx.Module):
    def __init__(self):
        self.first = nnx.Linear(4, 16, rngs=nnx.Rngs(0))
        self.norm = nnx.BatchNorm(16, rngs=nnx.Rngs(1))
        self.second = nnx.Linear(16, 2, rngs=nnx.Rngs(2))

    def __call__(self, x):
        return self.second(jnp.tanh(self.norm(self.first(x))))


def loss(model, x):
    return (model(x) ** 2).mean()


def of_state():
    graph, state = nnx.split(Model())
    return (lambda state, x: loss(nnx.merge(graph, state), x)), state


def of_linen():
    dense = linen.Dense(3)

    def fn(variables, x):
        y: Any = dense.apply(variables, x)
        return (y**2).mean()

    return fn, dense.init(jax.random.key(0), X)


MAKERS = {"nnx": lambda: (loss, Model()), "state": of_state, "linen": of_linen}


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("name", MAKERS)
def test_a_joint_graph_has_the_gradients_of_the_first_argument(name):
    fn, first = MAKERS[name]()
    joint = ja.trace(fn, first, X).joint()
    grad = nnx.grad if name == "nnx" else jax.grad
    wanted = jax.tree.leaves(nnx.state(grad(fn)(first, X), nnx.Param) if name != "linen" else grad(fn)(first, X))
    assert sum(isinstance(role, Gradient) for role in joint.out_roles) == len(wanted)
    shapes = sorted(aval.shape for aval, role in zip(joint.jaxpr.out_avals, joint.out_roles, strict=True)
                    if isinstance(role, Gradient))  # fmt: skip
    assert shapes == sorted(leaf.shape for leaf in wanted)
    of_x = ja.trace(fn, first, X).joint(argnums=1)
    assert sum(isinstance(role, Gradient) for role in of_x.out_roles) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_budgets_against_time_and_all_stages(name):
    fn, first = MAKERS[name]()
    assert "save_all" in ja.estimate.pareto(fn, first, X, n=2).table()
    assert "# traced" in str(ja.explain(ja.trace(fn, first, X)))


@pytest.mark.parametrize("name", MAKERS)
def test_what_a_gradient_would_save(name):
    fn, first = MAKERS[name]()
    saves_all = ja.remat(fn, policy="save_all").partition(first, X)
    saves_none = ja.remat(fn, policy="save_nothing").partition(first, x=X)
    assert saves_none.saved_bytes == 0 < saves_all.saved_bytes
    assert "saves" in str(saves_all)
    n_trained = len(jax.tree.leaves(nnx.state(first, nnx.Param) if name != "linen" else first))
    assert len(saves_all.joint.differentiable_inputs) == n_trained


def test_what_a_gradient_would_save_of_modules_and_ints():
    model = Model()
    with pytest.raises(NotDifferentiableError, match="with respect to its first argument"):
        ja.remat(lambda n, x: x * n).partition(3, X)
    assert ja.remat(model, policy="save_nothing").partition(X).saved_bytes == 0
    assert ja.remat(loss, memory_budget=0.5).partition(model, X).saved_bytes >= 0


@pytest.mark.slow
def test_an_explanation_opens_what_is_under_remat():
    fn, first = of_linen()
    step = lambda v, x: jax.value_and_grad(ja.remat(fn, policy="save_nothing"))(v, x)
    text = str(ja.explain(ja.trace(step, first, X)))
    assert "# the partition of a function under ja.remat" in text
    assert "saves 0 B" in text
    half_inside = lambda w, x: (ja.remat(lambda w, x: jnp.sin(x @ w), policy="save_nothing")(w, x) ** 2).sum()
    whole = str(ja.explain(ja.trace(ja.autograd.jax_function(half_inside), ja.ones(4, 3, requires_grad=True), X)))
    assert "# joint" in whole and "# the partition of a function under ja.remat" in whole
    printed = str(ja.jit(step).explain(first, X))
    assert "# the partition of a function under ja.remat" in printed and "saves 0 B" in printed
    mapped = lambda v, x: jax.vmap(jax.grad(ja.remat(lambda v, x: jnp.sin(x * v).sum())), (None, 0))(v, x)
    assert "# a derivative of a function under ja.remat" in str(ja.explain(ja.trace(mapped, jnp.float32(2), X)))
    with pytest.raises(UsageError, match=r"ja.explain\(f, x\)"):
        ja.explain(3)  # pyright: ignore[reportArgumentType]
    np.testing.assert_allclose(jax.jit(step)(first, X)[0], fn(first, X), rtol=1e-6)
