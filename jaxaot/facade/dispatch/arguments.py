"""Arguments of ops: lists opened, and what is neither a tensor nor a number made into one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot.errors import ArgumentError, TensorValueError
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.nodes.nodes import materialize
from jaxaot.ops.promotion import default_float, default_int, fits_default_int, is_inexact, overflows
from jaxaot.ops.table import OpSpec

NUMBERS = (bool, int, float, complex)
SURELY_INT = 1 << 31
"""Whole numbers below it fit `int32`, and so any default dtype of integers."""

LARGEST_FLOAT = float(np.finfo(np.float32).max)

STAND_INS: dict[type, Any] = {}
"""What stands for a tensor in a trace, such as `x[mask]`: type → how an op runs on it, with the arguments of `call`.

Such a type has a method `settled(what)`, which returns the tensor, or raises for whatever it cannot do.
"""


def is_beyond_float(value: float) -> bool:
    """Returns whether a number is finite, and infinite as JAX has it: in float32, unless 64 bits are on."""
    return LARGEST_FLOAT < abs(value) < math.inf and not jax.config.jax_enable_x64


def check_fits(spec: OpSpec, dynamic: Sequence[Any], static: Sequence[Any]) -> None:
    """Raises if a number that an op puts into its result does not fit the dtype of that.

    Raises:
      TensorValueError: If it does not.
    """
    for place in spec.fitting_places:
        value = dynamic[place]
        if type(value) not in NUMBERS or (type(value) is int and 0 <= value < 128):  # what every dtype holds
            continue
        dtype = _fitted_dtype(spec, value, dynamic, static)
        if dtype is not None and overflows(dtype, value):
            raise TensorValueError(
                f"{spec.name}(): argument '{spec.schema.dynamic[place].name}' is {value}, and this value cannot be "
                f"converted to type {dtype} without overflow. Write a number that {dtype} holds"
                f"{', or `math.inf`' if is_inexact(dtype) else ''}."
            )


def _fitted_dtype(spec: OpSpec, value: Any, dynamic: Sequence[Any], static: Sequence[Any]) -> np.dtype | None:
    """Returns the dtype that a number has to fit; None for that of the number itself."""
    own = default_float() if isinstance(value, (float, complex)) else None
    named = [dtype for dtype in static if isinstance(dtype, np.dtype)]
    parameters = zip(spec.schema.dynamic, dynamic, strict=True)
    given = [v._layout.dtype for p, v in parameters if isinstance(v, Tensor) and p.name not in _CONDITIONS]
    dtype = (named or given or [own])[0]
    if dtype is not None and dtype.itemsize < 4 and is_inexact(dtype) and spec.name in _ROUNDING:
        return default_float()
    if dtype is None or not spec.promote:
        return dtype
    return dtype if is_inexact(dtype) else own or dtype


_ROUNDING = ("where", "scalar_tensor")
"""Ops that make a tensor of the number first, and round that to halves."""

_CONDITIONS = ("condition", "mask", "index")
"""Parameters whose dtype says nothing of the result's."""


def flatten(spec: OpSpec, dynamic: Sequence[Any]) -> tuple[list[Any], tuple[int | None, ...]]:
    """Returns the arguments of an op with its lists opened, and the lengths of these; None for what is no list."""
    flat: list[Any] = []
    lengths: list[int | None] = []
    for value, parameter in zip(dynamic, spec.schema.dynamic, strict=True):
        if parameter.is_list and value is not None:
            if not isinstance(value, (list, tuple)):
                raise ArgumentError(
                    f"{spec.name}(): argument '{parameter.name}' must be tuple of Tensors, not {type(value).__name__}"
                )
            flat.extend(value)
            lengths.append(len(value))
        else:
            flat.append(value)
            lengths.append(None)
    return flat, tuple(lengths)


