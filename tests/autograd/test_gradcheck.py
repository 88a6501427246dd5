"""`gradcheck` and `gradgradcheck`: what is right passes, what is wrong is found; and the op table by itself."""

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.errors import GradientMismatchError, UsageError
from jaxaot.ops.schema import REQUIRED
from jaxaot.ops.table import rows
from tests.seeds import one_in, some

pytestmark = pytest.mark.filterwarnings("ignore:Input #")


def leaf(*shape, seed=0, dtype=np.float32, positive=False):
    draw = np.random.default_rng(seed).normal(size=shape)
    if np.issubdtype(dtype, np.complexfloating):
        draw = draw + 1j * np.random.default_rng(seed + 1).normal(size=shape)
    return ja.tensor((np.abs(draw) + 0.5 if positive else draw).astype(dtype), requires_grad=True)


def wrong(x):
    """Returns x², with the gradient of x."""
    return x.detach() * x


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("check", [ja.autograd.gradcheck, ja.autograd.gradgradcheck])
@pytest.mark.parametrize("fast_mode", some([True, False], 1))
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
    except (ja.errors.JaxaotError, ValueError, TypeError):
        return
    try:
        ja.autograd.grad(results, operands, results, allow_unused=True)
    except ja.errors.JaxaotError as error:
        if "is not implemented, as it is not in PyTorch" in str(error):
            return
        raise
    if results and all(np.isfinite(r.detach().numpy()).all() for r in results):
        assert check(fn, operands, fast_mode=True, eps=4e-3, atol=5e-3, rtol=2e-2)


CHECKS = {"first": ja.autograd.gradcheck, "second": ja.autograd.gradgradcheck}


@pytest.mark.few(5)
@pytest.mark.parametrize("order", CHECKS)
@pytest.mark.parametrize("name", one_in(4, sorted(ROWS.keys() - UNDECIDED.keys())[::24]))
def test_a_sample_of_the_table(name, order):
    check_row(ROWS[name], CHECKS[order])


@pytest.mark.slow
@pytest.mark.parametrize("order", CHECKS)
@pytest.mark.parametrize("name", sorted(ROWS.keys() - UNDECIDED.keys()))
def test_the_whole_table(name, order):
    check_row(ROWS[name], CHECKS[order])


class Tripled(ja.autograd.Function):
    """Triples, with a slope of `slope` in forward mode."""

    slope = 3.0

    @staticmethod
    def forward(x):
        return x * 3

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3

    @classmethod
    def jvp(cls, ctx, tangent):
        return tangent * cls.slope


class WrongForward(Tripled):
    slope = 3.3


@pytest.mark.parametrize("fast_mode", some([True, False], 1))
def test_forward_mode_is_compared(fast_mode):
    ja.autograd.gradcheck(Tripled.apply, leaf(3), check_forward_ad=True, fast_mode=fast_mode)
    ja.autograd.gradcheck(WrongForward.apply, leaf(3), fast_mode=fast_mode)
    for backward in (True, False):
        with pytest.raises(GradientMismatchError, match="forward mode mismatch for output 0"):
            ja.autograd.gradcheck(
                WrongForward.apply, leaf(3), check_forward_ad=True, check_backward_ad=backward, fast_mode=fast_mode
            )
    ja.autograd.gradgradcheck(lambda x: x.sin() * x, leaf(2), check_fwd_over_rev=True, fast_mode=fast_mode)


def test_batched_gradients_and_tangents_are_compared():
    options = {"check_batched_grad": True, "check_forward_ad": True, "check_batched_forward_grad": True}
    ja.autograd.gradcheck(lambda x: (x.sin(), x * 2), leaf(3), check_grad_dtypes=True, **options)


def test_a_backward_that_cannot_do_without_a_gradient_is_found():
    def fn(x):
        y = x.clone()
        y.register_hook(lambda gradient: gradient * 1)
        return y

    with (
        pytest.warns(UserWarning, match="undefined gradient"),
        pytest.raises(GradientMismatchError, match="handle undefined output grads"),
    ):
        ja.autograd.gradcheck(fn, leaf(3))
    with pytest.warns(UserWarning, match="undefined gradient"):
        assert not ja.autograd.gradcheck(fn, leaf(3), raise_exception=False)
    ja.autograd.gradcheck(fn, leaf(3), check_undefined_grad=False)


def test_results_that_hide_what_they_depend_on_are_found():
    with pytest.raises(GradientMismatchError, match="expected to be zero"):
        ja.autograd.gradcheck(lambda x: x.detach() * 2, leaf(2))
    assert ja.autograd.gradcheck(lambda x: x.detach() * 0, leaf(2))
    assert ja.autograd.gradcheck(lambda x: (), leaf(2))


def test_something_has_to_be_compared():
    for options in ({"check_backward_ad": False}, {"check_batched_forward_grad": True}):
        with pytest.raises(UsageError, match="check_forward_ad"):
            ja.autograd.gradcheck(lambda x: x, leaf(2), **options)


def pushing(jvp):
    """Returns a Function of two arguments that are returned as they are, with a `jvp` of one's own."""

    class Same(ja.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x.clone(), y.clone()

    Same.jvp = staticmethod(jvp)
    return Same.apply


FORWARD_ALONE = {"check_forward_ad": True, "check_backward_ad": False}


def test_a_tangent_of_zeros_is_no_tangent():
    assert ja.autograd.gradcheck(pushing(lambda ctx, a, b: (a, b)), (leaf(1), leaf(1)), **FORWARD_ALONE)

    class Wrong(ja.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x + y

        @staticmethod
        def jvp(ctx, a, b):
            return 2 * b if a is None else 2 * a if b is None else a + b

    with pytest.raises(GradientMismatchError, match=r"tangent values for output with index: 0\. Input [01] has"):
        ja.autograd.gradcheck(Wrong.apply, (leaf(1), leaf(1)), **FORWARD_ALONE)
    assert ja.autograd.gradcheck(Wrong.apply, (leaf(1), leaf(1)), check_undefined_grad=False, **FORWARD_ALONE)


def test_random_numbers_in_a_mapped_jvp_are_found():
    def draws(ctx, a, b):
        ja.randn_like(a)
        return a, b

    with pytest.raises(GradientMismatchError, match="random operations inside of vmap"):
        ja.autograd.gradcheck(pushing(draws), (leaf(2), leaf(2)), check_batched_forward_grad=True, **FORWARD_ALONE)
    assert ja.autograd.gradcheck(pushing(draws), (leaf(2), leaf(2)), **FORWARD_ALONE)


def test_each_input_is_varied_by_a_step_that_its_numbers_allow():
    """A step for float32 would leave the neighbourhood in which x is smooth."""
    import jax

    with jax.enable_x64(True):
        x, scale = ja.tensor([0.01], dtype=ja.float64, requires_grad=True), ja.ones(1, requires_grad=True)
        assert scale.dtype == ja.float32
        ja.autograd.gradcheck(lambda x, scale: (x.sqrt() * scale).double(), (x, scale))
