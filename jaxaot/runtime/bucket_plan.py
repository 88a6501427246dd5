"""What a call runs in the program of a bucket: graphs and executables that all its sizes share, and what one adds.

The values of the classes of sizes are inputs like others. They come after the primals, so that a backward finds them
among its residuals; the call of each size has its own.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias, assert_never

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import Literal, ShapedArray, is_outermost
from jaxaot._scopes import annotations_of
from jaxaot._typing import Array, ClosedJaxpr
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.facade.nodes.saved import pack
from jaxaot.ir.build import barrier
from jaxaot.ir.extents import Extent, is_padded, length
from jaxaot.ir.regions import HOOKS_SCOPE
from jaxaot.ir.rewrite import add_inputs, rebuild, with_input_order
from jaxaot.ir.roles import Primal
from jaxaot.ir.walk import equation_content, param_key
from jaxaot.lower.padding import Crop, crop_of, padded
from jaxaot.lower.size_class import Fit
from jaxaot.passes.prepare import prepare_backward, prepare_forward
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal, FromRefill
from jaxaot.plan.stages import JointGraph, Partition
from jaxaot.tape.modes import state
from jaxaot.tape.saved_hooks import HookPair
from jaxaot.views.layout import contiguous


def copied(tensor: Tensor) -> Any:
    """Returns the values of a tensor that are about to be padded; on the host, so that nothing is compiled for them."""
    storage, layout = tensor._storage, tensor._layout
    array, held = storage.settled(), storage.layout
    is_plain = layout.dtype == held.dtype and not (layout.is_conj or held.origin or getattr(array, "committed", True))
    if not is_plain or held.reach != held.numel:
        return tensor.jax()
    memory = np.asarray(array).transpose(held.memory_order).reshape(-1)[tensor._offset :]
    strides = [stride * memory.itemsize for stride in layout.stride]
    return jnp.asarray(np.lib.stride_tricks.as_strided(memory, layout.size, strides).copy())


Axes: TypeAlias = tuple[Extent, ...]


def may_be_padded() -> bool:
    """Returns whether a call may run on padded arrays: nobody looks at what is invalid, or differentiates it."""
    of_jax = jax.config
    return is_outermost() and state.anomaly is None and not (of_jax.jax_debug_nans or of_jax.jax_debug_infs)


class Shared:
    """What is made for a bucket, and is there once for the programs of all its sizes.

    Attributes:
      whole: The forward.
      partition: The forward and the backward at the bucket; None if no gradient flows.
      packed: The axes of what hooks on saved tensors pack, in their order; None for what has its size already.
      hooks_inside: The hooks that the function itself enters.
      second: The program of a recorded backward, once one was asked for; or why there is none.
    """

    def __init__(
        self, forward: ClosedJaxpr, partition: Partition | None, make: Callable[..., Any], settings: object,
        cut: Callable[[JointGraph], Partition] | None, packed: Sequence[Axes | None] = (),
        hooks_inside: Sequence[Any] = (),
    ):  # fmt: skip
        """Nothing is compiled yet.

        Args:
          forward: The forward.
          partition: The forward and the backward, if gradients flow.
          make: A backend.
          settings: Those of JAX under which alone it may run.
          cut: Takes a joint graph at the bucket to its forward and backward; None if there is no function to trace.
          packed: See the attributes.
          hooks_inside: Likewise.
        """
        self.whole, self.partition, self.packed, self.hooks_inside = forward, partition, packed, hooks_inside
        self.make, self.settings, self.cut = make, settings, cut
        self.second: Any = None
        self._executables: dict[Any, Any] = {}

    @functools.cached_property
    def forward(self) -> ClosedJaxpr:
        """The forward as it is lowered, if it is one segment."""
        return prepare_forward(self.whole)

    @functools.cached_property
    def backward(self) -> ClosedJaxpr:
        """The backward as it is lowered."""
        assert self.partition is not None, "there is no backward where no gradient flows"
        return prepare_backward(self.partition.backward, len(self.partition.plan.residuals))

    def executable(self, graph: ClosedJaxpr, name: str, donated: Sequence[int], part: object) -> Any:
        """Returns the executable of a graph, which is compiled at its first call.

        Args:
          graph: The graph, the same for all sizes.
          name: `forward` or `backward`.
          donated: The positions of the inputs whose buffers it may reuse.
          part: What part of the forward or backward it is, the same for all sizes too.
        """
        key = name, tuple(donated), part
        if key not in self._executables:
            made = self.make(graph, donated, name)
            made.settings = self.settings
            self._executables[key] = made
        return self._executables[key]


def shared_joint(graph: ClosedJaxpr, joint: JointGraph, n_given: int) -> JointGraph:
    """Returns a joint graph at its bucket, with the values of the classes as its last primals.

    Args:
      graph: The graph, whose first inputs are these values.
      joint: The joint graph at the bucket as it was traced.
      n_given: How many values there are.
    """
    n = joint.n_primals
    moved = with_input_order(graph, [*range(n_given, n_given + n), *range(n_given), *range(n_given + n, _n_in(graph))])
    return dataclasses.replace(joint, jaxpr=moved, in_roles=_roles(joint, n_given))


def _roles(joint: JointGraph, n_given: int) -> tuple[Any, ...]:
    n = joint.n_primals
    return (*joint.in_roles[:n], *(Primal(n + i, f"sizes {i}") for i in range(n_given)), *joint.in_roles[n:])


def _n_in(graph: ClosedJaxpr) -> int:
    return len(graph.jaxpr.invars)


def shared_forward(graph: ClosedJaxpr, n_given: int) -> ClosedJaxpr:
    """Returns a forward at its bucket, with the values of the classes, which are its first inputs, as the last ones."""
    return with_input_order(graph, [*range(n_given, _n_in(graph)), *range(n_given)])


def keeping_padding(parts: Partition, padded_outputs: Sequence[int]) -> Partition:
    """Returns a partition that saves outputs as they are at the bucket, where users get them cut.

    Args:
      parts: The partition at the bucket.
      padded_outputs: The positions of the outputs that are cut.
    """
    moved = [s.index for s in parts.plan.residuals if isinstance(s, FromOutput) and s.index in padded_outputs]
    if not moved:
        return parts
    forward, n = parts.forward, parts.plan.n_extra_outputs
    # values of their own, as where Python asks for values an output is told by its variable
    apart, further = barrier([forward.jaxpr.outvars[i] for i in moved], forward.jaxpr.eqns[-1])
    places = {index: FromForward(n + k) for k, index in enumerate(moved)}
    residuals = tuple(places.get(s.index, s) if isinstance(s, FromOutput) else s for s in parts.plan.residuals)
    return dataclasses.replace(
        parts,
        forward=rebuild(forward, [*forward.jaxpr.eqns, apart], [*forward.jaxpr.outvars, *further]),
        plan=dataclasses.replace(parts.plan, residuals=residuals),
    )


def hooks_inside(graph: ClosedJaxpr) -> tuple[Any, ...]:
    """Returns the hooks on saved tensors that a function enters itself, in the order in which equations have them."""
    stacks = {id(eqn.source_info.name_stack): eqn for eqn in graph.jaxpr.eqns}
    notes = (note for eqn in stacks.values() for note in annotations_of(eqn) if note == HOOKS_SCOPE)
    return tuple(dict.fromkeys(note.value for note in notes))


class _Contents:
    """Numbers the values of graphs by how they are computed from the inputs: those that are computed alike have one."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, closed: ClosedJaxpr) -> dict[Any, int]:
        """Returns the number of each value of a graph."""
        found: dict[Any, int] = {var: -1 - i for i, var in enumerate(closed.jaxpr.invars)}
        for var, constant in zip(closed.jaxpr.constvars, closed.consts, strict=True):
            found[var] = self._number(("constant", param_key(constant)))
        for eqn in closed.jaxpr.eqns:
            if eqn.primitive.name == "optimization_barrier":
                operands = (None if isinstance(atom, Literal) else found[atom] for atom in eqn.invars)
                numbers = [self._number(object()) if n is None else n for n in operands]
            else:
                content = equation_content(eqn, found.__getitem__)
                numbers = [self._number((content, i)) for i in range(len(eqn.outvars))]
            found.update(zip(eqn.outvars, numbers, strict=True))
        return found

    def _number(self, content: Hashable) -> int:
        return self._numbers.setdefault(content, len(self._numbers))


