"""CompiledFunction: looks a program up, or has one built, and enters it."""

from __future__ import annotations

import concurrent.futures
import copy
import functools
import os
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._frames import without_own_frames
from jaxaot._progress import working
from jaxaot._unpicklable import name_in_module, refuse_to_pickle
from jaxaot._util import collector, shown, signature_of
from jaxaot.errors import (
    RecompileWarning,
    SettingsChangedError,
    TraceError,
    UsageError,
    VolatileError,
)
from jaxaot.facade.cells.iterated import has_iterators, opened, read_iterators
from jaxaot.facade.marks.raised import OnMeta, is_of_function
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.trace_state import RUNNING, wait_for_traces
from jaxaot.lower.warm.events import CacheReport
from jaxaot.plan.difference import CallKey, differences
from jaxaot.plan.paths import Path
from jaxaot.plan.pictures import as_html
from jaxaot.plan.source import MISS
from jaxaot.report.page import folded_text
from jaxaot.report.record import Report
from jaxaot.runtime.compile_report import Inspector, log_program, name_of, report_on
from jaxaot.runtime.guards import first_miss
from jaxaot.runtime.key import other_forms
from jaxaot.runtime.options import NOTHING_SAID, CompileOptions
from jaxaot.runtime.program import Program, changing_numbers, lower
from jaxaot.runtime.recompiles import RecompileList, Recompiles
from jaxaot.runtime.recovery import is_passing, may_be_tried_again
from jaxaot.runtime.sizes import TracedSizes
from jaxaot.runtime.stance import forces_eager, may_make_program
from jaxaot.runtime.traced_call import GivenCall
from jaxaot.runtime.untraced import GOES_ON, Broken, NotTraced, Untraced, mixed_with_meta
from jaxaot.tape.modes import state

P = ParamSpec("P")
R = TypeVar("R")

_alive: weakref.WeakSet[CompiledFunction[..., Any]] = weakref.WeakSet()


def clear_all() -> None:
    """Drops all compiled versions of all functions."""
    for compiled in list(_alive):
        compiled.clear_cache()


MAX_SIZES = 512
"""How many sizes are kept of which it is known how they run in the programs of buckets."""
_N_BUILDS, _N_TRIES = 4, 10_000


class CacheInfo(NamedTuple):
    """What `cache_info()` returns."""

    hits: int
    misses: int
    currsize: int


def _miss(*_: Any) -> Any:
    return MISS


def sizes_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Returns a key of the sizes of a call's tensors and arrays, by which its program is found among many."""
    found = []
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, Tensor):
            found.append(value._layout)
            continue
        for leaf in pytree.leaves(value) if isinstance(value, (tuple, list, dict)) else (value,):
            if isinstance(leaf, Tensor):
                found.append(leaf._layout)
            elif isinstance(leaf, (jax.Array, np.ndarray)):
                found.append(leaf.shape)
    return tuple(found)


def unsettled(before: CallKey, after: CallKey, *call: Any) -> TraceError:
    """Returns the error for a function that never fits the program that was just made for it, for a call of it."""
    changes = "; ".join(map(str, differences(before, after))) or first_miss(after, *call) or "a guard does not hold"
    return TraceError(
        f"The function changes what its own compilation depends on, each time it is traced: {changes}. Python code "
        "inside runs once, while tracing. Keep such state in tensors, or change it outside of the function."
    )


def _used(executables: dict[str, Any]) -> list[str]:
    """Returns the names of the executables that calls run as a rule: those that reuse buffers, where there are some."""
    return [name for name in executables if f"{name}_donated" not in executables]


def _compiled(executable: Any) -> None:
    """Compiles an executable of a bucket for the types of its graph."""
    shared = getattr(executable, "executable", executable)
    if hasattr(shared, "prepare"):
        shared.prepare([jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in shared.jaxpr.in_avals])


_OF_JAX = (
    "This is an array of JAX and no tensor: a function of JAX, or a method of a flax module, returned it, and no "
    "gradient flows through it. Call the nnx module itself, `model(x)`, or write `ja.autograd.jax_function(fn)(x)`. "
    "Both take tensors and return tensors."
)


