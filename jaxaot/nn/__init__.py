"""Building blocks of networks (`torch.nn`).

The classes of layers are loaded when one of them is first asked for, so that `import jaxaot` does not wait for them.
"""

import importlib as _importlib
from typing import TYPE_CHECKING
from typing import Any as _Any

from jaxaot.errors.absent import missing_name as _missing_name
from jaxaot.nn import flax as flax  # says what an nnx.Variable is; flax itself is not imported for it
from jaxaot.nn import functional as functional

if TYPE_CHECKING:
    from jaxaot.nn import attention as attention
    from jaxaot.nn import init as init
    from jaxaot.nn import parallel as parallel
    from jaxaot.nn import utils as utils
    from jaxaot.nn.modules import *  # noqa: F403

_LOADED = ("attention", "init", "parallel", "utils", "modules", "parameter")


if not TYPE_CHECKING:  # else any name would do for a type checker

    def __getattr__(name: str) -> _Any:
        if name in _LOADED:
            return _importlib.import_module(f"jaxaot.nn.{name}")
        modules = _importlib.import_module("jaxaot.nn.modules")
        if name == "__all__":
            return __dir__()
        if name not in modules.__all__:
            raise _missing_name("jaxaot.nn", name, __dir__())
        globals()[name] = found = getattr(modules, name)
        return found


def __dir__() -> list[str]:
    return sorted(
        [*_importlib.import_module("jaxaot.nn.modules").__all__, "attention", "functional", "init", "parallel", "utils"]
    )
