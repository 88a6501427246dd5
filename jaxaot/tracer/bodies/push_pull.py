"""A linear map with a transpose of its own: forward mode goes the one way, reverse mode the other.

A custom Function has two derivatives of the user's, `jvp` and `backward`. In a graph they are the two ways of one
equation, `push_pull`, whose operands are residuals, and tangents in which it is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._jax import MappedAxis, Rules, jaxpr_as_fun, make_primitive
from jaxaot._typing import Atom
from jaxaot.facade.gradients.custom_function import no_backward


def push_pull(
    push: Callable[..., Sequence[Any]],
    pull: Callable[..., Sequence[Any]] | None,
    residuals: Sequence[Any],
    tangents: Sequence[Any],
) -> list[Any]:
    """Returns `push(*residuals, *tangents)`, whose transpose is `pull(*residuals, *cotangents)`, if there is one."""
    pushed = jax.make_jaxpr(push)(*residuals, *tangents)
    cotangents = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in pushed.out_avals]
    pulled = None if pull is None else jax.make_jaxpr(pull)(*residuals, *cotangents)
    return push_pull_p.bind(*residuals, *tangents, push=pushed, pull=pulled, n_residuals=len(residuals))


@jax.custom_jvp
def forward_alone(value: object) -> Any:
    """Returns a value through which tangents flow and cotangents do not, as PyTorch's `no_grad` has it.

    Nor do cotangents of the tangents: what is computed of them is not recorded either.
    """
    return value


@forward_alone.defjvp
def _forward_alone_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    zeros = lambda cotangent: [jnp.zeros_like(cotangent)]
    return forward_alone(*primals), push_pull(lambda tangent: [forward_alone(tangent)], zeros, (), tangents)[0]


def _evaluate(*operands: object, push: Callable[..., Any], pull: Callable[..., Any], n_residuals: int) -> Sequence[Any]:
    return jaxpr_as_fun(push)(*operands)


def _types(push: Callable[..., Any], pull: Callable[..., Any], n_residuals: int) -> tuple[Sequence[Any], Any]:
    return push.out_avals, push.effects


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """Differentiates `push` once more, as the code that it is."""
    places = [i for i, t in enumerate(tangents) if t is not None]

    def moved(*values: object) -> Any:
        filled = list(primals)
        for place, value in zip(places, values, strict=True):
            filled[place] = value
        return jaxpr_as_fun(params["push"])(*filled)

    _, found = jax.jvp(moved, [primals[i] for i in places], [tangents[i] for i in places])
    return push_pull_p.bind(*primals, **params), found


def _batch(
    axis: MappedAxis,
    operands: Sequence[Any],
    dims: Sequence[Any],
    *,
    push: Callable[..., Any],
    pull: Callable[..., Any],
    n_residuals: int,
) -> tuple[Sequence[Any], Sequence[Any]]:
    if all(dim is None for dim in dims):
        results = push_pull_p.bind(*operands, push=push, pull=pull, n_residuals=n_residuals)
        return results, [None] * len(results)
    mapped, axes = [], []
    for i, (operand, dim) in enumerate(zip(operands, dims, strict=True)):
        if dim is not None:
            operand = jnp.moveaxis(operand, dim, 0)
        elif i >= n_residuals:  # so that cotangents are mapped as tangents are
            operand = jnp.broadcast_to(operand, (axis.size, *operand.shape))
        mapped.append(operand)
        axes.append(None if dim is None and i < n_residuals else 0)
    residuals = axes[:n_residuals]
    there = axis.vmap(jaxpr_as_fun(push), axes)
    back = None if pull is None else axis.vmap(jaxpr_as_fun(pull), [*residuals, *([0] * len(push.out_avals))])
    results = push_pull(there, back, mapped[:n_residuals], mapped[n_residuals:])
    return results, [0] * len(results)


def _transpose(
    cotangents: Sequence[Any],
    operands: Sequence[Atom],
    *,
    push: Callable[..., Any],
    pull: Callable[..., Any],
    n_residuals: int,
) -> Any:
    if pull is None:
        no_backward()
    given = [
        jnp.zeros(aval.shape, aval.dtype) if ct is None else ct
        for ct, aval in zip(cotangents, push.out_avals, strict=True)
    ]
    found = jaxpr_as_fun(pull)(*operands[:n_residuals], *given)
    linear = zip(operands[n_residuals:], found, strict=True)
    return [None] * n_residuals + [gradient if operand is None else None for operand, gradient in linear]


def _graph(push: Any, pull: Any, n_residuals: int) -> Any:
    del pull, n_residuals
    return push


push_pull_p = make_primitive("push_pull", Rules(_evaluate, _types, _jvp, _batch, _transpose, _graph))
