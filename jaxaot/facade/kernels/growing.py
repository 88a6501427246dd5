"""Ops whose operands grow by one from call to call, as a cache of keys and values does: few programs for all sizes.

Each size would have a program, which XLA takes longer for than a hundred calls. Two sizes have one. At the third it is
seen that an op grows; from then on the sizes up to a power of two share a program, which runs on padded arrays and
computes what the exact one computes, see `buckets/`. NumPy pads and cuts, so this is for CPU. A size that comes often
has a program of its own in the end.
"""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from jaxaot import settings as config
from jaxaot.facade.kernels.first_uses import is_rare, may_use_host, on_host
from jaxaot.facade.kernels.kernels import Recipe, remember
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.lower.warm.kernels import keeping_kernels
from jaxaot.ops.table import OpSpec

if TYPE_CHECKING:
    from jaxaot.lower.sized import Sized

_BUCKETS = tuple(1 << n for n in range(3, 21))
_MAX_FAMILIES = 512
_MAX_SEEN = 16
_TIMES = 2
"""So often in a row an op has to grow in the same places."""


class _Operands(NamedTuple):
    """The arguments of an op.

    Attributes:
      kinds: What calls that differ in sizes alone have in common of each.
      sizes: Those of all tensors, one after the other.
      places: For each of the sizes, the argument and the dim.
    """

    kinds: tuple[Any, ...]
    sizes: tuple[int, ...]
    places: tuple[tuple[int, int], ...]


class _Family:
    """Calls of an op that differ in sizes alone.

    Attributes:
      programs: By which of the sizes grow, and the other ones, what runs.
    """

    def __init__(self) -> None:
        self.programs: dict[tuple[tuple[int, ...], tuple[int, ...]], Sized[..., Any]] = {}
        self._seen: dict[tuple[int, ...], tuple[tuple[int, ...], int]] = {}

    def found(self, sizes: tuple[int, ...]) -> Sized[..., Any] | None:
        """Returns what runs calls of some sizes."""
        return next((run for (grows, rest), run in list(self.programs.items()) if _others(sizes, grows) == rest), None)

    def grows(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Notes the sizes of a call, and returns which of them grow; none if that is not known."""
        grown, times = (), 0
        for before, (where, n) in list(self._seen.items()):
            now = tuple(i for i, (a, b) in enumerate(zip(before, sizes, strict=True)) if a != b)
            if now and all(sizes[i] == before[i] + 1 for i in now):
                n = n + 1 if where == now else 1
                grown, times = (now, n) if n > times else (grown, times)
        remember(self._seen, sizes, (grown, times), _MAX_SEEN)
        return grown if times >= _TIMES else ()


_families: dict[Any, _Family] = {}


def clear_growing() -> None:
    """Forgets which ops grow, and their programs."""
    _families.clear()


def grown_results(spec: OpSpec, flat: Sequence[Any], static: Any, lengths: Any, cache_key: Hashable) -> Any:
    """Returns the arrays that an op makes whose operands grow; None where they do not, or are not on CPU.

    Args:
      spec: The row.
      flat: Its dynamic arguments, lists opened.
      static: Its static arguments.
      lengths: Of its lists.
      cache_key: What its kernel is compiled for.
    """
    if spec.is_random or spec.schema.written or spec.schema.n_results < 0 or not may_use_host():
        return None
    read = _read(spec, flat)
    if read is None or config.kernels_differ():
        return None
    key = spec, static, tuple(map(type, static)), lengths, read.kinds
    family = _families.get(key)
    if family is None:
        family = _Family()
        remember(_families, key, family, _MAX_FAMILIES)
    run = family.found(read.sizes)
    if run is None:
        grows = family.grows(read.sizes)
        if not grows:
            return None
        run = family.programs[grows, _others(read.sizes, grows)] = _program(spec, static, lengths, read, flat, grows)
    arrays = [on_host(x) if isinstance(x, Tensor) else x for x in flat]
    is_there = all(x is not None or kind is None for x, kind in zip(arrays, read.kinds, strict=True))
    if not is_there or not is_rare(cache_key):
        return None
    try:
        with keeping_kernels():
            return run(*arrays)
    except Exception:  # the program of the size says what is wrong
        return None


def _read(spec: OpSpec, flat: Sequence[Any]) -> _Operands | None:
    defaults = () if spec.has_lists else spec.dynamic_defaults
    kinds: list[Any] = []
    sizes: list[int] = []
    places: list[tuple[int, int]] = []
    for i, value in enumerate(flat):
        if type(value) is Tensor:
            layout = value._layout
            kinds.append((layout.dtype, len(layout.size)))
            sizes += layout.size
            places += [(i, dim) for dim in range(len(layout.size))]
        elif value is None:
            kinds.append(None)
        elif isinstance(value, (bool, int, float, complex)):
            kinds.append(("default", value) if defaults and value is defaults[i] else type(value))
        else:
            return None
    return _Operands(tuple(kinds), tuple(sizes), tuple(places)) if sizes else None


def _others(sizes: tuple[int, ...], grows: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(0 if i in grows else n for i, n in enumerate(sizes))


def _program(
    spec: OpSpec, static: Any, lengths: Any, read: _Operands, flat: Sequence[Any], grows: Sequence[int]
) -> Sized[..., Any]:
    """Returns what runs an op at all sizes, given its arguments as arrays and numbers."""
    recipe = Recipe((), lengths, (), False)
    # numbers that a kernel has as constants stay so
    fixed = {i: flat[i] for i, kind in enumerate(read.kinds) if isinstance(kind, tuple) and kind[0] == "default"}

    def run(*values: Any) -> Any:
        return spec.evaluate(recipe.nest([fixed.get(i, value) for i, value in enumerate(values)]), static)

    names = [f"x{i}" for i in range(len(flat))]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    run.__name__ = run.__qualname__ = spec.name
    run.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    dims: dict[str, dict[int, Any]] = {}
    for place in grows:
        i, dim = read.places[place]
        dims.setdefault(names[i], {})[dim] = _BUCKETS
    from jaxaot.lower.sized import Sized  # of which a process without such ops needs nothing
    from jaxaot.lower.version import Objects

    without_objects = Objects(lambda _: False, _makes_none, lambda *_: None)
    return Sized(run, {}, without_objects, dims, _BUCKETS, None)  # type: ignore[arg-type]


def _makes_none(*_: object) -> NoReturn:
    raise AssertionError("operands of ops are arrays and numbers")
