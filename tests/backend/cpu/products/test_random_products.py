"""Random programs of products of arrays of any axes: the passes keep their values and gradients."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot.passes.pipeline import run_passes
from tests.declared import BY_DEFAULT
from tests.rewritten import assert_rewritten
from tests.seeds import seeds

SIZES = {"a": 3, "b": 4, "c": 2, "d": 5, "e": 1}


def random_products(seed):
    """Returns the gradient of a program of `einsum`s, which sum, multiply and keep axes in any order, and arguments."""
    rng = np.random.default_rng(seed)

    def some_axes(axes):
        order = rng.permutation(list(axes))
        return "".join(order[: rng.integers(0, min(len(order), 4) + 1)])

    inputs = [some_axes(SIZES) for _ in range(rng.integers(2, 4))]
    made, steps = list(inputs), []
    for _ in range(rng.integers(1, 5)):
        left, right = (int(rng.integers(len(made))) for _ in range(2))
        out = some_axes(sorted({*made[left], *made[right]}))
        steps.append((f"{made[left]},{made[right]}->{out}", left, right, rng.choice(["", "tanh", "max", "twice"])))
        made.append(out)

    def loss(*arrays):
        arrays = list(arrays)
        for spec, left, right, then in steps:
            result = jnp.einsum(spec, arrays[left], arrays[right])
            result = result / math.sqrt(arrays[left].size * arrays[right].size / result.size)
            if then == "tanh":
                result = jnp.tanh(result)
            elif then == "max" and result.ndim:
                result = result - jax.lax.stop_gradient(result.max(-1, keepdims=True))
            elif then == "twice":
                result = result + result.sum()
            arrays.append(result)
        return sum(jnp.sin(array).sum() for array in arrays)

    shapes = [tuple(SIZES[axis] for axis in axes) for axes in inputs]
    args = [jax.device_put(rng.standard_normal(shape).astype(np.float32)) for shape in shapes]
    return jax.value_and_grad(loss, tuple(range(len(args)))), args


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", seeds(72, 3))
def test_random_products_keep_their_values_and_gradients(seed, everything_is_large):
    fn, args = random_products(seed)
    assert_rewritten(lambda closed: run_passes(closed, BY_DEFAULT, check=True), fn, *args, rtol=1e-5)
