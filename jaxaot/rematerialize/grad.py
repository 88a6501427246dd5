"""grad(fn), value_and_grad(fn): those of JAX, of the function under `remat`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import jax

from jaxaot._frames import without_own_frames
from jaxaot.facade.marks.bad_arguments import deleted_arrays_named
from jaxaot.lower.static import refuse_cycles
from jaxaot.rematerialize.remat import refuse_tensors, rematerialize
from jaxaot.rematerialize.static import Options

P = ParamSpec("P")
R = TypeVar("R")


def value_and_grad(
    fn: Callable[P, R],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    *,
    policy: str | Callable[..., Any] | None = None,
    memory_budget: float | str | None = None,
) -> Callable[P, tuple[R, Any]]:
    """Returns a function that computes `fn` and its gradient, keeping in between what a policy chooses.

        @ja.jit
        def step(params, batch):
            loss, grads = ja.value_and_grad(loss_fn, memory_budget="512MiB")(params, batch)
            return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), loss

    It is `jax.value_and_grad(ja.remat(fn))`, but for ints among the arguments: as by `jax.value_and_grad`, they are not
    traced. For functions of flax nnx modules write
    `nnx.value_and_grad(ja.remat(fn))`.

    Args:
      fn: A function of pytrees of arrays that returns a scalar.
      argnums: The positions of the arguments to differentiate.
      has_aux: Whether `fn` returns a pair of a scalar and something that is not differentiated.
      holomorphic: Whether `fn` is promised to be holomorphic.
      allow_int: Whether integer arguments may be differentiated, with gradients of dtype float0.
      policy: What may be saved, see `ja.remat`.
      memory_budget: The most that may be saved, see `ja.remat`.

    Raises:
      PolicyError: If there is no such policy.
      BudgetError: If the budget cannot be read.
    """
    cut = rematerialize(fn, Options(policy, memory_budget, traces_ints=False, is_whole=True))
    return _of_arrays(jax.value_and_grad(cut, argnums, has_aux, holomorphic, allow_int), fn)


def grad(
    fn: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    *,
    policy: str | Callable[..., Any] | None = None,
    memory_budget: float | str | None = None,
) -> Callable[P, Any]:
    """Returns the gradient of `fn`, as a function, keeping between forward and backward what a policy chooses.

    It is `jax.grad(ja.remat(fn))`; arguments and errors are those of `ja.value_and_grad`.
    """
    cut = rematerialize(fn, Options(policy, memory_budget, traces_ints=False, is_whole=True))
    return _of_arrays(jax.grad(cut, argnums, has_aux, holomorphic, allow_int), fn)


def _of_arrays(derivative: Callable[..., Any], fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(derivative)
    def call(*args: object, **kwargs: Any) -> Any:
        refuse_cycles((args, kwargs), "The arguments")
        refuse_tensors(jax.tree.leaves((args, kwargs)), fn)
        try:
            with deleted_arrays_named(fn, args, kwargs):
                return derivative(*args, **kwargs)
        except Exception as error:
            raise without_own_frames(error)  # noqa: B904  # it is the same exception

    return call
