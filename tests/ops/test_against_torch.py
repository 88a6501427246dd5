# ruff: noqa: E501 — a table of calls reads best with a row's on one line
"""Every row against the function of PyTorch of the same name: values, shapes, dtypes and gradients.

A sample is the arguments of a call, in schema order, with NumPy arrays for tensors. Rows of one or two operands that
promote get theirs by rule; `SAMPLES` has the others'. Rows without any are compared in `test_opdb.py`, on PyTorch's
own samples.
"""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
import jaxaot.ops.register_rows
from jaxaot.ops import table
from jaxaot.ops.schema import REQUIRED
from tests.rewritten import QUICKLY

torch = pytest.importorskip("torch")
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

NAMES_IN_OPDB = {op.name for op in op_db}
pytestmark = pytest.mark.oracle
RNG = np.random.default_rng(0)


def f(*shape):
    """Distinct floats, none on a kink."""
    values = RNG.permutation(int(np.prod(shape))).reshape(shape) / 7.3 + 0.13 - np.prod(shape) / 14
    return np.asarray(values, np.float32)


def u(*shape):
    """Floats in (0, 1)."""
    return np.asarray(RNG.uniform(0.1, 0.9, shape), np.float32)


def i(*shape, high=3, low=0):
    return RNG.integers(low, high, shape)


def b(*shape):
    return RNG.random(shape) < 0.5


def a(*values):
    return np.asarray(values, np.float32)


def half(x):
    return torch.as_tensor(x).to(torch.bfloat16)


def spd(*shape):
    x = RNG.normal(size=shape)
    return (x @ x.swapaxes(-1, -2) + 3 * np.eye(shape[-1])).astype(np.float32)


def call(*args, **kwargs):
    return args, kwargs


NAN, INF = np.nan, np.inf
KINKS = a(0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 6.0, 2.5)
NO_KINKS = {"relu", "abs", "sign", "sgn", "relu6", "hardtanh", "square", "softsign"}

