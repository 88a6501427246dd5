"""Activations: functions of each element, and of the elements along a dim."""

from __future__ import annotations

from jaxaot._typing import DTypeLike
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.declared import layer
from jaxaot.nn.init import constant_
from jaxaot.nn.made import blank, check
from jaxaot.nn.modules.module import Module


@layer(shown="inplace?")
class _InPlace(Module):
    inplace: bool = False


@layer(shown="alpha inplace?")
class _OfAlpha(Module):
    alpha: float = 1.0
    inplace: bool = False


@layer()
class _Shrink(Module):
    lambd: float = 0.5

    def extra_repr(self) -> str:
        return f"{self.lambd}"


@layer(shown="dim")
class _AlongDim(Module):
    dim: int | None = None


@layer(functional.relu)
class ReLU(_InPlace):
    """The rectified linear unit, `max(0, x)`."""


@layer(functional.rrelu, "lower upper inplace?")
class RReLU(Module):
    """The leaky ReLU whose slope is drawn from [lower, upper] in training."""

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False


@layer(functional.hardtanh, "min_val max_val inplace?")
class Hardtanh(Module):
    """`x` between two bounds."""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    def __post_init__(self) -> None:
        check(self.max_val > self.min_val, "max_val must be larger than min_val")


@layer(shown="inplace?")
class ReLU6(Hardtanh):
    """`min(max(0, x), 6)`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


@layer(functional.threshold, "threshold value inplace?")
class Threshold(Module):
    """`x` where it is above a threshold, else a fixed value."""

    threshold: float
    value: float
    inplace: bool = False


@layer(functional.sigmoid)
class Sigmoid(Module):
    """`1 / (1 + exp(-x))`."""


@layer(functional.tanh)
class Tanh(Module):
    """The hyperbolic tangent."""


@layer(functional.hardsigmoid)
class Hardsigmoid(Module):
    """The sigmoid made of straight lines."""

    inplace: bool = False


@layer(functional.silu)
class SiLU(_InPlace):
    """`x * sigmoid(x)`."""


@layer(functional.mish)
class Mish(_InPlace):
    """`x * tanh(softplus(x))`."""


@layer(functional.hardswish)
class Hardswish(Module):
    """SiLU made of straight lines."""

    inplace: bool = False


@layer(functional.elu)
class ELU(_OfAlpha):
    """`x` above zero, `alpha * (exp(x) - 1)` below."""


@layer(functional.celu)
class CELU(_OfAlpha):
    """`x` above zero, `alpha * (exp(x / alpha) - 1)` below."""


@layer(functional.selu)
class SELU(_InPlace):
    """The ELU that keeps mean and variance."""


@layer(functional.glu, "dim")
class GLU(Module):
    """The gated linear unit: half of a dim times the sigmoid of the other half."""

    dim: int = -1


@layer(functional.gelu, "approximate")
class GELU(Module):
    """`x` times the normal distribution function of `x`."""

    approximate: str = "none"


@layer(functional.hardshrink)
class Hardshrink(_Shrink):
    """`x` outside of [-lambd, lambd], else zero."""


@layer(functional.leaky_relu, "negative_slope inplace?")
class LeakyReLU(Module):
    """`x` above zero, `negative_slope * x` below."""

    negative_slope: float = 0.01
    inplace: bool = False


@layer(functional.logsigmoid)
class LogSigmoid(Module):
    """The logarithm of the sigmoid."""


@layer(functional.softplus, "beta threshold")
class Softplus(Module):
    """`log(1 + exp(beta * x)) / beta`, a smooth ReLU."""

    beta: float = 1.0
    threshold: float = 20.0


@layer(functional.softshrink)
class Softshrink(_Shrink):
    """`x` moved towards zero by `lambd`."""


class PReLU(Module):
    """The leaky ReLU whose slope is trained, one or one for each channel."""

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

    def forward(self, input: Tensor) -> Tensor:
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


@layer(functional.softsign)
class Softsign(Module):
    """`x / (1 + |x|)`."""


@layer(functional.tanhshrink)
class Tanhshrink(Module):
    """`x - tanh(x)`."""


@layer(functional.softmin)
class Softmin(_AlongDim):
    """The softmax of `-x` along a dim."""


@layer(functional.softmax)
class Softmax(_AlongDim):
    """Numbers along a dim that are positive and add up to 1."""


@layer(functional.log_softmax)
class LogSoftmax(_AlongDim):
    """The logarithm of the softmax along a dim."""


class Softmax2d(Module):
    """The softmax over the channels of images."""

    def forward(self, input: Tensor) -> Tensor:
        check(input.ndim in (3, 4), f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return functional.softmax(input, -3)
