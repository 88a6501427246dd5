"""One version of a jitted function: under some passes, for some platform and settings.

A function is traced as `jax.jit` would trace it, its graph goes through the passes for the platform, and `jax.jit`
compiles that. Where the graph is run in another way, see `backend/cpu/run.py`, a call runs that instead.

Functions in it may have memory budgets, which are met by estimates. For a limit on everything, `"fit:16GiB"`, and where
a cut may take more memory than what JAX makes of the function, the program is compiled and measured. If it takes too
much, the function is traced again with less to save, or left to JAX, see `Version._fitted`.

Only the tracing of a call says that it is a new one: to look at its arguments before would make every call slower. JAX
has no other end of a tracing than an exception, so that is how one ends that finds another way.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from jaxaot._jax import as_one_call, is_tracer, jaxpr_as_fun, needs_lowering
from jaxaot._logs import logger_of
from jaxaot._typing import ClosedJaxpr
from jaxaot._util import collector, shown
from jaxaot.backend.cpu.memory.sequential import is_free_of_effects, places_of
from jaxaot.backend.cpu.options import (
    gains_by_optimizing,
    keeping_barriers,
    keeping_roundings,
    optimizing_less,
    with_eigen_convolutions,
)  # fmt: skip
from jaxaot.backend.cpu.run import Lowering, LoweringChoice, choose_way
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import check_sizes
from jaxaot.lower.cache_key import jax_settings
from jaxaot.lower.check import evaluate, require_right
from jaxaot.lower.executable import Executable
from jaxaot.lower.placed import note_symbols, tracing
from jaxaot.lower.static import Static, refuse_cycles
from jaxaot.partition.fitting import Asked, find_traced, fitting, taken_bytes
from jaxaot.passes.declared import On
from jaxaot.passes.pipeline import lowered_passes
from jaxaot.settings import Config

if TYPE_CHECKING:
    from jaxaot.lower.jit_report import OfCall

_log = logger_of("graphs")

PLACED = ("in_shardings", "out_shardings", "device", "backend", "abstracted_axes")
"""Options that say where things go: they are for one program, and for XLA to work out."""

_SHARDINGS = "in_shardings", "out_shardings"
"""Those of them with which a program is compiled apart too, to be measured."""


class _Found(NamedTuple):
    """A call whose graph is run in another way than as the program that JAX was tracing.

    Attributes:
      way: How it is lowered.
      out_tree: What its outputs are.
      donated: The positions of the inputs that it gives away.
    """

    way: LoweringChoice
    out_tree: Any
    donated: list[int]


class _Fully(NamedTuple):
    """A call whose graph gains by what LLVM does at its third level.

    Attributes:
      graph: The graph, as it was traced.
      way: How it is run.
    """

    graph: ClosedJaxpr
    way: LoweringChoice


class OtherSpecialization(Exception):
    """Ends the tracing of a function whose graph is run in another way.

    Attributes:
      found: The call, what is asked of its program if that is measured, or that LLVM is to optimize it fully.
    """

    def __init__(self, found: _Found | Asked | _Fully):
        super().__init__("the graph is run in another way")
        self.found = found


class _Measured(NamedTuple):
    """A program that was compiled and measured.

    Attributes:
      call: Takes arrays to the results of the graph.
      graph: The graph.
      way: How it is run.
      out_tree: What its outputs are.
    """

    call: Callable[..., Any]
    graph: ClosedJaxpr
    way: LoweringChoice | None
    out_tree: Any


class HasObjects(Exception):
    """Ends the tracing of a function whose arguments hold objects that it may change."""


class OfObjects(Protocol):
    """A jitted function of objects, whose calls `compiled` carries out."""

    compiled: Any

    def __call__(self, /, *args: object, **kwargs: Any) -> Any: ...

    def graph_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OfCall:
        """Returns the graph of a call, and what goes with it."""
        ...

    def staged(self, method: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns a stage of that graph, by `method`, which, once compiled, takes what the call took."""
        ...


