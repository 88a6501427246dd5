"""The key of a call: all that the guards of its program look at."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from jaxaot import settings as config
from jaxaot._util import signature_of
from jaxaot.facade.gradients.anomaly import is_anomaly_check_nan_enabled
from jaxaot.ir.node_scopes import runs_backward
from jaxaot.lower.cache_key import jax_settings
from jaxaot.plan.difference import CallKey
from jaxaot.plan.stages import Traced
from jaxaot.runtime.recovery import refuse_without_values
from jaxaot.tape.modes import state


def key_for_call(traced: Traced, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallKey:
    """Returns all that the guards of a program for a call look at.

    Raises:
      DeletedArrayError: If an argument was donated or deleted.
      SignatureMismatchError: If an argument is a type without a value.
    """
    parameters, settings = parameter_names(fn), config.get()
    refuse_without_values(traced.call, fn, *traced.in_order(args, kwargs), parameters)
    hooks = state.saved_hooks if traced.needs_backward else None
    has_backward = not traced.break_values and runs_backward(traced.jaxpr.jaxpr)
    watches = is_anomaly_check_nan_enabled() if has_backward else None
    return CallKey(
        traced.call, traced.places, traced.rng, traced.in_tree, settings, jax_settings(), parameters,
        traced.break_values, hooks, watches,
    )  # fmt: skip


def parameter_names(fn: Callable[..., Any], n_most: int = 64) -> tuple[str, ...]:
    """Returns the names of a function's positional parameters; those of `*args` are named by index."""
    signature = signature_of(fn)
    if signature is None:
        return ()
    parameters = signature.parameters.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = [p.name for p in parameters if p.kind is p.VAR_POSITIONAL]
    return (*names, *(f"{name}[{i}]" for name in rest for i in range(n_most)))


def other_forms(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Returns the arguments of the same call, all by position: without those that are defaults, and with all.

    A function sees no difference, unless it takes any number of arguments or is a module, whose hooks do: then there
    are none.
    """
    signature = signature_of(fn) if isinstance(fn, (types.FunctionType, types.MethodType)) else None
    parameters = [] if signature is None else [*signature.parameters.values()]
    if signature is None or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
        return []
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:  # which the call raises too
        return []
    bound.apply_defaults()
    whole = bound.args
    n = len(whole)
    while n and whole[n - 1] is parameters[n - 1].default:
        n -= 1
    return [form for form in (whole[:n], whole) if kwargs or len(form) != len(args)]
