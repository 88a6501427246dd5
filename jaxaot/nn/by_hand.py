"""The functions of networks that need more than a row: they read a value, or call a function of the user's."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from jaxaot.errors import ArgumentError, ShapeMismatchError
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.table import lookup


@functools.wraps(FUNCTIONS["nn.functional"]["multi_head_attention_forward"])
def multi_head_attention_forward(*args: object, **kwargs: Any) -> tuple[Tensor, Tensor | None]:
    """Returns the attention output, and the attention weights unless `need_weights=False`."""
    row = FUNCTIONS["nn.functional"]["multi_head_attention_forward"]
    output, weights = row(*args, **kwargs)
    needed = inspect.signature(row).bind(*args, **kwargs).arguments.get("need_weights", True)
    return output, weights if needed else None


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Returns ones where a last dim of classes equals `input`; by default as many classes as the largest asks for."""
    if num_classes == -1:
        if not input.numel():
            raise ArgumentError("Can not infer total number of classes from empty tensor. Give `num_classes`.")
        num_classes = int(input.max().item()) + 1
    return call(lookup("one_hot"), (input,), (num_classes,))


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Returns the triplet loss `max(0, d(anchor, positive) - d(anchor, negative) + margin)` for any distance `d`."""
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentError(f"{reduction} is not a valid value for reduction: it is one of none, mean and sum")
    if margin <= 0:
        raise ArgumentError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise ShapeMismatchError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    distance = distance_function or FUNCTIONS["nn.functional"]["pairwise_distance"]
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = FUNCTIONS[""]["minimum"](far, distance(positive, negative))
    loss = (margin + near - far).clamp(min=0)
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()
