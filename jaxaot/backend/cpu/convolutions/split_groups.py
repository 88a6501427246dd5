"""Grouped convolutions group by group.

XLA on CPU computes them all on one core, and the gradients of their kernels, convolutions with groups of batches, in a
loop that is a hundred times slower than the convolutions of the groups.
"""

from __future__ import annotations

from typing import Any

from jax import lax

from jaxaot._typing import Array, ClosedJaxpr
from jaxaot.backend.cpu.machine import machine
from jaxaot.passes.decompose import decompose_some


def split_groups(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with a convolution for each group of a grouped one.

    y: f32[16,32,8] = conv_general_dilated[    →    x0 = slice x;  x1 = slice x;  w0 = slice w;  w1 = slice w
      feature_group_count=2] x w                    y0: f32[16,32,4] = conv_general_dilated x0 w0
                                                    y1: f32[16,32,4] = conv_general_dilated x1 w1
                                                    y = concatenate y0 y1
    """
    return decompose_some(closed, "conv_general_dilated", _has_few_groups, _group_by_group)


def _has_few_groups(image: Array, kernel: Array, **params: Any) -> bool:
    counts = params["feature_group_count"], params["batch_group_count"]
    return 1 < max(counts) <= machine().max_groups and min(counts) == 1


def _group_by_group(image: Array, kernel: Array, **params: Any) -> Any:
    numbers = params["dimension_numbers"]
    n_groups = max(params["feature_group_count"], params["batch_group_count"])
    cut = numbers.lhs_spec[1] if params["feature_group_count"] > 1 else numbers.lhs_spec[0]
    alone = {**params, "feature_group_count": 1, "batch_group_count": 1}
    images = lax.split(image, [image.shape[cut] // n_groups] * n_groups, cut)
    kernels = lax.split(kernel, [kernel.shape[numbers.rhs_spec[0]] // n_groups] * n_groups, numbers.rhs_spec[0])
    results = [lax.conv_general_dilated_p.bind(x, k, **alone) for x, k in zip(images, kernels, strict=True)]
    return lax.concatenate(results, numbers.out_spec[1])
