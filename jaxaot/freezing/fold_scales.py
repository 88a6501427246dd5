"""What multiplies each channel of a product or a convolution goes into its weights: so is BatchNorm folded."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.lax import add_p, conv_general_dilated_p, div_p, dot_general_p, mul_p, sub_p

from jaxaot._jax import Literal
from jaxaot._typing import Atom, ClosedJaxpr, Eqn
from jaxaot.freezing.split import Fixed, fixed_first
from jaxaot.ir.rewriter import Rewriter
from jaxaot.ir.walk import is_rewritable, variables
from jaxaot.passes.dce import dce

_CHAINED = {add_p: "add", sub_p: "sub", mul_p: "mul", div_p: "div"}


@dataclasses.dataclass(frozen=True)
class _Step:
    """A value that is `scale * base + shift`, by channels.

    Attributes:
      base: The equation of a convolution or a product.
      axis: Which axis of the value is that of channels.
      steps: What was done to the result since, each with the fixed operand.
    """

    base: Eqn
    axis: int
    steps: tuple[tuple[str, Atom], ...] = ()


def fold_scales(closed: ClosedJaxpr, frozen: Any) -> ClosedJaxpr:
    """Returns the graph with weights that are multiplied, in place of results that are.

        b = conv_general_dilated x w             v = mul w s
        c = sub b m                       →      b = conv_general_dilated x v
        d = mul c s                              t = -m * s
        e = add d z                              e = add b (t + z)

    The factors have to be fixed and the same along all axes but that of channels, and only the last result read.
    """
    closed = fixed_first(closed, frozen)
    fixed = Fixed(closed, frozen)
    jaxpr = closed.jaxpr
    n_reads = Counter(var for eqn in jaxpr.eqns for var in variables(eqn.invars))
    n_reads.update(variables(jaxpr.outvars))
    chains: dict[Any, _Step] = {}
    for eqn in jaxpr.eqns:
        found = _begun(eqn, fixed) or _continued(eqn, fixed, chains, n_reads)
        if found is not None:
            chains[eqn.outvars[0]] = found
    inner = {var for eqn in jaxpr.eqns for var in variables(eqn.invars) if eqn.outvars[0] in chains and var in chains}
    ends = {var: step for var, step in chains.items() if var not in inner and _pays(step)}
    if not ends:
        return closed
    rewriter = Rewriter(closed)
    for eqn in rewriter.equations():
        step = ends.get(eqn.outvars[0]) if eqn.outvars else None
        if step is None:
            rewriter.keep(eqn)
        else:
            _fold(rewriter, eqn, step)
    return dce(rewriter.graph())


def _begun(eqn: Eqn, fixed: Fixed) -> _Step | None:
    """Returns the chain that a convolution or a product with fixed weights begins."""
    if eqn.primitive not in (conv_general_dilated_p, dot_general_p) or not is_rewritable(eqn):
        return None
    left, right = eqn.invars
    dtypes = {atom.aval.dtype for atom in (left, right, eqn.outvars[0])}
    if isinstance(right, Literal) or right not in fixed or left in fixed or len(dtypes) > 1 or fixed.grows(right):
        return None
    if not jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.inexact):
        return None
    if eqn.primitive is conv_general_dilated_p:
        if eqn.params["batch_group_count"] != 1:
            return None
        return _Step(eqn, eqn.params["dimension_numbers"].out_spec[1])
    (_, contracted), (batch, _) = eqn.params["dimension_numbers"]
    if batch or right.aval.ndim - len(contracted) != 1:
        return None
    return _Step(eqn, eqn.outvars[0].aval.ndim - 1)


def _continued(eqn: Eqn, fixed: Fixed, chains: dict[Any, _Step], n_reads: Counter[Any]) -> _Step | None:
    """Returns the chain that an equation continues."""
    how = _CHAINED.get(eqn.primitive)
    if how is None or not is_rewritable(eqn):
        return None
    left, right = eqn.invars
    if how in ("add", "mul") and not isinstance(right, Literal) and right in chains:
        left, right = right, left
    if isinstance(left, Literal) or isinstance(right, Literal) or right not in fixed:
        return None
    before = chains.get(left)
    out = eqn.outvars[0].aval
    if before is None or n_reads[left] != 1 or left.aval != out or right.aval.dtype != out.dtype:
        return None
    if not _is_by_channel(right.aval.shape, out.shape, before.axis):
        return None
    return _Step(before.base, before.axis, (*before.steps, (how, right)))


def _is_by_channel(shape: Any, whole: Any, axis: int) -> bool:
    """Returns whether an operand has one element, or one for each channel."""
    if len(shape) != len(whole):
        return len(shape) == 0
    return all(size == 1 or (i == axis and size == whole[i]) for i, size in enumerate(shape))


def _pays(step: _Step) -> bool:
    """Returns whether anything is left out: a sum stays a sum."""
    return any(how in ("mul", "div") for how, _ in step.steps)


def _fold(rewriter: Rewriter, eqn: Eqn, step: _Step) -> None:
    """Writes a product with multiplied weights, and one sum, in place of the last equation of a chain."""
    base, weight = step.base, step.base.invars[1]
    n = eqn.outvars[0].aval.shape[step.axis]
    scale: Any = None
    shift: Any = None
    for how, operand in step.steps:
        factor = rewriter.call(_channels, operand, n=n)
        if how in ("mul", "div"):
            scale = rewriter.call(_FIRST[how], factor) if scale is None else rewriter.call(_NEXT[how], scale, factor)
            shift = shift if shift is None else rewriter.call(_NEXT[how], shift, factor)
        else:
            shift = rewriter.call(_FIRST[how], factor) if shift is None else rewriter.call(_NEXT[how], shift, factor)
    product = rewriter.like(base, [base.invars[0], rewriter.call(_scaled, weight, scale, axis=_channel_axis(base))])
    if shift is not None:
        product = rewriter.call(_shifted, product, shift, axis=step.axis)
    rewriter.replace(eqn.outvars[0], product)


def _channel_axis(base: Eqn) -> int:
    """Returns the axis of the weights that is that of channels."""
    if base.primitive is conv_general_dilated_p:
        return base.params["dimension_numbers"].rhs_spec[0]
    (_, contracted), _ = base.params["dimension_numbers"]
    (axis,) = set(range(base.invars[1].aval.ndim)) - set(contracted)
    return axis


def _same(x: object) -> Any:
    return x


_FIRST: dict[str, Any] = {"mul": _same, "div": lambda x: 1 / x, "add": _same, "sub": lax.neg}
_NEXT: dict[str, Any] = {"mul": lax.mul, "div": lax.div, "add": lax.add, "sub": lax.sub}


def _channels(x: Any, n: int) -> Any:
    return jnp.broadcast_to(jnp.reshape(x, (-1,)), (n,))


def _along(x: Any, ndim: int, axis: int) -> Any:
    return jnp.reshape(x, [-1 if i == axis else 1 for i in range(ndim)])


def _scaled(weight: object, scale: object, axis: int) -> Any:
    return weight * _along(scale, weight.ndim, axis)


def _shifted(product: object, shift: object, axis: int) -> Any:
    return product + _along(shift, product.ndim, axis)
