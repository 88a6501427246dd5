"""Calls that cannot be carried out: a clear error, and nothing has changed."""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors


def said(error, fn, *args, **kwargs):
    with pytest.raises(error) as caught:
        fn(*args, **kwargs)
    return " ".join(str(caught.value).split())


def deleted_array(n=2):
    array = jnp.ones(n) * 2
    array.delete()
    return array


# -- arrays without values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_cached", [False, True])
def test_an_array_argument_that_was_deleted(is_cached):
    buffer = ja.zeros(2)
    fn = ja.compile(lambda x, y: (buffer.add_(1), x + y)[1])
    if is_cached:
        fn(jnp.ones(2), ja.ones(2))
    before = buffer.tolist(), buffer._version, fn.cache_info()
    words = said(errors.DeletedArrayError, fn, deleted_array(), ja.ones(2))
    assert words.startswith("`x` is an array that was deleted") and "donate_argnums" in words
    assert (buffer.tolist(), buffer._version, fn.cache_info()) == before


@pytest.mark.parametrize("is_cached", [False, True])
def test_a_tensor_that_holds_a_deleted_array(is_cached):
    buffer, array = ja.zeros(2), jnp.ones(2) * 2
    held = ja.interop.from_jax(array)
    fn = ja.compile(lambda x, y: (buffer.add_(1), ja.rand(1), x + y)[2])
    if is_cached:
        fn(ja.ones(2), ja.ones(2))
    ja.manual_seed(5)
    before = buffer.tolist(), buffer._version, fn.cache_info(), ja.get_rng_state()
    array.delete()
    assert said(errors.DeletedArrayError, fn, ja.ones(2), held).startswith("`y` is an array that was deleted")
    assert (buffer.tolist(), buffer._version, fn.cache_info(), ja.get_rng_state()) == before
    held.set_(ja.ones(2))
    assert fn(ja.ones(2), held).tolist() == [2, 2]


def test_an_array_that_was_donated_to_jax():
    array = jnp.ones(4)
    x = ja.interop.from_jax(array)
    jax.jit(lambda a: a + 1, donate_argnums=0)(array)
    model = type("Model", (), {})()
    model.cache = x
    fn = ja.compile(lambda y: y + model.cache)
    assert "`model.cache` is an array that was deleted" in said(errors.DeletedArrayError, fn, ja.ones(4))
    with pytest.raises((RuntimeError, ValueError), match="deleted"):
        x + 1


def test_types_in_place_of_values():
    fn = ja.compile(lambda x, y: x * y)
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    for _ in range(2):
        words = said(errors.SignatureMismatchError, fn, jnp.ones(2), spec)
        assert "`y` is only a type" in words and "`step.trace(...)`" in words
        fn(jnp.ones(2), jnp.ones(2))  # the program is there now, and fits the type
    assert fn.cache_info() == (1, 1, 1)
    assert fn.trace(spec, spec).jaxpr.in_avals[0].shape == (2,)
    fn.explain(spec, spec)


# -- tensors of another trace ------------------------------------------------------------------------------------------


def leak():
    thread = threading.current_thread()  # what Python's own objects hold is not looked at
    ja.trace(lambda x: setattr(threading.current_thread(), "leaked", x * 2) or x + 1, ja.ones(2))
    leaked = thread.leaked
    del thread.leaked
    return leaked


def test_a_tensor_of_a_trace_that_ended():
    leaked, fine = leak(), ja.ones(2)
    fn = ja.compile(lambda x, y: x.add_(y))
    fn(ja.ones(2), ja.ones(2))
    assert "outside of that trace, where it has no value" in said(errors.LeakedTensorError, fn, fine, leaked)
    assert fine.tolist() == [1, 1] and fn.cache_info().currsize == 1
    for use in (lambda: leaked + 1, lambda: leaked.add_(1), lambda: leaked.numpy(), lambda: fine.copy_(leaked)):
        said(errors.LeakedTensorError, use)
    assert fine.tolist() == [1, 1]


def test_a_tensor_of_a_jax_transformation():
    fn = ja.compile(lambda x: x * 2)
    kept = []
    jax.jit(lambda a: kept.append(ja.interop.from_jax(a)) or a)(jnp.ones(2))
    with pytest.raises(jax.errors.UnexpectedTracerError):
        fn(kept[0])
    assert jax.jit(lambda a: fn(ja.interop.from_jax(a)).jax())(jnp.ones(2)).tolist() == [2, 2]


