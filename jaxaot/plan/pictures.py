"""Axes to draw on, with matplotlib where it is installed."""

from __future__ import annotations

import base64
import html
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
            "Pictures are drawn with matplotlib, which is not installed. Install it with `pip install matplotlib`, or "
            f"print the numbers: `{instead}`."
        ) from error
    return Figure(figsize=(7, 3.5), layout="constrained").subplots()


def as_html(text: str) -> str:
    """Returns text as notebooks show it, on any page: no style, no script."""
    return f"<pre>{html.escape(text)}</pre>"


class Printed:
    """Notebooks show what is printed."""

    def _repr_html_(self) -> str:
        return as_html(str(self))


def as_image(axes: Any) -> str:
    """Returns a figure as an element of HTML."""
    picture = io.BytesIO()
    axes.figure.savefig(picture, format="png", dpi=90)
    return f'<img src="data:image/png;base64,{base64.b64encode(picture.getvalue()).decode()}">'
