"""The file: a zip of parts, each with its checksum, that holds nothing which is executed.

    jaxaot-archive           the format's number and the checksum of the manifest
    manifest.json            what the archive is, the checksum of each part, and the plans
    graphs/forward.bin       programs, by `jax.export`
    weights.safetensors      arrays
    sizes.safetensors        what programs of several sizes take for each, if sizes change

Parts are stored as they are, without compression, so a file never holds more bytes than its own size says.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

from jaxaot._util import written_at_once
from jaxaot.errors import ArchiveError

FORMAT = 1
"""The format that is written, and the last one that is read."""

_HEAD, _MANIFEST = "jaxaot-archive", "manifest.json"
_MAX_OF_MANIFEST = 2**28
_WHEN = (1980, 1, 1, 0, 0, 0)  # of all parts, so that equal archives are equal files


def write_archive(path: str | os.PathLike[str], manifest: Mapping[str, Any], parts: Mapping[str, bytes]) -> None:
    """Writes an archive: as a whole, or not at all."""
    sums = {name: {"bytes": len(content), "sha256": _sum(content)} for name, content in parts.items()}
    text = json.dumps({**manifest, "parts": sums}, separators=(",", ":"), allow_nan=False).encode()
    head = json.dumps({"format": FORMAT, "sha256": _sum(text)}).encode()
    with written_at_once(path) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_STORED) as written:
        for name, content in ((_HEAD, head), (_MANIFEST, text), *parts.items()):
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.external_attr = 0o600 << 16
            written.writestr(entry, content)


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Archive:
    """An archive that is open: its manifest, and its parts when they are asked for; closed as a context manager.

    Attributes:
      name: Of the file, for messages.
      manifest: What JSON held.
    """

    def __init__(self, path: str | os.PathLike[str]):
        """Reads and checks the manifest.

        Raises:
          ArchiveError: If the file is no archive, is damaged, or is of a later format.
          FileNotFoundError: If there is no such file.
        """
        self.name = os.fspath(path)
        self._kept: dict[str, bytes] = {}
        self._file = open(path, "rb")  # noqa: SIM115  # once: another file may come in its place
        try:
            self._look()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _look(self) -> None:
        self._zip, self._entries = self._listed()
        head = self._json(_HEAD, self._read(_HEAD, 4096))
        if type(head) is not dict or type(head.get("format")) is not int or type(head.get("sha256")) is not str:
            raise self._damaged("its first part says no format")
        if not 1 <= head["format"] <= FORMAT:
            raise ArchiveError(
                f"{self.name} is an archive of format {head['format']}, and this jaxaot reads formats up to {FORMAT}. "
                "Load it with the jaxaot that wrote it or a later one, `pip install --upgrade jaxaot`."
            )
        text = self._read(_MANIFEST, _MAX_OF_MANIFEST)
        if _sum(text) != head["sha256"]:
            raise self._damaged("its manifest does not have the checksum that was written")
        self.manifest: dict[str, Any] = self._json(_MANIFEST, text)
        if type(self.manifest) is not dict or type(self.manifest.get("parts")) is not dict:
            raise self._damaged("its manifest lists no parts")

    def part(self, name: str) -> bytes:
        """Returns the content of a part, whose checksum is right."""
        if name in self._kept:
            return self._kept[name]
        known = self.manifest["parts"].get(name)
        if type(known) is not dict or type(known.get("bytes")) is not int:
            raise self._damaged(f"its manifest does not list {name}")
        content = self._read(name, known["bytes"])
        if len(content) != known["bytes"] or _sum(content) != known.get("sha256"):
            raise self._damaged(f"{name} does not have the checksum that was written")
        return content

    def keep(self, names: Iterable[str]) -> None:
        """Reads parts that are asked for again once the file is closed."""
        self._kept = {name: self.part(name) for name in names}

    def has_part(self, name: str) -> bool:
        """Returns whether the manifest lists a part."""
        return name in self.manifest["parts"]

    def _listed(self) -> tuple[zipfile.ZipFile, dict[str, int]]:
        """Returns what reads parts, and the size of each part in bytes."""
        try:
            file = zipfile.ZipFile(self._file)
            entries = file.infolist()
        except Exception as error:
            raise self._damaged(f"its list of parts cannot be read ({error})") from error
        is_plain = all(e.compress_type == zipfile.ZIP_STORED and e.compress_size == e.file_size for e in entries)
        total, found = sum(e.file_size for e in entries), {e.filename: e.file_size for e in entries}
        if _HEAD not in found:
            raise ArchiveError(
                f"{self.name} is no archive of jaxaot, which `ja.export(fn, *args).save(path)` writes. Pickles are "
                "loaded by torch: `model.load_state_dict(torch.load(path))`."
            )
        if not is_plain or len(found) != len(entries) or total > os.fstat(self._file.fileno()).st_size:
            raise self._damaged("its parts are compressed, or more than the file has room for")
        return file, found

    def _read(self, name: str, most: int) -> bytes:
        if name not in self._entries:
            raise self._damaged(f"it has no part {name}")
        if (size := self._entries[name]) > most:
            raise self._damaged(f"{name} has {size:,} bytes instead of {most:,}")
        try:
            return self._zip.read(name)
        except Exception as error:
            raise self._damaged(f"{name} cannot be read ({error})") from error

    def _json(self, name: str, text: bytes) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self._damaged(f"{name} is no JSON ({error})") from error

    def _damaged(self, what: str) -> ArchiveError:
        return ArchiveError(
            f"{self.name} is damaged: {what}. Was it cut off or changed? Copy it again, or write it again by "
            "`exported.save(path)`."
        )
