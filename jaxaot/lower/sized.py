"""`ja.jit` of functions whose arguments change their sizes: one program for all sizes up to a bucket, exact values.

The function is traced at each new size, as it would be anyway. If that trace is like the ones that the program of the
bucket was made of, the program runs on padded arrays; else the size has a program of its own. See `sizes.py`.
"""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import functools
import operator
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import as_one_call, is_key_dtype, is_outermost, trace_context
from jaxaot._util import shown, signature_of
from jaxaot.buckets.policy import Buckets, Given, read_buckets
from jaxaot.errors import UsageError
from jaxaot.lower.bucket_sharding import (
    OtherPlacesError,
    Parts,
    in_auto,
    is_typed,
    parts_of,
    shardings_of,
    typed_mesh,
)
from jaxaot.lower.jit import Jitted
from jaxaot.lower.size_class import CannotRunError, Fit, Graph, Made, Place, Shapes, graph_of
from jaxaot.lower.sizes import Dynamic, Sizes, axes_said, read_dims
from jaxaot.lower.static import Static
from jaxaot.lower.version import PLACED, Objects
from jaxaot.report.record import Report

P = ParamSpec("P")
R = TypeVar("R")

_KIND = "ja.jit(dynamic=…)"

MAX_PROGRAMS = 32
"""How many programs are kept if users do not say."""


class _Size(NamedTuple):
    """What is known of the calls of one size.

    Attributes:
      held: The program that they run, of a bucket or of their size; None if it is not held here.
      fit: How they run in the program of a bucket, if they do.
      run: Takes the arguments to the result, if they do not.
    """

    held: Made | _Exact | None
    fit: Fit | None = None
    run: Callable[..., Any] | None = None


class _Known:
    """Sizes that are found by few arrays: those alone whose sizes change.

    The others are not looked at. What runs was compiled for their types, and JAX traces it again for others: then the
    call looks at all. Many arrays, such as parameters, cost nothing so.

    Attributes:
      rest: What the traces depend on besides types.
      positions: Those of the arrays.
      sizes: By their types, how calls run; None if calls have to look at all arrays.
    """

    def __init__(self, rest: Any, positions: tuple[int, ...], n_misled: int = 0):
        self.rest, self.positions, self.n_misled = rest, positions, n_misled
        self.sizes: dict[Any, _Size] | None = None if n_misled > _MAX_MISLED else {}

    def was_misled(self) -> None:
        """Notes that another array decided."""
        self.n_misled += 1
        self.sizes = None if self.n_misled > _MAX_MISLED else {}

    def holds(self, gone: object) -> bool:
        """Returns whether a size runs in a program."""
        return self.sizes is not None and any(size.held is gone for size in self.sizes.values())


_MAX_MISLED = 3
"""Calls whose other arrays change their types look at all of them, after so many for which JAX traced in vain."""


class _OtherTypesError(Exception):
    """Ends the tracing of the program of a bucket for arrays of other types than it is for."""


class _Exact(NamedTuple):
    """A program of one size.

    Attributes:
      call: The jitted function.
      at: What calls of other sizes have in common with those of its size, and their shapes.
      alive: The function that it was made of, as what is compiled lives as long as this.
    """

    call: Jitted[..., Any]
    at: tuple[Any, Shapes]
    alive: Callable[..., Any]


