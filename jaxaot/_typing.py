"""Type aliases, named once."""

from __future__ import annotations

from typing import TypeAlias

import jax

Array: TypeAlias = jax.Array
"""A jax array or a tracer standing for one."""

Shape: TypeAlias = tuple[int, ...]
