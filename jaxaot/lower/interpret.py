"""A graph run one equation at a time, for debugging.

To evaluate a graph *by equations* is to have XLA compile each equation alone, so that nothing of one can be fused with,
or simplified by, another: it is the reference that programs are compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot._jax import Literal, scan_counts
from jaxaot._typing import Array, Eqn, Jaxpr
from jaxaot.ir.rewrite import inline
from jaxaot.ir.text import Names, format_eqn, to_text
from jaxaot.lower.cache_key import refuse_other_settings

MAX_ITERATIONS = 64
"""How many iterations of a loop are run one equation at a time; a loop of more is one equation."""


class Interpreter:
    """A graph that runs one equation after the other, with the interface of `Executable`.

    Attributes:
      jaxpr: The ClosedJaxpr.
      name: What it goes by.
      donated: Always empty: nothing is donated, so that every value can still be looked at.
      settings: Those of JAX under which alone it may run; None for any.
      observe: Called with each equation, its operands and its results, if given.
      opens_bodies: Whether loops of few iterations and branches are run one equation at a time too.
    """

    def __init__(
        self,
        jaxpr: Jaxpr,
        donated: Sequence[int] = (),
        name: str = "graph",
        compiler_options: Mapping[str, Any] | None = None,
        observe: Callable[[Any, list[Array], list[Array]], None] | None = None,
        opens_bodies: bool = False,
    ):
        del donated, compiler_options
        self.opens_bodies = opens_bodies
        self.jaxpr, self.name, self.observe = jaxpr, name, observe
        self.donated: tuple[int, ...] = ()
        self.settings: Any = None

    def call(self, *args: Array) -> list[Array]:
        """Returns the outputs for some inputs.

        An error of an equation carries a note that shows the equation.
        """
        if self.settings is not None:
            refuse_other_settings(self.settings)
        jaxpr = self.jaxpr.jaxpr
        values = dict(zip(jaxpr.constvars, self.jaxpr.consts, strict=True)) | dict(zip(jaxpr.invars, args, strict=True))

        def read(atom: Any) -> Any:
            return self._literal(atom) if isinstance(atom, Literal) else values[atom]

        for position, eqn in enumerate(jaxpr.eqns):
            operands = list(map(read, eqn.invars))
            try:
                results = self._run_body(eqn, operands) if self.opens_bodies else None
                if results is None:
                    results = self._bind(eqn, operands)
            except Exception as error:
                error.add_note(f"In equation {position} of `{self.name}`: {self.shown(position)}")
                raise
            values.update(zip(eqn.outvars, results, strict=True))
            if self.observe is not None:
                self.observe(eqn, operands, results)
        return [read(atom) for atom in jaxpr.outvars]

    __call__ = call

    def _literal(self, literal: Any) -> Any:
        return literal.val

    def _bind(self, eqn: Eqn, operands: list[Array]) -> list[Array]:
        """Returns the results of one equation, which XLA compiles alone."""
        with eqn.ctx.manager:
            results = eqn.primitive.bind(*operands, **eqn.primitive.get_bind_params(eqn.params))
        return list(results) if eqn.primitive.multiple_results else [results]

    def _run_body(self, eqn: Eqn, operands: list[Array]) -> list[Array] | None:
        """Returns the results of a loop or a branch by the equations of its body; None if it is to be one equation."""
        params = eqn.params
        match eqn.primitive.name:
            case "cond":
                index = min(max(int(operands[0]), 0), len(params["branches"]) - 1)
                return self._evaluate(params["branches"][index], operands[1:])
            case "while":
                return self._run_while(params, operands)
            case "scan" if 0 < params["length"] <= MAX_ITERATIONS:
                return self._run_scan(eqn, operands)
        return None

    def _run_while(self, params: Mapping[str, Any], operands: list[Array]) -> list[Array] | None:
        n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]
        for_cond, for_body, carry = operands[:n_cond], operands[n_cond : n_cond + n_body], operands[n_cond + n_body :]
        for _ in range(MAX_ITERATIONS):
            (goes_on,) = self._evaluate(params["cond_jaxpr"], [*for_cond, *carry])
            if jnp.ndim(goes_on) or not goes_on:  # under `vmap` some go on while others do not
                return None if jnp.ndim(goes_on) else carry
            carry = self._evaluate(params["body_jaxpr"], [*for_body, *carry])
        return None

    def _run_scan(self, eqn: Eqn, operands: list[Array]) -> list[Array]:
        n_consts, n_carry = scan_counts(eqn)
        consts, carry, rows = (
            operands[:n_consts],
            operands[n_consts : n_consts + n_carry],
            operands[n_consts + n_carry :],
        )
        iterations = range(eqn.params["length"])
        made: list[list[Array]] = []
        for i in reversed(iterations) if eqn.params["reverse"] else iterations:
            results = self._evaluate(eqn.params["jaxpr"], [*consts, *carry, *(row[i] for row in rows)])
            carry = results[:n_carry]
            made.append(results[n_carry:])
        if eqn.params["reverse"]:
            made.reverse()
        return [*carry, *(jnp.stack(column) for column in zip(*made, strict=True))]

    def _evaluate(self, body: Any, operands: Sequence[Array]) -> list[Array]:
        """Returns the outputs of a body by its equations."""
        return type(self)(inline(body, also_custom=True), name=self.name, opens_bodies=True).call(*operands)

    def shown(self, position: int) -> str:
        """Returns an equation with the names that the printed graph gives its variables."""
        jaxpr = self.jaxpr.jaxpr
        inputs = {var: f"in{i}" for i, var in enumerate(jaxpr.invars)}
        names = Names(inputs | {var: f"const{i}" for i, var in enumerate(jaxpr.constvars)})
        return [format_eqn(eqn, names) for eqn in jaxpr.eqns[: position + 1]][-1]

    def as_text(self, optimized: bool = False) -> str:
        """Returns the graph that is interpreted."""
        del optimized
        return to_text(self.jaxpr, name=self.name)
