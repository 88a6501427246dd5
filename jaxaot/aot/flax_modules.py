"""Lifting of flax modules, nnx and linen.

Their parameters and buffers are arrays, held by the module (nnx) or beside it (linen). Each gets a tensor that keeps
its gradient from call to call and shows, at each call, the array that the library holds then. The module itself runs on
arrays, as one operation of the tape.
"""

from __future__ import annotations

import abc
import sys
from collections.abc import Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot.aot.lift import AbstractLifted
from jaxaot.errors import ModuleLiftError
from jaxaot.facade.cells.cells import cell_kinds, kind_of
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.marks.trees import pack_keys, unpack_keys
from jaxaot.facade.memory.counter import counter_of
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.table import OpSpec
from jaxaot.tape.modes import no_grad, state

_SCHEMA = "module(Tensor[] inputs) -> Tensor[]"


def is_nnx_module(value: object) -> bool:
    """Returns whether a value is a flax nnx module."""
    nnx = sys.modules.get("flax.nnx")
    return nnx is not None and isinstance(value, nnx.Module)


def is_linen_module(value: object) -> bool:
    """Returns whether a value is a flax linen module."""
    linen = sys.modules.get("flax.linen")
    return linen is not None and isinstance(value, linen.Module)


def _is_key(value: object) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


