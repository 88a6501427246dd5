"""Derivatives of functions by the tape (`torch.autograd.functional`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.transforms.functional import hessian as hessian
from jaxaot.transforms.functional import hvp as hvp
from jaxaot.transforms.functional import jacobian as jacobian
from jaxaot.transforms.functional import jvp as jvp
from jaxaot.transforms.functional import vhp as vhp
from jaxaot.transforms.functional import vjp as vjp

_show_only_public(globals())
