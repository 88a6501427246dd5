"""Tensors under einops, whichever of the two libraries is imported first.

einops looks for the backend of a tensor among the subclasses of its `AbstractBackend`. One is declared here as soon as
`einops` is imported, which nothing here does.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any

import numpy as np

from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor

_PLACE = "einops._backends"
_declared: list[type] = []  # a class knows its subclasses as long as somebody holds them


def _declare(module: Any) -> None:
    fns = FUNCTIONS[""]

    class Backend(module.AbstractBackend):
        framework_name = "jaxaot"
        arange = staticmethod(fns["arange"])
        stack_on_zeroth_dimension = staticmethod(fns["stack"])
        einsum = staticmethod(fns["einsum"])
        transpose = staticmethod(fns["permute"])
        tile = staticmethod(fns["tile"])
        add_axis = staticmethod(fns["unsqueeze"])

        def is_appropriate_type(self, tensor: object) -> bool:
            return isinstance(tensor, Tensor)

        def from_numpy(self, x: np.ndarray) -> Tensor:
            return fns["asarray"](x)

        def to_numpy(self, x: Tensor) -> np.ndarray:
            return x.numpy()

        def reduce(self, x: Tensor, operation: str, axes: Sequence[int]) -> Tensor:
            name = {"min": "amin", "max": "amax"}.get(operation, operation)
            if name == "prod":  # of one dim at a time
                for dim in sorted(axes, reverse=True):
                    x = x.prod(dim)
                return x
            return getattr(x, name)(dim=tuple(axes))

        def add_axes(self, x: Tensor, n_axes: int, pos2len: dict[int, int]) -> Tensor:
            sizes = [-1] * n_axes
            for dim, size in pos2len.items():
                x, sizes[dim] = x.unsqueeze(dim), size
            return x.expand(sizes)

        def concat(self, tensors: Sequence[Tensor], axis: int) -> Tensor:
            return fns["cat"](tensors, axis)

        def is_float_type(self, x: Tensor) -> bool:
            return x.dtype.is_floating_point

    _declared.append(Backend)


class _Waiting:
    """Stands first in `sys.meta_path` until einops is imported."""

    @classmethod
    def find_spec(cls, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname != _PLACE:
            return None
        sys.meta_path.remove(cls)  # type: ignore[arg-type]
        spec = importlib.util.find_spec(fullname)
        loader: Any = spec and spec.loader
        if loader:
            run = loader.exec_module

            def run_and_declare(module: Any) -> None:
                run(module)
                _declare(module)

            loader.exec_module = run_and_declare
        return spec


if _PLACE in sys.modules:
    _declare(sys.modules[_PLACE])
else:
    sys.meta_path.insert(0, _Waiting)  # type: ignore[arg-type]
