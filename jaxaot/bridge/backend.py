"""`torch.compile(model, backend="jaxaot")`: each graph that Dynamo finds is a compiled function of jaxaot's.

PyTorch's tensors go in and come out by dlpack. JAX takes an array to be constant and PyTorch writes to its memory, so
three things are seen to. What shares memory with an input is copied before the input is written. Residuals are saved
by PyTorch, which says when one was written since, frees them, and offers them to hooks. And a call ends when its
arrays are there.

The call leaves one node on PyTorch's tape. Its backward is jaxaot's tape over the call; where that is recorded, it
leaves a node of the same kind. What was written to an input is copied into it behind that node, and a view of an input
is a view of PyTorch's.
"""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot.api import compile as compiled
from jaxaot.bridge.exchange import unwrapped
from jaxaot.bridge.library import DEVICE, DEVICE_TYPE, torch
from jaxaot.bridge.modes import without_hooks
from jaxaot.bridge.tensor import Tensor, handle_of
from jaxaot.errors import BudgetError, NoCounterpartError, PolicyError, UsageError
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.gradients.grad import grad as gradients_of
from jaxaot.facade.gradients.grad import recording
from jaxaot.facade.memory.tensor import Tensor as Held
from jaxaot.runtime.backward import CompiledNode
from jaxaot.transforms.custom_function import Function

fx: Any = importlib.import_module("torch.fx")
_OPTIONS = ("buckets", "dynamic", "max_programs", "memory_budget", "policy")
_arrays: Any = importlib.import_module("torch.utils.weak").WeakTensorKeyDictionary()
"""Parameter → where its memory is, and the array on it, which says what is there now."""


def backend(graph: Any, examples: Sequence[Any], *, mode: str | None = None, options: Any = None) -> Any:
    """Returns a graph of Dynamo's as a function of PyTorch's tensors that JAX runs: a backend of `torch.compile`.

        fast = torch.compile(model, backend="jaxaot", options={"memory_budget": "512MiB"})

    Where jaxaot is not installed but imported from a folder, write `backend=ja.torch.backend`. Forward and backward are
    cut as by `ja.compile`. A graph for which JAX has no counterpart is run by PyTorch, after a warning. Random numbers
    are JAX's, from seeds of PyTorch's. The process needs no `jax_enable_x64`.

    Args:
      graph: The `torch.fx.GraphModule`.
      examples: Arguments of it; they are not looked at, as a program is made at the first call.
      mode: One of PyTorch's modes, without effect.
      options: What `ja.compile` takes: `"memory_budget"`, `"policy"`, `"dynamic"`, `"buckets"`, `"max_programs"`.

    Raises:
      UsageError: If there is no such option, or it cannot be read.
      BudgetError, PolicyError: If the budget cannot be read, or there is no such policy.
    """
    unknown = [name for name in options or () if name not in _OPTIONS]
    if unknown:
        raise UsageError(
            f"`torch.compile(…, backend='jaxaot', options=…)` was given {', '.join(map(repr, unknown))}. The options "
            f"are those of `ja.compile`: {', '.join(map(repr, _OPTIONS))}."
        )
    return Graph(graph, mode, options or {})


# -- the graph ------------------------------------------------------------


def _called(graph: Any, *args: Any, use_reentrant: bool = False, **_: object) -> Any:
    """Runs what PyTorch would checkpoint: the cut decides what is saved."""
    return graph(*args)


