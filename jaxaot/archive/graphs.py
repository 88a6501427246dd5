"""Graphs as portable programs, and back: StableHLO by `jax.export`.

A program in an archive is what `jax.export` wrote: it runs on each of its platforms, under every later version of JAX
that still reads it, and in plain JAX. Here it is a graph of one equation that calls it, so that what carries calls out
need not know where graphs come from.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import export

from jaxaot import settings as config
from jaxaot._jax import is_key_dtype, jaxpr_as_fun
from jaxaot._typing import Aval, ClosedJaxpr
from jaxaot.archive.kernels import refusals
from jaxaot.archive.readers import KEY_DTYPES
from jaxaot.backend.cpu.options import keeping_barriers
from jaxaot.backend.cpu.repair.hold_extremes import hold_extremes
from jaxaot.backend.cpu.tune import is_worth_tuning, tune
from jaxaot.errors import ArchiveError, ArgumentError, ExportError, MissingExtraError, NoDerivativeError
from jaxaot.ir.rewrite import inline
from jaxaot.lower.executable import Executable
from jaxaot.passes.pipeline import lowered_passes

PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
"""The platforms that a program may be for."""


def require_extra() -> None:
    """Raises unless what reads and writes archives is installed."""
    for name in ("flatbuffers", "safetensors"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise MissingExtraError(
                f"Archives need {name}, which is not installed. Install it with `pip install 'jaxaot[archive]'`."
            ) from error


def chosen_platforms(given: Sequence[str] | None) -> tuple[str, ...]:
    """Returns the platforms of an archive: those that are given, or that of this process."""
    if given is None:
        present = jax.default_backend()
        return ("cuda" if present == "gpu" else present,)
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or not set(names) <= set(PLATFORMS):
        raise ArgumentError(
            f"`platforms` is {given!r}, and an archive is for some of {', '.join(map(repr, PLATFORMS))}. Write "
            '`platforms=("cpu", "cuda")`.'
        )
    return names


def derivative_of(graph: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the graph that takes what a graph takes, and cotangents of what it returns, to gradients.

    Gradients are those of the inputs that have any: floats and complex numbers.
    """
    evaluate, is_float = jaxpr_as_fun(graph), _have_gradients(graph.in_avals)

    def pull(*given: Any) -> list[Any]:
        n = len(is_float)
        found = jax.vjp(evaluate, *given[:n])[1](list(given[n:]))
        return [gradient for gradient, is_one in zip(found, is_float, strict=True) if is_one]

    specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in (*graph.in_avals, *graph.out_avals)]
    return inline(jax.make_jaxpr(pull)(*specs), also_custom=True)


def _have_gradients(avals: Sequence[Aval]) -> list[bool]:
    return [bool(jnp.issubdtype(aval.dtype, jnp.inexact)) for aval in avals]


def graph_to_bytes(graph: ClosedJaxpr, name: str, platforms: Sequence[str]) -> bytes:
    """Returns a graph as a portable program."""
    evaluate = jaxpr_as_fun(graph)

    def run(*inputs: Any) -> list[Any]:
        return evaluate(*inputs)

    run.__name__ = run.__qualname__ = name
    specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in graph.in_avals]
    try:
        made = export.export(jax.jit(run, keep_unused=True), platforms=tuple(platforms))(*specs)
        return bytes(made.serialize())
    except Exception as error:
        raise ExportError(
            f"JAX cannot export the {name} for {', '.join(platforms)}: {error}. Prints and other calls of Python "
            "belong to this process; what one platform alone can do needs `platforms=` with that one."
        ) from error


def for_platforms(graph: ClosedJaxpr, platforms: Sequence[str]) -> ClosedJaxpr:
    """Returns a graph as XLA is to compile it where it is loaded, which sees none of its equations then.

    For CPUs alone it goes through their passes. Where a CPU is among the platforms, it is without what XLA on CPU
    compiles wrongly, most of it whether or not barriers are kept: plain JAX keeps none.
    """
    if "cpu" not in platforms:
        return graph
    settings = config.get()
    is_alone = set(platforms) == {"cpu"} and is_worth_tuning(graph)
    names = lowered_passes(settings.passes, "cpu", settings.exact_rounding, blocks=settings.blocks) if is_alone else ()
    made = tune(graph, names, settings.check_graphs, "cpu", settings.exact_rounding, keeps_barriers=False).jaxpr
    return hold_extremes(made)  # by barriers, which only `executables_of` keeps


