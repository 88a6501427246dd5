"""Passes and options are those of the platform for which a program is lowered, which may have no device here."""

import functools
import re
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

import jaxaot as ja
from jaxaot.ir.roofline import TARGETS
from jaxaot.lower import jit, placed, platforms
from jaxaot.lower.platforms import platform_of
from jaxaot.rematerialize.call import RematCall

TYPES = tuple(jax.ShapeDtypeStruct(shape, "float32") for shape in ((256, 256), (512, 256)))


def loss(w, x):
    for _ in range(2):
        x = jnp.tanh(x @ w)
    return (x**2).sum()


step = ja.value_and_grad(loss)


class Absent:
    """A device of another platform, as far as jaxaot asks."""

    platform = "tpu"


class OnAbsent:
    """A sharding over such devices."""

    device_set = frozenset({Absent()})


class OfType:
    """A type with such a sharding."""

    shape, dtype, sharding = (2,), np.dtype(np.float32), OnAbsent()


@pytest.mark.parametrize("platform", ["tpu", "cuda", "cpu"])
def test_a_program_is_lowered_by_what_is_for_its_platform(platform):
    lowered = lambda fn: fn.trace(*TYPES).lower(lowering_platforms=(platform,)).as_text()
    plain = lowered(jax.jit(step)).replace("step", "value_and_grad")
    assert (lowered(ja.jit(step)) == plain) is (platform != "cpu"), "on CPU there are passes"


def test_a_program_for_several_platforms_has_the_passes_of_none():
    exported = jax.export.export(ja.jit(step), platforms=["cuda", "tpu", "cpu"])(*TYPES)
    assert exported.platforms == ("cuda", "tpu", "cpu")
    plain = jax.export.export(jax.jit(step), platforms=["cuda", "tpu", "cpu"])(*TYPES)
    operations = lambda found: re.sub(r"(?m)^#loc.*$|loc\(.*?\)+", "", found.mlir_module())
    assert operations(exported) == operations(plain)
    traced = ja.jit(step).trace(*TYPES)
    assert traced.lower().as_text() == ja.jit(step).lower(*TYPES).as_text() and traced.out_info[0].shape == ()


def test_the_platform_is_where_arguments_lie():
    here, cpu = jax.devices("cpu")[0], np.ones(2, np.float32)
    placed = jax.device_put(cpu, here)
    mesh = NamedSharding(Mesh([here], "x"), PartitionSpec())
    types = jax.ShapeDtypeStruct((2,), "float32", sharding=SingleDeviceSharding(here))
    for args in (
        (),
        (cpu,),
        (1.0,),
        (placed,),
        (types,),
        ({"w": jax.ShapeDtypeStruct((2,), "float32", sharding=mesh)},),
    ):
        assert platform_of(args, {}, {}) == "cpu"
    assert platform_of((cpu, OfType()), {}, {}) == platform_of((), {"x": OfType()}, {}) == "tpu"
    assert platform_of((placed, OfType()), {}, {}) == "cpu", "what comes first, as what lies on two is refused by JAX"
    assert platform_of((cpu,), {}, {"in_shardings": (None, OnAbsent())}) == "tpu"
    assert platform_of((placed,), {}, {"backend": "tpu"}) == platform_of((placed,), {}, {"device": Absent()}) == "tpu"
    with jax.default_device("tpu"):
        assert platform_of((cpu,), {}, {}) == "tpu" and platform_of((placed,), {}, {}) == "cpu"


def test_where_arrays_lie_on_several_platforms_each_call_is_looked_at(monkeypatch):
    fn = ja.jit(functools.partial(loss, np.eye(2, dtype=np.float32)))
    x = np.ones((2, 2), np.float32)
    expected = float(fn(x))
    seen, find = [], platform_of
    monkeypatch.setattr(jit, "are_several", lambda: True)
    monkeypatch.setattr(jit, "platform_of", lambda *given: (seen.append(1), find(*given))[1])
    fn = ja.jit(functools.partial(loss, np.eye(2, dtype=np.float32)))
    assert [float(fn(x)) for _ in range(3)] == [expected] * 3 and len(seen) == 3
    assert platforms.are_several() is False


def compile_options(platform):
    version = ja.jit(step)._current(platform)
    return version._compiler_options or {}, version._passes


def test_only_cpus_are_told_to_keep_barriers():
    assert "cse_barrier_expander" in compile_options("cpu")[0]["xla_disable_hlo_passes"]
    assert compile_options("tpu") == compile_options("several") == ({}, ())


FINISHED = RematCall._finished


def test_a_cut_is_made_for_the_devices_of_the_arguments(monkeypatch):
    made = []
    monkeypatch.setattr(
        placed, "first_device", lambda leaves: SimpleNamespace(platform="tpu", device_kind="TPU v5 lite")
    )
    monkeypatch.setattr(RematCall, "_finished", lambda call, parts, *a: made.append(parts) or FINISHED(call, parts, *a))

    def loss(x):
        return jax.nn.gelu(x @ x).sum()

    jax.make_jaxpr(ja.value_and_grad(loss, memory_budget=0.5))(jnp.ones((8, 8)))
    assert made[0].target is TARGETS["v5e"] and not any("skip_masked" in done for done in made[0].joint.passed)
