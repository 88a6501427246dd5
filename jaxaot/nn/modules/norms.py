"""Normalization: of batches, instances, layers and groups of channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot._typing import DTypeLike
from jaxaot.facade.dispatch.write import note_statistics
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional, init
from jaxaot.nn.averages import cumulative_batch_norm
from jaxaot.nn.declared import Layer, options
from jaxaot.nn.made import arguments, blank, check, each, ones, zero_count, zeros
from jaxaot.nn.modules.module import Module
from jaxaot.nn.parameter import Parameter


class _Scaled(Layer):
    weight: Parameter | None
    bias: Parameter | None

    def _scale(self, size: Sequence[int], device: object, dtype: DTypeLike | None, affine: bool, bias: bool) -> None:
        """Makes the parameters, or keeps their names."""
        self.register_parameter("weight", blank(size, device, dtype) if affine else None)
        self.register_parameter("bias", blank(size, device, dtype) if affine and bias else None)

    def reset_parameters(self) -> None:
        """Sets the parameters to where they start."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class _NormOfStatistics(_Scaled, shown="*num_features eps momentum affine bias! track_running_stats"):
    """A norm that may keep running statistics; inputs may have some numbers of dims."""

    _version = 2
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: object = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        size = (num_features,)
        self._scale(size, device, dtype, affine, bias)
        is_kept = track_running_stats
        self.register_buffer("running_mean", zeros(size, device, dtype) if is_kept else None)
        self.register_buffer("running_var", ones(size, device, dtype) if is_kept else None)
        self.register_buffer("num_batches_tracked", zero_count(device) if is_kept else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Sets the running statistics to where they start."""
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Sets parameters and running statistics to where they start."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_dims(self, input: Tensor) -> None:
        said = " or ".join(f"{n}D" for n in self._n_dims)
        check(input.ndim in self._n_dims, f"expected {said} input (got {input.ndim}D input)")

    def _upgrade_state(self, state: dict[str, Any], prefix: str, metadata: dict[str, Any]) -> None:
        version = metadata.get("version")
        if (version is None or version < 2) and self.num_batches_tracked is not None:
            state.setdefault(f"{prefix}num_batches_tracked", self.num_batches_tracked)


class _BatchNorm(_NormOfStatistics):
    def forward(self, input: Tensor) -> Tensor:
        """Returns the input with mean 0 and variance 1 in each channel, scaled and moved by the parameters."""
        self._check_dims(input)
        mean, var, count = self.running_mean, self.running_var, self.num_batches_tracked
        if self.training and self.track_running_stats and count is not None:
            count.add_(1)
            note_statistics(count)
            if self.momentum is None and mean is not None and var is not None:
                return cumulative_batch_norm(input, mean, var, count, self.weight, self.bias, self.eps)
        if self.training and not self.track_running_stats:
            mean = var = None
        is_of_batch = self.training or (mean is None and var is None)
        momentum = 0.0 if self.momentum is None else self.momentum
        return functional.batch_norm(input, mean, var, self.weight, self.bias, is_of_batch, momentum, self.eps)

    def _forget_running_stats(self) -> None:
        """Normalizes by the statistics of each batch alone from now on (`replace_all_batch_norm_modules_`)."""
        if self.track_running_stats:
            self.running_mean = self.running_var = self.num_batches_tracked = None
            self.track_running_stats = False


class BatchNorm1d(_BatchNorm, n_dims=(2, 3)):
    """Normalizes each channel over a batch of vectors or rows."""


class BatchNorm2d(_BatchNorm, n_dims=(4,)):
    """Normalizes each channel over a batch of images."""


class BatchNorm3d(_BatchNorm, n_dims=(5,)):
    """Normalizes each channel over a batch of volumes."""


class SyncBatchNorm(_BatchNorm, n_dims=(2, 3, 4, 5)):
    """Batch norm over the batch of all processes, as every batch norm here: see `BatchNorm2d`."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: object = None,
        device: object = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: object = None) -> Module:
        """Returns a module whose batch norms are such, with the parameters and buffers that they had.

        Args:
          module: The module, which is changed.
          process_group: Kept as an attribute.
        """
        converted = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group,
            )  # fmt: skip
            made._parameters.update(module._parameters)
            made._buffers.update(module._buffers)
            converted = made.train(module.training)
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


class _InstanceNorm(_NormOfStatistics):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: object = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(**arguments(locals()))

    def forward(self, input: Tensor) -> Tensor:
        """Returns the input with mean 0 and variance 1 in each channel of each example."""
        self._check_dims(input)
        is_single = input.ndim == self._n_dims[0]
        size = input.shape[input.ndim - self._n_dims[0]]
        check(
            size == self.num_features or not self.affine,
            f"expected input's size at dim={input.ndim - self._n_dims[0]} to match num_features ({self.num_features}), "
            f"but got: {size}.",
        )
        result = functional.instance_norm(
            input.unsqueeze(0) if is_single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return result.squeeze(0) if is_single else result


class InstanceNorm1d(_InstanceNorm, n_dims=(2, 3)):
    """Normalizes each channel of each row."""


class InstanceNorm2d(_InstanceNorm, n_dims=(3, 4)):
    """Normalizes each channel of each image."""


class InstanceNorm3d(_InstanceNorm, n_dims=(4, 5)):
    """Normalizes each channel of each volume."""


class LayerNorm(_Scaled, shown="*normalized_shape eps elementwise_affine bias!"):
    """Normalizes over the last dims, which have the shape `normalized_shape`."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = each(normalized_shape, 1)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._scale(self.normalized_shape, device, dtype, elementwise_affine, bias)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Layer, shown="*normalized_shape eps elementwise_affine"):
    """Divides by the root of the mean square over the last dims, which have the shape `normalized_shape`."""

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = each(normalized_shape, 1)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", blank(self.normalized_shape, device, dtype) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the parameter to where it starts."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class GroupNorm(_Scaled, shown="*num_groups *num_channels eps affine bias!"):
    """Normalizes over groups of channels of each example."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: object = None,
        dtype: DTypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check(
            num_groups != 0 and num_channels % num_groups == 0,
            f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})",
        )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._scale((num_channels,), device, dtype, affine, bias)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


@options()
class LocalResponseNorm(Layer, op=functional.local_response_norm, shown="*size alpha beta k"):
    """Divides by the squares of neighbouring channels."""

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0
