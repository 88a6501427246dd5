"""A graph cut into several executables is the graph."""

import functools
import gc
import itertools
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from benchmarks.random_matrices import matrix_program
from jaxaot._jax import Literal, jaxpr_as_fun
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.memory import sequential, subprograms
from jaxaot.backend.cpu.memory.sequential import SequentialExecutable, can_be_cut
from jaxaot.backend.cpu.memory.subprograms import divide, plan_schedule, temporary_bytes
from jaxaot.backend.cpu.options import keeping_barriers
from jaxaot.backend.cpu.tune import tune
from jaxaot.ir.rewrite import inline
from jaxaot.lower import jit as jit_module
from jaxaot.lower.executable import Executable
from tests.declared import BY_DEFAULT, EVERY
from tests.drawn import drawn
from tests.seeds import seeds, some

WEIGHTS = [jax.device_put(drawn(i, 128, 128) * np.float32(0.1)) for i in range(20)]
X = jax.device_put(drawn(99, 8192, 128))


@pytest.fixture(autouse=True)
def one_core(using_machine):
    using_machine(n_cores=1)  # no shards


def loss(weights, x):
    for w in weights:
        x = x + jnp.tanh(x @ w)
    return (x * x).mean()


def step(weights, x):
    value, gradients = jax.value_and_grad(loss)(weights, x)
    return [w - 0.01 * g for w, g in zip(weights, gradients, strict=True)], value


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args), also_custom=True)


def random_groups(closed, n, rng):
    eqns = closed.jaxpr.eqns
    places = [0, *sorted(rng.choice(np.arange(1, len(eqns)), n - 1, replace=False)), len(eqns)]
    return [eqns[first:last] for first, last in itertools.pairwise(places)]


def assert_agree(got, want, rtol=1e-5):
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert x.dtype == y.dtype and x.weak_type == y.weak_type
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol * max(1e-6, float(np.abs(y).max())))


def run_subprograms(schedule, args):
    values = list(args)
    for subprogram in schedule.subprograms:
        values += jax.jit(jaxpr_as_fun(subprogram.jaxpr))(*(values[number] for number in subprogram.reads))
    return [values[number] for number in schedule.outputs]


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(8, 1))
def test_any_cut_computes_the_same(seed):
    fn, args = matrix_program(seed)
    closed = graph_of(lambda *args: (*jax.tree.leaves(fn(*args)), args[0], args[0] * 2.0, args[0], 3.0), *args)
    schedule = plan_schedule(closed, random_groups(closed, 2 + seed % 4, np.random.default_rng(seed)), ())
    results = run_subprograms(schedule, args)
    assert_agree(results, jax.jit(jaxpr_as_fun(closed))(*args))
    assert len(set(map(id, results))) == len(results) and not any(r is a for r in results for a in args)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(6, 1))
def test_halves_compute_the_same(seed):
    fn, args = matrix_program(seed)
    closed = graph_of(fn, *args)
    jaxpr = closed.jaxpr
    halves = divide(jaxpr.eqns, set(jaxpr.outvars), {*jaxpr.invars, *jaxpr.constvars}, limit=600)
    assert halves is not None
    assert_agree(run_subprograms(plan_schedule(closed, halves, ()), args), jax.jit(jaxpr_as_fun(closed))(*args))


def sorted_both_ways(x):
    order = jnp.argsort(jnp.tanh(x), axis=-1, descending=True)
    return jnp.take_along_axis(x, order, -1) + jnp.sort(x * 2, -1), order


@pytest.mark.few(1)
@pytest.mark.parametrize("limit", some([3 << 12, 1 << 13, 1 << 14], 1))
@pytest.mark.parametrize("has_gradient", [False, True])
def test_no_cut_where_64_bits_cross(limit, has_gradient):
    x = jax.random.normal(jax.random.key(0), (8, 128))  # whose places are sorted in integers of 64 bits
    fn = jax.grad(lambda x: (sorted_both_ways(x)[0] ** 2).sum()) if has_gradient else sorted_both_ways
    closed = tune(graph_of(fn, x), EVERY).jaxpr
    assert any(var.aval.dtype == np.int64 for eqn in closed.jaxpr.eqns for var in eqn.outvars)
    found = SequentialExecutable(closed, (), "fn", keeping_barriers(), limit=limit)
    assert len(found.schedule.subprograms) > 1
    assert_agree(found.call(x), jax.tree.leaves(jax.jit(fn)(x)))
    for subprogram in found.schedule.subprograms:
        assert all(aval.dtype != np.int64 for aval in (*subprogram.jaxpr.in_avals, *subprogram.jaxpr.out_avals))


