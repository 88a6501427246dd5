"""The user's word on single values: names, marks and regions, put together with the policy of the whole graph.

Equations that compute nothing and say something are *markers*: the `name` of `checkpoint_name`, and `mark` with its
word. A marker and its operand are one value, so `gather_markers` puts each right behind the equation that makes the
value, and everybody else reads the last of them; when it is known what is saved, `without_markers` takes them out
again.

What is said of an equation is put together so. Within regions, their policies decide and not that of the graph:
RECOMPUTE if any of the regions around the equation says so, SAVE if one says that. A value that leaves a region is not
computed again for the sake of others, unless the policy outside would do so with its equation if it stood there: the
policy of the graph is the outermost region. Marks overrule all.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._jax import DropVar, Literal, close_jaxpr, make_jaxpr_object, make_var, mark_p
from jaxaot._typing import Atom, Eqn
from jaxaot.errors import BudgetError, PolicyError, TagConflictError, UnmatchedNamesWarning
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.regions import LEAVES, MUST_RECOMPUTE, MUST_SAVE
from jaxaot.ir.rewrite import reading, rebuild, substitute
from jaxaot.ir.roles import Cotangent, Gradient, Primal
from jaxaot.ir.walk import region_index, source_line, variables
from jaxaot.partition.classify import Classified, Side, classify
from jaxaot.partition.formulate import Choices
from jaxaot.partition.policies import Choice, NamesPolicy, Policy, region_policy
from jaxaot.plan.stages import JointGraph

Budgeted = Callable[[Classified, Any, Policy, Any], Sequence[Any]]
"""Takes a graph, its `Tags`, a policy and a budget, and returns the variables to save."""


def word_of(eqn: Eqn) -> str | None:
    """Returns the word of a mark; None for any other equation."""
    return eqn.params["word"] if eqn.primitive is mark_p else None


def is_marker(eqn: Eqn) -> bool:
    """Returns whether an equation says something of its operand and computes nothing."""
    return eqn.primitive is mark_p or eqn.primitive.name == "name"


def must_save_lines(eqns: Iterable[Eqn]) -> list[str]:
    """Returns where the user wrote the `must_save`s among some equations."""
    lines = (source_line(eqn) or "an unknown line" for eqn in eqns if word_of(eqn) == MUST_SAVE)
    return list(dict.fromkeys(lines))


# -- markers -----------------------------------------------------------------------------------------------------------


def gather_markers(joint: JointGraph) -> JointGraph:
    """Returns the joint graph with each marker right behind the equation that makes its value, read by all others.

        b = tanh a                          b = tanh a
        c = mul b b             →           d = name[name=y] b
        d = name[name=y] b                  c = mul d d

    A name in a region of a value from outside, and marks of values that leave a region, stay where they are. Markers of
    primals and constants, which are at hand anyway, are dropped.

    Raises:
      TagConflictError: If a value must be saved and must be recomputed.
    """
    jaxpr = joint.jaxpr.jaxpr
    if not any(map(is_marker, jaxpr.eqns)):
        return joint
    eqns, stands_for = gathered(jaxpr.eqns)
    return joint.replace(rebuild(joint.jaxpr, eqns, substitute(jaxpr.outvars, stands_for)))


def gathered(eqns: Sequence[Eqn]) -> tuple[list[Any], dict[Any, Any]]:
    """Returns some equations with markers gathered, see `gather_markers`, and what stands for each variable, if
    another.

    Raises:
      TagConflictError: If a value must be saved and must be recomputed.
    """
    producer = {var: i for i, eqn in enumerate(eqns) for var in eqn.outvars}
    origin: dict[Any, Any] = {}  # the value that a marker says something of, through any markers
    within: dict[Any, Any] = {}  # the same, but not through marks of what leaves a region
    behind: dict[Any, list[Any]] = {}  # value → markers that go behind its equation
    stands_for: dict[Any, Any] = {}  # result of a marker that moves → its operand
    for eqn in eqns:
        if not is_marker(eqn):
            continue
        operand, result = eqn.invars[0], eqn.outvars[0]
        if isinstance(operand, Literal):
            stands_for[result] = operand
            continue
        origin[result] = origin.get(operand, operand)
        word = word_of(eqn)
        value = within.get(operand, operand) if word is None else origin[result]
        if word == LEAVES:
            continue
        if value in producer:
            is_inside = word is None and region_index(eqn) != region_index(eqns[producer[value]])
            if is_inside:
                continue
            behind.setdefault(value, []).append(eqn)
        within[result] = value
        stands_for[result] = operand
    for markers in behind.values():
        _refuse_both(markers)
    last: dict[Any, Any] = {}  # value → the last marker behind it

    def resolve(atom: Atom) -> Any:
        while not isinstance(atom, Literal) and atom in stands_for:
            atom = stands_for[atom]
        return atom if isinstance(atom, Literal) else last.get(atom, atom)

    ordered: list[Any] = []
    for eqn in eqns:
        if is_marker(eqn) and eqn.outvars[0] in stands_for:
            continue
        ordered.append(eqn.replace(invars=[resolve(atom) for atom in eqn.invars]))
        for var in eqn.outvars:
            for marker in () if isinstance(var, DropVar) else behind.get(var, ()):
                shown = make_var(var.aval)
                ordered.append(marker.replace(invars=[last.get(var, var)], outvars=[shown]))
                last[var] = shown
    return ordered, {var: resolve(var) for var in (*stands_for, *last)}


def _refuse_both(markers: Sequence[Any]) -> None:
    places = {word: [source_line(eqn) or "?" for eqn in markers if word_of(eqn) == word] for word in _MUST}
    if all(places.values()):
        raise TagConflictError(
            f"One value must be saved (`ja.policies.must_save` at {', '.join(places[MUST_SAVE])}) and must be "
            f"recomputed (`ja.policies.must_recompute` at {', '.join(places[MUST_RECOMPUTE])}). Both cannot be: take "
            "one of them out."
        )


_MUST = (MUST_SAVE, MUST_RECOMPUTE)


@immutable(eq=False)
class Decided:
    """What is saved of a graph without markers.

    Attributes:
      graph: The graph.
      saved: The variables to save, in the order in which they are computed.
      choices: What was said of each equation, by position.
      reasons: Why a value is saved, where a marker said so.
      value: Result of a marker → the value that it was of.
    """

    graph: Classified
    saved: list[Any]
    choices: dict[int, Choice]
    reasons: Mapping[Any, str] = dataclasses.field(default_factory=dict)
    value: Mapping[Any, Any] = dataclasses.field(default_factory=dict)


def without_markers(graph: Classified, saved: Sequence[Any], choices: Mapping[int, Choice]) -> Decided:
    """Returns the same decision for the graph without markers: to save a marker is to save the value that it is of."""
    eqns = graph.eqns
    if not any(map(is_marker, eqns)):
        return Decided(graph, list(saved), dict(choices))
    value: dict[Any, Any] = {}
    kept: list[int] = []
    for i, eqn in enumerate(eqns):
        if is_marker(eqn):
            operand = eqn.invars[0]
            value[eqn.outvars[0]] = operand if isinstance(operand, Literal) else value.get(operand, operand)
        else:
            kept.append(i)
    reasons: dict[Any, str] = {}
    for var in saved:
        marker = eqns[graph.producer[var]]
        if is_marker(marker):
            reasons.setdefault(value[var], note_reason(marker))
    plain = [reading(eqns[i], value) for i in kept]
    jaxpr = rebuild(graph.joint.jaxpr, plain, substitute(graph.joint.jaxpr.jaxpr.outvars, value))
    bare = Classified(graph.joint.replace(jaxpr), tuple(graph.sides[i] for i in kept))
    said = {n: choices[i] for n, i in enumerate(kept) if i in choices}
    return Decided(bare, _still_read(bare, {value.get(var, var) for var in saved}), said, reasons, value)


def _still_read(graph: Classified, saved: Set[Any]) -> list[Any]:
    """Returns the variables among those to save without which the backward does not have what it needs, in order."""
    found, pending, seen = set(), list(graph.needed), set(graph.needed)
    while pending:
        var = pending.pop()
        if var in saved:
            found.add(var)
            continue
        operands = [v for v in variables(graph.eqns[graph.producer[var]].invars) if v in graph.producer]
        pending += [v for v in dict.fromkeys(operands) if v not in seen]
        seen.update(operands)
    return sorted(found, key=lambda var: graph.producer[var])


def note_reason(marker: Any) -> str:
    """Returns why a value is saved of which a marker says something."""
    word = word_of(marker)
    if word is None:
        return f"named `{marker.params['name']}`"
    return "which must be saved" if word == MUST_SAVE else "which leaves a checkpointed region"


# -- choices -----------------------------------------------------------------------------------------------------------


@immutable(eq=False)
class Tags:
    """What regions say of a graph.

    Attributes:
      graph: The graph, its markers gathered.
      policies: The policy of each region.
      solved: For each region that has a budget, what is done with each equation in it.
      nestings: For each equation that is not backward the regions around it, innermost first.
    """

    graph: Classified
    policies: tuple[Policy, ...]
    solved: Mapping[int, Mapping[int, Choice]]
    nestings: Mapping[int, tuple[int, ...]]

    def applied(self, choices: Choices, policy: Policy) -> Choices:
        """Returns the choices of the graph's policy with the tags applied; no budget overrules `must_save`.

        Args:
          choices: What the policy says alone.
          policy: The policy.
        """
        eqns = self.graph.eqns
        if not self.policies and not any(map(is_marker, eqns)):
            return choices

        def said(i: int, nesting: Sequence[int]) -> Choice:
            """Returns the choice of a chain of regions for an equation; for an empty chain, the graph's policy's."""
            if not nesting:
                return choices.by_position[i]
            return _together(self.solved[r].get(i) if r in self.solved else self.policies[r](eqns[i]) for r in nesting)

        words = {i: said(i, nesting) if is_pure(eqns[i]) else Choice.SAVE for i, nesting in self.nestings.items()}
        _say_markers(self.graph, words, self.nestings, said, (policy, *self.policies))
        kept = {i for i, word in words.items() if word is Choice.SAVE and word_of(eqns[i]) == MUST_SAVE}
        return Choices(words, choices.fixed | kept)


def read_tags(graph: Classified, save_within: Budgeted, around: int | None = None) -> Tags:
    """Returns the tags that regions put on a graph; those of regions with a budget are solved.

    Args:
      graph: The graph, its markers gathered.
      save_within: Solves a part of a graph that has a budget.
      around: The region that the graph is all of; None for a whole graph.

    Raises:
      PolicyError: If the policy of a region is unknown.
      BudgetError: If the budget of a region cannot be read or met.
    """
    regions = graph.joint.regions
    policies = tuple(region_policy(region.policy, region.memory_budget) for region in regions)
    nestings = {i: _nesting(graph, i, around) for i in graph.positions(Side.FORWARD, Side.EITHER)}
    reached = {r for nesting in nestings.values() for r in nesting}
    solved = {
        r: _solve_region(graph, r, policies[r], save_within)
        for r in sorted(reached)
        if regions[r].memory_budget is not None
    }
    return Tags(graph, policies, solved, nestings)


def said_of_notes(graph: Classified, choices: Choices, policy: Policy) -> Choices:
    """Returns the choices of a policy together with the markers of a graph without regions."""
    positions = graph.positions(Side.FORWARD, Side.EITHER)
    return Tags(graph, (), {}, dict.fromkeys(positions, ())).applied(choices, policy)


def policy_inside(graph: Classified, position: int, policy: Policy) -> Policy:
    """Returns the policy for the bodies of an equation: that of the regions around it, or the graph's."""
    regions = [graph.joint.regions[r] for r in _nesting(graph, position, None)]
    if not regions:
        return policy
    policies = [region_policy(region.policy, region.memory_budget) for region in regions]

    def of_its_region(eqn: Eqn) -> Choice:
        return _together(policy(eqn) for policy in policies)

    return of_its_region


