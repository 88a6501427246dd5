"""Which streams of random numbers a trace drew from, and which it began anew."""

from __future__ import annotations

from collections.abc import Mapping

from jaxaot.errors import UnreachableTensorError
from jaxaot.facade.memory.generator import default_generator
from jaxaot.facade.trace_state import TraceState
from jaxaot.plan.paths import Path
from jaxaot.plan.rng import GeneratorUse, RngPlan
from jaxaot.plan.world import AttributeWrite, BuiltConstant, WorldWrite


def generator_plan(trace: TraceState, paths: Mapping[int, Path]) -> tuple[RngPlan, tuple[WorldWrite, ...]]:
    """Returns which generators were drawn from, and the writes to those that the function gave a seed.

    Args:
      trace: The trace.
      paths: Id of each generator that was there before → its path.

    Raises:
      UnreachableTensorError: If no path leads to a generator that was there before.
    """
    used = dict.fromkeys([*trace.seeds, *trace.positions])
    uses, writes = [], list[WorldWrite]()
    for generator in used:
        position, path = trace.position(generator), paths.get(id(generator))
        is_default = generator is default_generator
        if path is None and not is_default:
            if position.seed is not None and generator not in trace.seeds:  # made by the function, as a rule
                continue
            raise UnreachableTensorError(
                "The function drew from a generator that no path leads to. Pass it as an argument."
            )
        place = (("root", "default_generator"),) if path is None else path
        uses.append(
            GeneratorUse(
                None if is_default else path, position.n if position.seed is None else 0, generator in trace.seeds
            )
        )
        if position.seed is not None:
            fields = {"seed_value": position.seed, "_stream_words": position.words, "_stream_offset": position.n}
            writes += [AttributeWrite(place, name, BuiltConstant(value)) for name, value in fields.items()]
    return RngPlan(tuple(sorted(uses, key=lambda use: not use.is_input))), tuple(writes)
