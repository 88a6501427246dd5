"""Steps that are divided by averages of squared gradients: RMSprop, Adagrad, Adadelta."""

from __future__ import annotations

from typing import Any

from jaxaot.facade.memory.tensor import Tensor
from jaxaot.optim.corrections import counted, decayed, like, start
from jaxaot.optim.groups import declared
from jaxaot.optim.rules.optimizer import Optimizer, ParamsT


class RMSprop(Optimizer):
    """Steps by the gradient over the root of the mean of its squares."""

    def __init__(
        self, params: ParamsT, lr: float | Tensor = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False, capturable: bool = False,
        foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            params, declared(locals(), "alpha eps centered weight_decay capturable foreach maximize differentiable")
        )

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = start(parameter, "square_avg")
        if group["momentum"] > 0:
            state["momentum_buffer"] = like(parameter)
        if group["centered"]:
            state["grad_avg"] = like(parameter)
        return state

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        alpha, square = group["alpha"], state["square_avg"]
        state["step"].add_(1)
        gradient = decayed(parameter, gradient, group)
        square.mul_(alpha).addcmul_(gradient, gradient, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"].lerp_(gradient, 1 - alpha)
            square = square - mean * mean
        scaled = gradient / square.sqrt().add_(group["eps"])
        if group["momentum"] > 0:
            scaled = state["momentum_buffer"].mul_(group["momentum"]).add_(scaled)
        parameter.sub_(scaled * group["lr"])


class Adagrad(Optimizer):
    """Steps by the gradient over the root of the sum of its squares (Duchi et al., 2011)."""

    def __init__(
        self, params: ParamsT, lr: float | Tensor = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            params, declared(locals(), "weight_decay initial_accumulator_value foreach maximize differentiable fused")
        )

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"step": counted(parameter), "sum": like(parameter, group["initial_accumulator_value"])}

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        total = state["sum"]
        step = state["step"].add_(1)
        gradient = decayed(parameter, gradient, group)
        total.addcmul_(gradient, gradient)
        rate = group["lr"] / ((step - 1) * group["lr_decay"] + 1)
        parameter.sub_(gradient / total.sqrt().add_(group["eps"]) * rate)


class Adadelta(Optimizer):
    """Steps whose size is that of the steps before (Zeiler, 2012)."""

    def __init__(
        self, params: ParamsT, lr: float | Tensor = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, declared(locals(), "capturable foreach differentiable"))

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return start(parameter, "square_avg", "acc_delta")

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        rho, eps, square, steps = group["rho"], group["eps"], state["square_avg"], state["acc_delta"]
        state["step"].add_(1)
        gradient = decayed(parameter, gradient, group)
        square.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
        change = (steps + eps).sqrt_() / (square + eps).sqrt_() * gradient
        steps.mul_(rho).addcmul_(change, change, value=1 - rho)
        parameter.sub_(change * group["lr"])
