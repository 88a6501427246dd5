"""`x[mask]` while a function is traced: how many elements it has is only known when the graph runs.

A `MaskedSelection` stands for those elements. It keeps all of the tensor and the mask, so that what can be computed
without the number is: elementwise ops, reductions over the selected elements, and assignment back through a mask.
Eagerly `x[mask]` is an ordinary tensor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from jaxaot._jax import is_tracer
from jaxaot.errors import ConcretizationError
from jaxaot.facade.dispatch.arguments import STAND_INS
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.indexing.nonzero import may_ask, true_places
from jaxaot.facade.memory.source_line import user_line
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.ops.table import OpSpec, lookup, rows
from jaxaot.tape.modes import state

if TYPE_CHECKING:
    from jaxaot.facade.memory.generator import Generator


class MaskedSelection:
    """The elements of a tensor where a mask is true, in a trace.

    Attributes:
      full: All elements, of shape (*mask.shape, *rest). Those that are not selected hold the value of one that is, so
        that functions which are only defined on the selected ones, and their gradients, stay finite.
      mask: Which are selected.
    """

    __slots__ = ("_tensor", "full", "mask")
    __hash__: Any = object.__hash__

    def __init__(self, full: Tensor, mask: Tensor):
        self.full = full
        self.mask = mask
        self._tensor: Any = None  # the selected elements, once somebody asked how many they are

    @property
    def dtype(self) -> Any:
        return self.full.dtype

    @property
    def ndim(self) -> int:
        return self.full.ndim - self.mask.ndim + 1

    def dim(self) -> int:
        return self.ndim

    def wide_mask(self) -> Tensor:
        """Returns the mask with a dim of size 1 for each further dim of the tensor."""
        return self.mask.reshape((*self.mask.shape, *(1,) * (self.full.ndim - self.mask.ndim)))

    def with_others(self, value: object) -> Tensor:
        """Returns all elements, those that are not selected replaced by a number."""
        return call(lookup("where"), (self.wide_mask(), self.full, value), ())

    def count(self) -> Tensor:
        """Returns how many are selected along dim 0, as a tensor."""
        return self.mask.sum()

    def refusal(self, what: str) -> ConcretizationError:
        """Returns the error for what needs to know how many elements are selected."""
        return ConcretizationError(
            f"{what} of `x[mask]` needs to know how many elements the mask selects, and while a function is traced "
            f"nobody does.\n\n    {user_line()}\n\n"
            "What works: elementwise ops on `x[mask]`, its reductions (`x[mask].sum()`, `.mean()`, `.max()`, …), "
            "`x[mask] = v`, `x[mask] *= 2` and `y[mask] = x[mask]`. Otherwise keep all elements and choose among them, "
            "`ja.where(mask, x, 0)`, or let Python have the number: `ja.compile(fn)` without `fullgraph=True`."
        )

    def settled(self, what: str) -> Tensor:
        """Returns the selected elements as a tensor, if Python may ask how many they are.

        Raises:
          ConcretizationError: If it may not.
        """
        if not may_ask():
            raise self.refusal(what)
        if self._tensor is None:
            places = [wrap_array(jnp.asarray(place)) for place in true_places(self.mask.detach(), what)]
            self._tensor = call(lookup("index"), (self.full, places), ())
        return self._tensor

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            return getattr(self.settled(f"`.{name}`"), name)
        raise AttributeError(name)

    def __repr__(self) -> str:
        return f"<x[mask] in a trace: {self.full.dtype}{list(self.full.shape)} under a mask of {list(self.mask.shape)}>"


def select(tensor: Tensor, mask: Tensor) -> MaskedSelection:
    """Returns `tensor[mask]` in a trace."""
    if not mask.numel():
        return MaskedSelection(tensor, mask)
    rest = tensor.shape[mask.ndim :]
    flat = mask.reshape(-1)
    first = call(lookup("argmax"), (flat.to(jnp.int32),), (None, False))
    one = tensor.detach().reshape((flat.numel(), *rest)).index_select(0, first.reshape(1))
    wide = mask.reshape((*mask.shape, *(1,) * len(rest)))
    return MaskedSelection(call(lookup("where"), (wide, tensor, one.reshape(rest)), ()), mask)


def spread(value: object, mask: Tensor, size: Sequence[int]) -> Tensor | None:
    """Returns the value that `x[mask] = value` puts at each place of `x`, or None if it depends on the count.

    Args:
      value: A selection, or a tensor whose dim 0 runs over the selected places in order.
      mask: Over the leading dims of `x`.
      size: Shape of `x`.
    """
    if isinstance(value, MaskedSelection):
        if value.mask is mask:
            return value.full
        packed = _packed(value)
    elif value.ndim == len(size) - mask.ndim + 1 and value.shape[0] > 0:
        packed = value
    else:
        return None
    rank = mask.reshape(-1).to(jnp.int32).cumsum(0) - 1
    rank = rank.clamp(0, packed.shape[0] - 1)
    return packed.index_select(0, rank).reshape((*mask.shape, *packed.shape[1:]))


def _packed(selection: MaskedSelection) -> Tensor:
    """Returns the selected elements side by side, followed by the others."""
    mask = selection.mask.reshape(-1)
    values = selection.full.reshape((-1, *selection.full.shape[selection.mask.ndim :]))
    return values.index_select(0, (~mask).to(jnp.int32).sort(stable=True)[1])


# -- ops on selections -------------------------------------------------------------------------------------------------


_MASKED = {
    "sum": "masked_sum", "prod": "masked_prod", "mean": "masked_mean", "var": "masked_var", "std": "masked_std",
    "norm": "masked_norm", "logsumexp": "masked_logsumexp", "amax": "masked_amax", "amin": "masked_amin",
    "max": "masked_amax", "min": "masked_amin",
}  # fmt: skip
"""Reduction → the row that computes it under a mask."""

_NEUTRAL = {"nansum": 0, "count_nonzero": 0, "any": False, "all": True}
"""Reduction → what the elements that are not selected hold for it."""


def run(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Generator) -> Any:
    """Returns the result of an op of which some operands are selections.

    Raises:
      ConcretizationError: If it depends on how many elements are selected.
    """
    if spec.layout == "operands" and spec.schema.n_results == 1 and not spec.has_lists:
        return _elementwise(spec, dynamic, static, generator)
    selection = dynamic[0]
    if isinstance(selection, MaskedSelection) and not any(isinstance(v, MaskedSelection) for v in dynamic[1:]):
        names = [p.name for p in spec.schema.static]
        options = dict(zip(names, static, strict=True))
        if spec.name in _MASKED or spec.name in _NEUTRAL:
            return _reduced(spec, selection, options)
    return _settle(spec, dynamic, static, generator, f"`{spec.name}`")


def _settle(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Generator, what: str) -> Any:
    """Returns the result of an op on the selected elements as tensors, if Python may ask how many they are."""
    settle = lambda value: value.settled(what) if isinstance(value, MaskedSelection) else value
    given = [[settle(v) for v in value] if isinstance(value, (list, tuple)) else settle(value) for value in dynamic]
    return call(spec, given, static, generator)


def _elementwise(spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Generator) -> Any:
    selections = [v for v in dynamic if isinstance(v, MaskedSelection)]
    first = selections[0]
    if any(s.mask is not first.mask for s in selections):
        return _settle(spec, dynamic, static, generator, f"`{spec.name}` with a selection by another mask")
    rest = first.full.ndim - first.mask.ndim
    operands = []
    for value in dynamic:
        if isinstance(value, MaskedSelection):
            value = value.full
        elif isinstance(value, Tensor) and value.ndim > rest:
            if value.ndim > rest + 1 or value.shape[0] != 1:
                what = f"`{spec.name}` with a tensor of shape {list(value.shape)}"
                return _settle(spec, dynamic, static, generator, what)
            value = value.reshape(value.shape[1:])
        operands.append(value)
    return MaskedSelection(call(spec, operands, static, generator), first.mask)


def _reduced(spec: OpSpec, selection: MaskedSelection, options: dict[str, Any]) -> Any:
    dim = options.pop("dim", None)
    given = range(selection.ndim) if dim is None or dim == () else dim if isinstance(dim, tuple) else (dim,)
    dims = {operator.index(d) % selection.ndim for d in given}
    n_mask = selection.mask.ndim
    inner = tuple(d + n_mask - 1 for d in sorted(dims) if d)
    if 0 not in dims:
        method = getattr(Tensor, spec.name)
        return MaskedSelection(
            method(selection.full, dim=inner if len(inner) != 1 else inner[0], **options), selection.mask
        )
    over = (*range(n_mask), *inner)
    if spec.name in _NEUTRAL:
        filled = selection.with_others(_NEUTRAL[spec.name])
        result = getattr(Tensor, spec.name)(filled, dim=over)
    else:
        row = lookup(_MASKED[spec.name])
        order = options.get("p", 2.0)
        chosen = {**options, "dim": over, "keepdim": False, "ord": 2.0 if order == "fro" else order}
        static = tuple(chosen.get(p.name, p.default) for p in row.schema.static)
        result = call(row, (selection.full, selection.wide_mask().expand(selection.full.shape)), static)
    if not options.get("keepdim"):
        return result
    return result.reshape(tuple(1 if d in dims else n for d, n in enumerate((1, *selection.full.shape[n_mask:]))))


# -- what users call ---------------------------------------------------------------------------------------------------


def _count_needed(name: str) -> Callable[..., Any]:
    def settled(self: MaskedSelection, *args: object, **kwargs: Any) -> Any:
        return getattr(Tensor, name)(self.settled(f"`{name}`"), *args, **kwargs)

    return settled


def _changed(name: str) -> Callable[..., Any]:
    out_of_place = getattr(Tensor, name)

    def inplace(self: MaskedSelection, *args: object) -> MaskedSelection:
        result = out_of_place(self, *args)
        if result.dtype != self.dtype:
            result = MaskedSelection(result.full.to(self.dtype), self.mask)
        self.full = result.full
        self._tensor = None
        return self

    return inplace


def bind(operators: Sequence[str], reflected: Sequence[str], augmented: dict[str, str]) -> None:
    """Gives selections the operators and methods of tensors; what needs the count raises."""
    for name in (*operators, *reflected, "__neg__", "__abs__", "__invert__"):
        setattr(MaskedSelection, name, vars(Tensor)[name])
    for name, plain in augmented.items():
        setattr(MaskedSelection, name, _changed(plain))
    methods, own = vars(Tensor), set(dir(MaskedSelection))
    for spec in rows():
        for name in (spec.name, *spec.aliases):
            if name in methods and spec.has_method and name not in own:
                setattr(MaskedSelection, name, methods[name])
    for name in ("__len__", "__bool__", "__iter__", "__int__", "__float__", "__index__", "__getitem__", "__setitem__"):
        setattr(MaskedSelection, name, _count_needed(name))


def is_needed(mask: Tensor) -> bool:
    """Returns whether how many elements a mask selects is unknown now."""
    return state.trace is not None and is_tracer(mask._storage.array)


STAND_INS[MaskedSelection] = run
