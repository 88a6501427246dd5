"""How a graph is run: one decision, the same by `ja.compile`, `ja.jit` and eager kernels."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from jaxaot.backend.cpu.pipeline import SHARDS
from jaxaot.backend.cpu.run import Lowering, choose_way
from jaxaot.ir.rewrite import inline
from jaxaot.lower.executable import Executable
from jaxaot.passes.declared import On
from jaxaot.passes.pipeline import lowered_passes

X, W = jnp.ones((16384, 256)), jnp.ones((256, 256))
IMAGE, KERNEL = jnp.ones((16, 32, 32, 32)), jnp.ones((3, 3, 32, 32))


def deep(x, w):
    for _ in range(6):
        x = jnp.tanh(x @ w)
    return (x @ w).sum()


def descent(x, w):
    return w - 0.1 * jax.grad(deep, 1)(x, w)


def convolved(x, k):
    return lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args), also_custom=True)


WAYS = {
    "repaired": (lambda x: x + 1, (jnp.ones(8),), Lowering.REPAIRED),
    "program": (lambda x, w: x @ w, (X[:1024], W), Lowering.PROGRAM),
    "eigen": (convolved, (IMAGE, KERNEL), Lowering.EIGEN),
    "subprograms": (descent, (X, W), Lowering.SUBPROGRAMS),
    "shares": (descent, (X, W), Lowering.SHARDS),
}


@pytest.fixture(autouse=True)
def two_cores(using_machine):
    using_machine(n_cores=2, eigen_flops=100_000_000)


@pytest.mark.parametrize("name", WAYS)
def test_each_way(name):
    fn, args, how = WAYS[name]
    passes = tuple(p for p in lowered_passes(None, "cpu") if name == "shares" or p != SHARDS)
    closed = graph_of(fn, *args)
    assert choose_way(closed, passes).how is how
    alone = choose_way(closed, passes, is_one_program=True)
    assert alone.how is (Lowering.PROGRAM if how in (Lowering.SUBPROGRAMS, Lowering.SHARDS) else how)
    assert choose_way(closed, ()).how is Lowering.REPAIRED


@pytest.mark.parametrize("name", WAYS)
def test_an_executable_asks_for_it(name):
    fn, args, how = WAYS[name]
    executable = Executable(graph_of(fn, *args))
    assert executable.way.how is (Lowering.SHARDS if fn is descent else how)
    assert (executable.sharded is not None) == (executable.way.how is Lowering.SHARDS)


def test_kernels_are_one_program():
    assert choose_way(graph_of(descent, X, W), lowered_passes(None, "cpu", on=On.KERNEL)).how is Lowering.PROGRAM


def test_only_a_changed_graph_is_another():
    small, large = graph_of(lambda x: x + 1, jnp.ones(8)), graph_of(lambda x, w: x @ w.T, X, W)
    passes = lowered_passes(None, "cpu")
    assert not choose_way(small, passes).is_changed and choose_way(large, passes).is_changed


@pytest.mark.parametrize("name", ["subprograms", "eigen"])
def test_what_computes_much_for_each_byte_is_not_cut(name, using_machine):
    fn, args, how = WAYS[name]
    passes = tuple(p for p in lowered_passes(None, "cpu") if p != SHARDS)
    closed = graph_of(lambda x, y: fn(fn(x, y), y) if name == "eigen" else fn(x, y), *args)
    using_machine(n_cores=2, max_flops_per_kept_byte=1000)
    assert choose_way(closed, passes).tuned.limit_bytes is not None
    using_machine(n_cores=2, max_flops_per_kept_byte=1)
    way = choose_way(closed, passes)
    assert way.tuned.limit_bytes is None
    assert way.how is (how if how is Lowering.EIGEN else Lowering.PROGRAM)


def test_options_that_a_graph_with_effects_cannot_wait_for():
    def noisy(x, k):
        jax.debug.print("{}", x[0, 0, 0, 0])
        return convolved(x, k)

    ways = [choose_way(graph_of(fn, IMAGE, KERNEL), lowered_passes(None, "cpu")) for fn in (convolved, noisy)]
    assert [way.how for way in ways] == [Lowering.EIGEN, Lowering.EIGEN]
    assert [way.needs_own_call for way in ways] == [True, False]
