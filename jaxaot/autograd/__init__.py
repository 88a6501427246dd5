"""Gradients by hand (`torch.autograd`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.autograd import forward_ad as forward_ad
from jaxaot.autograd import function as function
from jaxaot.autograd import functional as functional
from jaxaot.autograd import graph as graph
from jaxaot.autograd._compiled_tape import TapeCompiler as TapeCompiler
from jaxaot.facade.gradients.anomaly import detect_anomaly as detect_anomaly
from jaxaot.facade.gradients.anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from jaxaot.facade.gradients.anomaly import is_anomaly_enabled as is_anomaly_enabled
from jaxaot.facade.gradients.anomaly import set_detect_anomaly as set_detect_anomaly
from jaxaot.facade.gradients.grad import backward as backward
from jaxaot.facade.gradients.grad import grad as grad
from jaxaot.facade.gradients.gradcheck import gradcheck as gradcheck
from jaxaot.facade.gradients.gradcheck import gradgradcheck as gradgradcheck
from jaxaot.facade.nodes.saved import SavedTensor as SavedTensor
from jaxaot.tape.modes import enable_grad as enable_grad
from jaxaot.tape.modes import inference_mode as inference_mode
from jaxaot.tape.modes import is_multithreading_enabled as is_multithreading_enabled
from jaxaot.tape.modes import no_grad as no_grad
from jaxaot.tape.modes import set_grad_enabled as set_grad_enabled
from jaxaot.tape.modes import set_multithreading_enabled as set_multithreading_enabled
from jaxaot.tape.modes import set_version_check as set_version_check
from jaxaot.tensor_types import Variable as Variable
from jaxaot.transforms.custom_function import Function as Function
from jaxaot.transforms.custom_function import once_differentiable as once_differentiable
from jaxaot.transforms.jax_function import jax_function as jax_function

_show_only_public(globals(), ("forward_ad", "function", "functional", "graph"))