def _on_jax(graph: Any) -> tuple[Any, list[str]]:
    """Returns a graph whose tensors are made on JAX, and the names of the tensors it has as constants.

    These are arguments of it, behind the others.
    """
    made = fx.Graph()
    made.output(made.graph_copy(graph.graph, {}))
    constants: list[Any] = []
    modules = {}
    for node in made.nodes:
        if node.op == "get_attr":
            value = _attribute(graph, node.target)
            if isinstance(value, torch.Tensor):
                constants.append(node)
            elif isinstance(value, fx.GraphModule):
                modules[node.target] = _on_jax(value)[0]
        elif node.op == "call_method" and node.target in ("cpu", "cuda"):
            node.target, node.args, node.kwargs = "to", (node.args[0], DEVICE), {}
        elif node.target is torch.amp.autocast_mode._enter_autocast:
            node.args = (DEVICE_TYPE, *node.args[1:])
        elif node.target is torch.ops.higher_order.tag_activation_checkpoint:
            node.target = _called
        node.args, node.kwargs = fx.node.map_aggregate((node.args, dict(node.kwargs)), _device)
        if node.kwargs.get("device") in ("cpu", "cuda"):
            node.kwargs = {**node.kwargs, "device": DEVICE}
    names = [node.target for node in constants]
    for node in constants:
        last = [n for n in made.nodes if n.op == "placeholder"]
        with made.inserting_after(last[-1]) if last else made.inserting_before(next(iter(made.nodes))):
            node.replace_all_uses_with(made.placeholder(f"constant_{node.name}"))
        made.erase_node(node)
    result = fx.GraphModule(graph, made)
    for name, module in modules.items():
        setattr(result, name, module)
    return result, names


def _device(value: Any) -> Any:
    return DEVICE if isinstance(value, torch.device) and value.type != "meta" else value


def _attribute(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name)
    return module


class Graph:
    """A graph of Dynamo's, compiled at its first call for each kind of call.

    Attributes:
      graph: The graph as Dynamo made it, which PyTorch runs where JAX has no counterpart.
      run: What `ja.compile` made of it.
      is_refused: Whether PyTorch runs it.
    """

    def __init__(self, graph: Any, mode: str | None, options: dict[str, Any]):
        self.graph, self.is_refused = graph, False
        on_jax, self._constants = _on_jax(graph)
        forward = on_jax.forward

        def run(*args: Any) -> Any:
            found = forward(*(handle_of(x) if isinstance(x, Held) else x for x in args))
            return tuple(map(unwrapped, found))

        self.run = compiled(run, fullgraph=True, mode=mode, **options)

    def __call__(self, *args: Any) -> Any:
        if self.is_refused:
            return self.graph(*args)
        given = [*args, *(_attribute(self.graph, name) for name in self._constants)]
        try:
            with jax.enable_x64(True):
                call = Call(self.run, given)
        except (BudgetError, PolicyError, UsageError):
            raise
        except Exception as error:
            found = self.graph(*args)  # which raises too if the graph is wrong
            self.is_refused = True
            warnings.warn(
                f"A graph of torch.compile is run by PyTorch, as JAX has no counterpart for it: {error}", stacklevel=2
            )
            return found
        with jax.enable_x64(True):
            return call.results()


# -- memory ------------------------------------------------------------


def _array(tensor: Any) -> jax.Array:
    """Returns an array on the memory of a contiguous tensor of PyTorch, where JAX takes it as it lies."""
    if not isinstance(tensor, torch.nn.Parameter):
        return jnp.from_dlpack(tensor.detach())
    place = tensor.data_ptr(), tensor.shape, tensor.dtype
    found = _arrays.get(tensor)
    if found is None or found[0] != place:
        found = _arrays[tensor] = place, jnp.from_dlpack(tensor.detach())
    return found[1]


def _tensor(array: jax.Array) -> Any:
    return torch.from_dlpack(array)


def _place(array: Any) -> int:
    """Returns where the memory of an array is; 0 if it has none."""
    return array.unsafe_buffer_pointer() if array.size else 0


def _held_like(tensor: Any) -> Held:
    """Returns a tensor of jaxaot with the values of one of PyTorch."""
    return from_jax(_array(tensor if tensor.is_contiguous() else tensor.contiguous()))


