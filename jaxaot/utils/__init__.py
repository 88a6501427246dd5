"""What there is of `torch.utils`: checkpoint and data."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.utils import checkpoint as checkpoint
from jaxaot.utils import data as data

_show_only_public(globals(), ("checkpoint", "data"))
