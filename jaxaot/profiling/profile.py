"""profile(fn, *args): what a function is made of, from shapes alone."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from jaxaot import _trees as pytree
from jaxaot import settings as config
from jaxaot._jax import has_side_effects
from jaxaot._placement import are_several, placement_of
from jaxaot._typing import ClosedJaxpr, Jaxpr
from jaxaot._util import KeptWith, collector
from jaxaot.api import trace
from jaxaot.errors import ConcretizationError, NotDifferentiableError, UsageError
from jaxaot.facade.marks.bad_arguments import require_arguments
from jaxaot.flow import parameters_of, with_hooks
from jaxaot.ir.rewrite import inline
from jaxaot.ir.roofline import Target, assuming, eqn_picoseconds, find_target, target_now
from jaxaot.ir.walk import aval_bytes, short_aval, variables
from jaxaot.lower.costs import cut_options
from jaxaot.partition.budget import check_budget
from jaxaot.partition.footprint import Footprint, Size, footprint_on
from jaxaot.partition.partition import Cutter
from jaxaot.partition.policies import get_policy
from jaxaot.partition.timeline import footprint_of, forward_timeline, living_at, living_in, memory_timeline
from jaxaot.passes.pipeline import joint_passes, run_passes
from jaxaot.plan.sharding import spread_of
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.plan.timeline import Moment, Timeline
from jaxaot.profiling.arguments import call_key, check_shapes, require_function
from jaxaot.profiling.measures import Living
from jaxaot.profiling.modules import as_function, naming
from jaxaot.profiling.record import Profile
from jaxaot.profiling.rows import Row, Weights, first_reads, graph_rows, is_of_library, line_of, partition_weights
from jaxaot.rematerialize.read_key import Reads

MAX_PROFILES = 32
"""How many profiles are kept for each function; the least recently used one is dropped."""

_lock = threading.Lock()
_profiles = KeptWith()
"""By what they depend on, the profiles of functions, the last used last."""


def profile(
    fn: Callable[..., Any],
    /,
    *args: object,
    backward: bool = True,
    target: str | Target | None = None,
    memory_budget: float | str | None = None,
    policy: str | Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    **kwargs: Any,
) -> Profile:
    """Returns what a function computes, moves and keeps, operation by operation and module by module.

        batch = jax.ShapeDtypeStruct((10**10, 224, 224, 3), jnp.float32)
        print(ja.estimate.profile(loss, params, batch, target="v5e"))

    Nothing is computed, and no memory is taken: shapes are enough. What is kept between forward and backward is what
    `ja.compile` and `ja.remat` would keep. A call with the same function and shapes returns the same profile, unless
    the function reads something else of Python by then.

    Args:
      fn: A function of arrays, tensors and containers of them; an nnx, linen or equinox module; or a method of one. Of
        a linen module the variables are made from shapes.
      *args: Its arguments: `jax.ShapeDtypeStruct`s, arrays, tensors, modules, or pytrees of these.
      backward: Whether it is differentiated: tensors where they require grad, else the arguments `argnums`.
      target: The device whose roofline gives the times: a name such as `"h100"`, or a `ja.estimate.Target`; by default
        the device in use.
      memory_budget: The most that may be kept for the backward, see `ja.compile`; by default the setting in force.
      policy: What may be kept; by default the setting in force.
      argnums: The arguments to differentiate, whose arrays count as parameters.
      **kwargs: Its keyword arguments.

    Raises:
      ArgumentError: If there is no argument and the function needs one, there is no such target, or a size is no whole
        number.
      ConcretizationError: If the function asks for a value, or the shape of a result depends on one.
      UsageError: If it does something besides computing, such as a callback, or computes a position that the integers
        of JAX do not hold.
      NotDifferentiableError: If there is nothing to differentiate.
      PolicyError: If there is no such policy.
      BudgetError: If the budget cannot be read or met.
    """
    require_function(fn, "ja.estimate.profile")
    require_arguments(fn, args, kwargs, "ja.estimate.profile")
    found = find_target(target)
    check_budget(memory_budget)
    if policy is not None:
        get_policy(policy)
    check_shapes([*args, *kwargs.values()], "ja.estimate.profile")
    numbers = argnums if isinstance(argnums, int) else tuple(argnums)
    call, arguments = as_function(fn, args)
    lain = tuple(map(placement_of, pytree.leaves((arguments, kwargs)))) if are_several() else ()
    options = backward, found, memory_budget, policy, numbers, config.get(), lain
    with _lock:
        kept = _profiles.of(call)
        known = list(dict.fromkeys(key[0] for key, _ in kept))
    reads = Reads.of_call(known, call, arguments, kwargs)
    key = call_key(arguments, kwargs, reads)
    with _lock:
        if key is not None and (key, options) in kept:
            kept[key, options] = kept.pop((key, options))  # the latest comes last
            return kept[key, options]
    asked = Asked(backward, found, memory_budget, policy, numbers)
    with collector.waits(), assuming(found), reads.noted(call, arguments, kwargs):
        traced = traced_shapes(call, arguments, kwargs)
        made = make_profile(name_of(call), traced, asked)
    if key is not None and _is_kept(traced):
        with _lock:
            kept[key, options] = made
            if len(kept) > MAX_PROFILES:
                del kept[next(iter(kept))]
    return made


class Asked(NamedTuple):
    """What a profile is asked for; fields as the arguments of `profile`."""

    backward: bool
    target: Target
    memory_budget: float | str | None
    policy: str | Callable[..., Any] | None
    argnums: int | tuple[int, ...]


_ASKS_FOR_VALUE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)


def traced_shapes(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
    """Returns a function traced for the shapes of its arguments.

    Raises:
      ConcretizationError: If it asks for a value.
      UsageError: If it does something besides computing, or computes a position that JAX's integers do not hold.
    """
    name = name_of(fn)
    try:
        with naming():
            traced = trace(fn, *args, **kwargs)
    except _ASKS_FOR_VALUE as error:
        first = str(error).splitlines()[0]
        raise ConcretizationError(
            f"`{name}` asks for a value{place_of(error)}, and it is looked at by its shapes alone: {first} Write "
            "`jnp.where(cond, a, b)` for `if`, `jax.lax.while_loop` for `while`, and results of a shape that does not "
            "depend on values, such as `jnp.nonzero(x, size=n)`."
        ) from error
    except OverflowError as error:
        raise UsageError(
            f"`{name}` computes a position or a size{place_of(error)} that JAX's 32-bit integers do not hold: {error}. "
            "Write sizes as floats, `x * float(n)`, and positions for an axis of this length under "
            "`jax.config.update('jax_enable_x64', True)`."
        ) from error
    effects = [eqn for eqn in traced.jaxpr.jaxpr.eqns if has_side_effects(eqn)]
    if effects:
        shown = ", ".join(
            f"`{eqn.primitive.name}`" + (f" at {line_of(eqn)}" if line_of(eqn) else "") for eqn in effects
        )
        raise UsageError(
            f"`{name}` does more than compute: {shown}. What that takes cannot be told from shapes. Profile the "
            "function without it."
        )
    return traced


def place_of(error: BaseException) -> str:
    """Returns the innermost line of the user's that an error was raised through, such as ` at model.py:12`."""
    found = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if not is_of_library(frame.filename):
            found = f" at {os.path.basename(frame.filename)}:{frame.lineno}"
    return found


