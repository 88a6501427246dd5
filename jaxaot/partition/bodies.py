"""The same cut inside loops, branches, `shard_map` and calls.

Where a function has a loop, JAX makes two of it: one in the forward, which returns whatever the derivative of its body
needs, stacked over the iterations, and one in the backward, which takes that. Which values these are was settled before
anybody asked for a policy. So each such pair is opened here: the body of the forward equation and those of the backward
equations linked with it are joined to one graph, as `jax.vjp` would have given it for the body alone; that graph is cut
like any other, pairs inside it first; and the equations are built anew, with links for what is saved, and with
recomputation in the body of the backward one.

    y, r₁, r₂ = scan[ c → c', r₁, r₂ ] x        →       y, s = scan[ c → c', s ] x
    g = scan[ r₁, r₂ → … ] r₁ r₂                        g = scan[ s, x → r₁ = …, r₂ = …, … ] s x

What the body of the forward equation receives, that of the backward one can receive as well, at the price of keeping it
until then. A carry is the exception: each iteration has its own, so keeping it means to stack it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._jax import DropVar, Literal, make_var, stacked_aval
from jaxaot._util import OrderedSet
from jaxaot.ir.rewrite import extract, rebuild, with_input_order
from jaxaot.ir.schedule import recompute_late
from jaxaot.ir.walk import backward_slice, source_line, variables
from jaxaot.partition.body_interface import CARRY, Exit, Slot
from jaxaot.partition.body_plan import BodyPlan, InnerValue
from jaxaot.partition.budget import Budgets
from jaxaot.partition.classify import Classified, Side, classify
from jaxaot.partition.formulate import Choices, Cost, choose, formulate
from jaxaot.partition.network import Network
from jaxaot.partition.pairs import JoinedBody, Pair, join, pair_at
from jaxaot.partition.policies import Choice, Policy
from jaxaot.partition.prices import keeping_prices
from jaxaot.partition.shard_maps import filled_with_zeros, with_axis, without_axis
from jaxaot.partition.split import equation_name, reason, recomputed_positions
from jaxaot.partition.tags import is_marker, note_reason, policy_inside, said_of_notes
from jaxaot.plan.saved import RecomputedValue


@immutable(eq=False)
class CutBodies:
    """A joint graph whose pairs are cut.

    Attributes:
      graph: The joint graph, classified; it computes the same as before.
      inside: What the bodies save and recompute.
    """

    graph: Classified
    inside: BodyPlan


@immutable
class Rule:
    """By what bodies are cut.

    Attributes:
      policy: What may be saved and recomputed; it is asked about the equations of bodies as about any.
      label: What the policy goes by.
      cost: How long an equation takes, in picoseconds.
      price: The time that a byte is worth, in picoseconds; None to do what the policy says whatever the time.
      slack: How many bytes all bodies together may save beyond what pays at that price, if that saves any time.
    """

    policy: Policy
    label: str
    cost: Cost = lambda eqn: 1
    price: float | None = None
    slack: int = 0


def cut_bodies(graph: Classified, rule: Rule, prices: Mapping[Any, int] | None = None, scale: int = 1) -> CutBodies:
    """Returns a joint graph whose pairs are cut by a rule.

    Args:
      graph: The joint graph.
      rule: The rule.
      prices: What keeping a variable of the graph costs where that is not its bytes, see `formulate`.
      scale: How often each value of the graph exists.

    Raises:
      PolicyError: If the policy returns anything but a `Choice`.
      NoCut: If what it says cannot be done.
    """
    joint = graph.joint
    saved: dict[Any, Any] = {}
    recomputed: list[RecomputedValue] = []
    repeated: list[tuple[Any, int]] = []
    for position in graph.positions(Side.FORWARD, Side.EITHER):
        pair = pair_at(graph, position)
        if pair is None:
            continue
        policy = policy_inside(graph, position, rule.policy)
        cuts, slack = _cut(graph, pair, rule, policy, prices or {}, scale)
        rule = dataclasses.replace(rule, slack=slack)
        links = _links(pair, cuts)
        name = equation_name(graph, position)
        eqns = list(graph.eqns)
        eqns[position] = _forward(pair, cuts, links)
        for number, follower in enumerate(pair.followers):
            eqns[follower.position] = _backward(pair, cuts, links, number)
        saved |= {link.var: _inner_value(pair, cuts, link, name, rule.label) for link in links}
        recomputed += _recomputed(pair, cuts, name)
        repeated += _repeated(pair, cuts)
        # again for each pair: links of one are operands of the next
        graph = classify(joint.replace(rebuild(joint.jaxpr, eqns, joint.jaxpr.jaxpr.outvars)))
    return CutBodies(graph, BodyPlan(saved, tuple(recomputed), tuple(repeated)))


@immutable(eq=False)
class _Cut:
    """What one body of the forward equation saves for the bodies of its followers.

    Attributes:
      joined: The bodies, joined.
      graph: The same after the pairs inside are cut.
      choices: What the policy said on its equations.
      inner: What was cut inside.
      ways: How each value that the followers read comes to them: as the forward operand or the kept result of that
        number, or as a link.
      steps: For each follower, the positions of the equations that its body runs.
      again: The positions of the equations that followers compute again.
    """

    joined: JoinedBody
    graph: Classified
    choices: Mapping[int, Choice]
    inner: BodyPlan
    ways: Mapping[Any, _Operand | _Kept | None]
    steps: Sequence[Sequence[int]]
    again: Sequence[int]

    def read_by(self, number: int) -> OrderedSet[Any]:
        """Returns the variables that the body of a follower needs from outside of it."""
        eqns = [self.graph.eqns[i] for i in self.steps[number]]
        made = {var for eqn in eqns for var in eqn.outvars} | set(self.graph.constants)
        atoms = [atom for eqn in eqns for atom in eqn.invars]
        return OrderedSet(var for var in variables([*atoms, *self.joined.gradients[number]]) if var not in made)


@immutable
class _Operand:
    number: int


@immutable
class _Kept:
    number: int


@immutable(eq=False)
class _Link:
    """A result of the forward equation for its followers alone.

    Attributes:
      var: Its variable.
      exit: Its way out of the bodies.
      inner: The variable of each body that it holds, or None for a body that leaves it empty.
    """

    var: Any
    exit: Exit
    inner: list[Any]

    @property
    def inner_aval(self) -> Any:
        """The type of the variables that it holds."""
        return next(var.aval for var in self.inner if var is not None)


def _cut(
    graph: Classified, pair: Pair, rule: Rule, policy: Policy, prices: Mapping[Any, int], scale: int
) -> tuple[list[_Cut], int]:
    """Returns the cut of each body by a policy, and what is left of the slack.

    What the followers receive for the sake of one body costs the next one nothing.
    """
    interface, cuts = pair.interface, []
    certain = {
        follower.position: [follower.operands[i].outer for i in follower.own] for follower in pair.followers
    }  # fmt: skip
    atoms = [slot.outer for slot in (*pair.operands, *pair.results)]
    # what the followers read in any case costs nothing more
    price = keeping_prices(graph, rule.policy, [a for a in atoms if not isinstance(a, DropVar)], certain, prices, scale)
    iterations = scale * max(1, interface.n_iterations(pair.eqn))
    for which in range(len(interface.bodies(pair.eqn))):
        joined = join(pair, which, graph.placements)
        size = classify(joined.joint).bytes
        inside: dict[Any, int] = {}
        ways: dict[Any, _Operand | _Kept | None] = {}
        for number, (var, slot) in enumerate(zip(joined.inputs, pair.operands, strict=True)):
            if slot.how == CARRY:
                inside[var] = iterations * size(var)  # stacked
            else:
                is_free = isinstance(slot.outer, Literal)
                inside[var] = 0 if is_free else interface.price(price[slot.outer], slot, graph.bytes)
                ways[var] = _Operand(number)
        for number in pair.kept:
            slot, atom = pair.results[number], joined.outputs[number]
            if isinstance(atom, Literal):
                continue
            if slot.how == CARRY:
                inside.setdefault(atom, iterations * size(atom))
            else:
                kept = interface.price(price[slot.outer], slot, graph.bytes)
                if atom not in inside or atom not in ways or kept < inside[atom]:
                    ways[atom] = _Kept(number)
                inside[atom] = min(kept, inside.get(atom, kept))
        # the slack is bytes of all iterations, which a body inside does not know
        inner_rule = dataclasses.replace(rule, policy=policy, slack=0)
        inner = cut_bodies(classify(joined.joint), inner_rule, inside, iterations)
        body = inner.graph
        choices, saved, spent = _solve(body, rule, policy, inside, iterations)
        # branches share the slack though one of them runs: the limit holds for the worst
        rule = dataclasses.replace(rule, slack=rule.slack - spent)
        backward = set(body.positions(Side.BACKWARD))
        steps: list[Sequence[int]] = []
        again: set[int] = set()
        for span, gradients in zip(joined.spans, joined.gradients, strict=True):
            own_steps = [i for i in span if i in backward]
            repeated = recomputed_positions(body, saved, own_steps, gradients)
            steps.append(sorted([*own_steps, *repeated]))
            again.update(repeated)
        cut = _Cut(joined, body, choices.by_position, inner.inside, ways, steps, sorted(again))
        cuts.append(cut)
        for number in range(len(pair.followers)):
            for var in cut.read_by(number):
                match ways.get(var):
                    case _Operand(place) if not isinstance(pair.operands[place].outer, Literal):
                        price[pair.operands[place].outer] = 0
                    case _Kept(place):
                        price[pair.results[place].outer] = 0
    return cuts, rule.slack


def _solve(
    body: Classified, rule: Rule, policy: Policy, paid: Mapping[Any, int], n_times: int
) -> tuple[Choices, Sequence[Any], int]:
    """Returns the policy's choices on a body, the variables to save, and the part of the slack they take."""
    choices = said_of_notes(body, choose(body, policy), policy)
    if rule.price is None:
        formulation = formulate(body, choices, paid=paid, n_times=n_times)
        return choices, formulation.saved(Network(formulation.problem).least_bytes()), 0
    # time has a price here, so what a policy saves for its time is weighed like all else
    choices = choices.under_a_budget
    formulation = formulate(body, choices, rule.cost, paid=paid, n_times=n_times)
    budgets = Budgets(formulation.problem)
    solution = budgets.at_price(rule.price)
    better = budgets.within(solution.weight + rule.slack).solution if rule.slack else solution
    return choices, formulation.saved(better), max(0, better.weight - solution.weight)


