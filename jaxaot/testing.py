"""Assertions on tensors (`torch.testing`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot._util import show_only_own as _show_only_own
from jaxaot.errors import TensorTypeError, TensorValueError
from jaxaot.facade.dispatch.create import as_tensor
from jaxaot.facade.memory.tensor import Tensor

_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
"""Dtype → relative and absolute tolerance; integers and bools are to be equal."""

_ARRAYS = (Tensor, np.ndarray, jax.Array)
_NUMBERS = (int, float, complex, np.number)
_TYPES = {int: "int64", float: "float64", complex: "complex128"}


class _Comparison:
    """One call of `assert_close`, whose options hold for all that is inside."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        if (options["rtol"] is None) != (options["atol"] is None):
            given, other = ("rtol", "atol") if options["atol"] is None else ("atol", "rtol")
            raise TensorValueError(
                f"rtol and atol must both be specified or both be unspecified, and only {given} is. Write `{other}=0`."
            )
        self.options = options

    def fail(self, words: str, path: Sequence[object]) -> None:
        """Raises with what differs and where."""
        if path:
            words += "\n\nThe failure occurred for item " + "".join(f"[{step!r}]" for step in path)
        msg = self.options["msg"]
        raise AssertionError(words if msg is None else msg(words) if callable(msg) else msg)

    def tolerances(self, *dtypes: str) -> tuple[float, float]:
        """Returns the relative and the absolute tolerance of values of some dtypes."""
        if self.options["rtol"] is not None:
            return self.options["rtol"], self.options["atol"]
        rows = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        return max(rtol for rtol, _ in rows), max(atol for _, atol in rows)

    def compare(self, actual: Any, expected: Any, path: tuple[object, ...] = ()) -> None:
        """Raises if two values differ, at a path in what was given."""
        both = (actual, expected)
        if any(value is None for value in both):
            if actual is not expected:
                self.fail(f"None mismatch: {actual} is not {expected}", path)
        elif all(isinstance(value, bool | np.bool_) for value in both):
            if bool(actual) is not bool(expected):
                self.fail(f"Booleans mismatch: {actual} is not {expected}", path)
        elif all(isinstance(value, _NUMBERS) and not isinstance(value, bool) for value in both):
            one, other = (value.item() if isinstance(value, np.number) else value for value in both)
            self.numbers(one, other, path)
        elif all(isinstance(value, _ARRAYS) for value in both):
            one, other = (value if isinstance(value, Tensor) else as_tensor(value) for value in both)
            self.tensors(one, other, path)
        elif all(isinstance(value, Mapping) for value in both):
            missing, more = [[k for k in x if k not in y] for x, y in (both[::-1], both)]
            if missing or more:
                self.fail(
                    "The keys of the mappings do not match:"
                    + (f"\nMissing keys in the actual mapping: {sorted(missing, key=str)}" if missing else "")
                    + (f"\nAdditional keys in the actual mapping: {sorted(more, key=str)}" if more else ""),
                    path,
                )
            for key in expected:
                self.compare(actual[key], expected[key], (*path, key))
        elif all(isinstance(value, Sequence) and not isinstance(value, str | bytes) for value in both):
            if len(actual) != len(expected):
                self.fail(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path)
            for i, pair in enumerate(zip(actual, expected, strict=True)):
                self.compare(*pair, (*path, i))
        else:
            raise TensorTypeError(
                f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}. Compare "
                "two tensors, two numbers, or two lists or dicts of them."
            )

    def numbers(self, actual: Any, expected: Any, path: Sequence[object]) -> None:
        """Compares two numbers of Python."""
        types = type(actual), type(expected)
        if self.options["check_dtype"] and types[0] is not types[1]:
            self.fail(f"The (d)types do not match: {types[0]} != {types[1]}.", path)
        tolerances = self.tolerances(*(_TYPES.get(kind, "") for kind in types))
        if not self.are_close(np.asarray(actual), np.asarray(expected), *tolerances).all():
            self.fail(_of_numbers(actual, expected, *tolerances), path)

    def tensors(self, actual: Tensor, expected: Tensor, path: Sequence[object]) -> None:
        """Compares two tensors, first what they are and then their values."""
        checked = ["shape", *(name for name in ("device", "dtype") if self.options[f"check_{name}"])]
        if self.options["check_stride"]:
            checked.append("stride()")
        for name in checked:
            one, other = (x.stride() if name == "stride()" else getattr(x, name) for x in (actual, expected))
            if one != other:
                self.fail(f"The values for attribute '{name}' do not match: {one} != {other}.", path)
        tolerances = self.tolerances(*(x.detach().numpy().dtype.name for x in (actual, expected)))
        x, y = (_wide(tensor.detach().numpy()) for tensor in (actual, expected))
        close = self.are_close(x, y, *tolerances)
        if not close.all():
            words = _of_tensors(x, y, close, *tolerances) if x.ndim else _of_numbers(x.item(), y.item(), *tolerances)
            self.fail(words, path)

    def are_close(self, x: np.ndarray, y: np.ndarray, rtol: float, atol: float) -> np.ndarray:
        """Returns of each element whether the two are close."""
        if x.dtype.kind == y.dtype.kind == "b" or (rtol == atol == 0 and x.dtype.kind in "iu" and y.dtype.kind in "iu"):
            return x == y
        return np.isclose(x, y, rtol, atol, self.options["equal_nan"])


