"""Where tensors that were saved may be written, as PyTorch allows it inside of a context.

Values are immutable, so a write never reaches what was saved, and nothing is copied. What is left is to say what was
written, and that a backward belongs inside.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

from jaxaot.errors import AutogradError, OutsideContextError
from jaxaot.facade.nodes.saved import Version
from jaxaot.tape.modes import state
from jaxaot.tape.node import Node


class Allowed(NamedTuple):
    """How a tensor was when it was saved inside of a context.

    Attributes:
      context: The context.
      version: How it was.
    """

    context: MutationContext
    version: Version

    def check(self) -> None:
        """Raises if a backward runs outside of the context.

        Raises:
          OutsideContextError: If it does.
        """
        if state.trace is None and state.may_write_saved is not self.context:
            raise OutsideContextError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                "originally recorded. Call `backward()` inside of it, or leave the context out: gradients are those "
                "of the values that were saved anyway."
            )


class MutationContext:
    """What `allow_mutation_on_saved_tensors` enters."""

    def __init__(self) -> None:
        self._nodes: weakref.WeakSet[Node] = weakref.WeakSet()

    def allow(self, version: Version) -> Allowed:
        """Returns what a node notes of a tensor that it saves."""
        return Allowed(self, version)

    def watch(self, node: Node) -> None:
        """Notes a node that saves tensors."""
        self._nodes.add(node)

    def _held(self) -> Iterator[tuple[Any, Version]]:
        """Yields each tensor that a backward still needs, with what tells it from others."""
        for node in list(self._nodes):
            for noted in node.versions or () if node.held else ():
                version = noted.version
                yield (id(version.storage), id(version.counter), version.n), version

    @property
    def cloned(self) -> dict[Any, Any]:
        """The values of saved tensors that were written since, and that a backward still needs.

        PyTorch copies them when they are written; here they are what was saved.
        """
        return {key: version.array for key, version in self._held() if version.counter.n != version.n}

    @property
    def tid_to_weakhandle(self) -> dict[Any, Any]:
        """Weak references to the saved tensors that a backward still needs."""
        return {key: version.tensor for key, version in self._held()}

    def clear(self) -> None:
        """Forgets what was saved."""
        self._nodes.clear()


class allow_mutation_on_saved_tensors:
    """Inside, tensors that were saved may be written: gradients are those of the values that were saved.

    They always are. Only `ja.autograd.set_version_check("error")` refuses, and inside it does not. As in PyTorch, the
    backward of what is recorded inside belongs inside too.

        with ja.autograd.graph.allow_mutation_on_saved_tensors():
            y = (x**2).sum()
            x.mul_(2)
            y.backward()

    Raises:
      AutogradError: If one is entered inside of another, on entering.
    """

    def __enter__(self) -> MutationContext:
        if state.may_write_saved is not None:
            raise AutogradError("allow_mutation_on_saved_tensors contexts cannot be nested")
        self._before, state.checks_versions = state.checks_versions, False
        state.may_write_saved = MutationContext()
        state.note_saving()
        return state.may_write_saved

    def __exit__(self, *_: object) -> None:
        state.may_write_saved.clear()
        state.checks_versions, state.may_write_saved = self._before, None
        state.note_saving()
