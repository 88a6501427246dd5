"""The layers of einops over tensors: what `einops.layers.torch` is for PyTorch."""

from __future__ import annotations

from typing import Any

from einops.layers import RearrangeMixin, ReduceMixin
from einops.layers._einmix import _EinmixMixin

from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import init
from jaxaot.nn.made import blank
from jaxaot.nn.modules.module import Module


class Rearrange(RearrangeMixin, Module):
    """The layer of `einops.rearrange`: `Rearrange("b c h w -> b (c h w)")`."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply_recipe(input)


class Reduce(ReduceMixin, Module):
    """The layer of `einops.reduce`: `Reduce("b c h w -> b c", "mean")`."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply_recipe(input)


class EinMix(_EinmixMixin, Module):
    """A linear layer whose dims are named: `EinMix("b n c -> b n d", weight_shape="c d", bias_shape="d", c=8, d=4)`."""

    def _create_parameters(self, weight_shape: Any, weight_bound: float, bias_shape: Any, bias_bound: float) -> None:
        self.weight = blank(weight_shape, None, None)
        init.uniform_(self.weight, -weight_bound, weight_bound)
        self.register_parameter("bias", None if bias_shape is None else blank(bias_shape, None, None))
        if self.bias is not None:
            init.uniform_(self.bias, -bias_bound, bias_bound)

    def _create_rearrange_layers(self, before: str | None, its: Any, after: str | None, its_own: Any) -> None:
        self.pre_rearrange = None if before is None else Rearrange(before, **its)
        self.post_rearrange = None if after is None else Rearrange(after, **its_own)

    def forward(self, input: Tensor) -> Tensor:
        x = self.pre_rearrange(input) if self.pre_rearrange is not None else input
        x = FUNCTIONS[""]["einsum"](self.einsum_pattern, x, self.weight)
        x = x if self.bias is None else x + self.bias
        return self.post_rearrange(x) if self.post_rearrange is not None else x
