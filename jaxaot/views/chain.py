"""View steps: how one tensor is a view of another, step by step.

A *step* knows two things: the geometry (size, stride, offset) of the view, by PyTorch's rules, and the same view as a
function of the parent's values, which is what gradients flow through. Values themselves are never read through a chain
of steps: the geometry of a tensor alone decides its window (`views/window.py`).
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple, final

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._immutable import immutable
from jaxaot._typing import Array, Shape
from jaxaot.errors import ViewError
from jaxaot.views.index_dtype import place_numbers
from jaxaot.views.layout import contiguous_stride, memory_places, view_stride
from jaxaot.views.window import flip_sign, reinterpret


class Geometry(NamedTuple):
    """What a tensor shows of its storage's memory."""

    size: Shape
    stride: Shape
    offset: int


class AbstractViewOp(abc.ABC):
    """One step from a tensor to a view of it.

    `starts` are the numbers of a step that change from call to call (the index of a select, the start of a slice); they
    are operands of eager kernels, so that one kernel serves all of them. `template` is the step without them.
    """

    @abc.abstractmethod
    def geometry(self, parent: Geometry) -> Geometry:
        """Returns where the view lies.

        Raises:
          ViewError: If strides cannot express it.
        """

    @abc.abstractmethod
    def apply(self, x: Array, starts: Sequence[Any] | None = None) -> Array:
        """Returns the view's values from the parent's values; `starts` replaces the step's own."""

    def dtype(self, parent: np.dtype) -> np.dtype:
        """Returns the view's dtype; strides and offset of its geometry count elements of it."""
        return parent

    @property
    def conjugates(self) -> bool:
        """Whether the view shows the conjugates of its parent, or the negatives of real numbers."""
        return False

    @property
    def template(self) -> AbstractViewOp:
        return self

    @property
    def starts(self) -> tuple[int, ...]:
        return ()


@final
@immutable
class Slice(AbstractViewOp):
    """`x[..., start : start + n * step : step, ...]` along `axis`, `n` elements."""

    axis: int
    start: int
    n: int
    step: int = 1

    def geometry(self, parent):
        size, stride = list(parent.size), list(parent.stride)
        offset = parent.offset + self.start * stride[self.axis]
        size[self.axis] = self.n
        stride[self.axis] *= self.step
        return Geometry(tuple(size), tuple(stride), offset)

    def apply(self, x, starts=None):
        span = (self.n - 1) * self.step + 1 if self.n else 0
        if starts is None:
            box = jax.lax.slice_in_dim(x, self.start, self.start + span, axis=self.axis)
        else:
            box = jax.lax.dynamic_slice_in_dim(x, starts[0], span, axis=self.axis)
        return box if self.step == 1 else jax.lax.slice_in_dim(box, 0, span, self.step, self.axis)

    @property
    def template(self):
        return Slice(self.axis, 0, self.n, self.step)

    @property
    def starts(self):
        return (self.start,)


@final
@immutable
class Select(AbstractViewOp):
    """`x[..., index, ...]` along `axis`; the index is not negative."""

    axis: int
    index: int

    def geometry(self, parent):
        drop = lambda dims: dims[: self.axis] + dims[self.axis + 1 :]
        offset = parent.offset + self.index * parent.stride[self.axis]
        return Geometry(drop(parent.size), drop(parent.stride), offset)

    def apply(self, x, starts=None):
        index = self.index if starts is None else starts[0]
        if starts is None:
            return jax.lax.index_in_dim(x, index, self.axis, keepdims=False)
        return jax.lax.dynamic_index_in_dim(x, index, self.axis, keepdims=False)

    @property
    def template(self):
        return Select(self.axis, 0)

    @property
    def starts(self):
        return (self.index,)


@final
@immutable
class Permute(AbstractViewOp):
    """The dims in another order: `transpose`, `permute`, `t`, `movedim`, `swapaxes`."""

    order: tuple[int, ...]

    def geometry(self, parent):
        pick = lambda dims: tuple(dims[axis] for axis in self.order)
        return Geometry(pick(parent.size), pick(parent.stride), parent.offset)

    def apply(self, x, starts=None):
        return jnp.transpose(x, self.order)


@final
@immutable
class Reshape(AbstractViewOp):
    """The same elements under another shape, where strides can express it: `view`, `flatten`, `unflatten`."""

    size: Shape

    def geometry(self, parent):
        stride = view_stride(parent.size, parent.stride, self.size)
        if stride is None:
            raise ViewError(
                "view size is not compatible with input tensor's size and stride (at least one dimension spans across "
                f"two contiguous subspaces): size {list(parent.size)}, stride {list(parent.stride)} as "
                f"{list(self.size)}. Use .reshape(...) instead."
            )
        return Geometry(self.size, stride, parent.offset)

    def apply(self, x, starts=None):
        return jnp.reshape(x, self.size)