def without_sizes_packed(parts: Partition, n_given: int) -> Partition:
    """Returns a partition whose hooks on saved tensors do not see the values of the classes, the last primals."""
    first, residuals = parts.joint.n_primals - n_given, parts.plan.residuals
    pairs = zip(parts.plan.packed_between, parts.hooks, strict=True)
    is_theirs = lambda source: isinstance(source, FromPrimal) and source.index >= first
    kept = [(place, hooks) for place, hooks in pairs if not is_theirs(residuals[place])]
    plan = dataclasses.replace(parts.plan, packed_between=tuple(place for place, _ in kept))
    return dataclasses.replace(parts, plan=plan, hooks=tuple(hooks for _, hooks in kept))


def packed_extents(parts: Partition, joint: JointGraph, known: Mapping[Any, Axes]) -> list[Axes | None] | None:
    """Returns the axes of each value that hooks pack between forward and backward; None if those of one are not known.

    The passes and the cut make other variables. So a value is known again by how it is computed.

    Args:
      parts: The forward and the backward at the bucket.
      joint: The joint graph that was cut, before the passes.
      known: The axes of the values in that.
    """
    if not parts.plan.packed_between:
        return []
    contents, found = _Contents(), list[Axes | None]()
    axes = {number: known[var] for var, number in contents.of(joint.jaxpr).items() if var in known}
    numbers = contents.of(parts.forward)
    for place in parts.plan.packed_between:
        source = parts.plan.residuals[place]
        match source:
            case FromOutput(index):
                value = parts.forward.jaxpr.outvars[index]
            case FromForward(index):
                value = parts.forward.jaxpr.outvars[parts.joint.n_outputs + index]
            case FromPrimal() | FromRefill():  # an input, which the node holds as it was passed
                found.append(None)
                continue
            case _:
                assert_never(source)
        number = None if isinstance(value, Literal) else numbers[value]
        if number not in axes:
            return None
        found.append(axes[number])
    return found


