"""The one node that a compiled call leaves on the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import jax.numpy as jnp

from jaxaot._immutable import immutable
from jaxaot._jax import is_tracer
from jaxaot.errors import BackwardTwiceError, StorageSizeError
from jaxaot.facade.kernels.grad_kernels import conjugate
from jaxaot.facade.kernels.view_gradients import read_through
from jaxaot.facade.memory.storage import HELD_ONCE, Storage
from jaxaot.facade.nodes.saved import FREED, Version
from jaxaot.facade.nodes.vjps import cut_by, pull_by, storage_edge
from jaxaot.ir.reach import Apart, without_unreached
from jaxaot.runtime.inner_gradients import InnerPass
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge, Node, OutputType
from jaxaot.views.layout import Layout
from jaxaot.views.window import find_window

_zeros: dict[Any, Any] = {}


@immutable(eq=False)
class Refilled:
    """A residual that is not kept: what a storage holds when the backward runs.

    Attributes:
      storage: The storage; it holds no bytes after the forward.
      layout: How what it held in the forward lay in memory.
      name: What the user calls a tensor on it.
    """

    storage: Storage
    layout: Layout
    name: str

    def read(self) -> Any:
        """Returns the values.

        Raises:
          StorageSizeError: If the storage was not filled again.
        """
        storage, layout = self.storage, self.layout
        if storage.nbytes() != layout.nbytes or storage.n_written is not None or storage.array is None:
            raise StorageSizeError(
                f"The backward needs the values of `{self.name}`, whose storage was resized to 0 bytes in the forward "
                f"and holds {storage.nbytes()} of {layout.nbytes} bytes now, so that nothing was saved of it. Fill it "
                "again before the backward, or in a hook on what the compiled function returned:\n\n"
                f"    out.register_hook(lambda grad: refill({self.name}))\n\n"
                f"where `refill` calls `{self.name}.untyped_storage().resize_({layout.nbytes})` and copies the values "
                "into it under `ja.no_grad()`."
            )
        storage.is_shared = True
        if storage.layout is layout:
            return storage.array
        return read_through(storage.array, *find_window(storage.layout, layout, 0))


def _zeros_of(aval: tuple[Any, Any]) -> Any:
    """Returns zeros, which as an immutable array may be shared by all backward passes."""
    zeros = _zeros.get(aval)
    if zeros is None:
        zeros = jnp.zeros(*aval)
        if not is_tracer(zeros):  # inside `jax.jit` it is a symbol, which must not outlive the trace
            _zeros[aval] = zeros
    return zeros


class CompiledNode(Node):
    """The backward of a compiled call, by its own executable.

    Attributes:
      run: Takes residuals and cotangents to the gradients of the reached graph inputs.
      residuals: What the forward handed over, and then what only the derivative of the backward needs; None once
        released, a stand-in if it is to be computed again.
      avals: (shape, dtype) of each cotangent.
      bases: For each gradient None, or how to cut that of a base out of that of its storage; None if none is cut.
      has_complex: Whether a value of the graph is complex: gradients then cross from one convention to the other.
      has_refills: Whether a residual is read from its storage.
      second: The backward as a function that can be differentiated; None once released.
      consuming: The same as `run`, reusing the buffers of some residuals, and the positions of these; None if there
        is none.
      apart: For each gradient the outputs that its input leads to, where that is not all of them.
      versions: How inputs and outputs were that the backward needs; None where that is not checked.
    """

    __slots__ = (
        "apart", "avals", "bases", "consuming", "has_complex", "has_refills", "residuals", "run", "second", "versions",
    )  # fmt: skip

    holds_residuals = True
    is_joined = True
    has_inner_flow = True

    def __init__(
        self,
        edges: Sequence[Edge | None],
        run: Callable[..., Sequence[Any]] | None,
        residuals: list[Any],
        avals: Sequence[tuple[Any, Any]],
        bases: Sequence[tuple[Layout, Layout, int] | None] | None,
        has_complex: bool = False,
        has_refills: bool = False,
        second: Any = None,
        consuming: tuple[Callable[..., Sequence[Any]], Sequence[int]] | None = None,
        apart: Apart = None,
    ):
        super().__init__("CompiledBackward", edges, len(avals))
        self.run = run
        self.residuals: Any = residuals
        self.avals = avals
        self.bases = bases
        self.has_complex = has_complex
        self.has_refills = has_refills
        self.second = second
        self.consuming = consuming
        self.apart = apart
        self.versions: Sequence[Version] | None = None

    def inner_pass(self, looked_at: frozenset[int], create_graph: bool) -> Any:
        graphs = None if self.second is None or self.run is None else self.second.inner(looked_at)
        return None if graphs is None else InnerPass(self, graphs, create_graph)

    def residuals_for_second(self) -> Sequence[Any]:
        """Returns what the node holds, with what only derivatives of its backward need."""
        return self._held(True)

    def output_type(self, index: int) -> OutputType | None:
        return OutputType(*self.avals[index])

    def backward(self, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        if self.run is None:  # gradients end inside of the function
            return ()
        if create_graph:
            return self._recorded(self._held(True), cotangents)
        residuals = self._held(False)
        consuming = self.consuming
        if consuming is not None and self._is_last(residuals, cotangents):
            self.release()  # first: what an interrupt leaves says that it is gone, instead of deleted arrays
            gradients = consuming[0](*residuals, *self._full(cotangents))
        else:
            gradients = self.run(*residuals, *self._full(cotangents))
        if self.has_complex or self.bases is not None:
            gradients = self._shown(gradients)
        return without_unreached(gradients, cotangents, self.apart)

    def _held(self, with_extra: bool) -> Sequence[Any]:
        """Returns the residuals, and if asked for what only the derivative of the backward needs."""
        residuals = self.residuals
        if residuals is None:
            raise BackwardTwiceError(FREED)
        if self.versions is not None:
            for version in self.versions:
                version.check()
        while type(residuals) is not list:
            residuals = residuals.again()
        if not with_extra and self.second is not None and self.second.extra:
            residuals = residuals[: -len(self.second.extra)]
        if self.has_refills:
            residuals = [r.read() if isinstance(r, Refilled) else r for r in residuals]
        return residuals

    def _is_last(self, residuals: Sequence[Any], cotangents: Sequence[Any]) -> bool:
        """Returns whether nobody will need the residuals again: the graph is freed, and nobody else holds them."""
        running = state.backward_pass
        if running is None or running.keeps_graph or residuals is not self.residuals or self.consuming is None:
            return False
        if state.anomaly is not None or any(map(is_tracer, (residuals[self.consuming[1][0]], *cotangents))):
            return False  # a NaN is looked for in what they hold; what is traced or mapped may run again
        return all(getrefcount(residuals[i]) <= HELD_ONCE for i in self.consuming[1])

    def _full(self, cotangents: Sequence[Any]) -> list[Any]:
        """Returns the cotangents as the executable takes them."""
        full = [_zeros_of(aval) if ct is None else ct for ct, aval in zip(cotangents, self.avals, strict=True)]
        return [conjugate(cotangent) for cotangent in full] if self.has_complex else full

    def find_nan(self, cotangents: Sequence[Any]) -> str | None:
        given = [ct if ct is None or not hasattr(ct, "_read") else ct._read() for ct in cotangents]
        return None if self.second is None else self.second.find_nan((*self._held(False), *self._full(given)))

    def _shown(self, gradients: Sequence[Any]) -> Sequence[Any]:
        """Returns the gradients of the histories' bases that the executable computed."""
        if self.has_complex:
            gradients = [conjugate(gradient) for gradient in gradients]
        if self.bases is None:
            return gradients
        return [
            gradient if base is None else read_through(gradient, *find_window(*base))
            for gradient, base in zip(gradients, self.bases, strict=True)
        ]

    def _recorded(self, residuals: Sequence[Any], cotangents: Sequence[Any]) -> Sequence[Any]:
        second: Any = self.second
        bases = self.bases or [None] * len(self.edges)
        edges = [storage_edge(edge, base) for edge, base in zip(self.edges, bases, strict=True)]
        held, ends, gradients = second.values(residuals), second.edges(edges), None
        if second.in_bucket is not None:
            gradients = second.in_bucket.record(held, ends, cotangents)
        if gradients is None:
            gradients = pull_by(second.row, held, ends, cotangents)
        gradients = [cut_by(gradient, base) for gradient, base in zip(gradients, bases, strict=True)]
        return without_unreached(gradients, cotangents, self.apart)

    def release(self) -> None:
        self.residuals = self.versions = None
        self.second = self.consuming = None  # which lead to the program, and to the hooks that it was made under

    @property
    def cache_key(self) -> Any:
        if self.has_refills:  # these are read from storages while the backward runs
            return None
        return self.run, tuple(self.avals), None if self.bases is None else tuple(self.bases), self.has_complex

    @property
    def held(self) -> Any:
        return self.residuals

    def swap_held(self, held: Any, is_same: bool = False) -> Any:
        before, self.residuals = self.residuals, held
        if not is_same:
            self.versions = None
        return before
