"""A function that is cut in two where it is differentiated: a primitive of one graph.

Undifferentiated, it is its graph. Differentiated, it is the forward of a partition, made for the inputs that have a
tangent, followed by a linear map (`linear.py`) whose transpose is the backward. Mapped over an axis it is the same
primitive with the mapped graph, so that the partition is made of what really runs.

Under hooks on saved tensors the two graphs of the partition pack and unpack what crosses, see
`passes/hooked_residuals.py`. What was packed has lost its derivative, so such a function has first derivatives only.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._jax import MappedAxis, Rules, jaxpr_as_fun, make_primitive, with_type_of
from jaxaot._logs import logger_of
from jaxaot._placement import are_several
from jaxaot._typing import Aval, ClosedJaxpr
from jaxaot._util import collector
from jaxaot.errors import NotDifferentiableError, PackedDerivativeError, UntraceableHooksError
from jaxaot.ir.placements import NOWHERE, Placed, shardings_in, speaks_of_meshes
from jaxaot.ir.rewrite import drop_inputs, inline
from jaxaot.ir.roofline import TARGETS, Target, assuming, target_assumed, target_now, target_of
from jaxaot.ir.walk import short_aval
from jaxaot.joint import build_joint
from jaxaot.lower.costs import cut_options
from jaxaot.lower.warm.digest import NotCacheable, graph_digest
from jaxaot.partition.budget import Fit, Share, is_fraction
from jaxaot.partition.fitting import note_cut, once_for_all
from jaxaot.partition.partition import Cutter
from jaxaot.partition.policies import get_policy, min_cut
from jaxaot.passes.declared import On
from jaxaot.passes.hooked_residuals import pack_residuals
from jaxaot.passes.pipeline import joint_passes, lowered_passes, on_several_devices, run_passes
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal
from jaxaot.plan.stages import JointGraph, Partition
from jaxaot.rematerialize.linear import LinearMap, depending, derivative_of, with_items, with_outputs
from jaxaot.rematerialize.room import Cuts, Turn
from jaxaot.settings import Config
from jaxaot.tape.saved_hooks import HookPair
from jaxaot.tracer.bodies.hooks import trace_hooks

_log = logger_of("partition")

_MAX_BUDGETS = 32
"""A graph is kept as it is cut at so many budgets; the program that fits a limit is searched by way of several."""


@dataclasses.dataclass(frozen=True, eq=False)
class Cut:
    """A function cut for some inputs that have tangents.

    Attributes:
      parts: The partition.
      outputs: The positions of the outputs that depend on these inputs.
      derivative: From (residuals, tangents of these inputs) to tangents of these outputs.
      is_packed: Whether residuals are packed.
      n_rungs: How many other cuts may take less memory.
      is_left: Whether it gains nothing, so that JAX differentiates the function.
    """

    parts: Partition
    outputs: tuple[int, ...]
    derivative: LinearMap
    is_packed: bool
    n_rungs: int = 0
    is_left: bool = False

    def forward(self, primals: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Returns outputs and residuals."""
        run = jaxpr_as_fun(self.parts.forward)
        results = (_differentiated_once(run) if self.is_packed else run)(*primals)
        n_outputs = self.parts.joint.n_outputs
        held = {FromPrimal: primals, FromOutput: results[:n_outputs], FromForward: results[n_outputs:]}
        return list(results[:n_outputs]), [held[type(s)][s.index] for s in self.parts.plan.residuals]


