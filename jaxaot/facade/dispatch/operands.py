"""What a kernel of an op is compiled for, and what it is called with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxaot.facade.dispatch.arguments import NUMBERS, SURELY_INT, is_beyond_float
from jaxaot.facade.kernels.first_uses import clear_first_uses
from jaxaot.facade.kernels.fused_backward import clear_fused
from jaxaot.facade.kernels.grad_kernels import GradKernel
from jaxaot.facade.kernels.growing import clear_growing
from jaxaot.facade.kernels.kernels import Kernel, Recipe, WriteKernel
from jaxaot.facade.memory.devices import META
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.lower.abstract import AbstractArray
from jaxaot.ops.promotion import fits_default_int
from jaxaot.ops.table import OpSpec
from jaxaot.tape.modes import state
from jaxaot.views.layout import AbstractLayout, Layout, contiguous, indexed_operands
from jaxaot.views.window import AbstractWindow, find_window

KERNELS: dict[Any, Kernel] = {}
GRAD_KERNELS: dict[Any, GradKernel] = {}
WRITE_KERNELS: dict[Any, WriteKernel] = {}

MAX_KERNELS = 2048  # of each kind; an executable takes about a megabyte


def clear_kernels() -> None:
    """Forgets all compiled kernels, and with them the memory of their executables."""
    for kernels in (KERNELS, GRAD_KERNELS, WRITE_KERNELS):
        kernels.clear()
    clear_fused()
    clear_first_uses()
    clear_growing()


def blank(tensor: Tensor) -> Any:
    """Returns what stands for the values of a tensor that is about to be written."""
    layout = tensor._layout
    if tensor._storage.layout.is_abstract:
        return AbstractArray(layout.size, layout.dtype)
    return jax.numpy.zeros(layout.size, layout.dtype)


_MAX_STARTS = 1 << 14
_starts: dict[tuple[bytes, int], Any] = {}


def on_device(starts: np.ndarray) -> Any:
    """Returns where a window starts, from the second time on as an array of JAX, which programs take sooner."""
    key = starts.tobytes(), starts.size
    found = _starts.get(key)
    if found is not None:
        return found
    if key not in _starts:
        if len(_starts) >= _MAX_STARTS:
            _starts.clear()
        _starts[key] = None
        return starts
    with jax.ensure_compile_time_eval():
        found = _starts[key] = jax.device_put(starts)
    return found


_READ, _BASE, _TARGET, _DEFAULT = "read", "base", "target", "default"  # marks in the keys of kernels


def gather(
    spec: OpSpec,
    flat: Sequence[Any],
    key: list[Any],
    operands: list[Any],
    target: Tensor | None = None,
    window: AbstractWindow | None = None,
    steps: list[tuple[Any, ...]] | None = None,
) -> int:
    """Appends what a kernel is compiled for to `key`, and what it is called with to `operands`.

    Args:
      spec: The row.
      flat: Its dynamic arguments.
      key: Gets layouts, windows and kinds of number.
      operands: Gets arrays, starts of windows and numbers. In place they begin with the array of the target's storage
        and, if the target shows a part of it, with the starts of its window.
      target: The tensor that is written in place.
      window: Of the target; None if it shows all of its storage.
      steps: If given, gets the steps of a `Recipe`, by which the kernel finds its arguments in the operands.

    Returns:
      A bit for each argument that requires grad; -1 if one has to be converted first.
    """
    base = None if target is None else target._storage
    defaults = () if spec.has_lists else spec.dynamic_defaults
    mask, bit = 0, 1
    for position, value in enumerate(flat):
        kind = type(value)
        step: tuple[Any, ...] | None = None  # the last operand
        if kind is Tensor:
            storage = value._storage
            layout = value._layout
            is_settled = storage.trace is None  # asked before and after: a trace in another thread may end between
            array = storage.array
            if not is_settled or storage.trace is not None:
                array = storage.settled() if state.recorder is None else state.recorder.operand(storage)
            key.append(layout)
            if layout is storage.layout and array is not None:
                if storage is base:
                    key.append(_BASE)
                    step = ("operand", 0)
                else:
                    operands.append(array)
            elif array is None or storage.n_written is not None or layout.numel == 0:
                # an empty view, or memory that is not all there: rare, so read at once
                key.append(_READ)
                key.append(storage.layout)
                is_read = position or not spec.overwrites  # else only its shape and dtype matter
                operands.append(value._read() if is_read else blank(value))
            elif type(array) is AbstractArray:
                storage.check_reach(layout, value._offset, is_write=False)
                key.append(storage.layout)
                operands.append(AbstractArray(layout.size, layout.dtype))
            elif value is target:
                key.append(_TARGET)
                step = ("window", 0, window, 1)
            else:
                storage.check_reach(layout, value._offset, is_write=False)
                shown, starts = find_window(storage.layout, layout, value._offset)
                key.append(shown)
                key.append(storage.layout)
                if storage is base:
                    key.append(_BASE)
                    step = ("window", 0, shown, len(operands))
                else:
                    step = ("window", len(operands), shown, len(operands) + 1)
                    operands.append(array)
                operands.append(on_device(starts))
            history = value._history
            if history is not None and history.requires_grad:
                mask |= bit
        elif value is None:
            key.append(None)
            step = ("none",)
        elif kind in NUMBERS:
            if defaults and value is defaults[position]:
                key.append(_DEFAULT)
                step = ("constant", value)
            elif (kind is int and not -SURELY_INT <= value < SURELY_INT and not fits_default_int(value)) or (
                kind is float and is_beyond_float(value)
            ):
                return -1
            else:
                key.append(kind)
                operands.append(value)
        else:
            return -1
        bit <<= 1
        if steps is not None:
            steps.append(step or ("operand", len(operands) - 1))
    return mask


def make_recipe(
    spec: OpSpec,
    flat: Sequence[Any],
    lengths: Any,
    target: Tensor | None = None,
    window: AbstractWindow | None = None,
) -> Recipe:
    """Returns how the operands that `_gather` finds become arguments again."""
    steps: list[tuple[Any, ...]] = []
    before = [] if target is None else [None] if window is None else [None, None]
    gather(spec, flat, [], before, target, window, steps)
    return Recipe(steps, lengths, operand_layouts(spec, flat), spec.is_random)


def operand_layouts(spec: OpSpec, flat: Sequence[Any]) -> list[Layout]:
    """Returns the layouts of an op's tensor operands; a number in place of a tensor counts as a 0-d one."""
    if spec.layout == "indexed":
        source, *indices = (None if value is None else value._layout for value in flat)
        return list(indexed_operands(source, tuple(indices)))
    layouts = [value._layout for value in flat if isinstance(value, Tensor)]
    if layouts and not spec.has_lists and len(layouts) < len(flat):
        for value, parameter in zip(flat, spec.schema.dynamic, strict=True):
            if parameter.type == "Tensor" and isinstance(value, NUMBERS):
                layouts.append(contiguous((), layouts[0].dtype))
    return layouts


def is_abstract_key(key: Sequence[object]) -> bool:
    """Returns whether a kernel with some key has an operand without values."""
    return any(type(item) is AbstractLayout or item is META for item in key)


def allocated(tensor: Tensor) -> Tensor:
    """Returns a tensor, or zeros laid out alike in place of one without values."""
    layout = tensor._layout
    if not tensor._storage.layout.is_abstract:
        return tensor
    return wrap_array(jax.numpy.zeros(layout.size, layout.dtype), layout.dense.plain)
