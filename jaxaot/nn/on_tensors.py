"""Modules of another library, called with tensors: they return tensors, and their trained cells get gradients.

    @ja.compile
    def step(x, y):                       # `model` is an nnx module, `optimizer` one of `ja.optim`
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()                   # `model.linear.kernel.grad` is a tensor
        optimizer.step()
        return loss

The module that the user calls is one operation of the tape, a function of the tensors of its trained cells; the modules
that it calls in turn are given arrays. What it writes into other cells, such as statistics, is there afterwards.

The class of a module learns this when a compiled function first reaches one, or an optimizer is given one. Calls with
arrays run as before, and so do those inside of JAX's transformations, which differentiate copies of modules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jaxaot import _trees as pytree
from jaxaot._jax import trace_level
from jaxaot.facade.cells.cell_tensors import NeedsTensors, has_array, tensor_at, tensor_of
from jaxaot.facade.cells.cells import CellKind, cell_kinds, is_cell, kind_of, kind_of_cell
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.tape.modes import no_grad, state
from jaxaot.transforms.functional_call import functional_call


def on_tensors(call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the `__call__` of a class of modules, which takes tensors as well."""

    @functools.wraps(call)
    def called(self: object, *args: object, **kwargs: object) -> Any:
        if _has_tensors(args) or (kwargs and _has_tensors(kwargs.values())):
            tensors = _tensors_for_call(self)
            if tensors is not None:
                return _result(self, tensors, args, kwargs)
        return call(self, *args, **kwargs)

    called.call_with_arrays = call  # type: ignore[attr-defined]
    return called


def _has_tensors(values: Iterable[Any]) -> bool:
    for value in values:
        if isinstance(value, Tensor):
            return True
        if isinstance(value, (tuple, list, dict)) and any(isinstance(x, Tensor) for x in pytree.leaves(value)):
            return True
    return False


def _tensors_for_call(module: object) -> dict[str, Tensor] | None:
    """Returns name → tensor of the trained cells of a module; None if it is to be called with arrays.

    Raises:
      NeedsTensors: If the trace that runs reaches cells that have no tensors yet.
    """
    kind = kind_of(module)
    assert kind is not None, "modules are of a kind"
    trained = [(path, cell) for path, cell in kind.cells(module) if isinstance(cell, kind.trained_types)]
    trace = state.trace
    if trace is None:
        if not all(has_array(cell) for _, cell in trained):
            return None
    elif not trained:
        if trace_level() != trace.level:
            return None
    else:
        if not all(id(cell) in trace.cells for _, cell in trained):
            return None
        missing = [cell for _, cell in trained if tensor_at(cell) is None]
        if missing:
            raise NeedsTensors(missing)
    return {".".join(map(str, path)): tensor_of(cell) for path, cell in trained}


def _result(module: object, tensors: Mapping[str, Tensor], args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    after: dict[str, Any] = dict(tensors)
    result = functional_call(module, after, args, kwargs)
    with no_grad():
        for name, tensor in tensors.items():
            if after[name] is not tensor:
                tensor.copy_(after[name])
    return result


def parameters_of(given: object) -> list[Tensor] | None:
    """Returns the tensors of the trained cells of a module or a state, each once; None for anything else."""
    cell_kinds()
    kind = kind_of(given)
    if kind is None or is_cell(given):
        return None
    if isinstance(given, Mapping):
        cells = [leaf for leaf in pytree.leaves(given, is_leaf=is_cell) if is_cell(leaf)]
    else:
        _take_tensors(kind, given)
        cells = [cell for _, cell in kind.cells(given) if isinstance(cell, kind.trained_types)]
    return list({id(cell): tensor_of(cell) for cell in cells}.values())


def parameter_of(given: object) -> Any:
    """Returns the tensor of a trained cell; anything else as it is."""
    is_trained = is_cell(given) and isinstance(given, kind_of_cell(given).trained_types)
    return tensor_of(given) if is_trained else given


def _take_tensors(kind: CellKind, module: object) -> None:
    """Has a module and those inside of it compute on tensors where they are called with them."""
    stack, seen = [module], set[int]()
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, kind.object_types):
            kind.take_tensors(type(value))
            stack += [child for name, child in vars(value).items() if not kind.is_hidden(name)]
        elif isinstance(value, (list, tuple)):
            stack += value
        elif isinstance(value, Mapping):
            stack += value.values()
