"""Weights that are computed from others under PyTorch's first names (`torch.nn.utils.weight_norm`, `spectral_norm`).

As in `parametrize`, a computed weight is a property of a class that is made for the one module. What it is computed
from are parameters and buffers of the module itself, `weight_g` and `weight_v`, so that state dicts of PyTorch fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from jaxaot._util import show_only_own as _show_only_own
from jaxaot.errors import TensorValueError
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.nn.modules.module import Module
from jaxaot.nn.parameter import Parameter

_M = TypeVar("_M", bound=Module)


class _WeightNorm(NamedTuple):
    name: str
    dim: int | None

    def split(self, weight: Tensor) -> dict[str, Tensor]:
        return {"_g": Parameter(self._norm(weight)), "_v": Parameter(weight)}

    def _norm(self, weight: Tensor) -> Tensor:
        if self.dim is None or self.dim == -1:
            return weight.norm()
        return weight.norm(2, [d for d in range(weight.ndim) if d != self.dim % weight.ndim], keepdim=True)

    def weight(self, module: Module) -> Tensor:
        size, direction = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return direction * (size / self._norm(direction))


class _SpectralNorm(NamedTuple):
    name: str
    n_iterations: int
    eps: float
    dim: int

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def _unit(self, vector: Tensor) -> Tensor:
        return functional.normalize(vector, dim=0, eps=self.eps)

    def split(self, weight: Tensor) -> dict[str, Tensor]:
        sizes = self._matrix(weight).shape
        u, v = (self._unit(weight.new_empty(size).normal_(0, 1)) for size in sizes)
        return {"_orig": Parameter(weight), "_u": u, "_v": v}

    def weight(self, module: Module) -> Tensor:
        weight, u, v = (getattr(module, f"{self.name}{end}") for end in ("_orig", "_u", "_v"))
        return weight / u.clone().dot(self._matrix(weight).mv(v.clone()))

    def __call__(self, module: Module, args: object) -> None:
        """Before each forward in training: improves the vectors."""
        if module.training:
            weight, u, v = (getattr(module, f"{self.name}{end}") for end in ("_orig", "_u", "_v"))
            with recording(False):
                matrix = self._matrix(weight.detach())
                for _ in range(self.n_iterations):
                    v.copy_(self._unit(matrix.t().mv(u)))
                    u.copy_(self._unit(matrix.mv(v)))


_Norm = _WeightNorm | _SpectralNorm


def _property_of(norm: _Norm) -> property:
    return property(lambda self: norm.weight(self))


def _class_of(plain: type[Module], norms: Mapping[str, _Norm]) -> type[Module]:
    """Returns a class of modules some weights of which are computed; the plain one if none is."""
    if not norms:
        return plain

    def taken_apart(self: Module, protocol: object) -> tuple[Any, ...]:
        return _blank, (plain, dict(norms)), dict(vars(self))

    namespace = {"__module__": plain.__module__, "__doc__": plain.__doc__, "__qualname__": plain.__qualname__}
    computed: dict[str, Any] = {name: _property_of(norm) for name, norm in norms.items()}
    own = {"_norms": dict(norms), "_plain": plain, "_computed": tuple(norms), "__reduce_ex__": taken_apart}
    return type(plain.__name__, (plain,), {**namespace, **computed, **own})


def _blank(plain: type[Module], norms: Mapping[str, _Norm]) -> Module:
    cls = _class_of(plain, norms)
    return object.__new__(cls)


def _norms_of(module: Module) -> dict[str, _Norm]:
    return dict(getattr(type(module), "_norms", {}))


def _set_norms(module: Module, norms: Mapping[str, _Norm]) -> None:
    module.__class__ = _class_of(getattr(type(module), "_plain", type(module)), norms)


def _add(module: _M, norm: _Norm) -> _M:
    norms, weight = _norms_of(module), module._parameters.get(norm.name)
    if norm.name in norms:
        raise TensorValueError(
            f"the parameter {norm.name} of {type(module).__name__} is computed already. Remove that."
        )
    if weight is None:
        raise TensorValueError(
            f"{type(module).__name__} has no parameter {norm.name}. Write `name=` of one that it has."
        )
    with recording(False):
        parts = norm.split(weight.detach())
    del module._parameters[norm.name]
    for end, value in parts.items():
        if isinstance(value, Parameter):
            module.register_parameter(norm.name + end, value.requires_grad_(weight.requires_grad))  # type: ignore[arg-type]
        else:
            module.register_buffer(norm.name + end, value)
    _set_norms(module, {**norms, norm.name: norm})
    return module


def _remove(module: _M, name: str, kind: type[_Norm], what: str) -> _M:
    norms = _norms_of(module)
    norm = norms.pop(name, None)
    if not isinstance(norm, kind):
        raise TensorValueError(f"{what} of '{name}' not found in {module}")
    with recording(False):
        weight = norm.weight(module).detach().clone()
    for end in ("_g", "_v", "_orig", "_u"):
        module._parameters.pop(name + end, None)
        module._buffers.pop(name + end, None)
    hooks = (module._hooks or {}).get("forward_pre", {})
    for number in [number for number, hook in hooks.items() if hook is norm]:
        del hooks[number]
    _set_norms(module, norms)
    module.register_parameter(name, Parameter(weight))
    return module


def weight_norm(module: _M, name: str = "weight", dim: int | None = 0) -> _M:
    """Has a weight computed from its norm and its direction, `weight_g` and `weight_v`; returns the module.

    Args:
      module: What has the weight.
      name: Its name.
      dim: The dim each index of which has a norm of its own; None for one norm.
    """
    return _add(module, _WeightNorm(name, dim))


def remove_weight_norm(module: _M, name: str = "weight") -> _M:
    """Has a module hold a weight itself again; returns it.

    Raises:
      TensorValueError: If the weight is not computed by `weight_norm`.
    """
    return _remove(module, name, _WeightNorm, "weight_norm")


def spectral_norm(
    module: _M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> _M:
    """Has a weight, kept as `weight_orig`, divided by its largest singular value; returns the module.

    Args:
      module: What has the weight.
      name: Its name.
      n_power_iterations: How often the estimate is improved at each call in training.
      eps: The least norm that is divided by.
      dim: The dim of the outputs: by default 1 for transposed convolutions, else 0.
    """
    if n_power_iterations <= 0:
        raise TensorValueError(
            f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
        )
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    norm = _SpectralNorm(name, n_power_iterations, eps, dim)
    _add(module, norm).register_forward_pre_hook(norm)
    return module


def remove_spectral_norm(module: _M, name: str = "weight") -> _M:
    """Has a module hold a weight itself again; returns it.

    Raises:
      TensorValueError: If the weight is not computed by `spectral_norm`.
    """
    return _remove(module, name, _SpectralNorm, "spectral_norm")


def skip_init(module_cls: Callable[..., _M], *args: Any, **kwargs: Any) -> _M:
    """Returns a module whose parameters were made and not filled.

    Args:
      module_cls: The class of the module, which takes `device=`.
      *args: What it is made with.
      **kwargs: The same.
    """
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)


_show_only_own(globals())
