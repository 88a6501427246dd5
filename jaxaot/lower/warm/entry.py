"""One entry: a manifest of JSON and blobs of `jax.export`, in one file. There is no pickle in it.

magic, 8 bytes · SHA-256 of the rest, 32 bytes · length of the manifest, 8 bytes · manifest · blobs
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

_MAGIC = b"jaxaotw1"


class Entry(NamedTuple):
    """What an entry holds.

    Attributes:
      manifest: How the graph is run, and the components of its key.
      blobs: Its programs.
    """

    manifest: dict[str, Any]
    blobs: tuple[bytes, ...]


def encode(manifest: dict[str, Any], blobs: Sequence[bytes]) -> bytes:
    """Returns an entry as bytes."""
    text = json.dumps({**manifest, "lengths": [len(blob) for blob in blobs]}).encode()
    rest = len(text).to_bytes(8, "little") + text + b"".join(blobs)
    return _MAGIC + hashlib.sha256(rest).digest() + rest


def decode(content: bytes) -> Entry | None:
    """Returns an entry; None if these bytes are none, or damaged ones."""
    if content[:8] != _MAGIC or hashlib.sha256(content[40:]).digest() != content[8:40]:
        return None
    try:
        start = 48 + int.from_bytes(content[40:48], "little")
        manifest = json.loads(content[48:start])
        blobs = []
        for length in manifest["lengths"]:
            blobs.append(content[start : start + length])
            start += length
    except (ValueError, KeyError, TypeError):
        return None
    return Entry(manifest, tuple(blobs)) if start == len(content) else None
