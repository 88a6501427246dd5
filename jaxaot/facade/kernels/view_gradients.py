"""What flows through views and writes: reads by windows, and the gradients of both."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array
from jaxaot.facade.kernels.grad_kernels import conjugate
from jaxaot.lower.abstract import AbstractArray, abstract_like
from jaxaot.lower.eager_kernel import EagerKernel
from jaxaot.ops.half_precision import HALVES
from jaxaot.ops.promotion import is_complex, strong
from jaxaot.views.chain import ViewChain, apply_chain
from jaxaot.views.window import AbstractWindow

_reads: dict[AbstractWindow, EagerKernel] = {}


def read_through(base: Any, window: AbstractWindow, starts: Any) -> Any:
    """Returns the part of `base` that a window shows, eagerly."""
    kernel = _reads.get(window)
    if kernel is None:
        kernel = _reads[window] = EagerKernel(lambda base, starts: window.apply(base, starts))
    return kernel(base, starts)


# -- gradients of views and of writes through them ---------------------------------------------------------------------


def pull_view(chain: ViewChain, size: tuple[int, ...], dtype: Any, cotangent: Any, starts: Any) -> Any:
    """Returns the gradient of a view's parent, of that size and dtype: zeros, but for the shown elements."""
    if cotangent.dtype in HALVES:  # where elements are shown more than once, sums are rounded once
        return pull_view(chain, size, np.float32, strong(cotangent, np.float32), starts).astype(dtype)
    parent = jax.ShapeDtypeStruct(size, dtype)
    transposed = jax.linear_transpose(lambda x: apply_chain(chain, x, starts), parent)
    return conjugate(transposed(conjugate(cotangent))[0])


def split_write(chain: ViewChain, cotangent: Any, starts: Any) -> tuple[Any, Any]:
    """Returns the gradients of the value before a write through a view, and of what was written."""
    written = apply_chain(chain, cotangent, starts)
    ones = jnp.ones(written.shape, written.dtype)
    ones = ones + 1j * ones if is_complex(written.dtype) else ones
    mark = pull_view(chain, tuple(cotangent.shape), cotangent.dtype, ones, starts)
    keep = lambda mark, value: jnp.where(mark != 0, jnp.zeros((), value.dtype), value)
    if not is_complex(cotangent.dtype):
        return keep(mark, cotangent), written
    parts = [keep(part(mark), part(cotangent)) for part in (jnp.real, jnp.imag)]  # a write may reach one part only
    return jax.lax.complex(*parts), written


@functools.lru_cache(maxsize=2048)
def _pulling(chain: ViewChain, size: tuple[int, ...], dtype: Any) -> EagerKernel:
    return EagerKernel(functools.wraps(pull_view)(functools.partial(pull_view, chain, size, dtype)))


@functools.lru_cache(maxsize=2048)
def _splitting(chain: ViewChain) -> EagerKernel:
    return EagerKernel(functools.wraps(split_write)(functools.partial(split_write, chain)))


def pull_view_kernel(chain: ViewChain, size: tuple[int, ...], dtype: Any, cotangent: Any, starts: Any) -> Any:
    """Returns what `pull_view` does, by a kernel that later processes find."""
    return _pulling(chain, size, dtype)(cotangent, starts)


def split_write_kernel(chain: ViewChain, cotangent: Any, starts: Any) -> Any:
    """Returns what `split_write` does, by a kernel that later processes find."""
    return _splitting(chain)(cotangent, starts)


_add_kernel = jax.jit(lambda a, b: a + b)


def add_arrays(a: Array, b: Array) -> Any:
    """Returns the sum of two gradients of one tensor, eagerly."""
    if type(a) is AbstractArray or type(b) is AbstractArray:
        return abstract_like(a)
    return _add_kernel(a, b)
