"""What a profile shows (`torch.profiler`): names of parts of a program. `jax.profiler.trace(folder)` writes one."""

import contextlib as _contextlib
from typing import Any as _Any

import jax as _jax

from jaxaot._util import show_only_public as _show_only_public


class record_function(_contextlib.ContextDecorator):
    """Names what runs inside, for `jax.profiler.trace`: in compiled functions its operations, elsewhere the time too.

        with ja.profiler.record_function("forward"):
            y = model(x)

    Args:
      name: The name; also as a decorator of a function.
      args: More to be shown.
    """

    def __init__(self, name: str, args: str | None = None):
        self.name, self.args = name, args
        self._blocks: list[_Any] = []

    def __enter__(self) -> "record_function":
        block = _contextlib.ExitStack()
        block.enter_context(
            _jax.profiler.TraceAnnotation(self.name, **({} if self.args is None else {"args": self.args}))
        )
        block.enter_context(_jax.named_scope(self.name))
        self._blocks.append(block)
        return self

    def __exit__(self, *error: object) -> None:
        self._blocks.pop().close()


__path__: list[str] = []  # so that `from jaxaot.profiler import …` asks `errors/absent.py`
_show_only_public(globals())
