"""What forward mode finds without a derivative: it is said when a function is traced, before JAX would say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxaot._typing import ClosedJaxpr, Eqn
from jaxaot.errors import DualTensorError
from jaxaot.facade.gradients.custom_function import jvp_missing
from jaxaot.ir.walk import backward_slice, sub_jaxprs

_PUSHED = "custom_lin"
"""JAX's equation for the tangents of a function that has a backward alone; transposed it is gone."""


def check_forward_mode(closed: ClosedJaxpr) -> None:
    """Raises if a graph needs the tangents of a function that has a backward alone.

    Raises:
      DualTensorError: If it does; it names the function.
    """
    jaxpr = closed.jaxpr
    for position in sorted(backward_slice(jaxpr, jaxpr.outvars)):
        for eqn in _opened(jaxpr.eqns[position]):
            if eqn.primitive.name == _PUSHED:
                name = getattr(eqn.params["bwd"], "__name__", "")
                if name.endswith("Backward"):
                    raise jvp_missing(name.removesuffix("Backward").removesuffix("Generated"))
                raise DualTensorError(
                    f"Forward mode reached a `jax.custom_vjp`, whose backward is `{name}`: it has no tangents. Define "
                    "the function by `jax.custom_jvp`, which serves both modes."
                )


def _opened(eqn: Eqn) -> Iterator[Any]:
    """Yields an equation and those of its bodies."""
    yield eqn
    for jaxpr in sub_jaxprs(eqn):
        for inner in jaxpr.eqns:
            yield from _opened(inner)
