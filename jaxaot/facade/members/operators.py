"""Python on tensors: its operators, each a row of the op table, and its protocols, such as `bool(x)` and `len(x)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxaot.errors import ArgumentError, TensorTypeError, TensorValueError
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.dispatch.in_place import call_inplace
from jaxaot.facade.indexing import selection
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.view_ops.split_views import unbind
from jaxaot.ops.promotion import is_bool, is_integral
from jaxaot.ops.table import lookup

TENSORS = (Tensor, selection.MaskedSelection, jax.Array, np.ndarray)
"""What an op takes for a tensor."""

OPERATORS = {
    "__add__": "add", "__sub__": "sub", "__mul__": "mul", "__truediv__": "div", "__floordiv__": "floor_divide",
    "__mod__": "remainder", "__pow__": "pow", "__matmul__": "matmul", "__and__": "bitwise_and",
    "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
    "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
}  # fmt: skip
REFLECTED = {
    "__radd__": "add", "__rsub__": "sub", "__rmul__": "mul", "__rtruediv__": "div", "__rdiv__": "div",
    "__rfloordiv__": "floor_divide", "__rmod__": "remainder", "__rpow__": "pow", "__rmatmul__": "matmul",
    "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor", "__rlshift__": "bitwise_left_shift",
    "__rrshift__": "bitwise_right_shift",
}  # fmt: skip
AUGMENTED = {
    "__iadd__": "add", "__isub__": "sub", "__imul__": "mul", "__itruediv__": "div", "__ifloordiv__": "floor_divide",
    "__imod__": "remainder", "__ipow__": "pow", "__iand__": "bitwise_and", "__ior__": "bitwise_or",
    "__ixor__": "bitwise_xor", "__ilshift__": "bitwise_left_shift", "__irshift__": "bitwise_right_shift",
}  # fmt: skip
OPERANDS = (*TENSORS, bool, int, float, complex, np.generic)


def binary(name: str, reflected: bool) -> Callable[[Tensor, Any], Any]:
    """Returns the method of an operator that is a row of the table; `reflected`: the tensor is its second operand."""
    row = lookup(name)
    static = tuple(p.default for p in row.schema.static)
    more = tuple(p.default for p in row.schema.dynamic[2:])

    def forward(self: Tensor, other: object) -> Any:
        return call(row, (self, other, *more), static) if isinstance(other, OPERANDS) else NotImplemented

    def backward(self: Tensor, other: object) -> Any:
        return call(row, (other, self, *more), static) if isinstance(other, OPERANDS) else NotImplemented

    return backward if reflected else forward


def augmented(name: str) -> Callable[[Tensor, Any], Any]:
    """Returns the method of an operator that writes to its first operand, such as `+=`."""
    row = lookup(name)
    static = tuple(p.default for p in row.schema.static)
    more = tuple(p.default for p in row.schema.dynamic[2:])

    def write(self: Tensor, other: object) -> Any:
        return call_inplace(row, (self, other, *more), static) if isinstance(other, OPERANDS) else NotImplemented

    return write


# -- protocols ---------------------------------------------------------------------------------------------------------


def _truth(self: Tensor) -> bool:
    if self.numel() != 1:
        raise TensorValueError(
            f"Boolean value of Tensor with {self.numel()} values is ambiguous. Write `x.any()` or `x.all()`, or "
            "`ja.where(x, a, b)` for a choice at each element."
        )
    return bool(self._concrete("A Python `if`, `while` or `bool()`").reshape(()).item())


def _python_number(kind: type) -> Callable[[Tensor], Any]:
    def convert(self: Tensor) -> Any:
        if self.numel() != 1:
            raise TensorValueError(
                f"only one element tensors can be converted to Python scalars (got {self.numel()}). Write "
                "`x.tolist()` for all values, or make them one, `x.sum().item()`."
            )
        return kind(self._concrete(f"`{kind.__name__}()`").reshape(()).item())

    return convert


def _index_number(self: Tensor) -> int:
    if self.numel() != 1 or not (is_integral(self.dtype) or is_bool(self.dtype)):
        raise TensorTypeError("only integer tensors of a single element can be converted to an index")
    instead = (
        "An index in brackets may be a tensor, with one program for all its values, which `narrow`, `range` and the "
        "like are not:\n\n    y = x[:, n]\n    x[:, n : n + 1] = y\n\n"
    )
    return int(self._concrete("Use as a Python index", instead).reshape(()).item())


def _iterate(self: Tensor) -> Any:
    if self.ndim == 0:
        raise TensorTypeError("iteration over a 0-d tensor. It is one number: `x.item()`.")
    return iter(unbind(self, 0))


def _contains(self: Tensor, item: Any) -> bool:
    if not isinstance(item, OPERANDS):
        raise ArgumentError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(item)}.")
    return bool((self == item).any().item())


def _delete(self: Tensor, index: object) -> None:
    raise TensorTypeError(
        "Tensor does not support deleting items: a tensor has as many elements as its shape says. Take the others: "
        "`ja.cat((x[:i], x[i + 1:]))`."
    )


def _formatted(self: Tensor, spec: str) -> str:
    return format(self.item(), spec) if self.ndim == 0 and spec else repr(self)


PROTOCOLS = {
    "__pos__": lambda self: self, "__bool__": _truth, "__int__": _python_number(int),
    "__float__": _python_number(float), "__complex__": _python_number(complex), "__index__": _index_number,
    "__iter__": _iterate, "__contains__": _contains, "__delitem__": _delete, "__format__": _formatted,
    "__reversed__": lambda self: call(lookup("flip"), (self,), ((0,) if self.ndim else (),)),
}  # fmt: skip
