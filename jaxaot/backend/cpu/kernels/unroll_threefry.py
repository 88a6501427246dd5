"""Random bits by the hash that JAX uses by default, Threefry, as operations on whole arrays.

JAX gives XLA on CPU the 20 rounds of the hash as a loop of 5 iterations. What an iteration makes is in memory, and no
kernel goes beyond it. Written out, the hash, what makes numbers of its bits, and what reads these are one kernel.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import jaxpr_as_fun, threefry2x32_p, threefry_prng_impl
from jaxaot._typing import Array, ClosedJaxpr, Eqn, Var
from jaxaot.backend.cpu.analysis.kernels import is_fused, kernels
from jaxaot.ir.build import n_elements
from jaxaot.ir.primitives import Kind, is_by_threefry, kind, threefry_dtype
from jaxaot.ir.rewrite import inline, rebuild
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import is_rewritable, users, variables
from jaxaot.passes.decompose import decompose

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_N_GROUPS = 5


def unroll_threefry(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph with Threefry's random bits computed by arithmetic, the same bits.

        b = random_bits k                   b = threefry_bits k           (adds, rotations and xors)
        m = lt b 9                    →     m = lt b 9
        c = select_n m x 0                  n = optimization_barrier m
        d = select_n m y 0                  c = select_n n x 0
                                            d = select_n n y 0

    What several kernels read of them is behind a barrier, as XLA would compute the bits in each; and what is broadcast,
    for each element.

    The hash is that of Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011.
    """
    eqns: list[Any] = []
    written_out: set[int] = set()
    for eqn in closed.jaxpr.eqns:
        if not (is_by_threefry(eqn) and is_rewritable(eqn)):
            eqns.append(eqn)
            continue
        is_partitionable = bool(jax.config.jax_threefry_partitionable)
        call = _call(eqn.invars[0].aval.shape, eqn.params["bit_width"], eqn.params["shape"], is_partitionable)
        written_out.add(len(eqns))
        eqns.append(eqn.replace(primitive=call.primitive, params=call.params))
    if not written_out:
        return closed
    return _with_barriers(rebuild(closed, eqns, closed.jaxpr.outvars), written_out)


@functools.lru_cache(maxsize=256)
def _call(keys_shape: tuple[int, ...], bit_width: int, shape: tuple[int, ...], is_partitionable: bool) -> Eqn:
    """Returns an equation that calls a function from keys to the bits of each; as a call it is one for other passes.

    Args:
      keys_shape: The shape of the array of keys.
      bit_width: How many bits an element has.
      shape: The shape of what is made from each key.
      is_partitionable: How JAX numbers the elements, by the setting in force.
    """
    del is_partitionable  # JAX asks for it

    def by_hash(data: Array) -> Any:
        one = functools.partial(threefry_prng_impl.random_bits, bit_width=bit_width, shape=shape)
        for _ in keys_shape:
            one = jax.vmap(one)
        return one(data)

    data = jax.ShapeDtypeStruct((*keys_shape, *threefry_prng_impl.key_shape), jnp.uint32)
    graph = decompose(inline(jax.make_jaxpr(by_hash)(data)), {threefry2x32_p: _hash, "iota_2x32_shape": _counters})

    @jax.jit
    def threefry_bits(keys: Array) -> Any:
        return jaxpr_as_fun(graph)(jax.random.key_data(keys))[0]

    (call,) = jax.make_jaxpr(threefry_bits)(jax.ShapeDtypeStruct(keys_shape, threefry_dtype())).jaxpr.eqns
    return call


def _hash(key1: Array, key2: Array, x1: Array, x2: Array, **_: object) -> list[Any]:
    keys = key1, key2, key1 ^ key2 ^ np.uint32(_PARITY)
    x1, x2 = x1 + keys[0], x2 + keys[1]
    for group in range(_N_GROUPS):
        for bits in _ROTATIONS[group % 2]:
            x1 = x1 + x2
            x2 = x1 ^ (x2 << np.uint32(bits) | x2 >> np.uint32(32 - bits))
        x1 = x1 + keys[(group + 1) % 3]
        x2 = x2 + keys[(group + 2) % 3] + np.uint32(group + 1)
    return [x1, x2]


def _counters(*, shape: tuple[int, ...], **_: object) -> Any:
    """Returns the number of each element, as its upper and its lower 32 bits."""
    n = math.prod(shape)
    if n > 1 << 32:
        return NotImplemented
    return [jnp.zeros(shape, jnp.uint32), jax.lax.iota(jnp.uint32, n).reshape(shape)]


def _with_barriers(closed: ClosedJaxpr, places: Collection[int]) -> ClosedJaxpr:
    """Returns a graph in which what some equations make is computed once, element by element, not where it is read."""
    eqns, returned = closed.jaxpr.eqns, set(variables(closed.jaxpr.outvars))
    kernel, readers = kernels(eqns, returned), users(eqns)
    made_with: set[Any] = {var for i in places for var in eqns[i].outvars}
    rewriter = Rewriter(closed)
    for i, eqn in enumerate(rewriter.equations()):
        rewriter.keep(eqn)
        is_part = i in places or not made_with.isdisjoint(variables(eqn.invars))
        if not is_part or not is_fused(eqn) or len(eqn.outvars) != 1:
            continue
        (var,) = eqn.outvars
        read_by = [eqns[at] for at in readers.get(var, ())]
        if any(_is_repeated(var, reader) for reader in read_by) or (read_by and kernel[i] == i):
            rewriter.hold(var)
        else:
            made_with.add(var)
    return rewriter.graph()


def _is_repeated(var: Var, reader: Any) -> bool:
    """Returns whether an element would be made more than once, or one by one, if it is made where it is read."""
    shapes = (getattr(made.aval, "shape", ()) for made in reader.outvars)
    is_larger = any(n_elements(shape) > n_elements(var.aval.shape) for shape in shapes)
    return is_larger or kind(reader) is Kind.REDUCTION
