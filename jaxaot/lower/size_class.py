"""Programs for calls that differ in sizes alone: which sizes go together, which bucket has a program, what it is.

A *size class* is all calls of a function whose arguments are alike but for the sizes of some axes, its *places*.
Places whose sizes were equal in each call so far form a *group*. A group has one size in a call, and so one bucket.
"""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import Var, is_key_dtype
from jaxaot._typing import ClosedJaxpr
from jaxaot.buckets.policy import Buckets, imagined_sizes
from jaxaot.buckets.rules import RULES
from jaxaot.buckets.writer import BucketProgram, RefusedError, prepare_program
from jaxaot.ir.alignment import NotAlikeError, Values, align, values_in
from jaxaot.ir.extents import Extent, is_padded
from jaxaot.ir.rewrite import first_outputs, inline
from jaxaot.ir.walk import check_sizes
from jaxaot.lower.bucket_sharding import Parts
from jaxaot.lower.padding import Crop, crop_of, padded
from jaxaot.passes.attempt import attempt
from jaxaot.passes.dce import dce

Place: TypeAlias = tuple[int, int]
"""The position of an array among those of a call, and one of its axes."""
Shapes: TypeAlias = tuple[tuple[int, ...], ...]


class Graph(NamedTuple):
    """A trace of a call.

    Attributes:
      closed: The graph, calls in it opened, without dead code.
      origin: What else is known of the trace: whoever made it says what, and is given it back.
      donated: The positions of the arrays that the call gives away.
    """

    closed: ClosedJaxpr
    origin: Any
    donated: tuple[int, ...] = ()


def graph_of(traced: Any) -> Graph:
    """Returns what `jax.jit(fn).trace(...)` found."""
    check_sizes(traced.jaxpr.jaxpr)
    donated = tuple(i for i, leaf in enumerate(jax.tree.leaves(traced.args_info)) if leaf.donated)
    return Graph(dce(inline(traced.jaxpr, also_custom=True)), traced.out_tree, donated)


class CannotRunError(Exception):
    """Nothing runs a graph at its bucket; the message says why."""


class Made:
    """The program of a bucket.

    Attributes:
      program: How it was written.
      graph: What it is, with inputs for the classes first.
      run: Takes (sizes, numbers, tables, arrays) to the outputs at the bucket; or what else was made of the graph.
      shapes: Those of the arrays.
      moving: The positions of the arrays whose sizes change.
      extents: The axes of the values in its graph, as long as it is being made.
      origins: What else is known of the traces that it was made of.
    """

    def __init__(
        self, program: BucketProgram, graph: ClosedJaxpr, run: Any, shapes: Shapes, moving: tuple[int, ...] = ()
    ):
        self.program, self.graph, self.run, self.shapes, self.moving = program, graph, run, shapes, moving
        self.extents: dict[Any, tuple[Extent, ...]] = {}
        self.origins: tuple[Any, Any] | None = None

    def compile(self, compiled: Callable[[Made, str, Graph], Any], name: str, large: Graph) -> None:
        """Has a `SizedCall.compiled` make what runs it, under a name; `large` is the trace at the bucket."""
        self.run = compiled(self, name, large)
        self.extents = {}


class Fit(NamedTuple):
    """How a call of one size runs in the program of a bucket.

    Attributes:
      made: The program.
      given: The values of the classes, as arrays that the program takes first.
      pads: The arrays that are made larger, and their shapes.
      crops: The outputs that are cut.
      origin: That of the trace at this size.
      waste: How many times the elements of the exact program are computed.
      shardings: How the results lie in the exact program, where that is part of their types.
    """

    made: Made
    given: tuple[Any, ...]
    pads: tuple[tuple[int, tuple[int, ...]], ...]
    crops: tuple[tuple[int, Crop], ...]
    origin: Any
    waste: float
    shardings: tuple[Any, ...] = ()

    def __call__(self, leaves: list[Any]) -> list[Any]:
        """Returns the results of a call for its arrays."""
        for i, shape in self.pads:
            leaves[i] = padded(leaves[i], shape)
        results = list(self.made.run(*self.given, *leaves))
        for i, crop in self.crops:
            results[i] = crop(results[i])
        if self.shardings:
            placed = zip(results, self.shardings, strict=True)
            return [one if one.sharding == there else jax.device_put(one, there) for one, there in placed]
        return results


