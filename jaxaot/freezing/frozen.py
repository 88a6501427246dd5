"""`ja.compiler.freeze`: a function whose parameters are packed once, for inference."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, NamedTuple, ParamSpec, TypeVar

import jax

from jaxaot import _trees as pytree
from jaxaot._util import format_bytes, shown
from jaxaot.errors import FrozenGradientError, TensorTypeError, UsageError
from jaxaot.facade.cells.cells import cell_kinds, is_leaf
from jaxaot.facade.memory.discarded import Discarded
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.freezing.executable import Frozen, FrozenExecutable
from jaxaot.freezing.store import Store
from jaxaot.ir.walk import aval_bytes, short_aval
from jaxaot.passes.prepare import prepare_forward
from jaxaot.pipeline import traced_call, traced_of
from jaxaot.plan.inputs import positions_of_values
from jaxaot.plan.paths import Path, follow, path_text
from jaxaot.plan.stages import Traced
from jaxaot.plan.world import CellWrite
from jaxaot.runtime.call import generate
from jaxaot.runtime.compile_report import Inspector
from jaxaot.runtime.compiled import CompiledFunction, uncompiled
from jaxaot.runtime.options import CompileOptions
from jaxaot.runtime.program import Program, forward_graph, lower
from jaxaot.runtime.traced_call import GivenCall
from jaxaot.tape.modes import no_grad, state

P = ParamSpec("P")
R = TypeVar("R")


def freeze(
    fn: Callable[P, R],
    /,
    *args: object,
    discard: bool = False,
    stale: Literal["repack", "refuse"] = "repack",
    argnums: int | Sequence[int] = (),
) -> FrozenFunction[P, R]:
    """Returns `fn` compiled for inference: what depends on its parameters alone is computed once.

        serve = ja.compiler.freeze(model, x)                                  # a module: its parameters and buffers
        serve = ja.compiler.freeze(model.apply, variables, x, argnums=0)      # a function that is passed its parameters

    Frozen are the tensors, arrays and nnx Variables that `fn` reaches without being passed, and the arguments that
    `argnums` names, unless the call writes them, as it writes a KV cache. Transposes, casts and sums of them become
    inputs of the program in their place; BatchNorm goes into the weights before it, and products that read one value
    become one. What takes more bytes than before, such as a dequantized weight, is left to the program. On CPU
    halves that XLA converts at every call are kept as float32 of the same values.

    A parameter that changes is noticed at the next call, whoever changed it: a write, an optimizer, `load_state_dict`,
    another array in its place. What depends on it is computed anew. No gradients are recorded. See
    docs/shipping.md.

    Args:
      fn: A function of tensors or arrays, or a module.
      *args: Example arguments: what they need is packed and compiled at once. Left out, at the first call.
      discard: Whether parameters that are tensors are let go, so that they take no memory besides what is packed. To
        read one is a `DiscardedParameterError` then.
      stale: `"repack"`, or `"refuse"`: a parameter that changes is a `StaleWeightsError`.
      argnums: Positions of arguments that hold parameters.

    Raises:
      TraceError: If the function cannot be one graph.
      UsageError: If an option has no meaning.
    """
    if not callable(fn):
        raise TensorTypeError(
            f"`ja.compiler.freeze` takes a function or a module, and was given {fn!r}. Write `ja.compiler.freeze(f)`."
        )
    if stale not in ("repack", "refuse"):
        raise UsageError(f'`stale` is "repack" or "refuse", and was {stale!r}.')
    if discard and not args:
        raise UsageError(
            "`discard=True` lets parameters go once what is needed of them is packed, and only example arguments say "
            "what that is. Write `ja.compiler.freeze(model, x, discard=True)`."
        )
    frozen = FrozenFunction(
        uncompiled(fn), stale == "refuse", (argnums,) if isinstance(argnums, int) else tuple(argnums)
    )
    if args:
        frozen.pack(*args, discard=discard)
    return frozen


class FrozenFunction(Generic[P, R]):
    """A function whose parameters were packed; it is called like the function.

    Attributes:
      fn: The function itself.
    """

    def __init__(self, fn: Callable[P, R], refuses: bool, argnums: tuple[int, ...]):
        """Wraps a function; nothing is traced yet.

        Args:
          fn: The function.
          refuses: Whether a parameter that changes is an error.
          argnums: Positions of arguments that hold parameters.
        """
        functools.update_wrapper(self, fn, updated=())
        self.fn = fn
        self._argnums = argnums
        self._store = Store(refuses)
        self._executables: weakref.WeakSet[FrozenExecutable] = weakref.WeakSet()
        self._compiled: CompiledFunction[P, R] = CompiledFunction(
            fn, self._build, Inspector(traced_of, _no_cut), CompileOptions(fullgraph=True)
        )

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if state.grad_enabled:
            self._refuse_gradients(args, kwargs)
        with no_grad():
            return self._compiled(*args, **kwargs)

    def _refuse_gradients(self, args: object, kwargs: object) -> None:
        for path, leaf in pytree.leaves_with_path((args, kwargs), is_leaf=is_leaf):
            if isinstance(leaf, Tensor) and leaf.requires_grad:
                raise FrozenGradientError(
                    f"The argument at {jax.tree_util.keystr(path[1:])} of a frozen function requires grad, and it has "
                    "no gradients. Pass `x.detach()`, call it in `with ja.no_grad():`, or call the "
                    "function that was frozen."
                )

    def _build(self, fn: Any, args: Any, kwargs: Any, writing: Any, *, numbers: Any = ()) -> Program:
        call = traced_call(GivenCall(fn, args, kwargs, numbers))
        traced, key = call.traced, call.key
        if traced.needs_backward:
            raise FrozenGradientError(
                f"{shown(fn)} turns gradients on inside, by `ja.enable_grad()`, and a frozen function has none. Leave "
                "that out, or compile the function by `ja.compile`."
            )
        frozen = Frozen(_names(frozen_inputs(traced, self._argnums)), self._store, {})

        def make(closed: Any, donated: Sequence[int] = (), name: str = "graph") -> FrozenExecutable:
            made = FrozenExecutable(closed, donated, name, frozen=frozen)
            self._executables.add(made)
            return made

        return generate(lower(traced, None, make, key), writing)

    def pack(self, *args: object, discard: bool = False) -> None:
        """Packs and compiles what calls with such arguments need, without carrying one out.

        Args:
          *args: Example arguments.
          discard: Whether parameters that are tensors are let go.
        """
        with no_grad():
            program = self._compiled.prepare(args, {})
        roots = ((("root", "args"),), args), ((("root", "kwargs"),), {}), ((("root", "fn"),), self.fn)
        executables, frozen = program.executables, frozen_inputs(program.traced, self._argnums)
        executable: FrozenExecutable = executables.get("forward_donated", executables["forward"])
        leaves = pytree.leaves((args, {}), is_leaf=is_leaf)
        executable.prepare_for({i: one.find(roots, leaves) for i, one in frozen.items()})
        if discard:
            self._discard(frozen, roots)

    def _discard(self, frozen: dict[int, FrozenInput], roots: Any) -> None:
        """Lets the arrays of frozen tensors go."""
        gone: dict[int, Discarded] = {}
        held = []
        for one in frozen.values():
            if one.storage is not None:
                storage = follow(roots, one.storage)._storage
                held.append(storage.array)  # no other object has its identity as long as it is held
                gone[id(storage.array)] = stand_in = Discarded(readable(one.storage), shown_owner(self.fn))
                storage.array, storage.is_shared = stand_in, True
        if kept := [one.name for one in frozen.values() if one.storage is None]:
            warnings.warn(
                f"`discard=True` lets tensors go, and {', '.join(f'`{name}`' for name in kept)} are arrays that others "
                "may hold: delete your own references to them.",
                UserWarning,
                stacklevel=4,
            )
        self._store.discard(gone)
        for executable in self._executables:
            executable.forget()
        del held

    @property
    def packed_bytes(self) -> int:
        """Bytes of what calls are handed in place of parameters; parameters that are handed on themselves count."""
        return self._store.packed_bytes

    @property
    def parameter_bytes(self) -> int:
        """Bytes of the parameters that were packed."""
        return self._store.source_bytes

    def explain(self, /, *args: object, **kwargs: Any) -> None:
        """Prints what is packed for a call: each value, its bytes, and the parameters that it is made of."""
        with no_grad():
            traced = traced_call(GivenCall(self.fn, args, kwargs)).traced
        plan = Frozen(_names(frozen_inputs(traced, self._argnums)), self._store, {})
        parts, recipe = plan.plan(prepare_forward(forward_graph(traced, None)))
        lines = []
        for var, read in zip(parts.pack.jaxpr.outvars, recipe.read, strict=True):
            names = ", ".join(recipe.names[k] for k in read)
            how = "as it is" if var in recipe.position else "of"
            shown_type = f"{short_aval(var.aval)}, {format_bytes(aval_bytes(var.aval))}"
            lines.append(f"{names}: {how}, {shown_type}" if how == "as it is" else f"{shown_type}: made {how} {names}")
        n_fewer = len(traced.jaxpr.eqns) - len(parts.run.jaxpr.eqns)
        print("\n".join([f"{len(lines)} packed values, {n_fewer} equations fewer in each call", *lines]))

    def cache_info(self) -> Any:
        """Returns how many calls found a program, how many had one built, and how many there are."""
        return self._compiled.cache_info()

    def __repr__(self) -> str:
        return f"<ja.compiler.freeze of {shown(self.fn)}>"


def _no_cut(traced: Traced) -> Any:
    raise AssertionError("a frozen function has no backward")


_KEPT_IN = ("_modules", "_parameters", "_buffers")
"""Attributes in which modules keep what users write as attributes."""


def readable(path: Path) -> str:
    """Returns what users call the end of a path: `layers.0.weight` of the module itself, `model.layers.0.weight`."""
    steps: list[Any] = []
    for step in path[1:] if path[0] == ("root", "fn") else path:
        if steps and steps[-1][0] == "attr" and steps[-1][1] in _KEPT_IN:
            steps[-1] = "attr", step[1]
        else:
            steps.append(step)
    return path_text(tuple(steps)).removeprefix(".")


def shown_owner(fn: object) -> str:
    """Returns what a function or module is called in messages."""
    return f"the module `{type(fn).__name__}`" if not hasattr(fn, "__name__") else f"the function `{fn.__name__}`"


# -- which inputs are frozen -------------------------------------------------------------------------------------------


class FrozenInput(NamedTuple):
    """A graph input that holds a parameter.

    Attributes:
      name: What users call it.
      find: Takes where paths start, and the leaves of the arguments, to its array.
      storage: The tensor of whose storage it is the array; None if it is that of none.
    """

    name: str
    find: Callable[[Any, Sequence[Any]], Any]
    storage: Path | None = None


def frozen_inputs(traced: Traced, argnums: Sequence[int]) -> dict[int, FrozenInput]:
    """Returns the graph inputs that hold parameters."""
    call, found = traced.call, {}
    owners = [i for i, tree in enumerate(traced.in_tree.children()[0].children()) for _ in range(tree.num_leaves)]
    n_arguments = traced.in_tree.children()[0].num_nodes and len(traced.in_tree.children()[0].children())
    wanted = {i % n_arguments for i in argnums if -n_arguments <= i < n_arguments}
    if len(wanted) < len(set(argnums)):
        raise UsageError(f"`argnums` is {tuple(argnums)}, and the function has {n_arguments} positional arguments.")
    changed = {write.storage for write in traced.alias.writes} | {freed.storage for freed in traced.alias.freed}
    passed = {
        t.storage for t in call.tensors if t.is_argument and not (t.path[:1] == ARGS and _argument(t.path) in wanted)
    }

    def held(path: Path, read: Callable[[Any], Any]) -> Callable[[Any, Sequence[Any]], Any]:
        return lambda roots, leaves: read(follow(roots, path))

    for number, storage in enumerate(call.storages):
        if storage.graph_input is not None and number not in changed and number not in passed:
            path = call.tensors[storage.tensor].path
            array = held(path, lambda tensor: tensor._storage.array)
            found[storage.graph_input] = FrozenInput(readable(path), array, path)
    for i, value in zip(positions_of_values(call, traced.places), call.values, strict=True):
        if value.leaf < len(owners) and owners[value.leaf] in wanted:
            name = f"args[{owners[value.leaf]}], leaf {value.leaf}"
            found[i] = FrozenInput(name, lambda roots, leaves, leaf=value.leaf: leaves[leaf])
    written = {write.cell for write in traced.world.writes if isinstance(write, CellWrite)}
    for number, cell in enumerate(traced.places.cells):
        for i, leaf in enumerate(cell.leaves):
            if leaf.graph_input is not None and leaf.kind == "array" and number not in written:
                attribute = cell_kinds()[cell.kind].value_attribute
                array = held(cell.path, lambda one, name=attribute, i=i: pytree.leaves(getattr(one, name))[i])
                name = readable(cell.path) + ("" if len(cell.leaves) == 1 else f"[{i}]")
                found[leaf.graph_input] = FrozenInput(name, array)
    for bare in traced.places.arrays:
        if bare.leaf.graph_input is not None and bare.leaf.kind == "array":
            found[bare.leaf.graph_input] = FrozenInput(readable(bare.path), held(bare.path, lambda array: array))
    return dict(sorted(found.items()))


def _names(inputs: dict[int, FrozenInput]) -> dict[int, str]:
    return {i: one.name for i, one in inputs.items()}


ARGS: Path = (("root", "args"),)


def _argument(path: Path) -> Any:
    """Returns which positional argument a path leads into."""
    return path[1][1] if len(path) > 1 else None
