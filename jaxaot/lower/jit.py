"""`ja.jit`: `jax.jit` after graph rewrites for the platform.

A function is traced as `jax.jit` would trace it, its graph goes through the passes for the platform, and `jax.jit`
compiles that. Where one program would need too much memory at once, a call runs several, see `subprograms.py`.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
import weakref
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

import jax
import jax.numpy as jnp

from jaxaot import settings as config
from jaxaot._jax import as_one_call, is_outermost, is_tracer, needs_lowering
from jaxaot._typing import ClosedJaxpr
from jaxaot._util import KeptWith, collector, frozen, referable, shown, signature_of
from jaxaot.backend.cpu.batch.sharded import ShardedExecutable, plan_sharded
from jaxaot.backend.cpu.memory.sequential import SequentialExecutable, can_be_cut, is_free_of_effects
from jaxaot.backend.cpu.options import keeping_barriers, keeping_roundings, with_eigen_convolutions
from jaxaot.backend.cpu.tune import Tuned, is_worth_tuning, repaired, tune
from jaxaot.errors import UsageError
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import check_sizes
from jaxaot.lower.cache_key import jax_settings
from jaxaot.lower.check import evaluate, require_right
from jaxaot.lower.executable import Executable
from jaxaot.passes.pipeline import lowered_passes
from jaxaot.settings import Config

P = ParamSpec("P")
R = TypeVar("R")

PLACED = ("in_shardings", "out_shardings", "device", "backend", "abstracted_axes")
"""Options that say where things go: they are for one program, and for XLA to work out."""


class _Way(NamedTuple):
    """How calls are compiled that are no program of the graph as it is traced.

    Attributes:
      graph: The graph, or that of its shards.
      out_tree: What its outputs are.
      donated: The positions of the inputs that a call gives away.
    """

    graph: Tuned | ShardedExecutable
    out_tree: Any
    donated: list[int]


class _AnotherWay(Exception):
    """Ends the tracing of a function whose graph is to be compiled in another way: cut, or under options of its own.

    Attributes:
      way: The other way.
    """

    def __init__(self, graph: Tuned | ShardedExecutable, traced: Any):
        super().__init__("the graph is compiled in another way")
        described = jax.tree.leaves(traced.args_info)
        self.way = _Way(graph, traced.out_tree, [i for i, leaf in enumerate(described) if leaf.donated])


class _HasObjects(Exception):
    """Ends the tracing of a function whose arguments hold objects that it may change."""


class Objects(NamedTuple):
    """How functions of objects are jitted, whose changes a call has to write back.

    Attributes:
      are_in: Returns whether arguments hold such objects.
      make: Takes (function, options of `jax.jit`) to what calls it.
    """

    are_in: Callable[[Any], bool]
    make: Callable[[Callable[..., Any], dict[str, Any]], Callable[..., Any]]


class Static:
    """Which arguments of a function are static: positions and names, one said by the other as in `jax.jit`."""

    def __init__(self, fn: Callable[..., Any], options: dict[str, Any]):
        given = options.get("static_argnums"), options.get("static_argnames")
        self._numbers, self._names = (set(_several(values)) for values in given)
        if None not in given:  # one may be said of fewer arguments than the other
            return
        signature = signature_of(fn)
        parameters = [] if signature is None else list(signature.parameters.values())
        for i, parameter in enumerate(parameters):
            is_static = parameter.name in self._names or not self._numbers.isdisjoint((i, i - len(parameters)))
            if is_static and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                self._numbers.add(i)
                self._names.add(parameter.name)

    def split(self, args: Any, kwargs: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Returns the arguments that hold arrays, and the static ones, by position or name."""
        moving: dict[Any, Any] = {}
        static: dict[Any, Any] = {}
        for i, value in enumerate(args):
            (moving if self._numbers.isdisjoint((i, i - len(args))) else static)[i] = value
        for name in sorted(kwargs):
            (static if name in self._names else moving)[name] = kwargs[name]
        return moving, static


def _counted_from_first(fn: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """Returns options of `jax.jit` whose static positions are not negative, if static names are given besides.

    Of those, versions of JAX differ in where they count from if a call passes arguments by name.
    """
    numbers, names, signature = options.get("static_argnums"), options.get("static_argnames"), signature_of(fn)
    if numbers is None or names is None or signature is None:
        return options
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    n = sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)
    if not n or inspect.Parameter.VAR_POSITIONAL in kinds:
        return options
    return {**options, "static_argnums": tuple(i + n if -n <= i < 0 else i for i in _several(numbers))}


def _several(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, int | str) else tuple(value)


