"""PyTorch's old spellings: constructors that take sizes or values, and the norms that are not in `nn.functional`."""

import numpy as np
import pytest

import jaxaot as ja


def test_a_constructor_takes_sizes_or_a_sequence():
    assert ja.Tensor().shape == (0,) and ja.Tensor(2, 3).shape == (2, 3) and ja.Tensor(ja.Size([2])).shape == (2,)
    for values in ([1, 2], (1, 2), range(1, 3), np.array([1, 2])):
        made = ja.Tensor(values)
        assert made.tolist() == [1, 2] and made.dtype == ja.float32
    x = ja.zeros(2)
    ja.Tensor(x).add_(1)
    assert x.tolist() == [1, 1]
    with pytest.raises(ja.errors.TensorTypeError, match="sizes or a sequence, not float"):
        ja.Tensor(2.5)
    with pytest.raises(ja.errors.TensorTypeError, match="expected a tensor of float32"):
        ja.Tensor(ja.tensor([1]))


def test_new_has_the_dtype_of_its_tensor():
    x = ja.zeros(3, dtype=ja.int32)
    assert x.new().shape == (0,) and x.new(0, 3).shape == (0, 3)
    assert x.new([1, 2]).tolist() == [1, 2] and x.new([1, 2]).dtype == ja.int32


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
def test_norms_with_statistics_behind_weight_and_bias(name):
    x, weight, bias = ja.randn(2, 3, 4), ja.tensor([1.0, 2.0, 3.0]), ja.tensor([0.0, 1.0, 2.0])
    mean, variance, also_mean, also_variance = ja.zeros(3), ja.ones(3), ja.zeros(3), ja.ones(3)
    got = getattr(ja, name)(x, weight, bias, mean, variance, True, 0.1, 1e-5, False)
    wanted = getattr(ja.nn.functional, name)(x, also_mean, also_variance, weight, bias, True, 0.1, 1e-5)
    assert ja.equal(got, wanted) and ja.equal(mean, also_mean) and ja.equal(variance, also_variance)


def test_a_view_of_another_dtype_has_no_gradient_nor_one_of_the_same():
    x = ja.ones(4, requires_grad=True) * 1
    for dtype in (ja.float32, ja.float16):
        y = x.view(dtype)
        assert not y.requires_grad and y.data_ptr() == x.data_ptr()


def test_sizes_below_zero_broadcast_to_nothing():
    with pytest.raises(RuntimeError, match="negative dimension -12"):
        ja.broadcast_shapes([1, 1, -12])
    with pytest.raises(RuntimeError, match="one or more dimensions"):
        ja.view_as_complex(ja.tensor(1.0))
