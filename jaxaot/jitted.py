"""`ja.jit`: `jax.jit` of the graph that runs fastest, which also writes changes of flax nnx objects back."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, ParamSpec, TypeVar, overload

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._callables import require_function
from jaxaot._jax import as_one_call
from jaxaot.errors import ArgumentError, MissingNameError, UnsupportedVariableError, UsageError
from jaxaot.lower.jit import Jitted
from jaxaot.lower.static import Static
from jaxaot.lower.version import PLACED, Objects
from jaxaot.partition.fitting import find_traced, fitting, taken_bytes

if TYPE_CHECKING:
    from jaxaot.buckets.policy import Given
    from jaxaot.lower.jit_report import OfCall
    from jaxaot.lower.sized import Sized
    from jaxaot.lower.sizes import Dynamic

P = ParamSpec("P")
R = TypeVar("R")

_LIBRARY = "flax.nnx"
"""The library whose objects are written back. What concerns them is imported where there are some: it is much."""
_NUMBERS = (bool, int, float, complex, np.ndarray, np.generic)


def _may_be_written(value: object) -> bool:
    return any(str(owner.__module__).startswith(_LIBRARY) for owner in type(value).__mro__)


def _are_in(arguments: Any) -> bool:
    if _LIBRARY not in sys.modules:
        return False
    if not any(map(_may_be_written, jax.tree.leaves(arguments, is_leaf=_may_be_written))):
        return False  # the facade is not loaded for them
    from jaxaot.facade.cells.cells import cell_kinds, is_cell, is_leaf, kind_of

    def is_object(value: object) -> bool:
        return kind_of(value) is not None and not is_cell(value)

    args, kwargs = arguments
    if not cell_kinds():
        return False
    return any(map(is_object, args)) or any(map(is_object, jax.tree.leaves((args, kwargs), is_leaf=is_leaf)))


class _Stage:
    """A stage of JAX of the graph of a call with objects: `Traced`, `Lowered` or `Compiled`.

    It has what the stage of JAX has. Once compiled it is called with arguments like those of the call, not with their
    arrays, and what it changes in objects is written back.
    """

    def __init__(self, stage: Any, call: Callable[..., Any], types: object):
        self._stage, self._call, self._types = stage, call, types

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stage, name)

    def lower(self, **options: Any) -> _Stage:
        """Returns the lowered stage; `options` are those of `jax.stages.Traced.lower`."""
        return _Stage(self._stage.lower(**options), self._call, self._types)

    def compile(self, **options: Any) -> _Stage:
        """Returns the compiled stage; `options` are those of `jax.stages.Lowered.compile`."""
        return _Stage(self._stage.compile(**options), self._call, self._types)

    def __call__(self, *args: object, **kwargs: Any) -> Any:
        """Returns the results for arguments, and writes back what is changed in objects.

        Raises:
          ArgumentError: If they are of other types than those that the stage was made for.
          UsageError: If nothing is compiled yet.
        """
        if not isinstance(self._stage, jax.stages.Compiled):
            raise UsageError("Only what is compiled can be called: `ja.jit(f).lower(*args).compile()(*args)`.")
        given = _types_of(args, kwargs)
        if given != self._types:
            raise ArgumentError(f"This was compiled for {self._types}, and is called with {given}.")
        return self._call(*args, **kwargs)


def _types_of(args: tuple[object, ...], kwargs: dict[str, Any]) -> list[str]:
    """Returns the types of arguments as text: of arrays dtype and shape, of objects their class."""
    from jaxaot.facade.cells.cells import is_leaf

    def shown(leaf: Any) -> str:
        is_array = isinstance(leaf, (jax.Array, np.ndarray, jax.ShapeDtypeStruct))
        return f"{leaf.dtype}{list(leaf.shape)}" if is_array else type(leaf).__name__

    return [shown(leaf) for leaf in jax.tree.leaves((args, kwargs), is_leaf=is_leaf)]


class _OfObjects:
    """A function of objects: its changes to them are written back, their arrays reused.

    Attributes:
      compiled: What carries its calls out, as `ja.compile` does.
    """

    def __init__(self, fn: Callable[..., Any], options: dict[str, Any], **sizes: Any):
        """Wraps a function; nothing is traced yet.

        Args:
          fn: The function.
          options: Those of `jax.jit`.
          **sizes: What `ja.compile` takes of sizes that change; none do if nothing is said.
        """
        placed = [name for name in PLACED if options.get(name) is not None]
        if placed:
            raise UsageError(
                f"`ja.jit` was given {', '.join(placed)}, and its arguments hold flax nnx objects, whose arrays it "
                "would have to place. Place them in the objects themselves, `jax.device_put(array, sharding)`, which "
                "the compiled function follows, or pass `nnx.split(model)` instead of the model."
            )
        from jaxaot.api import compile as compile_function

        self._static = Static(fn, options)
        self.compiled, self._options = compile_function(fn, **(sizes or {"dynamic": False})), options

    def __call__(self, /, *args: object, **kwargs: Any) -> Any:
        given, named = self._given(args, kwargs)
        try:
            return self.compiled(*given, **named)
        except UnsupportedVariableError:  # mutable arrays, which JAX itself writes
            return self._by_library(*args, **kwargs)

    @functools.cached_property
    def _by_library(self) -> Callable[..., Any]:
        from jaxaot.facade.cells.cells import cell_kinds

        (kind,) = cell_kinds().values()
        return kind.jit(self.compiled.fn, self._options)

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        from jaxaot.facade.cells.cells import is_leaf

        moving, static = self._static.split(args, kwargs)
        as_array = lambda x: jnp.asarray(x) if isinstance(x, _NUMBERS) else x  # `jax.jit` is not specialised on these
        arrays = jax.tree.map(as_array, list(moving.values()), is_leaf=is_leaf)  # JAX does not sort 0 and "x" as keys
        given = static | dict(zip(moving, arrays, strict=True))
        return tuple(given[i] for i in range(len(args))), {name: given[name] for name in kwargs}

    def graph_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OfCall:
        """Returns the graph of a call, from arrays to results and what is written, and what goes with it."""
        from jaxaot.api import trace
        from jaxaot.lower.jit_report import OfCall
        from jaxaot.plan.alias import ArrayOutput
        from jaxaot.report.build import changes_of

        args, kwargs = self._given(args, kwargs)
        traced = trace(self.compiled.fn, *args, **kwargs)
        avals = traced.jaxpr.out_avals
        leaves = [
            jax.ShapeDtypeStruct(avals[source.output].shape, avals[source.output].dtype)
            if isinstance(source, ArrayOutput)
            else getattr(source, "value", None)
            for source in traced.alias.outputs
        ]
        types = jax.tree.unflatten(traced.out_tree, leaves)
        return OfCall(traced.jaxpr, types, changes_of(traced, self.compiled.fn))

    def staged(self, method: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns a stage of the graph of a call which, once compiled, takes what the call took.

        Args:
          method: `"lower"` or `"trace"`.
          name: What the stage calls the function.
          args: The arguments of the call.
          kwargs: Its keyword arguments.
        """

        def stage(found: OfCall, method: str) -> Any:
            run = as_one_call(found.graph, name)
            run.__name__ = run.__qualname__ = name
            avals = found.graph.in_avals
            types = [jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type) for aval in avals]
            return getattr(Jitted(run, {}, _OBJECTS), method)(*types)

        def measured(found: OfCall) -> tuple[OfCall, int | None]:
            return found, taken_bytes(stage(found, "lower").compile().memory_analysis())

        trace = lambda: self.graph_of(args, kwargs)
        with fitting() as asked:
            found = trace()
        if asked:
            found = find_traced(asked, name, found, trace, measured)
        return _Stage(stage(found, method), self, _types_of(args, kwargs))


