"""Ways out of compilation, by the names of `torch.compiler`."""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.errors.absent import missing_name as _missing_name
from jaxaot.facade.marks.assumed import assume_constant as assume_constant
from jaxaot.facade.marks.assumed import disable as disable
from jaxaot.tape.modes import state as _state


def is_compiling() -> bool:
    """Returns whether the code that asks is being traced, by `ja.compile`, `ja.trace` or `ja.export`."""
    return _state.trace is not None


__path__: list[
    str
] = []  # so that Python looks for what `from jaxaot.compiler import …` does not find, see `errors/absent.py`
_show_only_public(globals())

if not _TYPE_CHECKING:  # else any name would do for a type checker

    def __getattr__(name: str) -> _Any:
        raise _missing_name("jaxaot.compiler", name, globals()["__all__"])
