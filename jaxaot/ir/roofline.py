"""How long an equation takes on a device: as long as its arithmetic or its memory traffic, whichever takes longer.

See Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model" (2009). The figures of devices
are those of their data sheets, for dense matrix units; what is reached in practice is less, by about the same share for
all equations, so that comparisons hold. Times are in picoseconds, as Python integers.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import jax
import numpy as np

from jaxaot._immutable import immutable
from jaxaot._typing import Aval, DTypeLike, Eqn
from jaxaot.errors import ArgumentError
from jaxaot.ir.cost import eqn_bytes, eqn_flops
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.rewrite import called_jaxpr
from jaxaot.ir.walk import aval_bytes, sub_jaxprs


def _by_width(narrow: float, double: float | None = None) -> dict[str, float]:
    """Returns peaks of 8-bit dtypes, and of float64 where there are units for it."""
    found = dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "int8"), narrow)
    return found | ({} if double is None else {"float64": double})


@immutable
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
      peaks: FLOP/s of matrix products of further dtypes, by name, such as `{"int8": 3.9e14}`.
      has_tiles: Whether arrays lie in its memory in tiles of 8 x 128 elements, as on TPUs, and are padded to them.
      on_chip: Bytes of the memory on the chip that its compiler places arrays in; 0 if it places none there.
    """

    name: str
    flops: float
    half_flops: float
    vector_flops: float
    bandwidth: float
    host_bandwidth: float = 3.2e10
    memory: int | None = None
    peaks: Mapping[str, float] = dataclasses.field(default_factory=dict, hash=False)
    has_tiles: bool = False
    on_chip: int = 0

    def __post_init__(self) -> None:
        rates = {
            "flops": self.flops, "half_flops": self.half_flops, "vector_flops": self.vector_flops,
            "bandwidth": self.bandwidth, "host_bandwidth": self.host_bandwidth, **self.peaks,
        }  # fmt: skip
        is_rate = lambda rate: isinstance(rate, int | float) and type(rate) is not bool and 0 < rate < math.inf
        wrong = [f"{name}={rate!r}" for name, rate in rates.items() if not is_rate(rate)]
        if wrong:
            raise ArgumentError(
                f"The target {self.name!r} has {', '.join(wrong)}: a rate is a number above zero, in FLOP/s or "
                "bytes/s, such as `flops=4.9e13`."
            )

    def matrix_flops(self, dtype: np.dtype) -> float:
        """Returns the FLOP/s of matrix products of a dtype: of few bits as those of 16 bits, if nothing is said."""
        return self.peaks.get(dtype.name, self.half_flops if dtype.itemsize <= 2 else self.flops)


_MIB, _GIB = 2**20, 2**30

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("cpu", 1e11, 1e11, 2e10, 2e10, 1e10),
        Target("a100", 1.56e14, 3.12e14, 1.95e13, 2.0e12, 3.2e10, 80 * _GIB, {"int8": 6.24e14, "float64": 1.95e13}),
        Target("h100", 4.94e14, 9.89e14, 6.7e13, 3.35e12, 6.4e10, 80 * _GIB, _by_width(1.979e15, 6.7e13)),
        Target("h200", 4.94e14, 9.89e14, 6.7e13, 4.8e12, 6.4e10, 141 * _GIB, _by_width(1.979e15, 6.7e13)),
        Target("v4", 6.9e13, 2.75e14, 4.3e12, 1.23e12, 3.2e10, 32 * _GIB, has_tiles=True),
        Target("v5e", 4.9e13, 1.97e14, 3.1e12, 8.2e11, 3.2e10, 16 * _GIB, {"int8": 3.94e14}, True, 128 * _MIB),
        Target("v5p", 1.15e14, 4.59e14, 7.2e12, 2.77e12, 3.2e10, 95 * _GIB, {"int8": 9.18e14}, has_tiles=True),
        Target("v6e", 2.3e14, 9.18e14, 1.4e13, 1.64e12, 3.2e10, 32 * _GIB, {"int8": 1.836e15}, has_tiles=True),
        Target("tpu7x", 5.77e14, 2.307e15, 3.6e13, 7.38e12, 6.4e10, 192 * _GIB, _by_width(4.614e15), has_tiles=True),
    )
}
"""Devices by name, with the figures of these pages:

- NVIDIA, "A100 Tensor Core GPU" and "H100 Tensor Core GPU" and "H200 Tensor Core GPU", data sheets, SXM, without
  sparsity; 32-bit products in TF32, the unit that JAX uses for them by default.
- Google Cloud, "TPU v4", "TPU v5e", "TPU v5p", "TPU v6e", "TPU7x", system architecture, of one chip. Products of 32-bit
  floats are three or more passes in bfloat16; a quarter is taken. Nothing is published on the vector units: a 64th.

The CPU is a core or two of a server; the ratio of its figures is what matters.
"""

