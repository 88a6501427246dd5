"""Windows for spectra (`torch.signal.windows`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.members.methods import FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["signal.windows"])

_show_only_public(globals())
