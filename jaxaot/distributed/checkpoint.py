"""Sharded states in files, by orbax: each process writes and reads its own parts."""

from __future__ import annotations

import os
from typing import Any

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._placement import is_spread
from jaxaot.errors import MissingExtraError, SavedFileError, StateDictError, TensorTypeError
from jaxaot.facade.members.placements import array_of
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.tape.modes import no_grad

_NUMBERS = (bool, int, float)


def save(path: str | os.PathLike[str], state: object) -> None:
    """Writes the tensors and numbers of a state to a new folder; each process writes the parts that it holds.

        ja.distributed.save("run/step_100", {"model": model.state_dict(), "optimizer": optimizer.state_dict()})

    Args:
      path: The folder, which all processes see.
      state: Nested dicts and lists. What is neither tensor, array nor number is not written.

    Raises:
      MissingExtraError: If orbax is not installed.
      SavedFileError: If there is something at the path.
      TensorTypeError: If the path is none.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TensorTypeError(
            f"`ja.distributed.save` takes the folder first, and was given a {type(path).__name__}. Write "
            "`ja.distributed.save('run/step_100', state)`."
        )
    if os.path.exists(path):
        raise SavedFileError(f"There is something at {os.fspath(path)!r} already. Name another folder, or remove it.")
    writer = _checkpointer()
    writer.save(os.path.abspath(path), {name: _array(leaf) for name, leaf in _leaves(state).items()})
    writer.wait_until_finished()


def load(path: str | os.PathLike[str], state: object) -> Any:
    """Reads a state that `save` wrote, placed as the tensors of another lie, over however many devices there are.

        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        optimizer.load_state_dict(ja.distributed.load("run/step_100", state)["optimizer"])

    Args:
      path: The folder.
      state: A state of the same names and shapes, whose tensors are written in place.

    Returns:
      The state, with the numbers that were saved.

    Raises:
      MissingExtraError: If orbax is not installed.
      SavedFileError: If there is no such folder.
      StateDictError: If names or shapes differ; nothing is written then.
    """
    reader = _checkpointer()
    if not os.path.isdir(path):
        raise SavedFileError(f"There is no folder {os.fspath(path)!r}.")
    here = _leaves(state)
    there = reader.metadata(os.path.abspath(path)).item_metadata.tree
    problems = [f"`{name}` was not saved" for name in here if name not in there]
    problems += [f"`{name}` is not in the state" for name in there if name not in here]
    for name in here:
        if name in there and tuple(there[name].shape) != tuple(np.shape(_array(here[name]))):
            problems.append(
                f"`{name}` was saved as {list(there[name].shape)}, and has {list(_array(here[name]).shape)}"
            )
    if problems:
        raise StateDictError(f"The state in {os.fspath(path)!r} does not fit: {'; '.join(problems)}.")
    types = {name: _type_of(_array(leaf)) for name, leaf in here.items()}
    found = reader.restore(os.path.abspath(path), types)
    with no_grad():
        for name, leaf in here.items():
            if isinstance(leaf, Tensor):
                leaf.copy_(found[name])
    return _filled(state, found)


def _checkpointer() -> Any:
    try:
        import orbax.checkpoint as ocp  # takes long to import
    except ImportError as error:
        raise MissingExtraError(
            "Sharded states are written by orbax, which is not installed: `pip install jaxaot[sharded]`."
        ) from error
    return ocp.StandardCheckpointer()


def _leaves(state: object) -> dict[str, Any]:
    """Returns path → tensor, array or number."""
    paths, _ = pytree.flatten_with_path(state)
    kinds = (Tensor, jax.Array, np.ndarray, np.generic, *_NUMBERS)
    return {_name(path): leaf for path, leaf in paths if isinstance(leaf, kinds)}


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def _array(leaf: object) -> Any:
    if isinstance(leaf, Tensor):
        return array_of(leaf.detach())
    return leaf if isinstance(leaf, jax.Array) else np.asarray(leaf)


def _type_of(array: object) -> Any:
    """Returns what orbax reads an array as; what lies on one device as a NumPy array, which is bound to none."""
    if is_spread(array):
        return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding)
    return np.empty(array.shape, array.dtype)


def _filled(state: object, found: dict[str, Any]) -> Any:
    """Returns a state with numbers and arrays as they were saved, and its own tensors."""

    def leaf_of(path: object, leaf: object) -> Any:
        name = _name(path)
        if name not in found or isinstance(leaf, Tensor):
            return leaf
        return type(leaf)(found[name]) if isinstance(leaf, _NUMBERS) else found[name]

    return pytree.mapped_with_path(leaf_of, state)