def _wide(array: np.ndarray) -> np.ndarray:
    """Returns an array with a dtype that NumPy computes with."""
    return array.astype(np.float32) if array.dtype.kind not in "biufc" or array.dtype == np.float16 else array


def _words(what: str, extra: str, found: Sequence[tuple[str, Any, Any]], rtol: float, atol: float) -> str:
    is_equality, lines = rtol == atol == 0, []
    for (kind, difference, index), bound in zip(found, (atol, rtol), strict=False):
        start = f"{kind.title()} difference: {difference}"
        line = start if index is None else f"Greatest {kind} difference: {difference} at index {index}"
        lines.append(line + ("" if is_equality else f" (up to {bound} allowed)"))
    return "\n".join([f"{what} are not {'equal' if is_equality else 'close'}!\n", extra, *lines])


def _of_numbers(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    if isinstance(actual, bool):
        actual, expected = int(actual), int(expected)
    apart = abs(actual - expected)
    relative = float("inf") if expected == 0 else apart / abs(expected)
    found = [("absolute", apart, None), ("relative", relative, None)]
    return _words("Scalars", f"Expected {expected} but got {actual}.", found, rtol, atol)


def _of_tensors(x: np.ndarray, y: np.ndarray, close: np.ndarray, rtol: float, atol: float) -> str:
    n = close.size - int(close.sum())
    if x.dtype.kind in "biu":
        x = x.astype(np.int64)
    if y.dtype.kind in "biu":
        y = y.astype(np.int64)
    with np.errstate(all="ignore"):
        apart = np.where(close, 0, np.abs(x - y))
        divided = apart / np.abs(y)
        relative = np.where(close, 0, divided.astype(np.float32) if x.dtype.kind == "i" else divided)
    found = []
    for kind, values in (("absolute", apart), ("relative", relative)):
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(values)), values.shape))
        found.append((kind, values[index].item(), index))
    extra = f"Mismatched elements: {n} / {close.size} ({n / close.size:.1%})"
    return _words("Tensor-likes", extra, found, rtol, atol)


def assert_close(
    actual: object,
    expected: object,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises unless tensors or numbers, or lists and dicts of them, differ by at most `atol + rtol * |expected|`.

    Args:
      actual: What was computed.
      expected: What was wanted.
      allow_subclasses: Taken for PyTorch's sake.
      rtol: The relative tolerance; by default by dtype, 1.3e-6 for float32, 0 for integers.
      atol: The absolute tolerance; by default by dtype, 1e-5 for float32, 0 for integers.
      equal_nan: Whether two NaNs are equal.
      check_device: Whether devices have to be the same.
      check_dtype: Whether dtypes have to be the same, and types of numbers.
      check_layout: Taken for PyTorch's sake: tensors are strided.
      check_stride: Whether strides have to be the same.
      msg: What the error says, or a function of what it would say.

    Raises:
      AssertionError: If they are not.
      TensorTypeError: If what is given cannot be compared.
      TensorValueError: If one of the tolerances is given alone.
    """
    options = {
        "rtol": rtol, "atol": atol, "equal_nan": equal_nan, "check_device": check_device, "check_dtype": check_dtype,
        "check_stride": check_stride, "msg": msg,
    }  # fmt: skip
    _Comparison(options).compare(actual, expected)


_show_only_own(globals())
