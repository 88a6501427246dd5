"""Forward mode on tensors: `make_dual`, `unpack_dual` and the level in which tangents are computed.

A *dual* tensor has a tangent. While a level is entered, every op on a dual tensor also computes the tangents of its
results, by `jax.jvp` of what the op evaluates: an op like any other, so that it is cached eagerly, part of a graph in a
trace, and recorded where the tape records. A base and its views have one tangent, which the *owner*, the base, holds as
long as the level lasts; a view of a tangent is what the tensor that belongs to it shows. `make_dual` and `unpack_dual`
return views that own their tangent themselves.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import (
    DtypeError,
    DualTensorError,
    NoDerivativeError,
    ShapeMismatchError,
    TensorTypeError,
    TensorValueError,
)
from jaxaot.facade.dispatch.arguments import converted, flatten
from jaxaot.facade.dispatch.autocast_operands import call_cast
from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.dispatch.in_place import call_inplace
from jaxaot.facade.dispatch.out import call_out
from jaxaot.facade.dispatch.write import check_writable
from jaxaot.facade.kernels.kernels import Recipe, backward_name
from jaxaot.facade.memory.generator import draw_from
from jaxaot.facade.memory.storage import Storage
from jaxaot.facade.memory.tensor import Tensor, wrap_array
from jaxaot.facade.nodes.nodes import OpNode, TracedOpNode, WriteNode, materialize, pull_op
from jaxaot.facade.nodes.vjps import standing
from jaxaot.facade.subclass.subclass import is_wrapper, leaves_of, shell_of
from jaxaot.facade.subclass.wrapper_gradients import gradient_of, pairs_with
from jaxaot.facade.trace_state import RUNNING
from jaxaot.facade.view_ops.views import alias, as_strided, flipped, view_as_complex, view_as_real
from jaxaot.ops.promotion import is_complex, is_inexact
from jaxaot.ops.table import OpSpec, lookup, op_of
from jaxaot.tape.modes import state
from jaxaot.views.chain import AsDtype, ViewChain
from jaxaot.views.layout import dense_like

if TYPE_CHECKING:
    from jaxaot.facade.memory.generator import Generator


class UnpackedDualTensor(NamedTuple):
    """A tensor without its tangent, and the tangent; None if it has none."""

    primal: Any
    tangent: Any


class _Held(NamedTuple):
    """The tangent of an owner, and how the owner was when it got it."""

    owner: weakref.ref[Tensor]
    tangent: Tensor
    storage: Storage
    offset: int
    dtype: np.dtype
    is_conj: bool


class _Call(NamedTuple):
    """A recorded op on dual tensors: what its backward is a function of.

    Attributes:
      node: On the tape.
      row: Takes values and cotangents to gradients.
      values: The arguments, as dual tensors that stand where they came from.
      generator: Draws the key that the op drew.
    """

    node: weakref.ref[Any]
    row: OpSpec
    values: list[Any]
    generator: Any


class _Again:
    """A generator that draws one key over and over."""

    def __init__(self, generator: Generator | None):
        self._key = draw_from(generator)

    def draw(self) -> Any:
        """Returns the key."""
        return self._key


class _paused:
    """Inside, no tangents are computed."""

    def __enter__(self) -> None:
        self._level, state.dual = state.dual, None

    def __exit__(self, *_: object) -> None:
        state.dual = self._level


class DualLevel:
    """The tangents of tensors, from `enter_dual_level` to `exit_dual_level`."""

    def __init__(self) -> None:
        self._owners: dict[int, tuple[weakref.ref[Tensor], Tensor | None]] = {}
        self._held: dict[int, _Held] = {}
        self._calls: dict[int, _Call] = {}

    def has_duals(self) -> bool:
        """Returns whether any tensor that is alive has a tangent."""
        return bool(self._held)

    # -- tangents --------------------------------------------------------------------------------------------------

    def _owner(self, tensor: Tensor) -> Tensor:
        found = self._owners.get(id(tensor))
        if found is not None:
            return tensor if found[1] is None else found[1]
        base = tensor._base_tensor
        return tensor if base is None else base

    def shows_base(self, tensor: Tensor) -> bool:
        """Returns whether a tensor is a view whose tangent is that of its base."""
        return self._owner(tensor) is not tensor

    def own(self, tensor: Tensor, owner: Tensor | None = None) -> None:
        """Makes a tensor's tangent its own, or that of an owner, whatever it is a view of."""
        key, owners = id(tensor), self._owners
        owners[key] = (weakref.ref(tensor, lambda _: owners.pop(key, None)), owner)

    def note_view(self, view: Tensor, parent: Tensor, steps: ViewChain) -> None:
        """Notes a view, unless its tangent is simply that of its base."""
        if any(isinstance(step, AsDtype) for step in steps):
            self.own(view)
        elif id(parent) in self._owners:
            self.own(view, self._owner(parent))

    def tangent(self, tensor: Tensor) -> Tensor | None:
        """Returns the tangent of a tensor, which shares memory with that of its base; None if it has none."""
        held = self._held.get(id(self._owner(tensor)))
        if held is None or held.storage is not tensor._storage:
            return None
        shown, layout = held.tangent, tensor._layout
        size, stride, moved = layout.size, layout.stride, tensor._offset - held.offset
        with _paused():
            if is_complex(held.dtype) and not is_complex(layout.dtype):
                moved = tensor._offset - 2 * held.offset
                shown = view_as_real(flipped(shown) if held.is_conj else shown)
                shown = as_strided(shown, size, stride, moved + shown._offset)
                return flipped(shown) if layout.is_conj else shown
            if is_complex(layout.dtype) and not is_complex(held.dtype):
                offset = 2 * tensor._offset - held.offset + shown._offset
                pairs = as_strided(shown, (*size, 2), (*(2 * s for s in stride), 1), offset)
                return view_as_complex(pairs)
            if (size, stride) != (shown._layout.size, shown._layout.stride) or moved:
                shown = as_strided(shown, size, stride, moved + shown._offset)
            return shown if layout.is_conj == held.is_conj else flipped(shown)

    def tangents(self, values: Sequence[Any]) -> list[Tensor | None]:
        """Returns the tangents of some values; None for those that have none or are no tensors."""
        if not self._held or state.infers:
            return [None] * len(values)
        return [self.tangent(v) if isinstance(v, Tensor) and is_inexact(v._layout.dtype) else None for v in values]

    def has_tangents(self, values: Sequence[Any]) -> bool:
        """Returns whether one of some values has a tangent."""
        return any(tangent is not None for tangent in self.tangents(values))

    def frozen_tangents(self, values: Sequence[Any]) -> list[Tensor | None]:
        """Returns the tangents of some values as tensors that no write reaches."""
        with _paused():
            return [None if tangent is None else _frozen(tangent) for tangent in self.tangents(values)]

    def paused(self) -> _paused:
        """Returns a context in which no tangents are computed."""
        return _paused()

    @contextlib.contextmanager
    def closed(self) -> Iterator[None]:
        """Inside, tensors with tangents are refused."""
        before, state.dual = state.dual, _ClosedLevel(self)
        try:
            yield
        finally:
            state.dual = before

    def hold(self, tensor: Tensor, tangent: Tensor) -> None:
        """Makes a tangent that of a tensor that owns its tangent, as it is or in memory of the tensor's strides."""
        layout = tensor._layout
        is_alike = tangent._layout.stride == layout.stride and tangent._layout.is_conj == layout.is_conj
        # of part of a memory: views that show more of it can be made of both
        is_part = tangent._storage.nbytes() < tensor._storage.nbytes() and layout.dtype == tensor._storage.dtype
        if not is_alike or is_part:
            with _paused():
                tangent, given = _zeros(tensor, tangent.dtype, is_part), tangent
                call_inplace(lookup("copy"), (tangent, given), (False,))
        key, all_held = id(tensor), self._held
        ref = weakref.ref(tensor, lambda _: all_held.pop(key, None))
        all_held[key] = _Held(ref, tangent, tensor._storage, tensor._offset, layout.dtype, layout.is_conj)

    def drop(self, tensor: Tensor) -> None:
        """Takes the tangent of a tensor away."""
        self._held.pop(id(self._owner(tensor)), None)

    def store(self, tensor: Tensor, tangent: Tensor) -> None:
        """Writes the tangent of a tensor that was written in place."""
        present = self.tangent(tensor)
        if present is None:
            owner = self._owner(tensor)
            if owner is tensor:
                self.hold(tensor, tangent)
                return
            with _paused():
                zeros = _zeros(owner, owner.dtype)
            self.hold(owner, zeros)
            present = self.tangent(tensor)
        with _paused():
            call_inplace(lookup("copy"), (present, tangent), (False,))

    # -- ops -------------------------------------------------------------------------------------------------------

    def _opened(
        self, spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...]
    ) -> tuple[list[Any], Any, dict[int, Tensor]]:
        """Returns an op's flat arguments, the lengths of their lists, and the tangents of those that have one."""
        if not self._held or state.infers:
            return [], None, {}
        dynamic = converted(spec, dynamic, static)
        flat, lengths = (list(dynamic), None) if not spec.has_lists else flatten(spec, dynamic)
        found = self.tangents(flat)
        return flat, lengths, {i: tangent for i, tangent in enumerate(found) if tangent is not None}

    def call(self, spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any = None) -> Any:
        """Runs an op out of place, and gives its results their tangents."""
        if spec.is_cast and state.autocast is not None:
            return call_cast(call, spec, dynamic, static, generator)
        flat, lengths, tangents = self._opened(spec, dynamic, static)
        if not tangents or not spec.is_differentiable:
            with _paused():
                return call(spec, dynamic, static, generator)
        if spec.is_random:
            generator = _Again(generator)
        run = _Run(spec, static, tuple(map(type, static)), lengths)
        note = self._backward(run, flat, tangents, generator)
        with _paused():
            result = call(spec, dynamic, static, generator)
        results = result if isinstance(result, (tuple, list)) else (result,)
        smooth = [r for r in results if isinstance(r, Tensor) and is_inexact(r._layout.dtype)]
        if smooth:
            for made, tangent in zip(smooth, _pushed(run, flat, tangents, generator), strict=True):
                self.hold(made, tangent)
            self._note(smooth[0], note)
        return result

    def call_inplace(
        self, spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: Any = None
    ) -> Tensor:
        """Runs an op, writes its result to the first argument, and its tangent to that of the first argument."""
        target = dynamic[0]
        flat, lengths, tangents = self._opened(spec, dynamic, static)
        if not tangents or not is_inexact(target._layout.dtype):
            with _paused():
                return call_inplace(spec, dynamic, static, generator)
        present = tangents.get(0)
        if present is not None:
            check_writable(present, True)
        if spec.is_random:
            generator = _Again(generator)
        run = _Run(spec, static, tuple(map(type, static)), lengths)
        note = self._backward(run, flat, tangents, generator)
        if spec.overwrites:  # the target may hold no values yet
            flat[0] = wrap_array(jnp.zeros(target._layout.size, target._layout.dtype))
            tangents.pop(0, None)
        if spec.is_differentiable and tangents:
            tangent = _pushed(run, flat, tangents, generator)[0]
        else:
            tangent = None if present is None else _zeros(target, target.dtype)
        with _paused():
            call_inplace(spec, dynamic, static, generator)
        if tangent is not None:
            self.store(target, tangent)
        self._note(target, note)
        return target

    def call_out(
        self,
        spec: OpSpec,
        dynamic: Sequence[Any],
        static: tuple[Any, ...],
        out: object,
        generator: Generator | None = None,
    ) -> Any:
        """Runs an op with `out=`, which forward mode does not know.

        Raises:
          DualTensorError: If a tensor has a tangent.
        """
        outs = out if isinstance(out, (tuple, list)) else (out,)
        _, _, tangents = self._opened(spec, dynamic, static)
        if tangents or any(isinstance(x, Tensor) and self.tangent(x) is not None for x in outs):
            raise DualTensorError(
                f"Trying to use forward AD with {spec.name}_out that does not support it because it is an out= "
                "function. Leave `out=` out, or write the result with `out.copy_(...)`."
            )
        with _paused():
            return call_out(spec, dynamic, static, out, generator)

    # -- backward --------------------------------------------------------------------------------------------------

    def _backward(
        self, run: _Run, flat: Sequence[Any], tangents: dict[int, Tensor], generator: Generator | None
    ) -> Any:
        """Returns the op row, the values and the generator of a recorded backward."""
        wanted = [isinstance(v, Tensor) and v.requires_grad and is_inexact(v._layout.dtype) for v in flat]
        if not (state.grad_enabled and run.spec.is_differentiable and any(wanted)):
            return None
        values = [v if not isinstance(v, Tensor) else _frozen(v) for v in flat]
        for i, tangent in tangents.items():
            self.hold(values[i], _frozen(tangent))
        return _pull_row(run, tuple(wanted)), values, generator

    def _note(self, result: Tensor, note: Any) -> None:
        """Notes of the node that an op left on the tape what its backward is a function of."""
        node = None if result._history is None else result._history.node
        if note is None or node is None:
            return
        name = backward_name(note[0].name.removesuffix("_pull"))
        while isinstance(node, WriteNode):
            node = node.edges[1].node  # type: ignore[union-attr]
        while node is not None and node.name() != name:  # a cast before it was stored
            node = next((edge.node for edge in node.edges if edge is not None), None)
        if isinstance(node, (OpNode, TracedOpNode)):
            calls, key = self._calls, id(node)
            calls[key] = _Call(weakref.ref(node, lambda _: calls.pop(key, None)), *note)

    def pull(self, node: Any, cotangents: Sequence[Any]) -> Sequence[Any] | None:
        """Returns the gradients of an op on dual tensors, which are dual too; None of any other op."""
        found = self._calls.get(id(node))
        return None if found is None else call(found.row, (found.values, list(cotangents)), (), found.generator)


