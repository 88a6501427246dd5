"""Over how many devices the values of a graph lie: what bytes of one device are of all together."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._typing import Aval
from jaxaot.ir.walk import aval_bytes


@immutable
class Spread:
    """How the values of a graph are divided among devices.

    Where inputs lie is known. What is computed lies as the batch does: where the partitioner of XLA puts it, is known
    once a graph is compiled.

    Attributes:
      n_devices: Among how many devices what is computed is divided.
      input_bytes: What the inputs take on all devices together, each counted once.
      part_bytes: What one device holds of them.
    """

    n_devices: int = 1
    input_bytes: int = 0
    part_bytes: int = 0

    def of_all(self, limit: int) -> int:
        """Returns bytes that all devices together may use if each may use `limit`."""
        return max(0, self.input_bytes + (limit - self.part_bytes) * self.n_devices)

    def of_one(self, total: int) -> int:
        """Returns bytes that one device uses if all together use `total`."""
        return self.part_bytes + max(0, math.ceil((total - self.input_bytes) / self.n_devices))


ON_ONE_DEVICE = Spread()


def spread_of(avals: Sequence[Aval], shardings: Sequence[Any], parameters: Collection[int]) -> Spread:
    """Returns how the values of a graph are divided, from how its inputs lie.

    Args:
      avals: The types of the inputs.
      shardings: How each lies over several devices; None elsewhere.
      parameters: Positions of those that have a gradient; the others are the batch.
    """
    if all(sharding is None for sharding in shardings):
        return ON_ONE_DEVICE
    n_parts = [_n_parts(aval, sharding) for aval, sharding in zip(avals, shardings, strict=True)]
    sizes = list(map(aval_bytes, avals))
    n_devices = max((n for i, n in enumerate(n_parts) if i not in parameters), default=1)
    return Spread(n_devices, sum(sizes), sum(-(-size // n) for size, n in zip(sizes, n_parts, strict=True)))


def _n_parts(aval: Aval, sharding: Any) -> int:
    if sharding is None or not aval.shape:
        return 1
    part = sharding.shard_shape(aval.shape)
    return max(1, math.prod(aval.shape) // max(1, math.prod(part)))
