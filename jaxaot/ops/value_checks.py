"""Checks of values: what PyTorch refuses when it runs an op, and what no shape shows.

An index beyond the end, a class that does not exist, a singular matrix. A compiled graph cannot raise, and on an
accelerator a look at values would wait for all that was computed before; so these checks are made eagerly on CPU only,
before an op runs or on its results, and nothing is written when they fail. In a graph an index out of range reads the
nearest element and writes nowhere, as in JAX; what else is checked here gives NaN or inf there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxaot._typing import ArrayLike
from jaxaot.errors import DimError, SingularMatrixError, TensorError
from jaxaot.ops.table import ValueCheck, register_check


def checks(*names: str, reads: str, of_integers: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Returns a decorator that makes a function the check of the rows `names`.

    It takes the row's parameters by name. Those named in `reads` arrive as NumPy arrays, or as the number or None that
    was passed; of other tensors only shape and dtype are to be looked at. One `of_integers` is not made of floats.
    """

    def add(fn: Callable[..., None]) -> Callable[..., None]:
        for name in names:
            register_check(name, ValueCheck(fn, tuple(reads.split()), of_integers=of_integers))
        return fn

    return add


def checks_results(*names: str, reads: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Returns a decorator that makes a function the check of the results of rows: it takes them and the parameters."""

    def add(fn: Callable[..., None]) -> Callable[..., None]:
        for name in names:
            register_check(name, ValueCheck(fn, tuple(reads.split()), of_results=True))
        return fn

    return add


def _worst(index: ArrayLike, low: int, high: int) -> int | None:
    """Returns an entry that is not in `low <= entry < high`, or None."""
    index = np.asarray(index)
    if index.dtype.kind not in "iu" or not index.size:
        return None
    least, greatest = int(index.min()), int(index.max())
    return least if least < low else greatest if greatest >= high else None


def _size(self: ArrayLike, dim: object) -> int | None:
    """Returns the size of a dim, 1 for a 0-d tensor; None if there is no such dim, which the op itself will say."""
    shape = np.shape(self)
    if not shape:
        return 1
    return shape[dim] if isinstance(dim, int) and -len(shape) <= dim < len(shape) else None


# -- indices -----------------------------------------------------------------------------------------------------------


@checks(
    "gather", "scatter", "scatter_value", "scatter_add", "scatter_reduce", "index_copy", "index_fill", reads="index"
)
def _places(self: ArrayLike, dim: int, index: ArrayLike, **_: object) -> None:
    n = _size(self, dim)
    worst = None if n is None else _worst(index, 0, n)
    if worst is not None:
        raise DimError(f"index {worst} is out of bounds for dimension {dim} with size {n}")


@checks("index_select", "index_add", "index_reduce", reads="index")
def _along(self: ArrayLike, dim: int, index: ArrayLike, **_: object) -> None:
    n = _size(self, dim)
    worst = None if n is None else _worst(index, 0, n)
    if worst is not None:
        raise DimError(f"index out of range in self: {worst} for dimension {dim} with size {n}")


@checks("take", "put", reads="index")
def _flat(self: ArrayLike, index: ArrayLike, **_: object) -> None:
    n = math.prod(np.shape(self))
    worst = _worst(index, -n, n)
    if worst is not None:
        raise DimError(f"out of range: tried to access index {worst} on a tensor of {n} elements.")


@checks("take_along_dim", reads="indices")
def _take_along(self: ArrayLike, indices: ArrayLike, dim: int | None) -> None:
    n = math.prod(np.shape(self))
    worst = None if dim is not None else _worst(indices, 0, n)  # along a dim they wrap around
    if worst is not None:
        raise DimError(f"index {worst} is out of bounds for dimension 0 with size {n}")


@checks("index_put", reads="indices")
def _put_places(self: ArrayLike, indices: Sequence[Any], **_: object) -> None:
    dim = 0
    for index in indices:
        mask_dims = np.ndim(index) if index is not None and np.asarray(index).dtype == bool else 1
        n = _size(self, dim)
        worst = None if n is None or index is None else _worst(index, -n, n)
        if worst is not None:
            raise DimError(f"index {worst} is out of bounds for dimension {dim} with size {n}")
        dim += mask_dims


@checks("embedding", "embedding_bag", reads="input")
def _rows(input: ArrayLike, weight: ArrayLike, **_: object) -> None:
    shape = np.shape(weight)
    worst = _worst(input, 0, shape[0]) if len(shape) == 2 else None
    if worst is not None:
        raise DimError(f"index out of range in self: the embedding has {shape[0]} rows, and the input asks for {worst}")


@checks("nll_loss", "cross_entropy", reads="target")
def _classes(input: ArrayLike, target: ArrayLike, ignore_index: int, **_: object) -> None:
    shape = np.shape(input)
    if not shape or target is None:
        return
    n = shape[0] if len(shape) == 1 else shape[1]
    target = np.asarray(target)
    worst = _worst(target[target != ignore_index], 0, n)
    if worst is not None:
        raise DimError(f"Target {worst} is out of bounds: there are {n} classes.")


@checks("multi_margin_loss", reads="target")
def _margin_classes(input: ArrayLike, target: ArrayLike, **_: object) -> None:
    shape = np.shape(input)
    worst = _worst(target, 0, shape[-1]) if shape else None
    if worst is not None:
        raise TensorError(f"target out of range: {worst}, of {shape[-1]} classes")


@checks("one_hot", reads="input")
def _one_hot(input: ArrayLike, num_classes: int) -> None:
    if _worst(input, 0, 2**63) is not None:
        raise TensorError("Class values must be non-negative.")
    if num_classes > 0 and _worst(input, 0, num_classes) is not None:
        raise TensorError("Class values must be smaller than num_classes.")


def _check_unpooled(n_dims: int) -> None:
    @checks_results(f"max_unpool{n_dims}d", reads="indices")
    def unpooled(result: ArrayLike, indices: ArrayLike, **_: object) -> None:
        size = result.shape[-n_dims:]
        worst = _worst(indices, 0, math.prod(size))
        if worst is not None:
            raise TensorError(f"Found an invalid max index: {worst} (output volumes are of size {list(size)})")


for _n_dims in (1, 2, 3):
    _check_unpooled(_n_dims)


@checks("searchsorted", reads="sorter")
def _sorter(sorted_sequence: ArrayLike, sorter: ArrayLike, **_: object) -> None:
    shape = np.shape(sorted_sequence)
    if sorter is not None and shape and _worst(sorter, 0, shape[-1]) is not None:
        raise TensorError("torch.searchsorted(): sorter index out of range")


# -- domains -----------------------------------------------------------------------------------------------------------


def _is_integral(*values: ArrayLike) -> bool:
    return all(np.asarray(value).dtype.kind in "iub" for value in values)


@checks("floor_divide", "remainder", "fmod", reads="other", of_integers=True)
def _divisor(self: ArrayLike, other: ArrayLike) -> None:
    dtype = getattr(self, "dtype", None)
    is_whole = (dtype.kind in "iub" if dtype is not None else _is_integral(self)) and _is_integral(other)
    if is_whole and not np.all(other):
        raise TensorError("ZeroDivisionError: integers are divided by zero")


@checks("div", reads="other", of_integers=True)
def _rounding_divisor(self: ArrayLike, other: ArrayLike, rounding_mode: str | None) -> None:
    if rounding_mode is not None:
        _divisor(self, other)


@checks("pow", reads="exponent", of_integers=True)
def _exponent(self: ArrayLike, exponent: ArrayLike) -> None:
    dtype = getattr(self, "dtype", None)
    if dtype is not None and dtype.kind in "iu" and np.ndim(exponent) == 0 and type(exponent) is int and exponent < 0:
        raise TensorError("Integers to negative integer powers are not allowed.")


@checks("bernoulli", "bernoulli_fill_each", reads="self p")
def _probabilities(self: ArrayLike, p: ArrayLike, **_: object) -> None:
    wanted = self if p is None else p
    if not np.all((np.asarray(wanted) >= 0) & (np.asarray(wanted) <= 1)):
        raise TensorError("Expected p_in >= 0 && p_in <= 1 to be true, but got false: not all are probabilities.")


@checks("multinomial", reads="self")
def _weights(self: ArrayLike, **_: object) -> None:
    weights = np.asarray(self, np.float64) if np.asarray(self).dtype.kind not in "c" else np.zeros(0)
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise TensorError("probability tensor contains either `inf`, `nan` or element < 0")
    if weights.ndim and weights.shape[-1] and np.any(weights.sum(-1) <= 0):
        raise TensorError("invalid multinomial distribution (sum of probabilities <= 0)")


@checks("masked_scatter", reads="mask")
def _as_many_as_places(self: ArrayLike, mask: ArrayLike, source: ArrayLike, **_: object) -> None:
    shape = np.broadcast_shapes(np.shape(self), np.shape(mask))
    places = int(np.sum(np.broadcast_to(mask, shape))) if np.asarray(mask).dtype == bool else 0
    given = math.prod(np.shape(source))
    if given < places:
        raise TensorError(f"masked_scatter: Number of elements of source < number of ones in mask: {given} < {places}")


def _check_range(row: str, operand: str, high: float | None, message: str) -> None:
    """Has an operand of a row be at least 0, and at most a number; NaN is refused where there is one."""

    @checks(row, reads=operand)
    def check(**operands: ArrayLike) -> None:
        values = np.asarray(operands[operand])
        if not np.all(~(values < 0) if high is None else (values >= 0) & (values <= high)):
            raise TensorError(message)


for _row, _operand, _high, _message in (
    ("normal", "std", None, "normal expects all elements of std >= 0.0"),
    ("quantile", "q", 1, "quantile() q values must be in the range [0, 1]"),
    ("nanquantile", "q", 1, "quantile() q values must be in the range [0, 1]"),
    ("poisson", "self", None, "invalid Poisson rate, expected rate to be non-negative"),
    ("binomial", "prob", 1, "binomial expects probabilities from 0 to 1"),
    ("binary_cross_entropy", "input", 1, "all elements of input should be between 0 and 1"),
    ("gaussian_nll_loss", "var", None, "var has negative entry/entries"),
):
    _check_range(_row, _operand, _high, _message)


@checks("histc", reads="self")
def _range(self: ArrayLike, min: ArrayLike, max: ArrayLike, **_: object) -> None:
    if min == max and np.asarray(self).size and not np.isfinite(np.asarray(self, np.float64)).all():
        least, greatest = np.asarray(self).min(), np.asarray(self).max()
        raise TensorError(f"torch.histc: range of [{least}, {greatest}] is not finite")


# -- matrices ----------------------------------------------------------------------------------------------------------


def _refuse_singular(name: str, what: str, result: ArrayLike, operands: Sequence[Any]) -> None:
    """Raises if a result is not finite although what it was computed from is."""
    if not np.isfinite(result).all() and all(np.isfinite(np.asarray(operand)).all() for operand in operands):
        raise SingularMatrixError(f"{name}: {what}")


@checks_results("cholesky", "linalg_cholesky")
def _factor(result: ArrayLike, **operands: ArrayLike) -> None:
    matrix = operands["self"] if "self" in operands else operands["A"]
    what = "The factorization could not be completed because the input is not positive-definite."
    _refuse_singular("linalg.cholesky", what, result, [matrix])


@checks_results("inverse", "inv")
def _inverse(result: ArrayLike, **operands: ArrayLike) -> None:
    matrix = operands["self"] if "self" in operands else operands["A"]
    what = "The inversion could not be completed because the input matrix is singular."
    _refuse_singular("linalg.inv", what, result, [matrix])


@checks_results("solve")
def _solution(result: ArrayLike, A: ArrayLike, B: ArrayLike, **_: object) -> None:
    _refuse_singular("linalg.solve", "The solver failed because the input matrix is singular.", result, [A, B])


@checks_results("inv_ex", "solve_ex", "cholesky_ex", "lu_factor_ex", "ldl_factor_ex")
def _asked(*results: ArrayLike, check_errors: bool, **_: object) -> None:
    info = np.asarray(results[-1])
    if check_errors and info.any():
        raise SingularMatrixError(
            f"The operation could not be completed for a matrix of the batch: info is {info.tolist()}"
        )
