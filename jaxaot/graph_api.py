"""`ja.autograd.graph`: hooks on what the tape saves (`torch.autograd.graph`)."""

from __future__ import annotations

from jaxaot.autograd.node import Node as Node
from jaxaot.autograd.saved_hooks import disable_saved_tensors_hooks as disable_saved_tensors_hooks
from jaxaot.autograd.saved_hooks import saved_tensors_hooks as saved_tensors_hooks
from jaxaot.tensor.hooks import GradientEdge as GradientEdge
from jaxaot.tensor.hooks import get_gradient_edge as get_gradient_edge
from jaxaot.tensor.hooks import register_multi_grad_hook as register_multi_grad_hook
from jaxaot.tensor.packing import first_that_fits as first_that_fits
from jaxaot.tensor.packing import offload_to_host as offload_to_host
from jaxaot.tensor.packing import pack_mask_bits as pack_mask_bits
from jaxaot.tensor.packing import quantize_float8 as quantize_float8
from jaxaot.tensor.packing import quantize_int8 as quantize_int8
from jaxaot.tensor.packing import save_on_cpu as save_on_cpu
from jaxaot.tensor.packing import to_dtype as to_dtype
from jaxaot.tensor.saved import SavedTensor as SavedTensor
