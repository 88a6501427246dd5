"""Linear algebra (`torch.linalg`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.errors import SingularMatrixError as _SingularMatrixError
from jaxaot.facade.members.methods import FUNCTIONS as _FUNCTIONS

LinAlgError = _SingularMatrixError
globals().update(_FUNCTIONS["linalg"])

_show_only_public(globals())
