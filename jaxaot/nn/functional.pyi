"""The functions of networks (`torch.nn.functional`)."""

# Written by tools/stubs.py from the op table. Edit that, or the rows, and run it again.

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, overload

import jax
import numpy as _np

from jaxaot.facade.arguments import (
    Device,
    DTypeLike,
    Floats,
    Ints,
    Operand,
    TensorLike,
    _bool,
    _complex,
    _float,
    _int,
    _str,
)
from jaxaot.facade.tensor import Tensor
from jaxaot.nn.by_hand import one_hot as one_hot
from jaxaot.nn.by_hand import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss

def adaptive_avg_pool1d(input: Operand, output_size: Ints) -> Tensor:
    """adaptive_avg_pool1d(Tensor input, Any output_size) -> Tensor"""

def adaptive_avg_pool2d(input: Operand, output_size: Ints) -> Tensor:
    """adaptive_avg_pool2d(Tensor input, Any output_size) -> Tensor"""

def adaptive_avg_pool3d(input: Operand, output_size: Ints) -> Tensor:
    """adaptive_avg_pool3d(Tensor input, Any output_size) -> Tensor"""

@overload
def adaptive_max_pool1d(input: Operand, output_size: Ints, return_indices: Literal[False] = False) -> Tensor:
    """adaptive_max_pool1d(Tensor input, Any output_size) -> Tensor"""
