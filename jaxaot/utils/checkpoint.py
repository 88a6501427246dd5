"""Functions whose intermediate values are computed again in the backward (`torch.utils.checkpoint`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.transforms.checkpoint import checkpoint as checkpoint
from jaxaot.transforms.checkpoint import checkpoint_sequential as checkpoint_sequential
from jaxaot.transforms.checkpoint import set_checkpoint_debug_enabled as set_checkpoint_debug_enabled
from jaxaot.transforms.checkpoint import set_checkpoint_early_stop as set_checkpoint_early_stop

__path__: list[str] = []  # as in `compiler.py`
_show_only_public(globals())
