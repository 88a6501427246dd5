"""Eager kernels: few, general jitted functions, found by cheap identities.

A kernel is compiled for an op, its static arguments and the layouts of its operands; never for an index, an offset or a
number, which are operands. An operand is an array alone, if a tensor shows all of its storage, or an array with the
starts of a window. With gradients, the forward kernel also returns the residuals of `jax.vjp`: those that are operands
or results are not returned again (XLA would copy them) but remembered by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._placement import placed_like
from jaxaot.errors import DtypeError, ShapeMismatchError
from jaxaot.lower.abstract import AbstractArray, AbstractRun
from jaxaot.lower.eager_kernel import EagerKernel
from jaxaot.lower.entry import Entry
from jaxaot.ops.promotion import can_store, is_bool, strong
from jaxaot.ops.table import OpSpec
from jaxaot.views.layout import Layout, contiguous, dense_like, elementwise_layout
from jaxaot.views.window import AbstractWindow


def remember(kept: dict[Any, Any], key: Any, value: Any, most: int) -> None:
    """Keeps a value, in place of the oldest if there are as many as there may be."""
    if key not in kept and len(kept) >= most:
        # the oldest, not the least used: a use would have to be noted at every eager call
        kept.pop(next(iter(kept)), None)
    kept[key] = value


class Recipe:
    """How the operands of a kernel become the flat dynamic arguments of an op.

    Attributes:
      steps: For each argument: `("none",)`, `("constant", value)`, `("operand", position)` or
        `("window", position, window, position of the starts)`.
      lengths: For each parameter its number of arguments; None for one that is not a list.
      layouts: Layouts of the tensor arguments.
      has_key: Whether the last operand is a PRNG key.
    """

    __slots__ = ("has_key", "layouts", "lengths", "steps")

    def __init__(self, steps: Sequence[tuple[Any, ...]], lengths: Any, layouts: Sequence[Layout], has_key: bool):
        self.steps = tuple(steps)
        self.lengths = lengths
        self.layouts = tuple(layouts)
        self.has_key = has_key

    def unpack(self, operands: Sequence[Any]) -> list[Any]:
        """Returns the flat arguments."""
        values = []
        for step in self.steps:
            match step:
                case ("none",):
                    values.append(None)
                case ("constant", value):
                    values.append(value)
                case ("operand", position):
                    values.append(operands[position])
                # starts are operands: a loop over `x[i]` runs one program, whatever `i` is
                case ("window", position, window, starts):
                    values.append(window.apply(operands[position], operands[starts]))
        return values

    def nest(self, values: Sequence[Any]) -> list[Any]:
        """Returns flat arguments grouped into the lists of `Tensor[]` parameters."""
        if self.lengths is None:
            return list(values)
        nested, position = [], 0
        for length in self.lengths:
            if length is None:
                nested.append(values[position])
                position += 1
            else:
                nested.append(list(values[position : position + length]))
                position += length
        return nested

    def key(self, operands: Sequence[Any]) -> Any:
        """Returns the PRNG key of a random op."""
        return fold_key(operands[-1]) if self.has_key else None


def parameter_names(spec: OpSpec, lengths: Any) -> tuple[str, ...]:
    """Returns the names of an op's flat arguments; the first one is PyTorch's `self`."""
    names: list[str] = []
    for position, parameter in enumerate(spec.schema.dynamic):
        name = "self" if position == 0 and parameter.name == "input" else parameter.name
        length = None if lengths is None else lengths[position]
        names += [name] if length is None else [f"{name}{i}" for i in range(length)]
    return tuple(names)


def tensor_parameters(spec: OpSpec, lengths: Any) -> tuple[int, ...]:
    """Returns which of the flat arguments of an op are declared as tensors."""
    lengths = [None] * len(spec.schema.dynamic) if lengths is None else lengths
    kinds = [p.type for p, n in zip(spec.schema.dynamic, lengths, strict=True) for _ in range(1 if n is None else n)]
    return tuple(i for i, kind in enumerate(kinds) if kind == "Tensor")


NUMBERS_APART = frozenset(
    f"{name}Backward0" for name in ("Pow", "Fmod", "Remainder", "Clamp", "ClampMin", "ClampMax", "MaskedFill", "Lerp")
)
"""Nodes of ops that have other nodes for numbers in PyTorch: these are no operands then. Elsewhere they are."""


_NAMED_OTHERWISE: dict[str, str] = dict.fromkeys(("copy_of", "contiguous_copy_of", "channels_last_copy_of"), "clone")
"""Rows that users know by another name."""


def backward_name(name: str) -> str:
    """Returns PyTorch's name for the node of an op, such as `MatmulBackward0`."""
    name = _NAMED_OTHERWISE.get(name, name)
    return "".join(part.capitalize() for part in name.split("_")) + "Backward0"


KEY = jax.ShapeDtypeStruct((2,), np.uint32)
"""What stands for a key."""


def fold_key(words: Any) -> Any:
    """Returns the key of (seed, seed, offset), the words of an eager draw."""
    # the offset is folded in here: as numbers of the program, each draw would compile one
    return jax.random.fold_in(words[:2], words[2])


