"""A region in blocks computes what its graph does, whichever value is cut along whichever axis."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxaot._jax import jaxpr_as_fun
from jaxaot.ir.blocks import Regions
from jaxaot.ir.check import check_graph
from jaxaot.ir.counted_rows import with_batches
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import sub_jaxprs
from tests.seeds import seeds

ROWS, WIDTH = 6, 4
KEY = jax.random.PRNGKey(1)  # of one kind for a version of JAX, made without a program


def masked(x):
    rows, columns = (lax.broadcasted_iota(jnp.int32, x.shape, axis) for axis in (0, x.ndim - 1))
    return jnp.where(rows >= columns, x, -1.0)


def dropped(x):
    return jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(KEY), 0.7, x.shape), x, 0.0)


def picked(x):
    labels = lax.iota(jnp.int32, x.shape[0]) % x.shape[-1]
    return x - 0.1 * jnp.take_along_axis(x.reshape(x.shape[0], -1), labels[:, None], 1).reshape(
        -1, *(1,) * (x.ndim - 1)
    )


def indexed(x):
    flat = x.reshape(x.shape[0], -1)
    return x + flat[jnp.arange(x.shape[0]), jnp.arange(x.shape[0]) % 2].reshape(-1, *(1,) * (x.ndim - 1))


def weighted(x):
    w = jnp.sin(lax.broadcasted_iota(jnp.float32, (x.shape[-1], WIDTH), 1))
    return lax.dot_general(x, w, (((x.ndim - 1,), (0,)), ((), ())))


def of_each(x):
    batch = tuple(range(x.ndim - 1))
    return lax.dot_general(x, x, (((x.ndim - 1,), (x.ndim - 1,)), (batch, batch)))[..., None] * jnp.cos(x)


STEPS = {
    "softmax": lambda x: jax.nn.softmax(x, -1),
    "logsumexp": lambda x: x - jax.nn.logsumexp(x, -1, keepdims=True),
    "turned": lambda x: jnp.swapaxes(jnp.tanh(x), 0, -1),
    "joined": lambda x: jnp.sin(x).reshape(-1, x.shape[-1]),
    "parted": lambda x: jnp.cos(x).reshape(x.shape[0] // 2, 2, *x.shape[1:]) if x.ndim < 3 and x.shape[0] > 2 else x,
    "masked": masked,
    "dropped": dropped,
    "picked": picked,
    "indexed": indexed,
    "one-hot": lambda x: (
        x * jax.nn.one_hot(lax.iota(jnp.int32, x.shape[0]), x.shape[-1]).reshape(x.shape[0], *(1,) * (x.ndim - 2), -1)
    ),
    "weighted": weighted,
    "of each": of_each,
    "rounded": lambda x: jnp.exp(-jnp.abs(x)).astype(jnp.bfloat16).astype(jnp.float32),
    "reversed": lambda x: lax.rev(x, (x.ndim - 1,)) * 2.0,
    "sorted": lambda x: jnp.sort(x, -1),
    "cumulative": lambda x: jnp.cumsum(x, -1),
    "padded": lambda x: lax.pad(x, 0.0, [(0, 0, 0)] * (x.ndim - 1) + [(1, 0, 0)])[..., 1:],
    "best": lambda x: x + jnp.argmax(x, -1, keepdims=True).astype(x.dtype),
}

ENDS = {
    "sum": lambda x: x.sum(0),
    "total": lambda x: (x * x).sum(),
    "max": lambda x: x.max(0),
    "min": lambda x: (x - 1.0).min(0),
    "product": lambda x: jnp.prod(1.0 + 0.1 * x, 0),
    "all": lambda x: (x > -0.5).all(0),
    "any": lambda x: (x > 0.5).any(0),
    "itself": lambda x: x * 2.0,
    "row": lambda x: x.sum(-1),
    "product of matrices": lambda x: lax.dot_general(x, x, (((0,), (0,)), ((), ()))),
    "bfloat16": lambda x: lax.dot_general(*(x.astype(jnp.bfloat16),) * 2, (((0,), (0,)), ((), ()))),
    "sum in bfloat16": lambda x: lax.reduce_sum_p.bind(x.astype(jnp.bfloat16), axes=(0,), out_sharding=None),
}


def program(draw):
    """Returns a random function of an array of rows; of every second one, the gradient too."""
    steps = [draw.choice([*STEPS.values()]) for _ in range(draw.randint(2, 5))]
    ends = [draw.choice([*ENDS.values()]) for _ in range(2)]

    def fn(x):
        for step in steps:
            x = step(x)
        return [end(x) for end in ends]

    def with_gradient(x):
        return jax.value_and_grad(lambda x: sum(jnp.sum(y.astype(jnp.float32)) for y in fn(x)))(x)

    return fn if draw.random() < 0.5 else with_gradient


def require_same(closed, blocked, values):
    check_graph(blocked)
    want, got = (jax.jit(jaxpr_as_fun(graph))(*values) for graph in (closed, blocked))
    for a, b in zip(want, got, strict=True):
        loose = 0.02 if "bf16" in str(closed) else 1e-5
        np.testing.assert_allclose(np.float32(b), np.float32(a), rtol=loose, atol=loose)


def graph_of(fn, *values):
    return with_batches(inline(jax.make_jaxpr(fn)(*values), also_custom=True))


def regions_of(closed):
    """Yields a region for each value and axis that makes one."""
    regions = Regions(closed)
    for var in regions.makers:
        for axis in range(getattr(var.aval, "ndim", 0)):
            found = regions.around(var, axis)
            if found is not None:
                yield found


@pytest.mark.parametrize("seed", seeds(200, 12))
def test_a_random_region_in_blocks_is_the_graph(seed):
    draw = random.Random(seed)
    x = jnp.asarray(np.random.default_rng(seed).normal(size=(ROWS, 2 * WIDTH)), jnp.float32)
    closed = graph_of(program(draw), x)
    found = [region for region in regions_of(closed) if len(region.splits) > 2]
    for region in draw.sample(found, min(2, len(found))):
        blocked = region.written(draw.randint(1, region.n_units - 1))
        assert any(eqn.primitive.name == "scan" for eqn in blocked.jaxpr.eqns)
        require_same(closed, blocked, [x])


@pytest.mark.few(6)
@pytest.mark.parametrize("step", [step for step in STEPS if step not in ("turned", "joined", "parted")])
def test_rows_of_each_rule_are_cut(step):
    """The whole of a step and its gradient is one loop over rows, in which no value has all of them."""
    rows = 5
    x = jnp.asarray(np.random.default_rng(0).normal(size=(rows, 8)), jnp.float32)

    def fn(x):
        return jax.value_and_grad(lambda x: (STEPS[step](jnp.sin(x)) ** 2).sum())(x)

    closed = graph_of(fn, x)
    region = Regions(closed).around(next(e.outvars[0] for e in closed.jaxpr.eqns if e.primitive is lax.sin_p), 0)
    assert region is not None and region.n_units == rows
    blocked = region.written(2)
    require_same(closed, blocked, [x])
    (loop,) = (eqn for eqn in blocked.jaxpr.eqns if eqn.primitive.name == "scan")
    (body,) = sub_jaxprs(loop)
    shapes = {
        var.aval.shape for eqn in body.eqns for var in eqn.outvars if eqn.primitive.name != "dynamic_update_slice"
    }
    assert (rows, 8) not in shapes and (2, 8) in shapes


def test_random_bits_are_those_without_blocks():
    for shape, width in (((6, 5), 32), ((6, 5), 8), ((2, 3, 4), 16)):
        dtype = jnp.dtype(f"uint{width}")
        closed = graph_of(lambda key: jax.random.bits(jax.random.wrap_key_data(key), shape, dtype) + dtype.type(1), KEY)
        made = next(eqn.outvars[0] for eqn in closed.jaxpr.eqns if eqn.primitive.name == "random_bits")
        for axis in range(len(shape)):
            region = Regions(closed).around(made, axis)
            (got,), (want,) = (jaxpr_as_fun(graph)(KEY) for graph in (region.written(1), closed))
            np.testing.assert_array_equal(got, want)


def test_what_needs_all_blocks_is_no_region():
    closed = graph_of(lambda x: jnp.sin(x) / jnp.sin(x).sum(), jnp.ones((4, 4)))
    assert Regions(closed).around(closed.jaxpr.eqns[0].outvars[0], 0) is None


def test_an_equation_without_a_rule_ends_a_region():
    """The values that it reads are written block by block, and come before it."""
    closed = graph_of(lambda x: jnp.fft.rfft(jnp.sin(x) * 2.0, axis=0).real, jnp.ones((4, 8)))
    region = Regions(closed).around(closed.jaxpr.eqns[0].outvars[0], 0)
    blocked = region.written(3)
    names = [eqn.primitive.name for eqn in blocked.jaxpr.eqns]
    assert names.index("scan") < names.index("fft") and "sin" not in names[names.index("fft") :]
    require_same(closed, blocked, [jnp.arange(32.0).reshape(4, 8)])


def test_what_has_side_effects_is_not_moved():
    def fn(x):
        y = jnp.sin(x)
        jax.debug.callback(lambda _: None, y.sum(1)[0])
        return (jnp.cos(x) * y).sum()

    closed = graph_of(fn, jnp.ones((4, 8)))
    region = Regions(closed).around(next(e.outvars[0] for e in closed.jaxpr.eqns if e.primitive is lax.sin_p), 0)
    assert region is not None and region.written(2) is None


def test_counted_rows_become_a_batch():
    def fn(x, y):
        return x[jnp.arange(4), y]

    x, y = jnp.arange(24.0).reshape(4, 6), jnp.array([5, 0, -1, 9])
    for make in (fn, jax.grad(lambda x, y: fn(x, y).sum())):
        plain = inline(jax.make_jaxpr(make)(x, y), also_custom=True)
        changed = with_batches(plain)
        *_, eqn = (e for e in changed.jaxpr.eqns if e.primitive.name in ("gather", "scatter-add"))
        assert eqn.params["dimension_numbers"].operand_batching_dims == (0,)
        require_same(plain, changed, [x, y])