def _links(pair: Pair, cuts: Sequence[_Cut]) -> list[_Link]:
    """Returns the new links; bodies of which only one runs use the same ones as far as the types allow."""
    links: list[_Link] = []
    for which, cut in enumerate(cuts):
        own = {var for fresh in cut.joined.own for var in fresh.values()}
        read = OrderedSet(var for number in range(len(pair.followers)) for var in cut.read_by(number))
        for var in read:
            if var in own or cut.ways.get(var) is not None:
                continue
            way_out = pair.interface.exit(pair.eqn, var.aval)
            for link in links:
                # of branches one runs, so a link may hold a value of each
                if link.inner[which] is None and link.exit.aval == way_out.aval:
                    link.inner[which] = var
                    break
            else:
                inner = [var if i == which else None for i in range(len(cuts))]
                links.append(_Link(make_var(way_out.aval), way_out, inner))
    return links


def _forward(pair: Pair, cuts: Sequence[_Cut], links: Sequence[_Link]) -> Any:
    """Returns the forward equation that returns what is kept and the links."""
    kept = [pair.results[number] for number in pair.kept]
    parts = []
    for which, cut in enumerate(cuts):
        atoms = [cut.joined.outputs[number] for number in pair.kept]
        held = [link.inner[which] for link in links]
        positions = backward_slice(cut.graph.joint.jaxpr.jaxpr, [*atoms, *(var for var in held if var is not None)])
        positions |= set(cut.graph.positions(Side.FORWARD))
        eqns = [cut.graph.eqns[i] for i in sorted(positions)]
        for link, var in zip(links, held, strict=True):
            if var is None:
                # all branches return the same types; nobody reads these zeros
                more, var = filled_with_zeros(link.inner_aval)
                eqns += more
            if link.exit.gets_axis:
                eqn, var = with_axis(var)
                eqns.append(eqn)
            atoms.append(var)
        read = {var for eqn in eqns for var in variables(eqn.invars)} | set(variables(atoms))
        parts.append((eqns, atoms, read))
    used = [
        (number, slot)
        for number, slot in enumerate(pair.operands)
        if slot.how == CARRY
        or any(cut.joined.inputs[number] in read for cut, (_, _, read) in zip(cuts, parts, strict=True))
    ]
    bodies = [
        extract(eqns, [cut.joined.inputs[number] for number, _ in used], atoms, cut.graph.constants)
        for cut, (eqns, atoms, _) in zip(cuts, parts, strict=True)
    ]
    results = [*kept, *(Slot(link.var, link.exit.how, tuple(link.inner)) for link in links)]
    return pair.interface.rebuild(pair.eqn, bodies, [slot for _, slot in used], results)


