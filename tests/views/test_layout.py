"""Layouts: overlap against enumeration; strides of views, clones and elementwise results against PyTorch."""

import pickle
import random

import numpy as np
import pytest

from jaxaot.views.layout import (
    broadcast_size,
    contiguous,
    contiguous_stride,
    dense_like,
    elementwise_layout,
    layout_of,
    memory_places,
    view_stride,
)

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def random_layouts(n, max_size=4, max_stride=9):
    for seed in range(n):
        choose = random.Random(seed)
        size = [choose.randint(0 if choose.random() < 0.1 else 1, max_size) for _ in range(choose.randrange(5))]
        yield layout_of(size, [choose.randint(0, max_stride) for _ in size], F32)


def places(layout):
    return memory_places(layout.size, layout.stride, 0).ravel()


def test_layouts_are_interned():
    assert layout_of([2, 3], [3, 1], "float32") is contiguous((2, 3), F32)
    assert pickle.loads(pickle.dumps(contiguous((2, 3), F32))) is contiguous((2, 3), F32)
    assert layout_of([2, 3], [3, 1], "float32") is not layout_of([2, 3], [3, 1], "int32")


def test_overlap_is_what_enumeration_says():
    n_overlapping = 0
    for layout in random_layouts(4000):
        shown = places(layout)
        expected = np.unique(shown).size < shown.size
        assert layout.is_overlapping == expected, layout
        n_overlapping += expected
    assert 500 < n_overlapping < 3500


def test_dense_is_what_enumeration_says():
    n_dense = 0
    for layout in random_layouts(3000, max_size=3, max_stride=6):
        shown = np.sort(places(layout))
        expected = np.array_equal(shown, np.arange(shown.size))
        assert layout.is_dense == expected, layout
        n_dense += expected
    assert n_dense > 200


def test_reach_is_the_last_place():
    for layout in random_layouts(500):
        assert layout.reach == (places(layout).max() + 1 if layout.numel else 0)


def test_views_keep_every_element_in_place():
    """Wherever `view_stride` gives strides, both layouts show the same places in the same order."""
    n_views = 0
    for seed in range(3000):
        choose = random.Random(seed)
        size, stride = random_strides(choose)
        wanted = random_reshape(choose, size)
        found = view_stride(size, stride, wanted)
        if found is not None:
            n_views += 1
            before = places(layout_of(size, stride, F32))
            np.testing.assert_array_equal(places(layout_of(wanted, found, F32)), before)
    assert n_views > 800


def random_strides(choose):
    """Returns sizes, and strides of a tensor that was permuted, sliced or expanded."""
    size = [choose.choice((1, 2, 3, 4)) for _ in range(choose.randrange(1, 5))]
    stride = list(contiguous_stride([n * choose.choice((1, 1, 1, 2)) for n in size]))
    if choose.random() < 0.4:
        order = list(range(len(size)))
        choose.shuffle(order)
        size, stride = [size[i] for i in order], [stride[i] for i in order]
    if choose.random() < 0.2:
        stride[choose.randrange(len(size))] = 0
    return tuple(size), tuple(stride)


def random_reshape(choose, size):
    numel, result = int(np.prod(size)), []
    while numel > 1:
        factor = choose.choice([f for f in range(2, numel + 1) if numel % f == 0])
        result.append(factor)
        numel //= factor
    for _ in range(choose.randrange(3)):
        result.insert(choose.randint(0, len(result)), 1)
    return tuple(result)


def test_broadcast_size():
    assert broadcast_size([(3, 1), (4,), ()]) == (3, 4)
    assert broadcast_size([(2,), (3,)]) is None
    assert broadcast_size([(0,), (1,)]) == (0,)
    assert broadcast_size([]) == ()


# -- PyTorch decides ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.mark.oracle
def test_view_stride_is_that_of_torch(torch):
    for seed in range(3000):
        choose = random.Random(seed)
        size, stride = random_strides(choose)
        wanted = random_reshape(choose, size)
        tensor = torch.empty(4096).as_strided(size, stride)
        try:
            expected = tensor.view(wanted).stride()
        except RuntimeError:
            expected = None
        assert view_stride(size, stride, wanted) == expected, (size, stride, wanted)


@pytest.mark.oracle
def test_contiguity_is_that_of_torch(torch):
    for layout in random_layouts(2000, max_size=3, max_stride=6):
        tensor = torch.empty(4096).as_strided(layout.size, layout.stride)
        assert layout.is_contiguous == tensor.is_contiguous(), layout


@pytest.mark.oracle
def test_clones_are_laid_out_as_torch_does(torch):
    for seed in range(2000):
        size, stride = random_strides(random.Random(seed))
        expected = torch.empty(4096).as_strided(size, stride)
        ours = dense_like(layout_of(size, stride, F32), F32)
        assert ours.stride == expected.clone().stride(), (size, stride)
        assert ours.stride == torch.empty_like(expected).stride(), (size, stride)


@pytest.mark.oracle
def test_elementwise_results_are_laid_out_as_torch_does(torch):
    dtypes = {F32: torch.float32, F64: torch.float64}
    for seed in range(3000):
        choose = random.Random(seed)
        size = tuple(choose.choice((1, 2, 3)) for _ in range(choose.randrange(1, 4)))
        layouts = [random_operand(choose, size) for _ in range(choose.randint(1, 2))]
        tensors = [torch.zeros(4096, dtype=dtypes[o.dtype]).as_strided(o.size, o.stride) for o in layouts]
        result = tensors[0].neg() if len(tensors) == 1 else tensors[0] + tensors[1]
        if len({o.dtype for o in layouts}) > 1:  # ATen first copies what it has to promote
            layouts = [o if o.dtype == F64 else dense_like(o, F64) for o in layouts]
        ours = elementwise_layout(tuple(layouts), tuple(result.shape), F32)
        assert ours.stride == result.stride(), (seed, layouts)


def random_operand(choose, size):
    """Returns a layout that broadcasts to `size`, with gaps and its dims in any order."""
    own = [n if choose.random() < 0.8 else 1 for n in size][choose.choice((0, 0, 0, 1)) :]
    order = list(range(len(own)))
    choose.shuffle(order)
    stride, step = [0] * len(own), 1
    for axis in order:
        stride[axis], step = step, step * own[axis] * choose.choice((1, 1, 2))
    return layout_of(own, stride, choose.choice((F32, F32, F64)))
