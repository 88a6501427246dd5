"""What belongs to a tensor lies over four devices as that tensor does."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import jaxaot as ja
from jaxaot.distributed import Replicate

MESH = Mesh(np.array(jax.devices()), ("d",))


def spread(*spec):
    return NamedSharding(MESH, PartitionSpec(*spec))


SHARDED, BATCHED, WHOLE = spread("d", None), spread("d"), spread()
SHAPES = {"w": (8, 16), "v": (16, 4), "b": (4,)}


def arrays(seed=0):
    rng = np.random.default_rng(seed)
    made = {name: jax.device_put(rng.normal(size=shape).astype(np.float32)) for name, shape in SHAPES.items()}
    return {name: jax.device_put(x, BATCHED if x.ndim == 1 else SHARDED) for name, x in made.items()}


def batch(seed=1):
    return jax.device_put(jax.device_put(np.random.default_rng(seed).normal(size=(12, 8)).astype(np.float32)), BATCHED)


def tensors():
    return {name: ja.interop.from_jax(x).requires_grad_() for name, x in arrays().items()}


def loss_of(p, x):
    return (ja.tanh(x @ p["w"]) @ p["v"] + p["b"]).square().mean()


def formula(p, x):
    return jnp.mean(jnp.square(jnp.tanh(x @ p["w"]) @ p["v"] + p["b"]))


RIGHT = jax.grad(formula)(arrays(), batch())


def is_placed_as(x, like):
    x, like = (v.jax() if isinstance(v, ja.Tensor) else v for v in (x, like))
    return x.sharding.is_equivalent_to(like.sharding, x.ndim)


def check(p, gradients):
    for name, gradient in gradients.items():
        assert is_placed_as(gradient, p[name]), (name, gradient.jax().sharding)
        np.testing.assert_allclose(np.asarray(gradient), RIGHT[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("how", ["eager", "compiled", pytest.param("backward compiled", marks=pytest.mark.slow)])
def test_a_gradient(how):
    p, x = tensors(), ja.interop.from_jax(batch())
    fn = ja.compile(loss_of) if how == "compiled" else loss_of
    for _ in range(2):
        for t in p.values():
            t.grad = None
        if how == "backward compiled":
            with ja.compiler.compiled_autograd():
                fn(p, x).backward()
        else:
            fn(p, x).backward()
        check(p, {name: t.grad for name, t in p.items()})
    found = ja.autograd.grad(fn(p, x), list(p.values()))
    check(p, dict(zip(p, found, strict=True)))
    fn(p, x).backward()
    assert all(is_placed_as(t.grad, t) for t in p.values())


def test_a_gradient_is_cut_inside_of_the_backward():
    p, x = tensors(), ja.interop.from_jax(batch())
    compiled = ja.compile(loss_of)
    node = compiled(p, x).grad_fn
    gradients = node.run(*node.residuals, jnp.ones(()))
    shardings = [g.sharding.is_fully_replicated for g in gradients]
    assert not any(shardings)


@pytest.mark.slow
def test_arrays_under_jit_and_remat():
    p, x = arrays(), batch()
    for fn in (ja.grad(formula), ja.jit(ja.grad(formula)), jax.jit(jax.grad(ja.remat(formula)))):
        gradients = fn(p, x)
        for name in p:
            assert is_placed_as(gradients[name], p[name]), name
            np.testing.assert_allclose(gradients[name], RIGHT[name], rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("how", [pytest.param("eager", marks=pytest.mark.slow), "compiled"])
def test_gradients_of_functions(how):
    p, x = tensors(), ja.interop.from_jax(batch())

    def loss(p, x):  # gradients leave a redistribution as XLA likes
        moved = {name: t.redistribute(MESH, [Replicate()]) for name, t in p.items()}
        return loss_of(moved, x)

    plain = {name: t.detach() for name, t in p.items()}
    for given in (plain, p):
        for derivative in (
            lambda p, x: ja.func.grad(loss)(p, x),
            lambda p, x: ja.func.grad_and_value(loss, argnums=(0,))(p, x)[0][0],
            lambda p, x: ja.func.vjp(lambda p: loss(p, x), p)[1](ja.ones(()))[0],
            lambda p, x: ja.func.vmap(ja.func.grad(loss), in_dims=(None, 0))(p, x[None])["w"][0],
        ):
            found = (ja.compile(derivative) if how == "compiled" else derivative)(given, x)
            if isinstance(found, ja.Tensor):
                np.testing.assert_allclose(found.detach().numpy(), RIGHT["w"], rtol=1e-5, atol=1e-6)
            else:
                check(p, {name: g.detach() for name, g in found.items()})


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("kind", "how"),
    [("SGD", "eager"), ("Adam", "compiled"), pytest.param("AdamW", "eager", marks=pytest.mark.slow)],
)
def test_states_of_optimizers(kind, how):
    p, x = tensors(), ja.interop.from_jax(batch())
    options = {"momentum": 0.9} if kind == "SGD" else {}
    optimizer = getattr(ja.optim, kind)(list(p.values()), lr=1e-2, **options)

    def step(x):
        optimizer.zero_grad()
        loss = loss_of(p, x)
        loss.backward()
        optimizer.step()
        return loss

    run = ja.compile(step) if how == "compiled" else step
    losses = [float(run(x)) for _ in range(3)]
    assert losses[2] < losses[0]
    like = tensors()
    for t, before in zip(p.values(), like.values(), strict=True):
        assert is_placed_as(t, before) and is_placed_as(t.grad, before)
        states = [s for s in optimizer.state[t].values() if isinstance(s, ja.Tensor) and s.shape == t.shape]
        assert states and all(is_placed_as(s, t) for s in states)


@pytest.mark.parametrize("how", ["eager", "compiled"])
def test_a_write(how):
    whole = jax.device_put(jnp.ones((8, 4)), WHOLE)

    def write(x, y):
        x[2:4].mul_(3)
        x.copy_(y)
        x.add_(1)
        x.zero_()
        x[0].fill_(7)
        return x.sum()

    run = ja.compile(write) if how == "compiled" else write
    for spec in (SHARDED, WHOLE, spread(None, "d")):
        x = ja.interop.from_jax(jax.device_put(jnp.arange(32.0).reshape(8, 4), spec))
        assert float(run(x, ja.interop.from_jax(whole))) == 28
        assert x.jax().sharding.is_equivalent_to(spec, 2)
        with ja.no_grad():
            x.set_(x)
            x.data.normal_()
        assert x.jax().sharding.is_equivalent_to(spec, 2)


@pytest.mark.parametrize("name", ["zeros_like", "randn_like"])
def test_tensors_like_another(name):
    x = ja.interop.from_jax(jax.device_put(jnp.ones((8, 4)), SHARDED))
    assert is_placed_as(getattr(ja, name)(x), x)
    assert is_placed_as(ja.compile(getattr(ja, name))(x), x)


def test_optax_under_jit():
    p, x = arrays(), batch()
    optimizer = optax.adamw(1e-2)

    @ja.jit
    def step(p, state, x):
        loss, gradients = ja.value_and_grad(formula)(p, x)
        updates, state = optimizer.update(gradients, state, p)
        return optax.apply_updates(p, updates), state, loss

    state = optimizer.init(p)
    q, state, _ = step(p, state, x)
    for name in p:
        assert is_placed_as(q[name], p[name]) and is_placed_as(state[0].mu[name], p[name])


@pytest.mark.slow
def test_one_program_serves_all_placements():
    compiled = ja.compile(loss_of)
    for spec in (SHARDED, WHOLE, spread(None, "d")):
        p = {
            name: ja.interop.from_jax(jax.device_put(x, spec if x.ndim > 1 else WHOLE)) for name, x in arrays().items()
        }
        for t in p.values():
            t.requires_grad_()
        compiled(p, ja.interop.from_jax(batch())).backward()
        check(p, {name: t.grad for name, t in p.items()})
    assert len(compiled.programs) == 1


def test_tensors_of_one_device_stay_there():
    p = {name: ja.interop.from_jax(jnp.asarray(np.asarray(x))).requires_grad_() for name, x in arrays().items()}
    ja.compile(loss_of)(p, ja.interop.from_jax(jnp.asarray(np.asarray(batch())))).backward()
    assert all(len(t.grad.jax().devices()) == 1 for t in p.values())
