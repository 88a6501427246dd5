"""Abstract arrays: a shape and a dtype in place of values, and functions of arrays carried out on them.

A function of arrays is looked at once for each combination of shapes and dtypes; after that its results are made from
what was found, without JAX. Sizes are Python integers throughout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_key_dtype
from jaxaot._typing import DTypeLike, Shape
from jaxaot.errors import NoValueError, StorageSizeError

_MAX = 2**31
"""Dims from here on are not counted by JAX's 32-bit integers, in which it indexes."""


def refuse_value(what: str, shape: Shape, dtype: object) -> NoReturn:
    """Raises because something needs a value that there is not.

    Raises:
      NoValueError: Always.
    """
    raise NoValueError(
        f"{what} needs the value of a tensor on the device `meta`, of shape {list(shape)} and dtype {dtype}, which has "
        "no values. Run this on a tensor that has some: make it elsewhere, or allocate memory by "
        '`ja.empty_like(x, device="cpu")` and fill it.'
    )


class AbstractArray:
    """Stands for an array whose values nobody computes.

    Attributes:
      shape: Its shape.
      dtype: Its dtype.
    """

    __slots__ = ("__weakref__", "dtype", "shape")

    weak_type = False

    def __init__(self, shape: Shape, dtype: Any):
        self.shape = shape
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"AbstractArray({list(self.shape)}, {self.dtype})"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def is_deleted(self) -> bool:
        return False

    def reshape(self, shape: Shape) -> AbstractArray:
        return AbstractArray(shape, self.dtype)

    def astype(self, dtype: DTypeLike) -> AbstractArray:
        return AbstractArray(self.shape, np.dtype(dtype))

    def __array__(self, *_: object, **__: object) -> NoReturn:
        refuse_value("NumPy", self.shape, self.dtype)


def abstract_like(array: Any) -> AbstractArray:
    """Returns what stands for an array."""
    return AbstractArray(tuple(array.shape), array.dtype)


def struct_of(value: object) -> Any:
    """Returns the shape and dtype of an array, for functions of JAX; anything else as it is."""
    return jax.ShapeDtypeStruct(value.shape, value.dtype) if hasattr(value, "dtype") else value


def as_array(value: object) -> Any:
    """Returns a value as a jax array, or as what stands for one."""
    return value if type(value) is AbstractArray else jnp.asarray(value)


def has_abstract(args: object) -> bool:
    """Returns whether abstract arrays are among the leaves of a pytree."""
    return any(type(leaf) is AbstractArray for leaf in jax.tree.leaves(args))


class AbstractRun:
    """Carries a function of arrays out on what stands for arrays.

    Attributes:
      alone: This object, as `EagerKernel` has it.
      inside: The same.
    """

    is_abstract = True

    def __init__(self, fn: Callable[..., Any], look: Callable[..., Any] | None = None):
        """Nothing is looked at yet.

        Args:
          fn: The function.
          look: Takes what stands for its arguments to what stands for its results, where that is known.
        """
        self._fn = fn
        self._given_look = look
        self._found: dict[Any, tuple[Any, list[tuple[Shape, Any]]]] = {}
        self.alone = self.inside = self

    def __call__(self, *args: object) -> Any:
        leaves, tree = jax.tree.flatten(args)
        key = (tree, *[(x.shape, x.dtype) if hasattr(x, "dtype") else type(x) for x in leaves])
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._look(args, leaves, tree)
        structure, kinds = found
        return structure.unflatten([AbstractArray(shape, dtype) for shape, dtype in kinds])

    def _look(self, args: Any, leaves: Sequence[Any], tree: Any) -> tuple[Any, list[tuple[Shape, Any]]]:
        structs = [struct_of(leaf) for leaf in leaves]
        look = lambda structs: jax.tree.flatten(jax.eval_shape(self._fn, *tree.unflatten(structs)))
        large = sorted({n for s in structs if hasattr(s, "shape") for n in s.shape if n >= _MAX})
        try:
            if self._given_look is not None:
                made, structure = jax.tree.flatten(self._given_look(*args))
            else:
                made, structure = look(structs)
            shapes = [tuple(s.shape) for s in made]
        except OverflowError:
            if not large:
                raise
            made, structure, shapes = _look_smaller(look, structs, large)
        dtypes = [m.dtype if is_key_dtype(m.dtype) else np.dtype(m.dtype) for m in made]
        return structure, list(zip(shapes, dtypes, strict=True))


_STAND_INS = ((1_000_003, 1_000_033, 1_000_037, 1_000_039), (1_100_009, 1_100_023, 1_100_027, 1_100_051))
"""Primes that stand for large dims where JAX's index arithmetic cannot count them."""


def _look_smaller(look: Callable[..., Any], structs: Sequence[Any], large: Sequence[int]) -> Any:
    """Returns what a function makes, found with large dims replaced twice; what differs is a multiple of one.

    Raises:
      StorageSizeError: If it is not.
    """

    def looked(stand_ins: Sequence[int]) -> Any:
        swap = dict(zip(large, stand_ins, strict=False))
        smaller = [
            jax.ShapeDtypeStruct(tuple(swap.get(n, n) for n in s.shape), s.dtype) if hasattr(s, "shape") else s
            for s in structs
        ]
        return look(smaller)

    (first, structure), (second, _) = map(looked, _STAND_INS)

    def dim(a: int, b: int) -> int:
        if a == b:
            return a
        for size, one, other in zip(large, *_STAND_INS, strict=False):
            if a % one == 0 and a // one * other == b:
                return a // one * size
        raise StorageSizeError(
            f"A dim of a result follows from sizes {list(large)}, which JAX's 32-bit numbers do not count, and is no "
            "multiple of one of them. Make them smaller, or call `jax.config.update('jax_enable_x64', True)`."
        )

    shapes = [tuple(map(dim, a.shape, b.shape)) for a, b in zip(first, second, strict=True)]
    return first, structure, shapes
