"""Losses (`torch.nn`'s classes that end in `Loss`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar

from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.declared import buffer, layer
from jaxaot.nn.made import check, reduced
from jaxaot.nn.modules.module import Module
from jaxaot.nn.modules.shapes import PairwiseDistance


class _Reduced(Module):
    reduction: str

    def __post_init__(self, size_average: bool | None = None, reduce: bool | None = None) -> None:
        self.reduction = reduced(size_average, reduce, self.reduction)


@layer()
class _Loss(_Reduced):
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@layer()
class _WeightedLoss(_Reduced):
    weight: Tensor | None = buffer(default=None)
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@layer()
class _PairLoss(_Reduced):
    margin: float = 0.0
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@layer(functional.l1_loss)
class L1Loss(_Loss):
    """The mean absolute difference."""


@layer(functional.mse_loss)
class MSELoss(_Loss):
    """The mean squared difference."""


@layer(functional.nll_loss)
class NLLLoss(_Reduced):
    """The negative log likelihood of classes."""

    weight: Tensor | None = buffer(default=None)
    size_average: InitVar[bool | None] = None
    ignore_index: int = -100
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


class NLLLoss2d(NLLLoss):
    """`NLLLoss`, by an older name."""


@layer(functional.cross_entropy)
class CrossEntropyLoss(_Reduced):
    """The cross entropy of logits and classes, or of logits and probabilities."""

    weight: Tensor | None = buffer(default=None)
    size_average: InitVar[bool | None] = None
    ignore_index: int = -100
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    label_smoothing: float = 0.0


@layer()
class PoissonNLLLoss(_Reduced):
    """The negative log likelihood of a Poisson distribution."""

    log_input: bool = True
    full: bool = False
    size_average: InitVar[bool | None] = None
    eps: float = 1e-8
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return functional.poisson_nll_loss(
            log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction
        )


@layer(functional.gaussian_nll_loss, kw_only=True)
class GaussianNLLLoss(_Reduced):
    """The negative log likelihood of normal distributions."""

    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"


@layer(functional.kl_div)
class KLDivLoss(_Reduced):
    """The Kullback-Leibler divergence of log probabilities from a target."""

    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    log_target: bool = False


@layer(functional.binary_cross_entropy)
class BCELoss(_WeightedLoss):
    """The cross entropy of probabilities of two classes."""


@layer(functional.binary_cross_entropy_with_logits)
class BCEWithLogitsLoss(_Reduced):
    """The cross entropy of logits of two classes."""

    weight: Tensor | None = buffer(default=None)
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    pos_weight: Tensor | None = buffer(default=None)


@layer(functional.hinge_embedding_loss)
class HingeEmbeddingLoss(_Reduced):
    """`x` where the target is 1, `max(0, margin - x)` where it is -1."""

    margin: float = 1.0
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@layer(functional.multilabel_margin_loss)
class MultiLabelMarginLoss(_Loss):
    """The hinge loss of several classes each."""


@layer(functional.smooth_l1_loss)
class SmoothL1Loss(_Reduced):
    """Squared differences below `beta`, absolute ones above."""

    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"
    beta: float = 1.0


@layer(functional.huber_loss)
class HuberLoss(_Reduced):
    """Squared differences below `delta`, absolute ones above, times `delta`."""

    reduction: str = "mean"
    delta: float = 1.0


@layer(functional.soft_margin_loss)
class SoftMarginLoss(_Loss):
    """`log(1 + exp(-target * x))`."""


@layer(functional.cosine_embedding_loss)
class CosineEmbeddingLoss(_PairLoss):
    """`1 - cos` of alike pairs, `max(0, cos - margin)` of others."""


@layer(functional.margin_ranking_loss)
class MarginRankingLoss(_PairLoss):
    """`max(0, -target * (x1 - x2) + margin)`."""


@layer(functional.multilabel_soft_margin_loss)
class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean cross entropy of several classes each."""


@layer(functional.multi_margin_loss)
class MultiMarginLoss(_Reduced):
    """The hinge loss of one class of several."""

    p: int = 1
    margin: float = 1.0
    weight: Tensor | None = buffer(default=None)
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def __post_init__(self, size_average: bool | None = None, reduce: bool | None = None) -> None:
        super().__post_init__(size_average, reduce)
        check(self.p in (1, 2), "only p == 1 and p == 2 supported")


@layer(functional.triplet_margin_loss)
class TripletMarginLoss(_Reduced):
    """`max(0, d(anchor, positive) - d(anchor, negative) + margin)`."""

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"

    def __post_init__(self, size_average: bool | None = None, reduce: bool | None = None) -> None:
        super().__post_init__(size_average, reduce)
        margin = self.margin
        check(margin > 0, f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")


@layer(functional.triplet_margin_with_distance_loss, kw_only=True)
class TripletMarginWithDistanceLoss(Module):
    """The triplet loss for any distance."""

    distance_function: Callable[..., Tensor] | None = None
    margin: float = 1.0
    swap: bool = False
    reduction: str = "mean"

    def __post_init__(self) -> None:
        if self.distance_function is None:
            self.distance_function = PairwiseDistance()


@layer(functional.ctc_loss)
class CTCLoss(Module):
    """The loss of connectionist temporal classification."""

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False
