"""What `jaxaot doctor` says: versions, devices, extras, caches, and what is known to be bad together."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot import settings as config
from jaxaot._util import format_bytes
from jaxaot._versions import JAXAOT, NEWEST_JAX, NEWEST_PYTHON, OLDEST_JAX
from jaxaot.lower.warm.kernels import where_kept

_NEEDED = ("jax", "jaxlib", "numpy", "scipy", "rich")
_EXTRAS = {
    "viz": ("matplotlib",),
    "save": ("safetensors",),
    "archive": ("safetensors", "flatbuffers"),
    "sharded": ("orbax-checkpoint",),
    "validate": ("z3-solver",),
    "browser": ("playwright",),
}
_BESIDE = ("flax", "optax", "torch")
"""Packages whose objects jaxaot takes, or that users compare it with."""


def examine() -> dict[str, Any]:
    """Returns what is found, as plain data: versions, devices, extras, and in words `notes` and `problems`."""
    versions = {name: _version(name) for name in (*_NEEDED, *_BESIDE)}
    found: dict[str, Any] = {
        "jaxaot": JAXAOT,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "versions": versions,
        "extras": {extra: all(_version(name) for name in names) for extra, names in _EXTRAS.items()},
        "devices": [_device(device) for device in jax.devices()],
        "x64": bool(jax.config.jax_enable_x64),
        "compilation_cache": jax.config.jax_compilation_cache_dir,
        "kernels": list(where_kept()),
        "environment": {name: value for name, value in sorted(os.environ.items()) if _is_told(name)},
        "works": _works(),
        "threads": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "has_gpu": Path("/dev/nvidia0").exists(),
        "has_ctypes": _has_ctypes(),
        "ignores_interrupts": signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
        "jax_at": str(Path(str(jax.__file__)).resolve().parent),
        "jax_installed_at": _installed_at("jax"),
        "caches_at_fault": [fault for name in _cache_directories() for fault in _faults_of_cache(name)],
    }
    return {**found, "notes": list(_notes(found)), "problems": list(_problems(found))}


def lines_of(found: dict[str, Any]) -> Iterator[str]:
    """Yields what `examine` found, line by line."""
    yield f"jaxaot {found['jaxaot']} on Python {found['python']}, {found['platform']}, {found['cores']} cores"
    yield "versions: " + ", ".join(
        f"{name} {version or 'not installed'}" for name, version in found["versions"].items()
    )
    for device in found["devices"]:
        memory = f", {format_bytes(device['memory_bytes'])}" if device["memory_bytes"] else ""
        yield f"device: {device['name']} ({device['kind']}{memory}), memory {', '.join(device['memories'])}"
    there = [extra for extra, is_there in found["extras"].items() if is_there]
    missing = [extra for extra, is_there in found["extras"].items() if not is_there]
    yield f"extras: {', '.join(there) or 'none'}; not installed: {', '.join(missing) or 'none'}"
    if missing:
        yield f"an extra is installed by its name, such as `pip install 'jaxaot[{missing[0]}]'`"
    off = "off, as JAX has it by default: float64 becomes float32 until `jax.config.update('jax_enable_x64', True)`"
    yield f"64-bit types: {'on' if found['x64'] else off}"
    cache = found["compilation_cache"]
    yield f"cache of compiled programs on disk: {cache or 'none; `jax_compilation_cache_dir` of JAX makes one'}"
    kernels, why_none = found["kernels"]
    yield f"kernels of eager ops on disk: {kernels or f'none, {why_none}'}"
    for name, value in found["environment"].items():
        yield f"environment: {name}={value}"
    yield f"a compiled step with its backward: {found['works']}"
    yield from (f"note: {note}" for note in found["notes"])
    yield from (f"problem: {problem}" for problem in found["problems"])
    if not found["problems"]:
        yield "no problems found"


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _installed_at(name: str) -> str | None:
    """Returns the folder of the package that pip installed; None if there is none, or an editable one."""
    try:
        place = importlib.metadata.distribution(name).locate_file(f"{name}/__init__.py")
    except importlib.metadata.PackageNotFoundError:
        return None
    return str(Path(str(place)).resolve().parent) if Path(str(place)).exists() else None


def _has_ctypes() -> bool:
    try:
        importlib.import_module("ctypes")
    except ImportError:  # CPython was built without libffi
        return False
    return True


def _cache_directories() -> list[str]:
    named = (jax.config.jax_compilation_cache_dir, config.get().cache_dir)
    return [os.fspath(name) for name in named if name and "://" not in os.fspath(name)]


def _faults_of_cache(directory: str) -> Iterator[str]:
    """Yields why a cache cannot be used or trusted: it takes no files, or another user writes what is run from it."""
    path = Path(directory).expanduser()
    while not path.exists() and path != path.parent:
        path = path.parent
    if not os.access(path, os.W_OK | os.X_OK):
        yield f"the cache {directory} cannot be written: every process compiles anew. Name a folder of your own"
    elif hasattr(os, "getuid") and path == Path(directory) and path.stat().st_uid != os.getuid():
        yield f"the cache {directory} belongs to another user, who can change what runs here. Name one of your own"


def _device(device: Any) -> dict[str, Any]:
    try:
        stats = device.memory_stats() or {}
    except Exception:  # not all platforms count
        stats = {}
    return {
        "name": str(device),
        "kind": device.device_kind,
        "memories": sorted(memory.kind for memory in device.addressable_memories()),
        "memory_bytes": stats.get("bytes_limit"),
    }


def _is_told(name: str) -> bool:
    return name.startswith(("JAXAOT_", "JAX_", "XLA_", "MALLOC_"))


def _works() -> str:
    """Returns "works", or what a small step raises: compiled on its first device, compared with the exact result."""
    try:
        graph = jax.jit(jax.grad(lambda x: jnp.sum(jnp.sin(x) ** 2)))
        got = graph(jnp.full(8, 0.5))
        return "works" if bool(jnp.allclose(got, 2 * jnp.sin(0.5) * jnp.cos(0.5), atol=1e-3)) else "gives wrong numbers"
    except Exception as error:
        return f"raises {type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _numbers(version: str | None) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", (version or "").split("+")[0])))


def _problems(found: dict[str, Any]) -> Iterator[str]:
    """Yields what is known to be bad, and what to do about it."""
    versions, environment = found["versions"], found["environment"]
    given, lib = _numbers(versions["jax"]), _numbers(versions["jaxlib"])
    if given[:2] != lib[:2]:
        yield (
            f"jax {versions['jax']} and jaxlib {versions['jaxlib']} are not of one release: "
            f"`pip install --upgrade jax=={versions['jax']} jaxlib=={versions['jax']}`"
        )
    if given[: len(NEWEST_JAX)] > NEWEST_JAX or given < OLDEST_JAX:
        yield f"jaxaot was not tried with jax {versions['jax']}"
    if sys.version_info[:2] > NEWEST_PYTHON:
        yield f"jaxaot was not tried with Python {found['python']}"
    if versions["flax"] and _numbers(versions["flax"]) < (0, 12):
        yield f"flax {versions['flax']} is older than 0.12, whose modules are taken: `pip install --upgrade flax`"
    is_on_cpu = all(device["kind"] == "cpu" for device in found["devices"])
    plugins = [name for name in ("jax-cuda12-plugin", "jax-cuda13-plugin", "jax-rocm7-plugin") if _version(name)]
    if is_on_cpu and plugins and environment.get("JAX_PLATFORMS", "") in ("", "cuda", "rocm"):
        yield f"{plugins[0]} is installed, and JAX runs on the CPU: the driver does not fit, or no GPU is visible"
    if is_on_cpu and not plugins and found["has_gpu"]:
        yield "there is a GPU of NVIDIA, and JAX has no wheel for it: `pip install 'jax[cuda13]'`"
    if found["jax_installed_at"] not in (None, found["jax_at"]):
        yield (
            f"`import jax` finds {found['jax_at']}, and pip installed {found['jax_installed_at']}: take the former off "
            "`sys.path` or PYTHONPATH"
        )
    if not found["has_ctypes"]:
        yield "this Python was built without ctypes: install libffi, and build it again"
    yield from found["caches_at_fault"]
    if "RESOURCE_EXHAUSTED" in found["works"]:
        yield (
            "another process holds the memory of the device, as JAX takes most of it at its start: end it, or start "
            "both with XLA_PYTHON_CLIENT_PREALLOCATE=false"
        )
    if found["works"] != "works":
        yield f"a small compiled step {found['works']}"


def _notes(found: dict[str, Any]) -> Iterator[str]:
    """Yields what makes programs slower or less safe than they could be."""
    if found["ignores_interrupts"]:
        yield "SIGINT is ignored, as under `nohup` or in the background of a script: Ctrl-C does not stop a run"
    if not all(device["kind"] == "cpu" for device in found["devices"]):
        return
    if found["threads"] == 1 and (found["cores"] or 1) > 1:
        yield f"this process may use one of {found['cores']} cores: `taskset`, a container or a scheduler says so"
    if _numbers(found["versions"]["jax"])[:2] == (0, 10):
        yield "jaxlib 0.10 has faults on CPU that jaxaot avoids and `jax.jit` does not: see docs/xla_faults.md"
    if len(found["devices"]) > 1:
        yield "there are several CPU devices, so some passes for speed do not run: see docs/many_devices.md"
    if "--xla_cpu_multi_thread_eigen=false" in found["environment"].get("XLA_FLAGS", ""):
        yield "XLA_FLAGS keeps XLA on one core: products run on one thread"
