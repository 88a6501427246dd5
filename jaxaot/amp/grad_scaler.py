"""Scales a loss so that float16 gradients do not vanish, and skips the steps in which they overflow.

The scale and what is known of overflows are tensors, so that a whole step, `scale`, `backward`, `step` and `update`, is
one compiled graph: whether the optimizer steps is a branch of that graph, and no value is waited for.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import jax
import numpy as np

from jaxaot.errors import ArgumentError, DtypeError, ScalerOrderError, TensorValueError
from jaxaot.facade.dispatch.create import tensor
from jaxaot.facade.kernels.together import compute_together, write_together
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.tape.modes import no_grad, state
from jaxaot.transforms.control_flow import cond

_isfinite, _where = FUNCTIONS[""]["isfinite"], FUNCTIONS[""]["where"]

_UNSCALED, _STEPPED = "unscaled", "stepped"


class GradScaler:
    """Scales losses and, in `step`, gradients back.

        scaler = ja.amp.GradScaler()
        with ja.autocast(dtype=ja.float16):
            loss = model(x)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    An optimizer is anything with `param_groups`, a list of dicts with `"params"`, and a method `step`. In a compiled
    step this method becomes a branch of the graph, so what it writes has to exist before it.
    """

    def __init__(
        self,
        device: str | None = None,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        """Begins with a scale.

        Args:
          device: Where the scale lives; by default on the device that JAX uses.
          init_scale: The first scale.
          growth_factor: What it is multiplied by after `growth_interval` steps without an overflow.
          backoff_factor: What it is multiplied by after an overflow.
          growth_interval: How many steps in a row without an overflow make it grow.
          enabled: False for a scaler that does nothing but step.

        Raises:
          TensorValueError: If the scale would not grow, or would not shrink.
        """
        if enabled and growth_factor <= 1.0:
            raise TensorValueError(f"The growth factor must be > 1.0, not {growth_factor}.")
        if enabled and backoff_factor >= 1.0:
            raise TensorValueError(f"The backoff factor must be < 1.0, not {backoff_factor}.")
        if device == "cuda" and jax.default_backend() != "gpu":
            if enabled:
                warnings.warn(
                    "The GradScaler is for CUDA, and JAX has no GPU: it does nothing but step. Write "
                    "`ja.amp.GradScaler()` for the device that JAX uses.",
                    stacklevel=3 if type(self) is not GradScaler else 2,
                )
            device, enabled = None, False
        self._enabled = bool(enabled)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._device = device
        self._scale = tensor(init_scale, np.float32, device)
        self._growth_tracker = tensor(0, np.int32, device)
        self._stages: dict[int, str] = {}  # by id of an optimizer, since the last `update`
        self._found_inf: dict[int, Tensor] = {}

    def scale(self, outputs: object) -> Any:
        """Returns a tensor, or tensors in a list, tuple or other iterable, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(map(self.scale, outputs))
        if isinstance(outputs, Iterable):
            return map(self.scale, outputs)
        raise ArgumentError(f"outputs must be a Tensor or an iterable of Tensors, not {type(outputs).__name__}")

    def unscale_(self, optimizer: Any) -> None:
        """Divides the gradients of an optimizer's parameters by the scale, for instance to clip them before `step`.

        Raises:
          ScalerOrderError: If that was done since the last `update`.
          DtypeError: If a gradient is float16.
        """
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer))
        if stage == _UNSCALED:
            raise ScalerOrderError("unscale_() has already been called on this optimizer since the last update().")
        if stage == _STEPPED:
            raise ScalerOrderError("unscale_() is being called after step().")
        grads = _grads_of(optimizer)
        for grad in grads:
            if grad.dtype == np.float16:
                raise DtypeError(
                    "Attempting to unscale FP16 gradients. Keep the parameters in float32 and cast under `autocast`."
                )
        if not grads:
            raise ScalerOrderError(
                "No inf checks were recorded for this optimizer: none of its parameters has a `.grad`. Call "
                "`scaler.scale(loss).backward()` before, and check `param_groups`."
            )
        with no_grad():
            self._found_inf[id(optimizer)] = compute_together(_found_inf, grads)
            write_together(_scale_all, grads, self._scale.reciprocal())
        self._stages[id(optimizer)] = _UNSCALED

    def step(self, optimizer: Any, *args: object, **kwargs: Any) -> Any:
        """Unscales the gradients if that was not done, and lets the optimizer step if all of them are finite.

        Args:
          optimizer: What has the gradients.
          *args: For its `step`.
          **kwargs: For its `step`.

        Returns:
          What its `step` returned; None if it was skipped, and in a trace.

        Raises:
          ScalerOrderError: If it was called since the last `update`, or no gradient is there.
          ArgumentError: If there is a `closure`.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise ArgumentError("Closure use is not currently supported if GradScaler is enabled.")
        if self._stages.get(id(optimizer)) == _STEPPED:
            raise ScalerOrderError("step() has already been called since the last update().")
        reads_found_inf = getattr(optimizer, "_step_supports_amp_scaling", False)
        if id(optimizer) not in self._stages:
            self.unscale_(optimizer)
        found_inf = self._found_inf[id(optimizer)]
        result = None
        if reads_found_inf:
            optimizer.grad_scale, optimizer.found_inf = None, found_inf
            try:
                result = optimizer.step(*args, **kwargs)
            finally:
                del optimizer.grad_scale, optimizer.found_inf
        elif state.trace is not None:
            _step_if(found_inf == 0, optimizer, args, kwargs)
        elif found_inf.item() == 0:
            result = optimizer.step(*args, **kwargs)
        self._stages[id(optimizer)] = _STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """Makes the scale smaller after an overflow, and larger after many steps without one.

        Args:
          new_scale: The scale from now on, a number or a tensor of one element, which is copied.

        Raises:
          ScalerOrderError: If no optimizer was unscaled since the last `update`.
        """
        if not self._enabled:
            return
        with no_grad():
            if new_scale is not None:
                self._set_scale(new_scale)
            elif not self._found_inf:
                raise ScalerOrderError("No inf checks were recorded prior to update. Call `scaler.step(optimizer)`.")
            else:
                self._adapt(sum(list(self._found_inf.values())[1:], next(iter(self._found_inf.values()))))
        self._stages.clear()
        self._found_inf.clear()

    def _set_scale(self, scale: Any) -> None:
        if isinstance(scale, Tensor):
            if scale.numel() != 1 or scale.requires_grad:
                raise ArgumentError("new_scale should be a float or a 1-element tensor with requires_grad=False.")
            self._scale.copy_(scale.reshape(()))
        else:
            self._scale.fill_(scale)

    def _adapt(self, found_inf: Any) -> None:
        overflowed = found_inf > 0
        n = self._growth_tracker + 1
        is_due = n == self._growth_interval
        larger = self._scale * self._growth_factor
        grown = _where(is_due & _isfinite(larger), larger, self._scale)
        self._scale.copy_(_where(overflowed, self._scale * self._backoff_factor, grown))
        self._growth_tracker.copy_(_where(overflowed | is_due, 0, n))

    def get_scale(self) -> float:
        """Returns the scale, or 1.0 for a scaler that is not enabled; waits for it."""
        return float(self._scale.item()) if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """Returns the factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets what the scale is multiplied by to grow."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Returns the factor by which the scale shrinks after an overflow."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets what the scale is multiplied by after an overflow."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Returns after how many steps without an overflow the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets after how many steps without an overflow the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Returns whether losses are scaled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Returns the state as numbers; nothing for a scaler that is not enabled. Call it after `update`."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": int(self._growth_tracker.item()),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes the state over that `state_dict` returned, PyTorch's as well.

        Raises:
          ArgumentError: If it is that of a scaler that was not enabled.
        """
        if not self._enabled:
            return
        if not isinstance(state_dict, dict):
            raise ArgumentError(f"`load_state_dict` takes what `state_dict()` returned, and {state_dict!r} was given.")
        if not state_dict:
            raise ArgumentError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._scale.fill_(state_dict["scale"])
        self._growth_tracker.fill_(state_dict["_growth_tracker"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]

    def __getstate__(self) -> dict[str, Any]:
        if self._stages:
            raise ScalerOrderError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
                "scaler.update()."
            )
        return vars(self)


def _grads_of(optimizer: Any) -> list[Tensor]:
    if not hasattr(optimizer, "param_groups"):
        raise ArgumentError(
            f"A GradScaler steps with an optimizer, and {optimizer!r} was given. Write `scaler.step(optimizer)`."
        )
    params = [param for group in optimizer.param_groups for param in group["params"]]
    for param in params:
        if not isinstance(param, Tensor):
            raise ArgumentError(f"expected param to be Tensor, got {type(param).__name__}")
    return [param.grad for param in params if param.grad is not None]


def _found_inf(grads: list[Tensor]) -> Tensor:
    """Returns 1.0 if an element of a gradient is not finite, else 0.0."""
    are_finite = [_isfinite(grad).all() for grad in grads]
    while len(are_finite) > 1:
        are_finite = [a & b for a, b in zip(are_finite[::2], are_finite[1::2], strict=False)] + (
            are_finite[-1:] if len(are_finite) % 2 else []
        )
    return (~are_finite[0]).to(np.float32)


def _scale_all(grads: list[Tensor], factor: Tensor) -> None:
    for grad in grads:
        grad.mul_(factor)


def _step_if(is_finite: Any, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Makes the step of an optimizer a branch of the graph."""

    def step() -> None:
        optimizer.step(*args, **kwargs)

    cond(is_finite, step, lambda: None)