class _Shown(Function):
    """The values of a leaf, in a tensor that may be written."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return from_jax(x.jax())

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients[0]


class Inputs:
    """The arguments of a call, as tensors of jaxaot that share memory as those of PyTorch do.

    Attributes:
      given: The arguments.
      held: For each what jaxaot's function takes.
      leaves: For each the leaf whose gradient is that of the argument; None without one.
      offsets: For each tensor, where the memory that jaxaot knows begins in that of PyTorch.
      places: Where arrays are that share memory with PyTorch's tensors.
      groups: For each storage of jaxaot the arguments on it.
    """

    def __init__(self, given: Sequence[Any]):
        self.given, self.held, self.offsets = given, list(given), [0] * len(given)
        self.leaves: list[Any] = [None] * len(given)
        self.places: dict[int, list[int]] = {}
        self.groups: dict[int, list[int]] = {}
        together: dict[Any, list[int]] = {}
        for i, x in enumerate(given):
            if isinstance(x, torch.Tensor):
                if isinstance(x, Tensor) or x.layout is not torch.strided or x.device.type == "meta":
                    raise NoCounterpartError(f"a tensor of the class {type(x).__name__} with the layout {x.layout}.")
                together.setdefault(x.untyped_storage().data_ptr() or -i - 1, []).append(i)
        for members in together.values():
            self._hold(members)

    def _hold(self, members: list[int]) -> None:
        tensors = [self.given[i].resolve_conj().resolve_neg() for i in members]
        if len(members) == 1 and tensors[0].is_contiguous():
            array = _array(tensors[0])
            shown = [from_jax(array)]
            first = tensors[0].storage_offset()
        else:
            if len({x.dtype for x in tensors}) > 1:
                raise NoCounterpartError("arguments that share memory in different dtypes.")
            first = min(x.storage_offset() for x in tensors)
            ends = [x.storage_offset() + sum((n - 1) * s for n, s in zip(x.shape, x.stride(), strict=True)) + 1
                    for x in tensors if x.numel()]  # fmt: skip
            array = _array(torch.as_strided(tensors[0].detach(), (max([first, *ends]) - first,), (1,), first))
            flat = from_jax(array)
            shown = [flat.as_strided(tuple(x.shape), x.stride(), x.storage_offset() - first).detach() for x in tensors]
        self.places.setdefault(_place(array), []).extend(members)
        for i, held in zip(members, shown, strict=True):
            self.offsets[i] = first
            if self.given[i].requires_grad:
                self.leaves[i] = held.requires_grad_()
                if not self.given[i].is_leaf and len(members) == 1:
                    held = _Shown.apply(held)
            self.held[i] = held
            self.groups.setdefault(id(held._storage), []).append(i)


# -- a call ------------------------------------------------------------


class Call:
    """A call of a graph: what jaxaot computed, before anything of PyTorch's is changed."""

    def __init__(self, run: Callable[..., Any], given: Sequence[Any]):
        self.inputs = inputs = Inputs(given)
        before = [x._version if isinstance(x, Held) else 0 for x in inputs.held]
        with _autocast_of(given), without_hooks(), recording(True):
            self.outputs = run(*inputs.held)
        self.written = [i for i, x in enumerate(inputs.held) if isinstance(x, Held) and x._version != before[i]]
        self.made: list[Held] = []  # what comes back as a tensor of its own
        self.plan = [self._planned(x) for x in self.outputs]
        for i in self.written:
            members = self.inputs.groups.get(id(inputs.held[i]._storage), [i])
            if len(members) > 1 and any(given[k].requires_grad or inputs.held[k].requires_grad for k in members):
                raise NoCounterpartError("a write to one of several arguments that share memory and have gradients.")
            if inputs.held[i].dtype != inputs.held[members[0]].dtype:
                raise NoCounterpartError("a write to arguments of several dtypes.")

    def _planned(self, output: Any) -> tuple[Any, ...]:
        """Returns how an output comes back: as it is, as an argument, as a view of one, or as what is made."""
        if not isinstance(output, Held):
            return ("is", output)
        inputs = self.inputs
        for i, x in enumerate(inputs.held):
            if x is output:
                return ("argument", i)
        members = inputs.groups.get(id(output._storage))
        if members is not None:
            with_gradients = [i for i in members if inputs.held[i].requires_grad]
            if len(members) > 1 and with_gradients:
                raise NoCounterpartError("a view of one of several arguments that share memory and have gradients.")
            if inputs.held[members[0]]._layout.dtype != output._layout.dtype:
                raise NoCounterpartError("a view of an argument in another dtype.")
            return ("view", members[0], output)
        base = self._base_of(output)
        if not any(x is base for x in self.made):
            self.made.append(base)
        place = next(k for k, x in enumerate(self.made) if x is base)
        return ("made", place) if base is output else ("part", place, output)

    def _base_of(self, output: Held) -> Held:
        """Returns what an output is a view of, if results share its memory; else the output itself.

        Raises:
          NoCounterpartError: If PyTorch cannot be told how they share it.
        """
        sharing = [x for x in self.outputs if isinstance(x, Held) and x._storage is output._storage]
        if len({id(x) for x in sharing}) == 1:
            return output
        bases = [x for x in (*sharing, *(x._base for x in sharing)) if x is not None and x._base is None]
        base = max(bases, key=lambda x: x.requires_grad, default=None)
        if base is not None and not base._offset and base.is_contiguous():
            is_recorded = base.requires_grad or not any(x.requires_grad for x in sharing)
            if is_recorded and all(x._layout.dtype == base._layout.dtype for x in sharing):
                return base
        raise NoCounterpartError("results that share memory in a way that PyTorch cannot be told.")

    def results(self) -> tuple[Any, ...]:
        """Returns PyTorch's results; inputs that were written are written."""
        inputs, given = self.inputs, self.inputs.given
        later = [i for i in self.written if inputs.held[i].requires_grad and not inputs.held[i].is_leaf]
        held = [*self.made, *(inputs.held[i] for i in later)]
        taken: set[int] = {*inputs.places}
        made = [_given_back(x, taken) for x in held]
        values = {i: _tensor(inputs.held[i].detach().jax()) for i in self.written if i not in later}
        node = _node_of(held)
        places = {_place(_array_of(inputs.held[i])) for i in self.written} | {
            place for place, members in inputs.places.items() if set(members) & {*self.written}
        }
        residuals = _without_places(node, places)
        jax.block_until_ready(residuals)
        if any(x.requires_grad for x in held):
            made = Along.apply(Record(inputs.leaves, held, node, made, inputs), *given)
        for i, value in zip(later, made[len(self.made) :], strict=True):
            given[i].copy_(value)
        with torch.no_grad():
            for i, value in values.items():
                given[i].copy_(value)
        return tuple(self._result(how, made) for how in self.plan)

    def _result(self, how: tuple[Any, ...], made: Sequence[Any]) -> Any:
        kind, what, *rest = how
        if kind == "is":
            return what
        if kind == "argument":
            return self.inputs.given[what]
        if kind == "made":
            return made[what]
        (held,) = rest
        base, first = (self.inputs.given[what], self.inputs.offsets[what]) if kind == "view" else (made[what], 0)
        base = base if held.requires_grad else base.detach()
        return base.as_strided(tuple(held._layout.size), held._layout.stride, first + held._offset)


