"""What is said to the compiler, by the names of `torch.compiler`: ways out of it, what it may assume, what it keeps."""

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import TypeVar as _TypeVar

from jaxaot._callables import require_function as _require_function
from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.marks.assumed import assume_constant as assume_constant
from jaxaot.facade.marks.assumed import disable as disable
from jaxaot.tape.modes import state as _state

_T = _TypeVar("_T")

if _TYPE_CHECKING:
    from jaxaot.autograd._compiled_tape import compiled_autograd as compiled_autograd
    from jaxaot.freezing.frozen import freeze as freeze
    from jaxaot.runtime.stance import set_stance as set_stance

_LATER = {
    "compiled_autograd": "jaxaot.autograd._compiled_tape",
    "freeze": "jaxaot.freezing.frozen",
    "set_stance": "jaxaot.runtime.stance",
}
"""Name → where it is: much, which who asks `is_compiling` does not need."""


def is_compiling() -> bool:
    """Returns whether the code that asks is being traced, by `ja.compile`, `ja.trace` or `ja.export`."""
    return _state.trace is not None


is_dynamo_compiling = is_compiling


def reset() -> None:
    """Drops the compiled versions of all functions: their next calls make programs anew."""
    compiled = _sys.modules.get("jaxaot.runtime.compiled")
    if compiled is not None:  # otherwise there are none
        compiled.clear_all()


def allow_in_graph(fn: _T) -> _T:
    """Returns a function, or functions in a list, as given: every function is traced.

    Raises:
      TensorTypeError: If it is none.
    """
    for one in fn if isinstance(fn, (list, tuple)) else (fn,):
        _require_function(one, "ja.compiler.allow_in_graph", "ja.compiler.allow_in_graph(f)")
    return fn


def cudagraph_mark_step_begin() -> None:
    """Does nothing: there are no CUDA graphs to mark, XLA runs a program as a whole."""


__path__: list[str] = []  # so that `from jaxaot.compiler import …` asks `errors/absent.py`
_show_only_public(globals(), later=_LATER)
