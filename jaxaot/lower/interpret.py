"""A graph run one equation at a time, for debugging."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jaxaot._jax import Literal
from jaxaot._typing import Array
from jaxaot.ir.text import Names, format_eqn, to_text
from jaxaot.lower.executable import refuse_other_settings


class Interpreter:
    """A graph that runs one equation after the other, with the interface of `Executable`.

    Attributes:
      jaxpr: The ClosedJaxpr.
      name: What it goes by.
      donated: Always empty: nothing is donated, so that every value can still be looked at.
      settings: Those of JAX under which alone it may run; None for any.
      observe: Called with each equation, its operands and its results, if given.
    """

    def __init__(
        self,
        jaxpr: Any,
        donated: Sequence[int] = (),
        name: str = "graph",
        compiler_options: Mapping[str, Any] | None = None,
        observe: Callable[[Any, list[Array], list[Array]], None] | None = None,
    ):
        del donated, compiler_options
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
            return atom.val if isinstance(atom, Literal) else values[atom]

        for position, eqn in enumerate(jaxpr.eqns):
            params = eqn.primitive.get_bind_params(eqn.params)
            operands = list(map(read, eqn.invars))
            try:
                with eqn.ctx.manager:
                    results = eqn.primitive.bind(*operands, **params)
            except Exception as error:
                error.add_note(f"In equation {position} of `{self.name}`: {self._shown(position)}")
                raise
            results = list(results) if eqn.primitive.multiple_results else [results]
            values.update(zip(eqn.outvars, results, strict=True))
            if self.observe is not None:
                self.observe(eqn, operands, results)
        return [read(atom) for atom in jaxpr.outvars]

    __call__ = call

    def _shown(self, position: int) -> str:
        """Returns an equation with the names that the printed graph gives its variables."""
        jaxpr = self.jaxpr.jaxpr
        inputs = {var: f"in{i}" for i, var in enumerate(jaxpr.invars)}
        names = Names(inputs | {var: f"const{i}" for i, var in enumerate(jaxpr.constvars)})
        return [format_eqn(eqn, names) for eqn in jaxpr.eqns[: position + 1]][-1]

    def as_text(self, optimized: bool = False) -> str:
        """Returns the graph that is interpreted."""
        del optimized
        return to_text(self.jaxpr, name=self.name)
