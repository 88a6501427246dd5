"""What may be saved and what may be recomputed, equation by equation.

A *policy* is a function from an equation to a `Choice`. The solver finds the cheapest set of values to save among those
that all choices allow. Those of JAX (`jax.checkpoint_policies`, or any function of a primitive, the types of its
operands and its parameters as keywords) are taken as well, wherever a policy is.
"""

from __future__ import annotations

import enum
import math
import types
from collections.abc import Callable
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._jax import names_of_policy
from jaxaot._typing import Eqn
from jaxaot._util import signature_of
from jaxaot.errors import PolicyError
from jaxaot.ir.cost import eqn_flops
from jaxaot.ir.primitives import Kind, is_pure, kind
from jaxaot.settings import check_values_of


class Choice(enum.Enum):
    """What a policy says on the results of an equation."""

    SAVE = "save"
    """They are never recomputed: what the backward needs of them is saved, or something computed from them is."""
    RECOMPUTE = "recompute"
    """They are never saved: what the backward needs of them is computed again."""
    EITHER = "either"
    """Whatever costs fewer bytes."""


Policy = Callable[[Any], Choice]


def save_all(eqn: Eqn) -> Choice:
    """Recomputes nothing but views, casts, and values made from nothing (`iota`, broadcast literals)."""
    is_made_from_nothing = kind(eqn) <= Kind.POINTWISE and all(hasattr(atom, "val") for atom in eqn.invars)
    return Choice.EITHER if kind(eqn) <= Kind.CAST or is_made_from_nothing else Choice.SAVE


def save_nothing(eqn: Eqn) -> Choice:
    """Recomputes everything from the primals, matmuls and loops included; only impure equations are saved."""
    return Choice.RECOMPUTE if is_pure(eqn) else Choice.SAVE


def save_matmuls(eqn: Eqn) -> Choice:
    """Saves the results of matmuls and convolutions, and recomputes everything else from them."""
    if kind(eqn) in (Kind.MATMUL, Kind.CONVOLUTION) or kind(eqn) >= Kind.COLLECTIVE or not is_pure(eqn):
        return Choice.SAVE
    return Choice.RECOMPUTE


def min_cut(eqn: Eqn) -> Choice:
    """Saves the fewest bytes with which the backward recomputes no matmul, convolution, gather, sort or loop.

    Without a budget, the least time is then looked for that saves no more, be it by repeating some of these.
    """
    return Choice.EITHER if kind(eqn) <= Kind.RANDOM and is_pure(eqn) else Choice.SAVE


def kept_by_compilers(eqn: Eqn) -> Choice:
    """Saves what compilers keep where nothing is cut: they compute again, inside of kernels, what takes little time."""
    return Choice.EITHER if kind(eqn) <= Kind.POINTWISE and is_pure(eqn) else Choice.SAVE


class HoldingExchanges:
    """A policy that saves what devices exchange at every budget, unless it lets them be repeated, and is else the same.

    Attributes:
      policy: The policy.
      most_flops: Matmuls, convolutions and the like of more FLOPs are saved in the same way.
    """

    def __init__(self, policy: Policy, most_flops: float = math.inf):
        self.policy, self.__name__, self.most_flops = policy, policy_label(policy), most_flops

    def holds(self, eqn: Eqn) -> bool:
        """Returns whether an equation that the policy saves is repeated at no budget."""
        is_product = Kind.MATMUL <= kind(eqn) < Kind.COLLECTIVE
        return kind(eqn) is Kind.COLLECTIVE or (is_product and eqn_flops(eqn) > self.most_flops)

    def __call__(self, eqn: Eqn) -> Choice:
        return self.policy(eqn)


def recomputing_collectives(policy: Policy) -> Policy:
    """Returns a policy that lets the backward repeat the exchange of values between devices, and is else the same.

    What is gathered from all devices weighs as many times more than what each of them holds, so gathering it twice, as
    sharded parameters usually are, is the larger part of what can be saved.
    """

    def either(eqn: Eqn) -> Choice:
        return Choice.EITHER if kind(eqn) is Kind.COLLECTIVE and is_pure(eqn) else policy(eqn)

    return either


_policies: dict[str, Policy] = {
    "min_cut": min_cut,
    "save_all": save_all,
    "save_nothing": save_nothing,
    "save_matmuls": save_matmuls,
}


def register_policy(name: str, policy: Policy) -> None:
    """Makes a policy available by name, in place of any other of that name."""
    _policies[name] = policy


def policy_names() -> tuple[str, ...]:
    """Returns the names of the policies that exist."""
    return tuple(_policies)


@immutable
class NamesPolicy:
    """A policy that goes by the names that `checkpoint_name` gave.

    Attributes:
      names: The names it was made with.
      saves: Whether values of these names are saved, rather than those of other names.
      saves_unnamed: Whether values without a name are saved too.
    """

    names: frozenset[str]
    saves: bool
    saves_unnamed: bool = False

    def __call__(self, eqn: Eqn) -> Choice:
        """Returns its choice for an equation."""
        if eqn.primitive.name == "name":
            return Choice.SAVE if (eqn.params["name"] in self.names) is self.saves else Choice.RECOMPUTE
        return save_all(eqn) if self.saves_unnamed else Choice.RECOMPUTE

    @property
    def __name__(self) -> str:  # type: ignore[override]
        if self.saves_unnamed:
            return "save_anything_except_these_names"
        return "save_only_these_names" if self.saves else "save_any_names_but_these"

    @property
    def excluded(self) -> frozenset[str]:
        """Names whose values are not saved although values without a name are."""
        return self.names if self.saves_unnamed else frozenset()


