"""The update of a parameter as one program: what a rule does in place to it, and to what is kept of it.

A rule is a dozen eager ops, each with programs for each shape. Run on symbols it becomes one program for each kind of
parameter. The learning rate is an operand. Parameters of one kind go through it together. What such a program cannot
see (`facade/kernels/together.py`), and the rules of users, are left to the rule itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jaxaot._util import frozen
from jaxaot.facade.kernels.kernels import remember
from jaxaot.facade.kernels.together import InPlace, is_whole, may_run_programs
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap_array

_RULES = frozenset(f"jaxaot.optim.rules.{name}" for name in ("adafactor", "adam", "averages", "gradient"))
"""Where the rules are that change nothing but tensors."""

TOGETHER = 8
"""As many parameters of one kind as go through one program; what is left goes one by one."""

MAX_OPTIONS = 4
"""With more values of options that are part of programs, as a schedule of momentums has, the rule itself runs."""

MAX_PROGRAMS = 512

_programs: dict[Any, Program | None] = {}
_options_of: dict[Any, set[Any]] = {}


class _NotInPlace(Exception):
    """A rule did something else than to write to what it was given."""


class _Item(NamedTuple):
    """A parameter that waits for its update."""

    parameter: Tensor
    gradient: Tensor
    kept: dict[str, Any]

    @property
    def written(self) -> list[Tensor]:
        return [self.parameter, *self.kept.values()]


class Program:
    """The update of so many parameters of one kind."""

    def __init__(self, rule: Callable[..., None], options: Mapping[str, Any], like: _Item, n: int):
        """Makes the kernels; nothing is traced yet.

        Args:
          rule: The method `_update` of an optimizer.
          options: Of the group, but for the learning rate.
          like: A parameter of the kind.
          n: How many parameters go through it.
        """
        names = list(like.kept)
        layouts, of_gradient = [one._layout for one in like.written], like.gradient._layout

        def update(written: Sequence[Any], gradients: Sequence[Any], rate: object) -> list[Any]:
            tensors = [wrap_array(array, layout) for array, layout in zip(written, layouts * n, strict=True)]
            group = {**options, "lr": wrap_array(rate)}
            for i, array in enumerate(gradients):
                parameter, *kept = tensors[i * len(layouts) : (i + 1) * len(layouts)]
                gradient, by_name = wrap_array(array, of_gradient), dict(zip(names, kept, strict=True))
                rule(None, parameter, -gradient if options.get("maximize") else gradient, by_name, group)
                if list(map(id, by_name.values())) != list(map(id, kept)):
                    raise _NotInPlace
            return [tensor._storage.array for tensor in tensors]

        update.__name__ = rule.__qualname__.partition(".")[0].lower() + "_update"
        self._program = InPlace(update)

    def run(self, items: Sequence[_Item], rate: object) -> None:
        """Updates parameters."""
        written = [tensor for item in items for tensor in item.written]
        self._program(written, [item.gradient for item in items], rate)


class Updates:
    """Parameters of one group that wait for their updates, by kind."""

    def __init__(self, optimizer: Any, group: Mapping[str, Any], rate: object):
        """Begins with none; `rate` is the learning rate as programs take it."""
        self._optimizer, self._group, self._rate = optimizer, group, rate
        self._rule = type(optimizer)._update
        self._options = {name: group[name] for name in optimizer.defaults if name != "lr"}
        self._key = self._rule, frozen(self._options)
        self._kinds: dict[Any, list[_Item]] = {}
        self._read: set[Storage] = set()
        self._written: set[Storage] = set()

    def takes(self, parameter: Tensor, gradient: Tensor, kept: dict[str, Any]) -> bool:
        """Returns whether an update waits from now on; else it is to be done at once, after those that wait."""
        item = _Item(parameter, gradient, kept)
        if not all(map(is_whole, (gradient, *item.written))):
            return False
        written = [tensor._storage for tensor in item.written]
        layout, source = parameter._layout, gradient._storage
        if gradient._layout.size != layout.size or gradient._layout.dtype != layout.dtype or layout.dtype.kind == "c":
            return False
        fresh = set(written)
        if len(fresh) < len(written) or source in fresh or source in self._written:
            return False
        if not fresh.isdisjoint(self._written) or not fresh.isdisjoint(self._read):
            return False
        self._written |= fresh
        self._read.add(source)
        kind = layout, gradient._layout, *((name, tensor._layout) for name, tensor in kept.items())
        self._kinds.setdefault(kind, []).append(item)
        return True

    def run(self) -> None:
        """Does the updates that wait."""
        kinds, self._kinds = self._kinds, {}
        self._read.clear()
        self._written.clear()
        for kind, items in kinds.items():
            while items:
                n = TOGETHER if len(items) >= TOGETHER else 1
                now, items = items[:n], items[n:]
                program = self._program(kind, now)
                if program is not None:
                    try:
                        program.run(now, self._rate)
                        continue
                    except _NotInPlace:
                        _programs[self._key, kind, n] = None
                for item in now:
                    gradient = -item.gradient if self._group.get("maximize") else item.gradient
                    self._optimizer._update(item.parameter, gradient, item.kept, self._group)

    def _program(self, kind: object, items: Sequence[_Item]) -> Program | None:
        key = self._key, kind, len(items)
        if key in _programs:
            return _programs[key]
        options = _options_of.setdefault((self._rule, kind), set())
        if len(options) >= MAX_OPTIONS and self._key not in options:
            return None
        options.add(self._key)
        program = Program(self._rule, self._options, items[0], len(items))
        remember(_programs, key, program, MAX_PROGRAMS)
        return program


def updates_of(optimizer: Any, group: Mapping[str, Any]) -> Updates | None:
    """Returns what updates parameters of a group by programs; None where the rule is to run by itself."""
    rate, rule = group.get("lr"), type(optimizer)._update
    if rule.__module__ not in _RULES or not may_run_programs():
        return None
    if isinstance(rate, Tensor):
        rate = rate._storage.array if is_whole(rate) and not rate.ndim else None
    elif type(rate) is not float:
        rate = float(rate) if type(rate) is int else None
    others = (value for name, value in group.items() if name not in ("params", "lr"))
    is_plain = not any(isinstance(part, Tensor) for value in others for part in _parts(value))
    return Updates(optimizer, group, rate) if rate is not None and is_plain else None


def _parts(value: object) -> Sequence[Any]:
    return value if isinstance(value, (tuple, list)) else (value,)