# name → samples
SAMPLES = {
    # arithmetic
    "add": [call(f(2, 3), f(3), alpha=2), call(i(3), True), call(b(3), b(3)), call(f(2), 1), call(i(3), 1.5)],
    "sub": [call(f(2, 3), f(2, 1), alpha=0.5), call(i(3), i(3), alpha=2)],
    "rsub": [call(f(3), 2), call(i(3), f(3), alpha=2)],
    "div": [
        call(f(2, 3), f(3)), call(i(3), i(3, low=1)), call(f(4), f(4), rounding_mode="floor"),
        call(i(4, low=-5), 2, rounding_mode="trunc"), call(i(4, low=-5), -2, rounding_mode="floor"), call(i(3), 0.5),
        call(a(-1.0, 0.0, 5.0), 0.0, rounding_mode="floor"),
    ],
    "floor_divide": [call(a(-7, 7, 1), a(2, -2, 0)), call(i(4, low=-5), 2)],
    "remainder": [call(a(-7, 7, 5.5), a(2, -2, 2)), call(i(4, low=-5), -2), call(f(3), 0.7)],
    "fmod": [call(a(-7, 7, 5.5), a(2, -2, 2)), call(i(4, low=-5), -2)],
    "pow": [
        call(u(3), f(3)), call(a(0.0, 2.0, -1.5), 0), call(a(0.0, 2.0), 1), call(a(0.0, 2.0, -3.0), 2), call(2.0, f(3)),
        call(a(0.0, 2.0), 0.5), call(i(3), 2), call(i(3), 0.5), call(a(0.0, 2.0), a(0.0, 2.0)), call(0.0, a(0.0, 2.0)),
    ],
    "float_power": [call(i(3, low=1), 2), call(u(3), f(3))],
    "round": [call(f(4) * 3), call(a(0.5, 1.5, -2.5)), call(f(4), decimals=1), call(f(4) * 100, decimals=-1)],
    "logit": [call(u(3)), call(a(0.0, 0.3, 1.0), 0.1)],
    "nan_to_num": [call(a(NAN, INF, -INF, 1)), call(a(NAN, INF, -INF, 1), 2.0, 3.0, 4.0), call(i(2))],
    "polygamma": [call(0, u(3)), call(1, u(3) + 1), call(2, u(3) + 1)],
    "multigammaln": [call(u(3) + 3, 2)],
    "mvlgamma": [call(u(3) + 3, 2)],
    "gcd": [call(i(4, low=-9, high=9), i(4, high=9))],
    "lcm": [call(i(4, low=-9, high=9), i(4, high=9))],
    "lerp": [call(f(3), f(3), 0.3), call(f(2, 3), f(3), u(3))],
    "addcmul": [call(f(2, 3), f(3), f(2, 1), value=2)],
    "addcdiv": [call(f(2, 3), f(3), u(2, 1), value=2)],
    "clamp": [
        call(a(-1, 0, 0.5, 1, 2), 0, 1), call(f(3), None, 0.1), call(f(3), f(3), f(3) + 1), call(i(5), 1, 1.5),
        call(f(3), max=f(3)),
    ],
    "clamp_min": [call(a(-1, 0, 2), 0), call(f(3), f(3))],
    "clamp_max": [call(a(-1, 0, 2), 0), call(f(3), f(3))],
    "maximum": [call(a(0, 1, 2), a(0, 2, 1)), call(i(3), i(3))],
    "minimum": [call(a(0, 1, 2), a(0, 2, 1)), call(f(2, 3), f(3))],
    "fmax": [call(a(0, 1, NAN, 2), a(0, 2, 1, NAN))],
    "fmin": [call(a(0, 1, NAN, 2), a(0, 2, 1, NAN))],
    "xlogy": [call(a(0, 1, 2), a(1, 0, 3)), call(f(3), u(3))],
    "heaviside": [call(a(-1, 0, 1), a(5, 6, 7)), call(i(3, low=-1), i(3))],
    "nextafter": [call(f(3), f(3))],
    "where": [call(b(2, 3), f(3), f(2, 1)), call(b(3), 1.0, f(3)), call(b(3), i(3), 2.5)],
    "masked_fill": [call(f(2, 3), b(3), -INF), call(f(3), b(3), f()), call(i(3), b(3), 2)],
    "masked_scatter": [call(f(2, 3), b(2, 3), f(6)), call(f(2, 3), b(3), f(2, 3))],
    "isclose": [call(a(1, 2, NAN), a(1, 2.1, NAN)), call(a(1, NAN), a(1.01, NAN), 0.1, 0.0, True)],
    "bitwise_left_shift": [call(i(3), i(3))],
    "bitwise_right_shift": [call(i(3, high=99), i(3))],
    # reductions
    "sum": [call(f(2, 3)), call(f(2, 3), -1, True), call(b(2, 3)), call(i(3, 2, 2), (0, -1)), call(f(), 0), call(f(0))],
    "nansum": [call(a(1, NAN, 2)), call(f(2, 3), 0)],
    "prod": [call(a(2, 0, 3)), call(a(0, 0, 3)), call(f(2, 3), 1, True), call(b(3)), call(f(0))],
    "mean": [call(f(2, 3)), call(f(2, 3), -1, True), call(i(3), dtype=np.float32), call(half(f(4)))],
    "nanmean": [call(a(1, NAN, 2)), call(f(2, 3), 0)],
    "logsumexp": [call(f(2, 3), 1), call(a(-INF, -INF), 0), call(f(2, 3), (0, 1), True)],
    "count_nonzero": [call(i(2, 3)), call(i(2, 3), 1)],
    "entr": [call(u(2, 3)), call(u())],
    "trace": [call(f(3, 4))],
    "var": [
        call(f(2, 3)), call(f(2, 3), 1), call(f(2, 3), dim=(0, 1), correction=0, keepdim=True), call(f(5), False),
        call(f(2, 3), 1, False, True), call(a(1.0)),
    ],
    "std": [call(f(2, 3)), call(a(1, 1, 1)), call(f(2, 3), 1, True), call(f(2, 3), dim=0, correction=2)],
    "var_mean": [call(f(2, 3), 1), call(f(2, 3), dim=None, correction=0)],
    "std_mean": [call(f(2, 3), 1)],
    "amax": [call(a(1, 3, 3)), call(f(2, 3), -1, True), call(i(2, 3), (0, 1)), call(f(), 0)],
    "amin": [call(a(1, 1, 3)), call(f(2, 3), 0)],
    "aminmax": [call(f(2, 3)), call(f(2, 3), dim=1, keepdim=True)],
    "max": [call(a(1, 3, 3)), call(i(2, 3)), call(f())],
    "min": [call(a(1, 1, 3)), call(f(2, 3))],
    "max_dim": [call(np.array([[1, 3, 3], [0, NAN, 2]], np.float32), 1), call(i(2, 3, high=99), -2, True), call(f(), -1)],
    "min_dim": [call(np.array([[1, 1, 3], [0, NAN, 2]], np.float32), 1), call(f(2, 3), 0)],
    "max_other": [call(a(0, 1, 2), a(0, 2, 1))],
    "min_other": [call(a(0, 1, 2), a(0, 2, 1))],
    "argmax": [call(f(2, 3)), call(a(1, 3, 3)), call(f(2, 3), 1, True), call(f(), 0)],
    "argmin": [call(f(2, 3)), call(f(2, 3), -1)],
    "all": [call(b(2, 3)), call(i(2, 3), 1, True), call(f(0))],
    "any": [call(b(2, 3)), call(i(2, 3), 1), call(f(0))],
    "norm": [
        call(f(2, 3)), call(a(0, 0)), call(f(2, 3), 1, 1), call(f(2, 3), INF, 0, True), call(f(2, 3), 3, 1),
        call(f(3), 0), call(f(3), -INF), call(a(0, 0), 3),
    ],
    "dist": [call(f(3), f(3)), call(f(2, 3), f(3), 1)],
    "renorm": [call(f(2, 3), 2, 0, 0.5)],
    "cumsum": [call(f(2, 3), 1), call(i(3), 0), call(b(3), 0), call(f(), 0)],
    "cumprod": [call(a(1, 0, 2, 0, 3), 0), call(f(2, 3), -1)],
    "logcumsumexp": [call(f(2, 3), 1)],
    "cummax": [call(a(1, 3, 2, 3), 0), call(a(1, NAN, 2), 0), call(f(2, 3), 1)],
    "cummin": [call(a(3, 1, 2, 1), 0), call(f(2, 3), 1)],
    "diff": [call(f(2, 4), 2), call(f(2, 3), 1, 0, f(1, 3), f(2, 3)), call(b(4))],
    "trapezoid": [call(f(2, 3)), call(f(2, 3), f(3)), call(f(2, 3), dx=0.5, dim=0)],
    "cumulative_trapezoid": [call(f(2, 3)), call(f(2, 3), f(3))],
    # ordering
    "sort": [call(f(2, 3)), call(f(2, 3), 0, True), call(a(2, NAN, 1)), call(a(2, NAN, 1), 0, True), call(f())],
    "argsort": [call(f(2, 3)), call(a(1, 1, 0), stable=True)],
    "msort": [call(f(3, 2))],
    "topk": [call(f(2, 5), 2), call(f(5, 2), 3, 0, False), call(f(), 1)],
    "kthvalue": [call(f(2, 5), 2), call(f(2, 5), 1, 0, True)],
    "median": [call(f(2, 4)), call(a(1, NAN, 2))],
    "nanmedian": [call(a(1, NAN, 2))],
    "median_dim": [call(f(2, 4), 1), call(f(2, 5), 0, True)],
    "nanmedian_dim": [call(a(1, NAN, 2, 5), 0)],
    "mode": [call(np.array([[1, 2, 2], [3, 1, 0]], np.float32)), call(np.array([3, 1, 3, 1, 1]), 0, True)],
    "quantile": [call(f(2, 5), 0.3), call(f(2, 5), a(0.1, 0.5), 1, True), call(f(5), 0.3, interpolation="lower")],
    "nanquantile": [call(a(1, NAN, 2, 5), 0.3)],
    "searchsorted": [call(a(1, 2, 3), a(0, 2, 5)), call(np.sort(f(2, 3)), f(2, 4), right=True)],
    "bucketize": [call(a(0, 2, 5), a(1, 2, 3)), call(i(3), i(1), right=True)],
    "histc": [call(f(9), 4), call(f(9), 3, -1.0, 1.0)],
    "isin": [call(i(5), i(2)), call(i(5), i(2), invert=True)],
    # joining
    "cat": [call([f(2, 3), f(1, 3)]), call([f(2, 3), f(0)]), call([f(2), i(2)]), call([f(2, 3), f(2, 1)], -1)],
    "stack": [call([f(2, 3), f(2, 3)]), call([f(2), f(2)], -1)],
    "hstack": [call([f(2), f(3)]), call([f(2, 1), f(2, 3)])],
    "vstack": [call([f(2), f(2)])],
    "dstack": [call([f(2), f(2)]), call([f(2, 3), f(2, 3)])],
    "column_stack": [call([f(2), f(2, 2)])],
    "block_diag": [call([f(2, 3), f(2), f()])],
    "cartesian_prod": [call([f(2), f(3)])],
    "repeat": [call(f(2, 3), (2, 1, 2))],
    "tile": [call(f(2, 3), (2,)), call(f(2), (2, 2))],
    "repeat_interleave": [call(f(2, 3), 2), call(f(2, 3), 2, 1)],
    "repeat_interleave_each": [call(f(3, 2), np.array([1, 0, 2]), 0, output_size=3)],
    "roll": [call(f(2, 3), 2), call(f(2, 3), (1, -1), (0, 1))],
    "flip": [call(f(2, 3), (0, -1))],
    "fliplr": [call(f(2, 3))],
    "flipud": [call(f(2, 3))],
    "rot90": [call(f(2, 3)), call(f(2, 3, 2), -1, (1, 2))],
    "tril": [call(f(3, 3)), call(f(2, 3, 4), 1)],
    "triu": [call(f(3, 3), -1)],
    "diag": [call(f(3), 1), call(f(2, 3), -1)],
    "diag_embed": [call(f(2, 3)), call(f(2, 3), 1, 0, 2)],
    "diagflat": [call(f(2, 2), -1)],
    "pad": [
        call(f(2, 3), (1, 2)), call(f(2, 3), (1, -1, 0, 1), "constant", 2.5), call(f(1, 2, 4), (2, 1), "reflect"),
        call(f(1, 2, 4), (2, 1), "replicate"), call(f(1, 2, 4), (2, 1), "circular"), call(f(1, 2, 4), (-1, 1), "circular"),
    ],
    # products
    "matmul": [call(f(2, 3), f(3, 4)), call(f(3), f(3)), call(f(2, 1, 2, 3), f(4, 3, 2)), call(f(2, 3), f(3)), call(f(3), f(3, 2))],
    "mm": [call(f(2, 3), f(3, 4)), call(half(f(2, 3)), half(f(3, 2)))],
    "bmm": [call(f(2, 2, 3), f(2, 3, 1))],
    "mv": [call(f(2, 3), f(3))],
    "dot": [call(f(3), f(3))],
    "vdot": [call(f(3), f(3))],
    "inner": [call(f(2, 3), f(4, 3)), call(f(2), f())],
    "outer": [call(f(2), f(3))],
    "kron": [call(f(2, 2), f(1, 3))],
    "vecdot": [call(f(2, 3), f(2, 3))],
    "addmm": [call(f(4), f(2, 3), f(3, 4), beta=0.5, alpha=2), call(a(NAN, 1), f(2, 3), f(3, 2), beta=0)],
    "addmv": [call(f(2), f(2, 3), f(3), alpha=2)],
    "addr": [call(f(2, 3), f(2), f(3), beta=2)],
    "baddbmm": [call(f(2, 2, 1), f(2, 2, 3), f(2, 3, 2), alpha=0.5)],
    "addbmm": [call(f(2, 2), f(2, 2, 3), f(2, 3, 2))],
    "einsum": [call("ij,jk->ik", [f(2, 3), f(3, 4)]), call("b...i,...i->b...", [f(2, 4, 3), f(4, 3)])],
    "tensordot": [call(f(2, 3, 4), f(3, 4, 5)), call(f(2, 3), f(3, 2), ((0,), (1,)))],
    "cross": [call(f(2, 3), f(2, 3), 1), call(f(2, 3), f(1, 3), dim=-1)],
    "matrix_power": [call(f(2, 2), 3), call(spd(2, 2), -1), call(f(2, 2), 0)],
    "vander": [call(f(3)), call(f(3), 2, True)],
    "linalg_vander": [call(f(2, 3), N=2)],
    "cdist": [call(f(2, 3), f(4, 3)), call(f(2, 3), f(4, 3), 1.0)],
    "cov": [call(f(2, 4)), call(f(4), correction=0)],
    "corrcoef": [call(f(2, 4))],
    "chain_matmul": [call([f(2, 3), f(3, 4), f(4, 1)])],
    "multi_dot": [call([f(2, 3), f(3, 4), f(4, 1)])],
    # decompositions
    **{name: [call(spd(3, 3)), call(spd(2, 2, 2))] for name in (
        "inverse", "inv", "det", "slogdet", "logdet", "cholesky", "linalg_cholesky", "svdvals", "eigvalsh",
        "matrix_rank", "cond", "pinverse", "pinv", "qr", "lu_factor",
    )},
    "orgqr": [call(f(3, 2), u(2)), call(f(2, 3, 3), u(2, 3))],
    "matrix_exp": [call(f(3, 3) / 3), call(f(2, 2, 2))],
    "solve": [call(spd(3, 3), f(3, 2)), call(spd(3, 3), f(3)), call(spd(3, 3), f(2, 3), left=False)],
    "solve_triangular": [call(spd(3, 3), f(3, 2), upper=True), call(spd(3, 3), f(2, 3), upper=False, left=False)],
    "vector_norm": [call(f(2, 3)), call(f(2, 3), 1, -1, True), call(f(2, 3), 3.5), call(a(0, 0))],
    "matrix_norm": [call(f(2, 3)), call(f(2, 3), 1), call(f(2, 3), INF), call(f(2, 3), "nuc"), call(f(2, 3), 2)],
    "linalg_norm": [call(f(2, 3)), call(f(2, 3), 1), call(f(2, 3), 2, 1), call(f(2, 3), "fro", (0, 1))],
    "tensorinv": [call(spd(4, 4).reshape(2, 2, 4), 2)],
    # indexing
    "gather": [call(f(3, 2), 0, i(2, 2)), call(f(3), -1, i(5)), call(f(), 0, i(1) * 0)],
    "take_along_dim": [call(f(3, 2), i(1, 2), 0), call(f(3, 2), i(4))],
    "take": [call(f(3, 2), i(2, 2, high=6))],
    "index_select": [call(f(3, 2), 0, i(4)), call(f(2, 3), -1, i(2))],
    "scatter": [call(f(3, 2), 0, np.array([[0, 2], [1, 0]]), f(2, 2))],
    "scatter_value": [call(f(3, 2), 0, i(2, 2), 2.5)],
    "scatter_add": [call(f(3, 2), 0, i(4, 2), f(4, 2)), call(i(3), 0, i(4), i(4))],
    "scatter_reduce": [
        call(a(2, 0, 3), 0, np.array([0, 1, 1, 0]), a(4, 5, -1, 4) if reduce[0] == "a" else a(4, 5, 0, 4), reduce, include_self=include)
        for reduce in ("sum", "mean", "amax", "amin", "prod") for include in (True, False)
    ],
    "index_add": [call(f(3, 2), 0, i(4), f(4, 2), alpha=2)],
    "index_copy": [call(f(3, 2), 0, np.array([2, 0]), f(2, 2))],
    "index_fill": [call(f(3, 2), 0, np.array([2, 0]), 1.5), call(f(2, 3), -1, np.array([1]), f())],
    "index_reduce": [
        call(a(2, 0, 3), 0, np.array([0, 1, 1, 0]), a(4, 5, 0, 7), reduce, include_self=include)
        for reduce in ("mean", "amax", "amin", "prod") for include in (True, False)
    ],
    "index_put": [
        call(f(3, 2), [np.array([0, 2])], f(2, 2)), call(f(3, 2), [i(4), i(4, high=2)], f(4), True),
        call(f(3, 2), [np.array([True, False, True])], f(2, 2)), call(f(3, 2), [b(3, 2)], f()),
    ],
    "put": [call(f(3, 2), np.array([0, 5]), f(2)), call(f(3, 2), np.array([0, 0]), f(2), True)],
    "select_scatter": [call(f(3, 2), f(2), 0, -1)],
    "slice_scatter": [call(f(4, 2), f(2, 2), 0, 0, 4, 2), call(f(2, 3), f(2, 1), -1, -1)],
    "diagonal_scatter": [call(f(3, 3), f(2), 1)],
    "fill": [call(f(2), 3), call(i(2), f() * 9)],
    "zero": [call(f(2))],
    "copy": [call(f(2, 3), f(3)), call(i(3), f(3) * 9)],
    "fill_diagonal": [call(f(3, 2), 5.0), call(f(5, 2), 5.0, True)],
    # factories
    "zeros": [call((2, 3)), call((2,), dtype=np.int64)],
    "ones": [call((2, 3)), call((), dtype=np.bool_)],
    "full": [call((2,), 3), call((2,), 2.5), call((2,), True), call((2,), 1, dtype=np.float32)],
    "zeros_like": [call(i(2)), call(i(2), dtype=np.float32)],
    "ones_like": [call(f(2))],
    "full_like": [call(f(2), 3), call(i(2), 3)],
    "new_zeros": [call(f(2), (3,))],
    "new_ones": [call(i(2), (3,))],
    "new_full": [call(f(2), (3,), 2)],
    "arange": [call(5), call(1, 6, 2), call(1.0, 2.0, 0.3), call(5, 1, -2), call(3, dtype=np.float32)],
    "linspace": [call(0, 1, 5), call(4, -3, 4), call(0, 1, 1)],
    "logspace": [call(0, 1, 4), call(0, 3, 3, 2.0)],
    "eye": [call(3), call(2, 3)],
    "kaiser_window": [call(5), call(1), call(6, False, 3.0)],
    "fft_fftfreq": [call(5), call(4, 0.5), call(0)],
    "fft_rfftfreq": [call(5), call(4, 0.5)],
    "tril_indices": [call(3, 4, 1)],
    "triu_indices": [call(3, 4, -1)],
    **{f"{name}_window": [call(6), call(5, False)] for name in ("hann", "hamming", "blackman", "bartlett")},
    # activations
    "leaky_relu": [call(KINKS), call(f(3), 0.2)],
    "hardtanh": [call(KINKS), call(f(5), -0.3, 0.2)],
    "prelu": [call(f(2, 3, 2), f(3)), call(f(4), f(1))],
    "elu": [call(KINKS), call(f(4), 0.5)],
    "celu": [call(KINKS), call(f(4), 0.5)],
    "gelu": [call(KINKS), call(KINKS, approximate="tanh")],
    "softplus": [call(KINKS), call(a(-100, 0, 30, 100), 2.0, 10.0)],
    "hardshrink": [call(KINKS)],
    "softshrink": [call(KINKS)],
    "threshold": [call(KINKS, 1.0, 9.0)],
    "glu": [call(f(2, 4)), call(f(4, 2), 0)],
    "rrelu": [call(f(4))],
    **{name: [call(f(2, 3), 1), call(f(3), 0), call(f(), 0), call(i(3), 0, dtype=np.float32)]
       for name in ("softmax", "log_softmax", "softmin")},
    # losses
    **{name: [call(f(2, 3), f(2, 3)), call(f(3), f(3), reduction="sum"), call(a(1, 2), a(1, 1), reduction="none")]
       for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")},
    "binary_cross_entropy": [call(u(2, 3), u(2, 3)), call(a(0, 1, 0, 1), a(0, 1, 1, 0), reduction="none"), call(u(3), u(3), u(3))],
    "binary_cross_entropy_with_logits": [call(f(2, 3), u(2, 3)), call(f(2, 3), u(2, 3), u(3), reduction="sum", pos_weight=u(3))],
    "kl_div": [call(f(2, 3), u(2, 3), reduction="batchmean"), call(f(3), a(3, 1, 2), reduction="sum"), call(f(3), f(3), log_target=True)],
    "nll_loss": [call(f(2, 3), i(2)), call(f(3, 3), np.array([0, 1, -100]), u(3)), call(f(2, 3, 2), i(2, 2), reduction="none")],
    "cross_entropy": [
        call(f(2, 3), i(2)), call(f(3, 3), np.array([0, 1, 2]), u(3), ignore_index=1, label_smoothing=0.1),
        call(f(2, 3), u(2, 3)), call(f(2, 3, 2), u(2, 3, 2), u(3), label_smoothing=0.2, reduction="none"), call(f(3), np.array(1)),
        call(f(2, 3, 2), i(2, 2), reduction="sum"), call(f(2, 3), i(2), label_smoothing=0.1),
    ],
    "poisson_nll_loss": [call(f(3), u(3) * 3, full=True), call(u(3), u(3), log_input=False)],
    "gaussian_nll_loss": [call(f(2, 3), f(2, 3), u(2, 3)), call(f(2, 3), f(2, 3), u(2, 1), full=True)],
    "soft_margin_loss": [call(f(3), a(1, -1, 1))],
    "hinge_embedding_loss": [call(f(3), a(1, -1, 1))],
    "margin_ranking_loss": [call(f(3), f(3), a(1, -1, 1), 0.1)],
    "triplet_margin_loss": [call(f(2, 3), f(2, 3), f(2, 3)), call(f(2, 3), f(2, 3), f(2, 3), swap=True)],
    "cosine_embedding_loss": [call(f(3, 4), f(3, 4), a(1, -1, 1))],
    # norms
    "layer_norm": [call(f(2, 3), (3,)), call(f(2, 2, 3), (2, 3), f(2, 3), f(2, 3), 0.1), call(half(f(2, 4)), (4,))],
    "rms_norm": [call(f(2, 3), (3,)), call(f(2, 3), (3,), f(3), 0.1)],
    "group_norm": [call(f(2, 4, 3), 2), call(f(2, 4), 4, f(4), f(4))],
    "batch_norm": [
        call(f(4, 3), u(3), u(3), f(3), f(3)), call(f(4, 3), None, None, f(3), None, True), call(f(2, 3, 4), f(3), u(3), None, None, True),
    ],
    "instance_norm": [call(f(2, 3, 4)), call(f(2, 3, 4), None, None, f(3), f(3))],
    "local_response_norm": [call(f(2, 4, 3), 2), call(f(2, 5, 2), 3, 0.1, 0.5, 2.0)] ,
    "normalize": [call(f(2, 3)), call(np.zeros((2, 3), np.float32)), call(f(2, 3), 1.0, 0)],
    "cosine_similarity": [call(f(2, 3), f(2, 3)), call(f(2, 3), f(3), -1)],
    "pairwise_distance": [call(f(2, 3), f(2, 3)), call(f(2, 3), f(2, 3), 1.0, keepdim=True)],
    # convolutions and pools
    "conv1d": [call(f(1, 2, 5), f(3, 2, 2), f(3)), call(f(2, 5), f(4, 1, 3), None, 1, "same", 2, 2)],
    "conv2d": [call(f(1, 2, 4, 4), f(2, 2, 3, 3), None, 2, 1), call(f(1, 2, 4, 4), f(2, 2, 1, 2), f(2), (1, 2), "valid")],
    "conv3d": [call(f(1, 1, 2, 3, 3), f(1, 1, 2, 2, 2))],
    "conv_transpose1d": [call(f(1, 2, 4), f(2, 3, 3), f(3), 2, 1, 1), call(f(1, 4, 3), f(4, 1, 2), None, 1, 0, 0, 2, 2)],
    "conv_transpose2d": [call(f(1, 2, 3, 3), f(2, 1, 2, 3), None, (2, 1), 1)],
    "conv_transpose3d": [call(f(1, 1, 2, 2, 2), f(1, 1, 2, 2, 2))],
    "pixel_shuffle": [call(f(1, 4, 2, 3), 2)],
    "pixel_unshuffle": [call(f(1, 1, 4, 6), 2)],
    "unfold_patches": [call(f(1, 2, 4, 4), 2), call(f(1, 1, 5, 4), (2, 3), 1, 1, 2)],
    "max_pool1d": [call(f(1, 2, 5), 2), call(f(2, 6), 3, 2, 1, 1, True)],
    "max_pool2d": [call(f(1, 1, 4, 4), 2), call(f(1, 1, 5, 5), (2, 3), 1, 1, 2)],
    "max_pool3d": [call(f(1, 1, 2, 2, 4), 2)],
    "max_pool1d_with_indices": [call(f(1, 2, 5), 2, 1, 1)],
    "max_pool2d_with_indices": [call(f(1, 1, 5, 4), 2, None, 1, 1, True)],
    "max_pool3d_with_indices": [call(f(1, 1, 2, 2, 4), 2)],
    "avg_pool1d": [call(f(1, 2, 5), 2), call(f(2, 6), 3, 2, 1, True, False)],
    "avg_pool2d": [call(f(1, 1, 4, 4), 2), call(f(1, 1, 5, 5), (2, 3), 1, 1, True, True, 3)],
    "avg_pool3d": [call(f(1, 1, 2, 2, 4), 2)],
    "adaptive_avg_pool1d": [call(f(1, 2, 5), 3)],
    "adaptive_avg_pool2d": [call(f(1, 1, 4, 5), (2, 3)), call(f(1, 4, 5), (1, None))],
    "adaptive_avg_pool3d": [call(f(1, 1, 2, 3, 2), 2)],
    "adaptive_max_pool1d": [call(f(1, 2, 5), 3)],
    "adaptive_max_pool2d": [call(f(1, 1, 4, 5), (2, 3))],
    "adaptive_max_pool3d": [call(f(1, 1, 2, 3, 2), 2)],
    "lp_pool1d": [call(u(1, 2, 5), 2.0, 2)],
    "lp_pool2d": [call(u(1, 1, 4, 4), 3.0, 2)],
    "lp_pool3d": [call(u(1, 1, 2, 2, 4), 2.0, 2)],
    "interpolate": [
        call(f(1, 2, 3), 5), call(f(1, 2, 3), None, 1.7), call(f(1, 2, 3), 7, None, "nearest-exact"),
        call(f(1, 2, 3), 5, None, "linear", True), call(f(1, 1, 3, 4), (5, 3), None, "bilinear"),
        call(f(1, 1, 3, 4), None, 1.5, "bilinear", False), call(f(1, 1, 3, 4), (5, 3), None, "bicubic"),
        call(f(1, 1, 3, 4), (2, 3), None, "area"), call(f(1, 1, 2, 2, 3), 3, None, "trilinear"),
    ],
    "adaptive_max_pool1d_with_indices": [call(f(1, 2, 5), 3)],
    "adaptive_max_pool2d_with_indices": [call(f(1, 1, 4, 5), (2, 3))],
    "adaptive_max_pool3d_with_indices": [call(f(1, 1, 2, 3, 2), 2)],
    "upsample": [call(f(1, 2, 3), None, 2), call(f(1, 1, 3, 4), (5, 3), None, "bilinear", True)],
    "affine_grid": [call(f(2, 2, 3), (2, 1, 3, 4), False), call(f(1, 3, 4), (1, 1, 2, 3, 1), True)],
    "grid_sampler": [call(f(1, 2, 3, 4), f(1, 2, 2, 2), 0, 1, True), call(f(1, 1, 2, 3, 3), f(1, 2, 2, 1, 3), 0, 2, False)],
    "fold": [call(f(1, 8, 4), (3, 3), 2), call(f(12, 15), (4, 5), (2, 3), 1, (1, 0), 1)],
    "ctc_loss_of_lengths": [call(f(5, 2, 4), i(2, 3, high=4, low=1), (5, 4), (3, 1)), call(f(4, 3), i(2, low=1), (4,), (2,))],
    # layers
    "linear": [call(f(2, 3), f(4, 3), f(4)), call(f(3), f(4, 3)), call(half(f(2, 3)), half(f(2, 3)))],
    "grouped_mm": [call(f(2, 3, 4), f(2, 4, 8))],
    "bilinear": [call(f(2, 3), f(2, 4), f(5, 3, 4), f(5))],
    "embedding": [call(i(2, 3), f(4, 2)), call(np.array([0, 1, 0]), f(3, 2), 0), call(i(2), f(4, 2), -1)],
    "one_hot": [call(i(2, 2), 4)],
    "scaled_dot_product_attention": [
        call(f(2, 3, 4), f(2, 5, 4), f(2, 5, 2)), call(f(2, 3, 4), f(2, 3, 4), f(2, 3, 4), is_causal=True),
        call(f(3, 4), f(2, 4), f(2, 4), np.array([[True, False], [False, False], [True, True]])),
        call(f(3, 4), f(2, 4), f(2, 4), f(3, 2), scale=0.3),
        call(f(1, 4, 3, 2), f(1, 2, 3, 2), f(1, 2, 3, 2), enable_gqa=True),
    ],
    "zeta": [call(u(3) + 2, u(3) + 1)],
    "gammainc": [call(u(3), u(3) + 1)],
    "gammaincc": [call(u(3), u(3) + 1)],
}  # fmt: skip

DRAWN = {spec.name for spec in table.rows() if spec.is_random}
VECTORS_OF_SIGN = {"eigh", "svd", "lu"}  # unique up to signs or not one function of PyTorch: below
WITHOUT = (DRAWN - set(SAMPLES)) | VECTORS_OF_SIGN | {"empty", "empty_like", "new_empty", "cholesky_solve", "lstsq"}
WITHOUT |= {"read_window", "write_window"}  # what an index by a number that changes becomes: tests/tracer
WITHOUT |= {"lobpcg"}  # vectors are unique up to signs: below
VALUES_ONLY = {"vander", "floor_divide", "renorm", "lu_factor", "gammainc", "gammaincc", "zeta", "qr", "index_reduce"}
OURS = {"jaxaot.ops.copies", "jaxaot.ops.shape"}  # rows of the facade, without a function of PyTorch's; see its tests

ROWS = [
    spec
    for spec in table.rows()
    if spec.fn.__module__ not in OURS
    and spec.name not in WITHOUT
    and (spec.name in SAMPLES or (spec.promote and not NAMES_IN_OPDB & {*spec.namespaced_names, *spec.aliases}))
]


def samples(spec):
    """Returns the samples of a row: its own, or those for its number of operands."""
    if spec.name in SAMPLES:
        return SAMPLES[spec.name]
    assert spec.promote, f"{spec.name} has no samples"
    n = len(spec.schema.dynamic)
    integers = spec.name.startswith("bitwise")
    if n == 1:
        if integers:
            return [call(i(3)), call(b(3))]
        more = [call(i(3, low=1))] if spec.name not in NEED_FLOATS else []
        kinks = [call(a(0.0, -0.0))] if spec.name in NO_KINKS else []
        return [call(u(2, 3)), call(f(5)), call(f()), *more, *kinks]
    if integers:
        return [call(i(2, 3), i(3)), call(b(3), b(3))]
    both = [call(u(2, 3) + 1, u(3) + 1), call(f(3), f(1))]
    return both if spec.name in NEED_FLOATS else [*both, call(i(3, low=1), i(3, low=1))]


NEED_FLOATS = {
    "silu", "gelu", "mish", "softplus", "selu", "celu", "elu", "logsigmoid", "tanhshrink", "hardswish", "hardsigmoid",
    "relu6", "softsign", "hypot", "logaddexp", "logaddexp2", "copysign", "frac", "ldexp",
}  # fmt: skip

OTHER_NAMES = {
    "max_dim": "max", "max_other": "max", "min_dim": "min", "min_other": "min", "median_dim": "median",
    "nanmedian_dim": "nanmedian", "scatter_value": "scatter", "repeat_interleave_each": "repeat_interleave",
    "unfold_patches": "unfold", "ctc_loss_of_lengths": "ctc_loss", "linalg_norm": "norm", "linalg_cholesky": "cholesky", "linalg_vander": "vander",
    "fft_fftfreq": "fftfreq", "fft_rfftfreq": "rfftfreq", "polygamma_write": "polygamma",
    "float_power_write": "float_power",
}  # fmt: skip


def reference(spec):
    """Returns PyTorch's function for a row."""
    if spec.is_inplace_only:
        return lambda x, *args, **kwargs: getattr(x * 1, spec.inplace_name)(*args, **kwargs)
    name = OTHER_NAMES.get(spec.name, spec.name)
    if name.endswith("_with_indices"):
        pool = getattr(torch.nn.functional, name.removesuffix("_with_indices"))
        return lambda *args, **kwargs: pool(*args, **kwargs, return_indices=True)
    if name == "unfold":
        return torch.nn.functional.unfold
    if name == "chain_matmul":
        return lambda matrices: torch.linalg.multi_dot(matrices)
    if name in ("einsum", "block_diag", "cartesian_prod"):
        function = getattr(torch, name)
        return function if name == "einsum" else lambda tensors, **kwargs: function(*tensors, **kwargs)
    homes = {
        "": torch,
        "nn.functional": torch.nn.functional,
        "linalg": torch.linalg,
        "special": torch.special,
        "fft": torch.fft,
    }
    for namespace in reversed(spec.namespaces):
        if hasattr(homes[namespace], name):
            return getattr(homes[namespace], name)
    return getattr(torch.Tensor, name)


def to_torch(value, leaves):
    if isinstance(value, (np.ndarray, torch.Tensor)):
        tensor = torch.as_tensor(value).clone()
        if tensor.is_floating_point():
            leaves.append(tensor.requires_grad_())
        return tensor
    if isinstance(value, list):
        return [to_torch(item, leaves) for item in value]
    if isinstance(value, type) and issubclass(value, np.generic):
        return getattr(torch, value.__name__.rstrip("_"))
    return value


def to_jax(value):
    if isinstance(value, torch.Tensor):
        return jnp.asarray(value.detach().float().numpy(), str(value.dtype).removeprefix("torch."))
    if isinstance(value, np.ndarray):
        return jnp.asarray(value)
    return [to_jax(item) for item in value] if isinstance(value, list) else value


def bound(spec, args, kwargs):
    """Returns the dynamic and static values of a call by the row's schema."""
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(p.name, kinds[p.is_keyword_only], default=inspect.Parameter.empty if p.default is REQUIRED else p.default)
        for p in sorted(spec.schema.parameters, key=lambda p: p.is_keyword_only)
    ]  # fmt: skip
    for position in range(len(parameters) - 1, 0, -1):  # Python wants defaults last; `arange(start=0, end)` does not
        if parameters[position].default is inspect.Parameter.empty and parameters[position].kind == kinds[0]:
            parameters[position - 1] = parameters[position - 1].replace(default=inspect.Parameter.empty)
    found = inspect.Signature(parameters).bind(*args, **kwargs)
    found.apply_defaults()
    values = found.arguments
    return [to_jax(values[p.name]) for p in spec.schema.dynamic], [values[p.name] for p in spec.schema.static]


