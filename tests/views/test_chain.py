"""View steps: a step's geometry and its function of values say the same."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot.errors import ViewError
from jaxaot.views.chain import (
    AsStrided,
    Diagonal,
    Expand,
    Geometry,
    Permute,
    Reshape,
    Select,
    Slice,
    Squeeze,
    Unfold,
    Unsqueeze,
    apply_chain,
    chain_starts,
    chain_template,
)
from jaxaot.views.layout import contiguous_stride, memory_places


def random_step(choose, geometry):
    """Returns a step that fits a tensor, or None."""
    size = geometry.size
    if not size:
        return choose.choice((Unsqueeze(0), Expand((2,))))
    axis = choose.randrange(len(size))
    n = size[axis]
    match choose.randrange(10):
        case 0:
            return Select(axis, choose.randrange(n)) if n else None
        case 1:
            start, step = choose.randint(0, n), choose.choice((1, 1, 2, 3))
            return Slice(axis, start, choose.randint(0, -(-(n - start) // step)), step)
        case 2:
            order = list(range(len(size)))
            choose.shuffle(order)
            return Permute(tuple(order))
        case 3:
            return Unsqueeze(choose.randint(0, len(size)))
        case 4:
            ones = tuple(a for a, n in enumerate(size) if n == 1)
            return Squeeze(ones) if ones else None
        case 5:
            return Expand((choose.choice((1, 2)), *(3 if n == 1 else n for n in size)))
        case 6 if len(size) > 1:
            first, second = choose.sample(range(len(size)), 2)
            return Diagonal(choose.choice((-1, 0, 0, 1)), first, second)
        case 7:
            length = choose.randint(1, n) if n else 0
            return Unfold(axis, length, choose.randint(1, 2)) if n else None
        case 8:
            return Reshape((int(np.prod(size)),))
        case _:
            return Reshape((*size[:axis], n // 2, 2, *size[axis + 1 :])) if n % 2 == 0 and n else None


def chains(n):
    for seed in range(n):
        choose = random.Random(seed)
        size = tuple(choose.choice((1, 2, 3, 4)) for _ in range(choose.randrange(4)))
        geometry = Geometry(size, contiguous_stride(size), 0)
        chain = []
        for _ in range(choose.randint(1, 6)):
            step = random_step(choose, geometry)
            if step is None or np.prod(geometry.size) > 500:
                continue
            try:
                geometry = step.geometry(geometry)
            except ViewError:
                continue
            chain.append(step)
        yield seed, size, tuple(chain), geometry


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_values_and_geometry_agree(n):
    for seed, size, chain, geometry in chains(n):
        x = jnp.arange(int(np.prod(size)), dtype=jnp.int32).reshape(size)
        np.testing.assert_array_equal(apply_chain(chain, x), memory_places(*geometry), f"seed {seed}: {chain}")


@pytest.mark.slow
def test_a_form_with_starts_is_the_chain():
    for seed, size, chain, geometry in chains(40):
        x = jnp.arange(int(np.prod(size)), dtype=jnp.int32).reshape(size)
        starts = jnp.asarray(chain_starts(chain), jnp.int32)
        template = chain_template(chain)
        assert chain_template(template) == template and not chain_starts(template).any()
        np.testing.assert_array_equal(
            apply_chain(template, x, starts), memory_places(*geometry), f"seed {seed}: {chain}"
        )


def test_chains_that_differ_in_numbers_have_one_form():
    first, second = (Select(0, 1), Slice(0, 2, 3)), (Select(0, 4), Slice(0, 0, 3))
    assert chain_template(first) == chain_template(second) and first != second
    assert chain_starts(first).tolist() == [1, 2]


@pytest.mark.slow
def test_gradients_flow_through_the_values():
    for seed, size, chain, geometry in chains(15):
        shape = geometry.size
        pulled = jax.vjp(lambda x, chain=chain: apply_chain(chain, x), jnp.zeros(size))[1](jnp.ones(shape))[0]
        counts = np.bincount(memory_places(*geometry).ravel(), minlength=int(np.prod(size))).reshape(size)
        np.testing.assert_array_equal(pulled, counts, f"seed {seed}")


def test_as_strided_finds_the_elements_of_its_parent():
    # the parent is a transposed slice: as_strided goes by memory, not by the parent's dims
    parent = Geometry((3, 2), (1, 4), 1)  # columns 1..3 of a (2, 4) tensor, transposed
    memory = np.arange(8, dtype=np.int32)
    x = jnp.asarray(memory[memory_places(*parent)])
    step = AsStrided((2, 2), (4, 1), 2, parent)
    np.testing.assert_array_equal(step.apply(x), [[2, 3], [6, 7]])
    outside = AsStrided((2,), (1,), 3, parent)
    np.testing.assert_array_equal(outside.apply(x), [3, 0])  # place 4 is not shown by the parent: no gradient there


def test_a_view_that_strides_cannot_express():
    with pytest.raises(ViewError, match=r"view size is not compatible .* Use \.reshape\(\.\.\.\) instead"):
        Reshape((6,)).geometry(Geometry((3, 2), (1, 3), 0))


@pytest.mark.oracle
def test_geometry_is_that_of_torch():
    torch = pytest.importorskip("torch")

    def stop_of(step):
        return step.start + (step.n - 1) * step.step + 1 if step.n else step.start

    apply = {
        Select: lambda t, s: t.select(s.axis, s.index),
        Slice: lambda t, s: t[(slice(None),) * s.axis + (slice(s.start, stop_of(s), s.step),)],
        Permute: lambda t, s: t.permute(s.order),
        Unsqueeze: lambda t, s: t.unsqueeze(s.axis),
        Squeeze: lambda t, s: t.squeeze(s.axes),
        Expand: lambda t, s: t.expand(s.size),
        Diagonal: lambda t, s: t.diagonal(s.shift, s.axis1, s.axis2),
        Unfold: lambda t, s: t.unfold(s.axis, s.length, s.step),
        Reshape: lambda t, s: t.view(s.size),
    }  # fmt: skip
    for seed, size, chain, _ in chains(800):
        geometry = Geometry(size, contiguous_stride(size), 0)
        tensor = torch.zeros(size)
        for step in chain:
            geometry, tensor = step.geometry(geometry), apply[type(step)](tensor, step)
            theirs = Geometry(tuple(tensor.shape), tensor.stride(), tensor.storage_offset())
            assert geometry == theirs, (seed, chain, step)