class _ClosedLevel(DualLevel):
    """A level as a function of `ja.func` sees it: JAX knows the tangents of what the function is passed, no others."""

    def __init__(self, level: DualLevel):
        super().__init__()
        self._owners, self._held, self._calls = level._owners, level._held, level._calls

    def tangents(self, values: Sequence[Any]) -> list[Tensor | None]:
        self._refuse(*(v for v in values if isinstance(v, Tensor)))
        return [None] * len(values)

    def note_view(self, view: Tensor, parent: Tensor, steps: ViewChain) -> None:
        self._refuse(parent)

    def _refuse(self, *tensors: Tensor) -> None:
        for tensor in tensors:
            if self.tangent(tensor) is not None:
                raise DualTensorError(
                    f"A function that `ja.func` transforms reached a dual tensor of shape {list(tensor.shape)} that it "
                    "was not passed: its tangent would be lost. Pass it as an argument,\n\n"
                    "    ja.func.grad(lambda x, d: f(x, d))(x, d)   # instead of ja.func.grad(lambda x: f(x, d))(x)\n\n"
                    "or, if its tangent is not to count, take `ja.autograd.forward_ad.unpack_dual(d).primal` "
                    "before the call."
                )


class _Run(NamedTuple):
    """An op as it was called: its row, static arguments with their types, and the lengths of its lists."""

    spec: OpSpec
    static: tuple[Any, ...]
    kinds: tuple[type, ...]
    lengths: Any

    def smooth(self, values: Sequence[Any], key: Array | None) -> list[Any]:
        """Returns the float results of the op, as a function of its flat arguments."""
        nested = Recipe((), self.lengths, (), False).nest(values)
        results = self.spec.evaluate(nested, self.static, key)
        n = self.spec.schema.n_results
        return [r for r in (results if n < 0 else results[:n]) if r is not None and is_inexact(r.dtype)]