class _LiftedArrays(AbstractLifted):
    """A module whose state is arrays, each with a tensor beside it."""

    def __init__(self, module: Any):
        self.module = module
        self.parameters, self.buffers = {}, {}
        self._impls: dict[str, str] = {}
        self._shown: dict[str, Any] = {}

    def _show(self, held: Sequence[tuple[str, Any, bool]]) -> Hashable:
        """Makes the tensors show (name, array, whether it is a parameter); returns what a program depends on."""
        if state.trace is not None:
            raise ModuleLiftError(
                f"`{type(self.module).__name__}` was called through ja.aot inside a function that is being traced. A "
                "later call of the compiled function would not look at the module's arrays again. Call it outside, or "
                "call the flax module itself inside."
            )
        before = {**self.parameters, **self.buffers}
        self.parameters, self.buffers, self._impls = {}, {}, {}
        for name, value, is_parameter in held:
            if _is_key(value):
                self._impls[name] = str(jax.random.key_impl(value))
                value = jax.random.key_data(value)
            tensor = before.get(name)
            if not isinstance(value, jax.Array):
                try:
                    value = jnp.asarray(value)
                except TypeError as error:
                    raise ModuleLiftError(
                        f"`{name}` of `{type(self.module).__name__}` holds a {type(value).__name__}, not an array, so "
                        "it cannot be an input. Keep arrays in Variables, and other values in plain attributes."
                    ) from error
            if value.weak_type:
                value = jax.lax.convert_element_type(value, value.dtype)
            if tensor is None or tensor.shape != value.shape or tensor.dtype != value.dtype:
                tensor = from_jax(value)
                tensor.requires_grad_(is_parameter and is_inexact(value.dtype))
            elif tensor._storage.array is not value:
                storage = tensor._storage
                counter_of(tensor).n += 1
                storage.is_shared = True
                storage.array = value
            (self.parameters if is_parameter else self.buffers)[name] = tensor
            self._shown[name] = tensor._storage.array
        return tuple((name, is_parameter) for name, _, is_parameter in held), tuple(self._impls.items())

    def _changed(self) -> dict[str, Any]:
        """Returns the new values of the buffers and parameters that a call wrote, in the library's own form."""
        changed = {}
        for name, tensor in {**self.parameters, **self.buffers}.items():
            if tensor._storage.array is not self._shown[name]:
                tensor._storage.is_shared = True
                changed[name] = self._held(name, tensor._storage.array)
        return changed

    def _held(self, name: str, values: Any) -> Any:
        """Returns an array as the library holds it."""
        return jax.random.wrap_key_data(values, impl=self._impls[name]) if name in self._impls else values

    def inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return pack_keys((args, kwargs))

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        leaves, tree = jax.tree.flatten((args, kwargs), is_leaf=lambda x: x is None)
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, (Tensor, jax.Array, np.ndarray))]
        names = [*self.parameters, *self.buffers]
        tensors = [*self.parameters.values(), *self.buffers.values()]
        made: list[Any] = []

        def compute(inputs: list[Any]) -> list[Any]:
            filled = list(leaves)
            for place, value in zip(places, inputs[len(names) :], strict=True):
                filled[place] = value
            words = dict(zip(names, inputs, strict=False))
            held = {name: self._held(name, value) for name, value in words.items()}
            given = unpack_keys(jax.tree.unflatten(tree, filled))
            result, after = self._apply(held, *given)
            out, out_tree = jax.tree.flatten(result, is_leaf=lambda x: x is None)
            is_array = [isinstance(x, (jax.Array, np.ndarray)) for x in out]
            changed = [name for name in names if after[name] is not held[name]]
            made[:] = [out_tree, [None if a else x for x, a in zip(out, is_array, strict=True)], is_array, changed]
            new = [jax.random.key_data(after[name]) if name in self._impls else after[name] for name in changed]
            return [*(jnp.asarray(x) for x, a in zip(out, is_array, strict=True) if a), *new]

        spec = OpSpec(type(self.module).__name__, _SCHEMA, compute)
        results = iter(call(spec, [[*tensors, *(leaves[i] for i in places)]], ()))
        out_tree, constants, is_array, changed = made
        out = [next(results) if a else x for x, a in zip(constants, is_array, strict=True)]
        with no_grad():
            for name, value in zip(changed, results, strict=True):
                {**self.parameters, **self.buffers}[name].copy_(value)
        return jax.tree.unflatten(out_tree, out)

    @abc.abstractmethod
    def _apply(self, held: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Returns the module's result for some state, and the state afterwards, as jax values."""

    def _gradient(self, name: str) -> Any:
        tensor = self.parameters[name]
        return jnp.zeros(tensor.shape, tensor.dtype) if tensor.grad is None else tensor.grad.jax()


class LiftedNnx(_LiftedArrays):
    """A flax nnx module. Its Variables are read before each call and set after it."""

    def __init__(self, module: Any):
        super().__init__(module)
        cell_kinds()
        self._kind: Any = kind_of(module)
        self.refresh()

    def refresh(self) -> Hashable:
        self._structure, arrays = self._kind.take_apart((self.module,))
        self._leaves = self._kind.leaves(self._structure)
        held = [(name, value, trained) for (name, trained), value in zip(self._leaves, arrays, strict=True)]
        return self._structure, self._show(sorted(held, key=lambda item: not item[2]))

    def _apply(self, held: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        (module,) = self._kind.put_together(self._structure, [held[name] for name, _ in self._leaves])
        result = module(*args, **kwargs)
        structure, arrays = self._kind.take_apart((module,))
        names = [name for name, _ in self._kind.leaves(structure)]
        if structure != self._structure:
            new = ", ".join(f"`{name.partition('[')[0]}`" for name in names if name not in held) or "a plain attribute"
            raise ModuleLiftError(
                f"`{type(self.module).__name__}` changed its structure during the call: {new} is new or another. A "
                "compiled call runs no Python, so only the values of Variables can change. Make every Variable in "
                "`__init__`, and keep counters in Variables."
            )
        return result, dict(zip(names, arrays, strict=True))

    def store(self) -> None:
        changed = self._changed()
        written = {i: changed[name] for i, (name, _) in enumerate(self._leaves) if name in changed}
        if written:
            self._kind.write_arrays((self.module,), self._structure, written)

    def gradients(self) -> Any:
        """Returns an nnx State of the Params' gradients, as `nnx.grad` does; zeros for those that got none."""
        from flax import nnx

        found = [self._gradient(name) for name, trained in self._leaves if trained]
        return jax.tree.unflatten(jax.tree.structure(nnx.state(self.module, nnx.Param)), found)


class LiftedLinen(_LiftedArrays):
    """A flax linen module and its variables: the collection `params` are parameters, all others buffers."""

    def __init__(self, module: Any, variables: Any):
        if module.scope is not None:
            module, bound = module.unbind()
            variables = bound if variables is None else variables
        if variables is None:
            raise ModuleLiftError(
                f"`{type(module).__name__}` is a linen module, which holds no arrays. Pass its variables: "
                "`variables=module.init(key, x)`."
            )
        super().__init__(module)
        self.variables = variables
        self.refresh()

    @property
    def forward(self) -> Any:
        return self.module.__call__

    def refresh(self) -> Hashable:
        entries, self._tree = jax.tree_util.tree_flatten_with_path(self.variables)
        held = []
        for path, value in entries:
            collection, *rest = (str(getattr(k, "key", getattr(k, "name", getattr(k, "idx", k)))) for k in path)
            name = ".".join(rest if collection == "params" else (collection, *rest))
            held.append((name, value, collection == "params"))
        self._names = [name for name, _, _ in held]
        self._collections = [name for name in self.variables if name != "params"]
        return self._tree, self._show(sorted(held, key=lambda item: not item[2])), self.module

    def _apply(self, held: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        variables = jax.tree.unflatten(self._tree, [held[name] for name in self._names])
        if not self._collections:
            return self.module.apply(variables, *args, **kwargs), held
        result, updates = self.module.apply(variables, *args, **{"mutable": self._collections, **kwargs})
        after = {**variables, **updates}
        leaves, tree = jax.tree.flatten(type(self.variables)(after))
        if tree != self._tree:
            raise ModuleLiftError(
                f"`{type(self.module).__name__}` changed the structure of its variables during the call. Make every "
                "variable in `init`, or leave the collection out of `mutable`."
            )
        return result, dict(zip(self._names, leaves, strict=True))

    def store(self) -> None:
        changed = self._changed()
        leaves = jax.tree.leaves(self.variables)
        new = [changed.get(name, leaf) for name, leaf in zip(self._names, leaves, strict=True)]
        self.variables = jax.tree.unflatten(self._tree, new)

    def gradients(self) -> Any:
        """Returns the gradients as a tree like `variables["params"]`; zeros for parameters that got none."""
        params = self.variables["params"]
        names = [name for name in self._names if name in self.parameters]
        return jax.tree.unflatten(jax.tree.structure(params), [self._gradient(name) for name in names])
