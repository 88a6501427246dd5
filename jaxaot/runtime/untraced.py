"""Calls that a trace cannot follow and Python can: they run eagerly, after one warning for each reason.

A function that raises while it is traced runs eagerly, so that what it did before is done. If it raises then too, that
is what it does. If it does not, the trace was at fault, and calls of this kind are not traced again at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from jaxaot.errors import (
    AttributeChangeError,
    ConcretizationError,
    LeakedTensorError,
    RecompileWarning,
    StaticArgumentError,
    TraceError,
    UnreachableTensorError,
)
from jaxaot.facade.memory.source_line import raising_line
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.plan.breaks import BreakValue
from jaxaot.plan.difference import CallKey
from jaxaot.plan.stages import Traced
from jaxaot.tape.modes import state

MAX_KINDS = 64
_AGAIN = 16
"""Of how many calls of a kind the last is traced again, of as many such ones the last, and so on."""
GOES_ON = (
    AttributeChangeError, ConcretizationError, LeakedTensorError, StaticArgumentError, UnreachableTensorError,
)  # fmt: skip
"""What a trace refuses because of what the function does there, which Python can do."""
_BY_VALUE = (bool, int, str, bytes, type(None))


class NotTraced(Exception):
    """Ends the making of a program: the function has to run eagerly.

    Attributes:
      error: What the trace raised; None where nothing is wrong, as of tensors without values.
    """

    def __init__(self, error: Exception | None):
        super().__init__("the function runs eagerly")
        self.error = error


class Broken(Exception):
    """Ends the making of a program: the function stopped where it cannot be one graph.

    Attributes:
      traced: The trace until there.
      key: What its guards look at.
    """

    def __init__(self, traced: Traced, key: CallKey):
        super().__init__("the function runs in parts")
        self.traced, self.key = traced, key

    @property
    def at(self) -> BreakValue:
        """Where it stopped."""
        return self.traced.break_values[-1]


def is_tried_again(n: int) -> bool:
    """Returns whether the call of this number, from 2 on, is traced although the calls before it could not be."""
    while n % _AGAIN == 0:
        n //= _AGAIN
    return n == 1


def kind_of_call(value: object) -> Any:
    """Returns a key of what a call passes: types and shapes, and values of what a program is specialised on."""
    if isinstance(value, (list, tuple)):
        return type(value), *map(kind_of_call, value)
    if isinstance(value, Mapping):
        return type(value), *((key, kind_of_call(item)) for key, item in value.items())
    if isinstance(value, Tensor):
        return Tensor, value._layout, value.requires_grad
    if isinstance(value, (jax.Array, np.ndarray)):
        return type(value), value.shape, str(value.dtype)
    return type(value), value if type(value) in _BY_VALUE else None


class Untraced:
    """The kinds of calls of a function that run eagerly, and what was said of them."""

    def __init__(self, name: str):
        """Names the function."""
        self._name = name
        self._n_calls: dict[Any, int] = {}
        self._said: set[Any] = set()

    def holds(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Returns whether a call is of a kind that is not to be traced."""
        if not self._n_calls:
            return False
        kind = self._kind(args, kwargs)
        n = self._n_calls.get(kind)
        if n is None:
            return False
        self._n_calls[kind] = n + 1
        is_second = n == 1  # which finds what the first made and kept, such as a layer for its input's size
        return not (is_second or is_tried_again(n + 1))

    def note(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Notes that a call could not be traced."""
        while len(self._n_calls) >= MAX_KINDS:
            self._n_calls.pop(next(iter(self._n_calls)), None)
        self._n_calls.setdefault(self._kind(args, kwargs), 1)

    def drop(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Forgets that a call could not be traced, as the function raises eagerly too."""
        if self._n_calls:
            self._n_calls.pop(self._kind(args, kwargs), None)

    def warn(self, error: Exception) -> None:
        """Warns that a call ran eagerly because of an error, if that is the first for its reason."""
        line, text = raising_line(error), str(error).strip().partition("\n")[0]
        reason = type(error), line or text
        if reason in self._said or len(self._said) >= MAX_KINDS:
            return
        self._said.add(reason)
        what = (
            f"While it was traced, {type(error).__name__} was raised, which does not happen eagerly: "
            f"{text.rstrip('.')}.\n\n    {line or 'no line of yours'}\n\nIn a trace arrays have no values, and NumPy "
            "does not write them in place. Compute there with operations of tensors, or compute it before and pass it; "
            "or put it into a function under `ja.compiler.disable`: what is around it is compiled."
        )
        warnings.warn(
            f"`{self._name}` ran eagerly: the result is right, but nothing is compiled. "
            f"{text if isinstance(error, TraceError) else what} `fullgraph=True` makes this an error.",
            RecompileWarning,
            stacklevel=7,
        )

    def clear(self) -> None:
        """Forgets the kinds; what was said is not said again."""
        self._n_calls.clear()

    def _kind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return kind_of_call(args), kind_of_call(kwargs), state.grad_enabled


def mixed_with_meta(name: str) -> TraceError:
    """Returns the error for a function that reaches tensors with values, and others on the device "meta"."""
    return TraceError(
        f"`{name}` reaches tensors with values, and others on the device `meta`, which have none: there is no program "
        'of both. Have all on one device: `x.to("meta")`, or new values, `ja.empty_like(x, device="cpu")`.'
    )