def _backward(pair: Pair, cuts: Sequence[_Cut], links: Sequence[_Link], number: int) -> Any:
    """Returns the equation of a follower that recomputes in its bodies what is not saved."""
    follower, interface = pair.followers[number], pair.interface
    reads = [cut.read_by(number) for cut in cuts]

    def slot(outer: Any, how: Any, inner: Iterable[Any]) -> Slot:
        """Returns an operand; a body that does not read it gets a variable for it all the same."""
        found = list(inner)
        aval = next(var.aval for var in found if var is not None)
        return Slot(outer, how, tuple(make_var(aval) if var is None else var for var in found))

    def coming(ways: Iterable[tuple[Any, Slot]], variables_of: Any) -> list[Slot]:
        """Returns operands for what comes in some ways, each as a slot has it, where a body reads it."""
        found = []
        for way, old in ways:
            inner = [variables_of(cut)[way.number] for cut in cuts]
            inner = [
                var if not isinstance(var, Literal) and var in read and cut.ways.get(var) == way else None
                for var, cut, read in zip(inner, cuts, reads, strict=True)
            ]
            if any(var is not None for var in inner):
                found.append(slot(old.outer, old.how, inner))
        return found

    late = []
    for place in follower.own:
        old = follower.operands[place]
        inner = [cut.joined.own[number][place] for cut in cuts]
        if old.how == CARRY or any(var in read for var, read in zip(inner, reads, strict=True)):
            late.append(slot(old.outer, old.how, inner))
    operands = ((_Operand(place), old) for place, old in enumerate(pair.operands))
    early = coming(operands, lambda cut: cut.joined.inputs)
    early += coming(((_Kept(place), pair.results[place]) for place in pair.kept), lambda cut: cut.joined.outputs)
    prologue: list[list[Any]] = [[] for _ in cuts]
    for link in links:
        inner = [var if var in read else None for var, read in zip(link.inner, reads, strict=True)]
        if all(var is None for var in inner):
            continue
        if link.exit.gets_axis:
            arrived = [make_var(stacked_aval(1, link.inner_aval)) for _ in inner]
            for eqns, var, scalar in zip(prologue, arrived, inner, strict=True):
                eqns.extend([without_axis(var, scalar)] if scalar is not None else [])
            inner = arrived
        early.append(slot(link.var, link.exit.how, inner))
    operands = [*early, *late]
    # JAX wants constants, carries and what is sliced in this order
    order = sorted(range(len(operands)), key=lambda i: interface.rank(operands[i].how))
    bodies = []
    for which, cut in enumerate(cuts):
        eqns = [*prologue[which], *(cut.graph.eqns[i] for i in cut.steps[number])]
        invars = [operand.inner[which] for operand in operands]
        body = extract(eqns, invars, cut.joined.gradients[number], cut.graph.constants)
        # in loops too: what an iteration repeats is alive as briefly as can be
        body = recompute_late(body, len(early))
        bodies.append(with_input_order(body, order))
    return interface.rebuild(follower.eqn, bodies, [operands[i] for i in order], interface.results(follower.eqn))


