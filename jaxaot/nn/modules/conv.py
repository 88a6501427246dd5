"""Convolutions under the name of PyTorch's file, for `isinstance(m, nn.modules.conv._ConvNd)`."""

from jaxaot.nn.modules.convolution import Conv1d as Conv1d
from jaxaot.nn.modules.convolution import Conv2d as Conv2d
from jaxaot.nn.modules.convolution import Conv3d as Conv3d
from jaxaot.nn.modules.convolution import ConvTranspose1d as ConvTranspose1d
from jaxaot.nn.modules.convolution import ConvTranspose2d as ConvTranspose2d
from jaxaot.nn.modules.convolution import ConvTranspose3d as ConvTranspose3d
from jaxaot.nn.modules.convolution import _Convolution as _ConvNd  # noqa: F401
from jaxaot.nn.modules.convolution import _Transposed as _ConvTransposeNd  # noqa: F401
