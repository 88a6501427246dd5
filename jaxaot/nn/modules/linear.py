"""Linear layers (`torch.nn.Linear` and its kin)."""

from __future__ import annotations

import math
from typing import Any

from jaxaot._typing import DTypeLike
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional, init
from jaxaot.nn.declared import Layer
from jaxaot.nn.made import blank, check
from jaxaot.nn.modules.module import Module
from jaxaot.nn.parameter import Parameter


class Identity(Module):
    """Returns its input; takes any arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Returns the input."""
        return input


class Linear(Layer, shown="in_features out_features bias!"):
    """`input @ weight.T + bias`, for a last dim of `in_features`."""

    in_features: int
    out_features: int
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = blank((out_features, in_features), device, dtype)
        self.register_parameter("bias", blank((out_features,), device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Returns a tensor with a last dim of `out_features`."""
        return functional.linear(input, self.weight, self.bias)


class Bilinear(Layer, shown="in1_features in2_features out_features bias!"):
    """`input1 @ weight @ input2 + bias`, for two inputs."""

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        check(in1_features > 0, f"in1_features must be > 0, but got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = blank((out_features, in1_features, in2_features), device, dtype)
        self.register_parameter("bias", blank((out_features,), device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Returns a tensor with a last dim of `out_features`."""
        return functional.bilinear(input1, input2, self.weight, self.bias)