def _inner_value(pair: Pair, cuts: Sequence[_Cut], link: _Link, name: str, label: str) -> InnerValue:
    """Returns the description of a link's value; of several that it may hold, that of the first."""
    which = next(i for i, var in enumerate(link.inner) if var is not None)
    cut, var = cuts[which], link.inner[which]
    if var in cut.inner.saved:
        deeper = cut.inner.saved[var]
        return dataclasses.replace(deeper, name=f"{name}/{deeper.name}")
    if var not in cut.graph.producer:
        number = list(cut.joined.inputs).index(var)
        carries = [i for i, slot in enumerate(pair.operands) if slot.how == CARRY]
        why = "what each iteration got from the one before, which it cannot compute again"
        return InnerValue(f"{name}/carry_{carries.index(number)}", source_line(pair.eqn) or "", why)
    position, why = cut.graph.producer[var], None
    while is_marker(cut.graph.eqns[position]) and cut.graph.eqns[position].invars[0] in cut.graph.producer:
        why = why or note_reason(cut.graph.eqns[position])
        position = cut.graph.producer[cut.graph.eqns[position].invars[0]]
    eqn = cut.graph.eqns[position]
    why = f"result of {eqn.primitive.name}, {why}" if why else reason(cut.graph, var, cut.choices, label)
    return InnerValue(f"{name}/{equation_name(cut.graph, position)}", source_line(eqn) or "", why)


