"""plan(fn, *args, target="v5e"): what the compiler of a device makes of a function, without the device."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from jaxaot import _trees as pytree
from jaxaot._jax import jaxpr_as_fun
from jaxaot._placement import for_several, placement_of
from jaxaot._progress import working
from jaxaot._typing import ClosedJaxpr
from jaxaot._util import format_bytes
from jaxaot.backend.cpu.options import gathering_by_layers
from jaxaot.errors import ArgumentError
from jaxaot.ir.meshes import mesh_of, on_mesh
from jaxaot.ir.roofline import TARGETS, Target, assuming
from jaxaot.lower.collectives import Collective, collectives, collectives_text
from jaxaot.partition.budget import check_budget, parse_size
from jaxaot.partition.policies import get_policy
from jaxaot.plan.pictures import Printed
from jaxaot.profiling.arguments import check_shapes, require_function
from jaxaot.profiling.devices import absent_device, absent_devices
from jaxaot.profiling.modules import as_function
from jaxaot.profiling.profile import Asked, cut, differentiated, estimate, name_of, traced_shapes
from jaxaot.runtime.on_devices import programs_on_devices
from jaxaot.settings import config


@dataclasses.dataclass(frozen=True)
class Program:
    """What the compiler says of one program.

    Attributes:
      name: `"forward"` or `"backward"`.
      argument_bytes: What its inputs take.
      output_bytes: What its results take.
      temporary_bytes: What it takes besides while it runs.
      host_bytes: What it takes of the memory of the host.
      flops: FLOPs as the compiler counts them; None if it does not say.
      collectives: What the device exchanges with others.
    """

    name: str
    argument_bytes: int
    output_bytes: int
    temporary_bytes: int
    host_bytes: int
    flops: float | None
    collectives: tuple[Collective, ...] = ()


@dataclasses.dataclass(frozen=True, repr=False)
class DevicePlan(Printed):
    """What a function takes on a device that is not there: what `ja.estimate.plan` returns.

    Attributes:
      name: What the function is called.
      target: The device.
      programs: The programs that its compiler made: a forward, and a backward if there is one.
      saved_bytes: What the forward keeps for the backward, besides inputs and results.
      held_bytes: What inputs and results take, which are in use throughout.
      estimated_bytes: The most that is in use at any time by the estimate from shapes, as `ja.estimate.profile` has it;
        of all devices together.
      refused: What the compiler says if the function does not fit into the device's memory; else None.
      n_devices: Over how many devices the arguments lie; all else is of one of them.
    """

    name: str
    target: Target
    programs: tuple[Program, ...]
    saved_bytes: int
    held_bytes: int
    estimated_bytes: int
    refused: str | None = None
    n_devices: int = 1

    @property
    def peak_bytes(self) -> int | None:
        """The most that is in use at any time, by the compiler's analysis; None if it refused the function."""
        if self.refused is not None:
            return None
        return self.held_bytes + self.saved_bytes + max(program.temporary_bytes for program in self.programs)

    def fits(self, memory: int | str | Target | None = None) -> bool:
        """Returns whether it fits.

        Args:
          memory: Bytes, a text such as `"16GiB"`, or a target; by default the memory of the device.

        Raises:
          BudgetError: If it cannot be read.
        """
        return self.peak_bytes is not None and self.peak_bytes <= parse_size(self.target if memory is None else memory)

    def __repr__(self) -> str:
        return f"<DevicePlan of {self.name} for {self.target.name}>"

    def __str__(self) -> str:
        several = self.n_devices > 1
        of_all = f", {self.n_devices} devices together" if several else ""
        estimate = f"estimated from shapes{of_all}: {format_bytes(self.estimated_bytes)}"
        if self.peak_bytes is None:
            return f"{self.name} does not fit on {self.target.name}: {self.refused}\n{estimate}"
        where = f"{self.n_devices} of {self.target.name}, each" if several else self.target.name
        lines = [
            f"{self.name} compiled for {where}: at most {format_bytes(self.peak_bytes)} in use, of which "
            f"{format_bytes(self.held_bytes)} inputs and results, {format_bytes(self.saved_bytes)} kept for the "
            "backward"
        ]
        lines += [
            f"  {program.name}: {format_bytes(program.temporary_bytes)} temporary, "
            f"{format_bytes(program.argument_bytes)} in, {format_bytes(program.output_bytes)} out"
            + (f", {format_bytes(program.host_bytes)} on the host" if program.host_bytes else "")
            + "".join(f"\n    {line}" for line in collectives_text(program.collectives).split("\n") if several)
            for program in self.programs
        ]
        return "\n".join([*lines, estimate])


