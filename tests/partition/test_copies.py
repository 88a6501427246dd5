"""What XLA on CPU copies around its kernels of convolutions."""

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.ir.walk import aval_bytes
from jaxaot.partition.copies import bytes_around_convolutions


@pytest.mark.parametrize(("size", "window", "copies"), [(1, 3, True), (4, 1, False)])
def test_the_gradient_of_a_kernel_larger_than_its_image_is_copied(size, window, copies):
    image, kernel = np.ones((2, size, size, 8), np.float32), np.ones((window, window, 8, 8), np.float32)

    def loss(kernel):
        pad, numbers = [(window // 2, window // 2)] * 2, ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(image, kernel, (1, 1), pad, dimension_numbers=numbers).sum()

    graph = jax.make_jaxpr(jax.grad(loss))(kernel).jaxpr
    around = bytes_around_convolutions(graph, lambda atom: aval_bytes(atom.aval))
    gradient = max(i for i in around if graph.eqns[i].outvars[0].aval.size == kernel.size)
    assert (around[gradient] >= kernel.nbytes) == copies


def test_a_convolution_inside_a_call_is_copied_as_it_is_outside():
    image, kernel = np.ones((2, 3, 6, 6), np.float32), np.ones((4, 3, 3, 3), np.float32)
    convolve = lambda image, kernel: jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME")
    called = jax.custom_jvp(convolve)
    called.defjvp(lambda primals, tangents: (called(*primals), called(primals[0], tangents[1])))
    (outside,), (inside,) = (
        bytes_around_convolutions(jax.make_jaxpr(fn)(image, kernel).jaxpr, lambda atom: aval_bytes(atom.aval)).values()
        for fn in (convolve, called)
    )
    assert inside == outside > 0


def test_a_step_with_convolutions_in_autocast_is_cut():
    ja.manual_seed(0)
    net = ja.nn.Sequential(
        ja.nn.Conv2d(1, 8, 3, padding=1), ja.nn.BatchNorm2d(8), ja.nn.ReLU(inplace=True), ja.nn.MaxPool2d(2)
    )  # fmt: skip
    with ja.autocast("cpu", dtype=ja.bfloat16):
        partition = ja.trace(lambda x: net(x).float().sum(), ja.rand(32, 1, 8, 8)).joint().partition()
    assert partition.timeline.peak_bytes > 0
