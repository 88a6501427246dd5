"""Functions with gradients of their own (`torch.autograd.function`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.tracer.function import Function as Function
from jaxaot.tracer.function import jax_function as jax_function
from jaxaot.tracer.function import once_differentiable as once_differentiable

_show_only_public(globals())
