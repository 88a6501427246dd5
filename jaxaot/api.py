"""What users call: trace, compile, explain, pareto, functionalize."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

from jaxaot import _trees as pytree
from jaxaot import settings as config
from jaxaot._callables import require_function
from jaxaot._frames import without_own_frames
from jaxaot._jax import load
from jaxaot._progress import working
from jaxaot.buckets.policy import Given
from jaxaot.errors import ArgumentError, UsageError
from jaxaot.facade.marks.bad_arguments import require_arguments
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.lower.costs import cut_options
from jaxaot.lower.sizes import Dynamic
from jaxaot.pipeline import compiled, traced_of
from jaxaot.plan.stages import Traced
from jaxaot.report.record import Report
from jaxaot.runtime.compile_report import report_on
from jaxaot.runtime.compiled import CompiledFunction, compiled_function_of, uncompiled
from jaxaot.runtime.options import MAX_PROGRAMS, CompileOptions
from jaxaot.tracer.bodies.pure import run_pure
from jaxaot.transforms.functionalized import call_functionalized

if TYPE_CHECKING:
    from jaxaot.partition.pareto import Pareto

P = ParamSpec("P")
R = TypeVar("R")


def trace(fn: Callable[..., Any], /, *args: object, **kwargs: Any) -> Traced:
    """Returns the functional graph of `fn(*args, **kwargs)`; nothing is changed by it.

    Args:
      fn: A function of tensors, arrays, numbers and containers of them. Tensors that it reaches through its closure,
        globals or objects become inputs.
      *args: Example arguments.
      **kwargs: Example keyword arguments.

    Raises:
      ArgumentError: If there are no arguments, and the function needs some.
      TraceError: If the function cannot be traced.
    """
    fn = uncompiled(fn)
    _require_function(fn, "ja.trace")
    try:
        return traced_of(fn, args, kwargs)
    except Exception as error:
        raise without_own_frames(error)  # noqa: B904  # it is the same exception


class _Module(Protocol):
    """What says itself what becomes of it: modules."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _compiled_by(self, compile: Callable[..., Any], /) -> Any: ...


M = TypeVar("M", bound=_Module)


