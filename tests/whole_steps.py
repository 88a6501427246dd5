"""Steps of training and inference as users write them, run compiled and eagerly side by side."""

from __future__ import annotations

import dataclasses
import types
import warnings
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

import jaxaot as ja


class Made(NamedTuple):
    """A step over a world of its own.

    Attributes:
      step: Takes a batch of 4 rows of 8.
      look: Returns what is compared of the world after each call.
      changes: What is done to the world before each call; None where it is left alone.
    """

    step: Callable[..., Any]
    look: Callable[[], Any]
    changes: list[Callable[[], Any] | None]


def plain(value):
    """Returns a value with NumPy arrays in the place of tensors, and lists and dicts in the place of containers."""
    if isinstance(value, ja.Tensor):
        return value.detach().numpy().copy()
    if isinstance(value, (jax.Array, np.ndarray)):
        return np.array(value)
    if isinstance(value, Mapping):
        return [(key, plain(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple, deque)):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, plain({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    if isinstance(value, types.SimpleNamespace):
        return plain(vars(value))
    return value


def differs(value, other, path="it"):
    """Returns the first place where two plain values differ, or None; floats may differ by rounding."""
    if isinstance(value, (list, tuple)):
        if type(value) is not type(other) or len(value) != len(other):
            return f"{path}: {value} and {other}"
        found = (differs(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(value, other, strict=True)))
        return next(filter(None, found), None)
    if isinstance(value, np.ndarray) and isinstance(other, np.ndarray):
        same = value.dtype == other.dtype and value.shape == other.shape
        return None if same and np.allclose(value, other, rtol=1e-4, atol=1e-5) else f"{path}: {value} and {other}"
    if type(value) is float and type(other) is float:
        return None if value == pytest.approx(other, rel=1e-4, abs=1e-5) else f"{path}: {value} and {other}"
    same = type(value) is type(other) and value == other
    return None if same else f"{path}: {value!r} and {other!r}"


def batch(i):
    """Returns the batch of a call."""
    return ja.from_numpy(np.random.RandomState(i).randn(4, 8).astype(np.float32))


def agree(make, *, most=None, give=lambda x: x, allowed=None, **options):
    """Asserts that a step does compiled what it does eagerly, as one program, and returns the compiled one.

    Args:
      make: Returns what is `Made`; called twice, so that each has a world of its own.
      most: How many programs there may be; else one, and one for each change.
      give: Makes the argument of a batch.
      allowed: What a warning may say; others fail.
      **options: Of `ja.compile`; `fullgraph=True` where nothing else is said.
    """
    made = []
    for _ in range(2):
        ja.manual_seed(0)
        made.append(make())
    (step, look, changes), (other, look_at_other, other_changes) = made
    compiled = ja.compile(step, **{"fullgraph": True, **options})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if allowed is not None:
            warnings.filterwarnings("ignore", allowed)
        for i, (change, other_change) in enumerate(zip(changes, other_changes, strict=True)):
            if change is not None:
                change(), other_change()
            found, expected = plain(compiled(give(batch(i)))), plain(other(give(batch(i))))
            assert (place := differs(found, expected)) is None, f"call {i}: {place}"
            assert (place := differs(plain(look()), plain(look_at_other()))) is None, f"after call {i}: {place}"
    most = 1 + sum(change is not None for change in changes) if most is None else most
    assert compiled.cache_info().misses <= most, compiled.explain_recompiles()
    return compiled