def _explain_deleted(error: Exception, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    from jaxaot.facade.marks.bad_arguments import explain_deleted

    explain_deleted(error, fn, args, kwargs)


_OBJECTS = Objects(_are_in, _OfObjects, _explain_deleted)


@overload
def jit(
    fn: Callable[P, R],
    *,
    dynamic: Literal[True] | Mapping[str, Any],
    buckets: Given = "pow2",
    max_programs: int | None = None,
    **options: Any,
) -> Sized[P, R]: ...
@overload
def jit(fn: Callable[P, R], *, dynamic: Literal[False] = False, **options: Any) -> Jitted[P, R]: ...
@overload
def jit(
    fn: None = None, *, dynamic: Literal[False] = False, **options: Any
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
@overload
def jit(
    fn: None = None,
    *,
    dynamic: Literal[True] | Mapping[str, Any],
    buckets: Given = "pow2",
    max_programs: int | None = None,
    **options: Any,
) -> Callable[[Callable[P, R]], Sized[P, R]]: ...
def jit(
    fn: Callable[..., Any] | None = None,
    *,
    dynamic: Dynamic = False,
    buckets: Given = "pow2",
    max_programs: int | None = None,
    **options: Any,
) -> Any:
    """Returns `fn` compiled: a drop-in for `jax.jit` that first rewrites the graph, on CPU, for less time and memory.

        @functools.partial(ja.jit, donate_argnums=0)
        def step(state, batch): ...

    What is done is chosen by the platform for which a program is lowered: where arguments lie, where types with
    shardings say so, or `trace(x).lower(lowering_platforms=("tpu",))`, with or without devices of it here.
    On CPU the graph goes through the passes of `ja.config(passes=…)`, which change nothing but speed, and a graph with
    much memory runs as several programs. What `ja.remat` recomputes is recomputed: XLA on CPU drops the barriers of a
    plain `jax.jit`, and here they are kept. On other platforms, inside other transformations of JAX, and where
    shardings are given, it is `jax.jit`. Arguments that hold flax nnx objects, such as modules and optimizers, are
    treated as `nnx.jit` does: what the function changes in them is written back; their arrays are reused.
    For these `lower` and `trace` are of the graph of the call, from the arrays of arguments and Variables, in the order
    in which `ja.trace(fn, ...)` prints them, to results and what is written. Once compiled, `lower(model, x).compile()`
    is called with the objects, `(model, x)`; its first call makes the program that writes to them.
    What is compiled is kept as long as `fn` lives: to write `ja.jit(fn)(x)` in a loop compiles once.

    With `dynamic`, one program serves many sizes, without padding by hand. It is made at a bucket, and runs for all
    sizes up to it with the values of the exact program, to the order of sums.

        @functools.partial(ja.jit, dynamic={"ids": (0, 1)})
        def loss(params, ids): ...

    Each size is traced once, which is far less work than to compile it; where that trace shows that the program does
    not serve it, it has a program of its own. `loss.explain()` says which and why, `loss.warm_up(params, ids)` compiles
    all buckets up to these sizes ahead. See docs/sizes.md.

    Args:
      fn: The function; left out, a decorator is returned.
      dynamic: False for a program for each size. True for dims that are seen to change, after an exact first size. Or
        by name of an argument its dims, `(0, 1)`, or dims with their buckets, `{1: [128, 512]}`; of all its arrays.
      buckets: `"pow2"` for 2**k and 1.5 * 2**k from 8 on, a step such as 128 for its multiples, or all sizes.
      max_programs: How many programs are kept, 32 if None; the one that was used least recently goes.
      **options: Those of `jax.jit`: `static_argnums`, `donate_argnums`, `in_shardings`, `compiler_options`, …
    """
    if fn is None:
        return functools.partial(jit, dynamic=dynamic, buckets=buckets, max_programs=max_programs, **options)
    require_function(fn, "ja.jit", "ja.jit(f)")
    if dynamic is False:
        return Jitted(fn, options, _OBJECTS)
    from jaxaot.lower.sized import Sized

    return Sized(fn, options, _OBJECTS, dynamic, buckets, max_programs)


def _not_torchs(name: str, advice: str) -> Callable[..., Any]:
    """Returns what stands for a function of `torch.jit`."""

    def refuse(*_: object, **__: object) -> Any:
        raise MissingNameError(f"`ja.jit` is `jax.jit` with passes, and no `torch.jit`: it has no `{name}`. {advice}")

    return refuse


def _as_it_is(fn: object = None, *_: object, **__: object) -> Any:
    """Returns a function or module as it is, or a decorator that does: Python runs it, and `ja.compile` compiles it."""
    return fn if callable(fn) else _as_it_is


for _name in ("script", "trace", "ignore", "unused", "export"):
    setattr(jit, _name, _as_it_is)
for _name in ("is_scripting", "is_tracing"):
    setattr(jit, _name, lambda: False)
setattr(jit, "annotate", lambda _, value: value)  # noqa: B010  as above
setattr(jit, "Final", Final)  # noqa: B010
for _name, _advice in {
    "save": "Write `ja.export(fn, *args).save(path)`.",
    "load": "Write `ja.load(path)` for what `ja.export(fn, *args).save(path)` wrote.",
    "freeze": "Write `ja.compiler.freeze(model, x)`.",
}.items():
    setattr(jit, _name, _not_torchs(_name, _advice))
