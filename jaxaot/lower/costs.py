"""How long an equation takes: by the roofline of a device, or measured.

To measure, each equation is compiled and run by itself on made-up operands. Equal equations are measured once.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._jax import close_jaxpr, jaxpr_as_fun, make_jaxpr_object, make_var
from jaxaot.errors import CompilerError
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.roofline import TARGETS, Target, again_picoseconds, eqn_picoseconds, target_in_use
from jaxaot.ir.walk import short_aval, variables
from jaxaot.settings import Config, check_values_of

_MAX_MEASURED = 4096
_REPEATS = 5
_measured: dict[Any, int] = {}


def cost_of(costs: str, on: Target | None = None) -> Callable[[Any], int]:
    """Returns the function from an equation to how long it takes, in picoseconds.

    Args:
      costs: `"roofline"`, the name of a device, or `"measured"`.
      on: The device of the roofline; by default the one in use.

    Raises:
      CompilerError: If it is none of these.
    """
    check_costs(costs)
    if costs == "measured":
        return measured_picoseconds
    return functools.partial(again_picoseconds, target=TARGETS.get(costs) or on or target_in_use())


def check_costs(costs: str) -> None:
    """Raises unless there are such costs.

    Raises:
      CompilerError: If there are none.
    """
    if costs not in ("measured", "roofline", *TARGETS):
        raise CompilerError(
            f"There are no costs {costs!r}. Write `ja.config(costs=…)` with 'roofline' for the device in use, "
            f"'measured', or a device: {', '.join(TARGETS)}."
        )


check_values_of("costs", check_costs)


def cut_options(settings: Config, on: Target | None = None) -> dict[str, Any]:
    """Returns the settings of the partitioner as keyword arguments of `partition` and `trade_offs`.

    Args:
      settings: The settings.
      on: The device that is cut for where they name none; by default the one in use.

    Raises:
      CompilerError: If there are no such costs.
    """
    return {
        "cost": cost_of(settings.costs, on),
        "may_offload": settings.offload,
        "recompute_collectives": settings.recompute_collectives,
        "for_target": TARGETS.get(settings.costs) or on,
    }


def measured_picoseconds(eqn: Any) -> int:
    """Returns how long an equation takes on the device in use, the least of some runs less what a call costs.

    Views and casts take no time, because they are fused; an equation that cannot run by itself, such as one that talks
    to other devices, takes what the roofline says.
    """
    if kind(eqn) <= Kind.CAST:
        return 0
    shapes = tuple(short_aval(atom.aval) for atom in eqn.invars)
    key = (eqn.primitive.name, shapes, str(eqn.params))
    if key not in _measured:
        if len(_measured) >= _MAX_MEASURED:
            _measured.clear()
        _measured[key] = _measure(eqn)
    return _measured[key]


def _measure(eqn: Any) -> int:
    inputs = list(dict.fromkeys(variables(eqn.invars)))
    outputs = [make_var(var.aval) for var in eqn.outvars]
    graph = close_jaxpr(make_jaxpr_object(inputs, outputs, [eqn.replace(outvars=outputs)]))
    try:
        run = jax.jit(jaxpr_as_fun(graph))
        args = [_made_up(var.aval) for var in inputs]
        jax.block_until_ready(run(*args))
        call = min(_seconds(_nothing(), jnp.zeros(())) for _ in range(_REPEATS))
        return max(1, round(1e12 * (min(_seconds(run, *args) for _ in range(_REPEATS)) - call)))
    except Exception:  # whatever an equation taken out of its surroundings may raise
        return eqn_picoseconds(eqn, target_in_use())


def _made_up(aval: Any) -> Any:
    if jnp.issubdtype(aval.dtype, jax.dtypes.prng_key):
        return jax.random.split(jax.random.key(0), aval.size).reshape(aval.shape)
    return jnp.ones(aval.shape, aval.dtype)


@functools.cache
def _nothing() -> Any:
    run = jax.jit(lambda x: x + 1)
    jax.block_until_ready(run(jnp.zeros(())))
    return run


def _seconds(run: Any, *args: Any) -> float:
    start = time.perf_counter()
    jax.block_until_ready(run(*args))
    return time.perf_counter() - start
