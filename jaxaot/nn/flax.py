"""flax nnx modules in compiled functions: a Variable is a cell, a Module an object.

The Variables that a function reaches become inputs of its graph, those it writes become outputs, and the new arrays are
swapped into the same Variables: nothing is split or merged at a call.

    model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    @ja.compile
    def step(model, optimizer, x, y):
        loss, grads = nnx.value_and_grad(lambda m: ((m(x) - y) ** 2).mean())(model)
        optimizer.update(model, grads)
        return loss

This file alone names parts of flax that are not documented. linen modules are pure and need nothing.
"""

from __future__ import annotations

from typing import Any

from jaxaot.errors import UnsupportedVariableError
from jaxaot.tensor.cells import CellKind, register_cell_kind


class NnxKind(CellKind):
    """The Variables and Modules of flax nnx."""

    name = "nnx"
    value_attribute = "_raw_value"
    metadata_attribute = "_var_metadata"

    def __init__(self) -> None:
        from flax import nnx
        from flax.nnx import tracers, variablelib

        self.cell_types = (nnx.Variable, variablelib.HijaxVariable)
        self.object_types = (nnx.Pytree, nnx.State)
        self.usual_metadata = nnx.Variable.required_metadata
        self.write = vars(nnx.Variable)["_raw_value"].__set__  # a slot: past the check of the trace level
        self._state_type = nnx.State
        self._hijax_type = variablelib.HijaxVariable
        self._trace_state = tracers.TraceState

    def check(self, cell: Any) -> None:
        if isinstance(cell, self._hijax_type) or cell.ref:
            raise UnsupportedVariableError(
                f"A {type(cell).__name__} holds a mutable array (`ref=True` or `hijax=True`), which changes behind the "
                "back of a compiled function. Make it with `ref=False, hijax=False`, the default; its writes are "
                "carried out in place all the same."
            )

    def is_hidden(self, name: str) -> bool:
        return name in ("_pytree__state", "_pytree__nodes")

    def open(self, value: Any) -> Any:
        if isinstance(value, self._state_type):
            return None
        holder = value if isinstance(value, self.cell_types) else value._pytree__state
        before = holder._trace_state
        object.__setattr__(holder, "_trace_state", self._trace_state())
        return before

    def close(self, value: Any, opened: Any) -> None:
        if opened is not None:
            holder = value if isinstance(value, self.cell_types) else value._pytree__state
            object.__setattr__(holder, "_trace_state", opened)

    def check_writable(self, cell: Any) -> None:
        cell._check_can_update()


register_cell_kind("flax.nnx", NnxKind)