_OF_DEVICE_KIND = (
    ("h200", "h200"), ("h100", "h100"), ("a100", "a100"), ("tpu v4", "v4"), ("tpu v5 lite", "v5e"), ("tpu v5e", "v5e"),
    ("tpu v5p", "v5p"), ("tpu v5", "v5p"), ("tpu v6", "v6e"), ("tpu7x", "tpu7x"), ("tpu v7", "tpu7x"),
)  # fmt: skip


def find_target(target: str | Target | None) -> Target:
    """Returns a target by its name; the device in use if it is None.

    Raises:
      ArgumentError: If there is none of that name.
    """
    if isinstance(target, Target):
        return target
    if target is None:
        return target_in_use()
    if not isinstance(target, str) or target not in TARGETS:
        raise ArgumentError(
            f"There is no target {target!r}. The targets are {', '.join(TARGETS)}; for another device write "
            "`ja.estimate.Target('mine', flops=…, half_flops=…, vector_flops=…, bandwidth=…, memory=…)`."
        )
    return TARGETS[target]


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


_assumed: ContextVar[Target | None] = ContextVar("assumed", default=None)


@contextlib.contextmanager
def assuming(target: Target) -> Iterator[None]:
    """Has what is estimated in it be estimated for a target that need not be there."""
    token = _assumed.set(target)
    try:
        yield
    finally:
        _assumed.reset(token)


def target_assumed() -> Target | None:
    """Returns the target that is assumed, if one is."""
    return _assumed.get()


def target_now() -> Target:
    """Returns the target that is estimated for: the one assumed, or the default device."""
    return _assumed.get() or target_in_use()


def again_picoseconds(eqn: Eqn, target: Target) -> int:
    """Returns how long an equation takes that the backward computes again.

    On TPU and GPU compilers put pointwise equations and reductions into the kernels of the products around them. So all
    of these count by their arithmetic alone, at the rate of products: little of what they read was written before.
    """
    return eqn_picoseconds(eqn, target, is_fused=target.name != "cpu")


def eqn_picoseconds(eqn: Eqn, target: Target, is_fused: bool = False) -> int:
    """Returns how long an equation takes on a target; views and casts, which are read in place, take no time.

    A loop takes as long as its body, as often as it runs; a `while` runs once, and of a `cond` the branch that takes
    longest.
    """
    which = kind(eqn)
    if which <= Kind.CAST:
        return 0
    bodies = [sum(eqn_picoseconds(inner, target, is_fused) for inner in body.eqns) for body in sub_jaxprs(eqn)]
    is_jit = eqn.primitive.name in ("jit", "pjit")
    if bodies and (is_jit or which is Kind.CONTROL or called_jaxpr(eqn, also_custom=True) is not None):
        once = max(bodies) if eqn.primitive.name == "cond" else sum(bodies)
        return max(1, eqn.params.get("length", 1) * once)
    if is_fused and which <= Kind.REDUCTION:
        return max(1, math.ceil(eqn_flops(eqn) / target.flops * 1e12))
    matrix = which in (Kind.MATMUL, Kind.CONVOLUTION) or which >= Kind.CONTROL
    rate = target.vector_flops
    if matrix:
        given: list[Any] = [getattr(atom.aval, "dtype", None) for atom in eqn.invars]
        dtypes = filter(_is_number, given)
        rate = max(map(target.matrix_flops, dtypes), default=target.flops)
    is_in_kernel = is_fused and which in (Kind.MATMUL, Kind.CONVOLUTION)
    seconds = max(eqn_flops(eqn) / rate, 0 if is_in_kernel else eqn_bytes(eqn) / target.bandwidth)
    return max(1, math.ceil(seconds * 1e12))


def offload_picoseconds(aval: Aval, target: Target) -> int:
    """Returns how long it takes to move a value to the host and back."""
    return max(1, math.ceil(2 * aval_bytes(aval) / target.host_bandwidth * 1e12))


def _is_number(dtype: DTypeLike | None) -> bool:
    """Returns whether a dtype is one of floats, or of integers of few bits, which matrix units multiply."""
    if dtype is None or not isinstance(dtype, np.dtype):
        return False
    return _is_float(dtype) or (dtype.kind in "iu" and dtype.itemsize == 1)


def _is_float(dtype: DTypeLike | None) -> bool:
    try:
        return np.issubdtype(np.dtype(dtype), np.floating) or np.dtype(dtype).name.startswith(("bfloat", "float8"))
    except TypeError:  # a key
        return False
