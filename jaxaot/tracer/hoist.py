"""A staged graph whose `lift` equations become its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxaot._jax import Var, close_jaxpr, make_jaxpr_object
from jaxaot._typing import ClosedJaxpr
from jaxaot.errors import TraceError
from jaxaot.facade.tracing import lift_p
from jaxaot.passes.dce import dce


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
