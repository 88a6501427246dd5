"""Anomaly mode: NaNs and errors of a backward name the operation of the forward and the user's line."""

from __future__ import annotations

import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors

pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection")


def bad(x):
    y = x * 2
    z = y.sqrt()  # here
    return (z * 0).sum()


def test_a_nan_names_the_operation_its_line_and_the_values():
    x = ja.tensor([0.0, 4.0], requires_grad=True)
    with ja.autograd.detect_anomaly(), pytest.raises(errors.AnomalyError) as raised:
        bad(x).backward()
    words = str(raised.value)
    assert "Function 'SqrtBackward0' returned nan values in its 0th output" in words
    assert "z = y.sqrt()  # here" in words and "test_anomaly.py:16" in words and "1 NaN" in words
    bad(x).backward()
    assert not ja.autograd.is_anomaly_enabled()


def test_a_nan_in_a_compiled_backward_names_the_equation_of_the_forward():
    fn, x = ja.compile(bad), ja.tensor([0.0, 4.0], requires_grad=True)
    for policy in ("min_cut", "save_all"):
        with ja.config(policy=policy), ja.autograd.detect_anomaly(), pytest.raises(errors.AnomalyError) as raised:
            fn(x).backward()
        words = str(raised.value)
        assert "CompiledBackward" in words and "the forward's `sqrt`" in words and "test_anomaly.py:16" in words


def test_without_the_forward_inside_only_the_name_is_known():
    x = ja.tensor([0.0], requires_grad=True)
    loss = bad(x)
    with ja.autograd.set_detect_anomaly(True), pytest.raises(errors.AnomalyError, match="line is not known"):
        loss.backward()


