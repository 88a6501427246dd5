"""Batch norm whose running statistics are means of all batches so far (`momentum=None`)."""

from __future__ import annotations

from jaxaot.facade.dispatch.write import note_statistics
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional


def cumulative_batch_norm(
    input: Tensor, mean: Tensor, var: Tensor, count: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    """Returns the batch norm of the input, and moves the running statistics by `1 / count`.

    Args:
      input: The batch.
      mean: The running mean, written in place.
      var: The running variance, written in place.
      count: How many batches there were, this one included.
      weight: Scales.
      bias: Moves.
      eps: Added to the variance.
    """
    with recording(False):
        batch_mean, batch_var = mean.clone().zero_(), var.clone().zero_()
    result = functional.batch_norm(input, batch_mean, batch_var, weight, bias, True, 1.0, eps)
    with recording(False):
        part = count.to(mean.dtype).reciprocal()
        mean.add_((batch_mean - mean) * part)
        var.add_((batch_var - var) * part)
    note_statistics(mean, var)
    return result