@pytest.mark.slow
def test_a_step_runs_in_two_programs_that_hold_little():
    run = ja.jit(step, donate_argnums=0)
    plain = jax.jit(step).lower(WEIGHTS, X).compile().memory_analysis().temp_size_in_bytes
    assert plain > machine().kept_bytes
    given = jax.tree.map(jnp.copy, WEIGHTS)
    assert_agree(run(given, X), jax.jit(step)(WEIGHTS, X))
    assert all(w.is_deleted() for w in given) and not X.is_deleted()
    tuned = tune(graph_of(step, WEIGHTS, X), EVERY)
    found = SequentialExecutable(
        tuned.jaxpr, range(len(WEIGHTS)), "step", keeping_barriers(), limit=machine().kept_bytes
    )
    assert len(found.schedule.subprograms) == 2
    assert max(found.temporary_bytes) <= machine().kept_bytes
    whole = Executable(tuned.jaxpr, compiler_options=keeping_barriers()).compiled.cost_analysis()
    assert found.cost_analysis()["flops"] == pytest.approx(whole["flops"], rel=0.1)


def test_what_was_lowered_as_one_program_is_cut_when_called(monkeypatch):
    made = []
    monkeypatch.setattr(
        "jaxaot.backend.cpu.run.SequentialExecutable",
        lambda *args, **options: made.append(SequentialExecutable(*args, **options)) or made[-1],
    )
    run = ja.jit(step)
    run.trace(WEIGHTS, X)
    run.lower(WEIGHTS, X)
    assert not made
    run(WEIGHTS, X)
    assert len(made[0].schedule.subprograms) == 2


def test_small_and_effectful_graphs_are_one_program():
    assert not can_be_cut(graph_of(step, WEIGHTS, X[:64]))

    def printed(weights, x):
        jax.debug.print("{}", x.sum(), ordered=True)
        return step(weights, x)

    assert can_be_cut(graph_of(step, WEIGHTS, X)) and not can_be_cut(graph_of(printed, WEIGHTS, X))


def test_what_needs_more_than_the_process_may_keep_is_one_program(monkeypatch):
    closed = graph_of(step, WEIGHTS, X)
    estimate = temporary_bytes(closed.jaxpr.eqns, set(), limit=1 << 40, delayed=False)
    monkeypatch.setattr(sequential, "MAX_KEPT_BYTES", estimate)
    assert can_be_cut(closed)
    monkeypatch.setattr(sequential, "MAX_KEPT_BYTES", estimate - 1)
    assert not can_be_cut(closed)


def test_where_no_cut_helps_there_is_none():
    closed = graph_of(lambda x: jnp.sort(jnp.sin(x)) @ jnp.ones((128, 2)), X)
    found = SequentialExecutable(closed, (), "sorted", None, limit=1 << 20)
    assert len(found.schedule.subprograms) == 1 and type(found.call) is type(jax.jit(jnp.sin))


def test_what_xla_refuses_is_told_when_the_programs_are_asked_for():
    closed = graph_of(lambda x: jnp.sort(jnp.sin(x)), X)
    found = SequentialExecutable(
        closed, (), "sorted", {"xla_no_such_option": True}, limit=machine().kept_bytes
    )  # XLA compiles in threads of its own
    for _ in range(2):
        with pytest.raises(jax.errors.JaxRuntimeError, match="xla_no_such_option"):
            found.call(X)
    run = ja.jit(step, compiler_options={"xla_no_such_option": True})
    for _ in range(2):
        with pytest.raises(jax.errors.JaxRuntimeError, match="xla_no_such_option"):
            run(WEIGHTS, X)


