"""Bytes against time: the frontier falls, holds the policies above it, and can be shown."""

import jax
import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot.errors import BudgetError
from tests.partition.programs import gpt


@pytest.fixture(scope="module")
def frontier():
    loss, args, n_parameters = gpt(n_layers=1, width=32, length=16)
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args]
    return ja.estimate.pareto(
        lambda parameters, *data: loss(*parameters, *data), specs[:n_parameters], *specs[n_parameters:]
    )


@pytest.mark.slow
def test_more_bytes_take_less_time(frontier):
    sizes = [point.saved_bytes for point in frontier.points]
    times = [point.recompute_seconds for point in frontier.points]
    assert len(sizes) > 10
    assert sizes == sorted(set(sizes)) and times == sorted(set(times), reverse=True)
    assert sizes[0] == 0 and times[-1] == 0
    assert all(point.least_seconds <= point.recompute_seconds for point in frontier.points)


@pytest.mark.slow
def test_no_policy_lies_below_the_frontier(frontier):
    assert {point.label for point in frontier.policies} == {"save_all", "min_cut", "save_matmuls", "save_nothing"}
    for point in frontier.policies:
        assert frontier.at(point.saved_bytes).least_seconds <= point.recompute_seconds * (1 + 1e-9)
    with pytest.raises(BudgetError, match="Nothing saves at most"):
        frontier.at(-1)


@pytest.mark.slow
def test_the_default_is_the_fastest_that_saves_no_more(frontier):
    (default,) = [point for point in frontier.policies if point.label == "min_cut"]
    best = frontier.at(default.saved_bytes)
    assert default.recompute_seconds <= best.recompute_seconds * (1 + 1e-9)
    assert default.peak_bytes <= best.peak_bytes


def test_shown_as_table_and_picture(frontier):
    text = str(frontier)
    assert "save_matmuls" in text and "recomputing" in text and "MiB" in text
    pytest.importorskip("matplotlib")
    axes = frontier.plot()
    assert axes.get_xlabel() == "saved between forward and backward (MiB)"
    html = frontier._repr_html_()
    assert html.startswith("<img") and "<pre>" in html


def test_of_tensors():
    w = ja.randn(8, 8, requires_grad=True)
    frontier = ja.estimate.pareto(lambda x: (x @ w).tanh().exp().sum(), ja.randn(4, 8), n=4)
    assert frontier.points[0].saved_bytes < frontier.points[-1].saved_bytes
    assert frontier.points[-1].recompute_seconds == 0
    assert frontier.seconds > 0 and jnp.isfinite(frontier.seconds)


def test_the_timeline_of_a_partition_is_shown():
    w = ja.randn(64, 64, requires_grad=True)
    parts = ja.trace(lambda x: (x @ w).tanh().exp().sum(), ja.randn(4, 64)).joint().partition(memory_budget=0.5)
    assert str(parts.timeline).startswith("peak ")
    assert "recomputing takes" in str(parts.plan) and "the least there is" in str(parts.plan)
    assert "peak " in str(ja.explain(lambda x: (x @ w).tanh().sum(), ja.randn(4, 64)))
    pytest.importorskip("matplotlib")
    assert parts.timeline.plot().get_ylabel() == "in use (MiB)"
    assert parts.timeline._repr_html_().startswith("<img")
