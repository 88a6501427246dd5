"""The text that the demo learns: the Python standard library's source, or a file."""

from __future__ import annotations

import dataclasses
import math
import sysconfig
from collections import Counter
from pathlib import Path

import numpy as np

from jaxaot.errors import UsageError

MAX_BYTES = 3_000_000
N_CHARACTERS = 128


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Text as numbers.

    Attributes:
      name: Where it comes from.
      codes: The number of each character.
      alphabet: The characters, by number; the first stands for all rare ones.
    """

    name: str
    codes: np.ndarray
    alphabet: str

    @property
    def unigram_entropy(self) -> float:
        """Entropy of a single character in nats: what a model that ignores context can reach."""
        counts = np.bincount(self.codes, minlength=len(self.alphabet))
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log(shares)).sum())

    def batch(self, rng: np.random.Generator, n: int, length: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns `n` random pieces, int32[n, length], and the characters that follow each place."""
        starts = rng.integers(0, len(self.codes) - length - 1, n)
        pieces = np.stack([self.codes[s : s + length + 1] for s in starts]).astype(np.int32)
        return pieces[:, :-1], pieces[:, 1:]

    def encode(self, text: str) -> np.ndarray:
        """Returns text as numbers."""
        number = {c: i for i, c in enumerate(self.alphabet)}
        return np.array([number.get(c, 0) for c in text], np.int32)

    def decode(self, codes: list[int]) -> str:
        """Returns numbers as text."""
        return "".join("·" if code == 0 else self.alphabet[code] for code in codes)


def make_corpus(name: str, text: str, min_length: int) -> Corpus:
    """Returns text as a corpus of its most frequent characters.

    Raises:
      UsageError: If it is empty or too short to cut pieces from.
    """
    if not text.strip():
        raise UsageError(f"{name} is empty; the demo needs at least {min_length} characters of text")
    if len(text) < min_length:
        raise UsageError(f"{name} has only {len(text)} characters; the demo needs at least {min_length}")
    frequent = [c for c, _ in Counter(text).most_common(N_CHARACTERS - 1)]
    alphabet = "\0" + "".join(sorted(frequent))
    number = {c: i for i, c in enumerate(alphabet)}
    return Corpus(name, np.array([number.get(c, 0) for c in text], np.int32), alphabet)


def load_text(path: str | None, min_length: int) -> Corpus:
    """Returns the corpus of a file, or of the standard library's source if `path` is None.

    Raises:
      UsageError: If the file cannot be read, is empty or is too short.
    """
    if path is not None:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise UsageError(f"cannot read {path}: {reason}") from error
        return make_corpus(path, text[:MAX_BYTES], min_length)
    root = Path(sysconfig.get_path("stdlib"))
    parts, size = [], 0
    for file in sorted(root.glob("*.py")):
        text = file.read_text(encoding="utf-8", errors="ignore")
        parts.append(text)
        size += len(text)
        if size > MAX_BYTES:
            break
    return make_corpus(f"the Python standard library ({root})", "".join(parts)[:MAX_BYTES], min_length)


def perplexity(loss: float) -> float:
    """Returns e to the loss: among how many characters the model hesitates."""
    return math.exp(loss)