@final
@immutable
class Unsqueeze(AbstractViewOp):
    """A new dim of size 1 before `axis`."""

    axis: int

    def geometry(self, parent):
        put = lambda dims, value: (*dims[: self.axis], value, *dims[self.axis :])
        last = self.axis == len(parent.size)
        step = 1 if last else parent.size[self.axis] * parent.stride[self.axis]
        return Geometry(put(parent.size, 1), put(parent.stride, step), parent.offset)

    def apply(self, x, starts=None):
        return jnp.expand_dims(x, self.axis)


@final
@immutable
class Squeeze(AbstractViewOp):
    """Without the dims `axes`, which have size 1."""

    axes: tuple[int, ...]

    def geometry(self, parent):
        keep = lambda dims: tuple(value for axis, value in enumerate(dims) if axis not in self.axes)
        return Geometry(keep(parent.size), keep(parent.stride), parent.offset)

    def apply(self, x, starts=None):
        return jnp.squeeze(x, self.axes)


@final
@immutable
class Expand(AbstractViewOp):
    """Dims of size 1, and new leading dims, repeated without memory. Not a lens: such a view cannot be written."""

    size: Shape

    def geometry(self, parent):
        if not parent.size:
            return Geometry(self.size, (0,) * len(self.size), parent.offset)
        missing = len(self.size) - len(parent.size)
        stride = [0] * missing
        for n, t, target in zip(parent.size, parent.stride, self.size[missing:], strict=True):
            stride.append(t if n == target else 0)
        for axis in range(missing - 1, -1, -1):
            if self.size[axis] == 1:  # as a contiguous dim there would have
                stride[axis] = self.size[axis + 1] * stride[axis + 1]
        return Geometry(self.size, tuple(stride), parent.offset)

    def apply(self, x, starts=None):
        return jnp.broadcast_to(x, self.size)


@final
@immutable
class Diagonal(AbstractViewOp):
    """The diagonal of the plane (`axis1`, `axis2`), `shift` above the main one, as a new last dim."""

    shift: int
    axis1: int
    axis2: int

    def geometry(self, parent):
        rows, columns = parent.size[self.axis1], parent.size[self.axis2]
        if self.shift >= 0:
            n = max(min(rows, columns - self.shift), 0)
        else:
            n = max(min(rows + self.shift, columns), 0)
        offset = parent.offset
        if n:
            offset += (
                self.shift * parent.stride[self.axis2] if self.shift >= 0 else -self.shift * parent.stride[self.axis1]
            )
        drop = lambda dims: tuple(v for axis, v in enumerate(dims) if axis not in (self.axis1, self.axis2))
        step = parent.stride[self.axis1] + parent.stride[self.axis2]
        return Geometry((*drop(parent.size), n), (*drop(parent.stride), step), offset)

    def apply(self, x, starts=None):
        return jnp.diagonal(x, self.shift, self.axis1, self.axis2)


@final
@immutable
class Unfold(AbstractViewOp):
    """Windows of `length` elements every `step` along `axis`, as a new last dim; they overlap if `step < length`."""

    axis: int
    length: int
    step: int

    def geometry(self, parent):
        size, stride = list(parent.size), list(parent.stride)
        n = (size[self.axis] - self.length) // self.step + 1
        last = stride[self.axis]
        size[self.axis] = n
        stride[self.axis] *= self.step
        return Geometry((*size, self.length), (*stride, last), parent.offset)

    def apply(self, x, starts=None):
        n = (x.shape[self.axis] - self.length) // self.step + 1
        places = np.arange(n)[:, None] * self.step + np.arange(self.length)
        windows = jnp.take(x, jnp.asarray(places), axis=self.axis)
        return jnp.moveaxis(windows, self.axis + 1, -1)


@final
@immutable
class AsStrided(AbstractViewOp):
    """Any (size, stride, offset) of the storage.

    Attributes:
      parent: Geometry of the tensor it is taken from, which says where that tensor's elements lie.
    """

    size: Shape
    stride: Shape
    offset: int
    parent: Geometry

    def geometry(self, parent):
        return Geometry(self.size, self.stride, self.offset)

    def apply(self, x, starts=None):
        # for each element of the view, the parent's element at the same place of memory; zero where there is none
        wanted, shown = memory_places(self.size, self.stride, self.offset).ravel(), memory_places(*self.parent).ravel()
        order = np.argsort(shown, kind="stable")
        found = np.minimum(np.searchsorted(shown[order], wanted), max(shown.size - 1, 0))
        if not shown.size or not wanted.size:
            return jnp.zeros(self.size, x.dtype)
        source = order[found]
        is_there = shown[source] == wanted
        values = jnp.where(jnp.asarray(is_there), x.ravel()[jnp.asarray(source)], jnp.zeros((), x.dtype))
        return values.reshape(self.size)


