"""Eager kernels: few, general jitted functions, found by cheap identities.

A kernel is compiled for an op, its static arguments and the layouts of its operands; never for an index, an offset or a
number, which are operands. An operand is an array alone, if a tensor shows all of its storage, or an array with the
starts of a window. With gradients, the forward kernel also returns the residuals of `jax.vjp`: those that are operands
or results are not returned again (XLA would copy them) but remembered by position.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._jax import is_tracer, jaxpr_as_fun
from jaxaot._placement import placed_like
from jaxaot._typing import Array
from jaxaot.errors import DtypeError, ShapeMismatchError
from jaxaot.facade.kernels.residuals import ARGUMENT, choose_residuals
from jaxaot.ir.reach import Apart, outputs_apart, reached_inputs, without_unreached
from jaxaot.lower.abstract import AbstractArray, AbstractRun, abstract_like, has_abstract, struct_of
from jaxaot.lower.eager_kernel import EagerKernel
from jaxaot.lower.entry import Entry
from jaxaot.ops.half_precision import HALVES
from jaxaot.ops.promotion import can_store, is_bool, is_complex, is_inexact, strong
from jaxaot.ops.table import OpSpec, op_of
from jaxaot.views.chain import ViewChain, apply_chain
from jaxaot.views.layout import Layout, contiguous, dense_like, elementwise_layout
from jaxaot.views.window import AbstractWindow


def remember(kept: dict[Any, Any], key: Any, value: Any, most: int) -> None:
    """Keeps a value, in place of the oldest if there are as many as there may be."""
    if key not in kept and len(kept) >= most:
        kept.pop(next(iter(kept)), None)
    kept[key] = value


class Recipe:
    """How the operands of a kernel become the flat dynamic arguments of an op.

    Attributes:
      steps: For each argument: `("none",)`, `("constant", value)`, `("operand", position)` or
        `("window", position, window, position of the starts)`.
      lengths: For each parameter its number of arguments; None for one that is not a list.
      layouts: Layouts of the tensor arguments.
      has_key: Whether the last operand is a PRNG key.
    """

    __slots__ = ("has_key", "layouts", "lengths", "steps")

    def __init__(self, steps: Sequence[tuple[Any, ...]], lengths: Any, layouts: Sequence[Layout], has_key: bool):
        self.steps = tuple(steps)
        self.lengths = lengths
        self.layouts = tuple(layouts)
        self.has_key = has_key

    def unpack(self, operands: Sequence[Any]) -> list[Any]:
        """Returns the flat arguments."""
        values = []
        for step in self.steps:
            match step:
                case ("none",):
                    values.append(None)
                case ("constant", value):
                    values.append(value)
                case ("operand", position):
                    values.append(operands[position])
                case ("window", position, window, starts):
                    values.append(window.apply(operands[position], operands[starts]))
        return values

    def nest(self, values: Sequence[Any]) -> list[Any]:
        """Returns flat arguments grouped into the lists of `Tensor[]` parameters."""
        if self.lengths is None:
            return list(values)
        nested, position = [], 0
        for length in self.lengths:
            if length is None:
                nested.append(values[position])
                position += 1
            else:
                nested.append(list(values[position : position + length]))
                position += length
        return nested

    def key(self, operands: Sequence[Any]) -> Any:
        """Returns the PRNG key of a random op."""
        return fold_key(operands[-1]) if self.has_key else None


def parameter_names(spec: OpSpec, lengths: Any) -> tuple[str, ...]:
    """Returns the names of an op's flat arguments; the first one is PyTorch's `self`."""
    names: list[str] = []
    for position, parameter in enumerate(spec.schema.dynamic):
        name = "self" if position == 0 and parameter.name == "input" else parameter.name
        length = None if lengths is None else lengths[position]
        names += [name] if length is None else [f"{name}{i}" for i in range(length)]
    return tuple(names)


def tensor_parameters(spec: OpSpec, lengths: Any) -> tuple[int, ...]:
    """Returns which of the flat arguments of an op are declared as tensors."""
    lengths = [None] * len(spec.schema.dynamic) if lengths is None else lengths
    kinds = [p.type for p, n in zip(spec.schema.dynamic, lengths, strict=True) for _ in range(1 if n is None else n)]
    return tuple(i for i, kind in enumerate(kinds) if kind == "Tensor")


NUMBERS_APART = frozenset(
    f"{name}Backward0" for name in ("Pow", "Fmod", "Remainder", "Clamp", "ClampMin", "ClampMax", "MaskedFill", "Lerp")
)
"""Nodes of ops that have other nodes for numbers in PyTorch: these are no operands then. Elsewhere they are."""


_NAMED_OTHERWISE: dict[str, str] = dict.fromkeys(("copy_of", "contiguous_copy_of", "channels_last_copy_of"), "clone")
"""Rows that users know by another name."""


def backward_name(name: str) -> str:
    """Returns PyTorch's name for the node of an op, such as `MatmulBackward0`."""
    name = _NAMED_OTHERWISE.get(name, name)
    return "".join(part.capitalize() for part in name.split("_")) + "Backward0"


