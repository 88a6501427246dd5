"""Python's operators on tensors, each a row of the op table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.dispatch.in_place import call_inplace
from jaxaot.facade.indexing import selection
from jaxaot.facade.memory.tensor import Tensor
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
