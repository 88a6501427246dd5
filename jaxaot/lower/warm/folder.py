"""A directory of entries that only its owner may write to.

Entries end up as programs that run, so whoever can write here can run code as the user. A directory of another owner,
or one that others may write to, is refused; files are read without following links.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from jaxaot._util import written_at_once
from jaxaot.errors import CacheFolderError

SUFFIX = ".warm"
EXECUTABLES = "executables"
"""Where JAX keeps what XLA compiled."""


class Folder:
    """A checked directory.

    Attributes:
      path: Where it is.
      max_bytes: What all its files may take; beyond that those go that were used least recently.
    """

    def __init__(self, path: str | os.PathLike[str], max_bytes: int, setting: str = "cache_dir"):
        """Makes the directory if it is not there, and checks it.

        Args:
          path: Where it is.
          max_bytes: What all its files may take.
          setting: The one that names it.

        Raises:
          CacheFolderError: If others may write to it, or it cannot be used.
        """
        self.path, self.max_bytes = Path(path).expanduser().absolute(), max_bytes
        try:
            for place in (self.path, self.path / EXECUTABLES) if setting == "cache_dir" else (self.path,):
                place.mkdir(parents=True, mode=0o700, exist_ok=True)
                require_own(place, setting)
        except OSError as error:
            raise CacheFolderError(
                f"The directory {str(self.path)!r} of `{setting}` cannot be used: {error.strerror}. Name one that you "
                f"may write to, or `{setting}=None`."
            ) from error

    def read(self, name: str) -> bytes | None:
        """Returns the content of a file of the owner's; None if there is none, or others may write to it."""
        path = self.path / name
        try:
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return None
        with os.fdopen(handle, "rb") as file:
            try:
                if _why_foreign(os.fstat(handle)) is not None:
                    return None
                content = file.read()
                os.utime(handle if os.utime in os.supports_fd else path)  # so that it is not the next one to go
            except OSError:
                return None
        return content

    def write(self, name: str, content: bytes) -> None:
        """Writes a file at once, and removes others if there is too much."""
        if self.replace(name, content):
            self.trim()

    def replace(self, name: str, content: bytes) -> bool:
        """Writes a file at once: others see all of it or nothing. Returns whether it could be written."""
        try:
            with written_at_once(self.path / name, 0o600) as unfinished:
                Path(unfinished).write_bytes(content)
        except OSError:
            return False
        return True

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        with contextlib.suppress(OSError):
            os.unlink(self.path / name)

    def entries(self) -> list[str]:
        """Returns the names of the entries, sorted."""
        try:
            return sorted(name for name in os.listdir(self.path) if name.endswith(SUFFIX))
        except OSError:
            return []

    def files(self) -> Iterator[tuple[float, int, Path]]:
        """Yields when each file was last used, its bytes, and its path."""
        for place in (self.path, self.path / EXECUTABLES):
            with contextlib.suppress(OSError):
                for item in os.scandir(place):
                    with contextlib.suppress(OSError):
                        found = item.stat(follow_symlinks=False)
                        if stat.S_ISREG(found.st_mode):
                            yield max(found.st_atime, found.st_mtime), found.st_size, Path(item.path)

    def trim(self) -> None:
        """Removes the files that were used least recently, until the rest fits."""
        found = sorted(self.files())
        total = sum(size for _, size, _ in found)
        for _, size, path in found:
            if total <= self.max_bytes:
                break
            with contextlib.suppress(OSError):  # another process may have removed it
                os.unlink(path)
            total -= size


def require_own(path: Path, setting: str = "cache_dir") -> None:
    """Raises unless a directory, which a setting names, is the user's, and nobody else may write to it.

    Raises:
      CacheFolderError: If it is not.
    """
    found = os.lstat(path)
    why = "it is no directory" if not stat.S_ISDIR(found.st_mode) else _why_foreign(found)
    if why is not None:
        raise CacheFolderError(
            f"The directory {str(path)!r} of `{setting}` is refused: {why}. Programs are read from it, and whoever may "
            f"write there could run code as you. Use a directory of your own, with `chmod 700 {path}`."
        )


def _why_foreign(found: os.stat_result) -> str | None:
    """Returns why a file or directory is not the user's alone to write to; None if it is."""
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        return f"it belongs to the user {found.st_uid}, and this process runs as {os.geteuid()}"
    if hasattr(os, "geteuid") and found.st_mode & 0o022:
        return f"others may write to it, its mode is {stat.S_IMODE(found.st_mode):o}"
    return None


@functools.lru_cache(maxsize=16)
def folder_of(path: str, max_bytes: int) -> Folder:
    """Returns a checked directory; it is checked once in a process."""
    return Folder(path, max_bytes)
