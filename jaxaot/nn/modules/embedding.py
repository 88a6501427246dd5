"""Embeddings: rows of a table (`torch.nn.Embedding`, `torch.nn.EmbeddingBag`)."""

from __future__ import annotations

from typing import Self

from jaxaot._typing import DTypeLike
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional, init
from jaxaot.nn.made import arguments, blank, changed, check
from jaxaot.nn.modules.module import Module
from jaxaot.nn.parameter import Parameter


class _Table(Module):
    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        max_norm: float | None,
        norm_type: float,
        scale_grad_by_freq: bool,
        sparse: bool,
        _weight: Tensor | None,
        device: object,
        dtype: DTypeLike | None,
        _freeze: bool = False,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            check(-num_embeddings <= padding_idx < num_embeddings, "Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            self.weight = blank((num_embeddings, embedding_dim), device, dtype)
            self.weight.requires_grad_(not _freeze)
            self.reset_parameters()
        else:
            check(
                tuple(_weight.shape) == (num_embeddings, embedding_dim),
                "Shape of weight does not match num_embeddings and embedding_dim",
            )
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draws the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])


class Embedding(_Table):
    """Rows of a table, by their numbers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(**arguments(locals()))

    def forward(self, input: Tensor) -> Tensor:
        """Returns for each number in `input` its row, along a dim at the end."""
        return functional.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """Returns an embedding with a table that there is; frozen, unless `freeze=False`."""
        check(embeddings.ndim == 2, "Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)

    def extra_repr(self) -> str:
        plain = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        return f"{self.num_embeddings}, {self.embedding_dim}" + changed(self, plain)


class EmbeddingBag(_Table):
    """Sums, means or maxima of rows of a table."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        options = arguments(locals())
        del options["mode"], options["include_last_offset"]
        super().__init__(**options)
        self.mode = mode
        self.include_last_offset = include_last_offset

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """Returns one row for each bag: each row of a matrix of numbers, or what begins at each offset."""
        return functional.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """Returns bags over a table that there is; frozen, unless `freeze=False`."""
        check(embeddings.ndim == 2, "Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        options = max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset, padding_idx
        made = cls(rows, columns, *options)
        made.weight.requires_grad_(not freeze)
        return made

    def extra_repr(self) -> str:
        text = changed(self, {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False})
        text += f", mode={self.mode!r}" + changed(self, {"padding_idx": None})
        return f"{self.num_embeddings}, {self.embedding_dim}{text}"
