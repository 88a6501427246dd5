"""Averages of weights (`torch.optim.swa_utils`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.optim.swa_utils.averaged import AveragedModel as AveragedModel
from jaxaot.optim.swa_utils.averaged import get_ema_avg_fn as get_ema_avg_fn
from jaxaot.optim.swa_utils.averaged import get_swa_avg_fn as get_swa_avg_fn

_show_only_public(globals())
