"""Datasets: what gives a sample for an index, or samples one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from jaxaot.errors import TensorTypeError, TensorValueError
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.utils.data.samplers import drawn_from

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """What has a sample for each index: a class with `__getitem__`, and with `__len__` where there is an end."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(
            f"{type(self).__name__} has no `__getitem__`. Write `def __getitem__(self, index): …`."
        )

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """What gives samples one after the other: a class with `__iter__`."""

    def __add__(self, other: Dataset[Any]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """The rows of tensors: a sample is a tuple of one row of each.

    Args:
      *tensors: With first dims of one size.
    """

    def __init__(self, *tensors: Tensor) -> None:
        if len({tensor.shape[0] for tensor in tensors}) > 1:
            sizes = ", ".join(str(tensor.shape[0]) for tensor in tensors)
            raise TensorValueError(f"Size mismatch between tensors: their first dims are {sizes}.")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class StackDataset(Dataset[Any]):
    """Datasets of one length side by side: a sample is a tuple of their samples, or a dict where they have names."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise TensorValueError("datasets are given either in a row or by names, and at least one.")
        self.datasets: Any = args or kwargs
        lengths = [len(dataset) for dataset in (args or kwargs.values())]
        if len(set(lengths)) > 1:
            raise TensorValueError(f"Size mismatch between datasets: their lengths are {lengths}.")
        self._length = lengths[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[Any]):
    """Datasets one after the other.

    Attributes:
      datasets: These.
      cumulative_sizes: Where each of them ends.
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise TensorValueError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise TensorTypeError("ConcatDataset does not support IterableDataset. Write `ChainDataset(datasets)`.")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __getitem__(self, idx: int) -> Any:
        place = idx + len(self) if idx < 0 else idx
        if place < 0:
            raise TensorValueError("absolute value of index should not exceed dataset length")
        number = bisect.bisect_right(self.cumulative_sizes, place)
        return self.datasets[number][place - ([0, *self.cumulative_sizes][number])]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset[T_co]):
    """Those samples of a dataset that have some indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> T_co:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        places = [self.indices[i] for i in indices]
        fetch: Any = getattr(self.dataset, "__getitems__", None)
        return [self.dataset[place] for place in places] if fetch is None else fetch(places)

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset[Any]]:
    """Splits a dataset into parts that share no sample.

    Args:
      dataset: What is split.
      lengths: How many samples each part gets; or fractions, whose sum is 1.
      generator: What the order of samples is drawn by; the default one if it is None.

    Returns:
      The parts.

    Raises:
      TensorValueError: If the lengths do not add up.
    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        if not all(0 <= part <= 1 for part in lengths):
            raise TensorValueError(f"fractions of a dataset lie between 0 and 1, and these are {list(lengths)}")
        sizes = [math.floor(total * part) for part in lengths]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
        for i, size in enumerate(sizes):
            if not size:
                warnings.warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=2
                )
    else:
        sizes = [int(length) for length in lengths]
    if sum(sizes) != total:
        raise TensorValueError("Sum of input lengths does not equal the length of the input dataset!")
    order, ends = drawn_from(generator).permutation(total).tolist(), list(itertools.accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for end, size in zip(ends, sizes, strict=True)]
