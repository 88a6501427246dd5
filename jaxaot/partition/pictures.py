"""Axes to draw on, with matplotlib where it is installed."""

from __future__ import annotations

import io
from typing import Any

from jaxaot.errors import MissingExtraError


def new_axes(instead: str) -> Any:
    """Returns the axes of a new figure.

    Args:
      instead: What to write where there is no matplotlib.

    Raises:
      MissingExtraError: If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "Pictures are drawn with matplotlib, which is not installed. Install it with `pip install jaxaot[viz]`, or "
            f"print the numbers: `{instead}`."
        ) from error
    return Figure(figsize=(7, 3.5), layout="constrained").subplots()


def as_svg(axes: Any) -> str:
    """Returns a figure as an SVG element."""
    picture = io.StringIO()
    axes.figure.savefig(picture, format="svg")
    return "<svg" + picture.getvalue().partition("<svg")[2]
