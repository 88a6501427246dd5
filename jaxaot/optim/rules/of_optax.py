"""optax's transformations as optimizers of tensors: `from_optax(tx, params)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jaxaot.errors import TensorTypeError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.optim.rules.optimizer import Optimizer
from jaxaot.optim.transformed import Transformed


class OptaxOptimizer(Optimizer):
    """An optimizer whose updates are those of a transformation of optax; see `from_optax`.

    Attributes:
      optax_state: The leaves of the transformation's state, as tensors that are written in place.
    """

    def __init__(self, transformation: Any, params: Any) -> None:
        self._transformed = Transformed(transformation, params)
        self.optax_state: list[Tensor] = self._transformed.first
        super().__init__(self._transformed.params, {})

    def _step(self) -> None:
        self._transformed.update(self.param_groups[0]["params"], self.optax_state)

    def state_dict(self) -> dict[str, Any]:
        """Returns the leaves of the transformation's state by their paths in it."""
        return self._transformed.state_dict(self.optax_state)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Copies what `state_dict()` returned into the state, in place.

        Raises:
          StateDictError: If it is the state of another transformation. Nothing is loaded then.
        """
        self._transformed.load_state_dict(self.optax_state, state_dict)


def from_optax(transformation: Any, params: Iterable[Any] | Mapping[str, Tensor]) -> OptaxOptimizer:
    """Returns an optimizer whose steps are those of a transformation of optax, written in place.

        optimizer = ja.optim.from_optax(optax.adamw(1e-3), model.named_parameters())
        loss.backward(); optimizer.step()

    Args:
      transformation: A `GradientTransformation`, or what has its `init` and `update`.
      params: Tensors, pairs of name and tensor, or a dict. The transformation is given a list, or a dict by name.
        A parameter without a gradient counts as one whose gradient is zero.
    """
    if not hasattr(transformation, "init") or not hasattr(transformation, "update"):
        raise TensorTypeError(
            f"`ja.optim.from_optax` takes a transformation of optax first, and was given a "
            f"{type(transformation).__name__}. Write `ja.optim.from_optax(optax.adam(1e-3), model.parameters())`."
        )
    return OptaxOptimizer(transformation, params)