@pytest.mark.slow
def test_nothing_holds_the_arguments_of_a_first_call():
    run, given = ja.jit(step), X + 1  # the error that ends its trace holds frames
    seen = weakref.ref(given)
    gc.collect()
    gc.disable()
    try:
        jax.block_until_ready(run(WEIGHTS, given))
        del given
        assert seen() is None
    finally:
        gc.enable()


def test_subprograms_that_are_alike_are_compiled_once(monkeypatch):
    args = X, WEIGHTS[0]
    closed = graph_of(lambda x, w: jnp.tanh(jnp.tanh(jnp.tanh(x @ w) @ w) @ w), *args)
    schedule = plan_schedule(closed, [closed.jaxpr.eqns[i : i + 2] for i in (0, 2, 4)], ())
    assert len({str(subprogram.jaxpr) for subprogram in schedule.subprograms}) == 1
    monkeypatch.setattr(sequential, "temporary_bytes", lambda eqns, returned, **_: len(eqns) << 20)
    monkeypatch.setattr(sequential, "divide", lambda eqns, *_: (eqns[:2], eqns[2:]) if len(eqns) > 2 else None)
    found = SequentialExecutable(closed, (), "stack", None, limit=1 << 20)
    assert len(found.schedule.subprograms) == 3 and len(found.programs) == 2  # the first subprogram donates nothing
    assert_agree(found.call(*args), jax.jit(jaxpr_as_fun(closed))(*args))


@pytest.mark.parametrize(("mib", "n"), [(61, 1), (63, 2)])
def test_what_was_compiled_is_cut_only_if_its_block_is_given_back(monkeypatch, using_machine, mib, n):
    using_machine(glibc=(2, 36), n_cores=1)
    closed = graph_of(lambda x, w: jnp.tanh(jnp.tanh(x @ w) @ w), X, WEIGHTS[0])
    needed = [mib << 20]
    monkeypatch.setattr(sequential, "_temporary_bytes", lambda _: needed.pop() if needed else 0)
    monkeypatch.setattr(sequential, "temporary_bytes", lambda eqns, returned, **_: len(eqns) << 23)
    monkeypatch.setattr(sequential, "divide", lambda eqns, *_: (eqns[:2], eqns[2:]))
    assert len(SequentialExecutable(closed, (), "stack", None, limit=60 << 20).schedule.subprograms) == n


def test_a_subprogram_is_one_call_that_returns_what_it_was_given_as_it_is():
    table = jnp.arange(4.0)
    closed = graph_of(lambda x, y: (y, jnp.sin(x) + table, x, table, 1.0 * 2, jnp.cos(x)), table, table + 1)
    found = SequentialExecutable(closed, (0,), "subprogram", None, limit=machine().kept_bytes)
    ((program,),) = (programs.values() for programs in found.programs.values())
    traced = program.trace(*closed.in_avals).jaxpr
    assert [eqn.params["name"] for eqn in traced.eqns] == ["subprogram"]  # its equations are not traced again
    assert traced.jaxpr.outvars[0] is traced.jaxpr.invars[1] and traced.jaxpr.outvars[2] is traced.jaxpr.invars[0]
    want = jax.jit(jaxpr_as_fun(closed))(table, table + 1)
    assert_agree(found.call(jnp.arange(4.0), table + 1), want)


def test_what_is_computed_early_is_divided():
    closed = graph_of(lambda x, *ws: functools.reduce(lambda y, w: y @ jnp.sort(w), ws, x), *[jnp.ones((64, 64))] * 9)
    eqns, known = closed.jaxpr.eqns, set(closed.jaxpr.invars)
    one, outvars = 64 * 64 * 4, set(closed.jaxpr.outvars)
    assert (
        subprograms.temporary_bytes(eqns, outvars, machine().kept_bytes) == 9 * one
    )  # all that is sorted, and a product
    halves = divide(eqns, outvars, known, 4 * one)
    assert halves is not None
    left, right = halves
    assert len(left) == len(right) == len(eqns) // 2


