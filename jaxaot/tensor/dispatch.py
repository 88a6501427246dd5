"""How an op reaches its tensors: read, compute, wrap or write, record.

`call` runs an op out of place, `call_inplace` writes its result to the first argument, `call_out` to tensors given as
`out=`. Each has two ways through: eagerly by a cached kernel, and in a trace on symbols. The border between PyTorch's
words and JAX's runs here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxaot._typing import Array
from jaxaot.autograd.modes import state
from jaxaot.errors import ArgumentError, AutogradError, TensorTypeError
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import OpSpec
from jaxaot.tensor.generator import default_generator
from jaxaot.tensor.history import History
from jaxaot.tensor.kernels import GradKernel, Kernel, Recipe, WriteKernel, fit_into, result_layouts
from jaxaot.tensor.nodes import OpNode, TracedOpNode
from jaxaot.tensor.storage import Storage
from jaxaot.tensor.tensor import Tensor, wrap, wrap_array
from jaxaot.tensor.write import check_writable, write_array, write_value
from jaxaot.views.layout import Layout, contiguous, indexed_operands
from jaxaot.views.window import AbstractWindow, find_window

_kernels: dict[Any, Kernel] = {}
_grad_kernels: dict[Any, GradKernel] = {}
_write_kernels: dict[Any, WriteKernel] = {}

_NUMBERS = (bool, int, float, complex)


def call(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any = None) -> Any:
    """Runs an op out of place.

    Args:
      spec: Its row.
      dynamic: Tensors, numbers, None, and lists of tensors, in schema order.
      static: Hashable values, in schema order.
      generator: Where a random op draws its key; the default generator if None.

    Returns:
      A tensor, or a tuple or list of them.
    """
    if state.trace is not None:
        return _call_traced(spec, dynamic, static, generator)
    flat, lengths = (dynamic, None) if not spec.has_lists else _flatten(spec, dynamic)
    key: list[Any] = [spec, static, lengths]
    operands: list[Any] = []
    mask = 0
    bit = 1
    for value in flat:
        kind = type(value)
        if kind is Tensor:
            storage = value._storage
            layout = value._layout
            array = storage.array
            key.append(layout)
            if layout is storage.layout and array is not None:
                if storage.trace is not None:
                    storage.check_alive()
                operands.append(array)
            else:
                _add_window(value, key, operands)
            history = value._history
            if history is not None and history.requires_grad:
                mask |= bit
        elif value is None:
            key.append(None)
        elif kind in _NUMBERS:
            key.append(kind)
            operands.append(value)
        else:
            return call(spec, _converted(spec, dynamic), static, generator)
        bit <<= 1
    if spec.is_random:
        operands.append((generator or default_generator).draw())
    if mask and state.grad_enabled and spec.is_differentiable:
        return _call_recorded(spec, flat, static, lengths, tuple(key), operands, mask)
    cache_key = tuple(key)
    kernel = _kernels.get(cache_key)
    if kernel is None:
        recipe = _recipe(spec, flat, lengths)
        kernel = Kernel(spec, static, recipe)
        results = kernel.run(*operands)
        kernel.layouts = result_layouts(spec, results, recipe.layouts, static)
        _kernels[cache_key] = kernel
    else:
        results = kernel.run(*operands)
    if len(results) == 1 and spec.schema.n_results == 1:
        layout: Any = kernel.layouts[0]
        return wrap(Storage(results[0], layout), layout)
    return _wrap_results(spec, flat, results, kernel.layouts)


def _call_recorded(
    spec: OpSpec, flat: Sequence[Any], static: Any, lengths: Any, key: Any, operands: list[Any], mask: int
) -> Any:
    wanted = tuple(
        bool(mask >> i & 1) and is_inexact(v._layout.dtype) if isinstance(v, Tensor) else False
        for i, v in enumerate(flat)
    )
    cache_key = (key, wanted)
    kernel = _grad_kernels.get(cache_key)
    if kernel is None:
        recipe = _recipe(spec, flat, lengths)
        kernel = GradKernel(spec, static, recipe, wanted)
        results, residuals = kernel.run(*operands)
        kernel.layouts = result_layouts(spec, results, recipe.layouts, static)
        _grad_kernels[cache_key] = kernel
    else:
        results, residuals = kernel.run(*operands)
    tensors = _wrap_results(spec, flat, results, kernel.layouts, as_tuple=True)
    if not any(kernel.differentiable):
        return _unpack(spec, tensors)
    leaves = []
    for route, position in kernel.routes:
        if route == "operand":
            leaves.append(operands[position])
        elif route == "result":
            leaves.append(results[position])
        else:
            leaves.append(residuals[position])
    _mark_shared(flat, tensors, leaves)
    edges = [value._gradient_edge() for value, w in zip(flat, wanted, strict=True) if w]
    node = OpNode(spec.name, edges, len(tensors), kernel, leaves)
    for index, tensor in enumerate(tensors):
        if kernel.differentiable[index]:
            tensor._history = History(tensor._layout, 0, True, node, index)
    return _unpack(spec, tensors)


def _mark_shared(flat: Sequence[Any], tensors: Sequence[Any], leaves: Sequence[Any]) -> None:
    """Marks the storages whose arrays the tape now holds, so that no later write donates them."""
    held = {id(leaf) for leaf in leaves}
    for value in (*flat, *tensors):
        if isinstance(value, Tensor) and id(value._storage.array) in held:
            value._storage.is_shared = True


def _add_window(tensor: Tensor, key: list[Any], operands: list[Any]) -> None:
    storage = tensor._storage
    storage.check_alive()
    if storage.array is None or storage.n_written is not None or tensor._layout.numel == 0:
        # an empty view, or memory that is not all there: rare, so read at once
        key.append("read")
        operands.append(tensor._read())
        return
    storage.check_reach(tensor._layout, tensor._offset, is_write=False)
    window, starts = find_window(storage.layout, tensor._layout, tensor._offset)
    key.append(window)
    key.append(storage.layout)
    operands.append(storage.array)
    operands.append(starts)


def _recipe(spec: OpSpec, flat: Sequence[Any], lengths: Any, base: Storage | None = None) -> Recipe:
    """Returns how the operands that `call` gathered become arguments again; `base` is operand 0 where given."""
    steps: list[tuple[Any, ...]] = []
    layouts = _operand_layouts(spec, flat)
    position = 0 if base is None else 1
    for value in flat:
        if value is None:
            steps.append(("none",))
        elif isinstance(value, Tensor):
            storage = value._storage
            whole = value._layout is storage.layout and storage.array is not None
            read = storage.array is None or storage.n_written is not None or value._layout.numel == 0
            if storage is base and not (read and not whole):
                source = 0
            else:
                source, position = position, position + 1
            if whole or read:
                steps.append(("operand", source))
            else:
                window, _ = find_window(storage.layout, value._layout, value._offset)
                steps.append(("window", source, window, position))
                position += 1
        else:
            steps.append(("operand", position))
            position += 1
    return Recipe(steps, lengths, layouts, spec.is_random)


def _operand_layouts(spec: OpSpec, flat: Sequence[Any]) -> list[Layout]:
    """Returns the layouts of an op's tensor operands; a number in place of a tensor counts as a 0-d one."""
    if spec.layout == "indexed":
        source, *indices = (None if value is None else value._layout for value in flat)
        return list(indexed_operands(source, tuple(indices)))
    layouts = [value._layout for value in flat if isinstance(value, Tensor)]
    if layouts and not spec.has_lists and len(layouts) < len(flat):
        for value, parameter in zip(flat, spec.schema.dynamic, strict=True):
            if parameter.type == "Tensor" and isinstance(value, _NUMBERS):
                layouts.append(contiguous((), layouts[0].dtype))
    return layouts


