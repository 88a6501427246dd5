"""The eager facade: kernels are few, buffers are reused, and nobody else's array is touched."""

from __future__ import annotations

import copy
import pickle

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors


def n_compiles(fn) -> int:
    """Returns how many programs XLA compiled while `fn` ran."""
    compiled = []

    def listen(event, duration, **_):
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(duration)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        fn()
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    return len(compiled)


def test_kernels_are_compiled_per_shape_not_per_index_or_number():
    x = ja.zeros(40, 7)

    def work(indices):
        for i in indices:
            x[i].add_(0.1 * i)
            x[i, 2:5].mul_(1.0 + i)
            x[i] = i * 1.0
            (x[i] * i).sum()
            x[i : i + 3] + i

    work([1, 2])
    assert n_compiles(lambda: work(range(3, 30))) == 0


def test_gradients_through_indices_compile_once():
    w = ja.ones(30, 3, requires_grad=True)

    def work(indices):
        for i in indices:
            (w[i] * 2).sum().backward()

    work([0, 1])
    assert n_compiles(lambda: work(range(2, 20))) == 0


def test_a_write_reuses_the_buffer_if_nobody_holds_it():
    x = ja.zeros(1000)
    x.add_(1)
    pointer = x.untyped_storage().array.unsafe_buffer_pointer()
    x[3:5].mul_(2)
    assert x.untyped_storage().array.unsafe_buffer_pointer() == pointer


def test_a_write_spares_arrays_that_others_hold():
    array = jax.numpy.arange(4.0)
    x = ja.interop.from_jax(array)
    x.add_(1)
    out = x.jax()
    x[0] = 9
    values = x.numpy()
    kept = values.copy()
    x.zero_()
    assert array.tolist() == [0, 1, 2, 3] and out.tolist() == [1, 2, 3, 4] and (values == kept).all()


def test_a_saved_value_survives_a_later_write():
    leaf = ja.tensor([1.0, 2.0], requires_grad=True)
    x = leaf * 1
    y = x * x
    with ja.no_grad():
        x.zero_()
    y.sum().backward()
    assert leaf.grad.tolist() == [2, 4]


def test_storage_identity_and_versions():
    x = ja.zeros(2, 3)
    views = [x.t(), x[0], x.view(-1), x.detach(), x.data, x.unsqueeze(0)]
    assert all(v.untyped_storage() is x.untyped_storage() for v in views)
    assert x.clone().untyped_storage() is not x.untyped_storage()
    views[1].add_(1)
    assert [v._version for v in (x, *views)] == [1, 1, 1, 1, 1, 0, 1]  # `.data` counts on its own
    assert views[0]._base is x and views[3]._base is None and x._base is None


def test_out_is_resized_and_keeps_its_dtype():
    out = ja.zeros(0)
    assert ja.add(ja.ones(3), 1, out=out) is out and out.tolist() == [2, 2, 2]
    ints = ja.zeros(3, dtype=ja.int32)
    with pytest.raises(ja.errors.DtypeError, match="can't be cast"):
        ja.add(ja.ones(3), 0.5, out=ints)
    into = ja.zeros(4)
    ja.mul(ja.ones(2), 3.0, out=into[1:3])
    assert into.tolist() == [0, 3, 3, 0]


def test_a_refused_write_changes_nothing():
    x = ja.zeros(3)
    for bad in (
        lambda: x.add_(ja.ones(2, 3)),
        lambda: x.add_(ja.ones(2)),
        lambda: ja.zeros(3, dtype=ja.int32).add_(0.5),
        lambda: x.expand(2, 3).add_(1),
        lambda: x.__setitem__(5, 1.0),
    ):
        with pytest.raises(ja.errors.JaxaotError):
            bad()
    assert x.tolist() == [0, 0, 0] and x._version == 0


def test_copies_and_pickles():
    x = ja.tensor([[1.0, 2.0]], requires_grad=True)
    for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert made.tolist() == [[1, 2]] and made.requires_grad and made is not x
    made = copy.deepcopy(x)
    made.data.zero_()
    assert x.tolist() == [[1, 2]]


def test_python_protocols():
    x = ja.tensor([1, 2, 3])
    assert len(x) == 3 and [int(v) for v in x] == [1, 2, 3] and 2 in x and 5 not in x
    assert [10, 20, 30][x[1]] == 30 and f"{ja.tensor(1.5):.2f}" == "1.50" and bool(x.sum() == 6)
    assert np.asarray(x).tolist() == [1, 2, 3] and jax.numpy.asarray(x).tolist() == [1, 2, 3]
    assert "tensor([1, 2, 3])" in repr(x)


def test_dlpack_both_ways():
    x = ja.tensor([1.0, 2.0])
    assert jax.numpy.from_dlpack(x).tolist() == [1, 2]
    assert ja.from_dlpack(jax.numpy.ones(2)).tolist() == [1, 1]


def test_wide_dtypes_warn_once():
    from jaxaot.facade.dispatch import create

    create._warned.clear()
    with pytest.warns(UserWarning, match="x64 mode is off") as found:
        assert ja.zeros(2, dtype=ja.float64).dtype == ja.float32
        ja.zeros(2, dtype=ja.float64)
    assert len(found) == 1


def test_conjugates_are_views():
    x = ja.tensor([[1 + 2j, 3 - 1j], [0.5j, 2]])
    c = x.conj()
    assert c.is_conj() and not c.conj().is_conj() and c.untyped_storage() is x.untyped_storage()
    c[0] *= 1j
    assert x.tolist() == [[2 - 1j, -1 - 3j], [0.5j, 2]]
    x.mH[0, 1] = 9j
    assert x[1, 0].item() == -9j and c.real.tolist() == x.real.tolist() and c.imag.tolist() == (-x.imag).tolist()
    assert not c.resolve_conj().is_conj() and not c.clone().is_conj() and not (c + x).is_conj()
    with pytest.raises(RuntimeError, match="resolve_conj"):
        ja.view_as_real(c)


