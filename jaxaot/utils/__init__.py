"""What there is of `torch.utils`: checkpoint."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.utils import checkpoint as checkpoint

_show_only_public(globals(), ("checkpoint",))
