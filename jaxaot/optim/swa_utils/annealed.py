"""A learning rate that goes over to the one of averaging (`torch.optim.swa_utils.SWALR`)."""

from __future__ import annotations

import math
from typing import Any, Literal

from jaxaot.optim.lr_scheduler import LRScheduler
from jaxaot.optim.rules.optimizer import Optimizer
from jaxaot.optim.schedules import check, check_optimizer, each_group


class SWALR(LRScheduler):
    """From the learning rates that there are to `swa_lr`, where they stay.

    Args:
      optimizer: What has the learning rates.
      swa_lr: The last one, or one for each group.
      anneal_epochs: After how many epochs it is reached.
      anneal_strategy: `"cos"` or `"linear"`.
      last_epoch: As of all schedules.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        for rate, group in zip(each_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        check(
            anneal_strategy in ("cos", "linear"),
            f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}",
        )
        is_count = isinstance(anneal_epochs, int) and anneal_epochs >= 0
        check(is_count, f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        self._anneal_strategy = anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _part(self, step: float) -> float:
        part = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return part if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2

    def get_lr(self) -> list[Any]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now, rates = self._part(step - 1), self._part(step), []
        for group in self.optimizer.param_groups:
            last, rate = group["swa_lr"], group["lr"]
            first = last if before == 1 else (rate - before * last) / (1 - before)
            rates.append(last * now + first * (1 - now))
        return rates
