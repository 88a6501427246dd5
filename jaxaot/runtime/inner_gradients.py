"""Gradients of outputs of a compiled call that other outputs of it were computed from.

    logits, features = step(x)
    features.register_hook(keep)        # or `features.retain_grad()`, `ja.autograd.grad(logits.sum(), features)`
    logits.sum().backward()

The call is one node of the tape, and its executable goes from the cotangents of all outputs to gradients of inputs.
Where somebody looks at such an output, the graph is cut there: in all that follows, its value becomes an input.

    x → features → logits       becomes       x → features,   (x, features') → logits

The gradient of `features'` is what flows inside of the call. With the cotangent from outside it is what hooks see, and
what they let through is the cotangent of `features`. The graphs are those of the joint graph, computed from the inputs
that a node holds for derivatives of its backward: so calls that nobody looks into cost nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxaot._jax import jaxpr_as_fun, make_var
from jaxaot._typing import ClosedJaxpr, Jaxpr
from jaxaot.facade.deferred.stretch import values_of
from jaxaot.facade.kernels.grad_kernels import conjugate, pull_row
from jaxaot.facade.kernels.view_gradients import read_through
from jaxaot.facade.nodes.vjps import cut_by, pull_by, storage_edge
from jaxaot.ir.reach import reached_inputs, without_unreached
from jaxaot.ir.rewrite import reading, rebuild
from jaxaot.ir.walk import backward_slice, equation_key
from jaxaot.joint import build_joint
from jaxaot.plan.stages import JointGraph
from jaxaot.tape.node import Edge
from jaxaot.views.window import find_window


class Cut(NamedTuple):
    """A graph with the values of some outputs as further inputs.

    Attributes:
      graph: The graph.
      places: The outputs, the one that is computed last first; the inputs stand in the same order.
      followers: For each of them the outputs that are computed from it.
    """

    graph: ClosedJaxpr
    places: tuple[int, ...]
    followers: tuple[frozenset[int], ...]


_VIEWS = {"reshape", "squeeze", "transpose", "slice", "expand_dims", "broadcast_in_dim", "rev"}
"""How views are read: a view that is read several times is several equations."""


def _is_view(jaxpr: Jaxpr, position: int) -> bool:
    return jaxpr.eqns[position].primitive.name in _VIEWS


def cut_at(graph: ClosedJaxpr, outputs: Sequence[int], chosen: Sequence[int]) -> Cut:
    """Returns a graph cut at some of its outputs.

    { a → b = sin a; c = mul b 2; return b c }   at b   →   { a d → b = sin a; c = mul d 2; return b c }

    Args:
      graph: The graph.
      outputs: Positions of those outputs that have cotangents.
      chosen: Which of these: positions among `outputs`.
    """
    jaxpr = graph.jaxpr
    made: dict[Any, int] = {var: i for i, eqn in enumerate(jaxpr.eqns) for var in eqn.outvars}
    of_output = {i: jaxpr.outvars[outputs[i]] for i in chosen}
    places = sorted((i for i, var in of_output.items() if var in made), key=lambda i: made[of_output[i]], reverse=True)
    given = {of_output[i]: make_var(of_output[i].aval) for i in places}
    read_again = {
        equation_key(jaxpr.eqns[made[var]]): value for var, value in given.items() if _is_view(jaxpr, made[var])
    }
    for eqn in jaxpr.eqns if read_again else ():
        if eqn.primitive.name in _VIEWS and (key := equation_key(eqn)) in read_again:
            given[eqn.outvars[0]] = read_again[key]
    eqns = [reading(eqn, given) for eqn in jaxpr.eqns]
    cut = rebuild(graph, eqns, jaxpr.outvars, [*jaxpr.invars, *(given[of_output[i]] for i in places)])
    reached, n = reached_inputs(cut), len(jaxpr.invars)
    reach = lambda k: frozenset(i for i, output in enumerate(outputs) if n + k in reached[output])
    return Cut(cut, tuple(places), tuple(map(reach, range(len(places)))))


class InnerGradients:
    """The backward of a call of which some outputs are looked at.

    Attributes:
      places: These outputs, the one that was computed last first.
    """

    def __init__(self, graph: ClosedJaxpr, joint: JointGraph, primals: Sequence[int], chosen: Sequence[int]):
        """Cuts the graph of a call.

        Args:
          graph: The call's.
          joint: Its joint graph.
          primals: The graph inputs that gradients depend on, which nodes hold.
          chosen: The outputs, among those that have cotangents.
        """
        outputs, n = joint.differentiable_outputs, len(graph.in_avals)
        cut = cut_at(graph, outputs, chosen)
        self.places, self._followers = cut.places, cut.followers
        inputs = (*joint.differentiable_inputs, *range(n, n + len(cut.places)))
        self._joint = build_joint(cut.graph, inputs, outputs, refill_names=[""] * joint.n_refills).jaxpr
        self._n_inputs, self._primals, self._graph = len(inputs), primals, graph
        self._values = [graph.jaxpr.outvars[outputs[i]] for i in cut.places]
        self._avals = [graph.out_avals[k] for k in outputs]

    @functools.cached_property
    def outer(self) -> _Pull:
        """Takes cotangents, those of the outputs that are looked at whole, to the gradients of the call."""
        return _Pull(self._function(slice(0, self._n_inputs - len(self.places))))

    @functools.cached_property
    def inner(self) -> list[_Pull]:
        """For each of `places` what takes cotangents to the gradient that flows to it inside of the call."""
        first = self._n_inputs - len(self.places)
        return [_Pull(self._function(slice(first + k, first + k + 1))) for k in range(len(self.places))]

    def flows(self, number: int, cotangents: Sequence[Any]) -> bool:
        """Returns whether some cotangent flows to the output of that number among `places`."""
        return any(cotangents[i] is not None for i in self._followers[number])

    @functools.cached_property
    def values(self) -> Callable[..., list[Any]]:
        """Takes what a node holds to the values of `places`."""
        evaluate = jaxpr_as_fun(rebuild(self._graph, _needed(self._graph.jaxpr, self._values), self._values))
        return jax.jit(lambda held: evaluate(*self._all_primals(held)))

    def _all_primals(self, held: Sequence[Any]) -> list[Any]:
        present = dict(zip(self._primals, held, strict=True))
        avals = enumerate(self._graph.in_avals)
        return [present[i] if i in present else jnp.zeros(aval.shape, aval.dtype) for i, aval in avals]

    def _function(self, chosen: slice) -> Callable[..., list[Any]]:
        """Returns some of the gradients as a function of held values, then those of `places`, and of cotangents."""
        flat, n = self._joint.jaxpr, len(self._primals)
        targets = flat.outvars[len(flat.outvars) - self._n_inputs :][chosen]
        pull = jaxpr_as_fun(rebuild(self._joint, _needed(flat, targets), targets))

        def gradients_of(held: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
            given = [
                jnp.zeros(aval.shape, aval.dtype) if value is None else conjugate(value.astype(aval.dtype))
                for value, aval in zip(cotangents, self._avals, strict=True)
            ]
            return [conjugate(gradient) for gradient in pull(*self._all_primals(held[:n]), *held[n:], *given)]

        return gradients_of


def _needed(jaxpr: Any, targets: Sequence[Any]) -> list[Any]:
    return [jaxpr.eqns[i] for i in sorted(backward_slice(jaxpr, targets))]


class _Pull:
    """Takes what a node holds, and cotangents, to gradients: of arrays as a program, of tensors as an op."""

    def __init__(self, fn: Callable[..., list[Any]]):
        self._run, self._row = jax.jit(fn), pull_row("CompiledBackward", fn)

    def __call__(self, inside: InnerPass, cotangents: Sequence[Any]) -> Sequence[Any]:
        if not inside.create_graph:
            return self._run(inside.held, values_of(cotangents))
        return pull_by(self._row, inside.held, inside.edges(), cotangents)


class InnerPass:
    """A backward of one node that has such outputs."""

    def __init__(self, node: Any, graphs: InnerGradients, create_graph: bool):
        """Begins."""
        self._node, self._graphs, self.create_graph = node, graphs, create_graph
        self.places = graphs.places
        held = node.second.values(node.residuals_for_second())
        self.held = [*held, *graphs.values(held)]

    def edges(self) -> list[Edge | None]:
        """Returns where the gradients of `held` go, of outputs to where hooks see them."""
        node = self._node
        bases = node.bases or [None] * len(node.edges)
        edges = [storage_edge(edge, base) for edge, base in zip(node.edges, bases, strict=True)]
        return [*node.second.edges(edges), *(Edge(node, index) for index in self.places)]

    def flowing(self, number: int, cotangents: Sequence[Any]) -> Any:
        """Returns the gradient that flows inside of the call to an output; None if none does."""
        if not self._graphs.flows(number, cotangents):
            return None
        return self._graphs.inner[number](self, cotangents)[0]

    def gradients(self, cotangents: Sequence[Any]) -> Sequence[Any]:
        """Returns the gradients of the node for the cotangents that hooks let through."""
        node, gradients = self._node, self._graphs.outer(self, cotangents)
        if node.bases is not None:
            cut = cut_by if self.create_graph else _cut_array
            gradients = [cut(gradient, base) for gradient, base in zip(gradients, node.bases, strict=True)]
        return without_unreached(gradients, cotangents, node.apart)


def _cut_array(gradient: Any, base: Any) -> Any:
    return gradient if base is None else read_through(gradient, *find_window(*base))
