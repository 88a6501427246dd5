"""remat(fn): a plain JAX function whose gradient saves what a policy says."""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar, overload

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import settings as config
from jaxaot._callables import require_function
from jaxaot._frames import without_own_frames
from jaxaot._jax import close_jaxpr, make_jaxpr_object, trace_context
from jaxaot._placement import placement_of
from jaxaot._typing import Jaxpr, PyTreeDef
from jaxaot._util import KeptWith
from jaxaot.errors import ArgumentError, NotDifferentiableError, UsageError
from jaxaot.facade.cells.cells import cell_kinds, is_leaf, kind_of
from jaxaot.facade.marks.bad_arguments import deleted_arrays_named
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import sub_jaxprs
from jaxaot.lower.on_devices import described, lines_of, partition_on_devices
from jaxaot.lower.placed import lowered_for, placed_now
from jaxaot.lower.static import refuse_cycles
from jaxaot.partition.budget import check_budget
from jaxaot.partition.fitting import budget_now, is_left_to_jax, is_measured
from jaxaot.partition.policies import get_policy, min_cut
from jaxaot.plan.stages import Partition
from jaxaot.rematerialize.call import RematCall
from jaxaot.rematerialize.cells import Cells
from jaxaot.rematerialize.read_key import Reads
from jaxaot.rematerialize.room import next_turn, open_room
from jaxaot.rematerialize.static import Options, StaticArguments, several, unmark
from jaxaot.report.build import Sources, collectives_of, part_of, parts_inside
from jaxaot.report.record import Report
from jaxaot.tape.modes import state
from jaxaot.tape.threads import OnceAtATime

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
C = TypeVar("C", bound=type)

MAX_GRAPHS = 64
"""How many graphs are kept for each function; the least recently used one is dropped."""

_ARRAYS = (jax.Array, np.ndarray, np.generic, float, complex)
_lock = threading.Lock()
_traced = OnceAtATime()
_lifts: dict[str, tuple[Callable[..., Any], Callable[..., bool]]] = {}
_graphs = KeptWith()
"""By what they depend on, the graphs of functions, the last used last."""


class _Sort(enum.Enum):
    """What becomes of a leaf of the arguments."""

    ARRAY = "traced"
    STATIC = "part of the program"
    OBJECT = "taken apart"


class Graph:
    """A function traced for some arguments.

    Attributes:
      call: The graph and how it is cut.
      closed_over: Arrays that the function uses without being passed; the first inputs of the graph.
      out_tree: Tree of the result.
      written: Which of the arrays in cells it writes; their values are the last outputs.
    """

    def __init__(self, call: RematCall, closed_over: Sequence[Any], out_tree: PyTreeDef | None, written: Sequence[int]):
        self.call, self.closed_over = call, tuple(closed_over)
        self.out_tree, self.written = out_tree, tuple(written)

    @functools.cached_property
    def holds_calls(self) -> bool:
        """Whether functions under `remat` are called in it, whose budgets are what they were when it was traced."""
        return _holds_calls(self.call.graph.jaxpr)

    def at(self, memory_budget: Any, values: Sequence[Any]) -> Graph:
        """Returns the same function, cut at another budget, for inputs that lie as some values do."""
        inputs = (*self.closed_over, *values)
        call = self.call.at(memory_budget, placed_now(inputs), lowered_for(inputs, self.call.shardings))
        return self if call is self.call else Graph(call, self.closed_over, self.out_tree, self.written)

    def in_turn(self) -> Graph:
        """Returns the same function, cut as its turn is in the program that calls it now."""
        return Graph(self.call.in_turn(next_turn()), self.closed_over, self.out_tree, self.written)


def _holds_calls(jaxpr: Jaxpr) -> bool:
    return any(
        eqn.primitive.name in ("rematerialized", "linear_map") or any(map(_holds_calls, sub_jaxprs(eqn)))
        for eqn in jaxpr.eqns
    )


