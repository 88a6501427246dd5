"""flax nnx modules in compiled functions: a Variable is a cell, a Module an object.

The Variables that a function reaches become inputs of its graph, those it writes become outputs, and the new arrays are
swapped into the same Variables: nothing is split or merged at a call.

    model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    @ja.compile
    def step(model, optimizer, x, y):
        loss, grads = nnx.value_and_grad(lambda m: ((m(x) - y) ** 2).mean())(model)
        optimizer.update(model, grads)
        return loss

A module that is called with tensors computes on tensors: `on_tensors.py`. Its Params have a `grad` then.

This file alone names parts of flax that are not documented. linen modules are pure; only their classes, under
`ja.remat`, need the help of flax.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax

from jaxaot.errors import UnsupportedVariableError
from jaxaot.facade.cells.cell_tensors import tensor_at, tensor_of
from jaxaot.facade.cells.cells import CellKind, child_of, register_cell_kind
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.lower.static import Static
from jaxaot.nn.on_tensors import on_tensors
from jaxaot.rematerialize.remat import register_lift, rematerialize
from jaxaot.rematerialize.static import Options

_WRAPPING = threading.Lock()


def _gradient(self: Any) -> Tensor | None:
    """The gradient of a Param in the style of PyTorch: what `loss.backward()` added up; None before."""
    tensor = tensor_at(self)
    return None if tensor is None else tensor.grad


def _set_gradient(self: Any, value: Tensor | None) -> None:
    if value is not None or tensor_at(self) is not None:
        tensor_of(self).grad = value


class NnxKind(CellKind):
    """The Variables and Modules of flax nnx."""

    name = "nnx"
    value_attribute = "_raw_value"
    metadata_attribute = "_var_metadata"

    def __init__(self) -> None:
        from flax import nnx
        from flax.nnx import tracers, variablelib

        self._nnx = nnx
        self.cell_types = (nnx.Variable, variablelib.HijaxVariable)
        self.object_types = (nnx.Pytree, nnx.State)
        self.trained_types = (nnx.Param,)
        self.usual_metadata = nnx.Variable.required_metadata
        self.write = vars(nnx.Variable)["_raw_value"].__set__  # a slot: past the check of the trace level
        self._state_type = nnx.State
        self._hijax_type = variablelib.HijaxVariable
        self._trace_state = tracers.TraceState
        nnx.Param.grad = property(_gradient, _set_gradient, doc=_gradient.__doc__)  # pyright: ignore

    def check(self, cell: object) -> None:
        if isinstance(cell, self._hijax_type) or cell.ref:
            raise UnsupportedVariableError(
                f"A {type(cell).__name__} holds a mutable array (`ref=True` or `hijax=True`), which changes behind the "
                "back of a compiled function. Make it with `ref=False, hijax=False`, the default; its writes are "
                "carried out in place all the same. Functions of such Variables can be jitted: `ja.jit(f)(model)`."
            )

    def is_hidden(self, name: str) -> bool:
        return name in ("_pytree__state", "_pytree__nodes")

    def open(self, value: object) -> Any:
        if isinstance(value, self._state_type):
            return None
        holder = value if isinstance(value, self.cell_types) else value._pytree__state
        before = holder._trace_state
        object.__setattr__(holder, "_trace_state", self._trace_state())
        return before

    def close(self, value: object, opened: Any) -> None:
        if opened is not None:
            holder = value if isinstance(value, self.cell_types) else value._pytree__state
            object.__setattr__(holder, "_trace_state", opened)

    def take_apart(self, objects: Sequence[Any]) -> tuple[Any, list[Any]]:
        graph, state = self._nnx.split(tuple(objects))
        pairs = self._nnx.to_flat_state(state)
        for _, variable in pairs:
            self.check(variable)
        arrays, tree = jax.tree.flatten([variable for _, variable in pairs])
        return (graph, tuple(path for path, _ in pairs), tree), arrays

    def leaves(self, structure: Any) -> Sequence[tuple[str, bool]]:
        _, paths, tree = structure
        variables = jax.tree.unflatten(tree, [0] * tree.num_leaves)
        found = []
        for (_, *path), variable in zip(paths, variables, strict=True):
            for inside, _ in jax.tree.leaves_with_path(variable.get_raw_value()):
                name = ".".join(map(str, path)) + "".join(map(str, inside))
                found.append((name, isinstance(variable, self._nnx.Param)))
        return found

    def paths(self, structure: Any) -> Sequence[tuple[Any, ...]]:
        return structure[1]

    def put_together(self, structure: Any, arrays: Sequence[Any]) -> Sequence[Any]:
        graph, paths, tree = structure
        variables = jax.tree.unflatten(tree, arrays)
        return self._nnx.merge(graph, self._nnx.from_flat_state(list(zip(paths, variables, strict=True))))

    def write_arrays(self, objects: Sequence[Any], structure: Any, arrays: Mapping[int, Any]) -> None:
        _, paths, tree = structure
        _, before = self.take_apart(objects)
        after = jax.tree.unflatten(tree, [arrays.get(i, array) for i, array in enumerate(before)])
        numbers = iter(range(len(before)))
        owned = [[next(numbers) for _ in jax.tree.leaves(variable)] for variable in after]
        pairs = zip(paths, after, owned, strict=True)
        written = [(path, variable) for path, variable, places in pairs if not arrays.keys().isdisjoint(places)]
        self._nnx.update(tuple(objects), self._nnx.from_flat_state(written))

    def take_tensors(self, cls: type) -> None:
        for owner in cls.__mro__:
            if owner is self._nnx.Module:
                break
            call = owner.__dict__.get("__call__")
            if call is not None and issubclass(owner, self._nnx.Module):
                with _WRAPPING:
                    if not hasattr(owner.__dict__["__call__"], "call_with_arrays"):
                        owner.__call__ = on_tensors(call)  # type: ignore[operator]

    def cells(self, holder: object) -> Iterator[tuple[tuple[Any, ...], Any]]:
        structure, _ = self.take_apart((holder,))
        for _, *path in self.paths(structure):
            cell = holder
            for key in path:
                cell = child_of(cell, key)
            yield tuple(path), cell

    def check_writable(self, cell: Any) -> None:
        cell._check_can_update()

    def jit(self, fn: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
        return self._nnx.jit(fn, **options)


register_cell_kind("flax.nnx", NnxKind)


def lift_linen(target: Callable[..., Any], options: Options) -> Any:
    """Returns a class of linen modules, or a method of one, whose calls run under `ja.remat`; None for other classes.

        Block = ja.remat(Block, memory_budget=0.2)  # as `nn.remat(Block)`

    Its variables, and their names, are those of `nn.remat`; so are the positions of static arguments, `self` the first.
    """
    from flax import linen
    from flax.core import lift
    from flax.linen.transforms import lift_transform

    cls: Any = target.func if isinstance(target, functools.partial) else target
    if isinstance(cls, type) and not issubclass(cls, linen.Module):
        return None
    static = Static(
        cls.__call__ if isinstance(cls, type) else cls,
        {"static_argnums": options.static_argnums or None, "static_argnames": options.static_argnames or None},
    )
    # in place of `self` there are variables and keys
    numbers = tuple(i if i < 0 else i + 1 for i in static.numbers)
    chosen = dataclasses.replace(options, static_argnums=numbers, static_argnames=tuple(static.names))

    def checkpoint(
        fn: Callable[..., Any],
    ) -> Any:  # linen names modules after this function: so the names are those of `nn.remat`
        def inner(
            scope_of: Any, variables_of: Any, variables: object, keys: Any, /, *args: object, **kwargs: Any
        ) -> Any:
            def run(variables: object, keys: Any, /, *args: object, **kwargs: Any) -> Any:
                scope = scope_of(variables, keys)
                return fn(scope, *args, **kwargs), variables_of(scope)

            return rematerialize(run, chosen)(variables, keys, *args, **kwargs)

        return lift.pack(inner, (True,), (True,), (True,), name="remat", enable_kwargs=True)

    lifted: Any = lift_transform(checkpoint, target)
    return lifted


def is_bound_module(value: object) -> bool:
    """Returns whether a value is a linen module that is at work, in `init` or `apply`."""
    from flax import linen

    return isinstance(value, linen.Module) and value.scope is not None


register_lift("flax.linen", lift_linen, is_bound_module)