def _array_of(held: Held) -> Any:
    return held.detach().jax()


def _autocast_of(given: Sequence[Any]) -> Any:
    """Returns the mode that autocast of the arguments' device is in, for tensors on JAX."""
    kind = next((x.device.type for x in given if isinstance(x, torch.Tensor)), "cpu")
    if not torch.is_autocast_enabled(kind):
        return contextlib.nullcontext()
    return torch.autocast(DEVICE_TYPE, dtype=torch.get_autocast_dtype(kind))


def _given_back(held: Held, taken: set[int]) -> Any:
    """Returns a result as a tensor of PyTorch, whose memory nothing else of PyTorch's has."""
    array = _array_of(held)
    made = _tensor(array)
    size, stride = tuple(held._layout.size), tuple(held._layout.stride)
    if made.stride() != stride and made.numel() and 0 not in stride:
        return torch.empty_strided(size, stride, dtype=made.dtype).copy_(made)
    place = _place(array)
    if place and place in taken:
        return made.clone()
    taken.add(place)
    return made


def _node_of(held: Sequence[Held]) -> Any:
    """Returns the node that the call left on jaxaot's tape."""
    waiting, seen = [x.grad_fn for x in held if x.requires_grad], set()
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        if isinstance(node, CompiledNode):
            return node
        seen.add(id(node))
        waiting += [edge.node for edge in node.edges if edge is not None]
    return None


def _is_memory(value: Any) -> bool:
    return isinstance(value, jax.Array) and not jnp.issubdtype(value.dtype, jax.dtypes.extended)


def _without_places(node: Any, places: set[int]) -> list[Any]:
    """Returns the residuals of a node, none of which is in memory that is about to be written."""
    if node is None or type(node.residuals) is not list:
        return []
    held = [jnp.array(x) if _is_memory(x) and _place(x) in places else x for x in node.residuals]
    node.swap_held(held)
    return held


