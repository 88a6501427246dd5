"""PyTorch's old spellings: constructors that take sizes or values, and the norms that are not in `nn.functional`."""

import copy
import pickle

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


def test_a_size_stays_one():
    size = ja.zeros(2, 3, 4).shape
    for part, wanted in (
        (size[:-1], [2, 3]),
        (size[:1] * 2, [2, 2]),
        (2 * size[:1], [2, 2]),
        (size + ja.Size([5]), [2, 3, 4, 5]),
    ):
        assert type(part) is ja.Size and list(part) == wanted
    assert size[-1] == 4 and size[:-1].numel() == 6 and ja.Size(iter([1, ja.tensor(2)])) == (1, 2)
    with pytest.raises(TypeError, match="index"):
        ja.Size(ja.ones(3))
    with pytest.raises(TypeError):
        size + 1  # type: ignore[operator]
    assert pickle.loads(pickle.dumps(size)) == copy.deepcopy(size) == size


def test_type_names_the_dtype_or_casts():
    x = ja.ones(2)
    assert x.type() == "torch.FloatTensor" and (x > 0).type() == "torch.BoolTensor"
    assert x.type("torch.IntTensor").dtype == ja.int32 == x.type(ja.int32).dtype
    assert x.int().type(ja.Tensor).dtype == ja.float32
    with pytest.raises(TypeError, match="invalid type"):
        x.type("torch.OddTensor")


def test_functions_of_python_on_each_element():
    x, y = ja.tensor([[1.0, 2.0], [3.0, 4.0]]), ja.tensor([10.0, 20.0])
    assert x.clone().apply_(lambda a: 2 * a).tolist() == [[2, 4], [6, 8]]
    assert x.clone().map_(y, lambda a, b: a + b).tolist() == [[11, 22], [13, 24]]
    assert x.clone().map2_(y, x, lambda a, b, c: a + b * c).tolist() == [[11, 42], [33, 84]]
    with pytest.raises(TypeError, match="not callable"):
        x.map_(y, "add")
    with pytest.raises(RuntimeError, match="requires grad"):
        x.map_(y.requires_grad_(), lambda a, b: a)


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_a_value_in_the_second_place(name):
    x, y = ja.tensor([1.0, 2.0]), ja.tensor([3.0, 4.0])
    function, method, write = getattr(ja, name), getattr(x, name), getattr(x.clone(), f"{name}_")
    wanted = function(x, y, x, value=2).tolist()
    for call in (lambda: function(x, 2, y, x), lambda: method(2, y, x), lambda: write(2, y, x)):
        with pytest.warns(UserWarning, match=f"This overload of {name}_? is deprecated"):
            assert call().tolist() == wanted


def test_reversed_and_in():
    x = ja.arange(4).view(2, 2)
    assert reversed(x).tolist() == [[2, 3], [0, 1]] and 2 in x and 7 not in x
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
        "a" in x  # noqa: B015


def test_where_as_a_method_keeps_its_own_elements_where_the_condition_holds():
    x = ja.tensor([True, False])
    assert x.where(ja.tensor([False, True]), ja.tensor([True, True])).tolist() == [True, False]
    assert ja.arange(3.0).where(ja.arange(3) > 0, 0.5).tolist() == [0.5, 1, 2]


def test_what_out_is_given():
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        assert ja.add(ja.ones(3), 1, out=ja.ones(2)).shape == (3,)
    drawn = ja.bernoulli(ja.full((8,), 0.5), out=ja.full((8,), 7, dtype=ja.int32))
    assert drawn.dtype == ja.int32 and set(drawn.tolist()) <= {0, 1}


@pytest.mark.parametrize("target", [ja.tensor([0, 1]), ja.ones(2, 3) / 3])
@pytest.mark.parametrize("n", [1, 4])
def test_weights_of_classes_are_one_for_each(target, n):
    with pytest.raises(RuntimeError, match="either for all 3 classes or no classes"):
        ja.nn.functional.cross_entropy(ja.zeros(2, 3), target, weight=ja.ones(n))


def test_sizes_and_starts_that_are_arrays():
    x = ja.arange(3)
    assert ja.ones(np.array(3), np.int64(4)).shape == (3, 4) and x.narrow(0, ja.tensor(1), 1).tolist() == [1]
    with pytest.raises(TypeError, match="0-dim"):
        x.narrow(0, ja.tensor([0]), 1)
    assert x.new(size=(2,)).shape == (2,) and x.new(x.storage()).data_ptr() == x.data_ptr()
    assert (ja.ones(1, requires_grad=True) * 2).numpy(force=True).tolist() == [2]


def test_where_takes_a_condition_alone_and_says_where_it_holds():
    rows, columns = ja.where(ja.tensor([[1.0, 0.0], [2.0, 3.0]]))
    assert (rows.tolist(), columns.tolist()) == ([0, 1, 1], [0, 0, 1])


def test_names_of_the_functions_of_networks_that_are_elementwise():
    x = ja.tensor([-1.0, 2.0])
    assert ja.nn.functional.sigmoid(x).tolist() == x.sigmoid().tolist()
    assert ja.nn.functional.tanh(x).tolist() == x.tanh().tolist()


def test_items_of_tensors_cannot_be_deleted():
    x = ja.zeros(3)
    with pytest.raises(TypeError, match="does not support deleting items"):
        del x[0]


def test_set_state_returns_the_generator():
    generator = ja.Generator()
    assert generator.set_state(generator.get_state()) is generator


@pytest.mark.slow
def test_binomial_counts_successes():
    count, prob = ja.full((2, 500), 10.0), ja.tensor([[0.0], [0.5]])
    never, often = ja.binomial(count, prob.requires_grad_())
    assert never.sum().item() == 0
    assert 4.5 < often.mean().item() < 5.5
    with pytest.raises(RuntimeError, match="probabilities from 0 to 1"):
        ja.binomial(count, prob.detach() + 1)


def test_bags_take_the_table_first_and_warn():
    table, indices = ja.arange(6.0).reshape(3, 2), ja.tensor([[0, 2], [1, 1]])
    wanted = ja.nn.functional.embedding_bag(indices, table, mode="sum")
    with pytest.warns(UserWarning, match="Argument order of nn.functional.embedding_bag was changed"):
        got = ja.nn.functional.embedding_bag(table, indices, mode="sum")
    assert ja.equal(got, wanted)


@pytest.mark.slow
def test_a_tensor_has_a_layout():
    x = ja.ones(2)
    assert x.layout is ja.strided and isinstance(x.layout, ja.layout)
    assert ja.zeros(2, layout=x.layout).layout == ja.strided


def test_sizes_come_one_by_one_or_together():
    x = ja.ones(1, 3)
    for y in (x.broadcast_to(2, 3), x.broadcast_to((2, 3)), x.broadcast_to(size=(2, 3)), ja.broadcast_to(x, (2, 3))):
        assert y.tolist() == [[1, 1, 1]] * 2