KEY = jax.ShapeDtypeStruct((2,), np.uint32)
"""What stands for a key."""


def fold_key(words: Any) -> Any:
    """Returns the key of (seed, seed, offset), the words of an eager draw."""
    return jax.random.fold_in(words[:2], words[2])


def result_layouts(
    spec: OpSpec, results: Sequence[Any], operands: Sequence[Layout], static: tuple[Any, ...]
) -> tuple[Layout | None, ...]:
    """Returns how the results of an op are laid out."""
    layouts = []
    for result in results:
        if result is None:
            layouts.append(None)
        elif callable(spec.layout):
            layouts.append(spec.layout(operands, tuple(result.shape), np.dtype(result.dtype), static))
        elif spec.layout == "same":
            layouts.append(dense_like(operands[0], np.dtype(result.dtype)))
        elif spec.layout in ("operands", "indexed"):
            shown = _converted(operands, result.dtype) if spec.promote else tuple(operands)
            layouts.append(elementwise_layout(shown, tuple(result.shape), np.dtype(result.dtype)))
        else:
            layouts.append(contiguous(tuple(result.shape), np.dtype(result.dtype)))
    return tuple(layouts)


def _converted(operands: Sequence[Layout], dtype: Any) -> tuple[Layout, ...]:
    """Returns the layouts of operands after their conversion to a common dtype, which copies those of another one."""
    dtypes = {operand.dtype for operand in operands}
    if len(dtypes) < 2:
        return tuple(operands)
    common = jnp.result_type(*dtypes) if is_bool(dtype) else np.dtype(dtype)
    return tuple(o if o.dtype == common else dense_like(o, common) for o in operands)


class Kernel:
    """Computes an op.

    Attributes:
      run: The program that takes the operands to the results.
      layouts: Of the results; known after the first run.
    """

    __slots__ = ("layouts", "run")

    def __init__(self, spec: OpSpec, static: tuple[Any, ...], recipe: Recipe, is_abstract: bool = False):
        def run(*operands: Any) -> tuple[Any, ...]:
            return spec.evaluate(recipe.nest(recipe.unpack(operands)), static, recipe.key(operands))

        run.__name__ = spec.name
        self.run: Any = AbstractRun(run) if is_abstract else EagerKernel(run)
        self.layouts: tuple[Layout | None, ...] = ()


SMALL = 2**18
"""Up to so many bytes of arguments and results, calling a kernel costs more than what it computes."""

_numbers = itertools.count()


