"""Parametrizations that are often used (`torch.nn.utils.parametrizations`)."""

from __future__ import annotations

from typing import TypeVar

from jaxaot._util import show_only_own as _show_only_own
from jaxaot.errors import DimError, TensorValueError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.modules.module import Module
from jaxaot.nn.utils.parametrize import register_parametrization

_M = TypeVar("_M", bound=Module)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = dim

    def _norm(self, weight: Tensor) -> Tensor:
        if self.dim is None or self.dim == -1:
            return weight.norm()
        return weight.norm(2, [d for d in range(weight.ndim) if d != self.dim], keepdim=True)

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / self._norm(weight_v))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return self._norm(weight), weight


def weight_norm(module: _M, name: str = "weight", dim: int | None = 0) -> _M:
    """Has a weight computed from its direction and its norm, `original1` and `original0`; returns the module.

    Args:
      module: What has the weight.
      name: Its name.
      dim: The dim each index of which has a norm of its own; None for one norm.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    return module


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise DimError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise TensorValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % weight.ndim
        self.eps = eps
        self.n_power_iterations = n_power_iterations
        if weight.ndim > 1:
            with recording(False):
                matrix = self._matrix(weight.detach())
                u, v = matrix.new_empty(matrix.shape[0]).normal_(), matrix.new_empty(matrix.shape[1]).normal_()
                self.register_buffer("_u", functional.normalize(u, dim=0, eps=eps))
                self.register_buffer("_v", functional.normalize(v, dim=0, eps=eps))
                self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def _iterate(self, matrix: Tensor, n: int) -> None:
        with recording(False):
            for _ in range(n):
                self._u.copy_(functional.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(functional.normalize(matrix.t().mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return functional.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        return weight / self._u.clone().dot(matrix.mv(self._v.clone()))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: _M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> _M:
    """Has a weight divided by its largest singular value; returns the module.

    Args:
      module: What has the weight.
      name: Its name.
      n_power_iterations: How often the estimate is improved at each call in training.
      eps: The least norm that is divided by.
      dim: The dim of the outputs: by default 1 for transposed convolutions, else 0.
    """
    weight = getattr(module, name)
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


_show_only_own(globals())