# fmt: off
@overload
def compile(
    fn: M, *, policy: str | Callable[..., Any] | None = None, memory_budget: float | str | None = None,
    backend: str = "xla", max_programs: int = MAX_PROGRAMS, fullgraph: bool = False,
    mode: str | None = None, dynamic: Dynamic | None = None, buckets: Given = "pow2",
    options: Mapping[str, Any] | None = None, disable: bool = False,
) -> M: ...
@overload
def compile(
    fn: Callable[P, R], *, policy: str | Callable[..., Any] | None = None, memory_budget: float | str | None = None,
    backend: str = "xla", max_programs: int = MAX_PROGRAMS, fullgraph: bool = False,
    mode: str | None = None, dynamic: Dynamic | None = None, buckets: Given = "pow2",
    options: Mapping[str, Any] | None = None, disable: bool = False,
) -> CompiledFunction[P, R]: ...
@overload
def compile(
    fn: None = None, *, policy: str | Callable[..., Any] | None = None, memory_budget: float | str | None = None,
    backend: str = "xla", max_programs: int = MAX_PROGRAMS, fullgraph: bool = False,
    mode: str | None = None, dynamic: Dynamic | None = None, buckets: Given = "pow2",
    options: Mapping[str, Any] | None = None, disable: bool = False,
) -> Callable[[Callable[P, R]], CompiledFunction[P, R]]: ...
# fmt: on
def compile(
    fn: Callable[..., Any] | None = None,
    *,
    policy: str | Callable[..., Any] | None = None,
    memory_budget: float | str | None = None,
    backend: str = "xla",
    max_programs: int = MAX_PROGRAMS,
    fullgraph: bool = False,
    mode: str | None = None,
    dynamic: Dynamic | None = None,
    buckets: Given = "pow2",
    options: Mapping[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Returns `fn`, traced and compiled once for each kind of call; a decorator if `fn` is left out.

    Of a module it returns a module: one with the same parameters, state, hooks, attributes and methods, whose call is
    compiled.

    Values, versions, sharing and gradients after a call are those of `fn` itself. Tensors that `fn` reaches without
    being passed are inputs, found anew at every call. Bools, strings and None are part of the program; floats are not,
    nor are ints that change, where only arithmetic, comparisons and tensors use them. What `fn` does to Python's
    objects is done at every call: attributes, items, variables, tensors that it keeps. Numbers that it replaces, such
    as a step that it counts, are computed anew. Prints happen once, while `fn` is traced. One that reads a clock, a
    file, an iterator or Python's random numbers runs eagerly, after a warning. What a function may do is listed in
    `docs/python.md`.

    Where Python needs a value (`if x.sum() > 0`, `int(n)`, `print(x)`), or does what it has to do at each call (writes
    a file, calls a function under `ja.compiler.disable`), the function runs in parts, after one warning for each such
    place. What `.item()` returns is no such value while Python only keeps it, or computes what it keeps. A branch on a
    truth value or an integer is a program for each way it takes; with more ways than `max_values` of `ja.config`, and
    for all else, Python runs the function at each call, and what tensors do between such places is compiled. Results
    and effects are those of `fn` itself. `fullgraph=True` makes it an error.

    The first size of an argument is compiled exactly. A dim that is seen to change gets *buckets*: one program for all
    sizes up to a bucket, with the values of the exact program. What cannot run so is compiled exactly; `explain()` says
    why. See `docs/sizes.md`.

    Args:
      fn: What to compile.
      policy: What the forward saves for the backward: `"min_cut"`, `"save_all"`, … or a policy.
      memory_budget: `None`, a fraction of what `save_all` keeps, bytes such as `"512MiB"`, or the memory that
        everything has to fit in, such as `"fit:16GiB"`.
      backend: `"xla"`, or `"interpret"` to run one equation at a time. Of PyTorch's names `"inductor"` and
        `"cudagraphs"` are the first, `"aot_eager"` the second, and `"eager"` has every call run by Python.
      max_programs: How many compiled versions are kept; the least recently used one is dropped.
      fullgraph: Whether a function that cannot be one graph is an error rather than run in parts.
      mode: PyTorch's, taken and without effect: there is one way to compile, and XLA chooses kernels.
      dynamic: False for a program for each size; True for buckets from the first call on; or names of arguments, each
        with the dims that change, such as `{"ids": (0, 1)}`, or with dims and their buckets.
      buckets: The sizes for which programs are made: `"pow2"`, a step, or a list of all.
      options: Those of PyTorch's compiler, taken and without effect.
      disable: Whether `fn` itself is returned.

    Raises:
      PolicyError: If there is no such policy.
      BudgetError: If the budget cannot be read.
      UsageError: If no version at all may be kept, or what is said of sizes cannot be read.
    """
    said = CompileOptions(policy, memory_budget, backend, max_programs, fullgraph, mode, dynamic, buckets, options)
    if disable:
        return _same if fn is None else fn
    return functools.partial(_compiled, said) if fn is None else _compiled(said, fn)


def _same(fn: Callable[P, R]) -> Callable[P, R]:
    return fn


def _compiled(options: CompileOptions, fn: Any) -> Any:
    """Returns a function compiled; a class of modules says what becomes of its own."""
    of_module = getattr(type(fn), "_compiled_by", None)
    return compiled(fn, options) if of_module is None else of_module(fn, functools.partial(compiled, options=options))


def _require_function(fn: object, name: str) -> None:
    require_function(fn, name, f"{name}(f{', x' if name in ('ja.trace', 'ja.estimate.pareto') else ''})")


def explain(
    fn: Callable[..., Any] | Traced,
    /,
    *args: object,
    policy: str | Callable[..., Any] | None = None,
    memory_budget: float | str | None = None,
    **kwargs: Any,
) -> Report:
    """Returns a report on a function: what a call changes, what is saved and why, what passes did, and every graph.

        print(ja.explain(step, x))
        ja.explain(step, x).save_html("step.html")     # one page, forward and backward side by side

    Nothing is compiled, run or changed by it.

    Args:
      fn: A function, or what `ja.compile`, `ja.jit`, `ja.remat` or `ja.trace` returned.
      *args: Arguments of a call, or their types.
      policy: What the forward saves for the backward; by default the setting in force.
      memory_budget: How much it may save; by default the setting in force.
      **kwargs: Arguments that are passed by name.

    Raises:
      ArgumentError: If there are no arguments, and the function needs some.
      UsageError: If it is given something else, or a policy for a function that has its own.
      TraceError: If the function cannot be traced.
    """
    if isinstance(fn, Traced):
        partition = fn.joint().partition(policy, memory_budget) if fn.needs_backward else None
        return report_on(fn, partition, None, kind="ja.trace")
    if not callable(fn):
        raise UsageError(
            f"`ja.explain` takes a function and its arguments, and was given a {type(fn).__name__}. Write "
            "`print(ja.explain(f, x))`."
        )
    require_arguments(fn, args, kwargs, "ja.explain")
    fn = compiled_function_of(fn) or fn
    explained: Any = getattr(fn, "explain", None)
    if not _is_ours(fn, explained):
        return compile(fn, policy=policy, memory_budget=memory_budget).explain(*args, **kwargs)
    if policy is not None or memory_budget is not None:
        raise UsageError(
            f"`ja.explain` was given a policy or a budget, and {fn!r} has its own. Give it the function itself, or "
            "drop them."
        )
    return explained(*args, **kwargs)


def _is_ours(fn: Any, explained: Any) -> bool:
    """Returns whether an attribute `explain` says what a function that jaxaot made does.

    It may be the user's own, or have been copied by `functools.wraps` from a function inside.
    """
    explained = explained.func if isinstance(explained, functools.partial) else explained
    is_of_object = getattr(explained, "__self__", None) is fn
    owner = getattr(explained, "owner", lambda: None)()
    is_ours = str(getattr(explained, "__module__", "")).startswith("jaxaot.")
    return is_ours and (is_of_object or owner is fn or isinstance(fn, functools.partial))


def pareto(
    fn: Callable[..., Any],
    /,
    *args: object,
    policy: str | Callable[..., Any] | None = None,
    n: int = 24,
    **kwargs: Any,
) -> Pareto:
    """Returns bytes against time over all memory budgets of a function: as data, `.table()` and `.plot()`.

    Nothing is compiled or run; times are by the costs of the settings, `ja.config(costs=…)`.

    Args:
      fn: A function of tensors, arrays, modules, or types of these such as `jax.ShapeDtypeStruct`.
      *args: Its arguments.
      policy: The policy whose word holds at every budget; by default the setting in force.
      n: How many budgets to try besides the corners of the frontier.
      **kwargs: Its keyword arguments.

    Raises:
      ArgumentError: If there are no arguments, and the function needs some.
      TraceError: If the function cannot be traced.
      NotDifferentiableError: If there is nothing to differentiate.
      PolicyError: If there is no such policy, or if what it says cannot be done.
    """
    _require_function(fn, "ja.estimate.pareto")
    require_arguments(fn, args, kwargs, "ja.estimate.pareto")
    settings = config.get()
    chosen = settings.policy if policy is None else policy
    curve = load("jaxaot.partition.pareto")  # which nothing else needs
    with working("bytes against time"):
        return curve.trade_offs(trace(fn, *args, **kwargs).joint(), chosen, n=n, **cut_options(settings))


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Returns a pure function on jax values that does what `func` does on tensors.

    Arrays among the arguments are shown to `func` as tensors on storages of their own, and tensors in its result come
    back as arrays. What `func` writes into its arguments stays inside; return what is wanted. The result composes with
    `jax.jit`, `jax.grad`, `jax.vmap` and the other transformations, and `jax.make_jaxpr` of it is PyTorch's `make_fx`.
    Gradients follow the tape's rules: none flow through `.detach()`, nor to what was written under `no_grad`. What the
    tape cannot record, `out=`, `resize_` and writes to one of several views, is done, as on tensors without gradients.

    With tensors among the arguments tensors come back, and those that `func` writes are written.

    Args:
      func: A function of tensors. Tensors that it reaches without being passed are constants. It draws random numbers
        from Python's generators, under `jax.jit` once for all calls; pass a key to draw by.

      remove: `"mutations"` or `"mutations_and_views"`: in a graph of JAX there are neither.

    Raises:
      ArgumentError: If `remove` is neither.
      TraceError: If `func` changes a tensor that it was not passed, which a pure function cannot do.
    """

    if remove not in ("mutations", "mutations_and_views"):
        raise ArgumentError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove!r}. Valid options "
            "are: remove='mutations' or remove='mutations_and_views'."
        )

    @functools.wraps(func)
    def pure(*args: object, **kwargs: Any) -> Any:
        if any(isinstance(leaf, Tensor) for leaf in pytree.leaves((args, kwargs))):
            return call_functionalized(func, args, kwargs)
        return run_pure(func, args, kwargs, is_functionalized=True)

    return pure
