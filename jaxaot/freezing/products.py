"""Matrix products with fixed weights, as the kernels of the platform want them.

Let `x` be what calls bring and `w` the weights. XLA:CPU computes a product of few rows fastest if the summed axes of
large weights come last in memory, and at other numbers of rows no slower. Where it has no kernels for halves, it
converts weights at every call, which takes many times as long as the product. Where several products read one `x`, one
product with weights side by side takes fewer kernels.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.lax import conv_general_dilated_p, convert_element_type_p, dot_general_p, transpose_p

from jaxaot._jax import Literal
from jaxaot._typing import ClosedJaxpr, Eqn
from jaxaot.backend.cpu.machine import machine
from jaxaot.freezing.split import Fixed, fixed_first
from jaxaot.ir.build import array_var
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import Makers, aval_bytes, is_rewritable

_HAS_HALF_KERNELS = jax.__version_info__ >= (0, 12)
"""Whether XLA:CPU multiplies bfloat16 as fast as float32, but for a single row: 2 to 32 rows took 0.6 to 0.9 of it."""

_HALVES = (np.dtype(jnp.bfloat16), np.dtype(np.float16))


class Packing(NamedTuple):
    """A graph with fixed weights as kernels want them.

    Attributes:
      graph: The graph.
      wanted: The variables of these weights, which are packed whatever their bytes.
    """

    graph: ClosedJaxpr
    wanted: frozenset[Any]


def _is_of_weights(eqn: Eqn, fixed: Fixed) -> bool:
    """Returns whether an equation is a product of what calls bring with fixed weights that do not grow."""
    if eqn.primitive is not dot_general_p or not is_rewritable(eqn):
        return False
    left, right = eqn.invars
    _, (batch, _) = eqn.params["dimension_numbers"]
    is_fixed = not isinstance(right, Literal) and right in fixed and left not in fixed
    return is_fixed and not isinstance(left, Literal) and not batch and not fixed.grows(right)


def _free_axes(eqn: Eqn) -> list[int]:
    (_, contracted), _ = eqn.params["dimension_numbers"]
    return [axis for axis in range(eqn.invars[1].aval.ndim) if axis not in contracted]


# -- side by side ------------------------------------------------------------------------------------------------------


def join_products(closed: ClosedJaxpr, frozen: Collection[int]) -> Packing:
    """Returns the graph with one product in place of several that read one value.

    q = dot_general x a                w = concatenate a b
    k = dot_general x b         →      y = dot_general x w
                                       q = y[:, :n]; k = y[:, n:]
    """
    closed = fixed_first(closed, frozen)
    fixed = Fixed(closed, frozen)
    groups: dict[Any, list[Eqn]] = {}
    for eqn in closed.jaxpr.eqns:
        if _is_of_weights(eqn, fixed):
            right = eqn.invars[1].aval
            (left_axes, right_axes), _ = eqn.params["dimension_numbers"]
            rest = repr(sorted((k, v) for k, v in eqn.params.items() if k != "dimension_numbers"))
            summed = tuple(right.shape[axis] for axis in right_axes)
            groups.setdefault((eqn.invars[0], tuple(left_axes), summed, right.dtype, rest), []).append(eqn)
    joined = {id(group[0]): group for group in groups.values() if len(group) > 1 and _pays(group)}
    if not joined:
        return Packing(closed, frozenset())
    gone = {id(eqn) for group in joined.values() for eqn in group[1:]}
    wanted, rewriter = set(), Rewriter(closed)
    for eqn in rewriter.equations():
        if id(eqn) in joined:
            wanted.add(_join(rewriter, joined[id(eqn)]))
        elif id(eqn) not in gone:
            rewriter.keep(eqn)
    return Packing(rewriter.graph(), frozenset(wanted))


def _pays(group: Sequence[Eqn]) -> bool:
    """Returns whether products gain by being one."""
    return len({id(eqn.invars[1]) for eqn in group}) == len(group)


def _join(rewriter: Rewriter, group: Sequence[Eqn]) -> Any:
    """Writes one product in place of several, and returns the variable of its weights."""
    first = group[0]
    left = first.invars[0]
    (left_axes, _), _ = first.params["dimension_numbers"]
    n_summed = len(left_axes)
    orders, sizes, weights = [], [], []
    for eqn in group:
        (_, summed), _ = eqn.params["dimension_numbers"]
        free = _free_axes(eqn)
        orders.append((*free, *summed))
        sizes.append(tuple(eqn.invars[1].aval.shape[axis] for axis in free))
        weights.append(eqn.invars[1])
    whole = rewriter.call(_side_by_side, *weights, orders=tuple(orders), n_summed=n_summed)
    rows = [size for axis, size in enumerate(left.aval.shape) if axis not in left_axes]
    n_columns = sum(map(math.prod, sizes))
    params = {**first.params, "dimension_numbers": ((left_axes, tuple(range(1, 1 + n_summed))), ((), ()))}
    product = array_var([*rows, n_columns], first.outvars[0])
    rewriter.add(dot_general_p, params, [left, whole], product, first)
    parts = rewriter.calls(_parts, product, sizes=tuple(sizes))
    for eqn, part in zip(group, parts, strict=True):
        rewriter.replace(eqn.outvars[0], part)
    return whole


def _side_by_side(*weights: Any, orders: Any, n_summed: int) -> Any:
    """Returns weights as one array, the summed axes last."""
    turned = [jnp.transpose(w, order) for w, order in zip(weights, orders, strict=True)]
    return jnp.concatenate([w.reshape(-1, *w.shape[w.ndim - n_summed :]) for w in turned])


def _parts(product: Any, sizes: Any) -> list[Any]:
    """Returns the results of the products that were joined."""
    found, start = [], 0
    for size in sizes:
        part = lax.slice_in_dim(product, start, start + math.prod(size), axis=product.ndim - 1)
        found.append(part.reshape(*product.shape[:-1], *size))
        start += math.prod(size)
    return found


# -- order and precision -----------------------------------------------------------------------------------------------


def orient_products(closed: ClosedJaxpr, frozen: Collection[int], wanted: frozenset[Any] = frozenset()) -> Packing:
    """Returns the graph with weights in the order and the precision that XLA:CPU computes fastest with.

    b = transpose a                                     c = dot_general[((1,),(1,))] x a
    c = dot_general[((1,),(0,))] x b             →

    w: bf16[m,n]                                        v: f32[m,n] = convert w
    c: bf16[k,n] = dot_general x w                      y: f32[k,n] = dot_general (convert x) v
                                                        c: bf16[k,n] = convert y
    """
    closed = fixed_first(closed, frozen)
    if jax.default_backend() != "cpu":
        return Packing(closed, wanted)
    fixed, makers, found = Fixed(closed, frozen), Makers(closed.jaxpr), set(wanted)
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        if eqn.primitive is conv_general_dilated_p and _is_converted(eqn) and eqn.invars[1] in fixed:
            found.add(_widened(rewriter, eqn, eqn.invars[1], eqn.params))
        elif _is_of_weights(eqn, fixed):
            weight, params = _oriented(rewriter, eqn, makers, found)
            if _is_converted(eqn):
                found.add(_widened(rewriter, eqn, weight, params))
            elif weight is not eqn.invars[1]:
                rewriter.like(eqn, [eqn.invars[0], weight], eqn.outvars[0], params)
            else:
                rewriter.keep(eqn)
        else:
            rewriter.keep(eqn)
    return Packing(rewriter.graph(), frozenset(found))


def _is_half(eqn: Eqn) -> bool:
    """Returns whether a product multiplies halves, into halves or float32."""
    (left, right), (made,) = ([atom.aval.dtype for atom in atoms] for atoms in (eqn.invars, eqn.outvars))
    return is_rewritable(eqn) and left == right and left in _HALVES and made in (left, np.dtype(np.float32))


def _is_converted(eqn: Eqn) -> bool:
    """Returns whether XLA converts the weights of a product of halves at every call."""
    if not _is_half(eqn):
        return False
    if not _HAS_HALF_KERNELS or eqn.invars[0].aval.dtype == np.float16 or eqn.primitive is not dot_general_p:
        return True
    (left, _), _ = eqn.params["dimension_numbers"]
    return math.prod(size for axis, size in enumerate(eqn.invars[0].aval.shape) if axis not in left) == 1


def _oriented(rewriter: Rewriter, eqn: Eqn, makers: Makers, found: set[Any]) -> tuple[Any, dict[str, Any]]:
    """Returns the weights of a product, the summed axes last if they are large, and its parameters then."""
    weight = eqn.invars[1]
    (left, summed), batch = eqn.params["dimension_numbers"]
    n_bytes = aval_bytes(weight.aval) * (2 if _is_converted(eqn) else 1)
    free = _free_axes(eqn)
    order = [*free, *summed]
    if n_bytes < machine().ordered_bytes or order == sorted(order):
        return weight, eqn.params
    source = makers.of(weight, transpose_p)
    if source is not None:
        weight, order = source.invars[0], [source.params["permutation"][axis] for axis in order]
    if order != sorted(order):
        target = array_var([weight.aval.shape[axis] for axis in order], weight)
        weight = rewriter.add(transpose_p, {"permutation": tuple(order)}, [weight], target)
        found.add(weight)
    last = tuple(range(len(free), len(free) + len(summed)))
    return weight, {**eqn.params, "dimension_numbers": ((left, last), batch)}


def _widened(rewriter: Rewriter, eqn: Eqn, weight: Any, params: dict[str, Any]) -> Any:
    """Writes a product of halves as one of float32, and returns the variable of its weights."""
    left, wide = rewriter.call(_in_float32, eqn.invars[0]), rewriter.call(_in_float32, weight)
    (target,), is_wide = eqn.outvars, eqn.outvars[0].aval.dtype == np.float32
    product = target if is_wide else array_var(target.aval.shape, left)
    rewriter.add(eqn.primitive, {**params, "preferred_element_type": np.dtype(np.float32)}, [left, wide], product)
    if not is_wide:
        narrow = {"new_dtype": target.aval.dtype, "weak_type": False, "sharding": None}
        rewriter.add(convert_element_type_p, narrow, [product], target)
    return wide


def _in_float32(x: Any) -> Any:
    return lax.convert_element_type(x, jnp.float32)
