"""Compilers: what makes a callable of a graph.

A *compiler* takes a ClosedJaxpr and the types of its inputs, and returns a function of flat arrays that returns a list
of arrays; or a function of a list of them, marked as `make_boxed_func` does; or a graph, which runs as it is. In place
of one, the name of a backend (`"xla"`, `"interpret"`) may be given.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import jaxpr_as_fun
from jaxaot._typing import ClosedJaxpr
from jaxaot.errors import CompilerResultError
from jaxaot.ir.walk import short_aval
from jaxaot.lower.backends import Backend, get_backend

Compiler = Callable[[Any, Sequence[jax.ShapeDtypeStruct]], Any]


def make_boxed_func(fn: Callable[..., Sequence[Any]]) -> Callable[[list[Any]], Sequence[Any]]:
    """Returns a function that takes the list of what `fn` takes one by one, as compilers of PyTorch return it."""

    def boxed(args: list[Any]) -> Sequence[Any]:
        return fn(*args)

    vars(boxed)["_boxed_call"] = True
    return boxed


def make_boxed_compiler(compiler: Compiler) -> Compiler:
    """Returns a compiler whose functions take a list, see `make_boxed_func`."""

    def compile_boxed(jaxpr: ClosedJaxpr, example_avals: Sequence[Any] = ()) -> Callable[..., Sequence[Any]]:
        return make_boxed_func(_as_function(compiler(jaxpr, example_avals)))

    return compile_boxed


def _as_function(made: Any) -> Any:
    """Returns what a compiler made as a function of arrays: it may be one, or of a list, or a graph."""
    if isinstance(made, ClosedJaxpr):
        return jaxpr_as_fun(made)
    return (lambda *args: made(list(args))) if getattr(made, "_boxed_call", False) else made


def as_backend(compiler: Compiler | str, label: str, is_lazy: bool = False) -> Backend:
    """Returns a compiler as a backend of the runtime.

    Args:
      compiler: A compiler, or the name of a backend.
      label: What the user's argument is called.
      is_lazy: Whether to compile at the first call.

    Raises:
      CompilerError: If there is no backend of that name.
      CompilerResultError: If it is neither.
    """
    if isinstance(compiler, str):
        return get_backend(compiler)
    if not callable(compiler):
        raise CompilerResultError(
            f"`{label}` is a {type(compiler).__name__}. Pass a function that takes a ClosedJaxpr and the types of its "
            "inputs and returns a function of flat arrays, or the name of a backend such as 'xla'."
        )

    def make(jaxpr: ClosedJaxpr, donated: Sequence[int] = (), name: str = "graph") -> CompiledGraph:
        graph = CompiledGraph(compiler, label, jaxpr)
        if not is_lazy:
            graph.compile()
        return graph

    return make


class CompiledGraph:
    """What a compiler made of a graph, with the interface of an executable.

    Attributes:
      jaxpr: The ClosedJaxpr.
      donated: Always empty: a compiler is not told which inputs it could reuse.
    """

    def __init__(self, compiler: Compiler, label: str, jaxpr: ClosedJaxpr):
        self.jaxpr = jaxpr
        self.donated: tuple[int, ...] = ()
        self._compiler = compiler
        self._label = label
        self._run: Callable[..., Sequence[Any]] | None = None
        self._lock = threading.Lock()
        self._types = [(tuple(aval.shape), aval.dtype) for aval in jaxpr.out_avals]

    def compile(self) -> Callable[..., Sequence[Any]]:
        """Returns the compiled function, made at the first time."""
        with self._lock:
            run: Any = self._run
            if run is None:
                avals = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in self.jaxpr.in_avals]
                made = _as_function(self._compiler(self.jaxpr, avals))
                if not callable(made):
                    raise CompilerResultError(
                        f"`{self._label}` returned a {type(made).__name__} for a graph of {len(avals)} inputs. A "
                        "compiler returns a function of flat arrays, for instance "
                        "`jax.jit(jax.extend.core.jaxpr_as_fun(jaxpr))`."
                    )
                run = self._run = made
        return run

    def call(self, *args: object) -> list[Any]:
        """Returns the outputs of the graph."""
        results = (self._run or self.compile())(*args)
        if not isinstance(results, (list, tuple)):
            raise self._refusal(f"a {type(results).__name__}, not a list of arrays")
        if len(results) != len(self._types):
            raise self._refusal(f"{len(results)} values instead of {len(self._types)}")
        arrays = [x if isinstance(x, jax.Array) else self._as_array(i, x) for i, x in enumerate(results)]
        problems = [
            f"value {i} is {x.dtype}{list(x.shape)} instead of {short_aval(aval)}"
            for i, (x, (shape, dtype), aval) in enumerate(zip(arrays, self._types, self.jaxpr.out_avals, strict=True))
            if x.shape != shape or x.dtype != dtype
        ]
        if problems:
            raise self._refusal(f"values of other types: {'; '.join(problems)}")
        return arrays

    def _as_array(self, position: int, value: object) -> Any:
        if not isinstance(value, (np.ndarray, np.generic, int, float, complex, bool)):
            raise self._refusal(f"a {type(value).__name__} as value {position}, not an array")
        return jnp.asarray(value, None if isinstance(value, (np.ndarray, np.generic)) else self._types[position][1])

    def _refusal(self, what: str) -> CompilerResultError:
        return CompilerResultError(
            f"The function that `{self._label}` returned gave {what}. It has to compute the graph that the compiler "
            "got: flat arrays in, a list of arrays out, with the shapes and dtypes of `jaxpr.out_avals`. Nothing was "
            "changed by the call."
        )
