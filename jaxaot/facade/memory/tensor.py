"""Tensor: a handle on a storage, and what gradients need to know about it.

Terms: the *base* is the tensor that a view was taken from; the *chain* are the steps from where its history began to
the view, empty for a tensor that is not a differentiable view. Operations live in `dispatch.py`; this module holds what
a tensor *is*. `methods.py` binds to the class what needs more than that: the methods of the op table, subclassing, the
nodes of leaves and views.
"""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

import jax
import numpy as np

from jaxaot._jax import is_tracer, known_value, refuse_values_of
from jaxaot._typing import Array, DTypeLike
from jaxaot.errors import (
    AutogradError,
    DtypeError,
    InferenceTensorError,
    MissingMemoryError,
    StorageSizeError,
    TensorTypeError,
    TensorValueError,
)
from jaxaot.errors.absent import missing_name
from jaxaot.facade.memory.asked import device_of, note_absence, place_of
from jaxaot.facade.memory.counter import WriteCounter, writes_of
from jaxaot.facade.memory.discarded import Discarded
from jaxaot.facade.memory.history import History
from jaxaot.facade.memory.no_value import is_operand, no_value, refuse_in_jax
from jaxaot.facade.memory.source_line import warn_user
from jaxaot.facade.memory.storage import Storage
from jaxaot.lower.abstract import AbstractArray, refuse_value
from jaxaot.ops import dtypes
from jaxaot.ops.dims import normalize_dim
from jaxaot.ops.promotion import is_inexact
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge, Node, edge_of
from jaxaot.views.chain import Geometry, ViewChain
from jaxaot.views.layout import Layout, contiguous
from jaxaot.views.memory_format import MemoryFormat, has_format
from jaxaot.views.window import find_window, window_in_graph

if TYPE_CHECKING:
    from jaxaot.facade.memory.bound import Bound  # a stub of what `methods.py` binds from the op table
else:
    Bound = object

INFERENCE = "inference"
"""`_creation` of a tensor that was made in `inference_mode`, and of its views."""

UNRECORDED = {"no_grad": "no_grad", "unrecorded inference": "inference"}
"""`_creation` of views that were made where nothing is recorded, of tensors made where it is, and the name of the mode.

What `_view_parent` of such a view holds is the version that the memory had then.
"""

UNRECORDED_IN = tuple(UNRECORDED)
"""Their `_creation` outside and inside of `inference_mode`."""