def as_list(results):
    return list(results) if isinstance(results, (tuple, list)) else [results]


def as_numpy(value):
    value = value.detach() + 0 if value.dtype != torch.bool else value  # a lazy zero becomes one in memory
    return value.float().numpy() if value.dtype == torch.bfloat16 else value.numpy()


def floats(values):
    """Returns places of the float arrays among the leaves of `values`."""
    return [place for place, value in enumerate(jax.tree.leaves(values)) if hasattr(value, "dtype") and jnp.issubdtype(value.dtype, jnp.floating)]  # fmt: skip


def compute_reference(spec, args, kwargs):
    """Returns PyTorch's results and the leaves to differentiate, fewer where PyTorch says that some cannot be."""
    for n_differentiated in (None, 1, 0):
        leaves = []
        arguments = [to_torch(value, leaves) for value in args]
        named = {name: to_torch(value, leaves) for name, value in kwargs.items()}
        for leaf in leaves[n_differentiated:] if n_differentiated is not None else []:
            leaf.requires_grad_(False)
        try:
            return as_list(reference(spec)(*arguments, **named)), leaves
        except RuntimeError as error:
            if "not differentiable" not in str(error) and "requires_grad" not in str(error):
                raise
    raise AssertionError(f"{spec.name}: PyTorch does not compute it")


