"""`_foreach_*`: one call for a list of tensors, as optimizers use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxaot.errors import ArgumentError
from jaxaot.tensor.methods import FUNCTIONS
from jaxaot.tensor.tensor import Tensor

_UNARY = (
    "abs", "neg", "exp", "sqrt", "rsqrt", "reciprocal", "log", "sin", "cos", "tanh", "sigmoid", "sign", "floor",
    "ceil", "round", "trunc", "frac", "expm1", "log1p", "log2", "log10", "erf", "square",
)  # fmt: skip
_BINARY = ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "clamp_min", "clamp_max", "lerp")
_TERNARY = ("addcmul", "addcdiv")


def _each(value: Any, n: int) -> list[Any]:
    """Returns an argument for each of `n` tensors: a list as it is, anything else repeated."""
    if isinstance(value, (list, tuple)):
        if len(value) != n:
            raise ArgumentError(f"Tensor lists must have the same number of tensors, got {n} and {len(value)}")
        return list(value)
    return [value] * n


def _out_of_place(name: str) -> Callable[..., list[Tensor]]:
    op = FUNCTIONS[""][name]

    def foreach(self: Sequence[Tensor], *args: Any, **kwargs: Any) -> list[Tensor]:
        columns = [_each(arg, len(self)) for arg in args]
        return [
            op(tensor, *row, **_row(kwargs, i, len(self)))
            for i, (tensor, *row) in enumerate(zip(self, *columns, strict=True))
        ]

    foreach.__doc__ = f"Returns `{name}` of each tensor."
    return foreach


def _in_place(name: str) -> Callable[..., None]:
    def foreach(self: Sequence[Tensor], *args: Any, **kwargs: Any) -> None:
        columns = [_each(arg, len(self)) for arg in args]
        for i, (tensor, *row) in enumerate(zip(self, *columns, strict=True)):
            getattr(tensor, f"{name}_")(*row, **_row(kwargs, i, len(self)))

    foreach.__doc__ = f"Carries out `{name}_` on each tensor."
    return foreach


def _row(kwargs: dict[str, Any], i: int, n: int) -> dict[str, Any]:
    return {name: _each(value, n)[i] for name, value in kwargs.items()}


def foreach_norm(self: Sequence[Tensor], ord: float = 2) -> list[Tensor]:
    """Returns the vector norm of each tensor."""
    return [FUNCTIONS["linalg"]["vector_norm"](tensor, ord) for tensor in self]


def foreach_copy_(self: Sequence[Tensor], src: Sequence[Tensor], non_blocking: bool = False) -> None:
    """Copies each source into each tensor."""
    for target, source in zip(self, _each(src, len(self)), strict=True):
        target.copy_(source)


def foreach_zero_(self: Sequence[Tensor]) -> None:
    """Fills each tensor with zeros."""
    for tensor in self:
        tensor.zero_()


FOREACH: dict[str, Callable[..., Any]] = {
    "_foreach_norm": foreach_norm, "_foreach_copy_": foreach_copy_, "_foreach_zero_": foreach_zero_,
}  # fmt: skip
for _name in (*_UNARY, *_BINARY, *_TERNARY):
    if _name in FUNCTIONS[""]:
        FOREACH[f"_foreach_{_name}"] = _out_of_place(_name)
        if hasattr(Tensor, f"{_name}_"):
            FOREACH[f"_foreach_{_name}_"] = _in_place(_name)