def _flatten(spec: OpSpec, dynamic: Sequence[Any]) -> tuple[list[Any], tuple[int | None, ...]]:
    flat: list[Any] = []
    lengths: list[int | None] = []
    for value, parameter in zip(dynamic, spec.schema.dynamic, strict=True):
        if parameter.is_list and value is not None:
            flat.extend(value)
            lengths.append(len(value))
        else:
            flat.append(value)
            lengths.append(None)
    return flat, tuple(lengths)


def _converted(spec: OpSpec, dynamic: Sequence[Any]) -> list[Any]:
    """Returns dynamic arguments with jax and NumPy values as tensors and numbers."""
    from jaxaot.tensor.create import from_jax

    def convert(value: Any, name: str) -> Any:
        if value is None or type(value) in _NUMBERS or type(value) is Tensor:
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, (jax.Array, np.ndarray)):
            return from_jax(jax.numpy.asarray(value))
        raise ArgumentError(
            f"{spec.name}(): argument '{name}' must be Tensor, not {type(value).__name__}. The signature is "
            f"`{spec.schema}`."
        )

    return [
        [convert(v, p.name) for v in value] if isinstance(value, (list, tuple)) else convert(value, p.name)
        for value, p in zip(dynamic, spec.schema.dynamic, strict=True)
    ]