def _together(words: Iterable[Choice | None]) -> Choice:
    """Returns the combined choice of several regions around an equation."""
    found = set(words)
    return next((word for word in (Choice.RECOMPUTE, Choice.SAVE) if word in found), Choice.EITHER)


def _say_markers(
    graph: Classified,
    words: dict[int, Choice],
    nestings: Mapping[int, Sequence[int]],
    said: Callable[[int, Sequence[int]], Choice],
    policies: Sequence[Policy],
) -> None:
    """Puts into `words` what markers say of their values and of themselves."""
    markers = [i for i in words if is_marker(graph.eqns[i])]
    made: dict[int, int | None] = {}  # marker → the equation that makes its value
    forbidden: set[int] = set()  # equations whose values are never saved
    for i in markers:
        before = _made_by(graph, i)
        made[i] = made.get(before, before) if before is not None else None
        deciding = policies[nestings[i][0] + 1 if nestings[i] else 0]
        excluded = getattr(deciding, "excluded", frozenset())
        is_excluded = word_of(graph.eqns[i]) == MUST_RECOMPUTE or graph.eqns[i].params.get("name") in excluded
        maker = made[i]
        if is_excluded and maker is not None and is_pure(graph.eqns[maker]):
            forbidden.add(maker)
    for i in forbidden:
        words[i] = Choice.RECOMPUTE
    for i in markers:
        before, maker = _made_by(graph, i), made[i]
        word = word_of(graph.eqns[i])
        if maker is None or before is None:
            words[i] = Choice.RECOMPUTE
        elif word == MUST_SAVE:
            words[i] = Choice.SAVE
        elif maker in forbidden or word == MUST_RECOMPUTE:
            words[i] = Choice.RECOMPUTE
        elif word == LEAVES:
            if words[before] is Choice.SAVE:
                words[i] = Choice.EITHER
            else:
                is_recomputed = said(maker, nestings[i]) is Choice.RECOMPUTE
                words[i] = Choice.RECOMPUTE if is_recomputed else Choice.SAVE
        elif words[i] is Choice.EITHER and words[before] is Choice.RECOMPUTE:
            words[i] = Choice.RECOMPUTE


