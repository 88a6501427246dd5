"""Tensors in files: `ja.save` and `ja.load`, in the format of safetensors.

A file holds the tensors by name, so that other programs read them. What is around them, the dicts, lists, tuples,
numbers and strings, is a tree of JSON in the file's metadata. A dict of tensors has their names as they are. Objects
of other classes are bytes of pickle among the tensors, which only who says so reads: unpickling runs code.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import pathlib
import pickle
from collections.abc import Callable
from typing import IO, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_key_dtype, is_tracer
from jaxaot._util import written_at_once
from jaxaot.errors import MissingExtraError, SavedFileError, TensorTypeError
from jaxaot.facade.dispatch.create import as_tensor, from_numpy
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import Frame, is_wrapper, put_together, take_apart
from jaxaot.facade.subclass.subclass_names import class_named, is_found_elsewhere, place_of

_TREE = "jaxaot.tree"
_PLAIN = (bool, int, float, str, type(None))
_KEYS = (bool, int, float, str, type(None))

_READ = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": jnp.bfloat16, "F8_E4M3": jnp.float8_e4m3fn,
    "F8_E5M2": jnp.float8_e5m2, "C64": np.complex64, "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8,
    "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
"""Types of safetensors, and what they are in NumPy."""
_WRITTEN = {np.dtype(dtype): name for name, dtype in _READ.items()}


def arrays_to_bytes(arrays: dict[str, Any], metadata: dict[str, str] | None = None) -> bytes:
    """Returns arrays by name as a file of safetensors.

    Raises:
      SavedFileError: If one cannot be saved.
      MissingExtraError: If safetensors is not installed.
    """
    writer = _Writer()
    return _library().save({name: writer.array(value, (name,)) for name, value in arrays.items()}, metadata)


def arrays_from_bytes(content: bytes) -> dict[str, np.ndarray]:
    """Returns the arrays by name of a file of safetensors.

    Raises:
      SavedFileError: If one is of a type that JAX has not.
      MissingExtraError: If safetensors is not installed.
      Exception: Of other classes, if it is no such file.
    """
    return {name: _read(name, entry) for name, entry in dict(_library().deserialize(content)).items()}


def _library() -> Any:
    try:
        return importlib.import_module("safetensors.numpy")
    except ImportError as error:
        raise MissingExtraError(
            "`ja.save` and `ja.load` need safetensors, which is not installed. Install it with "
            "`pip install safetensors`."
        ) from error


class _Writer:
    """Takes a value apart: its arrays by name, and the tree around them."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def tree(self, value: Any, path: tuple[str, ...]) -> Any:
        """Returns what JSON holds of a value, and notes its arrays."""
        if is_wrapper(value):
            return {"wrapper": self._wrapper(value, path)}
        if isinstance(value, (Tensor, jax.Array)) or (
            isinstance(value, (np.ndarray, np.generic)) and value.dtype in _WRITTEN
        ):
            kind = "tensor" if isinstance(value, Tensor) else "jax" if isinstance(value, jax.Array) else "numpy"
            return {kind: self._name(self.array(value, path), path)}
        if isinstance(value, dict) and all(type(key) in _KEYS for key in value):
            return {"dict": [[key, self.tree(item, (*path, str(key)))] for key, item in value.items()]}
        if type(value) is list or isinstance(value, tuple):
            items = [self.tree(item, (*path, str(i))) for i, item in enumerate(value)]
            return {"list" if isinstance(value, list) else "tuple": items}
        if type(value) in _PLAIN:
            return {"value": value}
        return {"pickle": self._pickled(value, path)}

    def _pickled(self, value: Any, path: tuple[str, ...]) -> list[str]:
        try:
            content = pickle.dumps(value)
        except Exception as error:  # of any class: objects say themselves how they are pickled
            advice = "`value.state_dict()`" if hasattr(value, "state_dict") else "its numbers, strings and tensors"
            raise SavedFileError(
                f"{_place(path)} is of type {type(value).__name__}, which cannot be pickled: {error}. Save {advice}."
            ) from error
        return [type(value).__name__, self._name(np.frombuffer(content, np.uint8), path)]

    def _wrapper(self, value: Any, path: tuple[str, ...]) -> Any:
        inner, frame = take_apart(value)
        cls = type(value)
        if not is_found_elsewhere(cls):
            raise SavedFileError(
                f"{_place(path)} is a {cls.__name__}, whose class is defined inside of a function, where no other "
                "process finds it: define it in a module."
            )
        try:
            context = self.tree(frame.context, path)
        except SavedFileError as error:
            raise SavedFileError(
                f"{_place(path)} is a {cls.__name__} with context {frame.context!r}, which no file of tensors can "
                "hold. Save its inner tensors."
            ) from error
        parts = [[name, self.tree(x, (*path, name))] for name, x in zip(frame.names, inner, strict=True)]
        return [place_of(cls), context, list(frame.size), list(frame.stride), parts]

    def array(self, value: Any, path: tuple[str, ...]) -> np.ndarray:
        """Returns the values of a tensor or array."""
        if isinstance(value, Tensor):
            value = value.detach().numpy()
        if is_tracer(value):
            raise SavedFileError(
                f"{_place(path)} has no value while a function is traced. Return it, and save it after."
            )
        if isinstance(value, jax.Array) and is_key_dtype(value.dtype):
            raise SavedFileError(f"{_place(path)} is a key of JAX. Save `jax.random.key_data(key)`.")
        array = np.asarray(value)
        if array.dtype not in _WRITTEN:
            raise SavedFileError(
                f"{_place(path)} is of dtype {array.dtype}. Files hold {', '.join(d.name for d in _WRITTEN)}."
            )
        return np.ascontiguousarray(array).reshape(array.shape)

    def _name(self, array: np.ndarray, path: tuple[str, ...]) -> str:
        name = first = ".".join(path) or "value"
        n = 1
        while name in self.arrays:
            n += 1
            name = f"{first}#{n}"
        self.arrays[name] = array
        return name


