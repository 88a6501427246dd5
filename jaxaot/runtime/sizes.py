"""Which calls of a function run in the program of a bucket, and how.

Each size is traced exactly, and what carries its calls out is made from that trace: guards, views, write-back, the
tape. Only what runs is another graph, that of the bucket, if the exact one is like those that it was made of. So what
is known of sizes never decides what a call does, but with which arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from jaxaot import _trees as pytree
from jaxaot import settings
from jaxaot._immutable import immutable
from jaxaot._jax import is_key_dtype, is_tracer
from jaxaot.buckets.policy import Buckets, Given, read_buckets
from jaxaot.errors import BudgetError, PolicyError, UsageError
from jaxaot.facade.marks.sizes import marks_of
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.subclass.subclass import Frame, is_wrapper, leaves_of
from jaxaot.facade.trace_state import TRACING
from jaxaot.ir.rewrite import inline
from jaxaot.lower.bucket_sharding import Parts, parts_of, typed_mesh, why_not_padded
from jaxaot.lower.families import CannotRunError, Family, Fit, Graph, Made, Place, Shapes, described, shown_shapes
from jaxaot.lower.sized import read_dims
from jaxaot.passes.dce import dce
from jaxaot.plan.call import TensorInput
from jaxaot.plan.inputs import positions_of_ghosts, positions_of_parts, positions_of_values
from jaxaot.plan.paths import Path
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.runtime.key import parameter_names
from jaxaot.runtime.room import (
    Room,
    Shared,
    cut_outputs,
    hooks_inside,
    keeping_padding,
    may_be_padded,
    packed_extents,
    room_for,
    shared_forward,
    shared_joint,
    without_sizes_packed,
)
from jaxaot.runtime.traced_call import TracedCall, called
from jaxaot.runtime.views import ChangingViews
from jaxaot.views.layout import Layout, resized

_MOST_IN_VAIN = 3
"""Calls are traced with symbols alone until so many in a row had no room in a bucket."""


class Stages(Protocol):
    """The stages of the flow that programs of buckets go through, each at sizes of its own.

    Attributes:
      make: A backend.
    """

    make: Callable[..., Any]

    def begin(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Sequence[Path] = (),
        symbolic: Sequence[Path] = (), by_value: Sequence[Path] | None = None,
    ) -> TracedCall:  # fmt: skip
        """Returns a call, traced.

        Args:
          fn: The function.
          args: Its arguments.
          kwargs: Its keyword arguments.
          numbers: Paths of numbers that changed before.
          symbolic: Paths of numbers that are symbolic at once.
          by_value: Paths of tensors that are passed as values.
        """
        ...

    def trace(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Sequence[Path],
        sizes: Any, known: Any, symbolic: Sequence[Path] = (), by_value: Sequence[Path] | None = None,
    ) -> Traced:  # fmt: skip
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


@immutable
class _Array:
    """An input of a graph whose sizes may change.

    Attributes:
      position: Among the inputs.
      value: The tensor or array that it is.
      name: The argument that it belongs to; None if it was reached otherwise.
      tensors: The tensors that show it, by number; none of an array.
      leaf: Which leaf of the arguments it is, of an array.
      within: Of an inner tensor whose shape is another than that of the argument: the argument.
    """

    position: int
    value: Any
    name: str | None
    tensors: tuple[int, ...] = ()
    leaf: int | None = None
    within: Any = None


class Sizes:
    """The sizes that the calls of one function had.

    Attributes:
      refused: Why calls have programs of their own, by the shapes of the inputs of their graphs.
      fits: How calls run in buckets, by the same.
      stages: What the flow does.
    """

    def __init__(
        self, fn: Callable[..., Any], dynamic: object, buckets: Given, stages: Stages,
        given: Mapping[str, Mapping[int, Buckets]] | None = None,
    ):  # fmt: skip
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
        self.stages = stages
        self._fn, self._is_at_once = fn, dynamic is True
        self._buckets = read_buckets(buckets)
        self._given: Mapping[str, Mapping[int, Buckets]] = given or {}
        if dynamic is not None and dynamic is not True:
            self._given = read_dims(called(fn), dynamic, self._buckets)
        self._views = ChangingViews(given is None)
        self._families: dict[Any, Family] = {}
        self.refused: dict[Shapes, str] = {}
        self.fits: dict[Shapes, Fit] = {}
        self._symbolic: tuple[Path, ...] = ()
        self._n_in_vain = 0

    def familiar(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Sequence[Path]
    ) -> tuple[TracedCall, Room] | None:
        """Returns a call that differs in sizes alone from one before, and how it runs in the program of a bucket.

        Numbers that their holder says to change, such as rates of optimizers, are symbolic at once. A plain trace would
        show that symbols do what numbers do. Here that the graph is like that of the bucket shows it, for which a plain
        trace was made.

        Args:
          args: The arguments.
          kwargs: The keyword arguments.
          numbers: Paths of numbers that changed before.

        Returns:
          The call and its room; None if both traces have to be made.
        """
        symbolic = self._symbolic
        if not symbolic or not set(numbers) <= set(symbolic) or self._n_in_vain >= _MOST_IN_VAIN:
            return None
        call = self.stages.begin(self._fn, args, kwargs, numbers, symbolic, self.by_value)
        room = self.room(call)
        self._n_in_vain = 0 if room is not None else self._n_in_vain + 1
        return None if room is None else (call, room)

    @property
    def by_value(self) -> tuple[Path, ...] | None:
        """The paths of the tensors that are passed as values; None if none ever are."""
        return self._views.by_value

    def begin(self, trace: Callable[[], TracedCall]) -> TracedCall:
        """Returns a call, traced so that the views whose sizes change are passed as values.

        Args:
          trace: Traces it.
        """
        call = trace()
        if self._views.passes_more(call, self._plain(call), self._is_said):
            call = trace()
            self._views.keep_passing(call.traced)
        return call

    def _plain(self, call: TracedCall) -> set[int]:
        """Returns the numbers of the tensors that have buckets."""
        return {number for array in self._arrays(call) for number in array.tensors}

    def _is_said(self, tensor: TensorInput, value: Any) -> bool:
        """Returns whether a size of a tensor changes, as was said or seen."""
        first = self._views.first(tensor)
        if any(said is not None for said in marks_of(value).values()):
            return True
        if self._given:
            owner = _owner(parameter_names(called(self._fn)), tensor.path) if tensor.is_argument else ""
            return owner in self._given
        return first != tensor.layout.size or (self._is_at_once and tensor.is_argument)

    def room(self, call: TracedCall) -> Room | None:
        """Returns how a call runs in the program of a bucket; None if it has a program of its own."""
        found = self._room(call)
        if isinstance(found, Room):
            self.fits[call.shapes] = found.fit
            self._symbolic = call.declared
            return found
        self.refused[call.shapes] = found
        return None

    def sees(self, call: TracedCall) -> None:
        """Notes the sizes of a call, so that what goes together is known before a program is made."""
        arrays = {array.position: array for array in self._arrays(call)}
        self._family(call, arrays)[0].sees(call.shapes)

    def forget(self, made: Made) -> None:
        """Lets the program of a bucket go."""
        for family in self._families.values():
            family.forget(made)
        self.fits = {shapes: fit for shapes, fit in self.fits.items() if fit.made is not made}

    def clear(self) -> None:
        """Forgets all sizes."""
        self._families.clear()
        self.refused.clear()
        self.fits.clear()
        self._symbolic, self._n_in_vain = (), 0

    @property
    def n_made(self) -> int:
        """How many programs of buckets there are."""
        return sum(len(family.programs) for family in self._families.values())

    def described(self) -> str:
        """Returns what is known of sizes: buckets, classes, masks, waste, and why calls are compiled exactly."""
        lines = []
        for family in self._families.values():
            for made in family.programs:
                lines += described(made, [(shapes, fit) for shapes, fit in self.fits.items() if fit.made is made])
        moving = self._moving()
        for shapes, why in self.refused.items():
            which = [i for i in range(len(shapes)) if (len(shapes), i) in moving]
            lines.append(f"exactly {shown_shapes(shapes, which)}: {why}")
        return "\n".join(lines)

    def _moving(self) -> set[tuple[int, int]]:
        """Returns the positions at which calls have had several shapes, each with how many shapes a call has."""
        first: dict[int, Any] = {}
        known = [*self.fits, *self.refused]
        pairs = [(shapes, first.setdefault(len(shapes), shapes)) for shapes in known]
        return {(len(one), i) for one, other in pairs for i in range(len(one)) if one[i] != other[i]}

    def all_rooms(self, call: TracedCall) -> list[Room]:
        """Returns how calls run in the programs of all buckets up to the sizes of a call.

        Raises:
          UsageError: If no dim is known to change.
        """
        arrays = {array.position: array for array in self._arrays(call)}
        family, _ = self._family(call, arrays)
        family.sees(call.shapes)
        choices = family.choices(call.shapes)
        if not choices:
            raise UsageError(
                "`warm_up` compiles the programs of all buckets, and no dim is known to change. Say which do, "
                '`ja.compile(fn, dynamic={"ids": (0, 1)})`, or call the function with two sizes first.'
            )
        found = []
        for sizes in itertools.product(*choices.values()):
            shapes = family.shapes_at(call.shapes, dict(zip(choices, sizes, strict=True)))
            fit = self._fitted(call, arrays, family, shapes)
            if isinstance(fit, Fit):
                found.append(room_for(fit, fit.origin[1]))
        return found

    # finding one

    def _room(self, call: TracedCall) -> Room | str:
        apart = _is_apart(call)
        if apart is not None:
            return apart
        arrays = {array.position: array for array in self._arrays(call)}
        family, is_tried = self._family(call, arrays)
        family.sees(call.shapes)
        for position in {i for i, _ in family.places if i in arrays}:
            why = why_not_padded(_held(arrays[position].value))
            if why is not None:
                return why
        if not family.places:
            return self._without_buckets(call) or "no size of it has changed so far"
        found = self._fitted(call, arrays, family, call.shapes)
        if isinstance(found, str) and is_tried:  # not all that may change does: from now on, what is seen to
            self._families[self._key(call, arrays)] = family = self._new_family({}, _parts(arrays))
            family.sees(call.shapes)
        if isinstance(found, str):
            return "; ".join(filter(None, (found, self._without_buckets(call))))
        return room_for(found, call.joint)

    def _without_buckets(self, call: TracedCall) -> str:
        """Returns why tensors of a call have no buckets though a size of them changes; nothing if there are none."""
        is_asked = not call.traced.break_values
        return "; ".join(self._views.reasons(call, self._plain(call), self._is_said)) if is_asked else ""

    def _fitted(self, call: TracedCall, arrays: Mapping[int, _Array], family: Family, shapes: Shapes) -> Fit | str:
        """Returns how a call, or one like it of other sizes, runs in the program of its bucket; or why it does not."""
        here = _graph(call.traced, call.joint)
        avals = call.traced.jaxpr.in_avals
        if any(is_key_dtype(avals[i].dtype) for i, _ in family.places if i < len(avals)):
            return "an axis of random keys changes its size"

        def trace(at: Shapes) -> Graph:
            return here if at == call.shapes else self._traced_at(call, arrays, at)

        def shared(made: Made, name: str, large: Graph) -> Shared:
            n_given = len(made.graph.in_avals) - len(large.closed.in_avals)
            of_jax = call.key.jax_settings
            joint: JointGraph | None = large.origin[1]
            if joint is None:
                return Shared(
                    shared_forward(made.graph, n_given), None, self.stages.make, of_jax, self.stages.partition
                )
            whole = shared_joint(made.graph, joint, n_given)
            inside = hooks_inside(joint.jaxpr)

            def run_by(parts: Partition) -> Shared:
                parts = without_sizes_packed(parts, n_given)
                packed = packed_extents(parts, whole, made.extents)
                if packed is None:
                    raise CannotRunError("hooks on saved tensors would see what is padded of a value")
                parts = keeping_padding(parts, cut_outputs(made.program, joint.n_outputs))
                return Shared(parts.forward, parts, self.stages.make, of_jax, self.stages.partition, packed, inside)

            try:
                return self.stages.choose(whole, run_by, name)
            except (BudgetError, PolicyError) as error:
                raise CannotRunError(f"at the bucket, {error}") from error

        found = family.fit(shapes, trace, shared)
        if call.joint is None or not isinstance(found, Fit):
            return found
        is_same = hooks_inside(call.joint.jaxpr) == found.made.run.hooks_inside
        return found if is_same else "the function enters other hooks on saved tensors than at the bucket"

    def _traced_at(self, call: TracedCall, arrays: Mapping[int, _Array], at: Shapes) -> Graph:
        """Returns the trace of a call at other sizes."""
        plan = call.traced.call
        layouts: dict[int, Layout] = {}
        leaves: dict[int, Any] = {}
        for position, array in arrays.items():
            if at[position] != call.shapes[position]:
                for number in array.tensors:
                    layouts[number] = resized(plan.tensors[number].layout, at[position])
                if array.leaf is not None:
                    dtype = call.traced.jaxpr.in_avals[position].dtype
                    leaves[array.leaf] = np.broadcast_to(np.zeros((), dtype), at[position])
        reached = [(i, t) for i, t in enumerate(plan.tensors) if t.storage >= 0 or i in layouts]
        sizes = [(call.found(t.path), layouts.get(i)) for i, t in reached]
        args, kwargs = _with_leaves(call, leaves)
        at_once = () if call.at_once else call.declared  # one of the traces that are compared has to be predicted
        known = call.known_at(at)
        traced = self.stages.trace(call.fn, args, kwargs, call.numbers, sizes, known, at_once, self.by_value)
        if not traced.is_whole:
            raise CannotRunError("Python asks for other values at the bucket")
        joint = self.stages.joint(traced) if traced.needs_backward else None
        return _graph(traced, joint)

    def _family(self, call: TracedCall, arrays: Mapping[int, _Array]) -> tuple[Family, bool]:
        """Returns the family of a call, and whether it was begun just now with all that may change."""
        places, is_guess = dict(self._places(call, arrays)), False
        key = self._key(call, arrays)
        if key not in self._families:
            if self._is_at_once and not places:
                places, is_guess = self._guess(call, arrays), True
            self._families[key] = self._new_family(places, _parts(arrays))
        family = self._families[key]
        for place, buckets in places.items():
            family.places.setdefault(place, buckets)
        fixed = [
            (position, dim)
            for position, array in arrays.items()
            for dim, said in marks_of(array.value).items()
            if said is None
        ]
        family.keeps(fixed)
        return family, is_guess

    def _new_family(self, places: dict[Place, Buckets], parts: Parts) -> Family:
        name = getattr(self._fn, "__name__", "fn")
        return Family(places, None if self._given else self._buckets, name, settings.get().check_graphs, parts)

    def _key(self, call: TracedCall, arrays: Mapping[int, _Array]) -> Any:
        """Returns what calls have in common that differ in sizes alone."""
        plan, key = call.traced.call, call.key
        avals, values = call.traced.jaxpr.in_avals, call.traced.break_values
        asked = tuple((v.line, v.dtype, None if i in call.counts else v.value) for i, v in enumerate(values))
        kinds = tuple(
            (str(aval.dtype), len(aval.shape), None if i in arrays else tuple(aval.shape))
            for i, aval in enumerate(avals)
        )
        tensors = tuple((t.path, t.storage, t.requires_grad) for t in plan.tensors)
        statics = tuple((s.leaf, s.condition) for s in plan.statics)
        modes = key.settings, key.jax_settings, key.hooks, plan.grad_enabled, plan.autocast
        modes = *modes, _parts(arrays)
        found = _tree_key(call.traced.in_tree), kinds, asked, tensors, statics, modes, call.traced.needs_backward
        try:
            hash(found)
        except TypeError:  # what a static argument or a setting holds
            return repr(found)
        return found

    def _places(self, call: TracedCall, arrays: Mapping[int, _Array]) -> Iterator[tuple[Place, Buckets]]:
        """Yields the axes that were said to change, and where views are passed as values those that did."""
        for position, array in arrays.items():
            rank = len(call.shapes[position])
            if array.tensors and call.traced.call.parts and not self._given:
                first = self._views.first(call.traced.call.tensors[array.tensors[0]])
                pairs = enumerate(zip(first, call.shapes[position], strict=False))
                yield from (((position, dim), self._buckets) for dim, (n, m) in pairs if n != m)
            if array.within is not None:  # what is as long as a dim of the argument that changes goes with it
                yield from self._places_within(call, array)
                continue
            for dim, buckets in self._given.get(array.name or "", {}).items():
                if not -rank <= dim < rank:
                    raise UsageError(
                        f"`dynamic` says that dim {dim} of `{array.name}` changes, and a tensor of it has {rank} dims."
                    )
                yield (position, dim % rank), buckets
            for dim, said in marks_of(array.value).items():
                if said is not None:
                    yield (position, dim), said

    def _places_within(self, call: TracedCall, array: _Array) -> Iterator[tuple[Place, Buckets]]:
        size = array.within._layout.size
        said = [(dim, b) for dim, b in self._given.get(array.name or "", {}).items() if -len(size) <= dim < len(size)]
        said += [(dim, b) for dim, b in marks_of(array.within).items() if b is not None]
        for dim, buckets in said:
            for axis, n in enumerate(call.shapes[array.position]):
                if n == size[dim]:
                    yield (array.position, axis), buckets

    def _guess(self, call: TracedCall, arrays: Mapping[int, _Array]) -> dict[Place, Buckets]:
        """Returns the axes that may change: of arguments, and of no size that something else has too."""
        free = {
            position
            for position, array in arrays.items()
            if array.name is not None and not any(call.traced.call.tensors[i].requires_grad for i in array.tensors)
        }
        avals = call.traced.jaxpr.in_avals
        taken = {n for position, aval in enumerate(avals) if position not in free for n in aval.shape}
        places = [(position, axis) for position in free for axis in range(len(call.shapes[position]))]
        found = {(i, axis): self._buckets for i, axis in places if call.shapes[i][axis] not in (0, 1, *taken)}
        first = len(call.traced.jaxpr.in_avals)
        return found | {(first + i, 0): self._buckets for i in range(len(call.counts))}

    def _arrays(self, call: TracedCall) -> Iterator[_Array]:
        """Yields the inputs of a graph whose sizes may change."""
        if call.traced.break_values:  # the segments before run on what is passed as it is
            return
        plan, names = call.traced.call, _leaf_owners(call)
        again: dict[int, list[int]] = {}  # the same array once more, for another history
        for position, ghost in zip(positions_of_ghosts(plan, call.traced.places), plan.ghosts, strict=True):
            again.setdefault(ghost.storage, []).append(position)
        shown: dict[int, list[int]] = {}
        for i, tensor in enumerate(plan.tensors):
            shown.setdefault(tensor.storage, []).append(i)
        for number, storage in enumerate(plan.storages):
            tensors = [plan.tensors[i] for i in shown[number]]
            values = [call.found(tensor.path) for tensor in tensors]
            if (
                storage.graph_input is not None
                and storage.n_written is None
                and storage.layout.is_dense
                and storage.layout.numel
                and all(t.layout is storage.layout and t.offset == 0 for t in tensors)
                and all(_is_whole(value) for value in values)
                and not any(t.requires_grad and t.is_leaf and not t.is_argument for t in tensors)  # parameters
            ):
                owners = [_owner(call.names, tensor.path) for tensor in tensors if tensor.is_argument]
                owner, value = owners[0] if owners else None, values[0]
                wrapper = _wrapper_around(call, tensors[0].path)
                if wrapper is not None:
                    if not owners or all(x._layout.size != wrapper._layout.size for x in leaves_of(wrapper)):
                        continue  # then it is not known what becomes of its size
                    is_like = value._layout.size == wrapper._layout.size
                    value, wrapper = (wrapper, None) if is_like else (value, wrapper)
                for position in (storage.graph_input, *again.get(number, ())):
                    yield _Array(position, value, owner, tuple(shown[number]), within=wrapper)
        leaves = call.key.in_tree.flatten_up_to((call.args, call.kwargs)) if plan.values else []
        for i, number in zip(positions_of_parts(plan, call.traced.places), plan.parts, strict=True):
            tensor = plan.tensors[number]
            owner = _owner(call.names, tensor.path) if tensor.is_argument else None
            yield _Array(i, call.found(tensor.path), owner, (number,))
        for i, value in zip(positions_of_values(plan, call.traced.places), plan.values, strict=True):
            if value.shape:
                yield _Array(i, leaves[value.leaf], names[value.leaf], leaf=value.leaf)


def _wrapper_around(call: TracedCall, path: Path) -> Any:
    """Returns the outermost tensor of a subclass that a tensor is an inner one of; None if it is of none."""
    if path[-1][0] != "attr":
        return None
    around = (call.found(path[:n]) for n in range(1, len(path)))
    return next((value for value in around if is_wrapper(value)), None)


def _tree_key(tree: Any) -> Any:
    """Returns what trees of arguments have in common that differ in the sizes of tensors of subclasses alone."""
    node = tree.node_data()
    if node is None:
        return None
    data = (*node[1].kind, len(node[1].size)) if isinstance(node[1], Frame) else node[1]
    data = tuple(data) if isinstance(data, list) else data  # the keys of a dict
    return node[0], data, tuple(map(_tree_key, tree.children()))


def _is_apart(call: TracedCall) -> str | None:
    """Returns why a call cannot run in the program of a bucket whatever its sizes are; None if it may."""
    traced, key = call.traced, call.key
    if key.watches or not may_be_padded():
        return "anomaly mode, a search for NaNs or a transformation of JAX is on, which would see what is padded"
    if traced.alias.freed or any(ghost.is_empty for ghost in traced.call.ghosts):
        return "storages without bytes are among its tensors"
    arrays = [_array_of(call.found(traced.call.tensors[s.tensor].path)) for s in traced.call.storages]
    if any(map(is_tracer, arrays)):
        return "tensors of it hold symbols of a transformation of JAX"
    if typed_mesh(arrays) is not None:
        return "a tensor of it lies on several devices of a mesh whose axes are part of its type"
    return None


def _held(value: Any) -> Any:
    """Returns the array of a tensor, of a wrapper that of an inner tensor of its shape; of an array, itself."""
    if is_wrapper(value):
        value = next(leaf for leaf in leaves_of(value) if leaf._layout.size == value._layout.size)
    return _array_of(value) if isinstance(value, Tensor) else value


def _array_of(tensor: Tensor) -> Any:
    """Returns the array of a tensor, which may hold the symbols of another thread's trace until that ends."""
    with TRACING:
        return tensor._storage.array


