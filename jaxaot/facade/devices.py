"""Devices by PyTorch's names, and the one on which tensors have no values: "meta"."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxaot.errors import TensorTypeError
from jaxaot.tape.modes import state

_EXTRAS = {
    "cuda": 'NVIDIA GPUs with `pip install "jax[cuda13]"`.',
    "gpu": 'NVIDIA GPUs with `pip install "jax[cuda13]"`.',
    "tpu": 'TPUs with `pip install "jax[tpu]"`.',
    "mps": "no GPUs of Apple; drop the device.",
}
"""Kind of device → how JAX comes to have it."""


class device:
    """Names a device; as a context manager, where tensors are made that say no device of their own.

    On `"meta"` a tensor has a shape, a dtype, strides and a history, and no values: a program runs on its shapes alone
    and needs no memory for them.

    Args:
      type: `"cpu"`, `"cuda"`, `"tpu"` or `"meta"`, also with a number, `"cuda:1"`.
      index: The number.

    Raises:
      TensorTypeError: If there is no such device here.
    """

    __slots__ = ("index", "type")

    def __init__(self, type: str | device, index: int | None = None):
        if isinstance(type, device):
            self.type, self.index = type.type, type.index if index is None else index
        else:
            if not isinstance(type, str):
                raise TensorTypeError(_named_by(type))
            self.type, _, number = type.partition(":")
            self.index = int(number) if number.isdecimal() else index
        if self.type != "meta":
            find_device(self)

    def __repr__(self) -> str:
        return f"ja.device({str(self)!r})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> device:
        placing = None
        if self.type != "meta":
            placing = jax.default_device(find_device(self))
            placing.__enter__()
        state.devices_before.append((state.makes_abstract, placing))
        state.makes_abstract = self.type == "meta"
        return self

    def __exit__(self, *error: object) -> None:
        state.makes_abstract, placing = state.devices_before.pop()
        if placing is not None:
            placing.__exit__(*error)


def _named_by(given: object) -> str:
    return f"a device is named by a string, such as 'cpu', 'cuda:0' or 'meta', and {given!r} was given."


META = device("meta")


def is_meta(name: object) -> bool:
    """Returns whether something names the device without values; None does where that is the default."""
    if name is None:
        return state.makes_abstract
    return name == META if isinstance(name, device) else isinstance(name, str) and name.partition(":")[0] == "meta"


def find_device(name: object) -> Any:
    """Returns the jax device that `name` names: `"cpu"`, `"cuda:0"`, `"tpu"`, a number, a `ja.device`, or one itself.

    Raises:
      TensorTypeError: If there is none.
    """
    if isinstance(name, device):
        name = str(name)
    if isinstance(name, int):
        name = f"{jax.default_backend()}:{name}"
    if isinstance(name, float | complex | np.dtype | type):
        raise TensorTypeError(_named_by(name))
    if not isinstance(name, str):
        return name
    kind, _, index = name.partition(":")
    try:
        found = jax.devices({"cuda": "gpu"}.get(kind, kind))
        return found[int(index or 0)]
    except (RuntimeError, ValueError, IndexError) as error:
        here = sorted({f"{d.platform}:{d.id}" for d in jax.devices()})
        words = f"there is no device `{name}`; here are: {', '.join(here)}, and `meta`"
        if kind in _EXTRAS and kind not in {d.platform for d in jax.devices()}:
            words += f". JAX finds {_EXTRAS[kind]}"
        raise TensorTypeError(words) from error
