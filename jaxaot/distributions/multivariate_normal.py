"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any

import jaxaot.distributions.constraints as constraints
from jaxaot.distributions.distribution import TOP, Distribution
from jaxaot.errors import TensorValueError
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor

_LINALG = FUNCTIONS["linalg"]


class MultivariateNormal(Distribution):
    """The normal distribution of vectors.

    Args:
      loc: The mean.
      covariance_matrix: The covariances; or
      precision_matrix: their inverse; or
      scale_tril: a lower triangular matrix `L`, of covariances `L @ L.T`.
      validate_args: As of all.
    """

    loc: Tensor
    scale_tril: Tensor
    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _event_dims = {"loc": 1, "scale_tril": 2}

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril
        }  # fmt: skip
        named = [(name, matrix) for name, matrix in given.items() if matrix is not None]
        if len(named) != 1:
            raise TensorValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        name, matrix = named[0]
        if loc.ndim < 1 or matrix.ndim < 2:
            raise TensorValueError(f"loc must be at least one-dimensional, and {name} at least two-dimensional.")
        self._validate_args = validate_args
        if name != "scale_tril" and self._is_validated():
            self._check_parameter(name, matrix, self.arg_constraints[name])
        self._keep(validate_args, loc.shape[-1:], loc=loc, scale_tril=_triangle(name, matrix))

    covariance_matrix: Any = property(lambda self: self.scale_tril @ self.scale_tril.mT)
    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: (self.scale_tril**2).sum(-1))
    _half_log_det: Any = property(lambda self: self.scale_tril.diagonal(0, -2, -1).log().sum(-1))
    _draw = lambda self, shape: self.loc + (self.scale_tril @ self._blank(shape).normal_().unsqueeze(-1)).squeeze(-1)
    _entropy = lambda self: 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi)) + self._half_log_det

    @property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariances."""
        inverse = _LINALG["inv"](self.scale_tril)
        return inverse.mT @ inverse

    def _density(self, v: Tensor) -> Tensor:
        apart = (v - self.loc).unsqueeze(-1)
        matrix = self.scale_tril.expand((*apart.shape[:-2], *self.scale_tril.shape[-2:]))
        squares = (_LINALG["solve_triangular"](matrix, apart, upper=False) ** 2).sum((-2, -1))
        return -0.5 * (self.event_shape[0] * math.log(2 * math.pi) + squares) - self._half_log_det


def _triangle(name: str, matrix: Any) -> Tensor:
    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return _LINALG["cholesky"](matrix)
    flipped = _LINALG["cholesky"](TOP["flip"](matrix, (-2, -1)))  # of the inverse, without computing it
    upper = TOP["flip"](flipped, (-2, -1)).mT
    return _LINALG["solve_triangular"](upper, TOP["eye"](matrix.shape[-1], dtype=matrix.dtype), upper=False)
