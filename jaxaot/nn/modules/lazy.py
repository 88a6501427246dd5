"""Layers that take one of their sizes from their first input (`torch.nn.LazyLinear` and its kin)."""

from __future__ import annotations

import inspect
from typing import Any

from jaxaot.errors import TraceError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.made import empty
from jaxaot.nn.modules.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from jaxaot.nn.modules.linear import Linear
from jaxaot.nn.modules.norms import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from jaxaot.nn.parameter import UninitializedParameter
from jaxaot.tape.modes import state


class _Lazy:
    """A layer without its first argument; at its first call it becomes a layer of the plain class.

    Attributes:
      cls_to_become: That class.
      _size: The name of the argument.
    """

    cls_to_become: Any
    _size: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._begin(1, args, kwargs)
        attributes: dict[str, Any] = vars(self)
        attributes["_given"] = args, kwargs
        attributes[self._size] = 0
        for name, value in attributes["_parameters"].items():
            if value is not None:
                attributes["_parameters"][name] = UninitializedParameter(dtype=value.dtype, device=value.device)
        for name, value in attributes["_buffers"].items():
            if value is not None and value.ndim:
                attributes["_buffers"][name] = empty((0,), value.device, value.dtype)

    def _begin(self, size: int, args: Any, kwargs: Any) -> None:
        """Makes this a layer of the plain class, of a multiple of a size that it can have."""
        init = self.cls_to_become.__init__
        if size == 1:
            size = inspect.signature(init).bind(self, size, *args, **kwargs).arguments.get("groups", 1)
        init(self, size, *args, **kwargs)

    def has_uninitialized_params(self) -> bool:
        """Returns that parameters wait for the first input."""
        return True

    def _size_of(self, input: Tensor) -> int:
        if self.cls_to_become is Linear:
            return input.shape[-1]
        n_dims = int(self.cls_to_become.__name__[-2])
        return input.shape[0] if input.ndim == n_dims + 1 and "BatchNorm" not in type(self).__name__ else input.shape[1]

    def _become(self, size: int) -> None:
        if state.trace is not None:
            name = type(self).__name__
            raise TraceError(
                f"`{name}` meets its first input inside of a compiled function, and its parameters are not made yet. "
                "Call the model once before: `model(x)`, then `step = ja.compile(step)`."
            )
        attributes: dict[str, Any] = vars(self)
        args, kwargs = attributes.pop("_given")
        training, hooks, waiting = attributes["training"], attributes["_hooks"], dict(attributes["_parameters"])
        buffers = dict(attributes["_buffers"])
        self._begin(size, args, kwargs)
        attributes.update(training=training, _hooks=hooks)
        with recording(False):
            for name, parameter in waiting.items():
                if parameter is not None:
                    made = attributes["_parameters"][name]
                    parameter.data = made.data.to(dtype=parameter.dtype, device=parameter.device)
                    parameter._mark = "parameter"
                    attributes["_parameters"][name] = parameter  # which an optimizer may have already
            for name, buffer in buffers.items():
                if buffer is not None and buffer.ndim:
                    made = attributes["_buffers"][name]
                    attributes["_buffers"][name] = made.to(dtype=buffer.dtype, device=buffer.device)
        self.__class__ = self.cls_to_become

    def __call__(self, input: Tensor, *args: Any, **kwargs: Any) -> Any:
        self._become(self._size_of(input))
        layer: Any = self
        return layer(input, *args, **kwargs)

    def _upgrade_state(self, state: dict[str, Any], prefix: str, metadata: dict[str, Any]) -> None:
        """Takes the size from weights that are loaded."""
        weight = state.get(f"{prefix}weight")
        if weight is not None and 0 not in weight.shape:
            kwargs = vars(self)["_given"][1]
            is_first = "Norm" in type(self).__name__ or "Transpose" in type(self).__name__
            self._become(weight.shape[0] if is_first else weight.shape[1] * kwargs.get("groups", 1))


class LazyLinear(_Lazy, Linear):
    """A `Linear` that takes `in_features` from its first input."""

    cls_to_become, _size = Linear, "in_features"


class LazyConv1d(_Lazy, Conv1d, n_dims=1):
    """A `Conv1d` that takes `in_channels` from its first input."""

    cls_to_become, _size = Conv1d, "in_channels"


class LazyConv2d(_Lazy, Conv2d, n_dims=2):
    """A `Conv2d` that takes `in_channels` from its first input."""

    cls_to_become, _size = Conv2d, "in_channels"


class LazyConv3d(_Lazy, Conv3d, n_dims=3):
    """A `Conv3d` that takes `in_channels` from its first input."""

    cls_to_become, _size = Conv3d, "in_channels"


class LazyConvTranspose1d(_Lazy, ConvTranspose1d, n_dims=1):
    """A `ConvTranspose1d` that takes `in_channels` from its first input."""

    cls_to_become, _size = ConvTranspose1d, "in_channels"


class LazyConvTranspose2d(_Lazy, ConvTranspose2d, n_dims=2):
    """A `ConvTranspose2d` that takes `in_channels` from its first input."""

    cls_to_become, _size = ConvTranspose2d, "in_channels"


class LazyConvTranspose3d(_Lazy, ConvTranspose3d, n_dims=3):
    """A `ConvTranspose3d` that takes `in_channels` from its first input."""

    cls_to_become, _size = ConvTranspose3d, "in_channels"


class LazyBatchNorm1d(_Lazy, BatchNorm1d, n_dims=(2, 3)):
    """A `BatchNorm1d` that takes `num_features` from its first input."""

    cls_to_become, _size = BatchNorm1d, "num_features"


class LazyBatchNorm2d(_Lazy, BatchNorm2d, n_dims=(4,)):
    """A `BatchNorm2d` that takes `num_features` from its first input."""

    cls_to_become, _size = BatchNorm2d, "num_features"


class LazyBatchNorm3d(_Lazy, BatchNorm3d, n_dims=(5,)):
    """A `BatchNorm3d` that takes `num_features` from its first input."""

    cls_to_become, _size = BatchNorm3d, "num_features"


class LazyInstanceNorm1d(_Lazy, InstanceNorm1d, n_dims=(2, 3)):
    """An `InstanceNorm1d` that takes `num_features` from its first input."""

    cls_to_become, _size = InstanceNorm1d, "num_features"


class LazyInstanceNorm2d(_Lazy, InstanceNorm2d, n_dims=(3, 4)):
    """An `InstanceNorm2d` that takes `num_features` from its first input."""

    cls_to_become, _size = InstanceNorm2d, "num_features"


class LazyInstanceNorm3d(_Lazy, InstanceNorm3d, n_dims=(4, 5)):
    """An `InstanceNorm3d` that takes `num_features` from its first input."""

    cls_to_become, _size = InstanceNorm3d, "num_features"
