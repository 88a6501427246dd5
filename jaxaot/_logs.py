"""What is logged, by names that `JAXAOT_LOGS` takes: `JAXAOT_LOGS=recompiles,passes python train.py`.

The loggers are Python's, `jaxaot.recompiles` and so on. Without `JAXAOT_LOGS` they behave as any others: nothing is
shown below a warning.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

from jaxaot.errors import UsageError

NAMES = {
    "recompiles": "why each program after the first was made",
    "graphs": "the traced graph, the forward and the backward of each program",
    "passes": "how many equations each pass left, and how long it took",
    "partition": "what is saved and why, what is computed again",
    "cache": "each program that is made or dropped, and how many there are",
}
"""What `JAXAOT_LOGS` takes, and what it shows."""


class _Shown(logging.StreamHandler[Any]):
    """A handler of ours; others may be there as well."""


def logger_of(name: str) -> logging.Logger:
    """Returns the logger of one of the names."""
    assert name in NAMES, f"no logs are called {name}"
    return logging.getLogger(f"jaxaot.{name}")


def set_up_logs(environment: Mapping[str, str]) -> None:
    """Shows on stderr what `JAXAOT_LOGS` asks for.

    Args:
      environment: The variables of the environment.

    Raises:
      UsageError: If a name is none of `NAMES`.
    """
    asked = [name.strip().lower() for name in environment.get("JAXAOT_LOGS", "").split(",") if name.strip()]
    wrong = [name for name in asked if name not in NAMES and name != "all"]
    if wrong:
        raise UsageError(
            f"JAXAOT_LOGS names `{wrong[0]}`, and the logs are {', '.join(NAMES)}, or all. Write "
            "`JAXAOT_LOGS=recompiles,passes`."
        )
    for name in NAMES if "all" in asked else dict.fromkeys(asked):
        logger = logger_of(name)
        if not any(isinstance(handler, _Shown) for handler in logger.handlers):
            handler = _Shown(sys.stderr)
            handler.setFormatter(logging.Formatter("[%(asctime)s %(name)s] %(message)s", "%H:%M:%S"))
            logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False  # else a handler of the root shows it again
