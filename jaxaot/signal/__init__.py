"""Signal processing (`torch.signal`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.signal import windows as windows

_show_only_public(globals(), ("windows",))
