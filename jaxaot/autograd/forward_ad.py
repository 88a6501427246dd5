"""Forward mode with dual tensors (`torch.autograd.forward_ad`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.gradients.forward import UnpackedDualTensor as UnpackedDualTensor
from jaxaot.facade.gradients.forward import dual_level as dual_level
from jaxaot.facade.gradients.forward import enter_dual_level as enter_dual_level
from jaxaot.facade.gradients.forward import exit_dual_level as exit_dual_level
from jaxaot.facade.gradients.forward import make_dual as make_dual
from jaxaot.facade.gradients.forward import unpack_dual as unpack_dual

_show_only_public(globals())