class _TunedFunction:
    """A function that is traced into a graph, which is tuned."""

    def __init__(
        self,
        fn: Callable[..., Any],
        traced: Any,
        static: Static,
        passes: tuple[str, ...],
        settings: Config,
        platform: str,
        needs_another_way: Callable[[Tuned], bool],
        may_be_shared: bool,
    ):
        functools.update_wrapper(self, fn, updated=())
        self._fn, self._traced, self._static, self._passes, self._settings = fn, traced, static, passes, settings
        self._platform, self._needs_another_way, self._may_be_shared = platform, needs_another_way, may_be_shared

    def __repr__(self) -> str:
        return shown(self._fn)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        moving, _ = self._static.split(args, kwargs)
        leaves = jax.tree.leaves(list(moving.values()))
        if not any(map(is_tracer, leaves)):  # nothing is traced, such as under `jax.disable_jit`
            return self._fn(*args, **kwargs)
        return self._tuned(leaves, args, kwargs)

    @collector.waits()
    def _tuned(self, leaves: list[Any], args: Any, kwargs: Any) -> Any:
        traced = self._traced.trace(*args, **kwargs)  # as `jax.jit` traces it, whose messages name the user's arguments
        closed = traced.jaxpr
        if len(closed.in_avals) > len(leaves) or needs_lowering(closed):
            return self._fn(*args, **kwargs)  # JAX says where a tracer leaked from, and lowers what only it can
        check_sizes(closed.jaxpr)
        opened = inline(closed, also_custom=True)
        checks, exact = self._settings.check_graphs, self._settings.exact_rounding
        if not self._passes or not is_worth_tuning(opened):
            mended = repaired(opened, self._platform, exact=exact)
            closed = closed if mended is opened else mended
        else:
            sharded = plan_sharded(opened, self._passes, checks) if self._may_be_shared else None
            if sharded is not None:
                raise _AnotherWay(sharded, traced)
            tuned = tune(opened, self._passes, checks, self._platform, exact)
            if self._needs_another_way(tuned):
                raise _AnotherWay(tuned, traced)
            closed = tuned.jaxpr
        call = as_one_call(closed, getattr(self._fn, "__name__", "fn"))
        return jax.tree.unflatten(traced.out_tree, call(*leaves))


def _needs_sequential(tuned: Tuned) -> bool:
    """Returns whether a graph may be cut, or needs options for XLA, which `jax.jit` takes before there is a graph."""
    if tuned.has_subprograms and can_be_cut(tuned.jaxpr):
        return True
    return tuned.n_by_eigen > 0 and is_free_of_effects(tuned.jaxpr)


def _needs_eigen(tuned: Tuned) -> bool:
    return tuned.n_by_eigen > 0


def _needs_nothing(tuned: Tuned) -> bool:
    del tuned
    return False


class _Checked:
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
        self._objects = objects
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
        if self._objects.are_in((args, kwargs)):
            raise _HasObjects
        return self.__wrapped__(*args, **kwargs)


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


