"""Random graphs give by their executables what they give equation by equation, forward and backward.

Graphs of even seeds are of functions, those of odd seeds of their gradients. `JAXAOT_PROGRAMS=5000` runs that many.
"""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.ir.rewrite import inline, rebuild
from jaxaot.lower.check import differences, evaluate
from jaxaot.lower.executable import Executable
from tests.laws import graphs
from tests.seeds import some

N_QUICK = int(os.environ.get("JAXAOT_PROGRAMS", "10"))
CHUNK = 10
CHUNKS = [pytest.param(start, marks=() if start < N_QUICK else pytest.mark.slow) for start in range(0, 20_000, CHUNK)]


def check(seed, n_steps):
    """Returns what is wrong with the executable of a random graph, if anything is."""
    args, run = graphs.inputs(seed), graphs.program(seed, n_steps)
    fn = graphs.gradients(run, args) if seed % 2 else run
    closed = inline(jax.make_jaxpr(fn)(*args), also_custom=True)
    return differences(closed, args, Executable(closed)(*args), evaluate(closed, args))


@pytest.mark.slow
@pytest.mark.parametrize("start", CHUNKS)
def test_executables_of_random_graphs(start):
    n_steps = 4 if start < N_QUICK else 8
    wrong = {seed: found for seed in range(start, start + CHUNK) if (found := check(seed, n_steps))}
    assert not wrong, wrong


def test_a_wrong_value_is_told_from_rounding():
    x = jnp.linspace(0.5, 2.9, 8)
    graph = jax.make_jaxpr(lambda x: (jnp.sin(x) * 1e4 - jnp.sin(x) * 9999.9, jnp.floor(x * 3)))(x)
    right = evaluate(graph, [x])
    assert not differences(graph, [x], right, right)
    nearly = [np.asarray(right[0]) + 1e-4, np.asarray(right[1])]  # what is left of a difference of large numbers
    assert not differences(graph, [x], nearly, right)
    wrong = [np.asarray(right[0]).copy(), np.asarray(right[1]) + 1]
    wrong[0][3] *= 1.5
    found = differences(graph, [x], wrong, right)
    assert [(d.output, d.place, d.n_wrong) for d in found] == [(0, (3,), 1), (1, (0,), 8)]


def test_integers_are_compared_exactly():
    x = jnp.arange(5)
    graph = jax.make_jaxpr(lambda x: x * 3)(x)
    assert differences(graph, [x], [x * 3 + (x == 4)], evaluate(graph, [x]))[0].place == (4,)


def test_loops_and_branches_are_evaluated_by_their_equations():
    def run(x, n):
        last, rows = jax.lax.scan(lambda c, row: (c + row, c * row), x[0], x, reverse=True)
        turned = jax.lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 2), (0, last))[1]
        return rows, jax.lax.cond(n > 2, jnp.sin, jnp.cos, turned)

    x, n = jnp.arange(12.0).reshape(4, 3), jnp.int32(3)
    for got, right in zip(evaluate(jax.make_jaxpr(run)(x, n), [x, n]), run(x, n), strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-6)


def test_compiled_functions_that_are_right_pass_the_check():
    with ja.config(check_executables=True):
        x = ja.ones(6, 4)
        w = ja.ones(4, 4, requires_grad=True)
        step = ja.compile(lambda x, w: (x @ w).tanh().sum())
        step(x, w).backward()
        assert w.grad is not None and step(x, w).shape == ()
        assert (ja.ones(3) * 2 + 1).tolist() == [3.0] * 3


@pytest.fixture
def wrong_programs(monkeypatch):
    """XLA compiles each product into a sum."""
    from jaxaot.backend.cpu import tune
    from jaxaot.lower import executable

    def spoil(closed, *_, **__):
        eqns = [
            eqn.replace(primitive=jax.lax.add_p) if eqn.primitive is jax.lax.mul_p else eqn for eqn in closed.jaxpr.eqns
        ]
        return rebuild(closed, eqns, closed.jaxpr.outvars)

    for module in (executable, tune):
        monkeypatch.setattr(module, "repaired", spoil)


def test_a_wrong_program_is_an_error_that_names_the_output_and_the_equation(wrong_programs):
    x = ja.full((4,), 3.0)

    @ja.compile
    def scale(x, y):
        x.add_(1)
        y.mul_(x)

    y = ja.full((4,), 5.0)
    with (
        ja.config(check_executables=True),
        pytest.raises(
            ja.errors.WrongExecutableError, match=r"(?s)the new value of `args\[1\]` is 9\.0.* give 20\.0.*= mul "
        ),
    ):
        scale(x, y)
    assert x.tolist() == [3.0] * 4 and y.tolist() == [5.0] * 4  # nothing half-done


def test_a_wrong_gradient_is_named(wrong_programs):
    w = ja.full((4,), 3.0, requires_grad=True)
    with ja.config(check_executables=True):
        loss = ja.compile(lambda w: w.sin().sum())(w)
        with pytest.raises(ja.errors.WrongExecutableError, match=r"`backward`.*the gradient of `args\[0\]`"):
            loss.backward()


def test_wrong_programs_of_jit_and_stages_are_found(wrong_programs):
    x = jnp.full(4, 3.0)
    with ja.config(check_executables=True):
        with pytest.raises(ja.errors.WrongExecutableError, match=r"`scale`.*its result\['y'\]"):
            ja.jit(named)(x)
        with pytest.raises(ja.errors.WrongExecutableError):
            Executable(jax.make_jaxpr(lambda x: x * x)(x))(x)
    assert ja.jit(named)(x)["y"][0] == 6.0  # nobody looks


def named(x):
    return {"y": x * x}


named.__name__ = "scale"


def compensated(rows):
    total = lost = jnp.zeros(rows.shape[1:])
    for i in range(rows.shape[0]):
        y = rows[i] - lost
        new = total + y
        lost, total = (new - total) - y, new
    return total


@pytest.mark.few(1)
@pytest.mark.parametrize("compiler", some([ja.jit, ja.compile], 1))
def test_compensated_sums_work_with_exact_rounding(compiler):
    rows = jnp.asarray([[1e8], *[[1.0]] * 64, [-1e8]])
    with ja.config(exact_rounding=True):
        assert float(np.asarray(compiler(compensated)(rows))[0]) == 64.0


@pytest.mark.parametrize("large", [False, True])
def test_eager_kernels_round_each_operation(large):
    n = 40_000 if large else 4
    a, b, x = (ja.full((n,), v) for v in (1e20, -1e20, 1e10))
    with ja.config(exact_rounding=True):
        assert ja.addcmul(a * x, b, x)[0].item() == 0
        half = ja.full((n,), 5000.0).to(ja.bfloat16)
        assert (half.to(ja.float32))[0].item() == 4992


def test_loops_round_each_operation():
    def run(a, b, x):
        return jax.lax.scan(lambda c, _: (c, a * x + b * x), 0, None, length=3)[1]

    with ja.config(exact_rounding=True):
        assert not ja.jit(run)(jnp.full(4, 1e20), jnp.full(4, -1e20), jnp.full(4, 1e10)).any()