class Size(tuple[int, ...]):
    """A shape (`torch.Size`)."""

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        return super().__new__(cls, map(operator.index, sizes))

    def __getitem__(self, place: Any) -> Any:
        found = tuple.__getitem__(self, place)
        return _size_of(found) if type(place) is slice else found

    def __add__(self, other: Any) -> Any:
        return joined if (joined := tuple.__add__(self, other)) is NotImplemented else _size_of(joined)

    def __mul__(self, times: Any) -> Any:
        return _size_of(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def numel(self) -> int:
        """Returns the number of elements."""
        n = 1
        for size in self:
            n *= size
        return n

    def __repr__(self) -> str:
        return f"ja.Size({list(self)})"


_size_of: Callable[[Iterable[int]], Size] = functools.partial(tuple.__new__, Size)
"""Makes a shape of what are whole numbers already."""


NO_GRADIENTS = (
    "only Tensors of floating point and complex dtype can require gradients. Convert it: `x.float().requires_grad_()`."
)


class Tensor(Bound):
    """A mutable tensor with PyTorch's semantics on an immutable jax array.

    Make one with `ja.tensor`, `ja.interop.from_jax` or a factory such as `ja.zeros`.
    """

    # in `__dict__` are attributes of users' own
    __slots__ = (
        "__dict__", "__weakref__", "_base_tensor", "_chain", "_counter", "_creation", "_grad", "_history", "_hooks",
        "_layout", "_mark", "_offset", "_storage", "_trace", "_view_node", "_view_parent",
    )  # fmt: skip

    _storage: Storage
    _layout: Layout
    _offset: int
    _history: History | None
    _base_tensor: Tensor | None
    _chain: ViewChain
    _counter: WriteCounter | None
    _creation: str | None
    _grad: Tensor | None
    _hooks: Any
    _trace: Any
    _view_node: Node | None
    _view_parent: Any
    _mark: str  # of parameters and buffers of modules; other tensors have none

    __array_priority__ = 1000

    if TYPE_CHECKING:  # `methods.py` binds these

        def __init__(self, *args: object) -> None: ...
        @staticmethod
        def _make_wrapper_subclass(kind: type, size: Any, strides: Any = None, *more: int, **kwargs: Any) -> Any: ...
        def _view_edge(self, history: History) -> Edge: ...
        @property
        def _new_accumulator(self) -> Node: ...

    else:  # a type checker would take any name

        def __getattr__(self, name: str) -> Any:
            kind = type(self).__name__
            if name in ("placements", "device_mesh"):
                return getattr(type(self), name).fget(self)  # again: it says more than that the name is missing
            if kind != "Tensor" and name in _FIELDS:
                raise MissingMemoryError(
                    f"`{kind}` is made of inner tensors and has no memory and no place on the tape of its own, and "
                    "what was called needs one. Call it on the inner tensors."
                )
            note_absence(self, name)
            if name[:1] == "_" or name in _FIELDS:
                raise AttributeError(f"'{kind}' object has no attribute '{name}'", name=name, obj=self)
            raise missing_name(kind, name, dir(type(self)), self)

    # -- state -----------------------------------------------------------------------------------------------------

    def _snapshot(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    def _restore(self, snapshot: dict[str, Any]) -> None:
        for name, value in snapshot.items():
            setattr(self, name, value)

    def _touch(self) -> None:
        """Notes, in a trace or a checkpointed function, how this tensor was before its metadata change."""
        if state.trace is not None:
            state.trace.touch(self)
        elif state.region is not None:
            state.region.note((self,))

    @property
    def _geometry(self) -> Geometry:
        return Geometry(self._layout.size, self._layout.stride, self._offset)

    # -- looking ---------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        return _size_of(self._layout.size)

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    @overload
    def size(self, *, axis: int) -> int: ...
    def size(self, dim: int | None = None, *, axis: int | None = None) -> Size | int:
        """Returns the shape, or the size of one dim."""
        dim = axis if dim is None else dim
        return self.shape if dim is None else self._layout.size[self._dim(dim)]

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    @overload
    def stride(self, *, axis: int) -> int: ...
    def stride(self, dim: int | None = None, *, axis: int | None = None) -> tuple[int, ...] | int:
        """Returns the strides in elements, or that of one dim."""
        if state.trace is not None:
            state.trace.look_at_strides(getattr(self, "_storage", None))
        dim = axis if dim is None else dim
        return self._layout.stride if dim is None else self._layout.stride[self._dim(dim)]

    def _dim(self, dim: int) -> int:
        return normalize_dim(dim, len(self._layout.size))

    def storage_offset(self) -> int:
        """Returns the element of the storage at which this tensor begins."""
        self._ask()
        return self._offset

    def _ask(self, fact: str | None = None) -> None:
        """Notes, in a trace, that the function asks for a fact of `asked.py`; None is where it lies in its storage."""
        if state.trace is not None:
            state.trace.look_at(self) if fact is None else state.trace.note_fact(self, fact)

    def numel(self) -> int:
        """Returns the number of elements."""
        return self._layout.numel

    nelement = numel

    def dim(self) -> int:
        """Returns the number of dims."""
        return len(self._layout.size)

    ndimension = dim

    @property
    def ndim(self) -> int:
        return len(self._layout.size)

    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes.dtype_of(self._layout.dtype)

    @property
    def itemsize(self) -> int:
        return self._layout.dtype.itemsize

    def element_size(self) -> int:
        """Returns the bytes of one element."""
        return self._layout.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self._layout.nbytes

    @property
    def device(self) -> Any:
        """The `ja.device` that holds the values, `ja.device("meta")` of a tensor without any."""
        return device_of(self)

    def is_contiguous(self, memory_format: MemoryFormat = MemoryFormat.contiguous_format) -> bool:
        """Returns whether the elements lie in memory so, by default in row-major order."""
        return has_format(self._layout, memory_format)

    def is_floating_point(self) -> bool:
        """Returns whether the dtype is a float."""
        return jax.numpy.issubdtype(self._layout.dtype, jax.numpy.floating)

    def is_complex(self) -> bool:
        """Returns whether the dtype is complex."""
        return jax.numpy.issubdtype(self._layout.dtype, jax.numpy.complexfloating)

    @property
    def _version(self) -> int:
        self._ask("_version")
        if self._creation == INFERENCE:
            raise InferenceTensorError("Inference tensors do not track version counter.")
        return writes_of(self)

    @property
    def _base(self) -> Tensor | None:
        self._ask()
        self._ask("_is_view")
        return self._base_tensor

    def _is_view(self) -> bool:
        self._ask("_is_view")
        return self._base_tensor is not None

    @property
    def _is_without_values(self) -> bool:
        """Whether no values are known: on the device "meta", and in a trace."""
        return self._storage.layout.is_abstract or is_tracer(self._storage.array)

    def untyped_storage(self) -> Storage:
        """Returns the storage: one object for all tensors that share memory."""
        self._ask()
        return self._storage

    def data_ptr(self) -> int:
        """Returns a number that is equal for tensors that begin at the same element of one storage."""
        self._ask()
        return place_of(self._storage, self._offset * self.itemsize)

    # -- values ----------------------------------------------------------------------------------------------------

    def _read(self) -> Array:
        """Returns the values as a jax array or symbol; whoever keeps it has to mark the storage as shared."""
        storage = self._storage
        trace = state.trace
        if trace is not None:
            trace.note(self)
            if trace.parts and (part := trace.part_of(self)) is not None:
                return part
            array = trace.read(storage, self._history, state.grad_enabled)
        else:
            is_settled = storage.trace is None
            array = storage.array
            if not is_settled or storage.trace is not None:
                array = storage.settled()
        if self._layout is storage.layout and array is not None:
            return array
        storage.check_reach(self._layout, self._offset, is_write=False)
        if type(array) is AbstractArray or (array is None and storage.layout.is_abstract and trace is None):
            return AbstractArray(self._layout.size, self._layout.dtype)  # type: ignore[return-value]
        if array is None:
            return jax.numpy.zeros(self._layout.size, self._layout.dtype)
        find = find_window if trace is None else window_in_graph
        window, starts = find(storage.layout, self._layout, self._offset)
        return window.apply(array, starts)

    def jax(self) -> Array:
        """Returns the values as a jax array (in a trace: a tracer)."""
        array = self._read()
        if type(array) is AbstractArray:
            refuse_value("`.jax()`", self._layout.size, self._layout.dtype)
        if type(array) is Discarded:
            array.refuse()
        if array is self._storage.array:
            self._storage.is_shared = True
        return array

    def __jax_array__(self) -> Any:  # itself where a gradient would be lost: JAX leaves the operator to it then
        return self if self.requires_grad and state.grad_enabled and is_operand() else self.jax()

    def _concrete(self, what: str, instead: str = "") -> np.ndarray:
        array = self._read()
        if type(array) is AbstractArray:
            refuse_value(what, self._layout.size, self._layout.dtype)
        if is_tracer(array):
            known = None if state.trace is None else state.trace.ask(array, what)
            if known is not None:
                return known
            value = known_value(array)  # `ja.func` differentiates at values that are there
            if value is not None:
                return np.asarray(value)
            raise no_value(what, self._layout.size, array, instead)
        return np.asarray(array)

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """Returns the values as a NumPy array.

        Args:
          force: Whether to do so where gradients are tracked.

        Raises:
          AutogradError: If gradients are tracked, and it is not forced.
        """
        if not force and self.requires_grad and state.grad_enabled:
            raise AutogradError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        values = self._concrete("`.numpy()`")
        self._storage.is_shared = True
        return values

    def __dlpack__(self, **options: Any) -> Any:
        """Returns a dlpack capsule of the values, for `torch.from_dlpack` and others."""
        return self.jax().__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        """Returns the dlpack device of the values."""
        return self.jax().__dlpack_device__()

    def __array__(self, dtype: DTypeLike | None = None, copy: Any = None) -> np.ndarray:
        values = self._concrete("Conversion to a NumPy array")
        self._storage.is_shared = True
        return values if dtype is None else values.astype(dtype)

    def item(self) -> Any:
        """Returns the value of a tensor of one element as a Python number."""
        if self._layout.numel != 1:
            raise TensorValueError(
                f"a Tensor with {self._layout.numel} elements cannot be converted to Scalar. Write `x.tolist()` for "
                "all values, or make them one, `x.mean().item()`."
            )
        number = None if state.trace is None else state.trace.number(self)
        return self._concrete("`.item()`").reshape(()).item() if number is None else number

    def tolist(self) -> Any:
        """Returns the values as nested lists."""
        return self._concrete("`.tolist()`").tolist()

    # -- gradients -------------------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        history = self._history
        return history is not None and history.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise AutogradError("requires_grad cannot be deleted: write `x.requires_grad_(False)`.")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Says whether gradients of this leaf are wanted, in place."""
        if not isinstance(requires_grad, (bool, np.bool_)):
            raise TensorTypeError(
                f"requires_grad must be a bool, not {type(requires_grad).__name__}: write `x.requires_grad_()` or "
                "`x.requires_grad = False`."
            )
        if requires_grad == self.requires_grad:
            return self
        if not self.is_leaf:
            raise AutogradError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
                "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if requires_grad and not is_inexact(self._layout.dtype):
            raise DtypeError(NO_GRADIENTS)
        if requires_grad and self._creation == INFERENCE and not state.infers:
            raise InferenceTensorError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed. Make a normal "
                "tensor of it: `x.clone().requires_grad_()`."
            )
        self._touch()
        # a leaf view has a history of its own: later writes to its base do not pass gradients to it
        self._history = History(self._layout, self._offset, requires_grad, trace=state.trace)
        self._history.leaf = weakref.ref(self)
        self._chain = ()
        if state.trace is not None and requires_grad:
            trace, storage = state.trace, self._storage
            trace.adopt(storage)
            value: Any = storage.array
            # a leaf that was made inside passes nothing on to what shares its memory
            if storage.writer is not None or (id(storage) in trace.storages and id(self) not in trace.noted):
                value = jax.lax.stop_gradient(value)
            self._history.ghost = value
            if storage.writer is None and id(storage) not in trace.storages:
                storage.writer = self._history
        return self

    @property
    def is_leaf(self) -> bool:
        if state.trace is not None:
            state.trace.note(self)
        return not self.requires_grad or self._producer() is None

    @property
    def grad_fn(self) -> Node | None:
        """The node that produced this tensor; None for a leaf."""
        self._ask("grad_fn")
        return self._producer()

    def _producer(self) -> Node | None:
        """Returns what `grad_fn` is."""
        history = self._history
        if (history is None or history.node is None) and self._is_moved_unrecorded:
            raise AutogradError(
                f"A view was created in {UNRECORDED[self._creation or '']} mode and its base or another view of its "
                "base has been modified inplace with grad mode enabled. Given that this use case is ambiguous and "
                "error-prone, it is forbidden. Make the view and write to its base both inside of the mode, or both "
                "outside; or take `view.detach()`."
            )
        if history is None or not history.requires_grad:
            return None
        return self._view_edge(history).node if self._chain else history.node

    @property
    def _is_moved_unrecorded(self) -> bool:
        """Whether it is a view that is not recorded, and its memory was written since; its base requires grad."""
        base = self._base_tensor
        if self._creation not in UNRECORDED or self._chain or base is None or not base.requires_grad:
            return False
        return self._view_parent is not None and self._view_parent != writes_of(self)

    def _gradient_edge(self) -> Edge | None:
        """Returns where gradients of this tensor go, or None if they are not wanted."""
        history = self._history
        if history is None or not history.requires_grad:
            return None
        return self._view_edge(history) if self._chain else history_edge(history)

    @property
    def output_nr(self) -> int:
        self._ask("grad_fn")
        history = self._history
        if history is None:
            return 0
        return self._view_edge(history).index if self._chain and history.requires_grad else history.index

    def _warn_of_no_grad(self) -> None:
        edge = self._gradient_edge()
        if edge is None or edge.node.hooks is None or edge.index not in edge.node.hooks.retained:
            warn_user(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for "
                "a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
                "mistake, make sure you access the leaf Tensor instead."
            )

    @property
    def grad(self) -> Tensor | None:
        if state.trace is not None:
            state.trace.read_grad(self)
        if self._grad is None and self._history is not None and self.requires_grad and not self.is_leaf:
            self._warn_of_no_grad()
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                if hasattr(value, "settled"):  # a sum that is not finished says so
                    value.settled("`.grad`")
                raise TensorTypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
                )
            if value is self:
                raise AutogradError("can't assign Variable as its own grad. Assign a copy of it: `x.grad = x.clone()`.")
            if value._layout.size != self._layout.size:
                raise StorageSizeError(
                    f"assigned grad has data of a different size: {list(value.shape)} for a tensor of "
                    f"{list(self.shape)}"
                )
            if value.dtype != self.dtype:
                raise DtypeError(f"assigned grad has data of a different type: {value.dtype} for {self.dtype}")
        self._touch()
        if state.trace is not None:
            state.trace.write_grad(self)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def __hash__(self) -> int:
        return id(self)

    def __len__(self) -> int:
        if not self._layout.size:
            raise TensorTypeError("len() of a 0-d tensor. It is one number: `x.item()`, or `x.numel()`, which is 1.")
        return self._layout.size[0]


def history_edge(history: History) -> Edge:
    """Returns where gradients of the base go: to the node that produced it, or to the leaf's `.grad`."""
    node = history.node
    if node is not None:
        return edge_of((node, history.index))
    accumulator = None if history.accumulator is None else history.accumulator()
    if accumulator is None:
        accumulator = history.leaf()._new_accumulator
        history.accumulator = weakref.ref(accumulator)
    return edge_of((accumulator, 0))


_FIELDS = tuple(name for name in Tensor.__slots__ if name not in ("__dict__", "__weakref__", "_mark"))
_new = object.__new__


def wrap(storage: Storage, layout: Layout, offset: int = 0, trace: Any = None) -> Tensor:
    """Returns a tensor on a storage, without history."""
    tensor = _new(Tensor)
    tensor._storage = storage
    tensor._layout = layout
    tensor._offset = offset
    tensor._trace = trace
    tensor._chain = ()
    tensor._history = tensor._base_tensor = tensor._counter = tensor._creation = tensor._grad = tensor._hooks = None
    tensor._view_node = tensor._view_parent = None
    return tensor


def wrap_array(array: Any, layout: Layout | None = None) -> Tensor:
    """Returns a tensor that owns a fresh array, on a storage of its own."""
    if layout is None:
        layout = contiguous(tuple(array.shape), np.dtype(array.dtype))
    if type(array) is AbstractArray:
        layout = layout.abstract
        return wrap(Storage(array, layout), layout)  # type: ignore[arg-type]
    trace = state.trace
    if trace is not None:
        return wrap(trace.new_storage(array, layout), layout, 0, trace)
    return wrap(Storage(array, layout), layout)


refuse_values_of(Tensor, refuse_in_jax)
