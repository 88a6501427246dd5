"""`gradcheck` and `gradgradcheck`: what is right passes, what is wrong is found; and the op table by itself."""

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import GradientMismatchError, UsageError
from jaxaot.ops.schema import REQUIRED
from jaxaot.ops.table import rows


def leaf(*shape, seed=0, dtype=np.float32, positive=False):
    draw = np.random.default_rng(seed).normal(size=shape)
    if np.issubdtype(dtype, np.complexfloating):
        draw = draw + 1j * np.random.default_rng(seed + 1).normal(size=shape)
    return ja.tensor((np.abs(draw) + 0.5 if positive else draw).astype(dtype), requires_grad=True)


def wrong(x):
    """Returns x², with the gradient of x."""
    return x.detach() * x


@pytest.mark.parametrize("check", [ja.autograd.gradcheck, ja.autograd.gradgradcheck])
@pytest.mark.parametrize("fast_mode", [False, True])
def test_what_is_right_passes(check, fast_mode):
    assert check(lambda x, y: (x.sin() * y).tanh() @ y.t(), (leaf(2, 3), leaf(2, 3, seed=1)), fast_mode=fast_mode)
    assert check(lambda x: (x.exp(), 3, x.sum()), leaf(3), fast_mode=fast_mode)
    assert check(lambda z: (z * z.conj() * z).sin(), leaf(3, dtype=np.complex64), fast_mode=fast_mode)
    assert check(lambda z: z.abs(), leaf(3, dtype=np.complex64), fast_mode=fast_mode)
    assert check(ja.compile(lambda x: x.mul(2).sin_() * x), leaf(3), fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_what_is_wrong_is_found(fast_mode):
    with pytest.raises(GradientMismatchError, match="output 0 with respect to input 0"):
        ja.autograd.gradcheck(wrong, leaf(3), fast_mode=fast_mode)
    assert not ja.autograd.gradcheck(wrong, leaf(3), fast_mode=fast_mode, raise_exception=False)


def test_inputs_are_put_back():
    x = leaf(3)
    before = x.tolist()
    ja.autograd.gradcheck(lambda x: x.sin(), x)
    assert x.tolist() == before and x.grad is None


def test_another_backward_each_time_is_found():
    ja.manual_seed(0)
    x = leaf(64)
    x_noise = lambda x: x * ja.rand(64)
    with pytest.raises(GradientMismatchError, match="not reentrant"):
        ja.autograd.gradcheck(x_noise, x, fast_mode=True, atol=10.0)


def test_no_input_requires_grad():
    with pytest.raises(UsageError, match="requires_grad=True"):
        ja.autograd.gradcheck(lambda x: x, ja.ones(2))


# -- the op table ------------------------------------------------------------------------------------------------------


def is_plain(spec):
    """Returns whether a row can be called on tensors alone."""
    required = [p for p in spec.schema.parameters if p.default is REQUIRED]
    is_pure = not (spec.is_random or spec.is_inplace_only or spec.schema.written)
    is_shown = spec.is_function and spec.is_differentiable
    return is_pure and is_shown and bool(required) and all(p.type == "Tensor" and not p.is_list for p in required)


ROWS = {spec.name: spec for spec in rows() if is_plain(spec)}
SYMMETRIC = "it takes symmetric matrices alone, and reads a triangle of others"
UNDECIDED = dict.fromkeys(["cholesky", "cholesky_ex", "linalg_cholesky", "eigh", "eigvalsh"], SYMMETRIC) | {
    "eig": "its gradient depends on phases that it leaves open",
    "linalg_svd": "its gradient depends on signs that it leaves open",
    "svd": "as linalg_svd",
    "cholesky_inverse": "it takes triangular matrices alone",
    "cholesky_solve": "it takes triangular matrices alone",
    "round": "it jumps between two operands",
    "geqrf": "it has no derivative, in PyTorch neither",
}
"""Rows whose results are not smooth functions of their operands, or not theirs alone."""


def public(spec):
    """Returns the function that users call for a row."""
    found = ja
    for part in spec.namespaced_names[0].split("."):
        found = getattr(found, part)
    return found


def check_row(spec, check):
    """Checks the gradients of a row at operands in (0.2, 1.8); what does not take such operands passes."""
    n = sum(p.default is REQUIRED for p in spec.schema.parameters)
    values = np.random.default_rng(0).permutation(np.linspace(0.2, 0.8, 9 * n)).reshape(n, 3, 3)  # no two are close
    operands = [ja.tensor((v + np.eye(3)).astype(np.float32), requires_grad=True) for v in values]
    name = public(spec)

    def fn(*tensors):
        results = name(*tensors)
        results = results if isinstance(results, (tuple, list)) else [results]
        return [r for r in results if isinstance(r, ja.Tensor) and r.requires_grad]

    try:
        results = fn(*operands)
    except (ja.JaxaotError, ValueError, TypeError):
        return
    try:
        ja.autograd.grad(results, operands, results, allow_unused=True)
    except ja.JaxaotError as error:
        if "is not implemented, as it is not in PyTorch" in str(error):
            return
        raise
    if results and all(np.isfinite(r.detach().numpy()).all() for r in results):
        assert check(fn, operands, fast_mode=True, eps=4e-3, atol=5e-3, rtol=2e-2)


CHECKS = {"first": ja.autograd.gradcheck, "second": ja.autograd.gradgradcheck}


@pytest.mark.parametrize("order", CHECKS)
@pytest.mark.parametrize("name", sorted(ROWS.keys() - UNDECIDED.keys())[::24])
def test_a_sample_of_the_table(name, order):
    check_row(ROWS[name], CHECKS[order])


@pytest.mark.slow
@pytest.mark.parametrize("order", CHECKS)
@pytest.mark.parametrize("name", sorted(ROWS.keys() - UNDECIDED.keys()))
def test_the_whole_table(name, order):
    check_row(ROWS[name], CHECKS[order])
