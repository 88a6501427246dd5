"""Matrices made nearly orthogonal by the iteration of Newton and Schulz, as `Muon` takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jaxaot.errors import TensorValueError
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor

_addmm = FUNCTIONS[""]["addmm"]


def check(condition: bool, words: str) -> None:
    """Raises unless a condition holds."""
    if not condition:
        raise TensorValueError(words)


def check_matrices(groups: Iterable[Mapping[str, Any]]) -> None:
    """Raises unless all parameters are matrices."""
    for group in groups:
        for parameter in group["params"]:
            check(
                parameter.ndim == 2,
                f"Muon only supports 2D parameters whereas we found a parameter with size: {list(parameter.shape)}. "
                "Give the others to another optimizer, such as `ja.optim.AdamW`.",
            )


def orthogonalized(matrix: Tensor, coefficients: tuple[float, float, float], n_steps: int, eps: float) -> Tensor:
    """Returns `U S V.T` of a matrix `U D V.T`, with numbers in S between about 0.5 and 1.5, in bfloat16."""
    a, b, c = coefficients
    is_tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.bfloat16()
    x = x.t() if is_tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(n_steps):
        gram = x @ x.t()
        x = _addmm(x, _addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.t() if is_tall else x
