"""Rules of products that are summed: matrices and convolutions."""

from __future__ import annotations

from jaxaot.buckets.table import declare
from jaxaot.buckets.writer import MAX, Padded, Writer
from jaxaot.ir.alignment import AlignedEqn


@declare("dot_general", "Both operands are masked with zeros along an axis that is summed over.")
def dot(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Sums over the valid elements."""
    (left_summed, right_summed), (left_batch, right_batch) = e.bucket["dimension_numbers"]
    pairs = [*zip(left_summed, right_summed, strict=True), *zip(left_batch, right_batch, strict=True)]
    values, joined = w.together(values, pairs)
    left, right = w.mask(values[0], left_summed, 0), w.mask(values[1], right_summed, 0)
    rest = lambda value, *used: [x for axis, x in enumerate(value.extents) if not any(axis in u for u in used)]
    batch = joined[len(left_summed) :]
    extents = (*batch, *rest(left, left_summed, left_batch), *rest(right, right_summed, right_batch))
    return [Padded(w.bind(e, left.array, right.array)[0], extents)]


@declare(
    "conv_general_dilated",
    "Masked with zeros along space and along what is summed over; low margins and strides are the same for each size.",
    "padding",
)
def convolution(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Sums over the valid elements of each window."""
    left, right = values
    names, exact, bucket = e.bucket["dimension_numbers"], e.exact, e.bucket
    rows, features, *space = names.lhs_spec
    out_features, in_features, *window = names.rhs_spec
    is_grouped = bucket["feature_group_count"] != 1 or bucket["batch_group_count"] != 1
    if is_grouped and (left.is_padded(features) or right.is_padded(in_features) or right.is_padded(out_features)):
        raise w.refuse("the size of a group changes")
    if bucket["batch_group_count"] != 1 and left.is_padded(rows):
        raise w.refuse("the size of a group changes")
    for axis, across, (low, high), (low_bucket, high_bucket) in zip(
        space, window, exact["padding"], bucket["padding"], strict=True
    ):
        if low != low_bucket:
            raise w.refuse("its low margin depends on a size; a stride of 1 or an explicit margin does not")
        if left.is_padded(axis) and not w.is_between(high, high_bucket, 0, MAX):
            raise w.refuse("its high margin is negative")
        left, right = w.as_prefix(left, axis), w.as_prefix(right, across)
    if not is_grouped:
        (left, right), _ = w.together([left, right], [[features, in_features]])
    masked = w.mask(left, [features, *space], 0), w.mask(right, [in_features, *window], 0)
    extents = w.results(e)
    if bucket["batch_group_count"] == 1:
        extents[names.out_spec[0]] = left.extents[rows]
    if not is_grouped:
        extents[names.out_spec[1]] = right.extents[out_features]
    return [Padded(w.bind(e, *(value.array for value in masked))[0], tuple(extents))]
