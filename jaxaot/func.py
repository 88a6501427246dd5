"""Transformations of functions of tensors (`torch.func`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.api import functionalize as functionalize
from jaxaot.transforms.func import grad as grad
from jaxaot.transforms.func import grad_and_value as grad_and_value
from jaxaot.transforms.func import hessian as hessian
from jaxaot.transforms.func import jacfwd as jacfwd
from jaxaot.transforms.func import jacrev as jacrev
from jaxaot.transforms.func import jvp as jvp
from jaxaot.transforms.func import linearize as linearize
from jaxaot.transforms.func import vjp as vjp
from jaxaot.transforms.functional_call import functional_call as functional_call
from jaxaot.transforms.functional_call import (
    replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_,
)
from jaxaot.transforms.functional_call import stack_module_state as stack_module_state
from jaxaot.transforms.vmap import vmap as vmap

_show_only_public(globals())
