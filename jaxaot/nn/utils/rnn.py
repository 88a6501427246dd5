"""Sequences of several lengths: padded to one tensor, and packed for recurrent layers (`torch.nn.utils.rnn`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxaot._util import show_only_own as _show_only_own
from jaxaot.errors import ShapeMismatchError, TensorError, TensorTypeError, TensorValueError
from jaxaot.facade.dispatch.create import as_tensor, from_numpy, on_host
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.packed import PackedSequence as PackedSequence
from jaxaot.nn.packed import padded

Lengths = Tensor | Sequence[int]


def _lengths(given: Any) -> np.ndarray:
    values = given.tolist() if isinstance(given, Tensor) else list(given)
    return np.asarray([int(n) for n in values], np.int64)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Returns the order that takes another one back."""
    return None if permutation is None else permutation.argsort()


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Returns sequences as one tensor, (time, batch, …), the shorter ones padded.

    Args:
      sequences: Tensors of sizes (length, …), which differ in their lengths alone.
      batch_first: Whether the result is (batch, time, …).
      padding_value: What stands where a sequence is over.
      padding_side: `"right"`, or `"left"` to have the ends of the sequences side by side.

    Raises:
      TensorTypeError: If they are no tensors.
      TensorValueError: If there is no such side.
    """
    rows = list(sequences)
    if not rows or not all(isinstance(row, Tensor) for row in rows):
        raise TensorTypeError(
            "pad_sequence: Expected iterable for input sequences, of one tensor at least. Write "
            "`pad_sequence([ja.tensor(row) for row in rows])`."
        )
    if padding_side not in ("left", "right"):
        raise TensorValueError(f"Expected padding_side to be one of left or right, but got {padding_side!r}")
    if len({(tuple(row.shape[1:]), row.dtype) for row in rows}) > 1:
        shapes = ", ".join(str(list(row.shape)) for row in rows[:8])
        raise ShapeMismatchError(f"pad_sequence: sequences have one dtype and differ in their lengths alone: {shapes}")
    longest = max(row.shape[0] for row in rows)
    is_left, arrays = padding_side == "left", [on_host(row) for row in rows]
    if all(array is not None for array in arrays):
        whole = np.full((len(rows), longest, *rows[0].shape[1:]), padding_value, arrays[0].dtype)  # type: ignore[union-attr]
        for line, array in zip(whole, arrays, strict=True):
            assert array is not None, "all of them are on the host"
            line[longest - len(array) if is_left else 0 :][: len(array)] = array
        return from_numpy(whole if batch_first else np.ascontiguousarray(whole.swapaxes(0, 1)))
    ends = [(longest - row.shape[0], 0) if is_left else (0, longest - row.shape[0]) for row in rows]
    lines = [
        functional.pad(row, (*(0, 0) * (row.ndim - 1), *end), value=padding_value)
        for row, end in zip(rows, ends, strict=True)
    ]
    return FUNCTIONS[""]["stack"](lines, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Lengths, batch_first: bool = False) -> list[Tensor]:
    """Returns the sequences of a padded tensor, each with its own length."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [rows[i, :n] for i, n in enumerate(_lengths(lengths).tolist())]


def pack_padded_sequence(
    input: Tensor, lengths: Lengths, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs padded sequences for a recurrent layer.

    Args:
      input: The sequences, (time, batch, …).
      lengths: How long each is. A list is known to Python while a function is traced; of a tensor it asks the values.
      batch_first: Whether the sequences are (batch, time, …).
      enforce_sorted: Whether they have to come longest first; if not, they are sorted here.

    Raises:
      TensorError: If a length is not positive, or the order is not the one that was enforced.
      ShapeMismatchError: If there are not as many lengths as sequences, or steps.
    """
    sizes = _lengths(lengths)
    input = input if batch_first else input.transpose(0, 1)
    if len(sizes) != input.shape[0]:
        raise ShapeMismatchError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={input.shape[0]})"
        )
    if not len(sizes) or sizes.min() <= 0:
        raise TensorError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if sizes.max() > input.shape[1]:
        raise ShapeMismatchError(f"a sequence has {sizes.max()} steps by `lengths`, and {input.shape[1]} were given")
    order, sort = np.argsort(-sizes, kind="stable"), None
    if enforce_sorted and (order != np.arange(len(order))).any():
        raise TensorError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence."
        )
    if not enforce_sorted:
        sort = as_tensor(order)
    batch_sizes = (sizes[None] > np.arange(sizes.max())[:, None]).sum(1)
    step = np.repeat(np.arange(len(batch_sizes)), batch_sizes)
    place = order[np.arange(len(step)) - (np.cumsum(batch_sizes) - batch_sizes)[step]]
    undo = None if sort is None else as_tensor(np.argsort(order))
    return PackedSequence.of_sizes(input[as_tensor(place), as_tensor(step)], batch_sizes.tolist(), sort, undo)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Returns packed sequences as one padded tensor, (time, batch, …), and their lengths.

    Args:
      sequence: The packed sequences.
      batch_first: Whether the result is (batch, time, …).
      padding_value: What stands where a sequence is over.
      total_length: How many steps the result has; by default as many as the longest sequence.

    Raises:
      TensorValueError: If the longest sequence has more steps than that.
    """
    made, sizes = padded(sequence, padding_value), sequence.sizes
    if total_length is not None:
        if total_length < len(sizes):
            raise TensorValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {len(sizes)}"
            )
        ends = (*(0, 0) * (made.ndim - 1), 0, total_length - len(sizes))
        made = functional.pad(made, ends, value=padding_value)
    lengths = as_tensor((sizes[:, None] > np.arange(sizes[0])).sum(0))
    if sequence.unsorted_indices is not None:
        made, lengths = made.index_select(1, sequence.unsorted_indices), lengths[sequence.unsorted_indices]
    return (made.transpose(0, 1) if batch_first else made), lengths


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences for a recurrent layer; see `pack_padded_sequence`."""
    return pack_padded_sequence(pad_sequence(sequences), [row.shape[0] for row in sequences], False, enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Returns the sequences that were packed."""
    whole, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(whole, lengths, batch_first=True)


_show_only_own(globals())
