"""Transformers (`torch.nn.Transformer`, its encoder and its decoder)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from jaxaot._typing import DTypeLike
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional, init
from jaxaot.nn.made import check, empty
from jaxaot.nn.modules.attention import MultiheadAttention
from jaxaot.nn.modules.containers import ModuleList
from jaxaot.nn.modules.dropout import Dropout
from jaxaot.nn.modules.linear import Linear
from jaxaot.nn.modules.module import Module
from jaxaot.nn.modules.norms import LayerNorm

Activation = str | Callable[[Tensor], Tensor]


def _relu(x: Tensor) -> Tensor:
    return functional.relu(x)


def _gelu(x: Tensor) -> Tensor:
    return functional.gelu(x)


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    """Returns an activation; those of the op table as functions that pickle finds by their names."""
    if isinstance(activation, str):
        check(activation in ("relu", "gelu"), f"activation should be relu/gelu, not {activation}")
        return _relu if activation == "relu" else _gelu
    return _relu if activation is functional.relu else _gelu if activation is functional.gelu else activation


def _stack(module: Module, layer: Module, n: int, norm: Module | None) -> None:
    module.layers = ModuleList([copy.deepcopy(layer) for _ in range(n)])
    module.num_layers = n
    module.norm = norm


class _Layer(Module):
    """Attentions, then two linear layers; each with a residual and a norm."""

    _attentions: tuple[str, ...]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        places: Any = {"device": device, "dtype": dtype}
        numbers = range(1, len(self._attentions) + 2)
        for name in self._attentions:
            attention = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **places)
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **places)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **places)
        self.norm_first = norm_first
        for number in numbers:
            self.add_module(f"norm{number}", LayerNorm(d_model, layer_norm_eps, bias=bias, **places))
        for number in numbers:
            self.add_module(f"dropout{number}", Dropout(dropout))
        self.activation = _activation(activation)

    def _attended(self, x: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool) -> Tensor:
        return self.dropout1(self.self_attn(x, x, x, padding, False, mask, is_causal=is_causal)[0])

    def _fed(self, x: Tensor, dropout: Module) -> Tensor:
        return dropout(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Self-attention, then two linear layers; each with a residual and a norm."""

    _attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Returns a tensor of the shape of `src`; the masks are those of `MultiheadAttention`."""
        x = src
        if self.norm_first:
            x = x + self._attended(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._fed(self.norm2(x), self.dropout2)
        x = self.norm1(x + self._attended(x, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(x + self._fed(x, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory, then two linear layers; each with a residual and a norm."""

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Returns a tensor of the shape of `tgt`; the masks are those of `MultiheadAttention`."""
        x = tgt
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = x + self._attended(self.norm1(x), *own)
            x = x + self._recalled(self.norm2(x), memory, *other)
            return x + self._fed(self.norm3(x), self.dropout3)
        x = self.norm1(x + self._attended(x, *own))
        x = self.norm2(x + self._recalled(x, memory, *other))
        return self.norm3(x + self._fed(x, self.dropout3))

    def _recalled(
        self, x: Tensor, memory: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool
    ) -> Tensor:
        return self.dropout2(self.multihead_attn(x, memory, memory, padding, False, mask, is_causal=is_causal)[0])


class TransformerEncoder(Module):
    """Several copies of an encoder layer, one after the other."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        _stack(self, encoder_layer, num_layers, norm)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Returns a tensor of the shape of `src`; the masks are those of `MultiheadAttention`."""
        x = src
        for layer in self.layers:
            x = layer(x, mask, src_key_padding_mask, bool(is_causal))
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(Module):
    """Several copies of a decoder layer, one after the other."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        _stack(self, decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Returns a tensor of the shape of `tgt`; the masks are those of `MultiheadAttention`."""
        x, masks = tgt, (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        for layer in self.layers:
            x = layer(x, memory, *masks, bool(tgt_is_causal), memory_is_causal)
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """An encoder and a decoder."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first)
        options = (*options, bias, device, dtype)
        norm = lambda: LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, norm()
        )
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Returns a tensor of the shape of `tgt`; the masks are those of `MultiheadAttention`."""
        batch = 0 if self.batch_first else 1
        check(src.ndim != 3 or src.shape[batch] == tgt.shape[batch], "the batch number of src and tgt must be equal")
        check(
            src.shape[-1] == self.d_model and tgt.shape[-1] == self.d_model,
            "the feature number of src and tgt must be equal to d_model",
        )
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        return self.decoder(tgt, memory, *masks, tgt_is_causal, memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: object = None, dtype: DTypeLike | None = None) -> Tensor:
        """Returns the causal mask: minus infinity above the diagonal, else 0."""
        return empty((sz, sz), device, dtype).fill_(-math.inf).triu(1)
