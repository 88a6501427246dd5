"""Dropout: elements or channels that are left out in training."""

from __future__ import annotations

from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.made import check
from jaxaot.nn.modules.module import Module


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check(not isinstance(p, str) and 0 <= p <= 1, f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Sets elements to zero with probability `p` in training, and scales the rest by `1 / (1 - p)`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout(input, self.p, self.training, inplace=self.inplace)


class Dropout1d(_Dropout):
    """Dropout of whole channels of rows."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout1d(input, self.p, self.training, inplace=self.inplace)


class Dropout2d(_Dropout):
    """Dropout of whole channels of images."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout2d(input, self.p, self.training, inplace=self.inplace)


class Dropout3d(_Dropout):
    """Dropout of whole channels of volumes."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout3d(input, self.p, self.training, inplace=self.inplace)


class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance, for SELU."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.alpha_dropout(input, self.p, self.training, inplace=self.inplace)


class FeatureAlphaDropout(_Dropout):
    """Alpha dropout of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.feature_alpha_dropout(input, self.p, self.training, inplace=self.inplace)