def executables_of(*programs: Any) -> Callable[..., Executable]:
    """Returns what makes executables of graphs that call programs of an archive: barriers in them are kept."""
    if not any("optimization_barrier" in program.mlir_module() for program in programs):
        return Executable
    return functools.partial(Executable, compiler_options=keeping_barriers())


def program_from_bytes(content: bytes, name: str, written_by: str) -> Any:
    """Returns the `jax.export.Exported` that bytes hold.

    Raises:
      ArchiveError: If they hold none, one for another format of JAX, or one that calls Python.
    """
    try:
        made = export.deserialize(bytearray(content))
        text = made.mlir_module()
    except Exception as error:
        raise ArchiveError(
            f"This JAX ({jax.__version__}) does not read the {name} of the archive, which JAX {written_by} wrote: "
            f"{type(error).__name__}: {error}. JAX reads programs of the last six months at least: load the archive "
            f"with JAX {written_by}, or export the function again."
        ) from error
    if wrong := list(dict.fromkeys(refusals(text))):
        raise ArchiveError(
            f"The {name} of the archive is refused: {'; '.join(wrong)}. No archive of jaxaot does that: do not use the "
            "file."
        )
    if made.nr_devices != 1:
        raise ArchiveError(f"The {name} of the archive is for {made.nr_devices} devices, and archives are for one.")
    return made


def graph_of(made: Any, in_avals: Sequence[Aval], absent: Sequence[int], n_outputs: int | None = None) -> ClosedJaxpr:
    """Returns a graph of one equation, which calls a program.

    Args:
      made: The program.
      in_avals: What the graph takes.
      absent: Positions of the inputs that the program does not take.
      n_outputs: How many of its outputs the graph returns; None for all.
    """
    taken = [aval for i, aval in enumerate(in_avals) if i not in absent]
    types = [(tuple(aval.shape), aval.dtype) for aval in taken]
    found = [(tuple(aval.shape), aval.dtype) for aval in made.in_avals]
    if types != found:
        raise ArchiveError("A program of the archive takes other arrays than its manifest says. The file is damaged.")

    def call(*inputs: Any) -> Any:
        return made.call(*(x for i, x in enumerate(inputs) if i not in absent))[:n_outputs]

    specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in in_avals]
    return inline(jax.make_jaxpr(call)(*specs), also_custom=True)


def differentiable_once(made: Any, second: Any) -> Callable[..., Any]:
    """Returns what calls a program and is differentiated by another; the derivative of that is refused in words."""
    is_float = _have_gradients(made.in_avals)
    types = lambda avals: [(tuple(aval.shape), aval.dtype) for aval in avals]
    wanted = [aval for aval, is_one in zip(made.in_avals, is_float, strict=True) if is_one]
    if types([*made.in_avals, *made.out_avals]) != types(second.in_avals) or types(wanted) != types(second.out_avals):
        raise ArchiveError("The derivative of the archive's gradients is that of others. The file is damaged.")

    @jax.custom_vjp
    def call(*inputs: Any) -> Any:
        return made.call(*inputs)

    @jax.custom_vjp
    def pulled(inputs: Any, cotangents: Any) -> Any:
        return second.call(*inputs, *cotangents)

    def refuse(*_: Any) -> Any:
        raise NoDerivativeError(
            "The function comes from an archive, which holds its backward and one derivative of it. Compute third "
            "derivatives inside of the function that is exported, by `ja.autograd.grad(..., create_graph=True)`."
        )

    def pull(inputs: Any, cotangents: Any) -> Any:
        found = iter(pulled(inputs, cotangents))
        return tuple(next(found) if is_one else None for is_one in is_float)

    call.defvjp(lambda *inputs: (made.call(*inputs), inputs), pull)
    pulled.defvjp(refuse, refuse)
    return call


def graph_of_types(in_avals: Sequence[Aval], out_avals: Sequence[Aval]) -> ClosedJaxpr:
    """Returns a graph that says what a call takes and returns, where another one is run: its outputs are zeros."""
    specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in in_avals]
    return jax.make_jaxpr(lambda *_: list(map(_zeros, out_avals)))(*specs)


def _zeros(aval: Aval) -> Any:
    if is_key_dtype(aval.dtype):
        return jnp.broadcast_to(jax.random.key(0, impl=KEY_DTYPES[str(aval.dtype)]), aval.shape)
    return jnp.zeros(aval.shape, aval.dtype)
