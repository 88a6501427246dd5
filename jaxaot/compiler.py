"""What is said to the compiler, by the names of `torch.compiler`: ways out of it, what it may assume, what it keeps."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.marks.assumed import assume_constant as assume_constant
from jaxaot.facade.marks.assumed import disable as disable
from jaxaot.tape.modes import state as _state

if _TYPE_CHECKING:
    from jaxaot.autograd._compiled_tape import compiled_autograd as compiled_autograd
    from jaxaot.freezing.frozen import freeze as freeze

_LATER = {"compiled_autograd": "jaxaot.autograd._compiled_tape", "freeze": "jaxaot.freezing.frozen"}
"""Name → where it is: much, which who asks `is_compiling` does not need."""


def is_compiling() -> bool:
    """Returns whether the code that asks is being traced, by `ja.compile`, `ja.trace` or `ja.export`."""
    return _state.trace is not None


__path__: list[str] = []  # so that `from jaxaot.compiler import …` asks `errors/absent.py`
_show_only_public(globals(), later=_LATER)
