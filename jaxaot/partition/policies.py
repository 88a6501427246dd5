"""What may be saved and what may be recomputed, equation by equation.

A *policy* is a function from an equation to a `Choice`. The solver finds the cheapest set of values to save among those
that all choices allow.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from jaxaot.errors import PolicyError
from jaxaot.ir.primitives import Kind, is_pure, kind


class Choice(enum.Enum):
    """What a policy says on the results of an equation."""

    SAVE = "save"
    """They are never recomputed: what the backward needs of them is saved, or something computed from them is."""
    RECOMPUTE = "recompute"
    """They are never saved: what the backward needs of them is computed again."""
    EITHER = "either"
    """Whatever costs fewer bytes."""


Policy = Callable[[Any], Choice]


def save_all(eqn: Any) -> Choice:
    """Recomputes nothing but views, casts, and values made from nothing (`iota`, broadcast literals)."""
    return Choice.EITHER if kind(eqn) <= Kind.CAST or _is_made_from_nothing(eqn) else Choice.SAVE


def save_nothing(eqn: Any) -> Choice:
    """Recomputes everything from the primals, matmuls and loops included; only impure equations are saved."""
    return Choice.RECOMPUTE if is_pure(eqn) else Choice.SAVE


def save_matmuls(eqn: Any) -> Choice:
    """Saves the results of matmuls and convolutions, and recomputes everything else from them."""
    if kind(eqn) in (Kind.MATMUL, Kind.CONVOLUTION) or kind(eqn) >= Kind.COLLECTIVE or not is_pure(eqn):
        return Choice.SAVE
    return Choice.RECOMPUTE


def min_cut(eqn: Any) -> Choice:
    """Saves the fewest bytes with which the backward recomputes no matmul, convolution, gather, sort or loop."""
    return Choice.EITHER if kind(eqn) <= Kind.RANDOM and is_pure(eqn) else Choice.SAVE


def recomputing_collectives(policy: Policy) -> Policy:
    """Returns a policy that lets the backward repeat the exchange of values between devices, and is else the same.

    What is gathered from all devices weighs as many times more than what each of them holds, so gathering it twice, as
    sharded parameters usually are, is the larger part of what can be saved.
    """

    def either(eqn: Any) -> Choice:
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


def get_policy(policy: str | Policy) -> Policy:
    """Returns the policy of that name; a function is returned as it is.

    Raises:
      PolicyError: If there is none.
    """
    if callable(policy):
        return policy
    if policy not in _policies:
        raise PolicyError(
            f"There is no partition policy {policy!r}. The policies are: {', '.join(_policies)}. Pass one of these, or "
            "a function from an equation to `Choice.SAVE`, `Choice.RECOMPUTE` or `Choice.EITHER`."
        )
    return _policies[policy]


def policy_label(policy: str | Policy) -> str:
    """Returns what a policy goes by in messages."""
    return policy if isinstance(policy, str) else getattr(policy, "__name__", "the policy")


def _is_made_from_nothing(eqn: Any) -> bool:
    return all(hasattr(atom, "val") for atom in eqn.invars) and kind(eqn) <= Kind.POINTWISE
