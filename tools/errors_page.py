"""Writes docs/errors.md from the docstrings of `jaxaot/errors/__init__.py`: `python tools/errors_page.py`."""

from __future__ import annotations

import inspect
import pathlib
import re

from jaxaot import errors

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "errors.md"


def in_order() -> list[type]:
    """Returns the errors in the order of the tree, then the warnings."""
    drawn = re.findall(r"\b[A-Z]\w+(?:Error|Warning)\b", errors.__doc__ or "")
    shown = {name: cls for name, cls in vars(errors).items() if isinstance(cls, type) and issubclass(cls, KINDS)}
    return [shown[name] for name in sorted(shown, key=drawn.index)]


KINDS = (errors.JaxaotError, Warning)


def fenced(doc: str) -> str:
    """Returns a docstring whose indented code stands in blocks of Python."""
    block = re.compile(r"(?:^    .*\n?|^\n(?=    ))+", re.MULTILINE)
    return block.sub(lambda found: f"```python\n{inspect.cleandoc(found[0])}\n```\n", doc).strip()


def render() -> str:
    """Returns the page: the tree of names, then one section for each class, which says what the name stands for."""
    title, _, tree = inspect.cleandoc(errors.__doc__ or "").partition("\n\n")
    *drawing, remark, examples = tree.split("\n\n")
    parts = [
        "# Errors",
        "<!-- Made from the docstrings of jaxaot/errors/__init__.py by tools/errors_page.py; edit those. -->",
        title,
        "```\n" + re.sub(r"(?<=\w) {2,}.*", "", inspect.cleandoc("\n\n".join(drawing))) + "\n```",
        remark,
        examples,
    ]
    for cls in in_order():
        builtin = ", ".join(f"`{base.__name__}`" for base in cls.__bases__ if not issubclass(base, errors.JaxaotError))
        also = (
            f"Subclasses {builtin} too.\n\n"
            if builtin not in ("", "`Exception`") and issubclass(cls, errors.JaxaotError)
            else ""
        )
        said = fenced(inspect.getdoc(cls) or "").replace("For example:\n```", "```")
        parts.append(f"## {cls.__name__}\n\n{also}{said}")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