class Rematerialized(Protocol[P, R_co]):
    """A function under `ja.remat`, as type checkers see it."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Rematerialized[P, R_co]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., R_co]: ...

    def partition(self, *args: object, **kwargs: object) -> Partition:
        """Returns what a gradient with respect to the first argument saves and recomputes; nothing is run."""
        ...

    def explain(self, *args: object, **kwargs: object) -> Report:
        """Returns a report on what that gradient saves and recomputes, and why."""
        ...


# fmt: off
@overload
def remat(
    fn: C, *, policy: str | Callable[..., Any] | None = None, memory_budget: float | str | None = None,
    static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = (),
    prevent_cse: bool | Sequence[bool] = True, concrete: bool = False,
) -> C: ...
@overload
def remat(
    fn: Callable[P, R], *, policy: str | Callable[..., Any] | None = None, memory_budget: float | str | None = None,
    static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = (),
    prevent_cse: bool | Sequence[bool] = True, concrete: bool = False,
) -> Rematerialized[P, R]: ...
@overload
def remat(
    fn: None = None, *, policy: str | Callable[..., Any] | None = None, memory_budget: float | str | None = None,
    static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = (),
    prevent_cse: bool | Sequence[bool] = True, concrete: bool = False,
) -> Callable[[Callable[P, R]], Rematerialized[P, R]]: ...
# fmt: on
def remat(
    fn: Callable[..., Any] | None = None,
    *,
    policy: str | Callable[..., Any] | None = None,
    memory_budget: float | str | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    prevent_cse: bool | Sequence[bool] = True,
    concrete: bool = False,
) -> Any:
    """Returns `fn`, whose gradient keeps between forward and backward only what a policy chooses; else recomputes.

        @ja.jit
        def step(params, batch):
            return jax.value_and_grad(ja.remat(loss, memory_budget=0.2))(params, batch)

    Where it is differentiated, the joint graph of forward and backward is cut in two, and what the backward computes
    again waits for the cotangents, so that XLA cannot compute it early. It works under every transformation of JAX,
    forward mode and derivatives of any order included.

    On CPU XLA drops the barriers of a plain `jax.jit` before JAX 0.11, and with them the recomputation: jit the
    outermost function by `ja.jit`. On GPU and TPU any `jax.jit` will do.

    Where it is called inside of `ja.autograd.graph.saved_tensors_hooks`, what crosses is packed by these hooks;
    under `jax.jit` those count that are in force when JAX traces.

    Arrays and Python's ints, floats and complex numbers among the arguments are traced, as by `jax.checkpoint`; bools,
    strings, None, functions, other objects and arguments that are named static are part of the program. What `fn`
    writes to the Variables of flax nnx modules among the arguments is written back. Apart from that `fn` has to be
    pure, as under `jax.jit`: its graph is kept and used again for arguments of the same types, while the attributes,
    variables and containers that it reads are the same.

    A callback in `fn`, such as `jax.debug.print` or an `io_callback`, runs once, in the forward, as without `remat`,
    whatever is recomputed. Under `jax.checkpoint` it runs again with what is computed again.

    Several such functions in one program, such as the blocks of a model, together hold no more than `jax.checkpoint` of
    each, by estimate; `policy="min_cut"` has each save its minimum cut. See docs/fit_into_memory.md.

    `ja.remat(fn).partition(*args)` returns what a gradient with respect to the first argument saves and recomputes, as
    a `Partition` to print; nothing is run by it. `ja.remat(fn).explain(*args)` returns a report of it.

    Args:
      fn: A function of pytrees of arrays, an nnx module or a method of one, or a class of linen modules or a method of
        one, for which a class is returned; left out, a decorator is returned.
      policy: What may be saved: the name of a policy or one itself; by default the setting in force, and where that is
        the minimum cut, of several functions only what their program has room for.
      memory_budget: The most that may be saved: a fraction of what `save_all` would save, bytes such as `"512MiB"`, or
        what everything has to fit in, such as `"fit:16GiB"`; by default the setting in force.
      static_argnums: The positions of arguments that are part of the program; an int of which Python needs the value
        has to be among them. In a class of linen modules `self` is position 0.
      static_argnames: Their names; one of the two is found by the other, as by `jax.jit`.
      prevent_cse: Whether what is recomputed waits for the cotangents. If not, XLA may compute it early, and saves what
        it was to compute again. A sequence is true if an item is.
      concrete: False; `jax.checkpoint` once had it.

    Raises:
      PolicyError: If there is no such policy.
      BudgetError: If the budget cannot be read.
      ArgumentError: If what is static is said by something else than positions and names.
      UsageError: If `concrete` is true, or there is no such argument.
      ConcretizationError: When `fn` needs the value of a traced int.
      UntraceableHooksError: When it is differentiated under hooks on saved tensors that cannot be part of a graph.
    """
    if concrete:
        raise UsageError(
            "`ja.remat(concrete=True)` would show `fn` the values of its arguments, which a graph that is kept does "
            "not have. Name the arguments whose values Python needs: `ja.remat(fn, static_argnums=(1,))`."
        )
    waits = prevent_cse if isinstance(prevent_cse, bool) else any(prevent_cse)
    numbers, names = (several(static_argnums, int, "static_argnums"), several(static_argnames, str, "static_argnames"))
    options = Options(policy, memory_budget, numbers, names, waits)
    return functools.partial(rematerialize, options=options) if fn is None else rematerialize(fn, options)


def rematerialize(fn: Callable[..., Any], options: Options) -> Any:
    """Returns a function or class as `remat` does.

    Raises:
      TensorTypeError: If it is no function.
      PolicyError: If there is no such policy.
      BudgetError: If the budget cannot be read.
    """
    require_function(fn, "ja.remat", "ja.remat(f)")
    if options.policy is not None:
        get_policy(options.policy)
    check_budget(options.memory_budget)
    lifted = _lifted_class(fn, options)
    if lifted is not None:
        return lifted
    cell_kinds()
    owner = getattr(fn, "__self__", None) if inspect.ismethod(fn) else fn
    if kind_of(owner) is not None:
        method: Any = fn.__func__ if inspect.ismethod(fn) else type(fn).__call__
        bound: Any = rematerialize(method, options.moved(1))
        of_owner: Any = functools.partial(bound, owner)
        of_owner.partition = functools.partial(bound.partition, owner)
        of_owner.explain = functools.partial(bound.explain, owner)
        return of_owner
    made = _Remat(fn, options)

    @functools.wraps(fn)
    def rematerialized(*args: object, **kwargs: Any) -> Any:
        return made.call(args, kwargs)

    def partition(*args: object, **kwargs: Any) -> Partition:
        """Returns what a gradient with respect to the first argument saves and recomputes; nothing is run.

        Arrays among the arguments may be described, by `jax.ShapeDtypeStruct`.

        Raises:
          NotDifferentiableError: If no gradient flows to the first argument.
          PolicyError: If the policy returns nonsense.
          BudgetError: If the budget cannot be met.
        """
        return made.looked_at(args, kwargs)[0]

    def explain(*args: object, **kwargs: Any) -> Report:
        """Returns a report on what a gradient with respect to the first argument saves and recomputes, and why."""
        return made.report(*made.looked_at(args, kwargs))

    rematerialized.partition = partition  # pyright: ignore[reportFunctionMemberAccess]
    rematerialized.explain = explain  # pyright: ignore[reportFunctionMemberAccess]
    explain.owner = weakref.ref(rematerialized)  # pyright: ignore[reportFunctionMemberAccess]  # wrappers copy attributes
    return rematerialized


class _Remat:
    """A function of arrays under `ja.remat`."""

    def __init__(self, fn: Callable[..., Any], options: Options):
        self._fn, self._options = fn, options
        self._static = StaticArguments(fn, options)
        self._has_room = options.policy is None and not options.is_whole

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of the function; a gradient of it saves what the cut says."""
        fn = self._fn
        lifted = _lifted_call(fn, args, self._options)
        if lifted is not None:
            return lifted(*args, **kwargs)
        if is_left_to_jax(self._budget()):
            return fn(*args, **kwargs)
        budget = budget_now(self._budget())
        graph, (cells, values, _) = self._taken_apart(args, kwargs, budget)
        if budget is None and self._has_room and graph.call.hooks is None and get_policy(graph.call.policy) is min_cut:
            graph = graph.in_turn()
        with deleted_arrays_named(fn, args, kwargs):
            if not graph.call.is_differentiable:  # there is nothing to cut, and the plain call keeps Python's results
                return fn(*args, **kwargs)
            results = graph.call(*graph.closed_over, *cells.arrays, *values)
        n_results = len(results) - len(graph.written)
        if graph.written:
            cells.write(dict(zip(graph.written, results[n_results:], strict=True)))
        return jax.tree.unflatten(graph.out_tree, results[:n_results])

    def _budget(self) -> float | str | None:
        said = self._options.memory_budget
        return config.get().memory_budget if said is None else said

    def _taken_apart(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], budget: Any, takes_types: bool = False
    ) -> tuple[Graph, _Leaves]:
        """Returns the graph for some arguments at a budget, and what these lead to."""
        fn, options = self._fn, self._options
        marked = self._static.mark(args, kwargs)
        refuse_cycles(marked, "The arguments")
        cells = Cells.among(marked)
        leaves, tree = jax.tree.flatten(marked, is_leaf=is_leaf)
        refuse_tensors(leaves, fn)
        sorts = tuple(_sort_of(leaf, options.traces_ints, takes_types) for leaf in leaves)
        values = [_as_array(x) for x, sort in zip(leaves, sorts, strict=True) if sort is _Sort.ARRAY]
        statics = [x for x, sort in zip(leaves, sorts, strict=True) if sort is _Sort.STATIC]

        def flat(arrays: Sequence[Any], reads: Reads) -> tuple[Any, list[Any]]:
            n = len(cells.arrays)
            objects = cells.put_together(arrays[:n])
            parts = {_Sort.ARRAY: iter(arrays[n:]), _Sort.STATIC: iter(statics), _Sort.OBJECT: iter(objects)}
            call_args, call_kwargs = unmark(*jax.tree.unflatten(tree, [next(parts[sort]) for sort in sorts]))
            with reads.noted(fn, args, kwargs):
                result = fn(*call_args, **call_kwargs)
            return result, cells.arrays_after(objects, fn)

        settings = config.get()
        chosen = settings.policy if options.policy is None else options.policy
        static_key = tuple((type(x), x) for x in statics)  # with the type, as 1 == True
        # in a compiled function its own graphs pack what crosses
        hooks = state.saved_hooks if state.trace is None else None
        key = tree, sorts, cells.structure, static_key, options.policy is None, options.waits, chosen, settings, hooks
        try:
            inputs = [*cells.arrays, *values]
            graph = graph_of(fn, flat, inputs, key, (args, kwargs)).at(budget, inputs)
        except (TypeError, IndexError) as error:
            self._static.explain(error, args, kwargs)
            raise without_own_frames(error)  # noqa: B904  # it is the same exception
        except Exception as error:
            raise without_own_frames(error)  # noqa: B904  # it is the same exception
        return graph, _Leaves(cells, values, sorts)

    def looked_at(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Partition, list[Any]]:
        """Returns the partition for some arguments, and how its primals lie over several devices.

        Raises:
          NotDifferentiableError: If no gradient flows to the first argument.
        """
        graph, leaves = self._taken_apart(args, kwargs, self._budget(), takes_types=True)
        first = jax.tree.leaves(args[:1], is_leaf=is_leaf)
        places = [len(graph.closed_over) + i for i in leaves.places_of(len(first))]
        perturbed = tuple(i for i in places if jnp.issubdtype(graph.call.graph.in_avals[i].dtype, jnp.inexact))
        cut = graph.call.cut(perturbed) if perturbed and graph.call.reached(perturbed) else None
        if cut is None:
            name = getattr(self._fn, "__name__", "fn")
            raise NotDifferentiableError(
                f"`{name}` under `ja.remat` has no gradient with respect to its first argument, so there is nothing to "
                "cut: it has no float there, returns none that depends on it, or JAX has no reverse mode for it. Put "
                "what is differentiated first, as for `jax.grad`."
            )
        return cut.parts, [placement_of(x) for x in (*graph.closed_over, *leaves.cells.arrays, *leaves.values)]

    def report(self, parts: Partition, shardings: Sequence[Any]) -> Report:
        """Returns what a partition saves and recomputes, and why."""
        sources = Sources()
        found = [part_of("partition", parts, sources), *parts_inside(parts.forward, sources)]
        exchanges = (*collectives_of("forward", parts.forward), *collectives_of("backward", parts.backward))
        if any(sharding is not None for sharding in shardings):
            forward = inline(parts.forward, also_custom=True)
            exchanges = lines_of(described(partition_on_devices(parts, shardings, forward), parts))
        name, platform = str(getattr(self._fn, "__name__", type(self._fn).__name__)), jax.default_backend()
        passes = tuple(f"joint: {done}" for done in parts.joint.passed)
        return Report(name, "ja.remat", platform, None, passes, exchanges, (), tuple(found), (), sources.read())


