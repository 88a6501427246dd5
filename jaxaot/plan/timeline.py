"""The memory in use over a partition, equation by equation: numbers, a picture, a line of text."""

from __future__ import annotations

from typing import Any

from jaxaot._immutable import immutable
from jaxaot._util import format_bytes
from jaxaot.errors import MissingExtraError
from jaxaot.plan.pictures import as_html, as_image, new_axes


@immutable
class Moment:
    """The memory in use while one equation runs.

    Attributes:
      side: `"forward"` or `"backward"`.
      name: The primitive.
      source: The user's line, or `""`.
      bytes: All that is in use.
      residual_bytes: What of it is kept for the backward.
    """

    side: str
    name: str
    source: str
    bytes: int
    residual_bytes: int


@immutable
class Timeline:
    """The memory in use over the forward and the backward, equation by equation.

    Attributes:
      moments: One for each equation, in order.
      held_bytes: What inputs and outputs take, which are in use throughout and counted in every moment.
    """

    moments: tuple[Moment, ...]
    held_bytes: int

    @property
    def peak(self) -> Moment | None:
        """The moment at which most is in use."""
        return max(self.moments, key=lambda moment: moment.bytes, default=None)

    @property
    def peak_bytes(self) -> int:
        """The most that is in use at any time."""
        return self.peak.bytes if self.peak is not None else self.held_bytes

    def plot(self, axes: Any = None) -> Any:
        """Draws the memory in use with matplotlib and returns the axes.

        Args:
          axes: The axes to draw on; a new figure if left out.

        Raises:
          MissingExtraError: If matplotlib is not installed.
        """
        axes = new_axes("print(partition.timeline)") if axes is None else axes
        mib, x = 2**20, range(len(self.moments))
        axes.fill_between(x, [moment.bytes / mib for moment in self.moments], label="temporaries", step="mid")
        kept = [(self.held_bytes + moment.residual_bytes) / mib for moment in self.moments]
        axes.fill_between(x, kept, label="residuals", step="mid")
        axes.fill_between(x, self.held_bytes / mib, label="inputs and outputs", step="mid")
        axes.axvline(sum(moment.side == "forward" for moment in self.moments), color="black", linewidth=0.8)
        axes.set_xlabel("equation, forward then backward")
        axes.set_ylabel("in use (MiB)")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return f"<Timeline: {len(self.moments)} equations, at most {format_bytes(self.peak_bytes)} in use>"

    def _repr_html_(self) -> str:
        """Returns the picture and a line of text, for notebooks."""
        try:
            return as_image(self.plot()) + as_html(str(self))
        except MissingExtraError:
            return as_html(str(self))

    def __str__(self) -> str:
        if self.peak is None:
            return f"peak {format_bytes(self.held_bytes)}: inputs and outputs"
        place = f", {self.peak.source}" if self.peak.source else ""
        return (
            f"peak {format_bytes(self.peak_bytes)} at {self.peak.name} in the {self.peak.side}{place}, of which "
            f"{format_bytes(self.held_bytes)} inputs and outputs, {format_bytes(self.peak.residual_bytes)} residuals"
        )
