"""Values from outside: what fits is held exactly, what does not fit is refused, and never changed in silence."""

from __future__ import annotations

import copy
import datetime
import decimal
import enum
import math
import pickle
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from tests.cases import each


@each(
    "array",
    [
        np.array([2**40, 1]),
        np.array([-(2**40)]),
        np.array([2**63], np.uint64),
        np.array([1e300, 1.0]),
        np.float64(1e300),
        np.array([1 + 1e300j]),
        [np.int64(2**40)],
    ],
)
@each("make", [ja.tensor, ja.as_tensor, ja.from_numpy, lambda a: ja.tensor(a, dtype=a.dtype)])
def test_numbers_of_64_bits(array, make):
    if make is ja.from_numpy or not isinstance(array, np.ndarray):
        array = np.asarray(array)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(errors.TensorValueError, match="jax_enable_x64"):
            make(array)
    with jax.enable_x64(True):
        np.testing.assert_array_equal(make(array).numpy(), array)


def test_numbers_of_classes_of_their_own_are_numbers():
    heads, rate = enum.IntEnum("Heads", {"FEW": 2, "MANY": 4}), type("Rate", (float,), {})
    x = ja.ones(2)
    uses = (lambda n: x * n, lambda n: n - x, lambda n: x.add(x, alpha=n), lambda n: x.clone().mul_(n))
    for n, plain in ((heads.MANY, 4), (rate(0.5), 0.5)):
        for fn in uses:
            found, wanted = fn(n), fn(plain)
            assert found.tolist() == wanted.tolist() and found.dtype == wanted.dtype
    assert ja.ones(heads.FEW, heads.MANY).view(heads.MANY, heads.FEW).sum(heads.FEW - 1).tolist() == [2] * 4
    assert ja.compile(lambda x, n: x[: n - 1] * n)(x, heads.FEW).tolist() == [2]
    with pytest.raises(TypeError):
        x * enum.Enum("Names", {"A": 1.5}).A  # pyright: ignore[reportOperatorIssue]


def test_numbers_that_fit_are_taken():
    assert ja.from_numpy(np.array([2**31 - 1, -(2**31)])).tolist() == [2**31 - 1, -(2**31)]
    assert ja.from_numpy(np.array([np.inf, np.nan, 1.0])).tolist()[0] == np.inf
    assert ja.tensor([1e300]).tolist() == [np.inf]  # Python's floats are float32 by default, as in PyTorch


def test_python_types_as_dtypes():
    kinds = {float: "float", int: "int", complex: "complex"}
    for bits in (32, 64):
        with jax.enable_x64(bits == 64):
            for kind, name in kinds.items():
                expected = f"{name}{2 * bits if kind is complex else bits}"
                assert ja.zeros(1, dtype=kind).dtype == expected
                assert ja.ones(1, dtype=ja.bool).to(kind).dtype == expected
                assert ja.tensor([1], dtype=kind).dtype == expected
            assert ja.ones(2).sum(dtype=float).dtype == f"float{bits}"
            assert ja.zeros(1, dtype=bool).dtype == "bool"


@each(
    "data",
    [
        np.array([object()]),
        np.array([1, None], dtype=object),
        np.array(["a"]),
        np.array([b"a"]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([1], dtype="timedelta64[D]"),
        np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]),
    ],
)
@each("make", [ja.tensor, ja.as_tensor, ja.from_numpy, ja.asarray])
def test_arrays_that_are_not_numbers(data, make):
    with pytest.raises(TypeError, match="a tensor is made of numbers"):
        make(data)


@each("data", ["abc", ["a"], None, [None], {"a": 1}, {1, 2}, object(), datetime.date(2020, 1, 1)])
def test_objects_that_are_not_numbers(data):
    with pytest.raises(TypeError, match="a tensor is made of numbers"):
        ja.tensor(data)


def test_a_list_that_holds_itself():
    inside, beside = [], [1]
    inside.append(inside)
    beside.append(beside)
    for data in (inside, beside):
        for make in (ja.tensor, ja.as_tensor):
            with pytest.raises(errors.TensorValueError, match="an item of itself"):
                make(data)