class GradKernel:
    """Computes an op and what its backward needs, and that backward.

    Attributes:
      run: The program that takes the operands to the results, followed by the residuals.
      pull: The program that takes (saved values, cotangents of the float results) to the gradients of the
        differentiated arguments.
      passes_through: The dtype of the cotangent if all gradients are the cotangent as it came, as those of `x + y` are,
        so that nothing has to run; None before the first backward, False if they are not.
      sources: What each saved value is: ("argument", i), ("result", i), or ("kept", i) for a further output; a key is
        argument -1.
      routes: Where each saved value is: (0, i) for operand i, (1, i) for output i.
      pick_leaves: Takes (*operands, *outputs) to the saved values.
      differentiable: Which results are float, so that gradients flow to them.
      recorded: Which of them require grad.
      apart: For each gradient the float results, counted apart, that it comes from, where that is not all of them.
      n_outputs: The number of results.
      is_recorded: Whether gradients flow to any result.
      is_plain: Whether there is one result and nothing written.
      is_link: Whether it is plain, and so small that calling its backward costs more than what that computes.
      number: Tells kernels apart.
      layouts: Of the results.
      node_name: Of the node on the tape.
      parameter_names: What each argument goes by.
      saved_names: What each saved value goes by: the parameter's name, `result`, or `residual`.
      tensor_parameters: Positions of the arguments that hooks see gradients of: those declared as tensors, mostly
        whatever is given.
      is_saving: Whether it saves tensors as they are.
      is_tensor: For each argument, whether it is a tensor.
      tensor_arguments: Positions of the arguments that are saved as they are and are tensors, as often as they are.
      places: Positions of the differentiated arguments.
      held_arguments: Positions of the arguments whose arrays are saved.
      held_results: Positions of the results that are saved.
      saved_arguments: Positions of the arguments whose values the backward needs, saved or not.
    """

    __slots__ = (
        "__dict__",
        "_has_one_result",
        "_pull_again",
        "apart",
        "differentiable",
        "held_arguments",
        "held_results",
        "is_link",
        "is_plain",
        "is_recorded",
        "is_saving",
        "is_tensor",
        "layouts",
        "n_outputs",
        "node_name",
        "number",
        "parameter_names",
        "passes_through",
        "pick_leaves",
        "places",
        "pull",
        "recipe",
        "recorded",
        "routes",
        "run",
        "saved_arguments",
        "saved_names",
        "sources",
        "tensor_arguments",
        "tensor_parameters",
    )  # fmt: skip

    def __init__(
        self, spec: OpSpec, static: tuple[Any, ...], recipe: Recipe, mask: Sequence[bool], is_abstract: bool = False
    ):
        n_declared = spec.schema.n_results
        self._has_one_result = n_declared == 1 and not spec.schema.written
        self.parameter_names = parameter_names(spec, recipe.lengths)
        self.tensor_parameters = tensor_parameters(spec, recipe.lengths)
        self.node_name = backward_name(spec.name)
        self.recipe = recipe
        self.places = places = tuple(i for i, wanted in enumerate(mask) if wanted)
        self.held_arguments: tuple[int, ...] = ()
        self.held_results: tuple[int, ...] = ()
        self.saved_arguments: tuple[int, ...] = ()
        self.routes: tuple[tuple[int, int], ...] = ()
        self.sources: tuple[tuple[str, int], ...] = ()
        self.differentiable: tuple[bool, ...] = ()
        self.recorded: Sequence[bool] = ()
        self.apart: Apart = None
        self.n_outputs = 1
        self.pick_leaves: Callable[[Sequence[Any]], Sequence[Any]] = tuple
        self.is_recorded = False
        self.is_plain = self.is_link = False
        self.number = next(_numbers)
        self.passes_through: Any = None
        self.layouts: tuple[Layout | None, ...] = ()
        tree: Any = None
        avals: Any = None
        residuals: Any = None
        differentiated: list[AbstractArray] = []

        def graph(flat: Callable[..., Any], kinds: Sequence[bool], given: Sequence[Any], wanted: Sequence[int]) -> Any:
            """Returns the results and what the pullback holds; `kinds` says which results `flat` returns."""
            nonlocal tree, avals

            def op(*differentiated: Any) -> Any:
                filled = list(given)
                for place, value in zip(wanted, differentiated, strict=True):
                    filled[place] = value
                made = iter(flat(*filled))
                results = [next(made) if is_present else None for is_present in kinds]
                n = len(results) if n_declared < 0 else n_declared
                smooth = [r for r in results[:n] if r is not None and is_inexact(r.dtype)]
                return smooth, results

            smooth, pullback, results = jax.vjp(op, *[given[i] for i in wanted], has_aux=True)
            n = len(results) if n_declared < 0 else n_declared
            self.differentiable = tuple(i < n and r is not None and is_inexact(r.dtype) for i, r in enumerate(results))
            avals = [jax.ShapeDtypeStruct(s.shape, s.dtype) for s in smooth]
            # the results and the differentiated outputs are the same values: return each once
            floats = iter(smooth)
            results = [next(floats) if d else r for r, d in zip(results, self.differentiable, strict=True)]
            leaves, tree = jax.tree.flatten(pullback)
            return results, leaves

        def choose(values: Sequence[Any], key: object, traced: Sequence[int], given: Sequence[Any]) -> Any:
            """Returns the types of the results, and which of them there are; sets what is saved."""
            nonlocal residuals, differentiated
            differentiated = [abstract_like(values[i]) for i in places] if is_abstract else []
            kinds: list[bool] = []

            def plain(*given: Any) -> list[Any]:
                full = list(values)
                for place, value in zip(traced, given, strict=False):
                    full[place] = value
                results = spec.evaluate(recipe.nest(full), static, None if key is None else given[-1])
                kinds[:] = [r is not None for r in results]
                return [r for r in results if r is not None]

            # residuals are chosen before the forward is compiled; AD would look at calls that are not open apart
            opened = jax.make_jaxpr(plain)(*given)
            wanted = [traced.index(i) for i in places]
            differentiate = lambda *given: graph(jaxpr_as_fun(opened), kinds, given, wanted)
            closed, shapes = jax.make_jaxpr(differentiate, return_shape=True)(*given)
            present = [i for i, shape in enumerate(shapes[0]) if shape is not None]
            residuals = choose_residuals(closed, len(present), wanted)
            self.recorded = self.differentiable
            if len(present) > 1 or spec.is_backward:
                self._note_reached(spec.is_backward, dict(zip(present, reached_inputs(opened), strict=True)), traced)
            return shapes[0], present

        def route(
            given: Sequence[Any],
            operands: Sequence[Any],
            outputs: list[Any],
            traced: Sequence[int],
            present: Sequence[int],
        ) -> None:
            """Notes where each saved value is; appends those to the outputs that are neither operands nor results."""
            routes, sources = [], []
            n = len(outputs) - len(residuals.further)
            for origin, i in residuals.sources:
                match origin:
                    case "argument":
                        place = _find(given[i], operands)
                        if place is None:  # a part of an operand, cut out by its window; or a key
                            place = (1, len(outputs))
                            outputs.append(given[i])
                        sources.append((origin, traced[i] if i < len(traced) else -1))
                    case "result":
                        place = (1, present[i])
                        sources.append((origin, present[i]))
                    case _:
                        place = (1, n + i)
                        sources.append((origin, i))
                routes.append(place)
            self.routes, self.sources = tuple(routes), tuple(sources)
            self.saved_arguments = tuple(traced[i] for i in residuals.arguments if i < len(traced))

        def run(*operands: Any) -> Any:
            values, key = recipe.unpack(operands), recipe.key(operands)
            traced = [i for i, value in enumerate(values) if is_tracer(value)]
            given = [values[i] for i in traced] + ([] if key is None else [key])
            shapes, present = choose(values, key, traced, given)
            made = residuals.forward(*given)
            outputs: list[Any] = [None] * len(shapes)
            for i, value in zip(present, made, strict=False):
                outputs[i] = value
            outputs += made[len(present) :]
            route(given, operands, outputs, traced, present)
            return tuple(outputs)

        def look(*operands: object) -> Any:
            """Returns what stands for the outputs of `run`; nothing is computed."""
            values, key = recipe.unpack(operands), KEY if recipe.has_key else None
            traced = [i for i, step in enumerate(recipe.steps) if step[0] == "operand"]
            given = [values[i] for i in traced] + ([] if key is None else [key])
            shapes, present = choose(values, key, traced, [struct_of(value) for value in given])
            outputs = [None if shape is None else abstract_like(shape) for shape in shapes]
            outputs += map(abstract_like, residuals.further)
            route(given, operands, outputs, traced, present)
            return tuple(outputs)

        def look_back(saved: object, cotangents: object) -> list[Any]:
            """Returns what stands for gradients, which are of the types of what is differentiated."""
            return [abstract_like(value) for value in differentiated]

        def pull(saved: Any, cotangents: Any) -> Any:
            return pull_back(residuals.leaves(*saved[: residuals.n_plain]), cotangents)

        def pull_back(leaves: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
            full = [
                jnp.zeros(aval.shape, aval.dtype) if ct is None else conjugate(ct.astype(aval.dtype))
                for ct, aval in zip(cotangents, avals, strict=True)
            ]
            return [conjugate(g) for g in jax.tree.unflatten(tree, leaves)(full)]

        run.__name__ = spec.name
        pull.__name__ = f"{spec.name}_backward"
        self.run: Any = AbstractRun(run, look) if is_abstract else EagerKernel(run)
        self.pull: Any = AbstractRun(pull, look_back) if is_abstract else EagerKernel(pull)
        self._pull_again = lambda saved, cotangents: pull_back(residuals.leaves_again(*saved), cotangents)

    def _note_reached(self, is_backward: bool, reached: Mapping[int, frozenset[int]], traced: Sequence[int]) -> None:
        """Notes which results and gradients have to do with one another.

        Args:
          is_backward: Whether only those results require grad that depend on a differentiated argument.
          reached: For each result that there is, what it depends on: positions in `traced`.
          traced: Positions of arguments.
        """
        places = [traced.index(i) for i in self.places]
        self.apart = outputs_apart([reached[i] for i, d in enumerate(self.differentiable) if d], places)
        if is_backward:
            self.recorded = [d and not reached[i].isdisjoint(places) for i, d in enumerate(self.differentiable)]

    @functools.cached_property
    def pull_row(self) -> OpSpec:
        """The pull as an op, whose derivative is the second one of this op."""
        return pull_row(self.node_name, self._pull_again)

    def backward(self, leaves: Sequence[Any], cotangents: Sequence[Any]) -> Sequence[Any]:
        """Returns the gradients of the differentiated arguments, which is the cotangent, or by `pull`."""
        passes_through = self.passes_through
        if passes_through is None:
            passes_through = self.passes_through = self._find_pass_through(leaves, cotangents)
        if passes_through and cotangents[0].dtype == passes_through:
            return [cotangents[0]] * len(self.places)
        return without_unreached(self.pull(leaves, cotangents), cotangents, self.apart)

    def _find_pass_through(self, leaves: Sequence[Any], cotangents: Sequence[Any]) -> Any:
        if not self.is_plain or self.pull.is_abstract or has_abstract(cotangents):
            return None if self.is_plain and not self.pull.is_abstract else False
        graph = self.pull.inside.trace(leaves, cotangents).jaxpr.jaxpr
        is_same = all(var is graph.invars[-1] for var in graph.outvars)
        return cotangents[0].dtype if is_same else False

    def settle(self, is_tensor: Sequence[bool], n_operands: int) -> None:
        """Notes, after the first run, which arguments and results the pullback holds.

        Args:
          is_saving: Whether it saves tensors as they are.
        is_tensor: For each argument, whether it is a tensor.
        n_operands: How many operands `run` was called with.
        """
        if self.node_name in NUMBERS_APART:
            self.tensor_parameters = tuple(i for i in self.tensor_parameters if is_tensor[i])
        self.pick_leaves = _picker([position + source * n_operands for source, position in self.routes])
        held = {position for source, position in self.routes if source == 0}
        steps = zip(is_tensor, self.recipe.steps, strict=True)
        self.held_arguments = tuple(i for i, (given, step) in enumerate(steps) if given and step[1] in held)
        n = len(self.layouts)
        self.is_recorded = True in self.recorded
        self.n_outputs = len(self.differentiable)
        self.is_plain = self.is_recorded and n == 1 and self._has_one_result
        touched = (*self.recipe.layouts, *self.layouts)
        n_bytes = sum(layout.nbytes for layout in touched if layout is not None)
        self.is_link = self.is_plain and not self.run.is_abstract and n_bytes <= SMALL
        self.held_results = tuple(sorted({p for source, p in self.routes if source == 1 and p < n}))
        self.saved_arguments = tuple(i for i in self.saved_arguments if is_tensor[i])
        self.is_tensor = tuple(is_tensor)
        self.tensor_arguments = tuple(i for origin, i in self.sources if origin == ARGUMENT and i >= 0 and is_tensor[i])
        self.is_saving = bool(self.tensor_arguments or self.held_results)
        self.saved_names = tuple(self._name_of(origin, i) for origin, i in self.sources)

    def _name_of(self, origin: str, index: int) -> str:
        match origin:
            case "argument":
                return self.parameter_names[index] if index >= 0 else "key"
            case "result":
                return "result" if self.n_outputs == 1 else f"result{index}"
        return f"residual{index}"


def pull_row(name: str, fn: Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]) -> OpSpec:
    """Returns the backward of a node as an op.

    Args:
      name: Of the node.
      fn: Takes what the node holds and the cotangents of its results, or None, to gradients.
    """
    row = lambda held, cotangents: fn(held, cotangents)
    return op_of(row, f"{name}(Tensor?[] held, Tensor?[] cotangents) -> Tensor[]", is_backward=True)


