"""What XLA on CPU copies around its kernels of convolutions."""

import jax
import numpy as np
import pytest

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