def _repeated(pair: Pair, cuts: Sequence[_Cut]) -> list[tuple[Any, int]]:
    """Returns the equations that followers run for values of the forward, and how often in all."""
    n_iterations = pair.interface.n_iterations(pair.eqn)
    return [
        repeated
        for cut in cuts
        for repeated in (
            *((cut.graph.eqns[i], n_iterations) for i in cut.again),
            *((eqn, n_iterations * n_times) for eqn, n_times in cut.inner.repeated),
        )
    ]


def _recomputed(pair: Pair, cuts: Sequence[_Cut], name: str) -> list[RecomputedValue]:
    """Returns the values that followers recompute although the forward equation computes them too."""
    found = []
    n_iterations = pair.interface.n_iterations(pair.eqn)
    for cut in cuts:
        forward = set(cut.graph.positions(Side.FORWARD))
        for i in cut.again:
            eqn = cut.graph.eqns[i]
            for var in eqn.outvars if i in forward else ():
                if isinstance(var, DropVar):
                    continue
                shape, dtype = tuple(getattr(var.aval, "shape", ())), str(getattr(var.aval, "dtype", var.aval))
                size = n_iterations * cut.graph.bytes(var)
                value_name = f"{name}/{equation_name(cut.graph, i)}"
                found.append(RecomputedValue(value_name, shape, dtype, size, source_line(eqn) or ""))
        found += [
            dataclasses.replace(v, name=f"{name}/{v.name}", bytes=n_iterations * v.bytes) for v in cut.inner.recomputed
        ]
    return found