def test_a_few_simple_equations_are_done_again_in_the_next_subprogram():
    def fn(x, w):
        kept = []
        for _ in range(4):
            inner = jnp.tanh(x @ w)
            slope = 0.5 * (1.0 + inner)
            x = x * slope - inner
            kept.append((inner, slope))
        for inner, slope in reversed(kept):
            x = (x @ w) * slope + inner * x
        return x

    x = jnp.ones((64, 64))
    closed = graph_of(fn, x, x)
    eqns, outvars = closed.jaxpr.eqns, set(closed.jaxpr.outvars)
    left, right = divide(eqns, outvars, set(closed.jaxpr.invars), 64 * 64 * 4)
    made = {var: eqn.primitive.name for eqn in left for var in eqn.outvars}
    own = {var for eqn in right for var in eqn.outvars}
    read = {atom for eqn in right for atom in eqn.invars if not isinstance(atom, Literal)} - own
    crossing = [made[var] for var in read if var in made]
    assert crossing.count("tanh") >= 2 and set(crossing) <= {"tanh", "dot_general", "sub"}  # no slope
    schedule = plan_schedule(closed, [left, right], ())
    assert_agree(run_subprograms(schedule, (x, x)), jax.jit(jaxpr_as_fun(closed))(x, x))


@pytest.mark.slow
def test_values_between_subprograms_are_let_go():
    run = ja.jit(step)
    out = run(WEIGHTS, X)
    jax.block_until_ready(out)
    gc.collect()
    before = len(jax.live_arrays())
    for _ in range(3):
        out = run(WEIGHTS, X)
    jax.block_until_ready(out)
    gc.collect()
    assert len(jax.live_arrays()) == before


@pytest.mark.slow
def test_each_kind_of_call_has_programs_of_its_own():
    calls = []

    @functools.partial(ja.jit, static_argnames="scale", donate_argnames="weights")
    def scaled(weights, x, scale=1.0, *, bias=None):
        calls.append(scale)
        return step(weights, x * scale if bias is None else x * scale + bias)

    def want(weights, x, scale=1.0, bias=None):
        return jax.jit(step)(weights, x * scale if bias is None else x * scale + bias)

    def copies():
        return jax.tree.map(jnp.copy, WEIGHTS)

    for _ in range(2):
        given = copies()
        assert_agree(scaled(given, X), want(WEIGHTS, X))
        assert all(w.is_deleted() for w in given)
        assert_agree(scaled(copies(), X, 2.0), want(WEIGHTS, X, 2.0))
        assert_agree(scaled(x=X, weights=copies(), scale=3.0), want(WEIGHTS, X, 3.0))
        assert_agree(scaled(copies(), X, bias=0.5), want(WEIGHTS, X, bias=0.5))
        assert_agree(scaled(copies(), X[:64]), want(WEIGHTS, X[:64]))
        assert_agree(scaled(copies(), np.asarray(X)), want(WEIGHTS, X))
    assert len(calls) == 5
    scaled.clear_cache()
    assert_agree(scaled(copies(), X), want(WEIGHTS, X))


@pytest.mark.slow
def test_arrays_that_were_put_on_a_device_have_as_many_programs():
    def n_lowered(*args):
        lowered = []
        listen = lambda event, *_, **__: lowered.append(event) if "jaxpr_to_mlir" in event else None
        jax.monitoring.register_event_duration_secs_listener(listen)
        try:
            results = ja.jit(lambda weights, x: step(weights, x))(*args)
        finally:
            jax.monitoring.unregister_event_duration_listener(listen)
        return len(lowered), results

    put = jax.device_put((WEIGHTS, X), jax.devices()[0])
    (n, want), (n_put, got) = n_lowered(WEIGHTS, X), n_lowered(*put)
    assert n_put == n >= 2
    assert all(x.committed for x in jax.tree.leaves(got))
    assert_agree(got, want)


@pytest.mark.slow
def test_the_settings_in_force_choose():
    run = ja.jit(step)
    with ja.config(passes=()):
        assert "opt-barrier" not in run.lower(WEIGHTS, X).compile().as_text()
        assert_agree(run(WEIGHTS, X), jax.jit(step)(WEIGHTS, X), rtol=1e-7)
    assert "opt-barrier" in run.lower(WEIGHTS, X).compile().as_text()
    assert_agree(run(WEIGHTS, X), jax.jit(step)(WEIGHTS, X))