def _pushed(run: _Run, flat: Sequence[Any], tangents: dict[int, Tensor], generator: Generator | None) -> list[Tensor]:
    """Returns the tangents of the float results of an op, each with memory of its own."""
    with _paused():
        row = _push_row(run, tuple(tangents))
        try:
            found = list(call(row, (list(flat), list(tangents.values())), (), generator))
        except TypeError as error:  # of JAX, when the kernel is made
            if "custom_vjp" not in str(error):
                raise
            raise NoDerivativeError(
                f"Trying to use forward AD with {run.spec.name} that does not support it because it has not been "
                "implemented yet. Detach its arguments if they are to count as constants."
            ) from error
    given = [x for x in (*flat, *tangents.values()) if isinstance(x, Tensor)]
    for made in found:
        for other in given:  # what only passes through is one array
            if made._storage.array is other._storage.array:
                made._storage.is_shared = other._storage.is_shared = True
    return found


@functools.lru_cache(maxsize=4096)
def _push_row(run: _Run, places: tuple[int, ...]) -> OpSpec:
    """Returns the derivative of an op in a direction as an op on its arguments and on the tangents of some of them."""
    spec = run.spec

    def push(*key: Array, primals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        def moved(*values: object) -> list[Any]:
            filled = list(primals)
            for place, value in zip(places, values, strict=True):
                filled[place] = value
            return run.smooth(filled, key[0] if key else None)

        at = [primals[i] for i in places]
        return jax.jvp(moved, at, [t.astype(x.dtype) for x, t in zip(at, tangents, strict=True)])[1]

    row = op_of(push, f"{spec.name}_push(Tensor?[] primals, Tensor?[] tangents) -> Tensor[]")
    layout = spec.layout if spec.layout in ("operands", "same") else "contiguous"
    return dataclasses.replace(row, is_random=spec.is_random, layout=layout)


@functools.lru_cache(maxsize=4096)
def _pull_row(run: _Run, wanted: tuple[bool, ...]) -> OpSpec:
    """Returns the backward of an op as an op on its arguments and the cotangents of its float results."""

    def pull(*key: Array, values: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return pull_op(lambda filled: run.smooth(filled, key[0] if key else None), values, wanted, cotangents)

    row = op_of(pull, f"{run.spec.name}_pull(Tensor?[] values, Tensor?[] cotangents) -> Tensor[]")
    return dataclasses.replace(row, is_random=run.spec.is_random)


def _frozen(tensor: Tensor) -> Tensor:
    """Returns a tensor that stands where another does, and that no write reaches."""
    value = materialize(tensor)
    tensor._storage.is_shared = True
    return standing(value, tensor._gradient_edge())


def _zeros(tensor: Tensor, dtype: DTypeLike | None, on_all: bool = False) -> Tensor:
    """Returns zeros that lie in memory as a tensor does, if asked for as part of a memory as large as its own."""
    layout = tensor._layout
    dense = dense_like(layout, np.dtype(dtype))
    with _paused():
        if on_all:
            whole = wrap_array(jnp.zeros((tensor._storage.layout.numel,), dtype))
            made = as_strided(whole, layout.size, layout.stride, tensor._offset)
        elif dense.stride == layout.stride:
            made = wrap_array(jnp.zeros(layout.size, dtype), dense)
        else:
            made = as_strided(wrap_array(jnp.zeros((layout.reach,), dtype)), layout.size, layout.stride, 0)
        return made if made._layout.is_conj == layout.is_conj else flipped(made)


# -- what users call ---------------------------------------------------------------------------------------------------


def enter_dual_level() -> int:
    """Begins a level, in which dual tensors can be made; returns its number.

    Raises:
      DualTensorError: If there is one.
    """
    if state.dual is not None:
        raise DualTensorError(
            "Nested forward mode AD is not supported at the moment. Leave the level before, or use `ja.func.jvp`, "
            "which nests."
        )
    state.dual = DualLevel()
    RUNNING.append(state.dual)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends the level: tensors lose their tangents.

    Raises:
      DualTensorError: If there is none, or if the number is another one.
    """
    if state.dual is None:
        raise DualTensorError("Dual level must be a positive number. There is none: `enter_dual_level()` begins one.")
    if level not in (None, 0):
        raise DualTensorError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    RUNNING.remove(state.dual)
    state.dual = None


class dual_level:
    """The level of forward mode as a context and a decorator; it cannot be nested.

    with ja.autograd.forward_ad.dual_level():
        y = f(ja.autograd.forward_ad.make_dual(x, direction))
        value, derivative = ja.autograd.forward_ad.unpack_dual(y)
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: object) -> None:
        exit_dual_level()

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def inside(*args: object, **kwargs: Any) -> Any:
            with dual_level():
                return fn(*args, **kwargs)

        return inside


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Returns a view of a tensor that has a tangent: the given one itself, or a copy where its strides are others.

    Raises:
      DualTensorError: If no level was entered, or one of the two is dual already.
      TensorValueError: If one of the two holds integers.
      ShapeMismatchError: If the shapes differ.
      DtypeError: If the tangent of a real tensor is complex.
    """
    if is_wrapper(tensor):
        pairs = {id(x): make_dual(x, t, level=level) for x, t in pairs_with(tensor, tangent)}
        return shell_of(tensor)(pairs.get(id(x), x) for x in leaves_of(tensor))
    held: DualLevel | None = state.dual
    if held is None:
        raise DualTensorError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first: "
            "`with ja.autograd.forward_ad.dual_level(): ...`."
        )
    if level not in (None, 0):
        raise DualTensorError(f"Invalid level given to make_dual: {level}. The level is 0.")
    for name, given in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(given, Tensor):
            raise TensorTypeError(f"make_dual(): argument '{name}' must be Tensor, not {type(given).__name__}")
        if not is_inexact(given.dtype):
            raise TensorValueError(f"Expected {name} to be floating point or complex, but got: {given.dtype}")
    if held.tangent(tensor) is not None:
        raise DualTensorError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            "supported. Make it of `unpack_dual(tensor).primal`."
        )
    if held.tangent(tangent) is not None:
        raise DualTensorError(
            "Setting a forward grad that itself has a forward gradient at the same level 0 is not supported. Use "
            "`ja.func.jvp`, which nests."
        )
    if tensor.shape != tangent.shape:
        raise ShapeMismatchError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    if is_complex(tangent.dtype) and not is_complex(tensor.dtype):
        raise DtypeError(f"The tangent of a tensor of {tensor.dtype} cannot be of {tangent.dtype}; pass its real part.")
    made = _own_view(held, tensor)
    held.hold(made, tangent)
    return made


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Returns a view of a tensor without its tangent, and the tangent.

    Raises:
      DualTensorError: If another level is asked for.
    """
    if is_wrapper(tensor):
        return UnpackedDualTensor(
            shell_of(tensor)(unpack_dual(x, level=level).primal for x in leaves_of(tensor)),
            gradient_of(tensor, lambda x: unpack_dual(x, level=level).tangent),
        )
    held: DualLevel | None = state.dual
    if held is None:
        return UnpackedDualTensor(tensor, None)
    tangent = held.tangent(tensor)
    if level not in (None, 0) and tangent is not None:
        raise DualTensorError(f"Invalid level given to unpack_dual: {level}. The level is 0.")
    return UnpackedDualTensor(_own_view(held, tensor), tangent)


def _own_view(level: DualLevel, tensor: Tensor) -> Tensor:
    view = alias(tensor)
    level.own(view)
    return view
