"""A directory of entries as one file, to be carried to other machines: a zip without compression of executables."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

from jaxaot._util import written_at_once
from jaxaot.errors import CacheFolderError, UsageError
from jaxaot.lower.warm.entry import decode
from jaxaot.lower.warm.folder import EXECUTABLES, SUFFIX, Folder

_NAME = re.compile(rf"(?:[0-9a-f-]+{re.escape(SUFFIX)}|{EXECUTABLES}/[\w.+-]+)\Z", re.ASCII)
_MOST = 1 << 40


def pack(folder: str | os.PathLike[str], file: str | os.PathLike[str]) -> int:
    """Writes all entries of a directory into a file, and returns how many files went in.

    Args:
      folder: The directory.
      file: The file; it is replaced at once.

    Raises:
      UsageError: If there is no such directory, or the file cannot be written.
      CacheFolderError: If others may write to the directory.
    """
    if not Path(folder).is_dir():
        raise UsageError(f"There is no directory {os.fspath(folder)!r} to pack.")
    found = Folder(folder, _MOST)
    names = sorted(path.relative_to(found.path).as_posix() for _, _, path in found.files())
    names = [name for name in names if _NAME.match(name)]
    try:
        with written_at_once(file) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
            for name in names:
                archive.writestr(name, (found.path / name).read_bytes())
    except OSError as error:
        raise UsageError(f"The file {os.fspath(file)!r} cannot be written: {error.strerror}.") from error
    return len(names)


def unpack(file: str | os.PathLike[str], folder: str | os.PathLike[str]) -> int:
    """Adds the entries in a file to a directory, and returns how many files came in.

    Args:
      file: What `pack` wrote. Programs are run from it: take none from people you do not trust.
      folder: The directory; it is made if it is not there.

    Raises:
      UsageError: If the file is none that `pack` wrote, or is damaged.
      CacheFolderError: If others may write to the directory.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            damaged = archive.testzip()
            contents = {} if damaged else {name: archive.read(name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise UsageError(f"The file {os.fspath(file)!r} cannot be read as a packed cache: {error}.") from error
    wrong = damaged or next((name for name, content in contents.items() if not _is_entry(name, content)), None)
    if wrong:
        raise UsageError(f"The file {os.fspath(file)!r} is no packed cache, or damaged: {wrong!r} is no entry.")
    target = Folder(folder, _MOST)
    for name, content in contents.items():
        target.write(name, content)
    if not set(contents) <= {path.relative_to(target.path).as_posix() for _, _, path in target.files()}:
        raise CacheFolderError(f"The directory {str(target.path)!r} could not take all entries: is the disk full?")
    return len(contents)


def _is_entry(name: str, content: bytes) -> bool:
    is_named = _NAME.match(name) is not None and ".." not in name
    return is_named and (not name.endswith(SUFFIX) or decode(content) is not None)