def test_an_error_in_a_backward_names_the_line():
    class Fails(ja.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            raise ValueError("no")

    x = ja.ones(2, requires_grad=True)
    with ja.autograd.detect_anomaly(check_nan=False):
        y = Fails.apply(x)
        with pytest.raises(ValueError, match="no") as raised:
            y.sum().backward()
    assert "FailsBackward" in raised.value.__notes__[0] and "y = Fails.apply(x)" in raised.value.__notes__[0]


def test_nans_may_pass():
    x = ja.tensor([0.0], requires_grad=True)
    with ja.autograd.detect_anomaly(check_nan=False):
        assert ja.autograd.is_anomaly_enabled() and not ja.autograd.is_anomaly_check_nan_enabled()
        bad(x).backward()
    assert str(x.grad.tolist()) == "[nan]"


@pytest.mark.oracle
def test_the_same_functions_are_named_as_in_torch():
    import torch

    def names(lib):
        found = []
        programs = [
            lambda x: (x.sqrt() * 0).sum(),
            lambda x: (x.log() * 0).exp().sum(),
            lambda x: ((x * x).sqrt() * 0 + x.sin()).sum(),
            lambda x: (x / x).sum(),
            lambda x: x.exp().sum(),
        ]
        for program in programs:
            x = lib.tensor([0.0, 1.0], requires_grad=True)
            try:
                with lib.autograd.detect_anomaly():
                    program(x).backward()
                found.append(None)
            except RuntimeError as error:
                found.append(str(error).split("'")[1])
        return found

    assert names(ja) == names(torch)


# -- a backward inside of a compiled function --------------------------------------------------------------------------


def make_step():
    w = ja.tensor([0.0, 4.0], requires_grad=True)

    def step(x):
        y = w * x
        z = y.sqrt()  # inside
        (z * 0).sum().backward()
        gradient, w.grad = w.grad, None
        with ja.no_grad():
            w.sub_(gradient.nan_to_num(0.0) + 1)

    return w, step


def test_a_nan_of_a_backward_inside_names_the_operation_its_line_and_the_values_and_changes_nothing():
    w, step = make_step()
    fn = ja.compile(step)
    with ja.autograd.detect_anomaly(), pytest.raises(errors.AnomalyError) as raised:
        fn(ja.ones(2))
    words = str(raised.value)
    assert "Function 'SqrtBackward0' returned nan values" in words and "float32[2] with 1 NaN" in words
    assert "z = y.sqrt()  # inside" in words and "of float32[2] from 0 to 0, float32[2] from 0.25 to inf" in words
    assert w.tolist() == [0, 4] and w.grad is None and w._version == 0 and fn.cache_info().currsize == 0
    fn(ja.ones(2))
    assert w.tolist() == [-1, 3]


def test_without_a_nan_the_step_is_the_same_and_outside_of_the_mode_it_is_the_program_that_was_there():
    w, step = make_step()
    fn = ja.compile(step)
    w.data.fill_(4.0)
    fn(ja.ones(2))
    text = fn.programs[0].executables["forward"].as_text()
    with ja.autograd.detect_anomaly():
        fn(ja.ones(2))
        with ja.autograd.detect_anomaly(check_nan=False):
            fn(ja.ones(2))
    fn(ja.ones(2))
    assert w.tolist() == [0, 0] and fn.cache_info()[:3] == (2, 2, 2)
    assert "anomaly mode is on" in str(fn.explain_recompiles())
    assert fn.programs[0].executables["forward"].as_text() == text


def test_only_programs_with_a_backward_inside_depend_on_the_mode():
    fn = ja.compile(bad)
    x = ja.tensor([1.0, 4.0], requires_grad=True)
    fn(x)
    with ja.autograd.detect_anomaly():
        fn(x)
    assert fn.cache_info().misses == 1 and "anomaly" not in fn.programs[0].source


def test_an_error_in_a_backward_inside_names_the_line():
    class Fails(ja.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            raise ValueError("no")

    x = ja.ones(2, requires_grad=True)

    def step():
        y = Fails.apply(x)
        y.sum().backward()

    with ja.autograd.detect_anomaly(), pytest.raises(ValueError, match="no") as raised:
        ja.compile(step)()
    notes = "".join(getattr(raised.value, "__notes__", ()))
    assert "In the backward of FailsBackward" in notes and "y = Fails.apply(x)" in notes
    assert x.grad is None


def recorded(x):
    (g,) = ja.autograd.grad((x * x).sqrt().sum(), x, create_graph=True)
    return ja.autograd.grad((g * g).sum(), x)[0]


def looped(x):
    last, _ = ja.scan(lambda c, _: ((c * c).sqrt() * 0.5, None), x, None, length=2)
    return ja.autograd.grad(last.sum(), x)[0]


def in_a_loop(x):
    def iteration(c, _):
        c = c.detach().requires_grad_()
        (g,) = ja.autograd.grad((c * c).sqrt().sum(), c)
        return c.detach() * 0.5, g

    return ja.scan(iteration, x.detach(), None, length=2)[1]


def in_a_branch(x):
    return ja.cond(x.detach().sum() > 0, lambda: ja.autograd.grad((x * x).sqrt().sum(), x)[0], lambda: x * 1)


@pytest.mark.few(3)
@pytest.mark.parametrize("fn", [recorded, looped, in_a_loop, in_a_branch], ids=lambda fn: fn.__name__)
def test_derivatives_of_derivatives_loops_and_branches(fn):
    x = ja.tensor([0.0, 2.0], requires_grad=True)
    with ja.autograd.detect_anomaly(), pytest.raises(errors.AnomalyError, match=r"test_anomaly\.py:\d+"):
        ja.compile(fn)(x)
    fine = ja.tensor([1.0, 2.0], requires_grad=True)
    expected = ja.compile(fn)(fine)
    with ja.autograd.detect_anomaly():
        found = ja.compile(fn)(fine)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-6)


def test_a_custom_backward_inside_is_named():
    class Bad(ja.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            return (gradient - 1).log() * 0 + float("nan")

    x = ja.ones(2, requires_grad=True)
    with ja.autograd.detect_anomaly(), pytest.raises(errors.AnomalyError, match="Function 'BadBackward'"):
        ja.compile(lambda: ja.autograd.grad(Bad.apply(x * 2).sum(), x))()
    with ja.autograd.detect_anomaly():  # a forward may give one
        ja.compile(lambda x: (x - 2).log())(x)


@pytest.mark.oracle
def test_inside_the_same_functions_are_named_as_in_torch():
    import torch

    programs = [
        lambda x: (x.sqrt() * 0).sum(),
        lambda x: (x.log() * 0).exp().sum(),
        lambda x: ((x * x).sqrt() * 0 + x.sin()).sum(),
        lambda x: (x / x).sum(),
        lambda x: x.exp().sum(),
        lambda x: (x.view(2, 1)[0] / x[0]).sum() + x.softmax(0).log().sum(),
        lambda x: (x.clone().sqrt_() * x.new_zeros(2)).mean(),
    ]

    def name(lib, wrap, program):
        x = lib.tensor([0.0, 1.0], requires_grad=True)
        try:
            with lib.autograd.detect_anomaly():
                wrap(lambda: lib.autograd.grad(program(x), x)[0])()
        except RuntimeError as error:
            return str(error).split("'")[1]

    for program in programs:
        assert name(ja, ja.compile, program) == name(torch, lambda fn: fn, program)
