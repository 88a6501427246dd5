"""Sorting floats by the integers that their bits are, and places together with what is sorted.

XLA on CPU sorts by calls of a comparison, which for floats is a long one; integers it gives to a sort of its own. That
is four times faster. It sorts one array at a time, so what is carried along is found by the places that elements come
from, and these are sorted as the lower half of integers whose upper half is the key.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot.ir.build import is_rewritable, traced
from jaxaot.ir.makers import Makers
from jaxaot.ir.rewrite import reading, rebuild, substitute
from jaxaot.passes.dce import dce
from jaxaot.passes.decompose import decompose_some

_INTEGERS = {jnp.dtype(jnp.float32): jnp.int32, jnp.dtype(jnp.float16): jnp.int16, jnp.dtype(jnp.bfloat16): jnp.int16}

_KEYS = (*_INTEGERS, *map(jnp.dtype, ("int8", "int16", "int32", "uint8", "uint16", "uint32")))


def sort_integers(closed: Any) -> Any:
    """Returns the graph with sorts of floats, and sorts that carry others along, as sorts of integers.

        y: f32[100] = sort x               →    a: i32[100] = bitcast_convert_type x
                                                b: i32[100] = select_n (a < 0) a (xor a 0x7fffffff)
                                                c: i32[100] = sort b
                                                y: f32[100] = …, the same backwards

        i: i32[100] = iota                      c: i64[100] = or (shift_left b 32) iota
        y p = sort[num_keys=1] x i         →    p: i32[100] = sort c
                                                y: f32[100] = gather x p

    The same elements come out, numbers that are equal in equal places: but alone a negative zero now stands before a
    positive one. NaN comes last, whatever its bits were. With others, equal elements stay in their order.
    """
    return _with_places_sorted(decompose_some(closed, "sort", _has_bits, _sort))


def _has_bits(x: Any, *others: Any, **params: Any) -> bool:
    return not others and x.dtype in _INTEGERS


def _sort(x: Any, **params: Any) -> Any:
    (ordered,) = lax.sort_p.bind(_bits(x), **params)
    return [lax.bitcast_convert_type(_in_order(ordered), x.dtype)]


def _bits(x: Any) -> Any:
    """Returns integers in the order of floats, with a negative zero before a positive one, and all NaN as one."""
    x = jnp.where(x != x, jnp.full((), jnp.nan, x.dtype), x)
    return _in_order(lax.bitcast_convert_type(x, _INTEGERS[jnp.dtype(x.dtype)]))


def _in_order(bits: Any) -> Any:
    """Returns integers in the order of the floats whose bits they have, and the other way round."""
    return jnp.where(bits < 0, bits ^ jnp.asarray(jnp.iinfo(bits.dtype).max, bits.dtype), bits)


def _with_places_sorted(closed: Any) -> Any:
    """Returns the graph with sorts of one key, and of others along with it, as sorts of integers."""
    makers = Makers(closed.jaxpr)
    names: dict[Any, Any] = {}
    eqns: list[Any] = []
    for original in closed.jaxpr.eqns:
        eqn = reading(original, names)
        eqns.append(eqn)
        if not _has_one_key(original):
            continue
        is_place = tuple(_is_place(atom, original.params["dimension"], makers) for atom in original.invars)
        fn = functools.partial(_sort_along, axis=original.params["dimension"], is_place=is_place)
        steps, results, constants = traced(fn, eqn.invars, eqn)
        if constants or any(a.aval.weak_type != v.aval.weak_type for a, v in zip(results, eqn.outvars, strict=True)):
            continue
        eqns[-1:] = steps
        names.update(zip(original.outvars, results, strict=True))
    return dce(rebuild(closed, eqns, substitute(closed.jaxpr.outvars, names))) if names else closed


def _has_one_key(eqn: Any) -> bool:
    """Returns whether an equation sorts by one key, of at most 32 bits, and carries others along."""
    if eqn.primitive is not lax.sort_p or not is_rewritable(eqn):
        return False
    dtypes = [atom.aval.dtype for atom in eqn.invars]
    is_plain = not any(jnp.issubdtype(dtype, jax.dtypes.extended) for dtype in dtypes)
    return is_plain and len(dtypes) > 1 and eqn.params["num_keys"] == 1 and dtypes[0] in _KEYS


def _is_place(atom: Any, axis: int, makers: Makers) -> bool:
    """Returns whether a value says of each element where along an axis it is."""
    eqn = makers.of(atom, lax.iota_p)
    return eqn is not None and eqn.params["dimension"] == axis


def _sort_along(key: Any, *others: Any, axis: int, is_place: tuple[bool, ...]) -> list[Any]:
    """Returns the key and others in the order of the key, those that are equal in theirs.

    Args:
      key: Of one of `_KEYS`.
      *others: Arrays of its shape.
      axis: Along which to sort.
      is_place: Which of all of them are the places of their elements.
    """
    is_short = key.dtype.itemsize <= 2 and key.shape[axis] <= 1 << 16
    with jax.enable_x64(True):  # the types of what is made here are said, and go no further
        wide = np.dtype(np.int32 if is_short else np.int64)
        upper = lax.convert_element_type(_as_integers(key), wide)
        half = 4 * wide.itemsize
        packed = lax.bitwise_or(
            lax.shift_left(upper, lax.full_like(upper, half)), lax.broadcasted_iota(wide, key.shape, axis)
        )
        ordered = lax.sort(packed, dimension=axis, is_stable=False)
        lower = lax.bitwise_and(ordered, lax.full_like(ordered, (1 << half) - 1))
        places = lax.convert_element_type(lower, np.int32)
    return [
        lax.convert_element_type(places, x.dtype)
        if given
        else jnp.take_along_axis(x, places, axis, mode="promise_in_bounds")
        for x, given in zip((key, *others), is_place, strict=True)
    ]


def _as_integers(key: Any) -> Any:
    """Returns signed integers of as many bits in the order of keys, in which zeros of both signs are equal."""
    if key.dtype in _INTEGERS:
        zero = jnp.zeros((), key.dtype)
        return _bits(jnp.where(key == zero, zero, key))
    if jnp.issubdtype(key.dtype, jnp.unsignedinteger):
        signed = np.dtype(f"int{8 * key.dtype.itemsize}")
        return lax.bitcast_convert_type(key, signed) ^ jnp.asarray(np.iinfo(signed).min, signed)
    return key
