"""What values take in the memory of a device.

On CPU and GPU that is their bytes. TPUs keep arrays in tiles of 8 rows of 128 elements, over two dims that the compiler
chooses: both are padded to whole tiles. It chooses those of least padding, but for what convolutions read and write:
there they are batch and features, so that an image of 64 features takes twice its bytes. An input of the program lies
as compactly as it can, and is copied for a convolution that reads it in another way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jaxaot._immutable import immutable
from jaxaot._jax import Literal
from jaxaot._typing import Atom, Aval, Eqn, Jaxpr
from jaxaot.ir.placements import Placements
from jaxaot.ir.primitives import Kind, kind
from jaxaot.ir.roofline import Target
from jaxaot.ir.walk import aval_bytes, sub_jaxprs, variables

Size = Callable[[Any], int]
"""Takes a type to the bytes that a value of it takes."""

_ROWS, _LANES = 8, 128


@immutable
class Footprint:
    """What values of some graphs take.

    Attributes:
      value: The size of what is computed.
      held: The size of inputs and outputs.
      parts: Which part of each value one device holds, in each of the graphs; all of those that none knows.
    """

    value: Size = aval_bytes
    held: Size = aval_bytes
    parts: tuple[Placements, ...] = ()

    def of(self, atom: Atom, is_held: bool = False) -> int:
        """Returns what a value of the graphs takes on one device: one that is computed, or an input or output."""
        return (self.held if is_held else self.value)(_part(atom, self.parts))

    def copied(self, jaxpr: Jaxpr) -> int:
        """Returns the bytes of the copies of inputs of a graph that its convolutions read."""
        if self.value is self.held:
            return 0
        inputs = set(jaxpr.invars)
        read = {var for eqn in _convolutions(jaxpr) for var in variables(eqn.invars) if var in inputs}
        return sum(self.of(var) for var in read if self.of(var) > self.of(var, is_held=True))


def _part(atom: Atom, parts: Sequence[Placements]) -> Aval:
    found = next((known for known in parts if not isinstance(atom, Literal) and atom in known.of), None)
    return atom.aval if found is None else found.part(atom)


def footprint_on(target: Target, *jaxprs: Jaxpr, parts: tuple[Placements, ...] = ()) -> Footprint:
    """Returns what values of some graphs take on a device; `parts` as of `Footprint`."""
    if not target.has_tiles:
        return Footprint(parts=parts)
    images = {image for jaxpr in jaxprs for eqn in _convolutions(jaxpr) for image in _images(eqn, parts)}
    by_shape = dict(images)
    ends = {(shape[0], shape[-1]) for shape, dims in images if set(dims) == {0, len(shape) - 1}}

    def value(aval: Aval) -> int:
        shape = getattr(aval, "shape", ())
        dims = by_shape.get(shape)
        if dims is None and len(shape) > 3 and (shape[0], shape[-1]) in ends:  # an image in another arrangement
            dims = 0, len(shape) - 1
        if dims is None:
            return compact_bytes(aval)
        return min(_padded_bytes(aval, *dims), _padded_bytes(aval, *dims[::-1]))

    return Footprint(value, compact_bytes, parts)


def compact_bytes(aval: Aval) -> int:
    """Returns the bytes of a value in tiles over the two dims of least padding."""
    n_dims = len(getattr(aval, "shape", ()))
    if n_dims < 2:
        return aval_bytes(aval)
    pairs = ((i, k) for i in range(n_dims) for k in range(n_dims) if i != k)
    return min(_padded_bytes(aval, *pair) for pair in pairs)


def _padded_bytes(aval: Aval, row: int, lane: int) -> int:
    """Returns the bytes of a value in tiles over two of its dims; few rows are a smaller tile."""
    n_elements = math.prod(aval.shape)
    if not n_elements:
        return 0
    n_rows, n_lanes = aval.shape[row], aval.shape[lane]
    rows = min(_ROWS, 1 << (n_rows - 1).bit_length())
    padded = n_elements // (n_rows * n_lanes) * (-(-n_rows // rows) * rows) * (-(-n_lanes // _LANES) * _LANES)
    return aval_bytes(aval) // n_elements * padded


def _convolutions(jaxpr: Jaxpr) -> Iterator[Eqn]:
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "conv_general_dilated":
            yield eqn
        elif kind(eqn) >= Kind.CONVOLUTION:
            for body in sub_jaxprs(eqn):
                yield from _convolutions(body)


def _images(eqn: Eqn, parts: Sequence[Placements]) -> Iterator[tuple[tuple[int, ...], tuple[int, int]]]:
    """Yields the shapes of the image that a convolution reads and of the one that it writes, with batch and features.

    Where it computes the gradient of a kernel, which sums over the batch, that is what it reads, twice.
    """
    numbers = eqn.params["dimension_numbers"]
    specs: Sequence[Sequence[int]] = (numbers.lhs_spec, numbers.out_spec)
    atoms = (eqn.invars[0], eqn.outvars[0])
    if numbers.lhs_spec[0] != numbers.out_spec[0]:
        specs, atoms = (numbers.lhs_spec, numbers.rhs_spec), tuple(eqn.invars)
    for atom, spec in zip(atoms, specs, strict=True):
        yield tuple(_part(atom, parts).shape), (spec[0], spec[1])
