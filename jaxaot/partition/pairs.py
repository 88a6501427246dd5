"""Pairs: an equation of the forward, and those of the backward that read what its bodies made for theirs.

An operand of the backward equation is a *link* if it is a result of the forward equation and both bodies see it in the
same way; it is *shared* if both equations receive it, in the same way; else it is its *own*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._jax import Literal, ShapedArray, close_jaxpr, make_jaxpr_object, make_var
from jaxaot._typing import Eqn
from jaxaot.ir.placements import NOWHERE, Placements
from jaxaot.ir.primitives import is_pure
from jaxaot.ir.rewrite import reading, splice, substitute
from jaxaot.ir.roles import Cotangent, Gradient, Output, Primal
from jaxaot.ir.walk import variables
from jaxaot.partition.body_interface import CARRY, AbstractBodyInterface, Slot
from jaxaot.partition.branches import Branches
from jaxaot.partition.calls import Call
from jaxaot.partition.classify import Classified, Side
from jaxaot.partition.loops import Loop
from jaxaot.partition.shard_maps import ShardMap
from jaxaot.partition.tags import gathered
from jaxaot.plan.stages import JointGraph

BODY_INTERFACES: Mapping[str, AbstractBodyInterface] = {
    "scan": Loop(), "cond": Branches(), "shard_map": ShardMap(), "jit": Call(), "pjit": Call()
}  # fmt: skip


@immutable(eq=False)
class Follower:
    """A backward equation of a pair.

    Attributes:
      position: Where it stands.
      eqn: The equation.
      operands: What its bodies receive.
      links: The number of the forward result that an operand is, for those that are links.
      common: The number of the forward operand that an operand is, for those that are shared.
    """

    position: int
    eqn: Any
    operands: Sequence[Slot]
    links: Mapping[int, int]
    common: Mapping[int, int]

    @property
    def own(self) -> list[int]:
        """The numbers of the operands that are neither links nor shared."""
        return [i for i in range(len(self.operands)) if i not in self.links and i not in self.common]


@immutable(eq=False)
class Pair:
    """A forward equation and the backward equations that are linked with it.

    Attributes:
      interface: How they hold their bodies.
      position: Where the forward equation stands.
      eqn: The forward equation.
      operands: What its bodies receive.
      results: What it returns.
      kept: The numbers of the results that something else reads, and of all carries.
      followers: The backward equations.
    """

    interface: AbstractBodyInterface
    position: int
    eqn: Any
    operands: Sequence[Slot]
    results: Sequence[Slot]
    kept: Sequence[int]
    followers: Sequence[Follower]


@immutable(eq=False)
class JoinedBody:
    """A body of the forward equation and those of its followers, as one joint graph.

    Attributes:
      joint: From (inputs of the forward body, own inputs of the backward bodies) to (kept outputs of the forward body,
        outputs of the backward bodies).
      inputs: The variables that the forward body receives.
      outputs: What the forward body returns, kept or not.
      own: For each follower, the variable of each of its own operands.
      gradients: For each follower, what its body returns.
      spans: For each follower, the positions of the equations of its body.
    """

    joint: JointGraph
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    own: Sequence[Mapping[int, Any]]
    gradients: Sequence[Sequence[Any]]
    spans: Sequence[range]


def pair_at(graph: Classified, position: int) -> Pair | None:
    """Returns the pair whose forward equation stands at a position, or None."""
    eqn = graph.eqns[position]
    interface = BODY_INTERFACES.get(eqn.primitive.name)
    if interface is None or not _is_plain(eqn):
        return None
    operands, results = interface.operands(eqn), interface.results(eqn)
    followers = []
    for i in graph.positions(Side.BACKWARD):
        other = graph.eqns[i]
        if other.primitive is eqn.primitive and is_pure(other) and _is_plain(other) and interface.is_pair(eqn, other):
            follower = _follower(interface, operands, results, i, other)
            if follower.links:
                followers.append(follower)
    if not followers:
        return None
    inside = {follower.position for follower in followers}
    jaxpr = graph.joint.jaxpr.jaxpr
    read = set(variables(jaxpr.outvars))
    for i, other in enumerate(graph.eqns):
        if i in inside:
            (follower,) = [follower for follower in followers if follower.position == i]
            read.update(variables(other.invars[: interface.n_head]))
            read.update(variables(follower.operands[number].outer for number in follower.own))
        elif graph.sides[i] is not Side.DEAD:
            read.update(variables(other.invars))
    kept = [number for number, result in enumerate(results) if result.how == CARRY or result.outer in read]
    return Pair(interface, position, eqn, operands, results, kept, followers)


def join(pair: Pair, which: int, placements: Placements | None = None) -> JoinedBody:
    """Returns body `which` of the equations of a pair, joined.

    Args:
      pair: The pair.
      which: Which body.
      placements: Which part of each value of the graph around it, and of the bodies, one device holds.
    """
    interface = pair.interface
    body = interface.bodies(pair.eqn)[which]
    inputs = [make_var(var.aval) for var in body.jaxpr.invars]
    eqns, outputs, constants = splice(body, inputs)
    own, lengths, atoms, sizes = [], [], list(outputs), []
    for follower in pair.followers:
        fresh = {number: make_var(follower.operands[number].inner[which].aval) for number in follower.own}
        received = [
            outputs[follower.links[number]]
            if number in follower.links
            else inputs[follower.common[number]]
            if number in follower.common
            else fresh[number]
            for number in range(len(follower.operands))
        ]
        more, gradients, more_constants = splice(interface.bodies(follower.eqn)[which], received)
        constants |= more_constants
        eqns += more
        atoms += gradients
        own.append(fresh)
        lengths.append(len(more))
        sizes.append(len(gradients))
    eqns, atoms = interface.settled(eqns, atoms)
    start = len(eqns) - sum(lengths)
    forward, stands_for = gathered(eqns[:start])
    eqns = [*forward, *(reading(eqn, stands_for) for eqn in eqns[start:])]
    atoms = substitute(atoms, stands_for)
    outputs, gradients_of = atoms[: len(outputs)], []
    start, first = len(forward), len(outputs)
    spans = []
    for length, size in zip(lengths, sizes, strict=True):
        spans.append(range(start, start + length))
        gradients_of.append(atoms[first : first + size])
        start, first = start + length, first + size
    invars = [*inputs, *(var for fresh in own for var in fresh.values())]
    outvars = [*(outputs[number] for number in pair.kept), *(atom for part in gradients_of for atom in part)]
    jaxpr = make_jaxpr_object(invars, outvars, eqns, list(constants))
    in_roles = (*map(Primal, range(len(inputs))), *map(Cotangent, range(len(invars) - len(inputs))))
    out_roles = (*map(Output, range(len(pair.kept))), *map(Gradient, range(sum(sizes))))
    placed = NOWHERE
    if placements is not None:
        given = [slot.inner[which] for slot in pair.operands]
        given += [follower.operands[i].inner[which] for follower in pair.followers for i in follower.own]
        made = [pair.results[number].inner[which] for number in pair.kept]
        made += [slot.inner[which] for follower in pair.followers for slot in interface.results(follower.eqn)]
        placed = placements.placed(given, made)
    joint = JointGraph(close_jaxpr(jaxpr, list(constants.values())), in_roles, out_roles, placed=placed)
    return JoinedBody(joint, inputs, outputs, own, gradients_of, spans)


def _follower(
    interface: AbstractBodyInterface, operands: Sequence[Slot], results: Sequence[Slot], i: int, eqn: Eqn
) -> Follower:
    received = interface.operands(eqn)
    links, common = {}, {}
    for number, slot in enumerate(received):
        if isinstance(slot.outer, Literal):
            continue
        for places, slots in ((links, results), (common, operands)):
            for place, other in enumerate(slots):
                if other.outer is slot.outer and interface.is_same(slot.how, other.how):
                    places.setdefault(number, place)
    return Follower(i, eqn, received, links, common)


def _is_plain(eqn: Eqn) -> bool:
    """Returns whether an equation reads and returns arrays alone, and no references to mutable ones."""
    return all(isinstance(atom.aval, ShapedArray) for atom in (*eqn.invars, *eqn.outvars))
