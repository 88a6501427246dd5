"""1,797 handwritten digits that come with scikit-learn: `pip install scikit-learn`. Nothing is downloaded."""

from __future__ import annotations

import numpy as np


def read_digits(n: int, first: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Returns images, float32 of (n, 1, 8, 8) between 0 and 1, and their digits, int32 of (n,).

    Args:
      n: How many, in an order that is always the same.
      first: From which one on, so that those for a test are others.
    """
    from sklearn.datasets import load_digits  # the rest of an example can be read without

    found = load_digits()
    rows = np.random.default_rng(0).permutation(len(found.target))[first : first + n]
    return (found.images[rows, None] / 16).astype(np.float32), found.target[rows].astype(np.int32)
