"""Dtypes by PyTorch's names: `x.dtype.is_floating_point`, `ja.dtype`."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np


class dtype:
    """The kind of a tensor's elements, such as `ja.float32`.

    NumPy and JAX take one wherever they take a dtype, `np.dtype(x.dtype)` is theirs, and it is equal to that. It has
    what theirs has, such as `x.dtype.kind`, besides PyTorch's attributes.

    Args:
      of: What names it: `"float32"`, `np.float32`, a dtype.

    Attributes:
      dtype: NumPy's.
      itemsize: Bytes of an element.
      is_floating_point: Whether elements are floats.
      is_complex: Whether they are complex numbers.
      is_signed: Whether they can be negative.
    """

    __slots__ = ("dtype", "is_complex", "is_floating_point", "is_signed", "itemsize", "name")

    def __new__(cls, of: Any) -> dtype:
        return dtype_of(np.dtype(of))

    @property
    def __numpy_dtype__(self) -> Any:  # what NumPy asks for first: without it, an error at each look
        return self.dtype

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"'dtype' object has no attribute '{name}'", name=name, obj=self)
        return getattr(self.dtype, name)

    def __call__(self, *value: Any) -> Any:
        return self.dtype.type(*value)

    def to_real(self) -> dtype:
        """Returns the dtype of the parts of complex numbers; that of other numbers itself."""
        return dtype_of(np.dtype(f"f{self.itemsize // 2}")) if self.is_complex else self

    def to_complex(self) -> dtype:
        """Returns the dtype of complex numbers of such parts."""
        if self.is_complex:
            return self
        return dtype_of(np.dtype(np.complex128 if self.itemsize == 8 else np.complex64))

    def __eq__(self, other: object) -> bool:
        return self is other or self.dtype == (other.dtype if isinstance(other, dtype) else other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"ja.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return dtype, (self.dtype,)


@functools.cache
def dtype_of(held: np.dtype) -> dtype:
    """Returns what stands for a dtype of NumPy, always the same object."""
    held = np.dtype(held)
    made = object.__new__(dtype)
    made.dtype, made.itemsize, made.name = held, held.itemsize, held.name
    made.is_floating_point = bool(jnp.issubdtype(held, jnp.floating))
    made.is_complex = held.kind == "c"
    made.is_signed = held.kind not in "ub"
    return made