class RematCall:
    """A graph, and how it is cut.

    Attributes:
      graph: A ClosedJaxpr.
      policy: What may be saved, see `jaxaot.partition.policies`.
      memory_budget: The most that may be saved.
      settings: The settings in force when it was traced.
      hooks: The pair of hooks on saved tensors in force then, or None.
      waits: Whether what is recomputed waits for the cotangents.
      is_default: Whether nobody asked for the policy, so that JAX may have the function where a cut gains nothing.
      turn: Its turn among the functions of a program, which without a budget share a room; None if it has none.
      placed: How its inputs lie over several devices, as far as that is known.
      lowered_for: Platform and kind of the devices that it will run on; None for the default device.
    """

    turn: Turn | None = None
    placed: Placed = NOWHERE
    lowered_for: tuple[str, str] | None = None

    def __init__(
        self,
        graph: ClosedJaxpr,
        policy: str | Callable[..., Any],
        memory_budget: float | str | Fit | Share | None,
        settings: Config,
        hooks: HookPair | None,
        waits: bool = True,
        is_default: bool = False,
    ):
        self.graph, self.policy, self.memory_budget, self.settings = graph, policy, memory_budget, settings
        self.hooks, self.waits, self.is_default = hooks, waits, is_default
        self._cuts: dict[tuple[int, ...], Cut | None] = {}
        self._mapped: dict[Any, RematCall] = {}
        self._at: dict[Any, RematCall] = {(memory_budget, NOWHERE, None): self}  # which others at other budgets share
        self._several: dict[tuple[int, ...], Cuts[Cut] | None] = {}  # which others at other turns share

    @cached_property
    def is_differentiable(self) -> bool:
        """Whether there are a float input and a float output."""
        return any(map(_is_inexact, self.graph.in_avals)) and any(map(_is_inexact, self.graph.out_avals))

    @cached_property
    def shardings(self) -> list[Any]:
        """The shardings that it asks for."""
        return shardings_in(self.graph.jaxpr)

    def reached(self, inputs: Sequence[int]) -> tuple[int, ...]:
        """Returns the positions of the float outputs that depend on some inputs."""
        return tuple(sorted(i for i in depending(self.graph, inputs) if _is_inexact(self.graph.out_avals[i])))

    def cut(self, perturbed: tuple[int, ...]) -> Cut | None:
        """Returns the cut for some inputs that have tangents; None if JAX has no reverse mode for them.

        Raises:
          PolicyError: If the policy returns nonsense.
          BudgetError: If the budget cannot be met.
          UntraceableHooksError: If residuals are to be packed by hooks that cannot be part of a graph.
        """
        if perturbed not in self._cuts:
            self._cuts[perturbed] = self._make_cut(perturbed)
        found = self._cuts[perturbed]
        if found is not None and not found.is_left:
            note_cut(self.memory_budget, found.parts, found.n_rungs)
        return found

    def _make_cut(self, perturbed: tuple[int, ...]) -> Cut | None:
        outputs = self.reached(perturbed)
        if self.turn is not None:
            return self._cut_at_turn(self.turn, perturbed, outputs)
        cutter = self._cutter(perturbed, outputs)
        if cutter is None:
            return None
        parts, n_rungs = self._parts(cutter)
        return self._uncut(cutter, outputs) if self._is_left(cutter, parts) else self._finished(parts, n_rungs, outputs)

    def _is_left(self, cutter: Cutter, parts: Partition) -> bool:
        """Returns whether JAX differentiates the function, because the cut that nobody asked for gains nothing."""
        if not self.is_default or self.memory_budget is not None or self.hooks is not None:
            return False
        return get_policy(self.policy) is min_cut and not cutter.gains(parts)

    @collector.waits()
    def _cut_at_turn(self, turn: Turn, perturbed: tuple[int, ...], outputs: tuple[int, ...]) -> Cut | None:
        if perturbed not in self._several:
            cutter = self._cutter(perturbed, outputs)
            self._several[perturbed] = None if cutter is None else self._cuts_of(cutter, outputs)
        cuts = self._several[perturbed]
        return None if cuts is None else turn.cut(cuts, self._is_loss)

    def _uncut(self, cutter: Cutter, outputs: tuple[int, ...]) -> Cut:
        """Returns what stands for a function that JAX differentiates: it computes nothing again.

        On several devices it runs as it is: gradients lie as parameters do by rules of our own.
        """
        return dataclasses.replace(self._finished(cutter.all_saved, 0, outputs), is_left=not are_several())

    def _cuts_of(self, cutter: Cutter, outputs: tuple[int, ...]) -> Cuts[Cut]:
        def finished(parts: Partition, may_be_left: bool) -> Cut:
            is_left = may_be_left and self._is_left(cutter, parts)
            return self._uncut(cutter, outputs) if is_left else self._finished(parts, 0, outputs)

        return Cuts(cutter, finished)

    @cached_property
    def _is_loss(self) -> bool:
        # a loss comes first, before what it is made of; a block may return a loss of its own last
        first = next((aval for aval in self.graph.out_avals if _is_inexact(aval)), None)
        return first is not None and not first.shape

    def _finished(self, parts: Partition, n_rungs: int, outputs: tuple[int, ...]) -> Cut:
        joint = parts.joint
        if self.hooks is not None:
            parts = _packed(parts, self.hooks)
        cotangents, gradients = joint.jaxpr.in_avals[joint.n_primals :], parts.backward.out_avals
        # where nothing is computed again, barriers would only keep XLA from computing again what costs it nothing
        waits = self.waits and (parts.plan.repeats_work or self.hooks is not None)
        derivative = derivative_of(parts, gradients, cotangents, waits)
        _log.debug("a function under ja.remat %s", parts.plan)
        return Cut(parts, outputs, derivative, self.hooks is not None, n_rungs)

    def _cutter(self, perturbed: tuple[int, ...], outputs: Sequence[int]) -> Cutter | None:
        """Returns what cuts the graph at any budget; None if JAX has no reverse mode for these inputs."""

        def make() -> Cutter | None:
            try:
                joint = build_joint(self.graph, perturbed, outputs)
            except (NotDifferentiableError, NotImplementedError):
                return None  # such as a `while_loop`: forward mode works, and for reverse mode JAX raises itself
            said = self.settings.passes, self.settings.exact_rounding
            platform = self.lowered_for[0] if self.lowered_for else jax.default_backend()
            lowered = lowered_passes(said[0], platform, said[1], On.CUT)
            passes = (*joint_passes(*said), *(on_several_devices(lowered) if are_several() else lowered))
            with assuming(self._target):
                joint = run_passes(joint, passes, check=self.settings.check_graphs)
            joint = dataclasses.replace(joint, placed=self._placed_in(joint))
            options = cut_options(self.settings, self._target)
            return Cutter(joint, self.policy, holds_products=self.is_default, **options)

        if not isinstance(self.memory_budget, Fit | Share):
            return make()
        made_for = self.settings, self.placed, self.lowered_for
        return once_for_all((self._content, perturbed, self.policy, *made_for), make)

    @property
    def _target(self) -> Target:
        """The device that cuts are made for: the one that settings or estimates name, else the one that it runs on."""
        named = TARGETS.get(self.settings.costs) or target_assumed()
        return named or (target_of(*self.lowered_for) if self.lowered_for else target_now())

    def _placed_in(self, joint: JointGraph) -> Placed:
        """Returns how primals of the joint graph lie, and gradients are to lie: as what they belong to."""
        if self.placed is NOWHERE and not speaks_of_meshes(joint.jaxpr.jaxpr):
            return NOWHERE
        gradients = [self.placed.inputs[i] if self.placed.inputs else None for i in joint.differentiable_inputs]
        outputs = (*[None] * (joint.n_outputs + joint.n_refills), *gradients)
        return dataclasses.replace(self.placed, outputs=outputs)

    @property
    def _content(self) -> Hashable:
        """What is equal for graphs of other traces that compute the same."""

        def found() -> tuple[ClosedJaxpr, Hashable]:
            try:
                return self.graph, graph_digest(self.graph)
            except NotCacheable:
                return self.graph, id(self.graph)

        return once_for_all(id(self.graph), found)[1]  # which keeps the graph, so that no other has its number

    @collector.waits()
    def _parts(self, cutter: Cutter) -> tuple[Partition, int]:
        """Returns a graph as it is cut, and how many other cuts may take less memory."""
        budget = self.memory_budget
        if isinstance(budget, Fit):
            return cutter.cut(budget), 0 if budget.rung is None else len(cutter.ladder)
        if not isinstance(budget, Share):
            parts = cutter.cut(budget)
            is_share = is_fraction(budget) and parts.plan.repeats_work
            return (cutter.least(parts) if is_share else parts), 0
        parts = cutter.cut(budget.budget)
        if is_fraction(budget.budget) and parts.plan.repeats_work:
            parts = cutter.settled(parts)
        rungs = cutter.rungs(parts) if parts.plan.repeats_work else []
        return parts if budget.rung is None or not rungs else rungs[min(budget.rung, len(rungs) - 1)], len(rungs)

    def mapped(self, axis: MappedAxis, dims: tuple[int | None, ...], avals: Sequence[Aval]) -> tuple[Any, list[Any]]:
        """Returns the same mapped over an axis, and where the axis is in each output.

        Args:
          axis: The axis.
          dims: Where it is in each input; None where it is not.
          avals: The types of the inputs with the axis.
        """
        batched = depending(self.graph, [i for i, dim in enumerate(dims) if dim is not None], axis.name)
        out_dims = [0 if i in batched else None for i in range(len(self.graph.out_avals))]
        key = axis, dims, tuple(avals)
        if key not in self._mapped:
            graph = jax.make_jaxpr(axis.vmap(jaxpr_as_fun(self.graph), dims, out_dims))(*avals)
            self._mapped[key] = self.like(inline(graph))
        return self._mapped[key].in_turn(self.turn), out_dims

    def like(self, graph: Any) -> RematCall:
        """Returns another graph, cut as this one is."""
        return self._with(graph, self.memory_budget).in_turn(self.turn)

    def _with(self, graph: Any, memory_budget: float | str | Fit | Share | None) -> RematCall:
        options = self.settings, self.hooks, self.waits, self.is_default
        return RematCall(graph, self.policy, memory_budget, *options)

    def in_turn(self, turn: Turn | None) -> RematCall:
        """Returns the same graph, cut as its turn is; without a turn, itself."""
        if turn is None:
            return self
        made = self._with(self.graph, self.memory_budget)
        made.turn, made._several, made._mapped, made._at = turn, self._several, self._mapped, self._at
        made.placed, made.lowered_for = self.placed, self.lowered_for
        return made

    def at(
        self,
        memory_budget: float | str | Fit | Share | None,
        placed: Placed = NOWHERE,
        lowered_for: tuple[str, str] | None = None,
    ) -> RematCall:
        """Returns the same graph, cut at another budget, for inputs that lie so, on such devices."""
        key = memory_budget, placed, lowered_for
        if key not in self._at:
            made = self._with(self.graph, memory_budget)
            made.placed, made.lowered_for = placed, lowered_for
            self._at[key], made._at = made, self._at
            if len(self._at) > _MAX_BUDGETS:
                self._at.pop(next(iter(self._at)), None)
            return made
        return self._at[key]

    def __call__(self, *args: object) -> list[Any]:
        """Returns the outputs for some inputs."""
        return list(rematerialized_p.bind(*args, jaxpr=self.graph, call=self))