def _place(path: tuple[str, ...]) -> str:
    return f"`{'.'.join(path)}`" if path else "The value"


def save(value: Any, path: str | os.PathLike[str] | IO[bytes], *_: object, **__: object) -> None:
    """Writes tensors, and what is around them, to a file of safetensors.

        ja.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3,
                 "rng": ja.get_rng_state()}, "run.safetensors")

    A state dict of a module is a file that PyTorch's users load. The file is there as a whole or not at all: it is
    written beside its place, and moved there.

    Args:
      value: Made of tensors, jax and NumPy arrays, dicts, lists, tuples, numbers, strings, bools and None. Objects of
        other classes are pickled; `ja.load(path, weights_only=False)` reads them.
      path: Where, or a binary file that is open for writing.
      *_: How PyTorch pickles.
      **__: The same by name.

    Raises:
      SavedFileError: If something in it cannot be saved. Nothing is written then.
      FileNotFoundError: If the folder is not there.
      MissingExtraError: If safetensors is not installed.
    """
    is_open = hasattr(path, "write")
    if not isinstance(path, (str, os.PathLike)) and not is_open:
        raise TensorTypeError(
            f"`ja.save` takes the path second, and was given a {type(path).__name__}. Write `ja.save(value, "
            "'run.safetensors')`."
        )
    folder = "." if is_open else os.path.dirname(os.path.abspath(path))  # type: ignore[arg-type]
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            errno.ENOENT, f"`ja.save` finds no such folder; make it: `os.makedirs({folder!r})`", folder
        )
    library, writer = _library(), _Writer()
    tree = writer.tree(value, ())
    metadata = {"format": "jaxaot", _TREE: json.dumps(tree)}
    if is_open:
        path.write(library.save(writer.arrays, metadata))  # type: ignore[union-attr]
        return
    with written_at_once(path) as unfinished:  # type: ignore[arg-type]
        library.save_file(writer.arrays, unfinished, metadata)


