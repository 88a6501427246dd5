"""Subclasses of Tensor: which there are, what they are made of, and how an op is asked of them.

A *wrapper* is made of inner tensors and has no memory of its own. `__tensor_flatten__` names the inner tensors,
`__tensor_unflatten__` makes a wrapper of others, and `__tensor_dispatch__` carries an op out on them. Its gradients
are those of its inner tensors, so the tape knows nothing of wrappers. To `jax.tree` a wrapper is a node, so graphs
know nothing of them either: its inner tensors are the leaves.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import jax

from jaxaot import _trees as pytree
from jaxaot._immutable import immutable
from jaxaot._typing import Shape
from jaxaot.errors import ArgumentError, SubclassError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.ops.promotion import is_inexact
from jaxaot.ops.schema import REQUIRED
from jaxaot.ops.table import OpSpec
from jaxaot.plan.guards import differs
from jaxaot.views.layout import contiguous_stride

Run = Callable[..., Any]

SUBCLASSES: set[type] = set()
"""All classes that derive from Tensor. As long as there are none, ops look no further."""


def holds_subclass(values: Iterable[Any]) -> bool:
    """Returns whether a subclass is among the arguments of an op, or in a list among them."""
    for value in values:
        kind = type(value)
        if kind in SUBCLASSES or ((kind is list or kind is tuple) and holds_subclass(value)):
            return True
    return False


def is_wrapper(value: object) -> bool:
    """Returns whether a value is made of inner tensors."""
    return type(value) in SUBCLASSES


# -- what a wrapper is made of -----------------------------------------------------------------------------------------


@immutable(eq=False)
class Frame:
    """All of a wrapper but its inner tensors: what a program is compiled for. A context of 1 is not one of True.

    Attributes:
      names: Names of its inner tensors.
      context: What its `__tensor_flatten__` says besides.
      size: Its shape.
      stride: Its strides.
      inner: Shapes of its inner tensors, by which `resized` knows where they have others.
    """

    names: tuple[str, ...]
    context: Any
    size: Shape
    stride: Shape
    inner: tuple[Shape, ...] = ()

    @property
    def kind(self) -> tuple[tuple[str, ...], Any]:
        """Names and context: what tensors of one kind have in common."""
        return self.names, self.context

    def resized(self, inner: Sequence[Any]) -> Frame:
        """Returns the frame of a wrapper of other inner tensors, which `jax.vmap` and `jax.tree.map` give other shapes.

        Where an inner tensor had the shape of the wrapper, that of the new one is taken. Otherwise a dim is taken away
        or added where inner tensors lack or got one.
        """
        pairs = [(old, tuple(getattr(x, "shape", old))) for old, x in zip(self.inner, inner, strict=False)]
        moved = [(old, new) for old, new in pairs if old != new]
        if not moved:
            return self
        size = next((new for old, new in moved if old == self.size), None)
        for old, new in moved if size is None else ():
            long, short = (old, new) if len(old) > len(new) else (new, old)
            axis = next((i for i in range(len(long)) if long[:i] + long[i + 1 :] == short), None)
            if axis is None or axis > len(self.size):
                continue
            rest = self.size[axis + 1 :] if long is old else self.size[axis:]
            size = self.size[:axis] + (() if long is old else (long[axis],)) + rest
            break
        if size is None:
            return self
        return dataclasses.replace(self, size=size, stride=contiguous_stride(size), inner=tuple(n for _, n in pairs))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frame):
            return NotImplemented
        return not differs((*self.kind, self.size, self.stride), (*other.kind, other.size, other.stride))

    def __hash__(self) -> int:
        return hash((self.names, self.context, self.size))


class _Held(NamedTuple):
    """What stands in a wrapper that no tensors are in: `jax.tree` puts anything in the place of leaves."""

    frame: Frame
    children: tuple[Any, ...]


def take_apart(wrapper: object) -> tuple[list[Any], Frame]:
    """Returns the inner tensors of a wrapper, and the rest of it.

    Raises:
      SubclassError: If its class does not keep to the protocol.
    """
    held = wrapper.__dict__.get("_held")
    if held is not None:
        return list(held.children), held.frame
    cls, said = type(wrapper), wrapper.__tensor_flatten__()
    is_named = isinstance(said, tuple) and len(said) == 2 and isinstance(said[0], (list, tuple))
    if not is_named or any(type(name) is not str for name in said[0]) or len(set(said[0])) < len(said[0]):
        raise SubclassError(
            f"`{cls.__qualname__}.__tensor_flatten__` returned {said!r}. It returns the names of the inner tensors, "
            "each once, and a hashable context: `return ['a', 'b'], None`."
        )
    names, context = tuple(said[0]), said[1]
    try:
        hash(context)
    except TypeError as error:
        raise SubclassError(
            f"The context that `{cls.__qualname__}.__tensor_flatten__` returned is not hashable, so programs cannot "
            f"be told apart by it: {error}. Return numbers, strings, or tuples of them."
        ) from error
    inner = []
    for name in names:
        value = getattr(wrapper, name, None)
        if not isinstance(value, Tensor):
            raise SubclassError(
                f"{name} = {value!r} was found in tensor attrs of {cls.__qualname__}.__tensor_flatten__(). Only "
                "tensors are allowed in tensor attrs; put what is no tensor into the context."
            )
        inner.append(value)
    if not names:
        raise SubclassError(f"`{cls.__qualname__}.__tensor_flatten__` names no inner tensors; it needs one at least.")
    layout = wrapper._layout
    sizes = tuple(x._layout.size for x in inner)
    return inner, Frame(names, context, layout.size, layout.stride, sizes)


def frame_of(value: object) -> Frame | None:
    """Returns all of a wrapper but its inner tensors; None of anything else."""
    return take_apart(value)[1] if is_wrapper(value) else None


def put_together(cls: type, frame: Frame, inner: Sequence[Any]) -> Any:
    """Returns a wrapper of other inner tensors.

    Raises:
      SubclassError: If its class makes something else of them.
    """
    named = dict(zip(frame.names, inner, strict=True))
    frame = frame.resized(inner)
    made = cls.__tensor_unflatten__(named, frame.context, frame.size, frame.stride)  # type: ignore[attr-defined]
    if type(made) is not cls:
        raise SubclassError(
            f"`{cls.__qualname__}.__tensor_unflatten__` returned a `{type(made).__qualname__}`. It returns a "
            f"`{cls.__qualname__}` of the inner tensors that it is given."
        )
    again = take_apart(made)[1]
    if again.kind != frame.kind:
        raise SubclassError(
            f"A `{cls.__qualname__}` with inner tensors {list(frame.names)} and context {frame.context!r} was taken "
            f"apart and put together, and then has {list(again.names)} and {again.context!r}. `__tensor_flatten__` "
            "returns what `__tensor_unflatten__` was given."
        )
    return made


def like(wrapper: Tensor, inner: Sequence[Any]) -> Any:
    """Returns a wrapper as another one, of other inner tensors."""
    return put_together(type(wrapper), take_apart(wrapper)[1], inner)


def shell_of(value: Any) -> Callable[[Iterator[Any]], Any]:
    """Returns what makes a tensor of a kind out of the next ones of some with memory, without keeping the tensor."""
    if not is_wrapper(value):
        return next
    cls, (inner, frame) = type(value), take_apart(value)
    parts = [shell_of(child) for child in inner]
    return lambda leaves: put_together(cls, frame, [part(leaves) for part in parts])


def form_of(value: Any) -> Any:
    """Returns what a tensor is made of, but for values: hashable, and equal for tensors of one kind."""
    if not is_wrapper(value):
        return value._layout.size, value._layout.dtype
    inner, frame = take_apart(value)
    return type(value), frame, tuple(map(form_of, inner))


def leaves_of(value: Any, within: tuple[int, ...] = ()) -> Iterator[Tensor]:
    """Yields the tensors with memory of their own that a tensor is made of: itself, if it is no wrapper.

    Raises:
      SubclassError: If a wrapper is inside of itself.
    """
    if not is_wrapper(value):
        yield value
        return
    if id(value) in within:
        raise SubclassError(
            f"A `{type(value).__qualname__}` is among its own inner tensors, directly or by others. A wrapper is made "
            "of tensors that were there before it."
        )
    for child in take_apart(value)[0]:
        yield from leaves_of(child, (*within, id(value)))


def carrying(wrapper: Tensor) -> list[str]:
    """Returns the names of the inner tensors that carry gradients: those in `__tensor_gradients__`, else all floats."""
    inner, frame = take_apart(wrapper)
    chosen = getattr(type(wrapper), "__tensor_gradients__", None)
    if chosen is not None:
        return [name for name in frame.names if name in chosen]
    is_shell = lambda value: is_wrapper(value) and "_held" in value.__dict__  # which has no dtype
    return [
        name
        for name, value in zip(frame.names, inner, strict=True)
        if (carrying(value) if is_shell(value) else is_inexact(value.dtype))
    ]


def _flatten(wrapper: Tensor) -> tuple[tuple[Any, ...], Frame]:
    if "_held" not in wrapper.__dict__:
        for _ in leaves_of(wrapper):  # raises where there is a circle
            pass
    inner, frame = take_apart(wrapper)
    return tuple(inner), frame


def _flatten_with_keys(wrapper: Tensor) -> Any:
    inner, frame = _flatten(wrapper)
    return tuple(zip(map(jax.tree_util.GetAttrKey, frame.names), inner, strict=True)), frame


def _unflatten_of(cls: type) -> Callable[[Frame, Iterable[Any]], Any]:
    def unflatten(frame: Frame, children: Iterable[Any]) -> Any:
        inner = tuple(children)
        if all(isinstance(child, Tensor) and "_held" not in getattr(child, "__dict__", ()) for child in inner):
            return put_together(cls, frame, inner)
        return shell_from(cls, frame, inner)

    return unflatten


def register_kind(cls: type) -> None:
    """Makes a class one of those that derive from Tensor, and its instances nodes of JAX's pytrees."""
    jax.tree_util.register_pytree_with_keys(cls, _flatten_with_keys, _unflatten_of(cls), _flatten)
    SUBCLASSES.add(cls)