def _wrap_results(
    spec: OpSpec, flat: Sequence[Any], results: Sequence[Any], layouts: Sequence[Any], as_tuple: bool = False
) -> Any:
    """Returns the declared results as tensors, and stores the new values of written parameters."""
    n = spec.schema.n_results if spec.schema.n_results >= 0 else len(results)
    tensors = [wrap(Storage(result, layout), layout) for result, layout in zip(results[:n], layouts[:n], strict=True)]
    _store_written(spec, flat, results[n:])
    return tensors if as_tuple else _unpack(spec, tensors)


def _store_written(spec: OpSpec, flat: Sequence[Any], values: Sequence[Any]) -> None:
    if not spec.schema.written:
        return
    position = {p.name: i for i, p in enumerate(spec.schema.dynamic)}
    for parameter, value in zip(spec.schema.written, values, strict=True):
        target = flat[position[parameter.name]]
        if target is not None and value is not None:
            write_value(target, value)


def _unpack(spec: OpSpec, tensors: list[Tensor]) -> Any:
    if spec.schema.n_results == 1:
        return tensors[0]
    return tensors if spec.schema.n_results < 0 else tuple(tensors)


# -- in a trace --------------------------------------------------------------------------------------------------------


def _call_traced(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any) -> Any:
    flat, values, lengths, records, key = _read_traced(spec, dynamic, generator)
    results, node = _evaluate_traced(spec, flat, values, lengths, static, records, key)
    trace = state.trace
    n = spec.schema.n_results if spec.schema.n_results >= 0 else len(results)
    layouts: Any = result_layouts(spec, results, _operand_layouts(spec, flat), static)
    tensors = []
    for index, (result, layout) in enumerate(zip(results[:n], layouts[:n], strict=True)):
        storage = trace.new_storage(result, layout)
        tensor = wrap(storage, layout, 0, trace)
        if node is not None and node.differentiable[index]:
            tensor._history = History(layout, 0, True, node, index, trace)
            tensor._history.ghost = result
            storage.writer = tensor._history
        tensors.append(tensor)
    _store_written(spec, flat, results[n:])
    return _unpack(spec, tensors)


def _read_traced(spec: OpSpec, dynamic: Sequence[Any], generator: Any) -> Any:
    dynamic = _converted(spec, dynamic)
    flat, lengths = (dynamic, None) if not spec.has_lists else _flatten(spec, dynamic)
    records = (
        state.grad_enabled
        and spec.is_differentiable
        and any(isinstance(v, Tensor) and v.requires_grad and is_inexact(v.dtype) for v in flat)
    )
    if spec.overwrites:  # the target may hold no values yet
        target = flat[0]
        values = [jax.numpy.zeros(target._layout.size, target._layout.dtype)]
    else:
        values = []
    values += [_read_for(v, records) if isinstance(v, Tensor) else v for v in flat[len(values) :]]
    key = (generator or default_generator).draw() if spec.is_random else None
    return flat, values, lengths, records, key


