"""From a pure function to the graph of its forward and backward.

The *joint graph* is what `jax.vjp` makes of a function, written out: from (primals, cotangents) to (outputs,
gradients). Each of its equations is *tagged* with the position of the forward equation that it comes from, in its name
stack, where transformations keep it; `ir.walk` reads the tag back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import Literal, bind_params
from jaxaot._placement import placed_like
from jaxaot._scopes import traced_like
from jaxaot._typing import ArrayLike, Atom, ClosedJaxpr, Eqn
from jaxaot._util import collector
from jaxaot.errors import NotDifferentiableError
from jaxaot.ir.reach import reached_inputs
from jaxaot.ir.regions import open_regions
from jaxaot.ir.rewrite import inline
from jaxaot.ir.roles import Cotangent, Gradient, Output, Primal, Refill
from jaxaot.ir.unfinished import is_made_by_loop
from jaxaot.ir.walk import Makers, equation_key, forward_tag, is_rewritable, n_own_scopes, short_aval, sub_jaxprs
from jaxaot.plan.stages import JointGraph


@collector.waits()
def build_joint(
    jaxpr: ClosedJaxpr,
    inputs: Sequence[int],
    outputs: Sequence[int],
    names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    refill_names: Sequence[str] = (),
    absent: Collection[int] = (),
) -> JointGraph:
    """Returns the joint graph of a pure function.

    Bodies of `jax.checkpoint` become regions of the graph: what they say is tagged, and nothing is computed twice yet.
    Rules of `jax.custom_jvp` and `jax.custom_vjp` are followed. The result can be differentiated again.

    Args:
      jaxpr: The function, a ClosedJaxpr.
      inputs: The positions of the inputs to differentiate with respect to.
      outputs: The positions of the outputs that get a cotangent.
      names: What the user calls each input.
      output_names: What the user calls each output.
      refill_names: What the user calls the tensors whose contents are the last outputs of `jaxpr`, see `Refill`.
      absent: The positions of inputs without values; a gradient of any other one is placed as that.

    Raises:
      NotDifferentiableError: If one of these inputs or outputs is not a float, or if JAX has no derivative for an
        equation in between.
    """
    inputs, outputs = tuple(inputs), tuple(outputs)
    opened = open_regions(jaxpr)
    flat = opened.jaxpr
    in_names = tuple(names) if names is not None else ("",) * len(flat.in_avals)
    n_outputs = len(flat.out_avals) - len(refill_names)
    out_names = tuple(output_names) if output_names is not None else ("",) * n_outputs
    _require_floats(flat, inputs, outputs, in_names, out_names)
    primals = [aval.strip_weak_type() for aval in flat.in_avals]
    cotangents = [flat.out_avals[i].strip_weak_type() for i in outputs]
    tags = [forward_tag(i, region) for i, region in enumerate(opened.places)]
    joint_fn = _joint_function(flat, tags, inputs, outputs, frozenset(absent))
    try:
        joint = inline(jax.make_jaxpr(joint_fn)(primals, cotangents))
    except ValueError as error:
        refusal = endless_loop(error)
        if refusal is None:
            raise
        raise refusal from error
    return JointGraph(
        joint,
        (*(Primal(i, name) for i, name in enumerate(in_names)), *(Cotangent(i) for i in outputs)),
        (
            *(Output(i, name) for i, name in enumerate(out_names)),
            *(Refill(i, name) for i, name in enumerate(refill_names)),
            *(Gradient(i) for i in inputs),
        ),
        _unused(flat, inputs, outputs, _zero_gradients(joint, len(flat.out_avals))),
        opened.regions,
        opened.names,
    )


def endless_loop(error: ValueError) -> NotDifferentiableError | None:
    """Returns the error that names an unbounded loop JAX refuses to differentiate; None for any other error."""
    if "Reverse-mode differentiation does not work" not in str(error):
        return None
    return NotDifferentiableError(
        "The function runs a `while_loop` (or a `fori_loop` whose bounds are not constants) on a value that needs a "
        "gradient. Its number of iterations is unknown, so its residuals cannot be kept. If no gradient is wanted, run "
        "it under `ja.no_grad()` or on `x.detach()`. If the number of iterations has a bound, write `ja.scan` (or "
        "`jax.lax.scan`, or `fori_loop` with constant bounds) that does nothing once it is done:\n\n"
        "    def step(carry, _):\n"
        "        return ja.cond(goes_on(*carry), body, lambda *c: c, carry), None\n"
        "    carry, _ = ja.scan(step, carry, None, length=at_most)"
    )


def _joint_function(
    flat: ClosedJaxpr,
    tags: Sequence[str],
    inputs: tuple[int, ...],
    outputs: tuple[int, ...],
    absent: frozenset[int],
) -> Callable[..., Any]:
    """Returns the function from lists of primals and cotangents to a list of outputs and gradients."""
    given = set(outputs)
    others = [i for i in range(len(flat.out_avals)) if i not in given]

    def joint_fn(primals: list[Any], cotangents: list[Any]) -> list[Any]:
        def differentiated(*values: object) -> tuple[list[Any], list[Any]]:
            args = list(primals)
            for i, value in zip(inputs, values, strict=True):
                args[i] = value
            results = [_strong(x) for x in _evaluate(flat, tags, args)]
            return [results[i] for i in outputs], [results[i] for i in others]

        chosen, pull_back, rest = jax.vjp(differentiated, *(primals[i] for i in inputs), has_aux=True)
        results: list[Any] = [None] * len(flat.out_avals)
        for i, value in zip((*outputs, *others), (*chosen, *rest), strict=True):
            results[i] = value
        gradients = [_strong(gradient) for gradient in pull_back(cotangents)]
        owners = [None if i in absent else primals[i] for i in inputs]
        # a loop that stacks gradients of its layers would hold all of them whole, so there it is the loop that is asked
        place = lambda g, owner: placed_like(g, owner, leads=is_made_by_loop(g))
        return results + [place(g, owner) for g, owner in zip(gradients, owners, strict=True)]

    return joint_fn


def _evaluate(closed: ClosedJaxpr, tags: Sequence[str], args: Sequence[Any]) -> list[Any]:
    """Returns the results of a graph, computing each equation under its tag."""
    jaxpr = closed.jaxpr
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    values |= zip(jaxpr.invars, args, strict=True)
    read = lambda atom: atom.val if isinstance(atom, Literal) else values[atom]
    repeated = _Repeated()
    for tag, eqn in zip(tags, jaxpr.eqns, strict=True):
        params = bind_params(eqn)
        operands = [read(atom) for atom in eqn.invars]
        if eqn.primitive.name in ("custom_jvp_call", "custom_vjp_call"):  # rules of users, who index by symbols
            operands = [x if isinstance(x, jax.Array) or not np.ndim(x) else jnp.asarray(x) for x in operands]
        bind = repeated.get(eqn, params)
        with traced_like(eqn, tag, n_own_scopes(eqn)):
            results = bind(*operands)
        values.update(zip(eqn.outvars, results if eqn.primitive.multiple_results else [results], strict=True))
    return [read(atom) for atom in jaxpr.outvars]


class _Repeated:
    """Equations that repeat an earlier one on other operands of the same types: each a call of one function.

    JAX differentiates a called function once, and an equation that stands alone anew each time, which takes twice as
    long.
    """

    def __init__(self) -> None:
        self._found: dict[Any, Callable[..., Any] | None] = {}

    def get(self, eqn: Eqn, params: dict[str, Any]) -> Callable[..., Any]:
        """Returns the function from its operands to its results: the first time without a call."""
        alone = partial(eqn.primitive.bind, **params)
        if eqn.effects or not is_rewritable(eqn) or sub_jaxprs(eqn):
            return alone
        key = equation_key(eqn, lambda var: var.aval)
        if key not in self._found:
            self._found[key] = None
            return alone
        found = self._found[key]
        if found is None:
            found = self._found[key] = jax.jit(alone)
        return found


def _strong(value: ArrayLike) -> Any:
    """Returns `value` with a dtype that promotion does not give way."""
    weak = getattr(value, "weak_type", getattr(getattr(value, "aval", None), "weak_type", False))
    if isinstance(value, jax.Array) and not weak:
        return value
    if isinstance(value, np.ndarray | np.generic | int | float | complex | bool):
        return jnp.asarray(value, jnp.result_type(value))
    return jax.lax.convert_element_type(value, value.dtype)


def _require_floats(
    flat: Sequence[Any],
    inputs: tuple[int, ...],
    outputs: tuple[int, ...],
    in_names: tuple[str, ...],
    out_names: tuple[str, ...],
) -> None:
    problems = []
    sides = (("input", inputs, flat.in_avals, in_names), ("output", outputs, flat.out_avals, out_names))
    for side, positions, avals, names in sides:
        for i in positions:
            if not 0 <= i < len(avals):
                problems.append(f"there is no {side} {i}: the function has {len(avals)}")
            elif not jnp.issubdtype(avals[i].dtype, jnp.inexact):
                label = f"{side} {i}" + (f" (`{names[i]}`)" if names[i] else "")
                problems.append(f"{label} is {short_aval(avals[i])}, which has no gradient")
        if len(set(positions)) < len(positions):
            problems.append(f"an {side} is listed twice in {positions}")
    if not inputs or not outputs:
        problems.append("a gradient needs at least one input and one output")
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise NotDifferentiableError(
            f"The joint graph cannot be built:\n{listed}\nOnly floats and complex numbers have gradients. Leave the "
            "others out, or convert them, for instance with `x.float()`."
        )


def _unused(
    flat: ClosedJaxpr, inputs: Sequence[int], outputs: Sequence[int], is_zero: Sequence[bool]
) -> tuple[bool, ...]:
    """Returns which of some gradients that are zero are of inputs that lead to no output: not those of `x.sign()`."""
    if not any(is_zero):
        return tuple(is_zero)
    reached = reached_inputs(flat, by_floats=True)
    leading = frozenset[int]().union(*(reached[i] for i in outputs))
    return tuple(zero and i not in leading for zero, i in zip(is_zero, inputs, strict=True))


_KEEPS_ZERO = ("broadcast_in_dim", "convert_element_type", "reshape", "pvary", "place_as")
"""Primitives that make zeros of a first operand of zeros."""


def _zero_gradients(joint: Any, n_before: int) -> tuple[bool, ...]:
    """Returns, for each gradient, whether it is a constant zero."""
    makers = Makers(joint.jaxpr)

    def is_zero(atom: Atom) -> bool:
        while not isinstance(atom, Literal):
            eqn = makers.get(atom)
            if eqn is None or eqn.primitive.name not in _KEEPS_ZERO:
                return False
            atom = eqn.invars[0]
        return not np.any(np.asarray(atom.val))

    return tuple(is_zero(atom) for atom in joint.jaxpr.outvars[n_before:])
