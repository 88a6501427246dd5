"""Dropout: elements or channels that are left out in training."""

from __future__ import annotations

from jaxaot.nn import functional
from jaxaot.nn.declared import Layer, options
from jaxaot.nn.made import check


@options()
class _Dropout(Layer, shown="p inplace"):
    p: float = 0.5
    inplace: bool = False

    def __post_init__(self) -> None:
        p = self.p
        check(not isinstance(p, str) and 0 <= p <= 1, f"dropout probability has to be between 0 and 1, but got {p}")


class Dropout(_Dropout, op=functional.dropout):
    """Sets elements to zero with probability `p` in training, and scales the rest by `1 / (1 - p)`."""


class Dropout1d(_Dropout, op=functional.dropout1d):
    """Dropout of whole channels of rows."""


class Dropout2d(_Dropout, op=functional.dropout2d):
    """Dropout of whole channels of images."""


class Dropout3d(_Dropout, op=functional.dropout3d):
    """Dropout of whole channels of volumes."""


class AlphaDropout(_Dropout, op=functional.alpha_dropout):
    """Dropout that keeps mean and variance, for SELU."""


class FeatureAlphaDropout(_Dropout, op=functional.feature_alpha_dropout):
    """Alpha dropout of whole channels."""