def _read_for(tensor: Tensor, records: bool) -> Array:
    if records == state.grad_enabled:
        return tensor._read()
    before = state.grad_enabled
    state.grad_enabled = records
    try:
        return tensor._read()
    finally:
        state.grad_enabled = before


def _evaluate_traced(
    spec: OpSpec, flat: Sequence[Any], values: Sequence[Any], lengths: Any, static: Any, records: bool, key: Any
) -> tuple[tuple[Any, ...], TracedOpNode | None]:
    nest = Recipe((), lengths, (), False).nest
    with jax.named_scope(spec.name):
        results = spec.evaluate(nest(values), static, key)
    if not records:
        return results, None
    mask = [isinstance(v, Tensor) and v.requires_grad and is_inexact(v.dtype) for v in flat]
    edges = [v._gradient_edge() for v, wanted in zip(flat, mask, strict=True) if wanted]
    n = spec.schema.n_results if spec.schema.n_results >= 0 else len(results)
    node = TracedOpNode(spec, edges, values, nest, static, key, mask, results[:n])
    return results, node if any(node.differentiable) else None


# -- in place ----------------------------------------------------------------------------------------------------------


def call_inplace(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any = None) -> Tensor:
    """Runs an op and writes its result to the first argument.

    Raises:
      LeafWriteError: If the target is a leaf that requires grad and the write would be recorded.
      OverlappingWriteError: If elements of the target share memory.
    """
    target = dynamic[0]
    if not isinstance(target, Tensor):
        raise ArgumentError(f"{spec.name}_(): argument 'self' must be Tensor, not {type(target).__name__}")
    flat, lengths = (dynamic, None) if not spec.has_lists else _flatten(spec, dynamic)
    records = (
        state.grad_enabled
        and spec.is_differentiable
        and any(isinstance(v, Tensor) and v._history is not None and v._history.requires_grad for v in flat)
    )
    check_writable(target, records)
    if state.trace is not None:
        return _call_inplace_traced(spec, target, dynamic, static, generator)
    if records and is_inexact(target.dtype):
        return _call_inplace_recorded(spec, target, flat, lengths, static, generator)
    storage = target._storage
    if storage.array is None or storage.n_written is not None or target._layout.numel == 0:
        if spec.overwrites:
            dynamic = [wrap_array(jax.numpy.zeros(target._layout.size, target.dtype)), *dynamic[1:]]
        result = _detached_result(spec, dynamic, static, generator)
        write_value(target, fit_into(result, target._layout.size, target.dtype))
        return target
    key: list[Any] = [spec, static, lengths, target._layout, storage.layout]
    operands: list[Any] = []
    for value in flat:
        kind = type(value)
        if kind is Tensor:
            source = value._storage
            layout = value._layout
            key.append(layout)
            if layout is source.layout and source.array is not None:
                if source is storage:
                    key.append("base")
                else:
                    operands.append(source.array)
            else:
                _add_window(value, key, operands)
                if source is storage and isinstance(key[-1], Layout):
                    key.append("base")
                    del operands[-2]
        elif value is None:
            key.append(None)
        elif kind in _NUMBERS:
            key.append(kind)
            operands.append(value)
        else:
            return call_inplace(spec, _converted(spec, dynamic), static, generator)
    whole = target._layout is storage.layout
    window: AbstractWindow | None = None
    if not whole:
        storage.check_reach(target._layout, target._offset, is_write=True)
        window, starts = find_window(storage.layout, target._layout, target._offset)
        key.append(window)
    if spec.is_random:
        operands.append((generator or default_generator).draw())
    if not whole:
        operands.insert(0, starts)
    cache_key = tuple(key)
    kernel = _write_kernels.get(cache_key)
    fresh = kernel is None
    if fresh:
        recipe = _recipe(spec, flat, lengths, storage)
        if not whole:  # operand 1 holds where the target's window starts
            recipe = _shifted(recipe)
        kernel = WriteKernel(spec, static, recipe, target._layout, window, 1)
    if not storage.may_donate() or any(o is storage.array for o in operands):
        new, more = kernel.run(storage.array, *operands)
    else:
        new, more = kernel.run_donated(storage.array, *operands)
    if fresh:
        _write_kernels[cache_key] = kernel
    storage.array = new
    storage.is_shared = False
    storage.version += 1
    n = max(spec.schema.n_results, 1)
    _store_written(spec, flat, more[n - 1 :])
    return target


