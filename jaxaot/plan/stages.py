"""The stages between a function and its executables: each a graph with the plans that go with it.

A *joint graph* computes the forward and the backward in one: primals and cotangents in, outputs and gradients out. A
*partition* is a joint graph cut in two.

Each stage has the method that leads to the next one. What these methods do belongs to the rooms above: `jaxaot.flow`
registers itself here.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, assert_never, cast

from jaxaot import _trees as pytree
from jaxaot._immutable import immutable
from jaxaot._jax import load
from jaxaot._typing import ClosedJaxpr
from jaxaot._unpicklable import OfOneProcess
from jaxaot._util import format_bytes
from jaxaot.ir.placements import NOWHERE, Placed
from jaxaot.ir.regions import Region
from jaxaot.ir.roles import Cotangent, Gradient, InRole, Output, OutRole, Primal, Refill, Residual
from jaxaot.ir.roofline import Target
from jaxaot.ir.text import to_text
from jaxaot.plan.alias import AliasPlan
from jaxaot.plan.annotated import Note, note_of, notes_of
from jaxaot.plan.breaks import BreakValue
from jaxaot.plan.call import CallPlan
from jaxaot.plan.cells import PlacePlan
from jaxaot.plan.facts import Event
from jaxaot.plan.inputs import in_order
from jaxaot.plan.paths import Path
from jaxaot.plan.pictures import as_html
from jaxaot.plan.rng import RngPlan
from jaxaot.plan.saved import (
    FromForward,
    FromOutput,
    FromPrimal,
    FromRefill,
    RecomputedValue,
    ResidualSource,
    SavedValue,
    SavePlan,
    is_saved,
)
from jaxaot.plan.sharding import ON_ONE_DEVICE, Spread
from jaxaot.plan.signature import Signature, make_signature
from jaxaot.plan.timeline import Timeline
from jaxaot.plan.world import OutsideObject, OwnContainers, WorldPlan


class Flow(Protocol):
    """The steps from stage to stage; the module `jaxaot.flow` has them."""

    def joint_of(self, traced: Traced, argnums: int | Sequence[int] | None, /) -> JointGraph: ...
    def partition_of(self, joint: JointGraph, policy: Any, memory_budget: Any, /) -> Partition: ...
    def timeline_of(self, partition: Partition, /) -> Timeline: ...
    def compiled_of(self, partition: Partition, backend: str, /) -> Compiled: ...
    def html_of(self, stage: Traced | JointGraph | Partition, /) -> str: ...
    def run_joint(self, joint: JointGraph, values: Sequence[Any], /) -> list[Any]: ...
    def run_forward(self, compiled: Compiled, values: Sequence[Any], /) -> list[Any]: ...


class _OfFlow:
    """Stands for the module `jaxaot.flow`, which is above this one: a stage is made before somebody takes the next."""

    def __getattr__(self, name: str) -> Any:
        return getattr(load("jaxaot.flow"), name)


_flow: Flow = cast("Any", _OfFlow())


class _Stage(OfOneProcess):
    saved_by = (
        "To keep the function in a file write `ja.export(fn, *args).save(path)`, which `ja.load(path)` reads. To send "
        "it to another process, send `fn` and trace it there."
    )


class _Shown(_Stage):
    """A stage that is shown as its graphs."""

    text: Callable[..., str]

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """Returns what notebooks show: a summary, with the graphs folded in."""
        return _flow.html_of(cast("Any", self))


def _sizes_of(graph: Any) -> str:
    """Returns how much a graph takes, does and gives."""
    counts = {"input": len(graph.in_avals), "equation": len(graph.eqns), "output": len(graph.out_avals)}
    return ", ".join(f"{n} {what}{'s' if n != 1 else ''}" for what, n in counts.items())


@immutable(eq=False)
class Traced(_Shown):
    """A function as a functional graph, with the plans that carry its calls: what `ja.trace` returns.

        traced = ja.trace(fn, x)
        print(traced)                      # the graph, with the user's names and lines
        traced.signature                   # what `fn` takes, changes and returns
        joint = traced.joint()             # the next stage, a `JointGraph`

    Nothing was changed by tracing, and nothing is compiled yet. `ja.explain(traced)` returns all stages as text.

    Attributes:
      jaxpr: A ClosedJaxpr from graph inputs to graph outputs; one input for each storage, written ones are outputs too.
      signature: What the function takes, changes and returns, in the user's names.
      call: What the function takes: storages, tensors on them, and bare values.
      alias: What it wrote, resized and moved, and how its outputs share memory.
      rng: The random generators that it drew from.
      places: What it read outside besides tensors.
      world: What it did to Python's objects.
      break_values: The values that Python asked for, if the function was traced in segments.
      in_tree: Tree of the arguments.
      out_tree: Tree of the result.
      events: What the trace relied on of Python, in the order in which it was met; noted under
        `ja.config(validate_guards=True)` alone.
      is_abstract: Whether tensors that it reached have no values.
      is_mixed: Whether others of them have some.
      shardings: For each graph input how it lay over several devices when it was traced; None elsewhere. The graph
        itself serves all placements.
      own: Which parts of the result are containers from outside; None if there are none.
      view_names: Position of a tensor among those made → the name of its node, where it is not that of its last step.
      order: Of which dicts among the arguments the order counts: of all; of all but the keyword arguments, which the
        function takes by name; of none, where an archive was written when it did not.
    """

    jaxpr: Any
    call: CallPlan
    alias: AliasPlan
    rng: RngPlan
    in_tree: Any
    out_tree: Any
    places: PlacePlan = dataclasses.field(default_factory=PlacePlan)
    break_values: tuple[BreakValue, ...] = ()
    world: WorldPlan = dataclasses.field(default_factory=WorldPlan)
    events: tuple[Event, ...] = ()
    is_abstract: bool = False
    shardings: tuple[Any, ...] = ()
    own: OwnContainers | None = None
    view_names: Mapping[int, str] = dataclasses.field(default_factory=dict)
    order: Literal["all", "arguments", "none"] = "all"
    is_mixed: bool = False

    def in_order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments of a call with their dicts in the order of those traced, where that does not count."""
        if self.order == "none":
            return pytree.in_order(self.in_tree, (args, kwargs))
        words = self.in_tree.children()[1].node_data()[1]
        is_free = self.order == "arguments" and {*words} == kwargs.keys()
        return args, {word: kwargs[word] for word in words} if is_free else kwargs

    @functools.cached_property
    def signature(self) -> Signature:
        """What the function takes, changes and returns."""
        return make_signature(self.call, self.alias, self.rng, (self.in_tree, self.out_tree), self.places, self.world)

    def joint(self, argnums: int | Sequence[int] | None = None) -> JointGraph:
        """Returns the joint graph of outputs and gradients.

        Args:
          argnums: For a function of bare arrays, or of objects that hold them such as flax nnx modules: the arguments
            to differentiate, by default the first; of objects their Params. Tensors are differentiated where they
            require grad.

        Raises:
          NotDifferentiableError: If there is nothing to differentiate.
        """
        return _flow.joint_of(self, argnums)

    @property
    def outside_paths(self) -> tuple[Path, ...]:
        """Where the objects from outside are found that it returned, put elsewhere or changed."""
        held = [o.path for o in self.alias.outputs if isinstance(o, OutsideObject)]
        held += [path for _, path in self.own.leaves if path is not None] if self.own is not None else []
        return (*held, *self.world.paths)

    @property
    def result_tree(self) -> Any:
        """Tree of what a call returns; containers from outside, which it returns themselves, are leaves."""
        return self.out_tree if self.own is None else self.own.tree

    @property
    def is_whole(self) -> bool:
        """Whether the trace came to the end of the function, rather than to a value that was not known."""
        return all(break_values.value is not None for break_values in self.break_values)

    @property
    def needs_backward(self) -> bool:
        """Whether gradients flow through a call."""
        return bool(self.alias.differentiable) and bool(self.alias.reached)

    @property
    def input_names(self) -> tuple[str, ...]:
        """A name for each graph input, in the user's words."""
        call = self.call
        of_storages = [call.tensors[s.tensor].name for s in call.storages if s.graph_input is not None]
        of_places = [name for name, _ in self.places.graph_inputs]
        names = [f"{call.tensors[g.tensor].name} (gradient)" for g in call.ghosts]
        names += [f"argument {v.leaf}" for v in call.values]
        names += [call.tensors[i].name for i in call.parts]
        names += [call.numbers.text(number.step) for number in call.numbers.inputs]
        for i in range(sum(use.is_input for use in self.rng.generators)):
            names += [f"seed {i}", f"offset {i}"]
        return tuple(in_order(call, self.places, of_storages, of_places, names))

    def annotate(self) -> tuple[Note, ...]:
        """Returns what is known of each equation from its types: shape, dtype, bytes, FLOPs."""
        return notes_of(self.jaxpr.jaxpr, "traced")

    def text(self, annotated: bool = False) -> str:
        """Returns the graph as text.

        Args:
          annotated: Whether what is known of each equation stands beside it.
        """
        note = (lambda eqn: str(note_of(eqn, "traced"))) if annotated else None
        return to_text(self.jaxpr, [Primal(i, n) for i, n in enumerate(self.input_names)], name="traced", note=note)

    def __repr__(self) -> str:
        return f"<Traced: {_sizes_of(self.jaxpr)}; `print` shows the graph>"


