"""Adam and what was made of it: AdamW, Adamax, NAdam, RAdam."""

from __future__ import annotations

from typing import Any

from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.optim.corrections import bias_correction, counted, decayed, exact, like, rectification, start
from jaxaot.optim.groups import declared
from jaxaot.optim.rules.optimizer import Optimizer, ParamsT

_maximum = FUNCTIONS[""]["maximum"]
_where = FUNCTIONS[""]["where"]

Betas = tuple[float, float]


class Adam(Optimizer):
    """Steps by the mean of gradients over the root of the mean of their squares (Kingma and Ba, 2015)."""

    def __init__(
        self, params: ParamsT, lr: float | Tensor = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, declared(locals(), "foreach capturable differentiable fused decoupled_weight_decay"))

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = start(parameter, "exp_avg", "exp_avg_sq")
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = like(parameter)
        return state

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        step = exact(state["step"].add_(1), parameter)
        gradient = decayed(parameter, gradient, group)
        mean.lerp_(gradient, 1 - beta1)
        square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            largest.copy_(_maximum(largest, square))
            square = largest
        scale = (square.sqrt() / bias_correction(beta2, step) ** 0.5).add_(group["eps"])
        parameter.sub_(mean / scale * (group["lr"] / bias_correction(beta1, step)))


class AdamW(Adam):
    """Adam that takes the decay of weights from the parameters themselves (Loshchilov and Hutter, 2019)."""

    def __init__(
        self, params: ParamsT, lr: float | Tensor = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, **declared(locals()), decoupled_weight_decay=True)


class Adamax(Optimizer):
    """Adam with the largest gradient in the place of the root of the mean square."""

    def __init__(
        self, params: ParamsT, lr: float | Tensor = 2e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, declared(locals()))

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return start(parameter, "exp_avg", "exp_inf")

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        mean, largest = state["exp_avg"], state["exp_inf"]
        step = exact(state["step"].add_(1), parameter)
        gradient = decayed(parameter, gradient, group)
        mean.lerp_(gradient, 1 - beta1)
        largest.copy_(_maximum(largest * beta2, gradient.abs() + group["eps"]))
        parameter.sub_(mean / largest * (group["lr"] / bias_correction(beta1, step)))


class NAdam(Optimizer):
    """Adam with Nesterov's momentum (Dozat, 2016)."""

    def __init__(
        self, params: ParamsT, lr: float | Tensor = 2e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, declared(locals(), "foreach capturable differentiable"))

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": counted(parameter),
            "mu_product": counted(parameter).add_(1),
            "exp_avg": like(parameter),
            "exp_avg_sq": like(parameter),
        }

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        mean, square, decay = state["exp_avg"], state["exp_avg_sq"], group["momentum_decay"]
        step = exact(state["step"].add_(1), parameter)
        gradient = decayed(parameter, gradient, group)
        now = (1.0 - 0.5 * 0.96 ** (step * decay)) * beta1
        after = (1.0 - 0.5 * 0.96 ** ((step + 1) * decay)) * beta1
        product = state["mu_product"].mul_(now)
        mean.lerp_(gradient, 1 - beta1)
        square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        scale = (square / bias_correction(beta2, step)).sqrt_().add_(group["eps"])
        of_gradient = (1.0 - now) / (1.0 - product) * group["lr"]
        of_mean = after / (1.0 - product * after) * group["lr"]
        parameter.sub_(gradient / scale * of_gradient).sub_(mean / scale * of_mean)


class RAdam(Optimizer):
    """Adam whose first steps are those of momentum (Liu et al., 2020)."""

    def __init__(
        self, params: ParamsT, lr: float | Tensor = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, declared(locals(), "foreach capturable decoupled_weight_decay differentiable"))

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return start(parameter, "exp_avg", "exp_avg_sq")

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        step = exact(state["step"].add_(1), parameter)
        gradient = decayed(parameter, gradient, group)
        mean.lerp_(gradient, 1 - beta1)
        square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        length, last = rectification(beta2, step)
        is_long = length > 5.0
        ratio = (length - 4) * (length - 2) * last / ((last - 4) * (last - 2) * length)
        rectified = _where(is_long, ratio, 1.0).sqrt() * bias_correction(beta2, step) ** 0.5
        scale = _where(is_long, rectified / (square.sqrt() + group["eps"]), 1.0)
        parameter.sub_(mean * (group["lr"] / bias_correction(beta1, step)) * scale)
