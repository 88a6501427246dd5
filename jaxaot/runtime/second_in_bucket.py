"""Second derivatives of calls that run in the program of a bucket: these have a program of a bucket too.

With `create_graph` a backward is an operation that is recorded. Its graph takes inputs of the call and cotangents to
gradients. Like the graph of the call it is known at the bucket and at the size beside it, so it is differentiated
there, written at the bucket, and fitted to each size.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, assert_never

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_tracer
from jaxaot._typing import Array, ClosedJaxpr
from jaxaot.facade.kernels.grad_kernels import pull_row
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.ir.rewrite import inline
from jaxaot.joint import build_joint
from jaxaot.lower.size_class import CannotRunError, Graph, Made, fitted, written_beside
from jaxaot.ops.promotion import is_complex, is_inexact
from jaxaot.ops.table import OpSpec
from jaxaot.passes.dce import dce
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal, FromRefill
from jaxaot.plan.stages import JointGraph, Traced
from jaxaot.runtime.backward import CompiledNode
from jaxaot.runtime.bucket_plan import (
    BucketPlan,
    Shared,
    bucket_plan,
    cut_outputs,
    keeping_padding,
    may_be_padded,
    shared_joint,
)
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge

GradientsOf = Callable[[Traced, JointGraph, Sequence[int]], Callable[..., Any]]
"""Takes a trace, its joint graph and some primals to the gradients as a function of these and the cotangents."""


class SecondInBucket:
    """The backward of a call in a bucket as an operation that is recorded.

    Attributes:
      primals: The graph inputs that gradients depend on.
    """

    def __init__(self, traced: Traced, plan: BucketPlan, primals: Sequence[int], gradients_of: GradientsOf):
        """Begins; nothing is made before it is asked for.

        Args:
          traced: The call at its size.
          plan: How it runs in the bucket.
          primals: The graph inputs that gradients depend on.
          gradients_of: Gives the gradients as a function.
        """
        self._traced, self._plan, self.primals, self._gradients_of = traced, plan, tuple(primals), gradients_of

    @functools.cached_property
    def _second(self) -> BucketPlan | None:
        """How the recorded backward runs at the bucket; None if it does not."""
        assert self._plan.partition is not None, "gradients flow"
        shared: Shared = self._plan.fit.made.run
        try:
            if shared.second is None:
                shared.second = self._made(shared)
            here = self._graph(self._traced, self._plan.partition.joint)
        except (CannotRunError, NotImplementedError, TypeError) as error:  # JAX's two: the exact graph then says it
            shared.second = str(error)
        if isinstance(shared.second, str):
            return None
        fit = fitted(shared.second, here)
        return None if isinstance(fit, str) else bucket_plan(fit, here.origin)

    def _graph(self, traced: Traced, joint: JointGraph) -> Graph:
        gradients = self._gradients_of(traced, joint, self.primals)
        inputs = [traced.jaxpr.in_avals[i] for i in self.primals]
        cotangents = [traced.jaxpr.out_avals[k] for k in joint.differentiable_outputs]
        specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in (*inputs, *cotangents)]
        closed: ClosedJaxpr = jax.make_jaxpr(gradients)(*specs)
        trained = [k for k, i in enumerate(self.primals) if i in joint.differentiable_inputs]
        trained += range(len(inputs), len(specs))
        second = build_joint(closed, trained, range(len(closed.out_avals)))
        return Graph(dce(inline(second.jaxpr, also_custom=True)), second)

    def _made(self, shared: Shared) -> Made:
        """Returns the program of the recorded backward at the bucket.

        Raises:
          CannotRunError: If there is none.
        """
        made = self._plan.fit.made
        if made.origins is None or self._traced.alias.refills:
            raise CannotRunError("what it was made of is not known")
        small, large = (self._graph(*origin) for origin in made.origins)

        def run(found: Made, _: str, at_bucket: Graph) -> Shared:
            joint: JointGraph = at_bucket.origin
            n_given = len(found.graph.in_avals) - len(at_bucket.closed.in_avals)
            assert shared.cut is not None, "there are traces"
            parts = shared.cut(shared_joint(found.graph, joint, n_given))
            if parts.plan.packed_between:
                raise CannotRunError("hooks on saved tensors are in force")
            parts = keeping_padding(parts, cut_outputs(found.program, joint.n_outputs))
            return Shared(parts.forward, parts, shared.make, shared.settings, shared.cut)

        written = written_beside(small, large, made.shapes, (), must_succeed=False)
        if not isinstance(written, Made):
            raise CannotRunError(str(written))
        written.compile(run, "backward", large)
        return written

    def record(
        self, held: Sequence[Array], edges: Sequence[Edge | None], cotangents: Sequence[Tensor | None]
    ) -> list[Tensor] | None:
        """Returns the gradients as tensors with a history; None if it cannot run at the bucket.

        Args:
          held: The values of `primals`.
          edges: Where the gradients of each go.
          cotangents: Those of the outputs.
        """
        if state.trace is not None or state.saved_hooks is not None or not may_be_padded():
            return None
        given = [None if ct is None else ct._read() for ct in cotangents]
        if any(map(is_tracer, (*held, *given))) or self._second is None:
            return None
        plan, joint = self._second, self._second.partition.joint  # pyright: ignore[reportOptionalMemberAccess]
        avals = joint.jaxpr.in_avals[len(held) : len(held) + len(given)]
        full = [
            jnp.asarray(np.zeros(aval.shape, aval.dtype)) if value is None else value.astype(aval.dtype)
            for value, aval in zip(given, avals, strict=True)
        ]
        operands, sizes = [*held, *full], plan.fit.given
        results = plan.executable(plan.shared.forward, (), "forward").call(*operands, *sizes)
        assert plan.partition is not None, "gradients flow"
        residuals: list[Any] = []
        for source in plan.partition.plan.residuals:
            match source:
                case FromPrimal(index):
                    residuals.append((*operands, *sizes)[index])
                case FromOutput(index):
                    residuals.append(results[index])
                case FromForward(index):
                    residuals.append(results[joint.n_outputs + index])
                case FromRefill():
                    raise AssertionError("no storage is filled again")
                case _:
                    assert_never(source)
        ends = [*edges, *(None if ct is None or not ct.requires_grad else ct._gradient_edge() for ct in cotangents)]
        reached = [ends[i] for i in joint.differentiable_inputs]
        third = _Third(self._gradients_of(self._traced, self._plan.partition.joint, self.primals), joint, len(operands))  # pyright: ignore[reportOptionalMemberAccess]
        gradients = results[: joint.n_outputs]
        node = CompiledNode(
            reached,
            plan.executable(plan.shared.backward, (), "backward").call,
            [*residuals, *operands],
            [(tuple(g.shape), g.dtype) for g in gradients],
            None,
            second=third,
        )
        tensors = [wrap_array(gradient) for gradient in gradients]
        for i, tensor in enumerate(tensors):
            tensor._storage.is_shared = True
            tensor._history = History(tensor._layout, 0, True, node, i)
        return tensors


class _Third:
    """The derivative of a recorded backward as a function that can be differentiated: of the exact size.

    Attributes:
      extra: Its operands, which the node holds besides.
    """

    in_bucket = None

    def __init__(self, gradients: Callable[..., Any], joint: JointGraph, n_operands: int):
        self._gradients, self._inputs = gradients, joint.differentiable_inputs
        self.extra = tuple(range(n_operands))

    def values(self, held: Sequence[Any]) -> list[Any]:
        """Returns the operands among what a node holds."""
        return list(held[-len(self.extra) :])

    def edges(self, edges: Sequence[Any]) -> list[Any]:
        """Returns for each operand the edge along which its gradients go, or None."""
        of_input = dict(zip(self._inputs, edges, strict=True))
        return [of_input.get(i) for i in self.extra]

    def find_nan(self, operands: Sequence[Any]) -> str:
        """Returns what is known of the place where a NaN came from."""
        return "It is a second derivative of a compiled function, whose equations are not known one by one."

    @functools.cached_property
    def row(self) -> OpSpec:
        """From operands and cotangents to gradients, as an op."""

        def pulled(operands: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
            def of_trained(*trained: Any) -> list[Any]:
                values = list(operands)
                for i, value in zip(self._inputs, trained, strict=True):
                    values[i] = value
                return self._gradients(*values)

            results, pull = jax.vjp(of_trained, *(operands[i] for i in self._inputs))
            given = [
                jnp.zeros(result.shape, result.dtype) if ct is None else ct.astype(result.dtype)
                for ct, result in zip(cotangents, results, strict=True)
            ]
            return list(pull(given))

        return pull_row("CompiledBackward", pulled)


def is_plain(traced: Traced, joint: JointGraph) -> bool:
    """Returns whether all that is differentiated is real, so that both libraries have one convention of gradients."""
    avals = [*traced.jaxpr.in_avals, *traced.jaxpr.out_avals]
    differentiated = (traced.jaxpr.out_avals[k] for k in joint.differentiable_outputs)
    return not any(is_complex(aval.dtype) for aval in avals) and all(is_inexact(a.dtype) for a in differentiated)