@immutable(eq=False)
class JointGraph(_Shown):
    """The forward and the backward of a function in one graph: what `Traced.joint` returns.

        joint = ja.trace(fn, x).joint()
        outputs, gradients = joint(primals, cotangents)
        partition = joint.partition("min_cut", memory_budget=0.3)   # the next stage, a `Partition`

    Attributes:
      jaxpr: A ClosedJaxpr from (primals, cotangents) to (outputs, gradients).
      in_roles: What each input means: first the primals, then the cotangents.
      out_roles: What each output means: first the outputs, then contents of freed storages, then the gradients.
      zero_gradients: For each gradient, whether it is zero whatever the inputs are, as no path leads to the outputs.
      regions: The regions of the forward that `ja.utils.checkpoint.checkpoint` and `jax.checkpoint` marked.
      names: The names that `checkpoint_name` gave in the forward.
      passed: What passes did to it, one line for each.
      spread: Over how many devices its values lie.
      placed: How its inputs lie there, and its outputs are to lie, where bytes are counted of one device.
    """

    jaxpr: Any
    in_roles: tuple[InRole, ...]
    out_roles: tuple[OutRole, ...]
    zero_gradients: tuple[bool, ...] = ()
    regions: tuple[Region, ...] = ()
    names: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    spread: Spread = ON_ONE_DEVICE
    placed: Placed = NOWHERE

    @property
    def n_primals(self) -> int:
        """How many inputs are primals."""
        return sum(isinstance(role, Primal) for role in self.in_roles)

    @property
    def n_cotangents(self) -> int:
        """How many inputs are cotangents."""
        return sum(isinstance(role, Cotangent) for role in self.in_roles)

    @property
    def n_outputs(self) -> int:
        """How many outputs are those of the user's function."""
        return sum(isinstance(role, Output) for role in self.out_roles)

    @property
    def n_refills(self) -> int:
        """How many outputs are contents of storages that are filled again before the backward."""
        return sum(isinstance(role, Refill) for role in self.out_roles)

    @property
    def n_gradients(self) -> int:
        """How many outputs are gradients."""
        return sum(isinstance(role, Gradient) for role in self.out_roles)

    @property
    def differentiable_inputs(self) -> tuple[int, ...]:
        """The positions of the primals that have a gradient, in the order of the gradients."""
        return tuple(role.primal for role in self.out_roles if isinstance(role, Gradient))

    @property
    def differentiable_outputs(self) -> tuple[int, ...]:
        """The positions of the outputs that have a cotangent, in the order of the cotangents."""
        return tuple(role.output for role in self.in_roles if isinstance(role, Cotangent))

    def replace(self, jaxpr: ClosedJaxpr) -> JointGraph:
        """Returns the same joint graph with another jaxpr of the same inputs and outputs."""
        return dataclasses.replace(self, jaxpr=jaxpr)

    def partition(
        self, policy: str | Callable[..., Any] | None = None, memory_budget: float | str | None = None
    ) -> Partition:
        """Returns the graph cut into forward and backward.

        Args:
          policy: Name of a policy or one itself; by default the setting in force.
          memory_budget: `None`, a fraction of what `save_all` keeps, bytes such as `"512MiB"`, or the memory that
            everything has to fit in, such as `"fit:16GiB"`. Bytes are of one device.

        Raises:
          PolicyError: If there is no such policy, or if what it says cannot be done.
          BudgetError: If the budget cannot be read or met.
          OffloadError: If the settings allow to offload, and the device cannot.
        """
        return _flow.partition_of(self, policy, memory_budget)

    def __call__(self, primals: Sequence[Any], cotangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Returns the outputs, and for each primal its gradient, or None where it has none.

        Args:
          primals: One for each input of the function.
          cotangents: One for each of `differentiable_outputs`.

        Raises:
          SignatureMismatchError: If these are not what was traced.
        """
        results = _flow.run_joint(self, (*primals, *cotangents))
        gradients: list[Any] = [None] * self.n_primals
        first = self.n_outputs + self.n_refills
        for position, gradient in zip(self.differentiable_inputs, results[first:], strict=True):
            gradients[position] = gradient
        return list(results[: self.n_outputs]), gradients

    def annotate(self) -> tuple[Note, ...]:
        """Returns what is known of each equation from its types: shape, dtype, bytes, FLOPs."""
        return notes_of(self.jaxpr.jaxpr, "joint")

    def text(self, annotated: bool = False) -> str:
        """Returns the graph as text; `annotated` as of `Traced.text`."""
        note = (lambda eqn: str(note_of(eqn, "joint"))) if annotated else None
        return to_text(self.jaxpr, self.in_roles, self.out_roles, name="joint", note=note)

    def __repr__(self) -> str:
        return f"<JointGraph: {_sizes_of(self.jaxpr)}; `print` shows the graph>"


@immutable(eq=False)
class Partition(_Shown):
    """A joint graph cut into a forward and a backward: what `JointGraph.partition` returns.

        partition = joint.partition("min_cut")
        for value in partition.saved:
            print(value.name, value.bytes, value.why)
        compiled = partition.compile()                              # the next stage, a `Compiled`

    Attributes:
      joint: The joint graph.
      forward: A ClosedJaxpr from primals to (outputs, extra residuals).
      backward: A ClosedJaxpr from (residuals in the order of the plan, cotangents) to gradients.
      plan: Where the residuals come from, and what they weigh; `.saved`, `.recomputed` and `.saved_bytes` are its.
      hooks: The hooks on saved tensors that run between the two, one for each residual that they pack.
      target: The device that it was cut for; None for the one in use.
      timeline: The memory in use over the forward and the backward, estimated from shapes.
    """

    joint: JointGraph
    forward: Any
    backward: Any
    plan: SavePlan
    hooks: tuple[Any, ...] = ()
    target: Target | None = None

    def __post_init__(self) -> None:
        joint, residuals = self.joint, self.plan.residuals
        lengths = {
            "inputs of the forward: the primals": (len(self.forward.in_avals), joint.n_primals),
            "outputs of the forward: outputs, then residuals that are neither": (
                len(self.forward.out_avals),
                joint.n_outputs + self.plan.n_extra_outputs,
            ),
            "inputs of the backward: residuals, then cotangents": (
                len(self.backward.in_avals),
                len(residuals) + joint.n_cotangents,
            ),
            "outputs of the backward: gradients": (len(self.backward.out_avals), joint.n_gradients),
            "saved values: residuals that are made": (len(self.plan.saved), sum(map(is_saved, residuals))),
        }
        wrong = [f"{what}: {found}, not {expected}" for what, (found, expected) in lengths.items() if found != expected]
        assert not wrong, "; ".join(wrong)

    @property
    def saved(self) -> tuple[SavedValue, ...]:
        """The values that are kept for the backward and are not primals."""
        return self.plan.saved

    @property
    def recomputed(self) -> tuple[RecomputedValue, ...]:
        """The values that the backward computes again."""
        return self.plan.recomputed

    @property
    def saved_bytes(self) -> int:
        """Bytes of the values that are kept for the backward and are not primals."""
        return self.plan.saved_bytes

    @property
    def forward_out_roles(self) -> tuple[OutRole, ...]:
        """What each output of the forward means."""
        outputs = tuple(role for role in self.joint.out_roles if isinstance(role, Output))
        saved = iter(self.plan.saved)
        names = [(s, next(saved).name) for s in filter(is_saved, self.plan.residuals)]
        extra = {source.index: name for source, name in names if isinstance(source, FromForward)}
        return outputs + tuple(Residual(i, extra[i]) for i in range(self.plan.n_extra_outputs))

    @property
    def backward_in_roles(self) -> tuple[InRole, ...]:
        """What each input of the backward means: a primal, a residual or a cotangent."""
        primals = {role.index: role for role in self.joint.in_roles if isinstance(role, Primal)}
        saved = iter(self.plan.saved)
        refills = [role for role in self.joint.out_roles if isinstance(role, Refill)]

        def role(position: int, source: ResidualSource) -> InRole:
            match source:
                case FromPrimal(index):
                    return primals[index]
                case FromRefill(index):
                    return refills[index]
                case FromOutput() | FromForward():
                    return Residual(position, next(saved).name)
                case _:
                    assert_never(source)

        residuals = tuple(role(i, source) for i, source in enumerate(self.plan.residuals))
        return residuals + tuple(role for role in self.joint.in_roles if isinstance(role, Cotangent))

    @functools.cached_property
    def timeline(self) -> Timeline:
        """The memory in use over the forward and the backward, estimated from shapes."""
        return _flow.timeline_of(self)

    def compile(self, backend: str = "xla") -> Compiled:
        """Returns the forward and the backward as executables."""
        return _flow.compiled_of(self, backend)

    @property
    def _saved_variables(self) -> frozenset[Any]:
        """The variables of the forward that are kept for the backward."""
        outputs, n = self.forward.jaxpr.outvars, self.joint.n_outputs
        sources = filter(is_saved, self.plan.residuals)
        places = (source.index + (n if isinstance(source, FromForward) else 0) for source in sources)
        return frozenset(var for var in (outputs[place] for place in places) if not hasattr(var, "val"))

    def annotate(self) -> tuple[Note, ...]:
        """Returns what is known of each equation: shape, dtype, bytes, FLOPs, and whether it is saved.

        Those of the forward come first, then those of the backward.
        """
        forward = notes_of(self.forward.jaxpr, "forward", self._saved_variables)
        return forward + notes_of(self.backward.jaxpr, "backward", ())

    def text(self, annotated: bool = False) -> str:
        """Returns both graphs and the plan as text; `annotated` as of `Traced.text`."""
        joint, saved = self.joint, self._saved_variables
        notes: list[Any] = [None, None]
        if annotated:
            notes = [lambda e: str(note_of(e, "forward", saved)), lambda e: str(note_of(e, "backward", ()))]
        primals = joint.in_roles[: joint.n_primals]
        gradients = joint.out_roles[-joint.n_gradients :]
        forward = to_text(self.forward, primals, self.forward_out_roles, name="forward", note=notes[0])
        backward = to_text(self.backward, self.backward_in_roles, gradients, name="backward", note=notes[1])
        return f"{forward}\n\n{backward}\n\n{self.plan}"

    def __repr__(self) -> str:
        saved = f"saved values: {len(self.saved)} ({format_bytes(self.saved_bytes)})"
        return f"<Partition: {saved}, recomputed: {len(self.recomputed)}; `print` shows the graphs>"


@immutable(eq=False)
class Compiled(_Stage):
    """A forward and a backward as executables on flat arrays: what `Partition.compile` returns.

        compiled = partition.compile()
        outputs = compiled(*arrays)
        compiled.memory_analysis(), compiled.cost_analysis(), compiled.as_text()

    Attributes:
      forward: Graph inputs to outputs and extra residuals.
      backward: Residuals and cotangents to gradients.
      partition: Where they come from.
    """

    forward: Any
    backward: Any
    partition: Partition

    def __call__(self, *inputs: object) -> list[Any]:
        """Returns the outputs of the forward, without its residuals.

        Raises:
          SignatureMismatchError: If the inputs are not those that were traced.
        """
        return _flow.run_forward(self, inputs)[: self.partition.joint.n_outputs]

    def memory_analysis(self) -> dict[str, Any]:
        """Returns XLA's memory analysis of both executables."""
        return {"forward": self.forward.memory_analysis(), "backward": self.backward.memory_analysis()}

    def cost_analysis(self) -> dict[str, Any]:
        """Returns XLA's cost analysis of both executables."""
        return {"forward": self.forward.cost_analysis(), "backward": self.backward.cost_analysis()}

    def as_text(self) -> str:
        """Returns the StableHLO of both."""
        return f"{self.forward.as_text()}\n{self.backward.as_text()}"

    def __repr__(self) -> str:
        return f"<Compiled: {self.forward!r}, {self.backward!r}>"

    def _repr_html_(self) -> str:
        """Returns what notebooks show: the executables, and the partition that they are of."""
        return as_html(f"{self.forward!r}\n{self.backward!r}") + self.partition._repr_html_()
