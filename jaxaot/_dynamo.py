"""What scripts say to Dynamo, the tracer of PyTorch (`torch._dynamo`): by the names of `ja.compiler`."""

from collections.abc import Callable as _Callable
from typing import Any as _Any

from jaxaot._util import Noted as _Noted
from jaxaot._util import show_only_public as _show_only_public
from jaxaot.compiler import allow_in_graph as allow_in_graph
from jaxaot.compiler import disable as disable
from jaxaot.compiler import is_compiling as is_compiling
from jaxaot.compiler import reset as reset
from jaxaot.compiler import set_stance as set_stance
from jaxaot.facade.marks.assumed import graph_break as graph_break
from jaxaot.sizes import mark_dynamic as mark_dynamic
from jaxaot.sizes import mark_static as mark_static

maybe_mark_dynamic: _Callable[..., _Any] = mark_dynamic


config = _Noted(
    f"{__name__}.config", suppress_errors=False, verbose=False, cache_size_limit=8, recompile_limit=8,
    accumulated_cache_size_limit=256, assume_static_by_default=True, automatic_dynamic_shapes=True,
    capture_scalar_outputs=False, capture_dynamic_output_shape_ops=False, error_on_recompile=False, optimize_ddp=True,
    compiled_autograd=False, specialize_int=False, inline_inbuilt_nn_modules=True,
)  # fmt: skip

__path__: list[str] = []  # so that `import jaxaot._dynamo.config` finds it
_show_only_public(globals(), ("config",))
