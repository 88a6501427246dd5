"""Which calls of a function run in the program of a bucket, and how.

Each size is traced exactly, and what carries its calls out is made from that trace: guards, views, write-back, the
tape. Only what runs is another graph, that of the bucket, if the exact one is like those that it was made of. So what
is known of sizes never decides what a call does, but with which arrays.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from jaxaot import _trees as pytree
from jaxaot import settings as config
from jaxaot.buckets.policy import Buckets, Given, read_buckets
from jaxaot.errors import BudgetError, PolicyError
from jaxaot.facade.marks.sizes import marks_of
from jaxaot.facade.subclass.subclass import Frame
from jaxaot.ir.rewrite import inline
from jaxaot.lower.bucket_sharding import Parts, parts_of
from jaxaot.lower.size_class import CannotRunError, Fit, Graph, Made, Place, Shapes
from jaxaot.lower.sizes import NOTHING_CHANGES, Said, Sizes, axes_said, read_dims
from jaxaot.passes.dce import dce
from jaxaot.plan.call import TensorInput
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.runtime.bucket_plan import (
    BucketPlan,
    Shared,
    bucket_plan,
    cut_outputs,
    hooks_inside,
    keeping_padding,
    packed_extents,
    shared_forward,
    shared_joint,
    without_sizes_packed,
)
from jaxaot.runtime.key import parameter_names
from jaxaot.runtime.program import Program, lower
from jaxaot.runtime.sized_arrays import SizedArray, array_of, owner_of, sized_arrays, why_apart
from jaxaot.runtime.traced_call import GivenCall, Lower, Trace, TracedCall, called
from jaxaot.runtime.views import ChangingViews
from jaxaot.views.layout import Layout, resized

_MAX_IN_VAIN = 3
"""Calls are traced with symbols alone until so many in a row had no program of a bucket."""


class Stages(Protocol):
    """The stages of the flow that programs of buckets go through, each at sizes of its own.

    Attributes:
      make: A backend.
    """

    make: Callable[..., Any]

    def begin(self, given: GivenCall) -> TracedCall:
        """Returns a call, traced."""
        ...

    def trace(self, given: GivenCall, sizes: Any, known: Any) -> Traced:
        """Returns the trace of a call at other sizes than its own; `known` are the values that Python asks for."""
        ...

    def joint(self, traced: Traced) -> JointGraph:
        """Returns the joint graph of a trace, before any pass."""
        ...

    def partition(self, joint: JointGraph) -> Partition:
        """Returns the forward and backward of a joint graph at a bucket, after the passes."""
        ...

    def choose(self, joint: JointGraph, make: Callable[[Partition], Shared], name: str) -> Shared:
        """Returns what is run of a joint graph at a bucket; with a budget for everything, what fits into it there.

        Raises:
          BudgetError: If nothing does.
        """
        ...


class TracedSizes:
    """The sizes that the calls of one function of tensors had.

    Attributes:
      buckets: What is known of them.
      stages: What the flow does.
      given: By name of an argument and dim the buckets that were said.
    """

    def __init__(
        self, fn: Callable[..., Any], dynamic: object, buckets: Given, stages: Stages, given: Said | None = None
    ):
        """Begins.

        Args:
          fn: The function.
          dynamic: None for what is seen to change; True for that and all that may; or names of arguments with dims.
          buckets: The sizes for which programs are made.
          stages: What the flow does.
          given: By name of an argument and dim the buckets, in place of `dynamic`.

        Raises:
          UsageError: If something else was said.
        """
        self.stages, self._fn, self.is_at_once = stages, fn, dynamic is True
        self.learned = read_buckets(buckets)
        self.given: Said = given or {}
        if dynamic is not None and dynamic is not True:
            self.given = read_dims(called(fn), dynamic, self.learned)
        self.views = ChangingViews(given is None)
        self.buckets = Sizes(getattr(fn, "__name__", "fn"), None if self.given else self.learned)
        self._fresh: tuple[Any, ...] = ()
        self._n_in_vain = 0

    def clear(self) -> None:
        """Forgets all sizes."""
        self.buckets = Sizes(getattr(self._fn, "__name__", "fn"), None if self.given else self.learned)
        self._fresh, self._n_in_vain = (), 0

    def cached_call(self, given: GivenCall) -> TracedCall | None:
        """Returns a call that differs in sizes alone from one before, and its plan; None if more traces are to be made.

        Numbers that their holder says to change, such as rates of optimizers, are symbolic at once. A plain trace would
        show that symbols do what numbers do. Here that the graph is like that of the bucket shows it, for which a plain
        trace was made.
        """
        symbolic = self._fresh
        if not symbolic or not set(given.numbers) <= set(symbolic) or self._n_in_vain >= _MAX_IN_VAIN:
            return None
        call = self.stages.begin(given._replace(symbolic=symbolic, by_value=self.views.by_value))
        plan = self.plan(call)
        if isinstance(plan, str):
            self._n_in_vain += 1
            return None
        self._n_in_vain = 0
        return dataclasses.replace(call, plan=plan)

    def begin(self, given: GivenCall, trace: Trace | None = None) -> TracedCall:
        """Returns a call, traced so that the views whose sizes change are passed as values."""
        trace = trace or self.stages.begin
        call = trace(given._replace(by_value=self.views.by_value))
        if self.views.passes_more(call, self._numbers(call), self._is_said):
            call = trace(given._replace(by_value=self.views.by_value))
            self.views.keep_passing(call.traced)
        return call

    def plan(self, call: TracedCall) -> BucketPlan | str:
        """Returns how a call runs in the program of a bucket, or why it has a program of its own."""
        why = why_apart(call)
        if why is not None:
            self.buckets.refused[None, call.shapes] = why
            return why
        sized = _SizedCall(self, call)
        found = self.buckets.fit(sized)
        if isinstance(found, str):
            why = self.buckets.refused[sized.key, sized.shapes] = self._refused(call, found)
            return why
        self._fresh = call.declared
        return bucket_plan(found, call.joint)

    def sees(self, call: TracedCall) -> None:
        """Notes the sizes of a call, so that what goes together is known before a program is made."""
        self.buckets.sees(_SizedCall(self, call))

    def plans_up_to(self, call: TracedCall) -> list[BucketPlan]:
        """Returns how calls run in the programs of all buckets up to the sizes of a call.

        Raises:
          UsageError: If no dim is known to change.
        """
        fits = self.buckets.fits_up_to(_SizedCall(self, call), 'ja.compile(fn, dynamic={"ids": (0, 1)})')
        return [bucket_plan(fit, fit.origin[1]) for fit in fits]

    def _refused(self, call: TracedCall, why: str) -> str:
        """Returns why a call has a program of its own, with why tensors of it have no buckets whose sizes change."""
        if call.traced.break_values:
            return why
        changing = "; ".join(self.views.reasons(call, self._numbers(call), self._is_said))
        return changing or why if why == NOTHING_CHANGES else "; ".join(filter(None, (why, changing)))

    def _numbers(self, call: TracedCall) -> set[int]:
        """Returns the numbers of the tensors that have buckets."""
        return {number for array in sized_arrays(call) for number in array.tensors}

    def _is_said(self, tensor: TensorInput, value: Any) -> bool:
        """Returns whether a size of a tensor changes, as was said or seen."""
        first = self.views.first(tensor)
        if any(said is not None for said in marks_of(value).values()):
            return True
        if self.given:
            owner = owner_of(parameter_names(called(self._fn)), tensor.path) if tensor.is_argument else ""
            return owner in self.given
        return first != tensor.layout.size or (self.is_at_once and tensor.is_argument)


class _SizedCall:
    """A call of tensors whose sizes may change, a `SizedCall`.

    Attributes:
      inputs: By position among the inputs of the graph, those whose sizes may change.
    """

    def __init__(self, sizes: TracedSizes, call: TracedCall):
        self._sizes, self._call = sizes, call
        self.inputs = {array.position: array for array in sized_arrays(call)}
        self.shapes = call.shapes
        self.arrays: Mapping[int, Any] = {i: array_of(array.value) for i, array in self.inputs.items()}
        positions = list(self.arrays)
        self.parts: Parts = tuple((positions[i], axis, n) for i, axis, n in parts_of(list(self.arrays.values())))
        self.places: Mapping[Place, Buckets] = dict(self._places())
        marks = ((i, marks_of(array.value)) for i, array in self.inputs.items())
        self.fixed: Sequence[Place] = [(i, dim) for i, said in marks for dim, b in said.items() if b is None]
        self.guesses: Mapping[Place, Buckets] = dict.fromkeys(self._guessed(), sizes.learned)
        self.key = self._key()

    def _key(self) -> Any:
        traced, key, inputs = self._call.traced, self._call.key, self.inputs
        plan, values = traced.call, traced.break_values
        asked = tuple((v.line, v.dtype, None if i in self._call.counts else v.value) for i, v in enumerate(values))
        kinds = tuple(
            (str(aval.dtype), len(aval.shape), None if i in inputs else tuple(aval.shape))
            for i, aval in enumerate(traced.jaxpr.in_avals)
        )
        tensors = tuple((t.path, t.storage, t.requires_grad) for t in plan.tensors)
        statics = tuple((s.leaf, s.condition) for s in plan.statics)
        modes = key.settings, key.jax_settings, key.hooks, plan.grad_enabled, plan.autocast, self.parts
        found = _tree_key(traced.in_tree), kinds, asked, tensors, statics, modes, traced.needs_backward
        try:
            hash(found)
        except TypeError:  # what a static argument or a setting holds
            return repr(found)
        return found

    def _guessed(self) -> list[Place]:
        """Returns the axes that may change: of arguments, and of no size that something else has too."""
        if not self._sizes.is_at_once:
            return []
        tensors, avals = self._call.traced.call.tensors, self._call.traced.jaxpr.in_avals
        free = {
            position
            for position, array in self.inputs.items()
            if array.name is not None and not any(tensors[i].requires_grad for i in array.tensors)
        }
        taken = {n for position, aval in enumerate(avals) if position not in free for n in aval.shape}
        places = [(i, axis) for i in free for axis in range(len(self.shapes[i]))]
        places = [(i, axis) for i, axis in places if self.shapes[i][axis] not in (0, 1, *taken)]
        return places + [(len(avals) + i, 0) for i in range(len(self._call.counts))]

    def trace(self, at: Shapes) -> Graph:
        call, plan = self._call, self._call.traced.call
        if at == self.shapes:
            return _graph(call.traced, call.joint)
        layouts: dict[int, Layout] = {}
        leaves: dict[int, Any] = {}
        for position, array in self.inputs.items():
            if at[position] != self.shapes[position]:
                for number in array.tensors:
                    layouts[number] = resized(plan.tensors[number].layout, at[position])
                if array.leaf is not None:
                    dtype = call.traced.jaxpr.in_avals[position].dtype
                    leaves[array.leaf] = np.broadcast_to(np.zeros((), dtype), at[position])
        reached = [(i, t) for i, t in enumerate(plan.tensors) if t.storage >= 0 or i in layouts]
        sizes = [(call.found(t.path), layouts.get(i)) for i, t in reached]
        # one of the traces that are compared has to be predicted
        at_once = () if call.given.symbolic else call.declared
        given = _with_leaves(call, leaves)._replace(symbolic=at_once, by_value=self._sizes.views.by_value)
        traced = self._sizes.stages.trace(given, sizes, call.known_at(at))
        if not traced.is_whole:
            raise CannotRunError("Python asks for other values at the bucket")
        return _graph(traced, self._sizes.stages.joint(traced) if traced.needs_backward else None)

    def compiled(self, made: Made, name: str, large: Graph) -> Shared:
        stages, joint = self._sizes.stages, large.origin[1]
        run = functools.partial(Shared, make=stages.make, settings=self._call.key.jax_settings, cut=stages.partition)
        n_given = len(made.graph.in_avals) - len(large.closed.in_avals)
        if joint is None:
            return run(shared_forward(made.graph, n_given), None)
        whole = shared_joint(made.graph, joint, n_given)

        def run_by(parts: Partition) -> Shared:
            parts = without_sizes_packed(parts, n_given)
            packed = packed_extents(parts, whole, made.extents)
            if packed is None:
                raise CannotRunError("hooks on saved tensors would see what is padded of a value")
            parts = keeping_padding(parts, cut_outputs(made.program, joint.n_outputs))
            return run(parts.forward, parts, packed=packed, hooks_inside=hooks_inside(joint.jaxpr))

        try:
            return stages.choose(whole, run_by, name)
        except (BudgetError, PolicyError) as error:
            raise CannotRunError(f"at the bucket, {error}") from error

    def finished(self, fit: Fit) -> Fit | str:
        joint = self._call.joint
        if joint is None or hooks_inside(joint.jaxpr) == fit.made.run.hooks_inside:
            return fit
        return "the function enters other hooks on saved tensors than at the bucket"

    def _places(self) -> Iterator[tuple[Place, Buckets]]:
        """Yields the axes that were said to change, and where views are passed as values those that did."""
        call, sizes = self._call, self._sizes
        for position, array in self.inputs.items():
            shape = self.shapes[position]
            if array.tensors and call.traced.call.parts and not sizes.given:
                first = sizes.views.first(call.traced.call.tensors[array.tensors[0]])
                pairs = enumerate(zip(first, shape, strict=False))
                yield from (((position, dim), sizes.learned) for dim, (n, m) in pairs if n != m)
            if array.within is not None:  # what is as long as a dim of the argument that changes goes with it
                yield from self._places_within(array)
                continue
            said = axes_said(array.name or "", sizes.given, len(shape), "a tensor")
            yield from (((position, axis), buckets) for axis, buckets in said)
            marks = marks_of(array.value).items()
            yield from (((position, dim), buckets) for dim, buckets in marks if buckets is not None)

    def _places_within(self, array: SizedArray) -> Iterator[tuple[Place, Buckets]]:
        size = array.within._layout.size
        given = self._sizes.given.get(array.name or "", {})
        said = [(dim, b) for dim, b in given.items() if -len(size) <= dim < len(size)]
        said += [(dim, b) for dim, b in marks_of(array.within).items() if b is not None]
        for dim, buckets in said:
            for axis, n in enumerate(self.shapes[array.position]):
                if n == size[dim]:
                    yield (array.position, axis), buckets


def _tree_key(tree: Any) -> Any:
    """Returns what trees of arguments have in common that differ in the sizes of tensors of subclasses alone."""
    node = tree.node_data()
    if node is None:
        return None
    data = (*node[1].kind, len(node[1].size)) if isinstance(node[1], Frame) else node[1]
    data = tuple(data) if isinstance(data, list) else data  # the keys of a dict
    return node[0], data, tuple(map(_tree_key, tree.children()))


def _graph(traced: Traced, joint: JointGraph | None) -> Graph:
    jaxpr = traced.jaxpr if joint is None else joint.jaxpr
    return Graph(dce(inline(jaxpr, also_custom=True)), (traced, joint))


def _with_leaves(call: TracedCall, leaves: Mapping[int, Any]) -> GivenCall:
    """Returns a call with other arrays."""
    if not leaves:
        return call.given
    flat = call.key.in_tree.flatten_up_to((call.args, call.kwargs))
    args, kwargs = pytree.unflatten(call.key.in_tree, [leaves.get(i, leaf) for i, leaf in enumerate(flat)])
    return call.given._replace(args=args, kwargs=kwargs)


# -- stages ------------------------------------------------------------------------------------------------------------


def cached_calls(sizes: TracedSizes | None, trace: Trace) -> Trace:
    """Returns a stage that traces a call once if it differs in sizes alone from one before."""
    if sizes is None:
        return trace

    def stage(given: GivenCall) -> TracedCall:
        proves = config.get().validate_guards  # of both traces
        return (None if proves else sizes.cached_call(given)) or trace(given)

    return stage


def changing_views(sizes: TracedSizes | None, trace: Trace) -> Trace:
    """Returns a stage that passes views as values once their sizes change."""
    return trace if sizes is None else lambda given: sizes.begin(given, trace)


def in_buckets(sizes: TracedSizes | None, make: Callable[..., Any], lowered: Lower) -> Lower:
    """Returns a stage that runs what it can in the programs of buckets."""
    if sizes is None:
        return lowered

    def stage(call: TracedCall) -> Program:
        plan = call.plan
        if plan is None and call.asked.limit is None:  # which is of this size
            found = sizes.plan(call)
            plan = None if isinstance(found, str) else found
        return lowered(call) if plan is None else lower(call.traced, plan.partition, make, call.key, bucket=plan)

    return stage
