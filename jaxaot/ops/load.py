"""Fills the op table: importing this module imports every module of rows for its effect."""

from jaxaot.ops import activations as activations
from jaxaot.ops import attention as attention
from jaxaot.ops import convolution as convolution
from jaxaot.ops import copies as copies
from jaxaot.ops import decompositions as decompositions
from jaxaot.ops import elementwise as elementwise
from jaxaot.ops import factories as factories
from jaxaot.ops import indexing as indexing
from jaxaot.ops import joining as joining
from jaxaot.ops import linalg as linalg
from jaxaot.ops import logic as logic
from jaxaot.ops import losses as losses
from jaxaot.ops import nn as nn
from jaxaot.ops import norms as norms
from jaxaot.ops import ordering as ordering
from jaxaot.ops import pooling as pooling
from jaxaot.ops import random as random
from jaxaot.ops import reductions as reductions
