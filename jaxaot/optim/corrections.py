"""Numbers of an optimizer that depend on the step, as tensors: no program is made anew for each step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jaxaot.facade.indexing.symbolic_math import recording
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.promotion import default_float

_TOP: Mapping[str, Callable[..., Any]] = FUNCTIONS[""]
_log: Callable[[float], float] = recording(math.log)  # of betas that a schedule changes too


def counted(parameter: Tensor) -> Tensor:
    """Returns the count of the steps of a parameter, which is 0."""
    return _TOP["zeros"]((), dtype=np.float64 if default_float().itemsize == 8 else np.float32)


def like(parameter: Tensor, value: float = 0.0) -> Tensor:
    """Returns a tensor of the shape and dtype of a parameter, with one value."""
    return _TOP["full_like"](parameter, value, requires_grad=False)


def start(parameter: Tensor, *kept: str) -> dict[str, Tensor]:
    """Returns a count and zeros of the shape of a parameter, by their names."""
    return {"step": counted(parameter), **{name: like(parameter) for name in kept}}


def decayed(parameter: Tensor, gradient: Tensor, group: Mapping[str, Any]) -> Tensor:
    """Returns the gradient with the decay of weights in it, or takes it from the parameter itself."""
    decay = group["weight_decay"]
    if decay == 0:
        return gradient
    if group.get("decoupled_weight_decay"):
        parameter.mul_(1 - group["lr"] * decay)
        return gradient
    return gradient + parameter * decay


def exact(step: Tensor, parameter: Tensor) -> Tensor:
    """Returns a count in 64 bits where the parameter has as many."""
    return step.to(parameter.dtype) if parameter.dtype.name == "float64" else step


def bias_correction(beta: float, step: Tensor) -> Any:
    """Returns `1 - beta ** step`, without the loss of digits that comes of numbers near 1."""
    if beta == 0:
        return 1.0
    return -(step * _log(beta)).expm1()


def rectification(beta: float, step: Tensor) -> tuple[Tensor, float]:
    """Returns the length of the approximated average of RAdam at a step, and at infinity.

    The first is `rho_inf - 2 t beta^t / (1 - beta^t)`, the difference of two numbers that are nearly the same. With
    `x = -t log(beta)` it is a constant and a multiple of `1 - x / (e^x - 1)`, whose series is taken for small x.
    """
    rate = -_log(beta)
    at_infinity = 2 / (1 - beta) - 1
    x = step * rate
    square = x * x
    small = x / 2 - square / 12 + square * square / 720 - square * square * square / 30240
    large = 1 - x / x.expm1()
    return (at_infinity - 2 / rate) + _TOP["where"](x < 0.5, small, large) * (2 / rate), at_infinity
