"""Mutable tensors, joint forward/backward graphs and automatic rematerialization for JAX."""

from jaxaot.tensor.create import as_tensor as as_tensor
from jaxaot.tensor.create import from_jax as from_jax
from jaxaot.tensor.create import tensor as tensor
from jaxaot.autograd.modes import no_grad as no_grad
from jaxaot.tensor.tensor import Tensor as Tensor
from jaxaot.tensor.methods import FUNCTIONS
import numpy as _np
float32=_np.float32; int64=_np.int64
globals().update(FUNCTIONS[""])