class SizedCall(Protocol):
    """A call that may run in the program of a bucket.

    Attributes:
      key: What it has in common with calls that differ in sizes alone.
      shapes: The shapes of its arrays.
      arrays: By position, the arrays whose sizes may change.
      parts: The axes that lie over several devices.
      places: The axes that were said to change.
      fixed: Those that were said to stay as they are.
      guesses: Those that may change, where that is tried at once.
    """

    key: Any
    shapes: Shapes
    arrays: Mapping[int, Any]
    parts: Parts
    places: Mapping[Place, Buckets]
    fixed: Sequence[Place]
    guesses: Mapping[Place, Buckets]

    def trace(self, at: Shapes, /) -> Graph:
        """Returns the trace of a call like it of some sizes.

        Raises:
          CannotRunError: If no bucket has room for these.
        """
        ...

    def compiled(self, made: Made, name: str, large: Graph, /) -> Any:
        """Returns what runs the program of a bucket, which was traced as `large`.

        Raises:
          CannotRunError: If nothing does.
        """
        ...

    def finished(self, fit: Fit, /) -> Fit | str:
        """Returns how it runs, with what only its own trace says, or why it does not."""
        ...


class _Growth(NamedTuple):
    """How a size changed of late: what it was last, by how much it had grown then, and how often in a row by that."""

    last: int
    step: int = 0
    times: int = 0

    def then(self, size: int) -> _Growth:
        """Returns how it changed with the next call."""
        step = size - self.last
        if step == 0:
            return self
        return _Growth(size, step, self.times + 1 if step == self.step else 1)


_GROWS = 4
"""A size that grew so often in a row by the same, as a text or a cache does, is taken to go on: its buckets double."""

_MAX_COURSES = 3
"""A program of a bucket is tried for so many things that the function does, such as to train and to evaluate."""


