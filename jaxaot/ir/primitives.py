"""What kind of work each primitive does.

The *kind* of an equation decides how passes and partition policies treat it. A primitive that the table does not know
is `OPAQUE`: it is never recomputed. An equation with a body that is merely called (`custom_jvp_call`, a `jit` with
shardings) has the costliest kind found in its body, and dozens of pointwise ones are as costly as a transcendental one.
"""

from __future__ import annotations

import enum
import functools
import weakref
from collections import Counter
from typing import Any

import jax

from jaxaot._jax import has_side_effects, threefry_prng_impl
from jaxaot._typing import Eqn, Jaxpr
from jaxaot.ir.rewrite import called_jaxpr


class Kind(enum.IntEnum):
    """Kinds of work, from the cheapest to repeat to the one that never is repeated unasked."""

    VIEW = 0
    """Moves elements or none at all: `reshape`, `slice`, `broadcast_in_dim`."""
    CAST = 1
    """Writes the same elements in another dtype."""
    POINTWISE = 2
    """A few instructions per element."""
    TRANSCENDENTAL = 3
    """Pointwise, but dozens of instructions per element: `exp`, `tanh`."""
    REDUCTION = 4
    """Reads more than it writes, or scans along an axis: `reduce_sum`, `cumsum`."""
    RANDOM = 5
    """Pseudo-random bits made from a key, the same each time."""
    GATHER = 6
    """Reads or writes at computed positions: `gather`, `scatter`, `dynamic_slice`."""
    SORT = 7
    MATMUL = 8
    CONVOLUTION = 9
    LINALG = 10
    """Factorizations, solvers, FFTs."""
    COLLECTIVE = 11
    """Talks to other devices."""
    CONTROL = 12
    """Loops and branches, with a body of their own."""
    OPAQUE = 13
    """Anything unknown."""


_TABLE: dict[Kind, str] = {
    Kind.VIEW: """
        reshape transpose broadcast_in_dim squeeze expand_dims slice rev copy copy_p stop_gradient real imag pvary
        pbroadcast reduced_vary_cast reduced_vary_cast_p vary_unreduced_cast vary_unreduced_cast_p tie
        bitcast_convert_type optimization_barrier name mark place_as split unstack sharding_constraint layout_constraint
        relayout reshard random_wrap random_unwrap to_edtype from_edtype xla_metadata_value
        """,
    Kind.CAST: "convert_element_type reduce_precision",
    Kind.POINTWISE: """
        abs add add_any sub mul mulhi div neg max min sign floor ceil round clamp select_n eq ne lt le gt ge eq_to lt_to
        le_to and or not xor is_finite rem square integer_pow shift_left shift_right_logical shift_right_arithmetic
        population_count clz iota concatenate stack pad tile conj complex nextafter sqrt rsqrt copysign
        one_minus_square empty empty2 axis_index
        """,
    Kind.TRANSCENDENTAL: """
        exp exp2 expm1 log log2 log1p tanh tan sin cos sinh cosh asin acos atan asinh acosh atanh atan2 erf erfc erf_inv
        logistic pow cbrt lgamma digamma polygamma zeta igamma igammac bessel_i0e bessel_i1e regularized_incomplete_beta
        polynomial
        """,
    Kind.REDUCTION: """
        reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or reduce_xor argmax argmin reduce cumsum
        cumprod cummax cummin cumlogsumexp reduce_window reduce_window_sum reduce_window_max reduce_window_min
        """,
    Kind.RANDOM: """
        random_bits random_seed random_fold_in random_split random_clone threefry2x32 rng_bit_generator random_gamma
        """,
    Kind.GATHER: """
        gather scatter scatter-add scatter_add scatter-mul scatter_mul scatter-min scatter_min scatter-max scatter_max
        scatter-sub scatter_sub dynamic_slice dynamic_update_slice select_and_scatter_add select_and_gather_add
        """,
    Kind.SORT: "sort top_k approx_top_k",
    Kind.MATMUL: "dot_general ragged_dot_general ragged_dot scaled_matmul",
    Kind.CONVOLUTION: "conv_general_dilated",
    Kind.LINALG: """
        cholesky eig eigh lu lu_pivots_to_permutation qr geqrf householder_product svd triangular_solve schur
        tridiagonal_solve tridiagonal hessenberg fft custom_linear_solve
        """,
    Kind.COLLECTIVE: """
        psum psum2 psum_invariant pmax pmin ppermute all_gather all_gather_invariant all_gather_reduced all_to_all
        ragged_all_to_all reduce_scatter psum_scatter pgather unreduced_psum unreduced_pmax unreduced_pmin
        unreduced_reduce_scatter pbroadcast_dynamic
        """,
    Kind.CONTROL: "scan while cond shard_map remat2 checkpoint remat",
}
KINDS: dict[str, Kind] = {name: kind for kind, names in _TABLE.items() for name in names.split()}

_DOZENS = 24
"""How many pointwise equations a call has that is no longer pointwise as a whole."""

_known_bodies: weakref.WeakKeyDictionary[Any, Kind] = weakref.WeakKeyDictionary()

_NOT_REPEATABLE = {"rng_uniform"}
"""Primitives that give something else each time although they claim no effect."""


def kind(eqn: Eqn) -> Kind:
    """Returns the kind of work that an equation does."""
    known = KINDS.get(eqn.primitive.name)
    if known is not None:  # nothing that is merely called
        return known
    body = called_jaxpr(eqn, also_custom=True)
    if body is None and eqn.primitive.name in ("jit", "pjit"):
        body = eqn.params["jaxpr"]
    if body is not None:
        return _kind_of_body(body.jaxpr)
    return Kind.OPAQUE


def _kind_of_body(jaxpr: Jaxpr) -> Kind:
    if jaxpr not in _known_bodies:
        kinds = Counter(map(kind, jaxpr.eqns))
        most = max(kinds, default=Kind.VIEW)
        is_long = most is Kind.POINTWISE and kinds[most] >= _DOZENS
        _known_bodies[jaxpr] = Kind.TRANSCENDENTAL if is_long else most
    return _known_bodies[jaxpr]


def is_view(eqn: Eqn) -> bool:
    """Returns whether an equation shows the elements of its operand in another arrangement, or in another dtype."""
    return kind(eqn) <= Kind.CAST


def is_random(eqn: Eqn) -> bool:
    """Returns whether an equation makes pseudo-random bits from a key."""
    return kind(eqn) is Kind.RANDOM


def is_by_threefry(eqn: Eqn) -> bool:
    """Returns whether an equation makes random bits by JAX's default hash."""
    return eqn.primitive.name == "random_bits" and eqn.invars[0].aval.dtype == threefry_dtype()


@functools.cache
def threefry_dtype() -> Any:
    """Returns the dtype of the keys of JAX's default hash."""
    return jax.eval_shape(lambda: jax.random.key(0, impl=threefry_prng_impl)).dtype


def is_pure(eqn: Eqn) -> bool:
    """Returns whether an equation gives the same for the same operands and does nothing else."""
    return not has_side_effects(eqn) and eqn.primitive.name not in _NOT_REPEATABLE


def is_cheap(eqn: Eqn) -> bool:
    """Returns whether running an equation again costs about as much as reading its operands."""
    return kind(eqn) <= Kind.RANDOM and is_pure(eqn)
