"""What an archive says of how the calls of one program are carried out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

import jax

from jaxaot._immutable import immutable
from jaxaot._typing import PyTreeDef, Shape
from jaxaot.ir.roles import InRole, OutRole
from jaxaot.lower.padding import Crop
from jaxaot.plan.alias import AliasPlan
from jaxaot.plan.call import CallPlan
from jaxaot.plan.cells import PlacePlan
from jaxaot.plan.rng import RngPlan
from jaxaot.plan.saved import SavePlan, TapePlan
from jaxaot.plan.stages import Partition, Traced
from jaxaot.plan.world import WorldPlan
from jaxaot.runtime.bucket_plan import BucketPlan
from jaxaot.runtime.double_backward import tape_plan

Types = tuple[jax.ShapeDtypeStruct, ...]
"""The types of the inputs or outputs of a graph."""


def types_of(avals: Sequence[Any]) -> Types:
    """Returns types as archives hold them."""
    return tuple(jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals)


@immutable
class BackwardPlans:
    """How gradients flow: what is saved, what the node of a call needs to know, and the slots of the joint graph."""

    saved: SavePlan
    tape: TapePlan
    in_roles: tuple[InRole, ...]
    out_roles: tuple[OutRole, ...]
    zero_gradients: tuple[bool, ...]
    in_types: Types


@immutable
class BucketPlans:
    """How a size runs in the program of its bucket.

    Attributes:
      in_types: The types of that program's inputs.
      given: The names of the arrays that it takes for the size.
      pads: Inputs that are made larger, and their shapes.
      crops: Outputs that are cut.
    """

    in_types: Types
    given: tuple[str, ...]
    pads: tuple[tuple[int, Shape], ...]
    crops: tuple[tuple[int, Crop], ...]


@immutable
class ProgramPlans:
    """How calls are carried out: the plans of a traced function, the types of its graph, and what comes after."""

    call: CallPlan
    alias: AliasPlan
    rng: RngPlan
    places: PlacePlan
    world: WorldPlan
    in_tree: PyTreeDef
    out_tree: PyTreeDef
    order: Literal["all", "arguments"]
    in_types: Types
    out_types: Types
    backward: BackwardPlans | None
    bucket: BucketPlans | None

    @property
    def traced(self) -> Traced:
        """The traced function, whose graph is elsewhere."""
        return Traced(
            None, self.call, self.alias, self.rng, self.in_tree, self.out_tree, self.places, world=self.world,
            order=self.order,
        )  # fmt: skip


def plans_of(
    traced: Traced, original: Traced, partition: Partition | None, is_differentiable: bool = False,
    bucket: BucketPlan | None = None, given: Sequence[str] = (),
) -> ProgramPlans:  # fmt: skip
    """Returns what an archive says of a program.

    Args:
      traced: A call, with plans that need no source.
      original: The same with the plans of this process.
      partition: Its forward and backward.
      is_differentiable: Whether its backward has a derivative.
      bucket: How it runs in the program of a bucket.
      given: The names of the arrays that this program takes for its sizes.
    """
    backward = padded = None
    if partition is not None:
        tape, joint = tape_plan(original, partition), partition.joint
        backward = BackwardPlans(
            dataclasses.replace(partition.plan, recomputed=(), recompute_seconds=None, least_seconds=None),
            TapePlan(tape.primals if is_differentiable else (), tape.apart, is_differentiable),
            joint.in_roles, joint.out_roles, tuple(joint.zero_gradients), types_of(partition.backward.in_avals),
        )  # fmt: skip
    if bucket is not None:
        padded = BucketPlans(types_of(bucket.shared.whole.in_avals), tuple(given), bucket.fit.pads, bucket.fit.crops)
    names = ("call", "alias", "rng", "places", "world", "in_tree", "out_tree", "order")
    held: Any = {name: getattr(traced, name) for name in names}
    in_types, out_types = types_of(traced.jaxpr.in_avals), types_of(traced.jaxpr.out_avals)
    return ProgramPlans(**held, in_types=in_types, out_types=out_types, backward=backward, bucket=padded)
