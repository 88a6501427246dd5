"""Transformations of functions of tensors (`torch.func`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.api import functionalize as functionalize
from jaxaot.tracer.func import grad as grad
from jaxaot.tracer.func import grad_and_value as grad_and_value
from jaxaot.tracer.func import hessian as hessian
from jaxaot.tracer.func import jacfwd as jacfwd
from jaxaot.tracer.func import jacrev as jacrev
from jaxaot.tracer.func import jvp as jvp
from jaxaot.tracer.func import linearize as linearize
from jaxaot.tracer.func import vjp as vjp
from jaxaot.tracer.func import vmap as vmap
from jaxaot.tracer.functional_call import functional_call as functional_call
from jaxaot.tracer.functional_call import stack_module_state as stack_module_state

_show_only_public(globals())
