"""Kernels with gradients: a forward that also returns what its backward needs, and that backward."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._jax import is_tracer, jaxpr_as_fun
from jaxaot.facade.kernels.kernels import KEY, NUMBERS_APART, Recipe, backward_name, parameter_names, tensor_parameters
from jaxaot.facade.kernels.residuals import ARGUMENT, choose_residuals
from jaxaot.ir.reach import Apart, outputs_apart, reached_inputs, without_unreached
from jaxaot.lower.abstract import AbstractArray, AbstractRun, abstract_like, has_abstract, struct_of
from jaxaot.lower.eager_kernel import EagerKernel
from jaxaot.ops.promotion import is_complex, is_inexact
from jaxaot.ops.table import OpSpec, op_of
from jaxaot.views.layout import Layout

SMALL = 2**18
"""Up to so many bytes of arguments and results, calling a kernel costs more than what it computes."""

_numbers = itertools.count()


class _Differentiated:
    """The functions that a kernel compiles: the op with what its backward needs, and the backward.

    The forward is traced first. That decides what is saved, of which the backward is then made.
    """

    def __init__(self, kernel: GradKernel, spec: OpSpec, static: tuple[Any, ...], recipe: Recipe, is_abstract: bool):
        self._kernel, self._spec, self._static, self._recipe = kernel, spec, static, recipe
        self._is_abstract = is_abstract
        self._n_declared = spec.schema.n_results
        self._tree: Any = None
        self._avals: Any = None
        self._residuals: Any = None
        self._inputs: list[AbstractArray] = []  # what is differentiated, where nothing has values
        self.run = named(self._run, spec.name)
        self.pull = named(self._pull, f"{spec.name}_backward")

    def _graph(
        self, flat: Callable[..., Any], kinds: Sequence[bool], given: Sequence[Any], wanted: Sequence[int]
    ) -> Any:
        """Returns the results and what the pullback holds; `kinds` says which results `flat` returns."""

        def op(*differentiated: Any) -> Any:
            filled = list(given)
            for place, value in zip(wanted, differentiated, strict=True):
                filled[place] = value
            made = iter(flat(*filled))
            results = [next(made) if is_present else None for is_present in kinds]
            smooth = [r for r in results[: self._n_of(results)] if r is not None and is_inexact(r.dtype)]
            return smooth, results

        # only float results get cotangents; `vjp` would ask for one of each output
        smooth, pullback, results = jax.vjp(op, *[given[i] for i in wanted], has_aux=True)
        n, kernel = self._n_of(results), self._kernel
        kernel.differentiable = tuple(i < n and r is not None and is_inexact(r.dtype) for i, r in enumerate(results))
        self._avals = [jax.ShapeDtypeStruct(s.shape, s.dtype) for s in smooth]
        # the results and the differentiated outputs are the same values: return each once
        floats = iter(smooth)
        results = [next(floats) if d else r for r, d in zip(results, kernel.differentiable, strict=True)]
        # JAX has its pullback as a pytree: its leaves are the residuals, its tree is how to call it
        leaves, self._tree = jax.tree.flatten(pullback)
        return results, leaves

    def _n_of(self, results: Sequence[Any]) -> int:
        return len(results) if self._n_declared < 0 else self._n_declared

    def _choose(self, values: Sequence[Any], key: object, traced: Sequence[int], given: Sequence[Any]) -> Any:
        """Returns the types of the results, and which of them there are; sets what is saved."""
        kernel, kinds = self._kernel, list[bool]()
        self._inputs = [abstract_like(values[i]) for i in kernel.places] if self._is_abstract else []

        def plain(*given: Any) -> list[Any]:
            full = list(values)
            for place, value in zip(traced, given, strict=False):
                full[place] = value
            results = self._spec.evaluate(self._recipe.nest(full), self._static, None if key is None else given[-1])
            # None is no output of a jaxpr; which results are missing is known once the op has run
            kinds[:] = [r is not None for r in results]
            return [r for r in results if r is not None]

        # residuals are chosen before the forward is compiled; AD would look at calls that are not open apart
        opened = jax.make_jaxpr(plain)(*given)
        wanted = [traced.index(i) for i in kernel.places]
        differentiate = lambda *given: self._graph(jaxpr_as_fun(opened), kinds, given, wanted)
        closed, shapes = jax.make_jaxpr(differentiate, return_shape=True)(*given)
        present = [i for i, shape in enumerate(shapes[0]) if shape is not None]
        self._residuals = choose_residuals(closed, len(present), wanted)
        kernel.recorded = kernel.differentiable
        if len(present) > 1 or self._spec.is_backward:
            reached = dict(zip(present, reached_inputs(opened), strict=True))
            kernel.note_reached(self._spec.is_backward, reached, traced)
        return shapes[0], present

    def _route(
        self, given: Sequence[Any], operands: Sequence[Any], outputs: list[Any], traced: Sequence[int],
        present: Sequence[int],
    ) -> None:  # fmt: skip
        """Notes where each saved value is; appends those to the outputs that are neither operands nor results."""
        routes, sources, residuals, kernel = [], [], self._residuals, self._kernel
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
            # a value that is an operand or a result is not returned twice: XLA would copy it
            routes.append(place)
        kernel.routes, kernel.sources = tuple(routes), tuple(sources)
        kernel.saved_arguments = tuple(traced[i] for i in residuals.arguments if i < len(traced))

    def _run(self, *operands: Any) -> Any:
        values, key = self._recipe.unpack(operands), self._recipe.key(operands)
        # numbers that are constants of the recipe have no gradient, and are no inputs of the graph
        traced = [i for i, value in enumerate(values) if is_tracer(value)]
        given = [values[i] for i in traced] + ([] if key is None else [key])
        shapes, present = self._choose(values, key, traced, given)
        made = self._residuals.forward(*given)
        outputs: list[Any] = [None] * len(shapes)
        for i, value in zip(present, made, strict=False):
            outputs[i] = value
        outputs += made[len(present) :]
        self._route(given, operands, outputs, traced, present)
        return tuple(outputs)

    def look(self, *operands: object) -> Any:
        """Returns what stands for the outputs of `run`; nothing is computed."""
        values, key = self._recipe.unpack(operands), KEY if self._recipe.has_key else None
        traced = [i for i, step in enumerate(self._recipe.steps) if step[0] == "operand"]
        given = [values[i] for i in traced] + ([] if key is None else [key])
        shapes, present = self._choose(values, key, traced, [struct_of(value) for value in given])
        outputs = [None if shape is None else abstract_like(shape) for shape in shapes]
        outputs += map(abstract_like, self._residuals.further)
        self._route(given, operands, outputs, traced, present)
        return tuple(outputs)

    def look_back(self, saved: object, cotangents: object) -> list[Any]:
        """Returns what stands for gradients, which are of the types of what is differentiated."""
        return [abstract_like(value) for value in self._inputs]

    def _pull(self, saved: Any, cotangents: Any) -> Any:
        # what is kept for second derivatives alone comes last, and is not read by the first
        return self._pull_back(self._residuals.leaves(*saved[: self._residuals.n_plain]), cotangents)

    def pull_again(self, saved: Any, cotangents: Any) -> Any:
        """Returns the gradients from all that is saved, to be differentiated once more."""
        return self._pull_back(self._residuals.leaves_again(*saved), cotangents)

    def _pull_back(self, leaves: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        full = [
            # a result that nothing used has no cotangent; PyTorch too fills in zeros
            jnp.zeros(aval.shape, aval.dtype) if ct is None else conjugate(ct.astype(aval.dtype))
            for ct, aval in zip(cotangents, self._avals, strict=True)
        ]
        return [conjugate(g) for g in jax.tree.unflatten(self._tree, leaves)(full)]


def named(fn: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Returns a function that does what one does, under the name that it has in graphs and profiles."""
    called = lambda *args: fn(*args)
    called.__name__ = name
    return called


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
      saved_arguments: Positions of the arguments whose values the backward needs, saved or not; each trace notes them.
      needed_tensors: Those of them that are tensors.
    """

    __slots__ = (
        "__dict__", "_has_one_result", "_pull_again", "apart", "differentiable", "held_arguments",
        "held_results", "is_link", "is_plain", "is_recorded", "is_saving", "is_tensor", "layouts", "n_outputs",
        "needed_tensors", "node_name", "number", "parameter_names", "passes_through", "pick_leaves", "places",
        "pull", "recipe", "recorded", "routes", "run", "saved_arguments", "saved_names", "sources",
        "tensor_arguments", "tensor_parameters",
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
        self.places = tuple(i for i, wanted in enumerate(mask) if wanted)
        self.held_arguments: tuple[int, ...] = ()
        self.held_results: tuple[int, ...] = ()
        self.saved_arguments: tuple[int, ...] = ()
        self.needed_tensors: tuple[int, ...] = ()
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
        self.passes_through: Any = None  # unknown until a backward shows it
        self.layouts: tuple[Layout | None, ...] = ()
        made = _Differentiated(self, spec, static, recipe, is_abstract)
        self.run: Any = AbstractRun(made.run, made.look) if is_abstract else EagerKernel(made.run)
        self.pull: Any = AbstractRun(made.pull, made.look_back) if is_abstract else EagerKernel(made.pull)
        self._pull_again = made.pull_again

    def note_reached(self, is_backward: bool, reached: Mapping[int, frozenset[int]], traced: Sequence[int]) -> None:
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
            # no program at all: of a chain of sums only the ends run
            return [cotangents[0]] * len(self.places)
        return without_unreached(self.pull(leaves, cotangents), cotangents, self.apart)

    def _find_pass_through(self, leaves: Sequence[Any], cotangents: Sequence[Any]) -> Any:
        if not self.is_plain or self.pull.is_abstract or has_abstract(cotangents):
            return None if self.is_plain and not self.pull.is_abstract else False
        graph = self.pull.inside.trace(leaves, cotangents).jaxpr.jaxpr  # traced, not compiled
        is_same = all(var is graph.invars[-1] for var in graph.outvars)
        return cotangents[0].dtype if is_same else False

    def settle(self, is_tensor: Sequence[bool], n_operands: int) -> None:
        """Notes, after the first run of so many operands, which arguments and results the pullback holds."""
        if self.node_name in NUMBERS_APART:
            self.tensor_parameters = tuple(i for i in self.tensor_parameters if is_tensor[i])
        # operands and outputs stand in one sequence at run time, so a route is one position
        self.pick_leaves = _picker([position + source * n_operands for source, position in self.routes])
        held = {position for source, position in self.routes if source == 0}
        steps = zip(is_tensor, self.recipe.steps, strict=True)
        self.held_arguments = tuple(i for i, (given, step) in enumerate(steps) if given and step[1] in held)
        n = len(self.layouts)
        self.is_recorded = True in self.recorded
        self.n_outputs = len(self.differentiable)
        self.is_plain = self.is_recorded and n == 1 and self._has_one_result
        touched = (*self.recipe.layouts, *self.layouts)
        # by size, since a large kernel takes longer than its call: fusing it would only compile more
        n_bytes = sum(layout.nbytes for layout in touched if layout is not None)
        self.is_link = self.is_plain and not self.run.is_abstract and n_bytes <= SMALL
        self.held_results = tuple(sorted({p for source, p in self.routes if source == 1 and p < n}))
        self.needed_tensors = tuple(i for i in self.saved_arguments if is_tensor[i])
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
    """Returns the backward of a node as an op; `fn` takes what it holds, and cotangents or None, to gradients."""
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