class _Leaves(NamedTuple):
    """What the arguments of a call lead to.

    Attributes:
      cells: Objects that hold arrays, taken apart.
      values: The leaves that are traced.
      sorts: What becomes of each leaf.
    """

    cells: Cells
    values: list[Any]
    sorts: tuple[_Sort, ...]

    def places_of(self, n: int) -> list[int]:
        """Returns which of the arrays in cells and the values, in this order, the first `n` leaves lead to."""
        first, n_cells = self.sorts[:n], len(self.cells.arrays)
        found = list(range(n_cells, n_cells + first.count(_Sort.ARRAY)))
        if _Sort.OBJECT in first and self.cells.kind is not None:
            found += [i for i, (_, trained) in enumerate(self.cells.kind.leaves(self.cells.structure)) if trained]
        return sorted(found)


def reads_of(fn: Callable[..., Any]) -> list[Reads]:
    """Returns what the traces of a function read of Python whose graphs are kept, the latest first."""
    with _lock:
        return list(dict.fromkeys(reads for reads, _ in reversed(_graphs.of(fn))))


def graph_of(
    fn: Callable[..., Any],
    flat: Callable[..., tuple[Any, list[Any]]],
    values: Sequence[Any],
    key: tuple[Any, ...],
    call: tuple[tuple[Any, ...], dict[str, Any]],
) -> Graph:
    """Returns the graph of a function, traced now or before, to be cut at any budget.

    Args:
      fn: The function, for which graphs are kept.
      flat: The same from a list of arrays, the first of them those in cells, to its result and what is in cells then;
        it notes what is read of Python.
      values: The arrays.
      key: All that the graph depends on besides `fn` and the types of the arrays; whether nobody asked for
        the policy, whether what is recomputed waits, the policy, settings and hooks last.
      call: The arguments and keyword arguments.
    """
    sort = key, tuple(map(jax.typeof, values)), trace_context()
    try:
        while True:
            reads = Reads.of_call(reads_of(fn), fn, *call)
            cache_key: Any = reads, sort
            with _lock:
                kept = _graphs.of(fn)
                found = kept.get(cache_key)
                if found is not None and not (found.holds_calls and is_measured()):
                    kept[cache_key] = kept.pop(cache_key)  # the latest comes last
                    return kept[cache_key]
            if not _traced.wait((id(fn), sort)):
                break
    except TypeError:  # some arguments have no hash
        return _trace(fn, functools.partial(flat, reads=Reads()), values, key)
    with _traced.making((id(fn), sort)):
        return _made(fn, functools.partial(flat, reads=reads), values, key, cache_key, kept)


