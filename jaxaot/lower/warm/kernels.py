"""Eager kernels that processes before this one had XLA compile, in the user's folder of caches.

Each op of each new shape is a program, for which XLA takes some tens of milliseconds; a kept one is read within two.
Its key is that of JAX, of the program's text, XLA's version, its flags and options; and the processor, since what is
kept is machine code. Only kernels of this library are kept here: programs of the user's are in `cache_dir`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import threading
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import jax

from jaxaot import settings as config
from jaxaot._jax import compile_module, have_programs_made_by, program_key
from jaxaot.errors import CacheFolderError
from jaxaot.lower.warm.digest import processor
from jaxaot.lower.warm.entry import decode, encode
from jaxaot.lower.warm.folder import Folder

FORMAT = 1
SUFFIX = ".kernel"
MAX_BYTES = 256 << 20
"""What kernels may take, unless `cache_bytes` is less."""

WRITES_TO_TRIM = 256
"""After how many writes a process looks whether there is too much: it looks at each file."""


class _Here(threading.local):
    """Where this thread keeps the programs that it has compiled now; None for nowhere."""

    folder: Folder | None = None


_here = _Here()
_n_written = 0


@contextlib.contextmanager
def keeping_kernels() -> Iterator[None]:
    """Inside, programs that this thread needs are read from `kernels_dir`, and kept there when they are compiled."""
    before, _here.folder = _here.folder, _folder_in_force()
    try:
        yield
    finally:
        _here.folder = before


def where_kept() -> tuple[str | None, str]:
    """Returns the directory in which kernels are kept, None for none, and why there is none."""
    settings = config.get()
    if settings.kernels_dir is None:
        return None, "`kernels_dir` is None"
    if _jax_keeps_all():
        return None, "JAX keeps each program in its own cache"
    try:
        return str(Folder(settings.kernels_dir, MAX_BYTES, "kernels_dir").path), ""
    except CacheFolderError as error:
        return None, str(error)


def _folder_in_force() -> Folder | None:
    settings = config.get()
    if settings.kernels_dir is None or _jax_keeps_all():
        return None
    return _folder(os.fspath(settings.kernels_dir), min(MAX_BYTES, settings.cache_bytes))


def _jax_keeps_all() -> bool:
    """Returns whether the user has JAX keep each program, which then has these too; or keep none."""
    of_jax = jax.config
    if not of_jax.jax_enable_compilation_cache:
        return True
    return of_jax.jax_compilation_cache_dir is not None and of_jax.jax_persistent_cache_min_compile_time_secs <= 0


@functools.lru_cache(maxsize=16)
def _folder(path: str, max_bytes: int) -> Folder | None:
    """Returns a checked directory; None if it cannot be used, which a warning says of one that the user named."""
    try:
        made = Folder(path, max_bytes, "kernels_dir")
    except CacheFolderError as error:
        if path != config.USERS_KERNELS:
            warnings.warn(f"{error} Each process compiles its eager kernels anew.", stacklevel=2)
        return None
    _look_before_compiling()
    return made


@functools.cache
def _look_before_compiling() -> None:
    have_programs_made_by(_found_or_made)


def _found_or_made(
    usual: Callable[..., Any], backend: Any, module: object, devices: Any, options: object, callbacks: object,
    of: object, *profiler: object,
) -> Any:  # fmt: skip
    """Returns a program of XLA: a kept one, or what XLA makes of a module, which is kept if it can be."""
    folder = _here.folder
    is_one = folder is not None and not callbacks and devices.size == 1 and not devices.flat[0].process_index
    if folder is None or not is_one or any(profiler):
        return usual(backend, module, devices, options, callbacks, of, *profiler)
    try:
        key = repr((FORMAT, jax.__version__, processor(), program_key(module, devices, options, backend)))
    except Exception:  # JAX makes none of some modules
        return usual(backend, module, devices, options, callbacks, of, *profiler)
    file = hashlib.sha256(key.encode()).hexdigest()[:40] + SUFFIX
    entry = decode(folder.read(file) or b"")
    if entry is not None and entry.manifest.get("key") == key:
        with contextlib.suppress(Exception):  # whatever is wrong with it, XLA compiles
            return backend.deserialize_executable(zlib.decompress(entry.blobs[0]), of, options)
    # not by way of JAX's cache: a program on CPU that was read has lost its code when it is written once more
    made = compile_module(backend, module, of, options, callbacks)
    with contextlib.suppress(Exception):  # a platform may have no bytes of a program
        _keep(folder, file, encode({"key": key}, [zlib.compress(made.serialize(), 1)]))
    return made


def _keep(folder: Folder, file: str, content: bytes) -> None:
    global _n_written
    if folder.replace(file, content):
        _n_written += 1
        if _n_written % WRITES_TO_TRIM == 0:
            folder.trim()
