"""Building blocks of networks."""

from jaxaot.nn import functional as functional
