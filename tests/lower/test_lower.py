"""Graphs run as XLA programs, or one equation at a time."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot.errors import CompilerError
from jaxaot.ir.rewrite import inline
from jaxaot.lower.backends import backend_names, get_backend, register_backend
from jaxaot.lower.executable import Executable
from jaxaot.lower.interpret import Interpreter
from tests.partition.programs import random_arguments, random_program


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args))


@pytest.mark.few(2)
@pytest.mark.parametrize("backend", ["xla", "interpret"])
@pytest.mark.parametrize("seed", range(3))
def test_backends_agree_with_the_function(backend, seed):
    program, args = random_program(seed), random_arguments(seed)
    executable = get_backend(backend)(graph_of(program, *args), donated=(), name="program")
    for got, want in zip(executable.call(*args), program(*args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_call_is_the_jitted_function_itself():
    executable = Executable(graph_of(lambda x: (x + 1.0, x), jnp.ones(3)))
    assert type(executable.call) is type(jax.jit(jnp.sin))
    assert isinstance(executable(jnp.ones(3)), list)
    assert executable.call._cache_size() == 1
    executable.call(jnp.ones(3))
    assert executable.call._cache_size() == 1


def test_donation():
    executable = Executable(graph_of(lambda x, y: x.at[0].add(y[0]), jnp.ones(1000), jnp.ones(1000)), donated=(0,))
    x, y = jnp.zeros(1000), jnp.ones(1000)
    place = x.unsafe_buffer_pointer()
    (result,) = executable.call(x, y)
    assert x.is_deleted() and not y.is_deleted()
    assert result.unsafe_buffer_pointer() == place


def test_unused_inputs_are_kept():
    executable = Executable(graph_of(lambda x, unused: x + 1.0, 1.0, jnp.ones(3)), name="forward")
    assert executable.compiled.memory_analysis().argument_size_in_bytes >= 16
    assert "forward" in executable.as_text()
    assert "HloModule jit_forward" in executable.as_text(optimized=True)


def test_analysis():
    executable = Executable(graph_of(lambda x: x @ x, jnp.ones((8, 8))))
    assert executable.cost_analysis()["flops"] >= 2 * 8**3
    assert executable.memory_analysis().output_size_in_bytes == 256
    assert repr(executable) == "Executable(graph: 1 inputs, 1 outputs, 1 equations, donated ())"


def test_barriers_move_no_bytes():
    barred = lambda x: jnp.sin(jax.lax.optimization_barrier(x + 1.0)) * 2.0
    x = jnp.ones((64, 128), jnp.bfloat16)
    found = Executable(graph_of(barred, x)).cost_analysis()["bytes accessed"]
    assert found == 4 * x.nbytes  # each of the two kernels reads and writes once


def test_compiler_options_reach_xla():
    def fn(x):
        return jax.lax.optimization_barrier(x * 2.0) * 3.0

    graph = graph_of(fn, jnp.ones(3))
    assert "opt-barrier(" in Executable(graph).as_text(optimized=True)  # kept on CPU too
    for disabled, is_kept in (("", False), ("none", True)):
        executable = Executable(graph, compiler_options={"xla_disable_hlo_passes": disabled})
        assert ("opt-barrier(" in executable.as_text(optimized=True)) is is_kept


def test_the_interpreter_shows_each_equation():
    seen = []
    graph = graph_of(lambda x: jnp.sin(x) * 2.0, 1.0)
    Interpreter(graph, observe=lambda eqn, _, results: seen.append((eqn.primitive.name, float(results[0])))).call(0.0)
    assert seen == [("sin", 0.0), ("mul", 0.0)]


def test_the_interpreter_says_which_equation_failed():
    def fail(x):
        raise RuntimeError("no")

    graph = graph_of(lambda x: jax.pure_callback(fail, x, x * 2.0) + 1.0, jnp.ones(2))
    with pytest.raises(Exception) as info:
        jax.block_until_ready(Interpreter(graph).call(jnp.ones(2)))
    (note,) = [note for note in info.value.__notes__ if "graph" in note]
    assert note.startswith("In equation 1 of `graph`: %1: f32[2] = pure_callback[")
    assert "] %0  # test_lower.py:" in note


def test_backends_of_your_own():
    register_backend("mine", lambda jaxpr, **_: jaxpr)
    assert "mine" in backend_names()
    with pytest.raises(CompilerError, match=r"There is no backend 'tvm'. The backends are: xla, interpret"):
        get_backend("tvm")
    assert get_backend(Executable) is Executable
