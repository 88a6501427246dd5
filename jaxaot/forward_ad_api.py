"""`ja.autograd.forward_ad`: forward mode with dual tensors (`torch.autograd.forward_ad`)."""

from __future__ import annotations

from jaxaot.facade.forward import UnpackedDualTensor as UnpackedDualTensor
from jaxaot.facade.forward import dual_level as dual_level
from jaxaot.facade.forward import enter_dual_level as enter_dual_level
from jaxaot.facade.forward import exit_dual_level as exit_dual_level
from jaxaot.facade.forward import make_dual as make_dual
from jaxaot.facade.forward import unpack_dual as unpack_dual
