"""Where JAX keeps what XLA compiles. It is loaded when a `cache_dir` comes in force, and loads nothing large itself."""

from __future__ import annotations

import os

import jax

from jaxaot.errors import CacheFolderError
from jaxaot.lower.warm.folder import EXECUTABLES, folder_of


def keep_executables(cache_dir: str | os.PathLike[str], cache_bytes: int) -> None:
    """Has JAX keep what XLA compiles, from now on, in a directory beside, unless the user has one for it."""
    try:
        folder = folder_of(os.fspath(cache_dir), cache_bytes)
    except CacheFolderError:  # as it may be set by the environment, the first graph that looks for it says so
        return
    if jax.config.jax_compilation_cache_dir is None:
        jax.config.update("jax_compilation_cache_dir", str(folder.path / EXECUTABLES))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
