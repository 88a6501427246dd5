"""The functions of networks (`torch.nn.functional`)."""

# Written by tools/stubs.py from the op table. Edit that, or the rows, and run it again.

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, overload

import jax
import numpy as _np

from jaxaot.facade.dispatch.operands import (
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
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.by_hand import one_hot as one_hot
from jaxaot.nn.by_hand import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss

def adaptive_avg_pool1d(input: Operand, output_size: Ints) -> Tensor:
    """Returns the means of as many windows of signals as `output_size` says.

    Args:
      input: The tensor.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.

    The result has memory of its own.

    See `torch.nn.functional.adaptive_avg_pool1d`.
    """

def adaptive_avg_pool2d(input: Operand, output_size: Ints) -> Tensor:
    """Returns the means of as many windows of images as `output_size` says.

    Args:
      input: The tensor.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.

    The result has memory of its own.

    See `torch.nn.functional.adaptive_avg_pool2d`.
    """

def adaptive_avg_pool3d(input: Operand, output_size: Ints) -> Tensor:
    """Returns the means of as many windows of volumes as `output_size` says.

    Args:
      input: The tensor.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.

    The result has memory of its own.

    See `torch.nn.functional.adaptive_avg_pool3d`.
    """

@overload
def adaptive_max_pool1d(input: Operand, output_size: Ints, return_indices: Literal[False] = False) -> Tensor:
    """Returns the greatest elements of as many windows of signals as `output_size` says.

    Args:
      input: The tensor.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      return_indices: Whether to return, too, where the greatest elements lie.

    The result has memory of its own.

    See `torch.nn.functional.adaptive_max_pool1d`.
    """
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
    """Returns what `adaptive_max_pool1d` does, and where it lies.

    Args:
      input: The tensor.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      return_indices: Whether to return, too, where the greatest elements lie.

    The result has memory of its own.

    See `torch.nn.functional.adaptive_max_pool1d_with_indices`.
    """

@overload
def adaptive_max_pool2d(input: Operand, output_size: Ints, return_indices: Literal[False] = False) -> Tensor:
    """Returns the greatest elements of as many windows of images as `output_size` says.

    Args:
      input: The tensor.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      return_indices: Whether to return, too, where the greatest elements lie.

    The result has memory of its own.

    See `torch.nn.functional.adaptive_max_pool2d`.
    """
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
    """Returns what `adaptive_max_pool2d` does, and where it lies.

    Args:
      input: The tensor.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      return_indices: Whether to return, too, where the greatest elements lie.

    The result has memory of its own.

    See `torch.nn.functional.adaptive_max_pool2d_with_indices`.
    """

@overload
def adaptive_max_pool3d(input: Operand, output_size: Ints, return_indices: Literal[False] = False) -> Tensor:
    """Returns the greatest elements of as many windows of volumes as `output_size` says.

    Args:
      input: The tensor.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      return_indices: Whether to return, too, where the greatest elements lie.

    The result has memory of its own.

    See `torch.nn.functional.adaptive_max_pool3d`.
    """
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
    """Returns what `adaptive_max_pool3d` does, and where it lies.

    Args:
      input: The tensor.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      return_indices: Whether to return, too, where the greatest elements lie.

    The result has memory of its own.

    See `torch.nn.functional.adaptive_max_pool3d_with_indices`.
    """

def affine_grid(theta: Operand, size: Ints, align_corners: _bool | None = None) -> Tensor:
    """Returns the points where the elements of a result lie in the input, for affine maps `theta`.

    Args:
      theta: The affine maps, a matrix for each sample.
      size: The shape of the result, as integers or a tuple; or how many.
      align_corners: Whether -1 and 1 are the centres of the corner elements rather than their edges.

    The result has memory of its own.

    See `torch.nn.functional.affine_grid`.
    """

def alpha_dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = False,
    inplace: _bool = False,
    *,
    out: Tensor | None = None,
    train: _bool = ...,
) -> Tensor:
    """Returns the elements, in training some set so that mean and variance stay, as `selu` needs.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      inplace: Whether the result is written to `input`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      train: Whether it behaves as in training.

    The result has memory of its own; `Tensor.alpha_dropout_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.alpha_dropout`.
    """

def alpha_dropout_(input: Operand, p: _float = 0.5, training: _bool = False, *, train: _bool = ...) -> Tensor:
    """Writes to the tensor what `alpha_dropout` returns: the elements, in training some set so that mean and variance stay, as `selu` needs.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      train: Whether it behaves as in training.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.alpha_dropout_`.
    """

