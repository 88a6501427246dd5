"""Makes tensors: from Python data, from arrays, and from the factory rows of the op table."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_tracer
from jaxaot._typing import DTypeLike
from jaxaot.errors import DeletedArrayError, DtypeError, TensorTypeError, TensorValueError
from jaxaot.facade.memory.devices import find_device, is_meta
from jaxaot.facade.memory.tensor import INFERENCE, NO_GRADIENTS, Tensor, wrap_array
from jaxaot.lower.abstract import AbstractArray, abstract_like, refuse_value
from jaxaot.ops.promotion import (
    canonical_dtype,
    default_complex,
    default_float,
    default_int,
    is_complex,
    is_inexact,
    is_integral,
    is_symbol,
    kind,
    operand,
    overflows,
)
from jaxaot.tape.modes import state

_warned: set[str] = set()


def as_dtype(dtype: DTypeLike | None) -> np.dtype | None:
    """Returns a dtype as the facade holds it; with JAX's x64 off, 64-bit ones as 32-bit ones, with one warning each.

    Raises:
      DtypeError: If it is not one.
    """
    if dtype is None:
        return None
    if dtype is float or dtype is int or dtype is complex:  # 64 bits where JAX has them, and nothing to warn of
        return canonical_dtype(np.dtype(dtype))
    try:
        wanted = np.dtype(dtype)
    except TypeError as error:
        raise DtypeError(f"`{dtype!r}` is not a dtype; write for instance `ja.float32`.") from error
    if wanted.kind in "SUOMm":  # text, objects and times, of which `np.dtype` has also names of one letter
        raise DtypeError(f"`{dtype!r}` is not a dtype of tensors; write for instance `ja.float32`.")
    held = np.dtype(jax.dtypes.canonicalize_dtype(wanted))
    if held != wanted and wanted.name not in _warned:
        _warned.add(wanted.name)
        warnings.warn(
            f"{wanted.name} was asked for, but JAX's x64 mode is off, so tensors hold {held.name}. Call "
            "`jax.config.update('jax_enable_x64', True)` for 64-bit types.",
            stacklevel=3,
        )
    return held


MAX_DEPTH = 64
"""Dims that an array of NumPy, and so nested lists, may have."""


def _data_array(data: object, depth: int = 0) -> Any:
    """Returns Python data as an array or number, with any tensors in it read."""
    if isinstance(data, Tensor):
        return data.detach().jax()
    if state.trace is not None and is_symbol(data):
        return operand(data)
    if isinstance(data, (list, tuple)) and any(map(_is_no_number, data)):
        if depth >= MAX_DEPTH:
            raise TensorValueError(
                f"too many dimensions: lists are nested more than {MAX_DEPTH} deep. Is one of them an item of itself?"
            )
        items = [_data_array(item, depth + 1) for item in data]
        if any(isinstance(item, jax.Array) for item in items):
            return jnp.stack([jnp.asarray(item) for item in items])
        return items
    return data


def _is_no_number(item: object) -> bool:
    return isinstance(item, (Tensor, list, tuple, jax.Array)) or (state.trace is not None and is_symbol(item))


def tensor(data: object, dtype: DTypeLike | None = None, device: object = None, requires_grad: bool = False) -> Tensor:
    """Returns a leaf with a copy of `data`: numbers, nested lists, arrays or a tensor.

    Raises:
      TensorTypeError: If `data` is not made of numbers.
      TensorValueError: If numbers do not fit the dtype, or lists are of unlike lengths.
    """
    wanted = as_dtype(dtype)
    if isinstance(data, jax.ShapeDtypeStruct) or (isinstance(data, Tensor) and data._storage.layout.is_abstract):
        return _leaf(_abstract(data, wanted, device), requires_grad)
    values = _data_array(_checked(data))
    if isinstance(values, (np.ndarray, np.generic)):
        values = _numbers(values, dtype, wanted)
    if isinstance(values, (jax.Array, np.ndarray, np.generic)):
        array = jnp.array(values, dtype=wanted if wanted is not None else None, copy=True)
        array = jax.lax.convert_element_type(array, array.dtype) if array.weak_type else array
    else:
        array = _array_of_lists(values, wanted, data)
    array = abstract_like(array) if is_meta(device) and state.trace is None else _placed(array, device)
    return _leaf(wrap_array(array), requires_grad)


def _checked(data: Any) -> Any:
    """Returns data; in a trace, if it is the symbol of an argument, 32 bits hold the numbers that were passed.

    Raises:
      TensorValueError: If they do not.
    """
    if state.trace is not None and is_tracer(data):
        array = state.trace.passed_array(data)
        if array is not None:
            _numbers(array, None, None)
    return data


def is_held(array: Any) -> bool:
    """Returns whether tensors hold the numbers of an array of NumPy."""
    try:
        _numbers(array, None, None)
    except (TensorTypeError, TensorValueError):
        return False
    return True


def _abstract(data: Tensor | jax.ShapeDtypeStruct, wanted: np.dtype | None, device: object) -> Tensor:
    """Returns a tensor without values, of the shape of something."""
    if device is not None and not is_meta(device):
        refuse_value(f"A tensor on the device `{device}`", tuple(data.shape), data.dtype)
    return wrap_array(AbstractArray(tuple(data.shape), as_dtype(data.dtype) if wanted is None else wanted))


def _numbers(values: Any, dtype: DTypeLike | None, wanted: np.dtype | None) -> Any:
    """Returns values of NumPy that JAX takes: numbers, which its types of 32 bits hold where 64 are off.

    Raises:
      TensorTypeError: If they are no numbers.
      TensorValueError: If 32 bits do not hold them.
    """
    _check_numbers(values.dtype, "np.ndarray")
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    asked = values.dtype if wanted is None else np.dtype(dtype)
    held = canonical_dtype(asked)
    if asked == held or asked.kind not in "iufc":
        return values
    if is_integral(held):
        _check_holds(held, values)
        return values.astype(held)
    with np.errstate(over="ignore"):
        narrow = values.astype(held)
    if np.isinf(narrow).any() and not np.array_equal(np.isinf(narrow), np.isinf(values)):
        raise TensorValueError(
            f"values of {values.dtype} are beyond the range of {held}. Give JAX 64 bits, "
            "`jax.config.update('jax_enable_x64', True)`, or say that they may overflow: `array.astype(np.float32)`."
        )
    return narrow


def _check_numbers(dtype: np.dtype, what: str) -> None:
    """Raises if there are no tensors of a dtype of NumPy; those that JAX adds are of kind "V", as records are.

    Raises:
      TensorTypeError: If it is not one of numbers.
    """
    if dtype.kind in "OUSMm" or (dtype.kind == "V" and not is_inexact(dtype) and not is_integral(dtype)):
        raise TensorTypeError(
            f"can't convert {what} of type {dtype}; a tensor is made of numbers: bool, integers, floats or complex. "
            "Write strings, dates and objects as numbers first, for instance by `array.astype(np.int64)`."
        )


def _array_of_lists(values: object, wanted: np.dtype | None, data: object) -> jax.Array:
    """Returns Python numbers, in lists or not, as an array."""
    try:
        plain = np.array(values)
    except ValueError as error:
        raise TensorValueError(
            f"expected sequences of equal length: {error} Pad them to one length, or keep a list of tensors."
        ) from error
    if plain.dtype == object and all(type(value) is int for value in plain.flat):
        pass  # numbers of more than 64 bits
    elif plain.dtype == object or plain.dtype.kind in "USMmV":
        raise TensorTypeError(f"could not infer dtype of {type(data).__name__}; a tensor is made of numbers")
    if wanted is None:
        empty = plain.size == 0
        first = values
        while isinstance(first, (list, tuple)) and first:
            first = first[0]
        if isinstance(first, (np.ndarray, np.generic)):  # NumPy's numbers say how wide they are
            return jnp.asarray(_numbers(plain, None, None))
        wanted = (np.dtype(bool), default_int(), default_float(), default_complex())[
            2 if empty else 1 if plain.dtype == object else kind(plain.dtype)
        ]
    if is_integral(wanted):
        _check_holds(wanted, plain)
    if plain.dtype.kind == "c" and not is_complex(wanted):
        raise TensorTypeError(f"must be real number, not complex, for a tensor of {wanted}; write `dtype=ja.complex64`")
    with np.errstate(over="ignore"):
        return jnp.asarray(plain.astype(wanted))


def check_number(dtype: np.dtype, number: float) -> None:
    """Raises if a tensor of a dtype cannot hold a number that is assigned to it; halves round it to infinity.

    Raises:
      TensorValueError: If it cannot.
    """
    wide = jnp.promote_types(dtype, np.float32) if is_inexact(dtype) else dtype
    if overflows(wide, number):
        raise TensorValueError(
            f"value cannot be converted to type {dtype} without overflow: {number}. Pass a dtype that holds it; "
            "64 bits need `jax.config.update('jax_enable_x64', True)`."
        )


def _check_holds(dtype: np.dtype, numbers: np.ndarray) -> None:
    """Raises if integers of a dtype cannot hold numbers; negative ones count from the end of unsigned dtypes.

    Raises:
      TensorValueError: If they cannot.
    """
    info = np.iinfo(dtype)
    least, most = int(info.min) or -int(info.max), int(info.max)
    for number in (numbers.min(), numbers.max()) if numbers.size and numbers.dtype.kind != "c" else ():
        if not least <= number <= most:
            raise TensorValueError(
                f"value cannot be converted to type {dtype} without overflow: {number}. Pass a dtype that holds it; "
                "64 bits need `jax.config.update('jax_enable_x64', True)`."
            )


def _leaf(made: Tensor, requires_grad: bool) -> Tensor:
    if state.infers:
        made._creation = INFERENCE
    if requires_grad:
        if not is_inexact(made.dtype):
            raise DtypeError(NO_GRADIENTS)
        made.requires_grad_(requires_grad)
    return made


def _placed(array: Any, device: object) -> Any:
    if device is None or (isinstance(device, str) and device == "cpu" and jax.default_backend() == "cpu"):
        return array
    return jax.device_put(array, find_device(device))


def from_jax(array: Any) -> Tensor:
    """Returns a tensor on a jax array, without a copy; the array itself is never changed or donated.

    A `jax.ShapeDtypeStruct` gives a tensor without values, on the device `"meta"`.

    Raises:
      DeletedArrayError: If the array was donated or deleted.
    """
    if isinstance(array, jax.ShapeDtypeStruct):
        return _abstract(array, None, None)
    array = jnp.asarray(array)
    if not is_tracer(array) and array.is_deleted():
        raise DeletedArrayError(
            "The array was deleted: it was donated to another computation, as by `jax.jit(f, donate_argnums=...)`, or "
            "`.delete()` was called. Use what that computation returned, or copy the array before: `ja.tensor(array)`."
        )
    if array.weak_type:
        array = jax.lax.convert_element_type(array, array.dtype)
    made = wrap_array(array)
    made._storage.is_shared = True
    return made


def as_tensor(data: object, dtype: DTypeLike | None = None, device: object = None) -> Tensor:
    """Returns `data` as a tensor: itself if it is one of that dtype, without a copy where it is an array."""
    wanted = as_dtype(dtype)
    if isinstance(data, Tensor):
        return data if wanted is None or wanted == data.dtype else data.to(wanted)
    if isinstance(data, jax.Array) and is_meta(device):
        return tensor(data, dtype=dtype, device="meta")
    if isinstance(data, jax.Array) and (wanted is None or wanted == data.dtype):
        return from_jax(_checked(data))
    return tensor(data, dtype=dtype, device=device)


def from_numpy(array: np.ndarray) -> Tensor:
    """Returns a tensor with the values of a NumPy array; unlike PyTorch's, it does not share the array's memory."""
    if not isinstance(array, np.ndarray) and (state.trace is None or not is_tracer(array)):  # the symbol of an argument
        raise TensorTypeError(f"expected np.ndarray (got {type(array).__name__})")
    return tensor(array)


def on_host(tensor: Tensor) -> np.ndarray | None:
    """Returns the memory of a tensor where NumPy can read it at no cost; else None, as of one with a gradient."""
    if state.trace is not None or type(tensor) is not Tensor or (tensor.requires_grad and state.grad_enabled):
        return None
    return tensor.detach().numpy() if tensor.device.platform == "cpu" else None


def from_dlpack(source: Any) -> Tensor:
    """Returns a tensor on the memory of another library's tensor, through dlpack."""
    return from_jax(source if is_tracer(source) else jnp.from_dlpack(source))


def scalar_tensor(value: object) -> Tensor:
    """Returns a 0-d tensor that promotes like a Python number, as traced Python floats do."""
    return wrap_array(jnp.asarray(value))
