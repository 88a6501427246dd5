"""How an op reaches its tensors: read, compute, wrap, record.

`call` runs an op out of place: eagerly by a cached kernel, or in a trace on symbols (`traced.py`). `in_place.py` writes
the result to the first argument, `out.py` to tensors given as `out=`. The border between PyTorch's words and JAX's runs
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot._frames import without_own_frames
from jaxaot._jax import is_outermost
from jaxaot._placement import are_several, placed_like
from jaxaot.facade.dispatch.arguments import call_checked, check_fits, converted, flatten, unhashable
from jaxaot.facade.dispatch.autocast_operands import call_cast, without_autocast
from jaxaot.facade.dispatch.joined import JOINS, join_many
from jaxaot.facade.dispatch.operands import (
    GRAD_KERNELS,
    KERNELS,
    MAX_KERNELS,
    allocated,
    gather,
    is_abstract_key,
    make_recipe,
    operand_layouts,
)
from jaxaot.facade.dispatch.results import layouts_of, originals_of, unpack, wrap_results
from jaxaot.facade.dispatch.traced import call_traced
from jaxaot.facade.kernels.first_uses import Use, first_result
from jaxaot.facade.kernels.grad_kernels import GradKernel
from jaxaot.facade.kernels.growing import grown_results
from jaxaot.facade.kernels.kernels import Kernel, remember, result_layouts
from jaxaot.facade.memory.devices import META, is_meta
from jaxaot.facade.memory.generator import draw_from
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import INFERENCE, Tensor, wrap
from jaxaot.facade.nodes.nodes import OpNode
from jaxaot.facade.nodes.saved import save_specially
from jaxaot.facade.nodes.vjps import CALLS
from jaxaot.facade.subclass.subclass import SUBCLASSES, call_wrapper, holds_subclass
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import OpSpec
from jaxaot.tape.modes import state


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
    if SUBCLASSES and holds_subclass(dynamic):
        return call_wrapper(call, spec, dynamic, static, generator)
    if spec.draws is not None:
        spec = spec.at(static)
    if state.dual is not None:
        return state.dual.call(spec, dynamic, static, generator)
    if state.trace is not None:
        return call_traced(call, spec, dynamic, static, generator)
    if state.region is not None:
        state.region.watch(dynamic)
    if spec.has_prelude:
        if spec.is_cast and state.autocast is not None:
            return call_cast(call, spec, dynamic, static, generator)
        if spec.fitting:
            check_fits(spec, dynamic, static)
        if spec.check is not None:
            return call_checked(call, spec, dynamic, static, generator)
    if state.recorder is not None and state.recorder.records():
        return state.recorder.call(spec, dynamic, static, generator)
    if spec.has_lists:
        if spec.name in JOINS and (joined := join_many(spec, dynamic[0], static)) is not None:
            return joined
        flat, lengths = flatten(spec, dynamic)
    else:
        flat, lengths = dynamic, None
    key: list[Any] = [spec, static, lengths]
    if spec.has_any:
        key.append(tuple(map(type, static)))
    operands: list[Any] = []
    mask = gather(spec, flat, key, operands)
    if mask < 0:
        return call(spec, converted(spec, dynamic, static), static, generator)
    if spec.is_random:
        operands.append(draw_from(generator))
    if mask and spec.is_differentiable and state.grad_enabled:
        key.append(mask)
        try:
            return _call_recorded(spec, flat, static, lengths, tuple(key), operands)
        except Exception as error:
            raise without_own_frames(unhashable(spec, static, error))  # noqa: B904  # it is the same exception
    cache_key = tuple(key)
    try:
        kernel = KERNELS.get(cache_key)
        if kernel is None:
            kernel, results = _first_run(spec, flat, static, lengths, cache_key, operands)
        else:
            results = (kernel.run.alone if is_outermost() else kernel.run.inside)(*operands)
    except Exception as error:  # such as over other devices than those it was made for
        raise without_own_frames(unhashable(spec, static, error))  # noqa: B904  # it is the same exception
    if len(results) == 1 and spec.schema.n_results == 1:
        layout: Any = kernel.layouts[0]
        made = wrap(Storage(results[0], layout), layout)
        if state.infers:
            made._creation = INFERENCE
        return made
    return wrap_results(spec, flat, results, kernel.layouts)


CALLS.append(call)


def _first_run(
    spec: OpSpec, flat: Sequence[Any], static: tuple[Any, ...], lengths: Any, cache_key: Any, operands: Sequence[Any],
    recorder: Any = None,
) -> tuple[Kernel | Use, Any]:  # fmt: skip
    """Returns a kernel, which is kept from now on, and the results of its first run; or what needs none yet."""
    is_abstract = is_abstract_key(cache_key)
    if recorder is None and not is_abstract:
        result = first_result(spec, flat, static, cache_key, operands[-1] if spec.is_random else None)
        if result is not None:
            return Use(result_layouts(spec, (result,), operand_layouts(spec, flat), static)), (result,)
        results = grown_results(spec, flat, static, lengths, cache_key)
        if results is not None:
            return Use(result_layouts(spec, results, operand_layouts(spec, flat), static)), results
    recipe = make_recipe(spec, flat, lengths) if recorder is None else recorder.recipe(spec, flat, lengths)
    kernel = Kernel(spec, static, recipe, is_abstract)
    results = kernel.run(*operands) if recorder is None else recorder.run(kernel.run, operands)
    kernel.layouts = layouts_of(spec, results, recipe, static, is_abstract)
    remember(KERNELS, cache_key, kernel, MAX_KERNELS)
    return kernel, results


def call_gathered(
    spec: OpSpec, flat: Sequence[Any], static: tuple[Any, ...], lengths: Any, generator: Any, key: list[Any],
    operands: list[Any], mask: int, recorder: Any = None,
) -> Any:  # fmt: skip
    """Runs an op out of place whose operands were gathered, see `gather`; a recorder has it wait."""
    if spec.is_random:
        operands.append(draw_from(generator))
    if mask and spec.is_differentiable and state.grad_enabled:
        key.append(mask)
        return _call_recorded(spec, flat, static, lengths, tuple(key), operands, recorder)
    kernel = KERNELS.get(tuple(key))
    if kernel is None:
        kernel, results = _first_run(spec, flat, static, lengths, tuple(key), operands, recorder)
    else:
        results = kernel.run(*operands) if recorder is None else recorder.run(kernel.run, operands)
    return wrap_results(spec, flat, results, kernel.layouts, recorder=recorder)


def call_on_meta(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any = None) -> Any:
    """Runs an op out of place on shapes alone: its results have no values, whatever its arguments have."""
    if state.trace is not None or state.dual is not None or (SUBCLASSES and holds_subclass(dynamic)):
        return call(spec, dynamic, static, generator)
    dynamic = converted(spec, dynamic, static)
    flat, lengths = (dynamic, None) if not spec.has_lists else flatten(spec, dynamic)
    key: list[Any] = [spec, static, lengths, META, tuple(map(type, static))]
    operands: list[Any] = []
    mask = gather(spec, flat, key, operands)
    return call_gathered(spec, flat, static, lengths, generator, key, operands, mask)


def make(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any, device: object) -> Any:
    """Runs an op that makes tensors, on the device that is asked for."""
    if is_meta(device):
        return call_on_meta(spec, dynamic, static, generator)
    if device is not None and spec.is_factory and not (SUBCLASSES and holds_subclass(dynamic)):
        dynamic = [allocated(v) if isinstance(v, Tensor) else v for v in dynamic]
    made = call(spec, dynamic, static, generator)
    if spec.overwrites and are_several():
        _place(made, dynamic[0])
    return made


def _place(made: Tensor, like: Tensor) -> None:
    """Places a tensor that was just made as one of its size lies, whose values were not read."""
    trace, storage = state.trace, like._storage
    if like._layout is not storage.layout or made._storage.array is None:
        return
    if trace is not None:
        trace.adopt(storage)
    made._storage.array = placed_like(made._storage.array, storage.array)


def call_uncast(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any = None) -> Any:
    """Runs an op out of place, for a form of it that autocast leaves alone: in place and with `out=`."""
    if state.autocast is None:
        return call(spec, dynamic, static, generator)
    with without_autocast():
        return call(spec, dynamic, static, generator)


def _call_recorded(
    spec: OpSpec, flat: Sequence[Any], static: Any, lengths: Any, cache_key: Any, operands: list[Any],
    recorder: Any = None,
) -> Any:  # fmt: skip
    kernel = GRAD_KERNELS.get(cache_key)
    if kernel is None:
        recipe = make_recipe(spec, flat, lengths) if recorder is None else recorder.recipe(spec, flat, lengths)
        wanted = [isinstance(v, Tensor) and v.requires_grad and is_inexact(v._layout.dtype) for v in flat]
        is_abstract = is_abstract_key(cache_key)
        kernel = GradKernel(spec, static, recipe, wanted, is_abstract)
        outputs = kernel.run(*operands) if recorder is None else recorder.run(kernel.run, operands)
        results = outputs[: len(kernel.differentiable)]
        kernel.layouts = layouts_of(spec, results, recipe, static, is_abstract)
        kernel.settle([isinstance(v, Tensor) for v in flat], len(operands))
        remember(GRAD_KERNELS, cache_key, kernel, MAX_KERNELS)
    elif recorder is not None:
        outputs = recorder.run(kernel.run, operands)
    else:
        outputs = (kernel.run.alone if is_outermost() else kernel.run.inside)(*operands)
    leaves = kernel.pick_leaves((*operands, *outputs))
    if kernel.is_plain and recorder is None and state.saves_plainly:  # as below, without the loops
        for i in kernel.held_arguments:
            flat[i]._storage.is_shared = True
        layout: Any = kernel.layouts[0]
        storage = Storage(outputs[0], layout)
        if kernel.held_results:
            storage.is_shared = True
        made = wrap(storage, layout)
        node = OpNode(kernel, [flat[i]._gradient_edge() for i in kernel.places], leaves)
        made._history = History(layout, 0, True, node)
        if kernel.is_saving:
            node.originals = originals_of(kernel, flat, made)
        return made
    tensors = wrap_results(spec, flat, outputs[: kernel.n_outputs], kernel.layouts, True, recorder)
    if not kernel.is_recorded:
        return unpack(spec, tensors)
    for i in kernel.held_arguments:
        flat[i]._storage.is_shared = True
    for i in kernel.held_results:
        tensors[i]._storage.is_shared = True
    node = OpNode(kernel, [flat[i]._gradient_edge() for i in kernel.places], leaves)
    for index, tensor in enumerate(tensors):
        if kernel.recorded[index]:
            tensor._history = History(tensor._layout, 0, True, node, index)
    if kernel.is_saving:
        node.originals = originals_of(kernel, flat, tensors[kernel.held_results[0]] if kernel.held_results else None)
    if recorder is not None:
        recorder.hold(node)
    elif not state.saves_plainly:
        save_specially(node, flat, tensors)
    return unpack(spec, tensors)
