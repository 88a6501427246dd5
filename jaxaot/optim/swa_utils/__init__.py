"""Averages of weights (`torch.optim.swa_utils`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.optim.swa_utils.annealed import SWALR as SWALR
from jaxaot.optim.swa_utils.averaged import AveragedModel as AveragedModel
from jaxaot.optim.swa_utils.averaged import get_ema_avg_fn as get_ema_avg_fn
from jaxaot.optim.swa_utils.averaged import get_ema_multi_avg_fn as get_ema_multi_avg_fn
from jaxaot.optim.swa_utils.averaged import get_swa_avg_fn as get_swa_avg_fn
from jaxaot.optim.swa_utils.averaged import get_swa_multi_avg_fn as get_swa_multi_avg_fn
from jaxaot.optim.swa_utils.averaged import update_bn as update_bn

_show_only_public(globals())
