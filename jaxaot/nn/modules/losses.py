"""Losses (`torch.nn`'s classes that end in `Loss`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar

from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.declared import Layer, buffer, options
from jaxaot.nn.made import check, reduced
from jaxaot.nn.modules.shapes import PairwiseDistance


class _Reduced(Layer):
    reduction: str

    def __post_init__(self, size_average: bool | None = None, reduce: bool | None = None) -> None:
        self.reduction = reduced(size_average, reduce, self.reduction)


@options()
class _Loss(_Reduced):
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@options()
class _WeightedLoss(_Reduced):
    weight: Tensor | None = buffer(default=None)
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@options()
class _ClassLoss(_Reduced):
    weight: Tensor | None = buffer(default=None)
    size_average: InitVar[bool | None] = None
    ignore_index: int = -100
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


@options()
class _PairLoss(_Reduced):
    margin: float = 0.0
    size_average: InitVar[bool | None] = None
    reduce: InitVar[bool | None] = None
    reduction: str = "mean"


class L1Loss(_Loss, op=functional.l1_loss):
    """The mean absolute difference."""


class MSELoss(_Loss, op=functional.mse_loss):
    """The mean squared difference."""


class NLLLoss(_ClassLoss, op=functional.nll_loss):
    """The negative log likelihood of classes."""


class NLLLoss2d(NLLLoss):
    """`NLLLoss`, by an older name."""


@options()
class CrossEntropyLoss(_ClassLoss, op=functional.cross_entropy):
    """The cross entropy of logits and classes, or of logits and probabilities."""

    label_smoothing: float = 0.0


@options()
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


@options(kw_only=True)
class GaussianNLLLoss(_Reduced, op=functional.gaussian_nll_loss):
    """The negative log likelihood of normal distributions."""

    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"


@options()
class KLDivLoss(_Loss, op=functional.kl_div):
    """The Kullback-Leibler divergence of log probabilities from a target."""

    log_target: bool = False


class BCELoss(_WeightedLoss, op=functional.binary_cross_entropy):
    """The cross entropy of probabilities of two classes."""


@options()
class BCEWithLogitsLoss(_WeightedLoss, op=functional.binary_cross_entropy_with_logits):
    """The cross entropy of logits of two classes."""

    pos_weight: Tensor | None = buffer(default=None)


@options()
class HingeEmbeddingLoss(_PairLoss, op=functional.hinge_embedding_loss):
    """`x` where the target is 1, `max(0, margin - x)` where it is -1."""

    margin: float = 1.0


class MultiLabelMarginLoss(_Loss, op=functional.multilabel_margin_loss):
    """The hinge loss of several classes each."""


@options()
class SmoothL1Loss(_Loss, op=functional.smooth_l1_loss):
    """Squared differences below `beta`, absolute ones above."""

    beta: float = 1.0


@options()
class HuberLoss(_Reduced, op=functional.huber_loss):
    """Squared differences below `delta`, absolute ones above, times `delta`."""

    reduction: str = "mean"
    delta: float = 1.0


class SoftMarginLoss(_Loss, op=functional.soft_margin_loss):
    """`log(1 + exp(-target * x))`."""


class CosineEmbeddingLoss(_PairLoss, op=functional.cosine_embedding_loss):
    """`1 - cos` of alike pairs, `max(0, cos - margin)` of others."""


class MarginRankingLoss(_PairLoss, op=functional.margin_ranking_loss):
    """`max(0, -target * (x1 - x2) + margin)`."""


class MultiLabelSoftMarginLoss(_WeightedLoss, op=functional.multilabel_soft_margin_loss):
    """The mean cross entropy of several classes each."""


@options()
class MultiMarginLoss(_Reduced, op=functional.multi_margin_loss):
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


@options()
class TripletMarginLoss(_Reduced, op=functional.triplet_margin_loss):
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


@options(kw_only=True)
class TripletMarginWithDistanceLoss(Layer, op=functional.triplet_margin_with_distance_loss):
    """The triplet loss for any distance."""

    distance_function: Callable[..., Tensor] | None = None
    margin: float = 1.0
    swap: bool = False
    reduction: str = "mean"

    def __post_init__(self) -> None:
        if self.distance_function is None:
            self.distance_function = PairwiseDistance()


@options()
class CTCLoss(Layer, op=functional.ctc_loss):
    """The loss of connectionist temporal classification."""

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False