def _made(
    fn: Callable[..., Any], flat: Callable[..., Any], values: Sequence[Any], key: tuple[Any, ...], cache_key: Any,
    kept: dict[Any, Any],
) -> Graph:  # fmt: skip
    """Returns the graph of a function, traced now and kept if it may be."""
    graph = _trace(fn, flat, values, key)
    may_be_kept = not graph.closed_over and not (graph.holds_calls and is_measured())
    if may_be_kept:  # what is closed over may be another array the next time
        with _lock:
            kept[cache_key] = graph
            if len(kept) > MAX_GRAPHS:
                del kept[next(iter(kept))]
    return graph


def _trace(fn: Callable[..., Any], flat: Callable[..., Any], values: Sequence[Any], key: tuple[Any, ...]) -> Graph:
    out_tree, n_results = None, 0

    def run(*values: object) -> Any:
        nonlocal out_tree, n_results
        open_room()
        result, in_cells = flat(values)
        refuse_cycles(result, "The results")
        leaves, out_tree = jax.tree.flatten(result)
        n_results = len(leaves)
        return [*leaves, *in_cells]

    run.__name__ = run.__qualname__ = getattr(fn, "__name__", "fn")
    closed = jax.make_jaxpr(run)(*values)
    jaxpr = closed.jaxpr
    constants = list(zip(jaxpr.constvars, closed.consts, strict=True))
    held = [(var, value) for var, value in constants if isinstance(value, jax.Array)]
    fixed = [(var, value) for var, value in constants if not isinstance(value, jax.Array)]
    after = jaxpr.outvars[n_results:]
    written = [i for i, (was, var) in enumerate(zip(jaxpr.invars, after, strict=False)) if var is not was]
    graph = make_jaxpr_object(
        [*(var for var, _ in held), *jaxpr.invars],
        [*jaxpr.outvars[:n_results], *(after[i] for i in written)],
        jaxpr.eqns,
        [var for var, _ in fixed],
        jaxpr.effects,
    )
    *_, is_default, waits, policy, settings, hooks = key
    call = RematCall(
        close_jaxpr(graph, [value for _, value in fixed]), policy, None, settings, hooks, waits, is_default
    )
    return Graph(call, [value for _, value in held], out_tree, written)