def test_a_result_that_a_node_holds_is_not_donated_to_a_write():
    """`tanh_` keeps its result for the backward; the write after it needs an array of its own."""
    x = ja.full((3, 2), 0.5, requires_grad=True)
    y = (x * 1).tanh_()
    y[1:].add_(y[:-1].clone())
    y.sum().backward()
    by_tanh = 1 - np.tanh(0.5) ** 2
    np.testing.assert_allclose(x.grad.numpy(), np.array([[2.0] * 2, [2.0] * 2, [1.0] * 2]) * by_tanh, rtol=1e-6)


@pytest.mark.slow
def test_whole_numbers_of_more_than_32_bits():
    wide = 5_000_000_000
    for number in (wide, -wide, 2**70):
        for fn in (lambda x, n: x * n, lambda x, n: x.clone().add_(n), lambda x, n: x.clamp(0, abs(n)).div(n)):
            expected = fn(ja.ones(2), float(number)).tolist()
            assert fn(ja.ones(2), number).tolist() == expected
            assert ja.compile(fn)(ja.ones(2), number).tolist() == expected
    assert ja.full((1,), wide, dtype=ja.float32).item() == ja.tensor(wide, dtype=ja.float32).item() == float(wide)
    x = ja.tensor([1, 2])
    for fn in (
        lambda: x * wide,
        lambda: x.add_(wide),
        lambda: ja.full((1,), wide),
        lambda: ja.compile(ja.add)(x, wide),
    ):
        with pytest.raises(errors.TensorValueError, match="5000000000, which int32 cannot hold"):
            fn()
    assert x.tolist() == [1, 2]
    for value, dtype in ((wide, None), (2**70, None), ([1, -wide], None), ([300], ja.uint8), (-300, ja.uint8)):
        with pytest.raises(errors.TensorValueError, match="cannot be converted"):
            ja.tensor(value, dtype=dtype)
    assert ja.tensor([-1], dtype=ja.uint8).tolist() == [255]  # as in PyTorch
    with jax.enable_x64(True):
        assert (ja.tensor([1, 2]) * wide).tolist() == [wide, 2 * wide]


@pytest.mark.slow
def test_whole_powers_are_taken_modulo_the_range():
    bases, exponents = [-7, 3, 2, -1, 0, 2], [2147483646, 2147483647, 64, 65, 100, 31]
    wrapped = [(pow(x, y, 1 << 32) + (1 << 31)) % (1 << 32) - (1 << 31) for x, y in zip(bases, exponents, strict=True)]
    for fn in (ja.pow, ja.compile(ja.pow)):
        assert fn(ja.tensor(bases, dtype=ja.int32), ja.tensor(exponents, dtype=ja.int32)).tolist() == wrapped


F = ja.nn.functional
THREE = lambda x: (x, x, x)


DRAW_NOTHING = [
    lambda x: F.dropout(x, 0.5, False),
    lambda x: F.dropout(x, 0.0),
    lambda x: F.dropout(x, 1.0),
    lambda x: F.dropout(x.clone(), 0.5, False, inplace=True),
    lambda x: F.alpha_dropout(x, 0.5, False),
    lambda x: F.dropout2d(x, 0.5, False),
    lambda x: ja.native_dropout(x, 0.5, False)[0],
    lambda x: F.rrelu(x),
    lambda x: F.scaled_dot_product_attention(*THREE(x)),
    lambda x: ATTENTION(*THREE(x))[0],
]


@pytest.mark.slow
def test_what_draws_nothing_moves_no_stream():
    """So a model that is evaluated between two steps does not change the second one."""
    x = ja.ones(2, 2, 4, requires_grad=True)
    before = ja.get_rng_state()
    for run in (*DRAW_NOTHING, ja.compile(lambda x: ja.stack([call(x).sum() for call in DRAW_NOTHING]))):
        run(x).sum().backward()
        assert ja.get_rng_state() == before
    F.dropout(x, 0.5)
    assert ja.get_rng_state() != before
    with pytest.raises(errors.TensorValueError, match="between 0 and 1"):
        F.dropout(x, 1.5, False)


ATTENTION = ja.nn.MultiheadAttention(4, 2, dropout=0.1).eval()


INPLACE = {
    "relu": (), "relu6": (), "selu": (), "silu": (), "mish": (), "hardswish": (), "hardsigmoid": (), "celu": (1.0,),
    "elu": (1.0,), "leaky_relu": (0.1,), "hardtanh": (-1.0, 1.0), "threshold": (0.0, 0.5), "rrelu": (0.1, 0.1, False),
    "dropout": (0.5, False), "alpha_dropout": (0.5, False), "dropout2d": (0.5, False),
}  # fmt: skip


def test_activations_take_inplace_last_by_position_or_by_name():
    def run():
        found = {}
        for name, args in INPLACE.items():
            fn, fresh = getattr(F, name), lambda: ja.tensor([[-1.0, 2.0]])
            x, y, z = fresh(), fresh(), fresh()
            assert fn(x, *args, True) is x and fn(y, *args, inplace=True) is y and fn(z, *args, False) is not z, name
            found[name] = fn(fresh(), *args), x, y, z
        return found

    for name, (right, x, y, z) in ja.compile(run)().items():
        assert right.tolist() == x.tolist() == y.tolist() and z.tolist() == [[-1.0, 2.0]], name
