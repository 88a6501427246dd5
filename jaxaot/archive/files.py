"""`ja.load`: what is in a file, of a function or of tensors."""

from __future__ import annotations

import os
from typing import Any

from jaxaot.errors import ArgumentError, TensorTypeError
from jaxaot.saving import load_tensors


def load(path: str | os.PathLike[str], *, weights: object = None) -> Any:
    """Returns what `ja.save` or `save` of an exported function or graph wrote, or any file of safetensors.

        model.load_state_dict(ja.load("weights.safetensors"))
        step = ja.load("step.jaxaot")    # what `ja.export(step, x, y).save("step.jaxaot")` wrote
        loss = step(x, y)
        step.state_dict()                # parameters, buffers and the like, as they are now

    Nothing of the file is executed but the programs of an archive, which compute arrays from arrays. A function has
    its own state: two loads share nothing.

    Args:
      path: Of the file.
      weights: Of a function alone: the values of its state, if they are not in its archive. A dict by name, or the path
        of a file of safetensors.

    Raises:
      ArchiveError: If an archive is damaged, is of a later format, or holds programs that this JAX does not read or
        that are for other platforms; or if the weights do not fit.
      SavedFileError: If a file of another kind is damaged, or none of safetensors.
      ArgumentError: If weights are given for a file of tensors.
      FileNotFoundError: If there is no such file.
      MissingExtraError: If flatbuffers or safetensors is not installed.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TensorTypeError(f"`ja.load` takes a path, and was given a {type(path).__name__}.")
    with open(path, "rb") as file:
        is_archive = file.read(4) == b"PK\x03\x04"
    if is_archive:
        from jaxaot.archive.loaded import load_archive  # much, which files of tensors do not need

        return load_archive(path, weights)
    if weights is not None:
        raise ArgumentError(
            f"`weights=` is for a function that was saved without them, and {os.fspath(path)} is a file of tensors. "
            "Write `ja.load(path)`, which returns them."
        )
    return load_tensors(path)
