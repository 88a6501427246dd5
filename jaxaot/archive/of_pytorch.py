"""Files that `torch.save` wrote, read without PyTorch.

Such a file is a zip. `data.pkl` is a pickle that names storages by a key, and `data/KEY` has the bytes of one. Of the
pickle only what makes tensors and containers is called, unless whoever loads it trusts the file.
"""

from __future__ import annotations

import collections
import os
import pickle
import zipfile
from collections.abc import Callable, Mapping
from typing import IO, Any

import jax.numpy as jnp
import numpy as np

from jaxaot.errors import SavedFileError
from jaxaot.facade.dispatch.create import as_tensor, from_numpy
from jaxaot.facade.memory.devices import device
from jaxaot.facade.memory.tensor import Size, Tensor
from jaxaot.ops.dtypes import dtype

_DTYPES: Mapping[str, Any] = {
    "Float": np.float32, "Double": np.float64, "Half": np.float16, "BFloat16": jnp.bfloat16, "Long": np.int64,
    "Int": np.int32, "Short": np.int16, "Char": np.int8, "Byte": np.uint8, "Bool": np.bool_,
    "ComplexFloat": np.complex64, "ComplexDouble": np.complex128, "Untyped": np.uint8,
}  # fmt: skip
"""Kind of storage → what it is in NumPy."""

_NUMBERS = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128",
    "bfloat16", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip


def is_of_pytorch(path: str | os.PathLike[str] | IO[bytes]) -> bool:
    """Returns whether a file, or what is at a path, is a zip that `torch.save` wrote; an open file stays there."""
    file: Any = path if hasattr(path, "seek") else None
    start = file and file.tell()
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith("/data.pkl") for name in archive.namelist())
    except (zipfile.BadZipFile, IsADirectoryError, AttributeError):
        return False
    finally:
        if file:
            file.seek(start)


def load_of_pytorch(
    path: str | os.PathLike[str] | IO[bytes], put: Callable[[Tensor], Tensor] | None, is_trusted: bool
) -> Any:
    """Returns what `torch.save` wrote, with tensors of jaxaot.

    Args:
      path: Of the file, or the file.
      put: What moves a tensor to where it is to lie.
      is_trusted: Whether objects of any class are made, which runs what the file says.

    Raises:
      SavedFileError: If it is damaged, or holds an object of another class and is not trusted.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            (start,) = (name.removesuffix("data.pkl") for name in archive.namelist() if name.endswith("/data.pkl"))
            with archive.open(f"{start}data.pkl") as file:
                return _Unpickler(file, lambda key: archive.read(f"{start}data/{key}"), put, is_trusted).load()
    except SavedFileError:
        raise
    except (zipfile.BadZipFile, pickle.UnpicklingError, KeyError, ValueError, EOFError) as error:
        raise SavedFileError(f"{path} is damaged: {error}. Copy it again.") from error


class _Unpickler(pickle.Unpickler):
    """Reads `data.pkl`."""

    def __init__(
        self,
        file: IO[bytes],
        read: Callable[[str], bytes],
        put: Callable[[Tensor], Tensor] | None,
        is_trusted: bool,
    ):
        super().__init__(file)
        self._read, self._put, self._is_trusted = read, put, is_trusted
        self._storages: dict[str, np.ndarray] = {}
        self._known: dict[tuple[str, str], Any] = {
            ("torch._utils", "_rebuild_tensor_v2"): self._tensor,
            ("torch._utils", "_rebuild_tensor_v3"): self._tensor,
            ("torch._utils", "_rebuild_parameter"): lambda value, needs_gradient, _: value.requires_grad_(
                needs_gradient
            ),
            ("torch", "Size"): Size,
            ("torch", "device"): device,
            ("collections", "OrderedDict"): collections.OrderedDict,
            ("builtins", "set"): set,
            **{("torch", name): dtype(getattr(jnp, name)) for name in _NUMBERS},
            **{("torch", f"{name}Storage"): found for name, found in _DTYPES.items()},
            ("torch.storage", "UntypedStorage"): np.uint8,
        }

    def persistent_load(self, saved: Any) -> np.ndarray:
        """Returns the values of a storage, in one dim."""
        _, kind, key, *_ = saved
        if key not in self._storages:
            self._storages[key] = np.frombuffer(self._read(key), kind)
        return self._storages[key]

    def _tensor(
        self,
        storage: np.ndarray,
        offset: int,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        requires_grad: bool,
        hooks: object,
        kind: Any = None,
        *_: object,
    ) -> Tensor:
        values = storage if kind is None or not isinstance(kind, dtype) else storage.view(kind.dtype)
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if min(offset, *size, *stride, 0) < 0 or (0 not in size and last >= len(values)):
            raise ValueError(f"a tensor of shape {tuple(size)} leaves its storage of {len(values)} elements")
        strides = [step * values.itemsize for step in stride]
        shown = np.lib.stride_tricks.as_strided(values[offset:], size, strides).copy()
        made = from_numpy(shown) if shown.dtype.kind != "V" else as_tensor(jnp.asarray(shown))
        made = made if self._put is None else self._put(made)
        return made.requires_grad_() if requires_grad else made

    def find_class(self, module: str, name: str) -> Any:
        """Returns what a name of the pickle stands for.

        Raises:
          SavedFileError: If it is of another class, and the file is not trusted.
        """
        if (module, name) in self._known:
            return self._known[module, name]
        if self._is_trusted:
            return super().find_class(module, name)
        raise SavedFileError(
            f"The file holds a `{module}.{name}`, and reading objects runs what the file says. If you trust who wrote "
            "it, write `ja.load(path, weights_only=False)`; or save a state dict, `torch.save(model.state_dict(), "
            "path)`."
        )
