"""Layers and their configurations: how each is made, by PyTorch and by jaxaot alike, and what it is called with."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

RNG = np.random.default_rng(0)


@dataclasses.dataclass(frozen=True)
class Layer:
    """A configuration.

    Attributes:
      name: Of the test.
      make: Takes `torch.nn` or `ja.nn` to the layer.
      inputs: NumPy arrays, numbers and tuples of them.
      is_random: Whether its output is drawn, so that only evaluation mode is compared.
      is_quick: Whether the default tests compile it.
      tolerance: Of outputs and gradients.
    """

    name: str
    make: Callable[[Any], Any]
    inputs: tuple[Any, ...]
    is_random: bool = False
    is_quick: bool = False
    tolerance: float = 2e-5


def f(*shape):
    """Distinct floats, none on a kink."""
    n = int(np.prod(shape))
    return ((RNG.permutation(n).reshape(shape) - n / 2) / n * 3 + 0.013).astype(np.float32)


def u(*shape):
    return RNG.uniform(0.1, 0.9, shape).astype(np.float32)


def i(*shape, high=3):
    return RNG.integers(0, high, shape)


def sign(*shape):
    return RNG.integers(0, 2, shape) * 2 - 1


def mask(n):
    return np.triu(np.ones((n, n), bool), 1)


def build(name, make, *inputs, **options):
    return Layer(name, make, inputs, **options)


LAYERS = [
    build("identity", lambda nn: nn.Identity(3, x=1), f(2, 3)),
    build("linear", lambda nn: nn.Linear(4, 3), f(2, 5, 4), is_quick=True),
    build("linear-no-bias", lambda nn: nn.Linear(4, 3, bias=False), f(4)),
    build("bilinear", lambda nn: nn.Bilinear(3, 4, 2), f(5, 3), f(5, 4)),
    build("bilinear-no-bias", lambda nn: nn.Bilinear(3, 4, 2, bias=False), f(5, 3), f(5, 4)),
    build("conv1d", lambda nn: nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2), f(2, 4, 11)),
    build("conv1d-same", lambda nn: nn.Conv1d(2, 3, 4, padding="same"), f(2, 2, 9)),
    build("conv1d-circular", lambda nn: nn.Conv1d(2, 3, 3, padding=2, padding_mode="circular"), f(2, 2, 9)),
    build("conv2d", lambda nn: nn.Conv2d(3, 4, (3, 2), stride=(1, 2), padding=1), f(2, 3, 7, 8), is_quick=True),
    build(
        "conv2d-reflect",
        lambda nn: nn.Conv2d(2, 4, 3, padding="same", padding_mode="reflect", bias=False),
        f(1, 2, 6, 5),
    ),
    build("conv2d-one-image", lambda nn: nn.Conv2d(2, 2, 3, padding="valid", groups=2), f(2, 6, 5)),
    build("conv3d", lambda nn: nn.Conv3d(2, 3, 2, padding=(1, 0, 1), padding_mode="replicate"), f(1, 2, 4, 5, 3)),
    build(
        "conv-transpose1d",
        lambda nn: nn.ConvTranspose1d(4, 2, 3, stride=2, padding=1, output_padding=1, groups=2),
        f(2, 4, 5),
    ),
    build("conv-transpose2d", lambda nn: nn.ConvTranspose2d(3, 2, 3, stride=2, dilation=2, bias=False), f(2, 3, 4, 3)),
    build("conv-transpose3d", lambda nn: nn.ConvTranspose3d(2, 2, 2, stride=(1, 2, 1)), f(1, 2, 3, 2, 3)),
    build("max-pool1d", lambda nn: nn.MaxPool1d(3, 2, ceil_mode=True), f(2, 2, 8)),
    build("max-pool2d", lambda nn: nn.MaxPool2d(2), f(2, 3, 6, 7)),
    build("max-pool2d-padded", lambda nn: nn.MaxPool2d((3, 2), stride=1, padding=1, dilation=(1, 2)), f(2, 3, 6, 7)),
    build("max-pool3d", lambda nn: nn.MaxPool3d(2, stride=(1, 2, 1)), f(1, 2, 4, 4, 3)),
    build("avg-pool1d", lambda nn: nn.AvgPool1d(3, 2, 1), f(2, 2, 8)),
    build("avg-pool2d", lambda nn: nn.AvgPool2d(2, padding=1, count_include_pad=False), f(2, 3, 6, 7)),
    build("avg-pool3d", lambda nn: nn.AvgPool3d(2, divisor_override=3), f(1, 2, 4, 4, 3)),
    build("lp-pool1d", lambda nn: nn.LPPool1d(2, 3), u(2, 2, 8)),
    build("lp-pool2d", lambda nn: nn.LPPool2d(1.5, 2, stride=1, ceil_mode=True), u(2, 2, 5, 6)),
    build("adaptive-max-pool1d", lambda nn: nn.AdaptiveMaxPool1d(3), f(2, 2, 8)),
    build("adaptive-max-pool2d", lambda nn: nn.AdaptiveMaxPool2d((2, None)), f(2, 2, 5, 4)),
    build("adaptive-avg-pool1d", lambda nn: nn.AdaptiveAvgPool1d(3), f(2, 2, 8)),
    build("adaptive-avg-pool2d", lambda nn: nn.AdaptiveAvgPool2d((1, 1)), f(2, 2, 5, 4)),
    build("adaptive-avg-pool3d", lambda nn: nn.AdaptiveAvgPool3d(2), f(1, 2, 4, 5, 3)),
    build("circular-pad2d", lambda nn: nn.CircularPad2d((1, 2, 0, 1)), f(1, 2, 4, 5)),
    build("constant-pad1d", lambda nn: nn.ConstantPad1d(2, 1.5), f(1, 2, 4)),
    build("constant-pad3d", lambda nn: nn.ConstantPad3d((1, 0, 2, 1, 0, 1), -0.5), f(1, 2, 2, 3, 2)),
    build("reflection-pad1d", lambda nn: nn.ReflectionPad1d(2), f(2, 2, 5)),
    build("reflection-pad2d", lambda nn: nn.ReflectionPad2d(1), f(2, 2, 5, 4)),
    build("replication-pad2d", lambda nn: nn.ReplicationPad2d((1, 0, 2, 1)), f(2, 2, 5, 4)),
    build("replication-pad3d", lambda nn: nn.ReplicationPad3d(1), f(1, 2, 3, 3, 2)),
    build("zero-pad2d", lambda nn: nn.ZeroPad2d((1, -1, 2, 0)), f(2, 2, 5, 4)),
    *(
        build(name, lambda nn, name=name: getattr(nn, name)(), f(3, 4, 5))
        for name in (
            "ReLU",
            "Hardtanh",
            "ReLU6",
            "Sigmoid",
            "Tanh",
            "Hardsigmoid",
            "SiLU",
            "Mish",
            "Hardswish",
            "ELU",
            "CELU",
            "SELU",
            "GELU",
            "Hardshrink",
            "LeakyReLU",
            "LogSigmoid",
            "Softplus",
            "Softshrink",
            "PReLU",
            "Softsign",
            "Tanhshrink",
        )
    ),
    build("RReLU", lambda nn: nn.RReLU(0.1, 0.3), f(3, 4), is_random=True),
    build("hardtanh-bounds", lambda nn: nn.Hardtanh(-0.5, 0.25), f(3, 4)),
    build("threshold", lambda nn: nn.Threshold(0.1, 2.0), f(3, 4)),
    build("glu", lambda nn: nn.GLU(1), f(3, 4, 2)),
    build("gelu-tanh", lambda nn: nn.GELU(approximate="tanh"), f(3, 4)),
    build("prelu-channels", lambda nn: nn.PReLU(4, 0.1), f(3, 4, 2)),
    build("softmin", lambda nn: nn.Softmin(dim=1), f(3, 4)),
    build("softmax", lambda nn: nn.Softmax(dim=-1), f(3, 4)),
    build("softmax2d", lambda nn: nn.Softmax2d(), f(2, 3, 2, 2)),
    build("log-softmax", lambda nn: nn.LogSoftmax(dim=0), f(3, 4)),
    build("batch-norm1d", lambda nn: nn.BatchNorm1d(4), f(5, 4), is_quick=True, tolerance=1e-4),
    build("batch-norm1d-rows", lambda nn: nn.BatchNorm1d(3, momentum=None), f(4, 3, 5), is_quick=True, tolerance=1e-4),
    build("batch-norm2d", lambda nn: nn.BatchNorm2d(3, eps=1e-3, momentum=0.3), f(2, 3, 4, 5), tolerance=1e-4),
    build(
        "batch-norm2d-plain",
        lambda nn: nn.BatchNorm2d(3, affine=False, track_running_stats=False),
        f(2, 3, 4, 5),
        tolerance=1e-4,
    ),
    build("batch-norm3d", lambda nn: nn.BatchNorm3d(2, bias=False), f(2, 2, 3, 2, 2), tolerance=1e-4),
    build("instance-norm1d", lambda nn: nn.InstanceNorm1d(3, affine=True), f(2, 3, 5), tolerance=1e-4),
    build("instance-norm2d", lambda nn: nn.InstanceNorm2d(3, track_running_stats=True), f(2, 3, 4, 5), tolerance=1e-4),
    build("instance-norm2d-one", lambda nn: nn.InstanceNorm2d(3), f(3, 4, 5), tolerance=1e-4),
    build("instance-norm3d", lambda nn: nn.InstanceNorm3d(2), f(2, 2, 3, 2, 2), tolerance=1e-4),
    build("layer-norm", lambda nn: nn.LayerNorm(6), f(2, 3, 6), tolerance=1e-4),
    build("layer-norm-dims", lambda nn: nn.LayerNorm((3, 4), eps=1e-3, bias=False), f(2, 3, 4), tolerance=1e-4),
    build("layer-norm-plain", lambda nn: nn.LayerNorm([4], elementwise_affine=False), f(2, 4), tolerance=1e-4),
    build("rms-norm", lambda nn: nn.RMSNorm(6, eps=1e-5), f(2, 3, 6)),
    build("rms-norm-plain", lambda nn: nn.RMSNorm((2, 3), elementwise_affine=False), f(4, 2, 3)),
    build("group-norm", lambda nn: nn.GroupNorm(2, 6), f(2, 6, 5), tolerance=1e-4),
    build("group-norm-plain", lambda nn: nn.GroupNorm(3, 6, affine=False), f(2, 6, 5), tolerance=1e-4),
    build("local-response-norm", lambda nn: nn.LocalResponseNorm(2), u(2, 5, 3)),
    build("embedding", lambda nn: nn.Embedding(7, 3, padding_idx=-2), i(2, 5, high=7), is_quick=True),
    build("embedding-freq", lambda nn: nn.Embedding(5, 3, scale_grad_by_freq=True), i(2, 6, high=5)),
    build("embedding-bag", lambda nn: nn.EmbeddingBag(7, 3), i(4, 3, high=7)),
    build(
        "embedding-bag-sum",
        lambda nn: nn.EmbeddingBag(7, 3, mode="sum", padding_idx=1),
        i(10, high=7),
        np.array([0, 4, 7]),
    ),
    build("dropout", lambda nn: nn.Dropout(0.3), f(3, 4), is_random=True),
    build("dropout1d", lambda nn: nn.Dropout1d(), f(3, 4, 2), is_random=True),
    build("dropout2d", lambda nn: nn.Dropout2d(0.2), f(3, 4, 2, 2), is_random=True),
    build("alpha-dropout", lambda nn: nn.AlphaDropout(0.2), f(3, 4), is_random=True),
    build("flatten", lambda nn: nn.Flatten(), f(2, 3, 4)),
    build("unflatten", lambda nn: nn.Unflatten(1, (2, 3)), f(2, 6)),
    build("fold", lambda nn: nn.Fold((4, 5), (2, 2)), f(2, 8, 12)),
    build("unfold", lambda nn: nn.Unfold((2, 3), padding=1, stride=2), f(2, 2, 5, 6)),
    build("pixel-shuffle", lambda nn: nn.PixelShuffle(2), f(1, 8, 2, 3)),
    build("pixel-unshuffle", lambda nn: nn.PixelUnshuffle(2), f(1, 2, 4, 6)),
    build("channel-shuffle", lambda nn: nn.ChannelShuffle(2), f(1, 6, 2, 2)),
    build("upsample", lambda nn: nn.Upsample(scale_factor=2), f(1, 2, 3, 4)),
    build("upsample-bilinear", lambda nn: nn.Upsample(size=(5, 7), mode="bilinear", align_corners=True), f(1, 2, 3, 4)),
    build("upsampling-nearest2d", lambda nn: nn.UpsamplingNearest2d(scale_factor=2), f(1, 2, 3, 4)),
    build("upsampling-bilinear2d", lambda nn: nn.UpsamplingBilinear2d(size=(4, 6)), f(1, 2, 3, 4)),
    build("pairwise-distance", lambda nn: nn.PairwiseDistance(p=1, keepdim=True), f(3, 4), f(3, 4)),
    build("cosine-similarity", lambda nn: nn.CosineSimilarity(dim=1), f(3, 4), f(3, 4)),
    build("rnn", lambda nn: nn.RNN(3, 4), f(5, 2, 3)),
    build("rnn-relu", lambda nn: nn.RNN(3, 4, 2, nonlinearity="relu", bias=False, batch_first=True), f(2, 5, 3)),
    build("rnn-state", lambda nn: nn.RNN(3, 4, bidirectional=True), f(5, 2, 3), f(2, 2, 4)),
    build("lstm", lambda nn: nn.LSTM(3, 4), f(5, 2, 3), is_quick=True),
    build("lstm-deep", lambda nn: nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True), f(2, 5, 3)),
    build("lstm-state", lambda nn: nn.LSTM(3, 4), f(5, 3), (f(1, 4), f(1, 4))),
    build("lstm-projected", lambda nn: nn.LSTM(3, 5, 2, proj_size=2), f(4, 2, 3)),
    build("gru", lambda nn: nn.GRU(3, 4, 2, bidirectional=True), f(5, 2, 3)),
    build("gru-state", lambda nn: nn.GRU(3, 4, batch_first=True), f(2, 5, 3), f(1, 2, 4)),
    build("rnn-cell", lambda nn: nn.RNNCell(3, 4, nonlinearity="relu"), f(2, 3), f(2, 4)),
    build("lstm-cell", lambda nn: nn.LSTMCell(3, 4, bias=False), f(2, 3)),
    build("gru-cell", lambda nn: nn.GRUCell(3, 4), f(3), f(4)),
    build("attention", lambda nn: nn.MultiheadAttention(6, 2), f(4, 2, 6), f(5, 2, 6), f(5, 2, 6), is_quick=True),
    build(
        "attention-kv",
        lambda nn: nn.MultiheadAttention(6, 3, bias=False, kdim=4, vdim=5, batch_first=True),
        f(2, 4, 6),
        f(2, 5, 4),
        f(2, 5, 5),
    ),
    build(
        "attention-bias-kv",
        lambda nn: nn.MultiheadAttention(6, 2, add_bias_kv=True, add_zero_attn=True),
        f(4, 2, 6),
        f(5, 2, 6),
        f(5, 2, 6),
    ),
    build(
        "attention-masked",
        lambda nn: nn.MultiheadAttention(6, 2, batch_first=True),
        f(2, 4, 6),
        f(2, 4, 6),
        f(2, 4, 6),
        np.array([[0, 0, 0, 1], [0, 0, 0, 0]], bool),
        True,
        mask(4),
    ),
    build(
        "encoder-layer",
        lambda nn: nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0),
        f(4, 2, 6),
        mask(4),
        tolerance=1e-4,
    ),
    build(
        "encoder-layer-first",
        lambda nn: nn.TransformerEncoderLayer(6, 2, 8, 0.0, "gelu", batch_first=True, norm_first=True, bias=False),
        f(2, 4, 6),
        tolerance=1e-4,
    ),
    build(
        "decoder-layer",
        lambda nn: nn.TransformerDecoderLayer(6, 2, 8, 0.0),
        f(4, 2, 6),
        f(5, 2, 6),
        mask(4),
        tolerance=1e-4,
    ),
    build(
        "decoder-layer-first",
        lambda nn: nn.TransformerDecoderLayer(6, 2, 8, 0.0, norm_first=True, batch_first=True),
        f(2, 4, 6),
        f(2, 5, 6),
        tolerance=1e-4,
    ),
    build(
        "encoder",
        lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8, 0.0), 2, nn.LayerNorm(6)),
        f(4, 2, 6),
        tolerance=1e-4,
    ),
    build(
        "decoder",
        lambda nn: nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 8, 0.0), 2),
        f(4, 2, 6),
        f(5, 2, 6),
        tolerance=1e-4,
    ),
    build("transformer", lambda nn: nn.Transformer(6, 2, 1, 1, 8, 0.0), f(4, 2, 6), f(3, 2, 6), tolerance=1e-4),
    build(
        "sequential",
        lambda nn: nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 2)),
        f(6, 4),
        is_quick=True,
        tolerance=1e-4,
    ),
    *(
        build(name, lambda nn, name=name: getattr(nn, name)(), f(4, 3), f(4, 3))
        for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss")
    ),
    build("mse-none", lambda nn: nn.MSELoss(reduction="none"), f(4, 3), f(4, 3)),
    build("mse-old", lambda nn: nn.MSELoss(size_average=False), f(4, 3), f(4, 3)),
    build("nll", lambda nn: nn.NLLLoss(ignore_index=1), f(6, 3), i(6)),
    build("cross-entropy", lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1), f(6, 3), i(6), is_quick=True),
    build("cross-entropy-sum", lambda nn: nn.CrossEntropyLoss(reduction="sum"), f(6, 3), u(6, 3)),
    build("poisson-nll", lambda nn: nn.PoissonNLLLoss(full=True), f(4, 3), u(4, 3) * 5),
    build("gaussian-nll", lambda nn: nn.GaussianNLLLoss(full=True), f(4, 3), f(4, 3), u(4, 3)),
    build("kl-div", lambda nn: nn.KLDivLoss(reduction="batchmean", log_target=True), f(4, 3), f(4, 3)),
    build("bce", lambda nn: nn.BCELoss(), u(4, 3), u(4, 3)),
    build("bce-logits", lambda nn: nn.BCEWithLogitsLoss(), f(4, 3), u(4, 3)),
    build("hinge-embedding", lambda nn: nn.HingeEmbeddingLoss(margin=0.5), f(4, 3), sign(4, 3)),
    build("multilabel-margin", lambda nn: nn.MultiLabelMarginLoss(), f(2, 3), np.array([[2, 0, -1], [1, -1, 0]])),
    build("soft-margin", lambda nn: nn.SoftMarginLoss(), f(4, 3), sign(4, 3)),
    build("cosine-embedding", lambda nn: nn.CosineEmbeddingLoss(0.1), f(4, 3), f(4, 3), sign(4)),
    build("margin-ranking", lambda nn: nn.MarginRankingLoss(0.2), f(4), f(4), sign(4)),
    build(
        "multilabel-soft-margin", lambda nn: nn.MultiLabelSoftMarginLoss(), f(4, 3), i(4, 3, high=2).astype(np.float32)
    ),
    build("multi-margin", lambda nn: nn.MultiMarginLoss(p=2, margin=0.7), f(4, 3), i(4)),
    build("triplet", lambda nn: nn.TripletMarginLoss(swap=True), f(4, 3), f(4, 3), f(4, 3)),
    build("triplet-distance", lambda nn: nn.TripletMarginWithDistanceLoss(margin=0.5), f(4, 3), f(4, 3), f(4, 3)),
    build(
        "ctc", lambda nn: nn.CTCLoss(), f(6, 2, 4) - 2, i(2, 3) + 1, np.array([6, 5]), np.array([3, 2]), tolerance=1e-4
    ),
]
