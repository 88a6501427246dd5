"""Dropout: elements or channels that are left out in training."""

from __future__ import annotations

from jaxaot.nn import functional
from jaxaot.nn.declared import layer
from jaxaot.nn.made import check
from jaxaot.nn.modules.module import Module


@layer(shown="p inplace")
class _Dropout(Module):
    p: float = 0.5
    inplace: bool = False

    def __post_init__(self) -> None:
        p = self.p
        check(not isinstance(p, str) and 0 <= p <= 1, f"dropout probability has to be between 0 and 1, but got {p}")


@layer(functional.dropout)
class Dropout(_Dropout):
    """Sets elements to zero with probability `p` in training, and scales the rest by `1 / (1 - p)`."""


@layer(functional.dropout1d)
class Dropout1d(_Dropout):
    """Dropout of whole channels of rows."""


@layer(functional.dropout2d)
class Dropout2d(_Dropout):
    """Dropout of whole channels of images."""


@layer(functional.dropout3d)
class Dropout3d(_Dropout):
    """Dropout of whole channels of volumes."""


@layer(functional.alpha_dropout)
class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance, for SELU."""


@layer(functional.feature_alpha_dropout)
class FeatureAlphaDropout(_Dropout):
    """Alpha dropout of whole channels."""