class _Version:
    """A function jitted under some passes.

    Attributes:
      run: Carries out a call: the function that `jax.jit` returned, until a graph needs another way.
    """

    def __init__(self, fn: Callable[..., Any], options: dict[str, Any], settings: Config):
        platform = options.get("backend") or jax.default_backend()
        passes = lowered_passes(settings.passes, platform, settings.exact_rounding)
        is_placed = any(options.get(name) is not None for name in PLACED)
        if is_placed:
            passes = ()
        self._fn, self._options, self._static = fn, options, Static(fn, options)
        chosen = {name: value for name, value in options.items() if name.startswith(("donate", "static"))}
        self._traced = jax.jit(fn, **chosen)  # from which all ways take the graph
        self._passes, self._settings, self._platform = passes, settings, platform
        compiler_options = keeping_barriers(options.get("compiler_options"), options.get("backend"))
        if settings.exact_rounding:
            compiler_options = keeping_roundings(compiler_options)
        self._compiler_options = compiler_options or None
        self._jitted: Any = self._jit(_needs_sequential, self._compiler_options, may_be_shared=True)
        self._go: Callable[..., Any] = self._jitted
        self.run: Callable[..., Any] = self._run_checked if settings.check_executables else self._jitted
        self._sequentials: dict[Any, Callable[..., Any]] = {}
        self._known: set[Any] = set()  # calls whose programs were looked at
        self._recent: _Recent | None = None

    def _jit(
        self, needs_another_way: Callable[[Tuned], bool], compiler_options: Any, may_be_shared: bool = False
    ) -> Any:
        """Returns the function as one program, unless its graph needs another way."""
        fn = self._fn
        if self._passes or self._platform == "cpu":
            how = self._passes, self._settings, self._platform
            fn = _TunedFunction(fn, self._traced, self._static, *how, needs_another_way, may_be_shared)
        return jax.jit(fn, **{**self._options, "compiler_options": compiler_options})

    @functools.cached_property
    def _whole(self) -> Any:
        return self._jit(_needs_eigen, self._compiler_options)

    @functools.cached_property
    def _whole_by_eigen(self) -> Any:
        return self._jit(_needs_nothing, with_eigen_convolutions(self._compiler_options))

    def _run_sequentials(self, /, *args: Any, **kwargs: Any) -> Any:
        """Carries out a call by the subprograms or shards of its graph if it has some."""
        call = self._described(args, kwargs)
        recent = self._recent
        if recent is not None and recent.call.is_like(call):
            return recent.run(call.leaves)
        run = self._sequentials.get(call.key())
        if run is None:
            return self._jitted(*args, **kwargs)
        self._recent = _Recent(call.without_arrays(), run)
        return run(call.leaves)

    def run_in(self, way: _Way, args: Any, kwargs: Any) -> Any:
        """Carries out a call whose graph needs another way, and others like it from now on."""
        call = self._described(args, kwargs)
        with collector.waits():
            run = self._sequentials[call.key()] = self._sequential(way)
        self._go = self._run_sequentials
        if not self._settings.check_executables:
            self.run = self._go
        return run(call.leaves)

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

    def _check(self, traced: Any, closed: ClosedJaxpr, args: Any, kwargs: Any) -> None:
        name = getattr(self._fn, "__name__", "fn")
        moving, _ = self._static.split(args, kwargs)
        leaves = jax.tree.leaves(list(moving.values()))
        right = evaluate(closed, leaves, name)
        given = jax.tree.map(lambda x: jnp.array(x, copy=True) if isinstance(x, jax.Array) else x, (args, kwargs))
        got = jax.tree.leaves(self._carry_out(*given))
        places = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(traced.out_info)]
        alike = lambda graph: Executable(graph, (), name, self._options.get("compiler_options")).unchecked
        require_right(closed, leaves, got, right, name, lambda i: f"its result{places[i]}", alike)

    def _carry_out(self, args: Any, kwargs: Any) -> Any:
        try:
            return self._go(*args, **kwargs)
        except _AnotherWay as found:
            way = found.way
        return self.run_in(way, args, kwargs)

    def staged(self, method: str, args: Any, kwargs: Any) -> Any:
        """Returns the result of a method such as `lower` of the jitted function, for one program."""
        try:
            return getattr(self._whole, method)(*args, **kwargs)
        except _AnotherWay:
            return getattr(self._whole_by_eigen, method)(*args, **kwargs)

    def clear(self) -> None:
        """Drops all that was compiled."""
        self._jitted.clear_cache()
        self._traced.clear_cache()
        for name in ("_whole", "_whole_by_eigen"):
            self.__dict__.pop(name, None)
        self._go = self._jitted
        self.run = self._run_checked if self._settings.check_executables else self._jitted
        self._sequentials.clear()
        self._known.clear()
        self._recent = None

    def _described(self, args: Any, kwargs: Any) -> _Described:
        moving, static = self._static.split(args, kwargs)
        leaves, tree = jax.tree.flatten(list(moving.values()))
        avals = [leaf.aval if isinstance(leaf, jax.Array) else jax.typeof(leaf) for leaf in leaves]
        return _Described(leaves, avals, (tuple(moving), tree, tuple(static.items()), jax_settings()))

    def _sequential(self, way: _Way) -> Callable[[list[Any]], Any]:
        """Returns the function that runs the subprograms or the shards of a graph for the arrays of a call."""
        graph, out_tree, donated = way
        options = self._compiler_options
        name = getattr(self._fn, "__name__", "fn")
        call: Callable[..., Any]
        if isinstance(graph, ShardedExecutable):
            call = graph.compiled(donated, name, options)
        else:
            call = SequentialExecutable(
                graph.jaxpr,
                donated,
                name,
                with_eigen_convolutions(options) if graph.n_by_eigen else options,
                limit=graph.limit_bytes,
                keeps_freed_memory=graph.keeps_freed_memory,
            ).call
        unflatten = out_tree.unflatten

        def run(leaves: list[Any]) -> Any:
            return unflatten(call(*leaves))

        return run


_versions = KeptWith()
"""By options, the versions of functions, each a dictionary by settings."""


def _versions_of(fn: Callable[..., Any], options: dict[str, Any]) -> dict[Any, _Version]:
    """Returns the compiled versions of a function: in a loop, `ja.jit(fn)(x)` compiles once, as with `jax.jit`."""
    try:
        return _versions.of(fn).setdefault(frozen(options), {})
    except TypeError:  # an option has no hash
        return {}


