"""Sums whose terms lie on several devices.

JAX's shardings say which part of an array each device holds, and not that these are terms of a sum. So a sum that is
not finished is a tensor with one more dim in front for each axis of the mesh that it is over, sharded along that axis.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NoReturn

from jax.sharding import Mesh

from jaxaot.errors import UnfinishedSumError
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.members.placements import Partial, Placement, Replicate, sharding_of
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.table import OpSpec


class PartialTensor:
    """A tensor of which the devices along an axis of the mesh hold terms of a sum.

    It says what it is, and `redistribute` finishes the sum. Everything else asks for values that no device has yet.

    Attributes:
      parts: The terms, a tensor with one more dim in front for each `Partial` placement.
      device_mesh: The mesh.
      placements: One for each axis of the mesh.
    """

    __slots__ = ("device_mesh", "parts", "placements")

    def __init__(self, parts: Tensor, device_mesh: Mesh, placements: Sequence[Placement]):
        for name, value in (("parts", parts), ("device_mesh", device_mesh), ("placements", tuple(placements))):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise _unfinished(f"To set `.{name}`", self)

    __hash__ = object.__hash__  # by identity, though `==` asks for values

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.parts.shape[self._n_axes :])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return self.parts.dtype

    @property
    def requires_grad(self) -> bool:
        return self.parts.requires_grad

    @property
    def _n_axes(self) -> int:
        return sum(isinstance(p, Partial) for p in self.placements)

    def redistribute(self, device_mesh: Mesh | None = None, placements: Sequence[Placement] | None = None) -> Tensor:
        """Returns the sum, placed as asked: an all-reduce for `Replicate`, a reduce-scatter for `Shard`.

        Args:
          device_mesh: The mesh; by default its own.
          placements: One for each axis of the mesh; by default `Replicate` where it is a sum.

        Raises:
          PlacementError: If the placements do not fit.
        """
        mesh = self.device_mesh if device_mesh is None else device_mesh
        if placements is None:
            placements = [Replicate() if isinstance(p, Partial) else p for p in self.placements]
        sharding_of(mesh, placements, self.shape)  # says what is wrong before anything is computed
        return self.parts.sum(tuple(range(self._n_axes))).redistribute(mesh, placements)

    def full_tensor(self) -> Tensor:
        """Returns the sum, with all of it on each device."""
        return self.redistribute(self.device_mesh, [Replicate()] * len(self.placements))

    def to_local(self) -> Tensor:
        """Returns the term that the first device of this process holds."""
        return self.parts.to_local()[(0,) * self._n_axes]

    def __copy__(self) -> PartialTensor:
        return PartialTensor(self.parts, self.device_mesh, self.placements)

    def __deepcopy__(self, memo: dict[int, Any]) -> PartialTensor:
        return PartialTensor(copy.deepcopy(self.parts, memo), self.device_mesh, self.placements)

    def settled(self, what: str) -> NoReturn:
        """Refuses to stand for a tensor among the arguments of an operation.

        Args:
          what: The operation.
        """
        raise _unfinished(what, self)

    def __repr__(self) -> str:
        return f"PartialTensor(shape={list(self.shape)}, dtype={self.dtype}, placements={list(self.placements)})"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") or not hasattr(Tensor, name):
            raise AttributeError(f"'PartialTensor' object has no attribute '{name}'", name=name, obj=self)
        raise _unfinished(f"`.{name}`", self)


def _unfinished(what: str, x: PartialTensor) -> UnfinishedSumError:
    return UnfinishedSumError(
        f"{what} asks for the values of {x!r}, and each device has one term of their sum. Finish the sum first: "
        f"`x = x.redistribute(mesh, [Replicate()])`; then read it or write to it."
    )


def _refusing(name: str) -> Any:
    def refuse(self: PartialTensor, *args: object, **kwargs: object) -> NoReturn:
        del args, kwargs
        raise _unfinished(f"`{name}`", self)

    refuse.__name__ = name
    return refuse


_OPERATORS = """
    add sub mul truediv floordiv mod pow matmul and or xor lshift rshift radd rsub rmul rtruediv rpow rmatmul iadd isub
    imul itruediv ipow imatmul iand ior ixor ifloordiv imod ilshift irshift rand ror rxor rlshift rrshift rfloordiv
    rmod divmod rdivmod round eq ne lt le gt ge getitem setitem delitem contains len iter bool float int complex index
    neg pos invert abs array jax_array
"""


def _run(spec: OpSpec, dynamic: Sequence[Any], static: object, generator: object) -> NoReturn:
    del static, generator
    next(x for x in dynamic if isinstance(x, PartialTensor)).settled(f"`{spec.name}`")
    raise AssertionError("unreachable")


STAND_INS[PartialTensor] = _run
for _name in _OPERATORS.split():
    setattr(PartialTensor, f"__{_name}__", _refusing(f"__{_name}__"))
