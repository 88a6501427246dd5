"""What goes in and out of branches and loops: leaves that are tensors or arrays, and whether they fit together."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._immutable import immutable
from jaxaot.errors import ControlFlowMismatchError, TensorTypeError
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.dispatch.create import from_jax, tensor
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.view_ops.views import clone
from jaxaot.ops.promotion import can_store, is_bool
from jaxaot.tape.modes import state
from jaxaot.views.memory_format import MemoryFormat

_NUMBERS = (bool, int, float, complex)


@immutable
class LeafSpec:
    """What a leaf of the arguments or results of a body is.

    Attributes:
      shape: Its shape.
      dtype: Its dtype.
      is_tensor: Whether it is a tensor rather than a bare array.
      requires_grad: Whether gradients flow through it.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    is_tensor: bool
    requires_grad: bool

    def __str__(self) -> str:
        return f"{'Tensor' if self.is_tensor else 'array'} {self.dtype}{list(self.shape)}"


def spec_of(leaf: object) -> LeafSpec:
    """Returns the spec of a tensor or array."""
    is_tensor = isinstance(leaf, Tensor)
    requires_grad = is_tensor and leaf.requires_grad and state.grad_enabled
    return LeafSpec(tuple(leaf.shape), np.dtype(leaf.dtype), is_tensor, requires_grad)


def leaves_of(value: object, what: str) -> tuple[list[Any], Any]:
    """Returns the leaves of operands or results as tensors and jax arrays, and their tree.

    Raises:
      TensorTypeError: If one is something else.
    """
    paths, tree = pytree.flatten_with_path(value)
    found = []
    for path, leaf in paths:
        if type(leaf) in STAND_INS:
            raise leaf.refusal("Returning the value")
        if isinstance(leaf, _NUMBERS):
            found.append(tensor(leaf))
        elif isinstance(leaf, Tensor):
            found.append(leaf)
        elif isinstance(leaf, (jax.Array, np.ndarray, np.generic)):
            found.append(jnp.asarray(leaf))
        else:
            raise TensorTypeError(
                f"`{what}{jax.tree_util.keystr(path)}` is a {type(leaf).__name__}. What goes in and out of `cond`, "
                "`while_loop`, `scan` and `map` is made of tensors, arrays, numbers and None, in containers."
            )
    return found, tree


def fresh(leaf: object) -> Any:
    """Returns a contiguous copy of a tensor, on a storage of its own; arrays are immutable."""
    return clone(leaf, memory_format=MemoryFormat.contiguous_format) if isinstance(leaf, Tensor) else leaf


def differences(names: tuple[str, str], trees: tuple[Any, Any], specs: tuple[Any, Any], what: str) -> list[str]:
    """Returns every difference between two structures, in words."""
    sides = []
    for tree, leaves in zip(trees, specs, strict=True):
        paths, _ = pytree.flatten_with_path(pytree.unflatten(tree, list(leaves)))
        sides.append({jax.tree_util.keystr(path): str(leaf) for path, leaf in paths})
    first, second = sides
    found = []
    for path in dict.fromkeys([*first, *second]):
        a, b = (side.get(path, "not there") for side in sides)
        if a != b:
            found.append(f"`{what}{path}`: {a} in {names[0]}, {b} in {names[1]}")
    if not found and trees[0] != trees[1]:
        first, second = map(pytree.shown, trees)
        found.append(f"`{what}` is {first} in {names[0]} and {second} in {names[1]}")
    return found


def _fitted(leaf: object, spec: LeafSpec) -> Any:
    """Returns the new value of a carried leaf after an iteration, as the kind of leaf that it was."""
    if isinstance(leaf, _NUMBERS):
        leaf = jnp.asarray(leaf, spec.dtype) if can_store(np.asarray(leaf).dtype, spec.dtype) else tensor(leaf)
    if isinstance(leaf, (np.ndarray, np.generic)):
        leaf = jnp.asarray(leaf)
    if spec.is_tensor and isinstance(leaf, jax.Array):
        return from_jax(leaf)
    return leaf.jax() if not spec.is_tensor and isinstance(leaf, Tensor) else leaf


class Carry:
    """What a loop carries from iteration to iteration.

    Attributes:
      leaves: What it starts from.
      tree: Their tree.
      specs: What they are.
    """

    def __init__(self, init: Any, what: str):
        self.leaves, self.tree = leaves_of(init, what)
        self.specs = [spec_of(leaf) for leaf in self.leaves]

    def fit(self, value: object, fn: str) -> list[Any]:
        """Returns the leaves of what an iteration returned to carry on.

        Raises:
          ControlFlowMismatchError: If it is not what the loop started from.
        """
        value = pytree.in_order(self.tree, value)
        raw, tree = pytree.flatten(value)
        if tree == self.tree:
            value = pytree.unflatten(tree, [_fitted(x, spec) for x, spec in zip(raw, self.specs, strict=True)])
        leaves, tree = leaves_of(value, "carry")
        found = differences(
            ("what the loop starts from", f"what `{fn}` returns"),
            (self.tree, tree),
            (self.specs, [spec_of(leaf) for leaf in leaves]),
            "carry",
        )
        if found:
            listed = "\n".join(f"  - {problem}" for problem in found)
            raise ControlFlowMismatchError(
                f"What a loop carries has to keep its structure, shapes and dtypes, and `{fn}` changed them:\n"
                f"{listed}\nStart from values of the final kind, for instance `ja.tensor(0.0)` rather than `0`, or "
                "convert before returning: `x.to(carry.dtype)`, `x.reshape(carry.shape)`."
            )
        return leaves


def _check_one(pred: Any, what: str) -> None:
    shape = tuple(getattr(pred, "shape", ()))
    if math.prod(shape) != 1:
        raise ControlFlowMismatchError(
            f"`{what}` has to be one value, and is {pred.dtype}{list(shape)}. Reduce it, for instance with `.all()` or "
            "`.any()`; to choose element by element, write `ja.where(pred, a, b)`."
        )


def truth_of(pred: object, what: str) -> bool:
    """Returns the truth value of a condition, eagerly.

    Raises:
      ControlFlowMismatchError: If it is not one value.
    """
    _check_one(pred, what)
    return bool(pred.reshape(()) if isinstance(pred, (jax.Array, np.ndarray)) else pred)


def flag_of(pred: object, what: str) -> Any:
    """Returns a condition as a bool symbol without dims.

    Raises:
      ControlFlowMismatchError: If it is not one value.
    """
    _check_one(pred, what)
    value = pred._read() if isinstance(pred, Tensor) else jnp.asarray(pred)
    value = value if value.ndim == 0 else jnp.reshape(value, ())
    return value if is_bool(value.dtype) else value != 0
