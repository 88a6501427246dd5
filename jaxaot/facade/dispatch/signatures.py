"""What functions take, for `help()`, editors and stubs, where Python alone would show `*args, **kwargs`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class SameAs:
    """Default of a parameter that is another name of one: `axis` of `dim`."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return self.name


@functools.cache
def same_as(name: str) -> SameAs:
    """Returns the default of another name of a parameter, one object for each."""
    return SameAs(name)


class Overloads(inspect.Signature):
    """The signature of a function of several forms; as text it shows each of them.

    Attributes:
      forms: The signature of each form. The parameters of this one are those of all forms.
    """

    __slots__ = ("forms",)
    forms: tuple[inspect.Signature, ...]

    def __str__(self) -> str:
        return " | ".join(map(str, self.forms))

    def format(self, **_: Any) -> str:  # what `help()` prints from Python 3.13 on
        return str(self)


def overloads_of(forms: Sequence[inspect.Signature]) -> Overloads:
    """Returns the signature of a function that takes the arguments of any of several signatures."""
    merged: dict[str, inspect.Parameter] = {}
    for parameter in (p for form in forms for p in form.parameters.values()):
        known = merged.setdefault(parameter.name, parameter)
        if known.kind is inspect.Parameter.KEYWORD_ONLY and parameter.kind is not known.kind:
            merged[parameter.name] = parameter
    parameters: list[inspect.Parameter] = []
    for parameter in sorted(merged.values(), key=lambda p: p.kind):
        is_needed = all(
            parameter.name in form.parameters and form.parameters[parameter.name].default is inspect.Parameter.empty
            for form in forms
        )
        follows = parameter.kind in _POSITIONAL and any(p.default is not inspect.Parameter.empty for p in parameters)
        if (not is_needed or follows) and parameter.default is inspect.Parameter.empty:
            parameter = parameter.replace(default=None)
        parameters.append(parameter)
    signature = Overloads(parameters)
    signature.forms = tuple({str(form): form for form in forms}.values())
    return signature


def with_parameters(
    fn: Callable[..., Any], like: Callable[..., Any], more: str = "", at: int | None = None, without: Iterable[str] = ()
) -> Callable[..., Any]:
    """Gives a wrapper the signature of what it wraps, with a few parameters more, and returns it.

    Args:
      fn: The wrapper.
      like: What it wraps.
      more: Further parameters, as they are written in a `def`.
      at: Where they stand; by default they are keywords at the end.
      without: Names of parameters of `like` that the wrapper does not take.
    """
    signature = inspect.signature(like)
    parameters = [p for p in signature.parameters.values() if p.name not in without]
    added = list(inspect.signature(eval(f"lambda {more}: None")).parameters.values())
    if at is None:
        added = [p if p.kind in _VARIADIC else p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in added]
        parameters = sorted([*parameters, *added], key=lambda p: p.kind)
    else:
        parameters[at:at] = added
    fn.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return fn


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
