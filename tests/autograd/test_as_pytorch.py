"""Small agreements of autograd with PyTorch: modes as decorators, saved tensors that a backward writes, edges."""

from __future__ import annotations

import asyncio
import importlib

import pytest

import jaxaot as ja
from jaxaot import errors

WAYS = ["eager", pytest.param("torch", marks=pytest.mark.oracle)]


@pytest.fixture(params=WAYS)
def m(request):
    return importlib.import_module("torch") if request.param == "torch" else ja


# -- modes -------------------------------------------------------------------------------------------------------------


def test_a_generator_runs_in_its_mode_and_its_caller_does_not(m):
    @m.no_grad()
    def steps():
        sent = yield m.is_grad_enabled()
        try:
            yield sent, m.is_grad_enabled()
        except ValueError:
            yield "thrown", m.is_grad_enabled()
        return m.is_grad_enabled()

    @m.no_grad()
    def delegates():
        result = yield from steps()
        yield result

    g = delegates()
    assert next(g) is False and m.is_grad_enabled()
    assert g.send(5) == (5, False) and m.is_grad_enabled()
    assert g.throw(ValueError()) == ("thrown", False) and m.is_grad_enabled()
    assert next(g) is False and list(g) == []


def test_a_closed_generator_cleans_up_in_its_mode(m):
    seen = []

    @m.no_grad()
    def steps():
        try:
            yield 1
        finally:
            seen.append(m.is_grad_enabled())

    g = steps()
    next(g)
    g.close()
    assert seen == [False] and m.is_grad_enabled()


def test_a_coroutine_runs_in_its_mode():
    @ja.no_grad()
    async def inner():
        await asyncio.sleep(0)
        return ja.is_grad_enabled()

    async def outer():
        return await asyncio.gather(inner(), inner()), ja.is_grad_enabled()

    assert asyncio.run(outer()) == ([False, False], True)


def test_modes_as_decorators(m):
    @m.set_grad_enabled(False)
    def off():
        return m.is_grad_enabled()

    @m.inference_mode()
    def infers():
        yield m.is_inference_mode_enabled()

    assert (off(), m.is_grad_enabled()) == (False, True)
    assert list(infers()) == [True] and not m.is_inference_mode_enabled()