class Jitted(Generic[P, R]):
    """A jitted function; it has the methods of what `jax.jit` returns.

    In a transformation of JAX, such as another `jit`, it is the function that `jax.jit` would return. What is compiled
    is shared by all that are made of the same function with the same options.
    """

    def __init__(self, fn: Callable[P, R], options: dict[str, Any], objects: Objects):
        """Wraps a function; nothing is traced yet.

        Args:
          fn: The function.
          options: Those of `jax.jit`.
          objects: How calls with objects are carried out.
        """
        functools.update_wrapper(self, fn)
        self.__signature__ = signature_of(fn)
        options = _counted_from_first(fn, options)
        self._fn, self._options, self._objects = fn, options, objects
        self._of_objects: Callable[..., Any] | None = None  # made at the first call that needs it
        self._inside: Any = jax.jit(referable(fn), **options)
        self._versions = _versions_of(fn, options)  # made at the first call: what XLA needs depends on the backend
        self._latest: tuple[Config | None, Any] = None, None  # one value, as other threads may have other settings

    def _current(self) -> _Version:
        """Returns the version under the settings in force."""
        settings = config.get()
        key = jax.default_backend(), settings.passes, settings.check_graphs, settings.exact_rounding
        key += (settings.check_executables,)
        version = self._versions.get(key)
        if version is None:
            checked = _Checked(self._fn, self._objects)
            version = self._versions.setdefault(key, _Version(checked, self._options, settings))
        self._latest = settings, version
        return version

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if not is_outermost():
            if self._objects.are_in((args, kwargs)):  # `jax.jit` would drop what the function changes in them
                return self._fn(*args, **kwargs)
            return self._inside(*args, **kwargs)
        if self._of_objects is not None and self._objects.are_in((args, kwargs)):
            return self._of_objects(*args, **kwargs)
        settings, version = self._latest
        if settings is not config.get():
            version = self._current()
        way = None
        try:
            return version.run(*args, **kwargs)
        except _AnotherWay as found:  # which holds the frames that it was raised through
            way = found.way
        except (_HasObjects, TypeError):  # JAX may know no such objects
            if not self._objects.are_in((args, kwargs)):
                raise
        if way is not None:
            return version.run_in(way, args, kwargs)
        if self._of_objects is None:
            self._of_objects = self._objects.make(self._fn, self._options)
        return self._of_objects(*args, **kwargs)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Jitted[P, R]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> Any:
        return type(self), (self._fn, self._options, self._objects)

    def lower(self, /, *args: Any, **kwargs: Any) -> Any:
        """Returns the function lowered for some arguments or types, as one program, a `jax.stages.Lowered`."""
        return self._staged("lower", args, kwargs)

    def trace(self, /, *args: Any, **kwargs: Any) -> Any:
        """Returns the function traced for some arguments or types, as one program, a `jax.stages.Traced`."""
        return self._staged("trace", args, kwargs)

    def _staged(self, method: str, args: Any, kwargs: Any) -> Any:
        """Returns the result of a method of the function that `jax.jit` made for the place of the call.

        Raises:
          UsageError: If arguments hold objects.
        """
        self._check_plain(method, args, kwargs)
        if is_outermost():
            return self._current().staged(method, args, kwargs)
        return getattr(self._inside, method)(*args, **kwargs)

    def _check_plain(self, method: str, args: Any, kwargs: Any) -> None:
        if self._objects.are_in((args, kwargs)):
            name = getattr(self._fn, "__name__", "fn")
            raise UsageError(
                f"`{name}.{method}` was given flax nnx objects, and what it returns is of a function of arrays, which "
                f"cannot write back what `{name}` changes in them. Pass `nnx.split(model)` and merge it inside; or use "
                f"`ja.compile({name})`, whose `explain(...)` shows all that a call does."
            )

    def eval_shape(self, /, *args: Any, **kwargs: Any) -> Any:
        """Returns the types of the results for some arguments or types."""
        self._check_plain("eval_shape", args, kwargs)
        return self._inside.eval_shape(*args, **kwargs)

    def explain(self, /, *args: Any, **kwargs: Any) -> None:
        """Prints what the passes for the platform do to the graph of a call; nothing is compiled or run by it."""
        self._check_plain("explain", args, kwargs)
        opened = inline(self._inside.trace(*args, **kwargs).jaxpr, also_custom=True)
        print(Executable(opened, name=getattr(self._fn, "__name__", "fn")).explain())

    def clear_cache(self) -> None:
        """Drops all that was compiled."""
        self._inside.clear_cache()
        for version in list(self._versions.values()):
            version.clear()

    def __repr__(self) -> str:
        return f"<ja.jit of {shown(self._fn)}>"
