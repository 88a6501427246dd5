"""Ways out of compilation, by the names of `torch.compiler`."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.assumed import assume_constant as assume_constant
from jaxaot.facade.assumed import disable as disable

__all__ = ["assume_constant", "disable"]

_show_only_public(globals())
