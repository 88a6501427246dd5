"""How a transformation of optax is run on tensors: its state is a row of tensors that are written in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot.errors import StateDictError
from jaxaot.facade.dispatch.create import as_tensor, from_jax
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.optim.groups import listed


class Transformed:
    """A transformation of optax, and the trees that it takes.

    Attributes:
      params: The parameters in the order of the tree's leaves.
      first: The leaves of its first state, as tensors.
    """

    def __init__(self, transformation: Any, params: Any) -> None:
        found = list(params.items()) if isinstance(params, Mapping) else listed(params)[0]["params"]
        is_named = all(isinstance(p, tuple) for p in found)
        tree = dict(found) if is_named else list(found)
        self.params, self._tree = jax.tree.flatten(tree, is_leaf=lambda x: isinstance(x, Tensor))
        arrays = self._tree.unflatten([p.detach().jax() for p in self.params])
        state = transformation.init(arrays)
        leaves, self._state_tree = jax.tree.flatten_with_path(state)
        self._names = [jax.tree_util.keystr(path) for path, _ in leaves]
        self.first = [from_jax(jnp.array(leaf)) for _, leaf in leaves]

        def update(gradients: Any, leaves: Sequence[Any], params: Any) -> Any:
            changes, after = transformation.update(gradients, self._state_tree.unflatten(leaves), params)
            moved = jax.tree.map(lambda p, u: (p + u).astype(p.dtype), params, changes)
            return jax.tree.leaves(moved), jax.tree.leaves(after)

        self._update = jax.jit(update)

    def update(self, params: Sequence[Tensor], state: Sequence[Tensor]) -> None:
        """Moves parameters by their gradients, and writes the next state."""
        values = [p.detach().jax() for p in params]
        gradients = [
            jnp.zeros_like(value) if p.grad is None else p.grad.detach().jax()
            for p, value in zip(params, values, strict=True)
        ]
        tree = self._tree.unflatten
        moved, after = self._update(tree(gradients), [leaf.jax() for leaf in state], tree(values))
        for tensor, value in zip((*params, *state), (*moved, *after), strict=True):
            tensor.copy_(from_jax(value))

    def state_dict(self, state: Sequence[Tensor]) -> dict[str, Any]:
        """Returns the leaves of the state by their paths."""
        return {"optax_state": dict(zip(self._names, (leaf.detach() for leaf in state), strict=True))}

    def load_state_dict(self, state: Sequence[Tensor], saved: Mapping[str, Any]) -> None:
        """Copies leaves of a state dict into the state."""
        found = saved.get("optax_state", {})
        if set(found) != set(self._names):
            odd = ", ".join(sorted(set(found) ^ set(self._names)))
            raise StateDictError(f"The state dict is that of another transformation of optax; they differ by: {odd}")
        values = [as_tensor(found[name]) for name in self._names]
        for name, leaf, value in zip(self._names, state, values, strict=True):
            if leaf.shape != value.shape:
                raise StateDictError(f"size mismatch for {name}: {list(value.shape)} instead of {list(leaf.shape)}")
        for leaf, value in zip(state, values, strict=True):
            leaf.detach().copy_(value)