SWITCHES = {
    "set_grad_enabled": (lambda m: m.set_grad_enabled, lambda m: m.is_grad_enabled(), True),
    "inference_mode": (lambda m: m.inference_mode, lambda m: m.is_inference_mode_enabled(), False),
    "set_detect_anomaly": (
        lambda m: m.autograd.set_detect_anomaly,
        lambda m: (m.autograd if hasattr(m.autograd, "is_anomaly_enabled") else m).is_anomaly_enabled(),
        False,
    ),
    "set_multithreading_enabled": (lambda m: m.autograd.set_multithreading_enabled, lambda m: None, True),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_switches_are_contexts_that_exceptions_leave(m, name):
    switch, reads, default = SWITCHES[name]
    switch = switch(m)
    before = reads(m)
    for value in (True, False):
        with switch(value):
            inside = reads(m)
            assert inside in (None, value)
            with switch(not value):
                assert reads(m) in (None, not value)
            assert reads(m) == inside
        with pytest.raises(ZeroDivisionError), switch(value):
            raise ZeroDivisionError
        assert reads(m) == before
    if name != "inference_mode":  # which is a context and a decorator alone, in PyTorch too
        switch(not default)
        assert reads(m) in (None, not default)
        switch(default)
    assert reads(m) == before


def test_the_check_of_versions_is_a_context_that_an_exception_leaves():
    def squared():
        x = ja.ones(2, requires_grad=True).clone()
        y = (x**2).sum()
        x.add_(1)
        y.backward()

    with pytest.raises(errors.JaxaotError, match="modified by an inplace"), ja.autograd.set_version_check("error"):
        squared()
    squared()


# -- custom Functions --------------------------------------------------------------------------------------------------


def doubling(m, saves_result, writes=lambda x: x.mul_(2)):
    class Doubling(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(y if saves_result else x)
            return y

        @staticmethod
        def backward(ctx, gradient):
            (saved,) = ctx.saved_tensors
            writes(saved)
            return gradient * 2

    return Doubling


@pytest.mark.parametrize("saves_result", [False, True])
def test_what_a_backward_writes_to_a_saved_tensor_arrives(m, saves_result):
    leaf = m.ones(2, requires_grad=True)
    x = leaf * 3
    y = doubling(m, saves_result).apply(x)
    before = x._version, y._version
    y.sum().backward()
    assert (x.tolist(), y.tolist()) == (([3, 3], [12, 12]) if saves_result else ([6, 6], [6, 6]))
    assert (x._version - before[0], y._version - before[1]) == (int(not saves_result), int(saves_result))
    assert leaf.grad.tolist() == [6, 6]


def test_a_saved_tensor_that_is_a_view(m):
    leaf = m.ones(3, requires_grad=True)
    x = leaf * 3
    doubling(m, False, lambda part: part.data.mul_(2)).apply(x[1:]).sum().backward()
    assert x.tolist() == [3, 6, 6] and leaf.grad.tolist() == [0, 6, 6]


def test_a_saved_tensor_that_was_written_since_has_the_values_that_were_saved():
    leaf = ja.ones(2, requires_grad=True)
    x = leaf * 3
    seen = []
    y = doubling(ja, False, lambda saved: seen.append(saved.tolist())).apply(x)
    x.mul_(5)
    y.sum().backward()
    assert seen == [[3, 3]] and x.tolist() == [15, 15]


def test_setup_context_gets_defaults_and_nodes_have_the_name_of_their_function(m):
    class Scaled(m.autograd.Function):
        @staticmethod
        def forward(x, n=3):
            return x * n

        @staticmethod
        def setup_context(ctx, inputs, output):
            _, ctx.n = inputs

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.n, None

    x = m.ones(1, requires_grad=True)
    y = Scaled.apply(x)
    assert type(y.grad_fn).__name__ == y.grad_fn.name() == "ScaledBackward"
    assert isinstance(y.grad_fn, m.autograd.graph.Node)
    y.backward()
    assert x.grad.tolist() == [3]


# -- gradients ---------------------------------------------------------------------------------------------------------


def test_an_edge_is_differentiated_with_its_gradient(m):
    x = m.ones(2, requires_grad=True)
    edge = m.autograd.graph.get_gradient_edge(x * 3)
    assert m.autograd.grad(edge, (x,), grad_outputs=(m.ones(2),))[0].tolist() == [3, 3]
    m.autograd.backward(m.autograd.graph.get_gradient_edge(x * 2), (m.ones(2),))
    assert x.grad.tolist() == [2, 2]
    del x.grad
    assert x.grad is None


def test_what_has_no_gradient_of_its_own_is_refused(m):
    x = m.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="cannot be empty"):
        m.autograd.grad(x * 2, [])
    with pytest.raises(RuntimeError, match="real scalar outputs"):
        m.ones(1, dtype=m.complex64, requires_grad=True).sum().backward()
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = 0


def test_hooks_that_an_unpack_hook_enters_end_with_the_backward(m):
    packed = []
    hooks = m.autograd.graph.saved_tensors_hooks

    def unpack(saved):
        hooks(lambda t: packed.append(1) or t, lambda t: t).__enter__()
        return saved

    x = m.ones(1, requires_grad=True)
    with hooks(lambda t: t, unpack):
        y = x * x
    y.backward()
    packed.clear()
    assert (x * x).requires_grad and not packed


def test_a_version_is_counted_by_hand(m):
    x, y = m.ones(1), m.ones(1)
    m.autograd.graph.increment_version(x)
    m.autograd.graph.increment_version([x, y])
    assert (x._version, y._version) == (2, 1)
