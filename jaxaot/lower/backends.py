"""Backends by name: a *backend* makes a callable of a graph.

It is called as `backend(jaxpr, donated=(0, 2), name="forward", compiler_options=None)` and returns an object whose
`call` takes flat positional arrays and returns a flat list of arrays, and whose `donated` says which inputs it deletes.
If it says `makes_fresh_outputs = True`, nobody but the caller holds what `call` returns; otherwise a returned array may
be an input, a constant, or the same one twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxaot.errors import CompilerError
from jaxaot.lower.executable import Executable
from jaxaot.lower.interpret import Interpreter

Backend = Callable[..., Any]

_backends: dict[str, Backend] = {"xla": Executable, "interpret": Interpreter}

_OF_PYTORCH = {
    "inductor": "xla", "cudagraphs": "xla", "openxla": "xla", "eager": "xla", "aot_eager": "interpret",
    "aot_eager_default_partitioner": "interpret", "aot_eager_decomp_partition": "interpret",
}  # fmt: skip
"""PyTorch's names → what does as they say: `aot_eager` runs the graphs of forward and backward op by op."""


def register_backend(name: str, backend: Backend) -> None:
    """Makes a backend available by name, in place of any other of that name."""
    _backends[name] = backend


def backend_names() -> tuple[str, ...]:
    """Returns the names of the backends that exist."""
    return tuple(_backends)


def backend_name(backend: str | Backend) -> str | Backend:
    """Returns our name of a backend that PyTorch has another one for; anything else as it is."""
    return _OF_PYTORCH.get(backend, backend) if isinstance(backend, str) and backend not in _backends else backend


def get_backend(backend: str | Backend) -> Backend:
    """Returns the backend of that name; a callable is returned as it is.

    Raises:
      CompilerError: If there is none.
    """
    backend = backend_name(backend)
    if callable(backend):
        return backend
    if backend not in _backends:
        raise CompilerError(
            f"There is no backend {backend!r}. The backends are: {', '.join(_backends)}; of PyTorch's "
            f"names {', '.join(_OF_PYTORCH)} are taken. Add your own with `register_backend({backend!r}, function)`."
        )
    return _backends[backend]