def _made_by(graph: Classified, marker: int) -> int | None:
    operand = graph.eqns[marker].invars[0]
    return None if isinstance(operand, Literal) else graph.producer.get(operand)


def _nesting(graph: Classified, position: int, around: int | None) -> tuple[int, ...]:
    """Returns the regions around an equation, innermost first, up to the region that the graph is all of."""
    nesting: tuple[int, ...] = ()
    region = region_index(graph.eqns[position])
    while region is not None and region != around:
        nesting += (region,)
        region = graph.joint.regions[region].parent
    return nesting


def _solve_region(graph: Classified, region: int, policy: Policy, save_within: Budgeted) -> dict[int, Choice]:
    """Returns the choice for each equation of a region that keeps within its budget.

    What the region reads of the graph around it is taken for given.
    """
    inside = [i for i in graph.positions(Side.FORWARD, Side.EITHER) if region in _nesting(graph, i, None)]
    eqns = [graph.eqns[i] for i in (*inside, *graph.positions(Side.BACKWARD))]
    made = {var for eqn in eqns for var in eqn.outvars}
    read = dict.fromkeys(variables([*(atom for eqn in eqns for atom in eqn.invars), *graph.gradients]))
    given = [var for var in read if var not in made and var not in graph.cotangents]
    jaxpr = close_jaxpr(make_jaxpr_object([*given, *graph.cotangents], graph.gradients, eqns))
    in_roles = (*(Primal(i) for i in range(len(given))), *(Cotangent(i) for i in range(len(graph.cotangents))))
    out_roles = tuple(Gradient(i) for i in range(len(graph.gradients)))
    part = classify(JointGraph(jaxpr, in_roles, out_roles, regions=graph.joint.regions))
    budget = graph.joint.regions[region].memory_budget
    try:
        saved = set(save_within(part, read_tags(part, save_within, region), policy, budget))
    except BudgetError as error:
        raise BudgetError(
            f"In the region at {source_line(graph.eqns[inside[0]]) or 'an unknown line'}: {error}"
        ) from None
    decided = {}
    for i in inside:
        results = [var for var in graph.eqns[i].outvars if not isinstance(var, DropVar)]
        n_saved = sum(var in saved for var in results)
        decided[i] = Choice.RECOMPUTE if not n_saved else Choice.SAVE if n_saved == len(results) else Choice.EITHER
    return decided


