"""A profile, with its faces: text, HTML, and a trace of time and memory."""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxaot.errors import MissingExtraError
from jaxaot.plan.pictures import as_html, as_image
from jaxaot.profiling.measures import Measures
from jaxaot.profiling.shown import WIDTH, profile_text, write_trace


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Profile(Measures):
    """What a function computes, moves and keeps: what `ja.estimate.profile` returns.

        profile = ja.estimate.profile(loss, params, batch, target="h100")
        print(profile)                     # tables of modules, of operations and of what lives at the peak
        profile.fits("16GiB")

    `Measures` says what it holds.
    """

    def save_trace(self, file: Any) -> None:
        """Writes the rows, one after the other, and the memory in use as a trace that Perfetto and Chrome show.

        Args:
          file: The path of the file. Open it at https://ui.perfetto.dev.
        """
        write_trace(self, file)

    def text(self, width: int = WIDTH) -> str:
        """Returns the tables as text of at most `width` columns, 100 by default; `str` is that."""
        return profile_text(self, width)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """Returns the tables and the picture of the memory, for notebooks."""
        text = as_html(self.text())
        try:
            return as_image(self.plot()) + text
        except MissingExtraError:
            return text
