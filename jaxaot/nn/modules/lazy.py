"""Layers that take one of their sizes from their first input (`torch.nn.LazyLinear` and its kin)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

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
from jaxaot.nn.modules.module import Module
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

M = TypeVar("M", bound=Module)


class _Lazy:
    """A layer without its first argument; at its first call it becomes a layer of the plain class.

    Attributes:
      cls_to_become: That class.
      _size: The name of the argument.
      _defaults: Defaults that the lazy class has of its own, as in PyTorch.
    """

    cls_to_become: Any
    _size: str
    _defaults: dict[str, bool]

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

    def _begin(self, size: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Makes this a layer of the plain class, of a multiple of a size that it can have."""
        init = self.cls_to_become.__init__
        given = inspect.signature(init).bind(self, size, *args, **kwargs)
        given.arguments.update({**self._defaults, **given.arguments})
        if size == 1:
            given.arguments[self._size] = given.arguments.get("groups", 1)
        init(*given.args, **given.kwargs)

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
            state.trace.stop(f"`{name}` meets its first input, and its parameters are made")
            raise TraceError(
                f"`{name}` meets its first input inside of a traced function, and its parameters are not made yet. "
                "Call the model once before, `model(x)`, or leave out `fullgraph=True`."
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


def _lazy(plain: type[M], size: str, **defaults: bool) -> Callable[..., M]:
    """Returns the class of layers that become some of a plain class."""
    own = {"__doc__": f"A `{plain.__name__}` that takes `{size}` from its first input.", "__module__": __name__}
    own |= {"cls_to_become": plain, "_size": size, "_defaults": defaults}
    return type(f"Lazy{plain.__name__}", (_Lazy, plain), own)  # type: ignore[return-value]


LazyLinear = _lazy(Linear, "in_features")
LazyConv1d = _lazy(Conv1d, "in_channels")
LazyConv2d = _lazy(Conv2d, "in_channels")
LazyConv3d = _lazy(Conv3d, "in_channels")
LazyConvTranspose1d = _lazy(ConvTranspose1d, "in_channels")
LazyConvTranspose2d = _lazy(ConvTranspose2d, "in_channels")
LazyConvTranspose3d = _lazy(ConvTranspose3d, "in_channels")
LazyBatchNorm1d = _lazy(BatchNorm1d, "num_features")
LazyBatchNorm2d = _lazy(BatchNorm2d, "num_features")
LazyBatchNorm3d = _lazy(BatchNorm3d, "num_features")
LazyInstanceNorm1d = _lazy(InstanceNorm1d, "num_features", affine=True, track_running_stats=True)
LazyInstanceNorm2d = _lazy(InstanceNorm2d, "num_features", affine=True, track_running_stats=True)
LazyInstanceNorm3d = _lazy(InstanceNorm3d, "num_features", affine=True, track_running_stats=True)
