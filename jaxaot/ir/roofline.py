"""How long an equation takes on a device: as long as its arithmetic or its memory traffic, whichever takes longer.

See Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model" (2009). The figures of devices
are those of their data sheets, for dense matrix units; what is reached in practice is less, by about the same share for
all equations, so that comparisons hold. Times are in picoseconds, as Python integers.
"""

from __future__ import annotations

import dataclasses
import math

import jax
import numpy as np

from jaxaot._typing import Aval, DTypeLike, Eqn
from jaxaot.ir.cost import eqn_bytes, eqn_flops
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import called_jaxpr
from jaxaot.ir.walk import aval_bytes, sub_jaxprs


@dataclasses.dataclass(frozen=True)
class Target:
    """What a device can do.

    Attributes:
      name: What it goes by.
      flops: FLOP/s of matrix products of 32-bit floats.
      half_flops: FLOP/s of those of 16-bit floats.
      vector_flops: FLOP/s of everything else.
      bandwidth: Bytes/s of its memory.
      host_bandwidth: Bytes/s between its memory and the host's.
      memory: Bytes of its memory, or None if it is the host's own.
    """

    name: str
    flops: float
    half_flops: float
    vector_flops: float
    bandwidth: float
    host_bandwidth: float
    memory: int | None = None


_GIB = 2**30

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("cpu", 1e11, 1e11, 2e10, 2e10, 1e10),
        Target("a100", 1.56e14, 3.12e14, 1.95e13, 2.0e12, 3.2e10, 80 * _GIB),
        Target("h100", 4.94e14, 9.89e14, 6.7e13, 3.35e12, 6.4e10, 80 * _GIB),
        Target("h200", 4.94e14, 9.89e14, 6.7e13, 4.8e12, 6.4e10, 141 * _GIB),
        Target("v4", 6.9e13, 2.75e14, 4.3e12, 1.23e12, 3.2e10, 32 * _GIB),
        Target("v5e", 4.9e13, 1.97e14, 3.1e12, 8.2e11, 3.2e10, 16 * _GIB),
        Target("v5p", 1.15e14, 4.59e14, 7.2e12, 2.77e12, 3.2e10, 95 * _GIB),
        Target("v6e", 2.3e14, 9.18e14, 1.4e13, 1.64e12, 3.2e10, 32 * _GIB),
        Target("tpu7x", 5.77e14, 2.307e15, 3.6e13, 7.38e12, 6.4e10, 192 * _GIB),
    )
}
"""Devices by name. The CPU is a core or two of a server; the ratio of its figures is what matters."""

_OF_DEVICE_KIND = (
    ("h200", "h200"), ("h100", "h100"), ("a100", "a100"), ("tpu v4", "v4"), ("tpu v5 lite", "v5e"), ("tpu v5e", "v5e"),
    ("tpu v5p", "v5p"), ("tpu v5", "v5p"), ("tpu v6", "v6e"), ("tpu7x", "tpu7x"), ("tpu v7", "tpu7x"),
)  # fmt: skip


def target_of(platform: str, device_kind: str) -> Target:
    """Returns the target of a device: the one its kind names, or a usual one of its platform."""
    text = device_kind.lower()
    for part, name in _OF_DEVICE_KIND:
        if part in text:
            return TARGETS[name]
    return TARGETS[{"gpu": "a100", "cuda": "a100", "rocm": "a100", "tpu": "v5e"}.get(platform, "cpu")]


def target_in_use() -> Target:
    """Returns the target that the default device is."""
    device = jax.devices()[0]
    return target_of(device.platform, device.device_kind)


def eqn_picoseconds(eqn: Eqn, target: Target) -> int:
    """Returns how long an equation takes on a target; views and casts, which are read in place, take no time.

    A loop takes as long as its body, as often as it runs; a `while` runs once, and of a `cond` the branch that takes
    longest.
    """
    which = kind(eqn)
    if which <= Kind.CAST:
        return 0
    bodies = [sum(eqn_picoseconds(inner, target) for inner in body.eqns) for body in sub_jaxprs(eqn)]
    is_jit = eqn.primitive.name in ("jit", "pjit")
    if bodies and (is_jit or which is Kind.CONTROL or called_jaxpr(eqn, also_custom=True) is not None):
        once = max(bodies) if eqn.primitive.name == "cond" else sum(bodies)
        return max(1, eqn.params.get("length", 1) * once)
    matrix = which in (Kind.MATMUL, Kind.CONVOLUTION) or which >= Kind.CONTROL
    rate = target.vector_flops
    if matrix:
        dtypes = [getattr(atom.aval, "dtype", None) for atom in eqn.invars]
        is_half = any(d is not None and np.dtype(d).itemsize <= 2 for d in dtypes if _is_float(d))
        rate = target.half_flops if is_half else target.flops
    seconds = max(eqn_flops(eqn) / rate, eqn_bytes(eqn) / target.bandwidth)
    return max(1, math.ceil(seconds * 1e12))


def offload_picoseconds(aval: Aval, target: Target) -> int:
    """Returns how long it takes to move a value to the host and back."""
    return max(1, math.ceil(2 * aval_bytes(aval) / target.host_bandwidth * 1e12))


def _is_float(dtype: DTypeLike | None) -> bool:
    try:
        return np.issubdtype(np.dtype(dtype), np.floating) or np.dtype(dtype).name.startswith(("bfloat", "float8"))
    except TypeError:  # a key
        return False