class Objects(NamedTuple):
    """How functions of objects are jitted, whose changes a call has to write back.

    Attributes:
      are_in: Returns whether arguments hold such objects.
      make: Takes (function, options of `jax.jit`), and what is said of sizes that change, to what calls it.
      explain_deleted: Takes (error, function, arguments, keyword arguments), and raises a clearer error if it is about
        an array that was deleted.
    """

    are_in: Callable[[Any], bool]
    make: Callable[..., OfObjects]
    explain_deleted: Callable[[Exception, Callable[..., Any], tuple[Any, ...], dict[str, Any]], None]


class _TunedFunction:
    """A function that is traced into a graph, which is tuned."""

    def __init__(self, fn: Callable[..., Any], version: Version, is_one_program: bool, is_less: bool):
        """Wraps one; `is_less` says whether LLVM is told to optimize less than it can."""
        functools.update_wrapper(self, fn, updated=())
        self._fn, self._version = fn, version
        self._is_one_program, self._is_less = is_one_program, is_less

    def __repr__(self) -> str:
        return shown(self._fn)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        leaves = self._version.leaves_of(args, kwargs)
        if not any(map(is_tracer, leaves)):  # nothing is traced, such as under `jax.disable_jit`
            return self._fn(*args, **kwargs)
        return self._tuned(leaves, args, kwargs)

    @collector.waits()
    def _tuned(self, leaves: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        # as `jax.jit` traces it, whose messages name the user's arguments
        version = self._version
        traced, asked = version.trace(args, kwargs)
        known = version.known
        if self._is_one_program and known is not None and known[0] is traced.jaxpr:
            call = as_one_call(known[1], getattr(self._fn, "__name__", "fn"))
            return jax.tree.unflatten(traced.out_tree, call(*leaves))
        if asked is not None and not self._is_one_program:
            raise OtherSpecialization(asked)
        if not version.changes_graphs:  # the very graph of `jax.jit`, from the one trace if it can be
            if len(traced.jaxpr.in_avals) > len(leaves) or needs_lowering(traced.jaxpr):
                return self._fn(*args, **kwargs)
            return jax.tree.unflatten(traced.out_tree, jaxpr_as_fun(traced.jaxpr)(*leaves))
        name = getattr(self._fn, "__name__", "fn")
        way = version.way_of(traced.jaxpr, len(leaves), self._is_one_program)
        if way is None:
            return self._fn(*args, **kwargs)
        if way.needs_own_call and not self._is_one_program:
            raise OtherSpecialization(_Found(way, traced.out_tree, donated_by(traced)))
        graph = way.tuned.jaxpr if way.is_changed else traced.jaxpr
        if self._is_less and not self._is_one_program and way.tuned.optimizes_fully:
            raise OtherSpecialization(_Fully(traced.jaxpr, way))
        return jax.tree.unflatten(traced.out_tree, as_one_call(graph, name)(*leaves))


class Checked:
    """A function that refuses to be traced with arguments that hold objects.

    It does not keep the function that it calls alive: what is compiled for a function is kept as long as that lives.
    Whoever calls it does.
    """

    def __init__(self, fn: Callable[..., Any], objects: Objects):
        named = fn
        while isinstance(named, functools.partial):
            named = named.func
        for name in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(named, name):
                setattr(self, name, getattr(named, name))
        self.objects = objects
        try:
            self._found: Callable[[], Any] = weakref.ref(fn)
        except TypeError:
            self._found = lambda: fn

    def __repr__(self) -> str:
        return shown(self.__wrapped__)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function, whose signature and place messages of JAX name."""
        return self._found()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self.objects.are_in((args, kwargs)):
            raise HasObjects
        note_symbols(args, kwargs)
        result = self.__wrapped__(*args, **kwargs)
        refuse_cycles(result, "The results")
        return result


class _Described(NamedTuple):
    """What the trace of a call depends on.

    Attributes:
      leaves: The arrays that it takes.
      avals: Their types.
      rest: The structure of the arguments, static ones, and the settings of JAX; hashable.
    """

    leaves: list[Any]
    avals: list[Any]
    rest: Any

    def key(self) -> Any:
        return tuple(self.avals), self.rest

    def is_like(self, other: _Described) -> bool:
        """Returns whether types are the very same objects, as results of one program have, and the rest is equal."""
        return all(map(operator.is_, self.avals, other.avals)) and self.rest == other.rest

    def without_arrays(self) -> _Described:
        return self._replace(leaves=[])


class _Recent(NamedTuple):
    """The latest call that ran subprograms, and what runs them."""

    call: _Described
    run: Callable[..., Any]


class Version:
    """A function jitted under some passes.

    Attributes:
      known: A graph about to be traced again, and what runs then.
      chosen: One about to be compiled with other options, and how it is run.
      run: Carries out a call: the function that `jax.jit` returned, until a graph needs another way.
      notes: What a report says of programs that were measured.
    """

    def __init__(self, fn: Checked, options: dict[str, Any], settings: Config, platform: str):
        passes = lowered_passes(
            settings.passes, platform, settings.exact_rounding, blocks=settings.blocks, on=On.JITTED
        )
        is_placed = any(options.get(name) is not None for name in PLACED)
        if is_placed:
            passes = ()
        self._fn, self._options, self._static = fn, options, Static(fn, options)
        self._tracing = {k: v for k, v in options.items() if k.startswith(("donate", "static")) or k in _SHARDINGS}
        self._traced = jax.jit(fn, **self._tracing)  # from which all ways take the graph
        self._settings, self._passes, self._platform = settings, passes, platform
        self._measures = all(options.get(name) is None for name in PLACED if name not in _SHARDINGS)
        self.known: tuple[ClosedJaxpr, ClosedJaxpr] | None = None
        self.chosen: tuple[ClosedJaxpr, LoweringChoice] | None = None
        self._asked: dict[int, tuple[ClosedJaxpr, Asked]] = {}  # by id: graphs whose program is measured
        compiler_options = keeping_barriers(options.get("compiler_options"), platform)
        if settings.exact_rounding:
            compiler_options = keeping_roundings(compiler_options)
        self._compiler_options = compiler_options or None
        self._is_less = self._looks_at_graphs
        self._jitted: Any = self._jit(self._compiler_options)
        self._go: Callable[..., Any] = self._jitted
        self.run: Callable[..., Any] = self._run_checked if settings.check_executables else self._jitted
        self._own_calls: dict[Any, Callable[..., Any]] = {}
        self.notes: tuple[str, ...] = ()
        self._known: set[Any] = set()  # calls whose programs were looked at
        self._recent: _Recent | None = None

    @property
    def changes_graphs(self) -> bool:
        """Whether graphs may be changed before JAX compiles them: by the passes, or by repairs."""
        return bool(self._passes) or self._platform == "cpu"

    @property
    def _looks_at_graphs(self) -> bool:
        """Whether graphs are looked at before JAX compiles them: for the passes, for repairs, and to be measured."""
        return self.changes_graphs or self._measures

    def leaves_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Returns the arrays of a call."""
        moving, _ = self._static.split(args, kwargs)
        return jax.tree.leaves(list(moving.values()))

    def trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Asked | None]:
        """Returns the function as it is traced, and what is asked of its program if that is to be measured."""
        if not self._measures:
            return self._traced.trace(*args, **kwargs), None
        with fitting() as asked, self._placing(args, kwargs):
            found = self._traced.trace(*args, **kwargs)
        if asked:
            self._asked[id(found.jaxpr)] = found.jaxpr, asked
        _, known = self._asked.get(id(found.jaxpr), (None, None))  # JAX may have traced it before
        return found, known

    def _placing(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns a scope in which the function is traced knowing how its arguments lie."""
        shardings = self._options.get("in_shardings")
        asked: list[Any] = []
        if shardings is not None and not (kwargs or self._static.numbers or self._static.names):
            with contextlib.suppress(ValueError):  # JAX says what is wrong with it
                is_one = lambda x: x is None or isinstance(x, jax.sharding.Sharding | jax.sharding.PartitionSpec)
                prefix = tuple(shardings) if isinstance(shardings, list) else shardings
                asked = jax.tree.leaves(jax.tree.broadcast(prefix, args, is_leaf=is_one), is_leaf=is_one)
        return tracing(args, kwargs, asked)

    def way_of(self, closed: ClosedJaxpr, n_given: int, is_one_program: bool) -> LoweringChoice | None:
        """Returns how the graph of a call is run; None if only JAX can do that.

        Args:
          closed: The graph.
          n_given: How many arrays the call has; a graph of more has tracers of others, and JAX says where they leaked.
          is_one_program: Whether it has to be one.
        """
        chosen, self.chosen = self.chosen, None
        if chosen is not None and chosen[0] is closed:
            return chosen[1]
        if len(closed.in_avals) > n_given or needs_lowering(closed):
            return None
        check_sizes(closed.jaxpr)
        _log.debug("under ja.jit:\n%s", closed)
        settings, opened = self._settings, inline(closed, also_custom=True)
        return choose_way(
            opened, self._passes, settings.check_graphs, settings.exact_rounding, self._platform, is_one_program
        )

    def _jit(self, compiler_options: Any, is_one_program: bool = False) -> Any:
        """Returns the function as one program; unless it must be one, tracing may end with `OtherSpecialization`."""
        fn = self._fn
        if self._is_less:
            compiler_options = optimizing_less(compiler_options, self._platform)
        if self._looks_at_graphs:
            fn = _TunedFunction(fn, self, is_one_program, self._is_less)
        return jax.jit(fn, **{**self._options, "compiler_options": compiler_options})

    @functools.cached_property
    def _whole(self) -> Any:
        return self._jit(self._compiler_options, is_one_program=True)

    @functools.cached_property
    def _whole_by_eigen(self) -> Any:
        return self._jit(with_eigen_convolutions(self._compiler_options), is_one_program=True)

    def _optimize_fully(self) -> None:
        """Has LLVM optimize what it compiles from now on as much as it can, if it does not yet."""
        if not self._is_less:
            return
        self._is_less, before = False, self._jitted
        self._jitted = self._jit(self._compiler_options)
        self._forget_stages()
        self._go = self._jitted if self._go is before else self._go
        self.run = self._jitted if self.run is before else self.run

    def _forget_stages(self) -> None:
        for name in ("_whole", "_whole_by_eigen"):
            self.__dict__.pop(name, None)

    def _run_own_calls(self, /, *args: Any, **kwargs: Any) -> Any:
        """Carries out a call by the subprograms or shards of its graph if it has some."""
        call = self._described(args, kwargs)
        recent = self._recent
        if recent is not None and recent.call.is_like(call):
            return recent.run(call.leaves)
        run = self._own_calls.get(call.key())
        if run is None:
            return self._jitted(*args, **kwargs)
        self._recent = _Recent(call.without_arrays(), run)
        return run(call.leaves)

    def run_in(self, found: _Found, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Carries out a call whose graph needs another way, and others like it from now on."""
        call = self._described(args, kwargs)
        with collector.waits():
            run = self._own_calls[call.key()] = self._own_call(found, call.leaves)
        self._go = self._run_own_calls
        if not self._settings.check_executables:
            self.run = self._go
        return run(call.leaves)

    def run_measured(self, asked: Asked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Carries out a call whose program is measured, and others like it from now on."""
        call = self._described(args, kwargs)
        with collector.waits():
            found = self._fitted(asked, args, kwargs)
            unflatten, flat = found.out_tree.unflatten, found.call
            run = self._own_calls[call.key()] = lambda leaves: unflatten(flat(*leaves))
        self._go = self._run_own_calls
        if not self._settings.check_executables:
            self.run = self._go
        return run(call.leaves)

    def _fitted(self, asked: Asked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Measured:
        """Returns a program that takes no more memory than is asked, as the compiler measures it.

        Raises:
          BudgetError: If none was found.
        """

        def trace() -> Any:
            fn = Checked(self._fn.__wrapped__, self._fn.objects)  # another function, as JAX keeps traces
            with self._placing(args, kwargs):
                return jax.jit(fn, **self._tracing).trace(*args, **kwargs)

        name, first = getattr(self._fn, "__name__", "fn"), self._traced.trace(*args, **kwargs)
        found = find_traced(asked, name, first, trace, lambda traced: self._measured(traced, args, kwargs))
        self.notes = (*self.notes, *asked.notes)
        asked.notes.clear()
        return found

    def _measured(self, traced: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[_Measured, int | None]:
        """Returns the program of a traced function, compiled, and what it takes; None if the compiler does not say."""
        leaves = self.leaves_of(args, kwargs)
        way = self.way_of(traced.jaxpr, len(leaves), is_one_program=True)
        graph = way.tuned.jaxpr if way is not None and way.is_changed else traced.jaxpr
        options = self._compiler_options
        if not _gains(way, graph):
            options = optimizing_less(options, self._platform)
        if way is not None and way.how is Lowering.EIGEN:
            options = with_eigen_convolutions(options)
        name = getattr(self._fn, "__name__", "fn")
        how = {"donate_argnums": donated_by(traced), "compiler_options": options or None}
        how |= self._shardings(args, kwargs, traced.out_tree)
        jitted = jax.jit(as_one_call(graph, name), **how)
        memory = jitted.lower(*leaves).compile().memory_analysis()  # a call finds what was compiled
        return _Measured(jitted, graph, way, traced.out_tree), taken_bytes(memory)

    def _shardings(self, args: tuple[Any, ...], kwargs: dict[str, Any], out_tree: Any) -> dict[str, Any]:
        """Returns the shardings that were given, as options for the arrays of a call and of its results."""
        moving, _ = self._static.split(args, kwargs)
        results = out_tree.unflatten([0] * out_tree.num_leaves)
        trees = {"in_shardings": tuple(moving.values()), "out_shardings": results}
        is_one = lambda x: x is None or isinstance(x, jax.sharding.PartitionSpec)
        found = {}
        for name, tree in trees.items():
            if self._options.get(name) is not None:
                given = self._options[name]
                prefix = tuple(given) if name == "in_shardings" and isinstance(given, list) else given
                found[name] = jax.tree.leaves(jax.tree.broadcast(prefix, tree, is_leaf=is_one), is_leaf=is_one)
        return found | ({"in_shardings": tuple(found["in_shardings"])} if "in_shardings" in found else {})

    def _run_checked(self, *args: Any, **kwargs: Any) -> Any:
        """Carries out a call after a look at what its program returns, if it is the first of its kind.

        Raises:
          WrongExecutableError: If the program does not compute what the graph says.
        """
        key = self._described(args, kwargs).key()
        if key not in self._known:
            traced = self._traced.trace(*args, **kwargs)
            closed = inline(traced.jaxpr, also_custom=True)
            if is_free_of_effects(closed):
                self._check(traced, closed, args, kwargs)
            self._known.add(key)
        return self._carry_out(args, kwargs)

    def _check(self, traced: Any, closed: ClosedJaxpr, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        name = getattr(self._fn, "__name__", "fn")
        leaves = self.leaves_of(args, kwargs)
        right = evaluate(closed, leaves, name)
        given = jax.tree.map(lambda x: jnp.array(x, copy=True) if isinstance(x, jax.Array) else x, (args, kwargs))
        got = jax.tree.leaves(self._carry_out(*given))
        places = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(traced.out_info)]
        alike = lambda graph: Executable(graph, (), name, self._options.get("compiler_options")).unchecked
        require_right(closed, leaves, got, right, name, lambda i: f"its result{places[i]}", alike)

    def _carry_out(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return self._go(*args, **kwargs)
        except OtherSpecialization as ended:  # which holds the frames that it was raised through
            found = ended.found
        return self.run_other(found, args, kwargs)

    def run_other(self, found: _Found | Asked | _Fully, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Carries out a call whose tracing ended with another way."""
        if isinstance(found, _Fully):
            self._optimize_fully()
            self.chosen = found.graph, found.way
            return self._carry_out(args, kwargs)
        if isinstance(found, Asked):
            return self.run_measured(found, args, kwargs)
        return self.run_in(found, args, kwargs)

    def staged(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of a method such as `lower` of the jitted function, for one program."""
        if not self._looks_at_graphs:
            return getattr(self._whole, method)(*args, **kwargs)
        traced, asked = self.trace(args, kwargs)
        if asked is None and not self._passes:
            if gains_by_optimizing(traced.jaxpr.jaxpr):
                self._optimize_fully()
            return getattr(self._whole, method)(*args, **kwargs)
        if asked is None:
            way = self.way_of(traced.jaxpr, len(self.leaves_of(args, kwargs)), is_one_program=True)
            if way is None:
                return getattr(self._whole, method)(*args, **kwargs)
            graph = way.tuned.jaxpr if way.is_changed else traced.jaxpr
        else:
            found = self._fitted(asked, args, kwargs)
            way, graph = found.way, found.graph
        if _gains(way, graph):
            self._optimize_fully()
        self.known = traced.jaxpr, graph
        try:
            jitted = self._whole_by_eigen if way is not None and way.how is Lowering.EIGEN else self._whole
            return getattr(jitted, method)(*args, **kwargs)
        finally:
            self.known = None

    def clear(self) -> None:
        """Drops all that was compiled."""
        self._jitted.clear_cache()
        self._traced.clear_cache()
        self._asked.clear()
        self._forget_stages()
        self._go = self._jitted
        self.run = self._run_checked if self._settings.check_executables else self._jitted
        self._own_calls.clear()
        self._known.clear()
        self._recent = None

    def _described(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Described:
        moving, static = self._static.split(args, kwargs)
        leaves, tree = jax.tree.flatten(list(moving.values()))
        avals = [leaf.aval if isinstance(leaf, jax.Array) else jax.typeof(leaf) for leaf in leaves]
        return _Described(leaves, avals, (tuple(moving), tree, tuple(static.items()), jax_settings()))

    def _own_call(self, found: _Found, leaves: Sequence[Any]) -> Callable[[list[Any]], Any]:
        """Returns the function that runs the subprograms or the shards of a graph for arrays like those of a call."""
        way, out_tree, donated = found
        options = self._compiler_options
        name = getattr(self._fn, "__name__", "fn")
        call = (
            way.sequential(donated, name, options, places=places_of(leaves)).call
            if way.sharded is None
            else way.sharded.compiled(donated, name, options)
        )
        unflatten = out_tree.unflatten

        def run(leaves: list[Any]) -> Any:
            return unflatten(call(*leaves))

        return run


def _gains(way: LoweringChoice | None, graph: ClosedJaxpr) -> bool:
    """Returns whether LLVM is to optimize a graph as much as it can, which no way may say."""
    return gains_by_optimizing(graph.jaxpr) if way is None else way.tuned.optimizes_fully


def donated_by(traced: Any) -> list[int]:
    """Returns the positions of the inputs that a traced function gives away."""
    return [i for i, leaf in enumerate(jax.tree.leaves(traced.args_info)) if leaf.donated]