class HooksAtSize:
    """Hooks on saved tensors that are given what they pack as the exact program has it."""

    def __init__(self, hooks: HookPair, crop: Crop):
        """Wraps a pair.

        Args:
          hooks: The pair.
          crop: How a value at the bucket is cut.
        """
        self.hooks, self.crop = hooks, crop

    def pack(self, tensor: Tensor) -> Any:
        """Returns what is kept of a value at the bucket."""
        array = jnp.asarray(self.crop(tensor.jax()))
        return pack(self.hooks, array, contiguous(tuple(array.shape), array.dtype)), tuple(tensor.shape)

    def unpack(self, kept: Any) -> Tensor:
        """Returns the value at the bucket again; what is invalid there is zero."""
        packed, shape = kept
        return wrap_array(jnp.asarray(self.crop.undone(packed.array(), shape)))


class AtSize:
    """An executable of a bucket, for arrays of one size."""

    def __init__(self, executable: object, pads: Sequence[Any], crops: Sequence[Any]):
        """Wraps it.

        Args:
          executable: The executable.
          pads: The inputs that are made larger, each with its shape.
          crops: The outputs that are cut, each with how.
        """
        self.executable, self._pads, self._crops = executable, tuple(pads), tuple(crops)
        self.donated = executable.donated
        self.makes_fresh_outputs = getattr(executable, "makes_fresh_outputs", False)
        self.settings: Any = None
        self.name_of: Any = None

    def call(self, *args: Array) -> list[Array]:
        """Returns the outputs for arrays of the size."""
        given: list[Any] = list(args)
        for i, shape in self._pads:
            given[i] = padded(given[i], shape)
        results = self.executable.call(*given)
        for i, crop in self._crops:
            results[i] = crop(results[i])
        return results

    def __getattr__(self, name: str) -> Any:
        if name in ("prepare", "executable"):  # what runs is `call`
            raise AttributeError(name)
        return getattr(self.executable, name)


