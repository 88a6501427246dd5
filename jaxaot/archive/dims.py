"""Sizes of an archive: the dims that change, the calls at each of their sizes, and plans that differ in sizes alone.

Each size of the stated range is traced when a function is exported, so what a call of that size does is known and not
derived. The plans of the sizes of one program are laid side by side: what is the same in all of them is written once,
and the rest is a table with a row for each size.

    {"size": [3, 4]}, {"size": [5, 4]}   →   {"size": [{"is": "of the size", "column": 0}, 4]}, [[3, 5]]
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxaot import _trees as pytree
from jaxaot.archive.codec import reader_of
from jaxaot.archive.readers import Damaged, many, shown
from jaxaot.buckets.policy import Buckets
from jaxaot.errors import UsageError
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.runtime.key import parameter_names
from jaxaot.tape.modes import enable_grad
from jaxaot.tracer.arguments import flatten_arguments
from jaxaot.views.layout import resized

MAX_SIZES = 10_000
"""Each size is traced; an archive is for at most so many."""


@dataclasses.dataclass(frozen=True)
class Dim:
    """A dim of arguments whose size changes from call to call of an exported function: see `ja.export`.

        batch = ja.sizes.Dim("batch", max=64)
        ja.export(model, x, dynamic_shapes={"x": {0: batch}})

    Dims of several arguments that always have one size are one `Dim`.

    Args:
      name: What it is called in messages.
      min: The smallest size.
      max: The largest size, for which the program is compiled; it has to be said.
      step: The distance of sizes, counted from `min` on.

    Raises:
      UsageError: If no size lies between them, or the name is no text.
    """

    name: str
    min: int = dataclasses.field(default=1, kw_only=True)
    max: int = dataclasses.field(default=0, kw_only=True)
    step: int = dataclasses.field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise UsageError(f"a dim has a name, and `{self.name!r}` is none. Write `ja.sizes.Dim('batch', max=64)`.")
        if self.max == 0:
            raise UsageError(
                f"`ja.sizes.Dim({self.name!r})` needs the largest size, for which the program is compiled. Write "
                f"`ja.sizes.Dim({self.name!r}, max=64)`."
            )
        given = (self.min, self.max, self.step)
        if not all(type(n) is int for n in given) or not (0 < self.min <= self.max and self.step > 0):
            raise UsageError(
                f"`ja.sizes.Dim({self.name!r}, min={self.min!r}, max={self.max!r}, step={self.step!r})` has no sizes. "
                "Write ints with 0 < min <= max, such as `ja.sizes.Dim('batch', min=1, max=64)`."
            )

    @property
    def sizes(self) -> range:
        """All its sizes."""
        return range(self.min, self.max + 1, self.step)

    def __str__(self) -> str:
        return f"{self.name} of {self.min} to {self.max}" + (f" in steps of {self.step}" if self.step > 1 else "")


class DimPlace(NamedTuple):
    """Where the size of a dim is found.

    Attributes:
      leaf: Which leaf of the arguments.
      axis: Which of its dims.
      name: The argument that it belongs to.
    """

    leaf: int
    axis: int
    name: str


class MovingDim(NamedTuple):
    """A dim, and where its size is found in a call."""

    dim: Dim
    places: tuple[DimPlace, ...]


def read_dynamic_shapes(
    fn: Any, dynamic: object, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[MovingDim, ...], dict[str, dict[int, Dim]]]:
    """Returns the dims that change: each with its places, and by name of an argument.

    Args:
      fn: The function.
      dynamic: By name of an argument, or in the order of the arguments, which `Dim` each dim is.
      args: Example arguments.
      kwargs: Example keyword arguments.

    Raises:
      UsageError: If that is not what was said, or does not fit the example.
    """
    names = list(parameter_names(getattr(fn, "forward", fn)))
    names += [f"args[{i}]" for i in range(len(names), len(args))]
    if isinstance(dynamic, (tuple, list)):
        dynamic = {name: said for name, said in zip(names, dynamic, strict=False) if said}
    if not isinstance(dynamic, Mapping) or not dynamic:
        raise _unreadable(dynamic)
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    found: dict[str, dict[int, Dim]] = {}
    for name, dims in dynamic.items():
        if name not in given:
            raise UsageError(
                f"`dynamic_shapes` names `{name}`, and the example has the arguments {', '.join(given) or 'none'}."
            )
        dims = dict(enumerate(dims)) if isinstance(dims, (tuple, list)) else dims
        if not isinstance(dims, Mapping):
            raise _unreadable(dynamic)
        said = {dim: d for dim, d in dims.items() if d is not None}
        if not said or not all(type(dim) is int and isinstance(d, Dim) for dim, d in said.items()):
            raise _unreadable(dynamic)
        found[name] = said
    return _placed(found, names, args, kwargs), found


def _unreadable(dynamic: object) -> UsageError:
    return UsageError(
        f"`dynamic_shapes={dynamic!r}` says no dims. Write by the names of arguments which dims change, "
        "`dynamic_shapes={'x': {0: ja.sizes.Dim('batch', max=64)}}`."
    )


def _placed(
    found: Mapping[str, Mapping[int, Dim]], names: Sequence[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[MovingDim, ...]:
    """Returns each dim with its places in the example."""
    leaves, _ = flatten_arguments(args, kwargs)
    owners: list[str] = []
    for owner, value in [*zip(names, args, strict=False), *sorted(kwargs.items())]:
        owners += [owner] * len(flatten_arguments((value,), {})[0])
    places: dict[Dim, list[DimPlace]] = {}
    for i, (owner, leaf) in enumerate(zip(owners, leaves, strict=True)):
        for axis, dim in found.get(owner, {}).items():
            if isinstance(leaf, Tensor):
                _require_whole(owner, leaf)
            rank = len(getattr(leaf, "shape", ()))
            if not -rank <= axis < rank:
                raise UsageError(f"`dynamic_shapes` says that dim {axis} of `{owner}` changes, and it has {rank} dims.")
            places.setdefault(dim, []).append(DimPlace(i, axis % rank, owner))
    for dim, held in places.items():
        sizes = {leaves[place.leaf].shape[place.axis]: place for place in held}
        if len(sizes) > 1:
            told = " and ".join(f"{n} as dim {p.axis} of `{p.name}`" for n, p in sizes.items())
            raise UsageError(f"`{dim.name}` is {told} in the example. Use a `ja.sizes.Dim` for each.")
        (size,) = sizes
        if size not in dim.sizes:
            raise UsageError(f"`{dim.name}` is {size} in the example, and the archive is for {dim}.")
    if len({dim.name for dim in places}) < len(places):
        raise UsageError("Two dims of `dynamic_shapes` have one name: use one `ja.sizes.Dim`, or another name.")
    return tuple(MovingDim(dim, tuple(held)) for dim, held in places.items())


def _require_whole(name: str, tensor: Tensor) -> None:
    """Raises unless another tensor like this can be made of another size."""
    is_whole = tensor._base_tensor is None and not tensor._chain and tensor._offset == 0
    if type(tensor) is not Tensor or not is_whole or tensor._storage.layout is not tensor._layout:
        raise UsageError(
            f"`dynamic_shapes` says that a dim of `{name}` changes, which is a part of a larger storage, a view, or of "
            f"a class of its own. Pass `{name}.clone()` as the example."
        )


def buckets_of(found: Mapping[str, Mapping[int, Dim]], buckets: Buckets) -> dict[str, dict[int, Buckets]]:
    """Returns by argument and dim the buckets of its sizes."""
    return {
        name: {axis: buckets._replace(least=dim.min, most=dim.sizes[-1]) for axis, dim in dims.items()}
        for name, dims in found.items()
    }


def all_sizes(dims: Sequence[MovingDim], example: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Returns all sizes of an archive, those of the example first.

    Raises:
      UsageError: If there are too many.
    """
    n = int(np.prod([len(moving.dim.sizes) for moving in dims], dtype=object))
    if n > MAX_SIZES:
        raise UsageError(
            f"`dynamic_shapes` says {n:,} sizes, {' times '.join(str(m.dim) for m in dims)}, and each is traced: at "
            f"most {MAX_SIZES:,} can be. Say fewer, `ja.sizes.Dim(name, max=…, step=8)`."
        )
    return [example, *(s for s in itertools.product(*(m.dim.sizes for m in dims)) if s != example)]