def unhashable(spec: OpSpec, static: Sequence[Any], error: Exception) -> Exception:
    """Returns an error as it is, or as one about an array in the place of a number, for each of which is a kernel."""
    for parameter, given in zip(spec.schema.static, static, strict=False):
        for value in given if isinstance(given, (tuple, list)) else (given,):
            if isinstance(value, jax.Array):
                advice = f"Write `int(n)` or `float(n)` of it. The signature is `{spec.schema}`."
                if jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key):
                    advice = "Random numbers of tensors come from generators, not from keys: `ja.manual_seed(0)`."
                return ArgumentError(
                    f"{spec.name}(): argument '{parameter.name}' takes numbers of Python, not an array of JAX. {advice}"
                )
    return error


def converted(spec: OpSpec, dynamic: Sequence[Any], static: Sequence[Any]) -> list[Any]:
    """Returns dynamic arguments with jax and NumPy values as tensors and numbers.

    A whole number too large for JAX's integers is a float where the result is one.
    """
    if spec.fitting:
        check_fits(spec, dynamic, static)

    def convert(value: Any, name: str) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        elif isinstance(value, NUMBERS) and type(value) not in NUMBERS and type(value) not in STAND_INS:
            base: Any = next(cls for cls in NUMBERS[1:] if isinstance(value, cls))  # of a member of an `IntEnum`
            value = base(value)
        if type(value) is int and not fits_default_int(value):
            return _as_float(value, name)
        if type(value) is float and is_beyond_float(value):
            return math.copysign(math.inf, value)
        if value is None or type(value) in NUMBERS or type(value) is Tensor:
            return value
        if isinstance(value, (jax.Array, np.ndarray)):
            return from_jax(jax.numpy.asarray(value))
        if type(value) in STAND_INS:
            return value.settled(f"`{spec.name}`")
        advice = " Write `ja.tensor(values)`." if isinstance(value, (list, tuple)) else ""
        kind = type(value).__name__
        if kind == "Tensor":  # somebody else's
            kind, advice = f"{type(value).__module__}.Tensor", " Write `ja.from_numpy(x.numpy())`."
        raise ArgumentError(
            f"{spec.name}(): argument '{name}' must be Tensor, not {kind}.{advice} The signature is `{spec.schema}`."
        )

    def _as_float(value: int, name: str) -> float:
        leaves = [v for given in dynamic for v in (given if isinstance(given, (list, tuple)) else (given,))]
        dtypes = [v.dtype for v in leaves if isinstance(v, Tensor)] + [v for v in static if isinstance(v, np.dtype)]
        if not any(map(is_inexact, dtypes)):
            raise TensorValueError(
                f"{spec.name}(): argument '{name}' is {value}, which {default_int()} cannot hold. Write it as a float, "
                "or give JAX 64 bits: `jax.config.update('jax_enable_x64', True)`."
            )
        try:
            return float(value)
        except OverflowError:
            return math.copysign(math.inf, value)

    return [
        [convert(v, p.name) for v in value]
        if p.is_list and isinstance(value, (list, tuple))
        else convert(value, p.name)
        for value, p in zip(dynamic, spec.schema.dynamic, strict=True)
    ]


def call_checked(run: Callable[..., Any], spec: OpSpec, dynamic: Sequence[Any], static: Any, generator: Any) -> Any:
    """Runs an op out of place or in place, with its check of values where the values are at hand."""
    check = spec.check
    tensors = [v for value in dynamic for v in (value if isinstance(value, (list, tuple)) else (value,))]
    if jax.default_backend() != "cpu" or any(isinstance(t, Tensor) and t._is_without_values for t in tensors):
        return run(spec.unchecked, dynamic, static, generator)
    assert check is not None
    if check.of_integers and any(isinstance(t, Tensor) and t.is_floating_point() for t in tensors):
        return run(spec.unchecked, dynamic, static, generator)  # nobody waits for the values of floats

    def shown(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [shown(v) for v in value]
        return np.asarray(materialize(value)) if isinstance(value, Tensor) else value

    parameters = spec.schema.dynamic
    given = {p.name: v if p.name not in check.reads else shown(v) for p, v in zip(parameters, dynamic, strict=True)}
    given.update(zip((p.name for p in spec.schema.static), static, strict=True))
    if not check.of_results:
        check.fn(**given)
    results = run(spec.unchecked, dynamic, static, generator)
    if check.of_results:
        check.fn(*map(shown, results if isinstance(results, tuple) else (results,)), **given)
    return results