def name_of(fn: Callable[..., Any]) -> str:
    """Returns what a function is called."""
    return getattr(fn, "__name__", type(fn).__name__)


def _is_kept(traced: Traced) -> bool:
    """Returns whether the profile of a trace depends on nothing but what is looked at again at a later call."""
    has_others = any(cell.path[0] != ("root", "args") for cell in traced.places.cells)
    has_others |= any(array.path[0] != ("root", "args") for array in traced.places.arrays)
    has_constants = any(isinstance(value, jax.Array) for value in traced.jaxpr.consts)
    return not (traced.call.tensors or traced.rng.generators or has_others or has_constants)


def make_profile(name: str, traced: Traced, asked: Asked) -> Profile:
    """Returns the profile of a traced function.

    Raises:
      NotDifferentiableError: If there is nothing to differentiate.
      PolicyError: If what the policy says cannot be done.
      BudgetError: If the budget cannot be met.
    """
    spread = spread_of(traced.jaxpr.in_avals, traced.shardings, set(parameters_of(traced, asked.argnums)))
    return dataclasses.replace(_made(name, traced, asked), spread=spread)


def _made(name: str, traced: Traced, asked: Asked) -> Profile:
    if not asked.backward:
        return _of_forward(name, traced, asked)
    return _of_whole(name, differentiated(traced, asked), asked)


