"""Gradients of wrappers: those of the inner tensors that carry them, put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot.errors import AutogradError, NoGradPathError, SubclassError
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.facade.subclass.subclass import carrying, described, is_wrapper, put_together, take_apart

NOT_DIFFERENTIATED = (
    "One of the differentiated Tensors does not require grad. Before the computation, write `x.requires_grad_()`."
)


def no_path(index: int) -> NoGradPathError:
    """Returns the error for a tensor, by its position, from which no gradient flows anywhere."""
    return NoGradPathError(
        f"element {index} of tensors does not require grad and does not have a grad_fn. It has to depend on a tensor "
        "with `requires_grad=True`; what is computed by `.detach()`, in `ja.no_grad()`, or on arrays of JAX does not."
    )


def carried(value: Any) -> Iterator[Tensor]:
    """Yields the tensors through which gradients of a tensor flow: itself, if it is no wrapper."""
    if not is_wrapper(value):
        yield value
        return
    names = carrying(value)
    for name, inner in zip(take_apart(value)[1].names, take_apart(value)[0], strict=True):
        if name in names:
            yield from carried(inner)


def gradient_of(value: Any, find: Callable[[Tensor], Any]) -> Any:
    """Returns the gradient of a tensor, of the same kind; None if there is none.

    Inner tensors without a gradient get zeros. Those that carry none stay as they are in the tensor itself.
    """
    if not is_wrapper(value):
        return find(value)
    inner, frame = take_apart(value)
    names = carrying(value)
    found = [gradient_of(x, find) if name in names else None for name, x in zip(frame.names, inner, strict=True)]
    if all(gradient is None for gradient in found):
        return None
    made = [
        x.detach() if name not in names else _zeros(x) if gradient is None else gradient
        for name, x, gradient in zip(frame.names, inner, found, strict=True)
    ]
    return put_together(type(value), frame, made)


def _zeros(value: object) -> Any:
    zeros = lambda x: wrap_array(jnp.zeros(x._layout.size, x._layout.dtype))
    return gradient_of(value, zeros)


def pairs_with(value: Any, gradient: Any) -> Iterator[tuple[Tensor, Any]]:
    """Yields the tensors through which gradients flow, each with its own out of a gradient that was passed.

    Raises:
      SubclassError: If the gradient is of another kind, and no `__coerce_tangent__` makes it one of this.
    """
    if not is_wrapper(value) and not is_wrapper(gradient):
        yield value, gradient
        return
    if not _is_alike(value, gradient):
        gradient = _coerced(value, gradient)
    if not is_wrapper(value):
        yield value, gradient
        return
    names = carrying(value)
    for name, x, g in zip(take_apart(value)[1].names, take_apart(value)[0], take_apart(gradient)[0], strict=True):
        if name in names:
            yield from pairs_with(x, g)


def _is_alike(value: object, gradient: object) -> bool:
    if not is_wrapper(value):
        return not is_wrapper(gradient)
    if type(value) is not type(gradient):
        return False
    frame, other = take_apart(value)[1], take_apart(gradient)[1]
    return frame.kind == other.kind and frame.size == other.size


def _coerced(value: object, gradient: object) -> Any:
    """Returns a gradient made of one of another kind, by the class of the gradient or else that of the tensor."""
    for of in (gradient, value):
        coerce = getattr(type(of), "__coerce_tangent__", None)
        if coerce is None:
            continue
        made = coerce(gradient, value)
        if made is not NotImplemented and _is_alike(value, made):
            return made
    raise SubclassError(
        f"A backward was given a gradient of another kind: {described(value)} of shape {list(value.shape)} needs "
        f"one of its own kind, and {described(gradient)} of shape {list(gradient.shape)} was passed. Pass a gradient "
        "made like the output, for instance by `ja.ones_like(y)`; or give the class a static method "
        "`__coerce_tangent__(gradient, output)` that makes one of the other. If the output needs no gradient, "
        "`.detach()` it."
    )


def opened_roots(tensors: Sequence[Any], gradients: Sequence[Any] | None) -> tuple[list[Any], list[Any] | None]:
    """Returns where a backward starts, inner tensors in the place of wrappers.

    Raises:
      NoGradPathError: If no inner tensor of one requires grad.
    """
    if gradients is None:
        given: Sequence[Any] = [None] * len(tensors)
    elif len(gradients) != len(tensors):
        raise AutogradError(f"got {len(tensors)} tensors and {len(gradients)} gradients")
    else:
        given = gradients
    roots: list[Any] = []
    for index, (tensor, gradient) in enumerate(zip(tensors, given, strict=True)):
        if not is_wrapper(tensor) and not is_wrapper(gradient):
            roots.append((tensor, gradient))
            continue
        pairs = [(x, None) for x in carried(tensor)] if gradient is None else pairs_with(tensor, gradient)
        wanted = [(x, g) for x, g in pairs if x.requires_grad]
        if not wanted:
            raise no_path(index)
        roots += wanted
    return [x for x, _ in roots], None if all(g is None for _, g in roots) else [g for _, g in roots]


def opened_inputs(tensors: Sequence[Any]) -> list[Any]:
    """Returns what gradients are asked for, inner tensors in the place of wrappers; each once.

    Raises:
      AutogradError: If no inner tensor of one requires grad.
    """
    found: dict[int, Any] = {}
    for tensor in tensors:
        leaves = [tensor] if not is_wrapper(tensor) else [x for x in carried(tensor) if x.requires_grad]
        if not leaves:
            raise AutogradError(NOT_DIFFERENTIATED)
        found.update((id(x), x) for x in leaves)
    return list(found.values())