@overload
def adaptive_max_pool1d(
    input: Operand,
    output_size: Ints,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...

def adaptive_max_pool1d_with_indices(
    input: Operand,
    output_size: Ints,
    return_indices: _bool = False,
) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool1d_with_indices(Tensor input, Any output_size, bool return_indices=False) -> (Tensor, Tensor)"""

@overload
def adaptive_max_pool2d(input: Operand, output_size: Ints, return_indices: Literal[False] = False) -> Tensor:
    """adaptive_max_pool2d(Tensor input, Any output_size) -> Tensor"""
@overload
def adaptive_max_pool2d(
    input: Operand,
    output_size: Ints,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...

def adaptive_max_pool2d_with_indices(
    input: Operand,
    output_size: Ints,
    return_indices: _bool = False,
) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool2d_with_indices(Tensor input, Any output_size, bool return_indices=False) -> (Tensor, Tensor)"""

@overload
def adaptive_max_pool3d(input: Operand, output_size: Ints, return_indices: Literal[False] = False) -> Tensor:
    """adaptive_max_pool3d(Tensor input, Any output_size) -> Tensor"""
@overload
def adaptive_max_pool3d(
    input: Operand,
    output_size: Ints,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...

def adaptive_max_pool3d_with_indices(
    input: Operand,
    output_size: Ints,
    return_indices: _bool = False,
) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool3d_with_indices(Tensor input, Any output_size, bool return_indices=False) -> (Tensor, Tensor)"""

def affine_grid(theta: Operand, size: Ints, align_corners: _bool | None = None) -> Tensor:
    """affine_grid(Tensor theta, int[] size, bool? align_corners=None) -> Tensor

    Returns where each element of a result of `size` (batch, channels, …) lies in the input, for maps `theta`.
    """

def alpha_dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = False,
    *,
    out: Tensor | None = None,
    inplace: _bool = False,
) -> Tensor:
    """alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor"""

def alpha_dropout_(input: Operand, p: _float = 0.5, training: _bool = False) -> Tensor:
    """In-place form of `alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor`."""

def avg_pool1d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor:
    """avg_pool1d(Tensor input, Any kernel_size, Any stride=None, Any padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor"""

def avg_pool2d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """avg_pool2d(Tensor input, Any kernel_size, Any stride=None, Any padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"""

def avg_pool3d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """avg_pool3d(Tensor input, Any kernel_size, Any stride=None, Any padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"""

def batch_norm(
    input: Operand,
    running_mean: Operand | None,
    running_var: Operand | None,
    weight: Operand | None = None,
    bias: Operand | None = None,
    training: _bool = False,
    momentum: _float = 0.1,
    eps: _float = 1e-05,
) -> Tensor:
    """batch_norm(Tensor input, Tensor(a!)? running_mean, Tensor(a!)? running_var, Tensor? weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor"""

def bilinear(
    input1: Operand,
    input2: Operand,
    weight: Operand,
    bias: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor"""

def binary_cross_entropy(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, Any size_average=None, Any reduce=None, str reduction='mean') -> Tensor"""

def binary_cross_entropy_with_logits(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    pos_weight: Operand | None = None,
) -> Tensor:
    """binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, Any size_average=None, Any reduce=None, str reduction='mean', Tensor? pos_weight=None) -> Tensor"""

def celu(input: Operand, alpha: _float = 1.0, *, inplace: _bool = False) -> Tensor:
    """celu(Tensor input, float alpha=1.0) -> Tensor"""

def celu_(input: Operand, alpha: _float = 1.0) -> Tensor:
    """In-place form of `celu(Tensor input, float alpha=1.0) -> Tensor`."""

def channel_shuffle(input: Operand, groups: _int, *, out: Tensor | None = None) -> Tensor:
    """channel_shuffle(Tensor input, int groups) -> Tensor"""

def conv1d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    groups: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """conv1d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any dilation=1, int groups=1) -> Tensor"""

def conv2d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    groups: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """conv2d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any dilation=1, int groups=1) -> Tensor"""

def conv3d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    groups: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """conv3d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any dilation=1, int groups=1) -> Tensor"""

def conv_transpose1d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    output_padding: Ints = 0,
    groups: _int = 1,
    dilation: Ints = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any output_padding=0, int groups=1, Any dilation=1) -> Tensor"""

def conv_transpose2d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    output_padding: Ints = 0,
    groups: _int = 1,
    dilation: Ints = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """conv_transpose2d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any output_padding=0, int groups=1, Any dilation=1) -> Tensor"""

def conv_transpose3d(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | _str = 0,
    output_padding: Ints = 0,
    groups: _int = 1,
    dilation: Ints = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """conv_transpose3d(Tensor input, Tensor weight, Tensor? bias=None, Any stride=1, Any padding=0, Any output_padding=0, int groups=1, Any dilation=1) -> Tensor"""

def cosine_embedding_loss(
    input1: Operand,
    input2: Operand,
    target: Operand,
    margin: _float = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, Any size_average=None, Any reduce=None, str reduction='mean') -> Tensor"""

def cosine_similarity(
    x1: Operand,
    x2: Operand,
    dim: _int = 1,
    eps: _float = 1e-08,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor"""

def cross_entropy(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    label_smoothing: _float = 0.0,
) -> Tensor:
    """cross_entropy(Tensor input, Tensor target, Tensor? weight=None, Any size_average=None, int ignore_index=-100, Any reduce=None, str reduction='mean', float label_smoothing=0.0) -> Tensor"""

@overload
def ctc_loss(
    log_probs: Operand,
    targets: Operand,
    input_lengths: Operand,
    target_lengths: Operand,
    blank: _int = 0,
    reduction: _str = 'mean',
    zero_infinity: _bool = False,
) -> Tensor:
    """ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, str reduction='mean', bool zero_infinity=False) -> Tensor
    ctc_loss_of_lengths(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, str reduction='mean', bool zero_infinity=False) -> Tensor
    """
@overload
def ctc_loss(
    log_probs: Operand,
    targets: Operand,
    input_lengths: Ints,
    target_lengths: Ints,
    blank: _int = 0,
    reduction: _str = 'mean',
    zero_infinity: _bool = False,
) -> Tensor: ...

def dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = True,
    *,
    out: Tensor | None = None,
    inplace: _bool = False,
) -> Tensor:
    """dropout(Tensor input, float p=0.5, bool training=True) -> Tensor"""

def dropout1d(input: Operand, p: _float = 0.5, training: _bool = True, *, inplace: _bool = False) -> Tensor:
    """dropout1d(Tensor input, float p=0.5, bool training=True) -> Tensor"""

def dropout1d_(input: Operand, p: _float = 0.5, training: _bool = True) -> Tensor:
    """In-place form of `dropout1d(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

def dropout2d(input: Operand, p: _float = 0.5, training: _bool = True, *, inplace: _bool = False) -> Tensor:
    """dropout2d(Tensor input, float p=0.5, bool training=True) -> Tensor

    Three dims are (N, C, L), not (C, H, W).
    """

def dropout2d_(input: Operand, p: _float = 0.5, training: _bool = True) -> Tensor:
    """In-place form of `dropout2d(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

def dropout3d(input: Operand, p: _float = 0.5, training: _bool = True, *, inplace: _bool = False) -> Tensor:
    """dropout3d(Tensor input, float p=0.5, bool training=True) -> Tensor"""

def dropout3d_(input: Operand, p: _float = 0.5, training: _bool = True) -> Tensor:
    """In-place form of `dropout3d(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

def dropout_(input: Operand, p: _float = 0.5, training: _bool = True) -> Tensor:
    """In-place form of `dropout(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

def elu(input: Operand, alpha: _float = 1.0, *, inplace: _bool = False) -> Tensor:
    """elu(Tensor input, float alpha=1.0) -> Tensor"""

def elu_(input: Operand, alpha: _float = 1.0) -> Tensor:
    """In-place form of `elu(Tensor input, float alpha=1.0) -> Tensor`."""

def embedding(
    input: Operand,
    weight: Operand,
    padding_idx: _int | None = None,
    max_norm: _float | None = None,
    norm_type: _float = 2.0,
    scale_grad_by_freq: _bool = False,
    sparse: _bool = False,
) -> Tensor:
    """embedding(Tensor input, Tensor(a!) weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor

    Returns rows of `weight`, of which those used are shortened in place to `max_norm` where that is given.

    Gradients are dense, whatever `sparse` says.
    """

def embedding_bag(
    input: Operand,
    weight: Operand,
    offsets: Operand | None = None,
    max_norm: _float | None = None,
    norm_type: _float = 2,
    scale_grad_by_freq: _bool = False,
    mode: _str = 'mean',
    sparse: _bool = False,
    per_sample_weights: Operand | None = None,
    include_last_offset: _bool = False,
    padding_idx: _int | None = None,
) -> Tensor:
    """embedding_bag(Tensor input, Tensor(a!) weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2, bool scale_grad_by_freq=False, str mode='mean', bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> Tensor

    Returns sums, means or largest elements of bags of rows of `weight`; rows at `padding_idx` do not count.
    """

def feature_alpha_dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = False,
    *,
    out: Tensor | None = None,
    inplace: _bool = False,
) -> Tensor:
    """feature_alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor

    One decision for each channel.
    """

def feature_alpha_dropout_(input: Operand, p: _float = 0.5, training: _bool = False) -> Tensor:
    """In-place form of `feature_alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor`."""

def feature_dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = True,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """feature_dropout(Tensor input, float p=0.5, bool training=True) -> Tensor

    One decision for each channel.
    """

def feature_dropout_(input: Operand, p: _float = 0.5, training: _bool = True) -> Tensor:
    """In-place form of `feature_dropout(Tensor input, float p=0.5, bool training=True) -> Tensor`."""

def fold(
    input: Operand,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints | _str = 0,
    stride: Ints = 1,
) -> Tensor:
    """fold(Tensor input, Any output_size, Any kernel_size, Any dilation=1, Any padding=0, Any stride=1) -> Tensor

    Returns images that are sums of patches: the transpose of `unfold`.
    """

@overload
def fractional_max_pool2d(
    input: Operand,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Floats | None = None,
    return_indices: Literal[False] = False,
    _random_samples: Operand | None = None,
) -> Tensor:
    """fractional_max_pool2d(Tensor input, Any kernel_size, Any output_size=None, Any output_ratio=None, Tensor? _random_samples=None) -> Tensor"""
@overload
def fractional_max_pool2d(
    input: Operand,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Floats | None = None,
    _random_samples: Operand | None = None,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...

def fractional_max_pool2d_with_indices(
    input: Operand,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Floats | None = None,
    return_indices: _bool = False,
    _random_samples: Operand | None = None,
) -> tuple[Tensor, Tensor]:
    """fractional_max_pool2d_with_indices(Tensor input, Any kernel_size, Any output_size=None, Any output_ratio=None, bool return_indices=False, Tensor? _random_samples=None) -> (Tensor, Tensor)"""

@overload
def fractional_max_pool3d(
    input: Operand,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Floats | None = None,
    return_indices: Literal[False] = False,
    _random_samples: Operand | None = None,
) -> Tensor:
    """fractional_max_pool3d(Tensor input, Any kernel_size, Any output_size=None, Any output_ratio=None, Tensor? _random_samples=None) -> Tensor"""
@overload
def fractional_max_pool3d(
    input: Operand,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Floats | None = None,
    _random_samples: Operand | None = None,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...

def fractional_max_pool3d_with_indices(
    input: Operand,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Floats | None = None,
    return_indices: _bool = False,
    _random_samples: Operand | None = None,
) -> tuple[Tensor, Tensor]:
    """fractional_max_pool3d_with_indices(Tensor input, Any kernel_size, Any output_size=None, Any output_ratio=None, bool return_indices=False, Tensor? _random_samples=None) -> (Tensor, Tensor)"""

def gaussian_nll_loss(
    input: Operand,
    target: Operand,
    var: Operand,
    full: _bool = False,
    eps: _float = 1e-06,
    reduction: _str = 'mean',
) -> Tensor:
    """gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-06, str reduction='mean') -> Tensor"""

def gelu(input: Operand, approximate: _str = 'none', *, out: Tensor | None = None) -> Tensor:
    """gelu(Tensor input, str approximate='none') -> Tensor"""

def glu(input: Operand, dim: _int = -1, *, axis: _int = ...) -> Tensor:
    """glu(Tensor input, int dim=-1) -> Tensor"""

def grid_sample(
    input: Operand,
    grid: Operand,
    mode: _str = 'bilinear',
    padding_mode: _str = 'zeros',
    align_corners: _bool | None = None,
) -> Tensor:
    """grid_sample(Tensor input, Tensor grid, str mode='bilinear', str padding_mode='zeros', bool? align_corners=None) -> Tensor"""

def group_norm(
    input: Operand,
    num_groups: _int,
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: _float = 1e-05,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor"""

def gumbel_softmax(
    logits: Operand,
    tau: _float = 1,
    hard: _bool = False,
    eps: _float = 1e-10,
    dim: _int = -1,
    *,
    axis: _int = ...,
) -> Tensor:
    """gumbel_softmax(Tensor logits, float tau=1, bool hard=False, float eps=1e-10, int dim=-1) -> Tensor"""

def hardshrink(input: Operand, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """hardshrink(Tensor input, float lambd=0.5) -> Tensor"""

def hardsigmoid(input: Operand, *, inplace: _bool = False) -> Tensor:
    """hardsigmoid(Tensor input) -> Tensor"""

def hardswish(input: Operand, *, inplace: _bool = False) -> Tensor:
    """hardswish(Tensor input) -> Tensor"""

def hardtanh(input: Operand, min_val: _float = -1.0, max_val: _float = 1.0, *, inplace: _bool = False) -> Tensor:
    """hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0) -> Tensor"""

def hardtanh_(input: Operand, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor:
    """In-place form of `hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0) -> Tensor`."""

def hinge_embedding_loss(
    input: Operand,
    target: Operand,
    margin: _float = 1.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, Any size_average=None, Any reduce=None, str reduction='mean') -> Tensor"""

def huber_loss(
    input: Operand,
    target: Operand,
    reduction: _str = 'mean',
    delta: _float = 1.0,
    weight: Operand | None = None,
) -> Tensor:
    """huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, Tensor? weight=None) -> Tensor"""

def instance_norm(
    input: Operand,
    running_mean: Operand | None = None,
    running_var: Operand | None = None,
    weight: Operand | None = None,
    bias: Operand | None = None,
    use_input_stats: _bool = True,
    momentum: _float = 0.1,
    eps: _float = 1e-05,
) -> Tensor:
    """instance_norm(Tensor input, Tensor(a!)? running_mean=None, Tensor(a!)? running_var=None, Tensor? weight=None, Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> Tensor"""

def interpolate(
    input: Operand,
    size: Ints | None = None,
    scale_factor: Floats | None = None,
    mode: _str = 'nearest',
    align_corners: _bool | None = None,
    recompute_scale_factor: _bool | None = None,
    antialias: _bool = False,
) -> Tensor:
    """interpolate(Tensor input, Any size=None, Any scale_factor=None, str mode='nearest', bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor"""

def kl_div(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    log_target: _bool = False,
) -> Tensor:
    """kl_div(Tensor input, Tensor target, Any size_average=None, Any reduce=None, str reduction='mean', bool log_target=False) -> Tensor"""

def l1_loss(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    weight: Operand | None = None,
) -> Tensor:
    """l1_loss(Tensor input, Tensor target, Any size_average=None, Any reduce=None, str reduction='mean', Tensor? weight=None) -> Tensor"""

def layer_norm(
    input: Operand,
    normalized_shape: Ints,
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: _float = 1e-05,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor"""

def leaky_relu(input: Operand, negative_slope: _float = 0.01, *, inplace: _bool = False) -> Tensor:
    """leaky_relu(Tensor input, float negative_slope=0.01) -> Tensor"""

def leaky_relu_(input: Operand, negative_slope: _float = 0.01) -> Tensor:
    """In-place form of `leaky_relu(Tensor input, float negative_slope=0.01) -> Tensor`."""

def linear(input: Operand, weight: Operand, bias: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"""

def linear_cross_entropy(
    input: Operand,
    linear_weight: Operand,
    target: Operand,
    *,
    linear_bias: Operand | None = None,
    weight: Operand | None = None,
    reduction: _str = 'mean',
    ignore_index: _int | None = None,
    label_smoothing: _float = 0.0,
    options: Any = None,
) -> Tensor:
    """linear_cross_entropy(Tensor input, Tensor linear_weight, Tensor target, *, Tensor? linear_bias=None, Tensor? weight=None, str reduction='mean', int? ignore_index=None, float label_smoothing=0.0, Any options=None) -> Tensor

    Returns `cross_entropy(linear(input, linear_weight, linear_bias), target)`.

    A weight (classes, d, …, features) gives a loss (batch, d, …). `options`, which split the work in PyTorch, change
    nothing: what is kept of the logits is for the partitioner of a compiled function to say.
    """

def local_response_norm(
    input: Operand,
    size: _int,
    alpha: _float = 0.0001,
    beta: _float = 0.75,
    k: _float = 1.0,
) -> Tensor:
    """local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> Tensor"""

def log_softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """log_softmax(Tensor input, int? dim=None, Dtype? dtype=None) -> Tensor"""

def logsigmoid(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """logsigmoid(Tensor input) -> Tensor"""

def lp_pool1d(
    input: Operand,
    norm_type: _float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """lp_pool1d(Tensor input, float norm_type, Any kernel_size, Any stride=None, bool ceil_mode=False) -> Tensor"""

def lp_pool2d(
    input: Operand,
    norm_type: _float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """lp_pool2d(Tensor input, float norm_type, Any kernel_size, Any stride=None, bool ceil_mode=False) -> Tensor"""

def lp_pool3d(
    input: Operand,
    norm_type: _float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """lp_pool3d(Tensor input, float norm_type, Any kernel_size, Any stride=None, bool ceil_mode=False) -> Tensor"""

def margin_ranking_loss(
    input1: Operand,
    input2: Operand,
    target: Operand,
    margin: _float = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, Any size_average=None, Any reduce=None, str reduction='mean') -> Tensor"""

@overload
def max_pool1d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    return_indices: Literal[False] = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """max_pool1d(Tensor input, Any kernel_size, Any stride=None, Any padding=0, Any dilation=1, bool ceil_mode=False) -> Tensor"""
@overload
def max_pool1d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...

def max_pool1d_with_indices(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> tuple[Tensor, Tensor]:
    """max_pool1d_with_indices(Tensor input, Any kernel_size, Any stride=None, Any padding=0, Any dilation=1, bool ceil_mode=False, bool return_indices=False) -> (Tensor, Tensor)"""

@overload
def max_pool2d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    return_indices: Literal[False] = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """max_pool2d(Tensor input, Any kernel_size, Any stride=None, Any padding=0, Any dilation=1, bool ceil_mode=False) -> Tensor"""
@overload
def max_pool2d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...

def max_pool2d_with_indices(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> tuple[Tensor, Tensor]:
    """max_pool2d_with_indices(Tensor input, Any kernel_size, Any stride=None, Any padding=0, Any dilation=1, bool ceil_mode=False, bool return_indices=False) -> (Tensor, Tensor)"""

@overload
def max_pool3d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    return_indices: Literal[False] = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """max_pool3d(Tensor input, Any kernel_size, Any stride=None, Any padding=0, Any dilation=1, bool ceil_mode=False) -> Tensor"""
@overload
def max_pool3d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...

def max_pool3d_with_indices(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    dilation: Ints = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> tuple[Tensor, Tensor]:
    """max_pool3d_with_indices(Tensor input, Any kernel_size, Any stride=None, Any padding=0, Any dilation=1, bool ceil_mode=False, bool return_indices=False) -> (Tensor, Tensor)"""

def max_unpool1d(
    input: Operand,
    indices: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    output_size: Ints | None = None,
) -> Tensor:
    """max_unpool1d(Tensor input, Tensor indices, Any kernel_size, Any stride=None, Any padding=0, Any output_size=None) -> Tensor"""

def max_unpool2d(
    input: Operand,
    indices: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    output_size: Ints | None = None,
) -> Tensor:
    """max_unpool2d(Tensor input, Tensor indices, Any kernel_size, Any stride=None, Any padding=0, Any output_size=None) -> Tensor"""

def max_unpool3d(
    input: Operand,
    indices: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    output_size: Ints | None = None,
) -> Tensor:
    """max_unpool3d(Tensor input, Tensor indices, Any kernel_size, Any stride=None, Any padding=0, Any output_size=None) -> Tensor"""

def mish(input: Operand, *, inplace: _bool = False) -> Tensor:
    """mish(Tensor input) -> Tensor"""

def mse_loss(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    weight: Operand | None = None,
) -> Tensor:
    """mse_loss(Tensor input, Tensor target, Any size_average=None, Any reduce=None, str reduction='mean', Tensor? weight=None) -> Tensor"""

def multi_head_attention_forward(
    query: Operand,
    key: Operand,
    value: Operand,
    embed_dim_to_check: _int,
    num_heads: _int,
    in_proj_weight: Operand | None,
    in_proj_bias: Operand | None,
    bias_k: Operand | None,
    bias_v: Operand | None,
    add_zero_attn: _bool,
    dropout_p: _float,
    out_proj_weight: Operand,
    out_proj_bias: Operand | None,
    training: _bool = True,
    key_padding_mask: Operand | None = None,
    need_weights: _bool = True,
    attn_mask: Operand | None = None,
    use_separate_proj_weight: _bool = False,
    q_proj_weight: Operand | None = None,
    k_proj_weight: Operand | None = None,
    v_proj_weight: Operand | None = None,
    static_k: Operand | None = None,
    static_v: Operand | None = None,
    average_attn_weights: _bool = True,
    is_causal: _bool = False,
) -> tuple[Tensor, Tensor | None]:
    """multi_head_attention_forward(Tensor query, Tensor key, Tensor value, int embed_dim_to_check, int num_heads, Tensor? in_proj_weight, Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, bool add_zero_attn, float dropout_p, Tensor out_proj_weight, Tensor? out_proj_bias, bool training=True, Tensor? key_padding_mask=None, bool need_weights=True, Tensor? attn_mask=None, bool use_separate_proj_weight=False, Tensor? q_proj_weight=None, Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, Tensor? static_k=None, Tensor? static_v=None, bool average_attn_weights=True, bool is_causal=False) -> (Tensor, Tensor)

    Returns the attention of several heads and their weights; no elements for weights that are not needed.
    """

def multi_margin_loss(
    input: Operand,
    target: Operand,
    p: _int = 1,
    margin: _float = 1.0,
    weight: Operand | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """multi_margin_loss(Tensor input, Tensor target, int p=1, float margin=1.0, Tensor? weight=None, Any size_average=None, Any reduce=None, str reduction='mean') -> Tensor"""

def multilabel_margin_loss(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """multilabel_margin_loss(Tensor input, Tensor target, Any size_average=None, Any reduce=None, str reduction='mean') -> Tensor

    A row of `target` names the labels of a sample, up to the first -1.
    """

def multilabel_soft_margin_loss(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, Any size_average=None, Any reduce=None, str reduction='mean') -> Tensor"""

def nll_loss(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """nll_loss(Tensor input, Tensor target, Tensor? weight=None, Any size_average=None, int ignore_index=-100, Any reduce=None, str reduction='mean') -> Tensor"""

def normalize(
    input: Operand,
    p: _float = 2.0,
    dim: _int = 1,
    eps: _float = 1e-12,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """normalize(Tensor input, float p=2.0, int dim=1, float eps=1e-12) -> Tensor"""


def pad(input: Operand, pad: Ints, mode: _str = 'constant', value: Operand | None = None) -> Tensor:
    """pad(Tensor input, int[] pad, str mode='constant', Scalar? value=None) -> Tensor"""

def pairwise_distance(
    x1: Operand,
    x2: Operand,
    p: _float = 2.0,
    eps: _float = 1e-06,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
    keepdims: _bool = ...,
) -> Tensor:
    """pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor"""

def pdist(input: Operand, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
    """pdist(Tensor self, float p=2) -> Tensor"""

def pixel_shuffle(input: Operand, upscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """pixel_shuffle(Tensor input, int upscale_factor) -> Tensor"""

def pixel_unshuffle(input: Operand, downscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor"""

def poisson_nll_loss(
    input: Operand,
    target: Operand,
    log_input: _bool = True,
    full: _bool = False,
    size_average: _bool | None = None,
    eps: _float = 1e-08,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, Any size_average=None, float eps=1e-08, Any reduce=None, str reduction='mean') -> Tensor"""

def prelu(input: Operand, weight: Operand) -> Tensor:
    """prelu(Tensor input, Tensor weight) -> Tensor"""

def relu(input: Operand, *, inplace: _bool = False) -> Tensor:
    """relu(Tensor input) -> Tensor"""

def relu6(input: Operand, *, inplace: _bool = False) -> Tensor:
    """relu6(Tensor input) -> Tensor"""

def relu_(input: Operand) -> Tensor:
    """In-place form of `relu(Tensor input) -> Tensor`."""

def rms_norm(
    input: Operand,
    normalized_shape: Ints,
    weight: Operand | None = None,
    eps: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor"""

def rrelu(
    input: Operand,
    lower: _float = 0.125,
    upper: _float = 0.3333333333333333,
    training: _bool = False,
    *,
    inplace: _bool = False,
) -> Tensor:
    """rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False) -> Tensor"""

def scaled_dot_product_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    attn_mask: Operand | None = None,
    dropout_p: _float = 0.0,
    is_causal: _bool = False,
    *,
    scale: _float | None = None,
    enable_gqa: _bool = False,
) -> Tensor:
    """scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor

    Returns softmax(query keyᵀ / √width + mask) value, as PyTorch's page spells it.

    A row whose every place is masked out yields zeros.
    """

def selu(input: Operand, *, inplace: _bool = False) -> Tensor:
    """selu(Tensor input) -> Tensor"""

def selu_(input: Operand) -> Tensor:
    """In-place form of `selu(Tensor input) -> Tensor`."""

def silu(input: Operand, *, inplace: _bool = False) -> Tensor:
    """silu(Tensor input) -> Tensor"""

def smooth_l1_loss(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    beta: _float = 1.0,
) -> Tensor:
    """smooth_l1_loss(Tensor input, Tensor target, Any size_average=None, Any reduce=None, str reduction='mean', float beta=1.0) -> Tensor"""

def soft_margin_loss(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """soft_margin_loss(Tensor input, Tensor target, Any size_average=None, Any reduce=None, str reduction='mean') -> Tensor"""

def softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """softmax(Tensor input, int? dim=None, Dtype? dtype=None) -> Tensor"""

def softmin(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    axis: _int | None = ...,
) -> Tensor:
    """softmin(Tensor input, int? dim=None, Dtype? dtype=None) -> Tensor"""

def softplus(input: Operand, beta: _float = 1.0, threshold: _float = 20.0, *, out: Tensor | None = None) -> Tensor:
    """softplus(Tensor input, float beta=1.0, float threshold=20.0) -> Tensor"""

def softshrink(input: Operand, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """softshrink(Tensor input, float lambd=0.5) -> Tensor"""

def softsign(input: Operand) -> Tensor:
    """softsign(Tensor input) -> Tensor"""

def tanhshrink(input: Operand) -> Tensor:
    """tanhshrink(Tensor input) -> Tensor"""

def threshold(input: Operand, threshold: _float, value: _float, *, inplace: _bool = False) -> Tensor:
    """threshold(Tensor input, float threshold, float value) -> Tensor"""

def threshold_(input: Operand, threshold: _float, value: _float) -> Tensor:
    """In-place form of `threshold(Tensor input, float threshold, float value) -> Tensor`."""

def triplet_margin_loss(
    anchor: Operand,
    positive: Operand,
    negative: Operand,
    margin: _float = 1.0,
    p: _float = 2,
    eps: _float = 1e-06,
    swap: _bool = False,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float eps=1e-06, bool swap=False, Any size_average=None, Any reduce=None, str reduction='mean') -> Tensor"""

def unfold(
    input: Operand,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints | _str = 0,
    stride: Ints = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """unfold_patches(Tensor input, Any kernel_size, Any dilation=1, Any padding=0, Any stride=1) -> Tensor

    `nn.functional.unfold`, whose name the view op `Tensor.unfold` holds.
    """

def upsample(
    input: Operand,
    size: Ints | None = None,
    scale_factor: Floats | None = None,
    mode: _str = 'nearest',
    align_corners: _bool | None = None,
) -> Tensor:
    """upsample(Tensor input, Any size=None, Any scale_factor=None, str mode='nearest', bool? align_corners=None) -> Tensor"""

def upsample_bilinear(input: Operand, size: Ints | None = None, scale_factor: Floats | None = None) -> Tensor:
    """upsample_bilinear(Tensor input, Any size=None, Any scale_factor=None) -> Tensor"""

def upsample_nearest(input: Operand, size: Ints | None = None, scale_factor: Floats | None = None) -> Tensor:
    """upsample_nearest(Tensor input, Any size=None, Any scale_factor=None) -> Tensor"""