CASES = [(spec, n) for spec in ROWS for n in range(len(samples(spec)))]


def test_every_row_is_compared():
    elsewhere = NAMES_IN_OPDB | {spec.name for spec in ROWS} | WITHOUT | set(OTHER_NAMES)
    missing = [
        spec.name
        for spec in table.rows()
        if spec.fn.__module__ not in OURS
        and not {*spec.namespaced_names, *spec.aliases, spec.name, spec.overload_of} & elsewhere
    ]
    assert not missing
    assert not set(SAMPLES) - {spec.name for spec in table.rows()}
    assert not set(SAMPLES) & WITHOUT


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("spec", "n"), CASES, ids=lambda value: getattr(value, "name", value))
def test_row(spec, n):
    args, kwargs = samples(spec)[n]
    key = jax.random.PRNGKey(0) if spec.is_random else None
    wanted, leaves = compute_reference(spec, args, kwargs)
    dynamic, static = bound(spec, args, kwargs)
    flat, tree = jax.tree.flatten(dynamic)
    places = floats(dynamic)

    def compute(*values):
        operands = list(flat)
        for place, value in zip(places, values, strict=True):
            operands[place] = value
        return spec.evaluate(jax.tree.unflatten(tree, operands), static, key)[: len(wanted)]

    def pulled_back(values, cotangents):
        """Values and gradients come from one program, which takes less time to compile than two."""
        got, vjp = jax.vjp(compute, *values)
        pulled = vjp(
            tuple(
                np.zeros(ours.shape, jax.dtypes.float0) if not jnp.issubdtype(ours.dtype, jnp.floating)
                else jnp.zeros_like(ours) if ct is None else jnp.asarray(ct, ours.dtype)
                for ours, ct in zip(got, cotangents, strict=True)
            )
        )  # fmt: skip
        return got, pulled

    differentiated = spec.is_differentiable and spec.name not in VALUES_ONLY and any(w.requires_grad for w in wanted)
    values, pulled = [flat[place] for place in places], ()
    cotangents = [torch.rand_like(w) if w.requires_grad else None for w in wanted]
    if differentiated:
        given = [None if ct is None else ct.float().numpy() for ct in cotangents]
        got, pulled = jax.jit(pulled_back, compiler_options=QUICKLY)(values, given)
    else:
        got = jax.jit(compute, compiler_options=QUICKLY)(*values)
    tolerance = 0.05 if any(w.dtype == torch.bfloat16 for w in wanted) else 3e-4
    assert len(got) == len(wanted)
    for ours, theirs in zip(got, wanted, strict=True):
        dtype = (
            str(theirs.dtype).removeprefix("torch.").replace("64", "32")
            if theirs.dtype != torch.bfloat16
            else "bfloat16"
        )
        assert (ours.shape, str(ours.dtype)) == (tuple(theirs.shape), dtype)
        np.testing.assert_allclose(
            np.asarray(ours, dtype="float32"), as_numpy(theirs).astype("float32"), tolerance, tolerance
        )
    if not differentiated:
        return
    asked = [leaf for leaf in leaves if leaf.requires_grad]
    pairs = [(w, ct) for w, ct in zip(wanted, cotangents, strict=True) if ct is not None]
    theirs = torch.autograd.grad([w for w, _ in pairs], asked, [ct for _, ct in pairs], allow_unused=True)
    gradients = {id(leaf): gradient for leaf, gradient in zip(asked, theirs, strict=True)}
    assert len(leaves) == len(pulled)
    for leaf, ours in zip(leaves, pulled, strict=True):
        if leaf.requires_grad:
            gradient = gradients[id(leaf)]
            expected = np.zeros(leaf.shape) if gradient is None else as_numpy(gradient)
            np.testing.assert_allclose(np.asarray(ours, "float32"), expected, 10 * tolerance, 3 * tolerance)


