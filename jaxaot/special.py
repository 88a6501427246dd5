"""Special functions (`torch.special`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.members.methods import FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["special"])

_show_only_public(globals())
