"""What archives hold: functions, and what rooms above this one have."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jaxlib.version

from jaxaot._versions import JAXAOT
from jaxaot.archive.container import Archive
from jaxaot.archive.graphs import program_from_bytes
from jaxaot.archive.readers import BOOL, TEXT, from_json, many
from jaxaot.errors import ArchiveError
from jaxaot.saving import arrays_from_bytes

_READ_BY = {"function": "jaxaot.archive.loaded", "graph": "jaxaot.aot.graph"}
"""Kind → the module whose `read_archive` reads it."""


def header(kind: str, platforms: Sequence[str]) -> dict[str, Any]:
    """Returns what the manifest of an archive of any kind says."""
    return {
        "kind": kind,
        "written_by": {"jaxaot": JAXAOT, "jax": jax.__version__, "jaxlib": jaxlib.version.__version__},
        "platforms": list(platforms),
        "devices": 1,
        "x64": bool(jax.config.jax_enable_x64),
    }


def reader_of(archive: Archive) -> Callable[..., Any]:
    """Returns what reads an archive."""
    kind = archive.manifest.get("kind")
    if type(kind) is not str or kind not in _READ_BY:
        raise ArchiveError(
            f"{archive.name} holds a {kind!r}, which this jaxaot does not know. Load it with a later one."
        )
    return importlib.import_module(_READ_BY[kind]).read_archive


def program_in(archive: Archive, part: str, role: str) -> Any:
    """Returns the program that a part of an archive holds, a `jax.export.Exported`."""
    writer = archive.manifest.get("written_by")
    version = writer.get("jax", "of another version") if type(writer) is dict else "of another version"
    return program_from_bytes(archive.part(part), role, str(version))


def require_platform(archive: Archive) -> None:
    """Raises unless the programs of an archive are for the platform of this process, and for its integers."""
    manifest = archive.manifest
    platforms = from_json(many(TEXT), manifest.get("platforms"), "the platforms")
    present = jax.default_backend()
    if ("cuda" if present == "gpu" else present) not in platforms and present not in platforms:
        raise ArchiveError(
            f"{archive.name} is for {', '.join(platforms)}, and this process runs on {present}. Export it for both: "
            f"`ja.export(fn, *args, platforms={(*platforms, present)!r})`."
        )
    has_x64 = from_json(BOOL, manifest.get("x64"), "64-bit types")
    if has_x64 != bool(jax.config.jax_enable_x64):
        raise ArchiveError(
            f"{archive.name} was exported with jax_enable_x64={has_x64}, which decided its types. Write "
            f"`jax.config.update('jax_enable_x64', {has_x64})` before it is loaded."
        )


def weights_of(archive: Archive) -> dict[str, Any]:
    """Returns the values of the state of an archive by name."""
    return tables_of(archive, "weights.safetensors")


def tables_of(archive: Archive, part: str) -> dict[str, Any]:
    """Returns the arrays of a part of an archive by name."""
    content = archive.part(part)
    try:
        return arrays_from_bytes(content)
    except Exception as error:
        raise ArchiveError(f"{archive.name} is damaged: its {part} cannot be read ({error}). Copy it again.") from error
