"""Equations made by a pass: each takes its source line, scope and context from an equation whose work it does."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.lax import optimization_barrier_p, reshape_p, transpose_p

from jaxaot._jax import ShapedArray, make_var
from jaxaot._scopes import nest_source
from jaxaot._typing import Atom, ClosedJaxpr, Eqn, Var
from jaxaot.ir.rewrite import inline, splice

_COMBINED: dict[Any, tuple[Callable[..., Any], type]] = {
    lax.add_p: (lax.add, np.float32),
    lax.mul_p: (lax.mul, np.float32),
    lax.div_p: (lax.div, np.float32),
    lax.max_p: (lax.max, np.float32),
    lax.min_p: (lax.min, np.float32),
    lax.and_p: (lax.bitwise_and, np.bool_),
    lax.or_p: (lax.bitwise_or, np.bool_),
}
"""For primitives that combine two values, their functions and a type that these take."""


@functools.cache
def params_of_combining(primitive: Any) -> dict[str, Any]:
    """Returns the parameters that a primitive has where it combines two values: versions of JAX differ in them.

    Args:
      primitive: Of a sum, a product, a quotient, or what else a reduction does with two elements.
    """
    fn, dtype = _COMBINED[primitive]
    (eqn,) = jax.make_jaxpr(fn)(*[np.ones((), dtype)] * 2).jaxpr.eqns
    return dict(eqn.params)


def array_var(shape: Sequence[int], like: Atom) -> Var:
    """Returns a new variable for an array of the dtype of an atom."""
    return make_var(ShapedArray(tuple(shape), like.aval.dtype))


def resized_var(shape: Sequence[int], like: Atom) -> Var:
    """Returns a new variable of the type of an atom, but for its shape."""
    return make_var(ShapedArray(tuple(shape), like.aval.dtype, weak_type=like.aval.weak_type))


def reshape(atom: Atom, shape: Sequence[int], eqn: Eqn, target: Var | None = None) -> tuple[list[Any], Any]:
    """Returns equations that reshape a value, none if it has that shape, and the result.

    Args:
      atom: The value.
      shape: The shape of the result.
      eqn: The equation whose place they take.
      target: The variable that becomes the result; it is made if left out.
    """
    if target is None:
        if tuple(shape) == tuple(atom.aval.shape):
            return [], atom
        target = array_var(shape, atom)
    params = {"new_sizes": tuple(shape), "dimensions": None, "sharding": None}
    return [eqn.replace(primitive=reshape_p, params=params, invars=[atom], outvars=[target], effects=set())], target


def transpose(atom: Atom, permutation: Sequence[int], eqn: Eqn, target: Var | None = None) -> tuple[list[Any], Any]:
    """Returns an equation that transposes a value, and the result; the arguments are those of `reshape`."""
    if target is None:
        target = array_var([atom.aval.shape[i] for i in permutation], atom)
    params = {"permutation": tuple(permutation)}
    return [eqn.replace(primitive=transpose_p, params=params, invars=[atom], outvars=[target], effects=set())], target


def swapped(dot: Eqn, target: Var) -> Any:
    """Returns a `dot_general` with its operands swapped, whose result is another variable; `precision` is of each."""
    (contract_left, contract_right), (batch_left, batch_right) = dot.params["dimension_numbers"]
    precision = dot.params["precision"]
    params = {
        **dot.params,
        "dimension_numbers": ((contract_right, contract_left), (batch_right, batch_left)),
        "precision": precision[::-1] if isinstance(precision, tuple) else precision,
    }
    return dot.replace(invars=dot.invars[::-1], outvars=[target], params=params)


def barrier(sources: Sequence[Any], eqn: Eqn) -> tuple[Any, list[Any]]:
    """Returns an equation through which some values pass unchanged and all at once, and the results."""
    targets = [make_var(var.aval) for var in sources]
    made = eqn.replace(
        primitive=optimization_barrier_p, params={}, invars=list(sources), outvars=targets, effects=set()
    )
    return made, targets


def traced(fn: Callable[..., Any], atoms: Sequence[Atom], eqn: Eqn) -> tuple[list[Any], list[Any], dict[Any, Any]]:
    """Returns the equations of a function of some atoms, what it returns, and the value of each that is a constant.

    Args:
      fn: Takes and returns arrays.
      atoms: What it is called with.
      eqn: The equation whose place they take.
    """
    return placed(graph_of(fn, atoms), atoms, eqn)


def graph_of(fn: Callable[..., Any], atoms: Sequence[Atom]) -> ClosedJaxpr:
    """Returns the graph of a function of arrays of the types of some atoms, a ClosedJaxpr."""
    specs = [jax.ShapeDtypeStruct(a.aval.shape, a.aval.dtype, weak_type=a.aval.weak_type) for a in atoms]
    return inline(jax.make_jaxpr(fn)(*specs), also_custom=True)


def placed(graph: ClosedJaxpr, atoms: Sequence[Atom], eqn: Eqn) -> tuple[list[Any], list[Any], dict[Any, Any]]:
    """Returns the same as `traced`, for a function whose graph is known."""
    eqns, results, constants = splice(graph, atoms)
    sources = (nest_source(step, eqn.source_info, keep_traceback=False) for step in eqns)
    return [step.replace(source_info=s) for step, s in zip(eqns, sources, strict=True)], results, constants


class Drafts:
    """Functions whose equations are added in several places: each is traced once for operands of a kind.

    To trace a function takes a millisecond, and each layer of a network needs the same ones.
    """

    def __init__(self) -> None:
        self._graphs: dict[Any, Any] = {}

    def placed(
        self, fn: Callable[..., Any], atoms: Sequence[Atom], eqn: Eqn, **static: Hashable
    ) -> tuple[list[Any], list[Any], dict[Any, Any]]:
        """Returns the same as `traced`.

        Args:
          fn: Takes and returns arrays; the same object each time.
          atoms: What it is called with.
          eqn: The equation whose place they take.
          **static: What else it is called with, hashable.
        """
        key = fn, tuple(static.items()), tuple(atom.aval for atom in atoms)
        if key not in self._graphs:
            self._graphs[key] = graph_of(functools.partial(fn, **static), atoms)
        return placed(self._graphs[key], atoms, eqn)


def laid_out(x: Any, axes: Sequence[int | None]) -> Any:
    """Returns an array with its axes in other places, and axes of one element between them.

    Args:
      x: The array. Its axes that are not named have one element.
      axes: For each axis of the result that of `x`, or None for one of one element.
    """
    order = [axis for axis in axes if axis is not None]
    rest = [axis for axis in range(x.ndim) if axis not in order]
    sizes = [1 if axis is None else x.shape[axis] for axis in axes]
    return jax.lax.reshape(jax.lax.transpose(x, (*order, *rest)), sizes)


def n_elements(shape: Sequence[int]) -> int:
    """Returns how many elements an array of a shape has."""
    return math.prod(shape)
