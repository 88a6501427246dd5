"""The first uses of an op at some shapes, where these need no program of their own: on CPU, where NumPy sees arrays.

A model is made of dozens of shapes, each of which is drawn, filled or joined once. XLA takes longer for one program
than a hundred such uses. So what an op copies or fills is made by NumPy. What it draws is cut from a draw of one dim
and of a *bucket* of elements: by a key, element i of a draw depends on i alone, whatever its shape. All are bit for bit
what the program gives, which is compiled when there were many uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxaot._jax import is_outermost
from jaxaot._placement import are_several
from jaxaot._typing import Array
from jaxaot.facade.kernels.kernels import fold_key, remember
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.lower.eager_kernel import EagerKernel
from jaxaot.ops.factories import dtype_or, static_size
from jaxaot.ops.promotion import default_float, default_int
from jaxaot.ops.random import uniform_between
from jaxaot.ops.table import OpSpec
from jaxaot.views.layout import contiguous
from jaxaot.views.part import PartLayout

MANY = 128
"""After so many uses an op has a program for its shapes: a hundred calls without one cost what XLA takes for it."""

MAX_BYTES = 4 << 20
"""What is larger has a program at once."""

BUCKETS = (1 << 12, 1 << 16, 1 << 20)

_MAX_KEPT = 4096
_n_uses: dict[Any, int] = {}
_draws: dict[Any, EagerKernel] = {}


class Use(NamedTuple):
    """Stands for a kernel of an op that ran without one."""

    layouts: Sequence[Any]


def clear_first_uses() -> None:
    """Forgets what was used how often, and the programs of draws."""
    _n_uses.clear()
    _draws.clear()


def may_use_host() -> bool:
    """Returns whether NumPy reads and makes the arrays of this thread without a copy to another device."""
    return (
        is_outermost()
        and jax.default_backend() == "cpu"
        and jax.config.jax_default_device is None
        and not are_several()
        and not (jax.config.jax_debug_nans or jax.config.jax_debug_infs)
    )


def is_rare(cache_key: Hashable) -> bool:
    """Returns whether an op was used at few calls with a key, and counts this one."""
    n = _n_uses.get(cache_key, 0)
    remember(_n_uses, cache_key, n + 1, _MAX_KEPT)
    return n < MANY


def first_result(
    spec: OpSpec, flat: Sequence[Any], static: Sequence[Any], cache_key: Hashable, key: Array | None
) -> Array | None:  # fmt: skip
    """Returns the array that an op of one result makes; None where it has to have a program.

    Args:
      spec: The row.
      flat: Its dynamic arguments, lists opened.
      static: Its static arguments.
      cache_key: What its kernel is compiled for.
      key: The words of the key of a draw, else anything.
    """
    way = _WAYS.get(spec.name)
    if way is None or not may_use_host() or not is_rare(cache_key):
        return None
    if spec.has_lists:
        made = way(flat, *static)
    else:
        given = dict(zip((p.name for p in spec.schema.dynamic), flat, strict=True))
        given.update(zip((p.name for p in spec.schema.static), static, strict=True))
        made = way(given) if way is not _drawn else _drawn(spec, given, key)
    return made if made is None or isinstance(made, jax.Array) else jax.device_put(made)


def on_host(tensor: object) -> np.ndarray | None:
    """Returns what a tensor shows as NumPy sees it, mostly without a copy; None where it cannot."""
    if type(tensor) is not Tensor:
        return None
    storage, layout = tensor._storage, tensor._layout
    array, of_storage = storage.array, storage.layout
    if storage.trace is not None or storage.n_written is not None or not isinstance(array, jax.Array):
        return None
    if isinstance(of_storage, PartLayout) or array.is_deleted() or layout.nbytes > MAX_BYTES or not layout.numel:
        return None
    if len(array.sharding.device_set) > 1 or array.committed:
        return None
    if layout is of_storage:
        return np.asarray(array)
    if layout.dtype != of_storage.dtype or layout.is_conj or of_storage.nbytes > MAX_BYTES:
        return None
    memory = np.asarray(array).transpose(of_storage.memory_order).reshape(-1)
    stride = [n * memory.itemsize for n in layout.stride]
    return np.lib.stride_tricks.as_strided(memory[tensor._offset :], layout.size, stride, writeable=False)


# what NumPy makes


def _size_and_dtype(given: Mapping[str, Any]) -> tuple[tuple[int, ...], np.dtype]:
    like = given.get("self")
    layout = contiguous((), default_float()) if like is None else like._layout
    size = static_size(given["size"]) if "size" in given else layout.size
    return size, dtype_or(given.get("dtype"), layout.dtype)


def _is_size(size: Sequence[int]) -> bool:
    """Returns whether no dim is negative, or too large for NumPy beside one of 0: the program says what is wrong."""
    return all(0 <= n <= MAX_BYTES for n in size)


def _filled(given: Mapping[str, Any], number: Any) -> np.ndarray | None:
    if type(number) not in (bool, int, float):
        return None
    size, dtype = _size_and_dtype(given)
    if "fill_value" in given and "self" not in given and given["dtype"] is None:
        dtype = np.asarray(number).dtype if type(number) is bool else default_int() if type(number) is int else dtype
    # what both round alike
    is_alike = dtype.name in ("float32", "float64") or (dtype.kind in "biu" and type(number) is not float)
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:  # it counts from the end
        return None
    if not is_alike or not _is_size(size) or math.prod(size) * dtype.itemsize > MAX_BYTES:
        return None
    return np.full(size, number, dtype)


def _range(given: Mapping[str, Any]) -> np.ndarray | None:
    start, end, step = given["start"], given["end"], given["step"]
    if end is None:
        start, end = 0, start
    dtype = dtype_or(given["dtype"], default_int())
    if {type(start), type(end), type(step)} != {int} or dtype.kind != "i" or (end - start) * step <= 0:
        return None
    limits = np.iinfo(dtype)
    if max(abs(start), abs(end)) > limits.max or len(range(start, end, step)) * dtype.itemsize > MAX_BYTES:
        return None
    return np.arange(int(start), int(end), int(step)).astype(dtype)


def _joined(tensors: Sequence[Any], dim: int) -> np.ndarray | None:
    return _together(np.concatenate, tensors, dim)


def _stacked(tensors: Sequence[Any], dim: int) -> np.ndarray | None:
    return _together(np.stack, tensors, dim)


def _together(join: Callable[..., Any], tensors: Sequence[Any], dim: int) -> np.ndarray | None:
    parts: list[Any] = [on_host(x) for x in tensors]
    if not parts or any(part is None or part.dtype != parts[0].dtype for part in parts):
        return None
    try:
        return join(parts, dim)
    except (ValueError, TypeError):  # the program says what is wrong
        return None


# what is cut from a draw of a bucket


def _drawn(spec: OpSpec, given: dict[str, Any], words: Array | None) -> np.ndarray | None:
    of_jax, like = jax.config, given.get("self")
    if not of_jax.jax_threefry_partitionable or of_jax.jax_default_prng_impl != "threefry2x32":
        return None
    if spec.name == "randint" and isinstance(given["high"], (tuple, list)):
        given.update(low=0, high=given["low"], size=given["high"])
    if "size" in given and given["size"] is None:
        return None
    size, dtype = _size_and_dtype(given)
    n = math.prod(size)
    bucket = next((bucket for bucket in BUCKETS if n <= bucket), None)
    others = (value for name, value in given.items() if name != "self")
    is_plain = dtype.kind != "c" and not any(isinstance(value, Tensor) for value in others)
    if bucket is None or words is None or not n or not is_plain or not _is_size(size):
        return None
    if spec.name == "uniform":
        drawn = _uniform(given["low"], given["to"], bucket, dtype, words)
    else:
        drawn = _by_row(spec, given, bucket, None if like is None else like._layout.dtype, words)
    return None if drawn is None else np.array(np.asarray(drawn)[:n].reshape(size))


def _uniform(low: Any, to: Any, bucket: int, dtype: np.dtype, words: Array) -> Any:
    """Returns uniform numbers, by one program whatever their range is: each layer of a model has its own."""
    is_usual = {type(low), type(to)} <= {int, float} and low <= to and abs(low) + abs(to) < _LARGE
    if not is_usual or dtype not in (np.float32, np.float64):
        return None

    def uniform(words: Array, span: Array, low: Array) -> Array:
        return uniform_between(fold_key(words), (bucket,), dtype, span, low)

    kernel = _draws.get((dtype, bucket)) or EagerKernel(uniform)
    remember(_draws, (dtype, bucket), kernel, _MAX_KEPT)
    return kernel(words, float(to - low), float(low))


_LARGE = 1e30


def _by_row(spec: OpSpec, given: Mapping[str, Any], bucket: int, like: np.dtype | None, words: Array) -> Any:
    """Returns what a row draws; `like` is the dtype of the tensor that says of which size."""
    values = {name: value for name, value in given.items() if name not in ("self", "size")}
    key = spec, bucket, like, tuple((name, type(value), value) for name, value in values.items())

    def draw(words: Array) -> Any:
        all_of = {"size": (bucket,), **values}
        all_of |= {} if like is None else {"self": jax.numpy.zeros((bucket,), like)}
        dynamic, static = ([all_of[p.name] for p in of] for of in (spec.schema.dynamic, spec.schema.static))
        return spec.evaluate(dynamic, static, fold_key(words))[0]

    draw.__name__ = spec.name
    kernel = _draws.get(key) or EagerKernel(draw)
    remember(_draws, key, kernel, _MAX_KEPT)
    return kernel(words)


_WAYS: dict[str, Callable[..., Any]] = {
    "arange": _range, "cat": _joined, "stack": _stacked,
    "full": lambda given: _filled(given, given["fill_value"]),
    "full_like": lambda given: _filled(given, given["fill_value"]),
    "new_full": lambda given: _filled(given, given["fill_value"]),
    "fill": lambda given: _filled(given, given["value"]), "zero": lambda given: _filled(given, 0),
}  # fmt: skip
"""How an op goes without a program, by its row. Draws: where elements depend on the key and their place alone."""

for _name, _number in (("zeros", 0), ("ones", 1), ("empty", 0)):
    for _row in (_name, f"{_name}_like", f"new_{_name}"):
        _WAYS[_row] = lambda given, number=_number: _filled(given, number)
for _row in ("rand", "randn", "randint"):
    _WAYS[_row] = _WAYS[f"{_row}_like"] = _drawn
for _row in ("uniform", "normal_fill", "normal_size", "exponential", "log_normal", "geometric", "random"):
    _WAYS[_row] = _drawn
