"""`ja.autograd`: gradients by hand (`torch.autograd`)."""

from __future__ import annotations

from jaxaot import forward_ad_api as _forward_ad_api
from jaxaot import graph_api as _graph_api
from jaxaot.facade.anomaly import detect_anomaly as detect_anomaly
from jaxaot.facade.anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from jaxaot.facade.anomaly import is_anomaly_enabled as is_anomaly_enabled
from jaxaot.facade.anomaly import set_detect_anomaly as set_detect_anomaly
from jaxaot.facade.grad import backward as backward
from jaxaot.facade.grad import grad as grad
from jaxaot.facade.gradcheck import gradcheck as gradcheck
from jaxaot.facade.gradcheck import gradgradcheck as gradgradcheck
from jaxaot.tape.modes import enable_grad as enable_grad
from jaxaot.tape.modes import inference_mode as inference_mode
from jaxaot.tape.modes import no_grad as no_grad
from jaxaot.tape.modes import set_grad_enabled as set_grad_enabled
from jaxaot.tape.modes import set_version_check as set_version_check
from jaxaot.tape_api import TapeCompiler as TapeCompiler
from jaxaot.transforms import function as function
from jaxaot.transforms import functional as functional
from jaxaot.transforms.function import Function as Function
from jaxaot.transforms.function import jax_function as jax_function
from jaxaot.transforms.function import once_differentiable as once_differentiable

forward_ad = _forward_ad_api
graph = _graph_api
