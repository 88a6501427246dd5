"""What the arguments of ops may be: names for the generated stubs."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from jax.typing import DTypeLike as DTypeLike

from jaxaot.facade.memory.tensor import Tensor

_bool: TypeAlias = bool
_int: TypeAlias = int
_float: TypeAlias = float
_complex: TypeAlias = complex
_str: TypeAlias = str

TensorLike: TypeAlias = Tensor | jax.Array | np.ndarray[Any, Any]
Number: TypeAlias = bool | int | float | complex | np.generic[Any]
Operand: TypeAlias = TensorLike | Number
Ints: TypeAlias = int | Sequence[int]
Floats: TypeAlias = float | Sequence[float]
Device: TypeAlias = Any
