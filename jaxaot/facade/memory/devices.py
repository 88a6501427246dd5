"""Devices by PyTorch's names, and the one on which tensors have no values: "meta"."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
from jax.sharding import SingleDeviceSharding

from jaxaot.errors import TensorTypeError
from jaxaot.ops.dtypes import dtype
from jaxaot.tape.modes import state

_EXTRAS = {
    "cuda": 'NVIDIA GPUs with `pip install "jax[cuda13]"`.',
    "gpu": 'NVIDIA GPUs with `pip install "jax[cuda13]"`.',
    "tpu": 'TPUs with `pip install "jax[tpu]"`.',
    "mps": "no GPUs of Apple; drop the device.",
}
"""Kind of device → how JAX comes to have it."""

_PLATFORMS = {"cuda": "gpu"}
"""PyTorch's name of a kind → JAX's."""


class device(SingleDeviceSharding):
    """Names a device; as a context manager, where tensors are made that say no device of their own.

    On `"meta"` a tensor has a shape, a dtype, strides and a history, and no values: a program runs on its shapes alone
    and needs no memory for them.

    Functions of JAX take one as they take a sharding, `jax.device_put(array, x.device)`. It has what its jax device
    has, `x.device.platform`, and is equal to that. An NVIDIA or AMD GPU has the type `"cuda"`.

    Args:
      type: `"cpu"`, `"cuda"`, `"tpu"` or `"meta"`, also with a number, `"cuda:1"`; or a jax device.
      index: The number.

    Attributes:
      type: The kind of device.
      index: The number among those of its kind; None for the first CPU.

    Raises:
      TensorTypeError: If there is no such device here.
    """

    type: str
    index: int | None
    jax_device: Any

    def __new__(cls, type: Any, index: int | None = None) -> device:
        if isinstance(type, device):
            if index is None or type is META:
                return type
            type = type.type
        if isinstance(type, jax.Device):
            return device_of(type)
        if not isinstance(type, (str, int)):
            raise TensorTypeError(_named_by(type))
        if isinstance(type, str) and type.partition(":")[0] == "meta":
            return META
        return device_of(find_device(type if index is None else f"{type}:{index}"))

    def __init__(
        self, *given: object, **named: object
    ) -> None:  # `device_of` does it once; on "meta" there is nothing to be placed
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or self.jax_device is None:
            raise AttributeError(f"'{self}' is a device that has no attribute '{name}'", name=name, obj=self)
        return getattr(self.jax_device, name)

    @property
    def memory_kind(self) -> str | None:
        """The memory of the device, for JAX, which asks for it before it places an array."""
        if self.jax_device is None:
            raise TensorTypeError("arrays of JAX have values, and what lies on the device `meta` has none")
        return super().memory_kind

    def __repr__(self) -> str:
        return f"ja.device({str(self)!r})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return self is other or (self.jax_device is not None and other == self.jax_device)

    def __hash__(self) -> int:
        return hash(self.jax_device)

    def __reduce__(self) -> Any:
        return device, (str(self),)

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


def _made(type: str, index: int | None, jax_device: Any) -> device:
    made: Any = SingleDeviceSharding.__new__(device)
    if jax_device is not None:
        SingleDeviceSharding.__init__(made, jax_device)
    made.type, made.index, made.jax_device = type, index, jax_device
    return made


META = _made("meta", None, None)


@functools.cache
def device_of(jax_device: Any) -> device:
    """Returns the name of a jax device, always the same object."""
    kind = "cuda" if jax_device.platform in ("gpu", "rocm") else jax_device.platform
    place = jax.devices(jax_device.platform).index(jax_device)
    return _made(kind, None if kind == "cpu" and not place else place, jax_device)


def _named_by(given: object) -> str:
    return f"a device is named by a string, such as 'cpu', 'cuda:0' or 'meta', and {given!r} was given."


def is_meta(name: object) -> bool:
    """Returns whether something names the device without values; None does where that is the default."""
    if name is None:
        return state.makes_abstract
    return name is META or (isinstance(name, str) and name.partition(":")[0] == "meta")


def find_device(name: object) -> Any:
    """Returns the jax device that `name` names: `"cpu"`, `"cuda:0"`, `"tpu"`, a number, a `ja.device`, or one itself.

    Raises:
      TensorTypeError: If there is none.
    """
    if isinstance(name, device):
        return name.jax_device
    if isinstance(name, int):
        name = f"{jax.default_backend()}:{name}"
    if isinstance(name, float | complex | np.dtype | dtype | type):
        raise TensorTypeError(_named_by(name))
    if not isinstance(name, str):
        return name
    kind, _, index = name.partition(":")
    try:
        found = jax.devices(_PLATFORMS.get(kind, kind))
        return found[int(index or 0)]
    except (RuntimeError, ValueError, IndexError) as error:
        here = sorted({f"{d.platform}:{d.id}" for d in jax.devices()})
        words = f"there is no device `{name}`; here are: {', '.join(here)}, and `meta`"
        if kind in _EXTRAS and kind not in {d.platform for d in jax.devices()}:
            words += f". JAX is not compiled with {kind.upper()} enabled, or has none. Leave it out: tensors are made "
            words += f"on JAX's default device, the first accelerator if there is one. JAX finds {_EXTRAS[kind]}"
        raise TensorTypeError(words) from error
