"""Hooks on what the tape saves (`torch.autograd.graph`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.gradients.packing import first_that_fits as first_that_fits
from jaxaot.facade.gradients.packing import offload_to_host as offload_to_host
from jaxaot.facade.gradients.packing import pack_mask_bits as pack_mask_bits
from jaxaot.facade.gradients.packing import quantize_float8 as quantize_float8
from jaxaot.facade.gradients.packing import quantize_int8 as quantize_int8
from jaxaot.facade.gradients.packing import save_on_cpu as save_on_cpu
from jaxaot.facade.gradients.packing import to_dtype as to_dtype
from jaxaot.facade.memory.counter import increment_version as increment_version
from jaxaot.facade.nodes.hooks import GradientEdge as GradientEdge
from jaxaot.facade.nodes.hooks import get_gradient_edge as get_gradient_edge
from jaxaot.facade.nodes.hooks import register_multi_grad_hook as register_multi_grad_hook
from jaxaot.facade.nodes.saved import SavedTensor as SavedTensor
from jaxaot.facade.nodes.saved_writes import allow_mutation_on_saved_tensors as allow_mutation_on_saved_tensors
from jaxaot.tape.engine import queue_callback as queue_callback
from jaxaot.tape.node import Node as Node
from jaxaot.tape.saved_hooks import disable_saved_tensors_hooks as disable_saved_tensors_hooks
from jaxaot.tape.saved_hooks import saved_tensors_hooks as saved_tensors_hooks

_show_only_public(globals())