def result_layouts(
    spec: OpSpec, results: Sequence[Any], operands: Sequence[Layout], static: tuple[Any, ...]
) -> tuple[Layout | None, ...]:
    """Returns how the results of an op are laid out."""
    layouts = []
    for result in results:
        if result is None:
            layouts.append(None)
        elif callable(spec.layout):
            layouts.append(spec.layout(operands, tuple(result.shape), np.dtype(result.dtype), static))
        elif spec.layout == "same":
            layouts.append(dense_like(operands[0], np.dtype(result.dtype)))
        elif spec.layout in ("operands", "indexed"):
            # PyTorch converts before it looks at strides, and the copy that this makes is dense
            shown = _converted(operands, result.dtype) if spec.promote else tuple(operands)
            layouts.append(elementwise_layout(shown, tuple(result.shape), np.dtype(result.dtype)))
        else:
            layouts.append(contiguous(tuple(result.shape), np.dtype(result.dtype)))
    return tuple(layouts)


def _converted(operands: Sequence[Layout], dtype: Any) -> tuple[Layout, ...]:
    """Returns the layouts of operands after their conversion to a common dtype, which copies those of another one."""
    dtypes = {operand.dtype for operand in operands}
    if len(dtypes) < 2:
        return tuple(operands)
    common = jnp.result_type(*dtypes) if is_bool(dtype) else np.dtype(dtype)
    return tuple(o if o.dtype == common else dense_like(o, common) for o in operands)


class Kernel:
    """Computes an op.

    Attributes:
      run: The program that takes the operands to the results.
      layouts: Of the results; known after the first run.
    """

    __slots__ = ("layouts", "run")

    def __init__(self, spec: OpSpec, static: tuple[Any, ...], recipe: Recipe, is_abstract: bool = False):
        def run(*operands: Any) -> tuple[Any, ...]:
            return spec.evaluate(recipe.nest(recipe.unpack(operands)), static, recipe.key(operands))

        run.__name__ = spec.name
        self.run: Any = AbstractRun(run) if is_abstract else EagerKernel(run)
        self.layouts: tuple[Layout | None, ...] = ()


def fit_into(result: Any, size: tuple[int, ...], dtype: Any) -> Any:
    """Returns the result of an in-place op as it is stored in a target of that size and dtype.

    Raises:
      ShapeMismatchError: If the target would have to grow.
      DtypeError: If the target cannot hold the result's kind of number.
    """
    if tuple(result.shape) != size:
        raise ShapeMismatchError(
            f"output with shape {list(size)} doesn't match the broadcast shape {list(result.shape)}. An in-place op "
            "cannot change the shape of its target; write the op out of place instead."
        )
    if not can_store(result.dtype, dtype):
        raise DtypeError(
            f"result type {dtype_name(result.dtype)} can't be cast to the desired output type {dtype_name(dtype)}"
        )
    # nothing has a value here, so there is none to convert
    if type(result) is AbstractArray:
        return result.astype(dtype)
    return strong(result, dtype) if result.dtype != dtype or getattr(result, "weak_type", False) else result


DTYPE_NAMES = {
    "bool": "Bool", "int8": "Char", "uint8": "Byte", "int16": "Short", "int32": "Int", "int64": "Long",
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip


def dtype_name(dtype: Any) -> str:
    """Returns PyTorch's name of a dtype, as its messages have it: `Float`."""
    return DTYPE_NAMES.get(np.dtype(dtype).name, np.dtype(dtype).name)


class WriteKernel:
    """Computes an op and stores its first result through a window of the base.

    Operand 0 is the base, operand 1 the starts of the window if there is one.

    Attributes:
      run: The program that takes (base, *operands) to (new base, further results).
      run_donated: The same, reusing the base's buffer.
    """

    __slots__ = ("run", "run_donated")

    def __init__(
        self,
        spec: OpSpec,
        static: tuple[Any, ...],
        recipe: Recipe,
        target: Layout,
        window: AbstractWindow | None,
    ):
        def run(base: Any, *operands: Any) -> Any:
            operands = (base, *operands)
            results = spec.evaluate(recipe.nest(recipe.unpack(operands)), static, recipe.key(operands))
            stored = fit_into(results[0], target.size, target.dtype)
            new = stored if window is None else window.scatter(base, stored, operands[1])
            # the storage stays on its devices, wherever the operands come from
            return placed_like(new, base), results[1:]

        run.__name__ = f"{spec.name}_"
        self.run = EagerKernel(run)
        # a program apart, since XLA decides on reuse when it compiles; it is compiled when first called
        self.run_donated = EagerKernel(run, donate_argnums=0)


_store: dict[AbstractWindow, tuple[EagerKernel, EagerKernel]] = {}


def storing_kernels(window: AbstractWindow) -> tuple[EagerKernel, EagerKernel]:
    """Returns what takes (base, update, starts) to (base with the update stored through a window,).

    The second one reuses the base's buffer.
    """
    kernels = _store.get(window)
    if kernels is None:
        scatter = lambda base, update, starts: (placed_like(window.scatter(base, update, starts), base),)
        kernels = _store[window] = (EagerKernel(scatter), EagerKernel(scatter, donate_argnums=0))
    return kernels


def storing_through(window: AbstractWindow, donates: bool) -> Entry:
    """Returns the way into one of `storing_kernels`."""
    return storing_kernels(window)[donates].entry