class Record:
    """A call on jaxaot's tape, for PyTorch's.

    Attributes:
      leaves: For each input the leaf whose gradient is that of the input; None without one.
      outputs: What jaxaot computed.
      node: The node that holds residuals, if they are saved by PyTorch.
      made: The outputs as PyTorch's tensors.
      saved: The residuals that are tensors.
      kept: All residuals; None where PyTorch saves it.
    """

    def __init__(self, leaves: Sequence[Any], outputs: Sequence[Any], node: Any, made: Sequence[Any], inputs: Any):
        self.leaves, self.outputs, self.node, self.made = leaves, outputs, node, made
        self.saved: list[Any] = []
        self.kept: list[Any] = []
        if node is None or type(node.residuals) is not list:
            self.node = None
            return
        known = {x.data_ptr(): x for x in made if x.numel()}
        for place, members in inputs.places.items():
            x = inputs.given[members[0]]
            if len(members) == 1 and x.is_contiguous() and place == x.data_ptr():
                known[place] = x
        for value in node.residuals:
            if not _is_memory(value):
                self.kept.append(value)
                continue
            found = known.get(_place(value))
            is_same = found is not None and tuple(found.shape) == value.shape
            self.saved.append(found if is_same else _tensor(value))
            self.kept.append(None)
        node.swap_held(None)
        for x in (*leaves, *outputs):
            if x is not None:  # gradients ask for no values, and PyTorch frees these where nobody needs them
                x._storage.resize_(0)

    def fill(self, saved: Sequence[Any]) -> None:
        """Gives the node what PyTorch saved."""
        if self.node is not None:
            given = iter(saved)
            self.node.swap_held([_array(next(given).contiguous()) if x is None else x for x in self.kept])

    def empty(self) -> None:
        """Takes it from the node."""
        if self.node is not None:
            self.node.swap_held(None)


class Along(torch.autograd.Function):
    """A call on jaxaot's tape as one node of PyTorch's; its backward, where it is recorded, is one too."""

    @staticmethod
    def forward(ctx: Any, record: Record, *given: Any) -> Any:
        ctx.record = record
        ctx.given = given if record.node is None or record.node.second is not None else None
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*record.saved)
        made, record.made = tuple(record.made), ()  # which lead to this node
        pairs = zip(made, record.outputs, strict=True)
        ctx.mark_non_differentiable(*[result for result, x in pairs if not x.requires_grad])
        return made

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        record, is_recorded = ctx.record, torch.is_grad_enabled()
        saved = ctx.saved_tensors  # which hooks may compute anew
        with jax.enable_x64(True), recording(is_recorded):
            record.fill(saved)
            try:
                return (None, *_pulled(record, ctx, gradients, is_recorded))
            finally:
                record.empty()


def _pulled(record: Record, ctx: Any, gradients: Sequence[Any], is_recorded: bool) -> Any:
    """Returns the gradients of inputs."""
    pairs = [(x, g) for x, g in zip(record.outputs, gradients, strict=True) if x.requires_grad and g is not None]
    wanted = [i for i, leaf in enumerate(record.leaves) if leaf is not None and ctx.needs_input_grad[i + 1]]
    given = [_held_like(g) for _, g in pairs]
    if is_recorded:
        given = [held.requires_grad_(g.requires_grad) for held, (_, g) in zip(given, pairs, strict=True)]
    leaves = [record.leaves[i] for i in wanted]
    found = gradients_of([x for x, _ in pairs], leaves, given, True, is_recorded, allow_unused=True) if pairs else []
    result: list[Any] = [None] * len(record.leaves)
    there = [(i, g) for i, g in zip(wanted, found, strict=False) if g is not None]
    taken: set[int] = {g.data_ptr() for _, g in pairs}
    made = [_given_back(g, taken) for _, g in there]
    if is_recorded and made and any(g.requires_grad for _, g in there):
        more = [held if held.requires_grad else None for held in given]
        second = Record([*record.leaves, *more], [g for _, g in there], None, made, None)
        made = Along.apply(second, *ctx.given, *(g for _, g in pairs))
    for (i, _), gradient in zip(there, made, strict=True):
        result[i] = gradient
    return result
