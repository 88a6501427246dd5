"""The classes of layers (`torch.nn`)."""

# ruff: noqa: F403

from jaxaot.nn.modules import batchnorm as batchnorm
from jaxaot.nn.modules import conv as conv
from jaxaot.nn.modules.activations import *
from jaxaot.nn.modules.attention import *
from jaxaot.nn.modules.containers import *
from jaxaot.nn.modules.convolution import *
from jaxaot.nn.modules.dropout import *
from jaxaot.nn.modules.embedding import *
from jaxaot.nn.modules.lazy import *
from jaxaot.nn.modules.linear import *
from jaxaot.nn.modules.losses import *
from jaxaot.nn.modules.module import *
from jaxaot.nn.modules.norms import *
from jaxaot.nn.modules.of_nnx import *
from jaxaot.nn.modules.padding import *
from jaxaot.nn.modules.pooling import *
from jaxaot.nn.modules.recurrent import *
from jaxaot.nn.modules.shapes import *
from jaxaot.nn.modules.transformer import *
from jaxaot.nn.parameter import Buffer as Buffer
from jaxaot.nn.parameter import Parameter as Parameter
from jaxaot.nn.parameter import UninitializedParameter as UninitializedParameter

_OURS = ("jaxaot.nn.modules", "jaxaot.nn.parameter")  # and not what these modules import
_found = [name for name, value in globals().items() if getattr(value, "__module__", "").startswith(_OURS)]
globals()["__all__"] = [name for name in _found if not name.startswith("_")]
