"""Rules of loops and branches."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxaot._jax import scan_counts
from jaxaot.buckets.table import declare
from jaxaot.buckets.writer import Padded, Writer
from jaxaot.ir.alignment import AlignedEqn
from jaxaot.ir.extents import extent_of, join, size_of


def _arrays(values: list[Padded]) -> list[Any]:
    return [jnp.asarray(value.array) for value in values]


@declare("scan", "Along an axis whose size changes: a loop of as many turns as there are valid rows.", "length")
def scan(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Runs the body for each valid row."""
    n_consts, n_carry = scan_counts(e.eqn)
    consts, carry, rows = values[:n_consts], values[n_consts : n_consts + n_carry], values[n_consts + n_carry :]
    size = size_of(e.exact["length"], e.bucket["length"])
    rows = [w.as_prefix(value, 0) for value in rows]
    row = lambda value: Padded(value.array[0], value.extents[1:])
    for value in rows:
        w.equal(value.size(0), size)
    fn, state, results = w.settled(e.bodies[0], consts, carry, [row(value) for value in rows])
    stacked, known, start = results[n_carry:], _arrays(consts), _arrays(carry)
    if size.is_static:

        def step(carried: list[Any], given: list[Any]) -> tuple[list[Any], list[Any]]:
            made = fn(*known, *carried, *given)
            return made[:n_carry], made[n_carry:]

        final, stacks = lax.scan(
            step, start, _arrays(rows), length=size.bucket, reverse=e.bucket["reverse"], unroll=e.bucket["unroll"]
        )
    else:
        n, arrays = w.value(size), _arrays(rows)
        empty = [jnp.zeros((size.bucket, *np.shape(v.array)), v.array.dtype) for v in stacked]

        def turn(i: Any, held: tuple[list[Any], list[Any]]) -> tuple[list[Any], list[Any]]:
            carried, filled = held
            at = n - 1 - i if e.bucket["reverse"] else i
            given = [lax.dynamic_index_in_dim(array, at, 0, keepdims=False) for array in arrays]
            made = fn(*known, *carried, *given)
            put = lambda whole, one: lax.dynamic_update_index_in_dim(whole, one, at, 0)
            return made[:n_carry], list(map(put, filled, made[n_carry:]))

        final, stacks = lax.fori_loop(0, n, turn, (start, empty))
        w.note("loop")
    first = extent_of(size.exact, size.bucket)
    fills = {} if size.is_static else {0: 0}
    made = [Padded(array, value.extents) for array, value in zip(final, state, strict=True)]
    for array, value in zip(stacks, stacked, strict=True):
        has_zero = bool(fills) and jnp.issubdtype(array.dtype, jnp.floating)
        made.append(Padded(array, (first, *value.extents), {0: 0.0} if has_zero else {}))
    return made


@declare("while", "As it is: the condition and the state are written by rules.")
def while_(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Runs the body while the condition, at the exact size, holds."""
    n_cond, n_body = e.bucket["cond_nconsts"], e.bucket["body_nconsts"]
    of_cond, of_body, start = values[:n_cond], values[n_cond : n_cond + n_body], values[n_cond + n_body :]
    names = [name for name in sorted(e.bucket) if name in ("body_jaxpr", "cond_jaxpr")]
    bodies = dict(zip(names, e.bodies, strict=True))
    fn, state, _ = w.settled(bodies["body_jaxpr"], of_body, start)
    holds, (goes_on,) = w.body(bodies["cond_jaxpr"], [*of_cond, *state])
    known, also = _arrays(of_body), _arrays(of_cond)
    if not goes_on.extents:
        final = lax.while_loop(lambda s: holds(*also, *s)[0], lambda s: fn(*known, *s), _arrays(start))
        return [Padded(array, value.extents) for array, value in zip(final, state, strict=True)]
    axes = range(len(goes_on.extents))  # those of a `vmap`: each element has its own number of turns
    valid = w.validity(goes_on, axes)

    def any_goes_on(s: list[Any]) -> Any:
        (going,) = holds(*also, *s)
        return jnp.any(going if valid is None else going & valid)

    def step(s: list[Any]) -> list[Any]:
        (going,) = holds(*also, *s)
        pick = lambda new, old: lax.select(lax.broadcast_in_dim(going, new.shape, tuple(axes)), new, old)
        return list(map(pick, fn(*known, *s), s))

    final = lax.while_loop(any_goes_on, step, _arrays(start))
    return [Padded(array, value.extents) for array, value in zip(final, state, strict=True)]


@declare("cond", "As it is: each branch is written by rules.")
def cond(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Runs the branch that is chosen."""
    choice, *operands = values
    if not choice.is_static:
        raise w.refuse("the choice is made along an axis whose size changes")
    written = [w.body(branch, operands) for branch in e.bodies]
    arrays = lax.switch(jnp.asarray(choice.array), [fn for fn, _ in written], *_arrays(operands))
    results = []
    for i, array in enumerate(arrays):
        of_branches = [found[i].extents for _, found in written]
        extents = [join(group, w.equal) for group in zip(*of_branches, strict=True)]
        if None in extents:
            raise w.refuse("its branches lay a result out in several ways")
        results.append(Padded(array, tuple(extents)))  # pyright: ignore[reportArgumentType]
    return results


@declare("remat2 checkpoint remat", "The body is written by rules, behind the barrier that holds it.")
def checkpoint(w: Writer, e: AlignedEqn, values: list[Padded]) -> list[Padded]:
    """Runs the body, whose operands wait behind a barrier where it is run for gradients."""
    arrays = _arrays(values)
    if e.bucket["differentiated"] and e.bucket["prevent_cse"] and arrays:
        arrays = list(lax.optimization_barrier(tuple(arrays)))
    fn, results = w.body(e.bodies[0], values)
    return [Padded(array, value.extents) for array, value in zip(fn(*arrays), results, strict=True)]