def _parts(arrays: Mapping[int, _Array]) -> Parts:
    """Returns the axes of inputs that lie over several devices."""
    positions = list(arrays)
    parts = parts_of([_held(array.value) for array in arrays.values()])
    return tuple((positions[i], axis, n) for i, axis, n in parts)


def _is_whole(value: Tensor) -> bool:
    """Returns whether a tensor is no view, and what its history began with."""
    history = value._history
    is_of_history = history is None or (history.layout is value._layout and history.offset == 0)
    return value._base_tensor is None and not value._chain and is_of_history


def _graph(traced: Traced, joint: JointGraph | None) -> Graph:
    jaxpr = traced.jaxpr if joint is None else joint.jaxpr
    return Graph(dce(inline(jaxpr, also_custom=True)), (traced, joint))


def _owner(names: Sequence[str], path: Path) -> str:
    """Returns the name of the argument where a path begins."""
    root, (_, which), *_rest = path
    if root[1] == "kwargs":
        return str(which)
    return str(names[which]) if which < len(names) else f"args[{which}]"


def _leaf_owners(call: TracedCall) -> list[str]:
    """Returns the name of the argument that each leaf belongs to."""
    positional, keywords = call.traced.in_tree.children()
    names = call.names
    found = []
    for i, tree in enumerate(positional.children()):
        found += [names[i] if i < len(names) else f"args[{i}]"] * tree.num_leaves
    node = keywords.node_data()
    for name, tree in zip(node[1] if node else (), keywords.children(), strict=True):
        found += [str(name)] * tree.num_leaves
    return found


def _with_leaves(call: TracedCall, leaves: Mapping[int, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if not leaves:
        return call.args, call.kwargs
    given = call.key.in_tree.flatten_up_to((call.args, call.kwargs))
    return pytree.unflatten(call.key.in_tree, [leaves.get(i, leaf) for i, leaf in enumerate(given)])