def check_names(joint: JointGraph, policy: Policy) -> None:
    """Says so if a policy, that of the graph or of a region, goes by names that nothing has.

    Raises:
      PolicyError: If the policy of the graph saves by name alone, and nothing has one of the names.
    """
    here = ", ".join(map(repr, joint.names)) or "none"
    if isinstance(policy, NamesPolicy) and policy.saves and policy.names and not policy.names & set(joint.names):
        raise PolicyError(
            f"The policy saves only the values named {', '.join(map(repr, sorted(policy.names)))}, and no value of the "
            f"graph has such a name, so it would save nothing. The names in the graph are: {here}. Name a value with "
            '`y = ja.policies.checkpoint_name(y, "…")`, or write `policy="save_nothing"` if that is meant.'
        )
    policies = [region_policy(region.policy, region.memory_budget) for region in joint.regions]
    named = [p for p in (policy, *policies) if isinstance(p, NamesPolicy)]
    missing = sorted(set().union(*(p.names for p in named)) - set(joint.names))
    if missing:
        warnings.warn(
            f"No value of the graph is named {', '.join(map(repr, missing))}, which a policy mentions: it says nothing "
            f'there. The names in the graph are: {here}. Name a value with `y = ja.policies.checkpoint_name(y, "…")`.',
            UnmatchedNamesWarning,
            stacklevel=3,
        )