def _shifted(recipe: Recipe) -> Recipe:
    """Returns a recipe whose operands after the base stand one place later."""
    move = lambda position: position + 1 if position > 0 else position
    steps = []
    for step in recipe.steps:
        if step[0] == "operand":
            step = ("operand", move(step[1]))
        elif step[0] == "window":
            step = ("window", move(step[1]), step[2], move(step[3]))
        steps.append(step)
    return Recipe(steps, recipe.lengths, recipe.layouts, recipe.has_key)


def _detached_result(spec: OpSpec, dynamic: Sequence[Any], static: Any, generator: Any) -> Array:
    before = state.grad_enabled
    state.grad_enabled = False
    try:
        result = call(spec, dynamic, static, generator)
    finally:
        state.grad_enabled = before
    return (result if isinstance(result, Tensor) else result[0])._read()


def _call_inplace_recorded(
    spec: OpSpec, target: Tensor, flat: Sequence[Any], lengths: Any, static: Any, generator: Any
) -> Tensor:
    dynamic = Recipe((), lengths, (), False).nest(flat)
    result = call(spec, dynamic, static, generator)
    result = result if isinstance(result, Tensor) else result[0]
    value = fit_into(result._read(), target._layout.size, target.dtype)
    edge = result._gradient_edge()
    if result.dtype != target.dtype:
        edge = call(_cast_row(), (result,), (target.dtype,))._gradient_edge()
    write_array(target, value, edge)
    return target


def _cast_row() -> OpSpec:
    from jaxaot.ops.table import lookup

    return lookup("cast")


def _call_inplace_traced(spec: OpSpec, target: Tensor, dynamic: Sequence[Any], static: Any, generator: Any) -> Tensor:
    flat, values, lengths, records, key = _read_traced(spec, dynamic, generator)
    results, node = _evaluate_traced(spec, flat, values, lengths, static, records, key)
    value = fit_into(results[0], target._layout.size, target.dtype)
    from jaxaot.autograd.node import Edge

    edge = None if node is None or not is_inexact(target.dtype) else Edge(node, 0)
    write_array(target, value, edge)
    n = max(spec.schema.n_results, 1)
    _store_written(spec, flat, results[n:])
    return target


# -- out= --------------------------------------------------------------------------------------------------------------


def call_out(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], out: Any, generator: Any = None) -> Any:
    """Runs an op and stores its results in the tensors given as `out=`, which are resized to fit.

    Raises:
      AutogradError: If the op would be recorded.
      DtypeError: If `out` cannot hold the results' kind of number.
    """
    outs = out if isinstance(out, (tuple, list)) else (out,)
    flat, _ = (dynamic, None) if not spec.has_lists else _flatten(spec, dynamic)
    if state.grad_enabled and any(isinstance(v, Tensor) and v.requires_grad for v in (*flat, *outs)):
        raise AutogradError(
            f"{spec.name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    results = call(spec, dynamic, static, generator)
    values = results if isinstance(results, (tuple, list)) else (results,)
    if len(outs) != len(values):
        raise ArgumentError(f"{spec.name}() returns {len(values)} tensors, but out= names {len(outs)}.")
    for target, result in zip(outs, values, strict=True):
        if not isinstance(target, Tensor):
            raise TensorTypeError(f"{spec.name}(): argument 'out' must be Tensor, not {type(target).__name__}")
        value = fit_into(result._read(), tuple(result.shape), target.dtype)
        if target._layout.size != tuple(result.shape):
            target.resize_(tuple(result.shape))
        check_writable(target, False)
        write_value(target, value)
    return out