# What is unique only up to signs, or has no function of the same signature


def row(name, *args, **kwargs):
    spec = table.lookup(name)
    results = spec.evaluate(*bound(spec, args, kwargs))
    return results[0] if len(results) == 1 else results


def test_decompositions_give_back_the_matrix():
    x = f(3, 2)
    for full in (True, False):
        left, values, right = row("linalg_svd", x, full)
        np.testing.assert_allclose(left[:, :2] * values @ right, x, rtol=1e-4, atol=1e-5)
    s = spd(3, 3)
    values, vectors = row("eigh", np.tril(s), "L")
    np.testing.assert_allclose(vectors * values @ vectors.T, s, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(row("eigvalsh", np.triu(s), "U"), values, rtol=1e-4)
    p, lower, upper = row("linalg_lu", s)
    np.testing.assert_allclose(p @ lower @ upper, s, rtol=1e-4, atol=1e-4)
    solution = row("cholesky_solve", x, np.linalg.cholesky(s))
    np.testing.assert_allclose(s @ solution, x, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(row("lstsq", s, x)[0], np.linalg.solve(s, x), rtol=1e-3, atol=1e-4)


def test_extreme_eigenpairs():
    torch.manual_seed(0)  # both begin at random vectors, and from a few PyTorch finds nothing
    ja.manual_seed(0)
    s, b, none = spd(9, 9), spd(9, 9), None
    cases = [(s, 2, none, True), (s, 3, none, False), (s, 2, b, True), (np.stack([s, b]), 2, none, none)]
    for A, k, B, largest in cases:
        ours = ja.tensor(A, requires_grad=True), none if B is None else ja.tensor(B)
        theirs = torch.tensor(A, requires_grad=True), none if B is None else torch.tensor(B)
        values, vectors = ja.lobpcg(ours[0], k, ours[1], largest=largest)
        torch_values, torch_vectors = torch.lobpcg(theirs[0], k, theirs[1], niter=100, largest=largest)
        np.testing.assert_allclose(values.detach(), torch_values.detach(), rtol=1e-3)
        np.testing.assert_allclose(abs(vectors.detach().numpy()), abs(torch_vectors.detach().numpy()), atol=2e-2)
        if B is None:
            (values.sum() + (vectors**4).sum()).backward()
            (torch_values.sum() + (torch_vectors**4).sum()).backward()
            np.testing.assert_allclose(ours[0].grad, theirs[0].grad, atol=2e-2)
    several = ja.diag(ja.tensor([3.0, 1.0, 1.0, 1.0])).requires_grad_()  # equal eigenvalues that are not asked for
    values, vectors = ja.lobpcg(several)
    (values.sum() + (vectors**4).sum()).backward()
    assert several.grad.isfinite().all()
    with pytest.raises(ja.errors.ArgumentError, match="tracker"):
        ja.lobpcg(several, tracker=print)


def test_running_statistics():
    x, mean, var = f(4, 3, 2), f(3), u(3)
    _, new_mean, new_var = row("batch_norm", x, mean, var, None, None, True, 0.3)
    torch_mean, torch_var = torch.as_tensor(mean).clone(), torch.as_tensor(var).clone()
    torch.nn.functional.batch_norm(torch.as_tensor(x), torch_mean, torch_var, training=True, momentum=0.3)
    np.testing.assert_allclose(new_mean, torch_mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(new_var, torch_var, rtol=1e-5)


def test_nan_in_the_branch_not_taken_stays_there():
    def loss(x):
        return jnp.sum(row("where", x > 0, row("log", x), row("masked_fill", x, x <= 0, 0.0)))

    np.testing.assert_allclose(jax.grad(loss)(jnp.asarray([2.0, 4.0])), [0.5, 0.25])
    spec = table.lookup("masked_fill")
    masked = jax.grad(lambda x: jnp.nansum(spec.evaluate([x, jnp.asarray([True, False]), 0.0], [])[0]))
    np.testing.assert_allclose(masked(jnp.asarray([np.nan, 1.0])), [0, 1])
