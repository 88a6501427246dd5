"""`ja.func.vmap`: a function of tensors, mapped by JAX over a dim of its arguments (`torch.func.vmap`).

The function sees each index's part of an argument as a tensor of its own, so what it does to it is done to the argument
afterwards: what was written is copied back, and a result that is a view of its part is a view of the argument.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._callables import require_function
from jaxaot.errors import ArgumentError, DimError, TensorError, TensorValueError, ViewError
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.memory.generator import Generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import is_wrapper, take_apart
from jaxaot.facade.view_ops.views import movedim, narrow, view_through
from jaxaot.ops.table import lookup
from jaxaot.tracer.bodies.pure import RANDOMNESS, run_pure, states_before
from jaxaot.transforms.call_as_op import call_on_tensors
from jaxaot.views.chain import (
    AbstractViewOp,
    AsComplex,
    AsDtype,
    AsReal,
    AsStrided,
    Conjugate,
    Diagonal,
    Expand,
    Geometry,
    Permute,
    Reshape,
    Select,
    Slice,
    Squeeze,
    Unfold,
    Unsqueeze,
    ViewChain,
)
from jaxaot.views.layout import layout_of

Dim = int | None


def vmap(
    func: Callable[..., Any],
    in_dims: object = 0,
    out_dims: object = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Returns `func` mapped over a dim of its positional arguments.

    Args:
      func: Takes and returns tensors, without that dim; it may write to those that it is passed.
      in_dims: The dim of each argument, None for those that are the same for all.
      out_dims: Where the dim is in the results.
      randomness: What random operations inside do: `"error"`, they are refused; `"same"`, they draw the same numbers
        for every index; `"different"`, others for each.
      chunk_size: How many indices are computed at once; all by default.

    Raises:
      ArgumentError: If `randomness` is none of these.
      TensorValueError: If `chunk_size` is not positive; by the function returned, if arguments or results do not fit
        `in_dims` and `out_dims`.
    """
    if randomness not in RANDOMNESS:
        raise ArgumentError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise TensorValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    require_function(func, "ja.func.vmap", "ja.func.vmap(f)")
    name = getattr(func, "__name__", repr(func))
    if not all(isinstance(dim, int) or dim is None for dim in _leaves(out_dims)):
        raise TensorValueError(
            f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
            "representing where in the outputs the vmapped dimension should appear."
        )

    def mapped(*args: object, **kwargs: object) -> Any:
        dims = _dims_of_arguments(name, in_dims, args)
        leaves, tree = pytree.flatten((args, kwargs), is_leaf=lambda leaf: leaf is None)
        dims += [None] * (len(leaves) - len(dims))
        n = _mapped_size(name, in_dims, leaves, dims)
        whole = _Mapping(func, name, tree, out_dims, randomness, n)
        if chunk_size is None or chunk_size >= n:
            return whole.run(leaves, dims, 0, n)[0]
        parts = []
        for first in range(0, n, chunk_size):
            length = min(chunk_size, n - first)
            cut = [leaf if d is None else _part(leaf, d, first, length) for leaf, d in zip(leaves, dims, strict=True)]
            for generator, before in whole.drawn.items():  # every chunk draws from what the first one drew from
                generator.set_state(before)
            parts.append(whole.run(cut, dims, first, length))
        return _joined(parts)

    return functools.wraps(func)(mapped) if hasattr(func, "__name__") else mapped


# -- arguments ---------------------------------------------------------------------------------------------------------


def _leaves(tree: object) -> list[Any]:
    return pytree.leaves(tree, is_leaf=lambda leaf: leaf is None)


def _shape_of(tree: object) -> str:
    return pytree.shown(pytree.structure(tree))


def _spread(dims: object, values: object) -> list[Any]:
    """Returns the dim of each leaf of `values`, of which `dims` is a prefix, with dicts in any order.

    Raises:
      ValueError: If it is none.
    """
    none = lambda leaf: leaf is None
    spread: list[Any] = []
    dims = pytree.in_order(pytree.structure(values), dims)
    pytree.mapped(lambda d, part: spread.extend([d] * len(_leaves(part))), dims, values, is_leaf=none)
    return spread


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, (Tensor, jax.Array, np.ndarray))


