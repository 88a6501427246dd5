"""`jit` that says where its values are placed, or how it is compiled, and therefore stays a call."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._jax import UNSPECIFIED, strong_aval
from jaxaot._typing import Aval, Eqn
from jaxaot.partition.body_interface import AbstractBodyInterface, Exit, Slot


@immutable
class _Placed:
    sharding: Any
    layout: Any


class Call(AbstractBodyInterface):
    """A `jit`. A body sees a value whole, wherever it is placed."""

    def bodies(self, eqn: Eqn) -> list[Any]:
        return [eqn.params["jaxpr"]]

    def operand_hows(self, eqn: Eqn) -> Sequence[Hashable]:
        return _placements(eqn, "in", len(eqn.invars))

    def result_hows(self, eqn: Eqn) -> Sequence[Hashable]:
        return _placements(eqn, "out", len(eqn.outvars))

    def is_pair(self, forward: Any, backward: Any) -> bool:
        names = ("compiler_options_kvs", "ctx_mesh")
        return all(forward.params.get(name) == backward.params.get(name) for name in names)

    def is_same(self, how: Hashable, other: Hashable) -> bool:
        return True

    def exit(self, eqn: Eqn, aval: Aval) -> Exit:
        return Exit(_Placed(UNSPECIFIED, None), strong_aval(aval))

    def params(self, eqn: Eqn, bodies: Sequence[Any], operands: Sequence[Slot], results: Sequence[Slot]) -> Any:
        return {
            "jaxpr": bodies[0],
            "in_shardings": tuple(slot.how.sharding for slot in operands),
            "in_layouts": tuple(slot.how.layout for slot in operands),
            "out_shardings": tuple(slot.how.sharding for slot in results),
            "out_layouts": tuple(slot.how.layout for slot in results),
            "donated_invars": (False,) * len(operands),
        }


def _placements(eqn: Eqn, side: str, n: int) -> Sequence[Hashable]:
    layouts = eqn.params[f"{side}_layouts"] or (None,) * n
    return tuple(map(_Placed, eqn.params[f"{side}_shardings"], layouts))
