"""Batch norms under the name of PyTorch's file, for `isinstance(m, nn.modules.batchnorm._BatchNorm)`."""

from jaxaot.nn.modules.norms import BatchNorm1d as BatchNorm1d
from jaxaot.nn.modules.norms import BatchNorm2d as BatchNorm2d
from jaxaot.nn.modules.norms import BatchNorm3d as BatchNorm3d
from jaxaot.nn.modules.norms import _BatchNorm as _BatchNorm
from jaxaot.nn.modules.norms import _NormOfStatistics as _NormBase  # noqa: F401
