"""What `jaxaot doctor` says: versions, devices, extras, caches, and what is known to be bad together."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp

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
    yield f"64-bit types: {'on' if found['x64'] else 'off, as JAX has it by default'}"
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
    if found["works"] != "works":
        yield f"a small compiled step {found['works']}"


def _notes(found: dict[str, Any]) -> Iterator[str]:
    """Yields what makes programs slower or less safe than they could be."""
    if not all(device["kind"] == "cpu" for device in found["devices"]):
        return
    if _numbers(found["versions"]["jax"])[:2] == (0, 10):
        yield "jaxlib 0.10 has faults on CPU that jaxaot avoids and `jax.jit` does not: see docs/xla_faults.md"
    if len(found["devices"]) > 1:
        yield "there are several CPU devices, so some passes for speed do not run: see docs/many_devices.md"
    if "--xla_cpu_multi_thread_eigen=false" in found["environment"].get("XLA_FLAGS", ""):
        yield "XLA_FLAGS keeps XLA on one core: products run on one thread"