def _packed(parts: Partition, hooks: HookPair) -> Partition:
    """Returns a partition whose residuals are packed inside the graphs."""
    parts = pack_residuals(parts, hooks, functools.cache(trace_hooks))
    if parts.plan.packed_between:
        types = {short_aval(parts.backward.in_avals[i]) for i in parts.plan.packed_between}
        raise UntraceableHooksError(
            f"The hooks on saved tensors {hooks} around a function under `ja.remat` cannot be part of its graphs, "
            f"where they would pack {', '.join(sorted(types))}: they ask for values, keep them elsewhere, draw random "
            "numbers or use other tensors. JAX runs no Python between a forward and its backward. Write hooks that are "
            "functions of the tensor alone, such as those of `ja.autograd.graph`: "
            "`saved_tensors_hooks(*ja.autograd.graph.to_dtype(ja.bfloat16))`."
        )
    return parts


def _differentiated_once(run: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a forward that packs; to differentiate it again is an error."""

    @jax.custom_jvp
    def forward(*primals: object) -> Any:
        return run(*primals)

    @forward.defjvp
    def refuse(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        raise PackedDerivativeError(
            "A function under `ja.remat` is differentiated twice while hooks on saved tensors are in force: what they "
            "packed has lost its derivative. Take derivatives of higher order outside of `saved_tensors_hooks`."
        )

    return forward


def _is_inexact(value: Any) -> bool:
    return jnp.issubdtype(value.dtype, jnp.inexact)


def _transpose(cotangents: Sequence[Any], args: Sequence[Any], jaxpr: ClosedJaxpr, call: RematCall) -> Any:
    """Transposes a function that is linear in some arguments: there is nothing to save, so JAX does."""
    del call
    linear = [i for i, x in enumerate(args) if x is None]
    used = [i for i, cotangent in enumerate(cotangents) if cotangent is not None]

    def moved(*moving: Any) -> Any:
        results = jaxpr_as_fun(jaxpr)(*with_items(args, linear, moving))
        return [results[i] for i in used]

    pulled = jax.linear_transpose(moved, *(jaxpr.in_avals[i] for i in linear))([cotangents[i] for i in used])
    return with_items([None] * len(args), linear, pulled)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], jaxpr: ClosedJaxpr, call: RematCall) -> Any:
    perturbed = tuple(i for i, t in enumerate(tangents) if t is not None and _is_inexact(t))
    found: list[Any] = [None] * len(jaxpr.out_avals)
    if not perturbed or not call.reached(perturbed):
        return call(*primals), found
    cut = call.cut(perturbed)
    if cut is None or cut.is_left:
        return _plain_jvp(primals, tangents, perturbed, jaxpr)
    outputs, residuals = cut.forward(primals)
    results = cut.derivative(*residuals, *(tangents[i] for i in perturbed))
    outputs = [with_type_of(x, aval) for x, aval in zip(outputs, jaxpr.out_avals, strict=True)]
    return outputs, with_items(found, cut.outputs, results)


def _plain_jvp(primals: Sequence[Any], tangents: Sequence[Any], perturbed: tuple[int, ...], jaxpr: ClosedJaxpr) -> Any:
    moved = lambda *moving: jaxpr_as_fun(jaxpr)(*with_items(primals, perturbed, moving))
    outputs, found = jax.jvp(moved, [primals[i] for i in perturbed], [tangents[i] for i in perturbed])
    return outputs, [t if _is_inexact(t) else None for t in found]


def _batch(axis: MappedAxis, args: tuple[Any, ...], dims: Sequence[Any], jaxpr: ClosedJaxpr, call: RematCall) -> Any:
    del jaxpr
    mapped, out_dims = call.mapped(axis, tuple(dims), [jax.typeof(x) for x in args])
    return mapped(*args), out_dims


def _split(missing: Sequence[int], jaxpr: ClosedJaxpr, call: RematCall) -> Any:
    """Returns the results that do not depend on missing operands, what computes them, and what computes the others.

    So is a function cut whose results are values and tangents, in the rule of a `jax.custom_jvp`.
    """
    later = depending(jaxpr, missing)
    now = [i for i in range(len(jaxpr.out_avals)) if i not in later]
    if not now or not later or jaxpr.effects:
        return None
    known = call.like(drop_inputs(with_outputs(jaxpr, now), missing))
    rest = with_outputs(jaxpr, sorted(later))
    return now, known, {"jaxpr": rest, "call": call.like(rest)}


rematerialized_p = make_primitive(
    "rematerialized",
    Rules(
        lambda *args, jaxpr, call: jaxpr_as_fun(jaxpr)(*args),
        lambda jaxpr, call: (jaxpr.out_avals, jaxpr.effects),
        _jvp,
        _batch,
        _transpose,
        lambda jaxpr, call: jaxpr,
        lambda graph, jaxpr, call: call.like(graph),
        split=_split,
    ),
)
