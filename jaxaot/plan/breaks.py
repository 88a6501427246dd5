"""Break values: what Python wanted to know of tensors while a function was traced in segments.

Each `if`, `int()`, `.item()` or the like on a traced value is a *break*. The trace goes on with the value that the part
before the break computes, so that a program is made for the values it was traced with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxaot._immutable import immutable
from jaxaot._typing import Shape


@immutable
class BreakValue:
    """A value that Python asked for.

    Attributes:
      output: The graph output that carries it.
      shape: Its shape.
      dtype: Its dtype.
      value: Its bytes; None where a trace stopped because it was not known.
      line: The user's line.
      asked: Where a trace stopped: what asked for it, or what no graph can do.
    """

    output: int
    shape: Shape
    dtype: Any
    value: bytes | None
    line: str
    asked: str = ""

    @property
    def is_value(self) -> bool:
        """Whether a value was asked for, rather than something done that no graph can do."""
        return self.shape != (0,) or self.dtype != np.dtype(bool)

    @property
    def is_discrete(self) -> bool:
        """Whether it is one truth value or integer, of which there may be few."""
        return self.shape == () and np.dtype(self.dtype).kind in "biu"

    @property
    def array(self) -> np.ndarray:
        """The value."""
        assert self.value is not None, "the value is not known"
        return np.frombuffer(self.value, self.dtype).reshape(self.shape)

    @property
    def shown(self) -> str:
        """The value for people."""
        if self.value is None:
            return "not known yet"
        return repr(self.array.item()) if not self.shape else np.array2string(self.array, threshold=8, separator=", ")
