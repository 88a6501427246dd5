"""L-BFGS, with or without a line search (after minFunc, as PyTorch's)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.optim.groups import declared
from jaxaot.optim.orthogonal import check
from jaxaot.optim.rules.optimizer import Optimizer, ParamsT
from jaxaot.optim.wolfe import strong_wolfe

_cat = FUNCTIONS[""]["cat"]


class LBFGS(Optimizer):
    """Newton's method with an inverse Hessian made of the last changes of gradients.

    A step calls the closure several times and reads values, so it runs eagerly: compile the closure, not the step.
    """

    def __init__(
        self, params: ParamsT, lr: float = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        check(line_search_fn in (None, "strong_wolfe"), "only 'strong_wolfe' is supported")
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, declared(locals()))
        check(len(self.param_groups) == 1, "LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    def _flat_gradient(self) -> Tensor:
        parts = [p.new_zeros(p.numel()) if p.grad is None else p.grad.reshape(-1) for p in self._params]
        return _cat(parts, 0)

    def _move(self, size: float, direction: Tensor) -> None:
        offset = 0
        for p in self._params:
            p.add_(direction[offset : offset + p.numel()].view_as(p) * size)
            offset += p.numel()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Moves the parameters by up to `max_iter` iterations, in place.

        Args:
          closure: Computes the loss and its gradients anew; needed here.

        Returns:
          The loss before the step.
        """
        check(closure is not None, "LBFGS needs a closure: `optimizer.step(closure)`")
        with recording(False):
            return self._iterate(closure)  # type: ignore[arg-type]

    def _iterate(self, closure: Callable[[], Any]) -> Any:
        group, evaluations = self.param_groups[0], 1
        state = self.state.setdefault(self._params[0], {})
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        def evaluate() -> tuple[Any, Tensor]:
            with recording(True):
                loss = closure()
            return loss, self._flat_gradient()

        first, gradient = evaluate()
        loss = float(first)
        state["func_evals"] += 1
        if float(gradient.abs().max()) <= group["tolerance_grad"]:
            return first
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, gradient, group["history_size"])
            before, loss_before = gradient.clone(), loss
            state["prev_flat_grad"], state["prev_loss"] = before, loss
            size = group["lr"]
            if state["n_iter"] == 1:
                size *= min(1.0, 1.0 / float(gradient.abs().sum()))
            state["d"], state["t"] = direction, size
            slope = float(gradient.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            n_here = 0
            if group["line_search_fn"] is not None:
                start = [p.clone() for p in self._params]

                def along(size: float, direction: Tensor = direction, start: Any = start) -> tuple[float, Tensor]:
                    self._move(size, direction)
                    loss, gradient = evaluate()
                    for p, value in zip(self._params, start, strict=True):
                        p.copy_(value)
                    return float(loss), gradient

                most = group["max_eval"] - evaluations
                loss, gradient, size, n_here = strong_wolfe(along, size, direction, loss, gradient, slope, most)
                state["t"] = size
                self._move(size, direction)
            else:
                self._move(size, direction)
                if n != group["max_iter"]:
                    value, gradient = evaluate()
                    loss, n_here = float(value), 1
            evaluations += n_here
            state["func_evals"] += n_here
            is_done = (
                n == group["max_iter"]
                or evaluations >= group["max_eval"]
                or float(gradient.abs().max()) <= group["tolerance_grad"]
                or float((direction * size).abs().max()) <= group["tolerance_change"]
                or abs(loss - loss_before) < group["tolerance_change"]
            )
            if is_done:
                break
        return first

    def _direction(self, state: dict[str, Any], gradient: Tensor, history_size: int) -> Tensor:
        """Returns the gradient times minus the approximated inverse Hessian, and updates that."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return gradient.neg()
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        change = gradient - state["prev_flat_grad"]
        step = state["d"] * state["t"]
        product = float(change.dot(step))
        if product > 1e-10:
            for kept, value in ((changes, change), (steps, step), (inverses, 1.0 / product)):
                if len(kept) == history_size:
                    kept.pop(0)
                kept.append(value)
            state["H_diag"] = product / float(change.dot(change))
        direction, factors = gradient.neg(), []
        for i in range(len(changes) - 1, -1, -1):
            factors.append(float(steps[i].dot(direction)) * inverses[i])
            direction = direction - changes[i] * factors[-1]
        direction = direction * state["H_diag"]
        for i in range(len(changes)):
            factor = float(changes[i].dot(direction)) * inverses[i]
            direction = direction + steps[i] * (factors[len(changes) - 1 - i] - factor)
        return direction
