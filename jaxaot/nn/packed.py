"""Sequences of several lengths in one tensor, step by step (`torch.nn.utils.rnn.PackedSequence`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxaot.facade.dispatch.create import as_tensor
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """What `pack_sequence` and `pack_padded_sequence` make, and recurrent layers take and return.

    Attributes:
      data: The first step of all sequences, then the second, ….
      batch_sizes: How many sequences have each step.
      sorted_indices: The order of the sequences in `data`, longest first; None if it is that of the user.
      unsorted_indices: Takes that order back.
    """

    _sizes: tuple[int, ...] | None
    __module__ = "jaxaot.nn.utils.rnn"  # where users find it

    def __new__(
        cls,
        data: Any,
        batch_sizes: Any = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None and isinstance(data, list | tuple):
            data, batch_sizes = data
        if unsorted_indices is None and sorted_indices is not None:
            unsorted_indices = sorted_indices.argsort()
        fields: Any = (data, batch_sizes, sorted_indices, unsorted_indices)
        made = super().__new__(cls, *fields)
        made._sizes = None
        return made

    @classmethod
    def of_sizes(cls, data: Tensor, sizes: Sequence[int], *indices: Tensor | None) -> PackedSequence:
        """Returns one whose sizes Python knows: no value is asked for then while a function is traced."""
        made = cls(data, as_tensor(np.asarray(sizes)), *indices)
        made._sizes = tuple(sizes)
        return made

    def with_data(self, data: Tensor) -> PackedSequence:
        """Returns the same sequences with other values."""
        made = type(self)(data, *self[1:])
        made._sizes = self._sizes
        return made

    @property
    def sizes(self) -> np.ndarray:
        """`batch_sizes` as numbers."""
        if self._sizes is None:
            self._sizes = tuple(int(n) for n in self.batch_sizes.tolist())
        return np.asarray(self._sizes)

    @property
    def places(self) -> tuple[Tensor, Tensor]:
        """The step of each row of `data`, and the place of its sequence."""
        sizes = self.sizes
        step = np.repeat(np.arange(len(sizes)), sizes)
        return as_tensor(step), as_tensor(np.arange(len(step)) - (np.cumsum(sizes) - sizes)[step])

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Returns the sequences in another dtype, or on another device."""
        return self.with_data(self.data.to(*args, **kwargs))

    def cpu(self) -> PackedSequence:
        """Returns the sequences on the host."""
        return self.to("cpu")

    def float(self) -> PackedSequence:
        """Returns the sequences in float32."""
        return self.to(dtype="float32")

    def half(self) -> PackedSequence:
        """Returns the sequences in float16."""
        return self.to(dtype="float16")

    def double(self) -> PackedSequence:
        """Returns the sequences in float64."""
        return self.to(dtype="float64")

    def pin_memory(self) -> PackedSequence:
        """Returns the sequences: JAX copies without blocking."""
        return self


def mask_of(packed: PackedSequence) -> Tensor:
    """Returns which steps the sequences have, (time, batch, 1)."""
    sizes = packed.sizes
    return as_tensor(np.arange(sizes[0])[None, :, None] < sizes[:, None, None])


def padded(packed: PackedSequence, value: Any = 0.0) -> Tensor:
    """Returns the sequences in the order of `data`, with a value behind their ends, (time, batch, …)."""
    sizes = packed.sizes
    rows = (np.cumsum(sizes) - sizes)[:, None] + np.arange(sizes[0])
    found = packed.data[as_tensor(np.minimum(rows, len(packed.data) - 1))]
    if (sizes == sizes[0]).all():
        return found
    mask = mask_of(packed).reshape(*rows.shape, *[1] * (found.ndim - 2))
    return FUNCTIONS[""]["where"](mask, found, value).to(found.dtype)
