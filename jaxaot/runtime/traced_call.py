"""A call that is traced, and then about to be carried out: what the stages of the flow hand on."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from jaxaot._immutable import immutable
from jaxaot.lower.size_class import Shapes
from jaxaot.partition.fitting import Asked
from jaxaot.plan.difference import CallKey
from jaxaot.plan.number_program import ReadNumber, is_declared
from jaxaot.plan.paths import Path, follow
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.runtime.bucket_plan import BucketPlan
from jaxaot.runtime.key import parameter_names

if TYPE_CHECKING:
    from jaxaot.lower.warm.kept import Cut
    from jaxaot.runtime.program import Program


class GivenCall(NamedTuple):
    """A call as the user makes it, and how it is to be traced.

    Attributes:
      fn: The function, or a copy of it.
      args: Its arguments.
      kwargs: Its keyword arguments.
      numbers: Paths of the numbers that changed before.
      symbolic: Paths of numbers that are symbolic at once, without a plain trace.
      by_value: Paths of tensors that are passed as values; None if none ever are.
      stops: Whether a trace ends where the function cannot be one graph, rather than raises.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    numbers: Sequence[Path] = ()
    symbolic: Sequence[Path] = ()
    by_value: Sequence[Path] | None = None
    stops: bool = False


@immutable(eq=False)
class TracedCall:
    """A call that was traced.

    Attributes:
      given: The call.
      traced: The trace.
      make_joint: Takes the trace to its joint graph, before any pass.
      key: All that the guards look at.
      asked: What functions in it ask of its program.
      again: Traces it once more.
      plan: How it runs in the program of a bucket, if that is known.
    """

    given: GivenCall
    traced: Traced
    make_joint: Callable[[Traced], JointGraph]
    key: CallKey
    asked: Asked = dataclasses.field(default_factory=Asked)
    again: Callable[[], TracedCall] | None = None
    plan: BucketPlan | None = None

    @property
    def args(self) -> tuple[Any, ...]:
        """Its arguments."""
        return self.given.args

    @property
    def kwargs(self) -> dict[str, Any]:
        """Its keyword arguments."""
        return self.given.kwargs

    @property
    def name(self) -> str:
        """What the user calls the function."""
        return getattr(self.given.fn, "__name__", type(self.given.fn).__name__)

    @functools.cached_property
    def joint(self) -> JointGraph | None:
        """The joint graph, before any pass; None if no gradient flows."""
        return self.make_joint(self.traced) if self.traced.needs_backward else None

    @functools.cached_property
    def declared(self) -> tuple[Path, ...]:
        """The paths of the symbolic numbers, if their holders say of all that they change; else none.

        None either if the function may tell symbols from numbers: what it then does can depend on the size as well.
        """
        if self.traced.call.numbers.asks_for_types:
            return ()
        paths = [step.path for step in self.traced.call.numbers.numbers if isinstance(step, ReadNumber)]
        return tuple(paths) if all(is_declared(path, self._starts) for path in paths) else ()

    @functools.cached_property
    def shapes(self) -> Shapes:
        """The shapes of the inputs of the graph, and then the counts that Python asked for, each as a shape."""
        inputs = (tuple(aval.shape) for aval in self.traced.jaxpr.in_avals)
        return (*inputs, *((int(self.traced.break_values[i].array),) for i in self.counts))

    @functools.cached_property
    def counts(self) -> tuple[int, ...]:
        """Which of the values that Python asked for may be the sizes of something."""
        values = self.traced.break_values
        return tuple(i for i, v in enumerate(values) if not v.shape and v.dtype.kind in "iu" and int(v.array) >= 0)

    def known_at(self, shapes: Shapes) -> tuple[np.ndarray, ...] | None:
        """Returns the values that Python asks for at other sizes; None if it may not ask."""
        if not self.traced.break_values:
            return None
        known = [value.array for value in self.traced.break_values]
        for i, (count,) in zip(self.counts, shapes[len(self.traced.jaxpr.in_avals) :], strict=True):
            known[i] = np.asarray(count, known[i].dtype)
        return tuple(known)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """What the user calls the positional arguments; those of a module are those of its `forward`."""
        return parameter_names(called(self.given.fn))

    def found(self, path: Path) -> Any:
        """Returns what a path leads to."""
        return follow(self._starts, path)

    @property
    def _starts(self) -> list[tuple[Path, Any]]:
        return [((("root", name),), getattr(self.given, name)) for name in ("args", "kwargs", "fn")]


def called(fn: object) -> Any:
    """Returns the function whose parameters are those of a call."""
    return getattr(fn, "forward", fn)


Trace: TypeAlias = Callable[[GivenCall], TracedCall]
"""The stage from a call to its trace."""
CutStage: TypeAlias = "Callable[[TracedCall], Partition | Cut | None]"
"""The stage from a trace to its forward and backward; None where no gradient flows."""
Lower: TypeAlias = "Callable[[TracedCall], Program]"
"""The stage from a trace to a program. What wraps a stage, such as a budget, takes one and returns one."""
