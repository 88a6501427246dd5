"""The namespaces of the op table that are no package of their own: `ja.linalg`, `ja.special`, `ja.fft`."""

from __future__ import annotations

import sys
import types

from jaxaot.tensor.methods import FUNCTIONS


def namespace(name: str, doc: str) -> types.ModuleType:
    """Returns a module with the functions of a namespace of the op table, importable as `jaxaot.<name>`."""
    module = types.ModuleType(f"jaxaot.{name}", doc)
    vars(module).update(FUNCTIONS.get(name, {}))
    sys.modules.setdefault(f"jaxaot.{name}", module)
    return module


linalg = namespace("linalg", "Linear algebra (`torch.linalg`).")
special = namespace("special", "Special functions (`torch.special`).")
fft = namespace("fft", "Fourier transforms (`torch.fft`).")