def test_numbers_of_numpy_in_lists_keep_their_dtype():
    assert ja.tensor([np.int16(1), np.int16(2)]).dtype == ja.int16
    assert ja.tensor([np.array([1.0, 2.0], np.float16), np.array([3.0, 4.0], np.float16)]).dtype == ja.float16
    assert ja.tensor([decimal.Decimal(1).as_integer_ratio()]).tolist() == [[1, 1]]
    with jax.enable_x64(True):
        assert ja.tensor([np.float64(2)]).dtype == ja.float64


def test_bytes_of_the_other_order():
    assert ja.tensor(np.array([1, 2], dtype=">i4")).tolist() == [1, 2]
    assert ja.from_numpy(np.array([1.5], dtype=">f4")).tolist() == [1.5]


def test_complex_numbers_are_not_made_real():
    with pytest.raises(TypeError, match="not complex"):
        ja.tensor([1j], dtype=ja.float32)


@each("index", [0, [0], slice(None), ja.tensor([True, False])])
@each(
    "dtype, value",
    [(ja.int32, 2**40), (ja.int8, 300), (ja.int8, 300.0), (ja.uint8, -300), (ja.uint8, -1.0), (ja.float32, 1e40)],
)
def test_numbers_assigned_to_tensors_fit_or_are_refused(dtype, value, index):
    x = ja.zeros(2, dtype=dtype)
    with pytest.raises(errors.TensorValueError, match="without overflow"):
        x[index] = value
    assert x.tolist() == [0, 0]


BYTES, HALVES = ja.ones(2, dtype=ja.int8), ja.ones(2, dtype=ja.float16)
MASK = ja.tensor([True, False])
OVERFLOWING = {
    "fill_": lambda: ja.zeros(2, dtype=ja.int8).fill_(300),
    "fill_ of an unsigned dtype": lambda: ja.zeros(2, dtype=ja.uint8).fill_(-1.0),
    "fill_ with infinity": lambda: ja.zeros(2, dtype=ja.int32).fill_(math.inf),
    "fill_ of complex": lambda: ja.zeros(2, dtype=ja.complex64).fill_(1e40j),
    "fill_ of a half": lambda: ja.zeros(2, dtype=ja.bfloat16).fill_(3.4e38),
    "full": lambda: ja.full((2,), 300, dtype=ja.int8),
    "full with NaN": lambda: ja.full((2,), math.nan, dtype=ja.int32),
    "full of floats": lambda: ja.full((2,), 1e40),
    "full_like": lambda: ja.full_like(HALVES, 70000),
    "new_full": lambda: BYTES.new_full((2,), -129),
    "scalar_tensor": lambda: ja.scalar_tensor(300, dtype=ja.int8),
    "masked_fill": lambda: HALVES.masked_fill(MASK, 70000),
    "index_fill": lambda: BYTES.index_fill(0, ja.tensor([0]), 300),
    "scatter": lambda: BYTES.scatter(0, ja.tensor([0]), 300),
    "fill_diagonal_": lambda: ja.zeros(2, 2, dtype=ja.int8).fill_diagonal_(300),
    "where": lambda: ja.where(MASK, 300, BYTES),
    "where of floats": lambda: ja.where(MASK, BYTES, 1e40),
    "clamp": lambda: BYTES.clamp(max=300),
    "pad": lambda: ja.nn.functional.pad(BYTES, (1, 1), value=300),
    "constant_pad_nd": lambda: ja.constant_pad_nd(HALVES, (1, 1), 70000),
}


@each("name", OVERFLOWING)
@each("compiled", [False, True])
def test_numbers_that_do_not_fit_the_result_are_refused(name, compiled):
    fn = ja.compile(OVERFLOWING[name]) if compiled else OVERFLOWING[name]
    with pytest.raises(errors.TensorValueError, match=r"converted to type .* without overflow"):
        fn()


def test_numbers_that_every_dtype_takes():
    assert ja.full((1,), -1, dtype=ja.uint8).tolist() == [255]
    assert ja.full((1,), 5, dtype=ja.bool).tolist() == [True]
    assert ja.full((1,), 1.5, dtype=ja.int8).tolist() == [1]
    assert ja.zeros(1).fill_(math.inf).tolist() == ja.where(MASK[:1], HALVES[:1] * 70000, 70000).tolist() == [math.inf]
    assert BYTES.clamp(0, 300.5).tolist() == [1, 1]
    x = HALVES.clone()
    x[0] = 70000
    assert x.tolist() == [math.inf, 1]


