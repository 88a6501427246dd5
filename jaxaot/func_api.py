"""`ja.func`: transformations of functions of tensors (`torch.func`)."""

from __future__ import annotations

from jaxaot.api import functionalize as functionalize
from jaxaot.trace.func import grad as grad
from jaxaot.trace.func import grad_and_value as grad_and_value
from jaxaot.trace.func import hessian as hessian
from jaxaot.trace.func import jacfwd as jacfwd
from jaxaot.trace.func import jacrev as jacrev
from jaxaot.trace.func import jvp as jvp
from jaxaot.trace.func import linearize as linearize
from jaxaot.trace.func import vjp as vjp
from jaxaot.trace.func import vmap as vmap
from jaxaot.trace.functional_call import functional_call as functional_call
from jaxaot.trace.functional_call import stack_module_state as stack_module_state
