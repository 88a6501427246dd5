"""What larger programs cost: work grows as the program does. Calls are counted, not seconds."""

import cProfile
import pstats
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.backend.cpu.analysis.kernels import is_fused
from jaxaot.backend.cpu.repair.cut_chains import MAX_TOGETHER, cut_chains
from jaxaot.ir.walk import variables
from jaxaot.joint import build_joint
from jaxaot.partition.partition import partition

SQUARE, ROW = jnp.full((4, 4), 0.5), jnp.full(4, 0.9)


def layers(n):
    def fn(x, w):
        for _ in range(n):
            x = jnp.tanh(x @ w) * 1.5 + x
        return x.sum()

    return fn


def n_calls(fn):
    """Returns how many functions, of Python and of C, are called meanwhile."""
    profile = cProfile.Profile()
    profile.runcall(fn)
    return pstats.Stats(profile).total_calls


@pytest.fixture(scope="module")
def joints():
    """The joint graphs of 30 and of 120 layers, with the calls that made them."""

    def made(n):
        traced = jax.make_jaxpr(layers(n))(SQUARE, SQUARE)
        found = []
        calls = n_calls(lambda: found.append(build_joint(traced, (0, 1), (0,))))
        return found[0], calls

    made(3)
    return made(30), made(120)


def test_a_joint_graph_takes_work_in_proportion(joints):
    (small, few), (large, many) = joints
    assert len(large.jaxpr.eqns) <= 4 * len(small.jaxpr.eqns)
    assert many <= 4.4 * few


def test_a_joint_graph_takes_at_most_twice_what_its_vjp_takes(joints):
    def pulled(cotangent, *args):
        return jax.vjp(layers(120), *args)[1](cotangent)

    assert joints[1][1] <= 2 * n_calls(lambda: jax.make_jaxpr(pulled)(1.0, SQUARE, SQUARE))


@pytest.mark.parametrize("budget", [None, 0.5])
def test_a_cut_takes_work_in_proportion(joints, budget):
    (small, _), (large, _) = joints
    few, many = (n_calls(lambda: partition(joint, memory_budget=budget)) for joint in (small, large))
    assert many <= 7 * few  # four times the equations, and some more prices tried


def largest_kernel(closed):
    """Returns how many equations the largest kernel of a graph has."""
    inside = {}
    for i, eqn in enumerate(closed.jaxpr.eqns):
        if is_fused(eqn):
            inside[eqn.outvars[0]] = {i}.union(*(inside.get(var, ()) for var in variables(eqn.invars)))
    return max(map(len, inside.values()))


@pytest.mark.slow
def test_a_long_row_of_equations_is_compiled_in_pieces():
    def row(x, ws):
        for i, w in enumerate(ws):
            x = x * jnp.cos(w) if i % 2 else x + w
        return x

    ws = [ROW + i / 1000 for i in range(300)]
    closed = jax.make_jaxpr(row)(ROW, ws)
    cut = cut_chains(closed)
    n_barriers = sum(eqn.primitive.name == "optimization_barrier" for eqn in cut.jaxpr.eqns)
    assert largest_kernel(closed) > 300 and largest_kernel(cut) < 2 * MAX_TOGETHER
    assert n_barriers <= len(closed.jaxpr.eqns) / MAX_TOGETHER
    np.testing.assert_allclose(ja.jit(row)(ROW, ws), jax.jit(row)(ROW, ws), rtol=1e-5)
    large = jax.make_jaxpr(row)(jnp.ones(1 << 16), [jnp.ones(1 << 16)] * 300)
    assert cut_chains(large) is large


@pytest.mark.slow
def test_a_compiled_tape_takes_work_in_proportion():
    def backward(n):
        x = ja.ones(4, requires_grad=True)
        y = x
        for i in range(n):
            y = y.sin() if i % 2 else y * 1.01
        loss = y.sum()
        with ja.compiler.compiled_autograd(ja.autograd.TapeCompiler()) as tapes:
            calls = n_calls(loss.backward)
        assert tapes.cache_info().misses == 1
        assert np.isfinite(x.grad.tolist()).all()
        return calls

    backward(3)
    assert backward(200) <= 4.4 * backward(50)


IMPORT = """
import sys
import jax, jax.extend, jax.scipy.linalg, jax.scipy.special
before = set(sys.modules)
import jaxaot
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


def test_the_import_brings_only_jax_and_the_standard_library():
    run = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True)
    brought = set(run.stdout.split())
    assert "jaxaot" in brought and brought - sys.stdlib_module_names <= {"jax", "jaxaot"}


LATER = """
import sys
import jaxaot as ja
{}
print(*sorted({{name for name in sys.modules if name.startswith("jaxaot.")}}))
"""
TENSORS = ("jaxaot.facade", "jaxaot.ops", "jaxaot.tape", "jaxaot.runtime")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("line", "absent"),
    [
        ("ja.config(donate=False), ja.float32, ja.errors", (*TENSORS, "jaxaot.lower", "jaxaot.partition")),
        ("ja.jit(lambda x: x + 1)(1.0)", (*TENSORS, "jaxaot.report", "jaxaot.tracer", "jaxaot.joint")),
        ("ja.zeros(3).relu_()", ("jaxaot.runtime", "jaxaot.tracer.trace", "jaxaot.archive", "jaxaot.profiling")),
    ],
)
def test_what_is_not_used_is_not_loaded(line, absent):
    run = subprocess.run([sys.executable, "-c", LATER.format(line)], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    loaded = [name for name in loaded if name not in ("jaxaot.ops", "jaxaot.ops.dtypes")]  # the names of dtypes alone
    assert not [name for name in loaded if name.startswith(absent)]


@pytest.mark.slow
def test_a_name_first_asked_for_inside_a_trace_of_jax():
    code = """
import jax, jax.numpy as jnp, jaxaot as ja
with jax.checking_leaks():
    print(jax.jit(lambda x: ja.interop.from_jax(x).relu().add_(1).jax())(jnp.ones(2)))
print(ja.full((2,), 3.0).softmax(0).tolist(), ja.randn(2).shape)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == "[2. 2.] [0.5, 0.5] torch.Size([2])".replace("torch.", "ja.").split()