def plan(
    fn: Callable[..., Any],
    /,
    *args: object,
    target: str,
    backward: bool = True,
    memory_budget: float | str | None = None,
    policy: str | Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
) -> DevicePlan:
    """Returns what a function takes on a device that is not there, as the device's own compiler says.

        print(ja.estimate.plan(loss, params, batch, target="v5e", memory_budget=0.3))

    Forward and backward are compiled apart, as `ja.compile` does. Nothing is run. If arguments, parameters or types lie
    on a mesh of several devices, it is compiled for as many, and everything is said of one of them.

    Args:
      fn: A function or a module, as `ja.estimate.profile` takes it.
      *args: Its arguments, or their types. The mesh of a type may be a `jax.sharding.AbstractMesh`.
      target: `"v4"`, `"v5e"`, `"v5p"`, `"v6e"`, `"tpu7x"`, `"a100"`, `"h100"` or `"h200"`.
      backward: Whether it is differentiated.
      memory_budget: The most that may be kept for the backward.
      policy: What may be kept.
      argnums: The arguments to differentiate.

    Raises:
      MissingExtraError: If the compiler is not installed: `pip install "jaxaot[tpu-plan]"` or `"jaxaot[gpu-plan]"`.
      ArgumentError: If there is no such device, or not as many.
      PlacementError: If the arguments lie on several meshes.
      CompilerError: If the compiler cannot compile it.
      PolicyError: If there is no such policy.
      BudgetError: If the budget cannot be read or met.
    """
    require_function(fn, "ja.estimate.plan")
    if not isinstance(target, str):
        raise ArgumentError(
            f"`ja.estimate.plan` compiles for devices that there are, by name, and was given {target!r}. For one of "
            "your own, `ja.estimate.profile(fn, *args, target=…)` estimates from shapes."
        )
    check_budget(memory_budget)
    if policy is not None:
        get_policy(policy)
    absent_device(target)  # says what is wrong before anything is traced
    check_shapes(args, "ja.estimate.plan")
    call, arguments = as_function(fn, args)
    numbers = argnums if isinstance(argnums, int) else tuple(argnums)
    asked = Asked(backward, TARGETS[target], memory_budget, policy, numbers)
    on_mesh_there = any(placement_of(leaf) is not None for leaf in pytree.leaves(arguments))
    with for_several() if on_mesh_there else contextlib.nullcontext(), working(f"`{name_of(call)}` on a {target}"):
        return _planned(call, arguments, asked, target)


def _planned(call: Callable[..., Any], arguments: tuple[Any, ...], asked: Asked, target: str) -> DevicePlan:
    traced = traced_shapes(call, arguments, {})
    mesh = mesh_of(traced.shardings)
    n_devices = 1 if mesh is None else mesh.size
    devices = np.array(absent_devices(target, n_devices)[:n_devices])
    axes = {"x": 1} if mesh is None else dict(mesh.shape)
    there = Mesh(devices.reshape(tuple(axes.values())), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))
    with config(costs=target), assuming(TARGETS[target]):
        expected = estimate(traced, asked).timeline()
        parts = cut(differentiated(traced, asked), asked) if asked.backward else None
        name, held, peak = name_of(call), expected.held_bytes, expected.peak_bytes
        saved = 0 if parts is None else parts.plan.extra_bytes
        compiler = functools.partial(_compiled_on, there)
        try:
            made = programs_on_devices(traced, parts, compiler)
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            return DevicePlan(name, TARGETS[target], (), saved, held, peak, _first_line(str(error)), n_devices)
    programs = tuple(_program(side, compiled) for side, compiled in made.items())
    if n_devices > 1:  # how much of each value a device holds, the compiler says
        saved = programs[0].output_bytes if asked.backward else 0
        held = programs[0].argument_bytes + programs[-1].output_bytes
    return DevicePlan(name, TARGETS[target], programs, saved, held, peak, None, n_devices)


def _compiled_on(mesh: Mesh, graph: ClosedJaxpr, name: str, shardings: Sequence[Any]) -> Any:
    """Returns a graph compiled for the devices of a mesh; what lies on none is on all of them."""
    whole = NamedSharding(mesh, PartitionSpec())
    lain = [NamedSharding(mesh, s.spec) if isinstance(s, NamedSharding) else s or whole for s in shardings]
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=s) for a, s in zip(graph.in_avals, lain, strict=True)]
    several_gpus = mesh.size > 1 and mesh.devices.flat[0].platform in ("gpu", "cuda")
    options = gathering_by_layers(mesh.size) if several_gpus else None
    with working(f"compiling the {name}"):
        return jax.jit(jaxpr_as_fun(on_mesh(graph, mesh)), compiler_options=options).lower(*specs).compile()


def placed_on(device: Any, tree: Any) -> Any:
    """Returns the types of a tree of arrays or types, as if the arrays lay on a device."""
    sharding = NamedSharding(Mesh(np.array([device]), ("x",)), PartitionSpec())
    return pytree.mapped(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding), tree)


def compiled_for(device: Any, fn: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Returns a function compiled for a device that need not be there."""
    return jax.jit(fn).lower(*placed_on(device, tuple(args))).compile()


def _program(name: str, compiled: Any) -> Program:
    memory = compiled.memory_analysis()
    try:
        costs = compiled.cost_analysis()
    except NotImplementedError:
        costs = None
    flops = costs.get("flops") if isinstance(costs, dict) else None
    return Program(
        name,
        int(memory.argument_size_in_bytes),
        int(memory.output_size_in_bytes),
        int(memory.temp_size_in_bytes),
        int(getattr(memory, "host_temp_size_in_bytes", 0)) + int(getattr(memory, "host_output_size_in_bytes", 0)),
        flops,
        collectives(compiled.as_text()),
    )


def _first_line(message: str) -> str:
    return re.sub(r"\s+", " ", message.split("\n\n")[0]).strip()[:300]
