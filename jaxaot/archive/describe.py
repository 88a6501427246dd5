"""The signature of a program as plain JSON: what each slot of its graphs is, for people and for other programs.

Whoever runs the programs of an archive without jaxaot reads this: which input of the forward is which argument or which
array of the weights, which output is the new value of what, and what the backward takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

import jax

from jaxaot import _trees as pytree
from jaxaot.archive.codec import to_json
from jaxaot.archive.state import StatePlan
from jaxaot.plan.alias import ArrayOutput, ConstantOutput, TensorOutput
from jaxaot.plan.call import TensorInput
from jaxaot.plan.inputs import in_order
from jaxaot.plan.number_program import ReadNumber
from jaxaot.plan.paths import Path, path_text
from jaxaot.plan.saved import FromForward, FromOutput, FromPrimal, FromRefill, ResidualSource
from jaxaot.plan.stages import Partition, Traced
from jaxaot.plan.world import BuiltArray, ItemWrite, OutsideObject
from jaxaot.runtime.bucket_plan import BucketPlan
from jaxaot.runtime.program import empty_inputs


def describe_program(
    traced: Traced, partition: Partition | None, state: StatePlan, plan: BucketPlan | None = None
) -> dict[str, Any]:
    """Returns what a program takes, changes and returns, and what the slots of its graphs are.

    Args:
      traced: A call of it.
      partition: Its forward and backward.
      state: What it reached.
      plan: How it runs in the program of a bucket, whose slots are those that are described.
    """
    inputs, outputs, signature = graph_inputs(traced, state), graph_outputs(traced), traced.signature
    if plan is not None:
        inputs, outputs = _at_bucket(inputs, outputs, plan)
    empty = set(empty_inputs(traced))
    tensors = zip(signature.inputs, traced.call.tensors, strict=True)
    found: dict[str, Any] = {
        "grad_enabled": traced.call.grad_enabled,
        "inputs": [{**to_json(one), "name": place_text(t.path), "kind": _kind(t)} for one, t in tensors],
        "storages": to_json(signature.storages),
        "outputs": to_json(signature.outputs),
        "generators": to_json(traced.rng.generators),
        "forward": {"inputs": [slot for i, slot in enumerate(inputs) if i not in empty], "outputs": list(outputs)},
    }
    if partition is None:
        return found
    joint, residuals = partition.joint, partition.plan.residuals
    found["forward"]["outputs"] += [{"is": "residual", "number": i} for i in range(partition.plan.n_extra_outputs)]
    passed = [s for s in residuals if not (isinstance(s, FromPrimal) and s.index in empty)]
    cotangents = [{"is": "cotangent", "of": outputs[k]} for k in joint.differentiable_outputs]
    gradients = [{"is": "gradient", "of": inputs[i]} for i in joint.differentiable_inputs]
    found["backward"] = {"inputs": [*(_residual(s, empty) for s in passed), *cotangents], "outputs": gradients}
    found["joint"] = {"inputs": [*inputs, *cotangents], "outputs": [*outputs, *gradients]}
    return found


def _at_bucket(inputs: list[Any], outputs: list[Any], plan: BucketPlan) -> tuple[list[Any], list[Any]]:
    """Returns slots with the shapes at a bucket; after the inputs come the values of the classes of sizes."""
    whole: Any = plan.shared.whole
    inputs = inputs + [{"is": "sizes", "number": i} for i in range(len(plan.fit.given))]
    typed = lambda slots, avals: [
        {**slot, "shape": list(t.shape), "dtype": str(t.dtype)} for slot, t in zip(slots, avals, strict=False)
    ]
    return typed(inputs, whole.in_avals), typed(outputs, whole.out_avals)


def _kind(tensor: TensorInput) -> str:
    if tensor.path[0][1] != "fn":
        return "argument"
    return "parameter" if tensor.requires_grad and tensor.is_leaf else "buffer"


def _residual(source: ResidualSource, empty: set[int]) -> dict[str, Any]:
    match source:
        case FromPrimal(index):
            return {"is": "forward input", "number": index - sum(i < index for i in empty)}
        case FromOutput(index):
            return {"is": "forward output", "number": index}
        case FromForward(index):
            return {"is": "residual", "number": index}
        case FromRefill():
            raise AssertionError("an archive has no storages that are filled again")
        case _:
            assert_never(source)


def graph_inputs(traced: Traced, state: StatePlan) -> list[dict[str, Any]]:
    """Returns what each input of the graph is: an argument, a part of the state, a number, a seed or an offset."""
    call = traced.call
    weights = {tensor.name: state.storages[tensor.spec.storage].array for tensor in state.tensors}
    of_storages = [_place(call.tensors[s.tensor].path, weights) for s in call.storages if s.graph_input is not None]
    slots = [_place(call.tensors[ghost.tensor].path, weights) for ghost in call.ghosts]
    slots += [{"is": "argument", "leaf": value.leaf} for value in call.values]
    leaves = {static.path: static.leaf for static in call.statics if static.path is not None}
    for step in (number.step for number in call.numbers.inputs):
        number, text = call.numbers.numbers[step], call.numbers.text(step)
        leaf = leaves.get(number.path) if isinstance(number, ReadNumber) else None
        slots.append({"is": "number", "text": text} if leaf is None else {"is": "argument", "leaf": leaf})
    held = sorted(
        (array.leaf.graph_input or 0, array.path)
        for array in traced.places.arrays
        if array.leaf.graph_input is not None
    )
    of_places = [_place(path, {array.name: array.name for array in state.arrays}) for _, path in held]
    for i, use in enumerate(use for use in traced.rng.generators if use.is_input):
        slots += [{"is": word, "generator": i, "n_draws": use.n_draws} for word in ("seed", "offset")]
    slots = in_order(call, traced.places, of_storages, of_places, slots)
    types = ({"shape": list(aval.shape), "dtype": str(aval.dtype)} for aval in traced.jaxpr.in_avals)
    return [{**slot, **kind} for slot, kind in zip(slots, types, strict=True)]


def place_text(path: Path) -> str:
    """Returns where something is found: the expression of an argument, the name of a part of the state."""
    if path[0][1] != "fn" or len(path) == 1:
        return path_text(path)
    return str(path[1][1]) + "".join({"_grad": ".grad", "_base_tensor": ".base"}.get(key, "") for _, key in path[2:])


def _place(path: Path, weights: dict[str, str | None]) -> dict[str, Any]:
    name = place_text(path)
    return {"is": "argument" if path[0][1] != "fn" else "state", "name": name, "weights": weights.get(name, name)}


def graph_outputs(traced: Traced) -> list[dict[str, Any]]:
    """Returns what each output of the graph is: the new value of a storage, a result, or part of the state."""
    call, alias = traced.call, traced.alias
    n, n_tensors, n_storages = len(traced.jaxpr.out_avals), len(call.tensors), len(call.storages)
    slots: list[dict[str, Any]] = [{"is": "value of a new tensor"} for _ in range(n)]
    results = pytree.unflatten(traced.out_tree, range(len(alias.outputs)))
    paths = [jax.tree_util.keystr(path) for path, _ in pytree.leaves_with_path(results)]
    for path, source in zip(paths, alias.outputs, strict=True):
        match source:
            case ArrayOutput(output):
                slots[output] = {"is": "result", "name": f"result{path}"}
            case TensorOutput(tensor) if tensor >= n_tensors:
                storage = alias.made[tensor - n_tensors].storage - n_storages
                output = alias.fresh[storage].output if storage >= 0 else None
                if output is not None:
                    slots[output] = {"is": "result", "name": f"result{path}"}
            case TensorOutput() | ConstantOutput() | OutsideObject():
                pass
            case _:
                assert_never(source)
    for item in traced.world.writes:
        if isinstance(item, ItemWrite) and isinstance(item.value, BuiltArray):
            slots[item.value.output] = {"is": "new value", "of": str(getattr(item.key, "value", item.key))}
    for write in alias.writes:
        if write.output is not None:
            tensor = call.tensors[call.storages[write.storage].tensor]
            slots[write.output] = {"is": "new value", "of": place_text(tensor.path)}
    types: Sequence[Any] = traced.jaxpr.out_avals
    return [{**slot, "shape": list(t.shape), "dtype": str(t.dtype)} for slot, t in zip(slots, types, strict=True)]