# -- static arguments --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [{1, 2}, bytearray(b"a"), slice(1, ja.ones(1)), slice(1), np.array, range(3)])
def test_static_arguments(value):
    fn, x = ja.compile(lambda x, how: x.add_(1), fullgraph=True), ja.zeros(1)
    if isinstance(value, slice) and isinstance(value.stop, ja.Tensor):
        words = said(errors.StaticArgumentError, fn, x, value)
        assert f"type {type(value).__name__} is not hashable" in words
        assert x.item() == 0 and fn.cache_info().currsize == 0
    else:
        fn(x, value), fn(x, value)
        assert fn.cache_info().misses == 1


def test_an_argument_whose_comparison_fails():
    class Picky:
        def __eq__(self, other):
            raise LookupError("no comparing")

        def __hash__(self):
            return 1

    fn = ja.compile(lambda x, how: x + 1)
    fn(ja.ones(1), Picky())
    with pytest.raises(LookupError, match="no comparing"):
        fn(ja.ones(1), Picky())


# -- stages ------------------------------------------------------------------------------------------------------------


def compiled_stage():
    spec = jax.ShapeDtypeStruct((2, 3), jnp.float32)
    traced = ja.trace(lambda w, x: (w * x).sum(), spec, {"x": jax.ShapeDtypeStruct((2, 3), jnp.float32)}["x"])
    return traced.joint().partition().compile()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (lambda: (jnp.ones((2, 3)),), "takes 2 arrays and is called with 1"),
        (lambda: (jnp.ones((2, 3)),) * 3, "takes 2 arrays and is called with 3"),
        (lambda: (jnp.ones((2, 3)), jnp.ones((3, 2))), "argument 1 is float32[3, 2] instead of float32[2, 3]"),
        (
            lambda: (jnp.ones((2, 3), jnp.int32), jnp.ones((3, 2))),
            "argument 0 is int32[2, 3] instead of float32[2, 3]; argument 1 is float32[3, 2]",
        ),
        (lambda: ([jnp.ones((2, 3))], jnp.ones((2, 3))), "argument 0 is a list instead of float32[2, 3]"),
        (lambda: (None, jnp.ones((2, 3))), "argument 0 is a NoneType instead of float32[2, 3]"),
        (
            lambda: (jax.ShapeDtypeStruct((2, 3), jnp.float32), jnp.ones((2, 3))),
            "argument 0 is a type without a value instead of float32[2, 3]",
        ),
        (lambda: (deleted_array((2, 3)), jnp.ones((2, 3))), "argument 0 is a deleted array instead of float32[2, 3]"),
    ],
)
def test_a_stage_called_with_something_else(arguments, words):
    stage = compiled_stage()
    message = said(errors.SignatureMismatchError, stage, *arguments())
    assert words in message, message
    assert "trace the function again" in message


def test_a_stage_takes_tensors_and_numpy_arrays():
    stage = compiled_stage()
    (out,) = stage(ja.ones(2, 3), np.ones((2, 3), np.float32))
    assert out.item() == 6


def test_a_stage_under_other_settings():
    stage = compiled_stage()
    stage(jnp.ones((2, 3)), jnp.ones((2, 3)))
    with jax.default_matmul_precision("highest"):
        assert stage(jnp.ones((2, 3)), jnp.ones((2, 3)))[0].item() == 6


def test_an_error_inside_leaves_what_the_function_did():
    x, generator = ja.zeros(2, 2), ja.Generator()

    def fails(x):
        x.add_(ja.rand(2, 2, generator=generator))
        x.t_().unsqueeze_(0)
        raise ZeroDivisionError

    fn = ja.compile(fails)
    with pytest.raises(ZeroDivisionError):
        fn(x)
    expected = ja.rand(2, 2, generator=ja.Generator()).t().unsqueeze(0)
    assert x.tolist() == expected.tolist() and x._version == 3 and x.stride() == (2, 1, 2) and generator.offset == 1
    assert fn.cache_info() == (0, 0, 0)


def test_a_trace_inside_a_trace():
    def outer(x):
        return ja.trace(lambda y: y + 1, x).jaxpr and x

    assert "A trace is already running" in said(errors.TraceError, ja.compile(outer), ja.ones(1))
