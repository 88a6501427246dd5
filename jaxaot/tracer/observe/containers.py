"""Guards on containers: few items one by one, many at once, very many not at all.

What is guarded at once are plain values, and tensors and arrays that no graph takes; objects are looked into.
"""

from __future__ import annotations

import dataclasses
import enum
import types
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from jaxaot import settings
from jaxaot._immutable import immutable
from jaxaot.errors import UnguardedError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.dtypes import dtype
from jaxaot.plan.guards import HasKeys, HasLength, HasMembers, HasType, PythonGuard
from jaxaot.plan.members import HasItems, SeenItems
from jaxaot.plan.paths import ObjectKey, Path, PathStep, path_text
from jaxaot.tracer.observe.paths import SEQUENCES, item_steps, key_step

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice)
CONSTANT = (types.BuiltinFunctionType, np.dtype, dtype, np.ufunc, enum.Enum)
FEW, MAX = 256, 100_000
"""Up to so many items are guarded one by one; up to so many at all."""


def is_plain(value: object) -> bool:
    """Returns whether a value is compared as such, and holds nothing."""
    return isinstance(value, (np.generic, *PLAIN))


def is_hashable(value: object) -> bool:
    """Returns whether a value has a hash."""
    try:
        hash(value)
    except (TypeError, ValueError):  # views of memory raise the second
        return False
    return True


@immutable
class Items:
    """What is guarded of a container.

    Attributes:
      guards: On the container, and on the items that are looked at at once.
      rest: The step to each other item, and the item.
      at_once: The same of the tensors and arrays that are looked at at once.
    """

    guards: list[PythonGuard]
    rest: list[tuple[PathStep, Any]]
    at_once: list[tuple[PathStep, Any]] = dataclasses.field(default_factory=list)


def guard_items(path: Path, value: Any, is_input: Callable[[Any], bool] = lambda _: False) -> Items:
    """Returns what is guarded of a dict or sequence.

    Args:
      path: Leads to it.
      value: Itself.
      is_input: Whether a tensor or array is an input of the graph.

    Raises:
      UnguardedError: If it has too many items.
    """
    guards = [PythonGuard(path, HasType(type(value)))]
    if not check_size(path, len(value), "items"):
        return Items([*guards, PythonGuard(path, HasLength(len(value)))], [])
    is_dict = not isinstance(value, SEQUENCES)
    steps = list(item_steps(value))
    condition = HasKeys(tuple(key for (_, key), _ in steps)) if is_dict else HasLength(len(value))
    guards.append(PythonGuard(path, condition))
    if len(value) <= FEW:
        return Items(guards, steps)

    def is_at_once(child: Any) -> bool:
        return is_plain(child) or (isinstance(child, (Tensor, jax.Array)) and not is_input(child))

    at_once = [i for i, (_, child) in enumerate(steps) if is_at_once(child)]
    if at_once:
        seen = SeenItems([steps[i][1] for i in at_once], is_plain)
        chosen = None if len(at_once) == len(steps) else tuple(at_once)
        guards.append(PythonGuard(path, HasItems(seen, chosen, is_dict)))
    return Items(
        guards,
        [step for step in steps if not is_at_once(step[1])],
        [steps[i] for i in at_once if not is_plain(steps[i][1])],
    )


def set_guards(path: Path, value: Any) -> Iterator[PythonGuard]:
    """Yields the guards on a set.

    Raises:
      UnguardedError: If it has too many members.
    """
    yield PythonGuard(path, HasType(type(value)))
    if check_size(path, len(value), "members"):
        keys = [key for _, key in map(key_step, value)]
        are_values = not any(isinstance(key, ObjectKey) for key in keys)
        yield PythonGuard(path, HasMembers(frozenset(keys) if are_values else tuple(keys)))
    else:
        yield PythonGuard(path, HasLength(len(value)))


def check_size(path: Path, n: int, what: str) -> bool:
    """Returns whether so many things are guarded; False if the user vouches for larger ones.

    Raises:
      UnguardedError: If there are too many, and the user does not.
    """
    if n <= MAX:
        return True
    if settings.get().trust_large_containers:
        return False
    raise UnguardedError(
        f"The function reads `{path_text(path)}`, which has {n:,} {what}. With more than {MAX:,} it takes too long to "
        "look at each call whether they are the same. Keep them in a NumPy array or a tensor. Or say that they never "
        "change while their number does not: `ja.config(trust_large_containers=True)`."
    )
