"""`_foreach_*`: one call for a list of tensors, as optimizers use it.

An operand is a list with one entry for each tensor, or one tensor or number for all of them; scalars may also come as
one 1-d tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxaot._typing import DTypeLike
from jaxaot.errors import ArgumentError, ShapeMismatchError
from jaxaot.facade.dispatch.signatures import with_parameters
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.view_ops.split_views import unbind

_UNARY = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma",
    "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
)  # fmt: skip
_BINARY = ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "clamp_min", "clamp_max")
_TERNARY = ("addcmul", "addcdiv")

_SECOND = ("other", "scalar", "scalars", "exponent")
"""The keywords PyTorch has for the second operand, by its kind."""


def _tensors(name: str, self: Any) -> list[Tensor]:
    if not isinstance(self, (list, tuple)) or not self:
        raise ArgumentError(f"{name}(): tensor list must have at least one tensor; write `ja.{name}([x, y])`")
    return list(self)


def _each(value: object, n: int) -> list[Any]:
    """Returns an operand for each of `n` tensors: a list as it is, anything else repeated."""
    if isinstance(value, (list, tuple)):
        if len(value) != n:
            raise ArgumentError(f"Tensor lists must have the same number of tensors, got {n} and {len(value)}")
        return list(value)
    return [value] * n


def _scalars(value: object, n: int) -> list[Any]:
    """Returns a number for each of `n` tensors, of a number, a list of them or a 1-d tensor of them."""
    if not isinstance(value, Tensor) or not value.ndim:
        return _each(value, n)
    if tuple(value.shape) != (n,):
        raise ShapeMismatchError(f"Expected packed scalar Tensor to be of dimension 1 and length {n}")
    return list(unbind(value))


def _operand(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns the one second operand, given by position or by any of its names."""
    given = [*args, *(kwargs.pop(keyword) for keyword in _SECOND if keyword in kwargs)]
    if len(given) != 1 or set(kwargs) - {"alpha"}:
        raise ArgumentError(
            f"_foreach_{name}() takes a list of tensors, and one operand: a number, a tensor or a list of either"
        )
    return given[0]


def _form(name: str, in_place: bool) -> Callable[..., Tensor]:
    op = FUNCTIONS[""][name]
    if not in_place:
        return op
    return getattr(Tensor, f"{name}_", None) or (lambda x, *operands: x.copy_(op(x, *operands)))


def _unary(name: str, in_place: bool) -> Callable[..., Any]:
    def foreach(self: Any) -> Any:
        op = _form(name, in_place)
        return tuple(op(x) for x in _tensors(f"_foreach_{name}", self))

    return foreach


def _with_other(self: Sequence[Tensor], other: Any) -> Any: ...


def _with_alpha(self: Sequence[Tensor], other: Any, *, alpha: Any = 1) -> Any: ...


def _binary(name: str, in_place: bool) -> Callable[..., Any]:
    def foreach(self: Any, *args: object, **kwargs: Any) -> Any:
        op = _form(name, in_place)
        other = _operand(name, args, kwargs)
        if name == "pow" and isinstance(self, (int, float, complex)) and not in_place:
            return tuple(op(self, exponent) for exponent in _tensors("_foreach_pow", other))
        tensors = _tensors(f"_foreach_{name}", self)
        return tuple(op(x, y, **kwargs) for x, y in zip(tensors, _each(other, len(tensors)), strict=True))

    takes = _with_alpha if name in ("add", "sub") else _with_other
    return with_parameters(foreach, takes)


def _ternary(name: str, in_place: bool) -> Callable[..., Any]:
    def foreach(self: Any, tensor1: Any, tensor2: Any, value: object = 1, *, scalars: Any = None) -> Any:
        op = _form(name, in_place)
        tensors = _tensors(f"_foreach_{name}", self)
        n = len(tensors)
        values = _scalars(value if scalars is None else scalars, n)
        columns = zip(tensors, _each(tensor1, n), _each(tensor2, n), values, strict=True)
        return tuple(op(x, y, z, value=v) for x, y, z, v in columns)

    return foreach