def avg_pool1d(
    input: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor:
    """Returns the mean of each window of signals.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      ceil_mode: Whether windows that reach over the end count too.
      count_include_pad: Whether padding counts as elements of the mean.

    The result has memory of its own.

    See `torch.nn.functional.avg_pool1d`.
    """

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
    """Returns the mean of each window of images.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      ceil_mode: Whether windows that reach over the end count too.
      count_include_pad: Whether padding counts as elements of the mean.
      divisor_override: What sums are divided by in place of the number of elements.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.nn.functional.avg_pool2d`.
    """

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
    """Returns the mean of each window of volumes.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      ceil_mode: Whether windows that reach over the end count too.
      count_include_pad: Whether padding counts as elements of the mean.
      divisor_override: What sums are divided by in place of the number of elements.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.nn.functional.avg_pool3d`.
    """

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
    """Returns the elements, each channel normalized over the batch, or by running statistics.

    Args:
      input: The tensor.
      running_mean: The running means, written in training.
      running_var: The running variances, written in training.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      training: Whether it behaves as in training.
      momentum: How much of a new batch goes into the running statistics.
      eps: A small number that keeps from dividing by zero.

    The result has memory of its own.

    See `torch.nn.functional.batch_norm`.
    """

def bilinear(
    input1: Operand,
    input2: Operand,
    weight: Operand,
    bias: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns, for each matrix of `weight`, the product input1 · W · input2, plus `bias`.

    Args:
      input1: The first operand.
      input2: The second operand.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.bilinear`.
    """

def binary_cross_entropy(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Returns the cross entropy of probabilities with targets from 0 to 1.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      weight: The weights: of the layer, of each class, or of each element.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.binary_cross_entropy`.
    """

def binary_cross_entropy_with_logits(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    pos_weight: Operand | None = None,
) -> Tensor:
    """Returns the cross entropy of the sigmoids of `input` with targets.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      weight: The weights: of the layer, of each class, or of each element.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.
      pos_weight: The weight of positive targets, for each class.

    The result has memory of its own.

    See `torch.nn.functional.binary_cross_entropy_with_logits`.
    """

def celu(input: Operand, alpha: _float = 1.0, inplace: _bool = False) -> Tensor:
    """Returns the elements, negative ones replaced by `alpha * (exp(x / alpha) - 1)`.

    Args:
      input: The tensor.
      alpha: How far below zero results may lie.
      inplace: Whether the result is written to `input`.

    The result has memory of its own; `Tensor.celu_` writes it to `input`.

    See `torch.celu`.
    """

def celu_(input: Operand, alpha: _float = 1.0) -> Tensor:
    """Writes to the tensor what `celu` returns: the elements, negative ones replaced by `alpha * (exp(x / alpha) - 1)`.

    Args:
      input: The tensor.
      alpha: How far below zero results may lie.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.celu_`.
    """

def channel_shuffle(input: Operand, groups: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns the channels, taken in turn from each of `groups` groups.

    Args:
      input: The tensor.
      groups: Into how many groups channels are split; each sees its own input channels.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.channel_shuffle`.
    """

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
    """Returns signals convolved with the kernels of `weight`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      groups: Into how many groups channels are split; each sees its own input channels.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv1d`.
    """

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
    """Returns images convolved with the kernels of `weight`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      groups: Into how many groups channels are split; each sees its own input channels.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv2d`.
    """

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
    """Returns volumes convolved with the kernels of `weight`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      groups: Into how many groups channels are split; each sees its own input channels.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv3d`.
    """

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
    """Returns signals spread out by the kernels of `weight`: the transpose of `conv1d`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      output_padding: How many elements are added at one side of the result.
      groups: Into how many groups channels are split; each sees its own input channels.
      dilation: The step from element to element in a window.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv_transpose1d`.
    """

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
    """Returns images spread out by the kernels of `weight`: the transpose of `conv2d`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      output_padding: How many elements are added at one side of the result.
      groups: Into how many groups channels are split; each sees its own input channels.
      dilation: The step from element to element in a window.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv_transpose2d`.
    """

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
    """Returns volumes spread out by the kernels of `weight`: the transpose of `conv3d`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      output_padding: How many elements are added at one side of the result.
      groups: Into how many groups channels are split; each sees its own input channels.
      dilation: The step from element to element in a window.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.conv_transpose3d`.
    """

def cosine_embedding_loss(
    input1: Operand,
    input2: Operand,
    target: Operand,
    margin: _float = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Returns how dissimilar pairs are, or where `target` is -1 how similar beyond `margin`.

    Args:
      input1: The first operand.
      input2: The second operand.
      target: What `input` should be: values, or indices of classes.
      margin: The distance that is asked for.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.cosine_embedding_loss`.
    """

def cosine_similarity(
    x1: Operand,
    x2: Operand,
    dim: _int = 1,
    eps: _float = 1e-08,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns the cosines of the angles of vectors along `dim`.

    Args:
      x1: The first vectors.
      x2: The second vectors.
      dim: The dim of the vectors.
      eps: A small number that keeps from dividing by zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.cosine_similarity`.
    """

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
    """Returns the cross entropy of logits with classes, or with probabilities of classes.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      weight: The weights: of the layer, of each class, or of each element.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      ignore_index: A target that does not count.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.
      label_smoothing: How much probability is taken from the target and spread over all classes.

    The result has memory of its own.

    See `torch.nn.functional.cross_entropy`.
    """

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
    """Returns the connectionist temporal classification loss of sequences that are not aligned.

    Targets are (batch, labels), or the labels of all samples one after another.

    Lengths that are known are checked.

    Args:
      log_probs: Log-probabilities of the symbols: (time, batch, symbols).
      targets: The symbols of each sequence.
      input_lengths: How many time steps of each sequence count.
      target_lengths: How many symbols each target has.
      blank: The index of the blank symbol.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.
      zero_infinity: Whether infinite losses, and their gradients, become zero.

    The result has memory of its own.

    See `torch.nn.functional.ctc_loss`.
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
    inplace: _bool = False,
    *,
    out: Tensor | None = None,
    train: _bool = ...,
) -> Tensor:
    """Returns the elements, in training each replaced by zero with probability `p`, the others scaled up.

    Args:
      input: The tensor.
      p: The probability with which an element becomes zero.
      training: Whether it behaves as in training.
      inplace: Whether the result is written to `input`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      train: Whether it behaves as in training.

    The result has memory of its own; `Tensor.dropout_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.dropout`.
    """

def dropout1d(input: Operand, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
    """Returns signals, in training each channel replaced by zeros with probability `p`.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      inplace: Whether the result is written to `input`.

    The result has memory of its own; `Tensor.dropout1d_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.nn.functional.dropout1d`.
    """

def dropout1d_(input: Operand, p: _float = 0.5, training: _bool = True) -> Tensor:
    """Writes to the tensor what `dropout1d` returns: signals, in training each channel replaced by zeros with probability `p`.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.dropout1d_`.
    """

def dropout2d(input: Operand, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
    """Returns images, in training each channel replaced by zeros with probability `p`.

    Three dims are (N, C, L), not (C, H, W).

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      inplace: Whether the result is written to `input`.

    The result has memory of its own; `Tensor.dropout2d_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.nn.functional.dropout2d`.
    """

def dropout2d_(input: Operand, p: _float = 0.5, training: _bool = True) -> Tensor:
    """Writes to the tensor what `dropout2d` returns: images, in training each channel replaced by zeros with probability `p`.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.dropout2d_`.
    """

def dropout3d(input: Operand, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
    """Returns volumes, in training each channel replaced by zeros with probability `p`.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      inplace: Whether the result is written to `input`.

    The result has memory of its own; `Tensor.dropout3d_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.nn.functional.dropout3d`.
    """

def dropout3d_(input: Operand, p: _float = 0.5, training: _bool = True) -> Tensor:
    """Writes to the tensor what `dropout3d` returns: volumes, in training each channel replaced by zeros with probability `p`.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.dropout3d_`.
    """

def dropout_(input: Operand, p: _float = 0.5, training: _bool = True, *, train: _bool = ...) -> Tensor:
    """Writes to the tensor what `dropout` returns: the elements, in training each replaced by zero with probability `p`, the others scaled up.

    Args:
      input: The tensor.
      p: The probability with which an element becomes zero.
      training: Whether it behaves as in training.
      train: Whether it behaves as in training.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.dropout_`.
    """

def elu(input: Operand, alpha: _float = 1.0, inplace: _bool = False) -> Tensor:
    """Returns the elements, negative ones replaced by `alpha * (exp(x) - 1)`.

    Args:
      input: The tensor.
      alpha: How far below zero results may lie.
      inplace: Whether the result is written to `input`.

    The result has memory of its own; `Tensor.elu_` writes it to `input`.

    See `torch.nn.functional.elu`.
    """

def elu_(input: Operand, alpha: _float = 1.0) -> Tensor:
    """Writes to the tensor what `elu` returns: the elements, negative ones replaced by `alpha * (exp(x) - 1)`.

    Args:
      input: The tensor.
      alpha: How far below zero results may lie.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.elu_`.
    """

def embedding(
    input: Operand,
    weight: Operand,
    padding_idx: _int | None = None,
    max_norm: _float | None = None,
    norm_type: _float = 2.0,
    scale_grad_by_freq: _bool = False,
    sparse: _bool = False,
) -> Tensor:
    """Returns the rows of `weight` that the integers in `input` name.

    Gradients are dense, whatever `sparse` says.

    Args:
      input: The tensor.
      weight: The table, one row for each integer; rows may be shortened, see `max_norm`.
      padding_idx: A row that does not count, and gets no gradient.
      max_norm: The greatest norm of a row; longer ones that are used are shortened in place.
      norm_type: The order of the norm.
      scale_grad_by_freq: Whether gradients are divided by how often a row was used.
      sparse: PyTorch's choice of a sparse gradient; gradients are dense.

    The result has memory of its own.

    See `torch.nn.functional.embedding`.
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
    """Returns sums, means or maxima of bags of rows of `weight`.

    Args:
      input: The tensor.
      weight: The weights: of the layer, of each class, or of each element.
      offsets: Where each bag begins.
      max_norm: The greatest norm of a row; longer ones that are used are shortened in place.
      norm_type: The order of the norm.
      scale_grad_by_freq: Whether gradients are divided by how often a row was used.
      mode: The way it is done, by PyTorch's names.
      sparse: PyTorch's choice of a sparse gradient; gradients are dense.
      per_sample_weights: The weight of each row of a bag.
      include_last_offset: Whether `offsets` has an entry more, the end.
      padding_idx: A row that does not count, and gets no gradient.

    The result has memory of its own.

    See `torch.nn.functional.embedding_bag`.
    """

def feature_alpha_dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = False,
    inplace: _bool = False,
    *,
    out: Tensor | None = None,
    train: _bool = ...,
) -> Tensor:
    """Returns the channels, in training some set as by `alpha_dropout`, each as a whole.

    One decision for each channel.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      inplace: Whether the result is written to `input`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      train: Whether it behaves as in training.

    The result has memory of its own; `Tensor.feature_alpha_dropout_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.feature_alpha_dropout`.
    """

def feature_alpha_dropout_(
    input: Operand,
    p: _float = 0.5,
    training: _bool = False,
    *,
    train: _bool = ...,
) -> Tensor:
    """Writes to the tensor what `feature_alpha_dropout` returns: the channels, in training some set as by `alpha_dropout`, each as a whole.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      train: Whether it behaves as in training.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.feature_alpha_dropout_`.
    """

def feature_dropout(
    input: Operand,
    p: _float = 0.5,
    training: _bool = True,
    *,
    out: Tensor | None = None,
    train: _bool = ...,
) -> Tensor:
    """Returns the channels, in training each replaced by zeros as a whole with probability `p`.

    One decision for each channel.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      train: Whether it behaves as in training.

    The result has memory of its own; `Tensor.feature_dropout_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.feature_dropout`.
    """

def feature_dropout_(input: Operand, p: _float = 0.5, training: _bool = True, *, train: _bool = ...) -> Tensor:
    """Writes to the tensor what `feature_dropout` returns: the channels, in training each replaced by zeros as a whole with probability `p`.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      training: Whether it behaves as in training.
      train: Whether it behaves as in training.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.feature_dropout_`.
    """

def fold(
    input: Operand,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints | _str = 0,
    stride: Ints = 1,
) -> Tensor:
    """Returns images that are sums of patches: the transpose of `unfold`.

    Args:
      input: The tensor.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      kernel_size: The size of the window, one number or one for each dim.
      dilation: The step from element to element in a window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.

    The result has memory of its own.

    See `torch.nn.functional.fold`.
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
    """Returns the greatest elements of windows of images of random sizes.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      output_ratio: The size of the result as a fraction of the input's.
      _random_samples: Where windows begin, in place of random places.
      return_indices: Whether to return, too, where the greatest elements lie.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.nn.functional.fractional_max_pool2d`.
    """
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
    """Returns what `fractional_max_pool2d` does, and where it lies.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      output_ratio: The size of the result as a fraction of the input's.
      return_indices: Whether to return, too, where the greatest elements lie.
      _random_samples: Where windows begin, in place of random places.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.nn.functional.fractional_max_pool2d_with_indices`.
    """

@overload
def fractional_max_pool3d(
    input: Operand,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Floats | None = None,
    return_indices: Literal[False] = False,
    _random_samples: Operand | None = None,
) -> Tensor:
    """Returns the greatest elements of windows of volumes of random sizes.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      output_ratio: The size of the result as a fraction of the input's.
      _random_samples: Where windows begin, in place of random places.
      return_indices: Whether to return, too, where the greatest elements lie.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.nn.functional.fractional_max_pool3d`.
    """
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
    """Returns what `fractional_max_pool3d` does, and where it lies.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.
      output_ratio: The size of the result as a fraction of the input's.
      return_indices: Whether to return, too, where the greatest elements lie.
      _random_samples: Where windows begin, in place of random places.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.nn.functional.fractional_max_pool3d_with_indices`.
    """

def gaussian_nll_loss(
    input: Operand,
    target: Operand,
    var: Operand,
    full: _bool = False,
    eps: _float = 1e-06,
    reduction: _str = 'mean',
) -> Tensor:
    """Returns the negative log-likelihood of `target` under normal distributions.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      var: The variances.
      full: Whether terms that do not depend on the input are added.
      eps: A small number that keeps from dividing by zero.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.gaussian_nll_loss`.
    """

def gelu(input: Operand, approximate: _str = 'none', *, out: Tensor | None = None) -> Tensor:
    """Returns each element times the probability that a normal number is less.

    Args:
      input: The tensor.
      approximate: `'none'`, or `'tanh'` for the approximation by the hyperbolic tangent.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.nn.functional.gelu`.
    """

def glu(input: Operand, dim: _int = -1, *, axis: _int = ...) -> Tensor:
    """Returns the first half of `dim` times the sigmoid of the second half.

    Args:
      input: The tensor.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.nn.functional.glu`.
    """

def grid_sample(
    input: Operand,
    grid: Operand,
    mode: _str = 'bilinear',
    padding_mode: _str = 'zeros',
    align_corners: _bool | None = None,
) -> Tensor:
    """Returns values of `input` between its elements, at the points of `grid`.

    Args:
      input: The tensor.
      grid: The points, each from -1 to 1 along every dim of the input.
      mode: The way it is done, by PyTorch's names.
      padding_mode: What lies outside: `'zeros'`, `'border'` or `'reflection'`; of samplers a number.
      align_corners: Whether -1 and 1 are the centres of the corner elements rather than their edges.

    The result has memory of its own.

    See `torch.nn.functional.grid_sample`.
    """

def group_norm(
    input: Operand,
    num_groups: _int,
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: _float = 1e-05,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements, normalized over each of `num_groups` groups of channels.

    Args:
      input: The tensor.
      num_groups: How many groups of channels.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      eps: A small number that keeps from dividing by zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.group_norm`.
    """

def gumbel_softmax(
    logits: Operand,
    tau: _float = 1,
    hard: _bool = False,
    eps: _float = 1e-10,
    dim: _int = -1,
    *,
    axis: _int = ...,
) -> Tensor:
    """Returns random samples of the categories of `logits`, soft ones or with `hard` one-hot ones.

    Args:
      logits: Logarithms of probabilities, up to a constant.
      tau: The temperature, the decay, or the scales of reflections.
      hard: Whether samples are one-hot; gradients are those of the soft ones.
      eps: A small number that keeps from dividing by zero.
      dim: The dim, or dims where several are possible; negative ones count from the end.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.nn.functional.gumbel_softmax`.
    """

def hardshrink(input: Operand, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements, those of magnitude up to `lambd` replaced by zero.

    Args:
      input: The tensor.
      lambd: The rate of the distribution, or the bound below which elements become zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.hardshrink`.
    """

def hardsigmoid(input: Operand, inplace: _bool = False) -> Tensor:
    """Returns x / 6 + 1/2, clamped to the range from 0 to 1: a sigmoid of straight lines.

    Args:
      input: The tensor.
      inplace: Whether the result is written to `input`.

    The result has memory of its own.

    See `torch.nn.functional.hardsigmoid`.
    """

def hardswish(input: Operand, inplace: _bool = False) -> Tensor:
    """Returns each element times its `hardsigmoid`.

    Args:
      input: The tensor.
      inplace: Whether the result is written to `input`.

    The result has memory of its own.

    See `torch.nn.functional.hardswish`.
    """

def hardtanh(input: Operand, min_val: _float = -1.0, max_val: _float = 1.0, inplace: _bool = False) -> Tensor:
    """Returns the elements, clamped to the range from `min_val` to `max_val`.

    Args:
      input: The tensor.
      min_val: The least value.
      max_val: The greatest value.
      inplace: Whether the result is written to `input`.

    The result has memory of its own; `Tensor.hardtanh_` writes it to `input`.

    See `torch.nn.functional.hardtanh`.
    """

def hardtanh_(input: Operand, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor:
    """Writes to the tensor what `hardtanh` returns: the elements, clamped to the range from `min_val` to `max_val`.

    Args:
      input: The tensor.
      min_val: The least value.
      max_val: The greatest value.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.hardtanh_`.
    """

def hinge_embedding_loss(
    input: Operand,
    target: Operand,
    margin: _float = 1.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Returns distances where `target` is 1, and how far they fall short of `margin` where -1.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      margin: The distance that is asked for.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.hinge_embedding_loss`.
    """

def huber_loss(
    input: Operand,
    target: Operand,
    reduction: _str = 'mean',
    delta: _float = 1.0,
    weight: Operand | None = None,
) -> Tensor:
    """Returns the squared loss up to `delta`, and a linear one beyond.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.
      delta: From which difference on the loss is linear.
      weight: The weights: of the layer, of each class, or of each element.

    The result has memory of its own.

    See `torch.nn.functional.huber_loss`.
    """

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
    """Returns the elements, each channel of each sample normalized on its own.

    Args:
      input: The tensor.
      running_mean: The running means, written in training.
      running_var: The running variances, written in training.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      use_input_stats: Whether statistics are those of the input rather than the running ones.
      momentum: How much of a new batch goes into the running statistics.
      eps: A small number that keeps from dividing by zero.

    The result has memory of its own.

    See `torch.nn.functional.instance_norm`.
    """

def interpolate(
    input: Operand,
    size: Ints | None = None,
    scale_factor: Floats | None = None,
    mode: _str = 'nearest',
    align_corners: _bool | None = None,
    recompute_scale_factor: _bool | None = None,
    antialias: _bool = False,
) -> Tensor:
    """Returns signals, images or volumes resampled to another size.

    Args:
      input: The tensor.
      size: The shape of the result, as integers or a tuple; or how many.
      scale_factor: How many times larger the result is.
      mode: The way it is done, by PyTorch's names.
      align_corners: Whether -1 and 1 are the centres of the corner elements rather than their edges.
      recompute_scale_factor: Whether scales are computed anew from the rounded size.
      antialias: Whether shrinking images are smoothed first.

    The result has memory of its own.

    See `torch.nn.functional.interpolate`.
    """

def kl_div(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    log_target: _bool = False,
) -> Tensor:
    """Returns the Kullback-Leibler divergence of `target` from log-probabilities `input`.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.
      log_target: Whether `target` holds logarithms.

    The result has memory of its own.

    See `torch.nn.functional.kl_div`.
    """

def l1_loss(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    weight: Operand | None = None,
) -> Tensor:
    """Returns the magnitudes of the differences of `input` and `target`, by default their mean.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.
      weight: The weights: of the layer, of each class, or of each element.

    The result has memory of its own.

    See `torch.nn.functional.l1_loss`.
    """

def layer_norm(
    input: Operand,
    normalized_shape: Ints,
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: _float = 1e-05,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements, normalized over the last dims, `normalized_shape`, scaled and shifted.

    Args:
      input: The tensor.
      normalized_shape: The shape of the last dims, over which it is normalized.
      weight: The weights: of the layer, of each class, or of each element.
      bias: What is added to the result, one number for each output; None for nothing.
      eps: A small number that keeps from dividing by zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.layer_norm`.
    """

def leaky_relu(input: Operand, negative_slope: _float = 0.01, inplace: _bool = False) -> Tensor:
    """Returns the elements, negative ones times `negative_slope`.

    Args:
      input: The tensor.
      negative_slope: The factor of negative elements.
      inplace: Whether the result is written to `input`.

    The result has memory of its own; `Tensor.leaky_relu_` writes it to `input`.

    See `torch.nn.functional.leaky_relu`.
    """

def leaky_relu_(input: Operand, negative_slope: _float = 0.01) -> Tensor:
    """Writes to the tensor what `leaky_relu` returns: the elements, negative ones times `negative_slope`.

    Args:
      input: The tensor.
      negative_slope: The factor of negative elements.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.leaky_relu_`.
    """

def linear(input: Operand, weight: Operand, bias: Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """Returns `input @ weight.T + bias`.

    Args:
      input: The tensor.
      weight: A matrix with a row for each output.
      bias: What is added to the result, one number for each output; None for nothing.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.nn.functional.linear`.
    """

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
    """Returns `cross_entropy(linear(input, linear_weight, linear_bias), target)`.

    A weight (classes, d, …, features) gives a loss (batch, d, …). `options`, which split the work in PyTorch, change
    nothing: what is kept of the logits is for the partitioner of a compiled function to say.

    Args:
      input: The tensor.
      linear_weight: The weight of the linear layer, a row for each class.
      target: What `input` should be: values, or indices of classes.
      linear_bias: The bias of the linear layer.
      weight: The weights: of the layer, of each class, or of each element.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.
      ignore_index: A target that does not count.
      label_smoothing: How much probability is taken from the target and spread over all classes.
      options: PyTorch's hints how to compute it; ignored.

    The result has memory of its own.

    It is computed in float32, where PyTorch rounds the logits.

    See `torch.nn.functional.linear_cross_entropy`.
    """

def local_response_norm(
    input: Operand,
    size: _int,
    alpha: _float = 0.0001,
    beta: _float = 0.75,
    k: _float = 1.0,
) -> Tensor:
    """Returns the elements, divided by a power of the squares of neighbouring channels.

    Args:
      input: The tensor.
      size: The shape of the result, as integers or a tuple; or how many.
      alpha: A number that the second operand is multiplied with.
      beta: A number that `input` is multiplied with.
      k: How many; or which one, counted from 1.

    The result has memory of its own.

    See `torch.nn.functional.local_response_norm`.
    """

def log_softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """Returns the logarithm of the softmax along `dim`, without overflow.

    Args:
      input: The tensor.
      dim: The dim along which the exponentials of the results add up to 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.log_softmax`.
    """

def logsigmoid(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm of the sigmoid of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.nn.functional.logsigmoid`.
    """

def lp_pool1d(
    input: Operand,
    norm_type: _float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """Returns the `norm_type`-norm of each window of signals.

    Args:
      input: The tensor.
      norm_type: The order of the norm.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      ceil_mode: Whether windows that reach over the end count too.

    The result has memory of its own.

    See `torch.nn.functional.lp_pool1d`.
    """

def lp_pool2d(
    input: Operand,
    norm_type: _float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """Returns the `norm_type`-norm of each window of images.

    Args:
      input: The tensor.
      norm_type: The order of the norm.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      ceil_mode: Whether windows that reach over the end count too.

    The result has memory of its own.

    See `torch.nn.functional.lp_pool2d`.
    """

def lp_pool3d(
    input: Operand,
    norm_type: _float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """Returns the `norm_type`-norm of each window of volumes.

    Args:
      input: The tensor.
      norm_type: The order of the norm.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      ceil_mode: Whether windows that reach over the end count too.

    The result has memory of its own.

    See `torch.nn.functional.lp_pool3d`.
    """

def margin_ranking_loss(
    input1: Operand,
    input2: Operand,
    target: Operand,
    margin: _float = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Returns by how much pairs are not ranked as `target` says, with `margin` between them.

    Args:
      input1: The first operand.
      input2: The second operand.
      target: What `input` should be: values, or indices of classes.
      margin: The distance that is asked for.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.margin_ranking_loss`.
    """

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
    """Returns the greatest element of each window of signals.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      ceil_mode: Whether windows that reach over the end count too.
      return_indices: Whether to return, too, where the greatest elements lie.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.max_pool1d`.
    """
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
    """Returns the greatest element of each window of signals, and where it lies.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      ceil_mode: Whether windows that reach over the end count too.
      return_indices: Whether to return, too, where the greatest elements lie.

    The result has memory of its own.

    See `torch.nn.functional.max_pool1d_with_indices`.
    """

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
    """Returns the greatest element of each window of images.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      ceil_mode: Whether windows that reach over the end count too.
      return_indices: Whether to return, too, where the greatest elements lie.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.max_pool2d`.
    """
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
    """Returns the greatest element of each window of images, and where it lies.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      ceil_mode: Whether windows that reach over the end count too.
      return_indices: Whether to return, too, where the greatest elements lie.

    The result has memory of its own.

    See `torch.nn.functional.max_pool2d_with_indices`.
    """

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
    """Returns the greatest element of each window of volumes.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      ceil_mode: Whether windows that reach over the end count too.
      return_indices: Whether to return, too, where the greatest elements lie.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.max_pool3d`.
    """
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
    """Returns the greatest element of each window of volumes, and where it lies.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      dilation: The step from element to element in a window.
      ceil_mode: Whether windows that reach over the end count too.
      return_indices: Whether to return, too, where the greatest elements lie.

    The result has memory of its own.

    See `torch.nn.functional.max_pool3d_with_indices`.
    """

def max_unpool1d(
    input: Operand,
    indices: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    output_size: Ints | None = None,
) -> Tensor:
    """Returns signals with the results of `max_pool1d` at their places, and zeros elsewhere.

    Args:
      input: The tensor.
      indices: Indices, of an integer dtype.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.

    The result has memory of its own.

    See `torch.nn.functional.max_unpool1d`.
    """

def max_unpool2d(
    input: Operand,
    indices: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    output_size: Ints | None = None,
) -> Tensor:
    """Returns images with the results of `max_pool2d` at their places, and zeros elsewhere.

    Args:
      input: The tensor.
      indices: Indices, of an integer dtype.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.

    The result has memory of its own.

    See `torch.nn.functional.max_unpool2d`.
    """

def max_unpool3d(
    input: Operand,
    indices: Operand,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints | _str = 0,
    output_size: Ints | None = None,
) -> Tensor:
    """Returns volumes with the results of `max_pool3d` at their places, and zeros elsewhere.

    Args:
      input: The tensor.
      indices: Indices, of an integer dtype.
      kernel_size: The size of the window, one number or one for each dim.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      output_size: The size of the result, in its windowed dims or, of `repeat_interleave`, along `dim`.

    The result has memory of its own.

    See `torch.nn.functional.max_unpool3d`.
    """

def mish(input: Operand, inplace: _bool = False) -> Tensor:
    """Returns each element times the hyperbolic tangent of its softplus.

    Args:
      input: The tensor.
      inplace: Whether the result is written to `input`.

    The result has memory of its own.

    See `torch.nn.functional.mish`.
    """

def mse_loss(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    weight: Operand | None = None,
) -> Tensor:
    """Returns the squares of the differences of `input` and `target`, by default their mean.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.
      weight: The weights: of the layer, of each class, or of each element.

    The result has memory of its own.

    See `torch.nn.functional.mse_loss`.
    """

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
    """Returns what several heads of attention read, and the attention weights.

    Args:
      query: The queries: (…, length, width).
      key: The keys: (…, length, width).
      value: A number: what is filled in, or what the product is multiplied with.
      embed_dim_to_check: The width of the input.
      num_heads: How many heads.
      in_proj_weight: The weights of the projections to queries, keys and values, one below the other.
      in_proj_bias: The biases of these projections.
      bias_k: A key that is added to each sequence.
      bias_v: A value that is added to each sequence.
      add_zero_attn: Whether a key and a value of zeros are added to each sequence.
      dropout_p: The probability with which weights are dropped.
      out_proj_weight: The weight of the projection of the result.
      out_proj_bias: The bias of the projection of the result.
      training: Whether it behaves as in training.
      key_padding_mask: True where a key is padding and does not count.
      need_weights: Whether to return the attention weights.
      attn_mask: True where a query may look at a key, or numbers that are added to the scores.
      use_separate_proj_weight: Whether the projections have weights of their own.
      q_proj_weight: The weight of the projection to queries.
      k_proj_weight: The weight of the projection to keys.
      v_proj_weight: The weight of the projection to values.
      static_k: Keys in place of projected ones.
      static_v: Values in place of projected ones.
      average_attn_weights: Whether the weights are averaged over the heads.
      is_causal: Whether queries look only at keys that are not later than they are.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.nn.functional.multi_head_attention_forward`.
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
    """Returns by how much the score of the right class does not exceed the others by `margin`.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      p: The order of the norm, or the probability.
      margin: The distance that is asked for.
      weight: The weights: of the layer, of each class, or of each element.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.multi_margin_loss`.
    """

def multilabel_margin_loss(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Returns by how much the scores of right labels do not exceed the others by one.

    A row of `target` names the labels of a sample, up to the first -1.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.multilabel_margin_loss`.
    """

def multilabel_soft_margin_loss(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Returns the mean binary cross entropy of the logits of several labels.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      weight: The weights: of the layer, of each class, or of each element.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.multilabel_soft_margin_loss`.
    """

def nll_loss(
    input: Operand,
    target: Operand,
    weight: Operand | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Returns the negative log-probabilities of the classes in `target`, by default their mean.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      weight: The weights: of the layer, of each class, or of each element.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      ignore_index: A target that does not count.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.nll_loss`.
    """

def normalize(
    input: Operand,
    p: _float = 2.0,
    dim: _int = 1,
    eps: _float = 1e-12,
    *,
    out: Tensor | None = None,
    axis: _int = ...,
) -> Tensor:
    """Returns vectors along `dim` divided by their `p`-norm.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      dim: The dim of the vectors.
      eps: A small number that keeps from dividing by zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.nn.functional.normalize`.
    """


def pad(input: Operand, pad: Ints, mode: _str = 'constant', value: Operand | None = None) -> Tensor:
    """Returns the tensor with elements added at both ends of its last dims.

    Args:
      input: The tensor.
      pad: How many elements are added before and after each dim, the last dim first.
      mode: The way it is done, by PyTorch's names.
      value: A number: what is filled in, or what the product is multiplied with.

    The result has memory of its own.

    See `torch.nn.functional.pad`.
    """

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
    """Returns the `p`-norms of the differences of vectors along the last dim.

    Args:
      x1: The first vectors.
      x2: The second vectors.
      p: The order of the norm, or the probability.
      eps: A small number that keeps from dividing by zero.
      keepdim: Whether reduced dims stay, with size 1.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      keepdims: NumPy's name of `keepdim`.

    The result has memory of its own.

    See `torch.pairwise_distance`.
    """

def pdist(input: Operand, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
    """Returns the distances of all pairs of rows of a matrix, each pair once.

    Args:
      input: The tensor.
      p: The order of the norm, or the probability.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.pdist`.
    """

def pixel_shuffle(input: Operand, upscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns images of more pixels and fewer channels: channels become blocks of pixels.

    Args:
      input: The tensor.
      upscale_factor: How many times larger each side becomes.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.pixel_shuffle`.
    """

def pixel_unshuffle(input: Operand, downscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """Returns images of fewer pixels and more channels: the inverse of `pixel_shuffle`.

    Args:
      input: The tensor.
      downscale_factor: How many times smaller each side becomes.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.pixel_unshuffle`.
    """

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
    """Returns the negative log-likelihood of counts `target` under Poisson distributions.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      log_input: Whether `input` holds logarithms.
      full: Whether terms that do not depend on the input are added.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      eps: A small number that keeps from dividing by zero.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.poisson_nll_loss`.
    """

def prelu(input: Operand, weight: Operand) -> Tensor:
    """Returns the elements, negative ones times `weight`, which is learned, one for all or for each channel.

    Args:
      input: The tensor.
      weight: The slopes of negative elements, one or one for each channel.

    The result has memory of its own.

    See `torch.prelu`.
    """

def relu(input: Operand, inplace: _bool = False) -> Tensor:
    """Returns the elements, negative ones replaced by zero.

    Args:
      input: The tensor.
      inplace: Whether the result is written to `input`.

    The result has memory of its own; `Tensor.relu_` writes it to `input`.

    See `torch.relu`.
    """

def relu6(input: Operand, inplace: _bool = False) -> Tensor:
    """Returns the elements, those below 0 raised to it and those above 6 lowered to it.

    Args:
      input: The tensor.
      inplace: Whether the result is written to `input`.

    The result has memory of its own.

    See `torch.nn.functional.relu6`.
    """

def relu_(input: Operand) -> Tensor:
    """Writes to the tensor what `relu` returns: the elements, negative ones replaced by zero.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.relu_`.
    """

def rms_norm(
    input: Operand,
    normalized_shape: Ints,
    weight: Operand | None = None,
    eps: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements divided by their root mean square over the last dims, and scaled.

    Args:
      input: The tensor.
      normalized_shape: The shape of the last dims, over which it is normalized.
      weight: The weights: of the layer, of each class, or of each element.
      eps: A small number that keeps from dividing by zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.rms_norm`.
    """

def rrelu(
    input: Operand,
    lower: _float = 0.125,
    upper: _float = 0.3333333333333333,
    training: _bool = False,
    inplace: _bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements, negative ones times a slope that is random in training.

    Args:
      input: The tensor.
      lower: The least slope.
      upper: Whether the upper triangle is meant; of `rrelu` the greatest slope.
      training: Whether it behaves as in training.
      generator: Where random numbers come from; by default `ja.default_generator`.
      inplace: Whether the result is written to `input`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.rrelu_` writes it to `input`.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.rrelu`.
    """

def rrelu_(
    input: Operand,
    lower: _float = 0.125,
    upper: _float = 0.3333333333333333,
    training: _bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Writes to the tensor what `rrelu` returns: the elements, negative ones times a slope that is random in training.

    Args:
      input: The tensor.
      lower: The least slope.
      upper: Whether the upper triangle is meant; of `rrelu` the greatest slope.
      training: Whether it behaves as in training.
      generator: Where random numbers come from; by default `ja.default_generator`.

    Works in place: all views of the same memory see it. Returns the tensor.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.Tensor.rrelu_`.
    """

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
    """Returns softmax(query keyᵀ · scale + mask) value: attention.

    A row whose every place is masked out yields zeros.

    Args:
      query: The queries: (…, length, width).
      key: The keys: (…, length, width).
      value: A number: what is filled in, or what the product is multiplied with.
      attn_mask: True where a query may look at a key, or numbers that are added to the scores.
      dropout_p: The probability with which weights are dropped.
      is_causal: Whether queries look only at keys that are not later than they are.
      scale: What scores are multiplied with; by default 1 / √width. Of dropout the factor of what is kept.
      enable_gqa: Whether several heads of queries share one of keys and values.

    The result has memory of its own.

    The numbers are JAX's, not PyTorch's: equal eagerly and compiled, by `ja.manual_seed` or `generator=`.

    See `torch.nn.functional.scaled_dot_product_attention`.
    """

def selu(input: Operand, inplace: _bool = False) -> Tensor:
    """Returns `elu` with the scales that keep mean and variance through layers.

    Args:
      input: The tensor.
      inplace: Whether the result is written to `input`.

    The result has memory of its own; `Tensor.selu_` writes it to `input`.

    See `torch.selu`.
    """

def selu_(input: Operand) -> Tensor:
    """Writes to the tensor what `selu` returns: `elu` with the scales that keep mean and variance through layers.

    Args:
      input: The tensor.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.selu_`.
    """

def sigmoid(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns 1 / (1 + exp(-x)) for each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.sigmoid_` writes it to `input`.

    See `torch.sigmoid`.
    """

def silu(input: Operand, inplace: _bool = False) -> Tensor:
    """Returns each element times its sigmoid, also called swish.

    Args:
      input: The tensor.
      inplace: Whether the result is written to `input`.

    The result has memory of its own.

    See `torch.nn.functional.silu`.
    """

def smooth_l1_loss(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    beta: _float = 1.0,
) -> Tensor:
    """Returns the L1 loss, squared where differences are less than `beta`.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.
      beta: Up to which difference the loss is squared.

    The result has memory of its own.

    See `torch.nn.functional.smooth_l1_loss`.
    """

def soft_margin_loss(
    input: Operand,
    target: Operand,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Returns log(1 + exp(-target * input)), for targets of 1 and -1, by default their mean.

    Args:
      input: The tensor.
      target: What `input` should be: values, or indices of classes.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.soft_margin_loss`.
    """

def softmax(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = ...,
) -> Tensor:
    """Returns the softmax along `dim`: exponentials, divided by their sum.

    Args:
      input: The tensor.
      dim: The dim along which the results add up to 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.softmax`.
    """

def softmin(
    input: Operand,
    dim: _int | None = None,
    dtype: DTypeLike | None = None,
    *,
    axis: _int | None = ...,
) -> Tensor:
    """Returns the softmax of the negated elements along `dim`.

    Args:
      input: The tensor.
      dim: The dim along which the results add up to 1.
      dtype: The dtype of the result, to which the operands are converted first; by default as PyTorch chooses it.
      axis: NumPy's name of `dim`.

    The result has memory of its own.

    See `torch.nn.functional.softmin`.
    """

def softplus(input: Operand, beta: _float = 1.0, threshold: _float = 20.0, *, out: Tensor | None = None) -> Tensor:
    """Returns log(1 + exp(beta * x)) / beta, a smooth `relu`.

    Args:
      input: The tensor.
      beta: How sharp the bend at zero is.
      threshold: The bound that elements are compared with; of `softplus` where it becomes linear.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.nn.functional.softplus`.
    """

def softshrink(input: Operand, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements moved towards zero by `lambd`, and zero where they are nearer.

    Args:
      input: The tensor.
      lambd: The rate of the distribution, or the bound below which elements become zero.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.nn.functional.softshrink`.
    """

def softsign(input: Operand) -> Tensor:
    """Returns x / (1 + |x|) for each element.

    Args:
      input: The tensor.

    The result has memory of its own.

    See `torch.nn.functional.softsign`.
    """

def tanh(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Returns the hyperbolic tangent of each element.

    Args:
      input: The tensor.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.tanh_` writes it to `input`.

    See `torch.tanh`.
    """

def tanhshrink(input: Operand) -> Tensor:
    """Returns x - tanh(x) for each element.

    Args:
      input: The tensor.

    The result has memory of its own.

    See `torch.nn.functional.tanhshrink`.
    """

def threshold(
    input: Operand,
    threshold: _float,
    value: _float,
    inplace: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the elements, those not above `threshold` replaced by `value`.

    Args:
      input: The tensor.
      threshold: The bound that elements are compared with; of `softplus` where it becomes linear.
      value: What replaces the others.
      inplace: Whether the result is written to `input`.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own; `Tensor.threshold_` writes it to `input`.

    See `torch.threshold`.
    """

def threshold_(input: Operand, threshold: _float, value: _float) -> Tensor:
    """Writes to the tensor what `threshold` returns: the elements, those not above `threshold` replaced by `value`.

    Args:
      input: The tensor.
      threshold: The bound that elements are compared with; of `softplus` where it becomes linear.
      value: What replaces the others.

    Works in place: all views of the same memory see it. Returns the tensor.

    See `torch.Tensor.threshold_`.
    """

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
    """Returns max(d(anchor, positive) - d(anchor, negative) + margin, 0), with distances d.

    Args:
      anchor: The vectors that are compared.
      positive: Vectors that should be near.
      negative: Vectors that should be far.
      margin: The distance that is asked for.
      p: The order of the norm, or the probability.
      eps: A small number that keeps from dividing by zero.
      swap: Whether the distance from `positive` to `negative` counts where it is less.
      size_average: PyTorch's old name of a choice that `reduction` makes.
      reduce: The operation that unites values, such as `'sum'`, `'prod'`, `'mean'`, `'amax'`, `'amin'`; of losses PyTorch's old name of a choice that `reduction` makes.
      reduction: `'mean'`, `'sum'` or `'none'`: what becomes of the losses of all elements.

    The result has memory of its own.

    See `torch.nn.functional.triplet_margin_loss`.
    """

def unfold(
    input: Operand,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints | _str = 0,
    stride: Ints = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the patches of images, each as a column.

    `nn.functional.unfold`, whose name the view op `Tensor.unfold` holds.

    Args:
      input: The tensor.
      kernel_size: The size of the window, one number or one for each dim.
      dilation: The step from element to element in a window.
      padding: How many elements are added on both sides; of convolutions also `'same'` or `'valid'`.
      stride: The step from window to window, one number or one for each dim; by default the size of the window.
      out: A tensor, or several, to write the result to, resized if need be; it is returned.

    The result has memory of its own.

    See `torch.unfold_patches`.
    """

def upsample(
    input: Operand,
    size: Ints | None = None,
    scale_factor: Floats | None = None,
    mode: _str = 'nearest',
    align_corners: _bool | None = None,
) -> Tensor:
    """Returns signals, images or volumes enlarged: `interpolate`.

    Args:
      input: The tensor.
      size: The shape of the result, as integers or a tuple; or how many.
      scale_factor: How many times larger the result is.
      mode: The way it is done, by PyTorch's names.
      align_corners: Whether -1 and 1 are the centres of the corner elements rather than their edges.

    The result has memory of its own.

    See `torch.nn.functional.upsample`.
    """

def upsample_bilinear(input: Operand, size: Ints | None = None, scale_factor: Floats | None = None) -> Tensor:
    """Returns images enlarged linearly in both directions, corners aligned.

    Args:
      input: The tensor.
      size: The shape of the result, as integers or a tuple; or how many.
      scale_factor: How many times larger the result is.

    The result has memory of its own.

    See `torch.nn.functional.upsample_bilinear`.
    """

def upsample_nearest(input: Operand, size: Ints | None = None, scale_factor: Floats | None = None) -> Tensor:
    """Returns images enlarged by copying the nearest element.

    Args:
      input: The tensor.
      size: The shape of the result, as integers or a tuple; or how many.
      scale_factor: How many times larger the result is.

    The result has memory of its own.

    See `torch.nn.functional.upsample_nearest`.
    """
