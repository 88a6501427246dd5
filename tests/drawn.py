"""Numbers that tests draw without compiling anything, as modules of tests make them when they are imported."""

import numpy as np


def drawn(seed, *shape):
    """Returns numbers of the standard normal distribution, float32."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)
