"""What scripts say to Dynamo, the tracer of PyTorch (`torch._dynamo`): by the names of `ja.compiler`."""

import sys as _sys
import types as _types
from collections.abc import Callable as _Callable
from contextlib import ContextDecorator as _ContextDecorator
from typing import Any as _Any

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


class _Patch(_ContextDecorator):
    def __init__(self, settings: dict[str, object]):
        self._settings, self._before = settings, list[dict[str, object]]()

    def __enter__(self) -> None:
        self._before.append({name: getattr(config, name) for name in self._settings})
        vars(config).update(self._settings)

    def __exit__(self, *error: object) -> None:
        vars(config).update(self._before.pop())


class _Config(_types.ModuleType):
    """Settings of Dynamo: taken, and read back. Without effect here, where `ja.compile` has options of its own."""

    def patch(self, name: str | dict[str, object] = "", value: object = None, **settings: object) -> _Patch:
        """Sets some of them for a block, or while a function runs."""
        return _Patch({**(name if isinstance(name, dict) else {name: value} if name else {}), **settings})

    def __getattr__(self, name: str) -> _Any:  # for type checkers
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'", name=name, obj=self)


config = _sys.modules[f"{__name__}.config"] = _Config(f"{__name__}.config", _Config.__doc__)
vars(config).update(
    suppress_errors=False, verbose=False, cache_size_limit=8, recompile_limit=8, accumulated_cache_size_limit=256,
    assume_static_by_default=True, automatic_dynamic_shapes=True, capture_scalar_outputs=False,
    capture_dynamic_output_shape_ops=False, error_on_recompile=False, optimize_ddp=True, compiled_autograd=False,
    specialize_int=False, inline_inbuilt_nn_modules=True,
)  # fmt: skip

__path__: list[str] = []  # so that `import jaxaot._dynamo.config` finds it
_show_only_public(globals(), ("config",))
