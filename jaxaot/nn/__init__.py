"""Building blocks of networks."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.nn import flax as flax  # says what an nnx.Variable is; flax itself is not imported for it
from jaxaot.nn import functional as functional

_show_only_public(globals(), ("functional",))
