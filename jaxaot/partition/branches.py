"""`cond` and `switch`: several bodies, of which one runs, and an index that says which."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from jaxaot._jax import strong_aval
from jaxaot._typing import Aval, Eqn
from jaxaot.partition.body_interface import AbstractBodyInterface, Exit, Slot

_VALUE = "value"


class Branches(AbstractBodyInterface):
    """A `cond`. Branch `i` of one runs where branch `i` of another does, if both read the same index."""

    n_head = 1

    def bodies(self, eqn: Eqn) -> list[Any]:
        return list(eqn.params["branches"])

    def operand_hows(self, eqn: Eqn) -> Sequence[Hashable]:
        return (_VALUE,) * (len(eqn.invars) - 1)

    def result_hows(self, eqn: Eqn) -> Sequence[Hashable]:
        return (_VALUE,) * len(eqn.outvars)

    def is_pair(self, forward: Any, backward: Any) -> bool:
        is_same_index = forward.invars[0] is backward.invars[0]
        return is_same_index and len(forward.params["branches"]) == len(backward.params["branches"])

    def exit(self, eqn: Eqn, aval: Aval) -> Exit:
        return Exit(_VALUE, strong_aval(aval))

    def params(self, eqn: Eqn, bodies: Sequence[Any], operands: Sequence[Slot], results: Sequence[Slot]) -> Any:
        return {"branches": tuple(bodies)}
