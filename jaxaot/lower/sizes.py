"""Sizes that change, of the calls of one function: which have the program of a bucket, which one of their own, and why.

Each call is traced at its size. If that trace is like the ones that the program of its bucket was made of, the program
runs it on padded arrays; see `size_class.py`. What a call is made of, and how it is traced and compiled, is said by a
`SizedCall`: `sized.py` has those of arrays, `runtime/sizes.py` those of tensors.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import jax

from jaxaot import settings
from jaxaot._jax import is_key_dtype
from jaxaot._util import shown, signature_of
from jaxaot.buckets.policy import Buckets, Given, read_buckets
from jaxaot.errors import UsageError
from jaxaot.lower.bucket_sharding import why_not_padded
from jaxaot.lower.size_class import (
    CannotRunError,
    Fit,
    Made,
    Place,
    Shapes,
    SizeClass,
    SizedCall,
    described,
    shown_shapes,
)

Dims: TypeAlias = "int | Sequence[int] | Mapping[int, Given]"
"""How users say which dims of an argument change: one, several, or each with its buckets."""
Dynamic: TypeAlias = "bool | Mapping[str, Dims]"
Said: TypeAlias = "Mapping[str, Mapping[int, Buckets]]"
"""By name of an argument the dims that change, with their buckets."""

NOTHING_CHANGES = "no size of it has changed so far"


class Sizes:
    """What is known of the sizes that the calls of one function had.

    Attributes:
      fits: How calls run in buckets, by what calls of other sizes have in common and their shapes.
      refused: Why others have programs of their own, by the same.
    """

    def __init__(self, name: str, learns: Buckets | None):
        """Begins; `learns` are the buckets of axes that are seen to change, None if only what was said changes."""
        self._name, self._learns = name, learns
        self._classes: dict[Any, SizeClass] = {}
        self.fits: dict[tuple[Any, Shapes], Fit] = {}
        self.refused: dict[tuple[Any, Shapes], str] = {}

    def sees(self, call: SizedCall) -> SizeClass:
        """Notes the sizes of a call, and returns its class: a program is made for what is known to go together."""
        found = self._class_of(call)
        found.sees(call.shapes)
        return found

    def fit(self, call: SizedCall) -> Fit | str:
        """Returns how a call runs in the program of its bucket, or why it has a program of its own."""
        is_guess = call.key not in self._classes and not call.places and bool(call.guesses)
        found = self._fit(call, self.sees(call), call.shapes)
        if isinstance(found, str) and is_guess:  # not all that may change does: from now on, what is seen to
            self._classes[call.key] = self._new_class(call, {})
            self.sees(call)
        at = call.key, call.shapes
        if isinstance(found, str):
            self.refused[at] = found
        else:
            self.fits[at] = found
        return found

    def _fit(self, call: SizedCall, size_class: SizeClass, shapes: Shapes) -> Fit | str:
        if not size_class.places:
            return NOTHING_CHANGES
        for i in {i for i, _ in size_class.places if i in call.arrays}:
            array = call.arrays[i]
            if is_key_dtype(array.dtype):
                return "an axis of random keys changes its size"
            why = why_not_padded(array) if isinstance(array, jax.Array) else None
            if why is not None:
                return why
        try:
            found = size_class.fit(call, shapes)
        except CannotRunError as error:
            return str(error)
        return found if isinstance(found, str) else call.finished(found)

    def fits_up_to(self, call: SizedCall, example: str) -> Iterator[Fit]:
        """Yields how calls run in the programs of all buckets up to the sizes of a call; arguments as of `up_to`."""
        for shapes in self.up_to(call, example):
            fit = self._fit(call, self._classes[call.key], shapes)
            if isinstance(fit, Fit):
                yield fit

    def up_to(self, call: SizedCall, example: str) -> list[Shapes]:
        """Returns the shapes of calls like one at all buckets up to its sizes.

        Args:
          call: The call.
          example: How users say which dims change.

        Raises:
          UsageError: If no dim is known to change.
        """
        size_class = self.sees(call)
        choices = size_class.choices(call.shapes)
        if not choices:
            raise UsageError(
                "`warm_up` compiles the programs of all buckets, and no dim is known to change. Say which do, "
                f"`{example}`, or call the function with two sizes first."
            )
        every = itertools.product(*choices.values())
        return [size_class.shapes_at(call.shapes, dict(zip(choices, sizes, strict=True))) for sizes in every]

    def forget(self, made: Made) -> None:
        """Lets the program of a bucket go."""
        for size_class in self._classes.values():
            size_class.forget(made)
        self.fits = {at: fit for at, fit in self.fits.items() if fit.made is not made}

    @property
    def n_made(self) -> int:
        """How many programs of buckets there are."""
        return sum(len(size_class.programs) for size_class in self._classes.values())

    def described(self) -> Iterator[str]:
        """Yields what is known of sizes: buckets, classes, masks, waste, and why calls are compiled exactly."""
        for size_class in self._classes.values():
            for made in size_class.programs:
                sizes = {shapes: fit for (_, shapes), fit in self.fits.items() if fit.made is made}
                yield from described(made, list(sizes.items()))
        known = dict.fromkeys(shapes for _, shapes in (*self.fits, *self.refused))
        first = {len(shapes): shapes for shapes in reversed(known)}
        moving = {
            (len(shapes), i) for shapes in known for i, shape in enumerate(shapes) if shape != first[len(shapes)][i]
        }
        for shapes, why in {shapes: why for (_, shapes), why in self.refused.items()}.items():
            which = [i for i in range(len(shapes)) if (len(shapes), i) in moving]
            yield f"exactly {shown_shapes(shapes, which)}: {why}"

    def _class_of(self, call: SizedCall) -> SizeClass:
        found = self._classes.get(call.key)
        if found is None:
            found = self._classes[call.key] = self._new_class(call, call.places or call.guesses)
        for place, buckets in call.places.items():
            found.places.setdefault(place, buckets)
        found.keeps(call.fixed)
        return found

    def _new_class(self, call: SizedCall, places: Mapping[Place, Buckets]) -> SizeClass:
        return SizeClass(dict(places), self._learns, self._name, settings.get().check_graphs, call.parts)


def axes_said(name: str, said: Said, rank: int, what: str) -> Iterator[tuple[int, Buckets]]:
    """Yields the axes of an array of an argument that were said to change, with their buckets.

    Args:
      name: The argument.
      said: What was said.
      rank: How many axes the array has.
      what: What the array is, in words.

    Raises:
      UsageError: If it has no such axis.
    """
    for dim, buckets in said.get(name, {}).items():
        if not -rank <= dim < rank:
            raise UsageError(f"`dynamic` says that dim {dim} of `{name}` changes, and {what} of it has {rank} dims.")
        yield dim % rank, buckets


def read_dims(fn: Callable[..., Any], dynamic: Any, buckets: Buckets) -> dict[str, dict[int, Buckets]]:
    """Returns by name of an argument the dims that change, with their buckets.

    Raises:
      UsageError: If that is not what was said.
    """
    if not isinstance(dynamic, Mapping):
        raise UsageError(
            f"`dynamic={dynamic!r}` says no dims. Write True for those that are seen to change, or "
            '`dynamic={"ids": (0, 1)}` for dims of the arguments that have these names.'
        )
    signature = signature_of(fn)
    parameters = {} if signature is None else signature.parameters
    found = {}
    for name, dims in dynamic.items():
        takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        if signature is not None and not takes_any and name not in parameters:
            raise UsageError(f"`dynamic` names `{name}`, and {shown(fn)} has the arguments {', '.join(parameters)}.")
        if isinstance(dims, Mapping):
            found[name] = {dim: read_buckets(given) for dim, given in dims.items()}
        else:
            found[name] = dict.fromkeys((dims,) if isinstance(dims, int) else dims, buckets)
        if not found[name] or not all(isinstance(dim, int) and not isinstance(dim, bool) for dim in found[name]):
            raise UsageError(
                f"`dynamic={{{name!r}: {dims!r}}}` says no dims. Write a number or several, such as (0, 1)."
            )
    return found
