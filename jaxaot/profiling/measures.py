"""What a profile holds: plain data on what a function computes, moves and keeps. Its faces read nothing else."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from jaxaot.errors import MissingExtraError
from jaxaot.ir.roofline import Target
from jaxaot.partition.budget import parse_size
from jaxaot.plan.sharding import ON_ONE_DEVICE, Spread
from jaxaot.plan.stages import Partition
from jaxaot.plan.timeline import Timeline
from jaxaot.profiling.rows import Row


class ModuleRow(NamedTuple):
    """A module with all that is in it, forward and backward apart.

    Attributes:
      module: Its path, such as `"ViT/Block_0"`.
      flops: FLOPs of the forward.
      backward_flops: FLOPs of the backward.
      bytes: What both read and write.
      parameter_bytes: Bytes of its parameters.
      saved_bytes: Bytes of what the forward keeps for the backward.
      picoseconds: How long the forward takes at best.
      backward_picoseconds: How long the backward takes at best.
    """

    module: str
    flops: int
    backward_flops: int
    bytes: int
    parameter_bytes: int
    saved_bytes: int
    picoseconds: int
    backward_picoseconds: int


class Living(NamedTuple):
    """Values of one line that take memory at the peak.

    Attributes:
      role: `"saved"` for the backward, `"temporary"`, `"inside"` of a loop that runs then, or what is held throughout:
        `"parameters"`, `"inputs"`, `"outputs"`, `"gradients"`.
      name: The primitive that makes them, or `""`.
      shape: The type of each.
      n_values: How many there are.
      bytes: What they take together.
      line: The user's line, or `""`.
    """

    role: str
    name: str
    shape: str
    n_values: int
    bytes: int
    line: str


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Measures:
    """All that a profile holds.

    Attributes:
      name: What the function is called.
      target: The device whose roofline gives the times.
      rows: One for each equation that runs, in order.
      timeline: The memory in use, equation by equation, estimated from shapes.
      living: What takes memory at the peak, the largest first.
      parameter_bytes: Bytes of what is differentiated.
      save_all_bytes: What would be kept for the backward if nothing were computed again.
      memory_budget: The budget that was asked for.
      make_partition: Returns the forward and the backward; None without a backward.
      spread: Over how many devices the values lie. All numbers are of all devices together, but for those that say
        otherwise.
    """

    name: str
    target: Target
    rows: tuple[Row, ...]
    timeline: Timeline
    living: tuple[Living, ...]
    parameter_bytes: int
    save_all_bytes: int
    memory_budget: float | str | None = None
    make_partition: Callable[[], Partition] | None = None
    spread: Spread = ON_ONE_DEVICE

    @functools.cached_property
    def _sums(self) -> dict[str, list[int]]:
        found = {"forward": [0, 0, 0, 0, 0], "backward": [0, 0, 0, 0, 0]}
        for row in self.rows:
            sums = found[row.side]
            sums[0] += row.flops
            sums[1] += row.bytes
            sums[2] += row.saved_bytes
            sums[3] += row.picoseconds
            sums[4] += row.flops if row.is_recomputed else 0
        return found

    @property
    def has_backward(self) -> bool:
        """Whether there is a backward."""
        return self.make_partition is not None

    @functools.cached_property
    def partition(self) -> Partition | None:
        """The forward and the backward; None without a backward."""
        return None if self.make_partition is None else self.make_partition()

    @property
    def flops(self) -> int:
        """FLOPs of forward and backward, with what is computed again."""
        return self.forward_flops + self.backward_flops

    @property
    def forward_flops(self) -> int:
        """FLOPs of the forward."""
        return self._sums["forward"][0]

    @property
    def backward_flops(self) -> int:
        """FLOPs of the backward, with what is computed again."""
        return self._sums["backward"][0]

    @property
    def recomputed_flops(self) -> int:
        """FLOPs of what the backward computes again."""
        return self._sums["backward"][4]

    @property
    def bytes(self) -> int:
        """Bytes read and written, as if nothing were fused."""
        return self._sums["forward"][1] + self._sums["backward"][1]

    @property
    def saved_bytes(self) -> int:
        """Bytes that the forward keeps for the backward, besides its inputs."""
        return self._sums["forward"][2]

    @property
    def seconds(self) -> float:
        """How long forward and backward take on the target at best, operation by operation."""
        return (self._sums["forward"][3] + self._sums["backward"][3]) / 1e12

    @property
    def intensity(self) -> float:
        """FLOPs for each byte moved."""
        return self.flops / self.bytes if self.bytes else 0.0

    @property
    def peak_bytes(self) -> int:
        """The most memory that is in use at any time, estimated from shapes; everything counted."""
        return self.timeline.peak_bytes

    @property
    def n_devices(self) -> int:
        """Among how many devices what is computed is divided, as the batch is."""
        return self.spread.n_devices

    @property
    def device_saved_bytes(self) -> int:
        """Bytes that one device keeps for the backward, besides its inputs, if what is computed lies as the batch."""
        return -(-self.saved_bytes // self.n_devices)

    @property
    def device_peak_bytes(self) -> int:
        """The most memory that is in use on one device, if what is computed lies as the batch."""
        return self.spread.of_one(self.peak_bytes)

    @functools.cached_property
    def modules(self) -> tuple[ModuleRow, ...]:
        """Each module with all that is in it, the outer before the inner; none if nothing says which there are."""
        alone: dict[str, list[int]] = {}
        for row in self.rows:
            if row.module:
                sums = alone.setdefault(row.module, [0] * 7)
                behind = row.side == "backward"
                sums[behind] += row.flops
                sums[2] += row.bytes
                sums[3] += row.parameter_bytes
                sums[4] += row.saved_bytes
                sums[5 + behind] += row.picoseconds
        found: dict[str, list[int]] = {}
        for module, own in alone.items():
            parts = module.split("/")
            for depth in range(1, len(parts) + 1):
                sums = found.setdefault("/".join(parts[:depth]), [0] * 7)
                sums[:] = map(operator.add, sums, own)
        return tuple(ModuleRow(module, *sums) for module, sums in sorted(found.items()))

    def fits(self, memory: int | str | Target) -> bool:
        """Returns whether all that is in use at any time on one device fits into some memory.

        Args:
          memory: Bytes, a text such as `"16GiB"`, or a target, whose memory it is.

        Raises:
          BudgetError: If it cannot be read.
        """
        return self.device_peak_bytes <= parse_size(memory)

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as plain data, as `json` takes it."""
        return {
            "name": self.name, "target": self.target.name, "flops": self.flops, "forward_flops": self.forward_flops,
            "backward_flops": self.backward_flops, "recomputed_flops": self.recomputed_flops, "bytes": self.bytes,
            "parameter_bytes": self.parameter_bytes, "saved_bytes": self.saved_bytes,
            "save_all_bytes": self.save_all_bytes, "peak_bytes": self.peak_bytes, "seconds": self.seconds,
            "intensity": self.intensity, "memory_budget": self.memory_budget, "n_devices": self.n_devices,
            "device_saved_bytes": self.device_saved_bytes, "device_peak_bytes": self.device_peak_bytes,
            "modules": [row._asdict() for row in self.modules], "living": [value._asdict() for value in self.living],
            "rows": [row._asdict() for row in self.rows],
        }  # fmt: skip

    def to_pandas(self) -> Any:
        """Returns the rows as a pandas DataFrame.

        Raises:
          MissingExtraError: If pandas is not installed.
        """
        try:
            import pandas  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise MissingExtraError(
                "A DataFrame is pandas', which is not installed. Install it with `pip install pandas`, or read the "
                "rows as they are: `profile.rows`."
            ) from error
        frame = pandas.DataFrame([row._asdict() for row in self.rows], columns=list(Row._fields))
        return frame.assign(seconds=[row.seconds for row in self.rows], intensity=[row.intensity for row in self.rows])

    def plot(self, axes: Any = None) -> Any:
        """Draws the memory in use with matplotlib and returns the axes.

        Args:
          axes: The axes to draw on; a new figure if left out.

        Raises:
          MissingExtraError: If matplotlib is not installed.
        """
        return self.timeline.plot(axes)

    def __repr__(self) -> str:
        return f"<Profile of {self.name}: {len(self.rows)} rows>"
