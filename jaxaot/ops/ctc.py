"""Connectionist temporal classification: `ja.nn.functional.ctc_loss`.

A *target* of S labels is aligned with T steps by its *path*, the labels with blanks between and around them: 2 S + 1
places, of which each step stays, goes on by one, or leaves out a blank between two different labels.
Source: Graves et al. 2006, https://www.cs.toronto.edu/~graves/icml_2006.pdf
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._typing import Array
from jaxaot.errors import ShapeMismatchError, TensorError
from jaxaot.ops.losses import reduced
from jaxaot.ops.slopes import with_slope
from jaxaot.ops.table import FUNCTIONAL, register_op


def _sum_of_exponentials(terms: list[Array]) -> Array:
    """Returns log(Σ exp(terms)), with gradient 0 where all terms are -inf."""
    largest = lax.stop_gradient(jnp.max(jnp.stack(terms), axis=0))
    largest = jnp.where(jnp.isinf(largest), 0, largest)
    total = sum(jnp.exp(term - largest) for term in terms)
    none = total == 0
    return jnp.where(none, -jnp.inf, jnp.log(jnp.where(none, 1, total)) + largest)


def _shifted(alpha: Array, n: int) -> Array:
    return jnp.pad(alpha, ((0, 0), (n, 0)), constant_values=-jnp.inf)[:, : alpha.shape[1]]


def _padded_targets(targets: Array, target_lengths: Any, n_labels: int) -> Array:
    """Returns concatenated targets as (batch, labels); what lies beyond a target's length has no meaning."""
    ends = jnp.cumsum(jnp.asarray(target_lengths))
    places = (ends - jnp.asarray(target_lengths))[:, None] + jnp.arange(n_labels)
    return jnp.take(targets, places, mode="clip")


def _negative_log_likelihoods(
    log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array, blank: int
) -> Array:
    n_steps, batch, _ = log_probs.shape
    n_labels = targets.shape[1]
    path = jnp.full((batch, 2 * n_labels + 1), blank, targets.dtype).at[:, 1::2].set(targets)
    may_skip = jnp.pad(path[:, 2:] != path[:, :-2], ((0, 0), (2, 0)))[:, : path.shape[1]]
    emitted = jnp.take_along_axis(log_probs, jnp.broadcast_to(path, (n_steps, *path.shape)), axis=2, mode="clip")
    place = jnp.arange(path.shape[1])
    is_start = (place == 0) | ((place == 1) & (target_lengths[:, None] > 0))

    def step(alpha: Array, at: Any) -> Any:
        time, emission = at
        skipped = jnp.where(may_skip, _shifted(alpha, 2), -jnp.inf)
        ahead = _sum_of_exponentials([alpha, _shifted(alpha, 1), skipped]) + emission
        return jnp.where((time < input_lengths)[:, None], ahead, alpha), None

    alpha = jnp.where(is_start, emitted[0], -jnp.inf)
    alpha, _ = lax.scan(step, alpha, (jnp.arange(1, n_steps), emitted[1:]))
    ends = 2 * target_lengths[:, None]
    last = jnp.take_along_axis(alpha, ends, axis=1, mode="clip")[:, 0]
    before = jnp.take_along_axis(alpha, jnp.maximum(ends - 1, 0), axis=1, mode="clip")[:, 0]
    likelihood = _sum_of_exponentials([last, jnp.where(target_lengths > 0, before, -jnp.inf)])
    none = jnp.where(target_lengths > 0, -jnp.inf, 0.0)
    return -jnp.where(input_lengths > 0, likelihood, none)


def _check_lengths(name: str, lengths: Any, batch: int, most: int | None) -> None:
    if np.ndim(lengths) != 1 or np.shape(lengths)[0] != batch:
        raise ShapeMismatchError(f"{name} must be of size batch_size: {batch}, but got {list(np.shape(lengths))}")
    for length in lengths if isinstance(lengths, tuple) and most is not None else ():
        if not 0 <= length <= most:
            raise TensorError(f"Expected {name} to have value at most {most}, but got value {length}")


def _loss(
    log_probs: Array, targets: Array, input_lengths: Any, target_lengths: Any, blank: int, reduction: str, zero: bool
) -> Array:
    unbatched = log_probs.ndim == 2
    if unbatched:
        log_probs, targets = log_probs[:, None], targets.reshape(1, -1)
        input_lengths, target_lengths = (
            x if isinstance(x, tuple) else jnp.reshape(x, (1,)) for x in (input_lengths, target_lengths)
        )
    if log_probs.ndim != 3 or not log_probs.size:
        raise ShapeMismatchError(
            "log_probs must be a non-empty tensor (steps, batch, classes) or (steps, classes), but got "
            f"{list(log_probs.shape)}"
        )
    n_steps, batch, n_classes = log_probs.shape
    if not 0 <= blank < n_classes:
        raise TensorError(f"blank must be in label range: 0 to {n_classes - 1}, but got {blank}")
    _check_lengths("input_lengths", input_lengths, batch, n_steps)
    _check_lengths("target_lengths", target_lengths, batch, targets.shape[1] if targets.ndim == 2 else None)
    targets = targets.astype(jnp.int32)
    if targets.ndim == 1:
        if isinstance(target_lengths, tuple) and sum(target_lengths) != targets.shape[0]:
            raise ShapeMismatchError(
                f"Expected tensor to have size {sum(target_lengths)} at dimension 0, but got size {targets.shape[0]} "
                "for argument #2 'targets'"
            )
        longest = max(target_lengths) if isinstance(target_lengths, tuple) else targets.shape[0]
        targets = _padded_targets(targets, target_lengths, longest) if longest else jnp.zeros((batch, 0), jnp.int32)
    input_lengths, target_lengths = jnp.asarray(input_lengths), jnp.asarray(target_lengths)
    values = log_probs.astype(jnp.promote_types(log_probs.dtype, jnp.float32))
    loss = _negative_log_likelihoods(values, targets, input_lengths, target_lengths, blank)
    # PyTorch's gradient is that of probabilities that keep summing to one: it adds theirs. No alignment, no gradient
    bad = jnp.isinf(loss)
    counts = jnp.arange(n_steps)[:, None] < input_lengths
    kept = jnp.where(counts, jnp.where(bad & (not zero), jnp.nan, 1.0), 0.0)[..., None]
    loss = with_slope(loss, loss + jnp.sum(jnp.where(counts[..., None], jnp.exp(values) * kept, 0), axis=(0, 2)))
    if zero:
        loss = jnp.where(bad, 0, loss)
    loss = loss.astype(log_probs.dtype)
    if reduction == "mean":
        loss = loss / jnp.maximum(target_lengths, 1).astype(loss.dtype)
    return loss[0] if unbatched else reduced(loss, reduction)


@register_op(
    "ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, "
    "str reduction='mean', bool zero_infinity=False) -> Tensor",
    **FUNCTIONAL,
)
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    """Returns -log of the probability of all alignments of `log_probs` with `targets`.

    Targets are (batch, labels), or the labels of all samples one after another.
    """
    return _loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)


@register_op(
    "ctc_loss_of_lengths(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, "
    "str reduction='mean', bool zero_infinity=False) -> Tensor",
    overload_of="ctc_loss",
    namespaces=("nn.functional",),
)
def ctc_loss_of_lengths(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    """Lengths that are known are checked."""
    return _loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