class SizeClass:
    """Calls that differ in sizes alone.

    Attributes:
      places: The axes whose sizes change, with their buckets.
    """

    def __init__(
        self, places: dict[Place, Buckets], learns: Buckets | None, name: str, must_succeed: bool, parts: Parts = ()
    ):
        """Makes one.

        Args:
          places: What is known from the start.
          learns: The buckets of axes that are seen to change; None if only what is given changes.
          name: What the programs are called.
          must_succeed: Whether a rule that fails raises, instead of a refusal.
          parts: The axes that lie over several devices: buckets of these are multiples of their parts.
        """
        self.places, self._learns, self._name = dict(places), learns, name
        self._parts = {(i, axis): n for i, axis, n in parts}
        self._must_succeed = must_succeed
        self._first: Shapes | None = None
        self._groups: dict[Place, int] = {}
        self._ids = itertools.count(1)
        self.made: dict[Any, list[Made]] = collections.defaultdict(list)
        self._tried: dict[Any, dict[Any, str]] = collections.defaultdict(dict)
        self._fixed: set[Place] = set()
        self._growth: dict[Place, _Growth] = {}
        self._may_double = True

    def keeps(self, places: Iterable[Place]) -> None:
        """Notes axes of which no bucket is made, whatever changes."""
        self._fixed.update(places)
        for place in self._fixed & self.places.keys():
            del self.places[place]

    def sees(self, shapes: Shapes) -> None:
        """Notes the shapes of a call: which axes change, and which of them go together."""
        if self._first is None:
            self._first = shapes
        elif self._learns is not None:
            for i, (before, now) in enumerate(zip(self._first, shapes, strict=True)):
                for axis, (n, m) in enumerate(zip(before, now, strict=True)):
                    if n != m and (i, axis) not in self.places and (i, axis) not in self._fixed:
                        self.places[i, axis] = self._learns
        known: dict[Any, int] = {}
        groups = {}
        for (i, axis), buckets in self.places.items():
            size = shapes[i][axis]
            self._growth[i, axis] = self._growth.get((i, axis), _Growth(size)).then(size)
            key = self._groups.get((i, axis), 0), shapes[i][axis], buckets
            if (i, axis) not in self._groups and self._first is not None:
                key = (0, self._first[i][axis], shapes[i][axis], buckets)  # equal in the first call and in this one
            if key not in known:
                known[key] = next(self._ids)
            groups[i, axis] = known[key]
        if self._partition(groups) != self._partition(self._groups):
            self._groups = groups
            self._tried.clear()

    @staticmethod
    def _partition(groups: dict[Place, int]) -> set[frozenset[Place]]:
        found: dict[int, set[Place]] = collections.defaultdict(set)
        for place, group in groups.items():
            found[group].add(place)
        return {frozenset(members) for members in found.values()}

    def bucket_of(self, shapes: Shapes) -> tuple[dict[int, int], dict[int, int]] | str:
        """Returns the size of each group in a call that has a bucket, and that; or why no group has one."""
        sizes = {group: shapes[i][axis] for (i, axis), group in self._groups.items()}
        buckets: dict[int, int] = {}
        beyond: dict[int, str] = {}
        for (i, axis), group in self._groups.items():
            bucket = self.places[i, axis].of(shapes[i][axis])
            if bucket is None:
                beyond[group] = f"there is no bucket for {shapes[i][axis]} elements"
            else:
                buckets[group] = self._rounded(group, bucket)
        if 0 in sizes.values():
            return "an axis has no elements"
        if len(beyond) == len(sizes):
            return next(iter(beyond.values()))
        inside = [group for group in sizes if group not in beyond]  # the others keep the sizes that they have
        if not self.made.get(self.shapes_at(shapes, buckets)):
            buckets |= self._doubled(shapes)
        return {group: sizes[group] for group in inside}, {group: buckets[group] for group in inside}

    def _doubled(self, shapes: Shapes) -> dict[int, int]:
        """Returns larger buckets for the groups that grow with each call, which would soon outgrow others."""
        found: dict[int, int] = {}
        if not self._may_double:
            return found
        for (i, axis), group in self._groups.items():
            growth = self._growth[i, axis]
            bucket = self.places[i, axis].of(shapes[i][axis], doubles=True)
            if growth.step > 0 and growth.times >= _GROWS and bucket is not None:
                found[group] = self._rounded(group, bucket)
        return found

    def _rounded(self, group: int, bucket: int) -> int:
        """Returns a bucket that can lie over the devices over which the arrays of a group do."""
        n = math.lcm(*(self._parts.get(place, 1) for place, of in self._groups.items() if of == group))
        return -(-bucket // n) * n

    def shapes_at(self, shapes: Shapes, sizes: dict[int, int]) -> Shapes:
        """Returns shapes with other sizes of the groups."""
        changed = [list(shape) for shape in shapes]
        for (i, axis), group in self._groups.items():
            changed[i][axis] = sizes.get(group, changed[i][axis])
        return tuple(map(tuple, changed))

    def fit(self, call: SizedCall, shapes: Shapes) -> Fit | str:
        """Returns how a call, or one like it of some shapes, runs in the program of its bucket, or why it does not."""
        found = self.bucket_of(shapes)
        if isinstance(found, str):
            return found
        fit = self._fit_at(*found, call, shapes)
        if isinstance(fit, str) and self._may_double and self._doubled(shapes):
            self._may_double = False  # a table may have no rows for a bucket so large
            return self.fit(call, shapes)
        return fit

    def _fit_at(self, sizes: dict[int, int], buckets: dict[int, int], call: SizedCall, shapes: Shapes) -> Fit | str:
        """Returns how a call runs in the program of a bucket, or why it does not."""
        at_bucket = self.shapes_at(shapes, buckets)
        here = call.trace(shapes)
        why = ""
        for made in self.made[at_bucket]:
            fit = fitted(made, here)
            if isinstance(fit, Fit):
                return fit
            why = fit
        key = at_bucket, frozenset(self._partition(self._groups))
        tried = self._tried[key]
        course = tuple(eqn.primitive for eqn in here.closed.eqns), tuple(shared_factors(sizes, buckets).values())
        if course in tried or len(tried) >= _MAX_COURSES:
            return why or tried.get(course) or next(iter(tried.values()))
        try:
            made = self._make(call, shapes, sizes, buckets, here)
        except CannotRunError as error:
            made = str(error)
        if isinstance(made, str):
            tried[course] = made
            return made
        made, fit = made
        if isinstance(fit, Fit) or not tried:  # else there is one for what the function does at the bucket
            self.made[at_bucket].append(made)
        tried[course] = "the program of its bucket was let go" if isinstance(fit, Fit) else fit
        return fit

    def choices(self, shapes: Shapes) -> dict[int, list[int]]:
        """Returns for each group the buckets of the sizes up to those of a call."""
        found = {}
        for (i, axis), group in self._groups.items():
            buckets = self.places[i, axis].up_to(shapes[i][axis])
            found[group] = sorted({self._rounded(group, bucket) for bucket in buckets})
        return found

    @property
    def programs(self) -> list[Made]:
        """The programs that there are."""
        return [made for several in self.made.values() for made in several]

    def forget(self, made: Made) -> None:
        """Lets a program go."""
        for several in self.made.values():
            if made in several:
                several.remove(made)
        self._tried.clear()

    def _make(
        self, call: SizedCall, shapes: Shapes, sizes: dict[int, int], buckets: dict[int, int], here: Graph
    ) -> tuple[Made, Fit | str] | str:
        """Returns a program of the bucket, and how a call runs in it or why not; or why there is no program."""
        at_bucket = self.shapes_at(shapes, buckets)
        try:
            large = here if at_bucket == shapes else _at(call, at_bucket)
        except Exception as error:  # what the function does not allow at the bucket
            return f"at the bucket {_shown(buckets)} it raises {type(error).__name__}: {_first_line(error)}"
        moving = tuple(sorted({i for (i, _), group in self._groups.items() if group in buckets}))
        why = f"the bucket {_shown(buckets)} is too small"
        found: tuple[Made, Fit | str] | None = None
        refused: set[str] = set()
        for reference in _references(sizes, buckets):
            at_reference = self.shapes_at(shapes, reference)
            try:
                small = here if at_reference == shapes else _at(call, at_reference)
            except Exception as error:
                why = f"at {_shown(reference)} it raises {type(error).__name__}: {_first_line(error)}"
                continue
            made = written_beside(small, large, at_bucket, moving, self._must_succeed)
            if isinstance(made, NotAlikeError):
                why = f"at {_shown(reference)} and at {_shown(buckets)} it does not do the same: {made}"
                continue
            if isinstance(made, RefusedError):
                why = str(made)
                if why in refused:
                    break
                refused.add(why)
                continue
            fit = fitted(made, here)
            if isinstance(fit, Fit) or found is None:
                found = made, fit
            if isinstance(fit, Fit):
                break
        if found is None:
            return why
        found[0].compile(call.compiled, self._name, large)
        return found


def written_beside(
    small: Graph, large: Graph, shapes: Shapes, moving: tuple[int, ...], must_succeed: bool
) -> Made | NotAlikeError | RefusedError:
    """Returns the program of two traces before it is compiled, or why there is none.

    Args:
      small: The trace at a smaller size.
      large: The one at the bucket.
      shapes: Those of the arrays at the bucket.
      moving: The positions of the arrays whose sizes change.
      must_succeed: Whether a rule that fails raises, instead of a refusal.
    """
    fails = RefusedError("the program of the bucket cannot be written")
    written = attempt("a rule of sizes", lambda: _written(small, large), fails, must_succeed)
    if isinstance(written, (NotAlikeError, RefusedError)):
        return written
    program, graph, extents = written
    made = Made(program, graph, None, shapes, moving)
    made.extents, made.origins = extents, (small.origin, large.origin)
    return made


def _at(call: SizedCall, shapes: Shapes) -> Graph:
    with imagined_sizes():
        return call.trace(shapes)


def _references(sizes: dict[int, int], buckets: dict[int, int]) -> Iterator[dict[int, int]]:
    """Yields sizes to lay beside the bucket: of no group equal to it, and of no two groups alike.

    The first ones are odd, so that what JAX leaves out for even sizes is there. Functions that halve sizes and double
    them may take even ones alone: the next are multiples of 2, 4, …, and of all that a size has in common with its
    bucket; the last are those of the call itself.
    """
    seen: list[dict[int, int]] = []
    shared = shared_factors(sizes, buckets)
    for unit, share in ((1, 0.75), (1, 0.5), (2, 0.75), (4, 0.75), (8, 0.75), (0, 0.75)):
        units = {
            group: math.gcd(unit, sizes[group], bucket) if unit else shared[group] for group, bucket in buckets.items()
        }
        found = _beside(buckets, units, share)
        if found and found not in seen:
            seen.append(found)
            yield found
    pairs = [(sizes[group], buckets[group]) for group in buckets]
    if sizes not in seen and len(set(pairs)) == len(pairs) and all(1 < size < bucket for size, bucket in pairs):
        yield sizes


def shared_factors(sizes: dict[int, int], buckets: dict[int, int]) -> dict[int, int]:
    """Returns by group the largest number smaller than its bucket that divides its size and its bucket."""
    found = {}
    for group, bucket in buckets.items():
        n = math.gcd(sizes[group], bucket)
        found[group] = n if n < bucket else bucket // next((p for p in range(2, bucket) if bucket % p == 0), bucket)
    return found


def _beside(buckets: dict[int, int], units: dict[int, int], share: float) -> dict[int, int] | None:
    """Returns multiples of units, about a share of the buckets; None if there are none."""
    found: dict[int, int] = {}
    taken: set[tuple[int, int]] = set()
    for group, bucket in buckets.items():
        n = bucket // units[group]
        turns = int(n * share) - 1 | 1  # odd, so that no more than the unit is in common
        if turns < 3:
            turns = n - 1  # what is left of an axis that was halved to one element is no axis for JAX
        while turns > 0 and (turns * units[group], bucket) in taken:
            turns -= 2 if turns > 3 else 1
        size = turns * units[group]
        if size < 2:
            return None
        taken.add((size, bucket))
        found[group] = size
    return found or None


def _written(
    small: Graph, large: Graph
) -> tuple[BucketProgram, ClosedJaxpr, dict[Any, tuple[Extent, ...]]] | NotAlikeError | RefusedError:
    """Returns the program of two traces, its graph, and the axes of the values in that; or why there is none."""
    spec = lambda shape, dtype, weak=False: jax.ShapeDtypeStruct(shape, dtype, weak_type=weak)
    try:
        aligned = align(small.closed, large.closed)
        program = prepare_program(aligned, RULES, values_in(aligned, small.closed))
        numbers = [spec((), number[0]) for number in program.numbers]
        tables = [spec(t.bucket.shape, t.bucket.dtype) for t in program.graph.tables if not t.is_static]
        inputs = [spec(aval.shape, aval.dtype, aval.weak_type) for aval in large.closed.in_avals]

        def run(*given: Any) -> tuple[list[Any], list[Any]]:
            return program(*given), [value.array for value in program.values]

        graph = jax.make_jaxpr(run)(spec((len(program.pairs),), jnp.int32), numbers, tables, inputs)
    except (NotAlikeError, RefusedError) as error:
        return error.with_traceback(None)
    n_outputs, opened = len(program.outputs), inline(graph, also_custom=True)
    made = zip(opened.jaxpr.outvars[n_outputs:], program.values, strict=True)
    known = {var: value.extents for var, value in made if isinstance(var, Var)}
    program.values.clear()
    for aval, extents in zip(graph.out_avals[:n_outputs], program.outputs, strict=True):
        if is_key_dtype(aval.dtype) and any(map(is_padded, extents)):
            return RefusedError("a result holds random keys along an axis whose size changes")
    return program, dce(first_outputs(opened, n_outputs)), known


def fitted(made: Made, here: Graph) -> Fit | str:
    """Returns how a call runs in a program, or why it does not."""
    program = made.program
    try:
        values = values_in(program.graph, here.closed)
    except NotAlikeError as error:
        return f"it is not like the program of its bucket: {error}"
    why = program.misfit(values)
    if why is not None:
        return why
    given: list[Any] = [np.array([values.sizes[pair] for pair in program.pairs], np.int32)]
    given += [values.numbers[key] for key in program.numbers]
    for i, table in enumerate(program.graph.tables):
        if not table.is_static:
            given.append(padded(values.tables[i], table.bucket.shape))
    given = list(map(jnp.asarray, given))
    at_bucket = made.graph.in_avals[len(given) :]
    pairs = enumerate(zip(here.closed.in_avals, at_bucket, strict=True))
    pads = tuple((i, tuple(b.shape)) for i, (a, b) in pairs if a.shape != b.shape)
    crops = []
    for i, (extents, aval) in enumerate(zip(program.outputs, here.closed.out_avals, strict=True)):
        crop = crop_of(extents, values.sizes.__getitem__, aval)
        if crop is not None:
            crops.append((i, crop))
    return Fit(made, tuple(given), pads, tuple(crops), here.origin, _waste(program, values))


def _waste(program: BucketProgram, values: Values) -> float:
    """Returns how many times the elements of the exact program are computed."""
    exact = bucket = 0
    for eqn in program.graph.eqns:
        for small, large in zip(eqn.exact_shapes, eqn.bucket_shapes, strict=True):
            exact += math.prod(n if n == b else values.sizes.get((n, b), n) for n, b in zip(small, large, strict=True))
            bucket += math.prod(large)
    return bucket / max(exact, 1)


def described(made: Made, sizes: Sequence[tuple[Shapes, Fit]]) -> Iterator[str]:
    """Yields lines about the program of a bucket.

    Args:
      made: The program.
      sizes: The shapes of the calls that run in it, and how they do.
    """
    program = made.program
    moving = [i for i in range(len(made.shapes)) if any(i in dict(fit.pads) for _, fit in sizes)]
    shown = ", ".join(str(made.shapes[i]) for i in moving) or ", ".join(map(str, made.shapes[:4]))
    n_classes = f"{len(program.pairs)} classes of sizes, {len(program.numbers)} of numbers"
    yield f"bucket {shown}: {len(sizes)} sizes, {n_classes}"
    needs = program.predicates()
    if needs:
        yield f"  needs {' and '.join(needs[:_MAX_SHOWN])}" + (
            f" and {len(needs) - _MAX_SHOWN} more" if len(needs) > _MAX_SHOWN else ""
        )
    kinds = collections.Counter((note.kind, note.name) for note in program.notes)
    words = {"mask": "masks", "move": "moves", "loop": "shorter loops", "bits": "draws of random bits"}
    for kind, word in words.items():
        names = {name: n for (k, name), n in kinds.items() if k == kind}
        if names:
            yield f"  {sum(names.values())} {word}: " + ", ".join(f"{n} for {name}" for name, n in names.items())
    for shapes, fit in sizes:
        yield f"  {shown_shapes(shapes, moving)}: computes {fit.waste:.2f} times the elements"


_MAX_SHOWN = 8
"""Of the conditions on sizes that a program has, so many are printed."""


def shown_shapes(shapes: Shapes, which: Sequence[int] = ()) -> str:
    """Returns the shapes of a call for people, in few words.

    Args:
      shapes: The shapes.
      which: The positions of those that are shown; all if there are none.
    """
    shown = [str(shape) for i, shape in enumerate(shapes) if i in which or not which]
    return ", ".join(shown[:6]) + (f" and {len(shown) - 6} others" if len(shown) > 6 else "")


def _shown(sizes: dict[int, int]) -> str:
    return " x ".join(str(size) for size in dict.fromkeys(sizes.values()))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0]
