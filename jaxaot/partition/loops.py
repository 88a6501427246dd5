"""`scan`: one body that runs many times; consts are whole, carries go from one to the next, the rest row by row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from jaxaot._jax import scan_counts, scan_params, stacked_aval
from jaxaot._typing import Aval, Eqn
from jaxaot.partition.body_interface import CARRY, AbstractBodyInterface, Exit, Slot

_WHOLE, _ROWS = "whole", "rows"
_RANKS = {_WHOLE: 0, CARRY: 1, _ROWS: 2}


class Loop(AbstractBodyInterface):
    """A `scan`. Row `i` meets row `i` of other values in whatever direction the loop runs."""

    def bodies(self, eqn: Eqn) -> list[Any]:
        return [eqn.params["jaxpr"]]

    def operand_hows(self, eqn: Eqn) -> Sequence[Hashable]:
        n_consts, n_carry = scan_counts(eqn)
        return (_WHOLE,) * n_consts + (CARRY,) * n_carry + (_ROWS,) * (len(eqn.invars) - n_consts - n_carry)

    def result_hows(self, eqn: Eqn) -> Sequence[Hashable]:
        _, n_carry = scan_counts(eqn)
        return (CARRY,) * n_carry + (_ROWS,) * (len(eqn.outvars) - n_carry)

    def is_pair(self, forward: Any, backward: Any) -> bool:
        return forward.params["length"] == backward.params["length"]

    def n_iterations(self, eqn: Eqn) -> int:
        return eqn.params["length"]

    def rank(self, how: Hashable) -> int:
        return _RANKS[how]  # type: ignore[index]

    def exit(self, eqn: Eqn, aval: Aval) -> Exit:
        return Exit(_ROWS, stacked_aval(eqn.params["length"], aval))

    def params(self, eqn: Eqn, bodies: Sequence[Any], operands: Sequence[Slot], results: Sequence[Slot]) -> Any:
        taken, given = [slot.how for slot in operands], [slot.how for slot in results]
        counts = [*map(taken.count, (_WHOLE, CARRY, _ROWS)), given.count(_ROWS)]
        return {"jaxpr": bodies[0], **scan_params(eqn, *counts)}
