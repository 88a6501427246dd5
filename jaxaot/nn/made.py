"""What layers make when they are made: tensors to be filled, sizes for each dim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaxaot._typing import DTypeLike
from jaxaot.errors import TensorValueError
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.parameter import Parameter


def arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of an `__init__`, out of what `locals()` returns there."""
    return {name: value for name, value in given.items() if name not in ("self", "__class__")}


def blank(size: Sequence[int], device: object, dtype: DTypeLike | None) -> Any:
    """Returns a parameter that is to be filled."""
    return Parameter(empty(size, device, dtype))


def empty(size: Sequence[int], device: object, dtype: DTypeLike | None) -> Tensor:
    """Returns a tensor that is to be filled."""
    made = FUNCTIONS[""]["empty"](tuple(size), dtype=dtype)
    return made if device is None else made.to(device=device)


def ones(size: Sequence[int], device: object, dtype: DTypeLike | None) -> Tensor:
    """Returns a tensor of ones."""
    return empty(size, device, dtype).fill_(1)


def zeros(size: Sequence[int], device: object, dtype: DTypeLike | None) -> Tensor:
    """Returns a tensor of zeros."""
    return empty(size, device, dtype).fill_(0)


def zero_count(device: object) -> Tensor:
    """Returns a whole number of 64 bits where JAX has them, which is 0."""
    made = FUNCTIONS[""]["zeros"]((), dtype=int)
    return made if device is None else made.to(device=device)


def each(value: Any, n: int) -> tuple[Any, ...]:
    """Returns a size for each of `n` dims."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def doubled(sizes: Sequence[int]) -> tuple[int, ...]:
    """Returns the padding of both sides of each dim, the last dim first, as `functional.pad` takes it."""
    return tuple(size for size in reversed(sizes) for _ in range(2))


def check(condition: bool, words: str) -> None:
    """Raises unless a condition holds."""
    if not condition:
        raise TensorValueError(words)


def reduced(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """Returns the `reduction` of a loss, also where it is said by the arguments that PyTorch had before."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def changed(module: object, plain: Mapping[str, Any]) -> str:
    """Returns what the text of a module says of options that are not the plain ones, `, groups=2, bias=False`."""
    found = {name: getattr(module, name) for name in plain}
    return "".join(f", {name}={value}" for name, value in found.items() if value != plain[name])
