"""Why a function was compiled more than once: kept for `explain_recompiles`, and watched for a reason that returns."""

from __future__ import annotations

import warnings
from collections import Counter, deque

from jaxaot._immutable import immutable
from jaxaot._logs import logger_of
from jaxaot.errors import RecompileWarning
from jaxaot.plan.difference import CallKey, Difference, Kind, differences

MAX_FOR_ONE_REASON = 8
"""After so many programs for one kind of reason and one argument, a warning says what to write instead."""

_LOGGER = logger_of("recompiles")
"""Says of each program after the first why it was made."""

_OF_FIXED_SIZES = "One program serves many sizes under `dynamic=None`, the default: leave `dynamic=False` out."
"""What to write where users asked for a program for each size."""

_ADVICE = {
    Kind.SHAPE: "`explain()` says why its sizes share no program. Pad it to a few sizes, for instance powers of two.",
    Kind.DTYPE: "Convert it before the call.",
    Kind.LAYOUT: "Pass `.contiguous()` of it.",
    Kind.OFFSET: "Pass the whole tensor and the position as an index tensor, or a copy: `.clone()`.",
    Kind.STATIC: "Pass it as a tensor, an array or a float, whose values are not part of the program; an object should "
    "be the same one at every call, or compare by value.",
    Kind.PYTHON: "Keep it in a tensor, or pass it to the function as a tensor, an array or a float; containers should "
    "keep their length, functions and objects their identity.",
    Kind.STRUCTURE: "Pass one tensor or array in place of containers of many lengths.",
}


@immutable
class Recompile:
    """Why a program after the first was made.

    Attributes:
      number: Which program, the first one being 0.
      reasons: How the call differs from the most similar one that came before.
    """

    number: int
    reasons: tuple[Difference, ...]

    def __str__(self) -> str:
        return f"program {self.number}: {'; '.join(reason.with_line for reason in self.reasons)}"


class RecompileList(list[Recompile]):
    """What `explain_recompiles()` returns; prints one line for each program after the first."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "There was no recompilation."

    __str__ = __repr__


class Recompiles:
    """What a function was compiled for, in order; holds none of the user's tensors."""

    def __init__(self, name: str, most: int, are_sizes_fixed: bool):
        """Begins with nothing compiled.

        Args:
          name: Of the function, for warnings.
          most: How many calls are remembered.
          are_sizes_fixed: Whether each size was to have a program of its own.
        """
        self._name, self._are_sizes_fixed = name, are_sizes_fixed
        self._keys: deque[tuple[int, CallKey]] = deque(maxlen=most)
        self._n = 0
        self._returning: Counter[tuple[Kind, str]] = Counter()
        self._warned: set[tuple[Kind, str]] = set()

    def note(self, key: CallKey, is_shared: bool = False) -> None:
        """Notes that a program was made, and warns if one argument keeps being the reason.

        Args:
          key: What its guards look at.
          is_shared: Whether it is the program of a bucket: then its sizes are no reason to warn.
        """
        reasons = self._reasons(key, list(self._keys))
        if self._n:
            shown = "; ".join(reason.with_line for reason in reasons) or self._dropped()
            _LOGGER.info("`%s` is compiled again: program %d: %s", self._name, self._n, shown)
        self._keys.append((self._n, key))
        self._n += 1
        for kind, about in {(reason.kind, reason.about) for reason in reasons}:
            if is_shared and kind is Kind.SHAPE:
                continue
            self._returning[kind, about] += 1
            is_due = self._returning[kind, about] == MAX_FOR_ONE_REASON and (kind, about) not in self._warned
            if is_due and kind in _ADVICE:
                self._warned.add((kind, about))
                advice = _OF_FIXED_SIZES if kind is Kind.SHAPE and self._are_sizes_fixed else _ADVICE[kind]
                text = next(reason.with_line for reason in reasons if (reason.kind, reason.about) == (kind, about))
                warnings.warn(
                    f"`{self._name}` was compiled {self._n} times, {MAX_FOR_ONE_REASON} of them because of {about}: "
                    f"the last time {text}. {advice} `explain_recompiles()` lists every reason.",
                    RecompileWarning,
                    stacklevel=5,
                )

    def explain(self) -> RecompileList:
        """Returns the reasons of every program after the first that is remembered."""
        keys = list(self._keys)
        return RecompileList(
            Recompile(number, self._reasons(key, keys[:i]) or (self._dropped(),))
            for i, (number, key) in enumerate(keys)
            if number
        )

    def forget(self) -> None:
        """Forgets everything but the warnings that were given."""
        self._keys.clear()
        self._returning.clear()
        self._n = 0

    def _reasons(self, key: CallKey, earlier: list[tuple[int, CallKey]]) -> tuple[Difference, ...]:
        """Returns the differences to the most similar earlier call."""
        found = (differences(other, key) for _, other in reversed(earlier))
        return min(found, key=len, default=())

    def _dropped(self) -> Difference:
        text = "a program for such calls was there, and was dropped to make room: see `max_programs`"
        return Difference(Kind.SETTING, "max_programs", text)
