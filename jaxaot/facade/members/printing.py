"""How tensors print: as PyTorch's do in a terminal, as a coloured table in a notebook.

The rules for numbers and lines are those of `torch/_tensor_str.py`, so that a page of output looks the same.
"""

from __future__ import annotations

import dataclasses
import html
import math
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxaot._jax import is_tracer, layers_of
from jaxaot._typing import DTypeLike
from jaxaot.errors import DiscardedParameterError, JaxaotError, TensorValueError
from jaxaot.ops.promotion import default_complex, default_float, default_int, is_bool, is_complex, is_integral
from jaxaot.tape.modes import state

if TYPE_CHECKING:
    from jaxaot.facade.memory.tensor import Tensor


@dataclasses.dataclass
class PrintOptions:
    """How numbers are shown.

    Attributes:
      precision: Digits after the point.
      threshold: Tensors of more elements are shown in part.
      edgeitems: How many elements of each end are shown then.
      linewidth: Characters of a line.
      sci_mode: Whether numbers are written with an exponent; None decides by their size.
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = PrintOptions()
_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Sets how tensors print (`torch.set_printoptions`).

    Args:
      precision: Digits after the point.
      threshold: Tensors of more elements are shown in part.
      edgeitems: How many elements of each end are shown then.
      linewidth: Characters of a line.
      profile: `"default"`, `"short"` or `"full"`, which the other arguments then change.
      sci_mode: Whether numbers are written with an exponent; None decides by their size.

    Raises:
      TensorValueError: If there is no such profile.
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise TensorValueError(f"there is no print profile `{profile}`; write one of {', '.join(_PROFILES)}")
        for field in dataclasses.fields(PrintOptions):
            setattr(OPTIONS, field.name, getattr(_PROFILES[profile], field.name))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        if value is not None:
            setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


def tensor_repr(tensor: Tensor) -> str:
    """Returns a text as readable as PyTorch's: values, and what is not the default."""
    if state.trace is not None and (text := _within_func(tensor)) is not None:
        return text
    values = _values(tensor)
    if tensor.is_meta:
        body, notes = (
            f"..., device='meta', size={tuple(tensor.shape)}",
            _dtype_notes(tensor._layout.dtype, tensor.numel()),
        )
    elif isinstance(values, str):
        body, notes = values, _dtype_notes(tensor._layout.dtype, tensor.numel())
    else:
        body, notes = _parts(values, tensor._layout.dtype)
    if tensor._is_moved_unrecorded:
        notes.append("grad_fn=<Invalid>")
    elif tensor.requires_grad:
        node = tensor.grad_fn
        notes.append("requires_grad=True" if node is None else f"grad_fn={node!r}")
    tangent = None if state.dual is None else state.dual.tangent(tensor)
    if tangent is not None:
        notes.append(f"tangent={tensor_repr(tangent)}")
    return _PREFIXES.get(getattr(tensor, "_mark", ""), "") + _joined(body, notes)


def _within_func(tensor: Tensor) -> str | None:
    """Returns the text of a tensor inside of `ja.func`, a wrapper for each level as in PyTorch; None without values."""
    storage = tensor._storage
    if storage.trace is None or storage.trace is state.recorder or layers_of(storage.array)[1] is None:
        return None
    layers, array = layers_of(tensor._read())
    if not isinstance(array, jax.Array):
        return None
    text = _joined(*_parts(np.asarray(array), array.dtype))
    for level, axis in enumerate(layers, start=1):
        kind = f"GradTrackingTensor(lvl={level}, " if axis is None else f"BatchedTensor(lvl={level}, bdim={axis}, "
        text = f"{kind}value=\n{textwrap.indent(text, ' ' * 4)}\n)"
    return text


def _parts(values: np.ndarray, dtype: np.dtype) -> tuple[str, list[str]]:
    """Returns the text of values, and what is said of their size and dtype."""
    notes = [f"size={values.shape}"] if values.size == 0 and values.ndim != 1 else []
    body = array_text(values, len("tensor(")) if values.size else "[]"
    return body, notes + _dtype_notes(dtype, values.size)


def _dtype_notes(dtype: np.dtype, numel: int) -> list[str]:
    return [] if dtype == default_float() or (numel and _is_default(dtype)) else [f"dtype=ja.{dtype.name}"]


def _joined(body: str, notes: Sequence[str]) -> str:
    text = f"tensor({body}"
    last = len(text) - text.rfind("\n") + 1
    for note in notes:
        if last + len(note) + 2 > OPTIONS.linewidth:
            text += ",\n" + " " * len("tensor(") + note
            last = len("tensor(") + len(note)
        else:
            text += ", " + note
            last += len(note) + 2
    return f"{text})"


_PREFIXES = {
    "parameter": "Parameter containing:\n",
    "buffer": "Buffer containing:\n",
    "transient": "Buffer containing:\n",
}
"""What comes before the text of a tensor that a module keeps."""


def _values(tensor: Tensor) -> np.ndarray | str:
    """Returns the values of a tensor, or why there are none."""
    storage = tensor._storage
    if storage.layout.is_abstract and storage.trace is None:
        return "no values"
    if storage.trace is not None and storage.trace is state.recorder:
        storage.check_alive()
    elif storage.trace is not None:
        storage.outlives()
    if is_tracer(storage.array) or storage.trace is not None:
        if storage.trace is state.trace is not None:
            known = state.trace.ask(tensor.detach()._read(), "The text of a tensor")
            if known is not None:
                return known
        return f"<traced {tensor.dtype}{list(tensor.shape)}>"
    try:
        return np.asarray(tensor.detach()._read())
    except DiscardedParameterError:
        return "<no values: `ja.compiler.freeze` let them go>"
    except JaxaotError:
        return "<no values: its storage holds fewer bytes than it shows>"


