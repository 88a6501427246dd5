"""A staged graph whose `lift` equations become its inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxaot._jax import Var, close_jaxpr, make_jaxpr_object
from jaxaot._typing import ClosedJaxpr
from jaxaot.errors import TraceError
from jaxaot.facade.trace_state import TraceState, lift_p
from jaxaot.ir.rewrite import drop_inputs, with_input_order
from jaxaot.ir.walk import variables
from jaxaot.passes.dce import dce
from jaxaot.plan.cells import ArrayInput, PlacePlan
from jaxaot.plan.paths import Path
from jaxaot.tracer.observe.cells import Places, leaf_input


def hoist(
    closed: ClosedJaxpr, n_lifted: int, order: Sequence[int], constants: Sequence[Any] = (), randoms: Sequence[int] = ()
) -> Any:
    """Returns a staged graph, without what is unused, with new inputs.

    Args:
      closed: The graph.
      n_lifted: Number of its `lift` equations.
      order: Indices of those that become the first inputs.
      constants: Constants that become the next inputs.
      randoms: Indices of the `lift` equations that become the last inputs.

    Raises:
      TraceError: If one of them was made within a nested JAX trace.
    """
    symbols: dict[int, Var] = {}
    eqns = []
    for eqn in closed.jaxpr.eqns:
        if eqn.primitive is lift_p:
            symbols[eqn.params["index"]] = eqn.outvars[0]
        else:
            eqns.append(eqn)
    if len(symbols) < n_lifted:
        raise TraceError(
            "A tensor from outside was first used inside a nested JAX trace (such as the body of `jax.lax.scan`). "
            "Write the loop with `ja.scan`, `ja.while_loop`, `ja.map` or `ja.cond`, which know of tensors, and a "
            "`shard_map` with `ja.distributed.local_map`. Or pass the tensor to that function as an argument, or read "
            "it once before: `w = w + 0`."
        )
    invars = [*closed.jaxpr.invars, *(symbols[k] for k in order), *constants, *(symbols[k] for k in randoms)]
    lifted = set(constants)
    # copies of NumPy arrays: JAX takes one that is alive for what the array holds now
    rest = [
        (v, c.copy() if isinstance(c, np.ndarray) else c)
        for v, c in zip(closed.jaxpr.constvars, closed.consts, strict=True)
        if v not in lifted
    ]
    jaxpr = make_jaxpr_object(invars, closed.jaxpr.outvars, eqns, [v for v, _ in rest])
    return dce(close_jaxpr(jaxpr, [c for _, c in rest]))


def inputs_of(
    trace: TraceState, closed: ClosedJaxpr, order: list[int], randoms: list[int], arrays: list[tuple[Any, Path, Any]],
    places: Places,
) -> tuple[Any, dict[int, int], PlacePlan]:  # fmt: skip
    """Returns the graph, the position of each lifted symbol among its inputs, and what it takes from places.

    Args:
      trace: The trace.
      closed: The staged graph.
      order: Symbols that become inputs, used or not.
      randoms: Symbols that become the last inputs.
      arrays: Constants to which a path leads: variable, path, array. Those that are used become inputs.
      places: Cells and objects. Of their arrays, too, those that are used become inputs.
    """
    of_places = [k for k, o in enumerate(trace.lifted) if o[0] in ("cell", "slot")]
    jaxpr = hoist(closed, len(trace.lifted), [*order, *of_places], [var for var, _, _ in arrays], randoms)
    used = {var for eqn in jaxpr.jaxpr.eqns for var in variables(eqn.invars)} | set(variables(jaxpr.jaxpr.outvars))
    optional = range(len(order), len(jaxpr.jaxpr.invars) - len(randoms))
    unused = [i for i in optional if jaxpr.jaxpr.invars[i] not in used]
    kept = [i for i in optional if i not in set(unused)]
    place_of = {i: n for n, i in enumerate(kept)}  # what stays from call to call comes first
    jaxpr = drop_inputs(jaxpr, unused)
    n, n_kept = len(order), len(kept)
    jaxpr = with_input_order(jaxpr, [*range(n, n + n_kept), *range(n), *range(n + n_kept, len(jaxpr.jaxpr.invars))])
    position = {k: n_kept + i for i, k in enumerate(order)}
    position |= {k: len(jaxpr.jaxpr.invars) - len(randoms) + i for i, k in enumerate(randoms)}
    at = {}
    for i, k in enumerate(of_places):
        if len(order) + i in place_of:
            position[k] = at[trace.lifted[k]] = place_of[len(order) + i]
    inputs = [ArrayInput(path, leaf) for path, leaf in places.slot_inputs(at)]
    for i, (_, path, array) in enumerate(arrays, len(order) + len(of_places)):
        if i in place_of:
            inputs.append(ArrayInput(path, dataclasses.replace(leaf_input(array), graph_input=place_of[i])))
    return jaxpr, position, PlacePlan(cells=places.cell_inputs(at), arrays=tuple(inputs))
