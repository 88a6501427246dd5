"""Plans for devices that are not there: the compiler's own analysis beside the estimate; an error without it."""

import importlib.util

import jax
import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot.errors import ArgumentError, CompilerError, MissingExtraError
from jaxaot.profiling.devices import absent_device
from tests.profiling.models import mlp, typed


@pytest.mark.parametrize(("target", "extra"), [("v5e", "tpu-plan"), ("h100", "gpu-plan")])
def test_without_the_compiler_the_error_names_the_extra(target, extra, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=rf"pip install \"jaxaot\[{extra}\]\".*ja\.estimate\.profile"):
        ja.estimate.plan(lambda x: x.sum(), typed(3), target=target)


def test_devices_that_there_are_not():
    with pytest.raises(ArgumentError, match=r"no device 'abacus'.*v5e.*h100"):
        ja.estimate.plan(lambda x: x.sum(), typed(3), target="abacus")
    with pytest.raises(ArgumentError, match=r"by name"):
        ja.estimate.plan(lambda x: x.sum(), typed(3), target=ja.estimate.Target("mine", 1e12, 1e12, 1e12, 1e12))


def test_the_extras_are_declared():
    import pathlib
    import tomllib

    text = (pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text()
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    assert {"tpu-plan", "gpu-plan"} <= set(extras)


@pytest.fixture(params=["v5e", "h100"])
def kind(request):
    try:
        absent_device(request.param)
    except (MissingExtraError, CompilerError) as error:
        pytest.skip(str(error))
    return request.param


@pytest.mark.compile_only
def test_the_compiler_and_the_estimate_agree(kind):
    loss, params = mlp(6, 1024)
    args = params, typed(65536, 1024), typed(65536, 1024)
    plan = ja.estimate.plan(loss, *args, target=kind, policy="save_all")
    assert [program.name for program in plan.programs] == ["forward", "backward"]
    assert all(program.argument_bytes > 0 for program in plan.programs)
    assert 0.5 < plan.peak_bytes / plan.estimated_bytes < 1.5
    assert plan.fits("100GiB") and not plan.fits("1GiB")
    assert f"compiled for {kind}" in str(plan) and "estimated from shapes" in str(plan)
    less = ja.estimate.plan(loss, *args, target=kind, memory_budget=0.2)
    assert less.saved_bytes < plan.saved_bytes and less.peak_bytes < plan.peak_bytes


@pytest.mark.compile_only
def test_forward_alone(kind):
    plan = ja.estimate.plan(
        lambda w, x: jnp.tanh(x @ w), typed(1024, 1024), typed(8192, 1024), target=kind, backward=False
    )
    assert [program.name for program in plan.programs] == ["forward"] and plan.saved_bytes == 0
    assert plan.programs[0].output_bytes >= 4 * 8192 * 1024


@pytest.mark.compile_only
def test_what_does_not_fit_on_a_tpu_is_refused():
    try:
        absent_device("v5e")
    except (MissingExtraError, CompilerError) as error:
        pytest.skip(str(error))
    big = jax.ShapeDtypeStruct((10**6, 10**5), jnp.float32)
    plan = ja.estimate.plan(lambda x: jnp.tanh(x).sum(), big, target="v5e")
    assert plan.refused and plan.peak_bytes is None and not plan.fits()
    assert "does not fit on v5e" in str(plan)
