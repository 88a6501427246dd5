"""Where equations come from: name stacks, tracebacks, and values that are carried in scopes."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import jax

from jaxaot._jax import Eqn, source_info_util


def scopes(eqn: Eqn) -> list[tuple[bool, str]]:
    """Returns the entries of an equation's name stack, outermost first, as (is a transform, name)."""
    return [(type(entry).__name__ == "Transform", entry.name) for entry in eqn.source_info.name_stack.stack]


class Annotation(str):
    """A scope in which equations are traced that carries a value, which AD and `jit` keep as they keep any scope.

    Attributes:
      value: The value.
      stays: Whether equations that are `traced_like` an annotated one are annotated too.
    """

    value: Any
    stays: bool

    def __new__(cls, name: str, value: object, stays: bool = False) -> Annotation:
        made = super().__new__(cls, name)
        made.value = value
        made.stays = stays
        return made


def annotations_of(eqn: Eqn) -> list[Annotation]:
    """Returns the annotations around an equation, outermost first."""
    return [entry.name for entry in eqn.source_info.name_stack.stack if isinstance(entry.name, Annotation)]


def annotated_source(source: Any, annotation: Annotation) -> Any:
    """Returns source info as if its place were inside an annotation."""
    return source.replace(name_stack=source.name_stack.extend(annotation))


@contextlib.contextmanager
def made_at(traceback: Any) -> Iterator[None]:
    """Gives equations traced in the block another place, unless that is None."""
    if traceback is None:
        yield
        return
    with source_info_util.user_context(traceback, name_stack=source_info_util.current_name_stack()):
        yield


def nest_source(inner: Any, outer: Any, keep_traceback: bool = True) -> Any:
    """Returns the source info of `inner`, an equation of a sub-jaxpr of `outer`, as if it stood at `outer`'s place.

    Args:
      inner: The equation that moves.
      outer: Its new surroundings, an object with the attributes `name_stack` and `traceback`.
      keep_traceback: Whether the source line stays that of `inner`.
    """
    stack = outer.name_stack + inner.source_info.name_stack
    if keep_traceback and inner.source_info.traceback is not None:
        return inner.source_info.replace(name_stack=stack)
    return inner.source_info.replace(name_stack=stack, traceback=outer.traceback)


def source_line(eqn: Eqn) -> str | None:
    """Returns where the user wrote an equation, such as `/home/me/model.py:12`, or `None`."""
    traceback = eqn.source_info.traceback
    return None if traceback is None else _line_of(traceback)


@functools.lru_cache(maxsize=4096)
def _line_of(traceback: Any) -> str | None:
    """Returns the line of a traceback; equations by the thousand share a few hundred equal ones."""
    summary = source_info_util.summarize(source_info_util.SourceInfo(traceback, source_info_util.NameStack()))
    place = summary.split(" (")[0]
    parts = place.rsplit(":", 2)
    if len(parts) == 3 and parts[2].isdigit() and parts[1].isdigit():
        place = f"{parts[0]}:{parts[1]}"
    return None if place in ("", "unknown") else place


@contextlib.contextmanager
def traced_like(eqn: Eqn, scope: str, n_dropped_scopes: int) -> Iterator[None]:
    """Gives equations traced in the block the context, source line and name stack of `eqn`, below `scope`.

    Annotations are left out, but for those that stay.
    """
    stack = eqn.source_info.name_stack[n_dropped_scopes:]
    entries = _lasting(stack.stack)
    if len(entries) < len(stack.stack):
        stack = type(stack)(entries)
    with jax.named_scope(scope):
        name_stack = source_info_util.current_name_stack() + stack
        with source_info_util.user_context(eqn.source_info.traceback, name_stack=name_stack), eqn.ctx.manager:
            yield


def _lasting(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the entries of a name stack without annotations, but for those that stay."""
    return tuple(e for e in entries if not isinstance(e.name, Annotation) or e.name.stays)
