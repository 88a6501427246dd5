"""The classes of layers (`torch.nn`)."""

# ruff: noqa: F403

import sys as _sys

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
from jaxaot.nn.modules.ntuples import *
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

_THEIRS = {
    "activation": "activations", "batchnorm": "norms", "container": "containers", "conv": "convolution",
    "instancenorm": "norms", "loss": "losses", "normalization": "norms", "rnn": "recurrent", "sparse": "embedding",
    "utils": "ntuples",
}  # fmt: skip
"""Module of PyTorch's → ours: `from jaxaot.nn.modules.batchnorm import _BatchNorm`."""

for _name, _ours in _THEIRS.items():
    globals()[_name] = _sys.modules[f"{__name__}.{_name}"] = _sys.modules[f"{__name__}.{_ours}"]