def save_only_these_names(*names: str) -> NamesPolicy:
    """Returns the policy that saves the values that `checkpoint_name` gave one of these names, and no others.

    Args:
      *names: At least one of them has to occur; for each that does not there is a warning.
    """
    return NamesPolicy(frozenset(names), saves=True)


def save_any_names_but_these(*names: str) -> NamesPolicy:
    """Returns the policy that saves the values that have a name, but for these names."""
    return NamesPolicy(frozenset(names), saves=False)


def save_anything_except_these_names(*names: str) -> NamesPolicy:
    """Returns the policy that saves what `save_all` saves, but for the values of these names.

    JAX's policy of that name saves everything whatever the names are.
    """
    return NamesPolicy(frozenset(names), saves=False, saves_unnamed=True)


@immutable
class JaxPolicy:
    """A policy of JAX's as one of ours.

    What may be saved is saved; views and casts of it cost less to repeat, so they are left to the solver.

    Attributes:
      policy: Takes a primitive, types of operands and parameters; returns a bool, or `Saveable`, `Recompute` or
        `Offloadable` of JAX. What may be offloaded is saved.
    """

    policy: Callable[..., Any]

    def __call__(self, eqn: Eqn) -> Choice:
        """Returns its choice for an equation.

        Raises:
          PolicyError: If that is nothing that JAX knows.
        """
        answer = self.policy(eqn.primitive, *(atom.aval for atom in eqn.invars), **eqn.params)
        word = type(answer).__name__
        if word in ("bool", "bool_"):
            is_saved = bool(answer)
        elif word in ("SaveableType", "Offloadable", "RecomputeType"):
            is_saved = word != "RecomputeType"
        else:
            raise PolicyError(
                f"The policy `{self.__name__}` returned {answer!r} for the primitive `{eqn.primitive.name}`. It is "
                "called as JAX calls policies, as it takes `**params`: return True to save, or False. A policy of an "
                "equation takes that alone, and returns `Choice.SAVE`, `Choice.RECOMPUTE` or `Choice.EITHER`."
            )
        if not is_saved:
            return Choice.RECOMPUTE
        return Choice.EITHER if kind(eqn) <= Kind.CAST and eqn.primitive.name != "name" else Choice.SAVE

    @property
    def __name__(self) -> str:  # type: ignore[override]
        return getattr(self.policy, "__name__", type(self.policy).__name__)


def from_jax(policy: Callable[..., Any]) -> Policy:
    """Returns a policy of JAX's, such as `jax.checkpoint_policies.dots_saveable`, as one of ours.

    Wherever a policy is taken, this is done by itself to functions that take `**params`.
    """
    found = names_of_policy(policy)
    return JaxPolicy(policy) if found is None else NamesPolicy(*found)


@immutable
class RegionPolicy:
    """What `ja.utils.checkpoint.checkpoint` gives to `jax.checkpoint`: policy and budget of a region, in the form of a
    policy of JAX's.

    Under `jax.grad` alone nobody solves a cut, so it saves what the policy says is saved, and nothing under a budget.

    Attributes:
      policy: A policy, or its name; None for the one that goes with the budget, or that saves nothing.
      memory_budget: The budget, or None.
    """

    policy: Any = None
    memory_budget: Any = None

    def __call__(self, prim: Any, *avals: object, **params: Any) -> bool:
        """Returns whether JAX is to save the results of an equation."""
        if self.policy is None or self.memory_budget is not None:
            return False
        operands = [types.SimpleNamespace(aval=aval) for aval in avals]
        eqn = types.SimpleNamespace(primitive=prim, params=params, invars=operands, effects=())
        return get_policy(self.policy)(eqn) is Choice.SAVE


def get_policy(policy: str | Policy) -> Policy:
    """Returns the policy of that name; a function is returned as it is, or made one of ours if it is one of JAX's.

    Raises:
      PolicyError: If there is none.
    """
    if callable(policy):
        signature = signature_of(policy)
        takes_parameters = signature and any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
        return from_jax(policy) if takes_parameters else policy
    if policy not in _policies:
        raise PolicyError(
            f"There is no partition policy {policy!r}. The policies are: {', '.join(_policies)}. Pass one of these, or "
            "a function from an equation to `Choice.SAVE`, `Choice.RECOMPUTE` or `Choice.EITHER`."
        )
    return _policies[policy]


check_values_of("policy", get_policy)


def region_policy(policy: str | Callable[..., Any] | None, memory_budget: float | str | None) -> Policy:
    """Returns the policy of a region; without one, it saves nothing, or if there is a budget, what is best within it.

    Raises:
      PolicyError: If there is none of that name.
    """
    if isinstance(policy, RegionPolicy):
        policy = policy.policy
    if policy is None:
        return save_nothing if memory_budget is None else min_cut
    return get_policy(policy)


def policy_label(policy: str | Policy) -> str:
    """Returns the name of a policy for messages."""
    return policy if isinstance(policy, str) else getattr(policy, "__name__", "the policy")