@final
@immutable
class Conjugate(AbstractViewOp):
    """The conjugates of complex numbers, or the negatives of real ones, on the same memory."""

    def geometry(self, parent):
        return parent

    def apply(self, x, starts=None):
        return flip_sign(x)

    @property
    def conjugates(self):
        return True


@final
@immutable
class AsReal(AbstractViewOp):
    """Complex numbers as pairs of floats, in a new last dim."""

    def geometry(self, parent):
        return Geometry((*parent.size, 2), (*(2 * s for s in parent.stride), 1), 2 * parent.offset)

    def apply(self, x, starts=None):
        return jnp.stack([jax.lax.real(x), jax.lax.imag(x)], -1)

    def dtype(self, parent):
        return np.dtype(f"f{parent.itemsize // 2}")


@final
@immutable
class AsComplex(AbstractViewOp):
    """Pairs of floats, along the last dim, as complex numbers."""

    def geometry(self, parent):
        if not parent.size:
            raise ViewError("Input tensor must have one or more dimensions")
        if parent.size[-1] != 2:
            raise ViewError("Tensor must have a last dimension of size 2")
        if parent.stride[-1] != 1:
            raise ViewError("Tensor must have a last dimension with stride 1")
        if parent.offset % 2:
            raise ViewError("Tensor must have a storage_offset divisible by 2")
        if any(s % 2 for s in parent.stride[:-1]):
            raise ViewError("Tensor must have a stride divisible by 2 for all but last dimension")
        return Geometry(parent.size[:-1], tuple(s // 2 for s in parent.stride[:-1]), parent.offset // 2)

    def apply(self, x, starts=None):
        return jax.lax.complex(x[..., 0], x[..., 1])

    def dtype(self, parent):
        return np.dtype(f"c{parent.itemsize * 2}")


@final
@immutable
class AsDtype(AbstractViewOp):
    """The same bytes read as another dtype; the last dim grows or shrinks with the size of an element.

    Attributes:
      held: Dtype of the parent.
      wanted: Dtype of the view.
    """

    held: np.dtype
    wanted: np.dtype

    def geometry(self, parent):
        old, new = self.held.itemsize, self.wanted.itemsize
        if old == new:
            return parent
        what = f"to view {self.held} as {self.wanted} (different element sizes)"
        if not parent.size:
            raise ViewError(f"self.dim() cannot be 0 {what}")
        if parent.stride[-1] != 1:
            raise ViewError(f"self.stride(-1) must be 1 {what}, but got {parent.stride[-1]}")
        if old > new:
            ratio = old // new
            size = (*parent.size[:-1], parent.size[-1] * ratio)
            return Geometry(size, (*(s * ratio for s in parent.stride[:-1]), 1), parent.offset * ratio)
        ratio = new // old
        divided = {"size(-1)": parent.size[-1], "storage_offset()": parent.offset}
        divided |= {f"stride({axis})": stride for axis, stride in enumerate(parent.stride[:-1])}
        for name, number in divided.items():
            if number % ratio:
                raise ViewError(f"self.{name} must be divisible by {ratio} {what}, but got {number}")
        size = (*parent.size[:-1], parent.size[-1] // ratio)
        return Geometry(size, (*(s // ratio for s in parent.stride[:-1]), 1), parent.offset // ratio)

    def apply(self, x, starts=None):
        size = self.geometry(Geometry(x.shape, contiguous_stride(x.shape), 0)).size
        return reinterpret(x.reshape(-1), self.wanted).reshape(size)

    def dtype(self, parent):
        return self.wanted


ViewChain = tuple[AbstractViewOp, ...]
"""Steps from a base tensor to a view of it, in order."""


def apply_chain(chain: ViewChain, x: Array, starts: Sequence[Any] | None = None) -> Array:
    """Returns the values at the end of a chain; `starts` holds one entry for each number of `chain_starts(chain)`."""
    position = 0
    for step in chain:
        if starts is None:
            x = step.apply(x)
        else:
            n = len(step.starts)
            x = step.apply(x, starts[position : position + n] if n else None)
            position += n
    return x


def chain_dtype(chain: ViewChain, dtype: np.dtype) -> np.dtype:
    """Returns the dtype at the end of a chain from a base of that dtype."""
    for step in chain:
        dtype = step.dtype(dtype)
    return dtype


def chain_size(chain: ViewChain, size: Shape) -> Shape:
    """Returns the shape at the end of a chain from a base of that shape."""
    geometry = Geometry(size, contiguous_stride(size), 0)
    for step in chain:
        geometry = step.geometry(geometry)
    return geometry.size


def chain_template(chain: ViewChain) -> ViewChain:
    """Returns a chain without its numbers."""
    return tuple(step.template for step in chain)


def chain_starts(chain: ViewChain) -> np.ndarray:
    """Returns the numbers that change from call to call, as an operand of kernels."""
    starts = [start for step in chain for start in step.starts]
    return place_numbers(starts, max(starts, default=0))
