"""Results of ops as tensors; the new values of tensors that an op writes besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

from jaxaot.facade.dispatch.write import note_statistics, write_value
from jaxaot.facade.kernels.grad_kernels import GradKernel
from jaxaot.facade.kernels.kernels import Recipe, result_layouts
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import INFERENCE, Tensor, wrap
from jaxaot.facade.nodes.saved import check_saveable
from jaxaot.ops.table import OpSpec
from jaxaot.tape.modes import state
from jaxaot.views.layout import Layout


def layouts_of(
    spec: OpSpec, results: Sequence[Any], recipe: Recipe, static: tuple[Any, ...], is_abstract: bool
) -> tuple[Layout | None, ...]:
    """Returns the layouts of an op's results; of one without values, where its operands have none."""
    layouts = result_layouts(spec, results, recipe.layouts, static)
    return tuple(None if layout is None else layout.abstract if is_abstract else layout for layout in layouts)


def wrap_results(
    spec: OpSpec, flat: Sequence[Any], results: Sequence[Any], layouts: Sequence[Any], as_tuple: bool = False,
    recorder: Any = None,
) -> Any:  # fmt: skip
    """Returns the declared results as tensors, and stores the new values of written parameters.

    Args:
      spec: The row.
      flat: Its dynamic arguments.
      results: Arrays, pending ones if they wait.
      layouts: Of the results.
      as_tuple: Whether to return several even if there is one.
      recorder: What has them wait.
    """
    n = spec.schema.n_results if spec.schema.n_results >= 0 else len(layouts)
    pairs = zip(results[:n], layouts[:n], strict=True)
    if recorder is None:
        tensors = [wrap(Storage(result, layout), layout) for result, layout in pairs]
    else:
        tensors = [recorder.tensor(result, layout) for result, layout in pairs]
    if state.infers:
        for tensor in tensors:
            tensor._creation = INFERENCE
    store_written(spec, flat, results[n:], write_value if recorder is None else recorder.store)
    return tensors if as_tuple else unpack(spec, tensors)


def store_written(
    spec: OpSpec, flat: Sequence[Any], values: Sequence[Any], write: Callable[[Tensor, Any], None] = write_value
) -> None:
    """Stores the new values of the parameters that an op writes besides its results."""
    if not spec.schema.written:
        return
    position = {p.name: i for i, p in enumerate(spec.schema.dynamic)}
    for parameter, value in zip(spec.schema.written, values, strict=True):
        target = flat[position[parameter.name]]
        if target is not None and value is not None:
            write(target, value)
            note_statistics(target)


def unpack(spec: OpSpec, tensors: list[Tensor]) -> Any:
    """Returns the results of an op as users get them: a tensor, or the op's own tuple of several."""
    if spec.schema.n_results == 1:
        return tensors[0]
    return spec.pack(tensors)


def originals_of(kernel: GradKernel, flat: Sequence[Any], result: Any) -> list[Any]:
    """Returns weak references to the tensors that are saved."""
    if not kernel.tensor_arguments:
        return [ref(result)]
    originals = []
    for i in kernel.tensor_arguments:
        tensor = flat[i]
        if tensor._creation is not None:
            check_saveable(tensor)
        originals.append(ref(tensor))
    if kernel.held_results:
        originals.append(ref(result))
    return originals
