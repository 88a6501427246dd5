"""Views whose sizes change: they are passed as their values, so that they have buckets as other tensors do.

The storage of a view is an input of the graph as a whole, and of its sizes nobody knows which are those of the view.
Its values are an input of the view's own sizes. That costs a copy, so it is done once a size changes, and of views
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from jaxaot import settings
from jaxaot.facade.marks.sizes import may_be_values
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import is_wrapper
from jaxaot.plan.call import TensorInput
from jaxaot.plan.paths import Path
from jaxaot.plan.stages import Traced
from jaxaot.runtime.traced_call import TracedCall

IsSaid: TypeAlias = Callable[[TensorInput, Tensor], bool]
"""Takes a tensor, as it was found and itself, to whether a size of it changes, as was said or seen."""


class ChangingViews:
    """What is known of the sizes of the tensors of one function, by their paths.

    Attributes:
      by_value: The tensors that are passed as values; None if none ever are.
    """

    def __init__(self, is_asked: bool):
        """Begins.

        Args:
          is_asked: Whether any may be passed as values.
        """
        self.by_value: tuple[Path, ...] | None = () if is_asked else None
        self._first: dict[tuple[Path, int], tuple[int, ...]] = {}
        self._refused: dict[Path, str] = {}

    def first(self, tensor: TensorInput) -> tuple[int, ...]:
        """Returns the first size that a tensor had in a call; it is noted if it has this one."""
        return self._first.setdefault((tensor.path, len(tensor.layout.size)), tensor.layout.size)

    def passes_more(self, call: TracedCall, plain: Collection[int], is_said: IsSaid) -> bool:
        """Notes the sizes of a call; returns whether more is to be passed as values, and the call traced again.

        Args:
          call: The call.
          plain: The numbers of the tensors that have buckets as they are.
          is_said: Whether a size of a tensor changes.
        """
        traced: Traced = call.traced
        if self.by_value is None or traced.break_values or settings.get().validate_guards:
            return False
        tensors = [t for t in traced.call.tensors if t.path[-1] != _BASE]
        for t in tensors:
            self.first(t)
        changing = [t for i, t in enumerate(traced.call.tensors) if i not in plain and is_said(t, call.found(t.path))]
        changing += [t for t in tensors if t.requires_grad and t.is_leaf and t.layout.is_overlapping]
        storages = {t.storage for t in changing if t.path not in self._refused and t.storage >= 0}
        shown = [t for t in tensors if t.storage in storages]
        never = {t.storage for t in shown if _is_parameter(t) or not may_be_values(call.found(t.path))}
        never |= {spec.storage for spec in traced.alias.made} | {write.storage for write in traced.alias.writes}
        new = [t.path for t in shown if t.storage not in never and t.path not in self.by_value]
        self.by_value = (*self.by_value, *new)
        return bool(new)

    def keep_passing(self, traced: Traced) -> None:
        """Notes which tensors were passed as values: those that were not are no more, as more is done than reading.

        Args:
          traced: The trace of a call.
        """
        stored = [t for t in traced.call.tensors if not t.is_value and t.path in (self.by_value or ())]
        used = _used(traced)
        for t in stored:
            self._refused[t.path] = used.get(t.storage, _LOOKED_AT)
        self.by_value = tuple(path for path in self.by_value or () if path not in self._refused)

    def reasons(self, call: TracedCall, plain: Collection[int], is_said: IsSaid) -> Iterator[str]:
        """Yields why tensors of a call have no buckets though a size of them changes.

        Args:
          call: The call.
          plain: The numbers of the tensors that have buckets.
          is_said: Whether a size of a tensor changes.
        """
        used = _used(call.traced)
        for i, t in enumerate(call.traced.call.tensors):
            value = call.found(t.path)
            if i in plain or t.path[-1] == _BASE or not is_said(t, value):
                continue
            name = call.key.name(t.path)
            if _is_parameter(t):
                yield f"{name} changes its size, and is a parameter"
            elif is_wrapper(value) or (t.path[-1][0] == "attr" and is_wrapper(call.found(t.path[:-1]))):
                yield f"{name} changes its size, and is of a subclass no inner tensor of which has its shape"
            elif not t.layout.numel:
                yield f"{name} changes its size, and is a view without elements"
            elif not may_be_values(value):
                yield f"{name} changes its size, and is a view of memory on several devices, or not all of it filled"
            else:
                why = used.get(t.storage) or self._refused.get(t.path, _LOOKED_AT)
                yield f"{name} changes its size, and is a view {why}: pass clones of it"


_BASE = ("attr", "_base_tensor")
"""Where a tensor is reached only as what another one is a view of, whose node was made while tracing."""
_LOOKED_AT = "whose memory is looked at: where it lies, other bytes of it, or a gradient that begins there"


def _is_parameter(tensor: TensorInput) -> bool:
    is_trained = tensor.requires_grad and tensor.is_leaf and not tensor.layout.is_overlapping
    return is_trained and not tensor.is_argument


def _used(traced: Traced) -> dict[int, str]:
    """Returns the storages to which a function does more than to read them, and what."""
    alias = traced.alias
    found = {spec.storage: "that is returned or kept, or a view of it" for spec in alias.made}
    found |= {change.spec.storage: "that becomes another view" for change in alias.changes}
    return found | {write.storage: "that is written" for write in alias.writes}