def sizes_in(dims: Sequence[MovingDim], leaves: Sequence[Any]) -> tuple[int, ...] | str:
    """Returns the size of each dim in a call, or what is wrong with them."""
    found = []
    for dim, places in dims:
        sizes: dict[int, DimPlace] = {}
        for place in places:
            shape = getattr(leaves[place.leaf], "shape", ())
            if place.axis < len(shape):
                sizes.setdefault(int(shape[place.axis]), place)
        told = " and ".join(f"{n} as dim {p.axis} of `{p.name}`" for n, p in sizes.items())
        if len(sizes) != 1:
            return f"the size `{dim.name}` is {told or 'not there'}"
        (size,) = sizes
        if size not in dim.sizes:
            return f"the size `{dim.name}` is {told}, and it was exported for {dim}"
        found.append(size)
    return tuple(found)


def at_sizes(
    dims: Sequence[MovingDim], sizes: Sequence[int], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns arguments like those of the example at other sizes; their values are zeros."""
    leaves, tree = flatten_arguments(args, kwargs)
    shapes: dict[int, list[int]] = {}
    for (_, places), size in zip(dims, sizes, strict=True):
        for place in places:
            shapes.setdefault(place.leaf, list(leaves[place.leaf].shape))[place.axis] = size
    made: dict[int, Any] = {}  # an argument that is passed twice stays one
    for i, shape in shapes.items():
        if tuple(shape) != tuple(leaves[i].shape):
            leaves[i] = made.setdefault(id(leaves[i]), _like(leaves[i], shape))
    return pytree.unflatten(tree, leaves)


def _like(value: Any, shape: Sequence[int]) -> Any:
    """Returns zeros like a tensor or an array, of another shape."""
    if not isinstance(value, Tensor):
        kind = np if isinstance(value, np.ndarray) else jnp
        return kind.zeros(tuple(shape), value.dtype)
    layout = resized(value._layout, shape)
    found = wrap_array(jnp.zeros(layout.size, layout.dtype), layout)
    found.requires_grad_(value.requires_grad)
    if value.is_leaf and value.grad is not None:
        found.grad = _like(value.grad, shape)
    with enable_grad():
        return found if value.is_leaf else found.clone()


# -- plans side by side ------------------------------------------------------------------------------------------------

_IN_TABLE = "of the size"


def side_by_side(rows: Sequence[Any]) -> tuple[Any, list[list[Any]]]:
    """Returns what JSON holds of several values as one: what is common to them, and a table of what differs.

    Returns:
      The common part, and by column the value of each row.
    """
    columns: list[list[Any]] = []
    known: dict[str, int] = {}

    def common(values: list[Any]) -> Any:
        first = values[0]
        is_container = type(first) in (dict, list)
        if not is_container and all(type(v) is type(first) and v == first for v in values[1:]):
            return first
        if all(type(v) is dict and v.keys() == first.keys() for v in values):
            return {key: common([v[key] for v in values]) for key in first}
        if all(type(v) is list and len(v) == len(first) for v in values):
            return [common([v[i] for v in values]) for i in range(len(first))]
        column = known.setdefault(json.dumps(values), len(columns))
        if column == len(columns):
            columns.append(values)
        return {"is": _IN_TABLE, "column": column}

    return common(list(rows)), columns


def of_row(value: Any, columns: Sequence[Any], row: int) -> Any:
    """Returns the value of one row, from what `side_by_side` returned."""
    if type(value) is list:
        return [of_row(item, columns, row) for item in value]
    if type(value) is not dict:
        return value
    if value.get("is") != _IN_TABLE:
        return {key: of_row(item, columns, row) for key, item in value.items()}
    column = value.get("column")
    if type(column) is not int or not 0 <= column < len(columns):
        raise Damaged(f"there is no column {shown(column)}")
    return columns[column][row]


def DIMS(value: object) -> tuple[MovingDim, ...]:
    """Reads what the manifest says of the dims that change."""
    dims = many(reader_of(MovingDim))(value)
    if min((n for _, places in dims for place in places for n in place[:2]), default=0) < 0:
        raise Damaged(f"{shown(value)} are no dims")
    return dims
