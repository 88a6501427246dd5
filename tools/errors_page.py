"""Writes docs/errors.md from the docstrings of `jaxaot/errors.py`: `python tools/errors_page.py`."""

from __future__ import annotations

import inspect
import pathlib

from jaxaot import errors

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "errors.md"


def render() -> str:
    """Returns the page: the tree of exceptions, then one section for each class."""
    title, _, tree = inspect.cleandoc(errors.__doc__ or "").partition("\n\n")
    *drawing, remark = tree.split("\n\n")
    parts = [
        "# Errors",
        "<!-- Made from the docstrings of jaxaot/errors.py by tools/errors_page.py; edit those. -->",
        title,
        "```\n" + inspect.cleandoc("\n\n".join(drawing)) + "\n```",
        remark,
    ]
    for name, cls in vars(errors).items():
        if isinstance(cls, type) and issubclass(cls, errors.JaxaotError):
            bases = ", ".join(f"`{base.__name__}`" for base in cls.__bases__)
            parts.append(f"## {name}\n\nSubclasses {bases}.\n\n{inspect.getdoc(cls)}")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
