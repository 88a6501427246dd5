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


_XLA, _INTERPRET = "XLA compiles: drop `backend`. ", "Write `backend='interpret'`, which runs one equation at a time. "
_OF_PYTORCH = {
    "inductor": _XLA, "openxla": _XLA, "cudagraphs": _XLA, "tensorrt": _XLA, "onnxrt": _XLA, "eager": _INTERPRET,
    "aot_eager": _INTERPRET,
}  # fmt: skip
"""What is said to those who write a backend of PyTorch's."""


def register_backend(name: str, backend: Backend) -> None:
    """Makes a backend available by name, in place of any other of that name."""
    _backends[name] = backend


def backend_names() -> tuple[str, ...]:
    """Returns the names of the backends that exist."""
    return tuple(_backends)


def get_backend(backend: str | Backend) -> Backend:
    """Returns the backend of that name; a callable is returned as it is.

    Raises:
      CompilerError: If there is none.
    """
    if callable(backend):
        return backend
    if backend not in _backends:
        raise CompilerError(
            f"There is no backend {backend!r}. {_OF_PYTORCH.get(backend, '')}The backends are: "
            f"{', '.join(_backends)}. Add your own with `register_backend({backend!r}, function)`."
        )
    return _backends[backend]
