"""Budgets are of one device; what looks at programs takes tensors and arrays that lie over several."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.distributed import Replicate, Shard, distribute_tensor, fully_shard, init_device_mesh, per_device
from jaxaot.errors import BudgetError
from jaxaot.runtime.fitting import peak_bytes

MESH = init_device_mesh("cpu", (4,), mesh_dim_names=("d",))
WIDTH, ROWS = 64, 2048


class Layer(ja.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = ja.nn.Linear(WIDTH, 2 * WIDTH), ja.nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(self.up(x).tanh()).tanh()


def made(placement):
    ja.manual_seed(0)
    model = ja.nn.Sequential(Layer(), Layer())
    for layer in model:
        fully_shard(layer, MESH)
    x = distribute_tensor(np.random.default_rng(0).normal(size=(ROWS, WIDTH)).astype("f"), MESH, [placement])
    return model, x


def loss(model, x):
    return model(x).square().mean()


SAVED = 4 * ROWS * WIDTH  # bytes of one value of all devices together


@pytest.mark.slow
@pytest.mark.parametrize("placement", [Shard(0), pytest.param(Replicate(), marks=pytest.mark.slow)])
def test_bytes_that_are_saved(placement):
    model, x = made(placement)
    compiled = ja.compile(loss, memory_budget=f"{SAVED}B")
    program = per_device(compiled, model, x)["forward"]
    assert program.output_bytes <= SAVED + 64
    if placement.is_shard():  # four times as much of all of them is saved
        assert program.output_bytes > SAVED / 2
    plain = per_device(ja.compile(loss, policy="save_all"), model, x)["forward"]
    assert plain.output_bytes > 1.4 * SAVED


@pytest.mark.slow
def test_all_that_is_in_use():
    model, x = made(Shard(0))
    most = ja.compile(loss, policy="save_all")
    most(model, x)
    (program,) = most.programs
    peak = peak_bytes(program)
    found = per_device(most, model, x)
    assert (
        peak < ja.estimate.profile(lambda x: loss(model, x), x, policy="save_all").peak_bytes / 2
    )  # that is of all devices
    assert peak >= found["forward"].argument_bytes + found["forward"].output_bytes
    limit = int(0.85 * peak)
    less = ja.compile(loss, policy="save_all", memory_budget=f"fit:{limit}B")
    less(model, x).backward()
    (program,) = less.programs
    assert peak_bytes(program) <= limit
    gradient = model[0].up.weight.grad.clone()
    model.zero_grad()
    loss(model, x).backward()
    np.testing.assert_allclose(gradient.numpy(), model[0].up.weight.grad.numpy(), rtol=1e-3, atol=1e-6)
    with pytest.raises(BudgetError, match=r"does not fit in 1\.00 KiB"):
        ja.compile(loss, memory_budget="fit:1KiB")(model, x)


@pytest.mark.slow
def test_exports_profiles_and_trade_offs():
    rows = jax.NamedSharding(MESH, jax.P("d"))
    w, x = jax.device_put(jnp.full((8, 8), 0.1), rows), jax.device_put(jnp.ones((16, 8)), rows)

    def formula(w, x):
        return jnp.tanh(x @ w).sum()

    exported = ja.aot.aot_export_joint_simple(lambda w, x: (ja.tanh(x @ w).sum(),), (w, x), trace_joint=False)
    assert float(exported(w, x)[0]) == pytest.approx(float(formula(w, x)), rel=1e-5)
    tensors = [ja.interop.from_jax(w).requires_grad_(), ja.interop.from_jax(x)]
    joint = ja.aot.aot_export_joint_simple(lambda w, x: (ja.tanh(x @ w).sum(),), tensors, trace_joint=True)
    _, (gradient, *_) = joint((w, x), (jnp.ones(()),))
    np.testing.assert_allclose(gradient, jax.grad(formula)(w, x), rtol=1e-5)
    assert gradient.sharding.is_equivalent_to(rows, 2)
    model, batch = made(Shard(0))
    graph, signature = ja.aot.aot_export_module(model, (batch,), trace_joint=False)
    values = [p.detach().jax() for p in model.parameters()]
    outputs = graph(*values, batch.jax())
    assert len(signature.parameters) == len(values)
    np.testing.assert_allclose(outputs[0], model(batch).detach().numpy(), rtol=1e-4, atol=1e-5)
    for found in (ja.estimate.profile(formula, w, x), ja.estimate.pareto(formula, w, x), ja.explain(formula, w, x)):
        assert str(found)
    report = ja.explain(lambda w, x: (x @ w).tanh().sum(), *tensors)
    assert any("all-gather" in line for line in report.collectives)


def test_what_one_device_saves():
    rows = jax.NamedSharding(MESH, jax.P("d"))
    params = [jax.device_put(jnp.full((16, 16), 0.1), rows) for _ in range(3)]
    x = jax.device_put(jnp.ones((64, 16)), rows)

    def formula(params, x):
        for w in params:
            x = jnp.tanh(x @ w)
        return jnp.sum(x * x)

    part = 4 * 64 * 16 // 4  # bytes of one value on one device
    types = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=rows), params)
    for args in ((params, x), (types, x)):
        said = "\n".join(ja.explain(ja.remat(formula, policy=ja.policies.min_cut), *args).collectives)
        assert "forward: " in said and "backward: " in said and "all-gather" in said
        assert f"with {3 * part / 1024:.2f} KiB kept for the backward" in said, said
    (line,) = ja.explain(ja.jit(ja.grad(formula)), params, x).collectives
    assert line.startswith("program: ") and "all-gather" in line and "held by a device" in line
    assert not ja.explain(ja.jit(ja.grad(formula)), *jax.tree.map(np.asarray, (params, x))).collectives
    profile = ja.estimate.profile(formula, params, x)
    alone = ja.estimate.profile(formula, *jax.tree.map(np.asarray, (params, x)))
    assert profile.device_saved_bytes == alone.saved_bytes / 4 == 3 * part
    assert alone.device_peak_bytes == alone.peak_bytes == profile.peak_bytes > 2 * profile.device_peak_bytes
    assert profile.fits(profile.device_peak_bytes) and not profile.fits(profile.device_peak_bytes - 1)
    assert "of this on one device" in str(profile) and "device" not in str(alone).split("\n")[3]
    curve, of_one = (
        ja.estimate.pareto(formula, *args) for args in ((params, x), jax.tree.map(np.asarray, (params, x)))
    )
    assert [4 * p.saved_bytes for p in curve.points] == [p.saved_bytes for p in of_one.points] and "each" in str(curve)
    assert all(p.peak_bytes < q.peak_bytes / 2 for p, q in zip(curve.points, of_one.points, strict=True))
    budget = ja.trace(formula, params, x).joint().partition(memory_budget=f"{2 * part}B")
    assert budget.saved_bytes == curve.at(2 * part).saved_bytes * 4
