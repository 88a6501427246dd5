"""Learning rates that change (`torch.optim.lr_scheduler`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsFloat

from jaxaot._callables import name_init
from jaxaot._util import show_only_own as _show_only_own
from jaxaot.nn.made import arguments
from jaxaot.optim.rules.optimizer import Optimizer
from jaxaot.optim.schedules import (
    as_metric,
    begin,
    check,
    check_functions,
    check_list,
    check_numbers,
    check_of_one,
    check_optimizer,
    check_schedules,
    each_group,
    load_state,
    put,
    rates,
    scaled,
    state_of,
    undo,
)

RateOf = Callable[[int], float]


def _n_passed(milestones: Iterable[int], epoch: int) -> int:
    """Returns how many milestones an epoch has reached; compared one by one, so that the epoch may be symbolic."""
    return len([milestone for milestone in milestones if milestone <= epoch])


class LRScheduler:
    """A learning rate that is a function of how often `step()` was called.

    Attributes:
      last_epoch: How often that was.
      base_lrs: The learning rate of each group at the start.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_numbers(self)
        self.optimizer = optimizer
        self.base_lrs = begin(optimizer, last_epoch)
        self.last_epoch = last_epoch
        self._initial_step()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_init(cls)

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_last_lr(self) -> list[Any]:
        """Returns the learning rate of each group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Returns the next learning rate of each group; each class has its own."""
        return rates(self.optimizer)

    def _closed_form(self) -> list[Any] | None:
        """Returns the learning rates as a function of the epoch alone, if there is such a one."""
        return None

    def step(self, epoch: int | None = None) -> None:
        """Sets the next learning rates, or those of an epoch."""
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        if epoch is None:
            self.last_epoch += 1
            values = self.get_lr()
        else:
            self.last_epoch = epoch
            values = self._closed_form()
            if values is None:
                values = self.get_lr()
        self._put(values)

    def _put(self, values: Iterable[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, values, strict=True):
            put(group, "lr", rate)
        self._last_lr = rates(self.optimizer)

    def state_dict(self) -> dict[str, Any]:
        """Returns all that the schedule keeps but its optimizer, and functions."""
        return state_of(self)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Puts back what `state_dict()` returned."""
        load_state(self, state_dict)


class _OfFunctions(LRScheduler):
    def __init__(self, optimizer: Optimizer, lr_lambda: RateOf | Sequence[RateOf], last_epoch: int = -1) -> None:
        self.lr_lambdas: list[RateOf] = each_group("lr_lambda", optimizer, lr_lambda)
        check_functions("lr_lambda", self.lr_lambdas)
        super().__init__(optimizer, last_epoch)

    def _times_functions(self, before: Iterable[Any]) -> list[Any]:
        return [scaled(rate, fn, self.last_epoch) for fn, rate in zip(self.lr_lambdas, before, strict=True)]


class LambdaLR(_OfFunctions):
    """The first learning rate times a function of the epoch."""

    def get_lr(self) -> list[Any]:
        return self._times_functions(self.base_lrs)


class MultiplicativeLR(_OfFunctions):
    """The learning rate before times a function of the epoch."""

    def get_lr(self) -> list[Any]:
        now = rates(self.optimizer)
        return now if self._is_initial else self._times_functions(now)


class _OfOptions(LRScheduler):
    def __init__(self, optimizer: Optimizer, last_epoch: int, **options: Any) -> None:
        vars(self).update(options)
        super().__init__(optimizer, last_epoch)


class _OfFactors(_OfOptions):
    """A schedule of factors: `_step_factor` of the rates before, None if they stay; `_factor` of the first ones."""

    _step_factor: Callable[[], Any]
    _factor: Callable[[], Any]

    def get_lr(self) -> list[Any]:
        now, factor = rates(self.optimizer), self._step_factor()
        return now if factor is None else [rate * factor for rate in now]

    def _closed_form(self) -> list[Any]:
        factor = self._factor()
        return [rate * factor for rate in self.base_lrs]


class StepLR(_OfFactors):
    """Times `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        super().__init__(**arguments(locals()))

    def _step_factor(self) -> float | None:
        return None if self.last_epoch == 0 or self.last_epoch % self.step_size != 0 else self.gamma

    def _factor(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_OfFactors):
    """Times `gamma` at each milestone."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        check_list("milestones", milestones)
        super().__init__(optimizer, last_epoch, milestones=Counter(milestones), gamma=gamma)

    def _step_factor(self) -> float | None:
        for milestone, times in self.milestones.items():  # compared one by one, so that the epoch may be symbolic
            if self.last_epoch == milestone:
                return self.gamma**times
        return None

    def _factor(self) -> float:
        return self.gamma ** _n_passed(self.milestones.elements(), self.last_epoch)


class ConstantLR(_OfFactors):
    """Times `factor` until an epoch."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        check(0 <= factor <= 1.0, "Constant multiplicative factor expected to be between 0 and 1.")
        super().__init__(**arguments(locals()))

    def _step_factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.factor
        return None if self.last_epoch != self.total_iters else 1.0 / self.factor

    def _factor(self) -> float:
        is_over = self.last_epoch >= self.total_iters
        return self.factor + is_over * (1 - self.factor)


class LinearLR(_OfFactors):
    """Times a factor that goes from one to another in a straight line."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        check(
            0 < start_factor <= 1.0,
            "Starting multiplicative factor expected to be greater than 0 and less or equal to 1.",
        )
        check(0 <= end_factor <= 1.0, "Ending multiplicative factor expected to be between 0 and 1.")
        super().__init__(**arguments(locals()))

    def _step_factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        change = self.end_factor - self.start_factor
        return 1.0 + change / (self.total_iters * self.start_factor + (self.last_epoch - 1) * change)

    def _factor(self) -> float:
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * part


class ExponentialLR(_OfFactors):
    """Times `gamma` at each epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        super().__init__(**arguments(locals()))

    def _step_factor(self) -> float | None:
        return None if self._is_initial else self.gamma

    def _factor(self) -> float:
        return self.gamma**self.last_epoch


class PolynomialLR(_OfFactors):
    """Times a power of what is left of the epochs."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        super().__init__(**arguments(locals()))

    def _step_factor(self) -> float | None:
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        left, before = (1.0 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1))
        return (left / before) ** self.power

    def _factor(self) -> float:
        return (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power


class CosineAnnealingLR(_OfOptions):
    """Along half a cosine to `eta_min`, and back."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        super().__init__(**arguments(locals()))

    def get_lr(self) -> list[Any]:
        now, least = rates(self.optimizer), self.eta_min
        if self._is_initial:
            return now
        if self._step_count == 1 and self.last_epoch > 0:
            return self._closed_form()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [rate + (first - least) * rise for rate, first in zip(now, self.base_lrs, strict=True)]
        here = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        before = 1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max)
        return [here / before * (rate - least) + least for rate in now]

    def _closed_form(self) -> list[Any]:
        factor = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (rate - self.eta_min) * factor for rate in self.base_lrs]


class CosineAnnealingWarmRestarts(_OfOptions):
    """Along half a cosine to `eta_min`, again and again."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        check(isinstance(T_0, int) and T_0 > 0, f"Expected positive integer T_0, but got {T_0}")
        check(isinstance(T_mult, int) and T_mult >= 1, f"Expected integer T_mult >= 1, but got {T_mult}")
        super().__init__(**arguments(locals()), T_i=T_0, T_cur=last_epoch)

    def get_lr(self) -> list[Any]:
        factor = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (rate - self.eta_min) * factor for rate in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:  # type: ignore[override]
        """Sets the next learning rates, or those of an epoch, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            check(epoch >= 0, f"Expected non-negative epoch, but got {epoch}")
            self._place_at(epoch)
        self.last_epoch = math.floor(epoch)
        self._put(self.get_lr())

    def _place_at(self, epoch: float) -> None:
        """Notes in which period an epoch is, and where in it."""
        if epoch < self.T_0:
            self.T_i = self.T_0
            self.T_cur = epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n


class SequentialLR(LRScheduler):
    """One schedule after the other, from milestone to milestone."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int], last_epoch: int = -1
    ) -> None:
        check_schedules("SequentialLR", schedulers)
        check(
            len(milestones) == len(schedulers) - 1,
            "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone "
            f"points, but got number of schedulers {len(schedulers)} and the number of milestones to be equal to "
            f"{len(milestones)}",
        )
        check_of_one("SequentialLR", schedulers, optimizer)
        self._schedulers = list(schedulers)
        self._milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            put(group, "lr", group["initial_lr"])
        undo(self)
        first = self._schedulers[_n_passed(self._milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Sets the next learning rates."""
        self.last_epoch += 1
        place = _n_passed(self._milestones, self.last_epoch)
        schedule = self._schedulers[place]
        if place > 0 and self._milestones[place - 1] == self.last_epoch:
            schedule._update_lr(0)
        else:
            schedule.step()
        self._last_lr = schedule.get_last_lr()


class ChainedScheduler(LRScheduler):
    """Several schedules at once: each changes what the ones before made."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        check_schedules("ChainedScheduler", schedulers)
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        check_of_one("ChainedScheduler", schedulers, self.optimizer)
        self._schedulers = list(schedulers)
        self._last_lr = rates(self.optimizer)

    def step(self) -> None:  # type: ignore[override]
        """Sets the next learning rates."""
        for schedule in self._schedulers:
            schedule.step()
        self._last_lr = rates(self.optimizer)


class ReduceLROnPlateau(LRScheduler):
    """Times `factor` when a metric has not become better for a while."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        check_optimizer(optimizer)
        check(factor < 1.0, "Factor should be < 1.0.")
        check(mode in ("min", "max"), f"mode {mode} is unknown!")
        check(threshold_mode in ("rel", "abs"), f"threshold mode {threshold_mode} is unknown!")
        options = arguments(locals())
        self.min_lrs = each_group("min_lr", optimizer, options.pop("min_lr"))
        vars(self).update(options)
        self.last_epoch = 0
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = 0
        self.num_bad_epochs = 0
        self._last_lr = rates(optimizer)

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore[override]
        """Notes the metric of an epoch, and lowers the learning rates if it is time to."""
        current = as_metric(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                before = float(group["lr"])
                after = max(before * self.factor, least)
                if before - after > self.eps:
                    put(group, "lr", after)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = rates(self.optimizer)

    @property
    def in_cooldown(self) -> bool:
        """Whether bad epochs are not counted at present."""
        return self.cooldown_counter > 0

    def _is_better(self, value: float) -> bool:
        if self.threshold_mode == "rel":
            margin = 1.0 - self.threshold if self.mode == "min" else self.threshold + 1.0
            bound = self.best * margin
        else:
            bound = self.best - self.threshold if self.mode == "min" else self.best + self.threshold
        return value < bound if self.mode == "min" else value > bound


class _Cycles(LRScheduler):
    """A schedule that changes the momentum too, which is `momentum` or the first of the `betas`."""

    def _begin_momentums(self, base: Any, most: Any, last_epoch: int) -> None:
        optimizer = self.optimizer
        check(
            "momentum" in optimizer.defaults or "betas" in optimizer.defaults,
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled",
        )
        self.use_beta1 = "betas" in optimizer.defaults
        self.base_momentums = each_group("base_momentum", optimizer, base)
        self.max_momentums = each_group("max_momentum", optimizer, most)
        if last_epoch == -1:
            pairs = zip(optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in pairs:
                self._put_momentum(group, high)
                group["max_momentum"] = high
                group["base_momentum"] = low

    def _put_momentum(self, group: Any, value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_Cycles):
    """Up and down between two learning rates."""

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        check(
            scale_fn is not None or mode in ("triangular", "triangular2", "exp_range"),
            "mode is invalid and scale_fn is None",
        )
        self.optimizer = optimizer
        lows = each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for low, group in zip(lows, optimizer.param_groups, strict=True):
                put(group, "lr", low)
        self.max_lrs = each_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentums(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def scale_fn(self, x: float) -> float:
        """Returns by how much a cycle, or an iteration, is lower than the first."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height = height * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            groups = self.optimizer.param_groups
            for group, low, high in zip(groups, self.base_momentums, self.max_momentums, strict=True):
                self._put_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]


_BETWEEN: dict[str, Callable[[float, float, float], float]] = {
    "cos": lambda start, end, part: end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1),
    "linear": lambda start, end, part: (end - start) * part + start,
}
"""From one number to another, at a part of the way."""


class OneCycleLR(_Cycles):
    """Up to a learning rate, then down to nearly nothing (Smith and Topin, 2018)."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        check(0 <= pct_start <= 1, f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        check(
            anneal_strategy in _BETWEEN,
            f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}",
        )
        self.optimizer = optimizer
        if total_steps is None:
            check(
                epochs is not None and steps_per_epoch is not None,
                "You must define either total_steps OR (epochs AND steps_per_epoch)",
            )
            total_steps = (epochs or 0) * (steps_per_epoch or 0)
        check(total_steps > 0, f"Expected positive integer total_steps, but got {total_steps}")
        self.total_steps = total_steps
        up = float(pct_start * total_steps) - 1
        rising = (up, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        if three_phase:
            down = float(2 * pct_start * total_steps) - 2
            self._phases = [
                rising,
                (down, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                (total_steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
            ]
        else:
            self._phases = [rising, (total_steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        self.anneal_strategy = anneal_strategy
        if last_epoch == -1:
            tops = each_group("max_lr", optimizer, max_lr)
            for top, group in zip(tops, optimizer.param_groups, strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentums(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        step, found = self.last_epoch, []
        if step > self.total_steps:  # text would read the number, so it is made for the error alone
            check(False, f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        between = _BETWEEN[self.anneal_strategy]
        begun: float = 0.0
        for end, low, high, first, last in self._phases:
            if step <= end or end == self._phases[-1][0]:
                part = (step - begun) / (end - begun)
                for group in self.optimizer.param_groups:
                    found.append(between(group[low], group[high], part))
                    if self.cycle_momentum:
                        self._put_momentum(group, between(group[first], group[last], part))
                break
            begun = end
        return found


_show_only_own(globals())
