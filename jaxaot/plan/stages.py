"""The stages between a function and its executables: each a graph with the plans that go with it.

A *joint graph* computes the forward and the backward in one: primals and cotangents in, outputs and gradients out. A
*partition* is a joint graph cut in two.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxaot._typing import ClosedJaxpr
from jaxaot.ir.regions import Region
from jaxaot.ir.roles import Cotangent, Gradient, InRole, Output, OutRole, Primal, Refill, Residual
from jaxaot.ir.text import to_text
from jaxaot.plan.alias import AliasPlan
from jaxaot.plan.asked import AskedValue
from jaxaot.plan.call import CallPlan, Path
from jaxaot.plan.places import OutsideObject, PlacePlan
from jaxaot.plan.rng import RngPlan
from jaxaot.plan.saved import FromForward, FromPrimal, FromRefill, RecomputedValue, SavedValue, SavePlan


@dataclasses.dataclass(frozen=True, eq=False)
class JointGraph:
    """The forward and the backward of a function in one graph.

    Attributes:
      jaxpr: A ClosedJaxpr from (primals, cotangents) to (outputs, gradients).
      in_roles: What each input means: first all `Primal`, then all `Cotangent`.
      out_roles: What each output means: first all `Output`, then all `Refill`, then all `Gradient`.
      zero_gradients: For each gradient, whether it is zero whatever the inputs are.
      regions: The regions of the forward; equations say by their tags which they belong to.
      names: The names that `checkpoint_name` gave in the forward.
    """

    jaxpr: Any
    in_roles: tuple[InRole, ...]
    out_roles: tuple[OutRole, ...]
    zero_gradients: tuple[bool, ...] = ()
    regions: tuple[Region, ...] = ()
    names: tuple[str, ...] = ()

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

    def __str__(self) -> str:
        return to_text(self.jaxpr, self.in_roles, self.out_roles, name="joint")


@dataclasses.dataclass(frozen=True, eq=False)
class Partition:
    """A joint graph cut into a forward and a backward.

    Attributes:
      joint: The joint graph.
      forward: A ClosedJaxpr from primals to (outputs, extra residuals).
      backward: A ClosedJaxpr from (residuals in the order of the plan, cotangents) to gradients.
      plan: Where the residuals come from, and what they weigh.
      hooks: The pairs of hooks that run between the two, one for each residual that the plan says is packed there.
    """

    joint: JointGraph
    forward: Any
    backward: Any
    plan: SavePlan
    hooks: tuple[Any, ...] = ()

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
        names = [(s, next(saved).name) for s in self.plan.residuals if not isinstance(s, (FromPrimal, FromRefill))]
        extra = {source.index: name for source, name in names if isinstance(source, FromForward)}
        return outputs + tuple(Residual(i, extra[i]) for i in range(self.plan.n_extra_outputs))

    @property
    def backward_in_roles(self) -> tuple[InRole, ...]:
        """What each input of the backward means: a primal, a residual or a cotangent."""
        primals = {role.index: role for role in self.joint.in_roles if isinstance(role, Primal)}
        saved = iter(self.plan.saved)
        refills = [role for role in self.joint.out_roles if isinstance(role, Refill)]

        def role(position: int, source: Any) -> InRole:
            match source:
                case FromPrimal(index):
                    return primals[index]
                case FromRefill(index):
                    return refills[index]
            return Residual(position, next(saved).name)

        residuals = tuple(role(i, source) for i, source in enumerate(self.plan.residuals))
        return residuals + tuple(role for role in self.joint.in_roles if isinstance(role, Cotangent))

    def __str__(self) -> str:
        joint = self.joint
        primals = joint.in_roles[: joint.n_primals]
        gradients = joint.out_roles[-joint.n_gradients :]
        forward = to_text(self.forward, primals, self.forward_out_roles, name="forward")
        backward = to_text(self.backward, self.backward_in_roles, gradients, name="backward")
        return f"{forward}\n\n{backward}\n\n{self.plan}"


@dataclasses.dataclass(frozen=True, eq=False)
class Traced:
    """A function as a functional graph, with the plans that carry its calls.

    Attributes:
      jaxpr: A ClosedJaxpr from graph inputs to graph outputs.
      call: What the function takes.
      alias: What it did, and how its outputs come back.
      rng: What it drew.
      in_tree: Tree of the arguments.
      out_tree: Tree of the result.
      places: What it reached outside besides tensors, and what it did to it.
      asked: The values that Python asked for, if the function was traced in segments.
    """

    jaxpr: Any
    call: CallPlan
    alias: AliasPlan
    rng: RngPlan
    in_tree: Any
    out_tree: Any
    places: PlacePlan = dataclasses.field(default_factory=PlacePlan)
    asked: tuple[AskedValue, ...] = ()

    @property
    def outside_paths(self) -> tuple[Path, ...]:
        """Where the objects from outside are found that it returned, put elsewhere or changed."""
        held = [o.path for o in self.alias.outputs if isinstance(o, OutsideObject)]
        return (*held, *self.places.outside_paths)

    @property
    def is_whole(self) -> bool:
        """Whether the trace came to the end of the function, rather than to a value that was not known."""
        return all(asked.value is not None for asked in self.asked)

    @property
    def needs_backward(self) -> bool:
        """Whether gradients flow through a call."""
        return bool(self.alias.differentiable) and bool(self.alias.reached)

    @property
    def input_names(self) -> tuple[str, ...]:
        """A name for each graph input, in the user's words."""
        call = self.call
        names = [call.tensors[s.tensor].name for s in call.storages if s.graph_input is not None]
        names += [f"{call.tensors[g.tensor].name} (gradient)" for g in call.ghosts]
        names += [f"argument {v.leaf}" for v in call.values]
        names += [name for name, _ in self.places.graph_inputs]
        for i in range(sum(use.is_input for use in self.rng.generators)):
            names += [f"seed {i}", f"offset {i}"]
        return tuple(names)

    def __str__(self) -> str:
        return to_text(self.jaxpr, [Primal(i, n) for i, n in enumerate(self.input_names)], None, name="traced")
