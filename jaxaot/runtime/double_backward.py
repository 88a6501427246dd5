"""Double backward of compiled calls: the values kept for it, and the derivative of the backward.

The backward executable takes residuals, which may be any values that the cut chose. So to differentiate the backward
we differentiate the joint graph, and also keep the graph inputs that its gradients depend on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot._jax import jaxpr_as_fun
from jaxaot.errors import NoDerivativeError
from jaxaot.facade.gradients.anomaly import describe, has_nan
from jaxaot.facade.kernels.grad_kernels import conjugate, pull_row
from jaxaot.facade.memory.source_line import with_source
from jaxaot.ir.reach import outputs_apart, reached_inputs
from jaxaot.ir.rewrite import rebuild
from jaxaot.ir.walk import backward_slice, forward_index, is_backward, source_line, variables
from jaxaot.joint import build_joint
from jaxaot.lower.interpret import Interpreter
from jaxaot.ops.table import OpSpec
from jaxaot.passes.prepare import prepare_backward
from jaxaot.plan.saved import FromPrimal, TapePlan
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.runtime.inner_gradients import InnerGradients, cut_at


def needed_primals(partition: Partition) -> tuple[int, ...]:
    """Returns the graph inputs that gradients depend on."""
    joint = partition.joint
    jaxpr = joint.jaxpr.jaxpr
    gradients = jaxpr.outvars[len(jaxpr.outvars) - joint.n_gradients :]
    read = set(variables(gradients))
    for position in backward_slice(jaxpr, gradients):
        read.update(variables(jaxpr.eqns[position].invars))
    return tuple(i for i in range(joint.n_primals) if jaxpr.invars[i] in read)


def tape_plan(traced: Traced, partition: Partition) -> TapePlan:
    """Returns what the node of a call needs to know of the equations of its graphs."""
    differentiable, apart = traced.alias.differentiable, None
    if len(differentiable) > 1:
        reached = reached_inputs(traced.jaxpr)
        apart = outputs_apart([reached[k] for k in differentiable], partition.joint.differentiable_inputs)
    return TapePlan(needed_primals(partition), apart)


def gradients_function(traced: Traced, joint: JointGraph, primals: Sequence[int]) -> Callable[..., list[Any]]:
    """Returns the gradients of a call as a function that JAX can differentiate: of some primals and the cotangents.

    Args:
      traced: The traced function.
      joint: Its joint graph.
      primals: The graph inputs that gradients depend on and that are passed.
    """
    refills = [""] * joint.n_refills
    built = build_joint(traced.jaxpr, joint.differentiable_inputs, joint.differentiable_outputs, refill_names=refills)
    flat = built.jaxpr.jaxpr
    gradients = flat.outvars[len(flat.outvars) - built.n_gradients :]
    eqns = [flat.eqns[i] for i in sorted(backward_slice(flat, gradients))]
    evaluate, avals = jaxpr_as_fun(rebuild(built.jaxpr, eqns, gradients)), built.jaxpr.in_avals[: built.n_primals]

    def gradients_of(*given: Any) -> list[Any]:
        held = dict(zip(primals, given, strict=False))
        others = ((i, jnp.zeros(aval.shape, aval.dtype)) for i, aval in enumerate(avals) if i not in held)
        inputs = held | dict(others)
        return list(evaluate(*(inputs[i] for i in range(len(avals))), *given[len(primals) :]))

    return gradients_of


class DoubleBackward:
    """The backward of a compiled call as a function that can be differentiated.

    Attributes:
      primals: The graph inputs that gradients depend on.
      extra: Those of them that are no residuals, and are held besides.
      in_bucket: The same at the bucket in which the call runs; None if it runs in none.
    """

    in_bucket: Any = None

    def __init__(
        self,
        traced: Traced,
        whole: Callable[[], Partition | None],
        partition: Partition,
        plan: TapePlan,
        absent: Sequence[int],
        gradients: Callable[..., Any] | None = None,
    ):
        """Notes what is needed; the graph is only made when it is asked for.

        Args:
          traced: The traced function.
          whole: Returns its forward and backward with their equations.
          partition: The same, perhaps without equations.
          plan: What is known of their equations.
          absent: Graph inputs that are never passed.
          gradients: Takes `primals` and cotangents to gradients, if the graph is not there to make it of.
        """
        self._gradients = gradients
        self._led: frozenset[int] | None = None
        self._inner: dict[frozenset[int], InnerGradients] = {}
        self._traced = traced
        self._partition, self._whole = partition, whole
        self._absent = tuple(absent)
        self._is_differentiable = plan.is_differentiable
        self.primals = tuple(i for i in plan.primals if i not in absent)
        passed = [s for s in partition.plan.residuals if not (isinstance(s, FromPrimal) and s.index in absent)]
        self._places = {s.index: place for place, s in enumerate(passed) if isinstance(s, FromPrimal)}
        self.extra = tuple(i for i in self.primals if i not in self._places)
        self._places |= {i: len(passed) + k for k, i in enumerate(self.extra)}

    def values(self, held: Sequence[Any]) -> list[Any]:
        """Returns the values of `primals` among what a node holds."""
        return [held[self._places[i]] for i in self.primals]

    def edges(self, edges: Sequence[Any]) -> list[Any]:
        """Returns, for each of `primals`, the edge of a node along which its gradients go, or None."""
        of_input = dict(zip(self._partition.joint.differentiable_inputs, edges, strict=True))
        return [of_input.get(i) for i in self.primals]

    @functools.cached_property
    def row(self) -> OpSpec:
        """From `primals` and cotangents to gradients, as an op.

        Raises:
          NoDerivativeError: If the graphs are those of an archive, which has none of second derivatives.
        """
        if not self._is_differentiable:
            raise NoDerivativeError(
                "The function comes from an archive, which holds its backward and no derivative of it. Export it with "
                "one, `ja.export(fn, *args, with_gradients=2)`, where its sizes do not change; or compute second "
                "derivatives inside of it, by `ja.autograd.grad(..., create_graph=True)`."
            )
        evaluate = self._gradients
        if evaluate is None:
            evaluate = gradients_function(self._traced, self._partition.joint, self.primals)
        joint, out_avals = self._partition.joint, self._traced.jaxpr.out_avals
        avals = [out_avals[k] for k in joint.differentiable_outputs]

        def gradients_of(held: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
            given = [
                jnp.zeros(aval.shape, aval.dtype) if value is None else conjugate(value.astype(aval.dtype))
                for value, aval in zip(cotangents, avals, strict=True)
            ]
            return [conjugate(gradient) for gradient in evaluate(*held, *given)]

        return pull_row("CompiledBackward", gradients_of)

    def inner(self, looked_at: frozenset[int]) -> InnerGradients | None:
        """Returns the backward that goes through those outputs that others are computed from; None without such ones.

        Args:
          looked_at: Outputs, among those that have cotangents.
        """
        joint = self._partition.joint
        if not self._is_differentiable or self._gradients is not None or len(joint.differentiable_outputs) < 2:
            return None
        if self._led is None:
            every = cut_at(self._traced.jaxpr, joint.differentiable_outputs, range(len(joint.differentiable_outputs)))
            self._led = frozenset(place for place, outputs in zip(*every[1:], strict=True) if outputs)
        chosen = looked_at & self._led
        if chosen and chosen not in self._inner:
            self._inner[chosen] = InnerGradients(self._traced.jaxpr, joint, self.primals, sorted(chosen))
        return self._inner.get(chosen)

    def find_nan(self, operands: Sequence[Any]) -> str:
        """Returns which equation of the backward is the first that gives a NaN, and whose derivative it is.

        Args:
          operands: Of the backward executable.
        """
        if not self._is_differentiable:
            return "The compiled backward comes from an archive, which does not hold its equations."
        whole = self._whole()
        assert whole is not None, "gradients flow"
        joint, found = whole.joint, []

        def look(eqn: Any, _: list[Any], results: list[Any]) -> None:
            if not found and any(map(has_nan, results)):
                found.append((eqn, results))

        Interpreter(self._finished(), name="backward", observe=look).call(*operands)
        if not found:
            return "Run one equation at a time, the compiled backward gives no NaN."
        eqn, results = found[0]
        index = forward_index(eqn)
        origins = [e for e in joint.jaxpr.jaxpr.eqns if index is not None and forward_index(e) == index]
        named = next((e.primitive.name for e in origins if not is_backward(e)), eqn.primitive.name)
        place = source_line(eqn, full_path=True)
        return (
            f"The first equation of the compiled backward that gives a NaN is `{eqn.primitive.name}`: it computes "
            f"{', '.join(map(describe, results))}. It belongs to the forward's `{named}` (equation {index}), made at"
            f"\n\n    {'an unknown line' if place is None else with_source(place)}"
        )

    def _finished(self) -> Any:
        """Returns the backward that runs, as a graph."""
        residuals = self._partition.plan.residuals
        dropped = [i for i, s in enumerate(residuals) if isinstance(s, FromPrimal) and s.index in self._absent]
        whole = self._whole()
        assert whole is not None, "gradients flow"
        return prepare_backward(whole.backward, len(residuals), dropped)