def shell_from(cls: type, frame: Frame, children: Sequence[Any]) -> Any:
    """Returns what stands for a wrapper in a pytree where no tensors are in it."""
    made = object.__new__(cls)
    made.__dict__["_held"] = _Held(frame, tuple(children))
    return made


# -- ops ---------------------------------------------------------------------------------------------------------------


class Op:
    """An operation, as `__tensor_dispatch__` is asked for it; called on inner tensors it is carried out on them.

    Attributes:
      name: Its name in the table: `add`, `add_` in place, `view` and the like for views.
    """

    __slots__ = ("_run", "name")

    def __init__(self, name: str, run: Callable[..., Any]):
        """Makes an operation.

        Args:
          name: Its name.
          run: Carries it out.
        """
        self.name = name
        self._run = run

    @property
    def is_inplace(self) -> bool:
        """Whether it writes to its first argument."""
        return self.name.endswith("_") and not self.name.endswith("__")

    def __call__(self, *args: object, **kwargs: Any) -> Any:
        return self._run(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def ask(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns what the first subclass that knows an op makes of it; NotImplemented if none does.

    Subclasses are asked in the order of the arguments, but a class before those that it derives from.
    """
    kinds: list[Any] = []

    def note(values: Iterable[Any]) -> None:
        for value in values:
            kind = type(value)
            if kind in SUBCLASSES and kind not in kinds:
                place = next((i for i, other in enumerate(kinds) if issubclass(kind, other)), len(kinds))
                kinds.insert(place, kind)
            elif kind is list or kind is tuple:
                note(value)

    note((*args, *kwargs.values()))
    if not _functions.are_off:
        for kind in kinds:
            if "__tensor_function__" in _members(kind):
                result = kind.__tensor_function__(op, tuple(kinds), args, kwargs)
                if result is not NotImplemented:
                    return result
    for kind in kinds:
        result = kind.__tensor_dispatch__(op, tuple(kinds), args, kwargs)
        if result is None:
            raise SubclassError(
                f"`{kind.__qualname__}.__tensor_dispatch__` returned None for `{op.name}`. It returns what the op "
                "makes, in place its target; at its end, for ops that it does not know, write `return NotImplemented`."
            )
        if result is not NotImplemented:
            return result
    return NotImplemented


class _Functions(threading.local):
    """Whether `__tensor_function__` is asked at present, in each thread."""

    are_off = False


_functions = _Functions()


@functools.cache
def _members(kind: type) -> frozenset[str]:
    """Returns the names that a subclass and those above it define, up to Tensor."""
    return frozenset(name for owner in kind.__mro__ if owner is not Tensor for name in vars(owner))


def asks_classes(fn: Run) -> Any:
    """Returns a function of tensors that is no row as one that subclasses are asked for, by its name."""
    op = Op(fn.__name__, fn)

    @functools.wraps(fn)
    def run(*args: object, **kwargs: Any) -> Any:
        if SUBCLASSES and holds_subclass((*args, *kwargs.values())):
            return carry_out(op, args, kwargs)
        return fn(*args, **kwargs)

    run.__signature__ = inspect.signature(fn)  # type: ignore[attr-defined]
    return run


def carry_out_without_functions(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns what an op makes of arguments if no class is asked by `__tensor_function__`, also not inside of it."""
    before, _functions.are_off = _functions.are_off, True
    try:
        return op(*args, **kwargs)
    finally:
        _functions.are_off = before


def refuse_op(op: Op, values: Iterable[Any]) -> Any:
    """Raises because no subclass knows an op.

    Raises:
      SubclassError: Always.
    """
    leaves = pytree.leaves(list(values), is_leaf=is_wrapper)
    names = sorted({type(value).__qualname__ for value in leaves if is_wrapper(value)})
    shown = " and ".join(f"`{name}`" for name in names)
    raise SubclassError(
        f"No implementation of `{op.name}` was found for {shown}: `__tensor_dispatch__` returned NotImplemented. Add "
        f"a case to it, `if op.name == {op.name!r}: ...`, or compute with the inner tensors."
    )


def named_arguments(spec: OpSpec, dynamic: Sequence[Any], static: Sequence[Any], generator: object) -> Any:
    """Returns the arguments of a row as a call would be written: by position, and by name; without defaults."""
    given = dict(zip((p.name for p in spec.schema.dynamic), dynamic, strict=True))
    given.update(zip((p.name for p in spec.schema.static), static, strict=True))
    args, kwargs = [], {}
    for parameter in spec.schema.parameters:
        value = given[parameter.name]
        if parameter.type == "Generator":
            value = generator
        if parameter.is_keyword_only:
            if not _is_default(value, parameter.default):
                kwargs[parameter.name] = value
        else:
            args.append((value, parameter.default))
    while args and _is_default(*args[-1]):
        args.pop()
    return tuple(value for value, _ in args), kwargs


def _is_default(value: object, default: object) -> bool:
    if value is default:
        return True
    return type(value) is type(default) and isinstance(value, (bool, int, float, str, tuple)) and value == default


def spread_arguments(spec: OpSpec, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], Any, Any]:
    """Returns arguments as a row takes them: dynamic ones, static ones, generator.

    Raises:
      ArgumentError: If they do not fit its schema.
    """
    parameters = spec.schema.parameters
    positional = [p for p in parameters if not p.is_keyword_only]
    given = {p.name: value for p, value in zip(positional, args, strict=False)} | kwargs
    values = {p.name: given.get(p.name, p.default) for p in parameters}
    missing = [name for name, value in values.items() if value is REQUIRED]
    if missing or len(args) > len(positional) or kwargs.keys() - values.keys():
        raise ArgumentError(
            f"{spec.name}() was called with {len(args)} arguments and the names {sorted(kwargs)}; its signature is "
            f"`{spec.schema}`."
        )
    static, generator = [], None
    for parameter in spec.schema.static:
        value = values[parameter.name]
        if parameter.type == "Generator":
            value, generator = None, value
        static.append(_hashable(value))
    return [values[p.name] for p in spec.schema.dynamic], tuple(static), generator


def _hashable(value: object) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value


_NAMES = {
    "copy_of": "clone", "contiguous_copy_of": "clone", "channels_last_copy_of": "clone", "reshape_copy": "reshape",
    "cast": "to",
}  # fmt: skip
"""Rows that users know by another name."""

_OF_EACH = ("alias", "clone", "detach")
"""What is done to each inner tensor where a class does not say otherwise."""

_row_ops: dict[tuple[OpSpec, bool], Op] = {}


@functools.cache
def named_op(name: str, run: Run) -> Op:
    """Returns an operation that is no row: what `run` does, under a name."""
    return Op(name, run)


def _row_op(run: Run, spec: OpSpec, is_written: bool = False) -> Op:
    op = _row_ops.get((spec, is_written))
    if op is None:
        name = (spec.inplace_name or f"{spec.name}_") if is_written else _NAMES.get(spec.name, spec.name)

        def carry_out(*args: object, **kwargs: Any) -> Any:
            return run(spec, *spread_arguments(spec, args, kwargs))

        op = _row_ops[spec, is_written] = Op(name, carry_out)
    return op


def call_wrapper(run: Run, spec: OpSpec, dynamic: Sequence[Any], static: tuple[Any, ...], generator: object) -> Any:
    """Runs an op out of place with wrappers among its arguments."""
    return carry_out(_row_op(run, spec), *named_arguments(spec, dynamic, static, generator))


def carry_out(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns what subclasses make of an op.

    Raises:
      SubclassError: If none of them knows it.
    """
    result = ask(op, args, kwargs)
    if result is not NotImplemented:
        return result
    if op.name in _OF_EACH and is_wrapper(args[0]):
        return like(args[0], [op(value, *args[1:], **kwargs) for value in take_apart(args[0])[0]])
    return refuse_op(op, (*args, *kwargs.values()))


def write_wrapper(
    run: Run, write: Run, copy: OpSpec, spec: OpSpec, dynamic: Sequence[Any], static: Any, generator: Any
) -> Any:
    """Runs an op in place with wrappers among its arguments, and returns its target.

    A class that does not know the op in place is asked for it out of place; the result is written to inner tensors.

    Raises:
      SubclassError: If no subclass knows it, or what it makes does not fit into the target.
    """
    op, target = _row_op(write, spec, True), dynamic[0]
    args, kwargs = named_arguments(spec, dynamic, static, generator)
    if ask(op, args, kwargs) is not NotImplemented:
        return target
    if spec is copy:
        _copy_inner(write, copy, op, target, dynamic[1])
        return target
    outside = _row_op(run, spec)
    value = NotImplemented if spec.is_inplace_only else ask(outside, args, kwargs)
    if value is NotImplemented:
        return refuse_op(op, (*args, *kwargs.values()))
    _copy_inner(write, copy, op, target, value)
    return target


def _copy_inner(write: Run, copy: OpSpec, op: Op, target: object, value: object) -> None:
    if not is_wrapper(target) and not is_wrapper(value):
        write(copy, (target, value), (False,))
        return
    if type(target) is type(value):
        inner, frame = take_apart(target)
        new, other = take_apart(value)
        if frame.kind == other.kind:
            pairs = zip(inner, new, strict=True)
            for old, source in sorted(pairs, key=_fits):  # what does not fit is refused before anything is written
                write(copy, (old, source), (False,))
            return
    raise SubclassError(
        f"`{op.name}` would write {described(value)} into {described(target)}, whose inner tensors are others. Write "
        f"the case `{op.name}` in `__tensor_dispatch__`, or write to the inner tensors."
    )


def _fits(pair: tuple[Any, Any]) -> bool:
    old, new = (x._layout.size for x in pair)
    return len(new) <= len(old) and all(n in (1, o) for n, o in zip(reversed(new), reversed(old), strict=False))


def described(value: object) -> str:
    """Returns what a tensor is, in words."""
    if not is_wrapper(value):
        return "a plain tensor"
    frame = take_apart(value)[1]
    context = "" if frame.context is None else f" with context {frame.context!r}"
    return f"a `{type(value).__qualname__}`{context}"
