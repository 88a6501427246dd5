"""Padding: more elements at the ends of dims."""

from __future__ import annotations

from collections.abc import Sequence

from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.made import each
from jaxaot.nn.modules.module import Module

Sizes = int | Sequence[int]


class _Pad(Module):
    _n_dims: int
    _mode: str

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = each(padding, 2 * self._n_dims)

    def forward(self, input: Tensor) -> Tensor:
        """Returns the input with more at the ends of its last dims."""
        return functional.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(Module):
    _n_dims: int

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__()
        self.value = value
        self.padding = each(padding, 2 * self._n_dims)

    def forward(self, input: Tensor) -> Tensor:
        """Returns the input with a number at the ends of its last dims."""
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _Zero(_ConstantPad):
    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class CircularPad1d(_Pad):
    """Pads rows with what is at their other end."""

    _n_dims = 1
    _mode = "circular"


class CircularPad2d(_Pad):
    """Pads images with what is at their other end."""

    _n_dims = 2
    _mode = "circular"


class CircularPad3d(_Pad):
    """Pads volumes with what is at their other end."""

    _n_dims = 3
    _mode = "circular"


class ConstantPad1d(_ConstantPad):
    """Pads rows with a number."""

    _n_dims = 1


class ConstantPad2d(_ConstantPad):
    """Pads images with a number."""

    _n_dims = 2


class ConstantPad3d(_ConstantPad):
    """Pads volumes with a number."""

    _n_dims = 3


class ReflectionPad1d(_Pad):
    """Pads rows with their own mirror image."""

    _n_dims = 1
    _mode = "reflect"


class ReflectionPad2d(_Pad):
    """Pads images with their own mirror image."""

    _n_dims = 2
    _mode = "reflect"


class ReflectionPad3d(_Pad):
    """Pads volumes with their own mirror image."""

    _n_dims = 3
    _mode = "reflect"


class ReplicationPad1d(_Pad):
    """Pads rows with their outermost elements."""

    _n_dims = 1
    _mode = "replicate"


class ReplicationPad2d(_Pad):
    """Pads images with their outermost elements."""

    _n_dims = 2
    _mode = "replicate"


class ReplicationPad3d(_Pad):
    """Pads volumes with their outermost elements."""

    _n_dims = 3
    _mode = "replicate"


class ZeroPad1d(_Zero, ConstantPad1d):
    """Pads rows with zeros."""


class ZeroPad2d(_Zero, ConstantPad2d):
    """Pads images with zeros."""


class ZeroPad3d(_Zero, ConstantPad3d):
    """Pads volumes with zeros."""
