"""What the compiler of a TPU keeps on the chip, or computes with what it is made of: neither takes memory."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.roofline import TARGETS, assuming
from jaxaot.partition.copies import bytes_around_scatters
from jaxaot.partition.epilogues import packed_masks, unwritten
from jaxaot.partition.on_chip import Life, placed_on_chip
from jaxaot.partition.timeline import forward_timeline, living_at, memory_timeline

MIB = 2**20


def typed(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype)


def conv(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def cnn(batch, side, width, depth=4):
    def loss(kernels, x):
        for kernel in kernels:
            x = jax.nn.relu(conv(x, kernel))
        return (x.astype(jnp.float32) ** 2).mean()

    return loss, ([typed(3, 3, width, width)] * depth, typed(batch, side, side, width))


def cut(loss, types, target="v5e"):
    with ja.config(costs=target):
        return ja.trace(loss, *types).joint().partition()


def test_what_is_in_use_the_shortest_lies_on_the_chip():
    lives = {"long": Life(0, 9, 60), "brief": Life(2, 3, 60), "later": Life(5, 6, 60), "large": Life(4, 4, 200)}
    taken = np.zeros(10, dtype=np.int64)
    assert placed_on_chip(lives, taken, 100) == {"brief", "later"}
    assert list(taken) == [0, 0, 60, 60, 0, 60, 60, 0, 0, 0]
    assert placed_on_chip({"long": lives["long"]}, taken, 120) == {"long"}


def test_only_what_is_saved_takes_memory_while_the_rest_fits_on_the_chip():
    parts = cut(*cnn(128, 32, 128))  # images of 32 MiB, of which three lie on the chip; the compiler says 98 MiB
    backward = [moment for moment in parts.timeline.moments if moment.side == "backward"]
    assert all(moment.bytes <= parts.timeline.held_bytes + moment.residual_bytes + 2 * MIB for moment in backward)
    nothing_there = dataclasses.replace(TARGETS["v5e"], on_chip=0)
    without = memory_timeline(dataclasses.replace(parts, target=nothing_there))
    assert without.peak_bytes >= parts.timeline.peak_bytes + 32 * MIB


def test_images_larger_than_the_chip_are_counted():
    loss, types = cnn(1024, 32, 128)
    parts = cut(loss, types)
    alone = memory_timeline(dataclasses.replace(parts, target=dataclasses.replace(TARGETS["v5e"], on_chip=0)))
    assert parts.timeline.peak_bytes > 0.95 * alone.peak_bytes


@pytest.mark.parametrize("batch", [128, 1024])
def test_values_at_the_peak_are_those_in_memory(batch):
    parts = cut(*cnn(batch, 32, 128))
    timeline = parts.timeline
    place = max(range(len(timeline.moments)), key=lambda i: timeline.moments[i].bytes)
    sizes = [var.aval.size * var.aval.dtype.itemsize for var, _ in living_at(parts, place)]
    assert sum(sizes) <= timeline.peak_bytes <= timeline.held_bytes + sum(sizes) + 2 * MIB + 2**30 * (batch > 128)


@pytest.mark.parametrize("has_loop", [True, False])
def test_a_loop_needs_room_on_the_chip_for_its_body(has_loop):
    def product(w, x):
        y = x @ w  # 48 MiB, in use while a loop runs whose body takes twice that
        z = lax.fori_loop(0, 3, lambda _, c: jnp.tanh(jnp.tanh(c @ w) @ w), x) if has_loop else 1
        return (y @ w + z).sum()

    with assuming(TARGETS["v5e"]):
        timeline = forward_timeline(jax.make_jaxpr(product)(typed(512, 512), typed(3 * 2**14, 512)))
    assert (timeline.moments[0].bytes >= timeline.held_bytes + 48 * MIB) == has_loop


def test_a_product_that_one_pointwise_equation_reads_is_not_written():
    def layers(w, x):
        y = jnp.tanh(x @ w)
        z = x @ w + 1  # read by what reads it in turn
        return y @ w, y, x @ w, z

    jaxpr = jax.make_jaxpr(layers)(typed(64, 64), typed(512, 64)).jaxpr
    products = [eqn.outvars[0] for eqn in jaxpr.eqns if kind(eqn) is Kind.MATMUL]
    assert unwritten(jaxpr, lambda var: True) == {products[0], products[1]}
    assert not unwritten(jaxpr, lambda var: False)


@pytest.mark.parametrize(("side", "is_packed"), [(32, True), (64, False)])
def test_masks_are_words_of_bits_where_a_side_has_32_elements(side, is_packed):
    def mask(x, w):
        return conv(x, w) > 0, x > 0

    jaxpr = jax.make_jaxpr(mask)(typed(8, side, side, 16), typed(3, 3, 16, 16)).jaxpr
    made = next(eqn.outvars[0] for eqn in jaxpr.eqns if kind(eqn) is Kind.CONVOLUTION)
    assert packed_masks(jaxpr) == ({jaxpr.outvars[0]: made} if is_packed else {})


@pytest.mark.parametrize("is_slice", [True, False])
def test_a_slice_that_is_scattered_is_written_and_turned(is_slice):
    def scatter(x, y):
        added = y[:, :, :8] if is_slice else y.reshape(32, 64, 16)
        return jnp.zeros((32, 128, added.shape[2]), y.dtype).at[:, x].add(added)

    jaxpr = jax.make_jaxpr(scatter)(typed(64, dtype=jnp.int32), typed(32, 64, 16)).jaxpr
    views = {var: (jaxpr.invars[1],) for eqn in jaxpr.eqns if kind(eqn) is Kind.VIEW for var in eqn.outvars}
    found = bytes_around_scatters(jaxpr, lambda atom: atom.aval.size * 2, lambda var: views.get(var, (var,)))
    assert list(found.values()) == ([2 * 32 * 64 * 8 * 2] if is_slice else [])
