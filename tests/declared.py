"""The passes on lowered graphs, as they are declared for the CPU."""

import jaxaot.backend.cpu.pipeline  # noqa: F401  # whose passes are declared by it
from jaxaot.passes.declared import On
from jaxaot.passes.pipeline import declared_passes, lowered_passes, without_switches

IN_ORDER = tuple(declared.name for declared in declared_passes() if On.COMPILED in declared.on)
"""All of them, those too that run only by their name, with the switches; some run twice."""

EVERY = tuple(dict.fromkeys(without_switches(IN_ORDER)))
"""Each pass once."""

BY_DEFAULT = without_switches(lowered_passes(None, "cpu"))