def _picker(positions: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Returns a function from a sequence to a tuple of its items at some positions."""
    match positions:
        case []:
            return lambda values: ()
        case [position]:
            return lambda values: (values[position],)
        case _:
            return operator.itemgetter(*positions)


def conjugate(x: Any) -> Any:
    """Returns a gradient in the other library's convention: PyTorch's of a complex tensor is the conjugate of JAX's."""
    return jnp.conj(x) if is_complex(x.dtype) else x


def _find(leaf: Any, operands: Sequence[Any]) -> tuple[int, int] | None:
    for position, operand in enumerate(operands):
        if operand is leaf:
            return 0, position
    return None


def fit_into(result: Any, size: tuple[int, ...], dtype: Any) -> Any:
    """Returns the result of an in-place op as it is stored in a target of that size and dtype.

    Raises:
      ShapeMismatchError: If the target would have to grow.
      DtypeError: If the target cannot hold the result's kind of number.
    """
    if tuple(result.shape) != size:
        raise ShapeMismatchError(
            f"output with shape {list(size)} doesn't match the broadcast shape {list(result.shape)}. An in-place op "
            "cannot change the shape of its target; write the op out of place instead."
        )
    if not can_store(result.dtype, dtype):
        raise DtypeError(
            f"result type {dtype_name(result.dtype)} can't be cast to the desired output type {dtype_name(dtype)}"
        )
    if type(result) is AbstractArray:
        return result.astype(dtype)
    return strong(result, dtype) if result.dtype != dtype or getattr(result, "weak_type", False) else result


DTYPE_NAMES = {
    "bool": "Bool", "int8": "Char", "uint8": "Byte", "int16": "Short", "int32": "Int", "int64": "Long",
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip


def dtype_name(dtype: Any) -> str:
    """Returns PyTorch's name of a dtype, as its messages have it: `Float`."""
    return DTYPE_NAMES.get(np.dtype(dtype).name, np.dtype(dtype).name)


class WriteKernel:
    """Computes an op and stores its first result through a window of the base.

    Operand 0 is the base, operand 1 the starts of the window if there is one.

    Attributes:
      run: The program that takes (base, *operands) to (new base, further results).
      run_donated: The same, reusing the base's buffer.
    """

    __slots__ = ("run", "run_donated")

    def __init__(
        self,
        spec: OpSpec,
        static: tuple[Any, ...],
        recipe: Recipe,
        target: Layout,
        window: AbstractWindow | None,
    ):
        def run(base: Any, *operands: Any) -> Any:
            operands = (base, *operands)
            results = spec.evaluate(recipe.nest(recipe.unpack(operands)), static, recipe.key(operands))
            stored = fit_into(results[0], target.size, target.dtype)
            new = stored if window is None else window.scatter(base, stored, operands[1])
            return placed_like(new, base), results[1:]

        run.__name__ = f"{spec.name}_"
        self.run = EagerKernel(run)
        self.run_donated = EagerKernel(run, donate_argnums=0)


_store: dict[AbstractWindow, tuple[EagerKernel, EagerKernel]] = {}


def storing_kernels(window: AbstractWindow) -> tuple[EagerKernel, EagerKernel]:
    """Returns what takes (base, update, starts) to (base with the update stored through a window,).

    The second one reuses the base's buffer.
    """
    kernels = _store.get(window)
    if kernels is None:
        scatter = lambda base, update, starts: (placed_like(window.scatter(base, update, starts), base),)
        kernels = _store[window] = (EagerKernel(scatter), EagerKernel(scatter, donate_argnums=0))
    return kernels


def storing_through(window: AbstractWindow, donates: bool) -> Entry:
    """Returns the way into one of `storing_kernels`."""
    return storing_kernels(window)[donates].entry


_reads: dict[AbstractWindow, Any] = {}


def read_through(base: Any, window: AbstractWindow, starts: Any) -> Any:
    """Returns the part of `base` that a window shows, eagerly."""
    kernel = _reads.get(window)
    if kernel is None:
        kernel = _reads[window] = EagerKernel(lambda base, starts: window.apply(base, starts))
    return kernel(base, starts)


# -- gradients of views and of writes through them ---------------------------------------------------------------------


def pull_view(chain: ViewChain, size: tuple[int, ...], dtype: Any, cotangent: Any, starts: Any) -> Any:
    """Returns the gradient of a view's parent, of that size and dtype: zeros, but for the shown elements."""
    if cotangent.dtype in HALVES:  # where elements are shown more than once, sums are rounded once
        return pull_view(chain, size, np.float32, strong(cotangent, np.float32), starts).astype(dtype)
    parent = jax.ShapeDtypeStruct(size, dtype)
    transposed = jax.linear_transpose(lambda x: apply_chain(chain, x, starts), parent)
    return conjugate(transposed(conjugate(cotangent))[0])


def split_write(chain: ViewChain, cotangent: Any, starts: Any) -> tuple[Any, Any]:
    """Returns the gradients of the value before a write through a view, and of what was written."""
    written = apply_chain(chain, cotangent, starts)
    ones = jnp.ones(written.shape, written.dtype)
    ones = ones + 1j * ones if is_complex(written.dtype) else ones
    mark = pull_view(chain, tuple(cotangent.shape), cotangent.dtype, ones, starts)
    keep = lambda mark, value: jnp.where(mark != 0, jnp.zeros((), value.dtype), value)
    if not is_complex(cotangent.dtype):
        return keep(mark, cotangent), written
    parts = [keep(part(mark), part(cotangent)) for part in (jnp.real, jnp.imag)]  # a write may reach one part only
    return jax.lax.complex(*parts), written


pull_view_kernel = jax.jit(pull_view, static_argnums=(0, 1, 2))
split_write_kernel = jax.jit(split_write, static_argnums=0)
_add_kernel = jax.jit(lambda a, b: a + b)


def add_arrays(a: Array, b: Array) -> Any:
    """Returns the sum of two gradients of one tensor, eagerly."""
    if type(a) is AbstractArray or type(b) is AbstractArray:
        return abstract_like(a)
    return _add_kernel(a, b)
