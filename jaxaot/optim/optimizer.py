"""`Optimizer` where PyTorch has it too (`torch.optim.optimizer`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.optim.rules.optimizer import Optimizer as Optimizer
from jaxaot.optim.rules.optimizer import ParamsT as ParamsT

_show_only_public(globals())