def register_lift(
    module: str, lift: Callable[[Callable[..., Any], Options], Any], is_bound: Callable[..., bool]
) -> None:
    """Registers what makes classes and methods of a library into ones that run under `remat`.

    Args:
      module: The name of the library's module; it is asked once somebody has imported that.
      lift: Takes a class or method, and options, and returns one; None for a class that is not the library's.
      is_bound: Returns whether an argument is an object of the library that is at work, so that the function is a
        method of it.
    """
    _lifts[module] = lift, is_bound


def _lifted_class(fn: Callable[..., Any], options: Options) -> Any:
    cls = fn.func if isinstance(fn, functools.partial) else fn
    if not isinstance(cls, type):
        return None
    cell_kinds()  # the module that registers those registers lifts
    found = (lift(fn, options) for module, (lift, _) in _lifts.items() if module in sys.modules)
    return next((lifted for lifted in found if lifted is not None), None)


def _lifted_call(fn: Callable[..., Any], args: tuple[Any, ...], options: Options) -> Any:
    cell_kinds()
    for module, (lift, is_bound) in _lifts.items():
        if args and module in sys.modules and is_bound(args[0]):
            return lift(fn, options)
    return None


def refuse_tensors(leaves: Sequence[Any], fn: Callable[..., Any]) -> None:
    """Raises if an argument is a tensor."""
    if any(isinstance(leaf, Tensor) for leaf in leaves):
        name = getattr(fn, "__name__", "fn")
        raise ArgumentError(
            f"`{name}` was called with a `ja.Tensor`, and JAX's gradients are those of functions of arrays. Use "
            f"`ja.compile({name})`, which chooses what to save as well, or make it a function of arrays: "
            f"`ja.remat(ja.func.functionalize({name}))(*arrays)`."
        )


def _sort_of(leaf: object, traces_ints: bool, takes_types: bool) -> _Sort:
    if kind_of(leaf) is not None:
        return _Sort.OBJECT
    if takes_types and isinstance(leaf, jax.ShapeDtypeStruct):
        return _Sort.ARRAY
    if isinstance(leaf, _ARRAYS) or (traces_ints and type(leaf) is int) or hasattr(leaf, "__jax_array__"):
        return _Sort.ARRAY
    return _Sort.STATIC


def _as_array(leaf: object) -> Any:
    """Returns a leaf as what JAX takes."""
    return leaf if isinstance(leaf, (*_ARRAYS, int, jax.ShapeDtypeStruct)) else leaf.__jax_array__()
