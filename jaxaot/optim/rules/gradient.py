"""Steps along the gradient: SGD, by its signs (Rprop), made orthogonal (Muon)."""

from __future__ import annotations

import math
from typing import Any

from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.optim.corrections import counted, decayed, like
from jaxaot.optim.groups import declared
from jaxaot.optim.orthogonal import check, check_matrices, orthogonalized
from jaxaot.optim.rules.optimizer import Optimizer, ParamsT

_where = FUNCTIONS[""]["where"]


class SGD(Optimizer):
    """Steps along the gradient, with or without momentum."""

    def __init__(
        self, params: ParamsT, lr: float | Tensor = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_nesterov(nesterov, momentum, dampening)
        super().__init__(params, declared(locals()))

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        # the first momentum is the gradient, without dampening: zeros give it where there is none
        is_plain = group["momentum"] == 0 or group["dampening"] != 0
        return {} if is_plain else {"momentum_buffer": like(parameter)}

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        gradient = decayed(parameter, gradient, group)
        if group["momentum"] != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = gradient.detach().clone()
            else:
                buffer.mul_(group["momentum"]).add_(gradient * (1 - group["dampening"]))
            gradient = gradient + buffer * group["momentum"] if group["nesterov"] else buffer
        parameter.sub_(gradient * group["lr"])


class Rprop(Optimizer):
    """Steps by the signs of gradients, each element with a size of its own (Riedmiller and Braun, 1993)."""

    def __init__(
        self, params: ParamsT, lr: float | Tensor = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, declared(locals(), "capturable"))

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        sizes = like(parameter).add_(group["lr"])
        return {"step": counted(parameter), "prev": like(parameter), "step_size": sizes}

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        smaller, larger = group["etas"]
        least, most = group["step_sizes"]
        before, sizes = state["prev"], state["step_size"]
        state["step"].add_(1)
        product = gradient * before
        factor = _where(product > 0, larger, _where(product < 0, smaller, 1.0))
        sizes.mul_(factor).clamp_(least, most)
        gradient = _where(product < 0, 0.0, gradient)
        parameter.sub_(gradient.sign() * sizes)
        before.copy_(gradient)


class Muon(Optimizer):
    """Steps along the momentum of a matrix, made nearly orthogonal (Jordan, 2024); takes matrices alone."""

    def __init__(
        self, params: ParamsT, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True, ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, declared(locals()))
        check_matrices(self.param_groups)

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"momentum_buffer": like(parameter)}

    def _update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        buffer = state["momentum_buffer"].lerp_(gradient, 1 - group["momentum"])
        update = gradient.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
        update = orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = parameter.shape
        ratio = 1.0
        if group["adjust_lr_fn"] is None or group["adjust_lr_fn"] == "original":
            ratio = math.sqrt(max(1, rows / columns))
        elif group["adjust_lr_fn"] == "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        parameter.mul_(1 - group["lr"] * group["weight_decay"])
        parameter.sub_(update * (group["lr"] * ratio))


def check_nesterov(nesterov: bool, momentum: float, dampening: float) -> None:
    """Raises if Nesterov's momentum is asked for where there is none."""
    check(not nesterov or (momentum > 0 and dampening == 0), "Nesterov momentum requires a momentum and zero dampening")
