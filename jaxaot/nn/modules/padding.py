"""Padding: more elements at the ends of dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.declared import Layer, options
from jaxaot.nn.made import each

Sizes = int | Sequence[int]


@options()
class _Pad(Layer, shown="*padding"):
    padding: Sizes

    def __init_subclass__(cls, mode: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._mode = mode or cls._mode

    def __post_init__(self) -> None:
        self.padding = each(self.padding, 2 * self._n_dims)

    def forward(self, input: Tensor) -> Tensor:
        """Returns the input with more at the ends of its last dims."""
        return functional.pad(input, self.padding, self._mode)


@options()
class _ConstantPad(Layer, shown="padding value"):
    padding: Sizes
    value: float

    def __post_init__(self) -> None:
        self.padding = each(self.padding, 2 * self._n_dims)

    def forward(self, input: Tensor) -> Tensor:
        """Returns the input with a number at the ends of its last dims."""
        return functional.pad(input, self.padding, "constant", self.value)


class _Zero(_ConstantPad, shown="*padding"):
    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)


class CircularPad1d(_Pad, n_dims=1, mode="circular"):
    """Pads rows with what is at their other end."""


class CircularPad2d(_Pad, n_dims=2, mode="circular"):
    """Pads images with what is at their other end."""


class CircularPad3d(_Pad, n_dims=3, mode="circular"):
    """Pads volumes with what is at their other end."""


class ConstantPad1d(_ConstantPad, n_dims=1):
    """Pads rows with a number."""


class ConstantPad2d(_ConstantPad, n_dims=2):
    """Pads images with a number."""


class ConstantPad3d(_ConstantPad, n_dims=3):
    """Pads volumes with a number."""


class ReflectionPad1d(_Pad, n_dims=1, mode="reflect"):
    """Pads rows with their own mirror image."""


class ReflectionPad2d(_Pad, n_dims=2, mode="reflect"):
    """Pads images with their own mirror image."""


class ReflectionPad3d(_Pad, n_dims=3, mode="reflect"):
    """Pads volumes with their own mirror image."""


class ReplicationPad1d(_Pad, n_dims=1, mode="replicate"):
    """Pads rows with their outermost elements."""


class ReplicationPad2d(_Pad, n_dims=2, mode="replicate"):
    """Pads images with their outermost elements."""


class ReplicationPad3d(_Pad, n_dims=3, mode="replicate"):
    """Pads volumes with their outermost elements."""


class ZeroPad1d(_Zero, ConstantPad1d):
    """Pads rows with zeros."""


class ZeroPad2d(_Zero, ConstantPad2d):
    """Pads images with zeros."""


class ZeroPad3d(_Zero, ConstantPad3d):
    """Pads volumes with zeros."""
