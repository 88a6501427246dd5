"""Activations: functions of each element, and of the elements along a dim."""

from __future__ import annotations

from jaxaot._typing import DTypeLike
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.declared import Layer, options
from jaxaot.nn.init import constant_
from jaxaot.nn.made import blank, check
from jaxaot.nn.modules.module import Module
from jaxaot.nn.parameter import Parameter


@options()
class _InPlace(Layer, shown="inplace?"):
    inplace: bool = False


@options()
class _OfAlpha(Layer, shown="alpha inplace?"):
    alpha: float = 1.0
    inplace: bool = False


@options()
class _Shrink(Layer, shown="*lambd"):
    lambd: float = 0.5


@options()
class _AlongDim(Layer, shown="dim"):
    dim: int | None = None


class ReLU(_InPlace, op=functional.relu):
    """The rectified linear unit, `max(0, x)`."""


@options()
class RReLU(Layer, op=functional.rrelu, shown="lower upper inplace?"):
    """The leaky ReLU whose slope is drawn from [lower, upper] in training."""

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False


@options()
class Hardtanh(Layer, op=functional.hardtanh, shown="min_val max_val inplace?"):
    """`x` between two bounds."""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    def __post_init__(self) -> None:
        check(self.max_val > self.min_val, "max_val must be larger than min_val")


class ReLU6(Hardtanh, shown="inplace?"):
    """`min(max(0, x), 6)`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


@options()
class Threshold(Layer, op=functional.threshold, shown="threshold value inplace?"):
    """`x` where it is above a threshold, else a fixed value."""

    threshold: float
    value: float
    inplace: bool = False


class Sigmoid(Layer, op=functional.sigmoid):
    """`1 / (1 + exp(-x))`."""


class Tanh(Layer, op=functional.tanh):
    """The hyperbolic tangent."""


@options()
class Hardsigmoid(Layer, op=functional.hardsigmoid):
    """The sigmoid made of straight lines."""

    inplace: bool = False


class SiLU(_InPlace, op=functional.silu):
    """`x * sigmoid(x)`."""


class Mish(_InPlace, op=functional.mish):
    """`x * tanh(softplus(x))`."""


@options()
class Hardswish(Layer, op=functional.hardswish):
    """SiLU made of straight lines."""

    inplace: bool = False


class ELU(_OfAlpha, op=functional.elu):
    """`x` above zero, `alpha * (exp(x) - 1)` below."""


class CELU(_OfAlpha, op=functional.celu):
    """`x` above zero, `alpha * (exp(x / alpha) - 1)` below."""


class SELU(_InPlace, op=functional.selu):
    """The ELU that keeps mean and variance."""


@options()
class GLU(Layer, op=functional.glu, shown="dim"):
    """The gated linear unit: half of a dim times the sigmoid of the other half."""

    dim: int = -1


@options()
class GELU(Layer, op=functional.gelu, shown="approximate"):
    """`x` times the normal distribution function of `x`."""

    approximate: str = "none"


class Hardshrink(_Shrink, op=functional.hardshrink):
    """`x` outside of [-lambd, lambd], else zero."""


@options()
class LeakyReLU(Layer, op=functional.leaky_relu, shown="negative_slope inplace?"):
    """`x` above zero, `negative_slope * x` below."""

    negative_slope: float = 0.01
    inplace: bool = False


class LogSigmoid(Layer, op=functional.logsigmoid):
    """The logarithm of the sigmoid."""


@options()
class Softplus(Layer, op=functional.softplus, shown="beta threshold"):
    """`log(1 + exp(beta * x)) / beta`, a smooth ReLU."""

    beta: float = 1.0
    threshold: float = 20.0


class Softshrink(_Shrink, op=functional.softshrink):
    """`x` moved towards zero by `lambd`."""


class PReLU(Layer, op=functional.prelu, shown="num_parameters"):
    """The leaky ReLU whose slope is trained, one or one for each channel."""

    weight: Parameter

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: object = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = blank((num_parameters,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the slopes to where they start."""
        constant_(self.weight, self.init)


class Softsign(Layer, op=functional.softsign):
    """`x / (1 + |x|)`."""


class Tanhshrink(Layer, op=functional.tanhshrink):
    """`x - tanh(x)`."""


class Softmin(_AlongDim, op=functional.softmin):
    """The softmax of `-x` along a dim."""


class Softmax(_AlongDim, op=functional.softmax):
    """Numbers along a dim that are positive and add up to 1."""


class LogSoftmax(_AlongDim, op=functional.log_softmax):
    """The logarithm of the softmax along a dim."""


class Softmax2d(Module):
    """The softmax over the channels of images."""

    def forward(self, input: Tensor) -> Tensor:
        check(input.ndim in (3, 4), f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return functional.softmax(input, -3)
