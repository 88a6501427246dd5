"""What flows through views and writes: reads by windows, and the gradients of both."""

from __future__ import annotations

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


pull_view_kernel = jax.jit(pull_view, static_argnums=(0, 1, 2))
split_write_kernel = jax.jit(split_write, static_argnums=0)
_add_kernel = jax.jit(lambda a, b: a + b)


def add_arrays(a: Array, b: Array) -> Any:
    """Returns the sum of two gradients of one tensor, eagerly."""
    if type(a) is AbstractArray or type(b) is AbstractArray:
        return abstract_like(a)
    return _add_kernel(a, b)
