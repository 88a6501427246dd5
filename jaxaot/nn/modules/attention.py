"""Attention with several heads (`torch.nn.MultiheadAttention`)."""

from __future__ import annotations

from jaxaot._typing import DTypeLike
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional, init
from jaxaot.nn.made import blank, check
from jaxaot.nn.modules.linear import Linear
from jaxaot.nn.modules.module import Module
from jaxaot.nn.parameter import Parameter


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear`, by the name that PyTorch gives the output projection of an attention."""


class MultiheadAttention(Module):
    """Scaled dot product attention of several heads, with projections of query, key, value and output.

    Inputs are (length, batch, features), or (batch, length, features) with `batch_first`.
    """

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        check(
            embed_dim > 0 and num_heads > 0,
            f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
            "instead",
        )
        check(embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads")
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self.add_zero_attn = add_zero_attn
        is_one = self._qkv_same_embed_dim
        for name, size in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
            weight = None if is_one else blank((embed_dim, size), device, dtype)
            self.register_parameter(f"{name}_proj_weight", weight)
        self.register_parameter("in_proj_weight", blank((3 * embed_dim, embed_dim), device, dtype) if is_one else None)
        self.register_parameter("in_proj_bias", blank((3 * embed_dim,), device, dtype) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, blank((1, 1, embed_dim), device, dtype) if add_bias_kv else None)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Returns the output, and the attention weights unless `need_weights=False`.

        Args:
          query: What is asked, (length, batch, embed_dim) or (length, embed_dim).
          key: What is compared with it.
          value: What is averaged.
          key_padding_mask: (batch, key length), True where a key is left out, or a float that is added.
          need_weights: Whether the weights are returned.
          attn_mask: (length, key length) or (batch · heads, length, key length), as `key_padding_mask`.
          average_attn_weights: Whether the weights are means over the heads.
          is_causal: Says that `attn_mask` is the causal mask.
        """
        swaps = self.batch_first and query.ndim == 3
        if swaps:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        output, weights = functional.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(0, 1) if swaps else output), weights