def test_under_an_outer_jit_it_is_the_same_program():
    def n_lines(fn):
        text = jax.jit(lambda weights, x: fn(weights, x)).lower(WEIGHTS, X[:256]).compile().as_text()
        return [line.split("metadata")[0].split(" = ")[1][:60] for line in text.splitlines() if " = " in line]

    assert n_lines(ja.jit(step)) == n_lines(jax.jit(step))


def test_on_another_platform_it_is_the_same_graph(monkeypatch):
    monkeypatch.setattr(jit_module.jax, "default_backend", lambda: "tpu")
    assert ja.jit(step).lower(WEIGHTS, X).as_text() == jax.jit(step).lower(WEIGHTS, X).as_text()


def test_disabled_jit_runs_the_function():
    with jax.disable_jit():
        assert_agree(ja.jit(lambda x: x * 2.0)(X), X * 2.0)


def test_an_error_of_the_function_is_its_own():
    def fails(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ja.jit(fails)(X)
    with pytest.raises(TypeError, match="not a valid JAX"):
        ja.jit(lambda x: "text")(X)


@pytest.mark.slow
def test_an_executable_is_cut_and_donates():
    closed = graph_of(lambda *args: jax.tree.leaves(step(args[:-1], args[-1])), *WEIGHTS, X)
    executable = Executable(closed, donated=range(len(WEIGHTS)))
    given = jax.tree.map(jnp.copy, WEIGHTS)
    assert_agree(executable.call(*given, X), jax.tree.leaves(jax.jit(step)(WEIGHTS, X)))
    assert all(w.is_deleted() for w in given) and len(executable.sequential.schedule.subprograms) == 2
    assert [result.name for result in executable.tuned.results] == list(BY_DEFAULT)
    inside = jax.jit(lambda *args: executable.call(*args))
    assert "optimization_barrier" not in inside.lower(*WEIGHTS, X).as_text()


def test_explain_says_what_each_pass_did():
    first, *passes, subprograms_line, memory_line = ja.jit(step).explain(WEIGHTS, X).passes
    assert first == "step on cpu" and [line.split(":")[0].strip() for line in passes] == list(BY_DEFAULT)
    assert subprograms_line.strip().startswith("subprograms: several programs: temporaries of about ")
    assert memory_line.strip() == "keep_freed_memory: what programs free stays with the process"
    assert ja.jit(step).explain(WEIGHTS, X[:8]).passes == ("step: no passes, the graph makes nothing large",)
    with ja.config(passes=()):
        assert ja.jit(step).explain(WEIGHTS, X).passes == ("step: no passes, none on cpu under these settings",)
    x = ja.ones(256, 256, requires_grad=True)
    lowered = ja.compile(lambda x: (x @ x.T).sum()).explain(x).passes
    assert {"forward on cpu", "backward on cpu"} < set(lowered) and "subprograms: one program: " in str(lowered)


@pytest.mark.slow
def test_what_is_donated_is_counted_without_what_is_static():
    @functools.partial(ja.jit, static_argnums=(0, -1), donate_argnums=(1,))
    def scaled(n, weights, x, m):
        return step(weights, x * n * m)

    given = jax.tree.map(jnp.copy, WEIGHTS)
    assert_agree(scaled(2, given, X, 1), jax.jit(step)(WEIGHTS, X * 2))
    assert all(w.is_deleted() for w in given) and not X.is_deleted()
    with pytest.raises((RuntimeError, ValueError), match="deleted"):
        scaled(2, given, X, 1)


@pytest.mark.slow
def test_one_subprogram_takes_and_returns_what_the_graph_does():
    def fn(unused, x, w):
        return x.sum(), jnp.sort(x) @ w, x, x

    args = jnp.ones(3), X, WEIGHTS[0]
    closed = graph_of(fn, *args)
    found = SequentialExecutable(closed, (1,), "sorted", None, limit=1 << 20)
    given = jnp.copy(X)
    assert_agree(found.call(args[0], given, args[2]), jax.jit(fn)(*args))
    assert len(found.schedule.subprograms) == 1 and given.is_deleted()
