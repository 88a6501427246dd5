"""Modules on several devices (`torch.nn.parallel`): batches are spread by `ja.distributed`, and modules stay as is."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.nn.modules.containers import DataParallel as DataParallel

__path__: list[str] = []  # so that `from jaxaot.nn.parallel import …` asks `errors/absent.py`
_show_only_public(globals())