def _is_default(dtype: DTypeLike) -> bool:
    return dtype in (default_complex(), default_int()) or is_bool(dtype)


# -- numbers -----------------------------------------------------------------------------------------------------------


def array_text(values: np.ndarray, indent: int) -> str:
    """Returns the values in nested brackets, lines after the first indented."""
    in_part = values.size > OPTIONS.threshold
    shown = _edges(values) if in_part else values
    write, width = _writer(shown)
    return _nested(values, indent, in_part, write, width)


def _edges(values: np.ndarray) -> np.ndarray:
    n = OPTIONS.edgeitems
    for axis, size in enumerate(values.shape):
        if size > 2 * n:
            values = np.take(values, [*range(n), *range(size - n, size)], axis)
    return values


def _writer(values: np.ndarray) -> tuple[Callable[[Any], str], int]:
    """Returns a function that formats one number to the common width, and that width."""
    if is_complex(values.dtype):
        real, real_width = _float_writer(values.real)
        imag, imag_width = _float_writer(values.imag)

        def write(value: Any) -> str:
            part = (imag(value.imag) + "j").lstrip()
            return real(value.real) + (part if part[0] in "+-" else "+" + part)

        return write, real_width + imag_width + 1
    if is_bool(values.dtype) or is_integral(values.dtype):
        width = max((len(str(v)) for v in values.reshape(-1).tolist()), default=1)
        return lambda value: str(value.item()).rjust(width), width
    return _float_writer(values.astype(np.float64))


def _float_writer(values: np.ndarray) -> tuple[Callable[[Any], str], int]:
    values = values.astype(np.float64)
    numbers = values[np.isfinite(values) & (values != 0)]
    whole = bool((numbers == np.ceil(numbers)).all())
    exponent, width, digits = False, 1, OPTIONS.precision
    if numbers.size:
        least, most = float(np.abs(numbers).min()), float(np.abs(numbers).max())
        exponent = OPTIONS.sci_mode
        if exponent is None:
            exponent = most / least > 1000 or most > 1e8 or least < 1e-4

    def plain(value: float) -> str:
        if exponent:
            return f"{value:.{digits}e}"
        if not whole:
            return f"{value:.{digits}f}"
        return f"{value:.0f}" + ("." if math.isfinite(value) else "")

    width = max((len(plain(float(v))) for v in numbers), default=1)
    return lambda value: plain(float(value)).rjust(width), width


def _nested(values: np.ndarray, indent: int, in_part: bool, write: Callable[[Any], str], width: int) -> str:
    n = OPTIONS.edgeitems
    if values.ndim == 0:
        return write(values[()])
    in_part_here = in_part and values.shape[0] > 2 * n
    if values.ndim == 1:
        ends = [*values[:n], None, *values[-n:]] if in_part_here else list(values)
        texts = [" ..." if value is None else write(value) for value in ends]
        per_line = max(1, math.floor((OPTIONS.linewidth - indent) / (width + 2)))
        lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    inner = lambda part: _nested(part, indent + 1, in_part, write, width)
    if in_part_here:
        parts = [*(inner(p) for p in values[:n]), "...", *(inner(p) for p in values[-n:])]
    else:
        parts = [inner(part) for part in values]
    return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


# -- in notebooks ------------------------------------------------------------------------------------------------------

_MAX_CELLS = (12, 16)


def tensor_html(tensor: Tensor) -> str:
    """Returns HTML: the tensor's type and, for one or two dims, its values as a table coloured by sign and size."""
    facts = [f"<b>{tuple(tensor.shape)}</b>", html.escape(str(tensor.dtype)), html.escape(str(tensor.device))]
    if not tensor.is_contiguous():
        facts.append(f"strides {tuple(tensor.stride())}")
    if tensor._is_view():
        facts.append("a view")
    if tensor.requires_grad:
        facts.append("requires grad" if tensor.grad_fn is None else html.escape(tensor.grad_fn.name()))
    head = f"<div style='font-family:monospace'>tensor · {' · '.join(facts)}</div>"
    values = _values(tensor)
    if isinstance(values, str):
        return head + f"<div>{html.escape(values)}</div>"
    if values.ndim not in (1, 2) or not values.size or is_complex(values.dtype):
        return head + f"<pre>{html.escape(tensor_repr(tensor))}</pre>"
    return head + _table(values.reshape(1, -1) if values.ndim == 1 else values)


def _table(values: np.ndarray) -> str:
    rows, columns = (_positions(n, most) for n, most in zip(values.shape, _MAX_CELLS, strict=True))
    shown = values[np.ix_([r for r in rows if r is not None], [c for c in columns if c is not None])]
    write, _ = _writer(shown)
    sizes = np.abs(np.nan_to_num(shown.astype(np.float64), posinf=0, neginf=0))
    most = float(sizes.max()) or 1.0

    def cell(row: int | None, column: int | None) -> str:
        if row is None or column is None:
            return "<td>…</td>"
        value = float(np.nan_to_num(np.float64(values[row, column]), posinf=most, neginf=-most))
        hue = "66,133,244" if value >= 0 else "219,68,55"
        shade = f"background:rgba({hue},{0.5 * min(abs(value) / most, 1):.2f})"
        return f"<td style='{shade};text-align:right'>{html.escape(write(values[row, column]).strip())}</td>"

    lines = ("".join(cell(r, c) for c in columns) for r in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table style='font-family:monospace;border-collapse:collapse'>{body}</table>"


def _positions(n: int, most: int) -> Sequence[int | None]:
    if n <= most:
        return range(n)
    half = most // 2
    return [*range(half), None, *range(n - half, n)]
