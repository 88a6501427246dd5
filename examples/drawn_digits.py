"""Digits drawn from a font of 5 x 3 dots: moved, blurred and with noise, so that there is something to learn."""

from __future__ import annotations

import numpy as np

FONT = (
    "111101101101111", "010110010010111", "111001111100111", "111001111001111", "101101111001001", "111100111001111",
    "111100111101111", "111001010010010", "111101111101111", "111101111001111",
)  # fmt: skip
GLYPHS = np.array([[int(dot) for dot in glyph] for glyph in FONT], np.float32).reshape(10, 5, 3)


def draw_digits(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Returns images, float32 of (n, 1, 8, 8) between 0 and 1, and their digits, int32 of (n,)."""
    rng = np.random.default_rng(seed)
    digits = rng.integers(0, 10, n).astype(np.int32)
    images = np.zeros((n, 8, 8), np.float32)
    for image, digit, top, left in zip(images, digits, rng.integers(0, 4, n), rng.integers(0, 6, n), strict=True):
        image[top : top + 5, left : left + 3] = GLYPHS[digit] * rng.uniform(0.6, 1.0)
    images += 0.3 * (np.roll(images, 1, 1) + np.roll(images, 1, 2))
    images += rng.normal(0, 0.1, images.shape).astype(np.float32)
    return np.clip(images, 0, 1)[:, None], digits
