"""A pass that fails leaves the graph as it was and says so; one of the user's raises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.backend.cpu.batch import sharded
from jaxaot.backend.cpu.memory import sequential
from jaxaot.passes import pipeline
from jaxaot.passes.pipeline import register_pass, run_passes

X = jnp.linspace(0.0, 1.0, 200_000).reshape(400, 500)


def fails(closed):
    raise ZeroDivisionError("a defect")


@pytest.fixture
def failing_pass(monkeypatch):
    """One of jaxaot's passes fails."""
    monkeypatch.setitem(pipeline._passes, "lowered_cse", fails)
    monkeypatch.setattr(pipeline, "_own", [*pipeline._own, fails])


@pytest.fixture
def failing_shape(monkeypatch):
    """One of jaxaot's passes returns a graph with other outputs."""
    wrong = lambda closed: jax.make_jaxpr(lambda *args: args[0])(*closed.in_avals)
    monkeypatch.setitem(pipeline._passes, "lowered_cse", wrong)
    monkeypatch.setattr(pipeline, "_own", [*pipeline._own, wrong])


@pytest.mark.parametrize("kind", ["failing_pass", "failing_shape"])
def test_a_pass_that_fails_changes_nothing_and_is_logged_once(kind, request, failed_passes):
    request.getfixturevalue(kind)
    for fn in (lambda x: (x * 2).sum(), lambda x: (x * 3).sum()):
        np.testing.assert_allclose(ja.jit(fn)(X), fn(X), rtol=1e-6)
        np.testing.assert_allclose(
            ja.compile(lambda x: (x * 4).sum())(ja.interop.from_jax(X)).jax(), (X * 4).sum(), rtol=1e-6
        )
    [said] = set(failed_passes)
    assert "The pass `lowered_cse` failed" in said
    assert len(failed_passes) == 1
    failed_passes.clear()


def test_where_graphs_are_checked_it_raises(failing_pass):
    with ja.config(check_graphs=True), pytest.raises(ZeroDivisionError, match="a defect"):
        ja.jit(lambda x: (x * 2).sum())(X)


def test_a_pass_of_the_user_raises():
    closed = jax.make_jaxpr(jnp.sin)(1.0)
    with pytest.raises(ZeroDivisionError):
        run_passes(closed, (fails,))
    was = pipeline._passes["inline"]
    register_pass("inline", fails)
    try:
        with pytest.raises(ZeroDivisionError):
            run_passes(closed, ("inline",))
    finally:
        register_pass("inline", was)


def test_shards_subprograms_and_delays_that_fail(monkeypatch, failed_passes):
    for module, name in ((sharded, "plan_shards"), (sequential, "temporary_bytes"), (sequential, "delay")):
        monkeypatch.setattr(module, name, lambda *args, **kwargs: fails(args))

    def fn(x):
        for _ in range(5):
            x = jnp.tanh(x @ x.T @ x / 1e5)
        return x.sum()

    np.testing.assert_allclose(ja.jit(fn)(X), jax.jit(fn)(X), rtol=1e-5)
    assert all("failed with ZeroDivisionError" in said for said in failed_passes)
    failed_passes.clear()
