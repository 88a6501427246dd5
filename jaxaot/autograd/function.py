"""Functions with gradients of their own (`torch.autograd.function`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.transforms.custom_function import Function as Function
from jaxaot.transforms.custom_function import InplaceFunction as InplaceFunction
from jaxaot.transforms.custom_function import once_differentiable as once_differentiable
from jaxaot.transforms.jax_function import jax_function as jax_function

_show_only_public(globals())