def _lerp(in_place: bool) -> Callable[..., Any]:
    def foreach(self: Any, tensors1: Any, weight: Any = None, *, weights: Any = None) -> Any:
        op = _form("lerp", in_place)
        tensors = _tensors("_foreach_lerp", self)
        n = len(tensors)
        columns = zip(tensors, _each(tensors1, n), _each(weight if weights is None else weights, n), strict=True)
        return tuple(op(x, end, w) for x, end, w in columns)

    return foreach


def _writing(foreach: Callable[..., Any]) -> Callable[..., None]:
    """Returns an in-place form, which returns nothing."""

    def write(*args: object, **kwargs: Any) -> None:
        foreach(*args, **kwargs)

    return with_parameters(write, foreach)


def foreach_norm(self: Sequence[Tensor], ord: float = 2, dtype: DTypeLike | None = None) -> tuple[Tensor, ...]:
    """Returns the vector norm of each tensor."""
    norm = FUNCTIONS["linalg"]["vector_norm"]
    return tuple(norm(x, ord, dtype=dtype) for x in _tensors("_foreach_norm", self))


def foreach_powsum(self: Sequence[Tensor], ord: float = 2, dtype: DTypeLike | None = None) -> tuple[Tensor, ...]:
    """Returns the sum of the powers of the magnitudes of each tensor: its norm without the root."""
    return tuple(x.abs().pow(ord).sum(dtype=dtype) for x in _tensors("_foreach_powsum", self))


def foreach_max(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Returns the greatest element of each tensor."""
    return tuple(FUNCTIONS[""]["max"](x) for x in _tensors("_foreach_max", self))


def foreach_mm(self: Sequence[Tensor], mat2: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Returns the matrix product of each pair."""
    tensors = _tensors("_foreach_mm", self)
    return tuple(FUNCTIONS[""]["mm"](x, y) for x, y in zip(tensors, _each(mat2, len(tensors)), strict=True))


def foreach_clone(self: Sequence[Tensor], *, memory_format: Any = None) -> tuple[Tensor, ...]:
    """Returns a copy of each tensor."""
    clone = FUNCTIONS[""]["clone"]
    return tuple(clone(x, memory_format=memory_format) for x in _tensors("_foreach_clone", self))


def foreach_copy_(self: Sequence[Tensor], src: Sequence[Tensor], non_blocking: bool = False) -> None:
    """Copies each source into each tensor."""
    tensors = _tensors("_foreach_copy_", self)
    for target, source in zip(tensors, _each(src, len(tensors)), strict=True):
        target.copy_(source)


def foreach_zero_(self: Sequence[Tensor]) -> None:
    """Fills each tensor with zeros."""
    for tensor in _tensors("_foreach_zero_", self):
        tensor.zero_()


FOREACH: dict[str, Callable[..., Any]] = {
    "_foreach_norm": foreach_norm, "_foreach_powsum": foreach_powsum, "_foreach_max": foreach_max,
    "_foreach_mm": foreach_mm, "_foreach_clone": foreach_clone, "_foreach_copy_": foreach_copy_,
    "_foreach_zero_": foreach_zero_, "_foreach_lerp": _lerp(False), "_foreach_lerp_": _writing(_lerp(True)),
}  # fmt: skip
for _names, _make in ((_UNARY, _unary), (_BINARY, _binary), (_TERNARY, _ternary)):
    for _name in _names:
        FOREACH[f"_foreach_{_name}"] = _make(_name, False)
        FOREACH[f"_foreach_{_name}_"] = _writing(_make(_name, True))
for _name, _fn in FOREACH.items():
    _fn.__name__ = _fn.__qualname__ = _name
    _fn.__doc__ = _fn.__doc__ or f"Carries out `{_name.removeprefix('_foreach_')}` on each tensor."
