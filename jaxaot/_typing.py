"""Type aliases, named once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jax

Array: TypeAlias = jax.Array
"""A jax array or a tracer standing for one."""

ArrayLike: TypeAlias = Any
"""An array, a NumPy array or a Python number."""

PyTree: TypeAlias = Any
Shape: TypeAlias = tuple[int, ...]
Fn: TypeAlias = Callable[..., Any]
