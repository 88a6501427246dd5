"""Export: a module or a function as one graph on values, with a signature that says what is what."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot import _trees as pytree
from jaxaot import settings as config
from jaxaot._jax import jaxpr_as_fun
from jaxaot._typing import ClosedJaxpr
from jaxaot._util import signature_of
from jaxaot.aot.graph import ExportedGraph, is_dynamic
from jaxaot.aot.module import lift, lifted_function
from jaxaot.aot.signature import BackwardSignature, GraphSignature
from jaxaot.aot.values import changed_tensors, changes_in_words, compute_values, require_values, with_arrays
from jaxaot.api import trace
from jaxaot.errors import ExportError, LossError, NoGradPathError, OptionError
from jaxaot.facade.memory.generator import default_generator
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ir.rewrite import inline
from jaxaot.ir.text import unique_names
from jaxaot.joint import build_joint
from jaxaot.ops.promotion import is_complex, is_inexact
from jaxaot.passes.decompose import Table, decompose
from jaxaot.passes.pipeline import joint_passes, run_passes
from jaxaot.plan.alias import ConstantOutput
from jaxaot.plan.difference import leaf_name
from jaxaot.plan.paths import Path, follow
from jaxaot.plan.stages import Traced
from jaxaot.runtime.compiled import uncompiled
from jaxaot.tape.modes import enable_grad, no_grad
from jaxaot.tracer.arguments import flatten_arguments
from jaxaot.tracer.trace import roots


@dataclasses.dataclass(frozen=True)
class _Slot:
    """An input of the exported graph.

    Attributes:
      kind: `parameter`, `buffer`, `user` or `random`.
      name: What it is called.
      example: What it was exported with.
      tensor: Number of the tensor input that it is; None if it is none.
    """

    kind: str
    name: str
    example: Any
    tensor: int | None = None

    @property
    def requires_grad(self) -> bool:
        return isinstance(self.example, Tensor) and self.example.requires_grad


def aot_export_module(
    mod: object,
    args: tuple[Any, ...],
    *,
    decompositions: Table | None = None,
    trace_joint: bool,
    output_loss_index: int | Sequence[int] | None = None,
    pre_dispatch: bool = False,
    dynamic_shapes: Any = None,
    kwargs: dict[str, Any] | None = None,
    variables: object = None,
) -> tuple[ExportedGraph, GraphSignature]:
    """Returns a module's call as one graph on values, and what its inputs and outputs are.

        graph, signature = ja.aot.aot_export_module(model, (x,), trace_joint=True, output_loss_index=0)
        print(graph)
        outputs = graph(*graph.example_inputs)

    The graph takes parameters, buffers, user inputs, and the seeds and offsets of generators. It returns the new values
    of the inputs that were changed, the outputs, and with `trace_joint` the gradients of the loss with respect to
    parameters and user inputs that require grad, in this order. Whoever calls it stores the new values.

    Tensors that the module reaches elsewhere, in closures and globals, are parameters and buffers too. A function that
    runs backward and updates parameters itself is exported without `trace_joint`; it may leave gradients, see
    `GraphSignature.gradients_to_set`. Arguments that share memory are inputs each, with gradients each. If the function
    writes to that memory, the graph relies on their agreeing.

    Args:
      mod: A callable object that holds tensors, a function, a flax nnx module, or a linen module with `variables`.
      args: Example arguments.
      decompositions: Primitives, or their names, with functions that compute the same by others.
      trace_joint: Whether the graph returns gradients too. Without it gradients are not recorded, unless the function
        runs backward itself.
      output_loss_index: Which output is the loss; several, whose sum is differentiated, may be given. The gradients of
        other outputs are not followed.
      pre_dispatch: Must be false.
      dynamic_shapes: Must be empty.
      kwargs: Example keyword arguments.
      variables: Of a linen module that is not bound.

    Raises:
      LossError: If there is no such loss, it is not a scalar, or it does not require grad.
      ExportError: If storages are resized or hold no bytes, or an output is of an unknown type.
      ModuleLiftError: If the module's state cannot become inputs.
      OptionError: If an option is set that has no meaning here.
    """
    if pre_dispatch:
        reason = "pre_dispatch is not supported when trace_joint is True. " if trace_joint else ""
        raise OptionError(
            f"{reason}`pre_dispatch=True` asks for a graph of an earlier stage. Here every stage is at hand: "
            "`ja.trace(fn, *args)` is the graph before gradients, passes and decompositions. Leave it out."
        )
    if dynamic_shapes:
        raise OptionError("`dynamic_shapes` asks for one graph for several sizes; export one graph for each size.")
    lifted = lift(uncompiled(mod), variables)
    depends_on = lifted.refresh()
    given = lifted.inputs(*with_arrays(tuple(args), dict(kwargs or {})))
    parameters, buffers = tuple(lifted.parameters.values()), tuple(lifted.buffers.values())
    inputs = (parameters, buffers, depends_on, *given)
    losses = _loss_positions(output_loss_index) if trace_joint else []
    call = lifted_function(lifted)

    def exported(*inputs: object) -> Any:
        result = call(*inputs)
        _check_losses(result, losses)
        return result

    def trace_with(*inputs: object) -> Traced:
        if not trace_joint:
            return _trace_without_gradients(exported, inputs)
        with enable_grad():
            return trace(exported, *inputs)

    argument_names = _argument_names(lifted.forward, *given)
    found = _with_arguments_apart(trace_with, exported, inputs, len(argument_names))
    traced = found.traced
    require_values(traced)
    names = dict(zip(map(id, (*parameters, *buffers)), (*lifted.parameters, *lifted.buffers), strict=True))
    slots = _slots(found, names, argument_names)
    return _export(traced, slots, losses, isinstance(output_loss_index, int), decompositions, pytree.structure(given))


def _trace_without_gradients(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> Traced:
    try:
        with no_grad():
            return trace(fn, *inputs)
    except NoGradPathError:  # the function runs backward itself
        with enable_grad():
            return trace(fn, *inputs)


@dataclasses.dataclass(frozen=True)
class _Trace:
    """A function that was traced.

    Attributes:
      fn: The function.
      inputs: The arguments that it was traced with.
      traced: Its graph and plans.
      passed: By the identity of arguments that stand for others, these.
    """

    fn: Callable[..., Any]
    inputs: tuple[Any, ...]
    traced: Traced
    passed: Mapping[int, Any] = dataclasses.field(default_factory=dict)

    def found(self, path: Path) -> Any:
        """Returns what a path of a plan leads to."""
        return follow(roots(self.fn, self.inputs, {}), path)

    @functools.cached_property
    def tensors(self) -> list[Any]:
        """The tensors that it took."""
        starts = roots(self.fn, self.inputs, {})
        return [follow(starts, tensor.path) for tensor in self.traced.call.tensors]

    @functools.cached_property
    def leaves(self) -> list[Any]:
        """The leaves of its arguments."""
        return flatten_arguments(self.inputs, {})[0]


def _with_arguments_apart(
    trace_with: Callable[..., Traced], fn: Callable[..., Any], inputs: tuple[Any, ...], n_user_leaves: int
) -> _Trace:
    """Returns the trace of a function whose arguments share no memory, unless it writes to what they share.

    Examples may share memory, or be one tensor, where the inputs of a later call do not.

    Args:
      trace_with: Traces the function.
      fn: The function.
      inputs: Its arguments.
      n_user_leaves: How many of their last leaves are the user's.
    """
    made = _Trace(fn, inputs, trace_with(*inputs))
    traced = made.traced
    storage_of = {id(x): tensor.storage for x, tensor in zip(made.tensors, traced.call.tensors, strict=True)}
    kept = {traced.call.tensors[i].storage for i in changed_tensors(traced)}
    kept |= {write.storage for write in traced.alias.writes if write.is_resized}
    leaves, tree = flatten_arguments(inputs, {})
    n = len(leaves) - n_user_leaves
    users = {id(leaf) for leaf in leaves[n:]}
    taken = {storage for leaf, storage in storage_of.items() if leaf not in users}
    taken |= {storage_of[id(leaf)] for leaf in leaves[:n] if id(leaf) in storage_of}
    passed: dict[int, Any] = {}
    for i, leaf in enumerate(leaves[n:], n):
        storage = storage_of.get(id(leaf))
        if storage is None or storage in kept:
            continue
        if storage in taken:
            with no_grad():
                leaves[i] = leaf.detach().clone().requires_grad_(leaf.requires_grad)
            passed[id(leaves[i])] = leaf
        taken.add(storage)
    if not passed:
        return made
    inputs, _ = pytree.unflatten(tree, leaves)
    return _Trace(fn, inputs, trace_with(*inputs), passed)


def _loss_positions(output_loss_index: Any) -> list[int]:
    if output_loss_index is None:
        raise LossError(
            "If trace_joint=True it is required that one of your forward outputs must be a scalar loss. You must "
            "specify which (index) output is the loss with output_loss_index."
        )
    given = [output_loss_index] if isinstance(output_loss_index, int) else list(output_loss_index)
    if not given or not all(isinstance(i, int) for i in given) or len(set(given)) < len(given):
        raise LossError(f"`output_loss_index` is a position among the outputs, or several, not {output_loss_index!r}.")
    return given


def _check_losses(result: object, losses: Sequence[int]) -> None:
    """Raises unless the outputs at some positions can be the loss."""
    leaves = pytree.leaves(result, is_leaf=lambda x: x is None)
    for i in losses:
        if not -len(leaves) <= i < len(leaves):
            raise LossError(f"output_loss_index is {i}, but the function returns {len(leaves)} values.")
        loss = leaves[i]
        if not isinstance(loss, Tensor):
            raise LossError(
                f"Expected forward output to be either a tensor or a list/tuple of tensors. The output at index {i}, "
                f"which was marked as the loss, is a {type(loss).__name__}."
            )
        if not loss.requires_grad:
            raise LossError(
                f"The output at index {i} was marked as the loss, but it does not require gradients. It has to depend "
                "on a parameter, or on an input with `requires_grad=True`."
            )
        if loss.numel() != 1:
            raise LossError(
                f"We require the output marked as the loss (at index {i}) to be a scalar, but it has shape "
                f"{list(loss.shape)}. Return for instance its mean."
            )
        if is_complex(loss.dtype):
            raise LossError(f"The output at index {i} was marked as the loss, but it is complex. Return a real number.")


def _slots(trace: _Trace, names: Mapping[int, str], argument_names: Sequence[str]) -> list[_Slot]:
    """Returns the inputs of the exported graph: parameters, buffers, user inputs, random inputs.

    Args:
      trace: The traced function.
      names: By the identity of parameters and buffers, their names.
      argument_names: The names of the user's leaves, the last of the inputs.
    """
    traced, objects, leaves = trace.traced, trace.tensors, trace.leaves
    number = {id(tensor): i for i, tensor in enumerate(objects)}
    user_leaves = leaves[len(leaves) - len(argument_names) :]
    users = [
        _Slot("user", name, leaf, number.get(id(leaf)))
        for name, leaf in zip(argument_names, user_leaves, strict=True)
        if is_dynamic(leaf)
    ]
    given = {id(slot.example) for slot in users}
    reached: dict[str, list[_Slot]] = {"parameter": [], "buffer": []}
    for i, tensor in enumerate(objects):
        name = names.get(id(tensor))
        if name is None and id(tensor) in given:
            continue
        is_parameter = tensor.requires_grad and tensor.is_leaf
        if name is None:
            name = traced.call.tensors[i].name.removeprefix("lifted.module.").replace("._grad", ".grad")
        reached["parameter" if is_parameter else "buffer"].append(_Slot("", name, tensor, i))
    order = list(names)  # of the module; what is reached elsewhere comes after it
    place = lambda slot: order.index(id(slot.example)) if id(slot.example) in names else len(order)
    states = [
        dataclasses.replace(slot, kind=kind)
        for kind in ("parameter", "buffer")
        for slot in sorted(reached[kind], key=place)
    ]
    random = []
    for i, use in enumerate(use for use in traced.rng.generators if use.is_input):
        generator = default_generator if use.path is None else trace.found(use.path)
        seed, offset = jnp.asarray(generator._words), jnp.uint32(generator.offset)
        random += [_Slot("random", f"seed{i}", seed), _Slot("random", f"offset{i}", offset)]
    found = [*states, *users, *random]
    unique = unique_names([slot.name for slot in found])
    examples = [trace.passed.get(id(slot.example), slot.example) for slot in found]
    return [
        dataclasses.replace(slot, name=name, example=example)
        for slot, name, example in zip(found, unique, examples, strict=True)
    ]


def _argument_names(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """Returns the name of each leaf of the arguments, such as `x` or `batch['image']`."""
    signature = signature_of(fn)
    parameters = [] if signature is None else list(signature.parameters.values())
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    more = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
    names = [*positional, *(f"{more}[{i}]" for i in range(len(args) - len(positional)))]
    paths = (path for path, _ in pytree.leaves_with_path((args, kwargs), is_leaf=lambda x: x is None))
    return [leaf_name(path, names) for path in paths]


def _spec(value: Any) -> jax.ShapeDtypeStruct:
    dtype = value.dtype if hasattr(value, "dtype") else jnp.result_type(value)
    return jax.ShapeDtypeStruct(tuple(jnp.shape(value)), jax.dtypes.canonicalize_dtype(dtype))


def _value_function(traced: Traced, slots: Sequence[_Slot]) -> Callable[..., Any]:
    """Returns a traced function as a function of the values of its slots."""

    def on_values(values: Sequence[Any]) -> Any:
        tensors: dict[int, Any] = {}
        plain = []
        for slot, value in zip(slots, values, strict=True):
            if slot.tensor is None:
                plain.append(value)
            else:
                tensors.setdefault(slot.tensor, value)  # a tensor that is passed twice is one input
        return compute_values(traced, tensors, plain)

    return on_values


_DIFFERENTIATED: Table = {"stop_gradient": lambda x, **_: x}
"""What means nothing any more once gradients are computed."""


def _passes(decompositions: Table | None) -> tuple[Any, ...]:
    settings = config.get()
    table = {**_DIFFERENTIATED, **(decompositions or {})}
    return functools.partial(decompose, table=table), *joint_passes(settings.passes, settings.exact_rounding)


def _finished(closed: ClosedJaxpr, decompositions: Table | None) -> Any:
    graph = inline(closed, also_custom=True)
    return run_passes(graph, (*_passes(decompositions), "dce"), check=config.get().check_graphs)


def _export(
    traced: Traced,
    slots: Sequence[_Slot],
    losses: Sequence[int],
    is_one_loss: bool,
    decompositions: Table | None,
    in_spec: Any,
) -> tuple[ExportedGraph, GraphSignature]:
    on_values = _value_function(traced, slots)
    alias = traced.alias
    constants = {i: s.value for i, s in enumerate(alias.outputs) if isinstance(s, ConstantOutput)}
    variable = [i for i in range(len(alias.outputs)) if i not in constants]
    loss_places = [variable.index(i % len(alias.outputs)) for i in losses]
    # a tensor that comes in by several slots is written once, under the name of the first
    owners: dict[int, _Slot] = {}
    for slot in slots:
        if slot.tensor is not None:
            owners.setdefault(slot.tensor, slot)
    changed = [slot for slot in owners.values() if slot.tensor in set(changed_tensors(traced))]
    left = {owners[g.tensor].name: g.tensor for g in alias.grads if g.grad is not None}
    cleared = [owners[g.tensor].name for g in alias.grads if g.grad is None]

    def forward(*values: object) -> list[Any]:
        result = on_values(values)
        total = sum(x if x.shape == () else jnp.reshape(x, ()) for x in (result.outputs[i] for i in loss_places))
        flat = [result.changed[slot.tensor] for slot in changed] + result.outputs  # type: ignore[index]
        return flat + [result.grads[tensor] for tensor in left.values()] + ([total] if losses else [])

    closed = jax.make_jaxpr(forward)(*(_spec(slot.example) for slot in slots))
    n_outputs = len(changed) + len(variable)
    wanted: list[int] = []
    if losses:
        # what is one input has one gradient, that of the first slot: the others would count it again
        tensor_of = lambda slot: id(slot.example) if slot.tensor is None else slot.tensor
        first = {tensor_of(slot): i for i, slot in reversed(list(enumerate(slots)))}
        wanted = [
            i
            for i, slot in enumerate(slots)
            if slot.requires_grad and slot.kind in ("parameter", "user") and first[tensor_of(slot)] == i
        ]
        closed = _with_gradients(closed, wanted, [slot.name for slot in slots], n_outputs, len(left))
    gradients = [f"grad({slots[i].name})" for i in wanted]
    names = unique_names(
        [
            *(f"new({slot.name})" for slot in changed),
            *(_output_name(i, loss_places) for i in range(len(variable))),
            *gradients,
            *(f"{name}.grad" for name in left),
        ]
    )
    graph = ExportedGraph(
        _finished(closed, decompositions),
        tuple(slot.name for slot in slots),
        tuple(names),
        tuple(slot.example for slot in slots),
    )
    outputs = names[len(changed) : n_outputs]
    written = list(zip(names, changed, strict=False))
    named = list(zip(names[n_outputs:], (slots[i] for i in wanted), strict=False))
    of_kind = lambda pairs, kind: {name: slot.name for name, slot in pairs if slot.kind == kind}
    listed = lambda kind: [slot.name for slot in slots if slot.kind == kind]
    backward = None
    if losses:
        loss_outputs = [outputs[i] for i in loss_places]
        backward = BackwardSignature(
            of_kind(named, "parameter"), of_kind(named, "user"), loss_outputs[0] if is_one_loss else loss_outputs
        )
    signature = GraphSignature(
        parameters=listed("parameter"),
        buffers=listed("buffer"),
        user_inputs=listed("user"),
        user_outputs=outputs,
        inputs_to_parameters={name: name for name in listed("parameter")},
        inputs_to_buffers={name: name for name in listed("buffer")},
        buffers_to_mutate=of_kind(written, "buffer"),
        parameters_to_mutate=of_kind(written, "parameter"),
        user_inputs_to_mutate=of_kind(written, "user"),
        in_spec=in_spec,
        out_spec=traced.out_tree,
        backward_signature=backward,
        constant_outputs=constants,
        random_inputs=listed("random"),
        n_draws=[use.n_draws for use in traced.rng.generators],
        gradients_to_set={
            **dict(zip(left, names[len(names) - len(left) :], strict=True)), **dict.fromkeys(cleared),
        },
    )  # fmt: skip
    return graph, signature


def _output_name(place: int, loss_places: Sequence[int]) -> str:
    return "loss" if place in loss_places else f"output{place}"


def _with_gradients(
    closed: ClosedJaxpr, wanted: Sequence[int], names: Sequence[str], n_outputs: int, n_left: int
) -> Any:
    """Returns a graph whose last output is the loss, with gradients in its place; the cotangent of the loss is 1."""
    last = n_outputs + n_left
    joint = build_joint(closed, wanted, (last,), names=names)
    settings = config.get()
    passed = run_passes(joint, joint_passes(settings.passes, settings.exact_rounding), check=settings.check_graphs)
    evaluate = jaxpr_as_fun(passed.jaxpr)
    ct = joint.jaxpr.in_avals[-1]

    def started(*values: object) -> list[Any]:
        results = evaluate(*values, jnp.ones(ct.shape, ct.dtype))
        gradients = [jnp.conj(g) if is_complex(g.dtype) else g for g in results[last + 1 :]]
        return [*results[:n_outputs], *gradients, *results[n_outputs:last]]

    return jax.make_jaxpr(started)(*(_spec(aval) for aval in closed.in_avals))


def aot_export_joint_simple(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    *,
    trace_joint: bool,
    num_params_buffers: int = 0,
    decompositions: Table | None = None,
) -> Any:
    """Returns the graph of a function, called like the function itself.

    Without `trace_joint` the result is called with `func`'s own arguments. With it the result is a `JointGraph` of all
    inputs and the cotangents of the outputs that require grad; `graph(primals, cotangents)` returns outputs and
    gradients, and `ja.aot.default_partition(graph)` cuts it into a forward, called like `func`, and a backward.

    Args:
      func: A function of tensors, arrays and numbers. Tensors that it reaches without being passed are constants.
      args: Example arguments.
      trace_joint: Whether to export forward and backward in one.
      num_params_buffers: How many of the leading arguments are parameters and buffers; says nothing here.
      decompositions: None opens nested calls, such as `jax.jit` functions and `jax.nn` activations; `{}` keeps them; a
        table replaces primitives.

    Raises:
      ExportError: If `func` writes to its inputs, draws random numbers, or needs gradients of tensors that it reaches:
        its own calling convention has no place for these.
      NotDifferentiableError: With `trace_joint`, if no gradient flows.
    """
    if not isinstance(args, (tuple, list)):
        raise ExportError(
            f"aot_export_joint_simple requires inputs to be a single list/tuple, not a {type(args).__name__}."
        )
    func, args = uncompiled(func), with_arrays(tuple(args), {})[0]

    def trace_with(*inputs: object) -> Traced:
        with enable_grad() if trace_joint else no_grad():
            return trace(func, *inputs)

    names = _argument_names(func, args, {})
    held = _with_arguments_apart(trace_with, func, args, len(names))
    traced = held.traced
    _require_plain_convention(held, trace_joint)
    require_values(traced)
    found = _slots(held, {}, names)
    slots = [slot for slot in found if slot.kind == "user"]
    constants = {slot.tensor: slot.example.detach().jax() for slot in found if slot.kind != "user"}
    on_values, flows = _value_function(traced, found), []

    def forward(*values: object) -> list[Any]:
        given = iter(values)
        result = on_values([constants[s.tensor] if s.kind != "user" else next(given) for s in found])
        flows[:] = result.flows
        return result.outputs

    closed = jax.make_jaxpr(forward)(*(_spec(slot.example) for slot in slots))
    outputs = traced.alias.outputs
    if not trace_joint:
        keeps_calls = decompositions is not None and not decompositions
        closed = run_passes(closed, ("dce",)) if keeps_calls else _finished(closed, decompositions)
        kept = {i: s.value for i, s in enumerate(outputs) if isinstance(s, ConstantOutput)}
        output_names = tuple(f"output{i}" for i in range(len(outputs) - len(kept)))
        input_names = tuple(slot.name for slot in slots)
        examples = tuple(slot.example for slot in slots)
        return ExportedGraph(closed, input_names, output_names, examples, traced.in_tree, traced.out_tree, kept)
    wanted = [i for i, slot in enumerate(slots) if slot.requires_grad]
    given = [i for i, aval in enumerate(closed.out_avals) if flows[i] and is_inexact(np.dtype(aval.dtype))]
    joint = build_joint(closed, wanted, given, names=[slot.name for slot in slots])
    return run_passes(joint, _passes(decompositions), check=config.get().check_graphs)


def _require_plain_convention(trace: _Trace, trace_joint: bool) -> None:
    """Raises unless a graph called like the function can do all that the function does."""
    traced, call = trace.traced, trace.traced.call
    leaves = list(map(id, trace.leaves))
    n_passed = [leaves.count(id(tensor)) for tensor in trace.tensors]
    problems = [f"it does not support input mutations. {words}" for words in changes_in_words(traced, n_passed)]
    problems += [f"the `.grad` of `{call.tensors[g.tensor].name}` is replaced" for g in traced.alias.grads]
    if any(use.is_input for use in traced.rng.generators):
        problems.append("random numbers are drawn, and the graph would have to take their seed")
    problems += [
        f"`{tensor.name}` requires grad and is no argument"
        for tensor in call.tensors
        if trace_joint and tensor.requires_grad and tensor.path[0][1] == "fn"
    ]
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise ExportError(
            f"aot_export_joint_simple keeps the calling convention of the function, which has no place for this:\n"
            f"{listed}\nUse `ja.aot.aot_export_module`, whose graph takes and returns these too."
        )
