"""What compiled functions do at a call for which they have no program: the *stance*, of the whole process."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from jaxaot.errors import ArgumentError, OptionError, TraceError
from jaxaot.facade.trace_state import RUNNING
from jaxaot.tape.modes import state

P = ParamSpec("P")
R = TypeVar("R")

_STANCES = (
    "default", "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile", "aot_eager_then_compile",
)  # fmt: skip
_PASSING = ("default", "eager_then_compile", "aot_eager_then_compile")
"""Those in which programs are made as ever: sizes that change need no eager call to be known here."""


class set_stance:
    """Says at once what compiled functions do at calls; as a context manager or decorator, for what runs inside.

        with ja.compiler.set_stance("force_eager"):
            step(x)  # runs `step.fn`

    Args:
      stance: `"default"`; `"force_eager"`, which runs the functions themselves; `"eager_on_recompile"`, which does so
        where a program would be made; `"fail_on_recompile"`, which raises there. `"eager_then_compile"` is as default.
      skip_guard_eval_unsafe: Ignored: guards are always looked at.
      force_backend: Refused unless it is None.

    Raises:
      ArgumentError: If there is no such stance.
      OptionError: If a backend is given.
    """

    def __init__(self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: object = None):
        del skip_guard_eval_unsafe
        if stance not in _STANCES:
            raise ArgumentError(f"invalid stance {stance!r}. Write one of {', '.join(map(repr, _STANCES))}.")
        if force_backend is not None:
            raise OptionError("`force_backend` is not taken: say `backend=` of `ja.compile`, for each function.")
        self.stance, self._before = stance, _now[0]
        _set(stance)

    def __enter__(self) -> None:
        _set(self.stance)

    def __exit__(self, *error: object) -> None:
        _set(self._before)

    def __call__(self, fn: Callable[P, R]) -> Callable[P, R]:
        _set(self._before)

        @functools.wraps(fn)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with set_stance(self.stance):
                return fn(*args, **kwargs)

        return inside


_now, _FORCED = ["default"], object()


def _set(stance: str) -> None:
    if state.trace is not None:
        raise OptionError("`set_stance` was called in a function that is being compiled. Call it outside of it.")
    _now[0] = stance
    if (stance == "force_eager") is not (_FORCED in RUNNING):
        (RUNNING.remove if _FORCED in RUNNING else RUNNING.append)(_FORCED)  # so that calls look


def forces_eager() -> bool:
    """Returns whether compiled functions run as the functions themselves."""
    return _now[0] == "force_eager"


def may_make_program(name: str, why: Callable[[], str]) -> bool:
    """Returns whether a program may be made; if not, the call runs eagerly.

    Args:
      name: The function.
      why: Says how the call differs from those that there are programs for.

    Raises:
      TraceError: If a program would be made in the stance `"fail_on_recompile"`.
    """
    if _now[0] == "fail_on_recompile":
        raise TraceError(
            f"Detected recompile when ja.compile stance is 'fail_on_recompile': a call of `{name}` fits no program. "
            f"{why()}. Call it once with such arguments before, or write `ja.compiler.set_stance('default')`."
        )
    return _now[0] in _PASSING
