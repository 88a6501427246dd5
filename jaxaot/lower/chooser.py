"""How the graphs of a function under `ja.jit` are run: what is asked of each as JAX traces it."""

from __future__ import annotations

from typing import Any

import jax

from jaxaot._jax import needs_lowering
from jaxaot._logs import logger_of
from jaxaot._typing import ClosedJaxpr
from jaxaot.backend.cpu.run import Way, choose_way
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import check_sizes
from jaxaot.partition.fitting import Asked, fitting
from jaxaot.settings import Config

_log = logger_of("graphs")


class Chooser:
    """Decides how graphs of one version of a function are run."""

    def __init__(self, passes: tuple[str, ...], settings: Config, platform: str, measures: bool):
        """Makes one for some passes; `measures` says whether programs may be compiled apart, to be measured."""
        self.passes, self.platform, self.measures, self._settings = passes, platform, measures, settings
        self.known: tuple[ClosedJaxpr, ClosedJaxpr] | None = None  # one about to be traced again, and what runs then
        self.chosen: tuple[ClosedJaxpr, Way] | None = None  # one about to be compiled with other options, and how
        self.asked: dict[int, tuple[ClosedJaxpr, Asked]] = {}  # by id: graphs whose program is measured

    @property
    def changes_graphs(self) -> bool:
        """Whether graphs may be changed before JAX compiles them: by the passes, or by repairs."""
        return bool(self.passes) or self.platform == "cpu"

    def trace(self, traced: Any, args: Any, kwargs: Any) -> tuple[Any, Asked | None]:
        """Returns a jitted function as it is traced, and what is asked of its program if that is to be measured."""
        if not self.measures:
            return traced.trace(*args, **kwargs), None
        with fitting() as asked:
            found = traced.trace(*args, **kwargs)
        if asked:
            self.asked[id(found.jaxpr)] = found.jaxpr, asked
        _, known = self.asked.get(id(found.jaxpr), (None, None))  # JAX may have traced it before
        return found, known

    def way_of(self, closed: ClosedJaxpr, n_given: int, is_one_program: bool) -> Way | None:
        """Returns how the graph of a call is run; None if only JAX can do that.

        Args:
          closed: The graph.
          n_given: How many arrays the call has; a graph of more has tracers of others, and JAX says where they leaked.
          is_one_program: Whether it has to be one.
        """
        chosen, self.chosen = self.chosen, None
        if chosen is not None and chosen[0] is closed:
            return chosen[1]
        if len(closed.in_avals) > n_given or needs_lowering(closed):
            return None
        check_sizes(closed.jaxpr)
        _log.debug("under ja.jit:\n%s", closed)
        settings, opened = self._settings, inline(closed, also_custom=True)
        return choose_way(
            opened, self.passes, settings.check_graphs, settings.exact_rounding, self.platform, is_one_program
        )


def donated_by(traced: Any) -> list[int]:
    """Returns the positions of the inputs that a traced function gives away."""
    return [i for i, leaf in enumerate(jax.tree.leaves(traced.args_info)) if leaf.donated]
