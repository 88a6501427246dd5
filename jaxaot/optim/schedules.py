"""What schedules ask of optimizers: learning rates read, set and checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxaot.errors import TensorTypeError, TensorValueError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.optim.rules.optimizer import Optimizer


def check_optimizer(optimizer: object) -> None:
    """Raises unless it is an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TensorTypeError(
            f"{type(optimizer).__name__} is not an Optimizer. Write `StepLR(optimizer, …)` with an optimizer of "
            "`ja.optim`; schedules of optax belong into the transformation for `ja.optim.from_optax`."
        )


def check(condition: bool, words: str) -> None:
    """Raises unless a condition holds."""
    if not condition:
        raise TensorValueError(words)


def begin(optimizer: Any, last_epoch: int) -> list[Any]:
    """Returns the learning rates with which a schedule begins, and notes them in the groups."""
    check_optimizer(optimizer)
    for i, group in enumerate(optimizer.param_groups):
        if last_epoch == -1:
            group.setdefault("initial_lr", copied(group["lr"]))
        elif "initial_lr" not in group:
            raise TensorValueError(
                f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= "
                "0. Load the state dict of the optimizer first."
            )
    return [copied(group["initial_lr"]) for group in optimizer.param_groups]


def copied(value: object) -> Any:
    """Returns a learning rate that does not change with the group's."""
    return value.clone() if isinstance(value, Tensor) else value


def rates(optimizer: Any) -> list[Any]:
    """Returns the learning rate of each group."""
    return [copied(group["lr"]) for group in optimizer.param_groups]


def put(group: dict[str, Any], key: str, value: object) -> None:
    """Sets an option of a group, in place if it is a tensor."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value)
    else:
        group[key] = value


def scaled(rate: object, fn: Any, epoch: object) -> Any:
    """Returns a learning rate times what a function makes of the epoch.

    Raises:
      TensorTypeError: If that is no number.
    """
    factor = fn(epoch)
    if factor is None or isinstance(factor, (str, bytes, list, tuple, dict)):
        raise TensorTypeError(f"`lr_lambda` is to return a factor of the learning rate, and returned {factor!r}.")
    return rate * factor


def check_functions(name: str, functions: list[Any]) -> None:
    """Raises unless all of them are functions."""
    for fn in functions:
        if not callable(fn):
            raise TensorTypeError(
                f"`{name}` is a function of the epoch, or one for each group of parameters, and {fn!r} was given. "
                f"Write `{name}=lambda epoch: 0.95**epoch`."
            )


_NUMBERS = (
    "step_size", "gamma", "factor", "total_iters", "start_factor", "end_factor", "power", "T_max", "eta_min", "min_lrs",
    "max_lrs",
)  # fmt: skip
_PERIODS = ("step_size", "T_max")


def check_numbers(schedule: Any) -> None:
    """Raises unless the options of a schedule of ours are numbers, and its period is not 0."""
    options = vars(schedule) if type(schedule).__module__.startswith("jaxaot.") else {}
    for name in _NUMBERS:
        for value in _listed(options.get(name, 1)):
            if value is None or isinstance(value, (str, bytes, dict, list, tuple)) or callable(value):
                raise TensorTypeError(f"`{name}` is a number, and {value!r} was given.")
            if name in _PERIODS and isinstance(value, (int, float)) and value == 0:
                raise TensorValueError(f"`{name}` counts epochs, and 0 was given.")


def _listed(value: object) -> Any:
    return value if isinstance(value, (list, tuple)) else (value,)


def check_list(name: str, values: object) -> None:
    """Raises unless there are several values."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TensorTypeError(f"`{name}` is a list of epochs, and {values!r} was given. Write `{name}=[30, 60]`.")


def as_metric(value: Any) -> float:
    """Returns what a schedule is to look at.

    Raises:
      TensorTypeError: If it is no number.
    """
    try:
        return float(value)
    except (TypeError, ValueError):
        if hasattr(value, "__float__"):  # what is traced says itself why it is none
            raise
        raise TensorTypeError(f"`step` takes the metric of the epoch, a number, and {value!r} was given.") from None


def check_schedules(name: str, schedules: object) -> None:
    """Raises unless it is a list of schedules, at least one."""
    if not isinstance(schedules, (list, tuple)) or not all(hasattr(s, "optimizer") for s in schedules):
        raise TensorTypeError(f"{name} takes a list of schedules, and {schedules!r} was given.")
    check(len(schedules) > 0, f"{name} expects at least one scheduler, but got no scheduler.")


def check_of_one(name: str, schedules: Iterable[Any], optimizer: object) -> None:
    """Raises unless schedules change one optimizer."""
    is_one = all(schedule.optimizer is optimizer for schedule in schedules)
    check(is_one, f"{name} expects all schedulers to belong to the same optimizer")


def each_group(name: str, optimizer: Any, value: object) -> list[Any]:
    """Returns a value for each group."""
    n = len(optimizer.param_groups)
    if isinstance(value, (list, tuple)):
        check(len(value) == n, f"{name} must have the same length as optimizer.param_groups: {len(value)}, {n}")
        return list(value)
    return [value] * n


def undo(schedule: Any) -> None:
    """Takes back the first step of each schedule in a sequence."""
    inside = getattr(schedule, "_schedulers", None)
    if inside is not None:
        for child in inside:
            undo(child)
    elif hasattr(schedule, "last_epoch"):
        schedule.last_epoch -= 1


def state_of(schedule: Any) -> dict[str, Any]:
    """Returns what a schedule keeps, without its optimizer and functions."""
    kept = {}
    for name, value in vars(schedule).items():
        if name == "_schedulers":
            kept[name] = [child.state_dict() for child in value]
        elif name == "lr_lambdas":
            kept[name] = [
                None if callable(fn) and not hasattr(fn, "__dict__") else dict(vars(fn)) or None for fn in value
            ]
        elif name != "optimizer" and not callable(value):
            kept[name] = value
    return kept


def load_state(schedule: Any, state: dict[str, Any]) -> None:
    """Puts back what `state_of` returned."""
    for name, value in state.items():
        if name == "_schedulers":
            for child, kept in zip(schedule._schedulers, value, strict=True):
                child.load_state_dict(kept)
        elif name == "lr_lambdas":
            for fn, kept in zip(schedule.lr_lambdas, value, strict=True):
                if kept:
                    vars(fn).update(kept)
        else:
            setattr(schedule, name, value)
