"""A copy of a model whose weights are averages, and its batch norms (`torch.optim.swa_utils.AveragedModel`)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jaxaot.errors import TensorValueError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.made import zero_count
from jaxaot.nn.modules.module import Module
from jaxaot.nn.modules.norms import BatchNorm1d, BatchNorm2d, BatchNorm3d

Average = Callable[[Tensor, Tensor, Tensor], Tensor]
AverageOfAll = Callable[[Sequence[Tensor], Sequence[Tensor], Tensor], None]

_where = FUNCTIONS[""]["where"]


def get_swa_avg_fn() -> Average:
    """Returns the mean of all weights so far, as a function of the mean before, the weights and their number."""
    return lambda mean, weight, n: mean + (weight - mean) / (n + 1)


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Returns the exponential moving average, as a function of the average before, the weights and their number."""
    if not 0.0 <= decay <= 1.0:
        raise TensorValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return lambda mean, weight, n: mean * decay + weight * (1 - decay)


def _of_all(average: Average) -> AverageOfAll:
    def write(means: Sequence[Tensor], weights: Sequence[Tensor], n: Tensor) -> None:
        with recording(False):
            for mean, weight in zip(means, weights, strict=True):
                mean.copy_(average(mean, weight, n))

    return write


def get_swa_multi_avg_fn() -> AverageOfAll:
    """Returns what writes the means of all weights so far, `fn(means, weights, n_averaged)`."""
    return _of_all(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageOfAll:
    """Returns what writes the exponential moving averages, `fn(averages, weights, n_averaged)`."""
    return _of_all(get_ema_avg_fn(decay))


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
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: AverageOfAll | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise TensorValueError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module.to(device)
        self.register_buffer("n_averaged", zero_count(device))
        self.avg_fn = get_swa_avg_fn() if avg_fn is None else avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the result of the copy."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Adds the weights of a model to the averages; the first time they are copied."""
        with recording(False):
            is_first = self.n_averaged == 0
            pairs = list(zip(self.module.parameters(), model.parameters(), strict=True))
            for mean, value in zip(self.module.buffers(), model.buffers(), strict=True):
                if self.use_buffers and mean.is_floating_point():
                    pairs.append((mean, value))  # type: ignore[arg-type]
                else:
                    mean.copy_(value)
            if self.multi_avg_fn is None:
                made = [self.avg_fn(mean, weight, self.n_averaged) for mean, weight in pairs]
            else:
                made = [mean.detach().clone() for mean, _ in pairs]
                self.multi_avg_fn(made, [weight.detach() for _, weight in pairs], self.n_averaged)
            for (mean, weight), average in zip(pairs, made, strict=True):
                mean.copy_(_where(is_first, weight, average))
            self.n_averaged.add_(1)


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Has the batch norms of a model hold the statistics of all batches of a loader.

    Args:
      loader: Gives batches, or tuples and lists whose first element is one.
      model: The model, which is called with each batch.
      device: Where the batches are moved; by default they stay where they are.
    """
    norms = [module for module in model.modules() if isinstance(module, BatchNorm1d | BatchNorm2d | BatchNorm3d)]
    if not norms:
        return
    momenta, was_training = [norm.momentum for norm in norms], model.training
    model.train()
    with recording(False):
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None
        for batch in loader:
            x = batch[0] if isinstance(batch, list | tuple) else batch
            model(x if device is None else x.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)
