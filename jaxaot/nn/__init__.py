"""Building blocks of networks."""

from jaxaot.nn import flax as flax  # says what an nnx.Variable is; flax itself is not imported for it
from jaxaot.nn import functional as functional
