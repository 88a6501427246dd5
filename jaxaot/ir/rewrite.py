"""Changing a graph, always into a new one.

To *inline* a call is to put the equations of its body in its place, with variables of their own. To *substitute* is to
read other atoms in place of some variables. To *extract* is to make a graph of its own from some equations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jaxaot._jax import (
    ClosedJaxpr,
    DropVar,
    Jaxpr,
    Literal,
    close_jaxpr,
    is_from_jax,
    is_unspecified,
    make_jaxpr_object,
    make_var,
    needs_lowering,
)
from jaxaot._scopes import nest_source
from jaxaot._typing import Atom, Aval, Eqn, Var
from jaxaot._util import OrderedSet
from jaxaot.ir.walk import variables

_CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr"}
CHECKPOINTS = {"remat2", "checkpoint", "remat"}
"""The primitives of `jax.checkpoint`, by version of JAX."""

_CUSTOM_CALLS = {"custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "custom_vjp_call_jaxpr": "fun_jaxpr"}
_CUSTOM_CALLS |= {"rematerialized": "jaxpr", "linear_map": "linear"}


def is_call(eqn: Any) -> bool:
    """Returns whether an equation calls a body, whatever else it says of it."""
    return eqn.primitive.name in _CALLS or eqn.primitive.name in _CUSTOM_CALLS


def called_jaxpr(eqn: Eqn, also_custom: bool = False) -> Any:
    """Returns the ClosedJaxpr that an equation only calls, or `None`.

    A `jit` that says how its values are to be placed on devices, or how it is to be compiled, is no mere call.
    """
    name = eqn.primitive.name
    field = _CALLS.get(name) or (_CUSTOM_CALLS.get(name) if also_custom else None)
    if field is None:
        return None
    shardings = (*eqn.params.get("in_shardings", ()), *eqn.params.get("out_shardings", ()))
    if not all(map(is_unspecified, shardings)) or eqn.params.get("compiler_options_kvs"):
        return None
    layouts = (*(eqn.params.get("in_layouts") or ()), *(eqn.params.get("out_layouts") or ()))
    if any(layout is not None for layout in layouts):
        return None
    body = eqn.params[field]
    body = getattr(body, "called", body)  # of a linear map, which has several graphs
    body = body if hasattr(body, "consts") else close_jaxpr(body)
    return None if needs_lowering(body) else body  # JAX does that where it lowers the call


def inline(
    closed: ClosedJaxpr, also_custom: bool = False, enter_region: Callable[[Any, Any], Any] | None = None
) -> ClosedJaxpr:
    """Returns the graph with the body of every call in place of the call.

        c = jit[{ x → y = sin x; z = mul y y }] a       →       b = sin a
                                                                c = mul b b

    Each equation keeps its source line, and its scopes are put below those of the call. Bodies of control flow and of
    `jax.checkpoint` are left as they are.

    Args:
      closed: A ClosedJaxpr.
      also_custom: Whether to open `custom_jvp` and `custom_vjp` calls too. This forgets their rules, so do it only
        where nothing will be differentiated any more.
      enter_region: If given, bodies of `jax.checkpoint` that were not differentiated yet are opened too. It takes such
        an equation and its source info, and returns the source info under which the body is put.
    """
    constvars, consts = list(closed.jaxpr.constvars), list(closed.consts)
    place_of_const = {id(value): var for var, value in zip(constvars, consts, strict=True)}
    eqns: list[Any] = []

    def constant(var: Var, value: object) -> Any:
        if id(value) not in place_of_const:
            place_of_const[id(value)] = make_var(var.aval)
            constvars.append(place_of_const[id(value)])
            consts.append(value)
        return place_of_const[id(value)]

    def emit(jaxpr: Jaxpr, names: dict[Any, Any], call: Any, keep_traceback: bool) -> list[Any]:
        def read(atom: Atom) -> Any:
            return atom if isinstance(atom, Literal) else names.get(atom, atom)

        for eqn in jaxpr.eqns:
            source = eqn.source_info if call is None else nest_source(eqn, call, keep_traceback)
            body = called_jaxpr(eqn, also_custom)
            if enter_region is not None and eqn.primitive.name in CHECKPOINTS and not eqn.params["differentiated"]:
                body, source = close_jaxpr(eqn.params["jaxpr"]), enter_region(eqn, source)
            if body is not None:
                inner = dict(zip(body.jaxpr.invars, map(read, eqn.invars), strict=True))
                inner |= {
                    var: constant(var, value) for var, value in zip(body.jaxpr.constvars, body.consts, strict=True)
                }
                keep = not (eqn.source_info.traceback is not None and is_from_jax(body.jaxpr)) and keep_traceback
                names.update(zip(eqn.outvars, emit(body.jaxpr, inner, source, keep), strict=True))
                continue
            outvars = eqn.outvars
            if call is not None:
                outvars = [var if isinstance(var, DropVar) else make_var(var.aval) for var in eqn.outvars]
                names.update(zip(eqn.outvars, outvars, strict=True))
            invars = [read(atom) for atom in eqn.invars]
            eqns.append(eqn.replace(invars=invars, outvars=outvars, source_info=source))
        return [read(atom) for atom in jaxpr.outvars]

    outvars = emit(closed.jaxpr, {}, None, True)
    debug_info = closed.jaxpr.debug_info
    return close_jaxpr(make_jaxpr_object(closed.jaxpr.invars, outvars, eqns, constvars, None, debug_info), consts)


def splice(closed: ClosedJaxpr, atoms: Sequence[Atom]) -> tuple[list[Any], list[Any], dict[Any, Any]]:
    """Returns the equations of a graph with new variables, its outputs, and the value of each that is a constant.

    Args:
      closed: A ClosedJaxpr; calls in it are inlined.
      atoms: What its inputs are where its equations go.
    """
    flat = inline(closed)
    constants = {make_var(var.aval): value for var, value in zip(flat.jaxpr.constvars, flat.consts, strict=True)}
    names: dict[Any, Any] = dict(zip(flat.jaxpr.constvars, constants, strict=True))
    names.update(zip(flat.jaxpr.invars, atoms, strict=True))
    eqns = []
    for eqn in flat.jaxpr.eqns:
        outvars = [var if isinstance(var, DropVar) else make_var(var.aval) for var in eqn.outvars]
        names.update(zip(eqn.outvars, outvars, strict=True))
        eqns.append(eqn.replace(invars=substitute(eqn.invars, names), outvars=outvars))
    return eqns, substitute(flat.jaxpr.outvars, names), constants


def substitute(atoms: Sequence[Atom], replacement: Mapping[Any, Any]) -> list[Any]:
    """Returns `atoms` with the variables that have a replacement replaced."""
    if not replacement:
        return list(atoms)
    return [atom if isinstance(atom, Literal) else replacement.get(atom, atom) for atom in atoms]


def reading(eqn: Eqn, replacement: Mapping[Any, Any]) -> Eqn:
    """Returns an equation with the variables that have a replacement replaced in what it reads; itself if none has."""
    if replacement:
        for atom in eqn.invars:
            if not isinstance(atom, Literal) and atom in replacement:
                return eqn.replace(invars=substitute(eqn.invars, replacement))
    return eqn


def with_bodies(eqn: Eqn, change: Callable[[Any], Any]) -> Any:
    """Returns an equation with its bodies changed; itself if none is.

    Args:
      eqn: The equation.
      change: Takes and returns a ClosedJaxpr; the same object if it changes nothing.
    """

    def visit(value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            return change(value)
        if isinstance(value, Jaxpr) and not value.constvars:
            closed = close_jaxpr(value)
            changed = change(closed)
            return value if changed is closed or changed.consts else changed.jaxpr  # which has no place for constants
        if isinstance(value, tuple):
            items = tuple(map(visit, value))
            return value if all(map(operator.is_, items, value)) else items
        return value

    visited = {name: visit(value) for name, value in eqn.params.items()}
    changed = {name: value for name, value in visited.items() if value is not eqn.params[name]}
    return eqn.replace(params={**eqn.params, **changed}) if changed else eqn


def rebuild(
    closed: ClosedJaxpr, eqns: Sequence[Eqn], outvars: Sequence[Atom], invars: Sequence[Var] | None = None
) -> ClosedJaxpr:
    """Returns the graph `closed` with other equations and outputs, and perhaps inputs, without unread constants."""
    kept = list(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    if kept:
        read = {var for eqn in eqns for var in variables(eqn.invars)} | set(variables(outvars))
        kept = [(var, value) for var, value in kept if var in read]
    debug_info = closed.jaxpr.debug_info if invars is None else None  # which names the inputs
    given = closed.jaxpr.invars if invars is None else invars
    jaxpr = make_jaxpr_object(given, outvars, eqns, [v for v, _ in kept], debug_info=debug_info)
    return close_jaxpr(jaxpr, [c for _, c in kept])


def extract(
    eqns: Sequence[Eqn], invars: Sequence[Var], outvars: Sequence[Atom], constants: Mapping[Any, Any] | None = None
) -> ClosedJaxpr:
    """Returns a graph of its own, with new variables, made of some equations in order.

    Args:
      eqns: The equations.
      invars: The variables that become inputs.
      outvars: The atoms that become outputs.
      constants: The value of each variable that is a constant; those that are read become constants of the result.

    Raises:
      KeyError: If an equation reads a variable that is none of these.
    """
    values = constants or {}
    names: dict[Any, Any] = {var: make_var(var.aval) for var in invars}
    used = OrderedSet(
        var
        for atoms in (*(eqn.invars for eqn in eqns), outvars)
        for var in variables(atoms)
        if var in values and var not in names
    )
    names |= {var: make_var(var.aval) for var in used}

    def read(atom: Atom) -> Any:
        return atom if isinstance(atom, Literal) else names[atom]

    copies = []
    for eqn in eqns:
        sources = [read(atom) for atom in eqn.invars]
        targets = [var if isinstance(var, DropVar) else make_var(var.aval) for var in eqn.outvars]
        # A result that is an input too was saved, and only its neighbours are computed again.
        for var, target in zip(eqn.outvars, targets, strict=True):
            names.setdefault(var, target)
        copies.append(eqn.replace(invars=sources, outvars=targets))
    jaxpr = make_jaxpr_object(
        [names[var] for var in invars], [read(atom) for atom in outvars], copies, [names[var] for var in used]
    )
    return close_jaxpr(jaxpr, [values[var] for var in used])


def first_outputs(closed: ClosedJaxpr, n: int) -> ClosedJaxpr:
    """Returns a graph with its first `n` outputs alone."""
    return rebuild(closed, closed.jaxpr.eqns, closed.jaxpr.outvars[:n])


def add_inputs(closed: ClosedJaxpr, avals: Sequence[Aval]) -> ClosedJaxpr:
    """Returns a graph with further inputs of some types, which it does not read."""
    jaxpr = closed.jaxpr
    return rebuild(closed, jaxpr.eqns, jaxpr.outvars, [*jaxpr.invars, *map(make_var, avals)])


def with_input_order(closed: ClosedJaxpr, order: Sequence[int]) -> ClosedJaxpr:
    """Returns a graph whose input `i` is input `order[i]` of the given one."""
    jaxpr = closed.jaxpr
    return rebuild(closed, jaxpr.eqns, jaxpr.outvars, [jaxpr.invars[i] for i in order])


def drop_inputs(closed: ClosedJaxpr, positions: Sequence[int]) -> ClosedJaxpr:
    """Returns a graph without some of its inputs, none of which is used."""
    if not positions:
        return closed
    jaxpr = closed.jaxpr
    dropped = {jaxpr.invars[i] for i in positions}
    assert not any(v in dropped for eqn in jaxpr.eqns for v in variables(eqn.invars)), "a dropped input is used"
    assert not any(v in dropped for v in variables(jaxpr.outvars)), "a dropped input is returned"
    return rebuild(closed, jaxpr.eqns, jaxpr.outvars, [v for v in jaxpr.invars if v not in dropped])