def _apart(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function as another object: JAX keeps what it traced by it."""

    @functools.wraps(fn)
    def apart(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return apart


class _SizedCall:
    """A call of arrays whose sizes may change, a `SizedCall`."""

    def __init__(self, sized: Sized[Any, Any], rest: Any, avals: list[Any], leaves: list[Any], args: Any, kwargs: Any):
        self._sized, self.rest, self.avals, self.leaves = sized, rest, avals, leaves
        self._args, self._kwargs = args, kwargs
        self.moving, self.static = sized._static.split(args, kwargs)
        self._mesh, self._shardings = rest[-1], ()
        self.shapes = _shapes(avals)
        self.arrays: Mapping[int, Any] = dict(enumerate(leaves))
        self.parts: Parts = rest[-2]
        self.places: Mapping[Place, Buckets] = dict(self._places())
        self.fixed: Sequence[Place] = ()
        self.guesses: Mapping[Place, Buckets] = {}
        kinds = tuple((str(aval.dtype), aval.ndim, aval.weak_type) for aval in avals)
        places = [(i, axis, n) for i, shape in enumerate(self.shapes) for axis, n in enumerate(shape)]
        others = tuple(n for i, axis, n in places if (i, axis) not in self.places)
        self.key: Any = rest, kinds, None if sized._given is None else others

    def _places(self) -> Iterator[tuple[Place, Buckets]]:
        signature, position = signature_of(self._sized._fn), 0
        names = [] if signature is None else list(signature.parameters)
        for which, value in self.moving.items():
            name = names[which] if isinstance(which, int) and which < len(names) else str(which)
            for _ in jax.tree.leaves(value):
                said = axes_said(name, self._sized._given or {}, len(self.shapes[position]), "an array")
                yield from (((position, axis), buckets) for axis, buckets in said)
                position += 1

    def with_leaves(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns its arguments with other arrays in them."""
        tree = jax.tree.structure(list(self.moving.values()))
        given = dict(zip(self.moving, jax.tree.unflatten(tree, leaves), strict=True)) | self.static
        return tuple(given[i] for i in range(len(self._args))), {name: given[name] for name in self._kwargs}

    def _traced(self, specs: Sequence[Any]) -> Any:
        args, kwargs = self.with_leaves(specs)
        return self._sized._traced.trace(*args, **kwargs)

    def trace(self, at: Shapes) -> Graph:
        pairs = zip(at, self.avals, strict=True)
        specs = [jax.ShapeDtypeStruct(shape, a.dtype, weak_type=a.weak_type) for shape, a in pairs]
        if self._mesh is None or at != self.shapes:
            return graph_of(self._traced(specs))
        exact = self._traced(self.leaves).jaxpr  # the mesh is in types of results, not in graphs that are compared
        self._shardings = shardings_of(exact, self._mesh)
        if any(is_typed(jax.typeof(const)) for const in exact.consts):
            raise CannotRunError("a constant of it lies on several devices")
        try:
            return graph_of(self._traced(specs))
        except Exception as error:
            raise CannotRunError(f"for arrays on one device it raises {type(error).__name__}") from error

    def compiled(self, made: Made, name: str, large: Graph) -> Callable[..., Any]:
        graph, mesh = made.graph, self._mesh
        n_given = len(graph.in_avals) - len(large.closed.in_avals)
        donated = tuple(i + n_given for i in large.donated)
        run = as_one_call(graph, name)
        if mesh is not None:
            run = in_auto(run, mesh, self._shardings, graph.out_avals)
        kinds = [(a.shape, a.dtype) for a in graph.in_avals[n_given:]]

        def call(*args: Any) -> Any:
            found = list(map(jax.typeof, args[n_given:]))
            if [(a.shape, a.dtype) for a in found] != kinds or any(map(is_typed, found)) != (mesh is not None):
                raise _OtherTypesError
            return run(*args)

        call.__name__ = call.__qualname__ = name
        options = {**self._sized._compiling, **({"donate_argnums": donated} if donated else {})}
        return Jitted(call, options, self._sized._objects)

    def finished(self, fit: Fit) -> Fit:
        return fit._replace(shardings=self._shardings)


class Sized(Jitted[P, R]):
    """A jitted function with one program for many sizes of its arguments; else it is as what `ja.jit` returns."""

    def __init__(
        self,
        fn: Callable[P, R],
        options: dict[str, Any],
        objects: Objects,
        dynamic: Dynamic,
        buckets: Given,
        max_programs: int | None,
    ):
        """Wraps a function; nothing is traced yet.

        Args:
          fn: The function.
          options: Those of `jax.jit`.
          objects: How calls with objects are carried out.
          dynamic: True for what is seen to change; or names of arguments, with their dims.
          buckets: The sizes for which programs are made.
          max_programs: How many are kept.
        """
        placed = [name for name in PLACED if options.get(name) is not None]
        if placed:
            raise UsageError(
                f"`ja.jit` was given `dynamic` and {', '.join(placed)}. Sizes that change are padded, and where padded "
                "arrays go cannot be said beforehand. Leave one of them out."
            )
        if max_programs is not None and max_programs < 1:
            raise UsageError(f"`max_programs={max_programs}` keeps no program. Write a number from 1 on.")
        super().__init__(fn, options, objects)
        self._static = Static(fn, self._options)
        self._has_static = bool(self._static.numbers or self._static.names)
        self._buckets = read_buckets(buckets)
        self._given = None if isinstance(dynamic, bool) else read_dims(fn, dynamic, self._buckets)
        self._most = MAX_PROGRAMS if max_programs is None else max_programs
        of_compile = None if dynamic is True else dynamic  # by default it sees what changes
        self._said = {"dynamic": of_compile, "buckets": buckets, "max_programs": self._most}
        self._tracing = {k: v for k, v in self._options.items() if k.startswith(("donate", "static"))}
        self._compiling = {k: v for k, v in self._options.items() if k == "compiler_options"}
        self._lock = threading.RLock()
        self._reset()

    def _reset(self) -> None:
        self._traced = jax.jit(_apart(self._fn), **self._tracing)
        self._sizes: dict[Any, _Size] = {}
        self._known_sizes = Sizes(self._name, self._buckets if self._given is None else None)
        self._held: collections.OrderedDict[int, Any] = collections.OrderedDict()
        self._known: dict[Any, _Known] = {}
        self._found: _Known | None = None
        self._last: tuple[Any, list[Any], _Size] | None = None  # of those that were found by all types
        self._touched: Any = None
        self._n_made = 0

    @property
    def n_programs(self) -> int:
        """How many programs are kept."""
        return len(self._held) + (0 if self._made_of_objects is None else self._made_of_objects.compiled.n_programs)

    @property
    def n_programs_made(self) -> int:
        """How many programs were made."""
        made = self._made_of_objects
        return self._n_made + (0 if made is None else made.compiled.n_programs_made)

    def _without_types(self, args: Any, kwargs: Any) -> Any:
        """Returns the result of a call whose arguments JAX may know nothing of."""
        run: Any = self._of_objects() if self._objects.are_in((args, kwargs)) else super().__call__
        return run(*args, **kwargs)

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        of_jax = jax.config
        if not is_outermost() or of_jax.jax_debug_nans or of_jax.jax_debug_infs:  # invalid elements may be NaN
            return super().__call__(*args, **kwargs)
        if self._made_of_objects is not None and self._objects.are_in((args, kwargs)):
            return self._made_of_objects(*args, **kwargs)
        try:
            if self._has_static:
                leaves, rest = self._read(args, kwargs)
            else:
                leaves, tree = _flatten((args, kwargs))
                rest = tree, trace_context()
            known = self._found
            if known is None or known.rest != rest:
                known = self._known.get(rest)
        except TypeError:  # objects, or what JAX says more of
            return self._without_types(args, kwargs)
        if known is None or known.sizes is None:
            return self._by_all_types(rest, leaves, args, kwargs)
        try:
            size = known.sizes.get(tuple([leaves[i].aval for i in known.positions]))
        except AttributeError:  # NumPy's
            size = known.sizes.get(tuple([_aval(leaves[i]) for i in known.positions]))
        if size is None:
            return self._by_all_types(rest, leaves, args, kwargs)
        self._found = known
        try:
            return self._run(size, leaves, args, kwargs)
        except (_OtherTypesError, OtherPlacesError):
            known.was_misled()
        leaves, rest = self._read(args, kwargs)
        return self._by_all_types(rest, leaves, args, kwargs)

    def _by_all_types(self, rest: Any, leaves: list[Any], args: Any, kwargs: Any) -> R:
        """Returns the result of a call whose size is found by the types of all its arrays."""
        try:
            avals = list(map(_aval, leaves))
            rest = *rest, parts_of(leaves), typed_mesh(leaves)
            last = self._last
            if last is not None and last[0] == rest and _are_the_same(last[1], avals):
                size = last[2]
            else:
                size = self._sizes.get((rest, tuple(avals)))
        except TypeError:
            return self._without_types(args, kwargs)
        if size is None or (size.held is not None and id(size.held) not in self._held):
            size = self._new_size(rest, avals, leaves, args, kwargs)
        self._last = rest, avals, size
        if isinstance(size.held, Made):
            self._know(size, size.held, rest[:-2], avals)
        return self._run(size, leaves, args, kwargs)

    def _run(self, size: _Size, leaves: list[Any], args: Any, kwargs: Any) -> R:
        held, fit, run = size
        if held is not None and held is not self._touched:
            self._touch(held)
        if run is not None:
            return run(*args, **kwargs)
        assert fit is not None, "it runs in a bucket"
        try:
            return fit.origin.unflatten(fit(leaves))
        except (RuntimeError, ValueError) as error:  # until JAX 0.10 the latter, of arrays that were deleted
            self._objects.explain_deleted(error, self._fn, args, kwargs)
            raise

    def _know(self, size: _Size, made: Made, rest: Any, avals: list[Any]) -> None:
        """Has calls like one that was found be found by the types of the arrays alone whose sizes change."""
        with self._lock:
            known = self._known.get(rest)
            positions = {*made.moving, *(() if known is None else known.positions)}
            if known is None or len(positions) > len(known.positions):
                n = 0 if known is None else known.n_misled
                known = self._known[rest] = _Known(rest, tuple(sorted(positions)), n)
            if known.sizes is not None:
                known.sizes[tuple([avals[i] for i in known.positions])] = size

    def _read(self, args: Any, kwargs: Any) -> tuple[list[Any], Any]:
        """Returns the arrays of a call, and what its trace depends on besides their types."""
        if not self._has_static:
            leaves, tree = _flatten((args, kwargs))
            return leaves, (tree, trace_context())
        moving, static = self._static.split(args, kwargs)
        leaves, tree = _flatten(list(moving.values()))
        return leaves, (tree, trace_context(), tuple(moving), _typed(static))

    def _touch(self, held: Made | _Exact) -> None:
        try:
            self._held.move_to_end(id(held))
            self._touched = held
        except KeyError:  # another thread has let it go
            pass

    def _hold(self, held: Made | _Exact) -> None:
        """Keeps a program, and lets the one go that was used least recently if there are too many."""
        if id(held) in self._held:
            return
        self._held[id(held)] = held
        self._n_made += 1
        self._touched = held
        while len(self._held) > self._most:
            _, gone = self._held.popitem(last=False)
            self._sizes = {key: size for key, size in self._sizes.items() if size.held is not gone}
            self._known = {rest: known for rest, known in self._known.items() if not known.holds(gone)}
            self._found = self._last = self._touched = None
            if isinstance(gone, Made):
                self._known_sizes.forget(gone)
            else:
                self._known_sizes.refused.pop(gone.at, None)

    def _new_size(self, rest: Any, avals: list[Any], leaves: list[Any], args: Any, kwargs: Any) -> _Size:
        with self._lock:
            known = self._sizes.get((rest, tuple(avals)))
            if known is not None and (known.held is None or id(known.held) in self._held):
                return known
            if self._objects.are_in((args, kwargs)):
                size = _Size(None, run=self._of_objects())
            else:
                call = _SizedCall(self, rest, avals, leaves, args, kwargs)
                fit = self._known_sizes.fit(call)
                if isinstance(fit, Fit):
                    size = _Size(fit.made, fit)
                else:
                    alive = _apart(self._fn)
                    exact = _Exact(Jitted(alive, self._options, self._objects), (call.key, call.shapes), alive)
                    size = _Size(exact, run=exact.call)
            if size.held is not None:
                self._hold(size.held)
            self._sizes[rest, tuple(avals)] = size
            return size

    # looking at it

    def explain(self, /, *args: Any, **kwargs: Any) -> Report:
        """Returns a report on the programs that there are: their buckets and what was written, or why they are exact.

        Args:
          *args: Arguments of a call, for which a program is found first, and whose graph is shown; without any, what is
            known is said.
          **kwargs: Arguments that are passed by name.
        """
        if not (args or kwargs):
            return Report(self._name, _KIND, jax.default_backend(), programs=tuple(self._described()))
        if self._objects.are_in((args, kwargs)):
            self._of_objects()
        else:
            call = self._sized_call(args, kwargs)
            self._new_size(call.rest, call.avals, call.leaves, args, kwargs)
        report = super().explain(*args, **kwargs)
        return dataclasses.replace(report, kind=_KIND, programs=tuple(self._described()))

    def _sized_call(self, args: Any, kwargs: Any) -> _SizedCall:
        leaves, rest = self._read(args, kwargs)
        rest = *rest, parts_of(leaves), typed_mesh(leaves)
        return _SizedCall(self, rest, list(map(_aval, leaves)), leaves, args, kwargs)

    def _described(self) -> Iterator[str]:
        yield f"{self._name}: {self.n_programs} programs for {len(self._sizes)} sizes"
        yield from self._known_sizes.described()
        if self._made_of_objects is not None:
            yield from self._made_of_objects.compiled.explain().programs

    def warm_up(self, /, *args: P.args, **kwargs: P.kwargs) -> int:
        """Compiles the programs of all buckets up to the sizes of some arguments, side by side.

        Args:
          *args: Arguments of the largest sizes; their values do not count, and they are not given away.
          **kwargs: Arguments that are passed by name.

        Returns:
          The number of programs that there are then.

        Raises:
          UsageError: If no dim is known to change.
        """
        if self._objects.are_in((args, kwargs)):
            return self._of_objects().compiled.warm_up(*args, **kwargs)
        sized = self._sized_call(args, kwargs)
        with self._lock:
            every = self._known_sizes.up_to(sized, 'ja.jit(fn, dynamic={"ids": (0, 1)})')
        call: Any = self

        def run(shapes: Shapes) -> None:
            positional, named = sized.with_leaves(list(map(_zeros, sized.leaves, shapes)))
            jax.block_until_ready(jax.tree.leaves(call(*positional, **named)))

        with concurrent.futures.ThreadPoolExecutor(min(len(every), os.cpu_count() or 1)) as pool:
            list(pool.map(run, every))
        return self.n_programs

    def clear_cache(self) -> None:
        """Drops all that was compiled, and what is known of sizes."""
        with self._lock:
            super().clear_cache()
            self._made_of_objects = None
            self._traced.clear_cache()
            self._reset()

    def __repr__(self) -> str:
        return f"<ja.jit of {shown(self._fn)}, for sizes that change>"


_flatten = jax.tree.flatten


def _aval(leaf: Any) -> Any:
    """Returns the type of an argument: the same object for arrays of one type, which are then found sooner."""
    if isinstance(leaf, np.ndarray):
        return _aval_of(leaf.shape, leaf.dtype)
    return leaf.aval if isinstance(leaf, jax.Array) else jax.typeof(leaf)


@functools.lru_cache(4096)
def _aval_of(shape: tuple[int, ...], dtype: Any) -> Any:
    return jax.typeof(np.broadcast_to(np.zeros((), dtype), shape))


def _typed(static: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Returns static arguments as a key, in which 1 is not True."""
    return tuple((name, type(value), value) for name, value in static.items())


def _are_the_same(known: list[Any], avals: list[Any]) -> bool:
    if len(known) != len(avals):
        return False
    return all(map(operator.is_, known, avals)) or known == avals


def _zeros(leaf: Any, shape: tuple[int, ...]) -> Any:
    """Returns an argument like another one, of a shape."""
    if not isinstance(leaf, jax.Array):
        return leaf if shape == jnp.shape(leaf) else jnp.zeros(shape, jnp.asarray(leaf).dtype)
    if is_key_dtype(leaf.dtype):
        return leaf.copy()
    return jnp.zeros(shape, leaf.dtype, device=leaf.sharding if leaf.committed else None)


def _shapes(avals: Sequence[Any]) -> Shapes:
    return tuple(tuple(aval.shape) for aval in avals)