def _dims_of_arguments(name: str, in_dims: object, args: tuple[Any, ...]) -> list[Dim]:
    """Returns the mapped dim of each leaf of the arguments, not negative; None where there is none."""
    said = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not (isinstance(in_dims, (int, tuple)) or in_dims is None):
        raise TensorValueError(
            f"{said}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise TensorValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    try:
        dims = _spread(in_dims, args)
    except ValueError as error:
        raise TensorValueError(
            f"{said}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{_shape_of(in_dims)} but inputs has structure {_shape_of(args)}."
        ) from error
    _check_wrappers(said, in_dims, args)
    for place, (leaf, dim) in enumerate(zip(_leaves(args), dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise TensorValueError(
                f"{said}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
            )
        if not _is_array(leaf):
            raise TensorValueError(
                f"{said}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
                "non-Tensor arguments, please use None as the respective in_dim"
            )
        n = leaf.ndim
        if not -n <= dim < n:
            raise TensorValueError(
                f"{said}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {n} so expected "
                f"in_dim to satisfy -{n} <= in_dim < {n}."
            )
        dims[place] = dim % n
    return dims


def _check_wrappers(said: str, in_dims: object, args: tuple[Any, ...]) -> None:
    """Raises where a wrapper is mapped along a dim that its inner tensors do not all have as it has."""
    wrappers = lambda leaf: leaf is None or is_wrapper(leaf)
    leaves: list[tuple[Any, Any]] = []
    note = lambda dim, part: leaves.extend((dim, leaf) for leaf in pytree.leaves(part, is_leaf=wrappers))
    pytree.mapped(note, in_dims, args, is_leaf=lambda leaf: leaf is None)
    for dim, leaf in leaves:
        if not is_wrapper(leaf) or not isinstance(dim, int) or not -leaf.ndim <= dim < leaf.ndim:
            continue
        inner, frame = take_apart(leaf)
        dim, size = dim % leaf.ndim, leaf.shape
        odd = {
            name: list(x.shape)
            for name, x in zip(frame.names, inner, strict=True)
            if x.ndim != leaf.ndim or x.shape[dim] != size[dim]
        }
        if odd:
            raise TensorValueError(
                f"{said}Got in_dim={dim} for a `{type(leaf).__name__}` of shape {list(size)}, and its inner tensors "
                f"{odd} have no such dim of {size[dim]} elements. Map a function of inner tensors or of a plain "
                "tensor, and make the wrapper inside; or pass it with the `in_dim` None."
            )


def _mapped_size(name: str, in_dims: object, leaves: Sequence[Any], dims: Sequence[Dim]) -> int:
    sizes = [leaf.shape[d] for leaf, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise TensorValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): got no tensor with a dim to map over. vmap needs "
            "at least one Tensor whose `in_dim` is an int."
        )
    if len(set(sizes)) > 1:
        raise TensorValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
            "mapped dimension"
        )
    return sizes[0]


def _part(leaf: Any, dim: int, first: int, length: int) -> Any:
    if isinstance(leaf, Tensor):
        return narrow(leaf, dim, first, length)
    return jax.lax.slice_in_dim(jnp.asarray(leaf), first, first + length, axis=dim)


def _joined(parts: Sequence[tuple[Any, list[Dim]]]) -> Any:
    """Returns the results of chunks as one."""
    trees = [pytree.flatten(result) for result, _ in parts]
    joined = [
        column[0] if dim is None else call(lookup("cat"), (list(column),), (dim,))
        for dim, *column in zip(parts[0][1], *(leaves for leaves, _ in trees), strict=True)
    ]
    return pytree.unflatten(trees[0][1], joined)


# -- the call ----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Done:
    """What the function did.

    Attributes:
      out_dims: Where the dim is in each leaf of the result; None if it has none.
      written: The leaves of the arguments that were written.
      views: For each leaf of the result that is a view of a leaf of the arguments: which, and the steps to it.
      others: The leaves of the result that are no tensors.
      tree: Structure of the result.
    """

    out_dims: list[Dim]
    written: list[int]
    views: dict[int, tuple[int, ViewChain]]
    others: dict[int, Any]
    tree: Any


@dataclasses.dataclass(frozen=True)
class _Mapping:
    """A function to be mapped, and how.

    Attributes:
      func: The function.
      name: Its name.
      tree: Structure of its arguments.
      out_dims: As the user says them.
      randomness: What random operations do.
      n_indices: The size of the mapped dim.
      drawn: The generators that the function drew from so far, each with its state before.
    """

    func: Callable[..., Any]
    name: str
    tree: Any
    out_dims: Any
    randomness: str
    n_indices: int
    drawn: dict[Generator, tuple[int, int]] = dataclasses.field(default_factory=dict)

    def run(self, leaves: Sequence[Any], dims: Sequence[Dim], first: int, n: int) -> tuple[Any, list[Dim]]:
        """Returns the result, and where the mapped dim is in each of its leaves.

        Args:
          leaves: Of the arguments.
          dims: The mapped dim of each.
          first: The first index.
          n: How many there are.
        """
        places = [i for i, leaf in enumerate(leaves) if _is_array(leaf)]
        axes = tuple(dims[i] for i in places)
        shown_at = [_shown_at(leaf, d) for leaf, d in zip(leaves, dims, strict=True)]
        done: list[_Done] = []
        some_alike = None in _leaves(self.out_dims)  # JAX checks that these do not depend on the index
        out_dims, out_tree = pytree.flatten(self.out_dims if some_alike else 0, lambda dim: dim is None)

        def one(index: Any, *arrays: object) -> Any:
            filled = list(leaves)
            for place, array in zip(places, arrays, strict=True):
                filled[place] = array
            args, kwargs = pytree.unflatten(self.tree, filled)
            finish = functools.partial(self._finish, places, done)
            options = {"randomness": self.randomness, "index": index, "finish": finish, "shown_at": shown_at}
            options |= {"transforms": True, "maps": True, "n_indices": self.n_indices}
            result, after = run_pure(self.func, args, kwargs, **options)
            return [pytree.sealed(part) for part in pytree.parts(out_tree, result)], after

        def transformed(arrays: Sequence[Any]) -> Any:
            index = jnp.arange(first, first + n) if self.randomness == "different" else None
            try:
                result, after = jax.vmap(one, (None if index is None else 0, *axes), (out_dims, axes))(index, *arrays)
            except ValueError as error:
                if "out_axes is None" in str(error) or "out_axes[0]" in str(error):
                    raise TensorValueError(
                        f"vmap({self.name}, ...): `{self.name}` can not return a BatchedTensor when out_dim is None: "
                        "what depends on the index needs a dim for it in `out_dims`."
                    ) from error
                if "out_axes[1]" not in str(error):
                    raise
                raise TensorError(
                    f"vmap: inplace `{self.name}` is not possible: it writes what depends on the index to an argument "
                    "that is the same for all indices. Give that argument an `in_dim`, or write out of place."
                ) from error
            result = pytree.in_order(done[-1].tree, out_tree.unflatten(map(pytree.unsealed, result)))
            if not some_alike:
                moved, tree = pytree.flatten(result)
                moved = [jnp.moveaxis(x, 0, d) for x, d in zip(moved, done[-1].out_dims, strict=True) if d is not None]
                result = pytree.unflatten(tree, moved)
            return result, [after[places.index(i)] for i in done[-1].written]

        result, after = call_on_tensors(transformed, ([leaves[i] for i in places],), {})
        for place, value in zip(done[-1].written, after, strict=True):
            if isinstance(leaves[place], Tensor):
                leaves[place].copy_(value)
        flat, tree = pytree.flatten(result)
        for i, (place, steps) in done[-1].views.items():
            dim, out_dim = dims[place], done[-1].out_dims[i]
            if out_dim is None or not isinstance(leaves[place], Tensor):
                continue
            if dim == out_dim and all(step == Permute(()) for step in steps):
                flat[i] = leaves[place]
                continue
            shown = _shared_view(leaves[place], n, steps) if dim is None else _batched_view(leaves[place], dim, steps)
            flat[i] = flat[i] if shown is None else movedim(shown, 0, out_dim)
        for i, value in done[-1].others.items():
            flat[i] = value
        return pytree.unflatten(tree, flat), done[-1].out_dims

    def _finish(self, places: Sequence[int], done: list[_Done], given: Sequence[Any], result: object) -> Any:
        """Returns the result with what the arguments hold afterwards, and notes what was done to them."""
        for generator, before in states_before().items():
            self.drawn.setdefault(generator, before)
        leaves, tree = pytree.flatten(result, is_leaf=lambda leaf: leaf is None)
        out_dims = self._dims_of_results(result, leaves)
        others = {}
        for place, leaf in enumerate(leaves):
            if _is_array(leaf):
                continue
            others[place], leaves[place] = leaf, jnp.zeros(())  # what is no tensor comes back as it is
            if out_dims[place] is not None:
                raise TensorValueError(
                    f"vmap({self.name}, ...): `{self.name}` must only return Tensors, got type {type(leaf)}. Did you "
                    "mean to set out_dims= to None for output?"
                )
        written = [i for i in places if given[i] is not None and given[i].is_written()]
        views = {}
        for place, leaf in enumerate(leaves):
            for i in places:
                steps = None if given[i] is None else given[i].steps_to(leaf)
                if steps is not None:
                    views[place] = (i, steps)
        done[:] = [_Done(out_dims, written, views, others, tree)]
        return pytree.unflatten(tree, leaves), tuple(None if given[i] is None else given[i].now() for i in places)

    def _dims_of_results(self, result: object, leaves: Sequence[Any]) -> list[Dim]:
        out_dims = self.out_dims
        if isinstance(out_dims, tuple) and len(out_dims) == 1 and _is_array(result):
            out_dims = out_dims[0]
        try:
            dims = _spread(out_dims, result)
        except ValueError as error:
            raise TensorValueError(
                f"vmap({self.name}, ..., out_dims={self.out_dims}): out_dims is not compatible with the structure of "
                f"`outputs`. out_dims has structure {_shape_of(self.out_dims)} but outputs has structure "
                f"{_shape_of(result)}."
            ) from error
        for place, (dim, leaf) in enumerate(zip(dims, leaves, strict=True)):
            if not _is_array(leaf):
                continue
            n = leaf.ndim + 1
            if dim is not None and not -n <= dim < n:
                raise DimError(
                    f"Dimension out of range (expected to be in range of [-{n}, {n - 1}], but got {dim}): where "
                    "`out_dims` puts the mapped dim in a result"
                )
            dims[place] = None if dim is None else dim % n
        return dims


def _shown_at(leaf: object, dim: Dim) -> Geometry | None:
    """Returns where the first index's part of an argument lies in memory; None if it is to be seen as row-major."""
    if not isinstance(leaf, Tensor) or leaf._storage.layout.is_abstract:
        return None
    size, stride, offset = leaf._geometry
    size, stride = (values if dim is None else values[:dim] + values[dim + 1 :] for values in (size, stride))
    return None if layout_of(size, stride, leaf._layout.dtype).is_overlapping else Geometry(size, stride, offset)


# -- results that are views --------------------------------------------------------------------------------------------


def _batched_view(argument: Tensor, dim: int, steps: ViewChain) -> Tensor | None:
    """Returns the view of all of an argument that steps make of each index's part; None if strides have none.

    Args:
      argument: The argument.
      dim: Its mapped dim, which is the first of the view.
      steps: From a part to the view of it.
    """
    shown = movedim(argument, dim, 0)
    batched: list[AbstractViewOp] = [Permute(tuple(range(shown.ndim)))]
    geometry = Geometry(*shown._geometry)
    for step in steps:
        wide = _batched_step(step, shown)
        if wide is None:
            return None
        n_new = len(wide.size) - len(geometry.size) if isinstance(wide, Expand) else 0
        try:
            for part in (*[Unsqueeze(1)] * n_new, wide):
                geometry = part.geometry(geometry)
                batched.append(part)
        except ViewError:
            return None
    return view_through(shown, tuple(batched), geometry)


def _shared_view(argument: Tensor, n: int, steps: ViewChain) -> Tensor | None:
    """Returns the view that steps make of an argument without a mapped dim, `n` times; None if strides have none."""
    chain: list[AbstractViewOp] = [Permute(tuple(range(argument.ndim)))]
    geometry = Geometry(*argument._geometry)
    try:
        for step in (*steps, Unsqueeze(0)):
            geometry = step.geometry(geometry)
            chain.append(step)
        expand = Expand((n, *geometry.size[1:]))
        return view_through(argument, (*chain, expand), expand.geometry(geometry))
    except ViewError:
        return None


def _batched_step(step: AbstractViewOp, shown: Tensor) -> AbstractViewOp | None:
    """Returns a step of views with the first dim of a tensor before their own; None if there is none."""
    n = shown.shape[0]
    match step:
        case Slice() | Select() | Unfold() | Unsqueeze():
            return dataclasses.replace(step, axis=step.axis + 1)
        case Permute(order):
            return Permute((0, *(axis + 1 for axis in order)))
        case Reshape(size):
            return Reshape((n, *size))
        case Expand(size):
            return Expand((n, *size))
        case Squeeze(axes):
            return Squeeze(tuple(axis + 1 for axis in axes))
        case Diagonal(shift, axis1, axis2):
            return Diagonal(shift, axis1 + 1, axis2 + 1)
        case Conjugate() | AsReal() | AsComplex():
            return step
        case AsStrided(size, stride, offset) if _shown_at(shown, 0) is not None:
            return AsStrided((n, *size), (shown.stride(0), *stride), offset, Geometry(*shown._geometry))
        case AsStrided() | AsDtype():
            return None
    return None
