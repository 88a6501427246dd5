"""Ops whose result's shape depends on values: they run eagerly, and say what to write instead in a trace."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot.errors import DtypeError
from jaxaot.ops.promotion import default_int, is_bool
from jaxaot.tensor.indexing import getitem
from jaxaot.tensor.tensor import Tensor, wrap_array


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Returns where elements are not zero: (n, dims), or a tensor for each dim if `as_tuple`."""
    places = np.nonzero(np.atleast_1d(input._concrete("`nonzero` (how many elements there are)")))
    if as_tuple:
        return tuple(wrap_array(jnp.asarray(place.astype(default_int()))) for place in places)
    stacked = np.stack(places, axis=1)[:, : input.ndim].astype(default_int())
    return wrap_array(jnp.asarray(stacked))


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Returns the elements where a mask that broadcasts with them is true, as one dim."""
    if not is_bool(mask.dtype):
        raise DtypeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype}")
    size = np.broadcast_shapes(tuple(input.shape), tuple(mask.shape))
    return getitem(input.expand(size), mask.expand(size))


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Returns the distinct elements, or slices along `dim`, in ascending order; with where and how often if asked."""
    values = input._concrete("`unique` (how many elements there are)")
    found = np.unique(values, return_inverse=True, return_counts=True, axis=dim)
    shape = values.shape if dim is None else (values.shape[dim],)
    results = [wrap_array(jnp.asarray(found[0]))]
    if return_inverse:
        results.append(wrap_array(jnp.asarray(found[1].reshape(shape).astype(default_int()))))
    if return_counts:
        results.append(wrap_array(jnp.asarray(found[2].astype(default_int()))))
    return results[0] if len(results) == 1 else tuple(results)


FUNCTIONS = {"nonzero": nonzero, "masked_select": masked_select, "unique": unique}
