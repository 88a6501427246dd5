"""Anomaly mode: NaNs and errors of a backward name the operation of the forward and the user's line."""

from __future__ import annotations

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
    assert "z = y.sqrt()  # here" in words and "test_anomaly.py:15" in words and "1 NaN" in words
    bad(x).backward()
    assert not ja.autograd.is_anomaly_enabled()


def test_a_nan_in_a_compiled_backward_names_the_equation_of_the_forward():
    fn, x = ja.compile(bad), ja.tensor([0.0, 4.0], requires_grad=True)
    for policy in ("min_cut", "save_all"):
        with ja.config(policy=policy), ja.autograd.detect_anomaly(), pytest.raises(errors.AnomalyError) as raised:
            fn(x).backward()
        words = str(raised.value)
        assert "CompiledBackward" in words and "the forward's `sqrt`" in words and "test_anomaly.py:15" in words


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
