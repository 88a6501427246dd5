"""Adafactor: squared gradients of matrices are kept as rows and columns (Shazeer and Stern, 2018)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from jaxaot.errors import TensorTypeError, TensorValueError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.optim.corrections import counted, like
from jaxaot.optim.groups import declared
from jaxaot.optim.rules.optimizer import Optimizer, ParamsT


class Adafactor(Optimizer):
    """Steps relative to the size of a parameter, by the gradient over the root of factored means of its squares."""

    def __init__(
        self, params: ParamsT, lr: float | Tensor = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
        foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        if beta2_decay > 0:
            raise TensorValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if d < 1:
            raise TensorValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        super().__init__(params, declared(locals()))

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        if parameter.is_complex():
            raise TensorTypeError("Adafactor does not support complex parameters. Write `ja.optim.Adam`.")
        if parameter.ndim < 2:
            return {"step": counted(parameter), "variance": like(parameter)}
        row, column = parameter[..., :1], parameter[..., :1, :]
        return {"step": counted(parameter), "row_var": like(row), "col_var": like(column)}

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        eps = group["eps"][0]
        least = float(jnp.finfo(parameter.dtype).eps) if eps is None else eps
        step = state["step"].add_(1)
        size = parameter.norm(2) / parameter.numel() ** 0.5
        rate = size.clamp(min=group["eps"][1]) * step.rsqrt().clamp(max=group["lr"])
        weight = (step ** group["beta2_decay"]).to(gradient.dtype)
        if group["weight_decay"] != 0:
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
        squared = gradient * gradient
        if gradient.ndim > 1:
            row = state["row_var"].lerp_(squared.mean(-1, keepdim=True), weight)
            column = state["col_var"].lerp_(squared.mean(-2, keepdim=True), weight)
            variance = (row @ column) / row.mean(-2, keepdim=True).clamp(min=least)
        else:
            variance = state["variance"].lerp_(squared, weight)
        update = variance.clamp(min=least * least).rsqrt() * gradient
        clipped = (update.norm(2) / (update.numel() ** 0.5 * group["d"])).clamp(min=1.0)
        parameter.sub_(update * (rate / clipped))
