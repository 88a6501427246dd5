"""What is done to the parameters of modules (`torch.nn.utils`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.nn.utils import parametrizations as parametrizations
from jaxaot.nn.utils import parametrize as parametrize
from jaxaot.nn.utils import rnn as rnn
from jaxaot.nn.utils.gradients import clip_grad_norm_ as clip_grad_norm_
from jaxaot.nn.utils.gradients import clip_grad_value_ as clip_grad_value_
from jaxaot.nn.utils.gradients import clip_grads_with_norm_ as clip_grads_with_norm_
from jaxaot.nn.utils.gradients import get_total_norm as get_total_norm
from jaxaot.nn.utils.vectors import parameters_to_vector as parameters_to_vector
from jaxaot.nn.utils.vectors import vector_to_parameters as vector_to_parameters
from jaxaot.nn.utils.weights import remove_spectral_norm as remove_spectral_norm
from jaxaot.nn.utils.weights import remove_weight_norm as remove_weight_norm
from jaxaot.nn.utils.weights import skip_init as skip_init
from jaxaot.nn.utils.weights import spectral_norm as spectral_norm
from jaxaot.nn.utils.weights import weight_norm as weight_norm

_show_only_public(globals(), ("parametrizations", "parametrize", "rnn"))