def test_a_device_has_pytorchs_names_and_is_one_of_jax():
    x, here = ja.ones(2), jax.devices("cpu")[0]
    place = x.to(here).device
    assert isinstance(place, ja.device) and (place.type, place.index, str(place)) == ("cpu", None, "cpu")
    assert place == ja.device("cpu") == ja.device("cpu:0") == here == place and place != ja.device("meta")
    assert hash(place) == hash(here) and {place: 1}[ja.device("cpu", 0)] == 1
    assert (place.platform, place.id, place.jax_device) == ("cpu", here.id, here)
    assert pickle.loads(pickle.dumps([place, ja.device("meta")])) == [place, ja.device("meta")]
    assert copy.deepcopy(place) == place and repr(place) == "ja.device('cpu')"
    assert x.to(place).device == ja.zeros(2, device=place).device == ja.tensor([1.0], device=place).device == place
    assert jax.device_put(np.ones(2), place).devices() == jnp.zeros(2, device=place).devices() == {here}
    assert ja.compile(lambda x: x + ja.ones(2, device=x.device) if x.device.type == "cpu" else x)(x).tolist() == [2, 2]
    assert ja.compile(lambda x, where: x.to(where) + 1)(x, place).tolist() == [2, 2]
    assert ja.device("meta").type == "meta" and not hasattr(ja.device("meta"), "platform")
    with place, pytest.raises(errors.TensorTypeError, match="arrays of JAX have values"):
        jax.device_put(np.ones(2), ja.device("meta"))


def test_a_dtype_has_pytorchs_names_and_is_one_of_numpy_and_jax():
    x = ja.ones(2)
    kind = x.dtype
    assert isinstance(kind, ja.dtype) and isinstance(ja.bfloat16, ja.dtype) and kind is ja.float32
    assert kind == np.float32 == kind == jnp.float32 == kind == np.dtype("float32") and kind != ja.float16
    assert hash(kind) == hash(np.dtype("float32")) and {ja.float32: 1}[kind] == 1 and ja.dtype("float32") is kind
    assert (str(kind), repr(kind), kind.itemsize, kind.kind) == ("float32", "ja.float32", 4, "f")
    facts = {
        d: (d.is_floating_point, d.is_complex, d.is_signed) for d in (ja.bfloat16, ja.complex64, ja.uint8, ja.bool)
    }
    assert list(facts.values()) == [(True, False, True), (False, True, True), (False,) * 3, (False,) * 3]
    assert ja.complex64.to_real() is ja.float32 and ja.float32.to_complex() is ja.complex64
    assert np.dtype(kind) == np.zeros(2, kind).dtype == jnp.zeros(2, kind).dtype == np.ones(2).astype(kind).dtype
    assert jnp.issubdtype(ja.bfloat16, jnp.floating) and np.issubdtype(kind, np.floating) and ja.float32(3) == 3
    assert copy.deepcopy(kind) is pickle.loads(pickle.dumps(kind)) is kind
    for result in (ja.result_type(x, 1), ja.promote_types(ja.int32, ja.float32), ja.get_default_dtype()):
        assert result is kind
    cast = ja.compile(lambda x, to: x.to(to) if x.dtype.is_floating_point else x)
    assert cast(x, ja.int32).dtype is ja.int32 and cast(x, ja.bfloat16).dtype is ja.bfloat16


def test_ranges_that_are_kept_are_those_of_the_layout_and_the_bounds():
    x, y = ja.arange(12.0), ja.arange(12.0).view(3, 4).t()
    for _ in range(3):
        for bounds in ((1, 3), (0, 3), (-2, 3), (None, 2), (2, 1), (1, 100)):
            part = slice(*bounds)
            np.testing.assert_array_equal(x[part].numpy(), np.arange(12.0)[part])
            np.testing.assert_array_equal(y[part].numpy(), np.arange(12.0).reshape(3, 4).T[part])
            np.testing.assert_array_equal(x[2:][part].numpy(), np.arange(12.0)[2:][part])
            z = ja.zeros(12)
            z[part].add_(1)
            np.testing.assert_array_equal(z.numpy(), np.isin(np.arange(12), np.arange(12)[part]))
    with pytest.raises(ja.errors.TensorValueError, match="positive"):
        x[3:1:-1]
