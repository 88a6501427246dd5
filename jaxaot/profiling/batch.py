"""largest_batch(fn, *args): the largest batch that fits into some memory.

The function is looked at once for a batch of a large prime. An axis whose length that prime divides is one of the
batch, so that the memory for any other batch follows from the same graph. What comes out is looked at again as it is.
If the estimate is the one that was expected, the next larger batch does not fit, as expected; if not, the batches
around it are looked at one by one.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxaot import _trees as pytree
from jaxaot._jax import Tracer
from jaxaot._progress import working
from jaxaot._util import collector, format_bytes
from jaxaot.errors import ArgumentError, BudgetError
from jaxaot.ir.roofline import Target, assuming, find_target
from jaxaot.ir.walk import aval_bytes
from jaxaot.partition.budget import check_budget, parse_fit, parse_size
from jaxaot.partition.policies import get_policy
from jaxaot.profiling.arguments import check_shapes, require_function
from jaxaot.profiling.modules import as_function
from jaxaot.profiling.profile import Asked, Estimate, estimate, name_of, traced_shapes

_PRIME = 100_003
_MAX_TRIES = 24
_MAX_TURNS = 400
_ANY = 2**80
"""A batch beyond which the memory does not depend on it."""


def largest_batch(
    fn: Callable[..., Any],
    /,
    *args: object,
    memory: int | str | Target,
    memory_budget: float | str | None = None,
    batch: Mapping[int, int] | None = None,
    backward: bool = True,
    target: str | Target | None = None,
    policy: str | Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
) -> int:
    """Returns the largest batch for which all that is in use at any time fits into some memory, by estimate.

        ja.estimate.largest_batch(loss, params, images, labels, memory="16GiB", memory_budget=0.3)

    Nothing is computed. The memory counted is that of parameters, gradients, data, results, what is kept and what is
    in use in between; the states of an optimizer are not in it.

    Args:
      fn: A function or a module, as `ja.estimate.profile` takes it.
      *args: Its arguments, for any batch.
      memory: Bytes, a text such as `"16GiB"`, or a target, whose memory it is.
      memory_budget: The most that may be kept for the backward, see `ja.compile`.
      batch: For each argument that has a batch its dim, such as `{1: 0, 2: 0}`, counted from 0. By default it is the
        first dim of the arrays in those arguments that are not differentiated: of those that are as long as most.
      backward: Whether it is differentiated.
      target: The device, whose roofline says what is worth keeping; by default the one in use.
      policy: What may be kept.
      argnums: The arguments to differentiate.

    Where the function cannot be traced for any batch, such as one that has to be divided by 8, the batches are
    multiples of the one that is given.

    Raises:
      BudgetError: If not even the smallest batch fits, or the memory or the budget cannot be read.
      ArgumentError: If there is no such dim, or the memory does not depend on it.
    """
    require_function(fn, "ja.estimate.largest_batch")
    limit, found = parse_size(memory), find_target(target)
    check_budget(memory_budget)
    if policy is not None:
        get_policy(policy)
    check_shapes(args, "ja.estimate.largest_batch")
    call, arguments = as_function(fn, args)
    n_before = len(arguments) - len(args)
    numbers = argnums if isinstance(argnums, int) else tuple(argnums)
    first = (numbers,) if isinstance(numbers, int) else numbers
    differentiated = () if n_before else tuple(i % max(1, len(args)) for i in first)
    shaped = _Batched(args, batch, differentiated)
    asked = Asked(backward, found, memory_budget, policy, numbers)

    def sized(n: int) -> Estimate:
        types = (*arguments[:n_before], *shaped.with_batch(n))
        return estimate(traced_shapes(call, types, {}), asked)

    with collector.waits(), assuming(found), working("the largest batch"):
        return _Search(sized, limit, shaped.given, name_of(call), parse_fit(memory_budget) is not None).run()


class _Batched:
    """Arguments whose batch can be changed.

    Attributes:
      given: The batch that they have.
    """

    def __init__(self, args: Sequence[Any], batch: Mapping[int, int] | None, differentiated: Sequence[int]):
        """Finds the dims of the batch.

        Raises:
          ArgumentError: If there are none, or some have another length than others.
        """
        self._args = args
        self._dims = self._said(batch) if batch is not None else self._first(differentiated)
        sizes = {leaf.shape[dim] for leaf, dim in self._leaves()}
        if len(sizes) > 1:
            raise ArgumentError(
                f"The dims that `batch={dict(batch or {})}` names have different lengths: {sorted(sizes)}. They are "
                "one batch, so pass arguments that agree."
            )
        self.given = max(1, sizes.pop())

    def _said(self, batch: Mapping[int, int]) -> dict[int, Callable[[Any], int | None]]:
        dims: dict[int, Callable[[Any], int | None]] = {}
        for position, dim in batch.items():
            if not (isinstance(position, int) and isinstance(dim, int) and 0 <= position < len(self._args)):
                raise ArgumentError(
                    f"`batch={dict(batch)}` names the argument {position!r}, and there are {len(self._args)}. Write "
                    "positions and dims, both counted from 0, such as `batch={1: 0}`."
                )
            short = [leaf.shape for leaf in _arrays(self._args[position]) if not -leaf.ndim <= dim < leaf.ndim]
            if short or not _arrays(self._args[position]):
                shapes = f"an array of shape {short[0]}" if short else "no array"
                raise ArgumentError(
                    f"`batch={dict(batch)}` names dim {dim} of argument {position}, which has {shapes}."
                )
            dims[position] = lambda leaf, dim=dim: dim % leaf.ndim
        if not dims:
            raise ArgumentError("`batch={}` names no dim, so there is nothing to make larger.")
        return dims

    def _first(self, differentiated: Sequence[int]) -> dict[int, Callable[[Any], int | None]]:
        data = [i for i in range(len(self._args)) if i not in differentiated]
        lengths = Counter(leaf.shape[0] for i in data for leaf in _arrays(self._args[i]) if leaf.ndim)
        if not lengths:
            raise ArgumentError(
                "There is no batch: no argument that is not differentiated has an array with a dim. Say where it is: "
                "`ja.estimate.largest_batch(fn, *args, memory=…, batch={0: 0})`."
            )
        usual = lengths.most_common(1)[0][0]
        return dict.fromkeys(data, lambda leaf: 0 if leaf.ndim and leaf.shape[0] == usual else None)

    def _leaves(self) -> list[tuple[Any, int]]:
        pairs = ((leaf, dim_of(leaf)) for i, dim_of in self._dims.items() for leaf in _arrays(self._args[i]))
        return [(leaf, dim) for leaf, dim in pairs if dim is not None]

    def with_batch(self, n: int) -> tuple[Any, ...]:
        """Returns the types of the arguments for a batch."""
        return tuple(
            pytree.mapped(lambda leaf, i=i: self._resized(leaf, self._dims.get(i), n), arg)
            for i, arg in enumerate(self._args)
        )

    @staticmethod
    def _resized(leaf: Any, dim_of: Callable[[Any], int | None] | None, n: int) -> Any:
        if dim_of is None or not _is_array(leaf):
            return leaf
        dim = dim_of(leaf)
        if dim is None:
            return leaf
        return jax.ShapeDtypeStruct((*leaf.shape[:dim], n, *leaf.shape[dim + 1 :]), leaf.dtype)


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.ShapeDtypeStruct | jax.Array | np.ndarray) and not isinstance(leaf, Tracer)


def _arrays(tree: Any) -> list[Any]:
    return [leaf for leaf in pytree.leaves(tree) if _is_array(leaf)]


@dataclasses.dataclass
class _Search:
    """Looks for the largest batch.

    Attributes:
      sized: Takes a batch to what is estimated for it.
      limit: The memory, in bytes.
      given: The batch of the arguments.
      name: What the function is called.
      adapts: Whether what is kept is chosen so that it fits, so that memory does not follow from another batch's.
    """

    sized: Callable[[int], Estimate]
    limit: int
    given: int
    name: str
    adapts: bool

    def run(self) -> int:
        """Returns the largest batch that fits.

        Raises:
          BudgetError: If none does.
          ArgumentError: If all do.
        """
        unit, expected = 1, None
        if not self.adapts:
            unit, expected = self._expectation()
        first, is_last = max(1, self.given // unit), lambda low, peak: False
        if expected is not None:
            first = max(1, _largest(expected, self.limit, 1, _MAX_TURNS))
            if first > _ANY:
                raise ArgumentError(
                    f"The memory of `{self.name}` does not depend on its batch, so that any fits. Say which dims are "
                    "the batch: `ja.estimate.largest_batch(fn, *args, memory=…, batch={1: 0})`."
                )
            is_last = functools.partial(self._is_last, expected)
        low = _largest(lambda n: self._peak(n * unit), self.limit, first, _MAX_TRIES, is_last)
        if not low:
            least = self._peak(unit)
            needs = "" if least is None else f": a batch of {unit} needs about {format_bytes(least)}"
            raise BudgetError(
                f"`{self.name}` does not fit into {format_bytes(self.limit)} for any batch{needs}. Write "
                "`memory_budget=0.3` or `policy='save_nothing'` to keep less for the backward, or take a larger memory."
            )
        return low * unit

    def _expectation(self) -> tuple[int, Callable[[int], int] | None]:
        """Returns the unit of batches, and what takes a batch in units to the memory that is expected."""
        unit, found = 1, None
        try:
            found = self.sized(_PRIME)
        except (BudgetError, ArgumentError):
            raise
        except Exception:  # whatever a function raises that takes only some batches
            unit = self.given
            found = self.sized(_PRIME * unit)
        return unit, functools.cache(lambda n: found.peak_bytes(lambda aval: _size_at(aval, n)))

    def _peak(self, batch: int) -> int | None:
        """Returns the memory for a batch, looked at as it is; None if it cannot be made to fit."""
        try:
            with working(f"`{self.name}` at a batch of {batch}"):
                return self.sized(batch).peak_bytes()
        except BudgetError:
            return None

    def _is_last(self, expected: Callable[[int], int], low: int, peak: int) -> bool:
        """Returns whether one more does not fit, as the memory of a batch is about the one that was expected.

        What is constant may differ from batch to batch, such as a divisor that is saved in one and not in another.
        """
        grows, differs = expected(low + 1) - expected(low), peak - expected(low)
        return 100 * abs(differs) < grows and expected(low + 1) - abs(differs) > self.limit


def _largest(
    memory: Callable[[int], int | None], limit: int, guess: int, tries: int,
    is_last: Callable[[int, int], bool] = lambda low, peak: False,
) -> int:  # fmt: skip
    """Returns the largest number of which the memory is within a limit, 0 if there is none; about that after `tries`.

    Between two numbers the memory is taken to grow in a straight line, and every third turn halves what is left, as
    bends of it would have the line come no nearer.
    """
    known: dict[int, int | None] = {}
    low, step = 0, 1
    high: int | None = None
    for turn in range(tries):
        peak = known[guess] = memory(guess)
        if peak is not None and peak <= limit:
            low, step = max(low, guess), 2 * step
            if is_last(low, peak) or low > _ANY:
                return low
        else:
            high = guess if high is None else min(high, guess)
        if high is None:
            guess = low + step
        elif high - low <= 1:
            break
        else:
            below, above = known.get(low, 0), known[high]
            guess = (low + high) // 2
            if turn % 3 != 2 and below is not None and above is not None and above > below:
                guess = low + (limit - below) * (high - low) // (above - below)
            guess = min(max(guess, low + 1), high - 1)
    return low


def _size_at(aval: Any, n: int) -> int:
    """Returns the bytes of a value of a type, with `n` in place of the prime."""
    shape = getattr(aval, "shape", None)
    if not shape or all(size % _PRIME for size in shape):
        return aval_bytes(aval)
    n_bytes = aval_bytes(aval)
    for size in shape:
        while size and size % _PRIME == 0:
            size, n_bytes = size // _PRIME, n_bytes // _PRIME * n
    return n_bytes