def differentiated(traced: Traced, asked: Asked) -> JointGraph:
    """Returns the joint graph of a traced function.

    Raises:
      NotDifferentiableError: If there is nothing to differentiate.
    """
    try:
        return traced.joint(None if traced.call.tensors else asked.argnums)
    except NotDifferentiableError as error:
        raise NotDifferentiableError(f"{error} For the forward alone write `backward=False`.") from error


def _of_whole(name: str, joint: JointGraph, asked: Asked) -> Profile:
    parts = cut(joint, asked)
    parameters = joint.differentiable_inputs
    timeline = parts.timeline
    return Profile(
        name,
        asked.target,
        tuple(itertools.chain.from_iterable(_rows(parts, asked))),
        timeline,
        _living(parts, peak_place(timeline), parameters, timeline.peak),
        _bytes_of(parts.forward, parameters),
        parts.plan.save_all_bytes,
        asked.memory_budget,
        lambda: parts,
    )


def _rows(parts: Partition, asked: Asked) -> list[list[Row]]:
    weights = partition_weights(parts, parts.joint.differentiable_inputs)
    rows = graph_rows(parts.forward.jaxpr, "forward", asked.target, weights)
    return rows + graph_rows(parts.backward.jaxpr, "backward", asked.target, weights)


# -- memory alone ------------------------------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """What is known of the memory of a function.

    Attributes:
      timeline_for: Takes the size of a value of a type to the memory in use.
    """

    timeline_for: Callable[[Size | None], Timeline]

    def timeline(self, size: Size | None = None) -> Timeline:
        """Returns the memory in use; `size` as of `memory_timeline`."""
        return self.timeline_for(size)

    def peak_bytes(self, size: Size | None = None) -> int:
        """Returns the most that is in use at any time; `size` as of `memory_timeline`."""
        return self.timeline(size).peak_bytes


def estimate(traced: Traced, asked: Asked) -> Estimate:
    """Returns what is known of the memory of a traced function.

    Raises:
      NotDifferentiableError: If there is nothing to differentiate.
      PolicyError: If what the policy says cannot be done.
      BudgetError: If the budget cannot be met.
    """
    if not asked.backward:
        graph = _forward_graph(traced)
        return Estimate(lambda size: forward_timeline(graph, size))
    parts = cut(differentiated(traced, asked), asked)
    return Estimate(lambda size: memory_timeline(parts, size))


def _forward_graph(traced: Traced) -> ClosedJaxpr:
    settings = config.get()
    return run_passes(inline(traced.jaxpr), joint_passes(settings.passes, settings.exact_rounding))


def cut(joint: JointGraph, asked: Asked) -> Partition:
    """Returns the partition that would be used on the target."""
    settings = config.get()
    options = {**cut_options(settings), "for_target": asked.target}
    if settings.costs == "roofline":
        options["cost"] = functools.partial(eqn_picoseconds, target=asked.target)
    policy = settings.policy if asked.policy is None else asked.policy
    budget = settings.memory_budget if asked.memory_budget is None else asked.memory_budget
    return with_hooks(Cutter(joint, policy, **options).cut(budget))


def _of_forward(name: str, traced: Traced, asked: Asked) -> Profile:
    graph = _forward_graph(traced)
    parameters = parameters_of(traced, asked.argnums)
    rows = graph_rows(graph.jaxpr, "forward", asked.target, Weights({}, first_reads(graph.jaxpr, parameters)))
    timeline = forward_timeline(graph)
    return Profile(
        name,
        asked.target,
        tuple(itertools.chain.from_iterable(rows)),
        timeline,
        _living_forward(graph, timeline, parameters),
        _bytes_of(graph, parameters),
        0,
    )


def _bytes_of(graph: ClosedJaxpr, inputs: Sequence[int]) -> int:
    return sum(aval_bytes(graph.in_avals[i]) for i in inputs)


# -- what lives at the peak --------------------------------------------------------------------------------------------


def _living(parts: Partition, place: int | None, parameters: Sequence[int], peak: Moment | None) -> tuple[Living, ...]:
    """Returns what takes memory at a moment of the timeline of a partition."""
    forward, backward = parts.forward.jaxpr, parts.backward.jaxpr
    held = _held(forward, parameters, parts.joint.n_outputs)
    gradients = dict.fromkeys(variables(backward.outvars))
    held += [("gradients", None, var, 1) for var in gradients if var not in set(backward.invars)]
    found = [] if place is None else living_at(parts, place)
    kept = {*backward.invars, *variables(forward.outvars[parts.joint.n_outputs :])}
    values = (("saved" if var in kept else "temporary", eqn, var, 1) for var, eqn in found)
    return _with_rest(together([*held, *values], footprint_of(parts)), peak)


def _living_forward(graph: ClosedJaxpr, timeline: Timeline, parameters: Sequence[int]) -> tuple[Living, ...]:
    held = _held(graph.jaxpr, parameters, len(graph.jaxpr.outvars))
    place = peak_place(timeline)
    found = [] if place is None else living_in(graph.jaxpr, place)
    values = [*held, *(("temporary", eqn, var, 1) for var, eqn in found)]
    return _with_rest(together(values, footprint_on(target_now(), graph.jaxpr)), timeline.peak)


def _with_rest(values: tuple[Living, ...], peak: Moment | None) -> tuple[Living, ...]:
    """Returns values with what is alive inside of a loop that runs at the peak, and constants."""
    rest = 0 if peak is None else peak.bytes - sum(value.bytes for value in values)
    if peak is None or rest <= 0:
        return values
    inside = Living("inside", peak.name, "", 1, rest, peak.source)
    return tuple(sorted((*values, inside), key=lambda value: -value.bytes))


def peak_place(timeline: Timeline) -> int | None:
    """Returns which moment is the peak; None if there is none."""
    moments = timeline.moments
    return max(range(len(moments)), key=lambda i: moments[i].bytes) if moments else None


def _held(forward: Jaxpr, parameters: Sequence[int], n_outputs: int) -> list[tuple[str, Any, Any, int]]:
    named = set(parameters)
    held = [("parameters" if i in named else "inputs", None, var, 1) for i, var in enumerate(forward.invars)]
    outputs = dict.fromkeys(variables(forward.outvars[:n_outputs]))
    return held + [("outputs", None, var, 1) for var in outputs if var not in set(forward.invars)]


def together(found: Sequence[tuple[str, Any, Any, int]], taking: Footprint) -> tuple[Living, ...]:
    """Returns values that take memory, those of one kind together, the largest first."""
    sums: dict[Any, list[int]] = {}
    for role, eqn, var, n in found:
        if role in ("saved", "temporary"):
            name = "" if eqn is None else eqn.primitive.name
            key = role, name, short_aval(var.aval), "" if eqn is None else line_of(eqn)
        else:
            key = role, "", "", ""
        counted = sums.setdefault(key, [0, 0])
        counted[0] += n
        counted[1] += n * taking.of(var, is_held=role not in ("saved", "temporary"))
    values = [Living(role, name, shape, n, size, line) for (role, name, shape, line), (n, size) in sums.items() if size]
    return tuple(sorted(values, key=lambda value: -value.bytes))
