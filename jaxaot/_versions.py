"""The versions of Python and JAX that jaxaot runs with: older ones are refused at import, untried ones warned of."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Sequence

from jaxaot.errors import UntriedVersionWarning

JAXAOT = "0.1.0"
OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 13)
OLDEST_JAX, NEWEST_JAX = (0, 10, 2), (0, 12)
"""The tests pass with these, and run with no others; see `.ci/run`."""


def check_versions(jax: str, python: Sequence[int] = tuple(sys.version_info[:3])) -> None:
    """Warns of versions that nothing was tried with.

    Args:
      jax: The version of JAX.
      python: That of Python.

    Raises:
      ImportError: If one is too old.
    """
    given = tuple(map(int, re.findall(r"\d+", jax.split("+")[0])))
    for name, found, oldest, newest, command in (
        ("Python", tuple(python[:2]), OLDEST_PYTHON, NEWEST_PYTHON, f"python{_text(NEWEST_PYTHON)} -m venv .venv"),
        ("jax", given, OLDEST_JAX, NEWEST_JAX, "pip install --upgrade jax"),
    ):
        if found < oldest:
            raise ImportError(
                f"jaxaot needs {name} {_text(oldest)} or later, and this is {name} {_text(found)}. Write `{command}`."
            )
        if found[: len(newest)] > newest:
            warnings.warn(
                f"jaxaot was tried with {name} {_text(oldest)} to {_text(newest)}, and this is {name} {_text(found)}: "
                "what differs there may fail. `warnings.filterwarnings('ignore', message='jaxaot was tried')` hides "
                "this.",
                UntriedVersionWarning,
                stacklevel=3,
            )


def _text(version: Sequence[int]) -> str:
    return ".".join(map(str, version))
