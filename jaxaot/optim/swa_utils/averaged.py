"""A copy of a model whose weights are averages (`torch.optim.swa_utils.AveragedModel`)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from jaxaot.errors import TensorValueError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.made import zero_count
from jaxaot.nn.modules.module import Module

Average = Callable[[Tensor, Tensor, Tensor], Tensor]

_where = FUNCTIONS[""]["where"]


def get_swa_avg_fn() -> Average:
    """Returns the mean of all weights so far, as a function of the mean before, the weights and their number."""
    return lambda mean, weight, n: mean + (weight - mean) / (n + 1)


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Returns the exponential moving average, as a function of the average before, the weights and their number."""
    if not 0.0 <= decay <= 1.0:
        raise TensorValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return lambda mean, weight, n: mean * decay + weight * (1 - decay)


class AveragedModel(Module):
    """A copy of a model with the averages of its weights.

        ema = AveragedModel(model, avg_fn=get_ema_avg_fn(0.99))
        ema.update_parameters(model)  # after each step

    Attributes:
      module: The copy.
      n_averaged: How many weights were averaged.
    """

    n_averaged: Tensor

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Average | None = None, use_buffers: bool = False
    ) -> None:
        super().__init__()
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module.to(device)
        self.register_buffer("n_averaged", zero_count(device))
        self.avg_fn = get_swa_avg_fn() if avg_fn is None else avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the result of the copy."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Adds the weights of a model to the averages; the first time they are copied."""
        with recording(False):
            is_first = self.n_averaged == 0
            for mean, weight in zip(self.module.parameters(), model.parameters(), strict=True):
                mean.copy_(_where(is_first, weight, self.avg_fn(mean, weight, self.n_averaged)))
            for mean, value in zip(self.module.buffers(), model.buffers(), strict=True):
                if self.use_buffers and mean.is_floating_point():
                    mean.copy_(_where(is_first, value, self.avg_fn(mean, value, self.n_averaged)))
                else:
                    mean.copy_(value)
            self.n_averaged.add_(1)
