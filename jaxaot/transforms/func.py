"""`ja.func`: the transformations of JAX on functions of tensors, which may write to them inside (`torch.func`).

A function is made pure, as by `ja.functionalize`, and transformed by JAX on the values of its tensors. What comes back
are tensors. Calls nest; in a trace, and where an argument requires grad, a call is recorded like an operation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot.facade.custom_function import no_jvp
from jaxaot.facade.kernels import conjugate
from jaxaot.facade.tensor import Tensor
from jaxaot.facade.trees import to_arrays, to_tensors
from jaxaot.tape.modes import state
from jaxaot.tracer.pure import ReachesTape, refusing_recorded_reads, run_pure
from jaxaot.transforms.call_as_op import call_as_op

Argnums = int | Sequence[int]


def _pure(fn: Callable[..., Any], differentiates: bool = True) -> Callable[..., Any]:
    """Returns a function as one of arrays.

    Args:
      fn: The function.
      differentiates: Whether gradients are taken of it, in reverse mode.
    """
    return lambda *args, **kwargs: run_pure(fn, args, kwargs, differentiates=differentiates)


def _called(transformed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns the results of a function of arrays for tensors, as tensors.

    It is recorded where something requires grad that it is passed or reads, in a trace, and where there are duals.
    """
    is_recorded = state.grad_enabled and any(
        isinstance(leaf, Tensor) and leaf.requires_grad for leaf in jax.tree.leaves((args, kwargs))
    )
    has_duals = state.dual is not None and state.dual.has_duals()
    transformed = _without_other_duals(transformed)
    if not is_recorded and state.trace is None and not has_duals:
        try:
            with refusing_recorded_reads():
                return to_tensors(transformed(*to_arrays(args), **to_arrays(kwargs)))
        except ReachesTape:
            pass
    return call_as_op(transformed, args, kwargs)


def _without_other_duals(transformed: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function of arrays that refuses dual tensors, which are none of its arguments."""
    level = state.dual
    if level is None or not level.has_duals():
        return transformed

    @functools.wraps(transformed)
    def run(*args: object, **kwargs: Any) -> Any:
        with level.closed():
            return transformed(*args, **kwargs)

    return run


def _in_torchs_convention(gradients: Any) -> Any:
    return jax.tree.map(conjugate, gradients)


def _in_forward_mode(transformed: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that says what is missing where forward mode meets a function that has a backward alone."""

    @functools.wraps(transformed)
    def run(*args: object, **kwargs: Any) -> Any:
        try:
            return transformed(*args, **kwargs)
        except TypeError as error:
            if "custom_vjp" not in str(error):
                raise
            return no_jvp()

    return run


def _argnums(argnums: Argnums) -> Any:
    return argnums if isinstance(argnums, int) else tuple(argnums)


def grad_and_value(fn: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Returns a function that computes the gradient of `fn`, and its value.

    Args:
      fn: Takes tensors, in any pytrees, to a tensor of one element; it may write to what it is passed.
      argnums: The positions of the arguments to differentiate.
      has_aux: Whether `fn` returns a pair of such a tensor and anything else.
    """

    def transformed(*args: object, **kwargs: Any) -> Any:
        value, gradients = jax.value_and_grad(_pure(fn), _argnums(argnums), has_aux)(*args, **kwargs)
        return _in_torchs_convention(gradients), value

    return functools.wraps(fn)(lambda *args, **kwargs: _called(transformed, args, kwargs))


def grad(fn: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Returns the gradient of `fn` as a function; with `has_aux`, that and what `fn` returns besides."""

    def transformed(*args: object, **kwargs: Any) -> Any:
        found = jax.grad(_pure(fn), _argnums(argnums), has_aux)(*args, **kwargs)
        return (_in_torchs_convention(found[0]), found[1]) if has_aux else _in_torchs_convention(found)

    return functools.wraps(fn)(lambda *args, **kwargs: _called(transformed, args, kwargs))


def vjp(fn: Callable[..., Any], *primals: object, has_aux: bool = False) -> Any:
    """Returns the result of `fn`, and a function from its cotangents to a tuple of gradients, one for each primal.

    Args:
      fn: Takes tensors to tensors.
      *primals: What it is called with.
      has_aux: Whether it returns a pair of tensors and something else, which is returned last.
    """

    def forward(*primals: object) -> Any:
        return jax.vjp(_pure(fn), *primals, has_aux=has_aux)

    output, pull, *aux = _called(forward, primals, {})

    def pull_back(pull: Callable[..., Any], cotangents: Sequence[Any]) -> Any:
        return _in_torchs_convention(pull(_in_torchs_convention(cotangents)))

    def gradients(cotangents: Sequence[Any]) -> Any:
        return _called(pull_back, (pull, cotangents), {})

    return output, gradients, *aux


def jvp(fn: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: bool = False) -> Any:
    """Returns the result of `fn` and its derivative in a direction; with `has_aux`, also its auxiliary output."""

    def transformed(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        return jax.jvp(_pure(fn, False), tuple(primals), tuple(tangents), has_aux=has_aux)

    return _in_forward_mode(_called)(transformed, (tuple(primals), tuple(tangents)), {})


def linearize(fn: Callable[..., Any], *primals: object) -> tuple[Any, Callable[..., Any]]:
    """Returns the result of `fn`, and its derivative there as a linear function of tangents."""

    def forward(*primals: object) -> Any:
        return jax.linearize(_pure(fn, False), *primals)

    output, push = _in_forward_mode(_called)(forward, primals, {})

    def pushed(*tangents: object) -> Any:
        return _called(lambda push, *tangents: push(*tangents), (push, *tangents), {})

    return output, pushed


def jacrev(fn: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """Returns the Jacobian of `fn` as a function, row by row in reverse mode."""
    return _jacobian(jax.jacrev, fn, argnums, has_aux)


def jacfwd(fn: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """Returns the Jacobian of `fn` as a function, column by column in forward mode."""
    return _jacobian(jax.jacfwd, fn, argnums, has_aux)


def hessian(fn: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Returns the second derivatives of `fn` as a function, forward over reverse."""
    return _jacobian(jax.hessian, fn, argnums, False)


def _jacobian(
    jacobian: Callable[..., Any], fn: Callable[..., Any], argnums: Argnums, has_aux: bool
) -> Callable[..., Any]:
    transformed = jacobian(_pure(fn, jacobian is not jax.jacfwd), _argnums(argnums), has_aux=has_aux)
    return functools.wraps(fn)(lambda *args, **kwargs: _in_forward_mode(_called)(transformed, args, kwargs))


def vmap(fn: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """Returns `fn` mapped over a dim of its arguments.

    Args:
      fn: Takes and returns tensors, without that dim; it may write to what it is passed.
      in_dims: The dim of each argument, None for those that are the same for all.
      out_dims: Where the dim is in the results.
    """
    in_dims = tuple(in_dims) if isinstance(in_dims, list) else in_dims

    def transformed(*args: object, **kwargs: Any) -> Any:
        axes = in_dims if isinstance(in_dims, tuple) else tuple(map(_axis_of, args))
        mapped = lambda *args, **kwargs: run_pure(fn, args, kwargs, maps=True)
        return jax.vmap(mapped, axes, out_dims)(*args, **kwargs)

    def _axis_of(arg: object) -> Any:
        return in_dims if any(isinstance(x, (jax.Array, np.ndarray)) for x in jax.tree.leaves(arg)) else None

    return functools.wraps(fn)(lambda *args, **kwargs: _called(transformed, args, kwargs))
