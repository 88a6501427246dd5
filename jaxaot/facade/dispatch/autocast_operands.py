"""Casts the operands of an op as `autocast` says: by `ops/autocast_lists.py`, each weight once."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxaot._jax import is_tracer, trace_level
from jaxaot.errors import DtypeError
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.autocast_lists import Casting, casting_of
from jaxaot.ops.promotion import is_floating
from jaxaot.ops.table import OpSpec, lookup
from jaxaot.tape.modes import state

if TYPE_CHECKING:
    from jaxaot.facade.memory.generator import Generator

_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)

Run = Callable[..., Any]
"""Runs an op: `call`, or something of its signature."""


@contextlib.contextmanager
def without_autocast() -> Iterator[None]:
    """Inside, no operands are cast."""
    before, state.autocast = state.autocast, None
    try:
        yield
    finally:
        state.autocast = before


def call_cast(
    run: Run, spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Generator | None
) -> Any:
    """Runs an op on operands that are cast as `autocast` says.

    Raises:
      DtypeError: If it takes the widest of its operands, and one is neither float32 nor of the lower precision.
    """
    mode: Any = state.autocast
    casting = _casting(spec, dynamic, static, mode)
    if casting is None:
        with without_autocast():
            return run(spec, dynamic, static, generator)
    lower = mode.dtype
    dtypes = {"lower": lower, "float32": _FLOAT32}
    dtype = dtypes[casting.to] if casting.to in dtypes else _widest(spec.name, dynamic, lower)
    caches = mode.caches and dtype == lower and state.region is None and not state.infers
    dynamic = [_cast_all(run, value, dtype, caches) for value in dynamic]
    with without_autocast():
        results = run(spec, dynamic, static, generator)
    if not casting.rounded:
        return results
    several = results if isinstance(results, tuple) else (results,)
    several = [cast(run, r, lower) if i in casting.rounded else r for i, r in enumerate(several)]
    return spec.pack(several) if isinstance(results, tuple) else several[0]


def _casting(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], mode: Any) -> Casting | None:
    if mode.dtype is None:
        return None
    arguments = dict(zip((p.name for p in spec.schema.dynamic), dynamic, strict=True))
    arguments.update(zip((p.name for p in spec.schema.static), static, strict=True))
    return casting_of(spec.name, mode.platform, arguments)


def cast(run: Run, value: Any, dtype: np.dtype) -> Any:
    """Returns a float tensor with another dtype; anything else, and float64, as it is."""
    if not _is_eligible(value) or value._layout.dtype == dtype:
        return value
    return run(lookup("cast"), (value,), (dtype,))


def _is_eligible(value: Any) -> bool:
    return type(value) is Tensor and is_floating(value._layout.dtype) and value._layout.dtype != _FLOAT64


def _cast_all(run: Run, value: Any, dtype: np.dtype, caches: bool) -> Any:
    if isinstance(value, (list, tuple)):
        return [_cast_all(run, item, dtype, caches) for item in value]
    if isinstance(value, (jax.Array, np.ndarray)):
        value = from_jax(value)
    if caches and _is_eligible(value) and _is_weight(value):
        return _cast_once(run, value, dtype)
    return cast(run, value, dtype)


def _widest(name: str, values: Sequence[Any], lower: np.dtype) -> np.dtype:
    """Returns the widest dtype of the operands, as PyTorch finds it: from the first to the last."""
    dtype = lower
    for value in values:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if not _is_eligible(item):
                continue
            if _FLOAT32 in (dtype, item._layout.dtype):
                dtype = _FLOAT32
            elif item._layout.dtype != lower:
                raise DtypeError(
                    f"{name}(): Unexpected floating ScalarType in autocast: a tensor of {item._layout.dtype.name}, "
                    f"where the lower precision is {lower.name}. Convert it, for instance by `.float()`."
                )
    return dtype


# -- weights -----------------------------------------------------------------------------------------------------------


def _is_weight(tensor: Tensor) -> bool:
    """Returns whether a tensor is worth keeping cast: it is likely used again, and gradients meet in its cast."""
    return tensor._layout.dtype == _FLOAT32 and tensor.requires_grad and tensor.is_leaf and not tensor._is_view()


def _cast_once(run: Run, tensor: Tensor, dtype: np.dtype) -> Tensor:
    """Returns a weight in another dtype, cast now or before, as long as it has the same values.

    A checkpointed function keeps nothing, so it does not come here; nor does the body of a loop in a trace.
    """
    trace = state.trace
    if trace is not None and trace_level() != trace.level:
        return cast(run, tensor, dtype)
    casts = state.casts if trace is None else trace.casts
    key = (id(tensor), dtype, state.grad_enabled)
    found = casts.get(key)
    if found is not None and found[0]() is tensor and found[1]() is tensor._storage.array:
        return found[2]
    array = tensor._storage.array  # before the cast, as another thread may write the weight after it
    made = cast(run, tensor, dtype)
    if trace is not None:
        array = tensor._storage.array  # the symbol, once the trace has adopted the weight
    casts[key] = (weakref.ref(tensor), (lambda: array) if is_tracer(array) else weakref.ref(array), made)
    return made
