"""`ja.load`: what is in a file, of a function or of tensors."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Any

from jaxaot.archive.of_pytorch import is_of_pytorch, load_of_pytorch
from jaxaot.errors import ArgumentError, TensorTypeError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.saving import load_tensors


def _put(map_location: object) -> Callable[[Tensor], Tensor] | None:
    if map_location is None or callable(map_location) or isinstance(map_location, dict):
        return None  # these map where tensors lay, which files do not say
    return lambda x: x.to(device=map_location)


def load(
    path: str | os.PathLike[str] | IO[bytes],
    map_location: object = None,
    *,
    weights: object = None,
    weights_only: bool | None = True,
    mmap: bool | None = None,
) -> Any:
    """Returns what `ja.save` or `save` of an exported function or graph wrote, or any file of safetensors or PyTorch.

        model.load_state_dict(ja.load("weights.safetensors"))
        step = ja.load("step.jaxaot")    # what `ja.export(step, x, y).save("step.jaxaot")` wrote
        loss = step(x, y)
        step.state_dict()                # parameters, buffers and the like, as they are now

    Nothing of the file is executed but the programs of an archive, which compute arrays from arrays. A function has
    its own state: two loads share nothing.

    Args:
      path: Of the file, or a file of tensors that is open for reading.
      map_location: The device of tensors, the default one if None. What maps devices to others is not asked.
      weights: Of a function alone: the values of its state, if they are not in its archive. A dict by name, or the path
        of a file of safetensors.
      weights_only: False to unpickle objects of other classes too, which runs what the file says.
      mmap: Taken for scripts of PyTorch; files are read at once.

    Raises:
      ArchiveError: If an archive is damaged, is of a later format, or holds programs that this JAX does not read or
        that are for other platforms; or if the weights do not fit.
      SavedFileError: If a file of another kind is damaged, or none of safetensors.
      ArgumentError: If weights are given for a file of tensors.
      FileNotFoundError: If there is no such file.
      MissingExtraError: If flatbuffers or safetensors is not installed.
    """
    is_open = hasattr(path, "read")
    if not isinstance(path, (str, os.PathLike)) and not is_open:
        raise TensorTypeError(f"`ja.load` takes a path, and was given a {type(path).__name__}.")
    put, is_trusted = _put(map_location), weights_only is False
    if is_of_pytorch(path):
        return load_of_pytorch(path, put, is_trusted)
    if not is_open:
        with open(path, "rb") as file:  # type: ignore[arg-type]
            is_archive = file.read(4) == b"PK\x03\x04"
        if is_archive:
            from jaxaot.archive.loaded import load_archive  # much, which files of tensors do not need

            return load_archive(path, weights)  # type: ignore[arg-type]
    if weights is not None:
        raise ArgumentError(
            f"`weights=` is for a function that was saved without them, and {path} is a file of tensors. Write "
            "`ja.load(path)`, which returns them."
        )
    return load_tensors(path, put, is_trusted)
