"""What scripts say to Inductor, PyTorch's code generator (`torch._inductor`): settings, taken and read back."""

from jaxaot._util import Noted as _Noted
from jaxaot._util import show_only_public as _show_only_public

config = _Noted(
    f"{__name__}.config", max_autotune=False, coordinate_descent_tuning=False, fx_graph_cache=True, epilogue_fusion=True
)

__path__: list[str] = []  # so that `import jaxaot._inductor.config` finds it
_show_only_public(globals(), ("config",))
