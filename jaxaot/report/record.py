"""A report: plain data on what became of a function.

A report holds no array, tracer or function, so it can be kept, compared and written as JSON. Its faces, text and HTML,
read nothing else.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._versions import JAXAOT
from jaxaot.errors import UsageError
from jaxaot.report.contents import Contents
from jaxaot.report.page import fragment_of, page_of
from jaxaot.report.text import report_text


@immutable
class Report(Contents):
    """What became of a function: what `explain` returns.

        report = step.explain(x)
        print(report)                      # the summary, then every stage
        report.save_html("step.html")      # one page that needs no network
        report.to_dict()                   # the same as plain data

    Attributes:
      name: What the function is called; `Contents` says what else it holds.
    """

    def text(self, width: int = 100) -> str:
        """Returns the report as text: the summary, then every stage.

        Args:
          width: To how many columns the summary is wrapped.
        """
        return report_text(self, width)

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as plain data, as `json` takes it."""
        return {"jaxaot": JAXAOT, **dataclasses.asdict(self)}

    def to_json(self) -> str:
        """Returns all of it as JSON."""
        return json.dumps(self.to_dict(), indent=1)

    def to_html(self) -> str:
        """Returns one page of HTML that needs no network: styles, scripts and pictures are in it."""
        return page_of(self)

    def save_html(self, file: str | os.PathLike[str]) -> None:
        """Writes the page that `to_html` returns.

        Args:
          file: The path of the file.

        Raises:
          UsageError: If it cannot be written.
        """
        try:
            Path(file).write_text(self.to_html(), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write the report to {file}: {error.strerror}") from error

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """Returns the summary, and the graphs folded in, for notebooks."""
        return fragment_of(self)
