"""Moving residuals to the memory of the host between forward and backward.

The forward returns such a residual in host memory, and the backward moves it back right before its first use. XLA
schedules the copies beside other work where the device can.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax

from jaxaot._jax import make_var
from jaxaot._typing import Atom, Aval, ClosedJaxpr
from jaxaot.ir.rewrite import reading, rebuild, substitute
from jaxaot.ir.walk import variables
from jaxaot.plan.saved import FromForward, is_saved
from jaxaot.plan.stages import Partition


def has_host_memory() -> bool:
    """Returns whether the device in use can keep arrays in the memory of the host."""
    return any(memory.kind == "pinned_host" for memory in jax.devices()[0].addressable_memories())


def offload(partition: Partition, numbers: Sequence[int]) -> Partition:
    """Returns a partition with some of its saved values kept in the memory of the host.

        forward                             forward
          b = tanh a                          b = tanh a
          return b             →              c = device_put[host] b
                                              return c
        backward(b, ct)                     backward(c, ct)
          d = mul b ct                        b = device_put[device] c
                                              d = mul b ct

    Args:
      partition: The partition.
      numbers: Which of its saved values; those that are outputs of the function anyway stay where they are.
    """
    plan = partition.plan
    sources = list(filter(is_saved, plan.residuals))
    moved = {number: source.index for number in numbers if isinstance(source := sources[number], FromForward)}
    if not moved:
        return partition
    places = [i for i, source in enumerate(plan.residuals) if is_saved(source)]
    n_outputs = partition.joint.n_outputs
    forward = _to_host(partition.forward, [n_outputs + index for index in moved.values()])
    backward = _from_host(partition.backward, [places[number] for number in moved])
    saved = [dataclasses.replace(v, is_offloaded=i in moved) for i, v in enumerate(plan.saved)]
    plan = dataclasses.replace(plan, saved=tuple(saved))
    return dataclasses.replace(partition, forward=forward, backward=backward, plan=plan)


def _move(aval: Aval, space: Any) -> Any:
    """Returns the equation that moves a value of some type to a memory space."""
    spec = jax.ShapeDtypeStruct(aval.shape, aval.dtype)
    return jax.make_jaxpr(lambda x: jax.device_put(x, space))(spec).jaxpr.eqns[0]


def _to_host(closed: ClosedJaxpr, places: Sequence[int]) -> Any:
    jaxpr = closed.jaxpr
    eqns, outvars = list(jaxpr.eqns), list(jaxpr.outvars)
    for place in places:
        template = _move(outvars[place].aval, jax.memory.Space.Host)
        there = make_var(template.outvars[0].aval)
        eqns.append(template.replace(invars=[outvars[place]], outvars=[there]))
        outvars[place] = there
    return rebuild(closed, eqns, outvars)


def _from_host(closed: ClosedJaxpr, places: Sequence[int]) -> Any:
    jaxpr = closed.jaxpr
    invars = list(jaxpr.invars)
    on_host = [_move(invars[place].aval, jax.memory.Space.Host).outvars[0].aval for place in places]
    there: dict[Any, Any] = {invars[place]: make_var(aval) for place, aval in zip(places, on_host, strict=True)}
    waiting, here, eqns = dict(there), {}, []

    def fetch(atoms: Sequence[Atom]) -> None:
        for var in [v for v in dict.fromkeys(variables(atoms)) if v in waiting]:
            source = waiting.pop(var)
            template = _move(var.aval, jax.memory.Space.Device)
            here[var] = make_var(var.aval)
            eqns.append(template.replace(invars=[source], outvars=[here[var]]))

    for eqn in jaxpr.eqns:
        fetch(eqn.invars)
        eqns.append(reading(eqn, here))
    fetch(jaxpr.outvars)
    return rebuild(closed, eqns, substitute(jaxpr.outvars, here), [there.get(var, var) for var in invars])
