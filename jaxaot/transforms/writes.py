"""What a function does to its arguments while JAX transforms it: noted inside, carried out outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot.facade.dispatch.write import note_statistics
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.tracer.bodies.pure import Argument, statistics


class Writes:
    """The arguments that a pure function wrote to.

    Attributes:
      places: Which leaves of the arguments they are; known once the function ran.
      statistics: The tensors that it was not passed and to which batch norms wrote.
    """

    def __init__(self) -> None:
        self.places: list[int] = []
        self.statistics: list[Tensor] = []

    def note(self, arguments: Sequence[Argument | None]) -> list[Tensor]:
        """Returns what the written arguments hold now, for the transformation to return besides the result."""
        found = [(i, a) for i, a in enumerate(arguments) if a is not None and a.is_written()]
        self.places = [i for i, _ in found]
        self.statistics = statistics()
        return [*(a.now() for _, a in found), *(x.detach() for x in self.statistics)]

    def carry_out(self, leaves: Sequence[Any], after: Sequence[Any]) -> None:
        """Writes to the arguments, of which `leaves` are all, None included, and to statistics."""
        for place, value in zip(self.places, after, strict=False):
            if isinstance(leaves[place], Tensor):
                leaves[place].copy_(value)
        for tensor, value in zip(self.statistics, after[len(self.places) :], strict=True):
            tensor.copy_(value.detach())
            note_statistics(tensor)
