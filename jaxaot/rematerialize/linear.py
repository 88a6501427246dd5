"""Linear maps that know their transpose: a primitive of two graphs.

A *linear map* takes residuals and operands, and is linear in the operands. It goes in two *directions*: from operands
to results, and, transposed, from cotangents of the results to cotangents of the operands; each direction is a graph of
its own. The derivative of a differentiated function is one whose transpose is the backward of its partition.

Every transformation of JAX makes linear maps of linear maps, so what is recomputed stays recomputed in derivatives of
any order, under `vmap`, and in the body of a loop:

- transposing swaps the directions;
- the derivative with respect to residuals is a linear map whose residuals are all that the first one takes;
- mapping over an axis maps both directions.

Graphs are made when they are needed. The forward direction of the derivative of a function is needed in forward mode
only: it is the transpose, by JAX, of the backward.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._jax import (
    Literal,
    MappedAxis,
    Rules,
    close_jaxpr,
    jaxpr_as_fun,
    make_jaxpr_object,
    make_primitive,
    uses_axis,
)
from jaxaot._typing import Atom, Aval, ClosedJaxpr
from jaxaot.errors import ForwardModeError
from jaxaot.ir.rewrite import inline, with_input_order
from jaxaot.ir.schedule import recompute_late
from jaxaot.ir.walk import forward_slice
from jaxaot.passes.dce import dce
from jaxaot.passes.prepare import prepare_backward
from jaxaot.passes.zeros import drop_zeros
from jaxaot.plan.saved import FromPrimal
from jaxaot.plan.stages import Partition


@dataclasses.dataclass(frozen=True, eq=False)
class Direction:
    """One of the two directions in which a linear map goes.

    Attributes:
      make: Makes its graph, from (residuals, operands) to results.
      early: The positions of the inputs that are known before the others, if what is recomputed from them waits for
        the others; None if nothing waits.
      is_linear: Whether the graph is linear in the operands. The backward of a `custom_vjp` may not be.
      saved: The positions of the early inputs that a forward computes; the others were there before.
    """

    make: Callable[[], Any]
    early: Sequence[int] | None
    is_linear: bool = True
    saved: Sequence[int] = ()

    @cached_property
    def graph(self) -> Any:
        """Its graph, a ClosedJaxpr."""
        return self.make()

    @cached_property
    def lowered(self) -> Any:
        """Its graph as it is lowered."""
        if self.early is None:
            return inline(self.graph, also_custom=True)
        order = [*self.early, *(i for i in range(len(self.graph.in_avals)) if i not in set(self.early))]
        place = [order.index(i) for i in range(len(order))]
        ordered, saved = with_input_order(self.graph, order), [place[i] for i in self.saved]
        return with_input_order(prepare_backward(ordered, len(self.early), saved=saved), place)


class LinearMap:
    """A function of residuals and operands, linear in the operands, with its transpose.

    Attributes:
      n_residuals: How many residuals it takes, which come first.
      there: The direction from operands to results.
      back: The direction from cotangents of the results to those of the operands.
      out_avals: The types of the results.
      parts: The partition whose backward one of the two directions is; None if it is of no partition.
    """

    def __init__(
        self,
        n_residuals: int,
        there: Direction,
        back: Direction,
        out_avals: Sequence[Any],
        parts: Partition | None = None,
    ):
        self.n_residuals, self.there, self.back, self.parts = n_residuals, there, back, parts
        self.out_avals = tuple(out_avals)
        self._made: dict[Any, LinearMap] = {}

    def transposed(self, kept: tuple[int, ...], avals: Sequence[Aval]) -> LinearMap:
        """Returns the backward direction as a linear map.

        Args:
          kept: The positions of the results that have a cotangent; the others are zero.
          avals: The types of the operands.
        """

        def make() -> LinearMap:
            n, zeros = self.n_residuals, [i for i in range(len(self.out_avals)) if i not in kept]
            there, back = self.back, self.there
            if zeros:
                there = dataclasses.replace(there, make=lambda: drop_zeros(self.back.graph, [n + i for i in zeros]))
                back = dataclasses.replace(back, make=lambda: with_outputs(self.there.graph, kept))
            return LinearMap(n, there, back, avals, self.parts)

        return self._once(("transposed", kept), make)

    def derivative(self, perturbed: tuple[int, ...], avals: Sequence[Aval]) -> LinearMap:
        """Returns the derivative with respect to some of residuals and operands.

        Args:
          perturbed: The positions of those that have a tangent.
          avals: The types of all residuals and operands, which become its residuals.
        """

        def make() -> LinearMap:
            n = len(avals)
            tangents = [avals[i].strip_weak_type() for i in perturbed]

            def push(*args: object) -> Any:
                values = args[:n]
                moved = lambda *moving: jaxpr_as_fun(self.there.graph)(*with_items(values, perturbed, moving))
                return jax.jvp(moved, tuple(values[i] for i in perturbed), args[n:])[1]

            early = self.there.early
            if early is not None:  # tangents of what is known early are known early
                early = [*early, *(n + i for i, operand in enumerate(perturbed) if operand in early)]
            there = Direction(lambda: _graph_of(push, [*avals, *tangents]), early, saved=self.there.saved)
            return transposable(n, there, tangents, self.out_avals)

        return self._once(("derivative", perturbed, tuple(avals)), make)

    def mapped(
        self, axis: MappedAxis, dims: tuple[int | None, ...], avals: Sequence[Aval]
    ) -> tuple[LinearMap, list[int | None]]:
        """Returns the map over an axis, and where the axis is in each result.

        Args:
          axis: The axis.
          dims: Where it is in each residual and operand; None where it is not.
          avals: The types of residuals and operands with the axis.
        """
        n, n_results = self.n_residuals, len(self.out_avals)
        is_each_operand_mapped = all(dim is not None for dim in dims[n:])
        sources = [i for i, dim in enumerate(dims) if dim is not None]
        batched = range(n_results) if is_each_operand_mapped else depending(self.there.graph, sources, axis.name)
        out_dims = [0 if i in batched else None for i in range(n_results)]

        def pull(*args: object) -> Any:
            cotangents = axis.vmap(jaxpr_as_fun(self.back.graph), (*dims[:n], *[0] * n_results))(*args)
            return [jnp.moveaxis(ct, 0, dim or 0) for ct, dim in zip(cotangents, dims[n:], strict=True)]

        def make() -> LinearMap:
            push = axis.vmap(jaxpr_as_fun(self.there.graph), dims, out_dims)
            there = dataclasses.replace(self.there, make=lambda: _graph_of(push, avals))
            results = there.graph.out_avals
            if not is_each_operand_mapped:  # cotangents are summed over the axis
                return transposable(n, there, avals[n:], results)
            back = dataclasses.replace(self.back, make=lambda: _graph_of(pull, [*avals[:n], *results]))
            return LinearMap(n, there, back, results)

        return self._once(("mapped", axis, dims, tuple(avals)), make), out_dims

    def _once(self, key: Hashable, make: Callable[[], LinearMap]) -> LinearMap:
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = make()
        return found

    @property
    def called(self) -> Any:
        """The graph that is lowered, a ClosedJaxpr: nothing that takes its place is differentiated any more."""
        return self.there.lowered

    def described(self) -> tuple[str, Any]:
        """Returns what it is, and the partition that it belongs to; its graph where nothing was chosen."""
        if self.parts is None:
            return "a derivative of a function under ja.remat", self.there.graph
        return "the partition of a function under ja.remat", self.parts

    def opened(self) -> tuple[str, Any]:
        """Returns what it is, and the graph that it runs, a ClosedJaxpr."""
        is_backward = self.parts is not None and self.there.graph is self.parts.backward
        return f"{'the backward' if is_backward else 'a derivative'} of a function under ja.remat", self.there.graph

    def __call__(self, *args: object) -> list[Any]:
        """Returns the results for some residuals and operands."""
        return list(linear_map_p.bind(*args, linear=self))


def transposable(n_residuals: int, there: Direction, operands: Sequence[Atom], results: Sequence[Any]) -> LinearMap:
    """Returns a linear map whose backward direction is the transpose, by JAX, of its forward direction."""

    def make() -> Any:
        return recompute_late(transpose_graph(there.graph, n_residuals, operands), n_residuals)

    return LinearMap(n_residuals, there, Direction(make, None), results)


def transpose_graph(graph: ClosedJaxpr, n_residuals: int, operands: Sequence[Atom]) -> ClosedJaxpr:
    """Returns the graph from (residuals, cotangents of the results) to cotangents of the operands, made by JAX."""

    def pull(*args: object) -> Any:
        residuals, cotangents = args[:n_residuals], list(args[n_residuals:])
        return jax.linear_transpose(lambda *values: jaxpr_as_fun(graph)(*residuals, *values), *operands)(cotangents)

    return _graph_of(pull, [*graph.in_avals[:n_residuals], *graph.out_avals])


def derivative_of(parts: Partition, operands: Sequence[Atom], results: Sequence[Any], waits: bool = True) -> LinearMap:
    """Returns the derivative of a function as a linear map.

    Args:
      parts: Its partition, whose backward goes from (residuals, cotangents) to gradients.
      operands: The types of the tangents of the inputs.
      results: The types of the tangents of the outputs.
      waits: Whether what the backward recomputes waits for the cotangents.
    """
    backward, n_residuals = parts.backward, len(parts.plan.residuals)

    def make() -> Any:
        try:
            return transpose_graph(backward, n_residuals, results)
        except Exception as error:
            raise ForwardModeError(
                "A function under `ja.remat` cannot be differentiated in forward mode (`jax.jvp`, `jax.jacfwd`): its "
                "backward is not linear in the cotangents, because it uses a `jax.custom_vjp` whose backward is not. "
                f"JAX says: {str(error).splitlines()[0] if str(error) else type(error).__name__}. Use reverse mode, "
                "or give that function a `jax.custom_jvp`."
            ) from error

    saved = [i for i, source in enumerate(parts.plan.residuals) if not isinstance(source, FromPrimal)]
    back = Direction(lambda: backward, range(n_residuals) if waits else None, is_linear=False, saved=saved)
    return LinearMap(n_residuals, Direction(make, None), back, results, parts)


def depending(closed: ClosedJaxpr, inputs: Sequence[int], axis_name: Any = None) -> set[int]:
    """Returns the positions of the outputs that depend on some inputs; all, if the graph names the axis `axis_name`."""
    jaxpr = closed.jaxpr
    if axis_name is not None and uses_axis(jaxpr, axis_name):
        return set(range(len(jaxpr.outvars)))
    sources = {jaxpr.invars[i] for i in inputs}
    moved = sources | {var for i in forward_slice(jaxpr, sources) for var in jaxpr.eqns[i].outvars}
    return {i for i, atom in enumerate(jaxpr.outvars) if not isinstance(atom, Literal) and atom in moved}


def _graph_of(fn: Callable[..., Any], avals: Sequence[Aval]) -> Any:
    return dce(inline(jax.make_jaxpr(fn)(*avals), also_custom=False))


def with_outputs(closed: ClosedJaxpr, kept: Sequence[int]) -> Any:
    """Returns a graph with some of its outputs, and what these need."""
    jaxpr = closed.jaxpr
    outvars = [jaxpr.outvars[i] for i in kept]
    return dce(close_jaxpr(make_jaxpr_object(jaxpr.invars, outvars, jaxpr.eqns, jaxpr.constvars), closed.consts))


def with_items(items: Sequence[Any], places: Sequence[int], new: Sequence[Any]) -> list[Any]:
    """Returns a list with other items at some places."""
    return list((dict(enumerate(items)) | dict(zip(places, new, strict=True))).values())


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], linear: LinearMap) -> Any:
    n = linear.n_residuals
    perturbed = [i for i, t in enumerate(tangents) if t is not None and jnp.issubdtype(t.dtype, jnp.inexact)]
    found: list[Any] = []
    if linear.there.is_linear and any(i >= n for i in perturbed):
        operands = [jnp.zeros_like(x) if t is None else t for x, t in zip(primals[n:], tangents[n:], strict=True)]
        found.append(linear(*primals[:n], *operands))
        perturbed = [i for i in perturbed if i < n]
    if perturbed:
        derivative = linear.derivative(tuple(perturbed), [jax.typeof(x) for x in primals])
        found.append(derivative(*primals, *(tangents[i] for i in perturbed)))
    results = linear(*primals)
    if not found:
        return results, [None] * len(results)
    return results, [parts[0] if len(parts) == 1 else parts[0] + parts[1] for parts in zip(*found, strict=True)]


def _batch(axis: MappedAxis, args: tuple[Any, ...], dims: Sequence[Any], linear: LinearMap) -> Any:
    mapped, out_dims = linear.mapped(axis, tuple(dims), [jax.typeof(x) for x in args])
    return mapped(*args), out_dims


def _transpose(cotangents: Sequence[Any], args: tuple[Any, ...], linear: LinearMap) -> Any:
    n = linear.n_residuals
    kept = tuple(i for i, cotangent in enumerate(cotangents) if cotangent is not None)
    if not kept:
        return [None] * len(args)
    given = [cotangents[i] for i in kept]
    transposed = linear.transposed(kept, linear.back.graph.out_avals)
    results = transposed(*args[:n], *given)
    return [*[None] * n, *(ct if x is None else None for ct, x in zip(results, args[n:], strict=True))]


linear_map_p = make_primitive(
    "linear_map",
    Rules(
        lambda *args, linear: jaxpr_as_fun(linear.there.graph)(*args),
        lambda linear: (linear.out_avals, set()),
        _jvp,
        _batch,
        _transpose,
        lambda linear: linear.there.lowered,
        lower=lambda *args, linear: jaxpr_as_fun(linear.there.lowered)(*args),
    ),
)
