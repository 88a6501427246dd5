"""The namespaces of the op table that are no package of their own, such as `ja.linalg` and `ja.signal.windows`."""

from __future__ import annotations

import sys
import types

from jaxaot.errors import SingularMatrixError
from jaxaot.facade.methods import FUNCTIONS


def namespace(name: str, doc: str) -> types.ModuleType:
    """Returns a module with the functions of a namespace of the op table, importable as `jaxaot.<name>`."""
    module = types.ModuleType(f"jaxaot.{name}", doc)
    vars(module).update(FUNCTIONS.get(name, {}))
    sys.modules.setdefault(f"jaxaot.{name}", module)
    return module


linalg = namespace("linalg", "Linear algebra (`torch.linalg`).")
vars(linalg)["LinAlgError"] = SingularMatrixError
special = namespace("special", "Special functions (`torch.special`).")
fft = namespace("fft", "Fourier transforms (`torch.fft`).")
masked = namespace("masked", "Reductions that leave out masked elements (`torch.masked`).")
signal = namespace("signal", "Signal processing (`torch.signal`).")
vars(signal)["windows"] = namespace("signal.windows", "Windows for spectra (`torch.signal.windows`).")
