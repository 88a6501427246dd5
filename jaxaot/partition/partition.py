"""Cutting a joint graph into forward and backward: classify, choose, formulate, solve, split."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import jax

from jaxaot._immutable import immutable
from jaxaot._typing import Eqn, Jaxpr
from jaxaot._util import collector, format_bytes
from jaxaot.errors import BudgetError, OffloadError, PolicyError
from jaxaot.ir.cost import eqn_flops
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.roofline import Target, again_picoseconds, offload_picoseconds, target_now
from jaxaot.ir.walk import source_line, sub_jaxprs
from jaxaot.partition.bodies import Rule, cut_bodies
from jaxaot.partition.bottlenecks import bottlenecks, head_products
from jaxaot.partition.budget import MAX_EXACT, Budgets, Fit, parse_budget, parse_fit
from jaxaot.partition.classify import Classified, Side, classify
from jaxaot.partition.formulate import Choices, Cost, choose, formulate
from jaxaot.partition.network import Network
from jaxaot.partition.offload import has_host_memory, offload
from jaxaot.partition.pairs import pair_at
from jaxaot.partition.policies import (
    HoldingExchanges,
    Policy,
    get_policy,
    kept_by_compilers,
    min_cut,
    policy_label,
    recomputing_collectives,
    save_all,
)
from jaxaot.partition.problem import Solution
from jaxaot.partition.solve import NoCut
from jaxaot.partition.split import split
from jaxaot.partition.tags import (
    Tags,
    check_names,
    gather_markers,
    is_marker,
    must_save_lines,
    read_tags,
    without_markers,
)
from jaxaot.partition.timeline import memory_timeline
from jaxaot.partition.variants import Found, Variant, Variants
from jaxaot.plan.stages import JointGraph, Partition

_TRIALS_TO_FIT = 10
_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
"""The shares of `save_all` at which the ladder has rungs: the same for all budgets, so that these agree."""
_FEW_VALUES = 200
"""In graphs of so many values that may be saved rungs are exact; in larger ones an integer program takes long."""
_MAX_RUNGS = 4
"""How many rungs may stand beside the cut that was asked for."""
_LITTLE_LONGER, _MUCH_LESS = 1.1, 0.75
"""A cut that saves the bottlenecks may recompute for so many times as long, if it takes this part of the memory."""
_ALIKE = 1.03
"""Estimates whose ratio is no more than this are equal."""
_SMALL = 0.1
"""Products of this part of the FLOPs of the largest one are small, such as the first convolution of images."""
_CLEAR = 0.98
"""The part of the temporaries without a cut that a default cut takes at most: else nothing is cut."""
_HARDLY = 0.005
"""A cut that saves less may take longer by this part of the whole time."""
_ERROR = 0.1
"""How far estimates may be off, either way."""


_Finder = Callable[[], tuple[int, Callable[[], Partition]]]
"""Returns what a cut saves, in bytes, and what makes it."""


@collector.waits()
def partition(
    joint: JointGraph,
    policy: str | Policy = "min_cut",
    memory_budget: float | str | Fit | None = None,
    *,
    cost: Cost | None = None,
    may_offload: bool = False,
    recompute_collectives: bool = False,
    for_target: Target | None = None,
) -> Partition:
    """Returns a joint graph cut into forward and backward.

    Args:
      joint: The joint graph.
      policy: The name of a policy, or a function from an equation to a `Choice`.
      memory_budget: The most that may be saved beyond primals and outputs: a fraction of what `save_all` would save, or
        a text such as `"512MiB"`; or what everything has to fit in, such as `"fit:16GiB"`. The least time is then spent
        on recomputation that keeps within it, be it of what the policy itself would rather not recompute.
      cost: How long an equation takes, in picoseconds; by default a roofline of the device in use.
      may_offload: Whether values may be moved to the host's memory where that takes less time than to recompute them.
      recompute_collectives: Whether the backward may repeat exchanges between devices, whatever the policy says.
      for_target: The device that memory and times are estimated for; by default the one in use.

    What tags say (names, marks and regions, see `tags.py`) goes together with the policy.

    Raises:
      PolicyError: If there is no such policy, or if what it says cannot be done.
      TagConflictError: If a value must be saved and must be recomputed.
      BudgetError: If the budget cannot be read or met.
      OffloadError: If values may be moved to the host, and the device cannot.
    """
    return Cutter(joint, policy, cost, may_offload, recompute_collectives, for_target).cut(memory_budget)


@immutable(eq=False)
class Cutter:
    """Cuts one joint graph at any budget; what does not depend on the budget is computed once.

    Attributes:
      joint: The joint graph.
      policy: The name of a policy, or a function from an equation to a `Choice`.
      cost: How long an equation takes, in picoseconds; by default a roofline of the target.
      may_offload: Whether values may be moved to the host's memory.
      recompute_collectives: Whether the backward may repeat exchanges between devices.
      for_target: The device that memory and times are estimated for; by default the one in use.
      saves_bottlenecks: Whether what is alive at the bottlenecks of the forward is saved at every budget, see
        `bottlenecks.py`.
      holds_products: Whether only small products are repeated where no budget asks for it, although to repeat others
        may take less time by estimate.
      saves_heads: Whether the products that the backward needs first, such as logits, are saved at every budget.
    """

    joint: JointGraph
    policy: str | Policy = "min_cut"
    cost: Cost | None = None
    may_offload: bool = False
    recompute_collectives: bool = False
    for_target: Target | None = None
    saves_bottlenecks: bool = False
    holds_products: bool = False
    saves_heads: bool = False

    def __post_init__(self) -> None:
        check_names(self.joint, get_policy(self.policy))
        if self.may_offload and not has_host_memory():
            raise OffloadError(
                f"Values were to be offloaded, and the {jax.default_backend()} device has no memory of the kind "
                "'pinned_host'. Leave `offload` off on this device."
            )

    @cached_property
    def graph(self) -> Classified:
        """The joint graph, its markers gathered, with the side of each equation."""
        # markers are gathered first: a name on a value is one on all that is only another view of it
        return classify(gather_markers(self.joint))

    @cached_property
    def target(self) -> Target:
        """The device that memory and times are estimated for."""
        return self.for_target or target_now()

    @cached_property
    def choices(self) -> Choices:
        """What the policy and the tags say."""
        return self._said(self.graph, self.function)

    def _said(self, graph: Classified, policy: Policy) -> Choices:
        said = read_tags(graph, self.save_within).applied(choose(graph, policy), policy)
        said = said.saving(head_products(graph)) if self.saves_heads else said
        return said.saving(bottlenecks(graph, self._time)) if self.saves_bottlenecks else said

    @cached_property
    def function(self) -> Policy:
        """The policy."""
        policy = get_policy(self.policy)
        return recomputing_collectives(policy) if self.recompute_collectives else policy

    @cached_property
    def save_all(self) -> tuple[int, int]:
        """What `save_all` keeps beyond primals: all of it, and what of it is no output, in bytes."""
        variant, solution = self._by_save_all
        # refills are given back whatever is saved, so they are not counted
        kept = [var for var in variant.formulation.saved(solution) if var not in variant.graph.refills]
        return sum(map(variant.graph.bytes, kept)), solution.weight

    @cached_property
    def _by_save_all(self) -> tuple[Variant, Solution]:
        variant = self._by(Rule(save_all, "save_all"))
        return variant, variant.budgets.leanest

    @cached_property
    def all_saved(self) -> Partition:
        """The cut that computes nothing again."""
        variant, solution = self._by_save_all
        return self._split(variant, solution, "save_all")

    def gains(self, parts: Partition) -> bool:
        """Returns whether a cut takes less memory than the program that compilers make where nothing is cut.

        Both are estimates, the latter a low one, which knows what kernels compute again by themselves.

        Args:
          parts: The cut.
        """
        if self.target.has_tiles and self.budgets.is_one:
            return False  # the compiler of TPUs recomputes by itself, but not what a loop stacks
        uncut = dataclasses.replace(self, policy=kept_by_compilers).cut().timeline
        return parts.timeline.peak_bytes - uncut.held_bytes <= _CLEAR * (uncut.peak_bytes - uncut.held_bytes)

    @cached_property
    def unlimited(self) -> Variant:
        """What the policy makes of the bodies without a budget."""
        return self._attempt(lambda: self._by(Rule(self.function, policy_label(self.policy))))

    @cached_property
    def _searched(self) -> Cutter:
        """What cuts the same graph within the bytes of the minimum cut."""
        small = _SMALL if self.target.name == "cpu" else 0  # elsewhere kernels of products are what takes time
        most = small * largest_product(self.joint.jaxpr.jaxpr) if self.holds_products else math.inf
        return dataclasses.replace(self, policy=HoldingExchanges(self.function, most))

    @cached_property
    def has_corners(self) -> bool:
        """Whether the cut without a budget is a corner of the hull, or the minimum cut: the problem is a large one.

        Each byte has one price then. What is decided of a value depends on what is around it, and layers that are alike
        are treated alike. Small problems are integer programs.
        """
        return len(self.unlimited.formulation.problem.producer) > MAX_EXACT

    def _weight(self, variant: Variant, solution: Solution) -> int:
        """Returns the bytes that a solution saves."""
        return sum(variant.formulation.problem.weights[value] for value in solution.saved)

    @cached_property
    def budgets(self) -> Variants:
        """The best solutions for all budgets."""
        label = policy_label(self.policy)
        return Variants(
            lambda price, slack: self._attempt(lambda: self._by(Rule(self.function, label, self._time, price, slack))),
            is_one=not any(pair_at(self.graph, i) for i in self.graph.positions(Side.FORWARD, Side.EITHER)),
        )

    def _by(self, rule: Rule) -> Variant:
        """Returns the variant that a rule gives; the time counts if the rule has a price."""
        bodies = cut_bodies(self.graph, rule)
        graph = bodies.graph
        choices = self._said(graph, rule.policy)
        if rule.price is None:
            return Variant(bodies, graph, choices, formulate(graph, choices))
        choices, target = choices.under_a_budget, self.target
        moving = (lambda aval: offload_picoseconds(aval, target)) if self.may_offload else None
        inner_cost = sum(rule.cost(eqn) * n_times for eqn, n_times in bodies.inside.repeated)
        return Variant(bodies, graph, choices, formulate(graph, choices, rule.cost, moving), inner_cost)

    def _time(self, eqn: Eqn) -> int:
        return 0 if is_marker(eqn) else self.cost(eqn) if self.cost else again_picoseconds(eqn, self.target)

    def save_within(
        self, graph: Classified, tags: Tags, policy: Policy, memory_budget: float | str | None
    ) -> list[Any]:
        """Returns the variables to save of a part of the graph that has a budget of its own."""
        choices = tags.applied(choose(graph, policy), policy).under_a_budget
        formulation = formulate(graph, choices, self._time)
        everything = formulate(graph, tags.applied(choose(graph, save_all), save_all))
        limit = parse_budget(memory_budget, Network(everything.problem).least_bytes().weight)
        try:
            return formulation.saved(Budgets(formulation.problem).within(limit).solution)
        except BudgetError as error:
            raise _naming_marks(error, graph) from None

    def cut(self, memory_budget: float | str | Fit | None = None) -> Partition:
        """Returns the forward and the backward at a budget; without one, by the policy alone.

        Raises:
          PolicyError: If what the policy says cannot be done.
          BudgetError: If the budget cannot be read or met.
        """
        if memory_budget is None:
            solution = self._attempt(lambda: self.unlimited.budgets.leanest)
            parts = self._split(self.unlimited, solution, policy_label(self.policy))
            return self._faster(parts, solution) if get_policy(self.policy) is min_cut else parts
        fit = parse_fit(memory_budget)
        if fit is not None:
            ladder = self.ladder if fit.rung is not None else []
            return ladder[min(fit.rung or 0, len(ladder) - 1)] if ladder else self._fitting(fit)
        assert not isinstance(memory_budget, Fit)
        return self.within(parse_budget(memory_budget, self.save_all[1], self.joint.spread.n_devices))

    def _faster(self, parts: Partition, solution: Solution) -> Partition:
        """Returns the fastest cut that takes no more memory than the minimum cut, saved or, by estimate, in all.

        To repeat a matmul may take less time than what the minimum cut repeats, and more may then be let go.
        """
        cost = self._recomputing(solution)
        try:
            # the minimum cut never repeats a matmul; a budget of its own bytes may, and so find a faster one
            searched = self._searched
            found = searched._attempt(lambda: self._search(searched.budgets, solution)) if cost else None
        except (BudgetError, PolicyError):  # bodies are cut by other rules within a budget
            return parts
        if found is None or found.cost >= cost:
            return parts
        faster = self._split(found.variant, found.solution, policy_label(self.policy))
        # fewer bytes saved may still mean a higher peak, as what is repeated is alive at once
        return faster if faster.timeline.peak_bytes <= parts.timeline.peak_bytes * _ALIKE else parts

    def _search(self, budgets: Variants, solution: Solution) -> Found:
        """Returns the fastest solution, or corner, of no more bytes than the minimum cut."""
        if not self.has_corners:
            return budgets.within(solution.weight)
        return budgets.corner_within(self._weight(self.unlimited, solution), self._weight)

    @cached_property
    def ladder(self) -> list[Partition]:
        """Cuts that are the same for all budgets, that of least memory by estimate first.

        Memory goes up and down with what is saved, because what is computed again takes memory too. They are
        corners in large graphs, which take no integer program to find.
        """
        found: dict[tuple[int, int], Partition] = {}
        for find in (*self._rung_finders(), *self._min_cut_finder()):
            with contextlib.suppress(BudgetError, PolicyError, NoCut):  # what must be saved may be more
                parts = find()[1]()
                # several shares end at the same corner
                found.setdefault((parts.plan.extra_bytes, parts.timeline.peak_bytes), parts)
        return sorted(found.values(), key=lambda parts: parts.timeline.peak_bytes)

    def rungs(self, parts: Partition) -> list[Partition]:
        """Returns cuts that save more than the one asked for, and may take less memory: by estimate, the least first.

        They take no more time.

        Args:
          parts: The one that was asked for.
        """
        looser = [rung for rung in self.ladder if rung.plan.extra_bytes > parts.plan.extra_bytes]
        if not looser:
            return []
        asked, least = parts.timeline.peak_bytes, looser[0].timeline.peak_bytes
        # an estimate may be off both ways: what may be lower is tried, not only what is
        most = min((1 + _ERROR) * asked, (1 + _ERROR) / (1 - _ERROR) * least)
        return [rung for rung in looser if rung.timeline.peak_bytes <= most][:_MAX_RUNGS]

    def least(self, parts: Partition) -> Partition:
        """Returns the cut of least memory by estimate: the one that was asked for, or a rung that saves more.

        So a smaller budget is estimated to take no more than a larger one. What a cut saves is there at once with what
        is held throughout: one that saves too much to take less is solved, but not made.

        Args:
          parts: The one that was asked for.
        """
        parts = self.settled(parts)
        asked, held, best = parts.plan.extra_bytes, parts.timeline.held_bytes, parts
        fastest = lambda: self._corner(self.budgets.fastest.weight)
        for find in (*self._rung_finders(asked), fastest, *self._min_cut_finder()):
            with contextlib.suppress(BudgetError, PolicyError, NoCut):  # what must be saved may be more
                saved, make = find()
                # what is saved is alive at the end of the forward: no peak is below, so it need not be split to know
                if saved > asked and (held + saved) * _ALIKE < best.timeline.peak_bytes:
                    best = min(best, make(), key=lambda rung: rung.timeline.peak_bytes)
        return best

    def settled(self, parts: Partition) -> Partition:
        """Returns a cut that saves less in place of one that takes no less memory and is hardly any faster.

        It is the minimum cut, or the corner at the next smaller share.
        """
        whole, asked = sum(map(self._time, self.graph.eqns)), parts.plan.extra_bytes
        recomputing = (parts.plan.recompute_seconds or 0.0) * 1e12
        is_less = lambda other: other.timeline.peak_bytes <= parts.timeline.peak_bytes
        if get_policy(self.policy) is min_cut:
            solution = self._attempt(lambda: self.unlimited.budgets.leanest)
            longer = self._recomputing(solution) - recomputing
            if solution.weight < asked and longer <= (_ALIKE - 1) * whole and is_less(settled := self.cut()):
                return settled
        smaller = [int(share * self.save_all[1]) for share in _SHARES if share * self.save_all[1] < asked]
        with contextlib.suppress(BudgetError, PolicyError, NoCut):  # what must be saved may be more
            weight, make = self._corner(max(smaller, default=0))
            if weight < asked and (other := make()).plan.recompute_seconds is not None:
                longer = (other.plan.recompute_seconds or 0.0) * 1e12 - recomputing
                return other if longer <= _HARDLY * whole and is_less(other) else parts
        return parts

    def _recomputing(self, solution: Solution) -> int:
        """Returns how long the cut without a budget computes again, in picoseconds."""
        variant = self.unlimited
        places = (variant.formulation.positions[step] for step in solution.repeated)
        cost = sum(self._time(variant.graph.eqns[i]) for i in places)
        return cost + sum(self._time(eqn) * n_times for eqn, n_times in variant.bodies.inside.repeated)

    def _rung_finders(self, saved: int = -1) -> list[_Finder]:
        """Returns what finds rungs of shares of `save_all` that are more than some bytes, and the leanest."""
        lean = self if self.saves_bottlenecks else self._lean
        limits = [limit for limit in (int(share * self.save_all[1]) for share in _SHARES) if limit > saved]
        return [*(functools.partial(self._corner, limit) for limit in limits), lambda: lean._corner(0)]

    def _min_cut_finder(self) -> list[_Finder]:
        """Returns what finds the minimum cut, if that is the policy."""
        weight = lambda: self._weight(self.unlimited, self.unlimited.budgets.leanest)
        return [lambda: (weight(), self.cut)] if get_policy(self.policy) is min_cut else []

    def within(self, limit: int) -> Partition:
        """Returns the forward and the backward that save at most `limit` bytes beyond primals and outputs.

        Raises:
          BudgetError: If that cannot be.
        """
        try:
            found = self._best_within(limit)
        except BudgetError as error:
            raise _naming_marks(error, self.graph) from None
        return self._within(found, limit)

    def corner(self, limit: int) -> Partition:
        """Returns the fastest cut within a budget, in large graphs the fastest corner; the leanest if there is none."""
        return self._corner(limit)[1]()

    def _corner(self, limit: int) -> tuple[int, Callable[[], Partition]]:
        """Returns what the fastest cut within a budget saves, and what makes it; the leanest if there is none.

        In large graphs it is the fastest corner.
        """
        if len(self.unlimited.budgets.problem.weights) <= _FEW_VALUES:
            parts = self.within(max(limit, self.budgets.leanest.weight))
            return parts.plan.extra_bytes, lambda: parts
        found = self._attempt(lambda: self.budgets.corner_within(limit, self._weight))
        weight = self._weight(found.variant, found.solution)
        return weight, lambda: self._within(found, weight)

    def _within(self, found: Found, limit: int) -> Partition:
        label = f"{policy_label(self.policy)} within {format_bytes(limit)}"
        parts = self._split(found.variant, found.solution, label)
        least_seconds = None if found.least_cost is None else found.least_cost / 1e12
        plan = dataclasses.replace(parts.plan, recompute_seconds=found.cost / 1e12, least_seconds=least_seconds)
        return dataclasses.replace(parts, plan=plan)

    def _best_within(self, limit: int) -> Any:
        """Returns the best solution within a budget: one that saves heads or bottlenecks, if that takes no longer.

        It may take a little longer where it takes much less memory in all, by estimate. The least time may mean to run
        the whole forward again at once.

        Raises:
          BudgetError: If there is none.
        """
        found = self._attempt(lambda: self.budgets.within(limit))
        if self.saves_bottlenecks or not found.cost:
            return found
        if not self.saves_heads:
            with contextlib.suppress(BudgetError, PolicyError, NoCut):  # it may be too much to save
                heads = self._heads._best_within(limit)
                if heads.cost <= found.cost * _LITTLE_LONGER:
                    return dataclasses.replace(heads, least_cost=found.least_cost)
        try:
            lean = self._lean.budgets.within(limit)
        except (BudgetError, NoCut):
            return found
        # bottlenecks cost time only where they are no part of the best solution
        if lean.cost > found.cost * _LITTLE_LONGER:
            return found
        is_best = found.cost == found.least_cost or found.cost < lean.cost
        if is_best and self._peak(lean) > _MUCH_LESS * self._peak(found):
            return found
        return dataclasses.replace(lean, least_cost=found.least_cost)

    def _peak(self, found: Found) -> int:
        return self._split(found.variant, found.solution, "").timeline.peak_bytes

    @cached_property
    def _lean(self) -> Cutter:
        """The same that saves the bottlenecks at every budget."""
        return dataclasses.replace(self, saves_bottlenecks=True)

    @cached_property
    def _heads(self) -> Cutter:
        """The same that saves the products which the backward needs first."""
        return dataclasses.replace(self, saves_heads=True)

    def _fitting(self, fit: Fit) -> Partition:
        """Returns the fastest partition found whose memory, everything counted, stays within a limit.

        Raises:
          BudgetError: If there is none.
        """
        limit, spread = fit.bytes, self.joint.spread
        fit = dataclasses.replace(fit, bytes=spread.of_all(limit))
        tried: list[tuple[Partition, int]] = []
        for cutter in (self._heads, self):
            seconds = None
            # both ways are looked at: neither takes less memory on every graph
            for way in (cutter, cutter._lean):
                with contextlib.suppress(PolicyError):  # where a policy wants a head to be computed again
                    parts, peak = way._fastest_fitting(fit, seconds)
                    seconds = parts.plan.recompute_seconds if peak <= fit.bytes else None
                    tried.append((parts, peak))
            found = [parts for parts, peak in tried if peak <= fit.bytes]
            if found:
                return min(found, key=lambda parts: parts.plan.recompute_seconds or 0.0)
        leanest, least = min(tried, key=lambda pair: pair[1])
        if fit.is_measured:
            return leanest
        least = spread.of_one(least)
        raise BudgetError(
            f"The function does not fit in {format_bytes(limit)}: even with all that can be recomputed it "
            f"needs about {format_bytes(least)} for inputs, outputs, what is saved and temporaries. Write "
            f"`memory_budget='fit:{least}B'` or more, or make the batch smaller."
        )

    def _fastest_fitting(self, fit: Fit, known: float | None = None) -> tuple[Partition, int]:
        """Returns the fastest partition found that fits, or else the leanest found, and its memory.

        The peak need not fall with what is saved, because recomputed values take memory too: so corners are tried from
        the fastest on, and then budgets between the first that fits and the one before.

        Args:
          known: How long another one recomputes that fits, in seconds: no slower one is looked for; None for none.
        """
        corners = self.budgets.corners()[::-1]
        tried = None
        leanest: tuple[Partition, int] | None = None
        for corner in corners[:: -(-len(corners) // _TRIALS_TO_FIT)]:
            # corners, since between them nothing new is cheaper for its bytes; few, as each is a whole split
            trial = self.within(corner.weight)
            peak = memory_timeline(trial).peak_bytes
            if leanest is None or peak < leanest[1]:
                leanest = trial, peak
            if peak <= fit.bytes:
                break
            tried = corner
        assert leanest is not None
        found, least = leanest
        if least > fit.bytes:
            return leanest
        low, high = found.plan.extra_bytes, found.plan.extra_bytes if tried is None else tried.weight
        least_seconds = 0.0 if tried is None else tried.cost / 1e12  # of all that lies in between
        for _ in range(_TRIALS_TO_FIT):
            if high - low <= max(1, low // 200) or (known is not None and least_seconds >= known):
                break
            middle = (low + high) // 2
            trial = self.within(middle)
            peak = memory_timeline(trial).peak_bytes
            if peak <= fit.bytes:
                found, low, least = trial, middle, peak
            else:
                high, least_seconds = middle, trial.plan.least_seconds or 0.0
        return found, least

    def _split(self, variant: Variant, solution: Solution, label: str) -> Partition:
        formulation = variant.formulation
        # markers have said what they say; XLA never sees them
        decided = without_markers(variant.graph, formulation.saved(solution), variant.choices.by_position)
        parts = split(decided, label, self.save_all[0], variant.bodies.inside)
        parts = dataclasses.replace(parts, joint=self.joint, target=self.target)
        moved = {decided.value.get(var, var) for var in formulation.offloaded(solution)}
        # refills are given back to the caller, so they never go to the host
        kept = [var for var in decided.saved if var not in decided.graph.refills]
        return offload(parts, [i for i, var in enumerate(kept) if var in moved]) if moved else parts

    def _attempt(self, solve: Callable[..., Any]) -> Any:
        try:
            return solve()
        except NoCut:
            # a network without a finite cut: an infinite edge leads from the primals to the backward
            raise PolicyError(self._impossible()) from None

    def _impossible(self) -> str:
        """Returns the message about an impossible policy: a value may neither be saved nor recomputed."""
        label, graph = policy_label(self.policy), self.graph
        places = [i for i in graph.positions() if i in self.choices.fixed]
        shown = [f"`{graph.eqns[i].primitive.name}` ({source_line(graph.eqns[i]) or 'line unknown'})" for i in places]
        return (
            f"What the policy `{label}` says cannot be done: a value that the backward needs may neither be saved nor "
            f"computed again. Equations that are never repeated: {', '.join(shown) or 'none'}."
        )


def largest_product(jaxpr: Jaxpr) -> int:
    """Returns the FLOPs of the largest product in a graph and its bodies."""
    is_product = lambda eqn: Kind.MATMUL <= kind(eqn) < Kind.COLLECTIVE
    own = (eqn_flops(eqn) for eqn in jaxpr.eqns if is_product(eqn))
    inner = (largest_product(body) for eqn in jaxpr.eqns for body in sub_jaxprs(eqn))
    return max((*own, *inner), default=0)


def _naming_marks(error: BudgetError, graph: Classified) -> BudgetError:
    """Returns the error of a budget that cannot be met, with the lines that ask for something to be saved."""
    lines = must_save_lines(graph.eqns)
    return BudgetError(f"{error} `ja.policies.must_save` asks for values at {', '.join(lines)}.") if lines else error
