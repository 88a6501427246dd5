"""What there is of `torch.utils`: checkpoint, data, and containers that are taken apart."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.utils import _pytree as _pytree
from jaxaot.utils import checkpoint as checkpoint
from jaxaot.utils import data as data

_show_only_public(globals(), ("checkpoint", "data"))
