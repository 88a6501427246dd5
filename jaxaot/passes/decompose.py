"""Decomposition: an equation is replaced by others that compute the same, by a table from primitives to functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jaxaot._jax import ClosedJaxpr, close_jaxpr, make_jaxpr_object
from jaxaot._typing import Eqn
from jaxaot.errors import DecompositionError
from jaxaot.ir.build import traced
from jaxaot.ir.rewrite import inline, substitute, with_bodies
from jaxaot.ir.walk import is_rewritable, short_aval


class _DoesNotApply(Exception):
    """A rule leaves an equation as it is."""


Table = Mapping[Any, Callable[..., Any]]
"""Primitives, or their names, with functions that take an equation's operands, and its parameters by name."""


def decompose(closed: ClosedJaxpr, table: Table) -> ClosedJaxpr:
    """Returns the graph with each equation whose primitive is in the table replaced by the equations of its function.

        b = logistic a          →       c = neg a
                                        d = exp c
                                        e = add d 1.0
                                        b = div 1.0 e           (for {"logistic": lambda x, **_: 1 / (1 + exp(-x))})

    Bodies of control flow are decomposed too. What a function computes is not decomposed again, so that it may use the
    primitive itself.

    A function that returns `NotImplemented` leaves the equation as it is.

    Raises:
      DecompositionError: If a function returns something of another type than the equation.
    """
    rules = {getattr(primitive, "name", primitive): rule for primitive, rule in table.items()}
    return _decomposed(inline(closed), rules) if rules else closed


def decompose_some(
    closed: ClosedJaxpr, name: str, applies: Callable[..., bool], rule: Callable[..., Any]
) -> ClosedJaxpr:
    """Returns the graph with some equations of a primitive decomposed; bodies are left as they are.

    Args:
      closed: The ClosedJaxpr.
      name: The name of the primitive.
      applies: Takes types of operands, and parameters, and says whether the equation is decomposed.
      rule: Takes operands and parameters, like the functions of a table.
    """

    def rule_of(eqn: Eqn) -> Any:
        is_asked = eqn.primitive.name == name and is_rewritable(eqn)
        return rule if is_asked and applies(*(atom.aval for atom in eqn.invars), **eqn.params) else None

    if not any(eqn.primitive.name == name for eqn in closed.jaxpr.eqns):
        return closed
    return _with_decomposed_equations(closed, rule_of, lambda body: body)


def _decomposed(closed: ClosedJaxpr, rules: Mapping[str, Callable[..., Any]]) -> Any:
    def inside(body: ClosedJaxpr) -> ClosedJaxpr:
        return _decomposed(inline(body), rules)

    return _with_decomposed_equations(closed, lambda eqn: rules.get(eqn.primitive.name), inside)


def _with_decomposed_equations(
    closed: ClosedJaxpr, rule_of: Callable[[Any], Callable[..., Any] | None], inside: Callable[[Any], Any]
) -> ClosedJaxpr:
    """Returns a graph with the equations that have a rule decomposed, and the bodies of others changed."""
    jaxpr = closed.jaxpr
    constvars, consts = list(jaxpr.constvars), list(closed.consts)
    eqns: list[Any] = []
    names: dict[Any, Any] = {}
    for eqn in jaxpr.eqns:
        invars = substitute(eqn.invars, names)
        rule = rule_of(eqn)
        made = None if rule is None else _made(eqn.replace(invars=invars), rule)
        if made is None:
            eqns.append(with_bodies(eqn.replace(invars=invars), inside))
            continue
        steps, results, constants = made
        constvars += constants
        consts += constants.values()
        eqns += steps
        names.update(zip(eqn.outvars, results, strict=True))
    outvars = substitute(jaxpr.outvars, names)
    return close_jaxpr(make_jaxpr_object(jaxpr.invars, outvars, eqns, constvars), consts)


def _made(eqn: Eqn, rule: Callable[..., Any]) -> tuple[list[Any], list[Any], dict[Any, Any]] | None:
    """Returns the equations of what computes what an equation does; None if the rule does not apply to it."""

    def call(*operands: object) -> list[Any]:
        result = rule(*operands, **eqn.params)
        if result is NotImplemented:
            raise _DoesNotApply
        return list(result) if isinstance(result, (list, tuple)) else [result]

    try:
        steps, results, constants = traced(call, eqn.invars, eqn)
    except _DoesNotApply:
        return None
    if [(a.aval.shape, a.aval.dtype) for a in results] != [(var.aval.shape, var.aval.dtype) for var in eqn.outvars]:
        wanted = ", ".join(short_aval(var.aval) for var in eqn.outvars)
        shown = ", ".join(short_aval(atom.aval) for atom in results)
        raise DecompositionError(
            f"The decomposition of `{eqn.primitive.name}` returns ({shown}) where the equation makes ({wanted}). "
            "Return values of the same number, shapes and dtypes; `jnp.asarray(x, dtype)` converts."
        )
    return steps, results, constants
