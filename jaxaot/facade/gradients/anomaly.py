"""Anomaly mode: which operation of the forward a NaN, or an error, of the backward comes from.

Eagerly, nodes note the user's line, and what they compute is looked at. In a trace nothing is known yet; there nodes
always note where they are made, so that the graph can say it of its equations (`ir/node_scopes.py`,
`runtime/watched.py`).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxaot._jax import is_tracer, present_traceback
from jaxaot.errors import AnomalyError
from jaxaot.facade.memory.source_line import user_line, warn_user
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ir.node_scopes import TapeNode, run_by
from jaxaot.ops.promotion import is_inexact
from jaxaot.tape.modes import state
from jaxaot.tape.node import Node

_LINE = "traceback_"
"""Where a node's metadata has the user's line, as in PyTorch."""

_PARENT = "parent_"
"""Where that of a node that a backward made has the node whose backward it was."""

_TRACED_AT = "traced_at_"
"""Where that of a node that was made in a trace has the place."""


class Watch:
    """Notes the user's line of every node that is made, and runs nodes looking at what they compute.

    Attributes:
      check_nan: Whether NaNs are errors.
      is_mode: Whether this is anomaly mode; otherwise only what a trace notes is noted.
      running: The nodes whose backwards run, the innermost last.
    """

    def __init__(self, check_nan: bool, is_mode: bool = True):
        self.check_nan = check_nan
        self.is_mode = is_mode
        self.running: list[Node] = []

    def note(self, node: Node) -> None:
        """Notes where the user's program made a node."""
        if state.trace is not None:
            node.metadata[_TRACED_AT] = present_traceback()
        if self.is_mode:
            node.metadata[_LINE] = [user_line()]
            if self.running:
                node.metadata[_PARENT] = self.running[-1]

    def run(self, node: Node, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        """Returns the gradients that a node's backward computes; in a trace its equations carry the node's name.

        Raises:
          AnomalyError: If that has a NaN.
        """
        if state.trace is None:
            return self._look(node, cotangents, create_graph)
        place = None if node.runs_user_code else node.metadata.get(_TRACED_AT)
        with run_by(TapeNode(node.name(), node.sequence_number), place):
            if self.is_mode:
                return self._look(node, cotangents, create_graph)
            return node.backward(cotangents, create_graph)

    def _look(self, node: Node, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        """Returns the gradients that a node's backward computes.

        Raises:
          AnomalyError: If that has a NaN.
        """
        given = list(cotangents)
        self.running.append(node)
        try:
            gradients = node.backward(cotangents, create_graph)
        except AnomalyError:
            raise
        except Exception as error:
            self._warn(node)
            self.explain(error, node)
            raise
        finally:
            self.running.pop()
        if self.check_nan:
            for index, gradient in enumerate(gradients):
                if has_nan(gradient):
                    self._warn(node)
                    raise AnomalyError(
                        f"Function '{node.name()}' returned nan values in its {index}th output, {describe(gradient)}, "
                        f"for {', '.join(map(describe, given)) or 'nothing'}.\n"
                        f"{node.find_nan(given) or 'It is the backward of an operation ' + self._origin(node)}"
                    )
        return gradients

    def explain(self, error: Exception, node: Node) -> None:
        """Has an error say, in the mode, in the backward of which operation it happened."""
        if self.is_mode:
            error.add_note(f"In the backward of {node.name()}, {self._origin(node)}")

    def _warn(self, node: Node) -> None:
        """Warns of where a failing node was made, and where the nodes whose backwards made it were, as PyTorch does."""
        what = f"Error detected in {node.name()}."
        induced = "that caused the error"
        while True:
            lines = node.metadata.get(_LINE)
            text = (
                f"{what} No forward pass information available. Enable detect anomaly during forward pass for more "
                "information."
                if lines is None
                else f"{what} Traceback of forward call {induced}:\n{lines[0]}"
            )
            try:
                warn_user(text)
            except UserWarning as warning:  # where warnings are errors, the error that comes is the one to see
                print(warning, file=sys.stderr)
            if _PARENT not in node.metadata:
                return
            node = node.metadata[_PARENT]
            what = f"\n\nPrevious calculation was induced by {node.name()}."
            induced = "that induced the previous calculation"

    def _origin(self, node: Node) -> str:
        lines = node.metadata.get(_LINE)
        if lines is None:
            return "whose line is not known: be in `ja.autograd.detect_anomaly()` during the forward as well."
        return f"made at\n\n    {lines[0]}"


def _values(value: object) -> Any:
    return value._storage.array if isinstance(value, Tensor) else value


def has_nan(value: object) -> bool:
    """Returns whether an array or tensor has a NaN; what is not known yet has none."""
    array = _values(value)
    if array is None or is_tracer(array) or not hasattr(array, "dtype") or not is_inexact(array.dtype):
        return False
    shown = np.asarray(array)
    return bool(np.isnan(shown if shown.dtype.kind in "fc" else shown.astype(np.float32)).any())


def describe(value: object) -> str:
    """Returns the type of a value and what is in it, such as `float32[3] with 1 NaN, else from 0 to 2`."""
    array = _values(value)
    if array is None:
        return "no gradient"
    text = f"{np.dtype(array.dtype).name}{list(array.shape)}"
    if is_tracer(array) or not is_inexact(array.dtype):
        return text
    shown = np.asarray(array)
    shown = np.abs(shown) if shown.dtype.kind == "c" else shown.astype(np.float64)
    is_nan = np.isnan(shown)
    n, rest = int(is_nan.sum()), shown[~is_nan]
    span = f"from {rest.min():.4g} to {rest.max():.4g}" if rest.size else ""
    return f"{text} with {n} NaN{', else ' if span else ''}{span}" if n else f"{text} {span}".rstrip()


def watch_outside_of_the_mode() -> Watch | None:
    """Returns the value of `state.anomaly` where the mode is off."""
    return None if state.trace is None else Watch(False, is_mode=False)


class set_detect_anomaly:
    """Switches anomaly mode on or off at once, and as a context manager restores it afterwards.

    In the mode a backward that gives a NaN, or fails, names the operation of the forward, the user's line, and the
    values. Everything runs slower, and one node at a time.

    Args:
      mode: Whether it is on.
      check_nan: Whether NaNs are errors.
    """

    def __init__(self, mode: bool, check_nan: bool = True):
        self._before = state.anomaly
        state.anomaly = Watch(check_nan) if mode else watch_outside_of_the_mode()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        state.anomaly = self._before


class detect_anomaly:
    """Inside, a backward that gives a NaN, or fails, names the operation of the forward, the user's line, the values.

    The forward has to be inside as well for lines of eager operations to be known; compiled calls know theirs anyway.

    Args:
      check_nan: Whether NaNs are errors.
    """

    def __init__(self, check_nan: bool = True):
        self._check_nan = check_nan
        self._before: list[Any] = []
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before.append(state.anomaly)
        state.anomaly = Watch(self._check_nan)

    def __exit__(self, *_: object) -> None:
        state.anomaly = self._before.pop()


def is_anomaly_enabled() -> bool:
    """Returns whether anomaly mode is on."""
    return state.anomaly is not None and state.anomaly.is_mode


def is_anomaly_check_nan_enabled() -> bool:
    """Returns whether anomaly mode is on and makes NaNs errors."""
    return state.anomaly is not None and state.anomaly.check_nan