class BucketPlan:
    """How the calls of one size run in the program of a bucket.

    Attributes:
      fit: The values of the classes, and what is padded and cut.
      shared: What all sizes share.
      partition: The forward and the backward at the bucket, with the joint graph of this size; None if no gradient
        flows.
      crops: By position of an output, how it is cut.
    """

    def __init__(self, fit: Fit, partition: Partition | None):
        """Begins; see `bucket_plan`.

        Args:
          fit: What was found for the size.
          partition: The forward and the backward at the bucket, with the joint graph of this size.
        """
        self.fit = fit._replace(origin=None)  # which is large, and not needed again
        self.shared: Shared = fit.made.run
        self.partition = partition
        n_outputs = len(self.shared.whole.out_avals) if partition is None else partition.joint.n_outputs
        self.crops: dict[int, Any] = {i: crop for i, crop in fit.crops if i < n_outputs}

    @property
    def keys(self) -> tuple[Any, ...]:
        """What tells the values of the classes apart among the inputs of several programs."""
        return tuple(("sizes", id(self.fit.made), i) for i in range(len(self.fit.given)))

    def executable(
        self, graph: ClosedJaxpr, donated: Sequence[int], name: str, part: Any = None, crops: Any = None
    ) -> Any:
        """Returns an executable for arrays of the size, in the place of a backend.

        Args:
          graph: The graph.
          donated: The positions of the inputs whose buffers it may reuse.
          name: `forward` or `backward`.
          part: Which segment of the forward it is; None for all of it.
          crops: The outputs that are cut; None for those of the forward.
        """
        found = self.shared.executable(graph, name, donated, part)
        n = len(self.shared.whole.in_avals) - len(self.fit.given)
        pads = [] if part is not None else [(i, shape) for i, shape in self.fit.pads if i < n]
        cut = list(self.crops.items()) if crops is None else crops
        if name == "backward":
            pads, cut = self._of_backward()
        return AtSize(found, pads, cut) if pads or cut else found

    def of_last(self, part: object, outputs: Sequence[int | None]) -> Callable[..., Any]:
        """Returns what makes executables where the forward is cut in segments.

        Args:
          part: Says how it is cut.
          outputs: For each output of the forward, which one of the last segment it is; None if an earlier one has it.
        """
        crops = [(place, self.crops[i]) for i, place in enumerate(outputs) if place is not None and i in self.crops]

        def make(graph: ClosedJaxpr, donated: Sequence[int], name: str) -> Any:
            return self.executable(graph, donated, name, part, crops)

        return make

    def _of_backward(self) -> tuple[list[Any], list[Any]]:
        assert self.partition is not None
        joint, residuals = self.partition.joint, self.partition.plan.residuals
        first = joint.n_primals - len(self.fit.given)
        shapes = {i: shape for i, shape in self.fit.pads if i < first}
        pads = [
            (k, shapes[s.index]) for k, s in enumerate(residuals) if isinstance(s, FromPrimal) and s.index in shapes
        ]
        pads += [(len(residuals) + i - first, shape) for i, shape in self.fit.pads if i >= first]
        n_before = joint.n_outputs + joint.n_refills
        return pads, [(i - n_before, crop) for i, crop in self.fit.crops if i >= n_before]


def bucket_plan(fit: Fit, joint: JointGraph | None) -> BucketPlan:
    """Returns how the calls of one size run in the program of a bucket.

    Args:
      fit: What was found for the size.
      joint: The joint graph at this size; None if no gradient flows.
    """
    if joint is None:
        return BucketPlan(fit, None)
    there = fit.made.run.partition
    assert there is not None, "a bucket without gradients was found for a call with some"
    n, n_in, n_given = joint.n_primals, _n_in(joint.jaxpr), len(fit.given)
    opened = add_inputs(joint.jaxpr, list(map(jax.typeof, fit.given)))
    opened = with_input_order(opened, [*range(n), *range(n_in, n_in + n_given), *range(n, n_in)])
    mine = dataclasses.replace(joint, jaxpr=opened, in_roles=_roles(joint, n_given))
    return BucketPlan(fit, dataclasses.replace(there, joint=mine, hooks=_hooks_at(fit, there)))


def _hooks_at(fit: Fit, there: Partition) -> tuple[Any, ...]:
    """Returns the hooks that pack between forward and backward, for the values of one size."""
    if not there.hooks:
        return ()
    values = dict(zip(fit.made.program.pairs, np.asarray(fit.given[0]).tolist(), strict=True))
    found = []
    for hooks, place, axes in zip(there.hooks, there.plan.packed_between, fit.made.run.packed, strict=True):
        aval = there.backward.jaxpr.invars[place].aval
        shape = aval.shape if axes is None else tuple(length(axis).at(values.__getitem__) for axis in axes)
        crop = None if axes is None else crop_of(axes, values.__getitem__, ShapedArray(shape, aval.dtype))
        at_size = None if crop is None else HooksAtSize(hooks, crop)
        found.append(hooks if at_size is None else HookPair(at_size.pack, at_size.unpack, hooks.inputs))
    return tuple(found)


def cut_outputs(fit_program: object, n_outputs: int) -> list[int]:
    """Returns the positions of the outputs of a program of a bucket that are cut at some sizes."""
    extents = fit_program.outputs[:n_outputs]
    return [i for i, axes in enumerate(extents) if any(map(is_padded, axes))]