class CompiledFunction(Generic[P, R]):
    """A function that is traced and compiled once for each kind of call.

    It may be called from several threads. Whoever finds a program enters it at once; programs are built one at a time.

    Attributes:
      fn: The function itself.
      programs: Its compiled versions, the last used first.
      max_programs: How many of them are kept.
      runs_eagerly: Whether a call that cannot be compiled runs eagerly. If not, it raises, and nothing has changed.
    """

    runs_eagerly = True

    def __init__(
        self, fn: Callable[P, R], build: Callable[..., Program], inspect: Inspector,
        options: CompileOptions = NOTHING_SAID, sizes: TracedSizes | None = None,
        in_parts: Callable[..., Any] | None = None,
    ):  # fmt: skip
        """Wraps a function.

        Args:
          fn: What to compile.
          build: Takes (fn, args, kwargs, lock that calls which write hold, numbers=paths of those that change) to a
            program for such calls.
          inspect: Makes the stages of a call, without compiling anything.
          options: What the user said; how many programs are kept is looked at, and whether one that is no graph raises.
          sizes: What `build` knows of the sizes of calls; None if each has a program of its own.
          in_parts: Makes what runs calls that cannot be one graph; None if there are none.
        """
        self.fn = fn
        self.programs: list[Program] = []
        self._by_sizes: dict[Any, list[Program]] = {}
        self._sizes = sizes
        self._in_parts = in_parts
        self._parts: Any = None
        self.n_programs_made = 0
        self._latest: Callable[..., Any] = _miss
        self._options = options
        self.max_programs = options.max_programs
        self._given_build = build
        self._build = collector.waits()(build)
        self._inspect = inspect
        self._building = threading.RLock()
        self._writing = threading.RLock()
        self._hits = 0
        self._misses = 0
        self._takes_iterators = False
        self._is_volatile = options.backend == "eager"
        self._untraced = Untraced(getattr(fn, "__name__", type(fn).__name__))
        self._recompiles = Recompiles(
            getattr(fn, "__name__", type(fn).__name__), 2 * options.max_programs, sizes is None
        )
        _alive.add(self)
        functools.update_wrapper(self, fn, updated=())
        self.__signature__ = signature_of(fn)

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if RUNNING:
            if state.trace is not None or state.inlines or (state.dual is not None and state.dual.has_duals()):
                return self.fn(*args, **kwargs)  # part of the graph that is being traced
            if not wait_for_traces():  # storages hold symbols while another thread traces
                return self._eagerly(args, kwargs)
            if forces_eager():
                return self._eagerly(args, kwargs)
        if self._takes_iterators:
            args, kwargs = read_iterators(args, kwargs)  # type: ignore[assignment]
        try:
            result = self._latest(self.fn, args, kwargs)
            if result is MISS and len(self._by_sizes) > 1:
                result = self._at_size(args, kwargs)
        except Exception as error:
            if not may_be_tried_again(error):
                raise
            return self._found(self.programs, args, kwargs)  # what is wrong shows at the second try
        if result is MISS:
            return self._found(self.programs[1:], args, kwargs)
        self._hits += 1
        return result

    def _at_size(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of a call for whose sizes a program was made; `MISS` if that does not fit."""
        for program in self._by_sizes.get(sizes_of(args, kwargs), ()):
            result = program.enter(self.fn, args, kwargs)
            if result is not MISS:
                self._move_to_front(program)
                return result
        return MISS

    def _found(self, programs: list[Program], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of a call; what it raises shows the user's frames alone."""
        try:
            return self._look_up(programs, args, kwargs)
        except Exception as error:
            if (
                isinstance(error, AttributeError)
                and isinstance(error.obj, jax.Array)
                and hasattr(Tensor, error.name or "")
            ):
                error.add_note(_OF_JAX)
            raise without_own_frames(error)  # noqa: B904  # it is the same exception

    def _look_up(self, programs: list[Program], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of a call that one of these programs may fit."""
        walk = self._walk()
        result = self._follow(programs, args, kwargs, walk)
        if result is MISS and self._parts is not None:
            result = self._parts.find(args, kwargs)
        for form in other_forms(self.fn, args, kwargs) if result is MISS and self.programs else ():
            if result is MISS:
                result = self._follow(self.programs, form, {}, self._walk())
        if result is not MISS:
            return result
        try:
            return self._first_or_eager_call(args, kwargs)
        except Broken as broken:
            found = broken
        if self._parts is None:
            assert self._in_parts is not None, "only a trace that may stop does"
            self._parts = self._in_parts(self.fn, self._options, self._eagerly)
        return self._parts.first(found, args, kwargs)

    def _follow(
        self, programs: list[Program], args: tuple[Any, ...], kwargs: dict[str, Any], walk: tuple[Any, ...]
    ) -> Any:
        """Returns the result of a call that one of these programs fits; `MISS` if none does."""
        for program in programs:
            result = self._enter(program, args, kwargs, *walk)
            if result is not MISS:
                self._hits += 1
                if program is not self.programs[0]:
                    self._move_to_front(program)
                return result
        return MISS

    def _walk(self) -> tuple[Any, ...]:
        """Returns what programs are given besides the arguments of a call."""
        return ()

    def _gives_up(self, args: tuple[Any, ...], kwargs: dict[str, Any], *walk: Any) -> None:
        """May raise because no program is to be made for a call."""

    def _first_or_eager_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of a call that no program fits."""
        if not may_make_program(name_of(self.fn), lambda: self._why_not(args, kwargs)):
            return self._eagerly(args, kwargs)
        error = None
        try:
            result = MISS if self._is_volatile else self._first_call(args, kwargs)
            if result is not MISS:
                return result
        except NotTraced as found:
            error = found.error
        try:
            result = self._eagerly(args, kwargs)
        except BaseException:  # it is the function that raises
            self._untraced.drop(args, kwargs)
            raise
        if error is not None:
            self._untraced.warn(error)
        return result

    def _why_not(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """Returns why a call does not fit the program that was used last."""
        if not self.programs:
            return "There is none yet"
        return first_miss(self.programs[0].key, self.fn, args, kwargs) or "Its tensors differ in shape, dtype or memory"

    def _changing(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Path, ...]:
        """Returns the paths of the numbers that changed from program to program."""
        roots = [((("root", "args"),), args), ((("root", "kwargs"),), kwargs), ((("root", "fn"),), self.fn)]
        return changing_numbers(self.programs, roots)

    def _built(self, args: tuple[Any, ...], kwargs: dict[str, Any], *walk: Any, **numbers: Any) -> Program:
        """Returns a program for a call.

        Raises:
          NotTraced: If the function has to run eagerly. That is so where it reads what is another thing at each call,
            where its tensors have no values, and where it raises: what it did before is done.
        """
        error: Exception | None = None
        try:
            return self._build(self.fn, args, kwargs, self._writing, *walk, **numbers)
        except OnMeta as found:
            error = mixed_with_meta(name_of(self.fn)) if found.traced.is_mixed else None
            if error is not None and (self._options.fullgraph or not self.runs_eagerly):
                raise error from None
        except VolatileError as volatile:
            if self._options.fullgraph or not self.runs_eagerly:
                raise
            self._is_volatile = True
            self._note_volatile(volatile)
        except Exception as raised:
            goes_on = is_of_function(raised) or isinstance(raised, GOES_ON)
            if self._options.fullgraph or not (self.runs_eagerly and goes_on):
                raise
            error = raised
        if error is not None:
            self._untraced.note(args, kwargs)
        raise NotTraced(error)

    def _note_volatile(self, error: VolatileError) -> None:
        """Warns that calls run eagerly from now on."""
        warnings.warn(
            f"{error.reason}. From now on calls that no program fits run eagerly: the results are right, but nothing "
            f"is compiled. {error.advice}",
            RecompileWarning,
            stacklevel=7,
        )

    def _eagerly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs the function itself, and as in a trace the compiled functions that it calls."""
        args = tuple(map(opened, args))
        kwargs = {name: opened(value) for name, value in kwargs.items()}
        try:
            RUNNING.append(self)  # so that they look
            state.inlines = True
            return self.fn(*args, **kwargs)  # type: ignore[call-arg]
        finally:
            state.inlines = False
            if self in RUNNING:
                RUNNING.remove(self)

    def _again(
        self, program: Program, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any], *walk: Any
    ) -> Any:
        """Returns the result of a call whose first try failed, if it failed for a reason that passes."""
        if isinstance(error, SettingsChangedError):
            return MISS
        for _ in range(_N_TRIES):
            traced = program.traced
            if not is_passing(error, traced.call, self.fn, *traced.in_order(args, kwargs), program.parameters):
                break
            try:
                return program.enter(self.fn, args, kwargs, *walk)
            except Exception as another:
                if not may_be_tried_again(another):
                    raise
                error = another
        raise error

    def _enter(self, program: Program, args: tuple[Any, ...], kwargs: dict[str, Any], *walk: Any) -> Any:
        try:
            return program.enter(self.fn, args, kwargs, *walk)
        except Exception as error:
            if not may_be_tried_again(error):
                raise
            return self._again(program, error, args, kwargs, *walk)

    def _move_to_front(self, program: Program) -> None:
        with self._building:
            programs = self.programs.copy()
            if program in programs:  # it may have been dropped meanwhile
                programs.remove(program)
                programs.insert(0, program)
                self._keep(programs)

    def _keep(self, programs: list[Program]) -> None:
        self.programs = programs
        self._latest = programs[0].enter if programs else _miss

    @property
    def n_programs(self) -> int:
        """How many programs are kept that were compiled: one of a bucket counts once for all its sizes."""
        return self.cache_info().currsize

    def _first_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of a call for which a program is made; `MISS` if it has to run eagerly."""
        if has_iterators(args, kwargs):  # no program has touched them: what is no tensor or array fits none
            self._takes_iterators = True
            return self(*args, **kwargs)  # type: ignore[call-arg]
        with self._building:
            walk = self._walk()
            result = self._follow(self.programs, args, kwargs, walk)  # another thread may have built one
            if result is not MISS:
                return result
            if self._is_volatile or self._untraced.holds(args, kwargs):
                return MISS
            self._gives_up(args, kwargs, *walk)
            with working(f"a new program of `{name_of(self.fn)}`"):
                return self._made(args, kwargs, walk)

    def _made(self, args: tuple[Any, ...], kwargs: dict[str, Any], walk: tuple[Any, ...]) -> Any:
        """Returns the result of a call by a program that is made for it.

        Tracing itself may change what the guards look at. Then another one is made, until that stays as it is.
        """
        start, made = time.perf_counter(), list[Program]()
        for _ in range(_N_BUILDS):
            made.append(self._built(args, kwargs, *walk, numbers=self._changing(args, kwargs)))
            walk = self._walk()
            result = self._enter(made[-1], args, kwargs, *walk)
            if result is not MISS:
                self._add(made[-1], args, kwargs, time.perf_counter() - start)
                return result
        return self._unsettled(made, (self.fn, args, kwargs), *walk)

    def _unsettled(self, made: list[Program], call: tuple[Any, ...], *walk: Any) -> Any:
        """Raises because a call fits none of the programs that were made for it."""
        raise unsettled(made[-2].key, made[-1].key, *call)

    def _add(self, program: Program, args: tuple[Any, ...], kwargs: dict[str, Any], seconds: float) -> None:
        """Keeps a program that was made for a call and carried it out, which took so long."""
        self._misses += 1
        if all(p.owner is not program.owner for p in self.programs):
            self.n_programs_made += 1
            self._recompiles.note(program.key, is_shared=program.bucket is not None)
        n_before = len(self.programs)
        kept = [program, *(p for p in self.programs if not p.is_out_of_reach())]
        last: dict[int, int] = {}  # of those used last
        for p in kept:
            last.setdefault(id(p.owner), len(last))
        self._drop_except(
            [p for p in kept if last[id(p.owner)] < self.max_programs][: max(MAX_SIZES, self.max_programs)]
        )
        self._by_sizes.setdefault(sizes_of(args, kwargs), []).insert(0, program)
        log_program(name_of(self.fn), program, seconds, len(self.programs), n_before + 1 - len(self.programs))

    def prepare(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program:
        """Returns the program that calls with such arguments will run, made now; none is carried out."""
        with self._building:
            start = time.perf_counter()
            program = self._build(self.fn, args, kwargs, self._writing, numbers=self._changing(args, kwargs))
            self._add(program, args, kwargs, time.perf_counter() - start)
            return program

    def _drop_except(self, kept: list[Program]) -> None:
        """Lets all programs go but some, and the programs of buckets that none of them runs."""
        gone = [p for p in self.programs if p not in kept]
        self._keep(kept)
        if not gone:
            return
        found = {key: [p for p in several if p not in gone] for key, several in self._by_sizes.items()}
        self._by_sizes = {key: several for key, several in found.items() if several}
        owners = {id(p.owner) for p in kept}
        for program in gone:
            if program.bucket is not None and self._sizes is not None and id(program.owner) not in owners:
                self._sizes.buckets.forget(program.bucket.fit.made)

    @overload
    def __get__(self, instance: None, owner: Any = None) -> CompiledFunction[P, R]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Callable[..., R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> str:
        name = name_in_module(self)
        if name is None:
            refuse_to_pickle(
                f"The compiled function `{getattr(self.fn, '__qualname__', type(self.fn).__name__)}`",
                "Pickle the function itself, `step.fn`, and compile it where it is read: `ja.compile(fn)`. Or decorate "
                "a function of a module, which is pickled by its name. To keep it in a file write "
                "`ja.export(step, *args).save(path)`.",
            )
        return name

    def __copy__(self) -> CompiledFunction[P, R]:
        return self._anew(self.fn)

    def __deepcopy__(self, memo: Any) -> CompiledFunction[P, R]:
        return self._anew(copy.deepcopy(self.fn, memo))  # a method is then that of a copied object

    def _anew(self, fn: Any) -> CompiledFunction[P, R]:
        return type(self)(fn, self._given_build, self._inspect, self._options, self._sizes, self._in_parts)

    def trace(self, /, *args: Any, **kwargs: Any) -> Any:
        """Returns the traced graph of a call; nothing is changed by it."""
        return self._inspect.trace(self.fn, args, kwargs)

    def warm_up(self, /, *args: P.args, **kwargs: P.kwargs) -> int:
        """Compiles the programs of all buckets up to the sizes of some arguments, side by side.

        Args:
          *args: Arguments of the largest sizes; the function is traced with them, and nothing is changed.
          **kwargs: Arguments that are passed by name.

        Returns:
          The number of programs that there are then.

        Raises:
          UsageError: If no dim is known to change, or if there are more buckets than programs are kept.
        """
        sizes = self._sizes
        if sizes is None:
            raise UsageError("`warm_up` compiles the programs of all buckets, and there are none: see `dynamic`.")
        with self._building, collector.waits():
            call = sizes.begin(GivenCall(self.fn, *read_iterators(args, kwargs)))
            plans = sizes.plans_up_to(call)
            if len(plans) > self.max_programs:
                for plan in plans:
                    sizes.buckets.forget(plan.fit.made)
                raise UsageError(
                    f"There are {len(plans)} buckets up to these sizes, and `max_programs={self.max_programs}` are "
                    "kept. Raise it, or say fewer buckets, such as `buckets=[64, 512]`."
                )
            made = [lower(call.traced, p.partition, sizes.stages.make, call.key, bucket=p) for p in plans]
        chosen = [program.executables[name] for program in made for name in _used(program.executables)]
        with concurrent.futures.ThreadPoolExecutor(min(len(chosen), os.cpu_count() or 1) or 1) as pool:
            list(pool.map(_compiled, chosen))
        return self.n_programs

    def explain(self, /, *args: Any, **kwargs: Any) -> Report:
        """Returns a report to print, `print(step.explain(x))`, or to save, `step.explain(x).save_html("step.html")`.

        It says what a call changes, what is saved and why, what passes did, how much memory is in use, and why programs
        were made, with buckets of sizes, their classes and masks; the graphs follow. Nothing is compiled, run or
        changed by it.

        Args:
          *args: Arguments of a call, or their types. Without any, the report is on the program that was used last.
          **kwargs: Arguments that are passed by name.

        Raises:
          TraceError: If the function cannot be traced.
        """
        with self._building:
            latest = self.programs[0] if self.programs and not (args or kwargs) else None
            said = self._programs_said()
        if latest is not None:
            return report_on(latest.traced, latest.whole_partition, self.fn, said)
        return report_on(*self._inspect.stages(self.fn, args, kwargs), self.fn, said)

    def _programs_said(self) -> list[str]:
        sizes = [] if self._sizes is None else list(self._sizes.buckets.described())
        sizes += [] if self._parts is None else self._parts.described()
        hits, misses, n = self.cache_info()
        if not misses:
            return ["none yet: the first call compiles one", *sizes]
        head = f"{n} program{'' if n == 1 else 's'}; {hits} calls found one, for {misses} one was made"
        return [head, *map(str, self.explain_recompiles()), *sizes]

    def __repr__(self) -> str:
        hits, _, n = self.cache_info()
        return f"<ja.compile of {shown(self.fn)}: {n} program{'' if n == 1 else 's'}, {hits} hits>"

    def _repr_html_(self) -> str:
        """Returns its programs, and what the one that was used last takes and changes, for notebooks."""
        with self._building:
            said = self._programs_said()
            latest = self.programs[0].traced.signature if self.programs else None
        more = "" if latest is None else folded_text("takes, changes and returns", str(latest))
        return as_html("\n  ".join([repr(self), *said, f"`{name_of(self.fn)}.explain()` shows its graphs"])) + more

    def explain_recompiles(self) -> RecompileList:
        """Returns, for each program after the first, how its call differed from the most similar one before.

        The list prints one line for each program; its records have `.number` and `.reasons`.
        """
        with self._building:
            found = self._recompiles.explain()
            return found if self._parts is None else RecompileList([*found, *self._parts.explain_recompiles()])

    def explain_cache(self) -> CacheReport:
        """Returns what became in `cache_dir` of each joint graph of the function: hits, misses and bypasses, and why.

        The report prints one line for each.
        """
        with self._building:
            return CacheReport(event for p in self.programs if p.cut is not None for event in p.cut.events)

    def cache_info(self) -> CacheInfo:
        """Returns how many calls found a program, how many did not, and how many programs there are.

        A new size that runs in the program of a bucket is a call that found none: it is traced.
        """
        n_exact = sum(program.bucket is None for program in self.programs)
        n = n_exact + (0 if self._sizes is None else self._sizes.buckets.n_made)
        found = CacheInfo(self._hits, self._misses, n)
        return found if self._parts is None else CacheInfo(*map(sum, zip(found, self._parts.cache_info(), strict=True)))

    def clear_cache(self) -> None:
        """Drops all compiled versions."""
        with self._building:
            self._keep([])
            self._by_sizes.clear()
            self._untraced.clear()
            self._parts = None
            if self._sizes is not None:
                self._sizes.clear()
            self._hits = self._misses = self.n_programs_made = 0
            self._recompiles.forget()


def compiled_function_of(fn: Any) -> CompiledFunction[..., Any] | None:
    """Returns a compiled function, or the one that a compiled module calls; None for anything else."""
    call = fn._compiled_call if hasattr(type(fn), "_compiled_call") else fn
    return call if isinstance(call, CompiledFunction) else None


def uncompiled(fn: Any) -> Any:
    """Returns the function or module that was compiled; anything else as it is."""
    compiled = compiled_function_of(fn)
    return fn if compiled is None else compiled.fn
