"""What a parametrized attribute is computed from, and how."""

from __future__ import annotations

from typing import Any

from jaxaot.errors import TensorValueError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn.modules.containers import ModuleList
from jaxaot.nn.modules.module import Module
from jaxaot.nn.parameter import Parameter


class ParametrizationList(ModuleList):
    """The modules that compute a tensor, one after the other, and the tensors that the first one takes.

    Attributes:
      n_originals: How many these are, `original0`, `original1`, …; 0 if it is one, `original`.
      is_parameter: Whether what is computed was a parameter.
      requires_grad: Whether its gradient was wanted.
    """

    def __init__(self, parametrization: Module, tensor: Tensor, unsafe: bool) -> None:
        super().__init__([parametrization])
        self.is_parameter = isinstance(tensor, Parameter)
        self.requires_grad = tensor.requires_grad
        self.unsafe = unsafe
        with recording(False):
            found: Any = tensor
            if hasattr(parametrization, "right_inverse"):
                found = parametrization.right_inverse(tensor.detach())
        if isinstance(found, Tensor):
            self.n_originals = 0
            if found is not tensor:
                with recording(False):
                    tensor.copy_(found)
            self._keep("original", tensor)
        else:
            self.n_originals = len(found)
            for i, part in enumerate(found):
                self._keep(f"original{i}", part.detach().clone())
        self._check(tensor)

    def _keep(self, name: str, value: Tensor) -> None:
        if self.is_parameter:
            self.register_parameter(
                name, value if isinstance(value, Parameter) else Parameter(value, self.requires_grad)
            )
        else:
            self.register_buffer(name, value)

    def add(self, parametrization: Module) -> None:
        """Adds a module that computes the tensor from the result of the last one."""
        before = self()
        self.append(parametrization)
        try:
            self._check(before)
        except TensorValueError:
            del self[-1]
            raise

    def _check(self, tensor: Tensor) -> None:
        with recording(False):
            made = self()
        if self.unsafe:
            return
        if made.dtype != tensor.dtype:
            raise TensorValueError(
                "Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is "
                f"enabled: {tensor.dtype} became {made.dtype}"
            )
        if made.shape != tensor.shape:
            raise TensorValueError(
                "Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is "
                f"enabled: {list(tensor.shape)} became {list(made.shape)}"
            )

    def _originals(self) -> list[Tensor]:
        if self.n_originals:
            return [getattr(self, f"original{i}") for i in range(self.n_originals)]
        return [self.original]

    def assign(self, value: Tensor) -> None:
        """Writes originals from which the value is computed, in place.

        Raises:
          TensorValueError: If a module has no `right_inverse`.
        """
        with recording(False):
            found: Any = value
            for module in reversed(list(self)):
                inverse = getattr(module, "right_inverse", None)
                if inverse is None:
                    raise TensorValueError(
                        f"parametrization {type(module).__name__} does not implement right_inverse. Write one, or "
                        "write to `module.parametrizations.weight.original`."
                    )
                found = inverse(found)
            for original, part in zip(self._originals(), found if self.n_originals else [found], strict=True):
                original.copy_(part)

    def forward(self) -> Tensor:
        """Returns the computed tensor."""
        modules = list(self)
        value = modules[0](*self._originals())
        for module in modules[1:]:
            value = module(value)
        return value


def parametrized_property(name: str) -> property:
    """Returns the property by which a computed tensor is read and written."""

    def get(self: Module) -> Tensor:
        return self.parametrizations[name]()

    def put(self: Module, value: Tensor) -> None:
        rows: Any = self.parametrizations[name]
        rows.assign(value)

    return property(get, put)