def load_tensors(
    path: str | os.PathLike[str] | IO[bytes], put: Callable[[Tensor], Tensor] | None = None, is_trusted: bool = False
) -> Any:
    """Returns what `ja.save` wrote, or the tensors by name of any other file of safetensors.

    Args:
      path: Of the file, or the file.
      put: What moves a tensor to where it is to lie.
      is_trusted: Whether objects are unpickled, which runs what the file says.

    Raises:
      SavedFileError: If the file is damaged, not of safetensors, or holds objects and is not trusted.
      FileNotFoundError: If there is no such file.
      MissingExtraError: If safetensors is not installed.
    """
    _library()
    is_open = hasattr(path, "read")
    place = getattr(path, "name", "The file") if is_open else os.fspath(path)  # type: ignore[arg-type]
    content: bytes = path.read() if is_open else pathlib.Path(path).read_bytes()  # type: ignore[union-attr, arg-type]
    try:
        arrays = arrays_from_bytes(content)
        length = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + length]).get("__metadata__", {})
        tree = json.loads(metadata[_TREE]) if _TREE in metadata else None
        reader = _Reader(arrays, put, is_trusted)
        return reader.value(tree) if tree is not None else {n: reader.tensor(a) for n, a in arrays.items()}
    except SavedFileError:
        raise
    except Exception as error:
        raise SavedFileError(
            f"{place} is not a whole file of safetensors: {error}. Was it cut off, changed, or written by an old "
            "version of PyTorch? Pickles are loaded by torch: `model.load_state_dict(torch.load(path))`."
        ) from error


def _read(name: str, entry: dict[str, Any]) -> np.ndarray:
    dtype = _READ.get(entry["dtype"])
    if dtype is None:
        raise SavedFileError(f"`{name}` is of type {entry['dtype']}, which JAX has not. Convert it before it is saved.")
    return np.frombuffer(entry["data"], dtype).reshape(entry["shape"])


class _Reader:
    """Puts a value together."""

    def __init__(self, arrays: dict[str, np.ndarray], put: Callable[[Tensor], Tensor] | None, is_trusted: bool) -> None:
        self._arrays, self._put, self._is_trusted = arrays, put, is_trusted

    def tensor(self, array: np.ndarray) -> Tensor:
        """Returns a tensor of an array, where it is to lie."""
        found = from_numpy(array) if array.dtype.kind != "V" else as_tensor(jnp.asarray(array))
        return found if self._put is None else self._put(found)

    def _unpickled(self, cls: str, name: str) -> Any:
        if not self._is_trusted:
            raise SavedFileError(
                f"`{name}` is a pickled {cls}, and reading a pickle runs what it says. If you trust who wrote the "
                "file, write `ja.load(path, weights_only=False)`."
            )
        return pickle.loads(self._arrays[name].tobytes())

    def value(self, tree: dict[str, Any]) -> Any:
        """Returns the value of a tree."""
        ((kind, held),) = tree.items()
        if kind == "pickle":
            return self._unpickled(*held)
        if kind == "tensor":
            return self.tensor(self._arrays[held])
        if kind in ("jax", "numpy"):
            return (jnp.asarray if kind == "jax" else np.array)(self._arrays[held])
        if kind == "wrapper":
            place, context, size, stride, parts = held
            frame = Frame(tuple(n for n, _ in parts), self.value(context), tuple(size), tuple(stride))
            return put_together(class_named(place, SavedFileError), frame, [self.value(part) for _, part in parts])
        if kind == "dict":
            return {key: self.value(item) for key, item in held}
        if kind in ("list", "tuple"):
            items = [self.value(item) for item in held]
            return items if kind == "list" else tuple(items)
        if kind == "value":
            return held
        raise SavedFileError(f"The file was written by a later version: it holds `{kind}`.")
