"""What values take in the memory of a device, and in which kernel they are computed."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxaot as ja
from jaxaot.ir.roofline import TARGETS
from jaxaot.partition.footprint import compact_bytes, footprint_on
from jaxaot.partition.timeline import memory_timeline

MIB = 2**20


def typed(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype)


def conv(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@pytest.mark.parametrize(
    ("shape", "held", "image"),  # in MiB, as the compiler for v5e lays them out (jax 0.10.2)
    [
        ((32, 112, 112, 64), 56, 98),
        ((32, 56, 56, 128), 24.5, 24.5),
        ((32, 128, 128, 4), 4, 16),
        ((32, 128, 128, 32), 32, 128),
    ],
)
def test_images_are_padded_to_the_tiles_of_a_tpu(shape, held, image):
    kernel = typed(3, 3, shape[-1], shape[-1])
    graph = jax.make_jaxpr(conv)(typed(*shape), kernel).jaxpr
    taking = footprint_on(TARGETS["v5e"], graph)
    assert compact_bytes(typed(*shape)) == held * MIB == taking.held(typed(*shape))
    assert taking.value(typed(*shape)) == image * MIB
    assert taking.copied(graph) == (image * MIB if image > held else 0)  # kernels lie as they are read
    elsewhere = footprint_on(TARGETS["h100"], graph)
    assert elsewhere.value(typed(*shape)) == typed(*shape).size * 2 and not elsewhere.copied(graph)


def test_a_partition_is_estimated_for_the_device_that_it_was_cut_for():
    def loss(w, x):
        return (jax.nn.relu(conv(x, w)).astype(jnp.float32) ** 2).mean()

    types = typed(3, 3, 64, 64), typed(32, 224, 224, 64)  # more than lies on a chip
    traced = ja.trace(loss, *types)
    peaks = {}
    for kind in ("v5e", "h100"):
        with ja.config(costs=kind):
            parts = traced.joint().partition()
        peaks[kind] = memory_timeline(parts).peak_bytes  # outside of the block
        assert peaks[kind] == ja.estimate.profile(loss, *types, target=kind).peak_bytes
    assert peaks["v5e"] > 1.5 * peaks["h100"]


def test_what_one_kernel_of_a_tpu_computes_and_reads_takes_no_memory():
    def loss(w, x):
        return jax.nn.gelu(x @ w).sum()

    w, x = typed(64, 64), typed(2**21, 64)  # more than lies on the chip
    with ja.config(costs="v5e"):
        parts = ja.trace(loss, w, x).joint().partition()
    unit = 2 * x.size
    backward = [m.bytes for m in parts.timeline.moments if m.side == "backward"]
    # x, what is saved, and the cotangent that the derivative of gelu is computed into, with all of its steps inside
    assert max(backward) <= 3 * unit + 4 * 2 * w.size + 1024
