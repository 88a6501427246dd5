"""Ways out of compilation, by the names of `torch.compiler`."""

from __future__ import annotations

from jaxaot.facade.assumed import assume_constant as assume_constant
from jaxaot.facade.assumed import disable as disable

__all__ = ["assume_constant", "disable"]
