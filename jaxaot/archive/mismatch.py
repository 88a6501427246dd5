"""Why a call does not fit the programs of an archive, in the user's words: all reasons at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._jax import canonical_dtype
from jaxaot.errors import SignatureMismatchError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.plan.call import TensorInput
from jaxaot.plan.difference import place_name
from jaxaot.plan.guards import EqualTo, differs, shown
from jaxaot.plan.number_program import NumberPlan
from jaxaot.plan.paths import Path, follow
from jaxaot.runtime.program import Program
from jaxaot.tape.modes import state as modes
from jaxaot.tracer.arguments import flatten_arguments
from jaxaot.tracer.numbers.predictions import numbers_of


def refuse_call(
    name: str, program: Program, state: Mapping[str, Any], args: Any, kwargs: Any, sizes: str | None = None
) -> NoReturn:
    """Raises for a call that fits no program."""
    found = [sizes] if sizes else list(dict.fromkeys(_Call(program, state, args, kwargs).problems()))
    if not found:
        found = ["tensors share memory, gradients or a history in another way"]
    listed = "\n".join(f"  - {problem}" for problem in found)
    raise SignatureMismatchError(
        f"`{name}` comes from an archive, and was exported for calls of another kind:\n{listed}\n"
        "Call it with arguments like those, or export the function for these: `ja.export(fn, *args)`, where "
        "`dynamic_shapes` says which sizes change."
    )


class _Call:
    def __init__(self, program: Program, state: Mapping[str, Any], args: Any, kwargs: Any):
        self.program = program
        self.plan = program.traced.call
        self.roots: list[tuple[Path, Any]] = [
            ((("root", "args"),), args), ((("root", "kwargs"),), kwargs), ((("root", "fn"),), state),
        ]  # fmt: skip
        self.leaves, self.tree = flatten_arguments(*program.traced.in_order(args, kwargs))

    def name(self, path: Path) -> str:
        if path[0][1] == "fn" and len(path) > 1:
            return f"`{path[1][1]}{'.grad' if len(path) > 2 else ''}` of its state"
        return f"`{place_name(path, self.program.parameters)}`"

    def problems(self) -> Iterator[str]:
        """Yields what is different."""
        traced = self.program.traced
        if self.plan.grad_enabled is not modes.grad_enabled:
            yield f"grad mode is {'on' if modes.grad_enabled else 'off'}, and it holds no program for that"
        if self.tree != traced.in_tree:
            expected, given = (pytree.shown(tree) for tree in (traced.in_tree, self.tree))
            yield f"the arguments have the structure {given} instead of {expected}"
            return
        if traced.needs_backward and modes.saved_hooks is not None:
            yield "hooks on saved tensors are in force, and its graphs were made without"
        for static in self.plan.statics:
            value, condition = self.leaves[static.leaf], static.condition
            is_same = (
                type(value) is type(condition.value) and value == condition.value
                if isinstance(condition, EqualTo)
                else isinstance(value, condition.cls) and type(value) is not bool
            )  # type: ignore[attr-defined]
            if not is_same:
                is_value = isinstance(condition, EqualTo)
                wanted = f"{condition.value!r:.60}" if is_value else f"a {condition.cls.__name__.lower()}"
                yield f"argument {static.leaf} is {value!r:.60} instead of {wanted}"
        for value in self.plan.values:
            yield from self._value(value, self.leaves[value.leaf])
        found: dict[int, list[Any]] = {}
        for tensor in self.plan.tensors:
            problem = self._tensor(tensor)
            if problem is not None:
                yield problem
            else:
                found.setdefault(tensor.storage, []).append((tensor, follow(self.roots, tensor.path)))
        yield from self._sharing(found)
        for guard in self.plan.grads:
            tensor = self.plan.tensors[guard.tensor]
            if (follow(self.roots, tensor.path)._grad is None) is not guard.is_none:
                yield f"the `.grad` of {self.name(tensor.path)} is {'not ' if guard.is_none else ''}None"
        yield from self._numbers(self.plan.numbers)

    def _numbers(self, plan: NumberPlan) -> Iterator[str]:
        try:
            values = numbers_of(plan, self.roots)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            yield f"its arithmetic on numbers fails: {error}"
            return
        name = lambda path: self.name(path).strip("`")
        for fact in plan.facts:
            value = type(values[fact.step]) if fact.is_of_type else values[fact.step]
            if differs(value, fact.value):
                yield f"`{plan.text(fact.step, name)}` is {shown(value)} instead of {shown(fact.value)}"

    def _value(self, value: Any, given: Any) -> Iterator[str]:
        name = f"argument {value.leaf}"
        if not isinstance(given, (jax.Array, np.ndarray, np.generic)):
            yield f"{name} is a {type(given).__name__} instead of an array"
        elif (tuple(given.shape), canonical_dtype(given.dtype)) != (tuple(value.shape), value.dtype):
            yield f"{name} is {given.dtype}{list(given.shape)} instead of {value.dtype}{list(value.shape)}"

    def _tensor(self, plan: TensorInput) -> str | None:
        """Returns what is different about a tensor; None if it is one that fits."""
        name = self.name(plan.path)
        try:
            tensor = follow(self.roots, plan.path)
        except (AttributeError, LookupError, TypeError):
            tensor = None
        if not isinstance(tensor, Tensor):
            if isinstance(tensor, (np.ndarray, jax.Array)):
                return f"{name} is an array instead of a tensor, `ja.tensor(x)`"
            return f"{name} is a {type(tensor).__name__} instead of a tensor"
        given, wanted = tensor._layout, plan.layout
        if (given.size, given.dtype) != (wanted.size, wanted.dtype):
            return f"{name} is {given.dtype}{list(given.size)} instead of {wanted.dtype}{list(wanted.size)}"
        if given is not wanted:
            return f"{name} has the strides {given.stride} instead of {wanted.stride}: pass `x.contiguous()`"
        if tensor.requires_grad is not plan.requires_grad:
            return f"{name} {'requires grad' if tensor.requires_grad else 'does not require grad'}"
        if plan.requires_grad and (tensor.grad_fn is None) is not plan.is_leaf:
            return f"{name} is {'no leaf' if plan.is_leaf else 'a leaf'}"
        if plan.lineage is not None and (plan.lineage.base is None) is not (tensor._base_tensor is None):
            return f"{name} is {'no' if tensor._base_tensor is None else 'a'} view of another tensor: pass `x.clone()`"
        storage = self.plan.storages[plan.storage].layout if plan.storage >= 0 else tensor._storage.layout
        if tensor._storage.layout is not storage or tensor._offset != plan.offset:
            return (
                f"{name} is a view of {tensor._storage.nbytes()} bytes from element {tensor._offset} on, instead of "
                f"{storage.nbytes} from {plan.offset}: pass `x.clone()`"
            )
        return None

    def _sharing(self, found: dict[int, list[Any]]) -> Iterator[str]:
        first: dict[int, str] = {}
        for number, members in found.items():
            name = self.name(members[0][0].path)
            for plan, tensor in members[1:]:
                if tensor._storage is not members[0][1]._storage:
                    yield f"{self.name(plan.path)} no longer shares memory with {name}"
            other = first.setdefault(id(members[0][1]._storage), name)
            if other != name and number >= 0:
                yield f"{name} shares memory with {other}"
