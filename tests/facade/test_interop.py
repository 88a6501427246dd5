"""Tensors beside other libraries and Python itself: NumPy, jax, dlpack, copies, pickles, numbers, trees."""

import copy
import pickle
import subprocess
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja


def test_numpy_both_ways():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = ja.from_numpy(array)
    array[0, 0] = 9  # a copy: jax arrays are immutable
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    seen = x.numpy()
    x.add_(1)
    assert seen[0, 0] == 0 and np.asarray(x)[0, 0] == 1
    assert np.add(x, 1)[0, 0] == 2


def test_taking_values_out_costs_no_copy_and_protects_them():
    x = ja.zeros(1000)
    seen = x.numpy()
    assert seen.ctypes.data == x.jax().unsafe_buffer_pointer()
    x[3:5].add_(1)
    assert not seen.any() and x.sum().item() == 2


def test_jax_both_ways():
    array = jnp.arange(3.0)
    x = ja.interop.from_jax(array)
    x.mul_(2)
    assert array.tolist() == [0, 1, 2] and x.tolist() == [0, 2, 4]
    assert jnp.sum(x.jax()) == 6
    assert all(leaf is x for leaf in jax.tree.leaves({"a": x, "b": [x]}))


@pytest.mark.oracle
def test_dlpack_both_ways():
    torch = pytest.importorskip("torch")
    theirs = torch.arange(4.0)
    mine = ja.from_dlpack(theirs)
    assert mine.tolist() == [0, 1, 2, 3]
    mine.add_(1)
    assert theirs.tolist() == [0, 1, 2, 3]
    back = torch.from_dlpack(mine)
    mine.add_(1)
    assert back.tolist() == [1, 2, 3, 4] and mine.tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_share_memory_as_the_originals_do(copied):
    base = ja.arange(6.0).reshape(2, 3)
    other, view = copied([base, base.t()[1:]])
    assert view.stride() == (1, 3) and view.tolist() == [[1, 4], [2, 5]]
    view.zero_()
    assert other.tolist() == [[0, 0, 0], [3, 0, 0]] and base.sum().item() == 15


def test_a_deep_copy_is_a_leaf_with_its_gradient():
    w = ja.ones(3, requires_grad=True)
    (w * 2).sum().backward()
    made = copy.deepcopy(w)
    assert made.requires_grad and made.is_leaf and made.grad.tolist() == [2, 2, 2]
    made.grad.zero_()
    assert w.grad.tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="deepcopy protocol"):
        copy.deepcopy(w * 2)


def test_pickles_keep_kinds():
    for x in (ja.zeros(2, dtype=ja.bfloat16), ja.tensor([True]), ja.tensor([1 + 2j]), ja.tensor(3)):
        made = pickle.loads(pickle.dumps(x))
        assert made.dtype == x.dtype and made.tolist() == x.tolist()


def test_python_numbers():
    x = ja.tensor([1.5])
    assert float(x) == 1.5 and int(x) == 1 and bool(x) and complex(x) == 1.5 and f"{x[0]:.2f}" == "1.50"
    assert [10, 20, 30][ja.tensor(1)] == 20 and len(ja.zeros(3, 2)) == 3
    assert 2 in ja.tensor([1, 2]) and [row.tolist() for row in ja.eye(2)] == [[1, 0], [0, 1]]
    assert (2 - ja.tensor(1)).item() == 1 and (2 ** ja.tensor(3)).item() == 8 and (np.float32(2) * x).item() == 3


def test_what_tensors_say_of_themselves():
    x = ja.zeros(2, 3, requires_grad=True)
    y = x * 2
    assert ja.is_tensor(x) and not ja.is_tensor(1) and ja.is_storage(x.untyped_storage())
    assert ja.is_floating_point(x) and not ja.is_complex(x) and ja.numel(x) == 6 and x.is_cpu and not x.is_cuda
    assert x.is_set_to(x.detach()) and not x.is_set_to(x[0]) and not y.retains_grad
    y.retain_grad()
    assert y.retains_grad
    assert ja.promote_types(ja.int32, ja.float16) == ja.float16 and ja.can_cast(ja.float32, ja.complex64)
    assert ja.result_type(ja.tensor([1]), 1.5) == np.float32 and ja.finfo(ja.bfloat16).bits == 16
    assert ja.broadcast_shapes((2, 1), (3,)) == (2, 3)


@pytest.mark.slow
def test_64_bit_types_warn_once():
    script = (
        "import warnings, jaxaot as ja\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    assert all(ja.zeros(2, dtype=ja.float64).dtype == 'float32' for _ in range(3))\n"
        "    ja.ones(2).double(); ja.tensor([1]).long()\n"
        "print(sum('x64 mode is off' in str(w.message) for w in caught))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 2  # one for each type


@pytest.mark.slow
def test_64_bit_types_where_jax_has_them():
    script = (
        "import jax; jax.config.update('jax_enable_x64', True)\n"
        "import jaxaot as ja\n"
        "x = ja.zeros(2, dtype=ja.float64, requires_grad=True)\n"
        "assert ja.tensor([1]).dtype == 'int64' and ja.tensor([1.5]).dtype == 'float32' and x.dtype == 'float64'\n"
        "assert (ja.tensor([1]) / 2).dtype == 'float32' and ja.arange(3).dtype == 'int64'\n"
        "(x.exp() * 2).sum().backward(); assert x.grad.dtype == 'float64'\n"
        "y = ja.tensor([1, 2]); y[0:1] += 5; assert y.tolist() == [6, 2] and y.argmax().dtype == 'int64'\n"
        "f = ja.compile(lambda x: x.mul_(2)); z = ja.ones(2, dtype=ja.float64); f(z); assert z.tolist() == [2, 2]\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("dtype", [ja.float8_e4m3fn, ja.float8_e5m2])
def test_float8(dtype):
    x = ja.tensor([0.5, -1.75, 3.0]).to(dtype)
    assert x.itemsize == 1 and x.float().tolist() == [0.5, -1.75, 3.0]
    x.copy_(ja.tensor([1.0, 2.0, 4.0]))
    assert x[1:].float().tolist() == [2, 4] and "dtype=ja.float8" in repr(x)


def test_no_warning_from_ordinary_code():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = ja.randn(3, requires_grad=True)
        ja.compile(lambda x: (x * 2).sum())(x).backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_tensor_is_a_leaf_until_a_tree_is_opened():
    tree = {"w": ja.tensor([1.0, 2.0]), "n": 3, "b": [ja.tensor([[1]]), None]}
    assert jax.tree.leaves(tree)[-1] is tree["w"]
    arrays = ja.interop.to_arrays(tree)
    assert isinstance(arrays["w"], jax.Array) and arrays["n"] == 3 and arrays["b"][1] is None
    doubled = ja.interop.to_tensors(jax.tree.map(lambda x: x * 2, arrays))
    assert doubled["w"].tolist() == [2, 4] and doubled["b"][0].tolist() == [[2]] and doubled["n"] == 6
    tree["w"].zero_()
    assert arrays["w"].tolist() == [1, 2]
