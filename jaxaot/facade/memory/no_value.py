"""What is said where Python, or a function of JAX, needs the value of a symbol or tensor."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from jaxaot._jax import varies_in_vmap
from jaxaot.errors import ConcretizationError, TensorValueError
from jaxaot.facade.memory.source_line import user_line

HOW_MANY = "(how many elements there are)"
"""What an op needs that makes a result of as many elements as values say."""

_MAPPED = {
    "`.item()`": "It looks like you're calling .item() on a Tensor. ",
    "A Python `if`, `while` or `bool()`": "It looks like you're attempting data-dependent control flow on a Tensor. ",
}


def no_value(what: str, size: Sequence[int], symbol: object, instead: str) -> ConcretizationError:
    """Returns the error for a tensor whose value Python needs and which has none; `instead` is said first of all."""
    if varies_in_vmap(symbol):
        said = _MAPPED.get(what, "")
        if what.endswith(HOW_MANY):
            said = "vmap does not support operators that can output dynamic shape. "
            said += f"Attempted to vmap over aten::{what.split('`')[1]}. "
        return ConcretizationError(
            f"vmap: {what} needs the value of a tensor of shape {list(size)} that is another one at each index, so "
            f"there is none for Python.\n\n    {user_line()}\n\n{instead}{said}Compute with tensors:"
            "\n\n    y = ja.where(x > 0, a, b)"
            "\n    y = ja.cond(x.sum() > 0, true_fn, false_fn, (x,))"
            "\n\nor call the function for one index after the other:"
            "\n\n    y = ja.stack([fn(part) for part in x])"
        )
    return ConcretizationError(
        f"{what} needs the value of a traced tensor of shape {list(size)}, and while a function "
        f"is traced there is none.\n\n    {user_line()}\n\n{instead}"
        "Python cannot branch on values that are only known when the compiled graph runs. Compute with tensors:"
        "\n\n    y = ja.where(x > 0, a, b)"
        "\n    y = ja.cond(x.sum() > 0, true_fn, false_fn, (x,))"
        "\n    (x,) = ja.while_loop(lambda x: x.sum() > 1, lambda x: (x / 2,), (x,))"
        "\n\nor make the value a static Python argument, for each of which the function is compiled on its own:"
        "\n\n    fn(x, 3)        # an int, bool or string rather than ja.tensor(3)"
        "\n\nor let Python have the value, between two parts of the function (but not in a branch of `ja.cond`, nor in "
        "an iteration of a loop such as `ja.scan`):"
        "\n\n    fn = ja.compile(fn)        # without `fullgraph=True`"
    )


def is_operand() -> bool:
    """Returns whether the values that are asked for are those of an operand of JAX's array: `array + tensor`."""
    return sys._getframe(2).f_code.co_name.startswith("_operator_")


def refuse_in_jax(x: Any) -> None:
    """Raises because a tensor was passed to a function of JAX."""
    raise TensorValueError(
        f"A `ja.Tensor` of shape {list(x.shape)} was passed to a function of JAX, such as `jax.jit`, `ja.jit`, "
        "`jax.grad` or one of `jax.numpy`. These are functions of arrays, which stay as they are. Pass its values, "
        "`x.jax()`. Or stay with tensors: `ja.compile(f)` in place of `jax.jit(f)`, `ja.func.grad(f)` in place of "
        "`jax.grad(f)`, `ja.sin(x)` in place of `jnp.sin(x)`. Or make `f` a function of arrays: "
        "`jax.jit(ja.func.functionalize(f))(x.jax())`."
    )
