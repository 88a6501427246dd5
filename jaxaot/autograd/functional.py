"""Derivatives of functions by the tape (`torch.autograd.functional`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.tracer.functional import hessian as hessian
from jaxaot.tracer.functional import hvp as hvp
from jaxaot.tracer.functional import jacobian as jacobian
from jaxaot.tracer.functional import jvp as jvp
from jaxaot.tracer.functional import vhp as vhp
from jaxaot.tracer.functional import vjp as vjp

_show_only_public(globals())
